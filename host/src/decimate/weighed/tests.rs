//! Quadrics with numbers against their definition: a loop over triangles.

use glam::DVec3;
use trioxide_kernel::launch::Buffer;

use super::super::rounds;
use super::*;
use crate::decimate::{Options, Place, Surface, check};
use crate::generate;

const CHANNELS: [Channel; 2] = [
    Channel {
        weight: 0.25,
        range: [f64::NEG_INFINITY, f64::INFINITY],
    },
    Channel {
        weight: 0.1,
        range: [f64::NEG_INFINITY, f64::INFINITY],
    },
];

struct Mesh {
    points: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    values: Vec<[f64; 2]>,
}

/// A closed surface.
fn scan() -> Mesh {
    let mesh = generate::scan(300, 5).and_then(crate::mesh::Mesh::into_surface);
    let mesh = mesh.expect("a surface");
    let value = |p: &DVec3| [p.x * p.y + p.z, if p.z > 0.1 { 1.0 } else { -p.x }];
    Mesh {
        values: mesh.points.iter().map(value).collect(),
        points: mesh.points,
        triangles: mesh.triangles,
    }
}

impl Mesh {
    fn diagonal(&self) -> f64 {
        let zero = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let (low, high) = (self.points.iter()).fold(zero, |(a, b), p| (a.min(*p), b.max(*p)));
        (high - low).length()
    }

    /// The quadric of vertex `v` of the input at `x` with the values `s`: its triangles' distances from the plane and
    /// from their linear functions, squared, times area; and the area.
    fn quadric(&self, v: u32, x: DVec3, s: [f64; 2]) -> (f64, f64) {
        let (mut sum, mut areas) = (0.0, 0.0);
        for t in self.triangles.iter().filter(|t| t.contains(&v)) {
            let [a, b, c] = t.map(|v| self.points[v as usize]);
            let normal = (b - a).cross(c - a);
            let (area, up) = (0.5 * normal.length(), normal.normalize());
            let mut square = (x - a).dot(up) * (x - a).dot(up);
            for (k, channel) in CHANNELS.iter().enumerate() {
                let [p, q, r] = t.map(|v| self.values[v as usize][k]);
                // Coordinates of x in the plane by the two edges.
                let (e, f, d) = (b - a, c - a, x - a);
                let (ee, ef, ff) = (e.dot(e), e.dot(f), f.dot(f));
                let det = ee * ff - ef * ef;
                let i = (d.dot(e) * ff - d.dot(f) * ef) / det;
                let j = (d.dot(f) * ee - d.dot(e) * ef) / det;
                let away = p + i * (q - p) + j * (r - p) - s[k];
                let weight = channel.weight * self.diagonal();
                square += weight * weight * away * away;
            }
            sum += area * square;
            areas += area;
        }
        (sum, areas)
    }

    /// The state of rounds that end at `to` triangles.
    fn decimate(
        &self,
        to: usize,
        place: Place,
        mut each: impl FnMut(&Device, &super::super::State),
    ) {
        let on = Device::cpu(Some(2)).expect("a device");
        let points = on.upload(&self.points).expect("points");
        let triangles = on.upload(&self.triangles).expect("triangles").cast();
        let values: Buffer<f64> = on.upload(self.values.as_flattened()).expect("values");
        let surface = Surface {
            numbers: Some(Numbers {
                values: &values,
                channels: &CHANNELS,
            }),
            ..Surface::new(&points, &triangles)
        };
        let corners = on.duplicate(&triangles).expect("a copy").cast();
        let starts = check(&on, &points, &corners).expect("a mesh");
        let options = Options {
            place,
            ..Options::new(to)
        };
        let lengths = [1.0, self.diagonal()];
        let state = super::super::State::new(&on, &surface, corners, starts, &options, lengths);
        let mut is_reached = false;
        rounds::run(&on, state.expect("a state"), &[to], |state, _| {
            is_reached = true;
            each(&on, state);
            Ok(())
        })
        .expect("rounds");
        assert!(is_reached);
    }
}

