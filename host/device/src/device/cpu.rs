//! The CPU: the kernels' bodies under rayon.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use memmap2::MmapMut;
use rayon::{ThreadPool, ThreadPoolBuilder};
use trioxide_kernel::launch::{DeviceId, Launch, LaunchError, Memory, Shape};

use super::{Backend, Details, Mark, MemoryUse, lock};
use crate::{Error, Result};
use trioxide_work::parallel;

/// A launch is not split below this number of calls.
const SMALLEST_CHUNK: u32 = 2048;
/// Chunks per thread: enough that one slow chunk does not leave the other threads idle.
const CHUNKS_PER_THREAD: u32 = 16;
/// Bytes that one thread copies or fills at a time. The caller's thread does shorter copies alone: waking another
/// thread takes as long as copying some kilobytes.
const COPY_CHUNK: usize = 1 << 20;
/// Most bytes of a buffer, the limit of a slice.
const MOST_BYTES: usize = isize::MAX as usize / 2;

/// Most threads that are started: with several per core, more only wait for each other.
fn most_threads() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (4 * cores).max(64)
}

/// The number of threads: `wanted`, or else `RAYON_NUM_THREADS`, or else 0 for one per core.
///
/// # Errors
/// [`Error::Argument`] for more than [`most_threads`].
fn number_of_threads(wanted: Option<usize>) -> Result<usize> {
    let (count, remedy) = match wanted {
        Some(count) => (count, "ask for fewer, or for none to have one a core"),
        None => {
            let set = std::env::var("RAYON_NUM_THREADS").ok();
            let set = set.and_then(|count| count.parse().ok()).unwrap_or(0);
            (set, "set RAYON_NUM_THREADS lower, or not at all")
        }
    };
    let most = most_threads();
    if count <= most {
        return Ok(count);
    }
    Err(Error::Argument(format!(
        "{count} CPU threads are more than the {most} that this machine starts: {remedy}"
    )))
}

fn cannot_start(error: rayon::ThreadPoolBuildError) -> Error {
    Error::Argument(format!(
        "the CPU's threads cannot start ({error}): use fewer, or raise the limits of this process (ulimit -u, ulimit -v)"
    ))
}

/// A pool of CPU threads.
///
/// # Errors
/// [`Error::Argument`] for far more threads than cores, and if the system refuses them.
pub fn threads(threads: Option<usize>) -> Result<ThreadPool> {
    let builder = ThreadPoolBuilder::new().num_threads(number_of_threads(threads)?);
    builder.build().map_err(cannot_start)
}

/// Starts the threads that read, check and write meshes on the host. Without it they start at their first use, and
/// panic if they cannot. Threads that already run stay.
///
/// # Errors
/// [`Error::Argument`] for a `RAYON_NUM_THREADS` far beyond the cores, and if the system refuses threads.
pub fn start_host_threads() -> Result<()> {
    let builder = ThreadPoolBuilder::new().num_threads(number_of_threads(None)?);
    match builder.build_global() {
        Ok(()) => Ok(()),
        // Only this error has no source: the threads exist already.
        Err(error) if std::error::Error::source(&error).is_none() => Ok(()),
        Err(error) => Err(cannot_start(error)),
    }
}

pub struct Cpu {
    id: DeviceId,
    threads: ThreadPool,
    memory: Arc<MemoryUse>,
    freed: Arc<Freed>,
}

impl Cpu {
    pub fn new(id: DeviceId, threads: Option<usize>) -> Result<Self> {
        let threads = self::threads(threads)?;
        Ok(Self {
            id,
            threads,
            memory: Arc::default(),
            freed: Arc::default(),
        })
    }

    fn out_of_memory(&self, bytes: usize) -> Error {
        Error::OutOfMemory {
            device: self.name(),
            needed: bytes as u64,
            free: self.free().unwrap_or(0),
        }
    }

