//! Surfaces of triangles on a device, with the data known of them.

use gpu::ids::Vertex;
use gpu::smooth::{self as kernel, Vector, cell_rule};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, NONE, words};

use super::cells::{DeviceMesh, MOST_CELLS, bounds_of};
use super::error::Result;
use super::form::Form;
use super::options::{BoundaryRule, Options, Weights};
use super::order::{Fans, Ordered};
use super::schedule::Moves;
use super::{
    DeviceSmoothed, Smoothed, along_curve, relations, relax_ordered, smooth, smooth_fixed,
};
use crate::bit_set::pack_list;
use crate::device::{BitSet, Device};
use crate::half_edges::{self, AnyPoint, DeviceSurface, Remembered};
use crate::mesh::{Faces, Mesh};

/// A smoothed surface on a device.
pub struct SmoothedSurface<P> {
    /// The same triangles over new points, with the data known of the triangles.
    pub surface: DeviceSurface<P>,
    /// Number of nodes that may move.
    pub moving: u32,
    /// Number of sweeps, and the moves of the last one.
    pub moves: Moves,
}

impl<P: Vector> SmoothedSurface<P> {
    /// The nodes in host memory.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn download(&self, on: &Device) -> crate::Result<Smoothed> {
        Smoothed::download(on, self.surface.points(), self.moving, self.moves)
    }
}

/// Smooths a surface mesh as [`run_surface`](super::run_surface) does; it may be the one that is `remembered`. The
/// smoothed surface on the device, of triangles without regions, is for who takes it further there.
///
/// # Errors
/// As [`run`](super::run).
pub fn run_surface_with<P: Vector + AnyPoint>(
    on: &Device,
    mesh: &Mesh,
    fixed: &[bool],
    options: &Options,
    remembered: Option<&Remembered>,
) -> Result<(Smoothed, Option<DeviceSurface<P>>)> {
    options.check(fixed, mesh.points.len())?;
    let triangles = match (&mesh.faces, &mesh.regions) {
        (Faces::Triangles(triangles), None) if triangles.len() <= MOST_CELLS => triangles,
        _ => {
            let resident = DeviceMesh::<P>::upload_surface(on, mesh)?;
            let smoothed = smooth(on, &resident, fixed, options)?.download(on)?;
            return Ok((smoothed, None));
        }
    };
    let corners = 3 * triangles.len();
    on.require(DeviceMesh::<P>::bytes_needed(
        mesh.points.len(),
        corners,
        false,
    ))?;
    let bounds = on.on_host(|| bounds_of(&mesh.points));
    let surface = DeviceSurface::upload(on, &mesh.points, triangles, [0, 0], remembered)?;
    let fixed = (!fixed.is_empty()).then(|| on.upload(&pack_list(fixed)));
    let fixed = fixed.transpose()?.map(Buffer::cast);
    let smoothed = smooth_surface(on, surface.with_bounds(bounds), fixed, None, options)?;
    Ok((smoothed.download(on)?, Some(smoothed.surface)))
}

/// Smooths a surface, in place of its points; nodes between `regions` of the triangles stay, and those of `fixed`.
///
/// Neighbours and boundary are read from the half-edges where the surface has such, is not pinched, and the options ask
/// for no list of neighbours: for forms A and B without weights, regions and sliding nodes. The half-edges are built if
/// they are not known, for the next family too. The result has the same bits either way.
///
/// # Errors
/// As [`DeviceMesh::of_triangles`] and [`smooth_fixed`].
pub fn smooth_surface<P: Vector + AnyPoint>(
    on: &Device,
    surface: DeviceSurface<P>,
    fixed: Option<BitSet<Vertex>>,
    regions: Option<Buffer<i32>>,
    options: &Options,
) -> Result<SmoothedSurface<P>> {
    let needs_lists = regions.is_some()
        || !matches!(options.form, Form::A | Form::B)
        || options.weights != Weights::Uniform
        || options.boundary != BoundaryRule::Fixed;
    let by_fans = match needs_lists {
        true => None,
        false => by_fans(on, &surface, fixed.as_ref(), options)?,
    };
    let known = surface.known().clone();
    let (points, triangles) = surface.into_arrays();
    let (smoothed, triangles) = match by_fans {
        Some(smoothed) => (smoothed, triangles),
        None => {
            let mut mesh = DeviceMesh::of_triangles(on, points, triangles)?;
            if let Some(regions) = regions {
                mesh = mesh.with_regions(regions)?;
            }
            let smoothed = match fixed {
                Some(fixed) => smooth_fixed(on, &mesh, fixed, options)?,
                None => smooth(on, &mesh, &[], options)?,
            };
            (smoothed, mesh.into_corners().cast())
        }
    };
    let (moving, moves) = (smoothed.moving, smoothed.moves);
    Ok(SmoothedSurface {
        surface: DeviceSurface::of_parts(smoothed.points, triangles.cast(), known, None),
        moving,
        moves,
    })
}

/// Smooths by half-edges; `None` for a surface or options that the lists of cells are for, or that are to be refused.
fn by_fans<P: Vector + AnyPoint>(
    on: &Device,
    surface: &DeviceSurface<P>,
    fixed: Option<&BitSet<Vertex>>,
    options: &Options,
) -> Result<Option<DeviceSmoothed<P>>> {
    let (points, origins) = (surface.points(), surface.origins());
    let (nodes, triangles) = (points.len(), origins.len() as u32 / 3);
    let is_wrong = options.check(&[], nodes).is_err()
        || fixed.is_some_and(|fixed| fixed.len() != words(nodes))
        || on
            .require(DeviceMesh::<P>::bytes_needed(nodes, origins.len(), false))
            .is_err();
    if is_wrong || triangles == 0 {
        return Ok(None);
    }
    let connectivity = match surface.connectivity(on) {
        Ok((connectivity, _)) => connectivity,
        // The mesh is smoothed without half-edges, or refused in the words of smoothing.
        Err(half_edges::Error::Mesh(error)) if !matches!(error, crate::Error::Invalid { .. }) => {
            return Err(error.into());
        }
        Err(_) => return Ok(None),
    };
    let found = on.stage("check the mesh", || {
        let mut found = on.filled(cell_rule::COUNT, NONE)?;
        kernel::check_nodes::launch(on, nodes as u32, points, &mut found)?;
        on.download(&found)
    })?;
    if found.iter().any(|&element| element != NONE) {
        return Ok(None);
    }
    let bounds = surface.bounds(on)?;
    let first = connectivity.half_edges_of_vertices(on, origins)?;
    let fans = on.stage("boundary", || {
        let mut stays = on.filled(words(nodes), Bits::EMPTY)?;
        if let Some(fixed) = fixed {
            relations::join_bits(on, fixed, &mut stays)?;
        }
        let border = connectivity.border();
        kernel::mark_border_nodes::launch(on, border.len() as u32, border, origins, &mut stays)?;
        Fans::new(on, &stays, &first, origins, connectivity.twins())
    })?;
    let curve = along_curve(options, nodes).then_some(bounds);
    let Some(ordered) = Ordered::of_fans(on, points, &fans, curve)? else {
        return Ok(None);
    };
    relax_ordered(on, &ordered, points, None, options).map(Some)
}
