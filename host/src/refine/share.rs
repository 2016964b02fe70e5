//! A round that several processes make together, each on a part of the mesh: the share of one of them.
//!
//! A process holds the triangles that it *owns* and all that touch a vertex of those, the *ghosts*, numbered in the order of the whole
//! mesh; so are the vertices and the edges. So its local ids compare as the ids of the whole mesh do, every tie falls as it does there,
//! and the new elements of a part stand in the order that they have among all.
//!
//! | stage | right for | then |
//! | --- | --- | --- |
//! | longest edges | every triangle of the part: its edges' ids are known | |
//! | marks, propagation ([`Share::mark`]) | walks within the part | processes tell each other the edges that they divide, and walk on ([`Share::follow`]), until nobody has a new one |
//! | templates ([`Share::divide`]) | owned triangles: those beside all of their edges are in the part | the new elements get their ids in the whole mesh |
//!
//! Where the ghosts end, the owner of an edge may be missing. The only triangle at such an edge owns it in the part, against its direction
//! in the whole mesh: that shows in pieces of ghosts alone, which are the other processes'.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use gpu::ids::{Edge, HalfEdge, Side, Triangle, Vertex};
use gpu::refine::propagate_divisions::follow_marked_triangles;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, NONE, words};
use trioxide_mesh::parallel;

use super::edges::{DeviceEdgeMesh, MOST_EDGES, Stale};
use super::error::{Error, Result};
use super::mark::{Marked, Marking};
use super::propagate::DividedEdges;
use crate::backend::Device;
use crate::collective::Counted;
use crate::half_edges::AnyPoint;

/// A part of a mesh: V vertices, E edges, T triangles by local ids, which ascend with the ids of the whole mesh.
#[derive(Clone, Copy, Debug)]
pub struct SharePart<'a, P> {
    /// Coordinates; V.
    pub points: &'a [P],
    /// Vertices of the triangles; 3T.
    pub corners: &'a [u32],
    /// Side of each half-edge: 2e along edge e, 2e + 1 against it; each edge has one along it; 3T.
    pub sides: &'a [u32],
    /// Number of edges.
    pub edges: usize,
    /// Tag of each edge, or none; E or 0.
    pub tags: &'a [u32],
}

/// Names of a part's triangles in the whole mesh, by which some markings go.
#[derive(Clone, Copy, Debug)]
pub struct ShareNames<'a> {
    /// Id of each triangle.
    pub ids: &'a [u64],
    /// Triangle of the input that each is a part of.
    pub ancestors: &'a [u64],
    /// Rounds before this one.
    pub round: usize,
}

/// The part after the round: the triangles of before, each with its first piece, and then the others in the order of the whole mesh.
#[derive(Clone, Debug, Default)]
pub struct SharePieces<P> {
    /// Coordinates, new vertices' last.
    pub points: Vec<P>,
    /// Vertices of the triangles, three each.
    pub corners: Vec<u32>,
    /// Side of each half-edge.
    pub sides: Vec<u32>,
    /// Tag of each edge, or none.
    pub tags: Vec<u32>,
}

/// A part on a device, after the round.
pub struct DividedShare<P> {
    mesh: DeviceEdgeMesh<P>,
    /// The first triangle that came out degenerate.
    pub degenerate: Option<u32>,
}

impl<P: AnyPoint> DividedShare<P> {
    /// The pieces, in host memory.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn download(self, on: &Device) -> crate::Result<SharePieces<P>> {
        let mesh = self.mesh;
        on.stage("copy to the host", || {
            Ok(SharePieces {
                points: on.download(&mesh.points)?,
                corners: on.download_rows(&mesh.corners)?,
                sides: on.download_rows(&mesh.sides)?,
                tags: on.download(&mesh.tags)?,
            })
        })
    }
}

/// A part on a device, while a round goes on.
pub struct Share<P> {
    mesh: DeviceEdgeMesh<P>,
    /// Half-edge of each side, or `NONE`.
    halves: Vec<u32>,
    divided: Buffer<Bits<Edge>>,
}

impl<P: AnyPoint> Share<P> {
    /// Copies a part to the device, and finds the longest edges.
    ///
    /// # Errors
    /// [`Error::TooManyEdges`]; errors of the device.
    ///
    /// # Panics
    /// When an id is out of range, a side is there twice, or an edge has no owner.
    pub fn upload(on: &Device, part: &SharePart<P>) -> Result<Self> {
        if part.edges > MOST_EDGES {
            return Err(Error::TooManyEdges {
                edges: part.edges,
                most: MOST_EDGES,
            });
        }
        on.require(DeviceEdgeMesh::<P>::bytes_needed(
            part.points.len(),
            part.corners.len() / 3,
        ))?;
        let halves = find_halves(part);
        let mut mesh = on.stage("copy to the device", || {
            let corners: &[Vertex] = bytemuck::cast_slice(part.corners);
            let sides: &[Side] = bytemuck::cast_slice(part.sides);
            let on_device: &[HalfEdge] = bytemuck::cast_slice(&halves);
            let mut mesh = DeviceEdgeMesh::new(
                on,
                on.upload(part.points)?,
                on.upload(corners)?,
                on.upload(sides)?,
                on.upload(on_device)?,
            )?;
            mesh.tags = on.upload(part.tags)?;
            Ok(mesh)
        })?;
        mesh.label(on)?;
        Ok(Self {
            mesh,
            halves,
            divided: on.filled(words(part.edges), Bits::EMPTY)?,
        })
    }

