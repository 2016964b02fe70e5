//! Turns the faces of polyhedra outward.
//!
//! Formats such as VTK's demand no direction of a polyhedron's faces. The rules, each of which leaves as it is whatever
//! follows it already:
//!
//! 1. Within a polyhedron an edge is on an even number of faces (the polyhedron is closed), and these run along it as
//!    often one way as the other. A barrier, which has the polyhedron on both sides, cancels itself: it does not count.
//! 2. Of the separate surfaces of one polyhedron, a surface within the largest one bounds a cavity: it looks the other
//!    way.
//! 3. Two polyhedra see the face between them in opposite directions.
//! 4. The volume of all polyhedra that faces connect is positive.
//!
//! So a polyhedron that overlaps its neighbours stays inverted if only that keeps rule 3: it is counted. Signs of
//! volumes are exact ([`super::volumes`]); where a rule leaves a choice, the face or the polyhedron with the lowest id
//! stays as it is.

use std::collections::HashSet;
use std::f64::consts::PI;
use std::iter::repeat_n;

use glam::DVec3;

use super::PolyhedralMesh;
use super::volumes::volume;
use crate::links::Links;
use crate::mesh::NONE;
use crate::{Error, Result, parallel};

/// Polyhedra whose faces [`PolyhedralMesh::orient`] turned, or could not turn outward.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Oriented {
    /// Polyhedra with a face that was turned.
    pub turned: usize,
    /// Polyhedra with a negative volume in the result: they overlap their neighbours.
    pub inverted: usize,
    /// The first of these.
    pub first_inverted: Option<u32>,
}

impl Oriented {
    /// Returns a note on each kind of these, if there are any.
    pub fn notes(&self) -> Vec<String> {
        let polyhedra = |count: usize| match count {
            1 => "1 polyhedron".to_owned(),
            count => format!("{count} polyhedra"),
        };
        let mut notes = Vec::new();
        if self.turned > 0 {
            let turned = polyhedra(self.turned);
            notes.push(format!("faces of {turned} did not look outward: turned"));
        }
        if let Some(first) = self.first_inverted {
            let inverted = polyhedra(self.inverted);
            notes.push(format!(
                "{inverted} of negative volume, which neighbours overlap: first polyhedron {first}"
            ));
        }
        notes
    }
}

/// The surface of a polyhedron.
struct Shell {
    /// Whether each side is turned; empty if none is.
    flips: Vec<bool>,
    /// Volume within, after that.
    volume: f64,
}

impl Shell {
    fn is_flipped(&self, place: usize) -> bool {
        self.flips.get(place).is_some_and(|&flip| flip)
    }
}

impl PolyhedralMesh {
    /// Turns faces so that they look outward, by the rules of this module. Both sides of a face may be the same one,
    /// where its polyhedra list it in one direction ([`PolyhedraBuilder`](super::PolyhedraBuilder)). Vertex ids must be
    /// in range.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a polyhedron that is not closed or whose faces have no common direction, and for
    /// polyhedra that see a face from the same side whichever way they are turned.
    pub fn orient(&mut self) -> Result<Oriented> {
        // The places in `sides` of both sides of each face.
        let mut places = vec![[NONE; 2]; self.faces.len()];
        for (place, &side) in (0u32..).zip(&self.sides) {
            let both = &mut places[side as usize / 2];
            both[usize::from(both[0] != NONE)] = place;
        }
        let parts = parallel::map_pieces(self.len(), parallel::GRAIN, |range| {
            let mut work = Work::default();
            let shells = range.map(|p| work.shell(self, p, &places));
            shells.collect::<Vec<Result<Shell>>>()
        });
        let shells: Vec<Shell> = parts.into_iter().flatten().collect::<Result<_>>()?;
        let is_seen_twice = |both: &[u32; 2]| {
            both[1] != NONE && self.sides[both[0] as usize] == self.sides[both[1] as usize]
        };
        let is_outward = |shell: &Shell| shell.flips.is_empty() && shell.volume >= 0.0;
        if parallel::all(&shells, is_outward) && !parallel::any(&places, is_seen_twice) {
            return Ok(Oriented::default());
        }
        let is_turned = self.turns(&shells, &places)?;
        Ok(self.turn(&shells, &places, &is_turned))
    }

