use std::fmt::Display;

use glam::DVec3;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;
use simple_delaunay_lib::delaunay_3d::delaunay_struct_3d::DelaunayStructure3D;
use simple_delaunay_lib::delaunay_3d::simplicial_struct_3d::Node;

use super::unit_interval;
use trioxide_mesh::volume::{MOST_TETRAHEDRA, TaggedTriangle, TetMesh, orientation};
use trioxide_mesh::{Error, Result, parallel, progress};

/// The Delaunay mesh of `n` points of the unit cube: a regular grid on its sides, and uniform random points inside, as
/// in the datasets of gpu-laplacian-smoothing-2019, section 4.1.
///
/// With k = cube root of `n` rounded down, the sides have k x k nodes, so that they are as dense as the inside. The
/// sides come first. No point inside is nearer to a side than half their spacing, which leaves fewer slivers there. The
/// triangles of the sides have the tags of [`tet_grid`](super::tet_grid).
///
/// Four nodes of a square on a side lie on a circle, and all nodes of a side on a plane. So that every sign in the
/// construction is decided by the points alone, it sees the sides curved outward by up to 10^-6, with a hundredth of
/// their curvature as random noise. Tetrahedra between nodes of one side, flat in truth, are left out.
///
/// # Errors
/// [`Error::Argument`] if `n` is under 8 or too large for 32-bit edge ids; or if a tetrahedron is so flat that the
/// curved sides mattered (never seen): another seed helps.
pub fn random_tets(n: usize, seed: u64) -> Result<TetMesh> {
    check_size(n, 8, n.saturating_mul(8))?;
    let side = whole_cube_root(n) as u32;
    let last = side - 1;
    let spacing = 1.0 / f64::from(last);
    let mut generator = Pcg64::seed_from_u64(seed);
    let mut points = Vec::with_capacity(n);
    let mut grid = Vec::new();
    for k in 0..side {
        for j in 0..side {
            for i in 0..side {
                let node = [i, j, k];
                if sides(node, last) != 0 {
                    points.push(DVec3::from(node.map(|i| f64::from(i) / f64::from(last))));
                    grid.push(node);
                }
            }
        }
    }
    let curved: Vec<DVec3> = points
        .iter()
        .zip(&grid)
        .map(|(&p, node)| {
            curve(p, sides(*node, last), spacing, || {
                unit_interval(&mut generator)
            })
        })
        .collect();
    // In a single cube, half the spacing would leave one point: the same for all.
    let margin = if last == 1 { 0.25 } else { spacing / 2.0 };
    while points.len() < n {
        let mut inside = || margin + unit_interval(&mut generator) * (1.0 - 2.0 * margin);
        points.push(DVec3::new(inside(), inside(), inside()));
    }

    let sides_of: Vec<u32> = grid.iter().map(|&node| sides(node, last)).collect();
    delaunay_in_cube(points, &curved, &sides_of).map_err(|error| flat(error, n, seed))
}

/// The error of a mesh of `n` points with a tetrahedron that is too flat.
fn flat(tetrahedron: Failure, n: usize, seed: u64) -> Error {
    match tetrahedron {
        Failure::Other(error) => error,
        Failure::Flat(t) => Error::Argument(format!(
            "tetrahedron {t} of {n} random points with seed {seed} is too flat: use another seed"
        )),
    }
}

/// Why points have no mesh.
pub(super) enum Failure {
    /// A tetrahedron is flat.
    Flat(usize),
    Other(Error),
}

