//! The grid on a device, and the choice of its cells.

use glam::DVec3;
use gpu::ids::Vertex;
use gpu::weld as kernel;
use gpu::weld::{
    Bucket, CELL_STEPS, Grid, Guard, GuardsBuffers, REGION_BUCKETS, RowOrder, RowsBuffers,
    STEP_ERROR, SearchBuffers, Site,
};
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use super::{Error, Nearness, Result, Tuning, stage};
use crate::backend::Device;
use crate::collective::{bucket_long, exclusive_scan, most_alone};

/// Points that the choice of the cells' side looks at.
const SAMPLES: usize = 1024;
/// Blocks of a region of the table, of as many buckets each.
const BLOCKS_OF_REGION: usize = REGION_BUCKETS.isqrt() as usize;
/// Largest [`Tuning::cell_width`] that counts.
const MOST_CELL_WIDTH: f64 = 1024.0;
/// Times that crowded cells are divided before they become as small as they can.
const DIVISIONS: u32 = 2;

/// Points by cells: V sites in buckets.
pub struct DeviceGrid {
    parameters: Grid,
    /// Start of each bucket in `sites`, and the end of the last.
    offsets: Buffer<u32>,
    /// The vertices by bucket; V.
    sites: Buffer<Site>,
    /// Positions of the sites, where the vertices' ids do not follow space; else empty.
    sorted: Buffer<DVec3>,
    /// Bucket of each vertex where buckets are crowded: then vertices ascend in each. Else empty.
    pub keys: Buffer<Bucket>,
    /// Points of the largest bucket.
    pub largest: u32,
    /// Whether most vertices are near the next one, so that they wait for each other in chains along the ids.
    pub is_chained: bool,
}

impl DeviceGrid {
    /// Whether pairs of neighbours may be too many to be found.
    pub fn is_crowded(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Start of each bucket among the slots, and the end of the last.
    pub fn offsets(&self) -> &Buffer<u32> {
        &self.offsets
    }

    /// Bytes that building takes at once, for V points.
    pub fn bytes_needed(points: usize) -> usize {
        let words = 2 * points + regions(points, &Tuning::default()) * REGION_BUCKETS as usize;
        // Whether positions are sorted too is known only later.
        points * (size_of::<Site>() + size_of::<DVec3>()) + words * size_of::<u32>()
    }

    /// Whether rows are vertices or slots.
    pub fn order(&self) -> RowOrder {
        match self.sorted.is_empty() {
            true => RowOrder::BY_VERTEX,
            false => RowOrder::BY_SLOT,
        }
    }

    /// The sites and their rows.
    pub fn rows(&self) -> RowsBuffers<'_> {
        RowsBuffers {
            sites: &self.sites,
            order: self.order(),
        }
    }

