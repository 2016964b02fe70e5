//! Times of Delaunay triangulation.

use glam::DVec2;
use serde_json::json;
use trioxide::Result;
use trioxide::delaunay::constrained::{self, Limits};
use trioxide::delaunay::{Duplicates, triangulate};
use trioxide::device::Device;
use trioxide::half_edges::Point;
use trioxide::outline::Outline;
use trioxide::points::upload_points;

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
        let result = constrained::triangulate(on, &points, &limits)?;
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
