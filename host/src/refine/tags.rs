//! Segments as tags of edges: a marker may be any number, 0 too, so an edge holds its rank among the markers, from 1.

use std::collections::{BTreeSet, HashSet};

use super::error::{Error, Result};
use crate::mesh::Segment;

/// Segments of a mesh, each pair of vertices once.
pub struct Tags {
    /// Markers, ascending.
    pub markers: Vec<i32>,
    /// Vertex ids; of several segments between the same vertices the first counts.
    pub ends: Vec<[u32; 2]>,
    /// One more than the rank of its marker.
    pub values: Vec<u32>,
}

impl Tags {
    /// The tags of these segments of a mesh with `vertices` vertices.
    ///
    /// # Errors
    /// [`Error::SegmentVertex`] for a vertex index out of range.
    pub fn new(segments: &[Segment], vertices: usize) -> Result<Self> {
        let markers: BTreeSet<i32> = segments.iter().map(|segment| segment.marker).collect();
        let mut tags = Tags {
            markers: markers.into_iter().collect(),
            ends: Vec::new(),
            values: Vec::new(),
        };
        let mut seen = HashSet::new();
        for (i, segment) in segments.iter().enumerate() {
            let [a, b] = segment.ends;
            if a.max(b) as usize >= vertices {
                return Err(Error::SegmentVertex { segment: i });
            }
            if seen.insert((a.min(b), a.max(b))) {
                let rank = tags.markers.binary_search(&segment.marker);
                tags.ends.push([a, b]);
                tags.values
                    .push(1 + rank.expect("every marker is there") as u32);
            }
        }
        Ok(tags)
    }
}

/// The segments of tagged edges, in the order of the edges: `tags` go with the `ends`, and are 0 or one more than the
/// rank of a marker.
pub fn segments<T: TryInto<usize>>(
    markers: &[i32],
    ends: impl IntoIterator<Item = [u32; 2]>,
    tags: impl IntoIterator<Item = T>,
) -> Vec<Segment> {
    ends.into_iter()
        .zip(tags)
        .filter_map(|(ends, tag)| {
            let rank = tag.try_into().ok()?.checked_sub(1)?;
            Some(Segment {
                ends,
                marker: markers[rank],
            })
        })
        .collect()
}
