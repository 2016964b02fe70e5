//! Writes PLY files.

use std::io;
use std::ops::Range;
use std::path::Path;

use glam::DVec3;

use super::fields::Column;
use crate::Encoding;
use crate::atomic_file::{Out, Records, write_atomically};
use crate::fields::Number;
use crate::rows_out::{push_integer, write_records, write_sized};
use trioxide_mesh::mesh::{Faces, Mesh, Segment};
use trioxide_mesh::{Result, parallel};

pub(crate) fn write(path: &Path, mesh: &Mesh, encoding: Encoding) -> Result<()> {
    write_atomically(path, |file| match encoding {
        // Compressed was refused earlier: PLY has no such encoding.
        Encoding::Binary | Encoding::Compressed => Body::<Little>::of(mesh).write(file),
        Encoding::BigEndian => Body::<Big>::of(mesh).write(file),
        Encoding::Text => Body::<Text>::of(mesh).write(file),
    })
}

/// An encoding of numbers.
trait Numbers: Sync {
    const NAME: &'static str;
    /// Whether numbers have their representation in memory.
    const IS_MEMORY: bool = false;
    fn number(buffer: &mut Vec<u8>, number: Number, bytes: usize);
    fn integer(buffer: &mut Vec<u8>, value: i64, bytes: usize) {
        Self::number(buffer, Number::Integer(value), bytes);
    }
    fn float(buffer: &mut Vec<u8>, value: f64, is_short: bool) {
        match is_short {
            true => Self::number(buffer, Number::Single(value as f32), 4),
            false => Self::number(buffer, Number::Double(value), 8),
        }
    }
    fn end_row(_buffer: &mut Vec<u8>) {}
}

struct Little;
struct Big;
struct Text;

impl Numbers for Little {
    const NAME: &'static str = "binary_little_endian";
    const IS_MEMORY: bool = cfg!(target_endian = "little");

    fn number(buffer: &mut Vec<u8>, number: Number, bytes: usize) {
        number.push_bytes(buffer, bytes, false);
    }
}

impl Numbers for Big {
    const NAME: &'static str = "binary_big_endian";

    fn number(buffer: &mut Vec<u8>, number: Number, bytes: usize) {
        number.push_bytes(buffer, bytes, true);
    }
}

impl Numbers for Text {
    const NAME: &'static str = "ascii";

    fn number(buffer: &mut Vec<u8>, number: Number, _bytes: usize) {
        number.push_text(buffer);
        buffer.push(b' ');
    }

    fn float(buffer: &mut Vec<u8>, value: f64, _is_short: bool) {
        Self::number(buffer, Number::Double(value), 8);
    }

    fn end_row(buffer: &mut Vec<u8>) {
        *buffer.last_mut().expect("a row has numbers") = b'\n';
    }
}

/// Bytes of the length of a face with at most `longest` vertices: the types that most programs read, if they are wide
/// enough.
fn bytes_of_length(longest: usize) -> usize {
    match longest <= usize::from(u8::MAX) {
        true => 1,
        false => 4,
    }
}

/// A mesh, and the types of its numbers.
struct Body<'a, N> {
    mesh: &'a Mesh,
    /// Announced numbers of vertices and faces.
    counts: [usize; 2],
    /// Bytes of the length of a face.
    length: usize,
    /// Whether normals and texture coordinates are `float`.
    short_normals: bool,
    short_uvs: bool,
    /// Whether a colour is not opaque.
    has_alpha: bool,
    vertex_fields: Vec<Column<'a>>,
    face_fields: Vec<Column<'a>>,
    numbers: std::marker::PhantomData<N>,
}

impl<'a, N: Numbers> Body<'a, N> {
    fn of(mesh: &'a Mesh) -> Self {
        let longest = match &mesh.faces {
            Faces::Triangles(_) => 3,
            Faces::Polygons(polygons) => polygons.iter().map(<[u32]>::len).max().unwrap_or(0),
        };
        let is_short = |x: f64| f64::from(x as f32).to_bits() == x.to_bits();
        let attributes = &mesh.attributes;
        let are_short = |vector: &DVec3| vector.to_array().into_iter().all(is_short);
        let [vertex_fields, face_fields] = Column::of_mesh(mesh);
        Body {
            mesh,
            counts: [mesh.points.len(), mesh.faces.len()],
            length: bytes_of_length(longest),
            short_normals: attributes
                .normals
                .as_ref()
                .is_some_and(|n| parallel::all(n, are_short)),
            short_uvs: attributes.uvs.as_ref().is_some_and(|uvs| {
                parallel::all(uvs, |uv| uv.to_array().into_iter().all(is_short))
            }),
            has_alpha: attributes
                .colors
                .as_ref()
                .is_some_and(|colors| parallel::any(colors, |color| color[3] != u8::MAX)),
            vertex_fields,
            face_fields,
            numbers: std::marker::PhantomData,
        }
    }

