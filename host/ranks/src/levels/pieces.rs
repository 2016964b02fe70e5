//! The borders of a rank's pieces, and all that joins depend on of their neighbours.

use std::collections::HashMap;

use gpu::levels::Extent;
use trioxide::levels::hash;
use trioxide::mesh::NONE;
use trioxide_mesh::parallel;

use super::{Level, Side};
use crate::transport::{Mail, Ranks};

/// Length of a border, hash, lower and higher piece: the larger comes first.
pub(super) type Candidate = (f64, u64, u32, u32);

/// The join of two pieces with a border of this length.
pub(super) fn candidate(length: f64, a: u32, b: u32) -> Candidate {
    (length, hash(a, b), a.min(b), a.max(b))
}

/// A border of one of this rank's pieces.
#[derive(Clone, Copy, Default)]
pub(super) struct Border {
    /// The piece beyond, and its slot.
    pub beyond: u32,
    pub slot: u32,
    /// Its first side, and the end of the last.
    sides: [u32; 2],
}

/// Pieces that a rank knows, by their slots: first its own, then others.
pub(super) struct Pieces {
    /// First border of each own piece, and the end of the last.
    starts: Vec<u32>,
    borders: Vec<Border>,
    /// Slots of other ranks' pieces.
    slots: HashMap<u32, u32>,
    /// First vertex of each outline, and the end of the last.
    offsets: Vec<usize>,
    /// Vertices of the outlines, ascending for each.
    outlines: Vec<u32>,
    boxes: Vec<Extent>,
}

impl Pieces {
    /// The pieces of a level, and those beyond their borders. Collective.
    pub(super) fn of(ranks: &Ranks, level: &Level) -> Self {
        let (own, sides) = (level.boxes.len(), &level.sides);
        let first_of = |p: usize| {
            let piece = level.first() + p as u32;
            sides.partition_point(|side| side.piece < piece)
        };
        let offsets = parallel::collect(own + 1, first_of);
        let mut outlines = parallel::map(sides, |side| side.vertex);
        for p in 0..own {
            outlines[offsets[p]..offsets[p + 1]].sort_unstable();
        }
        let heads = parallel::filter_collect(sides.len(), |i| {
            let Side { piece, beyond, .. } = sides[i];
            let is_head = i == 0 || (sides[i - 1].piece, sides[i - 1].beyond) != (piece, beyond);
            is_head.then_some(i as u32)
        });
        let end = |k: usize| heads.get(k + 1).copied().unwrap_or(sides.len() as u32);
        // A border of the mesh is none of two pieces.
        let mut borders = parallel::filter_collect(heads.len(), |k| {
            let beyond = sides[heads[k] as usize].beyond;
            (beyond != NONE).then(|| Border {
                beyond,
                slot: NONE,
                sides: [heads[k], end(k)],
            })
        });
        let starts = parallel::collect(own + 1, |p| {
            let is_before = |border: &Border| (border.sides[0] as usize) < offsets[p];
            borders.partition_point(is_before) as u32
        });
        let mut pieces = Self {
            starts,
            borders: Vec::new(),
            slots: HashMap::new(),
            offsets,
            outlines,
            boxes: level.boxes.clone(),
        };
        let others = borders.iter().map(|border| border.beyond).collect();
        pieces.fetch(ranks, level, others);
        parallel::for_each_mut(&mut borders, |_, border| {
            border.slot = pieces.slot(level, border.beyond);
        });
        pieces.borders = borders;
        pieces
    }

    /// Makes these pieces known. Collective.
    pub(super) fn fetch(&mut self, ranks: &Ranks, level: &Level, mut wanted: Vec<u32>) {
        wanted.retain(|&p| level.place(p).is_none() && !self.slots.contains_key(&p));
        wanted.sort_unstable();
        wanted.dedup();
        let questions = Mail::sorted(ranks.size(), wanted.len(), |i| {
            (level.rank(wanted[i]), wanted[i])
        });
        let asked = ranks.exchange(&questions);
        let outline = |piece: u32| self.outline(level.place(piece).expect("it is of this rank"));
        let heads = asked.map(|&piece| outline(piece).len() as u64);
        let boxes = asked.map(|&piece| level.boxes[level.place(piece).expect("as above")]);
        let vertices = Mail::of_lists(ranks.size(), |rank, vertices| {
            for &piece in asked.of(rank) {
                vertices.extend_from_slice(outline(piece));
            }
        });
        let counts = questions.counts();
        let heads = ranks.exchange_known(&heads, &counts);
        let boxes = ranks.exchange_known(&boxes, &counts);
        let lengths = (0..ranks.size()).map(|rank| heads.of(rank).iter().sum());
        let vertices = ranks.exchange_known(&vertices, &lengths.collect::<Vec<u64>>());
        // Ids and ranks ascend together.
        for (i, piece) in wanted.into_iter().enumerate() {
            self.slots.insert(piece, self.boxes.len() as u32);
            self.boxes.push(boxes.items()[i]);
            let end = self.offsets[self.offsets.len() - 1];
            self.offsets.push(end + heads.items()[i] as usize);
        }
        self.outlines.extend_from_slice(vertices.items());
    }

