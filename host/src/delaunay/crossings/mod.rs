//! Segments that cross each other: all of them, and vertices where they do.
//!
//! Two segments cross if each has the ends of the other strictly on both sides, by the exact orientation, and no vertex
//! lies at their common point. Vertices on segments divide these first, so that a crossing is one of *pieces*.
//!
//! # Resolution
//!
//! In a round each pair of pieces that cross gets a vertex at the crossing's exact place, rounded once, or the vertex
//! that is there already; it divides both. The parts deviate from their segments by the rounding, so they may cross
//! others: rounds repeat until none cross. Vertices of the input keep their places.
//!
//! *It ends.* After [`ROUNDS`] rounds no vertices are added. Order vertices by x, then y. A piece's *span* is the set
//! of vertices between its ends in this order. Pieces ab and cd (a before b, c before d) cross at a point between both
//! ends of both, so the later of a and c lies strictly between the ends of the other piece, and so does the earlier of
//! b and d. That piece is divided there, and both parts have smaller spans, which are subsets of its own. The same
//! holds for pieces that vertices on them divide. Spans are sets of a fixed finite set of vertices, and each step
//! replaces one by smaller ones: there is no infinite sequence of such steps (Dershowitz and Manna 1979, the order of
//! multisets). Random segments need two or three rounds.

mod boxes;
mod place;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicUsize, Ordering};

use glam::DVec2;
use gpu::delaunay::predicates::orientation;
use rayon::slice::ParallelSliceMut;

use boxes::{Box2, Boxes};
use place::crossing_place;
use trioxide_mesh::parallel;

/// Rounds that add vertices.
const ROUNDS: u32 = 32;
/// Most crossings that are counted.
pub const MOST: usize = 10_000_000;

/// Two segments that cross.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// Their numbers, the lower first.
    pub segments: [u32; 2],
    /// The place, rounded.
    pub place: DVec2,
}

/// The crossings of segments.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossings {
    /// The number of pairs of segments that cross; `None` for more than [`MOST`].
    pub count: Option<usize>,
    /// The first ones.
    pub first: Vec<Crossing>,
}

/// A part of a segment.
#[derive(Clone, Copy)]
struct Piece {
    ends: [u32; 2],
    parent: u32,
}

/// Finds the crossings of segments between finite points, and lists the first `listed`.
///
/// # Panics
/// If an end of a segment is no point.
pub fn find(points: &[DVec2], segments: &[[u32; 2]], listed: usize) -> Crossings {
    let search = Search::new(points, &Places::of(points), whole(segments));
    let mut first = Vec::new();
    for i in 0..search.pieces.len() as u32 {
        if first.len() >= listed {
            break;
        }
        let others = search.crossing(i);
        first.extend(others.iter().map(|&j| Crossing {
            segments: [i, j].map(|i| search.pieces[i as usize].parent),
            place: search.place([i, j]),
        }));
    }
    first.sort_by_key(|crossing| crossing.segments);
    first.dedup_by_key(|crossing| crossing.segments);
    first.truncate(listed);
    let pairs = search.pairs();
    Crossings {
        count: pairs.map(|pairs| search.crossed(&pairs)),
        first,
    }
}

/// A vertex at a crossing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Added {
    /// Its place.
    pub point: DVec2,
    /// A segment on which it lies, the lowest that crossed there first.
    pub segment: u32,
}

/// Segments that meet at vertices only.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resolved {
    /// The vertices after those of the input.
    pub added: Vec<Added>,
    /// The parts of the segments, segment by segment in its direction.
    pub pieces: Vec<[u32; 2]>,
    /// The segment of each part.
    pub parents: Vec<u32>,
    /// The number of pairs of segments that crossed.
    pub crossings: usize,
}

/// Puts vertices where segments between finite points cross; `None` for more than [`MOST`] crossings at once.
///
/// # Panics
/// If an end of a segment is no point.
pub fn resolve(points: &[DVec2], segments: &[[u32; 2]]) -> Option<Resolved> {
    resolve_from(points, segments, 0)
}

