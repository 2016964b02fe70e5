//! Meshes of cells of any kind on a device, checked there.

use glam::DVec3;
use gpu::ids::{Cell, Vertex};
use gpu::smooth::{self as kernel, CellsBuffers, MOST_FACES, VOLUME, Vector, cell_rule};
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use crate::device::Device;
use crate::mesh::{Faces, Mesh, Polygons};
use crate::points::upload_points;
use crate::volume::{CellKind, Cells, VolumeMesh, bounds};
use crate::{Error, Result};
use trioxide_mesh::parallel;

/// Most cells: six faces each have a number.
pub const MOST_CELLS: usize = (u32::MAX / MOST_FACES) as usize;

/// Cells on a device: V nodes, N cells, C corners.
///
/// The cells were checked: offsets ascend to C, vertices are below V, and no cell has one twice.
pub struct DeviceCells {
    /// First corner of each cell, and the end of the last; N + 1, or empty if all are tetrahedra.
    offsets: Buffer<u32>,
    /// Vertex at each corner; C.
    vertices: Buffer<Vertex>,
    /// Cell of each corner; C, or empty if all are tetrahedra.
    cells: Buffer<Cell>,
    /// Region of each cell; N, or empty.
    regions: Buffer<i32>,
    nodes: u32,
    is_surface: bool,
}

impl DeviceCells {
    /// Number of cells.
    pub fn len(&self) -> usize {
        self.buffers().count()
    }

    /// Whether there is no cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of nodes.
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// Whether cells are polygons of a surface.
    pub fn is_surface(&self) -> bool {
        self.is_surface
    }

    /// Whether all cells are tetrahedra, or triangles of a surface: other cells have more corners.
    pub fn is_simplicial(&self) -> bool {
        let corners = if self.is_surface { 3 } else { 4 };
        self.vertices.len() == corners * self.len()
    }

    /// The arrays, as kernels take them.
    pub(crate) fn buffers(&self) -> CellsBuffers<'_> {
        CellsBuffers {
            offsets: &self.offsets,
            vertices: &self.vertices,
            cells: &self.cells,
        }
    }

    /// Vertex at each corner.
    pub(super) fn vertices(&self) -> &Buffer<Vertex> {
        &self.vertices
    }

    /// Region of each cell, or nothing.
    pub(super) fn regions(&self) -> &Buffer<i32> {
        &self.regions
    }

    /// Triangles of a surface of `nodes` nodes, on the device already.
    ///
    /// # Safety
    /// Offsets ascend from 0 to the number of vertices. The other rules of [`DeviceCells`] hold, or are checked before
    /// the result is used.
    pub(super) unsafe fn of_corners(
        on: &Device,
        offsets: Buffer<u32>,
        vertices: Buffer<Vertex>,
        nodes: u32,
    ) -> Result<Self> {
        let mut cells = on.uninitialized(vertices.len())?;
        let count = offsets.len() as u32 - 1;
        kernel::name_cells::launch(on, count, &offsets, &mut cells)?;
        Ok(Self {
            offsets,
            vertices,
            cells,
            regions: on.uninitialized(0)?,
            nodes,
            is_surface: true,
        })
    }

    /// Tetrahedra of a volume mesh of `nodes` nodes, on the device already.
    ///
    /// # Safety
    /// As [`DeviceCells::of_corners`].
    pub(super) unsafe fn of_tetrahedra(
        on: &Device,
        vertices: Buffer<Vertex>,
        nodes: u32,
    ) -> Result<Self> {
        Ok(Self {
            offsets: on.uninitialized(0)?,
            vertices,
            cells: on.uninitialized(0)?,
            regions: on.uninitialized(0)?,
            nodes,
            is_surface: false,
        })
    }

    /// Copies `polygons` to the device, of a surface of `nodes` nodes; they are not checked.
    ///
    /// # Safety
    /// Offsets ascend from 0 to the number of vertices, which are below `nodes`; no polygon has a vertex twice.
    pub(crate) unsafe fn of_polygons(
        on: &Device,
        polygons: &Polygons,
        nodes: usize,
    ) -> Result<Self> {
        let lists = Lists {
            offsets: &polygons.offsets,
            vertices: &polygons.vertices,
            regions: &[],
            nodes,
            is_surface: true,
        };
        // SAFETY: the caller's promise.
        on.stage("copy to the device", || unsafe { lists.upload(on) })
    }
}

/// A mesh to smooth, on a device: V nodes.
pub struct DeviceMesh<P> {
    points: Buffer<P>,
    cells: DeviceCells,
    bounds: (DVec3, DVec3),
}

