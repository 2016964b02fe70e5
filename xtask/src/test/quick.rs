//! `cargo xtask test --quick`: format, lints and the conformance of the changed families.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::process::output_of;
use crate::{Error, ptx, workspace};

/// The family of copies between host and device, which has cases and no kernels.
const COPIES: &str = "copies";

/// The scope of a quick run, with its reason.
#[derive(Debug, PartialEq)]
pub(super) struct Scope {
    /// Families of the conformance suite; none if none of their code has changed.
    pub(super) families: Vec<String>,
    /// The reason for these.
    pub(super) reason: String,
}

/// The named families or, without names, the families of the changed files.
///
/// # Errors
/// A name that no family has, or no git to list the changed files.
pub(super) fn scope(named: &[String]) -> Result<Scope, Error> {
    let known = families()?;
    if named.is_empty() {
        return Ok(scope_of(&changed_files()?, &known));
    }
    if let Some(unknown) = named.iter().find(|family| !known.contains(*family)) {
        let known = Vec::from_iter(known).join(", ");
        return Err(format!("there is no family {unknown:?}; the families are {known}").into());
    }
    Ok(Scope {
        families: named.to_vec(),
        reason: "named".to_owned(),
    })
}

/// The families of kernels, and the copies.
pub(super) fn families() -> Result<BTreeSet<String>, Error> {
    let mut families = ptx::families()?;
    families.insert(COPIES.to_owned());
    Ok(families)
}

/// Files that differ from the last commit or are not in git yet; if there are none, the files that the branch has
/// changed.
fn changed_files() -> Result<Vec<String>, Error> {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        output_of(command.args(arguments).current_dir(workspace()))
    };
    let lines = |text: String| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let tracked = git(&["diff", "--name-only", "HEAD"]);
    let untracked = git(&["ls-files", "--others", "--exclude-standard"]);
    let (Some(tracked), Some(untracked)) = (tracked, untracked) else {
        let message =
            "git does not list the changed files: name the families, such as --quick weld";
        return Err(message.into());
    };
    let changed = lines(tracked + &untracked);
    if !changed.is_empty() {
        return Ok(changed);
    }
    let mains = ["main", "origin/main"].iter();
    let base = mains
        .filter_map(|main| git(&["merge-base", "HEAD", main]))
        .next();
    let of_branch = base.and_then(|base| git(&["diff", "--name-only", base.trim()]));
    Ok(of_branch.map(lines).unwrap_or_default())
}

fn scope_of(changed: &[String], known: &BTreeSet<String>) -> Scope {
    let scope = |families: Vec<String>, reason: String| Scope { families, reason };
    let code: Vec<&String> = changed.iter().filter(|path| is_tested_code(path)).collect();
    let mut families = BTreeSet::new();
    for path in &code {
        match family_of(path, known) {
            Some(family) => families.extend([family]),
            None => {
                return scope(
                    known.iter().cloned().collect(),
                    format!("{path} changed, and all families use it"),
                );
            }
        }
    }
    if families.is_empty() {
        return scope(Vec::new(), "no code of the suite has changed".to_owned());
    }
    let files = if code.len() == 1 { "file" } else { "files" };
    scope(
        families.into_iter().collect(),
        format!("{} {files} of these families changed", code.len()),
    )
}

/// Whether a path is a Rust source that the conformance suite runs: no driver of builds and benchmarks, and no unit
/// test.
fn is_tested_code(path: &str) -> bool {
    let of_suite = ["gpu/", "host/", "toolchain/cuda_std"]
        .iter()
        .any(|folder| path.starts_with(folder))
        || path == "tests/tests/conformance.rs";
    let apart = [
        "/tests/",
        "/benches/",
        "host/cli/",
        "host/bench/",
        "host/measure/",
        "host/src/commands/",
    ];
    let is_apart = apart.iter().any(|folder| path.contains(folder)) && !path.starts_with("tests/");
    of_suite && path.ends_with(".rs") && !is_apart && path != "host/src/main.rs"
}

/// The family of a path: `refine_tets` for `host/src/refine_tets/options.rs`, `weld` for `weld_slabs.rs`,
/// `collective` for `collectives.rs`.
fn family_of(path: &str, known: &BTreeSet<String>) -> Option<String> {
    let belongs = |name: &str, family: &&String| {
        name.strip_prefix(family.as_str())
            .is_some_and(|rest| rest.is_empty() || rest == "s" || rest.starts_with('_'))
    };
    Path::new(path).components().find_map(|component| {
        let name = component.as_os_str().to_string_lossy();
        let name = name.trim_end_matches(".rs");
        let families = known.iter().filter(|family| belongs(name, family));
        families.max_by_key(|family| family.len()).cloned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn families_of(changed: &[&str]) -> Scope {
        let known = [
            "collective",
            "copies",
            "half_edges",
            "refine",
            "refine_tets",
            "weld",
        ];
        let changed: Vec<String> = changed.iter().map(|path| (*path).to_owned()).collect();
        scope_of(&changed, &known.map(str::to_owned).into())
    }

    #[test]
    fn paths_have_families() {
        let families = |path| families_of(&[path]).families.join(" ");
        assert_eq!(families("gpu/src/refine/mark.rs"), "refine");
        assert_eq!(families("gpu/src/refine_tets/mark.rs"), "refine_tets");
        assert_eq!(families("host/src/refine_tets.rs"), "refine_tets");
        assert_eq!(families("host/src/half_edges.rs"), "half_edges");
        assert_eq!(families("host/verify/src/selftest/weld_slabs.rs"), "weld");
        assert_eq!(
            families("host/verify/src/selftest/collectives.rs"),
            "collective"
        );
    }

    #[test]
    fn what_all_use_is_tested_with_all() {
        let scope = families_of(&["gpu/src/weld/near.rs", "gpu/src/block.rs"]);
        assert_eq!(scope.families.len(), 6);
        assert_eq!(
            scope.reason,
            "gpu/src/block.rs changed, and all families use it"
        );
    }

    #[test]
    fn what_no_case_runs_needs_none() {
        let changed = [
            "README.md",
            "xtask/src/main.rs",
            "host/tests/weld.rs",
            "gpu/prebuilt/weld.ptx",
            "tests/tests/weld.rs",
        ];
        assert_eq!(families_of(&changed).families, [""; 0]);
        assert_eq!(
            families_of(&["README.md", "gpu/src/weld/near.rs"]).families,
            ["weld"]
        );
    }

    #[test]
    fn unknown_families_are_named_with_the_known() {
        let error = scope(&["nosuchfamily".to_owned()]).unwrap_err().to_string();
        assert!(
            error.contains("\"nosuchfamily\"; the families are collective, compare"),
            "{error}"
        );
    }
}
