//! The GPU, by CUDA (cust).

mod details;
mod devices;
mod fault;
mod memory;
mod package;
mod prints;
mod transfers;

use std::ptr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cust::context::{Context, CurrentContext};
use cust::device::{Device, DeviceAttribute};
use cust::error::{CudaError, CudaResult};
use cust::event::{Event, EventFlags};
use cust::stream::{Stream, StreamFlags};
use cust::sys;
use trioxide_kernel::check::CHECKED;
use trioxide_kernel::launch::{DeviceId, Launch, LaunchError, Memory};

use self::fault::Faults;
use self::memory::Allocation;
use self::package::Package;
use self::transfers::FEW;
use super::touched::Touching;
use super::transfers::{Lanes, PIECE, Pinned, Staging};
use super::{Backend, Costs, CudaDevice, Details, Direction, Mark, MemoryUse, Ptx, grid_of, lock};
use crate::{Error, Result};
pub use devices::devices;

/// The context and the queue of a device. Freeing memory needs both.
struct Core {
    stream: Stream,
    /// Dropped last.
    context: Context,
}

impl Core {
    /// Makes the context current on the calling thread.
    fn enter(&self) -> CudaResult<()> {
        CurrentContext::set_current(&self.context)
    }
}

pub struct Cuda {
    id: DeviceId,
    #[cfg(feature = "checked")]
    index: u32,
    name: String,
    loaded: Mutex<Vec<Package>>,
    faults: Mutex<Faults>,
    /// Staging for copies of one piece, and for copies while the lanes are busy.
    staging: Mutex<[Staging; 2]>,
    /// Staging for numbers that the host reads while the device goes on; allocated when needed.
    ahead: Mutex<Vec<Staging>>,
    /// Created with the device, or at the first large copy.
    lanes: Mutex<Option<Lanes>>,
    pool: Pool,
    memory: Arc<MemoryUse>,
    details: Details,
    capability: (i32, i32),
    /// Most bytes of shared memory of a block.
    most_shared: usize,
    /// Time of the driver's start, and of the context's.
    start: [Duration; 2],
    /// Stream for copies that overlap the work of the core's stream.
    copies: Stream,
    version: (i32, i32),
    core: Arc<Core>,
}

/// The device's own memory pool.
struct Pool(sys::CUmemoryPool);

// SAFETY: a handle that any thread may pass to the driver.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

impl Cuda {
    pub fn new(id: DeviceId, index: u32, for_copies: bool) -> Result<Self> {
        let begin = Instant::now();
        devices::find_driver()?;
        let of_lanes = if for_copies { Lanes::bytes() } else { 0 };
        let memory = Touching::begin(2 * PIECE + of_lanes);
        let (version, devices) = devices()?;
        let driver = begin.elapsed();
        let Some(found) = devices.get(index as usize) else {
            return Err(Error::NoDevice(format!(
                "there is no CUDA device {index}: this machine has {} (see `trioxide devices`)",
                devices.len()
            )));
        };
        if found.capability < (7, 5) {
            return Err(Error::NoDevice(format!(
                "{} has compute capability {}.{}, but the kernels need 7.5 (Turing) or later: use the device cpu",
                found.name, found.capability.0, found.capability.1
            )));
        }
        if version < (11, 2) {
            return Err(Error::NoDevice(format!(
                "the CUDA driver supports CUDA {}.{}, but 11.2 or later is needed: update the driver, or use the device cpu",
                version.0, version.1
            )));
        }
        let opened = Self::open(id, index, found, version, memory);
        let mut cuda = opened.map_err(|error| match error {
            CudaError::OutOfMemory => devices::no_context(found),
            error => Error::Device {
                device: found.name.clone(),
                reason: fault::reason(error),
            },
        })?;
        cuda.start = [driver, begin.elapsed() - driver];
        Ok(cuda)
    }

