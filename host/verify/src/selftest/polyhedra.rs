//! Polyhedra on a device against the serial reference, and against the rules that any result must keep.

use std::sync::Arc;

use glam::{DVec3, Vec3};
use gpu::point3::Point3;

use super::refine_tets::{meshes, oriented};
use super::{Case, Outcome, Size, equal};
use crate::validate;
use trioxide::device::Device;
use trioxide::polyhedra::{Measure, Options, Rule, polyhedra};
use trioxide::polyhedra_mesh::{PolyhedraLists, PolyhedralMesh};
use trioxide::refine_tets::{DeviceTets, SpacePoint};
use trioxide::volume::{TaggedTriangle, TetMesh};
use trioxide::{Result, generate};
use trioxide_reference as reference;

pub fn cases(size: Size) -> Result<Vec<Case>> {
    let mut all = meshes(size)?;
    all.push(("a wheel of 7 tetrahedra".to_owned(), wheel(7)));
    all.push((
        "a wheel of 300 tetrahedra".to_owned(),
        wheel(size.of(300) as u32),
    ));
    all.push((
        "a chain of 2000 tetrahedra, each larger than the one before".to_owned(),
        chain(size.of(2000) as u32),
    ));
    // Longer than a block has room for, and than a thread orders alone on a GPU, and walks of many rounds.
    all.push(("a chain of 9000 tetrahedra".to_owned(), chain(9000)));
    let random = generate::random_tets(size.of(2000), 3)?;
    all.push(("slivers".to_owned(), slivers(random.clone())));
    all.push((
        "rings and other tetrahedra at the same edges".to_owned(),
        overlapping(random.clone()),
    ));
    all.push(("holes".to_owned(), holes(random.clone())));
    all.push(("regions and inner tagged faces".to_owned(), tagged(random)));
    all.push(("no tetrahedra".to_owned(), TetMesh::default()));
    let mut cases = Vec::new();
    for (name, mesh) in all {
        let mesh = Arc::new(mesh);
        for (how, options) in ways() {
            // A row of ascending radii takes a round for each tetrahedron: a shorter one follows.
            if options.rule == Rule::Cavity && name.contains("chain") {
                continue;
            }
            let mesh = mesh.clone();
            cases.push(Case::new(format!("polyhedra: {name}, {how}"), move |on| {
                compare::<DVec3>(on, &mesh, options)?;
                compare::<Vec3>(on, &mesh, options)
            }));
        }
    }
    let vast = vast(generate::random_tets(size.of(800), 2)?);
    cases.push(Case::new(
        "polyhedra: spheres beyond double precision, by cavities",
        move |on| compare::<DVec3>(on, &vast, CAVITIES),
    ));
    cases.push(Case::new("polyhedra: a chain of 300, by cavities", |on| {
        compare::<DVec3>(on, &chain(300), CAVITIES)
    }));
    cases.push(Case::new("polyhedra: one large cavity", |on| {
        let lists = compare_lists_of::<DVec3>(on, &ball(2400), CAVITIES)?;
        equal("polyhedron", &[lists.len()], &[1])
    }));
    cases.push(Case::new(
        "polyhedra: a cavity around a tagged face",
        |on| {
            let lists = compare_lists_of::<DVec3>(on, &tagged_wheel(), CAVITIES)?;
            let counts = lists.counts;
            let found = [counts.polyhedra, counts.barrier_faces_left];
            equal("count", &found, &[1, 1])
        },
    ));
    Ok(cases)
}

const CAVITIES: Options = Options {
    rule: Rule::Cavity,
    by: Measure::Area,
    constrained: true,
    count_pinched: true,
    strict: false,
};

/// Meshes whose tetrahedra processes share. Random ones have `points` points.
pub fn shared_meshes(size: Size, points: usize) -> Result<Vec<(&'static str, TetMesh)>> {
    let random = generate::random_tets(size.of(points), 3)?;
    Ok(vec![
        ("a wheel of 7 tetrahedra", wheel(7)),
        ("a chain of tetrahedra", chain(size.of(2000) as u32)),
        ("rings at the same edges", overlapping(random.clone())),
        ("holes", holes(random.clone())),
        ("regions and inner tagged faces", tagged(random)),
        ("no tetrahedra", TetMesh::default()),
    ])
}

