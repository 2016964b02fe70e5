//! The kernels against plain loops, on every device of this machine; then the rules that all kernels keep.

use glam::DVec2;
use own_kernels::{PTX, far_points};
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
}

#[test]
fn kernels_give_what_plain_loops_give() {
    for on in devices() {
        for count in [0, 1, 32, 255, 256, 257, 10_000] {
            compare(&on, count);
        }
        conformance::check_launched(&on, PTX).unwrap();
    }
}

#[test]
fn ptx_keeps_the_rules() {
    if !PTX.is_empty() {
        assert_eq!(
            conformance::entries(PTX),
            ["reduce_tiles", "select_far_points", "square_distances"].into()
        );
    }
    conformance::check_rules(PTX, "").unwrap();
}
