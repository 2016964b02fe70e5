//! Names that measurements and their floors share.

use serde_json::{Map, Value};

/// Sweeps of a timed run of smoothing with a fixed number.
pub const SWEEPS: u32 = 16;

/// Parameters or counts from pairs.
pub fn map<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    let owned = pairs.map(|(key, value)| (key.to_owned(), value));
    owned.into_iter().collect()
}

/// The count of sweeps that a row to convergence took.
pub fn sweeps_name(form: &str, row: &str) -> String {
    let layout = row.rsplit(' ').next().unwrap_or(row);
    format!("sweeps, {form}, {layout}")
}

/// The paper's steps 1 to 7 of refinement: marking triangles beforehand and checking the result afterwards do not
/// count.
pub fn is_step(stage: &str) -> bool {
    !matches!(stage, "mark triangles" | "check parts")
}
