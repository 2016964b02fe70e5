use glam::DVec3;
use robust::{Coord, orient2d};

use super::*;
use crate::fields::{Field, Fields, Values};
use crate::random::mix;
use crate::volume::MixedCells;

fn divided(points: &[DVec3], face: &[u32]) -> Result<Vec<[u32; 3]>, Trouble> {
    let mut triangles = Vec::new();
    Divider::default().divide(points, face, &mut triangles)?;
    Ok(triangles.into_iter().map(|t| t.map(|k| face[k])).collect())
}

/// The triangles of a face in an order of their own.
fn sorted(points: &[DVec3], face: &[u32]) -> Vec<[u32; 3]> {
    let triangles = divided(points, face).unwrap_or_else(|trouble| panic!("{trouble:?} {face:?}"));
    let mut triangles: Vec<_> = triangles.into_iter().map(from_lowest).collect();
    triangles.sort_unstable();
    triangles
}

fn turn(points: &[DVec3], [a, b, c]: [u32; 3]) -> f64 {
    let [a, b, c] = [a, b, c].map(|v| {
        let DVec3 { x, y, .. } = points[v as usize];
        Coord { x, y }
    });
    orient2d(a, b, c)
}

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 += 1;
        (mix(self.0) % n as u64) as usize
    }
}

/// Points of a grid, and the triangles of its squares, whose diagonals have random directions.
fn grid(side: usize, random: &mut Random) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let point = |i: usize| DVec3::new((i % side) as f64, (i / side) as f64, 0.0);
    let points = (0..side * side).map(point).collect();
    let mut triangles = Vec::new();
    for square in 0..(side - 1) * (side - 1) {
        let a = (square / (side - 1) * side + square % (side - 1)) as u32;
        let [b, c, d] = [a + 1, a + 1 + side as u32, a + side as u32];
        triangles.extend(match random.below(2) {
            0 => [[a, b, c], [a, c, d]],
            _ => [[b, c, d], [b, d, a]],
        });
    }
    (points, triangles)
}

/// The border of up to `most` triangles, from `first` on, each joined to one before along one side only. So it runs
/// along both sides of other edges between them, and visits vertices more than once.
fn tree(
    triangles: &[[u32; 3]],
    used: &mut [bool],
    first: usize,
    most: usize,
    random: &mut Random,
) -> Vec<u32> {
    let mut border = triangles[first].to_vec();
    used[first] = true;
    for _ in 0..4 * most {
        if border.len() == most + 2 {
            break;
        }
        let k = random.below(border.len());
        let [a, b] = [border[k], border[(k + 1) % border.len()]];
        let beyond = (0..triangles.len()).find(|&t| {
            let [p, q, r] = triangles[t];
            !used[t] && [[q, p], [r, q], [p, r]].contains(&[a, b])
        });
        if let Some(t) = beyond {
            used[t] = true;
            let apex = triangles[t].into_iter().find(|v| ![a, b].contains(v));
            border.insert(k + 1, apex.unwrap());
        }
    }
    border
}

/// The triangles by the rule, tested for every corner before each cut: corners in a plane of constant z, without
/// repeated vertices.
fn by_definition(points: &[DVec3], face: &[u32]) -> Vec<[u32; 3]> {
    let mut left = face.to_vec();
    let mut triangles = Vec::new();
    while left.len() > 2 {
        let n = left.len();
        let ears = (0..n).filter_map(|k| {
            let [a, b, c] = [left[(k + n - 1) % n], left[k], left[(k + 1) % n]];
            let is_in = |v: u32| {
                ![a, b, c].contains(&v)
                    && [[a, b, v], [b, c, v], [c, a, v]]
                        .iter()
                        .all(|&t| turn(points, t) >= 0.0)
            };
            let is_ear = turn(points, [a, b, c]) > 0.0 && !left.iter().any(|&v| is_in(v));
            let length = points[a as usize].distance_squared(points[c as usize]);
            is_ear.then_some(((length.to_bits(), a.min(c), a.max(c)), k, [a, b, c]))
        });
        let (_, k, triangle) = ears.min().expect("a simple polygon has an ear");
        triangles.push(from_lowest(triangle));
        left.remove(k);
    }
    triangles.sort_unstable();
    triangles
}

