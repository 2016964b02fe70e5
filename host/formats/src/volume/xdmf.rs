//! XDMF, versions 2 and 3: `.xdmf`, `.xmf`.
//!
//! <https://www.xdmf.org/index.php/XDMF_Model_and_Format>. Uniform grids with their data inline or in a binary file beside, alone, in
//! a spatial collection (one behind the other) or in a temporal one (the first). Data in HDF5 is refused. Cells are those of
//! [`super::vtk_cells`], and arrays of cells have the names of the `.vtu` format. Written is text: a mixed
//! topology, in which the cells keep their order.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use glam::DVec3;
use roxmltree::Node;

use super::bytes::{Decode, Kind, Numbers, Order};
use super::elements::Grid;
use super::tokens::Text;
use super::vtk_cells::{self, REGION_NAMES};
use super::vtu::arrays::{File, child, fault};
use crate::atomic_file::{Out, write_atomically};
use crate::map_file;
use crate::rows_out::{push_f64, push_integer, write_records};
use crate::text::{Fault, Parsed, check_vertex, show};
use trioxide_mesh::Result;
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::volume::VolumeMesh;

/// Names and numbers of topologies, VTK's type of their cells, and their number of nodes; 0 for any.
const TOPOLOGIES: [(&str, i64, i64, usize); 20] = [
    ("polyvertex", 1, 2, 0),
    ("polyline", 2, 4, 0),
    ("polygon", 3, 7, 0),
    ("triangle", 4, 5, 3),
    ("quadrilateral", 5, 9, 4),
    ("tetrahedron", 6, 10, 4),
    ("pyramid", 7, 14, 5),
    ("wedge", 8, 13, 6),
    ("hexahedron", 9, 12, 8),
    ("edge_3", 34, 21, 3),
    ("quadrilateral_9", 35, 28, 9),
    ("triangle_6", 36, 22, 6),
    ("quadrilateral_8", 37, 23, 8),
    ("tetrahedron_10", 38, 24, 10),
    ("pyramid_13", 39, 27, 13),
    ("wedge_15", 40, 26, 15),
    ("wedge_18", 41, 32, 18),
    ("hexahedron_20", 48, 25, 20),
    ("hexahedron_24", 49, 33, 24),
    ("hexahedron_27", 50, 29, 27),
];

pub(crate) fn read_grid(path: &Path) -> Result<Grid> {
    let file = map_file(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    parse_in(&file, Some(folder)).map_err(|fault| fault.in_text(path, &file))
}

/// Whether there are cells that fill space in the file.
pub(super) fn is_volume(path: &Path) -> bool {
    path.is_file() && read_grid(path).is_ok_and(|grid| grid.has_cells())
}

/// The mesh of a file without others beside it.
#[cfg(test)]
pub(crate) fn parse_grid(file: &[u8]) -> Parsed<Grid> {
    parse_in(file, None)
}

/// The file without its document type, at the same offsets.
fn without_doctype(file: &[u8]) -> Parsed<std::borrow::Cow<'_, [u8]>> {
    let Some(begin) = memchr::memmem::find(&file[..file.len().min(4096)], b"<!DOCTYPE") else {
        return Ok(file.into());
    };
    let mut depth = 0;
    for (i, byte) in file[begin..].iter().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' => depth -= 1,
            b'>' if depth == 0 => {
                let mut blank = file.to_vec();
                let doctype = &mut blank[begin..=begin + i];
                if memchr::memmem::find(doctype, b"<!ENTITY").is_some() {
                    return Err(Fault::new(
                        begin,
                        "documents that define entities are not read",
                    ));
                }
                doctype
                    .iter_mut()
                    .filter(|b| **b != b'\n')
                    .for_each(|b| *b = b' ');
                return Ok(blank.into());
            }
            _ => {}
        }
    }
    Err(Fault::new(begin, "the document type has no end"))
}

fn parse_in(file: &[u8], folder: Option<&Path>) -> Parsed<Grid> {
    let file = &*without_doctype(file)?;
    let file = File::new(file)?;
    let document = file.document()?;
    let root = document.root_element();
    if !root.has_tag_name("Xdmf") {
        return Err(fault(root, "expected an element Xdmf"));
    }
    let domain = child(root, "Domain")?;
    let mut notes = Vec::new();
    let mut grids = Vec::new();
    collect(domain, &mut grids, &mut notes);
    let mut joined: Option<Grid> = None;
    for node in &grids {
        let grid = Reader { folder }.grid(*node)?;
        joined = Some(match joined {
            None => grid,
            Some(joined) => joined.join(grid).map_err(|reason| fault(*node, reason))?,
        });
    }
    let mut grid = joined.ok_or_else(|| fault(domain, "there is no Grid with a Topology here"))?;
    for note in notes {
        grid.note(note);
    }
    Ok(grid)
}

