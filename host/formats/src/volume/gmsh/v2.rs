//! Version 2.2: nodes, then elements, each with tags: its physical group, its geometrical entity and more. Version 1.0:
//! the same in `$NOD` and `$ELM`, with two tags and the number of nodes in each row.

use std::io;

use glam::DVec3;

use super::super::bytes::{Decode, Kind, Numbers, Order, write_numbers};
use super::super::elements::{Grid, Shape, Table, Tag};
use super::super::{Output, Selected, select};
use super::data::{Data, Start};
use super::groups::Groups;
use super::{
    Entity, Grouped, NodeMap, Nodes, SHAPES, entities, fields, read_sections, shape, write_format,
    write_names,
};
use crate::atomic_file::Out;
use crate::fields::Number;
use crate::text::{Fault, Parsed, whole};

pub(super) fn parse(data: &mut Data, begin: usize) -> Parsed<Grid> {
    read_sections(data, begin, |data, (name, begin), nodes, grouped| {
        match name {
            "Nodes" | "NOD" if nodes.is_some() => return Err(Grouped::second_nodes(begin)),
            "Nodes" | "NOD" => *nodes = Some(read_nodes(data)?),
            "ParametricNodes" => {
                let reason =
                    "parametric nodes are not read: write the mesh without Mesh.SaveParametric";
                return Err(Fault::new(begin, reason));
            }
            "Elements" | "ELM" => {
                let nodes = nodes
                    .as_ref()
                    .ok_or_else(|| Fault::new(begin, "the elements stand before the nodes"))?;
                match data {
                    Data::Text(_) => read_text_elements(data, nodes, name == "ELM", grouped)?,
                    Data::Binary(..) => read_binary_elements(data, nodes, grouped)?,
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    })
}

/// A count, which is a line of text in binary files too.
fn line_count(data: &mut Data, what: &str) -> Parsed<usize> {
    let mut text = data.text();
    let count = text.count(what)?;
    if let Data::Binary(..) = data {
        text.finish_line()?;
    }
    data.go_on(&text);
    Ok(count)
}

fn read_nodes(data: &mut Data) -> Parsed<Nodes> {
    let count = line_count(data, "the number of nodes")?;
    let (tags, points, start) = match data {
        Data::Text(text) => {
            let start = Start::Text(text.clone());
            let values = text.numbers::<f64>(count.saturating_mul(4), "nodes")?;
            let rows = values.as_chunks::<4>().0;
            let mut tags = Vec::with_capacity(rows.len());
            for (i, row) in rows.iter().enumerate() {
                tags.push(whole(row[0]).ok_or_else(|| {
                    let reason = format!("expected a node's number, found `{}`", row[0]);
                    start.fault(4 * i, reason)
                })?);
            }
            let points = rows.iter().map(|r| DVec3::new(r[1], r[2], r[3]));
            (tags, points.collect::<Vec<_>>(), start)
        }
        Data::Binary(bytes, _) => {
            let start = Start::Binary(bytes.clone(), 7);
            let rows = bytes.take(count, 28, "nodes")?;
            let (mut numbers, mut coordinates) = (
                Vec::with_capacity(4 * count),
                Vec::with_capacity(24 * count),
            );
            for row in rows.chunks_exact(28) {
                numbers.extend_from_slice(&row[..4]);
                coordinates.extend_from_slice(&row[4..]);
            }
            let Numbers::Integers(tags) = Kind::I32.numbers(&numbers, bytes.order) else {
                unreachable!("tags are whole numbers");
            };
            let coordinates = Kind::F64.numbers(&coordinates, bytes.order).into_floats();
            let points = coordinates.as_chunks().0.iter();
            let points = points.map(|p| DVec3::from_array(*p)).collect();
            (tags, points, start)
        }
    };
    let map = NodeMap::new(&tags).map_err(|(i, reason)| start.fault(4 * i, reason))?;
    Ok(Nodes { points, map })
}

/// The places of the tags and the nodes in an element's row.
#[derive(Clone, Copy)]
struct Columns {
    first_tag: usize,
    tags: usize,
    nodes: usize,
}

/// Rows of numbers, each an element of the same shape with its tags, its corners, and `side_nodes` other nodes.
fn read_rows(
    values: &[i64],
    (shape, side_nodes): (Shape, usize),
    columns: Columns,
    nodes: &Nodes,
    grouped: &mut Grouped,
    file: &[u8],
    fault: impl Fn(usize, String) -> Fault,
) -> Parsed<()> {
    let width = columns.nodes + shape.vertices() + side_nodes;
    match resolved(&mut grouped.groups, shape, columns, values, width) {
        None => read_resolved(
            values,
            (shape, side_nodes),
            columns,
            nodes,
            grouped,
            file,
            fault,
        ),
        Some((values, rows)) => {
            let fault = |i: usize, reason| fault(rows[i / width] * width + i % width, reason);
            read_resolved(
                &values,
                (shape, side_nodes),
                columns,
                nodes,
                grouped,
                file,
                fault,
            )
        }
    }
}

/// Returns the rows with the tags that their groups stand for, without those between partitions, and the index of
/// each; `None` where every group stands for itself.
fn resolved(
    groups: &mut Groups,
    shape: Shape,
    columns: Columns,
    values: &[i64],
    width: usize,
) -> Option<(Vec<i64>, Vec<usize>)> {
    let Columns {
        first_tag, tags, ..
    } = columns;
    let rows = || values.chunks_exact(width);
    groups.has_partitions |= tags > 2 && rows().any(|row| row[first_tag + 2] != 0);
    if tags == 0 || !(groups.has_stand_ins() || rows().any(|row| row[first_tag] < 0)) {
        return None;
    }
    let (mut kept, mut numbers) = (Vec::with_capacity(values.len()), Vec::new());
    for (i, row) in rows().enumerate() {
        // Larger numbers are a fault, which the table finds.
        let tag = match i32::try_from(row[first_tag]) {
            Ok(group) => groups.tag(shape.dimension(), group).map(i64::from),
            Err(_) => Some(row[first_tag]),
        };
        let Some(tag) = tag else {
            groups.leave_out(1);
            continue;
        };
        kept.extend_from_slice(row);
        let at = kept.len() - width + first_tag;
        kept[at] = tag;
        numbers.push(i);
    }
    Some((kept, numbers))
}

/// As [`read_rows`], of groups that stand for themselves.
fn read_resolved(
    values: &[i64],
    (shape, side_nodes): (Shape, usize),
    columns: Columns,
    nodes: &Nodes,
    grouped: &mut Grouped,
    file: &[u8],
    fault: impl Fn(usize, String) -> Fault,
) -> Parsed<()> {
    let Columns {
        first_tag, tags, ..
    } = columns;
    let table = Table {
        values,
        width: columns.nodes + shape.vertices() + side_nodes,
        vertices: columns.nodes,
        side_nodes,
        tag: match tags {
            0 => Tag::All(0),
            _ => Tag::Column(first_tag),
        },
    };
    let entities = match shape {
        Shape::Point if tags > 0 => {
            let tags = table.column(first_tag, fault)?;
            tags.into_iter()
                .for_each(|tag| grouped.groups.add_points(tag, 1));
            return Ok(());
        }
        Shape::Point => return Ok(()),
        Shape::Cell(_) => &mut grouped.entities[0],
        Shape::Face(_) => &mut grouped.entities[1],
        Shape::Line => &mut grouped.entities[2],
    };
    match tags {
        0 | 1 => entities.resize(entities.len() + values.len() / table.width, 0),
        _ => entities.extend(table.column(first_tag + 1, &fault)?),
    }
    grouped.views.push_numbers(shape, values, table.width, file);
    table.read(&mut grouped.elements, shape, |tag| nodes.vertex(tag), fault)
}

/// Whether the elements here include cells of three dimensions.
pub(super) fn has_cells(data: &mut Data) -> Parsed<bool> {
    let mut left = line_count(data, "the number of elements")?;
    let is_cell = |kind: i64| shape(kind).is_ok_and(|(shape, _)| matches!(shape, Shape::Cell(_)));
    while left > 0 {
        match data {
            Data::Text(text) => {
                text.count("a number")?;
                if is_cell(text.number("a type")?) {
                    return Ok(true);
                }
                text.line();
                left -= 1;
            }
            Data::Binary(..) => {
                let (head, start) = data.ints(3, "a block's type")?;
                let (shape, side_nodes) =
                    shape(head[0]).map_err(|reason| start.fault(0, reason))?;
                if is_cell(head[0]) {
                    return Ok(true);
                }
                let [count, tags] = [head[1], head[2]].map(|n| usize::try_from(n).unwrap_or(0));
                let width = 1 + tags + shape.vertices() + side_nodes;
                data.skip_ints(count.saturating_mul(width))?;
                left = left.saturating_sub(count.max(1));
            }
        }
    }
    Ok(false)
}

fn read_text_elements(
    data: &mut Data,
    nodes: &Nodes,
    is_version_1: bool,
    grouped: &mut Grouped,
) -> Parsed<()> {
    let count = line_count(data, "the number of elements")?;
    let mut text = data.text();
    let start = Start::Text(text.clone());
    // Rows have any length: the section's end gives the number of numbers.
    let rest = &text.file[text.at..];
    let length = memchr::memchr(b'$', rest).unwrap_or(rest.len());
    let values = text.numbers_until::<i64>(text.at + length)?;
    data.go_on(&text);
    // Shape, columns and length of the element at a number.
    let element = |at: usize| -> Parsed<((Shape, usize), Columns, usize)> {
        if is_version_1 {
            return first_element(&values, at, &start);
        }
        let (Some(&kind), Some(&tags)) = (values.get(at + 1), values.get(at + 2)) else {
            return Err(start.fault(at, "an element is cut off".to_owned()));
        };
        let shape = shape(kind).map_err(|reason| start.fault(at + 1, reason))?;
        let tags = usize::try_from(tags)
            .ok()
            .filter(|tags| *tags <= values.len())
            .ok_or_else(|| {
                start.fault(at + 2, format!("expected a number of tags, found {tags}"))
            })?;
        let columns = Columns {
            first_tag: 3,
            tags,
            nodes: 3 + tags,
        };
        let length = columns.nodes + shape.0.vertices() + shape.1;
        if length > values.len() - at {
            return Err(start.fault(at, "an element is cut off".to_owned()));
        }
        Ok((shape, columns, length))
    };
    // The numbers that determine the layout of a row: the type, and in version 2 the number of tags.
    let layout = if is_version_1 { 1..2 } else { 1..3 };
    let (mut at, mut found) = (0, 0);
    while at < values.len() {
        // A run of elements with equal shape and number of tags.
        let begin = at;
        let (shape, columns, length) = element(at)?;
        while at < values.len() {
            if values[at..].get(layout.clone()) != values[begin..].get(layout.clone()) {
                break;
            }
            element(at)?;
            at += length;
            found += 1;
        }
        read_rows(
            &values[begin..at],
            shape,
            columns,
            nodes,
            grouped,
            text.file,
            |i, reason| start.fault(begin + i, reason),
        )?;
    }
    if found != count {
        let reason = format!("expected {count} elements, found {found}");
        return Err(start.fault(0, reason));
    }
    Ok(())
}

/// An element of version 1.0: its number, type, physical group, entity, number of nodes, and nodes.
fn first_element(
    values: &[i64],
    at: usize,
    start: &Start,
) -> Parsed<((Shape, usize), Columns, usize)> {
    let &[_, kind, _, _, nodes, ..] = &values[at..] else {
        return Err(start.fault(at, "an element is cut off".to_owned()));
    };
    let shape = shape(kind).map_err(|reason| start.fault(at + 1, reason))?;
    let expected = shape.0.vertices() + shape.1;
    if usize::try_from(nodes) != Ok(expected) {
        let reason = format!("an element of type {kind} has {expected} nodes, not {nodes}");
        return Err(start.fault(at + 4, reason));
    }
    let columns = Columns {
        first_tag: 2,
        tags: 2,
        nodes: 5,
    };
    let length = columns.nodes + expected;
    if length > values.len() - at {
        return Err(start.fault(at, "an element is cut off".to_owned()));
    }
    Ok((shape, columns, length))
}

fn read_binary_elements(data: &mut Data, nodes: &Nodes, grouped: &mut Grouped) -> Parsed<()> {
    let count = line_count(data, "the number of elements")?;
    let mut found = 0usize;
    while found < count {
        let (head, start) = data.ints(3, "a block's type")?;
        let [kind, in_block, tags] = [head[0], head[1], head[2]];
        let shape = shape(kind).map_err(|reason| start.fault(0, reason))?;
        let (Ok(in_block @ 1..), Ok(tags)) = (usize::try_from(in_block), usize::try_from(tags))
        else {
            let reason = format!("a block of {in_block} elements with {tags} tags cannot be");
            return Err(start.fault(1, reason));
        };
        let width = 1 + tags + shape.0.vertices() + shape.1;
        let (values, start) = data.ints(in_block.saturating_mul(width), "elements")?;
        let (file, fault) = (data.file(), |i, reason| start.fault(i, reason));
        let columns = Columns {
            first_tag: 1,
            tags,
            nodes: 1 + tags,
        };
        read_rows(&values, shape, columns, nodes, grouped, file, fault)?;
        found += in_block;
    }
    Ok(())
}

pub(super) fn write(out: &mut dyn Out, mesh: Output, is_binary: bool) -> io::Result<()> {
    let entities = entities(mesh);
    write_format(out, "2.2", is_binary)?;
    write_names(out, mesh, &entities)?;
    write!(out, "$Nodes\n{}\n", mesh.points.len())?;
    let order = is_binary.then_some(Order::Little);
    write_numbers(out, mesh.points.len(), order, |i, push| {
        push(Number::Integer(i as i64 + 1), 4);
        let point = mesh.points[i].to_array();
        point.into_iter().for_each(|x| push(Number::Double(x), 8));
    })?;
    if is_binary {
        writeln!(out)?;
    }
    let count = mesh.cells.len() + mesh.faces.len() + mesh.lines.len();
    write!(out, "$EndNodes\n$Elements\n{count}\n")?;
    let mut number = 1;
    for (kind, shape) in SHAPES {
        let selected = select(mesh, shape);
        if selected.is_empty() {
            continue;
        }
        let entities = &entities[shape.dimension() - 1];
        if is_binary {
            for value in [i32::from(kind), selected.len() as i32, 2] {
                out.write_all(&value.to_le_bytes())?;
            }
        }
        write_numbers(out, selected.len(), order, |k, push| {
            let mut push = |value: i64| push(Number::Integer(value), 4);
            let (vertices, tag) = selected.element(mesh, shape, k);
            push((number + k) as i64);
            if !is_binary {
                push(kind.into());
                push(2);
            }
            let Entity { number, group } = entities[&tag];
            push(group.into());
            push(number.into());
            vertices.iter().for_each(|&v| push(i64::from(v) + 1));
        })?;
        number += selected.len();
    }
    if is_binary {
        writeln!(out)?;
    }
    writeln!(out, "$EndElements")?;
    let order = SHAPES.into_iter().flat_map(|(_, shape)| {
        let ids: Vec<u32> = match select(mesh, shape) {
            Selected::All(count) => (0..count as u32).collect(),
            Selected::Ids(ids) => ids,
        };
        ids.into_iter().map(move |id| (shape, id))
    });
    fields::write(out, mesh, order, is_binary)
}
