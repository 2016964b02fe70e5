//! Tetrahedra.

use std::collections::HashMap;

use glam::DVec3;

use super::{Conformed, Inside};
use crate::contact::{Contacts, FaceContact};
use crate::divide::Divider;
use crate::fields::Mix;
use crate::mesh::{Polygons, gather};
use crate::volume::{CellKind, Cells, VolumeMesh, faces, key};
use crate::{Error, Result};

/// Fraction of a face's area by which faces that cover it may miss it.
const ROUNDING: f64 = 1e-6;

/// Makes a mesh of tetrahedra conforming. Vertex ids must be in range. Tagged faces become their pieces; new vertices
/// have the means of the fields of their cell's corners.
///
/// # Errors
/// [`Error::Invalid`] for a mesh with hanging vertices and a cell that is not a tetrahedron.
pub fn tetrahedra(mut mesh: VolumeMesh) -> Result<Conformed<VolumeMesh>> {
    let contacts = Contacts::of_cells(&mesh);
    let hanging = contacts.inside_edges() + contacts.inside_faces();
    if hanging == 0 {
        return Ok(Conformed {
            parents: (0..mesh.cells.len() as u32).collect(),
            vertices: (0..mesh.points.len() as u32).collect(),
            mesh,
            hanging,
            left: 0,
            notes: Vec::new(),
        });
    }
    if let Some(cell) = (0..mesh.cells.len()).find(|&c| mesh.cells.get(c).len() != 4) {
        return Err(Error::Invalid {
            element: format!("cell {cell}"),
            rule: "is not a tetrahedron, and vertices are inserted into tetrahedra only: divide the cells first \
                   (`convert --tetrahedra`)"
                .to_owned(),
        });
    }
    let mut pieces = Pieces::of(&mesh, contacts);
    let mut parts = Parts {
        vertices: mesh.points.len() as u32,
        ..Parts::default()
    };
    for c in 0..mesh.cells.len() {
        let cell: [u32; 4] = mesh.cells.get(c).try_into().expect("a tetrahedron");
        parts.push(c as u32, cell, &mut pieces);
    }
    let (mut tagged, mut face_tags, mut ids) = (Polygons::default(), Vec::new(), Vec::new());
    for (i, (face, &tag)) in (0u32..).zip(mesh.faces.iter().zip(&mesh.face_tags)) {
        let Ok(face) = face.try_into() else {
            continue;
        };
        for piece in pieces.of_face(face) {
            tagged.push(&piece);
            face_tags.push(tag);
            ids.push(i);
        }
    }
    let mean = |corners: &[u32; 4]| {
        let sum: DVec3 = corners
            .iter()
            .map(|&v| mesh.points[v as usize] * 0.25)
            .sum();
        sum
    };
    let means: Vec<DVec3> = parts.means.iter().map(mean).collect();
    let fields = std::mem::take(&mut mesh.fields);
    let vertices = mix(mesh.points.len() as u32, &parts.means);
    mesh.points.extend(means);
    mesh.regions = mesh.regions.map(|regions| gather(&regions, &parts.parents));
    mesh.cells = Cells::Tetrahedra(parts.cells);
    (mesh.faces, mesh.face_tags) = (tagged, face_tags);
    mesh.fields = fields.refined(&vertices, &parts.parents, &ids);
    let contacts = Contacts::of_cells(&mesh);
    Ok(Conformed {
        mesh,
        parents: parts.parents,
        vertices: vertices.labels().to_vec(),
        hanging,
        left: contacts.inside_edges() + contacts.inside_faces(),
        notes: Vec::new(),
    })
}

/// The old vertices, and means of four of them.
fn mix(vertices: u32, means: &[[u32; 4]]) -> Mix {
    let columns: Vec<u32> = (0..vertices)
        .chain(means.iter().flatten().copied())
        .collect();
    let starts =
        (0..=vertices as usize).chain((1..=means.len()).map(|i| vertices as usize + 4 * i));
    let lowest = |corners: &[u32; 4]| corners.iter().copied().min().unwrap_or(0);
    let labels = (0..vertices).chain(means.iter().map(lowest));
    let weights = vec![1.0; columns.len()];
    Mix::new(starts.collect(), columns, weights, labels.collect())
}

/// The cells of the conforming mesh.
#[derive(Default)]
struct Parts {
    cells: Vec<[u32; 4]>,
    parents: Vec<u32>,
    /// Number of old vertices.
    vertices: u32,
    /// The corners that each new vertex is the mean of.
    means: Vec<[u32; 4]>,
}

impl Parts {
    fn push(&mut self, parent: u32, cell: [u32; 4], pieces: &mut Pieces) {
        if pieces.is_whole(&cell) {
            self.add(parent, cell);
            return;
        }
        let sides = faces(CellKind::Tetrahedron).iter();
        let of_sides: Vec<_> = sides
            .map(|side| pieces.of_face([side[0], side[1], side[2]].map(|k| cell[k])))
            .collect();
        let count: usize = of_sides.iter().map(Vec::len).sum();
        match pieces.single(&cell) {
            _ if count == 4 => self.add(parent, cell),
            // Both faces at the edge have the two halves, for there are no others.
            Some((k, l, middle)) if count == 6 => {
                for end in [l, k] {
                    let mut half = cell;
                    half[end] = middle;
                    self.add(parent, half);
                }
            }
            _ => {
                let apex = self.vertices + self.means.len() as u32;
                self.means.push(cell);
                for [a, b, c] in of_sides.into_iter().flatten() {
                    self.add(parent, [a, c, b, apex]);
                }
            }
        }
    }

