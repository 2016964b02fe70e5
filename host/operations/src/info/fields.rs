//! The fields of a mesh, listed.

use rayon::prelude::*;
use serde_json::{Value, json};
use trioxide::fields::{Field, MeshFields};

/// A field without its numbers.
#[derive(Clone, Debug)]
pub struct FieldRow {
    /// Its name.
    pub name: String,
    /// The elements that have it: points, faces.
    pub of: &'static str,
    /// How many elements.
    pub elements: usize,
    /// Numbers of each.
    pub components: usize,
    /// The numbers' type.
    pub kind: &'static str,
    /// Least and largest number of all components, NaN left out.
    pub range: Option<[f64; 2]>,
}

/// The fields of points, faces or cells, and segments or tagged faces, which are called `cells` and `sides`.
pub fn rows(fields: &MeshFields, cells: &'static str, sides: &'static str) -> Vec<FieldRow> {
    let lists = [
        (&fields.points, "points"),
        (&fields.cells, cells),
        (&fields.sides, sides),
    ];
    let rows = lists
        .into_iter()
        .flat_map(|(list, of)| list.iter().map(move |field| row(field, of)));
    rows.collect()
}

fn row(field: &Field, of: &'static str) -> FieldRow {
    let none = || [f64::INFINITY, f64::NEG_INFINITY];
    let join = |a: [f64; 2], b: [f64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
    let numbers = (0..field.values.len()).into_par_iter();
    // The minimum of a number and NaN is the number.
    let range = numbers.map(|i| [field.values.f64(i); 2]).reduce(none, join);
    FieldRow {
        name: field.name.clone(),
        of,
        elements: field.len(),
        components: field.components,
        kind: field.values.kind().name(),
        range: (range[0] <= range[1]).then_some(range),
    }
}

/// A list of objects.
pub fn to_json(rows: &[FieldRow]) -> Value {
    let object = |row: &FieldRow| {
        json!({
            "name": row.name,
            "of": row.of,
            "elements": row.elements,
            "components": row.components,
            "type": row.kind,
            "range": row.range.map(|range| range.map(|x| match x.is_finite() {
                true => json!(x),
                false => json!(x.to_string()),
            })),
        })
    };
    rows.iter().map(object).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_an_object() {
        let mut fields = MeshFields::default();
        fields.points.push(Field {
            name: "v".to_owned(),
            components: 2,
            values: vec![1.5f32, -2.0, f32::NAN, 0.0].into(),
        });
        fields.cells.push(Field::scalars("class", vec![6u8]));
        fields.sides.push(Field::scalars("nothing", vec![f64::NAN]));
        let rows = rows(&fields, "faces", "segments");
        let json = to_json(&rows);
        assert_eq!(json[0]["range"], json!([-2.0, 1.5]));
        assert_eq!(
            (&json[1]["of"], &json[1]["type"]),
            (&json!("faces"), &json!("uint8"))
        );
        assert!(json[2]["range"].is_null());
    }
}
