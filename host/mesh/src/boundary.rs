//! The boundary surface of a volume mesh, or of polyhedra.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use glam::DVec3;
use rayon::slice::ParallelSliceMut;

use crate::edges::mix;
use crate::fields::MeshFields;
use crate::mesh::{Faces, Mesh, NONE, Polygons, gather};
use crate::orient::is_ascending;
use crate::parallel;
use crate::polyhedra::PolyhedralMesh;
use crate::volume::{CellKind, VolumeMesh, faces, key};

impl VolumeMesh {
    /// The faces of exactly one cell, counter-clockwise as seen from outside, in the order of the cells, and their
    /// vertices in the mesh's order. The tags of the mesh's own faces become regions, 0 for a face without a tag.
    /// Vertices keep their fields, and a face has the fields of its cell.
    pub fn boundary(&self) -> Mesh {
        let cells: Vec<&[u32]> = self.cells.iter().collect();
        let once = self.faces_of_one_cell();
        let tags: HashMap<[u32; 4], i32> = (self.faces.iter().zip(&self.face_tags))
            .map(|(face, &tag)| (key(face.iter().copied()), tag))
            .collect();
        let mut polygons = Polygons::default();
        let mut regions = Vec::with_capacity(once.len());
        let mut face = Vec::with_capacity(4);
        let mut owners = Vec::with_capacity(once.len());
        for (c, f) in once {
            owners.push(c);
            let cell = cells[c as usize];
            let places = CellKind::of(cell.len()).map_or(&[][..], faces)[usize::from(f)];
            face.clear();
            face.extend(places.iter().map(|&k| cell[k]));
            let tag = tags.get(&key(face.iter().copied()));
            regions.push(tag.copied().unwrap_or(0));
            polygons.push(&face);
        }
        let regions = (!self.faces.is_empty()).then_some(regions);
        Mesh {
            about: Arc::clone(&self.about),
            ..surface((&self.points, &self.fields), polygons, regions, &owners)
        }
    }

    /// The vertices of faces of exactly one cell, ascending.
    pub fn boundary_vertices(&self) -> Vec<u32> {
        let mut vertices = Vec::new();
        for (c, f) in self.faces_of_one_cell() {
            let cell = self.cells.get(c as usize);
            let kind = CellKind::of(cell.len());
            let face = kind.map_or(&[][..], faces)[usize::from(f)];
            vertices.extend(face.iter().map(|&k| cell[k]));
        }
        vertices.par_sort_unstable();
        vertices.dedup();
        vertices
    }

    /// The faces of exactly one cell, each as its cell and its index in [`faces`], ascending.
    ///
    /// As in [`crate::edges::boundary_edges`], each face adds its hash to the sum of its lowest vertex, with the sign
    /// of its direction: the two sides of a face cancel. Only faces of vertices with another sum are sorted.
    pub(crate) fn faces_of_one_cell(&self) -> Vec<(u32, u8)> {
        let sums: Vec<AtomicU64> = parallel::collect(self.points.len(), |_| AtomicU64::new(0));
        let each = |c: usize, on: &mut dyn FnMut([u32; 4], u8, bool)| {
            let cell = self.cells.get(c);
            let kind = CellKind::of(cell.len());
            for (face, f) in kind.map_or(&[][..], faces).iter().zip(0..) {
                let mut corners = [NONE; 4];
                for (corner, &k) in corners.iter_mut().zip(*face) {
                    *corner = cell[k];
                }
                let corners = &corners[..face.len()];
                on(key(corners.iter().copied()), f, is_ascending(corners));
            }
        };
        parallel::for_each(self.cells.len(), |c| {
            each(c, &mut |key, _, is_ascending| {
                let hash = key.iter().fold(0, |hash, &v| mix(hash ^ u64::from(v)));
                let change = if is_ascending {
                    hash
                } else {
                    hash.wrapping_neg()
                };
                sums[key[0] as usize].fetch_add(change, Relaxed);
            });
        });
        let parts = parallel::map_pieces(self.cells.len(), parallel::GRAIN, |range| {
            let mut part: Vec<([u32; 4], u32, u8)> = Vec::new();
            for c in range {
                each(c, &mut |key, f, _| {
                    if sums[key[0] as usize].load(Relaxed) != 0 {
                        part.push((key, c as u32, f));
                    }
                });
            }
            part
        });
        let mut all = parallel::concat(parts);
        all.par_sort_unstable();
        let mut once: Vec<(u32, u8)> = all
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|uses| uses.len() == 1)
            .map(|uses| (uses[0].1, uses[0].2))
            .collect();
        drop(all);
        once.par_sort_unstable();
        once
    }
}

impl PolyhedralMesh {
    /// The faces of exactly one polyhedron, counter-clockwise as seen from outside, and their vertices in the mesh's
    /// order. Tags become regions, 0 for a face without a tag. Vertices keep their fields, and a face has the fields of
    /// its polyhedron.
    pub fn boundary(&self) -> Mesh {
        let mut tags: HashMap<u32, i32> = HashMap::new();
        for tagged in &self.tagged {
            tags.entry(tagged.face).or_insert(tagged.tag);
        }
        let (mut polygons, mut regions, mut owners) = (Polygons::default(), Vec::new(), Vec::new());
        for (face, both) in (0u32..).zip(self.neighbours()) {
            let (side, owner) = match both {
                [NONE, NONE] => continue,
                [owner, NONE] => (2 * face, owner),
                [NONE, owner] => (2 * face + 1, owner),
                _ => continue,
            };
            owners.push(owner);
            regions.push(tags.get(&face).copied().unwrap_or(0));
            let vertices: Vec<u32> = self.vertices_of(side).collect();
            polygons.push(&vertices);
        }
        let regions = (!self.tagged.is_empty()).then_some(regions);
        surface((&self.points, &self.fields), polygons, regions, &owners)
    }
}

