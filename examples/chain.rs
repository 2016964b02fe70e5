//! A chain of operations: a scan is welded, smoothed, refined where it is coarse, and written to a file.
//!
//! `cargo run --release --example chain` prints:
//!
//! ```text
//! welded: 19878 vertices
//! smoothed: 20 sweeps
//! refined: 113590 triangles in 3 rounds
//! written and read: true
//! ```

use trioxide::device::Device;
use trioxide::formats;
use trioxide::generate;
use trioxide_operations::{Machine, Result, refine, reorder, smooth, weld};

fn main() -> Result<()> {
    let (device, _) = Device::auto(None)?;
    // Keeps the half-edges of a mesh between operations.
    let machine = Machine::from(&device).for_several();
    let scan = generate::scan(20_000, 1)?;

    let (mesh, _) = weld(&machine, scan, &weld::Options::new(0.01))?;
    println!("welded: {} vertices", mesh.points.len());

    let options = smooth::Options {
        method: smooth::FilterKind::Taubin,
        max_iterations: 20,
        ..Default::default()
    };
    let (mesh, smoothed) = smooth(&machine, mesh, &options)?;
    println!("smoothed: {} sweeps", smoothed.totals.moves.sweeps);

    let options = refine::Options {
        until_area: Some(2e-4),
        ..Default::default()
    };
    let (mesh, refined) = refine(&machine, mesh, &options)?;
    println!(
        "refined: {} triangles in {} rounds",
        mesh.faces.len(),
        refined.totals.rounds
    );

    // Along a curve, so that what follows is quicker.
    let (mesh, _) = reorder(&machine, mesh)?;
    let folder = std::env::temp_dir();
    let path = folder.join(format!("trioxide-chain-{}.ply", std::process::id()));
    formats::write(&path, &mesh)?;
    let read = formats::read(&path)?;
    println!(
        "written and read: {}",
        read.points == mesh.points && read.faces == mesh.faces
    );
    std::fs::remove_file(&path).expect("it was written");
    Ok(())
}
