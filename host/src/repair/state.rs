//! A mesh under repair: the steps that a device does alone.

use std::cell::OnceCell;

use glam::DVec3;
use gpu::forms::{count_up, rank_vertices};
use gpu::ids::{HalfEdge, Item, Place, Triangle, Vertex};
use gpu::repair as kernel;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, NONE, Word};

use super::left::HolesLeft;
use super::segments::Segments;
use super::{Counts, DeviceRepaired, distinct};
use crate::collective::{compact, count_bits, order_by_keys};
use crate::compare::check_corners;
use crate::device::Device;
use crate::mesh::Segment;
use crate::points::check_finite;
use crate::reorder::pick;
use crate::{Error, Result};

/// The input's points on the host, for the steps that treat few elements there.
#[derive(Default)]
pub(super) struct HostPoints<'a> {
    given: Option<&'a [DVec3]>,
    copied: OnceCell<Vec<DVec3>>,
}

impl<'a> HostPoints<'a> {
    /// Points that are there.
    pub fn of(points: &'a [DVec3]) -> Self {
        Self {
            given: Some(points),
            copied: OnceCell::new(),
        }
    }

    /// The points, copied from the device if they are not there.
    pub fn get(&self, state: &State<'_>) -> Result<&[DVec3]> {
        if let Some(points) = self.given.or(self.copied.get().map(|list| &list[..])) {
            return Ok(points);
        }
        let points = state.on.download(state.points)?;
        Ok(self.copied.get_or_init(|| points))
    }
}

/// The mesh as it is after some steps.
pub(super) struct State<'a> {
    pub on: &'a Device,
    /// Of the input.
    points: &'a Buffer<DVec3>,
    pub faces: Buffer<[Vertex; 3]>,
    /// The input's face whose data each face has.
    pub old: Buffer<Triangle>,
    /// The input's vertex of each copy; copies follow the input's vertices.
    pub copies: Vec<u32>,
    /// [`Self::copies`], on the device.
    pub copied: Buffer<Vertex>,
    /// Vertices of the input that collapsed into others, as old ids.
    pub merged: Vec<[u32; 2]>,
    /// The segments that are left.
    pub segments: Segments,
    /// The holes that are left.
    pub holes: Vec<HolesLeft>,
    /// The input's vertices that have a face there.
    used: Buffer<Bits<Vertex>>,
}

impl<'a> State<'a> {
    /// Checks a mesh that is on the device.
    pub fn new(
        on: &'a Device,
        points: &'a Buffer<DVec3>,
        triangles: Buffer<[Vertex; 3]>,
    ) -> Result<Self> {
        let (vertices, faces) = (points.len(), triangles.len());
        // Each corner may get a vertex of its own.
        if vertices as u64 + 3 * faces as u64 >= u64::from(NONE) {
            return Err(Error::Argument(format!(
                "{vertices} vertices and {faces} faces are too many for ids of 32 bits"
            )));
        }
        check_finite(on, points)?;
        let faces = check_range(on, triangles, vertices)?;
        let mut state = Self {
            on,
            points,
            old: ids(on, faces.len())?.cast(),
            faces,
            copies: Vec::new(),
            copied: on.uninitialized(0)?,
            merged: Vec::new(),
            segments: Segments::default(),
            holes: Vec::new(),
            used: on.uninitialized(0)?,
        };
        state.used = state.mark_used()?;
        Ok(state)
    }

    /// Number of vertices, with copies, and with vertices that no face has any more.
    pub fn vertices(&self) -> usize {
        self.points.len() + self.copies.len()
    }

    /// The input's vertex of a vertex.
    pub fn input_vertex(&self, vertex: u32) -> u32 {
        match (vertex as usize).checked_sub(self.points.len()) {
            None => vertex,
            Some(copy) => self.copies[copy],
        }
    }

    /// Bits of a vertex that is any, or the number of all.
    fn vertex_bits(&self) -> u32 {
        u32::BITS - (self.vertices() as u32).leading_zeros()
    }

    /// All half-edges by the vertices of their edges, then by their ids.
    pub fn sides(&self) -> Result<Buffer<HalfEdge>> {
        let (on, n) = (self.on, 3 * self.faces.len());
        let mut order = on.uninitialized(0)?;
        for is_lower in [false, true] {
            let mut keys = on.uninitialized(n)?;
            kernel::read_side_end::launch(
                on,
                n as u32,
                &order,
                &self.faces,
                is_lower,
                self.vertices() as u32,
                &mut keys,
            )?;
            let next = order_by_keys(on, keys, self.vertex_bits())?;
            order = after(on, order, next)?;
        }
        Ok(order)
    }