    /// The header after its comments.
    fn properties(&self) -> String {
        let attributes = &self.mesh.attributes;
        let [points, faces] = self.counts;
        let mut properties = String::new();
        let mut property = |kind: &str, names: &[&str]| {
            for name in names {
                properties += &format!("property {kind} {name}\n");
            }
        };
        let float = |is_short| if is_short { "float" } else { "double" };
        property("double", &["x", "y", "z"]);
        if attributes.normals.is_some() {
            property(float(self.short_normals), &["nx", "ny", "nz"]);
        }
        if attributes.colors.is_some() {
            property(
                "uchar",
                &["red", "green", "blue", "alpha"][..3 + usize::from(self.has_alpha)],
            );
        }
        if attributes.uvs.is_some() {
            property(float(self.short_uvs), &["s", "t"]);
        }
        properties.extend(self.vertex_fields.iter().map(Column::properties));
        let length = if self.length == 1 { "uchar" } else { "uint" };
        let is_signed = i32::try_from(points).is_ok();
        let index = if is_signed { "int" } else { "uint" };
        let mut header = format!(
            "element vertex {}\n{properties}\
             element face {}\nproperty list {length} {index} vertex_indices\n",
            points, faces
        );
        if self.mesh.regions.is_some() {
            header += "property int region\n";
        }
        header.extend(self.face_fields.iter().map(Column::properties));
        header + "end_header\n"
    }

    fn write_header(&self, out: &mut dyn Out) -> io::Result<()> {
        write!(out, "ply\nformat {} 1.0\ncomment trioxide\n", N::NAME)?;
        for texture in &self.mesh.about.textures {
            let name: String = texture
                .chars()
                .map(|c| if c.is_control() { '_' } else { c })
                .collect();
            writeln!(out, "comment TextureFile {name}")?;
        }
        let segments = &self.mesh.segments;
        let [points, faces] = self.counts;
        if !segments.is_empty() {
            writeln!(
                out,
                "comment segments {} vertices {points} faces {faces}",
                segments.len()
            )?;
        }
        write_records(out, segments.len(), |buffer, i| {
            let Segment { ends, marker } = segments[i];
            buffer.extend_from_slice(b"comment segment ");
            for end in ends {
                push_integer(buffer, end);
                buffer.push(b' ');
            }
            push_integer(buffer, marker);
            buffer.push(b'\n');
        })?;
        out.write_all(self.properties().as_bytes())
    }

    fn write(&self, out: &mut dyn Out) -> io::Result<()> {
        self.write_header(out)?;
        self.write_vertices(out)?;
        self.write_faces(out)
    }

    fn write_vertices(&self, out: &mut dyn Out) -> io::Result<()> {
        let mesh = self.mesh;
        let attributes = &mesh.attributes;
        let is_bare = attributes == &Default::default() && self.vertex_fields.is_empty();
        if N::IS_MEMORY && is_bare {
            return out.write_all(bytemuck::cast_slice(&mesh.points));
        }
        write_records(out, mesh.points.len(), |buffer, i| {
            self.push_vertex(buffer, i)
        })
    }

    fn write_faces(&self, out: &mut dyn Out) -> io::Result<()> {
        let mesh = self.mesh;
        let are_bare_faces = mesh.regions.is_none() && self.face_fields.is_empty();
        match &mesh.faces {
            Faces::Triangles(triangles) if N::IS_MEMORY && are_bare_faces => {
                let records = Records {
                    count: triangles.len(),
                    bytes: &|range| 13 * range.len(),
                    make: &|bytes, range| {
                        let records = bytes.chunks_exact_mut(13);
                        for (record, triangle) in records.zip(&triangles[range]) {
                            record[0] = 3;
                            record[1..].copy_from_slice(bytemuck::cast_slice(triangle));
                        }
                    },
                };
                write_sized(out, &records)?;
            }
            Faces::Polygons(polygons) if N::IS_MEMORY && are_bare_faces => {
                let (length, ends) = (self.length, &polygons.offsets);
                let records = Records {
                    count: polygons.len(),
                    bytes: &|range| {
                        length * range.len() + 4 * (ends[range.end] - ends[range.start]) as usize
                    },
                    make: &|mut bytes, range| {
                        for polygon in range.map(|i| polygons.get(i)) {
                            let record = bytes.split_off_mut(..length + 4 * polygon.len());
                            let (head, corners) = record.expect("room").split_at_mut(length);
                            head.copy_from_slice(&polygon.len().to_le_bytes()[..length]);
                            corners.copy_from_slice(bytemuck::cast_slice(polygon));
                        }
                    },
                };
                write_sized(out, &records)?;
            }
            faces => write_records(out, faces.len(), |buffer, i| {
                let face = faces.get(i);
                N::integer(buffer, face.len() as i64, self.length);
                face.iter()
                    .for_each(|v| N::integer(buffer, i64::from(*v), 4));
                if let Some(regions) = &mesh.regions {
                    N::integer(buffer, i64::from(regions[i]), 4);
                }
                for field in &self.face_fields {
                    field.numbers(i, |number, bytes| N::number(buffer, number, bytes));
                }
                N::end_row(buffer);
            })?,
        }
        Ok(())
    }

