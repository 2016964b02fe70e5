//! Repairs of small meshes with known answers; of damaged ones against plain loops, the CPU, and the promises.

mod orient;
mod plain;
mod segments;

use std::collections::HashSet;

use glam::DVec3;

use super::{Case, Outcome, Size, equal};
use crate::validate;
use plain::{NONE, plain};
pub use segments::some_segments;
use trioxide::device::Device;
use trioxide::generate;
use trioxide::mesh::Segment;
use trioxide::random::SplitMix64;
use trioxide::repair::{Repaired, Steps, repair};

/// The cases.
pub fn cases(size: Size) -> Vec<Case> {
    vec![
        Case::new("repair small meshes", small),
        Case::new("repair degenerate faces", degenerate),
        Case::new("repair the orientation of closed bodies", orient::closed),
        Case::new(
            "repair bodies that share edges, cuts and folds",
            orient::parted,
        ),
        Case::new("repair holes", holes),
        Case::new("repair segments and a survey", segments::carried),
        Case::new("repair a damaged scan", move |on| {
            let mut mesh = generate::scan(size.of(1500), 3)?.into_surface()?;
            damage(&mut mesh.triangles, mesh.points.len() as u32, size.of(80));
            every_step(on, &mesh.points, &mesh.triangles)
        }),
        Case::new("repair triangles on a lattice", move |on| {
            let mut random = SplitMix64::new(5);
            let mut below = |n: u64| random.next_u64() % n;
            let mut number = || below(4) as f64;
            let points: Vec<DVec3> = (0..40)
                .map(|_| DVec3::new(number(), number(), number()))
                .collect();
            let soup: Vec<[u32; 3]> = (0..size.of(300))
                .map(|_| [0; 3].map(|_| below(40) as u32))
                .collect();
            every_step(on, &points, &soup)
        }),
        Case::new("repair refuses", refusals),
    ]
}

/// Repeats, turns and degenerates faces of a mesh, and joins vertices that are not near each other.
pub fn damage(triangles: &mut Vec<[u32; 3]>, vertices: u32, times: usize) {
    let mut random = SplitMix64::new(7);
    let mut below = |n: usize| (random.next_u64() % n as u64) as usize;
    for i in 0..times {
        let t = below(triangles.len());
        let [a, b, c] = triangles[t];
        match i % 4 {
            0 => triangles.push([b, a, c]),
            1 => triangles[t] = [a, c, b],
            2 => triangles[t] = [a, b, below(vertices as usize) as u32],
            _ => triangles.push([a, b, b]),
        }
    }
}

/// Every step alone and all of them.
fn every_step(on: &Device, points: &[DVec3], triangles: &[[u32; 3]]) -> Outcome {
    let all = Steps {
        repeated: true,
        degenerate: Some(0.0),
        edges: true,
        vertices: true,
        cut: true,
        orient: true,
        folded: true,
        holes: Some(12),
        components: Some(3),
        flip: false,
        unused: true,
    };
    let alone = [
        Steps {
            repeated: true,
            ..NONE
        },
        Steps {
            degenerate: Some(0.0),
            ..NONE
        },
        Steps {
            degenerate: Some(0.05),
            ..NONE
        },
        Steps {
            edges: true,
            ..NONE
        },
        Steps {
            vertices: true,
            ..NONE
        },
        Steps {
            orient: true,
            ..NONE
        },
        Steps {
            edges: true,
            cut: true,
            orient: true,
            unused: true,
            ..NONE
        },
        Steps {
            holes: Some(12),
            ..NONE
        },
        Steps {
            components: Some(3),
            ..NONE
        },
    ];
    let segments = some_segments(triangles);
    for steps in alone.into_iter().chain([all]) {
        check(on, points, triangles, &segments, &steps)
            .map_err(|error| format!("{steps:?}: {error}"))?;
    }
    Ok(())
}

