//! Builds a mesh of polyhedra that list their own faces, as files have them: faces with the same vertices become one.

use rayon::slice::ParallelSliceMut;

use super::{PolyhedralMesh, TaggedFace};
use crate::mesh::{NONE, Polygons};
use crate::random::mix;
use crate::{Error, Result, parallel};

/// Builds a mesh of polyhedra from their faces. Faces with the same vertices become one.
#[derive(Clone, Debug, Default)]
pub struct PolyhedraBuilder {
    /// Faces of all polyhedra, one after the other.
    faces: Polygons,
    /// End of each polyhedron's faces.
    ends: Vec<u32>,
    collapsed: usize,
}

/// Fewest vertices of a face for which a search for repeated ones sorts.
const MANY: usize = 16;

impl PolyhedraBuilder {
    /// Appends a polyhedron by its faces. Their directions are kept: [`PolyhedralMesh::orient`] mends them.
    ///
    /// # Errors
    /// As [`push_face`](Self::push_face) and [`end`](Self::end).
    pub fn push<F: AsRef<[u32]>>(&mut self, faces: &[F]) -> Result<()> {
        for face in faces {
            self.push_face(face.as_ref().iter().copied())?;
        }
        self.end()
    }

    /// Appends a face of the polyhedron that [`end`](Self::end) ends. A vertex that repeats the one before it is left
    /// out, and so is a face of fewer than three vertices then: cells of files may have collapsed edges.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a face that visits a vertex twice, and for more corners than have 32-bit offsets.
    pub fn push_face(&mut self, face: impl IntoIterator<Item = u32>) -> Result<()> {
        let begin = self.faces.vertices.len();
        for vertex in face {
            if self.faces.vertices[begin..].last() != Some(&vertex) {
                self.faces.vertices.push(vertex);
            }
        }
        let corners = &self.faces.vertices[begin..];
        if corners.len() > 1 && corners.first() == corners.last() {
            self.faces.vertices.pop();
        }
        let corners = &self.faces.vertices[begin..];
        if corners.len() < 3 {
            self.collapsed += 1;
            self.faces.vertices.truncate(begin);
            return Ok(());
        }
        if let Some(vertex) = repeated_vertex(corners) {
            return Err(self.refuse(format!("has a face {corners:?} with vertex {vertex} twice")));
        }
        let end = self.faces.vertices.len();
        if end >= NONE as usize {
            return Err(self.refuse(format!("ends after {end} corners of faces: too many")));
        }
        self.faces.offsets.push(end as u32);
        Ok(())
    }

    /// Ends a polyhedron.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a polyhedron without faces.
    pub fn end(&mut self) -> Result<()> {
        let end = self.faces.len() as u32;
        if end == self.ends.last().copied().unwrap_or(0) {
            return Err(self.refuse("has no faces".to_owned()));
        }
        self.ends.push(end);
        Ok(())
    }

    /// Number of polyhedra.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no polyhedron.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Number of corners of all faces.
    pub fn corners(&self) -> usize {
        self.faces.vertices.len()
    }

    /// Returns a note on faces that were left out for want of three different vertices, if there are any.
    pub fn notes(&self) -> Vec<String> {
        let note = match self.collapsed {
            0 => return Vec::new(),
            1 => "1 face has fewer than three different vertices: left out".to_owned(),
            count => format!("{count} faces have fewer than three different vertices: left out"),
        };
        vec![note]
    }

    /// Returns the mesh, without points. Where polyhedra list a shared face in one direction, both have the same side
    /// of it.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a face of more than two polyhedra, and for faces with the same vertices in another order.
    pub fn finish(self) -> Result<PolyhedralMesh> {
        let PolyhedraBuilder { faces, ends, .. } = self;
        let owner = |face: u32| ends.partition_point(|&end| end <= face);
        let refuse = |face: u32, rule: String| Error::Invalid {
            element: format!("polyhedron {}", owner(face)),
            rule: format!("has a face {:?} {rule}", faces.get(face as usize)),
        };
        let mut first: Vec<u32> = (0..faces.len() as u32).collect();
        let mut is_reversed = vec![false; faces.len()];
        for_equal_faces(&faces, |equal| {
            let &[one, other, ..] = equal else {
                return Ok(());
            };
            if let Some(&third) = equal.get(2) {
                let [p, q] = [one, other].map(owner);
                return Err(refuse(
                    third,
                    format!("that polyhedra {p} and {q} have too"),
                ));
            }
            first[other as usize] = one;
            is_reversed[other as usize] = match compare(&faces, one, other) {
                Some(Order::Same) => false,
                Some(Order::Reversed) => true,
                _ => {
                    let (p, vertices) = (owner(one), faces.get(one as usize));
                    let rule = format!("that polyhedron {p} has in another order: {vertices:?}");
                    return Err(refuse(other, rule));
                }
            };
            Ok(())
        })?;
        let mut kept = Polygons::default();
        let mut ids: Vec<u32> = Vec::with_capacity(faces.len());
        for (i, face) in faces.iter().enumerate() {
            let id = match first[i] as usize {
                one if one == i => {
                    kept.push(face);
                    kept.len() as u32 - 1
                }
                one => ids[one],
            };
            ids.push(id);
        }
        let sides = ids.iter().zip(is_reversed);
        Ok(PolyhedralMesh {
            faces: kept,
            sides: sides
                .map(|(id, turned)| 2 * id + u32::from(turned))
                .collect(),
            offsets: std::iter::once(0).chain(ends).collect(),
            ..PolyhedralMesh::default()
        })
    }

