//! Nested levels, one pair after the other, with maps and sets: [`gpu::levels`] has the definition and the proofs.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use glam::DVec2;

use trioxide::levels::{Goal, MOST_RATIO, Nested, hash};
use trioxide::mesh::{NONE, PolygonMesh};

/// The levels of a mesh, each of whose edges has at most two polygons.
pub fn levels(mesh: &PolygonMesh, goal: Goal) -> Nested {
    let sides = Sides::of(mesh);
    let mut nested = Nested::new(mesh.polygons.len());
    let mut pieces = sides.polygons.clone();
    let mut count = mesh.polygons.len();
    while goal.wants_more(nested.levels(), count) {
        let made = [MOST_RATIO, f64::INFINITY]
            .into_iter()
            .find_map(|most_ratio| {
                let level = Level::of(mesh, &sides, &pieces, count, most_ratio);
                let groups = level.join();
                (!groups.members.is_empty()).then_some(groups)
            });
        let Some(groups) = made else {
            nested.is_stuck = true;
            break;
        };
        let mut parents = vec![NONE; count];
        count = 0;
        for (p, &group) in groups.of.iter().enumerate() {
            match group {
                Some(group) if group != p as u32 => continue,
                Some(group) => {
                    for &member in &groups.members[&group] {
                        parents[member as usize] = count as u32;
                    }
                }
                None => parents[p] = count as u32,
            }
            count += 1;
        }
        for piece in &mut pieces {
            *piece = parents[*piece as usize];
        }
        nested.push(parents, count);
    }
    nested
}

/// The sides of the polygons: side c runs from corner c to the next.
struct Sides {
    polygons: Vec<u32>,
    twins: Vec<u32>,
    lengths: Vec<f64>,
    fixed: Vec<bool>,
}

impl Sides {
    fn of(mesh: &PolygonMesh) -> Self {
        let mut sides = Self {
            polygons: Vec::new(),
            twins: vec![NONE; mesh.polygons.vertices.len()],
            lengths: Vec::new(),
            fixed: Vec::new(),
        };
        let segments: HashSet<[u32; 2]> = mesh
            .segments
            .iter()
            .map(|segment| sorted(segment.ends))
            .collect();
        let mut first: HashMap<[u32; 2], usize> = HashMap::new();
        for (i, polygon) in mesh.polygons.iter().enumerate() {
            let is_pinched = polygon.iter().collect::<HashSet<_>>().len() < polygon.len();
            for (k, &from) in polygon.iter().enumerate() {
                let to = polygon[(k + 1) % polygon.len()];
                let side = sides.polygons.len();
                sides.polygons.push(i as u32);
                let d = mesh.points[to as usize] - mesh.points[from as usize];
                sides.lengths.push((d.x * d.x + d.y * d.y).sqrt());
                let ends = sorted([from, to]);
                sides.fixed.push(is_pinched || segments.contains(&ends));
                if let Some(&twin) = first.get(&ends) {
                    (sides.twins[side], sides.twins[twin]) = (twin as u32, side as u32);
                    let regions = mesh.regions.as_ref().map(|regions| {
                        [side, twin].map(|side| regions[sides.polygons[side] as usize])
                    });
                    let is_fixed = sides.fixed[side]
                        || sides.fixed[twin]
                        || regions.is_some_and(|[a, b]| a != b);
                    (sides.fixed[side], sides.fixed[twin]) = (is_fixed, is_fixed);
                }
                first.insert(ends, side);
            }
        }
        sides
    }
}

fn sorted(mut ends: [u32; 2]) -> [u32; 2] {
    ends.sort_unstable();
    ends
}

/// The pieces of a level.
struct Level<'a> {
    sides: &'a Sides,
    /// The vertices of each piece's outline.
    outlines: Vec<BTreeSet<u32>>,
    /// The edges that each piece has in common with each other one.
    borders: Vec<BTreeMap<u32, Vec<u32>>>,
    boxes: Vec<[DVec2; 2]>,
    most_ratio: f64,
}

/// Pieces that joined.
struct Groups {
    /// The pair that each piece belongs to, by its lower piece.
    of: Vec<Option<u32>>,
    members: BTreeMap<u32, Vec<u32>>,
}

/// Length of the border, hash, lower and higher piece.
type Candidate = (f64, u64, u32, u32);

fn candidate(length: f64, a: u32, b: u32) -> Candidate {
    (length, hash(a, b), a.min(b), a.max(b))
}

