//! Decimation that keeps numbers of the vertices: with them in the quadrics their errors are smaller, and seams stay.

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
    assert!(4.0 * of_colors(&colored) < of_colors(&plain));
    assert!(4.0 * of_level(&levelled) < of_level(&plain));
    // Other numbers stay: a vertex has the numbers of its survivor.
    let expected = mesh.fields.points.gather(&report.survivors);
    assert_eq!(colored.fields.points, expected);
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

#[test]
fn seams_of_a_texture_stay() -> Result<()> {
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
    assert!(2.0 * of_uvs(&weighed) < of_uvs(&plain));
    // Both sides keep the vertices of the seam, with their texture coordinates.
    let (before, after) = (
        mesh.attributes.uvs.as_ref(),
        weighed.attributes.uvs.as_ref(),
    );
    let (before, after) = (before.expect("uvs"), after.expect("uvs"));
    for j in 0..rows - 1 {
        for i in [0, columns] {
            let old = j * (columns + 1) + i;
            let new = report.map[old] as usize;
            assert_eq!(weighed.points[new], mesh.points[old]);
            assert_eq!(after[new], before[old]);
        }
    }
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
    assert!(1.5 * b < a);
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
