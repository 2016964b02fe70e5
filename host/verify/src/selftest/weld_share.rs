//! Welding a share of the points, the others of which are decided elsewhere, against the sequential reference.

use std::collections::HashSet;

use glam::DVec3;
use gpu::weld::known::{MEMBER, REPRESENTATIVE, UNDECIDED, WAITING};

use super::weld::{crowded, equal_welds, scan, shuffled};
use super::{Case, Outcome, Size, equal};
use trioxide::device::Device;
use trioxide::mesh::{Faces, Mesh, VertexAttributes};
use trioxide::random::SplitMix64;
use trioxide::weld::{
    BlockFaces, BlockMap, Carried, DeviceMesh, Guards, Locks, Options, Others, carry_share,
    decide_share,
};
use trioxide_reference as reference;

/// The cases of shares.
pub fn cases(size: Size) -> Vec<Case> {
    let n = size.of(6_000).max(200);
    vec![
        Case::new("weld a share of a scan", move |on| {
            let (points, _) = scan(n, 1);
            // The spacing of 6,000 points is about 0.06.
            for epsilon in [0.0, 0.03, 0.12, 0.5] {
                compare(on, &plain(points.clone()), Options::new(epsilon))?;
            }
            Ok(())
        }),
        Case::new("weld a share of a scan in random order", move |on| {
            let (points, faces) = scan(n, 1);
            let (points, _) = shuffled(&points, &faces);
            for epsilon in [0.06, 0.25] {
                compare(on, &plain(points.clone()), Options::new(epsilon))?;
            }
            Ok(())
        }),
        Case::new("weld a share with locks and tolerances", move |on| {
            let (points, _) = scan(n, 2);
            let mut random = SplitMix64::new(3);
            let mut next = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
            let normals = (points.iter()).map(|_| DVec3::new(next(), next(), 0.3));
            let cloud = Cloud {
                attributes: VertexAttributes {
                    normals: Some(normals.collect()),
                    ..VertexAttributes::default()
                },
                locked: (0..points.len()).map(|v| v % 11 == 0).collect(),
                points,
            };
            let guards = Guards {
                normals: Some(60.0),
                ..Guards::default()
            };
            for epsilon in [0.06, 0.25] {
                let options = Options::new(epsilon);
                compare(on, &cloud, Options { guards, ..options })?;
            }
            Ok(())
        }),
        Case::new("weld a share of triangles", move |on| {
            for (triangles, lower, higher) in [(n, 40, 7), (n, 0, 64), (33, 64, 0), (0, 5, 5)] {
                compare_triangles(on, triangles, lower, higher)?;
            }
            Ok(())
        }),
        Case::new("weld a share of a chain, and of equal points", move |on| {
            let line = |i: usize| DVec3::X * i as f64;
            compare(
                on,
                &plain((0..n / 4).map(line).collect()),
                Options::new(1.0),
            )?;
            let same = plain(vec![DVec3::ONE; n]);
            compare(on, &same, Options::new(0.0))
        }),
    ]
}

/// Points, their attributes, and their locks.
#[derive(Default)]
struct Cloud {
    points: Vec<DVec3>,
    attributes: VertexAttributes,
    locked: Vec<bool>,
}

fn plain(points: Vec<DVec3>) -> Cloud {
    Cloud {
        points,
        ..Cloud::default()
    }
}

/// Other processes that know all states from the beginning, and send `step` of them in each round: the states of the
/// lowest waiting points.
struct Teller<'a> {
    states: &'a [u8],
    step: usize,
    rounds: usize,
    /// A point that was decided otherwise.
    wrong: Option<usize>,
}

