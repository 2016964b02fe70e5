//! `.pvtu`: the list of a mesh's pieces, a `.vtu` each.

use std::io::Write;
use std::path::Path;

use crate::atomic_file::write_atomically;
use trioxide_mesh::Result;

/// An array that every piece has: VTK's name of its type, and its name.
pub type PieceArray = (&'static str, &'static str);

/// Writes the list of `pieces`, names of files in the folder of `path`, with the arrays of points and of cells that all have.
///
/// # Errors
/// [`Error::File`](trioxide_mesh::Error::File) when the file cannot be written.
pub fn write_list(
    path: &Path,
    pieces: &[String],
    of_points: &[PieceArray],
    of_cells: &[PieceArray],
) -> Result<()> {
    let arrays = |arrays: &[PieceArray]| -> String {
        let array = |(kind, name): &PieceArray| {
            format!("      <PDataArray type=\"{kind}\" Name=\"{name}\"/>\n")
        };
        arrays.iter().map(array).collect()
    };
    let escape = |name: &str| {
        let name = name.replace('&', "&amp;").replace('<', "&lt;");
        name.replace('>', "&gt;").replace('"', "&quot;")
    };
    let sources = pieces
        .iter()
        .map(|piece| format!("    <Piece Source=\"{}\"/>\n", escape(piece)));
    let text = format!(
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"PUnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n  \
         <PUnstructuredGrid GhostLevel=\"0\">\n    \
         <PPointData>\n{}    </PPointData>\n    \
         <PPoints>\n      <PDataArray type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\"/>\n    </PPoints>\n    \
         <PCellData>\n{}    </PCellData>\n{}  \
         </PUnstructuredGrid>\n</VTKFile>\n",
        arrays(of_points),
        arrays(of_cells),
        sources.collect::<String>()
    );
    write_atomically(path, |file| file.write_all(text.as_bytes()))
}
