//! Machines that run kernels: [`Device`] is what pipelines are written over.
//!
//! A device has typed buffers, launches (through each kernel's `launch`), and named stages with timings. Behind it stands
//! a [`Backend`]: the GPU by CUDA, or the CPU by rayon. Both run the same kernel bodies and give the same bits.

mod copies;
mod cpu;
mod cuda;
mod driver;
mod launches;
mod transfers;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use bytemuck::Pod;
use gpu::launch::{Buffer, Launch, LaunchError, Launcher, Memory};

use crate::{Error, Result};
pub use launches::Launched;

pub use copies::{Copying, Way};

/// What a machine does for a [`Device`]. Addresses and sizes are in bytes.
trait Backend {
    fn name(&self) -> String;
    fn is_gpu(&self) -> bool;
    fn allocate(&self, bytes: usize) -> Result<(u64, Box<dyn Memory>)>;
    fn copy_in(&self, to: u64, from: &[u8]) -> Result<()>;
    fn copy_out(&self, from: u64, to: &mut [u8]) -> Result<()>;
    /// Copies in while `work` runs; what comes later in the machine's work finds the copy done. On one machine's memory there is
    /// nothing to be gained by that.
    fn copy_in_beside(&self, to: u64, from: &[u8], work: &mut dyn FnMut()) -> Result<()> {
        work();
        self.copy_in(to, from)
    }
    /// Copies out what the work so far left, while `work` runs.
    fn copy_out_beside(&self, from: u64, to: &mut [u8], work: &mut dyn FnMut()) -> Result<()> {
        work();
        self.copy_out(from, to)
    }
    /// As the driver copies by itself, waited for; `None` where there is no driver.
    fn copy_unstaged(&self, _device: u64, _host: &mut [u8], _way: Way) -> Option<Result<()>> {
        None
    }
    /// Memory that a driver copies from and to directly.
    fn pinned(&self, _bytes: usize) -> Option<Result<transfers::Pinned>> {
        None
    }
    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<()>;
    /// Fills with a repeated word; `bytes` is a multiple of 4.
    fn fill(&self, at: u64, bytes: usize, word: u32) -> Result<()>;
    fn launch(&self, launch: Launch<'_>) -> Result<(), LaunchError>;
    fn synchronize(&self) -> Result<()>;
    /// A point in the machine's work.
    fn mark(&self) -> Result<Mark>;
    /// Milliseconds between two marks, once both are reached.
    fn elapsed(&self, from: &Mark, to: &Mark) -> Result<f64>;
    /// Bytes that can still be allocated.
    fn free(&self) -> Result<u64>;
    fn memory(&self) -> &MemoryUse;
    /// Threads for the host's part of the work, where it has its own.
    fn threads(&self) -> Option<&rayon::ThreadPool> {
        None
    }
    fn details(&self) -> Details;
}

/// What a device is made of; `None` where the system does not say.
#[derive(Clone, Debug, PartialEq)]
pub struct Details {
    /// `cuda` or `cpu`.
    pub kind: &'static str,
    /// Versions of the driver and of its CUDA.
    pub driver: Option<String>,
    /// Highest clock of the cores, MHz; of a CPU, the present clock of its first core.
    pub core_mhz: Option<f64>,
    /// Highest clock of the memory, MHz.
    pub memory_mhz: Option<f64>,
    /// All of its memory.
    pub memory_bytes: Option<u64>,
    /// Threads that run kernels, of a CPU.
    pub threads: Option<usize>,
}

enum Mark {
    Cpu(std::time::Instant),
    Cuda(cust::event::Event),
}

/// Bytes allocated now, and the most since the last reset.
#[derive(Default)]
struct MemoryUse {
    current: Cell<u64>,
    peak: Cell<u64>,
}

impl MemoryUse {
    fn add(&self, bytes: usize) {
        self.current.set(self.current.get() + bytes as u64);
        self.peak.set(self.peak.get().max(self.current.get()));
    }

