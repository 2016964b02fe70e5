//! The order along a curve against a plain sort, and shuffled meshes against each other.

use glam::{DVec2, DVec3, Vec2, Vec3};
use gpu::ids::Vertex;
use gpu::point::DoublePoint;
use gpu::reorder::{Curve, LARGEST_GROUP, LONGEST_RUN};

use super::{Case, Outcome, Size, equal, random};
use trioxide::delaunay::{Duplicates, triangulate};
use trioxide::device::Device;
use trioxide::generate;
use trioxide::mesh::Polygons;
use trioxide::points::upload_points;
use trioxide::random::SplitMix64;
use trioxide::reorder::{self, Point};

/// The cases.
pub fn cases(size: Size) -> Vec<Case> {
    vec![
        Case::new("reordered triangulation", move |on| {
            let points = generate::random_points(size.of(5000), 1)?;
            triangulation(on, &points)
        }),
        Case::new("reordered triangles of the plane", move |on| {
            let mesh = random(size.of(3000), 2)?;
            let faces = Faces::Triangles(mesh.triangles);
            check::<DVec2>(on, &mesh.points, &faces)?;
            let single: Vec<DVec2> = mesh.points.iter().map(|p| p.as_vec2().as_dvec2()).collect();
            check::<Vec2>(on, &single, &faces)
        }),
        Case::new("reordered triangles of space", move |on| {
            let mesh = generate::scan(size.of(3000), 3)?.into_surface()?;
            let faces = Faces::Triangles(mesh.triangles);
            check::<DVec3>(on, &mesh.points, &faces)?;
            let single: Vec<DVec3> = mesh.points.iter().map(|p| p.as_vec3().as_dvec3()).collect();
            check::<Vec3>(on, &single, &faces)
        }),
        Case::new("reordered tetrahedra", move |on| {
            let mesh = generate::tet_grid(size.of(1500), 4)?;
            check::<DVec3>(on, &mesh.points, &Faces::Tetrahedra(mesh.tetrahedra))
        }),
        Case::new("reordered polygons", move |on| {
            let mesh = random(size.of(3000), 5)?;
            check::<DVec2>(
                on,
                &mesh.points,
                &Faces::Polygons(polygons(&mesh.triangles)),
            )
        }),
        // In every size runs and groups that are longer than a lane orders alone.
        Case::new("reordered clouds", move |on| {
            clouds(on, size.of(2000).max(12 * LONGEST_RUN as usize))
        }),
        Case::new("reordered cells of one vertex", |on| {
            fan(on, 20 * LARGEST_GROUP)
        }),
        Case::new("reordered data", move |on| carried(on, size.of(3000))),
        Case::new("reordered cells that break every rule", wrong),
    ]
}

/// Cells of a mesh.
pub enum Faces {
    /// Vertices of triangles.
    Triangles(Vec<[u32; 3]>),
    /// Vertices of tetrahedra.
    Tetrahedra(Vec<[u32; 4]>),
    /// Polygons; of shuffled ones, no two that differ have the same first four vertices.
    Polygons(Polygons),
}

impl Faces {
    fn lists(&self) -> Vec<Vec<u32>> {
        match self {
            Self::Triangles(triangles) => triangles.iter().map(|t| t.to_vec()).collect(),
            Self::Tetrahedra(tetrahedra) => tetrahedra.iter().map(|t| t.to_vec()).collect(),
            Self::Polygons(polygons) => polygons.iter().map(<[u32]>::to_vec).collect(),
        }
    }

    /// Cells of the same kind.
    fn of(&self, lists: &[Vec<u32>]) -> Self {
        match self {
            Self::Triangles(_) => {
                Self::Triangles(lists.iter().map(|l| [l[0], l[1], l[2]]).collect())
            }
            Self::Tetrahedra(_) => {
                Self::Tetrahedra(lists.iter().map(|l| [l[0], l[1], l[2], l[3]]).collect())
            }
            Self::Polygons(_) => {
                let mut polygons = Polygons::default();
                lists.iter().for_each(|list| polygons.push(list));
                Self::Polygons(polygons)
            }
        }
    }
}

/// Polygons of a triangle or two each, and some of one and two vertices.
fn polygons(triangles: &[[u32; 3]]) -> Polygons {
    let mut polygons = Polygons::default();
    for pair in triangles.chunks(2) {
        match pair {
            [[a, b, c], [d, e, f]] if a % 3 == 0 => polygons.push(&[*a, *b, *c, *d, *e, *f]),
            [t, ..] => polygons.push(t),
            [] => {}
        }
    }
    polygons.push(&[7]);
    polygons.push(&[9, 4]);
    // A vertex twice.
    polygons.push(&[1, 8, 1, 3, 5]);
    polygons.push(&[1, 8, 1, 8, 0, 0]);
    polygons
}

