//! Constrained Delaunay triangulations against the definition: pieces are edges, all other edges locally Delaunay.

use std::collections::{HashMap, HashSet};

use glam::DVec2;
use gpu::delaunay::constrained::NO_REGION;
use gpu::delaunay::orientation;

use super::delaunay::{CLOUDS, Random, collect};
use super::{Case, Outcome, Size, equal};
use crate::validate;
use trioxide::delaunay::Duplicates;
use trioxide::delaunay::constrained::{Constrained, Limits, triangulate};
use trioxide::device::Device;

pub fn cases(size: Size) -> Vec<Case> {
    let mut cases: Vec<Case> = CLOUDS
        .into_iter()
        .map(|(name, cloud)| {
            Case::new(format!("segments of Delaunay {name}"), move |on| {
                let mut random = Random::new(5);
                let points = cloud(&mut Random::new(1), size.of(2000));
                let segments = segments(&points, &mut random, size.of(300));
                check(on, &points, &segments)
            })
        })
        .collect();
    cases.push(Case::new("segments of Delaunay tiny clouds", move |on| {
        let mut random = Random::new(6);
        for round in 0..size.of(200) {
            let side = if round % 2 == 0 { 5 } else { 8 };
            let n = 4 + random.below(30) as usize;
            let grid = |r: &mut Random| f64::from(r.below(side));
            let points = collect(n, |_| DVec2::new(grid(&mut random), grid(&mut random)));
            let is_flat = |p: &DVec2| orientation(points[0], points[1], *p) == 0;
            if points.len() > 2 && !points.iter().all(is_flat) {
                let segments = segments(&points, &mut random, 12);
                check(on, &points, &segments)?;
            }
        }
        Ok(())
    }));
    cases.push(Case::new("segments that cross", move |on| {
        let mut points = CLOUDS[0].1(&mut Random::new(7), size.of(500));
        points.retain(|p| (p - 0.5).abs().min_element() > 1e-3);
        let corners = [(-1.0, 0.5), (2.0, 0.5), (0.5, -1.0), (0.5, 2.0)].map(DVec2::from);
        points.splice(0..0, corners);
        let pairs = [[2, 3], [0, 1]];
        match run(on, &points, &pairs, &[], &[], true) {
            Ok(_) => Err("segments that cross are not refused".into()),
            Err(error) => equal(
                "error",
                &[error],
                &["segment 1 from [-1, 0.5] to [2, 0.5] crosses segment 0 from [0.5, -1] to [0.5, 2]: put a vertex \
                   where they meet, and divide both there"
                    .to_owned()],
            ),
        }
    }));
    cases.push(Case::new("segments without two vertices", |on| {
        let points = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)].map(DVec2::from);
        for (ends, rule) in [
            ([1, 1], "begins and ends at vertex 1: leave it out"),
            ([1, 3], "runs from vertex 1 to 3, but there are 3 vertices"),
        ] {
            let error = run(on, &points, &[[0, 1], ends, ends], &[], &[], true).err();
            equal("error", &[error], &[Some(format!("segment 1 {rule}"))])?;
        }
        Ok(())
    }));
    cases.push(Case::new("segments at equal points", move |on| {
        for (_, cloud) in &CLOUDS[..2] {
            check_equal(on, &cloud(&mut Random::new(1), size.of(1000)))?;
        }
        Ok(())
    }));
    cases
}

/// Segments end at the first of equal points, and a segment between equal points has no piece.
fn check_equal(on: &Device, distinct: &[DVec2]) -> Outcome {
    let mut random = Random::new(9);
    let n = distinct.len() as u32;
    // Each point two times, in an order of its own.
    let twice = |v: u32| (v * 2 + 1) % (2 * n + 1) % n;
    let points: Vec<DVec2> = (0..2 * n).map(|v| distinct[twice(v) as usize]).collect();
    let mut firsts = vec![u32::MAX; n as usize];
    for v in (0..2 * n).rev() {
        firsts[twice(v) as usize] = v;
    }
    let first = |v: u32| firsts[twice(v) as usize];
    let expected = segments(distinct, &mut random, n as usize / 8);
    let others = |v: u32, random: &mut Random| {
        let all: Vec<u32> = (0..2 * n).filter(|&w| twice(w) == v).collect();
        all[random.below(all.len() as u32) as usize]
    };
    let mut given: Vec<[u32; 2]> = expected
        .iter()
        .map(|ends| ends.map(|v| others(v, &mut random)))
        .collect();
    let second = (0..2 * n).find(|&v| first(v) != v);
    let second = second.ok_or("the points are distinct")?;
    given.push([first(second), second]);
    let uploaded = on.upload(&given)?;
    let limits = Limits {
        convex: true,
        ..Limits::of(&uploaded)
    };
    let result = triangulate(on, &on.upload(&points)?, &limits, Duplicates::First)?;
    let map = result.firsts().ok_or("no map of equal points")?;
    let all_firsts: Vec<u32> = (0..2 * n).map(first).collect();
    equal("firsts", &on.download_rows::<_, u32>(map)?, &all_firsts)?;
    equal("equal points", &[result.duplicates()], &[n as usize])?;
    equal("segments between equal points", &[result.collapsed()], &[1])?;
    let mut found = download(on, &result)?;
    equal("segments left out", &[found.left_out], &[0])?;
    let between = found.pieces.pop().unwrap_or_default();
    equal("pieces between equal points", &between, &[])?;
    let plain = run(on, distinct, &expected, &[], &[], true)?;
    let renumbered =
        |ids: &[u32]| -> Vec<u32> { ids.iter().map(|&v| firsts[v as usize]).collect() };
    equal(
        "corners of triangles",
        found.triangles.as_flattened(),
        &renumbered(plain.triangles.as_flattened()),
    )?;
    equal(
        "ends of pieces",
        found.pieces.concat().as_flattened(),
        &renumbered(plain.pieces.concat().as_flattened()),
    )
}

