//! Points with the data that they carry: from the blocks of the input to their owners, and the results back.

use std::borrow::Cow;
use std::ops::Range;

use bytemuck::Zeroable;
use glam::{DVec2, DVec3};
use rayon::prelude::*;
use trioxide::Device;
use trioxide::generate::Grid;
use trioxide::mesh::VertexAttributes;
use trioxide::weld::{Carried, DeviceMesh};
use trioxide_mesh::parallel;

use super::boxes::Boxes;
use crate::block::Block;
use crate::ids::Ids;
use crate::merged::Merged;
use crate::ownership::Ownership;
use crate::transport::{Mail, Ranks, Reduction};

/// The arrays that rows of points carry besides id and coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    has_normals: bool,
    has_colors: bool,
    has_uvs: bool,
    has_locks: bool,
}

impl Layout {
    /// The layout of points with these arrays.
    fn of(carried: &Carried) -> Self {
        let attributes = carried.attributes;
        Self {
            has_normals: attributes.normals.is_some(),
            has_colors: attributes.colors.is_some(),
            has_uvs: attributes.uvs.is_some(),
            has_locks: !carried.locked.is_empty(),
        }
    }

    /// The layout of the points of all ranks. Collective.
    fn of_all(ranks: &Ranks, carried: &Carried) -> Self {
        let here = Self::of(carried);
        let mut bits = [
            here.has_normals,
            here.has_colors,
            here.has_uvs,
            here.has_locks,
        ]
        .map(u64::from);
        ranks.reduce_all(&mut bits, Reduction::Or);
        let [has_normals, has_colors, has_uvs, has_locks] = bits.map(|bit| bit != 0);
        Self {
            has_normals,
            has_colors,
            has_uvs,
            has_locks,
        }
    }

    /// Adds the empty arrays of this layout, where a rank has no points.
    pub fn complete(self, attributes: &mut VertexAttributes) {
        let VertexAttributes {
            normals,
            colors,
            uvs,
        } = attributes;
        _ = self.has_normals.then(|| normals.get_or_insert_default());
        _ = self.has_colors.then(|| colors.get_or_insert_default());
        _ = self.has_uvs.then(|| uvs.get_or_insert_default());
    }

    /// Words of a row: coordinates, normal, texture coordinates, and a word of colour and lock, as far as points have
    /// them.
    pub fn words(self) -> usize {
        let has_last = self.has_colors || self.has_locks;
        3 + 3 * usize::from(self.has_normals)
            + 2 * usize::from(self.has_uvs)
            + usize::from(has_last)
    }

    /// Words of a row that begins with the point's id.
    pub fn stride(self) -> usize {
        1 + self.words()
    }

    /// Writes the row of point `i`.
    pub fn write(self, row: &mut [u64], i: usize, points: &[DVec3], carried: &Carried) {
        let Carried {
            attributes, locked, ..
        } = carried;
        let mut words = row.iter_mut();
        let mut put = |word: u64| *words.next().expect("a row has room") = word;
        let of_point = points[i].to_array();
        let normal = attributes.normals.as_ref().map(|all| all[i].to_array());
        let uv = attributes.uvs.as_ref().map(|all| all[i].to_array());
        let floats = (of_point.into_iter()).chain(normal.into_iter().flatten());
        for x in floats.chain(uv.into_iter().flatten()) {
            put(x.to_bits());
        }
        if self.has_colors || self.has_locks {
            let color = attributes.colors.as_ref().map_or([0; 4], |all| all[i]);
            let lock = locked.get(i).is_some_and(|&lock| lock);
            put(u64::from(u32::from_le_bytes(color)) | u64::from(lock) << 32);
        }
    }

