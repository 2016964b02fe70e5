//! Builds a kernel crate to PTX from a build script, with the interface of Rust-CUDA's `cuda_builder`.
//!
//! ```no_run
//! use cuda_builder::{CudaBuilder, NvvmArch};
//!
//! let ptx = CudaBuilder::new("../gpu").arch(NvvmArch::Compute75).copy_to("kernels.ptx").build()?;
//! # Ok::<(), cuda_builder::CudaBuilderError>(())
//! ```
//!
//! A build script embeds the kernels of a package by one call of [`embed`].
//!
//! [`CudaBuilder::build`] works in three steps:
//!
//! 1. [`search_device_compiler`] finds a rustc with the sources of `core`, its cargo, and LLVM's tools.
//! 2. That cargo builds the crate for `nvptx64-nvidia-cuda`, in an environment of its own, to a static library: an
//!    archive with the LLVM bitcode of the crate and everything it depends on.
//! 3. `llvm-link`, `opt` and `llc` turn the archive into one PTX file that exports the kernels and nothing else.
//!
//! The build makes a static library because rustc then calls no linker. A `cdylib` would need a program for `-Clinker`;
//! no executable can be that program everywhere (a test harness parses its own arguments), and a script is one more
//! language and one more file to find.
//!
//! The PTX is the same to the byte for the same compiler, LLVM, sources and `Cargo.lock`, wherever the checkout lies:
//! the build has one codegen unit, no debug information, and no source locations. Its first line records the compiler
//! and its options.

mod cargo;
mod embed;
mod error;
mod lines;
mod link;
mod machine_code;
mod parts;
mod search;
mod sources;

pub use embed::{PREBUILT_VARIABLE, embed, embed_linked};
pub use error::CudaBuilderError;
pub use search::{
    CompilerSearch, DEBIAN_PACKAGES, DeviceCompiler, LlvmTools, RUSTC_VARIABLE, RejectedCompiler,
    search_device_compiler,
};

pub use sources::LIST as SOURCES;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// The virtual GPU architecture that the PTX is for; every later GPU runs it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NvvmArch {
    /// Turing.
    Compute75,
    /// Ampere (A100).
    Compute80,
    /// Ampere (RTX 30).
    Compute86,
    /// Ada Lovelace.
    Compute89,
    /// Hopper.
    Compute90,
    /// Blackwell (B200).
    Compute100,
    /// Blackwell (RTX 50).
    Compute120,
}

impl fmt::Display for NvvmArch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NvvmArch::Compute75 => "sm_75",
            NvvmArch::Compute80 => "sm_80",
            NvvmArch::Compute86 => "sm_86",
            NvvmArch::Compute89 => "sm_89",
            NvvmArch::Compute90 => "sm_90",
            NvvmArch::Compute100 => "sm_100",
            NvvmArch::Compute120 => "sm_120",
        })
    }
}

/// The result of [`CudaBuilder::build_listed`].
#[derive(Clone, Debug)]
pub struct Built {
    /// The PTX file.
    pub ptx: PathBuf,
    /// The sources with their hashes, as `prebuilt/sources.txt` holds them beside prebuilt PTX: a line `hash path` for
    /// each file of the crate, of its path dependencies and of this builder, by paths from the crate's folder.
    pub sources: String,
}

/// The options of the PTX, in addition to the sources and the compiler.
pub(crate) struct Options<'a> {
    pub(crate) arch: NvvmArch,
    pub(crate) features: &'a [String],
    /// Whether to add line information.
    pub(crate) lines: bool,
}

/// One build of a kernel crate to PTX.
#[derive(Clone, Debug)]
pub struct CudaBuilder {
    crate_dir: PathBuf,
    arch: NvvmArch,
    features: Vec<String>,
    lines: bool,
    copy_to: Option<PathBuf>,
    target_dir: Option<PathBuf>,
}

impl CudaBuilder {
    /// The crate in the directory `path_to_crate`, for [`NvvmArch::Compute75`].
    ///
    /// A relative path starts at the current directory, which is the package's own in a build script and a test.
    pub fn new(path_to_crate: impl AsRef<Path>) -> Self {
        CudaBuilder {
            crate_dir: path_to_crate.as_ref().to_owned(),
            arch: NvvmArch::Compute75,
            features: Vec::new(),
            lines: false,
            copy_to: None,
            target_dir: None,
        }
    }

    /// Sets the architecture.
    pub fn arch(mut self, arch: NvvmArch) -> Self {
        self.arch = arch;
        self
    }

    /// Enables features of the crate, in addition to its default ones.
    pub fn features<F: Into<String>>(mut self, features: impl IntoIterator<Item = F>) -> Self {
        self.features.extend(features.into_iter().map(Into::into));
        self
    }

    /// Adds line information (`.file`, `.loc`): for each instruction the line of the crate's own sources that it
    /// belongs to, also if a function of another crate is inlined there. Nsight Compute shows it, and the emulator's
    /// messages contain it. The files' paths are those on this machine.
    pub fn lines(mut self, lines: bool) -> Self {
        self.lines = lines;
        self
    }

    /// Sets the path of the PTX file. By default it stays in the target directory.
    pub fn copy_to(mut self, path: impl AsRef<Path>) -> Self {
        self.copy_to = Some(path.as_ref().to_owned());
        self
    }

    /// Sets the target directory of the device build.
    ///
    /// It must not be one in which a running cargo waits for this build (cargo locks its target directories). By
    /// default it is `device/` in the target directory of the calling build script, and otherwise `target/device/` in
    /// the crate's workspace: all profiles share one build of `core`.
    pub fn target_dir(mut self, path: impl AsRef<Path>) -> Self {
        self.target_dir = Some(path.as_ref().to_owned());
        self
    }

