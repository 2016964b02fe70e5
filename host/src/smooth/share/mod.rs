//! A run that several processes make together, each on a part of the mesh: the share of one of them.
//!
//! A process holds the cells that it *owns* and all that touch a node of those, numbered in the order of the whole
//! mesh. So the neighbours of an owned cell's node are all here, and are summed in the order of the whole mesh: a sweep
//! moves the node to the same bits as in a single run. The other nodes, the *ghosts*, are where other processes move
//! them: by form A their positions come after each sweep, by colours after each colour.

mod colours;
mod halo;

use gpu::smooth::{self as kernel, Nodes, Vector};
use trioxide_kernel::launch::Buffer;

use super::order::Ordered;
use super::sweeps::{Guard, Sweeps};
use super::{
    BoundaryRule, Filter, Form, Options, Relations, Result, Schedule, arrange, prepare_coloured,
    restore,
};
use crate::Error;
use crate::device::Device;
use crate::smooth::DeviceMesh;
use halo::Halo;

/// The other processes of a run.
///
/// # Safety
/// [`exchange`](Others::exchange) returns the words that the owners of the ghosts gave. Colours of other values let
/// neighbours move at the same time.
pub unsafe trait Others {
    /// Number of nodes that move in the whole mesh; `places` has the place of each node here, and those before `moving`
    /// move.
    ///
    /// # Errors
    /// Another process has failed.
    fn count(&mut self, places: &[u32], moving: u32) -> crate::Result<u64>;

    /// Gives words to each process, as many as `counts` says, and takes those of this process's ghosts, which come in
    /// the order of processes.
    ///
    /// # Errors
    /// Another process has failed.
    fn exchange(&mut self, given: Vec<u32>, counts: &[usize]) -> crate::Result<Vec<u32>>;

    /// The largest of all processes' values.
    ///
    /// # Errors
    /// Another process has failed.
    fn largest(&mut self, value: u32) -> crate::Result<u32>;
}

/// The part of a mesh that a process smooths.
#[derive(Clone, Copy)]
pub struct SharePart<'a> {
    /// The id of each node in the whole mesh; they ascend.
    pub id: &'a dyn Fn(u32) -> u64,
    /// Whether each node stays for another reason than the mesh: ghosts do; V.
    pub fixed: &'a [bool],
    /// Nodes whose positions others take, by local ids, process by process.
    pub give: &'a [u32],
    /// Number of them for each process.
    pub give_counts: &'a [usize],
    /// Ghosts, by local ids, each once, in the order of the processes that give them.
    pub take: &'a [u32],
}

/// Smoothed nodes of one process's part.
pub struct SmoothedShare<P> {
    /// Coordinates, on the device; V.
    pub points: Buffer<P>,
    /// The place of each node in the order of the sweeps; V.
    pub places: Vec<u32>,
    /// Squared move of each node that moves here in the last sweep, by places, of which they have the first; none
    /// without a sweep.
    pub squares: Vec<f64>,
    /// Nodes of the whole mesh that move.
    pub all_moving: u64,
    /// Number of sweeps.
    pub sweeps: u32,
    /// Whether the last one moved each node of the whole mesh by less than the tolerance.
    pub converged: bool,
}

/// Refuses options with which a node depends on more than its neighbours before the sweep.
///
/// # Errors
/// [`Error::Argument`].
pub fn check_share(options: &Options) -> Result<()> {
    options.check(&[], 0)?;
    let wrong = if !matches!(options.form, Form::A | Form::BColoured) {
        "forms a and b-coloured"
    } else if matches!(options.method, Filter::Hc { .. }) {
        "the methods laplacian and taubin"
    } else if options.boundary == BoundaryRule::Slide {
        "a fixed boundary"
    } else {
        return Ok(());
    };
    let text = format!("several processes smooth by {wrong} only: choose that, or start one");
    Err(Error::Argument(text).into())
}

