//! An emulated GPU: an emulator runs the kernels' PTX on the CPU.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use ptx_emulator::{Array, Emulator, Kernels};
use trioxide_kernel::fault::{FAULT_SYMBOL, Fault};
use trioxide_kernel::launch::{DeviceId, Launch, LaunchError, Memory};
use trioxide_kernel::print::{Header, MOST_PRINTS, PRINTS_SYMBOL, Record};

use super::{Backend, Details, Mark, MemoryUse, Ptx, grid_of, lock};
use crate::{Error, Result};

pub struct Emulated {
    id: DeviceId,
    is_checked: bool,
    /// Bytes of shared memory of a block.
    most_shared: usize,
    emulator: Arc<Emulator>,
    memory: Arc<MemoryUse>,
    packages: Mutex<Vec<Package>>,
}

/// The kernels of a package.
struct Package {
    ptx: Ptx,
    text: ptx_rules::Module<'static>,
    /// The kernels launched so far, each as a module of its own.
    kernels: HashMap<&'static str, Loaded>,
}

#[derive(Clone)]
struct Loaded {
    kernels: Arc<Kernels>,
    /// Address that a checked build reports wrong indices to.
    fault: Option<u64>,
    prints: Option<Prints>,
}

/// Memory of printed lines: addresses of the variable with the header, and of the records.
#[derive(Clone, Copy)]
struct Prints {
    header: u64,
    records: u64,
}

/// Bytes of the records.
const RECORDS: usize = MOST_PRINTS * size_of::<Record>();

impl Prints {
    fn new(emulator: &Emulator, header: u64) -> Option<Self> {
        let records = emulator.allocate(RECORDS)?;
        // SAFETY: just allocated.
        unsafe { (records as *mut u8).write_bytes(0, RECORDS) };
        Some(Self { header, records })
    }

    /// Prepares for a launch.
    fn clear(self) {
        let header = Header {
            records: self.records,
            most: MOST_PRINTS as u32,
            count: 0,
        };
        // SAFETY: the variable of the kernel's module, which is a header.
        unsafe { (self.header as *mut Header).write(header) };
    }

    /// Takes the lines that the launch has printed.
    fn collect(self, launch: &Launch) {
        // SAFETY: as above; the launch has ended.
        let Header { count, .. } = unsafe { (self.header as *const Header).read() };
        let kept = MOST_PRINTS.min(count as usize);
        // SAFETY: records, zeroed when they were allocated; nobody else uses them now.
        let records = unsafe { std::slice::from_raw_parts_mut(self.records as *mut Record, kept) };
        launch.take_prints(records, count.into());
    }
}

impl Emulated {
    pub fn new(id: DeviceId, is_checked: bool, most_shared: usize) -> Self {
        Self {
            id,
            is_checked,
            most_shared,
            emulator: Arc::new(Emulator::new(is_checked)),
            memory: Arc::default(),
            packages: Mutex::default(),
        }
    }

    /// The kernel of an entry, ready to be launched.
    fn kernel(&self, launch: &Launch) -> Result<Loaded, LaunchError> {
        let kernel = launch.kernel;
        let fail = |reason: String| LaunchError::Device {
            kernel: kernel.name,
            reason,
        };
        let mut packages = lock(&self.packages);
        let package = packages
            .iter_mut()
            .find(|package| package.ptx.package == kernel.package);
        let Some(package) = package else {
            return Err(LaunchError::NotLoaded {
                kernel: kernel.name,
                package: kernel.package,
            });
        };
        if !package.kernels.contains_key(kernel.entry) {
            let text = package.text.cut(kernel.entry);
            let text = text.ok_or_else(|| fail(format!("{} is not in the PTX", kernel.entry)))?;
            let kernels = self.emulator.load(&text).map_err(fail)?;
            let fault = match kernels.variable(FAULT_SYMBOL) {
                Some((variable, _)) => {
                    let place = self.emulator.allocate(size_of::<Fault>());
                    let place = place.ok_or_else(|| fail("no memory for faults".to_owned()))?;
                    // SAFETY: memory of a fault, and a variable that is its address.
                    unsafe {
                        (place as *mut Fault).write(Fault::default());
                        (variable as *mut u64).write(place);
                    }
                    Some(place)
                }
                None => None,
            };
            let prints = match kernels.variable(PRINTS_SYMBOL) {
                Some((header, _)) => {
                    let prints = Prints::new(&self.emulator, header);
                    Some(prints.ok_or_else(|| fail("no memory for prints".to_owned()))?)
                }
                None => None,
            };
            let loaded = Loaded {
                kernels: Arc::new(kernels),
                fault,
                prints,
            };
            package.kernels.insert(kernel.entry, loaded);
        }
        Ok(package.kernels[kernel.entry].clone())
    }
}

struct Allocation {
    address: u64,
    bytes: usize,
    device: DeviceId,
    emulator: Arc<Emulator>,
    memory: Arc<MemoryUse>,
}

impl Memory for Allocation {
    fn device(&self) -> DeviceId {
        self.device
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.memory.remove(self.bytes);
        // SAFETY: allocated by this emulator, and its buffer is gone.
        unsafe { self.emulator.free(self.address) };
    }
}

