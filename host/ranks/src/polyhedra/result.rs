//! The polyhedra in the order of the single run: in slices, or at rank 0, for formats that one process writes.

use std::ops::Range;

use rayon::slice::ParallelSliceMut;
use trioxide::Device;
use trioxide::mesh::NONE;
use trioxide::polyhedra::{DevicePolyhedra, SharePolyhedra};
use trioxide::polyhedra_mesh::{PolyhedraCounts, PolyhedraLists};
use trioxide_mesh::parallel;
use trioxide_operations::polyhedra::Totals;

use super::Found;
use crate::block::{Blocks, fill};
use crate::fault::Result;
use crate::ids::Ids;
use crate::transport::{Mail, Ranks, offsets};

/// Lists of polyhedra, with ids of the whole mesh.
struct Lists {
    /// Root, and number of tetrahedra.
    heads: Vec<[u32; 2]>,
    /// Tetrahedra, ascending for each.
    tets: Vec<u32>,
    /// Sides, ascending for each: 2n + 2 for n tetrahedra.
    sides: Vec<u32>,
}

impl Lists {
    fn download(
        on: &Device,
        result: &DevicePolyhedra,
        apart: &[u32],
        ids: &Ids,
    ) -> trioxide::Result<Self> {
        let SharePolyhedra {
            roots,
            tet_offsets,
            tets,
            sides,
        } = result.download_share(on, apart)?;
        let id = |t: u32| ids.get(t as usize) as u32;
        Ok(Self {
            heads: parallel::collect(roots.len(), |p| {
                [id(roots[p]), tet_offsets[p + 1] - tet_offsets[p]]
            }),
            tets: parallel::map(&tets, |&t| id(t)),
            sides: parallel::map(&sides, |&side| 4 * id(side / 4) + side % 4),
        })
    }

    /// Sends each polyhedron to the rank whose block of tetrahedra has its root. Collective.
    fn to_blocks(&self, ranks: &Ranks, blocks: Blocks) -> Self {
        let places = Mail::places(ranks.size(), self.heads.len(), |p| {
            blocks.rank(self.heads[p][0].into())
        });
        let starts = offsets(self.heads.iter().map(|head| head[1] as usize));
        let sent = |list: &[u32], range: &dyn Fn(usize) -> Range<usize>| {
            let sent = Mail::of_lists(ranks.size(), |rank, sent| {
                for &p in places.of(rank) {
                    sent.extend_from_slice(&list[range(p as usize)]);
                }
            });
            ranks.exchange(&sent).into_items()
        };
        let heads = places.map(|&p| self.heads[p as usize]);
        Self {
            heads: ranks.exchange(&heads).into_items(),
            tets: sent(&self.tets, &|p| starts[p]..starts[p + 1]),
            sides: sent(&self.sides, &|p| {
                2 * (starts[p] + p)..2 * (starts[p + 1] + p + 1)
            }),
        }
    }

    /// The lists of all ranks, at rank 0. Collective.
    fn gather(self, ranks: &Ranks) -> Self {
        Self {
            heads: ranks.gather(&self.heads),
            tets: ranks.gather(&self.tets),
            sides: ranks.gather(&self.sides),
        }
    }

    /// The polyhedra in ascending order of their roots.
    fn in_order(&self) -> PolyhedraLists {
        // Root, number of tetrahedra, number of those before, place. A polyhedron of n tetrahedra has 2n + 2 sides.
        let mut before = 0;
        let with_places = self.heads.iter().zip(0..).map(|(&[root, count], p)| {
            before += count;
            (root, count, before - count, p)
        });
        let mut order: Vec<(u32, u32, u32, u32)> = with_places.collect();
        order.par_sort_unstable();
        let mut lists = PolyhedraLists {
            tet_offsets: vec![0],
            side_offsets: vec![0],
            tets: Vec::with_capacity(self.tets.len()),
            sides: Vec::with_capacity(self.sides.len()),
            ..PolyhedraLists::default()
        };
        for (_, count, first, p) in order {
            let tets = first as usize..(first + count) as usize;
            lists.tets.extend_from_slice(&self.tets[tets]);
            lists.tet_offsets.push(lists.tets.len() as u32);
            let start = 2 * (first + p) as usize;
            let sides = start..start + 2 * count as usize + 2;
            lists.sides.extend_from_slice(&self.sides[sides]);
            lists.side_offsets.push(lists.sides.len() as u32);
        }
        lists
    }
}

impl Found {
    /// This rank's slice of the polyhedra in the order of the single run: those whose roots are in its block of all
    /// tetrahedra. There are no twins, tags and counts. Collective.
    ///
    /// # Errors
    /// More sides than 32-bit ids name; errors of the device.
    pub fn ordered(&self, ranks: &Ranks, on: &Device) -> Result<PolyhedraLists> {
        ranks.phase("order of polyhedra");
        let tetrahedra = ranks.sum(self.owned(ranks).len() as u64);
        ranks.agree(check_narrow(tetrahedra))?;
        let lists = ranks.agree(self.lists(on))?;
        Ok(lists.to_blocks(ranks, ranks.blocks(tetrahedra)).in_order())
    }

