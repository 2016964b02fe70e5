//! Cells of any kind on a device: checked, by node, their neighbours and boundary nodes.

use gpu::smooth::{self as kernel, MOST_FACES, SURFACE, VOLUME, Vector, WHOLE_CELLS, cell_rule};
use gpu::{collective as collect, smooth};
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use crate::backend::Device;
use crate::collective::{compact, count_bits, exclusive_scan};
use crate::mesh::{Faces, Mesh};
use crate::volume::{CellKind, Cells, VolumeMesh};
use crate::{Error, Result};

/// Most cells: six faces each have a number.
pub const MOST_CELLS: usize = (u32::MAX / MOST_FACES) as usize;

/// Cells on a device: V nodes, N cells, C corners.
pub struct DeviceCells {
    /// Start of each cell in `vertices`, and the end of the last; N + 1, or empty if all are tetrahedra.
    pub offsets: Buffer<u32>,
    /// Vertex ids; C.
    pub vertices: Buffer<u32>,
    /// Cell of each corner; C, or empty if all are tetrahedra.
    pub cells: Buffer<u32>,
    /// Region of each cell; N, or empty.
    pub regions: Buffer<i32>,
    /// N.
    pub count: u32,
    /// V.
    pub nodes: u32,
    /// Whether cells are polygons of a surface.
    pub is_surface: bool,
}

/// A mesh to smooth: V nodes.
pub struct DeviceMesh<P> {
    /// Coordinates; V.
    pub points: Buffer<P>,
    /// Cells.
    pub cells: DeviceCells,
}

fn invalid(element: String, rule: impl Into<String>) -> Error {
    Error::Invalid {
        element,
        rule: rule.into(),
    }
}

impl<P: Vector> DeviceMesh<P> {
    /// Bytes that smoothing takes at once at least, with its mesh, for V nodes and C corners of cells: when neighbours are
    /// listed. How many they are is not known before.
    pub fn bytes_needed(nodes: usize, corners: usize, only_tetrahedra: bool) -> u64 {
        let words = |n: usize| n as u64 * size_of::<u32>() as u64;
        let mesh =
            (nodes * size_of::<P>()) as u64 + words(corners) * if only_tetrahedra { 1 } else { 2 };
        let incidence = words(nodes) + words(corners);
        let lists =
            size_of::<u32>() as u64 * kernel::lists_room(nodes as u32, corners as u32, VOLUME);
        mesh + incidence + lists
    }

    /// Copies a volume mesh to the device and checks it there.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the offending element and the rule that it breaks; [`Error::OutOfMemory`].
    pub fn upload(on: &Device, mesh: &VolumeMesh) -> Result<Self> {
        let (offsets, vertices): (&[u32], &[u32]) = match &mesh.cells {
            Cells::Tetrahedra(tetrahedra) => (&[], bytemuck::cast_slice(tetrahedra)),
            Cells::Mixed(cells) => (&cells.offsets, &cells.vertices),
        };
        for (c, ends) in offsets.windows(2).enumerate() {
            let size = ends[1].saturating_sub(ends[0]) as usize;
            if CellKind::of(size).is_none() {
                return Err(invalid(
                    format!("cell {c}"),
                    format!("has {size} vertices: 4, 5, 6 and 8 make a cell"),
                ));
            }
        }
        let regions = mesh.regions.as_deref().unwrap_or_default();
        if mesh.regions.is_some() && regions.len() != mesh.cells.len() {
            return Err(invalid(
                "the mesh".to_owned(),
                format!(
                    "has region ids for {} cells of {}",
                    regions.len(),
                    mesh.cells.len()
                ),
            ));
        }
        let points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
        Self::from_arrays(
            on,
            &points,
            offsets,
            vertices,
            regions,
            mesh.cells.len(),
            false,
        )
    }

