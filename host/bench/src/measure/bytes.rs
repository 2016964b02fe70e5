//! Bytes that a stage must move from and to memory: each array that it needs read once, each that it gives written
//! once.
//!
//! Divided by the device's copy bandwidth this is the stage's floor. Reads out of order cost more: the ratio of time to
//! floor shows it. A stage without a formula is small, or its reads depend on the mesh. The floor of a sum of stages is
//! the sum of the floors of its stages that have one: still a lower bound.
//!
//! V vertices, T triangles (or F faces), H = 3T half-edges, C cells; ids and counts take 4 bytes, a point `p` bytes.

use serde_json::{Map, Value};

use super::names::{SWEEPS, is_step, sweeps_name};
use super::timing::Moved;
use super::timing::Row;

/// The data of the formulas.
pub struct Numbers<'a> {
    family: &'a str,
    parameters: &'a Map<String, Value>,
    counts: &'a Map<String, Value>,
}

impl<'a> Numbers<'a> {
    pub fn new(
        family: &'a str,
        parameters: &'a Map<String, Value>,
        counts: &'a Map<String, Value>,
    ) -> Self {
        Self {
            family,
            parameters,
            counts,
        }
    }

    /// A count; `None` where the case does not have it.
    pub(super) fn count(&self, name: &str) -> Option<f64> {
        self.counts.get(name)?.as_f64()
    }

    fn parameter(&self, name: &str) -> &str {
        self.parameters
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or("")
    }

    /// Bytes of a scalar.
    pub(super) fn scalar(&self) -> f64 {
        match self.parameter("precision") {
            "f32" => 4.0,
            _ => 8.0,
        }
    }
}

/// Names of rows that are sums over other rows of their pipeline, and the rows that they take.
fn total(name: &str) -> Option<fn(&str) -> bool> {
    match name {
        "all stages" => Some(|_| true),
        "steps 1 to 7" => Some(is_step),
        _ => None,
    }
}

/// The traffic of `row`, one of `rows`.
pub fn of_row(n: &Numbers<'_>, row: &Row, rows: &[Row]) -> Option<Moved> {
    if let Some(kernel) = &row.kernel {
        return kernel.moved;
    }
    let Some(takes) = total(row.stage) else {
        return of_stage(n, row.pipeline, row.stage);
    };
    let parts: Vec<Moved> = rows
        .iter()
        .filter(|part| part.pipeline == row.pipeline && takes(part.stage))
        .filter(|part| total(part.stage).is_none())
        .filter_map(|part| of_stage(n, part.pipeline, part.stage))
        .collect();
    (!parts.is_empty()).then(|| Moved {
        bytes: parts.iter().map(|part| part.bytes).sum(),
        what: "the stages above",
    })
}

fn of_stage(n: &Numbers<'_>, pipeline: &str, stage: &str) -> Option<Moved> {
    let (bytes, what) = match (n.family, pipeline) {
        (_, "as waited") => return None,
        ("polylla", "half-edges") | ("refine", "edges") => half_edges(n, stage)?,
        ("polylla", "neighbours" | "indexed") => indexed(n, stage)?,
        ("polylla", _) => polylla(n, pipeline, stage)?,
        // Known from before.
        ("refine", "labelled") if stage == "find longest edges" => return None,
        ("refine", _) => refinement(n, stage)?,
        ("refine-tets", _) => refine_tets(n, pipeline, stage)?,
        ("polylla3", _) => polyhedra(n, stage)?,
        ("weld", "weld") => weld(n, stage)?,
        ("smooth", _) => smooth(n, pipeline, stage)?,
        _ => return None,
    };
    Some(Moved {
        bytes: bytes.round() as u64,
        what,
    })
}