    /// The polyhedra at rank 0, as the single run has them; other ranks get none. Collective.
    ///
    /// # Errors
    /// More sides than 32-bit ids name; errors of the device.
    pub fn gather(self, ranks: &Ranks, on: &Device) -> Result<Option<PolyhedraLists>> {
        ranks.phase("gather");
        let owned = self.owned(ranks);
        let tetrahedra = ranks.sum(owned.len() as u64);
        ranks.agree(check_narrow(tetrahedra))?;
        let lists = ranks.agree(self.lists(on))?;
        let lists = lists.gather(ranks);
        let twins = ranks.agree(on.download_rows(self.faces.twins()))?;
        let twins = self.twins(ranks, &twins, &owned, tetrahedra as usize);
        let mut tagged = ranks.gather(&ranks.agree(self.tagged(ranks, on))?);
        if ranks.rank() != 0 {
            return Ok(None);
        }
        tagged.sort_unstable();
        Ok(Some(PolyhedraLists {
            twins,
            tagged: tagged.iter().map(|&[_, side]| side).collect(),
            counts: narrow(self.totals),
            ..lists.in_order()
        }))
    }

    /// The local ids of owned tetrahedra.
    fn owned(&self, ranks: &Ranks) -> Vec<usize> {
        self.owners.of_rank(ranks.rank() as u32).flatten().collect()
    }

    /// The polyhedra of this rank.
    fn lists(&self, on: &Device) -> trioxide::Result<Lists> {
        let (within, apart) = &self.within;
        let (crossing, ids) = &self.crossing;
        let mut lists = Lists::download(on, within, apart, &self.cells)?;
        let crossing = Lists::download(on, crossing, &[], ids)?;
        lists.heads.extend(crossing.heads);
        lists.tets.extend(crossing.tets);
        lists.sides.extend(crossing.sides);
        Ok(lists)
    }

    /// A side of the whole mesh.
    fn side(&self, side: u32) -> u32 {
        match side {
            NONE => NONE,
            side => 4 * self.cells.get(side as usize / 4) as u32 + side % 4,
        }
    }

    /// The twins of all sides of the whole mesh, at rank 0; `twins` are this part's, with local ids. Collective.
    fn twins(
        &self,
        ranks: &Ranks,
        twins: &[[u32; 4]],
        owned: &[usize],
        tetrahedra: usize,
    ) -> Vec<u32> {
        let rows = parallel::map(owned, |&t| {
            let [a, b, c, d] = twins[t].map(|side| self.side(side));
            [self.cells.get(t) as u32, a, b, c, d]
        });
        let rows = ranks.gather_mail(&rows);
        let count = if ranks.rank() == 0 { tetrahedra } else { 0 };
        let mut all: Vec<[u32; 4]> = parallel::zeroed(count);
        for rank in 0..ranks.size() {
            let rows = rows.of(rank);
            let of_row = |i: usize| {
                let [_, a, b, c, d] = rows[i];
                Some([a, b, c, d])
            };
            fill(&mut all, rows.len(), |i| rows[i][0] as usize, of_row);
        }
        all.into_flattened()
    }

    /// The tagged triangles whose lower sides are of owned tetrahedra: their places among all, and the lower sides.
    fn tagged(&self, ranks: &Ranks, on: &Device) -> trioxide::Result<Vec<[u32; 2]>> {
        let sides: Vec<u32> = on.download_rows(self.faces.tagged())?;
        let me = ranks.rank() as u32;
        let of_faces = self.tagged.iter().zip(sides);
        let owned = of_faces.filter(|(_, side)| self.owners.get(*side as usize / 4) == me);
        Ok(owned.map(|(&f, side)| [f, self.side(side)]).collect())
    }
}

/// Refuses meshes that one process cannot hold.
fn check_narrow(tetrahedra: u64) -> Result<()> {
    if 4 * tetrahedra < u64::from(NONE) {
        return Ok(());
    }
    Err(trioxide::Error::Argument(format!(
        "{tetrahedra} tetrahedra have more sides than the 32-bit ids of one process: leave the output and the levels out"
    ))
    .into())
}

/// The counts of a mesh that one process holds.
fn narrow(counts: Totals) -> PolyhedraCounts {
    PolyhedraCounts {
        regions: counts.regions as u32,
        barrier_faces: counts.barrier_faces as u32,
        regions_with_barriers: counts.regions_with_barriers as u32,
        barrier_tips: counts.barrier_tips as u32,
        barrier_faces_left: counts.barrier_faces_left as u32,
        pinched: counts.pinched.map(|pinched| pinched as u32),
        split_rounds: counts.split_rounds as u32,
        polyhedra: counts.polyhedra as u32,
        most_tetrahedra: counts.most_tetrahedra as u32,
    }
}
