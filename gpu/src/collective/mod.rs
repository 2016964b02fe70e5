//! What many families need and one thread cannot do: scan, compact, bucket.
//!
//! Every result is the same for any order in which blocks run. The host functions are in `trioxide::collective`.

pub mod bucket;
pub mod compact;
pub mod scan;

pub use bucket::*;
pub use compact::*;
pub use scan::*;
