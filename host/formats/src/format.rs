//! A format, and the files of a mesh read and written by it.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use trioxide_mesh::about::{About, LasRecord};
use trioxide_mesh::error::Conversion;
use trioxide_mesh::mesh::{Faces, Mesh, NONE};
use trioxide_mesh::{Error, Result, progress};

use super::input::complete;
use super::printed::VertexRows;
use super::text::listed;
use super::{FORMATS, ReadOptions, WriteOptions, las, polyhedra, triangle};

/// How the numbers of a file are encoded, where its format leaves a choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Encoding {
    /// Binary, the least byte first; as text in formats that are text.
    #[default]
    Binary,
    /// Binary, the largest byte first.
    BigEndian,
    /// Decimal numbers.
    Text,
    /// Binary, in blocks compressed by zlib: of VTK's XML files.
    Compressed,
}

/// A file format.
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// Extensions of its files, in lower case.
    pub extensions: &'static [&'static str],
    /// Most vertices of a face that its files hold; 0 where they hold points, not faces.
    pub most_corners: usize,
    /// Whether its files hold region ids of faces.
    pub keeps_regions: bool,
    /// Whether its files hold segments.
    pub keeps_segments: bool,
    /// Whether its files hold normals of vertices.
    pub keeps_normals: bool,
    /// Whether its files hold colours of vertices.
    pub keeps_colors: bool,
    /// Whether its files hold the alpha of these colours.
    pub keeps_alpha: bool,
    /// Whether its files hold texture coordinates of vertices.
    pub keeps_uvs: bool,
    /// Whether its files hold the records of LAS files, such as coordinate systems.
    pub keeps_las: bool,
    /// Whether its files hold materials as glTF defines them, and their images.
    pub keeps_gltf_materials: bool,
    /// Whether its files hold names of groups.
    pub keeps_groups: bool,
    /// Names of the fields that its files do not hold.
    pub(crate) lost_fields: fn(&Mesh) -> Vec<String>,
    /// Names of the fields that have another name in its files, and that name.
    pub(crate) renamed: fn(&Mesh) -> Vec<(String, String)>,
    /// Sentences on fields whose numbers or names its files hold in another form, and on other files that they name.
    pub(crate) retyped: fn(&Mesh) -> Vec<String>,
    /// Fields whose numbers have names in its files.
    pub named_fields: &'static [&'static str],
    /// Whether its files name files of materials.
    pub keeps_materials: bool,
    /// Whether its files name files of textures.
    pub keeps_textures: bool,
    /// Encodings that one can choose from.
    pub encodings: &'static [Encoding],
    /// A sentence on coordinates that its files round, if there are any.
    pub(crate) rounding: Option<fn(&Mesh, Encoding) -> Option<String>>,
    /// Whether its files are columns of numbers, which [`ReadOptions::columns`] names.
    pub has_columns: bool,
    pub(crate) read: Option<Reader>,
    pub(crate) write: Option<Writer>,
    pub(crate) rows: Option<VertexRows>,
}

pub(crate) type Reader = fn(&Path, ReadOptions) -> Result<Loaded>;
pub(crate) type Writer = fn(&Path, &Mesh, WriteOptions) -> Result<()>;

/// A mesh as it was read, and notes on the parts of the file that it leaves out.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) mesh: Mesh,
    pub(crate) notes: Vec<String>,
}

impl From<Mesh> for Loaded {
    fn from(mesh: Mesh) -> Loaded {
        let notes = Vec::new();
        Loaded { mesh, notes }
    }
}

