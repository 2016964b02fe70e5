//! The driver's functions that `cust` declares, with their own names and types ([CUDA Driver API]).
//!
//! All work is done when a call returns, so streams and events have nothing to wait for. Contexts are the primary ones.
//! As with NVIDIA's driver, after a kernel's fault every call of the process that does work fails with the same result.
//! The message goes to standard error.
//!
//! | variable | meaning | default |
//! | --- | --- | --- |
//! | `PTX_EMULATOR_DEVICES` | number of devices; `CUDA_VISIBLE_DEVICES` selects some of them | 1 |
//! | `PTX_EMULATOR_MEMORY` | bytes of each device's memory | 4 GiB |
//! | `PTX_EMULATOR_CONTEXT` | bytes that must be free for a context | 0 |
//! | `PTX_EMULATOR_SHARED` | most bytes of shared memory of a block whose kernel requests them | 232448, as in compute capability 9.0 |
//! | `PTX_EMULATOR_CHECK` | with 1, data races of a launch in device or shared memory are faults, and reads of unwritten device memory | off |
//!
//! [CUDA Driver API]: https://docs.nvidia.com/cuda/cuda-driver-api/
#![allow(non_snake_case)]

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use std::{ptr, slice};

use crate::devices::{Device, driver};
use crate::grid;
use crate::memory::Range;
use crate::module::Module;
use crate::program::Program;

/// A `CUresult`.
type Outcome = c_uint;

const SUCCESS: Outcome = 0;
const INVALID_VALUE: Outcome = 1;
const OUT_OF_MEMORY: Outcome = 2;
const INVALID_DEVICE: Outcome = 101;
const INVALID_IMAGE: Outcome = 200;
const INVALID_CONTEXT: Outcome = 201;
const INVALID_PTX: Outcome = 218;
const NOT_FOUND: Outcome = 500;
const ILLEGAL_ADDRESS: Outcome = 700;

const RESULTS: [(Outcome, &CStr, &CStr); 9] = [
    (SUCCESS, c"CUDA_SUCCESS", c"no error"),
    (
        INVALID_VALUE,
        c"CUDA_ERROR_INVALID_VALUE",
        c"invalid argument",
    ),
    (OUT_OF_MEMORY, c"CUDA_ERROR_OUT_OF_MEMORY", c"out of memory"),
    (
        INVALID_DEVICE,
        c"CUDA_ERROR_INVALID_DEVICE",
        c"invalid device ordinal",
    ),
    (
        INVALID_IMAGE,
        c"CUDA_ERROR_INVALID_IMAGE",
        c"the emulator takes PTX only",
    ),
    (
        INVALID_CONTEXT,
        c"CUDA_ERROR_INVALID_CONTEXT",
        c"invalid device context",
    ),
    (
        INVALID_PTX,
        c"CUDA_ERROR_INVALID_PTX",
        c"the emulator does not know an instruction",
    ),
    (
        NOT_FOUND,
        c"CUDA_ERROR_NOT_FOUND",
        c"named symbol not found",
    ),
    (
        ILLEGAL_ADDRESS,
        c"CUDA_ERROR_ILLEGAL_ADDRESS",
        c"a kernel did what it must not",
    ),
];

/// CUDA 13.0.
const VERSION: c_int = 13_000;
/// The capability of no GPU, so that a program's own machine code is for other devices.
const CAPABILITY: (c_int, c_int) = (99, 0);
/// Default bytes of shared memory of a block.
const SHARED_BYTES: u32 = 48 << 10;

thread_local! {
    /// The device of the calling thread's context.
    static CURRENT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Answers a query about devices.
fn ask(question: impl FnOnce() -> Result<(), Outcome>) -> Outcome {
    question().err().unwrap_or(SUCCESS)
}

/// Runs a call's work, unless a kernel has caused a fault before.
fn call(work: impl FnOnce() -> Result<(), Outcome>) -> Outcome {
    match driver().is_lost.load(Relaxed) {
        true => ILLEGAL_ADDRESS,
        false => ask(work),
    }
}

fn current() -> Result<&'static Device, Outcome> {
    let device = CURRENT.get().and_then(|index| driver().devices.get(index));
    device.ok_or(INVALID_CONTEXT)
}

fn device(number: c_int) -> Result<&'static Device, Outcome> {
    let index = usize::try_from(number).map_err(|_| INVALID_DEVICE)?;
    driver().devices.get(index).ok_or(INVALID_DEVICE)
}

/// The device memory with these bytes.
fn of_device(address: u64, bytes: usize) -> Result<Range, Outcome> {
    let mut all = driver().devices.iter();
    let found = all.find_map(|device| device.memory.find(address, bytes));
    found.ok_or(INVALID_VALUE)
}

