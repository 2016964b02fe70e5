//! Decimation that keeps numbers of the vertices: with them in the quadrics their errors are smaller, and seams stay
//! closed.

use glam::{DVec2, DVec3};
use trioxide::device::Device;
use trioxide::fields::{Field, Values};
use trioxide::mesh::{Faces, Mesh};
use trioxide_operations::decimate::{Options, Weigh};
use trioxide_operations::error::FIELDS;
use trioxide_operations::{Result, decimate};

fn triangles(mesh: &Mesh) -> &[[u32; 3]] {
    match &mesh.faces {
        Faces::Triangles(triangles) => triangles,
        Faces::Polygons(_) => panic!("triangles"),
    }
}

fn options(keep: f64, weigh: &[&str]) -> Options {
    Options {
        keep: vec![keep],
        weigh: weigh.iter().map(|name| Weigh::new(*name)).collect(),
        ..Options::default()
    }
}

/// The mean of an error over the surface: at points that are spread over each triangle, weighted by area. `error` gets
/// the position there and the mean of the corners' numbers.
fn mean_error<const N: usize>(
    mesh: &Mesh,
    numbers: impl Fn(usize) -> [f64; N],
    error: impl Fn(DVec3, [f64; N]) -> f64,
) -> f64 {
    const STEPS: usize = 12;
    let (mut sum, mut areas) = (0.0, 0.0);
    for corners in triangles(mesh) {
        let [a, b, c] = corners.map(|v| mesh.points[v as usize]);
        let [p, q, r] = corners.map(|v| numbers(v as usize));
        let area = (b - a).cross(c - a).length();
        for i in 0..STEPS {
            for j in 0..STEPS - i {
                let [x, y] = [i, j].map(|k| (k as f64 + 1.0 / 3.0) / STEPS as f64);
                let z = 1.0 - x - y;
                let mean = std::array::from_fn(|k| p[k] * z + q[k] * x + r[k] * y);
                sum += area * error(a * z + b * x + c * y, mean);
                areas += area;
            }
        }
    }
    sum / areas
}

/// A picture with a round edge, and a ramp.
fn picture(x: f64, y: f64) -> [f64; 3] {
    let radius = ((x - 0.5) * (x - 0.5) + (y - 0.4) * (y - 0.4)).sqrt();
    let edge = ((radius - 0.25) * 20.0).clamp(-0.5, 0.5) + 0.5;
    [edge, 0.3 * x, 0.5 - 0.5 * (8.0 * y).sin()]
}

fn byte(x: f64) -> u8 {
    (255.0 * x).round() as u8
}

/// A plane with a picture as colours and as a field.
fn painted() -> Mesh {
    let mut mesh = Mesh::from(trioxide::generate::grid(10_000).expect("a grid"));
    let colors = mesh.points.iter().map(|p| picture(p.x, p.y).map(byte));
    mesh.attributes.colors = Some(colors.map(|[r, g, b]| [r, g, b, 255]).collect());
    let level = mesh
        .points
        .iter()
        .map(|p| 50.0 + 400.0 * picture(p.x, p.y)[0]);
    let level: Vec<f32> = level.map(|x| x as f32).collect();
    mesh.fields.points.push(Field::scalars("level", level));
    mesh.fields
        .points
        .push(Field::scalars("class", vec![3u8; mesh.points.len()]));
    mesh
}

