//! A run that several processes make together, each on a part of the mesh: the share of one of them.
//!
//! A process holds the cells that it *owns* and all that touch a node of those, numbered in the order of the whole mesh. So the
//! neighbours of an owned cell's node are all here, and are summed in the order of the whole mesh: form A moves the node to the same
//! bits as in a single run. The other nodes, the *ghosts*, are where other processes move them: their positions come after each sweep.

use glam::DVec3;
use gpu::ids::{Place, Vertex};
use gpu::smooth::{self as kernel, Nodes, SWEEP_LANES, Vector};
use trioxide_kernel::launch::Buffer;

use super::order::Ordered;
use super::{BoundaryRule, Form, Method, Options, Relations, Result, Schedule, prepare};
use crate::Error;
use crate::backend::Device;
use crate::smooth::DeviceMesh;

/// The other processes of a run.
pub trait Others {
    /// Number of nodes that move in the whole mesh; `moving` are those that do here, without ghosts, by local ids.
    ///
    /// # Errors
    /// Another process has failed.
    fn count(&mut self, moving: &[u32]) -> crate::Result<u64>;

    /// Gives the positions of nodes that others have as ghosts, and takes those of this process's ghosts, as plain words. `moved`:
    /// whether a node here moved by the tolerance; the answer: whether one of any process did.
    ///
    /// # Errors
    /// Another process has failed.
    fn sweep(&mut self, given: &[u32], moved: bool) -> crate::Result<(Vec<u32>, bool)>;
}

/// The part of a mesh that a process smooths.
#[derive(Clone, Copy)]
pub struct SharePart<'a> {
    /// Whether each node stays for another reason than the mesh: ghosts do; V.
    pub fixed: &'a [bool],
    /// Nodes whose positions others take after a sweep, by local ids.
    pub give: &'a [u32],
    /// Ghosts, by local ids, each once.
    pub take: &'a [u32],
}