/// The surface of these faces of cells `owners`, with the vertices that it needs.
fn surface(
    (points, fields): (&[DVec3], &MeshFields),
    mut polygons: Polygons,
    regions: Option<Vec<i32>>,
    owners: &[u32],
) -> Mesh {
    let mut ids = vec![NONE; points.len()];
    for &v in &polygons.vertices {
        ids[v as usize] = 0;
    }
    let mut kept = Vec::new();
    for (v, id) in (0u32..).zip(&mut ids) {
        if *id != NONE {
            *id = kept.len() as u32;
            kept.push(v);
        }
    }
    for v in &mut polygons.vertices {
        *v = ids[*v as usize];
    }
    let is_triangle = |pair: &[u32]| pair[1] - pair[0] == 3;
    Mesh {
        points: gather(points, &kept),
        regions,
        faces: match polygons.offsets.windows(2).all(is_triangle) {
            true => Faces::Triangles(polygons.vertices.as_chunks().0.to_vec()),
            false => Faces::Polygons(polygons),
        },
        fields: MeshFields {
            points: fields.points.gather(&kept),
            cells: fields.cells.gather(owners),
            ..MeshFields::default()
        },
        ..Mesh::default()
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::fields::Field;
    use crate::polyhedra::{PolyhedraBuilder, TaggedFace};
    use crate::volume::{Cells, MixedCells};

    /// A pyramid on a cube: the square between them is inside.
    #[test]
    fn the_boundary_looks_outward_and_keeps_tags() {
        let mut cells = MixedCells::default();
        cells.push(&[1, 2, 3, 4, 5, 6, 7, 8]);
        cells.push(&[5, 6, 7, 8, 9]);
        let mut points: Vec<DVec3> = vec![DVec3::splat(9.0)];
        for z in [0.0, 1.0] {
            points.extend(
                [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(x, y)| DVec3::new(x, y, z)),
            );
        }
        points.push(DVec3::new(0.5, 0.5, 2.0));
        let mut faces = Polygons::default();
        faces.push(&[1, 2, 3, 4]);
        faces.push(&[5, 6, 7, 8]);
        let mesh = VolumeMesh {
            points,
            cells: Cells::Mixed(cells),
            regions: None,
            faces,
            face_tags: vec![7, 8],
            fields: MeshFields {
                points: [Field::scalars("id", (0..10).collect::<Vec<u32>>())]
                    .into_iter()
                    .collect(),
                cells: [Field::scalars("cell", vec![5u8, 6])].into_iter().collect(),
                ..MeshFields::default()
            },
            about: Default::default(),
        };
        let surface = mesh.boundary();
        let ids = surface.fields.points.get("id").expect("it is carried");
        assert_eq!(ids.values, (1..10).collect::<Vec<u32>>().into());
        let of_cells = surface.fields.cells.get("cell").expect("it is carried");
        assert_eq!(of_cells.values, vec![5u8, 5, 5, 5, 5, 6, 6, 6, 6].into());
        assert_eq!(surface.points.len(), 9);
        assert_eq!(surface.faces.len(), 5 + 4);
        let regions = surface.regions.clone().unwrap();
        assert_eq!(regions.iter().filter(|&&tag| tag == 7).count(), 1);
        assert!(!regions.contains(&8));
        // Six times the volume, by cones from the origin: 6 (1 + 1/3).
        let mut volume = 0.0;
        for i in 0..surface.faces.len() {
            let corners = surface.faces.get(i);
            let point = |k: usize| surface.points[corners[k] as usize];
            for k in 2..corners.len() {
                volume += point(0).dot(point(k - 1).cross(point(k)));
            }
        }
        assert!((volume - 8.0).abs() < 1e-12, "{volume}");
    }

    #[test]
    fn the_boundary_of_polyhedra_keeps_tags() {
        let mut builder = PolyhedraBuilder::default();
        let tetrahedra = [
            [[5, 3, 2], [5, 2, 4], [2, 3, 4], [3, 5, 4]],
            [[2, 3, 5], [2, 1, 3], [3, 1, 5], [5, 1, 2]],
        ];
        tetrahedra
            .iter()
            .for_each(|faces| builder.push(faces).unwrap());
        let mut mesh = PolyhedralMesh {
            points: (0..6).map(|i| DVec3::splat(f64::from(i))).collect(),
            ..builder.finish().unwrap()
        };
        mesh.tagged = [(0, 3), (4, 8), (4, 9)]
            .map(|(face, tag)| TaggedFace { face, tag })
            .to_vec();
        let loads = Field::scalars("load", vec![7u8, 8]);
        mesh.fields.cells = [loads].into_iter().collect();
        let surface = mesh.boundary();
        assert_eq!(surface.points, mesh.points[1..]);
        let faces = vec![
            [4, 1, 3],
            [1, 2, 3],
            [2, 4, 3],
            [1, 0, 2],
            [2, 0, 4],
            [4, 0, 1],
        ];
        assert_eq!(surface.faces, Faces::Triangles(faces));
        assert_eq!(surface.regions, Some(vec![0, 0, 0, 8, 0, 0]));
        let loads = surface.fields.cells.get("load").expect("it is carried");
        assert_eq!(loads.values, vec![7u8, 7, 7, 8, 8, 8].into());
    }
}