    /// Copies a surface mesh to the device and checks it there.
    ///
    /// # Errors
    /// As [`DeviceMesh::upload`].
    pub fn upload_surface(on: &Device, mesh: &Mesh) -> Result<Self> {
        let points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
        let ends: Vec<u32>;
        let (offsets, vertices): (&[u32], &[u32]) = match &mesh.faces {
            Faces::Triangles(triangles) => {
                ends = (0..=triangles.len() as u32).map(|t| 3 * t).collect();
                (&ends, bytemuck::cast_slice(triangles))
            }
            Faces::Polygons(polygons) => (&polygons.offsets, &polygons.vertices),
        };
        for (f, ends) in offsets.windows(2).enumerate() {
            let size = ends[1].saturating_sub(ends[0]);
            if size < 3 {
                return Err(invalid(format!("face {f}"), format!("has {size} vertices")));
            }
        }
        let regions = mesh.regions.as_deref().unwrap_or_default();
        Self::from_arrays(
            on,
            &points,
            offsets,
            vertices,
            regions,
            mesh.faces.len(),
            true,
        )
    }

    fn from_arrays(
        on: &Device,
        points: &[P],
        offsets: &[u32],
        vertices: &[u32],
        regions: &[i32],
        count: usize,
        is_surface: bool,
    ) -> Result<Self> {
        if count > MOST_CELLS || vertices.len() >= NONE as usize {
            return Err(invalid(
                "the mesh".to_owned(),
                format!("has {count} cells, but at most {MOST_CELLS} fit 32-bit face ids"),
            ));
        }
        on.require(Self::bytes_needed(
            points.len(),
            vertices.len(),
            offsets.is_empty(),
        ))?;
        let mesh = on.stage("copy to the device", || {
            let offsets = on.upload(offsets)?;
            let corners = if offsets.is_empty() {
                0
            } else {
                vertices.len()
            };
            let mut cells = on.uninitialized(corners)?;
            if corners > 0 {
                unsafe { kernel::name_cells::launch(on, count as u32, &offsets, &mut cells) }?;
            }
            Ok(Self {
                points: on.upload(points)?,
                cells: DeviceCells {
                    offsets,
                    vertices: on.upload(vertices)?,
                    cells,
                    regions: on.upload(regions)?,
                    count: count as u32,
                    nodes: points.len() as u32,
                    is_surface,
                },
            })
        })?;
        mesh.check(on)?;
        Ok(mesh)
    }

    fn check(&self, on: &Device) -> Result<()> {
        let found = on.stage("check the mesh", || {
            let mut found = on.filled(cell_rule::COUNT, NONE)?;
            let DeviceCells {
                offsets,
                vertices,
                cells,
                count,
                nodes,
                ..
            } = &self.cells;
            unsafe { kernel::check_nodes::launch(on, *nodes, &self.points, &mut found) }?;
            unsafe {
                kernel::check_cells::launch(
                    on, *count, offsets, vertices, cells, *nodes, &mut found,
                )
            }?;
            on.download(&found)
        })?;
        let cell = if self.cells.is_surface {
            "face"
        } else {
            "cell"
        };
        let rules = [
            (
                "node",
                cell_rule::FINITE,
                "has a coordinate that is not a finite number in the chosen precision",
            ),
            (
                cell,
                cell_rule::RANGE,
                "has a vertex index that is out of range",
            ),
            (cell, cell_rule::TWICE, "has a vertex twice"),
        ];
        for (element, slot, rule) in rules {
            let first = found[slot as usize];
            if first != NONE {
                return Err(invalid(format!("{element} {first}"), rule));
            }
        }
        Ok(())
    }
}

/// Corners of cells by their node.
pub struct Incidence {
    /// Start of each node's corners, and the end of the last; V + 1.
    pub starts: Buffer<u32>,
    /// Corners; of each node in any order, or ascending.
    pub corners: Buffer<u32>,
    /// Whether a node has so many that its cells are not compared one by one.
    has_heavy: bool,
}

