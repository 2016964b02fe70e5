//! Running other programs.

use std::io::{BufRead, BufReader, IsTerminal, PipeReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::Error;

/// The variable with the folders where a program finds shared libraries before the system's.
pub(crate) const LIBRARY_PATH: &str = if cfg!(target_os = "macos") {
    "DYLD_FALLBACK_LIBRARY_PATH"
} else if cfg!(windows) {
    "PATH"
} else {
    "LD_LIBRARY_PATH"
};

/// The standard output of a program, if it can be started and succeeds.
pub fn output_of(command: &mut Command) -> Option<String> {
    let output = command
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The cargo that runs this program.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(crate::workspace());
    command
}

/// The program and its arguments, as typed in a shell.
pub fn command_line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Runs a program to its end, with its output.
///
/// # Errors
///
/// The program cannot be started, or does not succeed.
pub fn run(command: &mut Command) -> Result<(), Error> {
    let status = command
        .status()
        .map_err(|error| format!("{} cannot be started: {error}", command_line(command)))?;
    if !status.success() {
        return Err(format!("{} failed ({status})", command_line(command)).into());
    }
    Ok(())
}

/// Runs a program to its end, shows its output and returns the text that follows `mark` in every line that has it.
///
/// # Errors
///
/// Errors of [`run`].
pub fn run_and_collect(command: &mut Command, mark: &str) -> (Vec<String>, Result<(), Error>) {
    let mut collected = Vec::new();
    let result = tee(command, mark, &mut collected);
    (collected, result)
}

fn tee(command: &mut Command, mark: &str, collected: &mut Vec<String>) -> Result<(), Error> {
    if std::io::stdout().is_terminal() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let (mut child, reader) = spawn_piped(command)
        .map_err(|error| format!("{} cannot be started: {error}", command_line(command)))?;
    let mut stdout = std::io::stdout().lock();
    for line in BufReader::new(reader).split(b'\n') {
        let line = line?;
        stdout.write_all(&line)?;
        stdout.write_all(b"\n")?;
        if let Some((_, found)) = String::from_utf8_lossy(&line).split_once(mark) {
            collected.push(found.trim().to_owned());
        }
    }
    let status = child.wait()?;
    if !status.success() {
        return Err(format!("{} failed ({status})", command_line(command)).into());
    }
    Ok(())
}

/// Starts a program with one pipe for both streams, which keeps their lines in order.
pub(crate) fn spawn_piped(command: &mut Command) -> std::io::Result<(Child, PipeReader)> {
    let (reader, writer) = std::io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let child = command.spawn();
    // The command holds the writing end of the pipe; the reader sees no end until it is closed.
    command.stdout(Stdio::inherit()).stderr(Stdio::inherit());
    Ok((child?, reader))
}

/// The packages of cargo's metadata, with more arguments of it.
///
/// # Errors
/// Cargo fails, or its output has changed.
pub(crate) fn packages(arguments: &[&str]) -> Result<Vec<Value>, Error> {
    let mut command = cargo(&["metadata", "--format-version=1"]);
    let listed = output_of(command.args(arguments)).ok_or("cargo metadata failed")?;
    let mut listed: Value = serde_json::from_str(&listed)?;
    match listed["packages"].take() {
        Value::Array(packages) => Ok(packages),
        _ => Err("cargo metadata lists no packages".into()),
    }
}

/// Whether this runs as root.
pub(crate) fn is_root() -> bool {
    output_of(Command::new("id").arg("-u")).is_some_and(|id| id.trim() == "0")
}

/// Whether this is Debian, or a system derived from it.
pub(crate) fn is_debian() -> bool {
    Path::new("/etc/debian_version").exists()
}

/// Installs Debian's packages.
pub(crate) fn install(packages: &[&str]) -> Result<(), Error> {
    println!("== install: {}", packages.join(" "));
    let apt_get = || {
        let mut command = Command::new("apt-get");
        command
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(["--quiet=2", "--option=Dpkg::Use-Pty=0"]);
        command
    };
    run(apt_get().arg("update"))?;
    run(apt_get()
        .args(["install", "--yes", "--no-install-recommends"])
        .args(packages))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collects_marked_lines_and_reports_failure() {
        // A program that every build machine has, with a known line in its output.
        let (lines, result) = run_and_collect(&mut cargo(&["--version"]), "cargo ");
        result.unwrap();
        assert_eq!(lines.len(), 1);
        let (_, result) = run_and_collect(&mut cargo(&["no-such-command"]), "skipped: ");
        assert!(
            result
                .unwrap_err()
                .to_string()
                .contains("no-such-command failed")
        );
    }

    #[test]
    fn absent_program_has_no_output() {
        assert_eq!(output_of(&mut Command::new("/nonexistent/program")), None);
        assert!(run(&mut Command::new("/nonexistent/program")).is_err());
    }
}
