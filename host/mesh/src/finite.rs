//! Meshes without the vertices whose coordinates are not finite, as scanners write places without an echo.

use crate::mesh::{Faces, Mesh, NONE, Polygons, Segment, gather};
use crate::parallel;
use crate::volume::VolumeMesh;
use glam::DVec3;

/// The old ids of the elements that are left, in ascending order, and the numbers of the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Number of vertices that were dropped.
    pub dropped_vertices: usize,
    /// Number of faces or cells that were dropped, and the word for one of them.
    pub dropped_cells: (usize, &'static str),
    /// Number of segments or tagged faces that were dropped, and the word for one of them.
    pub dropped_sides: (usize, &'static str),
    /// Of the vertices: those with finite coordinates.
    pub vertices: Vec<u32>,
    /// Of the faces of a surface, or of the cells: those all of whose vertices are left.
    pub cells: Vec<u32>,
    /// Of the segments of a surface, or of the tagged faces of cells: likewise.
    pub sides: Vec<u32>,
}

impl Kept {
    /// `before` has the number of cells and of sides before, and the word for one of them.
    fn of(
        new: Renumbered,
        [cells, sides]: [Vec<u32>; 2],
        before: [(usize, &'static str); 2],
    ) -> Kept {
        let [(of_cells, cell), (of_sides, side)] = before;
        Kept {
            dropped_vertices: new.new.len() - new.vertices.len(),
            dropped_cells: (of_cells - cells.len(), cell),
            dropped_sides: (of_sides - sides.len(), side),
            vertices: new.vertices,
            cells,
            sides,
        }
    }

    /// A sentence with the numbers of elements that were dropped.
    pub fn sentence(&self) -> String {
        let counted = |(count, name): (usize, &str)| match (count, name) {
            (1, _) => format!("1 {name}"),
            (_, "vertex") => format!("{count} vertices"),
            _ => format!("{count} {name}s"),
        };
        let with = [self.dropped_cells, self.dropped_sides].into_iter();
        let with: Vec<String> = with.filter(|(count, _)| *count > 0).map(counted).collect();
        let with = match with.is_empty() {
            true => String::new(),
            false => format!(", with {} that used them", with.join(" and ")),
        };
        let vertices = counted((self.dropped_vertices, "vertex"));
        format!("coordinates that are not finite numbers: {vertices} left out{with}")
    }
}

impl Mesh {
    /// Drops the vertices that have a coordinate of NaN or infinity, and the faces and segments that use one, with
    /// their data. The others keep their order. `None` if there is no such vertex.
    ///
    /// # Panics
    /// If an attribute or a field has another length than its elements.
    pub fn drop_invalid(&mut self) -> Option<Kept> {
        let new = Renumbered::of(&self.points)?;
        let cells = new.kept(self.faces.len(), |i| self.faces.get(i));
        let sides = new.kept(self.segments.len(), |i| &self.segments[i].ends);
        let before = [(self.faces.len(), "face"), (self.segments.len(), "segment")];
        self.points = gather(&self.points, &new.vertices);
        self.attributes = self.attributes.gather(&new.vertices);
        self.faces = match &self.faces {
            Faces::Triangles(list) => Faces::Triangles(new.arrays(list, &cells)),
            Faces::Polygons(list) => Faces::Polygons(new.polygons(list, &cells)),
        };
        self.regions = self.regions.as_deref().map(|list| gather(list, &cells));
        self.segments = parallel::map(&sides, |&i| Segment {
            ends: self.segments[i as usize].ends.map(|v| new.id(v)),
            ..self.segments[i as usize]
        });
        self.fields.points = self.fields.points.gather(&new.vertices);
        self.fields.cells = self.fields.cells.gather(&cells);
        self.fields.sides = self.fields.sides.gather(&sides);
        Some(Kept::of(new, [cells, sides], before))
    }
}

impl VolumeMesh {
    /// As [`Mesh::drop_invalid`], of cells and tagged faces.
    ///
    /// # Panics
    /// As [`Mesh::drop_invalid`].
    pub fn drop_invalid(&mut self) -> Option<Kept> {
        let new = Renumbered::of(&self.points)?;
        let cells = new.kept(self.cells.len(), |i| self.cells.get(i));
        let sides = new.kept(self.faces.len(), |i| self.faces.get(i));
        let before = [
            (self.cells.len(), "cell"),
            (self.faces.len(), "tagged face"),
        ];
        self.points = gather(&self.points, &new.vertices);
        self.fields.points = self.fields.points.gather(&new.vertices);
        self.keep(&cells, &sides);
        let ids = self.cells.vertices_mut().iter_mut();
        ids.chain(&mut self.faces.vertices)
            .for_each(|v| *v = new.id(*v));
        Some(Kept::of(new, [cells, sides], before))
    }
}

/// The finite vertices, and their new ids.
struct Renumbered {
    /// Old ids of the finite ones.
    vertices: Vec<u32>,
    /// The new id of each old one; [`NONE`] of one that goes.
    new: Vec<u32>,
}

impl Renumbered {
    /// `None` if all vertices are finite.
    fn of(points: &[DVec3]) -> Option<Renumbered> {
        parallel::position(points, |point| !point.is_finite())?;
        let count = points.len();
        let vertices = parallel::collect_where(count, |i| points[i].is_finite(), |i| i as u32);
        let mut new = vec![NONE; count];
        for (id, &old) in vertices.iter().enumerate() {
            new[old as usize] = id as u32;
        }
        Some(Renumbered { vertices, new })
    }

    /// The new id of a vertex. One that the mesh does not have stays beyond its vertices.
    fn id(&self, old: u32) -> u32 {
        self.new.get(old as usize).map_or(old, |&id| id)
    }

    /// The elements all of whose vertices are left.
    fn kept<'v>(&self, count: usize, vertices: impl Fn(usize) -> &'v [u32] + Sync) -> Vec<u32> {
        let is_left = |i: usize| vertices(i).iter().all(|&v| self.id(v) != NONE);
        parallel::collect_where(count, is_left, |i| i as u32)
    }

    fn arrays<const N: usize>(&self, list: &[[u32; N]], kept: &[u32]) -> Vec<[u32; N]> {
        parallel::map(kept, |&i| list[i as usize].map(|v| self.id(v)))
    }

    fn polygons(&self, list: &Polygons, kept: &[u32]) -> Polygons {
        let mut left = Polygons::default();
        for &i in kept {
            let vertices = list.get(i as usize).iter().map(|&v| self.id(v));
            left.push(&vertices.collect::<Vec<u32>>());
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Field;
    use crate::volume::{Cells, MixedCells};

    #[test]
    fn what_uses_a_vertex_that_is_not_finite_goes_with_it() {
        let bad = DVec3::new(0.0, f64::NAN, 0.0);
        let far = DVec3::new(0.0, 0.0, f64::NEG_INFINITY);
        let mut mesh = Mesh {
            points: vec![DVec3::ZERO, bad, DVec3::X, DVec3::Y, far, DVec3::Z],
            faces: Faces::Triangles(vec![[0, 1, 2], [0, 2, 3], [2, 5, 3], [3, 4, 5]]),
            regions: Some(vec![6, 7, 8, 9]),
            ..Mesh::default()
        };
        mesh.segments = [[1, 2], [2, 5]]
            .map(|ends| Segment { ends, marker: 4 })
            .into();
        mesh.attributes.colors = Some((0..6).map(|i| [i; 4]).collect());
        let ids = |count: i32| Field::scalars("id", Vec::from_iter(0..count));
        mesh.fields.points.push(ids(6));
        mesh.fields.cells.push(ids(4));
        mesh.fields.sides.push(ids(2));
        let mut polygons = mesh.clone();
        let kept = mesh.drop_invalid().unwrap();
        let expected = Kept {
            dropped_vertices: 2,
            dropped_cells: (2, "face"),
            dropped_sides: (1, "segment"),
            vertices: vec![0, 2, 3, 5],
            cells: vec![1, 2],
            sides: vec![1],
        };
        assert_eq!(kept, expected);
        let said = "coordinates that are not finite numbers: 2 vertices left out, with 2 faces and 1 segment that used them";
        assert_eq!(kept.sentence(), said);
        assert_eq!(mesh.faces, Faces::Triangles(vec![[0, 1, 2], [1, 3, 2]]));
        assert_eq!(mesh.segments[0].ends, [1, 3]);
        assert_eq!(mesh.regions, Some(vec![7, 8]));
        assert_eq!(
            mesh.attributes.colors,
            Some(vec![[0; 4], [2; 4], [3; 4], [5; 4]])
        );
        let field = |fields: &crate::fields::Fields| fields.get("id").unwrap().values.clone();
        assert_eq!(field(&mesh.fields.points), vec![0, 2, 3, 5].into());
        assert_eq!(field(&mesh.fields.cells), vec![1, 2].into());
        assert_eq!(field(&mesh.fields.sides), vec![1].into());
        assert_eq!(mesh.drop_invalid(), None);

        polygons.faces = Faces::Polygons(vec![[0, 1, 2], [0, 2, 3], [2, 5, 3], [3, 4, 5]].into());
        assert_eq!(polygons.drop_invalid(), Some(expected.clone()));
        assert_eq!(
            polygons.faces,
            Faces::Polygons(vec![[0, 1, 2], [1, 3, 2]].into())
        );

        let tetrahedra = vec![[0, 2, 3, 5], [0, 1, 2, 3], [5, 3, 2, 0]];
        let mut mixed = MixedCells::default();
        tetrahedra.iter().for_each(|cell| mixed.push(cell));
        let mut left = MixedCells::default();
        [[0, 1, 2, 3], [3, 2, 1, 0]]
            .iter()
            .for_each(|cell| left.push(cell));
        for (cells, left) in [
            (
                Cells::Tetrahedra(tetrahedra),
                Cells::Tetrahedra(vec![[0, 1, 2, 3], [3, 2, 1, 0]]),
            ),
            (Cells::Mixed(mixed), Cells::Mixed(left)),
        ] {
            let mut volume = VolumeMesh {
                points: vec![DVec3::ZERO, bad, DVec3::X, DVec3::Y, far, DVec3::Z],
                cells,
                regions: Some(vec![1, 2, 3]),
                faces: vec![[0, 1, 2], [0, 2, 3]].into(),
                face_tags: vec![5, 6],
                fields: Default::default(),
                about: Default::default(),
            };
            let kept = volume.drop_invalid().unwrap();
            assert_eq!((kept.cells, kept.sides), (vec![0, 2], vec![1]));
            assert_eq!(volume.cells, left);
            assert_eq!(
                (volume.regions, volume.face_tags),
                (Some(vec![1, 3]), vec![6])
            );
            assert_eq!(volume.faces.get(0), [0, 1, 2]);
        }
    }
}