/// An ordered mesh: points, old ids of vertices, cells, old ids of cells.
type Ordered<P> = (Vec<P>, Vec<u32>, Vec<Vec<u32>>, Vec<u32>);

fn on_device<P: Point>(
    on: &Device,
    points: &[P::Double],
    faces: &Faces,
) -> trioxide::Result<Ordered<P>> {
    let vertices = reorder::vertices(on, &upload_points::<P>(on, points, points.len())?)?;
    let old: Vec<u32> = on.download_rows(vertices.old())?;
    let new: Vec<u32> = on.download_rows(vertices.new_ids())?;
    assert!(old.iter().zip(0..).all(|(&v, i)| new[v as usize] == i));
    let upload = |corners: &[u32]| on.upload(bytemuck::cast_slice::<u32, Vertex>(corners));
    let rows = |corners: Vec<u32>, n: usize| corners.chunks(n).map(<[u32]>::to_vec).collect();
    let (cells, ids) = match faces {
        Faces::Triangles(triangles) => {
            let done = reorder::triangles(on, &upload(triangles.as_flattened())?, &vertices)?;
            (
                rows(on.download_rows(done.corners())?, 3),
                on.download_rows(done.old())?,
            )
        }
        Faces::Tetrahedra(tetrahedra) => {
            let done = reorder::tetrahedra(on, &upload(tetrahedra.as_flattened())?, &vertices)?;
            (
                rows(on.download_rows(done.corners())?, 4),
                on.download_rows(done.old())?,
            )
        }
        Faces::Polygons(polygons) => {
            let offsets = on.upload(&polygons.offsets)?;
            let corners = upload(&polygons.vertices)?;
            let done = reorder::polygons(on, &offsets, &corners, &vertices)?;
            let polygons = Polygons {
                offsets: on.download(done.offsets())?,
                vertices: on.download_rows(done.vertices())?,
            };
            (
                Faces::Polygons(polygons).lists(),
                on.download_rows(done.old())?,
            )
        }
    };
    Ok((on.download(vertices.points())?, old, cells, ids))
}

/// The definition, by sorts of all that is compared.
fn plain<C: Curve>(points: &[C], faces: &Faces) -> Ordered<C> {
    let in_space: Vec<DVec3> = points.iter().map(|p| p.in_space()).collect();
    let low = in_space
        .iter()
        .copied()
        .reduce(DVec3::min)
        .unwrap_or_default();
    let high = in_space
        .iter()
        .copied()
        .reduce(DVec3::max)
        .unwrap_or_default();
    let cube = C::cube(low, high);
    let mut old: Vec<u32> = (0..points.len() as u32).collect();
    let key = |v: u32| C::key(points[v as usize].cell(&cube));
    old.sort_by(|&v, &w| {
        let (p, q) = (in_space[v as usize], in_space[w as usize]);
        let compare = |a: f64, b: f64| a.partial_cmp(&b).expect("a finite number");
        let places = compare(p.x, q.x)
            .then(compare(p.y, q.y))
            .then(compare(p.z, q.z));
        key(v).cmp(&key(w)).then(places).then(v.cmp(&w))
    });
    let mut new = vec![0; points.len()];
    for (i, &v) in (0..).zip(&old) {
        new[v as usize] = i;
    }
    let is_of_tetrahedra = matches!(faces, Faces::Tetrahedra(_));
    let mut cells: Vec<(Vec<u32>, u32)> = Vec::new();
    for (id, list) in (0..).zip(faces.lists()) {
        let list: Vec<u32> = list.iter().map(|&v| new[v as usize]).collect();
        let turned = match is_of_tetrahedra {
            true => least_even(&list),
            false => least_rotation(&list),
        };
        cells.push((turned, id));
    }
    let head = |list: &[u32]| [0, 1, 2, 3].map(|k| list.get(k).copied().unwrap_or(u32::MAX));
    cells.sort_by_key(|(list, id)| (head(list), *id));
    let (cells, ids) = cells.into_iter().unzip();
    (
        old.iter().map(|&v| points[v as usize]).collect(),
        old,
        cells,
        ids,
    )
}

