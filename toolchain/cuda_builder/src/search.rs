//! The search for a compiler that can build for the device.
//!
//! A device compiler consists of a rustc at least as new as this workspace requires, with the sources of `core` in its
//! sysroot (for `-Zbuild-std`); the cargo of the same sysroot; and `llvm-link`, `opt` and `llc` of an LLVM at least as
//! new as rustc's own (an older one does not read its bitcode). The order of the search: `TRIOXIDE_DEVICE_RUSTC`, which
//! is then the only candidate; the toolchain in use (rustup's, as a rule); Debian's `rustc-web`.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The environment variable with the only rustc to build with.
pub const RUSTC_VARIABLE: &str = "TRIOXIDE_DEVICE_RUSTC";

/// The Debian packages (Debian 12 and later) of a device compiler.
pub const DEBIAN_PACKAGES: &[&str] = &["rustc-web", "cargo-web", "rust-web-src", "llvm-22"];

/// Debian's rustc; a rustup toolchain comes before it in `PATH`, and is not affected.
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";

/// The oldest rustc with the features that the kernels use.
const OLDEST_RUSTC: &str = env!("CARGO_PKG_RUST_VERSION");

/// Number of LLVM releases after rustc's own that are searched by suffix (`llc-23`).
const LATER_LLVM_RELEASES: u32 = 3;

/// A compiler that can build for the device.
#[derive(Clone, Debug)]
pub struct DeviceCompiler {
    /// Its origin, in words.
    pub origin: &'static str,
    /// The compiler.
    pub rustc: PathBuf,
    /// The cargo of its sysroot.
    pub cargo: PathBuf,
    /// The output of `rustc --version`, as `rustc 1.96.0 (ac68faa20 2026-05-25)`.
    pub version: String,
    /// LLVM's tools.
    pub llvm: LlvmTools,
}

/// The LLVM programs that turn bitcode into PTX.
#[derive(Clone, Debug)]
pub struct LlvmTools {
    /// `llvm-link`: many modules into one.
    pub link: PathBuf,
    /// `opt`: the optimizer.
    pub opt: PathBuf,
    /// `llc`: the code generator.
    pub llc: PathBuf,
    /// The version of all three, as `22.1.8`.
    pub version: String,
}

/// A place without a usable compiler.
#[derive(Clone, Debug)]
pub struct RejectedCompiler {
    /// The place, in words.
    pub origin: &'static str,
    /// Missing or wrong parts, a phrase each.
    pub missing: Vec<String>,
    /// The remedy: in most cases a command.
    pub remedy: String,
}

/// The result of [`search_device_compiler`].
#[derive(Clone, Debug)]
pub struct CompilerSearch {
    /// The first usable compiler.
    pub found: Option<DeviceCompiler>,
    /// The places searched before it without success, in order.
    pub rejected: Vec<RejectedCompiler>,
}

/// Searches for a compiler that can build for the device.
///
/// It runs the compilers and tools it finds for their versions, and changes nothing.
pub fn search_device_compiler() -> CompilerSearch {
    let mut search = CompilerSearch {
        found: None,
        rejected: Vec::new(),
    };
    for (origin, rustc, remedy) in candidates() {
        match inspect(origin, &rustc) {
            Ok(compiler) => {
                search.found = Some(compiler);
                break;
            }
            Err(missing) => search.rejected.push(RejectedCompiler {
                origin,
                missing,
                remedy: remedy.unwrap_or_else(|| toolchain_remedy(&rustc)),
            }),
        }
    }
    search
}

/// Each place to search: its name, its rustc, and the remedy unless it depends on the parts found there.
fn candidates() -> Vec<(&'static str, PathBuf, Option<String>)> {
    if let Some(rustc) = env::var_os(RUSTC_VARIABLE) {
        let remedy = format!(
            "point {RUSTC_VARIABLE} to a rustc {OLDEST_RUSTC} or newer with rust-src and LLVM's tools, or unset it"
        );
        return vec![(RUSTC_VARIABLE, rustc.into(), Some(remedy))];
    }
    // Cargo sets RUSTC for build scripts; elsewhere `rustc` is rustup's proxy for the toolchain in use.
    let active = env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from);
    let debian = format!(
        "apt-get install --no-install-recommends {}",
        DEBIAN_PACKAGES.join(" ")
    );
    vec![
        ("the Rust toolchain in use", active, None),
        ("Debian's rustc-web", DEBIAN_RUSTC.into(), Some(debian)),
    ]
}

