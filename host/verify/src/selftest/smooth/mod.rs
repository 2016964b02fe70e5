//! Smoothing on a device against the serial reference.

mod meshes;
mod options;

pub(super) use meshes::mixed as mixed_cells;

use std::sync::Arc;

use glam::{DVec3, Vec3};
use gpu::ids::{CellFace, Vertex};
use gpu::smooth::{Vector, cell_quality, dihedral_cosine, radius_ratio};

use super::{Case, Outcome, Size, equal};
use trioxide::bit_set::members;
use trioxide::device::{Buffer, Device};
use trioxide::mesh::Mesh;
use trioxide::quality3d::{Histogram, quality};
use trioxide::smooth::{
    self, Blocks, DeviceMesh, Filter, Form, Layout, Moves, Options, Relations, Renumber, Schedule,
};
use trioxide::volume::VolumeMesh;
use trioxide::{Error, Result};
use trioxide_reference::smooth as reference;

pub fn cases(size: Size) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    // The halves alternate from mesh to mesh: each combination runs in both precisions.
    let halves: [fn(&Device, &VolumeMesh) -> Outcome; 2] =
        [options::volume::<0>, options::volume::<1>];
    for ((name, mesh), options_of_half) in meshes::volumes(size)?
        .into_iter()
        .zip(halves.into_iter().cycle())
    {
        let mesh = Arc::new(mesh);
        let mut add = |what: &str, check: fn(&Device, &VolumeMesh) -> Outcome| {
            let mesh = mesh.clone();
            cases.push(Case::new(format!("smooth {name}: {what}"), move |on| {
                check(on, &mesh)
            }));
        };
        add("neighbours and boundary", relations);
        add("form A", |on, mesh| every_precision(on, mesh, Form::A));
        add("form B, one block", |on, mesh| {
            every_precision(on, mesh, Form::B)
        });
        add("form B, coloured", |on, mesh| {
            every_precision(on, mesh, Form::BColoured)
        });
        add("form B, exact", |on, mesh| {
            every_precision(on, mesh, Form::BExact)
        });
        add("form B, racing", racing);
        add("guarded", |on, mesh| {
            guarded::<DVec3>(on, mesh)?;
            guarded::<Vec3>(on, mesh)
        });
        add("weights, methods and sliding boundary", options_of_half);
        add("quality", |on, mesh| {
            measured::<DVec3>(on, mesh)?;
            measured::<Vec3>(on, mesh)
        });
    }
    cases.push(Case::new(
        "smooth surfaces: neighbours and border",
        move |on| surfaces(on, size),
    ));
    cases.push(Case::new(
        "smooth surfaces: arrays of the device",
        move |on| options::resident(on, size),
    ));
    for (k, (name, mesh)) in meshes::surfaces(size)?.into_iter().enumerate() {
        let name = format!("smooth {name}: weights and methods of surfaces");
        cases.push(Case::new(name, move |on| {
            options::surface(on, &mesh, k % 2)
        }));
    }
    cases.push(Case::new(
        "smooth: bad meshes and options are refused",
        refused,
    ));
    cases.push(Case::new(
        "smooth: arrays of other meshes are refused",
        move |on| mismatched(on, size),
    ));
    Ok(cases)
}

/// The reference's view of a mesh.
struct Expected {
    rows: Vec<Vec<u32>>,
    moving: Vec<bool>,
}

impl Expected {
    fn new(mesh: &VolumeMesh) -> Self {
        let nodes = mesh.points.len();
        let rows = reference::neighbours(nodes, mesh.cells.iter());
        let mut stays = reference::boundary_nodes(nodes, mesh.cells.iter());
        if let Some(regions) = &mesh.regions {
            for (v, on_interface) in reference::interface_nodes(nodes, mesh.cells.iter(), regions)
                .into_iter()
                .enumerate()
            {
                stays[v] |= on_interface;
            }
        }
        let moving = rows
            .iter()
            .zip(stays)
            .map(|(row, stays)| !stays && !row.is_empty())
            .collect();
        Self { rows, moving }
    }

