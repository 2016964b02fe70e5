//! Large copies between the host's memory and a CUDA device's.
//!
//! The device copies only from and to pinned memory. So a copy goes in pieces through pinned buffers, on several
//! threads. Each thread has two buffers: while the device works on one, the thread fills or empties the other, and so
//! touches the pages of new memory. No thread waits for another.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use cust::context::{Context, CurrentContext};
use cust::error::CudaResult;
use cust::event::{Event, EventFlags};
use cust::stream::Stream;
use cust::sys;
use trioxide_work::parallel;

use super::touched::Touched;

/// Bytes of a pinned buffer, and of a piece of a copy.
pub const PIECE: usize = 4 << 20;
/// Most threads of a copy: each moves 8 GB/s or more, and the device takes 55 at most.
const MOST_LANES: usize = 8;

/// Pinned memory.
pub struct Pinned {
    pointer: *mut u8,
    bytes: usize,
    /// The registered memory that it is a part of; `None` for memory of the driver.
    whole: Option<Arc<Registered>>,
}

/// Memory that was pinned after its pages were touched.
struct Registered(Touched);

impl Drop for Registered {
    fn drop(&mut self) {
        // SAFETY: registered before it was created. A failure needs no cleanup.
        let _ = unsafe { sys::cuMemHostUnregister(self.0.pointer().cast()) };
    }
}

// SAFETY: memory like any other, owned.
unsafe impl Send for Pinned {}

impl Pinned {
    pub fn new(bytes: usize) -> CudaResult<Self> {
        let mut pointer = ptr::null_mut();
        // SAFETY: allocates into `pointer`.
        unsafe { sys::cuMemHostAlloc(&mut pointer, bytes, 0) }.to_result()?;
        Ok(Self {
            pointer: pointer.cast(),
            bytes,
            whole: None,
        })
    }

    /// Pins `memory`, in pieces of [`PIECE`] bytes. The driver pins touched huge pages in 2 ms, and takes 33 ms for the
    /// same size of its own memory.
    pub fn pieces(memory: Touched) -> CudaResult<Vec<Self>> {
        let (pointer, count) = (memory.pointer(), memory.bytes() / PIECE);
        // SAFETY: all of it is memory, as long as `memory` lives.
        let registered =
            unsafe { sys::cuMemHostRegister_v2(pointer.cast(), memory.bytes(), 0) }.to_result();
        if registered.is_err() {
            // Some systems pin only the driver's memory.
            return (0..count).map(|_| Self::new(PIECE)).collect();
        }
        let whole = Arc::new(Registered(memory));
        let piece = |i: usize| Self {
            // SAFETY: within the memory.
            pointer: unsafe { pointer.add(i * PIECE) },
            bytes: PIECE,
            whole: Some(whole.clone()),
        };
        Ok((0..count).map(piece).collect())
    }

    /// Its bytes. It must not be called while the device copies from or to them.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: allocated in `new` by the driver, with initialized bytes, or a piece of registered memory that
        // belongs to it alone.
        unsafe { std::slice::from_raw_parts_mut(self.pointer, self.bytes) }
    }
}

impl AsMut<[u8]> for Pinned {
    fn as_mut(&mut self) -> &mut [u8] {
        self.bytes()
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.whole.is_none() {
            // SAFETY: allocated in `new`; transfers have been waited for. A failure needs no cleanup.
            let _ = unsafe { sys::cuMemFreeHost(self.pointer.cast()) };
        }
    }
}

/// A pinned buffer, and the event after which it may be used again.
pub struct Staging {
    pub memory: Pinned,
    pub done: Event,
}

impl Staging {
    /// A buffer for a piece of a copy.
    pub fn new() -> CudaResult<Self> {
        Self::with_room(PIECE)
    }

    pub fn with_room(bytes: usize) -> CudaResult<Self> {
        Self::of(Pinned::new(bytes)?)
    }

    fn of(memory: Pinned) -> CudaResult<Self> {
        Ok(Self {
            memory,
            done: Event::new(EventFlags::DISABLE_TIMING)?,
        })
    }

    /// Pairs of buffers of these pieces, one pair for each thread of a copy.
    pub fn pairs(pieces: Vec<Pinned>) -> CudaResult<Vec<[Self; 2]>> {
        let mut pieces = pieces.into_iter();
        let mut pairs = Vec::new();
        while let (Some(a), Some(b)) = (pieces.next(), pieces.next()) {
            pairs.push([Self::of(a)?, Self::of(b)?]);
        }
        Ok(pairs)
    }

    /// When the buffer is free, copies `piece` into it, and asks the device to copy it to `to`.
    ///
    /// # Safety
    /// `to` points to the same number of bytes, which stay until the stream's work so far is done.
    pub unsafe fn send(
        &mut self,
        stream: &Stream,
        to: u64,
        piece: &[u8],
        copy: impl FnOnce(&[u8], &mut [u8]),
    ) -> CudaResult<()> {
        self.done.synchronize()?;
        copy(piece, &mut self.memory.bytes()[..piece.len()]);
        let pinned = self.memory.pointer as *const c_void;
        // SAFETY: the caller's promise; the pinned memory stays until the event.
        unsafe { sys::cuMemcpyHtoDAsync_v2(to, pinned, piece.len(), stream.as_inner()) }
            .to_result()?;
        self.done.record(stream)
    }

