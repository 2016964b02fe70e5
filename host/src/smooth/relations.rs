//! Relations of a mesh on a device: the cells of each node, its neighbours, boundary and region interfaces.

use gpu::ids::{CellFace, Corner, Vertex};
use gpu::smooth::{
    self as kernel, AdjacencyBuffers, BOUNDARY_NODES, MOST_FACES, NEIGHBOUR_NODES, SURFACE,
    StarsBuffers, VOLUME, Vector, WHOLE_CELLS,
};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{BitWord, Bits, NONE, words};

use super::cells::{DeviceCells, DeviceMesh};
use crate::collective::{bucket_local, compact, count_bits, exclusive_scan};
use crate::device::Device;
use crate::{Error, Result};

/// Relations of a mesh, for smoothing it.
pub struct Relations<'m, P> {
    pub(crate) mesh: &'m DeviceMesh<P>,
    /// Cells of each node.
    pub(crate) incidence: Incidence,
    /// Neighbours of each node.
    pub(crate) neighbours: Neighbours,
    /// Boundary.
    pub(crate) boundary: Boundary,
}

impl<'m, P: Vector> Relations<'m, P> {
    /// Finds them.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a mesh of too many neighbours; the errors of the device.
    pub fn new(on: &Device, mesh: &'m DeviceMesh<P>) -> Result<Self> {
        let cells = mesh.cells();
        let incidence = cells.incidence(on)?;
        Ok(Self {
            mesh,
            neighbours: cells.neighbours(on, &incidence, Relation::Edge)?,
            boundary: cells.boundary(on, &incidence)?,
            incidence,
        })
    }

    /// Number of neighbours of all nodes: two for each edge.
    pub fn neighbour_count(&self) -> usize {
        self.neighbours.neighbours.len()
    }

    /// Start of each node's neighbours, and the end of the last, V + 1; neighbours, ascending for each node.
    pub fn neighbours(&self) -> (&Buffer<u32>, &Buffer<Vertex>) {
        (&self.neighbours.rows, &self.neighbours.neighbours)
    }

    /// As [`Relations::neighbours`], where all nodes of a cell are neighbours.
    ///
    /// # Errors
    /// As [`Relations::new`].
    pub fn cell_neighbours(&self, on: &Device) -> Result<(Buffer<u32>, Buffer<Vertex>)> {
        let cells = self.mesh.cells();
        let found = cells.neighbours(on, &self.incidence, Relation::Cell)?;
        Ok((found.rows, found.neighbours))
    }

    /// Nodes on the boundary; V.
    pub fn boundary_nodes(&self) -> &Buffer<Bits<Vertex>> {
        &self.boundary.nodes
    }

    /// Faces of a volume mesh that one cell alone uses, 6N; none of a surface.
    pub fn boundary_faces(&self) -> Option<&Buffer<Bits<CellFace>>> {
        match &self.boundary.sides {
            Sides::Faces(faces) => Some(faces),
            Sides::Edges(_) => None,
        }
    }

    /// The cells of each node, as kernels take them.
    pub(super) fn stars(&self) -> StarsBuffers<'_> {
        self.incidence.stars(self.mesh.cells())
    }
}

/// Corners of cells by their node.
pub(crate) struct Incidence {
    /// Start of each node's corners, and the end of the last; V + 1.
    pub(super) starts: Buffer<u32>,
    /// Corners of each node, in any order or ascending; C.
    pub(super) corners: Buffer<Corner>,
    /// Whether a node has more cells than kernels compare one by one.
    has_heavy: bool,
}

impl Incidence {
    /// The incidence with its cells, as kernels take them.
    pub(super) fn stars<'a>(&'a self, cells: &'a DeviceCells) -> StarsBuffers<'a> {
        StarsBuffers {
            cells: cells.buffers(),
            starts: &self.starts,
            corners: &self.corners,
        }
    }
}

/// Neighbours of nodes in compressed sparse rows: D of them, two for each edge.
pub(crate) struct Neighbours {
    /// Start of each node's neighbours, and the end of the last; V + 1.
    pub(crate) rows: Buffer<u32>,
    /// Neighbours, ascending for each node; D.
    pub(crate) neighbours: Buffer<Vertex>,
}