/// The uniform grids below `node`; of a temporal collection the first.
fn collect<'a, 'b>(node: Node<'a, 'b>, grids: &mut Vec<Node<'a, 'b>>, notes: &mut Vec<String>) {
    // Without recursion: a document may be nested as deep as it is long.
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        let children = node.children().filter(|child| child.has_tag_name("Grid"));
        let mut children: Vec<_> = children.collect();
        if node.attribute("CollectionType") == Some("Temporal") && children.len() > 1 {
            notes.push(format!(
                "of its {} steps in time the first is read",
                children.len()
            ));
            children.truncate(1);
        }
        if node.has_tag_name("Grid") && child(node, "Topology").is_ok() {
            grids.push(node);
        }
        open.extend(children.into_iter().rev());
    }
}

struct Reader<'a> {
    folder: Option<&'a Path>,
}

impl Reader<'_> {
    fn grid(&self, node: Node) -> Parsed<Grid> {
        let topology = child(node, "Topology")?;
        let geometry = child(node, "Geometry")?;
        let points = self.points(geometry)?;
        let (types, ends, connectivity) = self.cells(topology)?;
        let tags = |name: &str| -> Parsed<Option<Vec<i32>>> {
            let is_it = |node: &Node| {
                node.has_tag_name("Attribute")
                    && node.attribute("Name") == Some(name)
                    && node.attribute("Center") == Some("Cell")
            };
            let Some(array) = node.children().find(is_it) else {
                return Ok(None);
            };
            let values = self.numbers(child(array, "DataItem")?)?.into_integers();
            let tags: Option<Vec<i32>> = values.ok().and_then(|values| {
                let tags = values.into_iter().map(|tag| i32::try_from(tag).ok());
                tags.collect()
            });
            Ok(tags.filter(|tags| tags.len() == types.len()))
        };
        let mut regions = None;
        for name in REGION_NAMES {
            if regions.is_none() {
                regions = tags(name)?;
            }
        }
        let markers = tags("marker")?;
        let mut elements = vtk_cells::read(
            &types,
            |i| ends[i],
            &connectivity,
            |vertex| check_vertex(vertex, 0, points.len()),
            &[regions.as_deref(), markers.as_deref()],
        )
        .map_err(|(_, reason)| fault(topology, reason))?;
        elements.has_regions = regions.is_some();
        Grid::new(points, elements).map_err(|reason| fault(node, reason))
    }

    fn points(&self, geometry: Node) -> Parsed<Vec<DVec3>> {
        let kind = geometry
            .attribute("GeometryType")
            .or(geometry.attribute("Type"));
        let width = match kind.unwrap_or("XYZ") {
            "XYZ" => 3,
            "XY" => 2,
            other => {
                let reason = format!("the geometry is {other}, but XYZ or XY is needed");
                return Err(fault(geometry, reason));
            }
        };
        let numbers = self.numbers(child(geometry, "DataItem")?)?.into_floats();
        if !numbers.len().is_multiple_of(width) {
            let reason = format!(
                "{} coordinates are no points of {width} each",
                numbers.len()
            );
            return Err(fault(geometry, reason));
        }
        let points = numbers.chunks_exact(width);
        Ok(points
            .map(|p| DVec3::new(p[0], p[1], p.get(2).copied().unwrap_or(0.0)))
            .collect())
    }

    /// VTK's type of each cell, where its nodes begin and end in the connectivity, and that.
    #[allow(clippy::type_complexity)]
    fn cells(&self, topology: Node) -> Parsed<(Vec<i64>, Vec<(i64, i64)>, Vec<i64>)> {
        let name = topology
            .attribute("TopologyType")
            .or(topology.attribute("Type"));
        let name = name.unwrap_or_default().to_ascii_lowercase();
        let data = self.numbers(child(topology, "DataItem")?)?.into_integers();
        let connectivity =
            data.map_err(|x| fault(topology, format!("expected a node, found `{x}`")))?;
        let unknown = |what: &str| fault(topology, format!("topologies of {what} are not read"));
        let (mut types, mut ranges) = (Vec::new(), Vec::new());
        if name == "mixed" {
            let mut at = 0;
            while let Some(&number) = connectivity.get(at) {
                let found = TOPOLOGIES.iter().find(|topology| topology.1 == number);
                let &(_, _, kind, mut nodes) =
                    found.ok_or_else(|| unknown(&format!("type {number}")))?;
                at += 1;
                if nodes == 0 {
                    let count = connectivity.get(at).copied().unwrap_or(-1);
                    nodes = usize::try_from(count).unwrap_or(usize::MAX);
                    at += 1;
                }
                let end = at
                    .checked_add(nodes)
                    .filter(|&end| end <= connectivity.len());
                let end =
                    end.ok_or_else(|| fault(topology, format!("cell {} is cut off", types.len())))?;
                types.push(kind);
                ranges.push((at as i64, end as i64));
                at = end;
            }
            return Ok((types, ranges, connectivity));
        }
        let found = TOPOLOGIES.iter().find(|topology| topology.0 == name);
        let &(_, _, kind, mut nodes) =
            found.ok_or_else(|| unknown(&format!("type `{}`", show(name.as_bytes()))))?;
        if nodes == 0 {
            let count = topology.attribute("NodesPerElement").unwrap_or("1");
            nodes = count
                .trim()
                .parse()
                .ok()
                .filter(|&nodes| nodes > 0)
                .ok_or_else(|| fault(topology, "expected a number in NodesPerElement"))?;
        }
        if !connectivity.len().is_multiple_of(nodes) {
            let reason = format!("{} nodes are no cells of {nodes} each", connectivity.len());
            return Err(fault(topology, reason));
        }
        let count = connectivity.len() / nodes;
        types.resize(count, kind);
        ranges.extend((0..count).map(|i| ((i * nodes) as i64, ((i + 1) * nodes) as i64)));
        Ok((types, ranges, connectivity))
    }

    /// The numbers of a data item.
    fn numbers(&self, item: Node) -> Parsed<Numbers> {
        let is_float = item
            .attribute("NumberType")
            .or(item.attribute("DataType"))
            .unwrap_or("Float")
            .eq_ignore_ascii_case("float");
        let text = item.text().unwrap_or_default();
        match item.attribute("Format").unwrap_or("XML") {
            "XML" => {
                let text = text.as_bytes();
                let mut tokens = Text::new(text, 0);
                let numbers = match is_float {
                    true => tokens.numbers_until(text.len()).map(Numbers::Floats),
                    false => tokens.numbers_until(text.len()).map(Numbers::Integers),
                };
                numbers.map_err(|found| fault(item, found.reason))
            }
            "HDF" | "HDF5" => Err(fault(
                item,
                format!(
                    "the data is in the HDF5 file {}, which is not read: write the data inline (by meshio: data_format=\"XML\")",
                    show(text.trim().split(':').next().unwrap_or_default().as_bytes())
                ),
            )),
            "Binary" => self.binary(item, text.trim(), is_float),
            other => Err(fault(
                item,
                format!("the format {other} of data is not read"),
            )),
        }
    }

    fn binary(&self, item: Node, name: &str, is_float: bool) -> Parsed<Numbers> {
        let precision = item.attribute("Precision").unwrap_or("4");
        let is_unsigned = item.attribute("NumberType") == Some("UInt");
        let kind = match (is_float, is_unsigned, precision) {
            (true, _, "4") => Kind::F32,
            (true, _, "8") => Kind::F64,
            (false, false, "4") => Kind::I32,
            (false, false, "8") => Kind::I64,
            (false, true, "4") => Kind::U32,
            (false, true, "8") => Kind::U64,
            _ => {
                let reason = format!("numbers of {precision} bytes are not read");
                return Err(fault(item, reason));
            }
        };
        let order = match item.attribute("Endian") {
            Some("Big") => Order::Big,
            _ => Order::Little,
        };
        let path = self.folder.unwrap_or(Path::new("")).join(name);
        let file = map_file(&path).map_err(|error| fault(item, error.to_string()))?;
        let seek = item.attribute("Seek").unwrap_or("0").trim().parse().ok();
        let dimensions = item.attribute("Dimensions").unwrap_or_default();
        let count = (dimensions.split_ascii_whitespace())
            .try_fold(1usize, |all, n| all.checked_mul(n.parse().ok()?));
        let bytes = seek.zip(count).and_then(|(seek, count): (usize, usize)| {
            let end = count.checked_mul(kind.size())?.checked_add(seek)?;
            file.get(seek..end)
        });
        match bytes {
            Some(bytes) => Ok(kind.numbers(bytes, order)),
            None => Err(fault(
                item,
                format!("{} is shorter than its Dimensions", show(name.as_bytes())),
            )),
        }
    }
}

