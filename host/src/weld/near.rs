//! The default method: short lists of lower neighbours, decisions, assignment. The kernels are in `gpu::weld`: grid,
//! note_neighbours, decide, complete and assign.

use bytemuck::Zeroable;
use glam::DVec3;
use gpu::ids::Vertex;
use gpu::weld as kernel;
use gpu::weld::{CompleteListsBuffers, Row, RowOrder, SearchBuffers};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Index, Word};

use super::dependency::sum;
use super::grid::DeviceGrid;
use super::guards::DeviceGuards;
use super::{Options, Result, Tuning, stage};
use crate::backend::Device;
use crate::collective::{compact, exclusive_scan};

/// Decided vertices.
pub(super) struct Clustering {
    /// Representative of each vertex; V.
    pub representatives: Buffer<Vertex>,
    /// As [`DeviceWeld::left`](super::DeviceWeld::left).
    pub left: Vec<u32>,
    /// Whether clusters may have very many members.
    pub is_crowded: bool,
}

/// Clusters points by the distance and, unless `guards` are none, by them.
pub(super) fn cluster(
    on: &Device,
    points: &Buffer<DVec3>,
    guards: &DeviceGuards,
    options: &Options,
) -> Result<Clustering> {
    match guards.limits {
        Some(limits) => cluster_by(on, points, limits, guards, options),
        None => cluster_by(on, points, kernel::Unguarded::zeroed(), guards, options),
    }
}

fn cluster_by<G: kernel::Guard>(
    on: &Device,
    points: &Buffer<DVec3>,
    limits: G,
    guards: &DeviceGuards,
    options: &Options,
) -> Result<Clustering> {
    let build = |may_compare| {
        let tuning = &options.tuning;
        DeviceGrid::build(on, points, &options.nearness(), tuning, may_compare)
    };
    let mut near = Near {
        grid: build(true)?,
        on,
        points,
        limits,
        guards,
    };
    if near.grid.is_crowded() {
        if let Some(clustering) = super::crowded::cluster(&near, &options.tuning)? {
            return Ok(clustering);
        }
        near.grid = build(false)?;
    }
    let (mut lower, mut states) = near.note()?;
    // An empty list stands for all rows.
    let all = on.uninitialized(0)?;
    let left = stage(on, "decide", || {
        near.decide(&all, &options.tuning, &mut lower, &mut states)
    })?;
    let representatives = near.assign(&lower, &states)?;
    Ok(Clustering {
        representatives,
        left,
        is_crowded: false,
    })
}

/// The neighbours of points.
pub(super) struct Near<'a, G> {
    pub on: &'a Device,
    pub points: &'a Buffer<DVec3>,
    pub grid: DeviceGrid,
    pub limits: G,
    pub guards: &'a DeviceGuards<'a>,
}

