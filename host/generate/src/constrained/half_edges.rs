//! Half-edges of triangles that can be split, flipped and removed.
//!
//! Half-edge `3 t + k` starts at corner `k` of triangle `t` and goes counter-clockwise around it. A subsegment is an
//! edge that is never flipped: a part of a segment, or of the boundary. Every edge with one triangle is a subsegment.
//! Predicates are exact.

use glam::DVec2;
use robust::Coord;

/// No half-edge, no vertex, no subsegment.
pub const NONE: u32 = u32::MAX;

/// An edge that is never flipped.
#[derive(Clone, Copy, Debug)]
pub struct Subsegment {
    /// Its vertices, in the direction of the whole subsegment.
    pub ends: [u32; 2],
    /// One of its half-edges.
    pub half_edge: u32,
    /// The unsplit subsegment that it is a part of.
    pub whole: u32,
    /// The next part of `whole`.
    pub next: Option<u32>,
}

/// The other side of a half-edge.
#[derive(Clone, Copy)]
struct Beyond {
    twin: u32,
    subsegment: u32,
}

/// The place of a point, relative to a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Inside of a triangle.
    Triangle(u32),
    /// On a half-edge that is no subsegment.
    Edge(u32),
    /// On this subsegment or beyond it.
    Behind(u32),
    /// On a vertex.
    Vertex,
}

/// Triangles, each with a region.
#[derive(Default)]
pub struct HalfEdges {
    pub points: Vec<DVec2>,
    /// Origins of half-edges; those of a removed triangle are [`NONE`].
    origins: Vec<u32>,
    /// [`NONE`] at the boundary.
    twins: Vec<u32>,
    /// Subsegment of each half-edge; [`NONE`] where the edge may be flipped.
    of_edge: Vec<u32>,
    regions: Vec<i32>,
    pub subsegments: Vec<Subsegment>,
    removed: Vec<u32>,
    /// Triangles written since this list was last emptied.
    pub changed: Vec<u32>,
}

/// The half-edge after this one in its triangle.
#[inline]
pub fn next(h: u32) -> u32 {
    match h % 3 {
        2 => h - 2,
        _ => h + 1,
    }
}

/// The half-edge before this one in its triangle.
#[inline]
pub fn previous(h: u32) -> u32 {
    match h % 3 {
        0 => h + 2,
        _ => h - 1,
    }
}

#[inline]
fn coord(p: DVec2) -> Coord<f64> {
    Coord { x: p.x, y: p.y }
}

/// Twice the area of a triangle, above 0 if it is counter-clockwise; the sign is exact.
#[inline]
pub fn orientation(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    robust::orient2d(coord(a), coord(b), coord(c))
}

impl HalfEdges {
    /// Triangles of `points` without subsegments: [`HalfEdges::constrain`] adds them. Twins are `NONE` or half-edges.
    pub fn new(
        points: Vec<DVec2>,
        origins: Vec<u32>,
        twins: Vec<u32>,
        regions: Vec<i32>,
    ) -> HalfEdges {
        HalfEdges {
            points,
            of_edge: vec![NONE; origins.len()],
            origins,
            twins,
            regions,
            ..HalfEdges::default()
        }
    }

    /// Makes an edge a subsegment, if it is not one yet. Returns the subsegment.
    pub fn constrain(&mut self, h: u32) -> u32 {
        let known = self.of_edge[h as usize];
        if known != NONE {
            return known;
        }
        let id = self.subsegments.len() as u32;
        self.subsegments.push(Subsegment {
            ends: [self.origin(h), self.target(h)],
            half_edge: h,
            whole: id,
            next: None,
        });
        self.of_edge[h as usize] = id;
        if let Some(twin) = self.twin(h) {
            self.of_edge[twin as usize] = id;
        }
        id
    }

    #[inline]
    pub fn origin(&self, h: u32) -> u32 {
        self.origins[h as usize]
    }

    #[inline]
    pub fn target(&self, h: u32) -> u32 {
        self.origin(next(h))
    }

    /// The corner opposite to an edge.
    #[inline]
    pub fn apex(&self, h: u32) -> u32 {
        self.origin(previous(h))
    }

    #[inline]
    pub fn twin(&self, h: u32) -> Option<u32> {
        Some(self.twins[h as usize]).filter(|&twin| twin != NONE)
    }

