//! Machines that run kernels: pipelines are written over [`Device`].
//!
//! A device has typed buffers, launches (through each kernel's `launch`), and named stages with timings. It uses a
//! `Backend`: the GPU by CUDA, or the CPU by rayon. Both run the same kernel bodies and give the same bits.

mod buffers;
mod choice;
mod copies;
mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
#[cfg(feature = "emulator")]
mod emulated;
mod kept;
mod laps;
mod launches;
#[cfg(feature = "cuda")]
mod machine_code;
mod open;
mod pages;
mod prints;
mod ptx;
mod sharing;
mod stages;
mod start;
#[cfg(feature = "cuda")]
mod touched;
mod traffic;
#[cfg(feature = "cuda")]
mod transfers;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytemuck::Pod;
use trioxide_kernel::launch::{Launch, LaunchError, Launcher};

use crate::{Error, Result};
pub use choice::Choice;
pub use cpu::{start_host_threads, threads};
pub use kept::Kept;
pub use laps::Laps;
pub use launches::Launched;
pub use open::cuda_devices;
pub use ptx::Ptx;
#[doc(hidden)]
pub use ptx::{Embedded, PACKAGES};
pub use stages::Stage;
pub use start::{Costs, has_cuda_driver};
pub use traffic::Traffic;
pub use trioxide_kernel::launch::{Buffer, DeviceId, Memory};

/// A set of `E` on a device, 32 members per element.
///
/// ```
/// use trioxide_device::{BitSet, Buffer, Device, collective};
/// use trioxide_kernel::Bits;
///
/// trioxide_kernel::id! {
///     /// A vertex.
///     pub struct Vertex = "vertex";
/// }
/// # fn main() -> trioxide_device::Result<()> {
/// let on = Device::cpu(None)?;
/// let far: BitSet<Vertex> = on.upload(&[Bits::new(0b1001), Bits::new(1)])?;
/// let list: Buffer<Vertex> = collective::compact(&on, &far)?;
/// assert_eq!(on.download(&list)?, [0, 3, 32].map(Vertex::new));
/// # Ok(())
/// # }
/// ```
pub type BitSet<E> = Buffer<trioxide_kernel::Bits<E>>;

pub use copies::{Copying, Direction};

/// The operations of the machine that a [`Device`] stands for. Addresses and sizes are in bytes.
trait Backend: Send + Sync {
    fn name(&self) -> String;
    fn is_gpu(&self) -> bool;
    /// A new device on the same machine.
    #[cfg(feature = "checked")]
    fn reopened(&self) -> Result<Device>;
    fn allocate(&self, bytes: usize) -> Result<(u64, Box<dyn Memory>)>;
    fn copy_in(&self, to: u64, from: &[u8]) -> Result<()>;
    fn copy_out(&self, from: u64, to: &mut [u8]) -> Result<()>;
    /// Copies in while `work` runs. Later work of the machine waits for the copy. If host and device share memory, this
    /// gains nothing.
    fn copy_in_beside(&self, to: u64, from: &[u8], work: &mut dyn FnMut()) -> Result<()> {
        work();
        self.copy_in(to, from)
    }
    /// Copies out the result of the work so far, while `work` runs.
    fn copy_out_beside(&self, from: u64, to: &mut [u8], work: &mut dyn FnMut()) -> Result<()> {
        work();
        self.copy_out(from, to)
    }
    /// Copies by the driver only, and waits; `None` if there is no driver.
    fn copy_unstaged(
        &self,
        _device: u64,
        _host: &mut [u8],
        _direction: Direction,
    ) -> Option<Result<()>> {
        None
    }
    /// Memory that a driver copies directly.
    fn pinned(&self, _bytes: usize) -> Option<Result<Box<dyn AsMut<[u8]>>>> {
        None
    }
    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<()>;
    /// Fills with a repeated word; `bytes` is a multiple of 4.
    fn fill(&self, at: u64, bytes: usize, word: u32) -> Result<()>;
    /// Loads the kernels of a package. A CPU needs nothing: the bodies are in the binary.
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    fn load(&self, _ptx: Ptx) -> Result<()> {
        Ok(())
    }
    /// # Safety
    /// The promise of [`Launcher::launch`].
    unsafe fn launch(&self, launch: Launch) -> Result<(), LaunchError>;
    fn synchronize(&self) -> Result<()>;
    /// The driver's handle of its work queue.
    fn stream(&self) -> Option<u64> {
        None
    }
    /// Makes its work wait for a queue of another package.
    ///
    /// # Safety
    /// The promise of [`Device::wait_for_stream`].
    unsafe fn wait_for_stream(&self, _stream: u64) -> Result<()> {
        Ok(())
    }
    /// Waits for all queues of the process.
    fn wait_for_all(&self) -> Result<()> {
        self.synchronize()
    }
    /// A point in the machine's work.
    fn mark(&self) -> Result<Mark>;
    /// Milliseconds between two marks, once both are reached.
    fn elapsed(&self, from: &Mark, to: &Mark) -> Result<f64>;
    /// Bytes that can still be allocated.
    fn free(&self) -> Result<u64>;
    fn memory(&self) -> &MemoryUse;
    /// Threads for the host's part of the work, if it has its own.
    fn threads(&self) -> Option<&rayon::ThreadPool> {
        None
    }
    fn details(&self) -> Details;
    fn costs(&self) -> Costs {
        Costs::default()
    }
}

