//! Delaunay refinement against its promises: a constrained Delaunay triangulation with the input's points and segments,
//! whose angles, areas and edges keep the bounds; the same on every device and for shuffled input.

use glam::DVec2;

use super::constrained::segments;
use super::delaunay::{CLOUDS, Random, collect};
use super::{Case, Outcome, Size, equal};
use crate::validate;
use trioxide::delaunay::Duplicates;
use trioxide::delaunay::constrained::Limits;
use trioxide::delaunay::refinement::{Background, Keep, Missed, Refinement, refine};
use trioxide::device::Device;

/// Angles are computed again, with other roundings.
const ROUNDING: f64 = 1e-6;

pub fn cases(size: Size) -> Vec<Case> {
    vec![
        Case::new("refinement of a star", move |on| star(size).check(on)),
        Case::new("refinement of points and segments", move |on| {
            within_square(
                CLOUDS[0].1(&mut Random::new(1), size.of(1000)),
                size.of(100),
            )
            .check(on)
        }),
        Case::new("refinement of a grid", move |on| {
            let grid = CLOUDS[1].1(&mut Random::new(1), size.of(900));
            let side = (grid.len() as f64).sqrt();
            let scaled = grid.iter().map(|p| (p + 1.0) / (side + 1.0)).collect();
            within_square(scaled, size.of(60)).check(on)
        }),
        Case::new("refinement to sizes", move |on| {
            let points = CLOUDS[0].1(&mut Random::new(5), size.of(200));
            Input {
                area: 1.0,
                sizes: Some([0.02, 0.1, 0.3, 0.1, 0.1]),
                ..within_square(points, size.of(20))
            }
            .check(on)
        }),
        Case::new("refinement of repeated points", move |on| {
            let points = CLOUDS[0].1(&mut Random::new(6), size.of(200));
            within_square(points, size.of(30)).check_repeated(on)
        }),
        Case::new("refinement of tiny outlines", move |on| {
            let mut random = Random::new(8);
            for _ in 0..size.of(16) {
                let n = 4 + random.below(12) as usize;
                let inner = |r: &mut Random| f64::from(1 + r.below(7)) / 8.0;
                let points = collect(n, |_| DVec2::new(inner(&mut random), inner(&mut random)));
                within_square(points, 8).check(on)?;
            }
            Ok(())
        }),
    ]
}

/// An input of refinement, whose outline is closed.
struct Input {
    points: Vec<DVec2>,
    segments: Vec<[u32; 2]>,
    holes: Vec<DVec2>,
    regions: Vec<DVec2>,
    angle: f64,
    area: f64,
    areas: Vec<Option<f64>>,
    /// Wanted edge lengths at the points of [`CROSS`].
    sizes: Option<[f64; 5]>,
}

/// A background: most of the unit square around its center.
const CROSS: [DVec2; 5] = [
    DVec2::new(0.0, 0.0),
    DVec2::new(1.0, 0.0),
    DVec2::new(0.9, 1.0),
    DVec2::new(0.0, 0.8),
    DVec2::new(0.4, 0.5),
];
/// Its triangles.
const AROUND: [[u32; 3]; 4] = [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]];

/// The size at a point.
fn size_at(sizes: &[f64; 5], p: DVec2) -> f64 {
    for t in AROUND {
        let [a, b, c] = t.map(|v| CROSS[v as usize]);
        let area = |u: DVec2, v: DVec2| (u - p).perp_dot(v - p);
        let weights = [area(b, c), area(c, a), area(a, b)];
        if weights.iter().all(|&weight| weight >= 0.0) {
            let parts = weights.iter().zip(t).map(|(w, v)| w * sizes[v as usize]);
            return parts.sum::<f64>() / weights.iter().sum::<f64>();
        }
    }
    f64::INFINITY
}

/// A star with a hole, and a region with smaller triangles.
fn star(size: Size) -> Input {
    let n = size.of(400) as u32 & !1;
    let direction = |i: u32| DVec2::from_angle(std::f64::consts::TAU * f64::from(i) / f64::from(n));
    let rim = (0..n).map(|i| direction(i) * [1.0, 0.8][i as usize % 2]);
    let square = |low: f64, width: f64| {
        [(0., 0.), (1., 0.), (1., 1.), (0., 1.)].map(|(x, y)| low + width * DVec2::new(x, y))
    };
    let ring = |first: u32, n: u32| (0..n).map(move |k| [first + k, first + (k + 1) % n]);
    Input {
        points: rim
            .chain(square(-0.3, 0.2))
            .chain(square(0.1, 0.3))
            .collect(),
        segments: ring(0, n).chain(ring(n, 4)).chain(ring(n + 4, 4)).collect(),
        holes: vec![DVec2::splat(-0.2)],
        regions: vec![DVec2::splat(0.2), DVec2::new(0.0, 0.5)],
        angle: 25.0,
        area: 3.0 / size.of(1500) as f64,
        areas: vec![Some(1.0 / size.of(3000) as f64), None],
        sizes: None,
    }
}