/// Cells to write: XDMF's number and the vertices of each.
struct Cells<'a> {
    points: &'a [DVec3],
    count: usize,
    /// Of cell `i`.
    cell: &'a (dyn Fn(usize) -> (u8, &'a [u32]) + Sync),
    arrays: Vec<(&'static str, &'a (dyn Fn(usize) -> i32 + Sync))>,
}

pub(super) fn write(path: &Path, mesh: &VolumeMesh) -> Result<()> {
    let solid = mesh.cells.len();
    let cell = |i: usize| match i.checked_sub(solid) {
        None => {
            let cell = mesh.cells.get(i);
            let number = match cell.len() {
                4 => 6,
                5 => 7,
                6 => 8,
                _ => 9,
            };
            (number, cell)
        }
        Some(face) => face_cell(mesh.faces.get(face)),
    };
    let region = |i: usize| {
        let regions = mesh.regions.as_deref().unwrap_or_default();
        regions.get(i).copied().unwrap_or(0)
    };
    let marker = |i: usize| i.checked_sub(solid).map_or(0, |face| mesh.face_tags[face]);
    let mut cells = Cells {
        points: &mesh.points,
        count: solid + mesh.faces.len(),
        cell: &cell,
        arrays: Vec::new(),
    };
    if mesh.regions.is_some() {
        cells.arrays.push(("region", &region));
    }
    if !mesh.faces.is_empty() {
        cells.arrays.push(("marker", &marker));
    }
    write_atomically(path, |file| write_to(file, &cells))
}

