//! Times of Delaunay triangulation.

use glam::DVec2;
use serde_json::json;
use trioxide::delaunay::constrained::{self, Limits};
use trioxide::delaunay::refinement::{Refinement, refine};
use trioxide::delaunay::{Duplicates, triangulate};
use trioxide::device::Device;
use trioxide::half_edges::Point;
use trioxide::outline::Outline;
use trioxide::points::upload_points;
use trioxide::{Buffer, Result};

use super::names::map;
use super::{Measured, Runs, rows, waited};

/// Times the triangulation of points that are on the device, and of points of the host to triangles of the host.
pub fn bench<P: Point>(on: &Device, points: &[DVec2], runs: Runs) -> Result<Measured> {
    on.reset_peak();
    let mut stages = vec![waited("host arrays to host arrays", runs, || {
        let points = upload_points::<P>(on, points, points.len())?;
        let triangles = triangulate(on, &points, Duplicates::Refuse)?;
        on.download_rows::<_, [u32; 3]>(triangles.triangles())
            .map(drop)
    })?];
    let peak_bytes = on.peak_bytes();
    let resident = upload_points::<P>(on, points, points.len())?;
    let mut found = (0, 0);
    stages.extend(rows("resident", on, runs, || {
        let result = triangulate(on, &resident, Duplicates::Refuse)?;
        found = (result.triangles().len() / 3, result.hard_points());
        Ok(())
    })?);
    let counts = map([
        ("vertices", json!(points.len())),
        ("triangles", json!(found.0)),
        ("hard_points", json!(found.1)),
    ]);
    Ok(Measured {
        counts,
        peak_bytes,
        stages,
    })
}

/// Times the constrained triangulation of points and segments that are on the device, up to the convex hull.
pub fn constrained<P: Point>(on: &Device, outline: &Outline, runs: Runs) -> Result<Measured> {
    let points = upload_points::<P>(on, &outline.points, outline.points.len())?;
    let segments: Vec<[u32; 2]> = outline.segments.iter().map(|s| s.ends).collect();
    let segments = on.upload(&segments)?;
    let limits = Limits {
        convex: true,
        ..Limits::of(&segments)
    };
    on.reset_peak();
    let mut found = (0, 0);
    let stages = rows("resident", on, runs, || {
        let result = constrained::triangulate(on, &points, &limits, Duplicates::Refuse)?;
        found = (result.triangles().len() / 3, result.pieces().len() / 2);
        Ok(())
    })?;
    let counts = map([
        ("vertices", json!(points.len())),
        ("triangles", json!(found.0)),
        ("segments", json!(segments.len())),
        ("pieces", json!(found.1)),
    ]);
    Ok(Measured {
        counts,
        peak_bytes: on.peak_bytes(),
        stages,
    })
}

/// Vertices that the outline of a file is refined to, about: five million triangles.
pub const REFINED: usize = 2_500_000;

/// Times the refinement of an outline that is on the device, by 20 degrees and an area that takes about `n` vertices.
pub fn refined<P: Point>(on: &Device, outline: &Outline, n: usize, runs: Runs) -> Result<Measured> {
    let points = upload_points::<P>(on, &outline.points, outline.points.len())?;
    let segments: Vec<[u32; 2]> = outline.segments.iter().map(|s| s.ends).collect();
    let segments = on.upload(&segments)?;
    let limits = Limits {
        holes: &outline.holes,
        ..Limits::of(&segments)
    };
    let area = within(on, &points, &limits)?;
    let bounds = Refinement {
        smallest_angle: Some(20.0),
        // Triangles have 0.64 times their largest area in the mean, and there are two for each vertex.
        largest_area: Some(area / (1.28 * n as f64)),
        most_vertices: Some(usize::MAX),
        ..Refinement::default()
    };
    on.reset_peak();
    let mut found = (0, 0, 0);
    let stages = rows("resident", on, runs, || {
        let result = refine(on, &points, &limits, Duplicates::Refuse, &bounds)?;
        let (triangles, pieces) = (result.mesh.triangles(), result.mesh.pieces());
        found = (result.points.len(), triangles.len() / 3, pieces.len() / 2);
        Ok(())
    })?;
    let counts = map([
        ("input_vertices", json!(points.len())),
        ("segments", json!(segments.len())),
        ("vertices", json!(found.0)),
        ("triangles", json!(found.1)),
        ("pieces", json!(found.2)),
    ]);
    Ok(Measured {
        counts,
        peak_bytes: on.peak_bytes(),
        stages,
    })
}

/// The area of the triangles within limits.
fn within<P: Point>(on: &Device, points: &Buffer<P>, limits: &Limits<'_>) -> Result<f64> {
    let result = constrained::triangulate(on, points, limits, Duplicates::Refuse)?;
    let triangles: Vec<[u32; 3]> = on.download_rows(result.triangles())?;
    let points = on.download(points)?;
    let corners = triangles
        .iter()
        .map(|t| t.map(|v| points[v as usize].to_f64()));
    Ok(corners.map(|[a, b, c]| (b - a).perp_dot(c - a) / 2.0).sum())
}
