//! Refinement by the wanted edge lengths of a background.

use glam::DVec2;
use trioxide::fields::{Field, MeshFields, Values};
use trioxide::generate;
use trioxide::mesh::{Faces, Mesh, Triangulation};
use trioxide::outline::Outline;
use trioxide_operations::triangulate::Options;

use super::{ring, square, triangulate, with_notes};

/// A background with the field h.
fn background(mesh: &Triangulation, h: impl Fn(DVec2) -> f64) -> Mesh {
    let sizes: Vec<f64> = mesh.points.iter().map(|&p| h(p)).collect();
    Mesh {
        points: mesh.points.iter().map(|p| p.extend(0.0)).collect(),
        faces: Faces::Triangles(mesh.triangles.clone()),
        fields: MeshFields {
            points: [Field::scalars("h", sizes)].into_iter().collect(),
            ..MeshFields::default()
        },
        ..Mesh::default()
    }
}

fn by(background: Mesh) -> Options {
    Options {
        size: Some("h".to_owned()),
        background: Some(background),
        ..Options::default()
    }
}

fn outline(points: Vec<DVec2>) -> Outline {
    Outline {
        points,
        segments: ring(0, 1).to_vec(),
        ..Outline::default()
    }
}

/// The size at a place, of the first triangle that contains it.
fn size_at(mesh: &Triangulation, h: &dyn Fn(DVec2) -> f64, p: DVec2) -> f64 {
    let sizes = mesh.triangles.iter().filter_map(|t| {
        let [a, b, c] = t.map(|v| mesh.points[v as usize]);
        let area = |u: DVec2, v: DVec2| (u - p).perp_dot(v - p);
        let [u, v, w] = [area(b, c), area(c, a), area(a, b)];
        let is_in = u >= 0.0 && v >= 0.0 && w >= 0.0;
        is_in.then(|| (u * h(a) + v * h(b) + w * h(c)) / (u + v + w))
    });
    sizes.into_iter().next().unwrap_or(f64::INFINITY)
}

fn longest(mesh: &Triangulation, t: &[u32; 3]) -> f64 {
    let [a, b, c] = t.map(|v| mesh.points[v as usize]);
    a.distance(b).max(b.distance(c)).max(c.distance(a))
}

fn centroid(mesh: &Triangulation, t: &[u32; 3]) -> DVec2 {
    t.map(|v| mesh.points[v as usize]).iter().sum::<DVec2>() / 3.0
}

/// Small at the origin.
fn graded(p: DVec2) -> f64 {
    0.02 + 0.3 * p.length()
}

#[test]
fn edges_keep_the_sizes_of_a_background() {
    let under = generate::jittered(400, 1).unwrap();
    // A part of the outline is outside of the background.
    let outline = outline(square(0.0, 1.5).to_vec());
    for angle in [None, Some(25.0)] {
        let options = Options {
            angle,
            ..by(background(&under, graded))
        };
        let (mesh, notes) = with_notes(&outline, &options).unwrap();
        assert_eq!(notes, [""; 0]);
        let mut outside = 0;
        for t in &mesh.triangles {
            let size = size_at(&under, &graded, centroid(&mesh, t));
            assert!(longest(&mesh, t) <= size * (1.0 + 1e-9), "{t:?}");
            outside += usize::from(size == f64::INFINITY);
        }
        let near = |t: &&[u32; 3]| centroid(&mesh, t).length() < 0.2;
        let small = mesh.triangles.iter().filter(near).count();
        let all = mesh.triangles.len();
        assert!(small > 50 && all < 20 * small, "{small} of {all}");
        assert!(outside > 0, "{outside}");
    }
}

#[test]
fn sizes_go_with_areas() {
    let under = background(&generate::grid(25).unwrap(), |_| 0.3);
    let options = Options {
        area: Some(0.004),
        ..by(under)
    };
    let mesh = triangulate(&outline(square(0.0, 1.0).to_vec()), &options).unwrap();
    for t in &mesh.triangles {
        assert!(super::area(&mesh, t) <= 0.004 && longest(&mesh, t) <= 0.3);
    }
}

