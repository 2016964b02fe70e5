//! Which of the two pipelines makes the polygons.

use clap::ValueEnum;
use trioxide::{Error, Result, indexed};

/// `--method`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// Links of half-edges are rewritten (GPolylla).
    HalfEdge,
    /// Polygons are appended to arrays, and repaired in rounds.
    Indexed,
}

/// `--repair`.
#[derive(Clone, Copy, ValueEnum)]
pub enum Repair {
    /// In rounds, all broken polygons at once.
    Device,
    /// On the host, one polygon after the other.
    Host,
}

impl From<Repair> for indexed::Repair {
    fn from(repair: Repair) -> Self {
        match repair {
            Repair::Device => indexed::Repair::Device,
            Repair::Host => indexed::Repair::Host,
        }
    }
}

/// Refuses a `--repair` that the method has not.
pub fn check_repair(method: Method, repair: Option<Repair>) -> Result<()> {
    if method == Method::HalfEdge && repair.is_some() {
        return Err(Error::Argument(
            "--repair goes with --method indexed: add it, or leave --repair out".to_owned(),
        ));
    }
    Ok(())
}
