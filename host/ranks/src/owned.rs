//! Cells (triangles, or tetrahedra) between two rounds of refinement: those that a rank owns, dealt anew where one rank
//! has too many, and their ghosts.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use bytemuck::Pod;
use trioxide_mesh::parallel;

use crate::block::fill;
use crate::cells::Cells;
use crate::fault::Result;
use crate::ids::{IdSet, Owners};
use crate::merged::Merged;
use crate::ownership::{Ownership, Position};
use crate::part::check_size;
use crate::rows::{Halo, Rows, all_vertices, vertices};
use crate::shared::{Counts, Near, Shared};
use crate::transport::{Mail, Ranks, Reduction};

/// Equal shares of the cells that a rank may have.
const SHARES: u64 = 2;

/// The cells that a rank owns, between two rounds.
pub struct Owned<P> {
    /// A row each, by their ids: the id, the vertices, and what else belongs to a cell.
    pub rows: Rows,
    /// Corners of a cell.
    pub size: usize,
    /// Their vertices, ascending.
    pub vertices: Vec<u64>,
    /// Where these lie.
    pub points: Vec<P>,
}

/// Owned cells and their ghosts, by local ids.
pub struct WithGhosts<P> {
    /// A row each.
    pub rows: Rows,
    /// The rank that owns each.
    pub owners: Owners,
    /// Where items of cells go and come from.
    pub halo: Halo,
    /// Their vertices, ascending.
    pub vertices: Vec<u64>,
    /// Where these lie.
    pub points: Vec<P>,
    /// Vertices of the cells by local ids.
    pub corners: Vec<u32>,
}

/// Whether a rank has more than [`SHARES`] shares of `total` cells; this one has `count`. Collective.
pub fn is_uneven(ranks: &Ranks, count: usize, total: u64) -> bool {
    let most = ranks.reduce(count as u64, Reduction::Max);
    most * ranks.size() as u64 > SHARES * total
}

impl<P: Pod + Send + Sync> Owned<P> {
    /// Cells, with those vertices that are used; `vertex` gives a vertex's id and its point.
    pub fn of(
        rows: Rows,
        size: usize,
        is_used: &[AtomicBool],
        vertex: impl Fn(usize) -> (u64, P) + Sync,
    ) -> Self {
        let used = |v: usize| is_used[v].load(Relaxed).then_some(v);
        let used = parallel::filter_collect(is_used.len(), used);
        Self {
            rows,
            size,
            vertices: parallel::map(&used, |&v| vertex(v).0),
            points: parallel::map(&used, |&v| vertex(v).1),
        }
    }

    /// The vertices of a cell.
    pub fn corners(&self, i: usize) -> &[u64] {
        vertices(self.rows.get(i), self.size)
    }

    /// New owners of the cells, of which there are `total`: where a rank has more than [`SHARES`] shares, they are
    /// dealt as those of the input. Collective.
    pub fn new_owners<Q: Position>(
        &self,
        ranks: &Ranks,
        total: u64,
        ownership: &Ownership,
        position: impl Fn(P) -> Q + Sync,
    ) -> Option<Vec<u32>> {
        if !is_uneven(ranks, self.rows.len(), total) {
            return None;
        }
        let places = IdSet::of_list(&self.vertices);
        let first = |i: usize| {
            let place = places.place(self.corners(i)[0]);
            position(self.points[place.expect("it is a corner") as usize])
        };
        let firsts: Vec<Q> = parallel::collect(self.rows.len(), first);
        Some(ownership.owners_of(ranks, total, &firsts, |i| self.rows.id(i)))
    }

    /// The cells that this rank owns where these are the owners of those it had. Collective.
    pub fn deal(self, ranks: &Ranks, owners: &[u32]) -> Self {
        let places = IdSet::of_list(&self.vertices);
        let point = |vertex: u64| {
            let place = places.place(vertex);
            self.points[place.expect("it is a corner") as usize]
        };
        let (stride, size) = (self.rows.stride, self.size);
        let (count, n) = (ranks.size(), owners.len());
        let owner = |i: usize| owners[i] as usize;
        let of_rows = Mail::rows(count, n, stride, owner, |i, row| {
            row.copy_from_slice(self.rows.get(i));
        });
        let of_points = Mail::rows(count, n, size, owner, |i, points: &mut [P]| {
            for (p, &vertex) in points.iter_mut().zip(self.corners(i)) {
                *p = point(vertex);
            }
        });
        let words = ranks.exchange(&of_rows).into_items();
        let of_corners = ranks.exchange(&of_points).into_items();
        let rows = Rows { words, stride };
        let places = all_vertices(&rows, size);
        let mut points: Vec<P> = parallel::zeroed(places.len());
        for (i, of_corners) in of_corners.chunks_exact(size).enumerate() {
            for (&vertex, &p) in vertices(rows.get(i), size).iter().zip(of_corners) {
                points[places.place(vertex).expect("it is a corner") as usize] = p;
            }
        }
        Self {
            rows: rows.sorted(),
            size,
            vertices: places.to_vec(),
            points,
        }
    }

