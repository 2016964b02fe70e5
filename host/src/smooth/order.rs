//! The nodes that move, their order in memory, and the classes that may move at the same time.

use glam::DVec3;
use gpu::ids::{HalfEdge, Place, Vertex};
use gpu::smooth::{
    self as kernel, COLOURS, LEVELS, MOST_CURVE_BITS, NeighbourhoodBuffers, ROW_LANES, Vector,
    found,
};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, NONE, words};

use super::relations::Neighbours;
use crate::Result;
use crate::collective::{compact, count_bits, exclusive_scan, order_by_keys, start_local};
use crate::device::Device;

/// Nodes that move, of V.
pub(super) struct Moving {
    /// The nodes that move.
    pub(super) bits: Buffer<Bits<Vertex>>,
    /// All other nodes.
    stays: Buffer<Bits<Vertex>>,
}

impl Moving {
    /// The nodes that have neighbours and are not fixed.
    pub(super) fn new(
        on: &Device,
        fixed: &Buffer<Bits<Vertex>>,
        neighbours: &Neighbours,
    ) -> Result<Self> {
        let rows = &neighbours.rows;
        let nodes = rows.len() - 1;
        let words = words(nodes);
        let (mut bits, mut stays) = (on.uninitialized(words)?, on.uninitialized(words)?);
        kernel::mark_moving::launch(on, nodes as u32, fixed, rows, &mut bits, &mut stays)?;
        Ok(Self { bits, stays })
    }
}

/// The fans of triangles around the nodes of a surface that has half-edges: V nodes, T triangles.
pub(super) struct Fans<'a> {
    moving: Moving,
    /// A half-edge of each node; V.
    first: &'a Buffer<HalfEdge>,
    origins: &'a Buffer<Vertex>,
    twins: &'a Buffer<HalfEdge>,
    /// Half-edges that start at nodes that move.
    corners: u32,
}

impl<'a> Fans<'a> {
    /// The fans of the nodes that have triangles and do not stay; those of the boundary do.
    pub(super) fn new(
        on: &Device,
        stays: &Buffer<Bits<Vertex>>,
        first: &'a Buffer<HalfEdge>,
        origins: &'a Buffer<Vertex>,
        twins: &'a Buffer<HalfEdge>,
    ) -> Result<Self> {
        let words_of = |len: usize| on.uninitialized(words(len));
        let (mut bits, mut others) = (words_of(first.len())?, words_of(first.len())?);
        let nodes = first.len() as u32;
        kernel::mark_moving_fans::launch(on, nodes, stays, first, &mut bits, &mut others)?;
        let mut corners: Buffer<Bits<HalfEdge>> = on.uninitialized(words(origins.len()))?;
        let triangles = origins.len() as u32 / 3;
        // SAFETY: origins of a checked mesh are nodes.
        unsafe {
            kernel::mark_moving_corners::launch(on, triangles, origins, &bits, &mut corners)
        }?;
        Ok(Self {
            corners: count_bits(on, &corners)?,
            moving: Moving {
                bits,
                stays: others,
            },
            first,
            origins,
            twins,
        })
    }
}

/// Nodes in an order: V nodes, the first M of which move; the moving nodes have D neighbours.
pub(super) struct Ordered {
    /// Node at each place; V.
    pub(super) order: Buffer<Vertex>,
    /// Place of each node; V.
    pub(super) ranks: Buffer<Place>,
    /// M.
    pub(super) moving: u32,
    /// Start of each moving node's neighbours, and the end of the last; M + 1.
    rows: Buffer<u32>,
    /// Neighbours by their places, for each node in the order of their ids; D.
    pub(super) neighbours: Buffer<Place>,
    /// Weight of each neighbour; D, or empty.
    weights: Buffer<f64>,
    /// The classes.
    pub(super) classes: Ranges,
}

/// Classes as ranges of places.
pub(super) struct Ranges {
    /// The first place of each class, and the number of its nodes.
    pub(super) places: Vec<(u32, u32)>,
    /// Classes of neighbours differ by this at most.
    pub(super) reach: u32,
}

impl Ordered {
    /// Neighbours and weights, as kernels take them.
    pub(super) fn neighbourhood(&self) -> NeighbourhoodBuffers<'_> {
        NeighbourhoodBuffers {
            rows: &self.rows,
            neighbours: &self.neighbours,
            weights: &self.weights,
        }
    }
}

/// The kind of classes of moving nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Classes {
    /// All nodes are one.
    One,
    /// No two neighbours are of one class; few classes.
    Colours,
    /// A node's class comes after the classes of its neighbours with smaller ids.
    Levels,
}

/// Box around points, and the grid of the curve in it.
struct CurveGrid {
    low: DVec3,
    scale: f64,
    bits: u32,
}

