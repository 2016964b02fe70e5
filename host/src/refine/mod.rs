//! Longest-edge bisection on a device. The kernels, what they cover of the paper and how they differ from it are in
//! `gpu::refine`.

mod coarsen;
mod divide;
mod edges;
mod mark;
mod output;
mod propagate;
mod serial;
mod tags;

use gpu::refine as kernel;
use trioxide_kernel::launch::Buffer;

pub use edges::{EdgeMesh, with_room, with_room_for_points};
pub use mark::Marking;
pub use serial::SerialRun;

use crate::backend::Device;
use crate::half_edges::Point;
use crate::mesh::NONE;
use crate::{Error, Result};
use coarsen::Saved;
use mark::Marked;

/// How far to refine.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which triangles each round refines.
    pub marking: Marking,
    /// Most rounds. A round in which nothing is marked is the last.
    pub rounds: u32,
    /// No round begins that would give more triangles than this.
    pub max_triangles: Option<u32>,
    /// Keep what each round overwrites, so that [`EdgeMesh::coarsen`] can go back.
    pub history: bool,
}

impl Default for Options {
    /// Every triangle, once.
    fn default() -> Self {
        Self {
            marking: Marking::All,
            rounds: 1,
            max_triangles: None,
            history: false,
        }
    }
}

/// Why refinement ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All rounds are done.
    Rounds,
    /// No triangle was marked.
    NothingMarked,
    /// The next round would have given more triangles than allowed.
    MaxTriangles,
}

/// Refines `mesh` in rounds; only counts leave the device.
///
/// # Errors
/// [`Error::Invalid`] when a triangle is too small for the precision; [`Error::OutOfMemory`], or what the device reports.
pub fn refine<P: Point>(on: &Device, mesh: &mut EdgeMesh<P>, options: &Options) -> Result<End> {
    let mut found = on.filled(1, NONE)?;
    let mut end = End::Rounds;
    for _ in 0..options.rounds {
        let marked = on.stage("mark triangles", || options.marking.mark(on, mesh))?;
        if let Some(reason) = mesh.round(on, &marked, options, &mut found)? {
            end = reason;
            break;
        }
    }
    match on.read(&found, 0)? {
        NONE => Ok(end),
        triangle => Err(degenerate(triangle)),
    }
}

/// The error for a triangle that came out degenerate.
fn degenerate(triangle: u32) -> Error {
    Error::Invalid {
        element: format!("triangle {triangle} of the refined mesh"),
        rule: "is degenerate: the triangles are as small as the precision allows; use --precision f64, fewer --rounds or a larger area".to_owned(),
    }
}

/// Counts before a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// V.
    pub vertices: u32,
    /// E.
    pub edges: u32,
    /// T.
    pub triangles: u32,
}

/// Triangles whose longest edge is not known.
enum Stale {
    None,
    All,
    /// Those of the half-edges in the list, and all from an id on.
    Some(Buffer<u32>, u32),
}

impl<P: Point> EdgeMesh<P> {
    /// Refines the marked triangles and what must be refined with them; `found` gets a triangle that came out
    /// degenerate. Tells why not, if nothing was done.
    fn round(
        &mut self,
        on: &Device,
        marked: &Marked,
        options: &Options,
        found: &mut Buffer<u32>,
    ) -> Result<Option<End>> {
        let level = self.level();
        self.label(on)?;

        // Steps 2 to 4: the edges to divide, and their list if they are few.
        let Some(divided) = self.propagate(on, marked)? else {
            return Ok(Some(End::NothingMarked));
        };
        // Steps 5 and 6.
        let sides = self.count(on, &divided)?;
        let after = sides.after(level);
        if options
            .max_triangles
            .is_some_and(|most| after.triangles > most)
        {
            return Ok(Some(End::MaxTriangles));
        }
        self.save(on, options.history, &sides.flags)?;
        // Step 7.
        self.divide(on, &sides, after)?;
        self.levels.push(after);
        self.stale = match sides.list {
            Some(list) => Stale::Some(list, level.triangles),
            None => Stale::All,
        };
        self.is_linked = false;
        self.check_stale(on, found)?;
        Ok(None)
    }

    /// Steps 1 to 3: longest edges, and half-edges of sides, of the triangles that the last round changed.
    ///
    /// # Errors
    /// Those of the device.
    pub fn label(&mut self, on: &Device) -> Result<()> {
        let level = self.level();
        on.stage("label longest edges", || {
            on.resize(&mut self.longest, level.triangles as usize)?;
            self.for_stale(on, |mesh, n, list, first| {
                unsafe {
                    kernel::find_longest_edges::launch(
                        on,
                        n,
                        list,
                        first,
                        &mesh.corners,
                        &mesh.points,
                        &mesh.sides,
                        &mut mesh.longest,
                    )
                }?;
                Ok(())
            })
        })?;
        if !self.is_linked {
            on.stage("link edges", || {
                let known = self.halves.len();
                on.resize(&mut self.halves, 2 * level.edges as usize)?;
                on.fill_from(&mut self.halves, known, NONE)?;
                self.for_stale(on, |mesh, n, list, first| {
                    let (sides, halves) = (&mesh.sides, &mut mesh.halves);
                    unsafe { kernel::link_sides::launch(on, n, list, first, sides, halves) }?;
                    Ok(())
                })
            })?;
        }
        self.is_linked = true;
        self.stale = Stale::None;
        Ok(())
    }

    /// Looks for degenerate triangles among those of the last round.
    fn check_stale(&mut self, on: &Device, found: &mut Buffer<u32>) -> Result<()> {
        on.stage("check the triangles", || {
            self.for_stale(on, |mesh, n, list, first| {
                unsafe {
                    kernel::check_parts::launch(
                        on,
                        n,
                        list,
                        first,
                        &mesh.corners,
                        &mesh.points,
                        u32::from(mesh.clockwise),
                        found,
                    )
                }?;
                Ok(())
            })
        })
    }

    /// Runs `work(n, list, first)` for the stale triangles: those of a list, and a range.
    fn for_stale(
        &mut self,
        on: &Device,
        mut work: impl FnMut(&mut Self, u32, &Buffer<u32>, u32) -> Result<()>,
    ) -> Result<()> {
        let triangles = self.level().triangles;
        let none = on.uninitialized(0)?;
        let stale = std::mem::replace(&mut self.stale, Stale::None);
        match &stale {
            Stale::None => {}
            Stale::All => work(self, triangles, &none, 0)?,
            Stale::Some(list, first) => {
                work(self, list.len() as u32, list, 0)?;
                work(self, triangles - first, &none, *first)?;
            }
        }
        self.stale = stale;
        Ok(())
    }

    /// Saves what the round overwrites.
    fn save(&mut self, on: &Device, history: bool, flags: &Buffer<u32>) -> Result<()> {
        let saved = if history {
            Some(on.stage("save for coarsening", || Saved::new(on, self, flags))?)
        } else {
            None
        };
        self.saved.push(saved);
        Ok(())
    }
}
