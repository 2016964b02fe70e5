//! The kernels of a package on a device: embedded machine code, or PTX that the driver compiles at the first launch.
//!
//! The driver takes about 30 ms for a kernel that is not in its cache, and always loads whole modules. A run launches
//! 10 to 60 of 300 kernels. So a family of kernels is one module of machine code. Without machine code each kernel is a
//! module of its own, cut out of the package's PTX.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cust::error::{CudaError, CudaResult};
use cust::function::Function;
use cust::module::Module;
use trioxide_kernel::block::SHARED_EVERYWHERE;
use trioxide_kernel::launch::Launch;

use super::fault::Faults;
use super::prints::Prints;
use crate::device::Ptx;

/// The kernels of a package.
pub struct Package {
    pub ptx: Ptx,
    source: Option<ptx_rules::Module<'static>>,
    capability: (i32, i32),
    /// Whether the driver has refused the binary's machine code.
    is_refused: bool,
    kernels: Vec<Kernel>,
    /// Index of the kernel of each entry.
    places: HashMap<&'static str, usize>,
    pub made_ready: MadeReady,
}

/// Work on modules so far.
#[derive(Clone, Copy, Default)]
pub struct MadeReady {
    /// Kernels that were loaded as machine code.
    pub loaded: usize,
    /// Kernels that the driver compiled or found in its cache.
    pub compiled: usize,
    pub time: Duration,
}

/// A kernel that can be launched.
pub struct Kernel {
    /// The driver's handle, from the first launch on: each lookup would take a part of a launch's time.
    function: Option<Function<'static>>,
    pub module: Arc<Module>,
    /// Whether it may report wrong indices.
    pub reports: bool,
    /// How its reports name it, from the first launch on; `None` if it reports nothing.
    pub name_in_reports: Option<u32>,
    /// Memory of its printed lines, if it prints.
    pub prints: Option<Mutex<Prints>>,
}

impl Package {
    /// Loads the first kernel, so that an error of the PTX appears here. Uses the current context.
    pub fn load(ptx: Ptx, capability: (i32, i32), faults: &mut Faults) -> CudaResult<Self> {
        let mut package = Self {
            ptx,
            source: None,
            capability,
            is_refused: false,
            kernels: Vec::new(),
            places: HashMap::new(),
            made_ready: MadeReady::default(),
        };
        if package.has_machine_code() {
            return Ok(package);
        }
        let first = package.source().entries().next().map(|item| item.name);
        package.make_ready(first.ok_or(CudaError::InvalidPtx)?, faults)?;
        Ok(package)
    }

    fn has_machine_code(&self) -> bool {
        self.ptx.has_machine_code_for(self.capability)
    }

    fn source(&mut self) -> &ptx_rules::Module<'static> {
        self.source
            .get_or_insert_with(|| ptx_rules::Module::parse(self.ptx.text))
    }

    /// The kernel of a launch and its handle. The first call loads or compiles it, in the current context.
    pub fn kernel(
        &mut self,
        launch: &Launch,
        faults: &mut Faults,
    ) -> CudaResult<(&Function<'static>, &Kernel)> {
        let entry = launch.kernel.entry;
        let place = match self.places.get(entry) {
            Some(&place) => place,
            None => self.make_ready(entry, faults)?,
        };
        let kernel = &mut self.kernels[place];
        if kernel.function.is_none() {
            let function = kernel.module.get_function(entry)?;
            let shared = launch.shared_bytes();
            if shared > SHARED_EVERYWHERE {
                function.set_max_dynamic_shared_memory(shared as u32)?;
            }
            // SAFETY: the kernel keeps the handle's module alive, and the handle leaves the package only borrowed.
            let function =
                unsafe { std::mem::transmute::<Function<'_>, Function<'static>>(function) };
            kernel.function = Some(function);
            if kernel.reports {
                kernel.name_in_reports = Some(faults.know(launch));
            }
        }
        let kernel = &*kernel;
        let function = kernel.function.as_ref().ok_or(CudaError::NotFound)?;
        Ok((function, kernel))
    }

    /// Loads or compiles the kernel of an entry, and returns its index.
    fn make_ready(&mut self, entry: &'static str, faults: &mut Faults) -> CudaResult<usize> {
        let start = Instant::now();
        if !self.load_machine_code(entry, faults)? {
            self.compile(entry, faults)?;
        }
        self.made_ready.time += start.elapsed();
        self.places.get(entry).copied().ok_or(CudaError::NotFound)
    }

    fn add(&mut self, entry: &'static str, kernel: Kernel) {
        self.places.insert(entry, self.kernels.len());
        self.kernels.push(kernel);
    }

    /// Loads the family of an entry. Returns false if the binary has no machine code for this device, or the driver is
    /// older than the machine code: then the driver compiles the kernel.
    fn load_machine_code(&mut self, entry: &'static str, faults: &mut Faults) -> CudaResult<bool> {
        if self.is_refused || !self.has_machine_code() {
            return Ok(false);
        }
        let Some((kernels, code)) = self.ptx.module_of(entry, self.capability) else {
            return Ok(false);
        };
        let Ok(module) = Module::from_cubin(&code) else {
            self.is_refused = true;
            return Ok(false);
        };
        let reports = Faults::are_in(&code);
        if reports {
            faults.give_to(&module)?;
        }
        let module = Arc::new(module);
        self.made_ready.loaded += kernels.len();
        for name in kernels {
            let module = module.clone();
            let kernel = Kernel {
                function: None,
                module,
                reports,
                name_in_reports: None,
                prints: None,
            };
            self.add(name, kernel);
        }
        Ok(true)
    }

    fn compile(&mut self, entry: &'static str, faults: &mut Faults) -> CudaResult<()> {
        let text = self.source().cut(entry).ok_or(CudaError::NotFound)?;
        let module = Module::from_ptx(&text, &[])?;
        let reports = Faults::are_in(text.as_bytes());
        if reports {
            faults.give_to(&module)?;
        }
        let prints = Prints::of(&text, &module)?.map(Mutex::new);
        let module = Arc::new(module);
        let kernel = Kernel {
            function: None,
            module,
            reports,
            name_in_reports: None,
            prints,
        };
        self.add(entry, kernel);
        self.made_ready.compiled += 1;
        Ok(())
    }
}
