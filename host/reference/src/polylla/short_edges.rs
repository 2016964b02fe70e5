//! Short edges of polygons, sequentially, with lists and all pairs of sides. The definition and its proofs are in
//! `gpu::polylla::short_edges`.

use std::collections::{HashMap, HashSet};

use glam::DVec2;
use robust::{Coord, orient2d};

use trioxide::mesh::{HalfEdges, Polygons};
use trioxide::polylla::{ShortEdgeCounts, ShortEdges};

/// Polygons without the edges that collapsed.
pub struct Shortened {
    /// The polygons, by the ids of their vertices before.
    pub polygons: Polygons,
    /// For each vertex itself, or the vertex that took its place.
    pub places: Vec<u32>,
    /// Numbers of edges.
    pub counts: ShortEdgeCounts,
}

/// The constrained edges of a mesh of triangles, by their ends in ascending order.
pub fn constrained_ends(
    half_edges: &HalfEdges,
    is_constrained: impl Fn(u32) -> bool,
) -> HashSet<[u32; 2]> {
    let constrained = (0..half_edges.inner()).filter(|&h| is_constrained(h));
    constrained
        .map(|h| sorted([half_edges.origin(h), half_edges.target(h)]))
        .collect()
}

/// Collapses short edges of simple polygons of the plane. Edges on the border, and `constrained` edges, named by their
/// ends in ascending order, keep their place.
pub fn remove_short_edges(
    points: &[DVec2],
    polygons: &Polygons,
    constrained: &HashSet<[u32; 2]>,
    short: ShortEdges<'_>,
) -> Shortened {
    let mut mesh = Mesh::new(points, polygons, constrained, short);
    let mut parents: Vec<u32> = (0..points.len() as u32).collect();
    let mut counts = ShortEdgeCounts {
        short: mesh.short_edges(&mesh.edges()).count() as u32,
        ..ShortEdgeCounts::default()
    };
    loop {
        let (edges, star) = (mesh.edges(), mesh.star());
        let fixed = mesh.fixed_neighbours(&edges);
        let mut ready = Vec::new();
        for edge in mesh.short_edges(&edges) {
            let [low, high] = sorted(edge.ends);
            let moves = [(high, low), (low, high)];
            let allowed = moves.into_iter().find(|&(v, u)| {
                mesh.may_leave(&fixed, v, u) && mesh.stay_simple(&star, edge.id, v, u)
            });
            ready.extend(allowed.map(|(v, u)| ((mesh.key(edge), edge.id), v, u)));
        }
        if ready.is_empty() {
            counts.left = mesh.short_edges(&edges).count() as u32;
            let is_held = |edge: &&Edge| {
                let [a, b] = edge.ends;
                !mesh.may_leave(&fixed, a, b) && !mesh.may_leave(&fixed, b, a)
            };
            counts.held = mesh.short_edges(&edges).filter(is_held).count() as u32;
            break;
        }
        let mut least = vec![None; mesh.polygons.len()];
        for &(key, v, _) in &ready {
            for &p in &star[v as usize] {
                least[p] = Some(least[p].map_or(key, |least| std::cmp::min(least, key)));
            }
        }
        for (key, v, u) in ready {
            if star[v as usize].iter().all(|&p| least[p] == Some(key)) {
                for &p in &star[v as usize] {
                    mesh.polygons[p] = mesh.moved(p, key.1, v, u);
                }
                parents[v as usize] = u;
                counts.removed += 1;
            }
        }
    }
    let mut lists = Polygons::default();
    for polygon in &mesh.polygons {
        let vertices: Vec<u32> = polygon.iter().map(|side| side.vertex).collect();
        lists.push(&vertices);
    }
    let place = |mut v: u32| {
        while parents[v as usize] != v {
            v = parents[v as usize];
        }
        v
    };
    Shortened {
        polygons: lists,
        places: (0..points.len() as u32).map(place).collect(),
        counts,
    }
}

/// A side of a polygon.
#[derive(Clone, Copy)]
struct Side {
    /// The vertex at which it starts.
    vertex: u32,
    edge: usize,
}