    fn open(
        id: DeviceId,
        index: u32,
        found: &CudaDevice,
        version: (i32, i32),
        memory: Touching,
    ) -> CudaResult<Self> {
        let device = Device::get_device(index)?;
        let context = Context::new(device)?;
        CurrentContext::set_current(&context)?;
        let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
        let mut pool = ptr::null_mut();
        // The pool keeps freed memory for the process, so the next allocation costs nothing.
        let mut threshold = u64::MAX;
        // SAFETY: the default pool of a device; the attribute is a 64-bit number.
        unsafe {
            sys::cuDeviceGetDefaultMemPool(&mut pool, device.as_raw()).to_result()?;
            sys::cuMemPoolSetAttribute(
                pool,
                sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                (&mut threshold as *mut u64).cast(),
            )
            .to_result()?;
        }
        let mut pairs = Staging::pairs(Pinned::pieces(memory.end())?)?;
        let lanes = pairs.split_off(1);
        let staging = pairs.pop().expect("memory for a pair, and for the lanes");
        Ok(Self {
            id,
            #[cfg(feature = "checked")]
            index,
            name: format!("{} (cuda:{index})", found.name),
            loaded: Mutex::default(),
            faults: Mutex::default(),
            staging: Mutex::new(staging),
            ahead: Mutex::default(),
            lanes: Mutex::new((!lanes.is_empty()).then(|| Lanes::of(lanes))),
            pool: Pool(pool),
            memory: Arc::default(),
            details: details::details(&device),
            capability: found.capability,
            most_shared: device.get_attribute(DeviceAttribute::MaxSharedMemoryPerBlockOptin)?
                as usize,
            start: [Duration::ZERO; 2],
            copies: Stream::new(StreamFlags::NON_BLOCKING, None)?,
            version,
            core: Arc::new(Core { stream, context }),
        })
    }

    /// Runs `work` in the device's context.
    fn enter<R>(&self, work: impl FnOnce() -> CudaResult<R>) -> Result<R> {
        let run = || {
            self.core.enter()?;
            work()
        };
        run().map_err(|error| self.error(error))
    }

    fn error(&self, error: CudaError) -> Error {
        if let Some(fault) = lock(&self.faults).take() {
            return Error::Launch(fault);
        }
        let (device, reason) = (self.name.clone(), fault::reason(error));
        match error {
            CudaError::OutOfMemory => Error::NoMemory(format!("{device}: {reason}")),
            _ => Error::Device { device, reason },
        }
    }

    /// A property of the memory pool.
    fn pool_bytes(&self, attribute: sys::CUmemPool_attribute) -> CudaResult<u64> {
        let mut bytes = 0u64;
        // SAFETY: the attribute is a 64-bit number.
        unsafe {
            sys::cuMemPoolGetAttribute(self.pool.0, attribute, (&mut bytes as *mut u64).cast())
        }
        .to_result()?;
        Ok(bytes)
    }
}

impl Backend for Cuda {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn is_gpu(&self) -> bool {
        true
    }

    #[cfg(feature = "checked")]
    fn reopened(&self) -> Result<super::Device> {
        super::Device::cuda(self.index)
    }

    fn allocate(&self, bytes: usize) -> Result<(u64, Box<dyn Memory>)> {
        let bytes = bytes.max(16);
        let mut address = 0;
        self.enter(|| Ok(()))?;
        // SAFETY: allocates into `address`.
        let result =
            unsafe { sys::cuMemAllocAsync(&mut address, bytes, self.core.stream.as_inner()) };
        match result.to_result() {
            Ok(()) => {}
            Err(CudaError::OutOfMemory) => {
                return Err(Error::OutOfMemory {
                    device: self.name(),
                    needed: bytes as u64,
                    free: self.free()?,
                });
            }
            Err(error) => return Err(self.error(error)),
        }
        self.memory.add(bytes);
        let allocation = Allocation {
            address,
            bytes,
            device: self.id,
            memory: self.memory.clone(),
            core: self.core.clone(),
        };
        Ok((address, Box::new(allocation)))
    }

    fn copy_in(&self, to: u64, from: &[u8]) -> Result<()> {
        let run = || match self.lanes(from.len())? {
            // SAFETY: the buffer at `to` has `from.len()` bytes, and is freed on the same stream.
            Some(mut lanes) => unsafe {
                let lanes = lanes.as_mut().expect("made above");
                lanes.copy_in(&self.core.context, &self.core.stream, to, from)
            },
            None => self.copy_in_turn(to, from),
        };
        self.enter(run)
    }

