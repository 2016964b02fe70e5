//! A mesh of triangles refined, on a device or by the paper's sequential algorithm.

use trioxide::device::{Device, Stage};
use trioxide::half_edges::AnyPoint;
use trioxide::mesh::{EdgeTriangulation, Refinement, Triangulation};
use trioxide::refine::{self, DeviceEdgeMesh, End, SerialRun, refine};

use trioxide_arguments::account;

use super::{Input, Wants};

/// What of a run is asked for beside the mesh.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    /// Where the parts come from.
    pub maps: bool,
    /// The mesh.
    pub mesh: Wants,
}

pub(super) struct Outcome<V> {
    pub device: String,
    pub vertices: usize,
    pub triangles: usize,
    pub edges: usize,
    pub mesh: Output<V>,
    /// Triangle of the input that each is a part of, if they are asked for.
    pub ancestors: Vec<u32>,
    pub rounds: Vec<Refinement>,
    pub end: End,
    pub stages: Vec<Stage>,
    pub peak_bytes: Option<u64>,
}

/// What the output's format takes.
pub(super) enum Output<V> {
    None,
    Triangles(Triangulation<V>),
    Edges(EdgeTriangulation<V>),
}

pub(super) fn on_device<P: AnyPoint>(
    on: &Device,
    input: &Input<P::Double>,
    settings: &trioxide::refine::Options,
    wanted: Wanted,
) -> Result<Outcome<P::Double>, refine::Error> {
    let mut fine = match input {
        Input::Triangles(mesh) => DeviceEdgeMesh::<P>::upload(on, mesh)?,
        Input::Edges(mesh) => DeviceEdgeMesh::<P>::upload_edges(on, mesh)?,
    };
    let end = refine(on, &mut fine, settings)?;
    let level = fine.level();
    Ok(Outcome {
        device: on.name(),
        vertices: level.vertices as usize,
        triangles: level.triangles as usize,
        edges: level.edges as usize,
        mesh: match wanted.mesh {
            Wants::Counts => Output::None,
            Wants::Edges => Output::Edges(in_double(fine.download(on)?)),
            Wants::Triangles => Output::Triangles(fine.triangulation(on, input.regions())?),
        },
        ancestors: match wanted.maps {
            true => on.download_rows(&fine.ancestors(on)?)?,
            false => Vec::new(),
        },
        rounds: match wanted.maps {
            true => fine.rounds(on)?,
            false => vec![Refinement::default(); fine.levels().len() - 1],
        },
        end,
        stages: account::take_stages(on)?,
        peak_bytes: Some(on.peak_bytes()),
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
pub(super) fn serial<P: AnyPoint>(
    input: &Input<P::Double>,
    settings: &trioxide::refine::Options,
    wanted: Wanted,
) -> Result<Outcome<P::Double>, refine::Error> {
    // By the check of the devices, so that every machine refuses the same meshes in the same words.
    let on = Device::cpu(Some(1))?;
    match input {
        Input::Triangles(mesh) => drop(DeviceEdgeMesh::<P>::upload(&on, mesh)?),
        Input::Edges(mesh) => drop(DeviceEdgeMesh::<P>::upload_edges(&on, mesh)?),
    }
    let run = match input {
        Input::Triangles(mesh) => SerialRun::<P>::of_triangulation(mesh, settings)?,
        Input::Edges(mesh) => SerialRun::new(
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
    let stages: Vec<Stage> = stages.collect();
    account::stages(&stages);
    Ok(Outcome {
        device: "serial".to_owned(),
        vertices: run.mesh.points.len(),
        triangles: run.mesh.triangles.len(),
        edges: run.mesh.edges.len(),
        stages,
        ancestors: match wanted.maps {
            true => run.ancestors(),
            false => Vec::new(),
        },
        end: run.end,
        mesh: match wanted.mesh {
            Wants::Counts => Output::None,
            Wants::Edges => Output::Edges(in_double(run.mesh)),
            Wants::Triangles => Output::Triangles(run.triangulation(input.regions())?),
        },
        rounds: run.rounds,
        peak_bytes: None,
    })
}