#[test]
fn polygons_that_touch_themselves_are_covered_once() {
    for seed in 0..60 {
        let mut random = Random(seed << 32);
        let (points, triangles) = grid(3 + random.below(5), &mut random);
        let mut used = vec![false; triangles.len()];
        let first = random.below(triangles.len());
        let most = 1 + random.below(triangles.len());
        let mut border = tree(&triangles, &mut used, first, most, &mut random);
        let mut expected = border.len() - 2;
        // Another polygon, joined at one vertex that both visit once.
        if let Some(free) = used.iter().position(|used| !used) {
            let other = tree(&triangles, &mut used, free, most, &mut random);
            let once = |list: &[u32], v: u32| list.iter().filter(|&&w| w == v).count() == 1;
            let joint = border
                .iter()
                .position(|&v| once(&border, v) && once(&other, v));
            if let Some(k) = joint {
                let at = other.iter().position(|&v| v == border[k]).unwrap();
                let joined = (0..other.len()).map(|i| other[(at + i) % other.len()]);
                border.splice(k..k, joined);
                expected += other.len() - 2;
            }
        }
        let found = sorted(&points, &border);
        assert_eq!(found.len(), expected, "{border:?}");
        let area: f64 = found.iter().map(|&t| turn(&points, t)).sum();
        assert_eq!(area, expected as f64, "{border:?}");
        assert!(found.iter().all(|&t| turn(&points, t) > 0.0), "{border:?}");
        for v in &border {
            assert!(found.iter().flatten().any(|w| w == v), "{border:?}");
        }
        // Any start and direction, also in a plane that is parallel to no axis.
        let tilted: Vec<DVec3> = points
            .iter()
            .map(|p| DVec3::new(2.0 * p.x, p.x + 3.0 * p.y, p.x - p.y))
            .collect();
        let of_tilted = sorted(&tilted, &border);
        assert_eq!(of_tilted.len(), expected);
        for start in 0..border.len().min(8) {
            border.rotate_left(start);
            assert_eq!(sorted(&points, &border), found);
            let backward: Vec<u32> = border.iter().rev().copied().collect();
            let mut turned: Vec<_> = sorted(&tilted, &backward)
                .into_iter()
                .map(|[a, b, c]| [a, c, b])
                .collect();
            turned.sort_unstable();
            assert_eq!(turned, of_tilted);
        }
    }
}

#[test]
fn ears_are_cut_in_the_order_of_the_rule() {
    for seed in 0..60 {
        let mut random = Random(seed << 32 | 1 << 60);
        // A star around the origin: simple, with corners that turn right, some lengths equal.
        let n = 4 + random.below(12);
        let points: Vec<DVec3> = (0..n)
            .map(|k| {
                let angle = std::f64::consts::TAU * k as f64 / n as f64;
                DVec3::new(angle.cos(), angle.sin(), 0.0) * (1 + random.below(4)) as f64
            })
            .collect();
        let face: Vec<u32> = (0..n as u32).collect();
        assert_eq!(
            sorted(&points, &face),
            by_definition(&points, &face),
            "{points:?}"
        );
    }
}

/// Points of one plane of space, z = 0 of the list turned about two axes and moved: their coordinates are rounded.
fn turned(points: &[DVec3]) -> Vec<DVec3> {
    let [(s, c), (t, d)] = [0.3_f64, 0.7].map(f64::sin_cos);
    let turn = |p: &DVec3| {
        let (x, y) = (p.x * c - p.y * s, p.x * s + p.y * c);
        DVec3::new(x + 1000.0, y * d, y * t)
    };
    points.iter().map(turn).collect()
}

