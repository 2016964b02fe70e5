use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed};

use glam::DVec2;
use rayon::prelude::*;

use trioxide_mesh::edges::FaceEdges;
use trioxide_mesh::mesh::{Faces, Mesh, NONE};
use trioxide_mesh::parallel;
use trioxide_mesh::partition::Partition;

/// Faces that share an edge with each face, each once.
///
/// Lists are ordered by place: faces near each other have places near each other, so that a walk from neighbour to
/// neighbour stays in the cache for any order of the faces.
pub struct Neighbors {
    begins: Begins,
    /// Places of neighbours, in the order of their faces, followed by [`NONE`] if a list has room for more.
    lists: Vec<AtomicU32>,
    /// Number of neighbours of each place.
    pub degrees: Vec<AtomicU32>,
    /// Number of neighbours of each face, at most [`MANY`].
    pub few: Vec<AtomicU8>,
    /// The face at each place.
    pub faces: Vec<u32>,
    /// The place of each face.
    pub places: Vec<AtomicU32>,
}

/// Start of each place's list, and end of the last.
enum Begins {
    /// At the multiples of this number.
    Multiples(usize),
    At(Vec<usize>),
}

impl Begins {
    /// Starts of lists with `each` neighbours per side.
    fn new(mesh: &Mesh, faces: &[u32], each: usize) -> Begins {
        if let Faces::Triangles(_) = mesh.faces {
            return Begins::Multiples(3 * each);
        }
        let sizes = parallel::map(faces, |&face| mesh.faces.get(face as usize).len());
        let mut begins = Vec::with_capacity(faces.len() + 1);
        let mut end = 0;
        begins.push(end);
        begins.extend(sizes.into_iter().map(|size| {
            end += each * size;
            end
        }));
        Begins::At(begins)
    }

    fn of(&self, place: usize) -> usize {
        match self {
            Begins::Multiples(size) => place * size,
            Begins::At(begins) => begins[place],
        }
    }
}

/// This number of neighbours or more.
pub const MANY: usize = u8::MAX as usize;
/// Tiles along each side of the mesh's bounding box.
const TILES: usize = 256;
/// Tiles along each side of a group. Faces are sorted into groups first, and then, within a cache, into tiles.
const GROUP: usize = 4;
/// Faces of a task that builds their lists.
const LISTS: usize = 4096;

impl Neighbors {
    /// The neighbours of the faces of `mesh`. Vertices must be in range, and `edges` must be the edges of the mesh.
    pub fn new(mesh: &Mesh, edges: &FaceEdges) -> Neighbors {
        let faces = by_tile(mesh);
        let shared =
            |count: usize| -> Vec<AtomicU32> { parallel::collect(count, |_| AtomicU32::new(NONE)) };
        let places = shared(faces.len());
        parallel::for_each(faces.len(), |place| {
            places[faces[place] as usize].store(place as u32, Relaxed);
        });

        // The faces across each side: the previous and the next one among the faces of its edge.
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

        let begins = Begins::new(mesh, &faces, each);
        let lists = shared(behind.len());
        let degrees = shared(faces.len());
        let few: Vec<AtomicU8> = parallel::collect(faces.len(), |_| AtomicU8::new(0));
        parallel::for_pieces(faces.len(), LISTS, |of_task| {
            let mut list = Vec::new();
            for place in of_task {
                let sides = sides(faces[place] as usize);
                let known = behind[each * sides.start..each * sides.end].iter();
                let known = known.map(|slot| slot.load(Relaxed));
                list.clear();
                list.extend(known.filter(|&other| other != NONE));
                list.sort_unstable();
                // Faces may share several edges.
                list.dedup();
                degrees[place].store(list.len() as u32, Relaxed);
                few[faces[place] as usize].store(list.len().min(MANY) as u8, Relaxed);
                let slots = &lists[begins.of(place)..begins.of(place + 1)];
                for (slot, &other) in slots.iter().zip(&list) {
                    slot.store(places[other as usize].load(Relaxed), Relaxed);
                }
            }
        });
        Neighbors {
            begins,
            lists,
            degrees,
            few,
            faces,
            places,
        }
    }

    /// Places of the neighbours of the face at a place.
    pub fn of(&self, place: u32) -> impl Iterator<Item = u32> {
        let place = place as usize;
        let list = &self.lists[self.begins.of(place)..self.begins.of(place + 1)];
        let places = list.iter().map(|place| place.load(Relaxed));
        places.take_while(|&place| place != NONE)
    }
}

/// Writes the faces across sides into `each` places per side. Returns false if a side has more faces.
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

/// Faces sorted by the tile of their first corner, as seen from above.
fn by_tile(mesh: &Mesh) -> Vec<u32> {
    let none = || [DVec2::INFINITY, DVec2::NEG_INFINITY];
    let [least, most] = mesh
        .points
        .par_iter()
        .fold(none, |[least, most], p| {
            [least.min(p.truncate()), most.max(p.truncate())]
        })
        .reduce(none, |a, b| [a[0].min(b[0]), a[1].max(b[1])]);
    let scale = TILES as f64 / (most - least);
    const GROUPS: usize = TILES / GROUP;
    const OF_GROUP: usize = GROUP * GROUP;
    // Tiles of points, because a cache may hold these, and faces read them in random order.
    let tiles = parallel::map(&mesh.points, |point| {
        // NaN, if the box is flat, gives the first tile.
        let [x, y] = ((point.truncate() - least) * scale)
            .to_array()
            .map(|t| (t as usize).min(TILES - 1));
        let group = GROUPS * (y / GROUP) + x / GROUP;
        (OF_GROUP * group + GROUP * (y % GROUP) + x % GROUP) as u16
    });
    const _: () = assert!(TILES * TILES <= 1 << u16::BITS);
    let groups = Partition::new(mesh.faces.len(), GROUPS * GROUPS, |face| {
        let first = mesh.faces.get(face).first();
        let tile = first.map_or(0, |&v| usize::from(tiles[v as usize]));
        [(tile / OF_GROUP, [(tile % OF_GROUP) as u32, face as u32])]
    });
    let mut faces = vec![0; mesh.faces.len()];
    let of_groups = groups.split(&mut faces);
    of_groups
        .into_par_iter()
        .enumerate()
        .for_each(|(i, faces)| {
            let rows = groups.group(i);
            let mut ends = [0; OF_GROUP];
            rows.iter().for_each(|row| ends[row[0] as usize] += 1);
            // First the start of each tile: writing faces advances it to the tile's end.
            let mut sum = 0;
            for end in &mut ends {
                sum += std::mem::replace(end, sum);
            }
            for &[tile, face] in rows {
                let place = &mut ends[tile as usize];
                faces[*place] = face;
                *place += 1;
            }
        });
    faces
}
