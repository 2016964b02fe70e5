//! Star-shapedness: is there a point on the inner side of every face? A linear program in four unknowns.
//!
//! Seidel, Small-Dimensional Linear Programming and Convex Hulls Made Easy (1991): a constraint that the best point so
//! far breaks bounds the new one, so a program with one unknown less, on its plane, has it.

use glam::DVec3;

/// Radius of the ball that must fit, by the extent.
const SMALLEST: f64 = 1e-9;
/// Constraints broken by less hold: rounding of numbers of about 1.
const TOLERANCE: f64 = 1e-12;
/// Bound of every unknown.
const BOX: f64 = 4.0;

/// Whether a ball of [`SMALLEST`] of the extent lies on the inner side of each triangle's plane.
pub fn is_star_shaped(points: &[DVec3], triangles: &[[u32; 3]], vertices: &[u32]) -> bool {
    let own = || vertices.iter().map(|&v| points[v as usize]);
    let low = own().fold(DVec3::INFINITY, DVec3::min);
    let high = own().fold(DVec3::NEG_INFINITY, DVec3::max);
    let (middle, extent) = ((low + high) / 2.0, (high - low).max_element());
    let constraints: Vec<([f64; 4], f64)> = triangles
        .iter()
        .map(|triangle| {
            let [a, b, c] = triangle.map(|v| (points[v as usize] - middle) / extent);
            let normal = (b - a).cross(c - a).normalize_or_zero();
            // normal . x + r <= normal . a, for the largest r.
            ([normal.x, normal.y, normal.z, 1.0], normal.dot(a))
        })
        .collect();
    let best = maximize::<4>(&constraints, [0.0, 0.0, 0.0, 1.0], 4);
    best.is_some_and(|x| x[3] > SMALLEST)
}

/// The point of largest `goal` . x within all `constraints` a . x <= b and |x| <= [`BOX`] in the first `unknowns` of N;
/// `None` if there is none.
fn maximize<const N: usize>(
    constraints: &[([f64; N], f64)],
    goal: [f64; N],
    unknowns: usize,
) -> Option<[f64; N]> {
    let dot = |a: &[f64; N], x: &[f64; N]| -> f64 { (0..unknowns).map(|i| a[i] * x[i]).sum() };
    if unknowns == 1 {
        let (mut low, mut high) = (-BOX, BOX);
        for &(a, b) in constraints {
            if a[0].abs() <= TOLERANCE {
                if b < -TOLERANCE {
                    return None;
                }
            } else if a[0] > 0.0 {
                high = high.min(b / a[0]);
            } else {
                low = low.max(b / a[0]);
            }
        }
        let mut x = [0.0; N];
        x[0] = if goal[0] < 0.0 { low } else { high };
        return (low <= high + TOLERANCE).then_some(x);
    }
    let mut best = [0.0; N];
    for i in 0..unknowns {
        best[i] = if goal[i] < 0.0 { -BOX } else { BOX };
    }
    for (i, (a, b)) in constraints.iter().enumerate() {
        if dot(a, &best) <= b + TOLERANCE {
            continue;
        }
        // On the plane a . x = b the largest coefficient's unknown follows from the others.
        let pivot = (0..unknowns).max_by(|&j, &k| a[j].abs().total_cmp(&a[k].abs()))?;
        if a[pivot].abs() <= TOLERANCE {
            return None;
        }
        let drop_pivot = |row: &[f64; N], right: f64| {
            let factor = row[pivot] / a[pivot];
            let mut reduced = [0.0; N];
            let others = (0..unknowns).filter(|&j| j != pivot);
            for (place, j) in others.enumerate() {
                reduced[place] = row[j] - factor * a[j];
            }
            (reduced, right - factor * b)
        };
        let mut reduced: Vec<([f64; N], f64)> = constraints[..i]
            .iter()
            .map(|(row, right)| drop_pivot(row, *right))
            .collect();
        for sign in [1.0, -1.0] {
            let mut bound = [0.0; N];
            bound[pivot] = sign;
            reduced.push(drop_pivot(&bound, BOX));
        }
        let (own_goal, _) = drop_pivot(&goal, 0.0);
        let part = maximize::<N>(&reduced, own_goal, unknowns - 1)?;
        let mut rest = *b;
        let others = (0..unknowns).filter(|&j| j != pivot);
        for (place, j) in others.enumerate() {
            best[j] = part[place];
            rest -= a[j] * part[place];
        }
        best[pivot] = rest / a[pivot];
    }
    Some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_points_of_small_programs() {
        // x + y <= 1, x - y <= 0: the largest x is 1/2.
        let constraints = [([1.0, 1.0], 1.0), ([1.0, -1.0], 0.0)];
        let best = maximize(&constraints, [1.0, 0.0], 2).unwrap();
        assert!((best[0] - 0.5).abs() < 1e-12, "{best:?}");
        // x >= 1 and x <= 0.
        let none = [([1.0, 0.0], 0.0), ([-1.0, 0.0], -1.0)];
        assert_eq!(maximize(&none, [0.0, 1.0], 2), None);
    }
}
