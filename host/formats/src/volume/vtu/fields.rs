//! The fields of a `.vtu` file.

use std::collections::BTreeSet;

use roxmltree::Node;

use super::arrays::{Arrays, Length, fault, kind};
use crate::text::{Parsed, show};
use crate::volume::bytes::{Kind, Numbers};
use trioxide_mesh::fields::{Field, Values};

/// The fields in `data`, `count` tuples each, without the arrays named in `skipped`.
pub(crate) fn read(
    arrays: &Arrays,
    data: Option<Node>,
    count: usize,
    skipped: &[&str],
) -> Parsed<Vec<Field>> {
    let mut fields = Vec::new();
    let children = data.into_iter().flat_map(|data| data.children());
    for node in children.filter(|child| child.has_tag_name("DataArray")) {
        let name = node.attribute("Name").unwrap_or("unnamed");
        if skipped.contains(&name) || is_no_number(node) {
            continue;
        }
        let components = match node.attribute("NumberOfComponents") {
            None | Some("" | "0") => 1,
            Some(text) => text.trim().parse().map_err(|_| {
                let text = show(text.as_bytes());
                fault(
                    node,
                    format!("expected a number of components, found `{text}`"),
                )
            })?,
        };
        let length = Length::Exactly(count.saturating_mul(components));
        let numbers = arrays.numbers(node, length)?;
        fields.push(Field {
            name: name.to_owned(),
            components,
            values: values(kind(node)?, numbers),
        });
    }
    Ok(fields)
}

/// Returns the note on the arrays of a piece that are no fields: those of text or bits, and data of the whole mesh.
pub(crate) fn left_out(piece: Node) -> Option<String> {
    let is_array = |node: &Node| node.has_tag_name("DataArray");
    let of_whole = piece
        .prev_siblings()
        .filter(|node| node.has_tag_name("FieldData"));
    let of_whole = of_whole.flat_map(|data| data.children()).filter(is_array);
    let of_piece = piece.descendants().filter(is_array);
    let arrays = of_whole.chain(of_piece.filter(|node| is_no_number(*node)));
    let names = arrays.map(|node| node.attribute("Name").unwrap_or("unnamed"));
    let names: BTreeSet<&str> = names.collect();
    if names.is_empty() {
        return None;
    }
    let names = Vec::from_iter(names).join(", ");
    Some(format!(
        "left out: arrays of text and data of the whole mesh: {names}"
    ))
}

fn is_no_number(array: Node) -> bool {
    matches!(array.attribute("type"), Some("String" | "Bit"))
}

/// The numbers of a file as values of their type.
pub(in crate::volume) fn values(kind: Kind, numbers: Numbers) -> Values {
    match numbers {
        Numbers::Integers(integers) => Values::of_integers(kind, integers),
        Numbers::Floats(floats) => Values::of_floats(kind, floats),
    }
}
