//! Bytes that each launch of a kernel must move from and to memory: what it needs read once, what it gives written once, what it
//! changes in place read and written.
//!
//! The formulas are written over the bytes of the arrays that the launch took, in the order of the kernel's parameters, so they
//! hold for any mesh and precision. Of arrays of which a kernel reads a part that depends on the mesh, only what is surely read
//! counts. A kernel without formula has none that would say something: it does little, or what it reads depends on the mesh.

use serde_json::{Map, Value};
use trioxide::backend::Launched;

use super::timing::Moved;

/// A launch, and what is known of the run.
struct Call<'a> {
    launched: &'a Launched,
    counts: &'a Map<String, Value>,
}

impl Call<'_> {
    /// Bytes of array `i`.
    fn array(&self, i: usize) -> f64 {
        self.launched.arrays[i].bytes as f64
    }

    /// Bytes of several arrays.
    fn arrays<const N: usize>(&self, which: [usize; N]) -> f64 {
        which.iter().map(|&i| self.array(i)).sum()
    }

    /// Bytes of all its arrays.
    fn all(&self) -> f64 {
        self.launched
            .arrays
            .iter()
            .map(|array| array.bytes)
            .sum::<u64>() as f64
    }

    /// Indices, or blocks.
    fn n(&self) -> f64 {
        f64::from(self.launched.n)
    }

    /// What the run counted; `None` where it did not.
    fn count(&self, name: &str) -> Option<f64> {
        self.counts.get(name)?.as_f64()
    }

    /// Bytes of the points `points` if the launch works on all elements of array `of`, of which one takes `each` bytes: else which
    /// points it reads depends on the mesh.
    fn points_of_all(&self, points: usize, of: usize, each: f64) -> f64 {
        match self.n() * each >= self.array(of) {
            true => self.array(points),
            false => 0.0,
        }
    }

    /// Moving nodes of a sweep over `rows`, array 0.
    fn moving(&self) -> f64 {
        self.array(0) / 4.0 - 1.0
    }
}

/// What the launches of one kernel moved in a run; `None` where there is no formula.
pub fn of_launches(counts: &Map<String, Value>, launches: &[Launched]) -> Option<Moved> {
    let mut bytes = 0.0;
    let mut what = "";
    for launched in launches {
        let moved = of_call(&Call { launched, counts })?;
        bytes += moved.0;
        what = moved.1;
    }
    (!launches.is_empty()).then_some(Moved {
        bytes: bytes.round() as u64,
        what,
    })
}

/// The kernel of an entry, without what says which instance it is.
fn kernel_of(entry: &str) -> &str {
    let mut name = entry;
    for end in ["_f32", "_f64"] {
        name = name.strip_suffix(end).unwrap_or(name);
    }
    for layout in ["_soa", "_aos", "_aligned"] {
        name = name.strip_suffix(layout).unwrap_or(name);
    }
    name
}

