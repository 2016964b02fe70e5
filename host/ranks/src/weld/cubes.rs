//! Cubes of space, and the cubes within reach of points.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use glam::DVec3;

use crate::curve::spread;
use crate::ids::of_bits;

/// Bits of a cube's number along an axis.
pub const BITS: u32 = 21;
/// The same for a large cube.
pub const LARGE_BITS: u32 = 6;

/// Cubes of equal sides, numbered along each axis. The bits of the three numbers, interleaved, are a cube's key.
#[derive(Clone, Copy)]
pub struct Cubes {
    least: DVec3,
    most: DVec3,
    /// Cubes a unit of length.
    inverse: f64,
    reach: f64,
    /// Low bits of the keys that are dropped: three double the width of cubes.
    pub shift: u32,
}

impl Cubes {
    /// The smallest cubes at least twice as wide as the reach, for points with these smallest and largest coordinates.
    pub fn between(least: DVec3, most: DVec3, reach: f64) -> Self {
        let extent = (most - least).max_element();
        let numbers = f64::from(1_u32 << BITS);
        let side = (2.0 * reach).max(extent / numbers).max(f64::MIN_POSITIVE);
        Self {
            least,
            most,
            inverse: 1.0 / side,
            reach,
            shift: 0,
        }
    }

    /// The smallest cubes, made of these, whose keys [`CubeSet`] holds as bits.
    pub fn large(&self) -> Self {
        let number = |axis: usize| self.number(self.most[axis] + self.reach, axis);
        let most = number(0).max(number(1)).max(number(2));
        let bits = u32::BITS - most.leading_zeros();
        Self {
            shift: 3 * bits.saturating_sub(LARGE_BITS),
            ..*self
        }
    }

    /// Number along an axis: it never falls where the coordinate grows.
    #[inline(always)]
    fn number(&self, x: f64, axis: usize) -> u32 {
        // Conversions of numbers out of range give the nearest in range.
        let number = ((x - self.least[axis]) * self.inverse) as u32;
        number.min((1 << BITS) - 1)
    }

    /// The cube of these numbers.
    #[inline(always)]
    fn key(&self, [x, y, z]: [u32; 3]) -> u64 {
        let spread = |x: u32| spread(x, BITS as usize, 3);
        (spread(x) | spread(y) << 1 | spread(z) << 2) >> self.shift
    }

    /// The cube of a point.
    #[inline(always)]
    pub fn cube(&self, p: DVec3) -> u64 {
        self.key([
            self.number(p.x, 0),
            self.number(p.y, 1),
            self.number(p.z, 2),
        ])
    }

    /// The cubes within reach of a point, as first and last numbers along each axis: they include the cubes of all its
    /// neighbours.
    ///
    /// A neighbour's coordinate, a float, is within the reach of the point's in exact numbers. So it is not beyond the
    /// rounded bound, and its number not beyond the bound's.
    #[inline(always)]
    pub fn near(&self, p: DVec3) -> [[u32; 2]; 3] {
        // Numbers that differ in the dropped bits alone are one cube's.
        let mask = !(self.apart() - 1);
        let ends = |x: f64, axis: usize| {
            let end = |x: f64| self.number(x, axis) & mask;
            [end(x - self.reach), end(x + self.reach)]
        };
        [ends(p.x, 0), ends(p.y, 1), ends(p.z, 2)]
    }

    /// Numbers from one cube to the next along an axis.
    fn apart(&self) -> u32 {
        1 << (self.shift / 3)
    }

    /// Calls `visit` for each cube of those [`Cubes::near`] a point.
    pub fn each(&self, near: [[u32; 2]; 3], mut visit: impl FnMut(u64)) {
        let along = |[first, last]: [u32; 2]| (first..=last).step_by(self.apart() as usize);
        for x in along(near[0]) {
            for y in along(near[1]) {
                for z in along(near[2]) {
                    visit(self.key([x, y, z]));
                }
            }
        }
    }

    /// The points whose neighbours are all in one cube, which has these numbers.
    fn within(&self, near: [[u32; 2]; 3]) -> Within {
        let numbers = near.map(|[first, _]| first);
        let number = DVec3::from_array(numbers.map(f64::from));
        let side = 1.0 / self.inverse;
        // The first cubes begin anywhere before the points.
        let is_first = number.cmpeq(DVec3::ZERO);
        // A distance from the cube's bounds that rounding seldom crosses.
        let inside = self.reach + side / 64.0;
        let low = self.least + number * side + inside;
        let low = DVec3::select(is_first, DVec3::NEG_INFINITY, low);
        let high = self.least + (number + f64::from(self.apart())) * side - inside;
        // Numbers never fall: where both ends are in the cube, all between them are.
        let is_in = |p: DVec3| self.near(p) == near;
        let is_true = is_in(low) && is_in(high);
        Within {
            low: if is_true { low } else { DVec3::INFINITY },
            high,
            cube: self.key(numbers),
        }
    }
}

/// Points between two corners, whose neighbours are all in one cube.
struct Within {
    low: DVec3,
    high: DVec3,
    cube: u64,
}

/// Finds whether all neighbours of a point are in one large cube, for consecutive points, most of which are near each
/// other.
pub struct Walk<'c> {
    cubes: &'c Cubes,
    last: Within,
}

/// The cubes where the neighbours of a point may be.
pub enum Around {
    /// The cube of the point before.
    Same,
    /// This cube, which is the point's.
    One(u64),
    /// Cubes from first to last numbers along each axis.
    Several([[u32; 2]; 3]),
}

impl<'c> Walk<'c> {
    pub fn new(cubes: &'c Cubes) -> Self {
        let last = Within {
            low: DVec3::INFINITY,
            high: DVec3::INFINITY,
            cube: u64::MAX,
        };
        Self { cubes, last }
    }

