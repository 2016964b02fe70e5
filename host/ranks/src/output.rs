//! Meshes that all ranks write: one `.ply`, or [a `.vtu` each](pieces) with a `.pvtu` beside them.

use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use glam::DVec3;
use trioxide::formats::atomic_file::{AtomicFile, SharedPart};
use trioxide::formats::ply::SharedFile;
use trioxide::generate::Grid;
use trioxide::mesh::{Faces, Mesh, Segment};
use trioxide::{Error, mesh};
use trioxide_mesh::parallel;

use crate::block::Block;
use crate::check::{check_corners, check_ids};
use crate::fault::{Fault, Result};
use crate::ownership::Position;
use crate::polylla::Ordered;
use crate::transport::{Ranks, Reduction, offsets};

pub mod pieces;

/// This rank's slice of a mesh: points and faces that follow those of the ranks before.
struct Slice<'a, P> {
    /// Vertices of the whole mesh.
    vertices: u64,
    points: &'a [P],
    faces: Faces,
    regions: Option<Vec<i32>>,
    segments: &'a [Segment],
}

/// Writes the mesh of all ranks' polygons to one binary `.ply`, with the bytes of the single run's file. Every rank
/// writes a slice; the file gets its name when all are done, and else there is none. Collective.
///
/// `block` has the rank's vertices, `ordered` is its slice of the list of all polygons.
///
/// # Errors
/// A file that cannot be written.
pub fn write_ply<P: Position>(
    ranks: &Ranks,
    path: &Path,
    block: &Block<P>,
    ordered: Ordered,
) -> Result<()> {
    ranks.phase("write");
    let slice = Slice {
        vertices: block.vertices,
        points: &block.points,
        faces: Faces::Polygons(ordered.polygons),
        regions: ordered.regions,
        segments: &block.segments,
    };
    write_slice(ranks, path, slice)
}

/// A rank's slice of a surface of triangles.
pub struct Surface<'a, P> {
    /// Vertices of the whole surface.
    pub vertices: u64,
    /// Points that follow those of the ranks before.
    pub points: &'a [P],
    /// Vertices of triangles that follow those of the ranks before, three each, as the file has them.
    pub corners: Vec<u32>,
    /// Regions of these, if the surface has them.
    pub regions: Option<Vec<i32>>,
    /// All segments.
    pub segments: &'a [Segment],
}

/// 32-bit ids, for a mesh with no others.
pub fn narrow_ids(ids: &[u64]) -> Vec<u32> {
    parallel::map(ids, |&id| id as u32)
}

/// As [`write_ply`], for the triangles of a surface.
///
/// # Errors
/// As [`write_ply`]; more vertices or corners than 32 bits name.
pub fn write_surface<P: Position>(ranks: &Ranks, path: &Path, surface: Surface<P>) -> Result<()> {
    ranks.phase("write");
    let corners = surface.corners.len() as u64;
    ranks.agree(check_ids(surface.vertices).and_then(|()| check_corners(corners)))?;
    let triangles = bytemuck::allocation::try_cast_vec(surface.corners);
    let triangles = triangles.unwrap_or_else(|(_, corners)| corners.as_chunks().0.to_vec());
    let slice = Slice {
        vertices: surface.vertices,
        points: surface.points,
        faces: Faces::Triangles(triangles),
        regions: surface.regions,
        segments: surface.segments,
    };
    write_slice(ranks, path, slice)
}