/// Properties of a device; `None` if the system does not state one.
#[derive(Clone, Debug, PartialEq)]
pub struct Details {
    /// `cuda`, `cpu` or `emulated`.
    pub kind: &'static str,
    /// Versions of the driver and of its CUDA.
    pub driver: Option<String>,
    /// Highest clock of the cores, MHz; for a CPU, the current clock of its first core.
    pub core_mhz: Option<f64>,
    /// Highest clock of the memory, MHz.
    pub memory_mhz: Option<f64>,
    /// Size of its memory.
    pub memory_bytes: Option<u64>,
    /// Threads that run kernels, for a CPU.
    pub threads: Option<usize>,
}

enum Mark {
    Cpu(std::time::Instant),
    #[cfg(feature = "cuda")]
    Cuda(cust::event::Event),
}

impl Mark {
    /// Time between two moments of the clock.
    fn milliseconds(from: &Mark, to: &Mark) -> f64 {
        match (from, to) {
            (Mark::Cpu(from), Mark::Cpu(to)) => to.duration_since(*from).as_secs_f64() * 1e3,
            #[cfg(feature = "cuda")]
            _ => unreachable!("marks of another backend"),
        }
    }
}

/// Threads per block of a GPU's launch over indices.
#[cfg(any(feature = "cuda", feature = "emulator"))]
const THREADS_PER_BLOCK: u32 = 256;
/// Most blocks of a launch over indices: a thread's step to its next index still fits in 32 bits.
#[cfg(any(feature = "cuda", feature = "emulator"))]
const MOST_BLOCKS: u64 = (1 << 32) / THREADS_PER_BLOCK as u64 - 1;

/// Number of blocks, and threads per block, of a GPU's launch.
#[cfg(any(feature = "cuda", feature = "emulator"))]
fn grid_of(launch: &Launch) -> (u32, u32) {
    use trioxide_kernel::launch::Shape;
    let blocks = |threads: u32| launch.threads().div_ceil(threads.into());
    match launch.shape {
        Shape::Blocks { lanes } => (blocks(lanes) as u32, lanes),
        Shape::Each | Shape::Bits => {
            let blocks = blocks(THREADS_PER_BLOCK).min(MOST_BLOCKS);
            (blocks as u32, THREADS_PER_BLOCK)
        }
    }
}

/// Bytes allocated now, and the peak since the last reset.
#[derive(Default)]
struct MemoryUse {
    current: AtomicU64,
    peak: AtomicU64,
}

impl MemoryUse {
    fn add(&self, bytes: usize) {
        let current = self.current.fetch_add(bytes as u64, Relaxed) + bytes as u64;
        self.peak.fetch_max(current, Relaxed);
    }

    fn remove(&self, bytes: usize) {
        self.current.fetch_sub(bytes as u64, Relaxed);
    }

