//! Gmsh's `.msh`, versions 1.0 (text), 2.2, 4.0 and 4.1, text and binary.
//!
//! <https://gmsh.info/doc/texinfo/gmsh.html#MSH-file-format>. Tetrahedra, pyramids, prisms and hexahedra are cells,
//! triangles and quadrilaterals faces, lines segments of a surface; points are skipped. A region, tag or marker is the
//! physical group. If no element of the dimension has one, it is the geometrical entity, if there are several. A face
//! or cell in several physical groups gets the first, with a note; a line is read for each. Elements of higher order
//! are read by their corners. `$NodeData` and `$ElementData` become fields of doubles, except for lines. Names of
//! groups are kept. Groups of points, partitions ([`groups`]), periodic nodes and other data are left out with a note.
//! Gmsh's `view.write` with `append` repeats the mesh before each view: it is read once.
//!
//! Written regions and tags are physical groups, each with a geometrical entity of its own: Gmsh puts whole entities
//! into groups, ignoring the groups of elements. A tag below 0 is a group with another number and a name that says the
//! tag. Elements are sorted by kind, in version 4.1 also by group; there all nodes belong to one volume, or one
//! surface. Versions 1.0 and 4.0 are not written. The format has only doubles: a third string tag (`trioxide int32 1`),
//! which other programs skip, gives the original type and components of a field.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use glam::DVec3;
use rayon::slice::ParallelSliceMut;

use super::bytes::{Bytes, Kind, Order};
use super::elements::{Elements, Grid, Shape};
use super::tokens::Text;
use super::{Encoding, MshVersion, Output, WriteOptions};
use crate::atomic_file::write_atomically;
use crate::foreign;
use crate::text::{Fault, Parsed, text_start, with_line_feeds};
use trioxide_mesh::mesh::NONE;
use trioxide_mesh::volume::CellKind;
use trioxide_mesh::{Result, parallel};

mod data;
mod fields;
mod groups;
mod v2;
mod v4;
mod v40;

use data::Data;
use fields::Views;
pub(super) use fields::keeps;
pub(crate) use fields::{lost_fields, plain_name, retyped};
use groups::Groups;

/// Gmsh's types of elements that are kept, in the order of writing.
const SHAPES: [(u8, Shape); 7] = [
    (4, Shape::TETRAHEDRON),
    (7, Shape::Cell(CellKind::Pyramid)),
    (6, Shape::Cell(CellKind::Wedge)),
    (5, Shape::Cell(CellKind::Hexahedron)),
    (2, Shape::TRIANGLE),
    (3, Shape::QUADRILATERAL),
    (1, Shape::Line),
];

/// Types of higher order: the shape of their corners, and their number of nodes.
const HIGHER: [(u8, Shape, usize); 26] = [
    (8, Shape::Line, 3),
    (26, Shape::Line, 4),
    (27, Shape::Line, 5),
    (28, Shape::Line, 6),
    (9, Shape::TRIANGLE, 6),
    (20, Shape::TRIANGLE, 9),
    (21, Shape::TRIANGLE, 10),
    (22, Shape::TRIANGLE, 12),
    (23, Shape::TRIANGLE, 15),
    (25, Shape::TRIANGLE, 21),
    (10, Shape::QUADRILATERAL, 9),
    (16, Shape::QUADRILATERAL, 8),
    (36, Shape::QUADRILATERAL, 16),
    (37, Shape::QUADRILATERAL, 25),
    (11, Shape::TETRAHEDRON, 10),
    (29, Shape::TETRAHEDRON, 20),
    (30, Shape::TETRAHEDRON, 35),
    (31, Shape::TETRAHEDRON, 56),
    (12, Shape::Cell(CellKind::Hexahedron), 27),
    (17, Shape::Cell(CellKind::Hexahedron), 20),
    (92, Shape::Cell(CellKind::Hexahedron), 64),
    (13, Shape::Cell(CellKind::Wedge), 18),
    (18, Shape::Cell(CellKind::Wedge), 15),
    (90, Shape::Cell(CellKind::Wedge), 40),
    (14, Shape::Cell(CellKind::Pyramid), 14),
    (19, Shape::Cell(CellKind::Pyramid), 13),
];