/// Copies; the host's memory is trusted.
///
/// # Safety
/// A side in the host's memory has this number of bytes.
unsafe fn copy(to: u64, from: u64, bytes: usize, [is_to, is_from]: [bool; 2]) -> Outcome {
    call(|| {
        if bytes == 0 {
            return Ok(());
        }
        let to_range = is_to.then(|| of_device(to, bytes)).transpose()?;
        let from_range = is_from.then(|| of_device(from, bytes)).transpose()?;
        // SAFETY: checked, or the caller's promise; copies within a device may overlap.
        unsafe { ptr::copy(from as *const u8, to as *mut u8, bytes) };
        if let Some(to_range) = to_range {
            match from_range {
                Some(from_range) => to_range.mark_as(to, &from_range, from, bytes),
                None => to_range.mark(to, bytes),
            }
        }
        Ok(())
    })
}

/// A handle without an object: its address is not null.
fn handle() -> *mut c_void {
    ptr::without_provenance_mut(1)
}

/// Declares functions of the driver.
macro_rules! functions {
    ($(fn $name:ident($($parameter:ident: $type:ty),* $(,)?) $body:block)*) => { $(
        #[doc = concat!("As CUDA's `", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As in CUDA's documentation of this function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($parameter: $type),*) -> Outcome {
            // SAFETY: the caller's promise: pointers to results may be written, names end in a NUL, handles are alive.
            #[allow(unused_unsafe)]
            unsafe { $body }
        }
    )* };
}

/// An event: the time at which it was reached.
type Reached = Mutex<Option<Instant>>;

