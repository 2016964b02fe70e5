//! Lines that kernels print.

use std::sync::{Arc, Mutex};

use trioxide_kernel::launch::{Launch, LaunchError, Launcher};
use trioxide_kernel::print::{MOST_PRINTS, Print};
use trioxide_kernel::safe::{In, Own};
use trioxide_kernel::{Block, kernel, kernel_assert, kernel_print};

use crate::common::Host;

trioxide_kernel::id! {
    /// An edge.
    pub struct Edge = "edge";
}

/// Prints one value of each type for odd indices, and twice for odd multiples of 3.
#[kernel]
pub fn print_values(edge: Own<Edge>, values: In<f32, Edge>) -> bool {
    let (value, number) = (values.at(edge), edge.index());
    let is_odd = number % 2 == 1;
    if is_odd {
        kernel_print!("{} {} {} {}", edge.get(), -(number as i32), u64::MAX, value; edge);
        if number % 3 == 0 {
            kernel_print!("then {}, {}", f64::from(value) / 3.0, is_odd; edge.get());
        }
    }
    is_odd
}

/// Prints in a function that several kernels may call, for an index that is not the call's own.
#[kernel]
pub fn print_neighbours(i: u32) {
    print_one(i.wrapping_sub(1));
    print_one(i + 1);
}

fn print_one(neighbour: u32) {
    if neighbour < 2 {
        kernel_print!("is a neighbour"; neighbour);
    }
}

#[kernel]
pub fn print_lanes(block: &Block<32>) {
    block.phase(|lane| {
        if lane.index() % 16 == 5 {
            kernel_print!("lane {}", lane.index(); 32 * block.index() + lane.index());
        }
    });
}

#[kernel]
pub fn print_all(i: u32) {
    kernel_print!("here"; i);
}

#[kernel]
pub fn print_and_fail(i: u32) {
    kernel_print!("before"; i);
    kernel_assert!(i != 1, "no index is 1", i);
}

/// A host with several threads, which keeps the lines.
struct Printing {
    host: Host,
    threads: u32,
    lines: Arc<Mutex<Vec<Print>>>,
}

impl Printing {
    fn new(threads: u32) -> Self {
        Self {
            host: Host::new(),
            threads,
            lines: Arc::default(),
        }
    }

    fn take(&self) -> Vec<String> {
        let lines = std::mem::take(&mut *self.lines.lock().unwrap());
        lines.iter().map(Print::to_string).collect()
    }
}

impl Launcher for Printing {
    unsafe fn launch(&self, mut launch: Launch) -> Result<(), LaunchError> {
        let lines = self.lines.clone();
        launch.print_to(Arc::new(move |new| lines.lock().unwrap().extend(new)));
        let part = launch.calls().div_ceil(self.threads).max(1);
        std::thread::scope(|scope| {
            for first in (0..launch.calls()).step_by(part as usize).rev() {
                let range = first..(first + part).min(launch.calls());
                let launch = &launch;
                // SAFETY: the caller's promise; all calls, once; arrays of this host.
                scope.spawn(move || unsafe { launch.run(range) });
            }
        });
        Ok(())
    }
}

/// The line of a print whose text begins with `print`.
fn line(kernel: &str, index: u32, print: &str, text: &str) -> String {
    let print = format!("kernel_print!(\"{print}");
    let before = include_str!("prints.rs").lines();
    let line = 1 + before.take_while(|line| !line.contains(&print)).count();
    format!("kernel {kernel}: index {index}: gpu/kernel/tests/language/prints.rs:{line}: {text}")
}

#[test]
fn values_are_printed_in_the_order_of_indices() {
    for threads in [1, 2, 5] {
        let on = Printing::new(threads);
        let values = on.host.upload(&[1.5f32; 100]);
        let mut odd = on.host.upload(&[trioxide_kernel::Bits::<Edge>::EMPTY; 4]);
        print_values::launch(&on, 100, &values, &mut odd).unwrap();
        let mut expected = Vec::new();
        for i in (1..100).step_by(2) {
            let text = format!("{i} -{i} 18446744073709551615 1.5");
            expected.push(line("print_values", i, "{} {} {} {}", &text));
            if i % 3 == 0 {
                expected.push(line("print_values", i, "then", "then 0.5, true"));
            }
        }
        assert_eq!(on.take(), expected, "{threads} threads");
    }
}

#[test]
fn functions_and_lanes_print() {
    for threads in [1, 3] {
        let on = Printing::new(threads);
        // SAFETY: the kernel uses no array.
        unsafe { print_neighbours::launch(&on, 3) }.unwrap();
        let expected = |i| line("print_neighbours", i, "is a", "is a neighbour");
        assert_eq!(on.take(), [0, 1, 1].map(expected));
        // SAFETY: as above.
        unsafe { print_lanes::launch(&on, 2) }.unwrap();
        let expected = |i| line("print_lanes", i, "lane", &format!("lane {}", i % 32));
        assert_eq!(on.take(), [5, 21, 37, 53].map(expected));
    }
}

#[test]
fn a_launch_says_how_many_lines_are_missing() {
    let on = Printing::new(2);
    let most = MOST_PRINTS as u32;
    // SAFETY: the kernel uses no array.
    unsafe { print_all::launch(&on, most) }.unwrap();
    assert_eq!(on.take().len(), MOST_PRINTS);
    // SAFETY: as above.
    unsafe { print_all::launch(&on, most + 7) }.unwrap();
    let lines = on.take();
    assert_eq!(lines.len(), MOST_PRINTS + 1);
    let missing = "kernel print_all: 7 more lines are missing: a launch prints at most 8192";
    assert_eq!(lines.last().unwrap(), missing);
}

#[test]
#[cfg(any(debug_assertions, feature = "checked"))]
fn lines_before_a_panic_are_there() {
    let on = Printing::new(1);
    let run = || {
        // SAFETY: the kernel uses no array.
        unsafe { print_and_fail::launch(&on, 3) }
    };
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
    let expected = |i| line("print_and_fail", i, "before", "before");
    assert_eq!(on.take(), [0, 1].map(expected));
}
