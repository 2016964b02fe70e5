//! The report of a weld.

use trioxide::weld::{self, EpsilonFound, Method};

use crate::report::{Counts, Note, Run};

/// The machine, the counts, and the maps from the old vertices to the new ones.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The machine, with times.
    pub run: Run,
    /// The counts.
    pub totals: Totals,
    /// New vertex of each old one; V.
    pub map: Vec<u32>,
    /// Old vertex that represents each new one, ascending; C.
    pub representatives: Vec<u32>,
    /// Notes for the user.
    pub notes: Vec<Note>,
}

/// The counts of a weld; `None` where one does not apply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Whether the faces are cells.
    pub is_volume: bool,
    /// Vertices before.
    pub vertices: u64,
    /// Faces before.
    pub faces: u64,
    /// The distance.
    pub epsilon: f64,
    /// The search of a ratio's distance.
    pub found: Option<EpsilonFound>,
    /// Locked vertices.
    pub locked: Option<u64>,
    /// Vertices after.
    pub welded_vertices: u64,
    /// Faces after.
    pub welded_faces: u64,
    /// The method that was used; none of the sequential algorithm.
    pub method: Option<Method>,
    /// Rounds of decisions.
    pub rounds: Option<u64>,
    /// Slabs, and passes over them, of a mesh that does not fit the memory at once.
    pub slabs: Option<[u64; 2]>,
}

impl Report {
    /// Old vertices that are gone, ascending.
    pub fn removed(&self) -> impl Iterator<Item = u32> {
        weld::removed(self.map.len(), &self.representatives)
    }
}

impl Totals {
    /// The counts of a weld by these options, before it begins.
    pub fn of(settings: &weld::Options) -> Self {
        Self {
            epsilon: settings.epsilon,
            ..Self::default()
        }
    }

    /// By their names.
    pub fn counts(&self) -> Counts {
        let [elements, welded_elements] = match self.is_volume {
            true => ["cells", "welded_cells"],
            false => ["faces", "welded_faces"],
        };
        let mut counts: Counts = vec![
            ("vertices", self.vertices.into()),
            (elements, self.faces.into()),
            ("epsilon", self.epsilon.into()),
        ];
        if let Some(found) = &self.found {
            counts.extend([
                ("ratio", found.ratio.into()),
                ("clusterings", found.clusterings.into()),
            ]);
        }
        counts.extend(self.locked.map(|locked| ("locked_vertices", locked.into())));
        counts.extend([
            ("welded_vertices", self.welded_vertices.into()),
            (welded_elements, self.welded_faces.into()),
        ]);
        counts.extend(self.method.map(|method| ("method", method.name().into())));
        counts.extend(self.rounds.map(|rounds| ("rounds", rounds.into())));
        if let Some([slabs, passes]) = self.slabs {
            counts.extend([("slabs", slabs.into()), ("passes", passes.into())]);
        }
        counts
    }
}
