//! Options of smoothing, and their combinations.

use super::error::{Error, Result};
use super::form::Form;

/// Data layout of nodes (section 2.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Layout {
    /// Structure of arrays
    Soa,
    /// Array of structures of three coordinates
    Aos,
    /// Array of structures of four coordinates
    #[default]
    Aligned,
}

/// Blocks of threads that sweep (section 3.2.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Blocks {
    /// One
    One,
    /// One for each 256 nodes
    #[default]
    Many,
}

/// Whether nodes lie along a space-filling curve in memory while they are smoothed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Renumber {
    /// From 65,536 nodes on
    #[default]
    Auto,
    /// Always
    On,
    /// Never
    Off,
}

/// Weights of a node's neighbours in the mean. They are measured before the first sweep, and stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Weights {
    /// Each neighbour weighs the same
    #[default]
    Uniform,
    /// One over the neighbour's distance
    InverseLength,
    /// The sum of the cotangents opposite to the edge: of angles in triangles; of dihedral angles, times the edge, in
    /// tetrahedra. 0 where the sum is negative
    Cotangent,
}

/// Length of the sweeps' moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Filter {
    /// To the mean.
    #[default]
    Laplacian,
    /// Part `lambda` of the way to the mean, and in the next sweep `-mu` of it away: a smooth shape keeps its size
    /// (Taubin, A signal processing approach to fair surface design, 1995, section 4). 0 < lambda < -mu, at most 1:
    /// wavelengths with an eigenvalue below 1 / lambda + 1 / mu stay.
    Taubin {
        /// Part of the way to the mean.
        lambda: f64,
        /// Part of the way back, below 0.
        mu: f64,
    },
    /// To the mean, and back by the excess of the node and of its neighbours: noise goes, size stays (Vollmer, Mencl
    /// and Müller, Improved Laplacian smoothing of noisy surface meshes, 1999). Numbers from 0 to 1.
    Hc {
        /// Part of the way back to the nodes' first positions.
        alpha: f64,
        /// Part of the push that is the node's own, not its neighbours'.
        beta: f64,
    },
}

impl Filter {
    /// HC smoothing that pulls a little towards the nodes' first positions.
    pub const HC: Filter = Filter::Hc {
        alpha: 0.1,
        beta: 0.6,
    };

    /// Taubin's smoothing half of the way and 0.53 of it back.
    pub const TAUBIN: Filter = Filter::Taubin {
        lambda: 0.5,
        mu: -0.53,
    };

    /// Part of the way to the mean, for sweeps of even and of odd number: 1 is all the way.
    pub fn factors(self) -> [f64; 2] {
        match self {
            Filter::Laplacian | Filter::Hc { .. } => [1.0; 2],
            Filter::Taubin { lambda, mu } => [lambda, mu],
        }
    }
}

/// The rule for nodes on the boundary of a volume mesh, or on the border of a surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum BoundaryRule {
    /// They stay
    #[default]
    Fixed,
    /// They go to the mean of their neighbours on the same planar patch of the boundary, or on the same straight edge
    /// between two patches; in a surface, on the same straight border. Other nodes of the boundary stay
    Slide,
}

/// Nodes from which a mesh is renumbered by itself.
pub const RENUMBERED_FROM: usize = 1 << 16;

/// Options of smoothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The positions that a sweep takes.
    pub form: Form,
    /// Layout of nodes.
    pub layout: Layout,
    /// Blocks that sweep.
    pub blocks: Blocks,
    /// A sweep that moves each node by less is the last; 0 for none.
    pub tolerance: f64,
    /// Most sweeps.
    pub max_iterations: u32,
    /// Whether nodes are renumbered. The result depends on it for form B by one block only.
    pub renumber: Renumber,
    /// Whether a move is taken only if it harms no cell: by colours, in place.
    pub guard: bool,
    /// Weights of neighbours.
    pub weights: Weights,
    /// Length of the sweeps' moves.
    pub method: Filter,
    /// The rule for nodes of the boundary.
    pub boundary: BoundaryRule,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            form: Form::default(),
            layout: Layout::default(),
            blocks: Blocks::default(),
            tolerance: 0.0,
            max_iterations: 100,
            renumber: Renumber::default(),
            guard: false,
            weights: Weights::default(),
            method: Filter::default(),
            boundary: BoundaryRule::default(),
        }
    }
}

impl Options {
    /// Refuses options that do not go together. `fixed` is the list of fixed nodes of a mesh of `nodes` nodes.
    ///
    /// # Errors
    /// The [`Error`] of the first such option.
    pub fn check(&self, fixed: &[bool], nodes: usize) -> Result<()> {
        let by_one_block = self.blocks == Blocks::One;
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            Err(Error::Tolerance(self.tolerance))
        } else if !fixed.is_empty() && fixed.len() != nodes {
            Err(Error::FixedNodes {
                entries: fixed.len(),
                nodes,
            })
        } else if by_one_block && matches!(self.form, Form::BColoured | Form::BExact) {
            Err(Error::OneBlock)
        } else if self.guard && self.form != Form::BColoured {
            Err(Error::GuardedForm(self.form))
        } else {
            self.check_method()
        }
    }

    fn check_method(&self) -> Result<()> {
        let (alpha, beta) = match self.method {
            Filter::Laplacian => return Ok(()),
            Filter::Taubin { lambda, mu } => {
                let is_fine = 0.0 < lambda && lambda < -mu && -mu <= 1.0;
                return match is_fine {
                    true => Ok(()),
                    false => Err(Error::TaubinRange { lambda, mu }),
                };
            }
            Filter::Hc { alpha, beta } => (alpha, beta),
        };
        let range = 0.0..=1.0;
        if !range.contains(&alpha) || !range.contains(&beta) {
            Err(Error::HcRange { alpha, beta })
        } else if self.form != Form::A || self.blocks != Blocks::Many {
            Err(Error::HcForm)
        } else {
            Ok(())
        }
    }

    /// Refuses options that the kind of mesh does not have. `is_in_space`: it is a surface whose nodes have different
    /// z. `is_simplicial`: all cells are tetrahedra, or triangles of a surface.
    ///
    /// # Errors
    /// [`Error::GuardedSurface`], [`Error::CotangentCells`].
    pub fn check_kind(&self, is_in_space: bool, is_simplicial: bool) -> Result<()> {
        if is_in_space && self.guard {
            Err(Error::GuardedSurface)
        } else if self.weights == Weights::Cotangent && !is_simplicial {
            Err(Error::CotangentCells)
        } else {
            Ok(())
        }
    }
}
