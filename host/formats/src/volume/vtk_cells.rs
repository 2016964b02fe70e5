//! Cells by VTK's numbers, for both of its formats.

use rayon::prelude::*;

use super::elements::{Elements, Shape, Tags};
use trioxide_mesh::volume::{CellKind, Cells, VolumeMesh, orientation};

/// Names of cell arrays that hold region ids, the first that is there: ours, meshio's, Gmsh's, MFEM's.
pub(crate) const REGION_NAMES: [&str; 6] = [
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
    matches!(kind, 10..=16 | 24..=27 | 29 | 31..=33 | 37 | 41 | 42 | 71..=74 | 78..=81)
}

/// Whether cells of that number are lines.
pub(crate) fn is_line(kind: i64) -> bool {
    matches!(kind, 3 | 4 | 21 | 35 | 68 | 75)
}

/// How the vertices of a cell are read.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    /// Corners, then for cells of higher order the nodes on sides.
    Plain,
    /// Those of a voxel or a pixel: rows of a grid.
    Grid,
    /// A chain of lines.
    Chain,
    /// A strip of triangles.
    Strip,
}

/// The shape, and how its vertices are read.
fn shape(i: usize, kind: i64, vertices: usize) -> Result<(Shape, Order), String> {
    let cell = |kind| (Shape::Cell(kind), Order::Plain);
    let found = match kind {
        0..=2 => return Ok((Shape::Point, Order::Plain)),
        3 => (Shape::Line, Order::Plain),
        4 if vertices >= 2 => return Ok((Shape::Line, Order::Chain)),
        5 => (Shape::TRIANGLE, Order::Plain),
        6 if vertices >= 3 => return Ok((Shape::TRIANGLE, Order::Strip)),
        7 if vertices >= 3 => (Shape::Face(vertices), Order::Plain),
        8 => (Shape::QUADRILATERAL, Order::Grid),
        9 => (Shape::QUADRILATERAL, Order::Plain),
        10 => cell(CellKind::Tetrahedron),
        11 => (Shape::Cell(CellKind::Hexahedron), Order::Grid),
        12 => cell(CellKind::Hexahedron),
        13 => cell(CellKind::Wedge),
        14 => cell(CellKind::Pyramid),
        // Of higher order: quadratic, Lagrange's, Bézier's.
        21 | 35 | 68 | 75 => (Shape::Line, Order::Plain),
        22 | 34 | 69 | 76 => (Shape::TRIANGLE, Order::Plain),
        23 | 28 | 30 | 70 | 77 => (Shape::QUADRILATERAL, Order::Plain),
        36 if vertices >= 6 => (Shape::Face(vertices / 2), Order::Plain),
        24 | 71 | 78 => cell(CellKind::Tetrahedron),
        25 | 29 | 33 | 72 | 79 => cell(CellKind::Hexahedron),
        26 | 31 | 32 | 73 | 80 => cell(CellKind::Wedge),
        27 | 37 | 74 | 81 => cell(CellKind::Pyramid),
        4 | 6 | 7 | 36 => {
            return Err(format!(
                "cell {i}: a cell of VTK type {kind} has more than {vertices} vertices"
            ));
        }
        _ => {
            return Err(format!(
                "cell {i} has VTK type {kind}, but points (1, 2), lines (3, 4), triangles (5, 6), polygons (7), \
                 quadrilaterals (8, 9), tetrahedra (10), hexahedra (11, 12), wedges (13), pyramids (14), and those of \
                 higher order are read"
            ));
        }
    };
    let corners = found.0.vertices();
    if (15..68).contains(&kind) && vertices <= corners {
        return Err(format!(
            "cell {i}: a cell of VTK type {kind} has more than {vertices} vertices"
        ));
    }
    if vertices != corners && (kind <= 14 || vertices < corners) {
        return Err(format!(
            "cell {i}: a cell of VTK type {kind} has {corners} vertices, not {vertices}"
        ));
    }
    Ok(found)
}

/// Which array of the file is at fault.
pub(crate) enum Place {
    Types,
    Offsets,
    Vertices,
}

/// The elements of a grid: `range(i)` is where the vertices of cell `i` begin and end in `connectivity`, `tags` the region ids
/// and the markers.
pub(crate) fn read(
    types: &[i64],
    range: impl Fn(usize) -> (i64, i64),
    connectivity: &[i64],
    index: impl Fn(i64) -> Result<u32, String>,
    tags: &[Option<&[i32]>; 2],
) -> Result<Elements, (Place, String)> {
    let mut elements = Elements::default();
    elements.has_vtk_wedges = true;
    // In a volume mesh a marker is that of a face, in a surface that of a line.
    let is_volume = types.par_iter().any(|&kind| is_solid(kind));
    let (mut found, mut parts) = (Vec::with_capacity(8), Vec::new());
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
        let (shape, order) =
            shape(i, kind, vertices.len()).map_err(|reason| (Place::Types, reason))?;
        if shape == Shape::Point {
            continue;
        }
        found.clear();
        for &vertex in vertices {
            found.push(
                index(vertex).map_err(|reason| (Place::Vertices, format!("cell {i}: {reason}")))?,
            );
        }
        let tags = match shape {
            Shape::Cell(_) => *regions,
            Shape::Face(_) if !is_volume => *regions,
            _ => markers.or(*regions),
        };
        let tags = Tags::All(tags.map_or(0, |tags| tags[i]));
        let corners = match order {
            Order::Plain => {
                let (corners, side_nodes) = found.split_at(shape.vertices());
                if !side_nodes.is_empty() {
                    elements.push_side_nodes(1, side_nodes);
                }
                corners
            }
            Order::Grid => {
                // Rows of a grid run the same way, sides of a face around it.
                found.swap(2, 3);
                if found.len() == 8 {
                    found.swap(6, 7);
                }
                &found
            }
            Order::Chain => {
                parts.clear();
                parts.extend(found.windows(2).flatten());
                &parts
            }
            Order::Strip => {
                parts.clear();
                split_strip(&found, &mut parts);
                &parts
            }
        };
        let parts = corners.len() / shape.vertices();
        elements
            .push(shape, corners, tags)
            .map_err(|reason| (Place::Offsets, reason))?;
        let list = match shape {
            Shape::Cell(_) => 0,
            Shape::Face(_) => 1,
            _ => 2,
        };
        let sources = &mut elements.sources[list];
        sources.resize(sources.len() + parts, i as u32);
    }
    Ok(elements)
}

/// Appends the triangles of a strip: each second one runs the other way round in it. Triangles that visit a vertex twice are only
/// there to turn a corner.
pub(crate) fn split_strip(strip: &[u32], triangles: &mut Vec<u32>) {
    for (i, triangle) in strip.windows(3).enumerate() {
        let &[a, b, c] = triangle else {
            unreachable!("three vertices");
        };
        if a != b && b != c && a != c {
            triangles.extend(if i % 2 == 0 { [a, b, c] } else { [b, a, c] });
        }
    }
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
