//! Longest-edge bisection of tetrahedral meshes on a device. The kernels, what they cover of the paper, and the proof that
//! the result conforms are in `gpu::refine_tets`.

mod edges;
mod pipeline;

use glam::{DVec3, Vec3};
use gpu::point3::Point3;
use trioxide_kernel::launch::Buffer;

use crate::backend::Device;
use crate::volume::{TaggedTriangle, TetMesh};
use crate::{Error, Result};

/// Points of space that a device can hold: `f32` or `f64` coordinates.
pub trait SpacePoint: Point3 + bytemuck::Pod {}
impl SpacePoint for Vec3 {}
impl SpacePoint for DVec3 {}

/// Which tetrahedra a level divides.
#[derive(Clone, Debug, PartialEq)]
pub enum Marking {
    /// Every one.
    All,
    /// A fraction of all, chosen by a seed, anew on each level.
    Fraction {
        /// Between 0 and 1.
        fraction: f64,
        /// Another seed chooses others.
        seed: u64,
    },
    /// Those whose centroid lies in a box, its sides included.
    Box {
        /// Its corner with the smallest coordinates.
        low: DVec3,
        /// Its corner with the largest coordinates.
        high: DVec3,
    },
    /// Those whose centroid lies in a ball.
    Ball {
        /// Its centre.
        centre: DVec3,
        /// Its radius.
        radius: f64,
    },
    /// Those with more than a volume.
    Volume(f64),
    /// Those for which it holds here, and on later levels what they were divided into.
    Chosen(Vec<bool>),
}

/// Edges by which a marked tetrahedron is divided, before the closure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DividedEdges {
    /// Its longest edge: two children or more.
    #[default]
    Longest,
    /// All six: eight children.
    Every,
}

/// How to refine.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Which tetrahedra.
    pub marking: Marking,
    /// By which edges.
    pub edges: DividedEdges,
    /// Number of levels.
    pub rounds: u32,
    /// A level is not begun with so many tetrahedra or more.
    pub max_tetrahedra: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            marking: Marking::All,
            edges: DividedEdges::default(),
            rounds: 1,
            max_tetrahedra: None,
        }
    }
}

/// What a level met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// Edges of the mesh that it began with.
    pub edges: u32,
    /// Edges that were divided: new vertices.
    pub divided_edges: u32,
    /// Tetrahedra that were divided.
    pub divided_tetrahedra: u32,
    /// Rounds of the closure, with the one that found no more.
    pub closure_rounds: u32,
    /// Tetrahedra afterwards.
    pub tetrahedra: u32,
}

/// A refined mesh in host memory, with where everything comes from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refined {
    /// The mesh: the vertices of the input come first. Regions and tags are those of the parents.
    pub mesh: TetMesh,
    /// Tetrahedron of the input that each is a part of.
    pub tetrahedron_parents: Vec<u32>,
    /// Tagged triangle of the input that each is a part of.
    pub face_parents: Vec<u32>,
    /// Ends of the edge whose midpoint each new vertex is: earlier vertices, the lower id first.
    pub vertex_parents: Vec<[u32; 2]>,
    /// Each level.
    pub levels: Vec<Level>,
}

/// A mesh of tetrahedra on a device: V points, T tetrahedra, B tagged triangles.
pub struct DeviceTets<P> {
    /// Coordinates; V.
    pub points: Buffer<P>,
    /// Vertex ids, four for each tetrahedron; 4T.
    pub tetrahedra: Buffer<u32>,
    /// Vertex ids, three for each tagged triangle; 3B.
    pub faces: Buffer<u32>,
}

/// A refined mesh on a device: T tetrahedra of T0, B tagged triangles, N new vertices.
pub struct DeviceRefined<P> {
    /// The mesh.
    pub mesh: DeviceTets<P>,
    /// Tetrahedron of the input that each is a part of; T.
    pub tetrahedron_parents: Buffer<u32>,
    /// Tagged triangle of the input that each is a part of; B.
    pub face_parents: Buffer<u32>,
    /// Ends of the edge whose midpoint each new vertex is; 2N.
    pub vertex_parents: Buffer<u32>,
    /// Each level.
    pub levels: Vec<Level>,
}