    /// Links sides of an edge to each other: of crowded edges only if `CROWDED`.
    pub fn links<const CROWDED: bool>(&self, sides: &Buffer<HalfEdge>) -> Result<Buffer<HalfEdge>> {
        let mut links = self.on.uninitialized(sides.len())?;
        let n = sides.len() as u32;
        kernel::link_sides_of_faces::launch::<CROWDED>(self.on, n, sides, &self.faces, &mut links)?;
        Ok(links)
    }

    /// The lowest element of each one's part.
    pub fn labels(&self, mut parents: Buffer<u32>) -> Result<Buffer<u32>> {
        let mut labels = self.on.uninitialized(parents.len())?;
        let n = parents.len() as u32;
        kernel::find_component_roots::launch(self.on, n, &mut parents, &mut labels)?;
        Ok(labels)
    }

    /// Words for a bit of each of `n` elements.
    pub fn bits<I: 'static>(&self, n: usize) -> Result<Buffer<Bits<I>>> {
        self.on.uninitialized(n.div_ceil(32))
    }

    /// Drops repeated faces; their number.
    pub fn drop_repeated(&mut self) -> Result<u64> {
        self.on.stage("repeated faces", || {
            let repeated = self.repeated()?;
            let mut kept = self.bits(self.faces.len())?;
            let n = self.faces.len() as u32;
            kernel::keep_faces::launch(self.on, n, &repeated, &mut kept)?;
            self.keep(&kept)
        })
    }

    /// The faces with the vertices of a face of lower id.
    pub fn repeated(&self) -> Result<Buffer<Bits<Triangle>>> {
        let (on, n) = (self.on, self.faces.len());
        let mut order = on.uninitialized(0)?;
        for which in [2, 1, 0] {
            let mut keys = on.uninitialized(n)?;
            kernel::read_face_vertex::launch(on, n as u32, &order, &self.faces, which, &mut keys)?;
            let next = order_by_keys(on, keys, self.vertex_bits())?;
            order = after(on, order, next)?;
        }
        let mut repeated = on.filled(n.div_ceil(32), Bits::EMPTY)?;
        kernel::mark_repeated::launch(on, n as u32, &order, &self.faces, &mut repeated)?;
        Ok(repeated)
    }

    /// Keeps some faces; the number of the others.
    fn keep(&mut self, kept: &Buffer<Bits<Triangle>>) -> Result<u64> {
        let on = self.on;
        let list = compact(on, kept)?;
        let dropped = self.faces.len() - list.len();
        if dropped > 0 {
            let mut faces = on.uninitialized(list.len())?;
            let n = list.len() as u32;
            kernel::gather_faces::launch(on, n, &list, &self.faces, &mut faces)?;
            self.old = pick(on, self.old.as_words(), &list)?.cast();
            self.faces = faces;
        }
        Ok(dropped as u64)
    }

    /// Replaces all faces. Each has the data of one of the faces before.
    pub fn replace(&mut self, faces: &[[u32; 3]], sources: &[u32]) -> Result<()> {
        let sources: Buffer<Triangle> = self.on.upload(sources)?.cast();
        self.faces = self.on.upload(faces)?.cast();
        self.old = pick(self.on, self.old.as_words(), &sources)?.cast();
        Ok(())
    }

    /// The degenerate faces, ascending.
    pub fn degenerate(&self, ratio: f64) -> Result<Buffer<Triangle>> {
        let mut found = self.bits(self.faces.len())?;
        kernel::find_degenerate::launch(
            self.on,
            self.faces.len() as u32,
            &self.faces,
            self.points,
            &self.copied,
            ratio,
            &mut found,
        )?;
        compact(self.on, &found)
    }

    /// Drops components of fewer than `least` faces.
    pub fn drop_small(&mut self, least: u32, counts: &mut Counts) -> Result<()> {
        self.on.stage("small components", || {
            let (on, n) = (self.on, self.faces.len());
            let (labels, sizes) = self.components()?;
            let mut large = self.bits(n)?;
            kernel::find_large::launch(on, n as u32, &labels, &sizes, least, &mut large)?;
            let dropped = self.keep(&large)?;
            counts.component_faces += dropped;
            if dropped > 0 {
                let sizes = on.download(&sizes)?;
                let small = sizes.iter().filter(|&&size| (1..least).contains(&size));
                counts.components += small.count() as u64;
            }
            Ok(())
        })
    }

    /// The lowest face of each one's component, and the number of faces of each component at its lowest one.
    pub fn components(&self) -> Result<(Buffer<Triangle>, Buffer<u32>)> {
        let (on, n) = (self.on, self.faces.len());
        let links = self.links::<true>(&self.sides()?)?;
        let mut parents = ids(on, n)?;
        kernel::join_faces::launch(on, 3 * n as u32, &links, &mut parents)?;
        drop(links);
        let labels = self.labels(parents)?.cast();
        let mut sizes = on.filled(n, 0)?;
        kernel::count_faces::launch(on, n as u32, &labels, &mut sizes)?;
        Ok((labels, sizes))
    }

    /// The vertices that have a face.
    fn mark_used(&self) -> Result<Buffer<Bits<Vertex>>> {
        let words = self.vertices().div_ceil(32);
        let mut used = self.on.filled(words, Bits::EMPTY)?;
        let n = self.faces.len() as u32;
        kernel::mark_vertices::launch(self.on, n, &self.faces, &mut used)?;
        Ok(used)
    }

    /// Number of the input's vertices that no face has.
    pub fn unused(&self) -> Result<u64> {
        Ok(self.points.len() as u64 - u64::from(count_bits(self.on, &self.used)?))
    }

    /// Chooses the vertices that go because they never had a face. A segment that is left is an edge of faces.
    pub fn choose_unused(&mut self, counts: &mut Counts) -> Result<()> {
        counts.unused = self.unused()?;
        // As if all had had a face.
        self.used = self.on.filled(self.used.len(), Bits::new(u32::MAX))?;
        Ok(())
    }

    /// Follows the segments that are edges.
    pub fn follow(&mut self, segments: &[Segment]) -> Result<()> {
        if !segments.is_empty() {
            self.segments = Segments::of(segments, &self.download_faces()?);
        }
        Ok(())
    }

    /// The faces on the host.
    pub fn download_faces(&self) -> Result<Vec<[u32; 3]>> {
        self.on.download_rows(&self.faces)
    }

    /// Numbers the vertices that remain. The input had `given` segments.
    pub fn finish(mut self, mut counts: Counts, given: usize) -> Result<DeviceRepaired> {
        let (on, n) = (self.on, self.vertices());
        on.stage("vertices", || {
            if !self.segments.is_empty() {
                let faces = self.download_faces()?;
                self.segments.keep_edges(&faces);
            }
            let now = self.mark_used()?;
            let mut kept: Buffer<Bits<Vertex>> = self.bits(n)?;
            let of_input = self.points.len() as u32;
            kernel::keep_vertices::launch(on, n as u32, &self.used, &now, of_input, &mut kept)?;
            let list = compact(on, &kept)?;
            let mut new = on.filled(n, Place::NONE)?;
            rank_vertices::launch(on, list.len() as u32, &list, &mut new)?;
            let (segments, sides) = match self.segments.is_empty() {
                true => Default::default(),
                false => {
                    let new: Vec<u32> = on.download_rows(&new)?;
                    std::mem::take(&mut self.segments).renamed(|v| new[v as usize])
                }
            };
            let mut ids = sides.clone();
            counts.segments = given as u64 - distinct(&mut ids);
            let faces = self.faces.len() as u32;
            kernel::rename_faces::launch(on, faces, &new.cast(), &mut self.faces)?;
            let vertices = match self.copies.is_empty() {
                true => list,
                false => {
                    let list: Vec<u32> = on.download_rows(&list)?;
                    let list = list.into_iter().map(|v| self.input_vertex(v));
                    on.upload(&list.collect::<Vec<u32>>())?.cast()
                }
            };
            Ok(DeviceRepaired {
                triangles: self.faces,
                vertices,
                faces: self.old,
                merged: self.merged,
                segments,
                sides,
                holes: self.holes,
                counts,
            })
        })
    }
}

/// Refuses faces with a vertex that is not there, and gives the others back.
fn check_range(
    on: &Device,
    triangles: Buffer<[Vertex; 3]>,
    vertices: usize,
) -> Result<Buffer<[Vertex; 3]>> {
    let corners: Buffer<Vertex> = triangles.cast();
    check_corners(on, vertices, &corners)?;
    Ok(corners.cast())
}

/// The ids of `n` elements.
pub(super) fn ids(on: &Device, n: usize) -> Result<Buffer<u32>> {
    let mut list = on.uninitialized(n)?;
    count_up::launch(on, n as u32, &mut list)?;
    Ok(list.cast())
}

/// The elements of an order, ordered again; an empty order is that of the ids.
fn after<I: Word>(on: &Device, order: Buffer<I>, next: Buffer<u32>) -> Result<Buffer<I>> {
    match order.is_empty() {
        true => Ok(next.cast()),
        false => Ok(pick(on, order.as_words(), &next)?.cast()),
    }
}

/// The sides at some places of an order.
pub(super) fn sides_at(
    on: &Device,
    order: &Buffer<HalfEdge>,
    places: &Buffer<Item>,
) -> Result<Buffer<HalfEdge>> {
    Ok(pick(on, order.as_words(), places)?.cast())
}
