//! The grid on a device.

use glam::DVec3;
use gpu::ids::Vertex;
use gpu::weld as kernel;
use gpu::weld::{
    Bucket, CELL_STEPS, Grid, Guard, GuardsBuffers, REGION_BUCKETS, RowOrder, RowSitesBuffers,
    STEP_ERROR, SearchBuffers, Site,
};
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use super::cells::{SAMPLES, choose_cells, least_side};
use super::{Error, Nearness, Result, Tuning, stage};
use crate::collective::{bucket_long, exclusive_scan, most_alone};
use crate::device::Device;

/// Blocks of a region of the table, of as many buckets each.
const BLOCKS_OF_REGION: usize = REGION_BUCKETS.isqrt() as usize;
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
    pub fn rows(&self) -> RowSitesBuffers<'_> {
        RowSitesBuffers {
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

    /// Buckets all points. Where cells are crowded and `may_compare`, the grid is for comparisons with representatives
    /// alone.
    pub fn build(
        on: &Device,
        points: &Buffer<DVec3>,
        near: &Nearness,
        tuning: &Tuning,
        may_compare: bool,
    ) -> Result<Self> {
        let n = points.len();
        let regions = regions(n, tuning);
        let (chosen, mut counters) = stage(on, "choose cells", || {
            let (samples, steps, counters) =
                samples(on, points, || Ok(Some(Counters::new(on, regions)?)))?;
            let (origin, side) = choose_cells(&samples, n, near.reach, tuning);
            let within = |most: f64| steps.iter().filter(|&&step| step < most).count();
            let follow = 4 * within(4.0 * side) > 3 * steps.len();
            let is_chained = follow && 2 * within(near.reach) > steps.len();
            Ok(((origin, side, [follow, is_chained]), counters))
        })?;
        let (origin, mut side, [ids_follow_space, is_chained]) = chosen;
        stage(on, "grid", || {
            let least = least_side(near.reach);
            let mut divisions = 0;
            loop {
                // No side of a cell divides equal points.
                let is_exact = may_compare && near.reach == 0.0 && divisions > DIVISIONS;
                let parameters = parameters(origin, side, near, regions as u32, is_exact);
                let Placed {
                    keys,
                    ranks,
                    mut offsets,
                    found,
                } = place(on, points, parameters, counters.take())?;
                let fit = |found: &[u32]| {
                    let (crowded, largest) = (found[1], !found[2]);
                    let is_crowded = largest > tuning.most_in_bucket || crowded as usize > n / 4;
                    if is_crowded && side > least && (divisions <= DIVISIONS || !may_compare) {
                        Fit::Divide
                    } else if n > 0 && may_compare && (is_crowded || tuning.most_in_bucket == 0) {
                        Fit::Compare
                    } else {
                        Fit::Good
                    }
                };
                let is_good = |found: &[u32]| found[0] == NONE && fit(found) == Fit::Good;
                let (found, gathered) = on.guess(&found, is_good, || {
                    exclusive_scan(on, &mut offsets)?;
                    gather(
                        on,
                        points,
                        &keys,
                        &ranks,
                        &offsets,
                        parameters,
                        ids_follow_space,
                    )
                })?;
                if found[0] != NONE {
                    return Err(Error::Coordinate {
                        vertex: found[0] as usize,
                    });
                }
                let largest = !found[2];
                match (fit(&found), gathered) {
                    (Fit::Good, Some((sites, sorted))) => {
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
                    (Fit::Compare, _) => {
                        drop((offsets, ranks));
                        return Self::crowded(
                            on,
                            points,
                            parameters,
                            keys,
                            largest,
                            ids_follow_space,
                        );
                    }
                    _ => {}
                }
                divisions += 1;
                side = match may_compare && divisions > DIVISIONS {
                    true => least,
                    false => (side / 8.0).max(least),
                };
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
        // SAFETY: one index a slot; the lengths are checked.
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

/// How a grid fits its points, by its buckets.
#[derive(Clone, Copy, PartialEq)]
enum Fit {
    Good,
    /// Crowded: cells are to be smaller.
    Divide,
    /// Crowded, and smaller cells are no help: points are compared with representatives alone.
    Compare,
}

/// Points by their buckets.
struct Placed {
    /// Bucket of each point.
    keys: Buffer<Bucket>,
    /// Number of each point among those of its bucket.
    ranks: Buffer<u32>,
    /// Points of each bucket, and a zero: scanned, it is the end of the last.
    offsets: Buffer<u32>,
    /// A point that cannot be placed; points of crowded buckets; the complement of the largest one's.
    found: Buffer<u32>,
}

/// Counters before any point is placed: the counters of buckets, and `found` as in [`Placed`].
struct Counters {
    offsets: Buffer<u32>,
    found: Buffer<u32>,
}

impl Counters {
    fn new(on: &Device, regions: usize) -> crate::Result<Self> {
        Ok(Self {
            offsets: on.filled(regions * REGION_BUCKETS as usize + 1, 0)?,
            found: on.upload(&[NONE, 0, NONE])?,
        })
    }
}

/// Finds the bucket of each point, and counts those of each.
fn place(
    on: &Device,
    points: &Buffer<DVec3>,
    parameters: Grid,
    counters: Option<Counters>,
) -> crate::Result<Placed> {
    let n = points.len() as u32;
    let new = || Counters::new(on, parameters.regions as usize);
    let Counters {
        mut offsets,
        mut found,
    } = counters.map_or_else(new, Ok)?;
    let mut keys = on.uninitialized(points.len())?;
    kernel::place_points::launch(on, n, points, parameters, &mut keys, &mut found)?;
    let mut ranks = on.uninitialized(points.len())?;
    kernel::count_points::launch(on, n, &keys, &mut offsets, &mut ranks)?;
    let fours = parameters.regions * REGION_BUCKETS / 4;
    kernel::measure_buckets::launch(on, fours, &offsets, &mut found)?;
    Ok(Placed {
        keys,
        ranks,
        offsets,
        found,
    })
}

/// The sites of points with these `keys` and `ranks` in them, and, unless `ids_follow_space`, their positions in the
/// same order.
fn gather(
    on: &Device,
    points: &Buffer<DVec3>,
    keys: &Buffer<Bucket>,
    ranks: &Buffer<u32>,
    offsets: &Buffer<u32>,
    parameters: Grid,
    ids_follow_space: bool,
) -> crate::Result<(Buffer<Site>, Buffer<DVec3>)> {
    let n = points.len();
    let mut sites = on.uninitialized(n)?;
    let mut sorted = on.uninitialized(if ids_follow_space { 0 } else { n })?;
    // SAFETY: ranks number the points of each bucket, so that each point has a slot of its own.
    unsafe {
        kernel::gather_points::launch(
            on,
            n as u32,
            points,
            keys,
            ranks,
            offsets,
            parameters,
            &mut sites,
            &mut sorted,
        )
    }?;
    Ok((sites, sorted))
}

/// Regions of the table for `n` points.
fn regions(n: usize, tuning: &Tuning) -> usize {
    let blocks = n / tuning.points_per_block.max(1);
    // Buckets are numbered by 32 bits.
    let most = (u32::MAX / REGION_BUCKETS) as usize - 1;
    1 + blocks.div_ceil(BLOCKS_OF_REGION).min(most)
}

/// Some points, the distance of each from the next vertex, and the result of `work`, which a GPU does meanwhile.
fn samples<R>(
    on: &Device,
    points: &Buffer<DVec3>,
    work: impl FnOnce() -> crate::Result<R>,
) -> Result<(Vec<DVec3>, Vec<f64>, R)> {
    if points.is_empty() {
        return Ok((Vec::new(), Vec::new(), work()?));
    }
    let count = SAMPLES;
    let mut samples = on.uninitialized(2 * count)?;
    kernel::sample_points::launch(on, count as u32, points, &mut samples)?;
    let (pairs, result) = on.read_beside(&samples, work)?;
    let (pairs, _) = pairs.as_chunks();
    let step = |[a, b]: &[DVec3; 2]| (a - b).abs().max_element();
    Ok((
        pairs.iter().map(|pair| pair[0]).collect(),
        pairs.iter().map(step).collect(),
        result,
    ))
}

/// A distance smaller than most points are from their neighbours, and not 0.
pub fn spacing(on: &Device, points: &Buffer<DVec3>) -> Result<f64> {
    let (samples, ..) = samples(on, points, || Ok(()))?;
    Ok(spacing_of(&samples, points.len() as u64))
}

/// The distance from which [`search`](super::search) starts for `n` points, by the `samples` that
/// [`samples_of_spacing`] names. It is smaller than most points are from their neighbours, and not 0.
pub fn spacing_of(samples: &[DVec3], n: u64) -> f64 {
    let (_, side) = choose_cells(samples, n as usize, 0.0, &Tuning::default());
    side / 64.0
}

/// The samples of `n` points for [`spacing_of`]: the ids of the points that the kernel `sample_points` draws.
pub fn samples_of_spacing(n: u64) -> Vec<u64> {
    let drawn = |i: u32| {
        let mixed = i.wrapping_mul(0x9E37_79B9) ^ i << 7;
        (u128::from(mixed.wrapping_mul(0x85EB_CA6B)) * u128::from(n)) >> 32
    };
    let count = if n == 0 { 0 } else { SAMPLES as u32 };
    (0..count).map(|i| drawn(i) as u64).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Several processes fetch the samples that one draws on its device.
    #[test]
    fn samples_are_those_that_the_kernel_draws() {
        let on = Device::cpu(Some(1)).unwrap();
        for n in [0_u32, 1, 2, 1000, 70_000] {
            let points: Vec<DVec3> = (0..n).map(|i| DVec3::X * f64::from(i)).collect();
            let points = on.upload(&points).unwrap();
            let (drawn, ..) = samples(&on, &points, || Ok(())).unwrap();
            let drawn: Vec<u64> = drawn.iter().map(|p| p.x as u64).collect();
            assert_eq!(samples_of_spacing(n.into()), drawn, "{n} points");
        }
    }
}
