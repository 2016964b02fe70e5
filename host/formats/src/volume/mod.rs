//! Files of volume meshes: [`read_volume`] and [`write_volume`] by the file name's extension.
//!
//! What [`formats`](super) says of readers and writers holds here too: files are mapped, parsed in parallel, and replaced only
//! when complete; no count is trusted before the data is there, and every vertex index is checked. Readers do not judge the
//! mesh: cells may be inverted.
//!
//! | format | extensions | cells | text | binary |
//! | --- | --- | --- | --- | --- |
//! | VTU | `.vtu` | all | yes | yes |
//! | VTK legacy | `.vtk` | all | yes | yes |
//! | Gmsh 2.2, 4.1 | `.msh` | all | yes | yes |
//! | Medit | `.mesh` (text), `.meshb` (binary) | all | yes | yes |
//! | TetGen | `.node` + `.ele` (+ `.face`) | tetrahedra | yes | no |
//!
//! All keep regions of cells and tags of faces. Points and lines of a file are skipped; cells of second order are refused.
//! Formats that list their elements kind by kind (Medit, Gmsh) do not keep the order of cells of different kinds.
//!
//! The readers are our own. Of the crates, mshio 0.4 (2020) reads Gmsh 4.1 only and writes nothing; vtkio 0.7 is a release
//! candidate that holds each file as trees of tagged vectors, and 0.6 is of 2021; meshx is built on the two; for Medit and TetGen
//! there is none. zlib and base64 are flate2's and base64's. On two cores that others use too, 2.5M vertices and 14.8M tetrahedra
//! read at 490 MB/s (`.vtu` of 434 MB: 0.9 s, VTK 9.7 takes 1.0 s), 470 MB/s (`.vtk`), 520 MB/s (`.msh` 4.1), 300 MB/s (2.2), 280 MB/s
//! (`.meshb`), and as text at 240 MB/s to 340 MB/s.

use std::ffi::OsStr;
use std::path::Path;

use super::triangle;
use trioxide_mesh::volume::{Cells, VolumeMesh};
use trioxide_mesh::{Error, Result};

mod bytes;
mod elements;
mod gmsh;
mod medit;
#[cfg(test)]
mod tests;
mod tetgen;
mod tokens;
mod vtk;
mod vtk_cells;
pub(crate) mod vtu;

use elements::Shape;

pub use crate::Encoding;

/// Versions of Gmsh's format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum MshVersion {
    /// 2.2, which most programs read.
    #[cfg_attr(feature = "clap", value(name = "2.2"))]
    V2,
    /// 4.1, that of Gmsh 4.
    #[default]
    #[cfg_attr(feature = "clap", value(name = "4.1"))]
    V4,
}

/// How to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Encoding, for formats with [`VolumeFormat::encodings`].
    pub encoding: Option<Encoding>,
    /// Version of `.msh` files.
    pub msh_version: MshVersion,
}

/// A file format of volume meshes.
pub struct VolumeFormat {
    /// Its name.
    pub name: &'static str,
    /// Extensions of its files, in lower case.
    pub extensions: &'static [&'static str],
    /// Encodings that one can choose from, the default first.
    pub encodings: &'static [Encoding],
    /// Most vertices that it can number.
    most_points: usize,
    read: fn(&Path) -> Result<VolumeMesh>,
    write: fn(&Path, &VolumeMesh, WriteOptions) -> Result<()>,
}

const BOTH: &[Encoding] = &[Encoding::Binary, Encoding::Text];
const I32_POINTS: usize = i32::MAX as usize;

/// Every format.
static FORMATS: [VolumeFormat; 6] = [
    VolumeFormat {
        name: "VTU",
        extensions: &["vtu"],
        encodings: BOTH,
        most_points: usize::MAX,
        read: vtu::read,
        write: |path, mesh, options| vtu::write(path, mesh, options.encoding.unwrap_or_default()),
    },
    VolumeFormat {
        name: "VTK legacy",
        extensions: &["vtk"],
        encodings: BOTH,
        most_points: I32_POINTS,
        read: vtk::read,
        write: |path, mesh, options| vtk::write(path, mesh, options.encoding.unwrap_or_default()),
    },
    VolumeFormat {
        name: "Gmsh",
        extensions: &["msh"],
        encodings: BOTH,
        most_points: I32_POINTS,
        read: gmsh::read,
        write: gmsh::write,
    },
    VolumeFormat {
        name: "Medit",
        extensions: &["mesh"],
        encodings: &[Encoding::Text],
        most_points: I32_POINTS,
        read: medit::read,
        write: |path, mesh, _| medit::write_text(path, mesh),
    },
    VolumeFormat {
        name: "Medit binary",
        extensions: &["meshb"],
        encodings: &[Encoding::Binary],
        most_points: I32_POINTS,
        read: medit::read,
        write: |path, mesh, _| medit::write_binary(path, mesh),
    },
    VolumeFormat {
        name: "TetGen",
        extensions: &["node", "ele"],
        encodings: &[Encoding::Text],
        most_points: usize::MAX,
        read: tetgen::read,
        write: |path, mesh, _| tetgen::write(path, mesh),
    },
];

