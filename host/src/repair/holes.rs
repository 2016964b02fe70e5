//! Holes get faces. The head of [`gpu::repair`] defines them.
//!
//! They are filled on the host: there are few, and the next one may not add the edges of one. The device
//! finds the boundary.

use std::collections::HashSet;

use glam::DVec3;

use super::boundary::Loop;
use super::ears::cut_ears;
use super::exact::turn;
use super::left::{Obstacle, leave};
use super::state::{HostPoints, State};
use super::ways::scaled;
use super::{Counts, is_flat, sorted};
use crate::contact::Contacts;
use crate::{Result, progress};

/// Most edges of a loop whose triangulation has the least area: the search takes time by their cube, and memory by
/// their square. A longer loop loses ears first.
pub const MOST_EDGES_BY_AREA: usize = 500;

impl State<'_> {
    /// Fills the holes of at most `most` edges.
    pub fn fill_holes(
        &mut self,
        points: &HostPoints<'_>,
        most: u32,
        ratio: f64,
        counts: &mut Counts,
    ) -> Result<()> {
        let on = self.on;
        on.stage("holes", || {
            let mut faces = self.download_faces()?;
            let boundary = self.boundary(&faces)?;
            let mut left = Vec::new();
            for (vertex, obstacle) in boundary.others {
                leave(&mut left, obstacle, self.input_vertex(vertex), 0);
            }
            let mut sources: Vec<u32> = (0..faces.len() as u32).collect();
            if !boundary.loops.is_empty() {
                let points = points.get(self)?;
                let is_planar = points.iter().all(|p| p.z == points[0].z);
                let point = |v: u32| points[self.input_vertex(v) as usize];
                let mut there = There::around(&boundary.loops, &faces, self.vertices());
                for hole in boundary.loops {
                    progress::check()?;
                    let corners: Vec<DVec3> = hole.vertices.iter().map(|&v| point(v)).collect();
                    // In the plane, a loop to the left runs around the mesh.
                    if is_planar && turn(&corners) > 0 {
                        continue;
                    }
                    let first = self.input_vertex(hole.vertices[0]);
                    if hole.vertices.len() > most as usize {
                        leave(&mut left, Obstacle::Long, first, hole.vertices.len());
                        continue;
                    }
                    let Some(fill) = there.fill(&hole.vertices, &corners, ratio)? else {
                        let obstacle = obstacle_of(&hole, point);
                        leave(&mut left, obstacle, first, hole.vertices.len());
                        continue;
                    };
                    counts.filled += 1;
                    counts.hole_faces += fill.len() as u64;
                    sources.resize(sources.len() + fill.len(), hole.face);
                    faces.extend(fill);
                }
            }
            counts.holes_left = left.iter().map(|holes| holes.count).sum();
            self.holes = left;
            if sources.len() > self.faces.len() {
                self.replace(&faces, &sources)?;
            }
            Ok(())
        })
    }
}

/// Why a loop that is short enough is not filled.
fn obstacle_of(hole: &Loop, point: impl Fn(u32) -> DVec3 + Sync) -> Obstacle {
    let ends = hole
        .vertices
        .iter()
        .zip(hole.vertices.iter().cycle().skip(1));
    let mut edges: Vec<[u32; 2]> = ends.map(|(&a, &b)| sorted([a, b])).collect();
    edges.sort_unstable();
    let contacts = Contacts::of_boundary(point, &edges);
    match contacts.edges.is_empty() {
        false => Obstacle::Hanging,
        true if contacts.doubled > 0 => Obstacle::Doubled,
        true => Obstacle::There,
    }
}

/// The edges and faces among the vertices of the loops.
struct There {
    edges: HashSet<[u32; 2]>,
    faces: HashSet<[u32; 3]>,
}

impl There {
    fn around(loops: &[Loop], faces: &[[u32; 3]], vertices: usize) -> Self {
        let mut there = Self {
            edges: HashSet::new(),
            faces: HashSet::new(),
        };
        let mut is_at = vec![false; vertices];
        for &v in loops.iter().flat_map(|hole| &hole.vertices) {
            is_at[v as usize] = true;
        }
        for &face in faces {
            there.add(face, |v| is_at[v as usize]);
        }
        there
    }