    /// The points of rows of `stride` words, which may begin with an id.
    pub fn read(self, words: &[u64], stride: usize) -> Points<'static> {
        let skipped = stride - self.words();
        let three = |row: &[u64]| DVec3::new(f(row[0]), f(row[1]), f(row[2]));
        let all = || words.par_chunks_exact(stride).map(|row| &row[skipped..]);
        let behind = if self.has_normals { 6 } else { 3 };
        let last = self.words() - 1;
        let attributes = VertexAttributes {
            normals: (self.has_normals).then(|| all().map(|row| three(&row[3..])).collect()),
            colors: self.has_colors.then(|| {
                let color = |row: &[u64]| (row[last] as u32).to_le_bytes();
                all().map(color).collect()
            }),
            uvs: self.has_uvs.then(|| {
                let uv = |row: &[u64]| DVec2::new(f(row[behind]), f(row[behind + 1]));
                all().map(uv).collect()
            }),
        };
        let locked = match self.has_locks {
            true => all().map(|row| row[last] >> 32 != 0).collect(),
            false => Vec::new(),
        };
        Points {
            points: Cow::Owned(all().map(three).collect()),
            attributes: Cow::Owned(attributes),
            locked: Cow::Owned(locked),
        }
    }
}

fn f(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// Points with the data that they carry.
#[derive(Clone, Default)]
pub struct Points<'a> {
    pub points: Cow<'a, [DVec3]>,
    pub attributes: Cow<'a, VertexAttributes>,
    /// Empty for no lock.
    pub locked: Cow<'a, [bool]>,
}

impl Points<'_> {
    /// The arrays that they carry.
    pub fn carried(&self) -> Carried<'_> {
        Carried {
            attributes: &self.attributes,
            locked: &self.locked,
            regions: None,
        }
    }

    /// Copies them to a device.
    pub fn upload(&self, on: &Device) -> trioxide::weld::Result<DeviceMesh> {
        DeviceMesh::upload_points(on, &self.points, &self.carried())
    }

    /// The points and ghosts in one list.
    pub fn merged(&self, ghosts: &Points, merged: &Merged) -> Points<'static> {
        fn lists<T: Copy + Zeroable + Send + Sync>(
            merged: &Merged,
            own: &Option<Vec<T>>,
            ghosts: &Option<Vec<T>>,
        ) -> Option<Vec<T>> {
            Some(merged.places.interleave(1, own.as_ref()?, ghosts.as_ref()?))
        }
        let (own, others) = (&*self.attributes, &*ghosts.attributes);
        let attributes = VertexAttributes {
            normals: lists(merged, &own.normals, &others.normals),
            colors: lists(merged, &own.colors, &others.colors),
            uvs: lists(merged, &own.uvs, &others.uvs),
        };
        Points {
            points: Cow::Owned(merged.places.interleave(1, &self.points, &ghosts.points)),
            attributes: Cow::Owned(attributes),
            locked: Cow::Owned(merged.places.interleave(1, &self.locked, &ghosts.locked)),
        }
    }
}

/// The source of a rank's points.
pub enum Source<'a> {
    /// Lists of the host, in boxes.
    Lists(Points<'a>, Boxes),
    /// A plain grid, whose points follow from their ids. The device writes them.
    Grid(Grid),
}

impl Source<'_> {
    /// Smallest and largest coordinates of all ranks' points.
    pub fn bounds(&self) -> [DVec3; 2] {
        match self {
            Self::Lists(_, boxes) => boxes.bounds(),
            Self::Grid(_) => [DVec3::ZERO, DVec2::ONE.extend(0.0)],
        }
    }
}

/// The points that this rank owns, and the way back to the blocks of the input.
pub struct Dealt<'a> {
    /// Number of all points.
    pub total: u64,
    pub layout: Layout,
    /// Ascending.
    pub ids: Ids,
    pub source: Source<'a>,
    /// The ids of this rank's block.
    pub block: Range<u64>,
    /// `None` where each rank owns its block.
    moves: Option<Moves>,
}

/// The blocks and owners of points that have moved.
struct Moves {
    /// Number of owned points from each rank's block.
    from: Vec<usize>,
    /// Owner of each point of the block.
    owners: Vec<u32>,
}

