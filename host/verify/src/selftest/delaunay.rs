//! Delaunay triangulations against the definition, for points that no, few or all others share a circle or a line with.

use std::collections::{HashMap, HashSet};

use glam::{DVec2, Vec2};
use gpu::delaunay::{circle, is_in_circle, orientation};

use super::{Case, Outcome, Size, equal};
use crate::validate;
use trioxide::collective::mark_ids;
use trioxide::delaunay::{
    Diagonals, Duplicates, Ways, find_illegal_edges, triangulate, triangulate_with,
};
use trioxide::device::Device;
use trioxide::half_edges::{DeviceTriangulation, Point};
use trioxide::mesh::Triangulation;
use trioxide::random::SplitMix64;

/// Numbers from a seed.
pub(super) struct Random(SplitMix64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// From 0 to below 1.
    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(super) fn below(&mut self, most: u32) -> u32 {
        ((u64::from(most) * (self.0.next_u64() >> 32)) >> 32) as u32
    }
}

/// Makes a cloud with about the given number of points.
pub(super) type Cloud = fn(&mut Random, usize) -> Vec<DVec2>;

/// Clouds by name: `count` points.
pub(super) const CLOUDS: [(&str, Cloud); 12] = [
    ("random", |r, n| {
        collect(n, |_| DVec2::new(r.unit(), r.unit()))
    }),
    ("grid", |_, n| {
        let side = (n as f64).sqrt() as usize;
        collect(side * side, |i| {
            DVec2::new((i % side) as f64, (i / side) as f64)
        })
    }),
    ("circle of integers", |_, _| circle_of_integers()),
    ("wheel", |_, n| {
        collect(n, |i| {
            if i == 0 {
                DVec2::ZERO
            } else {
                on_ellipse(i, n - 1, 1.0)
            }
        })
    }),
    ("ellipse", |_, n| collect(n, |i| on_ellipse(i, n, 3.0))),
    ("two lines", |r, n| {
        collect(n, |i| DVec2::new(r.unit(), (i % 2) as f64))
    }),
    ("parabola", |r, n| {
        collect(n, |_| {
            let x = r.unit();
            DVec2::new(x, x * x)
        })
    }),
    ("spiral", |r, n| {
        collect(n, |_| {
            let a = 60.0 * r.unit();
            a * DVec2::from_angle(a)
        })
    }),
    ("Kuzmin", |r, n| {
        collect(n, |_| {
            let u = r.unit();
            (1.0 / ((1.0 - u) * (1.0 - u)) - 1.0).sqrt()
                * DVec2::from_angle(std::f64::consts::TAU * r.unit())
        })
    }),
    ("clusters", |r, n| {
        collect(n, |i| {
            let centre = DVec2::new((i % 10) as f64, (i * 7 % 10) as f64);
            centre + 1e-12 * DVec2::new(r.unit(), r.unit())
        })
    }),
    ("far from the origin", |r, n| {
        collect(n, |_| 1e9 + DVec2::new(r.unit(), r.unit()))
    }),
    ("of all magnitudes", |r, n| {
        collect(n, |_| {
            let scale = 2f64.powf(600.0 * r.unit() - 300.0);
            scale * DVec2::new(r.unit() - 0.5, r.unit() - 0.5)
        })
    }),
];

pub(super) fn collect(n: usize, point: impl FnMut(usize) -> DVec2) -> Vec<DVec2> {
    let mut points: Vec<DVec2> = (0..n).map(point).collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    points.dedup();
    points
}

fn on_ellipse(i: usize, n: usize, width: f64) -> DVec2 {
    let angle = std::f64::consts::TAU * i as f64 / n as f64;
    DVec2::new(width * angle.cos(), angle.sin())
}