#[test]
fn corners_on_a_line_up_to_rounding_make_no_slivers() {
    for seed in 0..60 {
        let mut random = Random(seed << 32 | 1 << 61);
        let (points, triangles) = grid(3 + random.below(5), &mut random);
        let mut used = vec![false; triangles.len()];
        let first = random.below(triangles.len());
        let most = 1 + random.below(triangles.len());
        let border = tree(&triangles, &mut used, first, most, &mut random);
        let found = divided(&turned(&points), &border).unwrap();
        assert_eq!(found.len(), border.len() - 2, "{border:?}");
        assert!(found.iter().all(|&t| turn(&points, t) >= 1.0), "{border:?}");
    }
}

/// Positions in the plane as points.
fn flat(points: &[(f64, f64)]) -> Vec<DVec3> {
    points.iter().map(|&(x, y)| DVec3::new(x, y, 0.0)).collect()
}

#[test]
fn polygons_are_divided_by_their_shortest_diagonal() {
    // A square: both diagonals are as long. A trapezium, and a dart from each of its corners.
    let square = flat(&[(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]);
    assert_eq!(sorted(&square, &[0, 1, 2, 3]), [[0, 1, 2], [0, 2, 3]]);
    let swapped = flat(&[(1.0, 0.0), (0.0, 0.0), (1.0, 1.0), (0.0, 1.0)]);
    assert_eq!(sorted(&swapped, &[0, 2, 3, 1]), [[0, 2, 3], [0, 3, 1]]);
    let leaning = flat(&[(0.0, 0.0), (2.0, 0.0), (3.0, 1.0), (1.0, 1.0)]);
    assert_eq!(sorted(&leaning, &[0, 1, 2, 3]), [[0, 1, 3], [1, 2, 3]]);
    let dart = flat(&[(0.0, 0.0), (4.0, 2.0), (0.0, 4.0), (1.0, 2.0)]);
    for start in 0..4 {
        let face = [0, 1, 2, 3].map(|k| (start + k) % 4);
        assert_eq!(sorted(&dart, &face), [[0, 1, 3], [1, 2, 3]]);
    }
    // A square with a corner on a side: that corner is in all its triangles. With one on each side: 6, none on a line.
    let pentagon = flat(&[(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0), (1.0, 0.0)]);
    let of_pentagon = sorted(&pentagon, &[0, 4, 1, 2, 3]);
    assert_eq!(of_pentagon, [[0, 4, 3], [1, 2, 4], [2, 3, 4]]);
    // Coordinates whose squares leave the range of numbers.
    for size in [1e-200, 1e200] {
        let scaled: Vec<DVec3> = leaning.iter().map(|&p| p * size).collect();
        assert_eq!(sorted(&scaled, &[0, 1, 2, 3]), [[0, 1, 3], [1, 2, 3]]);
    }
}

#[test]
fn degenerate_polygons_are_divided_or_refused() {
    let points = flat(&[
        (0.0, 0.0),
        (2.0, 0.0),
        (2.0, 2.0),
        (0.0, 2.0),
        (1.0, 0.0),
        (2.0, 0.0),
    ]);
    // A vertex twice in succession, as programs write triangles; a slit to vertex 4; an edge of length 0.
    assert_eq!(sorted(&points, &[0, 1, 2, 2]), [[0, 1, 2]]);
    assert_eq!(sorted(&points, &[0, 1, 1, 2, 3, 0]), [[0, 1, 2], [0, 2, 3]]);
    let slit = flat(&[(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0), (1.0, 2.0)]);
    let of_slit = sorted(&slit, &[0, 1, 2, 3, 0, 4]);
    assert_eq!(of_slit, [[0, 1, 4], [0, 4, 3], [1, 2, 4], [2, 3, 4]]);
    let repeated = divided(&points, &[0, 1, 5, 2]).unwrap();
    let areas: Vec<f64> = repeated.iter().map(|&t| turn(&points, t)).collect();
    assert_eq!((areas.len(), areas.iter().sum::<f64>()), (2, 4.0));
    // All on one line, also up to rounding.
    let line: Vec<DVec3> = (0..5)
        .map(|k| DVec3::new(0.1, 0.7, 1.3) * f64::from(k))
        .collect();
    assert_eq!(divided(&line, &[0, 2, 4, 3, 1]).unwrap().len(), 3);
    let refused = |face: &[u32]| divided(&points, face).unwrap_err();
    assert_eq!(refused(&[0, 2, 1, 3]), Trouble::Crosses);
    assert_eq!(refused(&[0, 1, 0, 1]), Trouble::Few);
    assert_eq!(refused(&[0, 0, 1, 1]), Trouble::Few);
}

#[test]
fn large_polygons_take_no_longer_than_the_square_of_their_size() {
    // A comb of 1,000 teeth: 4,000 corners.
    let mut comb = Vec::new();
    for tooth in 0..1000 {
        let x = f64::from(4 * tooth);
        comb.extend([(x, 0.0), (x + 1.0, 900.0), (x + 2.0, 900.0), (x + 3.0, 0.0)]);
    }
    comb.extend([(4000.0, -1.0), (-1.0, -1.0)]);
    comb.reverse();
    let comb = flat(&comb);
    let face: Vec<u32> = (0..comb.len() as u32).collect();
    let found = divided(&comb, &face).unwrap();
    assert_eq!(found.len(), comb.len() - 2);
    let area: f64 = found.iter().map(|&t| turn(&comb, t)).sum();
    assert_eq!(area, 1000.0 * 2.0 * 900.0 * 2.0 + 4001.0 + 4000.0 - 1.0);
}

fn field<T>(values: Vec<T>) -> Fields
where
    Values: From<Vec<T>>,
{
    [Field::scalars("f", values)].into_iter().collect()
}

#[test]
fn parts_have_the_data_of_their_faces() {
    let mut faces = Polygons::default();
    for face in [&[5, 4, 0][..], &[0, 1, 2, 3], &[1, 2, 1, 1], &[1, 5, 2, 2]] {
        faces.push(face);
    }
    let mesh = Mesh {
        points: flat(&[
            (0.0, 0.0),
            (1.0, 0.0),
            (1.0, 1.0),
            (0.0, 1.0),
            (0.0, -1.0),
            (3.0, 0.5),
        ]),
        faces: Faces::Polygons(faces),
        regions: Some(vec![7, 8, 9, 10]),
        fields: MeshFields {
            points: field(vec![0.5; 6]),
            cells: field(vec![3, 1, 2, 0]),
            sides: Fields::default(),
        },
        ..Mesh::default()
    };
    let Divided {
        mesh: fine,
        parents,
        notes,
    } = triangles(mesh.clone()).unwrap();
    // A triangle of the input begins where it did.
    assert_eq!(
        fine.faces,
        Faces::Triangles(vec![[5, 4, 0], [0, 1, 2], [0, 2, 3], [1, 5, 2]])
    );
    assert_eq!(parents, [0, 1, 1, 3]);
    assert_eq!(fine.regions, Some(vec![7, 8, 8, 10]));
    assert_eq!(fine.fields.cells, field(vec![3, 1, 1, 0]));
    assert_eq!((fine.fields.points.len(), fine.points.len()), (1, 6));
    assert_eq!(
        notes,
        ["1 face of fewer than three different corners is left out (first: face 2)"]
    );
    // Triangles stay, and a second division changes nothing.
    assert_eq!(triangles(fine.clone()).unwrap().mesh, fine);
    let refused = |face: &[u32]| {
        let mut mesh = mesh.clone();
        let Faces::Polygons(faces) = &mut mesh.faces else {
            unreachable!()
        };
        faces.vertices[3..7].copy_from_slice(face);
        triangles(mesh).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&[0, 1, 2, 6]),
        "face 1 has vertex 6, but the mesh has 6 vertices"
    );
    let mut crossed = mesh.clone();
    crossed.faces = Faces::Polygons(Polygons::default());
    let Faces::Polygons(faces) = &mut crossed.faces else {
        unreachable!()
    };
    [&[0, 2, 1, 3][..]; 4]
        .iter()
        .for_each(|face| faces.push(face));
    let Divided {
        mesh: fan, notes, ..
    } = triangles(crossed).unwrap();
    assert_eq!(fan.faces.get(0), [0, 1, 3]);
    assert_eq!(fan.faces.get(1), [0, 2, 1]);
    assert_eq!(
        notes,
        [
            "4 faces cross themselves as seen along the normal: triangles overlap or turn over (first: face 0)"
        ]
    );
    let mut short = mesh.clone();
    short.regions = Some(vec![1]);
    assert_eq!(
        triangles(short).unwrap_err().to_string(),
        "regions have 1 rows: 4 are needed"
    );
    let mut far = mesh;
    far.points[3].x = f64::NAN;
    let error = triangles(far).unwrap_err().to_string();
    assert_eq!(error, Error::not_finite(3).to_string());
}

