//! Cells that a rank owns, in each form in which it may hold them.

use std::ops::Range;

use trioxide_mesh::parallel::{self, GRAIN};

use crate::block::{Block, Corners};
use crate::ids::{IdSet, Lists, partition};
use crate::records::Records;
use crate::transport::{Mail, Ranks};

/// The cells of a rank's block of a mesh.
pub(crate) struct Input<'a> {
    /// Vertices of the whole mesh.
    pub vertices: u64,
    /// Cells of the whole mesh.
    pub cells: u64,
    /// Corners of a cell.
    pub size: usize,
    /// Id of the first cell.
    pub first: u64,
    /// Vertices of the cells.
    pub corners: &'a Corners,
    /// Regions, if the mesh has them.
    pub regions: Option<&'a [i32]>,
}

impl<'a> Input<'a> {
    /// Of this rank's block.
    pub fn of<P>(ranks: &Ranks, block: &'a Block<P>) -> Self {
        Self {
            vertices: block.vertices,
            cells: block.cells,
            size: block.size,
            first: ranks.block(block.cells).start,
            corners: &block.corners,
            regions: block.regions.as_deref(),
        }
    }

    /// Number of cells of the block.
    pub fn len(&self) -> usize {
        self.corners.len() / self.size.max(1)
    }
}

/// Cells with ascending ids. [`set`](Cells::set) writes the row of a cell.
#[derive(Clone, Copy)]
pub(crate) enum Cells<'a> {
    /// The rank's block of the input.
    Block(&'a Input<'a>),
    /// Cells of the input that ranks have sent.
    Dealt(&'a Dealt),
    /// Rows that ranks have sent.
    Rows {
        /// A row for each cell: its id, its vertices, and its other data.
        rows: &'a Records,
        /// Corners of a cell.
        size: usize,
    },
}

impl<'a> Cells<'a> {
    /// Number of cells.
    pub fn len(&self) -> usize {
        match self {
            Self::Block(block) => block.len(),
            Self::Dealt(dealt) => dealt.places.len(),
            Self::Rows { rows, .. } => rows.len(),
        }
    }

    /// Corners of a cell.
    pub fn size(&self) -> usize {
        match self {
            Self::Block(block) => block.size,
            Self::Dealt(dealt) => dealt.size,
            Self::Rows { size, .. } => *size,
        }
    }

    /// Words of a cell as a row.
    pub fn stride(&self) -> usize {
        match self {
            Self::Block(_) | Self::Dealt(_) => self.size() + 2,
            Self::Rows { rows, .. } => rows.stride,
        }
    }

    /// Id of cell `i`.
    #[inline]
    pub fn id(&self, i: usize) -> u64 {
        match self {
            Self::Block(block) => block.first + i as u64,
            Self::Dealt(dealt) => dealt.sender(i).cell + u64::from(dealt.places[i]),
            Self::Rows { rows, .. } => rows.id(i),
        }
    }

    /// Number of cells with a smaller id.
    pub fn before(&self, id: u64) -> usize {
        match self {
            Self::Block(block) => id.saturating_sub(block.first).min(self.len() as u64) as usize,
            Self::Dealt(_) => partition(self.len(), |i| self.id(i) < id),
            Self::Rows { rows, .. } => rows.before(id),
        }
    }

    /// The vertices of cell `i`.
    #[inline]
    pub fn corners(&self, i: usize) -> impl Iterator<Item = u64> {
        let of = |list: &'a [u32], size: usize| &list[size * i..size * (i + 1)];
        let (first, behind, all) = match self {
            Self::Block(block) => {
                let (first, behind) = block.corners.parts();
                (first, of(behind, block.size), &[][..])
            }
            Self::Dealt(dealt) => {
                let behind = of(&dealt.corners, dealt.size);
                (dealt.sender(i).vertex, behind, &[][..])
            }
            Self::Rows { rows, size } => (0, &[][..], rows.corners(i, *size)),
        };
        let behind = behind.iter().map(move |&v| first + u64::from(v));
        behind.chain(all.iter().copied())
    }

    /// The region of cell `i` of the input; 0 without regions.
    pub fn region(&self, i: usize) -> i32 {
        match self {
            Self::Block(block) => block.regions.map_or(0, |regions| regions[i]),
            Self::Dealt(dealt) => dealt.regions.as_ref().map_or(0, |regions| regions[i]),
            Self::Rows { rows, .. } => rows.words[rows.stride * (i + 1) - 1] as i32,
        }
    }

    /// Writes the row of cell `i`. A cell of the input has its id, its vertices and its region.
    pub fn set(&self, i: usize, row: &mut [u64]) {
        match self {
            Self::Block(_) | Self::Dealt(_) => {
                row[0] = self.id(i);
                row[1..]
                    .iter_mut()
                    .zip(self.corners(i))
                    .for_each(|(to, v)| *to = v);
                row[self.size() + 1] = u64::from(self.region(i) as u32);
            }
            Self::Rows { rows, .. } => row.copy_from_slice(rows.get(i)),
        }
    }

