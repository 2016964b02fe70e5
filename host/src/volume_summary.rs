//! Contents of a volume mesh, and the rules that it breaks: every broken rule is counted, none is an error.
//!
//! Sums go over fixed blocks of cells and then over the blocks in order, so that the result is the same for any number
//! of threads.

use std::collections::BTreeMap;

use glam::DVec3;
use rayon::slice::ParallelSliceMut;

use crate::mesh::NONE;
use crate::volume::{CellKind, VolumeMesh, faces, key, orientation};
use trioxide_mesh::parallel;

/// Cells whose measures one thread sums up.
const BLOCK: usize = 4096;

/// Elements that break a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Broken {
    /// How many.
    pub count: usize,
    /// The smallest of them.
    pub first: usize,
}

impl Broken {
    fn of(mut broken: impl Iterator<Item = usize>) -> Broken {
        match broken.next() {
            None => Broken::default(),
            Some(first) => Broken {
                count: 1 + broken.count(),
                first,
            },
        }
    }

    fn add(&mut self, other: Broken) {
        if self.count == 0 {
            self.first = other.first;
        }
        self.count += other.count;
    }
}

/// Counts and measures of a volume mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VolumeSummary {
    /// Number of cells of each kind.
    pub kinds: BTreeMap<CellKind, usize>,
    /// Number of cells of each region, if there are regions.
    pub regions: Option<BTreeMap<i32, usize>>,
    /// Number of tagged faces of each tag.
    pub tags: BTreeMap<i32, usize>,
    /// Vertices that no cell uses.
    pub unused_vertices: usize,
    /// Faces of two cells.
    pub interior_faces: usize,
    /// Faces of one cell.
    pub boundary_faces: usize,
    /// Vertices of boundary faces.
    pub boundary_vertices: usize,
    /// Faces of two cells of different regions.
    pub interface_faces: usize,
    /// Sum of the cells' volumes; inverted cells have a negative one.
    pub volume: f64,
    /// Smallest angle between two faces at an edge of a cell, in degrees.
    pub smallest_dihedral: Option<f64>,
    /// Largest one.
    pub largest_dihedral: Option<f64>,
    /// Cells with a negative orientation (exact sign), of the cell or at one of its corners.
    pub inverted: Broken,
    /// Other cells with an orientation of 0 at a corner (exact sign).
    pub flat: Broken,
    /// Cells with a vertex twice.
    pub repeated: Broken,
    /// Vertices with a coordinate that is no finite number.
    pub non_finite: Broken,
    /// Faces of more than two cells; the first one's cell.
    pub crowded: Broken,
    /// Cells that lie on the same side of a common face as an earlier cell, and so overlap it, where neither of the two
    /// is inverted or flat.
    pub overlapping: Broken,
    /// Tagged faces that are no face of a cell.
    pub loose_tags: Broken,
}

impl VolumeSummary {
    /// A line for each rule that the mesh breaks.
    pub fn problems(&self) -> Vec<String> {
        let cells = ["cell", "cells"];
        let rules = [
            (
                self.non_finite,
                ["vertex", "vertices"],
                "without a finite position",
                "`repair --finite`",
            ),
            (self.repeated, cells, "with a vertex twice", ""),
            (
                self.inverted,
                cells,
                "inverted",
                "`repair --orient`, or `smooth --untangle`",
            ),
            (self.flat, cells, "flat at a corner", "`smooth --untangle`"),
            (
                self.crowded,
                cells,
                "with a face of more than two cells",
                "`repair --folded`",
            ),
            (
                self.overlapping,
                cells,
                "on the same side of a face as another",
                "`repair --folded`",
            ),
            (
                self.loose_tags,
                ["tagged face", "tagged faces"],
                "of no cell",
                "",
            ),
        ];
        let broken = rules.iter().filter(|(broken, ..)| broken.count > 0);
        broken
            .map(|(broken, [one, many], rule, remedy)| {
                let what = if broken.count == 1 { one } else { many };
                let problem = format!(
                    "{} {what} {rule}: first {one} {}",
                    broken.count, broken.first
                );
                match *remedy {
                    "" => problem,
                    _ => format!("{problem} ({remedy})"),
                }
            })
            .collect()
    }
}