/// A repair keeps its promises, equals that of the CPU and of plain loops, and a second one changes nothing.
///
/// # Errors
/// The first difference.
pub fn check(
    on: &Device,
    points: &[DVec3],
    triangles: &[[u32; 3]],
    segments: &[Segment],
    steps: &Steps,
) -> Outcome {
    let done = repair(on, points, triangles, segments, steps)?;
    validate::repair(points, triangles, &done, steps)?;
    let cpu = repair(&Device::cpu(Some(1))?, points, triangles, segments, steps)?;
    same("the CPU's repair", &done, &cpu)?;
    if let Some(expected) = plain(points, triangles, steps) {
        let corners = |faces: &[[u32; 3]], old: &[u32]| -> Vec<[u32; 3]> {
            faces.iter().map(|f| f.map(|v| old[v as usize])).collect()
        };
        let (faces, vertices) = expected;
        let old: Vec<u32> = (0..points.len() as u32).chain(vertices).collect();
        equal(
            "face",
            &corners(&done.triangles, &done.vertices),
            &corners(&faces, &old),
        )?;
        // The same corners have the same vertex.
        let pairs: HashSet<(u32, u32)> = (done.triangles.as_flattened().iter().copied())
            .zip(faces.as_flattened().iter().copied())
            .collect();
        let [one, other]: [HashSet<u32>; 2] = [
            pairs.iter().map(|pair| pair.0).collect(),
            pairs.iter().map(|pair| pair.1).collect(),
        ];
        if one.len() != pairs.len() || other.len() != pairs.len() {
            return Err("other corners share a vertex".to_owned());
        }
    }
    if !(steps.repeated || steps.cut)
        && validate::is_closed(triangles)
        && steps.components.is_none()
    {
        let is_closed = validate::is_closed(&done.triangles);
        if !is_closed {
            return Err("a closed surface is open".to_owned());
        }
    }
    let points: Vec<DVec3> = done.vertices.iter().map(|&v| points[v as usize]).collect();
    let again = repair(on, &points, &done.triangles, &done.segments, steps)?;
    equal("face of the second run", &again.triangles, &done.triangles)?;
    equal("segment of the second run", &again.segments, &done.segments)
}

fn same(name: &str, one: &Repaired, other: &Repaired) -> Outcome {
    equal("face", &one.triangles, &other.triangles)?;
    match one == other {
        true => Ok(()),
        false => Err(format!(
            "{name}: {:?} is not {:?}",
            one.counts, other.counts
        )),
    }
}

/// The eight corners of a cube and its faces, which look outward.
fn cube(at: DVec3, ids: [u32; 8]) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let corner = |i: u32| at + DVec3::new((i & 1).into(), (i >> 1 & 1).into(), (i >> 2).into());
    let faces = [
        [0, 2, 1],
        [1, 2, 3],
        [4, 5, 6],
        [5, 7, 6],
        [0, 1, 4],
        [1, 5, 4],
        [2, 6, 3],
        [3, 6, 7],
        [0, 4, 2],
        [2, 4, 6],
        [1, 3, 5],
        [3, 7, 5],
    ];
    let named = faces.map(|face| face.map(|v: usize| ids[v]));
    ((0..8).map(corner).collect(), named.to_vec())
}

