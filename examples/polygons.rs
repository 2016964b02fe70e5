//! Joins the triangles of random points to polygons, and solves a Poisson problem on them by virtual elements.
//!
//! `cargo run --release --example polygons` prints:
//!
//! ```text
//! 1926 triangles to 316 polygons, 312 of them star-shaped; L2 error 0.00645
//! 7850 triangles to 1295 polygons, 1287 of them star-shaped; L2 error 0.00167
//! ```

use trioxide::device::Device;
use trioxide::generate;
use trioxide::mesh::Mesh;
use trioxide_operations::{Result, info, polylla, vem};

fn main() -> Result<()> {
    let (device, _) = Device::auto(None)?;
    for points in [1_000, 4_000] {
        let triangles = Mesh::from(generate::random(&device, points, 1)?);
        let (polygons, joined) = polylla(&device, triangles, &polylla::Options::default())?;
        let quality = info(polygons.clone())?
            .quality
            .expect("a valid planar mesh has it");
        // The exact solution is sin(pi x) sin(pi y); the field `solution` is at the vertices of `solved`.
        let (_solved, report) = vem(polygons, &vem::Options::default())?;
        println!(
            "{} triangles to {} polygons, {} of them star-shaped; L2 error {:.5}",
            joined.totals.triangles,
            joined.totals.polygons,
            quality.star_shaped,
            report.totals.errors.l2
        );
    }
    Ok(())
}
