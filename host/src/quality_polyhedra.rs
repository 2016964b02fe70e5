//! Quality of polyhedra, measured in parallel on the host.

mod kernel;

use std::collections::BTreeMap;

use glam::DVec3;
use robust::{Coord3D, orient3d};

use crate::polyhedra_mesh::PolyhedralMesh;
use crate::quality::Distribution;
use trioxide_mesh::parallel;

/// Polyhedra that one task measures.
const BLOCK: usize = 1024;

/// Quality of a mesh of polyhedra.
#[derive(Clone, Debug, PartialEq)]
pub struct PolyhedraQuality {
    /// How many polyhedra have each number of faces.
    pub faces_per_polyhedron: BTreeMap<usize, usize>,
    /// Faces of one polyhedron.
    pub boundary_faces: usize,
    /// Faces with the same polyhedron on both sides.
    pub barrier_faces: usize,
    /// Polyhedra whose surface has an edge with more than two faces, or a vertex with more than one fan of faces.
    pub pinched: usize,
    /// Volume inside of the surface.
    pub volume: Distribution,
    /// Sum of all volumes.
    pub total_volume: f64,
    /// Area of the surface, by the volume.
    pub surface_to_volume: Distribution,
    /// Shortest edge by the largest distance of two vertices, in 0 ..= 1.
    pub shortest_edge_to_diameter: Distribution,
    /// Polyhedra whose vertices are all on the inner side of each face's planes (exact predicate; flat edges are
    /// allowed).
    pub convex: usize,
    /// Polyhedra with a point that sees the whole surface from inside: a ball around it of 10^-9 of the extent lies on
    /// the inner side of each face.
    pub star_shaped: usize,
}

/// Measures of one polyhedron.
struct Measures {
    faces: usize,
    is_pinched: bool,
    volume: f64,
    surface: f64,
    edge_to_diameter: f64,
    is_convex: bool,
    is_star_shaped: bool,
}

/// Measures polyhedra whose faces run counter-clockwise as seen from outside. Faces with more than three vertices count
/// as their fans of triangles from the first vertex.
pub fn quality(mesh: &PolyhedralMesh) -> PolyhedraQuality {
    let blocks = parallel::map_pieces(mesh.len(), BLOCK, |range| {
        range.map(|p| measure(mesh, p)).collect::<Vec<Measures>>()
    });
    let all = || blocks.iter().flatten();
    let mut faces_per_polyhedron = BTreeMap::new();
    for measures in all() {
        *faces_per_polyhedron.entry(measures.faces).or_default() += 1;
    }
    let neighbours = mesh.neighbours();
    let count = |is: &dyn Fn(&Measures) -> bool| all().filter(|measures| is(measures)).count();
    PolyhedraQuality {
        faces_per_polyhedron,
        boundary_faces: neighbours.iter().filter(|pair| pair[1] == u32::MAX).count(),
        barrier_faces: neighbours.iter().filter(|pair| pair[0] == pair[1]).count(),
        pinched: count(&|measures| measures.is_pinched),
        volume: distribution(all().map(|measures| measures.volume)),
        total_volume: all().map(|measures| measures.volume).sum(),
        surface_to_volume: distribution(all().map(|measures| measures.surface / measures.volume)),
        shortest_edge_to_diameter: distribution(all().map(|measures| measures.edge_to_diameter)),
        convex: count(&|measures| measures.is_convex),
        star_shaped: count(&|measures| measures.is_star_shaped),
    }
}

fn distribution(values: impl Iterator<Item = f64>) -> Distribution {
    let (mut min, mut max, mut sum, mut count) = (f64::INFINITY, f64::NEG_INFINITY, 0.0, 0.0);
    for value in values {
        min = value.min(min);
        max = value.max(max);
        sum += value;
        count += 1.0;
    }
    Distribution {
        min,
        mean: sum / count,
        max,
    }
}

