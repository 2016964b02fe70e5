//! Files whose parts threads fill each by itself.

use std::fs::File;
use std::io::{Result, Write};

#[cfg(target_os = "linux")]
use super::in_memory;
use super::records::Records;

/// What records are written to.
pub trait Out: Write + Send {
    /// Goes on behind the next `length` bytes, which the caller fills; `None` where they are to be written.
    fn place(&mut self, length: usize) -> Option<Place> {
        let _ = length;
        None
    }

    /// Has all threads make records in the pages of the file, and goes on behind them: all, or the first of them, whose
    /// number it gives.
    fn make(&mut self, records: &Records) -> usize {
        let _ = records;
        0
    }
}

impl Out for Vec<u8> {}

impl Out for File {}

/// Bytes of a file that its owner fills.
#[derive(Debug)]
pub enum Place {
    /// Of a file that lies in memory.
    #[cfg(target_os = "linux")]
    InMemory(in_memory::Place),
}

impl Place {
    /// Fills the place with `bytes`, as many as it was made for.
    ///
    /// # Errors
    /// Those of writing.
    ///
    /// # Panics
    /// When there are more or fewer.
    pub fn fill(&self, bytes: &[u8]) -> Result<()> {
        match *self {
            #[cfg(target_os = "linux")]
            Place::InMemory(ref place) => place.fill(bytes),
        }
    }
}
