//! Parts of a mesh that touch and share no vertices: several points at one place, and vertices inside edges and faces
//! of other elements (hanging nodes).
//!
//! Only the boundary is searched: the edges of one face, or the faces of one cell. Where parts meet in shared vertices,
//! their common edges and faces are inside.
//!
//! Points at one place are apart if an edge of the boundary leaves each in the same direction, to 1e-9. Parts that meet
//! in a single point are none: `repair --vertices` parts them so.
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
    /// Vertices of the boundary that are apart from others at their place; of each place one is not counted.
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
            doubled: tree.apart(&vertices, boundary),
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
            doubled: tree.apart(&vertices, &edges),
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
    let mut places: Vec<[u64; 3]> = vertices.iter().map(|&v| place(point(v))).collect();
    places.par_sort_unstable();
    places.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

/// The bits of a position; 0 and -0 are one place.
fn place(p: DVec3) -> [u64; 3] {
    (p + 0.0).to_array().map(f64::to_bits)
}

/// An edge of the boundary at a vertex whose place has several.
struct Leaving {
    /// The lowest vertex of the place.
    first: u32,
    /// The direction's length along an axis that no usual mesh has.
    along: f64,
    vertex: u32,
    direction: DVec3,
}

impl Leaving {
    /// Whether it leaves another vertex in the same direction.
    fn is_beside(&self, other: &Leaving) -> bool {
        other.vertex != self.vertex && (self.direction - other.direction).length() <= ROUNDING
    }

    /// Whether the directions may be the same.
    fn is_near(&self, other: &Leaving) -> bool {
        self.first == other.first && (self.along - other.along).abs() <= 2.0 * ROUNDING
    }
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

    /// Number of the `vertices` that are apart from others at their place, but for one of each place: see the head of
    /// the module. `edges` has all edges of the boundary.
    fn apart(&self, vertices: &[u32], edges: &[[u32; 2]]) -> usize {
        let mut placed: Vec<_> = (vertices.iter())
            .map(|&v| (place((self.point)(v)), v))
            .collect();
        placed.par_sort_unstable();
        let several = placed
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|all| all.len() > 1);
        let mut firsts: Vec<(u32, u32)> = several
            .flat_map(|all| all.iter().map(|&(_, v)| (v, all[0].1)))
            .collect();
        firsts.sort_unstable();
        let leaving = |[from, to]: [u32; 2]| {
            let i = firsts.binary_search_by_key(&from, |&(v, _)| v).ok()?;
            let direction = (self.at(to) - self.at(from)).try_normalize()?;
            Some(Leaving {
                first: firsts[i].1,
                along: direction.dot(DVec3::new(0.48, 0.6, 0.64)),
                vertex: from,
                direction,
            })
        };
        let both = edges.iter().flat_map(|&[a, b]| [[a, b], [b, a]]);
        let mut all: Vec<Leaving> = both.filter_map(leaving).collect();
        all.par_sort_unstable_by(|a, b| {
            let by_place = a.first.cmp(&b.first);
            by_place
                .then(a.along.total_cmp(&b.along))
                .then(a.vertex.cmp(&b.vertex))
        });
        let is_apart = |i: &usize| {
            let one = &all[*i];
            let before = all[..*i]
                .iter()
                .rev()
                .take_while(|other| one.is_near(other));
            let after = all[i + 1..].iter().take_while(|other| one.is_near(other));
            before.chain(after).any(|other| one.is_beside(other))
        };
        let apart = (0..all.len()).filter(is_apart).map(|i| &all[i]);
        let (vertices, places): (Vec<u32>, Vec<u32>) =
            apart.map(|one| (one.vertex, one.first)).unzip();
        distinct(vertices.iter()) - distinct(places.iter())
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
mod tests;
