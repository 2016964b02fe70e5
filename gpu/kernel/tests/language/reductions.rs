//! Reductions and shuffles of blocks.

use trioxide_kernel::{Block, Group, In, Lanes, Out, kernel};

use crate::common::Host;

#[derive(Group)]
pub struct Results<'a> {
    sums: Out<'a, u32>,
    wide_sums: Out<'a, u64>,
    signed: Out<'a, i32>,
    floats: Out<'a, f64>,
    least: Out<'a, u64>,
    first: Out<'a, u32>,
    rotated: Out<'a, glam::DVec2>,
}

/// All reductions of a block's values.
#[kernel(LANES in [32, 96, 1024], requires(values.len() == LANES * n))]
pub fn reduce<const LANES: usize>(block: &Block<LANES>, values: In<f64>, results: Results) {
    let first = block.index() * LANES as u32;
    let values = block.lanes(|lane| values.at(first + lane.index()));
    let whole = block.lanes(|lane| values.at(lane) as i64);
    let unsigned = block.lanes(|lane| whole.at(lane) as u32);
    let signed = block.lanes(|lane| whole.at(lane) as i32);
    let wide = block.lanes(|lane| (whole.at(lane) as u64).wrapping_mul(0x1234_5678_9ABC_DEF1));
    let (sum, wide_sum, float) = (block.sum(&unsigned), block.sum(&wide), block.sum(&values));
    let signs = [block.sum(&signed), block.min(&signed), block.max(&signed)];
    let bounds = [block.min(&wide), block.max(&wide)];
    let (least, lane_of_least) = block.argmin(&signed);
    // Lane 40 is lane 8 of its row.
    let from = block.lanes(|lane| 3 * lane.index() + 40);
    let vectors = block.lanes(|lane| glam::DVec2::new(values.at(lane), f64::from(lane.index())));
    let rotated: Lanes<glam::DVec2, LANES> = block.shuffle(&vectors, &from);
    block.phase(|lane| {
        results.rotated.set(first + lane.index(), rotated.at(lane));
        if lane.index() == 0 {
            let i = block.index();
            results.sums.set(i, sum);
            results.wide_sums.set(i, wide_sum);
            results.floats.set(i, float);
            for k in 0..3 {
                results.signed.set(4 * i + k, signs[k as usize]);
            }
            results.signed.set(4 * i + 3, least);
            for k in 0..2 {
                results.least.set(2 * i + k, bounds[k as usize]);
            }
            results.first.set(i, lane_of_least);
        }
    });
}

/// The sum of floats in the documented order.
fn sum_of_floats(values: &[f64]) -> f64 {
    fn row(values: &[f64], lane: usize, distance: usize) -> f64 {
        if distance == 32 {
            return values.get(lane).copied().unwrap_or(-0.0);
        }
        row(values, lane, 2 * distance) + row(values, lane + distance, 2 * distance)
    }
    let rows: Vec<f64> = values.chunks(32).map(|values| row(values, 0, 1)).collect();
    row(&rows, 0, 1)
}

/// Values of very different sizes, and equal ones.
fn values(n: usize, seed: u64) -> Vec<f64> {
    let value = |i: usize| {
        let x = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ seed;
        let x = (x ^ x >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let shifts = [0, 8, 20, 32];
        (x as i32 >> shifts[(x >> 40) as usize % 4].min(31)) as f64 * 1.1
    };
    (0..n).map(value).collect()
}

fn check(lanes: usize, seed: u64) {
    let on = Host::new();
    let (blocks, n) = (3, 3 * lanes);
    let of_host = values(n, seed);
    let values = on.upload(&of_host);
    let mut sums = on.upload(&[0u32; 3]);
    let mut wide_sums = on.upload(&[0u64; 3]);
    let mut signed = on.upload(&[0i32; 12]);
    let mut floats = on.upload(&[0f64; 3]);
    let mut least = on.upload(&[0u64; 6]);
    let mut first = on.upload(&[0u32; 3]);
    let mut rotated = on.upload(&vec![glam::DVec2::ZERO; n]);
    let results = ResultsBuffers {
        sums: &mut sums,
        wide_sums: &mut wide_sums,
        signed: &mut signed,
        floats: &mut floats,
        least: &mut least,
        first: &mut first,
        rotated: &mut rotated,
    };
    let launch = match lanes {
        32 => reduce::launch::<32>,
        96 => reduce::launch::<96>,
        _ => reduce::launch::<1024>,
    };
    // SAFETY: each block writes its own elements.
    unsafe { launch(&on, blocks, &values, results) }.unwrap();
    for (i, values) in of_host.chunks(lanes).enumerate() {
        let whole = || values.iter().map(|&value| value as i64);
        let wide = || whole().map(|value| (value as u64).wrapping_mul(0x1234_5678_9ABC_DEF1));
        let sum = whole().fold(0u32, |sum, value| sum.wrapping_add(value as u32));
        assert_eq!(on.download(&sums)[i], sum);
        let wide_sum = wide().fold(0, u64::wrapping_add);
        assert_eq!(on.download(&wide_sums)[i], wide_sum);
        let signs: Vec<i32> = whole().map(|value| value as i32).collect();
        let (min, max) = (*signs.iter().min().unwrap(), *signs.iter().max().unwrap());
        let expected = [sum as i32, min, max, min];
        assert_eq!(on.download(&signed)[4 * i..][..4], expected);
        let bounds = [wide().min().unwrap(), wide().max().unwrap()];
        assert_eq!(on.download(&least)[2 * i..][..2], bounds);
        let lane = signs.iter().position(|&value| value == min).unwrap();
        assert_eq!(on.download(&first)[i] as usize, lane);
        let float = on.download(&floats)[i];
        assert_eq!(float.to_bits(), sum_of_floats(values).to_bits());
        for lane in 0..lanes {
            let other = lane / 32 * 32 + (3 * lane + 40) % 32;
            let expected = glam::DVec2::new(values[other], other as f64);
            assert_eq!(on.download(&rotated)[i * lanes + lane], expected);
        }
    }
}

#[test]
fn reductions_have_a_fixed_order() {
    for lanes in [32, 96, 1024] {
        for seed in [1, 77, 1 << 60] {
            check(lanes, seed);
        }
    }
    // The order matters: a sum from left to right differs.
    let values = values(1024, 1);
    assert_ne!(values.iter().sum::<f64>(), sum_of_floats(&values));
}

/// A sum of -0 only, whose sign a sum that starts at 0 loses.
#[kernel]
pub fn add_zeros(block: &Block<64>, sums: Out<f64>) {
    let sum = block.sum(&block.lanes(|_| -0.0));
    block.lanes(|lane| {
        if lane.index() == 0 {
            sums.set(block.index(), sum);
        }
    });
}

#[test]
fn absent_rows_change_no_sum() {
    let on = Host::new();
    let mut sums = on.upload(&[1f64]);
    // SAFETY: each block writes its own element.
    unsafe { add_zeros::launch(&on, 1, &mut sums) }.unwrap();
    assert_eq!(on.download(&sums)[0].to_bits(), (-0.0f64).to_bits());
}