    fn remove(&self, bytes: usize) {
        self.current.set(self.current.get() - bytes as u64);
    }
}

/// Which machine to use: `auto`, `cuda`, `cuda:N`, `cpu`, `serial`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The GPU where there is one, else the CPU.
    #[default]
    Auto,
    /// The GPU with this index.
    Cuda(u32),
    /// All cores, or `--threads` of them.
    Cpu,
    /// The papers' sequential algorithms, for comparison.
    Serial,
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Choice::Auto),
            "cuda" => Ok(Choice::Cuda(0)),
            "cpu" => Ok(Choice::Cpu),
            "serial" => Ok(Choice::Serial),
            _ => text
                .strip_prefix("cuda:")
                .and_then(|index| index.parse().ok())
                .map(Choice::Cuda)
                .ok_or_else(|| "expected auto, cuda, cuda:N, cpu or serial".to_owned()),
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Auto => f.write_str("auto"),
            Choice::Cuda(index) => write!(f, "cuda:{index}"),
            Choice::Cpu => f.write_str("cpu"),
            Choice::Serial => f.write_str("serial"),
        }
    }
}

/// Time of a named stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// What it did.
    pub name: &'static str,
    /// How long it took: between events on a GPU, by the clock on a CPU.
    pub milliseconds: f64,
}

/// A machine that runs pipelines.
pub struct Device {
    // Before the backend: events go before their context.
    stages: RefCell<Vec<(&'static str, Mark, Mark)>>,
    timed: launches::Timed,
    launched: RefCell<BTreeSet<&'static str>>,
    backend: Box<dyn Backend>,
}

/// A CUDA device of this machine.
#[derive(Clone, Debug)]
pub struct CudaDevice {
    /// For `--device cuda:N`.
    pub index: u32,
    /// The maker's name.
    pub name: String,
    /// Compute capability, major and minor.
    pub capability: (i32, i32),
    /// Bytes.
    pub memory: u64,
    /// Streaming multiprocessors.
    pub multiprocessors: i32,
}

/// The CUDA devices of this machine, and the driver's CUDA version (major, minor).
///
/// # Errors
/// [`Error::NoDevice`] when there is no driver, no device, or the driver refuses to start: the message says which.
pub fn cuda_devices() -> Result<((i32, i32), Vec<CudaDevice>)> {
    cuda::devices()
}

/// Whether the PTX in this binary was built from the sources or is the one checked in.
pub fn ptx_origin() -> &'static str {
    cuda::PTX_ORIGIN
}

/// The PTX in this binary.
pub fn ptx() -> &'static str {
    cuda::PTX
}

impl Device {
    /// The CPU, by `threads` threads (all cores for `None`).
    ///
    /// # Errors
    /// [`Error::Argument`] when the threads cannot be started.
    pub fn cpu(threads: Option<usize>) -> Result<Self> {
        Ok(Self::new(Box::new(cpu::Cpu::new(threads)?)))
    }

    /// CUDA device `index`.
    ///
    /// # Errors
    /// [`Error::NoDevice`] when there is no driver or no such device, or the driver is too old for the kernels.
    pub fn cuda(index: u32) -> Result<Self> {
        Ok(Self::new(Box::new(cuda::Cuda::new(index)?)))
    }

    /// CUDA device 0, or the CPU and the reason why not.
    ///
    /// # Errors
    /// As [`Device::cpu`].
    pub fn auto(threads: Option<usize>) -> Result<(Self, Option<String>)> {
        match Self::cuda(0) {
            Ok(device) => Ok((device, None)),
            Err(reason) => Ok((Self::cpu(threads)?, Some(reason.to_string()))),
        }
    }

    fn new(backend: Box<dyn Backend>) -> Self {
        Self {
            backend,
            stages: RefCell::default(),
            timed: launches::Timed::default(),
            launched: RefCell::default(),
        }
    }

    /// The machine's name.
    pub fn name(&self) -> String {
        self.backend.name()
    }

    /// Whether kernels run on a GPU: many blocks at once, which may wait for each other.
    pub fn is_gpu(&self) -> bool {
        self.backend.is_gpu()
    }

