//! Times of comparisons.

use glam::DVec3;
use serde_json::json;
use trioxide::Result;
use trioxide::compare::{Options, Shape, compare};
use trioxide::device::Device;
use trioxide::random::mix;
use trioxide_verify::selftest::weld::shuffled;

use super::names::map;
use super::{Measured, Runs, rows};

/// Samples of a surface.
const SAMPLES: u32 = 200_000;

/// Times the comparison of a mesh that is on the device with a copy whose points are moved by up to a thousandth of the
/// box: as it is, and with its vertices and triangles shuffled.
pub fn bench(
    on: &Device,
    points: &[DVec3],
    triangles: &[[u32; 3]],
    seed: u64,
    runs: Runs,
) -> Result<Measured> {
    let (mixed, mut others) = shuffled(points, triangles);
    others.sort_by_cached_key(|[a, b, c]| mix(u64::from(*a) << 32 ^ u64::from(b ^ c)));
    let (mut stages, mut peak_bytes) = (Vec::new(), 0);
    for (pipeline, points, triangles) in [
        ("as it is", points, triangles),
        ("shuffled", &mixed, &others),
    ] {
        let moved = moved(points);
        let (points, moved) = (on.upload(points)?, on.upload(&moved)?);
        let corners = on.upload(triangles.as_flattened())?.cast();
        let (a, b) = (
            Shape::new(on, &moved, &corners)?,
            Shape::new(on, &points, &corners)?,
        );
        let options = Options {
            samples: SAMPLES,
            seed,
        };
        on.reset_peak();
        stages.extend(rows(pipeline, on, runs, || {
            compare(on, a, b, options)?;
            Ok(())
        })?);
        peak_bytes = on.peak_bytes();
    }
    let counts = map([
        ("vertices", json!(points.len())),
        ("triangles", json!(triangles.len())),
        ("samples", json!(SAMPLES)),
    ]);
    Ok(Measured {
        counts,
        peak_bytes,
        stages,
    })
}

/// The points, each moved in a direction of its own.
fn moved(points: &[DVec3]) -> Vec<DVec3> {
    let least = |of: fn(DVec3, DVec3) -> DVec3| points.iter().copied().reduce(of);
    let [low, high] = [least(DVec3::min), least(DVec3::max)].map(Option::unwrap_or_default);
    let most = 1e-3 * (high - low);
    let number = |i: u64| mix(i) as f64 / u64::MAX as f64 - 0.5;
    let numbered = (0..).zip(points);
    let moved = numbered.map(|(i, &point)| {
        point + most * DVec3::new(number(3 * i), number(3 * i + 1), number(3 * i + 2))
    });
    moved.collect()
}
