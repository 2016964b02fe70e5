//! A launcher for tests: one thread, memory of the process.
#![allow(dead_code)]

use std::cell::RefCell;

use trioxide_kernel::bytemuck::{self, Pod};
use trioxide_kernel::launch::{
    Array, Buffer, DeviceId, Launch, LaunchError, Launcher, Memory, Moves, Shape,
};

pub struct Host {
    id: DeviceId,
    /// Packages whose kernels it runs; all for `None`.
    pub packages: Option<Vec<&'static str>>,
    /// Arrays and traffic of the last launch.
    pub last: RefCell<Option<(Vec<Array>, Option<Moves>)>>,
    /// Entry of the last launch.
    pub entry: RefCell<String>,
    /// Lanes and bytes of shared memory of the last launch, if it had blocks.
    pub shape: RefCell<Option<(u32, usize)>>,
}

struct Words {
    words: Vec<u128>,
    device: DeviceId,
}

impl Memory for Words {
    fn device(&self) -> DeviceId {
        self.device
    }
}

impl Host {
    pub fn new() -> Self {
        Self {
            id: DeviceId::unique(),
            packages: None,
            last: RefCell::new(None),
            entry: RefCell::default(),
            shape: RefCell::default(),
        }
    }

    pub fn upload<T: Pod>(&self, values: &[T]) -> Buffer<T> {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let mut words = vec![0u128; bytes.len().div_ceil(16).max(1)];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
        let address = words.as_mut_ptr().expose_provenance() as u64;
        let memory = Words {
            words,
            device: self.id,
        };
        // SAFETY: 16-byte words, owned by the memory.
        unsafe { Buffer::from_raw(address, values.len(), Box::new(memory)) }
    }

    pub fn download<T: Pod>(&self, buffer: &Buffer<T>) -> Vec<T> {
        assert_eq!(buffer.device(), self.id);
        let pointer = std::ptr::with_exposed_provenance::<T>(buffer.address() as usize);
        // SAFETY: a buffer of this host.
        unsafe { std::slice::from_raw_parts(pointer, buffer.len()) }.to_vec()
    }
}

impl Launcher for Host {
    unsafe fn launch(&self, launch: Launch) -> Result<(), LaunchError> {
        launch.check_device(self.id)?;
        let (kernel, package) = (launch.kernel.name, launch.kernel.package);
        if self
            .packages
            .as_ref()
            .is_some_and(|loaded| !loaded.contains(&package))
        {
            return Err(LaunchError::NotLoaded { kernel, package });
        }
        *self.last.borrow_mut() = Some((launch.arguments.arrays().to_vec(), launch.moves));
        *self.entry.borrow_mut() = launch.kernel.entry.to_owned();
        *self.shape.borrow_mut() = match launch.shape {
            Shape::Blocks { lanes } => Some((lanes, launch.shared)),
            Shape::Each | Shape::Bits => None,
        };
        // SAFETY: the caller's promise; all calls, once; arrays of this host.
        launch.catch(|| unsafe { launch.run(0..launch.calls()) })
    }
}
