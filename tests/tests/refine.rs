//! Longest-edge bisection with many rounds and random marks, against the sequential reference and the rules of
//! `validate::refine`.

use glam::DVec2;
use proptest::prelude::*;
use trioxide::device::Device;
use trioxide::generate;
use trioxide::mesh::Triangulation;
use trioxide::refine::{DeviceEdgeMesh, End, Marking, Options, SerialRun, refine};
use trioxide::validate;

/// A triangulation with holes, islands and loose vertices: a third of the triangles is removed.
fn with_holes(n: usize, seed: u64) -> Triangulation {
    let mut mesh = generate::random(n, seed).expect("enough points");
    let mut i = seed;
    mesh.triangles.retain(|_| {
        i = i
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        i >> 33 & 0xFF > 0x55
    });
    mesh
}

fn agrees(mesh: &Triangulation, options: &Options, threads: usize) -> Result<(), TestCaseError> {
    let on = Device::cpu(Some(threads)).expect("threads");
    let expected = SerialRun::<DVec2>::of_triangulation(mesh, options).expect("a valid mesh");
    let mut ours = DeviceEdgeMesh::<DVec2>::upload(&on, mesh).expect("a valid mesh");
    let end = refine(&on, &mut ours, options).expect("a valid mesh");
    prop_assert_eq!(end, expected.end);
    let fine = ours.download(&on).expect("the CPU");
    prop_assert_eq!(&fine, &expected.mesh);
    prop_assert_eq!(ours.rounds(&on).expect("the CPU"), expected.rounds.clone());
    validate::refine::conforming(&fine).expect("a conforming mesh");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn random_marks_give_the_meshes_of_the_reference(
        n in 4usize..120,
        seed in 0u64..1000,
        marks in prop::collection::vec(any::<bool>(), 240),
        rounds in 1u32..6,
        threads in 1usize..4,
    ) {
        let mesh = with_holes(n, seed);
        let flags = (0..mesh.triangles.len()).map(|t| marks[t % marks.len()]);
        let options = Options { marking: Marking::flags(flags), rounds, ..Options::default() };
        agrees(&mesh, &options, threads)?;
    }

    #[test]
    fn dorfler_marking_takes_the_fewest_that_suffice(
        values in prop::collection::vec(0.0f64..10.0, 1..200),
        fraction in 0.0f64..1.0,
    ) {
        let Ok(Marking::Triangles(flags)) = Marking::dorfler(&values, fraction) else {
            return Err(TestCaseError::fail("not marked"));
        };
        let is_marked = |t: usize| flags.contains(t);
        let marked: Vec<f64> = (0..values.len()).filter(|&t| is_marked(t)).map(|t| values[t]).collect();
        let least = marked.iter().copied().fold(f64::MAX, f64::min);
        let most_left = (0..values.len()).filter(|&t| !is_marked(t)).map(|t| values[t]).fold(0.0, f64::max);
        let (sum, total): (f64, f64) = (marked.iter().sum(), values.iter().sum());
        prop_assert!(sum >= fraction * total * (1.0 - 1e-12));
        prop_assert!(marked.is_empty() || sum - least < fraction * total * (1.0 + 1e-12));
        prop_assert!(least >= most_left);
    }
}

#[test]
fn ten_rounds_around_a_point_conform() {
    let mesh = with_holes(3000, 5);
    let options = Options {
        marking: Marking::Disk([0.4, 0.6, 0.05]),
        rounds: 10,
        history: true,
        ..Options::default()
    };
    let on = Device::cpu(None).expect("threads");
    let mut ours = DeviceEdgeMesh::<DVec2>::upload(&on, &mesh).expect("a valid mesh");
    let end = refine(&on, &mut ours, &options).expect("a valid mesh");
    assert_eq!(end, End::Rounds);
    let rounds = ours.rounds(&on).expect("the CPU");
    let fine = ours.download(&on).expect("the CPU");
    validate::refine::conforming(&fine).expect("conforming");
    let mut after = fine.clone();
    for level in (0..10).rev() {
        ours.coarsen(&on, level).expect("history");
        let before = ours.download(&on).expect("the CPU");
        validate::refine::refinement(&before, &after, &rounds[level]).expect("one level");
        after = before;
    }
    validate::refine::area(&after, &fine, 10).expect("the same area");
    validate::refine::angles(&after, &fine, 10).expect("half of the smallest angle");
}
