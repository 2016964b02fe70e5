//! The names that most programs use: `use trioxide::prelude::*;`.

pub use glam::{DVec2, DVec3, Vec2, Vec3};

pub use crate::device::{Buffer, Device};
pub use crate::half_edges::DeviceTriangulation;
pub use crate::mesh::{Mesh, PolygonMesh, Triangulation};
pub use crate::polylla::polylla;
pub use crate::{Error, Result};
