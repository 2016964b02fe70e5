//! The unit of a file's coordinates, which are whole numbers of 32 bits.

use std::cell::LazyCell;
use std::ops::Range;

use glam::DVec3;
use las::{Transform, Vector};
use trioxide_mesh::about::Unit;
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::parallel;

/// Largest whole number. The crate rounds the bounds' quotients up, so that one is left free.
const MOST: f64 = (i32::MAX - 1) as f64;

/// The units of a file's coordinates.
pub(super) struct Units<'a> {
    points: &'a [DVec3],
    unit: Unit,
    /// Whether the coordinates are multiples, up to the rounding of 64-bit numbers; `None` where nobody has asked.
    are_exact: Option<bool>,
    /// Whether it is the unit of the mesh's own file.
    is_kept: bool,
}

impl Units<'_> {
    /// The unit of the mesh's file, if the coordinates fit into it. Else the coarsest decimal unit whose multiples they
    /// are, or the finest in which they fit.
    pub(super) fn of(mesh: &Mesh) -> Units<'_> {
        const DECIMALS: [f64; 13] = [
            1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12,
        ];
        let points = &mesh.points;
        let extent = LazyCell::new(|| bounds(points));
        let units = |unit, are_exact, is_kept| Units {
            points,
            unit,
            are_exact,
            is_kept,
        };
        let own = mesh.about.unit.filter(is_usable);
        if let Some(unit) = own.and_then(|unit| moved(unit, *extent)) {
            return units(unit, None, true);
        }
        for scale in DECIMALS {
            let decimal = Unit {
                scale: [scale; 3],
                offset: [0.0; 3],
            };
            if are_multiples(points, &decimal) {
                return units(decimal, Some(true), false);
            }
            match moved(decimal, *extent) {
                Some(moved) if moved != decimal && are_multiples(points, &moved) => {
                    return units(moved, Some(true), false);
                }
                Some(_) => {}
                None => break,
            }
        }
        let [least, most] = *extent;
        let offset = least.midpoint(most).round();
        let reach = (most - offset).max(offset - least).max_element();
        let exponent = libm::log10(reach / f64::from(i32::MAX)).ceil() as i32;
        let unit = Unit {
            scale: [10f64.powi(exponent.clamp(-300, 300)); 3],
            offset: offset.to_array(),
        };
        units(unit, Some(false), false)
    }

    pub(super) fn transforms(&self) -> Vector<Transform> {
        let [x, y, z] = [0, 1, 2].map(|k| Transform {
            scale: self.unit.scale[k],
            offset: self.unit.offset[k],
        });
        Vector { x, y, z }
    }

    /// The sentence on coordinates that the file does not hold exactly.
    pub(super) fn rounding(&self) -> Option<String> {
        let [x, y, z] = self.unit.scale;
        let scale = match x == y && y == z {
            true => format!("{x:e}"),
            false => format!("{x:e}, {y:e}, {z:e}"),
        };
        let are_exact = self.are_exact;
        let are_exact = are_exact.unwrap_or_else(|| are_multiples(self.points, &self.unit));
        (!are_exact).then(|| match self.is_kept {
            true => format!(
                "LAS holds multiples of a unit: the new coordinates are rounded to that of the input, {scale}"
            ),
            false => format!(
                "LAS holds multiples of a unit: the input's coordinates are rounded to {scale}"
            ),
        })
    }
}

/// The whole number that represents a coordinate.
pub(super) fn unit_of(coordinate: f64, axis: &Transform) -> i32 {
    ((coordinate - axis.offset) / axis.scale).round() as i32
}

/// The least and the largest coordinates.
pub(super) fn bounds(points: &[DVec3]) -> [DVec3; 2] {
    let none = [DVec3::INFINITY, DVec3::NEG_INFINITY];
    let of_piece = |range: Range<usize>| {
        let join = |[least, most]: [DVec3; 2], p: &DVec3| [least.min(*p), most.max(*p)];
        points[range].iter().fold(none, join)
    };
    let pieces = parallel::map_pieces(points.len(), parallel::GRAIN, of_piece);
    (pieces.into_iter()).fold(none, |a, b| [a[0].min(b[0]), a[1].max(b[1])])
}

/// Whether numbers are multiples of the unit at all.
fn is_usable(unit: &Unit) -> bool {
    let Unit { scale, offset } = unit;
    scale.iter().all(|scale| scale.is_normal()) && offset.iter().all(|offset| offset.is_finite())
}

/// The unit with offsets from which 32 bits reach to the bounds: its own, or others a whole number away. `None` if the
/// bounds are too far apart.
fn moved(mut unit: Unit, bounds: [DVec3; 2]) -> Option<Unit> {
    let [least, most] = bounds.map(|bound| bound.to_array());
    for k in 0..3 {
        let (scale, offset) = (unit.scale[k], &mut unit.offset[k]);
        let is_near = |offset: f64| {
            let reach = (least[k] - offset).abs().max((most[k] - offset).abs());
            reach <= MOST * scale.abs()
        };
        if !is_near(*offset) {
            *offset += (least[k].midpoint(most[k]) - *offset).round();
            is_near(*offset).then_some(())?;
        }
    }
    Some(unit)
}

/// Whether all coordinates are multiples of the unit that 32 bits hold.
fn are_multiples(points: &[DVec3], unit: &Unit) -> bool {
    let Unit { scale, offset } = unit;
    // The reciprocal changes the rounded number only where the quotient is near a half: no multiple is there.
    let reciprocals = scale.map(|scale| 1.0 / scale);
    parallel::all(points, |p| {
        let whole = |k: usize| {
            let quotient = (p[k] - offset[k]) * reciprocals[k];
            multiple_at(quotient, p[k], scale[k], offset[k])
        };
        let is_whole = |k| whole(k).is_some_and(|number| number.abs() <= MOST);
        is_whole(0) && is_whole(1) && is_whole(2)
    })
}

/// Returns the nearest whole number, or either of two. The processor's instructions of the baseline have no rounding,
/// and a call takes longer.
fn nearest(x: f64) -> f64 {
    // At this number and the next ones the last place is 1, so that the sum is rounded to whole numbers.
    const ONES: f64 = 6_755_399_441_055_744.0;
    match x.abs() < ONES / 3.0 {
        true => (x + ONES) - ONES,
        false => x.round(),
    }
}

/// The whole number of which `x` is the multiple, from `offset` in steps of `scale`, but for the last bits: a decimal
/// number that is read as text is up to two units in the last place away from the product of a whole number and the
/// decimal unit.
pub(super) fn multiple(x: f64, scale: f64, offset: f64) -> Option<f64> {
    multiple_at((x - offset) / scale, x, scale, offset)
}

/// As [`multiple`], by the `quotient`, whose last bits do not matter.
#[inline]
fn multiple_at(quotient: f64, x: f64, scale: f64, offset: f64) -> Option<f64> {
    let number = nearest(quotient);
    let difference = (scale * number + offset - x).abs();
    let bits = 4.0 * f64::EPSILON * x.abs().max(offset.abs());
    // Every number is a few bits away from a multiple of a unit that has only few more.
    (difference <= bits.min(scale.abs() / 64.0)).then_some(number)
}
