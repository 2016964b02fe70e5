//! Copies between the host and the device: by lanes, through staging buffers, overlapping other work.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{MutexGuard, TryLockError};

use cust::context::Context;
use cust::error::CudaResult;
use cust::event::{Event, EventFlags};
use cust::stream::{Stream, StreamWaitEventFlags};

use super::Cuda;
use crate::device::lock;
use crate::device::transfers::{Lanes, PIECE, Staging};
use trioxide_work::parallel;

/// Most bytes of numbers that the host reads while the device goes on.
pub(super) const FEW: usize = 64 << 10;

/// Bytes that one host thread copies at a time between a pinned buffer and a caller's memory.
const COPY_CHUNK: usize = 1 << 20;

impl Cuda {
    /// Lanes for a copy of `bytes` bytes, unless the copy is too small for them or they are busy.
    pub(super) fn lanes(&self, bytes: usize) -> CudaResult<Option<MutexGuard<'_, Option<Lanes>>>> {
        if bytes <= PIECE {
            return Ok(None);
        }
        let Ok(mut lanes) = self.lanes.try_lock() else {
            return Ok(None);
        };
        if lanes.is_none() {
            *lanes = Some(Lanes::new()?);
        }
        Ok(Some(lanes))
    }

    /// Runs `copy` with the device's two buffers, or with two new ones if they are busy. A thread that waited for them
    /// could be the thread that uses them, because it runs other work while its copy is split.
    fn with_staging(
        &self,
        copy: impl FnOnce(&mut [Staging; 2]) -> CudaResult<()>,
    ) -> CudaResult<()> {
        match self.staging.try_lock() {
            Ok(mut staging) => copy(&mut staging),
            Err(TryLockError::Poisoned(staging)) => copy(&mut staging.into_inner()),
            Err(TryLockError::WouldBlock) => copy(&mut [Staging::new()?, Staging::new()?]),
        }
    }

    /// Copies in on the calling thread, through two alternating buffers.
    pub(super) fn copy_in_turn(&self, to: u64, from: &[u8]) -> CudaResult<()> {
        self.with_staging(|staging| self.copy_in_by(staging, to, from))
    }

    fn copy_in_by(&self, staging: &mut [Staging; 2], to: u64, from: &[u8]) -> CudaResult<()> {
        for (i, piece) in from.chunks(PIECE).enumerate() {
            let to = to + (i * PIECE) as u64;
            // SAFETY: the buffer at `to` has `from.len()` bytes.
            unsafe { staging[i % 2].send(&self.core.stream, to, piece, copy_host) }?;
        }
        Ok(())
    }

    /// Copies out on the calling thread.
    pub(super) fn copy_out_turn(&self, from: u64, to: &mut [u8]) -> CudaResult<()> {
        self.with_staging(|staging| self.copy_out_by(staging, from, to))
    }

    fn copy_out_by(&self, staging: &mut [Staging; 2], from: u64, to: &mut [u8]) -> CudaResult<()> {
        let bytes = to.len();
        let request = |staging: &mut [Staging; 2], i: usize| {
            let length = PIECE.min(bytes - i * PIECE);
            let from = from + (i * PIECE) as u64;
            // SAFETY: the buffer at `from` has `to.len()` bytes.
            unsafe { staging[i % 2].request(&self.core.stream, from, length) }
        };
        if bytes > 0 {
            request(staging, 0)?;
        }
        for (i, piece) in to.chunks_mut(PIECE).enumerate() {
            // The next piece is transferred while this one is copied out.
            if (i + 1) * PIECE < bytes {
                request(staging, i + 1)?;
            }
            staging[i % 2].receive(piece, copy_host)?;
        }
        Ok(())
    }

    /// Copies a few bytes out, as the work so far left them, and runs `work`, which the device begins without waiting
    /// for the host.
    pub(super) fn copy_out_ahead(
        &self,
        from: u64,
        to: &mut [u8],
        work: &mut dyn FnMut(),
    ) -> CudaResult<()> {
        // The work may read other numbers ahead.
        let free = lock(&self.ahead).pop();
        let mut staging = free.map_or_else(|| Staging::with_room(FEW), Ok)?;
        // SAFETY: the buffer at `from` has `to.len()` bytes, and is borrowed until they have arrived.
        unsafe { staging.request(&self.core.stream, from, to.len()) }?;
        work();
        staging.receive(to, copy_host)?;
        lock(&self.ahead).push(staging);
        Ok(())
    }

    /// Makes stream `then` wait for the work so far of stream `first`.
    fn order(&self, first: &Stream, then: &Stream) -> CudaResult<()> {
        let event = Event::new(EventFlags::DISABLE_TIMING)?;
        event.record(first)?;
        then.wait_event(event, StreamWaitEventFlags::DEFAULT)
    }

    /// Runs `copy` on another thread, with the stream of copies, while `work` runs. Copies begin after the main
    /// stream's work so far, which allocated or wrote the buffer. The main stream's later work begins after the copies.
    pub(super) fn beside(
        &self,
        work: &mut dyn FnMut(),
        copy: impl FnOnce(&Context, &Stream) -> CudaResult<()> + Send,
    ) -> CudaResult<()> {
        self.order(&self.core.stream, &self.copies)?;
        let (context, copies) = (&self.core.context, &self.copies);
        let mut result = Ok(());
        let worked = catch_unwind(AssertUnwindSafe(|| {
            rayon::in_place_scope(|scope| {
                scope.spawn(|_| result = copy(context, copies));
                work();
            });
        }));
        // Also after a failure or a panic, because the buffer may be freed next. The work may have entered another
        // context.
        let ordered =
            (self.core.enter()).and_then(|()| self.order(&self.copies, &self.core.stream));
        worked.unwrap_or_else(|panic| resume_unwind(panic));
        ordered.and(result)
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        // Memory is unpinned in its context. A failure needs no cleanup.
        let _ = self.core.enter();
    }
}

/// Copies between a pinned buffer and the caller's memory. Several threads share a large copy.
fn copy_host(from: &[u8], to: &mut [u8]) {
    if from.len() <= COPY_CHUNK {
        to.copy_from_slice(from);
    } else {
        parallel::for_chunks_mut(to, COPY_CHUNK, |k, to| {
            to.copy_from_slice(&from[k * COPY_CHUNK..][..to.len()]);
        });
    }
}
