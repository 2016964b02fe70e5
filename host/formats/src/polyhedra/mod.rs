//! Files of polyhedral meshes: [`read_polyhedra`] and [`write_polyhedra`] by the file name's extension.
//!
//! [`PolyhedraFormat::all`] is the table of the formats; docs/FORMATS.md shows it, with all that each format reads,
//! keeps and drops. Formats of faces ([`crate::Format`]) are written too: each face once.
//!
//! Faces of a mesh run counter-clockwise as seen from outside of their polyhedron, also in the files that are written.
//! Files of other programs may list them in any direction: readers turn them outward
//! ([`PolyhedralMesh::orient`]), and note it.

use std::ffi::OsStr;
use std::path::Path;

use trioxide_mesh::fields::MeshFields;
use trioxide_mesh::mesh::{Faces, Mesh, NONE};
use trioxide_mesh::polyhedra::PolyhedralMesh;
use trioxide_mesh::{Error, Result, progress};

use crate::fields::{Joined, RESERVED};
use crate::{Encoding, Format, ReadOptions, complete, dotted, encodings, vtu_out};

mod foam;
mod listed;
#[cfg(test)]
mod tests;
mod visf;
mod vtk;
pub(crate) mod vtu;

pub(crate) use foam::files as foam_files;

/// A file format of polyhedra.
pub struct PolyhedraFormat {
    /// Its name.
    pub name: &'static str,
    /// Extensions of its files, in lower case.
    pub extensions: &'static [&'static str],
    /// Encodings that one can choose from, the default first.
    pub encodings: &'static [Encoding],
    /// Whether its files hold region ids of polyhedra.
    pub keeps_regions: bool,
    /// Faces whose tags its files hold.
    pub keeps_tags: KeptTags,
    /// Whether its files hold fields of points, polyhedra and tagged faces.
    pub keeps_fields: bool,
    /// Whether a file has polyhedra.
    has_polyhedra: fn(&Path, ReadOptions) -> bool,
    read: fn(&Path, ReadOptions) -> Result<Noted>,
    write: fn(&Path, &PolyhedralMesh, Encoding) -> Result<()>,
}

/// Faces whose tags a format holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptTags {
    /// All faces.
    All,
    /// Faces of one polyhedron.
    Boundary,
    /// No face.
    None,
}

/// A mesh, and notes on parts of the file that it does not have.
type Noted = (PolyhedralMesh, Vec<String>);

/// All that a mesh of polyhedra has.
const VTU: PolyhedraFormat = PolyhedraFormat {
    name: "VTU",
    extensions: &["vtu", "pvtu"],
    encodings: vtu_out::ENCODINGS,
    keeps_regions: true,
    keeps_tags: KeptTags::All,
    keeps_fields: true,
    has_polyhedra: vtu::has_polyhedra,
    read: vtu::read,
    write: vtu::write,
};

/// Every format.
static FORMATS: [PolyhedraFormat; 4] = [
    VTU,
    PolyhedraFormat {
        name: "VTK legacy",
        extensions: &["vtk"],
        encodings: &[Encoding::Binary, Encoding::Text],
        has_polyhedra: vtk::has_polyhedra,
        read: vtk::read,
        write: vtk::write,
        ..VTU
    },
    PolyhedraFormat {
        name: "OpenFOAM",
        extensions: &["foam"],
        encodings: &[],
        keeps_tags: KeptTags::Boundary,
        keeps_fields: false,
        has_polyhedra: |path, _| foam::is_case(path),
        read: foam::read,
        write: |path, mesh, _| foam::write(path, mesh),
        ..VTU
    },
    PolyhedraFormat {
        name: "VisF",
        extensions: &["visf"],
        encodings: &[],
        keeps_regions: false,
        keeps_tags: KeptTags::None,
        keeps_fields: false,
        // Nothing else is in these files.
        has_polyhedra: |_, _| true,
        read: visf::read,
        write: |path, mesh, _| visf::write(path, mesh),
    },
];

