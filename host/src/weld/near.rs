//! The default method: short lists of lower neighbours, decisions, assignment. The kernels are in `gpu::weld`: grid,
//! note_neighbours, decide, chains and assign.

use glam::DVec3;
use gpu::ids::Vertex;
use gpu::weld as kernel;
use gpu::weld::{ListsBuffers, Row, RowOrder, SearchBuffers};
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;

use super::clustering::{Clustering, shortened, sum};
use super::grid::DeviceGrid;
use super::guards::DeviceGuards;
use super::{Result, Tuning, stage};
use crate::collective::{compact, compact_with_room, exclusive_scan, lengths, tally_bits};
use crate::device::Device;

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

    /// Decides all vertices; the number of undecided ones after each round, and the long lists that were made for it.
    pub fn decide_all(
        &self,
        tuning: &Tuning,
        lower: &mut Buffer<Row>,
        states: &mut Buffer<u32>,
    ) -> Result<(Vec<u32>, LongLists)> {
        let on = self.on;
        let n = states.len();
        let mut left = Vec::new();
        // An empty list stands for all rows.
        let mut rows =
            self.decide_first(&on.uninitialized(0)?, tuning, lower, states, &mut left)?;
        let is_dense = rows.len().saturating_mul(share_of_dense(on, tuning)) > n;
        let lists = match is_dense {
            true => LongLists::note(self, states)?,
            false => None,
        };
        if let Some(lists) = &lists {
            rows = in_rounds(on, rows, &mut left, |rows, undecided| {
                self.follow_chains(rows, tuning, lower, lists, states, undecided)
            })?;
        }
        self.decide_searching(rows, tuning, lower, states, &mut left)?;
        Ok((left, lists.map_or_else(|| LongLists::none(on), Ok)?))
    }

    /// Decides the vertices of `rows`, until they are decided or wait for vertices that are not among them. Returns the
    /// number of undecided ones after each round.
    pub fn decide(
        &self,
        rows: &Buffer<Row>,
        tuning: &Tuning,
        lower: &mut Buffer<Row>,
        states: &mut Buffer<u32>,
    ) -> Result<Vec<u32>> {
        let mut left = Vec::new();
        let rows = self.decide_first(rows, tuning, lower, states, &mut left)?;
        self.decide_searching(rows, tuning, lower, states, &mut left)?;
        Ok(left)
    }

    /// Decides vertices of `rows`, or of all rows for an empty list, without searches. Returns the rows that stay
    /// undecided.
    fn decide_first(
        &self,
        rows: &Buffer<Row>,
        tuning: &Tuning,
        lower: &Buffer<Row>,
        states: &mut Buffer<u32>,
        left: &mut Vec<u32>,
    ) -> Result<Buffer<Row>> {
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
        let rows = if rows.is_empty() {
            compact(on, &undecided)?.cast()
        } else {
            shortened(on, rows, &undecided)?
        };
        left.push(rows.len() as u32);
        Ok(rows)
    }

    /// Decides the vertices of `rows` with searches, until they are decided or wait for vertices that are not among
    /// them.
    fn decide_searching(
        &self,
        rows: Buffer<Row>,
        tuning: &Tuning,
        lower: &mut Buffer<Row>,
        states: &mut Buffer<u32>,
        left: &mut Vec<u32>,
    ) -> Result<()> {
        let (on, patience) = (self.on, tuning.patience);
        in_rounds(on, rows, left, |rows, undecided| {
            let (n, search) = (pieces(rows.len()), self.search());
            // SAFETY: as for the first round; each row of the list stands there once, and only its block writes its
            // list.
            unsafe {
                kernel::decide_searching::launch(
                    on, n, rows, search, lower, patience, states, undecided,
                )
            }?;
            Ok(())
        })?;
        Ok(())
    }

    /// Clusters along chains alone, where most vertices are near the next one; `None` if that leaves undecided ones, or
    /// if their lists do not fit the memory.
    pub fn cluster_chains(
        &self,
        tuning: &Tuning,
        lower: &Buffer<Row>,
        states: &mut Buffer<u32>,
    ) -> Result<Option<Clustering>> {
        let on = self.on;
        let chains = stage(on, "decide", || {
            let (rows, has_long) = self.undecided(states)?;
            let lists = match has_long {
                true => LongLists::note(self, states)?,
                false => Some(LongLists::none(on)?),
            };
            let Some(lists) = lists else {
                return Ok(None);
            };
            let mut undecided = on.uninitialized(rows.len().div_ceil(32))?;
            if !rows.is_empty() {
                self.follow_chains(&rows, tuning, lower, &lists, states, &mut undecided)?;
            }
            let mut left = on.filled(1, 0)?;
            tally_bits(on, &undecided, &mut left, 0)?;
            Ok(Some((lists, left)))
        })?;
        let Some((lists, left)) = chains else {
            return Ok(None);
        };
        // Blocks start in the order of ids as a rule, and then none is left.
        let none_is_left = |left: &[u32]| left[0] == 0;
        let (_, representatives) = on.guess(&left, none_is_left, || {
            Ok(self.assign(lower, &lists, states))
        })?;
        let representatives = representatives.transpose()?;
        Ok(representatives.map(|representatives| Clustering {
            representatives,
            left: vec![0],
            is_crowded: false,
        }))
    }

    /// The undecided rows, and whether one of them has more lower neighbours than its short list holds.
    fn undecided(&self, states: &Buffer<u32>) -> Result<(Buffer<Row>, bool)> {
        let on = self.on;
        let n = states.len();
        let mut bits: Buffer<Bits<Row>> = on.uninitialized(n.div_ceil(32))?;
        let mut long = on.filled(1, Row::NONE)?;
        kernel::mark_undecided::launch(on, n as u32, states, &mut long, &mut bits)?;
        let (long, rows) = on.read_beside(&long, || compact_with_room(on, &bits))?;
        Ok((rows, long[0].is_some()))
    }

    /// Decides the vertices of `rows` along chains, until they are decided or wait in vain. The bits of `undecided` say
    /// which are left.
    fn follow_chains(
        &self,
        rows: &Buffer<Row>,
        tuning: &Tuning,
        lower: &Buffer<Row>,
        lists: &LongLists,
        states: &mut Buffer<u32>,
        undecided: &mut Buffer<u32>,
    ) -> Result<()> {
        let on = self.on;
        // If rows are vertices, they wait for earlier rows alone, so for blocks that run. Others may wait for blocks
        // that have not started.
        let patience = match self.grid.order() {
            RowOrder::BY_SLOT => tuning.patience,
            _ => tuning.chain_patience,
        };
        let n = rows.len().div_ceil(kernel::WARP) as u32;
        let lists = lists.buffers(lower);
        // SAFETY: the list holds rows, each below the number of states, and so do the lists.
        unsafe { kernel::decide_chains::launch(on, n, rows, lists, patience, states, undecided) }?;
        Ok(())
    }

    /// The representative of each vertex, once all are decided.
    pub fn assign(
        &self,
        lower: &Buffer<Row>,
        lists: &LongLists,
        states: &Buffer<u32>,
    ) -> Result<Buffer<Vertex>> {
        let on = self.on;
        let n = self.points.len();
        stage(on, "assign", || {
            let mut representatives = on.uninitialized(n)?;
            let search = self.search();
            let (lists, to) = (lists.buffers(lower), &mut representatives);
            // SAFETY: as for the notes; lists hold rows up to the numbers in the states.
            unsafe { kernel::assign_points::launch(on, n as u32, search, lists, states, to) }?;
            Ok(representatives)
        })
    }
}

