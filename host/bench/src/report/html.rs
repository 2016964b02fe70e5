//! Text, numbers and tables as HTML.

use serde_json::Value;

use super::results::list;

pub(super) use trioxide_view::escape;

/// A name for `id`: small letters and digits, other characters are hyphens.
pub(super) fn identifier(text: &str) -> String {
    let characters = text.chars().map(|character| match character {
        'A'..='Z' => character.to_ascii_lowercase(),
        'a'..='z' | '0'..='9' => character,
        _ => '-',
    });
    characters.collect()
}

/// A number for readers: thousands apart, three digits that count; whole numbers whole.
pub(super) fn number(value: f64) -> String {
    if value.fract() == 0.0 {
        grouped(&format!("{value:.0}"))
    } else {
        measure(value)
    }
}

/// A measured number: as [`number`], and with its decimals where it happens to be whole.
fn measure(value: f64) -> String {
    // The first significant digit of 0.01234 is its second decimal.
    let decimals = match value.abs() {
        0.0 => 0,
        magnitude => (2 - magnitude.log10().floor() as i32).clamp(0, 6),
    };
    grouped(&format!("{value:.*}", decimals as usize))
}

/// Digits before the point in threes.
fn grouped(text: &str) -> String {
    let begin = usize::from(text.starts_with('-'));
    let end = text.find('.').unwrap_or(text.len());
    let mut grouped = text[..begin].to_owned();
    for (i, digit) in text[begin..end].char_indices() {
        if i > 0 && (end - begin - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + &text[end..]
}

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 9.95 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

/// A cell of a table.
#[derive(Clone)]
pub(super) enum Cell {
    Text(String),
    Number(f64),
    /// A share, shown with a bar; over 1 the bar is full.
    Share(f64),
    None,
}

impl Cell {
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Cell::None,
            Value::String(text) if text.is_empty() || text == "-" => Cell::None,
            Value::String(text) => Cell::Text(text.clone()),
            Value::Number(found) => found.as_f64().map_or(Cell::None, Cell::Number),
            other => Cell::Text(other.to_string()),
        }
    }
}

/// A table with heads that stay, and that sort where `sortable`.
pub(super) struct Table {
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Vec<Cell>>,
    pub(super) sortable: bool,
}

impl Table {
    /// A table of a result file; rows may be shorter than the head.
    pub(super) fn of(table: &Value) -> Self {
        let name = |column: &Value| match column {
            Value::String(name) => name.clone(),
            other => other["title"]
                .as_str()
                .or(other["name"].as_str())
                .unwrap_or_default()
                .to_owned(),
        };
        let columns: Vec<String> = list(table, "columns").iter().map(name).collect();
        let rows = list(table, "rows").iter().map(|row| {
            let cells = row.as_array().map_or(&[][..], Vec::as_slice);
            (0..columns.len())
                .map(|i| cells.get(i).map_or(Cell::None, Cell::of))
                .collect()
        });
        let rows = rows.collect();
        Self {
            columns,
            rows,
            sortable: false,
        }
    }

    /// Whether a column holds numbers, or gaps.
    fn is_numeric(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.all(|cell| !matches!(cell, Cell::Text(_)))
    }

    /// Whether all numbers of a column are whole.
    fn is_whole(&self, column: usize) -> bool {
        self.rows.iter().all(|row| match row.get(column) {
            Some(Cell::Number(value)) => value.fract() == 0.0,
            _ => true,
        })
    }

    pub(super) fn html(&self, caption: &str) -> String {
        let numeric: Vec<bool> = (0..self.columns.len())
            .map(|i| self.is_numeric(i))
            .collect();
        let whole: Vec<bool> = (0..self.columns.len()).map(|i| self.is_whole(i)).collect();
        let sortable = if self.sortable {
            " class=\"sortable\""
        } else {
            ""
        };
        // The frame scrolls: the keyboard must reach it.
        let mut html = format!(
            "<div class=\"frame\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table{sortable}><thead><tr>",
            escape(caption)
        );
        for (name, &numeric) in self.columns.iter().zip(&numeric) {
            let class = if numeric { " class=\"number\"" } else { "" };
            let name = escape(name);
            html += &if self.sortable {
                format!("<th scope=\"col\"{class}><button type=\"button\">{name}</button></th>")
            } else {
                format!("<th scope=\"col\"{class}>{name}</th>")
            };
        }
        html += "</tr></thead><tbody>";
        for row in &self.rows {
            html += "<tr>";
            for (i, cell) in row.iter().enumerate() {
                let name = self.columns[i].to_lowercase();
                let is_ours = i > 0
                    && name.contains("ours")
                    && !name.contains('/')
                    && !matches!(cell, Cell::None);
                let mut classes: Vec<&str> = Vec::new();
                classes.extend(numeric[i].then_some("number"));
                classes.extend(is_ours.then_some("ours"));
                let (text, attributes) = match cell {
                    Cell::Text(text) => (escape(text), String::new()),
                    Cell::Number(value) => {
                        let text = if whole[i] {
                            number(*value)
                        } else {
                            measure(*value)
                        };
                        (text, format!(" data-value=\"{value}\""))
                    }
                    Cell::Share(share) => {
                        classes.push("share");
                        let part = share.clamp(0.0, 1.0) * 100.0;
                        let attributes =
                            format!(" data-value=\"{share}\" style=\"--part:{part:.1}%\"");
                        (percent(*share), attributes)
                    }
                    Cell::None => ("–".to_owned(), " data-value=\"-1\"".to_owned()),
                };
                let (tag, scope) = if i == 0 {
                    ("th", " scope=\"row\"")
                } else {
                    ("td", "")
                };
                let class = if classes.is_empty() {
                    String::new()
                } else {
                    format!(" class=\"{}\"", classes.join(" "))
                };
                html += &format!("<{tag}{scope}{class}{attributes}>{text}</{tag}>");
            }
            html += "</tr>";
        }
        html + "</tbody></table></div>\n"
    }
}

pub(super) fn text<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object[key].as_str().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_short_and_grouped() {
        for (value, text) in [
            (0.0, "0"),
            (12_345_678.0, "12,345,678"),
            (-1234.0, "-1,234"),
            (-123.0, "-123"),
            (1234.5, "1,234"),
            (123.456, "123"),
            (12.345, "12.3"),
            (1.2345, "1.23"),
            (0.012345, "0.0123"),
            (1e-9, "0.000000"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!((number(4.0), measure(4.0)), ("4".into(), "4.00".into()));
        assert_eq!(percent(0.1234), "12 %");
        assert_eq!(percent(0.0126), "1.3 %");
    }

    #[test]
    fn tables_align_numbers_and_escape_text() {
        let table = Table::of(&json!({
            "columns": ["mesh <b>", "ours, ms", "paper"],
            "rows": [["a & b", 1.5, "-"], ["c", 2]],
        }));
        let html = table.html("a \"caption\"");
        assert!(
            html.contains("aria-label=\"a &quot;caption&quot;\""),
            "{html}"
        );
        assert!(
            html.contains("<th scope=\"col\">mesh &lt;b&gt;</th>"),
            "{html}"
        );
        assert!(html.contains("<th scope=\"row\">a &amp; b</th>"), "{html}");
        assert!(
            html.contains("<td class=\"number ours\" data-value=\"1.5\">1.50</td>"),
            "{html}"
        );
        assert!(
            html.contains(">2.00</td><td class=\"number\" data-value=\"-1\">–</td></tr>"),
            "{html}"
        );
    }
}
