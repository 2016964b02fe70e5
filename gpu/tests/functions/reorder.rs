use glam::{DVec2, DVec3};

use gpu::reorder::Curve;

/// Cells of a cube with 2^bits a side, as the largest ones of a curve with `all` bits, in the order of their keys.
fn walk<C: Curve>(bits: u32, dimensions: u32) -> Vec<[u32; 3]> {
    let (side, shift) = (1u32 << bits, C::CELL_BITS - bits);
    let depth = if dimensions == 3 { side } else { 1 };
    let mut cells = Vec::new();
    for z in 0..depth {
        for y in 0..side {
            for x in 0..side {
                let key = C::key([x << shift, y << shift, z << shift]);
                cells.push((key >> (C::KEY_BITS - dimensions * bits), [x, y, z]));
            }
        }
    }
    cells.sort_unstable();
    let numbers = (0..).zip(&cells).all(|(i, (key, _))| *key == i);
    assert!(numbers, "each place of the curve has one cell");
    cells.into_iter().map(|(_, cell)| cell).collect()
}

#[test]
fn neighbours_on_a_curve_share_a_side() {
    let flat = walk::<DVec2>(5, 2);
    let solid = walk::<DVec3>(4, 3);
    for cells in [flat, solid] {
        for pair in cells.windows(2) {
            let distance: u32 = (0..3).map(|k| pair[0][k].abs_diff(pair[1][k])).sum();
            assert_eq!(distance, 1, "{pair:?}");
        }
    }
}

#[test]
fn the_highest_bits_of_a_key_are_those_of_the_larger_cell() {
    for i in 0..1000u32 {
        let [x, y, z] = [
            i.wrapping_mul(0x9E37_79B1),
            i.wrapping_mul(0x85EB_CA77),
            i * i * i,
        ];
        let last = (1 << DVec3::CELL_BITS) - 1;
        let fine = [x & last, y & last, z & last];
        let larger = fine.map(|x| x & !127);
        assert_eq!(DVec3::key(fine) >> 21, DVec3::key(larger) >> 21);
        let (fine, larger) = ([x, y, 0], [x & !0xFFFF, y & !0xFFFF, 0]);
        assert_eq!(DVec2::key(fine) >> 32, DVec2::key(larger) >> 32);
    }
}

#[test]
fn cells_of_all_coordinates_are_in_the_cube() {
    let most = DVec3::splat(f64::MAX);
    let cube = DVec3::cube(-most, most);
    assert_eq!((-most).cell(&cube), [0; 3]);
    assert_eq!(most.cell(&cube), [(1 << 21) - 1; 3]);
    // All at one place.
    let cube = DVec3::cube(most, most);
    assert_eq!(most.cell(&cube), [0; 3]);
    let flat = DVec2::cube(DVec3::ZERO, DVec3::new(1.0, 0.5, 0.0));
    assert_eq!(
        DVec2::new(1.0, 0.5).cell(&flat),
        [u32::MAX, u32::MAX / 2, 0]
    );
}
