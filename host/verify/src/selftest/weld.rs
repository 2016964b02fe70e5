//! Welding on a device against the sequential reference, for equality of every array.

use std::sync::Arc;

use glam::DVec3;

use super::{Case, Outcome, Size, equal};
use trioxide::device::Device;
use trioxide::generate;
use trioxide::mesh::{Faces, VertexAttributes};
use trioxide::weld::{
    DeviceMesh, Error, Method, Options, Position, Result, Tuning, Welded, bytes_needed, weld,
    weld_from_host,
};
use trioxide_reference as reference;

/// Points and triangles, by name, with the epsilons to weld them by.
struct Input {
    name: &'static str,
    points: Vec<DVec3>,
    faces: Vec<[u32; 3]>,
    epsilons: Vec<f64>,
    /// Epsilon up to which every method is run, if there are more than [`MOST_PAIRED`] points.
    paired_up_to: f64,
}

/// Most points whose pairs may all be neighbours.
const MOST_PAIRED: usize = 6_000;

/// The cases of this family.
pub fn cases(size: Size) -> Vec<Case> {
    let mut inputs = inputs(size);
    if size == Size::Large {
        let (points, faces) = scan(2_000_000, 3);
        inputs.push(Input {
            name: "a scan of 2M vertices",
            points,
            faces,
            epsilons: vec![1e-3],
            paired_up_to: 1e-3,
        });
        let (points, faces) = scan(20_000, 1);
        inputs.push(Input {
            name: "a scan of 20k vertices",
            points,
            faces,
            epsilons: vec![10.0],
            paired_up_to: 0.12,
        });
    }
    let mut cases = Vec::new();
    for input in inputs {
        let input = Arc::new(input);
        for &epsilon in &input.epsilons {
            let input = input.clone();
            cases.push(Case::new(
                format!("weld {} by {epsilon:e}", input.name),
                move |on| compare(on, &input, epsilon),
            ));
        }
    }
    cases.push(Case::new("weld by keys that collide", colliding_keys));
    cases.push(Case::new("weld refuses long lists", long_lists));
    cases.push(Case::new(
        "weld refuses bad points by each method",
        bad_points,
    ));
    cases.push(Case::new(
        "weld chooses a method by memory",
        method_by_memory,
    ));
    cases
}

fn compare(on: &Device, input: &Input, epsilon: f64) -> Outcome {
    for options in [
        Options::new(epsilon),
        Options {
            position: Position::First,
            keep_degenerate: true,
            ..Options::new(epsilon)
        },
        by_chains(Options::new(epsilon)),
        crowded(Options::new(epsilon), None),
        crowded(Options::new(epsilon), Some(3)),
    ] {
        let expected = reference::weld(&input.points, &input.faces, &options)?;
        let mesh = DeviceMesh::upload_arrays(on, &input.points, &input.faces)?;
        let ours = weld(on, &mesh, options)?;
        let removed: Vec<u32> = on.download_rows(&ours.removed(on)?)?;
        let ours = ours.download(on)?;
        equal_welds(&ours, &expected).map_err(|error| format!("{options:?}: {error}"))?;
        let gone = (0..input.points.len() as u32)
            .filter(|v| expected.representatives.binary_search(v).is_err());
        equal("removed", &removed, &gone.collect::<Vec<_>>())?;
        let ours = weld_from_host(on, &input.points, &input.faces, options)?;
        equal_welds(&ours.welded, &expected)
            .map_err(|error| format!("copies beside work, {options:?}: {error}"))?;
    }
    // Methods that store all pairs of neighbours take seconds for more points.
    if input.points.len() > MOST_PAIRED && epsilon > input.paired_up_to {
        return Ok(());
    }
    compare_methods(on, input, &Options::new(epsilon))
}

/// Along chains wherever the first round leaves a vertex.
pub fn by_chains(options: Options) -> Options {
    Options {
        tuning: Tuning {
            dense_share: Some(usize::MAX),
            ..options.tuning
        },
        ..options
    }
}

