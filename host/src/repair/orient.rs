//! The orientation of components. The head of [`gpu::repair`] defines it.
//!
//! The device joins faces, finds the boundary and the majority of each component. The host reads each face once, all
//! its threads beside each other, and inverts the components whose volume or place in the plane says so: a volume's
//! sign is exact, so it does not depend on the order of its sum.

use std::ops::Range;

use glam::DVec3;
use gpu::ids::{HalfEdge, Item, Triangle};
use gpu::repair as kernel;
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;

use super::exact::{Sum, rounded, surely, turn};
use super::nesting::{self, Body, for_each_triangle};
use super::state::{HostPoints, State, ids, sides_at};
use super::{Counts, sorted};
use crate::Result;
use crate::collective::{compact, count_bits};
use crate::edge_table::EdgeTable;
use crate::mesh::Faces;
use trioxide_mesh::parallel;

/// Faces joined across edges, and their majority.
pub(super) struct Joined {
    /// The lowest element of the part of each face as it is, and of the turned face: 2t and 2t + 1 of face t.
    pub labels: Vec<u32>,
    /// A bit of each face that the majority of its component turns.
    pub turned: Vec<u32>,
}

impl Joined {
    /// The lowest face of the component of face `t`.
    pub fn root(&self, t: usize) -> usize {
        self.labels[2 * t].min(self.labels[2 * t + 1]) as usize / 2
    }

    /// Whether the component of face `t` has no orientation.
    pub fn is_one_sided(&self, t: usize) -> bool {
        self.labels[2 * t] == self.labels[2 * t + 1]
    }

    pub fn is_turned(&self, t: usize) -> bool {
        is_set(&self.turned, t)
    }
}

fn is_set(bits: &[u32], i: usize) -> bool {
    bits[i / 32] >> (i % 32) & 1 == 1
}

/// A side that joins no faces: the ascending ends of its edge, its face, and whether it runs upwards.
pub(super) type Loose = ([u32; 2], u32, bool);

/// Measures of a component.
#[derive(Clone, Default)]
struct Component {
    /// Sides of other edges than those of two sides do not cancel each other.
    is_open: bool,
    is_one_sided: bool,
    /// Its volume by tetrahedra in double precision, and their size.
    volume: [f64; 2],
    faces: usize,
    /// Faces that run counter-clockwise in the plane less the clockwise ones.
    turns: i64,
}

/// Inverts the components whose orientation is not that of their majority, in `joined.turned`. `loose` ascends.
pub(super) fn decide(
    faces: &Faces,
    point: &(impl Fn(u32) -> DVec3 + Sync),
    loose: &[Loose],
    joined: &mut Joined,
) {
    let n = faces.len();
    if n == 0 {
        return;
    }
    let turned = std::mem::take(&mut joined.turned);
    let corners_of = |t: usize, list: &mut Vec<DVec3>| {
        list.clear();
        list.extend(faces.get(t).iter().map(|&v| point(v)));
        if is_set(&turned, t) {
            list.reverse();
        }
    };
    let (mut components, of_face) = components(n, loose, joined, &turned);
    let base = point(faces.get(0).first().copied().unwrap_or_default());
    let is_planar =
        parallel::find(n, |t| faces.get(t).iter().any(|&v| point(v).z != base.z)).is_none();
    let is_body = |c: &Component| !(c.is_open || c.is_one_sided);
    let mut is_inverted = vec![false; components.len()];
    if is_planar {
        let turns = runs(&of_face, |range, run: &mut i64| {
            let mut corners = Vec::new();
            for t in range {
                corners_of(t, &mut corners);
                *run += i64::from(turn(&corners));
            }
        });
        for (c, turns) in turns {
            components[c as usize].turns += turns;
        }
        for (inverted, component) in is_inverted.iter_mut().zip(&components) {
            *inverted = component.turns < 0 && !component.is_one_sided;
        }
    } else {
        let volumes = runs(&of_face, |range, run: &mut ([f64; 2], usize)| {
            if !is_body(&components[of_face[range.start] as usize]) {
                return;
            }
            let mut corners = Vec::new();
            for t in range {
                corners_of(t, &mut corners);
                for_each_triangle(&corners, |corners| {
                    let [value, size] = rounded(corners.map(|p| p - base));
                    run.0[0] += value;
                    run.0[1] += size;
                    run.1 += 1;
                });
            }
        });
        for (c, ([value, size], count)) in volumes {
            let component = &mut components[c as usize];
            component.volume[0] += value;
            component.volume[1] += size;
            component.faces += count;
        }
        let sums = exact_volumes(n, &components, &of_face, is_body, corners_of);
        let mut bodies = Vec::new();
        for (c, (component, exact)) in components.iter().zip(sums).enumerate() {
            let sign = match exact {
                Some(sum) => sum.sign(),
                None => surely(component.volume, component.faces).unwrap_or(0),
            };
            if is_body(component) && sign != 0 {
                let body = Body {
                    component: c as u32,
                    is_outward: sign > 0,
                };
                bodies.push(body);
            }
        }
        let is_cavity = nesting::cavities(faces, point, &of_face, &bodies);
        for (body, is_cavity) in bodies.iter().zip(is_cavity) {
            is_inverted[body.component as usize] = body.is_outward == is_cavity;
        }
    }
    joined.turned = turned;
    if is_inverted.contains(&true) {
        parallel::for_chunks_mut(&mut joined.turned, WORDS, |chunk, words| {
            for (word, w) in words.iter_mut().zip(chunk * WORDS..) {
                for t in 32 * w..n.min(32 * w + 32) {
                    *word ^= u32::from(is_inverted[of_face[t] as usize]) << (t % 32);
                }
            }
        });
    }
}

