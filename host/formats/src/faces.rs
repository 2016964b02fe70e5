//! Lists of faces for readers.

use trioxide_mesh::mesh::{Faces, Polygons};
use trioxide_mesh::parallel;

/// Faces in the order of the file. While all faces are triangles, only their vertices are stored.
#[derive(Default)]
pub(crate) struct FaceList {
    vertices: Vec<u32>,
    /// Number of faces.
    count: usize,
    /// End of each face in `vertices`; empty while all faces are triangles.
    ends: Vec<u32>,
}

impl FaceList {
    /// Adds a vertex to the current face, which [`FaceList::finish_face`] ends.
    #[inline]
    pub(crate) fn push_vertex(&mut self, vertex: u32) {
        self.vertices.push(vertex);
    }

    /// Number of faces.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Ends a face.
    ///
    /// # Errors
    /// The rule that the face breaks.
    #[inline]
    pub(crate) fn finish_face(&mut self) -> Result<(), String> {
        let begin = match self.ends.last() {
            Some(end) => *end as usize,
            None => 3 * self.count,
        };
        let size = self.vertices.len() - begin;
        if size == 3 && self.ends.is_empty() {
            self.count += 1;
            return Ok(());
        }
        if size < 3 {
            let plural = if size == 1 { "vertex" } else { "vertices" };
            return Err(format!(
                "a face has {size} {plural}, but at least 3 are needed"
            ));
        }
        if self.ends.is_empty() {
            let triangles = u32::try_from(3 * self.count).map_err(|_| too_many())?;
            self.ends.extend((3..=triangles).step_by(3));
        }
        self.ends
            .push(u32::try_from(self.vertices.len()).map_err(|_| too_many())?);
        self.count += 1;
        Ok(())
    }

    /// The faces of all `lists`, joined in order.
    ///
    /// # Errors
    /// The rule that the joined list breaks.
    pub(crate) fn concat(lists: Vec<FaceList>) -> Result<Faces, String> {
        let corners: usize = lists.iter().map(|list| list.vertices.len()).sum();
        // No index may be `NONE`.
        if corners >= u32::MAX as usize {
            return Err(too_many());
        }
        if lists.iter().all(|list| list.ends.is_empty()) {
            let parts: Vec<&[[u32; 3]]> = lists
                .iter()
                .map(|list| list.vertices.as_chunks::<3>().0)
                .collect();
            return Ok(Faces::Triangles(parallel::concat_slices(&parts)));
        }
        let mut begin = 0;
        let begins: Vec<u32> = lists
            .iter()
            .map(|list| {
                begin += list.vertices.len() as u32;
                begin - list.vertices.len() as u32
            })
            .collect();
        let mut offsets: Vec<Vec<u32>> = vec![vec![0]];
        parallel::append(&mut offsets, lists.len(), 1, |k| {
            let (list, begin) = (&lists[k], begins[k]);
            match list.ends.is_empty() {
                true => (1..=list.count as u32).map(|i| begin + 3 * i).collect(),
                false => list.ends.iter().map(|end| begin + end).collect(),
            }
        });
        let vertices = lists.into_iter().map(|list| list.vertices).collect();
        Ok(Faces::Polygons(Polygons {
            offsets: parallel::concat(offsets),
            vertices: parallel::concat(vertices),
        }))
    }
}

fn too_many() -> String {
    format!("the faces have more than {} corners together", u32::MAX - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(faces: &[&[u32]]) -> FaceList {
        let mut list = FaceList::default();
        for face in faces {
            face.iter().for_each(|v| list.push_vertex(*v));
            list.finish_face().unwrap();
        }
        list
    }

    #[test]
    fn lists_join_to_triangles_or_polygons() {
        let (a, b): (&[&[u32]], &[&[u32]]) = (&[&[0, 1, 2], &[3, 1, 0]], &[&[7, 8, 9]]);
        assert_eq!(
            FaceList::concat(vec![list(a), list(&[]), list(b)]),
            Ok(Faces::Triangles(vec![[0, 1, 2], [3, 1, 0], [7, 8, 9]]))
        );
        let c: &[&[u32]] = &[&[4, 5, 6], &[1, 2, 3, 4], &[5, 6, 7]];
        assert_eq!(
            FaceList::concat(vec![list(a), list(c), list(b)]),
            Ok(Faces::Polygons(Polygons {
                offsets: vec![0, 3, 6, 9, 13, 16, 19],
                vertices: vec![0, 1, 2, 3, 1, 0, 4, 5, 6, 1, 2, 3, 4, 5, 6, 7, 7, 8, 9],
            }))
        );
        assert_eq!(FaceList::concat(vec![]), Ok(Faces::Triangles(vec![])));
    }

    #[test]
    fn a_face_has_three_vertices_at_least() {
        let mut faces = list(&[&[0, 1, 2]]);
        faces.push_vertex(0);
        let reason = faces.finish_face().unwrap_err();
        assert_eq!(reason, "a face has 1 vertex, but at least 3 are needed");
        let mut faces = list(&[&[0, 1, 2, 3]]);
        assert!(faces.finish_face().is_err());
    }
}
