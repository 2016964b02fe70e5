//! A rank's part of a mesh of tetrahedra: the tetrahedra that it owns, the ghosts, and the tagged triangles that it
//! divides.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use glam::DVec3;
use rayon::slice::ParallelSliceMut;
use trioxide::Device;
use trioxide::refine_tets::{SharePart, SpacePoint, TetShare};
use trioxide_mesh::bit_set::contains;
use trioxide_mesh::parallel;

use super::Elements;
use crate::fault::Result;
use crate::halo::Halo;
use crate::ids::{IdSet, Ids, Owners};
use crate::owned::{Owned, WithGhosts};
use crate::ownership::Ownership;
use crate::part::{Part, owned_bits};
use crate::records::Records;
use crate::tets::{Input, first_of_tagged, first_tetrahedra, is_of_mesh, refuse, too_large};
use crate::transport::{Mail, Ranks};

/// A tagged triangle with ids of the whole mesh: its id, its vertices, and its ancestor in the input.
pub type Face = [u64; 5];

/// A remedy besides more ranks, where a part is too large.
pub const OR_LESS: &str = ", or refine less";

/// Words of a tetrahedron's row: its id, its vertices, and its ancestor in the input.
pub const STRIDE: usize = 6;

/// A rank's part at the beginning of a level, with local ids. Its corners and points are on the device.
pub struct TetPart {
    /// Elements of the whole mesh.
    pub counts: Elements,
    /// The owner of each tetrahedron.
    pub owners: Owners,
    /// The halo of the tetrahedra.
    pub halo: Halo,
    /// Id in the whole mesh of each vertex; it may be wrong for a vertex that no owned tetrahedron has.
    pub vertices: Ids,
    /// Id in the whole mesh of each tetrahedron, ascending.
    pub cells: Ids,
    /// The tetrahedron of the input that each is a part of.
    pub ancestors: Ids,
    /// The tagged triangles that this rank divides, ascending, each with its ancestor in the input.
    pub faces: Vec<[u64; 2]>,
}

/// A rank's own elements between two levels.
pub struct OwnedTets<P> {
    /// Rows of [`STRIDE`] words.
    pub cells: Owned<P>,
    /// The tagged triangles that it divides, ascending: each is a face of an owned tetrahedron.
    pub faces: Vec<Face>,
}

impl TetPart {
    /// This rank's `part` of the input. Collective.
    ///
    /// # Errors
    /// The single run's, of meshes that break a rule; a part with more elements than 32-bit ids name; errors of the
    /// device.
    pub fn of_input<P: SpacePoint>(
        ranks: &Ranks,
        on: &Device,
        input: Input,
        part: Part<DVec3>,
    ) -> Result<(Self, TetShare<P>)> {
        ranks.phase("check");
        let first = first_of_tagged(&part, input.tagged);
        let me = ranks.rank() as u32;
        let is_own = |&f: &usize| first[f].is_some_and(|t| part.owners.get(t as usize) == me);
        let all = input.tagged.len();
        let own = (0..all).filter(is_own).map(|f| {
            let [a, b, c] = input.tagged[f].map(u64::from);
            [f as u64, a, b, c, f as u64]
        });
        let faces: Vec<Face> = own.collect();
        let seen = ranks.sum(faces.len() as u64);
        let (points, corners) = part.shape.lists();
        let points = parallel::map(&points, |&p| P::from_f64(p));
        let share = SharePart {
            points: &points,
            tetrahedra: &corners,
            faces: &local(&faces, &part.vertices),
        };
        let share = TetShare::upload(on, &share, true);
        let is_broken = seen < all as u64 || share.as_ref().is_err_and(is_of_mesh);
        refuse::<P>(ranks, input, is_broken)?;
        let share = ranks.agree(share.map_err(|error| too_large(ranks, error, OR_LESS)))?;
        let counts = Elements {
            vertices: input.block.vertices,
            tetrahedra: input.block.cells,
            faces: all as u64,
        };
        let part = Self {
            counts,
            owners: part.owners,
            halo: part.halo,
            vertices: part.vertices,
            ancestors: part.cells.clone(),
            cells: part.cells,
            faces: names_of(&faces),
        };
        Ok((part, share))
    }

