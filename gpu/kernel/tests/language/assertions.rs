//! Assertions of kernels.

use std::panic::{AssertUnwindSafe, catch_unwind};

use trioxide_kernel::fault::{BAD_INDEX, BROKEN_ASSERTION, Fault, MOST_TEXT};
use trioxide_kernel::launch::{Launch, LaunchError, Launcher};
use trioxide_kernel::{Block, In, Out, kernel, kernel_assert};

use crate::Triangle;
use crate::common::Host;

/// The line of the assertion in `copy_small`.
const LINE: u32 = line!() + 5;

/// Copies values below 9.
#[kernel]
pub fn copy_small(t: Triangle, values: In<u32>, copies: Out<u32>) {
    kernel_assert!(values.at(t) < 9, "values are below 9", t);
    copies.set(t, values.at(t));
}

fn check_lane(lane: u32, most: u32) {
    kernel_assert!(lane < most, "lanes are few", lane);
}

#[kernel]
pub fn assert_in_lanes(block: &Block<32>, most: u32) {
    block.phase(|lane| check_lane(lane.index(), most));
}

/// The message of a launch that ends in a panic.
fn caught(launch: impl FnOnce() -> Result<(), LaunchError>) -> String {
    let panic = catch_unwind(AssertUnwindSafe(launch)).unwrap_err();
    *panic.downcast::<String>().unwrap()
}

#[test]
fn a_broken_assertion_names_kernel_line_and_index() {
    let on = Host::new();
    let mut copies = on.upload(&[0u32; 3]);
    let mut launch = |values: [u32; 3]| {
        let values = on.upload(&values);
        // SAFETY: each index reads and writes its own element.
        unsafe { copy_small::launch(&on, 3, &values, &mut copies) }
    };
    launch([8, 0, 7]).unwrap();
    let expected = format!(
        "kernel copy_small: index 2: {}:{LINE}: values are below 9",
        file!()
    );
    assert_eq!(caught(|| launch([8, 0, 9])), expected);
}

#[test]
fn functions_that_kernels_call_may_assert() {
    let on = Host::new();
    // SAFETY: no array.
    let launch = |most| unsafe { assert_in_lanes::launch(&on, 2, most) };
    launch(32).unwrap();
    let message = caught(|| launch(20));
    assert!(
        message.starts_with("kernel assert_in_lanes: index 20: ")
            && message.ends_with(": lanes are few"),
        "{message}"
    );
}

/// Describes a fault instead of running a kernel.
struct Describe(Fault);

impl Launcher for Describe {
    unsafe fn launch(&self, launch: Launch) -> Result<(), LaunchError> {
        Err(launch.named().describe(&self.0, None))
    }
}

/// A device reports bytes, cut at their limit.
#[test]
fn the_report_of_a_device_has_the_text() {
    let describe = |text: &str, is_set| {
        let mut fault = Fault {
            is_set,
            index: 7,
            len: text.len() as u64,
            ..Fault::default()
        };
        let len = text.len().min(MOST_TEXT);
        fault.text[..len].copy_from_slice(&text.as_bytes()[..len]);
        // SAFETY: it runs nothing.
        let error = unsafe { assert_in_lanes::launch(&Describe(fault), 2, 3) }.unwrap_err();
        let begin = "kernel assert_in_lanes: ";
        error.to_string().strip_prefix(begin).unwrap().to_owned()
    };
    let text = "src/a.rs:3: few";
    assert_eq!(describe(text, BROKEN_ASSERTION), format!("index 7: {text}"));
    let long = "x".repeat(300);
    assert_eq!(
        describe(&long, BROKEN_ASSERTION),
        format!("index 7: {}", &long[..MOST_TEXT])
    );
    let index = "index 7 of array `shared`, which has 15 elements";
    assert_eq!(describe(text, BAD_INDEX), index);
}