/// Corners of a kind with three edges, by places: the corner and its neighbours, so that their orientation is positive.
/// For a tetrahedron three corners are enough for each edge to start at one.
fn corners(kind: CellKind) -> &'static [[usize; 4]] {
    match kind {
        CellKind::Tetrahedron => &[[0, 1, 2, 3], [1, 2, 0, 3], [2, 0, 1, 3]],
        CellKind::Pyramid => &[[0, 1, 3, 4], [1, 2, 0, 4], [2, 3, 1, 4], [3, 0, 2, 4]],
        CellKind::Wedge => &[
            [0, 1, 2, 3],
            [1, 2, 0, 4],
            [2, 0, 1, 5],
            [3, 5, 4, 0],
            [4, 3, 5, 1],
            [5, 4, 3, 2],
        ],
        CellKind::Hexahedron => &[
            [0, 1, 3, 4],
            [1, 2, 0, 5],
            [2, 3, 1, 6],
            [3, 0, 2, 7],
            [4, 7, 5, 0],
            [5, 4, 6, 1],
            [6, 5, 7, 2],
            [7, 6, 4, 3],
        ],
    }
}

/// Measures of cells.
#[derive(Clone, Copy)]
struct Measures {
    volume: f64,
    /// Largest and smallest cosine of a dihedral angle.
    cosines: [f64; 2],
    inverted: Broken,
    flat: Broken,
}

impl Measures {
    const NONE: Measures = Measures {
        volume: 0.0,
        cosines: [f64::NEG_INFINITY, f64::INFINITY],
        inverted: Broken { count: 0, first: 0 },
        flat: Broken { count: 0, first: 0 },
    };

    fn add(&mut self, other: Measures) {
        self.volume += other.volume;
        self.cosines[0] = self.cosines[0].max(other.cosines[0]);
        self.cosines[1] = self.cosines[1].min(other.cosines[1]);
        self.inverted.add(other.inverted);
        self.flat.add(other.flat);
    }

    fn of(mesh: &VolumeMesh, i: usize) -> Measures {
        let cell = mesh.cells.get(i);
        let Some(kind) = CellKind::of(cell.len()) else {
            return Measures::NONE;
        };
        let point = |place: usize| mesh.points[cell[place] as usize];
        let mut cosines = Measures::NONE.cosines;
        let mut sign = f64::INFINITY;
        for (k, corner) in corners(kind).iter().enumerate() {
            // All corners of a tetrahedron have the same.
            if k == 0 || kind != CellKind::Tetrahedron {
                sign = sign.min(orientation(&mesh.points, &corner.map(|place| cell[place])));
            }
            let edge = |k: usize| point(corner[k]) - point(corner[0]);
            let edges = [edge(1), edge(2), edge(3)];
            for k in 0..3 {
                // Normals of the faces on both sides of the edge, turned the same way.
                let normal = |side: usize| edges[k].cross(edges[side % 3]);
                let (m, n) = (normal(k + 1), normal(k + 2));
                let cosine = m.dot(n) / (m.length_squared() * n.length_squared()).sqrt();
                if cosine.is_finite() {
                    cosines = [cosines[0].max(cosine), cosines[1].min(cosine)];
                }
            }
        }
        let one = Broken { count: 1, first: i };
        let none = Broken::default();
        Measures {
            volume: volume(kind, point),
            cosines,
            inverted: if sign < 0.0 { one } else { none },
            flat: if sign == 0.0 { one } else { none },
        }
    }
}

/// Volume of a cell; a quadrilateral is the bilinear patch of its corners.
fn volume(kind: CellKind, point: impl Fn(usize) -> DVec3) -> f64 {
    let base = point(0);
    let six = |a: usize, b: usize, c: usize| {
        (point(a) - base).dot((point(b) - base).cross(point(c) - base))
    };
    let faces = faces(kind).iter().map(|&face| match *face {
        [a, b, c] => six(a, b, c),
        // The patch halves the space between the two ways to split it.
        [a, b, c, d] => 0.5 * (six(a, b, c) + six(a, c, d) + six(b, c, d) + six(b, d, a)),
        _ => 0.0,
    });
    faces.sum::<f64>() / 6.0
}

