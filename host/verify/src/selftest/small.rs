//! Small meshes, each with a feature that a large random one seldom has.

use glam::DVec2;

use super::NamedMesh;
use trioxide::mesh::Triangulation;

pub fn meshes() -> Vec<NamedMesh> {
    vec![
        named(
            "one triangle",
            &[(0.0, 0.0), (2.0, 0.0), (0.0, 1.0)],
            &[[0, 1, 2]],
        ),
        named(
            "two triangles",
            &[(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)],
            &[[0, 1, 2], [0, 2, 3]],
        ),
        named(
            "two triangles that touch at a vertex",
            &[(0.0, 0.0), (1.0, 0.0), (0.5, 1.0), (1.0, 2.0), (0.0, 2.0)],
            &[[0, 1, 2], [2, 3, 4]],
        ),
        // A region around a triangular hole, whose polygon comes back to vertex 3 from the other side.
        named(
            "a weakly simple polygon",
            &[
                (15.0, 10.0),
                (12.0, 13.0),
                (11.0, 6.0),
                (13.0, 5.0),
                (12.0, 5.0),
                (4.0, 14.0),
                (13.0, 0.0),
            ],
            &[
                [2, 0, 1],
                [3, 0, 2],
                [5, 2, 1],
                [4, 6, 3],
                [4, 2, 6],
                [2, 5, 6],
                [3, 6, 0],
            ],
        ),
        ("a strip".to_owned(), strip(200)),
        ("a fan of 300, two polygons".to_owned(), fan(300)),
        ("equal edges".to_owned(), equal_edges(24)),
    ]
}

fn named(name: &str, points: &[(f64, f64)], triangles: &[[u32; 3]]) -> NamedMesh {
    let mesh = Triangulation {
        points: points.iter().map(|&(x, y)| DVec2::new(x, y)).collect(),
        triangles: triangles.to_vec(),
        ..Default::default()
    };
    (name.to_owned(), mesh)
}

/// A row of n squares, each higher than the one before: every edge across leads to a longer one.
fn strip(n: u32) -> Triangulation {
    let point = |i: u32| {
        let height = 1.0 + f64::from(i / 2) / 64.0;
        DVec2::new(
            f64::from(i / 2),
            if i.is_multiple_of(2) { 0.0 } else { height },
        )
    };
    let squares = (0..n).map(|i| 2 * i);
    Triangulation {
        points: (0..2 * (n + 1)).map(point).collect(),
        triangles: squares
            .flat_map(|i| [[i, i + 2, i + 3], [i, i + 3, i + 1]])
            .collect(),
        ..Default::default()
    }
}

/// Triangles around one vertex, whose spokes grow: one long region, and polygons of many vertices.
fn fan(n: u32) -> Triangulation {
    let spoke = |i: u32| {
        let angle = std::f64::consts::PI * f64::from(i) / f64::from(n);
        DVec2::new(1.0 - angle / 4.0, angle) * (1.0 + f64::from(i) / f64::from(n))
    };
    let mut points = vec![DVec2::ZERO];
    points.extend((0..=n).map(spoke));
    Triangulation {
        points,
        triangles: (1..=n).map(|i| [0, i, i + 1]).collect(),
        ..Default::default()
    }
}

/// Right triangles whose legs are the same length, in a grid whose squares are cut alternately: lengths tie everywhere.
fn equal_edges(k: u32) -> Triangulation {
    let vertex = |i: u32, j: u32| j * (k + 1) + i;
    let points = (0..=k).flat_map(|j| (0..=k).map(move |i| DVec2::new(f64::from(i), f64::from(j))));
    let mut triangles = Vec::new();
    for j in 0..k {
        for i in 0..k {
            let [a, b, c, d] = [
                vertex(i, j),
                vertex(i + 1, j),
                vertex(i + 1, j + 1),
                vertex(i, j + 1),
            ];
            if (i + j) % 2 == 0 {
                triangles.extend([[a, b, c], [a, c, d]]);
            } else {
                triangles.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    // A lattice of rhombi with one diagonal as long as a side: every edge of every triangle is equal in length.
    let lattice = points.map(|p| DVec2::new(p.x, p.y));
    Triangulation {
        points: lattice.collect(),
        triangles,
        ..Default::default()
    }
}
