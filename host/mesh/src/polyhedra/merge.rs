//! Joins faces of polyhedra that lie in one plane.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use robust::{Coord3D, orient3d};

use super::{PolyhedralMesh, TaggedFace};
use crate::fields::MeshFields;
use crate::mesh::{NONE, Polygons};

/// Vertices of the joined polygon, for each of its faces.
type Merged = HashMap<u32, Rc<Vec<u32>>>;

impl PolyhedralMesh {
    /// Joins neighbouring faces that lie exactly in one plane, between the same two polyhedra (or one and the outside),
    /// with the same tags. A group whose outline is not one simple loop stays unjoined, and so do faces with the same
    /// polyhedron on both sides.
    pub fn merge_coplanar(&self) -> PolyhedralMesh {
        self.merge_coplanar_faces().0
    }

    /// As [`merge_coplanar()`](Self::merge_coplanar), with the new face of each old one, or `NONE` if no polyhedron has
    /// it.
    pub fn merge_coplanar_faces(&self) -> (PolyhedralMesh, Vec<u32>) {
        let merged = self.merged_faces();
        let mut new_of = vec![NONE; self.faces.len()];
        let mut result = PolyhedralMesh {
            points: self.points.clone(),
            regions: self.regions.clone(),
            faces: Polygons {
                offsets: vec![0],
                vertices: Vec::new(),
            },
            offsets: vec![0],
            ..PolyhedralMesh::default()
        };
        let mut by_polygon: HashMap<*const Vec<u32>, u32> = HashMap::new();
        for p in 0..self.len() {
            let start = result.sides.len();
            for &side in self.sides_of(p) {
                let old = side / 2;
                let polygon = merged.get(&old);
                if new_of[old as usize] == NONE {
                    let known = polygon.and_then(|polygon| by_polygon.get(&Rc::as_ptr(polygon)));
                    let new = known.copied().unwrap_or_else(|| {
                        let id = result.faces.len() as u32;
                        match polygon {
                            Some(polygon) => {
                                by_polygon.insert(Rc::as_ptr(polygon), id);
                                result.faces.push(polygon);
                            }
                            None => result.faces.push(self.faces.get(old as usize)),
                        }
                        id
                    });
                    new_of[old as usize] = new;
                }
                let new = 2 * new_of[old as usize] + side % 2;
                if polygon.is_none() || !result.sides[start..].contains(&new) {
                    result.sides.push(new);
                }
            }
            result.offsets.push(result.sides.len() as u32);
        }
        // Of the tagged faces that become one the first is kept, with its fields.
        let (mut kept, mut seen) = (Vec::new(), HashSet::new());
        for (i, &TaggedFace { face, tag }) in self.tagged.iter().enumerate() {
            let new = new_of[face as usize];
            if !merged.contains_key(&face) || seen.insert((new, tag)) {
                result.tagged.push(TaggedFace { face: new, tag });
                kept.push(i as u32);
            }
        }
        result.fields = MeshFields {
            sides: self.fields.sides.gather(&kept),
            ..self.fields.clone()
        };
        (result, new_of)
    }

    /// The polygon that each joined face becomes a part of.
    fn merged_faces(&self) -> Merged {
        let around = self.neighbours();
        let mut tags: HashMap<u32, Vec<i32>> = HashMap::new();
        for tagged in &self.tagged {
            tags.entry(tagged.face).or_default().push(tagged.tag);
        }
        tags.values_mut().for_each(|tags| tags.sort_unstable());
        let key = |face: u32| (around[face as usize], tags.get(&face));
        let mut order: Vec<u32> = (0..self.faces.len() as u32)
            .filter(|&face| around[face as usize][0] != around[face as usize][1])
            .collect();
        order.sort_by(|&f, &g| key(f).cmp(&key(g)).then(f.cmp(&g)));
        let mut merged = Merged::new();
        for group in order.chunk_by(|&f, &g| key(f) == key(g)) {
            if group.len() > 1 {
                self.merge_group(group, &mut merged);
            }
        }
        merged
    }

