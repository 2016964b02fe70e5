//! Triangles of the plane or of a surface in space become polygons: whole meshes, with all that they carry. The family
//! is [`trioxide::polylla`]; tetrahedra become [`polyhedra`](mod@crate::polyhedra).

pub(crate) mod levels;
mod options;
mod points;
mod report;
#[cfg(feature = "serial")]
mod serial;
mod short_edges;

use glam::{DVec2, DVec3, Vec2, Vec3};
use gpu::point::DoublePoint;
use trioxide::Buffer;
use trioxide::device::Device;
use trioxide::digest;
use trioxide::fields::{Carried, Fields};
use trioxide::half_edges::{DeviceTriangulation, Point, Remembered, turn_clockwise};
use trioxide::indexed::{self, Neighbours, Repair};
use trioxide::levels::Nested;
use trioxide::mesh::{Faces, Mesh, PolygonMesh, PolyllaLists, Triangulation, gather};
use trioxide::polylla::{
    self as family, Constraints, DevicePolygons, PolygonTriangles, ShortEdgeCounts,
};

use crate::error::Result;
use crate::input::{apart, check_faces, turning};
use crate::machine::{On, Start};
use crate::precision::Precision;
use crate::report::{CLOCKWISE, Note, Run};
use crate::scale::Scale;

pub use crate::error::polylla::Refusal;
pub use levels::{add_fields, of_pieces};
pub use options::{DataStructure, Options};
use points::Points;
pub use report::{Report, Totals};
use short_edges::Kept;

/// Joins the triangles of a mesh to polygons, of the plane where all z are the same, else of a surface in space, with
/// its attributes, fields, regions and segments.
///
/// ```
/// use trioxide_operations::polylla;
///
/// # fn main() -> trioxide_operations::Result<()> {
/// # let device = trioxide::Device::cpu(None)?;
/// let squares = trioxide::generate::grid(9)?;
/// let (polygons, report) = polylla(&device, squares.into(), &polylla::Options::default())?;
/// assert_eq!((report.totals.triangles, polygons.faces.len()), (8, 4));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A mesh that is no triangulation, with the element; [`Refusal`]; those of [`trioxide::polylla::polylla()`] and of the
/// device.
pub fn polylla(on: &dyn Start, mesh: Mesh, options: &Options) -> Result<(Mesh, Report)> {
    Ok(Input::new(mesh, options)?.find(on, options)?.into_mesh())
}

/// The triangles of a mesh.
enum Dimensions {
    /// Of the plane.
    Plane(Triangulation),
    /// Of a surface in space.
    Space(Triangulation<DVec3>),
}

/// A mesh that may be joined to polygons: a triangulation of the plane or of a surface, with all that it carries.
pub struct Input {
    mesh: Dimensions,
    carried: Carried,
    scale: Scale,
}

impl Input {
    /// Checks what can be checked before a machine is there.
    ///
    /// # Errors
    /// A mesh without faces or with others than triangles; a field of another length than the mesh's; those of
    /// [`Options::check`] and, for a surface, of [`Options::check_surface`].
    pub fn new(mut mesh: Mesh, options: &Options) -> Result<Self> {
        options.check()?;
        check_faces(&mesh)?;
        let scale = Scale::take(&mut mesh.points, options.precision)?;
        let mut carried = Carried::take(&mut mesh)?;
        if options.unconstrained {
            mesh.regions = None;
            mesh.segments.clear();
            carried.fields.sides = Fields::default();
        }
        let mesh = match mesh.is_planar() {
            true => Dimensions::Plane(mesh.into_triangulation()?),
            false => {
                let mesh = mesh.into_surface()?;
                options.check_surface()?;
                Dimensions::Space(mesh)
            }
        };
        Ok(Self {
            mesh,
            carried,
            scale,
        })
    }

    /// Position of vertex `i`.
    pub fn point(&self, i: usize) -> DVec3 {
        self.scale.back(match &self.mesh {
            Dimensions::Plane(mesh) => mesh.points[i].in_space(),
            Dimensions::Space(mesh) => mesh.points[i],
        })
    }

    /// Number of vertices; V.
    pub fn vertices(&self) -> usize {
        match &self.mesh {
            Dimensions::Plane(mesh) => mesh.points.len(),
            Dimensions::Space(mesh) => mesh.points.len(),
        }
    }