/// An edge of one polygon or two.
#[derive(Clone, Copy)]
struct Edge {
    /// The lower of its sides, in the lists of all polygons before.
    id: usize,
    ends: [u32; 2],
    polygons: [usize; 2],
}

fn sorted([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

struct Mesh<'a> {
    points: &'a [DVec2],
    polygons: Vec<Vec<Side>>,
    /// Of each edge by its id, whether it is constrained.
    is_fixed: Vec<bool>,
    is_pinned: Vec<bool>,
    short: ShortEdges<'a>,
}

impl<'a> Mesh<'a> {
    fn new(
        points: &'a [DVec2],
        polygons: &Polygons,
        constrained: &HashSet<[u32; 2]>,
        short: ShortEdges<'a>,
    ) -> Self {
        let mut ids: HashMap<[u32; 2], Vec<usize>> = HashMap::new();
        let mut lists = Vec::new();
        let mut id = 0;
        for polygon in polygons.iter() {
            let mut sides = Vec::new();
            for (k, &vertex) in polygon.iter().enumerate() {
                let end = polygon[(k + 1) % polygon.len()];
                let of_edge = ids.entry(sorted([vertex, end])).or_default();
                of_edge.push(id);
                sides.push(Side {
                    vertex,
                    edge: of_edge[0],
                });
                id += 1;
            }
            lists.push(sides);
        }
        let mut fixed = vec![false; id];
        for (ends, sides) in &ids {
            fixed[sides[0]] = sides.len() == 1 || constrained.contains(ends);
        }
        let mut is_pinned = vec![false; points.len()];
        short
            .pinned
            .iter()
            .for_each(|&v| is_pinned[v as usize] = true);
        Self {
            points,
            polygons: lists,
            is_fixed: fixed,
            is_pinned,
            short,
        }
    }

    /// All edges, by their ids.
    fn edges(&self) -> Vec<Option<Edge>> {
        let mut edges: Vec<Option<Edge>> = vec![None; self.is_fixed.len()];
        for (p, polygon) in self.polygons.iter().enumerate() {
            for (k, side) in polygon.iter().enumerate() {
                let end = polygon[(k + 1) % polygon.len()].vertex;
                match &mut edges[side.edge] {
                    Some(edge) => edge.polygons[1] = p,
                    edge => {
                        *edge = Some(Edge {
                            id: side.edge,
                            ends: [side.vertex, end],
                            polygons: [p, p],
                        });
                    }
                }
            }
        }
        edges
    }

    /// The polygons around each vertex.
    fn star(&self) -> Vec<Vec<usize>> {
        let mut star = vec![Vec::new(); self.points.len()];
        for (p, polygon) in self.polygons.iter().enumerate() {
            for side in polygon {
                star[side.vertex as usize].push(p);
            }
        }
        star
    }

    fn fixed_neighbours(&self, edges: &[Option<Edge>]) -> HashMap<u32, Vec<u32>> {
        let mut neighbours: HashMap<u32, Vec<u32>> = HashMap::new();
        for edge in edges.iter().flatten().filter(|edge| self.is_fixed[edge.id]) {
            let [a, b] = edge.ends;
            neighbours.entry(a).or_default().push(b);
            neighbours.entry(b).or_default().push(a);
        }
        neighbours
    }

    fn length(&self, edge: &Edge) -> f64 {
        let [a, b] = edge.ends.map(|v| self.points[v as usize]);
        squared(b - a)
    }

    fn key(&self, edge: &Edge) -> u32 {
        (self.length(edge) as f32).to_bits()
    }

    fn diameter(&self, p: usize) -> f64 {
        let mut most = 0.0f64;
        for a in &self.polygons[p] {
            for b in &self.polygons[p] {
                let [a, b] = [a, b].map(|side| self.points[side.vertex as usize]);
                most = most.max(squared(b - a));
            }
        }
        most
    }

    fn short_edges<'e>(&self, edges: &'e [Option<Edge>]) -> impl Iterator<Item = &'e Edge> {
        let diameters: Vec<f64> = (0..self.polygons.len()).map(|p| self.diameter(p)).collect();
        let lengths: Vec<f64> = edges
            .iter()
            .map(|edge| edge.as_ref().map_or(0.0, |edge| self.length(edge)))
            .collect();
        let ratio = self.short.ratio * self.short.ratio;
        edges.iter().flatten().filter(move |edge| {
            let [p, q] = edge.polygons.map(|p| diameters[p]);
            lengths[edge.id] < ratio * p.max(q)
        })
    }

    fn may_leave(&self, fixed: &HashMap<u32, Vec<u32>>, v: u32, u: u32) -> bool {
        if self.is_pinned[v as usize] {
            return false;
        }
        match fixed.get(&v).map(Vec::as_slice) {
            None => true,
            Some(&[a, b]) if a == u || b == u => {
                let [a, v, b] = [a, v, b].map(|v| self.points[v as usize]);
                turn(a, v, b) == 0 && is_between(a, v, b)
            }
            _ => false,
        }
    }

    /// Polygon `p` with `u` in place of `v`, without the edge between them.
    fn moved(&self, p: usize, edge: usize, v: u32, u: u32) -> Vec<Side> {
        let sides = self.polygons[p].iter().filter(|side| side.edge != edge);
        sides
            .map(|&side| Side {
                vertex: if side.vertex == v { u } else { side.vertex },
                ..side
            })
            .collect()
    }

    fn stay_simple(&self, star: &[Vec<usize>], edge: usize, v: u32, u: u32) -> bool {
        star[v as usize].iter().all(|&p| {
            let moved = self.moved(p, edge, v, u);
            let corners: Vec<DVec2> = moved
                .iter()
                .map(|side| self.points[side.vertex as usize])
                .collect();
            is_simple(&corners) && (!self.short.keeps_convex || is_convex(&corners))
        })
    }
}

