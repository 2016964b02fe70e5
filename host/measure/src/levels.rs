//! Times of nested levels of polygons and polyhedra.

use glam::DVec3;
use gpu::point::DoublePoint;
use serde_json::json;
use trioxide::Result;
use trioxide::device::Device;
use trioxide::half_edges::{AnyPoint, DeviceTriangulation};
use trioxide::levels::{
    DeviceNested, DevicePolygonMesh, DevicePolyhedralMesh, Goal, resident, resident_polyhedra,
};
use trioxide::mesh::{PolygonMesh, Triangulation};
use trioxide::polyhedra::{self, polyhedra};
use trioxide::polyhedra_mesh::PolyhedralMesh;
use trioxide::polylla::{Options, polylla};
use trioxide::refine_tets::DeviceTets;
use trioxide::volume::TetMesh;

use super::names::map;
use super::{Measured, Runs, rows};

/// Levels of polygons, as many as the goal of the family.
const OF_POLYGONS: usize = 6;
/// Levels of polyhedra.
const OF_POLYHEDRA: usize = 4;

/// Times the levels of the polygons of a mesh of the plane or of a surface.
pub fn of_polygons<P: AnyPoint<Double = P> + DoublePoint>(
    on: &Device,
    mesh: &Triangulation<P>,
    runs: Runs,
) -> Result<Measured> {
    let there = DeviceTriangulation::<P>::upload(on, mesh)?;
    let options = Options {
        strict: true,
        ..Options::default()
    };
    let polygons = polylla(on, &there, None, options)?.download_lists(on)?;
    drop(there);
    let corners = polygons.vertices.len();
    let polygons = PolygonMesh {
        points: mesh.points.clone(),
        polygons,
        regions: None,
        segments: Vec::new(),
    };
    let there = DevicePolygonMesh::upload(on, &polygons)?;
    drop(polygons);
    let sizes = [
        ("vertices", mesh.points.len()),
        ("triangles", mesh.triangles.len()),
        ("corners", corners),
    ];
    measure(on, OF_POLYGONS, sizes, runs, |goal| {
        resident(on, &there, goal)
    })
}

/// Times the levels of the polyhedra of a mesh of tetrahedra.
pub fn of_polyhedra(on: &Device, mesh: &TetMesh, runs: Runs) -> Result<Measured> {
    let (tets, faces) = DeviceTets::<DVec3>::upload_with_faces(on, mesh)?;
    let options = polyhedra::Options {
        strict: true,
        ..polyhedra::Options::default()
    };
    let lists = polyhedra(on, &tets, &faces, options)?.download(on, &faces)?;
    drop((tets, faces));
    let joined = PolyhedralMesh::new(mesh, &lists)?;
    drop(lists);
    let there = DevicePolyhedralMesh::upload(on, &joined)?;
    let sizes = [
        ("vertices", mesh.points.len()),
        ("cells", mesh.tetrahedra.len()),
        ("sides", joined.sides.len()),
    ];
    drop(joined);
    measure(on, OF_POLYHEDRA, sizes, runs, |goal| {
        resident_polyhedra(on, &there, goal)
    })
}

fn measure(
    on: &Device,
    levels: usize,
    sizes: [(&str, usize); 3],
    runs: Runs,
    work: impl Fn(Goal) -> Result<DeviceNested>,
) -> Result<Measured> {
    let goal = Goal {
        levels: Some(levels),
        until: None,
    };
    on.reset_peak();
    let mut nested = None;
    let stages = rows("levels", on, runs, || {
        nested = Some(work(goal)?);
        Ok(())
    })?;
    let peak_bytes = on.peak_bytes();
    let mut counts = map(sizes.map(|(name, size)| (name, json!(size))));
    if let Some(nested) = nested {
        for level in 0..=nested.levels() {
            let name = match level {
                0 => "polygons or polyhedra".to_owned(),
                _ => format!("pieces of level {level}"),
            };
            counts.insert(name, json!(nested.pieces(level)));
        }
    }
    Ok(Measured {
        counts,
        peak_bytes,
        stages,
    })
}
