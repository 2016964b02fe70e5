//! The devices of the process, and their memory.

use std::env;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::memory::Ranges;

/// An emulated device.
pub struct Device {
    pub memory: Ranges,
    pub used: AtomicU64,
    pub most: AtomicU64,
}

/// The devices, and memory of the host that all of them use.
pub struct Driver {
    pub devices: Vec<Device>,
    /// Bytes of a device.
    pub bytes: u64,
    /// Bytes that must be free for a context.
    pub context_bytes: u64,
    /// Most bytes of shared memory of a block, for a kernel that requests them.
    pub shared_bytes: u32,
    pub host: Ranges,
    /// Whether launches are checked for races, with one thread, and for reads of unwritten memory.
    pub is_checked: bool,
    /// Whether a kernel has caused a fault.
    pub is_lost: AtomicBool,
}

pub fn driver() -> &'static Driver {
    static DRIVER: OnceLock<Driver> = OnceLock::new();
    DRIVER.get_or_init(|| {
        let number = |name| {
            let text = env::var(name).ok()?;
            let number = text.parse::<u64>();
            Some(number.unwrap_or_else(|_| panic!("PTX emulator: {name}={text} is no number")))
        };
        let all = number("PTX_EMULATOR_DEVICES").unwrap_or(1);
        // As in the driver: numbers up to the first invalid one.
        let visible = env::var("CUDA_VISIBLE_DEVICES").ok().map(|list| {
            let numbers = list.split(',').map(|one| one.trim().parse::<u64>());
            numbers
                .take_while(|one| matches!(one, Ok(one) if *one < all))
                .count() as u64
        });
        let device = |_| Device {
            memory: Ranges::default(),
            used: AtomicU64::new(0),
            most: AtomicU64::new(0),
        };
        Driver {
            devices: (0..visible.unwrap_or(all)).map(device).collect(),
            bytes: number("PTX_EMULATOR_MEMORY").unwrap_or(4 << 30),
            context_bytes: number("PTX_EMULATOR_CONTEXT").unwrap_or(0),
            shared_bytes: number("PTX_EMULATOR_SHARED").map_or(227 << 10, |bytes| bytes as u32),
            host: Ranges::default(),
            is_checked: number("PTX_EMULATOR_CHECK").is_some_and(|number| number != 0),
            is_lost: AtomicBool::new(false),
        }
    })
}

impl Device {
    /// New memory, if enough is left.
    pub fn allocate(&self, bytes: usize) -> Option<u64> {
        let (most, size) = (driver().bytes, bytes as u64);
        let fits = |used: u64| used.checked_add(size).filter(|&used| used <= most);
        let before = self.used.fetch_update(Relaxed, Relaxed, fits).ok()?;
        self.most.fetch_max(before + size, Relaxed);
        let address = self.memory.allocate(bytes, driver().is_checked);
        if address.is_none() {
            self.used.fetch_sub(size, Relaxed);
        }
        address
    }

    /// Frees memory from [`Device::allocate`]; `None` for another address.
    pub fn free(&self, address: u64) -> Option<()> {
        let bytes = self.memory.free(address)?;
        self.used.fetch_sub(bytes as u64, Relaxed);
        Some(())
    }
}