    /// When the buffer is free, asks the device to copy `bytes` bytes from `from` to it.
    ///
    /// # Safety
    /// `from` points to this number of bytes, which stay until the stream's work so far is done.
    pub unsafe fn request(&mut self, stream: &Stream, from: u64, bytes: usize) -> CudaResult<()> {
        self.done.synchronize()?;
        assert!(bytes <= self.memory.bytes, "longer than the buffer");
        let pinned = self.memory.pointer.cast();
        // SAFETY: the caller's promise; the pinned memory stays until the event.
        unsafe { sys::cuMemcpyDtoHAsync_v2(pinned, from, bytes, stream.as_inner()) }.to_result()?;
        self.done.record(stream)
    }

    /// Waits for the requested bytes, and copies them out.
    pub fn receive(
        &mut self,
        piece: &mut [u8],
        copy: impl FnOnce(&[u8], &mut [u8]),
    ) -> CudaResult<()> {
        self.done.synchronize()?;
        copy(&self.memory.bytes()[..piece.len()], piece);
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // The device may still copy from the memory, which is freed next.
        let _ = self.done.synchronize();
    }
}

/// Two staging buffers for each thread of a large copy.
pub struct Lanes {
    lanes: Vec<[Staging; 2]>,
}

fn copy(from: &[u8], to: &mut [u8]) {
    to.copy_from_slice(from);
}

impl Lanes {
    /// Bytes of the buffers of all lanes.
    pub fn bytes() -> usize {
        2 * PIECE * rayon::current_num_threads().clamp(1, MOST_LANES)
    }

    pub fn new() -> CudaResult<Self> {
        Ok(Self::of(Staging::pairs(Pinned::pieces(Touched::new(
            Self::bytes(),
        ))?)?))
    }

    pub fn of(lanes: Vec<[Staging; 2]>) -> Self {
        Self { lanes }
    }

    /// Copies `from` to the device. It may return before the stream has finished, but no longer uses `from`.
    ///
    /// # Safety
    /// `to` points to the same number of bytes, which stay until the stream's work so far is done.
    pub unsafe fn copy_in(
        &mut self,
        context: &Context,
        stream: &Stream,
        to: u64,
        from: &[u8],
    ) -> CudaResult<()> {
        let count = self.lanes.len();
        let run = |(k, lane): (usize, &mut [Staging; 2])| -> CudaResult<()> {
            CurrentContext::set_current(context)?;
            let pieces = from.chunks(PIECE).enumerate().skip(k).step_by(count);
            for (turn, (i, piece)) in pieces.enumerate() {
                let to = to + (i * PIECE) as u64;
                // SAFETY: a part of the caller's promise.
                unsafe { lane[turn % 2].send(stream, to, piece, copy) }?;
            }
            Ok(())
        };
        let lanes = self.lanes.iter_mut().enumerate();
        by_lanes(lanes.collect(), &run)
    }

    /// Copies from the device to `to`, after the stream's work so far.
    ///
    /// # Safety
    /// `from` points to the same number of bytes.
    pub unsafe fn copy_out(
        &mut self,
        context: &Context,
        stream: &Stream,
        from: u64,
        to: &mut [u8],
    ) -> CudaResult<()> {
        let mut pieces: Vec<Vec<(u64, &mut [u8])>> = Vec::new();
        pieces.resize_with(self.lanes.len(), Vec::new);
        for (i, piece) in to.chunks_mut(PIECE).enumerate() {
            let lane = i % self.lanes.len();
            pieces[lane].push((from + (i * PIECE) as u64, piece));
        }
        let run = |(lane, mut pieces): (&mut [Staging; 2], Vec<(u64, &mut [u8])>)| {
            CurrentContext::set_current(context)?;
            for i in 0..=pieces.len() {
                // The next piece is transferred while the previous one is copied out.
                if let Some((from, piece)) = pieces.get(i) {
                    // SAFETY: a part of the caller's promise.
                    unsafe { lane[i % 2].request(stream, *from, piece.len()) }?;
                }
                if i > 0 {
                    lane[(i - 1) % 2].receive(pieces[i - 1].1, copy)?;
                }
            }
            Ok(())
        };
        by_lanes(self.lanes.iter_mut().zip(pieces).collect(), &run)
    }
}

/// Runs `run` for each lane, on one thread each. Returns the error of the first failed lane.
fn by_lanes<L: Send>(lanes: Vec<L>, run: &(dyn Fn(L) -> CudaResult<()> + Sync)) -> CudaResult<()> {
    let mut lanes: Vec<_> = lanes.into_iter().map(|lane| (Some(lane), Ok(()))).collect();
    parallel::for_each_mut(&mut lanes, |_, (lane, done)| {
        *done = lane.take().map_or(Ok(()), run);
    });
    lanes.into_iter().try_for_each(|(_, done)| done)
}
