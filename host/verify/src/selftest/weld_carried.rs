//! Welding with guards, locks and attributes on a device against the sequential reference, for equality of every array.

use std::sync::Arc;

use glam::{DVec2, DVec3};

use super::weld::{by_chains, crowded, equal_welds, scan, shuffled};
use super::{Case, Outcome, Size, equal};
use trioxide::device::Device;
use trioxide::mesh::{Faces, Mesh, Polygons, VertexAttributes};
use trioxide::random::SplitMix64;
use trioxide::weld::{
    Carried, DeviceCarried, DeviceMesh, Guards, Locks, Options, Position, epsilon_for_ratio, weld,
};
use trioxide_reference as reference;

/// A mesh with all attributes, locks and regions.
pub struct Input {
    pub points: Vec<DVec3>,
    pub faces: Vec<[u32; 3]>,
    pub attributes: VertexAttributes,
    pub locked: Vec<bool>,
    pub regions: Vec<i32>,
}

impl Input {
    fn new((points, faces): (Vec<DVec3>, Vec<[u32; 3]>)) -> Self {
        let mut random = SplitMix64::new(7);
        let mut random = move |below: u32| (random.next_u64() >> 32) as u32 % below;
        let n = points.len();
        // Directions of a lattice, some of them zero, tiny, huge, or no numbers.
        let normals = (0..n).map(|_| {
            let n = DVec3::from_array([0; 3].map(|_| f64::from(random(5)) - 2.0));
            n * match random(20) {
                0 => 1e-310,
                1 => 1e200,
                2 => f64::INFINITY,
                _ => 0.37,
            }
        });
        Self {
            attributes: VertexAttributes {
                normals: Some(normals.collect()),
                uvs: Some(
                    points
                        .iter()
                        .map(|p| {
                            DVec2::new(p.x * p.y, p.z) * if p.x < 0.0 { 1.0 } else { f64::NAN }
                        })
                        .collect(),
                ),
                colors: Some(
                    (0..n)
                        .map(|_| [0; 4].map(|_| (random(4) * 80) as u8))
                        .collect(),
                ),
            },
            locked: (0..n).map(|_| random(8) == 0).collect(),
            regions: (0..faces.len()).map(|_| random(5) as i32 - 2).collect(),
            points,
            faces,
        }
    }
}

/// The cases.
pub fn cases(size: Size) -> Vec<Case> {
    let all = Guards {
        normals: Some(100.0),
        uvs: Some(0.05),
        colors: Some(160),
    };
    let none = Guards::default();
    let mut cases = Vec::new();
    // Each search by all pairs of a cell: the time grows with the vertices of a neighbourhood.
    let vertices = match size {
        Size::Tiny => 1_500,
        _ => 2_000,
    };
    let (points, faces) = scan(vertices, 5);
    let scans = [
        ("a scan", Arc::new(Input::new(scan(vertices, 5)))),
        (
            "a scan in random order",
            Arc::new(Input::new(shuffled(&points, &faces))),
        ),
    ];
    for (name, guards, locks) in [
        ("nothing", none, false),
        ("locks", none, true),
        (
            "normals within 0 degrees",
            Guards {
                normals: Some(0.0),
                ..none
            },
            false,
        ),
        (
            "normals within 60 degrees",
            Guards {
                normals: Some(60.0),
                ..none
            },
            false,
        ),
        (
            "normals within 90 degrees",
            Guards {
                normals: Some(90.0),
                ..none
            },
            false,
        ),
        (
            "normals within 135 degrees",
            Guards {
                normals: Some(135.0),
                ..none
            },
            true,
        ),
        (
            "normals within 180 degrees",
            Guards {
                normals: Some(180.0),
                ..none
            },
            false,
        ),
        (
            "texture coordinates",
            Guards {
                uvs: Some(0.03),
                ..none
            },
            false,
        ),
        (
            "colours",
            Guards {
                colors: Some(80),
                ..none
            },
            false,
        ),
        ("all", all, true),
    ] {
        for (mesh, input) in &scans {
            let input = input.clone();
            cases.push(Case::new(
                format!("weld {mesh} guarded by {name}"),
                move |on| compare(on, &input, guards, locks),
            ));
        }
    }
    let input = scans[0].1.clone();
    cases.push(Case::new("weld within a locked boundary", move |on| {
        compare_locks(on, &input)
    }));
    let input = scans[1].1.clone();
    cases.push(Case::new("weld by ratio", move |on| {
        for guards in [none, all] {
            compare_ratio(on, &input, guards)?;
        }
        Ok(())
    }));
    cases
}

