//! The `#[kernel]` declaration.