    fn refuse(&self, rule: String) -> Error {
        Error::Invalid {
            element: format!("polyhedron {}", self.len()),
            rule,
        }
    }
}

impl PolyhedralMesh {
    /// Returns the faces with the vertices of `faces`, with these tags; the places in `faces` of those found, and a
    /// note on the others, if there are any.
    pub fn tag_faces(
        &self,
        faces: &Polygons,
        tags: &[i32],
    ) -> (Vec<TaggedFace>, Vec<u32>, Option<String>) {
        let (mut tagged, mut kept) = (Vec::new(), Vec::new());
        for (i, (face, &tag)) in (0..).zip(self.find_faces(faces).into_iter().zip(tags)) {
            if let Some(face) = face {
                tagged.push(TaggedFace { face, tag });
                kept.push(i);
            }
        }
        let note = match faces.len() - kept.len() {
            0 => None,
            1 => Some("1 face belongs to no polyhedron: left out with its tag".to_owned()),
            count => Some(format!(
                "{count} faces belong to no polyhedron: left out with their tags"
            )),
        };
        (tagged, kept, note)
    }

    /// Returns the face with the vertices of each of `wanted`, in any order.
    pub fn find_faces(&self, wanted: &Polygons) -> Vec<Option<u32>> {
        let mut found = vec![None; wanted.len()];
        let mut sorted: Vec<(u64, u32)> = (0..).zip(wanted.iter()).map(hashed).collect();
        sorted.sort_unstable();
        if sorted.is_empty() {
            return found;
        }
        for (f, face) in (0u32..).zip(self.faces.iter()) {
            let (hash, _) = hashed((f, face));
            let begin = sorted.partition_point(|&(other, _)| other < hash);
            let same = sorted[begin..]
                .iter()
                .take_while(|(other, _)| *other == hash);
            for &(_, i) in same {
                let place = &mut found[i as usize];
                if place.is_none() && in_order(face) == in_order(wanted.get(i as usize)) {
                    *place = Some(f);
                }
            }
        }
        found
    }
}

/// Returns the vertex that a face visits twice, if there is one.
pub fn repeated_vertex(face: &[u32]) -> Option<u32> {
    if face.len() < MANY {
        let again = |&(i, v): &(usize, &u32)| face[..i].contains(v);
        return face.iter().enumerate().find(again).map(|(_, &v)| v);
    }
    let sorted = in_order(face);
    let pair = sorted.windows(2).find(|pair| pair[0] == pair[1]);
    pair.map(|pair| pair[0])
}

fn in_order(face: &[u32]) -> Vec<u32> {
    let mut sorted = face.to_vec();
    sorted.sort_unstable();
    sorted
}

/// A hash of a face's vertices that does not depend on their order, and the face.
fn hashed((i, face): (u32, &[u32])) -> (u64, u32) {
    let add = |sum: u64, &v: &u32| sum.wrapping_add(mix(u64::from(v) + 1));
    (face.iter().fold(face.len() as u64, add), i)
}

/// Order of a face's vertices, compared with those of a face with the same vertices.
#[derive(PartialEq)]
enum Order {
    Same,
    Reversed,
    Another,
}

/// Compares two faces; `None` if they have different vertices.
fn compare(faces: &Polygons, one: u32, other: u32) -> Option<Order> {
    let [one, other] = [one, other].map(|face| faces.get(face as usize));
    let n = one.len();
    if other.len() != n {
        return None;
    }
    let begin = other.iter().position(|&v| v == one[0])?;
    if (0..n).all(|i| one[i] == other[(begin + i) % n]) {
        return Some(Order::Same);
    }
    if (0..n).all(|i| one[i] == other[(begin + n - i) % n]) {
        return Some(Order::Reversed);
    }
    (in_order(one) == in_order(other)).then_some(Order::Another)
}