/// A tetrahedron more at an edge of each, which overlaps those around the edge.
fn overlapping(mut mesh: TetMesh) -> TetMesh {
    for t in 0..mesh.tetrahedra.len() {
        let [a, b, c, d] = mesh.tetrahedra[t];
        let length =
            |[a, b]: &[u32; 2]| mesh.points[*a as usize].distance(mesh.points[*b as usize]);
        // Of a short one single precision could lose the volume.
        let longest = [[a, b], [a, c], [a, d], [b, c], [b, d], [c, d]]
            .into_iter()
            .max_by(|e, f| length(e).total_cmp(&length(f)))
            .expect("six edges");
        let [p, q] = longest.map(|v| mesh.points[v as usize]);
        let (along, first) = ((q - p).normalize(), mesh.points.len() as u32);
        let across = along.any_orthonormal_vector();
        mesh.points.push(p + 0.25 * across);
        mesh.points.push(p + 0.25 * along.cross(across));
        mesh.tetrahedra
            .push([longest[0], longest[1], first, first + 1]);
    }
    oriented(mesh)
}

fn ways() -> [(&'static str, Options); 6] {
    let default = Options::default();
    [
        ("by area", default),
        (
            "by circumradius",
            Options {
                by: Measure::Circumradius,
                count_pinched: false,
                ..default
            },
        ),
        (
            "strict",
            Options {
                strict: true,
                ..default
            },
        ),
        (
            "by circumradius, strict, without constraints",
            Options {
                by: Measure::Circumradius,
                constrained: false,
                strict: true,
                ..default
            },
        ),
        ("by cavities", CAVITIES),
        (
            "by cavities, without constraints",
            Options {
                constrained: false,
                ..CAVITIES
            },
        ),
    ]
}

fn compare<P: SpacePoint>(on: &Device, mesh: &TetMesh, options: Options) -> Outcome {
    compare_lists_of::<P>(on, mesh, options).map(drop)
}

fn compare_lists_of<P: SpacePoint>(
    on: &Device,
    mesh: &TetMesh,
    options: Options,
) -> Result<PolyhedraLists, String> {
    let expected = reference::polyhedra::<P>(mesh, options);
    let (tets, faces) = DeviceTets::<P>::upload_with_faces(on, mesh).map_err(String::from)?;
    let result = polyhedra(on, &tets, &faces, options).map_err(String::from)?;
    let rounds = result.rounds() as usize;
    if rounds > mesh.tetrahedra.len() {
        return Err(format!("{rounds} rounds, more than tetrahedra"));
    }
    let ours = result.download(on, &faces)?;
    compare_lists(&ours, &expected).map_err(|error| format!("{}: {error}", P::INSTANCE))?;
    let of_tet: Vec<u32> = on.download_rows(result.polyhedra())?;
    for p in 0..ours.len() {
        for &t in ours.tets_of(p) {
            if of_tet[t as usize] != p as u32 {
                return Err(format!("tetrahedron {t} is not in polyhedron {p}"));
            }
        }
    }
    if P::INSTANCE != DVec3::INSTANCE {
        return Ok(ours);
    }
    validate::polyhedra(mesh, &ours, options.rule, options.constrained)?;
    let polyhedral = PolyhedralMesh::new(mesh, &ours)?;
    let neighbours = polyhedral.neighbours();
    let outer = neighbours.iter().filter(|pair| pair[1] == u32::MAX).count();
    equal(
        "boundary face",
        &[outer],
        &[faces.boundary_faces() as usize],
    )?;
    if options.strict {
        manifold(&polyhedral)?;
    }
    Ok(ours)
}

fn compare_lists(ours: &PolyhedraLists, expected: &PolyhedraLists) -> Outcome {
    equal("count", &[ours.counts], &[expected.counts])?;
    equal(
        "end of tetrahedra",
        &ours.tet_offsets,
        &expected.tet_offsets,
    )?;
    equal("tetrahedron", &ours.tets, &expected.tets)?;
    equal("end of sides", &ours.side_offsets, &expected.side_offsets)?;
    equal("side", &ours.sides, &expected.sides)?;
    equal("twin", &ours.twins, &expected.twins)?;
    equal("side of tagged face", &ours.tagged, &expected.tagged)
}

/// The surface of each polyhedron is a 2-manifold by its own faces: every edge has two, and the faces at a vertex are
/// one fan.
fn manifold(mesh: &PolyhedralMesh) -> Outcome {
    use std::collections::HashMap;
    for p in 0..mesh.len() {
        // The edge after each directed edge, around the vertex where it starts.
        let mut next: HashMap<[u32; 2], [u32; 2]> = HashMap::new();
        let mut vertices: HashMap<u32, (u32, usize)> = HashMap::new();
        for &side in mesh.sides_of(p) {
            let face: Vec<u32> = mesh.vertices_of(side).collect();
            let n = face.len();
            for i in 0..n {
                let (a, b, c) = (face[i], face[(i + 1) % n], face[(i + n - 1) % n]);
                if next.insert([a, b], [a, c]).is_some() {
                    return Err(format!(
                        "polyhedron {p}: edge {a}-{b} has two faces in one direction"
                    ));
                }
                vertices.entry(a).or_insert((b, 0)).1 += 1;
            }
        }
        for (v, (start, faces)) in vertices {
            let mut edge = [v, start];
            for turned in 1..=faces {
                edge = *next
                    .get(&edge)
                    .ok_or_else(|| format!("polyhedron {p}: edge {edge:?} has one face"))?;
                if (edge == [v, start]) != (turned == faces) {
                    return Err(format!(
                        "polyhedron {p}: vertex {v} has more than one fan of faces"
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Tetrahedra around an edge, all around it. The radius is smallest at one face, which alone is a frontier face.
fn wheel(n: u32) -> TetMesh {
    let n = n.max(3);
    let half = n / 2 + 1;
    // A circle without sines, which are not the same on every machine.
    let point = |i: u32| {
        let radius = 1.0 + f64::from(i.min(n - i)) / f64::from(n);
        let (upper, i) = (i < half, if i < half { i } else { i - half });
        let t = 2.0 * f64::from(i) / f64::from(half) - 1.0;
        let (x, y) = (2.0 * t, 1.0 - t * t);
        let sign = if upper { 1.0 } else { -1.0 };
        DVec3::new(x * sign, y * sign, 0.0) * (radius / (1.0 + t * t))
    };
    let mut points = vec![DVec3::NEG_Z, DVec3::Z * 1.5];
    points.extend((0..n).map(point));
    oriented(TetMesh {
        points,
        tetrahedra: (0..n).map(|i| [0, 1, 2 + i, 2 + (i + 1) % n]).collect(),
        ..TetMesh::default()
    })
}

/// A wheel whose tetrahedra are one cavity, with a tag on the face between two of them.
fn tagged_wheel() -> TetMesh {
    let mut mesh = wheel(7);
    mesh.faces.push(TaggedTriangle {
        vertices: [0, 1, 2],
        tag: 77,
    });
    mesh
}

/// A row of tetrahedra that share faces and grow: nearly all leave to the same side, so that walks to the root are
/// long.
fn chain(n: u32) -> TetMesh {
    let point = |i: u32| {
        let x = f64::from(i);
        let radius = 1.0 + 0.01 * x;
        match i % 3 {
            0 => DVec3::new(x, radius, 0.0),
            1 => DVec3::new(x, -radius / 2.0, radius),
            _ => DVec3::new(x, -radius / 2.0, -radius),
        }
    };
    oriented(TetMesh {
        points: (0..n + 3).map(point).collect(),
        tetrahedra: (0..n).map(|i| [i, i + 1, i + 2, i + 3]).collect(),
        ..TetMesh::default()
    })
}

/// The mesh, nearly flat.
fn slivers(mut mesh: TetMesh) -> TetMesh {
    // A power of two: signs stay what they are.
    mesh.points.iter_mut().for_each(|p| p.z *= 0.0009765625);
    mesh
}

/// The mesh, so large that some of its spheres are infinite in double precision.
fn vast(mesh: TetMesh) -> TetMesh {
    let scale = f64::from_bits((1023 + 259) << 52);
    let points = mesh.points.iter().map(|&p| p * scale).collect();
    TetMesh { points, ..mesh }
}

/// Tetrahedra from the middle of a ball to triangles of its surface, whose spheres all have each other's centres: the
/// vertices of a grid on a small cap.
fn ball(n: u32) -> TetMesh {
    let side = f64::from(n / 2).sqrt() as u32;
    let point = |x: u32, y: u32| {
        let place = |i: u32| f64::from(i) / f64::from(side) - 0.5;
        let (x, y) = (0.5 * place(x), 0.5 * place(y));
        DVec3::new(x, y, (1.0 - x * x - y * y).sqrt())
    };
    let mut points = vec![DVec3::ZERO];
    let mut tetrahedra = Vec::new();
    for y in 0..=side {
        points.extend((0..=side).map(|x| point(x, y)));
    }
    for (x, y) in (0..side).flat_map(|y| (0..side).map(move |x| (x, y))) {
        let a = 1 + x + (side + 1) * y;
        let (b, c, d) = (a + 1, a + side + 1, a + side + 2);
        tetrahedra.extend([[0, a, b, d], [0, a, d, c]]);
    }
    oriented(TetMesh {
        points,
        tetrahedra,
        ..TetMesh::default()
    })
}

/// The mesh without one in six of its tetrahedra.
fn holes(mut mesh: TetMesh) -> TetMesh {
    let mut i = 0u64;
    mesh.tetrahedra.retain(|_| {
        i += 1;
        i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40 & 0xFFFF > 0xFFFF / 6
    });
    mesh.faces.clear();
    mesh
}

/// The mesh with a region for each eighth of the cube, and with tagged faces inside.
fn tagged(mut mesh: TetMesh) -> TetMesh {
    let region = |tetrahedron: &[u32; 4]| {
        let sum: DVec3 = tetrahedron.iter().map(|&v| mesh.points[v as usize]).sum();
        let half = sum.cmpgt(DVec3::splat(2.0));
        half.bitmask() as i32 - 3
    };
    mesh.regions = Some(mesh.tetrahedra.iter().map(region).collect());
    let every = mesh.tetrahedra.iter().step_by(13);
    let inner: Vec<TaggedTriangle> = every
        .map(|&[a, b, c, _]| TaggedTriangle {
            vertices: [a, b, c],
            tag: 77,
        })
        .collect();
    mesh.faces.extend(inner);
    mesh
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::refine_tets::equal_edges;
    use super::*;

    /// Any part of a random or a regular mesh, with any regions and tagged faces, as it is or nearly flat.
    fn parts() -> impl Strategy<Value = TetMesh> {
        let shape = (8..90usize, 0..1000u64, any::<bool>(), any::<bool>());
        let choices = prop::collection::vec((0..8u8, 0..3i32, 0..9u8), 1..64);
        (shape, choices, any::<bool>()).prop_map(|((n, seed, random, flat), choices, regions)| {
            let mesh = match random {
                true => generate::random_tets(n, seed).unwrap(),
                // Equal areas everywhere.
                false => equal_edges(n).unwrap(),
            };
            let mut mesh = if flat { slivers(mesh) } else { mesh };
            let of = |t: usize| choices[t % choices.len()];
            let all = std::mem::take(&mut mesh.tetrahedra);
            let kept = all.into_iter().enumerate().filter(|&(t, _)| of(t).0 > 1);
            mesh.faces.clear();
            let mut ids = Vec::new();
            for (t, tetrahedron) in kept {
                let [a, b, c, _] = tetrahedron;
                if of(t).2 == 0 {
                    mesh.faces.push(TaggedTriangle {
                        vertices: [b, a, c],
                        tag: t as i32,
                    });
                }
                ids.push(of(t).1);
                mesh.tetrahedra.push(tetrahedron);
            }
            mesh.regions = regions.then_some(ids);
            mesh
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// On 1 thread and on 3, every way: the reference's polyhedra, and nothing lost.
        #[test]
        fn any_mesh_has_the_polyhedra_of_the_reference(mesh in parts()) {
            for threads in [1, 3] {
                let on = Device::cpu(Some(threads)).unwrap();
                for (how, options) in ways() {
                    let checked = compare::<DVec3>(&on, &mesh, options);
                    prop_assert_eq!(checked, Ok(()), "{}", how);
                }
            }
        }
    }

    /// The cases meet what they are for.
    #[test]
    fn cases_have_tips_barriers_and_pinched_polyhedra() {
        let mesh = generate::random_tets(2000, 3).unwrap();
        let count = |mesh: &TetMesh, options| reference::polyhedra::<DVec3>(mesh, options).counts;
        let loose = count(&mesh, Options::default());
        assert!(loose.barrier_tips > 100, "{loose:?}");
        assert!(loose.barrier_faces > loose.barrier_tips, "{loose:?}");
        assert!(loose.pinched.unwrap() > 3, "{loose:?}");
        let strict = count(
            &mesh,
            Options {
                strict: true,
                ..Options::default()
            },
        );
        assert_eq!(strict.pinched, Some(0), "{strict:?}");
        assert_eq!(strict.barrier_faces_left, 0, "{strict:?}");
        assert!(strict.polyhedra > loose.polyhedra);
        let tips = |mesh: &TetMesh| count(mesh, Options::default()).barrier_tips;
        assert_eq!(tips(&wheel(7)), 1);
        let chain = count(&chain(2000), Options::default());
        assert!(chain.most_tetrahedra > 500, "{chain:?}");
        let long = count(&super::chain(9000), Options::default());
        assert!(long.most_tetrahedra > 2048, "{long:?}");
        let ball = count(&ball(2400), CAVITIES);
        assert!(ball.polyhedra == 1 && ball.most_tetrahedra > 2048);
        // Walks go around tagged faces.
        let around = count(&tagged(mesh.clone()), CAVITIES);
        assert!(around.barrier_faces_left > 10, "{around:?}");
        let usual = count(&mesh, CAVITIES);
        let vast = count(&vast(mesh), CAVITIES);
        assert!(usual.polyhedra < vast.polyhedra && vast.most_tetrahedra > 1);
    }

    /// The surface test would find a pinched polyhedron: an octahedron of eight tetrahedra around a vertex, twice.
    #[test]
    fn pinched_surfaces_are_found() {
        let mesh = generate::random_tets(2000, 3).unwrap();
        let lists = reference::polyhedra::<DVec3>(&mesh, Options::default());
        assert!(manifold(&PolyhedralMesh::new(&mesh, &lists).unwrap()).is_err());
    }
}
