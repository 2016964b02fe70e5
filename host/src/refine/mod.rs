//! Longest-edge bisection of triangulations on a device. [`gpu::refine`] has the kernels, the parts of the paper that
//! they cover and the differences from it.
//!
//! ```
//! use glam::DVec2;
//! use trioxide::device::Device;
//! use trioxide::refine::{DeviceEdgeMesh, Marking, Options, refine};
//! use trioxide::{formats, generate};
//!
//! # fn main() -> trioxide::Result<()> {
//! let folder = std::env::temp_dir();
//! let (coarse, fine) = (folder.join("refine-coarse.off"), folder.join("refine-fine.off"));
//! let on = Device::cpu(None)?;
//! formats::write(&coarse, &generate::random(&on, 1000, 1)?.into())?;
//!
//! // Three rounds, in each the triangles with an angle under 25 degrees.
//! let options = Options { marking: Marking::Angle(25.0), rounds: 3, ..Options::default() };
//! let mesh = formats::read(&coarse)?.into_triangulation()?;
//! let mut resident = DeviceEdgeMesh::<DVec2>::upload(&on, &mesh)?;
//! refine(&on, &mut resident, &options)?;
//! formats::write(&fine, &resident.triangulation(&on, None)?.into())?;
//! # assert!(resident.levels().len() == 4);
//! # Ok(())
//! # }
//! ```

mod coarsen;
mod divide;
mod edges;
mod error;
mod maps;
mod mark;
mod midpoints;
mod propagate;
mod share;
mod tags;
mod upload;

use gpu::ids::{HalfEdge, Triangle};
use gpu::refine::check_parts::check_parts;
use gpu::refine::find_longest_edges::find_longest_edges;
use gpu::refine::link_sides::link_sides;
use gpu::refine::{CornersBuffers, SelectedBuffers};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, words};

pub use edges::{DeviceEdgeMesh, Level};
pub use error::{Error, NoSuchLevel, Result};
pub use maps::RefinedArrays;
pub use midpoints::Midpoints;
pub use share::{DividedShare, EdgeShare, SharePart, SharePieces, ShareSides};
pub(crate) use share::{gather, gather_members};
pub use tags::{Tags, segments};
pub use upload::{check_orientation, with_room, with_room_for_points};

use crate::device::{BitSet, Device};
use crate::half_edges::AnyPoint;
pub use crate::marking::Marking;
use crate::progress;
use edges::{Saved, Stale};
use mark::Marked;
use propagate::Before;

/// Options of refinement.
#[derive(Clone, Debug)]
pub struct Options {
    /// The triangles that each round refines.
    pub marking: Marking,
    /// Seed of a marking by fraction.
    pub seed: u64,
    /// Most rounds. A round in which nothing is marked is the last.
    pub rounds: u32,
    /// Most triangles: no round begins that would give more.
    pub max_triangles: Option<u32>,
    /// Keep the triangles that each round overwrites, so that [`DeviceEdgeMesh::coarsen`] can go back.
    pub history: bool,
}

impl Default for Options {
    /// Every triangle, once.
    fn default() -> Self {
        Self {
            marking: Marking::All,
            seed: 0,
            rounds: 1,
            max_triangles: None,
            history: false,
        }
    }
}

/// The reason why refinement ended.
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
/// Those of [`Marking::of_triangles`]; [`Error::Degenerate`] when a triangle is too small for the precision;
/// [`Error::TooManyEdges`]; errors of the device. After an error the mesh is the result of the last completed round.
pub fn refine<P: AnyPoint>(
    on: &Device,
    mesh: &mut DeviceEdgeMesh<P>,
    options: &Options,
) -> Result<End> {
    let triangles = mesh.levels[0].triangles as usize;
    let marking = options.marking.of_triangles(options.seed, triangles)?;
    rounds(on, mesh, options, |mesh| marking.mark(on, mesh))
}

/// As [`refine`], but divides the triangles of the input that are in a bit set on the device, and all their parts,
/// instead of the triangles that `options` mark.
///
/// # Errors
/// As [`refine`].
pub fn refine_marked<P: AnyPoint>(
    on: &Device,
    mesh: &mut DeviceEdgeMesh<P>,
    marked: &BitSet<Triangle>,
    options: &Options,
) -> Result<End> {
    let triangles = mesh.levels[0].triangles as usize;
    if marked.len() != words(triangles) {
        return Err(Error::MarksOfAnotherMesh {
            marks: 32 * marked.len(),
            triangles,
        });
    }
    rounds(on, mesh, options, |mesh| {
        mark::mark_parts_of(on, mesh, marked)
    })
}