impl VolumeFormat {
    /// Every format.
    pub fn all() -> &'static [VolumeFormat] {
        &FORMATS
    }

    /// The format that `path` is read as.
    ///
    /// # Errors
    /// [`Error::Format`] when the extension names none.
    pub fn to_read(path: &Path) -> Result<&'static VolumeFormat> {
        match VolumeFormat::to_write(path) {
            Err(_) if triangle::is_stem(path) => VolumeFormat::to_write(Path::new("stem.node")),
            format => format,
        }
    }

    /// The format that `path` is written as: ask before long work.
    ///
    /// # Errors
    /// [`Error::Format`] when the extension names none.
    pub fn to_write(path: &Path) -> Result<&'static VolumeFormat> {
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        let extension = extension.to_ascii_lowercase();
        FORMATS
            .iter()
            .find(|format| format.extensions.contains(&extension.as_str()))
            .ok_or_else(|| {
                let extensions = FORMATS.iter().flat_map(|format| format.extensions);
                let extensions: Vec<_> = extensions.map(|e| format!(".{e}")).collect();
                Error::Format {
                    path: path.to_owned(),
                    reason: format!(
                        "the extension is none of those of volume meshes: {}",
                        extensions.join(", ")
                    ),
                }
            })
    }
}

/// Whether the file `path`, or the pair of files that it stands for, holds a volume mesh.
///
/// By the extension; of `.vtu` and of `.node` and `.ele`, which hold surfaces too, by the cells. A file that cannot be read holds
/// none. Pipes are read here, and kept for [`read_volume`] or [`read`](super::read()).
pub fn is_volume(path: &Path) -> bool {
    let Ok(format) = VolumeFormat::to_read(path) else {
        return false;
    };
    match format.name {
        "VTU" => vtu::is_volume(path),
        "TetGen" => tetgen::is_volume(path),
        _ => true,
    }
}

/// Reads the volume mesh in the file `path`, or in the pair of files that it stands for.
///
/// # Errors
/// [`Error::Format`] for an extension that is not read, [`Error::File`] when the file cannot be read, [`Error::Parse`] when
/// it does not follow its format.
pub fn read_volume(path: &Path) -> Result<VolumeMesh> {
    (VolumeFormat::to_read(path)?.read)(path)
}

/// Writes `mesh` to the file `path`, or to the pair of files that it stands for, whole or not at all.
///
/// # Errors
/// [`Error::Format`] for an extension that is not written or a mesh that the format cannot hold, [`Error::File`] when the
/// file cannot be written.
pub fn write_volume(path: &Path, mesh: &VolumeMesh) -> Result<()> {
    write_volume_as(path, mesh, WriteOptions::default())
}

/// As [`write_volume`], in an encoding and a version.
///
/// # Errors
/// As [`write_volume`], and [`Error::Format`] for an encoding that the format has not.
pub fn write_volume_as(path: &Path, mesh: &VolumeMesh, options: WriteOptions) -> Result<()> {
    let format = VolumeFormat::to_write(path)?;
    let refuse = |reason: String| {
        Err(Error::Format {
            path: path.to_owned(),
            reason,
        })
    };
    if let Some(encoding) = options.encoding
        && !format.encodings.contains(&encoding)
    {
        let name = format.name;
        return refuse(format!("{name} files are not written in this encoding"));
    }
    if mesh.points.len() >= format.most_points {
        return refuse(format!(
            "{} vertices are more than the format's 32-bit numbers can name: write .vtu",
            mesh.points.len()
        ));
    }
    let mut faces = mesh.faces.iter();
    if let Some(i) = faces.position(|face| !matches!(face.len(), 3 | 4)) {
        return refuse(format!(
            "tagged face {i} has {} vertices, but volume meshes have triangles and quadrilaterals",
            mesh.faces.get(i).len()
        ));
    }
    (format.write)(path, mesh, options)
}

/// Elements of one shape.
enum Selected {
    /// Every cell.
    All(usize),
    /// Those with these ids.
    Ids(Vec<u32>),
}

/// The elements of `mesh` that have this shape, in order.
fn select(mesh: &VolumeMesh, shape: Shape) -> Selected {
    if let (Cells::Tetrahedra(tetrahedra), Shape::TETRAHEDRON) = (&mesh.cells, shape) {
        return Selected::All(tetrahedra.len());
    }
    let vertices = shape.vertices();
    let ids = |sizes: &mut dyn Iterator<Item = usize>| {
        (0u32..)
            .zip(sizes)
            .filter(|(_, size)| *size == vertices)
            .map(|(i, _)| i)
            .collect()
    };
    Selected::Ids(match (shape, &mesh.cells) {
        (Shape::Face(_), _) => ids(&mut mesh.faces.iter().map(<[u32]>::len)),
        (Shape::Cell(_), Cells::Mixed(_)) => ids(&mut mesh.cells.iter().map(<[u32]>::len)),
        _ => Vec::new(),
    })
}

impl Selected {
    fn len(&self) -> usize {
        match self {
            Selected::All(count) => *count,
            Selected::Ids(ids) => ids.len(),
        }
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Vertices and tag of element `k`.
    fn element<'a>(&self, mesh: &'a VolumeMesh, shape: Shape, k: usize) -> (&'a [u32], i32) {
        let i = match self {
            Selected::All(_) => k,
            Selected::Ids(ids) => ids[k] as usize,
        };
        match shape {
            Shape::Face(_) => (mesh.faces.get(i), mesh.face_tags[i]),
            _ => {
                let region = mesh.regions.as_ref().map_or(0, |regions| regions[i]);
                (mesh.cells.get(i), region)
            }
        }
    }
}
