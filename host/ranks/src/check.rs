//! Checks of points and counts, and the half-edges of a part, with faults in the words of the single run and the ids of the whole mesh.

use gpu::point::{Coordinates, DoublePoint};
use trioxide::Device;
use trioxide::half_edges::{self, AnyPoint, DeviceTriangulation};
use trioxide::mesh::NONE;
use trioxide_mesh::parallel;

use crate::block::Blocks;
use crate::fault::{Fault, Result};
use crate::ownership::Position;
use crate::part::Part;
use crate::transport::Ranks;

/// Refuses points of this rank's block of `total` points that the device refuses, also of vertices that no cell uses. `element` is the word
/// for a point's owner: `vertex`; `largest` is the largest coordinate whose square the precision holds.
pub fn check_points<P: Coordinates>(
    ranks: &Ranks,
    total: u64,
    points: &[P::Double],
    element: &str,
    largest: f64,
) -> Result<()> {
    let first = Blocks::new(total, ranks.size()).range(ranks.rank()).start;
    let fault = parallel::find_map(points.len(), |i| {
        let id = first + i as u64;
        let point = P::from_f64(points[i]).to_f64();
        if !point.has_finite_coordinates() {
            let text = format!(
                "{element} {id} has a coordinate that is not a finite number in the chosen precision"
            );
            return Some(Fault::of_mesh(0, id, text));
        }
        if point.largest_coordinate() > largest {
            let precision = P::PRECISION;
            let text = format!(
                "{element} {id} has a coordinate beyond {largest:e}: squares of distances leave {precision}; scale the mesh down"
            );
            return Some(Fault::of_mesh(2, id, text));
        }
        None
    });
    fault.map_or(Ok(()), Err)
}

/// The half-edges of a part of triangles. Unlike [`DeviceTriangulation::upload`] it leaves the words of an error to the device, whose
/// elements are ids: those of the part become those of the whole mesh.
///
/// # Errors
/// As there.
pub fn upload_half_edges<P: AnyPoint>(
    on: &Device,
    part: &Part<P::Double>,
) -> Result<DeviceTriangulation<P>>
where
    P::Double: Position,
{
    let shape = &part.shape;
    let bytes = DeviceTriangulation::<P>::bytes_needed(shape.vertices(), shape.corners() / 3);
    on.require(bytes)?;
    let (points, origins) = (shape.upload_points(on)?, shape.upload_corners(on)?);
    DeviceTriangulation::build(on, points, origins).map_err(|error| in_the_whole_mesh(error, part))
}

/// The fault of a part, with the ids of the whole mesh.
fn in_the_whole_mesh<P: Position>(error: half_edges::Error, part: &Part<P>) -> Fault {
    use half_edges::Error::{NotManifold, Orientation, TooSmall};
    let id = |triangle: u32| part.cells.get(triangle as usize);
    let (rule, triangle) = match &error {
        TooSmall { triangle, .. } => (3, *triangle),
        Orientation { triangle } => (4, *triangle),
        NotManifold { triangle, .. } => (5, *triangle),
        _ => return error.into(),
    };
    let whole = format!("triangle {} ", id(triangle));
    let text = match error {
        Orientation { .. } if P::DIMENSIONS == 3 => {
            let corner = |k| part.shape.corner(3 * triangle as usize + k);
            let [a, b, c] = [0, 1, 2].map(|k| part.vertices.get(corner(k) as usize));
            format!("{whole}is degenerate: its vertices {a}, {b}, {c} lie on one line")
        }
        error => error
            .to_string()
            .replace(&format!("triangle {triangle} "), &whole),
    };
    Fault::of_mesh(rule, id(triangle), text)
}

/// Refuses meshes with more vertices than files name.
pub fn check_ids(vertices: u64) -> Result<()> {
    if vertices < u64::from(NONE) {
        return Ok(());
    }
    Err(trioxide::Error::Argument(format!(
        "{vertices} vertices are more than the 32-bit ids of files name: leave the output out"
    ))
    .into())
}

/// Refuses to write so many corners of faces as one list, whose places have 32 bits.
pub fn check_corners(corners: u64) -> Result<()> {
    if corners < u64::from(NONE) {
        return Ok(());
    }
    let text = format!(
        "{corners} corners of faces of one rank are more than 32-bit places count: use more ranks, or leave the output out"
    );
    Err(trioxide::Error::Argument(text).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_corners_than_32_bits_count_are_refused() {
        assert!(check_corners(4_294_967_294).is_ok());
        let said = check_corners(4_294_967_295).unwrap_err().to_string();
        assert!(said.contains("use more ranks"), "{said}");
    }
}