type Formula = Option<(f64, &'static str)>;

fn of_call(c: &Call<'_>) -> Formula {
    if let Some(moves) = c.launched.moves {
        return Some((moves.bytes as f64, moves.formula));
    }
    let kernel = kernel_of(c.launched.entry);
    collective(c, kernel)
        .or_else(|| half_edges(c, kernel))
        .or_else(|| polylla(c, kernel))
        .or_else(|| indexed(c, kernel))
        .or_else(|| refine(c, kernel))
        .or_else(|| refine_tets(c, kernel))
        .or_else(|| cells(c, kernel))
        .or_else(|| order(c, kernel))
        .or_else(|| sweeps(c, kernel))
}

fn collective(c: &Call<'_>, kernel: &str) -> Formula {
    Some(match kernel {
        "sum_tiles" => (c.all(), "values read; sums written"),
        "scan_sums" => (c.all() + c.array(0), "values read, written; total written"),
        "scan_tiles" => (c.all() + c.array(0), "values read, written; sums read"),
        "count_bits" => (c.all(), "bits read; counts written"),
        "list_bits" => (c.all(), "bits, counts read; list written"),
        "count_keys" => (c.all() + c.array(1), "keys read; counts read, written"),
        "fill_buckets" => (
            c.all() + c.array(1),
            "keys read; offsets read, written; items written",
        ),
        // Those in order stay where they are.
        "order_buckets" => (c.all(), "offsets, items read"),
        _ => return None,
    })
}

fn half_edges(c: &Call<'_>, kernel: &str) -> Formula {
    Some(match kernel {
        "check_points" => (c.array(0), "points read"),
        "check_triangles" => (c.arrays([0, 1]), "origins, points read"),
        // An edge, two half-edges, has one slot.
        "match_twins" => (
            2.0 * c.array(0) + c.array(2),
            "origins read; a slot an edge written, read; twins written",
        ),
        "mark_boundary" => (c.arrays([0, 2]), "twins read; bits written"),
        "find_half_edges_of_vertices" => (
            c.array(0) + 2.0 * c.array(1),
            "origins read; half-edges of vertices read, written",
        ),
        _ => return None,
    })
}

fn polylla(c: &Call<'_>, kernel: &str) -> Formula {
    // Half-edges along all polygons, in bytes.
    let along = || Some(4.0 * c.count("corners")?);
    Some(match kernel {
        "label_longest_edges" => (
            c.arrays([0, 1, 3]),
            "origins, points read; bits of longest edges written",
        ),
        "label_frontier_edges" => (
            c.all(),
            "twins, bits of longest edges read; frontier and seed bits written",
        ),
        "link_frontier_edges" => (
            c.all(),
            "twins, frontier bits read; next, prev, tip bits written",
        ),
        // Its other launches begin at the few new edges of repaired polygons.
        "mark_polygons" if Some(c.n()) == c.count("regions") => (
            c.array(0) + along()?,
            "seeds, next along their polygons read",
        ),
        "mark_polygons" => (c.array(0), "seeds, next along their polygons read"),
        "count_vertices" => (
            2.0 * c.array(0) + along()?,
            "half-edges, next along polygons read; counts written",
        ),
        // `vertices` are as long as what is read along polygons.
        "write_polygons" => (
            c.arrays([0, 3, 5]) + 3.0 * c.array(4),
            "half-edges, offsets, next and origins along polygons read; vertices, bits written",
        ),
        _ => return None,
    })
}

fn indexed(c: &Call<'_>, kernel: &str) -> Formula {
    Some(match kernel {
        "find_neighbours" => (c.all(), "twins read; neighbours written"),
        "find_trivertex" => (c.all(), "half-edges of vertices read; triangles written"),
        "label_max" => (
            c.arrays([0, 1, 3]),
            "triangles, points read; two bits a triangle written",
        ),
        "label_seed" => (
            4.0 * c.n() + c.arrays([1, 2, 3]),
            "longest edges, the neighbour there read; bits written",
        ),
        "label_frontier" => (
            c.all(),
            "neighbours, longest edges read; frontier bits written",
        ),
        "measure_polygons" => (
            c.arrays([0, 2, 3, 4, 5]),
            "seeds, neighbours, frontier bits read; starts, sizes written",
        ),
        "append_polygons" => (
            c.all(),
            "triangles, neighbours, frontier bits, starts, positions read; polygons, bits written",
        ),
        "count_starts" => (c.all(), "bits read; counts written"),
        "gather_polygons" => (
            c.arrays([0, 2]) + 2.0 * c.array(6),
            "starts, positions, polygons read; vertices written",
        ),
        _ => return None,
    })
}

fn refine(c: &Call<'_>, kernel: &str) -> Formula {
    let n = c.n();
    Some(match kernel {
        "mark_owners" => (c.all(), "twins read; bits written"),
        "number_sides" => (c.all(), "owners, twins read; sides, halves written"),
        "find_longest_edges" => (
            c.array(0) + 13.0 * n + c.points_of_all(2, 1, 12.0),
            "corners, points read; labels written",
        ),
        "link_sides" => (c.array(0) + 24.0 * n, "sides read; halves written"),
        "check_parts" => (
            c.array(0) + 12.0 * n + c.points_of_all(2, 1, 12.0),
            "corners, points read",
        ),
        "mark_divided_edges" => (c.all(), "halves, labels, marks read; bits written"),
        "flag_divided_sides" => (c.all(), "sides, bits of edges read; flags written"),
        "count_divided_sides" => (c.all(), "flags read; sums written"),
        // All but tags, which few meshes have.
        "divide_all_triangles" => (
            c.all() - c.array(10),
            "flags, sums, halves, labels, corners, sides, old points read; corners, sides, new points, parents written",
        ),
        _ => return None,
    })
}

fn refine_tets(c: &Call<'_>, kernel: &str) -> Formula {
    let n = c.n();
    // A word for each edge.
    let edges = || Some(4.0 * c.count("edges")?);
    Some(match kernel {
        "check_tet_points" => (c.array(0), "points read"),
        "check_tetrahedra" => (
            c.arrays([0, 4]) + 16.0 * n + c.points_of_all(2, 1, 16.0),
            "tetrahedra, points read; bits written",
        ),
        "meet_tet_edges" => (
            c.arrays([0, 2]) + 2.0 * edges()?,
            "tetrahedra read; a word an edge of the table read, written; slots written",
        ),
        "mark_first_tet_edges" => (
            c.arrays([0, 2]) + edges()?,
            "slots, a word an edge of the table read; bits written",
        ),
        "number_tet_edges" => (12.0 * n, "first uses, slots read; ids written"),
        "link_tet_edges" => (
            edges()? + 2.0 * c.arrays([1, 2]) + c.array(3),
            "a word an edge of the table read; edges, last uses read, written; links written",
        ),
        "order_tet_edges" => (
            c.arrays([0, 1, 3]),
            "tetrahedra, points read; orders written",
        ),
        "mark_edges_of_tets" => (
            4.0 * c.n() + c.arrays([0, 1, 3]),
            "marks, orders, the longest edge read; bits of edges written",
        ),
        "count_tet_children" => (
            40.0 * n + c.array(3),
            "tetrahedra in the list, orders, edges, bits read; divisions, counts written",
        ),
        // Of each edge in the list 28 bytes besides points: two words read there, two of a tetrahedron, three written.
        "place_tet_midpoints" => (
            28.0 * n + c.array(3),
            "list, first uses, ends, points read; midpoints, parents written",
        ),
        // Each tetrahedron of the list is read and written in place; behind all of them stand the new ones.
        "write_tet_children" => (
            72.0 * n + c.array(4) + (c.count("cells_after")? - c.count("cells")?) * 20.0,
            "list, divisions, edges, midpoints, tetrahedra, parents read; tetrahedra, parents written",
        ),
        _ => return None,
    })
}

/// Relations of a volume mesh.
fn cells(c: &Call<'_>, kernel: &str) -> Formula {
    Some(match kernel {
        "check_nodes" => (c.array(0), "points read"),
        "check_cells" => (c.arrays([0, 1]), "cells read"),
        "mark_heavy" => (c.all(), "starts read; bits written"),
        "gather_neighbours" => (
            c.arrays([0, 1, 2, 3, 4, 6, 7]) + 4.0 * c.count("neighbours")?,
            "cells, starts, corners read; lists, counts, bits written",
        ),
        "move_lists" => (
            c.arrays([0, 2, 3]) + 2.0 * c.array(4),
            "starts, lists, bits, rows read; neighbours written",
        ),
        "mark_boundary_faces" => (c.arrays([0, 1, 2, 3, 4]), "cells, starts, corners read"),
        "measure_cells" => (c.arrays([0, 1, 2, 3]), "cells, points read"),
        "join_bits" => (c.all() + c.array(1), "bits read, written"),
        _ => return None,
    })
}

/// Order of the nodes.
fn order(c: &Call<'_>, kernel: &str) -> Formula {
    let n = c.n();
    Some(match kernel {
        "mark_moving" => (c.all(), "bits, rows read; bits written"),
        "count_up" => (c.all(), "list written"),
        "key_nodes" => (c.all(), "points read; keys written"),
        "split_by_bit" => (c.all(), "list, keys read; bits written"),
        "split_moving" => (c.all(), "list, bits read; bits written"),
        "select_class" => (c.all(), "list, classes read; bits written"),
        "pick" => (12.0 * n, "places, items read; items written"),
        "rank_nodes" => (8.0 * n, "order read; ranks written"),
        "measure_row" => (12.0 * n, "order, rows read; lengths written"),
        "order_row" => (
            8.0 * n + c.arrays([1, 5]) + 2.0 * c.arrays([6, 7]),
            "order, ranks, rows, neighbours read; neighbours written",
        ),
        "arrange" | "restore" => (c.all(), "order, points read; points written"),
        _ => return None,
    })
}

/// Sweeps: of the nodes, those that move are written.
fn sweeps(c: &Call<'_>, kernel: &str) -> Formula {
    let nodes = || c.count("vertices");
    Some(match kernel {
        "sweep_form_a" => (
            c.arrays([0, 1, 2, 3]) + c.array(4) * c.moving() / nodes()?,
            "rows, neighbours, points read; points of what moves written",
        ),
        "sweep_racing" => (
            c.arrays([0, 1, 2, 3]) + c.array(3) * c.moving() / nodes()? + 8.0 * c.moving(),
            "rows, neighbours, points read; points of what moves, squared moves written",
        ),
        // A class has its share of all that a sweep moves.
        "sweep_class" => {
            let share = (c.n() * f64::from(gpu::smooth::SWEEP_LANES) / c.moving()).min(1.0);
            let moved = c.arrays([0, 1, 2, 3]) + c.array(3) * c.moving() / nodes()?;
            (
                share * (moved + 8.0 * c.moving()),
                "rows, neighbours, points read once a sweep; points of what moves, squared moves written",
            )
        }
        "square_moves" => (
            c.array(2) + c.arrays([0, 1]) * c.n() / nodes()?,
            "points of what moves read; squared moves written",
        ),
        "sum_moves" => (c.all(), "ranks, squared moves read; sums written"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::names::map;
    use super::*;

    fn launched(entry: &'static str, n: u32, arrays: &[u64]) -> Launched {
        Launched {
            entry,
            n,
            arrays: arrays.to_vec(),
            milliseconds: 1.0,
        }
    }

    #[test]
    fn instances_are_of_their_kernel() {
        for (entry, kernel) in [
            ("count_bits", "count_bits"),
            ("check_points_f32", "check_points"),
            ("sweep_form_a_aligned_f64", "sweep_form_a"),
            ("sweep_guarded_soa_f32", "sweep_guarded"),
        ] {
            assert_eq!(kernel_of(entry), kernel);
        }
    }

    #[test]
    fn bytes_of_launches_are_added_up() {
        let none = Map::new();
        let bytes = |counts: &Map<String, Value>, launches: &[Launched]| {
            of_launches(counts, launches).map(|moved| moved.bytes)
        };
        // 1000 values, of which 4 words are the sums.
        let scans = [
            launched("scan_tiles", 4, &[4000, 16]),
            launched("scan_tiles", 2, &[2000, 8]),
        ];
        assert_eq!(bytes(&none, &scans), Some(2 * 6000 + 24));
        assert_eq!(
            bytes(&none, &[launched("cut_weakly_simple", 1, &[4])]),
            None
        );
        assert_eq!(bytes(&none, &[]), None);
        // A list of triangles leaves open which points are read.
        let label = |n| launched("find_longest_edges_f64", n, &[0, 1200, 800, 1200, 100]);
        assert_eq!(bytes(&none, &[label(100)]), Some(1300 + 800));
        assert_eq!(bytes(&none, &[label(10)]), Some(130));
    }

    #[test]
    fn classes_of_a_sweep_move_together_what_a_sweep_moves() {
        let counts = map([("vertices", json!(1024))]);
        // 512 of 1024 nodes move, in two classes of a block each.
        let class = launched(
            "sweep_class_aos_f64",
            1,
            &[4 * 513, 8000, 0, 24 * 1024, 8 * 512, 8],
        );
        let whole = 4 * 513 + 8000 + 24 * 1024 + 24 * 512 + 8 * 512;
        let moved = of_launches(&counts, &[class.clone(), class]).unwrap();
        assert_eq!(moved.bytes, whole);
    }
}
