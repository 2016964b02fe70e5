//! Meshes and clouds to weld, and the comparison with the sequential weld.

use proptest::prelude::*;
use trioxide::Device;
use trioxide::glam::{DVec2, DVec3};
use trioxide::mesh::{Segment, VertexAttributes};
use trioxide::weld::{Carried, Guards, Options, Position, Tuning, weld_segments};
use trioxide_ranks::block::{Blocks, Whole};
use trioxide_ranks::threads::run;
use trioxide_ranks::weld::{Plan, Rest, Rounds, Wanted, Welded, weld};
use trioxide_ranks::{Block, Ranks, Result};
use trioxide_reference as reference;

use super::{Choice, PAIRS};

/// A mesh, or a cloud without triangles, and the data that its vertices carry.
#[derive(Clone, Debug, Default)]
pub struct Input {
    pub points: Vec<DVec3>,
    pub faces: Vec<[u32; 3]>,
    pub attributes: VertexAttributes,
    pub locked: Vec<bool>,
    pub regions: Option<Vec<i32>>,
    pub segments: Vec<Segment>,
}

impl Input {
    pub fn new(points: Vec<DVec3>, faces: Vec<[u32; 3]>) -> Self {
        Self {
            points,
            faces,
            ..Self::default()
        }
    }

    pub fn whole(&self) -> Whole<'_, DVec3> {
        Whole {
            points: &self.points,
            corners: self.faces.as_flattened(),
            size: 3,
            regions: self.regions.as_deref(),
            segments: &self.segments,
        }
    }

    pub fn carried(&self) -> Carried<'_> {
        Carried {
            attributes: &self.attributes,
            locked: &self.locked,
            regions: self.regions.as_deref(),
        }
    }

    /// Calls `work` with a rank's block, and the data that its points carry.
    pub fn on_rank<R>(&self, ranks: &Ranks, work: impl FnOnce(Block<DVec3>, Carried) -> R) -> R {
        let range = Blocks::new(self.points.len() as u64, ranks.size()).range(ranks.rank());
        let range = range.start as usize..range.end as usize;
        let VertexAttributes {
            normals,
            colors,
            uvs,
        } = &self.attributes;
        let attributes = VertexAttributes {
            normals: normals.as_ref().map(|all| all[range.clone()].to_vec()),
            colors: colors.as_ref().map(|all| all[range.clone()].to_vec()),
            uvs: uvs.as_ref().map(|all| all[range.clone()].to_vec()),
        };
        let locked = match self.locked.is_empty() {
            true => &[],
            false => &self.locked[range],
        };
        let carried = Carried {
            attributes: &attributes,
            locked,
            regions: None,
        };
        work(Block::of(self.whole(), ranks.rank(), ranks.size()), carried)
    }

    pub fn weld(
        &self,
        size: usize,
        options: &Options,
        choice: Choice,
        rest: Rest,
    ) -> Vec<Result<Welded>> {
        self.weld_wanting(size, options, choice, rest, Wanted::default())
    }

    pub fn weld_wanting(
        &self,
        size: usize,
        options: &Options,
        choice: Choice,
        rest: Rest,
        wanted: Wanted,
    ) -> Vec<Result<Welded>> {
        run(size, |transport| {
            let ranks = Ranks::new(transport);
            let on = Device::cpu(Some(1)).unwrap();
            let plan = Plan {
                ownership: choice.of(size),
                rest,
                wanted,
            };
            self.on_rank(&ranks, |block, carried| {
                weld(&ranks, &on, &block, &carried, options, &plan)
            })
        })
    }

    /// On ranks, against the sequential weld.
    pub fn check(&self, size: usize, options: &Options, choice: Choice, rest: Rest) -> Rounds {
        let expected =
            reference::weld_carrying(&self.points, &self.faces, &self.carried(), options).unwrap();
        let slices: Vec<Welded> = (self.weld(size, options, choice, rest).into_iter())
            .map(Result::unwrap)
            .collect();
        let case = format!("{size} ranks, {choice:?}, {rest:?}, {options:?}");
        let narrow = |list: &[u64]| -> Vec<u32> { list.iter().map(|&v| v as u32).collect() };
        fn all<T>(slices: &[Welded], of: impl Fn(&Welded) -> Vec<T>) -> Vec<T> {
            slices.iter().flat_map(of).collect()
        }
        let map = all(&slices, |slice| narrow(&slice.map));
        assert_eq!(map, expected.map, "{case}");
        let representatives = all(&slices, |slice| narrow(&slice.representatives));
        assert_eq!(representatives, expected.representatives, "{case}");
        let bits = |points: &[DVec3]| -> Vec<[u64; 3]> {
            points
                .iter()
                .map(|p| p.to_array().map(f64::to_bits))
                .collect()
        };
        let points = all(&slices, |slice| bits(&slice.points));
        assert_eq!(points, bits(&expected.points), "{case}");
        let corners = all(&slices, |slice| narrow(&slice.corners));
        assert_eq!(corners, expected.faces.as_flattened(), "{case}");
        let regions = all(&slices, |slice| slice.regions.clone().unwrap_or_default());
        assert_eq!(regions, expected.regions.clone().unwrap_or_default());
        let normals = |of: &VertexAttributes| bits(of.normals.as_deref().unwrap_or_default());
        let flat = |of: &VertexAttributes| {
            let uvs = of.uvs.iter().flatten();
            let uvs = uvs.flat_map(|uv| uv.to_array()).map(f64::to_bits);
            let colors = of.colors.iter().flatten();
            let colors = colors.map(|&color| u32::from_le_bytes(color).into());
            (uvs.collect::<Vec<_>>(), colors.collect::<Vec<u64>>())
        };
        let (mut uvs, mut colors) = (Vec::new(), Vec::new());
        for slice in &slices {
            let (more_uvs, more_colors) = flat(&slice.attributes);
            uvs.extend(more_uvs);
            colors.extend(more_colors);
            let there = |a: &VertexAttributes| [a.normals.is_some(), a.uvs.is_some()];
            assert_eq!(there(&slice.attributes), there(&self.attributes));
            assert_eq!(slice.clusters, expected.points.len() as u64);
            assert_eq!(slice.faces, expected.faces.len() as u64);
            let map = |v: u32| expected.map.get(v as usize).copied();
            let (segments, _) =
                weld_segments(&self.segments, map, options.keep_degenerate).unwrap();
            assert_eq!(slice.segments, segments, "{case}");
        }
        let of_all = all(&slices, |slice| normals(&slice.attributes));
        assert_eq!(of_all, normals(&expected.attributes), "{case}");
        assert_eq!((uvs, colors), flat(&expected.attributes), "{case}");
        slices[0].rounds
    }

    /// On several numbers of ranks.
    pub fn check_all(&self, options: &Options) {
        for (size, choice) in PAIRS {
            self.check(size, options, choice, Rest::Gathered);
        }
        self.check(4, options, Choice::Curve, Rest::Exchanged);
        self.check(3, options, Choice::Last, Rest::Exchanged);
    }
}

