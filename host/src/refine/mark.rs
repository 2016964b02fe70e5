//! The triangles that a round refines.

use gpu::ids::Triangle;
use gpu::refine::CornersBuffers;
use gpu::refine::mark_triangles::{
    ancestor, has_smaller_angle, is_drawn, is_in_box, is_in_disk, is_larger, mark_angle, mark_area,
    mark_box, mark_disk, mark_fraction, mark_parts,
};
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;

use super::edges::DeviceEdgeMesh;
use super::error::{Error, Result};
use crate::device::Device;
use crate::half_edges::AnyPoint;
use crate::marking::{CheckedMarking, Marking, Reason, ShareNames};
use crate::mesh::{EdgeTriangulation, Simplices};

/// The triangles of one round.
pub(super) enum Marked {
    /// Every triangle.
    All,
    /// A bit for each triangle.
    Some(Buffer<Bits<Triangle>>),
}

/// The triangles of `mesh` that are parts of those of the input in `marked`, which has a bit for each.
pub(super) fn mark_parts_of<P: AnyPoint>(
    on: &Device,
    mesh: &DeviceEdgeMesh<P>,
    marked: &Buffer<Bits<Triangle>>,
) -> crate::Result<Marked> {
    let (n, input) = (mesh.level().triangles, mesh.levels[0].triangles);
    let mut bits = on.uninitialized(n.div_ceil(32) as usize)?;
    mark_parts::launch(on, n, &mesh.parents, input, marked, &mut bits)?;
    Ok(Marked::Some(bits))
}

/// Whether triangle `t` is drawn with a chance of `fraction`.
fn draws(t: u32, seed: u64, fraction: f64) -> bool {
    is_drawn(Triangle::new(t), seed, chance(fraction))
}

/// A chance as one part of 2^32.
fn chance(fraction: f64) -> u64 {
    (fraction.clamp(0.0, 1.0) * 4_294_967_296.0) as u64
}

/// Sine and cosine of an angle in degrees.
fn arms(degrees: f64) -> (f64, f64) {
    let angle = degrees.to_radians();
    (libm::cos(angle), libm::sin(angle))
}

impl Marking {
    /// The marking for a mesh of `triangles` triangles; a fraction draws by `seed`.
    ///
    /// # Errors
    /// [`Error::Unfit`], [`Error::Marking`] and [`Error::MarksOfAnotherMesh`].
    pub fn of_triangles(
        &self,
        seed: u64,
        triangles: usize,
    ) -> Result<CheckedMarking<'_, Triangle>> {
        let refuse = |marking: String, rule| Err(Error::Marking { marking, rule });
        match *self {
            Marking::Fraction(fraction) if !(0.0..=1.0).contains(&fraction) => refuse(
                format!("a fraction of {fraction}"),
                "it must be between 0 and 1",
            ),
            Marking::Box([x0, y0, x1, y1]) if !(x0 <= x1 && y0 <= y1) => refuse(
                format!("a box from {x0}, {y0} to {x1}, {y1}"),
                "its lower left corner comes first, then its upper right one",
            ),
            Marking::BoxInSpace([x0, y0, z0, x1, y1, z1])
                if !(x0 <= x1 && y0 <= y1 && z0 <= z1) =>
            {
                refuse(
                    format!("a box from {x0}, {y0}, {z0} to {x1}, {y1}, {z1}"),
                    "its least corner comes first, then its largest one",
                )
            }
            Marking::Ball([x, y, z, radius])
                if !([x, y, z].iter().all(|x| x.is_finite()) && radius >= 0.0) =>
            {
                refuse(
                    format!("a ball of radius {radius} at {x}, {y}, {z}"),
                    "its centre must be finite and its radius 0 or more",
                )
            }
            Marking::Disk([x, y, radius]) if !(x.is_finite() && y.is_finite() && radius >= 0.0) => {
                refuse(
                    format!("a disk of radius {radius} at {x}, {y}"),
                    "its centre must be finite and its radius 0 or more",
                )
            }
            Marking::Area(area) if area.is_nan() || area < 0.0 => {
                refuse(format!("an area of {area}"), "it must be 0 or more")
            }
            Marking::Angle(degrees) if !(0.0..=60.0).contains(&degrees) => refuse(
                format!("an angle of {degrees}"),
                "it must be between 0 and 60 degrees: every triangle has one of 60 or less",
            ),
            Marking::Flags(ref flags) if flags.len() != triangles => {
                Err(Error::MarksOfAnotherMesh {
                    marks: flags.len(),
                    triangles,
                })
            }
            Marking::Volume(_) => Err(self.unfit(Reason::OfTetrahedra).into()),
            _ => Ok(self.checked(seed, triangles, Simplices::Triangles)?),
        }
    }
}

