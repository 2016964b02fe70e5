//! A level that several processes make together, each on a part of the mesh: the share of one of them.
//!
//! A process holds the tetrahedra that it *owns* and all that touch a vertex of those, the *ghosts*, numbered in the
//! order of the whole mesh; so are the vertices. Edges are numbered in the order of their first uses: all uses of an
//! owned tetrahedron's edges are here, so these edges compare as in the whole mesh.
//!
//! | stage | right for | then |
//! | --- | --- | --- |
//! | marks, order of edges ([`TetShare::mark`]) | marks of every tetrahedron, orders of owned ones | owners give the orders of the ghosts ([`MarkedShare::set_orders`]) |
//! | closure ([`MarkedShare::close`]) | edges that tetrahedra of the part require | processes exchange the edges that they mark and close again ([`MarkedShare::follow`]), until no process marks a new edge |
//! | division ([`MarkedShare::divide`]) | owned tetrahedra: all tetrahedra around their edges have spoken | the new elements get their ids in the whole mesh |

use gpu::ids::{Edge, Tet};
use gpu::refine_tets::edge_set;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, words};
use trioxide_mesh::parallel;

use super::edges::Edges;
use super::level::{Children, close, divide_closed, is_few, mark_edges, order_edges, untouched};
use super::mesh::SharePart;
use super::{DeviceRefined, DeviceTets, DividedEdges, Error, Result, SpacePoint};
use crate::collective::{compact, mark_ids, mark_more_ids};
use crate::device::Device;
use crate::marking::{CheckedMarking, ShareNames};
use crate::refine::{gather, gather_members};

/// A part on a device.
pub struct TetShare<P> {
    refined: DeviceRefined<P>,
}

/// A part on a device, while a level goes on.
pub struct MarkedShare<P> {
    refined: DeviceRefined<P>,
    chosen: Buffer<Bits<Tet>>,
    edges: Edges,
    orders: Buffer<u32>,
    marked: Buffer<Bits<Edge>>,
    touched: Buffer<Bits<Tet>>,
    is_few: bool,
}

/// A part on a device, after the level.
pub struct DividedShare<P> {
    refined: DeviceRefined<P>,
    children: Children,
    /// Number of divided tetrahedra.
    pub divided: u32,
    /// Smallest use of each divided edge, ascending: 6t + k for edge k of tetrahedron t.
    pub uses: Vec<u32>,
    /// New tetrahedra.
    pub tetrahedra: u32,
    /// New tagged triangles.
    pub faces: u32,
    /// The error of the first part that breaks a rule, by its local id.
    pub broken: Option<Error>,
}

/// The divided tetrahedra of a part.
#[derive(Clone, Debug, Default)]
pub struct ShareChildren {
    /// Each of them, ascending.
    pub divided: Vec<u32>,
    /// Number of new tetrahedra before the new ones of each.
    pub slots: Vec<u32>,
}

/// A part in host memory.
#[derive(Clone, Debug, Default)]
pub struct SharePieces<P> {
    /// Coordinates.
    pub points: Vec<P>,
    /// Vertices of the tetrahedra.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Vertices of the tagged triangles.
    pub faces: Vec<[u32; 3]>,
}

impl<P: SpacePoint> TetShare<P> {
    /// Copies a part to the device and checks it; of an input its faces too, as [`DeviceTets::build`] does.
    ///
    /// # Errors
    /// As [`DeviceTets::build`], by local ids; [`Error::LooseFace`].
    pub fn upload(on: &Device, part: &SharePart<P>, is_input: bool) -> Result<Self> {
        let mesh = DeviceTets::of_part(on, part, is_input)?;
        let refined = DeviceRefined::new(on, mesh)?;
        Ok(Self { refined })
    }

    /// The part as it is, in host memory.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn download(&self, on: &Device) -> crate::Result<SharePieces<P>> {
        let mesh = &self.refined.mesh;
        on.stage("copy to the host", || {
            Ok(SharePieces {
                points: on.download(&mesh.points)?,
                tetrahedra: on.download_rows(&mesh.tetrahedra)?,
                faces: on.download_rows(&mesh.faces)?,
            })
        })
    }

    /// Marks tetrahedra, and finds the order of each one's edges.
    ///
    /// # Errors
    /// [`Error::LooseFace`]; errors of the device.
    pub fn mark(
        self,
        on: &Device,
        marking: &CheckedMarking<Tet>,
        names: &ShareNames,
    ) -> Result<MarkedShare<P>> {
        let refined = self.refined;
        let n = refined.mesh.count();
        let chosen = on.stage("mark tetrahedra", || {
            marking.mark_share(on, &refined, names)
        })?;
        let is_few = is_few(on, &chosen, n)?;
        let edges = refined.mesh.edges(on, is_few)?;
        Ok(MarkedShare {
            orders: order_edges(on, &refined.mesh, &edges)?,
            marked: on.filled(words(edges.first_uses.len()), Bits::EMPTY)?,
            touched: untouched(on, n)?,
            refined,
            chosen,
            edges,
            is_few,
        })
    }
}

