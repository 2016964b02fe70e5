use std::sync::atomic::Ordering::Relaxed;

use super::neighbors::{MANY, Neighbors};
use trioxide_mesh::parallel;
use trioxide_mesh::partition::Partition;

/// Red, green, blue.
pub type Rgb = [u8; 3];

pub const BACKGROUND: Rgb = [255, 255, 255];
pub const EDGE: Rgb = [38, 50, 66];
pub const SEGMENT: Rgb = [176, 32, 48];
/// Front and back of a surface without colours.
pub const SURFACE: Rgb = [196, 212, 226];
pub const BACK: Rgb = [222, 178, 140];

/// Colours that keep neighbours apart, and colours of regions. At least six colours, see [`distinct`]. None is near to
/// the background, which shows through holes.
pub const QUALITATIVE: [Rgb; 8] = [
    [110, 164, 204],
    [244, 228, 184],
    [122, 188, 183],
    [238, 200, 156],
    [178, 217, 194],
    [160, 198, 224],
    [203, 213, 170],
    [205, 221, 236],
];

/// A darker colour: each channel times `light`.
pub fn scale(color: Rgb, light: f32) -> Rgb {
    color.map(|channel| (f32::from(channel) * light).round() as u8)
}

/// `steps` colours from light to dark, equal steps between hand-picked ones.
pub fn ramp(steps: usize) -> Vec<Rgb> {
    const STOPS: [[f32; 3]; 5] = [
        [247.0, 244.0, 225.0],
        [186.0, 221.0, 196.0],
        [104.0, 182.0, 188.0],
        [66.0, 136.0, 178.0],
        [52.0, 92.0, 148.0],
    ];
    (0..steps)
        .map(|i| {
            let x = i as f32 / (steps - 1) as f32 * (STOPS.len() - 1) as f32;
            let stop = (x as usize).min(STOPS.len() - 2);
            let fraction = x - stop as f32;
            std::array::from_fn(|k| {
                let [from, to] = [STOPS[stop][k], STOPS[stop + 1][k]];
                (from + (to - from) * fraction).round() as u8
            })
        })
        .collect()
}

/// Classes under `QUALITATIVE.len()` that differ on both sides of every edge.
///
/// Faces of a planar mesh form a planar graph, which always has a vertex with at most five neighbours. Removing such
/// vertices until none is left, and colouring in the opposite order (smallest-last, Matula and Beck 1983), needs six
/// colours. A hash chooses among the free colours, so that all are used. A face of a mesh that is not planar may have
/// no free colour: it takes any.
pub struct Distinct {
    neighbors: Neighbors,
    /// Places by number of neighbours; places with equal numbers are in the order of their faces.
    by_degree: Partition<u32>,
    /// Residues for the choice of each place.
    residues: Vec<u32>,
}

impl Distinct {
    /// Prepares, on all threads, the input of [`Distinct::find`], which uses one thread.
    pub fn new(neighbors: Neighbors) -> Distinct {
        Distinct {
            by_degree: by_degree(&neighbors),
            residues: parallel::map(&neighbors.faces, |&face| residues(face)),
            neighbors,
        }
    }

    /// The class of each place, as a bit. Uses one thread: each choice depends on the choices before it.
    pub fn find(&mut self) -> Vec<u8> {
        let order = self.smallest_last();
        let choices = choices();
        let mut classes = vec![0; order.len()];
        for &place in order.iter().rev() {
            let near = self.neighbors.of(place);
            let used = near.fold(0, |used, other| used | classes[other as usize]);
            let Choice {
                shift,
                mask,
                classes: free,
            } = &choices[usize::from(!used)];
            let residue = self.residues[place as usize] >> shift & mask;
            classes[place as usize] = free[residue as usize];
        }
        classes
    }

    /// The class of each face, from the classes of the places.
    pub fn of_faces(&self, classes: &[u8]) -> Vec<u8> {
        parallel::map(&self.neighbors.places, |place| {
            classes[place.load(Relaxed) as usize].trailing_zeros() as u8
        })
    }