    fn smooth<P: Vector>(
        &self,
        mesh: &VolumeMesh,
        form: Form,
        schedule: Schedule,
    ) -> (Vec<DVec3>, Moves) {
        let mut points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
        let graph = reference::Graph {
            rows: &self.rows,
            weights: &[],
            moving: &self.moving,
        };
        let by_id = reference::id_order(&self.moving);
        let moves = match form {
            Form::A => reference::form_a(&mut points, &graph, schedule),
            Form::B => {
                let lanes = gpu::smooth::ONE_BLOCK_LANES;
                reference::in_chunks(&mut points, &graph, &by_id, lanes, schedule)
            }
            Form::BColoured => {
                let order = reference::colour_order(&self.rows, &self.moving);
                reference::form_b(&mut points, &graph, &order, schedule)
            }
            Form::BExact => reference::form_b(&mut points, &graph, &by_id, schedule),
        };
        (points.into_iter().map(P::to_f64).collect(), moves)
    }
}

fn relations(on: &Device, mesh: &VolumeMesh) -> Outcome {
    let nodes = mesh.points.len();
    let resident = DeviceMesh::<DVec3>::upload(on, mesh)?;
    let found = Relations::new(on, &resident)?;
    let expected = reference::neighbours(nodes, mesh.cells.iter());
    same_rows(on, found.neighbours(), &expected)?;
    let (rows, neighbours) = found.cell_neighbours(on)?;
    let expected = reference::cell_neighbours(nodes, mesh.cells.iter());
    same_rows(on, (&rows, &neighbours), &expected)?;
    let faces = found.boundary_faces().ok_or("a surface")?;
    let faces: Vec<(u32, u32)> = members(&on.download_rows(faces)?)
        .map(CellFace::new)
        .map(|face| (face.cell().index(), face.side()))
        .collect();
    equal(
        "boundary face",
        &faces,
        &reference::boundary_faces(mesh.cells.iter()),
    )?;
    same_nodes(
        &on.download_rows(found.boundary_nodes())?,
        &reference::boundary_nodes(nodes, mesh.cells.iter()),
    )
}

fn same_rows(
    on: &Device,
    (rows, neighbours): (&Buffer<u32>, &Buffer<Vertex>),
    expected: &[Vec<u32>],
) -> Outcome {
    let rows = on.download(rows)?;
    let neighbours: Vec<u32> = on.download_rows(neighbours)?;
    let mut ends = vec![0];
    for row in expected {
        ends.push(ends[ends.len() - 1] + row.len() as u32);
    }
    equal("row", &rows, &ends)?;
    equal("neighbour", &neighbours, &expected.concat())
}

fn same_nodes(words: &[u32], expected: &[bool]) -> Outcome {
    let nodes: Vec<u32> = members(words).collect();
    let expected: Vec<u32> = (0..expected.len() as u32)
        .filter(|&v| expected[v as usize])
        .collect();
    equal("boundary node", &nodes, &expected)
}

fn schedules() -> [Schedule; 3] {
    let schedule = |tolerance, max_sweeps| Schedule {
        tolerance,
        max_sweeps,
        method: Filter::Laplacian,
    };
    // One sweep; more than a batch, an odd number; until converged.
    [schedule(0.0, 1), schedule(0.0, 35), schedule(1e-3, 400)]
}

fn every_precision(on: &Device, mesh: &VolumeMesh, form: Form) -> Outcome {
    every_layout::<DVec3>(on, mesh, form)?;
    every_layout::<Vec3>(on, mesh, form)
}

