//! Grids that ranks make, of a plain one each device its own rows: the results of the single run, whatever the size and
//! the number of ranks.

use gpu::smooth::Vector;
use proptest::prelude::*;
use trioxide::generate::Grid;
use trioxide::glam::{DVec2, DVec3, Vec2, Vec3};
use trioxide::half_edges::{AnyPoint, DeviceTriangulation, Point};
use trioxide::mesh::{Mesh, Triangulation};
use trioxide::refine::{DeviceEdgeMesh, Marking};
use trioxide::smooth::run_surface;
use trioxide::weld::{Carried, Guards};
use trioxide::{Device, polylla, refine, smooth, weld};
use trioxide_ranks::polylla::{Options, Points, find};
use trioxide_ranks::refine::{gather, refine as refine_on_ranks};
use trioxide_ranks::smooth::smooth as smooth_on_ranks;
use trioxide_ranks::threads::run;
use trioxide_ranks::weld::{Plan, Welded, epsilon_for_ratio, weld as weld_on_ranks};
use trioxide_ranks::{Block, Ownership, Part, Ranks};
use trioxide_reference as reference;

use crate::common::random_cases;

/// A grid, and its mesh.
fn grids() -> impl Strategy<Value = (Grid, Triangulation)> {
    (4..400_usize, prop::option::weighted(0.2, any::<u64>())).prop_map(|(n, seed)| match seed {
        None => (
            Grid::uniform(n).unwrap(),
            trioxide::generate::grid(n).unwrap(),
        ),
        Some(seed) => (
            Grid::jittered(n, seed).unwrap(),
            trioxide::generate::jittered(n, seed).unwrap(),
        ),
    })
}

/// Polygons, by their digest and their number.
fn polygons<P: Point + Points>(grid: &Grid, mesh: &Triangulation, size: usize) {
    let on = Device::cpu(Some(1)).unwrap();
    let whole = DeviceTriangulation::<P>::upload(&on, mesh).unwrap();
    let whole = polylla::polylla(&on, &whole, None, polylla::Options::default()).unwrap();
    let expected = (whole.digest(&on).unwrap(), whole.counts().polygons);
    let found = run(size, |transport| {
        let ranks = Ranks::new(transport);
        let on = Device::cpu(Some(1)).unwrap();
        let part = Part::of_grid(&ranks, grid).unwrap();
        let found = find::<P>(&ranks, &on, part, Options::default()).unwrap();
        (
            found.digest(&ranks, &on).unwrap(),
            found.totals.polygons as u32,
        )
    });
    assert_eq!(found, vec![expected; size], "{grid:?} on {size} ranks");
}

fn refined<P: Point>(grid: &Grid, mesh: &Triangulation, size: usize, marking: &Marking) {
    let on = Device::cpu(Some(1)).unwrap();
    let mut fine = DeviceEdgeMesh::<P>::upload(&on, mesh).unwrap();
    let options = refine::Options {
        marking: marking.clone(),
        rounds: 2,
        ..refine::Options::default()
    };
    refine::refine(&on, &mut fine, &options).unwrap();
    let expected = fine.triangulation(&on, None).unwrap();
    let options = trioxide_ranks::refine::Options {
        marking: marking.clone(),
        rounds: 2,
        ..trioxide_ranks::refine::Options::default()
    };
    let found = run(size, |transport| {
        let ranks = Ranks::new(transport);
        let on = Device::cpu(Some(1)).unwrap();
        let block = Block::counts_of_grid(grid);
        let rows = Ownership::Rows(*grid);
        let refined = refine_on_ranks::<P>(&ranks, &on, &block, &options, &rows).unwrap();
        gather(&ranks, &refined).unwrap()
    });
    let found = found.into_iter().next().flatten().expect("rank 0 has it");
    assert_eq!(
        found.mesh, expected,
        "{grid:?} on {size} ranks, {marking:?}"
    );
}

fn smoothed<P: Vector + AnyPoint>(grid: &Grid, mesh: &Triangulation, size: usize) {
    let options = smooth::Options {
        max_iterations: 3,
        ..smooth::Options::default()
    };
    let on = Device::cpu(Some(1)).unwrap();
    let mesh = Mesh::from(mesh.clone());
    let expected = run_surface::<P>(&on, &mesh, &[], &options).unwrap().points;
    let found = run(size, |transport| {
        let ranks = Ranks::new(transport);
        let on = Device::cpu(Some(1)).unwrap();
        let block = Block::counts_of_grid(grid);
        let rows = Ownership::Rows(*grid);
        let smoothed = smooth_on_ranks::<P>(&ranks, &on, &block, &[], &options, &rows).unwrap();
        smoothed.points(&ranks, &on, &block).unwrap()
    });
    assert_eq!(found.concat(), expected, "{grid:?} on {size} ranks");
}

