//! Polygons that cross ranks, from their fragments.
//!
//! A fragment is a run of a polygon's half-edges that one rank owns. The first half-edge of another fragment follows
//! its last one; it is a ghost here, so its rank is known. The fragments of a polygon form a ring over ranks.
//!
//! Pointer doubling finds the smallest half-edge of each ring: after round k a fragment knows the smallest among itself
//! and the 2^k - 1 fragments after it. When no fragment learns anything new in a round, all know the smallest of their
//! ring: then the windows of fragments at distances of a window's length have one minimum, and these windows cover the
//! ring. So the number of rounds is about the logarithm of the longest ring. Then each fragment goes to the owner of
//! its ring's smallest half-edge, which joins them.

use std::collections::HashMap;

use trioxide::mesh;

use super::Polygons;
use super::strict::split;
use crate::ownership::Position;
use crate::part::Part;
use crate::transport::{Mail, Ranks, offsets};

/// The id of a half-edge in the whole mesh, and its owner. Places compare as half-edges do.
type Place = [u64; 2];

/// A run of owned half-edges.
struct Fragment {
    half_edges: Vec<u32>,
    /// The half-edge after the last one.
    next: Place,
}

/// The polygons that cross ranks, at the owners of their smallest half-edges, and the number of these that visit a
/// vertex more than once. `strict` cuts the latter, and leaves their pieces there. `open` lists this rank's cycles that
/// pass ghosts. Collective.
pub(super) fn join<V: Position>(
    ranks: &Ranks,
    part: &Part<V>,
    owned: &[u32],
    open: &mesh::Polygons,
    strict: bool,
) -> (Polygons, u64) {
    let mut fragments = find(part, owned, open);
    fragments.sort_unstable_by_key(|fragment| fragment.half_edges[0]);
    let smallest = smallest_of_rings(ranks, part, &fragments);

    let to = Mail::places(ranks.size(), fragments.len(), |i| smallest[i][1] as usize);
    let half_edges_of = |rank: usize| {
        let fragments = to.of(rank).iter().map(|&i| &fragments[i as usize]);
        fragments.flat_map(|fragment| &fragment.half_edges).copied()
    };
    let heads = to.map(|&i| {
        let fragment = &fragments[i as usize];
        let half_edges = &fragment.half_edges;
        let [ring, _] = smallest[i as usize];
        let at = half_edges.iter().position(|&h| part.half_edge(h) == ring);
        let at = at.map_or(u64::MAX, |at| at as u64);
        let head = part.half_edge(half_edges[0]);
        [ring, head, fragment.next[0], half_edges.len() as u64, at]
    });
    let vertex = |h: u32| part.vertices.get(part.shape.corner(h as usize) as usize);
    let vertices = Mail::of_lists(ranks.size(), |rank, vertices| {
        vertices.extend(half_edges_of(rank).map(vertex));
    });
    let (heads, vertices) = (ranks.exchange(&heads), ranks.exchange(&vertices));
    let regions = part.regions.as_deref();
    let region = |half_edge: u64| {
        let triangle = part.cells.place(half_edge / 3);
        Some(regions?[triangle.expect("it is owned here") as usize])
    };
    let polygons = join_rings(heads.items(), vertices.items(), region, regions.is_some());
    let weak = polygons.weakly_simple();
    match strict {
        true => {
            let run = |(rank, &i): (usize, &u32)| (rank, &fragments[i as usize].half_edges[..]);
            let runs: Vec<_> = to.iter().map(run).collect();
            (split(ranks, part, &runs, &heads, polygons, &weak), 0)
        }
        false => (polygons, weak.len() as u64),
    }
}

/// The fragments of this rank.
fn find<V: Position>(part: &Part<V>, owned: &[u32], open: &mesh::Polygons) -> Vec<Fragment> {
    let is_owned = |h: u32| owned[h as usize / 32] >> (h % 32) & 1 != 0;
    let mut fragments = Vec::new();
    for cycle in open.iter() {
        // A run begins after a ghost: turn the cycle so that its last half-edge is one.
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
                    next: [part.half_edge(h), u64::from(owner)],
                });
            }
        }
    }
    fragments
}

/// The smallest half-edge of each fragment's ring. Collective.
fn smallest_of_rings<V: Position>(
    ranks: &Ranks,
    part: &Part<V>,
    fragments: &[Fragment],
) -> Vec<Place> {
    let me = ranks.rank() as u64;
    let id = |fragment: &Fragment| part.half_edge(fragment.half_edges[0]);
    let ids: Vec<u64> = fragments.iter().map(id).collect();
    let least = |fragment: &Fragment| {
        let least = fragment.half_edges.iter().min();
        [part.half_edge(*least.expect("a fragment is not empty")), me]
    };
    let mut smallest: Vec<Place> = fragments.iter().map(least).collect();
    let mut next: Vec<Place> = fragments.iter().map(|fragment| fragment.next).collect();
    loop {
        let to = Mail::places(ranks.size(), next.len(), |i| next[i][1] as usize);
        let answers = ranks.ask(&to.map(|&i| next[i as usize][0]), |id| {
            let i = ids.binary_search(id);
            let i = i.expect("a fragment begins after another");
            [smallest[i], next[i]]
        });
        let mut has_changed = false;
        for (&i, [other, after]) in to.items().iter().zip(answers) {
            let i = i as usize;
            has_changed |= other < smallest[i];
            smallest[i] = smallest[i].min(other);
            next[i] = after;
        }
        if !ranks.any(has_changed) {
            return smallest;
        }
    }
}

/// Joins the fragments of each ring. A head has the ring, the first half-edge, the half-edge after the last, the
/// length, and the place of the ring's smallest half-edge.
fn join_rings(
    heads: &[[u64; 5]],
    vertices: &[u64],
    region: impl Fn(u64) -> Option<i32>,
    has_regions: bool,
) -> Polygons {
    let starts = offsets(heads.iter().map(|head| head[3] as usize));
    let begins = heads.iter().zip(0..).map(|(head, i)| (head[1], i));
    let begins: HashMap<u64, usize> = begins.collect();
    let is_first = |&i: &usize| heads[i][4] != u64::MAX;
    let mut rings: Vec<usize> = (0..heads.len()).filter(is_first).collect();
    rings.sort_unstable_by_key(|&i| heads[i][0]);
    let mut polygons = Polygons::with_regions(has_regions);
    let mut polygon = Vec::new();
    for first in rings {
        let of = |i: usize| &vertices[starts[i]..starts[i + 1]];
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
