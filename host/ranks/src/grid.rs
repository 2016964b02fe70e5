//! Grids that ranks generate: each makes its own part, and nothing crosses.
//!
//! A rank owns whole layers of cells (rows of squares, slices of cubes), as many as the others, and holds the layer
//! before them and the layer after them as ghosts: these are all cells at the vertices of its own. So the vertices of a
//! part have one range of ids, and its cells too, and all owners are known without a message.

use std::ops::Range;

use glam::DVec3;
use trioxide::generate::{Grid, TetGrid};
use trioxide::grid::GridRows;

use crate::block::{Block, Corners};
use crate::fault::Result;
use crate::halo::Halo;
use crate::ids::{Ids, Owners};
use crate::layers::Layers;
use crate::ownership::Position;
use crate::part::{Part, check_size};
use crate::shape::{Shape, lists_of};
use crate::transport::Ranks;

impl Layers {
    /// This rank's part, of cells with `size` corners. `shape` gives points and corners from ranges of layers, of
    /// vertices and of cells.
    fn part<P>(
        &self,
        ranks: &Ranks,
        size: usize,
        shape: impl FnOnce(Range<u64>, Range<u64>, Range<u64>) -> Shape<P>,
    ) -> Result<Part<P>> {
        ranks.phase("generate");
        let me = ranks.rank();
        let (owned, here) = (self.blocks.range(me), self.of_part(me));
        let vertices_of = |layers: &Range<u64>| match layers.is_empty() {
            true => 0..0,
            false => layers.start * self.vertices..(layers.end + 1) * self.vertices,
        };
        let vertices = vertices_of(&here);
        let cells = here.start * self.cells..here.end * self.cells;
        let (n, count) = (cells.end - cells.start, vertices.end - vertices.start);
        ranks.agree(check_size(ranks, count as usize, size * n as usize))?;
        let mut owners = Owners::default();
        for layer in here.clone() {
            owners.push(self.cells as usize, self.blocks.rank(layer) as u32);
        }
        // The first and the last owned layer share vertices with the layers beside them.
        let shared_with = |layer: u64, line: u64| {
            let other = (!owned.is_empty() && layer < self.count).then(|| self.blocks.rank(layer));
            let line = line * self.vertices..(line + 1) * self.vertices;
            let of_line = |other: usize| line.map(move |v| [v, other as u64]);
            other.map(of_line).into_iter().flatten()
        };
        let before = shared_with(owned.start.wrapping_sub(1), owned.start);
        let shared = before.chain(shared_with(owned.end, owned.end)).collect();
        let others = |rank: usize| rank != me;
        let send = |rank| self.given(me, rank).filter(move |_| others(rank));
        let receive = |rank| self.given(rank, me).filter(move |_| others(rank));
        let halo = Halo {
            given: self.mail(ranks, here.start, send),
            ghosts: self.mail(ranks, here.start, receive),
        };
        Ok(Part {
            shape: shape(here, vertices.clone(), cells.clone()),
            size,
            regions: None,
            segments: Vec::new(),
            places: Vec::new(),
            vertices: Ids::of_range(vertices),
            owned_vertices: Ids::of_range(vertices_of(&owned)),
            cells: Ids::of_range(cells),
            owners,
            halo,
            shared,
        })
    }
}

impl<P: Position> Part<P> {
    /// This rank's part of a grid, which it makes by itself; its device makes a plain one. All ranks make their parts,
    /// but nothing crosses.
    ///
    /// # Errors
    /// A part with more triangles or vertices than 32-bit ids name.
    pub fn of_grid(ranks: &Ranks, grid: &Grid) -> Result<Self> {
        let shape = |layers, _, _| {
            let (grid, side) = (*grid, grid.side());
            let rows = GridRows { side, rows: layers };
            match grid.is_plain() {
                true => Shape::Rows { grid, rows },
                false => {
                    let (points, corners) = lists_of(&grid, &rows);
                    Shape::Lists { points, corners }
                }
            }
        };
        Layers::of(grid, ranks.size()).part(ranks, 3, shape)
    }
}

