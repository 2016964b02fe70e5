//! The other sides of edges of polygons, and of faces of polyhedra.

use rayon::slice::ParallelSliceMut;
use trioxide::mesh::NONE;
use trioxide_mesh::parallel;

use crate::transport::{Mail, Ranks};

/// A side, as the other side of its edge or face has to know it.
pub(super) type Seen = [u64; 4];

/// No other side.
pub(super) const NOTHING: Seen = [u64::MAX; 4];

/// The other one of `n` sides with the same key, or [`NONE`]. No three sides have one key.
pub(super) fn twins<K: Ord + Copy + Send>(n: usize, key: impl Fn(usize) -> K + Sync) -> Vec<u32> {
    let mut order = parallel::collect(n, |side| (key(side), side as u32));
    order.par_sort_unstable();
    let mut twins = vec![NONE; n];
    for pair in order.windows(2) {
        if pair[0].0 == pair[1].0 {
            twins[pair[0].1 as usize] = pair[1].1;
            twins[pair[1].1 as usize] = pair[0].1;
        }
    }
    twins
}

/// The sides of other ranks that are the other sides of edges or faces here.
pub(super) struct Others {
    /// Sides without another one here, ascending.
    pub sides: Vec<u32>,
    /// The other side of each, or [`NOTHING`].
    pub seen: Vec<Seen>,
}

impl Others {
    /// Finds the other sides by their directories, the ranks of their lowest vertices: of sides that have none among
    /// `twins`. `key` gives the vertices of a side, ascending, of an edge with one more number. Collective.
    pub(super) fn find(
        ranks: &Ranks,
        vertices: u64,
        twins: &[u32],
        seen: impl Fn(usize) -> Seen + Sync,
        key: impl Fn(&Seen) -> [u32; 3] + Sync,
    ) -> Self {
        let sides = parallel::filter_collect(twins.len(), |side| {
            (twins[side] == NONE).then_some(side as u32)
        });
        let questions = parallel::map(&sides, |&side| seen(side as usize));
        let blocks = ranks.blocks(vertices);
        let places = Mail::places(ranks.size(), sides.len(), |i| {
            blocks.rank(key(&questions[i])[0].into())
        });
        let sent = places.map(|&i| questions[i as usize]);
        let answers = ranks.ask_together(&sent, |asked| {
            let asked = asked.items();
            let twins = self::twins(asked.len(), |i| key(&asked[i]));
            parallel::map(&twins, |&twin| match twin {
                NONE => NOTHING,
                twin => asked[twin as usize],
            })
        });
        let mut seen = vec![NOTHING; sides.len()];
        for (&i, answer) in places.items().iter().zip(answers) {
            seen[i as usize] = answer;
        }
        Self { sides, seen }
    }

    /// The other side of one without another here.
    pub(super) fn get(&self, side: usize) -> Seen {
        let i = self.sides.partition_point(|&s| (s as usize) < side);
        self.seen[i]
    }
}
