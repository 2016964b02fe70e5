//! VTK's polygonal data: `.vtp`.
//!
//! <https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html>. It writes raw appended binary, or text:
//! segments as lines, faces as polygons, the cell arrays `region` and `marker`, attributes and fields as in
//! [`super::vtu`]. Lines come first, which is the order of cells in VTK's polygonal data. A cloud gets a vertex cell
//! for each point, because VTK draws these. [`super::volume::vtu`] reads the files.

use std::path::Path;

use super::Encoding;
use super::atomic_file::write_atomically;
use super::fields::{Joined, RESERVED, of_attributes};
use super::vtu_array::{Array, Numbers, Record, TAG, coordinates, index_type};
use super::vtu_out::{field_arrays, field_records, write_sections};
use trioxide_mesh::Result;
use trioxide_mesh::mesh::{Faces, Mesh};

pub(crate) fn write(path: &Path, mesh: &Mesh, encoding: Encoding) -> Result<()> {
    let (points, faces, lines) = (mesh.points.len(), mesh.faces.len(), mesh.segments.len());
    let cells = faces + lines;
    let corners = match &mesh.faces {
        Faces::Triangles(triangles) => 3 * triangles.len(),
        Faces::Polygons(polygons) => polygons.vertices.len(),
    };
    let vertices = if cells == 0 { points } else { 0 };
    let index = index_type(points.max(corners).max(2 * lines));
    let point = coordinates(&mesh.points);
    let vertex = |i: usize, numbers: &mut Numbers| numbers.integer(i as i64);
    let vertex_end = |i: usize, numbers: &mut Numbers| numbers.integer(i as i64 + 1);
    let line = |i: usize, numbers: &mut Numbers| {
        for end in mesh.segments[i].ends {
            numbers.integer(end.into());
        }
    };
    let line_end = |i: usize, numbers: &mut Numbers| numbers.integer(2 * (i as i64 + 1));
    let face = |i: usize, numbers: &mut Numbers| {
        for &vertex in mesh.faces.get(i) {
            numbers.integer(vertex.into());
        }
    };
    let face_end = |i: usize, numbers: &mut Numbers| {
        let end = match &mesh.faces {
            Faces::Triangles(_) => 3 * (i + 1),
            Faces::Polygons(polygons) => polygons.offsets[i + 1] as usize,
        };
        numbers.integer(end as i64);
    };
    let region = |i: usize, numbers: &mut Numbers| {
        let regions = mesh.regions.as_deref().unwrap_or_default();
        let region = i.checked_sub(lines).map_or(0, |face| regions[face]);
        numbers.integer(region.into());
    };
    let marker = |i: usize, numbers: &mut Numbers| {
        let marker = mesh.segments.get(i).map_or(0, |segment| segment.marker);
        numbers.integer(marker.into());
    };
    let verts = lists(index, vertices, vertices, [&vertex, &vertex_end]);
    let segments = lists(index, lines, 2 * lines, [&line, &line_end]);
    let polys = lists(index, faces, corners, [&face, &face_end]);
    let mut data = Vec::new();
    let mut scalars = "";
    if lines > 0 {
        data.push(Array::new(TAG, "marker", [cells, cells], &marker));
        scalars = " Scalars=\"marker\"";
    }
    if mesh.regions.is_some() {
        data.push(Array::new(TAG, "region", [cells, cells], &region));
        scalars = " Scalars=\"region\"";
    }
    let attributes = of_attributes(&mesh.attributes);
    let fields = attributes.iter().chain(&mesh.fields.points);
    let of_points: Vec<Joined> = fields.map(Joined::of).collect();
    let lists = [&mesh.fields.sides, &mesh.fields.cells];
    let of_cells = Joined::of_two(lists, [lines, faces], RESERVED);
    let records = [&of_points, &of_cells].map(|fields| field_records(fields));
    let point_data = field_arrays(&of_points, &records[0]);
    data.extend(field_arrays(&of_cells, &records[1]));
    if vertices > 0 {
        // The cells are the points of a cloud; arrays of no faces have no numbers for them.
        data.clear();
        scalars = "";
    }
    let counts = format!(
        "NumberOfPoints=\"{points}\" NumberOfVerts=\"{vertices}\" NumberOfLines=\"{lines}\" NumberOfStrips=\"0\" \
         NumberOfPolys=\"{faces}\""
    );
    let sections = [
        ("PointData", "", &point_data[..]),
        ("Points", "", &[Array::of_points(points, &point)]),
        ("Verts", "", &verts),
        ("Lines", "", &segments),
        ("Polys", "", &polys),
        ("CellData", scalars, &data),
    ];
    write_atomically(path, |file| {
        write_sections(file, "PolyData", &counts, &sections, encoding)
    })
}

/// Connectivity and offsets of cells with `corners` corners in total, from the records of each.
fn lists<'a>(
    index: (&'static str, usize),
    cells: usize,
    corners: usize,
    [connectivity, ends]: [&'a Record<'a>; 2],
) -> [Array<'a>; 2] {
    [
        Array::new(index, "connectivity", [corners, cells], connectivity),
        Array::new(index, "offsets", [cells, cells], ends),
    ]
}
