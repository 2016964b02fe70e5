//! Promises of smoothing: the same cells; fixed nodes keep their positions, to the bit; sliding keeps the shape; the
//! guard turns no cell around and lowers no worst quality.
//!
//! The fixed nodes are found by counting the uses of faces and edges in tables, not as the device finds them.

use std::collections::HashMap;

use glam::DVec3;
use gpu::smooth::{CellQuality, cell_quality};

use trioxide::Result;
use trioxide::mesh::{Mesh, NONE};
use trioxide::rules::ensure;
use trioxide::smooth::{BoundaryRule, Options};
use trioxide::volume::{CellKind, VolumeMesh, faces, key, orientation};
use trioxide::volume_summary::volume_summary;

/// Largest part of the volume that sliding may change: faces that are flat to 0.006 degrees count as planar.
const VOLUME_KEPT: f64 = 1e-4;

/// Checks a volume mesh that was smoothed by `options`, with the nodes of `fixed` fixed (an element for each node, or
/// none). Both meshes have their coordinates in the precision of the run.
///
/// # Errors
/// [`Error::Invalid`](trioxide::Error::Invalid) with the first element that breaks a promise.
pub fn smoothed_volume(
    before: &VolumeMesh,
    after: &VolumeMesh,
    fixed: &[bool],
    options: &Options,
) -> Result<()> {
    let same = |holds: bool, what: &str| kept(holds, what);
    same(before.cells == after.cells, "cells")?;
    same(before.regions == after.regions, "regions")?;
    same(before.faces == after.faces, "tagged faces")?;
    same(before.face_tags == after.face_tags, "tags of faces")?;
    let mut stays = mixed_nodes(
        before.points.len(),
        before.cells.iter(),
        before.regions.as_deref(),
    );
    if options.boundary == BoundaryRule::Fixed {
        let mut uses: HashMap<[u32; 4], u32> = HashMap::new();
        for cell in before.cells.iter() {
            let Some(kind) = CellKind::of(cell.len()) else {
                continue;
            };
            for face in faces(kind) {
                *uses.entry(key(face.iter().map(|&k| cell[k]))).or_default() += 1;
            }
        }
        stay_on(
            &mut stays,
            uses.iter().map(|(face, uses)| (&face[..], *uses)),
        );
    }
    nodes_stay(&before.points, &after.points, &stays, fixed)?;
    shape_is_kept(before, after)?;
    if options.guard {
        no_cell_is_harmed(before, after)?;
    }
    Ok(())
}

/// Checks a surface mesh that was smoothed by `options`, as [`smoothed_volume`] does.
///
/// # Errors
/// As [`smoothed_volume`].
pub fn smoothed_surface(
    before: &Mesh,
    after: &Mesh,
    fixed: &[bool],
    options: &Options,
) -> Result<()> {
    kept(before.faces == after.faces, "faces")?;
    kept(before.regions == after.regions, "regions")?;
    kept(before.segments == after.segments, "segments")?;
    let turned = options.guard && after.clockwise_faces() > before.clockwise_faces();
    kept(!turned, "orientations of faces")?;
    let list = || (0..before.faces.len()).map(|f| before.faces.get(f));
    let mut stays = mixed_nodes(before.points.len(), list(), before.regions.as_deref());
    if options.boundary == BoundaryRule::Fixed {
        let mut uses: HashMap<[u32; 2], u32> = HashMap::new();
        for face in list() {
            for (k, &v) in face.iter().enumerate() {
                let u = face[(k + 1) % face.len()];
                *uses.entry([v.min(u), v.max(u)]).or_default() += 1;
            }
        }
        stay_on(
            &mut stays,
            uses.iter().map(|(edge, uses)| (&edge[..], *uses)),
        );
    }
    nodes_stay(&before.points, &after.points, &stays, fixed)
}

fn kept(holds: bool, what: &str) -> Result<()> {
    ensure(
        holds,
        || "the smoothed mesh".to_owned(),
        || format!("has other {what} than the mesh before"),
    )
}

/// Nodes that must stay, as they belong to cells of two regions or to none.
fn mixed_nodes<'a>(
    nodes: usize,
    cells: impl Iterator<Item = &'a [u32]>,
    regions: Option<&[i32]>,
) -> Vec<bool> {
    let mut seen: Vec<Option<i32>> = vec![None; nodes];
    let mut is_mixed = vec![false; nodes];
    for (c, cell) in cells.enumerate() {
        let own = regions.map_or(0, |regions| regions[c]);
        for &v in cell {
            let first = seen[v as usize].get_or_insert(own);
            is_mixed[v as usize] |= *first != own;
        }
    }
    let states = seen.iter().zip(is_mixed);
    states
        .map(|(seen, mixed)| mixed || seen.is_none())
        .collect()
}

/// Adds the nodes of faces or edges that are used once.
fn stay_on<'a>(stays: &mut [bool], uses: impl Iterator<Item = (&'a [u32], u32)>) {
    for (nodes, _) in uses.filter(|(_, uses)| *uses == 1) {
        for &v in nodes.iter().filter(|&&v| v != NONE) {
            stays[v as usize] = true;
        }
    }
}

fn nodes_stay(before: &[DVec3], after: &[DVec3], stays: &[bool], fixed: &[bool]) -> Result<()> {
    kept(before.len() == after.len(), "nodes")?;
    for (v, (from, to)) in before.iter().zip(after).enumerate() {
        let node = || format!("node {v}");
        ensure(to.is_finite(), node, || format!("went from {from} to {to}"))?;
        let stays = stays[v] || fixed.get(v).copied().unwrap_or(false);
        let bits = |p: &DVec3| p.to_array().map(f64::to_bits);
        ensure(!stays || bits(from) == bits(to), node, || {
            format!("stays, but went from {from} to {to}")
        })?;
    }
    Ok(())
}