impl CurveGrid {
    /// A grid with at least as many cells as points, up to the most that keys can number.
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

/// The order in memory, and the number of moving nodes, which come first. The moving nodes, and then the others, lie
/// along a curve through the box from `low` to `high` if there is one, else in the order of ids.
fn place<P: Vector>(
    on: &Device,
    points: &Buffer<P>,
    moving: &Moving,
    along_curve: Option<(DVec3, DVec3)>,
) -> Result<(Buffer<Vertex>, u32)> {
    let nodes = points.len() as u32;
    let Some((low, high)) = along_curve else {
        let mut order = on.uninitialized(nodes as usize)?;
        gpu::forms::count_up::launch(on, nodes, &mut order)?;
        // In the order of ids the place of a node is its id.
        let moves = compact(on, &moving.bits)?.cast();
        let stays = compact(on, &moving.stays)?.cast();
        return pick_both(on, &order, &moves, &stays);
    };
    let grid = CurveGrid::new(low, high, nodes);
    let mut keys = on.uninitialized(nodes as usize)?;
    kernel::key_nodes::launch(
        on,
        nodes,
        points,
        &moving.bits,
        &mut keys,
        grid.low.x,
        grid.low.y,
        grid.low.z,
        grid.scale,
        grid.bits,
    )?;
    let order = order_by_keys(on, keys, 3 * grid.bits + 1)?.cast();
    Ok((order, count_bits(on, &moving.bits)?))
}

/// The items of a list at the places `first`, then the items at the places `second`; and the length of `first`. Each
/// place of the list is in one of both.
fn pick_both(
    on: &Device,
    list: &Buffer<Vertex>,
    first: &Buffer<Place>,
    second: &Buffer<Place>,
) -> Result<(Buffer<Vertex>, u32)> {
    let mut result = on.uninitialized(list.len())?;
    let (count, rest) = (first.len() as u32, second.len() as u32);
    kernel::pick::launch(on, count, first, list, &mut result, 0)?;
    kernel::pick::launch(on, rest, second, list, &mut result, count)?;
    Ok((result, count))
}

/// Rounds of classification between two reads of the result by the host.
const ROUNDS: u32 = 4;

/// The class of each of the first `count` nodes in `list`, which move; `NONE` for other nodes. `about` is what is found
/// about classes.
fn classify(
    on: &Device,
    kind: u32,
    list: &Buffer<Vertex>,
    count: u32,
    moving: &Moving,
    neighbours: &Neighbours,
    about: &mut Buffer<u32>,
) -> Result<Buffer<u32>> {
    let mut classes = on.filled(neighbours.rows.len() - 1, NONE)?;
    loop {
        let mut left = on.filled(ROUNDS as usize, 0)?;
        for round in 0..ROUNDS {
            kernel::classify::launch(
                on,
                count,
                list,
                neighbours.buffers(),
                &moving.bits,
                &mut classes,
                &mut left,
                round,
                about,
                kind,
            )?;
        }
        if on.read(&left, ROUNDS as usize - 1)? == 0 {
            return Ok(classes);
        }
    }
}

/// Colours that are not found here: gets the nodes that move, and gives a colour for each node.
pub(super) type Colour<'a> = &'a mut dyn FnMut(&[u32]) -> Result<Vec<u32>>;

/// How nodes are ordered.
pub(super) struct OrderRule<'a> {
    /// The box of the curve that nodes lie along; else they lie in the order of ids.
    pub(super) along_curve: Option<(DVec3, DVec3)>,
    /// Classes of the moving nodes.
    pub(super) classes: Classes,
    /// Neighbours here are never of one class.
    pub(super) conflicts: &'a Neighbours,
}

/// The nodes in an order, by classes; the number of moving nodes, which come first; and the classes. `colour` gives
/// the colours if they come from elsewhere.
pub(super) fn order_by_class<P: Vector>(
    on: &Device,
    points: &Buffer<P>,
    moving: &Moving,
    way: &OrderRule<'_>,
    colour: Option<Colour<'_>>,
) -> Result<(Buffer<Vertex>, u32, Ranges)> {
    let (mut order, count) = on.stage("order", || place(on, points, moving, way.along_curve))?;
    let kind = match way.classes {
        Classes::One => None,
        Classes::Colours => Some(COLOURS),
        Classes::Levels => Some(LEVELS),
    };
    let mut classes = Ranges {
        places: vec![(0, count)],
        reach: 0,
    };
    // Where colours come from elsewhere, also a part without moving nodes asks for them: others wait for it.
    if let Some(kind) = kind.filter(|_| count > 0 || colour.is_some()) {
        classes = on.stage("classes", || {
            let mut about = on.filled(found::COUNT, 0)?;
            let class = match colour {
                Some(colour) => {
                    let nodes: Vec<u32> = on.download_rows(&order)?;
                    on.upload(&colour(&nodes[..count as usize])?)?
                }
                None => {
                    let conflicts = way.conflicts;
                    classify(on, kind, &order, count, moving, conflicts, &mut about)?
                }
            };
            by_class(on, kind, &mut order, count, &class, about)
        })?;
    }
    Ok((order, count, classes))
}

