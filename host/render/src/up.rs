//! A guess of the axis that points up.

use std::path::Path;

use glam::DVec3;

use super::Up;
use super::camera::bounds;
use trioxide_mesh::mesh::{Faces, Mesh};
use trioxide_mesh::parallel;
use trioxide_mesh::polyhedra::PolyhedralMesh;
use trioxide_mesh::volume::VolumeMesh;

/// Fraction of a surface's extent along an axis that may belong to its base.
const SLAB: f64 = 0.03;
/// Smallest fraction of the bounding box's base that the base of a standing surface covers.
const LEAST_BASE: f64 = 0.15;

/// Guesses the axis that points up, for a mesh in space.
///
/// - A surface whose normals mostly point one way, as a terrain's do, has the axis of this direction.
/// - A surface on a flat base, as a scanned statue, has the axis normal to its base. The base is the part of the
///   surface that faces down within the lowest 3 % of the extent. It must cover 15 % of the bounding box's base, and
///   twice as much as along another axis.
/// - Points without faces whose extent along one axis is less than half of the others have this axis.
/// - All other meshes have z.
pub fn guess_up(mesh: &Mesh) -> Up {
    let axes = [Up::X, Up::Y, Up::Z];
    let found = match &mesh.faces {
        faces if faces.is_empty() => flattest(&mesh.points),
        Faces::Triangles(triangles) => of_surface(&mesh.points, triangles.len(), |i| &triangles[i]),
        Faces::Polygons(polygons) => of_surface(&mesh.points, polygons.len(), |i| polygons.get(i)),
    };
    found.map_or(Up::Z, |axis| axes[axis])
}

/// As [`guess_up`], for triangles.
pub(super) fn of_triangles(points: &[DVec3], triangles: &[[u32; 3]]) -> Up {
    let found = of_surface(points, triangles.len(), |i| &triangles[i]);
    found.map_or(Up::Z, |axis| [Up::X, Up::Y, Up::Z][axis])
}

/// As [`guess_up`], by the surface of a mesh of cells.
pub fn guess_up_volume(mesh: &VolumeMesh) -> Up {
    guess_up(&mesh.boundary())
}

/// As [`guess_up`], by the surface of a mesh of polyhedra.
pub fn guess_up_polyhedra(mesh: &PolyhedralMesh) -> Up {
    guess_up(&mesh.boundary())
}

/// The axis that points up by the format of a file: y for glTF.
pub fn up_of_format(path: &Path) -> Option<Up> {
    let extension = path.extension().unwrap_or_default();
    let mut names = ["gltf", "glb"].iter();
    let is_gltf = names.any(|name| extension.eq_ignore_ascii_case(name));
    is_gltf.then_some(Up::Y)
}

fn extent(bounds: [DVec3; 2]) -> DVec3 {
    bounds[1] - bounds[0]
}

fn join(a: [DVec3; 2], b: [DVec3; 2]) -> [DVec3; 2] {
    [a[0].min(b[0]), a[1].max(b[1])]
}

fn nothing() -> [DVec3; 2] {
    [DVec3::INFINITY, DVec3::NEG_INFINITY]
}

fn flattest(points: &[DVec3]) -> Option<usize> {
    let bounds = bounds(points.len(), &|i| points[i]);
    let sides = extent(bounds).to_array();
    let least = (0..3).min_by(|&a, &b| sides[a].total_cmp(&sides[b]))?;
    let next = (0..3).filter(|&k| k != least).map(|k| sides[k]);
    (sides[least] < 0.5 * next.fold(f64::INFINITY, f64::min)).then_some(least)
}

/// Faces that one task sums up.
const FACES: usize = 4096;

/// Sums over faces: their vector areas, the lengths of these, and for each axis the area of the base.
#[derive(Clone, Copy, Default)]
struct Sums {
    areas: DVec3,
    absolute: DVec3,
    base: DVec3,
}

