//! Data that other processes send to a share of a round: edges and longest sides. Wrong data are errors, and any valid
//! data leave a mesh.

use glam::DVec2;
use trioxide::half_edges::DeviceTriangulation;
use trioxide::refine::{DividedShare, EdgeShare};
use trioxide::{Device, Error, generate};

fn share(on: &Device) -> EdgeShare<DVec2> {
    let mesh = generate::random(on, 1000, 1).unwrap();
    let mesh = DeviceTriangulation::upload(on, &mesh).unwrap();
    EdgeShare::of_triangulation(on, mesh).unwrap().0
}

/// The element and the rule of an error.
#[track_caller]
fn invalid(result: trioxide::Result<()>) -> (String, String) {
    match result {
        Err(Error::Invalid { element, rule }) => (element, rule),
        other => panic!("{other:?}"),
    }
}

/// Counts and divides; the triangles of the result have the vertices of the mesh, and its edges two triangles at most.
fn check_divided(on: &Device, mut share: EdgeShare<DVec2>) -> usize {
    let before = share.longest(on).unwrap().len();
    share.count(on).unwrap();
    let divided: DividedShare<DVec2> = share.divide(on).unwrap();
    let pieces = divided.download(on, true).unwrap();
    let vertices = pieces.points.len() as u32;
    assert!(pieces.corners.iter().all(|&corner| corner < vertices));
    let mut sides = pieces.sides.clone();
    sides.sort_unstable();
    assert!(sides.windows(2).all(|pair| pair[0] < pair[1]));
    for triangle in pieces.corners.as_chunks::<3>().0 {
        let [a, b, c] = *triangle;
        assert!(a != b && b != c && c != a);
    }
    pieces.corners.len() / 3 - before
}

#[test]
fn an_edge_that_the_part_lacks_is_an_error() {
    let on = Device::cpu(Some(1)).unwrap();
    let mut share = share(&on);
    let edges = share.edges() as u32;
    // Twice the last but one is 0 modulo 2^32.
    for wrong in [edges, 2 * edges, 1 << 31, u32::MAX] {
        let (element, rule) = invalid(share.follow(&on, &[0, wrong]));
        assert_eq!(element, format!("divided edge {wrong}"));
        assert_eq!(rule, format!("is not among the {edges} edges of the part"));
    }
    // Nothing was divided.
    assert!(share.divided(&on).unwrap().iter().all(|&word| word == 0));
    assert_eq!(check_divided(&on, share), 0);
}

#[test]
fn any_edges_of_the_part_leave_a_conforming_mesh() {
    let on = Device::cpu(Some(1)).unwrap();
    let edges = share(&on).edges() as u32;
    for step in [1, 2, 3, 32, edges] {
        let mut share = share(&on);
        let chosen: Vec<u32> = (0..edges).step_by(step as usize).collect();
        share.follow(&on, &chosen).unwrap();
        let divided = share.divided(&on).unwrap();
        let is_divided = |&e: &u32| divided[e as usize / 32] >> (e % 32) & 1 != 0;
        assert!(chosen.iter().all(is_divided));
        assert!(check_divided(&on, share) >= chosen.len());
    }
}

#[test]
fn longest_sides_are_checked_and_any_three_leave_a_conforming_mesh() {
    let on = Device::cpu(Some(1)).unwrap();
    let mut share = share(&on);
    let edges = share.edges() as u32;
    let longest = share.longest(&on).unwrap();
    let n = longest.len();

    let (element, rule) = invalid(share.set_longest(&on, &longest[1..]));
    assert_eq!(element, "the list of longest sides");
    assert_eq!(
        rule,
        format!("has {} entries; the part has {n} triangles", n - 1)
    );
    let mut wrong = longest.clone();
    wrong[7] = 3;
    wrong[9] = 255;
    let (element, rule) = invalid(share.set_longest(&on, &wrong));
    assert_eq!(
        (&*element, &*rule),
        ("triangle 7", "has sides 0 to 2, not 3")
    );
    assert_eq!(share.longest(&on).unwrap(), longest);

    // Divided edges lead along the sides of before: they are forgotten with these.
    share.follow(&on, &[edges - 1]).unwrap();
    let others: Vec<u8> = (0..n).map(|t| (t * 7 % 3) as u8).collect();
    share.set_longest(&on, &others).unwrap();
    assert!(share.divided(&on).unwrap().iter().all(|&word| word == 0));
    share.follow(&on, &[0, edges / 2]).unwrap();
    assert!(check_divided(&on, share) >= 2);
}

#[test]
#[should_panic = "edges are divided before the count"]
fn edges_cannot_follow_the_count() {
    let on = Device::cpu(Some(1)).unwrap();
    let mut share = share(&on);
    share.count(&on).unwrap();
    let _ = share.follow(&on, &[0]);
}

#[test]
#[should_panic = "edges are counted once"]
fn edges_cannot_be_counted_twice() {
    let on = Device::cpu(Some(1)).unwrap();
    let mut share = share(&on);
    share.follow(&on, &[0]).unwrap();
    share.count(&on).unwrap();
    let _ = share.count(&on);
}