/// Smoothed nodes of one process's part.
#[derive(Clone, Debug, Default)]
pub struct Share {
    /// Coordinates; V.
    pub points: Vec<DVec3>,
    /// Nodes that move here, by local ids.
    pub moving: Vec<u32>,
    /// Squared move of each of them in the last sweep; none without a sweep.
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
    let wrong = if options.form != Form::A || options.guard {
        "form a, without a guard"
    } else if matches!(options.method, Method::Hc { .. }) {
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
/// As [`smooth`](super::smooth()); [`check_share`]; what `others` gives.
pub fn smooth_share<P: Vector>(
    on: &Device,
    mesh: &DeviceMesh<P>,
    part: SharePart,
    options: &Options,
    others: &mut dyn Others,
) -> Result<Share> {
    check_share(options)?;
    let relations = Relations::new(on, mesh)?;
    let prepared = prepare(on, &relations, part.fixed, options)?;
    let ordered = &prepared.ordered;
    let order: Vec<u32> = on.download_rows(&ordered.order)?;
    let mut share = Share {
        moving: order[..ordered.moving as usize].to_vec(),
        ..Share::default()
    };
    share.all_moving = others.count(&share.moving)?;
    let halo = HaloWords::new::<P::Aos>(on, ordered, part)?;
    let nodes = order.len();
    let mut arranged = on.uninitialized::<P::Aos>(<P::Aos as Nodes>::ELEMENTS * nodes)?;
    on.stage("into the layout", || {
        let (order, points) = (&ordered.order, mesh.points());
        // SAFETY: the order is a permutation of the nodes.
        unsafe { kernel::arrange::launch(on, nodes as u32, order, points, &mut arranged) }?;
        Ok(())
    })?;
    let schedule = Schedule::new(options);
    arranged = sweep::<P::Aos>(on, ordered, &schedule, halo, arranged, &mut share, others)?;
    let mut points: Buffer<P> = on.uninitialized(nodes)?;
    on.stage("out of the layout", || {
        let order = &ordered.order;
        // SAFETY: as above.
        unsafe { kernel::restore::launch(on, nodes as u32, order, &arranged, &mut points) }?;
        Ok(())
    })?;
    share.points = on.stage("copy to the host", || {
        Ok(on.download(&points)?.into_iter().map(P::to_f64).collect())
    })?;
    Ok(share)
}

/// Sweeps until no node of any process moves by the tolerance.
fn sweep<L: Nodes>(
    on: &Device,
    ordered: &Ordered,
    schedule: &Schedule,
    mut halo: HaloWords,
    nodes: Buffer<L>,
    share: &mut Share,
    others: &mut dyn Others,
) -> crate::Result<Buffer<L>> {
    share.converged = share.all_moving == 0;
    let (mut from, mut to) = (nodes, None);
    let count = ordered.moving;
    while share.sweeps < schedule.max_sweeps && !share.converged {
        crate::progress::check()?;
        let mut after = match to.take() {
            Some(buffer) => buffer,
            None => on.duplicate(&from)?,
        };
        let has_moved = on.stage("sweeps", || {
            let mut moved = on.upload(&[1, 0])?;
            if count > 0 {
                // SAFETY: neighbours are places of the nodes.
                unsafe {
                    kernel::sweep_form_a::launch(
                        on,
                        count.div_ceil(SWEEP_LANES as u32),
                        ordered.neighbourhood(),
                        &from,
                        &mut after,
                        &mut moved,
                        0,
                        count,
                        schedule.factor(share.sweeps),
                        schedule.square(),
                    )
                }?;
            }
            on.read(&moved, 1)
        })?;
        let given = halo.given(on, &mut after)?;
        let (taken, has_moved) = others.sweep(&given, has_moved != 0)?;
        halo.take(on, &taken, &mut after)?;
        share.sweeps += 1;
        share.converged = !has_moved;
        to = Some(std::mem::replace(&mut from, after));
    }
    if let (Some(before), 1..) = (to, count) {
        let mut squares = on.uninitialized(count as usize)?;
        // SAFETY: both arrays have all nodes; `count` nodes move.
        unsafe { kernel::square_moves::launch(on, count, &before, &from, &mut squares) }?;
        share.squares = on.download(&squares)?;
    }
    Ok(from)
}

/// The words of nodes that others want, and the words of ghosts, in a buffer of nodes as they lie in their order.
///
/// Ghosts lie among the nodes that stay, behind those that move. All of these are put anew after a sweep, from their own positions
/// (which stay) and from those that came.
struct HaloWords {
    /// Word in the nodes of each word to give.
    give: Buffer<Place>,
    /// Where each word of a node that stays comes from: a word in `sources`.
    from: Buffer<Place>,
    /// The words of ghosts, and then of all nodes that stay.
    sources: Option<Buffer<Vertex>>,
    /// The words of ghosts one after the other.
    counted: Buffer<Place>,
    /// First word of the nodes that stay.
    first: u32,
    /// First of their words in `sources`.
    behind: u32,
}

impl HaloWords {
    fn new<L: Nodes>(on: &Device, ordered: &Ordered, part: SharePart) -> crate::Result<Self> {
        let each = (L::ELEMENTS * size_of::<L>() / size_of::<u32>()) as u32;
        let places: Vec<u32> = on.download_rows(&ordered.ranks)?;
        let words = |place: u32| each * place..each * (place + 1);
        let give = part.give.iter().flat_map(|&v| words(places[v as usize]));
        let give: Vec<u32> = give.collect();
        let (moving, nodes) = (ordered.moving, places.len() as u32);
        let behind = each * part.take.len() as u32;
        let mut from: Vec<u32> = (behind..behind + each * (nodes - moving)).collect();
        for (i, &v) in (0..).zip(part.take) {
            let place = places[v as usize] - moving;
            for (to, word) in words(place).zip(words(i)) {
                from[to as usize] = word;
            }
        }
        let counted: Vec<u32> = (0..behind).collect();
        Ok(Self {
            give: on.upload(bytemuck::cast_slice(&give))?,
            from: on.upload(bytemuck::cast_slice(&from))?,
            sources: None,
            counted: on.upload(bytemuck::cast_slice(&counted))?,
            first: each * moving,
            behind,
        })
    }

    /// The words to give.
    fn given<L: Nodes>(&self, on: &Device, nodes: &mut Buffer<L>) -> crate::Result<Vec<u32>> {
        let n = self.give.len() as u32;
        let mut given: Buffer<Vertex> = on.uninitialized(self.give.len())?;
        as_words(on, nodes, |words| {
            // SAFETY: words of the nodes.
            unsafe { kernel::pick::launch(on, n, &self.give, words, &mut given, 0) }?;
            Ok(())
        })?;
        on.download_rows(&given)
    }

    /// Puts the words of ghosts in their places.
    fn take<L: Nodes>(
        &mut self,
        on: &Device,
        taken: &[u32],
        nodes: &mut Buffer<L>,
    ) -> crate::Result<()> {
        let (first, behind) = (self.first, self.behind);
        let stay = self.from.len() as u32;
        if taken.is_empty() {
            return Ok(());
        }
        let taken: Buffer<Vertex> = on.upload(bytemuck::cast_slice(taken))?;
        as_words(on, nodes, |words| {
            let mut sources = match self.sources.take() {
                Some(sources) => sources,
                None => {
                    let mut sources = on.uninitialized((behind + stay) as usize)?;
                    let places: Vec<u32> = (first..first + stay).collect();
                    let places: Buffer<Place> = on.upload(bytemuck::cast_slice(&places))?;
                    // SAFETY: words of the nodes that stay, the last of all.
                    unsafe {
                        kernel::pick::launch(on, stay, &places, words, &mut sources, behind)
                    }?;
                    sources
                }
            };
            // SAFETY: as many words as ghosts have.
            unsafe { kernel::pick::launch(on, behind, &self.counted, &taken, &mut sources, 0) }?;
            // SAFETY: words of `sources`; `first` words come before those that stay.
            unsafe { kernel::pick::launch(on, stay, &self.from, &sources, words, first) }?;
            self.sources = Some(sources);
            Ok(())
        })
    }
}

/// Calls `work` with the words of a buffer.
fn as_words<L: Nodes>(
    on: &Device,
    nodes: &mut Buffer<L>,
    work: impl FnOnce(&mut Buffer<Vertex>) -> crate::Result<()>,
) -> crate::Result<()> {
    let empty = on.uninitialized(0)?;
    let mut words = std::mem::replace(nodes, empty).cast();
    let result = work(&mut words);
    *nodes = words.cast();
    result
}
