//! Cells by VTK's type numbers, for both of its formats.

use super::elements::{Elements, Shape, Tags};
use crate::text::Parsed;
use trioxide_mesh::parallel;
use trioxide_mesh::volume::CellKind;

/// Names of cell arrays with region ids; the first one present counts: ours, meshio's, Gmsh's, MFEM's, and names of
/// simulation programs. OpenGeoSys writes `MaterialIDs`.
const REGION_NAMES: [&str; 8] = [
    "region",
    "medit:ref",
    "gmsh:physical",
    "CellEntityIds",
    "attribute",
    "gmsh:geometrical",
    "MaterialIds",
    "MaterialIDs",
];

/// The region ids of cells, if there are any, and the name of their array; `tags` gives an array's numbers.
pub(crate) fn find_regions(
    tags: impl Fn(&str) -> Parsed<Option<Vec<i32>>>,
) -> Parsed<(Option<Vec<i32>>, Option<&'static str>)> {
    for name in REGION_NAMES {
        if let Some(regions) = tags(name)? {
            return Ok((Some(regions), Some(name)));
        }
    }
    Ok((None, None))
}

/// VTK's type of a face or a cell with this number of vertices.
pub(crate) fn number(is_face: bool, vertices: usize) -> u8 {
    match (is_face, vertices) {
        (true, 3) => 5,
        (true, _) => 9,
        (false, 4) => 10,
        (false, 8) => 12,
        (false, 6) => 13,
        (false, _) => 14,
    }
}

/// Whether cells of this type have three dimensions.
pub(super) fn is_solid(kind: i64) -> bool {
    matches!(kind, 10..=16 | 24..=27 | 29 | 31..=33 | 37 | 41 | 42 | 71..=74 | 78..=81)
}

/// Whether cells of this type are read as polyhedra: pentagonal and hexagonal prisms too.
pub(crate) fn is_polyhedron(kind: i64) -> bool {
    matches!(kind, 15 | 16 | POLYHEDRON)
}

/// VTK's type of a polyhedron, which lists its faces.
pub(crate) const POLYHEDRON: i64 = 42;

/// Whether cells of this type are lines.
pub(crate) fn is_line(kind: i64) -> bool {
    matches!(kind, 3 | 4 | 21 | 35 | 68 | 75)
}

/// The meaning of a cell's list of vertices.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    /// Corners, followed by the other nodes of cells of higher order.
    Plain,
    /// The vertices of a voxel or a pixel: rows of a grid.
    Grid,
    /// A chain of lines.
    Chain,
    /// A strip of triangles.
    Strip,
}

impl Order {
    /// Puts the corners of the elements of a cell before its other nodes, in trioxide's order. Returns their number.
    fn arrange(self, shape: Shape, vertices: &mut Vec<u32>) -> usize {
        match self {
            Order::Plain => return shape.vertices(),
            Order::Grid => {
                // Rows of a grid run in one direction, sides of a face around it.
                vertices.swap(2, 3);
                if vertices.len() == 8 {
                    vertices.swap(6, 7);
                }
            }
            Order::Chain => *vertices = vertices.windows(2).flatten().copied().collect(),
            Order::Strip => {
                let mut triangles = Vec::new();
                split_strip(vertices, &mut triangles);
                *vertices = triangles;
            }
        }
        vertices.len()
    }
}

/// Puts the corners of cell `i` before its other nodes, in trioxide's order. Returns the shape of its elements (several
/// of a chain or strip) and the number of their corners.
pub(crate) fn arrange(
    i: usize,
    kind: i64,
    vertices: &mut Vec<u32>,
) -> Result<(Shape, usize), String> {
    let (shape, order) = shape(i, kind, vertices.len())?;
    Ok((shape, order.arrange(shape, vertices)))
}

