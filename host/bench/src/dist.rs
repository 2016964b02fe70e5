//! `cargo xtask dist`: a folder to carry to a machine without Rust, and the archive for users.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tables::FAMILIES;
use crate::tables::plan::{Case, Sizes, parse_sizes};
use xtask::process::{output_of, run as run_command};
use xtask::{Error, archive, build, portable, workspace};

/// Makes one folder to carry to a GPU machine without Rust: the binary, the bench plans, and a script that runs them;
/// and beside it the archive for users, trioxide-VERSION-TARGET.tar.xz with its checksum.
///
/// On Linux for x86-64 the binary is linked by zig (from PyPI) and runs with glibc 2.28 and later. The archive has it
/// with machine code of the kernels, completions, pages of the manual, and the licences of all crates inside.
///
/// In the folder, `./run.sh` lists the devices, runs the self-test and every plan, and writes results/*.json; `./run.sh
/// weld` runs one plan. Back here, `cargo xtask bench all --from FOLDER/results` makes tables and plots of them.
#[derive(clap::Args)]
pub struct Arguments {
    /// Folder to make.
    #[arg(long, value_name = "DIR", default_value = "out/dist")]
    out: PathBuf,
    /// Sizes of the plans: paper, quick, or numbers of vertices such as 100k,4m.
    #[arg(long, default_value = "paper", value_parser = parse_sizes)]
    sizes: Sizes,
    /// Take this `trioxide` instead of building one, such as one built for another machine, and write no archive.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

const RUN: &str = include_str!("run.sh");

/// Runs the command.
///
/// # Errors
///
/// A sentence for the person at the terminal.
pub fn run(arguments: &Arguments) -> Result<(), Error> {
    let out = workspace().join(&arguments.out);
    let binary = match &arguments.binary {
        Some(binary) => binary.clone(),
        None => built(out.parent().unwrap_or(&out))?,
    };
    let commit = build::commit().unwrap_or_default();
    assemble(&binary, &out, &arguments.sizes, &commit)?;
    println!("{}", out.display());
    Ok(())
}

/// Builds the binary and, where it can be built for older systems too, writes its archive to the folder `out`.
fn built(out: &Path) -> Result<PathBuf, Error> {
    if let Some(reason) = portable::refusal() {
        eprintln!(
            "there will be no archive, and the binary runs on systems as new as this one: {reason}"
        );
        return build::trioxide();
    }
    let binary = portable::trioxide()?;
    println!("{}", archive::write(&binary, out)?.display());
    Ok(binary)
}

/// Fills the folder.
fn assemble(binary: &Path, out: &Path, sizes: &Sizes, commit: &str) -> Result<(), Error> {
    let plans = out.join("plans");
    fs::create_dir_all(&plans).map_err(|error| format!("{}: {error}", plans.display()))?;
    let write = |path: PathBuf, text: &str| {
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
    };
    for family in &FAMILIES {
        let path = plans.join(format!("{}.txt", family.name));
        write(path, &plan(&family.cases(sizes)))?;
    }
    let script = out.join("run.sh");
    write(script.clone(), &RUN.replace("@COMMIT@", commit))?;
    let carried = out.join("trioxide");
    fs::copy(binary, &carried).map_err(|error| format!("{}: {error}", carried.display()))?;
    executable(&carried)?;
    executable(&script)?;
    // Symbols are of use to debuggers only; where binutils is not there they stay.
    if output_of(Command::new("strip").arg("--version")).is_some() {
        run_command(Command::new("strip").arg(&carried))?;
    } else {
        eprintln!("strip is not found: the binary keeps its symbols and is larger than need be");
    }
    Ok(())
}

#[cfg(unix)]
fn executable(path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::Permissions::from_mode(0o755);
    Ok(fs::set_permissions(path, mode).map_err(|error| format!("{}: {error}", path.display()))?)
}

#[cfg(not(unix))]
fn executable(_path: &Path) -> Result<(), Error> {
    Ok(())
}

/// One command a line, with the file of its result.
fn plan(cases: &[Case]) -> String {
    let line = |case: &Case| {
        format!(
            "trioxide {} --json results/{}.json\n",
            case.arguments.join(" "),
            case.file
        )
    };
    cases.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_has_a_command_a_line() {
        let weld = FAMILIES.iter().find(|family| family.name == "weld");
        let text = plan(&weld.unwrap().cases(&Sizes::Given(vec![500])));
        assert_eq!(
            text,
            "trioxide bench weld --mesh scan -n 500 --ratio 0.001,0.01,0.1,0.5 --seconds 1.5 --json results/weld-scan-500.json\n\
             trioxide bench weld --mesh cloud -n 500 --ratio 0.001,0.01,0.1,0.5 --seconds 1.5 --json results/weld-cloud-500.json\n"
        );
    }

    #[test]
    fn the_folder_is_complete() {
        let out = std::env::temp_dir().join(format!("trioxide-dist-{}", std::process::id()));
        // Any program will do.
        let binary = std::env::current_exe().unwrap();
        assemble(&binary, &out, &Sizes::Quick, "abc").unwrap();
        let script = fs::read_to_string(out.join("run.sh")).unwrap();
        assert!(script.contains("TRIOXIDE_COMMIT=\"abc\""), "{script}");
        for family in &FAMILIES {
            let path = out.join(format!("plans/{}.txt", family.name));
            assert!(fs::metadata(path).unwrap().len() > 0);
        }
        assert!(fs::metadata(out.join("trioxide")).unwrap().len() > 0);
        fs::remove_dir_all(out).unwrap();
    }
}
