//! The epsilon that removes a given fraction of the vertices (the paper looks for it by hand, section 6.2.2).

use glam::DVec3;

use super::by_grid::cluster;
use super::guards::DeviceGuards;
use super::{DeviceCarried, DeviceMesh, Error, Guards, Options, Result};
use crate::backend::Device;
use crate::collective::count_bits;
use crate::progress;

/// The search ends when the fraction is as close as this to the wanted one.
pub const RATIO_TOLERANCE: f64 = 1e-4;
/// Most bisections of epsilon: then its bounds are neighbouring numbers or nearly.
const BISECTIONS: u32 = 64;
/// Doublings of epsilon after which it is compared with the extent of the points.
const DOUBLINGS: u32 = 12;

/// The result of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The epsilon.
    pub epsilon: f64,
    /// Fraction of the vertices that it removes.
    pub ratio: f64,
    /// Clusterings that it took.
    pub clusterings: u32,
}

/// Searches the epsilon that removes the fraction `ratio` of the vertices, to [`RATIO_TOLERANCE`] or as near as any epsilon
/// comes.
///
/// By bisection between 0 and the extent of the points. More epsilon does not always remove more vertices (a new neighbour
/// can take a vertex away from one that then represents itself), but nearly so; where no epsilon removes the fraction, as
/// with points on a lattice, the nearer of the last two bounds is taken.
///
/// # Errors
/// [`Error::Ratio`]; those of [`weld`](super::weld()).
pub fn epsilon_for_ratio(
    on: &Device,
    mesh: &DeviceMesh,
    guards: Guards,
    ratio: f64,
) -> Result<Found> {
    let (points, carried) = (&mesh.points, &mesh.carried);
    check_ratio(ratio)?;
    guards.check()?;
    let none = DeviceCarried::none(on)?;
    let guards = DeviceGuards::new(points.len(), &guards, carried, &none)?;
    let n = points.len();
    let removed = |epsilon: f64| {
        let clusters = cluster(on, points, &guards, &Options::new(epsilon))?;
        let mut bits = on.uninitialized(n.div_ceil(32))?;
        let representatives = &clusters.representatives;
        // SAFETY: one index a vertex; the lengths are checked.
        unsafe {
            gpu::weld::mark_representatives::launch(on, n as u32, representatives, &mut bits)
        }?;
        Ok(fraction_removed(n, count_bits(on, &bits)? as usize))
    };
    let spacing = super::grid::spacing(on, points)?;
    search(
        ratio,
        spacing,
        || Ok(extent(&on.download(points)?)),
        removed,
    )
}

/// Fraction of `n` vertices that are removed if `kept` stay.
pub fn fraction_removed(n: usize, kept: usize) -> f64 {
    (n - kept) as f64 / n.max(1) as f64
}

/// Refuses a ratio that is no fraction of the vertices.
///
/// # Errors
/// [`Error::Ratio`].
pub fn check_ratio(ratio: f64) -> Result<()> {
    if (0.0..1.0).contains(&ratio) {
        return Ok(());
    }
    Err(Error::Ratio(ratio))
}

/// A distance that no two points exceed.
pub(crate) fn extent(points: &[DVec3]) -> f64 {
    let low = points.iter().copied().reduce(DVec3::min);
    let high = points.iter().copied().reduce(DVec3::max);
    extent_between(low.unwrap_or_default(), high.unwrap_or_default())
}

/// A distance that no two points exceed, of points with these smallest and largest coordinates.
pub fn extent_between(low: DVec3, high: DVec3) -> f64 {
    let sides = high - low;
    sides.x + sides.y + sides.z
}

/// Searches from a `spacing` that is too small for any surface or volume to the `extent` of the points; `removed` gives
/// the fraction that an epsilon removes.
///
/// # Errors
/// What `extent` and `removed` give.
pub fn search(
    ratio: f64,
    spacing: f64,
    extent: impl FnOnce() -> Result<f64>,
    mut removed: impl FnMut(f64) -> Result<f64>,
) -> Result<Found> {
    let mut clusterings = 0;
    let counted = progress::count("clustering", 0);
    let mut removed = |epsilon: f64| {
        clusterings += 1;
        counted.advance(1);
        removed(epsilon)
    };
    let mut extent = Some(extent);
    let mut most = f64::MAX / 4.0;
    let mut low = (0.0, removed(0.0)?);
    let mut high = (spacing, low.1);
    let mut doublings = 0;
    while low.1 < ratio {
        high.1 = removed(high.0)?;
        doublings += 1;
        if doublings > DOUBLINGS
            && let Some(extent) = extent.take()
        {
            most = extent()?.min(most);
        }
        if high.1 >= ratio || high.0 >= most {
            break;
        }
        low = high;
        high.0 *= 2.0;
    }
    for _ in 0..BISECTIONS {
        let nearer = nearer(low, high, ratio);
        let middle = low.0 + (high.0 - low.0) / 2.0;
        if (nearer.1 - ratio).abs() <= RATIO_TOLERANCE || middle <= low.0 || middle >= high.0 {
            break;
        }
        // No other epsilon removes more than the largest.
        if high.1 < ratio || low.1 >= ratio {
            break;
        }
        let found = (middle, removed(middle)?);
        if found.1 < ratio {
            low = found;
        } else {
            high = found;
        }
    }
    let (epsilon, ratio) = nearer(low, high, ratio);
    Ok(Found {
        epsilon,
        ratio,
        clusterings,
    })
}

fn nearer(low: (f64, f64), high: (f64, f64), ratio: f64) -> (f64, f64) {
    if (low.1 - ratio).abs() <= (high.1 - ratio).abs() {
        low
    } else {
        high
    }
}
