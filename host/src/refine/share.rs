//! A round that several processes make together, each on a part of the mesh: the share of one of them.
//!
//! A process holds the triangles that it *owns* and all that touch a vertex of those, the *ghosts*, numbered in the
//! order of the whole mesh; so are the vertices and the edges. So its local ids compare as the ids of the whole mesh
//! do, every tie falls as it does there, and the new elements of a part stand in the order that they have among all.
//!
//! The first part, of the input, is made on the device ([`EdgeShare::of_triangulation`]): edges are numbered there in
//! the order of the half-edges that own them, as in the whole mesh. Between rounds the part stays there
//! ([`DividedShare::next`]): the parts of ghosts are the next ghosts. Where a ghost's neighbour is missing the order of
//! edges may differ, and with it the longest edge of the ghost: its owner gives that ([`EdgeShare::set_longest`]).
//!
//! | stage | right for | then |
//! | --- | --- | --- |
//! | longest edges | every triangle of the part, if its edges' ids are known; else owned ones | else their owners give those of the ghosts |
//! | marks, propagation ([`EdgeShare::mark`]) | walks within the part | processes tell each other the edges that they divide, and walk on ([`EdgeShare::follow`]), until nobody has a new one |
//! | templates ([`EdgeShare::divide`]) | owned triangles: those beside all of their edges are in the part | the new elements get their ids in the whole mesh |
//!
//! Where the ghosts end, the owner of an edge may be missing. The only triangle at such an edge owns it in the part,
//! against its direction in the whole mesh: that shows in pieces of ghosts alone, which are the other processes'.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use bytemuck::Pod;
use gpu::ids::{Edge, HalfEdge, Side, Triangle, Vertex};
use gpu::refine::propagate_divisions::follow_marked_triangles;
use gpu::weld::gather_regions;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, NONE, words};
use trioxide_mesh::parallel;

use super::edges::{DeviceEdgeMesh, MOST_EDGES, Stale};
use super::error::{Error, Result};
use super::mark::Marked;
use super::propagate::{DividedEdges, DividedSides};
use crate::collective::{Counted, mark_more_ids};
use crate::device::Device;
use crate::half_edges::{AnyPoint, DeviceTriangulation};
use crate::marking::{CheckedMarking, ShareNames};

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

/// The part after the round: the triangles of before, each with its first piece, and then the others in the order of
/// the whole mesh.
#[derive(Clone, Debug, Default)]
pub struct SharePieces<P> {
    /// Coordinates, new vertices' last.
    pub points: Vec<P>,
    /// Vertices of the triangles, three each.
    pub corners: Vec<u32>,
    /// Side of each half-edge, if they were asked for.
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
    pub fn download(&self, on: &Device, with_sides: bool) -> crate::Result<SharePieces<P>> {
        pieces(on, &self.mesh, with_sides)
    }

    /// Of the last `count` new vertices the edge that each divides, and the start and the end of that.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Panics
    /// When there are fewer.
    pub fn origins(&self, on: &Device, count: usize) -> crate::Result<Vec<(u32, [u32; 2])>> {
        let edges: Vec<u32> = on.download_rows(&self.mesh.divided)?;
        let ends: Vec<[u32; 2]> = on.download_rows(&self.mesh.origins)?;
        let first = edges.len() - count;
        Ok(parallel::collect(count, |i| {
            (edges[first + i], ends[first + i])
        }))
    }

    /// The part before the next round, with the longest edges by local ids: the owners of ghosts give those of these
    /// ([`EdgeShare::set_longest`]).
    ///
    /// # Errors
    /// Errors of the device.
    pub fn next(self, on: &Device) -> crate::Result<EdgeShare<P>> {
        EdgeShare::of_mesh(on, self.mesh)
    }
}

fn pieces<P: AnyPoint>(
    on: &Device,
    mesh: &DeviceEdgeMesh<P>,
    with_sides: bool,
) -> crate::Result<SharePieces<P>> {
    on.stage("copy to the host", || {
        Ok(SharePieces {
            points: on.download(&mesh.points)?,
            corners: on.download_rows(&mesh.corners)?,
            sides: match with_sides {
                true => on.download_rows(&mesh.sides)?,
                false => Vec::new(),
            },
            tags: on.download(&mesh.tags)?,
        })
    })
}

