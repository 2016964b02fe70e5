//! Distances between shapes against the definition by all pairs, and against known distances.

use std::f64::consts::{PI, TAU};

use glam::DVec3;

use super::{Case, Outcome, Size, equal, random};
use crate::validate::compare::nearest;
use trioxide::Buffer;
use trioxide::compare::{Options, Shape, Tree, compare, draw, sum};
use trioxide::device::Device;
use trioxide::generate;
use trioxide::ids::Vertex;
use trioxide::random::mix;

/// The cases.
pub fn cases(size: Size) -> Vec<Case> {
    vec![
        Case::new("distances of spheres", move |on| {
            spheres(on, size.of(20_000))
        }),
        Case::new("distances to graded triangles and outliers", move |on| {
            against_all_pairs(on, graded(size.of(400)))
        }),
        Case::new("distances to triangles of the plane", move |on| {
            let mesh = random(size.of(400), 7)?;
            let points = mesh.points.iter().map(|p| p.extend(0.0)).collect();
            against_all_pairs(on, (points, mesh.triangles))
        }),
        Case::new("distances to a cloud", move |on| {
            let (points, _) = graded(size.of(400));
            against_all_pairs(on, (points, Vec::new()))
        }),
        Case::new("distances to one triangle and one point", |on| {
            let points = vec![DVec3::ZERO, DVec3::X, DVec3::Y];
            against_all_pairs(on, (points.clone(), vec![[0, 1, 2]]))?;
            against_all_pairs(on, (points, vec![[0, 1, 1]]))?;
            against_all_pairs(on, (vec![DVec3::ONE], Vec::new()))
        }),
        Case::new("samples of triangles", samples),
        Case::new("comparison of a scan with itself", move |on| {
            itself(on, size.of(2000))
        }),
        Case::new("comparison refuses", refused),
    ]
}

type Mesh = (Vec<DVec3>, Vec<[u32; 3]>);

/// A mesh on a device.
struct Uploaded {
    points: Buffer<DVec3>,
    corners: Buffer<Vertex>,
}

impl Uploaded {
    fn new(on: &Device, (points, triangles): &Mesh) -> trioxide::Result<Self> {
        Ok(Self {
            points: on.upload(points)?,
            corners: on.upload(triangles.as_flattened())?.cast(),
        })
    }

    fn shape(&self, on: &Device) -> trioxide::Result<Shape<'_>> {
        Shape::new(on, &self.points, &self.corners)
    }
}

/// A number from 0 to 1.
fn number(i: u64) -> f64 {
    mix(i) as f64 / u64::MAX as f64
}

/// Triangles of all sizes around places that are ever denser: repeated, without an area, one huge, and one far away.
fn graded(triangles: usize) -> Mesh {
    let (mut points, mut corners) = (Vec::new(), Vec::new());
    for t in 0..triangles as u64 {
        let of = |k: u64| number(64 * t + k) - 0.5;
        let vector = |k: u64| DVec3::new(of(3 * k), of(3 * k + 1), of(3 * k + 2));
        let scale = number(64 * t + 20).powi(12);
        let place = vector(0) * scale;
        let first = points.len() as u32;
        points.extend([1, 2, 3].map(|k| place + 0.1 * scale * vector(k)));
        corners.push(match t % 16 {
            0 if first > 0 => corners[t as usize / 2],
            1 => [first, first + 1, first + 1],
            _ => [first, first + 1, first + 2],
        });
    }
    let first = points.len() as u32;
    points.extend([
        DVec3::new(-9.0, 3.0, 0.4),
        DVec3::new(8.0, -7.0, -0.3),
        DVec3::new(1e9, 1e9, 1e9),
    ]);
    corners.push([first, first + 1, first / 2]);
    corners.push([first + 2; 3]);
    (points, corners)
}

/// Places near, on and far from a mesh.
fn places(mesh: &Mesh) -> Vec<DVec3> {
    let (points, triangles) = mesh;
    let mut places: Vec<DVec3> = points.clone();
    for (i, t) in (0..).zip(triangles) {
        let middle = t.map(|v| points[v as usize]).into_iter().sum::<DVec3>() / 3.0;
        places.push(middle);
        let offset = DVec3::new(number(3 * i), number(3 * i + 1), number(3 * i + 2)) - 0.5;
        places.push(middle + 2.0 * offset);
    }
    places.push(DVec3::splat(-1e5));
    places
}

