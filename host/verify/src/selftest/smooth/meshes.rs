//! Meshes for the cases of smoothing.

use std::collections::HashMap;

use glam::DVec3;
use gpu::smooth::ONE_BLOCK_LANES;

use crate::selftest::{Size, random};
use trioxide::mesh::{Faces, Mesh, Polygons};
use trioxide::random::SplitMix64;
use trioxide::volume::{Cells, MixedCells, TetMesh, VolumeMesh};
use trioxide::{Result, generate};

/// Volume meshes by name.
pub fn volumes(size: Size) -> Result<Vec<(&'static str, VolumeMesh)>> {
    let mut meshes: Vec<(&'static str, VolumeMesh)> = vec![
        ("one tetrahedron", fan(1).into()),
        // More than 96 cells at a node: kernels of heavy nodes run.
        (
            "fan of 400 tetrahedra",
            fan(size.of(400).max(100) as u32).into(),
        ),
        ("grid 1k", generate::tet_grid(size.of(1200), 1)?.into()),
        ("random 1k", generate::random_tets(size.of(1000), 2)?.into()),
        ("mixed cells", mixed(if size == Size::Tiny { 3 } else { 7 })),
        (
            "two regions",
            in_regions(generate::tet_grid(size.of(800), 4)?),
        ),
    ];
    if size == Size::Large {
        meshes.push(("random 50k", generate::random_tets(50_000, 3)?.into()));
        meshes.push(("mixed 60k", mixed(36)));
    }
    Ok(meshes)
}

/// Surface meshes by name.
pub fn surfaces(size: Size) -> Result<Vec<(&'static str, Mesh)>> {
    // In every size more than one chunk of sweeps by one block, and a node of many faces.
    let several_chunks = 3 * ONE_BLOCK_LANES / 2;
    Ok(vec![
        (
            "random 3k",
            random(size.of(3000).max(several_chunks), 5)?.into(),
        ),
        ("jittered grid", generate::jittered(size.of(900), 6)?.into()),
        ("fan of 500 triangles", disk(size.of(500).max(100) as u32)),
        (
            "dented quadrilaterals",
            dented(if size == Size::Tiny { 4 } else { 20 }),
        ),
        (
            "quadrilaterals of a cube",
            cube(if size == Size::Tiny { 3 } else { 9 }),
        ),
    ])
}

/// Surfaces with and without half-edges: closed; two closed ones that touch at a vertex; three triangles at an edge;
/// one triangle turned around; a loose vertex.
pub fn odd_surfaces(size: Size) -> Result<Vec<(&'static str, Mesh)>> {
    let (points, triangles) = octahedron(DVec3::ZERO);
    let (others, shifted) = octahedron(DVec3::new(2.0, 0.25, 0.0));
    let mut touching = Mesh {
        points: [&points[..], &others].concat(),
        faces: Faces::Triangles(triangles.clone()),
        ..Mesh::default()
    };
    // Its vertex at -x is the other's at x.
    let join = |v: u32| if v == 1 { 0 } else { v + points.len() as u32 };
    let joined = shifted.into_iter().map(|triangle| triangle.map(join));
    touching.faces = Faces::Triangles(triangles.iter().copied().chain(joined).collect());
    let with = |change: &dyn Fn(&mut Vec<[u32; 3]>)| {
        let mut triangles = triangles.clone();
        change(&mut triangles);
        Mesh {
            points: points.clone(),
            faces: Faces::Triangles(triangles),
            ..Mesh::default()
        }
    };
    let mut loose = with(&|_| ());
    loose.points.push(DVec3::ONE);
    Ok(vec![
        ("scan", generate::scan(size.of(900), 2)?),
        ("touching octahedra", touching),
        (
            "three triangles at an edge",
            with(&|list| list.push([0, 2, 3])),
        ),
        ("a triangle turned around", with(&|list| list[3].swap(0, 1))),
        ("a loose vertex", loose),
    ])
}

/// An octahedron around a centre, not regular: the results of its vertices differ.
fn octahedron(centre: DVec3) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let axes = [DVec3::X, 0.75 * DVec3::Y, 0.5 * DVec3::Z];
    let points = axes.iter().flat_map(|&axis| [centre + axis, centre - axis]);
    let triangles = [
        [0, 2, 4],
        [2, 1, 4],
        [1, 3, 4],
        [3, 0, 4],
        [2, 0, 5],
        [1, 2, 5],
        [3, 1, 5],
        [0, 3, 5],
    ];
    (points.collect(), triangles.to_vec())
}

/// `n` tetrahedra around an edge, closed from three on: nodes of many cells.
fn fan(n: u32) -> TetMesh {
    let ring = n.max(2);
    let around = |i: u32| {
        // Rational points of a circle: no sine, whose bits could differ between machines.
        let t = 2.0 * f64::from(i) / f64::from(ring) - 1.0;
        let s = if t < 0.0 { -1.0 } else { 1.0 };
        let u = 2.0 * t.abs() - 1.0;
        DVec3::new(
            s * (1.0 - u * u) / (1.0 + u * u),
            2.0 * u * s / (1.0 + u * u),
            0.0,
        )
    };
    let mut points = vec![DVec3::Z, -DVec3::Z];
    points.extend((0..ring).map(around));
    let mut mesh = TetMesh {
        points,
        tetrahedra: (0..n).map(|i| [0, 1, 2 + i, 2 + (i + 1) % ring]).collect(),
        ..TetMesh::default()
    };
    mesh.orient();
    mesh
}

