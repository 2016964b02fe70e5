//! The options of smoothing.

use std::borrow::Cow;

use trioxide::smooth::{
    self, Blocks, BoundaryRule, Form, Goal, Layout, Renumber, UntangleOptions, Weights,
};

use crate::error::Result;
use crate::error::smooth::Refusal;
use crate::precision::Precision;
use crate::scale::Scale;

/// How far sweeps go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum FilterKind {
    /// To the mean
    #[default]
    Laplacian,
    /// Alternately lambda of the way to the mean and mu of it back, which keeps the volume
    Taubin,
    /// To the mean and back by the excess, which keeps the volume too
    Hc,
}

/// How a mesh is smoothed.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "clap", derive(clap::Args), group(skip))]
pub struct Options {
    /// Positions of the neighbours: a, before the sweep; b, of the moment (over many blocks a race: another result in
    /// each run); b-coloured, of the moment by colours; b-exact, of the moment in the order of ids
    /// [default: a; with a guard b-coloured]
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub form: Option<Form>,
    /// Layout of nodes in memory: structure of arrays, array of structures, array of aligned structures
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub layout: Layout,
    /// Blocks of threads that sweep
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub blocks: Blocks,
    /// Whether nodes lie along a space-filling curve during the sweeps; the result has the order of the input
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub renumber: Renumber,
    /// Take a move only if no cell around the node is turned around, and the worst quality around it does not fall: of
    /// cells, and of triangles and polygons in a plane of one z
    #[cfg_attr(feature = "clap", arg(long))]
    pub guard: bool,
    /// Move nodes until no cell is inverted, in place of sweeps to the mean: triangles of the plane, and cells of
    /// volume meshes by the tetrahedra at their corners (of a hexahedron all eight, not its whole Jacobian). Nodes of
    /// two rings around inverted cells move, of more while that fails; no valid cell becomes inverted. It ends after
    /// max-iterations too, with a failure and no output
    #[cfg_attr(feature = "clap", arg(long))]
    pub untangle: bool,
    /// Move nodes so that the worst cells of a valid mesh become better, by their mean ratio, and the worst never
    /// becomes worse; after untangling, if both are given
    #[cfg_attr(feature = "clap", arg(long))]
    pub improve: bool,
    /// Take the result of untangling also if inverted cells are left
    #[cfg_attr(feature = "clap", arg(long))]
    pub keep_going: bool,
    /// Weights of a node's neighbours, measured before the first sweep: each the same; one over the distance;
    /// cotangents opposite to the edge (triangles and tetrahedra only), 0 where their sum is negative: obtuse angles
    /// would push a node away
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub weights: Weights,
    /// How far sweeps go: laplacian, to the mean; taubin, alternately lambda of the way there and mu of it back, which
    /// keeps the volume (two sweeps are a step); hc, to the mean and back by the excess, which keeps the volume too
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub method: FilterKind,
    /// Taubin's factor of the way to the mean, above 0 [default: 0.5]
    #[cfg_attr(feature = "clap", arg(long, value_name = "FACTOR"))]
    pub lambda: Option<f64>,
    /// Taubin's factor of the way back: from -1 to below minus lambda
    /// [default: -0.53; with another lambda 0.03 below minus it]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "FACTOR", allow_negative_numbers = true)
    )]
    pub mu: Option<f64>,
    /// Parameters of hc, from 0 to 1: the part of the way that nodes go back to where they were at first, and the part
    /// of the push that is their own and not their neighbours' [default: 0.1,0.6]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "ALPHA,BETA", value_parser = parse_hc)
    )]
    pub hc: Option<[f64; 2]>,
    /// Nodes of the boundary: fixed; or sliding, in a volume mesh on planar patches and along straight edges between
    /// them, in a surface along a straight border
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub boundary: BoundaryRule,
    /// Stop after a sweep that moves each node by less than this; 0: never
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "LENGTH", default_value_t = Options::default().tolerance)
    )]
    pub tolerance: f64,
    /// Most sweeps
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "N", default_value_t = Options::default().max_iterations)
    )]
    pub max_iterations: u32,
    /// Precision of coordinates on the device; a node that single precision does not move keeps all its bits
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub precision: Precision,
    /// The nodes with a flag stay; V, or empty.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub fixed: Vec<bool>,
    /// Measure a volume mesh before and after.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub quality: bool,
}

#[cfg(feature = "clap")]
fn parse_hc(text: &str) -> Result<[f64; 2], String> {
    let parts: Vec<_> = text.split(',').map(|part| part.trim().parse()).collect();
    match parts[..] {
        [Ok(alpha), Ok(beta)] => Ok([alpha, beta]),
        _ => Err("is not ALPHA,BETA, two numbers from 0 to 1".to_owned()),
    }
}

