//! Components: their orientation, and their sizes.

use trioxide_kernel::safe::{Atomic, In, Out, Own};
use trioxide_kernel::{Bits, kernel};

use crate::ids::{Triangle, Vertex};

/// Counts the faces of each part of orientations that are as the mesh has them.
#[kernel(requires(labels.len() == 2 * n), moves(labels.bytes() / 2 + counts.bytes()))]
pub fn count_oriented(t: Own<Triangle>, labels: In<u32>, counts: Atomic<u32>) {
    counts.add(labels.at(2 * t.index()), 1u32);
}

/// Whether fewer faces fit face `t` as it is than fit the turned face; of as many, whether the component's lowest face
/// fits the turned one. Both orientations of a one-sided component are one part.
#[kernel(requires(labels.len() == 2 * n), moves(labels.bytes() + counts.bytes()))]
pub fn find_turned(t: Own<Triangle>, labels: In<u32>, counts: In<u32>) -> bool {
    let [own, turned] = labels.at_all([2 * t.index(), 2 * t.index() + 1]);
    let [fit, fit_turned] = counts.at_all([own, turned]);
    fit < fit_turned || fit == fit_turned && turned < own
}

/// Whether face `t` is the lowest of a one-sided component.
#[kernel(requires(labels.len() == 2 * n), moves(labels.bytes()))]
pub fn find_one_sided(t: Own<Triangle>, labels: In<u32>) -> bool {
    let [own, turned] = labels.at_all([2 * t.index(), 2 * t.index() + 1]);
    own == turned && own == 2 * t.index()
}

/// Turns the faces in `turned`: their first vertices stay.
#[kernel(requires(faces.len() == n), moves(turned.bytes() + 2 * faces.bytes()))]
pub fn turn_faces(t: Own<Triangle>, turned: In<Bits<Triangle>>, faces: Out<[Vertex; 3], Triangle>) {
    if turned.bit(*t) {
        let [a, b, c] = faces.at(t);
        faces.set(t, [a, c, b]);
    }
}

/// Counts the faces of each component.
#[kernel(requires(labels.len() == n), moves(labels.bytes() + counts.bytes()))]
pub fn count_faces(
    t: Own<Triangle>,
    labels: In<Triangle, Triangle>,
    counts: Atomic<u32, Triangle>,
) {
    counts.add(labels.at(t), 1u32);
}

/// Whether the component of face `t` has at least `least` faces.
#[kernel(requires(labels.len() == n), moves(labels.bytes() + counts.bytes()))]
pub fn find_large(
    t: Own<Triangle>,
    labels: In<Triangle, Triangle>,
    counts: In<u32, Triangle>,
    least: u32,
) -> bool {
    counts.at(labels.at(t)) >= least
}