    /// Whether each polyhedron is turned as a whole, after the flips of its shell.
    fn turns(&self, shells: &[Shell], places: &[[u32; 2]]) -> Result<Vec<bool>> {
        let owners = self.owners();
        let mut links = Links::new(self.len());
        for (face, &[one, other]) in places.iter().enumerate() {
            if other == NONE || owners[one as usize] == owners[other as usize] {
                continue;
            }
            let [p, q] = [one, other].map(|place| owners[place as usize]);
            let [seen, also] = [(p, one), (q, other)].map(|(p, place)| {
                let flip =
                    shells[p as usize].is_flipped((place - self.offsets[p as usize]) as usize);
                (self.sides[place as usize] % 2 == 1) != flip
            });
            if !links.link(p, q, seen == also) {
                let vertices = self.faces.get(face);
                return Err(invalid(
                    q as usize,
                    format!(
                        "sees its face {vertices:?} from the same side as polyhedron {p}, whichever way they are turned: \
                         polyhedra must not overlap"
                    ),
                ));
            }
        }
        let roots: Vec<(u32, bool)> = (0..self.len() as u32).map(|p| links.find(p)).collect();
        let mut sums = vec![0.0; self.len()];
        for (&(root, turned), shell) in roots.iter().zip(shells) {
            let signed = if turned { -shell.volume } else { shell.volume };
            sums[root as usize] += signed;
        }
        let turned = roots
            .iter()
            .map(|&(root, turned)| turned != (sums[root as usize] < 0.0));
        Ok(turned.collect())
    }

    /// Turns sides. The first polyhedron of a face then sees it as it is stored.
    fn turn(&mut self, shells: &[Shell], places: &[[u32; 2]], is_turned: &[bool]) -> Oriented {
        let owners = self.owners();
        let mut has_flip = vec![false; self.len()];
        let mut flip = |place: u32| {
            let p = owners[place as usize] as usize;
            let flip = shells[p].is_flipped((place - self.offsets[p]) as usize) != is_turned[p];
            has_flip[p] |= flip;
            flip
        };
        for (face, both) in places.iter().enumerate() {
            let mut is_reversed = false;
            for (k, &place) in both.iter().enumerate().filter(|(_, place)| **place != NONE) {
                let side = &mut self.sides[place as usize];
                let is_odd = (*side % 2 == 1) != flip(place);
                if k == 0 {
                    is_reversed = is_odd;
                }
                *side = (2 * face + usize::from(is_odd != is_reversed)) as u32;
            }
            if is_reversed {
                let [begin, end] = [face, face + 1].map(|i| self.faces.offsets[i] as usize);
                self.faces.vertices[begin + 1..end].reverse();
            }
        }
        let is_inverted = |(shell, &turned): (&Shell, &bool)| match turned {
            true => shell.volume > 0.0,
            false => shell.volume < 0.0,
        };
        let inverted: Vec<bool> = shells.iter().zip(is_turned).map(is_inverted).collect();
        let count = |list: &[bool]| list.iter().filter(|&&is| is).count();
        Oriented {
            turned: count(&has_flip),
            inverted: count(&inverted),
            first_inverted: inverted.iter().position(|&is| is).map(|p| p as u32),
        }
    }

    /// The polyhedron of each place in `sides`.
    fn owners(&self) -> Vec<u32> {
        let all = (0..self.len()).flat_map(|p| repeat_n(p as u32, self.sides_of(p).len()));
        all.collect()
    }
}

fn invalid(p: usize, rule: String) -> Error {
    Error::Invalid {
        element: format!("polyhedron {p}"),
        rule,
    }
}

/// An edge of a face: its ends, the lower one first; the place of the side, and whether it runs downward.
type Edge = ([u32; 2], u32, bool);

/// Memory that one thread uses for all its polyhedra.
#[derive(Default)]
struct Work {
    edges: Vec<Edge>,
    triangles: Vec<[u32; 3]>,
    links: Links,
    /// Of each side, its surface as the lowest side of it, its place, and whether it is turned as compared with that.
    surfaces: Vec<(u32, u32, bool)>,
}

impl Work {
    /// The surface of polyhedron `p`, by the rules within a polyhedron; `places` has the places of both sides of each
    /// face.
    fn shell(&mut self, mesh: &PolyhedralMesh, p: usize, places: &[[u32; 2]]) -> Result<Shell> {
        let sides = mesh.sides_of(p);
        let own = mesh.offsets[p]..mesh.offsets[p + 1];
        let is_barrier = |side: u32| {
            places[side as usize / 2]
                .iter()
                .all(|place| own.contains(place))
        };
        self.list_edges(mesh, sides, &is_barrier);
        self.links.reset(sides.len());
        let is_balanced = self.link_sides(p)?;
        let mut flips = Vec::new();
        if !is_balanced {
            let all = 0..sides.len() as u32;
            flips = all.map(|i| self.links.find(i).1).collect();
            self.check_balance(p, &flips)?;
        }
        self.link_open(&flips);
        let is_flipped = |i: usize| flips.get(i) == Some(&true);
        self.surfaces.clear();
        for (i, _) in (0..).zip(sides).filter(|(_, side)| !is_barrier(**side)) {
            let root = self.links.find(i).0;
            self.surfaces.push((root, i, is_flipped(i as usize)));
        }
        let volume = self.turn_surfaces(mesh, p, is_balanced, &mut flips)?;
        // Of a barrier that the polyhedron lists twice in one direction, the second side is turned.
        for &side in sides.iter().filter(|side| is_barrier(**side)) {
            let [one, other] = places[side as usize / 2].map(|place| place - own.start);
            if sides[one as usize] == sides[other as usize] {
                flips.resize(sides.len(), false);
                flips[other as usize] = true;
            }
        }
        if !flips.contains(&true) {
            flips.clear();
        }
        Ok(Shell { flips, volume })
    }