/// Points in the unit square, and segments between them and around it.
fn within_square(mut points: Vec<DVec2>, count: usize) -> Input {
    let corners = [(0., 0.), (1., 0.), (1., 1.), (0., 1.)].map(DVec2::from);
    let n = points.len() as u32;
    let inner = segments(&points, &mut Random::new(3), count);
    points.extend(corners);
    let around = (0..4).map(|k| [n + k, n + (k + 1) % 4]);
    Input {
        segments: inner.into_iter().chain(around).collect(),
        points,
        holes: Vec::new(),
        regions: Vec::new(),
        angle: 20.0,
        area: 0.01,
        areas: Vec::new(),
        sizes: None,
    }
}

/// A result on the host.
#[derive(Debug, PartialEq)]
struct Found {
    points: Vec<DVec2>,
    triangles: Vec<[u32; 3]>,
    regions: Option<Vec<u32>>,
    pieces: Vec<[u32; 2]>,
    starts: Vec<u32>,
    not_reached: Vec<Missed>,
    firsts: Option<Vec<u32>>,
}

impl Input {
    fn run(&self, on: &Device) -> Result<Found, String> {
        let segments = on.upload(&self.segments)?;
        let limits = Limits {
            holes: &self.holes,
            regions: &self.regions,
            ..Limits::of(&segments)
        };
        let background = self.sizes.map(|sizes| {
            let (points, triangles) = (on.upload(&CROSS)?, on.upload(&AROUND)?);
            Background::new(on, points, triangles, on.upload(&sizes)?)
        });
        let background = background.transpose()?;
        let bounds = Refinement {
            sizes: background.as_ref(),
            smallest_angle: Some(self.angle),
            largest_area: Some(self.area),
            areas: &self.areas,
            most_vertices: Some(100_000),
            keep: Keep::None,
        };
        let points = on.upload(&self.points)?;
        let result = refine(on, &points, &limits, Duplicates::First, &bounds)?;
        let regions = result.mesh.regions().map(|regions| on.download(regions));
        let firsts = result.mesh.firsts().map(|firsts| on.download_rows(firsts));
        Ok(Found {
            points: on.download(&result.points)?,
            triangles: on.download_rows(result.mesh.triangles())?,
            regions: regions.transpose()?,
            pieces: on.download_rows(result.mesh.pieces())?,
            starts: on.download(result.mesh.starts())?,
            not_reached: result.not_reached,
            firsts: firsts.transpose()?,
        })
    }

    fn check(&self, on: &Device) -> Outcome {
        let found = self.run(on)?;
        // Rounds are defined by numbers alone, so another device does the same.
        let other = self.run(&Device::cpu(Some(1))?)?;
        equal("points of one thread", &found.points, &other.points)?;
        equal(
            "triangles of one thread",
            &found.triangles,
            &other.triangles,
        )?;
        equal("results of one thread", &[&found], &[&other])?;
        let n = self.points.len();
        equal("points of the input", &found.points[..n], &self.points)?;
        validate::constrained_delaunay(&found.points, &found.triangles, &found.pieces)?;
        self.check_pieces(&found)?;
        self.check_bounds(&found)?;
        self.check_shuffled(on, &found)
    }

    /// The pieces of each segment lead along it from one end to the other.
    fn check_pieces(&self, found: &Found) -> Outcome {
        for (segment, ends) in self.segments.iter().zip(found.starts.windows(2)) {
            let pieces = &found.pieces[ends[0] as usize..ends[1] as usize];
            let [from, to] = segment.map(|v| self.points[v as usize]);
            let mut v = segment[0];
            for &[a, b] in pieces {
                let q = found.points[b as usize];
                let aside = (to - from).perp_dot(q - from).abs() / from.distance(to);
                if a != v || aside > 1e-15 {
                    return Err(format!("pieces of segment {segment:?}: {pieces:?}"));
                }
                v = b;
            }
            equal("end of a segment", &[v], &[segment[1]])?;
        }
        Ok(())
    }