impl Format {
    /// Every format.
    pub fn all() -> &'static [Format] {
        &FORMATS
    }

    /// Whether its files are read, and not only written.
    pub fn is_read(&self) -> bool {
        self.read.is_some()
    }

    /// Whether its files are written, and not only read.
    pub fn is_written(&self) -> bool {
        self.write.is_some()
    }

    /// Whether its files hold faces, and not points only.
    pub fn keeps_faces(&self) -> bool {
        self.most_corners > 0
    }

    /// The extensions of the formats that are read, or written, and pass `is_meant`: `.off, .obj`.
    pub fn read_extensions(is_meant: impl Fn(&Format) -> bool) -> String {
        let meant = FORMATS.iter().filter(|f| f.is_read() && is_meant(f));
        dotted(meant.flat_map(|format| format.extensions))
    }

    /// As [`Format::read_extensions`], of the formats that are written; lists of pieces are not.
    pub fn written_extensions(is_meant: impl Fn(&Format) -> bool) -> String {
        let meant = FORMATS.iter().filter(|f| f.is_written() && is_meant(f));
        let extensions = meant.flat_map(|format| format.extensions);
        dotted(extensions.filter(|extension| !extension.starts_with("pvt")))
    }

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
            .filter(|format| format.is_read())
            .ok_or_else(|| unsupported(path, "read", &Format::read_extensions(|_| true)))
    }

    /// The format that `path` is written as: ask before long work.
    ///
    /// # Errors
    /// [`Error::Format`] when the extension names none.
    pub fn to_write(path: &Path) -> Result<&'static Format> {
        if is_parallel(path) {
            return Err(parallel_output(path));
        }
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        Format::with_extension(extension)
            .filter(|format| format.is_written())
            .ok_or_else(|| unsupported(path, "written", &Format::written_extensions(|_| true)))
    }

    /// Sentences on the parts of `mesh` that a file of this format would not hold, or not exactly.
    pub fn losses(&self, mesh: &Mesh, encoding: Encoding) -> Vec<String> {
        let attributes = &mesh.attributes;
        let colors = attributes.colors.as_deref().unwrap_or_default();
        let records = mesh.about.las.as_ref().map(|las| &las.records);
        let has_record = |is_meant: fn(&LasRecord) -> bool| {
            records.is_some_and(|records| records.iter().any(is_meant))
        };
        let lost = [
            ("faces", !mesh.faces.is_empty() && !self.keeps_faces()),
            ("regions", mesh.regions.is_some() && !self.keeps_regions),
            (
                "segments",
                !mesh.segments.is_empty() && !self.keeps_segments,
            ),
            (
                "normals",
                attributes.normals.is_some() && !self.keeps_normals,
            ),
            ("colours", !colors.is_empty() && !self.keeps_colors),
            (
                "transparency",
                self.keeps_colors && !self.keeps_alpha && colors.iter().any(|c| c[3] != u8::MAX),
            ),
            (
                "texture coordinates",
                attributes.uvs.is_some() && !self.keeps_uvs,
            ),
            (
                "files of materials",
                !mesh.about.material_libraries.is_empty() && !self.keeps_materials,
            ),
            (
                "files of textures",
                !mesh.about.textures.is_empty() && !self.keeps_textures,
            ),
            (
                "coordinate systems",
                !self.keeps_las && has_record(LasRecord::is_coordinate_system),
            ),
            (
                "materials and images of glTF",
                mesh.about.gltf_materials.is_some() && !self.keeps_gltf_materials,
            ),
            (
                "other records of LAS files",
                !self.keeps_las
                    && has_record(|r| !r.is_coordinate_system() && !las::is_description(r)),
            ),
        ];
        let mut losses: Vec<String> = lost
            .iter()
            .filter(|(_, is_lost)| *is_lost)
            .map(|(what, _)| {
                let name = self.name;
                format!("{name} holds no {what}: those of the input are not in the output")
            })
            .collect();
        losses.extend(lost_groups(self.name, self.keeps_groups, &mesh.about));
        let lost = (self.lost_fields)(mesh);
        let mut renamed = (self.renamed)(mesh);
        renamed.retain(|(name, _)| !lost.contains(name));
        losses.extend(lost_fields(self.name, &lost));
        losses.extend(self.lost_names(mesh, &lost));
        losses.extend(renamed_fields(self.name, &renamed));
        losses.extend((self.retyped)(mesh));
        losses.extend(self.rounding.and_then(|rounding| rounding(mesh, encoding)));
        losses
    }

    /// Returns the sentence on names of numbers, but for those of `lost` fields, if a file would hold none.
    fn lost_names(&self, mesh: &Mesh, lost: &[String]) -> Option<String> {
        const MOST: usize = 20;
        let fields = &mesh.fields;
        // Of two fields of a name, that of the segments is lost first.
        let is_held = |name: &String| match fields.sides.get(name) {
            None => fields.cells.get(name).is_some() && !lost.contains(name),
            Some(_) => true,
        };
        let is_named = |name: &String| self.named_fields.contains(&name.as_str());
        let held = mesh.about.names.iter();
        let held = held.filter(|(field, _)| is_held(field) && !is_named(field));
        let list = held.map(|(field, names)| {
            let named = names.iter().take(MOST).enumerate();
            let mut named: Vec<String> =
                named.map(|(i, name)| format!("{i} is `{name}`")).collect();
            if names.len() > MOST {
                named.push(format!("and {} more", names.len() - MOST));
            }
            format!("of {field} {}", named.join(", "))
        });
        let list: Vec<String> = list.collect();
        (!list.is_empty()).then(|| {
            let (format, list) = (self.name, list.join("; "));
            format!("{format} holds no names of numbers: {list}")
        })
    }

    pub(crate) fn with_extension(extension: &str) -> Option<&'static Format> {
        let extension = extension.to_ascii_lowercase();
        FORMATS
            .iter()
            .find(|format| format.extensions.contains(&extension.as_str()))
    }
}