    fn copy_out(&self, from: u64, to: &mut [u8]) -> Result<()> {
        let run = || match self.lanes(to.len())? {
            // SAFETY: the buffer at `from` has `to.len()` bytes.
            Some(mut lanes) => unsafe {
                let lanes = lanes.as_mut().expect("made above");
                lanes.copy_out(&self.core.context, &self.core.stream, from, to)
            },
            None => self.copy_out_turn(from, to),
        };
        self.enter(run)
    }

    fn copy_in_beside(&self, to: u64, from: &[u8], work: &mut dyn FnMut()) -> Result<()> {
        let run = || match self.lanes(from.len())? {
            Some(mut lanes) => {
                let lanes = lanes.as_mut().expect("made above");
                // SAFETY: the buffer at `to` has `from.len()` bytes, and is freed after the work that `beside` orders.
                self.beside(work, |context, stream| unsafe {
                    lanes.copy_in(context, stream, to, from)
                })
            }
            None => {
                work();
                self.copy_in_turn(to, from)
            }
        };
        self.enter(run)
    }

    fn copy_out_beside(&self, from: u64, to: &mut [u8], work: &mut dyn FnMut()) -> Result<()> {
        if (1..=FEW).contains(&to.len()) {
            return self.enter(|| self.copy_out_ahead(from, to, work));
        }
        let run = || match self.lanes(to.len())? {
            Some(mut lanes) => {
                let lanes = lanes.as_mut().expect("made above");
                // SAFETY: the buffer at `from` has `to.len()` bytes, and is borrowed: nobody writes it meanwhile.
                self.beside(work, |context, stream| unsafe {
                    lanes.copy_out(context, stream, from, to)
                })
            }
            None => {
                work();
                self.copy_out_turn(from, to)
            }
        };
        self.enter(run)
    }

    fn copy_unstaged(
        &self,
        device: u64,
        host: &mut [u8],
        direction: Direction,
    ) -> Option<Result<()>> {
        if let Err(error) = self.enter(|| Ok(())) {
            return Some(Err(error));
        }
        let (bytes, stream) = (host.len(), self.core.stream.as_inner());
        // SAFETY: both have the same number of bytes; the copy is waited for before they are used again.
        let copied = unsafe {
            match direction {
                Direction::ToDevice => {
                    sys::cuMemcpyHtoDAsync_v2(device, host.as_ptr().cast(), bytes, stream)
                }
                Direction::ToHost => {
                    sys::cuMemcpyDtoHAsync_v2(host.as_mut_ptr().cast(), device, bytes, stream)
                }
            }
        };
        let waited = copied
            .to_result()
            .and_then(|()| self.core.stream.synchronize());
        Some(waited.map_err(|error| self.error(error)))
    }

    fn pinned(&self, bytes: usize) -> Option<Result<Box<dyn AsMut<[u8]>>>> {
        let pinned = self.enter(|| Pinned::new(bytes));
        Some(pinned.map(|pinned| Box::new(pinned) as _))
    }

    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<()> {
        // SAFETY: both buffers have `bytes` bytes.
        self.enter(|| unsafe {
            sys::cuMemcpyDtoDAsync_v2(to, from, bytes, self.core.stream.as_inner()).to_result()
        })
    }

