//! Holes get faces.
//!
//! They are filled on the host: there are few, and the next one may not add the edges of one. The device
//! finds the boundary.

use std::collections::HashSet;

use glam::DVec3;
use gpu::ids::Item;
use gpu::repair as kernel;
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;

use super::state::{HostPoints, State, sides_at};
use super::{Counts, is_flat, sorted};
use crate::collective::compact;
use crate::{Result, progress};

/// A loop of boundary sides, from its lowest vertex on in the direction of the sides.
pub(super) struct Loop {
    pub vertices: Vec<u32>,
    /// The lowest face at it.
    face: u32,
}

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
            let loops = self.loops(&faces, most)?;
            counts.holes_left = 0;
            if loops.is_empty() {
                return Ok(());
            }
            let points = points.get(self)?;
            let is_planar = points.iter().all(|p| p.z == points[0].z);
            let point = |v: u32| points[self.input_vertex(v) as usize];
            let mut there = There::around(&loops, &faces, self.vertices());
            let mut sources: Vec<u32> = (0..faces.len() as u32).collect();
            for hole in loops {
                progress::check()?;
                if is_planar && is_outer(&hole.vertices, point) {
                    continue;
                }
                let corners: Vec<DVec3> = hole.vertices.iter().map(|&v| point(v)).collect();
                let Some(fill) = there.fill(&hole.vertices, &corners, ratio) else {
                    counts.holes_left += 1;
                    continue;
                };
                counts.filled += 1;
                counts.hole_faces += fill.len() as u64;
                sources.resize(sources.len() + fill.len(), hole.face);
                faces.extend(fill);
            }
            if sources.len() > self.faces.len() {
                self.replace(&faces, &sources)?;
            }
            Ok(())
        })
    }

    /// The loops of at most `most` boundary sides through vertices that have no others, by their lowest vertices.
    pub fn loops(&self, faces: &[[u32; 3]], most: u32) -> Result<Vec<Loop>> {
        let on = self.on;
        let order = self.sides()?;
        let mut found: Buffer<Bits<Item>> = self.bits(order.len())?;
        let n = order.len() as u32;
        kernel::find_boundary::launch(on, n, &order, &self.faces, &mut found)?;
        let boundary = sides_at(on, &order, &compact(on, &found)?)?;
        let boundary: Vec<u32> = on.download_rows(&boundary)?;
        drop(order);
        let side = |h: u32| {
            let (face, k) = (faces[h as usize / 3], h as usize % 3);
            (face[k], face[(k + 1) % 3], h / 3)
        };
        let mut sides: Vec<(u32, u32, u32)> = boundary.into_iter().map(side).collect();
        sides.sort_unstable();
        let mut targets: Vec<u32> = sides.iter().map(|side| side.1).collect();
        targets.sort_unstable();
        // The only side from a vertex, if one side alone runs to it too.
        let next = |v: u32| {
            let first = sides.partition_point(|side| side.0 < v);
            let is_one = |n: usize| n == 1;
            let from = sides[first..].iter().take_while(|side| side.0 == v).count();
            let at = targets.partition_point(|&target| target < v);
            let to = targets[at..]
                .iter()
                .take_while(|&&target| target == v)
                .count();
            (is_one(from) && is_one(to)).then(|| sides[first])
        };
        let mut loops = Vec::new();
        for &(start, ..) in &sides {
            let mut hole = Loop {
                vertices: Vec::new(),
                face: u32::MAX,
            };
            let mut v = start;
            while let Some((_, target, face)) = next(v) {
                hole.vertices.push(v);
                hole.face = hole.face.min(face);
                v = target;
                // A loop is that of its lowest vertex.
                if v <= start || hole.vertices.len() == most as usize {
                    break;
                }
            }
            if v == start && !hole.vertices.is_empty() {
                loops.push(hole);
            }
        }
        Ok(loops)
    }
}

/// Whether a loop of the plane runs around the mesh rather than around a hole: to the left.
fn is_outer(vertices: &[u32], point: impl Fn(u32) -> DVec3) -> bool {
    let base = point(vertices[0]);
    let corner = |i: usize| point(vertices[i % vertices.len()]) - base;
    let twice = (0..vertices.len()).map(|i| corner(i).cross(corner(i + 1)).z);
    twice.sum::<f64>() > 0.0
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
        if loops.is_empty() {
            return there;
        }
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

    /// The triangulation of least area of a loop, whose edges and faces are there from now on. `None` if each has an
    /// edge that is there, or a degenerate face.
    fn fill(&mut self, vertices: &[u32], points: &[DVec3], ratio: f64) -> Option<Vec<[u32; 3]>> {
        let n = vertices.len();
        if n == 3 {
            let mut face = [vertices[0], vertices[1], vertices[2]];
            face.sort_unstable();
            if self.faces.contains(&face) {
                return None;
            }
        }
        let at = |i: usize, j: usize| i * n + j;
        // The least area between vertices i and j, and the third vertex of the triangle at the line from i to j.
        let mut least = vec![(f64::INFINITY, 0); n * n];
        for i in 0..n - 1 {
            least[at(i, i + 1)].0 = 0.0;
        }
        for width in 2..n {
            for i in 0..n - width {
                let j = i + width;
                // The widest line is the loop's own side.
                let line = sorted([vertices[i], vertices[j]]);
                if width < n - 1 && self.edges.contains(&line) {
                    continue;
                }
                let mut best = (f64::INFINITY, 0);
                for m in i + 1..j {
                    let sum = least[at(i, m)].0 + least[at(m, j)].0;
                    if sum >= best.0 {
                        continue;
                    }
                    let corners = [points[j], points[m], points[i]];
                    let twice = (points[m] - points[i]).cross(points[j] - points[i]);
                    let sum = sum + 0.5 * twice.length();
                    if sum < best.0 && !is_flat(corners, ratio) {
                        best = (sum, m);
                    }
                }
                least[at(i, j)] = best;
            }
        }
        if !least[at(0, n - 1)].0.is_finite() {
            return None;
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
        for &face in &faces {
            self.add(face, |_| true);
        }
        Some(faces)
    }
}