/// Arrays of cells in host memory.
struct Lists<'a> {
    offsets: &'a [u32],
    vertices: &'a [u32],
    regions: &'a [i32],
    nodes: usize,
    is_surface: bool,
}

fn invalid(element: String, rule: impl Into<String>) -> Error {
    Error::Invalid {
        element,
        rule: rule.into(),
    }
}

impl Lists<'_> {
    /// Number of cells.
    fn count(&self) -> usize {
        match self.offsets.len() {
            0 => self.vertices.len() / 4,
            ends => ends - 1,
        }
    }

    fn element(&self) -> &'static str {
        if self.is_surface { "face" } else { "cell" }
    }

    /// Refuses arrays that do not fit each other, or 32-bit ids. `check_size` gives the rule that a number of vertices
    /// breaks.
    fn check(&self, check_size: impl Fn(usize) -> Option<String> + Sync) -> Result<()> {
        let whole = |rule| Err(invalid("the mesh".to_owned(), rule));
        let (count, element) = (self.count(), self.element());
        if count > MOST_CELLS || self.vertices.len() >= NONE as usize {
            return whole(format!(
                "has {count} cells, but at most {MOST_CELLS} fit 32-bit face ids"
            ));
        }
        if self.nodes >= NONE as usize {
            return whole(format!("has {} nodes, which exceed 32-bit ids", self.nodes));
        }
        let broken = |c: usize| {
            let size = self.offsets[c + 1].saturating_sub(self.offsets[c]) as usize;
            Some((c, check_size(size)?))
        };
        if let Some((c, rule)) = parallel::find_map(self.offsets.len().saturating_sub(1), broken) {
            return Err(invalid(format!("{element} {c}"), rule));
        }
        let (first, last) = (self.offsets.first(), self.offsets.last());
        if first.is_some_and(|&first| first != 0)
            || last.is_some_and(|&last| last as usize != self.vertices.len())
        {
            return whole(format!(
                "has offsets of {element}s that do not run from 0 to the number of their vertices"
            ));
        }
        if !self.regions.is_empty() && self.regions.len() != count {
            return whole(format!(
                "has region ids for {} {element}s of {count}",
                self.regions.len()
            ));
        }
        Ok(())
    }

    /// Copies the arrays to the device.
    ///
    /// # Safety
    /// Offsets ascend from 0 to the number of vertices. The other rules of [`DeviceCells`] hold, or are checked before
    /// the result is used.
    unsafe fn upload(&self, on: &Device) -> Result<DeviceCells> {
        let offsets = on.upload(self.offsets)?;
        let corners = if offsets.is_empty() {
            0
        } else {
            self.vertices.len()
        };
        let mut cells = on.uninitialized(corners)?;
        if corners > 0 {
            let count = self.count() as u32;
            kernel::name_cells::launch(on, count, &offsets, &mut cells)?;
        }
        Ok(DeviceCells {
            offsets,
            vertices: on.upload(self.vertices)?.cast(),
            cells,
            regions: on.upload(self.regions)?,
            nodes: self.nodes as u32,
            is_surface: self.is_surface,
        })
    }
}

/// Lowest and highest coordinates, by several threads.
pub(super) fn bounds_of(points: &[DVec3]) -> (DVec3, DVec3) {
    let pieces = parallel::map_pieces(points.len(), 1 << 16, |range| bounds(&points[range]));
    pieces
        .into_iter()
        .fold(bounds(&[]), |(a, b), (low, high)| (a.min(low), b.max(high)))
}

impl<P: Vector> DeviceMesh<P> {
    pub(super) fn new(points: Buffer<P>, cells: DeviceCells, bounds: (DVec3, DVec3)) -> Self {
        Self {
            points,
            cells,
            bounds,
        }
    }

    pub(super) fn set_bounds(&mut self, bounds: (DVec3, DVec3)) {
        self.bounds = bounds;
    }

    /// The mesh with a region for each cell: nodes between two regions stay.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a list of another length.
    pub fn with_regions(mut self, regions: Buffer<i32>) -> Result<Self> {
        let (cells, given) = (self.cells.len(), regions.len());
        if cells != given {
            let element = if self.cells.is_surface {
                "face"
            } else {
                "cell"
            };
            let rule = format!("has region ids for {given} {element}s of {cells}");
            return Err(invalid("the mesh".to_owned(), rule));
        }
        self.cells.regions = regions;
        Ok(self)
    }

    /// Vertex at each corner.
    pub(super) fn into_corners(self) -> Buffer<Vertex> {
        self.cells.vertices
    }