/// Counts and measures `mesh`, whose vertex indices are in range.
pub fn volume_summary(mesh: &VolumeMesh) -> VolumeSummary {
    let (points, count) = (&mesh.points, mesh.cells.len());
    let mut summary = VolumeSummary::default();

    let blocks = parallel::map_pieces(count, BLOCK, |range| {
        let mut sum = Measures::NONE;
        for i in range {
            sum.add(Measures::of(mesh, i));
        }
        sum
    });
    let mut all = Measures::NONE;
    blocks.into_iter().for_each(|block| all.add(block));
    // `libm` has the same bits everywhere.
    let degrees = |cosine: f64| {
        let angle = libm::acos(cosine.clamp(-1.0, 1.0)).to_degrees();
        cosine.is_finite().then_some(angle)
    };
    summary.volume = all.volume;
    summary.smallest_dihedral = degrees(all.cosines[0]);
    summary.largest_dihedral = degrees(all.cosines[1]);
    summary.inverted = all.inverted;
    summary.flat = all.flat;

    let mut is_used = vec![false; points.len()];
    for cell in mesh.cells.iter() {
        cell.iter().for_each(|&v| is_used[v as usize] = true);
        if let Some(kind) = CellKind::of(cell.len()) {
            *summary.kinds.entry(kind).or_default() += 1;
        }
    }
    summary.unused_vertices = is_used.iter().filter(|used| !**used).count();
    let count_tags = |tags: &[i32]| {
        let mut counts = BTreeMap::new();
        tags.iter()
            .for_each(|tag| *counts.entry(*tag).or_default() += 1);
        counts
    };
    summary.regions = mesh.regions.as_deref().map(count_tags);
    summary.tags = count_tags(&mesh.face_tags);
    summary.non_finite = Broken::of((0..points.len()).filter(|&v| !points[v].is_finite()));
    summary.repeated = Broken::of((0..count).filter(|&i| {
        let cell = mesh.cells.get(i);
        let earlier = |k: usize| cell[..k].contains(&cell[k]);
        (1..cell.len()).any(earlier)
    }));
    count_faces(mesh, &mut summary);
    summary
}

/// Which of the two ways around it the vertices of a face go, seen from its lowest vertex.
fn turns(face: impl Iterator<Item = u32>) -> bool {
    let mut around = [NONE; 4];
    let mut size = 0;
    for v in face.take(4) {
        around[size] = v;
        size += 1;
    }
    let lowest = (0..size).min_by_key(|&k| around[k]).unwrap_or(0);
    around[(lowest + 1) % size] < around[(lowest + size - 1) % size]
}

/// The vertices of a face as one number, in their order.
fn pack(face: [u32; 4]) -> u128 {
    face.iter()
        .fold(0, |packed, &v| packed << 32 | u128::from(v))
}

fn unpack(face: u128) -> [u32; 4] {
    [face >> 96, face >> 64, face >> 32, face].map(|v| v as u32)
}

