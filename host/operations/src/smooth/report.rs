//! The report of a smoothing.

use trioxide::quality3d::Quality3d;
use trioxide::smooth::{Moves, Untangling};

use crate::report::{Counts, Note, Run};
use crate::scale::Scale;

/// The machine, the counts, and the quality before and after.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The machine, with times.
    pub run: Run,
    /// The counts.
    pub totals: Totals,
    /// Quality of a volume mesh before and after, if the options ask for it.
    pub quality: Option<[Quality3d; 2]>,
    /// The inverted cells, the sweeps and the mean ratios of untangling and improving.
    pub untangling: Option<Untangling>,
    /// Notes for the user.
    pub notes: Vec<Note>,
}

impl Report {
    /// Gives moves at the size of the input.
    pub(super) fn scale(&mut self, scale: Scale) {
        let moves = &mut self.totals.moves;
        moves.max_displacement = scale.length(moves.max_displacement);
        moves.rms_displacement = scale.length(moves.rms_displacement);
    }

    /// The counts by their names; of untangling and improving their own, in place of those of sweeps to the mean.
    pub fn counts(&self) -> Counts {
        let Some(done) = &self.untangling else {
            return self.totals.counts();
        };
        let mut counts = self.totals.elements();
        let [before, after] = &done.ratios;
        counts.extend([
            ("moving_vertices", done.moving.into()),
            ("moved_vertices", done.moved.into()),
            ("iterations", done.sweeps.into()),
            ("rings", done.rings.into()),
            ("improving_iterations", done.improving_sweeps.into()),
            ("inverted_before", done.inverted_before.into()),
            ("inverted_after", (done.inverted.len() as u64).into()),
            ("worst_mean_ratio_before", before.worst.into()),
            ("worst_mean_ratio_after", after.worst.into()),
        ]);
        counts
    }
}

/// The counts of a smoothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Vertices.
    pub vertices: u64,
    /// Faces of a surface.
    pub faces: Option<u64>,
    /// Cells of a volume mesh.
    pub cells: Option<u64>,
    /// Vertices that may move.
    pub moving: u64,
    /// Sweeps, and the moves of the last one.
    pub moves: Moves,
}

impl Totals {
    /// The mesh's vertices, cells and faces.
    fn elements(&self) -> Counts {
        let mut counts: Counts = vec![("vertices", self.vertices.into())];
        counts.extend(self.cells.map(|cells| ("cells", cells.into())));
        counts.extend(self.faces.map(|faces| ("faces", faces.into())));
        counts
    }

    /// By their names.
    pub fn counts(&self) -> Counts {
        let mut counts = self.elements();
        counts.extend([
            ("moving_vertices", self.moving.into()),
            ("iterations", self.moves.sweeps.into()),
            ("converged", self.moves.converged.into()),
            ("max_displacement", self.moves.max_displacement.into()),
            ("rms_displacement", self.moves.rms_displacement.into()),
        ]);
        counts
    }
}
