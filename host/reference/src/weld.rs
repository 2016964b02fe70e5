//! S-Weld (gpu-vertex-clustering-2026, section 3.5, Algorithm 1): one vertex after the other, by ascending id.
//!
//! The algorithm lets each new representative claim all vertices near it that no earlier one has claimed. Here each
//! vertex looks for the representatives near it, and goes to the lowest: the same clusters, since the lowest is the
//! first that would have claimed it. Only representatives need to be found, and few of them are near each other.

use std::collections::{HashMap, HashSet};

use glam::DVec3;

use gpu::weld as kernel;

use super::weld_attributes;
use trioxide::device::Device;
use trioxide::weld::{
    Carried, EpsilonFound, Guards, HostGuards, Nearness, Options, Position, Result, Welded, check,
    check_ratio, extent, fraction_removed, search, spacing,
};

/// Welds the points and triangles of a mesh.
///
/// # Errors
/// [`Coordinate`](trioxide::weld::Error::Coordinate) for a coordinate that is not finite,
/// [`FaceIndex`](trioxide::weld::Error::FaceIndex) for a face with an index out of range,
/// [`Epsilon`](trioxide::weld::Error::Epsilon) for an epsilon that is no distance.
pub fn weld(points: &[DVec3], faces: &[[u32; 3]], options: &Options) -> Result<Welded> {
    weld_carrying(points, faces, &Carried::NONE, options)
}

/// As [`weld()`], with attributes, locks and regions.
///
/// # Errors
/// As [`weld()`]; [`MissingAttribute`](trioxide::weld::Error::MissingAttribute).
pub fn weld_carrying(
    points: &[DVec3],
    faces: &[[u32; 3]],
    carried: &Carried,
    options: &Options,
) -> Result<Welded> {
    check(points, faces, options)?;
    carried.check(points.len(), faces.len())?;
    let guards = HostGuards::new(points.len(), &options.guards, carried)?;
    let representatives = cluster(points, &guards, options.nearness());
    let mut ids = Vec::new();
    let mut map = vec![0; points.len()];
    for (v, &representative) in representatives.iter().enumerate() {
        if representative == v as u32 {
            map[v] = ids.len() as u32;
            ids.push(v as u32);
        } else {
            // Lower than v, so numbered already.
            map[v] = map[representative as usize];
        }
    }
    let positions = match options.position {
        Position::Mean => means(points, &map, ids.len()),
        Position::First => ids.iter().map(|&v| points[v as usize]).collect(),
    };
    let attributes = match options.position {
        Position::Mean => weld_attributes::means(carried.attributes, &map, ids.len()),
        Position::First => weld_attributes::first(carried.attributes, &ids),
    };
    let remapped = faces.iter().map(|face| face.map(|v| map[v as usize]));
    let mut seen = HashSet::new();
    let (kept, faces): (Vec<usize>, _) = remapped
        .enumerate()
        .filter(|&(_, [a, b, c])| options.keep_degenerate || a != b && b != c && c != a)
        .filter(|&(_, face)| options.keep_degenerate || seen.insert(from_lowest(face)))
        .unzip();
    let regions = carried
        .regions
        .map(|of| kept.iter().map(|&t| of[t]).collect());
    Ok(Welded {
        map,
        representatives: ids,
        points: positions,
        faces,
        attributes,
        regions: regions.filter(|regions: &Vec<i32>| !regions.is_empty()),
    })
}

/// The epsilon that removes the fraction `ratio` of the vertices, as [`trioxide::weld::epsilon_for_ratio`] finds it.
///
/// # Errors
/// As there.
pub fn epsilon_for_ratio(
    points: &[DVec3],
    carried: &Carried,
    guards: &Guards,
    ratio: f64,
) -> Result<EpsilonFound> {
    check_ratio(ratio)?;
    let options = Options {
        guards: *guards,
        ..Options::new(0.0)
    };
    check(points, &[], &options)?;
    carried.check(points.len(), carried.regions.map_or(0, <[i32]>::len))?;
    let guards = HostGuards::new(points.len(), guards, carried)?;
    let removed = |epsilon| {
        let representatives = cluster(points, &guards, Nearness::new(epsilon));
        let representatives = representatives.iter().enumerate();
        let kept = representatives.filter(|&(v, &r)| r == v as u32).count();
        Ok(fraction_removed(points.len(), kept))
    };
    let on = Device::cpu(Some(1))?;
    let spacing = spacing(&on, &on.upload(points)?)?;
    search(ratio, spacing, || Ok(extent(points)), removed)
}

/// The same oriented triangle from its lowest corner on.
fn from_lowest([a, b, c]: [u32; 3]) -> [u32; 3] {
    if a <= b && a <= c {
        [a, b, c]
    } else if b <= c {
        [b, c, a]
    } else {
        [c, a, b]
    }
}

/// The representative of each vertex.
fn cluster(points: &[DVec3], guards: &HostGuards, near: Nearness) -> Vec<u32> {
    // A neighbour is a quarter of a cell away at most, so it lies in the cell of the point, or in the cell of the point
    // moved by the reach to either side.
    let side = (4.0 * near.reach).clamp(f64::MIN_POSITIVE, f64::MAX);
    let cell = |x: f64| ((x / side).floor() + 0.0).to_bits();
    let mut cells: HashMap<[u64; 3], Vec<u32>> = HashMap::new();
    let mut representatives = Vec::with_capacity(points.len());
    for (v, &p) in points.iter().enumerate() {
        // Its cell need not know it either.
        if !guards.has_neighbours(v as u32) {
            representatives.push(v as u32);
            continue;
        }
        let choices = p.to_array().map(|x| {
            let mut cells = vec![cell(x - near.reach), cell(x), cell(x + near.reach)];
            cells.dedup();
            cells
        });
        let mut lowest = v as u32;
        for &x in &choices[0] {
            for &y in &choices[1] {
                for &z in &choices[2] {
                    for &r in cells.get(&[x, y, z]).into_iter().flatten() {
                        if r < lowest
                            && near.is_near(p, points[r as usize])
                            && guards.allow(v as u32, r)
                        {
                            lowest = r;
                        }
                    }
                }
            }
        }
        if lowest == v as u32 {
            let own = p.to_array().map(cell);
            cells.entry(own).or_default().push(lowest);
        }
        representatives.push(lowest);
    }
    representatives
}

/// Mean of the points of each cluster, added in ascending order.
fn means(points: &[DVec3], map: &[u32], clusters: usize) -> Vec<DVec3> {
    // From -0.0, not 0.0: only adding to -0.0 leaves the first point as it is.
    let nothing = [f64::INFINITY, f64::NEG_INFINITY];
    let mut sums = vec![(DVec3::splat(-0.0), [nothing; 3], 0u32); clusters];
    for (&p, &c) in points.iter().zip(map) {
        let (sum, ranges, count) = &mut sums[c as usize];
        *sum += p;
        *ranges = [0, 1, 2].map(|k| kernel::with_number(ranges[k], p[k]));
        *count += 1;
    }
    let mean = |(sum, ranges, count): (DVec3, [[f64; 2]; 3], u32)| {
        DVec3::from_array([0, 1, 2].map(|k| kernel::mean_of(sum[k], count.into(), ranges[k])))
    };
    sums.into_iter().map(mean).collect()
}
