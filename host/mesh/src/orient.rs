//! Elements whose numbering is turned around: faces of the plane, and cells.
//!
//! An element is *inverted* if its area or volume is negative. Either its numbering runs the wrong way, or its vertices
//! are at wrong places: then turning it would hide the fault, and its sides would run as those of its neighbours do.
//! The sides decide. Elements that share a side agree if they run along it in opposite directions. A component of
//! elements joined by shared sides has two numberings in which all agree, one with all elements turned. The one with
//! fewer inverted elements is right; of two with as many, the one that turns fewer elements, then the one that does not
//! turn the lowest element. A component without such a numbering stays as it is.

use glam::DVec3;
use rayon::slice::ParallelSliceMut;

use crate::links::Links;
use crate::mesh::{Faces, Mesh, NONE};
use crate::parallel;
use crate::volume::{CellKind, Cells, VolumeMesh, faces, key, orientation};

impl VolumeMesh {
    /// Turns the cells whose numbering runs the wrong way, as the head of the module defines it. Returns their number.
    /// A mesh with a vertex that is out of range stays as it is.
    pub fn turn_cells(&mut self) -> usize {
        let (count, points) = (self.cells.len(), self.points.len());
        let is_in_range = |c: usize| self.cells.get(c).iter().all(|&v| (v as usize) < points);
        if parallel::find(count, |c| !is_in_range(c)).is_some() {
            return 0;
        }
        let inverted = parallel::collect(count, |c| self.volume_of(self.cells.get(c)) < 0.0);
        let sides = |c: usize, push: &mut dyn FnMut([u32; 4], bool)| {
            let cell = self.cells.get(c);
            for places in CellKind::of(cell.len()).map_or(&[][..], faces) {
                let mut corners = [NONE; 4];
                for (corner, &k) in corners.iter_mut().zip(*places) {
                    *corner = cell[k];
                }
                let corners = &corners[..places.len()];
                push(key(corners.iter().copied()), is_ascending(corners));
            }
        };
        let turned = turned(&inverted, &sides);
        match &mut self.cells {
            Cells::Tetrahedra(tetrahedra) => {
                turned.iter().for_each(|&c| tetrahedra[c].swap(2, 3));
            }
            Cells::Mixed(cells) => {
                for &c in &turned {
                    let range = cells.offsets[c] as usize..cells.offsets[c + 1] as usize;
                    turn_cell(&mut cells.vertices[range]);
                }
            }
        }
        turned.len()
    }

    /// Six times the volume of a cell, rounded: its sign is exact for a tetrahedron, and that of the sum over the faces
    /// for another.
    pub(crate) fn volume_of(&self, cell: &[u32]) -> f64 {
        if let Ok(tetrahedron) = cell.try_into() {
            return orientation(&self.points, tetrahedron);
        }
        let point = |k: usize| self.points[cell[k] as usize];
        let mut volume = 0.0;
        for places in CellKind::of(cell.len()).map_or(&[][..], faces) {
            let origin = point(0);
            let corner = |i: usize| point(places[i]) - origin;
            for i in 1..places.len() - 1 {
                volume += corner(0).dot(corner(i).cross(corner(i + 1)));
            }
        }
        volume
    }
}

impl Mesh {
    /// Number of faces that run clockwise as seen along z, exactly, where their edges do not cross. Vertex ids must be
    /// in range.
    pub fn clockwise_faces(&self) -> usize {
        parallel::count(self.faces.len(), |f| {
            is_clockwise(&self.points, self.faces.get(f))
        })
    }

    /// As [`VolumeMesh::turn_cells`], of the faces of a mesh of the plane. A polygon keeps its first vertex.
    pub fn turn_faces(&mut self) -> usize {
        let (faces, points) = (&self.faces, &self.points);
        let is_in_range = |f: usize| {
            let corners = faces.get(f);
            !corners.is_empty() && corners.iter().all(|&v| (v as usize) < points.len())
        };
        if parallel::find(faces.len(), |f| !is_in_range(f)).is_some() {
            return 0;
        }
        let inverted = parallel::collect(faces.len(), |f| is_clockwise(points, faces.get(f)));
        let sides = |f: usize, push: &mut dyn FnMut([u32; 4], bool)| {
            let corners = faces.get(f);
            for (k, &a) in corners.iter().enumerate() {
                let side = [a, corners[(k + 1) % corners.len()]];
                push(key(side.into_iter()), side[0] < side[1]);
            }
        };
        let turned = turned(&inverted, &sides);
        match &mut self.faces {
            Faces::Triangles(triangles) => turned.iter().for_each(|&t| triangles[t].swap(1, 2)),
            Faces::Polygons(polygons) => {
                for &f in &turned {
                    let range = polygons.offsets[f] as usize..polygons.offsets[f + 1] as usize;
                    polygons.vertices[range][1..].reverse();
                }
            }
        }
        turned.len()
    }
}

