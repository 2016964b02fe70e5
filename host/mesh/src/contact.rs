//! Parts of a mesh that touch and share no vertices: several points at one place, and vertices inside edges and faces
//! of other elements (hanging nodes).
//!
//! Only the boundary is searched: the edges of one face, or the faces of one cell. Where parts meet in shared vertices,
//! their common edges and faces are inside.
//!
//! A vertex v lies inside an edge if it is at most 1e-9 of the edge's length, or eight units in the last place of the
//! largest coordinate, from the edge, and farther from both ends. It lies inside a face if it is as near to the face's
//! plane, within the face, and farther from its sides; the longest side gives the length. Coordinates are scaled by a
//! power of two first, so that no product overflows.

use glam::DVec3;
use rayon::slice::ParallelSliceMut;

use crate::parallel;
use crate::volume::{CellKind, VolumeMesh, faces};

/// Fraction of a length that counts as rounding.
const ROUNDING: f64 = 1e-9;
/// Points of a leaf of the tree.
const LEAF: usize = 8;

/// The vertices inside one edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeContact {
    /// The edge's vertices, the smaller first.
    pub ends: [u32; 2],
    /// The vertices inside it, from the first end to the second; of several at one place, all, ascending.
    pub vertices: Vec<u32>,
}

/// The vertices inside one boundary face of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaceContact {
    /// The face's cell.
    pub cell: u32,
    /// The face's vertices, counter-clockwise as seen from outside.
    pub corners: Vec<u32>,
    /// The vertices inside it, ascending.
    pub vertices: Vec<u32>,
}

/// Where parts of a mesh touch without sharing vertices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contacts {
    /// Vertices of the boundary that lie at the place of a lower one.
    pub doubled: usize,
    /// Edges of the boundary with vertices inside, ascending.
    pub edges: Vec<EdgeContact>,
    /// Boundary faces of cells with vertices inside, in the order of the cells.
    pub faces: Vec<FaceContact>,
}

impl Contacts {
    /// The contacts of faces with this boundary: their edges of one face, ascending.
    pub fn of_boundary(point: impl Fn(u32) -> DVec3 + Sync, boundary: &[[u32; 2]]) -> Self {
        let mut vertices = boundary.as_flattened().to_vec();
        vertices.par_sort_unstable();
        vertices.dedup();
        let tree = Tree::of(&point, &vertices);
        Self {
            doubled: doubled(&point, &vertices),
            edges: tree.inside_edges(boundary),
            faces: Vec::new(),
        }
    }

    /// The contacts of cells, along their boundary.
    pub fn of_cells(mesh: &VolumeMesh) -> Self {
        let boundary = mesh.faces_of_one_cell();
        let corners = |&(cell, f): &(u32, u8)| -> Vec<u32> {
            let cell = mesh.cells.get(cell as usize);
            let places = CellKind::of(cell.len()).map_or(&[][..], faces)[usize::from(f)];
            places.iter().map(|&k| cell[k]).collect()
        };
        let boundary: Vec<_> = boundary
            .iter()
            .map(|side| (side.0, corners(side)))
            .collect();
        let mut vertices: Vec<u32> = boundary
            .iter()
            .flat_map(|(_, face)| face)
            .copied()
            .collect();
        vertices.par_sort_unstable();
        vertices.dedup();
        let side = |face: &[u32], k: usize| {
            let (a, b) = (face[k], face[(k + 1) % face.len()]);
            [a.min(b), a.max(b)]
        };
        let sides = boundary
            .iter()
            .flat_map(|(_, face)| (0..face.len()).map(|k| side(face, k)));
        let mut edges: Vec<[u32; 2]> = sides.collect();
        edges.par_sort_unstable();
        edges.dedup();
        let point = |v: u32| mesh.points[v as usize];
        let tree = Tree::of(&point, &vertices);
        let found = parallel::collect(boundary.len(), |i| tree.inside_face(&boundary[i].1));
        let found = boundary.into_iter().zip(found);
        let found = found.filter(|(_, vertices)| !vertices.is_empty());
        Self {
            doubled: doubled(point, &vertices),
            edges: tree.inside_edges(&edges),
            faces: found
                .map(|((cell, corners), vertices)| FaceContact {
                    cell,
                    corners,
                    vertices,
                })
                .collect(),
        }
    }