    fn fill(&self, at: u64, bytes: usize, word: u32) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the buffer has `bytes` bytes.
        self.enter(|| unsafe {
            sys::cuMemsetD32Async(at, word, bytes / 4, self.core.stream.as_inner()).to_result()
        })
    }

    fn load(&self, ptx: Ptx) -> Result<()> {
        let mut loaded = lock(&self.loaded);
        if !ptx.is_new(loaded.iter().map(|package| package.ptx))? {
            return Ok(());
        }
        self.enter(|| Ok(()))?;
        let package = Package::load(ptx, self.capability, &mut lock(&self.faults));
        let package = package.map_err(|error| match error {
            CudaError::InvalidPtx
            | CudaError::NoBinaryForGpu
            | CudaError::UnsupportedPtxVersion => {
                let (major, minor) = self.version;
                Error::NoDevice(format!(
                    "the CUDA driver ({major}.{minor}) cannot compile the kernels of {} ({error}): update the driver, or use \
                     the CPU",
                    ptx.package
                ))
            }
            error => self.error(error),
        })?;
        loaded.push(package);
        Ok(())
    }

    unsafe fn launch(&self, mut launch: Launch) -> Result<(), LaunchError> {
        let kernel = launch.kernel;
        let fail = |reason: String| LaunchError::Device {
            kernel: kernel.name,
            reason,
        };
        let cuda = |error: CudaError| {
            // The fault of this launch, or of an earlier one.
            let fault = lock(&self.faults).take();
            fault.unwrap_or_else(|| fail(fault::reason(error)))
        };
        launch.check_shared(self.most_shared)?;
        self.core.enter().map_err(cuda)?;
        let mut loaded = lock(&self.loaded);
        let Some(package) = loaded
            .iter_mut()
            .find(|package| package.ptx.package == kernel.package)
        else {
            return Err(LaunchError::NotLoaded {
                kernel: kernel.name,
                package: kernel.package,
            });
        };
        let mut faults = lock(&self.faults);
        let prepared = package.kernel(&launch, &mut faults);
        if let Ok((_, loaded)) = &prepared
            && let Some(name) = loaded.name_in_reports
        {
            faults.note(name);
        }
        drop(faults);
        let (function, loaded) = prepared.map_err(cuda)?;
        if let Some(prints) = &loaded.prints {
            lock(prints).begin(&loaded.module).map_err(cuda)?;
        }
        let (blocks, threads) = grid_of(&launch);
        let shared = launch.shared_bytes() as u32;
        let pointers = launch.arguments.pointers();
        // SAFETY: the arguments are the entry's, as declared; buffers are borrowed by the caller.
        unsafe {
            self.core
                .stream
                .launch(function, blocks, threads, shared, &pointers)
        }
        .map_err(cuda)?;
        // In a checked build an error belongs to its launch, and printed lines are collected after it: both wait.
        if !(CHECKED && loaded.reports) && loaded.prints.is_none() {
            return Ok(());
        }
        let ended = self.core.stream.synchronize();
        if let Some(prints) = &loaded.prints {
            lock(prints).collect(&loaded.module, &launch);
        }
        ended.map_err(cuda)
    }

    fn synchronize(&self) -> Result<()> {
        self.enter(|| self.core.stream.synchronize())
    }

    fn stream(&self) -> Option<u64> {
        Some(self.core.stream.as_inner() as u64)
    }

    unsafe fn wait_for_stream(&self, stream: u64) -> Result<()> {
        // SAFETY: a live stream of this context (the caller's promise).
        self.enter(|| unsafe { sys::cuStreamSynchronize(stream as sys::CUstream) }.to_result())
    }

    fn wait_for_all(&self) -> Result<()> {
        // SAFETY: the context was entered.
        self.enter(|| unsafe { sys::cuCtxSynchronize() }.to_result())
    }

    fn mark(&self) -> Result<Mark> {
        self.enter(|| {
            let event = Event::new(EventFlags::DEFAULT)?;
            event.record(&self.core.stream)?;
            Ok(Mark::Cuda(event))
        })
    }

    fn elapsed(&self, from: &Mark, to: &Mark) -> Result<f64> {
        match (from, to) {
            (Mark::Cuda(from), Mark::Cuda(to)) => {
                self.enter(|| to.elapsed_time_f32(from).map(f64::from))
            }
            _ => unreachable!("marks of another backend"),
        }
    }

    fn free(&self) -> Result<u64> {
        let free = || -> CudaResult<u64> {
            let (mut free, mut total) = (0usize, 0usize);
            // SAFETY: writes two numbers.
            unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) }.to_result()?;
            let reserved =
                self.pool_bytes(sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)?;
            let used =
                self.pool_bytes(sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?;
            Ok(free as u64 + reserved - used)
        };
        self.enter(free)
    }

    fn memory(&self) -> &MemoryUse {
        &self.memory
    }

    fn costs(&self) -> Costs {
        let mut costs = Costs {
            driver: self.start[0],
            context: self.start[1],
            ..Costs::default()
        };
        for package in lock(&self.loaded).iter() {
            costs.kernels += package.made_ready.time;
            costs.loaded += package.made_ready.loaded;
            costs.compiled += package.made_ready.compiled;
        }
        costs
    }

    fn details(&self) -> Details {
        self.details.clone()
    }
}
