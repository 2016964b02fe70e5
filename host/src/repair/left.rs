//! Holes that are left, and why.

/// Why a hole is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Obstacle {
    /// It has more edges than are wanted.
    Long,
    /// It runs through a vertex several times, as where holes or surfaces touch.
    Touching,
    /// Faces of two orientations meet at a vertex of it.
    Turned,
    /// It ends at an edge of three or more faces.
    Crowded,
    /// A vertex of it lies inside an edge of it: faces in it have no area.
    Hanging,
    /// Vertices of it lie at one place: faces in it have no area.
    Doubled,
    /// Each triangulation has an edge or a face that is there already, or a degenerate face.
    There,
}

/// Holes that are left for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HolesLeft {
    /// The reason.
    pub obstacle: Obstacle,
    /// Their number.
    pub count: u64,
    /// The lowest vertex of the first one, in the input.
    pub vertex: u32,
    /// The most edges of one of them; 0 if it is no loop.
    pub edges: u64,
}

/// Adds a hole that is left.
pub(super) fn leave(left: &mut Vec<HolesLeft>, obstacle: Obstacle, vertex: u32, edges: usize) {
    let edges = edges as u64;
    match left.iter_mut().find(|holes| holes.obstacle == obstacle) {
        Some(holes) => {
            holes.count += 1;
            holes.edges = holes.edges.max(edges);
        }
        None => left.push(HolesLeft {
            obstacle,
            count: 1,
            vertex,
            edges,
        }),
    }
}
