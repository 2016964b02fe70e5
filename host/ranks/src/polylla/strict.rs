//! Cuts of polygons across ranks that visit a vertex twice.
//!
//! The rank that has joined such a polygon asks the owners of its runs for their half-edges, and for the triangles
//! around the ends of these. Each corner of each triangle of the polygon's region lies on the polygon, at the end of
//! one of its half-edges, so all of these triangles come. Others come too, but a cut looks at the polygon's half-edges
//! alone.
//!
//! [`split_polygon`], the sequential algorithm, cuts the polygon: there are few, too small for a device.

use std::collections::HashSet;

use trioxide::mesh::NONE;
use trioxide_mesh::parallel;
use trioxide_reference::half_edges;
use trioxide_reference::polylla::split_polygon;

use super::Polygons;
use crate::ids::{IdSet, Ids};
use crate::ownership::Position;
use crate::part::Part;
use crate::records::Records;
use crate::transport::{Mail, Ranks};

/// Cuts the `weak` ones of `polygons` until no piece visits a vertex twice. Collective.
///
/// `runs` are this rank's half-edges of polygons across ranks, in the order of the ranks that have joined the polygons,
/// each with this rank; `heads` came from all ranks.
pub(super) fn split<V: Position>(
    ranks: &Ranks,
    part: &Part<V>,
    runs: &[(usize, &[u32])],
    heads: &Mail<[u64; 5]>,
    polygons: Polygons,
    weak: &[usize],
) -> Polygons {
    if !ranks.any(!weak.is_empty()) {
        return polygons;
    }
    let rings: HashSet<u64> = weak.iter().map(|&i| polygons.half_edges[i]).collect();
    let is_weak = |head: &[u64; 5]| rings.contains(&head[0]);
    let answers = ranks.exchange(&heads.map(|head| u8::from(is_weak(head))));
    let weak_runs = runs.iter().zip(answers.items());
    let weak_runs = weak_runs.filter(|(_, is_weak)| **is_weak != 0);
    let weak_runs: Vec<(usize, &[u32])> = weak_runs.map(|(&run, _)| run).collect();
    let all = ranks.exchange(&Mail::of_lists(ranks.size(), |rank, ids| {
        for (_, half_edges) in weak_runs.iter().filter(|run| run.0 == rank) {
            ids.extend(half_edges.iter().map(|&h| part.half_edge(h)));
        }
    }));
    let triangles = send_triangles(ranks, part, &weak_runs);
    if weak.is_empty() {
        return polygons;
    }
    let mut patch = Patch::of(triangles);
    let mut rest = all.items();
    for head in heads.items().iter().filter(|head| is_weak(head)) {
        let (run, others) = rest.split_at(head[3] as usize);
        rest = others;
        patch.link(run, head[2]);
    }
    patch.cut(&polygons, weak)
}

/// Sends the triangles around the ends of the runs to the ranks of these, and returns the triangles from all ranks,
/// each once. Collective.
fn send_triangles<V: Position>(ranks: &Ranks, part: &Part<V>, runs: &[(usize, &[u32])]) -> Records {
    let ends = runs.iter().flat_map(|&(rank, half_edges)| {
        let end = |h: u32| part.shape.corner((h - h % 3 + (h + 1) % 3) as usize);
        half_edges.iter().map(move |&h| (end(h), rank))
    });
    let mut ends: Vec<(u32, usize)> = ends.collect();
    ends.sort_unstable();
    ends.dedup();
    let set = IdSet::of(ends.len(), |i| ends[i].0.into());
    let is_around = |t: usize| {
        let mut corners = (3 * t..3 * t + 3).map(|i| part.shape.corner(i));
        corners.any(|v| set.has(v.into()))
    };
    let around = match ends.is_empty() {
        true => Vec::new(),
        false => parallel::filter_collect(part.cells.len(), |t| is_around(t).then_some(t)),
    };
    let sent = around.iter().flat_map(|&t| {
        let corners = (3 * t..3 * t + 3).map(|i| part.shape.corner(i));
        let of_corners = corners.flat_map(|v| {
            let first = ends.partition_point(|end| end.0 < v);
            let at = ends[first..].iter().take_while(move |end| end.0 == v);
            at.map(|end| end.1)
        });
        let mut to: Vec<usize> = of_corners.collect();
        to.sort_unstable();
        to.dedup();
        to.into_iter().map(move |rank| (rank, t))
    });
    let sent: Vec<(usize, usize)> = sent.collect();
    let rank = |i: usize| sent[i].0;
    let rows = Records::exchange(ranks, STRIDE, sent.len(), rank, |i, row| {
        part.write_cell(sent[i].1, row);
    });
    let mut rows: Vec<[u64; STRIDE]> = rows.words.as_chunks().0.to_vec();
    rows.sort_unstable();
    rows.dedup();
    Records {
        words: rows.into_flattened(),
        stride: STRIDE,
    }
}

