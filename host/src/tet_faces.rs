//! Faces of tetrahedra on a device: the two sides of each find each other. The kernels are in [`gpu::tet_faces`].
//!
//! [`DeviceTets::upload_with_faces`](crate::refine_tets::DeviceTets::upload_with_faces) makes them of a mesh.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gpu::ids::{FaceSide, Vertex};
use gpu::tet_faces::face_rule;
use gpu::tet_faces::kernels as kernel;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{NONE, words};

use crate::collective::{count_bits, is_scattered};
use crate::device::{BitSet, Device};
use crate::{Error, Result};

/// A list of tetrahedra as it is: after a change it is another one. Faces know by it whose they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListId(u64);

impl ListId {
    /// No other list of the process has it.
    pub(crate) fn unique() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Relaxed))
    }
}

/// Faces of T tetrahedra, of which each belongs to one tetrahedron, or to one on each side.
pub struct DeviceFaces {
    list: ListId,
    twins: Buffer<FaceSide>,
    boundary_faces: u32,
    tagged: Buffer<FaceSide>,
}

/// Why tetrahedra have no faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// Three tetrahedra or more share a face, or two lie on the same side of it.
    Overlap(FaceSide),
    /// A tagged triangle is no face of a tetrahedron.
    Loose(u32),
    /// The faces of a tetrahedron fit no table.
    Crowded(u32),
}

impl Broken {
    /// The error, by the ids of the mesh.
    pub(crate) fn into_error(self) -> Error {
        let (element, rule) = match self {
            Self::Overlap(side) => (
                format!("tetrahedron {}", side.tet()),
                "has a face that another tetrahedron has on the same side (`repair --folded` drops one)",
            ),
            Self::Loose(face) => (format!("tagged face {face}"), "is no face of a tetrahedron"),
            Self::Crowded(t) => (format!("tetrahedron {t}"), "has faces that fit no table"),
        };
        Error::Invalid {
            element,
            rule: rule.to_owned(),
        }
    }
}

impl DeviceFaces {
    /// Bytes that matching takes at once, beside the tetrahedra.
    pub fn bytes_needed(tetrahedra: usize) -> u64 {
        ((4 * tetrahedra + table_slots(tetrahedra)) * size_of::<u32>()) as u64
    }

    /// Matches the sides of `tetrahedra`, which are `list`, of a mesh of `vertices` vertices, and finds those of its
    /// tagged triangles `tagged` (three vertices each).
    ///
    /// The vertices of tetrahedra are below `vertices`; those of tagged triangles may be any.
    pub(crate) fn build(
        on: &Device,
        list: ListId,
        vertices: usize,
        tetrahedra: &Buffer<Vertex>,
        tagged: &Buffer<Vertex>,
    ) -> Result<std::result::Result<Self, Broken>> {
        let count = tetrahedra.len() / 4;
        let (scattered, ()) = is_scattered(on, tetrahedra.as_words(), 4, vertices, || Ok(()))?;
        for slots in [table_slots(count), slots_for(8 * count)] {
            let built = Self::by_table(on, list, vertices, tetrahedra, tagged, slots, scattered)?;
            if !matches!(built, Err(Broken::Crowded(_))) {
                return Ok(built);
            }
        }
        Ok(Err(Broken::Crowded(0)))
    }

    /// As [`DeviceFaces::build`], with a table of `slots` slots.
    fn by_table(
        on: &Device,
        list: ListId,
        vertices: usize,
        tetrahedra: &Buffer<Vertex>,
        tagged: &Buffer<Vertex>,
        slots: usize,
        scattered: bool,
    ) -> Result<std::result::Result<Self, Broken>> {
        let sides = tetrahedra.len() as u32;
        let scale = ((slots as u64) << 32) / vertices.max(1) as u64;
        let mut table = on.filled(slots, FaceSide::NONE)?;
        let mut twins = on.filled(sides as usize, FaceSide::NONE)?;
        let mut found = on.filled(face_rule::COUNT, NONE)?;
        let launch = if scattered {
            kernel::match_scattered_face_sides::launch
        } else {
            kernel::match_face_sides::launch
        };
        // The scale puts the slots of every vertex below V into the table.
        launch(
            on,
            sides / 4,
            tetrahedra,
            &mut table,
            &mut twins,
            &mut found,
            scale,
        )?;
        let mut boundary: BitSet<FaceSide> = on.uninitialized(words(sides as usize))?;
        // SAFETY: the kernel before wrote twins: sides or `NONE`.
        unsafe {
            kernel::mark_boundary_sides::launch(on, sides, &twins, &mut found, &mut boundary)
        }?;
        let triangles = tagged.len() / 3;
        let mut of_tagged = on.uninitialized(triangles)?;
        kernel::find_tagged_faces::launch(
            on,
            triangles as u32,
            tagged,
            tetrahedra,
            &table,
            &twins,
            vertices as u32,
            &mut of_tagged,
            &mut found,
            scale,
            scattered.into(),
        )?;
        drop(table);
        let found = on.download(&found)?;
        let element = |rule: u32| Some(found[rule as usize]).filter(|&element| element != NONE);
        if let Some(tetrahedron) = element(face_rule::CROWDED) {
            return Ok(Err(Broken::Crowded(tetrahedron)));
        }
        if let Some(side) = element(face_rule::OVERLAP) {
            return Ok(Err(Broken::Overlap(FaceSide::new(side))));
        }
        if let Some(face) = element(face_rule::LOOSE) {
            return Ok(Err(Broken::Loose(face)));
        }
        Ok(Ok(Self {
            list,
            twins,
            boundary_faces: count_bits(on, &boundary)?,
            tagged: of_tagged,
        }))
    }

    /// The tetrahedra that they are of.
    pub(crate) fn list(&self) -> ListId {
        self.list
    }

    /// The same face seen from the other tetrahedron, of each side; `NONE` on the boundary; 4T.
    pub fn twins(&self) -> &Buffer<FaceSide> {
        &self.twins
    }

    /// As [`DeviceFaces::twins`], to read some of them.
    pub(crate) fn twins_mut(&mut self) -> &mut Buffer<FaceSide> {
        &mut self.twins
    }

    /// Faces of one tetrahedron.
    pub fn boundary_faces(&self) -> u32 {
        self.boundary_faces
    }

    /// Faces of two tetrahedra.
    pub fn inner_faces(&self) -> u32 {
        (self.twins.len() as u32 - self.boundary_faces) / 2
    }

    /// The lower side of each tagged triangle.
    pub fn tagged(&self) -> &Buffer<FaceSide> {
        &self.tagged
    }
}

/// Slots of the table: twice the inner faces that tetrahedra have without a boundary, and one a face that tetrahedra
/// have without a neighbour.
fn table_slots(tetrahedra: usize) -> usize {
    slots_for(4 * tetrahedra)
}

fn slots_for(slots: usize) -> usize {
    (slots + 64).min(u32::MAX as usize)
}