/// Runs `round` on undecided rows until none is left, or a round decides none. Returns the rows that stay undecided,
/// and adds their number after each round to `left`. A round sets a bit for each row that stays undecided. A round over
/// all undecided vertices decides the lowest, so where none is decided, all wait for vertices that are not among them.
fn in_rounds(
    on: &Device,
    mut rows: Buffer<Row>,
    left: &mut Vec<u32>,
    mut round: impl FnMut(&Buffer<Row>, &mut Buffer<u32>) -> Result<()>,
) -> Result<Buffer<Row>> {
    while !rows.is_empty() {
        let count = rows.len();
        let mut undecided = on.uninitialized(count.div_ceil(32))?;
        round(&rows, &mut undecided)?;
        rows = shortened(on, &rows, &undecided)?;
        left.push(rows.len() as u32);
        if rows.len() == count {
            break;
        }
    }
    Ok(rows)
}

/// Chains are followed if more than one row in this number is left after the first round; 0: never.
pub(super) fn share_of_dense(on: &Device, tuning: &Tuning) -> usize {
    // A search takes a GPU as long as many sweeps; a CPU, less than lists do.
    (tuning.dense_share).unwrap_or(if on.is_gpu() { 8 } else { 0 })
}

/// Blocks for a number of rows.
fn pieces(rows: usize) -> u32 {
    rows.div_ceil(kernel::PIECE as usize) as u32
}

/// The lower neighbours of undecided rows that have more than their short lists hold.
pub(super) struct LongLists {
    starts: Buffer<u32>,
    long: Buffer<Row>,
}

impl LongLists {
    /// No lists.
    pub fn none(on: &Device) -> Result<Self> {
        Ok(Self {
            starts: on.uninitialized(0)?,
            long: on.uninitialized(0)?,
        })
    }

    /// Notes those of all undecided rows that need one, unless they do not fit the memory or the indices.
    fn note<G: kernel::Guard>(near: &Near<G>, states: &Buffer<u32>) -> Result<Option<Self>> {
        let on = near.on;
        let n = states.len();
        let mut bits: Buffer<Bits<Row>> = on.uninitialized(n.div_ceil(32))?;
        kernel::mark_long_lists::launch(on, n as u32, states, &mut bits)?;
        let rows = compact(on, &bits)?;
        if rows.is_empty() {
            return Ok(Some(Self::none(on)?));
        }
        let mut starts = lengths(on, n)?;
        kernel::measure_long_lists::launch(on, n as u32, states, &mut starts)?;
        let total = sum(on, &starts)?;
        // The representatives need room beside them.
        if total > u64::from(u32::MAX) || 4 * (total + n as u64) > on.free_bytes()? {
            return Ok(None);
        }
        exclusive_scan(on, &mut starts)?;
        let mut long = on.uninitialized(total as usize)?;
        let (count, search) = (rows.len() as u32, near.search());
        kernel::note_long_lists::launch(on, count, &rows, search, &starts, &mut long)?;
        Ok(Some(Self { starts, long }))
    }

    /// These lists, and the short ones.
    fn buffers<'a>(&'a self, short: &'a Buffer<Row>) -> ListsBuffers<'a> {
        ListsBuffers {
            short,
            starts: &self.starts,
            long: &self.long,
        }
    }
}
