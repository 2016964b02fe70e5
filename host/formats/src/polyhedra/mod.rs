//! Files of polyhedral meshes: [`read_polyhedra`] and [`write_polyhedra`] by the file name's extension.
//!
//! | format | extensions | read | written | regions | tagged faces |
//! | --- | --- | --- | --- | --- | --- |
//! | VTU, cells of type 42 | `.vtu` | yes | yes | yes | yes |
//! | OpenFOAM | `.foam`, with `constant/polyMesh/` beside it | no | yes | no | on the boundary, as patches |
//! | VisF | `.visf` | no | yes | no | no |
//! | formats of faces | those of [`crate::write`] | no | each face once | no | no |
//!
//! Faces run counter-clockwise as seen from outside of their polyhedron, in files too.

use std::path::Path;

use trioxide_mesh::Result;
use trioxide_mesh::fields::MeshFields;
use trioxide_mesh::mesh::{Faces, Mesh};
use trioxide_mesh::polyhedra::PolyhedralMesh;

use crate::fields::{Joined, RESERVED};
use crate::{Encoding, Format, complete, parse_file};

mod foam;
#[cfg(test)]
mod tests;
mod visf;
pub(crate) mod vtu;

pub(crate) use foam::beside as beside_foam;
pub use vtu::is_polyhedra;

/// The form of a file.
enum Kind {
    Vtu,
    Foam,
    Visf,
    Faces,
}

fn kind_to_write(path: &Path) -> Result<Kind> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    match extension.map(str::to_lowercase).as_deref() {
        Some("vtu") => Ok(Kind::Vtu),
        Some("foam") => Ok(Kind::Foam),
        Some("visf") => Ok(Kind::Visf),
        _ => Format::to_write(path).map(|_| Kind::Faces),
    }
}

/// Whether polyhedra can be written to `path`.
///
/// # Errors
/// [`trioxide_mesh::Error::Format`] for an extension that is not written.
pub fn check_polyhedra_output(path: &Path) -> Result<()> {
    kind_to_write(path).map(drop)
}

/// Reads the polyhedra in the file `path`.
///
/// # Errors
/// [`trioxide_mesh::Error::File`] when the file cannot be read, [`trioxide_mesh::Error::Parse`] when it does not follow
/// its format or has cells that are no polyhedra.
pub fn read_polyhedra(path: &Path) -> Result<PolyhedralMesh> {
    complete(|| parse_file(path, vtu::parse))
}

/// Writes `mesh` to the file `path`, as a whole or not at all. Returns a sentence for each part of the mesh that the
/// file does not hold.
///
/// # Errors
/// [`trioxide_mesh::Error::Format`] for an extension that is not written, [`trioxide_mesh::Error::File`] when the file
/// cannot be written.
pub fn write_polyhedra(
    path: &Path,
    mesh: &PolyhedralMesh,
    encoding: Encoding,
) -> Result<Vec<String>> {
    let kind = kind_to_write(path)?;
    let mut losses = match kind {
        Kind::Vtu => {
            vtu::write(path, mesh, encoding)?;
            return Ok(Joined::renamed(&mesh.fields, RESERVED));
        }
        Kind::Foam => foam::write(path, mesh)?,
        Kind::Visf => visf::write(path, mesh)?,
        Kind::Faces => {
            let faces = Mesh {
                points: mesh.points.clone(),
                faces: Faces::Polygons(mesh.faces.clone()),
                fields: MeshFields::default(),
                ..Mesh::default()
            };
            crate::write(path, &faces)?;
            vec![format!(
                "{}: the file has the faces, each once, and not which polyhedra they bound: .vtu, .foam and .visf keep that",
                path.display()
            )]
        }
    };
    let fields = mesh.fields.names().len();
    if fields > 0 {
        losses.push(format!(
            "{}: {fields} fields of polyhedra, faces and points are left out: .vtu keeps them",
            path.display()
        ));
    }
    Ok(losses)
}