/// Points with whole coordinates on one circle, exactly: 5^a 13^b 17^c 29^d is the hypotenuse of many triangles.
fn circle_of_integers() -> Vec<DVec2> {
    let radius: i64 = 5 * 5 * 13 * 13 * 17 * 29;
    let root = |x: i64| {
        let rest = radius * radius - x * x;
        let y = (rest as f64).sqrt().round() as i64;
        (y * y == rest).then_some(y)
    };
    let points = (-radius..=radius).filter_map(|x| Some((x, root(x)?)));
    let both = points.flat_map(|(x, y)| {
        [
            DVec2::new(x as f64, y as f64),
            DVec2::new(x as f64, -y as f64),
        ]
    });
    let all: Vec<DVec2> = both.collect();
    collect(all.len(), |i| all[i])
}

pub fn cases(size: Size) -> Vec<Case> {
    let mut cases: Vec<Case> = CLOUDS
        .into_iter()
        .map(|(name, cloud)| {
            Case::new(format!("Delaunay {name}"), move |on| {
                let points = cloud(&mut Random::new(1), size.of(3000));
                check(on, &points)
            })
        })
        .collect();
    // Enough of them that their stars, which are not complete, are given up after a few.
    cases.push(Case::new("Delaunay hard points", move |on| {
        let (_, ellipse) = CLOUDS[4];
        check(on, &ellipse(&mut Random::new(1), 400))
    }));
    cases.push(Case::new("Delaunay tiny clouds", move |on| {
        let mut random = Random::new(2);
        for round in 0..size.of(200) {
            let side = if round % 2 == 0 { 5 } else { 8 };
            let n = 3 + random.below(if round % 2 == 0 { 22 } else { 37 }) as usize;
            let grid = |r: &mut Random| f64::from(r.below(side));
            let points = collect(n, |_| DVec2::new(grid(&mut random), grid(&mut random)));
            if points.len() > 2 {
                check_tiny(on, &points)?;
            }
        }
        Ok(())
    }));
    cases.push(Case::new("Delaunay single precision", move |on| {
        let mut random = Random::new(3);
        // Half of them are so near each other that they are ordered by all of their words.
        let points = collect(size.of(2000), |i| {
            let scale = if i % 2 == 0 { 1.0 } else { 1e-7 };
            let mut coordinate = || (scale * random.unit()) as f32;
            Vec2::new(coordinate(), coordinate()).as_dvec2()
        });
        let single: Vec<Vec2> = points.iter().map(|p| p.as_vec2()).collect();
        let double = triangles(on, &points)?;
        let result = triangulate(on, &on.upload(&single)?, Duplicates::Refuse)?;
        equal("triangles", &on.download_rows(result.triangles())?, &double)
    }));
    cases.push(Case::new("Delaunay equal points", move |on| {
        let mut random = Random::new(4);
        // Each of few places has several points, 0 and -0 among them.
        let side = (size.of(2000) as f64).sqrt() as u32 / 2;
        let points: Vec<DVec2> = (0..size.of(2000))
            .map(|i| {
                let zero = if i % 2 == 0 { 0.0 } else { -0.0 };
                let coordinate = |r: &mut Random| match r.below(side) {
                    0 => zero,
                    place => f64::from(place),
                };
                DVec2::new(coordinate(&mut random), coordinate(&mut random))
            })
            .collect();
        check_equal(on, &points)
    }));
    cases.push(Case::new("Delaunay illegal edges", move |on| {
        for (_, cloud) in &CLOUDS[..2] {
            let points = cloud(&mut Random::new(1), size.of(2000));
            check_flipped::<DVec2>(on, &points)?;
            check_flipped::<Vec2>(on, &points)?;
        }
        Ok(())
    }));
    cases
}

