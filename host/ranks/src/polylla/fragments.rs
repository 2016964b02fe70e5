//! Polygons that cross ranks, from their fragments.
//!
//! A fragment is a run of half-edges of one polygon that one rank owns. Its last half-edge is followed by the first of
//! another fragment, the rank of which is known: it is a ghost here. So the fragments of a polygon form a ring over
//! ranks.
//!
//! Pointer doubling finds the smallest half-edge of each ring: after round k a fragment knows the smallest among itself
//! and the 2^k - 1 behind it. When no fragment learns anything new in a round, all know the smallest of their ring:
//! then the windows of fragments that lie a window's length apart have one minimum, and these windows cover the ring.
//! So the rounds are about the logarithm of the longest ring. Then each fragment goes to the owner of its ring's
//! smallest half-edge, which joins them.

use std::collections::HashMap;

use trioxide::mesh;

use super::Polygons;
use super::strict::split;
use crate::part::Part;
use crate::transport::{Mail, Ranks, Reduction};

/// A half-edge by its id in the whole mesh, and the rank that owns it. The order is that of half-edges.
type Place = [u64; 2];

/// A run of owned half-edges.
struct Fragment {
    half_edges: Vec<u32>,
    /// The half-edge behind the last one.
    behind: Place,
}

/// The polygons that cross ranks, at the owners of their smallest half-edges, and how many of these visit a vertex more
/// than once. `strict` cuts the latter; their pieces are where they were. `open` lists this rank's cycles that pass
/// ghosts. Collective.
pub(super) fn join(
    ranks: &Ranks,
    part: &Part,
    owned: &[u32],
    open: &mesh::Polygons,
    strict: bool,
) -> (Polygons, u64) {
    let mut fragments = find(part, owned, open);
    fragments.sort_unstable_by_key(|fragment| fragment.half_edges[0]);
    let smallest = smallest_of_rings(ranks, part, &fragments);

    let head = |i: usize| {
        let fragment = &fragments[i];
        let half_edges = &fragment.half_edges;
        let [ring, rank] = smallest[i];
        let at = half_edges.iter().position(|&h| part.half_edge(h) == ring);
        let at = at.map_or(u64::MAX, |at| at as u64);
        let head = part.half_edge(half_edges[0]);
        let [behind, _] = fragment.behind;
        (
            rank as usize,
            [ring, head, behind, half_edges.len() as u64, at],
        )
    };
    let heads = Mail::sorted(ranks.size(), fragments.len(), head);
    let vertex = |h: u32| part.vertices.get(part.shape.corner(h as usize) as usize);
    let vertices = (0..fragments.len()).flat_map(|i| {
        let rank = smallest[i][1] as usize;
        fragments[i]
            .half_edges
            .iter()
            .map(move |&h| (rank, vertex(h)))
    });
    let vertices: Vec<(usize, u64)> = vertices.collect();
    let vertices = Mail::sorted(ranks.size(), vertices.len(), |i| vertices[i]);
    let (heads, vertices) = (ranks.exchange(&heads), ranks.exchange(&vertices));
    let regions = part.regions.as_deref();
    let region = |half_edge: u64| {
        let triangle = part.cells.place(half_edge / 3);
        Some(regions?[triangle.expect("it is owned here") as usize])
    };
    let polygons = join_rings(heads.items(), vertices.items(), region, regions.is_some());
    let weak = polygons.weakly_simple();
    let count = weak.len() as u64;
    let polygons = match strict {
        true => {
            let runs = fragments.iter().zip(&smallest);
            let runs = runs.map(|(fragment, ring)| (ring[1] as usize, &fragment.half_edges[..]));
            split(
                ranks,
                part,
                &runs.collect::<Vec<_>>(),
                &heads,
                polygons,
                &weak,
            )
        }
        false => polygons,
    };
    (polygons, count)
}

