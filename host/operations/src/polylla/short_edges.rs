//! Data of meshes whose short edges collapse.

use trioxide::fields::{Carried, Fields};
use trioxide::mesh::{NONE, Polygons, Segment, gather};

/// Vertices that are left.
pub(super) struct Kept {
    /// The old id of each.
    pub(super) old_ids: Vec<u32>,
    /// For each old vertex the new id of itself, or of the vertex in its place.
    pub(super) new_ids: Vec<u32>,
}

/// The vertices at which segments with different markers or fields meet.
pub(super) fn pinned(segments: &[Segment], fields: &Fields) -> Vec<u32> {
    let are_same = |a: usize, b: usize| {
        segments[a].marker == segments[b].marker
            && fields.iter().all(|field| {
                let rows = |i| i * field.components..(i + 1) * field.components;
                rows(a)
                    .zip(rows(b))
                    .all(|(a, b)| match field.values.kind().is_float() {
                        true => field.values.f64(a).to_bits() == field.values.f64(b).to_bits(),
                        false => field.values.i64(a) == field.values.i64(b),
                    })
            })
    };
    let ends = segments.iter().enumerate();
    let mut ends: Vec<(u32, usize)> = ends
        .flat_map(|(i, segment)| segment.ends.map(|end| (end, i)))
        .collect();
    ends.sort_unstable();
    let others = ends.windows(2).filter_map(|pair| match pair {
        &[(v, a), (w, b)] if v == w && !are_same(a, b) => Some(v),
        _ => None,
    });
    let mut pinned: Vec<u32> = others.collect();
    pinned.dedup();
    pinned
}

/// Drops the vertices that are not in their own place, and the segments that lose their length.
pub(super) fn drop_vertices(
    polygons: &mut Polygons,
    segments: &mut Vec<Segment>,
    carried: &mut Carried,
    places: &[u32],
) -> Kept {
    let is_kept = |v: &u32| places[*v as usize] == *v;
    let old_ids: Vec<u32> = (0..places.len() as u32).filter(is_kept).collect();
    let mut new_ids = vec![NONE; places.len()];
    for (new, &old) in (0..).zip(&old_ids) {
        new_ids[old as usize] = new;
    }
    let new_ids = gather(&new_ids, places);
    polygons.vertices = gather(&new_ids, &polygons.vertices);
    for segment in segments.iter_mut() {
        segment.ends = segment.ends.map(|end| new_ids[end as usize]);
    }
    let has_length = |segment: &Segment| segment.ends[0] != segment.ends[1];
    let left: Vec<u32> = (0..)
        .zip(segments.iter())
        .filter_map(|(i, segment)| has_length(segment).then_some(i))
        .collect();
    segments.retain(has_length);
    let fields = &mut carried.fields;
    fields.sides = fields.sides.gather(&left);
    fields.points = fields.points.gather(&old_ids);
    carried.attributes = carried.attributes.gather(&old_ids);
    Kept { old_ids, new_ids }
}
