//! Welds a scan: vertices within a distance become one, and thin triangles between them vanish.
//!
//! `cargo run --release --example weld` prints:
//!
//! ```text
//! epsilon 0.005: 49980 of 50000 vertices, 99956 of 99996 triangles
//! epsilon 0.01: 44385 of 50000 vertices, 88784 of 99996 triangles
//! epsilon 0.02: 19468 of 50000 vertices, 39241 of 99996 triangles
//! half of the vertices: epsilon 0.016916, 24997 stay
//! vertex 49999 is now 24996
//! ```

use trioxide::device::Device;
use trioxide::generate;
use trioxide_operations::{Result, weld};

fn main() -> Result<()> {
    let (device, _) = Device::auto(None)?;
    let scan = generate::scan(50_000, 1)?;
    for epsilon in [0.005, 0.01, 0.02] {
        let options = weld::Options::new(epsilon);
        let (_, report) = weld(&device, scan.clone(), &options)?;
        let totals = &report.totals;
        println!(
            "epsilon {epsilon}: {} of {} vertices, {} of {} triangles",
            totals.welded_vertices, totals.vertices, totals.welded_faces, totals.faces
        );
    }
    // Or the distance that removes half of the vertices.
    let options = weld::Options {
        ratio: Some(0.5),
        ..Default::default()
    };
    let (welded, report) = weld(&device, scan, &options)?;
    let found = report.totals.epsilon;
    println!(
        "half of the vertices: epsilon {found:.6}, {} stay",
        welded.points.len()
    );
    // Where each vertex of the scan went.
    println!("vertex 49999 is now {}", report.map[49_999]);
    Ok(())
}
