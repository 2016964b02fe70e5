//! Longest-edge bisection on a device. The kernels, what they cover of the paper and how they differ from it are in
//! `gpu::refine`.

mod coarsen;
mod edges;
mod mark;
mod output;
mod serial;
mod tags;

use gpu::launch::Buffer;
use gpu::refine as kernel;

pub use edges::{EdgeMesh, with_room};
pub use mark::Marking;
pub use serial::SerialRun;

use crate::backend::Device;
use crate::collective::{compact, count_bits, rank};
use crate::half_edges::Point;
use crate::mesh::NONE;
use crate::{Error, Result};
use coarsen::Saved;

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

/// Of how many marked triangles or divided edges one is few: then lists are followed, and not all elements looked at.
const FEW: usize = 8;

/// Most edges: a side and a flag fit an index.
const MOST_EDGES: usize = 1 << 30;

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
    let broken = on.read(&found, 0)?;
    if broken != NONE {
        return Err(Error::Invalid {
            element: format!("triangle {broken} of the refined mesh"),
            rule: "is degenerate: the triangles are as small as the precision allows; use --precision f64, fewer --rounds or a larger area".to_owned(),
        });
    }
    Ok(end)
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
    /// Refines the marked triangles (a bit each) and what must be refined with them; `found` gets a triangle that came out
    /// degenerate. Tells why not, if nothing was done.
    fn round(
        &mut self,
        on: &Device,
        marked: &Buffer<u32>,
        options: &Options,
        found: &mut Buffer<u32>,
    ) -> Result<Option<End>> {
        let level = self.level();
        self.find_longest_edges(on)?;

        // Steps 2 to 4: the edges to divide, and their list if they are few.
        let marks = on.stage("mark divided edges", || count_bits(on, marked))? as usize;
        if marks == 0 {
            return Ok(Some(End::NothingMarked));
        }
        let (divided, list) = if marks * FEW < level.triangles as usize {
            let divided = self.propagate_from_list(on, marked)?;
            let list = on.stage("propagate divisions", || compact(on, &divided))?;
            let few = list.len() * FEW < level.edges as usize;
            (divided, few.then_some(list))
        } else {
            (self.propagate_from_all(on, marked)?, None)
        };

        // Step 5, a bit each: divided sides, and those of them that their triangle owns.
        let words = (3 * level.triangles as usize).div_ceil(32);
        let (flags, owned) = on.stage("count divided sides", || match &list {
            Some(list) => {
                let (mut flags, mut owned) = (on.filled(words, 0)?, on.filled(words, 0)?);
                let n = list.len() as u32;
                kernel::set_divided_sides::launch(on, n, list, &self.halves, &mut flags, &mut owned)?;
                Ok((flags, owned))
            }
            None => {
                let (mut flags, mut owned) = (on.uninitialized(words)?, on.uninitialized(words)?);
                let n = 3 * level.triangles;
                kernel::flag_divided_sides::launch(on, n, &self.sides, &divided, &mut flags, &mut owned)?;
                Ok((flags, owned))
            }
        })?;
        drop(divided);

        // Step 6. The list of divided half-edges, if they are few, is that of the triangles to work on.
        let (flag_ranks, owned_ranks, work) = on.stage("prefix sums", || {
            let work = match list {
                Some(_) => compact(on, &flags)?,
                None => on.uninitialized(0)?,
            };
            Ok((rank(on, &flags)?, rank(on, &owned)?, work))
        })?;
        let (new_triangles, new_vertices) = (flag_ranks.total, owned_ranks.total);
        let after = Level {
            vertices: level.vertices + new_vertices,
            edges: level.edges.saturating_add(new_triangles).saturating_add(new_vertices),
            triangles: level.triangles.saturating_add(new_triangles),
        };
        if options.max_triangles.is_some_and(|most| after.triangles > most) {
            return Ok(Some(End::MaxTriangles));
        }
        self.save(on, options.history, &flags)?;
        on.stage("make room", || self.resize(on, after))?;

        // Step 7.
        let n = if list.is_some() { work.len() as u32 } else { level.triangles };
        let divisions = on.stage("new edges", || {
            let mut divisions = on.uninitialized(2 * level.edges as usize)?;
            kernel::divide_edges::launch(
                on,
                n,
                &work,
                &flags,
                &flag_ranks.sums,
                &owned,
                &owned_ranks.sums,
                &self.corners,
                &self.sides,
                &mut self.points,
                &mut self.halves,
                &mut divisions,
                &mut self.divided,
                &mut self.ends,
                &mut self.tags,
                level.vertices,
                level.edges,
                level.vertices - self.levels[0].vertices,
            )?;
            Ok(divisions)
        })?;
        on.stage("new triangles", || {
            kernel::divide_triangles::launch(
                on,
                n,
                &work,
                &flags,
                &flag_ranks.sums,
                &owned,
                &owned_ranks.sums,
                &divisions,
                &self.longest,
                &mut self.corners,
                &mut self.sides,
                &mut self.halves,
                &mut self.parents,
                &mut self.tags,
                level.triangles,
                level.edges,
                level.triangles - self.levels[0].triangles,
            )?;
            Ok(())
        })?;
        self.levels.push(after);
        self.stale = match list {
            Some(_) => Stale::Some(work, level.triangles),
            None => Stale::All,
        };
        self.check_stale(on, found)?;
        Ok(None)
    }

    /// Steps 1 and 2 for the triangles that need it.
    ///
    /// # Errors
    /// Those of the device.
    pub fn find_longest_edges(&mut self, on: &Device) -> Result<()> {
        on.stage("label longest edges", || {
            self.for_stale(on, |mesh, n, list, first| {
                kernel::find_longest_edges::launch(
                    on,
                    n,
                    list,
                    first,
                    &mesh.corners,
                    &mesh.points,
                    &mesh.sides,
                    &mut mesh.longest,
                )?;
                Ok(())
            })
        })?;
        self.stale = Stale::None;
        Ok(())
    }

    /// Looks for degenerate triangles among those of the last round.
    fn check_stale(&mut self, on: &Device, found: &mut Buffer<u32>) -> Result<()> {
        on.stage("check the triangles", || {
            self.for_stale(on, |mesh, n, list, first| {
                kernel::check_parts::launch(
                    on,
                    n,
                    list,
                    first,
                    &mesh.corners,
                    &mesh.points,
                    u32::from(mesh.clockwise),
                    found,
                )?;
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

    /// Edges that few marked triangles divide.
    fn propagate_from_list(&self, on: &Device, marked: &Buffer<u32>) -> Result<Buffer<u32>> {
        let words = (self.level().edges as usize).div_ceil(32);
        let (list, mut divided) = on.stage("mark divided edges", || {
            Ok((compact(on, marked)?, on.filled(words, 0)?))
        })?;
        on.stage("propagate divisions", || {
            kernel::follow_marked_triangles::launch(
                on,
                list.len() as u32,
                &list,
                &self.longest,
                &self.sides,
                &self.halves,
                &mut divided,
            )?;
            Ok(divided)
        })
    }

    /// Edges that many marked triangles divide.
    fn propagate_from_all(&self, on: &Device, marked: &Buffer<u32>) -> Result<Buffer<u32>> {
        let edges = self.level().edges;
        let words = edges.div_ceil(32) as usize;
        let (mut divided, leading) = on.stage("mark divided edges", || {
            let (mut divided, mut leading) = (on.uninitialized(words)?, on.uninitialized(words)?);
            kernel::mark_divided_edges::launch(
                on,
                edges,
                &self.halves,
                &self.longest,
                marked,
                &mut divided,
                &mut leading,
            )?;
            Ok((divided, leading))
        })?;
        on.stage("propagate divisions", || {
            let leading = compact(on, &leading)?;
            kernel::follow_divided_edges::launch(
                on,
                leading.len() as u32,
                &leading,
                marked,
                &self.longest,
                &self.sides,
                &self.halves,
                &mut divided,
            )?;
            Ok(divided)
        })
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

    /// Makes every array as long as `level` asks.
    fn resize(&mut self, on: &Device, level: Level) -> Result<()> {
        if level.edges as usize > MOST_EDGES {
            return Err(Error::Invalid {
                element: "the refined mesh".to_owned(),
                rule: format!(
                    "would have {} edges, but at most {MOST_EDGES} fit 32-bit ids: refine less",
                    level.edges
                ),
            });
        }
        let [vertices, edges, triangles] =
            [level.vertices, level.edges, level.triangles].map(|n| n as usize);
        let input = self.levels[0];
        let new_vertices = vertices - input.vertices as usize;
        on.resize(&mut self.points, vertices)?;
        on.resize(&mut self.corners, 3 * triangles)?;
        on.resize(&mut self.sides, 3 * triangles)?;
        on.resize(&mut self.halves, 2 * edges)?;
        on.resize(&mut self.longest, triangles)?;
        if !self.tags.is_empty() {
            on.resize(&mut self.tags, edges)?;
        }
        on.resize(&mut self.parents, triangles - input.triangles as usize)?;
        on.resize(&mut self.divided, new_vertices)?;
        on.resize(&mut self.ends, 2 * new_vertices)
    }
}
