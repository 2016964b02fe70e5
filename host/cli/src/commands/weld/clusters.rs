//! The options on clusters.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use trioxide::Result;
use trioxide::weld::{self, Guards, Locks, Position};
use trioxide_arguments::weld::MethodOption;

use crate::commands::ids::read_flags;

/// How vertices are clustered.
#[derive(Args)]
pub struct Clusters {
    /// Distance within which vertices merge; 0 merges exact duplicates
    #[arg(long, value_name = "E", group = "distance")]
    pub epsilon: Option<f64>,
    /// Fraction of the vertices to remove, instead of --epsilon: searches the distance that removes as many, to 0.0001
    /// or as near as any distance comes
    #[arg(long, value_name = "R", group = "distance")]
    pub ratio: Option<f64>,
    /// Position of a merged vertex, and what it carries: the mean of its vertices, or that of the first
    #[arg(long, value_enum, default_value = "mean")]
    position: PositionOption,
    /// Keep faces and segments whose ends merged, and those that are there twice
    #[arg(long)]
    pub keep_degenerate: bool,
    /// Largest angle between the normals of vertices that merge, in degrees (0 to 180); one larger by 1e-5 degrees
    /// counts as equal, but for 0; a normal of length zero keeps none apart
    #[arg(long, value_name = "DEG")]
    normal_tolerance: Option<f64>,
    /// Largest distance of the texture coordinates of vertices that merge, in units of these coordinates
    #[arg(long, value_name = "T")]
    uv_tolerance: Option<f64>,
    /// Largest difference in any of red, green, blue and alpha between vertices that merge, in steps of 255 (0 to 255)
    #[arg(long, value_name = "T")]
    color_tolerance: Option<u8>,
    /// Vertices that merge with none and stay where they are: boundary, those at edges that one face alone has;
    /// file:PATH, ids of vertices, one a line (0 is the first); may be given several times
    #[arg(long, value_name = "WHICH")]
    pub lock: Vec<Lock>,
    /// How clusters are computed: the same result by each, in other time and memory
    #[arg(long, value_enum, default_value = "auto")]
    pub method: MethodOption,
}

/// `--position`.
#[derive(Clone, Copy, ValueEnum)]
enum PositionOption {
    Mean,
    First,
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

impl Clusters {
    /// The tolerances.
    pub fn guards(&self) -> Guards {
        Guards {
            normals: self.normal_tolerance,
            uvs: self.uv_tolerance,
            colors: self.color_tolerance,
        }
    }

    /// The options of the library.
    pub fn options(&self, epsilon: f64) -> weld::Options {
        weld::Options {
            guards: self.guards(),
            position: match self.position {
                PositionOption::Mean => Position::Mean,
                PositionOption::First => Position::First,
            },
            keep_degenerate: self.keep_degenerate,
            method: self.method.into(),
            ..weld::Options::new(epsilon)
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
