use std::ops::Range;

use bytemuck::Pod;
use glam::DVec3;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;

use super::tets::{check_size, sides, tag_sides};
use super::{check_least_points, unit_interval};
use trioxide_mesh::volume::{TaggedTriangle, TetMesh, orientation};
use trioxide_mesh::{Error, Result, parallel};

/// Largest move of an interior node of [`tet_grid`] along each axis, in spacings of the grid.
const JITTER: f64 = 0.15;

/// Largest share of inverted tetrahedra of [`tangled_tets`]: nodes that move without bound invert half of them.
const MOST_TANGLED: f64 = 0.4;

/// Largest move of an interior node of [`tangled_tets`], in spacings of the grid.
const MOST_JITTER: f64 = 16.0;

/// Bisections of the largest move: then it is known to a millionth of the spacing.
const BISECTIONS: u32 = 24;

/// Points of a task, which advances the random numbers' generator once.
const PIECE: usize = 1 << 14;

/// Orders of the axes, even ones first.
const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [1, 2, 0],
    [2, 0, 1],
    [0, 2, 1],
    [1, 0, 2],
    [2, 1, 0],
];

/// A [`tet_grid`] that can generate any range of its points and tetrahedra: several processes may generate parts of a
/// grid that exceeds the memory of one process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TetGrid {
    /// Nodes along each axis.
    side: u64,
    seed: u64,
    /// Largest move of an interior node along each axis, in spacings of the grid.
    jitter: f64,
}

impl TetGrid {
    /// The grid of about `n` nodes: [`tet_grid`], if 32-bit indices can number it.
    ///
    /// # Errors
    /// [`Error::Argument`](trioxide_mesh::Error::Argument) if there are fewer than 2 x 2 x 2 nodes.
    pub fn new(n: usize, seed: u64) -> Result<Self> {
        check_least_points(n, 8)?;
        let side = (n as f64).cbrt().round() as u64;
        Ok(Self {
            side,
            seed,
            jitter: JITTER,
        })
    }

    /// Nodes along each axis.
    pub fn side(&self) -> u64 {
        self.side
    }

    /// Number of nodes.
    pub fn vertices(&self) -> u64 {
        self.side.pow(3)
    }

    /// Number of tetrahedra.
    pub fn tetrahedra(&self) -> u64 {
        6 * (self.side - 1).pow(3)
    }

    /// Points of a range of nodes.
    ///
    /// # Panics
    /// When the range ends after the last node.
    pub fn points(&self, range: Range<u64>) -> Vec<DVec3> {
        assert!(range.end <= self.vertices(), "a range of the nodes");
        let mut points = parallel::zeroed((range.end - range.start) as usize);
        parallel::for_chunks_mut(&mut points, PIECE, |piece, points| {
            self.place(range.start + (piece * PIECE) as u64, points);
        });
        points
    }

    /// Places the points from node `first` on.
    fn place(&self, first: u64, points: &mut [DVec3]) {
        let cells = (self.side - 1) as f64;
        let spacing = 1.0 / cells;
        let mut generator = Pcg64::seed_from_u64(self.seed);
        // Three numbers for each earlier inner node.
        generator.advance(3 * u128::from(self.inner_before(first)));
        let mut node = self.node(first);
        for point in points {
            *point = DVec3::from(node.map(|i| i as f64 / cells));
            if node.into_iter().all(|i| self.is_inner(i)) {
                let mut step =
                    || (2.0 * unit_interval(&mut generator) - 1.0) * self.jitter * spacing;
                *point += DVec3::new(step(), step(), step());
            }
            step_in_box(&mut node, self.side);
        }
    }

    /// Place of a node along each axis.
    fn node(&self, v: u64) -> [u64; 3] {
        place_in_box(v, self.side)
    }

    /// Whether this layer of nodes is inside of the cube's sides.
    fn is_inner(&self, i: u64) -> bool {
        i > 0 && i < self.side - 1
    }

    /// Number of inner nodes before node `v`.
    fn inner_before(&self, v: u64) -> u64 {
        let inner = self.side - 2;
        let before = |i: u64| i.saturating_sub(1).min(inner);
        let [i, j, k] = self.node(v);
        let in_row = if self.is_inner(j) { before(i) } else { 0 };
        let in_layer = before(j) * inner + in_row;
        let in_layer = if self.is_inner(k) { in_layer } else { 0 };
        before(k) * inner * inner + in_layer
    }

    /// `value` of each tetrahedron of a range, from its nodes.
    pub fn tetrahedra_of<T: Pod + Send>(
        &self,
        range: Range<u64>,
        make: impl Fn([u64; 4]) -> T + Sync,
    ) -> Vec<T> {
        let (cells, paths) = (self.side - 1, self.paths());
        let mut all = parallel::zeroed((range.end - range.start) as usize);
        // Divisions per tetrahedron would take longer than the tetrahedron.
        parallel::for_chunks_mut(&mut all, PIECE, |piece, all| {
            let first = range.start + (piece * PIECE) as u64;
            let (mut cube, mut order) = (place_in_box(first / 6, cells), (first % 6) as usize);
            let mut lowest = self.lowest(cube);
            for value in all {
                *value = make(paths[order].map(|behind| lowest + behind));
                order += 1;
                if order == paths.len() {
                    step_in_box(&mut cube, cells);
                    (order, lowest) = (0, self.lowest(cube));
                }
            }
        });
        all
    }

    /// The lowest node of the cube at this place.
    fn lowest(&self, [i, j, k]: [u64; 3]) -> u64 {
        (k * self.side + j) * self.side + i
    }