/// The mesh in two regions, halved in x.
fn in_regions(mesh: TetMesh) -> VolumeMesh {
    let middle = |t: &[u32; 4]| t.iter().map(|&v| mesh.points[v as usize].x).sum::<f64>() / 4.0;
    let regions = mesh.tetrahedra.iter().map(|t| i32::from(middle(t) > 0.5));
    let regions = Some(regions.collect());
    VolumeMesh {
        regions,
        ..mesh.into()
    }
}

/// A cube of `side`^3 small cubes with moved inner nodes. Columns are of hexahedra, of wedges or of pyramids; pyramids
/// on the bottom are split into tetrahedra.
pub fn mixed(side: u32) -> VolumeMesh {
    let n = side + 1;
    let node = |i: u32, j: u32, k: u32| (k * n + j) * n + i;
    let mut points = Vec::new();
    for k in 0..n {
        for j in 0..n {
            for i in 0..n {
                let inner = [i, j, k].iter().all(|&x| x > 0 && x < side);
                let noise = |salt: u32| {
                    let hash = gpu::smooth::shuffled(node(i, j, k) * 3 + salt) >> 8;
                    f64::from(hash) / f64::from(1 << 24) - 0.5
                };
                let mut p = DVec3::new(i.into(), j.into(), k.into());
                if inner {
                    p += 0.4 * DVec3::new(noise(0), noise(1), noise(2));
                }
                points.push(p / f64::from(side));
            }
        }
    }
    let mut cells = MixedCells::default();
    for k in 0..side {
        for j in 0..side {
            for i in 0..side {
                let [a, b, c, d] = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
                let bottom = [a, b, c, d].map(|(i, j)| node(i, j, k));
                let top = [a, b, c, d].map(|(i, j)| node(i, j, k + 1));
                match (i + 2 * j) % 3 {
                    0 => cells.push(&[bottom, top].concat()),
                    1 => {
                        for [p, q, r] in [[0, 1, 2], [0, 2, 3]] {
                            cells.push(&[bottom[p], bottom[q], bottom[r], top[p], top[q], top[r]]);
                        }
                    }
                    _ => {
                        let apex = points.len() as u32;
                        let corners = [bottom, top].concat();
                        let sum: DVec3 = corners.iter().map(|&v| points[v as usize]).sum();
                        points.push(sum / 8.0);
                        push_pyramids(&mut cells, bottom, top, apex, k == 0);
                    }
                }
            }
        }
    }
    VolumeMesh {
        points,
        cells: Cells::Mixed(cells),
        regions: None,
        faces: Polygons::default(),
        face_tags: Vec::new(),
        fields: Default::default(),
        about: Default::default(),
    }
}

fn push_pyramids(
    cells: &mut MixedCells,
    [a, b, c, d]: [u32; 4],
    [e, f, g, h]: [u32; 4],
    apex: u32,
    splits_bottom: bool,
) {
    // Seen from the middle, counter-clockwise.
    for base in [
        [e, h, g, f],
        [a, e, f, b],
        [b, f, g, c],
        [c, g, h, d],
        [d, h, e, a],
    ] {
        cells.push(&[base[0], base[1], base[2], base[3], apex]);
    }
    if splits_bottom {
        cells.push(&[a, b, c, apex]);
        cells.push(&[a, c, d, apex]);
    } else {
        cells.push(&[a, b, c, d, apex]);
    }
}

/// `n` triangles around a vertex, and one with none.
fn disk(n: u32) -> Mesh {
    let points = (0..n + 2).map(|i| DVec3::new(f64::from(i), f64::from(i * i % 7), 0.0));
    Mesh {
        points: points.collect(),
        faces: Faces::Triangles((0..n).map(|i| [n, i, (i + 1) % n]).collect()),
        ..Mesh::default()
    }
}

/// A square of the plane as `side`^2 quadrilaterals, many of which are not convex, some with edges that cross.
fn dented(side: u32) -> Mesh {
    let mut random = SplitMix64::new(7);
    let mut shift = || (random.next_u64() >> 40) as f64 / f64::from(1 << 24) * 0.9 - 0.45;
    let is_inner = |i: u32| i > 0 && i < side;
    let mut points = Vec::new();
    let mut polygons = Polygons::default();
    for j in 0..=side {
        for i in 0..=side {
            let place = DVec3::new(i.into(), j.into(), 0.0);
            let shift = DVec3::new(shift(), shift(), 0.0);
            points.push(if is_inner(i) && is_inner(j) {
                place + shift
            } else {
                place
            });
            if i < side && j < side {
                let v = j * (side + 1) + i;
                polygons.push(&[v, v + 1, v + side + 2, v + side + 1]);
            }
        }
    }
    Mesh {
        points,
        faces: Faces::Polygons(polygons),
        ..Mesh::default()
    }
}

/// The surface of a cube as `side`^2 quadrilaterals a side: closed.
pub fn cube(side: u32) -> Mesh {
    let mut ids = HashMap::new();
    let mut points = Vec::new();
    let mut polygons = Polygons::default();
    for axis in 0..3 {
        for end in [0, side] {
            for i in 0..side {
                for j in 0..side {
                    let mut face =
                        [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)].map(|(i, j)| {
                            let mut place = [0; 3];
                            place[axis] = end;
                            place[(axis + 1) % 3] = i;
                            place[(axis + 2) % 3] = j;
                            *ids.entry(place).or_insert_with(|| {
                                points.push(DVec3::from(place.map(f64::from)));
                                points.len() as u32 - 1
                            })
                        });
                    if end == 0 {
                        face.reverse();
                    }
                    polygons.push(&face);
                }
            }
        }
    }
    Mesh {
        points,
        faces: Faces::Polygons(polygons),
        ..Mesh::default()
    }
}
