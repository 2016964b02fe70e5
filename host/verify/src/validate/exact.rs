//! Sums without rounding.

use glam::DVec2;

/// A sum of doubles without rounding: an expansion, components that do not overlap, ascending in magnitude (Shewchuk,
/// Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates, 1997). Exact unless a product
/// overflows or underflows.
#[derive(Clone, Default)]
pub(super) struct ExactSum(Vec<f64>);

impl ExactSum {
    /// Adds a number (Shewchuk, theorem 10, without the zeros).
    pub(super) fn add(&mut self, term: f64) {
        let mut sum = term;
        self.0.retain_mut(|component| {
            [sum, *component] = two_sum(sum, *component);
            *component != 0.0
        });
        if sum != 0.0 {
            self.0.push(sum);
        }
    }

    /// Adds a product.
    pub(super) fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        self.add(a.mul_add(b, -product));
        self.add(product);
    }

    /// Adds twice the signed area of a triangle, greater than zero where it runs counter-clockwise.
    pub(super) fn add_triangle(&mut self, corners: [DVec2; 3]) {
        let [a, b, c] = corners;
        for (p, q) in [(a, b), (b, c), (c, a)] {
            self.add_product(p.x, q.y);
            self.add_product(-q.x, p.y);
        }
    }

    /// Adds another sum, or its negative.
    pub(super) fn add_sum(&mut self, other: &ExactSum, sign: f64) {
        for component in &other.0 {
            self.add(sign * component);
        }
    }

    /// The sum, rounded.
    pub(super) fn value(&self) -> f64 {
        self.0.iter().fold(0.0, |sum, component| sum + component)
    }
}

/// Sum and its rounding error.
fn two_sum(a: f64, b: f64) -> [f64; 2] {
    let sum = a + b;
    let b_virtual = sum - a;
    let a_virtual = sum - b_virtual;
    [sum, (a - a_virtual) + (b - b_virtual)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost() {
        let mut sum = ExactSum::default();
        for term in [1e-30, 1e30, 1.0, -1e30, 3e-200] {
            sum.add(term);
        }
        sum.add(-1.0);
        sum.add(-1e-30);
        assert_eq!(sum.value(), 3e-200);
        sum.add(-3e-200);
        assert!(sum.0.is_empty());
        // (2^53 - 1)^2 = 2^106 - 2^54 + 1
        let most = 2f64.powi(53) - 1.0;
        sum.add_product(most, -most);
        assert_eq!(sum.0.len(), 2);
        for term in [1.0, 2f64.powi(106), -2f64.powi(54)] {
            sum.add(term);
        }
        assert!(sum.0.is_empty());
        assert_eq!(sum.value().to_bits(), 0);
        // A triangle one unit in the last place high, far away.
        let far = DVec2::new(1e15, 1e15);
        sum.add_triangle([far, far + DVec2::X, far + DVec2::new(0.0, 0.125)]);
        assert_eq!(sum.value(), 0.125);
        let mut same = ExactSum::default();
        same.add_sum(&sum, -1.0);
        same.add_sum(&sum, 1.0);
        assert!(same.0.is_empty());
    }
}
