//! Versions 4.0 and 4.1: nodes and elements in blocks, one or more for each geometrical entity.

use std::collections::HashMap;
use std::io::{self, Write};

use glam::DVec3;

use super::super::elements::{Grid, Shape, Table, Tag};
use super::super::{Output, Selected, select};
use super::data::{Data, Version};
use super::groups::Place;
use super::{
    Entities, Entity, Grouped, NodeMap, Nodes, SHAPES, entities, fields, read_sections, shape, v40,
    write_format, write_names,
};
use crate::atomic_file::Out;
use crate::rows_out::{push_after_blanks, push_f64, push_integer, write_records};
use crate::text::{Fault, Parsed};

/// Whether the elements here include cells of three dimensions.
pub(super) fn has_cells(data: &mut Data, version: Version) -> Parsed<bool> {
    let blocks = data.count("the number of blocks")?;
    data.count("the number of elements")?;
    if version == Version::V41 {
        data.sizes(2, "tags")?;
    }
    for _ in 0..blocks {
        let (head, head_start) = data.ints(3, "a block's entity")?;
        let in_block = data.count("the number of elements in the block")?;
        let (shape, side_nodes) = shape(head[2]).map_err(|reason| head_start.fault(2, reason))?;
        if matches!(shape, Shape::Cell(_)) && in_block > 0 {
            return Ok(true);
        }
        let numbers = in_block.saturating_mul(1 + shape.vertices() + side_nodes);
        match (data.is_text(), version) {
            (true, _) => data.skip_lines(in_block),
            (_, Version::V40) => data.skip_ints(numbers)?,
            (_, Version::V41) => data.skip_sizes(numbers)?,
        }
    }
    Ok(false)
}

pub(super) fn parse(data: &mut Data, version: Version, begin: usize) -> Parsed<Grid> {
    read_sections(data, begin, |data, (name, begin), nodes, grouped| {
        match name {
            "Entities" => grouped.groups.read_entities(data, version, false)?,
            "PartitionedEntities" => grouped.groups.read_entities(data, version, true)?,
            "Nodes" if nodes.is_some() => return Err(Grouped::second_nodes(begin)),
            "Nodes" => *nodes = Some(read_nodes(data, version)?),
            "Elements" => {
                let nodes = nodes
                    .as_ref()
                    .ok_or_else(|| Fault::new(begin, "$Elements stand before $Nodes"))?;
                read_elements(data, nodes, version, grouped)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    })
}

fn read_nodes(data: &mut Data, version: Version) -> Parsed<Nodes> {
    let begin = data.clone();
    let blocks = data.count("the number of blocks")?;
    let count = data.count("the number of nodes")?;
    if version == Version::V41 {
        data.sizes(2, "tags")?;
    }
    let (mut tags, mut points) = (Vec::new(), Vec::new());
    for _ in 0..blocks {
        let (head, start) = data.ints(3, "a block's entity")?;
        let in_block = data.count("the number of nodes in the block")?;
        if version == Version::V41 {
            tags.extend(data.sizes(in_block, "nodes")?.0);
        }
        // After the coordinates: the node's parameters on its entity.
        let place = usize::from(version == Version::V40);
        let extra = match (head[2], head[place]) {
            (0, _) => 0,
            (_, dimension @ 0..=3) => dimension as usize,
            (_, dimension) => {
                let reason = format!("there are no entities of dimension {dimension}");
                return Err(start.fault(place, reason));
            }
        };
        if version == Version::V40 {
            v40::read_rows(data, in_block, extra, &mut tags, &mut points)?;
            continue;
        }
        let width = 3 + extra;
        let coordinates = data.floats(in_block.saturating_mul(width), "nodes")?;
        let rows = coordinates.chunks_exact(width);
        points.extend(rows.map(|p| DVec3::new(p[0], p[1], p[2])));
    }
    if points.len() != count {
        let reason = format!("expected {count} nodes, found {}", points.len());
        return Err(begin.clone().sizes(0, "")?.1.fault(0, reason));
    }
    let map = NodeMap::new(&tags)
        .or_else(|(_, reason)| Err(begin.clone().sizes(0, "")?.1.fault(0, reason)))?;
    Ok(Nodes { points, map })
}

fn read_elements(
    data: &mut Data,
    nodes: &Nodes,
    version: Version,
    grouped: &mut Grouped,
) -> Parsed<()> {
    let blocks = data.count("the number of blocks")?;
    let count = data.count("the number of elements")?;
    if version == Version::V41 {
        data.sizes(2, "tags")?;
    }
    let mut found = 0usize;
    for _ in 0..blocks {
        let (head, head_start) = data.ints(3, "a block's entity")?;
        let [dimension, entity, kind] = match version {
            Version::V40 => [head[1], head[0], head[2]],
            Version::V41 => [head[0], head[1], head[2]],
        };
        let in_block = data.count("the number of elements in the block")?;
        let (shape, side_nodes) = shape(kind).map_err(|reason| head_start.fault(2, reason))?;
        let width = 1 + shape.vertices() + side_nodes;
        let numbers = in_block.saturating_mul(width);
        let (values, start) = match version {
            Version::V40 => data.ints(numbers, "elements")?,
            Version::V41 => data.sizes(numbers, "elements")?,
        };
        found = found.saturating_add(in_block);
        let dimension = usize::try_from(dimension).unwrap_or(0);
        let Some(place) = grouped.groups.place(dimension, entity, in_block) else {
            continue;
        };
        let table = Table {
            values: &values,
            width,
            vertices: 1,
            side_nodes,
            tag: Tag::All(0),
        };
        grouped.read_block(data, nodes, shape, table, &place, |i, reason| {
            start.fault(i, reason)
        })?;
    }
    if found != count {
        let (_, here) = data.sizes(0, "")?;
        let reason = format!("expected {count} elements, found {found}");
        return Err(here.fault(0, reason));
    }
    Ok(())
}

/// Elements of one shape and one tag: a block, with an entity of its own.
struct Block {
    kind: u8,
    shape: Shape,
    entity: i32,
    ids: Vec<u32>,
}

/// Writes numbers to a file, as text or binary.
struct Sink<'a> {
    out: &'a mut dyn Write,
    is_binary: bool,
}

impl Sink<'_> {
    fn ints(&mut self, values: &[i32]) -> io::Result<()> {
        for value in values {
            match self.is_binary {
                true => self.out.write_all(&value.to_le_bytes())?,
                false => write!(self.out, "{value} ")?,
            }
        }
        Ok(())
    }

    fn sizes(&mut self, values: &[usize]) -> io::Result<()> {
        for value in values {
            match self.is_binary {
                true => self.out.write_all(&(*value as u64).to_le_bytes())?,
                false => write!(self.out, "{value} ")?,
            }
        }
        Ok(())
    }

    fn floats(&mut self, values: &[f64]) -> io::Result<()> {
        for value in values {
            match self.is_binary {
                true => self.out.write_all(&value.to_le_bytes())?,
                false => write!(self.out, "{value:?} ")?,
            }
        }
        Ok(())
    }

    /// Ends a line of text.
    fn line(&mut self) -> io::Result<()> {
        match self.is_binary {
            true => Ok(()),
            false => writeln!(self.out),
        }
    }
}

