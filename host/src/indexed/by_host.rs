//! Indexed Polylla's arrays in host memory, and the paper's sequential repair of them (gpu-polylla-imr22, Algorithm 5).
//!
//! [`Repair::Host`](super::Repair::Host) runs it after the labels and the traversal of a device. The sequential
//! algorithm runs it after its own.

use crate::mesh::NONE;
use trioxide_mesh::edge_table::EdgeTable;
use trioxide_mesh::half_edges::next_in_triangle;

/// A triangulation with neighbours: V vertices, T triangles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedTriangulation {
    /// Counter-clockwise vertex ids; T.
    pub triangles: Vec<[u32; 3]>,
    /// Triangle across each edge, [`NONE`] on the boundary; T.
    pub neighbours: Vec<[u32; 3]>,
    /// Smallest triangle at each vertex, [`NONE`] for a vertex that no triangle uses; V.
    pub trivertex: Vec<u32>,
}

impl IndexedTriangulation {
    /// The neighbours of `triangles` over `vertices` vertices.
    ///
    /// # Panics
    /// When an edge belongs to more than two triangles: check the triangulation first
    /// ([`triangles_and_edges`](crate::half_edges::rules::triangles_and_edges())).
    pub fn new(triangles: &[[u32; 3]], vertices: usize) -> Self {
        let mut neighbours = vec![[NONE; 3]; triangles.len()];
        for (ends, group) in EdgeTable::of_triangles(vertices, triangles).edges() {
            match *group {
                [_] => {}
                [(_, g), (_, h)] => {
                    let flat = neighbours.as_flattened_mut();
                    flat[g as usize] = h / 3;
                    flat[h as usize] = g / 3;
                }
                _ => panic!(
                    "edge {}-{} belongs to {} triangles: validate the triangulation first",
                    ends[0],
                    ends[1],
                    group.len()
                ),
            }
        }
        let mut trivertex = vec![NONE; vertices];
        for (t, triangle) in triangles.iter().enumerate().rev() {
            for &v in triangle {
                trivertex[v as usize] = t as u32;
            }
        }
        Self {
            triangles: triangles.to_vec(),
            neighbours,
            trivertex,
        }
    }

    /// Number of half-edges, 3T.
    pub fn half_edges(&self) -> u32 {
        3 * self.triangles.len() as u32
    }

    /// The vertex that `h` starts at.
    pub fn origin(&self, h: u32) -> u32 {
        self.triangles.as_flattened()[h as usize]
    }

    /// The vertex that `h` ends at.
    pub fn target(&self, h: u32) -> u32 {
        self.origin(next_in_triangle(h))
    }

    fn neighbour(&self, h: u32) -> u32 {
        self.neighbours.as_flattened()[h as usize]
    }

    /// The other half of `h`: the edge of the neighbour that leads back.
    pub fn opposite(&self, h: u32) -> Option<u32> {
        let neighbour = self.neighbour(h);
        (neighbour != NONE).then(|| {
            (3 * neighbour..3 * neighbour + 3)
                .find(|&back| self.neighbour(back) == h / 3)
                .expect("neighbours are mutual")
        })
    }

    /// The next half-edge clockwise with the same origin, if `h` is not on the boundary.
    fn clockwise(&self, h: u32) -> Option<u32> {
        self.opposite(h).map(next_in_triangle)
    }

    /// The half-edge from `v` to `to`, clockwise around `v` from the triangle in the Trivertex array.
    pub fn spoke(&self, v: u32, to: u32) -> Option<u32> {
        let t = self.trivertex[v as usize];
        let first = (3 * t..3 * t + 3).find(|&h| self.origin(h) == v)?;
        let mut spoke = first;
        while self.target(spoke) != to {
            spoke = self.clockwise(spoke).filter(|&spoke| spoke != first)?;
        }
        Some(spoke)
    }

    /// The frontier half-edge behind `h` around its polygon.
    pub fn successor(&self, frontier: &[bool], h: u32, crossed: &mut impl FnMut(u32)) -> u32 {
        let mut e = next_in_triangle(h);
        while !frontier[e as usize] {
            crossed(e);
            e = self
                .clockwise(e)
                .expect("boundary edges are frontier edges");
        }
        e
    }
}

