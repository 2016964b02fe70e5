//! A rank's part of a mesh: the cells (triangles, or tetrahedra) that it owns, and the ghosts around them.
//!
//! The ghosts are all cells that touch a vertex of an owned one. Local ids ascend with the ids of the whole mesh, of vertices and
//! of cells: what compares two local ids decides as in the whole mesh.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use glam::DVec2;
use rayon::slice::ParallelSliceMut;
use trioxide::Device;
use trioxide::half_edges::{DeviceTriangulation, Point};
use trioxide::mesh::{NONE, Segment, Triangulation};
use trioxide::polylla::{self, Constraints};
use trioxide_mesh::parallel;

use crate::block::{Block, Blocks};
use crate::fault::{Fault, Result};
use crate::ids::{IdSet, Ids, Owners};
use crate::ownership::{Ownership, Position, fetch};
use crate::rows::{Rows, join};
use crate::shape::Shape;
use crate::transport::{Mail, Ranks, Reduction};

pub use crate::rows::Halo;

/// A rank's part of a mesh.
pub struct Part<P = DVec2> {
    /// Points of the vertices, and vertices of the owned cells and the ghosts.
    pub shape: Shape<P>,
    /// Corners of a cell.
    pub size: usize,
    /// Region of each cell, if the mesh has them.
    pub regions: Option<Vec<i32>>,
    /// Segments that may be edges at an owned cell's vertex, by local ids.
    pub segments: Vec<Segment>,
    /// Place of each of these segments among all of the mesh.
    pub places: Vec<usize>,
    /// Id in the whole mesh of each vertex.
    pub vertices: Ids,
    /// The vertices of owned cells, whose cells are all here.
    pub owned_vertices: Ids,
    /// Id in the whole mesh of each cell.
    pub cells: Ids,
    /// The rank that owns each cell.
    pub owners: Owners,
    /// Where items of cells go and come from.
    pub halo: Halo,
    /// The vertices of owned cells at which other ranks own cells too: vertex and rank, ascending.
    pub shared: Vec<[u64; 2]>,
}

impl<P: Position> Part<P> {
    /// This rank's part of the mesh whose blocks the ranks hold. Collective.
    ///
    /// # Errors
    /// A vertex id out of range; a part with more cells or vertices than 32-bit ids name.
    pub fn build(ranks: &Ranks, block: &Block<P>, ownership: &Ownership) -> Result<Self> {
        Self::with_segments(ranks, block, &block.segments, ownership)
    }

    /// As [`Part::build`], with no regard to segments. Collective.
    ///
    /// # Errors
    /// As there.
    pub fn without_segments(
        ranks: &Ranks,
        block: &Block<P>,
        ownership: &Ownership,
    ) -> Result<Self> {
        Self::with_segments(ranks, block, &[], ownership)
    }

    fn with_segments(
        ranks: &Ranks,
        block: &Block<P>,
        all: &[Segment],
        ownership: &Ownership,
    ) -> Result<Self> {
        if let Ownership::Rows(grid) = ownership {
            return Self::of_grid(ranks, grid);
        }
        ranks.phase("ownership");
        ranks.agree(check_corners(ranks, block))?;
        let owned = match ownership {
            Ownership::Blocks => stay(ranks, block),
            _ => {
                let owners = ownership.owners(ranks, block);
                ranks.phase("distribution");
                deal(ranks, block, &owners).sorted()
            }
        };

        ranks.phase("ghosts");
        let shared = Shared::find(ranks, &owned, block.size, block.vertices);
        let (sent, ghosts) = shared.send(ranks, &owned);
        let (cells, owners, halo) = join(ranks, &owned, &sent, ghosts);
        drop((owned, sent));

        let ids = all_vertices(&cells, block.size);
        let vertices = ids.to_vec();
        ranks.agree(check_size(ranks, vertices.len(), block.size * cells.len()))?;
        let points = fetch(ranks, block.vertices, &vertices, &block.points);
        let local = |vertex: u64| ids.place(vertex).unwrap_or(NONE);
        let mut corners = vec![0; block.size * cells.len()];
        parallel::for_chunks_mut(&mut corners, block.size.max(1), |i, corners| {
            for (corner, &vertex) in corners.iter_mut().zip(&cells.get(i)[1..]) {
                *corner = local(vertex);
            }
        });
        let (segments, places) = local_segments(all, local, |v| shared.has(v));
        check_segments(ranks, block.vertices, all, &shared, &ids)?;
        Ok(Self {
            shape: Shape::Lists { points, corners },
            size: block.size,
            regions: block.regions.as_ref().map(|_| {
                let region = |i: usize| cells.get(i)[cells.stride - 1] as i32;
                parallel::collect(cells.len(), region)
            }),
            segments,
            places,
            cells: Ids::of(parallel::collect(cells.len(), |i| cells.id(i))),
            vertices: Ids::of(vertices),
            owned_vertices: Ids::of(shared.vertices.to_vec()),
            owners,
            halo,
            shared: shared.others,
        })
    }
}