/// The shape of elements of a type, and the number of their nodes that are not corners.
fn shape(kind: i64) -> Result<(Shape, usize), String> {
    if kind == 15 {
        return Ok((Shape::Point, 0));
    }
    let linear = SHAPES.iter().find(|(number, _)| i64::from(*number) == kind);
    let higher = HIGHER.iter().find(|entry| i64::from(entry.0) == kind);
    match (linear, higher) {
        (Some(&(_, shape)), _) => Ok((shape, 0)),
        (_, Some(&(_, shape, nodes))) => Ok((shape, nodes - shape.vertices())),
        _ if kind > 19 => Err(format!(
            "elements of Gmsh's type {kind} are not read: write a mesh of first or second order"
        )),
        _ => Err(format!("there is no type {kind} of elements")),
    }
}

/// Whether the file has cells of three dimensions. Skips nodes, and elements up to the first such cell.
pub(super) fn is_volume(file: &[u8]) -> bool {
    let search = || -> Parsed<bool> {
        let Opened {
            mut data, version, ..
        } = open(file)?;
        while let Some((name, _)) = data.section()? {
            if matches!(name, "Elements" | "ELM") {
                let is_found = match version {
                    1.0..3.0 => v2::has_cells(&mut data)?,
                    _ => v4::has_cells(&mut data, data::Version::of(version))?,
                };
                if is_found {
                    return Ok(true);
                }
            }
            data.skip_section(name)?;
        }
        Ok(false)
    };
    search().unwrap_or(false)
}

/// The mesh of a file.
pub(crate) fn parse_grid(file: &[u8]) -> Parsed<Grid> {
    // In binary files, sections are surrounded by line feeds.
    let file = &*with_line_feeds(file);
    let Opened {
        mut data,
        version,
        begin,
    } = open(file)?;
    match version {
        1.0..3.0 => v2::parse(&mut data, begin),
        _ => v4::parse(&mut data, data::Version::of(version), begin),
    }
}

/// A file whose version is known.
struct Opened<'a> {
    /// At the first section with data.
    data: Data<'a>,
    version: f64,
    /// Where the first section begins.
    begin: usize,
}

/// Moves to the sections of a file.
fn open(file: &[u8]) -> Parsed<Opened<'_>> {
    let mut text = Text::new(file, text_start(file));
    let (begin, has_format) = skip_to_format(&mut text)?;
    if !has_format {
        let (data, version) = (Data::Text(text), 1.0);
        return Ok(Opened {
            data,
            version,
            begin,
        });
    }
    let place = text.skip_blanks();
    let version = text.number::<f64>("a version")?;
    let is_binary = text.number::<i64>("0 for text or 1 for binary")? == 1;
    let size = text.count("the size of numbers")?;
    let size = match size {
        4 => Kind::U32,
        8 => Kind::U64,
        _ => {
            return Err(Fault::new(
                place,
                format!("numbers of {size} bytes are not read"),
            ));
        }
    };
    let mut data = match is_binary {
        false => Data::Text(text),
        true => {
            text.finish_line()?;
            let mut bytes = Bytes {
                file,
                at: text.at,
                order: Order::Little,
                part: text.at,
            };
            bytes.order = match bytes.take(1, 4, "the number 1")? {
                [1, 0, 0, 0] => Order::Little,
                [0, 0, 0, 1] => Order::Big,
                _ => return Err(bytes.fault(text.at, "expected the number 1")),
            };
            Data::Binary(bytes, size)
        }
    };
    data.end_section("MeshFormat")?;
    match version {
        2.0..3.0 | 4.0 | 4.1 => Ok(Opened {
            data,
            version,
            begin,
        }),
        _ => {
            let reason = format!(
                "version {version} is not read: write 4.1 or 2.2, as by gmsh -format msh41"
            );
            Err(Fault::new(place, reason))
        }
    }
}