fn against_all_pairs(on: &Device, mesh: Mesh) -> Outcome {
    let places = places(&mesh);
    let uploaded = Uploaded::new(on, &mesh)?;
    let tree = Tree::build(on, uploaded.shape(on)?)?;
    let found = tree.nearest(on, &on.upload(&places)?)?;
    let (distances, triangles) = nearest(&places, &mesh.0, &mesh.1);
    let ours: Vec<f64> = on.download(&found.distances)?;
    equal("distance", &ours, &distances)?;
    equal(
        "triangle",
        &on.download_rows::<_, u32>(&found.triangles)?,
        &triangles,
    )?;
    // The sums, whose order is that of blocks.
    let sums = sum(on, &found.distances)?;
    let count = distances.len() as f64;
    let largest = distances.iter().copied().fold(0.0, f64::max);
    equal("largest distance", &[sums.largest], &[largest])?;
    let mean = distances.iter().sum::<f64>() / count;
    let squares: f64 = distances.iter().map(|d| d * d).sum();
    let close = |ours: f64, expected: f64| (ours - expected).abs() <= 1e-12 * expected;
    let root = (squares / count).sqrt();
    if !(close(sums.mean, mean) && close(sums.root_mean_square, root)) {
        return Err(format!("{sums:?}, expected {mean} and {root}"));
    }
    Ok(())
}

/// A sphere of about `n` triangles.
fn sphere(n: usize, radius: f64) -> Mesh {
    let rings = ((n / 4) as f64).sqrt().ceil().max(3.0) as u32;
    let around = 2 * rings;
    let mut points = vec![DVec3::new(0.0, 0.0, radius), DVec3::new(0.0, 0.0, -radius)];
    for ring in 1..rings {
        for i in 0..around {
            let (down, turn) = (
                PI * f64::from(ring) / f64::from(rings),
                TAU * f64::from(i) / f64::from(around),
            );
            let (sine, cosine) = libm::sincos(down);
            let (y, x) = libm::sincos(turn);
            points.push(radius * DVec3::new(sine * x, sine * y, cosine));
        }
    }
    let at = |ring: u32, i: u32| 2 + (ring - 1) * around + i % around;
    let mut triangles = Vec::new();
    for i in 0..around {
        triangles.push([0, at(1, i), at(1, i + 1)]);
        triangles.push([1, at(rings - 1, i + 1), at(rings - 1, i)]);
        for ring in 1..rings - 1 {
            let (a, b) = (at(ring, i), at(ring, i + 1));
            let (c, d) = (at(ring + 1, i), at(ring + 1, i + 1));
            triangles.extend([[a, c, b], [b, c, d]]);
        }
    }
    (points, triangles)
}

/// A sphere and one a quarter larger: vertices are a quarter apart, up to the facets.
fn spheres(on: &Device, n: usize) -> Outcome {
    let (small, large) = (sphere(n, 1.0), sphere(n, 1.25));
    let (a, b) = (Uploaded::new(on, &small)?, Uploaded::new(on, &large)?);
    let options = Options {
        samples: 2000,
        seed: 5,
    };
    let compared = compare(on, a.shape(on)?, b.shape(on)?, options)?;
    // The middle of a facet is as much nearer to the centre: an angle of 180 degrees by the rings.
    let rings = ((n / 4) as f64).sqrt().ceil().max(3.0);
    let facet = 1.25 * (1.0 - libm::cos(PI / rings));
    for side in [compared.there, compared.back] {
        let samples = side.samples.ok_or("no samples")?;
        let normals = side.normals.ok_or("no normals")?;
        for (name, distance) in [
            ("vertices", side.vertices.largest),
            ("vertices", side.vertices.mean),
            ("samples", samples.largest),
            ("samples", samples.mean),
            ("samples", samples.root_mean_square),
        ] {
            if (distance - 0.25).abs() > facet {
                return Err(format!("{name} are {distance} apart, {facet} beside 0.25"));
            }
        }
        if samples.points != 2000 || normals.mean > 360.0 / rings {
            return Err(format!("{samples:?}, {normals:?}"));
        }
    }
    let diagonal = compared.diagonal;
    match (diagonal - 12f64.sqrt()).abs() < 0.2 {
        true => Ok(()),
        false => Err(format!("the diagonal is {diagonal}")),
    }
}

