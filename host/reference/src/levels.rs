//! Nested levels, one pair after the other, with maps and sets: [`gpu::levels`] has the definition and the proofs.

mod solid;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use glam::DVec3;
use gpu::point::DoublePoint;

use trioxide::levels::{Goal, MOST_RATIO, Nested, hash};
use trioxide::mesh::{NONE, PolygonMesh};

pub use solid::levels_of_polyhedra;

/// The levels of a mesh, each of whose edges has at most two polygons.
pub fn levels<V: DoublePoint>(mesh: &PolygonMesh<V>, goal: Goal) -> Nested {
    let sides = Sides::of(mesh);
    nest(mesh.polygons.len(), goal, |pieces, count| {
        let mut level = Level::new(count);
        let mut outlines = vec![BTreeSet::new(); count];
        for (side, &polygon) in sides.polygons.iter().enumerate() {
            let vertex = mesh.polygons.vertices[side];
            let point = mesh.points[vertex as usize].in_space();
            let piece = pieces[polygon as usize];
            level.add_point(piece, point);
            let twin = sides.twins[side];
            let beyond = (twin != NONE).then(|| pieces[sides.polygons[twin as usize] as usize]);
            if beyond == Some(piece) {
                continue;
            }
            outlines[piece as usize].insert(vertex);
            if let Some(beyond) = beyond {
                let edge = Joint {
                    id: twin.min(side as u32),
                    measure: sides.lengths[side.min(twin as usize)],
                    is_fixed: sides.fixed[side],
                };
                level.add_joint(piece, beyond, edge);
            }
        }
        let is_one_path = move |p: u32, union: &[u32], edges: &BTreeSet<u32>| {
            let vertices = union.iter().flat_map(|&q| &outlines[q as usize]);
            let vertices: BTreeSet<u32> = vertices.copied().collect();
            let common = outlines[p as usize].intersection(&vertices).count();
            common == edges.len() + 1
        };
        (level, is_one_path)
    })
}

/// The levels of `polygons` polygons or polyhedra. `look` looks at the pieces of a level, by the piece of each polygon
/// and their number. Its second result says whether the common sides of a piece and a union are a path or a patch.
fn nest<S: Fn(u32, &[u32], &BTreeSet<u32>) -> bool>(
    polygons: usize,
    goal: Goal,
    look: impl Fn(&[u32], usize) -> (Level, S),
) -> Nested {
    let mut nested = Nested::new(polygons);
    let mut pieces: Vec<u32> = (0..polygons as u32).collect();
    let mut count = polygons;
    while goal.wants_more(nested.levels(), count) {
        let (level, is_simple) = look(&pieces, count);
        let made = [MOST_RATIO, f64::INFINITY]
            .into_iter()
            .find_map(|most_ratio| {
                let groups = level.join(&is_simple, most_ratio);
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
    fn of<V: DoublePoint>(mesh: &PolygonMesh<V>) -> Self {
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
                let [a, b] = [from, to].map(|v| mesh.points[v as usize].in_space());
                let d = b - a;
                sides
                    .lengths
                    .push((d.x * d.x + d.y * d.y + d.z * d.z).sqrt());
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

/// An edge or a face between two pieces.
#[derive(Clone, Copy)]
struct Joint {
    id: u32,
    /// Its length or area.
    measure: f64,
    is_fixed: bool,
}

/// The pieces of a level.
struct Level {
    /// The edges or faces that each piece has in common with each other one.
    borders: Vec<BTreeMap<u32, Vec<Joint>>>,
    boxes: Vec<[DVec3; 2]>,
    is_solid: bool,
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

impl Level {
    /// `count` pieces.
    fn new(count: usize) -> Self {
        let nothing = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        Self {
            borders: vec![BTreeMap::new(); count],
            boxes: vec![nothing; count],
            is_solid: false,
        }
    }

    fn add_point(&mut self, piece: u32, point: DVec3) {
        let extent = &mut self.boxes[piece as usize];
        *extent = around(*extent, [point; 2]);
    }

    fn add_joint(&mut self, piece: u32, beyond: u32, joint: Joint) {
        let border = &mut self.borders[piece as usize];
        border.entry(beyond).or_default().push(joint);
    }

    /// The measure of the border of a piece and others, if it may join them.
    fn measure(
        &self,
        (p, union): (u32, &[u32]),
        is_simple: &impl Fn(u32, &[u32], &BTreeSet<u32>) -> bool,
        most_ratio: f64,
    ) -> Option<f64> {
        let borders = &self.borders[p as usize];
        let joints = union.iter().filter_map(|q| borders.get(q)).flatten();
        let joints: BTreeMap<u32, Joint> = joints.map(|joint| (joint.id, *joint)).collect();
        let is_free = joints.values().all(|joint| !joint.is_fixed);
        let own = self.boxes[p as usize];
        let boxes = union.iter().map(|&q| self.boxes[q as usize]);
        let theirs = boxes.reduce(around).expect("a piece");
        let ratio = |extent| ratio(extent, self.is_solid);
        let together = ratio(around(own, theirs));
        let is_long = together > most_ratio && together > ratio(own) && together > ratio(theirs);
        let ids: BTreeSet<u32> = joints.keys().copied().collect();
        let may_join = is_free && !is_long && !ids.is_empty() && is_simple(p, union, &ids);
        may_join.then(|| joints.values().fold(0.0, |sum, joint| sum + joint.measure))
    }

    fn join(
        &self,
        is_simple: &impl Fn(u32, &[u32], &BTreeSet<u32>) -> bool,
        most_ratio: f64,
    ) -> Groups {
        let count = self.borders.len() as u32;
        let measure = |p, union: &[u32]| self.measure((p, union), is_simple, most_ratio);
        let mut groups = Groups {
            of: vec![None; count as usize],
            members: BTreeMap::new(),
        };
        let mut pairs: Vec<Candidate> = Vec::new();
        for p in 0..count {
            let beyond = self.borders[p as usize].keys().filter(|&&q| p < q);
            pairs.extend(beyond.filter_map(|&q| Some(candidate(measure(p, &[q])?, p, q))));
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
                        let length = measure(p, &groups.members[&group])?;
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

fn around([a, b]: [DVec3; 2], [c, d]: [DVec3; 2]) -> [DVec3; 2] {
    [a.min(c), b.max(d)]
}

/// The longest side of a box by the shortest, or by the middle one.
fn ratio([low, high]: [DVec3; 2], is_solid: bool) -> f64 {
    let mut size = (high - low).to_array();
    size.sort_by(f64::total_cmp);
    size[2] / size[usize::from(!is_solid)]
}
