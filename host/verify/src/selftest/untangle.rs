//! Untangling and improving: the promises, and the bits of one thread of the CPU.

use std::sync::Arc;

use glam::{DVec3, Vec3};
use gpu::smooth::{Vector, shuffled};

use super::smooth::mixed_cells;
use super::{Case, Outcome, Size, equal};
use crate::validate::untangle::{untangled_surface, untangled_volume};
use trioxide::device::Device;
use trioxide::mesh::Mesh;
use trioxide::smooth::{
    self, BoundaryRule, DeviceMesh, Error, Goal, UntangleOptions, Untangling, untangle,
};
use trioxide::volume::VolumeMesh;
use trioxide::{Result, generate};

/// A mesh to untangle.
enum Tangled {
    Plane(Mesh),
    Volume(VolumeMesh),
}

pub fn cases(size: Size) -> Result<Vec<Case>> {
    let is_tiny = size == Size::Tiny;
    // 5 or 9 nodes a side: the tiny sizes of other families have one inner node.
    let mut grid: VolumeMesh = generate::tet_grid(if is_tiny { 125 } else { 729 }, 1)?.into();
    tangle(&mut grid.points, if is_tiny { 0.16 } else { 0.08 });
    let mut regions = grid.clone();
    regions.regions = Some(
        (0..grid.cells.len())
            .map(|c| (c % 97 / 90) as i32)
            .collect(),
    );
    let mut mixed = mixed_cells(if is_tiny { 3 } else { 6 });
    tangle(&mut mixed.points, if is_tiny { 0.2 } else { 0.1 });
    // 6 or 20 nodes a side.
    let mut plane = Mesh::from(generate::grid(if is_tiny { 36 } else { 400 })?);
    tangle(&mut plane.points, if is_tiny { 0.19 } else { 0.05 });
    let meshes = [
        ("grid of tetrahedra", Tangled::Volume(grid)),
        ("two regions", Tangled::Volume(regions)),
        ("mixed cells", Tangled::Volume(mixed)),
        ("triangles", Tangled::Plane(plane)),
    ];
    let mut cases = Vec::new();
    for (name, mesh) in meshes {
        let mesh = Arc::new(mesh);
        for (precision, check) in [
            ("f64", both::<DVec3> as fn(&Device, &Tangled) -> Outcome),
            ("f32", both::<Vec3>),
        ] {
            let mesh = mesh.clone();
            cases.push(Case::new(
                format!("untangle {name}, {precision}"),
                move |on| check(on, &mesh),
            ));
        }
    }
    cases.push(Case::new("untangle: meshes that are refused", refused));
    Ok(cases)
}

/// Moves inner points of the unit cube or square along each axis by up to `most`, by their ids.
fn tangle(points: &mut [DVec3], most: f64) {
    let is_flat = points.iter().all(|p| p.z == 0.0);
    for (v, p) in points.iter_mut().enumerate() {
        let is_inner = |x: f64| x > 0.0 && x < 1.0;
        let noise = |salt: u32| {
            let hash = shuffled(3 * v as u32 + salt) >> 8;
            most * (f64::from(hash) / f64::from(1 << 23) - 1.0)
        };
        if is_inner(p.x) && is_inner(p.y) && (is_flat || is_inner(p.z)) {
            let z = if is_flat { 0.0 } else { noise(2) };
            *p += DVec3::new(noise(0), noise(1), z);
        }
    }
}

/// Valid in the end, then better; and after one sweep, which does not suffice, in a boundary that slides.
fn both<P: Vector>(on: &Device, mesh: &Tangled) -> Outcome {
    let whole = UntangleOptions {
        goal: Goal::UntangledAndImproved,
        boundary: BoundaryRule::Fixed,
        max_sweeps: 15,
        keep_going: true,
    };
    let done = run::<P>(on, mesh, &whole)?;
    ensure(done.inverted_before > 0, "no cell is inverted before")?;
    // The nodes between regions stay where they were put.
    let has_regions = matches!(mesh, Tangled::Volume(mesh) if mesh.regions.is_some());
    if !has_regions {
        equal("inverted cells", &done.inverted, &[])?;
    }
    let short = UntangleOptions {
        goal: Goal::Untangled,
        boundary: BoundaryRule::Slide,
        max_sweeps: 1,
        keep_going: true,
    };
    run::<P>(on, mesh, &short)?;
    Ok(())
}

