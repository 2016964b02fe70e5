//! Coarser levels by nested polygons: another set-up of `multigrid`. The levels are every second one of
//! [`trioxide::levels`]: two make four pieces or so one.
//!
//! The *skeleton* of a level is the graph of its nodes and of the paths between them. A *path* separates two pieces, or
//! two polygons of the mesh; a *node* is a vertex inside of the mesh where at least three paths end. The unknowns of a
//! level are its nodes; those of the mesh are all vertices inside of it, so on level 0 every edge is a path. All of
//! this nests: a node of a level is one of each level below it. On the boundary of the mesh a correction is 0.
//!
//! A function of a level is extended to the nodes of the level below. On a path it is the mean of the values at both
//! ends, each weighted by the distance to the other end: linear, where the path is straight. Nodes inside of a piece
//! get the values of least energy: their rows of the matrix become 0. Such nodes only couple to nodes of their own
//! piece, so each piece is a small dense system. The coarse matrix is that of the extended functions (Galerkin). A
//! constant is extended to a constant, away from the boundary.
//!
//! A closed path without a node would have no unknown: its first vertex becomes a node. Regions and segments do not
//! matter to a Poisson problem, so pieces cross them.

use glam::DVec2;
use trioxide::Device;
use trioxide::levels::{Goal, levels};
use trioxide_mesh::edge_table::EdgeTable;
use trioxide_mesh::mesh::{NONE, PolygonMesh};
use trioxide_mesh::{Result, parallel, progress};

use super::cholesky::{factor, solve_factored};
use super::sparse::{SparseMatrix, update};

/// Levels end where one has as many pieces or fewer: the coarsest matrix is factored.
const ENOUGH: usize = 100;

/// Levels end before one with a piece that has more nodes inside: its dense system takes too long.
const MOST_INSIDE: usize = 1000;

/// A path between two nodes.
#[derive(Clone, Copy)]
struct Path {
    /// Nodes; [`NONE`] on the boundary.
    ends: [u32; 2],
    /// Their places.
    at: [DVec2; 2],
    /// Pieces on both sides.
    pieces: [u32; 2],
}

/// The skeleton of a level.
struct Skeleton {
    paths: Vec<Path>,
    nodes: usize,
}

/// The values of a level's nodes, by the next level's.
pub struct Transfer {
    places: Vec<Place>,
    /// Nodes of the next level.
    count: usize,
}

/// The place of a node in the next level.
#[derive(Clone, Copy)]
enum Place {
    /// On a path between these nodes, with their weights; [`NONE`] on the boundary. A node of the next level is the
    /// first end of a path, with weight 1.
    OnPath([(u32, f64); 2]),
    /// Inside of a piece.
    Inside(u32),
}

/// The transfers between levels of `mesh`, whose `unknowns` are all vertices inside of it and whose edges are `edges`.
///
/// # Errors
/// Those of [`levels`].
pub fn transfers(mesh: &PolygonMesh, edges: &EdgeTable, unknowns: &[u32]) -> Result<Vec<Transfer>> {
    let on = Device::cpu(Some(rayon::current_num_threads()))?;
    let free = PolygonMesh {
        points: mesh.points.clone(),
        polygons: mesh.polygons.clone(),
        ..PolygonMesh::default()
    };
    let goal = Goal {
        levels: None,
        until: Some(ENOUGH),
    };
    let nested = levels(&on, &free, goal)?;
    drop(free);
    let mut skeleton = Skeleton::of(mesh, edges, unknowns);
    let mut transfers = Vec::new();
    for level in (1..=nested.levels()).step_by(2) {
        progress::check()?;
        let mut parents = nested.parents(level).to_vec();
        if level < nested.levels() {
            let next = nested.parents(level + 1);
            update(&mut parents, |_, piece: u32| next[piece as usize]);
        }
        let transfer = skeleton.coarsen(&parents);
        if transfer.most_inside() > MOST_INSIDE {
            break;
        }
        transfers.push(transfer);
    }
    Ok(transfers)
}

impl Skeleton {
    /// That of level 0.
    fn of(mesh: &PolygonMesh, edges: &EdgeTable, unknowns: &[u32]) -> Self {
        let mut nodes = vec![NONE; mesh.points.len()];
        for (i, &v) in unknowns.iter().enumerate() {
            nodes[v as usize] = i as u32;
        }
        let mut polygons = Vec::with_capacity(mesh.polygons.vertices.len());
        for (i, polygon) in mesh.polygons.iter().enumerate() {
            polygons.resize(polygons.len() + polygon.len(), i as u32);
        }
        let paths = edges.filter_map_edges(|ends, sides| {
            let &[(_, left), (_, right)] = sides else {
                return None;
            };
            Some(Path {
                ends: ends.map(|v| nodes[v as usize]),
                at: ends.map(|v| mesh.points[v as usize]),
                pieces: [left, right].map(|side| polygons[side as usize]),
            })
        });
        Self {
            paths,
            nodes: unknowns.len(),
        }
    }