/// The boundary with some more vertices, found on the device and by the reference: of a scan with holes, as triangles
/// and as polygons.
fn compare_locks(on: &Device, input: &Input) -> Outcome {
    let mut faces = input.faces.clone();
    faces.retain(|face| face[0] % 11 != 3);
    // Faces without area do not count; repeated faces count each.
    faces.extend([[0, 0, 1], [5, 6, 5], faces[7], faces[7]]);
    let mut polygons = Polygons::default();
    for (i, &[a, b, c]) in faces.iter().enumerate() {
        let fourth = (a + 3 * c) % input.points.len() as u32;
        if i % 3 == 0 && ![a, b, c].contains(&fourth) {
            polygons.push(&[a, b, c, fourth]);
        } else {
            polygons.push(&[a, b, c]);
        }
    }
    for faces in [Faces::Triangles(faces), Faces::Polygons(polygons)] {
        let mesh = Mesh {
            points: input.points.clone(),
            faces,
            ..Mesh::default()
        };
        for vertices in [Vec::new(), input.locked.clone()] {
            let locks = Locks {
                boundary: true,
                vertices,
            };
            let resident = DeviceMesh::upload_locked(on, &mesh, &locks)?;
            let locked = resident.carried().locked().ok_or("no vertex is locked")?;
            let words: Vec<u32> = on.download_rows(locked)?;
            let ours: Vec<bool> = (0..mesh.points.len())
                .map(|v| words[v / 32] >> (v % 32) & 1 != 0)
                .collect();
            equal("locked", &ours, &locks.find(&mesh)?)?;
        }
    }
    Ok(())
}

fn compare_ratio(on: &Device, input: &Input, guards: Guards) -> Outcome {
    let carried = Carried {
        attributes: &input.attributes,
        locked: &input.locked,
        regions: None,
    };
    let carried_there = DeviceCarried::upload(on, &carried, input.points.len(), 0)?;
    let mesh = DeviceMesh::new(on.upload(&input.points)?, on.upload(&[])?, carried_there)?;
    let ours = epsilon_for_ratio(on, &mesh, guards, 0.3)?;
    let expected = reference::weld::epsilon_for_ratio(&input.points, &carried, &guards, 0.3)?;
    equal("epsilon", &[ours], &[expected])
}

fn compare(on: &Device, input: &Input, guards: Guards, locks: bool) -> Outcome {
    let carried = Carried {
        attributes: &input.attributes,
        locked: if locks { &input.locked } else { &[] },
        regions: Some(&input.regions),
    };
    for (epsilon, position, keep_degenerate) in [
        (0.04, Position::Mean, false),
        (0.08, Position::First, true),
        // More lower neighbours than a short list holds.
        (0.16, Position::Mean, true),
        (0.5, Position::Mean, false),
    ] {
        let options = Options {
            guards,
            position,
            keep_degenerate,
            ..Options::new(epsilon)
        };
        let expected = reference::weld_carrying(&input.points, &input.faces, &carried, &options)?;
        let carried_there =
            DeviceCarried::upload(on, &carried, input.points.len(), input.faces.len())?;
        let faces = on.upload(&input.faces)?.cast();
        let mesh = DeviceMesh::new(on.upload(&input.points)?, faces, carried_there)?;
        let mut ways = vec![options, by_chains(options)];
        // With guards, every vertex of a wide neighbourhood can be a representative: a thread would compare with each.
        let patience = if epsilon < 0.5 { 1000 } else { 2 };
        let mut compared = crowded(options, Some(patience));
        compared.tuning.crowded_rounds = (epsilon >= 0.5).then_some(2);
        ways.push(compared);
        for options in ways {
            let ours = weld(on, &mesh, options)?.download(on)?;
            equal_welds(&ours, &expected).map_err(|error| format!("{options:?}: {error}"))?;
        }
    }
    Ok(())
}
