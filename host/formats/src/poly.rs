//! Outlines: `.poly` files of Triangle with their holes and regions, or the points and segments of any mesh in the
//! plane.
//!
//! <https://www.cs.cmu.edu/~quake/triangle.poly.html>. If a `.poly` file has no points, they are in the `.node` file of
//! the same stem. TetGen's `.poly` files, of facets in space, are refused. A region's attribute is its id. If one is
//! not a whole number, the ids number the values in ascending order, with a note. Attributes and markers of points are
//! fields.

use std::path::Path;

use glam::DVec2;

use super::columns::{number_of, number_values, region, shown};
use super::text::{Fault, Line, Parsed, TextRows, text_start, with_line_feeds};
use super::triangle::{
    header_count, is_lone_node, parse_nodes, parse_points, parse_segment_rows, sibling,
};
use super::{ReadOptions, complete, map_file, parse_file};
use trioxide_mesh::Result;
use trioxide_mesh::mesh::Mesh;
pub use trioxide_mesh::outline::{OutlineMesh, Region};

/// Reads an outline, with a sentence for each part of the file that is left out.
///
/// # Errors
/// As [`super::read`].
pub fn read_outline(path: &Path) -> Result<(OutlineMesh, Vec<String>)> {
    read_outline_as(path, ReadOptions::default())
}

/// As [`read_outline`], with these options.
///
/// # Errors
/// As [`read_outline`].
pub fn read_outline_as(path: &Path, options: ReadOptions) -> Result<(OutlineMesh, Vec<String>)> {
    complete(|| outline(path, options))
}

fn outline(path: &Path, options: ReadOptions) -> Result<(OutlineMesh, Vec<String>)> {
    let is_poly = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("poly"));
    if is_lone_node(path)? {
        return read_points(path);
    }
    if !is_poly {
        let (mesh, mut notes) = super::read_as(path, options)?;
        let (outline, left_out) = OutlineMesh::of_mesh(mesh);
        notes.extend(left_out);
        return Ok((outline, notes));
    }
    let file = map_file(path)?;
    let file = &*with_line_feeds(&file);
    let in_text = |fault: Fault| fault.in_text(path, file);
    let rows = TextRows::new(file, text_start(file));
    let (mut nodes, row) = parse_points(&rows).map_err(in_text)?;
    if nodes.dimensions == 3 {
        return Err(in_text(Fault::new(text_start(file), FACETS)));
    }
    // Without points and segments, these may be the whole file.
    let has_segments = rows
        .row(row, "the number of segments")
        .and_then(|mut line| line.count("the number of segments"))
        .map_err(in_text)?
        > 0;
    let beside = sibling(path, "node");
    if nodes.points.is_empty() && (has_segments || beside.exists()) {
        nodes = parse_file(&beside, parse_nodes)?;
    }
    let (segments, row) =
        parse_segment_rows(&rows, row, nodes.base, nodes.points.len()).map_err(in_text)?;
    let (holes, row) = parse_holes(&rows, row).map_err(in_text)?;
    let (regions, notes) = parse_regions(&rows, row).map_err(in_text)?;
    let mesh = Mesh {
        segments,
        ..nodes.into_mesh()
    };
    let outline = OutlineMesh {
        mesh,
        holes,
        regions,
    };
    Ok((outline, notes))
}

const FACETS: &str = "its points have 3 coordinates, so it is a .poly file of TetGen, with facets in space: `tetgen -p FILE` makes \
    tetrahedra of it, whose .ele file is read";

/// Reads the points of a `.node` file.
fn read_points(path: &Path) -> Result<(OutlineMesh, Vec<String>)> {
    let nodes = parse_file(path, parse_nodes)?;
    let (outline, _) = OutlineMesh::of_mesh(nodes.into_mesh());
    let segments = sibling(path, "poly");
    let mut notes = Vec::new();
    if segments.is_file() {
        notes.push(format!(
            "the segments of {} are left out: triangulate that file to have them",
            segments.display()
        ));
    }
    Ok((outline, notes))
}

fn point(line: &mut Line) -> Parsed<DVec2> {
    Ok(DVec2::new(line.f64("x")?, line.f64("y")?))
}

fn parse_holes(rows: &TextRows, row: usize) -> Parsed<(Vec<DVec2>, usize)> {
    // Some programs omit empty sections.
    if row >= rows.count {
        return Ok((Vec::new(), row));
    }
    let count = rows
        .row(row, "the number of holes")?
        .count("the number of holes")?;
    let range = rows.expect(row + 1, count, "holes")?;
    let end = range.end;
    let mut holes = Vec::with_capacity(count);
    for row in range {
        let mut line = rows.row(row, "a hole")?;
        line.integer("a hole's number")?;
        holes.push(point(&mut line)?);
    }
    Ok((holes, end))
}