    /// A sentence for each kind of contact that there is, with the command that joins the parts.
    pub fn problems(&self) -> Vec<String> {
        let vertices = |count: usize| match count {
            1 => "1 vertex lies".to_owned(),
            count => format!("{count} vertices lie"),
        };
        let mut problems = Vec::new();
        if self.doubled > 0 {
            let lie = vertices(self.doubled);
            let other = if self.doubled == 1 {
                "the place of another"
            } else {
                "places of others"
            };
            problems.push(format!(
                "{lie} at {other}: weld them first (`weld --epsilon 0`)"
            ));
        }
        if let Some(EdgeContact {
            ends: [a, b],
            vertices: inside,
        }) = self.edges.first()
        {
            let (lie, first) = (vertices(self.inside_edges()), inside[0]);
            problems.push(format!(
                "{lie} inside edges of other elements, first vertex {first} in edge {a} - {b}: join them first (`repair --conform`)"
            ));
        }
        if let Some(FaceContact {
            cell,
            vertices: inside,
            ..
        }) = self.faces.first()
        {
            let (lie, first) = (vertices(self.inside_faces()), inside[0]);
            problems.push(format!(
                "{lie} inside faces of other cells, first vertex {first} in a face of cell {cell}: join them first (`repair --conform`)"
            ));
        }
        problems
    }

    /// Number of vertices inside edges.
    pub fn inside_edges(&self) -> usize {
        distinct(self.edges.iter().flat_map(|edge| &edge.vertices))
    }

    /// Number of vertices inside faces.
    pub fn inside_faces(&self) -> usize {
        distinct(self.faces.iter().flat_map(|face| &face.vertices))
    }
}

fn distinct<'a>(vertices: impl Iterator<Item = &'a u32>) -> usize {
    let mut all: Vec<u32> = vertices.copied().collect();
    all.sort_unstable();
    all.dedup();
    all.len()
}

/// Number of the `vertices` that lie exactly at the place of an earlier one.
pub fn doubled(point: impl Fn(u32) -> DVec3, vertices: &[u32]) -> usize {
    // 0 and -0 are one place.
    let place = |&v: &u32| (point(v) + 0.0).to_array().map(f64::to_bits);
    let mut places: Vec<[u64; 3]> = vertices.iter().map(place).collect();
    places.par_sort_unstable();
    places.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

/// A k-d tree of some vertices: the vertices in ranges that are halved along their longest extent, and a box for each
/// range.
struct Tree<'a> {
    point: &'a (dyn Fn(u32) -> DVec3 + Sync),
    /// The power of two of the coordinates below.
    scale: f64,
    /// Scaled points with their vertices, in the order of the ranges.
    entries: Vec<(DVec3, u32)>,
    /// Smallest and largest corner of each range's box; the halves of range i are 2i + 1 and 2i + 2.
    boxes: Vec<[DVec3; 2]>,
}

/// Eight units in the last place of the largest scaled coordinate.
const UNIT: f64 = 8.0 * f64::EPSILON;

impl<'a> Tree<'a> {
    /// Vertices without a finite position are in no place.
    fn of(point: &'a (dyn Fn(u32) -> DVec3 + Sync), vertices: &[u32]) -> Self {
        let placed = vertices.iter().map(|&v| (point(v), v));
        let mut entries: Vec<_> = placed.filter(|(p, _)| p.is_finite()).collect();
        let sizes = entries.iter().map(|(p, _)| p.abs().max_element());
        let scale = scale_of(sizes.fold(0.0, f64::max));
        entries.iter_mut().for_each(|(p, _)| *p *= scale);
        let mut boxes = Vec::new();
        if !entries.is_empty() {
            halve(&mut entries, 0, &mut boxes);
        }
        Self {
            point,
            scale,
            entries,
            boxes,
        }
    }

