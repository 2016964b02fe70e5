//! Conformance of any package's kernels: a test launches every kernel, and the PTX follows the rules.
//!
//! ```
//! use trioxide_device::{Device, collective, conformance};
//!
//! # fn main() -> trioxide_device::Result<()> {
//! let on = Device::cpu(None)?;
//! let mut values = on.filled(100, 1u32)?;
//! collective::exclusive_scan(&on, &mut values)?;
//! // The scan launches a few kernels only: this test would fail.
//! assert!(conformance::check_launched(&on, collective::PTX).is_err());
//! # Ok(())
//! # }
//! ```

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::io::Write as _;

use ptx_rules::{Build, Exceptions};

use crate::device::{Device, Ptx};
use crate::{Error, Result};

/// The devices of this machine that can run the kernels of a package: the CPU, the first GPU, and, with the feature
/// `emulator`, an emulated GPU that detects data races. Without a GPU, or without PTX, a line on standard error reports
/// it: a test that tests less is not silent.
///
/// # Errors
/// Errors of existing devices that do not start, or do not accept the kernels.
///
/// ```
/// use trioxide_device::{Device, collective, conformance};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// for on in conformance::devices(collective::PTX)? {
///     let bits = on.upload(&[0b1001, 1])?;
///     assert_eq!(on.download(&collective::compact(&on, &bits)?)?, [0, 3, 32], "{on:?}");
/// }
/// # Ok(())
/// # }
/// ```
pub fn devices(ptx: Ptx) -> Result<Vec<Device>> {
    let mut devices = vec![Device::cpu(None)?];
    #[cfg(feature = "emulator")]
    match ptx.is_empty() {
        true => skip(ptx, "by the emulator", NO_PTX),
        false => devices.push(Device::emulated(true)?),
    }
    match Device::cuda(0) {
        Ok(device) => devices.push(device),
        Err(Error::NoDevice(reason)) => skip(ptx, "on a GPU", &reason),
        Err(error) => return Err(error),
    }
    Ok(devices)
}

/// Runs `work` on all [`devices`] and compares its result with `expected`, to test kernels without a pipeline.
///
/// # Errors
/// The first device on which `work` fails or returns another result, with both results.
///
/// ```
/// use trioxide_device::{Device, collective, conformance};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// conformance::check_equal(collective::PTX, &3, |on: &Device| {
///     collective::count_bits(on, &on.upload(&[0b1001, 1])?)
/// })?;
/// # Ok(())
/// # }
/// ```
pub fn check_equal<T: PartialEq + Debug>(
    ptx: Ptx,
    expected: &T,
    work: impl Fn(&Device) -> Result<T>,
) -> Result<(), String> {
    for on in devices(ptx)? {
        let result = work(&on).map_err(|error| format!("{}: {error}", on.name()))?;
        if result != *expected {
            return Err(format!(
                "{} gives {result:?}, expected {expected:?}",
                on.name()
            ));
        }
    }
    Ok(())
}

const NO_PTX: &str = "they were built without a device compiler, so there is no PTX";

/// Reports untested kernels. It bypasses the test harness, which hides the output of passing tests.
fn skip(ptx: Ptx, untested: &str, reason: &str) {
    // Nobody reads a closed standard error.
    let _ = writeln!(
        std::io::stderr(),
        "skipped: kernels of {} {untested}: {reason}",
        ptx.package
    );
}

/// Names of the PTX entries of a package: its kernels and their instances.
///
/// ```
/// use trioxide_device::{Device, collective, conformance};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// if !collective::PTX.is_empty() {
///     assert!(conformance::entries(collective::PTX).contains("scan_tiles"));
/// }
/// # Ok(())
/// # }
/// ```
pub fn entries(ptx: Ptx) -> BTreeSet<&'static str> {
    ptx_rules::entries(ptx.text).into_iter().collect()
}

/// Checks that each kernel of a package has been launched on `on`. Call it after the tests of all kernels. Without PTX
/// the kernels' names are unknown: a line on standard error reports that nothing was checked.
///
/// # Errors
/// The kernels that were not launched.
///
/// ```
/// use trioxide_device::{Device, collective, conformance};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let on = Device::cpu(None)?;
/// collective::count_bits(&on, &on.upload(&[1])?)?;
/// if !collective::PTX.is_empty() {
///     let error = conformance::check_launched(&on, collective::PTX).unwrap_err();
///     assert!(error.contains("list_bits") && !error.contains("count_bits"));
/// }
/// # Ok(())
/// # }
/// ```
pub fn check_launched(on: &Device, ptx: Ptx) -> Result<(), String> {
    if ptx.is_empty() {
        skip(ptx, "that no test launches", NO_PTX);
    }
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

/// Checks the rules of the PTX: no fused operation, no stack, no trap and so on. `exceptions` has a line `rule kernel
/// reason` for each kernel that may break a rule. Without PTX a line on standard error reports that nothing was
/// checked.
///
/// # Errors
/// For each broken rule: the problem, the remedy and the lines.
///
/// ```
/// use trioxide_device::{Device, collective, conformance};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Each exception: the rule, the kernel, the reason.
/// conformance::check_rules(collective::PTX, "")?;
/// # Ok(())
/// # }
/// ```
pub fn check_rules(ptx: Ptx, exceptions: &str) -> Result<(), String> {
    if ptx.is_empty() {
        skip(ptx, "by the rules", NO_PTX);
        return Ok(());
    }
    let exceptions = Exceptions::parse(exceptions)?;
    ptx_rules::review(ptx.package, ptx.text, Build::Plain, &exceptions)
}