impl PolyhedraFormat {
    /// Every format.
    pub fn all() -> &'static [PolyhedraFormat] {
        &FORMATS
    }

    /// The extensions of the formats: `.vtu, .foam`.
    pub fn read_extensions() -> String {
        dotted(FORMATS.iter().flat_map(|format| format.extensions))
    }

    /// As [`PolyhedraFormat::read_extensions`], of files that are written: lists of pieces are not.
    pub fn written_extensions() -> String {
        let extensions = FORMATS.iter().flat_map(|format| format.extensions);
        dotted(extensions.filter(|extension| !extension.starts_with("pvt")))
    }

    /// The format with the extension of `path`; that of OpenFOAM for the folder of a mesh or of a case.
    pub fn of(path: &Path) -> Option<&'static PolyhedraFormat> {
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        let extension = match path.is_dir() && foam::is_case(path) {
            true => "foam".to_owned(),
            false => extension.to_ascii_lowercase(),
        };
        let mut all = FORMATS.iter();
        all.find(|format| format.extensions.contains(&extension.as_str()))
    }

    /// The format in which polyhedra are written to `path`; `None` for a format of faces.
    ///
    /// # Errors
    /// [`Error::Format`] when the extension names neither.
    pub fn to_write(path: &Path) -> Result<Option<&'static PolyhedraFormat>> {
        if crate::is_parallel(path) {
            return Err(crate::parallel_output(path));
        }
        match PolyhedraFormat::of(path).filter(|_| !path.is_dir()) {
            None => Format::to_write(path).map(|_| None),
            format => Ok(format),
        }
    }

    /// A sentence on the parts of `mesh` that a file of this format would not hold, and others on fields of other
    /// names.
    pub fn losses(&self, mesh: &PolyhedralMesh) -> Vec<String> {
        let mut lost = Vec::new();
        if mesh.regions.is_some() && !self.keeps_regions {
            lost.push("the regions".to_owned());
        }
        let tags = match self.keeps_tags {
            KeptTags::All => 0,
            KeptTags::None => mesh.tagged.len(),
            KeptTags::Boundary => {
                let around = mesh.neighbours();
                let is_inner = |face: u32| !around[face as usize].contains(&NONE);
                mesh.tagged
                    .iter()
                    .filter(|tagged| is_inner(tagged.face))
                    .count()
            }
        };
        let inner = if self.keeps_tags == KeptTags::Boundary {
            "inner "
        } else {
            ""
        };
        match tags {
            0 => {}
            1 => lost.push(format!("the tag of 1 {inner}face")),
            tags => lost.push(format!("the tags of {tags} {inner}faces")),
        }
        if self.keeps_fields {
            let renamed = Joined::renamed(&mesh.fields, RESERVED);
            return loss(self.name, &lost).into_iter().chain(renamed).collect();
        }
        lost.extend(lost_fields(&mesh.fields.names()));
        loss(self.name, &lost).into_iter().collect()
    }
}

/// Names of fields as a part that is lost.
fn lost_fields(names: &[&str]) -> Option<String> {
    let list = names.join(", ");
    match names.len() {
        0 => None,
        1 => Some(format!("the field {list}")),
        _ => Some(format!("the fields {list}")),
    }
}

/// The parts as a list, if there are any.
fn joined(parts: &[String]) -> Option<String> {
    let (last, others) = parts.split_last()?;
    Some(match others.is_empty() {
        true => last.clone(),
        false => format!("{} and {last}", others.join(", ")),
    })
}

/// The sentence on the parts that a file does not hold, if there are any.
fn loss(format: &str, lost: &[String]) -> Option<String> {
    let list = joined(lost)?;
    Some(format!(
        "{format} does not hold {list}: not in the output, .vtu and .vtk keep all"
    ))
}

/// Whether polyhedra can be written to `path`.
///
/// # Errors
/// [`Error::Format`] for an extension that is not written.
pub fn check_polyhedra_output(path: &Path) -> Result<()> {
    PolyhedraFormat::to_write(path).map(drop)
}

/// Whether the file at `path` has polyhedra; also a folder with OpenFOAM's mesh.
pub fn is_polyhedra(path: &Path) -> bool {
    is_polyhedra_as(path, ReadOptions::default())
}

