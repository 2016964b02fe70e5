//! Checks of points and counts, and the half-edges of a part. Faults have the words of the single run and ids of the
//! whole mesh.

use bytemuck::Pod;
use glam::Vec2;
use gpu::point::{Coordinates, DoublePoint};
use trioxide::Device;
use trioxide::half_edges::rules::without_length;
use trioxide::half_edges::{self, AnyPoint, DeviceTriangulation, turn_clockwise};
use trioxide::mesh::{NONE, Triangulation};
use trioxide_mesh::parallel;

use crate::block::Block;
use crate::fault::{Fault, Result, is_single};
use crate::ownership::Position;
use crate::part::Part;
use crate::transport::{Ranks, Reduction};

/// Words a fault of the mesh, on which all ranks have agreed, as the single run does: rank 0 gathers the mesh, and
/// `check`
/// is the single run's. The fault stays where `check` finds none, where the ranks hold no lists of the mesh (they make
/// a grid), and where 32-bit ids do not name its elements. Collective.
///
/// A rank sees its part alone, but the single run names all triangles at an edge, and the fault of the first rule of
/// all.
pub fn in_words_of_one<P: Pod + Send + Sync>(
    ranks: &Ranks,
    block: &Block<P>,
    fault: Fault,
    check: impl FnOnce(Gathered<P>) -> Result<()>,
) -> Fault {
    if !is_held(ranks, block, &fault) {
        return fault;
    }
    let mesh = Gathered::of(ranks, block);
    let checked = match ranks.rank() {
        0 => check(mesh),
        _ => Ok(()),
    };
    match ranks.agree(checked) {
        Err(said) if said.is_of_mesh() => said,
        _ => fault,
    }
}

/// The lists of a mesh: at rank 0 the whole ones, elsewhere none.
pub struct Gathered<P> {
    /// Points of the vertices.
    pub points: Vec<P>,
    /// Vertices of the cells.
    pub corners: Vec<u32>,
    /// Regions of the cells, if the mesh has them.
    pub regions: Option<Vec<i32>>,
}

impl<P: Pod + Send + Sync> Gathered<P> {
    /// Gathers the mesh whose blocks the ranks hold. Collective.
    pub fn of(ranks: &Ranks, block: &Block<P>) -> Self {
        let regions = block.regions.as_ref();
        Self {
            points: ranks.gather(&block.points),
            corners: ranks.gather(&block.corners.narrow()),
            regions: regions.map(|regions| ranks.gather(regions)),
        }
    }

    /// The mesh of these triangles, with the block's segments: every rank has all.
    pub fn into_triangulation(self, block: &Block<P>) -> Triangulation<P> {
        Triangulation {
            points: self.points,
            triangles: self.corners.as_chunks().0.to_vec(),
            regions: self.regions,
            segments: block.segments.clone(),
        }
    }
}

/// Returns this rank's block with its clockwise triangles turned, and their number; `None` if the fault, on which all
/// ranks have agreed, has another cause. Rank 0 gathers the mesh, turns as the single run does, and deals it out.
/// Collective.
pub fn turned<P: Position + DoublePoint>(
    ranks: &Ranks,
    block: &Block<P>,
    fault: &Fault,
) -> Option<(Block<P>, usize)> {
    if !is_held(ranks, block, fault) {
        return None;
    }
    let mut mesh = Gathered::of(ranks, block).into_triangulation(block);
    let count = ranks.sum(turn_clockwise(&mut mesh) as u64) as usize;
    if count == 0 {
        return None;
    }
    let is_first = ranks.rank() == 0;
    Some((
        Block::scatter(ranks, is_first.then(|| (&mesh).into())),
        count,
    ))
}

/// Whether a fault is one of the mesh, and the ranks hold the mesh's lists, with ids of 32 bits. Collective.
fn is_held<P>(ranks: &Ranks, block: &Block<P>, fault: &Fault) -> bool {
    if !fault.is_of_mesh() || block.vertices.max(block.cells) >= u64::from(NONE) {
        return false;
    }
    let mut held = [block.points.len() as u64, block.corners.len() as u64];
    ranks.reduce_all(&mut held, Reduction::Sum);
    held == [block.vertices, block.cells * block.size as u64]
}

/// Refuses the points that the device refuses, also of vertices without cells; `points` are this rank's block of
/// `total`.
/// `element` is the word for an element with a point: `vertex`; `largest` is the largest coordinate whose square the
/// precision holds.
pub fn check_points<P: Coordinates>(
    ranks: &Ranks,
    total: u64,
    points: &[P::Double],
    element: &str,
    largest: f64,
) -> Result<()> {
    let first = ranks.block(total).start;
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
            let fault = Fault::of_mesh(2, id, text);
            return Some(fault.leaving_single(precision == Vec2::PRECISION));
        }
        None
    });
    fault.map_or(Ok(()), Err)
}

/// The half-edges of a part of triangles. Unlike [`DeviceTriangulation::upload`] it takes the words of an error from
/// the device: these name ids of the part, which become ids of the whole mesh.
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
    let leaves_single = is_single(&error);
    let text = match error {
        Orientation { .. } if P::DIMENSIONS == 3 => {
            let corner = |k| part.shape.corner(3 * triangle as usize + k);
            let [a, b, c] = [0, 1, 2].map(|k| part.vertices.get(corner(k) as usize));
            format!("{whole}{}", without_length([a, b, c]))
        }
        error => error
            .to_string()
            .replace(&format!("triangle {triangle} "), &whole),
    };
    Fault::of_mesh(rule, id(triangle), text).leaving_single(leaves_single)
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

/// Refuses more corners of faces than a list with 32-bit places holds.
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
