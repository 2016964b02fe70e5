//! The epsilon that removes a given fraction of the vertices (the paper looks for it by hand, section 6.2.2).

use std::collections::VecDeque;

use rayon::prelude::*;

use super::by_grid::cluster;
use super::fraction::{extent, fraction_removed, is_found};
use super::guards::DeviceGuards;
use super::in_turn::InTurn;
use super::{DeviceCarried, DeviceMesh, Error, Guards, Options, Result, stage};
use crate::collective::count_bits;
use crate::device::Device;
use crate::progress;

/// Most bisections of epsilon: then its bounds are neighbouring numbers or nearly.
const BISECTIONS: u32 = 64;
/// Doublings of epsilon after which it is compared with the extent of the points.
const DOUBLINGS: u32 = 12;

/// The result of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpsilonFound {
    /// The epsilon.
    pub epsilon: f64,
    /// Fraction of the vertices that it removes.
    pub ratio: f64,
    /// Clusterings that it took.
    pub clusterings: u32,
}

impl Options {
    /// These options at the distance that a search has found; without a search as they are.
    pub fn at(self, found: Option<EpsilonFound>) -> Self {
        match found {
            Some(EpsilonFound { epsilon, .. }) => Self { epsilon, ..self },
            None => self,
        }
    }
}

/// Searches the epsilon that removes the fraction `ratio` of the vertices, to
/// [`RATIO_TOLERANCE`](super::RATIO_TOLERANCE) or as near as any epsilon comes.
///
/// By bisection between 0 and the extent of the points. More epsilon does not always remove more vertices (a new
/// neighbour can take a vertex away from one that then represents itself), but nearly so; where no epsilon removes the
/// fraction, as with points on a lattice, the nearer of the last two bounds is taken.
///
/// # Errors
/// [`Error::Ratio`]; those of [`weld`](super::weld()).
pub fn epsilon_for_ratio(
    on: &Device,
    mesh: &DeviceMesh,
    guards: Guards,
    ratio: f64,
) -> Result<EpsilonFound> {
    let (points, carried) = (&mesh.points, &mesh.carried);
    check_ratio(ratio)?;
    guards.check()?;
    let none = DeviceCarried::none(on)?;
    let guards = DeviceGuards::new(points.len(), &guards, carried, &none)?;
    let spacing = super::grid::spacing(on, points)?;
    if !on.is_gpu() && ratio >= FEW_STAY {
        let in_turn = InTurn::new(on, points, &guards, POINTS_APART * spacing)?;
        let removed = |epsilons: &[f64], wanted: Option<f64>| {
            let removed = |&epsilon: &f64| in_turn.removed(epsilon, wanted);
            stage(on, "count representatives", || {
                Ok(on.on_host(|| epsilons.par_iter().with_max_len(1).map(removed).collect()))
            })
        };
        let at_once = on.on_host(rayon::current_num_threads).min(AT_ONCE);
        return search_bounded(ratio, spacing, || Ok(in_turn.extent()), removed, at_once);
    }
    let n = points.len();
    let removed = |epsilon: f64| {
        let clusters = cluster(on, points, &guards, &Options::new(epsilon))?;
        let mut bits = on.uninitialized(n.div_ceil(32))?;
        let representatives = &clusters.representatives;
        gpu::weld::mark_representatives::launch(on, n as u32, representatives, &mut bits)?;
        Ok(fraction_removed(n, count_bits(on, &bits)? as usize))
    };
    search(
        ratio,
        spacing,
        || Ok(extent(&on.download(points)?)),
        removed,
    )
}

/// Width of a cell of two points, in units of the spacing that a search starts from.
const POINTS_APART: f64 = 64.0;

/// Fraction to remove from which on so few vertices stay that a CPU counts them one after the other: below, the memory
/// that each takes is the longer wait.
const FEW_STAY: f64 = 0.75;
/// Most epsilons that are counted for at once: the places of three bisections.
const AT_ONCE: usize = 7;

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

