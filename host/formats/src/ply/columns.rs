//! Records of equal size in a binary PLY file, read in parallel.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use glam::{DVec2, DVec3};

use super::fields;
use super::header::{Element, Kind, Order, Role};
use super::vertices::bytes_of;
use crate::text::whole;
use crate::volume::bytes::read_f64;
use trioxide_mesh::fields::{Fields, NumberType};
use trioxide_mesh::mesh::{Faces, Polygons, VertexAttributes};
use trioxide_mesh::parallel;

/// Records that one task reads.
const RECORDS: usize = if cfg!(test) { 4 } else { 1 << 14 };

/// Vertices without lists: `size` bytes each.
pub(super) struct VertexColumns<'a> {
    pub(super) element: &'a Element,
    pub(super) bytes: &'a [u8],
    pub(super) size: usize,
    pub(super) endian: Order,
}

/// Type of a property and its offset in the record.
type Column = (NumberType, usize);

impl VertexColumns<'_> {
    /// Returns the points and these attributes.
    pub(super) fn read(
        &self,
        attributes: [bool; 3],
        notes: &mut Vec<String>,
    ) -> (Vec<DVec3>, VertexAttributes) {
        let [has_normals, has_colors, has_uvs] = attributes;
        let points = self.gather([0, 1, 2].map(Role::Coordinate), DVec3::from_array);
        let attributes = VertexAttributes {
            normals: has_normals
                .then(|| self.gather([0, 1, 2].map(Role::Normal), DVec3::from_array)),
            colors: has_colors.then(|| self.colors(notes)),
            uvs: has_uvs.then(|| self.gather([0, 1].map(Role::Uv), DVec2::from_array)),
        };
        (points, attributes)
    }

    /// The fields: numbers without a special role.
    pub(super) fn fields(&self) -> Fields {
        let mut offsets = Vec::new();
        let mut offset = 0;
        for property in &self.element.properties {
            if let Kind::Scalar(scalar) = property.kind {
                if property.role == Role::Field {
                    offsets.push(offset);
                }
                offset += scalar.size();
            }
        }
        fields::of_records(self.element, self.bytes, self.size, &offsets, self.endian)
    }

    fn column(&self, role: Role) -> Option<Column> {
        let mut offset = 0;
        for property in &self.element.properties {
            if let Kind::Scalar(scalar) = property.kind {
                if property.role == role {
                    return Some((scalar, offset));
                }
                offset += scalar.size();
            }
        }
        None
    }

    /// The numbers of the properties with these roles, for every vertex; 0 for a missing one.
    fn gather<const N: usize, T: Send>(
        &self,
        roles: [Role; N],
        make: impl Fn([f64; N]) -> T + Sync,
    ) -> Vec<T> {
        let columns = roles.map(|role| self.column(role));
        // If all have one of the usual types, no branch per number.
        macro_rules! uniform {
            ($type:ty, $from_bytes:path, $scalar:expr) => {
                if let Some(offsets) = all_are(&columns, $scalar) {
                    let number = |row: &[u8], offset: usize| {
                        let bytes = row[offset..].first_chunk().expect("the size was checked");
                        f64::from($from_bytes(*bytes))
                    };
                    return parallel::map_chunks(self.bytes, self.size, |row| {
                        make(offsets.map(|offset| number(row, offset)))
                    });
                }
            };
        }
        match self.endian {
            Order::Little => {
                uniform!(f32, f32::from_le_bytes, NumberType::F32);
                uniform!(f64, f64::from_le_bytes, NumberType::F64);
            }
            Order::Big => {
                uniform!(f32, f32::from_be_bytes, NumberType::F32);
                uniform!(f64, f64::from_be_bytes, NumberType::F64);
            }
        }
        let number = |row: &[u8], column: Option<Column>| match column {
            Some((scalar, offset)) => read_f64(scalar, &row[offset..], self.endian),
            None => 0.0,
        };
        parallel::map_chunks(self.bytes, self.size, |row| {
            make(columns.map(|column| number(row, column)))
        })
    }

    fn colors(&self, notes: &mut Vec<String>) -> Vec<[u8; 4]> {
        let columns = [0, 1, 2, 3].map(|channel| self.column(Role::Color(channel)));
        let are_bytes =
            |column: &Option<Column>| matches!(column, None | Some((NumberType::U8, _)));
        if columns.iter().all(are_bytes) {
            return parallel::map_chunks(self.bytes, self.size, |row| {
                columns.map(|column| column.map_or(u8::MAX, |(_, offset)| row[offset]))
            });
        }
        let channels = |i: usize| {
            let row = &self.bytes[i * self.size..(i + 1) * self.size];
            let number = |(scalar, offset)| read_f64(scalar, &row[offset..], self.endian) as f32;
            columns.map(|column| column.map_or(0.0, number))
        };
        let count = self.bytes.len() / self.size;
        let colors = bytes_of(self.element.color_kinds(), count, channels);
        notes.extend(colors.notes);
        colors.bytes
    }
}