    /// Triangles miss the bounds only as often as the result reports.
    fn check_bounds(&self, found: &Found) -> Outcome {
        let (mut small, mut large, mut long) = (0, 0, 0);
        for (i, t) in found.triangles.iter().enumerate() {
            let [a, b, c] = t.map(|v| found.points[v as usize]);
            let angle = |[a, b, c]: [DVec2; 3]| (b - a).angle_to(c - a).to_degrees();
            let angles = [[a, b, c], [b, c, a], [c, a, b]].map(angle);
            small += u32::from(angles.iter().any(|&angle| angle < self.angle - ROUNDING));
            let region = found.regions.as_ref().map(|regions| regions[i] as usize);
            let of_region = region.and_then(|region| self.areas.get(region).copied().flatten());
            let most = of_region.unwrap_or(self.area);
            large += u32::from((b - a).perp_dot(c - a) / 2.0 > most * (1.0 + ROUNDING));
            if let Some(sizes) = &self.sizes {
                let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
                let size = size_at(sizes, (a + b + c) / 3.0);
                long += u32::from(longest > size * (1.0 + ROUNDING));
            }
        }
        let told = |is_of: fn(&Missed) -> Option<u32>| found.not_reached.iter().find_map(is_of);
        let of_angles = told(|missed| match missed {
            Missed::Angles { triangles, .. } => Some(*triangles),
            _ => None,
        });
        let of_areas = told(|missed| match missed {
            Missed::Areas { triangles, .. } => Some(*triangles),
            _ => None,
        });
        let of_sizes = told(|missed| match missed {
            Missed::Sizes { triangles, .. } => Some(*triangles),
            _ => None,
        });
        equal(
            "triangles of small angles",
            &[small],
            &[of_angles.unwrap_or(0)],
        )?;
        equal("large triangles", &[large], &[of_areas.unwrap_or(0)])?;
        equal("long triangles", &[long], &[of_sizes.unwrap_or(0)])
    }

    /// Where all points are there twice and segments end at either, the first ones make the mesh.
    fn check_repeated(&self, on: &Device) -> Outcome {
        let n = self.points.len() as u32;
        let either = |i: usize, [a, b]: [u32; 2]| match i % 3 {
            0 => [a, b + n],
            1 => [a + n, b],
            _ => [a + n, b + n],
        };
        let segments = self.segments.iter().enumerate();
        let twice = Self {
            points: [&self.points[..], &self.points].concat(),
            segments: segments.map(|(i, &ends)| either(i, ends)).collect(),
            holes: self.holes.clone(),
            regions: self.regions.clone(),
            areas: self.areas.clone(),
            ..*self
        };
        let (once, twice) = (self.run(on)?, twice.run(on)?);
        let name = |v: u32| if v < n { v } else { v + n };
        let points = [&self.points[..], &once.points].concat();
        equal("points", &twice.points, &points)?;
        let triangles: Vec<[u32; 3]> = once.triangles.iter().map(|t| t.map(name)).collect();
        equal("triangles", &twice.triangles, &triangles)?;
        let pieces: Vec<[u32; 2]> = once.pieces.iter().map(|t| t.map(name)).collect();
        equal("pieces of segments", &twice.pieces, &pieces)?;
        let firsts: Vec<u32> = (0..n).chain(0..n).collect();
        equal("first points", &twice.firsts.unwrap_or_default(), &firsts)
    }

    /// Other numbers of the points and the segments, and other directions, change nothing else.
    fn check_shuffled(&self, on: &Device, found: &Found) -> Outcome {
        let n = self.points.len() as u32;
        let name = |v: u32| if v < n { n - 1 - v } else { v };
        let reversed = Self {
            points: self.points.iter().rev().copied().collect(),
            segments: self
                .segments
                .iter()
                .rev()
                .map(|&[a, b]| [name(b), name(a)])
                .collect(),
            holes: self.holes.clone(),
            regions: self.regions.clone(),
            areas: self.areas.clone(),
            ..*self
        };
        let other = reversed.run(on)?;
        let added = |found: &Found| found.points[n as usize..].to_vec();
        equal(
            "added points of shuffled input",
            &added(&other),
            &added(found),
        )?;
        let triangles: Vec<[u32; 3]> = other.triangles.iter().map(|t| t.map(name)).collect();
        equal("triangles of shuffled input", &triangles, &found.triangles)
    }
}
