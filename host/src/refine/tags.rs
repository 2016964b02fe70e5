//! Segments as tags of edges: a marker may be any number, 0 too, and an edge may be several segments, so an edge holds
//! the rank of its list of markers, from 1.

use std::collections::{BTreeSet, HashMap};

use super::error::{Error, Result};
use crate::mesh::Segment;

/// Segments of a mesh, each pair of vertices once.
pub struct Tags {
    /// The markers of an edge's segments, in their order: each list once, ascending.
    pub markers: Vec<Vec<i32>>,
    /// Vertex ids of each edge.
    pub ends: Vec<[u32; 2]>,
    /// One more than the rank of its markers.
    pub values: Vec<u32>,
}

impl Tags {
    /// The tags of these segments of a mesh with `vertices` vertices.
    ///
    /// # Errors
    /// [`Error::SegmentVertex`] for a vertex index out of range.
    pub fn new(segments: &[Segment], vertices: usize) -> Result<Self> {
        let mut ends = Vec::new();
        let mut ids = HashMap::new();
        // The edge and the marker of each segment.
        let mut markers = Vec::with_capacity(segments.len());
        for (i, segment) in segments.iter().enumerate() {
            let [a, b] = segment.ends;
            if a.max(b) as usize >= vertices {
                return Err(Error::SegmentVertex { segment: i });
            }
            let edge = *ids.entry((a.min(b), a.max(b))).or_insert_with(|| {
                ends.push([a, b]);
                ends.len() - 1
            });
            markers.push((edge, segment.marker));
        }
        markers.sort_by_key(|&(edge, _)| edge);
        let all: Vec<i32> = markers.iter().map(|&(_, marker)| marker).collect();
        let mut rest = &all[..];
        let lists = markers.chunk_by(|a, b| a.0 == b.0).map(|of_edge| {
            let list;
            (list, rest) = rest.split_at(of_edge.len());
            list
        });
        let lists: Vec<&[i32]> = lists.collect();
        let ranked: BTreeSet<&[i32]> = lists.iter().copied().collect();
        let ranked: Vec<&[i32]> = ranked.into_iter().collect();
        let rank = |list| ranked.binary_search(list).expect("every list is there");
        Ok(Tags {
            values: lists.iter().map(|list| 1 + rank(list) as u32).collect(),
            ends,
            markers: ranked.into_iter().map(<[i32]>::to_vec).collect(),
        })
    }
}

/// The segments of tagged edges, in the order of the edges: `tags` go with the `ends`, and are 0 or one more than the
/// rank of an edge's markers.
pub fn segments<T: TryInto<usize>>(
    markers: &[Vec<i32>],
    ends: impl IntoIterator<Item = [u32; 2]>,
    tags: impl IntoIterator<Item = T>,
) -> Vec<Segment> {
    let of_edge = |(ends, tag): ([u32; 2], T)| {
        let rank = tag.try_into().ok().and_then(|tag| tag.checked_sub(1));
        let markers = rank.map_or(&[][..], |rank| &markers[rank]);
        markers.iter().map(move |&marker| Segment { ends, marker })
    };
    ends.into_iter().zip(tags).flat_map(of_edge).collect()
}
