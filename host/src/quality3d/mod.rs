//! Quality of the cells of a volume mesh, on a device. The definitions are in `gpu::smooth::quality`.

use gpu::ordered::from_ordered_bits;
use gpu::smooth::{self as kernel, BINS, COPIES, Vector, counted};
use trioxide_kernel::launch::Buffer;

use crate::device::Device;
use crate::smooth::DeviceCells;
use crate::{Error, Result};

/// Counts of values between bounds: one bin more than there are bounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// Bounds between the bins, ascending; a value on a bound belongs to the bin above.
    pub bounds: Vec<f64>,
    /// Values in each bin; values beyond the last bounds are in the outer bins.
    pub counts: Vec<u64>,
}

/// Quality of a mesh of N cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quality3d {
    /// N.
    pub cells: u64,
    /// Cells that are not certainly positive: inverted, flat, or so nearly flat that double precision cannot decide.
    pub inverted: u64,
    /// Smallest scaled Jacobian; 1 is the best, for each kind of cell.
    pub worst_jacobian: f64,
    /// Scaled Jacobians.
    pub jacobians: Histogram,
    /// Quality of the tetrahedra, if there are any.
    pub tetrahedra: Option<TetrahedraQuality>,
}

/// Quality of tetrahedra.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetrahedraQuality {
    /// Smallest dihedral angle, in degrees.
    pub smallest_angle: f64,
    /// Smallest dihedral angle of each, in degrees.
    pub angles: Histogram,
    /// Largest radius ratio: circumradius over three times the inradius; 1 is the best.
    pub largest_ratio: f64,
    /// Radius ratios.
    pub ratios: Histogram,
}

/// Bounds of bins: scaled Jacobians, angles in degrees, radius ratios.
fn bounds() -> [Vec<f64>; 3] {
    let inner = 1..BINS;
    [
        inner.clone().map(|i| f64::from(i) / 10.0 - 1.0).collect(),
        // The smallest dihedral angle is at most the regular tetrahedron's, 70.53 degrees.
        inner.clone().map(|i| f64::from(i) * 3.75).collect(),
        inner
            .map(|i| match i {
                1..=10 => 1.0 + f64::from(i) / 10.0,
                _ => 2.0 * 2f64.powf(f64::from(i - 10) / 2.0),
            })
            .collect(),
    ]
}

/// Measures the cells of a volume mesh with these points.
///
/// [`Error::Invalid`] for cells of a surface, and for another number of points than the cells have nodes; errors of the
/// device.
pub fn quality<P: Vector>(
    on: &Device,
    cells: &DeviceCells,
    points: &Buffer<P>,
) -> Result<Quality3d> {
    let broken = if cells.is_surface() {
        Some("is a surface, which has no volume to measure".to_owned())
    } else if points.len() != cells.nodes() as usize {
        let (nodes, points) = (cells.nodes(), points.len());
        Some(format!("has {nodes} nodes, but {points} points are given"))
    } else {
        None
    };
    if let Some(rule) = broken {
        let element = "the mesh".to_owned();
        return Err(Error::Invalid { element, rule });
    }
    let [jacobians, angles, ratios] = bounds();
    on.stage("quality", || {
        let cosines = angles.iter().map(|angle| -angle.to_radians().cos());
        let all: Vec<f64> = jacobians
            .iter()
            .copied()
            .chain(cosines)
            .chain(ratios.iter().copied())
            .collect();
        let histogram = (BINS * COPIES) as usize;
        let mut counts = on.filled(counted::COUNT as usize * histogram, 0)?;
        let mut extremes = on.upload(&[0u64; 3 * COPIES as usize])?;
        // SAFETY: vertices of checked cells are below V, the number of points.
        unsafe {
            kernel::measure_cells::launch(
                on,
                cells.len() as u32,
                cells.buffers(),
                points,
                &on.upload(&all)?,
                &mut counts,
                &mut extremes,
            )
        }?;
        let counts = on.download(&counts)?;
        let extremes = on.download(&extremes)?;
        let summed = |which: u32| {
            let mut sums = vec![0u64; BINS as usize];
            for (i, &count) in counts[which as usize * histogram..][..histogram]
                .iter()
                .enumerate()
            {
                sums[i % BINS as usize] += u64::from(count);
            }
            sums
        };
        let extreme = |which: u32| {
            let keys = &extremes[(which * COPIES) as usize..][..COPIES as usize];
            keys.iter()
                .copied()
                .max()
                .filter(|&key| key > 0)
                .map(from_ordered_bits)
        };
        let tetrahedra = extreme(counted::ANGLE).map(|cosine| TetrahedraQuality {
            smallest_angle: cosine.clamp(-1.0, 1.0).acos().to_degrees(),
            angles: Histogram {
                bounds: angles,
                counts: summed(counted::ANGLE),
            },
            largest_ratio: extreme(counted::RATIO).unwrap_or(f64::INFINITY),
            ratios: Histogram {
                bounds: ratios,
                counts: summed(counted::RATIO),
            },
        });
        Ok(Quality3d {
            cells: cells.len() as u64,
            inverted: summed(counted::INVERTED)[0],
            worst_jacobian: extreme(counted::JACOBIAN).map_or(f64::NAN, |worst| -worst),
            jacobians: Histogram {
                bounds: jacobians,
                counts: summed(counted::JACOBIAN),
            },
            tetrahedra,
        })
    })
}
