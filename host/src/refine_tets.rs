//! Longest-edge bisection of tetrahedral meshes on a device. [`gpu::refine_tets`] has the kernels, the parts of the
//! paper that they cover, and the proof that the result conforms.
//!
//! ```
//! use glam::DVec3;
//! use trioxide::device::Device;
//! use trioxide::refine_tets::{DeviceTets, Marking, Options, refine};
//! use trioxide::{formats, generate};
//!
//! # fn main() -> trioxide::Result<()> {
//! let folder = std::env::temp_dir();
//! let (coarse, fine) = (folder.join("tets-coarse.vtu"), folder.join("tets-fine.vtu"));
//! formats::write_volume(&coarse, &generate::tet_grid(1000, 1)?.into())?;
//!
//! // Three levels, in each the tetrahedra near the origin.
//! let marking = Marking::Ball([0.0, 0.0, 0.0, 0.25]);
//! let options = Options { marking, rounds: 3, ..Options::default() };
//! let on = Device::cpu(None)?;
//! let mesh = formats::read_volume(&coarse)?.into_tet_mesh()?;
//! let refined = refine(&on, DeviceTets::<DVec3>::upload(&on, &mesh)?, &options)?;
//! formats::write_volume(&fine, &refined.download(&on)?.mesh.into())?;
//! # assert_eq!(refined.levels().len(), 3);
//! # Ok(())
//! # }
//! ```

mod coarsen;
mod edges;
mod error;
mod level;
mod mark;
mod mesh;
mod share;

use glam::{DVec3, Vec3};
use gpu::ids::Tet;
use gpu::point3::Point3;
use trioxide_kernel::words;

pub use error::{Error, Result};
pub use mark::{ends, threshold};
pub use mesh::{DeviceRefined, DeviceTets, RefinedArrays, SharePart};
pub use share::{DividedShare, MarkedShare, ShareChildren, SharePieces, TetShare};

use crate::device::{BitSet, Device};
use crate::fields::{MeshFields, Mix};
pub use crate::marking::Marking;
use crate::mesh::Refinement;
use crate::prolongation::Prolongation;
use crate::refine::count_rounds;
pub use crate::volume::MOST_TETRAHEDRA;
use crate::volume::TetMesh;

/// Points of space that a device can hold: `f32` or `f64` coordinates.
pub trait SpacePoint: Point3 + bytemuck::Pod {}
impl SpacePoint for Vec3 {}
impl SpacePoint for DVec3 {}

/// Edges by which a marked tetrahedron is divided, before the closure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum DividedEdges {
    /// Its longest edge: two children or more
    #[default]
    Longest,
    /// All six: eight children
    Every,
}

/// Options of refinement.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The tetrahedra to refine.
    pub marking: Marking,
    /// Seed of a marking by fraction.
    pub seed: u64,
    /// The edges to divide them by.
    pub edges: DividedEdges,
    /// Most levels. They end before one in which nothing is divided.
    pub rounds: u32,
    /// No level begins with this many tetrahedra or more.
    pub max_tetrahedra: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            marking: Marking::All,
            seed: 0,
            edges: DividedEdges::default(),
            rounds: 1,
            max_tetrahedra: None,
        }
    }
}

/// Counts of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// Edges of the mesh before the level.
    pub edges: u32,
    /// Edges that were divided: new vertices.
    pub divided_edges: u32,
    /// Tetrahedra that were divided.
    pub divided_tetrahedra: u32,
    /// Rounds of the closure, with the last one, which found no more.
    pub closure_rounds: u32,
    /// Tetrahedra afterwards.
    pub tetrahedra: u32,
    /// Tagged triangles afterwards.
    pub faces: u32,
}

/// A refined mesh in host memory, with the parent of each part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refined {
    /// The mesh: the vertices of the input come first. Regions and tags are the parents'.
    pub mesh: TetMesh,
    /// Tetrahedron of the input that each is a part of.
    pub tetrahedron_parents: Vec<u32>,
    /// Tagged triangle of the input that each is a part of.
    pub face_parents: Vec<u32>,
    /// Ends of the edge whose midpoint each new vertex is: earlier vertices, the lower id first.
    pub vertex_parents: Vec<[u32; 2]>,
    /// Counts of each level.
    pub levels: Vec<Level>,
}

