//! Triangulation of hard points by insertion, and the part of it that belongs to all points.

use glam::DVec2;
use gpu::delaunay as kernel;
use gpu::delaunay::{CandidatesBuffers, HardTrianglesBuffers, INFINITE, TrianglesBuffers};
use gpu::ids::{Item, Place, Vertex};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, words};
use trioxide_mesh::outline::no_triangle;

use super::{HardMesh, Ranked, Stars, gaps, one_block};
use crate::collective::{Tiled, compact, exclusive_scan, order_by_keys};
use crate::device::Device;
use crate::{Error, Result, reorder};

/// Most points of all triangles' lists. A launch goes through the lists of each triangle at most once for each of its
/// faces, and counts them in 32 bits.
const MOST_LISTED: usize = u32::MAX as usize / 3;

/// Places of the corners of the triangles between hard points, of the triangulation of all; inserts the points, by one
/// block if there are at most `most_in_block`.
pub(super) fn insert(
    on: &Device,
    ranked: &Ranked,
    stars: &Stars,
    hard: &Buffer<Place>,
    most_in_block: usize,
) -> Result<Buffer<Place>> {
    let is_all = hard.len() == ranked.sorted.len();
    if hard.len() < 3 {
        return on.uninitialized(0);
    }
    let Some((places, sites)) = shuffle(on, ranked, hard)? else {
        return if is_all {
            let [p, q] = [on.read(&ranked.sorted, 0)?, on.read(&ranked.sorted, 1)?];
            let count = ranked.sorted.len();
            Err(no_triangle(&format!(
                "all {count} lie on the line through {p} and {q}"
            )))
        } else {
            on.uninitialized(0)
        };
    };
    let mesh = match sites.len() <= most_in_block {
        true => one_block::triangulate(on, &sites)?,
        false => None,
    };
    let HardMesh {
        corners,
        minima,
        done,
    } = match mesh {
        Some(mesh) => mesh,
        None => triangulate_by_launches(on, sites)?,
    };
    let t = minima.len() as u32;
    let mut bits = on.uninitialized(minima.len().div_ceil(32))?;
    kernel::find_final_triangles::launch(on, t, &minima, &corners, &mut bits)?;
    let list = compact(on, &bits)?;
    let table = match is_all {
        true => on.uninitialized(0)?,
        false => gaps::cover(on, stars, places.len())?.0,
    };
    let hard = HardTrianglesBuffers {
        corners: &corners,
        places: &places,
        table: &table,
    };
    let list = match is_all {
        true => list,
        false => select(on, hard, minima.len(), &done.cast(), &list)?,
    };
    let mut corners = on.uninitialized(3 * list.len())?;
    kernel::take_hard_triangles::launch(on, list.len() as u32, &list, hard, &mut corners)?;
    Ok(corners)
}

/// The hard points in a random order, whose first three are not on a line; `None` if all are.
fn shuffle(
    on: &Device,
    ranked: &Ranked,
    hard: &Buffer<Place>,
) -> Result<Option<(Buffer<Place>, Buffer<DVec2>)>> {
    let n = hard.len() as u32;
    let mut keys = on.uninitialized(hard.len())?;
    kernel::scatter_numbers::launch(on, n, &mut keys)?;
    let order: Buffer<Item> = order_by_keys(on, keys, u32::BITS)?.cast();
    let take = |third: u32| -> Result<_> {
        let mut places = on.uninitialized(hard.len())?;
        let mut sites = on.uninitialized(hard.len())?;
        let sorted = &ranked.sorted;
        kernel::take_sites::launch(on, n, third, &order, hard, sorted, &mut places, &mut sites)?;
        Ok((places, sites))
    };
    let (places, sites) = take(2)?;
    let mut bits = on.uninitialized(hard.len().div_ceil(32))?;
    kernel::find_off_line::launch(on, n, &sites, &mut bits)?;
    let off: Buffer<Item> = compact(on, &bits)?;
    if off.is_empty() {
        return Ok(None);
    }
    match on.read(&off, 0)?.index() {
        2 => Ok(Some((places, sites))),
        third => take(third).map(Some),
    }
}

/// Triangulates hard points by launches for each round.
fn triangulate_by_launches(on: &Device, sites: Buffer<DVec2>) -> Result<HardMesh> {
    let mut mesh = Mesh::start(on, sites)?;
    while !mesh.faces.is_empty() {
        mesh.round(on)?;
    }
    Ok(HardMesh {
        corners: mesh.corners,
        minima: mesh.minima,
        done: mesh.done,
    })
}

