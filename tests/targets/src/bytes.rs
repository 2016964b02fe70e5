//! Numbers and choices from the bytes of an input.

use arbitrary::Unstructured;
use trioxide::random::SplitMix64;

/// The bytes of an input, as choices. After their end every choice is the first one.
pub struct Choices<'a>(Unstructured<'a>);

/// Coordinates that are hard for arithmetic.
const ODD: [f64; 16] = [
    0.0,
    -0.0,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    f64::MIN,
    f64::MIN_POSITIVE,
    5e-324,
    1e300,
    -1e300,
    1e-300,
    3.5e38,
    1e-46,
    1.000_000_000_000_000_2,
    0.333_333_333_333_333_3,
];

/// Powers of two that scale a mesh: most meshes are not scaled.
const SCALES: [i32; 12] = [0, 0, 0, 0, 0, 0, 20, 100, -70, 500, -500, -1000];

impl<'a> Choices<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Self(Unstructured::new(data))
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0.choose_index(n).unwrap_or(0)
    }

    /// A number from `from` to `to`.
    pub fn between(&mut self, from: usize, to: usize) -> usize {
        from + self.below(to - from + 1)
    }

    /// One chance in `n`.
    pub fn seldom(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    pub fn byte(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or(0)
    }

    pub fn id(&mut self) -> u32 {
        self.0.arbitrary().unwrap_or(0)
    }

    /// A small multiple of a quarter.
    pub fn lattice(&mut self) -> f64 {
        f64::from(self.byte() as i8) / 4.0
    }

    /// A coordinate, most often on the lattice.
    pub fn coordinate(&mut self) -> f64 {
        match self.below(8) {
            0 => ODD[self.below(ODD.len())],
            1 => f64::from_bits(self.0.arbitrary().unwrap_or(0)),
            _ => self.lattice(),
        }
    }

    /// A power of two to scale a mesh by.
    pub fn scale(&mut self) -> f64 {
        let exponent = SCALES[self.below(SCALES.len())];
        f64::from_bits(((1023 + i64::from(exponent)) as u64) << 52)
    }

    /// A vertex of a mesh with `n` vertices; rarely a vertex out of range.
    pub fn vertex(&mut self, n: usize) -> u32 {
        if n == 0 || self.seldom(32) {
            return [n as u32, u32::MAX, u32::MAX - 1, 1 << 31][self.below(4)];
        }
        self.below(n) as u32
    }
}

/// Inputs without a pattern, of several lengths.
pub fn noise() -> Vec<Vec<u8>> {
    let mut random = SplitMix64::new(14);
    let mut input = |length: usize| (0..length).map(|_| random.next_u64() as u8).collect();
    (0..48).map(|i| input(8 << (i % 7))).collect()
}
