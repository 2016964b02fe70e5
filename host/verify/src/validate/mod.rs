//! Validators: topology first, then the promises of each family.
//!
//! Kernels index without checks, so every mesh passes through here first. The first broken rule comes back as
//! [`Error::Invalid`], with the smallest element that breaks it.

use crate::{Error, Result};

mod exact;
mod fans;
pub mod half_edges;
pub mod polygons;
pub mod polyhedra;
pub mod refine;
pub mod smooth;
pub mod tets;
pub mod triangulation;
pub mod volume;

pub use half_edges::half_edges;
pub use polyhedra::polyhedra;
pub use tets::{refined_tets, tets};
pub use triangulation::{
    check_triangulation, check_triangulation_with, surface, triangles_and_edges, triangulation,
};
pub use volume::volume_summary;

fn invalid(element: impl Into<String>, rule: impl Into<String>) -> Error {
    Error::Invalid {
        element: element.into(),
        rule: rule.into(),
    }
}

/// Fails unless `holds`; the element and the rule are written out only then.
fn ensure(
    holds: bool,
    element: impl FnOnce() -> String,
    rule: impl FnOnce() -> String,
) -> Result<()> {
    if holds {
        Ok(())
    } else {
        Err(invalid(element(), rule()))
    }
}
