//! `mpirun … trioxide refine` of tetrahedra.

use glam::{DVec3, Vec3};
use serde_json::json;
use trioxide::Device;
use trioxide::fields::{MeshFields, Mix};
use trioxide::formats::ancestry;
use trioxide::mesh::Simplices;
use trioxide::prolongation::Prolongation;
use trioxide::refine_tets::SpacePoint;
use trioxide::volume::{TetMesh, VolumeMesh};
use trioxide_arguments::device::to_values;
use trioxide_arguments::names::worded;
use trioxide_operations::refine_tets::Totals;
use trioxide_ranks::refine_tets::{self, Whole};
use trioxide_ranks::tets::Input;
use trioxide_ranks::{Ownership, Part, Ranks, Result};

use super::files::{check_output, write_volume};
use super::rank::{Starting, check_level, in_precision, is_quiet, with_file};
use super::report::{Counts, Ending, report};
use super::tets::{Reading, TetInput};
use crate::commands::refine::Options;

/// Runs the command as one rank of several.
///
/// # Errors
/// As the single run.
pub fn run<'a>(ranks: &Ranks, options: &'a Options, starting: Starting) -> Result<Ending<'a>> {
    check_output(options.output.as_deref(), true)?;
    ranks.phase("read");
    let quiet = is_quiet(ranks, &options.device);
    let reading = (&*options.input, options.reading);
    let read = TetInput::read(ranks, reading, Reading::default(), quiet)?;
    let input = read.input();
    let (mesh, fields) = (&read.mesh, &read.fields);
    let block = input.block;
    let count = block.cells as usize;
    let wanted = options
        .settings(count, Simplices::Tetrahedra)
        .and_then(|wanted| wanted.of_tetrahedra(count).map_err(worded));
    let wanted = ranks.agree(wanted)?;
    let has_fields = ranks.any(!fields.is_empty());
    let settings = refine_tets::Options {
        marking: wanted.marking,
        seed: wanted.seed,
        edges: wanted.edges,
        rounds: wanted.rounds,
        max_tetrahedra: options.refine.max_triangles.map(|most| most as u64),
        record: options.maps.is_some() || (options.output.is_some() && has_fields),
    };
    let precision = options.refine.precision;
    let in_file = |fault| with_file(fault, &options.input);
    let part = read.part(ranks, precision).map_err(in_file)?;
    ranks.phase("open the device");
    let on = starting.device(ranks, &options.device)?;
    let refined = in_precision!(precision, refined::<DVec3, Vec3>);
    let (counts, whole) = refined(ranks, &on, options, input, part, &settings).map_err(in_file)?;
    if let Some(folder) = &options.maps {
        ranks.phase("write");
        let vertices = block.vertices as usize;
        let written = whole.as_ref().map_or(Ok(()), |whole| {
            let parents = &whole.tetrahedron_parents;
            ancestry::write(
                folder,
                Simplices::Tetrahedra,
                vertices,
                parents,
                &whole.rounds,
            )
        });
        ranks.agree(written)?;
    }
    if let Some(path) = &options.output {
        ranks.phase("write");
        let mesh = whole.map(|whole| with_fields(mesh, fields, whole));
        write_volume(ranks, path, mesh, quiet)?;
    }
    let run = (&*options.input, &options.device, on);
    report(ranks, "refine", run, counts)
}

/// The counts of a run, and at rank 0 the refined mesh, if it is wanted. Collective.
fn refined<P: SpacePoint>(
    ranks: &Ranks,
    on: &Device,
    options: &Options,
    input: Input,
    part: Part<DVec3>,
    settings: &refine_tets::Options,
) -> Result<(Counts, Option<Whole>)> {
    let run = refine_tets::run::<P>(ranks, on, input, part, settings, &Ownership::Near)?;
    check_level(&options.refine, run.levels.len())?;
    let exchanges: u64 = run.levels.iter().map(|level| level.exchanges).sum();
    let totals = Totals {
        vertices: run.counts.vertices,
        cells: run.counts.tetrahedra,
        tagged_faces: run.counts.faces,
        input_vertices: input.block.vertices,
        input_cells: input.block.cells,
        rounds: run.levels.len() as u64,
        closure_rounds: None,
    };
    let mut counts = to_values(totals.counts());
    counts.push(("exchanges", json!(exchanges)));
    let whole = match options.output.is_some() || options.maps.is_some() {
        true => run.gather(ranks, on, input.block)?,
        false => None,
    };
    Ok((counts, whole))
}

/// The refined mesh with all that the input carries.
fn with_fields(input: &TetMesh, fields: &MeshFields, whole: Whole) -> VolumeMesh {
    let fields = match fields.is_empty() {
        true => MeshFields::default(),
        false => {
            let levels = Prolongation::of_rounds(input.points.len(), &whole.rounds);
            let mix = Mix::of_prolongation(levels);
            fields.refined(&mix, &whole.tetrahedron_parents, &whole.face_parents)
        }
    };
    VolumeMesh {
        fields,
        ..VolumeMesh::from(whole.into_mesh(input))
    }
}
