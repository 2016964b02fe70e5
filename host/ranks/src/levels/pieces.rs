//! The borders of a rank's pieces, and all that joins depend on of their neighbours.

use std::collections::HashMap;

use gpu::levels::Extent;
use trioxide::levels::hash;
use trioxide::mesh::NONE;
use trioxide_mesh::parallel;

use super::lists::Lists;
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
    /// Vertices of the outlines or surfaces.
    outlines: Lists<u32>,
    /// Edges of the surfaces of polyhedra, by both vertices.
    ridges: Lists<u64>,
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
        let (outlines, ridges) = match &level.faces {
            None => {
                let mut outlines = parallel::map(sides, |side| side.vertex);
                for p in 0..own {
                    outlines[offsets[p]..offsets[p + 1]].sort_unstable();
                }
                (Lists::new(offsets.clone(), outlines), Lists::default())
            }
            Some(faces) => {
                let faces_of = |p: usize| {
                    let sides = sides[offsets[p]..offsets[p + 1]].iter();
                    sides.map(|side| faces.get(side.vertex as usize))
                };
                let outlines = Lists::of_sets(own, |p| faces_of(p).flatten().copied());
                (
                    outlines,
                    Lists::of_sets(own, |p| faces_of(p).flat_map(upward_edges)),
                )
            }
        };
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
            outlines,
            ridges,
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
        let places = asked.map(|&piece| level.place(piece).expect("it is of this rank") as u32);
        let boxes = places.map(|&place| level.boxes[place as usize]);
        let counts = questions.counts();
        let boxes = ranks.exchange_known(&boxes, &counts);
        let outlines = self.outlines.send(ranks, &places, &counts);
        self.outlines.append(&outlines);
        if level.faces.is_some() {
            let ridges = self.ridges.send(ranks, &places, &counts);
            self.ridges.append(&ridges);
        }
        // Ids and ranks ascend together.
        for (piece, &extent) in wanted.into_iter().zip(boxes.items()) {
            self.slots.insert(piece, self.boxes.len() as u32);
            self.boxes.push(extent);
        }
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

    /// The length or area of the border between the own piece at place `p` and the union of others, if it may join
    /// them.
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
        let (own, theirs) = if is_lower {
            (own, theirs)
        } else {
            (theirs, own)
        };
        let may_join = match &level.faces {
            None => {
                !is_too_long::<false>(own, theirs, most_ratio)
                    && self.outlines.common(p, slots) == count + 1
            }
            Some(faces) => {
                let sides = union.iter().flat_map(|&q| self.sides(level, p, q));
                let faces = sides.map(|side| faces.get(side.vertex as usize));
                !is_too_long::<true>(own, theirs, most_ratio) && self.is_patch(p, slots, faces)
            }
        };
        (count > 0 && may_join).then_some(length)
    }

    /// Whether the faces that the own piece at place `p` has in common with others are one patch, and all that these
    /// have in common.
    fn is_patch<'a>(
        &self,
        p: usize,
        slots: &[u32],
        faces: impl Iterator<Item = &'a [u32]>,
    ) -> bool {
        let (mut all, mut count) = (Vec::new(), 0);
        for face in faces {
            all.extend(edges(face).map(name));
            count += 1;
        }
        all.sort_unstable();
        // The surface of a ball has two faces at an edge: the rim has the edges of one common face.
        let (mut edges, mut rim) = (0, Vec::new());
        for same in all.chunk_by(|a, b| a == b) {
            edges += 1;
            if let [edge] = same {
                rim.push(*edge);
            }
        }
        self.outlines.common(p, slots) + count == edges + 1
            && self.ridges.common(p, slots) == edges
            && is_one_walk(&rim)
    }
}

/// The edges of a face, from vertex to vertex.
pub(super) fn edges(face: &[u32]) -> impl Iterator<Item = [u32; 2]> {
    let ends = face.iter().cycle().skip(1);
    face.iter().zip(ends).map(|(&from, &to)| [from, to])
}

/// The names of the edges along which a face runs to the higher vertex: of the two faces at an edge of a ball one does.
fn upward_edges(face: &[u32]) -> impl Iterator<Item = u64> {
    edges(face).filter(|[from, to]| from < to).map(name)
}

/// The name of an edge: its lower vertex in the upper half, then the higher one.
pub(super) fn name([a, b]: [u32; 2]) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

/// Whether these edges, each once, are one closed walk that visits no vertex twice.
fn is_one_walk(edges: &[u64]) -> bool {
    // Each vertex with the one at the other end of an edge.
    let ends = edges.iter().map(|&edge| [(edge >> 32) as u32, edge as u32]);
    let mut ends: Vec<[u32; 2]> = ends.flat_map(|[a, b]| [[a, b], [b, a]]).collect();
    ends.sort_unstable();
    let mut vertices = ends.chunk_by(|a, b| a[0] == b[0]);
    if ends.is_empty() || !vertices.all(|at| at.len() == 2) {
        return false;
    }
    let [start, mut at] = ends[0];
    let (mut before, mut steps) = (start, 1);
    while at != start {
        let i = ends.partition_point(|end| end[0] < at);
        let [a, b] = [ends[i][1], ends[i + 1][1]];
        (before, at) = (at, if a == before { b } else { a });
        steps += 1;
    }
    steps == edges.len()
}

fn is_too_long<const SOLID: bool>(own: Extent, union: Extent, most_ratio: f64) -> bool {
    let together = own.with(union).ratio::<SOLID>();
    together > most_ratio && together > own.ratio::<SOLID>() && together > union.ratio::<SOLID>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_walk_is_closed_and_visits_no_vertex_twice() {
        let walk = |vertices: &[u32]| edges(vertices).map(name).collect::<Vec<_>>();
        assert!(is_one_walk(&walk(&[4, 9, 2])));
        assert!(is_one_walk(&walk(&[7, 3, 1, 8, 5])));
        assert!(!is_one_walk(&[]));
        // Two walks, a walk that is open, and one that visits vertex 3 twice.
        assert!(!is_one_walk(&[walk(&[0, 1, 2]), walk(&[3, 4, 5])].concat()));
        assert!(!is_one_walk(&walk(&[0, 1, 2, 3])[..3]));
        assert!(!is_one_walk(&walk(&[0, 1, 3, 2, 5, 3])));
    }
}