/// A mesh of cells of one kind or several.
fn volume(points: Vec<DVec3>, cells: &[&[u32]]) -> VolumeMesh {
    let mut mixed = MixedCells::default();
    cells.iter().for_each(|cell| mixed.push(cell));
    VolumeMesh {
        points,
        cells: Cells::Mixed(mixed),
        regions: None,
        faces: Polygons::default(),
        face_tags: Vec::new(),
        fields: MeshFields::default(),
        about: Default::default(),
    }
}

/// The cells of a grid of `n` cubes in each direction, with numbers of the points in a random order.
fn cubes(n: usize, random: &mut Random) -> VolumeMesh {
    let side = n + 1;
    let count = side * side * side;
    let mut ids: Vec<u32> = (0..count as u32).collect();
    (1..count).for_each(|k| ids.swap(k, random.below(k + 1)));
    let mut points = vec![DVec3::ZERO; count];
    let place = |x: usize, y: usize, z: usize| x + side * (y + side * z);
    let mut cells = MixedCells::default();
    for z in 0..side {
        for y in 0..side {
            for x in 0..side {
                points[ids[place(x, y, z)] as usize] = DVec3::new(x as f64, y as f64, z as f64);
                if x < n && y < n && z < n {
                    let square = |z| {
                        [
                            place(x, y, z),
                            place(x + 1, y, z),
                            place(x + 1, y + 1, z),
                            place(x, y + 1, z),
                        ]
                    };
                    let cell = [square(z), square(z + 1)].concat();
                    cells.push(&cell.iter().map(|&k| ids[k]).collect::<Vec<_>>());
                }
            }
        }
    }
    VolumeMesh {
        cells: Cells::Mixed(cells),
        ..volume(points, &[])
    }
}