/// Each part of the area has one sample, which lies in its triangle.
fn samples(on: &Device) -> Outcome {
    let (mut points, mut triangles) = sphere(700, 1.0);
    // Triangles without an area, also at the start and at the end of chunks.
    for place in [0, 1, 63, 64, 65, 128, 200] {
        triangles.insert(place, [place as u32; 3]);
    }
    triangles.extend([[3; 3]; 200]);
    points.push(DVec3::splat(7.0));
    let mesh = (points, triangles);
    let uploaded = Uploaded::new(on, &mesh)?;
    let options = Options {
        samples: 5000,
        seed: 11,
    };
    let drawn = draw(on, uploaded.shape(on)?, options)?.ok_or("no samples")?;
    let (points, of): (Vec<DVec3>, Vec<u32>) = (
        on.download(&drawn.points)?,
        on.download_rows(&drawn.triangles)?,
    );
    let corners = |t: u32| mesh.1[t as usize].map(|v| mesh.0[v as usize]);
    let area = |t: u32| {
        let [a, b, c] = corners(t);
        0.5 * (b - a).cross(c - a).length()
    };
    let all: f64 = (0..mesh.1.len() as u32).map(area).sum();
    let (mut before, mut next) = (0.0, 0);
    for t in 0..mesh.1.len() as u32 {
        let first = next;
        while next < of.len() && of[next] == t {
            next += 1;
        }
        // As many as the area has parts, or one more or less at each end.
        let wanted = area(t) / all * 5000.0;
        if ((next - first) as f64 - wanted).abs() > 2.0 || area(t) == 0.0 && next > first {
            return Err(format!(
                "triangle {t} has {} samples of {wanted}",
                next - first
            ));
        }
        before += wanted;
        if (next as f64 - before).abs() > 1.0 + 1e-6 {
            return Err(format!(
                "{next} samples of {before} lie before triangle {}",
                t + 1
            ));
        }
        for point in &points[first..next] {
            let square = gpu::compare::square_to(*point, corners(t));
            if square > 1e-28 {
                return Err(format!("a sample is {} from triangle {t}", square.sqrt()));
            }
        }
    }
    match next == of.len() {
        true => Ok(()),
        false => Err("samples do not ascend by triangles".to_owned()),
    }
}

/// A mesh has no distance to itself in any order, and the other seed gives other samples.
fn itself(on: &Device, n: usize) -> Outcome {
    let mesh = generate::scan(n, 3)?.into_surface()?;
    let mesh = (mesh.points, mesh.triangles);
    let mut turned = mesh.clone();
    turned.1.reverse();
    let (a, b) = (Uploaded::new(on, &mesh)?, Uploaded::new(on, &turned)?);
    let options = |seed| Options { samples: 500, seed };
    let compared = compare(on, a.shape(on)?, b.shape(on)?, options(1))?;
    for side in [compared.there, compared.back] {
        let samples = side.samples.ok_or("no samples")?.largest;
        let normals = side.normals.ok_or("no normals")?.largest;
        if side.vertices.largest != 0.0 || samples > 1e-15 * compared.diagonal || normals > 1e-6 {
            return Err(format!("a mesh differs from itself: {side:?}"));
        }
    }
    let places = |seed| -> Result<Vec<DVec3>, String> {
        let drawn = draw(on, a.shape(on)?, options(seed))?.ok_or("no samples")?;
        Ok(on.download(&drawn.points)?)
    };
    match places(1)? != places(2)? && places(1)? == places(1)? {
        true => Ok(()),
        false => Err("samples do not follow the seed".to_owned()),
    }
}

/// Meshes that break a rule.
fn refused(on: &Device) -> Outcome {
    let good = vec![DVec3::ZERO, DVec3::X, DVec3::Y];
    let with = |point: DVec3| vec![DVec3::ZERO, DVec3::X, point];
    for (points, triangles, words) in [
        (
            good.clone(),
            vec![[0, 1, 2], [0, 3, 1]],
            "triangle 1 has vertex 3",
        ),
        (
            with(DVec3::new(0.0, f64::NAN, 0.0)),
            vec![[0, 1, 2]],
            "vertex 2 has a coordinate",
        ),
        (
            with(DVec3::new(0.0, 1e300, 0.0)),
            vec![[0, 1, 2]],
            "scale the mesh down",
        ),
        (
            good.iter().map(|p| 1e-300 * p).collect(),
            Vec::new(),
            "scale the mesh up",
        ),
        (Vec::new(), Vec::new(), "no points"),
    ] {
        let uploaded = Uploaded::new(on, &(points, triangles))?;
        match uploaded.shape(on) {
            Err(error) if error.to_string().contains(words) => {}
            Err(error) => return Err(format!("{error}, expected {words}")),
            Ok(_) => return Err(format!("no error, expected {words}")),
        }
    }
    Ok(())
}