fn small(on: &Device) -> Outcome {
    // A tetrahedron with a turned face and a repeated one.
    let points = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, DVec3::ONE];
    let faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 2, 3], [3, 1, 2]];
    let steps = Steps {
        repeated: true,
        orient: true,
        ..NONE
    };
    let done = repair(on, &points, &faces, &[], &steps)?;
    equal(
        "face",
        &done.triangles,
        &[[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]],
    )?;
    equal(
        "count",
        &[done.counts.repeated, done.counts.turned],
        &[1, 1],
    )?;
    // The unused vertex stays.
    equal("vertex", &done.vertices, &[0, 1, 2, 3, 4])?;
    // Two cubes that share an edge: corners 1, 3 of x = 1, z = 0 of the first are 4, 6 of the second.
    let (mut points, mut faces) = cube(DVec3::ZERO, [0, 1, 2, 3, 4, 5, 6, 7]);
    let (second, more) = cube(DVec3::new(1.0, 0.0, -1.0), [8, 9, 10, 11, 1, 12, 3, 13]);
    points.extend([0, 1, 2, 3, 5, 7].map(|i| second[i]));
    faces.extend(more);
    let done = repair(
        on,
        &points,
        &faces,
        &[],
        &Steps {
            edges: true,
            ..NONE
        },
    )?;
    equal("count", &[done.counts.crowded, done.counts.copies], &[1, 2])?;
    equal("copy", &done.vertices[14..], &[1, 3])?;
    if !validate::is_closed(&done.triangles) {
        return Err("a cube is open".to_owned());
    }
    check(
        on,
        &points,
        &faces,
        &[],
        &Steps {
            edges: true,
            ..NONE
        },
    )?;
    // Two triangles that touch at a vertex, and one alone.
    let points = [
        (0, 0),
        (1, 0),
        (0, 1),
        (-1, 0),
        (0, -1),
        (5, 5),
        (6, 5),
        (5, 6),
    ];
    let points = points.map(|(x, y)| DVec3::new(x.into(), y.into(), 0.0));
    let faces = [[0, 1, 2], [0, 3, 4], [5, 6, 7]];
    let done = repair(
        on,
        &points,
        &faces,
        &[],
        &Steps {
            vertices: true,
            ..NONE
        },
    )?;
    equal("face", &done.triangles, &[[0, 1, 2], [8, 3, 4], [5, 6, 7]])?;
    equal("copy", &done.vertices[8..], &[0])?;
    let pair = [[0, 1, 2], [2, 1, 4], [5, 6, 7]];
    let done = repair(
        on,
        &points,
        &pair,
        &[],
        &Steps {
            components: Some(2),
            ..NONE
        },
    )?;
    equal("face", &done.triangles, &[[0, 1, 2], [2, 1, 4]])?;
    // Vertex 3 has no face in the input.
    equal("vertex", &done.vertices, &[0, 1, 2, 3, 4])?;
    equal(
        "count",
        &[done.counts.components, done.counts.component_faces],
        &[1, 1],
    )?;
    // A Möbius strip has no orientation.
    let ring: Vec<DVec3> = (0..5)
        .map(|i| DVec3::new(f64::from(i), (i * i).into(), (i % 2).into()))
        .collect();
    let strip = [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 0], [4, 0, 1]];
    let done = repair(
        on,
        &ring,
        &strip,
        &[],
        &Steps {
            orient: true,
            ..NONE
        },
    )?;
    equal("face", &done.triangles, &strip)?;
    equal(
        "count",
        &[done.counts.turned, done.counts.one_sided],
        &[0, 1],
    )
}

fn degenerate(on: &Device) -> Outcome {
    let flat = Steps {
        degenerate: Some(0.0),
        ..NONE
    };
    // A cap, whose vertex 4 lies on the long side of the neighbour: of a tetrahedron with a side divided on one face
    // only.
    let points = [DVec3::ZERO, DVec3::X * 2.0, DVec3::Y, DVec3::Z, DVec3::X];
    let faces = [
        [0, 2, 4],
        [4, 2, 1],
        [0, 1, 3],
        [0, 4, 1],
        [1, 2, 3],
        [0, 3, 2],
    ];
    let done = repair(on, &points, &faces, &[], &flat)?;
    let expected = [
        [0, 2, 4],
        [4, 2, 1],
        [3, 4, 1],
        [3, 0, 4],
        [1, 2, 3],
        [0, 3, 2],
    ];
    let ascending = |faces: &[[u32; 3]]| {
        let rotated = |f: &[u32; 3]| {
            let mut f = *f;
            let least = (0..3).min_by_key(|&k| f[k]).expect("three");
            f.rotate_left(least);
            f
        };
        let mut faces: Vec<[u32; 3]> = faces.iter().map(rotated).collect();
        faces.sort_unstable();
        faces
    };
    equal("face", &ascending(&done.triangles), &ascending(&expected))?;
    equal(
        "count",
        &[done.counts.flipped, done.counts.degenerate_left],
        &[1, 0],
    )?;
    check(on, &points, &faces, &[], &flat)?;
    // The faces of an edge of a segment do not flip.
    let fixed = [Segment {
        ends: [1, 0],
        marker: 3,
    }];
    let done = repair(on, &points, &faces, &fixed, &flat)?;
    equal(
        "count",
        &[done.counts.flipped, done.counts.degenerate_left],
        &[0, 1],
    )?;
    // A needle: vertices 4 and 0 in one place.
    let mut points = points;
    points[4] = DVec3::ZERO;
    let done = repair(on, &points, &faces, &[], &flat)?;
    let expected = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
    equal("face", &ascending(&done.triangles), &ascending(&expected))?;
    equal("merged", &done.merged, &[[4, 0]])?;
    check(on, &points, &faces, &[], &flat)?;
    // A cap at the boundary goes, and a face with a vertex twice.
    let points = [(0, 0), (2, 0), (1, 0), (1, 1)].map(|(x, y)| DVec3::new(x.into(), y.into(), 0.0));
    let faces = [[0, 1, 2], [0, 2, 3], [2, 1, 3], [3, 3, 1]];
    let done = repair(on, &points, &faces, &[], &flat)?;
    equal("face", &done.triangles, &[[0, 2, 3], [2, 1, 3]])?;
    equal("count", &[done.counts.dropped], &[2])?;
    // A cap whose height is a hundredth of its longest side.
    let points = [(0, 0), (200, 0), (100, 2), (100, -90), (100, 90)];
    let points = points.map(|(x, y)| DVec3::new(x.into(), y.into(), 0.0));
    let faces = [[0, 1, 2], [0, 3, 1], [0, 2, 4], [2, 1, 4]];
    for (ratio, flips) in [(0.009, 0), (0.011, 1)] {
        let steps = Steps {
            degenerate: Some(ratio),
            ..NONE
        };
        let done = repair(on, &points, &faces, &[], &steps)?;
        equal("count", &[done.counts.flipped], &[flips])?;
    }
    Ok(())
}