/// At most `count` segments that do not cross each other: short ones, and every eighth of any length. Some meet at
/// points, go through points, or lie on each other.
pub(super) fn segments(points: &[DVec2], random: &mut Random, count: usize) -> Vec<[u32; 2]> {
    let n = points.len() as u32;
    let mut segments: Vec<[u32; 2]> = Vec::new();
    for attempt in 0..4 * count {
        let a = random.below(n);
        let b = match attempt % 8 {
            0 => random.below(n),
            _ => (a + 1 + random.below(40)) % n,
        };
        let crosses = |&[c, d]: &[u32; 2]| {
            let [p, q, r, s] = [a, b, c, d].map(|v| points[v as usize]);
            orientation(p, q, r) * orientation(p, q, s) < 0
                && orientation(r, s, p) * orientation(r, s, q) < 0
        };
        if a != b && segments.len() < count && !segments.iter().any(crosses) {
            segments.push([a, b]);
        }
    }
    segments
}

/// A result on the host.
struct Found {
    triangles: Vec<[u32; 3]>,
    regions: Option<Vec<u32>>,
    pieces: Vec<Vec<[u32; 2]>>,
    left_out: u32,
}

fn run(
    on: &Device,
    points: &[DVec2],
    segments: &[[u32; 2]],
    holes: &[DVec2],
    regions: &[DVec2],
    convex: bool,
) -> Result<Found, String> {
    let segments = on.upload(segments)?;
    let limits = Limits {
        segments: &segments,
        holes,
        regions,
        convex,
        ..Limits::of(&segments)
    };
    let result = triangulate(on, &on.upload(points)?, &limits, Duplicates::Refuse)?;
    download(on, &result)
}

fn download(on: &Device, result: &Constrained) -> Result<Found, String> {
    let pieces: Vec<[u32; 2]> = on.download_rows(result.pieces())?;
    let starts = on.download(result.starts())?;
    let parents = on.download(&result.parents(on)?)?;
    let in_order = (0..).zip(starts.windows(2));
    let expected: Vec<u32> = in_order
        .flat_map(|(segment, ends)| (ends[0]..ends[1]).map(move |_| segment))
        .collect();
    equal("segments of pieces", &parents, &expected)?;
    let ids: Vec<i32> = (7..).take(3).collect();
    if let (Some(regions), Some(found)) = (result.regions(), result.region_ids(on, &ids)?) {
        let id = |region: u32| {
            if region == NO_REGION {
                0
            } else {
                ids[region as usize]
            }
        };
        let expected: Vec<i32> = on.download(regions)?.into_iter().map(id).collect();
        equal("ids of regions", &on.download(&found)?, &expected)?;
    }
    Ok(Found {
        triangles: on.download_rows(result.triangles())?,
        regions: result
            .regions()
            .map(|regions| on.download(regions))
            .transpose()?,
        pieces: starts
            .windows(2)
            .map(|ends| pieces[ends[0] as usize..ends[1] as usize].to_vec())
            .collect(),
        left_out: result.left_out(),
    })
}

fn check(on: &Device, points: &[DVec2], segments: &[[u32; 2]]) -> Outcome {
    let found = run(on, points, segments, &[], &[], true)?;
    for (segment, pieces) in segments.iter().zip(&found.pieces) {
        check_pieces(points, *segment, pieces)?;
    }
    validate::constrained_delaunay(points, &found.triangles, &found.pieces.concat())?;
    equal("segments left out", &[found.left_out], &[0])?;
    check_shuffled(on, points, segments, &found)?;
    check_limits(on, points, segments, &found)
}

/// Pieces lead along the segment from one end to the other.
fn check_pieces(points: &[DVec2], segment: [u32; 2], pieces: &[[u32; 2]]) -> Outcome {
    let [from, to] = segment.map(|v| points[v as usize]);
    let mut v = segment[0];
    for &[a, b] in pieces {
        let [p, q] = [a, b].map(|v| points[v as usize]);
        let is_ahead = (to - from).dot(q - p) > 0.0;
        if a != v || orientation(from, to, q) != 0 || !is_ahead {
            return Err(format!("pieces of segment {segment:?}: {pieces:?}"));
        }
        v = b;
    }
    equal("end of a segment", &[v], &[segment[1]])
}

