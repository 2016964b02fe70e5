//! Edges that no polygon may cross.

use std::collections::HashMap;

use trioxide::mesh::{HalfEdges, Segment, Triangulation};
use trioxide::{Error, Result};

/// Whether each half-edge of a triangle lies between different regions or on a segment of `mesh`.
///
/// # Errors
/// [`Error::Invalid`] when a segment is no edge of the triangulation.
pub fn constrained_edges<V>(mesh: &Triangulation<V>, half_edges: &HalfEdges) -> Result<Vec<bool>> {
    let he = half_edges;
    let mut constrained = vec![false; he.inner() as usize];
    if let Some(regions) = &mesh.regions {
        for h in 0..he.inner() {
            let twin = he.twin(h);
            constrained[h as usize] =
                !he.is_border(twin) && regions[h as usize / 3] != regions[twin as usize / 3];
        }
    }
    if mesh.segments.is_empty() {
        return Ok(constrained);
    }
    let by_ends: HashMap<(u32, u32), u32> = (0..he.inner())
        .map(|h| ((he.origin(h), he.target(h)), h))
        .collect();
    for (i, &Segment { ends: [a, b], .. }) in mesh.segments.iter().enumerate() {
        let sides = [by_ends.get(&(a, b)), by_ends.get(&(b, a))];
        if sides == [None, None] {
            return Err(Error::Invalid {
                element: format!("segment {i}, from vertex {a} to vertex {b},"),
                rule: "is no edge of the triangulation".to_owned(),
            });
        }
        for &h in sides.into_iter().flatten() {
            constrained[h as usize] = true;
        }
    }
    Ok(constrained)
}
