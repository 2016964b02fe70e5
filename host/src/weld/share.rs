//! A weld that several processes make together, each with a share of the points.
//!
//! A process *owns* points, and has all points within epsilon of them as *ghosts*, numbered in the order of the whole
//! mesh. So the lower neighbours of an owned point are all here, and "lower" means the same as in the whole mesh: a
//! process decides its own points as far as it can, as a visit of a slab does, and waits for the states of its ghosts
//! from their owners. *It ends*: of all undecided points the lowest waits for none.

use bytemuck::Zeroable;
use glam::DVec3;
use gpu::ids::Vertex;
use gpu::weld as kernel;
use gpu::weld::known::{MEMBER, REPRESENTATIVE};
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;
use trioxide_mesh::bit_set::members;
use trioxide_mesh::parallel;

use super::by_grid::cluster;
use super::clusters::Clusters;
use super::grid::DeviceGrid;
use super::guards::DeviceGuards;
use super::near::{LongLists, Near};
use super::{
    DeviceCarried, DeviceMesh, DeviceWeld, Method, Options, Position, Result, Tuning, carry, check,
    stage, visit,
};
use crate::device::Device;
use crate::refine::gather;

/// The other processes of a weld. [`round`](Others::round) notes states that the owners of the points decided.
pub trait Others {
    /// Sends others the states of this process's points, and notes in `known` the states that they send, which are
    /// those of `gpu::weld::known`. Returns whether all points of all processes are decided. Only then are all states
    /// here decided.
    ///
    /// # Errors
    /// Another process has failed.
    fn round(&mut self, known: &mut [u8]) -> crate::Result<bool>;
}

/// Decided points, on the device.
pub struct Decided {
    /// The lowest representative near each owned point, or the point itself. The representative of a ghost depends on
    /// points that are not here; it may be no point at all.
    pub representatives: Buffer<Vertex>,
    /// Whether clusters may have very many members.
    pub is_crowded: bool,
}

impl Decided {
    /// The representatives of some points.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// When a point is out of range.
    pub fn get(&mut self, on: &Device, points: &[u32]) -> Result<Vec<u32>> {
        Ok(gather(on, &mut self.representatives, points)?)
    }

    /// Gives some points, each there once, other representatives.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// When a point is out of range, or has none.
    pub fn set(&mut self, on: &Device, points: &[u32], representatives: &[u32]) -> Result<()> {
        let n = self.representatives.len();
        assert!(points.iter().all(|&v| (v as usize) < n), "points");
        if points.is_empty() {
            return Ok(());
        }
        let (list, given) = (
            on.upload(points)?.cast(),
            on.upload(representatives)?.cast(),
        );
        let all = &mut self.representatives;
        kernel::set_representatives::launch(on, list.len() as u32, &list, &given, all)?;
        Ok(())
    }
}

/// Refuses options that several processes do without, and points that cannot be welded.
///
/// # Errors
/// [`Error::Shared`](super::Error::Shared) with a method that is for one process;
/// [`Error::Coordinate`](super::Error::Coordinate); those of [`Options::check`].
pub fn check_share(points: &[DVec3], options: &Options) -> Result<()> {
    if !matches!(options.method, Method::Auto | Method::Grid) {
        let text = format!(
            "several processes weld by the method grid alone, not by {}: choose that, or start one",
            options.method.name()
        );
        return Err(crate::Error::Argument(text).into());
    }
    check(points, &[], options)
}

/// Decides one process's points: of `mesh`, whose triangles are left out of account, the ones with the state
/// `UNDECIDED` in `known`. The others have states from the beginning, as locked points do, which are representatives;
/// or they are ghosts, and `WAITING`.
///
/// # Errors
/// [`check_share`]; [`Error::MissingAttribute`](super::Error::MissingAttribute); those of the device and of `others`.
///
/// # Panics
/// When there is not a state for each point; when `others` says that all is decided, and it is not.
pub fn decide_share(
    on: &Device,
    mesh: &DeviceMesh,
    options: &Options,
    known: Vec<u8>,
    others: &mut dyn Others,
) -> Result<Decided> {
    let (decided, _) = run(on, mesh, options, true, known, others)?;
    Ok(decided.expect("representatives were asked for"))
}

/// As [`decide_share`]: the states alone of all points, as they are in the end.
///
/// # Errors
/// As there.
///
/// # Panics
/// As there.
pub fn states_of_share(
    on: &Device,
    mesh: &DeviceMesh,
    options: &Options,
    known: Vec<u8>,
    others: &mut dyn Others,
) -> Result<Vec<u8>> {
    run(on, mesh, options, false, known, others).map(|(_, known)| known)
}

/// Decides points, and if `assigns` finds their representatives: these, and the states.
fn run(
    on: &Device,
    mesh: &DeviceMesh,
    options: &Options,
    assigns: bool,
    known: Vec<u8>,
    others: &mut dyn Others,
) -> Result<(Option<Decided>, Vec<u8>)> {
    check_share(&[], options)?;
    let (points, none) = (&mesh.points, DeviceCarried::none(on)?);
    assert_eq!(known.len(), points.len(), "a state for each point");
    let guards = DeviceGuards::new(points.len(), &options.guards, &mesh.carried, &none)?;
    let work = Work {
        on,
        points,
        locked: mesh.carried.locked(),
        guards: &guards,
        options,
        assigns,
    };
    match guards.limits {
        Some(limits) => work.decide(limits, known, others),
        None => work.decide(kernel::Unguarded::zeroed(), known, others),
    }
}

