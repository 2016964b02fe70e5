//! Mesh files: [`read`] and [`write`](fn@write) by the file name's extension.
//!
//! One file a format. Readers map the file and parse its bytes, text in parallel chunks; writers format records in
//! parallel and replace the file only when it is complete ([`atomic_file`]). A reader never trusts a count before the
//! data is there, checks every vertex index, and says in which line what breaks which rule. It does not judge the mesh:
//! coordinates may be `nan`, faces may overlap.
//!
//! The readers are our own for speed and for exact coordinates. On two cores, 2.1M vertices and 4.2M triangles (105 MB to
//! 219 MB) read in 0.3 s to 0.55 s: text at 335 MB/s to 470 MB/s, binary at 400 MB/s. Of the crates, tobj 4.0 takes 2.6 s for
//! the `.obj` and like off-rs 2.0 rounds coordinates to `f32`; ply-rs-bw 4.0 takes 3.2 s (binary) and 7.5 s (text) for the
//! `.ply`; vtkio 0.7 is a release candidate.
//!
//! | format | extensions | read | written | regions | segments |
//! | --- | --- | --- | --- | --- | --- |
//! | OFF | `.off` | yes | yes | no | no |
//! | OBJ | `.obj` | yes | yes | no | no |
//! | PLY | `.ply` | yes | yes | yes | yes |
//! | Triangle | `.node` + `.ele` (+ `.poly`) | yes | triangles | yes | yes |
//! | VTU | `.vtu` | yes | yes | yes | yes |
//! | edges | `.edges` | yes | planar triangles | no | no |
//! | ALE | `.ale` | no | planar | no | no |

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

use crate::mesh::{Faces, Mesh, NONE};
use crate::{Error, Result};

mod ale;
pub mod atomic_file;
pub mod edges;
mod faces;
pub mod matrix_market;
mod obj;
mod off;
mod ply;
mod rows_out;
#[cfg(test)]
mod tests;
mod text;
mod triangle;
pub mod volume;
mod vtu;

pub use volume::{is_volume, read_volume, write_volume};

/// A file format.
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// Extensions of its files, in lower case.
    pub extensions: &'static [&'static str],
    /// Whether its files hold region ids of faces.
    pub keeps_regions: bool,
    /// Whether its files hold segments.
    pub keeps_segments: bool,
    read: Option<fn(&Path) -> Result<Mesh>>,
    write: Option<fn(&Path, &Mesh) -> Result<()>>,
}

/// Every format.
static FORMATS: [Format; 7] = [
    Format {
        name: "OFF",
        extensions: &["off"],
        keeps_regions: false,
        keeps_segments: false,
        read: Some(off::read),
        write: Some(off::write),
    },
    Format {
        name: "OBJ",
        extensions: &["obj"],
        keeps_regions: false,
        keeps_segments: false,
        read: Some(obj::read),
        write: Some(obj::write),
    },
    Format {
        name: "PLY",
        extensions: &["ply"],
        keeps_regions: true,
        keeps_segments: true,
        read: Some(ply::read),
        write: Some(ply::write),
    },
    Format {
        name: "Triangle",
        extensions: &["node", "ele"],
        keeps_regions: true,
        keeps_segments: true,
        read: Some(triangle::read),
        write: Some(triangle::write),
    },
    Format {
        name: "VTU",
        extensions: &["vtu"],
        keeps_regions: true,
        keeps_segments: true,
        read: Some(vtu::read),
        write: Some(vtu::write),
    },
    Format {
        name: "edges",
        extensions: &["edges"],
        keeps_regions: false,
        keeps_segments: false,
        read: Some(edges::read_mesh),
        write: Some(edges::write_mesh),
    },
    Format {
        name: "ALE",
        extensions: &["ale"],
        keeps_regions: false,
        keeps_segments: false,
        read: None,
        write: Some(ale::write),
    },
];

