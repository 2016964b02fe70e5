//! Welding in slabs against the sequential reference, for equality of every array, within the memory that is given.

use glam::DVec3;

use super::weld::{crowded, equal_welds, scan, shuffled};
use super::{Case, Outcome, Size};
use trioxide::device::Device;
use trioxide::weld::{
    InSlabs, Method, Options, Position, bytes_needed, bytes_of_slab, weld_in_slabs,
};
use trioxide_reference as reference;

/// The cases of welding in slabs.
pub fn cases(size: Size) -> Vec<Case> {
    let (points, links) = match size {
        Size::Tiny => (600, 12),
        _ => (30_000, 60),
    };
    // The number of vertices of a scan, and its memory limit in eighths of the memory that it needs at once. Wide slabs
    // take minutes under a sanitiser: the scan then has fewer vertices, and memory in which the faces stay together.
    let of_scan = move |epsilon: f64| match size {
        Size::Tiny if epsilon > 0.1 => (800, 7),
        Size::Tiny => (1_600, 4),
        _ => (8_000, 2),
    };
    // A case each: under a sanitiser a slab takes minutes.
    let in_order = [0.0, 0.0015, 0.03, 0.12].map(|epsilon| {
        Case::new(format!("weld in slabs a scan by {epsilon:e}"), move |on| {
            let (vertices, share) = of_scan(epsilon);
            let (points, faces) = scan(vertices, 1);
            let limit = bytes_needed(Method::Grid, points.len(), faces.len()) / 8 * share;
            if share == 7 {
                // Crowded cells decide this order in 35 passes, a random one in 8.
                let took = compare_by(on, &points, &faces, &plain(epsilon), limit)?;
                return several("slabs", took.slabs);
            }
            let took = compare(on, &points, &faces, epsilon, limit)?;
            several("slabs", took.slabs)?;
            several("parts of faces", took.face_parts)
        })
    });
    let in_random_order = [0.0075, 0.03, 0.12].map(|epsilon| {
        let name = format!("weld in slabs a scan in random order by {epsilon:e}");
        Case::new(name, move |on| {
            let (vertices, share) = of_scan(epsilon);
            let (points, faces) = scan(vertices, 1);
            let (points, faces) = shuffled(&points, &faces);
            let limit = bytes_needed(Method::Grid, points.len(), faces.len()) / 8 * share;
            let took = compare(on, &points, &faces, epsilon, limit)?;
            several("slabs", took.slabs)?;
            several("passes", took.left.len())
        })
    });
    let mut cases = Vec::from(in_order);
    cases.extend(in_random_order);
    cases.extend([
        Case::new("weld in slabs a cloud", move |on| {
            let cloud = cloud(points);
            let limit = bytes_of_slab(cloud.len() / 4);
            for epsilon in [0.0, 0.01, 0.05] {
                let took = compare(on, &cloud, &[], epsilon, limit)?;
                several("slabs", took.slabs)?;
            }
            Ok(())
        }),
        Case::new(
            "weld in slabs chains along the axis and against it",
            move |on| {
                for step in [1.0, -1.0] {
                    let points: Vec<DVec3> = (0..points)
                        .map(|i| DVec3::X * (step * f64::from(i)))
                        .collect();
                    let limit = bytes_of_slab(points.len() / 10);
                    let took = compare(on, &points, &strip(points.len()), 1.0, limit)?;
                    several("slabs", took.slabs)?;
                    // One pass decides all at once, another one follows if it ran against the first, one finds
                    // representatives.
                    if took.left.len() > 3 {
                        return Err(format!("a chain took {} passes", took.left.len()));
                    }
                }
                Ok(())
            },
        ),
        Case::new(
            "weld in slabs a chain that crosses a boundary again and again",
            move |on| {
                let points = zigzag(links, points / 15);
                let limit = bytes_of_slab(points.len() * 3 / 4);
                let took = compare(on, &points, &strip(points.len()), 1.0, limit)?;
                // A pass decides at most two of its links; only the chain is left in these passes.
                let passes = took.left.len() as u32;
                if passes < links / 4 || passes > links {
                    return Err(format!("{links} crossings took passes {:?}", took.left));
                }
                Ok(())
            },
        ),
    ]);
    cases.extend(small_cases());
    if size == Size::Large {
        cases.push(Case::new("weld in slabs a scan of 2M vertices", |on| {
            let (points, faces) = scan(2_000_000, 3);
            let limit = bytes_needed(Method::Grid, points.len(), faces.len()) / 5;
            several("slabs", compare(on, &points, &faces, 1e-3, limit)?.slabs)
        }));
    }
    cases
}

