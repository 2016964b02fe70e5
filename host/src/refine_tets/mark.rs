//! The tetrahedra that a level divides.

use glam::DVec3;
use gpu::ids::Tet;
use gpu::refine_tets::mark_tetrahedra::{
    TetsBuffers, is_chosen, mark_large_tets, mark_tet_descendants, mark_tets_by_fraction,
    mark_tets_in_ball, mark_tets_in_box,
};
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;

use trioxide_mesh::{bit_set, parallel};

use super::{DeviceRefined, Error, Result, SpacePoint};
use crate::device::Device;

/// The tetrahedra that a level divides.
#[derive(Clone, Debug, PartialEq)]
pub enum Marking {
    /// Every one.
    All,
    /// A fraction of all, chosen by a seed, anew on each level.
    Fraction {
        /// Between 0 and 1.
        fraction: f64,
        /// Another seed chooses others.
        seed: u64,
    },
    /// Tetrahedra whose centroid lies in a box, its sides included.
    Box {
        /// Its corner with the smallest coordinates.
        low: DVec3,
        /// Its corner with the largest coordinates.
        high: DVec3,
    },
    /// Tetrahedra whose centroid lies in a ball.
    Ball {
        /// Its centre.
        centre: DVec3,
        /// Its radius.
        radius: f64,
    },
    /// Tetrahedra with a larger volume.
    Volume(f64),
    /// A flag for each tetrahedron of the input; on later levels the parts of the chosen tetrahedra.
    Chosen(Vec<bool>),
}

impl Marking {
    /// Refuses a marking without meaning, and one of a mesh with another number of tetrahedra.
    ///
    /// # Errors
    /// [`Error::Fraction`], [`Error::InfiniteBox`], [`Error::ReversedBox`], [`Error::Ball`], [`Error::Volume`] and
    /// [`Error::Chosen`].
    pub fn check(&self, tetrahedra: usize) -> Result<()> {
        match *self {
            Marking::Fraction { fraction, .. } if !(0.0..=1.0).contains(&fraction) => {
                Err(Error::Fraction { fraction })
            }
            Marking::Box { low, high } if !(low.is_finite() && high.is_finite()) => {
                Err(Error::InfiniteBox)
            }
            Marking::Box { low, high } if !low.cmple(high).all() => {
                Err(Error::ReversedBox { low, high })
            }
            Marking::Ball { centre, radius }
                if !centre.is_finite() || radius.is_nan() || radius < 0.0 =>
            {
                Err(Error::Ball)
            }
            Marking::Volume(volume) if volume.is_nan() || volume < 0.0 => {
                Err(Error::Volume { volume })
            }
            Marking::Chosen(ref chosen) if chosen.len() != tetrahedra => Err(Error::Chosen {
                chosen: chosen.len(),
                tetrahedra,
            }),
            _ => Ok(()),
        }
    }
}

/// Threshold of [`gpu::refine_tets::mark_tetrahedra::is_chosen`] for a fraction.
pub fn threshold(fraction: f64) -> u64 {
    (fraction * 2f64.powi(32)).round() as u64
}

/// Seed of a level.
pub fn seed_of_level(seed: u64, level: u32) -> u64 {
    seed.wrapping_add(u64::from(level).wrapping_mul(0xD1B5_4A32_D192_ED03))
}

/// The marked tetrahedra of a level, a bit each. The marking was checked; `chosen` are its flags, a bit each.
pub(super) fn mark<P: SpacePoint>(
    on: &Device,
    refined: &DeviceRefined<P>,
    marking: &Marking,
    chosen: &Buffer<Bits<Tet>>,
    level: u32,
) -> crate::Result<Buffer<Bits<Tet>>> {
    let mesh = TetsBuffers {
        tetrahedra: &refined.mesh.tetrahedra,
        points: &refined.mesh.points,
    };
    let n = refined.mesh.count();
    let words = n.div_ceil(32) as usize;
    on.stage("mark tetrahedra", || {
        if *marking == Marking::All {
            return on.filled(words, Bits::new(u32::MAX));
        }
        let mut bits = on.uninitialized(words)?;
        match marking {
            Marking::All => {}
            Marking::Fraction { fraction, seed } => {
                let (seed, threshold) = (seed_of_level(*seed, level), threshold(*fraction));
                mark_tets_by_fraction::launch(on, n, seed, threshold, &mut bits)?;
            }
            Marking::Box { low, high } => {
                let (low, high) = (*low, *high);
                mark_tets_in_box::launch(on, n, mesh, low, high, &mut bits)?;
            }
            Marking::Ball { centre, radius } => {
                let squared = radius * radius;
                mark_tets_in_ball::launch(on, n, mesh, *centre, squared, &mut bits)?;
            }
            Marking::Volume(volume) => {
                mark_large_tets::launch(on, n, mesh, 6.0 * volume, &mut bits)?;
            }
            Marking::Chosen(_) => {
                let parents = &refined.tetrahedron_parents;
                mark_tet_descendants::launch(on, n, parents, chosen, &mut bits)?;
            }
        }
        Ok(bits)
    })
}

/// Names of a part's tetrahedra in the whole mesh, by which some markings go.
#[derive(Clone, Copy, Debug)]
pub struct ShareNames<'a> {
    /// Id of each tetrahedron.
    pub ids: &'a [u64],
    /// Tetrahedron of the input that each is a part of.
    pub ancestors: &'a [u64],
    /// Levels before this one.
    pub level: u32,
}

/// As [`mark`], of a part of a mesh.
///
/// # Panics
/// When a tetrahedron has no id or ancestor, or an ancestor no flag.
pub(super) fn mark_share<P: SpacePoint>(
    on: &Device,
    part: &DeviceRefined<P>,
    marking: &Marking,
    names: &ShareNames,
) -> crate::Result<Buffer<Bits<Tet>>> {
    let n = part.mesh.count() as usize;
    let flags = match marking {
        Marking::Fraction { fraction, seed } => {
            assert_eq!(names.ids.len(), n, "an id for each tetrahedron");
            let (seed, threshold) = (seed_of_level(*seed, names.level), threshold(*fraction));
            parallel::map(names.ids, |&id| draws(id, seed, threshold))
        }
        Marking::Chosen(chosen) => {
            assert_eq!(names.ancestors.len(), n, "an ancestor for each tetrahedron");
            parallel::map(names.ancestors, |&t| chosen[t as usize])
        }
        _ => return mark(on, part, marking, &on.uninitialized(0)?, names.level),
    };
    on.stage("mark tetrahedra", || {
        on.upload(bytemuck::cast_slice(&bit_set::pack_list(&flags)))
    })
}

/// As [`is_chosen`], by an id that may be larger than a device's: it takes ids times a constant from the seed on, so
/// the seed takes the higher half of the id.
fn draws(id: u64, seed: u64, threshold: u64) -> bool {
    let higher = (id >> 32 << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    is_chosen(Tet::new(id as u32), seed.wrapping_add(higher), threshold)
}