    /// The cells with their ghosts: all cells that touch a vertex of theirs, of which the mesh has `total`. Collective.
    ///
    /// # Errors
    /// A part with more cells or vertices than 32-bit ids name.
    pub fn with_ghosts(self, ranks: &Ranks, total: u64) -> Result<WithGhosts<P>> {
        ranks.phase("ghosts");
        let size = self.size;
        let cells = Cells::Rows {
            rows: &self.rows,
            size,
        };
        let near = Near::find(ranks, Counts::of(&cells, total));
        let (sent, ghosts) = Shared::find(ranks, &cells, &near, total).send(ranks, &cells);
        let (rows, owners, halo) = join(ranks, &self.rows, &sent, ghosts);
        let ids = all_vertices(&rows, size);
        let all = ids.to_vec();
        ranks.agree(check_size(ranks, all.len(), size * rows.len()))?;
        let local = |vertex: u64| ids.place(vertex).expect("it is a corner");
        let mut points: Vec<P> = parallel::zeroed(all.len());
        let place = |i: usize| local(self.vertices[i]) as usize;
        let of_owned = |i: usize| Some(self.points[i]);
        fill(&mut points, self.points.len(), place, of_owned);
        let point = |vertex: u64| {
            let place = self.vertices.binary_search(&vertex);
            self.points[place.expect("it is of an owned cell")]
        };
        let of_ghosts = halo.take_rows(ranks, size, |cell, points| {
            for (p, &vertex) in points
                .iter_mut()
                .zip(vertices(rows.get(cell as usize), size))
            {
                *p = point(vertex);
            }
        });
        for (&cell, of_corners) in halo.ghosts().iter().zip(of_ghosts.chunks_exact(size)) {
            for (&vertex, &p) in vertices(rows.get(cell as usize), size)
                .iter()
                .zip(of_corners)
            {
                points[local(vertex) as usize] = p;
            }
        }
        let corner = |i: usize| local(vertices(rows.get(i / size), size)[i % size]);
        Ok(WithGhosts {
            corners: parallel::collect(size * rows.len(), corner),
            rows,
            owners,
            halo,
            vertices: all,
            points,
        })
    }
}

/// Owned rows and ghosts in one ascending list, their owners, and the halo.
fn join(
    ranks: &Ranks,
    owned: &Rows,
    sent: &Mail<u64>,
    received: Mail<u64>,
) -> (Rows, Owners, Halo) {
    let stride = owned.stride;
    let counts = (0..ranks.size()).map(|rank| received.of(rank).len() / stride);
    let counts: Vec<usize> = counts.collect();
    let ghosts = Rows {
        words: received.into_items(),
        stride,
    };
    let (before, id) = (|id| owned.before(id), |i| ghosts.id(i));
    let merged = Merged::new(ranks, owned.len(), before, sent, &counts, id);
    let words = merged
        .places
        .interleave(stride, &owned.words, &ghosts.words);
    (Rows { words, stride }, merged.owners, merged.halo)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::run;
    use glam::DVec2;

    /// Rows of a mesh's triangles; what stands behind the corners is their id again.
    fn all(mesh: &trioxide::mesh::Triangulation) -> Owned<DVec2> {
        let row = |(id, corners): (u64, &[u32; 3])| {
            let [a, b, c] = corners.map(u64::from);
            [id, a, b, c, id, id, id, id]
        };
        Owned {
            rows: Rows {
                words: (0..).zip(&mesh.triangles).flat_map(row).collect(),
                stride: 8,
            },
            size: 3,
            vertices: (0..mesh.points.len() as u64).collect(),
            points: mesh.points.clone(),
        }
    }

    #[test]
    fn triangles_that_one_rank_has_become_equal_parts_of_all() {
        let mesh = trioxide_generate::random(300, 2).unwrap();
        let total = mesh.triangles.len();
        for size in [3, 4, 7] {
            let of_ranks = run(size, |transport| {
                let ranks = Ranks::new(transport);
                let owned = match ranks.rank() {
                    1 => all(&mesh),
                    _ => Owned {
                        rows: Rows {
                            words: Vec::new(),
                            stride: 8,
                        },
                        size: 3,
                        vertices: Vec::new(),
                        points: Vec::new(),
                    },
                };
                let curve = Ownership::Curve;
                let new =
                    |owned: &Owned<DVec2>| owned.new_owners(&ranks, total as u64, &curve, |p| p);
                let owners = new(&owned).expect("one has too many");
                let owned = owned.deal(&ranks, &owners);
                // Shares that are even stay.
                assert_eq!(new(&owned), None);
                owned
            });
            let mut seen = vec![0; total];
            for owned in of_ranks {
                assert!(owned.rows.len() <= total.div_ceil(size));
                for row in owned.rows.words.chunks(8) {
                    seen[row[0] as usize] += 1;
                    let corners = mesh.triangles[row[0] as usize].map(u64::from);
                    assert_eq!(row[1..], [&corners[..], &[row[0]; 4]].concat());
                    for vertex in corners {
                        let place = owned.vertices.binary_search(&vertex).unwrap();
                        assert_eq!(owned.points[place], mesh.points[vertex as usize]);
                    }
                }
                assert!(owned.rows.words.chunks(8).is_sorted_by_key(|row| row[0]));
            }
            assert!(seen.iter().all(|&times| times == 1));
        }
    }
}