/// Words of bits of faces that one thread inverts at once.
const WORDS: usize = 1 << 10;

/// A value for each run of successive faces of one component, with the component, in the order of the faces. Long runs
/// are cut, in the same places for any number of threads.
fn runs<T: Default + Send>(
    of_face: &[u32],
    value: impl Fn(Range<usize>, &mut T) + Sync,
) -> Vec<(u32, T)> {
    let parts = parallel::map_pieces(of_face.len(), parallel::GRAIN, |range| {
        let mut begin = range.start;
        let of_piece = of_face[range].chunk_by(|a, b| a == b);
        let run = of_piece.map(|run| {
            let mut found = (run[0], T::default());
            value(begin..begin + run.len(), &mut found.1);
            begin += run.len();
            found
        });
        run.collect::<Vec<_>>()
    });
    parallel::concat(parts)
}

/// The components in the order of their lowest faces, and the one of each face.
fn components(
    n: usize,
    loose: &[Loose],
    joined: &Joined,
    turned: &[u32],
) -> (Vec<Component>, Vec<u32>) {
    let roots: Vec<u32> = parallel::collect_where(n, |t| joined.root(t) == t, |t| t as u32);
    let of_face = parallel::collect(n, |t| {
        roots.partition_point(|&root| (root as usize) < joined.root(t)) as u32
    });
    let mut components: Vec<Component> = (roots.iter())
        .map(|&root| Component {
            is_one_sided: joined.is_one_sided(root as usize),
            ..Component::default()
        })
        .collect();
    // Of each edge, the sides of a component must cancel each other.
    let mut sides: Vec<(u32, bool)> = Vec::new();
    for group in loose.chunk_by(|a, b| a.0 == b.0) {
        sides.clear();
        sides.extend(group.iter().map(|&(_, face, runs_up)| {
            let is_up = runs_up ^ is_set(turned, face as usize);
            (of_face[face as usize], is_up)
        }));
        sides.sort_unstable();
        for of_one in sides.chunk_by(|a, b| a.0 == b.0) {
            let up = of_one.iter().filter(|side| side.1).count();
            components[of_one[0].0 as usize].is_open |= 2 * up != of_one.len();
        }
    }
    (components, of_face)
}