/// A part on a device, while a round goes on.
pub struct EdgeShare<P> {
    mesh: DeviceEdgeMesh<P>,
    divided: Buffer<Bits<Edge>>,
    /// Divided sides, when they are counted.
    sides: Option<DividedSides>,
}

/// Divided sides of a part, a bit for each half-edge, 32 to a word.
#[derive(Clone, Debug, Default)]
pub struct ShareSides {
    /// The divided ones.
    pub divided: Vec<u32>,
    /// Those of them that own their edge in the part.
    pub owned: Vec<u32>,
}

impl<P: AnyPoint> EdgeShare<P> {
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
        let mesh = on.stage("copy to the device", || {
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
        Ok(Self::of_mesh(on, mesh)?)
    }

    /// A part that is on the device; finds the longest edges.
    fn of_mesh(on: &Device, mut mesh: DeviceEdgeMesh<P>) -> crate::Result<Self> {
        mesh.label(on)?;
        let divided = on.filled(words(mesh.level().edges as usize), Bits::EMPTY)?;
        Ok(Self {
            mesh,
            divided,
            sides: None,
        })
    }

    /// The part as it is, in host memory.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn download(&self, on: &Device, with_sides: bool) -> crate::Result<SharePieces<P>> {
        pieces(on, &self.mesh, with_sides)
    }

    /// The part of an input that is on the device, and whether each half-edge owns its edge there: a bit each, 32 to a
    /// word. Edges are numbered in the order of the half-edges that own them, the smaller of each two.
    ///
    /// # Errors
    /// [`Error::TooManyEdges`]; errors of the device.
    pub fn of_triangulation(on: &Device, mesh: DeviceTriangulation<P>) -> Result<(Self, Vec<u32>)> {
        let (mesh, owners) = DeviceEdgeMesh::build_with_owners(on, mesh)?;
        Ok((Self::of_mesh(on, mesh)?, on.download_rows(&owners)?))
    }

