//! Vertices and cells along a Hilbert curve: whole meshes and clouds, with all that they carry. The family is
//! [`trioxide::reorder`].

use glam::{DVec2, DVec3};
use trioxide::Buffer;
use trioxide::device::Device;
use trioxide::ids::{Cell, Vertex};
use trioxide::mesh::{self, Faces, Mesh, Polygons};
use trioxide::reorder as family;
use trioxide::volume::{self, VolumeMesh};

use crate::error::Result;
use crate::input::check_ids;
use crate::machine::{On, Start};
use crate::report::{Counts, Run};

pub use crate::error::reorder::Refusal;

/// The machine, the counts, and the maps back.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The machine, with times.
    pub run: Run,
    /// The counts.
    pub totals: Totals,
    /// The old id of each vertex; V.
    pub vertices: Vec<u32>,
    /// The old id of each face of a surface, or each cell of a volume mesh; empty of a cloud.
    pub cells: Vec<u32>,
}

/// The counts of a reordering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Vertices.
    pub vertices: u64,
    /// Faces of a surface.
    pub faces: Option<u64>,
    /// Cells of a volume mesh.
    pub cells: Option<u64>,
    /// Vertices with another id than before; not counted of a mesh that stays on a device.
    pub moved_vertices: Option<u64>,
    /// Faces or cells with another id than before.
    pub moved_cells: Option<u64>,
}

impl Totals {
    fn of(vertices: &[u32], cells: &[u32]) -> Self {
        let moved = |ids: &[u32]| {
            let moved = (0..).zip(ids).filter(|&(new, &old)| new != old);
            Some(moved.count() as u64)
        };
        Self {
            vertices: vertices.len() as u64,
            moved_vertices: moved(vertices),
            moved_cells: moved(cells),
            ..Self::default()
        }
    }

    /// By their names.
    pub fn counts(&self) -> Counts {
        let mut counts: Counts = vec![("vertices", self.vertices.into())];
        counts.extend(self.cells.map(|cells| ("cells", cells.into())));
        counts.extend(self.faces.map(|faces| ("faces", faces.into())));
        let moved = [
            ("moved_vertices", self.moved_vertices),
            ("moved_cells", self.moved_cells),
        ];
        let moved = moved
            .into_iter()
            .filter_map(|(name, count)| Some((name, count?.into())));
        counts.extend(moved);
        counts
    }
}

/// Orders the vertices and the faces of a surface, or of a cloud, with attributes, fields and regions. Segments stay in
/// their order. If all points share one z, the curve is that of the plane.
///
/// ```
/// use trioxide_operations::reorder;
///
/// # fn main() -> trioxide_operations::Result<()> {
/// # let device = trioxide::Device::cpu(None)?;
/// let grid = trioxide::mesh::Mesh::from(trioxide::generate::grid(100)?);
/// let (ordered, report) = reorder(&device, grid.clone())?;
/// assert_eq!(ordered.points[7], grid.points[report.vertices[7] as usize]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A field of another length than the mesh's; a segment with a vertex that is not there; [`Refusal`]; those of
/// [`trioxide::reorder::vertices()`], [`trioxide::reorder::triangles()`] and [`trioxide::reorder::polygons()`], and of
/// the device.
pub fn reorder(on: &dyn Start, mut mesh: Mesh) -> Result<(Mesh, Report)> {
    let (vertices, segments) = (mesh.points.len(), mesh.segments.len());
    mesh.fields.check(vertices, mesh.faces.len(), segments)?;
    for (i, segment) in mesh.segments.iter().enumerate() {
        check_ids("segment", i, &segment.ends, vertices)?;
    }
    let machine = on.start()?;
    // An ordered mesh has other triangles, and they take memory until then.
    drop(machine.remembered());
    let input = match &mesh.faces {
        Faces::Triangles(triangles) => Input::Triangles(triangles),
        Faces::Polygons(polygons) => Input::Polygons(polygons),
    };
    let is_in_plane = mesh
        .points
        .iter()
        .all(|p| p.z == mesh.points[0].z && p.z.is_finite());
    let done = machine.run(|on| match on {
        On::Device(device) if is_in_plane => {
            let points: Vec<DVec2> = mesh.points.iter().map(|p| p.truncate()).collect();
            on_device(device, &points, input)
        }
        On::Device(device) => on_device(device, &mesh.points, input),
        #[cfg(feature = "serial")]
        On::Serial => Err(Refusal::Serial.into()),
    })?;
    let Done {
        vertices,
        cells,
        ordered,
        run,
    } = done;
    if !mesh.segments.is_empty() {
        let new = inverted(&vertices);
        for segment in &mut mesh.segments {
            segment.ends = segment.ends.map(|v| new[v as usize]);
        }
    }
    mesh.faces = match ordered {
        Ordered::Triangles(triangles) => Faces::Triangles(triangles),
        Ordered::Polygons(polygons) => Faces::Polygons(polygons),
        Ordered::Tetrahedra(_) => unreachable!("a surface has no tetrahedra"),
    };
    mesh.points = mesh::gather(&mesh.points, &vertices);
    mesh.attributes = mesh.attributes.gather(&vertices);
    mesh.regions = mesh.regions.map(|regions| mesh::gather(&regions, &cells));
    mesh.fields.points = mesh.fields.points.gather(&vertices);
    mesh.fields.cells = mesh.fields.cells.gather(&cells);
    let totals = Totals {
        faces: Some(cells.len() as u64),
        ..Totals::of(&vertices, &cells)
    };
    let report = Report {
        run,
        totals,
        vertices,
        cells,
    };
    Ok((mesh, report))
}