/// A mesh into which points are inserted.
struct Mesh {
    sites: Buffer<DVec2>,
    /// Corners of the triangles that there have been, three each.
    corners: Buffer<u32>,
    /// Start of each triangle's points, and the end of the last's.
    starts: Buffer<u32>,
    points: Buffer<u32>,
    /// The first point in each triangle's circle.
    minima: Buffer<u32>,
    /// Faces that may change.
    faces: Buffer<[u32; 4]>,
    /// Faces of the result.
    done: Buffer<u32>,
    /// Edges whose other triangle is not there yet.
    waiting: Buffer<u32>,
}

impl Mesh {
    /// The first three points, and all others as points of the first triangle and its ghosts.
    fn start(on: &Device, sites: Buffer<DVec2>) -> Result<Self> {
        let first = on.download_range(&sites, 0..3)?;
        let is_left = gpu::delaunay::orientation(first[0], first[1], first[2]) > 0;
        let (a, b, c) = if is_left { (0, 1, 2) } else { (1, 0, 2) };
        let i = INFINITE;
        let corners = on.upload(&[a, b, c, b, a, i, c, b, i, a, c, i])?;
        let faces = [
            [a, b, 0, 1],
            [b, c, 0, 2],
            [c, a, 0, 3],
            [a, i, 1, 3],
            [b, i, 2, 1],
            [c, i, 3, 2],
        ];
        let count = sites.len() as u32 - 3;
        let mut minima = on.filled(4, INFINITE)?;
        let mut points = on.uninitialized(0)?;
        let mut starts = vec![0];
        for t in 0..4 {
            let mut bits = on.uninitialized(count.div_ceil(32) as usize)?;
            kernel::test_first::launch(on, count, t, &corners, &sites, &mut minima, &mut bits)?;
            let flags: Buffer<Item> = compact(on, &bits)?;
            let first = points.len();
            on.resize(&mut points, first + flags.len())?;
            starts.push(points.len() as u32);
            kernel::take_first::launch(on, flags.len() as u32, &flags, first as u32, &mut points)?;
        }
        check_listed(sites.len(), points.len())?;
        Ok(Self {
            sites,
            corners,
            starts: on.upload(&starts)?,
            points,
            minima,
            faces: on.upload(&faces)?,
            done: on.uninitialized(0)?,
            waiting: on.uninitialized(0)?,
        })
    }

    /// Replaces a triangle at each face whose triangles have different first points.
    fn round(&mut self, on: &Device) -> Result<()> {
        let (n, words) = (self.faces.len() as u32, self.faces.len().div_ceil(32));
        let (mut ready, mut done) = (on.uninitialized(words)?, on.uninitialized(words)?);
        kernel::compare_faces::launch(on, n, &self.faces, &self.minima, &mut ready, &mut done)?;
        let done = self.take_faces(on, &compact(on, &done)?)?;
        append(on, &mut self.done, &done.cast())?;
        let ready = self.take_faces(on, &compact(on, &ready)?)?;
        let count = ready.len();
        if count == 0 {
            self.faces = ready;
            return Ok(());
        }
        let first = self.minima.len();
        let new = first..first + count;
        on.resize(&mut self.corners, 3 * new.end)?;
        on.resize(&mut self.minima, new.end)?;
        on.fill_from(&mut self.minima, first, INFINITE)?;
        let mut replaced = on.uninitialized(count)?;
        let mut lengths = crate::collective::lengths(on, count)?;
        let mut next = on.uninitialized(4 * count)?;
        kernel::make_triangles::launch(
            on,
            count as u32,
            &ready,
            &self.minima,
            &self.starts,
            first as u32,
            &mut self.corners,
            &mut replaced,
            &mut lengths,
            &mut next,
        )?;
        let total = exclusive_scan(on, &mut lengths)?;
        let total = on.read(&total, 0)?;
        self.divide_points(on, first, count, total, &lengths, &replaced)?;
        self.meet(on, first, count, next)
    }

    fn take_faces(&self, on: &Device, list: &Buffer<Item>) -> Result<Buffer<[u32; 4]>> {
        let mut taken = on.uninitialized(list.len())?;
        kernel::take_faces::launch(on, list.len() as u32, list, &self.faces, &mut taken)?;
        Ok(taken)
    }