/// Untangles on the device and by one thread of the CPU: the results are equal and keep the promises.
fn run<P: Vector>(
    on: &Device,
    mesh: &Tangled,
    options: &UntangleOptions,
) -> Result<Untangling, String> {
    let rounded = |points: &[DVec3]| -> Vec<DVec3> {
        points.iter().map(|&p| P::from_f64(p).to_f64()).collect()
    };
    let upload = |on: &Device| match mesh {
        Tangled::Plane(mesh) => DeviceMesh::<P>::upload_surface(on, mesh),
        Tangled::Volume(mesh) => DeviceMesh::<P>::upload(on, mesh),
    };
    let untangled = |on: &Device| -> smooth::Result<(Vec<DVec3>, Untangling)> {
        let result = untangle(on, &upload(on)?, &[], options)?;
        let points = on.download(result.points())?;
        Ok((
            points.into_iter().map(P::to_f64).collect(),
            result.report().clone(),
        ))
    };
    let (points, report) = untangled(on)?;
    let (expected, same) = untangled(&Device::cpu(Some(1))?)?;
    ensure(
        report == same,
        "what was found and done differs from one thread's",
    )?;
    let bits = |points: &[DVec3]| -> Vec<[u64; 3]> {
        points
            .iter()
            .map(|p| p.to_array().map(f64::to_bits))
            .collect()
    };
    equal("points", &bits(&points), &bits(&expected))?;
    match mesh {
        Tangled::Plane(mesh) => {
            let before = Mesh {
                points: rounded(&mesh.points),
                ..mesh.clone()
            };
            let after = Mesh {
                points,
                ..mesh.clone()
            };
            untangled_surface(&before, &after, &[], options.boundary, &report)?;
        }
        Tangled::Volume(mesh) => {
            let before = VolumeMesh {
                points: rounded(&mesh.points),
                ..mesh.clone()
            };
            let after = VolumeMesh {
                points,
                ..mesh.clone()
            };
            untangled_volume(&before, &after, &[], options.boundary, &report)?;
        }
    }
    Ok(report)
}

fn ensure(holds: bool, fault: &str) -> Outcome {
    match holds {
        true => Ok(()),
        false => Err(fault.to_owned()),
    }
}

fn refused(on: &Device) -> Outcome {
    let options = UntangleOptions {
        goal: Goal::Improved,
        boundary: BoundaryRule::Fixed,
        max_sweeps: 1,
        keep_going: false,
    };
    let refusal = |mesh: &DeviceMesh<DVec3>, options: &UntangleOptions| match untangle(
        on,
        mesh,
        &[],
        options,
    ) {
        Ok(_) => Err("the mesh was taken".to_owned()),
        Err(error) => Ok(error),
    };
    let mut grid = Mesh::from(generate::grid(25)?);
    let mut turned = grid.clone();
    turned.points.iter_mut().for_each(|p| p.x = -p.x);
    let turned = DeviceMesh::upload_surface(on, &turned)?;
    let is_refused = matches!(refusal(&turned, &options)?, Error::AllInverted(32));
    ensure(is_refused, "inverted triangles alone are taken")?;
    // The middle goes beyond its neighbours.
    let middle = grid
        .points
        .iter()
        .position(|p| *p == DVec3::new(0.5, 0.5, 0.0));
    let middle = middle.ok_or("the grid has no middle")?;
    grid.points[middle] = DVec3::new(0.9, 0.6, 0.0);
    let tangled = DeviceMesh::upload_surface(on, &grid)?;
    let is_refused = matches!(refusal(&tangled, &options)?, Error::Inverted { .. });
    ensure(is_refused, "inverted triangles are improved")?;
    grid.points[middle].z = 0.5;
    let in_space = DeviceMesh::upload_surface(on, &grid)?;
    let is_refused = matches!(refusal(&in_space, &options)?, Error::UntangledFaces);
    ensure(is_refused, "a surface in space is taken")
}