/// Orders the vertices and the tetrahedra of a volume mesh, with fields and regions. Tagged faces stay in their order.
///
/// ```
/// use trioxide_operations::reorder_volume;
///
/// # fn main() -> trioxide_operations::Result<()> {
/// # let device = trioxide::Device::cpu(None)?;
/// let cubes = trioxide::generate::tet_grid(27, 1)?;
/// let (ordered, report) = reorder_volume(&device, cubes.clone().into())?;
/// assert_eq!(ordered.points[7], cubes.points[report.vertices[7] as usize]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A cell that is no tetrahedron; as [`reorder()`], and [`trioxide::reorder::tetrahedra()`].
pub fn reorder_volume(on: &dyn Start, mut mesh: VolumeMesh) -> Result<(VolumeMesh, Report)> {
    let vertices = mesh.points.len();
    mesh.fields
        .check(vertices, mesh.cells.len(), mesh.faces.len())?;
    for (i, face) in mesh.faces.iter().enumerate() {
        check_ids("tagged face", i, face, vertices)?;
    }
    let tetrahedra = tetrahedra(std::mem::replace(
        &mut mesh.cells,
        volume::Cells::Tetrahedra(Vec::new()),
    ))?;
    let machine = on.start()?;
    drop(machine.remembered());
    let done = machine.run(|on| match on {
        On::Device(device) => on_device(device, &mesh.points, Input::Tetrahedra(&tetrahedra)),
        #[cfg(feature = "serial")]
        On::Serial => Err(Refusal::Serial.into()),
    })?;
    let Done {
        vertices,
        cells,
        ordered,
        run,
    } = done;
    if !mesh.faces.is_empty() {
        let new = inverted(&vertices);
        for v in &mut mesh.faces.vertices {
            *v = new[*v as usize];
        }
    }
    mesh.cells = match ordered {
        Ordered::Tetrahedra(tetrahedra) => volume::Cells::Tetrahedra(tetrahedra),
        _ => unreachable!("the cells are tetrahedra"),
    };
    mesh.points = mesh::gather(&mesh.points, &vertices);
    mesh.regions = mesh.regions.map(|regions| mesh::gather(&regions, &cells));
    mesh.fields.points = mesh.fields.points.gather(&vertices);
    mesh.fields.cells = mesh.fields.cells.gather(&cells);
    let totals = Totals {
        cells: Some(cells.len() as u64),
        ..Totals::of(&vertices, &cells)
    };
    let report = Report {
        run,
        totals,
        vertices,
        cells,
    };
    Ok((mesh, report))
}