/// Moves past the word `$MeshFormat`, which comments may precede, or to `$NOD`, which begins version 1.0. Returns the
/// word's place, and whether it is `$MeshFormat`.
fn skip_to_format(text: &mut Text) -> Parsed<(usize, bool)> {
    loop {
        while text.file[text.skip_blanks()..]
            .first()
            .is_some_and(|&byte| byte != b'$')
        {
            text.line();
        }
        let begin = text.at;
        match text.word() {
            Some(b"$MeshFormat") => return Ok((begin, true)),
            Some(b"$NOD") => {
                text.at = begin;
                return Ok((begin, false));
            }
            Some(b"$Comments") => {
                let end = memchr::memmem::find(&text.file[text.at..], b"$EndComments");
                let length = end.ok_or_else(|| Fault::new(begin, "there is no $EndComments"))?;
                text.at += length + b"$EndComments".len();
            }
            _ => {
                let reason = "expected $MeshFormat or $NOD at the start of the file: versions 1, 2 and 4 are read";
                return Err(foreign::named(text.file, "msh", Fault::new(begin, reason)));
            }
        }
    }
}

/// The mesh in the sections from here on. `read` reads a section by its name and place, or returns false.
fn read_sections<'a>(
    data: &mut Data<'a>,
    begin: usize,
    mut read: impl FnMut(&mut Data<'a>, (&str, usize), &mut Option<Nodes>, &mut Grouped) -> Parsed<bool>,
) -> Parsed<Grid> {
    let mut nodes = None;
    let mut grouped = Grouped::new(begin);
    while let Some((name, begin)) = data.section()? {
        match name {
            "MeshFormat" => {
                grouped.skip_again(data, begin)?;
                continue;
            }
            "PhysicalNames" => grouped.groups.read_names(data),
            "NodeData" => grouped.views.read(data, false)?,
            "ElementData" => grouped.views.read(data, true)?,
            _ if read(data, (name, begin), &mut nodes, &mut grouped)? => {}
            _ => {
                note_skipped(&mut grouped.elements.notes, name);
                data.skip_section(name)?;
                continue;
            }
        }
        data.end_section(name)?;
        if matches!(name, "Elements" | "ELM") {
            grouped.end_elements(data);
        }
    }
    grouped.finish(nodes, data.file().len())
}

/// Notes a section that a mesh cannot hold.
fn note_skipped(notes: &mut Vec<String>, name: &str) {
    let what = match name {
        "ElementNodeData" => "fields of corners",
        "Periodic" => "pairs of periodic nodes",
        "InterpolationScheme" => "rules of interpolation",
        _ => return,
    };
    let note = format!("${name} is skipped: {what} of .msh files are not read");
    if !notes.contains(&note) {
        notes.push(note);
    }
}

/// The vertex of each node's tag.
enum NodeMap {
    /// Tags are first, first + 1, ...
    Ascending(i64),
    /// Vertex of each tag; [`NONE`] for no node.
    Dense(Vec<u32>),
    /// Tags, ascending, with their vertices.
    Sparse(Vec<(i64, u32)>),
}

impl NodeMap {
    /// # Errors
    /// The place among the tags of one that is negative or repeated.
    fn new(tags: &[i64]) -> Result<NodeMap, (usize, String)> {
        if let Some(i) = parallel::position(tags, |&tag| tag < 0) {
            return Err((i, format!("node {} has a negative number", tags[i])));
        }
        let first = tags.first().copied().unwrap_or(1);
        let is_elsewhere = |i: usize| tags[i].wrapping_sub(first) != i as i64;
        if parallel::find(tags.len(), is_elsewhere).is_none() {
            return Ok(NodeMap::Ascending(first));
        }
        let twice = |i: usize| (i, format!("there is a second node {}", tags[i]));
        let most = tags.iter().copied().max().unwrap_or(0) as usize;
        if most / 4 <= tags.len() {
            let mut of_tag = vec![NONE; most + 1];
            for (i, &tag) in tags.iter().enumerate() {
                if of_tag[tag as usize] != NONE {
                    return Err(twice(i));
                }
                of_tag[tag as usize] = i as u32;
            }
            return Ok(NodeMap::Dense(of_tag));
        }
        let mut pairs: Vec<(i64, u32)> = tags.iter().copied().zip(0..).collect();
        pairs.par_sort_unstable();
        match pairs.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(twice(pair[1].1 as usize)),
            None => Ok(NodeMap::Sparse(pairs)),
        }
    }

    fn vertex(&self, tag: i64, nodes: usize) -> Result<u32, String> {
        let vertex = match self {
            NodeMap::Ascending(first) => usize::try_from(tag.wrapping_sub(*first))
                .ok()
                .filter(|&vertex| vertex < nodes)
                .map(|vertex| vertex as u32),
            NodeMap::Dense(of_tag) => usize::try_from(tag)
                .ok()
                .and_then(|tag| of_tag.get(tag).copied())
                .filter(|&vertex| vertex != NONE),
            NodeMap::Sparse(pairs) => pairs
                .binary_search_by_key(&tag, |pair| pair.0)
                .ok()
                .map(|place| pairs[place].1),
        };
        vertex.ok_or_else(|| format!("there is no node {tag}"))
    }
}

