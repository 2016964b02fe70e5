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

    /// Number of rows, of ascending ones, with a smaller id.
    fn before(&self, id: u64) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.id(middle) < id {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }

    /// The row, of ascending ones, with an id.
    pub fn place(&self, id: u64) -> Option<usize> {
        let place = self.before(id);
        (place < self.len() && self.id(place) == id).then_some(place)
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
    /// The halo of elements that go to other ranks, and of ghosts that come from them: both ascend for each rank.
    pub(crate) fn new(send: Mail<u32>, receive: Mail<u32>) -> Self {
        Self { send, receive }
    }

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

    /// As [`update`](Halo::update), of an item for each element: those of ghosts become their owners'. Collective.
    pub fn update_all<T: Pod>(&self, ranks: &Ranks, items: &mut [T]) {
        let received = ranks.exchange(&self.send.map(|&element| items[element as usize]));
        for (&element, &item) in self.receive.items().iter().zip(received.items()) {
            items[element as usize] = item;
        }
    }

    /// Tells marks of owned elements, `each` an element, to the ranks that have them as ghosts. Mark k of an element is number `each` times
    /// the element plus k; `is_new` picks the ones to tell, four bytes each, and `set` is called for each of a ghost that is told. Collective.
    pub fn tell(
        &self,
        ranks: &Ranks,
        each: u32,
        is_new: impl Fn(u32) -> bool,
        mut set: impl FnMut(u32),
    ) {
        let mut places = Vec::new();
        let mut counts = Vec::new();
        for rank in 0..ranks.size() {
            let before = places.len();
            for (i, &element) in (0_u32..).zip(self.send.of(rank)) {
                let new = (0..each).filter(|k| is_new(each * element + k));
                places.extend(new.map(|k| each * i + k));
            }
            counts.push(places.len() - before);
        }
        let told = ranks.exchange(&Mail::from_parts(places, counts.into_iter()));
        for (rank, &place) in told.iter() {
            let ghost = self.receive.of(rank)[(place / each) as usize];
            set(each * ghost + place % each);
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
    received: Mail<u64>,
) -> (Rows, Vec<u32>, Halo) {
    let stride = owned.stride;
    let ghost_owners = (0..ranks.size())
        .flat_map(|rank| std::iter::repeat_n(rank as u32, received.of(rank).len() / stride));
    let ghost_owners: Vec<u32> = ghost_owners.collect();
    let ghosts = Rows {
        words: received.items().to_vec(),
        stride,
    };
    // Ids with the owner and the place among the ghosts that came.
    let mut order: Vec<(u64, u32, usize)> = (0..ghosts.len())
        .map(|i| (ghosts.id(i), ghost_owners[i], i))
        .collect();
    order.par_sort_unstable();
    // Number of owned rows before each ghost.
    let before = order.par_iter().map(|ghost| owned.before(ghost.0));
    let before: Vec<usize> = before.collect();
    let me = ranks.rank() as u32;
    let mut words = Vec::with_capacity(owned.words.len() + ghosts.words.len());
    let mut owners = Vec::with_capacity(owned.len() + ghosts.len());
    let mut places = vec![0; ghosts.len()];
    let mut next = 0;
    for (&(_, owner, i), &until) in order.iter().zip(&before) {
        words.extend_from_slice(&owned.words[stride * next..stride * until]);
        owners.resize(owners.len() + until - next, me);
        places[i] = owners.len() as u32;
        words.extend_from_slice(ghosts.get(i));
        owners.push(owner);
        next = until;
    }
    words.extend_from_slice(&owned.words[stride * next..]);
    owners.resize(owners.len() + owned.len() - next, me);
    let counts = (0..ranks.size()).map(|rank| received.of(rank).len() / stride);
    let halo = Halo {
        send: sent.map(|&i| (i + before.partition_point(|&k| k as u64 <= i) as u64) as u32),
        receive: Mail::from_parts(places, counts),
    };
    (Rows { words, stride }, owners, halo)
}