impl<'a> Dealt<'a> {
    /// Sends the points to their owners along a curve, unless few points of the blocks are within `reach` of other
    /// ranks.
    /// Collective.
    pub fn deal(
        ranks: &Ranks,
        block: &'a Block<DVec3>,
        carried: &Carried<'a>,
        ownership: &Ownership,
        reach: f64,
    ) -> Self {
        ranks.phase("ownership");
        let total = block.vertices;
        let layout = Layout::of_all(ranks, carried);
        let range = ranks.block(total);
        if let (Some(grid), true) = (ownership.plain_grid(), layout == Layout::default()) {
            return Self {
                total,
                layout,
                ids: Ids::of_range(range.clone()),
                source: Source::Grid(grid),
                block: range,
                moves: None,
            };
        }
        assert_eq!(
            block.points.len(),
            range.clone().count(),
            "points of the block"
        );
        let stride = layout.stride();
        let write = |i: usize, row: &mut [u64]| {
            row[0] = range.start + i as u64;
            layout.write(&mut row[1..], i, &block.points, carried);
        };
        let mut boxes = Boxes::of(ranks, &block.points);
        let are_apart = || matches!(ownership, Ownership::Near) && boxes.are_apart(ranks, reach);
        let (ids, points, moves) = if !ownership.keeps_blocks(ranks) && !are_apart() {
            let owners = ownership.owners_of_points(
                ranks,
                total,
                &block.points,
                boxes.bounds().map(|p| p.to_array()),
            );
            ranks.phase("distribution");
            let owner = |i: usize| owners[i] as usize;
            let rows = Mail::rows(ranks.size(), owners.len(), stride, owner, write);
            let received = ranks.exchange(&rows);
            let from = (0..ranks.size()).map(|rank| received.of(rank).len() / stride);
            let from = from.collect();
            // Blocks ascend with their ranks, and so do the rows of each.
            let ids = Ids::of(parallel::map_chunks(received.items(), stride, |row| row[0]));
            let points = layout.read(received.items(), stride);
            boxes = Boxes::of(ranks, &points.points);
            (ids, points, Some(Moves { from, owners }))
        } else if layout == Layout::of(carried) {
            let points = Points {
                points: Cow::Borrowed(&block.points),
                attributes: Cow::Borrowed(carried.attributes),
                locked: Cow::Borrowed(carried.locked),
            };
            (Ids::of_range(range.clone()), points, None)
        } else {
            // Other ranks have arrays that this rank lacks.
            let mut rows = parallel::zeroed(stride * block.points.len());
            parallel::for_chunks_mut(&mut rows, stride, write);
            let points = layout.read(&rows, stride);
            (Ids::of_range(range.clone()), points, None)
        };
        Self {
            total,
            layout,
            ids,
            source: Source::Lists(points, boxes),
            block: range,
            moves,
        }
    }

    /// Whether points have moved to owners elsewhere.
    pub fn moves(&self) -> bool {
        self.moves.is_some()
    }

