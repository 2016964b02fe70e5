//! Seams: corners of one vertex with different texture coordinates or normals.
//!
//! OBJ and PLY files give these to the corners of faces; a mesh, as glTF, gives them to points. So each combination of
//! a vertex, a texture coordinate and a normal is a point. The first corner of a vertex keeps the vertex's id; the
//! further combinations follow all vertices, in the order of their first corners. Values decide, not their indices:
//! programs repeat equal ones, and -0 is 0.
//!
//! | case | rule |
//! | --- | --- |
//! | a corner has no value, another corner of its vertex has one | it takes the first one, and needs no point of its own |
//! | no corner of the vertex has a value | that of the vertex, or 0 |
//! | a segment ends at a vertex of several points | it is a side of the first face that has its vertices |
//!
//! [`joined`] is the way back: points in one place are one vertex if their values differ.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use glam::{DVec2, DVec3};
use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSliceMut;

use super::faces::{corners, corners_mut};
use trioxide_mesh::mesh::{Mesh, NONE, VertexAttributes, gather};
use trioxide_mesh::parallel;

/// The texture coordinate and the normal of a corner, as far as it has them.
pub(crate) type Given = (Option<DVec2>, Option<DVec3>);

/// Values as numbers that are equal where the values are.
type Key = [u64; 5];

fn key(uv: DVec2, normal: DVec3) -> Key {
    let bits = |x: f64| match x.is_nan() {
        true => f64::NAN.to_bits(),
        // Of -0 as of 0.
        false => (x + 0.0).to_bits(),
    };
    [uv.x, uv.y, normal.x, normal.y, normal.z].map(bits)
}

/// The corners of a mesh's faces.
struct Corners<'a, F> {
    vertices: &'a [u32],
    attributes: &'a VertexAttributes,
    given: F,
    /// First corner of each vertex that has a texture coordinate, and first that has a normal.
    first: [Vec<AtomicU32>; 2],
    /// Numbers of corners that have them.
    counts: [usize; 2],
}

impl<'a, F: Fn(usize) -> Given + Sync> Corners<'a, F> {
    fn new(mesh: &'a Mesh, given: F) -> Self {
        let vertices = corners(&mesh.faces);
        let none = || parallel::collect(mesh.points.len(), |_| AtomicU32::new(NONE));
        let first = [none(), none()];
        let counts = parallel::map_pieces(vertices.len(), parallel::GRAIN, |range| {
            let mut counts = [0; 2];
            for i in range {
                let (uv, normal) = given(i);
                for (k, is_given) in [uv.is_some(), normal.is_some()].into_iter().enumerate() {
                    let first = &first[k][vertices[i] as usize];
                    if is_given && (i as u32) < first.load(Relaxed) {
                        first.fetch_min(i as u32, Relaxed);
                    }
                    counts[k] += usize::from(is_given);
                }
            }
            counts
        });
        let counts = [0, 1].map(|k| counts.iter().map(|counts| counts[k]).sum());
        Self {
            vertices,
            attributes: &mesh.attributes,
            given,
            first,
            counts,
        }
    }

    /// Returns the corner that gives value `k` of a vertex.
    fn first(&self, k: usize, vertex: u32) -> Option<usize> {
        let corner = self.first[k][vertex as usize].load(Relaxed);
        (corner != NONE).then_some(corner as usize)
    }

    fn of_vertex(&self, vertex: u32) -> (DVec2, DVec3) {
        let VertexAttributes { uvs, normals, .. } = self.attributes;
        let of_corner = |k: usize| self.first(k, vertex).map(|i| (self.given)(i));
        let uv = of_corner(0).and_then(|(uv, _)| uv);
        let uv = uv.or_else(|| Some(uvs.as_ref()?[vertex as usize]));
        let normal = of_corner(1).and_then(|(_, normal)| normal);
        let normal = normal.or_else(|| Some(normals.as_ref()?[vertex as usize]));
        (uv.unwrap_or_default(), normal.unwrap_or_default())
    }

    fn of_corner(&self, corner: usize) -> (DVec2, DVec3) {
        let vertex = self.vertices[corner];
        let (uv, normal) = (self.given)(corner);
        match (uv, normal) {
            (Some(uv), Some(normal)) => (uv, normal),
            _ => {
                let of_vertex = self.of_vertex(vertex);
                (uv.unwrap_or(of_vertex.0), normal.unwrap_or(of_vertex.1))
            }
        }
    }

    fn key(&self, corner: usize) -> Key {
        let (uv, normal) = self.of_corner(corner);
        key(uv, normal)
    }

