//! Cells (triangles, or tetrahedra) between two rounds of refinement: a rank's own, dealt anew where one rank has too
//! many, and their ghosts.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use bytemuck::Pod;
use trioxide_mesh::parallel;

use crate::block::fill;
use crate::cells::Cells;
use crate::fault::Result;
use crate::halo::Halo;
use crate::ids::{IdSet, Owners};
use crate::merged::Merged;
use crate::ownership::{Ownership, Position};
use crate::part::check_size;
use crate::records::Records;
use crate::shared::{Bins, Near, Shared};
use crate::transport::{Mail, Ranks, Reduction};

/// Most equal shares of the cells that a rank may have.
const SHARES: u64 = 2;

/// The cells that a rank owns, between two rounds.
pub struct Owned<P> {
    /// A row for each cell, with ascending ids: its id, its vertices, and its other data.
    pub rows: Records,
    /// Corners of a cell.
    pub size: usize,
    /// Their vertices, ascending.
    pub vertices: Vec<u64>,
    /// The points of these vertices.
    pub points: Vec<P>,
}

/// Owned cells and their ghosts, with local ids.
pub struct WithGhosts<P> {
    /// A row for each cell.
    pub rows: Records,
    /// The rank that owns each cell.
    pub owners: Owners,
    /// The halo of the cells.
    pub halo: Halo,
    /// Their vertices, ascending.
    pub vertices: Vec<u64>,
    /// The points of these vertices.
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
    /// Cells and the vertices that are used; `vertex` gives a vertex's id and its point.
    pub fn of(
        rows: Records,
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
        self.rows.corners(i, self.size)
    }

    /// New owners of the cells, if a rank has more than [`SHARES`] shares of all `total`; chosen as for the input.
    /// Collective.
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

    /// Sends the cells to new owners, and returns this rank's. Collective.
    pub fn deal(self, ranks: &Ranks, owners: &[u32]) -> Self {
        let places = IdSet::of_list(&self.vertices);
        let point = |vertex: u64| {
            let place = places.place(vertex);
            self.points[place.expect("it is a corner") as usize]
        };
        let (stride, size) = (self.rows.stride, self.size);
        let (count, n) = (ranks.size(), owners.len());
        let owner = |i: usize| owners[i] as usize;
        let write = |i: usize, row: &mut [u64]| row.copy_from_slice(self.rows.get(i));
        let rows = Records::exchange(ranks, stride, n, owner, write);
        let of_points = Mail::rows(count, n, size, owner, |i, points: &mut [P]| {
            for (p, &vertex) in points.iter_mut().zip(self.corners(i)) {
                *p = point(vertex);
            }
        });
        let of_corners = ranks.exchange(&of_points).into_items();
        let places = rows.vertices(size);
        let mut points: Vec<P> = parallel::zeroed(places.len());
        for (i, of_corners) in of_corners.chunks_exact(size).enumerate() {
            for (&vertex, &p) in rows.corners(i, size).iter().zip(of_corners) {
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

    /// The cells with their ghosts, all cells at their vertices; the mesh has `total` vertices. Collective.
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
        let near = Near::find(ranks, Bins::of(&cells, total));
        let ghosts = Shared::find(ranks, &cells, &near, total).send(ranks, &cells);
        let Merged {
            places,
            owners,
            halo,
        } = Merged::new(ranks, cells.len(), |id| cells.before(id), &ghosts);
        let stride = self.rows.stride;
        let words = places.interleave(stride, &self.rows.words, &ghosts.rows.words);
        let rows = Records { words, stride };
        let ids = rows.vertices(size);
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
        let vertex =
            |cells: &[u32], i: usize| rows.corners(cells[i / size] as usize, size)[i % size];
        let n = size * halo.given().len();
        let given = parallel::collect(n, |i| point(vertex(halo.given(), i)));
        for (i, p) in halo.send_each(ranks, size, given).into_iter().enumerate() {
            points[local(vertex(halo.ghosts(), i)) as usize] = p;
        }
        let corner = |i: usize| local(rows.corners(i / size, size)[i % size]);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::run;
    use glam::DVec2;
    use trioxide::{Device, generate};

    /// Rows of a mesh's triangles; their id follows the corners again.
    fn all(mesh: &trioxide::mesh::Triangulation) -> Owned<DVec2> {
        let row = |(id, corners): (u64, &[u32; 3])| {
            let [a, b, c] = corners.map(u64::from);
            [id, a, b, c, id, id, id, id]
        };
        Owned {
            rows: Records {
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
        let mesh = generate::random(&Device::cpu(None).unwrap(), 300, 2).unwrap();
        let total = mesh.triangles.len();
        for size in [3, 4, 7] {
            let of_ranks = run(size, |transport| {
                let ranks = Ranks::new(transport);
                let owned = match ranks.rank() {
                    1 => all(&mesh),
                    _ => Owned {
                        rows: Records {
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
