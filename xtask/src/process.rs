//! Running other programs.

use std::process::Command;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_program_has_no_output() {
        assert_eq!(output_of(&mut Command::new("/nonexistent/program")), None);
        assert!(run(&mut Command::new("/nonexistent/program")).is_err());
    }
}
