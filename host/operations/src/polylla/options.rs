//! The options of Polylla.

use trioxide::indexed::{self, Repair};
use trioxide::levels::Goal;
use trioxide::mesh::Ties;
use trioxide::polylla;

#[cfg(feature = "clap")]
use crate::count::parse_count;
use crate::error::Result;
use crate::error::polylla::Refusal;
use crate::precision::Precision;

/// Data that polygons are made from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum DataStructure {
    /// Links of half-edges are rewritten (GPolylla)
    #[default]
    HalfEdge,
    /// Polygons are appended to arrays, and repaired in rounds
    Indexed,
}

/// How triangles become polygons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::Args), group(skip))]
pub struct Options {
    /// Data that polygons are made from: half-edges, or arrays of triangles and their neighbours. Both give the same
    /// polygons
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub method: DataStructure,
    /// Where the method indexed splits polygons with barrier tips [default: device]
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub repair: Option<Repair>,
    /// Split the few polygons that visit a vertex twice (method half-edge), and polyhedra whose surface is no
    /// 2-manifold
    #[cfg_attr(feature = "clap", arg(long))]
    pub strict: bool,
    /// Let polygons cross segments and region borders of the input, polyhedra tagged faces and region borders
    #[cfg_attr(feature = "clap", arg(long))]
    pub unconstrained: bool,
    /// Which of two equally long edges counts as longer: the one with the smaller id, or the first in the triangle
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub ties: Ties,
    /// Give a digest of the polygons, 64 bits in 16 digits: of their order and their vertices in order. It is the same
    /// for every device and any number of processes
    #[cfg_attr(feature = "clap", arg(long))]
    pub digest: bool,
    /// Join the polygons to at most as many nested levels: a piece of each joins 2 to 4 pieces of the one before, along
    /// their longest borders. Fields level_1, level_2 and so on have the piece that each polygon belongs to
    #[cfg_attr(feature = "clap", arg(long, value_name = "K", value_parser = parse_count))]
    pub levels: Option<usize>,
    /// Join the polygons to nested levels until one has as many pieces or fewer
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = parse_count))]
    pub until: Option<usize>,
    /// Precision of coordinates on the device
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub precision: Precision,
    /// Report the triangles of each polygon.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub parents: bool,
}

impl Options {
    /// Refuses options that do not go together.
    ///
    /// # Errors
    /// [`Refusal::RepairOfHalfEdges`], [`Refusal::StrictIndexed`].
    pub fn check(&self) -> Result<()> {
        match (self.method, self.repair) {
            (DataStructure::HalfEdge, Some(_)) => Err(Refusal::RepairOfHalfEdges.into()),
            (DataStructure::Indexed, _) if self.strict => Err(Refusal::StrictIndexed.into()),
            _ => Ok(()),
        }
    }

    /// Refuses options that tetrahedra do without.
    ///
    /// # Errors
    /// [`Refusal::InPlane`].
    pub fn check_volume(&self) -> Result<()> {
        let given = [
            ("method", self.method != DataStructure::HalfEdge),
            ("repair", self.repair.is_some()),
            ("digest", self.digest),
            ("ties", self.ties == Ties::First),
            ("levels", self.levels.is_some()),
            ("until", self.until.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some(&(option, _)) => Err(Refusal::InPlane { option }.into()),
            None => Ok(()),
        }
    }

    /// Refuses options that meshes on a device do without.
    ///
    /// # Errors
    /// [`Refusal::Resident`].
    pub fn check_resident(&self) -> Result<()> {
        let given = [
            ("method", self.method != DataStructure::HalfEdge),
            ("repair", self.repair.is_some()),
            ("ties", self.ties == Ties::First),
            ("precision", self.precision == Precision::F32),
            ("levels", self.levels.is_some()),
            ("until", self.until.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some(&(option, _)) => Err(Refusal::Resident { option }.into()),
            None => Ok(()),
        }
    }

    /// Where nested levels end; `None` where there are none.
    pub fn goal(&self) -> Option<Goal> {
        let (levels, until) = (self.levels, self.until);
        (levels.is_some() || until.is_some()).then_some(Goal { levels, until })
    }

    /// The options of the family on half-edges.
    pub(super) fn settings(&self) -> polylla::Options {
        polylla::Options {
            strict: self.strict,
            ties: self.ties,
            prev: false,
            lists: true,
        }
    }

    /// The options of the family on arrays.
    pub(super) fn indexed(&self) -> indexed::Options {
        indexed::Options {
            ties: self.ties,
            repair: self.repair.unwrap_or_default(),
        }
    }
}