/// Searches from a `spacing` that is too small for any surface or volume to the `extent` of the points; `removed` gives
/// the fraction that an epsilon removes.
///
/// # Errors
/// Those of `extent` and `removed`.
pub fn search(
    ratio: f64,
    spacing: f64,
    extent: impl FnOnce() -> Result<f64>,
    mut removed: impl FnMut(f64) -> Result<f64>,
) -> Result<EpsilonFound> {
    let removed = |epsilons: &[f64], _: Option<f64>| {
        let fractions = epsilons.iter().map(|&epsilon| removed(epsilon));
        fractions.collect()
    };
    search_bounded(ratio, spacing, extent, removed, 1)
}

/// As [`search`]. `of` takes up to `at_once` epsilons, of which the first is asked for and others may be next. With a
/// wanted fraction, it may give [`LESS`](super::fraction::LESS) and [`MORE`](super::fraction::MORE) in place of others.
fn search_bounded(
    ratio: f64,
    spacing: f64,
    extent: impl FnOnce() -> Result<f64>,
    mut of: impl FnMut(&[f64], Option<f64>) -> Result<Vec<f64>>,
    at_once: usize,
) -> Result<EpsilonFound> {
    let mut clusterings = 0;
    let counted = progress::count("clustering", 0);
    let mut known: Vec<(f64, f64)> = Vec::new();
    let mut removed = |epsilon: f64, next: &dyn Fn() -> Vec<f64>| -> Result<f64> {
        clusterings += 1;
        counted.advance(1);
        let of_known =
            |known: &[(f64, f64)]| known.iter().find(|one| one.0 == epsilon).map(|one| one.1);
        if let Some(fraction) = of_known(&known) {
            return Ok(fraction);
        }
        let mut epsilons = vec![epsilon];
        if at_once > 1 {
            epsilons.extend(next());
        }
        epsilons.truncate(at_once);
        let fractions = of(&epsilons, Some(ratio))?;
        known = epsilons.into_iter().zip(fractions).collect();
        Ok(of_known(&known).expect("the first of them"))
    };
    let mut extent = Some(extent);
    let mut most = f64::MAX / 4.0;
    let doubled = |from: f64| (0..at_once as i32).map(|i| from * 2f64.powi(i)).collect();
    let mut low = (0.0, removed(0.0, &|| doubled(spacing))?);
    let mut high = (spacing, low.1);
    let mut doublings = 0;
    while low.1 < ratio {
        high.1 = removed(high.0, &|| doubled(2.0 * high.0))?;
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
        let middle = middle(low.0, high.0);
        if is_found(nearer(low, high, ratio).1, ratio) || middle <= low.0 || middle >= high.0 {
            break;
        }
        // No other epsilon removes more than the largest.
        if high.1 < ratio || low.1 >= ratio {
            break;
        }
        let found = (middle, removed(middle, &|| halves(low.0, high.0, at_once))?);
        if found.1 < ratio {
            low = found;
        } else {
            high = found;
        }
    }
    if !is_found(nearer(low, high, ratio).1, ratio) {
        // The nearer one counts, however far it is.
        for end in [&mut low, &mut high] {
            if end.1.is_infinite() {
                end.1 = of(&[end.0], None)?[0];
            }
        }
    }
    let (epsilon, ratio) = nearer(low, high, ratio);
    Ok(EpsilonFound {
        epsilon,
        ratio,
        clusterings,
    })
}

fn middle(low: f64, high: f64) -> f64 {
    low + (high - low) / 2.0
}

/// Places where a bisection may ask after the middle of `low` and `high`: `count` at most, the next ones first.
fn halves(low: f64, high: f64, count: usize) -> Vec<f64> {
    let mut parts = VecDeque::from([(low, high)]);
    let mut places = Vec::new();
    while places.len() <= count
        && let Some((low, high)) = parts.pop_front()
    {
        let middle = middle(low, high);
        places.push(middle);
        parts.extend([(low, middle), (middle, high)]);
    }
    places.split_off(1)
}

fn nearer(low: (f64, f64), high: (f64, f64), ratio: f64) -> (f64, f64) {
    if (low.1 - ratio).abs() <= (high.1 - ratio).abs() {
        low
    } else {
        high
    }
}
