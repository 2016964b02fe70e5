//! Rows of a grid against the rows that the host generates.

use std::ops::Range;

use glam::{DVec2, DVec3, Vec2, Vec3};
use gpu::point::{DoublePoint, MeshPoint};
use trioxide_kernel::launch::Buffer;

use super::{Case, Outcome, Size, equal};
use trioxide::device::Device;
use trioxide::generate::Grid;
use trioxide::grid::{GridRows, Run};

pub fn cases(size: Size) -> Vec<Case> {
    let largest = size.of(90_000);
    let mut cases = vec![
        Case::new("rows of grids", move |on| {
            for n in [4, 9, 16, 100, 2500, largest] {
                let grid = Grid::uniform(n)?;
                let squares = grid.side() - 1;
                for rows in [
                    0..squares,
                    0..1,
                    squares / 2..squares,
                    squares - 1..squares,
                    squares / 3..squares / 3,
                ] {
                    let side = grid.side();
                    compare(on, &grid, &GridRows { side, rows })?;
                }
            }
            Ok(())
        }),
        Case::new("runs of grids", move |on| {
            for n in [4, 9, 16, 100, largest] {
                let grid = Grid::uniform(n)?;
                let (side, n) = (grid.side(), grid.vertices());
                let ends = [0, 1, side - 1, side, side + 1, n / 2, n - side, n - 1, n];
                for start in ends {
                    for end in ends.into_iter().filter(|&end| end >= start) {
                        let vertices = start..end;
                        compare_run(on, &grid, &Run { side, vertices })?;
                    }
                }
            }
            Ok(())
        }),
        Case::new("rows of a grid with ids beyond 32 bits", |on| {
            let grid = Grid::uniform(100_000_000_000)?;
            let side = grid.side();
            let rows = side - 2..side - 1;
            compare(on, &grid, &GridRows { side, rows })?;
            let vertices = side * (side - 2) - 5..side * (side - 1) + 7;
            compare_run(on, &grid, &Run { side, vertices })
        }),
        Case::new("rows that a grid does not have are refused", refuse),
    ];
    if size == Size::Tiny {
        // A row of 316,228 points.
        cases.remove(2);
    }
    cases
}

fn compare(on: &Device, grid: &Grid, rows: &GridRows) -> Outcome {
    let first = rows.rows.start * grid.side();
    let vertices = first..first + rows.vertices();
    points::<DVec2>(on, grid, &vertices, &rows.points(on)?)?;
    points::<Vec2>(on, grid, &vertices, &rows.points(on)?)?;
    points::<DVec3>(on, grid, &vertices, &rows.points(on)?)?;
    points::<Vec3>(on, grid, &vertices, &rows.points(on)?)?;
    let cells = 2 * (grid.side() - 1);
    let local = |corners: [u64; 3]| corners.map(|v| (v - first) as u32);
    let expected = grid.triangles_of(rows.rows.start * cells..rows.rows.end * cells, local);
    let ours: Vec<u32> = on.download_rows(&rows.corners(on)?)?;
    equal("corner", &ours, expected.as_flattened())
}

fn compare_run(on: &Device, grid: &Grid, run: &Run) -> Outcome {
    points::<DVec3>(on, grid, &run.vertices, &run.points(on)?)?;
    points::<Vec2>(on, grid, &run.vertices, &run.points(on)?)?;
    let squares = run.squares();
    let first = run.corner(squares.start);
    let is_first = squares.is_empty() || grid.triangle(2 * squares.start)[0] == first;
    if !is_first {
        return Err(format!("square {} is not at {first}", squares.start));
    }
    let local = |corners: [u64; 3]| corners.map(|v| (v - first) as u32);
    let expected = grid.triangles_of(2 * squares.start..2 * squares.end, local);
    let ours: Vec<u32> = on.download_rows(&run.corners(on)?)?;
    equal("corner", &ours, expected.as_flattened())
}

fn points<P: MeshPoint + PartialEq + std::fmt::Debug>(
    on: &Device,
    grid: &Grid,
    vertices: &Range<u64>,
    made: &Buffer<P>,
) -> Outcome {
    let expected: Vec<P> = grid
        .points(vertices.clone())
        .into_iter()
        .map(|p| P::from_f64(P::Double::of_plane(p)))
        .collect();
    equal("point", &on.download(made)?, &expected)
}

fn refuse(on: &Device) -> Outcome {
    let large = 2_000_000_000;
    let all = |side: u64| (side, 0..side - 1);
    let refused = [
        (1, 0..1),
        (10, 3..10),
        (large, 5..6),
        (large, 5..5 + (1 << 33)),
    ];
    // The last ones' products are beyond 64 bits.
    let sides = [40_000, (1 << 32) - 1, 1 << 32, 1 << 33, u64::MAX];
    for (side, rows) in refused.into_iter().chain(sides.map(all)) {
        let rows = GridRows { side, rows };
        if rows.corners(on).is_ok() || rows.points::<DVec2>(on).is_ok() {
            return Err(format!("{rows:?} are made"));
        }
    }
    for (side, vertices) in [
        (1, 0..1),
        (10, 90..101),
        (1 << 32, 5..6),
        (100_000, 0..4_294_900_000),
    ] {
        let run = Run { side, vertices };
        if run.corners(on).is_ok() || run.points::<DVec2>(on).is_ok() {
            return Err(format!("{run:?} is made"));
        }
    }
    Ok(())
}