    /// Sends rows of `stride` words from owners to the blocks, for the owned points for which `is_given` is true; in
    /// the blocks `is_taken` is true for the same points. Returns the rows in the order of the block's points.
    /// Collective.
    pub fn back(
        &self,
        ranks: &Ranks,
        rows: Vec<u64>,
        stride: usize,
        is_given: impl Fn(usize) -> bool + Sync,
        is_taken: impl Fn(usize) -> bool,
    ) -> Vec<u64> {
        let Some(Moves { from, owners }) = &self.moves else {
            return rows;
        };
        let mut place = 0;
        let counts = from.iter().map(|&count| {
            let start = place;
            place += count;
            stride * parallel::count(count, |i| is_given(start + i))
        });
        let received = ranks.exchange(&Mail::from_parts(rows, counts));
        let me = ranks.rank() as u32;
        if parallel::all(owners, |&owner| owner == me) {
            return received.into_items();
        }
        // The points of one owner ascend here and there.
        let mut of: Vec<_> = (0..ranks.size())
            .map(|rank| received.of(rank).chunks_exact(stride))
            .collect();
        let mut all = Vec::with_capacity(received.items().len());
        let taken = owners.iter().enumerate();
        for (_, &owner) in taken.filter(|&(i, _)| is_taken(i)) {
            all.extend_from_slice(of[owner as usize].next().expect("as many as were sent"));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::run;

    /// Rows come back unchanged, and answers come to their points.
    #[test]
    fn rows_hold_all_that_points_carry() {
        let n = 23;
        let at = |i: usize, k: f64| i as f64 + k;
        let points: Vec<DVec3> = (0..n).map(|i| DVec3::new(at(i, 0.1), -0.0, 7.0)).collect();
        let normals: Vec<DVec3> = (0..n).map(|i| DVec3::splat(at(i, 0.2))).collect();
        let uvs: Vec<DVec2> = (0..n).map(|i| DVec2::new(at(i, 0.3), 1.0)).collect();
        let colors: Vec<[u8; 4]> = (0..n as u8).map(|i| [i, 255, 3, i + 1]).collect();
        let locked: Vec<bool> = (0..n).map(|i| i % 3 == 0).collect();
        for bits in 0..16 {
            let has = |bit: usize| bits >> bit & 1 != 0;
            run(4, |transport| {
                let ranks = Ranks::new(transport);
                let range = ranks.block(n as u64);
                let range = range.start as usize..range.end as usize;
                let attributes = VertexAttributes {
                    normals: has(0).then(|| normals[range.clone()].to_vec()),
                    colors: has(1).then(|| colors[range.clone()].to_vec()),
                    uvs: has(2).then(|| uvs[range.clone()].to_vec()),
                };
                let carried = Carried {
                    attributes: &attributes,
                    locked: if has(3) { &locked[range.clone()] } else { &[] },
                    regions: None,
                };
                let block = Block {
                    vertices: n as u64,
                    cells: 0,
                    size: 3,
                    points: points[range.clone()].to_vec(),
                    corners: Default::default(),
                    regions: None,
                    segments: Vec::new(),
                };
                let owner = |id: u64| (id * 7 % 3) as usize;
                let ownership = Ownership::Given(std::sync::Arc::new(owner));
                let dealt = Dealt::deal(&ranks, &block, &carried, &ownership, 0.0);
                let ids: Vec<usize> = dealt.ids.iter().map(|id| id as usize).collect();
                assert!(ids.is_sorted() && (ids.iter()).all(|&id| id * 7 % 3 == ranks.rank()));
                let Source::Lists(read, _) = &dealt.source else {
                    panic!("lists")
                };
                let place = |i: usize| ids[i];
                for i in 0..ids.len() {
                    assert_eq!(read.points[i], points[place(i)]);
                    let VertexAttributes {
                        normals: n,
                        colors: c,
                        uvs: t,
                    } = &*read.attributes;
                    assert!(n.as_ref().is_none_or(|n| n[i] == normals[place(i)]));
                    assert!(c.as_ref().is_none_or(|c| c[i] == colors[place(i)]));
                    assert!(t.as_ref().is_none_or(|t| t[i] == uvs[place(i)]));
                    assert_eq!(read.locked.get(i), has(3).then(|| &locked[place(i)]));
                }
                let is_there = [
                    read.attributes.normals.is_some(),
                    read.attributes.colors.is_some(),
                    read.attributes.uvs.is_some(),
                ];
                assert_eq!(is_there, [has(0), has(1), has(2)]);
                // Answers of even ids.
                let given = |i: usize| ids[i].is_multiple_of(2);
                let answers = (0..ids.len()).filter(|&i| given(i));
                let answers = answers.flat_map(|i| [ids[i] as u64, 5]).collect();
                let taken = |i: usize| (range.start + i).is_multiple_of(2);
                let back = dealt.back(&ranks, answers, 2, given, taken);
                let even = range.clone().filter(|i| i.is_multiple_of(2));
                let expected: Vec<u64> = even.flat_map(|i| [i as u64, 5]).collect();
                assert_eq!(back, expected);
            });
        }
    }
}