/// Smooths one process's part of a mesh. The layout of the options is left out of account: it changes no bit.
///
/// # Errors
/// As [`smooth`](super::smooth()); [`check_share`]; those of `others`.
pub fn smooth_share<P: Vector>(
    on: &Device,
    mesh: &DeviceMesh<P>,
    part: SharePart,
    options: &Options,
    others: &mut dyn Others,
) -> Result<SmoothedShare<P>> {
    check_share(options)?;
    if options.guard && mesh.cells().is_surface() {
        let text = "several processes guard tetrahedra only: start one for a guard of faces";
        return Err(Error::Argument(text.to_owned()).into());
    }
    let relations = Relations::new(on, mesh)?;
    let mut colours = Vec::new();
    let mut colour = |moving: &[u32]| {
        let neighbours = &relations.neighbours;
        let rows = on.download(&neighbours.rows)?;
        let neighbours: Vec<u32> = on.download_rows(&neighbours.neighbours)?;
        colours = colours::colour(&rows, &neighbours, moving, part, others)?;
        Ok(colours.clone())
    };
    let prepared = prepare_coloured(on, &relations, part.fixed, options, &mut colour)?;
    let ordered = &prepared.ordered;
    let places: Vec<u32> = on.download_rows(&ordered.ranks)?;
    let moving = ordered.moving;
    let mut swept = Swept {
        all_moving: others.count(&places, moving)?,
        ..Swept::default()
    };
    let classes = match options.form {
        Form::A => 1,
        _ => others.largest(ordered.classes.places.len() as u32)?,
    };
    let halo = Halo::new::<P::Aos>(on, &places, moving, part, &colours, classes)?;
    let mut arranged = arrange::<P::Aos>(on, ordered, mesh.points())?;
    let schedule = Schedule::new(options);
    let mut sweeps = ShareSweeps {
        on,
        ordered,
        schedule,
        halo,
        swept: &mut swept,
        others,
    };
    arranged = match options.form {
        Form::A => sweeps.form_a::<P::Aos>(arranged)?,
        _ => {
            let by_class = Sweeps {
                on,
                ordered,
                form: options.form,
                blocks: options.blocks,
                guard: options.guard.then(|| Guard {
                    stars: relations.stars(),
                    is_surface: false,
                }),
                schedule,
            };
            sweeps.coloured::<P::Aos>(&by_class, arranged)?
        }
    };
    let points = restore::<P::Aos>(on, ordered, &arranged)?;
    let Swept {
        squares,
        all_moving,
        sweeps,
        converged,
    } = swept;
    Ok(SmoothedShare {
        points,
        places,
        squares,
        all_moving,
        sweeps,
        converged,
    })
}

/// The results of the sweeps so far; as in [`SmoothedShare`].
#[derive(Default)]
struct Swept {
    squares: Vec<f64>,
    all_moving: u64,
    sweeps: u32,
    converged: bool,
}

/// Sweeps until no node of any process moves by the tolerance.
struct ShareSweeps<'a> {
    on: &'a Device,
    ordered: &'a Ordered,
    schedule: Schedule,
    halo: Halo,
    swept: &'a mut Swept,
    others: &'a mut dyn Others,
}

impl ShareSweeps<'_> {
    /// Whether there is another sweep.
    fn goes_on(&mut self) -> crate::Result<bool> {
        crate::progress::check()?;
        let swept = &mut self.swept;
        swept.converged |= swept.all_moving == 0;
        Ok(swept.sweeps < self.schedule.max_sweeps && !swept.converged)
    }

    /// Notes that a sweep has ended; `has_moved`: whether a node here moved by the tolerance.
    fn end_sweep(&mut self, has_moved: u32) -> crate::Result<()> {
        self.swept.sweeps += 1;
        self.swept.converged = self.others.largest(has_moved)? == 0;
        Ok(())
    }

    fn form_a<L: Nodes>(&mut self, nodes: Buffer<L>) -> crate::Result<Buffer<L>> {
        let (on, ordered) = (self.on, self.ordered);
        let (mut from, mut to) = (nodes, None);
        let count = ordered.moving;
        while self.goes_on()? {
            let mut after = match to.take() {
                Some(buffer) => buffer,
                None => on.duplicate(&from)?,
            };
            let has_moved = on.stage("sweeps", || {
                let mut moved = on.upload(&[1, 0])?;
                if count > 0 {
                    let sweep = (0, self.swept.sweeps);
                    let (from, to) = (&from, &mut after);
                    self.schedule
                        .sweep_form_a(on, ordered, from, to, &mut moved, sweep)?;
                }
                on.read(&moved, 1)
            })?;
            self.halo.exchange(on, 0, &mut after, self.others)?;
            self.end_sweep(has_moved)?;
            to = Some(std::mem::replace(&mut from, after));
        }
        if let (Some(before), 1..) = (to, count) {
            let mut squares = on.uninitialized(count as usize)?;
            kernel::square_moves::launch(on, count, &before, &from, &mut squares)?;
            self.swept.squares = on.download(&squares)?;
        }
        Ok(from)
    }

    /// In place, one colour after the other, as many as the whole mesh has.
    fn coloured<L: Nodes>(
        &mut self,
        by_class: &Sweeps,
        mut nodes: Buffer<L>,
    ) -> crate::Result<Buffer<L>> {
        let (on, classes) = (self.on, &self.ordered.classes.places);
        let mut squares = on.uninitialized(self.ordered.moving as usize)?;
        while self.goes_on()? {
            let mut moved = on.upload(&[1, 0])?;
            for class in 0..self.halo.classes() {
                // A part may lack a colour of the whole mesh.
                if let Some(&(first, count @ 1..)) = classes.get(class) {
                    let places = (first, count);
                    on.stage("sweeps", || {
                        by_class.class(
                            &mut nodes,
                            &mut squares,
                            &mut moved,
                            (0, self.swept.sweeps),
                            places,
                        )
                    })?;
                }
                self.halo.exchange(on, class, &mut nodes, self.others)?;
            }
            self.end_sweep(on.read(&moved, 1)?)?;
        }
        if self.swept.sweeps > 0 {
            self.swept.squares = on.download(&squares)?;
        }
        Ok(nodes)
    }
}
