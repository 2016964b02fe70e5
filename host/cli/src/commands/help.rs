//! What `--help` says of the formats of files, from their tables.

use trioxide::formats::Format;
use trioxide::formats::volume::VolumeFormat;

/// What a mesh may be read from: faces, points or cells, so any format.
pub fn mesh_to_read(mesh: &str) -> String {
    let extensions = Format::read_extensions(|_| true);
    format!("{mesh}: {extensions}{STEM}")
}

/// What a mesh of faces may be read from.
pub fn faces_to_read(mesh: &str) -> String {
    let extensions = Format::read_extensions(Format::keeps_faces);
    format!("{mesh}: {extensions}{STEM}")
}

const STEM: &str = " (of .node and .ele either name, or the stem of both)";

/// What a mesh may be written to.
pub fn mesh_to_write() -> String {
    let extensions = Format::written_extensions(|_| true);
    format!("File to write: {extensions}")
}

/// What faces with up to `corners` corners may be written to.
pub fn faces_to_write(mesh: &str, corners: usize) -> String {
    let extensions = Format::written_extensions(|format| format.most_corners >= corners);
    format!("{mesh}: {extensions}")
}

/// What a mesh of cells may be read from, and written to.
pub fn volumes() -> String {
    VolumeFormat::extensions(|_| true)
}

/// Where one may choose the encoding of a file.
pub fn encoded() -> String {
    let extensions = Format::written_extensions(|format| !format.encodings.is_empty());
    format!("Encoding of a file of {extensions} [default: binary]")
}

/// As [`encoded`], of meshes of cells.
pub fn volume_encoded() -> String {
    let extensions = VolumeFormat::extensions(|format| format.encodings.len() > 1);
    format!("Encoding of a volume mesh's file of {extensions} [default: binary]")
}
