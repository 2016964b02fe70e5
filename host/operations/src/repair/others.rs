//! Repair of polygons and cells: their orientation, and vertices that nothing has. It runs on the host.

use std::collections::{HashMap, HashSet};

use trioxide::conform;
use trioxide::contact::Contacts;
use trioxide::device::Laps;
use trioxide::mesh::{self, Faces, Mesh, Segment};
use trioxide::repair::{self as family, Counts as Done};
use trioxide::volume::VolumeMesh;
use trioxide::{Error as Shared, mesh::NONE};

use super::{Options, Refusal, Report, Totals, totals_of};
use crate::error::Result;
use crate::input::check_ids;
use crate::machine::{On, Start};
use crate::report::Run;

/// Repairs a mesh of polygons, which has been checked for lengths of its lists.
pub(super) fn polygons(
    on: &dyn Start,
    mut mesh: Mesh,
    options: &Options,
) -> Result<(Mesh, Report)> {
    let steps = options.steps()?;
    refuse_steps_of_triangles(options, "polygons")?;
    check_points(&mesh.points)?;
    let (vertices, faces) = (mesh.points.len(), mesh.faces.len());
    for i in 0..faces {
        check_ids("face", i, mesh.faces.get(i), vertices)?;
    }
    let mut run = start(on)?;
    let mut laps = Laps::start();
    let mut done = Done::default();
    let dropped_segments = keep_edges(&mut mesh);
    if steps.orient {
        (done.turned, done.one_sided) = family::orient_polygons(&mesh.points, &mut mesh.faces);
    }
    if steps.flip {
        family::turn_polygons(&mut mesh.faces, 0..faces);
        done.turned_over = faces as u64;
    }
    let mut old: Vec<u32> = (0..vertices as u32).collect();
    if steps.unused {
        let ids = match &mut mesh.faces {
            Faces::Triangles(triangles) => triangles.as_flattened_mut(),
            Faces::Polygons(polygons) => &mut polygons.vertices[..],
        };
        let ends = mesh
            .segments
            .iter_mut()
            .flat_map(|segment| &mut segment.ends);
        old = drop_unused(vertices, ids.iter_mut().chain(ends).collect());
        mesh.points = mesh::gather(&mesh.points, &old);
        mesh.attributes = mesh.attributes.gather(&old);
        mesh.fields.points = mesh.fields.points.gather(&old);
        done.unused = (vertices - old.len()) as u64;
    }
    laps.end("repair");
    run.stages = laps.into_stages();
    let totals = totals_of(
        [vertices, faces],
        [old.len(), faces],
        steps_taken(steps, false),
        done,
    );
    let report = Report {
        run,
        totals: Totals {
            dropped_segments,
            ..totals
        },
        notes: Vec::new(),
        vertices: old,
        faces: (0..faces as u32).collect(),
    };
    Ok((mesh, report))
}

/// Repairs a mesh of cells: turns those whose numbering runs the wrong way, drops folded ones, inserts hanging
/// vertices, and drops vertices that neither a cell nor a tagged face has.
///
/// ```
/// use trioxide_operations::repair::{self, repair_volume};
///
/// # fn main() -> trioxide_operations::Result<()> {
/// # let device = trioxide::Device::cpu(None)?;
/// let mut cubes = trioxide::generate::tet_grid(27, 1)?;
/// cubes.tetrahedra[0].swap(2, 3);
/// let options = repair::Options {
///     all: true,
///     ..repair::Options::default()
/// };
/// let (_, report) = repair_volume(&device, cubes.into(), &options)?;
/// assert_eq!(report.totals.done.turned, 1);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Refusal`]; a field of another length than the mesh's; a vertex that is not there, a coordinate that is no finite
/// number.
pub fn repair_volume(
    on: &dyn Start,
    mut mesh: VolumeMesh,
    options: &Options,
) -> Result<(VolumeMesh, Report)> {
    let steps = options.steps()?;
    refuse_steps_of_triangles(options, "cells")?;
    if steps.flip {
        return Err(Refusal::Flip.into());
    }
    let before = [mesh.points.len(), mesh.cells.len()];
    mesh.fields.check(before[0], before[1], mesh.faces.len())?;
    if !options.finite {
        return repair_finite(on, mesh, options);
    }
    let kept = mesh.drop_invalid();
    let (mesh, mut report) = match options.is_only_finite() {
        true => {
            let report = unchanged(on, [mesh.points.len(), mesh.cells.len()])?;
            (mesh, report)
        }
        false => repair_finite(on, mesh, options)?,
    };
    report.begin_before(before, kept);
    Ok((mesh, report))
}

/// The report on a mesh of these numbers of vertices and cells that is as it was.
pub(super) fn unchanged(on: &dyn Start, sizes: [usize; 2]) -> Result<Report> {
    let [vertices, faces] = sizes.map(|count| (0..count as u32).collect());
    Ok(Report {
        run: start(on)?,
        totals: totals_of(sizes, sizes, family::Steps::default(), Done::default()),
        notes: Vec::new(),
        vertices,
        faces,
    })
}

