//! Repair: promises on random soups, and any number of threads, from the host's arrays and from a device's.

use glam::DVec3;
use gpu::ids::Vertex;
use proptest::collection::vec;
use proptest::prelude::*;
use trioxide::device::Device;
use trioxide::repair::{Steps, repair, repair_on_device};
use trioxide_verify::selftest::repair::check;

fn steps() -> impl Strategy<Value = Steps> {
    let flags = any::<[bool; 6]>();
    let ratio = prop_oneof![Just(None), Just(Some(0.0)), (0.0f64..0.2).prop_map(Some)];
    let number = || prop_oneof![Just(None), (3u32..12).prop_map(Some)];
    (flags, ratio, number(), number()).prop_map(|(flags, degenerate, holes, components)| Steps {
        repeated: flags[0],
        degenerate,
        edges: flags[1],
        vertices: flags[2],
        orient: flags[3],
        folded: false,
        cut: flags[4],
        unused: flags[5],
        flip: false,
        holes,
        components,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Points of a lattice, so that faces coincide and degenerate: the promises hold, and every device has one result.
    #[test]
    fn any_soup(
        points in vec(any::<[u8; 3]>(), 4..40),
        faces in vec(any::<[u32; 3]>(), 0..80),
        steps in steps(),
    ) {
        let n = points.len() as u32;
        let points: Vec<DVec3> =
            points.iter().map(|&p| DVec3::from_array(p.map(|x| f64::from(x % 4)))).collect();
        let faces: Vec<[u32; 3]> = faces.iter().map(|face| face.map(|v| v % n)).collect();
        let on = Device::cpu(Some(2)).unwrap();
        check(&on, &points, &faces, &steps).unwrap();
        let expected = repair(&Device::cpu(Some(1)).unwrap(), &points, &faces, &[], &steps).unwrap();
        prop_assert_eq!(&repair(&on, &points, &faces, &[], &steps).unwrap(), &expected);
        let there = (on.upload(&points).unwrap(), on.upload(&faces).unwrap().cast::<[Vertex; 3]>());
        let repaired = repair_on_device(&on, &there.0, &there.1, &[], &steps).unwrap();
        let carried = repaired.of_vertices(&on, &there.0).unwrap();
        let carried = on.download(&carried).unwrap();
        let moved = expected.vertices.iter().map(|&v| points[v as usize]);
        prop_assert_eq!(carried, moved.collect::<Vec<_>>());
        prop_assert_eq!(&repaired.download(&on).unwrap(), &expected);
    }
}
