//! The data of a vertex, in two lines of a cache: position, quadric and marks are read together.

use bytemuck::{Pod, Zeroable};
use glam::DVec3;
use trioxide_kernel::Scalar;

use super::quadric::Quadric;

/// Position, quadric and marks of a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Site {
    /// Its position, in units.
    pub at: DVec3,
    /// Its quadric.
    pub quadric: Quadric,
    /// Its [`mark`](super::mark)s.
    pub marks: u32,
    /// No meaning: a site has the size of two lines.
    pub padding: [u32; 3],
}

impl Scalar for Site {}
