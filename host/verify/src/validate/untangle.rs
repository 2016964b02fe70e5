//! Promises of untangling and improving: as of smoothing; no valid cell becomes inverted; the worst of a valid mesh
//! does not become worse, in mean ratios and in angles.
//!
//! Simplices at corners are read from tables, and `robust` decides their signs.

use glam::DVec3;
use gpu::untangle::{Angles, simplex_count, simplex_places};

use trioxide::Result;
use trioxide::mesh::Mesh;
use trioxide::rules::ensure;
use trioxide::smooth::{BoundaryRule, Options, Untangling};
use trioxide::volume::{VolumeMesh, orientation};

use super::smooth::{smoothed_surface, smoothed_volume};

/// Checks a volume mesh that was untangled or improved, with the nodes of `fixed` fixed (an element for each node, or
/// none). Both meshes have their coordinates in the precision of the run.
///
/// # Errors
/// [`Error::Invalid`](trioxide::Error::Invalid) with the first element that breaks a promise.
pub fn untangled_volume(
    before: &VolumeMesh,
    after: &VolumeMesh,
    fixed: &[bool],
    boundary: BoundaryRule,
    report: &Untangling,
) -> Result<()> {
    smoothed_volume(before, after, fixed, &with(boundary))?;
    let cells: Vec<_> = before.cells.iter().collect();
    valid_cells_stay(&cells, (&before.points, &after.points), report)
}

/// As [`untangled_volume`], of triangles of the plane.
///
/// # Errors
/// As there.
pub fn untangled_surface(
    before: &Mesh,
    after: &Mesh,
    fixed: &[bool],
    boundary: BoundaryRule,
    report: &Untangling,
) -> Result<()> {
    smoothed_surface(before, after, fixed, &with(boundary))?;
    let faces: Vec<_> = (0..before.faces.len())
        .map(|f| before.faces.get(f))
        .collect();
    valid_cells_stay(&faces, (&before.points, &after.points), report)
}

fn with(boundary: BoundaryRule) -> Options {
    Options {
        boundary,
        ..Options::default()
    }
}

/// Whether a simplex at a corner of the cell is not positive.
pub fn is_inverted(points: &[DVec3], cell: &[u32]) -> bool {
    let corners: &[[usize; 4]] = match cell.len() {
        3 => {
            // The triangle and a point above it.
            let [a, b, c] = [0, 1, 2].map(|k| points[cell[k] as usize]);
            let points = [a, b, c, DVec3::new(a.x, a.y, a.z + 1.0 + a.z.abs())];
            return orientation(&points, &[0, 1, 2, 3]) <= 0.0;
        }
        4 => &[[0, 1, 2, 3]],
        5 => &[[0, 1, 3, 4], [1, 2, 0, 4], [2, 3, 1, 4], [3, 0, 2, 4]],
        6 => &[
            [0, 1, 2, 3],
            [1, 2, 0, 4],
            [2, 0, 1, 5],
            [3, 5, 4, 0],
            [4, 3, 5, 1],
            [5, 4, 3, 2],
        ],
        _ => &[
            [0, 1, 3, 4],
            [1, 2, 0, 5],
            [2, 3, 1, 6],
            [3, 0, 2, 7],
            [4, 7, 5, 0],
            [5, 4, 6, 1],
            [6, 5, 7, 2],
            [7, 6, 4, 3],
        ],
    };
    let simplex = |corner: &[usize; 4]| corner.map(|k| cell[k]);
    corners
        .iter()
        .any(|corner| orientation(points, &simplex(corner)) <= 0.0)
}

fn valid_cells_stay(
    cells: &[&[u32]],
    (before, after): (&[DVec3], &[DVec3]),
    report: &Untangling,
) -> Result<()> {
    let (mut count, mut left) = (0, Vec::new());
    for (c, cell) in cells.iter().enumerate() {
        let (was, is) = (is_inverted(before, cell), is_inverted(after, cell));
        count += u32::from(was);
        if is {
            left.push(c as u32);
        }
        let name = || format!("cell {c}");
        ensure(was || !is, name, || "was valid, and is inverted".to_owned())?;
    }
    let mesh = || "the mesh".to_owned();
    ensure(
        (count, &left) == (report.inverted_before, &report.inverted),
        mesh,
        || {
            format!(
                "has {count} inverted cells before and {} after, not {} and {}",
                left.len(),
                report.inverted_before,
                report.inverted.len()
            )
        },
    )?;
    if count > 0 {
        return Ok(());
    }
    let [old, new] = &report.ratios;
    ensure(new.worst >= old.worst, mesh, || {
        format!(
            "has the worst mean ratio {}, below {} before",
            new.worst, old.worst
        )
    })?;
    let [old, new] = [before, after].map(|points| angles(points, cells));
    ensure(new.are_within(old), mesh, || {
        format!("has angles with cosines of {new:?}, beyond {old:?} before")
    })
}

/// The smallest and the largest angle of cells, by the formula that moves keep: another one rounds in another way.
fn angles(points: &[DVec3], cells: &[&[u32]]) -> Angles {
    let mut found = Angles::NONE;
    for cell in cells {
        let size = cell.len() as u32;
        for j in 0..simplex_count(size) {
            let places = simplex_places(size, j);
            let at = |k: u32| points[cell[(places >> k & 0xF) as usize] as usize];
            let angles = Angles::of(size, [at(0), at(4), at(8), at(12)]);
            found.of_smallest = found.of_smallest.max(angles.of_smallest);
            found.of_largest = found.of_largest.min(angles.of_largest);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use trioxide::smooth::Ratios;

    #[test]
    fn results_that_break_a_promise() {
        let before: VolumeMesh = trioxide::generate::tet_grid(125, 1)
            .expect("enough nodes")
            .into();
        let inner = |p: &DVec3| p.to_array().iter().all(|&x| x > 0.3 && x < 0.7);
        let node = before.points.iter().position(inner).expect("an inner node");
        let mut tangled = before.clone();
        tangled.points[node] += DVec3::X;
        let ids = |mesh: &VolumeMesh| {
            let cells = mesh.cells.iter().enumerate();
            let inverted = cells.filter(|(_, cell)| is_inverted(&mesh.points, cell));
            inverted.map(|(c, _)| c as u32).collect::<Vec<_>>()
        };
        assert!(ids(&before).is_empty() && !ids(&tangled).is_empty());
        let said = |from: &VolumeMesh, to: &VolumeMesh, report: &Untangling| match untangled_volume(
            from,
            to,
            &[],
            BoundaryRule::Fixed,
            report,
        ) {
            Ok(()) => String::new(),
            Err(error) => error.to_string(),
        };
        let mut report = Untangling {
            inverted_before: ids(&tangled).len() as u32,
            ..Untangling::default()
        };
        assert_eq!(said(&tangled, &before, &report), "");
        assert!(said(&tangled, &tangled, &report).contains("inverted cells before"));
        report.inverted = ids(&tangled);
        assert_eq!(said(&tangled, &tangled, &report), "");
        assert!(said(&before, &tangled, &report).contains("was valid, and is inverted"));
        let worse = Untangling {
            ratios: [0.5, 0.25].map(|worst| Ratios {
                worst,
                ..Ratios::default()
            }),
            ..Untangling::default()
        };
        assert!(said(&before, &before, &worse).contains("worst mean ratio"));
    }
}
