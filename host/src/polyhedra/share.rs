//! Polyhedra that several processes make together, each of a part of the mesh: the share of one of them.
//!
//! A process holds the tetrahedra that it *owns* and all across their faces, the *ghosts*. Tetrahedra and vertices are
//! numbered in the order of the whole mesh, so faces compare as they do there.
//!
//! | stage | right for | then |
//! | --- | --- | --- |
//! | largest faces ([`largest_faces`]) | owned tetrahedra, whose sides have their twins here | owners give those of the ghosts |
//! | frontier faces, links, walks ([`LabelShare::new`]) | owned tetrahedra: a walk ends at a root, or at the first ghost | processes ask each other where the walks of ghosts end ([`LabelShare::ends_of`]) |
//! | taking trees ([`LabelShare::take`]) | regions of several processes | their tetrahedra go to the owner of the root |
//! | all that follows ([`LabelShare::polyhedra`], [`of_taken`]) | regions, each in one piece | |
//!
//! After the links every stage looks at one region alone: a barrier face has the same region on both sides; the
//! tetrahedra around its tip, and the cuts of the repair and of the option `strict`, are of its tree. So a process that
//! has all tetrahedra of a region, in their order, makes the same polyhedra of it as a single run. Ghosts and
//! tetrahedra that went away are *set apart*: each is a tree of one tetrahedron, which the stages work on as on any
//! other, and whose polyhedron does not count.

use gpu::ids::{FaceSide, Tet};
use gpu::polyhedra::{Link, kernels as kernel};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{NONE, words};
use trioxide_mesh::parallel;

use super::forest::{Cells, find_deep_roots};
use super::{DevicePolyhedra, Measure, Options};
use super::{constraints, label_frontier, label_largest, of_trees};
use crate::Result;
use crate::collective::{compact, mark_ids};
use crate::device::{BitSet, Device};
use crate::refine::gather;
use crate::refine_tets::{DeviceTets, SpacePoint};
use crate::tet_faces::{Broken, DeviceFaces, ListId};

/// The labels of a part on a device, over its tetrahedra and faces.
pub struct LabelShare {
    /// The tetrahedra.
    list: ListId,
    frontier: BitSet<FaceSide>,
    links: Buffer<Link>,
    /// Where each walk ends.
    ends: Buffer<Link>,
    /// The tetrahedra that are trees of their own and do not count, ascending.
    apart: Vec<u32>,
}

/// A tetrahedron that went away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Its local id.
    pub tetrahedron: u32,
    /// Where its walk ends.
    pub end: u32,
    /// Its labels, for [`of_taken`]: the place of its chosen face, in two bits; a bit for a root; four bits of frontier
    /// faces.
    pub labels: u32,
}

const IS_ROOT: u32 = 1 << 2;
const FRONTIER: u32 = 3;

/// The largest face of each tetrahedron of a part: four bits each, 32 to a word. One of the four is set.
///
/// # Errors
/// Errors of the device.
pub fn largest_faces<P: SpacePoint>(
    on: &Device,
    mesh: &DeviceTets<P>,
    faces: &DeviceFaces,
    by: Measure,
) -> Result<Vec<u32>> {
    on.download_rows(&label_largest(on, mesh, faces, by)?)
}

/// How many faces of some tetrahedra are at the boundary.
///
/// # Errors
/// Errors of the device.
///
/// # Panics
/// When a tetrahedron is out of range.
pub fn boundary_faces_of(on: &Device, faces: &mut DeviceFaces, tetrahedra: &[u32]) -> Result<u64> {
    let sides: Vec<u32> = tetrahedra.iter().flat_map(|&t| 4 * t..4 * t + 4).collect();
    let twins = gather(on, faces.twins_mut(), &sides)?;
    Ok(parallel::count(twins.len(), |i| twins[i] == NONE) as u64)
}

impl LabelShare {
    /// Labels a part by its [`largest_faces`], where the `ghosts`, ascending, have those of their owners; `options` as
    /// in the whole run.
    ///
    /// # Errors
    /// [`crate::Error::Argument`] for faces of other tetrahedra; errors of the device.
    ///
    /// # Panics
    /// When there are not four bits for each tetrahedron, or a ghost is out of range.
    ///
    /// # Safety
    /// `largest` has the [`largest_faces`] of all tetrahedra; for ghosts, as their owners found them. Then walks end,
    /// and a tree of n tetrahedra has 2n + 2 sides.
    pub unsafe fn new<P: SpacePoint>(
        on: &Device,
        mesh: &DeviceTets<P>,
        faces: &DeviceFaces,
        largest: &[u32],
        ghosts: Vec<u32>,
        options: Options,
    ) -> Result<Self> {
        let cells = Cells::of(mesh, faces)?;
        assert_eq!(
            largest.len(),
            words(cells.twins.len()),
            "a bit for each side"
        );
        let constrained = constraints(on, mesh, faces, options)?;
        let largest = on.upload(largest)?.cast();
        let (mut frontier, mut links) = label_frontier(on, faces, &largest, &constrained)?;
        let ends = on.stage("find roots", || {
            set_apart(on, &ghosts, &mut frontier, &mut links)?;
            find_deep_roots(on, &links)
        })?;
        Ok(Self {
            list: cells.list,
            frontier,
            links,
            ends,
            apart: ghosts,
        })
    }

