//! Slots of the hash tables in which the half-edges of an edge, the uses of an edge and the sides of a face meet.
//!
//! Each vertex owns the same number of consecutive slots. An element begins its search at a place among the slots of
//! one of its vertices, and goes on from there. There are two layouts, with the same results; the kernels of each are
//! compiled separately.
//!
//! *Local*, for meshes whose elements have ids near each other: an edge begins at one of the slots of its lower vertex,
//! chosen by the distance of its ends; a face at one of 16 slots of its middle vertex. Elements of neighbouring
//! vertices lie side by side, and neighbouring threads read the same sectors.
//!
//! *Scattered*: a hash chooses the vertex of the element that owns it, and the place among the owner's slots. So each
//! vertex owns half of its edges and a third of its faces, whatever the order of the ids. If the lowest vertex owned
//! them, the low vertices of a mesh in random order would own nearly all of their elements, twice as many as there is
//! room for.

use trioxide_kernel::safe::Atomic;
use trioxide_kernel::view::AtomicElement;

use crate::ids::Vertex;

/// Slots after the first that are tried before the element scatters.
const WINDOW: u32 = 16;
/// Slots that are tried in all. In a table with two thirds of its slots taken, some of these are free.
pub(crate) const ATTEMPTS: u32 = 256;

/// Mixed as in MurmurHash3's finalizer, so that every input bit affects every output bit.
#[inline(always)]
pub(crate) fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    x = (x ^ x >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    x ^ x >> 33
}

/// A slot for `key` in a table of `size` slots.
#[inline(always)]
pub(crate) fn slot_of(key: u64, size: u32) -> u32 {
    (((mix(key) >> 32) * u64::from(size)) >> 32) as u32
}

/// The slots in which an element is searched, in the order of the attempts.
#[derive(Clone, Copy)]
pub(crate) struct Slots {
    first: u32,
    /// The first place in the window.
    turn: u32,
    key: u64,
}

impl Slots {
    /// The slots of the edge between `low` and `high`; `scale` is slots a vertex, times 2^32.
    #[inline(always)]
    pub(crate) fn of_edge(low: Vertex, high: Vertex, scale: u64, is_scattered: bool) -> Self {
        let key = u64::from(low.index()) << 32 | u64::from(high.index());
        if !is_scattered {
            // A vertex of a grid is the lower one of three edges, whose other ends have other distances.
            let distance = high.index().wrapping_sub(low.index());
            let room = (scale >> 32).min(u64::from(WINDOW));
            let turn = (u64::from(distance.wrapping_mul(0x9E37_79B9)) * room) >> 32;
            return Self {
                first: place_of(low, 0, scale),
                turn: turn as u32,
                key,
            };
        }
        let (choice, place) = parts(key);
        let owner = if choice & 1 == 0 { low } else { high };
        Self {
            first: place_of(owner, place, scale),
            turn: 0,
            key,
        }
    }

    /// The slots of the face of three vertices in ascending order; `scale` is slots a vertex, times 2^32.
    #[inline(always)]
    pub(crate) fn of_face(
        [low, middle, high]: [Vertex; 3],
        scale: u64,
        is_scattered: bool,
    ) -> Self {
        let ends = u64::from(low.index()) << 32 | u64::from(high.index());
        let key = ends ^ u64::from(middle.index()).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        if !is_scattered {
            // A vertex of a grid is the middle one of 12 faces: they fill a window evenly.
            return Self {
                first: place_of(middle, 0, scale),
                turn: (ends.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60) as u32,
                key,
            };
        }
        let (choice, place) = parts(key);
        let owner = match (choice * 3) >> 16 {
            0 => low,
            1 => middle,
            _ => high,
        };
        Self {
            first: place_of(owner, place, scale),
            turn: 0,
            key,
        }
    }

    /// The slot of attempt number `attempt` in a table of `size` slots. Where vertices have more elements than slots,
    /// the elements that find no free slot nearby scatter.
    #[inline(always)]
    pub(crate) fn at(self, attempt: u32, size: u32) -> u32 {
        if attempt < WINDOW {
            let ahead = (self.turn + attempt) % WINDOW;
            let slot = self.first.wrapping_add(ahead);
            return if slot < size { slot } else { slot - size };
        }
        let step = u64::from(attempt).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        slot_of(self.key.wrapping_add(step), size)
    }
}

/// Puts `id` into a slot of `table` if the slot is free, which `none` marks; returns the slot's previous content.
///
/// Neighbouring threads of a local mesh look at neighbouring slots: reads share sectors, exchanges would not. In a
/// scattered mesh the exchange alone is cheaper.
#[inline(always)]
pub(crate) fn take<const SCATTERED: bool, T: AtomicElement + PartialEq>(
    table: Atomic<T>,
    slot: u32,
    none: T,
    id: T,
) -> T {
    if !SCATTERED {
        let other = table.load(slot);
        if other != none {
            return other;
        }
        return table.compare_exchange(slot, none, id);
    }
    table.claim(slot, none, id)
}

