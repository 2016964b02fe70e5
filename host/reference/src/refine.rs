//! Sequential longest-edge bisection (gpu-longest-edge-bisection-2011, chapters 3 and 4).
//!
//! # Theory
//!
//! A triangle that is to be refined is bisected from the midpoint of its longest edge. The triangle on the other side
//! gets that midpoint on one of its sides, so its own longest edge is divided too, and so on: longest edges grow along
//! the way, so it ends. Every triangle then has no divided side, or its longest and perhaps others, and is cut into
//! two, three or four by a template: first from the opposite vertex to the midpoint of the longest side, then each half
//! with a divided outer side from the midpoint of the longest side to the midpoint of that side.
//!
//! **The order of edges.** An edge is longer than another when its squared length (dx dx + dy dy, rounded in the
//! precision of the points, the same from both sides) is larger, or equal and its id is *smaller*. This order is total.
//! It follows:
//!
//! 1. *At most one link goes out from an edge.* A divided edge is the longest of one of its triangles, so it can ask
//!    for another division in the other triangle only.
//! 2. *Propagation ends*: a link goes from an edge to a longer one.
//!
//! **Numbers.** With f sides divided that the triangle runs along forward and r in reverse, a triangle makes f + r
//! triangles and 2f + r edges (section 3.3), and f vertices: the forward sides' midpoints. So two exclusive prefix sums
//! over the triangles, of f and of r, give every new id (section 4.3). Within a triangle, divided sides take edge slots
//! in the order of the triangle's sides: a forward one takes two, n for the half after its midpoint and n + 1 for the
//! half before, and its own slot becomes the edge inside of the triangle that ends at its midpoint; a reverse one takes
//! one slot for such an edge. Edges inside always end at the midpoint of the side that they divide. They start at the
//! opposite vertex for the longest side, at the midpoint of the longest side for others.
//!
//! **Pieces.** Let the longest side go from A to B, its midpoint be M and the opposite vertex C. The pieces come in
//! this order, the first in the triangle's own slot, each with its sides in the order that is given:
//!
//! ```text
//!   C -> A whole:          M C, C A, A M
//!   B -> C whole:          C M, M B, B C
//!   C -> A divided at N:   M N, N A, A M   and   N M, M C, C N
//!   B -> C divided at N:   M N, N C, C M   and   N M, M B, B N
//! ```
//!
//! # How this differs from the paper
//!
//! - Ties: the paper does not define the longest of equally long sides. If each triangle takes its first, equal sides
//!   can link to each other in a ring, and the division depends on the order of a triangle's sides.
//! - Edges hold vertex ids, not coordinates, so new vertices have ids: in the order of the triangles that own the
//!   divided edges, and of their sides.
//! - Table 4.1 gives T1 the edge slots 2 to 4; with one forward and one reverse division they are 2 to 5, as the slots
//!   of T2 show. Table 4.3 is printed with rows and columns exchanged; figure B.1 has the triangles right.
//!
//! # Practice
//!
//! [`refine`] runs the steps; each is a function of its own, so that a parallel stage can be compared alone. No step
//! asks which way triangles run: the paper's own example is clockwise where y points up.

use std::time::{Duration, Instant};

use gpu::point::MeshPoint;

mod run;

pub use run::SerialRun;
pub use trioxide_mesh::edge_table::edges;

use trioxide::mesh::{EdgeTriangulation, NONE, Refinement};

/// Time of each step: the columns of tables 5.4 and 5.5.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepTimes {
    /// Step 1: length and midpoint of each edge.
    pub lengths_and_midpoints: Duration,
    /// Step 2: longest edges, and the edges among them to divide.
    pub mark_longest_edges: Duration,
    /// Step 3: links of the dependency forest.
    pub link_dependencies: Duration,
    /// Step 4: divisions along the links.
    pub propagate_divisions: Duration,
    /// Step 5: divided sides of each triangle.
    pub count_divided_sides: Duration,
    /// Step 6: prefix sums of the counts.
    pub prefix_sums: Duration,
    /// Step 7: new vertices, edges and triangles.
    pub divide: Duration,
}

