//! Marked tetrahedra are divided, and their neighbours as far as conformity requires: whole meshes, with all that they
//! carry. The family is [`trioxide::refine_tets`].

use std::sync::Arc;

use glam::{DVec3, Vec3};
use trioxide::device::Device;
use trioxide::mesh::Refinement;
use trioxide::prolongation::Prolongation;
use trioxide::refine_tets::{self as family, Refined, SpacePoint};
use trioxide::volume::{TetMesh, VolumeMesh};

use crate::error::Result;
use crate::input::tetrahedra;
use crate::machine::{On, Start};
use crate::precision::Precision;
use crate::refine::Options;
use crate::report::{Counts, Note, Run};

/// The machine, the counts, and the maps from the input to its parts.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The machine, with times.
    pub run: Run,
    /// The counts.
    pub totals: Totals,
    /// The tetrahedron of the input that each is a part of; N.
    pub parents: Vec<u32>,
    /// The ends of the edge that each new vertex halves; V' - V.
    pub vertex_parents: Vec<[u32; 2]>,
    /// The ends of the edges that the new vertices of each level halve, if the options ask for maps.
    pub rounds: Vec<Refinement>,
    /// Notes for the user.
    pub notes: Vec<Note>,
}

impl Report {
    /// The matrix that takes values at the vertices of the input to those of the refined mesh. The options ask for
    /// maps.
    pub fn prolongation(&self) -> Prolongation {
        Prolongation::of_rounds(self.totals.input_vertices as usize, &self.rounds)
    }
}

/// The counts of a refinement of tetrahedra.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Vertices afterwards.
    pub vertices: u64,
    /// Tetrahedra afterwards.
    pub cells: u64,
    /// Tagged faces afterwards.
    pub tagged_faces: u64,
    /// Vertices before.
    pub input_vertices: u64,
    /// Tetrahedra before.
    pub input_cells: u64,
    /// Rounds that were done.
    pub rounds: u64,
    /// Rounds of the closures, of one process.
    pub closure_rounds: Option<u64>,
}

impl Totals {
    /// By their names.
    pub fn counts(&self) -> Counts {
        let mut counts: Counts = vec![
            ("vertices", self.vertices.into()),
            ("cells", self.cells.into()),
            ("tagged_faces", self.tagged_faces.into()),
            ("input_vertices", self.input_vertices.into()),
            ("input_cells", self.input_cells.into()),
            ("rounds", self.rounds.into()),
        ];
        counts.extend(
            self.closure_rounds
                .map(|rounds| ("closure_rounds", rounds.into())),
        );
        counts
    }
}

/// Refines a mesh of tetrahedra, with its fields, regions and tagged faces. Inverted ones are turned around.
///
/// ```
/// use trioxide_operations::{refine, refine_tets};
///
/// # fn main() -> trioxide_operations::Result<()> {
/// # let device = trioxide::Device::cpu(None)?;
/// let options = refine::Options {
///     mark: Some("ball:0,0,0,0.5".parse().expect("a mark")),
///     ..Default::default()
/// };
/// let cubes = trioxide::generate::tet_grid(27, 1)?;
/// let (fine, report) = refine_tets(&device, cubes.into(), &options)?;
/// assert!(fine.cells.len() > 48 && report.parents.len() == fine.cells.len());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A cell that is no tetrahedron, or breaks another rule of meshes of tetrahedra; [`Refusal`](crate::refine::Refusal);
/// those of [`trioxide::refine_tets::refine()`] and of the device.
pub fn refine_tets(
    on: &dyn Start,
    mesh: VolumeMesh,
    options: &Options,
) -> Result<(VolumeMesh, Report)> {
    options.check_volume()?;
    let about = Arc::clone(&mesh.about);
    let (mesh, fields, notes) = tetrahedra(mesh)?;
    let settings = options.of_tetrahedra(mesh.tetrahedra.len())?;
    let (mut refined, run) = on.start()?.run(|on| match (on, options.precision) {
        (On::Device(device), Precision::F64) => on_device::<DVec3>(device, &mesh, &settings),
        (On::Device(device), Precision::F32) => on_device::<Vec3>(device, &mesh, &settings),
        #[cfg(feature = "serial")]
        (On::Serial, Precision::F64) => serial::<DVec3>(&mesh, &settings),
        #[cfg(feature = "serial")]
        (On::Serial, Precision::F32) => serial::<Vec3>(&mesh, &settings),
    })?;
    let vertices = mesh.points.len();
    let levels = &refined.levels;
    options
        .check_level(levels.len())
        .map_err(family::Error::from)?;
    let closure_rounds = levels
        .iter()
        .map(|level| u64::from(level.closure_rounds))
        .sum();
    let totals = Totals {
        vertices: refined.mesh.points.len() as u64,
        cells: refined.mesh.tetrahedra.len() as u64,
        tagged_faces: refined.mesh.faces.len() as u64,
        input_vertices: vertices as u64,
        input_cells: mesh.tetrahedra.len() as u64,
        rounds: levels.len() as u64,
        closure_rounds: Some(closure_rounds),
    };
    let fine = VolumeMesh {
        fields: refined.fields(&fields, vertices),
        about,
        ..VolumeMesh::from(std::mem::take(&mut refined.mesh))
    };
    let report = Report {
        run,
        totals,
        rounds: if options.maps {
            refined.rounds()
        } else {
            Vec::new()
        },
        parents: refined.tetrahedron_parents,
        vertex_parents: refined.vertex_parents,
        notes,
    };
    Ok((fine, report))
}

fn on_device<P: SpacePoint>(
    on: &Device,
    mesh: &TetMesh,
    settings: &family::Options,
) -> Result<(Refined, Run)> {
    let refined = family::run::<P>(on, mesh, settings)?;
    Ok((refined, Run::of(on, Vec::new())?))
}

#[cfg(feature = "serial")]
fn serial<P: SpacePoint>(mesh: &TetMesh, settings: &family::Options) -> Result<(Refined, Run)> {
    use std::time::Instant;
    use trioxide::device::Stage;
    use trioxide::progress;
    use trioxide::refine_tets::DeviceTets;
    use trioxide_reference as reference;

    progress::stage("refine, sequentially");
    let start = Instant::now();
    // By the check of the devices, so that every machine refuses the same meshes in the same words.
    drop(DeviceTets::<P>::upload(&Device::cpu(Some(1))?, mesh)?);
    let refined = reference::refine_tets::<P>(mesh, settings)?;
    let stage = Stage {
        name: "refine",
        milliseconds: start.elapsed().as_secs_f64() * 1e3,
    };
    Ok((refined, Run::serial(vec![stage])))
}