    /// Joins faces between the same two polyhedra. The same polyhedron must list all of them first.
    fn merge_group(&self, group: &[u32], merged: &mut Merged) {
        let edges = |face: u32| {
            let vertices = self.faces.get(face as usize);
            (0..vertices.len()).map(move |i| [vertices[i], vertices[(i + 1) % vertices.len()]])
        };
        // Place in the group of the face with each directed edge.
        let mut owner: HashMap<[u32; 2], usize> = HashMap::new();
        for (place, &face) in group.iter().enumerate() {
            owner.extend(edges(face).map(|edge| (edge, place)));
        }
        let mut part: Vec<usize> = (0..group.len()).collect();
        fn root(part: &[usize], mut place: usize) -> usize {
            while part[place] != place {
                place = part[place];
            }
            place
        }
        for (place, &face) in group.iter().enumerate() {
            for [a, b] in edges(face) {
                if let Some(&other) = owner.get(&[b, a])
                    && self.is_coplanar(face, group[other])
                {
                    let (x, y) = (root(&part, place), root(&part, other));
                    part[x.max(y)] = x.min(y);
                }
            }
        }
        let mut parts: HashMap<usize, Vec<usize>> = HashMap::new();
        for place in 0..group.len() {
            parts.entry(root(&part, place)).or_default().push(place);
        }
        for (first, places) in parts.into_iter().filter(|(_, places)| places.len() > 1) {
            let is_inside = |edge: &[u32; 2]| {
                let behind = owner.get(&[edge[1], edge[0]]);
                behind.is_some_and(|&other| root(&part, other) == first)
            };
            let outline: Vec<[u32; 2]> = places
                .iter()
                .flat_map(|&place| edges(group[place]))
                .filter(|edge| !is_inside(edge))
                .collect();
            if let Some(polygon) = simple_loop(&outline) {
                let polygon = Rc::new(polygon);
                let faces = places.iter().map(|&place| group[place]);
                merged.extend(faces.map(|face| (face, polygon.clone())));
            }
        }
    }

    /// Whether all vertices of `other` lie in the plane of the first three vertices of `face`.
    fn is_coplanar(&self, face: u32, other: u32) -> bool {
        let point = |v: u32| {
            let p = self.points[v as usize];
            Coord3D {
                x: p.x,
                y: p.y,
                z: p.z,
            }
        };
        let plane = self.faces.get(face as usize);
        let [a, b, c] = [plane[0], plane[1], plane[2]].map(point);
        let mut others = self.faces.get(other as usize).iter();
        others.all(|&v| orient3d(a, b, c, point(v)) == 0.0)
    }
}

/// The vertices of directed edges that form one loop without a repeated vertex, from the lowest vertex on.
fn simple_loop(edges: &[[u32; 2]]) -> Option<Vec<u32>> {
    let next: HashMap<u32, u32> = edges.iter().map(|&[a, b]| (a, b)).collect();
    let lowest = *next.keys().min()?;
    if next.len() < edges.len() {
        return None;
    }
    let mut polygon = vec![lowest];
    let mut vertex = *next.get(&lowest)?;
    while vertex != lowest {
        if polygon.len() == edges.len() {
            return None;
        }
        polygon.push(vertex);
        vertex = *next.get(&vertex)?;
    }
    (polygon.len() == edges.len()).then_some(polygon)
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::polyhedra::PolyhedraBuilder;

    /// A cube whose sides are two triangles each, and a second cube on it.
    fn cubes() -> PolyhedralMesh {
        let cube = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        let mut builder = PolyhedraBuilder::default();
        for up in [0, 4] {
            let halves = |[a, b, c, d]: [u32; 4]| [[a, b, c], [a, c, d]];
            let triangles = cube.into_iter().flat_map(halves);
            let triangles: Vec<Vec<u32>> = triangles.map(|t| t.map(|v| v + up).to_vec()).collect();
            builder.push(&triangles).expect("a cube");
        }
        let point = |i: u32| DVec3::new((i & 1).into(), (i >> 1 & 1).into(), (i >> 2).into());
        PolyhedralMesh {
            points: (0..12).map(point).collect(),
            ..builder.finish().expect("faces fit")
        }
    }

    #[test]
    fn sides_of_cubes_become_squares() {
        let mesh = cubes();
        assert_eq!((mesh.len(), mesh.faces.len()), (2, 22));
        let merged = mesh.merge_coplanar();
        assert_eq!((merged.len(), merged.faces.len()), (2, 11));
        assert!(merged.faces.iter().all(|face| face.len() == 4));
        assert_eq!(merged.sides_of(1).len(), 6);
        let shared = merged
            .neighbours()
            .iter()
            .filter(|pair| **pair == [0, 1])
            .count();
        assert_eq!(shared, 1);
        // Faces between other polyhedra, with other tags, or in other planes are not joined.
        let mut tagged = mesh.clone();
        tagged.tagged.push(TaggedFace { face: 4, tag: 1 });
        let apart = tagged.merge_coplanar();
        assert_eq!(apart.faces.len(), 12);
        assert_eq!(
            apart.faces.get(apart.tagged[0].face as usize),
            mesh.faces.get(4)
        );
        let mut moved = mesh;
        moved.points[0].z = -f64::EPSILON;
        assert_eq!(moved.merge_coplanar().faces.len(), 12);
    }
}
