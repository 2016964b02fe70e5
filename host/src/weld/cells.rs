//! The size of a grid's cells, from a sample of the points. It decides the speed, not the result.

use glam::DVec3;
use gpu::weld::{CELL_STEPS, STEP_ERROR};

use super::Tuning;

/// Points that the choice of the cells' side looks at.
pub const SAMPLES: usize = 1024;
/// Largest [`Tuning::cell_width`] that counts.
const MOST_CELL_WIDTH: f64 = 1024.0;
/// Halvings of the samples' extent that the choice of the cells' side looks at.
const HALVINGS: u32 = 40;

/// A cell is at least twice as wide as the reach and its error, so that neighbours lie in two cells along each axis.
pub fn least_side(reach: f64) -> f64 {
    let steps = f64::from(CELL_STEPS);
    (reach * (steps / (steps / 2.0 - f64::from(STEP_ERROR) - 1.0))).max(1e-300)
}

/// Corner and side of the cells for `n` points, some of which are the `samples`: cells of as many points as `tuning`
/// says, unless epsilon needs larger ones. This decides the speed, not the result.
///
/// The number of boxes of one side that the samples are in, and that of boxes twice as large, give the dimension of the
/// set that they lie on: 1 for a curve, 2 for a surface, 3 for a volume. From that follows the number of smaller boxes
/// for all points.
pub fn choose_cells(samples: &[DVec3], n: usize, reach: f64, tuning: &Tuning) -> (DVec3, f64) {
    let least = least_side(reach);
    let mut origin = DVec3::ZERO;
    let mut extent = 0.0f64;
    for axis in 0..3 {
        let mut values: Vec<f64> = samples.iter().step_by(4).map(|p| p[axis]).collect();
        if values.iter().any(|x| !x.is_finite()) || values.is_empty() {
            // Found and refused when all are placed.
            return (DVec3::ZERO, least);
        }
        // Outliers do not count: between the octiles.
        let last = values.len() - 1;
        let (_, low, _) = values.select_nth_unstable_by(last / 8, f64::total_cmp);
        let low = *low;
        let (_, middle, _) = values.select_nth_unstable_by(last / 2, f64::total_cmp);
        origin[axis] = *middle;
        let (_, high, _) = values.select_nth_unstable_by(last - last / 8, f64::total_cmp);
        extent = extent.max(*high - low);
    }
    if extent <= 2.0 * least {
        return (origin, least);
    }
    let cells = cells_of(samples, origin, extent);
    // Boxes are 2^bits of the smallest wide.
    let (mut side, mut bits) = (extent, HALVINGS);
    let mut boxes = count_boxes(&cells, bits, cells.len());
    while bits > 0 && side > least {
        let full = cells.len() / 4;
        let finer = count_boxes(&cells, bits - 1, full);
        if finer > full {
            break;
        }
        (side, bits, boxes) = (side / 2.0, bits - 1, finer);
    }
    let coarser = count_boxes(&cells, bits + 1, cells.len());
    let dimension = (boxes as f64 / coarser as f64).log2().clamp(1.0, 3.0);
    let wanted = n as f64 / tuning.points_per_cell;
    let chosen = side * (boxes as f64 / wanted).powf(1.0 / dimension);
    // Odd tuning may ask for cells of any size: none is smaller than epsilon needs, or infinite.
    let chosen = if chosen.is_finite() { chosen } else { side };
    let width = match tuning.cell_width.is_nan() {
        true => 1.0,
        false => tuning.cell_width.clamp(1.0, MOST_CELL_WIDTH),
    };
    (origin, chosen.max(least * width))
}

/// The smallest boxes that the samples are in, `extent` halved [`HALVINGS`] times wide.
fn cells_of(samples: &[DVec3], origin: DVec3, extent: f64) -> Vec<[i64; 3]> {
    let (inverse, halves) = (1.0 / extent, (1_u64 << HALVINGS) as f64);
    let cell = |x: f64| {
        // A floor, without a call.
        let towards_zero = x as i64;
        towards_zero.wrapping_sub(i64::from(towards_zero as f64 > x))
    };
    let cell_of = |&p: &DVec3| ((p - origin) * inverse * halves).to_array().map(cell);
    samples.iter().map(cell_of).collect()
}

/// Number of boxes that samples in these smallest `cells` are in, by a hash of 64 bits; boxes are 2^bits cells wide.
/// Ends with the first box beyond `most`.
fn count_boxes(cells: &[[i64; 3]], bits: u32, most: usize) -> usize {
    let mut table = [0u64; 2 * SAMPLES];
    let mut boxes = 0;
    for cell in cells {
        let [x, y, z] = cell.map(|c| (c >> bits) as u64);
        let hash = x
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .wrapping_add(y.wrapping_mul(0xC2B2_AE3D_27D4_EB4F))
            .wrapping_add(z.wrapping_mul(0x1656_67B1_9E37_79F9))
            | 1;
        let mut slot = (hash.wrapping_mul(0xFF51_AFD7_ED55_8CCD) >> 32) as usize % table.len();
        while table[slot] != 0 && table[slot] != hash {
            slot = (slot + 1) % table.len();
        }
        if table[slot] == 0 {
            table[slot] = hash;
            boxes += 1;
            if boxes > most {
                break;
            }
        }
    }
    boxes
}