impl Grouped {
    /// Appends the elements of a block: lines once for each of their groups, others with the first.
    fn read_block(
        &mut self,
        data: &Data,
        nodes: &Nodes,
        shape: Shape,
        table: Table,
        place: &Place,
        fault: impl Fn(usize, String) -> Fault,
    ) -> Parsed<()> {
        let count = table.values.len() / table.width;
        let first = place.groups.first().copied().unwrap_or(0);
        let others = place.groups.get(1..).unwrap_or_default();
        let (dimension, copies) = match shape {
            Shape::Point => {
                for &tag in &place.groups {
                    self.groups.add_points(tag, count);
                }
                return Ok(());
            }
            Shape::Line => (1, others),
            _ => (shape.dimension(), &[][..]),
        };
        self.views
            .push_numbers(shape, table.values, table.width, data.file());
        for &tag in [first].iter().chain(copies) {
            let tag = Tag::All(tag);
            let table = Table { tag, ..table };
            table.read(&mut self.elements, shape, |tag| nodes.vertex(tag), &fault)?;
            let entity = i32::try_from(place.entity).unwrap_or(0);
            let entities = &mut self.entities[3 - dimension];
            entities.resize(entities.len() + count, entity);
        }
        if copies.is_empty() {
            for &other in others {
                self.elements.groups.add(dimension, first, other, count);
            }
        }
        Ok(())
    }
}

pub(super) fn write(out: &mut dyn Out, mesh: Output, is_binary: bool) -> io::Result<()> {
    let entities = entities(mesh);
    let blocks = blocks(mesh, &entities);

    write_format(out, "4.1", is_binary)?;
    write_names(out, mesh, &entities)?;
    write_entities(out, mesh, &entities, is_binary)?;
    write_nodes(out, mesh, is_binary)?;
    write_elements(out, mesh, &blocks, is_binary)?;
    let order = blocks
        .iter()
        .flat_map(|block| block.ids.iter().map(move |&id| (block.shape, id)));
    fields::write(out, mesh, order, is_binary)
}