impl Part<DVec3> {
    /// As [`Part::of_grid`], of tetrahedra.
    ///
    /// # Errors
    /// As there.
    pub fn of_tet_grid(ranks: &Ranks, grid: &TetGrid) -> Result<Self> {
        let shape = |_, vertices: Range<u64>, cells| {
            let local = |v: u64| (v - vertices.start) as u32;
            let tetrahedra = grid.tetrahedra_of(cells, |corners| corners.map(local));
            Shape::Lists {
                corners: tetrahedra.into_flattened(),
                points: grid.points(vertices),
            }
        };
        Layers::of_tetrahedra(grid, ranks.size()).part(ranks, 4, shape)
    }
}

impl Block<DVec3> {
    /// The counts of a grid of tetrahedra, without vertices and tetrahedra: ranks make their parts by themselves
    /// ([`Part::of_tet_grid`]).
    pub fn counts_of_tet_grid(grid: &TetGrid) -> Self {
        Self::of_counts(grid.vertices(), grid.tetrahedra(), 4)
    }

    /// This rank's block of a grid of tetrahedra, which it makes by itself.
    pub fn of_tet_grid(ranks: &Ranks, grid: &TetGrid) -> Self {
        let cells = ranks.block(grid.tetrahedra());
        // Each tetrahedron begins with the lowest node of its cube, and these ascend.
        let head = cells.start..cells.end.min(cells.start + 1);
        let lowest = grid.tetrahedra_of(head, |[lowest, ..]| lowest);
        let first = lowest.first().copied().unwrap_or(0);
        let behind = grid.tetrahedra_of(cells, |corners| corners.map(|v| (v - first) as u32));
        Self {
            points: grid.points(ranks.block(grid.vertices())),
            corners: Corners::new(first, behind.into_flattened()),
            ..Self::counts_of_tet_grid(grid)
        }
    }
}

impl<P: Position> Block<P> {
    /// The vertices of this rank's block of a grid, without triangles: for a result with other faces.
    pub fn of_vertices_of_grid(ranks: &Ranks, grid: &Grid) -> Self {
        Self {
            points: grid.points_as(ranks.block(grid.vertices()), P::of_plane),
            ..Self::counts_of_grid(grid)
        }
    }

    /// The counts of a grid, without vertices and triangles: ranks that own rows make their parts by themselves
    /// ([`Ownership::Rows`]).
    ///
    /// [`Ownership::Rows`]: crate::Ownership::Rows
    pub fn counts_of_grid(grid: &Grid) -> Self {
        Self::of_counts(grid.vertices(), grid.triangles(), 3)
    }

    fn of_counts(vertices: u64, cells: u64, size: usize) -> Self {
        Self {
            vertices,
            cells,
            size,
            points: Vec::new(),
            corners: Corners::default(),
            regions: None,
            segments: Vec::new(),
        }
    }

