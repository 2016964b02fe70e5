//! Points with what they carry: from the blocks of the input to their owners, and the answers back.

use glam::{DVec2, DVec3};
use rayon::prelude::*;
use trioxide::Device;
use trioxide::mesh::{Mesh, VertexAttributes};
use trioxide::weld::{Carried, DeviceMesh, Locks};
use trioxide_mesh::parallel;

use crate::block::{Block, Blocks};
use crate::ownership::Ownership;
use crate::rows::Rows;
use crate::transport::{Mail, Ranks, Reduction};

/// What rows of points carry besides id and coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    has_normals: bool,
    has_colors: bool,
    has_uvs: bool,
    has_locks: bool,
}

impl Layout {
    /// That of the points of all ranks. Collective.
    fn of(ranks: &Ranks, carried: &Carried) -> Self {
        let attributes = carried.attributes;
        let here = [
            attributes.normals.is_some(),
            attributes.colors.is_some(),
            attributes.uvs.is_some(),
            !carried.locked.is_empty(),
        ];
        let mut bits = here.map(u64::from);
        ranks.reduce_all(&mut bits, Reduction::Or);
        let [has_normals, has_colors, has_uvs, has_locks] = bits.map(|bit| bit != 0);
        Self {
            has_normals,
            has_colors,
            has_uvs,
            has_locks,
        }
    }

    /// Words of a row: the id, the coordinates, normal and texture coordinates, and a word of colour and lock, where points have them.
    pub fn stride(self) -> usize {
        let has_last = self.has_colors || self.has_locks;
        4 + 3 * usize::from(self.has_normals)
            + 2 * usize::from(self.has_uvs)
            + usize::from(has_last)
    }

    /// Writes the row of a point: number `i` of these.
    pub fn write(self, row: &mut [u64], id: u64, i: usize, points: &[DVec3], carried: &Carried) {
        let Carried {
            attributes, locked, ..
        } = carried;
        let mut words = row.iter_mut();
        let mut put = |word: u64| *words.next().expect("a row has room") = word;
        put(id);
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

    /// The points of rows.
    pub fn read(self, rows: &Rows) -> Points {
        let three = |row: &[u64]| DVec3::new(f(row[0]), f(row[1]), f(row[2]));
        let all = || rows.words.par_chunks_exact(rows.stride);
        let behind = if self.has_normals { 7 } else { 4 };
        let last = rows.stride - 1;
        Points {
            points: all().map(|row| three(&row[1..])).collect(),
            attributes: VertexAttributes {
                normals: (self.has_normals).then(|| all().map(|row| three(&row[4..])).collect()),
                colors: self.has_colors.then(|| {
                    let color = |row: &[u64]| (row[last] as u32).to_le_bytes();
                    all().map(color).collect()
                }),
                uvs: self.has_uvs.then(|| {
                    let uv = |row: &[u64]| DVec2::new(f(row[behind]), f(row[behind + 1]));
                    all().map(uv).collect()
                }),
            },
            locked: match self.has_locks {
                true => all().map(|row| row[last] >> 32 != 0).collect(),
                false => Vec::new(),
            },
        }
    }
}

fn f(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// Points with what they carry.
pub struct Points {
    pub points: Vec<DVec3>,
    pub attributes: VertexAttributes,
    /// Empty for no lock.
    pub locked: Vec<bool>,
}

impl Points {
    /// Copies them to a device.
    pub fn upload(self, on: &Device) -> trioxide::weld::Result<DeviceMesh> {
        let locks = Locks {
            boundary: false,
            vertices: self.locked,
        };
        let mesh = Mesh {
            points: self.points,
            attributes: self.attributes,
            ..Mesh::default()
        };
        DeviceMesh::upload_locked(on, &mesh, &locks)
    }
}

/// The points that this rank owns, and the way back to the blocks of the input.
pub struct Dealt {
    /// Number of all points.
    pub total: u64,
    pub layout: Layout,
    /// Ascending.
    pub owned: Rows,
    /// Number of owned points from each rank's block.
    from: Vec<usize>,
    /// Owner of each point of the block.
    owners: Vec<u32>,
    /// This rank.
    rank: usize,
    /// First id of the block.
    first: u64,
}

impl Dealt {
    /// Sends the points to their owners. Collective.
    pub fn deal(
        ranks: &Ranks,
        block: &Block<DVec3>,
        carried: &Carried,
        ownership: &Ownership,
    ) -> Self {
        ranks.phase("ownership");
        let total = block.vertices;
        let layout = Layout::of(ranks, carried);
        let owners = ownership.owners_of_points(ranks, total, &block.points);
        ranks.phase("distribution");
        let first = Blocks::new(total, ranks.size()).range(ranks.rank()).start;
        let stride = layout.stride();
        let owner = |i: usize| owners[i] as usize;
        let rows = Mail::rows(ranks.size(), owners.len(), stride, owner, |i, row| {
            layout.write(row, first + i as u64, i, &block.points, carried);
        });
        let received = ranks.exchange(&rows);
        let from = (0..ranks.size()).map(|rank| received.of(rank).len() / stride);
        Self {
            total,
            layout,
            from: from.collect(),
            // Blocks ascend with their ranks, and so do the rows of each.
            owned: Rows {
                words: received.into_items(),
                stride,
            },
            owners,
            rank: ranks.rank(),
            first,
        }
    }

    /// First id of this rank's block.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Gives rows of `stride` words, made by owners, to the blocks: of those owned points that `is_given` names by their places. In the
    /// blocks these are the points that `is_taken` names. Collective: the rows in the order of the block's points.
    pub fn back(
        &self,
        ranks: &Ranks,
        rows: Vec<u64>,
        stride: usize,
        is_given: impl Fn(usize) -> bool + Sync,
        is_taken: impl Fn(usize) -> bool,
    ) -> Vec<u64> {
        let mut place = 0;
        let counts = self.from.iter().map(|&count| {
            let range = place..place + count;
            place += count;
            stride * parallel::count(count, |i| is_given(range.start + i))
        });
        let received = ranks.exchange(&Mail::from_parts(rows, counts));
        if parallel::all(&self.owners, |&owner| owner as usize == self.rank) {
            return received.into_items();
        }
        // The points of one owner ascend in both.
        let mut of: Vec<_> = (0..ranks.size())
            .map(|rank| received.of(rank).chunks_exact(stride))
            .collect();
        let mut all = Vec::with_capacity(received.items().len());
        let taken = self.owners.iter().enumerate();
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

    /// Rows come back as they went, and answers to the points that they are for.
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
                let range = Blocks::new(n as u64, 4).range(ranks.rank());
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
                    corners: Vec::new(),
                    regions: None,
                    segments: Vec::new(),
                };
                let owner = |id: u64| (id * 7 % 3) as usize;
                let ownership = Ownership::Given(std::sync::Arc::new(owner));
                let dealt = Dealt::deal(&ranks, &block, &carried, &ownership);
                let rows = &dealt.owned;
                let ids: Vec<usize> = (0..rows.len()).map(|i| rows.id(i) as usize).collect();
                assert!(ids.is_sorted() && (ids.iter()).all(|&id| id * 7 % 3 == ranks.rank()));
                let read = dealt.layout.read(rows);
                let place = |i: usize| ids[i];
                for i in 0..rows.len() {
                    assert_eq!(read.points[i], points[place(i)]);
                    let VertexAttributes {
                        normals: n,
                        colors: c,
                        uvs: t,
                    } = &read.attributes;
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
