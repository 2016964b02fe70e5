//! Distances between two meshes: surfaces, meshes of the plane, clouds. The family is [`trioxide::compare`].

use glam::DVec3;
use trioxide::compare::{self as family, Angles, Distances, Shape, Side};
use trioxide::device::Device;
use trioxide::fields::Field;
use trioxide::ids::Vertex;
use trioxide::mesh::{Faces, Mesh};
use trioxide::{Buffer, render};

#[cfg(feature = "clap")]
use crate::count::parse_count;
use crate::error::{Error, Result};
use crate::input::check_ids;
use crate::machine::{On, Start};
use crate::report::{Counts, Run};

pub use crate::error::compare::Refusal;

/// The field of the distances.
pub const FIELD: &str = "distance";

/// Samples of each surface.
const SAMPLES: usize = 200_000;

/// Where distances are measured, beside the vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::Args), group(skip))]
pub struct Options {
    /// Points of each surface from which distances and normals are measured, spread evenly over its area; 0 for none
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "N", default_value_t = SAMPLES, value_parser = parse_count)
    )]
    pub samples: usize,
    /// Seed of the samples' places
    #[cfg_attr(feature = "clap", arg(long, value_name = "S", default_value_t = 0))]
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            samples: SAMPLES,
            seed: 0,
        }
    }
}

impl Options {
    fn family(self) -> Result<family::Options> {
        let samples = u32::try_from(self.samples).ok().filter(|n| *n <= 1 << 30);
        let samples = samples.ok_or(Refusal::Samples(self.samples))?;
        Ok(family::Options {
            samples,
            seed: self.seed,
        })
    }
}

/// The machine, the distances, and the distance of each vertex of A.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The machine, with times.
    pub run: Run,
    /// The counts and the distances.
    pub totals: Totals,
}

/// Vertices and triangles of a mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Vertices.
    pub vertices: u64,
    /// Triangles that its faces have; 0 of a cloud.
    pub triangles: u64,
}

/// The distances between two meshes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Of A.
    pub a: Size,
    /// Of B.
    pub b: Size,
    /// Diagonal of the box around A.
    pub diagonal: f64,
    /// From A to B.
    pub there: Side,
    /// From B to A.
    pub back: Side,
}