/// A mesh of triangles or tetrahedra on a device, or a cloud, which has no triangles.
pub struct DeviceMesh<P> {
    /// Points.
    pub points: Buffer<P>,
    /// Vertices of the cells, three or four each.
    pub cells: DeviceCells,
    /// A number of each cell.
    pub regions: Option<Buffer<u32>>,
    /// Ends of segments, two each.
    pub segments: Option<Buffer<Vertex>>,
    /// Normals of the vertices.
    pub normals: Option<Buffer<DVec3>>,
    /// Colours of the vertices, four bytes each.
    pub colors: Option<Buffer<u32>>,
    /// Texture coordinates of the vertices.
    pub uvs: Option<Buffer<DVec2>>,
}

/// Vertices of cells on a device.
pub enum DeviceCells {
    /// Three each.
    Triangles(Buffer<Vertex>),
    /// Four each.
    Tetrahedra(Buffer<Vertex>),
}

/// Points on a device: of the plane; or of space, on the curve of the plane where the points of a surface share one z.
pub trait DevicePoint: family::Point {
    /// Orders the points of a surface or a cloud.
    ///
    /// # Errors
    /// Those of [`trioxide::reorder::vertices()`].
    fn order(on: &Device, points: &Buffer<Self>) -> trioxide::Result<family::Vertices<Self>>;
}

impl DevicePoint for DVec2 {
    fn order(on: &Device, points: &Buffer<Self>) -> trioxide::Result<family::Vertices<Self>> {
        family::vertices(on, points)
    }
}

impl DevicePoint for DVec3 {
    fn order(on: &Device, points: &Buffer<Self>) -> trioxide::Result<family::Vertices<Self>> {
        family::vertices_in_space(on, points)
    }
}

/// A mesh in its order on a device, with the maps back.
pub struct DeviceOrdered<P> {
    /// The mesh.
    pub mesh: DeviceMesh<P>,
    /// The old id of each vertex.
    pub vertices: Buffer<Vertex>,
    /// The old id of each cell.
    pub cells: Buffer<Cell>,
}

/// Orders a mesh that is on a device, where the result stays. The report has no maps: they are with the result.
///
/// # Errors
/// As [`reorder()`] and [`reorder_volume()`].
pub fn resident<P: DevicePoint>(
    on: &Device,
    mesh: DeviceMesh<P>,
) -> Result<(DeviceOrdered<P>, Report)> {
    let (DeviceCells::Triangles(corners) | DeviceCells::Tetrahedra(corners)) = &mesh.cells;
    let is_surface = matches!(mesh.cells, DeviceCells::Triangles(_));
    let count = corners.len() / if is_surface { 3 } else { 4 };
    on.require(family::bytes_needed::<P>(
        mesh.points.len(),
        corners.len(),
        count,
    ))?;
    let vertices = match is_surface {
        true => P::order(on, &mesh.points)?,
        false => family::vertices(on, &mesh.points)?,
    };
    let (corners, cells) = match is_surface {
        true => family::triangles(on, corners, &vertices)?.into_arrays(),
        false => family::tetrahedra(on, corners, &vertices)?.into_arrays(),
    };
    let (regions, segments, normals, colors, uvs) = on.stage("carry data", || {
        let old = vertices.old();
        let carry = family::carry::<u32, Cell>;
        let regions = mesh.regions.map(|regions| carry(on, &regions, &cells));
        let ends = mesh.segments.as_ref();
        let segments = ends.map(|ends| family::renumber(on, ends, &vertices, ("segment", 2)));
        let normals = mesh.normals.map(|normals| family::carry(on, &normals, old));
        let colors = mesh.colors.map(|colors| family::carry(on, &colors, old));
        let uvs = mesh.uvs.map(|uvs| family::carry(on, &uvs, old));
        Ok((
            regions.transpose()?,
            segments.transpose()?,
            normals.transpose()?,
            colors.transpose()?,
            uvs.transpose()?,
        ))
    })?;
    let (points, vertices, _) = vertices.into_arrays();
    let totals = Totals {
        vertices: points.len() as u64,
        faces: is_surface.then_some(count as u64),
        cells: (!is_surface).then_some(count as u64),
        ..Totals::default()
    };
    let report = Report {
        run: Run::of(on, Vec::new())?,
        totals,
        ..Report::default()
    };
    let mesh = DeviceMesh {
        points,
        cells: match is_surface {
            true => DeviceCells::Triangles(corners),
            false => DeviceCells::Tetrahedra(corners),
        },
        regions,
        segments,
        normals,
        colors,
        uvs,
    };
    let ordered = DeviceOrdered {
        mesh,
        vertices,
        cells,
    };
    Ok((ordered, report))
}