fn face_cell(face: &[u32]) -> (u8, &[u32]) {
    let number = match face.len() {
        3 => 4,
        4 => 5,
        _ => 3,
    };
    (number, face)
}

/// Writes a surface or cloud: faces, then segments as lines.
pub(crate) fn write_surface(path: &Path, mesh: &Mesh) -> Result<()> {
    let faces = mesh.faces.len();
    let cell = |i: usize| match i.checked_sub(faces) {
        None => face_cell(mesh.faces.get(i)),
        Some(line) => (2, &mesh.segments[line].ends[..]),
    };
    let region = |i: usize| {
        let regions = mesh.regions.as_deref().unwrap_or_default();
        regions.get(i).copied().unwrap_or(0)
    };
    let marker = |i: usize| {
        let line = i.checked_sub(faces);
        line.map_or(0, |line| mesh.segments[line].marker)
    };
    let mut cells = Cells {
        points: &mesh.points,
        count: faces + mesh.segments.len(),
        cell: &cell,
        arrays: Vec::new(),
    };
    if mesh.regions.is_some() {
        cells.arrays.push(("region", &region));
    }
    if !mesh.segments.is_empty() {
        cells.arrays.push(("marker", &marker));
    }
    write_atomically(path, |file| write_to(file, &cells))
}

fn write_to(out: &mut dyn Out, cells: &Cells) -> io::Result<()> {
    let Cells {
        points,
        count,
        cell,
        arrays,
    } = cells;
    // Polygons and lines say how many nodes they have.
    let has_length = |number: u8| number <= 3;
    let numbers: usize = (0..*count)
        .map(|i| {
            let (number, vertices) = cell(i);
            1 + usize::from(has_length(number)) + vertices.len()
        })
        .sum();
    let mut head = String::new();
    write!(
        head,
        "<?xml version=\"1.0\"?>\n<Xdmf Version=\"3.0\">\n<Domain>\n<Grid Name=\"mesh\" GridType=\"Uniform\">\n\
         <Geometry GeometryType=\"XYZ\">\n<DataItem DataType=\"Float\" Dimensions=\"{} 3\" Format=\"XML\" Precision=\"8\">\n",
        points.len()
    )
    .expect("strings take all that is written");
    out.write_all(head.as_bytes())?;
    write_records(out, points.len(), |buffer, i| {
        for coordinate in points[i].to_array() {
            push_f64(buffer, coordinate);
            buffer.push(b' ');
        }
        buffer.push(b'\n');
    })?;
    write!(
        out,
        "</DataItem>\n</Geometry>\n<Topology TopologyType=\"Mixed\" NumberOfElements=\"{count}\">\n\
         <DataItem DataType=\"Int\" Dimensions=\"{numbers}\" Format=\"XML\" Precision=\"8\">\n"
    )?;
    write_records(out, *count, |buffer, i| {
        let (number, vertices) = cell(i);
        push_integer(buffer, number);
        buffer.push(b' ');
        if has_length(number) {
            push_integer(buffer, vertices.len());
            buffer.push(b' ');
        }
        for &vertex in vertices {
            push_integer(buffer, vertex);
            buffer.push(b' ');
        }
        buffer.push(b'\n');
    })?;
    write!(out, "</DataItem>\n</Topology>\n")?;
    for (name, value) in arrays {
        write!(
            out,
            "<Attribute Name=\"{name}\" AttributeType=\"Scalar\" Center=\"Cell\">\n\
             <DataItem DataType=\"Int\" Dimensions=\"{count}\" Format=\"XML\" Precision=\"4\">\n"
        )?;
        write_records(out, *count, |buffer, i| {
            push_integer(buffer, value(i));
            buffer.push(b'\n');
        })?;
        write!(out, "</DataItem>\n</Attribute>\n")?;
    }
    write!(out, "</Grid>\n</Domain>\n</Xdmf>\n")
}
