//! The options of Polylla.

use trioxide::indexed::{self, Repair};
use trioxide::levels::Goal;
use trioxide::mesh::Ties;
use trioxide::polylla::{self, Angles, ShortEdges};

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
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
    /// Divide polygons of the plane into convex pieces: at most four times the fewest, and none that could be left out
    /// (method half-edge)
    #[cfg_attr(feature = "clap", arg(long))]
    pub convex_pieces: bool,
    /// Collapse the edges of polygons of the plane that are shorter than this part of the diameter of a polygon beside
    /// them, between 0 and 1, where all polygons stay simple, or convex pieces convex. No vertex moves; borders,
    /// segments and regions keep their place. Polygons that visit a vertex twice are split, as by strict (method
    /// half-edge)
    #[cfg_attr(feature = "clap", arg(long, value_name = "R"))]
    pub min_edge: Option<f64>,
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
    /// Keep the edges of a surface whose two triangles are at a larger angle: degrees between their normals, 0 to 180
    /// (5e-6 more count as equal)
    #[cfg_attr(feature = "clap", arg(long, value_name = "DEG"))]
    pub feature_angle: Option<f64>,
    /// Keep polygons of a surface flat: in none is a triangle's normal more than this many degrees, 0 to 180, from
    /// those of the triangles at the longest edge that all its triangles lead to
    #[cfg_attr(feature = "clap", arg(long, value_name = "DEG"))]
    pub flatness: Option<f64>,
    /// Join the polygons, or polyhedra, to at most as many nested levels: a piece of each joins 2 to 4 pieces of the
    /// one before, along their longest borders, or largest. Fields level_1, level_2 and so on have the piece that each
    /// polygon or polyhedron belongs to
    #[cfg_attr(feature = "clap", arg(long, value_name = "K", value_parser = parse_count))]
    pub levels: Option<usize>,
    /// Join the polygons or polyhedra to nested levels until one has as many pieces or fewer
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
    /// [`Refusal::RepairOfHalfEdges`], [`Refusal::OfHalfEdges`], [`Refusal::Angle`], [`Refusal::MinEdge`].
    pub fn check(&self) -> Result<()> {
        for (option, angle) in self.angle_options() {
            if let Some(degrees) = angle.filter(|degrees| !(0.0..=180.0).contains(degrees)) {
                return Err(Refusal::Angle { option, degrees }.into());
            }
        }
        if let Some(ratio) = self.min_edge.filter(|&ratio| !(ratio > 0.0 && ratio < 1.0)) {
            return Err(Refusal::MinEdge { ratio }.into());
        }
        match (self.method, self.repair) {
            (DataStructure::HalfEdge, Some(_)) => Err(Refusal::RepairOfHalfEdges.into()),
            (DataStructure::Indexed, _) => {
                let given = [
                    ("strict", self.strict),
                    ("convex_pieces", self.convex_pieces),
                    ("min_edge", self.min_edge.is_some()),
                ];
                match given.iter().find(|(_, is_given)| *is_given) {
                    Some(&(option, _)) => Err(Refusal::OfHalfEdges { option }.into()),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Refuses options that surfaces in space do without.
    ///
    /// # Errors
    /// [`Refusal::IndexedSurface`], [`Refusal::InPlane`].
    pub fn check_surface(&self) -> Result<()> {
        if self.method == DataStructure::Indexed {
            return Err(Refusal::IndexedSurface.into());
        }
        let given = [
            ("convex_pieces", self.convex_pieces),
            ("min_edge", self.min_edge.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some(&(option, _)) => Err(Refusal::InPlane { option }.into()),
            None => Ok(()),
        }
    }

    /// Refuses options that tetrahedra do without.
    ///
    /// # Errors
    /// [`Refusal::OfTriangles`].
    pub fn check_volume(&self) -> Result<()> {
        let [feature_angle, flatness] = self.angle_options();
        let given = [
            (feature_angle.0, feature_angle.1.is_some()),
            (flatness.0, flatness.1.is_some()),
            ("method", self.method != DataStructure::HalfEdge),
            ("repair", self.repair.is_some()),
            ("digest", self.digest),
            ("ties", self.ties == Ties::First),
            ("convex_pieces", self.convex_pieces),
            ("min_edge", self.min_edge.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some(&(option, _)) => Err(Refusal::OfTriangles { option }.into()),
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
            ("min_edge", self.min_edge.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some(&(option, _)) => Err(Refusal::Resident { option }.into()),
            None => Ok(()),
        }
    }

    /// The angles at which edges of a surface stay.
    pub fn angles(&self) -> Angles {
        Angles {
            feature: self.feature_angle,
            flatness: self.flatness,
        }
    }

    /// The options that are angles, by their names.
    pub fn angle_options(&self) -> [(&'static str, Option<f64>); 2] {
        [
            ("feature_angle", self.feature_angle),
            ("flatness", self.flatness),
        ]
    }

    /// Where nested levels end; `None` where there are none.
    pub fn goal(&self) -> Option<Goal> {
        let (levels, until) = (self.levels, self.until);
        (levels.is_some() || until.is_some()).then_some(Goal { levels, until })
    }

    /// Whether polygons that visit a vertex twice are split. Convex pieces are simple.
    pub(super) fn splits(&self) -> bool {
        (self.strict || self.min_edge.is_some()) && !self.convex_pieces
    }

    /// The edges that are short, and the vertices that stay; `None` if none collapses.
    pub(super) fn short_edges<'a>(&self, pinned: &'a [u32]) -> Option<ShortEdges<'a>> {
        self.min_edge.map(|ratio| ShortEdges {
            ratio,
            keeps_convex: self.convex_pieces,
            pinned,
        })
    }

    /// The options of the family on half-edges.
    pub(super) fn settings(&self) -> polylla::Options {
        polylla::Options {
            strict: self.splits(),
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