/// The triangles of a polyhedron's surface: for its volume, and of these the ones that run as their face does, for its
/// planes. With the area of the surface.
fn triangles(mesh: &PolyhedralMesh, p: usize) -> (Vec<[u32; 3]>, Vec<[u32; 3]>, f64) {
    let (mut all, mut planes, mut area) = (Vec::new(), Vec::new(), 0.0);
    for &side in mesh.sides_of(p) {
        let face: Vec<u32> = mesh.vertices_of(side).collect();
        let fan = || face[1..].windows(2).map(|pair| [face[0], pair[0], pair[1]]);
        let normal = |triangle: [u32; 3]| {
            let [a, b, c] = triangle.map(|v| mesh.points[v as usize]);
            (b - a).cross(c - a)
        };
        // At a reflex corner a triangle of the fan turns the other way.
        let whole: DVec3 = fan().map(normal).sum();
        area += whole.length() / 2.0;
        all.extend(fan());
        planes.extend(fan().filter(|&triangle| normal(triangle).dot(whole) > 0.0));
    }
    (all, planes, area)
}

fn measure(mesh: &PolyhedralMesh, p: usize) -> Measures {
    let (triangles, planes, surface) = triangles(mesh, p);
    let point = |v: u32| mesh.points[v as usize];
    let mut vertices: Vec<u32> = triangles.iter().flatten().copied().collect();
    vertices.sort_unstable();
    vertices.dedup();
    let from = vertices.first().map_or(DVec3::ZERO, |&v| point(v));
    let mut volume = 0.0;
    for triangle in &triangles {
        let [a, b, c] = triangle.map(|v| point(v) - from);
        volume += a.cross(b).dot(c) / 6.0;
    }
    let mut shortest = f64::INFINITY;
    for &side in mesh.sides_of(p) {
        let face: Vec<u32> = mesh.vertices_of(side).collect();
        for i in 0..face.len() {
            let (a, b) = (point(face[i]), point(face[(i + 1) % face.len()]));
            shortest = shortest.min(a.distance_squared(b));
        }
    }
    let mut longest = 0.0f64;
    for (i, &a) in vertices.iter().enumerate() {
        for &b in &vertices[i + 1..] {
            longest = longest.max(point(a).distance_squared(point(b)));
        }
    }
    let is_pinched = is_pinched(mesh, p);
    Measures {
        faces: mesh.sides_of(p).len(),
        is_pinched,
        volume,
        surface,
        edge_to_diameter: (shortest / longest).sqrt(),
        is_convex: !is_pinched && is_convex(mesh, &planes, &vertices),
        is_star_shaped: kernel::is_star_shaped(&mesh.points, &planes, &vertices),
    }
}

fn is_convex(mesh: &PolyhedralMesh, triangles: &[[u32; 3]], vertices: &[u32]) -> bool {
    let coordinate = |v: u32| {
        let DVec3 { x, y, z } = mesh.points[v as usize];
        Coord3D { x, y, z }
    };
    triangles.iter().all(|triangle| {
        let [a, b, c] = triangle.map(coordinate);
        // Positive below a plane seen counter-clockwise: inside.
        vertices
            .iter()
            .all(|&v| orient3d(a, b, c, coordinate(v)) >= 0.0)
    })
}

