//! The fields of a `.vtu` file.

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
        // Text is no field.
        if skipped.contains(&name) || matches!(node.attribute("type"), Some("String" | "Bit")) {
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

/// The numbers of a file as values of their type.
pub(in crate::volume) fn values(kind: Kind, numbers: Numbers) -> Values {
    match numbers {
        Numbers::Integers(integers) => Values::of_integers(kind, integers),
        Numbers::Floats(floats) => Values::of_floats(kind, floats),
    }
}