    /// The parents of some tetrahedra; a root is its own.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Panics
    /// When a tetrahedron is out of range.
    pub fn parents_of(&mut self, on: &Device, tetrahedra: &[u32]) -> Result<Vec<u32>> {
        let links = gather(on, &mut self.links, tetrahedra)?;
        Ok(places(&links))
    }

    /// Where the walks of some tetrahedra end: at roots, or at ghosts.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Panics
    /// When a tetrahedron is out of range.
    pub fn ends_of(&mut self, on: &Device, tetrahedra: &[u32]) -> Result<Vec<u32>> {
        let links = gather(on, &mut self.ends, tetrahedra)?;
        Ok(places(&links))
    }

    /// Takes away the owned tetrahedra whose walks end at one of `ends`: all of them, ascending, with their labels.
    /// Once.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Panics
    /// When an end is out of range.
    pub fn take(&mut self, on: &Device, ends: &[u32]) -> Result<Vec<Taken>> {
        if ends.is_empty() {
            return Ok(Vec::new());
        }
        on.stage("take trees", || {
            let n = self.links.len();
            let (ends, wrong) = mark_ids::<Tet>(on, &on.upload(ends)?, n)?;
            assert_eq!(wrong, None, "ends are tetrahedra");
            let mut found: BitSet<Tet> = on.uninitialized(words(n))?;
            kernel::find_taken::launch(on, n as u32, &self.ends, &ends, &mut found)?;
            let mut tetrahedra: Vec<u32> = on.download_rows(&compact(on, &found)?)?;
            tetrahedra.retain(|t| self.apart.binary_search(t).is_err());
            let octets = parallel::map(&tetrahedra, |&t| t / 8);
            let links = gather(on, &mut self.links, &tetrahedra)?;
            let frontier = gather(on, &mut self.frontier, &octets)?;
            let ends = self.ends_of(on, &tetrahedra)?;
            set_apart(on, &tetrahedra, &mut self.frontier, &mut self.links)?;
            let taken = parallel::collect(tetrahedra.len(), |i| {
                let (t, link) = (tetrahedra[i], Link::new(links[i]));
                let is_root = link.parent().index() == t;
                let sides = frontier[i] >> (4 * (t % 8)) & 15;
                Taken {
                    tetrahedron: t,
                    end: ends[i],
                    labels: link.place() | if is_root { IS_ROOT } else { 0 } | sides << FRONTIER,
                }
            });
            self.apart.extend(&tetrahedra);
            self.apart.sort_unstable();
            Ok(taken)
        })
    }

    /// Makes the polyhedra of the part, whose `mesh` and `faces` these are. Each tetrahedron that is set apart becomes
    /// a polyhedron alone, which the counts leave out. Returns the local ids of the tetrahedra set apart too, in
    /// ascending order.
    ///
    /// # Errors
    /// [`crate::Error::Argument`] for faces of other tetrahedra; errors of the device.
    ///
    /// # Panics
    /// When they are not those of [`LabelShare::new`].
    pub fn polyhedra<P: SpacePoint>(
        self,
        on: &Device,
        mesh: &DeviceTets<P>,
        faces: &DeviceFaces,
        options: Options,
    ) -> Result<(DevicePolyhedra, Vec<u32>)> {
        let cells = Cells::of(mesh, faces)?;
        assert_eq!(cells.list, self.list, "the mesh");
        drop(self.ends);
        let result = of_trees(on, cells, (self.frontier, self.links), options)?;
        Ok((result, self.apart))
    }
}

/// Polyhedra of a share in host memory, in ascending order of their roots: P of them, by local ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharePolyhedra {
    /// Root of each.
    pub roots: Vec<u32>,
    /// Start of each one's tetrahedra, and the end of the last; P + 1.
    pub tet_offsets: Vec<u32>,
    /// Tetrahedra, ascending for each polyhedron.
    pub tets: Vec<u32>,
    /// Sides of the surface, ascending for each polyhedron: 2n + 2 for n tetrahedra.
    pub sides: Vec<u32>,
}

