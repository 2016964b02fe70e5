//! A mesh of triangles refined, on a device or by the paper's sequential algorithm.

use glam::{DVec2, DVec3};
use trioxide::device::Device;
use trioxide::half_edges::{AnyPoint, Remembered};
use trioxide::mesh::{EdgeTriangulation, Refinement, Triangulation};
use trioxide::refine::{self as family, DeviceEdgeMesh, End};

use super::{Cells, Refined, Totals, Wanted};
use crate::error::Result;
use crate::machine::Machine;
use crate::report::Run;

/// The results of a run that are asked for.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    /// The maps from the input to its parts.
    pub maps: bool,
    /// The mesh.
    pub mesh: Wanted,
}

pub(super) struct Done<V> {
    pub run: Run,
    /// Without the sizes of the input.
    pub totals: Totals,
    pub mesh: Output<V>,
    /// Triangle of the input that each is a part of, if they are asked for.
    pub ancestors: Vec<u32>,
    /// The parts of each round, empty unless they are asked for.
    pub rounds: Vec<Refinement>,
}

/// The mesh, as it is asked for.
pub(super) enum Output<V> {
    None,
    Triangles(Triangulation<V>),
    Edges(EdgeTriangulation<V>),
}

/// Points of a mesh that may be given over edges.
pub(super) trait OverEdges: Sized {
    fn over_edges(mesh: EdgeTriangulation<Self>) -> Refined;
}

impl OverEdges for DVec2 {
    fn over_edges(mesh: EdgeTriangulation) -> Refined {
        Refined::Edges(mesh)
    }
}

impl OverEdges for DVec3 {
    fn over_edges(_: EdgeTriangulation<Self>) -> Refined {
        Refined::Nothing
    }
}

fn totals([vertices, faces, edges]: [u64; 3], rounds: usize, end: End) -> Totals {
    Totals {
        vertices,
        faces,
        edges,
        input_vertices: 0,
        input_faces: 0,
        rounds: rounds as u64,
        end,
    }
}

pub(super) fn on_device<P: AnyPoint>(
    on: &Device,
    input: &Cells<P::Double>,
    settings: &family::Options,
    asked: Asked,
    (machine, remembered): (&Machine, Option<&Remembered>),
) -> Result<Done<P::Double>> {
    let mut fine = match input {
        Cells::Triangles(mesh) => DeviceEdgeMesh::<P>::upload_with(on, mesh, remembered)?,
        Cells::Edges(mesh) => DeviceEdgeMesh::<P>::upload_edges(on, mesh)?,
    };
    let end = family::refine(on, &mut fine, settings)?;
    let level = fine.level();
    let sizes = [level.vertices, level.triangles, level.edges].map(u64::from);
    let count = fine.levels().len() - 1;
    let mesh = match asked.mesh {
        Wanted::Report => Output::None,
        Wanted::Edges => Output::Edges(in_double(fine.download(on)?)),
        Wanted::Triangles => Output::Triangles(fine.triangulation(on, input.regions())?),
    };
    let (ancestors, rounds) = match asked.maps {
        true => (on.download_rows(&fine.ancestors(on)?)?, fine.rounds(on)?),
        false => (Vec::new(), vec![Refinement::default(); count]),
    };
    if asked.mesh == Wanted::Triangles {
        machine.remember(on, || fine.into_surface(on));
    }
    Ok(Done {
        totals: totals(sizes, count, end),
        mesh,
        ancestors,
        rounds,
        run: Run::of(on, Vec::new())?,
    })
}

fn in_double<P: AnyPoint>(mesh: EdgeTriangulation<P>) -> EdgeTriangulation<P::Double> {
    EdgeTriangulation {
        points: mesh.points.into_iter().map(P::to_f64).collect(),
        edges: mesh.edges,
        triangles: mesh.triangles,
        tags: mesh.tags,
    }
}

/// The paper's sequential algorithm.
#[cfg(feature = "serial")]
pub(super) fn serial<P: AnyPoint>(
    input: &Cells<P::Double>,
    settings: &family::Options,
    asked: Asked,
) -> Result<Done<P::Double>> {
    use trioxide::device::Stage;
    use trioxide_reference::refine::SerialRun;

    // By the check of the devices, so that every machine refuses the same meshes in the same words.
    let on = Device::cpu(Some(1))?;
    match input {
        Cells::Triangles(mesh) => drop(DeviceEdgeMesh::<P>::upload(&on, mesh)?),
        Cells::Edges(mesh) => drop(DeviceEdgeMesh::<P>::upload_edges(&on, mesh)?),
    }
    let run = match input {
        Cells::Triangles(mesh) => SerialRun::<P>::of_triangulation(mesh, settings)?,
        Cells::Edges(mesh) => SerialRun::new(
            EdgeTriangulation {
                points: mesh.points.iter().map(|&p| P::from_f64(p)).collect(),
                edges: mesh.edges.clone(),
                triangles: mesh.triangles.clone(),
                tags: mesh.tags.clone(),
            },
            settings,
        )?,
    };
    let stages = run.times.iter().map(|&(name, time)| Stage {
        name,
        milliseconds: time.as_secs_f64() * 1e3,
    });
    let fine = &run.mesh;
    let sizes = [fine.points.len(), fine.triangles.len(), fine.edges.len()];
    Ok(Done {
        run: Run::serial(stages.collect()),
        totals: totals(sizes.map(|size| size as u64), run.rounds.len(), run.end),
        ancestors: match asked.maps {
            true => run.ancestors(),
            false => Vec::new(),
        },
        mesh: match asked.mesh {
            Wanted::Report => Output::None,
            Wanted::Edges => Output::Edges(in_double(run.mesh)),
            Wanted::Triangles => Output::Triangles(run.triangulation(input.regions())?),
        },
        rounds: run.rounds,
    })
}
