use glam::Vec2;

/// The mesh's coordinates in a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    pub pixels_per_unit: f64,
    /// Directions of x, y and z in the picture, y down; shorter where they point to the viewer or away.
    pub axes: [Vec2; 3],
    /// The ranges of x and y from the left to the right side and from the lower to the upper side of the picture, where
    /// x is to the right and y up.
    pub ranges: Option<[[f64; 2]; 2]>,
}
