//! The kernels of collectives: scan, compact, bucket, sort.
//!
//! | kernels | do |
//! | --- | --- |
//! | [`sum_tiles()`], [`scan_sums()`], [`scan_tiles()`] | exclusive scan of counts |
//! | [`count_bits()`], [`list_bits()`] | a bit set becomes the ascending list of its members |
//! | [`rank_bits()`], [`tally_bits()`] | the number of members below each member, or of all members |
//! | [`pack_flags()`], [`mark_ids()`] | flags of a byte, or a list of ids, become a bit set |
//! | [`count_keys()`], [`fill_buckets()`], [`order_buckets()`] | elements become lists, one for each key |
//! | [`count_local_keys()`], [`fill_local_buckets()`] | the same, in any order, for equal keys near each other |
//! | [`find_longest()`], [`order_runs()`], [`merge_runs()`] | the same for very long lists |
//! | [`order_row_runs()`], [`merge_row_runs()`] | values are sorted within lists that lie one after the other |
//! | [`count_digits()`], [`move_by_digit()`]; on a CPU [`count_bytes()`], [`move_by_byte()`] | a stable sort by keys of a few bits |
//! | [`sample_spread()`] | whether the ids of elements' vertices are near each other |
//!
//! Every result is the same for any order in which blocks run. The host functions are in `trioxide_device::collective`.
#![cfg_attr(
    target_arch = "nvptx64",
    no_std,
    feature(abi_ptx),
    allow(internal_features, missing_docs)
)]
// Views are passed as `In<T>`: a reader does not need their lifetime.
#![allow(elided_lifetimes_in_paths)]

pub mod bucket;
pub mod compact;
pub mod flags;
pub mod local_bucket;
pub mod rank;
pub mod rows;
mod runs;
pub mod scan;
pub mod sort;
pub mod spread;

pub use bucket::*;
pub use compact::*;
pub use flags::*;
pub use local_bucket::*;
pub use rank::*;
pub use rows::*;
pub use runs::RUN;
pub use scan::*;
pub use sort::*;
pub use spread::*;
