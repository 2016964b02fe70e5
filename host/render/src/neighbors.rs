use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use glam::DVec2;
use rayon::prelude::*;

use trioxide_mesh::edges::FaceEdges;
use trioxide_mesh::mesh::{Faces, Mesh, NONE};
use trioxide_mesh::partition::Partition;

/// Faces that share an edge with each face, each once.
///
/// Lists stand by place: faces that lie near each other have places near each other, so that a walk from neighbour to neighbour
/// stays in the cache, whatever the order of the faces.
pub struct Neighbors {
    /// Start of each list, and the end of the last, by place.
    begins: Vec<u32>,
    /// Places of neighbours; a list has them in the order of their faces.
    lists: Vec<u32>,
    /// The face at each place.
    pub faces: Vec<u32>,
    /// The place of each face.
    pub places: Vec<u32>,
}

/// Tiles along each side of the mesh's box: the faces of one stand together.
const TILES: usize = 64;
/// Faces whose lists one task makes.
const LISTS: usize = 4096;

impl Neighbors {
    /// Those of the faces of `mesh`, whose vertices are in range and whose edges are `edges`.
    pub fn new(mesh: &Mesh, edges: &FaceEdges) -> Neighbors {
        let Partition { rows: faces, .. } = by_tile(mesh);
        let shared = |count: usize| -> Vec<AtomicU32> {
            (0..count)
                .into_par_iter()
                .map(|_| AtomicU32::new(NONE))
                .collect()
        };
        let places = shared(faces.len());
        let each = faces.par_iter().enumerate();
        each.for_each(|(place, &face)| places[face as usize].store(place as u32, Relaxed));

        // The face behind each side, or those before and behind it among the faces of its edge.
        let sides = |face: usize| match &mesh.faces {
            Faces::Triangles(_) => 3 * face..3 * face + 3,
            Faces::Polygons(of) => of.offsets[face] as usize..of.offsets[face + 1] as usize,
        };
        let count = mesh
            .faces
            .len()
            .checked_sub(1)
            .map_or(0, |last| sides(last).end);
        let mut behind = shared(count);
        let mut each = 1;
        if !note(edges, &behind, each) {
            each = 2;
            behind = shared(2 * count);
            note(edges, &behind, each);
        }
        let slots = |face: u32| -> Range<usize> {
            let sides = sides(face as usize);
            each * sides.start..each * sides.end
        };

        let parts: Vec<(Vec<u32>, Vec<u32>)> = faces
            .par_chunks(LISTS)
            .map(|faces| {
                let (mut lists, mut sizes) = (Vec::new(), Vec::with_capacity(faces.len()));
                let mut list = Vec::new();
                for &face in faces {
                    let known = behind[slots(face)].iter().map(|slot| slot.load(Relaxed));
                    list.clear();
                    list.extend(known.filter(|&other| other != NONE));
                    list.sort_unstable();
                    // Faces may share several edges.
                    list.dedup();
                    sizes.push(list.len() as u32);
                    lists.extend(
                        list.iter()
                            .map(|&other| places[other as usize].load(Relaxed)),
                    );
                }
                (lists, sizes)
            })
            .collect();
        let mut begins = Vec::with_capacity(faces.len() + 1);
        let mut end = 0;
        begins.push(end);
        for size in parts.iter().flat_map(|(_, sizes)| sizes) {
            end += size;
            begins.push(end);
        }
        let mut lists = Vec::with_capacity(end as usize);
        lists.par_extend(parts.into_par_iter().map(|(lists, _)| lists).flatten());
        Neighbors {
            begins,
            lists,
            faces,
            places: places.into_par_iter().map(AtomicU32::into_inner).collect(),
        }
    }

    /// Places of the neighbours of the face at a place.
    pub fn of(&self, place: u32) -> &[u32] {
        let place = place as usize;
        &self.lists[self.begins[place] as usize..self.begins[place + 1] as usize]
    }
}

/// Notes the faces behind sides in `each` places a side; false where there are more.
fn note(edges: &FaceEdges, behind: &[AtomicU32], each: usize) -> bool {
    let fits = AtomicBool::new(true);
    edges.table.for_each_edge(|_, sides| {
        if sides.len() > 2 && each == 1 {
            fits.store(false, Relaxed);
            return;
        }
        for pair in sides.windows(2) {
            let [left, right] = [pair[0].1, pair[1].1];
            let faces = [left, right].map(|side| edges.face(side));
            if faces[0] != faces[1] {
                behind[each * left as usize + each - 1].store(faces[1], Relaxed);
                behind[each * right as usize].store(faces[0], Relaxed);
            }
        }
    });
    fits.into_inner()
}

/// Faces by the tile of their first corner, seen from above.
fn by_tile(mesh: &Mesh) -> Partition<u32> {
    let none = || [DVec2::INFINITY, DVec2::NEG_INFINITY];
    let [least, most] = mesh
        .points
        .par_iter()
        .fold(none, |[least, most], p| {
            [least.min(p.truncate()), most.max(p.truncate())]
        })
        .reduce(none, |a, b| [a[0].min(b[0]), a[1].max(b[1])]);
    let scale = TILES as f64 / (most - least);
    Partition::new(mesh.faces.len(), TILES * TILES, |face| {
        let first = mesh.faces.get(face).first();
        let point = first.map_or(least, |&v| mesh.points[v as usize].truncate());
        // NaN, where the box is flat, is the first tile.
        let [x, y] = ((point - least) * scale)
            .to_array()
            .map(|t| (t as usize).min(TILES - 1));
        [(TILES * y + x, face as u32)]
    })
}