/// The shape, and the order of its vertices.
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
        // Of higher order: quadratic, Lagrange, Bézier.
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
        _ if is_polyhedron(kind) => {
            return Err(format!(
                "cell {i} is a polyhedron (VTK type {kind}): convert, info, render, vem and view take these, and \
                 `convert --boundary` writes the faces around them"
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

/// The file's array that is at fault.
pub(crate) enum FaultyArray {
    Types,
    Offsets,
    Vertices,
}

/// The elements of a grid. `range(i)` is the range of cell `i`'s vertices in `connectivity`; `tags` are the region ids
/// and the markers.
pub(crate) fn read(
    types: &[i64],
    range: impl Fn(usize) -> (i64, i64) + Sync,
    connectivity: &[i64],
    index: impl Fn(i64) -> Result<u32, String> + Sync,
    tags: &[Option<&[i32]>; 2],
) -> Result<Elements, (FaultyArray, String)> {
    let mut elements = Elements::default();
    elements.has_vtk_wedges = true;
    // In a volume mesh faces have markers, in a surface lines.
    let is_volume = parallel::any(types, |&kind| is_solid(kind));
    let mut found = Vec::with_capacity(8);
    let [regions, markers] = tags;
    let tags_of = |shape| match shape {
        Shape::Cell(_) => *regions,
        Shape::Face(_) if !is_volume => *regions,
        _ => markers.or(*regions),
    };
    let (mut next, mut one_by_one) = (0, 0);
    while let Some(&kind) = types.get(next) {
        let i = next;
        if i >= one_by_one {
            let run = run_from(i, types, &range);
            let is_pushed = run
                .push(i, &mut elements, connectivity, &index, tags_of)
                .map_err(|reason| (FaultyArray::Offsets, reason))?;
            if is_pushed {
                next = i + run.count;
                continue;
            }
            one_by_one = i + run.count;
        }
        next += 1;
        let (begin, end) = range(i);
        let vertices = usize::try_from(begin)
            .ok()
            .zip(usize::try_from(end).ok())
            .and_then(|(begin, end)| connectivity.get(begin..end));
        let Some(vertices) = vertices else {
            let reason = format!("the offset of cell {i} is outside of connectivity");
            return Err((FaultyArray::Offsets, reason));
        };
        let (shape, order) =
            shape(i, kind, vertices.len()).map_err(|reason| (FaultyArray::Types, reason))?;
        if shape == Shape::Point {
            continue;
        }
        found.clear();
        for &vertex in vertices {
            found.push(
                index(vertex)
                    .map_err(|reason| (FaultyArray::Vertices, format!("cell {i}: {reason}")))?,
            );
        }
        let tags = Tags::All(tags_of(shape).map_or(0, |tags| tags[i]));
        let corners = order.arrange(shape, &mut found);
        let (corners, side_nodes) = found.split_at(corners);
        if !side_nodes.is_empty() {
            elements.push_side_nodes(1, side_nodes);
        }
        let parts = corners.len() / shape.vertices();
        elements
            .push(shape, corners, tags)
            .map_err(|reason| (FaultyArray::Offsets, reason))?;
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

/// Consecutive cells of one type with consecutive vertices.
struct Run {
    /// Place of the first cell's vertices.
    begin: i64,
    count: usize,
    /// Their shape, if all threads can read them: the cells have the corners of their type, in the order of the file.
    shape: Option<Shape>,
}

/// Fewest cells of a run that all threads share.
const RUN: usize = if cfg!(test) { 3 } else { 4096 };

/// The run that begins with cell `first`.
fn run_from(first: usize, types: &[i64], range: &(impl Fn(usize) -> (i64, i64) + Sync)) -> Run {
    let kind = types[first];
    let rest = &types[first..];
    let differs = |other: &i64| *other != kind;
    // Short runs use no other thread.
    let same = match rest.iter().take(RUN).position(differs) {
        Some(same) => same,
        None => parallel::position(rest, differs).unwrap_or(rest.len()),
    };
    let (begin, _) = range(first);
    let shape = match kind {
        5 => Some(Shape::TRIANGLE),
        9 => Some(Shape::QUADRILATERAL),
        10 => Some(Shape::TETRAHEDRON),
        12 => Some(Shape::Cell(CellKind::Hexahedron)),
        13 => Some(Shape::Cell(CellKind::Wedge)),
        14 => Some(Shape::Cell(CellKind::Pyramid)),
        _ => None,
    };
    let Some(shape) = shape.filter(|_| same >= RUN) else {
        return Run {
            begin,
            count: same,
            shape: None,
        };
    };
    let size = shape.vertices() as i64;
    let is_elsewhere = |k: usize| {
        let place = begin.checked_add(k as i64 * size);
        place.and_then(|at| Some((at, at.checked_add(size)?))) != Some(range(first + k))
    };
    let together = parallel::find(same, is_elsewhere).unwrap_or(same);
    let is_run = together >= RUN;
    Run {
        begin,
        count: if is_run { together } else { same },
        shape: is_run.then_some(shape),
    }
}

impl Run {
    /// Adds its cells, of which the first is cell `first`, to `elements`. Returns false if they must be read one by
    /// one.
    fn push<'t>(
        &self,
        first: usize,
        elements: &mut Elements,
        connectivity: &[i64],
        index: &(impl Fn(i64) -> Result<u32, String> + Sync),
        tags_of: impl Fn(Shape) -> Option<&'t [i32]>,
    ) -> Result<bool, String> {
        let corners = self.corners(connectivity, index);
        let Some((shape, corners)) = self.shape.zip(corners) else {
            return Ok(false);
        };
        let all = first..first + self.count;
        let tags = tags_of(shape).map_or(Tags::All(0), |tags| Tags::Each(&tags[all.clone()]));
        elements.push(shape, &corners, tags)?;
        let list = usize::from(matches!(shape, Shape::Face(_)));
        elements.sources[list].extend(all.start as u32..all.end as u32);
        Ok(true)
    }

    /// The corners of its cells. `None` if some are missing: reading cell by cell reports the fault.
    fn corners(
        &self,
        connectivity: &[i64],
        index: &(impl Fn(i64) -> Result<u32, String> + Sync),
    ) -> Option<Vec<u32>> {
        let begin = usize::try_from(self.begin).ok()?;
        let length = self.shape?.vertices() * self.count;
        let vertices = connectivity.get(begin..begin.checked_add(length)?)?;
        parallel::try_collect(vertices.len(), |i| index(vertices[i])).ok()
    }
}

/// Appends the triangles of a strip: every second one is reversed in it. Triangles that visit a vertex twice only turn
/// a corner, and are dropped.
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

#[cfg(test)]
mod tests {
    use trioxide_mesh::volume::Cells;

    use super::super::elements::Grid;
    use super::*;

    /// Corners of tetrahedra, tags, and sources of the cells that were read.
    type Told = (Vec<u32>, Vec<i32>, Vec<u32>);

    /// The elements of these types, whose vertices begin at `begins`.
    fn read_cells(types: &[i64], begins: &[i64]) -> Result<Told, String> {
        let size = |kind| if kind == 10 { 4 } else { 3 };
        let connectivity: Vec<i64> = (0..200).map(|i| (7 * i) % 60).collect();
        let tags: Vec<i32> = (0..types.len() as i32).collect();
        let elements = read(
            types,
            |i| (begins[i], begins[i] + size(types[i])),
            &connectivity,
            |vertex| u32::try_from(vertex).map_err(|error| error.to_string()),
            &[Some(&tags), None],
        );
        let grid = elements.map_err(|(_, reason)| reason)?;
        let sources = grid.sources[0]
            .iter()
            .chain(&grid.sources[1])
            .copied()
            .collect();
        let points = vec![glam::DVec3::ZERO; 60];
        let (mesh, _) = Grid::new(points, grid)?.into_volume()?;
        let Cells::Tetrahedra(cells) = &mesh.cells else {
            return Err("only tetrahedra are here".to_owned());
        };
        let tags = mesh
            .regions
            .iter()
            .flatten()
            .chain(&mesh.face_tags)
            .copied();
        Ok((cells.as_flattened().to_vec(), tags.collect(), sources))
    }

    #[test]
    fn runs_of_cells_are_read_as_cells_one_by_one() {
        // Runs of one type, some of them short, and one whose vertices begin elsewhere.
        let types: Vec<i64> = [(10, 9), (5, 2), (10, 2), (5, 7), (10, 8)]
            .into_iter()
            .flat_map(|(kind, count)| std::iter::repeat_n(kind, count))
            .collect();
        let mut begins = Vec::new();
        let mut at = 0;
        for (i, kind) in types.iter().enumerate() {
            at += if i == 5 || i == 22 { 6 } else { 0 };
            begins.push(at);
            at += if *kind == 10 { 4 } else { 3 };
        }
        let (cells, tags, sources) = read_cells(&types, &begins).unwrap();
        let types = &types;
        let of_kind = |wanted: i64| (0..types.len()).filter(move |&i| types[i] == wanted);
        let expected: Vec<u32> = of_kind(10)
            .flat_map(|i| (begins[i]..begins[i] + 4).map(|at| (7 * at as u32) % 60))
            .collect();
        assert_eq!(cells, expected);
        let in_order: Vec<u32> = of_kind(10).chain(of_kind(5)).map(|i| i as u32).collect();
        assert_eq!(sources, in_order);
        assert_eq!(tags, in_order.iter().map(|&i| i as i32).collect::<Vec<_>>());
        // A missing vertex is found in its cell.
        let mut beyond = begins.clone();
        beyond[25] = 198;
        let reason = read_cells(types, &beyond).unwrap_err();
        assert!(reason.contains("the offset of cell 25"), "{reason}");
    }
}
