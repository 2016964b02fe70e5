//! Elements that ranks send each other with what belongs to them, and the halo that they make: owned ones, and ghosts that others own.

use bytemuck::Pod;
use rayon::prelude::*;

use crate::transport::{Mail, Ranks};

/// Elements on their way, a row each, one behind the other: the id, and what belongs to it.
pub struct Rows {
    /// The words of all rows.
    pub words: Vec<u64>,
    /// Words of a row.
    pub stride: usize,
}

impl Rows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.words.len() / self.stride
    }

    /// Row `i`.
    pub fn get(&self, i: usize) -> &[u64] {
        &self.words[self.stride * i..self.stride * (i + 1)]
    }

    /// Id of row `i`.
    pub fn id(&self, i: usize) -> u64 {
        self.words[self.stride * i]
    }

    /// The rows by their ids.
    pub fn sorted(self) -> Self {
        let mut order: Vec<(u64, u32)> = (0..)
            .zip(self.words.chunks_exact(self.stride))
            .map(|(i, row)| (row[0], i))
            .collect();
        if order.is_sorted() {
            return self;
        }
        order.par_sort_unstable();
        let mut words = Vec::with_capacity(self.words.len());
        for (_, i) in order {
            words.extend_from_slice(self.get(i as usize));
        }
        let stride = self.stride;
        Self { words, stride }
    }

    /// Sends each row `sent[i]`, which ascend, to rank `to[i]`: which, by their places, and the rows from others. Collective.
    pub fn send(&self, ranks: &Ranks, to: &[u32], sent: &[u64]) -> (Mail<u64>, Mail<u64>) {
        let rows = Mail::rows(ranks.size(), to, self.stride, |i, row| {
            row.copy_from_slice(self.get(sent[i] as usize));
        });
        let received = ranks.exchange(&rows);
        (
            Mail::rows(ranks.size(), to, 1, |i, row| row[0] = sent[i]),
            received,
        )
    }
}

/// The elements whose owners and ghosts exchange something: both lists ascend for each rank, so that no id crosses.
pub struct Halo {
    /// Owned elements that other ranks have as ghosts.
    send: Mail<u32>,
    /// Ghosts, by their owners.
    receive: Mail<u32>,
}

impl Halo {
    /// Gives the items of owned elements to the ranks that have them as ghosts, and takes those of ghosts: calls `set` for each.
    /// Collective.
    pub fn update<T: Pod>(
        &self,
        ranks: &Ranks,
        get: impl FnMut(&u32) -> T,
        mut set: impl FnMut(u32, T),
    ) {
        let received = ranks.exchange(&self.send.map(get));
        for (&element, &item) in self.receive.items().iter().zip(received.items()) {
            set(element, item);
        }
    }

    /// As [`update`](Halo::update), of a bit each, for those owned elements alone for which `get` gives one: four bytes for each of them.
    /// Collective.
    pub fn update_bits(
        &self,
        ranks: &Ranks,
        get: impl Fn(u32) -> Option<bool>,
        mut set: impl FnMut(u32, bool),
    ) {
        let mut items = Vec::new();
        let mut counts = Vec::new();
        for rank in 0..ranks.size() {
            let before = items.len();
            let given = (0_u32..).zip(self.send.of(rank));
            items.extend(given.filter_map(|(i, &v)| Some(i << 1 | u32::from(get(v)?))));
            counts.push(items.len() - before);
        }
        let received = ranks.exchange(&Mail::from_parts(items, counts.into_iter()));
        for (rank, &item) in received.iter() {
            set(self.receive.of(rank)[item as usize >> 1], item & 1 != 0);
        }
    }

    /// Owned elements that other ranks have as ghosts, once for each of these.
    pub fn given(&self) -> &[u32] {
        self.send.items()
    }
}

/// Owned rows and ghosts in one ascending list, their owners, and the halo.
pub fn join(
    ranks: &Ranks,
    owned: &Rows,
    sent: &Mail<u64>,
    ghosts: Mail<u64>,
) -> (Rows, Vec<u32>, Halo) {
    let stride = owned.stride;
    let ghost_owners = (0..ranks.size())
        .flat_map(|rank| std::iter::repeat_n(rank as u32, ghosts.of(rank).len() / stride));
    let ghost_owners: Vec<u32> = ghost_owners.collect();
    let ghosts = Rows {
        words: ghosts.into_items(),
        stride,
    };
    // Ids with the owner and the place in either list, both of which ascend.
    let me = ranks.rank() as u32;
    let mut of_ghosts: Vec<(u64, u32, usize)> = (0..ghosts.len())
        .map(|i| (ghosts.id(i), ghost_owners[i], i))
        .collect();
    of_ghosts.par_sort_unstable();
    let mut order = Vec::with_capacity(owned.len() + ghosts.len());
    let mut next = of_ghosts.into_iter().peekable();
    for i in 0..owned.len() {
        while let Some(ghost) = next.next_if(|ghost| ghost.0 < owned.id(i)) {
            order.push(ghost);
        }
        order.push((owned.id(i), me, i));
    }
    order.extend(next);
    let mut words = Vec::with_capacity(stride * order.len());
    let mut owners = Vec::with_capacity(order.len());
    for &(_, owner, i) in &order {
        let rows = if owner == me { owned } else { &ghosts };
        words.extend_from_slice(rows.get(i));
        owners.push(owner);
    }
    let local = |id: u64| {
        let place = order.binary_search_by_key(&id, |&(id, ..)| id);
        place.expect("it is here") as u32
    };
    let counts = (0..ranks.size()).map(|rank| {
        let count = ghost_owners.iter().filter(|&&owner| owner == rank as u32);
        count.count()
    });
    let receive = (0..ghosts.len()).map(|i| local(ghosts.id(i))).collect();
    let halo = Halo {
        send: sent.map(|&i| local(owned.id(i as usize))),
        receive: Mail::from_parts(receive, counts),
    };
    (Rows { words, stride }, owners, halo)
}
