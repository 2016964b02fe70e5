//! The archive of `cargo xtask dist` for users: the binary, completions, pages of the manual and licences.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::portable::TARGET;
use crate::process::{output_of, run as run_command};
use crate::{Error, licences, target_dir, workspace};

/// Shells, and the files with their completions.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "trioxide.bash"),
    ("fish", "trioxide.fish"),
    ("zsh", "_trioxide"),
];

/// Files of the workspace that are in the archive too.
const KEPT: [&str; 4] = ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Writes `trioxide-<version>-<target>.tar.xz` of a binary to a folder, and a file with its checksum beside it. Returns
/// its path.
///
/// # Errors
/// The binary does not run here, a program (tar, xz, strip, sha256sum) is missing, or a file cannot be written.
pub fn write(binary: &Path, out: &Path) -> Result<PathBuf, Error> {
    let printed = |words: &[&str]| {
        let printed = output_of(Command::new(binary).args(words));
        printed.ok_or_else(|| format!("{} {} failed", binary.display(), words.join(" ")))
    };
    let version = printed(&["--version"])?;
    let version = version.trim().trim_start_matches("trioxide ");
    let name = format!("trioxide-{version}-{TARGET}");
    let place = target_dir().join("archive");
    let folder = place.join(&name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let completions = folder.join("completions");
    fs::create_dir_all(&completions)?;
    fs::copy(binary, folder.join("trioxide"))?;
    run_command(Command::new("strip").arg(folder.join("trioxide")))?;
    for (shell, file) in COMPLETIONS {
        fs::write(completions.join(file), printed(&["completions", shell])?)?;
    }
    printed(&["man", &folder.join("man/man1").to_string_lossy()])?;
    for file in KEPT {
        fs::copy(workspace().join(file), folder.join(file))?;
    }
    let crates = licences::of_crates_in("trioxide-cli")?;
    fs::write(folder.join("LICENSES-OF-CRATES.txt"), crates)?;

    fs::create_dir_all(out)?;
    let archive = format!("{name}.tar.xz");
    let path = out.join(&archive);
    // The same bytes for the same files: in the order of names, without times and owners of this machine.
    let mut tar = Command::new("tar");
    tar.args(["--create", "--xz", "--sort=name", "--mtime=@0"])
        .args(["--owner=0", "--group=0", "--numeric-owner", "--file"])
        .arg(&path)
        .arg("--directory")
        .arg(&place)
        .arg(&name);
    run_command(&mut tar)?;
    let sum = output_of(Command::new("sha256sum").arg(&archive).current_dir(out));
    let sum = sum.ok_or("sha256sum failed")?;
    fs::write(out.join(format!("{archive}.sha256")), sum)?;
    Ok(path)
}