fn every_layout<P: Vector>(on: &Device, mesh: &VolumeMesh, form: Form) -> Outcome {
    let expected = Expected::new(mesh);
    for (i, schedule) in schedules().into_iter().enumerate() {
        let (points, moves) = expected.smooth::<P>(mesh, form, schedule);
        for layout in [Layout::Soa, Layout::Aos, Layout::Aligned] {
            for blocks in [Blocks::One, Blocks::Many] {
                for renumber in [Renumber::Off, Renumber::On] {
                    let skipped = match (form, blocks) {
                        // Its chunks follow the order in memory.
                        (Form::B, Blocks::One) => renumber == Renumber::On,
                        (Form::B, Blocks::Many) => true,
                        (Form::BColoured | Form::BExact, Blocks::One) => true,
                        _ => false,
                    };
                    // One layout is enough for a result that does not depend on it.
                    if skipped || i > 0 && (layout != Layout::Aos && renumber == Renumber::On) {
                        continue;
                    }
                    let options = Options {
                        form,
                        layout,
                        blocks,
                        renumber,
                        tolerance: schedule.tolerance,
                        max_iterations: schedule.max_sweeps,
                        ..Options::default()
                    };
                    let ours = smooth::run::<P>(on, mesh, &[], &options)?;
                    equal("node", &ours.points, &points)?;
                    equal("result of sweeps", &[ours.moves], &[moves])?;
                }
            }
        }
    }
    Ok(())
}

/// Racing sweeps differ from run to run, but converge, and to the same nodes.
fn racing(on: &Device, mesh: &VolumeMesh) -> Outcome {
    racing_in::<DVec3>(on, mesh, 1e-9, 1e-5)?;
    racing_in::<Vec3>(on, mesh, 1e-5, 1e-2)
}

fn racing_in<P: Vector>(on: &Device, mesh: &VolumeMesh, tolerance: f64, near: f64) -> Outcome {
    let expected = Expected::new(mesh);
    let schedule = Schedule {
        tolerance,
        max_sweeps: 20_000,
        method: Filter::Laplacian,
    };
    let (points, moves) = expected.smooth::<P>(mesh, Form::BExact, schedule);
    for layout in [Layout::Soa, Layout::Aos, Layout::Aligned] {
        let options = Options {
            form: Form::B,
            layout,
            tolerance,
            max_iterations: schedule.max_sweeps,
            ..Options::default()
        };
        let ours = smooth::run::<P>(on, mesh, &[], &options)?;
        if !ours.moves.converged || !moves.converged {
            return Err(format!("not converged: {:?}, {moves:?}", ours.moves));
        }
        for (v, (a, b)) in ours.points.iter().zip(&points).enumerate() {
            if !expected.moving[v] && a != b {
                return Err(format!("node {v} is fixed, but went from {b} to {a}"));
            }
            if a.distance(*b) > near {
                return Err(format!("node {v} is at {a}, far from {b}"));
            }
        }
    }
    Ok(())
}

/// No move harms a cell, in any layout; and the result is the reference's.
fn guarded<P: Vector>(on: &Device, mesh: &VolumeMesh) -> Outcome {
    let nodes = mesh.points.len();
    let expected = Expected::new(mesh);
    let by_cell = reference::cell_neighbours(nodes, mesh.cells.iter());
    let order = reference::colour_order(&by_cell, &expected.moving);
    let cells_of = reference::cells_of(nodes, mesh.cells.iter());
    for schedule in schedules() {
        let mut points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
        let graph = reference::Graph {
            rows: &expected.rows,
            weights: &[],
            moving: &expected.moving,
        };
        let moves = reference::guarded(&mut points, &graph, &order, (&cells_of, false), schedule);
        let points: Vec<DVec3> = points.into_iter().map(P::to_f64).collect();
        for (layout, renumber) in [
            (Layout::Soa, Renumber::Off),
            (Layout::Aos, Renumber::On),
            (Layout::Aligned, Renumber::Off),
        ] {
            let options = Options {
                form: Form::BColoured,
                layout,
                renumber,
                tolerance: schedule.tolerance,
                max_iterations: schedule.max_sweeps,
                guard: true,
                ..Options::default()
            };
            let ours = smooth::run::<P>(on, mesh, &[], &options)?;
            equal("node", &ours.points, &points)?;
            equal("result of sweeps", &[ours.moves], &[moves])?;
            let resident = DeviceMesh::<P>::upload(on, mesh)?;
            let before = quality(on, resident.cells(), resident.points())?;
            let own: Vec<P> = ours.points.iter().map(|&p| P::from_f64(p)).collect();
            let after = quality(on, resident.cells(), &on.upload(&own)?)?;
            if after.inverted > before.inverted || after.worst_jacobian < before.worst_jacobian {
                return Err(format!("{before:?} became {after:?}"));
            }
        }
    }
    Ok(())
}