/// The rotation that begins with the least three vertices.
fn least_rotation(list: &[u32]) -> Vec<u32> {
    let n = list.len();
    let start = (0..n).min_by_key(|&k| [0, 1, 2].map(|i| list[(k + i) % n]));
    let mut list = list.to_vec();
    list.rotate_left(start.unwrap_or(0));
    list
}

/// The least even permutation of four vertices.
fn least_even(list: &[u32]) -> Vec<u32> {
    let mut least = list.to_vec();
    for code in 0..256 {
        let places = [code / 64, code / 16 % 4, code / 4 % 4, code % 4];
        let inversions = (0..4)
            .flat_map(|i| (0..i).map(move |k| (k, i)))
            .filter(|&(k, i)| places[k] > places[i]);
        let is_even = inversions.count() % 2 == 0;
        let is_permutation = (0..4).all(|k| places.contains(&k));
        if is_even && is_permutation {
            least = least.min(places.map(|k| list[k]).to_vec());
        }
    }
    least
}

/// The device's order is that of the definition. Shuffled vertices and cells give the same mesh if points are distinct.
///
/// # Errors
/// The difference, or the error of the device.
pub fn check<P: Point + PartialEq + std::fmt::Debug>(
    on: &Device,
    points: &[P::Double],
    faces: &Faces,
) -> Outcome {
    let found = on_device::<P>(on, points, faces)?;
    let (places, old, cells, ids) = plain(points, faces);
    let places: Vec<P> = places.into_iter().map(P::from_f64).collect();
    equal("old vertices", &found.1, &old)?;
    equal("points", &found.0, &places)?;
    equal("cells", &found.2, &cells)?;
    equal("old cells", &found.3, &ids)?;
    let mut sorted: Vec<[u64; 3]> = points
        .iter()
        .map(|p| (p.in_space() + 0.0).to_array().map(f64::to_bits))
        .collect();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() < points.len() {
        return Ok(());
    }
    let mut random = SplitMix64::new(9);
    let order = shuffled(points.len(), &mut random);
    let moved: Vec<P::Double> = order.iter().map(|&v| points[v as usize]).collect();
    let mut new = vec![0; points.len()];
    for (i, &v) in (0..).zip(&order) {
        new[v as usize] = i;
    }
    let lists = faces.lists();
    let lists: Vec<Vec<u32>> = shuffled(lists.len(), &mut random)
        .iter()
        .map(|&cell| {
            lists[cell as usize]
                .iter()
                .map(|&v| new[v as usize])
                .collect()
        })
        .collect();
    let again = on_device::<P>(on, &moved, &faces.of(&lists))?;
    equal("points of the shuffled mesh", &again.0, &places)?;
    equal("cells of the shuffled mesh", &again.2, &cells)
}

fn shuffled(n: usize, random: &mut SplitMix64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n as u32).collect();
    for i in (1..n).rev() {
        order.swap(i, (random.next_u64() % (i as u64 + 1)) as usize);
    }
    order
}

/// Triangles of a triangulation keep their order and their first vertices.
fn triangulation(on: &Device, points: &[DVec2]) -> Outcome {
    let uploaded = on.upload(points)?;
    let result = triangulate(on, &uploaded, Duplicates::Refuse)?;
    let vertices = reorder::vertices(on, &uploaded)?;
    let ordered = reorder::triangles(on, result.triangles(), &vertices)?;
    let new: Vec<u32> = on.download_rows(vertices.new_ids())?;
    let triangles: Vec<[u32; 3]> = on.download_rows(result.triangles())?;
    let renumbered: Vec<[u32; 3]> = triangles
        .iter()
        .map(|t| t.map(|v| new[v as usize]))
        .collect();
    equal(
        "triangles",
        &on.download_rows(ordered.corners())?,
        &renumbered,
    )?;
    let same: Vec<u32> = (0..triangles.len() as u32).collect();
    equal("old triangles", &on.download_rows(ordered.old())?, &same)
}