    fn add(&mut self, mut face: [u32; 3], is_at: impl Fn(u32) -> bool) {
        let [a, b, c] = face;
        for edge in [[a, b], [b, c], [c, a]] {
            if is_at(edge[0]) && is_at(edge[1]) {
                self.edges.insert(sorted(edge));
            }
        }
        if face.iter().all(|&v| is_at(v)) {
            face.sort_unstable();
            self.faces.insert(face);
        }
    }

    /// Whether an edge is there.
    fn has(&self, edge: [u32; 2]) -> bool {
        self.edges.contains(&sorted(edge))
    }

    /// The faces in a loop, which are there from now on, with their edges. `None` if none are found without an edge
    /// that is there and without a degenerate face.
    fn fill(
        &mut self,
        vertices: &[u32],
        points: &[DVec3],
        ratio: f64,
    ) -> Result<Option<Vec<[u32; 3]>>> {
        let n = vertices.len();
        if n == 3 {
            let mut face = [vertices[0], vertices[1], vertices[2]];
            face.sort_unstable();
            if self.faces.contains(&face) {
                return Ok(None);
            }
        }
        let (mut faces, rest) = cut_ears(vertices, points, ratio, MOST_EDGES_BY_AREA, &|edge| {
            self.has(edge)
        })?;
        let corners: Vec<DVec3> = rest.iter().map(|&i| points[i]).collect();
        let rest: Vec<u32> = rest.iter().map(|&i| vertices[i]).collect();
        if rest.len() > MOST_EDGES_BY_AREA {
            return Ok(None);
        }
        let ears: HashSet<[u32; 2]> = faces
            .iter()
            .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]].map(sorted))
            .collect();
        let is_free = |edge: [u32; 2]| !(self.has(edge) || ears.contains(&sorted(edge)));
        let Some(inner) = least_area(&rest, &corners, ratio, is_free)? else {
            return Ok(None);
        };
        faces.extend(inner);
        for &face in &faces {
            self.add(face, |_| true);
        }
        Ok(Some(faces))
    }
}

/// The triangulation of least area of a loop by edges that are free, without degenerate faces.
fn least_area(
    vertices: &[u32],
    points: &[DVec3],
    ratio: f64,
    is_free: impl Fn([u32; 2]) -> bool,
) -> Result<Option<Vec<[u32; 3]>>> {
    let n = vertices.len();
    let places = scaled(points);
    let at = |i: usize, j: usize| i * n + j;
    // The least area between vertices i and j, and the third vertex of the triangle at the line from i to j.
    let mut least = vec![(f64::INFINITY, 0); n * n];
    for i in 0..n - 1 {
        least[at(i, i + 1)].0 = 0.0;
    }
    for width in 2..n {
        progress::check()?;
        for i in 0..n - width {
            let j = i + width;
            // The widest line is the loop's own side.
            if width < n - 1 && !is_free([vertices[i], vertices[j]]) {
                continue;
            }
            let mut best = (f64::INFINITY, 0);
            for m in i + 1..j {
                let sum = least[at(i, m)].0 + least[at(m, j)].0;
                if sum >= best.0 {
                    continue;
                }
                let corners = [points[j], points[m], points[i]];
                let twice = (places[m] - places[i]).cross(places[j] - places[i]);
                let sum = sum + 0.5 * twice.length();
                if sum < best.0 && !is_flat(corners, ratio) {
                    best = (sum, m);
                }
            }
            least[at(i, j)] = best;
        }
    }
    if !least[at(0, n - 1)].0.is_finite() {
        return Ok(None);
    }
    let mut faces = Vec::with_capacity(n - 2);
    let mut lines = vec![(0, n - 1)];
    while let Some((i, j)) = lines.pop() {
        if j - i > 1 {
            let m = least[at(i, j)].1;
            faces.push([vertices[j], vertices[m], vertices[i]]);
            lines.extend([(m, j), (i, m)]);
        }
    }
    Ok(Some(faces))
}