/// Equal points, dense points, equal triangles, no point.
fn small_cases() -> Vec<Case> {
    vec![
        Case::new("weld in slabs equal points", |on| {
            let points = vec![DVec3::new(0.1, 0.2, 0.3); 2000];
            for epsilon in [0.0, 1.0] {
                let took = compare(on, &points, &strip(2000), epsilon, bytes_of_slab(2000))?;
                one("slabs", took.slabs)?;
                refused(
                    on,
                    &points,
                    epsilon,
                    bytes_of_slab(1999),
                    bytes_of_slab(2000),
                )?;
            }
            Ok(())
        }),
        Case::new(
            "weld in slabs a cloud a fifth of which is at one point",
            |on| {
                let mut points = cloud(10_000);
                points
                    .iter_mut()
                    .step_by(5)
                    .for_each(|p| *p = DVec3::splat(0.5));
                for epsilon in [0.0, 0.01] {
                    let took = compare(on, &points, &[], epsilon, bytes_of_slab(4_000))?;
                    several("slabs", took.slabs)?;
                }
                Ok(())
            },
        ),
        Case::new("weld in slabs a line by a tenth of its points", |on| {
            // Forwards, backwards, and both by turns: buckets across a boundary wait for each other.
            let n = 9_000;
            for order in [|i, _| i, |i, n| n - 1 - i, |i, n| i * 4_001 % n] {
                let points: Vec<DVec3> =
                    (0..n).map(|i| DVec3::X * f64::from(order(i, n))).collect();
                let took = compare(on, &points, &[], 900.0, bytes_of_slab(5_000))?;
                several("slabs", took.slabs)?;
            }
            Ok(())
        }),
        Case::new("weld in slabs what is too dense for the memory", |on| {
            let (points, _) = scan(3_000, 1);
            let all = bytes_of_slab(points.len());
            refused(on, &points, 10.0, all - 1, all)?;
            compare(on, &points, &[], 10.0, all).map(drop)
        }),
        Case::new("weld in slabs one triangle many times", |on| {
            let points: Vec<DVec3> = (0..300).map(|i| DVec3::X * f64::from(i)).collect();
            let mut faces = vec![[3, 4, 5]; 20_000];
            faces[7_000] = [5, 4, 3];
            faces[19_000] = [6, 4, 3];
            let took = compare(on, &points, &faces, 0.5, bytes_of_slab(600))?;
            several("parts of faces", took.face_parts)
        }),
        Case::new("weld in slabs nothing, and one point", |on| {
            one(
                "passes of nothing",
                compare(on, &[], &[], 1.0, 1 << 17)?.left.len() + 1,
            )?;
            one(
                "slabs",
                compare(on, &[DVec3::ONE], &[], 0.0, 1 << 17)?.slabs,
            )
        }),
    ]
}

fn several(what: &str, count: usize) -> Outcome {
    if count > 1 {
        return Ok(());
    }
    Err(format!("{count} {what}: the case is there for more"))
}

fn one(what: &str, count: usize) -> Outcome {
    if count == 1 {
        return Ok(());
    }
    Err(format!("{count} {what} instead of one"))
}

fn plain(epsilon: f64) -> [Options; 2] {
    let degenerate_ones_too = Options {
        position: Position::First,
        keep_degenerate: true,
        ..Options::new(epsilon)
    };
    [Options::new(epsilon), degenerate_ones_too]
}

fn compare(
    on: &Device,
    points: &[DVec3],
    faces: &[[u32; 3]],
    epsilon: f64,
    limit: u64,
) -> Result<InSlabs, String> {
    let [first, second] = plain(epsilon);
    let crowded = [None, Some(3)].map(|patience| crowded(Options::new(epsilon), patience));
    let all = [first, second, crowded[0], crowded[1]];
    compare_by(on, points, faces, &all, limit)
}

/// The run with the first of the options.
fn compare_by(
    on: &Device,
    points: &[DVec3],
    faces: &[[u32; 3]],
    options: &[Options],
    limit: u64,
) -> Result<InSlabs, String> {
    let mut first = None;
    for &options in options {
        let expected = reference::weld(points, faces, &options)?;
        on.reset_peak();
        let before = on.peak_bytes();
        let ours = weld_in_slabs(on, points, faces, options, limit)?;
        let used = on.peak_bytes() - before;
        if used > limit {
            return Err(format!("{options:?}: took {used} bytes of {limit}"));
        }
        equal_welds(&ours.welded, &expected).map_err(|error| format!("{options:?}: {error}"))?;
        first = first.or(Some(ours));
    }
    Ok(first.expect("several runs"))
}

/// Expects an error that names both sizes.
fn refused(on: &Device, points: &[DVec3], epsilon: f64, limit: u64, needed: u64) -> Outcome {
    match weld_in_slabs(on, points, &[], Options::new(epsilon), limit) {
        Ok(_) => Err(format!("was welded with {limit} bytes")),
        Err(error) => {
            let text = error.to_string();
            if text.contains(&limit.to_string()) && text.contains(&needed.to_string()) {
                Ok(())
            } else {
                Err(format!("names neither {limit} nor {needed}: {text}"))
            }
        }
    }
}

fn strip(points: usize) -> Vec<[u32; 3]> {
    (0..points.saturating_sub(2) as u32)
        .map(|i| [i, i + 1, i + 2])
        .collect()
}

/// Points in a cube, in no order.
fn cloud(n: u32) -> Vec<DVec3> {
    let coordinate = |i: u32, k: u64| {
        let mixed = (u64::from(i) * 3 + k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ mixed >> 31).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        ((mixed ^ mixed >> 29) >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..n)
        .map(|i| DVec3::new(coordinate(i, 0), coordinate(i, 1), coordinate(i, 2)))
        .collect()
}

/// A chain of lower neighbours whose vertices lie left and right of x = 0 by turns, between two crowds so near that
/// slabs of three quarters of all vertices are cut there.
fn zigzag(links: u32, crowd: u32) -> Vec<DVec3> {
    let chain = (0..links).map(|i| {
        let x = if i.is_multiple_of(2) { -0.3 } else { 0.3 };
        DVec3::new(x, 0.6 * f64::from(i), 0.0)
    });
    let crowd = |x: f64| (0..crowd).map(move |i| DVec3::new(x, 2.0 * f64::from(i), 10.0));
    let ends = [DVec3::X * -1e4, DVec3::X * 1e4];
    chain
        .chain(crowd(-1.2))
        .chain(crowd(1.2))
        .chain(ends)
        .collect()
}
