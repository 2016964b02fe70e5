//! Fractions of the vertices that a weld removes, and the distances between which they are searched.

use glam::DVec3;

/// The search ends when the fraction is as close as this to the wanted one.
pub const RATIO_TOLERANCE: f64 = 1e-4;

/// A fraction that is below the wanted one by more than [`RATIO_TOLERANCE`].
pub(super) const LESS: f64 = f64::NEG_INFINITY;
/// A fraction that is above it by more.
pub(super) const MORE: f64 = f64::INFINITY;

/// Whether a fraction is as near the wanted one as it is to be.
pub(super) fn is_found(fraction: f64, wanted: f64) -> bool {
    (fraction - wanted).abs() <= RATIO_TOLERANCE
}

/// Fraction of `n` vertices that are removed if `kept` stay.
pub fn fraction_removed(n: usize, kept: usize) -> f64 {
    (n - kept) as f64 / n.max(1) as f64
}

/// A distance that no two points exceed.
pub fn extent(points: &[DVec3]) -> f64 {
    let low = points.iter().copied().reduce(DVec3::min);
    let high = points.iter().copied().reduce(DVec3::max);
    extent_between(low.unwrap_or_default(), high.unwrap_or_default())
}

/// A distance that no two points exceed, of points with these smallest and largest coordinates.
pub fn extent_between(low: DVec3, high: DVec3) -> f64 {
    let sides = high - low;
    sides.x + sides.y + sides.z
}
