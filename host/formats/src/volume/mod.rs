//! Files of volume meshes: [`read_volume`] and [`write_volume`] by the file name's extension.
//!
//! The rules of [`formats`](super) for readers and writers hold here too: files are mapped, parsed in parallel, and
//! replaced only when complete; counts are checked against the data, and every vertex index is checked. Readers do not
//! judge the mesh: cells may be inverted.
//!
//! docs/FORMATS.md lists the formats, from the table of this module ([`VolumeFormat::all`]).
//!
//! All keep regions of cells and tags of faces. Points are skipped; lines are left out with a note. Cells of higher
//! order are read by their corners; their other nodes are left out with a note. All but TetGen's format hold surfaces
//! too: then [`is_volume`] is false, and [`crate::read`] reads them. Formats that sort their elements by kind (Medit,
//! Gmsh) do not keep the order of cells of different kinds.
//!
//! The readers are our own. Of the crates, mshio 0.4 (2020) reads Gmsh 4.1 only and writes nothing; vtkio 0.7 is a
//! release candidate that holds each file as trees of tagged vectors, and 0.6 is of 2021; meshx is built on the two;
//! for Medit and TetGen there is none. zlib and base64 are flate2's and base64's. On two cores that others use too,
//! 2.5M vertices and 14.8M tetrahedra read at 490 MB/s (`.vtu` of 434 MB: 0.9 s, VTK 9.7 takes 1.0 s), 470 MB/s
//! (`.vtk`), 520 MB/s (`.msh` 4.1), 300 MB/s (2.2), 280 MB/s (`.meshb`), and as text at 240 MB/s to 340 MB/s.

use std::ffi::OsStr;
use std::path::Path;

use super::text::{Fault, Parsed};
use super::{
    Loaded, ReadOptions, complete, dotted, encodings, lost_groups, parse_file, triangle,
    wrong_extension,
};
use trioxide_mesh::fields::{Field, MeshFields};
#[cfg(test)]
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::volume::VolumeMesh;
use trioxide_mesh::{Error, Result, parallel, progress};

pub(crate) mod abaqus;
pub(crate) mod bytes;
pub(crate) mod elements;
pub(crate) mod gmsh;
pub(crate) mod grid_fields;
pub(crate) mod medit;
pub(crate) mod mfem;
mod output;
mod table;
#[cfg(test)]
mod tests;
mod tetgen;
pub(crate) mod tokens;
pub(crate) mod vtk;
pub(crate) mod vtk_cells;
pub(crate) mod vtk_fields;
mod vtk_lists;
mod vtk_reader;
pub(crate) mod vtk_write;
pub(crate) mod vtu;
mod wedges;
pub(crate) mod xdmf;

use elements::Grid;
pub(crate) use output::write_surface_by;
use output::{Output, Selected, select};
use table::FORMATS;

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

/// Options of writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Encoding, for formats with [`VolumeFormat::encodings`].
    pub encoding: Option<Encoding>,
    /// Version of `.msh` files.
    pub msh_version: MshVersion,
}

impl WriteOptions {
    /// The encoding, or the default one.
    pub(crate) fn encoding(self) -> Encoding {
        self.encoding.unwrap_or_default()
    }
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
    /// Whether its files hold names of groups.
    keeps_groups: bool,
    /// Whether its files can hold a field of points (0), cells (1) or tagged faces (2).
    keeps_field: fn(&Field, usize) -> bool,
    /// A field's name in its files.
    plain_name: fn(&str) -> String,
    /// Sentences on fields whose numbers or names change in its files.
    retyped: fn(&MeshFields) -> Vec<String>,
    /// Whether a file has cells.
    has_cells: fn(&Path, ReadOptions) -> bool,
    read: fn(&Path, ReadOptions) -> Result<Noted>,
    write: fn(&Path, &VolumeMesh, WriteOptions) -> Result<()>,
}

/// A mesh, and notes on parts of the file that it does not have.
type Noted = (VolumeMesh, Vec<String>);

/// Parses a file of elements of any dimension.
pub(crate) type ParseGrid = fn(&[u8]) -> Parsed<Grid>;

fn read_by(path: &Path, parse: ParseGrid) -> Result<Noted> {
    parse_file(path, |file| {
        let volume = parse(file)?.into_volume();
        volume.map_err(|reason| Fault::new(file.len(), reason))
    })
}

