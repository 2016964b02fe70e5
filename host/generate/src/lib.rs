//! Datasets with the same bits on every machine for the same arguments. Planar ones (gpolylla-2023, section 7.1, and
//! more):
//!
//! - [`grid`]: the paper's grid meshes: uniform points, every square split by the same diagonal;
//! - [`jittered`]: a grid whose inner points are moved a little at random;
//! - [`outlines`]: uniform points among outlines, without triangles;
//! - [`random_points`]: the points of the paper's random meshes: uniform in the unit square, the ones near its border
//!   moved onto it;
//! - [`disk_points`]: uniform points in the unit disk inside of a regularly sampled circle.
//!
//! The crate `trioxide` triangulates the points of the last two on a device (its module `generate`).
//!
//! Datasets in space, numbered as a scanner measures (gpu-vertex-clustering-2026, section 6.2):
//!
//! - [`scan`]: a closed surface of triangles with the noise of a range scanner;
//! - [`cloud`]: a landscape as airborne LiDAR sees it, points without faces.
//!
//! The bits are the same for two reasons. PCG64 draws the points in order, each coordinate a multiple of 2^-53. Sines
//! come from the `libm` crate, not from the system. Threads that draw in parallel advance the generator to the start of
//! their points.

mod cloud;
mod coast;
mod disk;
mod grid;
mod noise;
mod outlines;
mod plane;
mod random;
mod samples;
mod scan;
#[cfg(test)]
mod tests;
mod tet_grid;
mod tets;

use rand_pcg::rand_core::Rng;

use trioxide_mesh::{Error, Result};

pub use cloud::cloud;
pub use coast::coast;
pub use disk::disk_points;
pub use grid::{Grid, grid, jittered};
pub use outlines::outlines;
pub use plane::{Plane, plane};
pub use random::random_points;
pub use samples::{Sample, sampled_tets};
pub use scan::scan;
pub use tet_grid::{TetGrid, tangled_tets, tet_grid};
pub use tets::random_tets;

/// Largest number of points of a mesh with faces: fewer than six half-edges a vertex, indexed by `u32` below
/// [`NONE`](trioxide_mesh::mesh::NONE).
pub const MAX_POINTS: usize = (u32::MAX / 6) as usize;

fn check_point_count(n: usize, least: usize) -> Result<()> {
    check_least_points(n, least)?;
    check_most_points(n)
}

fn check_least_points(n: usize, least: usize) -> Result<()> {
    if n < least {
        return Err(Error::Argument(format!(
            "a mesh of {n} points cannot be made: ask for at least {least}"
        )));
    }
    Ok(())
}

fn check_most_points(n: usize) -> Result<()> {
    if n > MAX_POINTS {
        return Err(Error::Argument(format!(
            "a mesh of {n} points has more half-edges than 32-bit indices can number: ask for at most {MAX_POINTS}"
        )));
    }
    Ok(())
}

/// A uniform number in 0..1, a multiple of 2^-53.
fn unit_interval(generator: &mut impl Rng) -> f64 {
    const ULP: f64 = 1.0 / (1u64 << 53) as f64;
    (generator.next_u64() >> 11) as f64 * ULP
}
