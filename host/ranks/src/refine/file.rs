//! The refined mesh as a `.ply` that all ranks write.
//!
//! New triangles follow all old ones in the file, so a rank's block of the new list rarely has its own triangles. But
//! the parts of triangles that were together in the file are together again: a rank writes them there, and nothing
//! crosses. Where triangles have the order of a curve, they go to the blocks of their ids first.

use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use trioxide::Device;
use trioxide::formats::ply::SharedFile;
use trioxide::half_edges::AnyPoint;
use trioxide::mesh::Segment;

use super::pieces::Pieces;
use super::result::points;
use super::{Elements, Run};
use crate::block::Block;
use crate::check::check_ids;
use crate::fault::Result;
use crate::output::{Surface, write_shared, write_surface};
use crate::ownership::Position;
use crate::transport::Ranks;

/// Average number of elements that follow one another in the file from which on ranks write them in place: each run
/// takes a system call or two.
const TOGETHER: usize = 64;

impl<P: AnyPoint> Run<P>
where
    P::Double: Position,
{
    /// Writes the refined mesh to one binary `.ply`, with the bytes of the single run's file. The file gets its name
    /// when all ranks are done, and else there is none. `block` is of the input. Collective.
    ///
    /// # Errors
    /// A file that cannot be written; more vertices than 32-bit ids name; errors of the device.
    pub fn write_ply(
        self,
        ranks: &Ranks,
        on: &Device,
        block: &Block<P::Double>,
        path: &Path,
    ) -> Result<()> {
        self.write_ply_by(ranks, on, block, path, TOGETHER)
    }

    fn write_ply_by(
        self,
        ranks: &Ranks,
        on: &Device,
        block: &Block<P::Double>,
        path: &Path,
        together: usize,
    ) -> Result<()> {
        let is_input = self.rounds.is_empty();
        let (counts, of_part) = (self.counts, (self.part, self.left));
        ranks.agree(check_ids(counts.vertices))?;
        let (pieces, points) = Pieces::of(ranks, on, block, of_part, counts)?;
        let mesh = Refined {
            counts,
            regions: pieces.regions(ranks, block.cells, block.regions.as_deref()),
            segments: match is_input {
                true => block.segments.clone(),
                false => pieces.segments(ranks, &self.markers)?,
            },
            pieces,
            points,
        };
        let runs = mesh.pieces.runs(mesh.pieces.triangles() / together);
        let is_scattered = ranks.any(runs.is_none());
        match runs.filter(|_| !is_scattered) {
            Some(runs) => mesh.write_in_place(ranks, block, path, runs),
            None => mesh.write_in_order(ranks, block, path),
        }
    }
}

/// This rank's part of the refined mesh.
struct Refined<P> {
    counts: Elements,
    pieces: Pieces,
    /// Points of the part's vertices.
    points: Vec<P>,
    /// Regions of the part's triangles, if the mesh has them.
    regions: Option<Vec<i32>>,
    /// All segments.
    segments: Vec<Segment>,
}