    /// Marks triangles, and divides edges as far as they lead within the part: whether any triangle is marked.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn mark(
        &mut self,
        on: &Device,
        marking: &Marking,
        names: &ShareNames,
    ) -> crate::Result<bool> {
        if self.mesh.level().triangles == 0 {
            return Ok(false);
        }
        let marked = on.stage("mark triangles", || {
            marking.mark_share(on, &self.mesh, names)
        })?;
        self.divided = match marked {
            Marked::All => self.mesh.divided_by(on, &on.uninitialized(0)?)?.0,
            Marked::Some(marked) => {
                let count = on.stage("mark divided edges", || Counted::new(on, &marked))?;
                if count.total() == 0 {
                    return Ok(false);
                }
                self.mesh.propagate_from_many(on, &marked)?
            }
        };
        Ok(true)
    }

    /// The edges to divide, a bit each, 32 to a word.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn divided(&self, on: &Device) -> crate::Result<Vec<u32>> {
        on.download_rows(&self.divided)
    }

    /// Walks on from `edges`, which other processes divide: they are set in `divided`, which are all edges to divide so far.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Panics
    /// When there is not a bit for each edge, or an edge is out of range.
    pub fn follow(&mut self, on: &Device, divided: &[u32], edges: &[u32]) -> crate::Result<()> {
        assert_eq!(divided.len(), self.divided.len(), "a bit for each edge");
        let beside = |&e: &u32| [self.halves[2 * e as usize], self.halves[2 * e as usize + 1]];
        let half_edges = edges.iter().flat_map(beside).filter(|&h| h != NONE);
        let triangles: Vec<u32> = half_edges.map(|h| h / 3).collect();
        on.stage("propagate divisions", || {
            self.divided = on.upload(bytemuck::cast_slice(divided))?;
            let list: Buffer<Triangle> = on.upload(bytemuck::cast_slice(&triangles))?;
            let n = triangles.len() as u32;
            let forest = self.mesh.forest();
            // SAFETY: the list has triangles of the mesh; sides lead to its edges and half-edges.
            unsafe { follow_marked_triangles::launch(on, n, &list, forest, &mut self.divided) }?;
            Ok(())
        })
    }

    /// Divides the edges, and the triangles beside them. The longest edge of each triangle with a divided edge must be divided.
    ///
    /// # Errors
    /// [`Error::TooManyEdges`]; errors of the device.
    pub fn divide(mut self, on: &Device) -> Result<DividedShare<P>> {
        let level = self.mesh.level();
        let mut degenerate = Triangle::NONE;
        if level.triangles > 0 {
            let divided = DividedEdges::Many(self.divided);
            let sides = self.mesh.count(on, &divided)?;
            let after = sides.after(level);
            self.mesh.divide(on, &sides, after)?;
            self.mesh.levels.push(after);
            self.mesh.stale = Stale::All;
            let mut found = on.filled(1, Triangle::NONE)?;
            self.mesh.check_stale(on, &mut found)?;
            degenerate = on.read(&found, 0)?;
        }
        Ok(DividedShare {
            mesh: self.mesh,
            degenerate: degenerate.is_some().then(|| degenerate.index()),
        })
    }
}

/// Half-edge of each side, or `NONE`; checks the part.
fn find_halves<P: Sync>(part: &SharePart<P>) -> Vec<u32> {
    assert_eq!(part.corners.len() % 3, 0, "three corners a triangle");
    assert_eq!(part.corners.len(), part.sides.len(), "a side for each");
    assert!(
        part.tags.is_empty() || part.tags.len() == part.edges,
        "a tag for each edge"
    );
    let is_vertex = |&v: &u32| (v as usize) < part.points.len();
    assert!(
        parallel::all(part.corners, is_vertex),
        "corners are vertices"
    );
    let halves = parallel::collect(2 * part.edges, |_| AtomicU32::new(NONE));
    parallel::for_each(part.sides.len(), |h| {
        let side = part.sides[h];
        let other = halves[side as usize].swap(h as u32, Relaxed);
        assert_eq!(other, NONE, "side {side} is there twice");
    });
    let halves = parallel::map(&halves, |half| half.load(Relaxed));
    let has_owner = |e: usize| halves[2 * e] != NONE;
    assert!(
        parallel::find(part.edges, |e| !has_owner(e)).is_none(),
        "each edge has an owner"
    );
    halves
}
