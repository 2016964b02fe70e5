//! Which nodes move, in which order they lie in memory, and which may move at the same time.

use glam::DVec3;
use gpu::smooth::{self as kernel, COLOURS, LEVELS, MOST_CURVE_BITS, Vector};
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use super::cells::Neighbours;
use crate::Result;
use crate::backend::Device;
use crate::collective::{compact, exclusive_scan};

/// Nodes that move, of V.
pub struct Moving {
    /// Bit v: node v moves.
    pub bits: Buffer<u32>,
    /// Bit v: node v stays.
    stays: Buffer<u32>,
}

impl Moving {
    /// The nodes that have neighbours and are not fixed.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(on: &Device, fixed: &Buffer<u32>, neighbours: &Neighbours) -> Result<Self> {
        let nodes = neighbours.rows.len() as u32 - 1;
        let words = nodes.div_ceil(32) as usize;
        let (mut bits, mut stays) = (on.uninitialized(words)?, on.uninitialized(words)?);
        unsafe {
            kernel::mark_moving::launch(on, nodes, fixed, &neighbours.rows, &mut bits, &mut stays)
        }?;
        Ok(Self { bits, stays })
    }
}

/// Nodes in an order: V nodes, of which the first M move; D neighbours of those.
pub struct Ordered {
    /// Node at each place; V.
    pub order: Buffer<u32>,
    /// Place of each node; V.
    pub ranks: Buffer<u32>,
    /// M.
    pub moving: u32,
    /// Start of each moving node's neighbours, and the end of the last; M + 1.
    pub rows: Buffer<u32>,
    /// Neighbours by their places, for each node in the order of their ids; D.
    pub neighbours: Buffer<u32>,
    /// Weight of each neighbour; D, or empty.
    pub weights: Buffer<f64>,
    /// Places of the nodes of each class: the first, and how many they are.
    pub classes: Vec<(u32, u32)>,
}

/// Which classes moving nodes have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Classes {
    /// All nodes are one.
    One,
    /// No two neighbours are of one class; few classes.
    Colours,
    /// A node's class is behind those of its neighbours with smaller ids.
    Levels,
}

/// Box around points, and the grid of the curve in it.
struct CurveGrid {
    low: DVec3,
    scale: f64,
    bits: u32,
}

impl CurveGrid {
    /// A grid with at least as many cells as points, as far as keys go.
    fn new(low: DVec3, high: DVec3, nodes: u32) -> Self {
        let bits = (nodes.ilog2().div_ceil(3) + 1).min(MOST_CURVE_BITS);
        let extent = (high - low).max_element();
        let scale = f64::from(1u32 << bits) / extent;
        Self {
            low,
            // A mesh without extent lies in one cell.
            scale: if scale.is_finite() { scale } else { 0.0 },
            bits,
        }
    }
}

/// The order in memory: moving nodes first; each kind along a curve through the box from `low` to `high` if there is one, else by id.
fn place<P: Vector>(
    on: &Device,
    points: &Buffer<P>,
    moving: &Moving,
    along_curve: Option<(DVec3, DVec3)>,
) -> Result<(Buffer<u32>, u32)> {
    let nodes = points.len() as u32;
    let mut order = on.uninitialized(nodes as usize)?;
    unsafe { kernel::count_up::launch(on, nodes, &mut order) }?;
    if let Some((low, high)) = along_curve {
        let grid = CurveGrid::new(low, high, nodes);
        let mut keys = on.uninitialized(nodes as usize)?;
        unsafe {
            kernel::key_nodes::launch(
                on, nodes, points, &mut keys, grid.low.x, grid.low.y, grid.low.z, grid.scale,
                grid.bits,
            )
        }?;
        let words = nodes.div_ceil(32) as usize;
        let (mut zeros, mut ones) = (on.uninitialized(words)?, on.uninitialized(words)?);
        for bit in 0..3 * grid.bits {
            unsafe {
                kernel::split_by_bit::launch(on, nodes, &order, &keys, bit, &mut zeros, &mut ones)
            }?;
            order = split(on, &order, &zeros, &ones)?.0;
        }
        unsafe {
            kernel::split_moving::launch(on, nodes, &order, &moving.bits, &mut zeros, &mut ones)
        }?;
        return split(on, &order, &zeros, &ones);
    }
    split(on, &order, &moving.bits, &moving.stays)
}

