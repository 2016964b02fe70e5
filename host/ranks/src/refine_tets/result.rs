//! The refined mesh at rank 0, for formats that one process writes.

use glam::DVec3;
use trioxide::Device;
use trioxide::mesh::{NONE, Refinement};
use trioxide::refine_tets::SpacePoint;
use trioxide::volume::{TaggedTriangle, TetMesh};
use trioxide_mesh::parallel;

use super::part::{Face, OwnedTets, STRIDE};
use super::{Elements, Left, Run};
use crate::block::{Block, fill};
use crate::fault::Result;
use crate::transport::Ranks;

/// The refined mesh as the single run has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Whole {
    /// Points of the vertices: those of the input come first.
    pub points: Vec<DVec3>,
    /// Vertices of the tetrahedra.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Tetrahedron of the input that each is a part of.
    pub tetrahedron_parents: Vec<u32>,
    /// Vertices of the tagged triangles.
    pub faces: Vec<[u32; 3]>,
    /// Tagged triangle of the input that each is a part of.
    pub face_parents: Vec<u32>,
    /// For each level, the ends of the edges that its new vertices divide; none if they are not asked for.
    pub rounds: Vec<Refinement>,
}

impl Whole {
    /// The mesh, with the regions and tags of the input.
    ///
    /// # Panics
    /// When the input is another.
    pub fn into_mesh(self, input: &TetMesh) -> TetMesh {
        let parents = &self.tetrahedron_parents;
        let region = |regions: &Vec<i32>| parallel::map(parents, |&t| regions[t as usize]);
        let faces = self.faces.into_iter().zip(&self.face_parents);
        TetMesh {
            points: self.points,
            regions: input.regions.as_ref().map(region),
            faces: faces
                .map(|(vertices, &f)| TaggedTriangle {
                    vertices,
                    tag: input.faces[f as usize].tag,
                })
                .collect(),
            tetrahedra: self.tetrahedra,
        }
    }
}

impl<P: SpacePoint> Run<P> {
    /// The refined mesh at rank 0; other ranks get none. `block` is of the input. Collective.
    ///
    /// # Errors
    /// More vertices or tetrahedra than 32-bit ids name; errors of the device.
    pub fn gather(self, ranks: &Ranks, on: &Device, block: &Block<DVec3>) -> Result<Option<Whole>> {
        ranks.agree(check_narrow(self.counts))?;
        let (counts, mut part, mut ends) = (self.counts, self.part, self.ends);
        let levels = self.levels.len();
        let share = match self.left {
            Left::Input(share) => *share,
            Left::Divided(divided) => {
                let (share, of_level) = divided.next(ranks, on, &mut part, counts, self.record)?;
                ends.push(of_level);
                share
            }
        };
        let owned = part.to_owned(ranks, on, &share)?;
        drop((part, share));
        ranks.phase("gather");
        // One in which nothing was divided is no level.
        let rounds = ends.iter().take(levels).map(|ends| {
            let mut ends = ranks.gather(ends);
            ends.sort_unstable();
            Refinement {
                ends: ends.iter().map(|&[_, a, b]| [a as u32, b as u32]).collect(),
                ..Refinement::default()
            }
        });
        let rounds = rounds.collect();
        let points = points(ranks, block, &owned, counts);
        let mut whole = tetrahedra(ranks, owned.cells.rows.words, counts);
        let mut faces: Vec<Face> = ranks.gather(&owned.faces);
        faces.sort_unstable();
        let narrow = |&[_, a, b, c, _]: &Face| [a, b, c].map(|v| v as u32);
        whole.faces = faces.iter().map(narrow).collect();
        whole.face_parents = faces.iter().map(|face| face[4] as u32).collect();
        whole.points = points;
        whole.rounds = rounds;
        Ok((ranks.rank() == 0).then_some(whole))
    }
}

/// All points at rank 0, in the precision of the run. Collective.
fn points<P: SpacePoint>(
    ranks: &Ranks,
    block: &Block<DVec3>,
    owned: &OwnedTets<P>,
    counts: Elements,
) -> Vec<DVec3> {
    let of_input = ranks.gather(&block.points);
    let mut points = parallel::map(&of_input, |&p| P::from_f64(p).to_f64());
    drop(of_input);
    let (vertices, of_vertices) = (&owned.cells.vertices, &owned.cells.points);
    // Vertices of the input come from the blocks, also vertices without tetrahedra. Where each has one, the blocks may
    // be left out.
    let given = ranks.sum(block.points.len() as u64);
    let first = vertices.partition_point(|&v| v < given);
    let ids = ranks.gather_mail(&vertices[first..]);
    let places = ranks.gather_mail(&of_vertices[first..]);
    if ranks.rank() == 0 {
        points.resize(counts.vertices as usize, DVec3::ZERO);
    }
    for rank in 0..ranks.size() {
        let (ids, places) = (ids.of(rank), places.of(rank));
        let at = |i: usize| ids[i] as usize;
        fill(&mut points, ids.len(), at, |i| Some(places[i].to_f64()));
    }
    points
}

/// All tetrahedra at rank 0. Collective.
fn tetrahedra(ranks: &Ranks, words: Vec<u64>, counts: Elements) -> Whole {
    let words = ranks.gather_mail(&words);
    let count = if ranks.rank() == 0 {
        counts.tetrahedra as usize
    } else {
        0
    };
    let mut whole = Whole {
        tetrahedra: parallel::zeroed(count),
        tetrahedron_parents: parallel::zeroed(count),
        ..Whole::default()
    };
    for rank in 0..ranks.size() {
        let (rows, _) = words.of(rank).as_chunks::<STRIDE>();
        let at = |i: usize| rows[i][0] as usize;
        let corners = |i: usize| {
            let [_, a, b, c, d, _] = rows[i];
            Some([a, b, c, d].map(|v| v as u32))
        };
        fill(&mut whole.tetrahedra, rows.len(), at, corners);
        let parent = |i: usize| Some(rows[i][STRIDE - 1] as u32);
        fill(&mut whole.tetrahedron_parents, rows.len(), at, parent);
    }
    whole
}

/// Refuses meshes that one process cannot hold.
fn check_narrow(counts: Elements) -> Result<()> {
    let Elements {
        vertices,
        tetrahedra,
        faces,
    } = counts;
    if vertices.max(tetrahedra).max(3 * faces) < u64::from(NONE) {
        return Ok(());
    }
    Err(trioxide::Error::Argument(format!(
        "{vertices} vertices, {tetrahedra} tetrahedra and {faces} tagged triangles are more than the 32-bit ids of one process: leave \
         the output out"
    ))
    .into())
}
