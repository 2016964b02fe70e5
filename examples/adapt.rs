//! Refines where an estimator finds the largest errors: a function with a steep front, interpolated linearly.
//!
//! `cargo run --release --example adapt` prints:
//!
//! ```text
//!    162 triangles, error 0.102328
//!    182 triangles, error 0.064334
//!    202 triangles, error 0.044080
//!    234 triangles, error 0.033920
//!    278 triangles, error 0.025366
//!    358 triangles, error 0.019549
//!    456 triangles, error 0.014160
//!    608 triangles, error 0.010935
//!    800 triangles, error 0.007818
//!   1078 triangles, error 0.005993
//!   1442 triangles, error 0.004264
//! all of one size:
//!   2592 triangles, error 0.007148
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

fn print_errors(errors: &[f64]) {
    let sum: f64 = errors.iter().sum();
    println!("{:>6} triangles, error {sum:.6}", errors.len());
}

fn main() -> Result<()> {
    let (device, _) = Device::auto(None)?;
    let mut mesh = Mesh::from(generate::grid(100)?);
    for _ in 0..10 {
        let errors = estimate(&mesh);
        print_errors(&errors);
        // The triangles with the largest errors, as many as make half of the sum, and their neighbours as far as
        // conformity requires.
        let options = refine::Options {
            values: Some(errors),
            dorfler: Some(0.5),
            ..Default::default()
        };
        (mesh, _) = refine(&device, mesh, &options)?;
    }
    print_errors(&estimate(&mesh));
    let all = refine::Options {
        rounds: 4,
        ..Default::default()
    };
    let (uniform, _) = refine(&device, generate::grid(100)?.into(), &all)?;
    println!("all of one size:");
    print_errors(&estimate(&uniform));
    Ok(())
}
