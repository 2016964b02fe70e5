//! The kernels against plain loops, on every device of this machine; then the rules that all kernels keep.

mod compared;

use glam::DVec2;
use own_kernels::{PTX, Side, far_points, listed_distances, select_points};
use trioxide_device::{Device, conformance};

/// The devices that can run the kernels, and CPUs by few threads.
fn devices() -> Vec<Device> {
    let mut devices = conformance::devices(PTX).unwrap();
    devices.extend([1, 3].map(|threads| Device::cpu(Some(threads)).unwrap()));
    devices
}

fn compare(on: &Device, count: usize) {
    let points: Vec<DVec2> = (0..count as u32)
        .map(|i| DVec2::new(f64::from(i % 97), f64::from(i * 7 % 101)))
        .collect();
    let (centre, least) = (DVec2::new(50.0, 50.0), 30.0);
    let ours = far_points(on, &on.upload(&points).unwrap(), centre, least).unwrap();
    let distance = |point: &DVec2| (*point - centre).length_squared();
    let far: Vec<u32> = (0..count as u32)
        .filter(|&i| distance(&points[i as usize]) >= least * least)
        .collect();
    let largest = points.iter().map(distance).fold(0.0, f64::max).sqrt();
    assert_eq!(
        on.download_rows::<_, u32>(&ours.points).unwrap(),
        far,
        "{on:?}, {count} points"
    );
    assert_eq!(ours.largest_distance, largest, "{on:?}, {count} points");
    compare_sides(on, &points, centre, &distance);
    let listed: Vec<u32> = (0..count as u32).filter(|i| i % 3 == 0).rev().collect();
    let expected: Vec<f64> = listed
        .iter()
        .map(|&i| distance(&points[i as usize]))
        .collect();
    let (points, listed) = (on.upload(&points).unwrap(), on.upload(&listed).unwrap());
    let ours = listed_distances(on, &points, &listed.cast(), centre).unwrap();
    assert_eq!(ours, expected, "{on:?}, {count} points");
}

/// Not on a GPU, which is lost to the process then.
#[test]
fn a_point_that_is_not_there_is_an_error_that_names_it() {
    let mut devices = vec![Device::cpu(None).unwrap()];
    if !PTX.is_empty() {
        devices.push(Device::emulated(true).unwrap());
    }
    for on in devices {
        let points = on.upload(&[DVec2::ZERO; 5]).unwrap();
        let listed = on.upload(&[4u32, 5, 0]).unwrap().cast();
        let error = listed_distances(&on, &points, &listed, DVec2::ZERO).unwrap_err();
        assert_eq!(
            error.to_string(),
            "launch: kernel gather_distances: index 5 of array `distances`, which has 5 elements"
        );
    }
}

/// Of a radius that many points have.
fn compare_sides(on: &Device, points: &[DVec2], centre: DVec2, distance: &dyn Fn(&DVec2) -> f64) {
    let radius = 25.0;
    let uploaded = on.upload(points).unwrap();
    for (side, is_closed) in [
        (Side::Near, false),
        (Side::Near, true),
        (Side::Far, false),
        (Side::Far, true),
    ] {
        let is_selected = |&i: &u32| {
            let distance = distance(&points[i as usize]);
            match (side, is_closed) {
                (Side::Near, false) => distance < radius * radius,
                (Side::Near, true) => distance <= radius * radius,
                (Side::Far, false) => distance > radius * radius,
                (Side::Far, true) => distance >= radius * radius,
            }
        };
        let expected: Vec<u32> = (0..points.len() as u32).filter(is_selected).collect();
        let ours = select_points(on, &uploaded, centre, radius, side, is_closed).unwrap();
        assert_eq!(
            on.download_rows::<_, u32>(&ours).unwrap(),
            expected,
            "{on:?}, {} points, {side:?}, {is_closed}",
            points.len()
        );
    }
}

#[test]
fn kernels_give_what_plain_loops_give() {
    for on in devices() {
        for count in [0, 1, 32, 255, 256, 257, 10_000] {
            compare(&on, count);
            compared::compare(&on, count);
        }
        conformance::check_launched(&on, PTX).unwrap();
    }
}

#[test]
fn ptx_keeps_the_rules() {
    if !PTX.is_empty() {
        assert_eq!(
            conformance::entries(PTX),
            [
                "gather_distances",
                "is_far",
                "reduce_tiles",
                "scale_and_add",
                "select_points_closed_false",
                "select_points_closed_true",
                "square_distances",
                "sum_blocks"
            ]
            .into()
        );
    }
    conformance::check_rules(PTX, "").unwrap();
}
