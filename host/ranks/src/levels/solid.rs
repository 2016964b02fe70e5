//! The sides of the polyhedra.

use std::collections::HashMap;
use std::ops::Range;

use glam::DVec3;
use gpu::levels::Extent;
use gpu::smooth::quality::root;
use rayon::slice::ParallelSliceMut;
use trioxide::mesh::{NONE, Polygons};
use trioxide::polyhedra_mesh::{PolyhedraLists, PolyhedralMesh, TaggedFace, side_vertices};
use trioxide_mesh::parallel;

use super::lists::Lists;
use super::pieces::{edges, name};
use super::twins::{NOTHING, Others, Seen, twins};
use super::{Level, Side};
use crate::directory::Fetched;
use crate::ids::IdSet;
use crate::tets::Input;
use crate::transport::{Mail, Ranks};

/// Which faces polyhedra have, and which of them pieces may cross.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surfaces<'a> {
    /// No piece crosses a tagged face, or has two regions.
    pub constrained: bool,
    /// Faces in one plane are one, as [`PolyhedralMesh::merge_coplanar`] joins them; by the tags of the tagged
    /// triangles.
    pub merged: Option<&'a [i32]>,
}

/// Level 0: the polyhedra of all ranks. Collective.
pub(super) fn find(
    ranks: &Ranks,
    input: Input,
    slice: &PolyhedraLists,
    surfaces: Surfaces,
) -> Level {
    let Around {
        mesh,
        pieces,
        ids,
        vertices,
        own,
    } = Around::of(ranks, input, slice, surfaces);
    let around = mesh.neighbours();
    let mut is_tagged = vec![false; mesh.faces.len()];
    for tagged in &mesh.tagged {
        is_tagged[tagged.face as usize] = true;
    }
    let areas = parallel::collect(mesh.faces.len(), |face| area(&mesh, face));
    let boxes = parallel::collect(own.len(), |p| extent(&mesh, own.start + p));
    let are_balls = parallel::collect(own.len(), |p| is_ball(&mesh, own.start + p));

    let (mut sides, mut faces) = (Vec::new(), Lists::default());
    for p in own {
        for &side in mesh.sides_of(p) {
            let face = side as usize / 2;
            let q = around[face][usize::from(side.is_multiple_of(2))];
            if q == p as u32 {
                continue;
            }
            let regions = mesh.regions.as_ref();
            let is_between = |regions: &Vec<i32>| regions[p] != regions[q as usize];
            sides.push(Side {
                edge: ids[face],
                length: areas[face],
                piece: pieces[p],
                beyond: if q == NONE { NONE } else { pieces[q as usize] },
                vertex: sides.len() as u32,
                is_fixed: u32::from(
                    is_tagged[face] || q != NONE && regions.is_some_and(is_between),
                ),
            });
            faces.push(mesh.vertices_of(side).map(|v| vertices[v as usize] as u32));
        }
    }
    drop(mesh);
    sides.par_sort_unstable_by_key(Side::key);
    let mut level = Level::new(ranks, sides, boxes, Some(faces));
    fix_unless_balls(ranks, &mut level, &are_balls);
    level
}

/// Fixes the sides of pieces that are no balls; of this rank's own ones it is known whether they are. Collective.
fn fix_unless_balls(ranks: &Ranks, level: &mut Level, are_balls: &[bool]) {
    let beyond = level.sides.iter().map(|side| side.beyond);
    let mut others: Vec<u32> = beyond
        .filter(|&q| q != NONE && level.place(q).is_none())
        .collect();
    others.sort_unstable();
    others.dedup();
    let asked = Mail::sorted(ranks.size(), others.len(), |i| {
        (level.rank(others[i]), others[i])
    });
    // Ids and ranks ascend together.
    let answers = ranks.ask(&asked, |&q| {
        u8::from(are_balls[level.place(q).expect("it is of this rank")])
    });
    let mut sides = std::mem::take(&mut level.sides);
    parallel::for_each_mut(&mut sides, |_, side| {
        let is_ball = |p: u32| match level.place(p) {
            Some(place) => are_balls[place],
            None => answers[others.partition_point(|&q| q < p)] != 0,
        };
        if !is_ball(side.piece) || side.beyond != NONE && !is_ball(side.beyond) {
            side.is_fixed = 1;
        }
    });
    level.sides = sides;
}

/// A rank's polyhedra, and of the ones around them the faces in common.
struct Around {
    /// The polyhedra ascend with their ids, so each face is seen from the same polyhedron as in the mesh of all.
    mesh: PolyhedralMesh,
    /// The id of each polyhedron.
    pieces: Vec<u32>,
    /// The id of each face: the lower of its sides, among those of all polyhedra; of merged faces the lowest.
    ids: Vec<u64>,
    /// The id of each vertex.
    vertices: Vec<u64>,
    /// The rank's polyhedra.
    own: Range<usize>,
}

