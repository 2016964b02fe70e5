//! Orientation, pairs, cuts and folds of small meshes with known answers.

use glam::DVec3;
use trioxide::device::Device;
use trioxide::mesh::{Faces, Polygons, Segment};
use trioxide::repair::{Steps, orient_polygons, repair};

use super::plain::NONE;
use super::{check, cube};
use crate::selftest::{Outcome, equal};
use crate::validate;

const ORIENT: Steps = Steps {
    orient: true,
    ..NONE
};

type Mesh = (Vec<DVec3>, Vec<[u32; 3]>);

/// Cubes at places and of sizes, each with faces that are turned by a mask.
fn cubes(list: &[(f64, f64, u32)]) -> Mesh {
    let (mut points, mut faces) = (Vec::new(), Vec::new());
    for (k, &(at, size, mask)) in (0..).zip(list) {
        let ids = [0, 1, 2, 3, 4, 5, 6, 7].map(|i| 8 * k + i);
        let (corners, of_cube) = cube(DVec3::ZERO, ids);
        points.extend(corners.into_iter().map(|p| DVec3::splat(at) + p * size));
        faces.extend(
            of_cube
                .into_iter()
                .enumerate()
                .map(|(t, [a, b, c])| match mask >> t & 1 {
                    1 => [a, c, b],
                    _ => [a, b, c],
                }),
        );
    }
    (points, faces)
}

/// Six times the volume.
fn volume(points: &[DVec3], faces: &[[u32; 3]]) -> f64 {
    let corners = |f: &[u32; 3]| f.map(|v| points[v as usize]);
    let of = |[a, b, c]: [DVec3; 3]| a.dot(b.cross(c));
    faces.iter().map(|f| of(corners(f))).sum()
}

/// The place and the side of a cube, and a mask of its faces.
type Cube = (f64, f64, u32);

/// Closed components look outward, and cavities inward: volumes of cubes in cubes.
pub fn closed(on: &Device) -> Outcome {
    let rows: [(&str, &[Cube], f64); 8] = [
        ("one, inside out", &[(0.0, 1.0, 0xFFF)], 1.0),
        ("one, half of it turned", &[(0.0, 1.0, 0x5A5)], 1.0),
        ("one in another", &[(0.0, 3.0, 0xFFF), (1.0, 1.0, 0)], 26.0),
        (
            "the inner one first",
            &[(1.0, 1.0, 0x7F), (0.0, 3.0, 0)],
            26.0,
        ),
        (
            "a body in a cavity",
            &[(0.0, 5.0, 0xFFF), (1.0, 3.0, 0), (2.0, 1.0, 0xFFF)],
            99.0,
        ),
        ("two that cross", &[(0.0, 2.0, 0), (1.0, 2.0, 0xFFF)], 16.0),
        (
            "two that share a corner",
            &[(0.0, 1.0, 0xFFF), (1.0, 1.0, 0)],
            2.0,
        ),
        (
            "the same one twice",
            &[(0.0, 1.0, 0), (0.0, 1.0, 0xFFF)],
            2.0,
        ),
    ];
    for (name, list, expected) in rows {
        for scale in [1.0, 2f64.powi(-300), 2f64.powi(300)] {
            let (points, faces) = cubes(list);
            let scaled: Vec<DVec3> = points.iter().map(|&p| p * scale).collect();
            let done = repair(on, &scaled, &faces, &[], &ORIENT)?;
            equal(name, &[volume(&points, &done.triangles) / 6.0], &[expected])?;
        }
        let (points, faces) = cubes(list);
        check(on, &points, &faces, &[], &ORIENT).map_err(|error| format!("{name}: {error}"))?;
        let mut polygons = Faces::Polygons(Polygons::from(faces.clone()));
        orient_polygons(&points, &mut polygons);
        let turned: Vec<[u32; 3]> = (0..faces.len())
            .map(|t| {
                let f = polygons.get(t);
                [f[0], f[1], f[2]]
            })
            .collect();
        equal(name, &[volume(&points, &turned) / 6.0], &[expected])?;
    }
    // Three of four faces look inward.
    let points = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    let faces = [[1, 2, 0], [3, 1, 0], [3, 2, 1], [2, 0, 3]];
    let done = repair(on, &points, &faces, &[], &ORIENT)?;
    equal("volume", &[volume(&points, &done.triangles)], &[1.0])?;
    equal("turned", &[done.counts.turned], &[3])?;
    let flip = Steps {
        flip: true,
        ..ORIENT
    };
    let done = repair(on, &points, &faces, &[], &flip)?;
    equal("volume", &[volume(&points, &done.triangles)], &[-1.0])?;
    // The plane: counter-clockwise, also where most faces are not.
    let square = [DVec3::ZERO, DVec3::X, DVec3::ONE, DVec3::Y].map(|p| DVec3::new(p.x, p.y, 2.0));
    let done = repair(on, &square, &[[0, 2, 1], [0, 3, 2]], &[], &ORIENT)?;
    equal("face", &done.triangles, &[[0, 1, 2], [0, 2, 3]])?;
    let mut quad = Faces::Polygons(Polygons {
        offsets: vec![0, 4],
        vertices: vec![0, 3, 2, 1],
    });
    equal(
        "turned polygons",
        &[orient_polygons(&square, &mut quad)],
        &[(1, 0)],
    )?;
    equal("corner", quad.get(0), &[0, 1, 2, 3])
}