#[test]
fn colours_and_fields_of_a_plane_are_kept() -> Result<()> {
    let on = Device::cpu(Some(2))?;
    let mesh = painted();
    let of_colors = |mesh: &Mesh| {
        let colors = mesh.attributes.colors.as_ref().expect("colours");
        let numbers = |v: usize| [0, 1, 2].map(|k| f64::from(colors[v][k]) / 255.0);
        mean_error(mesh, numbers, |p, mean| {
            let wanted = picture(p.x, p.y);
            (0..3).map(|k| (mean[k] - wanted[k]).abs()).sum::<f64>() / 3.0
        })
    };
    let of_level = |mesh: &Mesh| {
        let Some(Values::F32(level)) = mesh.fields.points.get("level").map(|f| &f.values) else {
            panic!("a field of floats");
        };
        mean_error(
            mesh,
            |v| [f64::from(level[v])],
            |p, mean| (mean[0] - 50.0 - 400.0 * picture(p.x, p.y)[0]).abs() / 400.0,
        )
    };
    let (plain, _) = decimate(&on, mesh.clone(), &options(0.1, &[]))?;
    let (colored, report) = decimate(&on, mesh.clone(), &options(0.1, &["colours"]))?;
    let (levelled, _) = decimate(&on, mesh.clone(), &options(0.1, &["level"]))?;
    println!(
        "input: colours {:.5}, level {:.5}",
        of_colors(&mesh),
        of_level(&mesh)
    );
    for (name, mesh) in [
        ("plain", &plain),
        ("colours", &colored),
        ("level", &levelled),
    ] {
        let (a, b) = (of_colors(mesh), of_level(mesh));
        println!("{name}: colours {a:.5}, level {b:.5}");
        assert_eq!(mesh.faces.len(), plain.faces.len());
    }
    assert!(2.0 * of_colors(&colored) < of_colors(&plain));
    assert!(4.0 * of_level(&levelled) < of_level(&plain));
    // Labels stay: a vertex has those of its survivor. Other numbers are fitted.
    let expected = mesh.fields.points.gather(&report.survivors);
    assert_eq!(colored.fields.points.get("class"), expected.get("class"));
    assert_ne!(colored.fields.points.get("level"), expected.get("level"));
    // The plane stays plane, and in its place.
    assert!(colored.points.iter().all(|p| p.z == 0.0));
    // Names in either spelling, and with a weight.
    let mut spelled = options(0.1, &["colors"]);
    assert_eq!(decimate(&on, mesh.clone(), &spelled)?.0, colored);
    spelled.weigh[0].weight = Some(0.0);
    let (free, _) = decimate(&on, mesh, &spelled)?;
    assert!(of_colors(&free) > 2.0 * of_colors(&colored));
    Ok(())
}

/// A sphere by longitude and latitude, cut at one meridian: the texture's left and right side are there.
fn globe(columns: usize, rows: usize) -> Mesh {
    let mut mesh = Mesh::default();
    let mut uvs = Vec::new();
    for j in 1..rows {
        for i in 0..=columns {
            let uv = DVec2::new(i as f64 / columns as f64, j as f64 / rows as f64);
            // The last column is at the place of the first.
            let turn = std::f64::consts::TAU * (i % columns) as f64 / columns as f64;
            let (height, up) = (std::f64::consts::PI * uv.y).sin_cos();
            mesh.points
                .push(DVec3::new(turn.cos() * height, turn.sin() * height, -up));
            uvs.push(uv);
        }
    }
    let at = |i: usize, j: usize| (j * (columns + 1) + i) as u32;
    let mut faces = Vec::new();
    for j in 0..rows - 2 {
        for i in 0..columns {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            faces.extend([[a, b, c], [a, c, d]]);
        }
    }
    mesh.faces = Faces::Triangles(faces);
    // Longer than units.
    mesh.attributes.normals = Some(mesh.points.iter().map(|&p| p * 3.0).collect());
    mesh.attributes.uvs = Some(uvs);
    mesh
}

/// A field that is linear in the position is exact after a plane is decimated, but for rounding; one that is not finite
/// keeps the numbers of survivors, with a note. The shape is that without fields.
#[test]
fn fields_are_fitted_where_vertices_go() -> Result<()> {
    let on = Device::cpu(Some(2))?;
    let mut mesh = Mesh::from(trioxide::generate::grid(900).expect("a grid"));
    for p in &mut mesh.points {
        (p.x, p.y) = (p.x + 0.3 * p.y, p.y - 0.2 * p.x);
    }
    let bare = mesh.clone();
    let linear: Vec<f64> = mesh.points.iter().map(|p| 3.0 * p.x - p.y).collect();
    let mut gaps = linear.clone();
    gaps[7] = f64::NAN;
    mesh.fields.points.push(Field::scalars("linear", linear));
    mesh.fields.points.push(Field::scalars("gaps", gaps));
    let (small, report) = decimate(&on, mesh, &options(0.1, &[]))?;
    assert_eq!(
        decimate(&on, bare, &options(0.1, &[]))?.0.points,
        small.points
    );
    let notes: Vec<String> = report.notes.iter().map(ToString::to_string).collect();
    assert!(
        matches!(&notes[..], [note] if note.starts_with("gaps has values that are not finite"))
    );
    let field = small.fields.points.get("linear").expect("the field");
    for (v, p) in small.points.iter().enumerate() {
        let error = field.values.f64(v) - (3.0 * p.x - p.y);
        assert!(error.abs() < 1e-12, "{error} at vertex {v}");
    }
    Ok(())
}

