//! The papers' printed numbers, each file with its source.

use serde_json::Value;

/// gpolylla-2023.
pub(crate) fn polylla() -> Value {
    parse(include_str!("../../papers/polylla.json"))
}

/// gpu-polylla-imr22.
pub(crate) fn indexed() -> Value {
    parse(include_str!("../../papers/indexed.json"))
}

/// gpu-longest-edge-bisection-2011.
pub(crate) fn refine() -> Value {
    parse(include_str!("../../papers/refine.json"))
}

/// gpu-laplacian-smoothing-2019.
pub(crate) fn smooth() -> Value {
    parse(include_str!("../../papers/smooth.json"))
}

/// gpu-vertex-clustering-2026.
pub(crate) fn weld() -> Value {
    parse(include_str!("../../papers/weld.json"))
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("host/bench/papers holds JSON")
}

/// Numbers of triangles in table 5.2 of the refinement thesis, its newest GPU's; most rows of the other tables have
/// them too.
pub(crate) fn refine_sizes() -> Vec<u64> {
    let paper = refine();
    let rows = paper["tables"][0]["rows"].as_array().into_iter().flatten();
    rows.filter_map(|row| row["triangles"].as_u64()).collect()
}

/// A list of whole numbers.
pub(crate) fn numbers(list: &Value) -> Vec<u64> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(Value::as_u64).collect()
}

/// A list of numbers.
pub(crate) fn floats(list: &Value) -> Vec<f64> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(Value::as_f64).collect()
}

/// A text, or a dash.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or("-").to_owned()
}
