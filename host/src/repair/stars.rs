//! The faces around vertices, while faces change.
//!
//! The star of a vertex is read at its first use, and changes with the faces from then on. So a change takes time by
//! the number of the faces that change, not by the number of all faces at their vertices.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use trioxide_kernel::NONE;

/// Vertices of a face that is gone.
pub(super) const GONE: [u32; 3] = [NONE; 3];

/// Faces, and the faces around each vertex.
pub(super) struct Stars {
    faces: Vec<[u32; 3]>,
    /// Start of each vertex's corners, as the faces were at first.
    offsets: Vec<u32>,
    corners: Vec<u32>,
    /// The stars that have been read.
    read: HashMap<u32, Star>,
}

/// The faces around one vertex.
#[derive(Default)]
pub(super) struct Star {
    /// All of them.
    pub faces: BTreeSet<u32>,
    /// The vertices that share an edge with this one, and the number of proper faces at each edge.
    pub around: BTreeMap<u32, u32>,
    /// Number of the edges that have one proper face.
    pub borders: usize,
}

impl Star {
    fn add(&mut self, id: u32, face: [u32; 3], vertex: u32) {
        self.faces.insert(id);
        for other in others(face, vertex) {
            let count = self.around.entry(other).or_default();
            *count += 1;
            match count {
                1 => self.borders += 1,
                2 => self.borders -= 1,
                _ => {}
            }
        }
    }

    fn remove(&mut self, id: u32, face: [u32; 3], vertex: u32) {
        if !self.faces.remove(&id) {
            return;
        }
        for other in others(face, vertex) {
            let count = self.around.entry(other).or_default();
            *count -= 1;
            match count {
                0 => {
                    self.around.remove(&other);
                    self.borders -= 1;
                }
                1 => self.borders += 1,
                _ => {}
            }
        }
    }
}

impl Stars {
    /// The stars of faces, with the corners of each vertex.
    pub fn new(faces: Vec<[u32; 3]>, offsets: Vec<u32>, corners: Vec<u32>) -> Self {
        Self {
            faces,
            offsets,
            corners,
            read: HashMap::new(),
        }
    }

    /// The vertices of a face.
    pub fn face(&self, face: u32) -> [u32; 3] {
        self.faces[face as usize]
    }

    /// All faces.
    pub fn into_faces(self) -> Vec<[u32; 3]> {
        self.faces
    }

    /// Reads the star of a vertex, unless that has been done.
    pub fn read(&mut self, vertex: u32) -> &Star {
        self.read.entry(vertex).or_insert_with(|| {
            let mut star = Star::default();
            let v = vertex as usize;
            let corners = self.offsets[v] as usize..self.offsets[v + 1] as usize;
            for id in self.corners[corners].iter().map(|corner| corner / 3) {
                let face = self.faces[id as usize];
                if face.contains(&vertex) && !star.faces.contains(&id) {
                    star.add(id, face, vertex);
                }
            }
            star
        })
    }

    /// The star of a vertex that has been read.
    pub fn star(&self, vertex: u32) -> &Star {
        &self.read[&vertex]
    }

    /// Gives a face other vertices, or [`GONE`].
    pub fn replace(&mut self, id: u32, new: [u32; 3]) {
        let old = self.faces[id as usize];
        let is_there = new != GONE;
        for vertex in new.into_iter().filter(|_| is_there) {
            self.read(vertex);
        }
        for vertex in old {
            if let Some(star) = self.read.get_mut(&vertex) {
                star.remove(id, old, vertex);
            }
        }
        self.faces[id as usize] = new;
        for vertex in new.into_iter().filter(|_| is_there) {
            if let Some(star) = self.read.get_mut(&vertex)
                && !star.faces.contains(&id)
            {
                star.add(id, new, vertex);
            }
        }
    }

    /// The proper faces at an edge, ascending.
    pub fn at_edge(&mut self, [a, b]: [u32; 2]) -> Vec<u32> {
        let sizes = [a, b].map(|v| self.read(v).faces.len());
        let (near, far) = if sizes[0] <= sizes[1] { (a, b) } else { (b, a) };
        if !self.star(near).around.contains_key(&far) {
            return Vec::new();
        }
        let is_at = |id: &&u32| {
            let face = self.faces[**id as usize];
            is_proper(face) && face.contains(&far)
        };
        self.star(near)
            .faces
            .iter()
            .filter(is_at)
            .copied()
            .collect()
    }

    /// Number of the vertices that share edges with both `a` and `b`, which have been read.
    pub fn common(&self, a: u32, b: u32) -> usize {
        let [one, other] = [a, b].map(|v| &self.star(v).around);
        let (few, many) = match one.len() <= other.len() {
            true => (one, other),
            false => (other, one),
        };
        few.keys().filter(|v| many.contains_key(v)).count()
    }

    /// Whether a face has these three vertices, whose stars have been read, in any order.
    pub fn has(&self, face: [u32; 3]) -> bool {
        let stars = face.map(|v| &self.star(v).faces);
        let fewest = stars.into_iter().min_by_key(|faces| faces.len());
        let same = |id: &u32| ascending(self.faces[*id as usize]) == ascending(face);
        fewest.into_iter().flatten().any(same)
    }
}

/// The other two vertices of a proper face; none of another face, which has no edges.
fn others(face: [u32; 3], vertex: u32) -> impl Iterator<Item = u32> {
    let is_proper = is_proper(face);
    face.into_iter().filter(move |&v| is_proper && v != vertex)
}

pub(super) fn is_proper([a, b, c]: [u32; 3]) -> bool {
    a != b && b != c && c != a
}

fn ascending(mut face: [u32; 3]) -> [u32; 3] {
    face.sort_unstable();
    face
}