/// Cells may turn around, but the space that they fill stays; holds for meshes without broken rules.
fn shape_is_kept(before: &VolumeMesh, after: &VolumeMesh) -> Result<()> {
    let summary = volume_summary(before);
    if !summary.problems().is_empty() {
        return Ok(());
    }
    let volume = volume_summary(after).volume;
    ensure(
        (volume - summary.volume).abs() <= VOLUME_KEPT * summary.volume,
        || "the smoothed mesh".to_owned(),
        || format!("has the volume {volume}, not {}", summary.volume),
    )
}

/// Cells that were certainly positive are so by exact arithmetic, and the smallest scaled Jacobian is not smaller.
fn no_cell_is_harmed(before: &VolumeMesh, after: &VolumeMesh) -> Result<()> {
    let measured = |mesh: &VolumeMesh, cell: &[u32]| -> CellQuality {
        cell_quality(cell.len() as u32, |k| {
            mesh.points[cell[k as usize] as usize]
        })
    };
    let (mut worst_before, mut worst_after) = (f64::INFINITY, f64::INFINITY);
    for (c, cell) in before.cells.iter().enumerate() {
        let (old, new) = (measured(before, cell), measured(after, cell));
        worst_before = worst_before.min(old.jacobian);
        worst_after = worst_after.min(new.jacobian);
        let is_turned = match *cell {
            [p, q, r, s] => orientation(&after.points, &[p, q, r, s]) <= 0.0,
            _ => !new.is_positive,
        };
        ensure(
            !(old.is_positive && is_turned),
            || format!("cell {c}"),
            || "was turned around in spite of the guard".to_owned(),
        )?;
    }
    ensure(
        worst_after >= worst_before,
        || "the smoothed mesh".to_owned(),
        || format!("has the worst quality {worst_after}, below {worst_before} before"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use trioxide::generate;
    use trioxide::mesh::Faces;

    fn volume() -> (VolumeMesh, usize) {
        let mesh = generate::tet_grid(125, 1).expect("enough nodes");
        let inner = |p: &DVec3| p.to_array().iter().all(|&x| x > 0.3 && x < 0.7);
        let node = mesh.points.iter().position(inner).expect("an inner node");
        (mesh.into(), node)
    }

    fn broken(mesh: &VolumeMesh, after: &VolumeMesh, fixed: &[bool], options: &Options) -> String {
        match smoothed_volume(mesh, after, fixed, options) {
            Ok(()) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn volumes_that_break_a_promise() {
        let (before, node) = volume();
        let plain = Options::default();
        let guarded = Options {
            guard: true,
            ..plain.clone()
        };
        let sliding = Options {
            boundary: BoundaryRule::Slide,
            ..plain.clone()
        };
        assert_eq!(broken(&before, &before, &[], &guarded), "");
        let moved = |v: usize, by: DVec3| {
            let mut after = before.clone();
            after.points[v] += by;
            after
        };
        let far = moved(node, DVec3::X);
        assert_eq!(broken(&before, &far, &[], &plain), "");
        assert!(broken(&before, &far, &[], &guarded).contains("turned around"));
        let mut fixed = vec![false; before.points.len()];
        fixed[node] = true;
        let text = format!("node {node} stays, but went from");
        assert!(broken(&before, &far, &fixed, &plain).contains(&text));
        let mut regions = before.clone();
        let halves = (0..before.cells.len())
            .map(|c| i32::from(before.cells.get(c).contains(&(node as u32)) && c % 2 == 0));
        regions.regions = Some(halves.collect());
        let after = VolumeMesh {
            points: far.points.clone(),
            ..regions.clone()
        };
        assert!(broken(&regions, &after, &[], &plain).contains(&text));
        assert!(broken(&regions, &far, &[], &plain).contains("other regions"));
        // A corner of the cube: on the boundary, and the shape with it.
        let dented = moved(0, DVec3::splat(0.1));
        assert!(broken(&before, &dented, &[], &plain).contains("node 0 stays"));
        assert!(broken(&before, &dented, &[], &sliding).contains("has the volume"));
        let nowhere = moved(node, DVec3::NAN);
        assert!(broken(&before, &nowhere, &[], &plain).contains("went from"));
        // Nearly flat, but positive.
        let mut worse = before.clone();
        worse.points[node] = before.points[node] + 0.9 * (before.points[0] - before.points[node]);
        let text = broken(&before, &worse, &[], &guarded);
        assert!(
            text.contains("turned around") || text.contains("worst quality"),
            "{text}"
        );
    }

    #[test]
    fn surfaces_that_break_a_promise() {
        let before = Mesh::from(generate::jittered(100, 1).expect("enough points"));
        let broken = |after: &Mesh, boundary| {
            let options = Options {
                boundary,
                ..Options::default()
            };
            match smoothed_surface(&before, after, &[], &options) {
                Ok(()) => String::new(),
                Err(error) => error.to_string(),
            }
        };
        let corner = (0..100)
            .find(|&v| before.points[v] == DVec3::ZERO)
            .expect("a corner");
        let mut after = before.clone();
        after.points[corner].x = -1.0;
        assert!(broken(&after, BoundaryRule::Fixed).contains("stays, but went"));
        assert_eq!(broken(&after, BoundaryRule::Slide), "");
        if let Faces::Triangles(triangles) = &mut after.faces {
            triangles.swap(0, 1);
        }
        assert!(broken(&after, BoundaryRule::Slide).contains("other faces"));
    }
}
