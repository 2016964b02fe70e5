//! Welding: every method, copies during work, and slabs, against the sequential algorithm.

use trioxide::glam::{DVec2, DVec3};
use trioxide::mesh::{Faces, Mesh, VertexAttributes};
use trioxide::weld::{
    Carried, DeviceCarried, DeviceMesh, Guards, Method, Options, Position, Tuning, Welded,
    bytes_of_slab, epsilon_for_ratio, weld as weld_on, weld_from_host, weld_in_slabs,
};
use trioxide_reference as reference;

use crate::bytes::Choices;
use crate::{Pipeline, cpu, results};

pub const PIPELINES: &[Pipeline] = &[("weld", weld)];

pub struct Input {
    pub points: Vec<DVec3>,
    pub faces: Vec<[u32; 3]>,
    attributes: VertexAttributes,
    pub locked: Vec<bool>,
    pub regions: Option<Vec<i32>>,
}

/// A small mesh or cloud; its faces meet in any way.
pub fn input(choices: &mut Choices) -> Input {
    let n = choices.below(120);
    let steps = choices.between(1, 255) as u8;
    let odd = choices.below(4) == 0;
    let scale = choices.scale();
    let points: Vec<DVec3> = (0..n)
        .map(|_| {
            let mut coordinate = || match odd {
                true => choices.coordinate(),
                false => f64::from(choices.byte() % steps) / 4.0,
            };
            DVec3::new(coordinate(), coordinate(), coordinate()) * scale
        })
        .collect();
    let faces: Vec<[u32; 3]> = (0..choices.below(40))
        .map(|_| [0; 3].map(|_| choices.below(n.max(1)) as u32))
        .collect();
    let mut faces = if n == 0 { Vec::new() } else { faces };
    if choices.seldom(16) {
        faces.push([0; 3].map(|_| choices.vertex(n)));
    }
    let attributes = VertexAttributes {
        normals: (choices.below(3) == 1).then(|| {
            (0..n)
                .map(|_| DVec3::new(choices.coordinate(), choices.lattice(), choices.lattice()))
                .collect()
        }),
        colors: (choices.below(3) == 1).then(|| {
            (0..n)
                .map(|_| [0; 4].map(|_| choices.byte() & 0xC0))
                .collect()
        }),
        uvs: (choices.below(3) == 1).then(|| {
            (0..n)
                .map(|_| DVec2::new(choices.coordinate(), choices.lattice()))
                .collect()
        }),
    };
    Input {
        attributes,
        locked: match choices.below(4) {
            1 => (0..n).map(|_| choices.below(3) == 1).collect(),
            _ => Vec::new(),
        },
        regions: (choices.below(4) == 1)
            .then(|| faces.iter().map(|_| (choices.byte() % 3).into()).collect()),
        points,
        faces,
    }
}

fn guards(choices: &mut Choices, attributes: &VertexAttributes) -> Guards {
    Guards {
        normals: (attributes.normals.is_some() && choices.below(2) == 1)
            .then(|| f64::from(choices.byte()) - 10.0),
        uvs: (attributes.uvs.is_some() && choices.below(2) == 1).then(|| choices.coordinate()),
        colors: (attributes.colors.is_some() && choices.below(2) == 1).then(|| choices.byte()),
    }
}

