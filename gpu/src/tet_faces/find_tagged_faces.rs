//! Tagged triangles are faces of tetrahedra.

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{Atomic, In, Out, Own};

use super::match_face_sides::search_slots;
use super::{Face, face_rule};
use crate::ids::{FaceSide, HalfEdge, Triangle, Vertex};

/// The lower side of the face with the vertices of tagged triangle `f`; finds `f` if there is none.
///
/// `table` is that of [`match_face_sides()`](super::match_face_sides()) or, if `scattered` is not 0, of
/// [`match_scattered_face_sides()`](super::match_scattered_face_sides()), with the same `scale`.
#[kernel(
    requires(
        faces.len() == 3 * n,
        sides.len() == n,
        table.len() >= 16,
        found.len() == face_rule::COUNT
    ),
    moves(faces.bytes() + sides.bytes())
)]
pub fn find_tagged_faces(
    f: Own<Triangle>,
    faces: In<Vertex, HalfEdge>,
    tetrahedra: In<Vertex, FaceSide>,
    table: In<FaceSide>,
    twins: In<FaceSide, FaceSide>,
    vertices: u32,
    sides: Out<FaceSide, Triangle>,
    found: Atomic,
    scale: u64,
    scattered: u32,
) {
    let face = Face::new(faces.at_all([f.part(0), f.part(1), f.part(2)]));
    let mut side = FaceSide::NONE;
    // A vertex that the mesh does not have would lead out of the table.
    if face.high.index() < vertices {
        search_slots(face, 0, table.len(), scale, scattered != 0, |slot| {
            let other = table.at(slot);
            if other.is_some() && Face::of(tetrahedra, other).is_face(face) {
                side = other.min(twins.at(other));
            }
            other.is_none() || side.is_some()
        });
    }
    if side.is_none() {
        found.min(face_rule::LOOSE, f.index());
    }
    sides.set(f, side);
}