/// Polygons as the paper stores them: P polygons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolygonArrays {
    /// Number of vertices of each polygon, followed by its vertices.
    pub mesh: Vec<u32>,
    /// Start of each polygon in `mesh`; P.
    pub positions: Vec<u32>,
    /// Smallest half-edge of each polygon, from whose origin on its vertices are listed; P.
    pub starts: Vec<u32>,
}

impl PolygonArrays {
    /// Vertices of polygon `i`.
    pub fn polygon(&self, i: u32) -> &[u32] {
        let position = self.positions[i as usize] as usize;
        &self.mesh[position + 1..][..self.mesh[position] as usize]
    }

    /// PolyConstruction (Algorithm 4): appends the polygon through the frontier half-edge `h`.
    pub fn construct(&mut self, mesh: &IndexedTriangulation, frontier: &[bool], h: u32) {
        let start = cycle(mesh, frontier, h, &mut |_| {})
            .into_iter()
            .min()
            .expect("a cycle has a half-edge");
        let half_edges = cycle(mesh, frontier, start, &mut |_| {});
        self.starts.push(start);
        self.positions.push(self.mesh.len() as u32);
        self.mesh.push(half_edges.len() as u32);
        self.mesh
            .extend(half_edges.into_iter().map(|h| mesh.origin(h)));
    }
}

/// The half-edges of the polygon through the frontier half-edge `start`; `crossed` gets every half-edge inside.
fn cycle(
    mesh: &IndexedTriangulation,
    frontier: &[bool],
    start: u32,
    crossed: &mut impl FnMut(u32),
) -> Vec<u32> {
    let mut half_edges = vec![start];
    loop {
        let h = mesh.successor(frontier, half_edges[half_edges.len() - 1], crossed);
        if h == start {
            return half_edges;
        }
        half_edges.push(h);
    }
}

/// The tips of a polygon, corners between two that are the same vertex: the place of each, and this vertex.
pub fn barrier_tips(polygon: &[u32]) -> impl Iterator<Item = (usize, u32)> {
    let n = polygon.len();
    (0..n)
        .filter(move |&k| polygon[(k + n - 1) % n] == polygon[(k + 1) % n])
        .map(move |k| (k, polygon[(k + 1) % n]))
}

/// The parts that replace the `broken` ones of `polygons`, and the number of tips there were (Algorithm 5).
///
/// `frontier` gets the middle edges of all tips.
pub fn reparation(
    mesh: &IndexedTriangulation,
    frontier: &mut [bool],
    polygons: &PolygonArrays,
    broken: &[u32],
) -> (PolygonArrays, u32) {
    let mut middle = vec![false; if broken.is_empty() { 0 } else { frontier.len() }];
    let opposite = |h: u32| mesh.opposite(h).expect("it lies inside of a polygon");
    let mut tips = 0;
    for &i in broken {
        let polygon = polygons.polygon(i);
        for (k, neighbour) in barrier_tips(polygon) {
            let barrier = mesh.spoke(polygon[k], neighbour).unwrap_or_else(|| {
                // Where triangles overlap, the Trivertex array may hold one that is not around this tip.
                cycle(mesh, frontier, polygons.starts[i as usize], &mut |_| {})[k]
            });
            let h = middle_edge(mesh, barrier);
            middle[h as usize] = true;
            middle[opposite(h) as usize] = true;
            tips += 1;
        }
    }
    let mut parts = PolygonArrays::default();
    for &i in broken {
        // A frontier half-edge of each part that may have a middle edge inside.
        let mut pending = vec![polygons.starts[i as usize]];
        while let Some(start) = pending.pop() {
            let mut cut = None;
            cycle(mesh, frontier, start, &mut |e| {
                if middle[e as usize] {
                    cut = Some(e);
                }
            });
            match cut {
                None => parts.construct(mesh, frontier, start),
                Some(h) => {
                    frontier[h as usize] = true;
                    frontier[opposite(h) as usize] = true;
                    pending.extend([h, opposite(h)]);
                }
            }
        }
    }
    (parts, tips)
}

/// Edge number (n - 1) / 2, from 0, of the n edges clockwise from `barrier`, the only frontier half-edge at its origin.
fn middle_edge(mesh: &IndexedTriangulation, barrier: u32) -> u32 {
    let around = |h: u32| mesh.clockwise(h).expect("a tip is no boundary vertex");
    let interior: Vec<u32> = std::iter::successors(Some(around(barrier)), |&h| Some(around(h)))
        .take_while(|&h| h != barrier)
        .collect();
    interior[(interior.len() - 1) / 2]
}