impl StepTimes {
    /// The steps in the order in which they ran, by name.
    pub fn steps(&self) -> [(&'static str, Duration); 7] {
        [
            ("1 lengths and midpoints", self.lengths_and_midpoints),
            ("2 mark longest edges", self.mark_longest_edges),
            ("3 link dependencies", self.link_dependencies),
            ("4 propagate divisions", self.propagate_divisions),
            ("5 count divided sides", self.count_divided_sides),
            ("6 prefix sums", self.prefix_sums),
            ("7 refine", self.divide),
        ]
    }
}

/// Refines the marked triangles of `mesh`, and their neighbours as far as conformity requires.
///
/// # Panics
/// When `mesh` breaks the rules of [`EdgeTriangulation`], or the sides of the new one do not fit 32 bits.
pub fn refine<P: MeshPoint>(
    mesh: &mut EdgeTriangulation<P>,
    is_marked: impl Fn(u32) -> bool,
) -> (Refinement, StepTimes) {
    let mut times = StepTimes::default();
    let mut start = Instant::now();
    let mut lap = |time: &mut Duration| {
        *time = start.elapsed();
        start = Instant::now();
    };

    let (lengths, midpoints) = lengths_and_midpoints(mesh);
    lap(&mut times.lengths_and_midpoints);
    let longest = longest_sides(mesh, &lengths);
    let mut marks = mark_longest_edges(mesh, &longest, is_marked);
    lap(&mut times.mark_longest_edges);
    let next = link_dependencies(mesh, &longest, &marks.longest);
    lap(&mut times.link_dependencies);
    propagate_divisions(&next, &mut marks.divided);
    lap(&mut times.propagate_divisions);
    let counts = count_divided_sides(mesh, &marks.divided);
    lap(&mut times.count_divided_sides);
    let sums = prefix_sums(&counts);
    lap(&mut times.prefix_sums);
    let refinement = divide(mesh, &midpoints, &longest, &marks.divided, &sums);
    lap(&mut times.divide);
    (refinement, times)
}

/// Step 1: squared length and midpoint of each edge; E.
pub fn lengths_and_midpoints<P: MeshPoint>(
    mesh: &EdgeTriangulation<P>,
) -> (Vec<P::Scalar>, Vec<P>) {
    mesh.edges
        .iter()
        .map(|ends| {
            let [a, b] = ends.map(|v| mesh.points[v as usize]);
            (a.distance_squared(b), a.midpoint(b))
        })
        .unzip()
}

/// Step 2: the longest side of each triangle, 0 to 2; T.
pub fn longest_sides<P, S: PartialOrd>(mesh: &EdgeTriangulation<P>, lengths: &[S]) -> Vec<u8> {
    let is_longer = |e: u32, f: u32| {
        let (length, other) = (&lengths[e as usize], &lengths[f as usize]);
        length > other || (length == other && e < f)
    };
    let longest = |sides: &[u32; 3]| {
        let mut longest = 0;
        for k in 1..3 {
            if is_longer(sides[k] / 2, sides[longest] / 2) {
                longest = k;
            }
        }
        longest as u8
    };
    mesh.triangles.iter().map(longest).collect()
}

/// Marks of each edge (section 3.2); E.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The paper's mark: whether the edge is the longest of a triangle.
    pub longest: Vec<bool>,
    /// The paper's black mark: whether the edge is to be divided.
    pub divided: Vec<bool>,
}

/// Step 2: marks the longest edge of each triangle, for division where the triangle is to be refined.
pub fn mark_longest_edges<P>(
    mesh: &EdgeTriangulation<P>,
    longest: &[u8],
    is_marked: impl Fn(u32) -> bool,
) -> Marks {
    let mut marks = Marks {
        longest: vec![false; mesh.edges.len()],
        divided: vec![false; mesh.edges.len()],
    };
    for (t, (sides, &k)) in mesh.triangles.iter().zip(longest).enumerate() {
        let e = sides[k as usize] as usize / 2;
        marks.longest[e] = true;
        if is_marked(t as u32) {
            marks.divided[e] = true;
        }
    }
    marks
}

/// Step 3: the edge that must be divided if an edge is, [`NONE`] where there is none (figure 4.1); E.
pub fn link_dependencies<P>(
    mesh: &EdgeTriangulation<P>,
    longest: &[u8],
    is_longest: &[bool],
) -> Vec<u32> {
    let mut next = vec![NONE; mesh.edges.len()];
    for (sides, &k) in mesh.triangles.iter().zip(longest) {
        for (i, &side) in sides.iter().enumerate() {
            let e = side as usize / 2;
            if i != k as usize && is_longest[e] {
                next[e] = sides[k as usize] / 2;
            }
        }
    }
    next
}