/// The Delaunay mesh of `points` of the unit cube. The first lie on its sides, on those that `sides_of` has a bit for
/// each; `curved` are the places where the construction sees them. Triangles of the sides are tagged.
pub(super) fn delaunay_in_cube(
    points: Vec<DVec3>,
    curved: &[DVec3],
    sides_of: &[u32],
) -> std::result::Result<TetMesh, Failure> {
    let mut sites: Vec<[f64; 3]> = points.iter().map(DVec3::to_array).collect();
    for (site, curved) in sites.iter_mut().zip(curved) {
        *site = curved.to_array();
    }
    let of_node = |v: u32| sides_of.get(v as usize).copied().unwrap_or(0);
    let mut mesh = TetMesh {
        tetrahedra: delaunay(&sites)
            .map_err(Failure::Other)?
            .into_iter()
            .filter(|tetrahedron| tetrahedron.iter().fold(63, |all, &v| all & of_node(v)) == 0)
            .collect(),
        points,
        ..Default::default()
    };
    let points = &mesh.points;
    let is_flat = |tetrahedron: &[u32; 4]| orientation(points, tetrahedron) <= 0.0;
    if let Some(t) = parallel::position(&mesh.tetrahedra, is_flat) {
        return Err(Failure::Flat(t));
    }
    mesh.faces = tag_sides(&mesh.tetrahedra, of_node);
    Ok(mesh)
}

/// A point of the cube's sides moved outward: by the height of a paraboloid over each side that it lies on, and noise.
pub(super) fn curve(p: DVec3, sides: u32, spacing: f64, mut random: impl FnMut() -> f64) -> DVec3 {
    const HEIGHT: f64 = 1e-6;
    let mut curved = p;
    for axis in 0..3 {
        let outward = match sides >> (2 * axis) & 3 {
            0 => continue,
            1 => -1.0,
            _ => 1.0,
        };
        let arch = |x: f64| x * (1.0 - x);
        let (y, z) = (p[(axis + 1) % 3], p[(axis + 2) % 3]);
        let noise = 0.01 * spacing * spacing * random();
        curved[axis] += outward * HEIGHT * (arch(y) + arch(z) + noise);
    }
    curved
}

/// The Delaunay tetrahedra of points in general position, positively oriented.
fn delaunay(sites: &[[f64; 3]]) -> Result<Vec<[u32; 4]>> {
    let own = sites.to_vec();
    let structure = progress::leave_behind(move || {
        let mut structure = DelaunayStructure3D::new();
        let inserted = structure.insert_vertices(&own, true);
        inserted
            .map(|()| structure)
            .map_err(|error| error.to_string())
    })?;
    let structure = structure.map_err(|error| failed(sites, &error))?;
    let structure = structure.get_simplicial();
    let points: Vec<DVec3> = sites.iter().map(|&site| site.into()).collect();
    let mut tetrahedra = Vec::with_capacity(structure.get_nb_tetrahedra());
    for t in 0..structure.get_nb_tetrahedra() {
        let nodes = structure
            .get_tetrahedron(t)
            .map_err(|error| failed(sites, &error))?
            .nodes();
        let mut tetrahedron = [0; 4];
        let finite = tetrahedron.iter_mut().zip(nodes).all(|(v, node)| {
            if let Node::Value(site) = node {
                *v = site as u32;
            }
            matches!(node, Node::Value(_))
        });
        if finite {
            if orientation(&points, &tetrahedron) < 0.0 {
                tetrahedron.swap(2, 3);
            }
            tetrahedra.push(tetrahedron);
        }
    }
    Ok(tetrahedra)
}

fn failed(sites: &[[f64; 3]], reason: &dyn Display) -> Error {
    Error::Argument(format!(
        "the Delaunay mesh of {} points cannot be made: {reason}",
        sites.len()
    ))
}

/// The sides of the cube that a node of the grid lies on, a bit each: x = 0, x = 1 and so on; `last` is the largest
/// index.
pub(super) fn sides(node: [u32; 3], last: u32) -> u32 {
    (0..3).fold(0, |sides, axis| {
        let [low, high] = [0, last].map(|end| u32::from(node[axis] == end));
        sides | low << (2 * axis) | high << (2 * axis + 1)
    })
}