/// Numbers by their names, for each of `vertices`, `samples`, `normals`.
pub type Table = Vec<(&'static str, Counts)>;

impl Totals {
    /// The sizes, by their names.
    pub fn counts(&self) -> Counts {
        vec![
            ("a_vertices", self.a.vertices.into()),
            ("a_triangles", self.a.triangles.into()),
            ("b_vertices", self.b.vertices.into()),
            ("b_triangles", self.b.triangles.into()),
            ("diagonal", self.diagonal.into()),
        ]
    }

    /// The distances from A to B, from B to A, and from both.
    pub fn tables(&self) -> [(&'static str, Table); 3] {
        [
            ("a_to_b", self.table(self.there)),
            ("b_to_a", self.table(self.back)),
            ("symmetric", self.table(self.both())),
        ]
    }

    /// Of both sides, where both have a number.
    fn both(&self) -> Side {
        let (there, back) = (self.there, self.back);
        Side {
            vertices: there.vertices.and(back.vertices),
            samples: (there.samples.zip(back.samples)).map(|(there, back)| there.and(back)),
            normals: (there.normals.zip(back.normals)).map(|(there, back)| there.and(back)),
        }
    }

    fn table(&self, side: Side) -> Table {
        let mut table = vec![("vertices", self.of_distances(side.vertices))];
        table.extend((side.samples).map(|samples| ("samples", self.of_distances(samples))));
        table.extend((side.normals).map(|normals| ("normals", of_angles(normals))));
        table
    }

    /// Distances, and the same in parts of the diagonal if it has a length.
    fn of_distances(&self, distances: Distances) -> Counts {
        let Distances {
            points,
            largest,
            mean,
            root_mean_square,
        } = distances;
        let mut counts: Counts = vec![
            ("points", points.into()),
            ("largest", largest.into()),
            ("mean", mean.into()),
            ("root_mean_square", root_mean_square.into()),
        ];
        if self.diagonal > 0.0 {
            counts.extend([
                ("relative_largest", (largest / self.diagonal).into()),
                ("relative_mean", (mean / self.diagonal).into()),
                (
                    "relative_root_mean_square",
                    (root_mean_square / self.diagonal).into(),
                ),
            ]);
        }
        counts
    }
}

/// Angles in degrees.
fn of_angles(angles: Angles) -> Counts {
    vec![
        ("pairs", angles.pairs.into()),
        ("largest", angles.largest.into()),
        ("mean", angles.mean.into()),
    ]
}

/// Measures the distances between two meshes, from both sides. The result is A with the distance of each vertex to B as
/// the field [`FIELD`].
///
/// ```
/// use trioxide_operations::compare;
///
/// # fn main() -> trioxide_operations::Result<()> {
/// # let device = trioxide::Device::cpu(None)?;
/// let low = trioxide::mesh::Mesh::from(trioxide::generate::grid(100)?);
/// let mut high = low.clone();
/// high.points.iter_mut().for_each(|point| point.z = 0.25);
/// let (_, report) = compare(&device, low, &high, compare::Options::default())?;
/// assert_eq!(report.totals.there.vertices.largest, 0.25);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A field of A of another length than the mesh's; [`Refusal`]; those of [`trioxide::compare::Shape::new()`] and of the
/// device. Those of B are [`Error::Second`].
pub fn compare(on: &dyn Start, mut a: Mesh, b: &Mesh, options: Options) -> Result<(Mesh, Report)> {
    let settings = options.family()?;
    (a.fields).check(a.points.len(), a.faces.len(), a.segments.len())?;
    let corners = [triangles(&a)?, triangles(b).map_err(Error::Second)?];
    let machine = on.start()?;
    // The triangles of the step before, and they take memory.
    drop(machine.remembered());
    let (distances, report) = machine.run(|on| match on {
        On::Device(device) => {
            let points = [a.points.len(), b.points.len()];
            let triangles = corners.each_ref().map(|triangles| triangles.len());
            device.require(
                family::bytes_needed(points, triangles, settings)
                    + 24 * (points[0] + points[1]) as u64
                    + 12 * (triangles[0] + triangles[1]) as u64,
            )?;
            let upload = |points: &[DVec3], triangles: &[[u32; 3]]| {
                device.stage("copy to the device", || {
                    let corners = device.upload(triangles.as_flattened())?.cast();
                    Ok((device.upload(points)?, corners))
                })
            };
            let (a, b) = (
                upload(&a.points, &corners[0])?,
                upload(&b.points, &corners[1])?,
            );
            let (distances, report) = resident(device, [(&a.0, &a.1), (&b.0, &b.1)], options)?;
            let distances: Vec<f64> =
                device.stage("copy to the host", || device.download(&distances))?;
            let run = Run::of(device, report.run.stages)?;
            Ok((distances, Report { run, ..report }))
        }
        #[cfg(feature = "serial")]
        On::Serial => Err(Refusal::Serial.into()),
    })?;
    // A name of two fields would be another name.
    a.fields.points.take(FIELD);
    a.fields.points.push(Field::scalars(FIELD, distances));
    Ok((a, report))
}

/// Measures the distances between two meshes that are on a device, each of points and of the vertices of triangles;
/// and the distance of each point of the first.
///
/// # Errors
/// As [`compare()`].
pub fn resident(
    on: &Device,
    [a, b]: [(&Buffer<DVec3>, &Buffer<Vertex>); 2],
    options: Options,
) -> Result<(Buffer<f64>, Report)> {
    let settings = options.family()?;
    on.require(family::bytes_needed(
        [a.0.len(), b.0.len()],
        [a.1.len() / 3, b.1.len() / 3],
        settings,
    ))?;
    let shape = |(points, corners)| Shape::new(on, points, corners);
    let (a, b) = (shape(a)?, shape(b).map_err(Error::Second)?);
    let compared = family::compare(on, a, b, settings)?;
    let size = |shape: Shape<'_>| Size {
        vertices: shape.points().len() as u64,
        triangles: if shape.is_cloud() {
            0
        } else {
            shape.triangles() as u64
        },
    };
    let totals = Totals {
        a: size(a),
        b: size(b),
        diagonal: compared.diagonal,
        there: compared.there,
        back: compared.back,
    };
    let run = Run::of(on, Vec::new())?;
    Ok((compared.distances, Report { run, totals }))
}

/// The triangles of a mesh's faces.
fn triangles(mesh: &Mesh) -> trioxide::Result<Vec<[u32; 3]>> {
    let polygons = match &mesh.faces {
        // The device checks them.
        Faces::Triangles(triangles) => return Ok(triangles.clone()),
        Faces::Polygons(polygons) => polygons,
    };
    let (mut triangles, mut parts) = (Vec::new(), Vec::new());
    for (i, face) in polygons.iter().enumerate() {
        check_ids("face", i, face, mesh.points.len())?;
        render::triangulate(&mesh.points, face, &mut parts);
        triangles.extend(parts.drain(..).map(|part| part.map(|k| face[k])));
    }
    Ok(triangles)
}