    /// A buffer with unspecified content.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn uninitialized<T: Pod>(&self, len: usize) -> Result<Buffer<T>> {
        let (address, memory) = self.backend.allocate(len * size_of::<T>())?;
        // SAFETY: the backend's new allocation, aligned to at least 16 bytes.
        Ok(unsafe { Buffer::from_raw(address, len, memory) })
    }

    /// A buffer of `len` times `word`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn filled(&self, len: usize, word: u32) -> Result<Buffer<u32>> {
        let buffer = self.uninitialized(len)?;
        self.backend.fill(buffer.address(), buffer.bytes(), word)?;
        Ok(buffer)
    }

    /// Fills `buffer` with `word` from element `first` on.
    ///
    /// # Errors
    /// [`Error::Device`] when work before failed.
    pub fn fill_from(&self, buffer: &mut Buffer<u32>, first: usize, word: u32) -> Result<()> {
        let skipped = first * size_of::<u32>();
        let bytes = buffer.bytes() - skipped;
        self.backend
            .fill(buffer.address() + skipped as u64, bytes, word)
    }

    /// A buffer with the content of `data`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn upload<T: Pod>(&self, data: &[T]) -> Result<Buffer<T>> {
        self.upload_with_capacity(data, data.len())
    }

    /// A buffer with the content of `data` and memory for `capacity` elements.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn upload_with_capacity<T: Pod>(&self, data: &[T], capacity: usize) -> Result<Buffer<T>> {
        let mut buffer = self.uninitialized(capacity.max(data.len()))?;
        buffer.set_len(data.len());
        self.backend
            .copy_in(buffer.address(), bytemuck::cast_slice(data))?;
        Ok(buffer)
    }

    /// Makes `buffer` longer or shorter; new elements have unspecified content. What does not fit its memory moves, with room
    /// for a quarter more.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn resize<T: Pod>(&self, buffer: &mut Buffer<T>, len: usize) -> Result<()> {
        if len > buffer.capacity() {
            *buffer = self.moved(buffer, len + len / 4)?;
        }
        buffer.set_len(len);
        Ok(())
    }

    /// A copy of `buffer` in memory for `capacity` elements.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn moved<T: Pod>(&self, buffer: &Buffer<T>, capacity: usize) -> Result<Buffer<T>> {
        let mut copy = self.uninitialized(capacity.max(buffer.len()))?;
        self.backend
            .copy(copy.address(), buffer.address(), buffer.bytes())?;
        copy.set_len(buffer.len());
        Ok(copy)
    }

    /// A copy of `buffer` on the same machine.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn duplicate<T: Pod>(&self, buffer: &Buffer<T>) -> Result<Buffer<T>> {
        self.moved(buffer, buffer.len())
    }

    /// A copy of `buffer` on the same machine with another length: cut off, or with unspecified content behind its end.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn resized<T: Pod>(&self, buffer: &Buffer<T>, len: usize) -> Result<Buffer<T>> {
        let copy = self.uninitialized(len)?;
        let bytes = buffer.bytes().min(copy.bytes());
        if bytes > 0 {
            self.backend.copy(copy.address(), buffer.address(), bytes)?;
        }
        Ok(copy)
    }

    /// The content of `buffer`. Waits for the work before.
    ///
    /// # Errors
    /// [`Error::Device`] when that work failed.
    pub fn download<T: Pod>(&self, buffer: &Buffer<T>) -> Result<Vec<T>> {
        self.download_rows(buffer)
    }

    /// The content of `buffer` as rows of several elements each.
    ///
    /// # Errors
    /// As [`Device::download`].
    pub fn download_rows<T: Pod, R: Pod>(&self, buffer: &Buffer<T>) -> Result<Vec<R>> {
        let mut data = new_rows::<R>(buffer.bytes() / size_of::<R>());
        self.backend
            .copy_out(buffer.address(), bytemuck::cast_slice_mut(&mut data))?;
        Ok(data)
    }

    /// Element `i` of `buffer`. Waits for the work before.
    ///
    /// # Errors
    /// [`Error::Device`] when that work failed.
    pub fn read<T: Pod>(&self, buffer: &Buffer<T>, i: usize) -> Result<T> {
        assert!(i < buffer.len(), "{i} of {}", buffer.len());
        let mut value = [T::zeroed()];
        self.backend.copy_out(
            buffer.address() + (i * size_of::<T>()) as u64,
            bytemuck::cast_slice_mut(&mut value),
        )?;
        Ok(value[0])
    }

    /// Waits for all work.
    ///
    /// # Errors
    /// [`Error::Device`] when it failed.
    pub fn synchronize(&self) -> Result<()> {
        self.backend.synchronize()
    }

    /// Runs `work` as a named stage.
    ///
    /// # Errors
    /// Those of `work`.
    pub fn stage<R>(&self, name: &'static str, work: impl FnOnce() -> Result<R>) -> Result<R> {
        let from = self.backend.mark()?;
        let result = work()?;
        let to = self.backend.mark()?;
        self.stages.borrow_mut().push((name, from, to));
        Ok(result)
    }

    /// The stages since the last call; stages of the same name are added up, in the order of their first run.
    ///
    /// # Errors
    /// [`Error::Device`] when their work failed.
    pub fn take_stages(&self) -> Result<Vec<Stage>> {
        self.synchronize()?;
        let mut stages: Vec<Stage> = Vec::new();
        for (name, from, to) in self.stages.take() {
            let milliseconds = self.backend.elapsed(&from, &to)?;
            match stages.iter_mut().find(|stage| stage.name == name) {
                Some(stage) => stage.milliseconds += milliseconds,
                None => stages.push(Stage { name, milliseconds }),
            }
        }
        Ok(stages)
    }

    /// Refuses work that needs more than the free memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn require(&self, bytes: u64) -> Result<()> {
        let free = self.backend.free()?;
        if bytes > free {
            return Err(Error::OutOfMemory {
                device: self.name(),
                needed: bytes,
                free,
            });
        }
        Ok(())
    }

    /// Bytes of memory that can still be taken; where the system does not say, `u64::MAX`.
    ///
    /// # Errors
    /// [`Error::Device`] when the driver does not say.
    pub fn free_bytes(&self) -> Result<u64> {
        self.backend.free()
    }

    /// Runs the host's part of a pipeline, which rayon spreads, by as many threads as the device was given: a CPU's `threads`,
    /// all cores beside a GPU.
    pub fn on_host<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match self.backend.threads() {
            Some(threads) => threads.install(work),
            None => work(),
        }
    }

    /// What the device is made of.
    pub fn details(&self) -> Details {
        self.backend.details()
    }

    /// Bytes read plus written in a second by a copy within the device's memory: the best of several. What a stage must move,
    /// divided by this, is its floor.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn copy_bandwidth(&self) -> Result<f64> {
        let most = match self.details().kind {
            "cuda" => 1 << 30,
            _ => 256 << 20,
        };
        let words = (self.backend.free()? / 8).clamp(4, most) as usize / 4;
        // Both filled: a CPU's memory has no pages before.
        let (from, to) = (self.filled(words, 1)?, self.filled(words, 2)?);
        let mut best = f64::INFINITY;
        for _ in 0..BANDWIDTH_RUNS {
            let start = self.backend.mark()?;
            self.backend
                .copy(to.address(), from.address(), from.bytes())?;
            let end = self.backend.mark()?;
            self.synchronize()?;
            best = best.min(self.backend.elapsed(&start, &end)?);
        }
        Ok(2.0 * from.bytes() as f64 / (best * 1e-3))
    }

    /// The most bytes that buffers took at once since the last reset.
    pub fn peak_bytes(&self) -> u64 {
        self.backend.memory().peak.get()
    }

    /// Counts the peak anew.
    pub fn reset_peak(&self) {
        let memory = self.backend.memory();
        memory.peak.set(memory.current.get());
    }

    /// Names of the PTX entries launched so far.
    pub fn launched(&self) -> BTreeSet<&'static str> {
        self.launched.borrow().clone()
    }
}

