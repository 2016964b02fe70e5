//! The rules that meshes keep: kernels index without checks, so what comes from a file or from a user passes through
//! here, or through the same checks on a device. The first broken rule comes back as [`Error::Invalid`], with the
//! smallest element that breaks it.

mod polygons;
mod tets;
mod topology;

use crate::{Error, Result};

pub use polygons::{
    Summary as PolygonSummary, check_offsets, check_polygon, count_weakly_simple, polygon_mesh,
    polygon_mesh_edges, polygon_mesh_with, shoelace, sides, turn_clockwise,
};
pub use tets::{TetSummary, face_uses, sorted, tet_faces, tets};
pub use topology::topology;

/// The error of an element that breaks a rule.
pub fn invalid(element: impl Into<String>, rule: impl Into<String>) -> Error {
    Error::Invalid {
        element: element.into(),
        rule: rule.into(),
    }
}

/// Fails unless `holds`; the element and the rule are written out only then.
///
/// # Errors
/// [`Error::Invalid`].
pub fn ensure(
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