impl Neighbours {
    /// As kernels take them.
    pub(super) fn buffers(&self) -> AdjacencyBuffers<'_> {
        AdjacencyBuffers {
            rows: &self.rows,
            neighbours: &self.neighbours,
        }
    }
}

/// The nodes of a cell that are neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// The two ends of an edge.
    Edge,
    /// All nodes of the cell.
    Cell,
}

/// Boundary of a mesh.
pub(crate) struct Boundary {
    pub(crate) sides: Sides,
    /// Nodes on the boundary; V.
    pub(crate) nodes: Buffer<Bits<Vertex>>,
}

/// Sides of cells that one cell alone uses.
pub(crate) enum Sides {
    /// Faces of a volume mesh; 6N.
    Faces(Buffer<Bits<CellFace>>),
    /// Edges of a surface, from a corner to the next; C.
    Edges(Buffer<Bits<Corner>>),
}

/// Adds the members of a bit set to another.
pub(crate) fn join_bits<W: BitWord>(
    on: &Device,
    others: &Buffer<W>,
    bits: &mut Buffer<W>,
) -> Result<()> {
    let (count, others) = (bits.len() as u32, others.as_words());
    kernel::join_bits::launch(on, count, others, bits.as_words_mut())?;
    Ok(())
}

impl DeviceCells {
    /// The cells of each node.
    pub(crate) fn incidence(&self, on: &Device) -> Result<Incidence> {
        on.stage("cells of nodes", || {
            let (keys, nodes) = (self.vertices().as_words(), self.nodes());
            // SAFETY: vertices of checked cells are below V.
            let (starts, items) = unsafe { bucket_local(on, keys, nodes as usize) }?;
            let mut heavy = on.uninitialized(words(nodes as usize))?;
            kernel::mark_heavy::launch(on, nodes, &starts, &mut heavy)?;
            Ok(Incidence {
                has_heavy: count_bits(on, &heavy)? > 0,
                starts,
                corners: items.cast(),
            })
        })
    }

    /// Neighbours of all nodes; `incidence` belongs to the same cells.
    pub(crate) fn neighbours(
        &self,
        on: &Device,
        incidence: &Incidence,
        relation: Relation,
    ) -> Result<Neighbours> {
        let of_tetrahedra = self.buffers().offsets.is_empty();
        let dimension = match (self.is_surface(), relation) {
            // All vertices of a tetrahedron are neighbours by an edge.
            _ if of_tetrahedra => VOLUME,
            (true, Relation::Edge) => SURFACE,
            (false, Relation::Edge) => VOLUME,
            (_, Relation::Cell) => WHOLE_CELLS,
        };
        let (stars, nodes) = (incidence.stars(self), self.nodes());
        on.stage("neighbours", || {
            let room = kernel::lists_room(nodes, stars.corners.len() as u32, dimension);
            if room >= u64::from(NONE) {
                return Err(Error::Invalid {
                    element: "the mesh".to_owned(),
                    rule: "has more neighbours than 32-bit indices can number".to_owned(),
                });
            }
            let mut lists = on.uninitialized(room as usize)?;
            let mut rows = on.filled(nodes as usize + 1, 0)?;
            let mut is_heavy = on.uninitialized(words(nodes as usize))?;
            if of_tetrahedra {
                // SAFETY: the stars of checked cells; each block keeps to the room of its nodes.
                unsafe {
                    kernel::gather_tet_neighbours::launch(
                        on,
                        nodes.div_ceil(NEIGHBOUR_NODES as u32),
                        stars,
                        &mut lists,
                        &mut rows,
                        is_heavy.as_words_mut(),
                    )
                }?;
            } else {
                // SAFETY: the stars of checked cells; each node keeps to its room of the lists.
                unsafe {
                    kernel::gather_neighbours::launch(
                        on,
                        nodes,
                        stars,
                        dimension,
                        &mut lists,
                        &mut rows,
                        &mut is_heavy,
                    )
                }?;
            }
            let heavy = compact(on, &is_heavy)?;
            let many = heavy.len() as u32;
            let mut rooms = on.filled(heavy.len(), 0)?;
            let mut candidates = on.uninitialized(0)?;
            if many > 0 {
                kernel::measure_candidates::launch(on, many, &heavy, stars, dimension, &mut rooms)?;
                let room = exclusive_scan(on, &mut rooms)?;
                candidates = on.uninitialized(on.read(&room, 0)? as usize)?;
                // SAFETY: the rooms were measured for the same cells, one after the other.
                unsafe {
                    kernel::sort_candidates::launch(
                        on,
                        many,
                        &heavy,
                        stars,
                        dimension,
                        &rooms,
                        &mut candidates,
                        &mut rows,
                    )
                }?;
            }
            let candidates = candidates.cast();
            let total = exclusive_scan(on, &mut rows)?;
            let mut neighbours = on.uninitialized(on.read(&total, 0)? as usize)?;
            if of_tetrahedra {
                kernel::move_tet_lists::launch(
                    on,
                    nodes.div_ceil(NEIGHBOUR_NODES as u32),
                    stars.starts,
                    &lists,
                    &is_heavy,
                    &rows,
                    &mut neighbours,
                )?;
            } else {
                kernel::move_lists::launch(
                    on,
                    nodes,
                    stars.starts,
                    &lists,
                    &is_heavy,
                    &rows,
                    dimension,
                    &mut neighbours,
                )?;
            }
            if many > 0 {
                kernel::copy_candidates::launch(
                    on,
                    many,
                    &heavy,
                    &rooms,
                    &candidates,
                    &rows,
                    &mut neighbours,
                )?;
            }
            Ok(Neighbours { rows, neighbours })
        })
    }