    /// Number of pieces that are known.
    pub(super) fn len(&self) -> usize {
        self.boxes.len()
    }

    /// The slot of a piece that is known.
    pub(super) fn slot(&self, level: &Level, piece: u32) -> u32 {
        match level.place(piece) {
            Some(place) => place as u32,
            None => self.slots[&piece],
        }
    }

    /// The slot of a piece of another rank, if it is known.
    pub(super) fn slot_of_other(&self, piece: u32) -> Option<u32> {
        self.slots.get(&piece).copied()
    }

    /// The box at a slot.
    pub(super) fn extent(&self, slot: u32) -> Extent {
        self.boxes[slot as usize]
    }

    /// Borders of the own piece at place `p`, by the pieces beyond.
    pub(super) fn borders(&self, p: usize) -> &[Border] {
        &self.borders[self.starts[p] as usize..self.starts[p + 1] as usize]
    }

    /// The other ranks that have a piece beyond a border of the own piece at place `p`, ascending.
    pub(super) fn ranks_around<'a>(
        &'a self,
        level: &'a Level,
        p: usize,
    ) -> impl Iterator<Item = usize> + 'a {
        let mut last = level.me;
        let others = self.borders(p).iter().filter_map(|border| {
            let is_other = level.place(border.beyond).is_none();
            is_other.then(|| level.rank(border.beyond))
        });
        // Ranks ascend with their pieces.
        others.filter(move |&rank| std::mem::replace(&mut last, rank) != rank)
    }

    fn outline(&self, slot: usize) -> &[u32] {
        &self.outlines[self.offsets[slot]..self.offsets[slot + 1]]
    }

    /// The sides between the own piece at place `p` and another one.
    fn sides<'a>(&self, level: &'a Level, p: usize, other: u32) -> &'a [Side] {
        let borders = self.borders(p);
        match borders.binary_search_by_key(&other, |border| border.beyond) {
            Ok(i) => {
                let [start, end] = borders[i].sides;
                &level.sides[start as usize..end as usize]
            }
            Err(_) => &[],
        }
    }

    /// The length of the border between the own piece at place `p` and the union of others, if it may join them.
    pub(super) fn length(
        &self,
        level: &Level,
        p: usize,
        union: &[u32],
        most_ratio: f64,
    ) -> Option<f64> {
        let mut runs = [&[][..]; 3];
        for (run, &q) in runs.iter_mut().zip(union) {
            *run = self.sides(level, p, q);
        }
        let (mut length, mut count) = (0.0, 0);
        // In ascending order of the edges of all runs.
        while let Some(k) = (0..3)
            .filter(|&k| !runs[k].is_empty())
            .min_by_key(|&k| runs[k][0].edge)
        {
            let (side, rest) = runs[k].split_first().expect("it is not empty");
            if side.is_fixed != 0 {
                return None;
            }
            length += side.length;
            count += 1;
            runs[k] = rest;
        }
        let mut slots = [NONE; 3];
        for (slot, &q) in slots.iter_mut().zip(union) {
            *slot = self.slot(level, q);
        }
        let slots = &slots[..union.len()];
        let boxes = slots.iter().map(|&slot| self.extent(slot));
        let theirs = boxes.reduce(Extent::with).expect("a piece");
        let own = self.extent(p as u32);
        let is_lower = union.len() > 1 || level.first() + (p as u32) < union[0];
        // Both ranks of two pieces compute one number: zeros have signs.
        let is_long = match is_lower {
            true => is_too_long(own, theirs, most_ratio),
            false => is_too_long(theirs, own, most_ratio),
        };
        if count == 0 || is_long {
            return None;
        }
        (self.common(p, slots) == count + 1).then_some(length)
    }

    /// Number of vertices on the outline of the own piece at place `p` and on one of others.
    fn common(&self, p: usize, slots: &[u32]) -> usize {
        let own = self.outline(p);
        let others = |k: usize| self.outline(slots[k] as usize);
        let has = |list: &[u32], v: &u32| list.binary_search(v).is_ok();
        let count: usize = (0..slots.len()).map(|k| others(k).len()).sum();
        if own.len() <= count {
            let is_common = |v: &&u32| (0..slots.len()).any(|k| has(others(k), v));
            return own.iter().filter(is_common).count();
        }
        let of = |k: usize| {
            let is_new =
                move |v: &&u32| has(own, v) && !(0..k).any(|before| has(others(before), v));
            others(k).iter().filter(is_new).count()
        };
        (0..slots.len()).map(of).sum()
    }
}

fn is_too_long(own: Extent, union: Extent, most_ratio: f64) -> bool {
    let ratio = |extent: Extent| extent.ratio::<false>();
    let together = ratio(own.with(union));
    together > most_ratio && together > ratio(own) && together > ratio(union)
}
