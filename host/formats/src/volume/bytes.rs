//! Binary data of a file: bounds are checked before memory is allocated.

use std::io;

use crate::atomic_file::Out;
use crate::fields::Number;
use crate::rows_out::write_records;
use crate::text::{Fault, Parsed};
use trioxide_mesh::parallel;

/// Order of a number's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Little,
    Big,
}

/// Type of numbers.
pub(crate) use trioxide_mesh::fields::NumberType as Kind;

/// Numbers of a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Numbers {
    Integers(Vec<i64>),
    Floats(Vec<f64>),
}

/// Decodes numbers of a type from their bytes.
pub(crate) trait Decode {
    /// The numbers in `bytes`.
    fn numbers(self, bytes: &[u8], order: Order) -> Numbers;
}

impl Decode for Kind {
    fn numbers(self, bytes: &[u8], order: Order) -> Numbers {
        macro_rules! numbers {
            ($type:ty, $as:ty, $variant:ident) => {{
                let (chunks, _) = bytes.as_chunks();
                Numbers::$variant(match order {
                    Order::Little => parallel::map(chunks, |b| <$type>::from_le_bytes(*b) as $as),
                    Order::Big => parallel::map(chunks, |b| <$type>::from_be_bytes(*b) as $as),
                })
            }};
        }
        match self {
            Kind::I8 => numbers!(i8, i64, Integers),
            Kind::U8 => numbers!(u8, i64, Integers),
            Kind::I16 => numbers!(i16, i64, Integers),
            Kind::U16 => numbers!(u16, i64, Integers),
            Kind::I32 => numbers!(i32, i64, Integers),
            Kind::U32 => numbers!(u32, i64, Integers),
            Kind::I64 => numbers!(i64, i64, Integers),
            // Numbers from 2^63 on become negative: no index and no tag.
            Kind::U64 => numbers!(u64, i64, Integers),
            Kind::F32 => numbers!(f32, f64, Floats),
            Kind::F64 => numbers!(f64, f64, Floats),
        }
    }
}

/// The number in the first bytes of `bytes`, as a double.
#[inline]
pub(crate) fn read_f64(kind: Kind, bytes: &[u8], order: Order) -> f64 {
    macro_rules! number {
        ($type:ty) => {{
            let (bytes, _) = bytes.split_first_chunk().expect("the size was checked");
            match order {
                Order::Little => <$type>::from_le_bytes(*bytes) as f64,
                Order::Big => <$type>::from_be_bytes(*bytes) as f64,
            }
        }};
    }
    match kind {
        Kind::I8 => number!(i8),
        Kind::U8 => number!(u8),
        Kind::I16 => number!(i16),
        Kind::U16 => number!(u16),
        Kind::I32 => number!(i32),
        Kind::U32 => number!(u32),
        Kind::I64 => number!(i64),
        Kind::U64 => number!(u64),
        Kind::F32 => number!(f32),
        Kind::F64 => number!(f64),
    }
}

/// Writes `count` records of numbers, each with its bytes: binary in an `order`, or as a line of text each.
pub(crate) fn write_numbers(
    out: &mut dyn Out,
    count: usize,
    order: Option<Order>,
    record: impl Fn(usize, &mut dyn FnMut(Number, usize)) + Sync,
) -> io::Result<()> {
    write_records(out, count, |buffer, i| {
        record(i, &mut |number, size| match order {
            Some(order) => number.push_bytes(buffer, size, order == Order::Big),
            None => {
                number.push_text(buffer);
                buffer.push(b' ');
            }
        });
        if order.is_none()
            && let Some(last) = buffer.last_mut()
        {
            *last = b'\n';
        }
    })
}

impl Numbers {
    /// Unsigned numbers of 64 bits; from 2^63 on they become negative, as in [`Kind::numbers`].
    pub(super) fn of_bits(numbers: Vec<u64>) -> Numbers {
        Numbers::Integers(numbers.into_iter().map(|number| number as i64).collect())
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Numbers::Integers(integers) => integers.len(),
            Numbers::Floats(floats) => floats.len(),
        }
    }

    pub(crate) fn into_floats(self) -> Vec<f64> {
        match self {
            Numbers::Integers(integers) => parallel::map(&integers, |&i| i as f64),
            Numbers::Floats(floats) => floats,
        }
    }

    /// The numbers as integers, or the first one that is not whole.
    pub(crate) fn into_integers(self) -> Result<Vec<i64>, f64> {
        match self {
            Numbers::Integers(integers) => Ok(integers),
            Numbers::Floats(floats) => floats
                .into_iter()
                .map(|x| crate::text::whole(x).ok_or(x))
                .collect(),
        }
    }
}

/// Binary data, read from `at` on.
#[derive(Clone)]
pub(crate) struct Bytes<'a> {
    pub(crate) file: &'a [u8],
    pub(crate) at: usize,
    pub(crate) order: Order,
    /// The place where faults are reported: the start of the binary part, which has no lines.
    pub(crate) part: usize,
}

impl<'a> Bytes<'a> {
    /// A fault at byte `at`.
    pub(crate) fn fault(&self, at: usize, reason: impl std::fmt::Display) -> Fault {
        Fault::new(self.part, format!("byte {at}: {reason}"))
    }

    /// The next `count` times `size` bytes.
    pub(crate) fn take(&mut self, count: usize, size: usize, what: &str) -> Parsed<&'a [u8]> {
        let left = self.file.len() - self.at;
        let length = count.checked_mul(size).filter(|&length| length <= left);
        let Some(length) = length else {
            let reason = format!(
                "expected {count} times {size} bytes of {what}, but the file ends after {left} bytes"
            );
            return Err(self.fault(self.at, reason));
        };
        let bytes = &self.file[self.at..self.at + length];
        self.at += length;
        Ok(bytes)
    }

    /// The next `count` numbers of type `kind`.
    pub(crate) fn numbers(&mut self, count: usize, kind: Kind, what: &str) -> Parsed<Numbers> {
        let bytes = self.take(count, kind.size(), what)?;
        Ok(kind.numbers(bytes, self.order))
    }

    /// The next whole number, of type `kind`.
    pub(crate) fn integer(&mut self, kind: Kind, what: &str) -> Parsed<i64> {
        match self.numbers(1, kind, what)? {
            Numbers::Integers(integers) => Ok(integers[0]),
            Numbers::Floats(_) => unreachable!("integers are asked for"),
        }
    }

    /// The next whole number, which must not be negative.
    pub(crate) fn count(&mut self, kind: Kind, what: &str) -> Parsed<usize> {
        let at = self.at;
        let value = self.integer(kind, what)?;
        usize::try_from(value)
            .map_err(|_| self.fault(at, format!("expected {what}, found {value}")))
    }
}
