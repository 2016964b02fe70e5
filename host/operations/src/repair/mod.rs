//! Repair of meshes, with all that they carry. The family is [`trioxide::repair`].

mod options;
mod others;

use glam::DVec3;
use trioxide::conform;
use trioxide::device::Device;
use trioxide::finite::Kept;
use trioxide::ids::Vertex;
use trioxide::mesh::{self, Faces, Mesh};
use trioxide::repair::{self as family, Counts as Done, Steps};
use trioxide::{Buffer, Error as Shared};

use crate::error::Result;
use crate::input::{check_faces, check_ids};
use crate::machine::{On, Start};
use crate::precision::Precision;
use crate::report::{Counts, Note, Run};
use crate::scale::Scale;

pub use crate::error::repair::Refusal;
pub use options::Options;
pub use others::repair_volume;

/// The machine, the counts, and the maps back.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The machine, with times.
    pub run: Run,
    /// The counts.
    pub totals: Totals,
    /// Notes for the user, in the order that they arose.
    pub notes: Vec<Note>,
    /// The old id of each vertex. That of a copy is the vertex that it is a copy of.
    pub vertices: Vec<u32>,
    /// The old id of each face, whose data it has. That of a face in a hole is a face at the hole.
    pub faces: Vec<u32>,
}

impl Report {
    /// Adds the report on a later repair of the result.
    fn append(&mut self, later: Self) {
        let (own, next) = (&mut self.totals, later.totals);
        own.done.append(&next.done);
        if let (Some([hanging, _]), Some([more, _])) = (&mut own.hanging, next.hanging) {
            *hanging += more;
        }
        own.dropped_segments = match (own.dropped_segments, next.dropped_segments) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
        own.repaired_vertices = next.repaired_vertices;
        own.repaired_faces = next.repaired_faces;
        self.run.stages.extend(later.run.stages);
        self.notes
            .retain(|note| !matches!(note, Note::HolesLeft(_)));
        self.notes.extend(later.notes);
        self.vertices = mesh::gather(&self.vertices, &later.vertices);
        self.faces = mesh::gather(&self.faces, &later.faces);
    }

    /// Makes this the report on the mesh `before` elements that are not finite were dropped.
    fn begin_before(&mut self, before: [usize; 2], kept: Option<Kept>) {
        let mut dropped = [0; 2];
        if let Some(kept) = kept {
            dropped = [kept.dropped_vertices, kept.dropped_cells.0].map(|count| count as u64);
            self.vertices = mesh::gather(&kept.vertices, &self.vertices);
            self.faces = mesh::gather(&kept.cells, &self.faces);
        }
        [self.totals.vertices, self.totals.faces] = before.map(|count| count as u64);
        self.totals.not_finite = Some(dropped);
    }
}

/// The counts of a repair.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Vertices before.
    pub vertices: u64,
    /// Faces before.
    pub faces: u64,
    /// Vertices that were dropped because they are not finite, and faces that used them; of the step that does so.
    pub not_finite: Option<[u64; 2]>,
    /// The steps that were taken.
    pub steps: Steps,
    /// Their changes.
    pub done: Done,
    /// Vertices inside edges and faces of other elements before and after, if they were looked for.
    pub hanging: Option<[u64; 2]>,
    /// Segments that went because no face has their edge, or a lower one has their vertices and marker; of a mesh with
    /// segments.
    pub dropped_segments: Option<u64>,
    /// Tagged faces that went with the cells that had them, if any did.
    pub dropped_tags: Option<u64>,
    /// Vertices after.
    pub repaired_vertices: u64,
    /// Faces after.
    pub repaired_faces: u64,
}