/// The sentence on fields that a file does not hold, if there are any.
pub(crate) fn lost_fields(format: &str, names: &[String]) -> Option<String> {
    let field = if names.len() == 1 { "field" } else { "fields" };
    (!names.is_empty()).then(|| {
        let names = names.join(", ");
        format!("{format} does not hold the {field} {names}: not in the output")
    })
}

/// The sentence on fields that have another name in a file, if there are any.
pub(crate) fn renamed_fields(format: &str, names: &[(String, String)]) -> Option<String> {
    let pair = |(name, written): &(String, String)| format!("`{name}` as `{written}`");
    let pairs: Vec<String> = names.iter().map(pair).collect();
    let field = if pairs.len() == 1 { "field" } else { "fields" };
    (!pairs.is_empty()).then(|| {
        let pairs = pairs.join(", ");
        format!("{format} does not take every name: the output has the {field} {pairs}")
    })
}

pub(crate) fn names(names: Vec<&str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

/// The names of groups as a list for people, if there are any: `curve 1 inlet, surface 5 steel`.
pub fn names_of_groups(about: &About) -> Option<String> {
    let all = about.groups.iter();
    let all = all.map(|(&(dimension, number), name)| {
        format!("{} {number} {name}", About::DIMENSIONS[dimension.min(3)])
    });
    (!about.groups.is_empty()).then(|| listed(all))
}

/// Names the groups whose names files of a format do not hold.
pub(crate) fn lost_groups(format: &str, keeps_groups: bool, about: &About) -> Option<String> {
    let all = names_of_groups(about).filter(|_| !keeps_groups)?;
    let lost = "holds no names of groups: those of the input are not in the output";
    Some(format!("{format} {lost}: {all}"))
}

/// Whether a file of this name lists other files, its pieces.
pub(crate) fn is_parallel(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    ["pvtu", "pvtp"]
        .iter()
        .any(|e| extension.eq_ignore_ascii_case(e))
}

/// The files that may be read or written as the file `path`: itself, and the files of other names that its format keeps
/// beside it. Pieces and references are not among them.
pub fn files_of(path: &Path) -> Vec<PathBuf> {
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "foam" => std::iter::once(path.to_owned())
            .chain(polyhedra::foam_files(path))
            .collect(),
        _ if path.is_dir() => polyhedra::foam_files(path).collect(),
        "node" | "ele" => triangle::files(path),
        _ if !path.exists() && triangle::is_stem(path) => triangle::files(path),
        _ => vec![path.to_owned()],
    }
}

pub(crate) fn parallel_output(path: &Path) -> Error {
    Error::Format {
        path: path.to_owned(),
        reason: "lists of pieces are read, not written: write .vtu or .vtp".to_owned(),
    }
}

fn unsupported(path: &Path, verb: &str, extensions: &str) -> Error {
    let reason = match (polyhedra::PolyhedraFormat::of(path), verb) {
        (Some(format), "read") => format!(
            "{} holds polyhedra: convert, info, render, vem and view read these, and `convert --boundary` writes the faces \
             around them",
            format.name
        ),
        (Some(format), _) => format!(
            "{} holds polyhedra, which convert, and polylla of tetrahedra, write: the formats of faces are {extensions}",
            format.name
        ),
        (None, _) => format!("{} that are {verb}: {extensions}", wrong_extension(path)),
    };
    Error::Format {
        path: path.to_owned(),
        reason,
    }
}

/// Extensions as a list for people: `.off, .obj`.
pub(crate) fn dotted<'a>(extensions: impl Iterator<Item = &'a &'static str>) -> String {
    let dotted: Vec<String> = extensions
        .map(|extension| format!(".{extension}"))
        .collect();
    dotted.join(", ")
}

/// Why the name of a file gives no format, up to "none of those".
pub(crate) fn wrong_extension(path: &Path) -> &'static str {
    match path.extension() {
        _ if path.is_dir() => "it is a folder: name a file in it, with one of the extensions",
        None => "the name has no extension: add one of those",
        Some(extension) if extension.eq_ignore_ascii_case("ptx") => {
            "PTX files are grids of points with transformations (save them as .pts): the extension is none of those"
        }
        Some(_) => "the extension is none of those",
    }
}

/// Reads the mesh in the file `path`, or in the pair of files that it stands for.
///
/// # Errors
/// [`Error::Format`] for an extension that is not read, [`Error::File`] when the file cannot be read, [`Error::Parse`]
/// when it does not follow its format.
pub fn read(path: &Path) -> Result<Mesh> {
    read_with_notes(path).map(|(mesh, _)| mesh)
}