impl<G: kernel::Guard> Near<'_, G> {
    /// A neighbour search among the points.
    pub fn search(&self) -> SearchBuffers<'_, G> {
        self.grid
            .search(self.points, self.guards.buffers(self.limits))
    }

    /// Lists of lower neighbours, and the states of the vertices, by rows.
    pub fn note(&self) -> Result<(Buffer<Row>, Buffer<u32>)> {
        let places = self.points.len() * kernel::LISTED as usize;
        self.note_in(self.on.uninitialized(places)?)
    }

    /// As [`note`](Near::note), where places of lists behind their last neighbours keep what `lower` has.
    pub fn note_in(&self, mut lower: Buffer<Row>) -> Result<(Buffer<Row>, Buffer<u32>)> {
        let on = self.on;
        let n = self.points.len();
        let mut states = on.filled(n, kernel::REPRESENTATIVE)?;
        stage(on, "note neighbours", || {
            let search = self.search();
            // SAFETY: sites of the grid are vertices, each once; slots, rows and buckets of a grid are in range.
            unsafe {
                kernel::note_lower_neighbours::launch(on, n as u32, search, &mut lower, &mut states)
            }?;
            Ok(())
        })?;
        Ok((lower, states))
    }

    /// Decides the vertices of `rows` (all for an empty list), until they are decided or wait for others that are not among
    /// them; the number of undecided ones after each round.
    pub fn decide(
        &self,
        rows: &Buffer<Row>,
        tuning: &Tuning,
        lower: &mut Buffer<Row>,
        states: &mut Buffer<u32>,
    ) -> Result<Vec<u32>> {
        let on = self.on;
        let n = if rows.is_empty() {
            states.len()
        } else {
            rows.len()
        };
        let mut undecided: Buffer<u32> = on.uninitialized(n.div_ceil(32))?;
        // The last blocks could only wait for others to end.
        let patience = if pieces(n) <= tuning.blocks_at_once {
            tuning.patience
        } else {
            0
        };
        let blocks = pieces(n);
        // SAFETY: rows are below the number of states; states count the neighbours that lists hold.
        unsafe {
            kernel::decide_pieces::launch(on, blocks, rows, lower, patience, states, &mut undecided)
        }?;
        let mut rows = if rows.is_empty() {
            compact(on, &undecided)?.cast()
        } else {
            shortened(on, rows, &undecided)?
        };
        let mut left = vec![rows.len() as u32];
        // A search takes a GPU as long as many sweeps; a CPU, less than lists do.
        let share = (tuning.dense_share).unwrap_or(if on.is_gpu() { 8 } else { 0 });
        let is_dense = rows.len().saturating_mul(share) > n;
        if is_dense && let Some(lists) = Lists::complete(self, states)? {
            // If rows are vertices, they wait for earlier rows alone: the first pieces can be decided without the others, which
            // would only keep them from the memory while they wait. Sweeps of waiting pieces are short.
            let (window, patience) = match self.grid.order() {
                RowOrder::BY_SLOT => (u32::MAX, tuning.patience),
                _ => (tuning.window.max(1), tuning.patience.saturating_mul(16)),
            };
            while !rows.is_empty() {
                let mut undecided = all_set(on, rows.len())?;
                // SAFETY: the lists hold rows, and lie one behind the other.
                unsafe {
                    kernel::decide_completely::launch(
                        on,
                        pieces(rows.len()).min(window),
                        &rows,
                        lists.buffers(),
                        patience,
                        states,
                        &mut undecided,
                    )
                }?;
                rows = shortened(on, &rows, &undecided)?;
                left.push(rows.len() as u32);
            }
        }
        while !rows.is_empty() {
            let count = rows.len();
            let mut undecided = on.uninitialized(count.div_ceil(32))?;
            // SAFETY: as for the first round; each row of the list stands there once, and only its block writes its list.
            unsafe {
                kernel::decide_searching::launch(
                    on,
                    pieces(count),
                    &rows,
                    self.search(),
                    lower,
                    tuning.patience,
                    states,
                    &mut undecided,
                )
            }?;
            rows = shortened(on, &rows, &undecided)?;
            left.push(rows.len() as u32);
            // A round over all undecided vertices decides the lowest. So if none is decided, all wait for vertices that are not
            // in the list.
            if rows.len() == count {
                break;
            }
        }
        Ok(left)
    }

    /// The representative of each vertex, once all are decided.
    pub fn assign(&self, lower: &Buffer<Row>, states: &Buffer<u32>) -> Result<Buffer<Vertex>> {
        let on = self.on;
        let n = self.points.len();
        stage(on, "assign", || {
            let mut representatives = on.uninitialized(n)?;
            let search = self.search();
            let to = &mut representatives;
            // SAFETY: as for the notes; lists hold rows up to the numbers in the states.
            unsafe { kernel::assign_points::launch(on, n as u32, search, lower, states, to) }?;
            Ok(representatives)
        })
    }
}

/// `count` bits, all set.
fn all_set(on: &Device, count: usize) -> Result<Buffer<u32>> {
    let mut bits = on.filled(count.div_ceil(32), u32::MAX)?;
    if !count.is_multiple_of(32) {
        on.fill_from(&mut bits, count / 32, (1 << (count % 32)) - 1)?;
    }
    Ok(bits)
}

/// Blocks for a number of rows.
fn pieces(rows: usize) -> u32 {
    rows.div_ceil(kernel::PIECE as usize) as u32
}

/// The items of `list` at the places whose bits are set.
pub(super) fn shortened<E: Index + Word>(
    on: &Device,
    list: &Buffer<E>,
    bits: &Buffer<u32>,
) -> Result<Buffer<E>> {
    let kept = compact(on, bits)?;
    let mut shorter = on.uninitialized(kept.len())?;
    let n = kept.len() as u32;
    // SAFETY: there is a bit for each place of the list.
    unsafe { kernel::shorten_list::launch(on, n, list.as_words(), &kept, &mut shorter) }?;
    Ok(shorter.cast())
}

/// All lower neighbours of each undecided row.
struct Lists {
    starts: Buffer<u32>,
    ends: Buffer<u32>,
    lower: Buffer<Row>,
}

impl Lists {
    /// Makes them, unless they do not fit the memory or the indices.
    fn complete<G: kernel::Guard>(near: &Near<G>, states: &Buffer<u32>) -> Result<Option<Self>> {
        let on = near.on;
        let n = states.len();
        let mut starts = on.uninitialized(n)?;
        // SAFETY: one index a row; the lengths are checked.
        unsafe { kernel::count_lower_neighbours::launch(on, n as u32, states, &mut starts) }?;
        let total = sum(on, &starts)?;
        let bytes = 4 * (total + n as u64);
        if total > u64::from(u32::MAX) || bytes > on.free_bytes()? {
            return Ok(None);
        }
        exclusive_scan(on, &mut starts)?;
        let mut ends = on.duplicate(&starts)?;
        let mut lower = on.uninitialized(total as usize)?;
        // SAFETY: as for the short lists; the state of an undecided row is the number of its lower neighbours, so that each list
        // has room for them.
        unsafe {
            kernel::note_all_lower_neighbours::launch(
                on,
                n as u32,
                near.search(),
                states,
                &mut ends,
                &mut lower,
            )
        }?;
        Ok(Some(Self {
            starts,
            ends,
            lower,
        }))
    }

    fn buffers(&self) -> CompleteListsBuffers<'_> {
        CompleteListsBuffers {
            starts: &self.starts,
            ends: &self.ends,
            lower: &self.lower,
        }
    }
}
