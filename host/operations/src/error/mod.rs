//! The failures of operations. They are data until a front end words them: options have the names that it has for them.

pub mod weld;

use std::fmt;

/// Result of an operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure of an operation.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A failure that is not a family's own: of a device, of its memory, of a mesh.
    Shared(trioxide::Error),
    /// A failure of welding.
    Weld(trioxide::weld::Error),
    /// What welding of whole meshes refuses.
    WeldRefused(weld::Refusal),
    /// The memory that an operation may use does not suffice: another device would have no more.
    Limited(Box<Error>),
}

/// What options are called where an error is read.
#[derive(Clone, Copy)]
pub struct Names {
    /// An option: `--method`.
    pub option: fn(&str) -> String,
    /// An option with a value: `--method grid`.
    pub value: fn(&str, &str) -> String,
}

/// Options as fields: `memory_limit`.
pub const FIELDS: Names = Names {
    option: |option| format!("`{option}`"),
    value: |option, value| format!("`{option}` {value}"),
};

impl Error {
    /// Whether the memory of the device does not suffice: another may have more.
    pub fn is_out_of_memory(&self) -> bool {
        use trioxide::weld::Error as Weld;
        match self {
            Self::Shared(error) | Self::Weld(Weld::Shared(error)) => error.is_out_of_memory(),
            Self::Weld(error) => matches!(
                error,
                Weld::TooDense { .. } | Weld::FacesInSlabs { .. } | Weld::Neighbours { .. }
            ),
            Self::WeldRefused(refusal) => matches!(refusal, weld::Refusal::InSlabs { .. }),
            Self::Limited(_) => false,
        }
    }

    /// Its cause and its remedy, with these names of options.
    pub fn say(&self, names: Names) -> String {
        match self {
            Self::Shared(error) => error.to_string(),
            Self::Weld(error) => weld::say(error, names),
            Self::WeldRefused(refusal) => refusal.say(names),
            Self::Limited(error) => error.say(names),
        }
    }

    /// As an error of the library, in words with these names of options.
    pub fn worded(self, names: Names) -> trioxide::Error {
        use trioxide::Error as Shared;
        let text = self.say(names);
        match self {
            _ if self.is_out_of_memory() && !self.has_bytes() => Shared::NoMemory(text),
            Self::Shared(error) => error,
            Self::Weld(error) => match error.into() {
                Shared::Argument(_) => Shared::Argument(text),
                // With its element.
                error => error,
            },
            Self::WeldRefused(_) | Self::Limited(_) => Shared::Argument(text),
        }
    }

    /// Whether it is a lack of a number of bytes, which the library's error has.
    pub(crate) fn has_bytes(&self) -> bool {
        use trioxide::weld::Error as Weld;
        matches!(
            self,
            Self::Shared(trioxide::Error::OutOfMemory { .. })
                | Self::Weld(Weld::Shared(trioxide::Error::OutOfMemory { .. }))
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.say(FIELDS))
    }
}

impl std::error::Error for Error {}

impl From<trioxide::Error> for Error {
    fn from(error: trioxide::Error) -> Self {
        Self::Shared(error)
    }
}

impl From<trioxide::weld::Error> for Error {
    fn from(error: trioxide::weld::Error) -> Self {
        Self::Weld(error)
    }
}

impl From<weld::Refusal> for Error {
    fn from(refusal: weld::Refusal) -> Self {
        Self::WeldRefused(refusal)
    }
}

impl From<Error> for trioxide::Error {
    fn from(error: Error) -> Self {
        error.worded(FIELDS)
    }
}
