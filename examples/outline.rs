//! Triangulates an outline with a hole, and refines it until no angle is below 25 degrees.
//!
//! `cargo run --release --example outline` prints:
//!
//! ```text
//! 252 vertices, 443 triangles
//! 12 boundary edges around the hole
//! smallest angle: 26.7 degrees
//! ```

use trioxide::device::Device;
use trioxide::glam::{DVec2, DVec3};
use trioxide::mesh::{Faces, Mesh, Segment};
use trioxide::outline::OutlineMesh;
use trioxide_operations::{Result, triangulate};

fn main() -> Result<()> {
    let outer = [[0.0, 0.0], [3.0, 0.0], [3.0, 2.0], [0.0, 2.0]];
    let inner = [[1.0, 0.8], [2.0, 0.8], [1.5, 1.4]];
    let points = outer.iter().chain(&inner);
    // Each loop ends where it begins; the marker says which loop a boundary edge of the result is on.
    let loops = [(0..4u32, 1), (4..7u32, 2)];
    let segments = loops.into_iter().flat_map(|(ids, marker)| {
        let next = ids.clone().cycle().skip(1);
        ids.zip(next).map(move |(a, b)| Segment {
            ends: [a, b],
            marker,
        })
    });
    let outline = OutlineMesh {
        mesh: Mesh {
            points: points.map(|&[x, y]| DVec3::new(x, y, 0.0)).collect(),
            segments: segments.collect(),
            ..Mesh::default()
        },
        holes: vec![DVec2::new(1.5, 1.0)],
        ..OutlineMesh::default()
    };
    let options = triangulate::Options {
        angle: Some(25.0),
        area: Some(0.02),
        ..Default::default()
    };
    // The first GPU, or the CPU: the result has the same bits.
    let (device, _) = Device::auto(None)?;
    let (mesh, report) = triangulate(&device, outline, &options)?;
    println!(
        "{} vertices, {} triangles",
        report.totals.vertices, report.totals.faces
    );
    let around_hole = mesh.segments.iter().filter(|segment| segment.marker == 2);
    println!("{} boundary edges around the hole", around_hole.count());
    println!("smallest angle: {:.1} degrees", smallest_angle(&mesh));
    Ok(())
}

fn smallest_angle(mesh: &Mesh) -> f64 {
    let Faces::Triangles(triangles) = &mesh.faces else {
        unreachable!("triangulate gives triangles")
    };
    let corners = triangles
        .iter()
        .flat_map(|&[a, b, c]| [[a, b, c], [b, c, a], [c, a, b]]);
    let angles = corners.map(|ids| {
        let [a, b, c] = ids.map(|v| mesh.points[v as usize]);
        (b - a).angle_between(c - a).to_degrees()
    });
    angles.fold(180.0, f64::min)
}