/// Other numbers of the points and the segments, and other directions, change nothing else.
fn check_shuffled(on: &Device, points: &[DVec2], segments: &[[u32; 2]], found: &Found) -> Outcome {
    let n = points.len() as u32;
    let reversed: Vec<DVec2> = points.iter().rev().copied().collect();
    let others: Vec<[u32; 2]> = segments
        .iter()
        .rev()
        .map(|&[a, b]| [n - 1 - b, n - 1 - a])
        .collect();
    let other = run(on, &reversed, &others, &[], &[], true)?;
    let renumbered: Vec<[u32; 3]> = other
        .triangles
        .iter()
        .map(|t| t.map(|v| n - 1 - v))
        .collect();
    equal("triangles of shuffled input", &renumbered, &found.triangles)
}

/// Holes and regions hold the triangles that a flood from the same points reaches.
fn check_limits(on: &Device, points: &[DVec2], segments: &[[u32; 2]], all: &Found) -> Outcome {
    let triangles = &all.triangles;
    let pieces: HashSet<[u32; 2]> = all.pieces.concat().into_iter().collect();
    let is_piece = |[a, b]: [u32; 2]| pieces.contains(&[a, b]) || pieces.contains(&[b, a]);
    let sides = |t: usize| (0..3).map(move |k| [triangles[t][k], triangles[t][(k + 1) % 3]]);
    let mut at_side = HashMap::new();
    for t in 0..triangles.len() {
        at_side.extend(sides(t).map(|side| (side, t)));
    }
    let flood = |from: usize| {
        let (mut seen, mut open) = (HashSet::from([from]), vec![from]);
        while let Some(t) = open.pop() {
            let next = sides(t)
                .filter(|&side| !is_piece(side))
                .filter_map(|[a, b]| at_side.get(&[b, a]));
            open.extend(next.filter(|&&next| seen.insert(next)));
        }
        seen
    };
    let mut gone: HashSet<usize> = HashSet::new();
    for t in 0..triangles.len() {
        let is_open = |[a, b]: [u32; 2]| !is_piece([a, b]) && !at_side.contains_key(&[b, a]);
        if !gone.contains(&t) && sides(t).any(is_open) {
            gone.extend(flood(t));
        }
    }
    // The inside of a triangle that is not too thin for its center to be one.
    let center = |t: usize| {
        let [a, b, c] = triangles[t].map(|v| points[v as usize]);
        let center = a / 3.0 + b / 3.0 + c / 3.0;
        let is_inside = [[a, b], [b, c], [c, a]]
            .iter()
            .all(|[p, q]| orientation(*p, *q, center) > 0);
        is_inside.then_some(center)
    };
    let inside = |gone: &HashSet<usize>, skip: usize| {
        let kept = (0..triangles.len()).filter(|t| !gone.contains(t));
        kept.skip(skip).find_map(|t| Some((t, center(t)?)))
    };
    let hole = inside(&gone, 0);
    if let Some((t, _)) = hole {
        gone.extend(flood(t));
    }
    let mut regions = Vec::new();
    let mut expected_regions: HashMap<usize, u32> = HashMap::new();
    for skip in [0, 1, triangles.len() / 4] {
        if let Some((t, center)) = inside(&gone, skip) {
            for member in flood(t) {
                expected_regions
                    .entry(member)
                    .or_insert(regions.len() as u32);
            }
            regions.push(center);
        }
    }
    let holes: Vec<DVec2> = hole.map(|(_, center)| center).into_iter().collect();
    let result = run(on, points, segments, &holes, &regions, false);
    let kept: Vec<usize> = (0..triangles.len()).filter(|t| !gone.contains(t)).collect();
    if kept.is_empty() {
        return match result {
            Err(error) if error.contains("encloses no triangle") => Ok(()),
            Err(error) => Err(error),
            Ok(_) => Err("an outline that encloses nothing has triangles".into()),
        };
    }
    let result = result?;
    let expected: Vec<[u32; 3]> = kept.iter().map(|&t| triangles[t]).collect();
    equal("triangles within", &result.triangles, &expected)?;
    let named = |t: &usize| expected_regions.get(t).copied().unwrap_or(NO_REGION);
    let expected: Vec<u32> = kept.iter().map(named).collect();
    equal(
        "regions",
        &result.regions.unwrap_or(expected.clone()),
        &expected,
    )?;
    let is_kept = |&[a, b]: &[u32; 2]| {
        let both = [[a, b], [b, a]].map(|side| at_side.get(&side));
        both.iter().flatten().any(|t| !gone.contains(t))
    };
    let mut left_out = 0;
    for (pieces, found) in all.pieces.iter().zip(&result.pieces) {
        let expected: Vec<[u32; 2]> = pieces.iter().copied().filter(is_kept).collect();
        left_out += u32::from(expected.len() < pieces.len());
        equal("pieces within", found, &expected)?;
    }
    equal("segments left out", &[result.left_out], &[left_out])
}
