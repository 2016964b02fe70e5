//! Are results right? Above all other crates of the library, and used by none of them.
//!
//! | module | holds |
//! | --- | --- |
//! | [`validate`] | the rules that meshes and the results of each family must keep |
//! | [`selftest`] | the cases that every device must pass, against the sequential algorithms bit for bit |

pub mod selftest;
pub mod validate;

// Named only: a release build takes the instances of the pipelines from there (`profile.release` of the workspace).
use trioxide_operations as _;