    /// The part with these owned elements, and its ghosts. Collective.
    ///
    /// # Errors
    /// A part with more elements than 32-bit ids name; errors of the device.
    pub fn of_owned<P: SpacePoint>(
        ranks: &Ranks,
        on: &Device,
        counts: Elements,
        owned: OwnedTets<P>,
    ) -> Result<(Self, TetShare<P>)> {
        let OwnedTets { cells, faces, .. } = owned;
        let WithGhosts {
            rows,
            owners,
            halo,
            vertices,
            points,
            corners,
        } = cells.with_ghosts(ranks, counts.vertices)?;
        ranks.phase("edges");
        let vertices = Ids::of(vertices);
        let share = SharePart {
            points: &points,
            tetrahedra: &corners,
            faces: &local(&faces, &vertices),
        };
        let share =
            TetShare::upload(on, &share, false).map_err(|error| too_large(ranks, error, OR_LESS));
        let share = ranks.agree(share)?;
        let part = Self {
            counts,
            owners,
            halo,
            vertices,
            cells: Ids::of(rows.ids()),
            ancestors: Ids::of_list(parallel::collect(rows.len(), |t| rows.get(t)[STRIDE - 1])),
            faces: names_of(&faces),
        };
        Ok((part, share))
    }

    /// Number of tetrahedra.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Number of tetrahedra that a rank owns.
    pub fn owned(&self, rank: usize) -> usize {
        let owned = self.owners.of_rank(rank as u32);
        owned.map(|range| range.len()).sum()
    }

    /// Downloads this rank's own elements of the part, which is `share` on the device. Collective.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn to_owned<P: SpacePoint>(
        &self,
        ranks: &Ranks,
        on: &Device,
        share: &TetShare<P>,
    ) -> Result<OwnedTets<P>> {
        ranks.phase("pieces");
        let pieces = ranks.agree(share.download(on))?;
        let owned = owned_bits(&self.owners, ranks.rank(), 1);
        let own = |t: usize| contains(&owned, t).then_some(t as u32);
        let mine = parallel::filter_collect(self.len(), own);
        let is_used = parallel::collect(pieces.points.len(), |_| AtomicBool::new(false));
        let mut words = parallel::zeroed(STRIDE * mine.len());
        parallel::for_chunks_mut(&mut words, STRIDE, |i, row| {
            let t = mine[i] as usize;
            row[0] = self.cells.get(t);
            for (corner, &v) in row[1..].iter_mut().zip(&pieces.tetrahedra[t]) {
                is_used[v as usize].store(true, Relaxed);
                *corner = self.vertices.get(v as usize);
            }
            row[STRIDE - 1] = self.ancestors.get(t);
        });
        let faces = self.faces.iter().zip(&pieces.faces);
        let faces = faces.map(|(&[id, ancestor], corners)| {
            let [a, b, c] = corners.map(|v| self.vertices.get(v as usize));
            [id, a, b, c, ancestor]
        });
        let faces = faces.collect();
        // The used vertices ascend: new ones have the order of owned tetrahedra's edges.
        let rows = Records {
            words,
            stride: STRIDE,
        };
        let vertex = |v: usize| (self.vertices.get(v), pieces.points[v]);
        let cells = Owned::of(rows, 4, &is_used, vertex);
        Ok(OwnedTets { cells, faces })
    }
}

/// Ids of tagged triangles and of their ancestors.
fn names_of(faces: &[Face]) -> Vec<[u64; 2]> {
    faces.iter().map(|face| [face[0], face[4]]).collect()
}

impl<P: SpacePoint> OwnedTets<P> {
    /// Deals the elements anew where a rank has too many; tagged triangles go with the tetrahedra. Collective.
    pub fn balanced(self, ranks: &Ranks, ownership: &Ownership, counts: Elements) -> Self {
        ranks.phase("balance");
        let Self { cells, faces } = self;
        let total = counts.tetrahedra;
        let Some(owners) = cells.new_owners(ranks, total, ownership, P::to_f64) else {
            return Self { cells, faces };
        };
        let corners: Vec<[u64; 3]> = faces.iter().map(|&[_, a, b, c, _]| [a, b, c]).collect();
        let at_faces = IdSet::of_lists(faces.len(), |f| corners[f]);
        let of_cell = |t: usize| std::array::from_fn(|k| cells.corners(t)[k]);
        let may_have = |t: usize| {
            let corners: [u64; 4] = of_cell(t);
            corners.into_iter().filter(|&v| at_faces.has(v)).count() >= 3
        };
        let first = first_tetrahedra(&corners, cells.rows.len(), may_have, of_cell);
        let owner = |f: usize| {
            let t = first[f].expect("it is a face of an owned tetrahedron");
            owners[t as usize] as usize
        };
        let faces = Mail::sorted(ranks.size(), faces.len(), |f| (owner(f), faces[f]));
        let mut faces = ranks.exchange(&faces).into_items();
        faces.par_sort_unstable();
        let cells = cells.deal(ranks, &owners);
        Self { cells, faces }
    }
}

/// Local vertices of tagged triangles.
fn local(faces: &[Face], vertices: &Ids) -> Vec<u32> {
    let corners = faces.iter().flat_map(|face| &face[1..4]);
    let place = |&vertex: &u64| vertices.place(vertex).expect("it is a face of the part");
    corners.map(place).collect()
}