    /// Longest side of each triangle, 0 to 2.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn longest(&self, on: &Device) -> crate::Result<Vec<u8>> {
        on.download(&self.mesh.longest)
    }

    /// Replaces the longest side of each triangle, before the marks: edges that were divided by others are not.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] unless each triangle has a side, 0 to 2; errors of the device.
    pub fn set_longest(&mut self, on: &Device, longest: &[u8]) -> crate::Result<()> {
        let triangles = self.mesh.longest.len();
        if longest.len() != triangles {
            return Err(crate::Error::Invalid {
                element: "the list of longest sides".to_owned(),
                rule: format!(
                    "has {} entries; the part has {triangles} triangles",
                    longest.len()
                ),
            });
        }
        if let Some(t) = parallel::find(triangles, |t| longest[t] > 2) {
            return Err(crate::Error::Invalid {
                element: format!("triangle {t}"),
                rule: format!("has sides 0 to 2, not {}", longest[t]),
            });
        }
        self.mesh.longest = on.upload(longest)?;
        // `divide` relies on divisions that have spread along the longest edges, so other longest edges undo them.
        self.divided = on.filled(words(self.edges()), Bits::EMPTY)?;
        self.sides = None;
        Ok(())
    }

    /// Tags each edge.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Panics
    /// When there is not a tag for each edge.
    pub fn set_tags(&mut self, on: &Device, tags: &[u32]) -> crate::Result<()> {
        assert_eq!(tags.len(), self.mesh.level().edges as usize, "a tag each");
        self.mesh.tags = on.upload(tags)?;
        Ok(())
    }

    /// Edges of the part.
    pub fn edges(&self) -> usize {
        self.mesh.level().edges as usize
    }

    /// Sides of some half-edges: 2e along edge e, 2e + 1 against it.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Panics
    /// When a half-edge is out of range.
    pub fn sides_of(&mut self, on: &Device, half_edges: &[u32]) -> crate::Result<Vec<u32>> {
        gather(on, &mut self.mesh.sides, half_edges)
    }

    /// Marks triangles, and divides edges as far as they lead within the part: whether any triangle is marked.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn mark(
        &mut self,
        on: &Device,
        marking: &CheckedMarking<Triangle>,
        names: &ShareNames,
    ) -> crate::Result<bool> {
        self.sides = None;
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

    /// Divides `edges` too, which other processes divide, and walks on from them.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] for an edge that the part does not have; errors of the device.
    ///
    /// # Panics
    /// When the edges were [counted](EdgeShare::count) before.
    pub fn follow(&mut self, on: &Device, edges: &[u32]) -> crate::Result<()> {
        assert!(self.sides.is_none(), "edges are divided before the count");
        let count = self.edges();
        if let Some(&edge) = edges.iter().find(|&&edge| edge as usize >= count) {
            return Err(crate::Error::Invalid {
                element: format!("divided edge {edge}"),
                rule: format!("is not among the {count} edges of the part"),
            });
        }
        let sides: Vec<u32> = edges.iter().flat_map(|&e| [2 * e, 2 * e + 1]).collect();
        let halves = gather(on, &mut self.mesh.halves, &sides)?.into_iter();
        let triangles: Vec<u32> = halves.filter(|&h| h != NONE).map(|h| h / 3).collect();
        on.stage("propagate divisions", || {
            let edges = on.upload(edges)?;
            let wrong = mark_more_ids(on, &edges, count, &mut self.divided)?;
            assert_eq!(wrong, None, "edges of the part");
            let list: Buffer<Triangle> = on.upload(bytemuck::cast_slice(&triangles))?;
            let n = triangles.len() as u32;
            let forest = self.mesh.forest();
            follow_marked_triangles::launch(on, n, &list, forest, &mut self.divided)?;
            Ok(())
        })
    }

    /// The divided sides. No edge is divided after this.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Panics
    /// When the edges were counted before.
    pub fn count(&mut self, on: &Device) -> crate::Result<ShareSides> {
        if self.mesh.level().triangles == 0 {
            return Ok(ShareSides::default());
        }
        assert!(self.sides.is_none(), "edges are counted once");
        let divided = std::mem::replace(&mut self.divided, on.uninitialized(0)?);
        let sides = self.mesh.count(on, &DividedEdges::Many(divided))?;
        let of_host = ShareSides {
            divided: on.download_rows(&sides.flags)?,
            owned: on.download_rows(&sides.owned)?,
        };
        self.sides = Some(sides);
        Ok(of_host)
    }

    /// Divides the edges that were [counted](EdgeShare::count), and the triangles beside them.
    ///
    /// # Errors
    /// [`Error::TooManyEdges`]; errors of the device.
    pub fn divide(mut self, on: &Device) -> Result<DividedShare<P>> {
        let level = self.mesh.level();
        let mut degenerate = Triangle::NONE;
        if let Some(sides) = self.sides {
            let after = sides.after(level);
            self.mesh.divide(on, &sides, after)?;
            self.mesh.levels.push(after);
            self.mesh.stale = Stale::All;
            self.mesh.is_linked = false;
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

/// Some words of an array on the device.
pub(crate) fn gather<T: Pod>(
    on: &Device,
    words: &mut Buffer<T>,
    places: &[u32],
) -> crate::Result<Vec<u32>> {
    let n = words.len();
    assert!(places.iter().all(|&i| (i as usize) < n), "places of words");
    let list: Buffer<Triangle> = on.upload(bytemuck::cast_slice(places))?;
    gather_members(on, words, list)
}

/// As [`gather`], with the places on the device.
pub(crate) fn gather_members<T: Pod, I: Pod>(
    on: &Device,
    words: &mut Buffer<T>,
    places: Buffer<I>,
) -> crate::Result<Vec<u32>> {
    // An empty list stands for all.
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let list = places.cast();
    let mut gathered = on.uninitialized(list.len())?;
    let all = std::mem::replace(words, on.uninitialized(0)?).cast();
    let done = gather_regions::launch(on, list.len() as u32, &list, &all, &mut gathered);
    *words = all.cast();
    done?;
    on.download_rows(&gathered)
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