    /// A neighbour search among `points`, from which the grid was made.
    pub fn search<'a, G: Guard>(
        &'a self,
        points: &'a Buffer<DVec3>,
        guards: GuardsBuffers<'a, G>,
    ) -> SearchBuffers<'a, G> {
        SearchBuffers {
            grid: self.parameters,
            offsets: &self.offsets,
            rows: self.rows(),
            positions: match self.order() {
                RowOrder::BY_SLOT => &self.sorted,
                _ => points,
            },
            guards,
        }
    }

    /// Buckets all points. Where cells are crowded and `may_compare`, the grid is for comparisons with representatives alone.
    pub fn build(
        on: &Device,
        points: &Buffer<DVec3>,
        near: &Nearness,
        tuning: &Tuning,
        may_compare: bool,
    ) -> Result<Self> {
        let n = points.len();
        let (origin, mut side, [ids_follow_space, is_chained]) = stage(on, "choose cells", || {
            let (samples, steps) = samples(on, points)?;
            let (origin, side) = choose_cells(&samples, n, near.reach, tuning);
            let within = |most: f64| steps.iter().filter(|&&step| step < most).count();
            let follow = 4 * within(4.0 * side) > 3 * steps.len();
            let is_chained = follow && 2 * within(near.reach) > steps.len();
            Ok((origin, side, [follow, is_chained]))
        })?;
        let regions = regions(n, tuning);
        stage(on, "grid", || {
            let least = least_side(near.reach);
            let mut divisions = 0;
            loop {
                // No side of a cell divides equal points.
                let is_exact = may_compare && near.reach == 0.0 && divisions > DIVISIONS;
                let parameters = parameters(origin, side, near, regions as u32, is_exact);
                let mut keys = on.uninitialized(n)?;
                let mut found = on.upload(&[NONE, 0, NONE])?;
                // SAFETY: one index a point; the lengths are checked.
                unsafe {
                    kernel::place_points::launch(
                        on, n as u32, points, parameters, &mut keys, &mut found,
                    )
                }?;
                let buckets = regions * REGION_BUCKETS as usize;
                // One more: scanned, it is the end of the last.
                let mut offsets = on.filled(buckets + 1, 0)?;
                let mut ranks = on.uninitialized(n)?;
                // SAFETY: buckets of the grid are below their number.
                unsafe {
                    kernel::count_points::launch(on, n as u32, &keys, &mut offsets, &mut ranks)
                }?;
                // SAFETY: one index a bucket; the lengths are checked.
                unsafe {
                    kernel::measure_buckets::launch(on, buckets as u32, &offsets, &mut found)
                }?;
                let [bad, crowded, largest] = on.download(&found)?[..] else {
                    unreachable!("three counters");
                };
                if bad != NONE {
                    return Err(Error::Coordinate {
                        vertex: bad as usize,
                    });
                }
                let largest = !largest;
                let is_crowded = largest > tuning.most_in_bucket || crowded as usize > n / 4;
                if is_crowded && side > least && (divisions <= DIVISIONS || !may_compare) {
                    divisions += 1;
                    side = match may_compare && divisions > DIVISIONS {
                        true => least,
                        false => (side / 8.0).max(least),
                    };
                    continue;
                }
                if n > 0 && may_compare && (is_crowded || tuning.most_in_bucket == 0) {
                    drop((offsets, ranks));
                    return Self::crowded(on, points, parameters, keys, largest, ids_follow_space);
                }
                exclusive_scan(on, &mut offsets)?;
                let mut sites = on.uninitialized(n)?;
                let mut sorted = on.uninitialized(if ids_follow_space { 0 } else { n })?;
                // SAFETY: ranks number the points of each bucket, so that each point has a slot of its own.
                unsafe {
                    kernel::gather_points::launch(
                        on,
                        n as u32,
                        points,
                        &keys,
                        &ranks,
                        &offsets,
                        parameters,
                        &mut sites,
                        &mut sorted,
                    )
                }?;
                return Ok(Self {
                    parameters,
                    offsets,
                    sites,
                    sorted,
                    keys: on.uninitialized(0)?,
                    largest,
                    is_chained,
                });
            }
        })
    }

    /// The grid of points with these `keys`, ascending in each bucket.
    fn crowded(
        on: &Device,
        points: &Buffer<DVec3>,
        parameters: Grid,
        keys: Buffer<Bucket>,
        largest: u32,
        ids_follow_space: bool,
    ) -> Result<Self> {
        let n = points.len();
        let buckets = parameters.regions as usize * REGION_BUCKETS as usize;
        // SAFETY: each point has the key of a bucket.
        let (lists, _) = unsafe { bucket_long(on, &keys, buckets, n, most_alone(on)) }?;
        let (offsets, items): (_, Buffer<Vertex>) = lists.into_parts();
        let mut sites = on.uninitialized(n)?;
        let mut sorted = on.uninitialized(if ids_follow_space { 0 } else { n })?;
        // SAFETY: the lists hold vertices, each once.
        unsafe {
            kernel::gather_listed::launch(
                on,
                n as u32,
                &items,
                points,
                parameters,
                &mut sites,
                &mut sorted,
            )
        }?;
        Ok(Self {
            parameters,
            offsets,
            sites,
            sorted,
            keys,
            largest,
            // Pairs are not noted.
            is_chained: false,
        })
    }
}

/// Regions of the table for `n` points.
fn regions(n: usize, tuning: &Tuning) -> usize {
    let blocks = n / tuning.points_per_block.max(1);
    // Buckets are numbered by 32 bits.
    let most = (u32::MAX / REGION_BUCKETS) as usize - 1;
    1 + blocks.div_ceil(BLOCKS_OF_REGION).min(most)
}

/// Some points, and the distance of each from the next vertex.
fn samples(on: &Device, points: &Buffer<DVec3>) -> Result<(Vec<DVec3>, Vec<f64>)> {
    if points.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let count = SAMPLES;
    let mut samples = on.uninitialized(2 * count)?;
    // SAFETY: there is a point; samples are drawn below the number of points.
    unsafe { kernel::sample_points::launch(on, count as u32, points, &mut samples) }?;
    let pairs = on.download(&samples)?;
    let (pairs, _) = pairs.as_chunks();
    let step = |[a, b]: &[DVec3; 2]| (a - b).abs().max_element();
    Ok((
        pairs.iter().map(|pair| pair[0]).collect(),
        pairs.iter().map(step).collect(),
    ))
}

/// A distance smaller than most points are from their neighbours, and not 0.
pub fn spacing(on: &Device, points: &Buffer<DVec3>) -> Result<f64> {
    Ok(spacing_of(&samples(on, points)?.0, points.len() as u64))
}