impl DevicePolyhedra {
    /// The polyhedra in host memory, but for those of tetrahedra that are set `apart`, ascending.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn download_share(&self, on: &Device, apart: &[u32]) -> Result<SharePolyhedra> {
        on.stage("copy to the host", || {
            let roots: Vec<u32> = on.download_rows(&compact(on, &self.is_root)?)?;
            let offsets = on.download(self.tets.offsets())?;
            let tets: Vec<u32> = on.download_rows(self.tets.items())?;
            let sides: Vec<u32> = on.download_rows(&self.sides)?;
            if apart.is_empty() {
                return Ok(SharePolyhedra {
                    roots,
                    tet_offsets: offsets,
                    tets,
                    sides,
                });
            }
            let counts = |p: &usize| apart.binary_search(&roots[*p]).is_err();
            let kept = parallel::filter_collect(roots.len(), |p| counts(&p).then_some(p));
            let mut tet_offsets = vec![0];
            for &p in &kept {
                let before = tet_offsets[tet_offsets.len() - 1];
                tet_offsets.push(before + offsets[p + 1] - offsets[p]);
            }
            // Polyhedra whose places follow each other are copied together.
            let runs: Vec<_> = kept.chunk_by(|a, b| a + 1 == *b).collect();
            let of_runs = |list: &[u32], start: &dyn Fn(usize) -> usize| {
                let mut all = Vec::with_capacity(list.len());
                for run in &runs {
                    all.extend_from_slice(&list[start(run[0])..start(run[run.len() - 1] + 1)]);
                }
                all
            };
            let start = |p: usize| offsets[p] as usize;
            Ok(SharePolyhedra {
                roots: parallel::map(&kept, |&p| roots[p]),
                tet_offsets,
                tets: of_runs(&tets, &start),
                sides: of_runs(&sides, &|p| 2 * start(p) + 2 * p),
            })
        })
    }
}

/// The tetrahedra that links lead to.
fn places(links: &[u32]) -> Vec<u32> {
    parallel::map(links, |&link| Link::new(link).parent().index())
}

/// Makes each of these tetrahedra a tree of its own.
fn set_apart(
    on: &Device,
    tetrahedra: &[u32],
    frontier: &mut BitSet<FaceSide>,
    links: &mut Buffer<Link>,
) -> Result<()> {
    let n = links.len();
    assert!(tetrahedra.iter().all(|&t| (t as usize) < n), "tetrahedra");
    let list: Buffer<Tet> = on.upload(bytemuck::cast_slice(tetrahedra))?;
    kernel::set_apart::launch(on, list.len() as u32, &list, frontier, links)?;
    Ok(())
}

/// The polyhedra of whole regions, whose T tetrahedra were [taken](LabelShare::take), in ascending order of their ids:
/// `corners` has four of `vertices` vertices for each, which ascend with theirs; `labels` are those of [`Taken`].
///
/// # Errors
/// [`crate::Error::Invalid`] for faces of no mesh; errors of the device.
///
/// # Panics
/// When vertices are out of range, or a tetrahedron's parent is missing.
///
/// # Safety
/// The labels are those of [`LabelShare::take`], of the tetrahedra with these corners, and each region is whole.
pub unsafe fn of_taken(
    on: &Device,
    vertices: usize,
    corners: &[u32],
    labels: &[u32],
    options: Options,
) -> Result<DevicePolyhedra> {
    assert_eq!(corners.len(), 4 * labels.len(), "four vertices each");
    let is_vertex = |&v: &u32| (v as usize) < vertices;
    assert!(parallel::all(corners, is_vertex), "vertices");
    let (list, tetrahedra) = (ListId::unique(), on.upload(bytemuck::cast_slice(corners))?);
    let none = on.uninitialized(0)?;
    let faces = on.stage("match faces", || {
        DeviceFaces::build(on, list, vertices, &tetrahedra, &none)
    })?;
    let faces = faces.map_err(Broken::into_error)?;
    let twins: Vec<u32> = on.download_rows(faces.twins())?;
    let links = parallel::collect(labels.len(), |t| {
        let place = labels[t] % 4;
        let behind = FaceSide::new(twins[4 * t + place as usize]);
        let parent = match labels[t] & IS_ROOT {
            0 => behind.tet(),
            _ => Tet::new(t as u32),
        };
        assert!(parent.index() < labels.len() as u32, "a parent");
        Link::to(parent, place).index()
    });
    let frontier = parallel::collect(words(4 * labels.len()), |word| {
        let octet = labels[8 * word..].iter().take(8).rev();
        octet.fold(0, |sides, label| sides << 4 | label >> FRONTIER & 15)
    });
    let links = on.upload(bytemuck::cast_slice(&links))?;
    let frontier = on.upload(bytemuck::cast_slice(&frontier))?;
    let cells = Cells {
        list,
        tetrahedra: &tetrahedra,
        twins: faces.twins(),
    };
    of_trees(on, cells, (frontier, links), options)
}