fn parse_regions(rows: &TextRows, row: usize) -> Parsed<(Vec<Region>, Vec<String>)> {
    let (mut regions, mut notes) = (Vec::new(), Vec::new());
    let mut attributes = Vec::new();
    if row >= rows.count {
        return Ok((regions, notes));
    }
    let mut header = rows.row(row, "the number of regions")?;
    let count = header_count(&mut header, "the number of regions", 0)?;
    let range = rows.expect(row + 1, count, "regions")?;
    rows.expect_end(range.end, "the regions")?;
    for row in range {
        let mut line = rows.row(row, "a region")?;
        line.integer("a region's number")?;
        let point = point(&mut line)?;
        let attribute = line.f64("a region's attribute")?;
        // Of four numbers the last is an area, if it is no id.
        let (attribute, area) = match (region(attribute), line.is_finished()) {
            (_, false) => (attribute, line.f64("a largest area")?),
            (Some(_), true) => (attribute, 0.0),
            (None, true) => (0.0, attribute),
        };
        attributes.push(attribute);
        regions.push(Region {
            point,
            id: region(attribute).unwrap_or(0),
            // Others give no bound.
            largest_area: Some(area).filter(|area| *area > 0.0),
        });
    }
    if attributes
        .iter()
        .any(|&attribute| region(attribute).is_none())
    {
        let values = number_values(attributes.iter().copied());
        for (region, &attribute) in regions.iter_mut().zip(&attributes) {
            region.id = number_of(&values, attribute);
        }
        notes.push(format!(
            "not all attributes of its regions are whole numbers of 32 bits, so ids number their values: {}",
            shown(&values)
        ));
    }
    Ok((regions, notes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trioxide_mesh::fields::Values;

    #[test]
    fn a_poly_file_has_holes_and_regions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.poly");
        let text = "# by hand\n4 2 0 1\n1 0 0 5\n2 1 0 5\n3 1 1 5\n4 0 1 5\n4 1\n1 1 2 7\n2 2 3 8\n3 3 4 9\n4 4 1 -1\n\
            1\n1 0.5 0.25\n1\n1 0.1 0.1 3 0.5\n";
        std::fs::write(&path, text).unwrap();
        let (outline, notes) = read_outline(&path).unwrap();
        assert_eq!(outline.mesh.points[2].truncate(), DVec2::ONE);
        let ends: Vec<_> = outline
            .mesh
            .segments
            .iter()
            .map(|s| (s.ends, s.marker))
            .collect();
        assert_eq!(ends, [([0, 1], 7), ([1, 2], 8), ([2, 3], 9), ([3, 0], -1)]);
        assert_eq!(outline.holes, [DVec2::new(0.5, 0.25)]);
        let region = Region {
            largest_area: Some(0.5),
            ..Region::new(DVec2::splat(0.1), 3)
        };
        assert_eq!((outline.regions, notes.len()), (vec![region], 0));
        let error = |from: &str, to: &str| {
            std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
            let error = read_outline(&path).unwrap_err().to_string();
            error.split_once("a.poly:").unwrap().1.to_owned()
        };
        assert_eq!(
            error("4 4 1 -1", "4 4 5 -1"),
            "11: vertex 5 does not exist: 4 vertices are numbered from 1"
        );
        assert_eq!(
            error("1\n1 0.5", "9\n1 0.5"),
            "16: expected 9 holes, but the file ends after 3"
        );
        // As in Triangle's example la.poly: a largest area alone.
        std::fs::write(&path, text.replacen("0.1 3 0.5", "0.1 0.05", 1)).unwrap();
        let (outline, notes) = read_outline(&path).unwrap();
        let region = Region {
            id: 0,
            largest_area: Some(0.05),
            ..region
        };
        assert_eq!((outline.regions, notes.len()), (vec![region], 0));
        std::fs::write(&path, text.replacen("0.1 3 0.5", "0.1 3.5 0.5", 1)).unwrap();
        let (outline, notes) = read_outline(&path).unwrap();
        assert_eq!((outline.regions[0].id, outline.holes.len()), (1, 1));
        let markers = Values::from(vec![5; 4]);
        assert_eq!(
            outline.mesh.fields.points.get("marker").unwrap().values,
            markers
        );
        let expected = "not all attributes of its regions are whole numbers of 32 bits, so ids number their values: 1 is 3.5";
        assert_eq!(notes, [expected]);
        // TetGen's files are of space, and have facets.
        std::fs::write(
            &path,
            "3 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n1 1\n1 0 7\n3 1 2 3\n0\n",
        )
        .unwrap();
        let refused = read_outline(&path).unwrap_err().to_string();
        assert!(refused.contains("a .poly file of TetGen, with facets in space: `tetgen -p FILE`"));
        // Points in the other file, nothing after the segments.
        std::fs::write(&path, "0 2\n1 0\n0 0 1\n").unwrap();
        std::fs::write(folder.path().join("a.node"), "2 2\n0 0 0\n1 1 0\n").unwrap();
        let (outline, _) = read_outline(&path).unwrap();
        assert_eq!(
            (outline.mesh.points.len(), outline.mesh.segments.len()),
            (2, 1)
        );
        // The same points without triangles.
        let (alone, notes) = read_outline(&folder.path().join("a.node")).unwrap();
        assert_eq!(
            (alone.mesh.points, alone.mesh.segments.len()),
            (outline.mesh.points.clone(), 0)
        );
        assert!(notes[0].contains("a.poly are left out: triangulate that file"));
        std::fs::write(folder.path().join("a.ele"), "0 3\n").unwrap();
        let (of_mesh, _) = read_outline(&folder.path().join("a.node")).unwrap();
        assert_eq!(of_mesh, outline);
    }
}