/// As if all cells were crowded.
pub fn crowded(options: Options, crowded_patience: Option<u32>) -> Options {
    Options {
        tuning: Tuning {
            most_in_bucket: 0,
            crowded_patience,
            ..options.tuning
        },
        ..options
    }
}

/// Welds by every method.
fn compare_methods(on: &Device, input: &Input, options: &Options) -> Outcome {
    let expected = reference::weld(&input.points, &input.faces, options)?;
    let mesh = DeviceMesh::upload_arrays(on, &input.points, &input.faces)?;
    for method in Method::ALL {
        let options = Options { method, ..*options };
        let ours = weld(on, &mesh, options)?;
        if ours.method() != method {
            return Err(format!("{method:?} became {:?}", ours.method()));
        }
        if ours.left().last().is_some_and(|&left| left > 0) {
            return Err(format!("{method:?} leaves {:?} undecided", ours.left()));
        }
        equal_welds(&ours.download(on)?, &expected)
            .map_err(|error| format!("{options:?}: {error}"))?;
    }
    Ok(())
}

/// Keys of few bits, so that most cells share theirs with others: cells are compared by more than the key.
fn colliding_keys(on: &Device) -> Outcome {
    let (points, faces) = scan(700, 4);
    let input = Input {
        name: "a small scan",
        points,
        faces,
        epsilons: Vec::new(),
        paired_up_to: f64::MAX,
    };
    for (key_bits, epsilon) in [(1, 0.2), (4, 0.05), (8, 0.0), (8, 0.1)] {
        let tuning = Tuning {
            key_bits,
            ..Tuning::default()
        };
        let options = Options {
            tuning,
            ..Options::new(epsilon)
        };
        compare_methods(on, &input, &options)
            .map_err(|error| format!("{key_bits} bits: {error}"))?;
    }
    Ok(())
}

/// Lists of neighbours that would be too long are refused; the longest list that fits is made.
fn long_lists(on: &Device) -> Outcome {
    let n = 500;
    let pairs = n as u64 * (n as u64 - 1) / 2;
    let mesh = DeviceMesh::upload_arrays(on, &vec![DVec3::ONE; n], &[])?;
    for method in [Method::Dependency, Method::SparseGrid] {
        let run = |most_neighbours: u64| -> Result<usize> {
            let tuning = Tuning {
                most_neighbours,
                ..Tuning::default()
            };
            let options = Options {
                method,
                tuning,
                ..Options::new(0.0)
            };
            Ok(weld(on, &mesh, options)?.points().len())
        };
        if run(pairs)? != 1 {
            return Err(format!("{method:?} does not merge equal points"));
        }
        for most in [pairs - 1, pairs / 2, 0] {
            match run(most) {
                Err(Error::Neighbours { needed, room, .. })
                    if room == 4 * most && needed > room && needed <= 4 * pairs => {}
                other => return Err(format!("{method:?} with room for {most}: {other:?}")),
            }
        }
    }
    Ok(())
}

/// `auto` takes the grid, or the method with the least memory where the grid does not fit; a mesh that fits by no
/// method is refused.
fn method_by_memory(on: &Device) -> Outcome {
    let free = on.free_bytes()?;
    let choose = |points: u64| Method::Auto.choose(on, points as usize, 0, false);
    let by_grid = bytes_needed(Method::Grid, 1 << 20, 0) >> 20;
    let by_least = bytes_needed(Method::OnTheFly, 1 << 20, 0) >> 20;
    // Free memory changes meanwhile: the bounds are far away.
    let cases = [
        (2 * by_grid, Some(Method::Grid)),
        ((by_grid + by_least) / 2, Some(Method::OnTheFly)),
        (by_least / 2, None),
    ];
    for (bytes_each, expected) in cases {
        // Where the system does not report free memory, every mesh fits.
        if free > 1 << 50 {
            break;
        }
        match (choose(free / bytes_each), expected) {
            (Ok(chosen), Some(expected)) if chosen == expected => {}
            (Err(Error::Shared(trioxide::Error::OutOfMemory { .. })), None) => {}
            (other, _) => {
                return Err(format!(
                    "{other:?} by {bytes_each} bytes a vertex, expected {expected:?}"
                ));
            }
        }
    }
    let mesh = DeviceMesh::upload_arrays(on, &[DVec3::ZERO, DVec3::ONE], &[])?;
    let welded = weld(on, &mesh, Options::new(0.5))?;
    if welded.method() != Method::Grid {
        return Err(format!("{:?} for two points", welded.method()));
    }
    Ok(())
}