/// Bodies that share edges stay closed, one-sided surfaces are cut, folded faces flip, vertices go.
pub fn parted(on: &Device) -> Outcome {
    // A cube, and a tetrahedron in its corner, whose faces lie in three of the cube's.
    let (points, mut faces) = cube(DVec3::ZERO, [0, 1, 2, 3, 4, 5, 6, 7]);
    faces.extend([[0, 2, 1], [0, 1, 4], [0, 4, 2], [1, 2, 4]].map(|f: [u32; 3]| f));
    // The same faces of the cube, by the other diagonals.
    faces[0] = [0, 2, 3];
    faces[1] = [0, 3, 1];
    faces[4] = [0, 1, 5];
    faces[5] = [0, 5, 4];
    faces[8] = [0, 4, 6];
    faces[9] = [0, 6, 2];
    let edges = Steps {
        edges: true,
        ..NONE
    };
    for mask in [0, 0xF000, 0xAAAA, 0x0FFF] {
        let turn = |(t, f): (usize, &[u32; 3])| match mask >> t & 1 {
            1 => [f[0], f[2], f[1]],
            _ => *f,
        };
        let faces: Vec<[u32; 3]> = faces.iter().enumerate().map(turn).collect();
        let done = repair(on, &points, &faces, &[], &edges)?;
        equal(
            "crowded",
            &[done.counts.crowded, done.counts.copies],
            &[3, 4],
        )?;
        if !validate::is_closed(&done.triangles) {
            return Err(format!("{mask:x}: a body is open"));
        }
        check(on, &points, &faces, &[], &edges)?;
    }
    // A strip of five triangles with one side.
    let ring: Vec<DVec3> = (0..5)
        .map(|i| DVec3::new(f64::from(i), (i * i).into(), (i % 2).into()))
        .collect();
    let strip = [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 0], [4, 0, 1]];
    let cut = Steps {
        cut: true,
        ..ORIENT
    };
    let done = repair(on, &ring, &strip, &[], &cut)?;
    let counts = done.counts;
    equal(
        "cut",
        &[counts.cut, counts.one_sided, counts.copies],
        &[1, 0, 2],
    )?;
    check(on, &ring, &strip, &[], &cut)?;
    // A vertex beyond the far side of its triangle, in the plane; the last ones have no face, and a segment is no edge.
    let at = [(0, 0), (4, 0), (2, 3), (2, -6), (2, -1), (9, 9), (8, 8)];
    let plane = at.map(|(x, y)| DVec3::new(x.into(), y.into(), 0.0));
    let folded = [[4, 0, 1], [0, 3, 1], [4, 1, 2], [4, 2, 0]];
    let steps = Steps {
        folded: true,
        unused: true,
        ..ORIENT
    };
    let done = repair(on, &plane, &folded, &[], &steps)?;
    equal(
        "face",
        &done.triangles,
        &[[4, 0, 3], [4, 3, 1], [4, 1, 2], [4, 2, 0]],
    )?;
    equal("vertex", &done.vertices, &[0, 1, 2, 3, 4])?;
    check(on, &plane, &folded, &[], &steps)?;
    let segments = [[5, 0], [0, 1]].map(|ends| Segment { ends, marker: 1 });
    let done = repair(on, &plane, &folded, &segments, &steps)?;
    equal("vertex", &done.vertices, &[0, 1, 2, 3, 4])?;
    // Its side is a segment: it goes.
    let counts = done.counts;
    equal(
        "count",
        &[
            counts.unfolded,
            counts.dropped_folded,
            counts.unused,
            counts.segments,
        ],
        &[0, 1, 2, 1],
    )
}