    /// Turns surfaces of polyhedron `p`, so that they look outward or bound cavities. Returns the volume within.
    fn turn_surfaces(
        &mut self,
        mesh: &PolyhedralMesh,
        p: usize,
        is_balanced: bool,
        flips: &mut Vec<bool>,
    ) -> Result<f64> {
        let sides = mesh.sides_of(p);
        if self
            .surfaces
            .iter()
            .all(|side| side.0 == self.surfaces[0].0)
        {
            push_fans(mesh, sides, &self.surfaces, &mut self.triangles);
            return Ok(volume(&mesh.points, &self.triangles));
        }
        self.surfaces.sort_unstable();
        let surfaces: Vec<&[(u32, u32, bool)]> =
            self.surfaces.chunk_by(|a, b| a.0 == b.0).collect();
        let volumes = surfaces.iter().map(|surface| {
            push_fans(mesh, sides, surface, &mut self.triangles);
            volume(&mesh.points, &self.triangles)
        });
        let volumes: Vec<f64> = volumes.collect();
        let turned = match turned_surfaces(mesh, p, &surfaces, &volumes) {
            // Too many to look into each.
            Err(_) if is_balanced && are_cavities(&volumes) => vec![false; volumes.len()],
            turned => turned?,
        };
        flips.resize(sides.len(), false);
        for (surface, &turned) in surfaces.iter().zip(&turned) {
            surface
                .iter()
                .for_each(|&(_, i, _)| flips[i as usize] ^= turned);
        }
        let signed = volumes.iter().zip(&turned);
        let signed = signed.map(|(&v, &turned)| if turned { -v } else { v });
        Ok(signed.sum())
    }

    /// Lists the edges of all sides but those of barriers.
    fn list_edges(
        &mut self,
        mesh: &PolyhedralMesh,
        sides: &[u32],
        is_barrier: &impl Fn(u32) -> bool,
    ) {
        self.edges.clear();
        let counted = (0u32..).zip(sides).filter(|(_, side)| !is_barrier(**side));
        for (place, &side) in counted {
            let mut vertices = mesh.vertices_of(side);
            let Some(mut before) = vertices.next_back() else {
                continue;
            };
            for v in mesh.vertices_of(side) {
                let ends = [before.min(v), before.max(v)];
                self.edges.push((ends, place, before > v));
                before = v;
            }
        }
        self.edges.sort_unstable();
    }

    /// Links the sides at edges of two sides. Returns whether the sides run along all edges as often one way as the
    /// other already.
    fn link_sides(&mut self, p: usize) -> Result<bool> {
        let mut is_balanced = true;
        for uses in self.edges.chunk_by(|a, b| a.0 == b.0) {
            let &[(ends, one, direction), ..] = uses else {
                continue;
            };
            if uses.len() % 2 == 1 {
                return Err(invalid(p, not_closed(ends, uses.len())));
            }
            let [a, b] = ends;
            is_balanced &= balance(uses, &[]) == 0;
            if let &[_, (_, other, also)] = uses
                && !self.links.link(one, other, direction == also)
            {
                let rule = format!(
                    "has a surface with one side only, as a Möbius strip's: see its edge {a} - {b}"
                );
                return Err(invalid(p, rule));
            }
        }
        Ok(is_balanced)
    }

    /// Links the sides at edges of four sides or more where a surface is not closed without the others.
    fn link_open(&mut self, flips: &[bool]) {
        let mut roots: Vec<(u32, i64)> = Vec::new();
        for uses in self
            .edges
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|uses| uses.len() > 2)
        {
            roots.clear();
            for edge in uses {
                roots.push((self.links.find(edge.1).0, balance(&[*edge], flips)));
            }
            roots.sort_unstable();
            let mut surfaces = roots.chunk_by(|a, b| a.0 == b.0);
            if surfaces.all(|one| one.iter().map(|(_, way)| way).sum::<i64>() == 0) {
                continue;
            }
            let is_flipped = |place: u32| flips.get(place as usize) == Some(&true);
            let one = uses[0].1;
            for &(_, other, _) in &uses[1..] {
                self.links
                    .link(one, other, is_flipped(one) != is_flipped(other));
            }
        }
    }

    fn check_balance(&self, p: usize, flips: &[bool]) -> Result<()> {
        for uses in self.edges.chunk_by(|a, b| a.0 == b.0) {
            if balance(uses, flips) != 0 {
                let [a, b] = uses[0].0;
                let rule = format!(
                    "has {} faces at edge {a} - {b}, whose directions do not follow from the others: list them \
                     counter-clockwise as seen from outside",
                    uses.len()
                );
                return Err(invalid(p, rule));
            }
        }
        Ok(())
    }
}