/// As [`read`], with a sentence for whatever the file holds that a mesh cannot, and that one would expect in it.
///
/// # Errors
/// As [`read`].
pub fn read_with_notes(path: &Path) -> Result<(Mesh, Vec<String>)> {
    read_as(path, ReadOptions::default())
}

/// As [`read_with_notes`], by these options.
///
/// # Errors
/// As [`read`].
pub fn read_as(path: &Path, options: ReadOptions) -> Result<(Mesh, Vec<String>)> {
    let format = Format::to_read(path)?;
    progress::stage(format!("read {}", path.display()));
    let read = format.read.expect("to_read gives a format that is read");
    let Loaded { mesh, mut notes } = complete(|| read(path, options))?;
    let unused = options.columns.filter(|_| !format.has_columns);
    notes.extend(unused.map(|_| without_columns(format.name)));
    let vertices = mesh.points.len();
    if vertices >= NONE as usize {
        return Err(Error::Format {
            path: path.to_owned(),
            reason: format!("{vertices} vertices are more than 32-bit indices can name"),
        });
    }
    Ok((mesh, notes))
}

/// The note on columns that are named for a file of the format `name`, which has none.
pub(crate) fn without_columns(name: &str) -> String {
    let extensions = Format::read_extensions(|format| format.has_columns);
    format!("the option columns goes with {extensions}: {name} is read without it")
}

/// Writes `mesh` to the file `path`, or to the pair of files that it stands for, whole or not at all.
///
/// # Errors
/// [`Error::Format`] for an extension that is not written or a mesh that the format cannot hold, [`Error::File`] when
/// the file cannot be written.
pub fn write(path: &Path, mesh: &Mesh) -> Result<()> {
    write_encoded(path, mesh, None)
}

/// As [`write`](fn@write), in an encoding of the format's [`Format::encodings`].
///
/// # Errors
/// As [`write`](fn@write), and [`Error::Format`] for an encoding that is none of them.
pub fn write_encoded(path: &Path, mesh: &Mesh, encoding: Option<Encoding>) -> Result<()> {
    let options = WriteOptions {
        encoding,
        ..WriteOptions::default()
    };
    write_as(path, mesh, options)
}

/// As [`write_encoded`], and in a version of the format.
///
/// # Errors
/// As [`write_encoded`].
pub fn write_as(path: &Path, mesh: &Mesh, options: WriteOptions) -> Result<()> {
    let format = Format::to_write(path)?;
    if (options.encoding).is_some_and(|encoding| !format.encodings.contains(&encoding)) {
        return Err(Error::Format {
            path: path.to_owned(),
            reason: encodings(format.name, format.encodings),
        });
    }
    progress::stage(format!("write {}", path.display()));
    let write = format
        .write
        .expect("to_write gives a format that is written");
    write(path, mesh, options)
}

/// The sentence on an encoding that a format does not have.
pub(crate) fn encodings(name: &str, has: &[Encoding]) -> String {
    let names: Vec<&str> = has
        .iter()
        .map(|encoding| match encoding {
            Encoding::Binary => "binary",
            Encoding::BigEndian => "big-endian",
            Encoding::Text => "text",
            Encoding::Compressed => "compressed",
        })
        .collect();
    match names.is_empty() {
        true => format!(
            "{name} is not written in this encoding: it has one only, so leave the choice out"
        ),
        false => format!(
            "{name} is not written in this encoding: choose {}",
            names.join(" or ")
        ),
    }
}

/// The faces as triangles, for a format at `path` that holds nothing else.
pub(crate) fn triangles<'a>(path: &Path, faces: &'a Faces) -> Result<Cow<'a, [[u32; 3]]>> {
    let holds = "triangles only (.off, .obj, .ply, .vtu and others hold polygons)";
    match (faces, faces.first_polygon()) {
        (Faces::Triangles(triangles), _) => Ok(triangles.into()),
        (Faces::Polygons(polygons), None) => Ok(polygons.vertices.as_chunks().0.into()),
        (_, Some(i)) => Err(undivided(path, holds, format!("face {i}"), faces.get(i))),
    }
}

/// The error of a face that the format of `path` does not hold, but would hold divided.
pub(crate) fn undivided(path: &Path, holds: &str, face: String, corners: &[u32]) -> Error {
    Error::Unconverted {
        reason: format!(
            "{}: the format holds {holds}, but {face} has {} vertices",
            path.display(),
            corners.len()
        ),
        conversion: Conversion::Triangles,
    }
}