/// Memory for `count` rows. Not `vec![..; count]`, which would touch all its pages one after the other.
fn new_rows<R: Pod>(count: usize) -> Vec<R> {
    let mut rows = bytemuck::zeroed_vec::<R>(count);
    ask_for_huge_pages(bytemuck::cast_slice_mut(&mut rows));
    rows
}

/// Copies that [`Device::copy_bandwidth`] takes the best of.
const BANDWIDTH_RUNS: u32 = 8;

/// Bytes from which on a copy's time goes into its pages.
const WORTH_HUGE_PAGES: usize = 8 << 20;
const HUGE_PAGE: usize = 2 << 20;

/// Asks the system to back new memory, of which nothing was touched yet, by huge pages: else most of the time of a large copy goes
/// into page faults. Where the system has none it is only slower.
fn ask_for_huge_pages(memory: &mut [u8]) {
    #[cfg(target_os = "linux")]
    if memory.len() >= WORTH_HUGE_PAGES {
        let start = (memory.as_mut_ptr() as usize).next_multiple_of(HUGE_PAGE);
        let end = (memory.as_mut_ptr() as usize + memory.len()) / HUGE_PAGE * HUGE_PAGE;
        // SAFETY: whole pages within the memory; the advice changes no content.
        unsafe { libc::madvise(start as *mut _, end - start, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (memory, WORTH_HUGE_PAGES, HUGE_PAGE);
}

impl Launcher for Device {
    fn launch(&self, launch: Launch<'_>) -> Result<(), LaunchError> {
        self.launched.borrow_mut().insert(launch.entry);
        if launch.n == 0 {
            return Ok(());
        }
        self.timed.launch(&*self.backend, launch)
    }
}