/// The offsets of the columns, if all exist and have the type `scalar`.
fn all_are<const N: usize>(
    columns: &[Option<Column>; N],
    scalar: NumberType,
) -> Option<[usize; N]> {
    let mut offsets = [0; N];
    for (offset, column) in offsets.iter_mut().zip(columns) {
        match column {
            Some((other, at)) if *other == scalar => *offset = *at,
            _ => return None,
        }
    }
    Some(offsets)
}

/// Faces that all have as many vertices as the first one, with their regions, their fields and their number of bytes.
/// `None` if sizes differ, types are unusual, or a face is faulty: then the caller reads them one by one and finds the
/// fault.
pub(super) fn read_equal_faces(
    element: &Element,
    bytes: &[u8],
    endian: Order,
    vertices: usize,
) -> Option<(Faces, Vec<i32>, Fields, usize)> {
    let layout = FaceLayout::new(element, bytes, endian)?;
    let length = element.count.checked_mul(layout.size)?;
    let records = bytes.get(..length)?;
    let corners = element.count.checked_mul(layout.corners)?;
    if corners >= u32::MAX as usize {
        return None;
    }
    let faces = if layout.corners == 3 {
        let mut triangles: Vec<[u32; 3]> = parallel::zeroed(element.count);
        layout.read(records, triangles.as_flattened_mut(), vertices)?;
        Faces::Triangles(triangles)
    } else {
        let mut polygons = Polygons {
            offsets: (0..=corners as u32).step_by(layout.corners).collect(),
            vertices: parallel::zeroed(corners),
        };
        layout.read(records, &mut polygons.vertices, vertices)?;
        Faces::Polygons(polygons)
    };
    let regions = match layout.region {
        None => Vec::new(),
        Some(column) => layout.regions(records, column)?,
    };
    let fields = fields::of_records(element, records, layout.size, &layout.fields, endian);
    Some((faces, regions, fields, length))
}

/// Corners of triangles, and their regions if the file has them.
pub type Triangles = (Vec<[u32; 3]>, Option<Vec<i32>>);

/// A range of the faces, if all are triangles of usual types without fields. `None` if they are not, or if one is
/// faulty.
pub(super) struct TriangleColumns(FaceLayout);

impl TriangleColumns {
    /// The layout, by the first face of all, whose bytes are `bytes`.
    pub(super) fn new(element: &Element, bytes: &[u8], endian: Order) -> Option<Self> {
        let layout = FaceLayout::new(element, bytes, endian)?;
        let length = element.count.checked_mul(layout.size)?;
        let is_plain = layout.corners == 3 && layout.fields.is_empty();
        (is_plain && bytes.len() == length).then_some(Self(layout))
    }

    /// The triangles of a range of all faces, and their regions.
    pub(super) fn read(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        vertices: usize,
    ) -> Option<Triangles> {
        let layout = &self.0;
        let records = &bytes[layout.size * range.start..layout.size * range.end];
        let mut triangles: Vec<[u32; 3]> = parallel::zeroed(range.len());
        layout.read(records, triangles.as_flattened_mut(), vertices)?;
        let regions = match layout.region {
            None => None,
            Some(column) => Some(layout.regions(records, column)?),
        };
        Some((triangles, regions))
    }
}