/// The distance from which [`search`](super::search) starts for `n` points, by some of them: those that [`samples_of_spacing`] names.
/// It is smaller than most points are from their neighbours, and not 0.
pub fn spacing_of(samples: &[DVec3], n: u64) -> f64 {
    let (_, side) = choose_cells(samples, n as usize, 0.0, &Tuning::default());
    side / 64.0
}

/// The points, of `n`, by which [`spacing_of`] goes: those that the kernel `sample_points` draws.
pub fn samples_of_spacing(n: u64) -> Vec<u64> {
    let drawn = |i: u32| {
        let mixed = i.wrapping_mul(0x9E37_79B9) ^ i << 7;
        (u128::from(mixed.wrapping_mul(0x85EB_CA6B)) * u128::from(n)) >> 32
    };
    let count = if n == 0 { 0 } else { SAMPLES as u32 };
    (0..count).map(|i| drawn(i) as u64).collect()
}

/// A cell is at least twice as wide as the reach and its error, so that neighbours lie in two cells along each axis.
fn least_side(reach: f64) -> f64 {
    let steps = f64::from(CELL_STEPS);
    (reach * (steps / (steps / 2.0 - f64::from(STEP_ERROR) - 1.0))).max(1e-300)
}

fn parameters(origin: DVec3, side: f64, near: &Nearness, regions: u32, is_exact: bool) -> Grid {
    let inverse_step = f64::from(CELL_STEPS) / side;
    let steps = near.reach * inverse_step;
    let reach = steps.ceil() as u32 + STEP_ERROR;
    // The errors along three axes add up to a vector of this length.
    let apart = (steps + f64::from(STEP_ERROR) * 1.7321).ceil() as u32;
    Grid {
        origin: origin.to_array(),
        inverse_step,
        scale: near.scale,
        bound: near.bound,
        reach: if is_exact { 0 } else { reach },
        place_bound: apart * apart,
        regions,
        is_exact: is_exact.into(),
    }
}

/// Corner and side of the cells for `n` points, some of which are the `samples`: cells of as many points as `tuning` says, unless
/// epsilon needs larger ones. This decides the speed, not the result.
///
/// The number of boxes of one side that the samples are in, and that of boxes twice as large, give the dimension of the set that
/// they lie on: 1 for a curve, 2 for a surface, 3 for a volume. From that follows the number of smaller boxes for all points.
fn choose_cells(samples: &[DVec3], n: usize, reach: f64, tuning: &Tuning) -> (DVec3, f64) {
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
    let mut side = extent;
    let mut boxes = count_boxes(samples, origin, side);
    for _ in 0..40 {
        let finer = count_boxes(samples, origin, side / 2.0);
        let full = samples.len() as f64 / 4.0;
        if finer as f64 > full || side <= least {
            break;
        }
        (side, boxes) = (side / 2.0, finer);
    }
    let coarser = count_boxes(samples, origin, side * 2.0);
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

/// Number of boxes that the samples are in, by a hash of 64 bits.
fn count_boxes(samples: &[DVec3], origin: DVec3, side: f64) -> usize {
    let inverse = 1.0 / side;
    let cell = |x: f64| {
        // A floor, without a call.
        let towards_zero = x as i64;
        towards_zero.wrapping_sub(i64::from(towards_zero as f64 > x)) as u64
    };
    let mut table = [0u64; 4 * SAMPLES];
    let mut boxes = 0;
    for &p in samples {
        let [x, y, z] = ((p - origin) * inverse).to_array().map(cell);
        let hash = x
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .wrapping_add(y.wrapping_mul(0xC2B2_AE3D_27D4_EB4F))
            .wrapping_add(z.wrapping_mul(0x1656_67B1_9E37_79F9))
            | 1;
        let mut slot = (hash.wrapping_mul(0xFF51_AFD7_ED55_8CCD) >> 32) as usize % table.len();
        while table[slot] != 0 && table[slot] != hash {
            slot = (slot + 1) % table.len();
        }
        boxes += usize::from(table[slot] == 0);
        table[slot] = hash;
    }
    boxes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Several processes fetch the samples that one draws on its device.
    #[test]
    fn samples_are_those_that_the_kernel_draws() {
        let on = Device::cpu(Some(1)).unwrap();
        for n in [0_u32, 1, 2, 1000, 70_000] {
            let points: Vec<DVec3> = (0..n).map(|i| DVec3::X * f64::from(i)).collect();
            let drawn = samples(&on, &on.upload(&points).unwrap()).unwrap().0;
            let drawn: Vec<u64> = drawn.iter().map(|p| p.x as u64).collect();
            assert_eq!(samples_of_spacing(n.into()), drawn, "{n} points");
        }
    }
}