/// Step 4: marks for division every edge that a marked edge links to (figure 4.2).
pub fn propagate_divisions(next: &[u32], divided: &mut [bool]) {
    for e in 0..next.len() {
        if divided[e] {
            let mut n = next[e];
            // The first to mark an edge follows its links.
            while n != NONE && !divided[n as usize] {
                divided[n as usize] = true;
                n = next[n as usize];
            }
        }
    }
}

/// Step 5: divided sides of each triangle, forward and in reverse; T.
pub fn count_divided_sides<P>(mesh: &EdgeTriangulation<P>, divided: &[bool]) -> Vec<[u8; 2]> {
    let count = |sides: &[u32; 3]| {
        let mut count = [0; 2];
        for &side in sides {
            count[side as usize % 2] += u8::from(divided[side as usize / 2]);
        }
        count
    };
    mesh.triangles.iter().map(count).collect()
}

/// Step 6: sums of the counts of all triangles before each, and of all; T + 1.
pub fn prefix_sums(counts: &[[u8; 2]]) -> Vec<[u32; 2]> {
    let mut sum = [0; 2];
    let mut sums = Vec::with_capacity(counts.len() + 1);
    sums.push(sum);
    for &[forward, reverse] in counts {
        sum[0] += u32::from(forward);
        sum[1] += u32::from(reverse);
        sums.push(sum);
    }
    sums
}

/// The new elements of a divided edge; the paper's fields `new_edge0` to `new_edge2` (table 3.1).
#[derive(Clone, Copy)]
struct Division {
    /// Vertex.
    midpoint: u32,
    /// Edge from the midpoint to the end; the one from the start to the midpoint has the next id.
    second_half: u32,
    /// Edge that ends at the midpoint, inside of the triangle that runs along the divided edge forward, and in reverse.
    inside: [u32; 2],
}

impl Division {
    const NONE: Division = Division {
        midpoint: NONE,
        second_half: NONE,
        inside: [NONE; 2],
    };

    /// Side from the start of a divided `side` to its midpoint.
    fn first(self, side: u32) -> u32 {
        match side % 2 {
            0 => 2 * (self.second_half + 1),
            _ => 2 * self.second_half + 1,
        }
    }

    /// Side from the midpoint of a divided `side` to its end.
    fn second(self, side: u32) -> u32 {
        match side % 2 {
            0 => 2 * self.second_half,
            _ => 2 * (self.second_half + 1) + 1,
        }
    }

    /// Side inside of the triangle of `side` that ends at the midpoint.
    fn to_midpoint(self, side: u32) -> u32 {
        2 * self.inside[side as usize % 2]
    }
}

/// Step 7: divides the edges that are `divided` and the triangles at them, in the paper's three sub-steps (section
/// 4.4).
///
/// `midpoints` and `longest` belong to the mesh before the division, `sums` come from [`prefix_sums`].
pub fn divide<P: Copy>(
    mesh: &mut EdgeTriangulation<P>,
    midpoints: &[P],
    longest: &[u8],
    divided: &[bool],
    sums: &[[u32; 2]],
) -> Refinement {
    let triangles = mesh.triangles.len();
    let [forward, reverse] = sums[triangles].map(|n| n as usize);
    let new_edges = mesh.edges.len() + 2 * forward + reverse;
    assert!(new_edges < 1 << 31, "sides do not fit 32 bits");
    let divisions = take_slots(mesh, divided, sums);
    let division = |side: u32| divisions[side as usize / 2];
    let is_divided = |side: u32| divided[side as usize / 2];
    let mut refinement = Refinement::default();

    // First sub-step: edges in new slots. The others wait: the old edge is still needed.
    let mut own_slots = Vec::with_capacity(forward);
    mesh.edges.resize(new_edges, [NONE; 2]);
    if !mesh.tags.is_empty() {
        mesh.tags.resize(new_edges, 0);
    }
    for (t, &k) in longest.iter().enumerate() {
        let sides = mesh.triangles[t];
        for (i, &side) in sides.iter().enumerate() {
            if !is_divided(side) {
                continue;
            }
            let Division {
                midpoint,
                second_half,
                inside,
            } = division(side);
            let k = k as usize;
            let from = if i == k {
                mesh.start(sides[(k + 2) % 3])
            } else {
                division(sides[k]).midpoint
            };
            if side % 2 == 1 {
                mesh.edges[inside[1] as usize] = [from, midpoint];
                continue;
            }
            let e = side as usize / 2;
            own_slots.push((e, [from, midpoint]));
            let [start, end] = mesh.edges[e];
            let second_half = second_half as usize;
            mesh.edges[second_half] = [midpoint, end];
            mesh.edges[second_half + 1] = [start, midpoint];
            if !mesh.tags.is_empty() {
                mesh.tags[second_half] = mesh.tags[e];
                mesh.tags[second_half + 1] = mesh.tags[e];
            }
            mesh.points.push(midpoints[e]);
            refinement.divided.push(e as u32);
            refinement.ends.push([start, end]);
        }
    }

    // Second sub-step: edges in the slots of divided ones.
    for (e, ends) in own_slots {
        mesh.edges[e] = ends;
        if !mesh.tags.is_empty() {
            mesh.tags[e] = 0;
        }
    }

    refinement.parents = divide_triangles(mesh, longest, divided, &divisions);
    refinement
}

