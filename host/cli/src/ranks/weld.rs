//! `mpirun … trioxide weld`.

use glam::DVec3;
use serde_json::json;
use trioxide::Error;
use trioxide::mesh::{Mesh, VertexAttributes};
use trioxide::weld::{self, Carried, Found, Method};
use trioxide_arguments::weld::MethodOption;
use trioxide_ranks::block::Whole;
use trioxide_ranks::output::{self, Surface};
use trioxide_ranks::weld::{
    Plan, Wanted, Welded, epsilon_for_ratio, gather, gather_map, scatter, weld,
};
use trioxide_ranks::{Block, Fault, Ranks, Result};

use super::files::{check_surface, write_surface};
use super::rank::{Starting, has_extension, is_quiet, with_file};
use super::report::{Ending, Run, report};
use super::slices::{grid_of, note_first_reads, ownership, read_slices};
use crate::commands;
use crate::commands::weld::{
    Options, check_arguments, note_normals, note_ratio, with_flags, write_maps,
};

/// This rank's block of the input.
struct Input {
    block: Block<DVec3>,
    attributes: VertexAttributes,
    locked: Vec<bool>,
    /// Where rank 0 has read the mesh for all: the mesh there, an empty one elsewhere.
    kept: Option<Kept>,
}

#[derive(Default)]
struct Kept {
    mesh: Mesh,
    /// Number of locked vertices, if any are asked for.
    locked: Option<usize>,
}

/// Runs the command as one rank of several.
///
/// # Errors
/// As the single run; options that do not work on ranks.
pub fn run<'a>(ranks: &Ranks, options: &'a Options, starting: Starting) -> Result<Ending<'a>> {
    check_arguments(options)?;
    check_surface(options.output.as_deref())?;
    refuse(options)?;
    let quiet = is_quiet(ranks, &options.device);
    ranks.phase("read");
    let input = read(ranks, options, quiet)?;
    ranks.phase("open the device");
    let on = starting.device(ranks, &options.device)?;
    let in_file = |fault| with_file(fault, &options.input, options.device.precision);
    let carried = Carried {
        attributes: &input.attributes,
        locked: &input.locked,
        regions: None,
    };
    let (clusters, block) = (&options.clusters, &input.block);
    // Rank 0 makes the whole mesh anew where it has read it.
    let is_kept = input.kept.is_some();
    let plan = Plan {
        ownership: ownership(&options.input)?,
        wanted: Wanted {
            map: is_kept || options.map.is_some() || options.removed.is_some(),
            mesh: is_kept || options.output.is_some(),
        },
        ..Plan::default()
    };
    let search = |ratio| {
        let guards = clusters.guards();
        epsilon_for_ratio(ranks, &on, block, &carried, &guards, ratio, &plan)
    };
    let found = clusters.ratio.map(search).transpose().map_err(in_file)?;
    let epsilon = found.map(|found| found.epsilon).or(clusters.epsilon);
    let settings = clusters.options(epsilon.expect("the options ask for one of both"));
    let welded = weld(ranks, &on, block, &carried, &settings, &plan).map_err(in_file)?;
    if let (Some(found), Some(wanted), false) = (&found, clusters.ratio, quiet) {
        note_ratio(wanted, found);
    }
    let outcome = Outcome {
        epsilon: settings.epsilon,
        found,
        faces: [block.cells, welded.faces],
        locked: input.kept.as_ref().and_then(|kept| kept.locked),
    };
    let outcome = match input.kept {
        None => write_slices(ranks, options, &input.block, &welded, outcome)?,
        Some(kept) => {
            let whole = gather(ranks, input.block.vertices, &welded)?;
            ranks.phase("write");
            let made = match whole {
                Some(whole) => take_whole(options, &settings, &kept.mesh, whole, outcome),
                None => Ok((outcome, None)),
            };
            let (outcome, mesh) = ranks.agree(made.map_err(Fault::from))?;
            if let Some(path) = &options.output {
                write_surface(ranks, path, mesh, quiet)?;
            }
            outcome
        }
    };
    let run = Run {
        command: "weld",
        input: &options.input,
        options: &options.device,
        on,
        is_output_taken: options.takes_output(),
    };
    report(ranks, run, outcome.counts(input.block.vertices, &welded))
}

/// What the report has.
struct Outcome {
    epsilon: f64,
    found: Option<Found>,
    /// Faces before and after.
    faces: [u64; 2],
    locked: Option<usize>,
}

impl Outcome {
    fn counts(&self, vertices: u64, welded: &Welded) -> Vec<(&'static str, serde_json::Value)> {
        let [faces, welded_faces] = self.faces;
        let mut counts = vec![
            ("vertices", json!(vertices)),
            ("faces", json!(faces)),
            ("epsilon", json!(self.epsilon)),
        ];
        if let Some(found) = &self.found {
            counts.extend([
                ("ratio", json!(found.ratio)),
                ("clusterings", json!(found.clusterings)),
            ]);
        }
        counts.extend(self.locked.map(|locked| ("locked_vertices", json!(locked))));
        counts.extend([
            ("welded_vertices", json!(welded.clusters)),
            ("welded_faces", json!(welded_faces)),
            ("method", json!(Method::Grid.name())),
            ("rounds", json!(welded.rounds.count)),
            ("gathered_vertices", json!(welded.rounds.gathered)),
        ]);
        counts
    }
}