/// Whether a face runs clockwise: it turns right at its first vertex by x, then y.
fn is_clockwise(points: &[DVec3], corners: &[u32]) -> bool {
    let n = corners.len();
    let at = |k: usize| points[corners[k % n] as usize];
    let order = |&i: &usize, &j: &usize| {
        // 0 and -0 are one place.
        let (p, q) = (at(i) + 0.0, at(j) + 0.0);
        p.x.total_cmp(&q.x).then(p.y.total_cmp(&q.y))
    };
    (0..n).min_by(order).is_some_and(|k| {
        let [a, b, c] = [k + n - 1, k, k + 1].map(|k| {
            let DVec3 { x, y, .. } = at(k);
            robust::Coord { x, y }
        });
        robust::orient2d(a, b, c) < 0.0
    })
}

/// Whether the corner after the lowest one is lower than the corner before it: of two faces with the same corners and
/// opposite directions exactly one is so.
pub(crate) fn is_ascending(corners: &[u32]) -> bool {
    let n = corners.len();
    let lowest = (0..n).min_by_key(|&k| corners[k]).unwrap_or(0);
    corners[(lowest + 1) % n] < corners[(lowest + n - 1) % n]
}

/// Turns a cell of another kind than a tetrahedron.
fn turn_cell(cell: &mut [u32]) {
    match cell.len() {
        4 => cell.swap(2, 3),
        5 => cell.swap(1, 3),
        n => {
            let (bottom, top) = cell.split_at_mut(n / 2);
            bottom.swap_with_slice(top);
        }
    }
}

/// Gives the sides of an element: its vertices in ascending order, and whether the element runs along it in one of the
/// two directions.
type Sides<'a> = &'a (dyn Fn(usize, &mut dyn FnMut([u32; 4], bool)) + Sync);

/// The elements to turn, in ascending order.
fn turned(inverted: &[bool], sides: Sides) -> Vec<usize> {
    if !inverted.contains(&true) {
        return Vec::new();
    }
    let parts = parallel::map_pieces(inverted.len(), parallel::GRAIN, |range| {
        let mut part = Vec::with_capacity(4 * range.len());
        for element in range {
            sides(element, &mut |key, way| {
                part.push((key, element as u32, way))
            });
        }
        part
    });
    let mut all = parallel::concat(parts);
    all.par_sort_unstable();
    let mut components = Components::new(inverted.len());
    for uses in all.chunk_by(|a, b| a.0 == b.0) {
        if let [(_, a, way), (_, b, other)] = *uses {
            components.join(a, b, way == other);
        }
    }
    components.turned(inverted)
}

/// Elements joined across sides, each with its way relative to the lowest element of its component.
struct Components {
    links: Links,
    /// Whether the component of a root has no numbering in which all agree.
    is_broken: Vec<bool>,
}

impl Components {
    fn new(count: usize) -> Self {
        Self {
            links: Links::new(count),
            is_broken: vec![false; count],
        }
    }

    fn join(&mut self, a: u32, b: u32, disagree: bool) {
        let [(a_root, _), (b_root, _)] = [a, b].map(|element| self.links.find(element));
        let fits = self.links.link(a, b, disagree);
        let (low, high) = (a_root.min(b_root) as usize, a_root.max(b_root) as usize);
        self.is_broken[low] |= !fits || self.is_broken[high];
    }