/// Whether the surface of polyhedron `p` is no 2-manifold.
pub fn is_pinched(mesh: &PolyhedralMesh, p: usize) -> bool {
    // Directed edges, each with the end of the next one around the same start.
    let mut next: Vec<([u32; 2], u32)> = Vec::new();
    for &side in mesh.sides_of(p) {
        let face: Vec<u32> = mesh.vertices_of(side).collect();
        for i in 0..face.len() {
            let before = face[(i + face.len() - 1) % face.len()];
            next.push(([face[i], face[(i + 1) % face.len()]], before));
        }
    }
    next.sort_unstable();
    if next.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return true;
    }
    let behind = |edge: [u32; 2]| {
        let found = next.binary_search_by_key(&edge, |&(edge, _)| edge);
        found.ok().map(|i| [edge[0], next[i].1])
    };
    next.chunk_by(|a, b| a.0[0] == b.0[0]).any(|fan| {
        let first = fan[0].0;
        let mut edge = Some(first);
        for turned in 1..=fan.len() {
            edge = edge.and_then(behind);
            if edge == Some(first) {
                return turned < fan.len();
            }
        }
        // The surface is open, or turns without an end.
        true
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::generate;
    use crate::polyhedra::{Options, polyhedra};
    use crate::polyhedra_mesh::PolyhedraBuilder;
    use crate::refine_tets::DeviceTets;

    fn mesh(points: Vec<DVec3>, polyhedra: &[&[&[u32]]]) -> PolyhedralMesh {
        let mut builder = PolyhedraBuilder::default();
        for faces in polyhedra {
            let faces: Vec<Vec<u32>> = faces.iter().map(|face| face.to_vec()).collect();
            builder.push(&faces).unwrap();
        }
        PolyhedralMesh {
            points,
            ..builder.finish().expect("faces fit")
        }
    }

    fn cube_points() -> Vec<DVec3> {
        let point = |i: u32| DVec3::new((i & 1).into(), (i >> 1 & 1).into(), (i >> 2).into());
        (0..8).map(point).collect()
    }

    const CUBE: [&[u32]; 6] = [
        &[0, 2, 3, 1],
        &[4, 5, 7, 6],
        &[0, 1, 5, 4],
        &[2, 6, 7, 3],
        &[0, 4, 6, 2],
        &[1, 3, 7, 5],
    ];

    #[test]
    fn a_cube_is_convex() {
        let quality = quality(&mesh(cube_points(), &[&CUBE]));
        assert_eq!(quality.faces_per_polyhedron, BTreeMap::from([(6, 1)]));
        let is_near = |x: f64, expected: f64| (x - expected).abs() < 1e-14;
        assert!(is_near(quality.volume.min, 1.0) && is_near(quality.total_volume, 1.0));
        assert!(is_near(quality.surface_to_volume.max, 6.0));
        let expected = (1.0f64 / 3.0).sqrt();
        assert!(is_near(quality.shortest_edge_to_diameter.mean, expected));
        assert_eq!((quality.convex, quality.star_shaped), (1, 1));
        assert_eq!((quality.pinched, quality.boundary_faces), (0, 6));
    }

    /// A cube with a dent from above, and one with a dent from below too.
    #[test]
    fn a_dented_cube_is_not_convex() {
        let mut points = cube_points();
        points.push(DVec3::new(0.9, 0.5, 0.2));
        points.push(DVec3::new(0.1, 0.5, 0.8));
        let walls = || CUBE[2..].iter().copied();
        let above = [&[4, 5, 8][..], &[5, 7, 8], &[7, 6, 8], &[6, 4, 8]];
        let below = [&[0, 2, 9][..], &[2, 3, 9], &[3, 1, 9], &[1, 0, 9]];
        let once: Vec<&[u32]> = walls().chain(above).chain([CUBE[0]]).collect();
        let once = quality(&mesh(points.clone(), &[&once]));
        assert_eq!((once.convex, once.star_shaped, once.pinched), (0, 1, 0));
        // The inner sides of the dents' steep faces have no common point.
        let twice: Vec<&[u32]> = walls().chain(above).chain(below).collect();
        let twice = quality(&mesh(points, &[&twice]));
        assert_eq!((twice.convex, twice.star_shaped, twice.pinched), (0, 0, 0));
    }

    /// The search among directed edges agrees with the count of tops.
    #[test]
    fn pinched_polyhedra_are_those_with_a_double_top() {
        let tets = generate::random_tets(2000, 3).unwrap();
        let on = Device::cpu(Some(1)).unwrap();
        let (resident, faces) = DeviceTets::<DVec3>::upload_with_faces(&on, &tets).unwrap();
        let result = polyhedra(&on, &resident, &faces, Options::default()).unwrap();
        let lists = result.download(&on, &faces).unwrap();
        let mesh = PolyhedralMesh::new(&tets, &lists).unwrap();
        let measured = quality(&mesh);
        assert_eq!(Some(measured.pinched as u32), lists.counts.pinched);
        assert!(measured.pinched > 3);
        assert_eq!(
            measured.barrier_faces,
            lists.counts.barrier_faces_left as usize
        );
        assert!((measured.total_volume - 1.0).abs() < 1e-12, "{measured:?}");
        assert!(measured.convex > 0 && measured.convex <= measured.star_shaped);
        assert!(measured.star_shaped < mesh.len());
    }
}
