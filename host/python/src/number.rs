//! Types of numbers in arrays.

/// The type of an array's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    F64,
    U32,
    I32,
    U8,
    Bool,
}

impl Number {
    /// As in NumPy's array interface.
    pub fn typestr(self) -> &'static str {
        match self {
            Self::F64 => "<f8",
            Self::U32 => "<u4",
            Self::I32 => "<i4",
            Self::U8 => "|u1",
            Self::Bool => "|b1",
        }
    }

    /// Bytes.
    pub fn size(self) -> usize {
        match self {
            Self::F64 => 8,
            Self::U32 | Self::I32 => 4,
            Self::U8 | Self::Bool => 1,
        }
    }

    /// Of a type of the array interface.
    pub fn of_typestr(text: &str) -> Option<Self> {
        [Self::F64, Self::U32, Self::I32, Self::U8, Self::Bool]
            .into_iter()
            .find(|number| number.typestr() == text)
    }
}