    /// Returns the corners whose values are not those of their vertex's point, each with a further point from `count`
    /// on, and the first corner of each of these points.
    fn further(&self, count: u32) -> (Vec<(u32, u32)>, Vec<u32>) {
        let differs = |corner: usize| {
            let (uv, normal) = self.of_vertex(self.vertices[corner]);
            self.key(corner) != key(uv, normal)
        };
        // With the vertex first: they are sorted by it.
        let mut rows = parallel::filter_collect(self.vertices.len(), |i| {
            differs(i).then(|| u64::from(self.vertices[i]) << 32 | i as u64)
        });
        rows.par_sort_unstable();
        let of_vertices = rows.par_chunk_by_mut(|a, b| a >> 32 == b >> 32);
        of_vertices.for_each(|rows| {
            rows.sort_unstable_by_key(|&row| (self.key(row as u32 as usize), row));
        });
        let is_first = parallel::collect(rows.len(), |k| {
            let before = k.checked_sub(1).map(|k| rows[k]);
            before.is_none_or(|before| {
                let is_same = before >> 32 == rows[k] >> 32;
                !is_same || self.key(before as u32 as usize) != self.key(rows[k] as u32 as usize)
            })
        });
        // The points by their first corners, each with its number in the order of the rows.
        let firsts = (0..rows.len()).filter(|&k| is_first[k]);
        let numbered = firsts.zip(0_u64..);
        let mut firsts: Vec<u64> = numbered.map(|(k, run)| rows[k] << 32 | run).collect();
        firsts.par_sort_unstable();
        let mut points = vec![0; firsts.len()];
        for (first, point) in firsts.iter().zip(count..) {
            points[*first as u32 as usize] = point;
        }
        let mut run = 0;
        let moved = rows.iter().zip(is_first).map(|(&row, is_first)| {
            run += usize::from(is_first);
            (row as u32, points[run - 1])
        });
        let moved = moved.collect();
        (moved, parallel::map(&firsts, |first| (first >> 32) as u32))
    }

    /// Returns notes on corners without a value that others have.
    fn notes(&self) -> Vec<String> {
        let all = self.vertices.len();
        let named = ["texture coordinate", "normal"]
            .into_iter()
            .zip(self.counts);
        let partly = named.filter(|(_, count)| (1..all).contains(count));
        let note = |(name, count): (&str, usize)| {
            let missing = all - count;
            format!(
                "corners without a {name} take the first one of their vertex, or 0 if there is none: {missing} of {all}"
            )
        };
        partly.map(note).collect()
    }
}

/// Gives the vertices the values of their corners, and makes points of further combinations. A vertex without a corner
/// that has a value keeps its own. Returns notes.
///
/// # Errors
/// Too many points.
pub(crate) fn split(
    mesh: &mut Mesh,
    given: impl Fn(usize) -> Given + Sync,
) -> Result<Vec<String>, String> {
    let count = mesh.points.len();
    let all = Corners::new(mesh, given);
    let [has_uvs, has_normals] = all.counts.map(|count| count > 0);
    if !has_uvs && !has_normals {
        return Ok(Vec::new());
    }
    let mut notes = all.notes();
    let (moved, firsts) = all.further(count as u32);
    let points = count + firsts.len();
    if points >= NONE as usize {
        return Err(
            "the vertices have too many different texture coordinates and normals".to_owned(),
        );
    }
    let parents = parallel::map(&firsts, |&corner| all.vertices[corner as usize]);
    let value = |i: usize| match i.checked_sub(count) {
        None => all.of_vertex(i as u32),
        Some(k) => all.of_corner(firsts[k] as usize),
    };
    let uvs = has_uvs.then(|| parallel::collect(points, |i| value(i).0));
    let normals = has_normals.then(|| parallel::collect(points, |i| value(i).1));
    if !parents.is_empty() {
        add_points(mesh, &parents);
        let corners = corners_mut(&mut mesh.faces);
        for (corner, point) in moved {
            corners[corner as usize] = point;
        }
        move_segments(mesh, &parents);
        let further = points - count;
        notes.push(format!(
            "corners of one vertex with different texture coordinates or normals are points of their own: {further}"
        ));
    }
    let attributes = &mut mesh.attributes;
    attributes.uvs = uvs.or_else(|| attributes.uvs.take());
    attributes.normals = normals.or_else(|| attributes.normals.take());
    Ok(notes)
}

/// Appends points in the places of `parents`, with all that they have.
fn add_points(mesh: &mut Mesh, parents: &[u32]) {
    let count = mesh.points.len() as u32;
    let ids: Vec<u32> = (0..count).chain(parents.iter().copied()).collect();
    mesh.points = gather(&mesh.points, &ids);
    mesh.attributes = mesh.attributes.gather(&ids);
    mesh.fields.points = mesh.fields.points.gather(&ids);
}

