//! Tables and plots of each family, from its runs.

mod indexed;
mod kernels;
mod polyhedra;
mod polylla;
mod refine;
mod refine_tets;
mod smooth;
mod weld;

use super::plan::Family;
use super::plot::Plot;
use super::results::Run;
use super::table::Table;

/// Tables and plots of a family's runs.
pub(super) struct Made {
    pub(super) tables: Vec<Table>,
    pub(super) plots: Vec<Plot>,
}

pub(super) fn made_of(family: Family, runs: &[Run]) -> Made {
    match family {
        Family::Polylla => polylla::made_of(runs),
        Family::Indexed => indexed::made_of(runs),
        Family::Polylla3 => polyhedra::made_of(runs),
        Family::Refine => refine::made_of(runs),
        Family::RefineTets => refine_tets::made_of(runs),
        Family::Smooth => smooth::made_of(runs),
        Family::Weld => weld::made_of(runs),
        Family::Kernels => kernels::made_of(runs),
    }
}

pub(super) fn title(family: Family) -> &'static str {
    match family {
        Family::Polylla => "Polylla on half-edges",
        Family::Indexed => "Polylla on triangles and neighbours",
        Family::Polylla3 => "Polylla in three dimensions",
        Family::Refine => "Longest-edge bisection",
        Family::RefineTets => "Refinement of tetrahedra",
        Family::Smooth => "Laplacian smoothing",
        Family::Weld => "Vertex clustering",
        Family::Kernels => "Kernels",
    }
}

/// Whether a mesh of `ours` vertices stands for one of the paper's `theirs`: within a tenth.
fn is_same_size(ours: u64, theirs: u64) -> bool {
    ours.abs_diff(theirs) * 10 < theirs
}
