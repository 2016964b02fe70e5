//! Machine code of the kernels, embedded beside the PTX where the build had an assembler (`host/build/machine_code.rs`).

use std::io::Read;

use flate2::read::DeflateDecoder;

/// A family of kernels.
struct Family {
    /// Names of its entries.
    kernels: &'static [&'static str],
    /// Compute capability, ten times the major version plus the minor, and the deflated module.
    modules: &'static [(u32, &'static [u8])],
}

include!(concat!(env!("OUT_DIR"), "/machine_code.rs"));

/// The module with the kernel `entry` for a device of this compute capability: its names, and its machine code. `None` where none is
/// embedded for the device's architecture.
pub fn module_of(
    entry: &str,
    capability: (i32, i32),
) -> Option<(&'static [&'static str], Vec<u8>)> {
    let family = FAMILIES
        .iter()
        .find(|family| family.kernels.contains(&entry))?;
    let architectures = family.modules.iter().map(|(architecture, _)| *architecture);
    let best = best_architecture(architectures, capability)?;
    let (_, packed) = family.modules.iter().find(|module| module.0 == best)?;
    let mut code = Vec::new();
    DeflateDecoder::new(*packed).read_to_end(&mut code).ok()?;
    Some((family.kernels, code))
}

/// Whether machine code is embedded for a device of this compute capability.
pub fn has_some_for(capability: (i32, i32)) -> bool {
    best_architecture(architectures().into_iter(), capability).is_some()
}

/// Machine code runs on devices of its major version, from its minor version on.
fn best_architecture(
    architectures: impl Iterator<Item = u32>,
    (major, minor): (i32, i32),
) -> Option<u32> {
    let fits =
        |architecture: &u32| architecture / 10 == major as u32 && architecture % 10 <= minor as u32;
    architectures.filter(fits).max()
}

/// The compute capabilities that machine code is embedded for, as 75 for 7.5.
pub fn architectures() -> Vec<u32> {
    let first = FAMILIES.first().map(|family| family.modules);
    let modules = first.unwrap_or_default().iter();
    modules.map(|(architecture, _)| *architecture).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_takes_the_machine_code_of_its_major_version() {
        let best = |capability| {
            let all = [75, 80, 86, 89, 90, 100, 120];
            best_architecture(all.into_iter(), capability)
        };
        assert_eq!(best((7, 5)), Some(75));
        assert_eq!(best((8, 0)), Some(80));
        assert_eq!(best((8, 7)), Some(86));
        assert_eq!(best((9, 0)), Some(90));
        assert_eq!(best((10, 3)), Some(100));
        assert_eq!(best((12, 1)), Some(120));
        assert_eq!(best((7, 0)), None);
        assert_eq!(best((11, 0)), None);
    }

    /// Only a build with an assembler has some: then all kernels have it, whole.
    #[test]
    fn every_kernel_has_machine_code_for_every_architecture() {
        if architectures().is_empty() {
            return;
        }
        for entry in ptx_rules::entries(crate::backend::PTX.text) {
            for architecture in architectures() {
                let capability = (architecture as i32 / 10, architecture as i32 % 10);
                let (kernels, code) = module_of(entry, capability).expect(entry);
                assert!(kernels.contains(&entry) && code.starts_with(b"\x7fELF"));
            }
        }
    }
}