    /// Becomes the next level, of pieces with these `parents`. Returns the transfer from it.
    fn coarsen(&mut self, parents: &[u32]) -> Transfer {
        let of_piece = |piece: u32| parents[piece as usize];
        let mut places = vec![Place::Inside(NONE); self.nodes];
        let mut paths = Vec::new();
        for path in &self.paths {
            let pieces = path.pieces.map(of_piece);
            if pieces[0] != pieces[1] {
                paths.push(Path { pieces, ..*path });
                continue;
            }
            for end in path.ends.into_iter().filter(|&end| end != NONE) {
                places[end as usize] = Place::Inside(pieces[0]);
            }
        }
        let walk = Walk::new(paths, self.nodes);
        let (paths, ends) = walk.run(&mut places);
        let mut numbers = vec![NONE; self.nodes];
        let mut count = 0;
        for (number, _) in numbers.iter_mut().zip(&ends).filter(|(_, is_end)| **is_end) {
            *number = count;
            count += 1;
        }
        let number = |node: u32| match node {
            NONE => NONE,
            node => numbers[node as usize],
        };
        for place in &mut places {
            if let Place::OnPath(ends) = place {
                *ends = ends.map(|(node, weight)| (number(node), weight));
            }
        }
        self.paths = paths;
        for path in &mut self.paths {
            path.ends = path.ends.map(number);
        }
        self.nodes = count as usize;
        Transfer {
            places,
            count: count as usize,
        }
    }
}

/// Joins short paths to those of the next level.
struct Walk {
    paths: Vec<Path>,
    /// Whether a path has been walked.
    is_done: Vec<bool>,
    /// Start of each node's paths in `ways`, and the end of the last.
    starts: Vec<u32>,
    ways: Vec<u32>,
    joined: Vec<Path>,
}

