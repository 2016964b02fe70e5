//! Untangling and improving on a device. The kernels, the definition and the proof are in `gpu::untangle`.

use glam::DVec3;
use gpu::ids::{Cell, Corner, Place, Vertex};
use gpu::ordered::from_ordered_bits;
use gpu::smooth::{StarsBuffers, Vector};
use gpu::untangle::{self as kernel, Angles, FREE, GUARDED, IMPROVE};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, words};
use trioxide_mesh::progress;

use super::cells::{DeviceCells, DeviceMesh};
use super::error::{Error, Result};
use super::options::{BoundaryRule, Options, RENUMBERED_FROM};
use super::order::{Classes, Moving, OrderRule, order_by_class};
use super::relations::{Neighbours, Relation, Relations, join_bits};
use super::{stays, weights};
use crate::collective::{compact, count_bits};
use crate::device::Device;

/// Rings around inverted cells whose nodes move at first.
const FIRST_RINGS: u32 = 2;
/// Sweeps after which there is one ring more, if the inverted cells have not become fewer.
const PATIENCE: u32 = 5;
/// Bounds that no angle breaks.
const ANY: Angles = Angles {
    of_smallest: f64::INFINITY,
    of_largest: f64::NEG_INFINITY,
};
/// Bins of the histogram of mean ratios, of equal width from 0 to 1.
pub const RATIO_BINS: usize = 20;

/// The goal of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Valid.
    Untangled,
    /// Better: its worst cells first. It must be valid.
    Improved,
    /// Valid, then better.
    UntangledAndImproved,
}

/// How a mesh is untangled or improved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UntangleOptions {
    /// The goal.
    pub goal: Goal,
    /// Nodes of the boundary.
    pub boundary: BoundaryRule,
    /// Most sweeps of each of three kinds: for valid cells; for valid cells again, without loss of one, if the first
    /// did not suffice; for better cells.
    pub max_sweeps: u32,
    /// Whether cells that no move can make valid are left aside; else nothing moves if there is one.
    pub keep_going: bool,
}

/// Mean ratios of cells: 1 at best, 0 of an inverted cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ratios {
    /// The smallest; 1 without cells.
    pub worst: f64,
    /// Cells by their mean ratio.
    pub counts: [u64; RATIO_BINS],
}

impl Ratios {
    fn of(ratios: &[f64]) -> Self {
        let mut found = Self {
            worst: 1.0,
            ..Self::default()
        };
        for &ratio in ratios {
            found.worst = if ratio < found.worst {
                ratio
            } else {
                found.worst
            };
            let bin = (ratio * RATIO_BINS as f64) as usize;
            found.counts[bin.min(RATIO_BINS - 1)] += 1;
        }
        found
    }

    /// The bounds between the bins.
    pub fn bounds() -> [f64; RATIO_BINS - 1] {
        std::array::from_fn(|i| (i + 1) as f64 / RATIO_BINS as f64)
    }
}

/// The inverted cells, the sweeps and the mean ratios of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Untangling {
    /// Nodes that may move.
    pub moving: u32,
    /// Nodes that moved.
    pub moved: u32,
    /// Sweeps for valid cells.
    pub sweeps: u32,
    /// Most rings around inverted cells whose nodes moved.
    pub rings: u32,
    /// Sweeps for better cells.
    pub improving_sweeps: u32,
    /// Inverted cells before.
    pub inverted_before: u32,
    /// Inverted cells after, ascending.
    pub inverted: Vec<u32>,
    /// Those of them that no move can make valid: all corners of an inverted simplex stay.
    pub stuck: Vec<u32>,
    /// Mean ratios before and after.
    pub ratios: [Ratios; 2],
}

/// A mesh on a device that was untangled or improved.
pub struct DeviceUntangled<P> {
    points: Buffer<P>,
    report: Untangling,
}

impl<P: Vector> DeviceUntangled<P> {
    /// Coordinates, in the order of the input; V.
    pub fn points(&self) -> &Buffer<P> {
        &self.points
    }

    /// Coordinates, for further work on the device; V.
    pub fn into_points(self) -> Buffer<P> {
        self.points
    }

