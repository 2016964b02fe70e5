//! Gmsh's `.msh`, versions 2.2 and 4.1, text and binary.
//!
//! <https://gmsh.info/doc/texinfo/gmsh.html#MSH-file-format>. Tetrahedra, pyramids, prisms and hexahedra are cells, triangles and
//! quadrilaterals tagged faces; points and lines are skipped. A region or tag is the physical group; where no element of
//! the dimension has one, it is the geometrical entity, if there are several. An element in several physical groups has the
//! first. `$NodeData` and `$ElementData` are fields of doubles. Names of groups, periodic nodes, partitions and other data are
//! skipped.
//!
//! Written regions and tags are physical groups, each with a geometrical entity of its own: Gmsh puts whole entities into
//! groups, whatever an element says. Elements come kind by kind, in version 4.1 also group by group. There all
//! nodes belong to one volume.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use glam::DVec3;
use rayon::prelude::*;

use super::bytes::{Bytes, Kind, Order};
use super::elements::{Elements, Shape};
use super::tokens::Text;
use super::{Encoding, MshVersion, WriteOptions};
use crate::atomic_file::write_atomically;
use crate::map_file;
use crate::text::{Fault, Parsed};
use trioxide_mesh::Result;
use trioxide_mesh::mesh::NONE;
use trioxide_mesh::volume::{CellKind, VolumeMesh};

mod data;
mod fields;
mod v2;
mod v4;

use data::Data;
use fields::Views;
pub(super) use fields::keeps;

/// Gmsh's types of elements that are kept, in the order in which they are written.
const SHAPES: [(u8, Shape); 6] = [
    (4, Shape::TETRAHEDRON),
    (7, Shape::Cell(CellKind::Pyramid)),
    (6, Shape::Cell(CellKind::Wedge)),
    (5, Shape::Cell(CellKind::Hexahedron)),
    (2, Shape::TRIANGLE),
    (3, Shape::QUADRILATERAL),
];

fn shape(kind: i64) -> Result<Shape, String> {
    match kind {
        1 => return Ok(Shape::Lower(2)),
        15 => return Ok(Shape::Lower(1)),
        8..=14 | 16..=31 | 36.. => {
            return Err(format!(
                "elements of Gmsh's type {kind} are of second order or more: write a mesh of first order"
            ));
        }
        _ => {}
    }
    let shape = SHAPES.iter().find(|(number, _)| i64::from(*number) == kind);
    shape
        .map(|(_, shape)| *shape)
        .ok_or_else(|| format!("there is no type {kind} of elements"))
}

pub(super) fn read(path: &Path) -> Result<VolumeMesh> {
    let file = map_file(path)?;
    parse(&file).map_err(|fault| fault.in_text(path, &file))
}

pub(super) fn parse(file: &[u8]) -> Parsed<VolumeMesh> {
    let mut text = Text::new(file, 0);
    skip_to_section(&mut text);
    let begin = text.at;
    if text.word() != Some(b"$MeshFormat") {
        let reason =
            "expected $MeshFormat at the start of the file: only versions 2 and 4 are read";
        return Err(Fault::new(begin, reason));
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
        2.0..3.0 => v2::parse(&mut data),
        4.1 => v4::parse(&mut data),
        _ => {
            let reason = format!(
                "version {version} is not read: write 4.1 or 2.2, as by gmsh -format msh41"
            );
            Err(Fault::new(place, reason))
        }
    }
}

/// Comments may stand before the first section.
fn skip_to_section(text: &mut Text) {
    while text.file[text.skip_blanks()..]
        .first()
        .is_some_and(|&byte| byte != b'$')
    {
        text.line();
    }
}

/// Which vertex a node's tag names.
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
    /// The place among the tags of one that is negative or there a second time.
    fn new(tags: &[i64]) -> Result<NodeMap, (usize, String)> {
        if let Some(i) = tags.par_iter().position_first(|&tag| tag < 0) {
            return Err((i, format!("node {} has a negative number", tags[i])));
        }
        let first = tags.first().copied().unwrap_or(1);
        if tags
            .par_iter()
            .enumerate()
            .all(|(i, &tag)| tag.wrapping_sub(first) == i as i64)
        {
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
    /// Of each cell, then of each face.
    entities: [Vec<i32>; 2],
    views: Views,
}

impl Grouped {
    fn finish(mut self, nodes: Option<Nodes>, end: usize) -> Parsed<VolumeMesh> {
        let nodes = nodes.ok_or_else(|| Fault::new(end, "there are no $Nodes"))?;
        let tags = [&mut self.elements.regions, &mut self.elements.face_tags];
        for (tags, entities) in tags.into_iter().zip(self.entities) {
            let has_groups = tags.iter().any(|&tag| tag != 0);
            let several = entities.windows(2).any(|pair| pair[0] != pair[1]);
            if !has_groups && several {
                *tags = entities;
            }
        }
        let fields = self.views.finish(&nodes)?;
        let mesh = self.elements.finish(nodes.points);
        let mut mesh = mesh.map_err(|reason| Fault::new(end, reason))?;
        mesh.fields = fields;
        Ok(mesh)
    }
}

pub(super) fn write(path: &Path, mesh: &VolumeMesh, options: WriteOptions) -> Result<()> {
    let is_binary = options.encoding.unwrap_or_default() == Encoding::Binary;
    write_atomically(path, |file| match options.msh_version {
        MshVersion::V2 => v2::write(file, mesh, is_binary),
        MshVersion::V4 => v4::write(file, mesh, is_binary),
    })
}

/// The geometrical entity of each tag of a dimension, numbered from 1 in the order of tags.
type Entities = BTreeMap<i32, i32>;

/// The surfaces of the tags of `mesh`, and the volumes of its regions. A dimension without tags has one entity, for tag 0.
fn entities(mesh: &VolumeMesh) -> [Entities; 2] {
    let regions = mesh.regions.as_deref().unwrap_or(&[0]);
    [&mesh.face_tags[..], regions].map(|tags| {
        let mut entities: Entities = tags.iter().map(|&tag| (tag, 0)).collect();
        if entities.is_empty() {
            entities.insert(0, 0);
        }
        for (number, entity) in (1..).zip(entities.values_mut()) {
            *entity = number;
        }
        entities
    })
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
