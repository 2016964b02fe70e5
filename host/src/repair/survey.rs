//! The work that each step would have.

use glam::DVec3;

use super::distinct;
use super::state::{HostPoints, State};
use crate::Result;
use crate::collective::count_bits;
use crate::device::Device;

/// The faults that each step alone would find in a mesh as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Faces with the vertices of another one.
    pub repeated: u64,
    /// Faces without area, or with a vertex twice.
    pub degenerate: u64,
    /// Edges of three or more faces.
    pub crowded: u64,
    /// Vertices at which surfaces touch.
    pub touching: u64,
    /// Faces whose orientation is not that of their component.
    pub turned: u64,
    /// One-sided components, which have no orientation.
    pub one_sided: u64,
    /// Vertices that no face has.
    pub unused: u64,
    /// Loops of boundary edges through distinct vertices.
    pub holes: u64,
    /// The edges of the largest of these.
    pub largest_hole: u64,
    /// Components.
    pub components: u64,
    /// The faces of the smallest component.
    pub smallest_component: u64,
}

/// Surveys a mesh.
///
/// # Errors
/// As [`repair`](super::repair()).
pub fn survey(on: &Device, points: &[DVec3], triangles: &[[u32; 3]]) -> Result<Survey> {
    let (there, faces) = super::upload(on, points, triangles)?;
    let state = State::new(on, &there, faces)?;
    on.stage("survey", || {
        let order = state.sides()?;
        let sides: Vec<u32> = on.download_rows(&state.crowded(&order)?)?;
        let edge = |side: &u32| {
            let (face, k) = (triangles[*side as usize / 3], *side as usize % 3);
            super::sorted([face[k], face[(k + 1) % 3]])
        };
        let links = state.links::<true>(&order)?;
        drop(order);
        let (_, copies) = state.copies(&links, &on.uninitialized(0)?)?;
        drop(links);
        let (turned, one_sided) = state.turned(&HostPoints::of(points))?;
        let loops = state.boundary(triangles)?.loops;
        let edges = loops.iter().map(|hole| hole.vertices.len() as u64);
        let (_, sizes) = state.components()?;
        let sizes = on.download(&sizes)?;
        let sizes = sizes.iter().filter(|&&size| size > 0);
        Ok(Survey {
            repeated: count_bits(on, &state.repeated()?)?.into(),
            degenerate: state.degenerate(0.0)?.len() as u64,
            crowded: sides.chunk_by(|a, b| edge(a) == edge(b)).count() as u64,
            touching: distinct(&mut state.parents_of(&copies)?),
            turned: count_bits(on, &turned)?.into(),
            one_sided: one_sided.into(),
            unused: state.unused()?,
            holes: loops.len() as u64,
            largest_hole: edges.max().unwrap_or(0),
            components: sizes.clone().count() as u64,
            smallest_component: sizes.min().map_or(0, |&size| size.into()),
        })
    })
}
