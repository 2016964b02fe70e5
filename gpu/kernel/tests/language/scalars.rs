//! Flags and enums as parameters, and constants as instances.

use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Block, Group, In, Out, Scalar, Shared, SharedMemory, kernel};

use crate::common::Host;

/// The rounding of a value.
#[derive(Clone, Copy, Debug, PartialEq, Scalar)]
#[repr(u32)]
pub enum Rounding {
    Down = 7,
    Up = 2,
    Even,
}

#[derive(Group)]
pub struct Numbers<'a> {
    values: In<'a, u32>,
    is_doubled: bool,
    rounding: Rounding,
}

/// Half of each value.
#[kernel(requires(
    numbers.values.len() == n,
    !is_signed || halves.is_empty(),
    *rounding != Rounding::Even || numbers.rounding == Rounding::Even
))]
pub fn halve(i: u32, is_signed: bool, numbers: Numbers, rounding: Rounding, halves: Out<u32>) {
    let value = numbers.values.at(i) << u32::from(numbers.is_doubled);
    let half = match (rounding, value % 4) {
        _ if numbers.rounding == Rounding::Down => 100,
        (Rounding::Down, _) | (Rounding::Even, 1) => value / 2,
        (Rounding::Up | Rounding::Even, _) => value.div_ceil(2),
    };
    halves.set(i, half + u32::from(is_signed));
}

pub trait Number: trioxide_kernel::bytemuck::Pod + Send + Sync {
    fn below(self, other: Self) -> bool;
}

impl Number for f32 {
    fn below(self, other: Self) -> bool {
        self < other
    }
}

impl Number for u64 {
    fn below(self, other: Self) -> bool {
        self < other
    }
}

/// Whether each of `VALUES` values in a row is below the one after it, or the same unless `STRICT`.
#[kernel(
    STRICT in [false, true],
    N(f32 = f32, u64 = u64),
    requires(VALUES < 4, values.len() == VALUES as usize * n),
    VALUES in [2, 3],
    moves(values.bytes() + usize::from(STRICT))
)]
pub fn are_ordered<const STRICT: bool, N: Number, const VALUES: u32>(
    i: u32,
    values: In<N>,
) -> bool {
    let mut k = 1;
    while k < VALUES {
        let (a, b) = (values.at(i * VALUES + k - 1), values.at(i * VALUES + k));
        if !a.below(b) && (STRICT || b.below(a)) {
            return false;
        }
        k += 1;
    }
    true
}

#[derive(SharedMemory)]
pub struct Row<const LANES: usize> {
    words: Shared<u32, LANES>,
}

/// Reverses each block.
#[kernel(LANES in [32, 96], requires(reversed.len() == LANES * n))]
pub fn reverse<const LANES: usize>(block: &Block<LANES, Row<LANES>>, reversed: Out<u32>) {
    let words = &block.shared().words;
    let first = block.index() * LANES as u32;
    block.phase(|lane| words.set(lane, lane.index(), first + lane.index()));
    block.phase(|lane| {
        let i = lane.index();
        reversed.set(first + i, words.at(LANES as u32 - 1 - i));
    });
}

#[test]
fn flags_and_enums_pass_by_value() {
    let on = Host::new();
    let values = on.upload(&[1u32, 2, 3, 4, 5]);
    let numbers = |is_doubled, rounding| NumbersBuffers {
        values: &values,
        is_doubled,
        rounding,
    };
    let mut halves = on.upload(&[0u32; 5]);
    let of_group = numbers(false, Rounding::Down);
    // SAFETY: each index reads and writes its own elements.
    unsafe { halve::launch(&on, 5, false, of_group, Rounding::Up, &mut halves) }.unwrap();
    assert_eq!(on.download(&halves), [100; 5]);
    for (is_doubled, rounding, expected) in [
        (false, Rounding::Down, [0, 1, 1, 2, 2]),
        (false, Rounding::Up, [1, 1, 2, 2, 3]),
        (false, Rounding::Even, [0, 1, 2, 2, 2]),
        (true, Rounding::Even, [1, 2, 3, 4, 5]),
    ] {
        let mut halves = on.upload(&[0u32; 5]);
        let numbers = numbers(is_doubled, Rounding::Even);
        // SAFETY: each index reads and writes its own elements.
        unsafe { halve::launch(&on, 5, false, numbers, rounding, &mut halves) }.unwrap();
        assert_eq!(on.download(&halves), expected, "{is_doubled} {rounding:?}");
    }
}

