use rayon::prelude::*;

use super::neighbors::Neighbors;
use trioxide_mesh::partition::Partition;

/// Red, green, blue.
pub type Rgb = [u8; 3];

pub const BACKGROUND: Rgb = [255, 255, 255];
pub const EDGE: Rgb = [38, 50, 66];
pub const SEGMENT: Rgb = [176, 32, 48];
/// Front and back of a surface without colours.
pub const SURFACE: Rgb = [196, 212, 226];
pub const BACK: Rgb = [222, 178, 140];

/// For neighbours apart, and for regions. At least six colours, see [`distinct`]; none is near to the background, which
/// shows through holes.
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

/// A colour, darker.
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

/// Classes under `QUALITATIVE.len()` that are different on both sides of every edge.
///
/// Faces of a planar mesh form a planar graph, which always has a vertex with at most five neighbours: taking such a
/// vertex away until none is left, then colouring in the opposite order (smallest-last, Matula and Beck 1983), needs six
/// colours. Among the free colours a hash chooses, so that all are used. Faces of a mesh that is not planar may find none
/// free: they take any.
pub struct Distinct {
    neighbors: Neighbors,
    /// Neighbours of each face that are not taken away, by place.
    degrees: Vec<u32>,
    /// The places with each number of neighbours.
    buckets: Vec<Vec<u32>>,
}

/// Faces with that many neighbours are sorted by one thread.
const LAST_GROUP: usize = 255;

impl Distinct {
    /// Prepares, by all threads, what one of them does in [`Distinct::find`].
    pub fn new(neighbors: Neighbors) -> Distinct {
        let count = neighbors.places.len();
        let degrees: Vec<u32> = (0..count as u32)
            .into_par_iter()
            .map(|place| neighbors.of(place).len() as u32)
            .collect();
        let largest = degrees.par_iter().copied().max().unwrap_or(0) as usize;
        let last = largest.min(LAST_GROUP);
        let by_degree = Partition::new(count, last + 1, |face| {
            let place = neighbors.places[face];
            [((degrees[place as usize] as usize).min(last), place)]
        });
        let mut buckets: Vec<Vec<u32>> = (0..last).map(|d| by_degree.group(d).to_vec()).collect();
        buckets.resize(largest + 1, Vec::new());
        for &place in by_degree.group(last) {
            buckets[degrees[place as usize] as usize].push(place);
        }
        Distinct {
            neighbors,
            degrees,
            buckets,
        }
    }

    /// The class of each place. One thread: each choice depends on those before it.
    pub fn find(&mut self) -> Vec<u8> {
        let order = self.smallest_last();
        const NO_CLASS: u8 = u8::MAX;
        let members = members_of_sets();
        let neighbors = &self.neighbors;
        let mut classes = vec![NO_CLASS; order.len()];
        for &place in order.iter().rev() {
            let mut free = (1u32 << QUALITATIVE.len()) - 1;
            for &neighbor in neighbors.of(place) {
                let class = classes[neighbor as usize];
                if class != NO_CLASS {
                    free &= !(1 << class);
                }
            }
            if free == 0 {
                free = (1 << QUALITATIVE.len()) - 1;
            }
            // Fibonacci hashing.
            let face = neighbors.faces[place as usize];
            let hash = face.wrapping_mul(0x9e37_79b9) >> 8;
            let (count, of_set) = &members[free as usize];
            classes[place as usize] = of_set[(hash % count) as usize];
        }
        classes
    }

    /// The class of each face, from those of the places.
    pub fn of_faces(&self, classes: &[u8]) -> Vec<u8> {
        let places = self.neighbors.places.par_iter();
        places.map(|&place| classes[place as usize]).collect()
    }

    /// The places of all faces, each the one with the fewest neighbours among those that are not before it; of several, the one that
    /// has had its number of neighbours for the shortest time, and of those that always had it the last face.
    fn smallest_last(&mut self) -> Vec<u32> {
        let Distinct {
            neighbors,
            degrees,
            buckets,
        } = self;
        // A face stands in a bucket for each degree that it has had; only the entry of its present degree counts.
        const TAKEN: u32 = u32::MAX;
        let count = degrees.len();
        let mut order = Vec::with_capacity(count);
        let mut smallest = 0;
        while order.len() < count {
            let Some(place) = buckets[smallest].pop() else {
                smallest += 1;
                continue;
            };
            if degrees[place as usize] != smallest as u32 {
                continue;
            }
            degrees[place as usize] = TAKEN;
            order.push(place);
            for &neighbor in neighbors.of(place) {
                let degree = &mut degrees[neighbor as usize];
                if *degree != TAKEN {
                    *degree -= 1;
                    buckets[*degree as usize].push(neighbor);
                    smallest = smallest.min(*degree as usize);
                }
            }
        }
        order
    }
}

/// The number of classes in each set of them, by its bits, and the classes in ascending order: to walk through the bits would be much of
/// the time that a face takes.
fn members_of_sets() -> Vec<(u32, [u8; QUALITATIVE.len()])> {
    let members = |set: u32| {
        let mut classes = [0; QUALITATIVE.len()];
        let all = (0..QUALITATIVE.len() as u8).filter(|class| set >> class & 1 == 1);
        for (place, class) in classes.iter_mut().zip(all) {
            *place = class;
        }
        (set.count_ones(), classes)
    };
    (0..1 << QUALITATIVE.len()).map(members).collect()
}