/// Writes the curves, surfaces and volumes, by tag, in the box of all points.
fn write_entities(
    out: &mut dyn Out,
    mesh: Output,
    entities: &[Entities; 3],
    is_binary: bool,
) -> io::Result<()> {
    let mut bounds = [0.0; 6];
    let finite = || mesh.points.iter().filter(|p| p.is_finite());
    let low = finite().copied().reduce(DVec3::min).unwrap_or_default();
    let high = finite().copied().reduce(DVec3::max).unwrap_or_default();
    bounds[..3].copy_from_slice(&low.to_array());
    bounds[3..].copy_from_slice(&high.to_array());
    writeln!(out, "$Entities")?;
    let mut sink = Sink { out, is_binary };
    let [curves, surfaces, volumes] = entities.each_ref().map(Entities::len);
    sink.sizes(&[0, curves, surfaces, volumes])?;
    sink.line()?;
    for entities in entities {
        for &Entity { number, group } in entities.values() {
            sink.ints(&[number])?;
            sink.floats(&bounds)?;
            // There is no group 0.
            sink.sizes(&[usize::from(group != 0)])?;
            if group != 0 {
                sink.ints(&[group])?;
            }
            sink.sizes(&[0])?;
            sink.line()?;
        }
    }
    if is_binary {
        writeln!(out)?;
    }
    writeln!(out, "$EndEntities")
}

/// Writes the points. All belong to one volume or surface.
fn write_nodes(out: &mut dyn Out, mesh: Output, is_binary: bool) -> io::Result<()> {
    writeln!(out, "$Nodes")?;
    let points = mesh.points.len();
    let mut sink = Sink { out, is_binary };
    sink.sizes(&[1, points, usize::from(points > 0), points])?;
    sink.line()?;
    sink.ints(&[if mesh.cells.is_empty() { 2 } else { 3 }, 1, 0])?;
    sink.sizes(&[points])?;
    sink.line()?;
    write_records(out, points, |buffer, i| match is_binary {
        true => buffer.extend_from_slice(&(i as u64 + 1).to_le_bytes()),
        false => {
            push_integer(buffer, i + 1);
            buffer.push(b'\n');
        }
    })?;
    write_records(out, points, |buffer, i| {
        for coordinate in mesh.points[i].to_array() {
            if is_binary {
                buffer.extend_from_slice(&coordinate.to_le_bytes());
            } else {
                push_f64(buffer, coordinate);
                buffer.push(b' ');
            }
        }
        if !is_binary {
            buffer.push(b'\n');
        }
    })?;
    if is_binary {
        writeln!(out)?;
    }
    writeln!(out, "$EndNodes")
}

/// Writes faces and cells, in blocks.
fn write_elements(
    out: &mut dyn Out,
    mesh: Output,
    blocks: &[Block],
    is_binary: bool,
) -> io::Result<()> {
    writeln!(out, "$Elements")?;
    let count: usize = blocks.iter().map(|block| block.ids.len()).sum();
    let mut sink = Sink { out, is_binary };
    sink.sizes(&[blocks.len(), count, usize::from(count > 0), count])?;
    sink.line()?;
    let mut number = 1;
    for block in blocks {
        let dimension = block.shape.dimension() as i32;
        let mut sink = Sink { out, is_binary };
        sink.ints(&[dimension, block.entity, i32::from(block.kind)])?;
        sink.sizes(&[block.ids.len()])?;
        sink.line()?;
        write_records(out, block.ids.len(), |buffer, k| {
            let i = block.ids[k] as usize;
            let (vertices, _) = mesh.element(block.shape, i);
            if is_binary {
                buffer.extend_from_slice(&(number + k as u64).to_le_bytes());
                for &vertex in vertices {
                    buffer.extend_from_slice(&(u64::from(vertex) + 1).to_le_bytes());
                }
                return;
            }
            push_integer(buffer, number + k as u64);
            push_after_blanks(buffer, vertices.iter().map(|&vertex| u64::from(vertex) + 1));
            buffer.push(b'\n');
        })?;
        number += block.ids.len() as u64;
    }
    if is_binary {
        writeln!(out)?;
    }
    writeln!(out, "$EndElements")
}

/// The elements by shape and tag, in the order of first appearance.
fn blocks(mesh: Output, entities: &[Entities; 3]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for (kind, shape) in SHAPES {
        let selected = select(mesh, shape);
        let entities = &entities[shape.dimension() - 1];
        let mut of_tag = HashMap::new();
        for k in 0..selected.len() {
            let (_, tag) = selected.element(mesh, shape, k);
            let id = match &selected {
                Selected::All(_) => k as u32,
                Selected::Ids(ids) => ids[k],
            };
            let block = *of_tag.entry(tag).or_insert_with(|| {
                blocks.push(Block {
                    kind,
                    shape,
                    entity: entities[&tag].number,
                    ids: Vec::new(),
                });
                blocks.len() - 1
            });
            blocks[block].ids.push(id);
        }
    }
    blocks
}