impl Default for Options {
    fn default() -> Self {
        let family = smooth::Options::default();
        Self {
            form: None,
            layout: family.layout,
            blocks: family.blocks,
            renumber: family.renumber,
            guard: family.guard,
            untangle: false,
            improve: false,
            keep_going: false,
            weights: family.weights,
            method: FilterKind::default(),
            lambda: None,
            mu: None,
            hc: None,
            boundary: family.boundary,
            tolerance: family.tolerance,
            max_iterations: family.max_iterations,
            precision: Precision::default(),
            fixed: Vec::new(),
            quality: false,
        }
    }
}

impl Options {
    /// The options of the family.
    ///
    /// # Errors
    /// [`Refusal::FactorsOfTaubin`], [`Refusal::ParametersOfHc`], [`Refusal::OwnMoves`], [`Refusal::NothingToKeep`].
    pub fn settings(&self) -> Result<smooth::Options> {
        self.check_goal()?;
        let has_factors = self.lambda.is_some() || self.mu.is_some();
        if has_factors && self.method != FilterKind::Taubin {
            return Err(Refusal::FactorsOfTaubin.into());
        }
        if self.hc.is_some() && self.method != FilterKind::Hc {
            return Err(Refusal::ParametersOfHc.into());
        }
        Ok(smooth::Options {
            form: match self.form {
                None if self.guard => Form::BColoured,
                form => form.unwrap_or_default(),
            },
            layout: self.layout,
            blocks: self.blocks,
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            renumber: self.renumber,
            guard: self.guard,
            weights: self.weights,
            method: match (self.method, self.hc) {
                (FilterKind::Laplacian, _) => smooth::Filter::Laplacian,
                (FilterKind::Taubin, _) => self.taubin(),
                (FilterKind::Hc, None) => smooth::Filter::HC,
                (FilterKind::Hc, Some([alpha, beta])) => smooth::Filter::Hc { alpha, beta },
            },
            boundary: self.boundary,
        })
    }

    /// The options for a mesh at this scale.
    pub(super) fn at(&self, scale: Scale) -> Cow<'_, Self> {
        match scale == Scale::default() {
            true => Cow::Borrowed(self),
            false => Cow::Owned(Self {
                tolerance: scale.option(self.tolerance),
                ..self.clone()
            }),
        }
    }

    /// The options of untangling and improving, if the mesh is to be untangled or improved.
    pub fn untangling(&self) -> Option<UntangleOptions> {
        let goal = match (self.untangle, self.improve) {
            (false, false) => return None,
            (true, false) => Goal::Untangled,
            (false, true) => Goal::Improved,
            (true, true) => Goal::UntangledAndImproved,
        };
        Some(UntangleOptions {
            goal,
            boundary: self.boundary,
            max_sweeps: self.max_iterations,
            keep_going: self.keep_going,
        })
    }

    /// Refuses options of sweeps to the mean together with untangling and improving.
    fn check_goal(&self) -> Result<()> {
        if self.keep_going && !self.untangle {
            return Err(Refusal::NothingToKeep.into());
        }
        if self.untangling().is_none() {
            return Ok(());
        }
        let usual = Self::default();
        let given = [
            ("form", self.form.is_some()),
            ("layout", self.layout != usual.layout),
            ("blocks", self.blocks != usual.blocks),
            ("renumber", self.renumber != usual.renumber),
            ("guard", self.guard),
            ("weights", self.weights != usual.weights),
            ("method", self.method != usual.method),
            ("lambda", self.lambda.is_some()),
            ("mu", self.mu.is_some()),
            ("hc", self.hc.is_some()),
            ("tolerance", self.tolerance != usual.tolerance),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(Refusal::OwnMoves(option).into()),
            None => Ok(()),
        }
    }

    /// Taubin's factors; mu is 0.03 below minus lambda unless it is given.
    fn taubin(&self) -> smooth::Filter {
        match (self.lambda, self.mu) {
            (None, None) => smooth::Filter::TAUBIN,
            (lambda, mu) => {
                let lambda = lambda.unwrap_or(0.5);
                let mu = mu.unwrap_or(-lambda - 0.03);
                smooth::Filter::Taubin { lambda, mu }
            }
        }
    }

    /// Refuses options that meshes on a device do without.
    ///
    /// # Errors
    /// [`Refusal::Resident`], [`Refusal::UntanglingResident`].
    pub fn check_resident(&self) -> Result<()> {
        if self.untangling().is_some() {
            return Err(Refusal::UntanglingResident.into());
        }
        match self.precision {
            Precision::F64 => Ok(()),
            Precision::F32 => Err(Refusal::Resident.into()),
        }
    }
}
