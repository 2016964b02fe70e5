use glam::DVec2;

use super::*;

/// Squares of a grid of `columns` and `rows`.
fn squares(columns: u32, rows: u32) -> PolygonMesh {
    let mut mesh = PolygonMesh::default();
    let vertex = |x: u32, y: u32| y * (columns + 1) + x;
    for y in 0..=rows {
        mesh.points
            .extend((0..=columns).map(|x| DVec2::new(f64::from(x), f64::from(y))));
    }
    for (x, y) in (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y))) {
        mesh.polygons.push(&[
            vertex(x, y),
            vertex(x + 1, y),
            vertex(x + 1, y + 1),
            vertex(x, y + 1),
        ]);
    }
    mesh
}

fn until(pieces: usize) -> Goal {
    Goal {
        levels: None,
        until: Some(pieces),
    }
}

#[test]
fn pieces_of_a_grid_are_two_to_four_and_at_most_four_times_as_long_as_wide() {
    let mesh = squares(60, 60);
    let nested = levels(&mesh, until(4));
    assert!(!nested.is_stuck);
    for level in 1..=nested.levels() {
        let mut sizes = vec![0; nested.pieces(level)];
        for &parent in nested.parents(level) {
            sizes[parent as usize] += 1;
        }
        assert!(
            sizes.iter().all(|size| (2..=4).contains(size)),
            "level {level}"
        );
        let pieces = nested.mesh(&mesh, level);
        for polygon in pieces.polygons.iter() {
            let corners = polygon
                .iter()
                .map(|&v| [mesh.points[v as usize].in_space(); 2]);
            assert!(
                ratio(corners.reduce(around).unwrap(), false) <= 4.0,
                "level {level}"
            );
        }
    }
}

#[test]
fn nothing_is_enclosed() {
    // A square with another one inside, which touches it nowhere: a ring of 4 trapezia around it.
    let points = [
        (0, 0),
        (9, 0),
        (9, 9),
        (0, 9),
        (4, 4),
        (5, 4),
        (5, 5),
        (4, 5),
    ];
    let mut mesh = PolygonMesh {
        points: points.map(|(x, y)| DVec2::new(x.into(), y.into())).to_vec(),
        ..PolygonMesh::default()
    };
    for ring in [
        [0, 1, 5, 4],
        [1, 2, 6, 5],
        [2, 3, 7, 6],
        [3, 0, 4, 7],
        [4, 5, 6, 7],
    ] {
        mesh.polygons.push(&ring);
    }
    let nested = levels(&mesh, until(1));
    assert_eq!(nested.pieces(nested.levels()), 1);
    for level in 1..=nested.levels() {
        for polygon in nested.mesh(&mesh, level).polygons.iter() {
            let distinct: BTreeSet<_> = polygon.iter().collect();
            assert_eq!(distinct.len(), polygon.len());
        }
    }
    // Without the inner square the ring never closes.
    mesh.polygons.offsets.pop();
    mesh.polygons.vertices.truncate(16);
    let nested = levels(&mesh, until(1));
    assert!(nested.is_stuck);
    assert_eq!(nested.pieces(nested.levels()), 2);
}

#[test]
fn regions_segments_and_polygons_that_visit_a_vertex_twice_stay() {
    let mut mesh = squares(4, 2);
    mesh.regions = Some(vec![1, 1, 2, 2, 1, 1, 2, 2]);
    let nested = levels(&mesh, until(1));
    assert!(nested.is_stuck);
    let all = nested.ancestors(nested.levels());
    assert_eq!(all, [0, 0, 1, 1, 0, 0, 1, 1]);

    // A strip of squares has one way to be cut: boxes of 4 to 1, and longer ones where nothing else is left.
    let strip = squares(32, 1);
    let nested = levels(&strip, until(1));
    assert_eq!(nested.pieces(nested.levels()), 1);

    // A polygon that touches itself, around a triangle.
    let points = [(0, 0), (6, 0), (6, 6), (0, 6), (2, 2), (2, 4), (9, 3)];
    let mut pinched = PolygonMesh {
        points: points.map(|(x, y)| DVec2::new(x.into(), y.into())).to_vec(),
        ..PolygonMesh::default()
    };
    pinched.polygons.push(&[0, 1, 2, 3, 0, 5, 4]);
    pinched.polygons.push(&[0, 4, 5]);
    pinched.polygons.push(&[1, 6, 2]);
    let nested = levels(&pinched, until(1));
    assert!(nested.is_stuck && nested.levels() == 0);
}