/// As [`is_polyhedra`], with the options of reading.
pub fn is_polyhedra_as(path: &Path, options: ReadOptions) -> bool {
    PolyhedraFormat::of(path).is_some_and(|format| (format.has_polyhedra)(path, options))
}

/// Reads the polyhedra in the file `path`, or in a folder with OpenFOAM's mesh.
///
/// # Errors
/// [`Error::Format`] for an extension that is not read, and for polyhedra that are not closed or overlap;
/// [`Error::File`] when the file cannot be read, [`Error::Parse`] when it does not follow its format.
pub fn read_polyhedra(path: &Path) -> Result<PolyhedralMesh> {
    read_polyhedra_as(path, ReadOptions::default()).map(|(mesh, _)| mesh)
}

/// As [`read_polyhedra`], with these options; and a sentence for each part of the file that the mesh does not have, or
/// that was changed.
///
/// # Errors
/// As [`read_polyhedra`].
pub fn read_polyhedra_as(
    path: &Path,
    options: ReadOptions,
) -> Result<(PolyhedralMesh, Vec<String>)> {
    let format = PolyhedraFormat::of(path).ok_or_else(|| {
        let extensions = PolyhedraFormat::read_extensions();
        let reason = format!("polyhedra are read from {extensions}, and from folders of OpenFOAM");
        Error::format(path, reason)
    })?;
    progress::stage(format!("read {}", path.display()));
    let (mesh, mut notes) = complete(|| (format.read)(path, options))?;
    notes.extend(options.columns.map(|_| crate::without_columns(format.name)));
    Ok((mesh, notes))
}

/// Writes `mesh` to the file `path`, as a whole or not at all. Returns a sentence for each kind of data that the file
/// does not hold. The format of another extension than those of the table is one of faces.
///
/// # Errors
/// [`Error::Format`] for an extension that is not written and for an encoding that the format does not have,
/// [`Error::File`] when the file cannot be written.
pub fn write_polyhedra(
    path: &Path,
    mesh: &PolyhedralMesh,
    encoding: impl Into<Option<Encoding>>,
) -> Result<Vec<String>> {
    let encoding = encoding.into();
    let Some(format) = PolyhedraFormat::to_write(path)? else {
        return write_faces(path, mesh, encoding);
    };
    if encoding.is_some_and(|encoding| !format.encodings.contains(&encoding)) {
        return Err(Error::format(
            path,
            encodings(format.name, format.encodings),
        ));
    }
    progress::stage(format!("write {}", path.display()));
    (format.write)(path, mesh, encoding.unwrap_or_default())?;
    Ok(format.losses(mesh))
}

/// Writes the faces, each once, with the fields of the points.
fn write_faces(
    path: &Path,
    mesh: &PolyhedralMesh,
    encoding: Option<Encoding>,
) -> Result<Vec<String>> {
    let faces = Mesh {
        points: mesh.points.clone(),
        faces: Faces::Polygons(mesh.faces.clone()),
        fields: MeshFields {
            points: mesh.fields.points.clone(),
            ..MeshFields::default()
        },
        ..Mesh::default()
    };
    crate::write_encoded(path, &faces, encoding)?;
    let format = Format::to_write(path)?;
    let (all, count) = (faces.faces.len(), mesh.len());
    let mut lost = vec![format!("which of the {count} polyhedra they bound")];
    if mesh.regions.is_some() {
        lost.push("the regions".to_owned());
    }
    if !mesh.tagged.is_empty() {
        lost.push(format!("the tags of {} faces", mesh.tagged.len()));
    }
    let names = MeshFields {
        points: Default::default(),
        ..mesh.fields.clone()
    };
    lost.extend(lost_fields(&names.names()));
    let keep = PolyhedraFormat::written_extensions();
    let list = joined(&lost).expect("the polyhedra");
    let mut losses = vec![format!(
        "{} holds the {all} faces, each once, and not {list}: {keep} hold polyhedra",
        format.name
    )];
    losses.extend(format.losses(&faces, encoding.unwrap_or_default()));
    Ok(losses)
}
