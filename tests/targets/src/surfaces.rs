//! Surfaces in space, made of triangulations of the plane: Polylla, with angles.

use std::collections::HashSet;

use gpu::point::MeshPoint;
use trioxide::glam::{DVec3, Vec3};
use trioxide::half_edges::{AnyPoint, DeviceTriangulation, rules};
use trioxide::mesh::{Faces, Mesh, Triangulation};
use trioxide::polylla::{self, Angles, Constraints, Options};
use trioxide_reference as reference;
use trioxide_verify::validate;

use crate::bytes::Choices;
use crate::results::same_verdict;
use crate::{cpu, results};

type Surface = Triangulation<DVec3>;

/// Polygons of the mesh at heights, or of a solid between two of its copies.
pub fn polylla(plane: &Triangulation, options: Options, choices: &mut Choices) {
    let height = 1.0
        + plane
            .points
            .iter()
            .fold(0.0, |most: f64, p| most.max(p.abs().max_element()));
    let mut mesh = lifted(plane, height, choices);
    if choices.below(2) == 1 {
        close(&mut mesh, height);
    }
    let mut angle = || (choices.below(2) == 1).then(|| f64::from(choices.byte()) * (180.0 / 255.0));
    let angles = Angles {
        feature: angle(),
        flatness: angle(),
    };
    match choices.below(3) {
        0 => polylla_in::<Vec3>(&mesh, options, angles, false),
        _ => polylla_in::<DVec3>(&mesh, options, angles, true),
    }
}

/// The mesh with heights of few values, so that lengths are equal.
fn lifted(plane: &Triangulation, height: f64, choices: &mut Choices) -> Surface {
    let steps = choices.below(4) as u8;
    let lift =
        |p: &trioxide::glam::DVec2| p.extend(height * f64::from(choices.byte() & steps) / 8.0);
    Triangulation {
        points: plane.points.iter().map(lift).collect(),
        triangles: plane.triangles.clone(),
        regions: plane.regions.clone(),
        segments: plane.segments.clone(),
    }
}

/// Adds a copy below, turned around, and walls between their borders.
fn close(mesh: &mut Surface, height: f64) {
    let n = mesh.points.len() as u32;
    // Ids that are out of range stay so.
    let below_of = |v: u32| v.saturating_add(n);
    let below: Vec<DVec3> = mesh.points.iter().map(|&p| p - DVec3::Z * height).collect();
    mesh.points.extend(below);
    let sides = |&[a, b, c]: &[u32; 3]| [[a, b], [b, c], [c, a]];
    let all: HashSet<[u32; 2]> = mesh.triangles.iter().flat_map(sides).collect();
    let mut more: Vec<[u32; 3]> = mesh
        .triangles
        .iter()
        .map(|&[a, b, c]| [a, c, b].map(below_of))
        .collect();
    for [a, b] in mesh.triangles.iter().flat_map(sides) {
        if !all.contains(&[b, a]) {
            more.extend([[b, a, below_of(a)], [b, below_of(a), below_of(b)]]);
        }
    }
    if let Some(regions) = &mut mesh.regions {
        regions.resize(mesh.triangles.len() + more.len(), 1);
    }
    mesh.triangles.extend(more);
}

fn polylla_in<P: AnyPoint + MeshPoint<Double = DVec3>>(
    mesh: &Surface,
    options: Options,
    angles: Angles,
    exact: bool,
) {
    let on = cpu();
    let run = || {
        let there = DeviceTriangulation::<P>::upload(on, mesh)?;
        let constraints = Constraints::of(on, &there, mesh)?;
        let constraints = Constraints::with_angles(on, &there, constraints, angles, options.ties)?;
        match polylla::polylla(on, &there, constraints.as_ref(), options) {
            // The sequential algorithm has no such rule.
            Err(polylla::Error::TiedRing) => Ok(None),
            result => Ok::<_, trioxide::Error>(Some(result?.download_mesh(on, &there)?)),
        }
    };
    let check = || {
        rules::surface(mesh)?;
        let half_edges = reference::half_edges(&mesh.triangles, mesh.points.len());
        let given = reference::constrained_edges(mesh, &half_edges)?;
        Ok::<_, trioxide::Error>((half_edges, given))
    };
    let (ours, checked) = (run(), check());
    if exact {
        same_verdict(&ours, &checked);
    }
    let (Ok(Some(ours)), Ok((half_edges, given))) = (ours, checked) else {
        return;
    };
    let points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
    let mut constrained = given.clone();
    reference::polylla::mark_angles(&points, &half_edges, &mut constrained, angles, options.ties);
    let is_constrained = |h: u32| constrained[h as usize];
    let (mut expected, _) = reference::polylla(&points, &half_edges, is_constrained, options.ties);
    if options.strict {
        reference::polylla::split_weakly_simple(&half_edges, &mut expected);
    }
    assert_eq!(ours, expected);
    results::surface(&Mesh {
        points: mesh.points.clone(),
        faces: Faces::Polygons(ours.polygons.clone()),
        ..Mesh::default()
    });
    if exact {
        let is_given = |h: u32| given[h as usize];
        validate::polygons::polylla_of_surface(&mesh.points, &half_edges, &ours, is_given, angles)
            .expect("valid polygons");
    }
}
