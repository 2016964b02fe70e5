//! The definition of welding, by brute force.

use std::collections::BTreeSet;

use glam::DVec3;
use trioxide::fields::{Field, MeshFields};
use trioxide::mesh::{Faces, Mesh, Segment, VertexAttributes};
use trioxide::weld::{Guards, Locks, Options, Position, triangles};

/// The definition, vertex by vertex and pair by pair.
pub struct Definition {
    pub map: Vec<u32>,
    pub representatives: Vec<u32>,
    pub members: Vec<Vec<u32>>,
}

pub fn definition(mesh: &Mesh, locked: &[bool], options: &Options) -> Definition {
    let n = mesh.points.len();
    let near = |v: usize, w: usize| is_near(mesh, locked, options, v, w);
    let mut representative = Vec::with_capacity(n);
    for v in 0..n {
        let lowest = (0..v).find(|&r| representative[r] == r && near(v, r));
        representative.push(lowest.unwrap_or(v));
    }
    let representatives: Vec<u32> = (0..n)
        .filter(|&v| representative[v] == v)
        .map(|v| v as u32)
        .collect();
    let cluster = |v: &usize| {
        let place = representatives.binary_search(&(*v as u32));
        place.expect("a representative") as u32
    };
    let map: Vec<u32> = representative.iter().map(cluster).collect();
    let mut members = vec![Vec::new(); representatives.len()];
    for (v, &c) in map.iter().enumerate() {
        members[c as usize].push(v as u32);
    }
    Definition {
        map,
        representatives,
        members,
    }
}

fn is_near(mesh: &Mesh, locked: &[bool], options: &Options, v: usize, w: usize) -> bool {
    let is_locked = |v: usize| locked.get(v) == Some(&true);
    if is_locked(v) || is_locked(w) {
        return false;
    }
    let d = mesh.points[v] - mesh.points[w];
    // Tiny and huge numbers are scaled by a power of two, which is exact: their squares would underflow or overflow.
    let largest = d.abs().max_element().max(options.epsilon);
    let exponent = (largest.to_bits() >> 52) as i32 - 1023;
    let scale = 2f64.powi(if exponent.abs() < 300 { 0 } else { -exponent });
    let (d, epsilon) = (d * scale, options.epsilon * scale);
    let is_within = d.x * d.x + d.y * d.y + d.z * d.z <= epsilon * epsilon;
    let Guards {
        normals,
        uvs,
        colors,
    } = options.guards;
    let attributes = &mesh.attributes;
    is_within
        && colors.is_none_or(|most| {
            let colors = attributes.colors.as_ref().expect("guarded");
            let mut channels = colors[v].iter().zip(&colors[w]);
            channels.all(|(a, b)| a.abs_diff(*b) <= most)
        })
        && uvs.is_none_or(|most| {
            let uvs = attributes.uvs.as_ref().expect("guarded");
            let d = uvs[v] - uvs[w];
            d.x * d.x + d.y * d.y <= most * most
        })
        && normals.is_none_or(|most| {
            let normals = attributes.normals.as_ref().expect("guarded");
            let (a, b) = (normals[v], normals[w]);
            // Tests avoid angles that rounding could decide.
            let angle = a.cross(b).length().atan2(a.dot(b)).to_degrees();
            a == DVec3::ZERO || b == DVec3::ZERO || angle <= most + 1e-6
        })
}

/// The bits of all coordinates, so that zeros of both signs differ and a NaN equals itself.
pub fn bits(points: &[DVec3]) -> Vec<[u64; 3]> {
    let bits = |p: &DVec3| p.to_array().map(f64::to_bits);
    points.iter().map(bits).collect()
}

/// The remaining faces, their regions, and their ids in `mesh`.
fn expected_faces(
    mesh: &Mesh,
    options: &Options,
    map: &[u32],
) -> (Vec<[u32; 3]>, Vec<i32>, Vec<u32>) {
    // Faces as sets of rotations.
    let mut seen = BTreeSet::new();
    let mut regions = Vec::new();
    let mut faces = Vec::new();
    let mut ids = Vec::new();
    for (t, face) in triangles(mesh).iter().enumerate() {
        let [a, b, c] = face.map(|v| map[v as usize]);
        let rotations = [[a, b, c], [b, c, a], [c, a, b]];
        let is_degenerate = a == b || b == c || c == a;
        let is_new = !rotations.iter().any(|face| seen.contains(face));
        if options.keep_degenerate || (!is_degenerate && is_new) {
            seen.insert([a, b, c]);
            faces.push([a, b, c]);
            ids.push(t as u32);
            regions.extend(mesh.regions.as_ref().map(|regions| regions[t]));
        }
    }
    (faces, regions, ids)
}

fn expected_segments(mesh: &Mesh, options: &Options, map: &[u32]) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for segment in &mesh.segments {
        let ends = segment.ends.map(|v| map[v as usize]);
        let same = |s: &Segment| {
            (s.ends == ends || s.ends == [ends[1], ends[0]]) && s.marker == segment.marker
        };
        if options.keep_degenerate || (ends[0] != ends[1] && !segments.iter().any(same)) {
            segments.push(Segment {
                ends,
                marker: segment.marker,
            });
        }
    }
    segments
}