    /// Finds the polygons.
    ///
    /// # Errors
    /// As [`polylla()`].
    pub fn find(self, on: &dyn Start, options: &Options) -> Result<MeshPolygons> {
        let Self {
            mesh,
            carried,
            scale,
        } = self;
        let found = match mesh {
            Dimensions::Plane(mesh) => {
                find::<DVec2, Vec2>(on, mesh, carried, options, Dimensions::Plane)
            }
            Dimensions::Space(mesh) => {
                find::<DVec3, Vec3>(on, mesh, carried, options, Dimensions::Space)
            }
        };
        let found = found.map_err(|error| scale.explain(error))?;
        Ok(MeshPolygons { scale, ..found })
    }
}

/// Finds the polygons of a mesh of points that are `P` in double precision, and `S` in single.
fn find<P, S>(
    on: &dyn Start,
    mesh: Triangulation<P>,
    carried: Carried,
    options: &Options,
    dimensions: fn(Triangulation<P>) -> Dimensions,
) -> Result<MeshPolygons>
where
    P: Points<Double = P> + DoublePoint,
    S: Points<Double = P>,
{
    let pinned = match options.min_edge {
        Some(_) => short_edges::pinned(&mesh.segments, &carried.fields.sides),
        None => Vec::new(),
    };
    let wanted = Wanted {
        options,
        triangles: options.parents || !carried.fields.cells.is_empty(),
        pinned: &pinned,
    };
    let machine = on.start()?;
    let remembered = machine.remembered();
    let remembered = remembered.as_ref();
    let join = |mesh: &Triangulation<P>| {
        machine.run(|on| match (on, options.precision) {
            (On::Device(device), Precision::F64) => {
                on_device::<P>(device, mesh, wanted, remembered)
            }
            (On::Device(device), Precision::F32) => {
                on_device::<S>(device, mesh, wanted, remembered)
            }
            #[cfg(feature = "serial")]
            (On::Serial, Precision::F64) => serial::serial::<P>(mesh, wanted),
            #[cfg(feature = "serial")]
            (On::Serial, Precision::F32) => serial::serial::<S>(mesh, wanted),
        })
    };
    let mut mesh = mesh;
    let count = mesh.triangles.len();
    let (done, note) = turning((&mut mesh, count), join, turn_clockwise, CLOCKWISE)?;
    let Done {
        mut lists,
        triangles,
        repair_rounds,
        shortened,
        run,
    } = done;
    let point = |v: u32| mesh.points[v as usize].in_space();
    let notes = note
        .into_iter()
        .chain(apart(point, mesh.points.len(), &mesh.triangles));
    let notes = notes.collect();
    let mut carried = carried;
    let (places, counts) = shortened.unzip();
    let kept = places.as_ref().map(|places| {
        short_edges::drop_vertices(
            &mut lists.polygons,
            &mut mesh.segments,
            &mut carried,
            places,
        )
    });
    let digest = options.digest.then(|| {
        digest::of_polygons(lists.half_edges.len(), |i| {
            let vertices = lists.polygons.get(i).iter();
            digest::of_polygon(lists.half_edges[i].into(), vertices.map(|&v| v.into()))
        })
    });
    let totals = Totals {
        vertices: mesh.points.len() as u64,
        triangles: mesh.triangles.len() as u64,
        digest,
        repair_rounds,
        short_edges: counts.map(|counts| counts.short.into()),
        removed_vertices: counts.map(|counts| counts.removed.into()),
        short_edges_left: counts.map(|counts| counts.left.into()),
        short_edges_held: counts.map(|counts| counts.held.into()),
        ..lists.counts.into()
    };
    let mut polygons = MeshPolygons {
        mesh: dimensions(mesh),
        carried,
        lists,
        triangles,
        is_asked_for_parents: options.parents,
        kept,
        nested: None,
        run,
        totals,
        notes,
        scale: Scale::default(),
    };
    if let Some(goal) = options.goal() {
        polygons.nest(&machine, goal)?;
    }
    Ok(polygons)
}

/// The polygons of a mesh.
pub struct MeshPolygons {
    /// The triangles, with the segments that the polygons have.
    mesh: Dimensions,
    carried: Carried,
    lists: PolyllaLists,
    triangles: Option<PolygonTriangles>,
    is_asked_for_parents: bool,
    /// The vertices that are left, and the new ids of all, where short edges collapsed.
    kept: Option<Kept>,
    /// Nested levels, if the options ask for them.
    nested: Option<Nested>,
    run: Run,
    totals: Totals,
    /// The notes on the triangles.
    notes: Vec<Note>,
    /// The size of the triangles.
    scale: Scale,
}

impl MeshPolygons {
    /// The report alone.
    pub fn into_report(self) -> Report {
        Report {
            notes: (self.notes.into_iter())
                .chain(levels::notes(self.nested.as_ref()))
                .collect(),
            run: self.run,
            totals: self.totals,
            half_edges: self.lists.half_edges,
            parents: self.triangles.filter(|_| self.is_asked_for_parents),
            places: self.kept.map(|kept| kept.new_ids),
            nested: self.nested,
        }
    }