/// This rank's block for welding, and the owners of its points.
fn to_weld(ranks: &Ranks, grid: &Grid) -> (Block<DVec3>, Plan) {
    let block = match grid.is_plain() {
        true => Block::counts_of_grid(grid),
        false => Block::of_grid(ranks, grid).unwrap(),
    };
    let plan = Plan {
        ownership: Ownership::Rows(*grid),
        ..Plan::default()
    };
    (block, plan)
}

fn searched(grid: &Grid, mesh: &Triangulation, size: usize) {
    let points: Vec<DVec3> = mesh.points.iter().map(|p| p.extend(0.0)).collect();
    let (none, guards) = (Carried::NONE, Guards::default());
    let expected = reference::weld::epsilon_for_ratio(&points, &none, &guards, 0.4).unwrap();
    let found = run(size, |transport| {
        let ranks = Ranks::new(transport);
        let on = Device::cpu(Some(1)).unwrap();
        let (block, plan) = to_weld(&ranks, grid);
        epsilon_for_ratio(&ranks, &on, &block, &none, &guards, 0.4, &plan).unwrap()
    });
    assert_eq!(found, vec![expected; size], "{grid:?} on {size} ranks");
}

/// Welds with an epsilon of `within` sides of the grid's squares: large ones make rows wait for each other, or all
/// points neighbours.
fn welded(grid: &Grid, mesh: &Triangulation, size: usize, within: f64, keep_degenerate: bool) {
    let options = weld::Options {
        keep_degenerate,
        ..weld::Options::new(within / (grid.side() - 1) as f64)
    };
    let points: Vec<DVec3> = mesh.points.iter().map(|p| p.extend(0.0)).collect();
    let expected = reference::weld(&points, &mesh.triangles, &options).unwrap();
    let none = Carried::NONE;
    let slices = run(size, |transport| {
        let ranks = Ranks::new(transport);
        let on = Device::cpu(Some(1)).unwrap();
        let (block, plan) = to_weld(&ranks, grid);
        weld_on_ranks(&ranks, &on, &block, &none, &options, &plan).unwrap()
    });
    let case = format!("{grid:?} on {size} ranks, {options:?}");
    let all = |of: fn(&Welded) -> &Vec<u64>| -> Vec<u32> {
        let ids = slices.iter().flat_map(of);
        ids.map(|&id| id as u32).collect()
    };
    assert_eq!(all(|slice| &slice.map), expected.map, "{case}");
    let representatives = all(|slice| &slice.representatives);
    assert_eq!(representatives, expected.representatives, "{case}");
    let corners = all(|slice| &slice.corners);
    assert_eq!(corners, expected.faces.as_flattened(), "{case}");
    let points = slices.iter().flat_map(|slice| slice.points.clone());
    assert_eq!(points.collect::<Vec<_>>(), expected.points, "{case}");
    for slice in &slices {
        assert_eq!(slice.clusters, expected.points.len() as u64, "{case}");
        assert_eq!(slice.faces, expected.faces.len() as u64, "{case}");
    }
}

proptest! {
    #![proptest_config(random_cases(40))]
    #[test]
    fn any_grid_on_any_number_of_ranks((grid, mesh) in grids(), size in 1..8_usize, is_short in any::<bool>()) {
        let disk = Marking::Disk([0.3, 0.4, 0.2]);
        match is_short {
            true => {
                polygons::<Vec2>(&grid, &mesh, size);
                refined::<Vec2>(&grid, &mesh, size, &disk);
                smoothed::<Vec3>(&grid, &mesh, size);
            }
            false => {
                polygons::<DVec2>(&grid, &mesh, size);
                refined::<DVec2>(&grid, &mesh, size, &Marking::All);
                smoothed::<DVec3>(&grid, &mesh, size);
            }
        }
    }

    #[test]
    fn any_grid_is_welded_on_any_number_of_ranks(
        (grid, mesh) in grids(),
        size in 1..8_usize,
        within in prop::sample::select(vec![0.0, 0.3, 1.0, 1.5, 4.0, 1e6]),
        keep_degenerate in any::<bool>(),
        by_ratio in prop::bool::weighted(0.1),
    ) {
        welded(&grid, &mesh, size, within, keep_degenerate);
        // A search welds twenty times.
        if by_ratio {
            searched(&grid, &mesh, size);
        }
    }
}