pub fn strip(points: usize) -> Vec<[u32; 3]> {
    (0..points.saturating_sub(2) as u32)
        .map(|i| [i, i + 1, i + 2])
        .collect()
}

pub fn mixed(i: u64) -> u64 {
    let mixed = (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 31).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ mixed >> 29
}

pub fn scan(n: usize) -> Input {
    let mesh = trioxide::generate::scan(n, 1).unwrap();
    let trioxide::mesh::Faces::Triangles(faces) = mesh.faces else {
        panic!("triangles")
    };
    Input::new(mesh.points, faces)
}

/// The same mesh with its vertices in another order.
pub fn shuffled(input: &Input) -> Input {
    let mut order: Vec<u32> = (0..input.points.len() as u32).collect();
    order.sort_by_key(|&v| mixed(v.into()));
    let mut place = vec![0; order.len()];
    for (i, &v) in order.iter().enumerate() {
        place[v as usize] = i as u32;
    }
    Input::new(
        order.iter().map(|&v| input.points[v as usize]).collect(),
        (input.faces.iter())
            .map(|face| face.map(|v| place[v as usize]))
            .collect(),
    )
}

/// All attributes, a few locks, and regions.
pub fn carrying(mut input: Input) -> Input {
    let n = input.points.len() as u64;
    let unit = |i: u64, k: u64| (mixed(7 * i + k) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5;
    let normal = |i| DVec3::new(unit(i, 0), unit(i, 1), unit(i, 2));
    input.attributes = VertexAttributes {
        normals: Some((0..n).map(normal).collect()),
        colors: Some((0..n).map(|i| (mixed(i) as u32).to_le_bytes()).collect()),
        uvs: Some((0..n).map(|i| DVec2::new(unit(i, 3), unit(i, 4))).collect()),
    };
    input.locked = (0..n).map(|i| mixed(i).is_multiple_of(19)).collect();
    let faces = input.faces.len() as i32;
    input.regions = (faces > 0).then(|| (0..faces).map(|i| i % 5).collect());
    input
}

/// Clouds, about half on a small grid: equal points, distances of exactly epsilon; triangles of any vertices, some
/// twice.
pub fn inputs() -> impl Strategy<Value = Input> {
    let arbitrary = prop::collection::vec((0.0..1.0, 0.0..1.0, 0.0..0.2), 0..160);
    let on_grid = prop::collection::vec((0..8_u8, 0..6_u8, 0..2_u8), 0..160).prop_map(|points| {
        let points = points.into_iter();
        let point = |(x, y, z): (u8, u8, u8)| {
            let [x, y, z] = [x, y, z].map(f64::from);
            (x / 8.0, y / 8.0, z / 8.0)
        };
        points.map(point).collect::<Vec<(f64, f64, f64)>>()
    });
    let corner = || any::<prop::sample::Index>();
    let faces = prop::collection::vec((corner(), corner(), corner(), any::<bool>()), 0..80);
    let segments = prop::collection::vec((corner(), corner(), 0..2_i32), 0..6);
    let points = prop_oneof![arbitrary, on_grid];
    let input = (points, faces, segments).prop_map(|(points, faces, segments)| {
        let n = points.len();
        let mut input = Input::new(points.into_iter().map(DVec3::from).collect(), Vec::new());
        for (a, b, c, twice) in faces.into_iter().filter(|_| n > 0) {
            let [a, b, c] = [a, b, c].map(|corner| corner.index(n) as u32);
            input.faces.push([a, b, c]);
            if twice {
                input.faces.push([b, c, a]);
            }
        }
        let segment = |(a, b, marker): (prop::sample::Index, prop::sample::Index, i32)| Segment {
            ends: [a, b].map(|end| end.index(n) as u32),
            marker,
        };
        let segments = segments.into_iter().filter(|_| n > 0);
        input.segments = segments.map(segment).collect();
        input
    });
    (input, any::<bool>()).prop_map(|(input, carries)| match carries {
        true => carrying(input),
        false => input,
    })
}

pub fn options() -> impl Strategy<Value = Options> {
    let epsilon = prop::sample::select(vec![0.0, 0.05, 0.125, 0.25, 0.3, 2.0]);
    let guards = prop::option::weighted(0.3, (10.0..170.0, 0.1..1.0, 60..255_u8));
    let is_crowded = prop::bool::weighted(0.3);
    (epsilon, any::<bool>(), any::<bool>(), guards, is_crowded).prop_map(
        |(epsilon, is_first, keep_degenerate, guards, is_crowded)| {
            let mut options = Options {
                position: match is_first {
                    true => Position::First,
                    false => Position::Mean,
                },
                keep_degenerate,
                ..Options::new(epsilon)
            };
            if let Some((normals, uvs, colors)) = guards {
                options.guards = Guards {
                    normals: Some(normals),
                    uvs: Some(uvs),
                    colors: Some(colors),
                };
            }
            if is_crowded {
                options.tuning = crowded();
            }
            options
        },
    )
}

/// As if all cells were crowded.
pub fn crowded() -> Tuning {
    Tuning {
        most_in_bucket: 0,
        ..Tuning::default()
    }
}

pub fn rests() -> impl Strategy<Value = Rest> {
    prop_oneof![Just(Rest::Gathered), Just(Rest::Exchanged)]
}

/// A chain of lower neighbours whose ids run along it, and whose points two or more ranks own by turns.
pub fn chain(n: u32) -> Input {
    let points = (0..n).map(|i| DVec3::X * f64::from(i)).collect();
    Input::new(points, strip(n as usize))
}