/// The cells, if all are tetrahedra.
fn tetrahedra(cells: volume::Cells) -> trioxide::Result<Vec<[u32; 4]>> {
    let mesh = VolumeMesh {
        cells,
        points: Vec::new(),
        regions: None,
        faces: Polygons::default(),
        face_tags: Vec::new(),
        fields: Default::default(),
        about: Default::default(),
    };
    Ok(mesh.into_tet_mesh()?.tetrahedra)
}

/// The new id of each old one.
fn inverted(old: &[u32]) -> Vec<u32> {
    let mut new = vec![0; old.len()];
    for (i, &v) in (0..).zip(old) {
        new[v as usize] = i;
    }
    new
}

/// Cells of a mesh.
#[derive(Clone, Copy)]
enum Input<'a> {
    Triangles(&'a [[u32; 3]]),
    Tetrahedra(&'a [[u32; 4]]),
    Polygons(&'a Polygons),
}

/// Cells in their order.
enum Ordered {
    Triangles(Vec<[u32; 3]>),
    Tetrahedra(Vec<[u32; 4]>),
    Polygons(Polygons),
}

struct Done {
    vertices: Vec<u32>,
    cells: Vec<u32>,
    ordered: Ordered,
    run: Run,
}

fn on_device<P: family::Point>(on: &Device, points: &[P], input: Input<'_>) -> Result<Done> {
    let corners = match input {
        Input::Triangles(triangles) => triangles.as_flattened(),
        Input::Tetrahedra(tetrahedra) => tetrahedra.as_flattened(),
        Input::Polygons(polygons) => &polygons.vertices,
    };
    let cells = match input {
        Input::Triangles(triangles) => triangles.len(),
        Input::Tetrahedra(tetrahedra) => tetrahedra.len(),
        Input::Polygons(polygons) => polygons.len(),
    };
    on.require(family::bytes_needed::<P>(
        points.len(),
        corners.len(),
        cells,
    ))?;
    let (points, corners): (_, Buffer<Vertex>) = on.stage("copy to the device", || {
        Ok((on.upload(points)?, on.upload(corners)?.cast()))
    })?;
    let vertices = family::vertices(on, &points)?;
    drop(points);
    let host = "copy to the host";
    let (ordered, cells) = match input {
        Input::Polygons(polygons) => {
            let none = [0];
            let offsets = match polygons.is_empty() {
                true => &none[..],
                false => &polygons.offsets,
            };
            let offsets = on.stage("copy to the device", || on.upload(offsets))?;
            let done = family::polygons(on, &offsets, &corners, &vertices)?;
            on.stage(host, || {
                let polygons = Polygons {
                    offsets: on.download(done.offsets())?,
                    vertices: on.download_rows(done.vertices())?,
                };
                Ok((Ordered::Polygons(polygons), on.download_rows(done.old())?))
            })?
        }
        Input::Triangles(_) => {
            let done = family::triangles(on, &corners, &vertices)?;
            on.stage(host, || {
                let triangles = on.download_rows(done.corners())?;
                Ok((Ordered::Triangles(triangles), on.download_rows(done.old())?))
            })?
        }
        Input::Tetrahedra(_) => {
            let done = family::tetrahedra(on, &corners, &vertices)?;
            on.stage(host, || {
                let tetrahedra = on.download_rows(done.corners())?;
                Ok((
                    Ordered::Tetrahedra(tetrahedra),
                    on.download_rows(done.old())?,
                ))
            })?
        }
    };
    let vertices = on.stage(host, || on.download_rows(vertices.old()))?;
    Ok(Done {
        vertices,
        cells,
        ordered,
        run: Run::of(on, Vec::new())?,
    })
}
