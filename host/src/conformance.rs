//! Conformance of any package's kernels: every kernel is launched by a test, and the PTX follows the rules.
//!
//! ```
//! use trioxide::{Device, backend::PTX, collective, conformance};
//!
//! # fn main() -> trioxide::Result<()> {
//! let on = Device::cpu(None)?;
//! let mut values = on.filled(100, 1u32)?;
//! collective::exclusive_scan(&on, &mut values)?;
//! // The scan launches a few kernels only: this test would fail.
//! assert!(conformance::check_launched(&on, PTX).is_err());
//! # Ok(())
//! # }
//! ```

use std::collections::BTreeSet;

use ptx_rules::{Build, Exceptions};

use crate::backend::{Device, Ptx};

/// Names of the PTX entries of a package: its kernels and their instances.
pub fn entries(ptx: Ptx) -> BTreeSet<&'static str> {
    ptx_rules::entries(ptx.text).into_iter().collect()
}

/// Checks that each kernel of a package has been launched on `on`: call it after the tests of all kernels.
///
/// # Errors
/// The kernels that were not launched.
pub fn check_launched(on: &Device, ptx: Ptx) -> Result<(), String> {
    let launched = on.launched();
    let missing: Vec<&str> = entries(ptx).difference(&launched).copied().collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!(
        "kernels of {} that no test has launched on {}: {}",
        ptx.package,
        on.name(),
        missing.join(", ")
    ))
}

/// Checks the rules of the PTX: no fused operation, no stack, no trap and so on. `exceptions` has a line `rule kernel reason` for
/// each kernel that may break a rule.
///
/// # Errors
/// For each broken rule: the problem, the remedy and the lines.
pub fn check_rules(ptx: Ptx, exceptions: &str) -> Result<(), String> {
    let exceptions = Exceptions::parse(exceptions)?;
    ptx_rules::review(ptx.package, ptx.text, Build::Plain, &exceptions)
}
