//! Vertices of a PLY file, in either encoding.

use glam::{DVec2, DVec3};

use super::header::{Kind, Role};
use trioxide_mesh::fields::NumberType;
use trioxide_mesh::mesh::VertexAttributes;
use trioxide_mesh::parallel;

/// A part of the vertices.
#[derive(Default)]
pub(super) struct VertexChunk {
    points: Vec<DVec3>,
    normals: Vec<DVec3>,
    colors: Vec<[u8; 4]>,
    uvs: Vec<DVec2>,
    /// Numbers of fields, vertex by vertex.
    pub(super) others: Vec<f64>,
}

/// A vertex under construction.
pub(super) struct Vertex {
    point: DVec3,
    normal: DVec3,
    color: [u8; 4],
    uv: DVec2,
}

impl Vertex {
    pub(super) fn new() -> Vertex {
        Vertex {
            point: DVec3::ZERO,
            normal: DVec3::ZERO,
            color: [0, 0, 0, u8::MAX],
            uv: DVec2::ZERO,
        }
    }

    /// Sets the value of a property. Properties without a role are ignored.
    pub(super) fn set(&mut self, role: Role, kind: Kind, value: f64) {
        match (role, kind) {
            (Role::Coordinate(axis), _) => self.point[axis] = value,
            (Role::Normal(axis), _) => self.normal[axis] = value,
            (Role::Color(channel), Kind::Scalar(scalar)) => {
                self.color[channel] = channel_value(scalar, value);
            }
            (Role::Uv(axis), _) => self.uv[axis] = value,
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

/// A channel of a colour from 0 to 255: floats run from 0 to 1, 16-bit integers to 65535, others to 255.
pub(super) fn channel_value(scalar: NumberType, value: f64) -> u8 {
    // The conversion to an integer saturates, and gives 0 for NaN.
    match scalar {
        NumberType::U8 => value as u8,
        NumberType::F32 | NumberType::F64 => (255.0 * value).round() as u8,
        NumberType::U16 => (value / 257.0).round() as u8,
        _ => value.round() as u8,
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

    /// The vertices of all chunks, in order.
    pub(super) fn concat(
        mut chunks: Vec<VertexChunk>,
        [normals, colors, uvs]: [bool; 3],
    ) -> (Vec<DVec3>, VertexAttributes) {
        let chunks = &mut chunks;
        let attributes = VertexAttributes {
            normals: normals.then(|| parallel::concat_lists(chunks, |chunk| &mut chunk.normals)),
            colors: colors.then(|| parallel::concat_lists(chunks, |chunk| &mut chunk.colors)),
            uvs: uvs.then(|| parallel::concat_lists(chunks, |chunk| &mut chunk.uvs)),
        };
        let points = parallel::concat_lists(chunks, |chunk| &mut chunk.points);
        (points, attributes)
    }
}