/// None of a triangulation's edges is illegal; after flips the edges are found that a plain search finds.
fn check_flipped<P: Point>(on: &Device, points: &[DVec2]) -> Outcome {
    let mut random = Random::new(8);
    let points: Vec<DVec2> = points.iter().map(|&p| P::from_f64(p).to_f64()).collect();
    let mut mesh = Triangulation {
        triangles: triangles(on, &points)?,
        points,
        ..Triangulation::default()
    };
    for round in 0..3 {
        let edges = inner_edges(&mesh.triangles);
        // Of some edges both sides are segments.
        let is_segment = |h: u32| round > 1 && h.is_multiple_of(3);
        let segments: Vec<u32> = edges
            .iter()
            .filter(|[h, _]| is_segment(*h))
            .copied()
            .flatten()
            .collect();
        let device = DeviceTriangulation::<P>::upload(on, &mesh).map_err(trioxide::Error::from)?;
        let marked = mark_ids(on, &on.upload(&segments)?, 3 * mesh.triangles.len())?.0;
        let marked = (!segments.is_empty()).then_some(&marked);
        for diagonals in [Diagonals::ByRule, Diagonals::Both] {
            let is_illegal = |&[h, twin]: &[u32; 2]| {
                let [a, b, c, d] =
                    around(&mesh.triangles, [h, twin]).map(|v| mesh.points[v as usize]);
                !is_segment(h)
                    && match diagonals {
                        Diagonals::ByRule => is_in_circle(a, b, c, d),
                        Diagonals::Both => circle(a, b, c, d) > 0,
                    }
            };
            let illegal: Vec<u32> = edges
                .iter()
                .filter(|e| is_illegal(e))
                .map(|e| e[0])
                .collect();
            let found = find_illegal_edges(on, &device, marked, diagonals)?;
            let first = found.first.map(|h| h.index());
            equal(
                "number of illegal edges",
                &[found.count],
                &[illegal.len() as u32],
            )?;
            equal("first illegal edge", &[first], &[illegal.first().copied()])?;
            if diagonals == Diagonals::ByRule && (round == 0) != illegal.is_empty() {
                return Err("only flips make edges illegal".into());
            }
        }
        flip_some(&mut mesh, &edges, &mut random);
    }
    Ok(())
}

/// Flips edges, at most one of each triangle.
fn flip_some(mesh: &mut Triangulation, edges: &[[u32; 2]], random: &mut Random) {
    let mut flipped = HashSet::new();
    for &[h, twin] in edges {
        let [a, b, c, d] = around(&mesh.triangles, [h, twin]);
        let side = |p, q, r| {
            let [p, q, r] = [p, q, r].map(|v: u32| mesh.points[v as usize]);
            orientation(p, q, r)
        };
        let of_both = [h / 3, twin / 3];
        let is_free = of_both.iter().all(|t| !flipped.contains(t));
        if random.below(4) == 0 && is_free && side(c, a, d) > 0 && side(d, b, c) > 0 {
            flipped.extend(of_both);
            mesh.triangles[of_both[0] as usize] = [a, d, c];
            mesh.triangles[of_both[1] as usize] = [d, b, c];
        }
    }
}

/// Both half-edges of each inner edge, the lower one first, ascending.
fn inner_edges(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let corners = triangles.as_flattened();
    let ends = |h: u32| [h, h / 3 * 3 + (h + 1) % 3].map(|h| corners[h as usize]);
    let sides = 0..corners.len() as u32;
    let at: HashMap<[u32; 2], u32> = sides.clone().map(|h| (ends(h), h)).collect();
    let twin = |h: u32| {
        let [a, b] = ends(h);
        at.get(&[b, a]).copied()
    };
    sides
        .filter_map(|h| Some([h, twin(h).filter(|&twin| h < twin)?]))
        .collect()
}

/// The ends of an edge, and the far corners of its two triangles.
fn around(triangles: &[[u32; 3]], [h, twin]: [u32; 2]) -> [u32; 4] {
    let corner = |h: u32, k: u32| triangles[h as usize / 3][(h + k) as usize % 3];
    [corner(h, 0), corner(h, 1), corner(h, 2), corner(twin, 2)]
}

