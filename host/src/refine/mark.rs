//! Which triangles a round refines.

use gpu::refine as kernel;
use trioxide_kernel::launch::Buffer;

use super::EdgeMesh;
use trioxide_kernel::In;

use crate::backend::Device;
use crate::half_edges::Point;
use crate::mesh::EdgeTriangulation;
use crate::{Error, Result};

/// Which triangles a round refines.
#[derive(Clone, Debug, PartialEq)]
pub enum Marking {
    /// Every triangle.
    All,
    /// Each triangle with the same chance; every round draws anew.
    Fraction {
        /// Chance, from 0 to 1.
        fraction: f64,
        /// Of the random numbers.
        seed: u64,
    },
    /// Triangles whose centroid lies in a box: x0, y0, x1, y1.
    Box([f64; 4]),
    /// Triangles whose centroid lies in a disk: centre x and y, radius.
    Disk([f64; 3]),
    /// Triangles with more area than this.
    Area(f64),
    /// Triangles with an angle below this, in degrees.
    Angle(f64),
    /// Triangles of the input, in each round with all their parts: a bit each.
    Triangles(Vec<u32>),
}

/// What a round refines.
pub(super) enum Marked {
    /// Every triangle.
    All,
    /// A bit for each triangle.
    Some(Buffer<u32>),
}

/// A chance as one part of 2^32.
fn chance(fraction: f64) -> u64 {
    (fraction.clamp(0.0, 1.0) * 4_294_967_296.0) as u64
}

/// Seed of a round's random numbers.
fn round_seed(seed: u64, round: usize) -> u64 {
    seed.wrapping_add((round as u64).wrapping_mul(0xD1B5_4A32_D192_ED03))
}

/// Sine and cosine of an angle in degrees.
fn arms(degrees: f64) -> (f64, f64) {
    let angle = degrees.to_radians();
    (libm::cos(angle), libm::sin(angle))
}

impl Marking {
    /// Marks triangles of the input: `values` above `threshold`.
    pub fn above(values: &[f64], threshold: f64) -> Self {
        Self::flags(values.iter().map(|&value| value > threshold))
    }

    /// Dörfler marking: the fewest triangles whose `values` make at least `fraction` of the sum of all, the largest first, of
    /// equal ones that with the smaller id.
    ///
    /// # Errors
    /// [`Error::Argument`] for a value that is negative or no number.
    pub fn dorfler(values: &[f64], fraction: f64) -> Result<Self> {
        if let Some(t) = values
            .iter()
            .position(|&value| value.is_nan() || value < 0.0)
        {
            return Err(Error::Argument(format!(
                "the value of triangle {t} is {}: an indicator of error is not negative",
                values[t]
            )));
        }
        let mut order: Vec<u32> = (0..values.len() as u32).collect();
        let value = |t: u32| values[t as usize];
        order.sort_by(|&s, &t| value(t).total_cmp(&value(s)).then(s.cmp(&t)));
        let total: f64 = order.iter().map(|&t| value(t)).sum();
        let mut bits = vec![0u32; values.len().div_ceil(32)];
        let mut sum = 0.0;
        for t in order {
            if sum >= fraction * total {
                break;
            }
            sum += value(t);
            bits[t as usize / 32] |= 1 << (t % 32);
        }
        Ok(Self::Triangles(bits))
    }

    /// Marks triangles of the input by a flag each.
    pub fn flags(flags: impl ExactSizeIterator<Item = bool>) -> Self {
        let mut bits = vec![0u32; flags.len().div_ceil(32)];
        for (t, flag) in flags.enumerate() {
            bits[t / 32] |= u32::from(flag) << (t % 32);
        }
        Self::Triangles(bits)
    }

    /// Marks triangles of `mesh`.
    pub(super) fn mark<P: Point>(&self, on: &Device, mesh: &EdgeMesh<P>) -> Result<Marked> {
        let n = mesh.level().triangles;
        let mut bits = on.uninitialized(n.div_ceil(32) as usize)?;
        let (corners, points) = (&mesh.corners, &mesh.points);
        match self {
            Marking::All => return Ok(Marked::All),
            Marking::Fraction { fraction, .. } if *fraction >= 1.0 => return Ok(Marked::All),
            Marking::Fraction { fraction, seed } => {
                let seed = round_seed(*seed, mesh.levels.len() - 1);
                unsafe {
                    kernel::mark_fraction::launch(on, n, seed, chance(*fraction), &mut bits)
                }?;
            }
            Marking::Box([x0, y0, x1, y1]) => {
                unsafe {
                    kernel::mark_box::launch(on, n, corners, points, *x0, *y0, *x1, *y1, &mut bits)
                }?;
            }
            Marking::Disk([x, y, radius]) => {
                unsafe {
                    kernel::mark_disk::launch(on, n, corners, points, *x, *y, *radius, &mut bits)
                }?;
            }
            Marking::Area(area) => {
                unsafe { kernel::mark_area::launch(on, n, corners, points, *area, &mut bits) }?;
            }
            Marking::Angle(degrees) => {
                let (cosine, sine) = arms(*degrees);
                unsafe {
                    kernel::mark_angle::launch(on, n, corners, points, cosine, sine, &mut bits)
                }?;
            }
            Marking::Triangles(marked) => {
                let input = mesh.levels[0].triangles;
                if marked.len() != input.div_ceil(32) as usize {
                    return Err(Error::Argument(format!(
                        "there are marks for up to {} triangles, but the mesh has {input}",
                        32 * marked.len()
                    )));
                }
                let marked = on.upload(marked)?;
                unsafe {
                    kernel::mark_parts::launch(on, n, &mesh.parents, input, &marked, &mut bits)
                }?;
            }
        }
        Ok(Marked::Some(bits))
    }

    /// Whether triangle `t` of a mesh in host memory is marked in round `round`: the kernels' functions, called here.
    pub fn marks<P: Point>(
        &self,
        t: u32,
        mesh: &EdgeTriangulation<P>,
        corners: &[u32],
        round: usize,
        input: u32,
        parents: &[u32],
    ) -> bool {
        // SAFETY: a triangle of a checked mesh.
        let (corners, points) = unsafe { (In::from_slice(corners), In::from_slice(&mesh.points)) };
        match self {
            Marking::All => true,
            Marking::Fraction { fraction, seed } => {
                kernel::mark_fraction(t, round_seed(*seed, round), chance(*fraction))
            }
            Marking::Box([x0, y0, x1, y1]) => {
                kernel::mark_box(t, corners, points, *x0, *y0, *x1, *y1)
            }
            Marking::Disk([x, y, radius]) => kernel::mark_disk(t, corners, points, *x, *y, *radius),
            Marking::Area(area) => kernel::mark_area(t, corners, points, *area),
            Marking::Angle(degrees) => {
                let (cosine, sine) = arms(*degrees);
                kernel::mark_angle(t, corners, points, cosine, sine)
            }
            Marking::Triangles(marked) => {
                // SAFETY: a parent for each new triangle, a bit for each triangle of the input.
                let (parents, marked) =
                    unsafe { (In::from_slice(parents), In::from_slice(marked)) };
                kernel::mark_parts(t, parents, input, marked)
            }
        }
    }
}
