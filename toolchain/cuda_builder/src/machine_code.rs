//! Machine code of the kernels for the common architectures, by NVIDIA's assembler, embedded beside the PTX: a deflated
//! file for each family and architecture. Without an assembler there is none, and the driver compiles the PTX on the
//! user's machine.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// Names the assembler; `cargo xtask build` and `dist` set it.
pub(crate) const PTXAS: &str = "TRIOXIDE_PTXAS";

/// Compute capabilities, each ten times the major version plus the minor. Machine code also runs on later capabilities
/// of its major version.
const ARCHITECTURES: [u32; 7] = [75, 80, 86, 89, 90, 100, 120];

/// A family's module for one architecture.
struct Task<'a> {
    family: &'a str,
    ptx: PathBuf,
    architecture: u32,
}

/// Assembles `families`, texts by name, in `folder`. Returns the table of the modules as Rust (a slice of
/// `trioxide_device`'s `Family`), and the number of embedded bytes.
///
/// # Errors
/// The assembler cannot be started, or refuses a text; a file cannot be written.
pub(crate) fn assemble_families(
    families: &BTreeMap<String, String>,
    ptxas: &Path,
    folder: &Path,
) -> Result<(String, usize), String> {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let mut tasks = Vec::new();
    for (family, text) in families {
        let ptx = folder.join(format!("{family}.ptx"));
        fs::write(&ptx, text).map_err(|error| failed(&ptx, error))?;
        tasks.extend(ARCHITECTURES.map(|architecture| Task {
            family,
            ptx: ptx.clone(),
            architecture,
        }));
    }
    let bytes = assemble_all(ptxas, &tasks)?;
    Ok((table_of(families, &tasks), bytes))
}

fn table_of(families: &BTreeMap<String, String>, tasks: &[Task]) -> String {
    let mut text = String::from("&[\n");
    for (family, ptx) in families {
        let kernels = ptx_rules::entries(ptx);
        _ = writeln!(text, "(&{kernels:?}, &[");
        for task in tasks.iter().filter(|task| task.family == family) {
            let file = packed(task).display().to_string();
            let architecture = task.architecture;
            _ = writeln!(text, "({architecture}, include_bytes!({file:?})),");
        }
        text += "]),\n";
    }
    text + "]"
}

/// The deflated machine code of a task.
fn packed(task: &Task) -> PathBuf {
    task.ptx
        .with_extension(format!("sm_{}.deflate", task.architecture))
}

/// Runs the tasks, as many at once as cargo allows a build script. Returns the sum of their bytes.
fn assemble_all(ptxas: &Path, tasks: &[Task]) -> Result<usize, String> {
    let jobs = std::env::var("NUM_JOBS").ok();
    let jobs = jobs.and_then(|jobs| jobs.parse().ok()).unwrap_or(1);
    let (next, bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let first_error = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, tasks.len().max(1)) {
            scope.spawn(|| {
                while let Some(task) = tasks.get(next.fetch_add(1, Relaxed)) {
                    match assemble(ptxas, task) {
                        Ok(size) => _ = bytes.fetch_add(size, Relaxed),
                        Err(error) => {
                            let mut first = first_error.lock().expect("no thread panics");
                            first.get_or_insert(error);
                            return;
                        }
                    }
                }
            });
        }
    });
    match first_error.into_inner().expect("no thread panics") {
        Some(error) => Err(error),
        None => Ok(bytes.into_inner()),
    }
}

/// Assembles one module and deflates it. Returns its bytes.
fn assemble(ptxas: &Path, task: &Task) -> Result<usize, String> {
    let architecture = format!("sm_{}", task.architecture);
    let cubin = task.ptx.with_extension(format!("{architecture}.cubin"));
    let output = Command::new(ptxas)
        .args(["--gpu-name", &architecture, "--output-file"])
        .arg(&cubin)
        .arg(&task.ptx)
        .output()
        .map_err(|error| format!("{PTXAS} names {}: {error}", ptxas.display()))?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} for {architecture}: {messages}", task.family));
    }
    let pack = || -> std::io::Result<usize> {
        let mut packed_code = DeflateEncoder::new(Vec::new(), Compression::best());
        packed_code.write_all(&fs::read(&cubin)?)?;
        let packed_code = packed_code.finish()?;
        fs::write(packed(task), &packed_code)?;
        Ok(packed_code.len())
    };
    pack().map_err(|error| format!("{}: {error}", cubin.display()))
}