pub use crate::volume::MOST_TETRAHEDRA;

/// Refines a mesh: from host arrays to host arrays.
///
/// # Errors
/// [`Error::Argument`] for options out of range, [`Error::Invalid`] for a mesh that breaks a rule, or one so fine that
/// midpoints fall on its vertices, each with the element; [`Error::OutOfMemory`].
pub fn run<P: SpacePoint>(on: &Device, mesh: &TetMesh, options: &Options) -> Result<Refined> {
    let resident = DeviceTets::<P>::upload(on, mesh)?;
    pipeline::refine(on, resident, options)?.download(on, mesh)
}

pub use pipeline::refine;

/// The error of options that mean nothing.
pub(crate) fn check_options(options: &Options, tetrahedra: usize) -> Result<()> {
    let finite = |point: &DVec3| point.is_finite();
    let wrong = match &options.marking {
        Marking::Fraction { fraction, .. } if !(0.0..=1.0).contains(fraction) => {
            format!(
                "a fraction of {fraction} tetrahedra cannot be marked: give one between 0 and 1"
            )
        }
        Marking::Box { low, high } if !(finite(low) && finite(high)) => {
            "a box to mark has a coordinate that is no finite number".to_owned()
        }
        Marking::Ball { centre, radius } if !finite(centre) || radius.is_nan() || *radius < 0.0 => {
            "a ball to mark needs a finite centre and a radius of 0 or more".to_owned()
        }
        Marking::Volume(volume) if volume.is_nan() || *volume < 0.0 => {
            format!("tetrahedra over a volume of {volume} cannot be marked: give 0 or more")
        }
        Marking::Chosen(chosen) if chosen.len() != tetrahedra => format!(
            "{} tetrahedra are told to be marked or not, but the mesh has {tetrahedra}",
            chosen.len()
        ),
        _ => return Ok(()),
    };
    Err(Error::Argument(wrong))
}

/// Threshold of [`gpu::refine_tets::is_chosen`] for a fraction.
pub(crate) fn threshold(fraction: f64) -> u64 {
    (fraction * 2f64.powi(32)).round() as u64
}

/// Seed of a level.
pub(crate) fn seed_of_level(seed: u64, level: u32) -> u64 {
    seed.wrapping_add(u64::from(level).wrapping_mul(0xD1B5_4A32_D192_ED03))
}

impl<P: SpacePoint> DeviceRefined<P> {
    /// The result in host memory; regions and tags are those of `input`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn download(&self, on: &Device, input: &TetMesh) -> Result<Refined> {
        on.stage("copy to the host", || {
            let tetrahedron_parents = on.download(&self.tetrahedron_parents)?;
            let face_parents = on.download(&self.face_parents)?;
            let points = on.download(&self.mesh.points)?;
            let corners = on.download(&self.mesh.faces)?;
            let faces = corners.as_chunks().0.iter().zip(&face_parents);
            Ok(Refined {
                mesh: TetMesh {
                    points: points.into_iter().map(P::to_f64).collect(),
                    tetrahedra: on.download(&self.mesh.tetrahedra)?.as_chunks().0.to_vec(),
                    regions: input.regions.as_ref().map(|regions| {
                        tetrahedron_parents
                            .iter()
                            .map(|&t| regions[t as usize])
                            .collect()
                    }),
                    faces: faces
                        .map(|(&vertices, &f)| TaggedTriangle {
                            vertices,
                            tag: input.faces[f as usize].tag,
                        })
                        .collect(),
                },
                tetrahedron_parents,
                face_parents,
                vertex_parents: on.download(&self.vertex_parents)?.as_chunks().0.to_vec(),
                levels: self.levels.clone(),
            })
        })
    }
}
