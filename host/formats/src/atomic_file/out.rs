//! Files whose parts threads fill independently.

use std::fs::File;
use std::io::{Result, Write};

#[cfg(target_os = "linux")]
use super::in_memory;
use super::records::Records;

/// The target of records.
pub trait Out: Write + Send {
    /// Advances by the next `length` bytes, which the caller fills. `None` if the caller must write them.
    fn place(&mut self, length: usize) -> Option<Place> {
        let _ = length;
        None
    }

    /// All threads write records into the pages of the file, and its position advances past them. Returns their number:
    /// all records, or the first of them.
    fn make(&mut self, records: &Records) -> usize {
        let _ = records;
        0
    }
}

impl Out for Vec<u8> {}

impl Out for File {}

/// Bytes of a file for the owner to fill.
#[derive(Debug)]
pub enum Place {
    /// In a file that lies in memory.
    #[cfg(target_os = "linux")]
    InMemory(in_memory::Place),
}

impl Place {
    /// Fills the place with `bytes`. Their number must be the place's length.
    ///
    /// # Errors
    /// Those of writing.
    ///
    /// # Panics
    /// When `bytes` has another length.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(unused_variables, reason = "there are no places elsewhere")
    )]
    pub fn fill(&self, bytes: &[u8]) -> Result<()> {
        match *self {
            #[cfg(target_os = "linux")]
            Place::InMemory(ref place) => place.fill(bytes),
        }
    }
}
