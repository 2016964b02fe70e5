//! A mesh as the cells of a file of VTK or XDMF.

use glam::DVec3;

use super::fields::{Joined, RESERVED, of_attributes};
use super::volume::vtk_cells::{POLYHEDRON, number};
use trioxide_mesh::fields::Fields;
use trioxide_mesh::mesh::{Faces, Mesh, Polygons};
use trioxide_mesh::polyhedra::PolyhedralMesh;
use trioxide_mesh::volume::{Cells, VolumeMesh};

/// A mesh to write. Its elements are cells and then tagged faces, or faces and then segments. Polyhedra have the
/// numbers of each element ([`streams`]) beside them.
#[derive(Clone, Copy)]
pub(crate) enum GridMesh<'a> {
    Surface(&'a Mesh),
    Volume(&'a VolumeMesh),
    Polyhedra(&'a PolyhedralMesh, &'a Polygons),
}

/// The numbers of polyhedra in VTK's legacy format: each polyhedron's number of faces, and of each face its number of
/// vertices and its vertices; then the vertices of each tagged face.
pub(crate) fn streams(mesh: &PolyhedralMesh) -> Polygons {
    let mut streams = Polygons::default();
    let mut stream = Vec::new();
    for p in 0..mesh.len() {
        let sides = mesh.sides_of(p);
        stream.clear();
        stream.push(sides.len() as u32);
        for &side in sides {
            let vertices = mesh.vertices_of(side);
            stream.push(vertices.len() as u32);
            stream.extend(vertices);
        }
        streams.push(&stream);
    }
    for tagged in &mesh.tagged {
        streams.push(mesh.faces.get(tagged.face as usize));
    }
    streams
}

/// A name, and the number of an element.
pub(crate) type TagArray<'a> = (&'static str, fn(GridMesh<'a>, usize) -> i32);

impl<'a> GridMesh<'a> {
    pub(crate) fn points(self) -> &'a [DVec3] {
        match self {
            GridMesh::Surface(mesh) => &mesh.points,
            GridMesh::Volume(mesh) => &mesh.points,
            GridMesh::Polyhedra(mesh, _) => &mesh.points,
        }
    }

    /// Numbers of elements of both lists.
    pub(crate) fn counts(self) -> [usize; 2] {
        match self {
            GridMesh::Surface(mesh) => [mesh.faces.len(), mesh.segments.len()],
            GridMesh::Volume(mesh) => [mesh.cells.len(), mesh.faces.len()],
            GridMesh::Polyhedra(mesh, _) => [mesh.len(), mesh.tagged.len()],
        }
    }

    /// Number of elements.
    pub(crate) fn len(self) -> usize {
        self.counts().iter().sum()
    }

    /// Vertices of element `i`, or the numbers of a polyhedron.
    #[inline]
    pub(crate) fn cell(self, i: usize) -> &'a [u32] {
        match (self, i.checked_sub(self.counts()[0])) {
            (GridMesh::Surface(mesh), None) => mesh.faces.get(i),
            (GridMesh::Surface(mesh), Some(line)) => &mesh.segments[line].ends,
            (GridMesh::Volume(mesh), None) => mesh.cells.get(i),
            (GridMesh::Volume(mesh), Some(face)) => mesh.faces.get(face),
            (GridMesh::Polyhedra(_, streams), _) => streams.get(i),
        }
    }

    /// Number of vertices of the first `count` elements.
    #[inline]
    pub(crate) fn corners(self, count: usize) -> usize {
        let end_in = |offsets: &[u32], i: usize| offsets.get(i).map_or(0, |&end| end as usize);
        let [first, _] = self.counts();
        let (first, second) = (count.min(first), count.saturating_sub(first));
        match self {
            GridMesh::Surface(mesh) => match &mesh.faces {
                Faces::Triangles(_) => 3 * first + 2 * second,
                Faces::Polygons(polygons) => end_in(&polygons.offsets, first) + 2 * second,
            },
            GridMesh::Polyhedra(_, streams) => end_in(&streams.offsets, first + second),
            GridMesh::Volume(mesh) => match &mesh.cells {
                Cells::Tetrahedra(_) => 4 * first + end_in(&mesh.faces.offsets, second),
                Cells::Mixed(cells) => {
                    end_in(&cells.offsets, first) + end_in(&mesh.faces.offsets, second)
                }
            },
        }
    }

    /// VTK's type of element `i`; quadrilaterals of a surface are polygons unless `quadrilaterals`.
    #[inline]
    pub(crate) fn kind(self, i: usize, quadrilaterals: bool) -> u8 {
        let (is_second, vertices) = (i >= self.counts()[0], self.cell(i).len());
        match (self, vertices) {
            (GridMesh::Volume(_), _) => number(is_second, vertices),
            (GridMesh::Polyhedra(..), _) if !is_second => POLYHEDRON as u8,
            (GridMesh::Polyhedra(..), 3) => 5,
            (GridMesh::Polyhedra(..), _) => 7,
            _ if is_second => 3,
            (_, 3) => 5,
            (_, 4) if quadrilaterals => 9,
            _ => 7,
        }
    }

    fn regions(self) -> Option<&'a [i32]> {
        match self {
            GridMesh::Surface(mesh) => mesh.regions.as_deref(),
            GridMesh::Volume(mesh) => mesh.regions.as_deref(),
            GridMesh::Polyhedra(mesh, _) => mesh.regions.as_deref(),
        }
    }

    fn region(self, i: usize) -> i32 {
        let region = self.regions().and_then(|regions| regions.get(i));
        region.copied().unwrap_or(0)
    }

    fn marker(self, i: usize) -> i32 {
        match (self, i.checked_sub(self.counts()[0])) {
            (_, None) => 0,
            (GridMesh::Surface(mesh), Some(line)) => mesh.segments[line].marker,
            (GridMesh::Volume(mesh), Some(face)) => mesh.face_tags[face],
            (GridMesh::Polyhedra(mesh, _), Some(face)) => mesh.tagged[face].tag,
        }
    }

    /// The regions, if there are any, and the markers if `has_markers`.
    pub(crate) fn tags(self, has_markers: bool) -> Vec<TagArray<'a>> {
        let regions: TagArray = ("region", GridMesh::region);
        let markers: TagArray = ("marker", GridMesh::marker);
        let regions = self.regions().map(|_| regions);
        regions
            .into_iter()
            .chain(has_markers.then_some(markers))
            .collect()
    }

    /// Whether there are elements of the second list, which have markers.
    pub(crate) fn has_markers(self) -> bool {
        self.counts()[1] > 0
    }

    /// The attributes of the points as fields.
    pub(crate) fn attributes(self) -> Fields {
        match self {
            GridMesh::Surface(mesh) => of_attributes(&mesh.attributes),
            GridMesh::Volume(_) | GridMesh::Polyhedra(..) => Fields::default(),
        }
    }

    /// Fields of the points, with their [`attributes`](GridMesh::attributes), and of the elements.
    pub(crate) fn fields(self, attributes: &'a Fields) -> [Vec<Joined<'a>>; 2] {
        let fields = match self {
            GridMesh::Surface(mesh) => &mesh.fields,
            GridMesh::Volume(mesh) => &mesh.fields,
            GridMesh::Polyhedra(mesh, _) => &mesh.fields,
        };
        let of_points = attributes.iter().chain(&fields.points);
        let lists = [&fields.cells, &fields.sides];
        let of_cells = Joined::of_two(lists, self.counts(), RESERVED);
        [of_points.map(Joined::of).collect(), of_cells]
    }
}