fn count_faces(mesh: &VolumeMesh, summary: &mut VolumeSummary) {
    // Vertices as one number, cell, and the way around that the cell sees from inside.
    let parts = parallel::map_pieces(mesh.cells.len(), parallel::GRAIN, |range| {
        let mut part: Vec<(u128, u32, bool)> = Vec::with_capacity(6 * range.len());
        for i in range {
            let cell = mesh.cells.get(i);
            let faces = CellKind::of(cell.len()).map_or(&[][..], faces);
            part.extend(faces.iter().map(|face| {
                let vertices = || face.iter().map(|&place| cell[place]);
                (pack(key(vertices())), i as u32, turns(vertices()))
            }));
        }
        part
    });
    let mut uses = parallel::concat(parts);
    uses.par_sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    let mut is_on_boundary = vec![false; mesh.points.len()];
    let (mut crowded, mut overlapping) = (Vec::new(), Vec::new());
    for group in uses.chunk_by(|a, b| a.0 == b.0) {
        match *group {
            [(face, ..)] => {
                summary.boundary_faces += 1;
                let vertices = unpack(face).into_iter().filter(|&v| v != NONE);
                vertices.for_each(|v| is_on_boundary[v as usize] = true);
            }
            [(_, a, way_a), (_, b, way_b)] => {
                let is_whole = |i: u32| {
                    let found = Measures::of(mesh, i as usize);
                    found.inverted.count == 0 && found.flat.count == 0
                };
                if way_a == way_b && is_whole(a) && is_whole(b) {
                    overlapping.push(a.max(b) as usize);
                }
                summary.interior_faces += 1;
                let region = |i: u32| mesh.regions.as_ref().map(|regions| regions[i as usize]);
                summary.interface_faces += usize::from(region(a) != region(b));
            }
            _ => crowded.push(group[0].1 as usize),
        }
    }
    crowded.sort_unstable();
    crowded.dedup();
    summary.crowded = Broken::of(crowded.into_iter());
    overlapping.sort_unstable();
    overlapping.dedup();
    summary.overlapping = Broken::of(overlapping.into_iter());
    summary.boundary_vertices = is_on_boundary.iter().filter(|on| **on).count();
    let is_face = |i: usize| {
        let face = pack(key(mesh.faces.get(i).iter().copied()));
        uses.binary_search_by_key(&face, |(face, ..)| *face).is_ok()
    };
    let loose = parallel::filter_collect(mesh.faces.len(), |i| (!is_face(i)).then_some(i));
    summary.loose_tags = Broken::of(loose.into_iter());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;
    use crate::mesh::Polygons;
    use crate::volume::{Cells, MixedCells};

    /// A unit cube, a pyramid on its top and a wedge at its side, all positive.
    fn house() -> VolumeMesh {
        let mut points: Vec<DVec3> = [(0., 0.), (1., 0.), (1., 1.), (0., 1.)]
            .map(|(x, y)| DVec3::new(x, y, 0.0))
            .to_vec();
        points.extend_from_within(..);
        points[4..].iter_mut().for_each(|p| p.z = 1.0);
        points.push(DVec3::new(0.5, 0.5, 1.5));
        points.push(DVec3::new(2.0, 0.0, 0.0));
        points.push(DVec3::new(2.0, 1.0, 0.0));
        let mut cells = MixedCells::default();
        cells.push(&[0, 1, 2, 3, 4, 5, 6, 7]);
        cells.push(&[4, 5, 6, 7, 8]);
        // Triangles 1 9 5 and 2 10 6; seen from the second the first is counter-clockwise.
        cells.push(&[1, 9, 5, 2, 10, 6]);
        VolumeMesh {
            points,
            cells: Cells::Mixed(cells),
            regions: Some(vec![1, 2, 2]),
            faces: Polygons::default(),
            face_tags: Vec::new(),
            fields: Default::default(),
            about: Default::default(),
        }
    }

    #[test]
    fn a_house_of_three_kinds() {
        let mut mesh = house();
        if let Cells::Mixed(cells) = &mut mesh.cells {
            // The wedge's first triangle must look at the second.
            cells.vertices.truncate(13);
            cells.offsets.truncate(3);
            cells.push(&[1, 5, 9, 2, 6, 10]);
        }
        mesh.faces.push(&[0, 3, 2, 1]);
        mesh.faces.push(&[0, 1, 2]);
        mesh.face_tags = vec![5, 5];
        let found = volume_summary(&mesh);
        assert!(
            (found.volume - (1.0 + 1.0 / 6.0 + 0.5)).abs() < 1e-15,
            "{}",
            found.volume
        );
        assert_eq!((found.interior_faces, found.boundary_faces), (2, 12));
        assert_eq!((found.interface_faces, found.boundary_vertices), (2, 11));
        assert!((found.smallest_dihedral.unwrap() - 45.0).abs() < 1e-12);
        assert!((found.largest_dihedral.unwrap() - 120.0).abs() < 1e-12);
        assert_eq!(
            found.problems(),
            ["1 tagged face of no cell: first tagged face 1"]
        );
        assert_eq!(found.kinds[&CellKind::Wedge], 1);
        // The wedge the other way is inverted.
        let found = volume_summary(&house());
        assert_eq!(found.inverted, Broken { count: 1, first: 2 });
        assert_eq!(found.flat.count, 0);
    }

    #[test]
    fn cubes_of_tetrahedra() {
        let mesh = generate::tet_grid(1000, 1).unwrap();
        let summary = volume_summary(&mesh.clone().into());
        assert!((summary.volume - 1.0).abs() < 1e-12);
        assert_eq!(summary.boundary_faces, mesh.faces.len());
        assert_eq!(summary.boundary_vertices, 1000 - 512);
        assert_eq!(summary.kinds[&CellKind::Tetrahedron], 6 * 729);
        assert!(summary.problems().is_empty());
        assert_eq!(summary.tags.len(), 6);
    }

    #[test]
    fn broken_meshes() {
        let mesh = generate::tet_grid(27, 1).unwrap();
        let problems = |change: fn(&mut crate::volume::TetMesh)| {
            let mut mesh = mesh.clone();
            change(&mut mesh);
            mesh.faces.clear();
            volume_summary(&mesh.into()).problems()
        };
        assert_eq!(
            problems(|m| m.points[26].y = f64::NAN)[0],
            "1 vertex without a finite position: first vertex 26 (`repair --finite`)"
        );
        assert_eq!(
            problems(|m| m.tetrahedra[4].swap(0, 1)),
            ["1 cell inverted: first cell 4 (`repair --orient`, or `smooth --untangle`)"]
        );
        let twice = problems(|m| m.tetrahedra[4][1] = m.tetrahedra[4][0]);
        assert_eq!(twice[0], "1 cell with a vertex twice: first cell 4");
        assert_eq!(
            twice[1],
            "1 cell flat at a corner: first cell 4 (`smooth --untangle`)"
        );
        let thrice = problems(|m| m.tetrahedra.extend([m.tetrahedra[3]; 2]));
        assert!(
            thrice[0].contains("with a face of more than two cells: first cell"),
            "{thrice:?}"
        );
        assert_eq!(thrice.len(), 1);
        let twice = problems(|m| {
            m.tetrahedra.truncate(1);
            m.tetrahedra.push(m.tetrahedra[0]);
        });
        assert_eq!(
            twice,
            ["1 cell on the same side of a face as another: first cell 1 (`repair --folded`)"]
        );
    }
}
