//! Checked builds: an index out of range is caught and named, on every device.

use std::panic::{AssertUnwindSafe, catch_unwind};

use gpu::plant_bad_index::plant_bad_index;

use super::{Case, equal};
use crate::device::Device;

/// The message of a launch with the planted index.
const EXPECTED: &str = "kernel plant_bad_index: index 7 of array `values`, which has 4 elements";

/// The planted kernel with indices in range.
pub fn good_indices() -> Case {
    Case::new("checked: good indices pass", |on| {
        let found = gather(on, &[3, 0, 2])?;
        equal("gathered values", &found, &[40, 10, 30])
    })
}

/// The planted kernel with an index out of range, on a device of its own.
pub fn bad_index() -> Case {
    Case::new("checked: a bad index is caught", |on| {
        let fresh = on.reopened().map_err(|error| error.to_string())?;
        let plan = [3, 7, 2];
        let caught = match catch_unwind(AssertUnwindSafe(|| gather(&fresh, &plan))) {
            Ok(Ok(found)) => {
                return Err(format!("a launch read {found:?} by the indices {plan:?}"));
            }
            Ok(Err(error)) => error,
            Err(panic) => match panic.downcast::<String>() {
                Ok(message) => *message,
                Err(_) => return Err("a panic without a message".to_owned()),
            },
        };
        match caught.contains(EXPECTED) {
            true => Ok(()),
            false => Err(format!("\"{caught}\", expected \"{EXPECTED}\"")),
        }
    })
}

/// The values 10, 20, 30, 40 at the indices of `plan`.
fn gather(on: &Device, plan: &[u32]) -> Result<Vec<u32>, String> {
    let run = || -> crate::Result<Vec<u32>> {
        let values = on.upload(&[10u32, 20, 30, 40])?;
        let plan = on.upload(plan)?;
        let mut found = on.filled(plan.len(), 0u32)?;
        // SAFETY: a checked build ends the launch at a bad index, before it is used; each element is written by its index.
        unsafe { plant_bad_index::launch(on, plan.len() as u32, &plan, &values, &mut found) }?;
        on.download(&found)
    };
    run().map_err(|error| error.to_string())
}
