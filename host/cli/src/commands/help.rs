//! The formats of files in the help texts, from the tables of formats.

use clap::Arg;
use trioxide::formats::volume::VolumeFormat;
use trioxide::formats::{Format, PolyhedraFormat};

/// Help of an input that may be a mesh of faces, points or cells: all formats that are read.
pub fn mesh_to_read(mesh: &str) -> String {
    let extensions = Format::read_extensions(|_| true);
    format!("{mesh}: {extensions}{STEM}")
}

/// As [`mesh_to_read`], of polyhedra too.
pub fn any_mesh_to_read(mesh: &str) -> String {
    format!(
        "{}; of polyhedra: {}",
        mesh_to_read(mesh),
        polyhedra_to_read()
    )
}

/// Help of an input of faces, cells or polyhedra.
pub fn solvable_to_read(mesh: &str) -> String {
    let volumes = volumes();
    format!(
        "{}; of cells: {volumes}; of polyhedra: {}",
        faces_to_read(mesh),
        polyhedra_to_read()
    )
}

fn polyhedra_to_read() -> String {
    let extensions = PolyhedraFormat::read_extensions();
    format!("{extensions}, or OpenFOAM's folder polyMesh")
}

/// Help of an input that is a mesh of faces: the formats that keep faces.
pub fn faces_to_read(mesh: &str) -> String {
    let extensions = Format::read_extensions(Format::keeps_faces);
    format!("{mesh}: {extensions}{STEM}")
}

const STEM: &str = " (of .node and .ele either name, or the stem of both)";

/// `--device` of a command that has no sequential algorithm.
pub fn without_serial(device: Arg) -> Arg {
    device.help(
        "Machine to run on: auto (the GPU, unless there is none, its memory does not suffice or the CPU ends sooner), \
         cuda, cuda:N, or cpu",
    )
}

/// Help of an output: all formats that are written.
pub fn mesh_to_write() -> String {
    let extensions = Format::written_extensions(|_| true);
    format!("File to write: {extensions}")
}

/// Help of an output with faces of up to `corners` corners: the formats that can hold them.
pub fn faces_to_write(mesh: &str, corners: usize) -> String {
    let extensions = Format::written_extensions(|format| format.most_corners >= corners);
    format!("{mesh}: {extensions}")
}

/// Extensions of the formats for meshes of cells.
pub fn volumes() -> String {
    VolumeFormat::extensions(|_| true)
}

/// Extensions of the formats in which polyhedra are written.
pub fn polyhedra() -> String {
    PolyhedraFormat::written_extensions()
}

/// Help of the option for the encoding, with the formats for which it can be chosen.
pub fn encoded() -> String {
    let extensions = Format::written_extensions(|format| !format.encodings.is_empty());
    format!("Encoding of a file of {extensions} [default: binary]")
}

/// As [`encoded`], for meshes of cells.
pub fn volume_encoded() -> String {
    let extensions = VolumeFormat::extensions(|format| format.encodings.len() > 1);
    format!("Encoding of a volume mesh's file of {extensions} [default: binary]")
}
