//! `cargo xtask report`: timings, and the demo's meshes, as one page for people.

mod browser;
mod geometry;
mod highlights;
mod html;
mod machines;
mod meshes;
mod page;
mod results;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::browser::find as find_browser;
use xtask::process::output_of;
use xtask::{Error, build, workspace};

/// Size of a page that one still sends to somebody.
const LARGE: usize = 8_000_000;

/// Writes one HTML page: timings, tables and plots, and meshes before and after to turn and to zoom into.
///
/// The page needs nothing but itself: no network, no other file. Families without results are named on it, with the
/// command that makes them.
#[derive(clap::Args)]
pub struct Arguments {
    /// Folder with the FAMILY.json that `cargo xtask bench` writes.
    #[arg(long, value_name = "DIR", default_value = results::DEFAULT_FOLDER)]
    from: PathBuf,
    /// Page to write.
    #[arg(long, value_name = "FILE", default_value = "out/report.html")]
    out: PathBuf,
    /// Device that makes the demo meshes, as for `trioxide`; every device makes the same.
    #[arg(long, default_value = "cpu")]
    device: String,
    /// Take this `trioxide` instead of building it.
    #[arg(long, value_name = "PROGRAM")]
    trioxide: Option<PathBuf>,
    /// Open the page in a headless browser too: an error unless it shows all its pictures.
    #[arg(long)]
    check: bool,
    /// Write nothing, open this page in a headless browser.
    #[arg(long, value_name = "PAGE", conflicts_with_all = ["from", "out", "device", "trioxide", "check"])]
    check_only: Option<PathBuf>,
    /// Write nothing, name the browser that --check would take.
    #[arg(long, conflicts_with_all = ["from", "out", "device", "trioxide", "check", "check_only"])]
    find_browser: bool,
    /// With --check or --check-only: the browser has no WebGL.
    #[arg(long)]
    without_webgl: bool,
    /// With --check or --check-only: width of the browser's window in pixels.
    #[arg(long, value_name = "PIXELS", default_value_t = 1280)]
    width: u32,
}

/// Runs the command.
///
/// # Errors
///
/// A sentence for the person at the terminal.
pub fn run(arguments: &Arguments) -> Result<(), Error> {
    if arguments.find_browser {
        println!("{}", find_browser()?.display());
        return Ok(());
    }
    if let Some(page) = &arguments.check_only {
        return check(page, arguments);
    }
    // Bad results are found before the build.
    let from = workspace().join(&arguments.from);
    let results = results::read(&from)?;
    for family in results.missing() {
        println!("no results of {0}: cargo xtask bench {0}", family.name);
    }
    let trioxide = match &arguments.trioxide {
        Some(program) => std::path::absolute(program)?,
        None => build::trioxide()?,
    };
    let demos = meshes::make(&trioxide, &arguments.device)?;
    let commit = output_of(
        Command::new("git")
            .args(["rev-parse", "--short=12", "HEAD"])
            .current_dir(workspace()),
    );
    let page = page::page(&results, demos, commit.as_deref().map(str::trim));
    let out = workspace().join(&arguments.out);
    write_whole(&out, &page)?;
    println!("{} ({:.1} MB)", out.display(), page.len() as f64 / 1e6);
    if page.len() > LARGE {
        println!(
            "warning: the page is larger than {} MB; the plots may be too detailed",
            LARGE / 1_000_000
        );
    }
    if arguments.check {
        check(&out, arguments)?;
    }
    Ok(())
}

/// Opens a page in a headless browser.
fn check(page: &Path, arguments: &Arguments) -> Result<(), Error> {
    let browser = find_browser()?;
    let findings = browser::open(
        &browser,
        page,
        &browser::View {
            width: arguments.width,
            webgl: !arguments.without_webgl,
        },
    )?;
    let problems = findings.problems();
    if !problems.is_empty() {
        return Err(format!("{}:\n  {}", page.display(), problems.join("\n  ")).into());
    }
    println!("{findings}");
    Ok(())
}

/// Writes a file whole or not at all.
fn write_whole(path: &Path, text: &str) -> Result<(), Error> {
    let explain = |error: std::io::Error| format!("{}: {error}", path.display());
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(explain)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(explain)?;
    std::io::Write::write_all(&mut file, text.as_bytes()).map_err(explain)?;
    // A temporary file is its owner's alone.
    #[cfg(unix)]
    fs::set_permissions(
        file.path(),
        std::os::unix::fs::PermissionsExt::from_mode(0o644),
    )
    .map_err(explain)?;
    file.persist(path).map_err(|error| explain(error.error))?;
    Ok(())
}