/// Takes the steps of a mesh of cells whose vertices are finite.
fn repair_finite(
    on: &dyn Start,
    mut mesh: VolumeMesh,
    options: &Options,
) -> Result<(VolumeMesh, Report)> {
    let steps = options.steps()?;
    let (vertices, cells) = (mesh.points.len(), mesh.cells.len());
    check_points(&mesh.points)?;
    for (i, cell) in mesh.cells.iter().enumerate() {
        check_ids("cell", i, cell, vertices)?;
    }
    for (i, face) in mesh.faces.iter().enumerate() {
        check_ids("tagged face", i, face, vertices)?;
    }
    let mut run = start(on)?;
    let mut laps = Laps::start();
    let mut done = Done::default();
    if steps.orient {
        done.turned = mesh.turn_cells() as u64;
    }
    let mut hanging = None;
    let mut faces: Vec<u32> = (0..cells as u32).collect();
    let mut dropped_tags = None;
    if steps.folded {
        let unfolded = mesh.drop_folded();
        if let Some(unfolded) = unfolded {
            done.dropped_folded = unfolded.cells as u64;
            faces = unfolded.kept;
            dropped_tags = Some(unfolded.tagged_faces as u64).filter(|&count| count > 0);
        }
    }
    let mut old: Vec<u32> = (0..vertices as u32).collect();
    if options.conforms() {
        let found = conform::tetrahedra(mesh)?;
        hanging = Some([found.hanging as u64, found.left as u64]);
        faces = mesh::gather(&faces, &found.parents);
        (mesh, old) = (found.mesh, found.vertices);
    }
    if steps.unused {
        let ids = mesh.cells.vertices_mut();
        let count = mesh.points.len();
        let kept = drop_unused(
            count,
            ids.iter_mut().chain(&mut mesh.faces.vertices).collect(),
        );
        mesh.points = mesh::gather(&mesh.points, &kept);
        mesh.fields.points = mesh.fields.points.gather(&kept);
        old = mesh::gather(&old, &kept);
        done.unused = (count - kept.len()) as u64;
    }
    laps.end("repair");
    run.stages = laps.into_stages();
    let totals = totals_of(
        [vertices, cells],
        [old.len(), mesh.cells.len()],
        steps_taken(steps, true),
        done,
    );
    let report = Report {
        run,
        totals: Totals {
            hanging,
            dropped_tags,
            ..totals
        },
        notes: Vec::new(),
        vertices: old,
        faces,
    };
    Ok((mesh, report))
}

/// The steps that are not of triangles alone.
fn steps_taken(steps: family::Steps, is_of_cells: bool) -> family::Steps {
    family::Steps {
        orient: steps.orient,
        folded: steps.folded && is_of_cells,
        flip: steps.flip,
        unused: steps.unused,
        ..family::Steps::default()
    }
}

fn refuse_steps_of_triangles(options: &Options, elements: &'static str) -> Result<()> {
    match options.of_triangles(elements) {
        Some(step) => Err(Refusal::Triangles { step, elements }.into()),
        None => Ok(()),
    }
}

/// Starts the machine, so that one that is not there is refused as ever.
fn start(on: &dyn Start) -> Result<Run> {
    let machine = on.start()?;
    drop(machine.remembered());
    machine.run(|on| match on {
        On::Device(_) => Ok(Run {
            device: "cpu".to_owned(),
            ..Run::default()
        }),
        #[cfg(feature = "serial")]
        On::Serial => Err(Refusal::Serial.into()),
    })
}

fn check_points(points: &[glam::DVec3]) -> Result<()> {
    match points.iter().position(|point| !point.is_finite()) {
        None => Ok(()),
        Some(v) => Err(Shared::not_finite(v).into()),
    }
}

/// Renumbers ids, so that the vertices without one are left out; the old ids of the others.
fn drop_unused(vertices: usize, mut ids: Vec<&mut u32>) -> Vec<u32> {
    let mut new = vec![NONE; vertices];
    ids.iter().for_each(|id| new[**id as usize] = 0);
    let old: Vec<u32> = (0..vertices as u32)
        .filter(|&v| new[v as usize] == 0)
        .collect();
    for (i, &v) in (0..).zip(&old) {
        new[v as usize] = i;
    }
    ids.iter_mut().for_each(|id| **id = new[**id as usize]);
    old
}

/// Number of the vertices that lie inside edges of other faces.
pub(super) fn hanging(mesh: &Mesh) -> usize {
    let point = |v: u32| mesh.points[v as usize];
    Contacts::of_boundary(point, &mesh.faces.boundary()).inside_edges()
}

/// Leaves out the segments that are no edges of the faces, and of segments with the same ends and marker all but the
/// first, with their fields. Returns their number, if the mesh has segments.
pub(super) fn keep_edges(mesh: &mut Mesh) -> Option<u64> {
    let before = mesh.segments.len();
    if before == 0 {
        return None;
    }
    let ends = mesh.segments.iter().map(|segment| sorted(segment.ends));
    let mut is_edge: HashMap<[u32; 2], bool> = ends.map(|ends| (ends, false)).collect();
    for i in 0..mesh.faces.len() {
        let face = mesh.faces.get(i);
        for (k, &a) in face.iter().enumerate() {
            let b = face[(k + 1) % face.len()];
            if a != b {
                is_edge.entry(sorted([a, b])).and_modify(|is| *is = true);
            }
        }
    }
    let mut seen = HashSet::new();
    let is_kept = |&i: &u32| {
        let Segment { ends, marker } = mesh.segments[i as usize];
        is_edge[&sorted(ends)] && seen.insert((sorted(ends), marker))
    };
    let kept: Vec<u32> = (0..before as u32).filter(is_kept).collect();
    mesh.segments = mesh::gather(&mesh.segments, &kept);
    mesh.fields.sides = mesh.fields.sides.gather(&kept);
    Some((before - kept.len()) as u64)
}

fn sorted([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}