    /// Maps new pages.
    fn map(&self, bytes: usize) -> Result<MmapMut> {
        let map = || MmapMut::map_anon(bytes.max(1));
        let pages = map().or_else(|_| {
            self.freed.shrink(0);
            map()
        });
        let pages = pages.map_err(|_| self.out_of_memory(bytes))?;
        // Meshes are read at random places: small pages miss the address cache at each read. If the system has no huge
        // pages, the run is only slower.
        #[cfg(target_os = "linux")]
        let _ = pages.advise(memmap2::Advice::HugePage);
        Ok(pages)
    }
}

/// Pages of freed buffers. New pages would cost as much time as a kernel that writes them, because the system zeroes
/// them.
#[derive(Default)]
struct Freed(Mutex<Lengths>);

/// Pages by length: one pipeline may leave thousands of small buffers, and a search through a list of them is slow.
#[derive(Default)]
struct Lengths {
    /// By length and address.
    pages: BTreeMap<(usize, usize), MmapMut>,
    /// The sum of the lengths.
    bytes: u64,
}

impl Lengths {
    fn insert(&mut self, pages: MmapMut) {
        self.bytes += pages.len() as u64;
        let key = (pages.len(), pages.as_ptr().addr());
        self.pages.insert(key, pages);
    }

    fn remove(&mut self, key: (usize, usize)) -> Option<MmapMut> {
        let pages = self.pages.remove(&key)?;
        self.bytes -= pages.len() as u64;
        Some(pages)
    }

    /// The shortest pages of at least `bytes`.
    fn shortest_from(&self, bytes: usize) -> Option<(usize, usize)> {
        let (&key, _) = self.pages.range((bytes, 0)..).next()?;
        Some(key)
    }
}

impl Freed {
    /// Takes the smallest pages of at least `bytes`, and at most one and a half times as many.
    fn take(&self, bytes: usize) -> Option<MmapMut> {
        // An empty buffer has pages of one byte.
        let bytes = bytes.max(1);
        let mut freed = lock(&self.0);
        let fits = |&(length, _): &(usize, usize)| length <= bytes + bytes / 2;
        let key = freed.shortest_from(bytes).filter(fits)?;
        freed.remove(key)
    }

    fn bytes(&self) -> u64 {
        lock(&self.0).bytes
    }

    /// Returns pages to the system until at most `bytes` remain: the shortest that suffices alone, or else the longest,
    /// and so on. The next run of a pipeline uses the others again.
    fn shrink(&self, bytes: u64) {
        let mut freed = lock(&self.0);
        while freed.bytes > bytes {
            let above = (freed.bytes - bytes) as usize;
            let longest = || freed.pages.last_key_value().map(|(&key, _)| key);
            let Some(key) = freed.shortest_from(above).or_else(longest) else {
                return;
            };
            freed.remove(key);
        }
    }
}

/// Pages mapped from the system.
struct Allocation {
    /// `None` only while it is dropped.
    pages: Option<MmapMut>,
    bytes: usize,
    device: DeviceId,
    memory: Arc<MemoryUse>,
    freed: Arc<Freed>,
}

impl Memory for Allocation {
    fn device(&self) -> DeviceId {
        self.device
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.memory.remove(self.bytes);
        if let Some(pages) = self.pages.take() {
            lock(&self.freed.0).insert(pages);
        }
    }
}

impl Backend for Cpu {
    fn name(&self) -> String {
        match self.threads.current_num_threads() {
            1 => "CPU, 1 thread".to_owned(),
            n => format!("CPU, {n} threads"),
        }
    }

    fn is_gpu(&self) -> bool {
        false
    }

    #[cfg(feature = "checked")]
    fn reopened(&self) -> Result<super::Device> {
        super::Device::cpu(Some(self.threads.current_num_threads()))
    }

    fn allocate(&self, bytes: usize) -> Result<(u64, Box<dyn Memory>)> {
        if bytes > MOST_BYTES {
            return Err(self.out_of_memory(bytes));
        }
        let mut pages = match self.freed.take(bytes) {
            Some(pages) => pages,
            None => {
                // All pages together stay within the peak of use.
                let (current, peak) = self.memory.current_and_peak();
                self.freed
                    .shrink(peak.saturating_sub(current + bytes as u64));
                self.map(bytes)?
            }
        };
        self.memory.add(bytes);
        let address = pages.as_mut_ptr().expose_provenance() as u64;
        let allocation = Allocation {
            pages: Some(pages),
            bytes,
            device: self.id,
            memory: self.memory.clone(),
            freed: self.freed.clone(),
        };
        Ok((address, Box::new(allocation)))
    }

