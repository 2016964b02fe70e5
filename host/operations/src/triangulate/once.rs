//! Segments along one another: each edge of the triangles is a piece of the first of its segments.

use std::collections::BTreeMap;

use rayon::slice::ParallelSliceMut;
use trioxide::mesh::Segment;

/// The pieces of segments, each edge once.
pub(super) struct Once {
    /// Indices of the pieces that stay, if some go.
    pub kept: Option<Vec<u32>>,
    /// The segment of each piece that goes, and that of the piece that stays there; ascending, each pair once.
    repeated: Vec<[u32; 2]>,
}

impl Once {
    /// Finds the pieces that are the first along their edge. `parents` are their segments, ascending.
    pub fn new(pieces: &[[u32; 2]], parents: &[u32]) -> Once {
        let mut along: Vec<([u32; 2], u32)> = (0..)
            .zip(pieces)
            .map(|(i, &[a, b])| ([a.min(b), a.max(b)], i))
            .collect();
        along.par_sort_unstable();
        let mut is_kept = vec![true; pieces.len()];
        let mut repeated = Vec::new();
        for same in along.chunk_by(|a, b| a.0 == b.0) {
            for &(_, i) in &same[1..] {
                is_kept[i as usize] = false;
                repeated.push([i, same[0].1].map(|i| parents[i as usize]));
            }
        }
        repeated.sort_unstable();
        repeated.dedup();
        let kept = (0..pieces.len() as u32).filter(|&i| is_kept[i as usize]);
        Once {
            kept: (!repeated.is_empty()).then(|| kept.collect()),
            repeated,
        }
    }

    /// Names the segments that lack pieces, and their markers where these differ; without `segments` there are none.
    pub fn note(&self, segments: &[Segment]) -> Option<String> {
        let mut later: Vec<u32> = self.repeated.iter().map(|pair| pair[0]).collect();
        later.dedup();
        let whole = match later.len() {
            0 => return None,
            1 => "1 segment runs along another before it, and is left out there".to_owned(),
            count => {
                format!("{count} segments run along others before them, and are left out there")
            }
        };
        let marker = |i: u32| segments.get(i as usize).map_or(0, |segment| segment.marker);
        let mut counts = BTreeMap::new();
        for pair in &self.repeated {
            let [its, first] = pair.map(marker);
            *counts.entry((first, its)).or_insert(0) += usize::from(its != first);
        }
        let differ = counts.into_iter().filter(|(_, count)| *count > 0);
        let differ: Vec<String> = differ
            .map(|((first, its), count)| format!("{first}, not {its} ({count})"))
            .collect();
        Some(match differ.is_empty() {
            true => whole,
            false => format!("{whole}: the marker is {}", differ.join("; ")),
        })
    }
}