impl Format {
    /// The format that `path` is read as.
    ///
    /// # Errors
    /// [`Error::Format`] when the extension names none.
    pub fn to_read(path: &Path) -> Result<&'static Format> {
        let extension = match path.extension().and_then(OsStr::to_str) {
            Some(extension) if Format::with_extension(extension).is_some() => extension,
            _ if triangle::is_stem(path) => "node",
            extension => extension.unwrap_or_default(),
        };
        Format::with_extension(extension)
            .filter(|format| format.read.is_some())
            .ok_or_else(|| unsupported(path, "read", |format| format.read.is_some()))
    }

    /// The format that `path` is written as: ask before long work.
    ///
    /// # Errors
    /// [`Error::Format`] when the extension names none.
    pub fn to_write(path: &Path) -> Result<&'static Format> {
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        Format::with_extension(extension)
            .filter(|format| format.write.is_some())
            .ok_or_else(|| unsupported(path, "written", |format| format.write.is_some()))
    }

    fn with_extension(extension: &str) -> Option<&'static Format> {
        let extension = extension.to_ascii_lowercase();
        FORMATS
            .iter()
            .find(|format| format.extensions.contains(&extension.as_str()))
    }
}

fn unsupported(path: &Path, verb: &str, works: fn(&Format) -> bool) -> Error {
    let extensions: Vec<String> = FORMATS
        .iter()
        .filter(|format| works(format))
        .flat_map(|format| format.extensions)
        .map(|extension| format!(".{extension}"))
        .collect();
    Error::Format {
        path: path.to_owned(),
        reason: format!(
            "the extension is none of those that are {verb}: {}",
            extensions.join(", ")
        ),
    }
}

/// Reads the mesh in the file `path`, or in the pair of files that it stands for.
///
/// # Errors
/// [`Error::Format`] for an extension that is not read, [`Error::File`] when the file cannot be read, [`Error::Parse`] when
/// it does not follow its format.
pub fn read(path: &Path) -> Result<Mesh> {
    let format = Format::to_read(path)?;
    let mesh = format.read.expect("to_read gives a format that is read")(path)?;
    let vertices = mesh.points.len();
    if vertices >= NONE as usize {
        return Err(Error::Format {
            path: path.to_owned(),
            reason: format!("{vertices} vertices are more than 32-bit indices can name"),
        });
    }
    Ok(mesh)
}

/// Writes `mesh` to the file `path`, or to the pair of files that it stands for, whole or not at all.
///
/// # Errors
/// [`Error::Format`] for an extension that is not written or a mesh that the format cannot hold, [`Error::File`] when the
/// file cannot be written.
pub fn write(path: &Path, mesh: &Mesh) -> Result<()> {
    let format = Format::to_write(path)?;
    format
        .write
        .expect("to_write gives a format that is written")(path, mesh)
}

/// The bytes of a file.
enum Bytes {
    Mapped(Mmap),
    Read(Vec<u8>),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Read(bytes) => bytes,
        }
    }
}

fn map_file(path: &Path) -> Result<Bytes> {
    let open = || {
        let mut file = File::open(path)?;
        if file.metadata()?.is_file() {
            // SAFETY: the map is private and read only. Another process that shortens the file meanwhile ends this one by a
            // signal, as with every reader that maps; nothing is written through it.
            let map = unsafe { Mmap::map(&file) }?;
            return Ok(Bytes::Mapped(map));
        }
        // Pipes cannot be mapped.
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(Bytes::Read(bytes))
    };
    open().map_err(|source| Error::file(path, source))
}

/// The faces as triangles, for a format at `path` that holds nothing else.
fn triangles<'a>(path: &Path, faces: &'a Faces) -> Result<std::borrow::Cow<'a, [[u32; 3]]>> {
    match faces {
        Faces::Triangles(triangles) => Ok(triangles.into()),
        Faces::Polygons(polygons) => polygons
            .iter()
            .enumerate()
            .map(|(i, polygon)| {
                polygon.try_into().map_err(|_| Error::Format {
                    path: path.to_owned(),
                    reason: format!(
                        "the format holds triangles only, but face {i} has {} vertices: \
                         write .off, .obj, .ply or .vtu",
                        polygon.len()
                    ),
                })
            })
            .collect(),
    }
}