/// Clouds that need each way to sort.
fn clouds(on: &Device, n: usize) -> Outcome {
    let none = Faces::Triangles(Vec::new());
    let mut random = SplitMix64::new(6);
    let mut unit = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let mut cloud = |scale: &dyn Fn(usize) -> f64| -> Vec<DVec3> {
        let at = |i| DVec3::splat((i % 3) as f64) + scale(i) * DVec3::new(unit(), unit(), unit());
        (0..n).map(at).collect()
    };
    // Evenly spread; runs of the highest bits; of all bits; and of all magnitudes.
    let clouds = [
        cloud(&|_| 1.0),
        cloud(&|i| if i % 9 < 3 { 1.0 } else { 1e-4 }),
        cloud(&|i| if i % 9 < 3 { 1.0 } else { 1e-12 }),
        cloud(&|i| 0.5f64.powi((i % 60) as i32)),
    ];
    for points in &clouds {
        check::<DVec3>(on, points, &none)?;
    }
    let flat: Vec<DVec2> = clouds[2].iter().map(|p| p.truncate()).collect();
    check::<DVec2>(on, &flat, &none)?;
    // In single precision coordinates are that close at 0 alone.
    let near: Vec<DVec3> = (0..n)
        .map(|i| DVec3::new(unit(), unit(), unit()) * if i % 9 < 3 { 1.0 } else { 1e-14 })
        .map(|p| p.as_vec3().as_dvec3())
        .collect();
    check::<Vec3>(on, &near, &none)?;
    let flat: Vec<DVec2> = near.iter().map(|p| p.truncate()).collect();
    check::<Vec2>(on, &flat, &none)?;
    // Equal points: in runs that are ordered, in long runs, and in long runs between others; 0 and -0.
    for copies in [2, LONGEST_RUN as usize / 4, 2 * LONGEST_RUN as usize] {
        let zero = |i: usize| if i.is_multiple_of(2) { 0.0 } else { -0.0 };
        let points: Vec<DVec3> = (0..n)
            .map(|i| match i % 7 {
                0 => DVec3::new(zero(i), zero(i / 2), zero(i / 3)),
                _ => clouds[0][i % (n / copies + 1)],
            })
            .collect();
        check::<DVec3>(on, &points, &none)?;
    }
    let line: Vec<DVec2> = (0..100)
        .map(|i| DVec2::new(f64::from(i * 37 % 100), 0.0))
        .collect();
    check::<DVec2>(on, &line, &none)?;
    for few in [&line[..0], &line[..1], &line[..2]] {
        check::<DVec2>(on, few, &none)?;
    }
    let widest = [
        DVec3::MAX,
        DVec3::MIN,
        DVec3::ZERO,
        DVec3::new(1.0, f64::MIN_POSITIVE, 0.0),
    ];
    check::<DVec3>(on, &widest, &none)
}

/// Cells around one vertex, more than are compared with each other, with repeated vertices and equal cells.
fn fan(on: &Device, n: u32) -> Outcome {
    let mut random = SplitMix64::new(7);
    let vertices = n + 1;
    let points: Vec<DVec2> = (0..vertices)
        .map(|i| DVec2::from_angle(0.01 * f64::from(i)) * f64::from(i))
        .collect();
    let mut any = || (random.next_u64() % u64::from(vertices)) as u32;
    let triangles: Vec<[u32; 3]> = (0..n)
        .map(|i| match i % 4 {
            0 => [any(), 0, any()],
            1 => [0, 0, i / 2],
            2 => [i, i - 1, 0],
            _ => [0, 1, 2],
        })
        .collect();
    let tetrahedra = triangles
        .iter()
        .map(|&[a, b, c]| [a, b, any(), c])
        .collect();
    let mut lists = Polygons::default();
    for [a, b, c] in &triangles {
        match a % 3 {
            0 => lists.push(&[*a, *b]),
            1 => lists.push(&[*a, *b, *c, *a, *b]),
            _ => lists.push(&[*c, *b, *a]),
        }
    }
    for faces in [
        Faces::Triangles(triangles),
        Faces::Tetrahedra(tetrahedra),
        Faces::Polygons(lists),
    ] {
        // Equal cells keep the order of their ids, so shuffled ones are not compared.
        let found = on_device::<DVec2>(on, &points, &faces)?;
        let expected = plain(&points, &faces);
        equal("cells", &found.2, &expected.2)?;
        equal("old cells", &found.3, &expected.3)?;
    }
    Ok(())
}

