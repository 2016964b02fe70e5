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
pub const ATTEMPTS: u32 = 256;

/// Mixed as in MurmurHash3's finalizer, so that every input bit affects every output bit.
#[inline(always)]
pub fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    x = (x ^ x >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    x ^ x >> 33
}

/// A slot for `key` in a table of `size` slots.
#[inline(always)]
pub fn slot_of(key: u64, size: u32) -> u32 {
    (((mix(key) >> 32) * u64::from(size)) >> 32) as u32
}

/// The slots in which an element is searched, in the order of the attempts.
#[derive(Clone, Copy)]
pub struct Slots {
    first: u32,
    /// The first place in the window.
    turn: u32,
    key: u64,
}

impl Slots {
    /// The slots of the edge between `low` and `high`; `scale` is slots a vertex, times 2^32.
    #[inline(always)]
    pub fn of_edge(low: Vertex, high: Vertex, scale: u64, is_scattered: bool) -> Self {
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
    pub fn of_face([low, middle, high]: [Vertex; 3], scale: u64, is_scattered: bool) -> Self {
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
    pub fn at(self, attempt: u32, size: u32) -> u32 {
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
pub fn take<const SCATTERED: bool, T: AtomicElement + PartialEq>(
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
