//! What each operation reports.

use trioxide::Result;
use trioxide::device::{Device, Stage};

/// The machine of a run, and the time and memory that the run took there.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Name of the device; `serial` for the sequential algorithms.
    pub device: String,
    /// Times, in the order of the work.
    pub stages: Vec<Stage>,
    /// Most bytes on the device at once.
    pub peak_bytes: Option<u64>,
}

impl Run {
    /// A run on a device: its stages since the last call, after `before`.
    pub(crate) fn of(on: &Device, before: Vec<Stage>) -> Result<Self> {
        let mut stages = before;
        stages.extend(on.take_stages()?);
        Ok(Self {
            device: on.name(),
            stages,
            peak_bytes: Some(on.peak_bytes()),
        })
    }

    /// A run of a sequential algorithm.
    #[cfg(feature = "serial")]
    pub(crate) fn serial(stages: Vec<Stage>) -> Self {
        Self {
            device: "serial".to_owned(),
            stages,
            peak_bytes: None,
        }
    }
}

/// A number or a word of a report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Count {
    /// How many.
    Whole(u64),
    /// How much.
    Real(f64),
    /// Which.
    Word(&'static str),
}

impl From<u64> for Count {
    fn from(count: u64) -> Self {
        Self::Whole(count)
    }
}

impl From<usize> for Count {
    fn from(count: usize) -> Self {
        Self::Whole(count as u64)
    }
}

impl From<u32> for Count {
    fn from(count: u32) -> Self {
        Self::Whole(count.into())
    }
}

impl From<f64> for Count {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<&'static str> for Count {
    fn from(word: &'static str) -> Self {
        Self::Word(word)
    }
}

/// The counts of a report by their names, in the order of the work.
pub type Counts = Vec<(&'static str, Count)>;