    /// The inverted cells, the sweeps and the mean ratios.
    pub fn report(&self) -> &Untangling {
        &self.report
    }
}

/// Mean ratios of the cells of a mesh with these points.
///
/// # Errors
/// Errors of the device.
pub fn measure_ratios<P: Vector>(
    on: &Device,
    cells: &DeviceCells,
    points: &Buffer<P>,
) -> crate::Result<Ratios> {
    on.stage("mean ratios", || {
        let mut ratios: Buffer<f64> = on.uninitialized(cells.len())?;
        let count = cells.len() as u32;
        kernel::measure_ratios::launch(on, count, cells.buffers(), points, &mut ratios)?;
        Ok(Ratios::of(&on.download(&ratios)?))
    })
}

/// Moves nodes until no cell is inverted, or until cells are better: triangles of the plane, or cells of a volume mesh.
/// Nodes for which `fixed` is true stay, and nodes between regions; it has an element for each node, or none.
///
/// A valid cell of the input is valid in the result.
///
/// # Errors
/// [`Error::UntangledFaces`], [`Error::AllInverted`], [`Error::Inverted`], [`Error::FixedNodes`]; errors of the device.
pub fn untangle<P: Vector>(
    on: &Device,
    mesh: &DeviceMesh<P>,
    fixed: &[bool],
    options: &UntangleOptions,
) -> Result<DeviceUntangled<P>> {
    let (low, high) = mesh.bounds();
    let cells = mesh.cells();
    if cells.is_surface() && !(cells.is_simplicial() && low.z == high.z) {
        return Err(Error::UntangledFaces);
    }
    let relations = Relations::new(on, mesh)?;
    let fixed = stays(on, &relations, fixed, &Options::default())?;
    let field = Field::new(on, &relations, fixed, options.boundary)?;
    let mut points = on.duplicate(mesh.points())?;
    let mut report = Untangling {
        moving: field.count,
        ..Untangling::default()
    };
    report.ratios[0] = measure_ratios(on, cells, &points)?;
    let found = field.find_inverted(&points)?;
    report.inverted_before = found.count;
    if found.count > 0 && found.count as usize == cells.len() {
        return Err(Error::AllInverted(found.count));
    }
    if found.count > 0 && options.goal == Goal::Improved {
        let first = field.ids(&found.inverted)?[0];
        let count = found.count;
        return Err(Error::Inverted { count, first });
    }
    report.stuck = field.ids(&found.stuck)?;
    let mut moved = on.filled(words(points.len()), Bits::EMPTY)?;
    if report.stuck.is_empty() || options.keep_going {
        let most = options.max_sweeps;
        field.make_valid(&mut points, &mut moved, most, &mut report)?;
    }
    report.inverted = field.ids(&field.find_inverted(&points)?.inverted)?;
    if options.goal != Goal::Untangled && report.inverted.is_empty() {
        report.improving_sweeps = field.improve(&mut points, &mut moved, options.max_sweeps)?;
    }
    report.moved = count_bits(on, &moved)?;
    report.ratios[1] = measure_ratios(on, cells, &points)?;
    Ok(DeviceUntangled { points, report })
}

/// A mesh whose nodes move: V nodes, M of which move, N cells.
struct Field<'a, P> {
    on: &'a Device,
    relations: &'a Relations<'a, P>,
    /// Corners of each node, ascending; C.
    corners: Buffer<Corner>,
    /// The volume that simplices of each cell should have; N.
    sizes: Buffer<f64>,
    /// The nodes that move.
    moving: Buffer<Bits<Vertex>>,
    /// The nodes by colours, then the nodes that stay; V.
    order: Buffer<Vertex>,
    /// M.
    count: u32,
    /// The first place of each colour, and the end of the last.
    places: Vec<u32>,
    /// Neighbours by cells, if edges do not join all nodes of a cell.
    by_cell: Option<Neighbours>,
    /// Directions of nodes that slide; 2 V, or nothing.
    frames: Buffer<DVec3>,
}