impl Backend for Emulated {
    fn name(&self) -> String {
        match self.is_checked {
            true => "emulated GPU, checked".to_owned(),
            false => "emulated GPU".to_owned(),
        }
    }

    fn is_gpu(&self) -> bool {
        true
    }

    #[cfg(feature = "checked")]
    fn reopened(&self) -> Result<super::Device> {
        super::Device::emulated_with(self.is_checked, self.most_shared)
    }

    fn allocate(&self, bytes: usize) -> Result<(u64, Box<dyn Memory>)> {
        let bytes = bytes.max(16);
        let Some(address) = self.emulator.allocate(bytes) else {
            return Err(Error::OutOfMemory {
                device: self.name(),
                needed: bytes as u64,
                free: self.free()?,
            });
        };
        self.memory.add(bytes);
        let allocation = Allocation {
            address,
            bytes,
            device: self.id,
            emulator: self.emulator.clone(),
            memory: self.memory.clone(),
        };
        Ok((address, Box::new(allocation)))
    }

    fn copy_in(&self, to: u64, from: &[u8]) -> Result<()> {
        // SAFETY: a buffer of at least `from.len()` bytes, borrowed mutably by the caller.
        unsafe { (to as *mut u8).copy_from(from.as_ptr(), from.len()) };
        self.emulator.mark_written(to, from.len());
        Ok(())
    }

    fn copy_out(&self, from: u64, to: &mut [u8]) -> Result<()> {
        // SAFETY: a buffer of at least `to.len()` bytes, borrowed by the caller.
        unsafe { to.as_mut_ptr().copy_from(from as *const u8, to.len()) };
        Ok(())
    }

    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<()> {
        // SAFETY: both buffers have `bytes` bytes.
        unsafe { (to as *mut u8).copy_from(from as *const u8, bytes) };
        self.emulator.mark_copied(to, from, bytes);
        Ok(())
    }

    fn fill(&self, at: u64, bytes: usize, word: u32) -> Result<()> {
        // SAFETY: a buffer of `bytes` bytes, borrowed mutably by the caller; any bits are words.
        unsafe { std::slice::from_raw_parts_mut(at as *mut u32, bytes / 4) }.fill(word);
        self.emulator.mark_written(at, bytes);
        Ok(())
    }

    fn load(&self, ptx: Ptx) -> Result<()> {
        let mut packages = lock(&self.packages);
        if !ptx.is_new(packages.iter().map(|package| package.ptx))? {
            return Ok(());
        }
        packages.push(Package {
            ptx,
            text: ptx_rules::Module::parse(ptx.text),
            kernels: HashMap::new(),
        });
        Ok(())
    }

    unsafe fn launch(&self, mut launch: Launch) -> Result<(), LaunchError> {
        launch.check_shared(self.most_shared)?;
        let Loaded {
            kernels,
            fault,
            prints,
        } = self.kernel(&launch)?;
        let (blocks, threads) = grid_of(&launch);
        let mut arrays: Vec<Array> = launch.arguments.arrays().iter().map(array_of).collect();
        if let Some(address) = fault {
            arrays.push(Array {
                name: "the report of a fault",
                address,
                len: 1,
                bytes: size_of::<Fault>() as u64,
            });
        }
        if let Some(prints) = prints {
            prints.clear();
            arrays.push(Array {
                name: "the prints",
                address: prints.records,
                len: MOST_PRINTS as u64,
                bytes: RECORDS as u64,
            });
        }
        let pointers = launch.arguments.pointers();
        let run = ptx_emulator::Launch {
            entry: launch.kernel.entry,
            blocks,
            threads,
            shared_bytes: launch.shared_bytes() as u32,
            parameters: &pointers,
            arrays: &arrays,
        };
        // SAFETY: the arguments are the entry's, as declared; buffers are borrowed by the caller, and are this
        // device's.
        let ran = unsafe { self.emulator.launch(&kernels, &run) };
        if let Some(prints) = prints {
            prints.collect(&launch);
        }
        ran.map_err(|wrong| {
            // SAFETY: memory of a fault; the launch has ended.
            let reported =
                fault.map(|place| unsafe { (place as *mut Fault).replace(Fault::default()) });
            match reported.filter(|fault| fault.is_set != 0) {
                Some(fault) => launch.named().describe(&fault, wrong.place),
                None => LaunchError::Device {
                    kernel: launch.kernel.name,
                    reason: wrong.text,
                },
            }
        })
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn mark(&self) -> Result<Mark> {
        Ok(Mark::Cpu(Instant::now()))
    }

    fn elapsed(&self, from: &Mark, to: &Mark) -> Result<f64> {
        Ok(Mark::milliseconds(from, to))
    }

    fn free(&self) -> Result<u64> {
        Ok(trioxide_work::memory::available().unwrap_or(u64::MAX))
    }

    fn memory(&self) -> &MemoryUse {
        &self.memory
    }

    fn details(&self) -> Details {
        Details {
            kind: "emulated",
            driver: None,
            core_mhz: None,
            memory_mhz: None,
            memory_bytes: None,
            threads: None,
        }
    }
}

/// An array with the length that the launch declares, not with its buffer's capacity.
fn array_of(array: &trioxide_kernel::launch::Array) -> Array {
    Array {
        name: array.name,
        address: array.address(),
        len: array.len,
        bytes: array.bytes,
    }
}