impl Part {
    /// The constraints of a part of triangles, whose half-edges are `mesh`; `None` where it has neither regions nor segments.
    ///
    /// # Errors
    /// As [`Constraints::of`], by local ids.
    pub fn constraints<P: Point>(
        &self,
        on: &Device,
        mesh: &DeviceTriangulation<P>,
    ) -> polylla::Result<Option<Constraints>> {
        // Points and triangles play no part.
        let constrained = Triangulation {
            regions: self.regions.clone(),
            segments: self.segments.clone(),
            ..Triangulation::default()
        };
        Constraints::of(on, mesh, &constrained)
    }

    /// The id in the whole mesh of a triangle's half-edge.
    pub fn half_edge(&self, h: u32) -> u64 {
        half_edge(&self.cells, h)
    }

    /// Whether this rank owns each half-edge: a bit each.
    pub fn owned_half_edges(&self, rank: usize) -> Vec<u32> {
        owned_bits(&self.owners, rank, 3)
    }
}

/// `each` bits of every cell with these owners: set where a rank owns it.
pub(crate) fn owned_bits(owners: &Owners, rank: usize, each: usize) -> Vec<u32> {
    let mut bits = vec![0_u32; (each * owners.len()).div_ceil(32)];
    for cells in owners.of_rank(rank as u32) {
        set_range(&mut bits, each * cells.start..each * cells.end);
    }
    bits
}

/// The id in the whole mesh of a half-edge of triangles with these ids.
pub(crate) fn half_edge(cells: &Ids, h: u32) -> u64 {
    3 * cells.get(h as usize / 3) + u64::from(h % 3)
}

/// Sets a range of bits, 32 to a word.
fn set_range(bits: &mut [u32], range: Range<usize>) {
    if range.is_empty() {
        return;
    }
    let (first, last) = (range.start / 32, (range.end - 1) / 32);
    let from = u32::MAX << (range.start % 32);
    let until = u32::MAX >> (31 - (range.end - 1) % 32);
    if first == last {
        bits[first] |= from & until;
        return;
    }
    bits[first] |= from;
    bits[first + 1..last].fill(u32::MAX);
    bits[last] |= until;
}

/// Refuses vertex ids that are out of range.
fn check_corners<P>(ranks: &Ranks, block: &Block<P>) -> Result<()> {
    let Some(i) = block.corners.beyond(block.vertices) else {
        return Ok(());
    };
    let first = Blocks::new(block.cells, ranks.size())
        .range(ranks.rank())
        .start;
    let id = first + (i / block.size) as u64;
    let element = if block.size == 3 { "triangle" } else { "cell" };
    let text = format!("{element} {id} has a vertex index that is out of range");
    Err(Fault::of_mesh(1, id, text))
}

/// Refuses a part that 32-bit ids do not name.
pub(crate) fn check_size(ranks: &Ranks, vertices: usize, corners: usize) -> Result<()> {
    if corners < NONE as usize && vertices < NONE as usize {
        return Ok(());
    }
    let rank = ranks.rank();
    Err(trioxide::Error::Argument(format!(
        "rank {rank} would hold {vertices} vertices, and cells with {corners} corners, more than 32-bit ids name: use more ranks"
    ))
    .into())
}

/// The vertices of a cell with so many corners: it is a row of its id, its vertices, and what else belongs to it.
pub(crate) fn vertices(cell: &[u64], size: usize) -> &[u64] {
    &cell[1..=size]
}

/// All vertices of cells with so many corners.
pub(crate) fn all_vertices(cells: &Rows, size: usize) -> IdSet {
    IdSet::of_lists(cells.len(), |i| {
        vertices(cells.get(i), size).iter().copied()
    })
}

