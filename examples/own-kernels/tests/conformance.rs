//! Compares the kernels with plain loops, on every device of this machine; then checks the rules for all kernels.

mod compared;

use glam::DVec2;
use own_kernels::{
    PTX, Side, Summaries, count_classes, far_points, listed_distances, print_far, select_points,
    summarize_tiles,
};
use trioxide_device::{Device, conformance};

/// The devices that can run the kernels, and CPUs with few threads.
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
    let (at, listed_there) = (points, on.upload(&listed).unwrap());
    let points = on.upload(&at).unwrap();
    let ours = listed_distances(on, &points, &listed_there.cast(), centre).unwrap();
    assert_eq!(ours, expected, "{on:?}, {count} points");
    // Distances whose sum depends on the order.
    let points: Vec<DVec2> = at.iter().map(|&point| point * 1.1).collect();
    for width in [32, 96, 256] {
        if count > 0 {
            compare_tiles(on, &points, centre, width);
        }
    }
}

/// Values of rows of 32 are added at distances 16, 8, 4, 2 and 1, then the sums of the rows.
fn sum(values: &[f64]) -> f64 {
    let row = |values: &mut [f64; 32]| {
        for distance in [16, 8, 4, 2, 1] {
            for lane in 0..distance {
                values[lane] += values[lane + distance];
            }
        }
        values[0]
    };
    let mut sums = [-0.0; 32];
    for (sum, values) in sums.iter_mut().zip(values.chunks(32)) {
        let mut of_row = [0.0; 32];
        of_row[..values.len()].copy_from_slice(values);
        *sum = row(&mut of_row);
    }
    row(&mut sums)
}

fn compare_tiles(on: &Device, points: &[DVec2], centre: DVec2, width: usize) {
    let distances: Vec<f64> = points
        .iter()
        .map(|&p| (p - centre).length_squared())
        .collect();
    let difference = |distance: &f64| (distance - 1000.0) as i32;
    let ascents = |row: &[f64]| row.windows(2).filter(|pair| pair[1] > pair[0]).count() as u32;
    let mut expected = Summaries {
        sums: Vec::new(),
        nearest: Vec::new(),
        differences: Vec::new(),
        whole: Vec::new(),
        ascents: Vec::new(),
    };
    for (i, tile) in distances.chunks(width).enumerate() {
        let nearest = (0..tile.len())
            .min_by(|&a, &b| tile[a].total_cmp(&tile[b]))
            .unwrap();
        let differences = || tile.iter().map(difference);
        expected.sums.push(sum(tile));
        expected.nearest.push((i * width + nearest) as u32);
        expected
            .differences
            .push([differences().min().unwrap(), differences().max().unwrap()]);
        expected
            .whole
            .push(tile.iter().map(|&distance| distance as u64).sum());
        expected.ascents.push(tile.chunks(32).map(ascents).sum());
    }
    let ours = summarize_tiles(on, &on.upload(points).unwrap(), centre, width).unwrap();
    assert_eq!(
        ours,
        expected,
        "{on:?}, {} points, {width} a tile",
        points.len()
    );
}

/// The line of the kernels' source that has a text.
fn line_of(text: &str) -> usize {
    let mut lines = include_str!("../kernels/src/lib.rs").lines();
    1 + lines.position(|line| line.contains(text)).unwrap()
}

/// The same lines on every device, in the order of the points.
fn compare_prints(on: &Device, count: u32) {
    let points: Vec<DVec2> = (0..count)
        .map(|i| DVec2::new(f64::from(i % 1000), 0.5))
        .collect();
    on.keep_prints(true);
    let uploaded = on.upload(&points).unwrap();
    print_far(on, &uploaded, DVec2::ZERO, 996_004.0).unwrap();
    let lines: Vec<String> = on.take_prints().iter().map(ToString::to_string).collect();
    on.keep_prints(false);
    let far = points
        .iter()
        .enumerate()
        .filter(|(_, point)| point.x >= 998.0);
    let line = |i: usize, print: &str, text: String| {
        let line = line_of(print);
        format!("kernel print_far: index {i}: kernels/src/lib.rs:{line}: {text}")
    };
    let expected: Vec<String> = far
        .flat_map(|(i, point)| {
            let (distance, over) = (point.length_squared(), point.length_squared() - 996_004.0);
            let first = format!("{i} is {distance:?} from the centre");
            let second = format!("which is {over:?} too far: true");
            [
                line(i, "from the centre\"", first),
                line(i, "too far: {}\"", second),
            ]
        })
        .collect();
    assert_eq!(lines, expected, "{on:?}, {count} points");
}