/// The surface or cloud in a file of elements of any dimension.
pub(crate) fn read_surface_by(path: &Path, parse: ParseGrid) -> Result<Loaded> {
    surface_of(path, parse_file(path, parse)?)
}

/// The surface in `file`, without notes.
#[cfg(test)]
pub(crate) fn surface_in(parse: ParseGrid, file: &[u8]) -> Parsed<Mesh> {
    let surface = parse(file)?.into_surface();
    surface
        .map(|loaded| loaded.mesh)
        .map_err(|error| Fault::new(file.len(), error.to_string()))
}

/// The volume mesh in `file`, without notes.
#[cfg(test)]
pub(crate) fn volume_in(parse: ParseGrid, file: &[u8]) -> Parsed<VolumeMesh> {
    let volume = parse(file)?.into_volume();
    volume
        .map(|(mesh, _)| mesh)
        .map_err(|reason| Fault::new(file.len(), reason))
}

fn refuse(path: &Path, reason: String) -> Error {
    Error::Format {
        path: path.to_owned(),
        reason,
    }
}

fn surface_of(path: &Path, grid: Grid) -> Result<Loaded> {
    grid.into_surface().map_err(|error| error.in_file(path))
}

fn volume_of(path: &Path, grid: Grid) -> Result<Noted> {
    grid.into_volume().map_err(|reason| refuse(path, reason))
}

/// The surface or cloud in a file of VTK's XML formats.
pub(crate) fn read_vtu_surface(path: &Path, options: ReadOptions) -> Result<Loaded> {
    surface_of(path, vtu::read_grid(path, options)?)
}

/// The surface or cloud in a file of XDMF.
pub(crate) fn read_xdmf_surface(path: &Path, options: ReadOptions) -> Result<Loaded> {
    surface_of(path, xdmf::read_grid(path, options)?)
}

/// The surface or cloud in a file of Abaqus.
pub(crate) fn read_abaqus_surface(path: &Path, options: ReadOptions) -> Result<Loaded> {
    surface_of(path, abaqus::read_grid(path, options)?)
}

impl VolumeFormat {
    /// Every format.
    pub fn all() -> &'static [VolumeFormat] {
        &FORMATS
    }

    /// The extensions of the formats that pass `is_meant`: `.vtu, .vtk`; lists of pieces are read only.
    pub fn extensions(is_meant: impl Fn(&VolumeFormat) -> bool) -> String {
        let meant = FORMATS.iter().filter(|format| is_meant(format));
        let extensions = meant.flat_map(|format| format.extensions);
        dotted(extensions.filter(|extension| !extension.starts_with("pvt")))
    }

    /// Sentences on the parts of `mesh` that a file of this format would not hold.
    pub fn losses(&self, mesh: &VolumeMesh) -> Vec<String> {
        let fields = &mesh.fields;
        let mut names: Vec<String> = Vec::new();
        let lists = [&fields.points, &fields.cells, &fields.sides];
        for (of, list) in lists.into_iter().enumerate() {
            let lost = list.iter().filter(|field| !(self.keeps_field)(field, of));
            for field in lost {
                if !names.contains(&field.name) {
                    names.push(field.name.clone());
                }
            }
        }
        let lost = crate::lost_fields(self.name, &names);
        let renamed = crate::fields::renamed(fields, self.plain_name);
        let renamed = renamed
            .into_iter()
            .filter(|(name, _)| !names.contains(name));
        let renamed: Vec<_> = renamed.collect();
        let renamed = crate::renamed_fields(self.name, &renamed);
        let retyped = (self.retyped)(fields);
        let groups = lost_groups(self.name, self.keeps_groups, &mesh.about);
        let lost = groups.into_iter().chain(lost);
        lost.chain(renamed).chain(retyped).collect()
    }

    /// The format in which `path` is read.
    ///
    /// # Errors
    /// [`Error::Format`] when the extension names none.
    pub fn to_read(path: &Path) -> Result<&'static VolumeFormat> {
        match VolumeFormat::of(path) {
            Err(_) if triangle::is_stem(path) => VolumeFormat::of(Path::new("stem.node")),
            format => format,
        }
    }

    /// The format in which `path` is written. Call it before long work.
    ///
    /// # Errors
    /// [`Error::Format`] when the extension names none.
    pub fn to_write(path: &Path) -> Result<&'static VolumeFormat> {
        match crate::is_parallel(path) {
            true => Err(crate::parallel_output(path)),
            false => VolumeFormat::of(path),
        }
    }

    fn of(path: &Path) -> Result<&'static VolumeFormat> {
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        let extension = extension.to_ascii_lowercase();
        FORMATS
            .iter()
            .find(|format| format.extensions.contains(&extension.as_str()))
            .ok_or_else(|| {
                let extensions = FORMATS.iter().flat_map(|format| format.extensions);
                Error::Format {
                    path: path.to_owned(),
                    reason: format!(
                        "{} of volume meshes: {}",
                        wrong_extension(path),
                        dotted(extensions)
                    ),
                }
            })
    }
}