/// Inverted cells.
struct Inverted {
    inverted: Buffer<Bits<Cell>>,
    count: u32,
    /// The ones of them that no move can make valid.
    stuck: Buffer<Bits<Cell>>,
    stuck_count: u32,
    /// The smallest volume of an inverted simplex that may become valid, in volumes that it should have; 0 if there is
    /// none.
    lowest: f64,
}

impl<'a, P: Vector> Field<'a, P> {
    fn new(
        on: &'a Device,
        relations: &'a Relations<'a, P>,
        mut fixed: Buffer<Bits<Vertex>>,
        boundary: BoundaryRule,
    ) -> Result<Self> {
        let mesh = relations.mesh;
        let (cells, points) = (mesh.cells(), mesh.points());
        let mut frames = on.uninitialized(0)?;
        match boundary {
            BoundaryRule::Fixed => join_bits(on, &relations.boundary.nodes, &mut fixed)?,
            BoundaryRule::Slide => {
                let mut weights = on.uninitialized(0)?;
                let on_boundary = weights::slide(on, relations, &mut weights)?;
                join_bits(on, &on_boundary, &mut fixed)?;
                frames = find_frames(on, relations, &weights)?;
            }
        }
        cells.add_interfaces(on, &relations.incidence, &mut fixed)?;
        let moving = Moving::new(on, &fixed, &relations.neighbours)?;
        let by_cell = match cells.is_simplicial() {
            true => None,
            false => Some(cells.neighbours(on, &relations.incidence, Relation::Cell)?),
        };
        let way = OrderRule {
            along_curve: (points.len() >= RENUMBERED_FROM).then(|| mesh.bounds()),
            classes: Classes::Colours,
            conflicts: by_cell.as_ref().unwrap_or(&relations.neighbours),
        };
        let (order, count, classes) = order_by_class(on, points, &moving, &way, None)?;
        let mut places: Vec<u32> = classes.places.iter().map(|&(first, _)| first).collect();
        places.push(count);
        let corners = weights::ascending_corners(on, relations)?;
        let sizes = measure_sizes(on, relations, &corners)?;
        Ok(Self {
            on,
            relations,
            corners,
            sizes,
            moving: moving.bits,
            order,
            count,
            places,
            by_cell,
            frames,
        })
    }