/// Histograms, extremes and counts against a loop over the cells.
fn measured<P: Vector>(on: &Device, mesh: &VolumeMesh) -> Outcome {
    // Some inverted cells, and one without volume.
    let mut mesh = mesh.clone();
    for (v, p) in mesh.points.iter_mut().enumerate() {
        if v % 50 == 7 {
            *p = DVec3::splat(0.25);
        }
    }
    let resident = DeviceMesh::<P>::upload(on, &mesh)?;
    let ours = quality(on, resident.cells(), resident.points())?;
    let points: Vec<DVec3> = mesh
        .points
        .iter()
        .map(|&p| P::from_f64(p).to_f64())
        .collect();
    let mut jacobians = Vec::new();
    let (mut angles, mut ratios) = (Vec::new(), Vec::new());
    let mut inverted = 0;
    for cell in mesh.cells.iter() {
        let found = cell_quality(cell.len() as u32, |k| points[cell[k as usize] as usize]);
        jacobians.push(found.jacobian);
        inverted += u64::from(!found.is_positive);
        if let Ok(corners) = <[u32; 4]>::try_from(cell) {
            let corners = corners.map(|v| points[v as usize]);
            angles.push(
                dihedral_cosine(corners)
                    .clamp(-1.0, 1.0)
                    .acos()
                    .to_degrees(),
            );
            ratios.push(radius_ratio(corners));
        }
    }
    equal("inverted cells", &[ours.inverted], &[inverted])?;
    let worst = jacobians.iter().copied().fold(f64::INFINITY, f64::min);
    equal("worst Jacobian", &[ours.worst_jacobian], &[worst])?;
    same_histogram(&ours.jacobians, &jacobians)?;
    match &ours.tetrahedra {
        None => equal("tetrahedra", &angles, &[]),
        Some(tetrahedra) => {
            let smallest = angles.iter().copied().fold(f64::INFINITY, f64::min);
            equal("smallest angle", &[tetrahedra.smallest_angle], &[smallest])?;
            let largest = ratios.iter().copied().fold(0.0, f64::max);
            equal("largest ratio", &[tetrahedra.largest_ratio], &[largest])?;
            same_histogram(&tetrahedra.ratios, &ratios)?;
            equal(
                "angles counted",
                &[tetrahedra.angles.counts.iter().sum::<u64>()],
                &[angles.len() as u64],
            )
        }
    }
}

fn same_histogram(ours: &Histogram, values: &[f64]) -> Outcome {
    let mut counts = vec![0; ours.bounds.len() + 1];
    for value in values {
        counts[ours.bounds.iter().filter(|&bound| bound <= value).count()] += 1;
    }
    equal("bin", &ours.counts, &counts)
}