/// Whether a polygon is simple and runs counter-clockwise: two sides touch only at a common corner.
pub fn is_simple(corners: &[DVec2]) -> bool {
    let n = corners.len();
    if n < 3 {
        return false;
    }
    let side = |i: usize| [corners[i], corners[(i + 1) % n]];
    for i in 0..n {
        let [a, b] = side(i);
        let c = corners[(i + 2) % n];
        // Neighbours: the second runs back along the first.
        if turn(a, b, c) == 0 && !is_between(a, b, c) {
            return false;
        }
        for j in i + 2..n {
            if (j + 1) % n != i && touch([a, b], side(j)) {
                return false;
            }
        }
    }
    let is_lower = |p: DVec2, q: DVec2| p.x < q.x || p.x == q.x && p.y < q.y;
    let lower = |i: usize, j: usize| match is_lower(corners[j], corners[i]) {
        true => j,
        false => i,
    };
    let i = (0..n).fold(0, lower);
    turn(corners[(i + n - 1) % n], corners[i], corners[(i + 1) % n]) > 0
}

fn is_convex(corners: &[DVec2]) -> bool {
    let n = corners.len();
    (0..n).all(|i| turn(corners[i], corners[(i + 1) % n], corners[(i + 2) % n]) >= 0)
}

fn touch([p, q]: [DVec2; 2], [a, b]: [DVec2; 2]) -> bool {
    let signs = [turn(p, q, a), turn(p, q, b), turn(a, b, p), turn(a, b, q)];
    if signs == [0; 4] {
        let meet = |p: f64, q: f64, a: f64, b: f64| p.min(q) <= a.max(b) && a.min(b) <= p.max(q);
        return meet(p.x, q.x, a.x, b.x) && meet(p.y, q.y, a.y, b.y);
    }
    signs[0] * signs[1] <= 0 && signs[2] * signs[3] <= 0
}

fn turn(a: DVec2, b: DVec2, c: DVec2) -> i32 {
    let [a, b, c] = [a, b, c].map(|p| Coord { x: p.x, y: p.y });
    let determinant = orient2d(a, b, c);
    i32::from(determinant > 0.0) - i32::from(determinant < 0.0)
}

/// Whether `v` is between `a` and `b`; all three are on one line.
fn is_between(a: DVec2, v: DVec2, b: DVec2) -> bool {
    match a.x == v.x {
        true => (a.y < v.y) != (b.y < v.y),
        false => (a.x < v.x) != (b.x < v.x),
    }
}

fn squared(d: DVec2) -> f64 {
    d.x * d.x + d.y * d.y
}