    /// Gives the new triangles their points.
    fn divide_points(
        &mut self,
        on: &Device,
        first: usize,
        count: usize,
        total: u32,
        offsets: &Buffer<u32>,
        replaced: &Buffer<[u32; 2]>,
    ) -> Result<()> {
        let candidates = CandidatesBuffers {
            offsets,
            replaced,
            first: first as u32,
            count: count as u32,
        };
        let triangles = TrianglesBuffers {
            corners: &self.corners,
            starts: &self.starts,
            points: &self.points,
            sites: &self.sites,
        };
        let mut bits: Buffer<Bits<Item>> = on.uninitialized(words(total as usize))?;
        let minima = &mut self.minima;
        kernel::test_candidates::launch(on, total, candidates, triangles, minima, &mut bits)?;
        let tiled = Tiled::new(on, &bits)?;
        let ranks = tiled.ranks(on)?;
        let kept = tiled.count(on)?.total();
        let before = self.points.len();
        check_listed(self.sites.len(), before + kept as usize)?;
        let mut new_points = on.uninitialized(kept as usize)?;
        let mut new_starts = on.uninitialized(count + 1)?;
        on.fill_from(&mut new_starts, count, before as u32 + kept)?;
        kernel::take_candidates::launch(
            on,
            total,
            candidates,
            triangles,
            &ranks,
            before as u32,
            &mut new_points,
            &mut new_starts,
        )?;
        append(on, &mut self.points, &new_points)?;
        // The last start was the end of the triangles before.
        on.resize(&mut self.starts, first)?;
        append(on, &mut self.starts, &new_starts)
    }

    /// Lets the edges of new triangles find each other; the faces of the next round.
    fn meet(&mut self, on: &Device, first: usize, count: usize, next: Buffer<u32>) -> Result<()> {
        let mut sides = on.uninitialized(2 * count)?;
        kernel::list_sides::launch(on, count as u32, first as u32, &self.corners, &mut sides)?;
        append(on, &mut self.waiting, &sides)?;
        let n = self.waiting.len();
        // Half of the table stays free.
        let mut keys = on.filled(4 * n + 2, u32::MAX)?.cast();
        let mut sides = on.filled(4 * n + 2, INFINITE)?;
        let mut places = on.uninitialized(n)?;
        kernel::claim_places::launch(
            on,
            n as u32,
            &self.waiting,
            &self.corners,
            &mut keys,
            &mut sides,
            &mut places,
        )?;
        let (mut met, mut waits) = (
            on.uninitialized(n.div_ceil(32))?,
            on.uninitialized(n.div_ceil(32))?,
        );
        kernel::match_sides::launch(
            on,
            n as u32,
            &self.waiting,
            &self.corners,
            &places,
            &sides,
            &mut met,
            &mut waits,
        )?;
        let met: Buffer<Item> = compact(on, &met)?;
        let mut faces = next;
        on.resize(&mut faces, 4 * (count + met.len()))?;
        kernel::write_faces::launch(
            on,
            met.len() as u32,
            &met,
            &self.waiting,
            &places,
            &sides,
            &self.corners,
            count as u32,
            &mut faces,
        )?;
        self.faces = faces.cast();
        let waits: Buffer<Item> = compact(on, &waits)?;
        let mut waiting = on.uninitialized(waits.len())?;
        kernel::take_words::launch(on, waits.len() as u32, &waits, &self.waiting, &mut waiting)?;
        self.waiting = waiting;
        Ok(())
    }
}

/// Refuses lists whose places 32 bits do not name.
fn check_listed(hard: usize, listed: usize) -> Result<()> {
    if listed <= MOST_LISTED {
        return Ok(());
    }
    Err(Error::Argument(format!(
        "{hard} points are too many of such uneven density: triangulate fewer at once, or points of one scale"
    )))
}

/// Appends words to others.
fn append(on: &Device, all: &mut Buffer<u32>, more: &Buffer<u32>) -> Result<()> {
    let first = all.len();
    on.resize(all, first + more.len())?;
    kernel::append_words::launch(on, more.len() as u32, more, first as u32, all)?;
    Ok(())
}

/// Selects the triangles of `list` that no star covers. `faces` has the edges of the triangulation, between two of the
/// `triangles` that there have been.
fn select(
    on: &Device,
    hard: HardTrianglesBuffers<'_>,
    triangles: usize,
    faces: &Buffer<[u32; 4]>,
    list: &Buffer<Item>,
) -> Result<Buffer<Item>> {
    let mut parents: Buffer<Vertex> = on.uninitialized(triangles)?;
    gpu::forms::count_up::launch(on, triangles as u32, &mut parents)?;
    let mut parents = parents.cast();
    kernel::join_triangles::launch(on, faces.len() as u32, faces, hard, &mut parents)?;
    let mut kept = on.filled(triangles, 0)?;
    let finals = list.len() as u32;
    kernel::keep_parts::launch(on, finals, list, hard, &mut parents, &mut kept)?;
    let mut bits = on.uninitialized(list.len().div_ceil(32))?;
    kernel::select_parts::launch(on, finals, list, &mut parents, &kept, &mut bits)?;
    let selected: Buffer<Item> = compact(on, &bits)?;
    Ok(reorder::pick(on, list.as_words(), &selected)?.cast())
}