impl Others for Teller<'_> {
    fn round(&mut self, known: &mut [u8]) -> trioxide::Result<bool> {
        self.rounds += 1;
        let differs = |v: &usize| known[*v] < WAITING && known[*v] != self.states[*v];
        let wrong = (0..known.len()).find(|v| known[*v] != UNDECIDED && differs(v));
        self.wrong = self.wrong.or(wrong);
        let waiting = (0..known.len()).filter(|&v| known[v] == WAITING);
        let told: Vec<usize> = waiting.take(self.step).collect();
        let is_over = told.is_empty() && !known.contains(&UNDECIDED);
        if told.is_empty() && !is_over {
            // All states of others have arrived, so a point that is still undecided is an error.
            self.wrong = self
                .wrong
                .or(known.iter().position(|&state| state == UNDECIDED));
            known.copy_from_slice(self.states);
            return Ok(true);
        }
        for v in told {
            known[v] = self.states[v];
        }
        Ok(is_over)
    }
}

/// Half of the points as a share, which receives the states of the others at once, and in several rounds.
fn compare(on: &Device, cloud: &Cloud, options: Options) -> Outcome {
    let n = cloud.points.len();
    let carried = Carried {
        attributes: &cloud.attributes,
        locked: &cloud.locked,
        regions: None,
    };
    let mesh = Mesh {
        points: cloud.points.clone(),
        faces: Faces::Triangles(Vec::new()),
        attributes: cloud.attributes.clone(),
        ..Mesh::default()
    };
    let locks = Locks {
        boundary: false,
        vertices: cloud.locked.clone(),
    };
    let resident = DeviceMesh::upload_locked(on, &mesh, &locks)?;
    for options in [options, crowded(options, None), crowded(options, Some(3))] {
        let expected = reference::weld_carrying(&cloud.points, &[], &carried, &options)?;
        let representative = |v: usize| expected.representatives[expected.map[v] as usize];
        let representatives: Vec<u32> = (0..n).map(representative).collect();
        let state = |v: usize| match representatives[v] == v as u32 {
            true => REPRESENTATIVE,
            false => MEMBER,
        };
        let states: Vec<u8> = (0..n).map(state).collect();
        for step in [n, n / 7 + 1] {
            let is_own = |v: usize| v.wrapping_mul(0x9E37_79B9) >> 7 & 1 == 0;
            let first = |v: usize| match () {
                () if cloud.locked.get(v) == Some(&true) => REPRESENTATIVE,
                () if is_own(v) => UNDECIDED,
                () => WAITING,
            };
            let known = (0..n).map(first).collect();
            let mut others = Teller {
                states: &states,
                step,
                rounds: 0,
                wrong: None,
            };
            let mut decided = decide_share(on, &resident, &options, known, &mut others)?;
            let case = || format!("{options:?}, {step} told a round");
            if let Some(v) = others.wrong {
                return Err(format!("{}: vertex {v} is decided otherwise", case()));
            }
            if n > 0 && others.rounds < if step == n { 1 } else { 2 } {
                return Err(format!("{}: {} rounds", case(), others.rounds));
            }
            let own = |list: &[u32]| -> Vec<u32> {
                let list = (0..n).filter(|&v| is_own(v)).map(|v| list[v]);
                list.collect()
            };
            let found = on.download_rows(&decided.representatives)?;
            equal("representatives", &own(&found), &own(&representatives))
                .map_err(|error| format!("{}: {error}", case()))?;
            let others: Vec<u32> = (0..n as u32).filter(|&v| !is_own(v as usize)).collect();
            let of_others: Vec<u32> = (others.iter())
                .map(|&v| representatives[v as usize])
                .collect();
            decided.set(on, &others, &of_others)?;
            let given = decided.get(on, &others)?;
            equal("given", &given, &of_others).map_err(|error| format!("{}: {error}", case()))?;
            let ours = carry_share(on, &resident, &options, &decided)?.download(on)?;
            equal_welds(&ours, &expected).map_err(|error| format!("{}: {error}", case()))?;
        }
    }
    Ok(())
}

