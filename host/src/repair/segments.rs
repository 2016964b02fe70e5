//! Segments of a repaired mesh.

use std::collections::{HashMap, HashSet};

use super::{Repaired, sorted};
use crate::mesh::Segment;

/// The segments that are left, with the new ids of their ends, and their old ids.
///
/// A segment whose ends collapsed into one vertex goes, one with an end that no face has any more, and of segments with
/// the same ends and the same marker all but the first. Where an end has copies, a segment lies along the edge of the
/// lowest face that has it.
///
/// # Panics
/// When an end is out of range of the `vertices` of the input.
pub fn carry_segments(
    segments: &[Segment],
    repaired: &Repaired,
    vertices: usize,
) -> (Vec<Segment>, Vec<u32>) {
    if segments.is_empty() {
        return Default::default();
    }
    let mut became: Vec<u32> = (0..vertices as u32).collect();
    // A vertex may collapse into one that collapses later.
    for &[gone, kept] in repaired.merged.iter().rev() {
        became[gone as usize] = became[kept as usize];
    }
    let mut new = vec![None; vertices];
    for (i, &old) in repaired.vertices.iter().enumerate().rev() {
        new[old as usize] = Some(i as u32);
    }
    let ends_of = |segment: &Segment| segment.ends.map(|v| became[v as usize]);
    let mut along: HashMap<[u32; 2], Option<[u32; 2]>> = HashMap::new();
    let is_copied = repaired.vertices.len() > new.iter().flatten().count();
    if is_copied {
        along = segments
            .iter()
            .map(|s| (sorted(ends_of(s)), None))
            .collect();
        for &[a, b, c] in &repaired.triangles {
            for ends in [[a, b], [b, c], [c, a]] {
                let old = ends.map(|v| repaired.vertices[v as usize]);
                if let Some(place) = along.get_mut(&sorted(old)) {
                    let ends = if old[0] < old[1] {
                        ends
                    } else {
                        [ends[1], ends[0]]
                    };
                    place.get_or_insert(ends);
                }
            }
        }
    }
    let mut seen = HashSet::new();
    let mut left = Vec::with_capacity(segments.len());
    let mut ids = Vec::with_capacity(segments.len());
    for (i, segment) in (0..).zip(segments) {
        let old @ [a, b] = ends_of(segment);
        let ends = match along.get(&sorted(old)) {
            Some(Some([low, high])) if a < b => Some([*low, *high]),
            Some(Some([low, high])) => Some([*high, *low]),
            _ => new[a as usize].zip(new[b as usize]).map(|(a, b)| [a, b]),
        };
        let Some(ends) = ends.filter(|[a, b]| a != b) else {
            continue;
        };
        if seen.insert((sorted(ends), segment.marker)) {
            let marker = segment.marker;
            left.push(Segment { ends, marker });
            ids.push(i);
        }
    }
    (left, ids)
}