/// Makes segments at vertices of several points, whose last points have these `parents`, sides of faces again.
fn move_segments(mesh: &mut Mesh, parents: &[u32]) {
    let count = mesh.points.len() - parents.len();
    let mut is_split = vec![false; count];
    parents
        .iter()
        .for_each(|&parent| is_split[parent as usize] = true);
    let vertex = |point: u32| match (point as usize).checked_sub(count) {
        None => point,
        Some(k) => parents[k],
    };
    let pair = |ends: [u32; 2]| [ends[0].min(ends[1]), ends[0].max(ends[1])];
    let ends = mesh.segments.iter().map(|segment| segment.ends);
    let at_seams = ends.filter(|ends| ends.iter().any(|&v| is_split[v as usize]));
    let mut sides: HashMap<[u32; 2], Option<[u32; 2]>> =
        at_seams.map(|ends| (pair(ends), None)).collect();
    if sides.is_empty() {
        return;
    }
    for face in (0..mesh.faces.len()).map(|i| mesh.faces.get(i)) {
        for (k, &from) in face.iter().enumerate() {
            let points = [from, face[(k + 1) % face.len()]];
            if let Some(side @ None) = sides.get_mut(&pair(points.map(vertex))) {
                *side = Some(points);
            }
        }
    }
    for segment in &mut mesh.segments {
        if let Some(&Some([a, b])) = sides.get(&pair(segment.ends)) {
            let is_reverse = vertex(a) != segment.ends[0];
            segment.ends = if is_reverse { [b, a] } else { [a, b] };
        }
    }
}

/// Returns for each point the point that is its vertex: the first in the same place and of the same colour. Points
/// whose texture coordinates and normals are equal too are different vertices. `None` if each point is a vertex of its
/// own.
pub(crate) fn joined(mesh: &Mesh) -> Option<Vec<u32>> {
    let VertexAttributes {
        normals,
        colors,
        uvs,
    } = &mesh.attributes;
    if normals.is_none() && uvs.is_none() {
        return None;
    }
    let place = |i: usize| mesh.points[i].to_array().map(f64::to_bits);
    let color = |i: usize| colors.as_ref().map(|colors| colors[i]);
    let value = |i: usize| {
        let uv = uvs.as_ref().map(|uvs| uvs[i]);
        let normal = normals.as_ref().map(|normals| normals[i]);
        key(uv.unwrap_or_default(), normal.unwrap_or_default())
    };
    // Most points share their place with no other: numbers that may be equal by chance find the few that may.
    let mut rows = parallel::collect(mesh.points.len(), |i| {
        let mixed = place(i).into_iter().fold(0_u64, |hash, bits| {
            (hash ^ bits)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(29)
        });
        mixed & !u64::from(u32::MAX) | i as u64
    });
    rows.par_sort_unstable();
    let of_hashes = rows.par_chunk_by_mut(|a, b| a >> 32 == b >> 32);
    let joined = of_hashes.filter(|rows| rows.len() > 1).map(|rows| {
        let mut points: Vec<u32> = rows.iter().map(|&row| row as u32).collect();
        points.sort_unstable_by_key(|&i| {
            (place(i as usize), color(i as usize), value(i as usize), i)
        });
        let mut pairs = Vec::new();
        let places = points.chunk_by(|&a, &b| {
            let [a, b] = [a as usize, b as usize];
            place(a) == place(b) && color(a) == color(b)
        });
        for points in places {
            // The first points of each value are a vertex, the second ones another.
            let mut vertices: Vec<u32> = Vec::new();
            let values = || points.chunk_by(|&a, &b| value(a as usize) == value(b as usize));
            for (k, &point) in values().flat_map(|equal| equal.iter().enumerate()) {
                match vertices.get_mut(k) {
                    Some(vertex) => *vertex = point.min(*vertex),
                    None => vertices.push(point),
                }
            }
            let of_values = values().flat_map(|equal| equal.iter().zip(&vertices));
            pairs.extend(of_values.map(|(&point, &vertex)| (point, vertex)));
        }
        pairs.retain(|(point, vertex)| point != vertex);
        pairs
    });
    let pairs: Vec<(u32, u32)> = joined.flatten_iter().collect();
    if pairs.is_empty() {
        return None;
    }
    let mut vertices: Vec<u32> = (0..mesh.points.len() as u32).collect();
    for (point, vertex) in pairs {
        vertices[point as usize] = vertex;
    }
    Some(vertices)
}