functions! {
    fn cuInit(_flags: c_uint) { SUCCESS }
    fn cuDriverGetVersion(version: *mut c_int) { *version = VERSION; SUCCESS }

    fn cuGetErrorName(error: Outcome, name: *mut *const c_char) {
        match RESULTS.iter().find(|result| result.0 == error) {
            Some((_, text, _)) => { *name = text.as_ptr(); SUCCESS }
            None => INVALID_VALUE,
        }
    }
    fn cuGetErrorString(error: Outcome, text: *mut *const c_char) {
        match RESULTS.iter().find(|result| result.0 == error) {
            Some((_, _, sentence)) => { *text = sentence.as_ptr(); SUCCESS }
            None => INVALID_VALUE,
        }
    }

    fn cuDeviceGet(found: *mut c_int, ordinal: c_int) {
        ask(|| { device(ordinal)?; *found = ordinal; Ok(()) })
    }
    fn cuDeviceGetCount(count: *mut c_int) {
        *count = driver().devices.len() as c_int;
        SUCCESS
    }
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_uint, number: c_int) {
        ask(|| {
            device(number)?;
            *value = match attribute {
                1 => 1024,
                8 => SHARED_BYTES as c_int,
                10 => 32,
                // Clocks, kHz.
                13 | 36 => 0,
                // Multiprocessors.
                16 => 1,
                75 => CAPABILITY.0,
                76 => CAPABILITY.1,
                97 => driver().shared_bytes as c_int,
                _ => return Err(INVALID_VALUE),
            };
            Ok(())
        })
    }
    fn cuDeviceGetDefaultMemPool(pool: *mut *mut c_void, number: c_int) {
        ask(|| { *pool = ptr::from_ref(device(number)?).cast_mut().cast(); Ok(()) })
    }
    fn cuDeviceGetName(name: *mut c_char, length: c_int, number: c_int) {
        ask(|| {
            device(number)?;
            let text = b"PTX emulator\0";
            let length = usize::try_from(length).map_err(|_| INVALID_VALUE)?.min(text.len());
            name.cast::<u8>().copy_from(text.as_ptr(), length);
            Ok(())
        })
    }
    fn cuDeviceTotalMem_v2(bytes: *mut usize, number: c_int) {
        ask(|| { device(number)?; *bytes = driver().bytes as usize; Ok(()) })
    }

    fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, number: c_int) {
        call(|| {
            let used = device(number)?.used.load(Relaxed);
            if used + driver().context_bytes > driver().bytes {
                return Err(OUT_OF_MEMORY);
            }
            *context = ptr::without_provenance_mut(number as usize + 1);
            Ok(())
        })
    }
    fn cuDevicePrimaryCtxRelease_v2(number: c_int) { call(|| device(number).map(|_| ())) }
    fn cuCtxGetCurrent(context: *mut *mut c_void) {
        *context = ptr::without_provenance_mut(CURRENT.get().map_or(0, |index| index + 1));
        SUCCESS
    }
    fn cuCtxSetCurrent(context: *mut c_void) {
        CURRENT.set(context.addr().checked_sub(1));
        SUCCESS
    }
    fn cuCtxSynchronize() { call(|| Ok(())) }

    fn cuModuleLoadDataEx(
        module: *mut *mut c_void,
        image: *const c_void,
        _count: c_uint,
        _options: *mut c_uint,
        _values: *mut *mut c_void,
    ) {
        call(|| {
            let device = current()?;
            let text = CStr::from_ptr(image.cast()).to_bytes();
            let text = std::str::from_utf8(text).map_err(|_| INVALID_IMAGE)?;
            if text.starts_with("\x7fELF") {
                return Err(INVALID_IMAGE);
            }
            let loaded = Module::load(text, |bytes| {
                let address = device.allocate(bytes)?;
                device.memory.find(address, bytes)?.mark(address, bytes);
                Some(address)
            });
            let loaded = loaded.map_err(|reason| {
                eprintln!("PTX emulator: {reason}");
                INVALID_PTX
            })?;
            *module = Box::into_raw(Box::new(loaded)).cast();
            Ok(())
        })
    }
    fn cuModuleUnload(module: *mut c_void) {
        let module = Box::from_raw(module.cast::<Module>());
        call(|| {
            let device = current()?;
            for &(address, _) in module.variables.values() {
                device.free(address);
            }
            Ok(())
        })
    }
    fn cuModuleGetFunction(
        function: *mut *mut c_void,
        module: *mut c_void,
        name: *const c_char,
    ) {
        call(|| {
            let name = CStr::from_ptr(name).to_str().map_err(|_| NOT_FOUND)?;
            let kernels = &(*module.cast::<Module>()).kernels;
            let program = kernels.get(name).ok_or(NOT_FOUND)?;
            // The module keeps the program.
            *function = Arc::as_ptr(program).cast_mut().cast();
            Ok(())
        })
    }
    fn cuModuleGetGlobal_v2(
        address: *mut u64,
        bytes: *mut usize,
        module: *mut c_void,
        name: *const c_char,
    ) {
        call(|| {
            let name = CStr::from_ptr(name).to_str().map_err(|_| NOT_FOUND)?;
            let variables = &(*module.cast::<Module>()).variables;
            (*address, *bytes) = *variables.get(name).ok_or(NOT_FOUND)?;
            Ok(())
        })
    }
    fn cuFuncSetAttribute(function: *mut c_void, attribute: c_uint, value: c_int) {
        call(|| {
            let bytes = u32::try_from(value).map_err(|_| INVALID_VALUE)?;
            // The limit of dynamic shared memory; kernels use no other.
            if attribute != 8 || bytes > driver().shared_bytes {
                return Err(INVALID_VALUE);
            }
            (*function.cast::<Program>()).shared_bytes.store(bytes, Relaxed);
            Ok(())
        })
    }
    fn cuLaunchKernel(
        function: *mut c_void,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: c_uint,
        _stream: *mut c_void,
        parameters: *mut *mut c_void,
        _extra: *mut *mut c_void,
    ) {
        call(|| {
            let device = current()?;
            let in_range = (1..=1024).contains(&block_x) && grid_x <= i32::MAX as u32;
            let is_flat = [grid_y, grid_z, block_y, block_z] == [1; 4];
            let program = &*function.cast::<Program>();
            let most_shared = program.shared_bytes.load(Relaxed).max(SHARED_BYTES);
            if !in_range || grid_x == 0 || !is_flat || shared_bytes > most_shared {
                return Err(INVALID_VALUE);
            }
            let mut values = vec![0_u128; program.parameter_bytes.div_ceil(16)];
            let place = values.as_mut_ptr().cast::<u8>();
            for (i, &(at, bytes)) in program.parameters.iter().enumerate() {
                place.add(at).copy_from((*parameters.add(i)).cast::<u8>(), bytes);
            }
            let values = slice::from_raw_parts(place.cast_const(), program.parameter_bytes);
            let mut memory = device.memory.snapshot();
            memory.extend(driver().host.snapshot());
            memory.sort_unstable_by_key(|range| range.start);
            let shape = [grid_x, block_x, shared_bytes];
            let ran = grid::run(program, shape, values, &memory, &[], driver().is_checked);
            if let Err(fault) = ran {
                eprintln!("PTX emulator: {}", fault.text);
                // As on a device, whose launch returns success.
                driver().is_lost.store(true, Relaxed);
            }
            Ok(())
        })
    }

    fn cuStreamCreateWithPriority(stream: *mut *mut c_void, _flags: c_uint, _priority: c_int) {
        call(|| { *stream = handle(); Ok(()) })
    }
    fn cuStreamDestroy_v2(_stream: *mut c_void) { call(|| Ok(())) }
    fn cuStreamSynchronize(_stream: *mut c_void) { call(|| Ok(())) }
    fn cuStreamWaitEvent(_stream: *mut c_void, _event: *mut c_void, _flags: c_uint) {
        call(|| Ok(()))
    }

    fn cuEventCreate(event: *mut *mut c_void, _flags: c_uint) {
        call(|| { *event = Box::into_raw(Box::new(Reached::new(None))).cast(); Ok(()) })
    }
    fn cuEventDestroy_v2(event: *mut c_void) {
        drop(Box::from_raw(event.cast::<Reached>()));
        call(|| Ok(()))
    }
    fn cuEventRecord(event: *mut c_void, _stream: *mut c_void) {
        call(|| {
            let event = &*event.cast::<Reached>();
            *event.lock().map_err(|_| INVALID_VALUE)? = Some(Instant::now());
            Ok(())
        })
    }
    fn cuEventSynchronize(_event: *mut c_void) { call(|| Ok(())) }
    fn cuEventElapsedTime(milliseconds: *mut f32, start: *mut c_void, end: *mut c_void) {
        call(|| {
            let [start, end] = [start, end].map(|event| {
                let event = &*event.cast::<Reached>();
                event.lock().ok().and_then(|at| *at).ok_or(INVALID_VALUE)
            });
            *milliseconds = (end? - start?).as_secs_f32() * 1e3;
            Ok(())
        })
    }

    fn cuMemAllocAsync(address: *mut u64, bytes: usize, _stream: *mut c_void) {
        call(|| {
            if bytes == 0 {
                return Err(INVALID_VALUE);
            }
            *address = current()?.allocate(bytes).ok_or(OUT_OF_MEMORY)?;
            Ok(())
        })
    }
    fn cuMemFreeAsync(address: u64, _stream: *mut c_void) {
        call(|| current()?.free(address).ok_or(INVALID_VALUE))
    }
    fn cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, _flags: c_uint) {
        call(|| {
            *pointer = driver().host.allocate(bytes, false).ok_or(OUT_OF_MEMORY)? as *mut c_void;
            Ok(())
        })
    }
    fn cuMemFreeHost(pointer: *mut c_void) {
        match driver().host.free(pointer as u64) {
            Some(_) => SUCCESS,
            None => INVALID_VALUE,
        }
    }
    fn cuMemHostRegister_v2(pointer: *mut c_void, bytes: usize, _flags: c_uint) {
        call(|| { driver().host.add(pointer as u64, bytes); Ok(()) })
    }
    fn cuMemHostUnregister(pointer: *mut c_void) {
        match driver().host.remove(pointer as u64) {
            Some(_) => SUCCESS,
            None => INVALID_VALUE,
        }
    }
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        call(|| {
            let used = current()?.used.load(Relaxed);
            let bytes = driver().bytes;
            (*free, *total) = ((bytes - used) as usize, bytes as usize);
            Ok(())
        })
    }
    fn cuMemPoolGetAttribute(pool: *mut c_void, attribute: c_uint, value: *mut c_void) {
        call(|| {
            let device = &*pool.cast::<Device>();
            *value.cast::<u64>() = match attribute {
                5 | 7 => device.used.load(Relaxed),
                6 | 8 => device.most.load(Relaxed),
                _ => return Err(INVALID_VALUE),
            };
            Ok(())
        })
    }
    fn cuMemPoolSetAttribute(pool: *mut c_void, attribute: c_uint, _value: *mut c_void) {
        call(|| {
            let device = &*pool.cast::<Device>();
            match attribute {
                // No memory is kept after it is freed.
                4 => {}
                6 | 8 => device.most.store(device.used.load(Relaxed), Relaxed),
                _ => return Err(INVALID_VALUE),
            }
            Ok(())
        })
    }
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, _stream: *mut c_void) {
        copy(to, from, bytes, [true, true])
    }
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, bytes: usize, _stream: *mut c_void) {
        copy(to as u64, from, bytes, [false, true])
    }
    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, bytes: usize, _stream: *mut c_void) {
        copy(to, from as u64, bytes, [true, false])
    }
    fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize) {
        copy(to, from as u64, bytes, [true, false])
    }
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize) {
        copy(to as u64, from, bytes, [false, true])
    }
    fn cuMemsetD32Async(to: u64, word: c_uint, count: usize, _stream: *mut c_void) {
        call(|| {
            of_device(to, 4 * count)?.mark(to, 4 * count);
            if !to.is_multiple_of(4) {
                return Err(INVALID_VALUE);
            }
            slice::from_raw_parts_mut(to as *mut u32, count).fill(word);
            Ok(())
        })
    }
}