/// A side of a polyhedron, of this rank or another one.
#[derive(Clone, Copy)]
struct Seat {
    /// Its id among the sides of all polyhedra.
    id: u64,
    piece: u32,
    region: i32,
    /// Counter-clockwise as seen from outside.
    vertices: [u32; 3],
    /// The rank's side that it is, or that is on the other side of its face.
    side: usize,
}

impl Seat {
    /// For a rank that has the other side of the face.
    fn seen(self) -> Seen {
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let [a, b, c] = self.vertices;
        [
            self.id,
            pair(self.piece, self.region as u32),
            pair(a, b),
            c.into(),
        ]
    }

    /// The other side of the face of `side`, which another rank has.
    fn of(seen: Seen, side: usize) -> Self {
        let [id, piece, edge, vertex] = seen;
        Self {
            id,
            piece: (piece >> 32) as u32,
            region: piece as u32 as i32,
            vertices: vertices_of(edge, vertex),
            side,
        }
    }
}

fn vertices_of(edge: u64, vertex: u64) -> [u32; 3] {
    [(edge >> 32) as u32, edge as u32, vertex as u32]
}

fn sorted(mut vertices: [u32; 3]) -> [u32; 3] {
    vertices.sort_unstable();
    vertices
}

impl Around {
    /// Finds what is around this rank's polyhedra. Collective.
    fn of(ranks: &Ranks, input: Input, slice: &PolyhedraLists, surfaces: Surfaces) -> Self {
        let (block, sides) = (input.block, &slice.sides);
        let (before, _) = ranks.scan(slice.len() as u64);
        let (first, _) = ranks.scan(sides.len() as u64);
        let start = ranks.block(block.cells).start;
        let tets = parallel::map(sides, |&side| u64::from(side / 4));
        let corners = Fetched::by(ranks, block.cells, IdSet::of_list(&tets), |t| {
            let corners = block.corners.cell::<4>((t - start) as usize);
            corners.map(|v| v as u32)
        });
        drop(tets);
        let vertices = parallel::map(sides, |&side| {
            side_vertices(&[corners.get(u64::from(side / 4))], side % 4)
        });
        drop(corners);
        let regions = block.regions.as_ref().filter(|_| surfaces.constrained);
        let has_regions = ranks.any(regions.is_some());
        let firsts = parallel::collect(slice.len(), |p| u64::from(slice.tets_of(p)[0]));
        let regions = has_regions.then(|| {
            Fetched::by(ranks, block.cells, IdSet::of_list(&firsts), |t| {
                regions.map_or(0, |regions| regions[(t - start) as usize])
            })
        });
        let region = |p: usize| regions.as_ref().map_or(0, |regions| regions.get(firsts[p]));

        let mut seats = Vec::with_capacity(sides.len());
        for p in 0..slice.len() {
            for _ in slice.sides_of(p) {
                let side = seats.len();
                seats.push(Seat {
                    id: first + side as u64,
                    piece: before as u32 + p as u32,
                    region: region(p),
                    vertices: vertices[side],
                    side,
                });
            }
        }
        drop(vertices);
        let twins = twins(seats.len(), |side| sorted(seats[side].vertices));
        let seen = |side: usize| seats[side].seen();
        let others = Others::find(
            ranks,
            block.vertices,
            &twins,
            seen,
            |&[_, _, edge, vertex]| sorted(vertices_of(edge, vertex)),
        );
        let beyond = others.sides.iter().zip(&others.seen);
        let beyond = beyond.filter(|(_, seen)| **seen != NOTHING);
        let mut beyond: Vec<Seat> = beyond
            .map(|(&side, &seen)| Seat::of(seen, side as usize))
            .collect();
        beyond.par_sort_unstable_by_key(|seat| seat.id);
        let names: Vec<u64> = seats
            .iter()
            .flat_map(|seat| seat.vertices.map(u64::from))
            .collect();
        let points = Fetched::of(ranks, block.vertices, IdSet::of_list(&names), &block.points);
        let mut around = Self {
            mesh: PolyhedralMesh {
                faces: Polygons {
                    offsets: vec![0],
                    vertices: Vec::new(),
                },
                regions: has_regions.then(Vec::new),
                ..PolyhedralMesh::default()
            },
            pieces: Vec::new(),
            ids: Vec::new(),
            vertices: points.ids.to_vec(),
            own: 0..0,
        };
        // In the order of their ids.
        let (lower, upper) = beyond.split_at(beyond.partition_point(|seat| seat.id < first));
        let all = lower.iter().chain(&seats).chain(upper);
        around.add(all, &twins, &points.ids);
        around.mesh.points = points.into_items();
        let is_before = |&piece: &u32| u64::from(piece) < before;
        let start = around.pieces.partition_point(is_before);
        around.own = start..start + slice.len();
        if surfaces.constrained {
            around.tag(input.tagged, surfaces.merged);
        }
        if surfaces.merged.is_some() {
            around.merge();
        }
        around
    }

