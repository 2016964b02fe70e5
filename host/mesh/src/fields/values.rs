//! Numbers of one type.

use super::Mix;
use crate::parallel;

/// A type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberType {
    /// Signed, 8 bits.
    I8,
    /// Unsigned, 8 bits.
    U8,
    /// Signed, 16 bits.
    I16,
    /// Unsigned, 16 bits.
    U16,
    /// Signed, 32 bits.
    I32,
    /// Unsigned, 32 bits.
    U32,
    /// Signed, 64 bits.
    I64,
    /// Unsigned, 64 bits.
    U64,
    /// IEEE, 32 bits.
    F32,
    /// IEEE, 64 bits.
    F64,
}

impl NumberType {
    /// Bytes of a number.
    pub fn size(self) -> usize {
        match self {
            NumberType::I8 | NumberType::U8 => 1,
            NumberType::I16 | NumberType::U16 => 2,
            NumberType::I32 | NumberType::U32 | NumberType::F32 => 4,
            NumberType::I64 | NumberType::U64 | NumberType::F64 => 8,
        }
    }

    /// Its name, as VTK and PLY have it: `uint8`, `float64`.
    pub fn name(self) -> &'static str {
        match self {
            NumberType::I8 => "int8",
            NumberType::U8 => "uint8",
            NumberType::I16 => "int16",
            NumberType::U16 => "uint16",
            NumberType::I32 => "int32",
            NumberType::U32 => "uint32",
            NumberType::I64 => "int64",
            NumberType::U64 => "uint64",
            NumberType::F32 => "float32",
            NumberType::F64 => "float64",
        }
    }

    /// Whether its numbers are floats, not labels.
    pub fn is_float(self) -> bool {
        matches!(self, NumberType::F32 | NumberType::F64)
    }
}

/// Numbers of one type.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Signed, 8 bits.
    I8(Vec<i8>),
    /// Unsigned, 8 bits.
    U8(Vec<u8>),
    /// Signed, 16 bits.
    I16(Vec<i16>),
    /// Unsigned, 16 bits.
    U16(Vec<u16>),
    /// Signed, 32 bits.
    I32(Vec<i32>),
    /// Unsigned, 32 bits.
    U32(Vec<u32>),
    /// Signed, 64 bits.
    I64(Vec<i64>),
    /// Unsigned, 64 bits.
    U64(Vec<u64>),
    /// IEEE, 32 bits.
    F32(Vec<f32>),
    /// IEEE, 64 bits.
    F64(Vec<f64>),
}

macro_rules! of_each_type {
    ($values:expr, $list:ident => $body:expr) => {
        match $values {
            Values::I8($list) => $body,
            Values::U8($list) => $body,
            Values::I16($list) => $body,
            Values::U16($list) => $body,
            Values::I32($list) => $body,
            Values::U32($list) => $body,
            Values::I64($list) => $body,
            Values::U64($list) => $body,
            Values::F32($list) => $body,
            Values::F64($list) => $body,
        }
    };
}

macro_rules! from_lists {
    ($($type:ty => $variant:ident),*) => {
        $(impl From<Vec<$type>> for Values {
            fn from(list: Vec<$type>) -> Values {
                Values::$variant(list)
            }
        })*
    };
}

from_lists!(i8 => I8, u8 => U8, i16 => I16, u16 => U16, i32 => I32, u32 => U32, i64 => I64, u64 => U64, f32 => F32, f64 => F64);

impl Values {
    /// Whole numbers as numbers of `kind`, or as [`NumberType::I64`] if one of them is out of its range. Unsigned
    /// 64-bit numbers are passed as their bits.
    pub fn of_integers(kind: NumberType, numbers: Vec<i64>) -> Values {
        macro_rules! narrow {
            ($type:ty) => {{
                let fits = |&number: &i64| <$type>::try_from(number).is_ok();
                match parallel::all(&numbers, fits) {
                    true => parallel::map(&numbers, |&number| number as $type).into(),
                    false => Values::I64(numbers),
                }
            }};
        }
        match kind {
            NumberType::I8 => narrow!(i8),
            NumberType::U8 => narrow!(u8),
            NumberType::I16 => narrow!(i16),
            NumberType::U16 => narrow!(u16),
            NumberType::I32 => narrow!(i32),
            NumberType::U32 => narrow!(u32),
            NumberType::I64 => Values::I64(numbers),
            NumberType::U64 => Values::U64(parallel::map(&numbers, |&n| n as u64)),
            NumberType::F32 => Values::F32(parallel::map(&numbers, |&n| n as f32)),
            NumberType::F64 => Values::F64(parallel::map(&numbers, |&n| n as f64)),
        }
    }

    /// Floats as numbers of `kind`, or as [`NumberType::F64`] if `kind` is a type of integers and cannot hold one of
    /// them.
    pub fn of_floats(kind: NumberType, numbers: Vec<f64>) -> Values {
        match kind {
            NumberType::F64 => Values::F64(numbers),
            NumberType::F32 => Values::F32(parallel::map(&numbers, |&x| x as f32)),
            _ => {
                // Larger floats do not represent one integer each.
                const MOST: f64 = 9_007_199_254_740_992.0;
                let is_whole = |x: &f64| x.fract() == 0.0 && x.abs() <= MOST;
                match parallel::all(&numbers, is_whole) {
                    false => Values::F64(numbers),
                    true => Values::of_integers(kind, parallel::map(&numbers, |&x| x as i64)),
                }
            }
        }
    }