/// Bytes, and the arrays that move.
pub(super) type Formula = Option<(f64, &'static str)>;

/// Half-edges, and edges, from triangles.
fn half_edges(n: &Numbers<'_>, stage: &str) -> Formula {
    let (v, t) = (n.count("vertices")?, n.count("triangles")?);
    let p = 2.0 * n.scalar();
    Some(match stage {
        "check the mesh" => (p * v, "points read"),
        // The table has a slot for each of the 3T/2 edges: cleared, taken, read.
        "match twins" => (
            12.0 * t + p * v + 24.0 * t + 18.0 * t,
            "origins, points read; twins cleared, written; table cleared, written, read",
        ),
        "link the border" => (12.0 * t, "twins read"),
        "half-edges of vertices" => (12.0 * t + 8.0 * v, "origins read; result cleared, written"),
        // Twins decide which half-edge of two gives the edge its id.
        "number edges" => (24.0 * t, "twins read; sides written"),
        _ => return None,
    })
}

/// Polylla on half-edges.
fn polylla(n: &Numbers<'_>, pipeline: &str, stage: &str) -> Formula {
    let (v, t) = (n.count("vertices")?, n.count("triangles")?);
    let (seeds, polygons) = (n.count("regions")?, n.count("polygons")?);
    // Half-edges along polygons: two for each frontier edge. Frontier edges on the boundary have one; they are few.
    let along = 2.0 * n.count("frontier_edges")?;
    let p = 2.0 * n.scalar();
    let bits = 3.0 * t / 8.0;
    Some(match stage {
        "label longest edges" => (
            12.0 * t + p * v + bits,
            "origins, points read; bits written",
        ),
        "label frontier edges" => (
            12.0 * t + 3.0 * bits,
            "twins, bits read; frontier and seed bits written",
        ),
        "compact seeds" => (bits + 4.0 * seeds, "bits read; list written"),
        // A run for lists alone writes no `prev`.
        "link frontier edges" if pipeline == "with lists" => (
            12.0 * t + bits + 12.0 * t,
            "twins, frontier bits read; next written",
        ),
        "link frontier edges" => (
            12.0 * t + bits + 24.0 * t,
            "twins, frontier bits read; next, prev written",
        ),
        "find polygons" => (4.0 * seeds + 4.0 * along, "seeds, next along polygons read"),
        "compact polygons" => (bits + 4.0 * polygons, "bits read; list written"),
        "list polygons" => (
            4.0 * polygons + 12.0 * along + 4.0 * polygons,
            "polygons, next, origins read; offsets, vertices written",
        ),
        _ => return None,
    })
}

/// Polylla on triangles and neighbours.
fn indexed(n: &Numbers<'_>, stage: &str) -> Formula {
    let (v, t) = (n.count("vertices")?, n.count("triangles")?);
    let (seeds, polygons) = (n.count("regions")?, n.count("polygons")?);
    let along = 2.0 * n.count("frontier_edges")?;
    let p = 2.0 * n.scalar();
    let (max, bits) = (t / 4.0, 3.0 * t / 8.0);
    Some(match stage {
        "half-edges of vertices" => return half_edges(n, stage),
        "find neighbours" => (
            24.0 * t + 8.0 * v,
            "twins, half-edges of vertices read; neighbours, trivertex written",
        ),
        "label max" => (
            12.0 * t + p * v + max,
            "triangles, points read; two bits a triangle written",
        ),
        "label seed" => (
            12.0 * t + max + t / 8.0 + 4.0 * seeds,
            "neighbours, longest edges read; bits, list written",
        ),
        "label frontier" => (
            12.0 * t + max + bits,
            "neighbours, longest edges read; frontier bits written",
        ),
        "traversal" => (
            4.0 * seeds + 12.0 * t + bits + 4.0 * along + 4.0 * (along + seeds) + 8.0 * seeds,
            "seeds, neighbours, frontier bits, vertices read; polygons, starts, positions written",
        ),
        "order polygons" => (
            4.0 * (along + polygons) + 4.0 * (along + polygons),
            "polygons read; vertices, offsets written",
        ),
        _ => return None,
    })
}

/// A round of longest-edge bisection. The cost of few marked triangles depends on their places: all formulas but the
/// first are for marking every triangle.
fn refinement(n: &Numbers<'_>, stage: &str) -> Formula {
    let (v, t, e) = (
        n.count("vertices")?,
        n.count("triangles")?,
        n.count("edges")?,
    );
    let new_vertices = n.count("vertices_after")? - v;
    let after = n.count("triangles_after")?;
    let p = 2.0 * n.scalar();
    let bits = 3.0 * t / 8.0;
    if stage == "find longest edges" {
        return Some((12.0 * t + p * v + t, "corners, points read; labels written"));
    }
    if n.parameter("mark") != "all" {
        return None;
    }
    Some(match stage {
        "mark divided edges" => (
            13.0 * t + e / 8.0,
            "sides, labels read; bits of edges written",
        ),
        "flag divided sides" => (
            12.0 * t + e / 8.0 + 2.0 * bits,
            "sides, bits of edges read; flags written",
        ),
        "prefix sums" => (2.0 * bits + t / 2.0, "flags read; sums written"),
        "divide edges and triangles" => (
            36.0 * t + p * v + 24.0 * after + p * new_vertices + 4.0 * after + 4.0 * new_vertices,
            "corners, sides, half-edges, points read; corners, sides, points, parents written",
        ),
        _ => return None,
    })
}

/// A level of refinement of tetrahedra.
fn refine_tets(n: &Numbers<'_>, pipeline: &str, stage: &str) -> Formula {
    let (v, c) = (n.count("vertices")?, n.count("cells")?);
    let p = 3.0 * n.scalar();
    Some(match stage {
        "number edges" => (40.0 * c, "tetrahedra read; six edges of each written"),
        "order edges" => (
            16.0 * c + p * v + 24.0 * c + 4.0 * c,
            "tetrahedra, points, edges read; orders written",
        ),
        "mark edges" if pipeline != "0.1 %" => (28.0 * c, "orders, edges read"),
        "write children" if pipeline != "0.1 %" => {
            let after = match pipeline {
                "100 %" => n.count("cells_after_100_percent")?,
                _ => n.count("cells_after_every_edge")?,
            };
            (
                40.0 * c + 20.0 * after,
                "tetrahedra, edges read; tetrahedra, parents written",
            )
        }
        _ => return None,
    })
}

/// Vertex clustering; points are double, whatever the precision.
fn weld(n: &Numbers<'_>, stage: &str) -> Formula {
    let (v, f) = (n.count("vertices")?, n.count("triangles")?);
    let (v_after, f_after) = (n.count("welded_vertices")?, n.count("welded_triangles")?);
    Some(match stage {
        "grid" => (
            24.0 * v + 8.0 * v + 8.0 * v + 8.0 * v,
            "points read; keys, ranks written, read; sites written",
        ),
        "note neighbours" => (
            24.0 * v + 8.0 * v + 4.0 * v,
            "points, sites read; states written",
        ),
        "decide" => (8.0 * v, "states read, written"),
        "assign" => (8.0 * v, "states read; representatives written"),
        "number clusters" => (
            12.0 * v + 4.0 * v_after,
            "representatives read; map, keys, list written",
        ),
        "members" => (
            4.0 * v + 4.0 * (v - v_after) + 4.0 * v_after,
            "keys read; members, offsets written",
        ),
        "positions" => (
            24.0 * v + 4.0 * (v - v_after) + 24.0 * v_after,
            "points, members read; points written",
        ),
        "faces" => (
            12.0 * f + 4.0 * v + 12.0 * f_after,
            "faces, map read; faces written",
        ),
        _ => return None,
    })
}

/// Laplacian smoothing: a row is a form in one layout, a fixed number of sweeps or as many as convergence takes.
fn smooth(n: &Numbers<'_>, pipeline: &str, stage: &str) -> Formula {
    let (v, c) = (n.count("vertices")?, n.count("cells")?);
    if pipeline == "prepare" {
        return Some(match stage {
            "cells of nodes" => (
                16.0 * c + 16.0 * c + 4.0 * v,
                "cells read; corners, starts written",
            ),
            "neighbours" => (
                32.0 * c + 4.0 * n.count("neighbours")? + 4.0 * v,
                "corners, cells read; neighbours, rows written",
            ),
            _ => return None,
        });
    }
    let sweeps = if stage.contains("sweeps,") {
        f64::from(SWEEPS)
    } else if stage.starts_with("to convergence") {
        n.count(&sweeps_name(pipeline, stage))?
    } else {
        return None;
    };
    let (moving, neighbours) = (n.count("moving")?, n.count("neighbours_of_moving")?);
    let p = 3.0 * n.scalar();
    let one = p * v + p * moving + 4.0 * moving + 4.0 * neighbours;
    Some((
        sweeps * one,
        "in each sweep points, rows, neighbours read; points of what moves written",
    ))
}

/// Bytes that a stage must move: T tetrahedra, P polyhedra. Reads at the other side of a face count as if each array
/// were read once.
fn polyhedra(n: &Numbers<'_>, stage: &str) -> Formula {
    let (v, t) = (n.count("vertices")?, n.count("cells")?);
    let polyhedra = n.count("polyhedra")?;
    let p = 3.0 * n.scalar();
    let bits = t / 2.0;
    Some(match stage {
        // The table has two slots for each of the 2T faces: cleared; one taken, read.
        "match faces" => (
            16.0 * t + 32.0 * t + 32.0 * t + 16.0 * t,
            "tetrahedra read; twins cleared, written, read; table cleared, written, read",
        ),
        "label largest faces" => (
            16.0 * t + p * v + bits,
            "tetrahedra, points read; bits written",
        ),
        "label frontier faces" => (
            16.0 * t + 2.0 * bits + 4.0 * t,
            "twins, bits read; frontier bits, links written",
        ),
        "find roots" => (
            8.0 * t + t / 8.0,
            "links read; roots, bits of roots written",
        ),
        "find barrier faces" => (
            16.0 * t + 4.0 * t + 2.0 * bits,
            "twins, roots, frontier bits read; bits written",
        ),
        "repair barrier tips" => (
            (4.0 + 4.0 + 32.0 + 40.0 + 8.0) * n.count("barrier_faces")?,
            "for each barrier face: itself, its twin, two tetrahedra, their links, roots and parents read; cut written, read",
        ),
        "number polyhedra" => (
            4.0 * t + 16.0 * t + 4.0 * t + t / 8.0 + 16.0 * polyhedra,
            "links read; polyhedra, places written, read; lists written; bits of roots read; counts cleared, written, scanned",
        ),
        "list faces" => (
            8.0 * t + bits + 8.0 * polyhedra + 8.0 * (t + polyhedra),
            "lists read, ordered; offsets, frontier bits read; sides, offsets written",
        ),
        "check barrier faces" => (
            16.0 * n.count("barrier_faces")?,
            "for each barrier face: itself, its twin, two polyhedra read",
        ),
        "find pinched polyhedra" => (
            4.0 * t + 16.0 * t + 4.0 * t + 4.0 * (t + 3.0 * polyhedra),
            "lists, tetrahedra, links read; tops written",
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::names::map;
    use super::*;

    fn row(pipeline: &'static str, stage: &'static str) -> Row {
        Row::new(pipeline, stage, vec![1.0])
    }

    #[test]
    fn floors_of_the_grid_are_those_of_the_page() {
        // docs/PERFORMANCE.md: grid of 25M points, double precision.
        let parameters = map([("precision", json!("f64"))]);
        let counts = map([
            ("vertices", json!(25_000_000)),
            ("triangles", json!(50_000_000)),
            ("regions", json!(25_000_000)),
            ("polygons", json!(25_000_000)),
            ("frontier_edges", json!(50_000_000)),
        ]);
        let numbers = Numbers::new("polylla", &parameters, &counts);
        let rows = [
            row("half-edges", "check the mesh"),
            row("half-edges", "match twins"),
            row("half-edges", "all stages"),
        ];
        let bytes = |row: &Row| of_row(&numbers, row, &rows).map(|moved| moved.bytes);
        assert_eq!(bytes(&rows[0]), Some(400_000_000));
        assert_eq!(bytes(&rows[1]), Some(3_100_000_000));
        assert_eq!(bytes(&rows[2]), Some(3_500_000_000));
        assert_eq!(bytes(&row("as waited", "host arrays to host lists")), None);
        assert_eq!(bytes(&row("polylla", "repair barrier tips")), None);
    }

    #[test]
    fn a_round_on_few_triangles_has_the_floor_of_its_first_step() {
        let counts = map([
            ("vertices", json!(10)),
            ("triangles", json!(10)),
            ("edges", json!(20)),
            ("vertices_after", json!(11)),
            ("triangles_after", json!(12)),
        ]);
        let rows = [
            row("refine", "find longest edges"),
            row("refine", "divide edges and triangles"),
            row("refine", "check parts"),
            row("refine", "steps 1 to 7"),
        ];
        let bytes = |mark: &str| {
            let parameters = map([("precision", json!("f32")), ("mark", json!(mark))]);
            let numbers = Numbers::new("refine", &parameters, &counts);
            rows.iter()
                .map(|row| of_row(&numbers, row, &rows).map(|moved| moved.bytes))
                .collect::<Vec<_>>()
        };
        let labels = 12 * 10 + 8 * 10 + 10;
        assert_eq!(
            bytes("fraction:0.1"),
            [Some(labels), None, None, Some(labels)]
        );
        let divided = 36 * 10 + 8 * 10 + 24 * 12 + 8 + 4 * 12 + 4;
        assert_eq!(
            bytes("all"),
            [Some(labels), Some(divided), None, Some(labels + divided)]
        );
    }
}
