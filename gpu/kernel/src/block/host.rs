//! A block on the CPU: one thread runs all lanes.

use bytemuck::Pod;

use super::{
    Block, Lane, Lanes, NoCells, PhantomData, SCRATCH_BYTES, SharedMemory, check_alignment,
    check_exchanged,
};
use crate::each::array_of;
use crate::place;

/// Runs `f` for each lane.
struct InLanes;

impl InLanes {
    /// # Panics
    /// Inside a lane's closure.
    fn enter() -> Self {
        refuse_in_lane();
        InLanes
    }

    #[inline(always)]
    fn run<T>(&self, lane: u32, f: impl FnOnce(Lane<'_>) -> T) -> T {
        place::enter_lane(lane);
        Lane::run(lane, f)
    }
}

impl Drop for InLanes {
    // Also after a panic: the thread runs other kernels later.
    fn drop(&mut self) {
        place::leave_lanes();
    }
}

/// Refuses a barrier inside a lane's closure. On a device a barrier that some lanes do not reach hangs the block, and a
/// loop over lanes inside a lane runs for that lane alone.
#[inline(always)]
fn refuse_in_lane() {
    assert!(
        !place::is_in_lane(),
        "a barrier inside of a lane's closure: call lanes, phase, any, ballot, shuffle, exclusive_sum and reductions outside of \
         the closures of lanes and phase"
    );
}

impl<T: Copy, const LANES: usize> Lanes<T, LANES> {
    /// Value of `lane`, in its closure. On a device a lane has only its own value: lanes exchange values through shared
    /// memory.
    pub fn at(&self, lane: Lane<'_>) -> T {
        self.values[lane.index() as usize]
    }
}

impl<const LANES: usize, S: SharedMemory> Block<LANES, S> {
    /// Block `index`, with `shared` as its shared memory, scratch included.
    ///
    /// # Safety
    /// `shared` is aligned to 16 bytes, as long as the scratch and `S` together, and only this block uses it.
    pub unsafe fn new(index: u32, shared: *mut u8) -> Self {
        Self {
            index,
            shared,
            memory: PhantomData,
        }
    }

    /// Returns `f` of every lane, without a barrier.
    pub fn lanes<T: Copy>(&self, f: impl Fn(Lane<'_>) -> T + NoCells) -> Lanes<T, LANES> {
        let lanes = InLanes::enter();
        let values = array_of(|lane| lanes.run(lane as u32, &f));
        Lanes { values }
    }

    /// Runs `f` for every lane, followed by a barrier.
    pub fn phase(&self, f: impl Fn(Lane<'_>) + NoCells) {
        let lanes = InLanes::enter();
        for lane in 0..LANES as u32 {
            lanes.run(lane, &f);
        }
        place::pass_barrier();
    }

    /// Runs `f` for every index below `count`, followed by a barrier. On a device neighbouring lanes have neighbouring
    /// indices.
    #[inline(always)]
    pub fn each(&self, count: u32, f: impl Fn(Lane<'_>, u32) + NoCells) {
        let lanes = InLanes::enter();
        for i in 0..count {
            lanes.run(i % LANES as u32, |lane| f(lane, i));
        }
        place::pass_barrier();
    }

    /// Whether `x` holds for one of the lanes. A barrier.
    pub fn any(&self, x: &Lanes<bool, LANES>) -> bool {
        refuse_in_lane();
        place::pass_barrier();
        x.values.contains(&true)
    }

    /// The block's shared memory.
    pub fn shared(&self) -> &S {
        const { check_alignment::<S>() };
        // SAFETY: after the scratch (contract of `new`), aligned as checked; any bits are a value of `S`.
        unsafe { &*self.shared.add(SCRATCH_BYTES).cast() }
    }

    /// For each lane the sum of `x` over the lanes below it; and the sum over all lanes; modulo 2^32. A barrier before
    /// and after.
    pub fn exclusive_sum(&self, x: &Lanes<u32, LANES>) -> (Lanes<u32, LANES>, u32) {
        refuse_in_lane();
        place::pass_barrier();
        let mut sum = 0u32;
        let values = array_of(|lane| {
            let before = sum;
            sum = sum.wrapping_add(x.values[lane]);
            before
        });
        (Lanes { values }, sum)
    }
}

impl<const LANES: usize, S: SharedMemory> Block<LANES, S> {
    /// For each lane the value of `x` of another lane: of lane `from`, modulo 32, in the same row of 32 lanes. A value
    /// has 4, 8, 12 or 16 bytes. There is no barrier: other lanes do not see earlier writes to shared memory yet.
    pub fn shuffle<T: Pod>(
        &self,
        x: &Lanes<T, LANES>,
        from: &Lanes<u32, LANES>,
    ) -> Lanes<T, LANES> {
        const { check_exchanged::<T>() };
        refuse_in_lane();
        let value = |lane: usize| x.values[lane / 32 * 32 + from.values[lane] as usize % 32];
        Lanes {
            values: array_of(value),
        }
    }

    /// Combines all values, in the order of [`Block::sum`].
    pub(super) fn reduce<T: Pod>(
        &self,
        x: &Lanes<T, LANES>,
        neutral: T,
        combine: impl Fn(T, T) -> T,
    ) -> T {
        refuse_in_lane();
        if LANES > 32 {
            place::pass_barrier();
        }
        let row = |values: [T; 32]| reduce_row(values, &combine);
        let mut results = [neutral; 32];
        for (result, values) in results.iter_mut().zip(x.values.as_chunks::<32>().0) {
            *result = row(*values);
        }
        if LANES == 32 {
            results[0]
        } else {
            row(results)
        }
    }
}

/// Combines the values of a row of lanes.
fn reduce_row<T: Pod>(mut values: [T; 32], combine: &impl Fn(T, T) -> T) -> T {
    let mut distance = 16;
    while distance > 0 {
        for lane in 0..distance {
            values[lane] = combine(values[lane], values[lane + distance]);
        }
        distance /= 2;
    }
    values[0]
}

impl<S: SharedMemory> Block<32, S> {
    /// Bit i is the flag of lane i. There is no barrier: other lanes do not see earlier writes to shared memory yet.
    pub fn ballot(&self, x: &Lanes<bool, 32>) -> u32 {
        refuse_in_lane();
        let bit = |(lane, &flag): (usize, &bool)| u32::from(flag) << lane;
        x.values.iter().enumerate().map(bit).sum()
    }
}