    /// The mesh of the polygons with all that it carries, and the report.
    pub fn into_mesh(mut self) -> (Mesh, Report) {
        let mut polygons =
            match std::mem::replace(&mut self.mesh, Dimensions::Plane(<_>::default())) {
                Dimensions::Plane(mesh) => {
                    let in_space = |points| PolygonMesh {
                        points,
                        ..PolygonMesh::default()
                    };
                    self.polygons(mesh, |points| Mesh::from(in_space(points)).points)
                }
                Dimensions::Space(mesh) => self.polygons(mesh, |points| points),
            };
        self.scale.back_all(&mut polygons.points);
        (polygons, self.into_report())
    }

    /// The polygons of `mesh` with all that it carries, which is taken; `in_space` gives the points in space.
    fn polygons<V: DoublePoint>(
        &mut self,
        mut mesh: Triangulation<V>,
        in_space: impl FnOnce(Vec<V>) -> Vec<DVec3>,
    ) -> Mesh {
        let half_edges = &self.lists.half_edges;
        let cells = &mut self.carried.fields.cells;
        if let Some(triangles) = &self.triangles
            && !cells.is_empty()
        {
            *cells = cells.mixed(&triangles.clone().mix(&mesh, half_edges));
        }
        if let Some(nested) = &self.nested {
            levels::add_fields(nested, cells);
        }
        let regions = self.regions(mesh.regions.as_deref());
        let mut polygons = Mesh {
            points: in_space(match &self.kept {
                Some(kept) => gather(&mesh.points, &kept.old_ids),
                None => std::mem::take(&mut mesh.points),
            }),
            faces: Faces::Polygons(std::mem::take(&mut self.lists.polygons)),
            regions,
            // Each is a frontier edge, and those stay sides of polygons.
            segments: mesh.segments,
            ..Mesh::default()
        };
        std::mem::take(&mut self.carried).put(&mut polygons);
        polygons
    }

    /// The region of each polygon: that of the triangle of its half-edge.
    fn regions(&self, of_triangles: Option<&[i32]>) -> Option<Vec<i32>> {
        let half_edges = self.lists.half_edges.iter();
        of_triangles.map(|regions| half_edges.map(|&h| regions[h as usize / 3]).collect())
    }
}

/// Joins the triangles of a mesh of the plane that is on a device, which have these regions and segments; the polygons
/// stay there, with their regions.
///
/// ```
/// use trioxide::half_edges::DeviceTriangulation;
/// use trioxide_operations::polylla;
///
/// # fn main() -> trioxide_operations::Result<()> {
/// # let device = trioxide::Device::cpu(None)?;
/// let mesh = DeviceTriangulation::upload(&device, &trioxide::generate::grid(9)?)?;
/// let options = polylla::Options::default();
/// let (polygons, _, totals) = polylla::resident(&device, &mesh, None, None, &options)?;
/// assert_eq!((polygons.download_lists(&device)?.len(), totals.regions), (4, 4));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As [`polylla()`]; [`Refusal::Resident`].
pub fn resident(
    on: &Device,
    mesh: &DeviceTriangulation<DVec2>,
    regions: Option<&Buffer<i32>>,
    segments: Option<&Buffer<[u32; 2]>>,
    options: &Options,
) -> Result<(DevicePolygons, Option<Buffer<i32>>, Totals)> {
    join_resident(on, mesh, regions, segments, options)
}

/// As [`resident()`], of a surface in space.
///
/// # Errors
/// As [`resident()`].
pub fn resident_surface(
    on: &Device,
    mesh: &DeviceTriangulation<DVec3>,
    regions: Option<&Buffer<i32>>,
    segments: Option<&Buffer<[u32; 2]>>,
    options: &Options,
) -> Result<(DevicePolygons, Option<Buffer<i32>>, Totals)> {
    join_resident(on, mesh, regions, segments, options)
}