#[test]
fn conditions_read_flags_and_enums() {
    let on = Host::new();
    let values = on.upload(&[1u32]);
    let numbers = NumbersBuffers {
        values: &values,
        is_doubled: false,
        rounding: Rounding::Up,
    };
    let launch = |is_signed, rounding| {
        let mut halves = on.upload(&[0u32]);
        // SAFETY: the conditions refuse it.
        unsafe { halve::launch(&on, 1, is_signed, numbers, rounding, &mut halves) }
            .unwrap_err()
            .to_string()
    };
    let signed = launch(true, Rounding::Up);
    assert!(
        signed.contains("requires !is_signed || halves.is_empty()"),
        "{signed}"
    );
    let even = launch(false, Rounding::Even);
    assert!(even.contains("* rounding != Rounding::Even"), "{even}");
}

#[test]
fn constants_are_instances() {
    let names = [
        "are_ordered_f32_strict_false_values_2",
        "are_ordered_f32_strict_false_values_3",
        "are_ordered_f32_strict_true_values_2",
        "are_ordered_f32_strict_true_values_3",
        "are_ordered_u64_strict_false_values_2",
        "are_ordered_u64_strict_false_values_3",
        "are_ordered_u64_strict_true_values_2",
        "are_ordered_u64_strict_true_values_3",
    ];
    assert_eq!(are_ordered::ENTRIES, names);

    let on = Host::new();
    let (floats, integers) = (
        on.upload(&[1f32, 1.0, 2.0, 3.0, 2.0, 4.0]),
        on.upload(&[1u64, 2, 3, 5, 5, 6]),
    );
    type Ordered<N> = unsafe fn(
        &dyn trioxide_kernel::launch::Launcher,
        u32,
        &Buffer<N>,
        &mut Buffer<u32>,
    ) -> Result<(), trioxide_kernel::launch::LaunchError>;
    fn run<N: Number>(on: &Host, launch: Ordered<N>, n: u32, values: &Buffer<N>) -> (u32, String) {
        let mut bits = on.upload(&[0u32]);
        // SAFETY: each index reads its own values.
        unsafe { launch(on, n, values, &mut bits) }.unwrap();
        (on.download(&bits)[0], on.entry.take())
    }
    let pairs = [(false, 0b111), (true, 0b110)].map(|(is_strict, expected)| {
        // One of two instances, chosen by a flag at run time.
        let launch = match is_strict {
            false => are_ordered::launch::<false, f32, 2>,
            true => are_ordered::launch::<true, f32, 2>,
        };
        let name = format!("are_ordered_f32_strict_{is_strict}_values_2");
        (run(&on, launch, 3, &floats), (expected, name))
    });
    let triples = [
        (
            run(&on, are_ordered::launch::<false, u64, 3>, 2, &integers),
            (0b11, names[5].to_owned()),
        ),
        (
            run(&on, are_ordered::launch::<true, u64, 3>, 2, &integers),
            (0b01, names[7].to_owned()),
        ),
    ];
    for (found, expected) in pairs.into_iter().chain(triples) {
        assert_eq!(found, expected);
    }
}

#[test]
fn a_constant_may_be_the_width_of_a_block() {
    let on = Host::new();
    let mut reversed = on.upload(&[0u32; 192]);
    // SAFETY: phases end in barriers; each lane writes its own element.
    unsafe { reverse::launch::<96>(&on, 2, &mut reversed) }.unwrap();
    let expected: Vec<u32> = (0..96).rev().chain((96..192).rev()).collect();
    assert_eq!(on.download(&reversed), expected);
    assert_eq!(on.shape.take(), Some((96, 96 * 4)));
    assert_eq!(reverse::ENTRIES, ["reverse_lanes_32", "reverse_lanes_96"]);
}
