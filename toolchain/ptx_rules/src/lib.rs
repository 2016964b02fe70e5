//! PTX as text: the rules for kernels, and one file for each family of kernels.
//!
//! ```
//! use ptx_rules::{Build, Exceptions, review};
//!
//! let ptx = ".version 6.3\n.visible .entry scale(\n)\n{\n\tfma.rn.f64 %rd1, %rd2, %rd3, %rd4;\n}\n";
//! let report = review("scale.ptx", ptx, Build::Plain, &Exceptions::default()).unwrap_err();
//! assert!(report.contains("scale.ptx:5: scale: fma.rn.f64"));
//! ```
//!
//! Equal bits on CPU and GPU need IEEE operations that ptxas leaves unchanged: it fuses `mul.f64` and `add.f64` to an
//! fma, but never the `.rn` forms. Speed needs loads and stores with an address space, no stack, no calls and no
//! checks. Each [`Rule`] has the mistake and the remedy.
//!
//! The crate depends on nothing and runs no compiler, so any crate with kernels can use it in a test or a build script.

mod families;
mod module;
mod rules;

pub use families::{
    declared_kernels, family_of, join, join_directory, merge, read_families, split,
};
pub use module::{Item, Kind, Module};
pub use rules::{Build, Exception, Exceptions, FAULT, Finding, PRINTS, Rule, check, review};

/// The names of the kernels in a PTX text, in its order.
pub fn entries(ptx: &str) -> Vec<&str> {
    let kernels = Module::parse(ptx).items;
    let kernels = kernels.into_iter().filter(|item| item.kind == Kind::Entry);
    kernels.map(|item| item.name).collect()
}
