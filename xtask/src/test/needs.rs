//! Packages of the system that parts of a test run need: missing ones are named, then installed; where they cannot be,
//! the parts are skipped by name.

use std::env;

use cuda_builder::{DEBIAN_PACKAGES, RUSTC_VARIABLE, search_device_compiler};

use super::{Outcome, timed};
use crate::debian::{install_listed, is_debian, is_root, list_packages};
use crate::limited::Limit;
use crate::report::{BROWSER_PACKAGE, BROWSER_VARIABLE, find_browser};
use crate::{Error, mpi};

/// The reason why an option forbids an installation.
pub(super) const FORBIDDEN: &str = "--no-install";

/// A program, or several, with Debian's packages of it.
struct Need {
    /// The name of its installation in the summary.
    step: &'static str,
    name: &'static str,
    packages: &'static [&'static str],
    /// The part of the run that needs it.
    part: &'static str,
    is_missing: fn() -> bool,
}

static NEEDS: [Need; 3] = [
    Need {
        step: "compiler",
        name: "device compiler",
        packages: DEBIAN_PACKAGES,
        part: "building the kernels from source",
        is_missing: || search_device_compiler().found.is_none(),
    },
    Need {
        step: "browser",
        name: "browser",
        packages: &[BROWSER_PACKAGE],
        part: "pages in a browser",
        is_missing: || env::var_os(BROWSER_VARIABLE).is_none() && find_browser().is_err(),
    },
    Need {
        step: "MPI",
        name: "MPI with headers and libclang",
        packages: mpi::DEBIAN_PACKAGES,
        part: "ranks",
        is_missing: || !mpi::missing().is_empty(),
    },
];

impl Need {
    /// Returns the reason why it is not installed.
    fn reason_against(&self, is_forbidden: bool) -> Option<String> {
        let sets_compiler =
            self.packages == DEBIAN_PACKAGES && env::var_os(RUSTC_VARIABLE).is_some();
        if sets_compiler {
            Some(format!("{RUSTC_VARIABLE} is set to no usable compiler"))
        } else if is_forbidden {
            Some(FORBIDDEN.to_owned())
        } else if !is_debian() {
            Some("`cargo xtask doctor` has the remedies".to_owned())
        } else if !is_root() {
            Some(format!(
                "as root: apt-get install --no-install-recommends {}",
                self.packages.join(" ")
            ))
        } else {
            None
        }
    }

    fn install(&self, limit: Limit) -> Result<(), Error> {
        install_listed(self.packages, limit)?;
        match (self.is_missing)() {
            false => Ok(()),
            true => Err(format!(
                "the packages are installed, and still there is no {}: `cargo xtask doctor` has the reason",
                self.name
            )
            .into()),
        }
    }
}

/// Installs the missing packages, unless it is forbidden or this is not Debian with root's rights. A failed
/// installation of the compiler fails the run; others skip the part that needs them.
pub(super) fn provide(
    is_forbidden: bool,
    limit: Limit,
    outcomes: &mut Vec<Outcome>,
    skipped: &mut Vec<String>,
) {
    provide_all(&NEEDS, is_forbidden, limit, outcomes, skipped);
}

fn provide_all(
    needs: &'static [Need],
    is_forbidden: bool,
    limit: Limit,
    outcomes: &mut Vec<Outcome>,
    skipped: &mut Vec<String>,
) {
    let mut wanted = Vec::new();
    for need in needs.iter().filter(|need| (need.is_missing)()) {
        match need.reason_against(is_forbidden) {
            None => wanted.push(need),
            Some(reason) => skipped.push(format!("{}: no {}: {reason}", need.part, need.name)),
        }
    }
    if wanted.is_empty() {
        return;
    }
    println!("\n== install: this run installs packages of Debian; with --no-install it does not");
    for Need {
        name,
        packages,
        part,
        ..
    } in &wanted
    {
        println!("  {name} for {part}: {}", packages.join(" "));
    }
    if let Err(error) = list_packages(limit) {
        // Old lists may do.
        println!("{error}");
    }
    for need in wanted {
        let installed = timed(need.step, || need.install(limit));
        match &installed.result {
            Err(error) if need.step != NEEDS[0].step => {
                skipped.push(format!("{}: no {}: {error}", need.part, need.name));
            }
            _ => outcomes.push(installed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static MISSING: [Need; 2] = [
        Need {
            step: "far",
            name: "far program",
            packages: &["no-such-package"],
            part: "tests of far",
            is_missing: || true,
        },
        Need {
            step: "near",
            name: "near program",
            packages: &["no-such-package"],
            part: "tests of near",
            is_missing: || false,
        },
    ];

    #[test]
    fn a_forbidden_installation_is_skipped_by_name() {
        let (mut outcomes, mut skipped) = (Vec::new(), Vec::new());
        provide_all(
            &MISSING,
            true,
            Limit::default(),
            &mut outcomes,
            &mut skipped,
        );
        assert_eq!(skipped, ["tests of far: no far program: --no-install"]);
        assert!(outcomes.is_empty());
    }
}