/// Whether the file `path`, or the pair of files that it names, holds a volume mesh.
///
/// It looks for cells, because all these formats hold surfaces too. It is false for a file that cannot be read. Pipes
/// are read here, and kept for [`read_volume`] or [`read`](super::read()).
pub fn is_volume(path: &Path) -> bool {
    is_volume_as(path, ReadOptions::default())
}

/// As [`is_volume`], with the options of reading.
pub fn is_volume_as(path: &Path, options: ReadOptions) -> bool {
    VolumeFormat::to_read(path).is_ok_and(|format| (format.has_cells)(path, options))
}

/// Reads the volume mesh in the file `path`, or in the pair of files that it names.
///
/// # Errors
/// [`Error::Format`] for an extension that is not read, [`Error::File`] when the file cannot be read, [`Error::Parse`]
/// when it does not follow its format.
pub fn read_volume(path: &Path) -> Result<VolumeMesh> {
    read_volume_with_notes(path).map(|(mesh, _)| mesh)
}

/// As [`read_volume`], with a sentence for each part of the file that a volume mesh cannot hold.
///
/// # Errors
/// As [`read_volume`].
pub fn read_volume_with_notes(path: &Path) -> Result<(VolumeMesh, Vec<String>)> {
    read_volume_as(path, ReadOptions::default())
}

/// As [`read_volume_with_notes`], with these options.
///
/// # Errors
/// As [`read_volume`].
pub fn read_volume_as(path: &Path, options: ReadOptions) -> Result<(VolumeMesh, Vec<String>)> {
    let format = VolumeFormat::to_read(path)?;
    progress::stage(format!("read {}", path.display()));
    let (mesh, mut notes) = complete(|| (format.read)(path, options))?;
    notes.extend(options.columns.map(|_| super::without_columns(format.name)));
    Ok((mesh, notes))
}

/// Writes `mesh` to the file `path`, or to the pair of files that it names, as a whole or not at all.
///
/// # Errors
/// [`Error::Format`] for an extension that is not written or a mesh that the format cannot hold, [`Error::File`] when
/// the file cannot be written.
pub fn write_volume(path: &Path, mesh: &VolumeMesh) -> Result<()> {
    write_volume_as(path, mesh, WriteOptions::default())
}

/// As [`write_volume`], in an encoding and a version.
///
/// # Errors
/// As [`write_volume`], and [`Error::Format`] for an encoding that the format does not have.
pub fn write_volume_as(path: &Path, mesh: &VolumeMesh, options: WriteOptions) -> Result<()> {
    let format = VolumeFormat::to_write(path)?;
    progress::stage(format!("write {}", path.display()));
    let refuse = |reason: String| {
        Err(Error::Format {
            path: path.to_owned(),
            reason,
        })
    };
    if let Some(encoding) = options.encoding
        && !format.encodings.contains(&encoding)
    {
        return refuse(encodings(format.name, format.encodings));
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
    let points = mesh.points.len();
    if let Some(corner) = parallel::position(&mesh.faces.vertices, |&v| v as usize >= points) {
        let face = mesh
            .faces
            .offsets
            .partition_point(|&end| end as usize <= corner)
            - 1;
        return refuse(format!(
            "tagged face {face} has vertex {}, but the mesh has {points} vertices",
            mesh.faces.vertices[corner]
        ));
    }
    (format.write)(path, mesh, options)
}
