//! VTK's polygonal data: `.vtp`.
//!
//! <https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html>. It writes raw appended binary, or text:
//! segments as lines, faces as polygons, the cell arrays `region` and `marker`, attributes and fields as in
//! [`super::vtu`]. Lines come first, which is the order of cells in VTK's polygonal data. A cloud gets a vertex cell
//! for each point, because VTK draws these. [`super::volume::vtu`] reads the files.

use std::borrow::Cow;
use std::path::Path;

use super::Encoding;
use super::atomic_file::write_atomically;
use super::fields::{Joined, RESERVED, of_attributes};
use super::vtu_array::{Array, Numbers, Record};
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
    let is_wide = i32::try_from(points.max(corners).max(2 * lines)).is_err();
    let point = |i: usize, numbers: &mut Numbers| {
        for coordinate in mesh.points[i].to_array() {
            numbers.float(coordinate);
        }
    };
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
    let tags = |name: &'static str, record| Array {
        kind: "Int32",
        size: 4,
        name: Cow::Borrowed(name),
        more: "".into(),
        numbers: cells,
        records: cells,
        record,
    };
    let coordinates = [Array {
        kind: "Float64",
        size: 8,
        name: "Points".into(),
        more: " NumberOfComponents=\"3\"".into(),
        numbers: 3 * points,
        records: points,
        record: &point as &Record,
    }];
    let verts = lists(is_wide, vertices, vertices, [&vertex, &vertex_end]);
    let segments = lists(is_wide, lines, 2 * lines, [&line, &line_end]);
    let polys = lists(is_wide, faces, corners, [&face, &face_end]);
    let mut data = Vec::new();
    let mut scalars = "";
    if lines > 0 {
        data.push(tags("marker", &marker as &Record));
        scalars = " Scalars=\"marker\"";
    }
    if mesh.regions.is_some() {
        data.push(tags("region", &region as &Record));
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
        ("Points", "", &coordinates),
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
    is_wide: bool,
    records: usize,
    corners: usize,
    [connectivity, ends]: [&'a Record<'a>; 2],
) -> [Array<'a>; 2] {
    let array = |name: &'static str, numbers, record| Array {
        kind: if is_wide { "Int64" } else { "Int32" },
        size: if is_wide { 8 } else { 4 },
        name: Cow::Borrowed(name),
        more: "".into(),
        numbers,
        records,
        record,
    };
    [
        array("connectivity", corners, connectivity),
        array("offsets", records, ends),
    ]
}
