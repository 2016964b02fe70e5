//! The refined mesh as a `.ply` that all ranks write.
//!
//! A new triangle stands behind all old ones, so that a rank's block of the new list is rarely where its triangles are. But those that it has
//! divided lie together in the file, where they lay together before: it writes them there, and nothing crosses. Where triangles lie in
//! the order of a curve, they go to the blocks of their ids first.

use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use trioxide::Device;
use trioxide::formats::ply::SharedFile;
use trioxide::half_edges::AnyPoint;
use trioxide_mesh::parallel;

use super::Run;
use super::pieces::Pieces;
use crate::block::{Block, Blocks};
use crate::check::check_ids;
use crate::fault::Result;
use crate::output::{Surface, narrow_ids, write_shared, write_surface};
use crate::ownership::Position;
use crate::transport::{Ranks, Reduction};

/// Elements that lie together in the file, on average, from which on ranks write them where they are: a run takes the system a call or two.
const TOGETHER: u64 = 64;

impl<P: AnyPoint> Run<P>
where
    P::Double: Position,
{
    /// Writes the refined mesh to one binary `.ply`, the bytes of the file that a single process writes: the file has its name when all are
    /// done, and else there is none. `block` is of the input. Collective.
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
        let (rest, pieces) = self.into_pieces(ranks, on, block)?;
        let counts = rest.counts;
        ranks.agree(check_ids(counts.vertices))?;
        let runs = [
            runs(
                pieces.vertices(),
                |v| pieces.is_new(v),
                |v| pieces.vertex(v),
            ),
            runs(
                pieces.triangles(),
                |t| pieces.is_own(t),
                |t| pieces.triangle(t),
            ),
        ];
        let mut sums = [runs[0].len() + runs[1].len(), pieces.triangles()].map(|n| n as u64);
        ranks.reduce_all(&mut sums, Reduction::Sum);
        if sums[0] * TOGETHER > sums[1] {
            let refined = rest.in_order(ranks, block, pieces)?;
            let surface = Surface {
                vertices: counts.vertices,
                points: &refined.points,
                corners: narrow_ids(&refined.corners),
                regions: refined.regions,
                segments: &refined.segments,
            };
            return write_surface(ranks, path, surface);
        }
        let ancestor = |t: usize| pieces.ancestor(t);
        let regions = Pieces::<P>::regions(ranks, block, pieces.triangles(), ancestor);
        let file = SharedFile {
            counts: [counts.vertices, counts.triangles].map(|n| n as usize),
            longest: 3,
            has_regions: regions.is_some(),
            segments: pieces.segments(ranks, &rest.markers)?,
        };
        ranks.phase("write");
        let [of_vertices, of_triangles] = runs;
        let header = file.header().expect("it is written to memory");
        let vertex_at = |id: u64| SeekFrom::Start(header.len() as u64 + file.vertex_bytes(id));
        let faces = header.len() as u64 + file.vertex_bytes(counts.vertices);
        let first = Blocks::new(block.vertices, ranks.size())
            .range(ranks.rank())
            .start;
        let in_space = |p: P| p.to_f64().coordinates().into();
        write_shared(ranks, path, |out| {
            if ranks.rank() == 0 {
                out.write_all(&header)?;
            }
            out.seek(vertex_at(first))?;
            let of_input = &block.points;
            file.write_vertices(out, of_input.len(), |i| in_space(P::from_f64(of_input[i])))?;
            for run in of_vertices {
                out.seek(vertex_at(pieces.vertex(run.start)))?;
                file.write_vertices(out, run.len(), |i| in_space(pieces.point(run.start + i)))?;
            }
            for run in of_triangles {
                let before = pieces.triangle(run.start);
                out.seek(SeekFrom::Start(faces + file.face_bytes(before, 3 * before)))?;
                let region = |i: usize| regions.as_ref().map_or(0, |of| of[run.start + i]);
                let corners = |i: usize| pieces.corners(run.start + i).map(|v| v as u32);
                file.write_triangles(out, run.len(), corners, region)?;
            }
            Ok(())
        })
    }
}

/// The longest runs in `0..n` of what is wanted and has consecutive ids.
fn runs(
    n: usize,
    is_wanted: impl Fn(usize) -> bool + Sync,
    id: impl Fn(usize) -> u64 + Sync,
) -> Vec<Range<usize>> {
    // Whether i and the next one are of one run.
    let goes_on = |i: usize| is_wanted(i) && is_wanted(i + 1) && id(i) + 1 == id(i + 1);
    let starts = |i: usize| is_wanted(i) && !(i > 0 && goes_on(i - 1));
    let ends = |i: usize| is_wanted(i) && !(i + 1 < n && goes_on(i));
    let starts = parallel::filter_collect(n, |i| starts(i).then_some(i));
    let ends = parallel::filter_collect(n, |i| ends(i).then_some(i + 1));
    starts
        .into_iter()
        .zip(ends)
        .map(|(start, end)| start..end)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_what_is_wanted_with_consecutive_ids() {
        let ids = [3, 4, 5, 9, 10, 12, 13, 14];
        let of = |wanted: &[bool]| runs(wanted.len(), |i| wanted[i], |i| ids[i]);
        assert_eq!(of(&[true; 8]), [0..3, 3..5, 5..8]);
        let some = [false, true, true, true, false, false, true, true];
        assert_eq!(of(&some), [1..3, 3..4, 6..8]);
        assert!(of(&[false; 8]).is_empty() && of(&[]).is_empty());
    }
}