fn of_surface<'a>(
    points: &[DVec3],
    count: usize,
    face: impl Fn(usize) -> &'a [u32] + Sync,
) -> Option<usize> {
    let corner = |v: &u32| points.get(*v as usize).copied().unwrap_or_default();
    let bounds = parallel::map_pieces(count, FACES, |faces| {
        let corners = faces.flat_map(&face).map(corner);
        corners.fold(nothing(), |bounds, p| join(bounds, [p, p]))
    });
    let bounds = bounds.into_iter().fold(nothing(), join);
    let sides = extent(bounds);
    if !sides.is_finite() || sides.min_element() <= 0.0 {
        return None;
    }
    let floor = bounds[0] + SLAB * sides;
    let of_face = |i: usize| {
        let face = face(i);
        let highest = face
            .iter()
            .map(corner)
            .fold(DVec3::NEG_INFINITY, DVec3::max);
        let from_first = |k: usize| corner(&face[k]) - corner(&face[0]);
        let cuts = 2..face.len();
        let area: DVec3 = cuts
            .map(|k| from_first(k - 1).cross(from_first(k)) / 2.0)
            .sum();
        let is_low = highest.cmple(floor);
        Sums {
            areas: area,
            absolute: area.abs(),
            base: DVec3::select(is_low, -area, DVec3::ZERO),
        }
    };
    let add = |a: Sums, b: Sums| Sums {
        areas: a.areas + b.areas,
        absolute: a.absolute + b.absolute,
        base: a.base + b.base,
    };
    // In blocks of one size, so the sums are the same for any number of threads.
    let blocks = parallel::map_pieces(count, FACES, |faces| {
        faces.map(of_face).fold(Sums::default(), add)
    });
    let sums = blocks.into_iter().fold(Sums::default(), add);
    decide(sums, sides)
}

fn decide(sums: Sums, sides: DVec3) -> Option<usize> {
    let [areas, absolute] = [sums.areas.abs(), sums.absolute].map(|v| v.to_array());
    let largest = (0..3).max_by(|&a, &b| areas[a].total_cmp(&areas[b]))?;
    if areas[largest] >= 0.95 * absolute[largest] && areas[largest] > 0.0 {
        return Some(largest);
    }
    let [x, y, z] = sides.to_array();
    let parts = (sums.base / DVec3::new(y * z, z * x, x * y)).to_array();
    let best = (0..3).max_by(|&a, &b| parts[a].total_cmp(&parts[b]))?;
    let others = (0..3).filter(|&k| k != best).map(|k| parts[k]);
    let next = others.fold(0.0, f64::max);
    (parts[best] >= LEAST_BASE && parts[best] >= 2.0 * next).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trioxide_mesh::mesh::Mesh;

    /// The mesh rotated from z up to `up`.
    fn turned(points: &[DVec3], up: Up) -> Vec<DVec3> {
        let turn = |p: &DVec3| match up {
            Up::X => DVec3::new(p.z, p.x, p.y),
            Up::Y => DVec3::new(p.y, p.z, p.x),
            Up::Z => *p,
        };
        points.iter().map(turn).collect()
    }

    fn check(mesh: &Mesh) {
        for up in [Up::X, Up::Y, Up::Z] {
            let mesh = Mesh {
                points: turned(&mesh.points, up),
                ..mesh.clone()
            };
            assert_eq!(guess_up(&mesh), up);
        }
    }

    #[test]
    fn a_terrain_looks_up() {
        let mut terrain: Mesh = trioxide::generate::grid(400).expect("a grid").into();
        for p in &mut terrain.points {
            p.z = (7.0 * p.x).sin() * (5.0 * p.y).cos();
        }
        check(&terrain);
    }

    #[test]
    fn a_cone_stands_on_its_base() {
        let n = 24;
        let mut points = vec![DVec3::ZERO, DVec3::Z * 3.0];
        points.extend((0..n).map(|i| {
            let (sin, cos) = (f64::from(i) / f64::from(n) * std::f64::consts::TAU).sin_cos();
            DVec3::new(cos, sin, 0.0)
        }));
        let rim = |i: u32| 2 + i % n;
        let sides = (0..n).flat_map(|i| [[1, rim(i), rim(i + 1)], [0, rim(i + 1), rim(i)]]);
        let cone = Mesh {
            points,
            faces: Faces::Triangles(sides.collect()),
            ..Mesh::default()
        };
        check(&cone);
        // It does not stand on its tip, which points down along y: the guess is z.
        let over: Vec<DVec3> = cone
            .points
            .iter()
            .map(|p| DVec3::new(p.x, -p.y, -p.z))
            .collect();
        let on_tip = Mesh {
            points: turned(&over, Up::Y),
            ..cone
        };
        assert_eq!(guess_up(&on_tip), Up::Z);
    }

    #[test]
    fn a_flat_cloud_lies() {
        let mut cloud = trioxide::generate::cloud(2000, 1).expect("a cloud");
        cloud.attributes.colors = None;
        // A small part of the landscape is as high as it is wide.
        cloud.points.iter_mut().for_each(|p| p.z *= 0.05);
        check(&cloud);
    }
}