    /// The scaled position of a vertex.
    fn at(&self, v: u32) -> DVec3 {
        (self.point)(v) * self.scale
    }

    /// Calls `on` for every entry of the ranges whose box, widened by `margin`, `meets`.
    fn visit(
        &self,
        margin: f64,
        meets: &dyn Fn([DVec3; 2]) -> bool,
        on: &mut dyn FnMut(DVec3, u32),
    ) {
        let mut ranges = vec![(0, 0, self.entries.len())];
        while let Some((i, begin, end)) = ranges.pop() {
            if begin == end {
                continue;
            }
            let [low, high] = self.boxes[i];
            if !meets([low - margin, high + margin]) {
                continue;
            }
            if end - begin <= LEAF {
                self.entries[begin..end].iter().for_each(|&(p, v)| on(p, v));
            } else {
                let middle = begin.midpoint(end);
                ranges.push((2 * i + 2, middle, end));
                ranges.push((2 * i + 1, begin, middle));
            }
        }
    }

    /// The edges, given in ascending order, that have vertices inside.
    fn inside_edges(&self, edges: &[[u32; 2]]) -> Vec<EdgeContact> {
        let found = parallel::collect(edges.len(), |i| self.inside_edge(edges[i]));
        let edges = edges.iter().zip(found);
        let edges = edges.filter(|(_, vertices)| !vertices.is_empty());
        edges
            .map(|(&ends, vertices)| EdgeContact { ends, vertices })
            .collect()
    }

    fn inside_edge(&self, ends: [u32; 2]) -> Vec<u32> {
        let [a, b] = ends.map(|v| self.at(v));
        let way = b - a;
        let length = way.length();
        let margin = (ROUNDING * length).max(UNIT);
        if length.is_nan() || length <= 2.0 * margin {
            return Vec::new();
        }
        let mut inside: Vec<(f64, u32)> = Vec::new();
        let meets = |bounds: [DVec3; 2]| meets_segment(bounds, a, way);
        self.visit(margin, &meets, &mut |p, v| {
            let along = (p - a).dot(way) / length;
            let is_between = margin < along && along < length - margin;
            let beside = (p - a - way * (along / length)).length();
            if is_between && beside <= margin && !ends.contains(&v) {
                inside.push((along, v));
            }
        });
        inside.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        inside.into_iter().map(|(_, v)| v).collect()
    }

    /// The vertices inside a planar convex face.
    fn inside_face(&self, face: &[u32]) -> Vec<u32> {
        let corner = |k: usize| self.at(face[k % face.len()]);
        let mut normal = DVec3::ZERO;
        for k in 1..face.len() - 1 {
            normal += (corner(k) - corner(0)).cross(corner(k + 1) - corner(0));
        }
        let longest = (0..face.len()).map(|k| (corner(k + 1) - corner(k)).length());
        let margin = (ROUNDING * longest.fold(0.0, f64::max)).max(UNIT);
        let Some(normal) = normal.try_normalize() else {
            return Vec::new();
        };
        let least = (0..face.len()).map(corner).fold(corner(0), DVec3::min);
        let most = (0..face.len()).map(corner).fold(corner(0), DVec3::max);
        let mut inside = Vec::new();
        let meets = |[low, high]: [DVec3; 2]| low.cmple(most).all() && high.cmpge(least).all();
        self.visit(margin, &meets, &mut |p, v| {
            let is_within = (0..face.len()).all(|k| {
                let inward = normal.cross(corner(k + 1) - corner(k));
                (p - corner(k)).dot(inward) > margin * inward.length()
            });
            let is_near = (p - corner(0)).dot(normal).abs() <= margin;
            if is_within && is_near && !face.contains(&v) {
                inside.push(v);
            }
        });
        inside.sort_unstable();
        inside
    }
}