/// Nodes of a file.
struct Nodes {
    points: Vec<DVec3>,
    map: NodeMap,
}

impl Nodes {
    fn vertex(&self, tag: i64) -> Result<u32, String> {
        self.map.vertex(tag, self.points.len())
    }
}

/// Elements with their physical groups as tags, and the geometrical entities of those elements.
#[derive(Default)]
struct Grouped {
    elements: Elements,
    /// Entities of the cells, then of the faces, then of the lines.
    entities: [Vec<i32>; 3],
    groups: Groups,
    views: Views,
    /// Start of the mesh, with its format.
    begin: usize,
    /// End of its elements, once they are read.
    end: Option<usize>,
}

impl Grouped {
    fn new(begin: usize) -> Grouped {
        Grouped {
            begin,
            ..Grouped::default()
        }
    }

    /// Notes that the first list of elements ends here.
    fn end_elements(&mut self, data: &mut Data) {
        self.end.get_or_insert(data.text().at);
    }

    /// Moves past a repeated mesh at offset `again`, or past its format if data follow.
    fn skip_again(&self, data: &mut Data, again: usize) -> Parsed<()> {
        let file = data.file();
        let format_of = |begin: usize| {
            let end = memchr::memmem::find(&file[begin..], b"$EndMeshFormat")?;
            Some(&file[begin..begin + end + b"$EndMeshFormat".len()])
        };
        let mesh = self.end.map(|end| &file[self.begin..end]);
        let is_again = |part: &&[u8]| file[again..].starts_with(part);
        let part = mesh
            .filter(is_again)
            .or_else(|| format_of(self.begin).filter(is_again))
            .ok_or_else(|| {
                let reason =
                    "a second mesh of another format begins here: write it to a file of its own";
                Fault::new(again, reason)
            })?;
        data.go_on(&Text::new(file, again + part.len()));
        Ok(())
    }

    fn second_nodes(begin: usize) -> Fault {
        let reason = "a second mesh is here, which is not the first one once more: write it to a file of its own. Gmsh appends \
            such a mesh with a view where Mesh.SaveAll was set for the first: write both without it";
        Fault::new(begin, reason)
    }

    fn finish(mut self, nodes: Option<Nodes>, end: usize) -> Parsed<Grid> {
        let nodes = nodes.ok_or_else(|| Fault::new(end, "there are no $Nodes"))?;
        let several = |entities: &[i32]| entities.windows(2).any(|pair| pair[0] != pair[1]);
        let [cells, faces, lines] = self.entities;
        let tags = [&mut self.elements.regions, &mut self.elements.face_tags];
        for (tags, entities) in tags.into_iter().zip([cells, faces]) {
            let has_groups = tags.iter().any(|&tag| tag != 0);
            if !has_groups && several(&entities) {
                *tags = entities;
            }
        }
        let has_groups = self.elements.lines.iter().any(|line| line.marker != 0);
        if !has_groups && several(&lines) {
            for (line, entity) in self.elements.lines.iter_mut().zip(lines) {
                line.marker = entity;
            }
        }
        let fields = self.views.finish(&nodes, &mut self.elements.notes)?;
        self.elements.has_copies = true;
        self.elements.groups.names = self.groups.names();
        self.elements.notes.extend(self.groups.notes());
        let grid = Grid::new(nodes.points, self.elements);
        let grid = grid.map_err(|reason| Fault::new(end, reason))?;
        Ok(grid.with_mesh_fields(fields))
    }
}