impl<'a> Level<'a> {
    fn of(
        mesh: &PolygonMesh,
        sides: &'a Sides,
        pieces: &[u32],
        count: usize,
        most_ratio: f64,
    ) -> Self {
        let nothing = [DVec2::INFINITY, DVec2::NEG_INFINITY];
        let mut level = Self {
            sides,
            outlines: vec![BTreeSet::new(); count],
            borders: vec![BTreeMap::new(); count],
            boxes: vec![nothing; count],
            most_ratio,
        };
        for (side, &piece) in pieces.iter().enumerate() {
            let vertex = mesh.polygons.vertices[side];
            let point = mesh.points[vertex as usize];
            let piece = piece as usize;
            level.boxes[piece] = around(level.boxes[piece], [point; 2]);
            let twin = sides.twins[side];
            let beyond = (twin != NONE).then(|| pieces[twin as usize]);
            if beyond == Some(piece as u32) {
                continue;
            }
            level.outlines[piece].insert(vertex);
            if let Some(beyond) = beyond {
                let edges = level.borders[piece].entry(beyond).or_default();
                edges.push(twin.min(side as u32));
            }
        }
        level
    }

    /// The length of the border of a piece and others, if it may join them.
    fn measure(&self, p: u32, union: &[u32]) -> Option<f64> {
        let borders = &self.borders[p as usize];
        let edges = union.iter().filter_map(|q| borders.get(q)).flatten();
        let edges: BTreeSet<u32> = edges.copied().collect();
        let vertices = union.iter().flat_map(|&q| &self.outlines[q as usize]);
        let vertices: BTreeSet<u32> = vertices.copied().collect();
        let common = self.outlines[p as usize].intersection(&vertices).count();
        let is_free = edges.iter().all(|&edge| !self.sides.fixed[edge as usize]);
        let own = self.boxes[p as usize];
        let boxes = union.iter().map(|&q| self.boxes[q as usize]);
        let theirs = boxes.reduce(around).expect("a piece");
        let together = ratio(around(own, theirs));
        let is_long =
            together > self.most_ratio && together > ratio(own) && together > ratio(theirs);
        let may_join = is_free && !is_long && !edges.is_empty() && common == edges.len() + 1;
        may_join.then(|| {
            let lengths = edges.iter().map(|&edge| self.sides.lengths[edge as usize]);
            lengths.fold(0.0, |sum, length| sum + length)
        })
    }

    fn join(&self) -> Groups {
        let count = self.outlines.len() as u32;
        let mut groups = Groups {
            of: vec![None; count as usize],
            members: BTreeMap::new(),
        };
        let mut pairs: Vec<Candidate> = Vec::new();
        for p in 0..count {
            let beyond = self.borders[p as usize].keys().filter(|&&q| p < q);
            pairs.extend(beyond.filter_map(|&q| Some(candidate(self.measure(p, &[q])?, p, q))));
        }
        pairs.sort_by(|a, b| b.partial_cmp(a).expect("no NaN"));
        for (_, _, p, q) in pairs {
            if groups.of[p as usize].is_none() && groups.of[q as usize].is_none() {
                groups.of[p as usize] = Some(p);
                groups.of[q as usize] = Some(p);
                groups.members.insert(p, vec![p, q]);
            }
        }
        loop {
            // The first of the pieces that choose each pair.
            let mut first: BTreeMap<u32, (Candidate, u32)> = BTreeMap::new();
            for p in (0..count).filter(|&p| groups.of[p as usize].is_none()) {
                let beyond = self.borders[p as usize].keys();
                let near: BTreeSet<u32> = beyond.filter_map(|&q| groups.of[q as usize]).collect();
                let best = near
                    .into_iter()
                    .filter(|group| groups.members[group].len() < 4)
                    .filter_map(|group| {
                        let length = self.measure(p, &groups.members[&group])?;
                        Some((candidate(length, p, group), group))
                    })
                    .max_by(|a, b| a.partial_cmp(b).expect("no NaN"));
                if let Some((choice, group)) = best {
                    let chosen = first.entry(group).or_insert((choice, p));
                    if choice > chosen.0 {
                        *chosen = (choice, p);
                    }
                }
            }
            if first.is_empty() {
                return groups;
            }
            for (group, (_, p)) in first {
                groups.of[p as usize] = Some(group);
                groups.members.entry(group).or_default().push(p);
            }
        }
    }
}

fn around([a, b]: [DVec2; 2], [c, d]: [DVec2; 2]) -> [DVec2; 2] {
    [a.min(c), b.max(d)]
}