    fn current_and_peak(&self) -> (u64, u64) {
        let current = self.current.load(Relaxed);
        (current, self.peak.load(Relaxed).max(current))
    }
}

/// Locks a mutex. A panic elsewhere leaves no data half-changed, so a poisoned mutex is usable.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A machine that runs pipelines: a handle, cheap to clone and to send to other threads.
///
/// Clones share the machine's work queue, stages and memory. Buffers keep their memory alive after the last handle is
/// gone.
///
/// ```
/// use trioxide_device::Device;
///
/// # fn main() -> trioxide_device::Result<()> {
/// // The first GPU, or the CPU and the reason.
/// let (on, reason) = Device::auto(None)?;
/// if let Some(reason) = reason {
///     eprintln!("{reason}");
/// }
/// let values = on.upload(&[1.0, 2.0])?;
/// assert_eq!(on.download(&values)?, [1.0, 2.0]);
/// println!("{}", on.name());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Device(Arc<Machine>);

struct Machine {
    // Dropped before the backend: events must go before their context.
    stages: Mutex<stages::Stages>,
    timed: launches::Timed,
    traffic: traffic::Counter,
    launched: Mutex<BTreeSet<&'static str>>,
    prints: prints::Kept,
    kept: kept::Places,
    transferred: sharing::Transferred,
    id: DeviceId,
    backend: Box<dyn Backend>,
}

impl Drop for Machine {
    fn drop(&mut self) {
        // A GPU waits for kernels that are unloaded next, and enters the context that owns events, streams and memory.
        // A failure here means that an earlier one has been reported.
        let _ = self.backend.synchronize();
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.name())
    }
}

/// A CUDA device of this machine.
#[derive(Clone, Debug)]
pub struct CudaDevice {
    /// The number in `--device cuda:N`.
    pub index: u32,
    /// Its name, by the maker.
    pub name: String,
    /// Compute capability, major and minor.
    pub capability: (i32, i32),
    /// Bytes of its memory.
    pub memory: u64,
    /// Streaming multiprocessors.
    pub multiprocessors: i32,
}

impl Device {
    fn new(id: DeviceId, backend: Box<dyn Backend>) -> Self {
        Self(Arc::new(Machine {
            stages: Mutex::default(),
            timed: launches::Timed::default(),
            traffic: traffic::Counter::default(),
            launched: Mutex::default(),
            prints: prints::Kept::default(),
            kept: kept::Places::default(),
            transferred: sharing::Transferred::default(),
            id,
            backend,
        }))
    }

    /// Id of this device among all devices of the process. Its buffers have the same id.
    pub fn id(&self) -> DeviceId {
        self.0.id
    }

    /// The machine's name.
    pub fn name(&self) -> String {
        self.0.backend.name()
    }

    /// A new device on the same machine, with the same threads.
    ///
    /// # Errors
    /// As [`Device::cuda`] and [`Device::cpu`].
    #[cfg(feature = "checked")]
    pub fn reopened(&self) -> Result<Self> {
        self.0.backend.reopened()
    }

    /// Whether kernels run on a GPU: many blocks at once, which may wait for each other.
    pub fn is_gpu(&self) -> bool {
        self.0.backend.is_gpu()
    }

    /// Refuses a buffer of another device.
    fn check<T: Pod>(&self, buffer: &Buffer<T>) -> Result<()> {
        self.check_device(buffer.device())
    }

    #[inline(never)]
    fn check_device(&self, device: DeviceId) -> Result<()> {
        if device == self.0.id {
            return Ok(());
        }
        Err(Error::Argument(format!(
            "a buffer of another device was given to {}: download it there and upload it here",
            self.name()
        )))
    }

    /// Waits for all work so far.
    ///
    /// # Errors
    /// [`Error::Device`] when work failed.
    pub fn synchronize(&self) -> Result<()> {
        self.0.backend.synchronize()
    }

