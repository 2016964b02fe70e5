//! Longest-edge bisection with many rounds and random marks, against the sequential reference and the rules of
//! `validate::refine`.

use glam::{DVec2, Vec2};
use proptest::prelude::*;
use trioxide::device::Device;
use trioxide::generate;
use trioxide::mesh::{Simplices, Triangulation};
use trioxide::refine::{DeviceEdgeMesh, End, Error, Marking, Options, refine};
use trioxide_reference::refine::SerialRun;
use trioxide_verify::validate;

/// A triangulation with holes, islands and loose vertices: a third of the triangles is removed.
fn with_holes(n: usize, seed: u64) -> Triangulation {
    let on = Device::cpu(None).expect("threads");
    let mut mesh = generate::random(&on, n, seed).expect("enough points");
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
        let flags = (0..mesh.triangles.len()).map(|t| marks[t % marks.len()]).collect();
        let options = Options { marking: Marking::Flags(flags), rounds, ..Options::default() };
        agrees(&mesh, &options, threads)?;
    }

    #[test]
    fn dorfler_marking_takes_the_fewest_that_suffice(
        values in prop::collection::vec(0.0f64..10.0, 1..200),
        fraction in 0.0f64..1.0,
    ) {
        let Ok(Marking::Flags(flags)) = Marking::dorfler(&values, fraction, Simplices::Triangles) else {
            return Err(TestCaseError::fail("not marked"));
        };
        let is_marked = |t: usize| flags[t];
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

fn cloud() -> Triangulation {
    Triangulation {
        points: vec![DVec2::ZERO, DVec2::X, DVec2::Y],
        ..Triangulation::default()
    }
}

#[test]
fn meshes_without_triangles_have_nothing_to_refine() {
    let on = Device::cpu(Some(1)).unwrap();
    for mesh in [cloud(), Triangulation::default()] {
        for marking in [Marking::All, Marking::Area(0.0)] {
            let options = Options {
                marking,
                rounds: 3,
                history: true,
                ..Options::default()
            };
            let mut resident = DeviceEdgeMesh::<DVec2>::upload(&on, &mesh).unwrap();
            let end = refine(&on, &mut resident, &options).unwrap();
            assert_eq!(end, End::NothingMarked);
            assert_eq!(resident.triangulation(&on, None).unwrap(), mesh);
            let serial = SerialRun::<DVec2>::of_triangulation(&mesh, &options).unwrap();
            assert_eq!(serial.end, End::NothingMarked);
        }
    }
}

#[test]
fn markings_without_meaning_are_refused() {
    let on = Device::cpu(Some(1)).unwrap();
    let mesh = generate::random(&on, 50, 1).unwrap();
    for (marking, text) in [
        (Marking::Disk([0.0, 0.0, -1.0]), "a disk of radius -1"),
        (
            Marking::Disk([0.0, f64::NAN, 1.0]),
            "a disk of radius 1 at 0, NaN",
        ),
        (
            Marking::Box([1.0, 0.0, 0.0, 1.0]),
            "a box from 1, 0 to 0, 1",
        ),
        (Marking::Area(f64::NAN), "an area of NaN"),
        (Marking::Area(-1.0), "an area of -1"),
        (Marking::Angle(61.0), "an angle of 61"),
        (Marking::Fraction(1.5), "a fraction of 1.5"),
    ] {
        let options = Options {
            marking,
            ..Options::default()
        };
        let mut resident = DeviceEdgeMesh::<DVec2>::upload(&on, &mesh).unwrap();
        let error = refine(&on, &mut resident, &options).unwrap_err();
        assert!(matches!(error, Error::Marking { .. }), "{error}");
        assert!(error.to_string().starts_with(text), "{error}");
        assert!(SerialRun::<DVec2>::of_triangulation(&mesh, &options).is_err());
    }
}

/// It did not end: the parts of such a triangle are one without an area, and the triangle again.
#[test]
fn an_area_that_the_precision_does_not_reach_ends_at_the_first_degenerate_triangle() {
    let on = Device::cpu(Some(1)).unwrap();
    let e = 1e-6;
    let mesh = Triangulation {
        points: [(1.0, 1.0), (1.0 + e, 1.0), (1.0, 1.0 + e)]
            .map(DVec2::from)
            .to_vec(),
        triangles: vec![[0, 1, 2]],
        ..Triangulation::default()
    };
    let options = Options {
        marking: Marking::Area(1e-30),
        rounds: u32::MAX,
        ..Options::default()
    };
    let mut resident = DeviceEdgeMesh::<Vec2>::upload(&on, &mesh).unwrap();
    let error = refine(&on, &mut resident, &options).unwrap_err();
    assert!(matches!(error, Error::Degenerate { .. }), "{error}");
    let serial = SerialRun::<Vec2>::of_triangulation(&mesh, &options).map(|run| run.end);
    assert_eq!(serial.unwrap_err().to_string(), error.to_string());
}
