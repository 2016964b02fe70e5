//! Meshes in pieces: a `.vtu` a rank, and the list of them, a `.pvtu` ([`pvtu`]).

use std::io::{self, Write};
use std::path::Path;

use trioxide::Error;
use trioxide::formats::atomic_file::AtomicFile;
use trioxide::formats::pvtu::{self, Cells, Cut, Piece};
use trioxide::mesh;
use trioxide::mesh::{Faces, Mesh, Segment};
use trioxide_mesh::parallel;

use super::{in_space, narrow_ids};
use crate::block::Block;
use crate::check::check_corners;
use crate::directory::Fetched;
use crate::fault::Result;
use crate::ids::IdSet;
use crate::ownership::Position;
use crate::polylla::Polygons;
use crate::transport::{Mail, Ranks};

/// Faces of a surface that a rank writes as a piece.
pub struct Slice<'a, P> {
    /// Vertices of the whole surface.
    pub vertices: u64,
    /// Points of the rank's block of these.
    pub points: &'a [P],
    /// Start of each face among the corners, and the end of the last; `None` where all are triangles.
    pub offsets: Option<Vec<u32>>,
    /// Vertices of the faces.
    pub corners: Vec<u64>,
    /// Regions of the faces, if the surface has them.
    pub regions: Option<Vec<i32>>,
    /// All segments.
    pub segments: &'a [Segment],
}

/// Writes each rank's polygons as a piece. Collective.
///
/// # Errors
/// As [`write_slice`].
pub fn write_polygons<P: Position>(
    ranks: &Ranks,
    path: &Path,
    block: &Block<P>,
    polygons: Polygons,
) -> Result<()> {
    let slice = Slice {
        vertices: block.vertices,
        points: &block.points,
        offsets: Some(narrow_ids(&polygons.offsets)),
        corners: polygons.vertices,
        regions: polygons.regions,
        segments: &block.segments,
    };
    write_slice(ranks, path, slice)
}

/// Writes each rank's faces to a `.vtu` beside `path`, and the list of them to `path`. Segments are dealt in blocks; a
/// vertex without a face and a segment is in the piece of its block. Collective.
///
/// # Errors
/// A file that cannot be written; more corners of a piece than 32 bits count.
pub fn write_slice<P: Position>(ranks: &Ranks, path: &Path, slice: Slice<P>) -> Result<()> {
    ranks.phase("write");
    ranks.agree(check_corners(slice.corners.len() as u64))?;
    let Slice {
        vertices: total,
        points,
        offsets,
        mut corners,
        regions,
        segments: all,
    } = slice;
    let of_faces = corners.len();
    let own = ranks.block(all.len() as u64);
    let own = &all[own.start as usize..own.end as usize];
    let ends = own.iter().flat_map(|segment| segment.ends);
    corners.extend(ends.map(u64::from));
    let (vertices, duplicates) = vertices_of(ranks, total, &corners);
    let set = IdSet::of_list(&vertices);
    let points = Fetched::of(ranks, total, set, points);
    let local = |&vertex: &u64| points.ids.place(vertex).expect("it is a corner");
    let mut corners = parallel::map(&corners, local);
    let segments = own.iter().zip(corners[of_faces..].as_chunks().0);
    let segments = segments.map(|(segment, &ends)| Segment {
        ends,
        marker: segment.marker,
    });
    let segments = segments.collect();
    corners.truncate(of_faces);
    let part = Mesh {
        points: in_space(&points.into_items()),
        faces: match offsets {
            None => Faces::Triangles(corners.as_chunks().0.to_vec()),
            Some(offsets) => Faces::Polygons(mesh::Polygons {
                offsets,
                vertices: corners,
            }),
        },
        regions,
        segments,
        ..Mesh::default()
    };
    let ids = vertices.iter().map(|&v| v as i64).collect();
    let piece = Piece::of_surface(part, ids, duplicates, !all.is_empty());
    let names = pvtu::piece_names(path, ranks.size());
    write_piece(ranks, path, &names, |file| piece.write(file))?;
    write_list(ranks, path, &names, Some(piece))
}

/// Writes the mesh that rank 0 holds in pieces: rank 0 cuts them, and each rank writes one. Other ranks give no mesh.
/// Collective.
///
/// # Errors
/// A file that cannot be written.
pub fn write_whole(ranks: &Ranks, path: &Path, mesh: Option<Cells>) -> Result<()> {
    ranks.phase("write");
    let names = pvtu::piece_names(path, ranks.size());
    let mut cut = mesh.map(|mesh| Cut::new(mesh, ranks.size()));
    let (mut first, mut own) = (None, Vec::new());
    for rank in 0..ranks.size() {
        let piece = cut.as_mut().map(Cut::next_piece);
        let bytes = piece.as_ref().map(Piece::to_bytes).unwrap_or_default();
        let received = ranks.exchange(&ranks.mail_to(rank, bytes));
        if rank == ranks.rank() {
            own = received.into_items();
        }
        first = first.or(piece);
    }
    drop(cut);
    write_piece(ranks, path, &names, |file| file.write_all(&own))?;
    write_list(ranks, path, &names, first)
}

/// Writes this rank's piece, which gets its name when all ranks have written theirs. Collective.
fn write_piece(
    ranks: &Ranks,
    path: &Path,
    names: &[String],
    write: impl FnOnce(&mut AtomicFile) -> io::Result<()>,
) -> Result<()> {
    let path = path.with_file_name(&names[ranks.rank()]);
    let written = AtomicFile::create(&path).and_then(|mut file| {
        write(&mut file).map_err(|source| Error::file(&path, source))?;
        Ok(file)
    });
    let written = ranks.agree(written)?;
    ranks.agree(written.commit())
}

/// Writes the list of pieces with the arrays of rank 0's. Collective.
fn write_list(ranks: &Ranks, path: &Path, names: &[String], piece: Option<Piece>) -> Result<()> {
    let written = match piece.filter(|_| ranks.rank() == 0) {
        Some(piece) => piece.write_list(path, names),
        None => Ok(()),
    };
    ranks.agree(written)
}

/// The ascending vertices of a piece with these corners, each with VTK's mark: 1 for a vertex that an earlier piece has
/// too, else 0. The piece also gets the vertices of this rank's block that are no piece's corners. Collective.
fn vertices_of(ranks: &Ranks, total: u64, corners: &[u64]) -> (Vec<u64>, Vec<u8>) {
    let vertices = IdSet::of_list(corners).to_vec();
    let blocks = ranks.blocks(total);
    let directory = |i: usize| (blocks.rank(vertices[i]), vertices[i]);
    let asked = Mail::sorted(ranks.size(), vertices.len(), directory);
    let range = blocks.range(ranks.rank());
    let mut is_seen = vec![false; (range.end - range.start) as usize];
    // The questions come in the order of ranks: the first one about a vertex is of the first rank with it.
    let answers = ranks.ask_together(&asked, |asked| {
        let is_repeated = |&vertex: &u64| {
            let seen = &mut is_seen[(vertex - range.start) as usize];
            u8::from(std::mem::replace(seen, true))
        };
        asked.items().iter().map(is_repeated).collect()
    });
    let mut all: Vec<(u64, u8)> = vertices.into_iter().zip(answers).collect();
    let loose = range.zip(is_seen).filter(|(_, is_seen)| !is_seen);
    all.extend(loose.map(|(vertex, _)| (vertex, 0)));
    all.sort_unstable();
    all.into_iter().unzip()
}
