//! Faults of a device: memory that ends midway, and a context that an error has spoilt.

use glam::DVec2;

use super::{Case, equal, random};
use trioxide::device::Device;
use trioxide::half_edges::DeviceTriangulation;
use trioxide::{Error, polylla};

/// Points of the mesh that runs out of memory.
const POINTS: usize = 100_000;

/// A GPU whose memory ends at some allocation of a run gives an error and goes on: the same run succeeds with more.
pub fn out_of_memory_midway() -> Case {
    Case::new("faults: a GPU that runs out of memory midway", |on| {
        // A CPU takes the system's memory: a lack of it ends the process.
        if !on.is_gpu() {
            return Ok(());
        }
        let mesh = random(POINTS, 1)?;
        let run = || -> trioxide::Result<u32> {
            let resident = DeviceTriangulation::<DVec2>::upload(on, &mesh)?;
            let options = polylla::Options::default();
            let result = polylla::polylla(on, &resident, None, options)?;
            Ok(result.counts().polygons)
        };
        let expected = run()?;
        let mut refused = 0;
        for left in (20..40).map(|power| 1u64 << power) {
            let _held = hold_all_but(on, left, 1 << 20)?;
            match run() {
                Err(Error::OutOfMemory { .. }) => refused += 1,
                Err(error) => return Err(format!("{left} bytes left: {error}")),
                Ok(polygons) => {
                    equal("polygons", &[polygons], &[expected])?;
                    break;
                }
            }
        }
        if refused == 0 {
            return Err("no run had too little memory: the case is there for some".to_owned());
        }
        equal("polygons, all memory free again", &[run()?], &[expected])
    })
}

/// Buffers that leave so many bytes, or up to `grain` more.
fn hold_all_but(on: &Device, left: u64, grain: u64) -> Result<Vec<trioxide::Buffer<u32>>, String> {
    let mut held = Vec::new();
    // In ever smaller pieces: the driver gives none as large as all that is free.
    let mut piece = on.free_bytes()?.saturating_sub(left) / 2;
    while piece >= grain {
        while on.free_bytes()? >= left + piece {
            match on.uninitialized((piece / 4) as usize) {
                Ok(buffer) => held.push(buffer),
                Err(Error::OutOfMemory { .. }) => break,
                Err(error) => return Err(error.to_string()),
            }
        }
        piece /= 2;
    }
    Ok(held)
}

/// After a kernel has trapped, a new device of the process works, or an error says that the GPU is lost and names the
/// remedy.
#[cfg(feature = "checked")]
pub fn lost_device() -> Case {
    Case::new(
        "faults: a device after a kernel has trapped",
        |on| match on.reopened().and_then(|fresh| {
            let values = fresh.upload(&[1u32, 2, 3])?;
            fresh.download(&values)
        }) {
            Ok(values) => equal("values copied by a new device", &values, &[1, 2, 3]),
            Err(error) if error.to_string().contains("start the program again") => Ok(()),
            Err(error) => Err(format!("\"{error}\" does not say what to do")),
        },
    )
}
