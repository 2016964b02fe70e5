use gpu::curve::along_curve;

/// Quadrant by quadrant, from the largest on.
fn by_quadrants([mut x, mut y]: [u32; 2]) -> u64 {
    let mut key = 0;
    for bit in (0..32).rev() {
        let (right, up) = (x >> bit & 1, y >> bit & 1);
        key = key << 2 | u64::from((3 * right) ^ up);
        // Lower quadrants are mirrored at a diagonal; higher bits are not read again.
        if up == 0 {
            let flip = 0u32.wrapping_sub(right);
            (x, y) = (y ^ flip, x ^ flip);
        }
    }
    key
}

#[test]
fn all_bits_at_once_are_the_curve() {
    let mut random = 1u64;
    for i in 0..100_000 {
        random = (random.wrapping_mul(6_364_136_223_846_793_005))
            .wrapping_add(1_442_695_040_888_963_407);
        let cell = [(random >> 32) as u32, random as u32];
        let cell = if i % 2 == 0 {
            cell
        } else {
            cell.map(|x| x >> (random >> 59))
        };
        assert_eq!(along_curve(cell), by_quadrants(cell), "{cell:?}");
    }
}