impl Ordered {
    /// Orders nodes and rewrites their neighbours. `weights` has one weight for each neighbour, or is empty; `colour`
    /// gives the colours if they come from elsewhere.
    pub(super) fn new<P: Vector>(
        on: &Device,
        points: &Buffer<P>,
        moving: &Moving,
        neighbours: &Neighbours,
        weights: &Buffer<f64>,
        way: &OrderRule<'_>,
        colour: Option<Colour<'_>>,
    ) -> Result<Self> {
        let (order, count, classes) = order_by_class(on, points, moving, way, colour)?;
        on.stage("order", || {
            let ranks = ranks_of(on, &order)?;
            let mut rows = on.filled(count as usize + 1, 0)?;
            kernel::measure_row::launch(on, count, &order, &neighbours.rows, &mut rows)?;
            let total = exclusive_scan(on, &mut rows)?;
            let total = on.read(&total, 0)? as usize;
            let mut list = on.uninitialized(total)?;
            let mut new_weights = on.uninitialized(if weights.is_empty() { 0 } else { total })?;
            kernel::order_row::launch(
                on,
                ROW_LANES * count,
                &order,
                &ranks,
                neighbours.buffers(),
                weights,
                &rows,
                &mut list,
                &mut new_weights,
            )?;
            Ok(Self {
                order,
                ranks,
                moving: count,
                rows,
                neighbours: list,
                weights: new_weights,
                classes,
            })
        })
    }
}

impl Ordered {
    /// Orders nodes, all of one class, and lists their neighbours by their fans; `None` where a node that moves has
    /// more fans than one.
    pub(super) fn of_fans<P: Vector>(
        on: &Device,
        points: &Buffer<P>,
        fans: &Fans<'_>,
        along_curve: Option<(DVec3, DVec3)>,
    ) -> Result<Option<Self>> {
        on.stage("order", || {
            let (order, count) = place(on, points, &fans.moving, along_curve)?;
            let ranks = ranks_of(on, &order)?;
            let (first, twins) = (fans.first, fans.twins);
            let mut rows = on.filled(count as usize + 1, 0)?;
            // SAFETY: nodes that move have half-edges, whose twins are half-edges or border ones.
            unsafe { kernel::count_fans::launch(on, count, &order, first, twins, &mut rows) }?;
            let total = exclusive_scan(on, &mut rows)?;
            let total = on.read(&total, 0)?;
            if total != fans.corners {
                return Ok(None);
            }
            let mut neighbours: Buffer<Place> = on.uninitialized(total as usize)?;
            let list = neighbours.as_words_mut();
            // SAFETY: as above; each node keeps to its row, which has room for its fan.
            unsafe {
                kernel::order_fans::launch(
                    on,
                    count,
                    &order,
                    first,
                    fans.origins,
                    twins,
                    &ranks,
                    &rows,
                    list,
                )
            }?;
            Ok(Some(Self {
                order,
                ranks,
                moving: count,
                rows,
                neighbours,
                weights: on.uninitialized(0)?,
                classes: Ranges {
                    places: vec![(0, count)],
                    reach: 0,
                },
            }))
        })
    }
}

/// The place of each node.
fn ranks_of(on: &Device, order: &Buffer<Vertex>) -> Result<Buffer<Place>> {
    let mut ranks = on.uninitialized(order.len())?;
    gpu::forms::rank_vertices::launch(on, order.len() as u32, order, &mut ranks)?;
    Ok(ranks)
}

/// Orders the first `count` nodes by their class; the places of each class.
fn by_class(
    on: &Device,
    kind: u32,
    order: &mut Buffer<Vertex>,
    count: u32,
    class: &Buffer<u32>,
    mut about: Buffer<u32>,
) -> Result<Ranges> {
    if count == 0 {
        return Ok(Ranges {
            places: Vec::new(),
            reach: 0,
        });
    }
    let old = on.duplicate(order)?;
    let mut keys = on.uninitialized(count as usize)?;
    kernel::key_by_class::launch(on, count, &old, class, &mut keys, &mut about)?;
    let about = on.download(&about)?;
    let most = about[found::MOST as usize];
    let starts = start_local(on, &keys, most as usize + 1)?;
    let places = order_by_keys(on, keys, u32::BITS - most.leading_zeros())?.cast();
    kernel::pick::launch(on, count, &places, &old, order, 0)?;
    let starts = on.download(&starts)?;
    let ranges = starts[1..]
        .windows(2)
        .map(|ends| (ends[0], ends[1] - ends[0]));
    Ok(Ranges {
        places: ranges.collect(),
        // Of colours it is not looked for: neighbours have any two.
        reach: if kind == LEVELS {
            about[found::REACH as usize]
        } else {
            most
        },
    })
}
