//! XDMF, versions 2 and 3: `.xdmf`, `.xmf`.
//!
//! <https://www.xdmf.org/index.php/XDMF_Model_and_Format>. It reads uniform grids with their data inline or in a binary
//! file: a single grid, a spatial collection (joined in order) or a temporal one (the first grid). Data in HDF5 is
//! refused. Cells are those of [`super::vtk_cells`], and arrays of cells have the names of the `.vtu` format. Numbers
//! of cells and `Dimensions` that the file declares must fit its data. It writes text: a mixed topology, which keeps
//! the order of the cells.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use glam::DVec3;
use roxmltree::Node;

use super::bytes::{Decode, Kind, Numbers, Order};
use super::elements::Grid;
use super::tokens::Text;
use super::vtk_cells;
use super::vtu::arrays::{File, child, fault};
use crate::input::Bytes;
use crate::references::{Copies, ReadOptions, References};
use crate::text::{Fault, Parsed, check_vertex, show};
use crate::{map_file, parse_file};
use trioxide_mesh::Result;

mod write;

pub(super) use write::write;
pub(crate) use write::write_surface;

/// Names and numbers of topologies, VTK's type of their cells, and their number of nodes; 0 for any number.
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

pub(crate) fn read_grid(path: &Path, options: ReadOptions) -> Result<Grid> {
    parse_file(path, |file| parse_in(file, References::of(path, options)))
}

/// Whether the file has cells of three dimensions.
pub(super) fn is_volume(path: &Path, options: ReadOptions) -> bool {
    path.is_file() && read_grid(path, options).is_ok_and(|grid| grid.has_cells())
}

