//! Ids in the whole mesh of a level's new elements.

use std::iter::repeat_n;

use trioxide::Device;
use trioxide::refine_tets::{DividedShare, ShareChildren, SpacePoint};
use trioxide_mesh::parallel::{self, GRAIN};

use super::part::TetPart;
use crate::fault::Result;
use crate::ids::{Owners, partition};
use crate::numbers::Sums;
use crate::transport::Ranks;

/// Tetrahedra whose bits a thread writes at a time: four to a word.
const PIECE: usize = 1 << 14;

/// Bits of a tetrahedron, or a tagged triangle: one for each counted element.
const EACH: usize = 8;

/// Eight bits for each of `n` elements: `bits(i)` of each of `count` items for element `of(i)`, which ascends.
fn eights(
    n: usize,
    count: usize,
    of: impl Fn(usize) -> usize + Sync,
    bits: impl Fn(usize) -> u32 + Sync,
) -> Vec<u32> {
    let mut words = parallel::zeroed(n.div_ceil(4));
    parallel::for_chunks_mut(&mut words, PIECE / 4, |k, words| {
        let (first, end) = (k * PIECE, k * PIECE + 4 * words.len());
        let mut i = partition(count, |i| of(i) < first);
        while i < count && of(i) < end {
            let place = of(i) - first;
            words[place / 4] |= bits(i) << (EACH * (place % 4));
            i += 1;
        }
    });
    words
}

/// Ids in the whole mesh of a part's new elements, in their order.
pub struct Numbers {
    /// New tetrahedra, also of ghosts.
    pub tetrahedra: Vec<u64>,
    /// Local tetrahedron that each of them is a part of.
    pub parents: Vec<u32>,
    /// New vertices. Ids may be wrong in edges that no owned tetrahedron has.
    pub vertices: Vec<u64>,
    /// The divided tetrahedra.
    children: ShareChildren,
}

impl Numbers {
    /// Numbers the elements that a level adds to `part`; `children` where they are on the host already. Collective.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn of<P: SpacePoint>(
        ranks: &Ranks,
        on: &Device,
        part: &TetPart,
        share: &DividedShare<P>,
        children: Option<ShareChildren>,
    ) -> Result<Self> {
        let children = match children {
            Some(children) => children,
            None => ranks.agree(share.children(on))?,
        };
        let (n, new, uses) = (part.len(), share.tetrahedra as usize, &share.uses);
        let ShareChildren { divided, slots } = &children;
        let added = |i: usize| (1 << children_of(&children, new, i).len()) - 1;
        let added = eights(n, divided.len(), |i| divided[i] as usize, added);
        let tetrahedron = |i: usize| uses[i] as usize / 6;
        let first = eights(n, uses.len(), tetrahedron, |i| 1 << (uses[i] % 6));
        let (total, id) = (part.counts.tetrahedra, |t: usize| part.cells.get(t));
        let kinds = [&added[..], &first];
        let sums = Sums::count(ranks, total, &part.owners, id, EACH, kinds);
        // For each tetrahedron the new tetrahedra before its own, the midpoints before its own, and a bit for each edge
        // that it uses first. Ghosts get them from their owners.
        let of_tetrahedron = |t: usize| first[t / 4] >> (EACH * (t % 4)) & 0xff;
        let mut known = sums.before(n);
        parallel::for_chunks_mut(&mut known, 1, |t, known| {
            known[0][1] = known[0][1] << EACH | u64::from(of_tetrahedron(t));
        });
        part.halo.update(ranks, &mut known);

        // For each new tetrahedron, in their order, the divided one that it is a part of.
        let parents = parallel::concat(parallel::map_pieces(divided.len(), GRAIN, |range| {
            let of_one = |i: usize| repeat_n(i as u32, children_of(&children, new, i).len());
            range.flat_map(of_one).collect::<Vec<u32>>()
        }));
        let parent = |new: usize| parents[new] as usize;
        let tetrahedra = parallel::collect(new, |new| {
            let i = parent(new);
            let of_parent = new - slots[i] as usize;
            part.counts.tetrahedra + known[divided[i] as usize][0] + of_parent as u64
        });
        let vertices = parallel::map(uses, |&usage| {
            let [_, known] = known[usage as usize / 6];
            let before = known & ((1 << (usage % 6)) - 1);
            part.counts.vertices + (known >> EACH) + u64::from(before.count_ones())
        });
        Ok(Self {
            tetrahedra,
            parents: parallel::collect(new, |new| divided[parent(new)]),
            vertices,
            children,
        })
    }

    /// New tetrahedra, by their order, of a local one.
    pub fn of_parent(&self, t: u32) -> std::ops::Range<usize> {
        match self.children.divided.binary_search(&t) {
            Ok(i) => children_of(&self.children, self.tetrahedra.len(), i),
            Err(_) => 0..0,
        }
    }
}

/// New tetrahedra, by their order among `new`, of the i-th divided one.
pub fn children_of(children: &ShareChildren, new: usize, i: usize) -> std::ops::Range<usize> {
    let end = children.slots.get(i + 1).map_or(new, |&slot| slot as usize);
    children.slots[i] as usize..end
}

/// This rank's tagged triangles after a level: their ids and their ancestors in the input. `parents` are their places
/// before it. Collective.
pub fn faces(ranks: &Ranks, part: &TetPart, parents: &[u32]) -> Vec<[u64; 2]> {
    if part.counts.faces == 0 {
        return Vec::new();
    }
    let n = part.faces.len();
    // New ones have the order of their parents.
    let of_parent = |f: usize| {
        let first = parents[n..].partition_point(|&parent| parent < parents[f]);
        f - n - first
    };
    let mut added = vec![0; n.div_ceil(4)];
    for (f, &parent) in parents.iter().enumerate().skip(n) {
        let parent = parent as usize;
        added[parent / 4] |= 1 << (EACH * (parent % 4) + of_parent(f));
    }
    let owners = Owners::of(&vec![ranks.rank() as u32; n]);
    let (total, id) = (part.counts.faces, |f: usize| part.faces[f][0]);
    let sums = Sums::count(ranks, total, &owners, id, EACH, [&added, &[]]);
    let before = sums.before(n);
    parallel::collect(parents.len(), |f| {
        let [id, ancestor] = part.faces[parents[f] as usize];
        match f < n {
            true => [id, ancestor],
            false => {
                let before = before[parents[f] as usize][0];
                [part.counts.faces + before + of_parent(f) as u64, ancestor]
            }
        }
    })
}
