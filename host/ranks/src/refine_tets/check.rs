//! Checks of the input, in the words of the single run.

use glam::DVec3;
use trioxide::Device;
use trioxide::mesh::NONE;
use trioxide::refine_tets::{DeviceTets, SpacePoint};
use trioxide::volume::{TaggedTriangle, TetMesh};
use trioxide_mesh::parallel;

use super::Input;
use crate::fault::{Fault, Result};
use crate::output::to_first;
use crate::transport::{Ranks, Reduction};

/// Refuses coordinates and vertex ids that the device refuses, also of vertices that no cell uses. Collective.
///
/// # Errors
/// The single run's fault.
pub fn check_block<P: SpacePoint>(ranks: &Ranks, input: Input) -> Result<()> {
    let block = input.block;
    let is_wrong = |&p: &DVec3| {
        let p = P::from_f64(p).to_f64();
        !(p.is_finite() && p.abs().max_element() <= P::LARGEST)
    };
    let is_outside = |&v: &u64| v >= block.vertices;
    let is_broken =
        parallel::any(&block.points, is_wrong) || parallel::any(&block.corners, is_outside);
    refuse::<P>(ranks, input, is_broken)
}

/// Refuses a mesh that breaks a rule as some rank has seen: rank 0 gathers it, and finds the words of the single run. Collective.
///
/// # Errors
/// The single run's fault.
pub fn refuse<P: SpacePoint>(ranks: &Ranks, input: Input, is_broken: bool) -> Result<()> {
    if ranks.reduce(u64::from(is_broken), Reduction::Or) == 0 {
        return Ok(());
    }
    let points = to_first(ranks, &input.block.points);
    let corners = to_first(ranks, &input.block.corners);
    ranks.agree(match ranks.rank() {
        0 => check_whole::<P>(points, &corners, input.tagged),
        _ => Ok(()),
    })
}

fn check_whole<P: SpacePoint>(
    points: Vec<DVec3>,
    corners: &[u64],
    tagged: &[[u32; 3]],
) -> Result<()> {
    let corners = parallel::map(corners, |&v| v.min(NONE.into()) as u32);
    let face = |&vertices: &[u32; 3]| TaggedTriangle { vertices, tag: 0 };
    let mesh = TetMesh {
        points,
        tetrahedra: corners.as_chunks().0.to_vec(),
        regions: None,
        faces: tagged.iter().map(face).collect(),
    };
    let checked = DeviceTets::<P>::upload(&Device::cpu(None)?, &mesh);
    checked.map(drop).map_err(Fault::from)
}