    fn stars(&self) -> StarsBuffers<'_> {
        StarsBuffers {
            corners: &self.corners,
            ..self.relations.stars()
        }
    }

    /// The members of a set of cells, ascending.
    fn ids(&self, cells: &Buffer<Bits<Cell>>) -> Result<Vec<u32>> {
        let ids = compact(self.on, cells)?;
        Ok(self.on.download_rows(&ids)?)
    }

    fn find_inverted(&self, points: &Buffer<P>) -> crate::Result<Inverted> {
        let (on, cells) = (self.on, self.relations.mesh.cells());
        on.stage("inverted cells", || {
            let words = words(cells.len());
            let mut inverted = on.uninitialized(words)?;
            let mut stuck = on.uninitialized(words)?;
            let mut lowest = on.upload(&[u64::MAX])?;
            kernel::mark_inverted::launch(
                on,
                cells.len() as u32,
                cells.buffers(),
                points,
                &self.sizes,
                &self.moving,
                &mut lowest,
                &mut inverted,
                &mut stuck,
            )?;
            let lowest = on.read(&lowest, 0)?;
            Ok(Inverted {
                count: count_bits(on, &inverted)?,
                stuck_count: count_bits(on, &stuck)?,
                inverted,
                stuck,
                lowest: match lowest {
                    u64::MAX => 0.0,
                    key => from_ordered_bits(key).min(0.0),
                },
            })
        })
    }

    /// Sweeps until all inverted cells that may become valid are; if they do not, the sweeps in which no valid cell
    /// becomes inverted, from the start.
    fn make_valid(
        &self,
        points: &mut Buffer<P>,
        moved: &mut Buffer<Bits<Vertex>>,
        most: u32,
        report: &mut Untangling,
    ) -> Result<()> {
        let before = self.on.duplicate(points)?;
        if self.sweep_to_valid::<FREE>(points, moved, most, report)? {
            return Ok(());
        }
        *points = before;
        *moved = self.on.filled(moved.len(), Bits::EMPTY)?;
        self.sweep_to_valid::<GUARDED>(points, moved, most, report)?;
        Ok(())
    }

    /// Whether all inverted cells that may become valid did so.
    fn sweep_to_valid<const RULE: u32>(
        &self,
        points: &mut Buffer<P>,
        moved: &mut Buffer<Bits<Vertex>>,
        most: u32,
        report: &mut Untangling,
    ) -> Result<bool> {
        let on = self.on;
        let sweeps = progress::count("sweep", u64::from(most));
        let mut rings = FIRST_RINGS;
        let mut count_before = u32::MAX;
        for sweep in 0.. {
            progress::check()?;
            let found = self.find_inverted(points)?;
            if found.count == found.stuck_count {
                return Ok(true);
            }
            if sweep == most {
                break;
            }
            if sweep % PATIENCE == 0 {
                rings += u32::from(sweep > 0 && found.count >= count_before);
                count_before = found.count;
            }
            let around = on.stage("rings", || {
                let nodes = self.relations.mesh.cells().nodes();
                let mut around = on.uninitialized(words(nodes as usize))?;
                let inverted = &found.inverted;
                kernel::mark_corners::launch(on, nodes, self.stars(), inverted, &mut around)?;
                for _ in 0..rings {
                    around = self.grown(&around)?;
                }
                Ok(around)
            })?;
            let depth = 0.2 * found.lowest;
            let epsilon = (1e-12 + depth * depth).sqrt();
            self.sweep::<RULE>(points, &around, moved, epsilon, ANY)?;
            report.sweeps += 1;
            report.rings = report.rings.max(rings);
            sweeps.reach(u64::from(sweep) + 1);
        }
        Ok(false)
    }

    /// Sweeps for better cells, of any angles; how many. If the smallest or the largest angle of the mesh is worse in
    /// the end, other sweeps begin at the input, in which no move goes beyond these angles.
    fn improve(
        &self,
        points: &mut Buffer<P>,
        moved: &mut Buffer<Bits<Vertex>>,
        most: u32,
    ) -> Result<u32> {
        let on = self.on;
        let given = self.find_angles(points)?;
        let (before, moved_before) = (on.duplicate(points)?, on.duplicate(moved)?);
        let sweeps = self.sweep_to_better(points, moved, most, false)?;
        if self.find_angles(points)?.are_within(given) {
            return Ok(sweeps);
        }
        (*points, *moved) = (before, moved_before);
        self.sweep_to_better(points, moved, most, true)
    }

    /// Sweeps until no node moves; how many. If `is_bounded`, no angle goes beyond the mesh's before the sweep.
    fn sweep_to_better(
        &self,
        points: &mut Buffer<P>,
        moved: &mut Buffer<Bits<Vertex>>,
        most: u32,
        is_bounded: bool,
    ) -> Result<u32> {
        let on = self.on;
        let sweeps = progress::count("sweep", u64::from(most));
        let mut around = on.duplicate(&self.moving)?;
        for sweep in 0..most {
            progress::check()?;
            let mut moves = on.filled(moved.len(), Bits::EMPTY)?;
            let bounds = match is_bounded {
                true => self.find_angles(points)?,
                false => ANY,
            };
            self.sweep::<IMPROVE>(points, &around, &mut moves, 0.0, bounds)?;
            if count_bits(on, &moves)? == 0 {
                return Ok(sweep);
            }
            join_bits(on, &moves, moved)?;
            // A node moves as before unless a node of its cells has moved.
            around = on.stage("rings", || self.grown(&moves))?;
            sweeps.reach(u64::from(sweep) + 1);
        }
        Ok(most)
    }

    /// The smallest and the largest angle of the mesh.
    fn find_angles(&self, points: &Buffer<P>) -> crate::Result<Angles> {
        let (on, cells) = (self.on, self.relations.mesh.cells());
        on.stage("angles", || {
            let mut extremes = on.upload(&[u64::MAX; 2])?;
            let count = cells.len() as u32;
            kernel::find_angles::launch(on, count, cells.buffers(), points, &mut extremes)?;
            let keys = on.download(&extremes)?;
            Ok(Angles {
                of_smallest: -from_ordered_bits(keys[0]),
                of_largest: from_ordered_bits(keys[1]),
            })
        })
    }

    /// A set of nodes with all that share a cell with one.
    fn grown(&self, inner: &Buffer<Bits<Vertex>>) -> crate::Result<Buffer<Bits<Vertex>>> {
        let nodes = self.relations.mesh.cells().nodes();
        let neighbours = self.by_cell.as_ref().unwrap_or(&self.relations.neighbours);
        let mut outer = self.on.uninitialized(inner.len())?;
        kernel::grow_ring::launch(self.on, nodes, neighbours.buffers(), inner, &mut outer)?;
        Ok(outer)
    }

    /// A sweep over the moving ones of the nodes `around`; nodes that move join `moved`.
    fn sweep<const RULE: u32>(
        &self,
        points: &mut Buffer<P>,
        around: &Buffer<Bits<Vertex>>,
        moved: &mut Buffer<Bits<Vertex>>,
        epsilon: f64,
        bounds: Angles,
    ) -> crate::Result<()> {
        let on = self.on;
        let (list, firsts) = on.stage("rings", || {
            let mut chosen: Buffer<Bits<Place>> = on.uninitialized(words(self.count as usize))?;
            kernel::mark_places::launch(on, self.count, &self.order, around, &mut chosen)?;
            let list = compact(on, &chosen)?;
            let mut firsts = on.uninitialized(self.places.len())?;
            let places = on.upload(&self.places)?;
            let count = self.places.len() as u32;
            kernel::find_first_places::launch(on, count, &places, &list, &mut firsts)?;
            Ok((list, on.download(&firsts)?))
        })?;
        on.stage("moves", || {
            for ends in firsts.windows(2) {
                progress::check()?;
                // SAFETY: no two nodes of a colour share a cell; the list has places of nodes.
                unsafe {
                    kernel::move_nodes::launch::<_, RULE>(
                        on,
                        ends[1] - ends[0],
                        self.stars(),
                        &self.sizes,
                        &self.order,
                        &list,
                        ends[0],
                        &self.relations.boundary.nodes,
                        &self.frames,
                        points,
                        moved,
                        epsilon,
                        bounds.of_smallest,
                        bounds.of_largest,
                    )
                }?;
            }
            Ok(())
        })
    }
}

