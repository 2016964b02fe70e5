//! Hilbert's curve through a cube.

/// The place of a cell along Hilbert's curve through 2^`bits` cells a side (Skilling, Programming the Hilbert curve,
/// 2004), as three numbers: the bits of the place are, from the highest on, a bit of each in turn.
///
/// The highest bits of the place are those of the larger cell that has the highest bits of the coordinates.
#[inline(always)]
pub(crate) fn through_cube([mut x, mut y, mut z]: [u32; 3], bits: u32) -> [u32; 3] {
    let mut bit = bits - 1;
    while bit > 0 {
        let q = 1u32 << bit;
        let below = q - 1;
        if x & q != 0 {
            x ^= below;
        }
        let turn = |x: u32, other: u32| {
            if other & q != 0 {
                (x ^ below, other)
            } else {
                let t = (x ^ other) & below;
                (x ^ t, other ^ t)
            }
        };
        (x, y) = turn(x, y);
        (x, z) = turn(x, z);
        bit -= 1;
    }
    y ^= x;
    z ^= y;
    let mut t = 0;
    let mut bit = bits - 1;
    while bit > 0 {
        if z & (1u32 << bit) != 0 {
            t ^= (1u32 << bit) - 1;
        }
        bit -= 1;
    }
    [x ^ t, y ^ t, z ^ t]
}