/// A block's triangles, and `lower` and `higher` ones of others: named and without repeated ones, as sequential code
/// makes them.
fn compare_triangles(on: &Device, triangles: usize, lower: usize, higher: usize) -> Outcome {
    let mut random = SplitMix64::new(triangles as u64);
    let mut below = |n: u32| (random.next_u64() >> 33) as u32 % n;
    // Vertices 3 to 63 of a map are the block's; of its clusters 5 to 35.
    let (vertices, clusters, names) = (3..63_u32, 5..35_u32, 40);
    let map: Vec<u32> = (0..70).map(|_| below(38)).collect();
    let corners: Vec<u32> = (0..3 * triangles).map(|_| below(90)).collect();
    // The corners begin 9 before the block.
    let first = 9_u64.wrapping_neg();
    let uploaded = on.upload(&map)?.cast();
    let mut block = BlockMap::new(uploaded, vertices.clone(), clusters.clone());
    let all: Vec<u32> = (0..60).collect();
    equal("clusters", &block.get(on, &all)?, &map[3..63])?;
    equal("all clusters", &block.download(on)?, &map[3..63])?;

    let name = |corner: u32| {
        let place = corner.checked_sub(9).filter(|&place| place < 60)?;
        let name = map[3 + place as usize].checked_sub(clusters.start)?;
        (name < clusters.end - clusters.start).then_some(name)
    };
    let named = corners.as_chunks::<3>().0.iter().map(|t| t.map(name));
    let named: Vec<[Option<u32>; 3]> = named.collect();
    let mut faces = BlockFaces::upload(on, &corners)?;
    let crossing = faces.name(on, first, &block)?;
    let expected = (0..triangles as u32).filter(|&t| named[t as usize].contains(&None));
    equal("crossing", &crossing, &expected.collect::<Vec<u32>>())?;
    let given: Vec<[u32; 3]> = crossing
        .iter()
        .map(|_| [(); 3].map(|()| below(names)))
        .collect();
    // SAFETY: each triangle is there once.
    unsafe { faces.set(on, &crossing, &given) }?;
    let mut expected: Vec<[u32; 3]> = named
        .iter()
        .map(|t| t.map(Option::unwrap_or_default))
        .collect();
    for (&t, &corners) in crossing.iter().zip(&given) {
        expected[t as usize] = corners;
    }
    equal("named", &faces.download(on)?, &expected)?;

    // The last name is none.
    let mut others = |n: usize| -> Vec<[u32; 3]> {
        (0..n).map(|_| [(); 3].map(|()| below(names + 1))).collect()
    };
    let (lower, higher) = (others(lower), others(higher));
    let mut seen = HashSet::new();
    let mut is_left = |&[a, b, c]: &[u32; 3]| {
        let has_extent = a != b && b != c && c != a && [a, b, c].iter().all(|&w| w < names);
        let least = a.min(b).min(c);
        let rotated = [[a, b, c], [b, c, a], [c, a, b]]
            .into_iter()
            .find(|t| t[0] == least);
        (has_extent, !has_extent || seen.insert(rotated))
    };
    let of_lower: Vec<_> = lower.iter().map(&mut is_left).collect();
    let of_block: Vec<_> = expected.iter().map(&mut is_left).collect();
    let of_higher: Vec<_> = higher.iter().map(&mut is_left).collect();
    let repeated = faces.find_repeated(on, [&lower, &higher], names as usize)?;
    let of_others: Vec<bool> = of_lower
        .iter()
        .chain(&of_higher)
        .map(|&(_, is_first)| !is_first)
        .collect();
    equal("repeated others", &repeated.of_others(on)?, &of_others)?;
    let left = (0..triangles).filter(|&t| of_block[t] == (true, true));
    let left: Vec<u32> = left.map(|t| t as u32).collect();
    equal(
        "number left",
        &[faces.count_remaining(on, &repeated)?],
        &[left.len()],
    )?;
    let (list, corners) = faces.download_remaining(on, &repeated)?;
    equal("left", &on.download_rows(&list)?, &left)?;
    let expected: Vec<[u32; 3]> = left.iter().map(|&t| expected[t as usize]).collect();
    equal("their corners", &corners, &expected)
}
