//! Decimation on a device against one thread of the CPU, bit for bit, and against its promises.

use glam::DVec3;

use super::{Case, Outcome, Size, equal};
use crate::validate;
use trioxide::bit_set::pack_list;
use trioxide::decimate::{
    Channel, Decimated, Error, Numbers, Options, Place, Result, Surface, decimate_to_each,
};
use trioxide::device::Device;
use trioxide::generate;

/// The cases of this family.
pub fn cases(size: Size) -> Vec<Case> {
    vec![
        Case::new("decimate a scan", move |on| {
            let input = scan(size.of(2000))?;
            let faces = input.triangles.len();
            let runs = [
                (2, Place::Optimal),
                (10, Place::Optimal),
                (3, Place::Midpoint),
                (4, Place::End),
            ];
            for &(divisor, place) in first(size, &runs) {
                let wanted = part_of(size, faces, divisor) + 1;
                let options = Options {
                    place,
                    ..Options::new(wanted)
                };
                let ours = compare(on, &input, &options)?;
                // A closed surface has an even number of triangles.
                equal("triangles", &[ours.triangles.len()], &[wanted / 2 * 2])?;
            }
            Ok(())
        }),
        Case::new("decimate to the last triangles", move |on| {
            let points = if size == Size::Tiny { 16 } else { 1000 };
            let ours = compare(on, &scan(points)?, &Options::new(0))?;
            match ours.triangles.len() {
                4..40 => Ok(()),
                n => Err(format!("{n} triangles are left")),
            }
        }),
        Case::new("decimate within an error", move |on| {
            let options = Options {
                error: Some(0.03),
                ..Options::new(0)
            };
            let input = scan(size.of(2000))?;
            let ours = compare(on, &input, &options)?;
            match ours.triangles.len() {
                n if n > 4 && n < input.triangles.len() => Ok(()),
                n => Err(format!("{n} triangles")),
            }
        }),
        Case::new("decimate within a boundary, regions and locks", move |on| {
            let mut input = terrain(size.of(2500))?;
            let options = Options::new(part_of(size, input.triangles.len(), 8));
            // An edge of the boundary removes one triangle.
            for &wanted in first(size, &[options.triangles - 1, options.triangles]) {
                let free = compare(on, &input, &Options::new(wanted))?;
                equal("triangles", &[free.triangles.len()], &[wanted])?;
            }
            let regions = (0..input.triangles.len()).map(|t| i32::from(t < 100));
            input.regions = Some(regions.collect());
            input.locked = (0..input.points.len()).map(|v| v % 40 == 7).collect();
            let options = Options {
                lock_boundary: true,
                ..options
            };
            let ours = compare(on, &input, &options)?;
            stay(&input, &ours)
        }),
        Case::new("decimate to several numbers at once", move |on| {
            // With a boundary the last triangle of a number is removed aside.
            let inputs = [terrain(size.of(1000))?, scan(size.of(1000))?];
            for input in first(size, &inputs) {
                let faces = input.triangles.len();
                let mut targets = vec![faces / 9, faces / 2, faces / 2 - 1, faces, faces / 3, 0];
                if size == Size::Tiny {
                    targets = vec![faces - 5, faces - 3];
                }
                let each = run_to_each(on, input, &Options::new(0), &targets).map_err(text)?;
                for (&wanted, ours) in targets.iter().zip(&each) {
                    let alone = run(on, input, &Options::new(wanted)).map_err(text)?;
                    if *ours != alone {
                        return Err(format!("another mesh for {wanted} of {faces} triangles"));
                    }
                }
            }
            Ok(())
        }),
        Case::new(
            "decimate pinched vertices and edges of three triangles",
            |on| {
                compare(on, &pinched(), &Options::new(0))?;
                // Two triangles back to back have one third corner.
                let mut pillow = scan(20)?;
                pillow.triangles = vec![[0, 1, 2], [0, 2, 1]];
                let ours = compare(on, &pillow, &Options::new(0))?;
                equal("triangles", &ours.triangles, &pillow.triangles)
            },
        ),
        Case::new("decimate with numbers of the vertices", move |on| {
            // Linear, with a step, and one that has no weight.
            let of_point = |p: DVec3| [p.x - p.z, f64::from(p.y > 0.4), 9.0 * p.y];
            let scan = weighed(scan(size.of(400))?, of_point);
            let wanted = part_of(size, scan.triangles.len(), 6);
            for &place in first(size, &[Place::Optimal, Place::Midpoint, Place::End]) {
                let options = Options {
                    place,
                    ..Options::new(wanted)
                };
                let ours = compare(on, &scan, &options)?;
                equal("triangles", &[ours.triangles.len()], &[wanted / 2 * 2])?;
                if !ours.values.chunks(3).all(|of| (0.0..=1.0).contains(&of[1])) {
                    return Err("a number out of its range".to_owned());
                }
            }
            let terrain = weighed(terrain(size.of(400))?, of_point);
            for input in first(size, &[terrain, scan]) {
                let faces = input.triangles.len();
                let mut targets = vec![faces / 9, faces / 2 - 1];
                if size == Size::Tiny {
                    targets = vec![faces - 5];
                }
                let each = run_to_each(on, input, &Options::new(0), &targets).map_err(text)?;
                for (&wanted, ours) in targets.iter().zip(&each) {
                    let alone = run(on, input, &Options::new(wanted)).map_err(text)?;
                    if *ours != alone {
                        return Err(format!("another mesh for {wanted} of {faces} triangles"));
                    }
                }
            }
            Ok(())
        }),
        Case::new("decimate refuses bad meshes", refusals),
    ]
}

