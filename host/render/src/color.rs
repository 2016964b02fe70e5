use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use trioxide_mesh::edges::EdgeFaces;
use trioxide_mesh::mesh::NONE;

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

/// A class under `QUALITATIVE.len()` for each of `count` faces, different on both sides of every edge.
///
/// Faces of a planar mesh form a planar graph, which always has a vertex with at most five neighbours: taking such a
/// vertex away until none is left, then colouring in the opposite order (smallest-last, Matula and Beck 1983), needs six
/// colours. Among the free colours a hash chooses, so that all are used. Faces of a mesh that is not planar may find none
/// free: they take any.
pub fn distinct(count: usize, edges: &[EdgeFaces]) -> Vec<u8> {
    let (offsets, neighbors) = adjacency(count, edges);
    let neighbors = |face: u32| {
        &neighbors[offsets[face as usize] as usize..offsets[face as usize + 1] as usize]
    };

    let mut degrees: Vec<u32> = (0..count as u32)
        .map(|f| neighbors(f).len() as u32)
        .collect();
    let largest = degrees.iter().copied().max().unwrap_or(0);
    // A face stands in a bucket for each degree that it has had; only the entry of its present degree counts.
    let mut buckets = vec![Vec::new(); largest as usize + 1];
    for (face, &degree) in degrees.iter().enumerate() {
        buckets[degree as usize].push(face as u32);
    }
    const TAKEN: u32 = u32::MAX;
    let mut order = Vec::with_capacity(count);
    let mut smallest = 0;
    while order.len() < count {
        let Some(face) = buckets[smallest].pop() else {
            smallest += 1;
            continue;
        };
        if degrees[face as usize] != smallest as u32 {
            continue;
        }
        degrees[face as usize] = TAKEN;
        order.push(face);
        for &neighbor in neighbors(face) {
            let degree = &mut degrees[neighbor as usize];
            if *degree != TAKEN {
                *degree -= 1;
                buckets[*degree as usize].push(neighbor);
                smallest = smallest.min(*degree as usize);
            }
        }
    }

    const NO_CLASS: u8 = u8::MAX;
    let mut classes = vec![NO_CLASS; count];
    for &face in order.iter().rev() {
        let mut free = (1u32 << QUALITATIVE.len()) - 1;
        for &neighbor in neighbors(face) {
            let class = classes[neighbor as usize];
            if class != NO_CLASS {
                free &= !(1 << class);
            }
        }
        if free == 0 {
            free = (1 << QUALITATIVE.len()) - 1;
        }
        // Fibonacci hashing.
        let hash = (face.wrapping_mul(0x9e37_79b9) >> 8) as usize;
        let choice = hash % free.count_ones() as usize;
        for _ in 0..choice {
            // Without its lowest class.
            free &= free - 1;
        }
        classes[face as usize] = free.trailing_zeros() as u8;
    }
    classes
}

/// Faces that share an edge with each face, each once, in CSR.
fn adjacency(count: usize, edges: &[EdgeFaces]) -> (Vec<u32>, Vec<u32>) {
    let each = |visit: &(dyn Fn(u32, u32) + Sync)| {
        edges.par_iter().for_each(|edge| {
            let [left, right] = edge.faces;
            if right != NONE && left != right {
                visit(left, right);
                visit(right, left);
            }
        });
    };
    let counts: Vec<AtomicU32> = (0..=count).map(|_| AtomicU32::new(0)).collect();
    each(&|face, _| _ = counts[face as usize + 1].fetch_add(1, Relaxed));
    let mut sum = 0;
    let offsets: Vec<u32> = counts
        .into_iter()
        .map(|count| {
            sum += count.into_inner();
            sum
        })
        .collect();
    let cursor: Vec<AtomicU32> = offsets.par_iter().map(|&at| AtomicU32::new(at)).collect();
    let places: Vec<AtomicU32> = (0..sum).into_par_iter().map(AtomicU32::new).collect();
    // In any order: then each list is sorted.
    each(&|face, neighbor| {
        let place = cursor[face as usize].fetch_add(1, Relaxed);
        places[place as usize].store(neighbor, Relaxed);
    });
    let lists: Vec<Vec<u32>> = (0..count)
        .into_par_iter()
        .step_by(LISTS)
        .map(|first| {
            let mut lists = Vec::new();
            for face in first..count.min(first + LISTS) {
                let begin = lists.len();
                let range = offsets[face] as usize..offsets[face + 1] as usize;
                lists.extend(places[range].iter().map(|place| place.load(Relaxed)));
                lists[begin..].sort_unstable();
            }
            lists
        })
        .collect();
    let neighbors: Vec<u32> = lists.into_par_iter().flatten().collect();
    without_repeats(offsets, neighbors)
}

/// Faces whose lists one task sorts.
const LISTS: usize = 4096;

/// Lists of which each has a neighbour once: faces may share several edges.
fn without_repeats(offsets: Vec<u32>, neighbors: Vec<u32>) -> (Vec<u32>, Vec<u32>) {
    let list = |face: usize| &neighbors[offsets[face] as usize..offsets[face + 1] as usize];
    let count = offsets.len() - 1;
    let repeats = |face: usize| list(face).windows(2).any(|pair| pair[0] == pair[1]);
    if !(0..count).into_par_iter().any(repeats) {
        return (offsets, neighbors);
    }
    let (mut begins, mut once) = (vec![0], Vec::with_capacity(neighbors.len()));
    for face in 0..count {
        once.extend(list(face).chunk_by(|a, b| a == b).map(|same| same[0]));
        begins.push(once.len() as u32);
    }
    (begins, once)
}