/// The rounds; `mark` gives the triangles of each.
fn rounds<P: AnyPoint>(
    on: &Device,
    mesh: &mut DeviceEdgeMesh<P>,
    options: &Options,
    mark: impl Fn(&DeviceEdgeMesh<P>) -> crate::Result<Marked>,
) -> Result<End> {
    let mut found = on.filled(1, Triangle::NONE)?;
    let mut end = End::Rounds;
    let rounds = count_rounds(options.rounds);
    for _ in 0..options.rounds {
        rounds.advance(1);
        let marked = on.stage("mark triangles", || mark(mesh))?;
        if let Some(reason) = mesh.round(on, &marked, options, &mut found)? {
            end = reason;
            break;
        }
        // Halves of an edge between neighbouring numbers are as long as the edge: without an end of rounds there would
        // be none.
        if options.rounds == u32::MAX && on.read(&found, 0)?.is_some() {
            break;
        }
    }
    let triangle = on.read(&found, 0)?;
    match triangle.is_none() {
        true => Ok(end),
        false => Err(Error::Degenerate {
            triangle: triangle.index(),
        }),
    }
}

/// The rounds, counted for whoever shows them; without an end where the area ends them.
pub fn count_rounds(rounds: u32) -> progress::Counted {
    let total = if rounds == u32::MAX { 0 } else { rounds };
    progress::count("round", u64::from(total))
}

impl<P: AnyPoint> DeviceEdgeMesh<P> {
    /// Refines the marked triangles, and their neighbours as far as conformity requires; `found` gets a triangle that
    /// came out degenerate. Returns the reason if nothing was done.
    fn round(
        &mut self,
        on: &Device,
        marked: &Marked,
        options: &Options,
        found: &mut Buffer<Triangle>,
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
        let saved = self.save(on, options.history, &sides.flags)?;
        // Step 7.
        if let Err(error) = self.divide(on, &sides, after) {
            self.cut_to(on, level)?;
            return Err(error);
        }
        self.saved.push(saved);
        self.levels.push(after);
        self.stale = match sides.before {
            Before::Few { list, .. } => Stale::Some(list, sides.flags, level.triangles),
            Before::Many { .. } => Stale::All,
        };
        self.is_linked = false;
        self.check_stale(on, found)?;
        Ok(None)
    }