/// The triangles divided by a number. In the tiny size a few rounds are enough: they launch every kernel.
pub(super) fn part_of(size: Size, triangles: usize, divisor: usize) -> usize {
    match size {
        Size::Tiny => triangles - triangles / 20,
        Size::Small | Size::Large => triangles / divisor,
    }
}

/// The runs of a case, or in the tiny size the first one.
fn first<T>(size: Size, runs: &[T]) -> &[T] {
    match size {
        Size::Tiny => &runs[..1],
        Size::Small | Size::Large => runs,
    }
}

/// A surface with regions and locks.
#[derive(Default)]
pub(super) struct Input {
    pub points: Vec<DVec3>,
    pub triangles: Vec<[u32; 3]>,
    pub regions: Option<Vec<i32>>,
    pub locked: Vec<bool>,
    /// Three of each vertex, or none.
    pub numbers: Vec<f64>,
}

const CHANNELS: [Channel; 3] = [
    Channel {
        weight: 0.02,
        range: [f64::NEG_INFINITY, f64::INFINITY],
    },
    Channel {
        weight: 0.1,
        range: [0.0, 1.0],
    },
    Channel {
        weight: 0.0,
        range: [-1.0, 20.0],
    },
];

/// With numbers of each vertex.
pub(super) fn weighed(input: Input, of_point: impl Fn(DVec3) -> [f64; 3]) -> Input {
    Input {
        numbers: input.points.iter().flat_map(|&p| of_point(p)).collect(),
        ..input
    }
}

fn scan(n: usize) -> trioxide::Result<Input> {
    let mesh = generate::scan(n, 3)?.into_surface()?;
    Ok(Input {
        points: mesh.points,
        triangles: mesh.triangles,
        ..Input::default()
    })
}

pub(super) fn terrain(n: usize) -> trioxide::Result<Input> {
    let mesh = generate::grid(n)?;
    let height = |x: f64, y: f64| x * x * y - y * y * (1.0 - x);
    let points = mesh.points.iter().map(|p| p.extend(height(p.x, p.y)));
    Ok(Input {
        points: points.collect(),
        triangles: mesh.triangles,
        ..Input::default()
    })
}

/// Two strips of a plane that share a vertex, and a third sheet at one of the edges.
fn pinched() -> Input {
    let points = (0..12).map(|i| DVec3::new((i % 4).into(), (i / 4).into(), 0.0));
    let mut points: Vec<DVec3> = points.collect();
    points.push(DVec3::new(0.5, 0.5, 1.0));
    Input {
        points,
        triangles: vec![
            [0, 1, 5],
            [0, 5, 4],
            [5, 6, 10],
            [5, 10, 9],
            [6, 7, 11],
            [6, 11, 10],
            [5, 0, 12],
        ],
        ..Input::default()
    }
}

fn text(error: Error) -> String {
    error.to_string()
}

