//! Optimizes and compiles a module in parts, one for each family of kernels.
//!
//! Parts are compiled in parallel, and a part whose bitcode is that of the last build is not compiled again: after a
//! change to a kernel only its family is. The PTX of a family depends only on its own kernels and the functions that
//! they call.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use xxhash_rust::xxh3::xxh3_128;

use crate::cargo::run;
use crate::{CudaBuilderError, DeviceCompiler, Options, lines};

/// Makes everything but the kernels internal, and removes functions that no kernel reaches.
pub(crate) const REDUCE: &str = "internalize,globaldce";
/// Optimizes the remaining functions as one module.
pub(crate) const OPTIMIZE: &str = "default<O3>";

/// Rounding is IEEE at every step: no contraction to fma, no approximate division or square root.
pub(crate) const LLC_FLAGS: [&str; 4] = [
    "-O3",
    "--nvptx-fma-level=0",
    "--nvptx-prec-divf32=2",
    "--nvptx-prec-sqrtf32=1",
];

/// A module of LLVM's text, and the settings of its compilation.
pub(crate) struct Linked<'a> {
    pub(crate) compiler: &'a DeviceCompiler,
    pub(crate) crate_dir: &'a Path,
    pub(crate) options: &'a Options<'a>,
    /// The text.
    pub(crate) module: &'a Path,
    /// The folder that keeps parts from one build to the next; nobody else uses it during the build.
    pub(crate) folder: PathBuf,
    /// The inputs of the PTX other than the module.
    pub(crate) header: &'a str,
    /// Variables that the host writes.
    pub(crate) variables: Vec<String>,
}

impl Linked<'_> {
    /// The PTX of the `kernels`, by families.
    pub(crate) fn compile(
        &self,
        kernels: &[String],
    ) -> Result<Vec<(String, String)>, CudaBuilderError> {
        fs::create_dir_all(&self.folder)
            .map_err(|error| CudaBuilderError::io("creating", &self.folder, error))?;
        let reduced = self.folder.join("all.bc");
        self.reduce(self.module, kernels, &reduced)?;
        let mut parts: Vec<_> = self.families(kernels).into_iter().collect();
        // The largest first, so that no large part is left for the end.
        parts.sort_by_key(|(family, kernels)| (usize::MAX - kernels.len(), family.clone()));
        let (next, compiled) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
        let work = || {
            while let Some((family, kernels)) = parts.get(next.fetch_add(1, Relaxed)) {
                let ptx = self.compile_part(&reduced, family, kernels);
                let mut compiled = compiled.lock().expect("no thread panics with it");
                compiled.insert(family.clone(), ptx);
            }
        };
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        thread::scope(|scope| {
            for _ in 1..threads.min(parts.len()) {
                scope.spawn(work);
            }
            work();
        });
        let compiled = compiled.into_inner().expect("no thread panics with it");
        let part = |(family, ptx): (String, Result<String, _>)| Ok((family, ptx?));
        compiled.into_iter().map(part).collect()
    }

    /// The kernels of each family, as the package's sources declare them.
    fn families<'k>(&self, kernels: &'k [String]) -> BTreeMap<String, Vec<&'k String>> {
        // A package whose sources are in another folder is one family.
        let declared = ptx_rules::declared_kernels(&self.crate_dir.join("src"));
        let declared = declared.unwrap_or_default();
        let mut families: BTreeMap<String, Vec<&String>> = BTreeMap::new();
        for kernel in kernels {
            let family = ptx_rules::family_of(kernel, &declared);
            let family = family.map_or("others", |(_, family)| family);
            families.entry(family.to_owned()).or_default().push(kernel);
        }
        families
    }

    /// The PTX of a family: that of the last build, if its bitcode is the same.
    fn compile_part(
        &self,
        module: &Path,
        family: &str,
        kernels: &[&String],
    ) -> Result<String, CudaBuilderError> {
        let file = |suffix: &str| self.folder.join(format!("{family}.{suffix}"));
        let (bitcode, optimized) = (file("bc"), file("optimized"));
        let (key, ptx) = (file("key"), file("ptx"));
        self.reduce(module, kernels, &bitcode)?;
        let bytes =
            fs::read(&bitcode).map_err(|error| CudaBuilderError::io("reading", &bitcode, error))?;
        let wanted = format!("{}\n{:032x}\n", self.header, xxh3_128(&bytes));
        if fs::read_to_string(&key).is_ok_and(|kept| kept == wanted)
            && let Ok(text) = fs::read_to_string(&ptx)
        {
            return Ok(text);
        }
        // A build that is interrupted leaves no key.
        let _ = fs::remove_file(&key);
        // Text if its locations are changed, with the order of uses that bitcode has: the code depends on that order.
        let as_text = ["-S", "--preserve-ll-uselistorder"];
        let mut opt = Command::new(&self.compiler.llvm.opt);
        opt.args(as_text.iter().filter(|_| self.options.lines))
            .arg(format!("--passes={OPTIMIZE}"))
            .arg("-o")
            .args([&optimized, &bitcode]);
        run(&mut opt)?;
        if self.options.lines {
            let text = lines::in_sources(&read(&optimized)?, &self.crate_dir.join("src"));
            write(&optimized, &text)?;
        }
        let mut llc = Command::new(&self.compiler.llvm.llc);
        llc.args(LLC_FLAGS)
            .arg(format!("-mcpu={}", self.options.arch))
            .arg("-o")
            .args([&ptx, &optimized]);
        run(&mut llc)?;
        let text = read(&ptx)?;
        write(&key, &wanted)?;
        Ok(text)
    }

    /// Writes the part of a module that its `kernels` reach.
    fn reduce<K: AsRef<str>>(
        &self,
        module: &Path,
        kernels: &[K],
        to: &Path,
    ) -> Result<(), CudaBuilderError> {
        let public = to.with_extension("txt");
        let variables = self.variables.iter().map(String::as_str);
        let names: Vec<&str> = kernels.iter().map(AsRef::as_ref).chain(variables).collect();
        write(&public, &names.join("\n"))?;
        let mut opt = Command::new(&self.compiler.llvm.opt);
        opt.arg(format!("--passes={REDUCE}"))
            .arg(format!(
                "--internalize-public-api-file={}",
                public.display()
            ))
            .arg("-o")
            .args([to, module]);
        run(&mut opt)
    }
}

pub(crate) fn read(path: &Path) -> Result<String, CudaBuilderError> {
    fs::read_to_string(path).map_err(|error| CudaBuilderError::io("reading", path, error))
}

pub(crate) fn write(path: &Path, text: &str) -> Result<(), CudaBuilderError> {
    fs::write(path, text).map_err(|error| CudaBuilderError::io("writing", path, error))
}