/// The version that rustc prints.
struct RustcVersion {
    /// First line of `rustc -vV`.
    line: String,
    release: String,
    host: String,
    llvm: String,
}

impl RustcVersion {
    fn parse(verbose_version: &str) -> Option<Self> {
        let field = |key: &str| {
            verbose_version
                .lines()
                .find_map(|line| line.strip_prefix(key))
                .map(str::trim)
        };
        Some(RustcVersion {
            line: verbose_version.lines().next()?.trim().to_owned(),
            release: field("release:")?.to_owned(),
            host: field("host:")?.to_owned(),
            llvm: field("LLVM version:")?.to_owned(),
        })
    }
}

/// The compiler at `rustc`, or its missing parts.
fn inspect(origin: &'static str, rustc: &Path) -> Result<DeviceCompiler, Vec<String>> {
    let run = |arguments: &[&str]| output_of(Command::new(rustc).args(arguments));
    let Some(version) = run(&["-vV"]).and_then(|text| RustcVersion::parse(&text)) else {
        return Err(vec![format!("a rustc that runs ({})", rustc.display())]);
    };
    let Some(sysroot) = run(&["--print", "sysroot"]).map(|text| PathBuf::from(text.trim())) else {
        return Err(vec![format!("a sysroot of {}", rustc.display())]);
    };
    let mut missing = Vec::new();
    if version_numbers(&version.release) < version_numbers(OLDEST_RUSTC) {
        missing.push(format!(
            "rustc {OLDEST_RUSTC} or newer (it is {})",
            version.release
        ));
    }
    // The proxy would read the current directory's rust-toolchain.toml again; the real cargo does not.
    let in_sysroot = |name: &str| {
        let path = sysroot.join("bin").join(executable(name));
        path.is_file().then_some(path)
    };
    let cargo = in_sysroot("cargo");
    if cargo.is_none() {
        missing.push(format!("cargo in {}", sysroot.join("bin").display()));
    }
    let rustlib = sysroot.join("lib/rustlib");
    if !rustlib.join("src/rust/library/core/src/lib.rs").is_file() {
        missing.push(format!("the sources of core ({}/src)", rustlib.display()));
    }
    let llvm = find_llvm(&rustlib.join(&version.host).join("bin"), &version.llvm);
    if llvm.is_none() {
        missing.push(format!(
            "llvm-link, opt and llc of LLVM {} or newer, with the NVPTX target",
            version_numbers(&version.llvm)[0]
        ));
    }
    match (cargo, llvm) {
        (Some(cargo), Some(llvm)) if missing.is_empty() => Ok(DeviceCompiler {
            origin,
            rustc: in_sysroot("rustc").unwrap_or_else(|| rustc.to_owned()),
            cargo,
            version: version.line,
            llvm,
        }),
        _ => Err(missing),
    }
}

/// The LLVM tools of the toolchain (rustup's component llvm-tools) or, if it has none, the system's.
fn find_llvm(toolchain_bin: &Path, rustc_llvm: &str) -> Option<LlvmTools> {
    let oldest = version_numbers(rustc_llvm)[0];
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places = vec![(toolchain_bin.to_owned(), String::new())];
    for release in oldest..=oldest + LATER_LLVM_RELEASES {
        places.extend(env::split_paths(&path).map(|dir| (dir, format!("-{release}"))));
        places.push((format!("/usr/lib/llvm-{release}/bin").into(), String::new()));
    }
    places.extend(env::split_paths(&path).map(|dir| (dir, String::new())));
    places
        .into_iter()
        .find_map(|(dir, suffix)| llvm_tools_in(&dir, &suffix, oldest))
}

/// The tools in one directory, if all are there and new enough.
fn llvm_tools_in(dir: &Path, suffix: &str, oldest: u32) -> Option<LlvmTools> {
    let tool = |name: &str| {
        let path = dir.join(executable(&format!("{name}{suffix}")));
        path.is_file().then_some(path)
    };
    let (link, opt, llc) = (tool("llvm-link")?, tool("opt")?, tool("llc")?);
    // The version output of the last one also lists its targets.
    let text = output_of(Command::new(&llc).arg("--version"))?;
    let version = llvm_version(&text)?;
    let usable = version_numbers(&version)[0] >= oldest && text.contains("nvptx64");
    usable.then_some(LlvmTools {
        link,
        opt,
        llc,
        version,
    })
}