impl<P: SpacePoint> MarkedShare<P> {
    /// The edges of each tetrahedron, longest first.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn orders(&self, on: &Device) -> crate::Result<Vec<u32>> {
        on.download(&self.orders)
    }

    /// Replaces the orders, before the marks are [closed](MarkedShare::close): marks that followed other orders are
    /// not.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Panics
    /// When there is not an order of all edges for each tetrahedron.
    pub fn set_orders(&mut self, on: &Device, orders: &[u32]) -> crate::Result<()> {
        assert_eq!(orders.len(), self.orders.len(), "an order each");
        assert!(parallel::all(orders, |&order| is_order(order)), "orders");
        self.orders = on.upload(orders)?;
        self.marked = on.filled(words(self.edges.first_uses.len()), Bits::EMPTY)?;
        self.touched = untouched(on, self.refined.mesh.count())?;
        Ok(())
    }

    /// Edges 01, 02, 03, 12, 13, 23 of some tetrahedra.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Panics
    /// When a tetrahedron is out of range.
    pub fn edges_of(&mut self, on: &Device, tetrahedra: &[u32]) -> crate::Result<Vec<u32>> {
        let uses: Vec<u32> = tetrahedra.iter().flat_map(|&t| 6 * t..6 * t + 6).collect();
        gather(on, &mut self.edges.edges, &uses)
    }

    /// Marks the edges by which the marked tetrahedra are divided, and closes the marks within the part.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn close(&mut self, on: &Device, by: DividedEdges) -> crate::Result<()> {
        self.marked = mark_edges(on, &self.chosen, &self.orders, &self.edges, by)?;
        let fresh = self.is_few.then(|| on.duplicate(&self.marked));
        self.close_from(on, fresh.transpose()?)
    }

    /// The edges to divide, a bit each, 32 to a word.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn marked(&self, on: &Device) -> crate::Result<Vec<u32>> {
        on.download_rows(&self.marked)
    }

    /// Marks `edges` too, which other processes have marked, and closes again.
    ///
    /// # Errors
    /// Errors of the device.
    ///
    /// # Panics
    /// When an edge is out of range.
    pub fn follow(&mut self, on: &Device, edges: &[u32]) -> crate::Result<()> {
        let (count, edges) = (self.edges.first_uses.len(), on.upload(edges)?);
        let wrong = mark_more_ids(on, &edges, count, &mut self.marked)?;
        assert_eq!(wrong, None, "edges of the part");
        let fresh = match self.is_few {
            true => Some(mark_ids(on, &edges, count)?.0),
            false => None,
        };
        self.close_from(on, fresh)
    }

    fn close_from(&mut self, on: &Device, fresh: Option<Buffer<Bits<Edge>>>) -> crate::Result<()> {
        on.stage("close marks", || {
            let (marked, touched) = (&mut self.marked, &mut self.touched);
            close(on, &self.edges, &self.orders, marked, fresh, touched)?;
            Ok(())
        })
    }

    /// Divides the tetrahedra of `only`, a bit each, along the marked edges, and the tagged triangles.
    ///
    /// # Errors
    /// [`Error::TooManyTetrahedra`], [`Error::TooMany`]; errors of the device.
    ///
    /// # Panics
    /// When there is not a bit for each tetrahedron.
    pub fn divide(self, on: &Device, only: &[u32]) -> Result<DividedShare<P>> {
        let Self {
            mut refined,
            mut edges,
            orders,
            marked,
            touched,
            ..
        } = self;
        let (n, faces) = (refined.mesh.count(), refined.mesh.faces.len() / 3);
        assert_eq!(only.len(), words(n as usize), "a bit for each");
        let touched: Vec<u32> = on.download_rows(&touched)?;
        let touched = parallel::collect(only.len(), |w| only[w] & touched[w]);
        let touched: Buffer<Bits<Tet>> = on.upload(bytemuck::cast_slice(&touched))?;
        let touched = compact(on, &touched)?;
        let uses = gather_members(on, &mut edges.first_uses, compact(on, &marked)?)?;
        let done = divide_closed(on, &mut refined, touched, edges, orders, &marked)?;
        Ok(DividedShare {
            divided: done.children.touched.len() as u32,
            children: done.children,
            uses,
            tetrahedra: refined.mesh.count() - n,
            faces: (refined.mesh.faces.len() / 3 - faces) as u32,
            broken: done.broken,
            refined,
        })
    }
}

impl<P: SpacePoint> DividedShare<P> {
    /// The divided tetrahedra, and where their new ones stand.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn children(&self, on: &Device) -> crate::Result<ShareChildren> {
        Ok(ShareChildren {
            divided: on.download_rows(&self.children.touched)?,
            slots: on.download(&self.children.slots)?,
        })
    }

    /// The tagged triangle before the level that each is a part of: the ones of before, and then the other parts of
    /// each in turn.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn face_parents(&self, on: &Device) -> crate::Result<Vec<u32>> {
        on.download_rows(&self.refined.face_parents)
    }

    /// Ends of the divided edges, the lower local id first.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn ends(&self, on: &Device) -> crate::Result<Vec<[u32; 2]>> {
        on.download_rows(&self.refined.vertex_parents)
    }

    /// The part before the next level. Its tetrahedra are the previous ones, with the first part in place of each
    /// divided one, and then the other parts of each divided one in turn. Its tagged triangles lie likewise. The
    /// divided edges' midpoints follow the vertices.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn next(self, on: &Device) -> crate::Result<TetShare<P>> {
        let refined = DeviceRefined::new(on, self.refined.mesh)?;
        Ok(TetShare { refined })
    }
}

/// Whether each of a tetrahedron's edges stands in an order once.
fn is_order(order: u32) -> bool {
    let place = |k: u32| 1_u32 << (order >> (4 * k) & 15);
    let found = (0..6).fold(0, |found, k| found | place(k));
    let all = (0..6).fold(0, |all, k| all | 1 << edge_set(k));
    order >> 24 == 0 && found == all
}