/// The volume that the simplices of each cell should have.
fn measure_sizes<P: Vector>(
    on: &Device,
    relations: &Relations<'_, P>,
    corners: &Buffer<Corner>,
) -> crate::Result<Buffer<f64>> {
    on.stage("sizes", || {
        let (cells, points) = (relations.mesh.cells(), relations.mesh.points());
        let (count, nodes) = (cells.len() as u32, cells.nodes());
        let mut sizes = on.uninitialized(cells.len())?;
        let mut means = on.uninitialized(points.len())?;
        kernel::measure_volumes::launch(on, count, cells.buffers(), points, &mut sizes)?;
        let stars = StarsBuffers {
            corners,
            ..relations.stars()
        };
        kernel::average_at_nodes::launch(on, nodes, stars, &sizes, &mut means)?;
        kernel::average_in_cells::launch(on, count, cells.buffers(), &means, &mut sizes)?;
        Ok(sizes)
    })
}

/// The directions of nodes that slide, by the weights of their neighbours.
fn find_frames<P: Vector>(
    on: &Device,
    relations: &Relations<'_, P>,
    weights: &Buffer<f64>,
) -> crate::Result<Buffer<DVec3>> {
    on.stage("sliding nodes", || {
        let points = relations.mesh.points();
        let mut frames = on.uninitialized(2 * points.len())?;
        kernel::find_frames::launch(
            on,
            points.len() as u32,
            relations.neighbours.buffers(),
            &relations.boundary.nodes,
            points,
            weights,
            &mut frames,
        )?;
        Ok(frames)
    })
}
