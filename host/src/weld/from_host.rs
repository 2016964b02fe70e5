//! From arrays in the host's memory to such arrays: copies go beside the work.

use glam::DVec3;

use super::guards::DeviceGuards;
use super::{
    DeviceCarried, Method, Options, Position, Welded, check_sizes, members, number_clusters,
    position_clusters, remap_faces,
};
use crate::Result;
use crate::backend::Device;

/// A mesh that was welded from the host's memory to the host's memory.
pub struct FromHost {
    /// What [`weld`](super::weld()) gives, bit for bit.
    pub welded: Welded,
    /// As [`DeviceWeld::left`](super::DeviceWeld::left).
    pub left: Vec<u32>,
    /// The method that was used.
    pub method: Method,
}

/// Welds points and triangles that are in the host's memory, at once, and that carry nothing.
///
/// The triangles go to the device while the vertices are clustered, and the map comes back while triangles are welded.
///
/// # Errors
/// As [`weld`](super::weld()).
pub fn weld_from_host(
    on: &Device,
    points: &[DVec3],
    faces: &[[u32; 3]],
    options: &Options,
) -> Result<FromHost> {
    options.check()?;
    check_sizes(points.len(), faces.len())?;
    let none = DeviceCarried::none(on)?;
    let guards = DeviceGuards::new(on, points.len(), &options.guards, &none, &none)?;
    let method = options.method_for(guards.limits.is_some())?;
    let method = method.choose(on, points.len(), faces.len(), false)?;
    let points = on.stage("copy to the device", || on.upload(points))?;
    let (faces, (clusters, left)) = on.upload_beside(faces, || {
        let clustering = method.cluster(on, &points, &guards, options)?;
        let clusters = number_clusters(on, &clustering.representatives)?;
        Ok((clusters, clustering.left))
    })?;
    let (map, (positions, faces)) = on.download_beside(&clusters.map, || {
        let members = match options.position {
            Position::First => None,
            Position::Mean => Some(members(on, &clusters)?),
        };
        let positions = on.stage("positions", || {
            position_clusters(on, &points, &clusters.representatives, members.as_ref())
        })?;
        drop(members);
        let (faces, _) = on.stage("faces", || remap_faces(on, &faces, &clusters, options))?;
        Ok((positions, faces))
    })?;
    let welded = on.stage("copy to the host", || {
        Ok(Welded {
            map,
            representatives: on.download(&clusters.representatives)?,
            points: on.download(&positions)?,
            faces: on.download(&faces)?,
            ..Welded::default()
        })
    })?;
    Ok(FromHost {
        welded,
        left,
        method,
    })
}