/// The slot at `place`, in parts of 2^16, of a vertex's slots.
#[inline(always)]
fn place_of(owner: Vertex, place: u32, scale: u64) -> u32 {
    // Below (owner + 1) scale, so within the slots of all vertices.
    let first = u64::from(owner.index()) * scale + (scale >> 16) * u64::from(place);
    (first >> 32) as u32
}

/// Two numbers of 16 bits from a key.
#[inline(always)]
fn parts(key: u64) -> (u32, u32) {
    let hash = (key ^ key >> 32).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    let hash = (hash ^ hash >> 32) as u32;
    (hash & 0xFFFF, hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attempts for each use when `elements` meet in a table of `size` slots.
    fn attempts(elements: &[(Slots, u64)], size: u32) -> f64 {
        let mut table = vec![u64::MAX; size as usize];
        let mut tried = 0;
        for (slots, name) in elements {
            let end = (0..ATTEMPTS).find(|&attempt| {
                let slot = &mut table[slots.at(attempt, size) as usize];
                let ends = *slot == u64::MAX || slot == name;
                if ends {
                    *slot = *name;
                }
                ends
            });
            tried += end.expect("a free slot") + 1;
        }
        f64::from(tried) / elements.len() as f64
    }

    /// The vertices of a grid in order, and in a shuffled order.
    fn orders(vertices: u32) -> [Box<dyn Fn(u32) -> Vertex>; 2] {
        // Each step is a bijection of numbers below a power of two.
        let shuffled = move |v: u32| {
            let mixed = v.wrapping_mul(0x9E37_79B1) & (vertices - 1);
            Vertex::new((mixed ^ mixed >> 9).wrapping_mul(0x85EB_CA6B) & (vertices - 1))
        };
        let mut seen = vec![false; vertices as usize];
        (0..vertices).for_each(|v| seen[shuffled(v).index() as usize] = true);
        assert!(seen.into_iter().all(|seen| seen), "a bijection");
        [Box::new(Vertex::new), Box::new(shuffled)]
    }

    /// The edges of a grid of 512 x 512 vertices, each used twice, in a table of `size` slots.
    fn uses_of_edges(
        vertex: &dyn Fn(u32) -> Vertex,
        size: u32,
        is_scattered: bool,
    ) -> Vec<(Slots, u64)> {
        const SIDE: u32 = 512;
        let scale = (u64::from(size) << 32) / u64::from(SIDE * SIDE);
        let mut uses = Vec::new();
        for y in 0..SIDE - 1 {
            for x in 0..SIDE - 1 {
                let v = y * SIDE + x;
                for (a, b) in [(v, v + 1), (v, v + SIDE), (v, v + SIDE + 1)] {
                    let (a, b) = (vertex(a), vertex(b));
                    let (low, high) = (a.min(b), a.max(b));
                    let name = u64::from(low.index()) << 32 | u64::from(high.index());
                    let edge = (Slots::of_edge(low, high, scale, is_scattered), name);
                    uses.extend([edge, edge]);
                }
            }
        }
        uses
    }

    /// In a mesh in random order a low vertex has no more elements than others: there are few attempts, in each order.
    #[test]
    fn attempts_do_not_depend_on_the_order_of_vertices() {
        let vertices = 512 * 512;
        for vertex in orders(vertices) {
            let tried = attempts(&uses_of_edges(&*vertex, 6 * vertices, true), 6 * vertices);
            assert!(tried < 1.5, "{tried} attempts");
        }
    }

    /// The edges of a vertex of a grid do not all begin at one slot.
    #[test]
    fn edges_of_a_local_mesh_take_few_attempts() {
        let size = 512 * 512 * 9 / 2;
        let tried = attempts(&uses_of_edges(&Vertex::new, size, false), size);
        assert!(tried < 1.01, "{tried} attempts");
    }

    #[test]
    fn slots_are_in_the_table() {
        for (vertices, size) in [(1, 64), (3, u32::MAX), (1000, 4064), (u32::MAX, u32::MAX)] {
            let scale = (u64::from(size) << 32) / u64::from(vertices);
            let last = Vertex::new(vertices - 1);
            for key in 0..1000 {
                let other = Vertex::new(key % vertices);
                let (low, high) = (other.min(last), other.max(last));
                let (edge, face) = (
                    Slots::of_edge(low, high, scale, true),
                    Slots::of_face([low, high, high], scale, key % 2 == 0),
                );
                for attempt in 0..40 {
                    assert!(edge.at(attempt, size) < size);
                    assert!(face.at(attempt, size) < size);
                }
            }
        }
    }
}
