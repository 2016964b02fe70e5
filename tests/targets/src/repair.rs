//! Repair of soups of triangles: its promises, plain loops, and a second run that changes nothing.

use trioxide::glam::DVec3;
use trioxide::repair::Steps;
use trioxide_verify::selftest::repair::{check, some_segments};

use crate::bytes::Choices;
use crate::{Pipeline, cpu};

pub const PIPELINES: &[Pipeline] = &[("repair", repair)];

fn repair(bytes: &[u8]) {
    let choices = &mut Choices::new(bytes);
    let n = choices.between(1, 40);
    let (steps, scale) = (choices.between(1, 8) as u8, choices.scale());
    let points: Vec<DVec3> = (0..n)
        .map(|_| DVec3::from_array([0; 3].map(|_| f64::from(choices.byte() % steps))) * scale)
        .collect();
    let mut faces: Vec<[u32; 3]> = (0..choices.below(60))
        .map(|_| [0; 3].map(|_| choices.below(n) as u32))
        .collect();
    if choices.seldom(16) {
        faces.push([0; 3].map(|_| choices.vertex(n)));
    }
    let is_right = faces.as_flattened().iter().all(|&v| (v as usize) < n);
    let mut is_chosen = || choices.below(2) == 0;
    let steps = Steps {
        repeated: is_chosen(),
        degenerate: is_chosen().then(|| [0.0, 0.05, 0.3][steps as usize % 3]),
        edges: is_chosen(),
        vertices: is_chosen(),
        orient: is_chosen(),
        folded: false,
        holes: is_chosen().then_some(9),
        components: is_chosen().then_some(3),
        cut: is_chosen(),
        flip: false,
        unused: is_chosen(),
    };
    let segments = if is_right {
        some_segments(&faces)
    } else {
        Vec::new()
    };
    match check(cpu(), &points, &faces, &segments, &steps) {
        Ok(()) => assert!(is_right, "a wrong vertex is repaired"),
        Err(error) => assert!(!is_right && error.contains("has vertex"), "{error}"),
    }
}
