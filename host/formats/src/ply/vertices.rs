//! Vertices of a PLY file, in either encoding.

use glam::{DVec2, DVec3};

use super::header::Role;
use crate::colors::{self, Colors};
use crate::decimals::Decimals;
use trioxide_mesh::fields::NumberType;
use trioxide_mesh::mesh::VertexAttributes;
use trioxide_mesh::parallel;

/// A part of the vertices.
#[derive(Default)]
pub(super) struct VertexChunk {
    points: Vec<DVec3>,
    normals: Vec<DVec3>,
    colors: Vec<[f32; 4]>,
    uvs: Vec<DVec2>,
    /// Of coordinates that are text.
    pub(super) decimals: Decimals,
    /// Numbers of fields, vertex by vertex.
    pub(super) others: Vec<f64>,
}

/// A vertex under construction.
pub(super) struct Vertex {
    point: DVec3,
    normal: DVec3,
    color: [f32; 4],
    uv: DVec2,
}

impl Vertex {
    pub(super) fn new() -> Vertex {
        Vertex {
            point: DVec3::ZERO,
            normal: DVec3::ZERO,
            color: [0.0; 4],
            uv: DVec2::ZERO,
        }
    }

    /// Sets the value of a property. Properties without a role are ignored.
    pub(super) fn set(&mut self, role: Role, value: f64) {
        match role {
            Role::Coordinate(axis) => self.point[axis] = value,
            Role::Normal(axis) => self.normal[axis] = value,
            Role::Color(channel) => self.color[channel] = value as f32,
            Role::Uv(axis) => self.uv[axis] = value,
            _ => {}
        }
    }
}

/// Whether [`Vertex::set`] uses a property of this role.
pub(super) fn is_of_vertex(role: Role) -> bool {
    matches!(
        role,
        Role::Coordinate(_) | Role::Normal(_) | Role::Color(_) | Role::Uv(_)
    )
}

/// Returns `count` colours as bytes, from channels of these types; without a type for alpha they are opaque.
pub(super) fn bytes_of(
    kinds: [Option<NumberType>; 4],
    count: usize,
    channels: impl Fn(usize) -> [f32; 4] + Sync,
) -> Colors {
    let number = if kinds[3].is_some() { 4 } else { 3 };
    let fulls = kinds.map(|kind| match kind {
        Some(NumberType::F32 | NumberType::F64) => 1.0,
        Some(NumberType::U16) => 65535.0,
        _ => 255.0,
    });
    let usual = &fulls[..1];
    match fulls[..number].iter().all(|full| [*full] == *usual) {
        true => colors::bytes_of(count, usual, |i| (channels(i), number as u8)),
        // Channels of several types have no range together.
        false => colors::bytes_of(count, &[1.0], |i| {
            let channels = channels(i);
            (
                std::array::from_fn(|k| channels[k] / fulls[k]),
                number as u8,
            )
        }),
    }
}

impl VertexChunk {
    /// Appends a vertex. `attributes` selects the kept ones ([`super::Header::attributes`]).
    pub(super) fn push(&mut self, vertex: &Vertex, attributes: [bool; 3]) {
        let [normals, colors, uvs] = attributes;
        self.points.push(vertex.point);
        if normals {
            self.normals.push(vertex.normal);
        }
        if colors {
            self.colors.push(vertex.color);
        }
        if uvs {
            self.uvs.push(vertex.uv);
        }
    }

    /// Returns the vertices of all chunks, in order, with colours of these types.
    pub(super) fn concat(
        mut chunks: Vec<VertexChunk>,
        [normals, colors, uvs]: [bool; 3],
        kinds: [Option<NumberType>; 4],
        notes: &mut Vec<String>,
    ) -> (Vec<DVec3>, VertexAttributes) {
        let chunks = &mut chunks;
        let attributes = VertexAttributes {
            normals: normals.then(|| parallel::concat_lists(chunks, |chunk| &mut chunk.normals)),
            colors: colors.then(|| {
                let channels = parallel::concat_lists(chunks, |chunk| &mut chunk.colors);
                let colors = bytes_of(kinds, channels.len(), |i| channels[i]);
                notes.extend(colors.notes);
                colors.bytes
            }),
            uvs: uvs.then(|| parallel::concat_lists(chunks, |chunk| &mut chunk.uvs)),
        };
        let points = parallel::concat_lists(chunks, |chunk| &mut chunk.points);
        (points, attributes)
    }
}
