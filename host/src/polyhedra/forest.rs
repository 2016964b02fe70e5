//! The forest of tetrahedra: roots, barrier faces, cuts.

use gpu::ids::{FaceSide, Item, Tet, Vertex};
use gpu::polyhedra::{Link, kernels as kernel, tally};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, words};

use crate::collective::{Tiled, tally_bits};
use crate::device::{BitSet, Device};
use crate::refine_tets::{DeviceTets, SpacePoint};
use crate::tet_faces::{DeviceFaces, ListId};
use crate::{Error, Result};

/// T tetrahedra, whose faces have two sides at most.
#[derive(Clone, Copy)]
pub(super) struct Cells<'a> {
    pub(super) list: ListId,
    /// Vertices, four for each; 4T.
    pub(super) tetrahedra: &'a Buffer<Vertex>,
    /// The same face seen from the other tetrahedron, of each side; `NONE` on the boundary; 4T.
    pub(super) twins: &'a Buffer<FaceSide>,
}

impl<'a> Cells<'a> {
    /// The tetrahedra of a mesh.
    ///
    /// # Errors
    /// [`Error::Argument`] for faces of other tetrahedra.
    pub(super) fn of<P: SpacePoint>(
        mesh: &'a DeviceTets<P>,
        faces: &'a DeviceFaces,
    ) -> Result<Self> {
        if faces.list() != mesh.list() {
            return Err(Error::Argument(
                "the faces are of other tetrahedra than the mesh: take them from `DeviceFaces::of` or `upload_with_faces`".to_owned(),
            ));
        }
        Ok(Self {
            list: mesh.list(),
            tetrahedra: mesh.tetrahedra(),
            twins: faces.twins(),
        })
    }
}

/// The forest of tetrahedra.
pub(super) struct Forest {
    pub(super) frontier: BitSet<FaceSide>,
    pub(super) links: Buffer<Link>,
    pub(super) is_root: BitSet<Tet>,
    /// All inner faces of a region that are no frontier are links: n tetrahedra have 2n + 2 sides.
    pub(super) are_trees: bool,
    /// Walks are longer than one round takes.
    pub(super) is_deep: bool,
}

/// A link of each tetrahedron to a place above, its root where the walk came so far, and the set of roots. `found` gets
/// [`tally::UNFINISHED`].
pub(super) fn find_roots(
    on: &Device,
    links: &Buffer<Link>,
    found: &mut Buffer<u32>,
) -> Result<(Buffer<Link>, BitSet<Tet>)> {
    let n = links.len();
    let mut roots = on.uninitialized(n)?;
    let mut is_root = on.uninitialized(words(n))?;
    // SAFETY: parents are tetrahedra.
    unsafe { kernel::find_roots::launch(on, n as u32, links, &mut roots, found, &mut is_root) }?;
    Ok((roots, is_root))
}

/// A link of each tetrahedron to its root: rounds of walks, each from the places of the one before.
pub(super) fn find_deep_roots(on: &Device, links: &Buffer<Link>) -> Result<Buffer<Link>> {
    let mut roots = None;
    loop {
        let mut found = on.filled(tally::COUNT, 0)?;
        let (further, _) = find_roots(on, roots.as_ref().unwrap_or(links), &mut found)?;
        if on.read(&found, tally::UNFINISHED as usize)? == 0 {
            return Ok(further);
        }
        roots = Some(further);
    }
}

impl Forest {
    /// Lower sides of barrier faces, ascending, and the roots, which `roots` are if all walks came to one. `found` has
    /// the tally of these walks, and gets the number of barrier faces.
    pub(super) fn barrier_faces(
        &mut self,
        on: &Device,
        cells: Cells,
        mut roots: Buffer<Link>,
        found: &mut Buffer<u32>,
    ) -> Result<(Buffer<FaceSide>, Buffer<Link>)> {
        let mut barriers: BitSet<FaceSide> = on.uninitialized(self.frontier.len())?;
        loop {
            let (n, frontier) = (roots.len() as u32, &self.frontier);
            let twins = cells.twins;
            kernel::find_barrier_faces::launch(on, n, twins, frontier, &roots, &mut barriers)?;
            let tiled = Tiled::new(on, &barriers)?;
            tally_bits(on, &barriers, found, tally::BARRIERS)?;
            // The walks and their faces are waited for together: nearly always, all walks have ended.
            let counts = on.download(found)?;
            if self.is_deep || counts[tally::UNFINISHED as usize] == 0 {
                // SAFETY: the tally is of this set.
                let counted = unsafe { tiled.counted(counts[tally::BARRIERS as usize]) };
                return Ok((counted.list(on)?, roots));
            }
            self.is_deep = true;
            roots = find_deep_roots(on, &roots)?;
            let mut kept = counts;
            kept[tally::BARRIERS as usize] = 0;
            *found = on.upload(&kept)?;
        }
    }

    /// Cuts a face at each barrier tip. `found` gets the numbers of tips, and of regions with barrier faces.
    pub(super) fn repair_tips(
        &mut self,
        on: &Device,
        cells: Cells,
        roots: &Buffer<Link>,
        barriers: &Buffer<FaceSide>,
        found: &mut Buffer<u32>,
    ) -> Result<()> {
        let n = barriers.len();
        if n == 0 {
            return Ok(());
        }
        let mut cuts = on.uninitialized(n)?;
        let mut regions: BitSet<Tet> = on.filled(words(roots.len()), Bits::EMPTY)?;
        let mut tips: BitSet<Item> = on.uninitialized(words(n))?;
        // SAFETY: the list has inner sides of frontier faces; walks follow links, which end at roots.
        unsafe {
            kernel::find_tips::launch(
                on,
                n as u32,
                barriers,
                self.trees(cells),
                cells.twins,
                roots,
                &mut regions,
                &mut cuts,
                &mut tips,
            )
        }?;
        tally_bits(on, &tips, found, tally::TIPS)?;
        tally_bits(on, &regions, found, tally::REGIONS_WITH_BARRIERS)?;
        self.cut(on, cells, &cuts)
    }

    /// Makes faces frontier faces.
    pub(super) fn cut(&mut self, on: &Device, cells: Cells, cuts: &Buffer<FaceSide>) -> Result<()> {
        kernel::cut_faces::launch(
            on,
            cuts.len() as u32,
            cuts,
            cells.twins,
            &mut self.frontier,
            &mut self.is_root,
            &mut self.links,
        )?;
        Ok(())
    }

    /// The parameter of kernels.
    pub(super) fn trees<'a>(&'a self, cells: Cells<'a>) -> kernel::TreesBuffers<'a> {
        kernel::TreesBuffers {
            tetrahedra: cells.tetrahedra,
            links: &self.links,
        }
    }
}