    /// Builds the crate and returns the path of the PTX file.
    ///
    /// Called from a build script, it prints the `cargo::rerun-if-changed` lines for the sources of the crate, of the
    /// path dependencies it was built from, and for the compiler.
    ///
    /// # Errors
    ///
    /// [`CudaBuilderError::NoDeviceCompiler`] if none is installed, [`CudaBuilderError::BuildFailed`] with the
    /// compiler's messages if the crate does not build.
    pub fn build(self) -> Result<PathBuf, CudaBuilderError> {
        Ok(self.build_listed()?.ptx)
    }

    /// As [`CudaBuilder::build`], with the list of the sources.
    ///
    /// # Errors
    ///
    /// As [`CudaBuilder::build`].
    pub fn build_listed(self) -> Result<Built, CudaBuilderError> {
        let crate_dir = self
            .crate_dir
            .canonicalize()
            .ok()
            .filter(|dir| dir.join("Cargo.toml").is_file())
            .ok_or_else(|| CudaBuilderError::CratePathDoesntExist(self.crate_dir.clone()))?;
        let search = search_device_compiler();
        let Some(compiler) = &search.found else {
            if in_build_script() {
                // After a compiler is installed, the next build makes kernels from the sources.
                print_rerun_lines_of(&search.watched_paths());
            }
            return Err(CudaBuilderError::NoDeviceCompiler(Box::new(search)));
        };
        let target_dir = match self.target_dir {
            Some(dir) => dir,
            None => default_target_dir(&crate_dir),
        };
        fs::create_dir_all(&target_dir)
            .map_err(|error| CudaBuilderError::io("creating", &target_dir, error))?;
        // Cargo's command line and the environment must agree on one absolute path.
        let target_dir = target_dir
            .canonicalize()
            .map_err(|error| CudaBuilderError::io("resolving", &target_dir, error))?;

        // Another build in this directory would replace the archive between the end of cargo and the link.
        let lock = lock_directory(&target_dir)?;
        let options = Options {
            arch: self.arch,
            features: &self.features,
            lines: self.lines,
        };
        let library = cargo::build_static_library(compiler, &crate_dir, &options, &target_dir)?;
        let ptx = link::link_ptx(
            compiler,
            &crate_dir,
            &options,
            &library.archive,
            &target_dir,
        )?;
        if in_build_script() {
            print_rerun_lines(compiler, &crate_dir, &library);
        }
        let path = self
            .copy_to
            .unwrap_or_else(|| target_dir.join(format!("kernels.{}.ptx", self.arch)));
        write_whole(&path, &ptx).map_err(CudaBuilderError::FailedToCopyPtxFile)?;
        drop(lock);
        let sources = sources::list(&crate_dir, &library)
            .map_err(|error| CudaBuilderError::io("reading the sources of", &crate_dir, error))?;
        Ok(Built { ptx: path, sources })
    }
}

/// Cargo sets `HOST` for build scripts only; it sets `OUT_DIR` also for programs that it runs and tests.
fn in_build_script() -> bool {
    std::env::var_os("HOST").is_some() && std::env::var_os("OUT_DIR").is_some()
}

fn default_target_dir(crate_dir: &Path) -> PathBuf {
    // OUT_DIR is <target directory>[/<triple>]/<profile>/build/<package>/out.
    if in_build_script()
        && let Some(out_dir) = std::env::var_os("OUT_DIR")
        && let Some(target_dir) = Path::new(&out_dir).ancestors().nth(4)
    {
        return target_dir.join("device");
    }
    workspace_root(crate_dir).join("target").join("device")
}

/// A workspace's lock file lies in its root; a crate without a workspace is its own root.
fn workspace_root(crate_dir: &Path) -> &Path {
    let root = crate_dir
        .ancestors()
        .find(|dir| dir.join("Cargo.lock").is_file());
    root.unwrap_or(crate_dir)
}

/// Waits for the directory's lock, which is released when the file is dropped.
fn lock_directory(dir: &Path) -> Result<fs::File, CudaBuilderError> {
    let path = dir.join(".cuda_builder-lock");
    let lock =
        fs::File::create(&path).map_err(|error| CudaBuilderError::io("creating", &path, error))?;
    lock.lock()
        .map_err(|error| CudaBuilderError::io("locking", &path, error))?;
    Ok(lock)
}

fn print_rerun_lines(compiler: &DeviceCompiler, crate_dir: &Path, library: &cargo::StaticLibrary) {
    let root = workspace_root(crate_dir);
    // The workspace's manifest and lock file determine the versions and features of the crate's dependencies.
    let manifests = [
        crate_dir.join("Cargo.toml"),
        root.join("Cargo.toml"),
        root.join("Cargo.lock"),
    ];
    for manifest in manifests.iter().filter(|path| path.is_file()) {
        println!("cargo::rerun-if-changed={}", manifest.display());
    }
    // Directories, so that new files are noticed too.
    for dir in library.source_dirs() {
        println!("cargo::rerun-if-changed={}", dir.display());
    }
    print_rerun_lines_of(&compiler.watched_paths());
}

/// Prints the lines for the search of a compiler.
fn print_rerun_lines_of(paths: &[PathBuf]) {
    for path in paths {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    println!("cargo::rerun-if-env-changed={RUSTC_VARIABLE}");
}

/// Writes a file in one step: under a temporary name beside it, then renamed.
fn write_whole(path: &Path, contents: &str) -> std::io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    fs::write(&temporary, contents)?;
    fs::rename(&temporary, path).inspect_err(|_| drop(fs::remove_file(&temporary)))
}
