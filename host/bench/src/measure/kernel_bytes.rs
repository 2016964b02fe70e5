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

    /// Bytes that at most `n` words of table `i` take.
    fn words_of(&self, i: usize) -> f64 {
        self.array(i).min(4.0 * self.n())
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
    for end in ["_f32", "_f64", "_plain", "_guarded"] {
        // `sweep_guarded` is a kernel of its own, and all its entries end with a precision.
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
    weld(c, kernel)
        .or_else(|| cells(c, kernel))
        .or_else(|| order(c, kernel))
        .or_else(|| sweeps(c, kernel))
}

fn weld(c: &Call<'_>, kernel: &str) -> Formula {
    Some(match kernel {
        "place_points" => (c.arrays([0, 1, 3]), "points read; keys written"),
        "count_points" => (
            c.arrays([0, 2]) + 2.0 * c.words_of(1),
            "keys read; counts read, written; ranks written",
        ),
        "measure_buckets" => (c.array(0), "counts read"),
        "gather_points" => (
            c.arrays([0, 1, 2, 3, 6, 7]) + c.words_of(4),
            "points, keys, ranks, offsets read; sites written, and points in their order where ids do not follow space",
        ),
        "note_lower_neighbours" => (
            c.arrays([0, 3, 10]),
            "points, sites read; states written; lists of neighbours not counted",
        ),
        "decide_pieces" => (
            c.arrays([0, 3]) + 2.0 * c.array(2),
            "states read, written; bits written; lists of neighbours not counted",
        ),
        "assign_points" => (
            c.arrays([10, 11]),
            "states read; representatives written; lists of neighbours not counted",
        ),
        "mark_representatives" => (c.all(), "representatives read; bits written"),
        "count_in_words" => (c.all(), "bits read; counts written"),
        "number_clusters" => (
            c.all(),
            "representatives, bits, counts read; map, keys written",
        ),
        "average_points" => (
            c.all(),
            "representatives, offsets, members, points read; positions written",
        ),
        "take_first_points" => (
            c.array(0) + 2.0 * c.array(2),
            "representatives, their points read; positions written",
        ),
        // Each face that is left has a slot.
        "claim_faces" => (
            c.arrays([0, 1, 5]) + 8.0 * c.count("welded_triangles")?,
            "faces, map, a slot a face left read; slots, bits written",
        ),
        "drop_bits" => (c.all() + c.array(1), "bits read, written"),
        "remap_faces" => (
            c.arrays([0, 2]) + 2.0 * c.array(3),
            "list, its faces, map read; faces written",
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
            ("assign_points_guarded", "assign_points"),
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
        // What needs a count has no bytes without it.
        let claim = [launched("claim_faces", 10, &[120, 40, 320, 4, 4, 4])];
        assert_eq!(bytes(&none, &claim), None);
        let counts = map([("welded_triangles", json!(5))]);
        assert_eq!(bytes(&counts, &claim), Some(120 + 40 + 4 + 40));
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
