//! The report of a refinement of triangles.

use trioxide::mesh::Refinement;
use trioxide::prolongation::Prolongation;
use trioxide::refine::End;

use crate::report::{Counts, Note, Run};

/// The machine, the counts, and the maps from the input to its parts.
#[derive(Clone, Debug)]
pub struct Report {
    /// The machine, with times.
    pub run: Run,
    /// The counts.
    pub totals: Totals,
    /// The triangle of the input that each triangle is a part of; F, or empty unless the options ask for maps.
    pub parents: Vec<u32>,
    /// The parts of each round, if the options ask for maps.
    pub rounds: Vec<Refinement>,
    /// Notes for the user.
    pub notes: Vec<Note>,
}

impl Report {
    /// The matrix that takes values at the vertices of the input to those of the refined mesh. The options ask for
    /// maps.
    pub fn prolongation(&self) -> Prolongation {
        Prolongation::of_rounds(self.totals.input_vertices as usize, &self.rounds)
    }
}

/// The counts of a refinement of triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Vertices afterwards.
    pub vertices: u64,
    /// Triangles afterwards.
    pub faces: u64,
    /// Edges afterwards.
    pub edges: u64,
    /// Vertices before.
    pub input_vertices: u64,
    /// Triangles before.
    pub input_faces: u64,
    /// Rounds that were done.
    pub rounds: u64,
    /// Why there are no more.
    pub end: End,
}

impl Totals {
    /// By their names.
    pub fn counts(&self) -> Counts {
        vec![
            ("vertices", self.vertices.into()),
            ("faces", self.faces.into()),
            ("edges", self.edges.into()),
            ("input_vertices", self.input_vertices.into()),
            ("input_faces", self.input_faces.into()),
            ("rounds", self.rounds.into()),
            ("end", end_name(self.end).into()),
        ]
    }
}

/// The reason why a run ended, in words.
pub fn end_name(end: End) -> &'static str {
    match end {
        End::Rounds => "all rounds done",
        End::NothingMarked => "nothing left to refine",
        End::MaxTriangles => "the next round would have passed the most triangles",
    }
}
