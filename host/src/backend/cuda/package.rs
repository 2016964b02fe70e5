//! The kernels of a package on a device. The driver compiles each when it is first launched.
//!
//! The driver takes about 30 ms for a kernel that its cache lacks, and loads a module whole. A run launches 10 to 60 of
//! trioxide's 300 kernels: so each kernel is a module of its own, cut out of the package's PTX.

use std::collections::HashMap;
use std::sync::Mutex;

use cust::error::{CudaError, CudaResult};
use cust::module::Module;

use super::fault;
use crate::backend::Ptx;
use crate::backend::transfers::Pinned;

/// The kernels of a package.
pub struct Package {
    pub ptx: Ptx,
    source: ptx_rules::Module<'static>,
    kernels: HashMap<&'static str, Kernel>,
}

/// A compiled kernel.
pub struct Kernel {
    pub module: Module,
    /// Where the kernel of a checked build reports bad indices.
    pub fault: Option<Mutex<Pinned>>,
}

impl Package {
    /// Reads the PTX and compiles its first kernel, so that PTX which the driver refuses is an error here, in the current
    /// context.
    pub fn load(ptx: Ptx) -> CudaResult<Self> {
        let source = ptx_rules::Module::parse(ptx.text);
        let first = source.entries().next().map(|item| item.name);
        let mut package = Self {
            ptx,
            source,
            kernels: HashMap::new(),
        };
        package.kernel(first.ok_or(CudaError::InvalidPtx)?)?;
        Ok(package)
    }

    /// The kernel of an entry. The first call compiles it, in the current context.
    pub fn kernel(&mut self, entry: &'static str) -> CudaResult<&Kernel> {
        if !self.kernels.contains_key(entry) {
            let text = self.source.cut(entry).ok_or(CudaError::NotFound)?;
            let module = Module::from_ptx(&text, &[])?;
            let fault = fault::fault_of(&text, &module)?.map(Mutex::new);
            self.kernels.insert(entry, Kernel { module, fault });
        }
        Ok(&self.kernels[entry])
    }
}