    fn add(&mut self, parent: u32, cell: [u32; 4]) {
        self.cells.push(cell);
        self.parents.push(parent);
    }
}

/// The pieces of faces.
struct Pieces<'m> {
    points: &'m [DVec3],
    inside: Inside,
    /// Vertices that a covering face may have: those of each boundary face with vertices inside itself or its edges.
    among: HashMap<[u32; 4], Vec<u32>>,
    /// Boundary faces with each hanging vertex.
    around: HashMap<u32, Vec<[u32; 3]>>,
    divider: Divider,
}

impl<'m> Pieces<'m> {
    fn of(mesh: &'m VolumeMesh, contacts: Contacts) -> Self {
        let Contacts {
            edges,
            faces: found,
            ..
        } = contacts;
        let mut in_faces: HashMap<[u32; 4], Vec<u32>> = HashMap::new();
        for FaceContact {
            corners, vertices, ..
        } in found
        {
            in_faces.insert(key(corners.iter().copied()), vertices);
        }
        let inside = Inside::of(&mesh.points, edges);
        let hanging: std::collections::HashSet<u32> = in_faces
            .values()
            .chain(inside.0.values())
            .flatten()
            .copied()
            .collect();
        let (mut among, mut around) = (HashMap::new(), HashMap::<u32, Vec<[u32; 3]>>::new());
        let mut polygon = Vec::new();
        for (c, f) in mesh.faces_of_one_cell() {
            let cell = mesh.cells.get(c as usize);
            let side = faces(CellKind::Tetrahedron)[usize::from(f)];
            let face = [side[0], side[1], side[2]].map(|k| cell[k]);
            for v in face.into_iter().filter(|v| hanging.contains(v)) {
                around.entry(v).or_default().push(face);
            }
            inside.polygon(&face, &mut polygon);
            let key = key(face.into_iter());
            if let Some(vertices) = in_faces.get(&key) {
                polygon.extend(vertices);
            }
            if polygon.len() > 3 {
                among.insert(key, polygon.clone());
            }
        }
        Self {
            points: &mesh.points,
            inside,
            among,
            around,
            divider: Divider::default(),
        }
    }

    /// Whether no edge or face of a cell has vertices inside.
    fn is_whole(&self, cell: &[u32; 4]) -> bool {
        let edges = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]].into_iter();
        let mut edges = edges.map(|[k, l]| [cell[k].min(cell[l]), cell[k].max(cell[l])]);
        let mut sides = faces(CellKind::Tetrahedron).iter();
        !edges.any(|edge| self.inside.0.contains_key(&edge))
            && !sides.any(|side| self.among.contains_key(&key(side.iter().map(|&k| cell[k]))))
    }

    /// The vertex inside an edge of a cell, with the edge's corners, if there is exactly one in all its edges.
    fn single(&self, cell: &[u32; 4]) -> Option<(usize, usize, u32)> {
        let mut found = None;
        for (k, l) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            let edge = [cell[k].min(cell[l]), cell[k].max(cell[l])];
            match self.inside.0.get(&edge).map(Vec::as_slice) {
                None => {}
                Some(&[middle]) if found.is_none() => found = Some((k, l, middle)),
                Some(_) => return None,
            }
        }
        found
    }

    /// The pieces of a face, in its direction.
    fn of_face(&mut self, face: [u32; 3]) -> Vec<[u32; 3]> {
        let cover = self.cover(face);
        if !cover.is_empty() {
            let parts = cover.into_iter().map(|[a, b, c]| [a, c, b]);
            return parts
                .collect::<Vec<_>>()
                .into_iter()
                .flat_map(|part| self.divided(part))
                .collect();
        }
        self.divided(face)
    }

    /// A face by the vertices inside its edges.
    fn divided(&mut self, face: [u32; 3]) -> Vec<[u32; 3]> {
        let (mut polygon, mut positions) = (Vec::new(), Vec::new());
        self.inside.polygon(&face, &mut polygon);
        match self.divider.divide(self.points, &polygon, &mut positions) {
            Ok(()) => positions
                .into_iter()
                .map(|ids| ids.map(|k| polygon[k]))
                .collect(),
            Err(_) => vec![face],
        }
    }

    /// The boundary faces that cover a boundary face from the other side and are not covered themselves; nothing where
    /// there are none, or they leave a part of it free.
    fn cover(&self, face: [u32; 3]) -> Vec<[u32; 3]> {
        let Some(among) = self.among.get(&key(face.into_iter())) else {
            return Vec::new();
        };
        let mut found: Vec<[u32; 3]> = among
            .iter()
            .filter_map(|v| self.around.get(v))
            .flatten()
            .copied()
            .collect();
        found.sort_unstable();
        found.dedup();
        let own = self.area(face);
        found.retain(|&other| {
            let is_within = other.iter().all(|v| among.contains(v));
            is_within && self.area(other).dot(own) < 0.0 && self.cover(other).is_empty()
        });
        let sum: f64 = found.iter().map(|&other| self.area(other).length()).sum();
        match (sum - own.length()).abs() <= ROUNDING * own.length() {
            true => found,
            false => Vec::new(),
        }
    }

    /// Area of a face times its normal, times two.
    fn area(&self, face: [u32; 3]) -> DVec3 {
        let [a, b, c] = face.map(|v| self.points[v as usize]);
        (b - a).cross(c - a)
    }
}
