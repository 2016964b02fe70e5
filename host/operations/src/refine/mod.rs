//! Marked triangles are divided, and their neighbours as far as conformity requires: whole meshes of the plane and of
//! space, with all that they carry. The family is [`trioxide::refine`]; tetrahedra are refined by
//! [`refine_tets`](mod@crate::refine_tets).

mod input;
mod options;
mod report;
mod runs;

use glam::{DVec2, DVec3, Vec2, Vec3};
use gpu::point::DoublePoint;
use trioxide::fields::Carried;
use trioxide::half_edges::{AnyPoint, turn_clockwise};
use trioxide::mesh::{EdgeTriangulation, Mesh, Triangulation};
use trioxide::refine as family;

use crate::error::Result;
use crate::input::{apart, turning};
use crate::machine::{On, Start};
use crate::precision::Precision;
use crate::report::{CLOCKWISE, Note};

pub use crate::error::refine::Refusal;
pub use input::{Cells, Dimensions, Input, with_carried};
pub use options::Options;
pub use report::{Report, Totals, end_name};
pub use trioxide::marking::Marking;

/// Refines a mesh of triangles, of the plane where all z are the same, else of space, with its attributes, fields,
/// regions and segments.
///
/// ```
/// use trioxide_operations::refine;
///
/// # fn main() -> trioxide_operations::Result<()> {
/// # let device = trioxide::Device::cpu(None)?;
/// let options = refine::Options {
///     mark: Some("disk:0,0,0.4".parse().expect("a mark")),
///     maps: true,
///     ..Default::default()
/// };
/// let (fine, report) = refine(&device, trioxide::generate::grid(9)?.into(), &options)?;
/// // Two of eight triangles are marked. They share their longest edge, and both are halved.
/// assert_eq!((fine.faces.len(), report.parents.len()), (10, 10));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A mesh that is no triangulation, with the element; [`Refusal`]; those of [`trioxide::refine::refine()`] and of the
/// device.
pub fn refine(on: &dyn Start, mesh: Mesh, options: &Options) -> Result<(Mesh, Report)> {
    options.check()?;
    match find(on, Input::new(mesh)?, options, Wanted::Triangles)? {
        (Refined::Triangles(mesh), report) => Ok((mesh, report)),
        _ => unreachable!("triangles are wanted"),
    }
}

/// The result that is wanted beside the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Nothing.
    Report,
    /// The mesh over vertices.
    Triangles,
    /// The mesh over edges, of the plane.
    Edges,
}

/// A refined mesh, as it is wanted.
pub enum Refined {
    /// It is not.
    Nothing,
    /// Over vertices.
    Triangles(Mesh),
    /// Over edges.
    Edges(EdgeTriangulation),
}

/// As [`refine()`], for a caller that may not need the mesh, or has it over edges. A mesh of space is not given over
/// edges.
///
/// # Errors
/// As [`refine()`].
pub fn find(
    on: &dyn Start,
    input: Input,
    options: &Options,
    wanted: Wanted,
) -> Result<(Refined, Report)> {
    let carried = (input.carried, input.marks);
    match input.mesh {
        Dimensions::Plane(mesh) => refined::<DVec2, Vec2>(on, mesh, carried, options, wanted),
        Dimensions::Space(mesh) => refined::<DVec3, Vec3>(on, mesh, carried, options, wanted),
    }
}

/// Refines a mesh of points that are `P` in double precision, and `S` in single.
fn refined<P, S>(
    on: &dyn Start,
    mut input: Cells<P>,
    (carried, marks): (Carried, Option<Vec<bool>>),
    options: &Options,
    wanted: Wanted,
) -> Result<(Refined, Report)>
where
    P: AnyPoint<Double = P> + DoublePoint + runs::OverEdges,
    S: AnyPoint<Double = P>,
    Mesh: From<Triangulation<P>>,
{
    let markers = input.number(&carried);
    let (vertices, triangles) = input.sizes();
    let settings = options.of_triangles(triangles, marks)?;
    let asked = runs::Asked {
        maps: options.maps || (wanted != Wanted::Report && !carried.is_empty()),
        mesh: wanted,
    };
    let machine = on.start()?;
    let remembered = machine.remembered();
    let between = (&machine, remembered.as_ref());
    let divide = |input: &Cells<P>| {
        machine.run(|on| {
            let done = match (on, options.precision) {
                (On::Device(device), Precision::F64) => {
                    runs::on_device::<P>(device, input, &settings, asked, between)
                }
                (On::Device(device), Precision::F32) => {
                    runs::on_device::<S>(device, input, &settings, asked, between)
                }
                #[cfg(feature = "serial")]
                (On::Serial, Precision::F64) => runs::serial::<P>(input, &settings, asked),
                #[cfg(feature = "serial")]
                (On::Serial, Precision::F32) => runs::serial::<S>(input, &settings, asked),
            }?;
            options
                .check_level(done.rounds.len())
                .map_err(family::Error::from)?;
            Ok(done)
        })
    };
    let turn = |input: &mut Cells<P>| match input {
        Cells::Triangles(mesh) => turn_clockwise(mesh),
        // These may all run clockwise.
        Cells::Edges(_) => 0,
    };
    let (done, note) = turning((&mut input, triangles), divide, turn, CLOCKWISE)?;
    let mut notes: Vec<Note> = note.into_iter().collect();
    if let Cells::Triangles(mesh) = &input {
        let point = |v: u32| mesh.points[v as usize].in_space();
        notes.extend(apart(point, vertices, &mesh.triangles));
    }
    let mesh = match done.mesh {
        runs::Output::None => Refined::Nothing,
        runs::Output::Edges(mesh) => P::over_edges(mesh),
        runs::Output::Triangles(mesh) => {
            let parts = (&done.ancestors[..], &done.rounds[..]);
            let mesh = with_carried(mesh.into(), &carried, markers, vertices, parts);
            Refined::Triangles(mesh)
        }
    };
    let totals = Totals {
        input_vertices: vertices as u64,
        input_faces: triangles as u64,
        ..done.totals
    };
    let report = Report {
        run: done.run,
        totals,
        parents: done.ancestors,
        rounds: done.rounds,
        notes,
    };
    Ok((mesh, report))
}
