use super::*;
use trioxide::mesh::PolygonMesh;
use trioxide_reference as reference;

/// A square around vertex 4, with its polygons: four triangles, as every triangle's longest edge is on the boundary.
fn square() -> (Vec<DVec2>, HalfEdges, PolyllaMesh) {
    let points = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.5, 0.5)]
        .map(|(x, y)| DVec2::new(x, y))
        .to_vec();
    let he = reference::half_edges(&[[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]], 5);
    let (mesh, _) = reference::polylla(&points, &he, |_| false, trioxide::mesh::Ties::Edge);
    (points, he, mesh)
}

fn polygon_mesh_of(polygons: &[&[u32]]) -> PolygonMesh {
    let mut mesh = PolygonMesh {
        points: square().0,
        ..Default::default()
    };
    for polygon in polygons {
        mesh.polygons.push(polygon);
    }
    mesh
}

#[test]
fn accepts_the_reference() {
    let (points, he, mesh) = square();
    let expected = Summary {
        polygons: 4,
        weakly_simple: 0,
        area: 1.0,
    };
    assert_eq!(polylla(&points, &he, &mesh, |_| false).unwrap(), expected);
    assert_eq!(polylla(&points, &he, &mesh, |_| true).unwrap(), expected);
    let lists = polygons_of(&points, &he, &mesh.polygons, |_| false).unwrap();
    assert_eq!(lists, expected);
    let alone = PolygonMesh {
        points,
        polygons: mesh.polygons,
        regions: None,
        segments: Vec::new(),
    };
    assert_eq!(polygon_mesh(&alone).unwrap(), expected);
}

#[test]
fn finds_any_changed_entry() {
    let (points, he, good) = square();
    let arrays: [fn(&mut PolyllaMesh) -> &mut Vec<u32>; 5] = [
        |mesh| &mut mesh.next,
        |mesh| &mut mesh.prev,
        |mesh| &mut mesh.half_edges,
        |mesh| &mut mesh.polygons.vertices,
        |mesh| &mut mesh.polygons.offsets,
    ];
    for array in arrays {
        for i in 0..array(&mut good.clone()).len() {
            for wrong in [0, 1, 4, 100, NONE] {
                let mut bad = good.clone();
                if std::mem::replace(&mut array(&mut bad)[i], wrong) != wrong {
                    let result = polylla(&points, &he, &bad, |_| false);
                    assert!(result.is_err(), "entry {i} as {wrong}: {bad:?}");
                }
            }
        }
    }
}

#[test]
fn names_the_polygon_and_the_rule() {
    let cases: [(&[&[u32]], &str); 7] = [
        (&[&[0, 1]], "polygon 0 has 2 vertices: 3 is the least"),
        (
            &[&[0, 1, 7]],
            "polygon 0 has vertex 7, but the mesh has 5 vertices",
        ),
        (
            &[&[0, 1, 4], &[1, 1, 2, 4]],
            "polygon 1 has an edge from vertex 1 to itself (`convert --triangles` divides polygons, then `repair --all` mends the triangles)",
        ),
        (
            &[&[0, 1, 2, 3, 4, 3]],
            "polygon 0 has a spike: vertices 3, 4, 3 in a row (`convert --triangles` divides polygons, then `repair --all` mends the triangles)",
        ),
        (
            &[&[0, 4, 1]],
            "polygon 0 has area -0.25: polygons must run counter-clockwise (`repair --orient` turns them)",
        ),
        (
            &[&[0, 1, 4], &[0, 1, 2]],
            "edge 0-1 has two polygons on its left side: they overlap (`convert --triangles` divides polygons, then `repair --all` mends the triangles)",
        ),
        (
            &[&[0, 2, 4]],
            "polygon 0 has area 0: polygons must run counter-clockwise (`convert --triangles` divides polygons, then `repair --all` mends the triangles)",
        ),
    ];
    for (polygons, expected) in cases {
        let error = polygon_mesh(&polygon_mesh_of(polygons)).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    // Areas that a double does not hold: infinite, and the difference of infinities.
    let mut mesh = polygon_mesh_of(&[&[0, 1, 2, 3]]);
    for (scale, largest) in [(1e200, "1e200"), (1.5e308, "1.5e308")] {
        for (v, [x, y]) in [[-0.5, -1.0], [0.5, -1.0], [0.5, 0.9], [-0.5, 0.9]]
            .into_iter()
            .enumerate()
        {
            mesh.points[v] = scale * DVec2::new(x, y);
        }
        let error = polygon_mesh(&mesh).unwrap_err().to_string();
        let expected = "polygon 0 has an area beyond double precision, with vertex 1 at";
        assert!(
            error.starts_with(expected) && error.contains(largest),
            "{error}"
        );
    }
}

#[test]
fn counts_weakly_simple_polygons() {
    // Vertex 4 is visited twice: two triangles in one walk.
    let summary = polygon_mesh(&polygon_mesh_of(&[&[0, 1, 4, 2, 3, 4]])).unwrap();
    assert_eq!(summary.weakly_simple, 1);
}

#[test]
fn polygons_must_cover_the_triangulation() {
    let (points, he, _) = square();
    let check = |lists: &[&[u32]]| {
        let mut polygons = Polygons::default();
        lists.iter().for_each(|list| polygons.push(list));
        polygons_of(&points, &he, &polygons, |_| false)
    };
    let error = |lists: &[&[u32]]| check(lists).unwrap_err().to_string();
    assert!(check(&[&[4, 2, 3], &[4, 3, 0], &[1, 2, 4, 0]]).is_ok());
    assert_eq!(
        error(&[&[0, 1, 4], &[1, 2, 4], &[2, 3, 4]]),
        "half-edge 2 breaks: next and prev of both half-edges of an edge are set, or none is"
    );
    assert_eq!(
        error(&[&[4, 2, 3], &[4, 3, 0], &[1, 2, 4, 0], &[0, 1, 4]]),
        "polygon 3 has edge 0-1 a second time"
    );
    // All around the inner vertex: its triangles form a ring.
    assert_eq!(
        error(&[&[0, 1, 2, 3]]),
        "polygon 0 surrounds triangles that do not form a tree"
    );
    assert_eq!(
        error(&[&[0, 1, 2], &[2, 3, 0]]),
        "polygon 0 has edge 2-0, to whose left there is no triangle"
    );
}