    /// This rank's block of a grid, which it makes by itself. Collective.
    ///
    /// # Errors
    /// A block that 32-bit ids do not name.
    pub fn of_grid(ranks: &Ranks, grid: &Grid) -> Result<Self> {
        let (vertices, triangles) = (ranks.block(grid.vertices()), ranks.block(grid.triangles()));
        let [points, corners] = [&vertices, &triangles].map(|r| (r.end - r.start) as usize);
        ranks.agree(check_size(ranks, points, 3 * corners))?;
        let points = grid.points_as(vertices, P::of_plane);
        // Rows of squares ascend, and so do their lower left corners.
        let first = match triangles.is_empty() {
            true => 0,
            false => grid
                .triangle(triangles.start / 2 * 2)
                .into_iter()
                .fold(u64::MAX, u64::min),
        };
        let behind = |v: u64| (v - first) as u32;
        let corners = grid.triangles_of(triangles, |corners| corners.map(behind));
        Ok(Self {
            points,
            corners: Corners::new(first, corners.into_flattened()),
            ..Self::counts_of_grid(grid)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ownership;
    use crate::threads::run;
    use crate::transport::{Reduction, Transport};
    use std::sync::Arc;

    /// Compares points and corners, not how they are held.
    fn compare<P: Position + PartialEq + std::fmt::Debug>(made: &Shape<P>, found: &Shape<P>) {
        let (points, corners) = made.lists();
        assert_eq!((&points, &corners), (&found.lists().0, &found.lists().1));
        assert_eq!(made.vertices(), points.len());
        assert_eq!(made.corners(), corners.len());
        let each: Vec<u32> = (0..corners.len()).map(|i| made.corner(i)).collect();
        assert_eq!(each, corners.as_ref());
    }

    /// A rank makes the part that ranks find together when they own the same rows.
    #[test]
    fn a_part_of_a_grid_is_the_part_of_its_mesh() {
        let plain = |n| (Grid::uniform(n), trioxide::generate::grid(n));
        let jittered = |n| (Grid::jittered(n, 5), trioxide::generate::jittered(n, 5));
        for (grid, whole) in [4, 9, 16, 100, 400]
            .map(|n| [plain(n), jittered(n)])
            .as_flattened()
        {
            let (grid, whole) = (*grid.as_ref().unwrap(), whole.as_ref().unwrap());
            for size in [1, 2, 3, 4, 7] {
                run(size, |transport| {
                    let ranks = Ranks::new(transport);
                    let rows = Layers::of(&grid, size);
                    let owner = move |t: u64| rows.owner(t);
                    let block = Block::of_grid(&ranks, &grid).unwrap();
                    assert_eq!(block, Block::of(whole, ranks.rank(), size));
                    let made: Part = Part::of_grid(&ranks, &grid).unwrap();
                    let owners = Ownership::Rows(grid).owners(&ranks, &block);
                    let first = ranks.block(block.cells).start;
                    assert!(
                        (first..)
                            .zip(owners)
                            .all(|(t, rank)| owner(t) as u32 == rank)
                    );
                    let given = Ownership::Given(Arc::new(owner));
                    let found = Part::build(&ranks, &block, &given).unwrap();
                    compare(&made.shape, &found.shape);
                    assert_eq!(made.vertices.to_vec(), found.vertices.to_vec());
                    let owned = found.owned_vertices.to_vec();
                    assert_eq!(made.owned_vertices.to_vec(), owned);
                    assert_eq!(made.cells.to_vec(), found.cells.to_vec());
                    assert_eq!(made.shared, found.shared);
                    assert_eq!(made.owners, found.owners);
                    assert_eq!(made.halo.given(), found.halo.given());
                    // Both halos send items to the same ghosts.
                    let ids: Vec<u64> = made.cells.iter().map(|t| t + 1).collect();
                    let mut by = [ids.clone(), vec![0; ids.len()], vec![0; ids.len()]];
                    let me = ranks.rank() as u32;
                    for owned in made.owners.of_rank(me) {
                        by[1][owned.clone()].copy_from_slice(&ids[owned.clone()]);
                        by[2][owned.clone()].copy_from_slice(&ids[owned]);
                    }
                    made.halo.update(&ranks, &mut by[1]);
                    found.halo.update(&ranks, &mut by[2]);
                    assert_eq!((&by[1], &by[2]), (&by[0], &by[0]), "{grid:?} on {size}");
                });
            }
        }
    }

    #[test]
    fn a_part_of_a_grid_of_tetrahedra_is_the_part_of_its_mesh() {
        for n in [8, 27, 64, 343] {
            let grid = TetGrid::new(n, 5).unwrap();
            let whole = trioxide::generate::tet_grid(n, 5).unwrap();
            let whole = crate::block::Whole {
                points: &whole.points,
                corners: whole.tetrahedra.as_flattened(),
                size: 4,
                regions: None,
                segments: &[],
            };
            for size in [1, 2, 3, 7] {
                run(size, |transport| {
                    let ranks = Ranks::new(transport);
                    let layers = Layers::of_tetrahedra(&grid, size);
                    let block = Block::of(whole, ranks.rank(), size);
                    let given = Ownership::Given(Arc::new(move |t| layers.owner(t)));
                    assert_eq!(Block::of_tet_grid(&ranks, &grid), block);
                    let made = Part::of_tet_grid(&ranks, &grid).unwrap();
                    let found = Part::build(&ranks, &block, &given).unwrap();
                    compare(&made.shape, &found.shape);
                    assert_eq!(made.vertices.to_vec(), found.vertices.to_vec());
                    assert_eq!(made.cells.to_vec(), found.cells.to_vec());
                    assert_eq!(made.shared, found.shared);
                    assert_eq!(made.owners, found.owners);
                    assert_eq!(made.halo.given(), found.halo.given());
                    assert_eq!(made.halo.ghosts(), found.halo.ghosts());
                });
            }
        }
    }

    /// A rank of very many that sees no other.
    struct Alone {
        rank: usize,
        size: usize,
    }

    impl Transport for Alone {
        fn rank(&self) -> usize {
            self.rank
        }

        fn size(&self) -> usize {
            self.size
        }

        fn on_this_machine(&self) -> (usize, usize) {
            (0, 1)
        }

        fn counts(&self, to: &[u64]) -> Vec<u64> {
            to.to_vec()
        }

        fn exchange(&self, _: &[u8], _: &[u64], _: &mut [u8], _: &[u64]) {
            panic!("nothing crosses")
        }

        fn reduce(&self, _: &mut [u64], _: Reduction) {}

        fn abort(&self, _: i32) -> ! {
            panic!("it is alone")
        }
    }

    /// Ten billion points: more vertices, triangles and half-edges than 32 bits number.
    #[test]
    fn a_part_of_a_grid_beyond_32_bits_has_its_ids() {
        let grid = Grid::uniform(10_000_000_000).unwrap();
        let size = 100_000;
        let last = Alone { rank: 99_998, size };
        let part: Part = Part::of_grid(&Ranks::new(&last), &grid).unwrap();
        // Its row, the last, and the ghosts before it.
        let triangles = grid.triangles();
        assert_eq!(part.cells, Ids::of_range(triangles - 4 * 99_999..triangles));
        assert_eq!(part.vertices.get(part.vertices.len() - 1), 9_999_999_999);
        for t in [0, 1, 199_997, 199_998, 399_995] {
            let corners = (3 * t..3 * t + 3).map(|i| part.shape.corner(i));
            let corners = corners.map(|v| part.vertices.get(v as usize));
            let expected = grid.triangle(part.cells.get(t));
            assert_eq!(corners.collect::<Vec<_>>(), expected);
            assert!(part.half_edge(3 * t as u32) > 1 << 35);
        }
        assert_eq!(part.owners.get(199_997), 99_997);
        assert_eq!(part.owners.get(199_998), 99_998);
        // A rank after the last row has nothing.
        let none = Alone { rank: 99_999, size };
        let none: Part = Part::of_grid(&Ranks::new(&none), &grid).unwrap();
        assert!(none.cells.is_empty() && none.vertices.is_empty() && none.shape.vertices() == 0);
    }

    /// A part may have 2^32 - 2 half-edges, and no more.
    #[test]
    fn a_part_with_more_half_edges_than_32_bits_is_refused_before_it_is_made() {
        let grid = Grid::uniform(1_500_000_000).unwrap();
        let refused = run(2, |transport| {
            Part::<DVec3>::of_grid(&Ranks::new(transport), &grid).err()
        });
        for refused in refused {
            let said = refused.expect("it is too large").to_string();
            assert!(
                said.contains("more than 32-bit ids name: use more ranks"),
                "{said}"
            );
        }
        let most = 4_294_967_294;
        let ranks = Alone { rank: 0, size: 1 };
        let ranks = Ranks::new(&ranks);
        assert!(check_size(&ranks, 700_000_000, most).is_ok());
        assert!(check_size(&ranks, 700_000_000, most + 1).is_err());
    }
}