    /// Appends the numbers of `other`, or returns them if they have another type.
    pub fn append(&mut self, other: Values) -> Option<Values> {
        macro_rules! append {
            ($($variant:ident),*) => {
                match (self, other) {
                    $((Values::$variant(mine), Values::$variant(its)) => mine.extend(its),)*
                    (_, other) => return Some(other),
                }
            };
        }
        append!(I8, U8, I16, U16, I32, U32, I64, U64, F32, F64);
        None
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        of_each_type!(self, list => list.len())
    }

    /// Whether there are no numbers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Their type.
    pub fn kind(&self) -> NumberType {
        match self {
            Values::I8(_) => NumberType::I8,
            Values::U8(_) => NumberType::U8,
            Values::I16(_) => NumberType::I16,
            Values::U16(_) => NumberType::U16,
            Values::I32(_) => NumberType::I32,
            Values::U32(_) => NumberType::U32,
            Values::I64(_) => NumberType::I64,
            Values::U64(_) => NumberType::U64,
            Values::F32(_) => NumberType::F32,
            Values::F64(_) => NumberType::F64,
        }
    }

    /// Whether all are 0.
    pub fn are_zero(&self) -> bool {
        of_each_type!(self, list => list.iter().all(|&x| x == Default::default()))
    }

    /// Number `i` as the nearest float.
    ///
    /// # Panics
    /// When `i` is out of range.
    #[expect(clippy::unnecessary_cast, reason = "one body for all types")]
    pub fn f64(&self, i: usize) -> f64 {
        of_each_type!(self, list => list[i] as f64)
    }

    /// Number `i` as an integer; floats are truncated. Unsigned 64-bit numbers give their bits.
    ///
    /// # Panics
    /// When `i` is out of range.
    #[expect(clippy::unnecessary_cast, reason = "one body for all types")]
    pub fn i64(&self, i: usize) -> i64 {
        of_each_type!(self, list => list[i] as i64)
    }

    /// The `components` numbers of each of the elements `ids`.
    pub(super) fn gather(&self, components: usize, ids: &[u32]) -> Values {
        fn of<T: Copy + Default + Send + Sync>(
            list: &[T],
            components: usize,
            ids: &[u32],
        ) -> Vec<T> {
            if components == 1 {
                return parallel::map(ids, |&i| list[i as usize]);
            }
            let mut all = vec![T::default(); components * ids.len()];
            parallel::for_chunks_mut(&mut all, components.max(1), |k, element| {
                let begin = ids[k] as usize * components;
                element.copy_from_slice(&list[begin..begin + components]);
            });
            all
        }
        of_each_type!(self, list => of(list, components, ids).into())
    }

    /// The `components` numbers of each row of `mix`.
    pub(super) fn mixed(&self, components: usize, mix: &Mix) -> Values {
        if !self.kind().is_float() {
            return self.gather(components, mix.labels());
        }
        let means = |value: &(dyn Fn(usize) -> f64 + Sync)| -> Vec<f64> {
            let mut all = vec![0.0; components * mix.labels().len()];
            parallel::for_chunks_mut(&mut all, components.max(1), |i, row| {
                for (k, mean) in row.iter_mut().enumerate() {
                    *mean = mix.mean(i, |v| value(v as usize * components + k));
                }
            });
            all
        };
        match self {
            Values::F32(list) => {
                let means = means(&|i| f64::from(list[i]));
                Values::F32(parallel::map(&means, |&x| x as f32))
            }
            Values::F64(list) => Values::F64(means(&|i| list[i])),
            _ => unreachable!("integers were gathered"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_type_where_they_fit() {
        let bytes = Values::of_integers(NumberType::U8, vec![0, 255]);
        assert_eq!(bytes, Values::U8(vec![0, 255]));
        let wide = Values::of_integers(NumberType::U8, vec![0, 256]);
        assert_eq!(wide, Values::I64(vec![0, 256]));
        let bits = Values::of_integers(NumberType::U64, vec![-1]);
        assert_eq!(bits, Values::U64(vec![u64::MAX]));
        let whole = Values::of_floats(NumberType::I16, vec![-3.0, 7.0]);
        assert_eq!(whole, Values::I16(vec![-3, 7]));
        let half = Values::of_floats(NumberType::I16, vec![0.5]);
        assert_eq!(half, Values::F64(vec![0.5]));
        assert_eq!(
            Values::of_floats(NumberType::F32, vec![0.1]),
            Values::F32(vec![0.1])
        );
    }

    #[test]
    fn elements_are_gathered_with_all_components() {
        let values = Values::from(vec![1u16, 2, 3, 4, 5, 6]);
        assert_eq!(
            values.gather(2, &[2, 0, 2]),
            vec![5u16, 6, 1, 2, 5, 6].into()
        );
        assert_eq!(values.gather(1, &[5, 0]), vec![6u16, 1].into());
    }
}