/// The triangles of the cube's sides with their tags, in the order of their tetrahedra, seen from outside
/// counter-clockwise.
///
/// A triangle whose three vertices lie on one side is a face of one tetrahedron: none lies flat on a side.
pub(super) fn tag_sides(
    tetrahedra: &[[u32; 4]],
    sides_of: impl Fn(u32) -> u32 + Sync,
) -> Vec<TaggedTriangle> {
    let parts = parallel::map_pieces(tetrahedra.len(), parallel::GRAIN, |range| {
        let mut part = Vec::new();
        for tetrahedron in &tetrahedra[range] {
            let sides = tetrahedron.map(&sides_of);
            for face in [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]] {
                let common = face.iter().fold(63, |all, &k| all & sides[k]);
                // Three nodes of one edge of the cube would be on two sides: no triangle.
                if common != 0 {
                    part.push(TaggedTriangle {
                        vertices: face.map(|k| tetrahedron[k]),
                        tag: 1 + common.trailing_zeros() as i32,
                    });
                }
            }
        }
        part
    });
    parallel::concat(parts)
}

fn whole_cube_root(n: usize) -> usize {
    let root = (n as f64).cbrt().round() as usize;
    if root.pow(3) > n { root - 1 } else { root }
}

pub(super) fn check_size(n: usize, least: usize, tetrahedra: usize) -> Result<()> {
    if n < least {
        return Err(Error::Argument(format!(
            "a mesh of {n} points cannot be made: ask for at least {least}"
        )));
    }
    if tetrahedra > MOST_TETRAHEDRA {
        return Err(Error::Argument(format!(
            "a mesh of {n} points has about {tetrahedra} tetrahedra, more than 32-bit edge ids can number: ask for fewer"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tet_grid;
    use trioxide_mesh::digest::digest;
    use trioxide_mesh::rules;

    fn volume(mesh: &TetMesh) -> f64 {
        let sixths = mesh.tetrahedra.iter().map(|t| orientation(&mesh.points, t));
        sixths.sum::<f64>() / 6.0
    }

    #[test]
    fn grids_fill_the_cube() {
        for n in [8, 27, 1000, 5000] {
            let mesh = tet_grid(n, 1).unwrap();
            let side = (n as f64).cbrt().round() as usize;
            assert_eq!(mesh.points.len(), side.pow(3));
            assert_eq!(mesh.tetrahedra.len(), 6 * (side - 1).pow(3));
            assert_eq!(mesh.faces.len(), 12 * (side - 1).pow(2));
            assert!((volume(&mesh) - 1.0).abs() < 1e-12);
            let found = rules::tets(&mesh).unwrap();
            assert_eq!(found.boundary_faces, mesh.faces.len());
        }
    }

    #[test]
    fn random_meshes_fill_the_cube() {
        for (n, seed) in [(8, 1), (100, 2), (3000, 3), (20_000, 4)] {
            let mesh = random_tets(n, seed).unwrap();
            assert_eq!(mesh.points.len(), n);
            assert!((volume(&mesh) - 1.0).abs() < 1e-12, "{n}");
            let found = rules::tets(&mesh).unwrap();
            assert_eq!(found.boundary_faces, mesh.faces.len(), "{n}");
            assert_eq!(mesh.faces.len(), 12 * (whole_cube_root(n) - 1).pow(2));
        }
    }

    #[test]
    fn the_same_bits_for_the_same_seed() {
        for make in [tet_grid, random_tets] {
            let [a, b, c] = [7, 7, 8].map(|seed| make(1000, seed).unwrap());
            assert_eq!(a, b);
            assert_ne!(digest(&a.points), digest(&c.points));
        }
    }

    #[test]
    fn too_small_or_too_large() {
        for make in [tet_grid, random_tets] {
            for n in [0, 7, usize::MAX >> 8] {
                assert!(matches!(make(n, 1), Err(Error::Argument(_))), "{n}");
            }
        }
    }
}
