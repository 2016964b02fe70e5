//! Cells that a weld folded over others.
//!
//! A cell without a positive volume is folded. The sign is exact for a tetrahedron, and that of a sum over the faces
//! for another cell. Of the other cells, two overlap if they lie on the same side of a common face. Cells that overlap
//! are taken by their volume, the largest first, of equal ones the lowest first: a cell stays if no cell that stays has
//! one of its sides. So every side of a face has one cell at most, and a second run drops nothing.

use std::collections::HashSet;

use rayon::slice::ParallelSliceMut;

use crate::mesh::NONE;
use crate::orient::is_ascending;
use crate::parallel;
use crate::volume::{CellKind, VolumeMesh, faces, key};

/// A side of a face: its vertices in ascending order, and in which of the two directions its cell sees them.
type Side = ([u32; 4], bool);

/// The numbers of elements that were dropped, and the old ids of the cells that are left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unfolded {
    /// Number of cells.
    pub cells: usize,
    /// Number of tagged faces that no cell has any more.
    pub tagged_faces: usize,
    /// Cells that are left, ascending.
    pub kept: Vec<u32>,
}

impl VolumeMesh {
    /// Drops folded cells, as the head of the module defines them, and the tagged faces that only they had, with their
    /// data. Cells are to be oriented: see [`turn_cells`](Self::turn_cells). `None` if there is none.
    ///
    /// # Panics
    /// If a vertex is out of range, or a field or a list of tags has another length than its elements.
    pub fn drop_folded(&mut self) -> Option<Unfolded> {
        let count = self.cells.len();
        let volumes = parallel::collect(count, |c| self.volume_of(self.cells.get(c)));
        let is_positive = |c: &u32| volumes[*c as usize] > 0.0;
        let mut kept: Vec<u32> = (0..count as u32).filter(is_positive).collect();
        let contested = self.contested(&kept);
        if !contested.is_empty() {
            let mut order = contested;
            order.sort_by(|&a, &b| {
                let [first, second] = [a, b].map(|c| volumes[c as usize]);
                second.total_cmp(&first).then(a.cmp(&b))
            });
            let mut taken: HashSet<Side> = HashSet::new();
            let mut goes = Vec::new();
            for c in order {
                let sides = sides_of(self.cells.get(c as usize));
                match sides.iter().any(|side| taken.contains(side)) {
                    true => goes.push(c),
                    false => taken.extend(sides),
                }
            }
            goes.sort_unstable();
            kept.retain(|c| goes.binary_search(c).is_err());
        }
        if kept.len() == count {
            return None;
        }
        let before = self.faces.len();
        self.keep_cells(&kept);
        Some(Unfolded {
            cells: count - kept.len(),
            tagged_faces: before - self.faces.len(),
            kept,
        })
    }

    /// The `cells` that have a side which another of them has, ascending.
    fn contested(&self, cells: &[u32]) -> Vec<u32> {
        let parts = parallel::map_pieces(cells.len(), parallel::GRAIN, |range| {
            let of = |&c: &u32| {
                sides_of(self.cells.get(c as usize))
                    .into_iter()
                    .map(move |s| (s, c))
            };
            cells[range].iter().flat_map(of).collect::<Vec<_>>()
        });
        let mut uses = parallel::concat(parts);
        uses.par_sort_unstable();
        let several = uses.chunk_by(|a, b| a.0 == b.0).filter(|all| all.len() > 1);
        let mut contested: Vec<u32> = several.flatten().map(|&(_, cell)| cell).collect();
        contested.sort_unstable();
        contested.dedup();
        contested
    }

    /// Keeps these cells, given in ascending order, and the tagged faces that one of them has.
    fn keep_cells(&mut self, kept: &[u32]) {
        let mut of_others: HashSet<[u32; 4]> = HashSet::new();
        let mut left = kept.iter().peekable();
        for (c, cell) in (0..).zip(self.cells.iter()) {
            if left.next_if_eq(&&c).is_none() {
                of_others.extend(sides_of(cell).into_iter().map(|(key, _)| key));
            }
        }
        for &c in kept {
            for (key, _) in sides_of(self.cells.get(c as usize)) {
                of_others.remove(&key);
            }
        }
        let is_kept =
            |&f: &u32| !of_others.contains(&key(self.faces.get(f as usize).iter().copied()));
        let faces: Vec<u32> = (0..self.faces.len() as u32).filter(is_kept).collect();
        self.keep(kept, &faces);
    }
}

/// The sides of a cell's faces.
fn sides_of(cell: &[u32]) -> Vec<Side> {
    let of_face = |places: &&[usize]| {
        let mut corners = [NONE; 4];
        let all = places.iter().map(|&k| cell[k]);
        corners
            .iter_mut()
            .zip(all)
            .for_each(|(corner, v)| *corner = v);
        let corners = &corners[..places.len()];
        (key(corners.iter().copied()), is_ascending(corners))
    };
    let all = CellKind::of(cell.len()).map_or(&[][..], faces);
    all.iter().map(of_face).collect()
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::fields::Field;
    use crate::volume::Cells;

    fn mesh(cells: Vec<[u32; 4]>) -> VolumeMesh {
        let count = cells.len() as i32;
        let corners = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, 1.0],
            [0.0, 0.0, 2.0],
            [0.0, 0.0, -1.0],
            [1.0, 1.0, 0.0],
        ];
        let mut mesh = VolumeMesh {
            points: corners.map(DVec3::from).into(),
            cells: Cells::Tetrahedra(cells),
            regions: Some((0..count).collect()),
            faces: vec![[0, 1, 2], [0, 1, 3]].into(),
            face_tags: vec![8, 9],
            fields: Default::default(),
            about: Default::default(),
        };
        mesh.fields
            .cells
            .push(Field::scalars("id", Vec::from_iter(0..count)));
        mesh
    }

    #[test]
    fn folded_cells_go() {
        // Of two on one side of a face the larger one stays, and the cell across. A flat and an inverted one go.
        let (small, large, across) = ([0, 1, 2, 3], [0, 1, 2, 4], [0, 2, 1, 5]);
        for (cells, kept) in [
            (vec![small, large, across], vec![1, 2]),
            (vec![large, small, across], vec![0, 2]),
            (vec![small, small], vec![0]),
            (vec![across, [0, 1, 2, 6], [0, 2, 1, 3], small], vec![0, 3]),
        ] {
            let mut folded = mesh(cells.clone());
            let unfolded = folded.drop_folded().expect("some go");
            assert_eq!(unfolded.kept, kept, "{cells:?}");
            assert_eq!(unfolded.cells, cells.len() - kept.len());
            let ids: Vec<i32> = kept.iter().map(|&c| c as i32).collect();
            assert_eq!(folded.regions, Some(ids.clone()));
            assert_eq!(folded.fields.cells.get("id").unwrap().values, ids.into());
            // The face 0-1-3 is of the small cell alone.
            let has_small = kept.iter().any(|&c| cells[c as usize] == small);
            assert_eq!(
                folded.face_tags,
                if has_small { vec![8, 9] } else { vec![8] }
            );
            assert_eq!(unfolded.tagged_faces, usize::from(!has_small));
            assert_eq!(folded.drop_folded(), None);
        }
        assert_eq!(mesh(vec![small, across]).drop_folded(), None);
    }
}
