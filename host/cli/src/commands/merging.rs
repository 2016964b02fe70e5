//! Options of the commands that merge vertices.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use trioxide::formats::atomic_file::write_atomically;
use trioxide::weld::Locks;
use trioxide::{Error, Result};
use trioxide_arguments::{is_standard_output, print};
use trioxide_operations::Precision;

use super::ids::read_flags;

/// Options of all commands that merge vertices.
#[derive(Args)]
pub struct Merging {
    /// Vertices that stay where they are, and in weld merge with none: boundary, those at edges that one face alone
    /// has; file:PATH, ids of vertices, one a line (0 is the first); may be given several times
    #[arg(long, value_name = "WHICH")]
    pub lock: Vec<Lock>,
    /// Precision of coordinates on the device: f64
    #[arg(long, value_enum, default_value_t)]
    precision: Precision,
}

/// `--lock`.
#[derive(Clone)]
pub enum Lock {
    Boundary,
    File(PathBuf),
}

impl FromStr for Lock {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "boundary" => Ok(Lock::Boundary),
            Some(("file", path)) if !path.is_empty() => Ok(Lock::File(path.into())),
            _ => Err("expected boundary or file:PATH".to_owned()),
        }
    }
}

impl Merging {
    /// Refuses single precision for the command of this name.
    pub fn check(&self, command: &str) -> Result<()> {
        match self.precision {
            Precision::F64 => Ok(()),
            Precision::F32 => Err(Error::Argument(format!(
                "{command} computes in double precision: leave --precision f32 out"
            ))),
        }
    }

    /// The locks on a mesh of that many vertices.
    pub fn locks(&self, vertices: usize) -> Result<Locks> {
        let mut locks = Locks::default();
        for lock in &self.lock {
            match lock {
                Lock::Boundary => locks.boundary = true,
                Lock::File(path) => {
                    locks.vertices.resize(vertices, false);
                    let what = format!("one of {vertices} vertices, counted from 0");
                    let named = read_flags(path, vertices, &what)?;
                    for (lock, named) in locks.vertices.iter_mut().zip(named) {
                        *lock |= named;
                    }
                }
            }
        }
        Ok(locks)
    }
}

/// Writes numbers to a text file, one a line.
pub fn write_numbers(path: &Path, numbers: impl Iterator<Item = u32>) -> Result<()> {
    let mut text = String::new();
    let mut digits = itoa::Buffer::new();
    for number in numbers {
        text.push_str(digits.format(number));
        text.push('\n');
    }
    if is_standard_output(path) {
        return print(&text);
    }
    write_atomically(path, |file| file.write_all(text.as_bytes()))
}
