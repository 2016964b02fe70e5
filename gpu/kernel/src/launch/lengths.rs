//! The comparison of a launch's arrays with its number of indices.

use core::slice;

use super::{Arguments, Array};

/// An array with fewer elements than the launch has indices.
#[derive(Clone, Copy, Debug)]
pub struct TooShort {
    /// Its name.
    pub array: &'static str,
    /// Number of its elements.
    pub len: u64,
    /// Elements that each index needs.
    pub per: u32,
}

/// The elements of an array that a launch needs.
#[derive(Clone, Copy, Debug)]
pub enum Need {
    /// None.
    Nothing,
    /// So many for each index.
    Each(u32),
    /// No length is enough.
    Refused(u32),
}

/// The arrays of a launch, which its parameters compare in the order in which they recorded them.
pub struct Lengths<'a> {
    arrays: slice::Iter<'a, Array>,
    n: u32,
    short: Option<TooShort>,
}

impl<'a> Lengths<'a> {
    /// Those of a launch of `n` indices.
    #[inline(never)]
    pub fn new(arguments: &'a Arguments, n: u32) -> Self {
        Self {
            arrays: arguments.arrays().iter(),
            n,
            short: None,
        }
    }

    /// Compares the next array.
    ///
    /// # Panics
    /// If there is none.
    #[inline(never)]
    pub fn compare(&mut self, need: Need) {
        let array = self.arrays.next().expect("a parameter compares its arrays");
        let (is_refused, per) = match need {
            Need::Nothing => return,
            Need::Each(per) => (false, per),
            Need::Refused(per) => (true, per),
        };
        let needed = u64::from(self.n) * u64::from(per);
        // Parts are numbered by u32.
        if self.short.is_none() && (is_refused || needed > 1 << 32 || array.len < needed) {
            let &Array { name, len, .. } = array;
            self.short = Some(TooShort {
                array: name,
                len,
                per,
            });
        }
    }

    /// The first array that is too short.
    #[inline(never)]
    pub fn short(self) -> Option<TooShort> {
        self.short
    }
}