fn not_closed([a, b]: [u32; 2], count: usize) -> String {
    match count {
        1 => format!("is not closed: only one of its faces has edge {a} - {b}"),
        _ => format!("is not closed: {count} of its faces have edge {a} - {b}, an odd number"),
    }
}

/// How many more sides run upward along an edge than downward.
fn balance(uses: &[Edge], flips: &[bool]) -> i64 {
    let way = |&(_, place, direction): &Edge| {
        let flip = flips.get(place as usize) == Some(&true);
        if direction != flip { -1 } else { 1 }
    };
    uses.iter().map(way).sum()
}

/// Replaces `triangles` by those of some of a polyhedron's sides, as these are turned. A side is cut from its lowest
/// vertex: in the same way for both directions.
fn push_fans(
    mesh: &PolyhedralMesh,
    sides: &[u32],
    surface: &[(u32, u32, bool)],
    triangles: &mut Vec<[u32; 3]>,
) {
    triangles.clear();
    for &(_, place, flip) in surface {
        let side = sides[place as usize];
        let face = mesh.faces.get(side as usize / 2);
        let n = face.len();
        let lowest = (0..n).min_by_key(|&i| face[i]).unwrap_or(0);
        let corner = |i: usize| face[(lowest + i) % n];
        let is_reversed = (side % 2 == 1) != flip;
        triangles.extend((1..n.max(1) - 1).map(|i| match is_reversed {
            false => [corner(0), corner(i), corner(i + 1)],
            true => [corner(0), corner(i + 1), corner(i)],
        }));
    }
}

/// The surface with the largest volume.
fn outer(volumes: &[f64]) -> usize {
    let largest = |one: usize, i: usize| {
        if volumes[i].abs() > volumes[one].abs() {
            i
        } else {
            one
        }
    };
    (0..volumes.len()).fold(0, largest)
}

/// Whether all surfaces but the largest look the other way than that.
fn are_cavities(volumes: &[f64]) -> bool {
    let outer = outer(volumes);
    let is_inward = volumes[outer] < 0.0;
    let mut others = volumes.iter().enumerate().filter(|&(i, _)| i != outer);
    others.all(|(_, &volume)| (volume < 0.0) != is_inward)
}

/// Most triangles that are looked at to find the surfaces within the largest one.
const MOST_LOOKS: usize = 50_000_000;

/// Whether each of several surfaces of polyhedron `p` is turned: surfaces within the largest one look inward.
fn turned_surfaces(
    mesh: &PolyhedralMesh,
    p: usize,
    surfaces: &[&[(u32, u32, bool)]],
    volumes: &[f64],
) -> Result<Vec<bool>> {
    let (outer, sides) = (outer(volumes), mesh.sides_of(p));
    let mut around = Vec::new();
    push_fans(mesh, sides, surfaces[outer], &mut around);
    if around.len().saturating_mul(surfaces.len()) > MOST_LOOKS {
        let count = surfaces.len();
        let rule = format!(
            "has {count} separate surfaces: list its faces counter-clockwise as seen from outside"
        );
        return Err(invalid(p, rule));
    }
    let vertices: HashSet<u32> = around.iter().flatten().copied().collect();
    let mut triangles = Vec::new();
    let mut is_within = |i: usize| {
        push_fans(mesh, sides, surfaces[i], &mut triangles);
        let mut corners = triangles.iter().flatten();
        // A surface that touches the largest one with all its vertices counts as one beside it.
        let apart = corners.find(|&v| !vertices.contains(v));
        apart.is_some_and(|&v| winding(&mesh.points, &around, mesh.points[v as usize]).abs() > 0.5)
    };
    let is_turned = |(i, &volume): (usize, &f64)| (volume < 0.0) != (i != outer && is_within(i));
    Ok(volumes.iter().enumerate().map(is_turned).collect())
}

/// How often a surface winds around a point: the solid angles of its triangles (van Oosterom and Strackee, 1983).
fn winding(points: &[DVec3], triangles: &[[u32; 3]], at: DVec3) -> f64 {
    let angle = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|v| points[v as usize] - at);
        let [x, y, z] = [a, b, c].map(DVec3::length);
        let below = x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y;
        2.0 * a.dot(b.cross(c)).atan2(below)
    };
    triangles.iter().map(angle).sum::<f64>() / (4.0 * PI)
}

#[cfg(test)]
mod tests;