fn run(on: &Device, input: &Input, options: &Options) -> Result<Decimated> {
    Ok(run_to_each(on, input, options, &[options.triangles])?.remove(0))
}

fn run_to_each(
    on: &Device,
    input: &Input,
    options: &Options,
    targets: &[usize],
) -> Result<Vec<Decimated>> {
    let points = on.upload(&input.points)?;
    let triangles = on.upload(&input.triangles)?.cast();
    let numbers = on.upload(&input.numbers)?;
    let regions = (input.regions.as_ref())
        .map(|regions| on.upload(regions))
        .transpose()?;
    let locked = (!input.locked.is_empty()).then(|| on.upload(&pack_list(&input.locked)));
    let locked = locked.transpose()?.map(trioxide::Buffer::cast);
    let surface = Surface {
        regions: regions.as_ref(),
        locked: locked.as_ref(),
        numbers: (!input.numbers.is_empty()).then_some(Numbers {
            values: &numbers,
            channels: &CHANNELS,
        }),
        ..Surface::new(&points, &triangles)
    };
    let each = decimate_to_each(on, &surface, options, targets)?;
    each.iter().map(|done| done.download(on)).collect()
}

pub(super) fn compare(
    on: &Device,
    input: &Input,
    options: &Options,
) -> std::result::Result<Decimated, String> {
    let ours = run(on, input, options).map_err(text)?;
    let one = Device::cpu(Some(1))?;
    let expected = run(&one, input, options).map_err(text)?;
    equal("map", &ours.map, &expected.map)?;
    equal("triangles", &ours.triangles, &expected.triangles)?;
    equal("points", &ours.points, &expected.points)?;
    if ours != expected {
        return Err("other survivors, triangles or rounds".to_owned());
    }
    validate::decimated(input.points.len(), &input.triangles, &ours)?;
    Ok(ours)
}

/// Checks that locked vertices, those of the boundary and those between regions stay.
fn stay(input: &Input, ours: &Decimated) -> Outcome {
    let regions = input.regions.as_ref().expect("regions");
    let mut of_vertex = vec![None; input.points.len()];
    let mut stays = input.locked.clone();
    for (corners, region) in input.triangles.iter().zip(regions) {
        for &v in corners {
            let known = *of_vertex[v as usize].get_or_insert(region);
            stays[v as usize] |= known != region;
        }
    }
    let on_edge = |x: f64| x == 0.0 || x == 1.0;
    for (v, p) in input.points.iter().enumerate() {
        let is_locked = stays[v] || on_edge(p.x) || on_edge(p.y);
        if is_locked && ours.points[ours.map[v] as usize] != *p {
            return Err(format!("vertex {v} moved"));
        }
    }
    Ok(())
}

fn refusals(on: &Device) -> Outcome {
    let good = || Input {
        points: vec![DVec3::ZERO, DVec3::X, DVec3::Y],
        triangles: vec![[0, 1, 2]],
        ..Input::default()
    };
    let expect = |change: &dyn Fn(&mut Input), text: &str| {
        let mut input = good();
        change(&mut input);
        match run(on, &input, &Options::new(0)) {
            Err(error) if error.to_string().contains(text) => Ok(()),
            other => Err(format!("{text}: {other:?}")),
        }
    };
    expect(&|input| input.points[1].y = f64::NAN, "vertex 1")?;
    expect(&|input| input.triangles[0][2] = 3, "out of range")?;
    expect(&|input| input.triangles[0][2] = 0, "twice")?;
    expect(&|input| input.regions = Some(vec![1, 2]), "2 regions for 1")?;
    expect(
        &|input| input.numbers = vec![0.0; 8],
        "8 numbers of vertices for 9",
    )?;
    expect(
        &|input| {
            input.numbers = vec![0.0; 9];
            input.numbers[5] = f64::INFINITY;
        },
        "vertex 1 has a weighed number",
    )?;
    let nothing = Input::default();
    let empty = run(on, &nothing, &Options::new(0)).map_err(|error| error.to_string())?;
    equal("triangles of nothing", &empty.triangles, &[])?;
    let lone = run(on, &good(), &Options::new(0)).map_err(|error| error.to_string())?;
    equal("a lone triangle", &lone.triangles, &[[0, 1, 2]])
}