    fn copy_in(&self, to: u64, from: &[u8]) -> Result<()> {
        // SAFETY: a buffer of at least `from.len()` bytes, borrowed mutably by the caller.
        let to = unsafe { std::slice::from_raw_parts_mut(to as *mut u8, from.len()) };
        if from.len() <= COPY_CHUNK {
            to.copy_from_slice(from);
            return Ok(());
        }
        self.threads.install(|| {
            parallel::for_chunks_mut(to, COPY_CHUNK, |k, to| {
                to.copy_from_slice(&from[k * COPY_CHUNK..][..to.len()]);
            });
        });
        Ok(())
    }

    fn copy_out(&self, from: u64, to: &mut [u8]) -> Result<()> {
        // SAFETY: a buffer of at least `to.len()` bytes, borrowed by the caller.
        let from = unsafe { std::slice::from_raw_parts(from as *const u8, to.len()) };
        self.copy_in(to.as_mut_ptr() as u64, from)
    }

    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<()> {
        // SAFETY: a buffer of at least `bytes` bytes, borrowed by the caller.
        let from = unsafe { std::slice::from_raw_parts(from as *const u8, bytes) };
        self.copy_in(to, from)
    }

    fn fill(&self, at: u64, bytes: usize, word: u32) -> Result<()> {
        // SAFETY: a buffer of `bytes` bytes, borrowed mutably by the caller; any bits are valid words.
        let words = unsafe { std::slice::from_raw_parts_mut(at as *mut u32, bytes / 4) };
        if bytes <= COPY_CHUNK {
            words.fill(word);
            return Ok(());
        }
        self.threads.install(|| {
            parallel::for_chunks_mut(words, COPY_CHUNK / 4, |_, chunk| chunk.fill(word));
        });
        Ok(())
    }

    unsafe fn launch(&self, launch: Launch) -> Result<(), LaunchError> {
        let calls = launch.calls();
        let smallest = match launch.shape {
            Shape::Each => SMALLEST_CHUNK,
            Shape::Bits => SMALLEST_CHUNK / 32,
            Shape::Blocks { .. } => 1,
        };
        let threads = self.threads.current_num_threads() as u32;
        let chunk = calls.div_ceil(threads * CHUNKS_PER_THREAD).max(smallest);
        if threads == 1 || calls <= chunk {
            // SAFETY: the caller's promise; all calls, once; the arrays are this device's.
            return launch.catch(|| unsafe { launch.run(0..calls) });
        }
        let run = || {
            parallel::for_pieces(calls as usize, chunk as usize, |range| {
                // SAFETY: the caller's promise; the ranges cover all calls, each once; the arrays are this device's.
                unsafe { launch.run(range.start as u32..range.end as u32) };
            });
        };
        launch.catch(|| self.threads.install(run))
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

    /// The system's count of available bytes. Without it (not Linux) nothing is refused in advance.
    fn free(&self) -> Result<u64> {
        let available = trioxide_work::memory::available();
        Ok(available.map_or(u64::MAX, |bytes| bytes + self.freed.bytes()))
    }

    fn memory(&self) -> &MemoryUse {
        &self.memory
    }

    fn threads(&self) -> Option<&ThreadPool> {
        Some(&self.threads)
    }

    fn details(&self) -> Details {
        Details {
            kind: "cpu",
            driver: None,
            core_mhz: first_in("/proc/cpuinfo", "cpu MHz"),
            memory_mhz: None,
            memory_bytes: first_in("/proc/meminfo", "MemTotal")
                .map(|kibibytes| kibibytes as u64 * 1024),
            threads: Some(self.threads.current_num_threads()),
        }
    }
}

/// The number after `key:` in a file of the system, if it has one.
fn first_in(path: &str, key: &str) -> Option<f64> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    let (_, value) = line.split_once(':')?;
    value.split_whitespace().next()?.parse().ok()
}