impl Totals {
    /// By their names; those of the steps that were taken.
    pub fn counts(&self) -> Counts {
        let (steps, done) = (&self.steps, &self.done);
        let mut counts: Counts = vec![
            ("vertices", self.vertices.into()),
            ("faces", self.faces.into()),
        ];
        let mut add = |is_taken: bool, rows: &[(&'static str, u64)]| {
            let rows = rows.iter().filter(|_| is_taken);
            counts.extend(rows.map(|&(name, count)| (name, count.into())));
        };
        let [vertices, faces] = self.not_finite.unwrap_or_default();
        add(
            self.not_finite.is_some(),
            &[
                ("vertices_not_finite", vertices),
                ("faces_not_finite", faces),
            ],
        );
        if let Some([hanging, left]) = self.hanging {
            let rows = [
                ("hanging_vertices", hanging),
                ("hanging_vertices_left", left),
            ];
            add(true, &rows);
        }
        add(steps.repeated, &[("repeated_faces", done.repeated)]);
        add(
            steps.degenerate.is_some(),
            &[
                ("collapsed_edges", done.collapsed),
                ("flipped_edges", done.flipped),
                ("dropped_degenerate_faces", done.dropped),
                ("degenerate_faces_left", done.degenerate_left),
            ],
        );
        add(steps.edges, &[("edges_of_many_faces", done.crowded)]);
        add(
            steps.edges || steps.vertices || steps.cut,
            &[("split_vertices", done.split), ("copies", done.copies)],
        );
        add(steps.cut, &[("cut_edges", done.cut)]);
        add(
            steps.orient,
            &[
                ("turned_faces", done.turned),
                ("one_sided_components", done.one_sided),
            ],
        );
        add(
            steps.folded,
            &[
                ("unfolded_edges", done.unfolded),
                ("dropped_folded_faces", done.dropped_folded),
            ],
        );
        add(
            steps.holes.is_some(),
            &[
                ("filled_holes", done.filled),
                ("faces_in_holes", done.hole_faces),
                ("holes_left", done.holes_left),
            ],
        );
        add(
            steps.components.is_some(),
            &[
                ("dropped_components", done.components),
                ("faces_in_dropped_components", done.component_faces),
            ],
        );
        add(steps.flip, &[("turned_over_faces", done.turned_over)]);
        add(steps.unused, &[("dropped_vertices", done.unused)]);
        if let Some(dropped) = self.dropped_segments {
            add(true, &[("dropped_segments", dropped)]);
        }
        if let Some(dropped) = self.dropped_tags {
            add(true, &[("dropped_tagged_faces", dropped)]);
        }
        add(
            true,
            &[
                ("repaired_vertices", self.repaired_vertices),
                ("repaired_faces", self.repaired_faces),
            ],
        );
        counts
    }
}

/// Repairs a mesh of triangles, with its attributes, fields, regions and segments. Polygons are oriented, turned over,
/// and rid of vertices that nothing has.
///
/// ```
/// use trioxide::glam::DVec3;
/// use trioxide::mesh::{Faces, Mesh};
/// use trioxide_operations::repair;
///
/// # fn main() -> trioxide_operations::Result<()> {
/// # let device = trioxide::Device::cpu(None)?;
/// let twice = Mesh {
///     points: vec![DVec3::ZERO, DVec3::X, DVec3::Y],
///     faces: Faces::Triangles(vec![[0, 1, 2], [1, 0, 2]]),
///     ..Mesh::default()
/// };
/// let options = repair::Options {
///     repeated: true,
///     ..repair::Options::default()
/// };
/// let (once, report) = repair(&device, twice, &options)?;
/// assert_eq!((once.faces.len(), report.totals.done.repeated), (1, 1));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Refusal`]; a mesh without faces, a segment with a vertex that is not there, a field of
/// another length than the mesh's; those of [`trioxide::repair::repair()`].
pub fn repair(on: &dyn Start, mut mesh: Mesh, options: &Options) -> Result<(Mesh, Report)> {
    options.steps()?;
    let (vertices, segments) = (mesh.points.len(), mesh.segments.len());
    mesh.fields.check(vertices, mesh.faces.len(), segments)?;
    for (i, segment) in mesh.segments.iter().enumerate() {
        if let Some(v) = segment.ends.iter().find(|&&v| v as usize >= vertices) {
            return Err(Shared::Invalid {
                element: format!("segment {i}"),
                rule: format!("has vertex {v}, but the mesh has {vertices} vertices"),
            }
            .into());
        }
    }
    let before = [vertices, mesh.faces.len()];
    let kept = if options.finite {
        mesh.drop_invalid()
    } else {
        None
    };
    let lost = segments - mesh.segments.len();
    let (mesh, mut report) = match options.is_only_finite() {
        true => {
            let mut report = others::unchanged(on, [mesh.points.len(), mesh.faces.len()])?;
            if !mesh.faces.is_empty() {
                report.totals.dropped_segments = others::keep_edges(&mut mesh);
            }
            (mesh, report)
        }
        false => repair_finite(on, mesh, options)?,
    };
    if segments > 0 {
        let dropped = report.totals.dropped_segments.unwrap_or(0) + lost as u64;
        report.totals.dropped_segments = Some(dropped);
        report.notes.extend(Note::dropped_segments(dropped));
    }
    if options.finite {
        report.begin_before(before, kept);
    }
    Ok((mesh, report))
}

/// Takes the steps of a mesh whose vertices are finite.
fn repair_finite(on: &dyn Start, mut mesh: Mesh, options: &Options) -> Result<(Mesh, Report)> {
    let scale = Scale::take(&mut mesh.points, Precision::F64)?;
    let done = repair_scaled(on, mesh, options);
    let (mut mesh, report) = done.map_err(|error| scale.explain(error))?;
    scale.give(&mut mesh.points)?;
    Ok((mesh, report))
}

/// Most rounds of a repair that inserts hanging vertices.
const MOST_ROUNDS: usize = 8;

/// Takes the steps of a mesh in its scale. Vertices may hang where a later step takes a face away, so they are inserted
/// again then.
fn repair_scaled(on: &dyn Start, mesh: Mesh, options: &Options) -> Result<(Mesh, Report)> {
    if !options.conforms() {
        return take_steps(on, mesh, options);
    }
    // Faces turn over once, at the end.
    let flip = Options {
        flip: options.flip,
        ..Options::default()
    };
    let options = &Options {
        flip: false,
        ..options.clone()
    };
    let (mut mesh, mut report) = take_steps(on, mesh, options)?;
    let mut hanging = others::hanging(&mesh);
    for _ in 1..MOST_ROUNDS {
        if hanging == 0 {
            break;
        }
        let (next, later) = take_steps(on, mesh, options)?;
        mesh = next;
        report.append(later);
        hanging = others::hanging(&mesh);
    }
    if flip.flip && !mesh.faces.is_empty() {
        let (next, later) = take_steps(on, mesh, &flip)?;
        mesh = next;
        report.append(later);
        report.totals.steps.flip = true;
    }
    if let Some([_, left]) = &mut report.totals.hanging {
        *left = hanging as u64;
    }
    Ok((mesh, report))
}

/// Takes each step once.
fn take_steps(on: &dyn Start, mut mesh: Mesh, options: &Options) -> Result<(Mesh, Report)> {
    let vertices = mesh.points.len();
    check_faces(&mesh)?;
    let faces = mesh.faces.len();
    let mut conformed = None;
    if options.conforms() {
        for i in 0..faces {
            check_ids("face", i, mesh.faces.get(i), vertices)?;
        }
        let found = conform::faces(mesh)?;
        mesh = found.mesh;
        conformed = Some((found.hanging, found.parents, found.notes));
    }
    let (mesh, mut report) = steps_of_faces(on, mesh, options)?;
    if let Some((hanging, parents, notes)) = conformed {
        report.totals.hanging = Some([hanging as u64, 0]);
        report.totals.faces = faces as u64;
        for face in &mut report.faces {
            *face = parents[*face as usize];
        }
        report.notes.extend(notes.into_iter().map(Note::Apart));
    }
    Ok((mesh, report))
}

/// The other steps, of faces whose segments and fields have been checked.
fn steps_of_faces(on: &dyn Start, mut mesh: Mesh, options: &Options) -> Result<(Mesh, Report)> {
    let steps = options.steps()?;
    let (vertices, segments) = (mesh.points.len(), mesh.segments.len());
    let is_triangle = |i: usize| mesh.faces.get(i).len() == 3;
    if matches!(mesh.faces, Faces::Polygons(_)) && !(0..mesh.faces.len()).all(is_triangle) {
        return others::polygons(on, mesh, options);
    }
    let faces = Mesh {
        faces: std::mem::take(&mut mesh.faces),
        ..Mesh::default()
    };
    let triangles = faces.into_surface()?.triangles;
    let machine = on.start()?;
    // A repaired mesh has other triangles, and they take memory until then.
    drop(machine.remembered());
    let (repaired, run) = machine.run(|on| match on {
        On::Device(device) => {
            let (points, segments) = (&mesh.points, &mesh.segments);
            let repaired = family::repair(device, points, &triangles, segments, &steps)?;
            Ok((repaired, Run::of(device, Vec::new())?))
        }
        #[cfg(feature = "serial")]
        On::Serial => Err(Refusal::Serial.into()),
    })?;
    let before = [vertices, triangles.len()];
    let after = [repaired.vertices.len(), repaired.triangles.len()];
    let mut totals = totals_of(before, after, steps, repaired.counts);
    totals.dropped_segments = (segments > 0).then_some(repaired.counts.segments);
    let notes = repaired.holes.iter().copied().map(Note::HolesLeft);
    let notes = notes.collect();
    let family::Repaired {
        triangles: new,
        vertices: of_vertices,
        faces: of_faces,
        segments,
        sides: ids,
        ..
    } = repaired;
    mesh.faces = Faces::Triangles(new);
    mesh.points = mesh::gather(&mesh.points, &of_vertices);
    mesh.attributes = mesh.attributes.gather(&of_vertices);
    mesh.regions = mesh
        .regions
        .map(|regions| mesh::gather(&regions, &of_faces));
    mesh.segments = segments;
    mesh.fields.points = mesh.fields.points.gather(&of_vertices);
    mesh.fields.cells = mesh.fields.cells.gather(&of_faces);
    mesh.fields.sides = mesh.fields.sides.gather(&ids);
    let report = Report {
        run,
        totals,
        notes,
        vertices: of_vertices,
        faces: of_faces,
    };
    Ok((mesh, report))
}

/// Repairs points and triangles that are on a device, where the result stays. The report has no maps: they are with the
/// result, which carries data of vertices and faces.
///
/// # Errors
/// As [`repair()`].
pub fn resident(
    on: &Device,
    points: &Buffer<DVec3>,
    triangles: &Buffer<[Vertex; 3]>,
    options: &Options,
) -> Result<(family::DeviceRepaired, Report)> {
    let steps = options.steps()?;
    if let Some((step, _)) = [("finite", options.finite), ("conform", options.conform)]
        .into_iter()
        .find(|(_, is_wanted)| *is_wanted)
    {
        return Err(Refusal::OnHost { step }.into());
    }
    let repaired = family::repair_on_device(on, points, triangles, &[], &steps)?;
    let before = [points.len(), triangles.len()];
    let after = [repaired.vertices.len(), repaired.triangles.len()];
    let report = Report {
        run: Run::of(on, Vec::new())?,
        totals: totals_of(before, after, steps, repaired.counts),
        notes: repaired
            .holes
            .iter()
            .copied()
            .map(Note::HolesLeft)
            .collect(),
        ..Report::default()
    };
    Ok((repaired, report))
}

/// The counts of a repair, from the numbers of vertices and faces before and after it.
fn totals_of(before: [usize; 2], after: [usize; 2], steps: Steps, done: Done) -> Totals {
    Totals {
        vertices: before[0] as u64,
        faces: before[1] as u64,
        not_finite: None,
        steps,
        done,
        hanging: None,
        dropped_segments: None,
        dropped_tags: None,
        repaired_vertices: after[0] as u64,
        repaired_faces: after[1] as u64,
    }
}