/// The power of two that brings `largest` to at most 1.
fn scale_of(largest: f64) -> f64 {
    let exponent = (largest.to_bits() >> 52) as i32 - 1023 + 1;
    match largest > 0.0 {
        // A smaller power is not a normal number.
        true => 2f64.powi((-exponent).clamp(-1022, 1000)),
        false => 1.0,
    }
}

/// Halves the entries along the longest extent of their box until a leaf is left, and stores the boxes.
fn halve(entries: &mut [(DVec3, u32)], i: usize, boxes: &mut Vec<[DVec3; 2]>) {
    let first = entries[0].0;
    let bounds = entries.iter().fold([first; 2], |[low, high], (p, _)| {
        [low.min(*p), high.max(*p)]
    });
    if boxes.len() <= i {
        boxes.resize(i + 1, [DVec3::ZERO; 2]);
    }
    boxes[i] = bounds;
    if entries.len() <= LEAF {
        return;
    }
    let axis = (bounds[1] - bounds[0]).max_position();
    let middle = entries.len() / 2;
    entries.select_nth_unstable_by(middle, |(p, v), (q, w)| {
        p[axis].total_cmp(&q[axis]).then(v.cmp(w))
    });
    let (low, high) = entries.split_at_mut(middle);
    halve(low, 2 * i + 1, boxes);
    halve(high, 2 * i + 2, boxes);
}