fn join_resident<P: Points>(
    on: &Device,
    mesh: &DeviceTriangulation<P>,
    regions: Option<&Buffer<i32>>,
    segments: Option<&Buffer<[u32; 2]>>,
    options: &Options,
) -> Result<(DevicePolygons, Option<Buffer<i32>>, Totals)> {
    options.check_resident()?;
    let regions = regions.filter(|_| !options.unconstrained);
    let segments = segments.filter(|_| !options.unconstrained);
    let constraints = Constraints::of_arrays(on, mesh, regions, segments)?;
    let constraints = P::with_angles(on, mesh, constraints, options)?;
    let polygons = family::polylla(on, mesh, constraints.as_ref(), options.settings())?;
    let polygons = P::divide(on, mesh, polygons, options)?;
    let regions = regions.map(|regions| polygons.regions(on, mesh, regions));
    let digest = options.digest.then(|| polygons.digest(on));
    let totals = Totals {
        vertices: mesh.points().len() as u64,
        triangles: mesh.triangles() as u64,
        digest: digest.transpose()?,
        ..polygons.counts().into()
    };
    Ok((polygons, regions.transpose()?, totals))
}

/// Polygons, and the work that they took.
struct Done {
    lists: PolyllaLists,
    /// Triangles of each polygon, if they are wanted.
    triangles: Option<PolygonTriangles>,
    repair_rounds: Option<u32>,
    /// Of short edges that collapsed: for each vertex the one in its place, and the numbers of edges.
    shortened: Option<(Vec<u32>, ShortEdgeCounts)>,
    run: Run,
}

/// A run that is wanted.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    options: &'a Options,
    /// Whether the triangles of the polygons are wanted.
    triangles: bool,
    /// Vertices at which no short edge collapses.
    pinned: &'a [u32],
}

fn on_device<P: Points>(
    on: &Device,
    mesh: &Triangulation<P::Double>,
    wanted: Wanted<'_>,
    remembered: Option<&Remembered>,
) -> Result<Done> {
    let options = wanted.options;
    if options.method == DataStructure::Indexed {
        return P::by_indices(on, mesh, wanted, remembered);
    }
    let settings = options.settings();
    let (points, triangles) = (mesh.points.len(), mesh.triangles.len());
    let of_angles = options.angles().bytes_needed(triangles);
    let of_short_edges = match options.min_edge {
        Some(_) => family::bytes_of_short_edges(points, triangles),
        None => 0,
    };
    let needed = family::bytes_needed::<P>(points, triangles, settings);
    on.require(needed + of_angles + of_short_edges)?;
    let half_edges = DeviceTriangulation::<P>::upload_with(on, mesh, [0, 0], remembered)?;
    let constraints = Constraints::of(on, &half_edges, mesh)?;
    let constraints = P::with_angles(on, &half_edges, constraints, options)?;
    let result = family::polylla(on, &half_edges, constraints.as_ref(), settings)?;
    let result = P::divide(on, &half_edges, result, options)?;
    let shortened = P::shorten(on, &half_edges, &result, constraints.as_ref(), wanted)?;
    let lists = PolyllaLists {
        polygons: match &shortened {
            Some(shortened) => shortened.download_lists(on)?,
            None => result.download_lists(on)?,
        },
        half_edges: on.download_rows(result.half_edges())?,
        counts: result.counts(),
    };
    let shortened = shortened
        .map(|shortened| {
            Ok::<_, family::Error>((shortened.download_places(on)?, shortened.counts()))
        })
        .transpose()?;
    let triangles = wanted
        .triangles
        .then(|| result.download_triangles(on, &half_edges))
        .transpose()?;
    Ok(Done {
        lists,
        triangles,
        repair_rounds: None,
        shortened,
        run: Run::of(on, Vec::new())?,
    })
}

fn by_indices<P: Point>(
    on: &Device,
    mesh: &Triangulation,
    wanted: Wanted<'_>,
    remembered: Option<&Remembered>,
) -> Result<Done> {
    on.require(indexed::bytes_needed::<P>(
        mesh.points.len(),
        mesh.triangles.len(),
    ))?;
    let half_edges = &DeviceTriangulation::<P>::upload_with(on, mesh, [0, 0], remembered)?;
    let settings = wanted.options.indexed();
    let constraints = Constraints::of(on, half_edges, mesh)?;
    let neighbours = Neighbours::new(on, half_edges)?;
    let constraints = constraints.as_ref();
    let result = indexed::indexed(on, half_edges, &neighbours, constraints, settings)?;
    let lists = result.download(on)?;
    let mut triangles = None;
    if wanted.triangles {
        let twins: Vec<u32> = on.download_rows(half_edges.twins())?;
        let (polygons, firsts) = (&lists.polygons, &lists.half_edges);
        triangles = Some(PolygonTriangles::of_polygons(
            mesh, &twins, polygons, firsts,
        ));
    }
    let is_on_device = settings.repair == Repair::Device;
    Ok(Done {
        lists,
        triangles,
        repair_rounds: is_on_device.then_some(result.rounds()),
        shortened: None,
        run: Run::of(on, Vec::new())?,
    })
}