/// Third sub-step: divides the triangles with divided edges. Returns the parent of each new triangle.
fn divide_triangles<P>(
    mesh: &mut EdgeTriangulation<P>,
    longest: &[u8],
    divided: &[bool],
    divisions: &[Division],
) -> Vec<u32> {
    let division = |side: u32| divisions[side as usize / 2];
    let is_divided = |side: u32| divided[side as usize / 2];
    let mut parents = Vec::new();
    for (t, &k) in longest.iter().enumerate() {
        let mut sides = mesh.triangles[t];
        sides.rotate_left(k as usize);
        let [ab, bc, ca] = sides;
        if !is_divided(ab) {
            continue;
        }
        let (am, mb) = (division(ab).first(ab), division(ab).second(ab));
        let cm = division(ab).to_midpoint(ab);
        let mut pieces = Vec::with_capacity(4);
        if !is_divided(ca) {
            pieces.push([reversed(cm), ca, am]);
        }
        if !is_divided(bc) {
            pieces.push([cm, mb, bc]);
        }
        if is_divided(ca) {
            let (cn, na) = (division(ca).first(ca), division(ca).second(ca));
            let mn = division(ca).to_midpoint(ca);
            pieces.push([mn, na, am]);
            pieces.push([reversed(mn), reversed(cm), cn]);
        }
        if is_divided(bc) {
            let (bn, nc) = (division(bc).first(bc), division(bc).second(bc));
            let mn = division(bc).to_midpoint(bc);
            pieces.push([mn, nc, cm]);
            pieces.push([reversed(mn), mb, bn]);
        }
        mesh.triangles[t] = pieces[0];
        mesh.triangles.extend(&pieces[1..]);
        parents.extend(std::iter::repeat_n(t as u32, pieces.len() - 1));
    }
    parents
}

/// The slots of the new vertices and edges of each divided edge; E.
fn take_slots<P>(
    mesh: &EdgeTriangulation<P>,
    divided: &[bool],
    sums: &[[u32; 2]],
) -> Vec<Division> {
    let mut divisions = vec![Division::NONE; mesh.edges.len()];
    for (sides, &[forward, reverse]) in mesh.triangles.iter().zip(sums) {
        let mut vertex = mesh.points.len() as u32 + forward;
        let mut slot = mesh.edges.len() as u32 + 2 * forward + reverse;
        for &side in sides {
            let e = side / 2;
            if !divided[e as usize] {
                continue;
            }
            let division = &mut divisions[e as usize];
            if side % 2 == 0 {
                division.midpoint = vertex;
                division.second_half = slot;
                division.inside[0] = e;
                vertex += 1;
                slot += 2;
            } else {
                division.inside[1] = slot;
                slot += 1;
            }
        }
    }
    divisions
}

/// The same edge, run along the other way.
fn reversed(side: u32) -> u32 {
    side ^ 1
}

#[cfg(test)]
mod prolongation;
#[cfg(test)]
mod tests;
