//! Nested levels of polyhedra. Each rule is checked as it is worded: a patch is searched for faces that are not
//! connected and for vertices at which it is pinched, and the common edges and vertices are compared as sets.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;

use trioxide::levels::{Goal, Nested};
use trioxide::mesh::NONE;
use trioxide::polyhedra_mesh::PolyhedralMesh;

use super::{Joint, Level, nest, sorted};

type Ends = [u32; 2];

/// The levels of a mesh of polyhedra that are trees of tetrahedra.
pub fn levels_of_polyhedra(mesh: &PolyhedralMesh, goal: Goal) -> Nested {
    let neighbours = mesh.neighbours();
    let mut lowest = vec![NONE; mesh.faces.len()];
    for (place, &side) in mesh.sides.iter().enumerate().rev() {
        lowest[side as usize / 2] = place as u32;
    }
    let is_ball: Vec<bool> = (0..mesh.len()).map(|p| is_ball(mesh, p)).collect();
    let tagged: BTreeSet<u32> = mesh.tagged.iter().map(|tagged| tagged.face).collect();
    let joints: Vec<Joint> = (0..mesh.faces.len())
        .map(|face| {
            let [p, q] = neighbours[face].map(|p| p as usize);
            let is_inside = q != NONE as usize && p != NONE as usize;
            let regions = mesh.regions.as_ref();
            let is_free = is_inside
                && is_ball[p]
                && is_ball[q]
                && regions.is_none_or(|regions| regions[p] == regions[q])
                && !tagged.contains(&(face as u32));
            Joint {
                id: lowest[face],
                measure: area(mesh, face),
                is_fixed: !is_free,
            }
        })
        .collect();
    nest(mesh.len(), goal, |pieces, count| {
        let mut level = Level::new(count);
        level.is_solid = true;
        let mut surfaces = vec![Surface::default(); count];
        for p in 0..mesh.len() {
            let piece = pieces[p];
            for &side in mesh.sides_of(p) {
                let face = side / 2;
                for &v in mesh.faces.get(face as usize) {
                    level.add_point(piece, mesh.points[v as usize]);
                }
                let other = neighbours[face as usize][usize::from(side.is_multiple_of(2))];
                let beyond = (other != NONE).then(|| pieces[other as usize]);
                if beyond == Some(piece) {
                    continue;
                }
                surfaces[piece as usize].add(mesh, face);
                if let Some(beyond) = beyond {
                    level.add_joint(piece, beyond, joints[face as usize]);
                }
            }
        }
        let is_one_patch = move |p: u32, union: &[u32], ids: &BTreeSet<u32>| {
            let mut patch = Surface::default();
            for &id in ids {
                patch.add(mesh, mesh.sides[id as usize] / 2);
            }
            let theirs = |all: fn(&Surface) -> BTreeSet<Ends>| -> BTreeSet<Ends> {
                let others = union.iter().flat_map(|&q| all(&surfaces[q as usize]));
                let others: BTreeSet<Ends> = others.collect();
                let own = all(&surfaces[p as usize]);
                own.intersection(&others).copied().collect()
            };
            let edges: BTreeSet<Ends> = patch.edges.keys().copied().collect();
            theirs(|surface| surface.edges.keys().copied().collect()) == edges
                && theirs(Surface::vertices) == patch.vertices()
                && patch.is_connected_manifold()
                && patch.characteristic() == 1
        };
        (level, is_one_patch)
    })
}

/// Faces, with the ones at each edge.
#[derive(Clone, Default)]
struct Surface {
    faces: BTreeMap<u32, Vec<u32>>,
    edges: BTreeMap<Ends, Vec<u32>>,
}

impl Surface {
    fn add(&mut self, mesh: &PolyhedralMesh, face: u32) {
        let vertices = mesh.faces.get(face as usize);
        for (k, &a) in vertices.iter().enumerate() {
            let b = vertices[(k + 1) % vertices.len()];
            self.edges.entry(sorted([a, b])).or_default().push(face);
        }
        self.faces.insert(face, vertices.to_vec());
    }

    /// The vertices, each twice.
    fn vertices(&self) -> BTreeSet<Ends> {
        self.faces.values().flatten().map(|&v| [v, v]).collect()
    }

    fn characteristic(&self) -> i64 {
        self.vertices().len() as i64 - self.edges.len() as i64 + self.faces.len() as i64
    }

    /// Whether the faces are connected through edges, no edge has more than two, and the faces at each vertex are
    /// connected through edges at it.
    fn is_connected_manifold(&self) -> bool {
        let all: BTreeSet<u32> = self.faces.keys().copied().collect();
        let at = |v: u32| -> BTreeSet<u32> {
            let faces = self
                .faces
                .iter()
                .filter(|(_, vertices)| vertices.contains(&v));
            faces.map(|(&face, _)| face).collect()
        };
        self.edges.values().all(|faces| faces.len() <= 2)
            && self.are_connected(&all, |_| true)
            && self
                .vertices()
                .iter()
                .all(|[v, _]| self.are_connected(&at(*v), |ends| ends.contains(v)))
    }

    fn are_connected(&self, faces: &BTreeSet<u32>, may_cross: impl Fn(&Ends) -> bool) -> bool {
        let mut found: BTreeSet<u32> = faces.first().copied().into_iter().collect();
        loop {
            let before = found.len();
            for (ends, pair) in &self.edges {
                if may_cross(ends) && pair.iter().any(|face| found.contains(face)) {
                    found.extend(pair.iter().filter(|face| faces.contains(face)));
                }
            }
            if found.len() == before {
                return found == *faces;
            }
        }
    }
}

/// Whether the surface of polyhedron `p` is a sphere.
fn is_ball(mesh: &PolyhedralMesh, p: usize) -> bool {
    let mut surface = Surface::default();
    for &side in mesh.sides_of(p) {
        surface.add(mesh, side / 2);
    }
    surface.faces.len() == mesh.sides_of(p).len()
        && surface.edges.values().all(|faces| faces.len() == 2)
        && surface.is_connected_manifold()
        && surface.characteristic() == 2
}

fn area(mesh: &PolyhedralMesh, face: usize) -> f64 {
    let points = mesh
        .faces
        .get(face)
        .iter()
        .map(|&v| mesh.points[v as usize]);
    let points: Vec<DVec3> = points.collect();
    let mut sum = DVec3::ZERO;
    for pair in points.windows(2) {
        sum += (pair[0] - points[0]).cross(pair[1] - points[0]);
    }
    0.5 * (sum.x * sum.x + sum.y * sum.y + sum.z * sum.z).sqrt()
}