fn write_slice<P: Position>(ranks: &Ranks, path: &Path, slice: Slice<P>) -> Result<()> {
    let (longest, corners) = match &slice.faces {
        Faces::Triangles(triangles) => (3, 3 * triangles.len()),
        Faces::Polygons(polygons) => {
            let sizes = polygons.iter().map(<[u32]>::len);
            (sizes.max().unwrap_or(0), polygons.vertices.len())
        }
    };
    let longest = ranks.reduce(longest as u64, Reduction::Max);
    let here = slice.faces.len() as u64;
    let (_, faces) = ranks.scan(here);
    let file = SharedFile {
        counts: [slice.vertices as usize, faces as usize],
        longest: longest as usize,
        has_regions: slice.regions.is_some(),
        segments: slice.segments.to_vec(),
    };
    let header = file.header().expect("it is written to memory");
    let (before, _) = ranks.scan(file.face_bytes(here, corners as u64));
    let behind = |bytes: u64| header.len() as u64 + bytes;
    let (first, _) = ranks.scan(slice.points.len() as u64);
    let of_vertices = behind(file.vertex_bytes(first));
    let of_faces = behind(file.vertex_bytes(slice.vertices)) + before;

    let points = slice.points;
    let part = Mesh {
        faces: slice.faces,
        regions: slice.regions,
        ..Mesh::default()
    };
    write_shared(ranks, path, |out| {
        if ranks.rank() == 0 {
            out.write_all(&header)?;
        }
        out.seek(SeekFrom::Start(of_vertices))?;
        file.write_vertices(out, points.len(), |i| points[i].coordinates().into())?;
        out.seek(SeekFrom::Start(of_faces))?;
        file.write_faces(out, &part)
    })
}

/// Vertices, or triangles, of a grid that a rank has in memory at once while it writes.
const PIECE: u64 = 1 << 22;

/// Writes a grid to one binary `.ply`, with the bytes of the single run's file. Each rank makes its slice piece by
/// piece, so it needs little memory. Collective.
///
/// # Errors
/// As [`write_ply`]; more vertices than 32 bits name.
pub fn write_grid(ranks: &Ranks, path: &Path, grid: &Grid) -> Result<()> {
    write_grid_in_pieces(ranks, path, grid, PIECE)
}

fn write_grid_in_pieces(ranks: &Ranks, path: &Path, grid: &Grid, piece: u64) -> Result<()> {
    ranks.phase("write");
    let counts = [grid.vertices(), grid.triangles()];
    check_ids(counts[0])?;
    let file = SharedFile {
        counts: counts.map(|count| count as usize),
        longest: 3,
        has_regions: false,
        segments: Vec::new(),
    };
    let header = file.header().expect("it is written to memory");
    let [vertices, triangles] = counts.map(|count| ranks.block(count));
    let behind = |bytes: u64| SeekFrom::Start(header.len() as u64 + bytes);
    let pieces = |range: Range<u64>| {
        let starts = range.clone().step_by(piece as usize);
        starts.map(move |start| start..range.end.min(start + piece))
    };
    write_shared(ranks, path, |out| {
        if ranks.rank() == 0 {
            out.write_all(&header)?;
        }
        out.seek(behind(file.vertex_bytes(vertices.start)))?;
        for piece in pieces(vertices) {
            let points = grid.points(piece);
            file.write_vertices(out, points.len(), |i| points[i].extend(0.0))?;
        }
        let before = file.face_bytes(triangles.start, 3 * triangles.start);
        out.seek(behind(file.vertex_bytes(counts[0]) + before))?;
        for piece in pieces(triangles) {
            let corners = grid.triangles_of(piece, |corners| corners.map(|v| v as u32));
            let part = Mesh {
                faces: Faces::Triangles(corners),
                ..Mesh::default()
            };
            file.write_faces(out, &part)?;
        }
        Ok(())
    })
}

/// Writes a file by all ranks, each with its own `write`. It gets its name when all are done, and else there is none.
/// Collective.
pub(crate) fn write_shared(
    ranks: &Ranks,
    path: &Path,
    write: impl FnOnce(&mut AtomicFile) -> io::Result<()>,
) -> Result<()> {
    let (mine, name, set_aside) = share_file(ranks, path)?;
    let written = SharedPart::open(&name, set_aside).and_then(|mut part| write(part.file()));
    ranks.agree(of_file(path, written))?;
    let committed = mine.map_or(Ok(()), AtomicFile::commit);
    ranks.agree(committed)
}