/// The layout of a face's record, if all faces have the same number of vertices.
struct FaceLayout {
    /// The length of the list.
    length: Column,
    /// Number of vertices, and the offset of the first.
    corners: usize,
    first: usize,
    item: NumberType,
    region: Option<Column>,
    /// Offsets of the fields.
    fields: Vec<usize>,
    /// Bytes of a record.
    size: usize,
    endian: Order,
}

impl FaceLayout {
    fn new(element: &Element, bytes: &[u8], endian: Order) -> Option<FaceLayout> {
        let (mut size, mut list, mut region) = (0, None, None);
        let mut fields = Vec::new();
        for property in &element.properties {
            match (property.role, property.kind) {
                (Role::Corners, Kind::List { count, item })
                    if matches!(item, NumberType::I32 | NumberType::U32) =>
                {
                    let length = bytes.get(size..size + count.size())?;
                    let corners = usize::try_from(whole(read_f64(count, length, endian))?).ok()?;
                    let first = size + count.size();
                    list = Some(((count, size), corners, first, item));
                    size = corners.checked_mul(item.size())?.checked_add(first)?;
                }
                (role, Kind::Scalar(scalar)) => {
                    if role == Role::Region {
                        region = Some((scalar, size));
                    }
                    if role == Role::Field {
                        fields.push(size);
                    }
                    size = size.checked_add(scalar.size())?;
                }
                _ => return None,
            }
        }
        let (length, corners, first, item) = list?;
        (corners >= 3 && element.count > 0).then_some(FaceLayout {
            length,
            corners,
            first,
            item,
            region,
            fields,
            size,
            endian,
        })
    }

    /// The regions of all records. `None` if one is no whole number in range.
    fn regions(&self, records: &[u8], (scalar, offset): Column) -> Option<Vec<i32>> {
        let region = |i: usize| {
            let value = read_f64(scalar, &records[i * self.size + offset..], self.endian);
            whole(value)
                .and_then(|value| i32::try_from(value).ok())
                .ok_or(())
        };
        parallel::try_collect(records.len() / self.size, region).ok()
    }

    /// Reads the vertices of all records into `out`. `None` for a face with another number of vertices, or with a
    /// vertex out of range.
    fn read(&self, records: &[u8], out: &mut [u32], vertices: usize) -> Option<()> {
        // As an unsigned number, a negative index is large.
        let limit = match self.item {
            NumberType::I32 => vertices.min(1 << 31),
            _ => vertices,
        };
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        let is_fine = match (self.corners, self.endian) {
            (3, Order::Little) => self.read_all(records, out, 3, limit, u32::from_le_bytes),
            (3, Order::Big) => self.read_all(records, out, 3, limit, u32::from_be_bytes),
            (corners, Order::Little) => {
                self.read_all(records, out, corners, limit, u32::from_le_bytes)
            }
            (corners, Order::Big) => {
                self.read_all(records, out, corners, limit, u32::from_be_bytes)
            }
        };
        is_fine.then_some(())
    }

    #[inline(always)]
    fn read_all(
        &self,
        records: &[u8],
        out: &mut [u32],
        corners: usize,
        limit: u32,
        index: impl Fn([u8; 4]) -> u32 + Sync,
    ) -> bool {
        let is_fine = AtomicBool::new(true);
        let (scalar, at) = self.length;
        let has_length = |record: &[u8]| match scalar {
            NumberType::U8 | NumberType::I8 => usize::from(record[at]) == corners,
            _ => read_f64(scalar, &record[at..], self.endian) == corners as f64,
        };
        parallel::for_chunks_mut(out, corners * RECORDS, |k, out| {
            let mut all_fine = true;
            let records = records[k * self.size * RECORDS..].chunks_exact(self.size);
            for (out, record) in out.chunks_exact_mut(corners).zip(records) {
                all_fine &= has_length(record);
                let items = record[self.first..self.first + 4 * corners].as_chunks().0;
                for (out, item) in out.iter_mut().zip(items) {
                    *out = index(*item);
                    all_fine &= *out < limit;
                }
            }
            if !all_fine {
                is_fine.store(false, Ordering::Relaxed);
            }
        });
        is_fine.into_inner()
    }
}