    /// Sides that one cell alone uses, and their nodes; `incidence` belongs to the same cells.
    pub(crate) fn boundary(&self, on: &Device, incidence: &Incidence) -> Result<Boundary> {
        let (stars, nodes) = (incidence.stars(self), self.nodes());
        on.stage("boundary", || {
            let mut on_boundary = on.filled(words(nodes as usize), Bits::EMPTY)?;
            if self.is_surface() {
                let corners = stars.corners.len();
                let mut edges = on.uninitialized(words(corners))?;
                kernel::mark_border_edges::launch(
                    on,
                    corners as u32,
                    stars,
                    &mut on_boundary,
                    &mut edges,
                )?;
                return Ok(Boundary {
                    sides: Sides::Edges(edges),
                    nodes: on_boundary,
                });
            }
            let slots = MOST_FACES as usize * self.len();
            let mut faces = on.filled(words(slots), Bits::EMPTY)?;
            if stars.cells.offsets.is_empty() {
                let blocks = nodes.div_ceil(BOUNDARY_NODES as u32);
                // SAFETY: the stars of checked cells.
                unsafe {
                    kernel::mark_tet_boundary::launch(
                        on,
                        blocks,
                        stars,
                        &mut faces,
                        &mut on_boundary,
                    )
                }?;
            } else {
                kernel::mark_boundary_faces::launch(
                    on,
                    nodes,
                    stars,
                    &mut faces,
                    &mut on_boundary,
                )?;
            }
            if incidence.has_heavy {
                let slots = slots as u32;
                kernel::mark_heavy_faces::launch(on, slots, stars, &mut faces, &mut on_boundary)?;
            }
            Ok(Boundary {
                sides: Sides::Faces(faces),
                nodes: on_boundary,
            })
        })
    }

    /// Adds the nodes between cells of two regions to `bits`, a set of nodes; `incidence` belongs to the same cells.
    pub(super) fn add_interfaces(
        &self,
        on: &Device,
        incidence: &Incidence,
        bits: &mut Buffer<Bits<Vertex>>,
    ) -> Result<()> {
        if self.regions().is_empty() {
            return Ok(());
        }
        on.stage("region interfaces", || {
            let (stars, regions) = (incidence.stars(self), self.regions());
            let mut interface = on.uninitialized(bits.len())?;
            kernel::mark_interfaces::launch(on, self.nodes(), stars, regions, &mut interface)?;
            join_bits(on, &interface, bits)
        })
    }
}