    /// All vertices of the cells; `ends` are the smallest and the largest.
    pub fn vertices(&self, ends: Option<[u64; 2]>) -> IdSet {
        let Some(ends) = ends else {
            return IdSet::of_list(&[]);
        };
        let count = (self.size() * self.len()) as u64;
        IdSet::between(ends, count, self.len(), self)
    }

    /// The cells with a vertex for which `is_so` is true, ascending.
    pub fn with_vertex(&self, is_so: impl Fn(u64) -> bool + Sync) -> Vec<usize> {
        let size = self.size();
        let pieces = parallel::map_pieces(self.len(), GRAIN, |range| {
            let mut cells = Vec::new();
            let (mut i, mut corner, mut has_one) = (range.start, 0, false);
            self.for_each(range, |vertex| {
                has_one |= is_so(vertex);
                corner += 1;
                if corner == size {
                    if has_one {
                        cells.push(i);
                    }
                    (i, corner, has_one) = (i + 1, 0, false);
                }
            });
            cells
        });
        parallel::concat(pieces)
    }
}

/// The vertices of cells.
impl Lists for Cells<'_> {
    #[inline]
    fn for_each(&self, cells: Range<usize>, mut body: impl FnMut(u64)) {
        let of = |size: usize| size * cells.start..size * cells.end;
        let mut add = |first: u64, behind: &[u32]| {
            behind.iter().for_each(|&v| body(first + u64::from(v)));
        };
        match self {
            Self::Block(block) => {
                let (first, behind) = block.corners.parts();
                add(first, &behind[of(block.size)]);
            }
            Self::Dealt(dealt) => {
                let mut start = cells.start;
                while start < cells.end {
                    let sender = dealt.sender(start);
                    let end = sender.end.min(cells.end);
                    let of_sender = dealt.size * start..dealt.size * end;
                    add(sender.vertex, &dealt.corners[of_sender]);
                    start = end;
                }
            }
            Self::Rows { rows, size } => {
                let of_cell = |i| rows.corners(i, *size).iter().copied();
                cells.for_each(|i| of_cell(i).for_each(&mut body));
            }
        }
    }
}

/// Cells of the input that ranks have sent to their owner, with ascending ids: 32 bits each, counted from the first ids
/// of the sender.
pub(crate) struct Dealt {
    /// Corners of a cell.
    size: usize,
    /// The ranks that have sent any, ascending.
    senders: Vec<Sender>,
    /// Place of each cell in the block of its sender.
    places: Vec<u32>,
    /// The vertices.
    corners: Vec<u32>,
    /// Regions, if the mesh has them.
    regions: Option<Vec<i32>>,
}

/// A rank that has sent cells.
struct Sender {
    /// End of its cells.
    end: usize,
    /// The first cell of its block.
    cell: u64,
    /// The vertex that its corners count from.
    vertex: u64,
}

impl Dealt {
    /// Sends the cells of the block, fewer than 2^32, to their owners, and returns this rank's. Collective.
    pub fn deal(ranks: &Ranks, block: &Input, owners: &[u32]) -> Self {
        let (count, n, size) = (ranks.size(), owners.len(), block.size);
        let owner = |i: usize| owners[i] as usize;
        let (first, behind) = block.corners.parts();
        let heads = ranks.all(&[[block.first, first]]);
        let places = Mail::rows(count, n, 1, owner, |i, row| row[0] = i as u32);
        let places = ranks.exchange(&places);
        let counts = places.counts();
        let corners = Mail::rows(count, n, size, owner, |i, row| {
            let corners = &behind[size * i..size * (i + 1)];
            row.iter_mut().zip(corners).for_each(|(to, &v)| *to = v);
        });
        let words: Vec<u64> = counts.iter().map(|cells| size as u64 * cells).collect();
        let corners = ranks.exchange_known(&corners, &words).into_items();
        let regions = block.regions.map(|all| {
            let regions = Mail::rows(count, n, 1, owner, |i, row| row[0] = all[i]);
            ranks.exchange_known(&regions, &counts).into_items()
        });
        let mut end = 0;
        let sender = |(&[cell, vertex], &cells): (&[u64; 2], &u64)| {
            end += cells as usize;
            (cells > 0).then_some(Sender { end, cell, vertex })
        };
        Self {
            size,
            senders: (heads.items().iter().zip(&counts))
                .filter_map(sender)
                .collect(),
            places: places.into_items(),
            corners,
            regions,
        }
    }

    /// The sender of cell `i`.
    #[inline]
    fn sender(&self, i: usize) -> &Sender {
        &self.senders[self.senders.partition_point(|sender| sender.end <= i)]
    }
}