/// The fragments of this rank.
fn find(part: &Part, owned: &[u32], open: &mesh::Polygons) -> Vec<Fragment> {
    let is_owned = |h: u32| owned[h as usize / 32] >> (h % 32) & 1 != 0;
    let mut fragments = Vec::new();
    for cycle in open.iter() {
        // A run begins behind a ghost: turn the cycle so that the last half-edge is one.
        let Some(ghost) = cycle.iter().rposition(|&h| !is_owned(h)) else {
            continue;
        };
        let mut run = Vec::new();
        let (before, after) = cycle.split_at(ghost + 1);
        for &h in after.iter().chain(before) {
            if is_owned(h) {
                run.push(h);
            } else if !run.is_empty() {
                let owner = part.owners.get(h as usize / 3);
                fragments.push(Fragment {
                    half_edges: std::mem::take(&mut run),
                    behind: [part.half_edge(h), u64::from(owner)],
                });
            }
        }
    }
    fragments
}

/// The smallest half-edge of each fragment's ring. Collective.
fn smallest_of_rings(ranks: &Ranks, part: &Part, fragments: &[Fragment]) -> Vec<Place> {
    let me = ranks.rank() as u64;
    let ids: Vec<u64> = fragments
        .iter()
        .map(|f| part.half_edge(f.half_edges[0]))
        .collect();
    let least = |fragment: &Fragment| {
        let least = fragment
            .half_edges
            .iter()
            .min()
            .expect("a fragment is not empty");
        [part.half_edge(*least), me]
    };
    let mut smallest: Vec<Place> = fragments.iter().map(least).collect();
    let mut behind: Vec<Place> = fragments.iter().map(|fragment| fragment.behind).collect();
    loop {
        let question = |i: usize| (behind[i][1] as usize, behind[i][0]);
        let asked = Mail::sorted(ranks.size(), behind.len(), question);
        let answers = ranks.exchange(&asked).map(|id| {
            let i = ids
                .binary_search(id)
                .expect("a fragment begins behind another");
            [smallest[i], behind[i]]
        });
        // Answers come in the order of the questions: by rank, and for one rank in the order of fragments.
        let answers = ranks.exchange_expected(&answers, &asked.counts());
        let answers = answers.into_items();
        let mut order: Vec<usize> = (0..behind.len()).collect();
        order.sort_by_key(|&i| behind[i][1]);
        let mut has_changed = false;
        for (i, [other, next]) in order.into_iter().zip(answers) {
            has_changed |= other < smallest[i];
            smallest[i] = smallest[i].min(other);
            behind[i] = next;
        }
        if ranks.reduce(u64::from(has_changed), Reduction::Or) == 0 {
            return smallest;
        }
    }
}

/// Joins the fragments of each ring; `heads` are ring, first half-edge, half-edge behind, length, and the place of the
/// smallest.
fn join_rings(
    heads: &[[u64; 5]],
    vertices: &[u64],
    region: impl Fn(u64) -> Option<i32>,
    has_regions: bool,
) -> Polygons {
    let mut starts = Vec::with_capacity(heads.len());
    let mut start = 0;
    for head in heads {
        starts.push(start);
        start += head[3] as usize;
    }
    let begins: HashMap<u64, usize> = heads
        .iter()
        .zip(0..)
        .map(|(head, i)| (head[1], i))
        .collect();
    let mut rings: Vec<usize> = (0..heads.len())
        .filter(|&i| heads[i][4] != u64::MAX)
        .collect();
    rings.sort_unstable_by_key(|&i| heads[i][0]);
    let mut polygons = Polygons::with_regions(has_regions);
    let mut polygon = Vec::new();
    for first in rings {
        let of = |i: usize| &vertices[starts[i]..starts[i] + heads[i][3] as usize];
        let (before, from) = of(first).split_at(heads[first][4] as usize);
        polygon.clear();
        polygon.extend_from_slice(from);
        let mut i = begins[&heads[first][2]];
        while i != first {
            polygon.extend_from_slice(of(i));
            i = begins[&heads[i][2]];
        }
        polygon.extend_from_slice(before);
        polygons.push(heads[first][0], &polygon, region(heads[first][0]));
    }
    polygons
}
