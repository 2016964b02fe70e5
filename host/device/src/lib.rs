//! Runs kernels that are written in Rust, on the GPU and on the CPU, with the same bits.
//!
//! A kernel is declared with [`trioxide_kernel`]. A [`Device`] has typed buffers, launches (through each kernel's
//! `launch`) and named stages with timings. [`collective`] has what most pipelines need between their kernels: scan,
//! compact, sort, bucket.
//!
//! ```
//! use trioxide_device::{Device, collective};
//!
//! # fn main() -> trioxide_device::Result<()> {
//! // All cores. `Device::cuda(0)` is the first GPU, `Device::auto(None)` the best machine there is.
//! let on = Device::cpu(None)?;
//! let mut counts = on.upload(&[3u32, 1, 4])?;
//! let total = collective::exclusive_scan(&on, &mut counts)?;
//! assert_eq!(on.download(&counts)?, [0, 3, 4]);
//! assert_eq!(on.read(&total, 0)?, 8);
//! # Ok(())
//! # }
//! ```
//!
//! | to find | look in |
//! | --- | --- |
//! | machines, buffers, stages, times | [`device`] |
//! | scan, compact, sort, bucket | [`collective`] |
//! | times of kernels, beside the bytes that they must move | [`mod@bench`] |
//! | the kernels of a package, embedded | [`kernels!`] |
//! | the rules that kernels of any package keep | [`conformance`] |
//! | errors, progress, threads of the host | [`trioxide_work`] |
//!
//! | feature | brings |
//! | --- | --- |
//! | `cuda` (default) | GPUs: [`Device::cuda`]; without it they are an error |
//! | `emulator` | [`Device::emulated`]: a GPU that is not there, for tests |
//! | `checked` | a check of every index that a kernel uses, on both machines: slow |

pub mod bench;
pub mod collective;
pub mod conformance;
pub mod device;

pub use device::{BitSet, Buffer, Device, Kept, Ptx};
#[doc(hidden)]
pub use linkme;
pub use trioxide_work::{Error, Result, progress};
