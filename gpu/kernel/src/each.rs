//! Arrays of a few values.

use core::mem::MaybeUninit;

/// The values of an array one by one.
pub trait Each<T, const N: usize> {
    /// The results of `f` for each value, in their order: an array's own `map` for values without a destructor. That
    /// one keeps a guard for a panic of `f`, which the compiler removes late, or at low levels not at all.
    fn each<U: Copy>(self, f: impl FnMut(T) -> U) -> [U; N];
}

impl<T: Copy, const N: usize> Each<T, N> for [T; N] {
    #[inline(always)]
    fn each<U: Copy>(self, mut f: impl FnMut(T) -> U) -> [U; N] {
        array_of(|k| f(self[k]))
    }
}

/// The results of `f` for 0, 1, …: `core::array::from_fn` for values without a destructor.
#[inline(always)]
pub(crate) fn array_of<U: Copy, const N: usize>(mut f: impl FnMut(usize) -> U) -> [U; N] {
    let mut results = MaybeUninit::<[U; N]>::uninit();
    let first = results.as_mut_ptr().cast::<U>();
    let mut k = 0;
    while k < N {
        // SAFETY: the array has `N` places.
        unsafe { first.add(k).write(f(k)) };
        k += 1;
    }
    // SAFETY: every place was written.
    unsafe { results.assume_init() }
}

#[cfg(test)]
mod tests {
    use super::Each;

    #[test]
    fn results_are_those_of_map() {
        let mut seen = Vec::new();
        let halves = [6, 2, 8].each(|value| {
            seen.push(value);
            f64::from(value) / 2.0
        });
        assert_eq!(halves, [3.0, 1.0, 4.0]);
        assert_eq!(seen, [6, 2, 8]);
        assert_eq!([0u8; 0].each(|value| value), [0; 0]);
    }
}
