//! A wrong index on a GPU, in a process of its own: the process loses the GPU by it.

use std::io::Write as _;

use glam::DVec2;
use own_kernels::listed_distances;
use trioxide_device::{Device, Error};

#[test]
fn a_point_that_is_not_there_is_named_on_a_gpu_too() {
    let on = match Device::cuda(0) {
        Err(Error::NoDevice(reason)) => {
            writeln!(
                std::io::stderr(),
                "skipped: a wrong index on a GPU: {reason}"
            )
            .expect("standard error is open");
            return;
        }
        on => on.unwrap(),
    };
    let points = on.upload(&[DVec2::ZERO; 5]).unwrap();
    let listed = on.upload(&[4u32, 5, 0]).unwrap().cast();
    let error = listed_distances(&on, &points, &listed, DVec2::ZERO).unwrap_err();
    assert_eq!(
        error.to_string(),
        "kernel gather_distances: index 5 of array `distances`, which has 5 elements"
    );
    assert!(matches!(error, Error::Launch(_)));
    // Later calls are errors too, not wrong results.
    assert!(on.download(&points).is_err());
}
