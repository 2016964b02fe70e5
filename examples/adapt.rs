//! Refines where an estimator finds the largest errors: a function with a steep front, interpolated linearly.
//!
//! `cargo run --release --example adapt` prints:
//!
//! ```text
//! ```

use trioxide::device::Device;
use trioxide::generate;
use trioxide::glam::DVec3;
use trioxide::mesh::{Faces, Mesh};
use trioxide_operations::{Result, refine};

/// Rises along a circle of radius 0.7.
fn front(p: DVec3) -> f64 {
    (40.0 * (p.truncate().length() - 0.7)).atan()
}

/// The error of each triangle: that of interpolation at its centroid, times its area.
fn estimate(mesh: &Mesh) -> Vec<f64> {
    let Faces::Triangles(triangles) = &mesh.faces else {
        unreachable!("refine gives triangles")
    };
    let error = |corners: &[u32; 3]| {
        let [a, b, c] = corners.map(|v| mesh.points[v as usize]);
        let interpolated = (front(a) + front(b) + front(c)) / 3.0;
        let area = (b - a).cross(c - a).length() / 2.0;
        (front((a + b + c) / 3.0) - interpolated).abs() * area
    };
    triangles.iter().map(error).collect()
}

fn main() -> Result<()> {
    let (device, _) = Device::auto(None)?;
    let mut mesh = Mesh::from(generate::grid(100)?);
    for _ in 0..10 {
        let errors = estimate(&mesh);
        println!(
            "{:>6} triangles, error {:.6}",
            errors.len(),
            errors.iter().sum::<f64>()
        );
        // Of the triangles with the largest errors as many as make half of the sum, and their neighbours as far as
        // conformity requires.
        let options = refine::Options {
            values: Some(errors),
            dorfler: Some(0.5),
            ..Default::default()
        };
        (mesh, _) = refine(&device, mesh, &options)?;
    }
    let errors = estimate(&mesh);
    println!(
        "{:>6} triangles, error {:.6}",
        errors.len(),
        errors.iter().sum::<f64>()
    );
    let (uniform, _) = refine(
        &device,
        generate::grid(3_000)?.into(),
        &refine::Options::default(),
    )?;
    let errors = estimate(&uniform);
    println!(
        "{:>6} of equal size,  error {:.6}",
        errors.len(),
        errors.iter().sum::<f64>()
    );
    Ok(())
}