/// Data of vertices and ids of vertices go along; points of space that share one z have the order of the plane.
fn carried(on: &Device, n: usize) -> Outcome {
    let flat = generate::random_points(n, 8)?;
    let points: Vec<DVec3> = flat.iter().map(|p| p.extend(2.5)).collect();
    let vertices = reorder::vertices_in_space(on, &on.upload(&points)?)?;
    let old: Vec<u32> = on.download_rows(vertices.old())?;
    let (_, of_plane, ..) = plain(&flat, &Faces::Triangles(Vec::new()));
    equal("old vertices", &old, &of_plane)?;
    let at = |list: &[DVec3]| old.iter().map(|&v| list[v as usize]).collect::<Vec<_>>();
    equal("points", &on.download(vertices.points())?, &at(&points))?;
    let numbers: Vec<u32> = (0..n as u32).collect();
    let found = reorder::carry(on, &on.upload(&numbers)?, vertices.old())?;
    equal("numbers", &on.download(&found)?, &old)?;
    let found = reorder::carry(on, &on.upload(&flat)?, vertices.old())?;
    let expected: Vec<DVec2> = at(&points).iter().map(|p| p.truncate()).collect();
    equal("pairs", &on.download(&found)?, &expected)?;
    let ids: Vec<Vertex> = numbers.iter().map(|&v| Vertex::new(v)).collect();
    let found = reorder::renumber(on, &on.upload(&ids)?, &vertices, ("segment", 2))?;
    equal(
        "ids",
        &on.download(&found)?,
        &on.download(vertices.new_ids())?,
    )?;
    let wrong = [ids[0], ids[1], ids[2], Vertex::new(n as u32)];
    let refused = reorder::renumber(on, &on.upload(&wrong)?, &vertices, ("segment", 2));
    let error = refused
        .map(|_| "none".to_owned())
        .unwrap_or_else(|e| e.to_string());
    let expected = format!("segment 1 has vertex {n}, but the mesh has {n} vertices");
    equal("error", &[error], &[expected])?;
    let refused = reorder::carry(on, &on.upload(&numbers[1..])?, vertices.old());
    let error = refused
        .map(|_| "none".to_owned())
        .unwrap_or_else(|e| e.to_string());
    let expected = format!("there are {} values for {n} elements", n - 1);
    equal("error", &[error], &[expected])?;
    // Another z, or one that is not a finite number.
    for (z, is_finite) in [(2.0, true), (f64::NAN, false), (f64::INFINITY, false)] {
        let mut points = points.clone();
        points[n / 2].z = z;
        match (
            is_finite,
            reorder::vertices_in_space(on, &on.upload(&points)?),
        ) {
            (true, Ok(vertices)) => {
                let (_, of_space, ..) = plain(&points, &Faces::Triangles(Vec::new()));
                let old: Vec<u32> = on.download_rows(vertices.old())?;
                equal("old vertices in space", &old, &of_space)?;
            }
            (false, Err(_)) => {}
            _ => return Err(format!("z = {z} is not taken as it is")),
        }
    }
    Ok(())
}

/// The errors of wrong input.
fn wrong(on: &Device) -> Outcome {
    let points = [DVec2::ZERO, DVec2::X, DVec2::Y];
    let error = |points: &[DVec2], faces: Faces| match on_device::<DVec2>(on, points, &faces) {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.to_string(),
    };
    let triangles = |list: &[[u32; 3]]| Faces::Triangles(list.to_vec());
    let polygons = |offsets: &[u32], vertices: &[u32]| {
        Faces::Polygons(Polygons {
            offsets: offsets.to_vec(),
            vertices: vertices.to_vec(),
        })
    };
    let offsets = "the offsets of polygons do not ascend from 0 to the number of corners";
    let cases = [
        (
            error(&points, triangles(&[[0, 1, 2], [0, 3, 1], [4, 4, 4]])),
            "triangle 1 has vertex 3, but the mesh has 3 vertices",
        ),
        (
            error(&[], triangles(&[[0, 1, 2]])),
            "triangle 0 has vertex 0, but the mesh has 0 vertices",
        ),
        (
            error(&points, Faces::Tetrahedra(vec![[0, 1, 2, u32::MAX]])),
            "tetrahedron 0 has vertex 4294967295, but the mesh has 3 vertices",
        ),
        (
            error(&points, polygons(&[0, 3, 3], &[0, 1, 2])),
            "face 1 has no vertices",
        ),
        (
            error(&points, polygons(&[0, 3], &[0, 1, 5])),
            "face 0 has vertex 5, but the mesh has 3 vertices",
        ),
        (error(&points, polygons(&[0, 4, 3], &[0, 1, 2])), offsets),
        (error(&points, polygons(&[1, 3], &[0, 1, 2])), offsets),
        (error(&points, polygons(&[], &[])), offsets),
    ];
    for (found, expected) in cases {
        equal("error", &[found], &[expected.to_owned()])?;
    }
    for number in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for point in [DVec2::new(number, 0.5), DVec2::new(0.5, number)] {
            let found = error(&[points[0], point, points[1]], triangles(&[]));
            let expected = "vertex 1 has a coordinate that is not a finite number".to_owned();
            equal("error", &[found], &[expected])?;
        }
    }
    Ok(())
}