/// The exact volumes of the bodies whose rounded one does not decide.
fn exact_volumes(
    n: usize,
    components: &[Component],
    of_face: &[u32],
    is_body: impl Fn(&Component) -> bool,
    corners_of: impl Fn(usize, &mut Vec<DVec3>),
) -> Vec<Option<Box<Sum>>> {
    let unsure = |c: &Component| is_body(c) && surely(c.volume, c.faces).is_none();
    let sums = components
        .iter()
        .map(|c| unsure(c).then(|| Box::new(Sum::new())));
    let mut sums: Vec<Option<Box<Sum>>> = sums.collect();
    if sums.iter().any(Option::is_some) {
        let mut corners = Vec::new();
        for t in 0..n {
            if let Some(sum) = &mut sums[of_face[t] as usize] {
                corners_of(t, &mut corners);
                for_each_triangle(&corners, |corners| sum.add(corners, 1.0));
            }
        }
    }
    sums
}

impl State<'_> {
    /// Orients components.
    pub fn orient(&mut self, points: &HostPoints<'_>, counts: &mut Counts) -> Result<()> {
        self.on.stage("orientation", || {
            let (turned, one_sided) = self.turned(points)?;
            let n = self.faces.len() as u32;
            kernel::turn_faces::launch(self.on, n, &turned, &mut self.faces)?;
            counts.turned += u64::from(count_bits(self.on, &turned)?);
            counts.one_sided = u64::from(one_sided);
            Ok(())
        })
    }

    /// Turns all faces.
    pub fn flip(&mut self, counts: &mut Counts) -> Result<()> {
        let n = self.faces.len();
        let all = self
            .on
            .filled(n.div_ceil(32), Bits::<Triangle>::new(u32::MAX))?;
        kernel::turn_faces::launch(self.on, n as u32, &all, &mut self.faces)?;
        counts.turned_over += n as u64;
        Ok(())
    }

    /// The faces to turn, and the number of one-sided components.
    pub fn turned(&self, points: &HostPoints<'_>) -> Result<(Buffer<Bits<Triangle>>, u32)> {
        let (on, n) = (self.on, self.faces.len());
        let order = self.sides()?;
        let (labels, turned, one_sided) = self.majority(&order)?;
        let mut joined = Joined {
            labels: on.download(&labels)?,
            turned: on.download_rows(&turned)?,
        };
        let faces = self.download_faces()?;
        let loose = self.loose(&order, &faces)?;
        drop((labels, turned, order));
        let points = points.get(self)?;
        let point = |v: u32| points[self.input_vertex(v) as usize];
        decide(&Faces::Triangles(faces), &point, &loose, &mut joined);
        debug_assert_eq!(joined.turned.len(), n.div_ceil(32));
        Ok((on.upload(&joined.turned)?.cast(), one_sided))
    }

    /// The labels of the faces' orientations, the faces that the majority of their component turns, and the number of
    /// one-sided components.
    pub fn majority(
        &self,
        order: &Buffer<HalfEdge>,
    ) -> Result<(Buffer<u32>, Buffer<Bits<Triangle>>, u32)> {
        let (on, n) = (self.on, self.faces.len());
        let links = self.links::<false>(order)?;
        let mut parents = ids(on, 2 * n)?;
        let sides = 3 * n as u32;
        kernel::join_turned::launch(on, sides, &links, &self.faces, &mut parents)?;
        drop(links);
        let labels = self.labels(parents)?;
        let mut counts = on.filled(2 * n, 0)?;
        kernel::count_oriented::launch(on, n as u32, &labels, &mut counts)?;
        let mut turned = self.bits(n)?;
        kernel::find_turned::launch(on, n as u32, &labels, &counts, &mut turned)?;
        let mut one_sided: Buffer<Bits<Triangle>> = self.bits(n)?;
        kernel::find_one_sided::launch(on, n as u32, &labels, &mut one_sided)?;
        let one_sided = count_bits(on, &one_sided)?;
        Ok((labels, turned, one_sided))
    }

    /// The sides of boundary and crowded edges, by their edges.
    fn loose(&self, order: &Buffer<HalfEdge>, faces: &[[u32; 3]]) -> Result<Vec<Loose>> {
        let (on, n) = (self.on, order.len() as u32);
        let mut found: Buffer<Bits<Item>> = self.bits(order.len())?;
        kernel::find_boundary::launch(on, n, order, &self.faces, &mut found)?;
        let boundary = sides_at(on, order, &compact(on, &found)?)?;
        let mut sides: Vec<u32> = on.download_rows(&boundary)?;
        sides.extend(on.download_rows::<_, u32>(&self.crowded(order)?)?);
        let row = |&h: &u32| {
            let (face, k) = (faces[h as usize / 3], h as usize % 3);
            let ends = [face[k], face[(k + 1) % 3]];
            (sorted(ends), h / 3, ends[0] < ends[1])
        };
        let mut rows: Vec<Loose> = sides.iter().map(row).collect();
        rows.sort_unstable();
        Ok(rows)
    }
}