/// Decides points that wait for no others: those of `mesh`, whose triangles are left out of account.
///
/// # Errors
/// As [`decide_share`].
pub fn decide_all(on: &Device, mesh: &DeviceMesh, options: &Options) -> Result<Decided> {
    check_share(&[], options)?;
    let (points, none) = (&mesh.points, DeviceCarried::none(on)?);
    let guards = DeviceGuards::new(points.len(), &options.guards, &mesh.carried, &none)?;
    let clustering = cluster(on, points, &guards, options)?;
    Ok(Decided {
        representatives: clustering.representatives,
        is_crowded: clustering.is_crowded,
    })
}

/// The points that a process decides.
struct Work<'a> {
    on: &'a Device,
    points: &'a Buffer<DVec3>,
    locked: Option<&'a Buffer<Bits<Vertex>>>,
    guards: &'a DeviceGuards<'a>,
    options: &'a Options,
    /// Whether the representatives are asked for.
    assigns: bool,
}

impl Work<'_> {
    fn decide<G: kernel::Guard>(
        &self,
        limits: G,
        mut known: Vec<u8>,
        others: &mut dyn Others,
    ) -> Result<(Option<Decided>, Vec<u8>)> {
        let on = self.on;
        // Complete lists would be of the ghosts too.
        let tuning = Tuning {
            dense_share: Some(0),
            ..self.options.tuning
        };
        let near = Near {
            grid: DeviceGrid::build(
                on,
                self.points,
                &self.options.nearness(),
                &tuning,
                tuning.most_in_bucket == 0 || !self.guards.may_be_slow(on),
            )?,
            on,
            points: self.points,
            limits,
            guards: self.guards,
        };
        let is_crowded = near.grid.is_crowded();
        let mut lists = match is_crowded {
            true => None,
            // A ghost that waits has one lower neighbour at least, also where none is here: then it is this row.
            false => {
                let places = self.points.len() * kernel::LISTED as usize;
                Some(near.note_in(on.filled(places, kernel::Row::new(0))?)?)
            }
        };
        // A locked point is nobody's neighbour. Buckets pass it like a member: as a representative each point near it
        // would be compared with it.
        let locked: Vec<u32> = match self.locked.filter(|_| is_crowded) {
            Some(locked) => on.download(locked.as_words())?,
            None => Vec::new(),
        };
        // In the last turn all is known.
        let mut is_last = false;
        let decided = loop {
            crate::progress::check()?;
            set_states(&mut known, &locked, MEMBER);
            let mut buffer = on.upload(&known)?;
            let found: Option<Buffer<Vertex>> = match &mut lists {
                Some((lower, counts)) => {
                    let mut states = on.duplicate(counts)?;
                    visit::decide_lists(&near, &tuning, lower, &mut states, &mut buffer)?;
                    let none = LongLists::none(on)?;
                    let assign = || near.assign(lower, &none, &states);
                    is_last.then(assign).transpose()?
                }
                None => {
                    let mut decisions = visit::decide_buckets(&near, &tuning, &mut buffer)?;
                    is_last.then(|| decisions.assign(&near)).transpose()?
                }
            };
            if let Some(representatives) = found {
                break Some(Decided {
                    representatives,
                    is_crowded,
                });
            }
            known = on.download(&buffer)?;
            set_states(&mut known, &locked, REPRESENTATIVE);
            is_last = others.round(&mut known)?;
            let is_decided = |&state: &u8| state == REPRESENTATIVE || state == MEMBER;
            assert!(
                !is_last || parallel::all(&known, is_decided),
                "all is decided"
            );
            if is_last && !self.assigns {
                break None;
            }
        };
        Ok((decided, known))
    }
}

/// Gives the points of a bit set a state.
fn set_states(known: &mut [u8], points: &[u32], state: u8) {
    for v in members(points) {
        known[v as usize] = state;
    }
}

/// The clusters of one process's points, whose representatives are known, with their places and all that they carry:
/// the means of the points here or, by the options, the values of the first ones. A cluster all of whose points are
/// here has the same values as in the whole mesh.
///
/// # Errors
/// Those of the device.
///
/// # Panics
/// When a point is represented by one that does not represent itself, or is higher.
pub fn carry_share(
    on: &Device,
    mesh: &DeviceMesh,
    options: &Options,
    decided: &Decided,
) -> Result<DeviceWeld> {
    let representatives = &decided.representatives;
    let n = representatives.len();
    assert_eq!(n, mesh.points.len(), "one a point");
    let mut found = on.filled(1, Vertex::NONE)?;
    kernel::check_representatives::launch(on, n as u32, representatives, &mut found)?;
    let wrong = on.read(&found, 0)?;
    assert!(wrong.is_none(), "representatives represent themselves");
    let clusters = Clusters::number(on, representatives)?;
    let members = match options.position {
        Position::First => None,
        Position::Mean => Some(clusters.members(on, decided.is_crowded)?),
    };
    let points = clusters.positions(on, &mesh.points, members.as_ref())?;
    let carried = stage(on, "attributes", || {
        carry(on, &mesh.carried, &clusters, members.as_ref())
    })?;
    Ok(DeviceWeld {
        map: clusters.map,
        representatives: clusters.representatives,
        points,
        faces: on.uninitialized(0)?,
        carried,
        left: Vec::new(),
        method: Method::Grid,
    })
}