fn holes(on: &Device) -> Outcome {
    let (points, mut faces) = cube(DVec3::ZERO, [0, 1, 2, 3, 4, 5, 6, 7]);
    let whole = faces.clone();
    // Without a side of two faces and a single face.
    faces.retain(|face| ![[4, 5, 6], [5, 7, 6], [0, 2, 1]].contains(face));
    let fill = |most: u32| {
        repair(
            on,
            &points,
            &faces,
            &[],
            &Steps {
                holes: Some(most),
                ..NONE
            },
        )
    };
    let done = fill(3)?;
    equal("face", &done.triangles[9..], &[[2, 1, 0]])?;
    equal(
        "count",
        &[done.counts.filled, done.counts.hole_faces],
        &[1, 1],
    )?;
    let done = fill(10)?;
    if !validate::is_closed(&done.triangles) || done.triangles.len() != whole.len() {
        return Err(format!("a hole is open: {:?}", done.triangles));
    }
    check(
        on,
        &points,
        &faces,
        &[],
        &Steps {
            holes: Some(10),
            ..NONE
        },
    )?;
    // In the plane the outer boundary is no hole: a square around a square.
    let ring = [
        (0, 0),
        (3, 0),
        (3, 3),
        (0, 3),
        (1, 1),
        (2, 1),
        (2, 2),
        (1, 2),
    ];
    let points = ring.map(|(x, y)| DVec3::new(x.into(), y.into(), 0.0));
    let around = |k: u32| {
        [
            [k, (k + 1) % 4, 4 + k],
            [4 + k, (k + 1) % 4, 4 + (k + 1) % 4],
        ]
    };
    let faces = (0..4).flat_map(around).collect::<Vec<_>>();
    let done = repair(
        on,
        &points,
        &faces,
        &[],
        &Steps {
            holes: Some(8),
            ..NONE
        },
    )?;
    equal(
        "count",
        &[done.counts.filled, done.counts.hole_faces],
        &[1, 2],
    )?;
    // A single triangle is not closed by itself.
    let done = repair(
        on,
        &points,
        &[[0, 1, 2]],
        &[],
        &Steps {
            holes: Some(8),
            ..NONE
        },
    )?;
    equal("count", &[done.counts.filled], &[0])
}

fn refusals(on: &Device) -> Outcome {
    let points = [DVec3::ZERO, DVec3::X, DVec3::splat(f64::NAN)];
    let steps = Steps {
        repeated: true,
        ..NONE
    };
    let refused = |points: &[DVec3], face: [u32; 3], steps: &Steps, words: &str| {
        let text = match repair(on, points, &[face], &[], steps) {
            Ok(_) => "done".to_owned(),
            Err(error) => error.to_string(),
        };
        match text.contains(words) {
            true => Ok(()),
            false => Err(format!("{text} instead of {words}")),
        }
    };
    refused(&points[..2], [0, 1, 2], &steps, "triangle 0 has vertex 2")?;
    refused(&points, [0, 1, 2], &steps, "vertex 2 has a coordinate")?;
    let ratio = Steps {
        degenerate: Some(0.6),
        ..NONE
    };
    refused(&points[..2], [0, 1, 1], &ratio, "choose 0 to 0.5")?;
    let holes = Steps {
        holes: Some(2),
        ..NONE
    };
    refused(&points[..2], [0, 1, 1], &holes, "choose 3 or more")
}