/// The items of a list that one bit set tells, then those that the other does; and the number of the former.
fn split(
    on: &Device,
    list: &Buffer<u32>,
    first: &Buffer<u32>,
    second: &Buffer<u32>,
) -> Result<(Buffer<u32>, u32)> {
    let (first, second) = (compact(on, first)?, compact(on, second)?);
    let mut result = on.uninitialized(list.len())?;
    let count = first.len() as u32;
    unsafe { kernel::pick::launch(on, count, &first, list, &mut result, 0) }?;
    unsafe { kernel::pick::launch(on, second.len() as u32, &second, list, &mut result, count) }?;
    Ok((result, count))
}

/// Rounds of classification that are launched before the host looks.
const ROUNDS: u32 = 4;

/// The class of each node in `list`, which moves; `NONE` of others.
fn classify(
    on: &Device,
    kind: u32,
    list: &Buffer<u32>,
    count: u32,
    moving: &Moving,
    Neighbours { rows, neighbours }: &Neighbours,
) -> Result<Buffer<u32>> {
    let mut classes = on.filled(rows.len() - 1, NONE)?;
    loop {
        for _ in 1..ROUNDS {
            let mut ignored = on.filled(1, 0)?;
            unsafe {
                kernel::classify::launch(
                    on,
                    count,
                    list,
                    rows,
                    neighbours,
                    &moving.bits,
                    &mut classes,
                    &mut ignored,
                    kind,
                )
            }?;
        }
        let mut left = on.filled(1, 0)?;
        unsafe {
            kernel::classify::launch(
                on,
                count,
                list,
                rows,
                neighbours,
                &moving.bits,
                &mut classes,
                &mut left,
                kind,
            )
        }?;
        if on.read(&left, 0)? == 0 {
            return Ok(classes);
        }
    }
}

impl Ordered {
    /// Orders nodes and rewrites their neighbours.
    ///
    /// `weights` has one weight for each neighbour, or is empty. Classes are those of `conflicts`: its neighbours never share
    /// one.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new<P: Vector>(
        on: &Device,
        points: &Buffer<P>,
        moving: &Moving,
        neighbours: &Neighbours,
        weights: &Buffer<f64>,
        along_curve: Option<(DVec3, DVec3)>,
        classes: Classes,
        conflicts: &Neighbours,
    ) -> Result<Self> {
        let (mut order, count) = on.stage("order", || place(on, points, moving, along_curve))?;
        let mut ranges = vec![(0, count)];
        if classes != Classes::One && count > 0 {
            ranges = on.stage("classes", || {
                let kind = if classes == Classes::Colours {
                    COLOURS
                } else {
                    LEVELS
                };
                let class = classify(on, kind, &order, count, moving, conflicts)?;
                let old = on.duplicate(&order)?;
                let mut bits = on.uninitialized(count.div_ceil(32) as usize)?;
                let (mut ranges, mut first) = (Vec::new(), 0);
                while first < count {
                    let number = ranges.len() as u32;
                    unsafe {
                        kernel::select_class::launch(on, count, &old, &class, number, &mut bits)
                    }?;
                    let places = compact(on, &bits)?;
                    let size = places.len() as u32;
                    unsafe { kernel::pick::launch(on, size, &places, &old, &mut order, first) }?;
                    ranges.push((first, size));
                    first += size;
                }
                Ok(ranges)
            })?;
        }
        on.stage("order", || {
            let mut ranks = on.uninitialized(order.len())?;
            unsafe { kernel::rank_nodes::launch(on, order.len() as u32, &order, &mut ranks) }?;
            let mut rows = on.filled(count as usize + 1, 0)?;
            unsafe { kernel::measure_row::launch(on, count, &order, &neighbours.rows, &mut rows) }?;
            let total = exclusive_scan(on, &mut rows)?;
            let total = on.read(&total, 0)? as usize;
            let mut list = on.uninitialized(total)?;
            let mut new_weights = on.uninitialized(if weights.is_empty() { 0 } else { total })?;
            unsafe {
                kernel::order_row::launch(
                    on,
                    count,
                    &order,
                    &ranks,
                    &neighbours.rows,
                    &neighbours.neighbours,
                    weights,
                    &rows,
                    &mut list,
                    &mut new_weights,
                )
            }?;
            Ok(Self {
                order,
                ranks,
                moving: count,
                rows,
                neighbours: list,
                weights: new_weights,
                classes: ranges,
            })
        })
    }
}