/// Neighbours of nodes in compressed sparse rows: D of them, two for each edge.
pub struct Neighbours {
    /// Start of each node's neighbours, and the end of the last; V + 1.
    pub rows: Buffer<u32>,
    /// Node ids, ascending for each node; D.
    pub neighbours: Buffer<u32>,
}

/// What makes two nodes of a cell neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// An edge between them.
    Edge,
    /// The cell.
    Cell,
}

/// Faces and nodes of the boundary.
pub struct Boundary {
    /// Bit 6c + f: face f of cell c is used once. Of a surface bit i: the edge from corner i on is.
    pub faces: Buffer<u32>,
    /// Bit v: node v is on such a face.
    pub nodes: Buffer<u32>,
}

impl DeviceCells {
    /// Number of faces that cells could have, which boundary bits are numbered by.
    pub fn face_slots(&self) -> u32 {
        if self.is_surface {
            self.vertices.len() as u32
        } else {
            self.count * MOST_FACES
        }
    }

    /// Whether all cells are tetrahedra, or triangles of a surface: others have more corners.
    pub fn is_simplicial(&self) -> bool {
        let corners = if self.is_surface { 3 } else { 4 };
        self.vertices.len() == corners * self.count as usize
    }

    /// Which cells each node has.
    ///
    /// # Errors
    /// Those of the device.
    pub fn incidence(&self, on: &Device) -> Result<Incidence> {
        on.stage("cells of nodes", || {
            let corners = self.vertices.len();
            let mut starts = on.filled(self.nodes as usize + 1, 0)?;
            unsafe {
                collect::count_keys::launch(on, corners as u32, &self.vertices, &mut starts)
            }?;
            exclusive_scan(on, &mut starts)?;
            let mut items = on.uninitialized(corners)?;
            unsafe {
                collect::fill_buckets::launch(
                    on,
                    corners as u32,
                    &self.vertices,
                    &mut starts,
                    &mut items,
                )
            }?;
            let mut heavy = on.uninitialized(self.nodes.div_ceil(32) as usize)?;
            unsafe { kernel::mark_heavy::launch(on, self.nodes, &starts, &mut heavy) }?;
            Ok(Incidence {
                has_heavy: count_bits(on, &heavy)? > 0,
                starts,
                corners: items,
            })
        })
    }

    /// Neighbours of all nodes.
    ///
    /// # Errors
    /// Those of the device.
    pub fn neighbours(
        &self,
        on: &Device,
        Incidence {
            starts, corners, ..
        }: &Incidence,
        relation: Relation,
    ) -> Result<Neighbours> {
        let dimension = match (self.is_surface, relation) {
            (true, Relation::Edge) => SURFACE,
            (false, Relation::Edge) => VOLUME,
            (_, Relation::Cell) => WHOLE_CELLS,
        };
        on.stage("neighbours", || {
            let Self {
                offsets,
                vertices,
                cells,
                nodes,
                ..
            } = self;
            let room = kernel::lists_room(*nodes, vertices.len() as u32, dimension);
            if room >= u64::from(NONE) {
                return Err(invalid(
                    "the mesh".to_owned(),
                    "has more neighbours than 32-bit indices can number",
                ));
            }
            let mut lists = on.uninitialized(room as usize)?;
            let mut rows = on.filled(*nodes as usize + 1, 0)?;
            let mut is_heavy = on.uninitialized(nodes.div_ceil(32) as usize)?;
            unsafe {
                kernel::gather_neighbours::launch(
                    on,
                    *nodes,
                    offsets,
                    vertices,
                    cells,
                    starts,
                    corners,
                    dimension,
                    &mut lists,
                    &mut rows,
                    &mut is_heavy,
                )
            }?;
            let heavy = compact(on, &is_heavy)?;
            let many = heavy.len() as u32;
            let mut rooms = on.filled(heavy.len(), 0)?;
            let mut candidates = on.uninitialized(0)?;
            if many > 0 {
                unsafe {
                    kernel::measure_candidates::launch(
                        on, many, &heavy, offsets, vertices, cells, starts, corners, dimension,
                        &mut rooms,
                    )
                }?;
                let room = exclusive_scan(on, &mut rooms)?;
                candidates = on.uninitialized(on.read(&room, 0)? as usize)?;
                unsafe {
                    kernel::sort_candidates::launch(
                        on,
                        many,
                        &heavy,
                        offsets,
                        vertices,
                        cells,
                        starts,
                        corners,
                        dimension,
                        &rooms,
                        &mut candidates,
                        &mut rows,
                    )
                }?;
            }
            let total = exclusive_scan(on, &mut rows)?;
            let mut neighbours = on.uninitialized(on.read(&total, 0)? as usize)?;
            unsafe {
                kernel::move_lists::launch(
                    on,
                    *nodes,
                    starts,
                    &lists,
                    &is_heavy,
                    &rows,
                    dimension,
                    &mut neighbours,
                )
            }?;
            if many > 0 {
                unsafe {
                    kernel::copy_candidates::launch(
                        on,
                        many,
                        &heavy,
                        &rooms,
                        &candidates,
                        &rows,
                        &mut neighbours,
                    )
                }?;
            }
            Ok(Neighbours { rows, neighbours })
        })
    }