    /// Steps 1 to 3: longest edges, and half-edges of sides, of the triangles that the last round changed.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn label(&mut self, on: &Device) -> crate::Result<()> {
        let level = self.level();
        on.stage("find longest edges", || {
            on.resize(&mut self.longest, level.triangles as usize)?;
            self.for_stale(on, |mesh, n, selected| {
                let corners = CornersBuffers {
                    corners: &mesh.corners,
                    points: &mesh.points,
                };
                let (sides, longest) = (&mesh.sides, &mut mesh.longest);
                // SAFETY: a list has half-edges of the mesh, each once, so that one index writes a triangle.
                unsafe { find_longest_edges::launch(on, n, selected, corners, sides, longest) }?;
                Ok(())
            })
        })?;
        if !self.is_linked {
            on.stage("link sides", || {
                let known = self.halves.len();
                on.resize(&mut self.halves, 2 * level.edges as usize)?;
                on.fill_from(&mut self.halves, known, HalfEdge::NONE)?;
                self.for_stale(on, |mesh, n, selected| {
                    let (sides, halves) = (&mesh.sides, &mut mesh.halves);
                    link_sides::launch(on, n, selected, sides, halves)?;
                    Ok(())
                })
            })?;
        }
        self.is_linked = true;
        self.stale = Stale::None;
        Ok(())
    }

    /// Looks for degenerate triangles among the triangles of the last round.
    fn check_stale(&mut self, on: &Device, found: &mut Buffer<Triangle>) -> crate::Result<()> {
        on.stage("check parts", || {
            self.for_stale(on, |mesh, n, selected| {
                let corners = CornersBuffers {
                    corners: &mesh.corners,
                    points: &mesh.points,
                };
                let clockwise = u32::from(mesh.clockwise);
                check_parts::launch(on, n, selected, corners, clockwise, found)?;
                Ok(())
            })
        })
    }

    /// Runs `work` for the stale triangles, given their number: of a list, and of a range.
    fn for_stale(
        &mut self,
        on: &Device,
        mut work: impl FnMut(&mut Self, u32, SelectedBuffers) -> crate::Result<()>,
    ) -> crate::Result<()> {
        let triangles = self.level().triangles;
        let (none, no_flags) = (on.uninitialized(0)?, on.uninitialized(0)?);
        let from = |first| SelectedBuffers {
            list: &none,
            flags: &no_flags,
            first,
        };
        let stale = std::mem::replace(&mut self.stale, Stale::All);
        match &stale {
            Stale::None => {}
            Stale::All => work(self, triangles, from(0))?,
            Stale::Some(list, flags, first) => {
                let listed = SelectedBuffers {
                    list,
                    flags,
                    first: 0,
                };
                work(self, list.len() as u32, listed)?;
                work(self, triangles - first, from(*first))?;
            }
        }
        self.stale = stale;
        Ok(())
    }

    /// The triangles that the round overwrites, if they are to be kept.
    fn save(
        &self,
        on: &Device,
        history: bool,
        flags: &Buffer<Bits<HalfEdge>>,
    ) -> crate::Result<Option<Saved>> {
        match history {
            true => on.stage("save for coarsening", || {
                Saved::new(on, self, flags).map(Some)
            }),
            false => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec2;

    use super::*;
    use crate::mesh::{Segment, Triangulation};

    #[test]
    fn a_mesh_goes_back_to_the_input_with_its_segments() {
        let on = Device::cpu(Some(1)).unwrap();
        let mut mesh = crate::generate::random(&on, 50, 1).unwrap();
        // In another order than the edges', and in both directions.
        let triangles = mesh.triangles.iter().rev();
        let ends = triangles.step_by(5).map(|&[a, b, _]| [b, a]);
        mesh.segments = ends.map(|ends| Segment { ends, marker: 7 }).collect();
        let options = Options {
            rounds: 2,
            history: true,
            ..Options::default()
        };
        let mut resident = DeviceEdgeMesh::<DVec2>::upload(&on, &mesh).unwrap();
        assert_eq!(refine(&on, &mut resident, &options).unwrap(), End::Rounds);
        assert!(resident.level().triangles as usize > mesh.triangles.len());
        resident.coarsen(&on, 0).unwrap();
        assert_eq!(resident.triangulation(&on, None).unwrap(), mesh);
    }

    #[test]
    fn an_edge_that_is_several_segments_keeps_all_of_them() {
        let on = Device::cpu(Some(1)).unwrap();
        let segment = |(ends, marker)| Segment { ends, marker };
        let segments = [
            ([0, 1], 6),
            ([1, 0], 5),
            ([0, 2], 7),
            ([2, 0], 7),
            ([2, 3], 5),
        ];
        let mesh = Triangulation {
            points: [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
                .map(DVec2::from)
                .to_vec(),
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            segments: segments.map(segment).to_vec(),
            ..Triangulation::default()
        };
        let mut fine = DeviceEdgeMesh::<DVec2>::upload(&on, &mesh).unwrap();
        refine(&on, &mut fine, &Options::default()).unwrap();
        let fine = fine.triangulation(&on, None).unwrap();
        assert_eq!(fine.points[4], DVec2::splat(0.5));
        let mut found: Vec<([u32; 2], i32)> = (fine.segments.iter())
            .map(|s| {
                (
                    [s.ends[0].min(s.ends[1]), s.ends[0].max(s.ends[1])],
                    s.marker,
                )
            })
            .collect();
        found.sort_unstable();
        let expected = [
            ([0, 1], 5),
            ([0, 1], 6),
            ([0, 4], 7),
            ([0, 4], 7),
            ([2, 3], 5),
            ([2, 4], 7),
            ([2, 4], 7),
        ];
        assert_eq!(found, expected);
        let of_first: Vec<i32> = fine.segments.iter().map(|s| s.marker).take(2).collect();
        assert_eq!(of_first, [6, 5], "in the order of the input");
    }

    #[test]
    fn lists_of_another_length_are_refused() {
        let on = Device::cpu(Some(1)).unwrap();
        let mesh = crate::generate::random(&on, 50, 1).unwrap();
        let resident = DeviceEdgeMesh::<DVec2>::upload(&on, &mesh).unwrap();
        let error = resident.triangulation(&on, Some(&[1, 2])).unwrap_err();
        assert!(matches!(error, Error::Length { given: 2, .. }), "{error}");
        let mut field = on.upload(&[1.0]).unwrap();
        let error = resident.interpolate(&on, &mut field).unwrap_err();
        assert!(matches!(error, Error::Length { given: 1, .. }), "{error}");
    }
}