/// The version `22.1.8` in "Debian LLVM version 22.1.8" or "LLVM version 22.1.2-rust-1.95.0-stable".
fn llvm_version(text: &str) -> Option<String> {
    let (_, after) = text.split_once("LLVM version ")?;
    let version: String = after
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .collect();
    (!version.is_empty()).then_some(version)
}

/// Major, minor and patch number; a missing one counts as 0.
fn version_numbers(version: &str) -> [u32; 3] {
    let mut numbers = [0; 3];
    let parts = version
        .split(['.', '-'])
        .map_while(|part| part.parse().ok());
    for (number, part) in numbers.iter_mut().zip(parts) {
        *number = part;
    }
    numbers
}

/// The command that completes the toolchain in use: rustup's components, or an installation by hand.
fn toolchain_remedy(rustc: &Path) -> String {
    let sysroot = output_of(Command::new(rustc).args(["--print", "sysroot"])).unwrap_or_default();
    let sysroot = Path::new(sysroot.trim());
    let toolchain = sysroot.file_name().and_then(|name| name.to_str());
    match toolchain {
        Some(name)
            if sysroot
                .parent()
                .is_some_and(|dir| dir.ends_with("toolchains")) =>
        {
            format!("rustup component add rust-src llvm-tools --toolchain {name}")
        }
        _ => format!("install Rust {OLDEST_RUSTC} or newer with rustup (https://rustup.rs)"),
    }
}

