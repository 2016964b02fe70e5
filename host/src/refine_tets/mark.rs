//! The tetrahedra that a level divides.

use glam::DVec3;
use gpu::ids::Tet;
use gpu::refine_tets::mark_tetrahedra::{
    TetsBuffers, is_chosen, mark_large_tets, mark_tet_descendants, mark_tets_by_fraction,
    mark_tets_in_ball, mark_tets_in_box,
};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, words};

use super::{DeviceRefined, Error, Result, SpacePoint};
use crate::device::Device;
use crate::marking::{CheckedMarking, Marking, Reason, ShareNames};
use crate::mesh::Simplices;

impl Marking {
    /// The marking for a mesh of `tetrahedra` tetrahedra; a fraction draws by `seed`.
    ///
    /// # Errors
    /// [`Error::Unfit`], [`Error::Fraction`], [`Error::InfiniteBox`], [`Error::ReversedBox`], [`Error::Ball`],
    /// [`Error::Volume`] and [`Error::Chosen`].
    pub fn of_tetrahedra(&self, seed: u64, tetrahedra: usize) -> Result<CheckedMarking<'_, Tet>> {
        match *self {
            Marking::Fraction(fraction) if !(0.0..=1.0).contains(&fraction) => {
                Err(Error::Fraction { fraction })
            }
            Marking::BoxInSpace(bounds) if bounds.iter().any(|x| !x.is_finite()) => {
                Err(Error::InfiniteBox)
            }
            Marking::BoxInSpace(bounds) if (0..3).any(|k| bounds[k] > bounds[k + 3]) => {
                let [low, high] = ends(bounds);
                Err(Error::ReversedBox { low, high })
            }
            Marking::Ball([x, y, z, radius])
                if !([x, y, z].iter().all(|x| x.is_finite()) && radius >= 0.0) =>
            {
                Err(Error::Ball)
            }
            Marking::Volume(volume) if volume.is_nan() || volume < 0.0 => {
                Err(Error::Volume { volume })
            }
            Marking::Flags(ref flags) if flags.len() != tetrahedra => Err(Error::Chosen {
                chosen: flags.len(),
                tetrahedra,
            }),
            Marking::Box(_) | Marking::Disk(_) | Marking::Area(_) | Marking::Angle(_) => {
                Err(self.unfit(Reason::OfTriangles).into())
            }
            _ => Ok(self.checked(seed, tetrahedra, Simplices::Tetrahedra)?),
        }
    }
}

/// Lowest and highest corner of a box.
pub fn ends([x0, y0, z0, x1, y1, z1]: [f64; 6]) -> [DVec3; 2] {
    [DVec3::new(x0, y0, z0), DVec3::new(x1, y1, z1)]
}

/// Threshold of [`gpu::refine_tets::mark_tetrahedra::is_chosen`] for a fraction.
pub fn threshold(fraction: f64) -> u64 {
    (fraction * 2f64.powi(32)).round() as u64
}

/// Whether tetrahedron `t` is drawn with a chance of `fraction`.
fn draws(t: u32, seed: u64, fraction: f64) -> bool {
    is_chosen(Tet::new(t), seed, threshold(fraction))
}

/// The parts of the tetrahedra of the input in `chosen`, a bit for each.
pub(super) fn mark_parts_of<P: SpacePoint>(
    on: &Device,
    refined: &DeviceRefined<P>,
    chosen: &Buffer<Bits<Tet>>,
) -> crate::Result<Buffer<Bits<Tet>>> {
    let n = refined.mesh.count();
    let mut bits = on.uninitialized(words(n as usize))?;
    mark_tet_descendants::launch(on, n, &refined.tetrahedron_parents, chosen, &mut bits)?;
    Ok(bits)
}

impl CheckedMarking<'_, Tet> {
    /// Marks tetrahedra, a bit each.
    pub(super) fn mark<P: SpacePoint>(
        &self,
        on: &Device,
        refined: &DeviceRefined<P>,
    ) -> crate::Result<Buffer<Bits<Tet>>> {
        let mesh = TetsBuffers {
            tetrahedra: &refined.mesh.tetrahedra,
            points: &refined.mesh.points,
        };
        let n = refined.mesh.count();
        let words = words(n as usize);
        let mut bits = match self.marking {
            Marking::All => return on.filled(words, Bits::new(u32::MAX)),
            Marking::Ids(_) | Marking::Flags(_) => {
                return mark_parts_of(on, refined, &on.upload(&self.listed)?);
            }
            _ => on.uninitialized(words)?,
        };
        match *self.marking {
            Marking::Fraction(fraction) => {
                let seed = self.seed_of_round(refined.levels.len());
                mark_tets_by_fraction::launch(on, n, seed, threshold(fraction), &mut bits)?;
            }
            Marking::BoxInSpace(bounds) => {
                let [low, high] = ends(bounds);
                mark_tets_in_box::launch(on, n, mesh, low, high, &mut bits)?;
            }
            Marking::Ball([x, y, z, radius]) => {
                let (centre, squared) = (DVec3::new(x, y, z), radius * radius);
                mark_tets_in_ball::launch(on, n, mesh, centre, squared, &mut bits)?;
            }
            Marking::Volume(volume) => {
                mark_large_tets::launch(on, n, mesh, 6.0 * volume, &mut bits)?;
            }
            _ => unreachable!("a marking of triangles"),
        }
        Ok(bits)
    }

    /// As [`CheckedMarking::mark`], of a part of a mesh, whose tetrahedra have these names in the whole mesh.
    ///
    /// # Panics
    /// When a tetrahedron has no name.
    pub(super) fn mark_share<P: SpacePoint>(
        &self,
        on: &Device,
        part: &DeviceRefined<P>,
        names: &ShareNames,
    ) -> crate::Result<Buffer<Bits<Tet>>> {
        match self.of_share(part.mesh.count() as usize, names, draws) {
            Some(bits) => on.upload(bytemuck::cast_slice(&bits)),
            None => self.mark(on, part),
        }
    }
}
