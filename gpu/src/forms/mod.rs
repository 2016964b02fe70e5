//! Conversions between the forms in which families take points.
//!
//! | stage | does |
//! | --- | --- |
//! | [`lift_points()`] | points of the plane become points of space with z = 0 |
//! | [`flatten_points()`] | points of space lose their z |

mod points;

pub use points::*;
