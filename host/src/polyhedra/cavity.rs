//! Polyhedra by cavities, up to their borders. The kernels are in [`gpu::polyhedra::cavity`], with the definition and
//! the proofs.

use gpu::ids::{FaceSide, Tet};
use gpu::polyhedra::{Link, kernels as kernel};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::words;

use super::{Labels, Options, constraints};
use crate::Result;
use crate::device::{BitSet, Device};
use crate::refine_tets::{DeviceTets, SpacePoint};
use crate::tet_faces::DeviceFaces;

/// Rounds that the device runs before the host reads whether they changed something. Further rounds change nothing.
const BATCH: usize = 8;

/// Bytes that the spheres and the claims of T tetrahedra take.
pub(super) fn bytes_needed(tetrahedra: usize) -> usize {
    // Centre and radius; two claims of two words, and a depth.
    tetrahedra * (4 * size_of::<f64>() + 5 * size_of::<u32>())
}

/// The faces between owners, with a link of each tetrahedron towards its owner; and the number of rounds that changed
/// a claim.
pub(super) fn label<P: SpacePoint>(
    on: &Device,
    mesh: &DeviceTets<P>,
    faces: &DeviceFaces,
    options: Options,
) -> Result<(Labels, u32)> {
    let constrained = constraints(on, mesh, faces, options)?;
    let n = mesh.count();
    let count = n as usize;
    let (mut centres, mut radii) = (on.uninitialized(count)?, on.uninitialized(count)?);
    let mut claims = Claims {
        owners: on.uninitialized(count)?,
        links: on.uninitialized(count)?,
    };
    on.stage("measure spheres", || {
        kernel::measure_spheres::launch::<P>(
            on,
            n,
            mesh.tetrahedra(),
            mesh.points(),
            &mut centres,
            &mut radii,
            &mut claims.owners,
            &mut claims.links,
        )?;
        Ok(())
    })?;
    let spheres = || kernel::SpheresBuffers {
        centres: &centres,
        radii: &radii,
    };
    let rounds = on.stage("absorb tetrahedra", || {
        let mut next = Claims {
            owners: on.uninitialized(count)?,
            links: on.uninitialized(count)?,
        };
        let mut depths = on.uninitialized(count)?;
        let mut new: BitSet<Tet> = on.uninitialized(words(count))?;
        let mut rounds = 0;
        loop {
            let mut changed = on.filled(BATCH, 0)?;
            for round in 0..BATCH as u32 {
                let is_first = rounds + round == 0;
                let (now, before) = (claims.buffers(), &next.owners);
                kernel::check_claims::launch(on, n, now, before, is_first, &mut depths, &mut new)?;
                kernel::absorb_tetrahedra::launch(
                    on,
                    n,
                    faces.twins(),
                    &constrained,
                    spheres(),
                    claims.buffers(),
                    &depths,
                    &new,
                    round,
                    &mut next.owners,
                    &mut next.links,
                    &mut changed,
                )?;
                std::mem::swap(&mut claims, &mut next);
            }
            let changed = on.download(&changed)?;
            match changed.iter().position(|&is_changed| is_changed == 0) {
                Some(last) => return Ok(rounds + last as u32),
                None => rounds += BATCH as u32,
            }
        }
    })?;
    let frontier = on.stage("label borders", || {
        let mut frontier: BitSet<FaceSide> = on.uninitialized(words(4 * count))?;
        let (twins, owners) = (faces.twins(), &claims.owners);
        kernel::label_borders::launch(on, n, twins, &constrained, owners, &mut frontier)?;
        Ok(frontier)
    })?;
    Ok(((frontier, claims.links), rounds))
}

/// The claims of all tetrahedra.
struct Claims {
    owners: Buffer<Tet>,
    links: Buffer<Link>,
}

impl Claims {
    fn buffers(&self) -> kernel::ClaimsBuffers<'_> {
        kernel::ClaimsBuffers {
            owners: &self.owners,
            links: &self.links,
        }
    }
}