#[test]
fn cells_that_share_a_face_divide_it_alike() {
    let mut sizes = [0; 7];
    for seed in 0..8 {
        let mesh = cubes(4, &mut Random(seed << 32));
        let Divided {
            mesh: fine,
            parents,
            notes,
        } = tetrahedra(mesh.clone()).unwrap();
        assert!(notes.is_empty());
        let Cells::Tetrahedra(cells) = &fine.cells else {
            panic!("tetrahedra")
        };
        let volumes = cells.iter().map(|cell| orientation(&fine.points, cell));
        assert!(volumes.clone().all(|volume| volume > 0.0));
        assert_eq!(volumes.sum::<f64>(), 6.0 * 64.0);
        parents
            .chunk_by(|a, b| a == b)
            .for_each(|own| sizes[own.len()] += 1);
        // Conforming: the boundary consists of the two halves of each square of the grid's boundary.
        let border = fine.boundary();
        assert_eq!(border.faces.len(), 2 * 6 * 16);
        assert_eq!(mesh.boundary().faces.len(), 6 * 16);
    }
    assert!(
        sizes[5] > 0 && sizes[6] > 0 && sizes[5] + sizes[6] == 8 * 64,
        "{sizes:?}"
    );
}

/// Each order of 0..n.
fn orders(n: u32) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for k in 0..n {
        let longer = all.iter().flat_map(|order| {
            (0..=order.len()).map(move |at| {
                let mut order = order.clone();
                order.insert(at, k);
                order
            })
        });
        all = longer.collect();
    }
    all
}