/// The mesh that the definition makes.
pub fn expected_mesh(mesh: &Mesh, options: &Options, definition: &Definition) -> Mesh {
    let Definition {
        map,
        representatives,
        members,
    } = definition;
    let is_mean = options.position == Position::Mean;
    let attributes = &mesh.attributes;
    fn of<T: Copy>(array: &[T], ids: &[u32]) -> Vec<T> {
        ids.iter().map(|&v| array[v as usize]).collect()
    }
    let points = members.iter().map(|ids| match ids[..] {
        [v] => mesh.points[v as usize],
        [v, ..] if !is_mean => mesh.points[v as usize],
        _ => {
            let all = of(&mesh.points, ids);
            let sum = all.iter().copied().reduce(|a, b| a + b);
            let mean = sum.expect("members") / ids.len() as f64;
            DVec3::from_array([0, 1, 2].map(|k| within(mean[k], all.iter().map(|p| p[k]))))
        }
    });
    let normals = attributes.normals.as_ref().map(|normals| {
        let normal = |ids: &Vec<u32>| match ids[..] {
            [v] => normals[v as usize],
            [v, ..] if !is_mean => normals[v as usize],
            [v, ref others @ ..]
                if others
                    .iter()
                    .all(|&w| normals[w as usize] == normals[v as usize]) =>
            {
                normals[v as usize]
            }
            _ => {
                let sum: DVec3 = of(normals, ids)
                    .into_iter()
                    .reduce(|a, b| a + b)
                    .expect("members");
                let length = (sum.x * sum.x + sum.y * sum.y + sum.z * sum.z).sqrt();
                if length == 0.0 {
                    DVec3::ZERO
                } else {
                    DVec3::new(sum.x / length, sum.y / length, sum.z / length)
                }
            }
        };
        members.iter().map(normal).collect()
    });
    let uvs = attributes.uvs.as_ref().map(|uvs| {
        let uv = |ids: &Vec<u32>| match ids[..] {
            [v] => uvs[v as usize],
            [v, ..] if !is_mean => uvs[v as usize],
            _ => {
                let all = of(uvs, ids);
                let sum = all.iter().copied().reduce(|a, b| a + b);
                let mean = sum.expect("members") / ids.len() as f64;
                [0, 1]
                    .map(|k| within(mean[k], all.iter().map(|uv| uv[k])))
                    .into()
            }
        };
        members.iter().map(uv).collect()
    });
    let colors = attributes.colors.as_ref().map(|colors| {
        let color = |ids: &Vec<u32>| {
            if !is_mean {
                return colors[ids[0] as usize];
            }
            [0, 1, 2, 3].map(|k| {
                let sum: f64 = ids.iter().map(|&v| f64::from(colors[v as usize][k])).sum();
                (sum / ids.len() as f64).round() as u8
            })
        };
        members.iter().map(color).collect()
    });
    let (faces, regions, face_ids) = expected_faces(mesh, options, map);
    let some = !representatives.is_empty();
    Mesh {
        points: points.collect(),
        regions: mesh
            .regions
            .as_ref()
            .map(|_| regions)
            .filter(|r| !r.is_empty()),
        faces: Faces::Triangles(faces),
        segments: expected_segments(mesh, options, map),
        attributes: VertexAttributes {
            normals: normals.filter(|_| some),
            colors: colors.filter(|_| some),
            uvs: uvs.filter(|_| some),
        },
        fields: match mesh.fields.is_empty() {
            true => MeshFields::default(),
            false => expected_fields(definition, is_mean, face_ids),
        },
        about: mesh.about.clone(),
    }
}

/// A mean, or the least or the largest of its numbers where rounding brought it beyond them.
fn within(mean: f64, numbers: impl Iterator<Item = f64> + Clone) -> f64 {
    let least = numbers.clone().fold(f64::INFINITY, f64::min);
    let most = numbers.fold(f64::NEG_INFINITY, f64::max);
    match mean {
        mean if mean < least => least,
        mean if mean > most => most,
        mean => mean,
    }
}

/// The fields `id`, `half` and `face` of the property test's meshes.
fn expected_fields(definition: &Definition, is_mean: bool, face_ids: Vec<u32>) -> MeshFields {
    let half = |ids: &Vec<u32>| match is_mean {
        true => ids.iter().map(|&v| f64::from(v) / 2.0).sum::<f64>() / ids.len() as f64,
        false => f64::from(ids[0]) / 2.0,
    };
    let halves = definition.members.iter().map(half).collect::<Vec<_>>();
    MeshFields {
        points: [
            Field::scalars("id", definition.representatives.clone()),
            Field::scalars("half", halves),
        ]
        .into_iter()
        .collect(),
        cells: [Field::scalars("face", face_ids)].into_iter().collect(),
        ..MeshFields::default()
    }
}

/// The locked vertices, edge by edge and face by face.
pub fn brute_locks(mesh: &Mesh, locks: &Locks) -> Vec<bool> {
    let mut locked = locks.vertices.clone();
    locked.resize(mesh.points.len(), false);
    if !locks.boundary {
        return locked;
    }
    let proper: Vec<&[u32]> = (0..mesh.faces.len())
        .map(|i| mesh.faces.get(i))
        .filter(|face| face.iter().collect::<BTreeSet<_>>().len() == face.len())
        .collect();
    let has_edge = |face: &[u32], a: u32, b: u32| {
        (0..face.len()).any(|i| {
            let ends = [face[i], face[(i + 1) % face.len()]];
            ends == [a, b] || ends == [b, a]
        })
    };
    for face in &proper {
        for i in 0..face.len() {
            let (a, b) = (face[i], face[(i + 1) % face.len()]);
            if proper.iter().filter(|other| has_edge(other, a, b)).count() == 1 {
                locked[a as usize] = true;
                locked[b as usize] = true;
            }
        }
    }
    locked
}
