// The part of trioxide_device that the examples in this crate's documentation use. The crate itself depends on this
// one. One thread runs the kernels, in the process's memory.

use trioxide_kernel::bytemuck::{self, Pod};
use trioxide_kernel::launch::{Buffer, DeviceId, Launch, LaunchError, Launcher, Memory};

pub type Result<T> = std::result::Result<T, LaunchError>;

pub struct Device(DeviceId);

struct Words {
    device: DeviceId,
    _words: Vec<u128>,
}

impl Memory for Words {
    fn device(&self) -> DeviceId {
        self.device
    }
}

impl Device {
    pub fn cpu(_threads: Option<usize>) -> Result<Self> {
        Ok(Self(DeviceId::unique()))
    }

    pub fn uninitialized<T: Pod>(&self, len: usize) -> Result<Buffer<T>> {
        self.upload(&vec![T::zeroed(); len])
    }

    pub fn filled<T: Pod>(&self, len: usize, word: T) -> Result<Buffer<T>> {
        self.upload(&vec![word; len])
    }

    pub fn upload<T: Pod>(&self, data: &[T]) -> Result<Buffer<T>> {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        let mut words = vec![0u128; bytes.len().div_ceil(16).max(1)];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
        let address = words.as_mut_ptr().expose_provenance() as u64;
        let memory = Words {
            device: self.0,
            _words: words,
        };
        // SAFETY: 16-byte words, owned by the memory.
        Ok(unsafe { Buffer::from_raw(address, data.len(), Box::new(memory)) })
    }

    pub fn download<T: Pod>(&self, buffer: &Buffer<T>) -> Result<Vec<T>> {
        let pointer = std::ptr::with_exposed_provenance::<T>(buffer.address() as usize);
        // SAFETY: a buffer of this device.
        Ok(unsafe { std::slice::from_raw_parts(pointer, buffer.len()) }.to_vec())
    }
}

impl Launcher for Device {
    unsafe fn launch(&self, launch: Launch) -> Result<()> {
        launch.check_device(self.0)?;
        // SAFETY: the caller's promise; all calls, once; arrays of this process.
        launch.catch(|| unsafe { launch.run(0..launch.calls()) })
    }
}