    /// The cubes where the neighbours of the next point may be.
    #[inline(always)]
    pub fn next(&mut self, p: DVec3) -> Around {
        let Within { low, high, .. } = self.last;
        let is_between = |axis: usize| low[axis] <= p[axis] && p[axis] <= high[axis];
        match is_between(0) && is_between(1) && is_between(2) {
            true => Around::Same,
            false => self.look(p),
        }
    }

    #[inline(never)]
    fn look(&mut self, p: DVec3) -> Around {
        let near = self.cubes.near(p);
        match near.iter().all(|[first, last]| first == last) {
            true => {
                self.last = self.cubes.within(near);
                Around::One(self.last.cube)
            }
            false => Around::Several(near),
        }
    }
}

/// A set of [large](Cubes::large) cubes: a bit each.
pub struct CubeSet(Vec<AtomicU64>);

impl CubeSet {
    pub fn new() -> Self {
        let words = 1 << (3 * LARGE_BITS - u64::BITS.ilog2());
        Self((0..words).map(|_| AtomicU64::new(0)).collect())
    }

    pub fn of(cubes: impl Iterator<Item = u64>) -> Self {
        let set = Self::new();
        cubes.for_each(|cube| set.insert(cube));
        set
    }

    pub fn insert(&self, cube: u64) {
        let (word, bit) = (&self.0[(cube / 64) as usize], 1 << (cube % 64));
        // Most cubes come many times, and a load is cheaper.
        if word.load(Relaxed) & bit == 0 {
            word.fetch_or(bit, Relaxed);
        }
    }

    #[inline(always)]
    pub fn has(&self, cube: u64) -> bool {
        let word = self.0.get((cube / 64) as usize);
        word.is_some_and(|word| word.load(Relaxed) >> (cube % 64) & 1 != 0)
    }

    /// The cubes of twice the width that contain these: eight narrow ones are the bits of a byte.
    pub fn halved(&self) -> Self {
        Self::of(self.to_vec().into_iter().map(|cube| cube >> 3))
    }

    /// The cubes, ascending.
    pub fn to_vec(&self) -> Vec<u64> {
        let words = (0..).step_by(64).zip(&self.0);
        let all = words.map(|(first, word)| (first, word.load(Relaxed)));
        let some = all.filter(|&(_, word)| word != 0);
        some.flat_map(|(first, word)| of_bits(word, first))
            .collect()
    }
}

/// The cubes within reach of some points.
pub struct Near {
    cubes: Cubes,
    large: Cubes,
    /// The large cubes that contain them.
    around: CubeSet,
    /// Ascending.
    within: Vec<u64>,
}

impl Near {
    pub fn new(points: &[DVec3], reach: f64) -> Self {
        let least = points.iter().copied().reduce(DVec3::min);
        let most = points.iter().copied().reduce(DVec3::max);
        let cubes = Cubes::between(least.unwrap_or_default(), most.unwrap_or_default(), reach);
        let mut within = Vec::new();
        for &p in points {
            cubes.each(cubes.near(p), |cube| within.push(cube));
        }
        within.sort_unstable();
        within.dedup();
        let large = cubes.large();
        Self {
            around: CubeSet::of(within.iter().map(|cube| cube >> large.shift)),
            cubes,
            large,
            within,
        }
    }

    /// Whether a point may be within reach of one of the points; true for each that is.
    pub fn may_be(&self, p: DVec3) -> bool {
        self.around.has(self.large.cube(p))
            && self.within.binary_search(&self.cubes.cube(p)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        /// A walk finds the same cubes for each point as a search, at all scales, with coordinates on the bounds of
        /// cubes.
        #[test]
        fn a_walk_finds_the_cubes_of_each_point(
            grid in proptest::collection::vec((0..40_u8, 0..9_u8, 0..3_u8), 1..200),
            scale in proptest::sample::select(vec![1.0, 0.1, 1e-300, 1e295, 5e-324]),
            reach in proptest::sample::select(vec![0.0, 0.01, 0.3, 1.0, f64::MAX]),
            doublings in 0..3_u32,
        ) {
            let points = grid.iter().map(|&(x, y, z)| DVec3::new(x.into(), y.into(), z.into()));
            let points: Vec<DVec3> = points.map(|p| p * scale).collect();
            let least = points.iter().copied().reduce(DVec3::min).unwrap();
            let most = points.iter().copied().reduce(DVec3::max).unwrap();
            let mut large = Cubes::between(least, most, reach * scale).large();
            large.shift += 3 * doublings;
            let mut walk = Walk::new(&large);
            let mut same = u64::MAX;
            for &p in &points {
                let mut around = Vec::new();
                large.each(large.near(p), |cube| around.push(cube));
                match walk.next(p) {
                    Around::Same => proptest::prop_assert_eq!(around, [same]),
                    Around::One(cube) => {
                        same = cube;
                        proptest::prop_assert_eq!(around, [same]);
                    }
                    Around::Several(_) => proptest::prop_assert!(around.len() > 1),
                }
            }
        }

        #[test]
        fn a_set_has_its_cubes(cubes in proptest::collection::vec(0..1_u64 << (3 * LARGE_BITS), 0..40)) {
            let set = CubeSet::of(cubes.iter().copied());
            let mut sorted = cubes;
            sorted.sort_unstable();
            sorted.dedup();
            proptest::prop_assert_eq!(set.to_vec(), sorted.clone());
            proptest::prop_assert!(sorted.iter().all(|&cube| set.has(cube)));
            proptest::prop_assert!(!set.has(u64::MAX));
            sorted.iter_mut().for_each(|cube| *cube >>= 3);
            sorted.dedup();
            proptest::prop_assert_eq!(set.halved().to_vec(), sorted);
        }
    }
}