/// The mesh of a file that needs no other files.
#[cfg(test)]
pub(crate) fn parse_grid(file: &[u8]) -> Parsed<Grid> {
    parse_in(file, References::nowhere())
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

fn parse_in(file: &[u8], references: References) -> Parsed<Grid> {
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
    let reader = Reader {
        references,
        files: RefCell::default(),
        copies: Copies::new(file.head.len()),
    };
    let mut joined: Option<Grid> = None;
    for node in &grids {
        let grid = reader.grid(*node)?;
        grid.append_to(&mut joined)
            .map_err(|reason| fault(*node, reason))?;
    }
    let mut grid = joined.ok_or_else(|| fault(domain, "there is no Grid with a Topology here"))?;
    for note in notes {
        grid.note(note);
    }
    Ok(grid)
}

/// The uniform grids below `node`. A temporal collection gives its first grid.
fn collect<'a, 'b>(node: Node<'a, 'b>, grids: &mut Vec<Node<'a, 'b>>, notes: &mut Vec<String>) {
    // Without recursion: the depth of a document is bounded only by its length.
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

/// Checks the number of cells that a topology declares.
fn check_elements(topology: Node, found: usize) -> Parsed<()> {
    for name in ["NumberOfElements", "Dimensions"] {
        if let Some(declared) = product(topology, name)?
            && declared != found
        {
            let reason = format!("{name} declares {declared} cells, but {found} are there");
            return Err(fault(topology, reason));
        }
    }
    Ok(())
}

struct Reader<'a> {
    references: References<'a>,
    /// Open binary files, by their names.
    files: RefCell<HashMap<String, Rc<Bytes>>>,
    /// Count of the binary files' copies: any number of items may name one place.
    copies: Copies,
}

/// The product of the numbers in an attribute, if it exists: `2 3` gives 6.
fn product(node: Node, attribute: &str) -> Parsed<Option<usize>> {
    let Some(text) = node.attribute(attribute) else {
        return Ok(None);
    };
    let mut numbers = text.split_ascii_whitespace().map(|word| word.parse().ok());
    let product = numbers.try_fold(1, |all: usize, number| all.checked_mul(number?));
    let product = product.filter(|_| !text.trim_ascii().is_empty());
    product.map(Some).ok_or_else(|| {
        let text = show(text.as_bytes());
        fault(
            node,
            format!("expected numbers in {attribute}, found `{text}`"),
        )
    })
}

impl Reader<'_> {
    fn grid(&self, node: Node) -> Parsed<Grid> {
        let topology = child(node, "Topology")?;
        let geometry = child(node, "Geometry")?;
        let points = self.points(geometry)?;
        let (types, ends, connectivity) = self.cells(topology)?;
        check_elements(topology, types.len())?;
        let tags = |name: &str| -> Parsed<Option<Vec<i32>>> {
            let is_it = |node: &Node| {
                node.has_tag_name("Attribute")
                    && node.attribute("Name") == Some(name)
                    && node.attribute("Center") == Some("Cell")
            };
            let Some(array) = node.children().find(is_it) else {
                return Ok(None);
            };
            // Another program's array of this name may have another meaning.
            let is_ours = matches!(name, "region" | "marker");
            let kind = array.attribute("AttributeType").or(array.attribute("Type"));
            if !is_ours && kind.is_some_and(|kind| !kind.eq_ignore_ascii_case("scalar")) {
                return Ok(None);
            }
            let item = child(array, "DataItem")?;
            let values = self.numbers(item)?;
            let (found, cells) = (values.len(), types.len());
            if found != cells {
                let reason = format!("{name} has {found} numbers for {cells} cells");
                return Err(fault(item, reason));
            }
            let tags: Option<Vec<i32>> = values.into_integers().ok().and_then(|values| {
                let tags = values.into_iter().map(|tag| i32::try_from(tag).ok());
                tags.collect()
            });
            match tags {
                None if is_ours => Err(fault(item, format!("a {name} is no 32-bit integer"))),
                tags => Ok(tags),
            }
        };
        let (regions, name) = vtk_cells::find_regions(tags)?;
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
        elements.has_copies = name.is_some_and(|name| name != "region");
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

    /// VTK's type of each cell, the range of its nodes in the connectivity, and the connectivity.
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
        if let Some(kind) = item.attribute("ItemType").filter(|kind| *kind != "Uniform") {
            let kind = show(kind.as_bytes());
            let reason =
                format!("items of type {kind} are not read: write the numbers as one item");
            return Err(fault(item, reason));
        }
        let numbers = self.stored_numbers(item)?;
        match product(item, "Dimensions")? {
            Some(declared) if declared != numbers.len() => Err(fault(
                item,
                format!(
                    "Dimensions declare {declared} numbers, but {} are there",
                    numbers.len()
                ),
            )),
            _ => Ok(numbers),
        }
    }

    /// The stored numbers of a data item.
    fn stored_numbers(&self, item: Node) -> Parsed<Numbers> {
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
        let file = (self.open(name)).map_err(|reason| fault(item, reason))?;
        let seek = item.attribute("Seek").unwrap_or("0").trim().parse().ok();
        let count = product(item, "Dimensions")?
            .ok_or_else(|| fault(item, "an item in a binary file needs Dimensions"))?;
        let bytes = seek.and_then(|seek: usize| {
            let end = count.checked_mul(kind.size())?.checked_add(seek)?;
            file.get(seek..end)
        });
        let Some(bytes) = bytes else {
            let name = show(name.as_bytes());
            return Err(fault(
                item,
                format!("{name} is shorter than its Dimensions"),
            ));
        };
        let counted = self.copies.count(bytes.len(), count);
        counted.map_err(|reason| fault(item, reason))?;
        Ok(kind.numbers(bytes, order))
    }

    /// The binary file of that name.
    fn open(&self, name: &str) -> Result<Rc<Bytes>, String> {
        if let Some(file) = self.files.borrow().get(name) {
            return Ok(file.clone());
        }
        let path = self.references.find(name)?;
        let file = Rc::new(map_file(&path)?);
        self.copies.add_file(&path, file.len());
        let mut files = self.files.borrow_mut();
        files.insert(name.to_owned(), file.clone());
        Ok(file)
    }
}
