//! Loops of the boundary, and the parts of it that are none.

use gpu::ids::Item;
use gpu::repair as kernel;
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;

use super::left::Obstacle;
use super::orient::root;
use super::state::{State, sides_at};
use crate::Result;
use crate::collective::compact;

/// The boundary in connected parts, by their lowest vertices.
#[derive(Default)]
pub(super) struct Boundary {
    pub loops: Vec<Loop>,
    /// The lowest vertex of each part that is no loop through distinct vertices, and the reason.
    pub others: Vec<(u32, Obstacle)>,
}

/// A loop of boundary sides, from its lowest vertex on in the direction of the sides.
pub(super) struct Loop {
    pub vertices: Vec<u32>,
    /// The lowest face at it.
    pub face: u32,
}

impl State<'_> {
    /// The boundary of the faces, which are given on the host too.
    pub fn boundary(&self, faces: &[[u32; 3]]) -> Result<Boundary> {
        let on = self.on;
        let order = self.sides()?;
        let mut found: Buffer<Bits<Item>> = self.bits(order.len())?;
        let n = order.len() as u32;
        kernel::find_boundary::launch(on, n, &order, &self.faces, &mut found)?;
        let boundary = sides_at(on, &order, &compact(on, &found)?)?;
        let boundary: Vec<u32> = on.download_rows(&boundary)?;
        let side = |h: u32| {
            let (face, k) = (faces[h as usize / 3], h as usize % 3);
            [face[k], face[(k + 1) % 3], h / 3]
        };
        let mut sides: Vec<[u32; 3]> = boundary.into_iter().map(side).collect();
        sides.sort_unstable();
        Ok(parts(&sides))
    }
}

/// The parts of the sides, which ascend: each has its start, its end and its face.
fn parts(sides: &[[u32; 3]]) -> Boundary {
    let mut vertices: Vec<u32> = sides.iter().flat_map(|&[a, b, _]| [a, b]).collect();
    vertices.sort_unstable();
    vertices.dedup();
    let place = |v: u32| vertices.partition_point(|&other| other < v);
    let mut parents: Vec<u32> = (0..vertices.len() as u32).collect();
    // Sides from and to each vertex, and the last side from it.
    let mut at = vec![([0u32; 2], 0); vertices.len()];
    for (i, &[a, b, _]) in sides.iter().enumerate() {
        let [a, b] = [place(a), place(b)];
        at[a].0[0] += 1;
        at[a].1 = i;
        at[b].0[1] += 1;
        let [one, other] = [a, b].map(|v| root(&mut parents, v as u32));
        parents[one.max(other) as usize] = one.min(other);
    }
    let mut obstacles = vec![None; vertices.len()];
    for (v, &([from, to], _)) in at.iter().enumerate() {
        let obstacle = match from == to {
            true if from == 1 => continue,
            true => Obstacle::Touching,
            false if (from + to) % 2 == 0 => Obstacle::Turned,
            false => Obstacle::Crowded,
        };
        let found = &mut obstacles[root(&mut parents, v as u32) as usize];
        *found = (*found).max(Some(obstacle));
    }
    let mut boundary = Boundary::default();
    for first in 0..vertices.len() {
        if parents[first] as usize != first {
            continue;
        }
        if let Some(obstacle) = obstacles[first] {
            boundary.others.push((vertices[first], obstacle));
            continue;
        }
        let mut hole = Loop {
            vertices: Vec::new(),
            face: u32::MAX,
        };
        let mut v = first;
        loop {
            let [from, to, face] = sides[at[v].1];
            hole.vertices.push(from);
            hole.face = hole.face.min(face);
            v = place(to);
            if v == first {
                break;
            }
        }
        boundary.loops.push(hole);
    }
    boundary
}
