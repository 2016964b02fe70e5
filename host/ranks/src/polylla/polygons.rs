//! Polygons with ids of the whole mesh.

use trioxide_mesh::parallel;

use super::PIECE;
use crate::transport::offsets;

/// Some of a mesh's polygons, with ids of the whole mesh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Polygons {
    /// Smallest half-edge of each polygon, ascending.
    pub half_edges: Vec<u64>,
    /// Start of each polygon in `vertices`, and the end of the last.
    pub offsets: Vec<u64>,
    /// Vertices of all of them, each from the origin of its smallest half-edge.
    pub vertices: Vec<u64>,
    /// Region id of each, if the mesh has them.
    pub regions: Option<Vec<i32>>,
}

impl Polygons {
    /// Number of polygons.
    pub fn len(&self) -> usize {
        self.half_edges.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.half_edges.is_empty()
    }

    /// Vertices of a polygon.
    pub fn get(&self, i: usize) -> &[u64] {
        &self.vertices[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// The polygons with these places, in this order.
    pub(super) fn gather(&self, places: &[usize]) -> Self {
        let offsets = offsets(places.iter().map(|&i| self.get(i).len() as u64));
        let pieces = parallel::map_pieces(places.len(), PIECE, |range| {
            let vertices = places[range].iter().flat_map(|&i| self.get(i));
            vertices.copied().collect::<Vec<u64>>()
        });
        let regions = self.regions.as_ref();
        Self {
            half_edges: parallel::map(places, |&i| self.half_edges[i]),
            offsets,
            vertices: parallel::concat(pieces),
            regions: regions.map(|regions| parallel::map(places, |&i| regions[i])),
        }
    }

    pub(super) fn with_regions(has_regions: bool) -> Self {
        Self {
            offsets: vec![0],
            regions: has_regions.then(Vec::new),
            ..Self::default()
        }
    }

    pub(super) fn push(&mut self, half_edge: u64, vertices: &[u64], region: Option<i32>) {
        self.half_edges.push(half_edge);
        self.vertices.extend_from_slice(vertices);
        self.offsets.push(self.vertices.len() as u64);
        if let (Some(regions), Some(region)) = (&mut self.regions, region) {
            regions.push(region);
        }
    }

    /// The polygons that visit a vertex more than once.
    pub(super) fn weakly_simple(&self) -> Vec<usize> {
        let is_weak = |i: &usize| {
            let mut sorted = self.get(*i).to_vec();
            sorted.sort_unstable();
            sorted.windows(2).any(|pair| pair[0] == pair[1])
        };
        (0..self.len()).filter(is_weak).collect()
    }

    /// The polygons of all parts, in their order.
    pub(super) fn concat(parts: Vec<Self>, has_regions: bool) -> Self {
        let sizes = parts.iter().flat_map(|part| part.offsets.windows(2));
        let offsets = offsets(sizes.map(|ends| ends[1] - ends[0]));
        let (mut half_edges, mut vertices, mut regions) = (Vec::new(), Vec::new(), Vec::new());
        for part in parts {
            half_edges.push(part.half_edges);
            vertices.push(part.vertices);
            regions.extend(part.regions);
        }
        Self {
            half_edges: parallel::concat(half_edges),
            offsets,
            vertices: parallel::concat(vertices),
            regions: has_regions.then(|| parallel::concat(regions)),
        }
    }

    pub(super) fn push_from(&mut self, other: &Polygons, i: usize) {
        let region = other.regions.as_ref().map(|regions| regions[i]);
        self.push(other.half_edges[i], other.get(i), region);
    }
}