/// A block with more shared memory than the default limit; skipped on a device without enough.
fn compare_classes(on: &Device) {
    let values: Vec<u32> = (0..9000u32).map(|i| (i * i).wrapping_mul(7919)).collect();
    let classes = |values: &[u32]| {
        let classes: std::collections::BTreeSet<u32> = values.iter().map(|v| v % 16384).collect();
        classes.len() as u32
    };
    let expected: Vec<u32> = values.chunks(4096).map(classes).collect();
    match count_classes(on, &on.upload(&values).unwrap()) {
        Err(error) if error.to_string().contains("bytes of shared memory") => {}
        ours => assert_eq!(ours.unwrap(), expected, "{on:?}"),
    }
}

/// On an emulated GPU of compute capability 7.5.
#[test]
fn a_block_with_more_shared_memory_than_the_device_has_is_an_error_with_both_numbers() {
    if PTX.is_empty() {
        return;
    }
    let on = Device::emulated_with(true, 64 << 10).unwrap();
    let error = count_classes(&on, &on.upload(&[1]).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "kernel count_classes: a block needs 65792 bytes of shared memory, but the device has 65536 for one: use another \
         device, or a smaller struct of shared memory"
    );
    let on = Device::emulated_with(true, 99 << 10).unwrap();
    assert_eq!(
        count_classes(&on, &on.upload(&[1, 5, 16385]).unwrap()).unwrap(),
        [2]
    );
}

/// Not on a GPU, which the process loses by this.
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
        let mut expected =
            "kernel gather_distances: index 5 of array `distances`, which has 5 elements"
                .to_owned();
        // PTX that was built by `TRIOXIDE_PTX=lines`.
        if on.is_gpu() && PTX.text().contains("\t.loc\t") {
            let line = line_of("gathered.set(place, distances.at(");
            expected += &format!(" (kernels/src/lib.rs:{line})");
        }
        assert_eq!(error.to_string(), expected);
    }
}

/// With a radius that many points have.
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
        compare_classes(&on);
        for count in [0, 999, 50_000] {
            compare_prints(&on, count);
        }
        conformance::check_launched(&on, PTX).unwrap();
    }
}

/// For a build with checks; debug builds of the CPU have them.
#[test]
#[cfg(debug_assertions)]
fn a_broken_assertion_names_kernel_and_point() {
    let on = Device::cpu(Some(1)).unwrap();
    let mut points = vec![DVec2::ZERO; 40];
    points[33] = DVec2::NAN;
    let points = on.upload(&points).unwrap();
    let run = || summarize_tiles(&on, &points, DVec2::ONE, 32);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
    let message = *panic.downcast::<String>().unwrap();
    assert!(
        message.starts_with("kernel summarize_tiles: index 33: ")
            && message.ends_with(": distances are not negative"),
        "{message}"
    );
}

#[test]
fn ptx_keeps_the_rules() {
    if !PTX.is_empty() {
        assert_eq!(
            conformance::entries(PTX),
            [
                "count_classes",
                "gather_distances",
                "is_far",
                "print_far",
                "reduce_tiles",
                "scale_and_add",
                "select_points_closed_false",
                "select_points_closed_true",
                "square_distances",
                "sum_blocks",
                "summarize_tiles_width_256",
                "summarize_tiles_width_32",
                "summarize_tiles_width_96"
            ]
            .into()
        );
    }
    conformance::check_rules(PTX, "").unwrap();
}
