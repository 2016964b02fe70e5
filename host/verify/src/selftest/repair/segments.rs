//! Segments of repaired meshes.

use glam::DVec3;

use super::super::{Outcome, equal};
use super::check;
use super::plain::NONE;
use trioxide::device::Device;
use trioxide::mesh::Segment;
use trioxide::repair::{Repaired, Steps, repair, survey};

/// Segments of two triangles that touch at a vertex; and the survey of these.
pub(super) fn carried(on: &Device) -> Outcome {
    let points = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (0, 0)];
    let points = points.map(|(x, y)| DVec3::new(x.into(), y.into(), f64::from(x * y)));
    let faces = [[0, 1, 2], [0, 3, 4]];
    let segment = |a, b| Segment {
        ends: [a, b],
        marker: 1,
    };
    let segments = [segment(3, 0), segment(0, 1), segment(4, 2), segment(1, 0)];
    let steps = Steps {
        vertices: true,
        ..NONE
    };
    let done = repair(on, &points, &faces, &segments, &steps)?;
    let ends: Vec<[u32; 2]> = done.segments.iter().map(|s| s.ends).collect();
    equal("segment", &ends, &[[3, 6], [0, 1]])?;
    equal("segment's id", &done.sides, &[0, 1])?;
    equal("count", &[done.counts.segments], &[2])?;
    followed(on)?;
    let found = survey(on, &points, &faces)?;
    equal(
        "survey",
        &[
            found.touching,
            found.crowded,
            found.repeated,
            found.components,
            found.smallest_component,
        ],
        &[1, 0, 0, 2, 1],
    )
}

/// Segments at faces that go, at edges that collapse, and at edges of several faces.
fn followed(on: &Device) -> Outcome {
    let of = |ends: &[[u32; 2]]| -> Vec<Segment> {
        let markers = ends.iter().zip(1..);
        markers
            .map(|(&ends, marker)| Segment { ends, marker })
            .collect()
    };
    let ends =
        |done: &Repaired| -> Vec<[u32; 2]> { done.segments.iter().map(|s| s.ends).collect() };
    // A cap at the boundary, whose short sides are inside, or its own.
    let points = [(0, 0), (200, 0), (100, 1), (0, 100), (200, 100)];
    let points = points.map(|(x, y)| DVec3::new(x.into(), y.into(), 0.0));
    let caps = [[0, 1, 2], [0, 2, 3], [2, 4, 3]];
    let flat = Steps {
        degenerate: Some(0.01),
        ..NONE
    };
    for (segment, dropped) in [([1, 2], 0), ([0, 1], 0), ([2, 0], 1)] {
        let done = repair(on, &points, &caps, &of(&[segment]), &flat)?;
        equal(
            "count",
            &[done.counts.dropped, done.counts.segments],
            &[dropped, 0],
        )?;
        check(on, &points, &caps, &of(&[segment]), &flat)?;
    }
    // Vertex 3 collapses into 2: one segment goes along, one lies on another one, and one has one vertex left.
    let points = [(0, 0), (200, 0), (100, 100), (101, 100), (100, 200)];
    let points = points.map(|(x, y)| DVec3::new(x.into(), y.into(), 0.0));
    let needle = [[0, 1, 2], [1, 3, 2], [2, 3, 4], [0, 2, 4], [1, 4, 3]];
    let segments = of(&[[3, 1], [4, 3], [3, 2], [2, 4]]);
    let twice = [
        &segments[..],
        &[Segment {
            ends: [4, 2],
            marker: 2,
        }],
    ]
    .concat();
    let done = repair(on, &points, &needle, &twice, &flat)?;
    equal("segment", &ends(&done), &[[2, 1], [3, 2], [2, 3]])?;
    equal("segment's id", &done.sides, &[0, 1, 3])?;
    equal(
        "count",
        &[done.counts.collapsed, done.counts.segments],
        &[1, 2],
    )?;
    check(on, &points, &needle, &twice, &flat)?;
    // An edge of four faces is parted: the segment lies along both copies.
    let points = [
        DVec3::ZERO,
        DVec3::Z,
        DVec3::X,
        DVec3::Y,
        -DVec3::X,
        -DVec3::Y,
    ];
    let book = [[0, 1, 2], [1, 0, 3], [0, 1, 4], [1, 0, 5]];
    let steps = Steps {
        edges: true,
        ..NONE
    };
    let done = repair(on, &points, &book, &of(&[[1, 0]]), &steps)?;
    equal("segment's id", &done.sides, &[0, 0])?;
    check(on, &points, &book, &of(&[[1, 0]]), &steps)?;
    // A component goes, with its segment.
    let steps = Steps {
        components: Some(2),
        ..NONE
    };
    let done = repair(on, &points, &book[..1], &of(&[[1, 0]]), &steps)?;
    equal(
        "count",
        &[done.segments.len() as u64, done.counts.segments],
        &[0, 1],
    )
}

/// A segment along each fourth side of faces.
pub fn some_segments(triangles: &[[u32; 3]]) -> Vec<Segment> {
    let sides = triangles
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let segment = |(i, ends): (usize, [u32; 2])| Segment {
        ends,
        marker: (i % 3) as i32,
    };
    sides.enumerate().step_by(4).map(segment).collect()
}
