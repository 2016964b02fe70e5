//! The fields of a mesh, as `trioxide info` lists them.

use rayon::prelude::*;
use serde_json::{Value, json};
use trioxide::fields::{Field, MeshFields};
use trioxide::terminal::visible_line;

/// A field without its numbers.
pub struct Row {
    name: String,
    /// The elements that have it: points, faces.
    of: &'static str,
    elements: usize,
    components: usize,
    kind: &'static str,
    /// Least and largest number of all components, NaN left out.
    range: Option<[f64; 2]>,
}

/// The fields of points, faces or cells, and segments or tagged faces, which are called `cells` and `sides`.
pub fn rows(fields: &MeshFields, cells: &'static str, sides: &'static str) -> Vec<Row> {
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

fn row(field: &Field, of: &'static str) -> Row {
    let none = || [f64::INFINITY, f64::NEG_INFINITY];
    let join = |a: [f64; 2], b: [f64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
    let numbers = (0..field.values.len()).into_par_iter();
    // The minimum of a number and NaN is the number.
    let range = numbers.map(|i| [field.values.f64(i); 2]).reduce(none, join);
    Row {
        name: field.name.clone(),
        of,
        elements: field.len(),
        components: field.components,
        kind: field.values.kind().name(),
        range: (range[0] <= range[1]).then_some(range),
    }
}

/// Names and values of lines.
pub fn to_lines(rows: &[Row]) -> Vec<(String, String)> {
    let count = ("fields".to_owned(), rows.len().to_string());
    let line = |row: &Row| {
        let components = match row.components {
            1 => String::new(),
            count => format!(" x {count}"),
        };
        let range = match row.range {
            Some([least, most]) => format!("{least} to {most}"),
            None => "no numbers".to_owned(),
        };
        (
            format!("  {}", visible_line(&row.name)),
            format!(
                "{} {}, {}{components}, {range}",
                row.elements, row.of, row.kind
            ),
        )
    };
    match rows.is_empty() {
        true => Vec::new(),
        false => std::iter::once(count)
            .chain(rows.iter().map(line))
            .collect(),
    }
}

/// A list of objects.
pub fn to_json(rows: &[Row]) -> Value {
    let object = |row: &Row| {
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
    fn a_field_is_a_line() {
        let mut fields = MeshFields::default();
        fields.points.push(Field {
            name: "v".to_owned(),
            components: 2,
            values: vec![1.5f32, -2.0, f32::NAN, 0.0].into(),
        });
        fields.cells.push(Field::scalars("class", vec![6u8]));
        fields.sides.push(Field::scalars("nothing", vec![f64::NAN]));
        let rows = rows(&fields, "faces", "segments");
        let lines = to_lines(&rows);
        let line = |i: usize| (lines[i].0.as_str(), lines[i].1.as_str());
        assert_eq!(line(0), ("fields", "3"));
        assert_eq!(line(1), ("  v", "2 points, float32 x 2, -2 to 1.5"));
        assert_eq!(line(2), ("  class", "1 faces, uint8, 6 to 6"));
        assert_eq!(line(3), ("  nothing", "1 segments, float64, no numbers"));
        let json = to_json(&rows);
        assert_eq!(json[0]["range"], json!([-2.0, 1.5]));
        assert!(json[2]["range"].is_null());
    }
}