    #[inline]
    pub fn subsegment(&self, h: u32) -> Option<u32> {
        Some(self.of_edge[h as usize]).filter(|&id| id != NONE)
    }

    #[inline]
    pub fn place(&self, v: u32) -> DVec2 {
        self.points[v as usize]
    }

    /// The corners of a triangle, `None` if it was removed.
    #[inline]
    pub fn corners(&self, t: u32) -> Option<[u32; 3]> {
        let corners = [0, 1, 2].map(|k| self.origins[3 * t as usize + k]);
        Some(corners).filter(|corners| corners[0] != NONE)
    }

    pub fn region(&self, t: u32) -> i32 {
        self.regions[t as usize]
    }

    /// The triangles that were not removed.
    pub fn triangles(&self) -> impl Iterator<Item = u32> + '_ {
        let all = 0..self.regions.len() as u32;
        all.filter(|&t| self.corners(t).is_some())
    }

    /// The half-edges of a subsegment.
    pub fn both(&self, subsegment: u32) -> impl Iterator<Item = u32> + use<> {
        let h = self.subsegments[subsegment as usize].half_edge;
        [Some(h), self.twin(h)].into_iter().flatten()
    }

    #[inline]
    fn orientation(&self, [a, b, c]: [u32; 3]) -> f64 {
        orientation(self.place(a), self.place(b), self.place(c))
    }

    /// Whether the circumcircle of a half-edge's triangle contains a point.
    #[inline]
    fn is_in_circle(&self, h: u32, p: DVec2) -> bool {
        let [a, b, c] = [h, next(h), previous(h)]
            .map(|h| coord(self.points[self.origins[h as usize] as usize]));
        robust::incircle(a, b, c, coord(p)) > 0.0
    }

    #[inline]
    fn beyond(&self, h: u32) -> Beyond {
        Beyond {
            twin: self.twins[h as usize],
            subsegment: self.of_edge[h as usize],
        }
    }

    #[inline]
    fn write(&mut self, t: u32, corners: [u32; 3], beyond: [Beyond; 3]) {
        for (h, (corner, Beyond { twin, subsegment })) in
            (3 * t..).zip(corners.into_iter().zip(beyond))
        {
            self.origins[h as usize] = corner;
            self.twins[h as usize] = twin;
            self.of_edge[h as usize] = subsegment;
            if twin != NONE {
                self.twins[twin as usize] = h;
            }
            if subsegment != NONE {
                self.subsegments[subsegment as usize].half_edge = h;
            }
        }
        self.changed.push(t);
    }

    fn add_triangle(&mut self, region: i32) -> u32 {
        if let Some(t) = self.removed.pop() {
            self.regions[t as usize] = region;
            return t;
        }
        let t = self.regions.len() as u32;
        self.regions.push(region);
        for list in [&mut self.origins, &mut self.twins, &mut self.of_edge] {
            list.extend([NONE; 3]);
        }
        t
    }

    /// Flips the edge between triangles (a, b, c) and (b, a, d) to the edge from d to c: (c, a, d) and (d, b, c).
    fn flip(&mut self, h: u32) -> [u32; 2] {
        let g = self.twins[h as usize];
        let (t, u) = (h / 3, g / 3);
        let [a, b, c, d] = [self.origin(h), self.origin(g), self.apex(h), self.apex(g)];
        let [bc, ca, ad, db] =
            [next(h), previous(h), next(g), previous(g)].map(|edge| self.beyond(edge));
        self.write(t, [c, a, d], [ca, ad, inner(3 * u + 2)]);
        self.write(u, [d, b, c], [db, bc, inner(3 * t + 2)]);
        [t, u]
    }

    /// Flips edges until all flippable edges are Delaunay. `edges` are the edges that may violate it.
    pub fn legalize(&mut self, mut edges: Vec<u32>) {
        while let Some(h) = edges.pop() {
            let Some(twin) = self.twin(h).filter(|_| self.subsegment(h).is_none()) else {
                continue;
            };
            if self.is_in_circle(h, self.place(self.apex(twin))) {
                // Edges listed by their old half-edges are listed again.
                let [t, u] = self.flip(h);
                edges.extend([3 * t, 3 * t + 1, 3 * u, 3 * u + 1]);
            }
        }
    }

    /// Makes all flippable edges Delaunay.
    pub fn legalize_all(&mut self) {
        self.legalize((0..self.origins.len() as u32).collect());
        self.changed.clear();
    }

    /// The place of a point, by a walk from a triangle that crosses no subsegment.
    pub fn locate(&self, start: u32, p: DVec2) -> Place {
        let (mut t, mut entered) = (start, NONE);
        // All crossed edges are Delaunay, so the point lies deeper in the circumcircle of each next triangle: the walk
        // visits no triangle twice.
        'walk: loop {
            let (mut behind, mut on) = (None, [NONE; 2]);
            for h in (3 * t..3 * t + 3).filter(|&h| h != entered) {
                let side = orientation(self.place(self.origin(h)), self.place(self.target(h)), p);
                if side < 0.0 {
                    match self.subsegment(h) {
                        Some(subsegment) => behind = behind.or(Some(subsegment)),
                        None => {
                            entered = self.twins[h as usize];
                            t = entered / 3;
                            continue 'walk;
                        }
                    }
                } else if side == 0.0 {
                    on = [h, on[0]];
                }
            }
            return match (behind, on) {
                (Some(subsegment), _) => Place::Behind(subsegment),
                (None, [NONE, _]) => Place::Triangle(t),
                (None, [h, NONE]) => match self.subsegment(h) {
                    Some(subsegment) => Place::Behind(subsegment),
                    None => Place::Edge(h),
                },
                _ => Place::Vertex,
            };
        }
    }

    /// The subsegments opposite to a vertex inserted at `p`, by their half-edges on its side.
    pub fn seen_from(&self, place: Place, p: DVec2) -> Vec<u32> {
        let mut open = match place {
            Place::Triangle(t) => vec![3 * t, 3 * t + 1, 3 * t + 2],
            Place::Edge(h) => {
                let twin = self.twins[h as usize];
                vec![next(h), previous(h), next(twin), previous(twin)]
            }
            Place::Behind(_) | Place::Vertex => Vec::new(),
        };
        let mut seen = Vec::new();
        while let Some(h) = open.pop() {
            if self.subsegment(h).is_some() {
                seen.push(h);
                continue;
            }
            let twin = self.twins[h as usize];
            if self.is_in_circle(twin, p) {
                open.extend([next(twin), previous(twin)]);
            }
        }
        seen
    }

    /// Adds a vertex inside of a triangle or on an edge, at a place from [`HalfEdges::locate`].
    ///
    /// # Panics
    /// If the place is on or beyond a subsegment, or a vertex.
    pub fn insert(&mut self, place: Place, p: DVec2) {
        let v = self.points.len() as u32;
        self.points.push(p);
        let link = match place {
            Place::Triangle(t) => self.split_triangle(t, v),
            Place::Edge(h) => self.split_edge(h, v, [NONE; 2]),
            Place::Behind(_) | Place::Vertex => unreachable!("no vertex is added there"),
        };
        self.legalize(link);
    }

    /// Adds a vertex on a subsegment, at a place that may be rounded. Returns false, without a change, if a triangle
    /// would be inverted.
    pub fn split_subsegment(&mut self, subsegment: u32, p: DVec2) -> bool {
        let is_left = |[a, b]: [u32; 2]| orientation(self.place(a), self.place(b), p) > 0.0;
        let stays = |h: u32| {
            is_left([self.target(h), self.apex(h)]) && is_left([self.apex(h), self.origin(h)])
        };
        if !self.both(subsegment).all(stays) {
            return false;
        }
        let v = self.points.len() as u32;
        self.points.push(p);
        let added = self.subsegments.len() as u32;
        let first = &mut self.subsegments[subsegment as usize];
        let (from, to) = (first.ends[0], std::mem::replace(&mut first.ends[1], v));
        let second = Subsegment {
            ends: [v, to],
            ..*first
        };
        first.next = Some(added);
        let h = first.half_edge;
        self.subsegments.push(second);
        let parts = match self.origin(h) == from {
            true => [subsegment, added],
            false => [added, subsegment],
        };
        let link = self.split_edge(h, v, parts);
        // A rounded place may leave the circumcircles of the old triangles: edges to the new vertex are checked too.
        let edges = link.iter().flat_map(|&h| [h, h + 1, h + 2]).collect();
        self.legalize(edges);
        true
    }

    fn split_triangle(&mut self, t: u32, v: u32) -> Vec<u32> {
        let [a, b, c] = [0, 1, 2].map(|k| self.origin(3 * t + k));
        let [ab, bc, ca] = [0, 1, 2].map(|k| self.beyond(3 * t + k));
        let [u, w] = [(); 2].map(|()| self.add_triangle(self.region(t)));
        self.write(t, [a, b, v], [ab, inner(3 * u + 2), inner(3 * w + 1)]);
        self.write(u, [b, c, v], [bc, inner(3 * w + 2), inner(3 * t + 1)]);
        self.write(w, [c, a, v], [ca, inner(3 * t + 2), inner(3 * u + 1)]);
        vec![3 * t, 3 * u, 3 * w]
    }

    /// Splits the edge of `h` and the triangles on its sides. The parts of the edge become these subsegments.
    fn split_edge(&mut self, h: u32, v: u32, [first, second]: [u32; 2]) -> Vec<u32> {
        let part = |twin, subsegment| Beyond { twin, subsegment };
        let g = self.twin(h);
        let [a, b, c] = [self.origin(h), self.target(h), self.apex(h)];
        let [bc, ca] = [next(h), previous(h)].map(|edge| self.beyond(edge));
        let t = h / 3;
        let u = self.add_triangle(self.region(t));
        let Some(g) = g else {
            self.write(t, [c, a, v], [ca, part(NONE, first), inner(3 * u + 1)]);
            self.write(u, [b, c, v], [bc, inner(3 * t + 2), part(NONE, second)]);
            return vec![3 * t, 3 * u];
        };
        let d = self.apex(g);
        let [ad, db] = [next(g), previous(g)].map(|edge| self.beyond(edge));
        let s = g / 3;
        let w = self.add_triangle(self.region(s));
        self.write(t, [c, a, v], [ca, part(3 * w + 2, first), inner(3 * u + 1)]);
        self.write(
            u,
            [b, c, v],
            [bc, inner(3 * t + 2), part(3 * s + 1, second)],
        );
        self.write(
            s,
            [d, b, v],
            [db, part(3 * u + 2, second), inner(3 * w + 1)],
        );
        self.write(w, [a, d, v], [ad, inner(3 * s + 2), part(3 * t + 1, first)]);
        vec![3 * t, 3 * u, 3 * s, 3 * w]
    }

    /// Removes the origin of a half-edge, which no subsegment ends at.
    pub fn remove(&mut self, h: u32) {
        let (v, mut h, from) = (self.origin(h), h, self.changed.len());
        let mut spokes = self.spokes(h);
        while spokes.len() > 3 {
            // An ear of the polygon around the vertex that does not contain the vertex. If four corners remain, the
            // vertex may lie on the diagonal.
            let is_ear = |&spoke: &u32| {
                let twin = self.twins[spoke as usize];
                let [a, b, c] = [self.apex(twin), self.target(spoke), self.apex(spoke)];
                let remains = self.orientation([c, v, a]);
                self.orientation([a, b, c]) > 0.0
                    && (remains > 0.0 || remains == 0.0 && spokes.len() == 4)
            };
            let ear = spokes.iter().copied().find(is_ear);
            let [t, _] = self.flip(ear.expect("a polygon has two ears that do not overlap"));
            h = 3 * t + 1;
            spokes = self.spokes(h);
        }
        let triangles = [spokes[0], spokes[1], spokes[2]].map(|spoke| spoke / 3);
        let corners = [0, 1, 2].map(|i| self.target(spokes[i]));
        let beyond = [0, 1, 2].map(|i| self.beyond(next(spokes[i])));
        for &t in &triangles[1..] {
            self.origins[3 * t as usize..][..3].fill(NONE);
            self.removed.push(t);
        }
        self.write(triangles[0], corners, beyond);
        let changed = self.changed[from..].iter();
        let changed = changed.filter(|&&t| self.corners(t).is_some());
        let edges = changed
            .flat_map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
            .collect();
        self.legalize(edges);
    }

    /// The half-edges from the origin of `h`, an inner vertex, counter-clockwise from `h`.
    fn spokes(&self, h: u32) -> Vec<u32> {
        let mut spokes = vec![h];
        loop {
            let spoke = self.twins[previous(spokes[spokes.len() - 1]) as usize];
            if spoke == h {
                return spokes;
            }
            spokes.push(spoke);
        }
    }
}

/// The other side of a flippable edge between two triangles.
fn inner(twin: u32) -> Beyond {
    Beyond {
        twin,
        subsegment: NONE,
    }
}