/// Refuses what one process does and several do not.
fn refuse(options: &Options) -> Result<()> {
    let wrong = if !matches!(
        options.clusters.method,
        MethodOption::Auto | MethodOption::Grid
    ) {
        let method = Method::from(options.clusters.method);
        format!("--method {} is for one process", method.name())
    } else if options.memory_limit.is_some() {
        "--memory-limit is for one process".to_owned()
    } else {
        return Ok(());
    };
    Err(Error::Argument(format!("{wrong}: leave it out, or start it without mpirun")).into())
}

/// Reads this rank's block. Plain triangles in binary `.ply` that become `.ply` are read by all ranks; else rank 0
/// reads for all, and keeps what it has read.
fn read(ranks: &Ranks, options: &Options, quiet: bool) -> Result<Input> {
    let by_all = (options.output.as_deref()).is_none_or(|path| has_extension(path, "ply"));
    let slices = || match grid_of(&options.input)? {
        // Its points follow from their ids.
        Some(grid) if grid.is_plain() => Ok(Some(Block::counts_of_grid(&grid))),
        _ => read_slices(ranks, &options.input, |_, points| Some(points)),
    };
    if by_all
        && options.clusters.lock.is_empty()
        && let Some(block) = slices()?
    {
        return Ok(Input {
            block,
            attributes: VertexAttributes::default(),
            locked: Vec::new(),
            kept: None,
        });
    }
    note_first_reads(
        quiet,
        &options.input,
        " and writes the result: from plain triangles in binary .ply to .ply, without \
             --lock, each does",
    );
    let read = match ranks.rank() {
        0 => read_whole(options, quiet),
        _ => Ok(Default::default()),
    };
    let (kept, locked) = ranks.agree(read.map_err(Fault::from))?;
    let mesh = &kept.mesh;
    let whole = Whole {
        points: &mesh.points,
        corners: weld::triangles(mesh).as_flattened(),
        size: 3,
        regions: Carried::of(mesh, &[]).regions,
        // They get their new ends where the mesh is.
        segments: &[],
    };
    let is_first = ranks.rank() == 0;
    let block = Block::scatter(ranks, is_first.then_some(whole));
    let carried = Carried::of(mesh, &locked);
    let (attributes, locked) = scatter(ranks, block.vertices, is_first.then_some(&carried));
    Ok(Input {
        block,
        attributes,
        locked,
        kept: Some(kept),
    })
}

/// The whole mesh, and its locked vertices.
fn read_whole(options: &Options, quiet: bool) -> trioxide::Result<(Kept, Vec<bool>)> {
    let mesh = commands::read_mesh(&options.input, options.reading, quiet)?;
    note_normals(&mesh, quiet);
    let clusters = &options.clusters;
    let locked = (clusters.locks(mesh.points.len())?.find(&mesh))
        .map_err(|error| with_flags(error).in_file(&options.input))?;
    let count = locked.iter().filter(|&&lock| lock).count();
    let kept = Kept {
        mesh,
        locked: (!clusters.lock.is_empty()).then_some(count),
    };
    Ok((kept, locked))
}

/// Writes what the options ask for, each rank its slice. Collective.
fn write_slices(
    ranks: &Ranks,
    options: &Options,
    block: &Block<DVec3>,
    welded: &Welded,
    outcome: Outcome,
) -> Result<Outcome> {
    if options.map.is_some() || options.removed.is_some() {
        let map = gather_map(ranks, block.vertices, welded)?;
        ranks.phase("write");
        let written = match map {
            Some(map) => write_maps(options, &map),
            None => Ok(()),
        };
        ranks.agree(written.map_err(Fault::from))?;
    }
    if let Some(path) = &options.output {
        let surface = Surface {
            vertices: welded.clusters,
            points: &welded.points,
            corners: output::narrow_ids(&welded.corners),
            regions: welded.regions.clone(),
            segments: &welded.segments,
        };
        output::write_surface(ranks, path, surface)?;
    }
    Ok(outcome)
}

/// The welded mesh of the one that rank 0 has. Writes its maps, if the options ask for them.
fn take_whole(
    options: &Options,
    settings: &weld::Options,
    mesh: &Mesh,
    mut whole: weld::Welded,
    outcome: Outcome,
) -> trioxide::Result<(Outcome, Option<Mesh>)> {
    let welded = whole.take_mesh(mesh, settings);
    let welded = welded.map_err(|error| Error::from(error).in_file(&options.input))?;
    write_maps(options, &whole)?;
    let outcome = Outcome {
        faces: [mesh.faces.len() as u64, welded.faces.len() as u64],
        ..outcome
    };
    Ok((outcome, Some(welded)))
}