/// Turns the polygons of a mesh as components of triangles are turned: their first vertices stay. Returns the number of
/// turned polygons and of one-sided components. Vertex ids must be in range.
pub fn orient_polygons(points: &[DVec3], faces: &mut Faces) -> (u64, u64) {
    let Faces::Polygons(polygons) = &*faces else {
        return (0, 0);
    };
    let n = polygons.len();
    let face_of =
        |corner: u32| polygons.offsets.partition_point(|&start| start <= corner) as u32 - 1;
    let mut parents: Vec<u32> = (0..2 * n as u32).collect();
    let mut loose = Vec::new();
    let table = EdgeTable::of_polygons(points.len(), polygons);
    for (ends @ [low, high], sides) in table.edges() {
        if low == high {
            continue;
        }
        let mut row = sides.iter().map(|&(_, corner)| {
            let runs_up = polygons.vertices[corner as usize] == low;
            (ends, face_of(corner), runs_up)
        });
        match (sides.len(), row.next(), row.next()) {
            (2, Some((_, a, up)), Some((_, b, other))) => {
                let turn = u32::from(up == other);
                join(&mut parents, 2 * a, 2 * b + turn);
                join(&mut parents, 2 * a + 1, 2 * b + 1 - turn);
            }
            (_, first, second) => loose.extend(first.into_iter().chain(second).chain(row)),
        }
    }
    let labels: Vec<u32> = (0..2 * n as u32).map(|i| root(&mut parents, i)).collect();
    let mut fit = vec![0u32; 2 * n];
    (0..n).for_each(|t| fit[labels[2 * t] as usize] += 1);
    let mut turned = vec![0u32; n.div_ceil(32)];
    for t in 0..n {
        let [own, other] = [labels[2 * t], labels[2 * t + 1]];
        let [kept, gone] = [fit[own as usize], fit[other as usize]];
        let is_turned = kept < gone || kept == gone && other < own;
        turned[t / 32] |= u32::from(is_turned) << (t % 32);
    }
    let mut joined = Joined { labels, turned };
    decide(faces, &|v: u32| points[v as usize], &loose, &mut joined);
    let is_first = |t: &usize| joined.is_one_sided(*t) && joined.root(*t) == *t;
    let one_sided = (0..n).filter(is_first).count() as u64;
    let turned: Vec<usize> = (0..n).filter(|&t| joined.is_turned(t)).collect();
    turn_polygons(faces, turned.iter().copied());
    (turned.len() as u64, one_sided)
}

/// Turns faces: their first vertices stay.
pub fn turn_polygons(faces: &mut Faces, turned: impl IntoIterator<Item = usize>) {
    for t in turned {
        match faces {
            Faces::Triangles(triangles) => triangles[t].swap(1, 2),
            Faces::Polygons(polygons) => {
                let range = polygons.offsets[t] as usize..polygons.offsets[t + 1] as usize;
                if let Some(rest) = polygons.vertices[range].get_mut(1..) {
                    rest.reverse();
                }
            }
        }
    }
}

/// The lowest element of a part.
pub(super) fn root(parents: &mut [u32], mut x: u32) -> u32 {
    while parents[x as usize] != x {
        parents[x as usize] = parents[parents[x as usize] as usize];
        x = parents[x as usize];
    }
    x
}

fn join(parents: &mut [u32], a: u32, b: u32) {
    let (a, b) = (root(parents, a), root(parents, b));
    parents[a.max(b) as usize] = a.min(b);
}
