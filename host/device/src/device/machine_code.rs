//! Machine code of the kernels, embedded next to the PTX if the build had an assembler.

use std::io::Read;

use flate2::read::DeflateDecoder;

use super::ptx::Ptx;

impl Ptx {
    /// The module with the kernel `entry` for a device of this compute capability: its names, and its machine code.
    /// `None` if there is none for the device's architecture.
    pub(super) fn module_of(
        &self,
        entry: &str,
        capability: (i32, i32),
    ) -> Option<(&'static [&'static str], Vec<u8>)> {
        let mut families = self.families.iter();
        let (kernels, modules) = families.find(|(kernels, _)| kernels.contains(&entry))?;
        let architectures = modules.iter().map(|(architecture, _)| *architecture);
        let best = best_architecture(architectures, capability)?;
        let (_, packed) = modules.iter().find(|module| module.0 == best)?;
        let mut code = Vec::new();
        DeflateDecoder::new(*packed).read_to_end(&mut code).ok()?;
        Some((kernels, code))
    }

    /// Whether machine code is embedded for a device of this compute capability.
    pub(super) fn has_machine_code_for(&self, capability: (i32, i32)) -> bool {
        best_architecture(self.architectures().into_iter(), capability).is_some()
    }
}

/// The best architecture for a device: machine code runs on devices of its major version, from its minor version on.
fn best_architecture(
    architectures: impl Iterator<Item = u32>,
    (major, minor): (i32, i32),
) -> Option<u32> {
    let fits =
        |architecture: &u32| architecture / 10 == major as u32 && architecture % 10 <= minor as u32;
    architectures.filter(fits).max()
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

    /// Only a build with an assembler embeds machine code: then every kernel has it for every architecture.
    #[test]
    fn every_kernel_has_machine_code_for_every_architecture() {
        for ptx in crate::device::PACKAGES {
            for architecture in ptx.architectures() {
                let capability = (architecture as i32 / 10, architecture as i32 % 10);
                for entry in ptx_rules::entries(ptx.text) {
                    let (kernels, code) = ptx.module_of(entry, capability).expect(entry);
                    assert!(kernels.contains(&entry) && code.starts_with(b"\x7fELF"));
                }
            }
        }
    }
}