/// Corners of flat parts keep their bits, needles do not turn over, and seams stay closed.
#[test]
fn flat_parts_needles_and_seams() -> Result<()> {
    let on = Device::cpu(Some(2))?;
    // A cube of 6 times 16 squares, turned in space; each face has vertices of its own where `parted`.
    let cube = |parted: bool| {
        let mut mesh = Mesh::default();
        let mut ids = std::collections::HashMap::new();
        let mut faces = Vec::new();
        for face in 0..6 {
            let (axis, high) = (face / 2, face % 2);
            let mut id = |i: usize, j: usize| {
                let mut place = [0; 3];
                (place[axis], place[(axis + 1) % 3], place[(axis + 2) % 3]) = (4 * high, i, j);
                *ids.entry((place, if parted { face } else { 0 }))
                    .or_insert_with(|| {
                        let [x, y, z] = place.map(|x| x as f64);
                        let p = DVec3::new(x - 0.7 * y, 0.7 * x + y, z);
                        mesh.points.push(p);
                        mesh.points.len() as u32 - 1
                    })
            };
            for (i, j) in (0..16).map(|k| (k / 4, k % 4)) {
                let [a, b, c, d] = [id(i, j), id(i + 1, j), id(i + 1, j + 1), id(i, j + 1)];
                let two = if high == 1 {
                    [[a, b, c], [a, c, d]]
                } else {
                    [[a, c, b], [a, d, c]]
                };
                faces.extend(two);
            }
        }
        mesh.faces = Faces::Triangles(faces);
        mesh
    };
    let whole = cube(false);
    for least in [
        Options::new(12),
        Options {
            error: Some(1e-9),
            ..Options::default()
        },
    ] {
        let (small, _) = decimate(&on, whole.clone(), &least)?;
        assert_eq!(small.faces.len(), 12);
        assert!(small.points.iter().all(|p| whole.points.contains(p)));
    }
    // Sides that lie on each other have the same ends: no gap.
    let (small, _) = decimate(&on, cube(true), &options(0.5, &[]))?;
    let mut sides = std::collections::HashMap::new();
    for t in triangles(&small) {
        let corners = t.map(|v| small.points[v as usize].to_array().map(f64::to_bits));
        for k in 0..3 {
            *sides.entry((corners[k], corners[(k + 1) % 3])).or_insert(0) += 1;
        }
    }
    assert!(
        small.faces.len() <= 96
            && sides
                .iter()
                .all(|(&(a, b), n)| sides.get(&(b, a)) == Some(n))
    );
    // Three points of a rotated line make a triangle of rounding.
    let points = [
        [0.0, 0.0],
        [-0.7173560908995228, 0.6967067093471654],
        [-1.4347121817990456, 1.3934134186943308],
        [0.6967067093471654, 0.7173560908995228],
        [-0.020649381552357404, 1.4140628002466882],
        [-0.7380054724518802, 2.1107695095938537],
    ];
    let plane = Mesh {
        points: points.map(|[x, y]| DVec3::new(x, y, 0.0)).to_vec(),
        faces: Faces::Triangles(vec![[1, 4, 2], [1, 0, 4], [2, 4, 5], [5, 4, 3], [4, 0, 3]]),
        ..Mesh::default()
    };
    let up = |mesh: &Mesh, t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| {
            let p = mesh.points[v as usize];
            robust::Coord { x: p.x, y: p.y }
        });
        robust::orient2d(a, b, c)
    };
    for to in [4, 3, 2] {
        let (small, _) = decimate(&on, plane.clone(), &Options::new(to))?;
        assert!(
            triangles(&small).iter().all(|t| up(&small, t) > 0.0),
            "{to}"
        );
    }
    Ok(())
}