impl Refined {
    /// The ends of the edges that the new vertices of each level halve.
    pub fn rounds(&self) -> Vec<Refinement> {
        let mut ends = &self.vertex_parents[..];
        let round = |level: &Level| {
            let (of_level, rest) = ends.split_at(level.divided_edges as usize);
            ends = rest;
            Refinement {
                ends: of_level.to_vec(),
                ..Refinement::default()
            }
        };
        self.levels.iter().map(round).collect()
    }

    /// The matrix that takes values at the `vertices` of the input to the vertices of the mesh.
    ///
    /// # Panics
    /// When the input had another number of vertices.
    pub fn prolongation(&self, vertices: usize) -> Prolongation {
        Prolongation::of_rounds(vertices, &self.rounds())
    }

    /// The `fields` of the input on the mesh: of vertices carried on along the divided edges, of tetrahedra and tagged
    /// triangles those of the ones that they are parts of.
    ///
    /// # Panics
    /// When the fields are of another mesh than the input, which had so many `vertices`.
    pub fn fields(&self, fields: &MeshFields, vertices: usize) -> MeshFields {
        if fields.is_empty() {
            return MeshFields::default();
        }
        let mix = Mix::of_prolongation(self.prolongation(vertices));
        fields.refined(&mix, &self.tetrahedron_parents, &self.face_parents)
    }
}

/// Refines a mesh: from host arrays to host arrays.
///
/// # Errors
/// Errors of [`DeviceTets::upload`] and [`refine`].
pub fn run<P: SpacePoint>(on: &Device, mesh: &TetMesh, options: &Options) -> Result<Refined> {
    let resident = DeviceTets::<P>::upload(on, mesh)?;
    Ok(refine(on, resident, options)?.download(on)?)
}

/// Refines a mesh that is on the device. Between levels only counts leave the device.
///
/// # Errors
/// Those of [`Marking::of_tetrahedra`]; [`Error::LooseFace`]; [`Error::Flat`] for a mesh so fine that midpoints fall on
/// its vertices; [`Error::TooManyTetrahedra`] and [`Error::TooMany`]; errors of the device.
pub fn refine<P: SpacePoint>(
    on: &Device,
    mesh: DeviceTets<P>,
    options: &Options,
) -> Result<DeviceRefined<P>> {
    let count = mesh.count() as usize;
    let marking = options.marking.of_tetrahedra(options.seed, count)?;
    levels(on, mesh, options, |refined| marking.mark(on, refined))
}

/// As [`refine`], but divides the tetrahedra of the input that are in a bit set on the device, and all their parts,
/// instead of the tetrahedra that `options` mark.
///
/// # Errors
/// As [`refine`].
pub fn refine_chosen<P: SpacePoint>(
    on: &Device,
    mesh: DeviceTets<P>,
    chosen: &BitSet<Tet>,
    options: &Options,
) -> Result<DeviceRefined<P>> {
    let tetrahedra = mesh.count() as usize;
    if chosen.len() != words(tetrahedra) {
        return Err(Error::Chosen {
            chosen: 32 * chosen.len(),
            tetrahedra,
        });
    }
    levels(on, mesh, options, |refined| {
        mark::mark_parts_of(on, refined, chosen)
    })
}

/// The levels; `mark` gives the tetrahedra of each, a bit each.
fn levels<P: SpacePoint>(
    on: &Device,
    mesh: DeviceTets<P>,
    options: &Options,
    mark: impl Fn(&DeviceRefined<P>) -> crate::Result<BitSet<Tet>>,
) -> Result<DeviceRefined<P>> {
    let mut refined = DeviceRefined::new(on, mesh)?;
    let rounds = count_rounds(options.rounds);
    for _ in 0..options.rounds {
        rounds.advance(1);
        let is_enough = options
            .max_tetrahedra
            .is_some_and(|most| refined.mesh.count() as usize >= most);
        if is_enough {
            break;
        }
        let marks = on.stage("mark tetrahedra", || mark(&refined))?;
        let counts = level::divide(on, &mut refined, &marks, options.edges)?;
        if counts.divided_tetrahedra == 0 {
            break;
        }
        refined.levels.push(counts);
    }
    Ok(refined)
}