impl CheckedMarking<'_, Triangle> {
    /// Bounds of a box as the kernel takes them.
    fn as_box(&self) -> [f64; 6] {
        match *self.marking {
            Marking::Box([x0, y0, x1, y1]) => [x0, y0, f64::NEG_INFINITY, x1, y1, f64::INFINITY],
            Marking::BoxInSpace(bounds) => bounds,
            _ => unreachable!("a box"),
        }
    }

    /// Centre and radius as the kernel takes them.
    fn as_ball(&self) -> [f64; 4] {
        match *self.marking {
            Marking::Disk([x, y, radius]) => [x, y, 0.0, radius],
            Marking::Ball(ball) => ball,
            _ => unreachable!("a disk or a ball"),
        }
    }

    /// Marks triangles of `mesh`.
    pub(super) fn mark<P: AnyPoint>(
        &self,
        on: &Device,
        mesh: &DeviceEdgeMesh<P>,
    ) -> crate::Result<Marked> {
        let n = mesh.level().triangles;
        let mut bits = on.uninitialized(n.div_ceil(32) as usize)?;
        let corners = CornersBuffers {
            corners: &mesh.corners,
            points: &mesh.points,
        };
        match *self.marking {
            Marking::All => return Ok(Marked::All),
            Marking::Fraction(fraction) => {
                let seed = self.seed_of_round(mesh.levels.len() - 1);
                mark_fraction::launch(on, n, seed, chance(fraction), &mut bits)?;
            }
            Marking::Box(_) | Marking::BoxInSpace(_) => {
                let [x0, y0, z0, x1, y1, z1] = self.as_box();
                mark_box::launch(on, n, corners, x0, y0, z0, x1, y1, z1, &mut bits)?;
            }
            Marking::Disk(_) | Marking::Ball(_) => {
                let [x, y, z, radius] = self.as_ball();
                let launch = match self.marking {
                    Marking::Disk(_) => mark_disk::launch::<P, false>,
                    _ => mark_disk::launch::<P, true>,
                };
                launch(on, n, corners, x, y, z, radius, &mut bits)?;
            }
            Marking::Area(area) => mark_area::launch(on, n, corners, area, &mut bits)?,
            Marking::Angle(degrees) => {
                let (cosine, sine) = arms(degrees);
                mark_angle::launch(on, n, corners, cosine, sine, &mut bits)?;
            }
            Marking::Ids(_) | Marking::Flags(_) => {
                return mark_parts_of(on, mesh, &on.upload(&self.listed)?);
            }
            Marking::Volume(_) => unreachable!("of tetrahedra"),
        }
        Ok(Marked::Some(bits))
    }

    /// As [`CheckedMarking::mark`], of a part of a mesh, whose triangles have these names in the whole mesh.
    ///
    /// # Panics
    /// When a triangle has no name.
    pub(super) fn mark_share<P: AnyPoint>(
        &self,
        on: &Device,
        part: &DeviceEdgeMesh<P>,
        names: &ShareNames,
    ) -> crate::Result<Marked> {
        match self.of_share(part.level().triangles as usize, names, draws) {
            Some(bits) => Ok(Marked::Some(on.upload(bytemuck::cast_slice(&bits))?)),
            None => self.mark(on, part),
        }
    }

    /// Whether triangle `t` of a mesh in host memory is marked in round `round`: by the functions that kernels call.
    ///
    /// The mesh and its parents are checked; `corners` are the mesh's.
    pub fn marks<P: AnyPoint>(
        &self,
        t: u32,
        mesh: &EdgeTriangulation<P>,
        corners: &[u32],
        round: usize,
        input: u32,
        parents: &[u32],
    ) -> bool {
        let points =
            || [0, 1, 2].map(|k| mesh.points[corners[3 * t as usize + k] as usize].to_f64());
        match *self.marking {
            Marking::All => true,
            Marking::Fraction(fraction) => draws(t, self.seed_of_round(round), fraction),
            Marking::Box(_) | Marking::BoxInSpace(_) => is_in_box(points(), self.as_box()),
            Marking::Disk(_) => is_in_disk::<_, false>(points(), self.as_ball()),
            Marking::Ball(_) => is_in_disk::<_, true>(points(), self.as_ball()),
            Marking::Area(area) => is_larger(points(), area),
            Marking::Angle(degrees) => has_smaller_angle(points(), arms(degrees).into()),
            Marking::Ids(_) | Marking::Flags(_) => {
                let parent = |new: u32| Triangle::new(parents[new as usize]);
                self.has(ancestor(Triangle::new(t), input, parent).index() as usize)
            }
            Marking::Volume(_) => unreachable!("of tetrahedra"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marking::seed_of_id;

    /// Both numbers of flags fill 61 words.
    #[test]
    fn flags_of_another_number_of_triangles_are_refused() {
        let marking = Marking::Flags(vec![true; 1931]);
        assert!(marking.of_triangles(0, 1931).is_ok());
        let error = marking.of_triangles(0, 1926).unwrap_err();
        let expected = Error::MarksOfAnotherMesh {
            marks: 1931,
            triangles: 1926,
        };
        assert_eq!(error.to_string(), expected.to_string());
    }

    #[test]
    fn ids_of_more_than_32_bits_draw_as_the_others_do() {
        // SplitMix64 by its definition, of the whole id.
        let draw = |id: u64, seed: u64| {
            let mut x = seed.wrapping_add((id + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
            (x ^ x >> 31) >> 32
        };
        for id in [
            0,
            1,
            77,
            (1 << 32) - 1,
            1 << 32,
            (1 << 32) + 77,
            5 << 40 | 3,
        ] {
            let lower = Triangle::new(id as u32);
            for seed in [0, 9, u64::MAX] {
                let drawn = draw(id, seed);
                let draws = |chance| is_drawn(lower, seed_of_id(seed, id), chance);
                assert!(!draws(drawn) && draws(drawn + 1), "{id}");
            }
        }
    }
}