#[test]
fn seams_of_a_texture_collapse_in_pairs() -> Result<()> {
    let on = Device::cpu(Some(2))?;
    let (columns, rows) = (96, 64);
    let mesh = globe(columns, rows);
    let of_uvs = |mesh: &Mesh| {
        let uvs = mesh.attributes.uvs.as_ref().expect("texture coordinates");
        mean_error(
            mesh,
            |v| uvs[v].to_array(),
            |p, mean| {
                // The place on the sphere that the texture's place belongs to.
                let turn = std::f64::consts::TAU * mean[0];
                let (height, up) = (std::f64::consts::PI * mean[1]).sin_cos();
                let there = DVec3::new(turn.cos() * height, turn.sin() * height, -up);
                p.normalize().distance(there)
            },
        )
    };
    let (plain, _) = decimate(&on, mesh.clone(), &options(0.1, &[]))?;
    let (weighed, report) = decimate(&on, mesh.clone(), &options(0.1, &["uvs"]))?;
    println!(
        "uvs: input {:.5}, plain {:.5}, weighed {:.5}",
        of_uvs(&mesh),
        of_uvs(&plain),
        of_uvs(&weighed)
    );
    // Texture coordinates that are linear need no weight: they are fitted.
    assert!(of_uvs(&weighed).max(of_uvs(&plain)) < 0.003);
    // Both sides of the seam collapse together, each with its texture coordinates, and no note asks for a weld.
    let uvs = weighed.attributes.uvs.as_ref().expect("uvs");
    let mut left = std::collections::BTreeSet::new();
    for first in (0..rows - 1).map(|j| j * (columns + 1)) {
        let [a, b] = [first, first + columns].map(|old| report.map[old] as usize);
        assert!(a != b && weighed.points[a] == weighed.points[b]);
        assert!((uvs[b].x - uvs[a].x - 1.0).abs() < 0.02 && (uvs[b].y - uvs[a].y).abs() < 0.02);
        left.insert(a);
    }
    assert!(
        (3..rows / 2).contains(&left.len()),
        "{} of {rows}",
        left.len()
    );
    assert_eq!(
        (weighed.faces.len(), &*report.notes),
        (mesh.faces.len() / 10, &[][..])
    );
    // Normals are unit vectors, but for vertices that keep theirs.
    let (shaded, report) = decimate(&on, mesh.clone(), &options(0.1, &["normals", "uvs"]))?;
    let normals = shaded.attributes.normals.as_ref().expect("normals");
    let mut new = 0;
    for (normal, &old) in normals.iter().zip(&report.survivors) {
        if *normal != mesh.points[old as usize] * 3.0 {
            assert!((normal.length() - 1.0).abs() < 1e-15);
            new += 1;
        }
    }
    assert!(new > 50);
    let of_normals = |mesh: &Mesh| {
        let normals = mesh.attributes.normals.as_ref().expect("normals");
        let unit = |v: usize| normals[v].normalize().to_array();
        mean_error(mesh, unit, |p, mean| {
            DVec3::from_array(mean).normalize().distance(p.normalize())
        })
    };
    let (a, b) = (of_normals(&plain), of_normals(&shaded));
    println!("normals: plain {a:.5}, weighed {b:.5}");
    // As texture coordinates.
    assert!(a.max(b) < 1e-4);
    Ok(())
}

/// A cloud is refused; edges of three triangles are counted in a note.
#[test]
fn points_and_edges_of_many_faces() -> Result<()> {
    let on = Device::cpu(Some(1))?;
    let mut mesh = Mesh {
        points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, -1, 0]]
            .map(|p| DVec3::from_array(p.map(f64::from)))
            .to_vec(),
        ..Mesh::default()
    };
    let refusal = decimate(&on, mesh.clone(), &Options::new(1)).map_err(|error| error.to_string());
    assert!(refusal.is_err_and(|text| text.contains("5 points and no triangles")));
    mesh.faces = Faces::Triangles(vec![[0, 1, 2], [0, 1, 3], [0, 1, 4]]);
    let (_, report) = decimate(&on, mesh, &Options::new(1))?;
    let first = report.notes[0].to_string();
    assert!(
        first.starts_with("1 edge has more than two triangles"),
        "{first}"
    );
    Ok(())
}

#[test]
fn numbers_that_are_no_numbers_of_the_mesh_are_refused() {
    let on = Device::cpu(Some(1)).expect("a device");
    let refusal = |mesh: &Mesh, name: &str| {
        let done = decimate(&on, mesh.clone(), &options(0.5, &[name]));
        // `expect_err` would print the whole mesh.
        let Err(refusal) = done else {
            panic!("{name} was taken")
        };
        refusal.say(FIELDS)
    };
    let mut mesh = painted();
    assert_eq!(
        refusal(&mesh, "heat"),
        "the points have no heat to weigh: they have colours, level"
    );
    assert_eq!(
        refusal(&mesh, "class"),
        "field class has integers, which are labels: `weigh` takes fields of floats"
    );
    let mut normals = vec![DVec3::Z; mesh.points.len()];
    normals[9].y = f64::NAN;
    mesh.attributes.normals = Some(normals);
    assert_eq!(
        refusal(&mesh, "normals"),
        "vertex 9 has a weighed number that is not finite, or is beyond 2^250"
    );
    mesh.attributes.normals = Some(vec![DVec3::Z; 3]);
    assert_eq!(
        refusal(&mesh, "normals"),
        format!(
            "the mesh has 3 numbers of vertices for {} elements",
            mesh.points.len()
        )
    );
    // A surface in a device's memory has no numbers.
    let points = on.upload(&mesh.points).expect("points");
    let corners = on.upload(triangles(&mesh)).expect("triangles").cast();
    let surface = trioxide::decimate::Surface::new(&points, &corners);
    let done = trioxide_operations::decimate::resident(&on, &surface, &options(0.5, &["uvs"]));
    assert_eq!(
        done.err().expect("a refusal").say(FIELDS),
        "`weigh` needs the attributes of a mesh in host memory: leave it out, or decimate on the host"
    );
}