/// Sends the cells of the block to their owners; the ones that this rank owns.
fn deal<P: Sync>(ranks: &Ranks, block: &Block<P>, owners: &[u32]) -> Rows {
    let stride = block.size + 2;
    let first = first_cell(ranks, block);
    let owner = |i: usize| owners[i] as usize;
    let rows = Mail::rows(ranks.size(), owners.len(), stride, owner, |i, row| {
        set_row(block, first, i, row);
    });
    let words = ranks.exchange(&rows).into_items();
    Rows { words, stride }
}

/// The cells of the block, which this rank owns.
fn stay<P: Sync>(ranks: &Ranks, block: &Block<P>) -> Rows {
    let stride = block.size + 2;
    let first = first_cell(ranks, block);
    let mut words = vec![0; stride * (block.corners.len() / block.size.max(1))];
    parallel::for_chunks_mut(&mut words, stride, |i, row| set_row(block, first, i, row));
    Rows { words, stride }
}

/// Id of the block's first cell.
fn first_cell<P>(ranks: &Ranks, block: &Block<P>) -> u64 {
    let blocks = Blocks::new(block.cells, ranks.size());
    blocks.range(ranks.rank()).start
}

/// The row of cell `i` of a block: its id, its vertices, and its region.
fn set_row<P>(block: &Block<P>, first: u64, i: usize, row: &mut [u64]) {
    let region = block.regions.as_ref().map_or(0, |regions| regions[i]);
    row[0] = first + i as u64;
    for (corner, k) in row[1..=block.size].iter_mut().zip(block.size * i..) {
        *corner = block.corners.get(k);
    }
    row[block.size + 1] = u64::from(region as u32);
}

/// The vertices of owned cells, and the other ranks that own cells at them.
pub(crate) struct Shared {
    /// Corners of a cell.
    size: usize,
    vertices: IdSet,
    /// Those with others.
    with_others: IdSet,
    /// Vertex and rank, ascending.
    others: Vec<[u64; 2]>,
}

impl Shared {
    /// Asks the directories of the vertices, of which the mesh has `total`. Collective.
    pub(crate) fn find(ranks: &Ranks, owned: &Rows, size: usize, total: u64) -> Self {
        let vertices = all_vertices(owned, size);
        let list = vertices.to_vec();
        let blocks = Blocks::new(total, ranks.size());
        let directory = |i: usize| (blocks.rank(list[i]), list[i]);
        let told = ranks.exchange(&Mail::sorted(ranks.size(), list.len(), directory));
        drop(list);
        let answers = users_of_shared(&told, blocks.range(ranks.rank()));
        let answers = Mail::sorted(ranks.size(), answers.len(), |i| answers[i]);
        let mut others = ranks.exchange(&answers).into_items();
        others.par_sort_unstable();
        Self {
            size,
            with_others: IdSet::of(others.len(), |i| others[i][0]),
            vertices,
            others,
        }
    }

    /// Whether an owned cell has this vertex.
    fn has(&self, vertex: u64) -> bool {
        self.vertices.has(vertex)
    }

    /// The other ranks with cells at a vertex.
    fn of(&self, vertex: u64) -> impl Iterator<Item = u32> {
        let start = self.others.partition_point(|other| other[0] < vertex);
        let behind = self.others[start..].iter();
        behind
            .take_while(move |other| other[0] == vertex)
            .map(|other| other[1] as u32)
    }

    /// Sends each owned cell to the ranks that need it as a ghost: which, by their places, and the ghosts from others.
    pub(crate) fn send(&self, ranks: &Ranks, owned: &Rows) -> (Mail<u64>, Mail<u64>) {
        let is_shared = |&vertex: &u64| self.with_others.has(vertex);
        let shared = parallel::filter_collect(owned.len(), |i| {
            let mut vertices = vertices(owned.get(i), self.size).iter();
            vertices.any(is_shared).then_some(i)
        });
        let (mut to, mut sent) = (Vec::new(), Vec::new());
        let mut of_cell = Vec::new();
        for i in shared {
            let shared = vertices(owned.get(i), self.size).iter();
            of_cell.clear();
            of_cell.extend(shared.flat_map(|&vertex| self.of(vertex)));
            of_cell.sort_unstable();
            of_cell.dedup();
            to.extend_from_slice(&of_cell);
            sent.resize(to.len(), i as u64);
        }
        owned.send(ranks, &to, &sent)
    }
}