fn weld(data: &[u8]) {
    let mut choices = Choices::new(data);
    let input = input(&mut choices);
    let epsilon = match choices.below(6) {
        0 => 0.0,
        1 => choices.coordinate(),
        _ => f64::from(choices.byte()) / 32.0 * choices.scale(),
    };
    let mut options = Options {
        guards: guards(&mut choices, &input.attributes),
        position: [Position::Mean, Position::First][choices.below(2)],
        keep_degenerate: choices.below(2) == 1,
        tuning: Tuning {
            key_bits: [64, 64, 1, 5][choices.below(4)],
            dense_share: [None, Some(0), Some(usize::MAX)][choices.below(3)],
            chain_patience: choices.below(3) as u32,
            // Also treats all cells as crowded.
            most_in_bucket: [Tuning::default().most_in_bucket, 0][choices.below(2)],
            crowded_patience: [None, Some(2)][choices.below(2)],
            crowded_rounds: [None, Some(1)][choices.below(2)],
            ..Tuning::default()
        },
        ..Options::new(epsilon)
    };
    let is_plain = choices.below(2) == 1;
    if is_plain {
        options.guards = Guards::default();
    }
    let carried = match is_plain {
        true => Carried::NONE,
        false => Carried {
            attributes: &input.attributes,
            locked: &input.locked,
            regions: input.regions.as_deref(),
        },
    };
    let on = cpu();
    let expected = reference::weld_carrying(&input.points, &input.faces, &carried, &options);
    let upload = || -> trioxide::weld::Result<DeviceMesh> {
        let there = DeviceCarried::upload(on, &carried, input.points.len(), input.faces.len())?;
        DeviceMesh::new(
            on.upload(&input.points)?,
            on.upload(&input.faces)?.cast(),
            there,
        )
    };
    let is_guarded = options.guards != Guards::default() || !carried.locked.is_empty();
    let methods: &[Method] = if is_guarded {
        &[Method::Auto, Method::Grid]
    } else {
        &Method::ALL
    };
    for &method in methods {
        let options = Options { method, ..options };
        let ours = upload().and_then(|mesh| weld_on(on, &mesh, options)?.download(on));
        same(method.name(), ours, &expected);
    }
    if is_plain {
        let ours = weld_from_host(on, &input.points, &input.faces, options);
        same(
            "copies beside work",
            ours.map(|ours| ours.welded),
            &expected,
        );
        let limit = bytes_of_slab(input.points.len().max(8)) + 64 * input.faces.len() as u64;
        if let Ok(ours) = weld_in_slabs(on, &input.points, &input.faces, options, limit) {
            same("slabs", Ok(ours.welded), &expected);
        }
    }
    if let Ok(welded) = &expected {
        write_results(&input, welded, &carried, &options);
    }
    if expected.is_ok() && choices.below(4) == 1 {
        let ratio = f64::from(choices.byte()) / 255.0;
        let ours = upload().and_then(|mesh| epsilon_for_ratio(on, &mesh, options.guards, ratio));
        let serial =
            reference::weld::epsilon_for_ratio(&input.points, &carried, &options.guards, ratio);
        match (ours, serial) {
            (Ok(ours), Ok(serial)) => assert_eq!(ours, serial, "epsilon for ratio {ratio}"),
            (ours, serial) => {
                assert_eq!(ours.is_ok(), serial.is_ok(), "{ours:?}, serial {serial:?}")
            }
        }
    }
}

/// Writes the welded mesh with triangles, and with their faces as polygons, all of which may be removed.
fn write_results(input: &Input, welded: &Welded, carried: &Carried, options: &Options) {
    let triangles = Mesh {
        points: input.points.clone(),
        faces: Faces::Triangles(input.faces.clone()),
        regions: carried.regions.map(<[i32]>::to_vec),
        attributes: carried.attributes.clone(),
        ..Mesh::default()
    };
    let polygons = Mesh {
        faces: Faces::Polygons(input.faces.clone().into()),
        ..triangles.clone()
    };
    for mesh in [triangles, polygons] {
        if let Ok(result) = welded.clone().take_mesh(&mesh, options) {
            results::surface(&result);
        }
    }
}

fn same(
    how: &str,
    ours: trioxide::weld::Result<Welded>,
    expected: &trioxide::weld::Result<Welded>,
) {
    match (ours, expected) {
        // Compared as debug text, in which -0 differs from 0, and all NaNs are equal.
        (Ok(ours), Ok(expected)) => {
            assert_eq!(format!("{ours:?}"), format!("{expected:?}"), "{how}")
        }
        (Err(_), Err(_)) => {}
        (ours, expected) => panic!("{how}: {ours:?}, serial {expected:?}"),
    }
}