    fn push_vertex(&self, buffer: &mut Vec<u8>, i: usize) {
        let attributes = &self.mesh.attributes;
        let mut floats = |values: &[f64], is_short| {
            values
                .iter()
                .for_each(|value| N::float(buffer, *value, is_short));
        };
        floats(&self.mesh.points[i].to_array(), false);
        if let Some(normals) = &attributes.normals {
            floats(&normals[i].to_array(), self.short_normals);
        }
        if let Some(colors) = &attributes.colors {
            for channel in &colors[i][..3 + usize::from(self.has_alpha)] {
                N::integer(buffer, i64::from(*channel), 1);
            }
        }
        if let Some(uvs) = &attributes.uvs {
            let uv = uvs[i].to_array();
            uv.iter()
                .for_each(|value| N::float(buffer, *value, self.short_uvs));
        }
        for field in &self.vertex_fields {
            field.numbers(i, |number, bytes| N::number(buffer, number, bytes));
        }
        N::end_row(buffer);
    }
}

/// A binary file that several processes write, each a part of the vertices and of the faces: byte for byte the file of
/// the whole mesh.
#[derive(Clone, Debug)]
pub struct SharedFile {
    /// Vertices and faces of the whole mesh.
    pub counts: [usize; 2],
    /// Most vertices of a face.
    pub longest: usize,
    /// Whether the faces have regions.
    pub has_regions: bool,
    /// All segments of the mesh.
    pub segments: Vec<Segment>,
}

impl SharedFile {
    fn body<'a>(&self, part: &'a Mesh) -> Body<'a, Little> {
        Body {
            counts: self.counts,
            length: bytes_of_length(self.longest),
            ..Body::of(part)
        }
    }

    /// The bytes before the first vertex.
    ///
    /// # Errors
    /// None: it writes to memory.
    pub fn header(&self) -> io::Result<Vec<u8>> {
        let mut header = Vec::new();
        let mesh = Mesh {
            segments: self.segments.clone(),
            regions: self.has_regions.then(Vec::new),
            ..Mesh::default()
        };
        self.body(&mesh).write_header(&mut header)?;
        Ok(header)
    }

    /// Bytes of `vertices` vertices.
    pub fn vertex_bytes(&self, vertices: u64) -> u64 {
        vertices * size_of::<DVec3>() as u64
    }

    /// Bytes of `faces` faces with `corners` vertices in total.
    pub fn face_bytes(&self, faces: u64, corners: u64) -> u64 {
        let beside = bytes_of_length(self.longest) + 4 * usize::from(self.has_regions);
        faces * beside as u64 + 4 * corners
    }

    /// Writes the vertices of a part.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_vertices(
        &self,
        out: &mut dyn Out,
        count: usize,
        point: impl Fn(usize) -> DVec3 + Sync,
    ) -> io::Result<()> {
        const BYTES: usize = size_of::<DVec3>();
        let records = Records {
            count,
            bytes: &|range| BYTES * range.len(),
            make: &|bytes, range| {
                for (i, record) in range.zip(bytes.chunks_exact_mut(BYTES)) {
                    let coordinates = point(i).to_array().map(f64::to_le_bytes);
                    record.copy_from_slice(coordinates.as_flattened());
                }
            },
        };
        write_sized(out, &records)
    }

    /// Writes the triangles of a part. For a range of them, `rows` gives the vertices of each, by their ids in the
    /// whole mesh, and its region, which is written if the file has regions.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_triangles<R: Iterator<Item = ([u32; 3], i32)>>(
        &self,
        out: &mut dyn Out,
        count: usize,
        rows: impl Fn(Range<usize>) -> R + Sync,
    ) -> io::Result<()> {
        let length = bytes_of_length(self.longest);
        let bytes = self.face_bytes(1, 3) as usize;
        let records = Records {
            count,
            bytes: &|range| bytes * range.len(),
            make: &|all, range| {
                for (record, (corners, region)) in all.chunks_exact_mut(bytes).zip(rows(range)) {
                    let (head, numbers) = record.split_at_mut(length);
                    head.copy_from_slice(&3_u32.to_le_bytes()[..length]);
                    let (vertices, of_region) = numbers.split_at_mut(12);
                    vertices.copy_from_slice(corners.map(u32::to_le_bytes).as_flattened());
                    if self.has_regions {
                        of_region.copy_from_slice(&region.to_le_bytes());
                    }
                }
            },
        };
        write_sized(out, &records)
    }

    /// Writes the faces of a part. Vertices have the ids of the whole mesh.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_faces(&self, out: &mut dyn Out, part: &Mesh) -> io::Result<()> {
        self.body(part).write_faces(out)
    }
}