/// Equal points are refused; or the first of each is a vertex, and the others map to it.
fn check_equal(on: &Device, points: &[DVec2]) -> Outcome {
    let uploaded = on.upload(points)?;
    let mut first_at = HashMap::new();
    let key = |p: &DVec2| [p.x + 0.0, p.y + 0.0].map(f64::to_bits);
    let firsts: Vec<u32> = (0..)
        .zip(points)
        .map(|(v, p)| *first_at.entry(key(p)).or_insert(v))
        .collect();
    let second = (0..).zip(&firsts).find(|&(v, &first)| v != first);
    let (second, first) = second.ok_or("the points are distinct")?;
    match triangulate(on, &uploaded, Duplicates::Refuse) {
        Ok(_) => return Err("equal points are not refused".into()),
        Err(error) => equal(
            "error",
            &[error.to_string()],
            &[trioxide::outline::repeated(second.into(), (*first).into()).to_string()],
        )?,
    }
    let result = triangulate(on, &uploaded, Duplicates::First)?;
    let map = result.firsts().ok_or("no map of equal points")?;
    equal("firsts", &on.download_rows::<_, u32>(map)?, &firsts)?;
    let distinct: Vec<u32> = (0..)
        .zip(&firsts)
        .filter_map(|(v, &first)| (v == first).then_some(v))
        .collect();
    let of_distinct: Vec<DVec2> = distinct.iter().map(|&v| points[v as usize]).collect();
    let expected: Vec<[u32; 3]> = triangles(on, &of_distinct)?
        .iter()
        .map(|t| t.map(|v| distinct[v as usize]))
        .collect();
    equal(
        "triangles",
        &on.download_rows(result.triangles())?,
        &expected,
    )
}

fn triangles(on: &Device, points: &[DVec2]) -> trioxide::Result<Vec<[u32; 3]>> {
    let result = triangulate(on, &on.upload(points)?, Duplicates::Refuse)?;
    on.download_rows(result.triangles())
}

/// Insertion by launches for each round gives the triangles that were found by gaps or by one block.
fn check_by_launches(on: &Device, points: &[DVec2], found: &[[u32; 3]]) -> Outcome {
    let by_launches = Ways {
        by_gaps: 0,
        by_block: 0,
    };
    let result = triangulate_with(on, &on.upload(points)?, Duplicates::Refuse, by_launches)?;
    let by_launches = on.download_rows(result.triangles())?;
    equal("triangles by launches", &by_launches, found)
}

/// The result is Delaunay, and shuffled points give the same triangles in the same order.
fn check(on: &Device, points: &[DVec2]) -> Outcome {
    let found = triangles(on, points)?;
    validate::delaunay(points, &found)?;
    check_by_launches(on, points, &found)?;
    // Another order of the points: an element of a cycle that has all of them.
    let n = points.len();
    let step = (1..n)
        .rev()
        .find(|&step| gcd(step, n) == 1 && step < n * 5 / 8)
        .unwrap_or(1);
    let order: Vec<u32> = (0..n).map(|i| (i * step % n) as u32).collect();
    let shuffled: Vec<DVec2> = order.iter().map(|&v| points[v as usize]).collect();
    let renumbered: Vec<[u32; 3]> = triangles(on, &shuffled)?
        .iter()
        .map(|t| t.map(|v| order[v as usize]))
        .collect();
    equal("triangles of shuffled points", &renumbered, &found)
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The triangles equal the triangles of the definition, or the points are refused as points on a line.
fn check_tiny(on: &Device, points: &[DVec2]) -> Outcome {
    let n = points.len() as u32;
    let at = |v: u32| points[v as usize];
    let mut expected = Vec::new();
    for a in 0..n {
        for b in 0..n {
            for c in 0..n {
                let is_least = a < b && a < c;
                if !is_least || orientation(at(a), at(b), at(c)) <= 0 {
                    continue;
                }
                let mut others = (0..n).filter(|&d| d != a && d != b && d != c);
                if !others.any(|d| is_in_circle(at(a), at(b), at(c), at(d))) {
                    expected.push([a, b, c]);
                }
            }
        }
    }
    if expected.is_empty() {
        return match triangles(on, points) {
            Err(error) if error.to_string().contains("on one line") => Ok(()),
            Err(other) => Err(other.to_string()),
            Ok(_) => Err("triangles of points on a line".into()),
        };
    }
    let mut found = triangles(on, points)?;
    check_by_launches(on, points, &found)?;
    for t in &mut found {
        let least = (0..3).min_by_key(|&k| t[k]).unwrap_or(0);
        t.rotate_left(least);
    }
    found.sort_unstable();
    equal("triangles", &found, &expected)
}