    /// The places of all faces in smallest-last order: each has the fewest neighbours among the remaining ones. Of
    /// several, the place that reached its number of neighbours last is first. Of places that have had their number
    /// from the start, the place of the last face is first.
    fn smallest_last(&mut self) -> Vec<u32> {
        let Distinct {
            neighbors,
            by_degree: Partition { rows, starts },
            ..
        } = self;
        // After the places that have always had a number of neighbours come the places that have reached it, in a stack
        // of their own. A face is pushed to the stacks of all numbers below its first one; only its latest entry
        // counts.
        const TAKEN: u32 = u32::MAX;
        let mut ends = starts[1..].to_vec();
        let (mut bottoms, mut room) = (Vec::with_capacity(ends.len()), 0);
        for end in &ends {
            bottoms.push(room);
            room += rows.len() - end;
        }
        let mut tops = bottoms.clone();
        let mut stacks = vec![0; room];
        let mut order = Vec::with_capacity(rows.len());
        let mut smallest = 0;
        while order.len() < rows.len() {
            let place = if tops[smallest] > bottoms[smallest] {
                tops[smallest] -= 1;
                stacks[tops[smallest]]
            } else if ends[smallest] > starts[smallest] {
                ends[smallest] -= 1;
                rows[ends[smallest]]
            } else {
                smallest += 1;
                continue;
            };
            let degree = neighbors.degrees[place as usize].get_mut();
            if *degree as usize != smallest {
                continue;
            }
            *degree = TAKEN;
            order.push(place);
            for other in neighbors.of(place) {
                let degree = &neighbors.degrees[other as usize];
                let before = degree.load(Relaxed);
                if before != TAKEN {
                    degree.store(before - 1, Relaxed);
                    let degree = before as usize - 1;
                    stacks[tops[degree]] = other;
                    tops[degree] += 1;
                    smallest = smallest.min(degree);
                }
            }
        }
        order
    }
}

/// The places with each number of neighbours, in the order of their faces.
fn by_degree(neighbors: &Neighbors) -> Partition<u32> {
    let count = neighbors.faces.len();
    let few = |face: usize| usize::from(neighbors.few[face].load(Relaxed));
    let largest = parallel::map_pieces(count, parallel::GRAIN, |faces| {
        faces.map(few).max().unwrap_or(0)
    });
    let largest = largest.into_iter().max().unwrap_or(0);
    let mut by_degree = Partition::new(count, largest + 1, |face| {
        [(few(face), neighbors.places[face].load(Relaxed))]
    });
    if largest == MANY {
        let degree = |place: &u32| neighbors.degrees[*place as usize].load(Relaxed) as usize;
        let first = by_degree.starts[MANY];
        let of_many = &mut by_degree.rows[first..];
        of_many.sort_by_key(degree);
        let largest = of_many.last().map_or(MANY, degree);
        let start = |d: usize| first + of_many.partition_point(|place| degree(place) < d);
        by_degree.starts.truncate(MANY);
        by_degree.starts.extend((MANY..=largest + 1).map(start));
    }
    by_degree
}

/// Width in bits of a face's residue by `count` classes, and its shift after the residues for smaller counts.
fn place_of_residue(count: u32) -> (u32, u32) {
    let bits = |count: u32| (count - 1).checked_ilog2().map_or(0, |bits| bits + 1);
    (bits(count), (1..count).map(bits).sum())
}

/// The residues of a face's hash by each number of classes, precomputed so that the choosing thread need not divide.
fn residues(face: u32) -> u32 {
    // Fibonacci hashing.
    let hash = face.wrapping_mul(0x9e37_79b9) >> 8;
    (1..=QUALITATIVE.len() as u32).fold(0, |residues, count| {
        residues | (hash % count) << place_of_residue(count).1
    })
}

/// A face's choice from a set of free classes, by its residue.
struct Choice {
    /// Shift of the residue by the number of free classes.
    shift: u32,
    mask: u32,
    /// The free classes, each as a bit, in ascending order.
    classes: [u8; QUALITATIVE.len()],
}

/// The choices by set of free classes. If none is free, a face chooses from all.
fn choices() -> Vec<Choice> {
    const _: () = assert!(QUALITATIVE.len() == u8::BITS as usize);
    let choice = |set: u8| {
        let set = if set == 0 { u8::MAX } else { set };
        let mut classes = [0; QUALITATIVE.len()];
        let all = (0..u8::BITS).map(|class| 1 << class);
        let free = all.filter(|class| set & class > 0);
        for (place, class) in classes.iter_mut().zip(free) {
            *place = class;
        }
        let (bits, shift) = place_of_residue(set.count_ones());
        Choice {
            shift,
            mask: (1 << bits) - 1,
            classes,
        }
    };
    (0..=u8::MAX).map(choice).collect()
}
