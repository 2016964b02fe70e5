//! A block on a device: a thread is a lane.

use bytemuck::Pod;
use cuda_std::{shared, thread, warp};

use super::{
    Block, Lane, Lanes, NoCells, PhantomData, SCRATCH_BYTES, Shared, SharedMemory, check_alignment,
    check_exchanged,
};

impl<T: Copy, const LANES: usize> Lanes<T, LANES> {
    #[inline(always)]
    pub fn at(&self, _lane: Lane<'_>) -> T {
        self.value
    }
}

impl<const LANES: usize, S: SharedMemory> Block<LANES, S> {
    /// Block `index`.
    ///
    /// # Safety
    /// The thread belongs to the block, whose shared memory has the scratch and `S`.
    #[inline(always)]
    pub unsafe fn new(index: u32) -> Self {
        Self {
            index,
            memory: PhantomData,
        }
    }

    #[inline(always)]
    pub fn lanes<T: Copy>(&self, f: impl Fn(Lane<'_>) -> T + NoCells) -> Lanes<T, LANES> {
        Lanes {
            value: Lane::run(thread::thread_idx_x(), f),
        }
    }

    #[inline(always)]
    pub fn phase(&self, f: impl Fn(Lane<'_>) + NoCells) {
        Lane::run(thread::thread_idx_x(), f);
        thread::sync_threads();
    }

    #[inline(always)]
    pub fn each(&self, count: u32, f: impl Fn(Lane<'_>, u32) + NoCells) {
        let mut i = thread::thread_idx_x();
        while i < count {
            Lane::run(thread::thread_idx_x(), |lane| f(lane, i));
            i += LANES as u32;
        }
        thread::sync_threads();
    }

    #[inline(always)]
    pub fn any(&self, x: &Lanes<bool, LANES>) -> bool {
        thread::sync_threads_or(x.value)
    }

    #[inline(always)]
    pub fn shared(&self) -> &S {
        const { check_alignment::<S>() };
        // SAFETY: the launch reserves the scratch, and after it the bytes of `S`.
        unsafe { &*shared::dynamic_shared_mem::<u8>().add(SCRATCH_BYTES).cast() }
    }

    /// Warps scan by shuffles; the first warp scans their sums in shared memory.
    #[inline(always)]
    pub fn exclusive_sum(&self, x: &Lanes<u32, LANES>) -> (Lanes<u32, LANES>, u32) {
        // SAFETY: the scratch at the start of shared memory, 64 words.
        let sums = unsafe { &*shared::dynamic_shared_mem::<Shared<u32, 64>>() };
        let lane = thread::thread_idx_x();
        let warps = LANES as u32 / 32;
        let inclusive = warp_sum(x.value);
        if lane % 32 == 31 {
            sums.put(lane / 32, inclusive);
        }
        thread::sync_threads();
        if lane < 32 {
            let sum = if lane < warps { sums.at(lane) } else { 0 };
            let inclusive = warp_sum(sum);
            sums.put(lane, inclusive);
        }
        thread::sync_threads();
        let before = if lane >= 32 {
            sums.at(lane / 32 - 1)
        } else {
            0
        };
        let total = sums.at(warps - 1);
        // The next call writes the sums again.
        thread::sync_threads();
        (
            Lanes {
                value: before + inclusive - x.value,
            },
            total,
        )
    }
}

impl<const LANES: usize, S: SharedMemory> Block<LANES, S> {
    #[inline(always)]
    pub fn shuffle<T: Pod>(
        &self,
        x: &Lanes<T, LANES>,
        from: &Lanes<u32, LANES>,
    ) -> Lanes<T, LANES> {
        Lanes {
            value: shuffle(x.value, from.value),
        }
    }

    /// Each warp reduces by shuffles; then every warp reduces the results, which are in the scratch.
    #[inline(always)]
    pub(super) fn reduce<T: Pod>(
        &self,
        x: &Lanes<T, LANES>,
        neutral: T,
        combine: impl Fn(T, T) -> T,
    ) -> T {
        let all = reduce_warp(x.value, 16, &combine);
        if LANES == 32 {
            return all;
        }
        // SAFETY: the scratch at the start of shared memory, 32 values of 8 bytes.
        let results = unsafe { &*shared::dynamic_shared_mem::<Shared<T, 32>>() };
        const { assert!(size_of::<T>() * 32 <= SCRATCH_BYTES) };
        let warps = LANES as u32 / 32;
        if warp::lane_id() == 0 {
            results.put(thread::thread_idx_x() / 32, all);
        }
        thread::sync_threads();
        // Each group of lanes reads all results, and combines them.
        let group = warps.next_power_of_two();
        let place = warp::lane_id() % group;
        let result = if place < warps {
            results.at(place)
        } else {
            neutral
        };
        // The next call writes the results again.
        thread::sync_threads();
        reduce_warp(result, group / 2, &combine)
    }
}

/// Combines the values of each `2 * distance` lanes of a warp, in the order of [`Block::sum`]. `combine` commutes, so
/// each of these lanes has the result.
#[inline(always)]
fn reduce_warp<T: Pod>(mut x: T, mut distance: u32, combine: &impl Fn(T, T) -> T) -> T {
    while distance > 0 {
        x = combine(x, shuffle(x, warp::lane_id() ^ distance));
        distance /= 2;
    }
    x
}

/// The value of lane `from`, modulo 32, of the warp.
#[inline(always)]
fn shuffle<T: Pod>(x: T, from: u32) -> T {
    const { check_exchanged::<T>() };
    match size_of::<T>() {
        4 => shuffle_words::<T, 1>(x, from),
        8 => shuffle_words::<T, 2>(x, from),
        12 => shuffle_words::<T, 3>(x, from),
        _ => shuffle_words::<T, 4>(x, from),
    }
}

/// `T` has `WORDS` words.
#[inline(always)]
fn shuffle_words<T: Pod, const WORDS: usize>(x: T, from: u32) -> T {
    if size_of::<T>() != 4 * WORDS {
        return x;
    }
    // SAFETY: plain data of one size.
    let mut words: [u32; WORDS] = unsafe { core::mem::transmute_copy(&x) };
    let mut k = 0;
    while k < WORDS {
        words[k] = warp::shuffle(words[k], from);
        k += 1;
    }
    // SAFETY: as above.
    unsafe { core::mem::transmute_copy(&words) }
}

impl<S: SharedMemory> Block<32, S> {
    #[inline(always)]
    pub fn ballot(&self, x: &Lanes<bool, 32>) -> u32 {
        warp::ballot(x.value)
    }
}

/// Inclusive sum over a warp.
#[inline(always)]
fn warp_sum(mut x: u32) -> u32 {
    let mut distance = 1;
    while distance < 32 {
        let below = warp::shuffle_up(x, distance);
        if warp::lane_id() >= distance {
            x += below;
        }
        distance *= 2;
    }
    x
}