    /// Coordinates; V.
    pub fn points(&self) -> &Buffer<P> {
        &self.points
    }

    /// Cells.
    pub fn cells(&self) -> &DeviceCells {
        &self.cells
    }

    /// Lowest and highest coordinates of the nodes.
    pub fn bounds(&self) -> (DVec3, DVec3) {
        self.bounds
    }

    /// Bytes that smoothing takes at least at once, with its mesh, for V nodes and C corners of cells: while neighbours
    /// are listed. The number of neighbours is not known before.
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
            Cells::Mixed(cells) if cells.offsets.is_empty() => (&[0], &cells.vertices),
            Cells::Mixed(cells) => (&cells.offsets, &cells.vertices),
        };
        let lists = Lists {
            offsets,
            vertices,
            regions: mesh.regions.as_deref().unwrap_or_default(),
            nodes: mesh.points.len(),
            is_surface: false,
        };
        lists.check(|size| match CellKind::of(size) {
            Some(_) => None,
            None => Some(format!("has {size} vertices: 4, 5, 6 and 8 make a cell")),
        })?;
        if mesh.regions.is_some() && lists.regions.is_empty() && !mesh.cells.is_empty() {
            let rule = format!("has region ids for 0 cells of {}", mesh.cells.len());
            return Err(invalid("the mesh".to_owned(), rule));
        }
        Self::from_lists(on, &mesh.points, &lists)
    }

    /// Copies a surface mesh to the device and checks it there.
    ///
    /// # Errors
    /// As [`DeviceMesh::upload`].
    pub fn upload_surface(on: &Device, mesh: &Mesh) -> Result<Self> {
        let ends: Vec<u32>;
        let (offsets, vertices): (&[u32], &[u32]) = match &mesh.faces {
            Faces::Triangles(triangles) => {
                // Numbers that do not fit 32-bit ids are refused below.
                let last = triangles.len().min(MOST_CELLS + 1) as u32;
                ends = parallel::collect(last as usize + 1, |t| 3 * t as u32);
                (&ends, bytemuck::cast_slice(triangles))
            }
            Faces::Polygons(polygons) if polygons.offsets.is_empty() => (&[0], &polygons.vertices),
            Faces::Polygons(polygons) => (&polygons.offsets, &polygons.vertices),
        };
        let lists = Lists {
            offsets,
            vertices,
            regions: mesh.regions.as_deref().unwrap_or_default(),
            nodes: mesh.points.len(),
            is_surface: true,
        };
        lists.check(|size| (size < 3).then(|| format!("has {size} vertices")))?;
        Self::from_lists(on, &mesh.points, &lists)
    }

    /// Copies checked lists to the device, and checks points and vertices there.
    fn from_lists(on: &Device, points: &[DVec3], lists: &Lists<'_>) -> Result<Self> {
        let only_tetrahedra = lists.offsets.is_empty();
        let needed = Self::bytes_needed(points.len(), lists.vertices.len(), only_tetrahedra);
        on.require(needed)?;
        let bounds = on.on_host(|| bounds_of(points));
        let mesh = on.stage("copy to the device", || {
            Ok(Self {
                points: upload_points(on, points, points.len())?,
                // SAFETY: the offsets were checked; the vertices are checked below.
                cells: unsafe { lists.upload(on) }?,
                bounds,
            })
        })?;
        mesh.check(on, lists.element())?;
        Ok(mesh)
    }

    /// Finds a node that is not finite, and a cell with an index out of range or a vertex twice.
    pub(super) fn check(&self, on: &Device, element: &str) -> Result<()> {
        let found = on.stage("check the mesh", || {
            let mut found = on.filled(cell_rule::COUNT, NONE)?;
            let (cells, nodes) = (&self.cells, self.cells.nodes);
            kernel::check_nodes::launch(on, nodes, &self.points, &mut found)?;
            let (count, buffers) = (cells.len() as u32, cells.buffers());
            kernel::check_cells::launch(on, count, buffers, nodes, &mut found)?;
            on.download(&found)
        })?;
        let large = format!(
            "has a coordinate beyond {:e}: squares of distances leave {}; scale the mesh down",
            P::LARGEST,
            P::PRECISION
        );
        let rules = [
            (
                "node",
                cell_rule::FINITE,
                "has a coordinate that is not a finite number in the chosen precision",
            ),
            (
                element,
                cell_rule::RANGE,
                "has a vertex index that is out of range",
            ),
            (element, cell_rule::TWICE, "has a vertex twice"),
            ("node", cell_rule::LARGE, &large),
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
