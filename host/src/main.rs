//! The `trioxide` command line.
fn main() {}