/// The standard output of a program, if it runs and succeeds.
fn output_of(command: &mut Command) -> Option<String> {
    let output = command
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

fn executable(name: &str) -> String {
    format!("{name}{}", env::consts::EXE_SUFFIX)
}

impl DeviceCompiler {
    /// Files that change when this compiler is replaced.
    pub(crate) fn watched_paths(&self) -> Vec<PathBuf> {
        if self.rustc != Path::new(DEBIAN_RUSTC) {
            return vec![self.rustc.clone()];
        }
        // A package's files have the time of its build; its file list has the time of its installation.
        let lists = DEBIAN_PACKAGES
            .iter()
            .map(|name| format!("/var/lib/dpkg/info/{name}.list"));
        lists
            .map(PathBuf::from)
            .filter(|path| path.is_file())
            .collect()
    }
}

impl CompilerSearch {
    /// Existing files that change when the missing parts are installed, for `cargo::rerun-if-changed`.
    pub fn watched_paths(&self) -> Vec<PathBuf> {
        let mut paths = vec![PathBuf::from("/var/lib/dpkg/status")];
        if let Some(sysroot) = output_of(Command::new("rustc").args(["--print", "sysroot"])) {
            paths.push(Path::new(sysroot.trim()).join("lib/rustlib/components"));
        }
        paths.retain(|path| path.is_file());
        paths
    }
}

impl fmt::Display for CompilerSearch {
    /// The compiler found or, place by place, the missing parts and the remedy.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(compiler) = &self.found {
            return write!(
                f,
                "{}: {}, LLVM {}",
                compiler.origin, compiler.version, compiler.llvm.version
            );
        }
        for (index, place) in self.rejected.iter().enumerate() {
            let newline = if index > 0 { "\n" } else { "" };
            write!(
                f,
                "{newline}  {} lacks {}\n    remedy: {}",
                place.origin,
                place.missing.join("; "),
                place.remedy
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::sync::{Mutex, PoisonError};

    #[test]
    fn reads_rustc_verbose_version() {
        let version = RustcVersion::parse(
            "rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)\nbinary: rustc\n\
             commit-hash: ac68faa20c58cbccd01ee7208bf3b6e93a7d7f96\nhost: x86_64-unknown-linux-gnu\n\
             release: 1.96.0\nLLVM version: 22.1.8\n",
        )
        .unwrap();
        assert_eq!(version.release, "1.96.0");
        assert_eq!(version.host, "x86_64-unknown-linux-gnu");
        assert_eq!(version.llvm, "22.1.8");
        assert!(RustcVersion::parse("error: no such command").is_none());
    }

    #[test]
    fn reads_llvm_versions() {
        let debian = "Debian LLVM version 22.1.8\n  Optimized build.";
        let rustup = "LLVM (http://llvm.org/):\n  LLVM version 22.1.2-rust-1.95.0-stable\n";
        assert_eq!(llvm_version(debian).as_deref(), Some("22.1.8"));
        assert_eq!(llvm_version(rustup).as_deref(), Some("22.1.2"));
        assert_eq!(llvm_version("clang 3"), None);
    }

    #[test]
    fn compares_versions_by_number() {
        assert!(version_numbers("1.100.0") > version_numbers("1.95"));
        assert!(version_numbers("1.63.0") < version_numbers(OLDEST_RUSTC));
        assert_eq!(version_numbers("1.97.0-nightly"), [1, 97, 0]);
    }

    /// Held by tests that start programs: a program cannot be started ("text file busy") while the child of a
    /// concurrent fork has it open for writing.
    static STARTS_PROGRAMS: Mutex<()> = Mutex::new(());

    /// A directory for one test, with a toolchain of scripts that answer as the real programs do.
    #[cfg(unix)]
    fn fake_toolchain(name: &str, release: &str, llc_answer: &str) -> PathBuf {
        let root = env::temp_dir().join(format!("cuda_builder-{name}-{}", std::process::id()));
        let script = |path: &str, text: &str| {
            use std::os::unix::fs::PermissionsExt;
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        };
        let version =
            format!("rustc {release}\nhost: h\nrelease: {release}\nLLVM version: 900.1.0");
        let sysroot = root.display();
        let rustc = format!("case $1 in --print) echo '{sysroot}';; *) echo '{version}';; esac");
        script("bin/rustc", &rustc);
        script("bin/cargo", "");
        script("lib/rustlib/src/rust/library/core/src/lib.rs", "");
        for tool in ["llvm-link", "opt", "llc"] {
            script(
                &format!("lib/rustlib/h/bin/{tool}"),
                &format!("echo '{llc_answer}'"),
            );
        }
        root
    }

    #[test]
    #[cfg(unix)]
    fn takes_a_complete_toolchain_and_names_what_another_lacks() {
        let _guard = STARTS_PROGRAMS
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // LLVM 900, so that no tools of this machine can replace the toolchain's.
        let llvm = "LLVM version 900.1.2\n  nvptx64 - NVIDIA PTX 64-bit";
        let root = fake_toolchain("complete", "1.999.0", llvm);
        let rustc = root.join("bin/rustc");
        let compiler = inspect("fake", &rustc).unwrap();
        assert_eq!(compiler.version, "rustc 1.999.0");
        assert_eq!(compiler.cargo, root.join("bin/cargo"));
        assert_eq!(compiler.llvm.version, "900.1.2");
        assert!(compiler.llvm.opt.starts_with(&root));

        std::fs::remove_dir_all(root.join("lib/rustlib/src")).unwrap();
        std::fs::remove_file(root.join("lib/rustlib/h/bin/opt")).unwrap();
        let missing = inspect("fake", &rustc).unwrap_err();
        assert_eq!(missing.len(), 2, "{missing:?}");
        assert!(missing[0].starts_with("the sources of core"), "{missing:?}");
        assert!(missing[1].contains("LLVM 900"), "{missing:?}");
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn refuses_old_compilers_and_unfit_llvm() {
        let _guard = STARTS_PROGRAMS
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let root = fake_toolchain(
            "old",
            "1.63.0",
            "LLVM version 899.1.0\n  nvptx64 - NVIDIA PTX",
        );
        let missing = inspect("fake", &root.join("bin/rustc")).unwrap_err();
        assert!(
            missing[0].contains("or newer (it is 1.63.0)"),
            "{missing:?}"
        );
        assert!(missing[1].contains("llc of LLVM 900"), "{missing:?}");
        std::fs::remove_dir_all(root).unwrap();
        let root = fake_toolchain("targetless", "1.999.0", "LLVM version 900.1.0\n  x86-64");
        assert_eq!(
            inspect("fake", &root.join("bin/rustc")).unwrap_err().len(),
            1
        );
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn says_what_is_missing_and_the_remedy() {
        let _guard = STARTS_PROGRAMS
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let missing = inspect("nowhere", Path::new("/nonexistent/rustc")).unwrap_err();
        let rejected = vec![RejectedCompiler {
            origin: "nowhere",
            missing,
            remedy: "make one".into(),
        }];
        let text = CompilerSearch {
            found: None,
            rejected,
        }
        .to_string();
        assert!(
            text.contains("nowhere lacks a rustc that runs (/nonexistent/rustc)"),
            "{text}"
        );
        assert!(text.contains("remedy: make one"), "{text}");
    }
}
