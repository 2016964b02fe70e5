//! The headless browser that opens the report's page.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Error;
use crate::process::output_of;

/// The variable with a browser to use.
pub const VARIABLE: &str = "TRIOXIDE_BROWSER";
/// Debian's smallest package with a browser.
pub const DEBIAN_PACKAGE: &str = "chromium-headless-shell";

const NAMES: [&str; 8] = [
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/// A browser of this machine.
///
/// # Errors
///
/// No browser; the message names the package to install.
pub fn find() -> Result<PathBuf, Error> {
    let runs = |program: &Path| output_of(Command::new(program).arg("--version")).is_some();
    if let Some(program) = std::env::var_os(VARIABLE) {
        let program = PathBuf::from(program);
        return if runs(&program) {
            Ok(program)
        } else {
            Err(format!("{VARIABLE}={} cannot be run", program.display()).into())
        };
    }
    let mut programs = NAMES.map(PathBuf::from).into_iter();
    programs.find(|program| runs(program)).ok_or_else(|| {
        format!(
            "no Chromium or Chrome: apt-get install --no-install-recommends {DEBIAN_PACKAGE}, or set {VARIABLE} to one"
        )
        .into()
    })
}
