//! Conversions between the forms in which families take points, and kernels that several families launch.
//!
//! | stage | does |
//! | --- | --- |
//! | [`lift_points()`] | points of the plane become points of space with z = 0 |
//! | [`flatten_points()`] | points of space lose their z |
//! | [`measure_bounds()`] | the box around points |
//! | [`count_up()`], [`rank_vertices()`] | a list of the ids; the place of each in another order |
//!
//! A device loads the machine code of whole families: a kernel that several families launch is here, in a small one.

mod bounds;
mod ids;
mod points;

pub use bounds::*;
pub use ids::*;
pub use points::*;