impl<P: AnyPoint> Refined<P>
where
    P::Double: Position,
{
    /// Each rank writes its blocks of all vertices and triangles. Collective.
    fn write_in_order(self, ranks: &Ranks, block: &Block<P::Double>, path: &Path) -> Result<()> {
        ranks.phase("order of triangles");
        let (pieces, counts) = (&self.pieces, self.counts);
        let corners = pieces.corners_in_order(ranks, counts.triangles);
        let regions = self.regions.as_ref();
        let surface = Surface {
            vertices: counts.vertices,
            points: &points(ranks, block, (pieces, self.points), counts.vertices),
            corners: corners.into_flattened(),
            regions: regions.map(|of| pieces.regions_in_order(ranks, counts.triangles, of)),
            segments: &self.segments,
        };
        write_surface(ranks, path, surface)
    }

    /// Each rank writes its block of the input's vertices, and its part of the new mesh. Collective.
    fn write_in_place(
        self,
        ranks: &Ranks,
        block: &Block<P::Double>,
        path: &Path,
        [of_vertices, of_triangles]: [Vec<Range<usize>>; 2],
    ) -> Result<()> {
        ranks.phase("write");
        let Elements {
            vertices,
            triangles,
            ..
        } = self.counts;
        let file = SharedFile {
            counts: [vertices, triangles].map(|n| n as usize),
            longest: 3,
            has_regions: self.regions.is_some(),
            segments: self.segments.clone(),
        };
        let header = file.header().expect("it is written to memory");
        let behind = |bytes: u64| SeekFrom::Start(header.len() as u64 + bytes);
        let at_vertex = |id: u64| behind(file.vertex_bytes(id));
        let at_triangle =
            |id: u64| behind(file.vertex_bytes(vertices) + file.face_bytes(id, 3 * id));
        let first = ranks.block(block.vertices).start;
        let of_input = &block.points;
        let in_space = |p: P| p.to_f64().coordinates().into();
        write_shared(ranks, path, |out| {
            if ranks.rank() == 0 {
                out.write_all(&header)?;
            }
            out.seek(at_vertex(first))?;
            file.write_vertices(out, of_input.len(), |i| in_space(P::from_f64(of_input[i])))?;
            for run in of_vertices {
                out.seek(at_vertex(self.pieces.vertex(run.start)))?;
                let point = |i: usize| in_space(self.points[run.start + i]);
                file.write_vertices(out, run.len(), point)?;
            }
            for run in of_triangles {
                out.seek(at_triangle(self.pieces.triangle(run.start)))?;
                self.pieces
                    .write(out, &file, run, self.regions.as_deref())?;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ownership::Ownership;
    use crate::refine::{Options, part_to_refine, run};
    use crate::threads;
    use glam::{DVec2, Vec2};
    use trioxide::mesh::Triangulation;
    use trioxide::refine::{DeviceEdgeMesh, Marking, refine};
    use trioxide::{formats, generate, refine as single};

    /// Compares the single run's file with those of ranks that write in place, and in order.
    fn check<P: AnyPoint<Double = DVec2>>(mesh: &Triangulation, size: usize, owners: &Ownership) {
        let folder = tempfile::tempdir().unwrap();
        let [expected, written] = ["one.ply", "many.ply"].map(|name| folder.path().join(name));
        let marking = Marking::Fraction(0.3);
        let options = single::Options {
            marking: marking.clone(),
            seed: 5,
            rounds: 3,
            ..single::Options::default()
        };
        let on = Device::cpu(Some(1)).unwrap();
        let mut fine = DeviceEdgeMesh::<P>::upload(&on, mesh).unwrap();
        refine(&on, &mut fine, &options).unwrap();
        let refined = fine.triangulation(&on, mesh.regions.as_deref()).unwrap();
        formats::write(&expected, &refined.into()).unwrap();
        let expected = std::fs::read(expected).unwrap();
        for together in [1, usize::MAX] {
            let options = Options {
                marking: marking.clone(),
                seed: 5,
                rounds: 3,
                ..Options::default()
            };
            let done = threads::run(size, |transport| {
                let ranks = Ranks::new(transport);
                let block = Block::of(mesh, ranks.rank(), size);
                let part = part_to_refine::<P>(&ranks, &block, owners)?;
                let run = run::<P>(&ranks, &on, &block, part, &options, owners)?;
                run.write_ply_by(&ranks, &on, &block, &written, together)
            });
            done.into_iter().for_each(|done| done.unwrap());
            assert!(
                std::fs::read(&written).unwrap() == expected,
                "{size} ranks, {together}"
            );
        }
    }

    #[test]
    fn files_are_those_of_a_single_run() {
        let mut mesh = generate::random(&Device::cpu(None).unwrap(), 300, 8).unwrap();
        let mixed = Ownership::Given(Arc::new(|t| (t * 7 / 3) as usize % 3));
        check::<DVec2>(&mesh, 3, &mixed);
        mesh.regions = Some(
            (0..mesh.triangles.len() as i32)
                .map(|t| t % 5 - 2)
                .collect(),
        );
        mesh.segments = (0..20)
            .map(|t| Segment {
                ends: [mesh.triangles[7 * t][0], mesh.triangles[7 * t][1]],
                marker: t as i32 % 3,
            })
            .collect();
        // An edge that is several segments.
        let again = |i: usize| Segment {
            marker: 9 - i as i32,
            ..mesh.segments[i]
        };
        let again: Vec<Segment> = (0..5).map(again).collect();
        mesh.segments.extend(again);
        check::<DVec2>(&mesh, 3, &mixed);
        check::<Vec2>(&mesh, 3, &mixed);
        // A vertex without a triangle, and a rank without triangles.
        mesh.points.push(DVec2::splat(7.0));
        let two = Ownership::Given(Arc::new(|t| usize::from(t > 100)));
        check::<DVec2>(&mesh, 4, &two);
        check::<DVec2>(&mesh, 1, &Ownership::Near);
        let grid = generate::grid(2_000).unwrap();
        check::<Vec2>(&grid, 2, &Ownership::Near);
    }
}
