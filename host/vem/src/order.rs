//! The order of the unknowns: along the Morton curve, so that neighbouring vertices are near in memory too.

use rayon::slice::ParallelSliceMut;

/// Sorts `vertices` by their places on the Morton curve through their bounding box; equal places by id. D is 2 or 3,
/// and `point` gives finite coordinates.
pub fn along_curve<const D: usize>(vertices: &mut [u32], point: impl Fn(u32) -> [f64; D] + Sync) {
    let bits = 32 / D as u32;
    let (mut least, mut most) = ([f64::INFINITY; D], [f64::NEG_INFINITY; D]);
    for point in vertices.iter().map(|&v| point(v)) {
        for axis in 0..D {
            least[axis] = least[axis].min(point[axis]);
            most[axis] = most[axis].max(point[axis]);
        }
    }
    let side = (0..D)
        .map(|axis| most[axis] - least[axis])
        .fold(0.0, f64::max);
    let scale = f64::from(1u32 << bits) / side;
    let last = (1u32 << bits) - 1;
    let place = |v: u32| {
        let point = point(v);
        // The conversion saturates. It gives 0 for the NaN of an empty side.
        let cells: [u32; D] =
            std::array::from_fn(|axis| (((point[axis] - least[axis]) * scale) as u32).min(last));
        (0..bits).rev().fold(0, |place: u32, bit| {
            (0..D).fold(place, |place, axis| place << 1 | cells[axis] >> bit & 1)
        })
    };
    let mut keys: Vec<u64> =
        trioxide_mesh::parallel::map(vertices, |&v| u64::from(place(v)) << 32 | u64::from(v));
    keys.par_sort_unstable();
    for (vertex, key) in vertices.iter_mut().zip(keys) {
        *vertex = key as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_come_quarter_by_quarter() {
        // A square of 4 by 4, by rows.
        let point = |v: u32| [f64::from(v % 4), f64::from(v / 4)];
        let mut vertices: Vec<u32> = (0..16).rev().collect();
        along_curve(&mut vertices, point);
        assert_eq!(
            vertices,
            [0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15]
        );
        // All at one place: sorted by id.
        let mut vertices = [3, 1, 2];
        along_curve(&mut vertices, |_| [7.0; 3]);
        assert_eq!(vertices, [1, 2, 3]);
    }
}