    /// Refuses work that needs more than the free memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// ```
    /// # use trioxide_device::Device;
    /// # fn main() -> trioxide_device::Result<()> {
    /// let on = Device::cpu(None)?;
    /// on.require(1 << 10)?;
    /// // No machine has this much.
    /// assert!(on.require(u64::MAX - 1).is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn require(&self, bytes: u64) -> Result<()> {
        self.with_room(|| match self.0.backend.free()? {
            free if bytes > free => Err(Error::OutOfMemory {
                device: self.name(),
                needed: bytes,
                free,
            }),
            _ => Ok(()),
        })
    }

    /// Bytes of memory that can still be allocated; `u64::MAX` if the system does not know.
    ///
    /// # Errors
    /// [`Error::Device`] when the driver does not answer.
    pub fn free_bytes(&self) -> Result<u64> {
        self.0.backend.free()
    }

    /// Runs the host's part of a pipeline, which rayon parallelizes, on the device's number of threads: a CPU's
    /// `threads`, or all cores beside a GPU.
    pub fn on_host<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match self.0.backend.threads() {
            Some(threads) => threads.install(work),
            None => work(),
        }
    }

    /// Time that the device took before its work.
    pub fn costs(&self) -> Costs {
        self.0.backend.costs()
    }

    /// Properties of the device.
    pub fn details(&self) -> Details {
        self.0.backend.details()
    }

    /// Bytes read plus written per second by a copy within the device's memory: the best of several. The bytes that a
    /// stage must move, divided by this, are its floor.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn copy_bandwidth(&self) -> Result<f64> {
        let most = match self.details().kind {
            "cuda" => 1 << 30,
            _ => 256 << 20,
        };
        let words = (self.0.backend.free()? / 8).clamp(4, most) as usize / 4;
        // Both filled: a CPU's new memory has no pages yet.
        let (from, to) = (self.filled(words, 1)?, self.filled(words, 2)?);
        let mut best = f64::INFINITY;
        for _ in 0..BANDWIDTH_RUNS {
            let start = self.0.backend.mark()?;
            self.0
                .backend
                .copy(to.address(), from.address(), from.bytes())?;
            let end = self.0.backend.mark()?;
            self.synchronize()?;
            best = best.min(self.0.backend.elapsed(&start, &end)?);
        }
        Ok(2.0 * from.bytes() as f64 / (best * 1e-3))
    }

    /// Largest number of bytes in buffers at once since the last reset.
    pub fn peak_bytes(&self) -> u64 {
        self.0.backend.memory().current_and_peak().1
    }

    /// Resets the peak.
    ///
    /// ```
    /// # use trioxide_device::Device;
    /// # fn main() -> trioxide_device::Result<()> {
    /// let on = Device::cpu(None)?;
    /// drop(on.filled(1000, 0)?);
    /// assert!(on.peak_bytes() >= 4000);
    /// on.reset_peak();
    /// assert_eq!(on.peak_bytes(), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn reset_peak(&self) {
        let memory = self.0.backend.memory();
        memory.peak.store(memory.current.load(Relaxed), Relaxed);
    }

    /// Names of the PTX entries launched so far.
    ///
    /// ```
    /// # use trioxide_device::Device;
    /// use trioxide_device::collective;
    /// # fn main() -> trioxide_device::Result<()> {
    /// let on = Device::cpu(None)?;
    /// collective::exclusive_scan(&on, &mut on.filled(100, 1)?)?;
    /// assert!(on.launched().contains("scan_sums"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn launched(&self) -> BTreeSet<&'static str> {
        lock(&self.0.launched).clone()
    }
}

/// Copies timed by [`Device::copy_bandwidth`].
const BANDWIDTH_RUNS: u32 = 8;

impl Launcher for Device {
    unsafe fn launch(&self, mut launch: Launch) -> Result<(), LaunchError> {
        launch.check_device(self.0.id)?;
        self.0.prints.keep(&mut launch);
        lock(&self.0.launched).insert(launch.kernel.entry);
        if launch.n == 0 {
            return Ok(());
        }
        let moves = launch.moves;
        // SAFETY: the caller's promise; the arrays are this device's.
        unsafe { self.0.timed.launch(&*self.0.backend, launch) }?;
        self.0.traffic.launched(moves);
        Ok(())
    }
}