/// For each rank that told a vertex of this directory's `block`, the vertex and each of the other ranks that told it.
fn users_of_shared(told: &Mail<u64>, block: Range<u64>) -> Vec<(usize, [u64; 2])> {
    let users = parallel::collect((block.end - block.start) as usize, |_| AtomicU32::new(0));
    let of = |vertex: u64| &users[(vertex - block.start) as usize];
    let all = told.items();
    parallel::for_each(all.len(), |i| _ = of(all[i]).fetch_add(1, Relaxed));
    let is_shared = |vertex: u64| of(vertex).load(Relaxed) > 1;
    let mut users: Vec<[u64; 2]> = Vec::new();
    for rank in 0..told.ranks() {
        let of_rank = told.of(rank);
        users.extend(parallel::filter_collect(of_rank.len(), |i| {
            is_shared(of_rank[i]).then_some([of_rank[i], rank as u64])
        }));
    }
    users.par_sort_unstable();
    let mut answers = Vec::new();
    for users in users.chunk_by(|a, b| a[0] == b[0]) {
        for &[vertex, rank] in users {
            let others = users.iter().filter(|other| other[1] != rank);
            answers.extend(others.map(|other| (rank as usize, [vertex, other[1]])));
        }
    }
    answers
}

/// The segments that have an end at an owned cell's vertex, and both ends here, by local ids; and their places among all.
fn local_segments(
    all: &[Segment],
    local: impl Fn(u64) -> u32,
    is_of_owned: impl Fn(u64) -> bool,
) -> (Vec<Segment>, Vec<usize>) {
    let mut segments = Vec::new();
    let mut places = Vec::new();
    for (place, segment) in all.iter().enumerate() {
        let ends = segment.ends.map(u64::from);
        let here = ends.map(&local);
        if ends.into_iter().any(&is_of_owned) && !here.contains(&NONE) {
            segments.push(Segment {
                ends: here,
                ..*segment
            });
            places.push(place);
        }
    }
    (segments, places)
}

/// Refuses segments that are no edges, as far as ids say so: where an owned cell has one end, all cells of the edge are here,
/// and the other end with them. Collective.
fn check_segments(
    ranks: &Ranks,
    vertices: u64,
    segments: &[Segment],
    shared: &Shared,
    here: &IdSet,
) -> Result<()> {
    if segments.is_empty() {
        return Ok(());
    }
    let is_here = |v: &u64| here.has(*v);
    let ends = |segment: &Segment| segment.ends.map(u64::from);
    let is_outside = |s: &Segment| ends(s).iter().any(|&v| v >= vertices);
    if let Some(segment) = segments.iter().position(is_outside) {
        return Err(polylla::Error::SegmentOutOfRange { segment }.into());
    }
    let is_seen: Vec<bool> = segments
        .iter()
        .map(|s| ends(s).into_iter().any(|v| shared.has(v)))
        .collect();
    let mut seen: Vec<u64> = is_seen
        .chunks(64)
        .map(|chunk| {
            chunk
                .iter()
                .rev()
                .fold(0, |word, &bit| word << 1 | u64::from(bit))
        })
        .collect();
    ranks.reduce_all(&mut seen, Reduction::Or);
    let is_wrong = |i: usize| {
        let is_alone = seen[i / 64] >> (i % 64) & 1 == 0;
        is_alone || is_seen[i] && !ends(&segments[i]).iter().all(is_here)
    };
    ranks.agree(match (0..segments.len()).find(|&i| is_wrong(i)) {
        None => Ok(()),
        Some(i) => Err(no_edge(i, segments[i].ends)),
    })
}

/// The fault of a segment that is no edge.
pub(crate) fn no_edge(segment: usize, [from, to]: [u32; 2]) -> Fault {
    let error = polylla::Error::NoEdge {
        segment: segment as u32,
        from,
        to,
    };
    Fault::of_mesh(100, segment as u64, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_bits_is_set_and_no_other_bit() {
        for (start, end) in [
            (0, 0),
            (0, 1),
            (3, 29),
            (31, 33),
            (32, 64),
            (5, 128),
            (40, 128),
        ] {
            let mut bits = [0; 4];
            set_range(&mut bits, start..end);
            for i in 0..128 {
                let is_set = bits[i / 32] >> (i % 32) & 1 != 0;
                assert_eq!(is_set, (start..end).contains(&i), "{i} of {start}..{end}");
            }
        }
    }
}