fn ratio([low, high]: [DVec2; 2]) -> f64 {
    let size = high - low;
    size.max_element() / size.min_element()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Squares of a grid of `columns` and `rows`.
    fn squares(columns: u32, rows: u32) -> PolygonMesh {
        let mut mesh = PolygonMesh::default();
        let vertex = |x: u32, y: u32| y * (columns + 1) + x;
        for y in 0..=rows {
            mesh.points
                .extend((0..=columns).map(|x| DVec2::new(f64::from(x), f64::from(y))));
        }
        for (x, y) in (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y))) {
            mesh.polygons.push(&[
                vertex(x, y),
                vertex(x + 1, y),
                vertex(x + 1, y + 1),
                vertex(x, y + 1),
            ]);
        }
        mesh
    }

    fn until(pieces: usize) -> Goal {
        Goal {
            levels: None,
            until: Some(pieces),
        }
    }

    #[test]
    fn pieces_of_a_grid_are_two_to_four_and_at_most_four_times_as_long_as_wide() {
        let mesh = squares(60, 60);
        let nested = levels(&mesh, until(4));
        assert!(!nested.is_stuck);
        for level in 1..=nested.levels() {
            let mut sizes = vec![0; nested.pieces(level)];
            for &parent in nested.parents(level) {
                sizes[parent as usize] += 1;
            }
            assert!(
                sizes.iter().all(|size| (2..=4).contains(size)),
                "level {level}"
            );
            let pieces = nested.mesh(&mesh, level);
            for polygon in pieces.polygons.iter() {
                let corners = polygon.iter().map(|&v| [mesh.points[v as usize]; 2]);
                assert!(
                    ratio(corners.reduce(around).unwrap()) <= 4.0,
                    "level {level}"
                );
            }
        }
    }

    #[test]
    fn nothing_is_enclosed() {
        // A square with another one inside, which touches it nowhere: a ring of 4 trapezia around it.
        let points = [
            (0, 0),
            (9, 0),
            (9, 9),
            (0, 9),
            (4, 4),
            (5, 4),
            (5, 5),
            (4, 5),
        ];
        let mut mesh = PolygonMesh {
            points: points.map(|(x, y)| DVec2::new(x.into(), y.into())).to_vec(),
            ..PolygonMesh::default()
        };
        for ring in [
            [0, 1, 5, 4],
            [1, 2, 6, 5],
            [2, 3, 7, 6],
            [3, 0, 4, 7],
            [4, 5, 6, 7],
        ] {
            mesh.polygons.push(&ring);
        }
        let nested = levels(&mesh, until(1));
        assert_eq!(nested.pieces(nested.levels()), 1);
        for level in 1..=nested.levels() {
            for polygon in nested.mesh(&mesh, level).polygons.iter() {
                let distinct: BTreeSet<_> = polygon.iter().collect();
                assert_eq!(distinct.len(), polygon.len());
            }
        }
        // Without the inner square the ring never closes.
        mesh.polygons.offsets.pop();
        mesh.polygons.vertices.truncate(16);
        let nested = levels(&mesh, until(1));
        assert!(nested.is_stuck);
        assert_eq!(nested.pieces(nested.levels()), 2);
    }

    #[test]
    fn regions_segments_and_polygons_that_visit_a_vertex_twice_stay() {
        let mut mesh = squares(4, 2);
        mesh.regions = Some(vec![1, 1, 2, 2, 1, 1, 2, 2]);
        let nested = levels(&mesh, until(1));
        assert!(nested.is_stuck);
        let all = nested.ancestors(nested.levels());
        assert_eq!(all, [0, 0, 1, 1, 0, 0, 1, 1]);

        // A strip of squares has one way to be cut: boxes of 4 to 1, and longer ones where nothing else is left.
        let strip = squares(32, 1);
        let nested = levels(&strip, until(1));
        assert_eq!(nested.pieces(nested.levels()), 1);

        // A polygon that touches itself, around a triangle.
        let points = [(0, 0), (6, 0), (6, 6), (0, 6), (2, 2), (2, 4), (9, 3)];
        let mut pinched = PolygonMesh {
            points: points.map(|(x, y)| DVec2::new(x.into(), y.into())).to_vec(),
            ..PolygonMesh::default()
        };
        pinched.polygons.push(&[0, 1, 2, 3, 0, 5, 4]);
        pinched.polygons.push(&[0, 4, 5]);
        pinched.polygons.push(&[1, 6, 2]);
        let nested = levels(&pinched, until(1));
        assert!(nested.is_stuck && nested.levels() == 0);
    }
}
