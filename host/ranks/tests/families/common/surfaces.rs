//! Surfaces in space: closed ones, open ones, several components, edges of one length.

use std::f64::consts::TAU;

use trioxide::glam::{DVec3, dvec3};
use trioxide::mesh::{Segment, Triangulation};

pub type Surface = Triangulation<DVec3>;

/// The triangles in an order that does not follow their places.
fn mixed(points: Vec<DVec3>, mut triangles: Vec<[u32; 3]>) -> Surface {
    triangles.sort_by_key(|&[a, b, c]| {
        let id = u64::from(a) << 40 ^ u64::from(b) << 20 ^ u64::from(c);
        id.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
    });
    Triangulation {
        points,
        triangles,
        ..Triangulation::default()
    }
}

/// Quadrilaterals in `rows` of `columns`, cut along a diagonal; their vertices by row and column.
fn cut(rows: u32, columns: u32, vertex: impl Fn(u32, u32) -> u32) -> Vec<[u32; 3]> {
    let cells = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
    let of_cell = cells.flat_map(|(i, j)| {
        let [a, b] = [vertex(i, j), vertex(i, j + 1)];
        let [d, c] = [vertex(i + 1, j), vertex(i + 1, j + 1)];
        [[a, b, c], [a, c, d]]
    });
    of_cell.collect()
}

/// A torus, uneven; cut open it is a patch with a border, from which some triangles are taken.
pub fn torus(rows: u32, columns: u32, closed: bool) -> Surface {
    let point = |k: u32| {
        let (i, j) = (k / columns, k % columns);
        let uneven = f64::from((i * 7919 + j * 104_729) % 97) / 97.0;
        let (y, x) = (TAU * (f64::from(i) + 0.4 * uneven) / f64::from(rows)).sin_cos();
        let (z, w) = (TAU * (f64::from(j) + 0.3 * uneven) / f64::from(columns)).sin_cos();
        dvec3((2.0 + w) * x, (2.0 + w) * y, z)
    };
    let open = u32::from(!closed);
    let vertex = |i: u32, j: u32| (i % rows) * columns + j % columns;
    let mut triangles = cut(rows - open, columns - open, vertex);
    if !closed {
        triangles.drain(7..15);
    }
    mixed((0..rows * columns).map(point).collect(), triangles)
}

/// A sphere of rows around an axis, uneven.
pub fn sphere(rows: u32, columns: u32) -> Surface {
    let mut points = vec![dvec3(0.0, 0.0, 1.0), dvec3(0.0, 0.0, -1.0)];
    for k in 0..(rows - 1) * columns {
        let (i, j) = (k / columns + 1, k % columns);
        let uneven = f64::from((i * 31 + j * 57) % 13) / 13.0;
        let (r, z) = (0.5 * TAU * (f64::from(i) + 0.3 * uneven) / f64::from(rows)).sin_cos();
        let (y, x) = (TAU * (f64::from(j) + 0.4 * uneven) / f64::from(columns)).sin_cos();
        points.push(dvec3(r * x, r * y, z));
    }
    let vertex = |i: u32, j: u32| 2 + i * columns + j % columns;
    let mut triangles = cut(rows - 2, columns, vertex);
    triangles
        .iter_mut()
        .for_each(|triangle| triangle.swap(1, 2));
    for j in 0..columns {
        triangles.push([0, vertex(0, j), vertex(0, j + 1)]);
        triangles.push([1, vertex(rows - 2, j + 1), vertex(rows - 2, j)]);
    }
    mixed(points, triangles)
}

/// A closed strip around an axis, whose edges grow towards its first: one region that runs along an edge twice.
pub fn ring(count: u32) -> Surface {
    let point = |i: u32| {
        let (y, x) = (TAU * f64::from(i) / f64::from(count)).sin_cos();
        let rest = f64::from(count - i);
        dvec3(
            x,
            y,
            if i.is_multiple_of(2) {
                -0.03 * rest
            } else {
                3.0 + 0.1 * rest
            },
        )
    };
    let triangle = |i: u32| match i % 2 {
        0 => [i, i + 2, i + 1],
        _ => [i, i + 1, i + 2],
    };
    let triangles = (0..count).map(|i| triangle(i).map(|v| v % count));
    mixed((0..count).map(point).collect(), triangles.collect())
}

/// A closed surface of two triangles.
pub fn pillow() -> Surface {
    let points = vec![
        dvec3(0.0, 0.0, 0.0),
        dvec3(3.0, 0.0, 0.0),
        dvec3(1.0, 2.0, 1.0),
    ];
    mixed(points, vec![[0, 1, 2], [0, 2, 1]])
}

/// Tetrahedra that touch at vertices, one after the other.
pub fn chain(count: u32) -> Surface {
    let point = |k: u32| {
        let base = f64::from(k / 3);
        match k % 3 {
            0 => dvec3(base, 0.1 * base, 0.0),
            1 => dvec3(base + 0.4, 1.0, 0.2),
            _ => dvec3(base + 0.5, 0.3, 1.0),
        }
    };
    let sides = |i: u32| {
        let [a, b, c, d] = [3 * i, 3 * i + 1, 3 * i + 2, 3 * i + 3];
        [[a, b, c], [a, c, d], [a, d, b], [b, d, c]]
    };
    let triangles = (0..count).flat_map(sides).collect();
    mixed((0..=3 * count).map(point).collect(), triangles)
}

/// Several surfaces as one mesh, beside each other.
pub fn beside(parts: &[Surface]) -> Surface {
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for (part, i) in parts.iter().zip(0..) {
        let first = points.len() as u32;
        let by = dvec3(10.0 * f64::from(i), 0.0, 0.0);
        points.extend(part.points.iter().map(|&p| p + by));
        triangles.extend(
            part.triangles
                .iter()
                .map(|corners| corners.map(|v| first + v)),
        );
    }
    mixed(points, triangles)
}

/// The surface with three regions, and every ninth triangle's first edge as a segment.
pub fn tagged(mesh: &Surface) -> Surface {
    let mut mesh = mesh.clone();
    let region = |&[a, ..]: &[u32; 3]| (mesh.points[a as usize].x.floor() as i32).rem_euclid(3);
    mesh.regions = Some(mesh.triangles.iter().map(region).collect());
    let segment = |&[a, b, _]: &[u32; 3]| Segment {
        ends: [a, b],
        marker: 5,
    };
    mesh.segments = mesh.triangles.iter().step_by(9).map(segment).collect();
    mesh
}

/// All of these surfaces, by their names.
pub fn all() -> Vec<(&'static str, Surface)> {
    vec![
        ("a torus", torus(14, 11, true)),
        ("a sphere", sphere(12, 13)),
        ("a patch", torus(12, 13, false)),
        ("a tagged patch", tagged(&torus(13, 11, false))),
        ("a tagged torus", tagged(&torus(11, 13, true))),
        ("a ring", ring(40)),
        ("two triangles", pillow()),
        ("tetrahedra that touch", chain(7)),
        (
            "several",
            beside(&[
                sphere(6, 7),
                torus(7, 6, false),
                chain(2),
                ring(20),
                pillow(),
            ]),
        ),
    ]
}