/// The quadric of a vertex that others went into is the sum of theirs, in any frame.
#[test]
fn merged_quadrics_are_sums_of_those_of_the_input() {
    let mesh = scan();
    for place in [Place::Optimal, Place::Midpoint] {
        mesh.decimate(mesh.triangles.len() / 10, place, |on, state| {
            let sites = on.download(&state.sites).expect("sites");
            let parents = on.download(&state.parents).expect("parents");
            let trends = &state.weighed.as_ref().expect("numbers").trends;
            let trends = on.download(trends).expect("trends");
            let root = |mut v: usize| {
                while parents[v].is_some() {
                    v = parents[v].index() as usize;
                }
                v
            };
            let mut most = 0;
            for (v, site) in sites.iter().enumerate().filter(|(v, _)| root(*v) == *v) {
                let members = (0..sites.len()).filter(|&u| root(u) == v);
                let (x, s) = (site.at + DVec3::new(0.2, -0.1, 0.3), [0.7, -0.4]);
                let expected = members.clone().map(|u| mesh.quadric(u as u32, x, s));
                let expected = expected.fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
                let (quadric, d) = (site.quadric, x - site.at);
                let [xx, xy, xz, yy, yz, zz] = quadric.matrix;
                let times = DVec3::new(
                    xx * d.x + xy * d.y + xz * d.z,
                    xy * d.x + yy * d.y + yz * d.z,
                    xz * d.x + yz * d.y + zz * d.z,
                );
                let linear = DVec3::from_array(quadric.linear);
                let mut sum = times.dot(d) + 2.0 * linear.dot(d) + quadric.constant;
                for (k, channel) in CHANNELS.iter().enumerate() {
                    let trend = trends[2 * v + k];
                    let slope = DVec3::from_array(trend.slope);
                    let (step, weight) = (s[k] - trend.value, channel.weight * mesh.diagonal());
                    let of_value =
                        step * step * quadric.area - 2.0 * step * (trend.offset + slope.dot(d));
                    sum += weight * weight * of_value;
                }
                let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
                assert!(near(sum, expected.0), "{v}: {sum} {}", expected.0);
                assert!(near(quadric.area, expected.1));
                most = most.max(members.count());
            }
            assert!(most > 5, "{most}");
        });
    }
}

/// The cost of an edge at its middle has the values that fit best; at the best place it is not more.
#[test]
fn costs_have_the_best_values() {
    let mesh = scan();
    let costs = |place: Place| {
        let mut costs = Vec::new();
        // No round: costs alone.
        mesh.decimate(mesh.triangles.len(), place, |on, state| {
            let mut state = state.duplicate(on).expect("a copy");
            state.price(on).expect("prices");
            costs = on.download(&state.starts).expect("starts");
        });
        costs
    };
    let (middle, best) = (costs(Place::Midpoint), costs(Place::Optimal));
    let mut count = 0;
    for (h, (start, at_best)) in middle.iter().zip(&best).enumerate() {
        let corners = mesh.triangles[h / 3];
        let (low, high) = (corners[h % 3], corners[(h + 1) % 3]);
        if low > high {
            continue;
        }
        let ends = [low, high].map(|v| mesh.points[v as usize]);
        let x = (ends[0] + ends[1]) * 0.5;
        let both = |s: [f64; 2]| {
            let [a, b] = [low, high].map(|v| mesh.quadric(v, x, s).0);
            a + b
        };
        // Each value alone moves a parabola: its least is between equal values.
        let value = |k: usize| {
            let at = |s: f64| both(if k == 0 { [s, 0.0] } else { [0.0, s] });
            let [a, b, c] = [-1.0, 0.0, 1.0].map(at);
            0.5 * (a - c) / (a + c - 2.0 * b)
        };
        let expected = both([value(0), value(1)]);
        let share = (f64::from(start.cost) - expected) / expected;
        // The share for short edges is above zero.
        assert!(
            (-1e-5..1e-5).contains(&share),
            "{h}: {} {expected}",
            start.cost
        );
        assert!(at_best.cost <= start.cost * (1.0 + 1e-6), "{h}");
        count += 1;
    }
    assert_eq!(2 * count, middle.len());
}