/// The file at rank 0, the name by which all ranks open it until it has its own, and the number of its bytes that are
/// set aside. Collective.
fn share_file(ranks: &Ranks, path: &Path) -> Result<(Option<AtomicFile>, PathBuf, u64)> {
    let elsewhere = ranks.transport().on_this_machine().1 < ranks.size();
    // Rank 0 decides for the others: it may see more of them than they do.
    let mine = match ranks.rank() {
        0 => AtomicFile::create_shared(path, elsewhere).map(Some),
        _ => Ok(None),
    };
    let mut mine = ranks.agree(mine)?;
    let set_aside = mine.as_mut().map_or(0, AtomicFile::set_aside);
    let set_aside = ranks.reduce(set_aside, Reduction::Max);
    let name = mine.as_ref().and_then(AtomicFile::name_for_others);
    let name = name.unwrap_or_default().into_os_string();
    let name = ranks.all(name.as_encoded_bytes()).into_items();
    let name = String::from_utf8(name);
    let name = name.map_err(|_| {
        let reason =
            "the name is no UTF-8, and several processes write no such file: choose another";
        Fault::from(Error::file(path, io::Error::other(reason)))
    })?;
    Ok((mine, name.into(), set_aside))
}

fn of_file<T>(path: &Path, result: io::Result<T>) -> Result<T> {
    result.map_err(|source| Error::file(path, source).into())
}

/// Points of the plane at height 0; of space, as they are.
pub fn in_space<P: Position>(points: &[P]) -> Vec<DVec3> {
    parallel::map(points, |p| p.coordinates().into())
}

/// The mesh of all ranks' polygons at rank 0, for formats that one process writes; other ranks get none. Collective.
///
/// # Errors
/// More corners of all polygons than 32 bits count.
pub fn gather<P: Position>(
    ranks: &Ranks,
    block: &Block<P>,
    ordered: &Ordered,
) -> Result<Option<Mesh>> {
    ranks.phase("gather");
    let slice = &ordered.polygons;
    let corners = ranks.sum(slice.vertices.len() as u64);
    ranks.agree(check_corners(corners))?;
    let points = ranks.gather(&block.points);
    let sizes: Vec<u32> = slice.iter().map(|polygon| polygon.len() as u32).collect();
    let offsets = offsets(ranks.gather(&sizes).into_iter());
    let vertices = ranks.gather(&slice.vertices);
    let regions = ordered.regions.as_ref();
    let regions = regions.map(|regions| ranks.gather(regions));
    if ranks.rank() != 0 {
        return Ok(None);
    }
    Ok(Some(Mesh {
        points: in_space(&points),
        faces: Faces::Polygons(mesh::Polygons { offsets, vertices }),
        regions,
        segments: block.segments.clone(),
        ..Mesh::default()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::run;
    use trioxide::formats;

    /// Also where a slice is many pieces.
    #[test]
    fn a_grid_in_pieces_is_the_file_of_the_whole() {
        let folder = tempfile::tempdir().unwrap();
        let single = folder.path().join("one.ply");
        let whole = trioxide::generate::jittered(900, 4).unwrap();
        formats::write(&single, &whole.into()).unwrap();
        let single = std::fs::read(single).unwrap();
        let grid = Grid::jittered(900, 4).unwrap();
        for (size, piece) in [(1, 7), (3, 100), (4, 1 << 22), (2, 1)] {
            let path = folder.path().join("many.ply");
            for written in run(size, |transport| {
                write_grid_in_pieces(&Ranks::new(transport), &path, &grid, piece)
            }) {
                written.unwrap();
            }
            assert!(
                std::fs::read(&path).unwrap() == single,
                "{size} ranks, {piece}"
            );
        }
    }

    #[test]
    fn more_than_32_bits_count_is_refused() {
        let large = Grid::uniform(5_000_000_000).unwrap();
        let path = Path::new("never.ply");
        let refused = run(2, |transport| {
            write_grid(&Ranks::new(transport), path, &large)
        });
        for refused in refused {
            let said = refused.unwrap_err().to_string();
            assert!(said.contains("more than the 32-bit ids of files"), "{said}");
        }
    }
}
