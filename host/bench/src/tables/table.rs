//! Tables: the same rows for Markdown and for JSON.

use serde_json::{Value, json};

use super::results::{Run, Stage};

/// A table of a paper with our columns, or one of ours.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// For links: letters, digits and hyphens.
    pub(crate) id: String,
    pub(crate) title: String,
    /// The place of the numbers in the paper; empty for a table of ours.
    pub(crate) source: String,
    /// Notes that a reader needs to compare; may be empty.
    pub(crate) note: String,
    pub(crate) columns: Vec<String>,
    /// Numbers, texts, or null for missing values.
    pub(crate) rows: Vec<Vec<Value>>,
}

impl Table {
    pub(crate) fn new(id: &str, title: &str, source: &str, columns: &[&str]) -> Self {
        Self {
            id: id.to_owned(),
            title: title.to_owned(),
            source: source.to_owned(),
            note: String::new(),
            columns: columns.iter().map(|&column| column.to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn note(mut self, note: &str) -> Self {
        self.note = note.to_owned();
        self
    }

    pub(crate) fn row(&mut self, cells: Vec<Value>) {
        debug_assert_eq!(cells.len(), self.columns.len(), "{}", self.title);
        self.rows.push(cells);
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({"id": self.id, "title": self.title, "source": self.source, "note": self.note,
               "columns": self.columns, "rows": self.rows})
    }

    pub(crate) fn to_markdown(&self) -> String {
        let mut text = format!("### {}\n\n", self.title);
        if !self.source.is_empty() {
            text += &format!("Source: {}.\n\n", self.source);
        }
        if !self.note.is_empty() {
            text += &format!("{}\n\n", self.note);
        }
        text += &format!("| {} |\n", self.columns.join(" | "));
        text += &format!("|{}\n", " --- |".repeat(self.columns.len()));
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(cell).collect();
            text += &format!("| {} |\n", cells.join(" | "));
        }
        text
    }
}

/// A cell as text: a whole number with its thousands apart, another with three digits or more, nothing as a dash.
fn cell(value: &Value) -> String {
    if let Some(text) = value.as_str() {
        return text.to_owned();
    }
    if let Some(whole) = value.as_u64() {
        return thousands(whole);
    }
    match value.as_f64() {
        None => "-".to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(x) if x.abs() >= 1e4 => thousands(x.round() as u64),
        Some(x) if x.abs() >= 100.0 => format!("{x:.0}"),
        Some(x) if x.abs() >= 10.0 => format!("{x:.1}"),
        Some(x) if x.abs() >= 1.0 => format!("{x:.2}"),
        Some(x) => format!("{x:.3}"),
    }
}

/// 1234567 as 1,234,567.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A paper's time beside ours: ratio, range and floor. Either may be missing.
pub(crate) fn beside(paper: Option<f64>, ours: Option<&Stage>) -> Vec<Value> {
    let mut cells = vec![json!(paper)];
    cells.extend(ours_only(ours));
    cells.insert(2, json!(ratio(paper, ours.map(|stage| stage.median))));
    cells
}

/// Columns of [`beside`].
pub(crate) const BESIDE: [&str; 7] = [
    "paper, ms",
    "ours, ms",
    "paper / ours",
    "min",
    "max",
    "floor, ms",
    "ours / floor",
];

/// Our time, range and floor.
pub(crate) fn ours_only(ours: Option<&Stage>) -> Vec<Value> {
    let Some(stage) = ours else {
        return vec![Value::Null; OURS.len()];
    };
    vec![
        json!(stage.median),
        json!(stage.minimum),
        json!(stage.maximum),
        json!(stage.floor),
        json!(ratio(Some(stage.median), stage.floor)),
    ]
}

/// Columns of [`ours_only`].
pub(crate) const OURS: [&str; 5] = ["ours, ms", "min", "max", "floor, ms", "ours / floor"];

/// A quotient, where there are both numbers and the second is not 0.
pub(crate) fn ratio(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    let (a, b) = (a?, b?);
    (b > 0.0).then(|| a / b)
}

/// Every stage of every run, also the stages that the papers' columns leave out.
pub(crate) fn all_stages(family: &str, runs: &[Run]) -> Table {
    let columns: Vec<&str> = ["case", "pipeline", "stage"]
        .into_iter()
        .chain(OURS)
        .chain(["runs", "MB that must move", "what moves"])
        .collect();
    let mut table = Table::new(&format!("{family}-stages"), "All stages", "", &columns);
    for run in runs {
        for stage in run.stages() {
            let mut cells = vec![json!(run.case()), json!(stage.pipeline), json!(stage.name)];
            cells.extend(ours_only(Some(&stage)));
            cells.push(json!(stage.runs));
            cells.push(json!(stage.bytes.map(|bytes| bytes as f64 / 1e6)));
            cells.push(json!(stage.moves));
            table.row(cells);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_short() {
        let texts = [
            json!("a"),
            json!(1_234_567),
            json!(12_345.6),
            json!(123.456),
            json!(12.345),
            json!(1.2345),
            json!(0.12345),
            json!(0.0),
            Value::Null,
        ];
        let texts: Vec<String> = texts.iter().map(cell).collect();
        assert_eq!(
            texts,
            [
                "a",
                "1,234,567",
                "12,346",
                "123",
                "12.3",
                "1.23",
                "0.123",
                "0",
                "-"
            ]
        );
    }

    #[test]
    fn ours_stands_beside_the_papers() {
        let stage = Stage {
            median: 2.0,
            minimum: 1.0,
            maximum: 4.0,
            floor: Some(0.5),
            ..Stage::default()
        };
        let mut table = Table::new("t", "Title", "the paper", &BESIDE);
        table.row(beside(Some(10.0), Some(&stage)));
        table.row(beside(Some(10.0), None));
        table.row(beside(None, Some(&stage)));
        let text = table.to_markdown();
        assert!(
            text.contains("| 10.0 | 2.00 | 5.00 | 1.00 | 4.00 | 0.500 | 4.00 |\n"),
            "{text}"
        );
        assert!(
            text.contains("| 10.0 | - | - | - | - | - | - |\n"),
            "{text}"
        );
        assert!(
            text.contains("| - | 2.00 | - | 1.00 | 4.00 | 0.500 | 4.00 |\n"),
            "{text}"
        );
    }
}