/// Calls `then` with the ids of each set of several faces that have the same vertices, ascending.
fn for_equal_faces(faces: &Polygons, mut then: impl FnMut(&[u32]) -> Result<()>) -> Result<()> {
    let mut sorted = parallel::collect(faces.len(), |i| hashed((i as u32, faces.get(i))));
    sorted.par_sort_unstable();
    for same in sorted.chunk_by(|a, b| a.0 == b.0) {
        match *same {
            [_] => {}
            [(_, one), (_, other)] => {
                if compare(faces, one, other).is_some() {
                    then(&[one, other])?;
                }
            }
            // Other faces may have the same hash.
            _ => {
                let face = |&(_, i): &(u64, u32)| (in_order(faces.get(i as usize)), i);
                let mut all: Vec<(Vec<u32>, u32)> = same.iter().map(face).collect();
                all.sort_unstable();
                for equal in all.chunk_by(|a, b| a.0 == b.0) {
                    let ids: Vec<u32> = equal.iter().map(|&(_, i)| i).collect();
                    then(&ids)?;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polygons(faces: &[&[u32]]) -> Polygons {
        let mut polygons = Polygons::default();
        faces.iter().for_each(|face| polygons.push(face));
        polygons
    }

    #[test]
    fn equal_faces_become_one() {
        let mut builder = PolyhedraBuilder::default();
        builder.push(&[&[0, 1, 2, 3][..], &[4, 5, 6]]).unwrap();
        builder
            .push(&[&[5, 4, 6][..], &[2, 3, 0, 1], &[7, 8, 9]])
            .unwrap();
        assert_eq!(builder.len(), 2);
        let mesh = builder.finish().unwrap();
        assert_eq!(
            mesh.faces,
            polygons(&[&[0, 1, 2, 3], &[4, 5, 6], &[7, 8, 9]])
        );
        assert_eq!(
            (mesh.offsets, mesh.sides),
            (vec![0, 2, 5], vec![0, 2, 3, 0, 4])
        );
    }

    #[test]
    fn vertices_that_follow_themselves_are_left_out() {
        let mut builder = PolyhedraBuilder::default();
        let faces = [vec![7, 7, 8, 9, 7], vec![1, 2, 2, 1], vec![]];
        builder.push(&faces).unwrap();
        assert_eq!(
            builder.notes(),
            ["2 faces have fewer than three different vertices: left out"]
        );
        assert_eq!(builder.finish().unwrap().faces, polygons(&[&[7, 8, 9]]));
    }

    #[test]
    fn faces_that_do_not_fit_are_refused() {
        let refused = |polyhedra: &[&[&[u32]]]| {
            let mut builder = PolyhedraBuilder::default();
            let pushed = polyhedra.iter().try_for_each(|faces| builder.push(faces));
            pushed
                .and_then(|()| builder.finish())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(refused(&[&[]]), "polyhedron 0 has no faces");
        assert_eq!(
            refused(&[&[&[0, 1, 2]], &[&[0, 1, 2, 1]]]),
            "polyhedron 1 has a face [0, 1, 2, 1] with vertex 1 twice"
        );
        let mut many: Vec<u32> = (0..20).collect();
        many[19] = 3;
        assert!(refused(&[&[&many]]).ends_with("with vertex 3 twice"));
        assert_eq!(
            refused(&[&[&[0, 1, 2]], &[&[2, 1, 0]], &[&[1, 2, 0]]]),
            "polyhedron 2 has a face [1, 2, 0] that polyhedra 0 and 1 have too"
        );
        assert_eq!(
            refused(&[&[&[0, 1, 2, 3]], &[&[1, 0, 2, 3]]]),
            "polyhedron 1 has a face [1, 0, 2, 3] that polyhedron 0 has in another order: [0, 1, 2, 3]"
        );
    }

    #[test]
    fn faces_are_found_by_their_vertices() {
        let mut builder = PolyhedraBuilder::default();
        builder.push(&[[0, 1, 2], [3, 4, 5]]).unwrap();
        let mesh = builder.finish().unwrap();
        let wanted = polygons(&[&[5, 3, 4], &[0, 1, 3], &[2, 1, 0], &[3, 4, 5]]);
        assert_eq!(mesh.find_faces(&wanted), [Some(1), None, Some(0), Some(1)]);
        assert!(mesh.find_faces(&Polygons::default()).is_empty());
    }
}