/// As [`resolve`], from this round on.
fn resolve_from(points: &[DVec2], segments: &[[u32; 2]], first: u32) -> Option<Resolved> {
    let mut all = points.to_vec();
    let mut places = Places::of(points);
    let mut pieces = whole(segments);
    let mut resolved = Resolved::default();
    for round in first.. {
        let search = Search::new(&all, &places, pieces);
        let pairs = search.pairs()?;
        if round == first {
            resolved.crossings = search.crossed(&pairs);
        }
        if pairs.is_empty() {
            resolved.pieces = search.pieces.iter().map(|piece| piece.ends).collect();
            resolved.parents = search.pieces.iter().map(|piece| piece.parent).collect();
            break;
        }
        let mut cuts = Vec::with_capacity(2 * pairs.len());
        let found = parallel::map(&pairs, |&pair| search.place(pair));
        for (&pair, place) in pairs.iter().zip(found) {
            let vertex = match round < ROUNDS {
                true => places.vertex(place, || {
                    let segment = search.pieces[pair[0] as usize].parent;
                    resolved.added.push(Added {
                        point: place,
                        segment,
                    });
                }),
                false => search.inner_end(pair, place),
            };
            cuts.extend(pair.map(|i| (i, vertex)));
        }
        let added = resolved.added[all.len() - points.len()..].iter();
        let old = search.pieces;
        all.extend(added.map(|added| added.point));
        pieces = divide(&all, &old, cuts);
    }
    Some(resolved)
}

/// Segments as pieces.
fn whole(segments: &[[u32; 2]]) -> Vec<Piece> {
    let numbered = segments.iter().zip(0..);
    numbered
        .map(|(&ends, parent)| Piece { ends, parent })
        .collect()
}

/// Divides pieces at vertices in their boxes: each cut has the number of its piece and a vertex. A cut at the place of
/// an end has no effect.
fn divide(points: &[DVec2], pieces: &[Piece], mut cuts: Vec<(u32, u32)>) -> Vec<Piece> {
    let point = |v: u32| points[v as usize];
    cuts.retain(|&(i, v)| !pieces[i as usize].ends.map(point).contains(&point(v)));
    // Along the piece: rounding is monotone in each coordinate.
    let key = |&(i, v): &(u32, u32)| {
        let [a, b] = pieces[i as usize].ends.map(point);
        let along = |p: f64, from: f64, to: f64| if from <= to { p } else { -p };
        let p = point(v);
        [along(p.x, a.x, b.x), along(p.y, a.y, b.y)]
    };
    cuts.par_sort_unstable_by(|one, other| {
        let (p, q) = (key(one), key(other));
        let by_place = p[0].total_cmp(&q[0]).then(p[1].total_cmp(&q[1]));
        one.0.cmp(&other.0).then(by_place).then(one.1.cmp(&other.1))
    });
    cuts.dedup_by(|one, other| one.0 == other.0 && point(one.1) == point(other.1));
    let mut divided = Vec::with_capacity(pieces.len() + cuts.len());
    let mut cuts = cuts.into_iter().peekable();
    for (&Piece { ends, parent }, i) in pieces.iter().zip(0..) {
        let mut from = ends[0];
        while let Some((_, v)) = cuts.next_if(|cut| cut.0 == i) {
            divided.push(Piece {
                ends: [from, v],
                parent,
            });
            from = v;
        }
        divided.push(Piece {
            ends: [from, ends[1]],
            parent,
        });
    }
    divided
}

/// Whether a point comes before another by x, then y.
fn is_before(p: DVec2, q: DVec2) -> bool {
    p.x < q.x || p.x == q.x && p.y < q.y
}

/// The first vertex at each place.
struct Places {
    firsts: HashMap<[u64; 2], u32>,
    vertices: u32,
}

impl Places {
    fn of(points: &[DVec2]) -> Self {
        let mut firsts = HashMap::with_capacity(points.len());
        for (&p, v) in points.iter().zip(0..) {
            firsts.entry(Self::key(p)).or_insert(v);
        }
        Self {
            firsts,
            vertices: points.len() as u32,
        }
    }

    fn key(p: DVec2) -> [u64; 2] {
        // One zero for both.
        [p.x + 0.0, p.y + 0.0].map(f64::to_bits)
    }

    /// The vertex at a place; calls `add` for a new one.
    fn vertex(&mut self, p: DVec2, add: impl FnOnce()) -> u32 {
        match self.firsts.entry(Self::key(p)) {
            Entry::Occupied(there) => *there.get(),
            Entry::Vacant(free) => {
                add();
                self.vertices += 1;
                *free.insert(self.vertices - 1)
            }
        }
    }
}

/// Pieces that no vertex lies on, and a tree of their boxes.
struct Search<'a> {
    points: &'a [DVec2],
    pieces: Vec<Piece>,
    boxes: Boxes,
}

