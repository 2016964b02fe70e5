use proptest::prelude::*;

use super::*;
use crate::device::Device;
use crate::half_edges::DeviceTriangulation;
use crate::mesh::Triangulation;
use crate::{generate, polylla};

fn polygon(corners: &[(f64, f64)]) -> PolygonMesh {
    let mut mesh = PolygonMesh {
        points: corners.iter().map(|&(x, y)| DVec2::new(x, y)).collect(),
        ..Default::default()
    };
    let all: Vec<u32> = (0..corners.len() as u32).collect();
    mesh.polygons.push(&all);
    mesh
}

fn one(d: Distribution) -> f64 {
    assert_eq!((d.min, d.mean), (d.max, d.max));
    d.max
}

#[test]
fn rectangle_with_a_flat_vertex() {
    let q = quality(&polygon(&[
        (10.0, 5.0),
        (12.0, 5.0),
        (14.0, 5.0),
        (14.0, 8.0),
        (10.0, 8.0),
    ]));
    assert_eq!((q.polygons, q.convex, q.star_shaped), (1, 1, 1));
    assert_eq!(q.vertices_per_polygon, BTreeMap::from([(5, 1)]));
    assert_eq!((one(q.area), one(q.perimeter)), (12.0, 14.0));
    assert_eq!(one(q.shortest_edge_to_diameter), 2.0 / 5.0);
    assert_eq!((one(q.convexity), one(q.kernel)), (1.0, 1.0));
}

#[test]
fn an_l_is_seen_from_its_corner() {
    //  5-4        area 3, hull 3.5, kernel the unit square at the corner
    //  | 3---2
    //  0-----1
    let l = [
        (0.0, 0.0),
        (2.0, 0.0),
        (2.0, 1.0),
        (1.0, 1.0),
        (1.0, 2.0),
        (0.0, 2.0),
    ];
    for turn in 0..6 {
        let mut l = l;
        l.rotate_left(turn);
        let q = quality(&polygon(&l));
        assert_eq!((q.convex, q.star_shaped), (0, 1));
        assert_eq!(one(q.area), 3.0);
        assert_eq!(one(q.convexity), 3.0 / 3.5);
        assert_eq!(one(q.kernel), 1.0 / 3.0);
        // The largest distance is from 1 to 5.
        assert_eq!(one(q.shortest_edge_to_diameter), 1.0 / 8f64.sqrt());
    }
}

#[test]
fn a_z_is_not_star_shaped() {
    // Two arms, up on the right and down on the left, of a bar between x = 0 and 3.
    let q = quality(&polygon(&[
        (0.0, -3.0),
        (1.0, -3.0),
        (1.0, 0.0),
        (3.0, 0.0),
        (3.0, 4.0),
        (2.0, 4.0),
        (2.0, 1.0),
        (0.0, 1.0),
    ]));
    assert_eq!((q.convex, q.star_shaped), (0, 0));
    assert_eq!(one(q.kernel), 0.0);
    assert_eq!(one(q.area), 9.0);
}

fn polygons(mesh: Triangulation) -> PolygonMesh {
    let on = Device::cpu(Some(1)).unwrap();
    let resident = DeviceTriangulation::<DVec2>::upload(&on, &mesh).unwrap();
    let result = polylla::polylla(&on, &resident, None, polylla::Options::default()).unwrap();
    PolygonMesh {
        points: mesh.points,
        polygons: result.download_lists(&on).unwrap(),
        regions: None,
        segments: Vec::new(),
    }
}

/// The diameter by the hull, as of any polygon.
fn by_hull(shape: &mut Shape) -> f64 {
    shape.find_hull();
    shape.diameter()
}

#[test]
fn triangles_have_the_diameter_of_their_hull() {
    let mut random = trioxide_mesh::random::SplitMix64::new(1);
    let mut shape = Shape::default();
    let mut quick = 0;
    for i in 0..60_000 {
        let mut number = || random.next_u64() as f64 / u64::MAX as f64;
        // From wide to flat, and some on lattices, of any size.
        let flat = [1.0, 1e-3, 1e-6, 1e-9, 0.0][i % 5];
        let size = [1.0, 1e-120, 1e120, 1e6][i % 4];
        let mut corners = [(); 3].map(|()| size * DVec2::new(number(), flat * number()));
        if i % 7 == 0 {
            corners = corners.map(|p| (p / size * 4.0).round() * size);
        }
        shape.measure(&corners, &[0, 1, 2]);
        if let Some(diameter) = shape.diameter_of_triangle() {
            assert_eq!(
                diameter.to_bits(),
                by_hull(&mut shape).to_bits(),
                "{corners:?}"
            );
            quick += 1;
        }
    }
    assert!(quick > 5_000, "{quick}");
}

#[test]
fn threads_do_not_matter() {
    // Enough for several blocks.
    let mesh = polygons(generate::random(&Device::cpu(None).unwrap(), 20_000, 1).unwrap());
    assert!(mesh.polygons.len() > 4 * BLOCK);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| quality(&mesh))
    };
    let expected = run(1);
    assert!((expected.area.mean * expected.polygons as f64 - 1.0).abs() < 0.01);
    for threads in [2, 3, 8] {
        assert_eq!(run(threads), expected);
    }
}

/// Polygons of random Delaunay triangulations and of grids, about half of them with holes.
fn meshes() -> impl Strategy<Value = PolygonMesh> {
    let removed = prop::collection::vec(prop::bool::weighted(0.2), 1..200);
    let numbers = (4usize..120, any::<u64>(), any::<[bool; 2]>());
    (numbers, removed).prop_map(|((n, seed, [whole, on_grid]), removed)| {
        let mesh = match on_grid {
            true => generate::jittered(n, seed),
            false => generate::random(&Device::cpu(None).unwrap(), n, seed),
        };
        let mut mesh = mesh.unwrap();
        let mut removed = removed.iter().cycle();
        mesh.triangles
            .retain(|_| whole || !removed.next().expect("cycles"));
        polygons(mesh)
    })
}

proptest! {
    #[test]
    fn diameter_is_the_largest_distance(mesh in meshes()) {
        let mut shape = Shape::default();
        for polygon in mesh.polygons.iter() {
            shape.measure(&mesh.points, polygon);
            let largest = shape.corners.iter()
                .flat_map(|p| shape.corners.iter().map(|q| p.distance_squared(*q)))
                .fold(0.0, f64::max);
            let diameter = shape
                .diameter_of_triangle()
                .unwrap_or_else(|| by_hull(&mut shape));
            prop_assert!((diameter - largest.sqrt()).abs() <= 1e-12 * largest.sqrt());
        }
    }

    #[test]
    fn the_kernel_sees_every_corner_and_nothing_else_does(mesh in meshes()) {
        let mut shape = Shape::default();
        for polygon in mesh.polygons.iter() {
            shape.measure(&mesh.points, polygon);
            if shape.convex {
                continue;
            }
            let corners = &shape.corners;
            let n = corners.len();
            // The smallest distance by which `p` lies to the left of an edge, times the edge's length.
            let sight = |p: DVec2| (0..n)
                .map(|k| {
                    let (a, b) = (corners[k], corners[(k + 1) % n]);
                    (b - a).perp_dot(p - a)
                })
                .fold(f64::INFINITY, f64::min);
            for &p in &shape.kernel {
                prop_assert!(sight(p) > -1e-9);
            }
            // If a point that sees all is easily found, there is a kernel.
            let seeing = (0..n * n).any(|i| sight((corners[i / n] + corners[i % n]) / 2.0) > 1e-9);
            prop_assert!(!seeing || area(&shape.kernel) > 0.0);
        }
    }
}