/// Whether the segment from `a` along `way` meets the box.
fn meets_segment([low, high]: [DVec3; 2], a: DVec3, way: DVec3) -> bool {
    let (mut enter, mut leave) = (0.0f64, 1.0f64);
    for axis in 0..3 {
        if way[axis] == 0.0 {
            if a[axis] < low[axis] || a[axis] > high[axis] {
                return false;
            }
            continue;
        }
        let [s, t] = [low, high].map(|side| (side[axis] - a[axis]) / way[axis]);
        enter = enter.max(s.min(t));
        leave = leave.min(s.max(t));
    }
    enter <= leave
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::Edges;
    use crate::mesh::{Faces, Polygons};
    use crate::volume::TetMesh;

    fn of_polygons(points: &[[f64; 3]], polygons: &[&[u32]]) -> Contacts {
        let mut faces = Polygons::default();
        polygons.iter().for_each(|face| faces.push(face));
        let points: Vec<DVec3> = points.iter().copied().map(DVec3::from).collect();
        let edges = Edges::of(&Faces::Polygons(faces));
        Contacts::of_boundary(|v| points[v as usize], &edges.boundary)
    }

    /// A square beside two that hang on it, at every scale; the place of a third divides no edge by rounding.
    #[test]
    fn vertices_hang_on_edges_at_every_scale() {
        for scale in [1.0, 1e-300, 1e300, -1.0] {
            for third in [0.0, 1.0 / 3.0] {
                let points = [[0.0, 0.0], [3.0, 1.0], [2.0, 4.0], [-1.0, 3.0]];
                let way = [-1.0, 3.0];
                let ends = [points[1], points[2]];
                let at = |t: f64, x: f64| {
                    [
                        ends[0][0] + t * way[0] + 3.0 * x,
                        ends[0][1] + t * way[1] + x,
                    ]
                };
                let more = [
                    at(1.0 / 3.0 + third, 0.0),
                    at(0.0, 1.0),
                    at(0.5, 1.0),
                    at(1.0, 1.0),
                ];
                let points: Vec<_> = points
                    .iter()
                    .chain(&more)
                    .map(|p| [p[0] * scale, p[1] * scale, 0.0])
                    .collect();
                let hanging: [&[u32]; 3] = [&[0, 1, 2, 3], &[1, 5, 6, 4], &[4, 6, 7, 2]];
                let contacts = of_polygons(&points, &hanging);
                let edge = EdgeContact {
                    ends: [1, 2],
                    vertices: vec![4],
                };
                assert_eq!(
                    (contacts.edges, contacts.doubled),
                    (vec![edge], 0),
                    "{scale} {third}"
                );
                let conforming: [&[u32]; 3] = [&[0, 1, 4, 2, 3], &[1, 5, 6, 4], &[4, 6, 7, 2]];
                assert_eq!(of_polygons(&points, &conforming), Contacts::default());
            }
        }
    }

    #[test]
    fn points_at_one_place_are_no_vertices_inside() {
        let square = [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
        let other = [
            [1.0, -0.0, -0.0],
            [2.0, 0.0, 0.0],
            [2.0, 1.0, 0.0],
            [1.0, 1.0, 0.0],
        ];
        let contacts = of_polygons(&[square, other].concat(), &[&[0, 1, 2, 3], &[4, 5, 6, 7]]);
        assert_eq!((contacts.doubled, contacts.inside_edges()), (2, 0));
    }

    #[test]
    fn the_tree_finds_what_a_search_of_all_pairs_finds() {
        let mut state = 1u64;
        let mut next = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            f64::from((state >> 59) as u32)
        };
        let points: Vec<DVec3> = (0..300)
            .map(|_| DVec3::new(next(), next(), (next() / 8.0).floor()))
            .collect();
        let point = |v: u32| points[v as usize];
        let tree = Tree::of(&point, &(0..300).collect::<Vec<_>>());
        for edge in (0..299).map(|v| [v, v + 1]) {
            let [a, b] = edge.map(|v| points[v as usize]);
            let is_inside = |p: DVec3| {
                (p - a).cross(b - a) == DVec3::ZERO
                    && (p - a).dot(b - a) > 0.0
                    && (p - b).dot(a - b) > 0.0
            };
            let mut expected: Vec<u32> = (0..300)
                .filter(|&v| is_inside(points[v as usize]))
                .collect();
            let mut found = tree.inside_edge(edge);
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected);
        }
    }

    /// The reproducer's kind: two tetrahedra on a third, whose face has their common vertex inside an edge; and a
    /// vertex inside a face.
    #[test]
    fn vertices_hang_on_edges_and_faces_of_cells() {
        let corners = [
            [0.0; 3],
            [2.0, 0.0, 0.0],
            [0.0, 2.0, 0.0],
            [0.0, 0.0, 2.0],
            [0.0, 0.0, -2.0],
        ];
        let points = |last: [f64; 3]| corners.into_iter().chain([last]).map(DVec3::from).collect();
        let mesh = |last, cells: Vec<[u32; 4]>| -> VolumeMesh {
            TetMesh {
                points: points(last),
                tetrahedra: cells,
                ..TetMesh::default()
            }
            .into()
        };
        let on_edge = mesh(
            [1.0, 1.0, 0.0],
            vec![[0, 1, 2, 3], [0, 5, 1, 4], [0, 2, 5, 4]],
        );
        let contacts = Contacts::of_cells(&on_edge);
        assert_eq!(
            contacts.edges,
            [EdgeContact {
                ends: [1, 2],
                vertices: vec![5]
            }]
        );
        assert_eq!((contacts.inside_edges(), contacts.inside_faces()), (1, 0));
        let in_face = mesh(
            [0.5, 0.5, 0.0],
            vec![[0, 1, 2, 3], [0, 5, 1, 4], [1, 5, 2, 4], [2, 5, 0, 4]],
        );
        let contacts = Contacts::of_cells(&in_face);
        assert_eq!((contacts.inside_edges(), contacts.inside_faces()), (0, 1));
        assert_eq!(
            (contacts.faces[0].cell, &contacts.faces[0].vertices[..]),
            (0, &[5][..])
        );
        let whole = mesh(
            [0.5, 0.5, 0.0],
            vec![
                [0, 5, 1, 3],
                [1, 5, 2, 3],
                [2, 5, 0, 3],
                [0, 5, 1, 4],
                [1, 5, 2, 4],
                [2, 5, 0, 4],
            ],
        );
        assert_eq!(Contacts::of_cells(&whole), Contacts::default());
    }
}
