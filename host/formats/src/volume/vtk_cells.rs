//! Cells by VTK's numbers, for both of its formats.

use rayon::prelude::*;

use super::elements::{Elements, Shape, Tags};
use trioxide_mesh::volume::{CellKind, Cells, VolumeMesh, orientation};

/// Names of cell arrays that hold region ids, the first that is there: ours, meshio's, Gmsh's, MFEM's.
pub(super) const REGION_NAMES: [&str; 6] = [
    "region",
    "medit:ref",
    "gmsh:physical",
    "CellEntityIds",
    "attribute",
    "gmsh:geometrical",
];

/// Gives the numbers of a point or a cell to its last argument.
pub(super) type Record<'a, T> = dyn Fn(usize, &mut dyn FnMut(T)) + Sync + 'a;

/// VTK's number of a face or a cell with so many vertices.
pub(super) fn number(is_face: bool, vertices: usize) -> u8 {
    match (is_face, vertices) {
        (true, 3) => 5,
        (true, _) => 9,
        (false, 4) => 10,
        (false, 8) => 12,
        (false, 6) => 13,
        (false, _) => 14,
    }
}

/// Whether cells of that number fill space.
pub(super) fn is_solid(kind: i64) -> bool {
    matches!(kind, 10..=16 | 24..=27 | 29 | 31..=33 | 37 | 42)
}

/// The shape, and whether its vertices are in the order of a voxel or a pixel.
fn shape(i: usize, kind: i64, vertices: usize) -> Result<(Shape, bool), String> {
    let (shape, is_grid) = match kind {
        // Points, lines, and chains of them.
        1..=4 => return Ok((Shape::Lower(vertices.max(1)), false)),
        5 => (Shape::TRIANGLE, false),
        8 => (Shape::QUADRILATERAL, true),
        9 => (Shape::QUADRILATERAL, false),
        7 if vertices == 3 => (Shape::TRIANGLE, false),
        7 if vertices == 4 => (Shape::QUADRILATERAL, false),
        10 => (Shape::TETRAHEDRON, false),
        11 => (Shape::Cell(CellKind::Hexahedron), true),
        12 => (Shape::Cell(CellKind::Hexahedron), false),
        13 => (Shape::Cell(CellKind::Wedge), false),
        14 => (Shape::Cell(CellKind::Pyramid), false),
        21..=37 => {
            return Err(format!(
                "cell {i} is of second order (VTK type {kind}): write a mesh of first order"
            ));
        }
        _ => {
            return Err(format!(
                "cell {i} has VTK type {kind}, but points (1, 2), lines (3, 4), triangles (5), quadrilaterals (8, 9), \
                 tetrahedra (10), hexahedra (11, 12), wedges (13) and pyramids (14) are read"
            ));
        }
    };
    if vertices != shape.vertices() {
        return Err(format!(
            "cell {i}: a cell of VTK type {kind} has {} vertices, not {vertices}",
            shape.vertices()
        ));
    }
    Ok((shape, is_grid))
}

/// Which array of the file is at fault.
pub(super) enum Place {
    Types,
    Offsets,
    Vertices,
}

/// The elements of a grid: `range(i)` is where the vertices of cell `i` begin and end in `connectivity`, `tags` the region ids
/// and the markers.
pub(super) fn read(
    types: &[i64],
    range: impl Fn(usize) -> (i64, i64),
    connectivity: &[i64],
    index: impl Fn(i64) -> Result<u32, String>,
    tags: &[Option<&[i32]>; 2],
) -> Result<Elements, (Place, String)> {
    let mut elements = Elements::default();
    let mut found = Vec::with_capacity(8);
    let [regions, markers] = tags;
    for (i, &kind) in types.iter().enumerate() {
        let (begin, end) = range(i);
        let vertices = usize::try_from(begin)
            .ok()
            .zip(usize::try_from(end).ok())
            .and_then(|(begin, end)| connectivity.get(begin..end));
        let Some(vertices) = vertices else {
            let reason = format!("the offset of cell {i} is outside of connectivity");
            return Err((Place::Offsets, reason));
        };
        let (shape, is_grid) =
            shape(i, kind, vertices.len()).map_err(|reason| (Place::Types, reason))?;
        if let Shape::Lower(_) = shape {
            continue;
        }
        found.clear();
        for &vertex in vertices {
            found.push(
                index(vertex).map_err(|reason| (Place::Vertices, format!("cell {i}: {reason}")))?,
            );
        }
        if is_grid {
            // Rows of a grid run the same way, sides of a face around it.
            found.swap(2, 3);
            if found.len() == 8 {
                found.swap(6, 7);
            }
        }
        let tags = match shape {
            Shape::Cell(_) => *regions,
            _ => markers.or(*regions),
        };
        elements
            .push(shape, &found, Tags::All(tags.map_or(0, |tags| tags[i])))
            .map_err(|reason| (Place::Offsets, reason))?;
        let is_face = matches!(shape, Shape::Face(_));
        elements.sources[usize::from(is_face)].push(i as u32);
    }
    Ok(elements)
}

/// Turns all wedges if some have a negative volume and none a positive one.
///
/// VTK's code wants the first triangle to look inward, as we do. VTK's documentation draws it outward, and Gmsh's `.vtk` files
/// follow that. Among wedges that are right, one with a negative volume is inverted, and stays so.
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
    if wedges.par_iter().any(|wedge| volume(wedge) > 0.0)
        || !wedges.par_iter().any(|wedge| volume(wedge) < 0.0)
    {
        return;
    }
    wedges.into_par_iter().for_each(|wedge| {
        wedge.swap(1, 2);
        wedge.swap(4, 5);
    });
}
