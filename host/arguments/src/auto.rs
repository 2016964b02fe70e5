//! The choice of `--device auto`: the machine with which the whole run ends sooner.
//!
//! A GPU computes many times faster than a CPU, but its driver starts in a fifth of a second, partly while the input is
//! read, and ends in a tenth. So a CPU finishes a small mesh before a GPU starts. The model uses the size of the input
//! and the number of threads:
//!
//! ```text
//! CPU   read + bytes * cpu / threads^0.9
//! GPU   max(read, start) + bytes * gpu + end
//! ```
//!
//! Its constants are measured (docs/notebook/whole-run.md, "Which machine"). An error of the model costs time, but
//! never changes bits: both machines give the same result.

use std::path::Path;

/// A command's work, for the model.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Nanoseconds of one thread per byte of binary input.
    pub cpu: f64,
}

impl Work {
    /// Triangles to polygons.
    pub const POLYLLA: Work = Work { cpu: 15.0 };
    /// Tetrahedra to polyhedra.
    pub const POLYHEDRA: Work = Work { cpu: 25.0 };
    /// One round of refinement of triangles.
    pub const REFINE: Work = Work { cpu: 34.0 };
    /// One round of refinement of tetrahedra.
    pub const REFINE_TETS: Work = Work { cpu: 86.0 };
    /// Vertices to clusters.
    pub const WELD: Work = Work { cpu: 10.0 };
    /// [`Work::WELD`] with the search of the distance.
    pub const WELD_RATIO: Work = Work { cpu: 83.0 };
    /// Edges collapsed to a tenth of the triangles.
    pub const DECIMATE: Work = Work { cpu: 80.0 };
    /// Relations of a mesh in space, its quality, and one sweep.
    pub const SMOOTH: Work = Work { cpu: 35.0 };
    /// One further sweep.
    pub const SWEEP: Work = Work { cpu: 0.2 };

    /// This work `times` as large.
    pub fn times(self, times: f64) -> Work {
        Work {
            cpu: self.cpu * times,
        }
    }

    /// This work and another.
    pub fn and(self, other: Work) -> Work {
        Work {
            cpu: self.cpu + other.cpu,
        }
    }
}

/// Seconds from the driver's start to a context with its memory.
const GPU_START: f64 = 0.185;
/// Seconds to load the kernels of a run as machine code, and to give the context back at the end.
const GPU_END: f64 = 0.11;
/// Nanoseconds of a GPU per byte of binary input: copies in and out, and kernels.
const GPU: f64 = 0.2;
/// Nanoseconds of one thread to read a byte of binary input.
const READ: f64 = 0.7;
/// Nanoseconds of one thread to read a byte of text.
const READ_TEXT: f64 = 3.0;
/// Bytes of text per byte of a binary file of the same mesh.
pub const TEXT: f64 = 1.7;

/// Whether the format of this file name is text.
pub fn is_text(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| {
        let text = [
            "off", "obj", "node", "ele", "poly", "mesh", "inp", "edges", "xyz",
        ];
        text.contains(&extension.to_ascii_lowercase().as_str())
    })
}

/// Seconds of a whole run without writing, by the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// On the CPU.
    pub cpu: f64,
    /// On a GPU.
    pub gpu: f64,
}

impl Estimate {
    /// The estimate for `work` on the mesh in the file `input`. `None` if the file has no size, as a pipe.
    pub fn of(work: Work, input: &Path, threads: usize) -> Option<Estimate> {
        let metadata = input.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let bytes = metadata.len() as f64;
        Some(Self::of_bytes(work, bytes, is_text(input), threads))
    }

    /// The estimate for `work` on an input of `bytes`.
    pub fn of_bytes(work: Work, bytes: f64, is_text: bool, threads: usize) -> Estimate {
        let speed = (threads.max(1) as f64).powf(0.9);
        let (read, bytes) = match is_text {
            true => (bytes * READ_TEXT, bytes / TEXT),
            false => (bytes * READ, bytes),
        };
        let read = read * 1e-9 / speed;
        Estimate {
            cpu: read + bytes * work.cpu * 1e-9 / speed,
            gpu: read.max(GPU_START) + bytes * GPU * 1e-9 + GPU_END,
        }
    }

    /// Whether a GPU ends sooner.
    pub fn is_for_gpu(&self) -> bool {
        self.gpu < self.cpu
    }

    /// The reason for the choice, to print.
    pub fn reason(&self) -> String {
        let machine = if self.is_for_gpu() { "GPU" } else { "CPU" };
        format!(
            "the {machine} ends sooner: about {:.2} s before writing on the CPU, {:.2} s on a GPU with its start and end",
            self.cpu, self.gpu
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_meshes_are_for_the_cpu_and_large_ones_for_a_gpu() {
        let of = |megabytes: f64, threads| {
            Estimate::of_bytes(Work::POLYLLA, megabytes * 1e6, false, threads)
        };
        // 10,000 points; 4M random points; a grid of 25M.
        assert!(!of(0.5, 16).is_for_gpu());
        assert!(!of(200.0, 16).is_for_gpu());
        assert!(of(1250.0, 16).is_for_gpu());
        assert!(of(200.0, 2).is_for_gpu());
        assert!(of(1250.0, 16).reason().contains("the GPU ends sooner"));
        let sweeps = Work::SMOOTH.and(Work::SWEEP.times(100.0));
        assert!(Estimate::of_bytes(sweeps, 2e8, false, 16).is_for_gpu());
    }

    #[test]
    fn pipes_have_no_size() {
        assert_eq!(Estimate::of(Work::WELD, Path::new("/dev/null"), 2), None);
    }
}