/// A coordinate that is no number is refused by each method, with the lowest vertex that has one.
fn bad_points(on: &Device) -> Outcome {
    for bad in [f64::NAN, f64::INFINITY, -1e299] {
        let mut points = vec![DVec3::ONE; 100];
        points[70].y = bad;
        points[40].z = bad;
        let mesh = DeviceMesh::upload_arrays(on, &points, &[])?;
        for method in Method::ALL {
            let options = Options {
                method,
                ..Options::new(0.5)
            };
            match weld(on, &mesh, options) {
                Err(Error::Coordinate { vertex: 40 }) => {}
                Err(other) => return Err(format!("{method:?} with {bad}: {other}")),
                Ok(_) => return Err(format!("{method:?} takes {bad}")),
            }
        }
    }
    Ok(())
}

/// Compares two results by bits.
pub(super) fn equal_welds(ours: &Welded, expected: &Welded) -> Outcome {
    // By bits: -0.0 is not 0.0.
    let bits = |points: &[DVec3]| -> Vec<[u64; 3]> {
        let bits = |p: &DVec3| p.to_array().map(f64::to_bits);
        points.iter().map(bits).collect()
    };
    equal("map", &ours.map, &expected.map)?;
    equal(
        "representatives",
        &ours.representatives,
        &expected.representatives,
    )?;
    equal("points", &bits(&ours.points), &bits(&expected.points))?;
    equal("faces", &ours.faces, &expected.faces)?;
    let attributes = |welded: &Welded| -> Vec<Vec<u64>> {
        let VertexAttributes {
            normals,
            colors,
            uvs,
        } = &welded.attributes;
        let normals = normals.iter().flatten().flat_map(|n| n.to_array());
        let uvs = uvs.iter().flatten().flat_map(|uv| uv.to_array());
        let colors = colors
            .iter()
            .flatten()
            .map(|&c| u32::from_le_bytes(c).into());
        let regions = welded.regions.iter().flatten().map(|&r| r as u64);
        vec![
            normals.map(f64::to_bits).collect(),
            uvs.map(f64::to_bits).collect(),
            colors.collect(),
            regions.collect(),
        ]
    };
    let names = ["normals", "texture coordinates", "colours", "regions"];
    let (ours, expected) = (attributes(ours), attributes(expected));
    for (name, (ours, expected)) in names.iter().zip(ours.iter().zip(&expected)) {
        equal(name, ours, expected)?;
    }
    Ok(())
}

/// Scans, in order and shuffled, and a triangle soup.
fn scans(size: Size) -> Vec<Input> {
    let (points, faces) = scan(size.of(20_000), 1);
    let spacing = 0.03;
    let mut inputs = vec![Input {
        name: "a scan",
        points: points.clone(),
        faces: faces.clone(),
        epsilons: vec![0.0, spacing / 20.0, spacing, 4.0 * spacing, 0.5],
        paired_up_to: 4.0 * spacing,
    }];
    // Every point is a neighbour of every other: time grows with the square of the points.
    let (all_points, all_faces) = scan(size.of(5_000), 1);
    inputs.push(Input {
        name: "a scan of 5k vertices",
        points: all_points,
        faces: all_faces,
        epsilons: vec![10.0],
        paired_up_to: 4.0 * spacing,
    });
    let (points, faces) = shuffled(&points, &faces);
    inputs.push(Input {
        name: "a scan in random order",
        points: points.clone(),
        faces: faces.clone(),
        epsilons: vec![spacing / 4.0, spacing, 4.0 * spacing],
        paired_up_to: spacing,
    });
    // Six vertices at each place.
    let (points, faces) = scan(size.of(6_000), 1);
    inputs.push(Input {
        name: "a triangle soup",
        points: faces
            .iter()
            .flatten()
            .map(|&v| points[v as usize])
            .collect(),
        faces: (0..faces.len() as u32)
            .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
            .collect(),
        epsilons: vec![0.0, spacing / 4.0, spacing],
        paired_up_to: spacing / 4.0,
    });
    let (points, faces) = scan(size.of(1_500), 2);
    inputs.push(Input {
        name: "a small scan",
        points,
        faces,
        epsilons: vec![0.1, 0.5, 10.0],
        paired_up_to: f64::MAX,
    });
    inputs
}