    /// Faces that one cell alone uses, and their nodes.
    ///
    /// # Errors
    /// Those of the device.
    pub fn boundary(
        &self,
        on: &Device,
        Incidence {
            starts,
            corners,
            has_heavy,
        }: &Incidence,
    ) -> Result<Boundary> {
        on.stage("boundary", || {
            let Self {
                offsets,
                vertices,
                cells,
                nodes,
                ..
            } = self;
            let slots = self.face_slots();
            let mut on_boundary = on.filled(nodes.div_ceil(32) as usize, 0)?;
            let words = slots.div_ceil(32) as usize;
            if self.is_surface {
                let mut faces = on.uninitialized(words)?;
                unsafe {
                    kernel::mark_border_edges::launch(
                        on,
                        slots,
                        offsets,
                        vertices,
                        cells,
                        starts,
                        corners,
                        &mut on_boundary,
                        &mut faces,
                    )
                }?;
                return Ok(Boundary {
                    faces,
                    nodes: on_boundary,
                });
            }
            let mut faces = on.filled(words, 0)?;
            unsafe {
                kernel::mark_boundary_faces::launch(
                    on,
                    *nodes,
                    offsets,
                    vertices,
                    cells,
                    starts,
                    corners,
                    &mut faces,
                    &mut on_boundary,
                )
            }?;
            if *has_heavy {
                unsafe {
                    kernel::mark_heavy_faces::launch(
                        on,
                        slots,
                        offsets,
                        vertices,
                        cells,
                        starts,
                        corners,
                        &mut faces,
                        &mut on_boundary,
                    )
                }?;
            }
            Ok(Boundary {
                faces,
                nodes: on_boundary,
            })
        })
    }

    /// Adds the nodes between cells of two regions to a bit set.
    ///
    /// # Errors
    /// Those of the device.
    pub fn add_interfaces(
        &self,
        on: &Device,
        Incidence {
            starts, corners, ..
        }: &Incidence,
        bits: &mut Buffer<u32>,
    ) -> Result<()> {
        if self.regions.is_empty() {
            return Ok(());
        }
        on.stage("region interfaces", || {
            let mut interface = on.uninitialized(bits.len())?;
            unsafe {
                kernel::mark_interfaces::launch(
                    on,
                    self.nodes,
                    &self.offsets,
                    &self.vertices,
                    &self.cells,
                    starts,
                    corners,
                    &self.regions,
                    &mut interface,
                )
            }?;
            unsafe { smooth::join_bits::launch(on, bits.len() as u32, &interface, bits) }?;
            Ok(())
        })
    }
}