    fn turned(mut self, inverted: &[bool]) -> Vec<usize> {
        let count = inverted.len();
        let ways: Vec<(u32, bool)> = (0..count as u32).map(|i| self.links.find(i)).collect();
        // For each root and both ways of it: inverted elements afterwards, turned elements.
        let mut costs = vec![[(0u32, 0u32); 2]; count];
        for (&is_inverted, &(root, disagrees)) in inverted.iter().zip(&ways) {
            for (way, cost) in costs[root as usize].iter_mut().enumerate() {
                let turns = disagrees ^ (way == 1);
                cost.0 += u32::from(is_inverted ^ turns);
                cost.1 += u32::from(turns);
            }
        }
        let is_turned = |&i: &usize| {
            let (root, disagrees) = ways[i];
            let [kept, turned] = costs[root as usize];
            !self.is_broken[root as usize] && disagrees ^ (turned < kept)
        };
        (0..count).filter(is_turned).collect()
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::fields::MeshFields;
    use crate::mesh::Polygons;
    use crate::volume::MixedCells;

    fn volume(points: Vec<DVec3>, cells: &[&[u32]]) -> VolumeMesh {
        let mut mixed = MixedCells::default();
        cells.iter().for_each(|cell| mixed.push(cell));
        VolumeMesh {
            points,
            cells: Cells::Mixed(mixed),
            regions: None,
            faces: Polygons::default(),
            face_tags: Vec::new(),
            fields: MeshFields::default(),
            about: Default::default(),
        }
    }

    fn cells(mesh: &VolumeMesh) -> Vec<Vec<u32>> {
        mesh.cells.iter().map(<[u32]>::to_vec).collect()
    }

    /// A cube below a pyramid and a wedge beside it: each kind, turned alone and all together.
    #[test]
    fn cells_of_every_kind_turn_to_agree() {
        let corners = [0, 1, 2, 3, 4, 5, 6, 7].map(|i| {
            let (x, y) = ([0.0, 1.0, 1.0, 0.0][i % 4], [0.0, 0.0, 1.0, 1.0][i % 4]);
            DVec3::new(x, y, (i / 4) as f64)
        });
        let more = [
            (0.5, 0.5, 2.0),
            (2.0, 0.5, 0.0),
            (2.0, 0.5, 1.0),
            (0.5, 0.5, 3.0),
        ];
        let points = [&corners[..], &more.map(DVec3::from)].concat();
        let right: [&[u32]; 4] = [
            &[0, 1, 2, 3, 4, 5, 6, 7],
            &[4, 5, 6, 7, 8],
            &[1, 9, 2, 5, 10, 6],
            &[4, 5, 8, 11],
        ];
        let expected = cells(&volume(points.clone(), &right));
        for mask in 0..16u32 {
            let mut mesh = volume(points.clone(), &right);
            let Cells::Mixed(mixed) = &mut mesh.cells else {
                panic!("mixed cells")
            };
            for c in (0..4).filter(|c| mask >> c & 1 == 1) {
                let range = mixed.offsets[c] as usize..mixed.offsets[c + 1] as usize;
                turn_cell(&mut mixed.vertices[range]);
            }
            assert_eq!(mesh.turn_cells(), mask.count_ones() as usize, "{mask:b}");
            assert_eq!(cells(&mesh), expected, "{mask:b}");
        }
    }

    /// A vertex at a wrong place inverts a triangle, whose numbering is right.
    #[test]
    fn a_tangled_triangle_stays() {
        let points = [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0), (5.0, 2.0)];
        let triangles = vec![[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]];
        let mut mesh = Mesh {
            points: points.map(|(x, y)| DVec3::new(x, y, 0.0)).to_vec(),
            faces: Faces::Triangles(triangles.clone()),
            ..Mesh::default()
        };
        assert_eq!(mesh.turn_faces(), 0);
        let turned: Vec<_> = triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
        mesh.faces = Faces::Triangles(turned);
        assert_eq!(mesh.turn_faces(), 4);
        assert_eq!(mesh.faces, Faces::Triangles(triangles));
    }

    #[test]
    fn zeros_of_both_signs_are_one_place() {
        let corners = [[0.0, 0.0], [-0.0, 1.0], [0.0, 2.0], [1.0, 2.0], [1.0, 0.0]];
        let points = corners.map(|[x, y]| DVec3::new(x, y, 0.0));
        assert!(is_clockwise(&points, &[0, 1, 2, 3, 4]));
        assert!(!is_clockwise(&points, &[4, 3, 2, 1, 0]));
    }
}
