//! Files of formats that are not read, under an extension that is: the format, and the way to a file that is read.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::text::{Fault, text_start};
use crate::volume::mfem::is_mfem;

/// Beginnings of the files of formats that are read: the format and its extension.
const OWN: [(&[u8], &str, &str); 10] = [
    (b"$", "Gmsh", "msh"),
    (b"MeshVersionFormatted", "Medit", "mesh"),
    (b"MFEM ", "MFEM", "mesh"),
    (b"*", "Abaqus", "inp"),
    (b"# vtk DataFile", "VTK", "vtk"),
    (b"<VTKFile", "VTK", "vtu"),
    (b"ply", "PLY", "ply"),
    (b"OFF", "OFF", "off"),
    (b"solid", "STL", "stl"),
    (b"glTF", "glTF", "glb"),
];

/// Beginnings of the files of other formats: the format, and the way.
const OTHERS: [(&[u8], &str, &str); 6] = [
    (
        b"(",
        "Fluent",
        "OpenFOAM's `fluentMeshToFoam` and `foamToVTK` make a .vtu file of it, which is read",
    ),
    (
        b"\x89HDF",
        "HDF5 (Fluent, MED, CGNS and others)",
        "write it as .vtu or Gmsh's .msh by the program that it is of",
    ),
    (b"NETGEN", "Netgen", NETGEN),
    (b"mesh3d", "Netgen", NETGEN),
    (b"areamesh2", "Netgen", NETGEN),
    (b"curved_areamesh2", "Netgen", NETGEN),
];

const NETGEN: &str = "export it from Netgen as Gmsh2 Format, a .msh file";

/// The name of the format of a file that is read as `format`: MFEM's files have the extension of Medit's.
pub fn format_name(path: &Path, format: &'static str) -> &'static str {
    // A pipe is read once.
    if format != "Medit" || !path.is_file() {
        return format;
    }
    let mut begin = Vec::new();
    // A file that cannot be read has failed before.
    _ = File::open(path).and_then(|file| file.take(4096).read_to_end(&mut begin));
    match is_mfem(&begin) {
        true => "MFEM",
        false => format,
    }
}

/// The fault of a file that does not begin as those of `extension`: it names the format that the file is of. If that is
/// not known, it is `fault`.
pub(crate) fn named(file: &[u8], extension: &str, fault: Fault) -> Fault {
    let start = text_start(file);
    let text = file[start..].trim_ascii_start();
    let at = file.len() - text.len();
    let own = OWN.iter().find(|(begin, ..)| text.starts_with(begin));
    match own {
        Some((.., own)) if *own == extension => return fault,
        Some((_, format, own)) => {
            let reason = format!("the file is of {format}: give it the extension .{own}");
            return Fault::new(at, reason);
        }
        None => {}
    }
    let other = OTHERS.iter().find(|(begin, ..)| text.starts_with(begin));
    let other = other.map(|&(_, format, way)| (format, way));
    match other.or_else(|| by_counts(text)) {
        Some((format, way)) => Fault::new(at, format!("the file is of {format}: {way}")),
        None => fault,
    }
}

/// The format of a text that begins with counts alone, after comments.
fn by_counts(text: &[u8]) -> Option<(&'static str, &'static str)> {
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    let first = lines.next()?;
    let words: Vec<&[u8]> = first
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .collect();
    let are_counts = words.iter().all(|word| word.iter().all(u8::is_ascii_digit));
    match words.len() {
        3 if are_counts => Some((
            "FreeFem",
            "write it there by `savevtk(\"mesh.vtu\", Th)`, after `load \"iovtk\"`",
        )),
        5 if are_counts => Some((
            "AVS (UCD)",
            "`meshio convert -i avsucd FILE mesh.vtu`, or ParaView, makes a .vtu file of it, which is read",
        )),
        _ => None,
    }
}
