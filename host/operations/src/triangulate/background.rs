//! The wanted edge lengths of a background mesh.

use glam::DVec2;
use trioxide::Error as Shared;
use trioxide::delaunay::refinement::Background;
use trioxide::device::Device;
use trioxide::fields::{Field, Fields};
use trioxide::mesh::Mesh;

use super::{Options, Refusal};
use crate::error::{Error, Result};

/// A background with a wanted edge length at each point.
pub(super) struct Sizes {
    points: Vec<DVec2>,
    triangles: Vec<[u32; 3]>,
    lengths: Vec<f64>,
}

impl Sizes {
    /// The background on a device.
    ///
    /// # Errors
    /// [`Error::Background`]; those of the device.
    pub fn upload(&self, on: &Device) -> Result<Background> {
        let (points, triangles, lengths) = on.stage("copy to the device", || {
            Ok((
                on.upload(&self.points)?,
                on.upload(&self.triangles)?,
                on.upload(&self.lengths)?,
            ))
        })?;
        let listed = on.stage("list the background", || {
            Background::new(on, points, triangles, lengths)
        });
        listed.map_err(of_background)
    }
}

/// The sizes that the options ask for.
///
/// # Errors
/// [`Refusal::Sizes`]; [`Error::Background`].
pub(super) fn sizes(options: &Options) -> Result<Option<Sizes>> {
    match (&options.size, &options.background) {
        (None, None) => Ok(None),
        (Some(name), Some(mesh)) => of_mesh(mesh, name).map(Some).map_err(of_background),
        _ => Err(Refusal::Sizes.into()),
    }
}

fn of_mesh(mesh: &Mesh, name: &str) -> trioxide::Result<Sizes> {
    if mesh.faces.is_empty() {
        return refuse(format!(
            "has {} points and no triangles: triangulate them first, which keeps their fields",
            mesh.points.len()
        ));
    }
    mesh.fields.points.check(mesh.points.len(), "points")?;
    let field = field_of(&mesh.fields.points, name)?;
    let lengths = (0..field.len()).map(|i| field.values.f64(i)).collect();
    let bare = Mesh {
        points: mesh.points.clone(),
        faces: mesh.faces.clone(),
        ..Mesh::default()
    };
    let mesh = bare.into_triangulation()?;
    Ok(Sizes {
        points: mesh.points,
        triangles: mesh.triangles,
        lengths,
    })
}

/// The point field of that name, with a number for each point.
fn field_of<'a>(fields: &'a Fields, name: &str) -> trioxide::Result<&'a Field> {
    match fields.get(name) {
        Some(field) if field.components == 1 => Ok(field),
        Some(field) => refuse(format!(
            "has the point field {name} with {} numbers for each point: name a field with one, a wanted edge length",
            field.components
        )),
        None if fields.is_empty() => refuse(format!(
            "has no point field {name}, and no other: give it one, with a wanted edge length for each point"
        )),
        None => {
            let names: Vec<&str> = fields.iter().map(|field| &*field.name).collect();
            refuse(format!(
                "has no point field {name}: name one of {}",
                names.join(", ")
            ))
        }
    }
}

fn refuse<T>(rule: String) -> trioxide::Result<T> {
    Err(Shared::Invalid {
        element: "the mesh".to_owned(),
        rule,
    })
}

/// An error of the background, but for those of a device.
fn of_background(error: Shared) -> Error {
    match error {
        Shared::Invalid { .. } => Error::Background(error),
        error => error.into(),
    }
}