#[test]
fn numbers_of_the_background_change_nothing() {
    let under = generate::jittered(200, 3).unwrap();
    let n = under.points.len() as u32;
    let shuffled = Triangulation {
        points: under.points.iter().rev().copied().collect(),
        triangles: under
            .triangles
            .iter()
            .rev()
            .map(|t| t.map(|v| n - 1 - v))
            .collect(),
        ..Triangulation::default()
    };
    let of = |under: &Triangulation| {
        let outline = outline(square(0.1, 0.9).to_vec());
        triangulate(&outline, &by(background(under, graded))).unwrap()
    };
    assert_eq!(of(&under), of(&shuffled));
}

/// The centroid of the outline is on an edge of two triangles of different sizes.
#[test]
fn the_first_triangle_at_an_edge_has_the_size() {
    let points = [(-1.0, 0.0), (1.0, 0.0), (0.0, 3.0)].map(DVec2::from);
    let segments = ring(0, 1).map(|mut segment| {
        segment.ends = segment.ends.map(|v| v % 3);
        segment
    });
    let triangle = Outline {
        points: points.to_vec(),
        segments: segments[..3].to_vec(),
        ..Outline::default()
    };
    // Left and right of x = 0.
    let under = Triangulation {
        points: [
            (0., 9.),
            (-9., 0.),
            (0., -9.),
            (0., 9.),
            (0., -9.),
            (9., 0.),
        ]
        .map(DVec2::from)
        .to_vec(),
        triangles: vec![[0, 1, 2], [3, 4, 5]],
        ..Triangulation::default()
    };
    let count = |is_turned: bool| {
        let mut under = under.clone();
        if is_turned {
            under.triangles.reverse();
        }
        let mut mesh = background(&under, |_| 0.0);
        let sizes = vec![10.0, 10.0, 10.0, 2.5, 2.5, 2.5];
        mesh.fields.points = [Field::scalars("h", sizes)].into_iter().collect();
        triangulate(&triangle, &by(mesh)).unwrap().triangles.len()
    };
    assert_eq!(count(false), 1);
    assert!(count(true) > 1);
}

#[test]
fn wrong_backgrounds_are_refused() {
    let grid = generate::grid(9).unwrap();
    let right = background(&grid, |_| 1.0);
    let refusal = |mesh: Mesh| {
        let outline = outline(square(0.0, 1.0).to_vec());
        triangulate(&outline, &by(mesh)).unwrap_err().to_string()
    };
    let with = |field: Option<Field>| Mesh {
        fields: MeshFields {
            points: field.into_iter().collect(),
            ..MeshFields::default()
        },
        ..right.clone()
    };
    let sizes = |wrong: f64| {
        with(Some(Field::scalars(
            "h",
            vec![1., 1., wrong, 1., 1., 1., 1., 1., 1.],
        )))
    };
    let vectors = Field {
        name: "h".to_owned(),
        components: 3,
        values: Values::F64(vec![1.0; 27]),
    };
    let heat = Field::scalars("heat", vec![1.0; 9]);
    let with_heat = with(Some(heat));
    let clockwise = Mesh {
        faces: Faces::Triangles(vec![[0, 3, 1]]),
        ..right.clone()
    };
    let bent = Mesh {
        points: right.points.iter().map(|p| p.with_z(p.x)).collect(),
        ..right.clone()
    };
    let cloud = Mesh {
        faces: Faces::default(),
        ..right.clone()
    };
    let missing = Mesh {
        faces: Faces::Triangles(vec![[0, 1, 9]]),
        ..right.clone()
    };
    for (mesh, words) in [
        (
            with(None),
            "the mesh has no point field h, and no other: give it one",
        ),
        (with_heat, "the mesh has no point field h: name one of heat"),
        (
            with(Some(vectors)),
            "point field h with 3 numbers for each point",
        ),
        (
            sizes(0.0),
            "vertex 2 has the size 0, which is no edge length",
        ),
        (
            sizes(f64::INFINITY),
            "vertex 2 has the size inf, which is no edge length",
        ),
        (
            sizes(f64::NAN),
            "vertex 2 has the size NaN, which is no edge length",
        ),
        (
            sizes(-1.0),
            "vertex 2 has the size -1, which is no edge length",
        ),
        (clockwise, "triangle 0"),
        (missing, "triangle 0"),
        (bent, "z"),
        (cloud, "has 9 points and no triangles"),
    ] {
        let said = refusal(mesh);
        assert!(
            said.starts_with("the background: ") && said.contains(words),
            "{said}"
        );
    }
}
