//! Lists of faces for readers.

use rayon::slice::ParallelSliceMut;

use trioxide_mesh::edges::edge_faces;
use trioxide_mesh::mesh::{Faces, Mesh, Polygons};
use trioxide_mesh::parallel;

/// Faces in the order of the file. While all faces are triangles, only their vertices are stored.
#[derive(Default)]
pub(crate) struct FaceList {
    vertices: Vec<u32>,
    /// Number of faces.
    count: usize,
    /// End of each face in `vertices`; empty while all faces are triangles.
    ends: Vec<u32>,
    /// Number of faces that were left out.
    dropped: usize,
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

    /// Number of corners of all faces, with those of the current one.
    pub(crate) fn corners(&self) -> usize {
        self.vertices.len()
    }

    /// Ends a face. Returns whether it has three corners: otherwise it is left out.
    ///
    /// # Errors
    /// [`too_many`] corners.
    #[inline]
    pub(crate) fn finish_face(&mut self) -> Result<bool, String> {
        let begin = match self.ends.last() {
            Some(end) => *end as usize,
            None => 3 * self.count,
        };
        let size = self.vertices.len() - begin;
        if size == 3 && self.ends.is_empty() {
            self.count += 1;
            return Ok(true);
        }
        if size < 3 {
            self.vertices.truncate(begin);
            self.dropped += 1;
            return Ok(false);
        }
        if self.ends.is_empty() {
            let triangles = u32::try_from(3 * self.count).map_err(|_| too_many())?;
            self.ends.extend((3..=triangles).step_by(3));
        }
        self.ends
            .push(u32::try_from(self.vertices.len()).map_err(|_| too_many())?);
        self.count += 1;
        Ok(true)
    }

    /// Returns a note on the faces that the lists leave out, if there are any.
    pub(crate) fn note<'a>(lists: impl Iterator<Item = &'a FaceList>) -> Option<String> {
        match lists.map(|list| list.dropped).sum() {
            0 => None,
            count => Some(format!("left out: faces of fewer than 3 corners ({count})")),
        }
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

/// Returns the vertices of all corners, face by face.
pub(crate) fn corners(faces: &Faces) -> &[u32] {
    match faces {
        Faces::Triangles(triangles) => triangles.as_flattened(),
        Faces::Polygons(polygons) => &polygons.vertices,
    }
}

/// As [`corners`], to change them.
pub(crate) fn corners_mut(faces: &mut Faces) -> &mut [u32] {
    match faces {
        Faces::Triangles(triangles) => triangles.as_flattened_mut(),
        Faces::Polygons(polygons) => &mut polygons.vertices,
    }
}

/// Leaves out segments, which have no markers, if they list every edge of the faces: then none of them is marked.
/// Returns a note on it.
pub(crate) fn drop_list_of_edges(mesh: &mut Mesh) -> Option<String> {
    let corners = corners(&mesh.faces).len();
    // Few edges are sides of more than two faces.
    if mesh.segments.len() < corners / 3 || mesh.segments.is_empty() || corners == 0 {
        return None;
    }
    let mut listed: Vec<[u32; 2]> = parallel::map(&mesh.segments, |segment| {
        let [a, b] = segment.ends;
        [a.min(b), a.max(b)]
    });
    listed.par_sort_unstable();
    let edges = edge_faces(&mesh.faces);
    if !parallel::all(&edges, |edge| listed.binary_search(&edge.ends).is_ok()) {
        return None;
    }
    mesh.segments = Vec::new();
    Some("its edges are those of the faces, without markers: none is a segment".to_owned())
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
    fn faces_of_fewer_than_three_corners_are_left_out() {
        let mut polygons = list(&[&[0], &[0, 1, 2, 3], &[], &[4, 5], &[1, 2, 3]]);
        polygons.push_vertex(0);
        assert_eq!((polygons.finish_face(), polygons.len()), (Ok(false), 2));
        let triangles = list(&[&[4, 5], &[0, 1, 2]]);
        let note = |lists: &[&FaceList]| FaceList::note(lists.iter().copied());
        assert_eq!(note(&[&list(&[&[0, 1, 2]])]), None);
        let one = "left out: faces of fewer than 3 corners (1)";
        assert_eq!(note(&[&triangles]).as_deref(), Some(one));
        let all = "left out: faces of fewer than 3 corners (5)";
        assert_eq!(note(&[&triangles, &polygons]).as_deref(), Some(all));
        assert_eq!(
            FaceList::concat(vec![triangles, polygons]),
            Ok(Faces::Polygons(Polygons {
                offsets: vec![0, 3, 7, 10],
                vertices: vec![0, 1, 2, 0, 1, 2, 3, 1, 2, 3],
            }))
        );
    }
}