    /// Ids of the nodes of a cube's six tetrahedra, positively oriented, relative to its lowest node.
    fn paths(&self) -> [[u64; 4]; 6] {
        let strides = [1, self.side, self.side * self.side];
        std::array::from_fn(|order| {
            let mut path = [0; 4];
            for (place, axis) in ORDERS[order].into_iter().enumerate() {
                path[place + 1] = path[place] + strides[axis];
            }
            if order >= 3 {
                path.swap(1, 2);
            }
            path
        })
    }

    /// The triangles of the cube's sides, in the order of their tetrahedra.
    ///
    /// # Panics
    /// When the number of nodes exceeds 32 bits.
    pub fn faces(&self) -> Vec<TaggedTriangle> {
        assert!(u32::try_from(self.vertices()).is_ok(), "32-bit ids");
        let cells = self.side - 1;
        let is_outer = |i: u64| i == 0 || i == cells - 1;
        let mut cubes = Vec::new();
        for row in 0..cells * cells {
            let (j, k) = (row % cells, row / cells);
            // In an inner row only the first and the last cube have sides.
            let apart = if is_outer(j) || is_outer(k) {
                1
            } else {
                cells - 1
            };
            cubes.extend(
                (0..cells)
                    .step_by(apart as usize)
                    .map(|i| self.lowest([i, j, k])),
            );
        }
        let (paths, last) = (self.paths(), (self.side - 1) as u32);
        let of_cubes = parallel::map(&cubes, |&lowest| {
            paths.map(|path| path.map(|behind| (lowest + behind) as u32))
        });
        tag_sides(of_cubes.as_flattened(), |v| {
            sides(self.node(v.into()).map(|i| i as u32), last)
        })
    }
}

/// Place along each axis of element `i` in a box with `side` elements along each axis.
fn place_in_box(i: u64, side: u64) -> [u64; 3] {
    [i % side, i / side % side, i / (side * side)]
}

/// Advances a place to the next element.
fn step_in_box([i, j, k]: &mut [u64; 3], side: u64) {
    *i += 1;
    if *i == side {
        (*i, *j) = (0, *j + 1);
        if *j == side {
            (*j, *k) = (0, *k + 1);
        }
    }
}

/// The unit cube as k x k x k nodes, k = cube root of `n` rounded: every small cube is split into six tetrahedra around
/// its diagonal, and every interior node is moved at random by up to 0.15 spacings along each axis.
///
/// The sides of the cube stay flat, and their triangles are tagged 1 to 6: x = 0, x = 1, y = 0, y = 1, z = 0, z = 1.
///
/// Every tetrahedron stays positive. Before the move its vertices are p0, p1 = p0 + h x, p2 = p1 + h y, p3 = p2 + h z
/// for some order x, y, z of the axes. The matrix of the columns p1 - p0, p2 - p1, p3 - p2 is then h times the
/// identity, up to that order. Moves change each element by 0.3 h at most. So each column's diagonal element, 0.7 h or
/// more, exceeds the sum of its other elements, 0.6 h or less. A matrix with such columns and a positive diagonal has a
/// positive determinant.
///
/// # Errors
/// [`Error::Argument`](trioxide_mesh::Error::Argument) if there are fewer than 2 x 2 x 2 nodes, or more than 32-bit
/// edge ids can number.
pub fn tet_grid(n: usize, seed: u64) -> Result<TetMesh> {
    let grid = TetGrid::new(n, seed)?;
    let cells = grid.side as usize - 1;
    check_size(n, 8, 6_usize.saturating_mul(cells.saturating_pow(3)))?;
    let narrow = |corners: [u64; 4]| corners.map(|v| v as u32);
    Ok(TetMesh {
        points: grid.points(0..grid.vertices()),
        tetrahedra: grid.tetrahedra_of(0..grid.tetrahedra(), narrow),
        faces: grid.faces(),
        regions: None,
    })
}

/// A [`tet_grid`] whose interior nodes are moved so far that the part `share` of the tetrahedra is inverted or flat: a
/// mesh to untangle. Bisection finds the largest move of the same random numbers; of few tetrahedra the part is only
/// near.
///
/// # Errors
/// [`Error::Argument`] for a share that is not above 0 and at most 0.4; as [`tet_grid`].
pub fn tangled_tets(n: usize, share: f64, seed: u64) -> Result<TetMesh> {
    if !(share > 0.0 && share <= MOST_TANGLED) {
        return Err(Error::Argument(format!(
            "a part {share} of inverted tetrahedra cannot be made: ask for one above 0, and at most {MOST_TANGLED}"
        )));
    }
    let mut mesh = tet_grid(n, seed)?;
    let mut grid = TetGrid::new(n, seed)?;
    if grid.side < 3 {
        return Err(Error::Argument(format!(
            "a grid of {n} points has no inner ones, which can invert tetrahedra: ask for at least 27"
        )));
    }
    let wanted = share * mesh.tetrahedra.len() as f64;
    let (mut low, mut high) = (JITTER, MOST_JITTER);
    for _ in 0..BISECTIONS {
        grid.jitter = low + (high - low) / 2.0;
        mesh.points = grid.points(0..grid.vertices());
        let points = &mesh.points;
        let inverted = parallel::count(mesh.tetrahedra.len(), |t| {
            orientation(points, &mesh.tetrahedra[t]) <= 0.0
        });
        if (inverted as f64) < wanted {
            low = grid.jitter;
        } else {
            high = grid.jitter;
        }
    }
    grid.jitter = high;
    mesh.points = grid.points(0..grid.vertices());
    Ok(mesh)
}
