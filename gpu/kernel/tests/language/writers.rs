//! Checked builds of the CPU find two writers of one element.

use std::panic::{AssertUnwindSafe, catch_unwind};

use trioxide_kernel::launch::LaunchError;
use trioxide_kernel::{Block, Group, In, Out, kernel};

use crate::common::Host;

#[kernel]
pub fn scatter(i: u32, places: In<u32>, values: Out<u64>) {
    values.set(places.at(i), u64::from(i) + 10);
}

#[kernel]
pub fn scatter_same(i: u32, places: In<u32>, divisor: u32, values: Out<u32>) {
    values.set_same(places.at(i), i / divisor);
}

#[derive(Group)]
pub struct Quads<'a> {
    quads: Out<'a, u32>,
}

/// Writes four values from each place on, and a flag.
#[kernel]
pub fn scatter_quads(i: u32, places: In<u32>, to: Quads) -> bool {
    to.quads.set_quad(places.at(i), [i; 4]);
    i.is_multiple_of(2)
}

/// An index may write an element several times, and read it in between.
#[kernel]
pub fn count_up(i: u32, values: Out<u32>) {
    values.set(i, 1);
    for _ in 0..5 {
        values.set(i, values.at(i) + 1);
        values.set_same(i, values.at(i));
        values.set_same(i, values.at(i) + 1);
        values.set(i, values.at(i));
    }
}

/// Lanes of a block write one element one after the other, with a barrier between them if `is_barrier`.
#[kernel]
pub fn write_in_turns(block: &Block<64>, is_barrier: bool, values: Out<u32>) {
    let one = block.lanes(|lane| lane.index());
    let mut turn = 0;
    while turn < 3 {
        block.lanes(|lane| {
            if one.at(lane) == turn {
                values.set(block.index(), turn);
            }
        });
        if is_barrier {
            block.sum(&one);
        }
        turn += 1;
    }
}

/// Every block writes one element.
#[kernel]
pub fn write_in_blocks(block: &Block<32>, values: Out<u32>) {
    block.phase(|lane| {
        if lane.index() == 5 {
            values.set(0u32, block.index());
        }
    });
}

/// The message of a launch that ends in a panic.
fn caught(launch: impl FnOnce() -> Result<(), LaunchError>) -> Option<String> {
    match catch_unwind(AssertUnwindSafe(launch)) {
        Ok(launched) => {
            launched.unwrap();
            None
        }
        Err(panic) => Some(*panic.downcast::<String>().unwrap()),
    }
}

const RULE: &str = "one index writes an element, or several the same value by set_same";

#[test]
fn two_indices_that_write_one_element_are_named() {
    let on = Host::new();
    let mut values = on.upload(&[0u64; 9]);
    let mut launch = |places: [u32; 4]| {
        let places = on.upload(&places);
        // SAFETY: a checked build ends at the second writer.
        caught(|| unsafe { scatter::launch(&on, 4, &places, &mut values) })
    };
    assert_eq!(launch([8, 3, 0, 5]), None);
    let expected =
        format!("kernel scatter: index 1 and index 3 write element 3 of array `values`: {RULE}");
    assert_eq!(launch([8, 3, 0, 3]), Some(expected));
    // A launch does not see the writes of another.
    assert_eq!(launch([3, 8, 5, 0]), None);
}

#[test]
fn several_may_write_the_same_value_by_set_same() {
    let on = Host::new();
    let mut values = on.upload(&[0u32; 9]);
    let places = on.upload(&[8u32, 3, 2, 3]);
    let mut launch = |divisor| {
        // SAFETY: a checked build ends at the second value.
        caught(|| unsafe { scatter_same::launch(&on, 4, &places, divisor, &mut values) })
    };
    // Indices 1 and 3 write the same value, 0; then they write 1 and 3.
    assert_eq!(launch(4), None);
    let expected = format!(
        "kernel scatter_same: index 1 and index 3 write different values to element 3 of array `values`: {RULE}"
    );
    assert_eq!(launch(1), Some(expected));
}

#[test]
fn quads_in_groups_are_four_elements() {
    let on = Host::new();
    let mut quads = on.upload(&[0u32; 10]);
    let mut bits = on.upload(&[0u32]);
    let mut launch = |places: [u32; 3]| {
        let places = on.upload(&places);
        let to = QuadsBuffers { quads: &mut quads };
        // SAFETY: a checked build ends at the second writer.
        caught(|| unsafe { scatter_quads::launch(&on, 3, &places, to, &mut bits) })
    };
    assert_eq!(launch([8, 0, 4]), None);
    let expected = format!(
        "kernel scatter_quads: index 0 and index 2 write element 8 of array `quads`: {RULE}"
    );
    assert_eq!(launch([8, 0, 8]), Some(expected));
}

#[test]
fn an_index_may_write_its_element_again() {
    let on = Host::new();
    let mut values = on.upload(&[0u32; 3]);
    // SAFETY: each index writes its own element.
    let message = caught(|| unsafe { count_up::launch(&on, 3, &mut values) });
    assert_eq!(message, None);
    assert_eq!(on.download(&values), [11; 3]);
}

#[test]
fn lanes_write_one_element_with_barriers_between() {
    let on = Host::new();
    let mut values = on.upload(&[0u32; 2]);
    let mut launch = |is_barrier| {
        // SAFETY: a checked build ends at the second writer.
        caught(|| unsafe { write_in_turns::launch(&on, 2, is_barrier, &mut values) })
    };
    assert_eq!(launch(true), None);
    let expected = format!(
        "kernel write_in_turns: lane 0 of block 0 and lane 1 of block 0 write element 0 of array `values`: {RULE}"
    );
    assert_eq!(launch(false), Some(expected));
    let expected = format!(
        "kernel write_in_blocks: lane 5 of block 0 and lane 5 of block 1 write element 0 of array `values`: {RULE}"
    );
    // SAFETY: as above.
    let message = caught(|| unsafe { write_in_blocks::launch(&on, 2, &mut values) });
    assert_eq!(message, Some(expected));
}
