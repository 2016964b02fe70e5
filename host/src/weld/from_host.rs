//! From arrays in the host's memory to such arrays: copies go beside the work.

use glam::DVec3;

use super::clusters::Clusters;
use super::guards::DeviceGuards;
use super::{
    DeviceCarried, Method, Options, Position, Result, Welded, check_sizes, remap_faces, stage,
};
use crate::device::Device;

/// A mesh that was welded from the host's memory to the host's memory.
pub struct FromHost {
    /// The same as from [`weld`](super::weld()), bit for bit.
    pub welded: Welded,
    /// As [`DeviceWeld::left`](super::DeviceWeld::left).
    pub left: Vec<u32>,
    /// The method that was used.
    pub method: Method,
}

/// Welds points and triangles that are in the host's memory, at once, without attributes and regions.
///
/// The triangles go to the device while the vertices are clustered, and the map comes back while triangles are welded.
///
/// # Errors
/// As [`weld`](super::weld()).
pub fn weld_from_host(
    on: &Device,
    points: &[DVec3],
    faces: &[[u32; 3]],
    options: Options,
) -> Result<FromHost> {
    options.check()?;
    check_sizes(points.len(), faces.len())?;
    let none = DeviceCarried::none(on)?;
    let guards = DeviceGuards::new(points.len(), &options.guards, &none, &none)?;
    let method = options.method_for(guards.limits.is_some())?;
    let method = method.choose(on, points.len(), faces.len(), false)?;
    let points = on.stage("copy to the device", || on.upload(points))?;
    let (faces, clustered) = on.upload_beside(faces, || {
        let work = || {
            let clustering = method.cluster(on, &points, &guards, &options)?;
            let clusters = Clusters::number(on, &clustering.representatives)?;
            Ok((clusters, clustering.left, clustering.is_crowded))
        };
        let clustered: Result<_> = work();
        Ok(clustered)
    })?;
    let (clusters, left, is_crowded) = clustered?;
    let faces = faces.cast();
    let (map, rest) = on.download_beside(&clusters.map, || {
        let work = || {
            let members = match options.position {
                Position::First => None,
                Position::Mean => Some(clusters.members(on, is_crowded)?),
            };
            let positions = clusters.positions(on, &points, members.as_ref())?;
            drop(members);
            let (faces, _) = stage(on, "faces", || remap_faces(on, &faces, &clusters, &options))?;
            Ok((positions, faces))
        };
        let rest: Result<_> = work();
        Ok(rest)
    })?;
    let (positions, faces) = rest?;
    let welded = stage(on, "copy to the host", || {
        Ok(Welded {
            map: bytemuck::cast_vec(map),
            representatives: on.download_rows(&clusters.representatives)?,
            points: on.download(&positions)?,
            faces: on.download_rows(&faces)?,
            ..Welded::default()
        })
    })?;
    Ok(FromHost {
        welded,
        left,
        method,
    })
}
