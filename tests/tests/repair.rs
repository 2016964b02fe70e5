//! Repair: promises on random soups, and any number of threads, from the host's arrays and from a device's.

use glam::DVec3;
use gpu::ids::Vertex;
use gpu::orientation::is_counter_clockwise;
use proptest::collection::vec;
use proptest::prelude::*;
use trioxide::device::Device;
use trioxide::repair::{Steps, repair, repair_on_device};
use trioxide_verify::selftest::repair::{check, some_segments};

fn steps() -> impl Strategy<Value = Steps> {
    let flags = any::<[bool; 7]>();
    let ratio = prop_oneof![Just(None), Just(Some(0.0)), (0.0f64..0.5).prop_map(Some)];
    let number = || prop_oneof![Just(None), (3u32..12).prop_map(Some)];
    (flags, ratio, number(), number()).prop_map(|(flags, degenerate, holes, components)| Steps {
        repeated: flags[0],
        degenerate,
        edges: flags[1],
        vertices: flags[2],
        orient: flags[3] || flags[6],
        folded: flags[6],
        cut: flags[4],
        unused: flags[5],
        flip: false,
        holes,
        components,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Points of a lattice, so that faces coincide and degenerate, in the plane or in space: the promises hold, a
    /// second run changes nothing, segments stay edges, and every device has one result.
    #[test]
    fn any_soup(
        points in vec(any::<[u8; 3]>(), 4..40),
        faces in vec(any::<[u32; 3]>(), 0..80),
        is_planar in any::<bool>(),
        steps in steps(),
    ) {
        let n = points.len() as u32;
        let z = if is_planar { 1 } else { 4 };
        let point = |[x, y, up]: [u8; 3]| DVec3::from_array([x % 4, y % 4, up % z].map(f64::from));
        let points: Vec<DVec3> = points.into_iter().map(point).collect();
        let faces: Vec<[u32; 3]> = faces.iter().map(|face| face.map(|v| v % n)).collect();
        let segments = some_segments(&faces);
        let on = Device::cpu(Some(2)).unwrap();
        check(&on, &points, &faces, &segments, &steps).unwrap();
        let expected = repair(&Device::cpu(Some(1)).unwrap(), &points, &faces, &segments, &steps).unwrap();
        prop_assert_eq!(&repair(&on, &points, &faces, &segments, &steps).unwrap(), &expected);
        let there = (on.upload(&points).unwrap(), on.upload(&faces).unwrap().cast::<[Vertex; 3]>());
        let repaired = repair_on_device(&on, &there.0, &there.1, &segments, &steps).unwrap();
        let carried = repaired.of_vertices(&on, &there.0).unwrap();
        let carried = on.download(&carried).unwrap();
        let moved = expected.vertices.iter().map(|&v| points[v as usize]);
        prop_assert_eq!(carried, moved.collect::<Vec<_>>());
        prop_assert_eq!(&repaired.download(&on).unwrap(), &expected);
    }

    /// Counter-clockwise faces of the plane, in any position: no treatment of degenerate ones turns one over.
    #[test]
    fn no_face_turns_over(
        points in vec(any::<[u8; 2]>(), 4..30),
        faces in vec(any::<[u32; 3]>(), 1..60),
        steps in steps(),
        ratio in 0.0f64..0.5,
        grid in 4u8..60,
    ) {
        let n = points.len() as u32;
        let point = |[x, y]: [u8; 2]| DVec3::new(f64::from(x % grid) * 0.1, f64::from(y % grid) * 0.1, 0.0);
        let points: Vec<DVec3> = points.into_iter().map(point).collect();
        let is_clockwise = |face: [u32; 3], points: &[DVec3]| {
            let [a, b, c] = face.map(|v| points[v as usize].truncate());
            is_counter_clockwise(a, c, b)
        };
        let turned = |face: &[u32; 3]| {
            let face = face.map(|v| v % n);
            if is_clockwise(face, &points) { [face[0], face[2], face[1]] } else { face }
        };
        let faces: Vec<[u32; 3]> = faces.iter().map(turned).collect();
        let steps = Steps { degenerate: Some(ratio), orient: false, holes: None, folded: false, ..steps };
        let on = Device::cpu(Some(1)).unwrap();
        let done = repair(&on, &points, &faces, &some_segments(&faces), &steps).unwrap();
        let points: Vec<DVec3> = done.vertices.iter().map(|&v| points[v as usize]).collect();
        for &face in &done.triangles {
            prop_assert!(!is_clockwise(face, &points), "{:?}", face);
        }
    }
}