fn inputs(size: Size) -> Vec<Input> {
    let line = |n: u32, spacing: f64| -> Vec<DVec3> {
        (0..n)
            .map(|i| DVec3::X * (f64::from(i) * spacing))
            .collect()
    };
    let lattice = |n: u32, spacing: f64| -> Vec<DVec3> {
        (0..n * n * n)
            .map(|i| DVec3::new((i % n).into(), (i / n % n).into(), (i / n / n).into()) * spacing)
            .collect()
    };
    let strip = |n: u32| {
        (0..n.saturating_sub(2))
            .map(|i| [i, i + 1, i + 2])
            .collect()
    };
    let mut inputs = scans(size);
    let mut named = |name, points: Vec<DVec3>, epsilons: &[f64]| {
        let faces = strip(points.len() as u32);
        inputs.push(Input {
            name,
            points,
            faces,
            epsilons: epsilons.to_vec(),
            paired_up_to: f64::MAX,
        });
    };
    named("nothing", Vec::new(), &[0.0, 1.0]);
    named("one point", vec![DVec3::ONE], &[0.0, 1.0]);
    let links = size.of(3000) as u32;
    named("a chain", line(links, 1.0), &[1.0, 2.5]);
    named("a chain backwards", line(links, -1.0), &[1.0]);
    named(
        "a lattice at exactly epsilon",
        lattice(12, 0.1),
        &[0.1, 0.2, 0.0],
    );
    named(
        "equal points",
        vec![DVec3::new(0.1, 0.2, 0.3); size.of(5000)],
        &[0.0, 1.0],
    );
    named(
        "zeros of both signs",
        (0..64)
            .map(|i| DVec3::from_array([1, 2, 4].map(|bit| if i & bit == 0 { 0.0 } else { -0.0 })))
            .collect(),
        &[0.0],
    );
    named(
        "large coordinates",
        line(200, 1e295),
        &[0.0, 1e295, 1e298, f64::MAX],
    );
    named(
        "tiny coordinates",
        line(200, 5e-324),
        &[0.0, 5e-324, 1e-322, 1e-300],
    );
    // One point of each kind far from all others, so that cells beyond the floored range are met.
    let each = size.of(500) as u32;
    let mut far = line(each, 1e-9);
    far.extend(line(each, 1e-9).iter().map(|p| *p + DVec3::Y * 1e6));
    far.extend(line(each, 1e3).iter().map(|p| *p - DVec3::splat(1e30)));
    far.extend(
        line(each, 1e6)
            .iter()
            .map(|p| *p * DVec3::NEG_X + DVec3::X * 1e18),
    );
    named("far apart", far, &[0.0, 1e-9, 1e-3, 2e6]);
    inputs
}

/// The scan of [`generate::scan`]: its points and triangles.
///
/// # Panics
/// If `n` is under 16 or over [`MAX_POINTS`](generate::MAX_POINTS).
pub fn scan(n: usize, seed: u64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let mesh = generate::scan(n, seed).expect("a scan has 16 points or more");
    let Faces::Triangles(triangles) = mesh.faces else {
        unreachable!("a scan has triangles")
    };
    (mesh.points, triangles)
}

/// The same mesh with its vertices in another order.
pub fn shuffled(points: &[DVec3], faces: &[[u32; 3]]) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    order.sort_by_key(|&v| u64::from(v + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) << 7);
    let mut place = vec![0; points.len()];
    for (i, &v) in order.iter().enumerate() {
        place[v as usize] = i as u32;
    }
    (
        order.iter().map(|&v| points[v as usize]).collect(),
        faces
            .iter()
            .map(|face| face.map(|v| place[v as usize]))
            .collect(),
    )
}