fn surfaces(on: &Device, size: Size) -> Outcome {
    for (name, mesh) in meshes::surfaces(size)? {
        let nodes = mesh.points.len();
        let faces = || (0..mesh.faces.len()).map(|f| mesh.faces.get(f));
        let resident = DeviceMesh::<Vec3>::upload_surface(on, &mesh)?;
        let found = Relations::new(on, &resident)?;
        let expected = reference::surface_neighbours(nodes, faces());
        same_rows(on, found.neighbours(), &expected).map_err(|error| format!("{name}: {error}"))?;
        let border = reference::border_nodes(nodes, faces());
        same_nodes(&on.download_rows(found.boundary_nodes())?, &border)
            .map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(())
}

fn refused(on: &Device) -> Outcome {
    let refuse = |change: fn(&mut VolumeMesh), text: &str| {
        let mut mesh = meshes::mixed(2);
        change(&mut mesh);
        match smooth::run::<DVec3>(on, &mesh, &[], &Options::default()) {
            Err(smooth::Error::Shared(error @ Error::Invalid { .. }))
                if error.to_string().contains(text) =>
            {
                Ok(())
            }
            other => Err(format!("{text:?} was not refused: {other:?}")),
        }
    };
    refuse(|m| m.points[3].y = f64::NAN, "node 3 has a coordinate")?;
    refuse(
        |m| cells(m).vertices[0] = 1 << 20,
        "cell 0 has a vertex index that is out of range",
    )?;
    refuse(
        |m| cells(m).vertices[1] = cells(m).vertices[0],
        "cell 0 has a vertex twice",
    )?;
    refuse(|m| cells(m).offsets[1] -= 1, "vertices: 4, 5, 6 and 8")?;
    refuse(
        |m| cells(m).vertices.push(0),
        "offsets of cells that do not run from 0",
    )?;
    refuse(|m| cells(m).offsets[0] += 1, "vertices: 4, 5, 6 and 8")?;
    refuse(|m| m.regions = Some(vec![1]), "region ids for 1 cells")?;
    let mesh = meshes::mixed(2);
    for options in [
        Options {
            tolerance: -1.0,
            ..Options::default()
        },
        Options {
            form: Form::BExact,
            blocks: Blocks::One,
            ..Options::default()
        },
    ] {
        if !matches!(
            smooth::run::<DVec3>(on, &mesh, &[], &options),
            Err(smooth::Error::Tolerance(-1.0) | smooth::Error::OneBlock)
        ) {
            return Err(format!("{options:?} was not refused"));
        }
    }
    Ok(())
}

/// Device meshes, relations and nodes that do not belong together are refused.
fn mismatched(on: &Device, size: Size) -> Outcome {
    let mesh = DeviceMesh::<DVec3>::upload(on, &meshes::mixed(2))?;
    let options = Options::default();
    let relations = Relations::new(on, &mesh)?;
    let prepared = smooth::prepare(on, &relations, &[], &options)?;
    for form in [Form::B, Form::BColoured, Form::BExact] {
        let other = Options {
            form,
            ..options.clone()
        };
        match smooth::relax(on, &prepared, &other) {
            Err(smooth::Error::OtherSweeps {
                form: Form::A,
                guard: false,
            }) => {}
            _ => return Err(format!("{form:?} was not refused")),
        }
    }
    match smooth::prepare(on, &relations, &[true], &options) {
        Err(smooth::Error::FixedNodes { entries: 1, .. }) => {}
        _ => return Err("a list of one fixed node was not refused".to_owned()),
    }
    let few = on.upload(&[DVec3::ZERO; 3])?;
    if quality(on, mesh.cells(), &few).is_ok() {
        return Err("three points for all nodes were not refused".to_owned());
    }
    for (name, surface) in meshes::surfaces(size)? {
        let resident = DeviceMesh::<DVec3>::upload_surface(on, &surface)?;
        if quality(on, resident.cells(), resident.points()).is_ok() {
            return Err(format!("{name}: the quality of a surface was not refused"));
        }
        let surface = Mesh {
            regions: Some(vec![1]),
            ..surface
        };
        if DeviceMesh::<DVec3>::upload_surface(on, &surface).is_ok() {
            return Err(format!("{name}: one region for all faces was not refused"));
        }
    }
    Ok(())
}

fn cells(mesh: &mut VolumeMesh) -> &mut trioxide::volume::MixedCells {
    match &mut mesh.cells {
        trioxide::volume::Cells::Mixed(cells) => cells,
        trioxide::volume::Cells::Tetrahedra(_) => panic!("the mesh is mixed"),
    }
}
