//! Rows of a grid against those that the host generates.

use glam::{DVec2, DVec3, Vec2, Vec3};
use gpu::point::{DoublePoint, MeshPoint};

use super::{Case, Outcome, Size, equal};
use crate::backend::Device;
use crate::generate::Grid;
use crate::grid::Rows;

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
                    compare(on, &grid, &Rows { side, rows })?;
                }
            }
            Ok(())
        }),
        Case::new("rows of a grid with ids beyond 32 bits", |on| {
            let grid = Grid::uniform(100_000_000_000)?;
            let side = grid.side();
            let rows = side - 2..side - 1;
            compare(on, &grid, &Rows { side, rows })
        }),
        Case::new("rows that a grid does not have are refused", refuse),
    ];
    if size == Size::Tiny {
        // A row of 316,228 points.
        cases.remove(1);
    }
    cases
}

fn compare(on: &Device, grid: &Grid, rows: &Rows) -> Outcome {
    points::<DVec2>(on, grid, rows)?;
    points::<Vec2>(on, grid, rows)?;
    points::<DVec3>(on, grid, rows)?;
    points::<Vec3>(on, grid, rows)?;
    let cells = 2 * (grid.side() - 1);
    let first = rows.rows.start * grid.side();
    let local = |corners: [u64; 3]| corners.map(|v| (v - first) as u32);
    let expected = grid.triangles_of(rows.rows.start * cells..rows.rows.end * cells, local);
    let ours: Vec<u32> = on.download_rows(&rows.corners(on)?)?;
    equal("corner", &ours, expected.as_flattened())
}

fn points<P: MeshPoint + PartialEq + std::fmt::Debug>(
    on: &Device,
    grid: &Grid,
    rows: &Rows,
) -> Outcome {
    let first = rows.rows.start * grid.side();
    let expected: Vec<P> = grid
        .points(first..first + rows.vertices())
        .into_iter()
        .map(|p| P::from_f64(P::Double::of_plane(p)))
        .collect();
    equal("point", &on.download(&rows.points::<P>(on)?)?, &expected)
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
        let rows = Rows { side, rows };
        if rows.corners(on).is_ok() || rows.points::<DVec2>(on).is_ok() {
            return Err(format!("{rows:?} are made"));
        }
    }
    Ok(())
}
