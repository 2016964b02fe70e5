//! The halo of a part: the exchange of items between owned elements and their ghosts on other ranks.

use bytemuck::Pod;
use std::ops::Range;
use trioxide_mesh::bit_set::contains;
use trioxide_mesh::parallel;

use crate::fault::Result;
use crate::transport::{Mail, Ranks};

/// Owned elements and ghosts that exchange items. Both lists ascend for each rank, so that no id crosses, and each rank
/// knows how many items it receives.
pub struct Halo {
    /// Owned elements, for each rank that holds them as ghosts.
    pub(crate) given: Mail<u32>,
    /// Ghosts, by the ranks that their items come from.
    pub(crate) ghosts: Mail<u32>,
}

impl Halo {
    /// Owned elements, once for each rank that holds them as ghosts.
    pub fn given(&self) -> &[u32] {
        self.given.items()
    }

    /// The ghosts, by their owners.
    pub fn ghosts(&self) -> &[u32] {
        self.ghosts.items()
    }

    /// The halo after elements are divided: `parts` gives the new elements of each, which follow all old ones of a
    /// rank.
    pub(crate) fn with_parts(&self, parts: impl Fn(u32) -> Range<u32>) -> Self {
        let extended = |mail: &Mail<u32>| {
            Mail::of_lists(mail.ranks(), |rank, items| {
                let of_rank = mail.of(rank);
                items.extend_from_slice(of_rank);
                items.extend(of_rank.iter().flat_map(|&element| parts(element)));
            })
        };
        Self {
            given: extended(&self.given),
            ghosts: extended(&self.ghosts),
        }
    }

    /// Sends the items of the [given](Halo::given) elements, and returns those of the [ghosts](Halo::ghosts).
    /// Collective.
    pub fn send<T: Pod>(&self, ranks: &Ranks, items: Vec<T>) -> Vec<T> {
        self.send_each(ranks, 1, items)
    }

    /// As [`send`](Halo::send), of `each` items an element.
    pub fn send_each<T: Pod>(&self, ranks: &Ranks, each: usize, items: Vec<T>) -> Vec<T> {
        let received = self.ghosts.counts().into_iter().map(|n| n * each as u64);
        let items = self.given.with_each(each, items);
        ranks
            .exchange_known(&items, &received.collect::<Vec<u64>>())
            .into_items()
    }

    /// As [`send`](Halo::send), where `get` gives the item of an element.
    pub fn take<T: Pod + Send>(&self, ranks: &Ranks, get: impl Fn(&u32) -> T + Sync) -> Vec<T> {
        self.send(ranks, parallel::map(self.given(), get))
    }

    /// Replaces the ghosts' items, of one for each element, by their owners'. Collective.
    pub fn update<T: Pod + Send + Sync>(&self, ranks: &Ranks, items: &mut [T]) {
        let received = self.take(ranks, |&element| items[element as usize]);
        for (&element, item) in self.ghosts().iter().zip(received) {
            items[element as usize] = item;
        }
    }

    /// Sends items for which the ranks of ghosts do not know a number: counts cross along the halo alone. Collective.
    pub fn send_some<T: Pod>(&self, ranks: &Ranks, items: &Mail<T>) -> Mail<T> {
        let is_one = |mail: &Mail<u32>, rank: usize| usize::from(!mail.of(rank).is_empty());
        let numbers = Mail::of_lists(ranks.size(), |rank, numbers| {
            let count = items.of(rank).len() as u64;
            numbers.extend([count].iter().take(is_one(&self.given, rank)));
        });
        let from = (0..ranks.size()).map(|rank| is_one(&self.ghosts, rank) as u64);
        let numbers = ranks.exchange_known(&numbers, &from.collect::<Vec<u64>>());
        let received = (0..ranks.size()).map(|rank| numbers.of(rank).first().copied());
        let received: Vec<u64> = received.map(Option::unwrap_or_default).collect();
        ranks.exchange_known(items, &received)
    }

    /// Sends marks of owned elements, `each` an element: mark k of the element at place i among the
    /// [given](Halo::given) ones has the number `each` i + k. `is_new` selects the marks to send, four bytes each.
    /// Returns the numbers of the marks of [ghosts](Halo::ghosts) that other ranks sent. Collective.
    pub fn tell(
        &self,
        ranks: &Ranks,
        each: usize,
        is_new: impl Fn(usize) -> bool + Sync,
    ) -> Vec<usize> {
        let mut start = 0;
        let marks = Mail::of_lists(ranks.size(), |rank, marks| {
            let n = each * self.given.of(rank).len();
            let new = |i: usize| is_new(start + i).then_some(i as u32);
            marks.extend(parallel::filter_collect(n, new));
            start += n;
        });
        let told = self.send_some(ranks, &marks);
        let mut start = 0;
        let mut numbers = Vec::with_capacity(told.items().len());
        for rank in 0..ranks.size() {
            numbers.extend(told.of(rank).iter().map(|&i| start + i as usize));
            start += each * self.ghosts.of(rank).len();
        }
        numbers
    }
}

/// Edges of the cells in a halo, as many of each cell.
pub struct HaloEdges {
    /// Edges of the given cells.
    given: Vec<u32>,
    /// Edges of the ghosts.
    ghosts: Vec<u32>,
    /// Edges of a cell.
    each: usize,
}

impl HaloEdges {
    /// `edges_of` gives the edges of some cells, `each` of every cell.
    ///
    /// # Errors
    /// Those of `edges_of`.
    pub fn of(
        halo: &Halo,
        each: usize,
        mut edges_of: impl FnMut(&[u32]) -> trioxide::Result<Vec<u32>>,
    ) -> trioxide::Result<Self> {
        Ok(Self {
            given: edges_of(halo.given())?,
            ghosts: edges_of(halo.ghosts())?,
            each,
        })
    }

    /// Finds the edges that any rank divides: each rank walks through its part and sends the new edges, until no rank
    /// has any. `divided` has a bit for each edge that this rank divides; `follow` walks on from edges that came, and
    /// returns the bits of all divided edges. Returns the number of exchanges. Collective.
    ///
    /// The owner of a cell finds its divided edges: from the cell's mark, or from a divided edge that the owner of
    /// another cell at it sends. So only owners send edges, and ghosts send none back. At the end a ghost has its
    /// owner's divided edges. The exchanges end, since some rank divides one edge more in each but the last.
    ///
    /// # Errors
    /// The fault on which all agree.
    pub fn spread(
        &self,
        ranks: &Ranks,
        halo: &Halo,
        mut divided: Vec<u32>,
        mut follow: impl FnMut(&[u32]) -> trioxide::Result<Vec<u32>>,
    ) -> Result<u64> {
        let mut told = vec![0; divided.len()];
        for exchanges in 1.. {
            let is_new = |i: usize| {
                let edge = self.given[i] as usize;
                contains(&divided, edge) && !contains(&told, edge)
            };
            let marks = halo.tell(ranks, self.each, is_new);
            let mut found: Vec<u32> = marks.into_iter().map(|i| self.ghosts[i]).collect();
            found.retain(|&e| !contains(&divided, e as usize));
            found.sort_unstable();
            found.dedup();
            if !ranks.any(!found.is_empty()) {
                return Ok(exchanges);
            }
            // An edge that came may be an edge of an owned cell too. Only this rank forwards it to the ranks that hold
            // that cell as a ghost.
            told.copy_from_slice(&divided);
            let followed = match &found[..] {
                [] => Ok(divided),
                found => follow(found),
            };
            divided = ranks.agree(followed)?;
        }
        unreachable!("each exchange finds an edge, but the last")
    }
}
