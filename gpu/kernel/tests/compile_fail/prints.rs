//! A print writes numbers, each at its place, and names an index.
use trioxide_kernel::safe::{In, Own};
use trioxide_kernel::{kernel, kernel_print};

#[kernel]
pub fn print_array(i: Own, values: In<u32>) {
    kernel_print!("values {}", values; i);
}

#[kernel]
pub fn print_text(i: Own) {
    kernel_print!("hello {}", "world"; i);
}

#[kernel]
pub fn count_wrong(i: Own) {
    kernel_print!("{} and {}", 1u32; i);
}

#[kernel]
pub fn write_format(i: Own) {
    kernel_print!("{:x}", 1u32; i);
}

#[kernel]
pub fn name_no_index(_i: Own) {
    kernel_print!("{}", 1u32; 1.5f32);
}

#[kernel]
pub fn leave_index_out(_i: Own) {
    kernel_print!("{}", 1u32);
}

fn main() {}