impl<'a> Search<'a> {
    fn new(points: &'a [DVec2], places: &Places, pieces: Vec<Piece>) -> Self {
        let mut search = Self {
            points,
            boxes: Self::boxes_of(points, &pieces),
            pieces,
        };
        let mut cuts = parallel::map_pieces(points.len(), parallel::GRAIN, |range| {
            let mut cuts = Vec::new();
            for v in range {
                let p = points[v];
                if places.firsts.get(&Places::key(p)) != Some(&(v as u32)) {
                    continue;
                }
                search.boxes.visit([p; 2], &mut |i| {
                    let [a, b] = search.ends(i);
                    if p != a && p != b && orientation(a, b, p) == 0 {
                        cuts.push((i, v as u32));
                    }
                });
            }
            cuts
        });
        if cuts.iter().any(|cuts| !cuts.is_empty()) {
            let cuts = parallel::concat_lists(&mut cuts, |cuts| cuts);
            search.pieces = divide(points, &search.pieces, cuts);
            search.boxes = Self::boxes_of(points, &search.pieces);
        }
        search
    }

    fn boxes_of(points: &[DVec2], pieces: &[Piece]) -> Boxes {
        Boxes::new(parallel::map(pieces, |piece| {
            box_of(piece.ends.map(|v| points[v as usize]))
        }))
    }

    fn ends(&self, i: u32) -> [DVec2; 2] {
        self.pieces[i as usize]
            .ends
            .map(|v| self.points[v as usize])
    }

    fn place(&self, [i, j]: [u32; 2]) -> DVec2 {
        crossing_place(self.ends(i), self.ends(j))
    }

    /// The pieces after piece `i` that cross it, ascending.
    fn crossing(&self, i: u32) -> Vec<u32> {
        let ends = self.ends(i);
        let mut found = Vec::new();
        self.boxes.visit(box_of(ends), &mut |j| {
            if j > i && do_cross(ends, self.ends(j)) {
                found.push(j);
            }
        });
        found.sort_unstable();
        found
    }

    /// All pairs of pieces that cross, ascending; `None` for more than [`MOST`].
    fn pairs(&self) -> Option<Vec<[u32; 2]>> {
        let found = AtomicUsize::new(0);
        let mut pairs = parallel::map_pieces(self.pieces.len(), 256, |range| {
            let mut pairs = Vec::new();
            for i in range {
                if found.load(Ordering::Relaxed) > MOST {
                    break;
                }
                let others = self.crossing(i as u32);
                found.fetch_add(others.len(), Ordering::Relaxed);
                pairs.extend(others.into_iter().map(|j| [i as u32, j]));
            }
            pairs
        });
        let is_all = found.into_inner() <= MOST;
        is_all.then(|| parallel::concat_lists(&mut pairs, |pairs| pairs))
    }

    /// The number of pairs of segments, of pairs of pieces.
    fn crossed(&self, pairs: &[[u32; 2]]) -> usize {
        let parents = |pair: &[u32; 2]| {
            let [a, b] = pair.map(|i| self.pieces[i as usize].parent);
            [a.min(b), a.max(b)]
        };
        let mut segments = parallel::map(pairs, parents);
        segments.par_sort_unstable();
        segments.dedup();
        segments.len()
    }

    /// Of the inner two ends of two pieces by x, then y, the one nearer to a place.
    fn inner_end(&self, pair: [u32; 2], place: DVec2) -> u32 {
        let point = |v: u32| self.points[v as usize];
        let sorted = pair.map(|i| {
            let [a, b] = self.pieces[i as usize].ends;
            if is_before(point(a), point(b)) {
                [a, b]
            } else {
                [b, a]
            }
        });
        let [[a, b], [c, d]] = sorted;
        let first = if is_before(point(a), point(c)) { c } else { a };
        let last = if is_before(point(b), point(d)) { b } else { d };
        let distance = |v: u32| (point(v) * 0.25).distance(place * 0.25);
        if distance(first) <= distance(last) {
            first
        } else {
            last
        }
    }
}

fn box_of([a, b]: [DVec2; 2]) -> Box2 {
    [a.min(b), a.max(b)]
}

/// Whether each of two segments has the ends of the other strictly on both sides.
fn do_cross([a, b]: [DVec2; 2], [c, d]: [DVec2; 2]) -> bool {
    let parts =
        |a: DVec2, b: DVec2, c: DVec2, d: DVec2| orientation(a, b, c) * orientation(a, b, d) < 0;
    parts(a, b, c, d) && parts(c, d, a, b)
}

#[cfg(test)]
mod tests;
