//! Checked builds: an index out of range and a broken assertion are caught and named, on every device.

use std::panic::{AssertUnwindSafe, catch_unwind};

use gpu::plant_bad_index::{plant_bad_index, plant_broken_assertion};

use super::{Case, Outcome, equal};
use trioxide::device::Device;

/// The planted kernels with indices in range, and values that fit.
pub fn good_indices() -> Case {
    Case::new("checked: good indices pass", |on| {
        let found = gather(on, &[3, 0, 2])?;
        equal("gathered values", &found, &[40, 10, 30])?;
        let copies = copy(on, &[10, 49, 0])?;
        equal("copies", &copies, &[10, 49, 0])
    })
}

/// The planted kernel with an index out of range, on a device of its own.
pub fn bad_index() -> Case {
    Case::new("checked: a bad index is caught", |on| {
        let expected = "kernel plant_bad_index: index 7 of array `values`, which has 4 elements";
        let fresh = on.reopened().map_err(|error| error.to_string())?;
        is_caught(&[expected], || gather(&fresh, &[3, 7, 2]))
    })
}

/// The planted kernel with a value that breaks its assertion, on a device of its own.
pub fn broken_assertion() -> Case {
    Case::new("checked: a broken assertion is caught", |on| {
        let fresh = match on.reopened() {
            // The bad index before ended every context of the process on that GPU.
            Err(error) if error.to_string().contains("lost to this process") => {
                eprintln!("skipped: a broken assertion on {}: {error}", on.name());
                return Ok(());
            }
            other => other.map_err(|error| error.to_string())?,
        };
        let expected = [
            "kernel plant_broken_assertion: index 2: ",
            "plant_bad_index.rs:19: values are below 50",
        ];
        is_caught(&expected, || copy(&fresh, &[49, 0, 50]))
    })
}

/// Refuses a launch whose error does not have the texts.
fn is_caught(expected: &[&str], launch: impl FnOnce() -> Result<Vec<u32>, String>) -> Outcome {
    let caught = match catch_unwind(AssertUnwindSafe(launch)) {
        Ok(Ok(found)) => return Err(format!("a launch gave {found:?}")),
        Ok(Err(error)) => error,
        Err(panic) => match panic.downcast::<String>() {
            Ok(message) => *message,
            Err(_) => return Err("a panic without a message".to_owned()),
        },
    };
    match expected.iter().find(|&&text| !caught.contains(text)) {
        None => Ok(()),
        Some(text) => Err(format!("\"{caught}\", expected \"{text}\"")),
    }
}

/// Copies of values, which must be below 50.
fn copy(on: &Device, values: &[u32]) -> Result<Vec<u32>, String> {
    let run = || -> trioxide::Result<Vec<u32>> {
        let values = on.upload(values)?;
        let mut copies = on.filled(values.len(), 0u32)?;
        // SAFETY: each index reads and writes its own element.
        unsafe { plant_broken_assertion::launch(on, values.len() as u32, &values, &mut copies) }?;
        on.download(&copies)
    };
    run().map_err(|error| error.to_string())
}

/// The values 10, 20, 30, 40 at the indices of `plan`.
fn gather(on: &Device, plan: &[u32]) -> Result<Vec<u32>, String> {
    let run = || -> trioxide::Result<Vec<u32>> {
        let values = on.upload(&[10u32, 20, 30, 40])?;
        let plan = on.upload(plan)?;
        let mut found = on.filled(plan.len(), 0u32)?;
        // SAFETY: a checked build ends the launch at a bad index, before it is used; each element is written by its
        // index.
        unsafe { plant_bad_index::launch(on, plan.len() as u32, &plan, &values, &mut found) }?;
        on.download(&found)
    };
    run().map_err(|error| error.to_string())
}
