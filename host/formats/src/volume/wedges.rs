//! Wedges of VTK's files, which have two orientations.

use trioxide_mesh::parallel;
use trioxide_mesh::volume::{Cells, VolumeMesh, orientation};

/// Inverts all wedges if some have a negative volume and none a positive one.
///
/// VTK's code expects the first triangle to face inward, as we do. VTK's documentation draws it outward, and Gmsh's
/// `.vtk` files follow the documentation. Among wedges of the right orientation, one with a negative volume is
/// inverted, and stays so.
pub(super) fn turn_wedges(mesh: &mut VolumeMesh) {
    let Cells::Mixed(cells) = &mut mesh.cells else {
        return;
    };
    let points = &mesh.points;
    let mut wedges = Vec::new();
    let mut rest = cells.vertices.as_mut_slice();
    for pair in cells.offsets.windows(2) {
        let (cell, behind) = rest.split_at_mut((pair[1] - pair[0]) as usize);
        rest = behind;
        if let Some((wedge, [])) = cell.split_first_chunk_mut::<6>() {
            wedges.push(wedge);
        }
    }
    let volume = |&[a, b, c, d, e, f]: &[u32; 6]| {
        let corners = [[a, b, c, d], [b, d, e, f], [b, c, d, f]];
        let volumes = corners.map(|corners| orientation(points, &corners));
        volumes.iter().sum::<f64>()
    };
    if parallel::any(&wedges, |wedge| volume(wedge) > 0.0)
        || !parallel::any(&wedges, |wedge| volume(wedge) < 0.0)
    {
        return;
    }
    for wedge in wedges {
        wedge.swap(1, 2);
        wedge.swap(4, 5);
    }
}