#[test]
fn pyramids_and_wedges_are_divided_from_any_vertex() {
    let square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
    let mut pyramid = flat(&square);
    pyramid.push(DVec3::new(0.5, 0.5, 1.0));
    let mut wedge = flat(&[(0.0, 0.0), (0.0, 1.0), (1.0, 0.0)]);
    wedge.extend_from_within(..);
    wedge[3..].iter_mut().for_each(|p| p.z = -1.0);
    for (corners, parts, six_volumes) in [(pyramid, 2, 2.0), (wedge, 3, 3.0)] {
        for order in orders(corners.len() as u32) {
            let mut points = corners.clone();
            (order.iter().zip(&corners)).for_each(|(&v, &p)| points[v as usize] = p);
            let Divided { mesh, notes, .. } = tetrahedra(volume(points, &[&order])).unwrap();
            let Cells::Tetrahedra(cells) = &mesh.cells else {
                panic!("tetrahedra")
            };
            let volumes: Vec<f64> = cells
                .iter()
                .map(|cell| orientation(&mesh.points, cell))
                .collect();
            assert!(
                volumes.iter().all(|&volume| volume > 0.0),
                "{order:?} {volumes:?}"
            );
            assert_eq!(
                (cells.len(), volumes.iter().sum(), notes.len()),
                (parts, six_volumes, 0)
            );
        }
    }
}

#[test]
fn cells_that_are_not_proper_are_noted() {
    let square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
    let mut points = flat(&square);
    points.extend_from_within(..);
    points[4..].iter_mut().for_each(|p| p.z = 1.0);
    let mut mesh = volume(
        points,
        &[
            &[4, 5, 6, 7, 0, 1, 2, 3],
            &[0, 1, 2, 3, 4, 4, 6, 7],
            &[0, 1, 3, 4],
        ],
    );
    mesh.regions = Some(vec![1, 2, 3]);
    for (face, tag) in [(&[1, 5, 6, 2][..], 5), (&[3, 1, 0], 6)] {
        mesh.faces.push(face);
        mesh.face_tags.push(tag);
    }
    mesh.fields.sides = field(vec![0.5, 1.5]);
    let Divided {
        mesh: fine,
        parents,
        notes,
    } = tetrahedra(mesh.clone()).unwrap();
    // The first cell is inside out. The second one is a hexahedron with one edge of length 0.
    assert_eq!(notes, ["1 cell is inside out, and turned (first: cell 0)"]);
    let Cells::Tetrahedra(cells) = &fine.cells else {
        panic!("tetrahedra")
    };
    assert!(
        cells
            .iter()
            .all(|cell| orientation(&fine.points, cell) > 0.0)
    );
    assert_eq!(parents, [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2]);
    assert_eq!(fine.regions, Some(vec![1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3]));
    assert_eq!(cells[11], [0, 1, 3, 4]);
    // Tagged faces by the same diagonal; a triangle stays.
    assert_eq!(
        fine.faces.iter().collect::<Vec<_>>(),
        [&[1, 5, 6][..], &[1, 6, 2], &[3, 1, 0]]
    );
    assert_eq!(fine.face_tags, [5, 5, 6]);
    assert_eq!(fine.fields.sides, field(vec![0.5, 0.5, 1.5]));
    // A vertex pushed through the cell.
    let mut warped = mesh;
    warped.points[6] = DVec3::NEG_ONE;
    let notes = tetrahedra(warped).unwrap().notes;
    assert!(notes[0].contains("warped"), "{notes:?}");
    let odd = volume(vec![DVec3::ZERO; 7], &[&[0, 1, 2, 3, 4, 5, 6]]);
    let error = tetrahedra(odd).unwrap_err().to_string();
    assert_eq!(error, "cell 0 has 7 vertices, but cells have 4, 5, 6 or 8");
}
