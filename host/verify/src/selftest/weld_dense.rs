//! Welding clouds in which very many points coincide or lie within epsilon of each other, against the sequential
//! reference; with guards that keep some of them apart.

use glam::DVec3;

use super::weld::{equal_welds, scan};
use super::{Case, Outcome, Size};
use trioxide::device::Device;
use trioxide::mesh::VertexAttributes;
use trioxide::random::SplitMix64;
use trioxide::weld::{Carried, DeviceCarried, DeviceMesh, Guards, Options, weld};
use trioxide_reference as reference;

/// The cases of these clouds.
pub fn cases(size: Size) -> Vec<Case> {
    let case = |(name, make): DenseCloud| {
        Case::new(format!("weld {name}"), move |on| {
            let (points, epsilon) = make(size);
            dense(on, &points, epsilon)
        })
    };
    let of_colours = |(name, colours): Coloured| {
        Case::new(format!("weld equal points of {name} colours"), move |on| {
            let (points, colours) = colours(size);
            equal_points_of_colours(on, points, colours)
        })
    };
    let dense = dense_clouds().into_iter().map(case);
    dense.chain(numbers_of_colours().map(of_colours)).collect()
}

/// Clouds in which pairs of neighbours are far too many to be found: points and epsilon.
type DenseCloud = (&'static str, fn(Size) -> (Vec<DVec3>, f64));

fn dense_clouds() -> [DenseCloud; 5] {
    fn count(size: Size) -> u32 {
        match size {
            Size::Tiny => 2_000,
            Size::Small => 60_000,
            Size::Large => 1_000_000,
        }
    }
    fn cloud(size: Size) -> Vec<DVec3> {
        let mut random = SplitMix64::new(7);
        let mut next = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        (0..count(size))
            .map(|_| DVec3::new(next(), next(), next()))
            .collect()
    }
    [
        ("equal points alone", |size| {
            (vec![DVec3::new(0.1, -0.2, 0.3); count(size) as usize], 0.0)
        }),
        ("a cloud a tenth of which is at the origin", |size| {
            let mut points = cloud(size);
            points.iter_mut().step_by(10).for_each(|p| *p = DVec3::ZERO);
            (points, 1e-4)
        }),
        (
            "equal points beside points too close for any cell",
            |size| {
                // Neighbouring numbers: each is a point of its own.
                let bits = 0.1f64.to_bits();
                let near = |i: u32| f64::from_bits(bits + u64::from(i % 30));
                let point = |i: u32| match i % 2 {
                    0 => DVec3::ONE,
                    _ => DVec3::new(near(i / 2), near(i / 60), near(i / 1800)),
                };
                ((0..count(size)).map(point).collect(), 0.0)
            },
        ),
        ("a line by a thousandth of its points", |size| {
            let n = count(size);
            (
                (0..n).map(|i| DVec3::X * f64::from(i)).collect(),
                f64::from(n / 1000),
            )
        }),
        ("a scan by a tenth of its radius", |size| {
            (scan(2 * count(size) as usize, 5).0, 0.1)
        }),
    ]
}

/// A name; points that are equal, and their colours.
type Coloured = (&'static str, fn(Size) -> (u32, u32));

/// Of few colours, vertices are compared with representatives; of many, a GPU gives up and searches pairs.
fn numbers_of_colours() -> [Coloured; 2] {
    [
        ("few", |size| match size {
            Size::Tiny => (2_000, 3),
            Size::Small => (60_000, 20),
            Size::Large => (1_000_000, 100),
        }),
        ("many", |size| match size {
            Size::Tiny => (1_500, 1_000),
            Size::Small => (8_000, 7_000),
            Size::Large => (20_000, 18_000),
        }),
    ]
}

fn equal_points_of_colours(on: &Device, points: u32, colours: u32) -> Outcome {
    let colour = |i: u32| (i.wrapping_mul(0x9E37_79B1) % colours).to_le_bytes();
    let attributes = VertexAttributes {
        colors: Some((0..points).map(colour).collect()),
        ..VertexAttributes::default()
    };
    let carried = Carried {
        attributes: &attributes,
        ..Carried::NONE
    };
    let options = Options {
        guards: Guards {
            colors: Some(0),
            ..Guards::default()
        },
        ..Options::new(0.0)
    };
    let points = vec![DVec3::new(0.1, -0.2, 0.3); points as usize];
    let there = DeviceCarried::upload(on, &carried, points.len(), 0)?;
    let mesh = DeviceMesh::new(on.upload(&points)?, on.upload(&[])?, there)?;
    let ours = weld(on, &mesh, options)?.download(on)?;
    let expected = reference::weld_carrying(&points, &[], &carried, &options)?;
    equal_welds(&ours, &expected)
}

fn dense(on: &Device, points: &[DVec3], epsilon: f64) -> Outcome {
    let options = Options::new(epsilon);
    let mesh = DeviceMesh::upload_arrays(on, points, &[])?;
    let ours = weld(on, &mesh, options)?.download(on)?;
    equal_welds(&ours, &reference::weld(points, &[], &options)?)
}