/// Words of a triangle's row: its id and its vertices.
const STRIDE: usize = 4;

/// Some triangles of the mesh, with local ids that ascend with those of the whole mesh, and the links along their
/// polygons.
struct Patch {
    triangles: Records,
    vertices: Ids,
    half_edges: trioxide::mesh::HalfEdges,
    next: Vec<u32>,
    prev: Vec<u32>,
}

impl Patch {
    /// The triangles, without links.
    fn of(triangles: Records) -> Self {
        let vertices = triangles.vertices(3).to_ids();
        let local = |v: u64| vertices.place(v).expect("it is a corner");
        let corners = (0..triangles.len()).map(|t| {
            let row = triangles.get(t);
            [row[1], row[2], row[3]].map(local)
        });
        let half_edges = half_edges(&corners.collect::<Vec<_>>(), vertices.len());
        let none = vec![NONE; half_edges.len()];
        Self {
            triangles,
            vertices,
            half_edges,
            next: none.clone(),
            prev: none,
        }
    }

    fn local(&self, half_edge: u64) -> u32 {
        let triangle = self.triangles.place(half_edge / 3);
        3 * triangle.expect("triangles of polygons are here") as u32 + (half_edge % 3) as u32
    }

    /// Links the half-edges of a run, and the half-edge after it.
    fn link(&mut self, run: &[u64], after: u64) {
        for (&h, &next) in run.iter().zip(run[1..].iter().chain([&after])) {
            let [h, next] = [h, next].map(|id| self.local(id));
            self.next[h as usize] = next;
            self.prev[next as usize] = h;
        }
    }

    /// Replaces the `weak` polygons by their pieces.
    fn cut(mut self, polygons: &Polygons, weak: &[usize]) -> Polygons {
        let mut all = Polygons::with_regions(polygons.regions.is_some());
        let mut weak = weak.iter().peekable();
        for i in 0..polygons.len() {
            if weak.next_if_eq(&&i).is_none() {
                all.push_from(polygons, i);
                continue;
            }
            let start = self.local(polygons.half_edges[i]);
            let mut pieces = Vec::new();
            let (next, prev) = (&mut self.next, &mut self.prev);
            split_polygon(&self.half_edges, next, prev, start, &mut pieces);
            // Region borders are sides of polygons: the pieces have the polygon's region.
            let region = polygons.regions.as_ref().map(|regions| regions[i]);
            for start in pieces {
                let (half_edge, vertices) = self.piece(start);
                all.push(half_edge, &vertices, region);
            }
        }
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_unstable_by_key(|&i| all.half_edges[i]);
        all.gather(&order)
    }

    /// The polygon that begins with half-edge `start`, with ids of the whole mesh.
    fn piece(&self, start: u32) -> (u64, Vec<u64>) {
        let next = |&h: &u32| Some(self.next[h as usize]).filter(|&h| h != start);
        let cycle = std::iter::successors(Some(start), next);
        let origin = |h: u32| self.half_edges.origin(h) as usize;
        let vertices = cycle.map(|h| self.vertices.get(origin(h))).collect();
        let id = self.triangles.id(start as usize / 3);
        (3 * id + u64::from(start % 3), vertices)
    }
}
