//! Half-edges from a list of triangles (gpolylla-2023, section 4).

use crate::edge_table::EdgeTable;
use crate::mesh::{HalfEdges, NONE};

/// The half-edges of `triangles` over `vertices` vertices, in the numbering that [`HalfEdges`] documents.
///
/// # Panics
/// When an edge belongs to more than two triangles: check the triangulation first.
pub fn half_edges(triangles: &[[u32; 3]], vertices: usize) -> HalfEdges {
    from_edge_table(
        triangles,
        vertices,
        &EdgeTable::of_triangles(vertices, triangles),
    )
}

/// As [`half_edges()`], where `edges` are the table of the triangles.
///
/// # Panics
/// As [`half_edges()`].
pub fn from_edge_table(triangles: &[[u32; 3]], vertices: usize, edges: &EdgeTable) -> HalfEdges {
    let inner = 3 * triangles.len();
    let mut origin: Vec<u32> = triangles.as_flattened().to_vec();

    // Twins of the half-edges that have one in a triangle.
    let mut twin = vec![NONE; inner];
    for (ends, group) in edges.edges() {
        match *group {
            [_] => {}
            [(_, g), (_, h)] => {
                twin[g as usize] = h;
                twin[h as usize] = g;
            }
            _ => panic!(
                "edge {}-{} belongs to {} triangles: validate the triangulation first",
                ends[0],
                ends[1],
                group.len()
            ),
        }
    }

    // Border half-edges, in the order of their twins.
    for h in 0..inner {
        if twin[h] == NONE {
            twin[h] = twin.len() as u32;
            twin.push(h as u32);
            origin.push(triangles[h / 3][(h + 1) % 3]);
        }
    }

    let mut next: Vec<u32> = (0..inner as u32).map(next_in_triangle).collect();
    let mut prev: Vec<u32> = (0..inner as u32).map(prev_in_triangle).collect();
    next.resize(twin.len(), NONE);
    prev.resize(twin.len(), NONE);
    for border in inner..twin.len() {
        // The border half-edge ends at the vertex where its twin starts. The fan of triangles there, from the twin on
        // counter-clockwise, ends with the boundary edge whose border half-edge follows.
        let mut e = prev_in_triangle(twin[border]);
        while (twin[e as usize] as usize) < inner {
            e = prev_in_triangle(twin[e as usize]);
        }
        next[border] = twin[e as usize];
        prev[twin[e as usize] as usize] = border as u32;
    }

    let mut of_vertex = vec![NONE; vertices];
    for (h, &v) in origin[..inner].iter().enumerate().rev() {
        of_vertex[v as usize] = h as u32;
    }

    HalfEdges {
        origin,
        twin,
        next,
        prev,
        of_vertex,
        triangles: triangles.len() as u32,
    }
}

/// The half-edge after `h` around its triangle.
pub fn next_in_triangle(h: u32) -> u32 {
    h - h % 3 + (h + 1) % 3
}

/// The half-edge before `h` around its triangle.
pub fn prev_in_triangle(h: u32) -> u32 {
    h - h % 3 + (h + 2) % 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_triangle() {
        let he = half_edges(&[[2, 0, 3]], 4);
        assert_eq!(he.origin, [2, 0, 3, 0, 3, 2]);
        assert_eq!(he.twin, [3, 4, 5, 0, 1, 2]);
        // Border 3 runs 0 -> 2, border 4 runs 3 -> 0, border 5 runs 2 -> 3.
        assert_eq!(he.next, [1, 2, 0, 5, 3, 4]);
        assert_eq!(he.prev, [2, 0, 1, 4, 5, 3]);
        assert_eq!(he.of_vertex, [1, NONE, 0, 2]);
        assert_eq!(he.triangles, 1);
    }

    #[test]
    fn two_triangles() {
        //  3---2
        //  | / |
        //  0---1
        let he = half_edges(&[[0, 1, 2], [2, 3, 0]], 4);
        assert_eq!(he.origin, [0, 1, 2, 2, 3, 0, 1, 2, 3, 0]);
        assert_eq!(he.twin, [6, 7, 5, 8, 9, 2, 0, 1, 3, 4]);
        // Border: 6 = 1 -> 0, 7 = 2 -> 1, 8 = 3 -> 2, 9 = 0 -> 3, clockwise around the square.
        assert_eq!(he.next[6..], [9, 6, 7, 8]);
        assert_eq!(he.prev[6..], [7, 8, 9, 6]);
        assert_eq!(he.of_vertex, [0, 1, 2, 4]);
    }

    #[test]
    fn no_triangle() {
        let he = half_edges(&[], 2);
        assert_eq!(he.of_vertex, [NONE, NONE]);
        assert!(he.origin.is_empty());
    }

    #[test]
    fn border_stays_in_its_fan_at_a_pinch_vertex() {
        // Two triangles that touch at vertex 0 only: two loops of three border half-edges, not one of six.
        let he = half_edges(&[[0, 1, 2], [0, 3, 4]], 5);
        for border in 6..12 {
            let same_triangle = |a: u32, b: u32| he.twin[a as usize] / 3 == he.twin[b as usize] / 3;
            assert!(same_triangle(border, he.next[border as usize]));
            assert!(same_triangle(border, he.prev[border as usize]));
        }
    }

    #[test]
    #[should_panic = "edge 0-1 belongs to 3 triangles: validate the triangulation first"]
    fn refuses_an_edge_of_three_triangles() {
        half_edges(&[[0, 1, 2], [1, 0, 3], [0, 1, 4]], 5);
    }

    #[test]
    fn a_hub_of_many_triangles_takes_linear_time() {
        let n = 300_000;
        let fan: Vec<[u32; 3]> = (1..n).map(|i| [0, i, i + 1]).collect();
        let he = half_edges(&fan, n as usize + 1);
        assert_eq!(he.twin.len(), 3 * fan.len() + n as usize + 1);
    }
}