    /// Adds polyhedra with these sides; `twins` has those of the rank's own sides among themselves.
    fn add<'a>(&mut self, sides: impl Iterator<Item = &'a Seat>, twins: &[u32], local: &IdSet) {
        let mesh = &mut self.mesh;
        let mut faces = vec![NONE; twins.len()];
        for seat in sides {
            if self.pieces.last() != Some(&seat.piece) {
                mesh.offsets.push(mesh.sides.len() as u32);
                self.pieces.push(seat.piece);
                if let Some(regions) = &mut mesh.regions {
                    regions.push(seat.region);
                }
            }
            let known = faces[seat.side];
            if known != NONE {
                mesh.sides.push(2 * known + 1);
                continue;
            }
            let face = mesh.faces.len() as u32;
            let place = |v: u32| local.place(v.into()).expect("it was asked for");
            mesh.faces.push(&seat.vertices.map(place));
            mesh.sides.push(2 * face);
            self.ids.push(seat.id);
            faces[seat.side] = face;
            let twin = twins[seat.side];
            if twin != NONE {
                faces[twin as usize] = face;
            }
        }
        mesh.offsets.push(mesh.sides.len() as u32);
    }

    /// Tags the faces of tagged triangles.
    fn tag(&mut self, triangles: &[[u32; 3]], tags: Option<&[i32]>) {
        let mut tagged: HashMap<[u32; 3], Vec<i32>> = HashMap::new();
        for (i, &triangle) in triangles.iter().enumerate() {
            let tag = tags.map_or(0, |tags| tags[i]);
            tagged.entry(sorted(triangle)).or_default().push(tag);
        }
        if tagged.is_empty() {
            return;
        }
        for (face, vertices) in self.mesh.faces.iter().enumerate() {
            let [a, b, c] = [0, 1, 2].map(|k| self.vertices[vertices[k] as usize] as u32);
            let tags = tagged.get(&sorted([a, b, c])).into_iter().flatten();
            let face = face as u32;
            let tags = tags.map(|&tag| TaggedFace { face, tag });
            self.mesh.tagged.extend(tags);
        }
    }

    /// Joins faces in one plane.
    fn merge(&mut self) {
        let (mesh, faces) = self.mesh.merge_coplanar_faces();
        let mut ids = vec![u64::MAX; mesh.faces.len()];
        for (&face, &id) in faces.iter().zip(&self.ids) {
            let lowest = &mut ids[face as usize];
            *lowest = id.min(*lowest);
        }
        (self.mesh, self.ids) = (mesh, ids);
    }
}

/// The area of a face, as the kernels of the single run add it.
fn area(mesh: &PolyhedralMesh, face: usize) -> f64 {
    let vertices = mesh.faces.get(face);
    let point = |v: u32| mesh.points[v as usize] - mesh.points[vertices[0] as usize];
    let mut area = DVec3::ZERO;
    for pair in vertices.windows(2) {
        area += point(pair[0]).cross(point(pair[1]));
    }
    0.5 * root(area.x * area.x + area.y * area.y + area.z * area.z)
}

/// The box of a polyhedron.
fn extent(mesh: &PolyhedralMesh, p: usize) -> Extent {
    let faces = mesh.sides_of(p).iter();
    let vertices = faces.flat_map(|&side| mesh.faces.get(side as usize / 2));
    let boxes = vertices.map(|&v| {
        let point = mesh.points[v as usize];
        Extent {
            low: point,
            high: point,
        }
    });
    boxes.fold(Extent::NOTHING, Extent::with)
}

/// Whether the surface of a polyhedron is a sphere: no face has it on both sides, each edge has two corners, and
/// V - E + F = 2.
fn is_ball(mesh: &PolyhedralMesh, p: usize) -> bool {
    let (mut vertices, mut names) = (Vec::new(), Vec::new());
    let mut faces = mesh.sides_of(p).to_vec();
    for &side in &faces {
        let face = mesh.faces.get(side as usize / 2);
        vertices.extend_from_slice(face);
        names.extend(edges(face).map(name));
    }
    faces.sort_unstable();
    let is_twice = faces.windows(2).any(|pair| pair[0] / 2 == pair[1] / 2);
    let corners = names.len();
    vertices.sort_unstable();
    vertices.dedup();
    names.sort_unstable();
    names.dedup();
    !is_twice && corners == 2 * names.len() && vertices.len() + faces.len() == names.len() + 2
}
