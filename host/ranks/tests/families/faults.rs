//! Ranks refuse a broken mesh in the words of one process.

use crate::common::Choice;
use gpu::smooth::Vector;
use trioxide::glam::{DVec2, DVec3, Vec2, Vec3};
use trioxide::half_edges::{AnyPoint, DeviceTriangulation};
use trioxide::mesh::{Mesh, Segment, Triangulation};
use trioxide::polylla::Constraints;
use trioxide::refine::DeviceEdgeMesh;
use trioxide::{Device, smooth, weld};
use trioxide_ranks::ownership::Position;
use trioxide_ranks::threads::run;
use trioxide_ranks::{Block, Ownership, Ranks, Result, polylla, refine};

/// The fault of a mesh, and the change that causes it.
type Broken<P> = (&'static str, fn(&mut Triangulation<P>));

/// Broken meshes of the plane, and of space at any height.
fn broken<P: Position>() -> Vec<Broken<P>> {
    vec![
        ("a coordinate that is no number", |mesh| {
            mesh.points[57] = P::of_plane(DVec2::new(f64::NAN, 0.5));
        }),
        ("one without end", |mesh| {
            mesh.points[99] = P::of_plane(DVec2::new(0.5, f64::INFINITY));
        }),
        ("one that no triangle uses", |mesh| {
            mesh.points.push(P::of_plane(DVec2::NAN));
        }),
        ("one whose square is too large", |mesh| {
            mesh.points[3] = P::of_plane(DVec2::new(1e300, 0.0));
        }),
        ("squares that are too small", |mesh| {
            for p in &mut mesh.points {
                let [x, y, _] = p.coordinates();
                *p = P::of_plane(DVec2::new(x, y) * 1e-200);
            }
        }),
        ("a vertex that is not there", |mesh| {
            mesh.triangles[140][2] = 100
        }),
        ("a vertex twice", |mesh| {
            mesh.triangles[33][2] = mesh.triangles[33][0]
        }),
        ("three vertices on a line", |mesh| {
            mesh.triangles[0] = [0, 1, 2]
        }),
        ("a triangle that is turned", |mesh| {
            mesh.triangles[30].swap(0, 1)
        }),
        ("two that are turned", |mesh| {
            mesh.triangles[161].swap(0, 1);
            mesh.triangles[81].swap(1, 2);
        }),
        ("a triangle that is there twice", |mesh| {
            mesh.triangles[9] = mesh.triangles[100];
        }),
        ("three triangles at an edge", |mesh| {
            let [a, b, _] = mesh.triangles[60];
            mesh.triangles.push([a, b, 99]);
        }),
        ("a segment that is no edge", |mesh| {
            let segment = |ends| Segment { ends, marker: 1 };
            mesh.segments = [[0, 1], [3, 77]].map(segment).to_vec();
        }),
        ("a segment whose end is not there", |mesh| {
            let segment = |ends| Segment { ends, marker: 1 };
            mesh.segments = [[0, 1], [3, 100]].map(segment).to_vec();
        }),
        ("faults of two rules", |mesh| {
            mesh.triangles[2].swap(0, 1);
            mesh.points[88] = P::of_plane(DVec2::new(0.25, f64::NAN));
        }),
    ]
}

/// Compares the errors of `on_rank` on ranks with those of `alone` in one process. Returns the number of meshes that
/// the one process refuses.
fn compare<P: Position>(
    good: &Triangulation<P>,
    alone: impl Fn(&Triangulation<P>) -> trioxide::Result<()>,
    on_rank: impl Fn(&Ranks, &Device, &Block<P>, &Ownership) -> Result<()> + Sync,
) -> usize {
    assert!(alone(good).is_ok());
    let mut refused = 0;
    for (what, break_it) in broken() {
        let mut mesh = good.clone();
        break_it(&mut mesh);
        let expected = alone(&mesh).map_err(|error| error.to_string());
        refused += usize::from(expected.is_err());
        // In the last choice one rank has all triangles, and fails alone while the others wait for it.
        for (size, choice) in [(3, Choice::Curve), (2, Choice::Blocks), (4, Choice::Last)] {
            let results = run(size, |transport| {
                let ranks = Ranks::new(transport);
                let on = Device::cpu(Some(1)).unwrap();
                let block = Block::of(&mesh, ranks.rank(), size);
                on_rank(&ranks, &on, &block, &choice.of(size))
            });
            for result in results {
                let said = result.map_err(|fault| fault.to_string());
                assert_eq!(said, expected, "{what}, {size} ranks, {choice:?}");
            }
        }
    }
    refused
}

fn grid() -> Triangulation {
    trioxide::generate::grid(100).unwrap()
}

fn lifted() -> Triangulation<DVec3> {
    Mesh::from(grid()).into_surface().unwrap()
}

#[test]
fn polylla_refuses_in_the_words_of_one_process() {
    fn check<P: polylla::Points>(good: &Triangulation<P::Double>) -> usize {
        let alone = |mesh: &Triangulation<P::Double>| {
            let on = Device::cpu(Some(1))?;
            let half_edges = DeviceTriangulation::<P>::upload(&on, mesh)?;
            Constraints::of(&on, &half_edges, mesh)?;
            Ok(())
        };
        compare(good, alone, |ranks, on, block, ownership| {
            let options = polylla::Options::default();
            polylla::polylla::<P>(ranks, on, block, ownership, options).map(drop)
        })
    }
    assert_eq!(check::<DVec2>(&grid()), 15);
    assert_eq!(check::<Vec2>(&grid()), 15);
    assert_eq!(check::<DVec3>(&lifted()), 15);
    assert_eq!(check::<Vec3>(&lifted()), 15);
}

#[test]
fn refine_refuses_in_the_words_of_one_process() {
    fn check<P: AnyPoint>(good: &Triangulation<P::Double>) -> usize
    where
        P::Double: Position,
    {
        let alone = |mesh: &Triangulation<P::Double>| {
            let on = Device::cpu(Some(1))?;
            DeviceEdgeMesh::<P>::upload(&on, mesh)?;
            Ok(())
        };
        compare(good, alone, |ranks, on, block, ownership| {
            let options = refine::Options::default();
            refine::refine::<P>(ranks, on, block, &options, ownership).map(drop)
        })
    }
    assert_eq!(check::<DVec2>(&grid()), 15);
    assert_eq!(check::<Vec3>(&lifted()), 15);
    // In space neighbours that run along their edge in one direction are oriented alike.
    assert_eq!(check::<DVec3>(&lifted()), 15);
}

/// Which triangles touch is all the same to smoothing.
#[test]
fn smooth_refuses_in_the_words_of_one_process() {
    fn check<P: Vector + AnyPoint>() -> usize {
        let options = smooth::Options::default();
        let alone = |mesh: &Triangulation<DVec3>| {
            let on = Device::cpu(Some(1))?;
            let mesh = Mesh::from(mesh.clone());
            smooth::run_surface::<P>(&on, &mesh, &[], &options)?;
            Ok(())
        };
        compare(&lifted(), alone, |ranks, on, block, ownership| {
            let smooth = trioxide_ranks::smooth::smooth::<P>;
            smooth(ranks, on, block, &[], &options, ownership).map(drop)
        })
    }
    assert_eq!(check::<DVec3>(), 7);
}

#[test]
fn weld_refuses_in_the_words_of_one_process() {
    let options = weld::Options::new(0.01);
    let alone = |mesh: &Triangulation<DVec3>| {
        let on = Device::cpu(Some(1))?;
        let mesh = Mesh::from(mesh.clone());
        let resident = weld::DeviceMesh::upload(&on, &mesh)?;
        let mut welded = weld::weld(&on, &resident, options)?.download(&on)?;
        welded.take_mesh(&mesh, &options)?;
        Ok(())
    };
    let refused = compare(&lifted(), alone, |ranks, on, block, ownership| {
        let plan = trioxide_ranks::weld::Plan {
            ownership: ownership.clone(),
            ..Default::default()
        };
        let none = weld::Carried::NONE;
        trioxide_ranks::weld::weld(ranks, on, block, &none, &options, &plan).map(drop)
    });
    assert_eq!(refused, 7);
}