pub(crate) fn write(path: &Path, mesh: Output, options: WriteOptions) -> Result<()> {
    let is_binary = options.encoding.unwrap_or_default() == Encoding::Binary;
    write_atomically(path, |file| match options.msh_version {
        MshVersion::V2 => v2::write(file, mesh, is_binary),
        MshVersion::V4 => v4::write(file, mesh, is_binary),
    })
}

/// The geometrical entity and the physical group of each tag of a dimension, in the order of tags.
type Entities = BTreeMap<i32, Entity>;

/// An entity, numbered from 1, and its physical group.
#[derive(Clone, Copy, Default)]
struct Entity {
    number: i32,
    /// The tag, or for a tag below 0 a number that is no tag. There is no group 0.
    group: i32,
}

/// The curves of the lines' markers, the surfaces of the faces' tags, and the volumes of regions. Untagged cells are
/// one volume. There is always a surface.
fn entities(mesh: Output) -> [Entities; 3] {
    let regions = match mesh.cells.is_empty() {
        true => &[],
        false => mesh.regions.as_deref().unwrap_or(&[0]),
    };
    let markers: Vec<i32> = mesh.lines.iter().map(|line| line.marker).collect();
    let mut dimension = 0;
    let mut all = [&markers[..], &mesh.face_tags, regions].map(|tags| {
        dimension += 1;
        let tags: BTreeSet<i32> = tags.iter().copied().collect();
        let has_name = |number| mesh.about.groups.contains_key(&(dimension, number));
        let mut free = (1..).filter(|&number| !tags.contains(&number) && !has_name(number));
        let group = |tag: i32| match tag < 0 {
            true => free.next().unwrap_or(0),
            false => tag,
        };
        let groups: Vec<i32> = tags.iter().copied().map(group).collect();
        let entities = (1..).zip(groups);
        let entities = entities.map(|(number, group)| Entity { number, group });
        tags.into_iter().zip(entities).collect::<Entities>()
    });
    if all[1].is_empty() {
        let group = 0;
        all[1].insert(0, Entity { number: 1, group });
    }
    all
}

/// Writes the names of groups. The name of a group for a tag below 0 says the tag.
fn write_names(out: &mut dyn io::Write, mesh: Output, entities: &[Entities; 3]) -> io::Result<()> {
    let below = |entities: &Entities| entities.range(..0).count();
    let named = mesh.about.groups.iter();
    let named = named.filter(|((dimension, number), _)| *dimension <= 3 && *number > 0);
    let count = entities.iter().map(below).sum::<usize>() + named.clone().count();
    if count == 0 {
        return Ok(());
    }
    writeln!(out, "$PhysicalNames\n{count}")?;
    for ((dimension, number), name) in named {
        // The format has no way to write these within a name.
        let name = name.replace(['"', '\n', '\r'], "'");
        writeln!(out, "{dimension} {number} \"{name}\"")?;
    }
    let highest = if mesh.cells.is_empty() { 2 } else { 3 };
    for (dimension, entities) in (1..).zip(entities) {
        let kind = match dimension == highest {
            true => "region",
            false => "marker",
        };
        for (tag, Entity { group, .. }) in entities.range(..0) {
            let digits = tag.unsigned_abs();
            writeln!(out, "{dimension} {group} \"{kind}_m{digits}\"")?;
        }
    }
    writeln!(out, "$EndPhysicalNames")
}

/// Writes the first section.
fn write_format(out: &mut dyn io::Write, version: &str, is_binary: bool) -> io::Result<()> {
    write!(out, "$MeshFormat\n{version} {} 8\n", u8::from(is_binary))?;
    if is_binary {
        out.write_all(&1i32.to_le_bytes())?;
        writeln!(out)?;
    }
    writeln!(out, "$EndMeshFormat")
}