impl Walk {
    fn new(paths: Vec<Path>, nodes: usize) -> Self {
        let mut starts = vec![0; nodes + 1];
        let ends = |path: &Path| path.ends.into_iter().filter(|&end| end != NONE);
        for end in paths.iter().flat_map(ends) {
            starts[end as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut cursor = starts.clone();
        let mut ways = vec![0; starts[nodes] as usize];
        for (i, path) in paths.iter().enumerate() {
            for end in ends(path) {
                ways[cursor[end as usize] as usize] = i as u32;
                cursor[end as usize] += 1;
            }
        }
        Self {
            is_done: vec![false; paths.len()],
            paths,
            starts,
            ways,
            joined: Vec::new(),
        }
    }

    /// The joined paths, and which nodes are ends of them. `places` get all nodes on paths.
    fn run(mut self, places: &mut [Place]) -> (Vec<Path>, Vec<bool>) {
        let nodes = places.len() as u32;
        let mut is_end: Vec<bool> = (0..nodes)
            .map(|node| !matches!(self.of_node(node).len(), 0 | 2))
            .collect();
        for node in 0..nodes {
            if is_end[node as usize] {
                self.walk_all(node, &is_end, places);
            }
        }
        for path in 0..self.paths.len() as u32 {
            if self.paths[path as usize].ends.contains(&NONE) {
                self.walk(NONE, path, &is_end, places);
            }
        }
        // Closed paths are left over.
        for node in 0..nodes {
            let mut ways = self.of_node(node).iter();
            if !is_end[node as usize] && ways.any(|&way| !self.is_done[way as usize]) {
                is_end[node as usize] = true;
                self.walk_all(node, &is_end, places);
            }
        }
        (self.joined, is_end)
    }

    fn of_node(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.ways[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// Walks all paths from an end.
    fn walk_all(&mut self, from: u32, is_end: &[bool], places: &mut [Place]) {
        places[from as usize] = Place::OnPath([(from, 1.0), (NONE, 0.0)]);
        for k in 0..self.of_node(from).len() {
            self.walk(from, self.of_node(from)[k], is_end, places);
        }
    }

    /// Walks from an end along `path` to the next end, if nothing has walked there.
    fn walk(&mut self, from: u32, mut path: u32, is_end: &[bool], places: &mut [Place]) {
        if std::mem::replace(&mut self.is_done[path as usize], true) {
            return;
        }
        let Path { ends, at, pieces } = self.paths[path as usize];
        let start = at[usize::from(ends[0] != from)];
        let mut passed = Vec::new();
        let mut node = from;
        let end = loop {
            let Path { ends, at, .. } = self.paths[path as usize];
            let other = usize::from(ends[0] == node);
            node = ends[other];
            if node == NONE || is_end[node as usize] {
                break at[other];
            }
            passed.push((node, at[other]));
            let ways = self.of_node(node);
            path = if ways[0] == path { ways[1] } else { ways[0] };
            self.is_done[path as usize] = true;
        };
        for (passed, place) in passed {
            let [to_start, to_end] = [start, end].map(|end| place.distance(end));
            let sum = to_start + to_end;
            let part = if sum > 0.0 { to_start / sum } else { 0.5 };
            places[passed as usize] = Place::OnPath([(from, 1.0 - part), (node, part)]);
        }
        if from != NONE || node != NONE {
            self.joined.push(Path {
                ends: [from, node],
                at: [start, end],
                pieces,
            });
        }
    }
}

impl Transfer {
    /// The largest number of nodes inside of a piece.
    fn most_inside(&self) -> usize {
        let inner = self.inside();
        inner
            .chunk_by(|a, b| a.0 == b.0)
            .map(<[_]>::len)
            .max()
            .unwrap_or(0)
    }

    /// The nodes inside of pieces, (piece, node), ascending.
    fn inside(&self) -> Vec<(u32, u32)> {
        let inside = |(i, place): (usize, &Place)| match *place {
            Place::Inside(piece) => Some((piece, i as u32)),
            Place::OnPath(_) => None,
        };
        let mut inner: Vec<(u32, u32)> =
            self.places.iter().enumerate().filter_map(inside).collect();
        inner.sort_unstable();
        inner
    }

    /// Functions of the next level, one a column, and their number. `matrix` is that of this level with a diagonal of
    /// ones, `roots` are the square roots of its own diagonal.
    pub fn prolongation(&self, matrix: &SparseMatrix, roots: &[f64]) -> (SparseMatrix, usize) {
        let inner = self.inside();
        let groups: Vec<&[(u32, u32)]> = inner.chunk_by(|a, b| a.0 == b.0).collect();
        let solved = parallel::map(&groups, |group| self.fill_piece(group, matrix, roots));
        let mut rows = vec![NONE; self.places.len()];
        let solved = parallel::concat(solved);
        for (k, &(_, node)) in inner.iter().enumerate() {
            rows[node as usize] = k as u32;
        }
        let (up, _) = SparseMatrix::gather(self.places.len(), |i, row| match self.places[i] {
            Place::OnPath(ends) => {
                for (end, weight) in ends.into_iter().filter(|&(end, _)| end != NONE) {
                    row.add(end, weight * roots[i]);
                }
            }
            Place::Inside(_) => {
                let entries: &Vec<(u32, f64)> = &solved[rows[i] as usize];
                entries
                    .iter()
                    .for_each(|&(column, entry)| row.add(column, entry));
            }
        });
        (up, self.count)
    }

    /// The rows of the nodes inside of a piece, (piece, node), ascending.
    fn fill_piece(
        &self,
        inside: &[(u32, u32)],
        matrix: &SparseMatrix,
        roots: &[f64],
    ) -> Vec<Vec<(u32, f64)>> {
        let n = inside.len();
        let mut lower = vec![0.0; n * n];
        let mut right = Vec::new();
        for (i, &(_, node)) in inside.iter().enumerate() {
            for (other, entry) in matrix.row(node as usize) {
                match self.places[other as usize] {
                    Place::OnPath(ends) => {
                        for (end, weight) in ends.into_iter().filter(|&(end, _)| end != NONE) {
                            right.push((end, i, -entry * weight * roots[other as usize]));
                        }
                    }
                    Place::Inside(_) => {
                        if let Ok(j) = inside.binary_search_by_key(&other, |&(_, node)| node) {
                            lower[i * n + j] = entry;
                        }
                    }
                }
            }
        }
        let mut rows = vec![Vec::new(); n];
        // The smoother alone treats a piece of slivers, whose matrix rounding has made indefinite.
        if !factor(&mut lower, n) {
            return rows;
        }
        right.sort_by_key(|&(end, ..)| end);
        for of_end in right.chunk_by(|a, b| a.0 == b.0) {
            let mut column = vec![0.0; n];
            for &(_, i, entry) in of_end {
                column[i] += entry;
            }
            solve_factored(&lower, &mut column);
            for (row, entry) in rows.iter_mut().zip(column) {
                row.push((of_end[0].0, entry));
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path along an axis.
    fn path([a, b]: [u32; 2], [x, y]: [f64; 2], pieces: [u32; 2]) -> Path {
        Path {
            ends: [a, b],
            at: [x, y].map(|x| DVec2::new(x, 0.0)),
            pieces,
        }
    }

    /// The weights of a node on a path, by ascending node of the next level.
    fn weights(transfer: &Transfer, node: usize) -> Vec<(u32, f64)> {
        let Place::OnPath(ends) = transfer.places[node] else {
            panic!("node {node} is inside of a piece");
        };
        let mut ends: Vec<(u32, f64)> = ends.into_iter().filter(|&(end, _)| end != NONE).collect();
        ends.sort_by_key(|&(end, _)| end);
        ends
    }

    ///```text
    ///   A            A and below it B and C: a path from the boundary by 0, 1 and 2 to the boundary, and another
    /// ─0───1──2──    from 1 by 3 to the boundary;
    ///   B  3  C      D: inside of A, with the ring 4-5
    ///```
    #[test]
    fn functions_are_linear_along_paths() {
        let [a, b, c, d] = [0, 1, 2, 3];
        let mut skeleton = Skeleton {
            nodes: 6,
            paths: vec![
                path([NONE, 0], [0.0, 1.0], [a, b]),
                path([0, 1], [1.0, 4.0], [a, b]),
                path([1, 2], [4.0, 6.0], [a, c]),
                path([2, NONE], [6.0, 8.0], [a, c]),
                path([1, 3], [4.0, 5.0], [b, c]),
                path([3, NONE], [5.0, 9.0], [b, c]),
                path([4, 5], [1.0, 2.0], [a, d]),
                path([5, 4], [2.0, 1.0], [a, d]),
            ],
        };
        // Nothing joins: all nodes of two paths vanish, but for one of the ring.
        let transfer = skeleton.coarsen(&[0, 1, 2, 3]);
        assert_eq!((transfer.count, skeleton.nodes), (2, 2));
        assert_eq!(weights(&transfer, 0), [(0, 0.25)]);
        assert_eq!(weights(&transfer, 1), [(0, 1.0)]);
        assert_eq!(weights(&transfer, 2), [(0, 0.5)]);
        assert_eq!(weights(&transfer, 3), [(0, 0.8)]);
        assert_eq!(weights(&transfer, 4), [(1, 1.0)]);
        assert_eq!(weights(&transfer, 5), [(1, 0.5), (1, 0.5)]);
        assert_eq!(skeleton.paths.len(), 4);
        // B and C join, and A and D: the first node is on the border of both, the ring inside of one.
        let transfer = skeleton.coarsen(&[0, 1, 1, 0]);
        assert_eq!((transfer.count, skeleton.paths.len()), (0, 0));
        assert_eq!(weights(&transfer, 0), []);
        assert!(matches!(transfer.places[1], Place::Inside(0)));
    }

    /// Two nodes on a path, and two inside of a piece between them: values of least energy.
    #[test]
    fn values_inside_have_least_energy() {
        // A chain 0 - 2 - 3 - 1 of springs: 2 and 3 are a third and two thirds of the way.
        let matrix = SparseMatrix {
            offsets: vec![0, 2, 4, 7, 10],
            columns: vec![0, 2, 1, 3, 0, 2, 3, 1, 2, 3],
            entries: vec![1.0, -1.0, 1.0, -1.0, -1.0, 2.0, -1.0, -1.0, -1.0, 2.0],
        };
        let transfer = Transfer {
            places: vec![
                Place::OnPath([(0, 1.0), (NONE, 0.0)]),
                Place::OnPath([(1, 1.0), (NONE, 0.0)]),
                Place::Inside(7),
                Place::Inside(7),
            ],
            count: 2,
        };
        let (up, count) = transfer.prolongation(&matrix, &[1.0; 4]);
        assert_eq!(count, 2);
        for (node, part) in [(0, 0.0), (2, 1.0 / 3.0), (3, 2.0 / 3.0), (1, 1.0)] {
            for (end, expected) in [(0, 1.0 - part), (1, part)] {
                let found = up.row(node).find(|&(column, _)| column == end);
                let found = found.map_or(0.0, |(_, entry)| entry);
                assert!((found - expected).abs() < 1e-15, "{node} {end}: {found}");
            }
        }
    }
}
