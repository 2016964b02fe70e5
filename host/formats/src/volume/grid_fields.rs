//! Fields of a file's nodes and elements, as readers collect them.

use crate::fields::split;
use trioxide_mesh::fields::{Field, Fields, MeshFields};

/// Fields of a grid.
#[derive(Default)]
pub(crate) struct GridFields {
    /// Fields of the points.
    pub(crate) points: Vec<Field>,
    /// Fields of the file's elements, `count` of them.
    pub(crate) elements: Vec<Field>,
    pub(crate) count: usize,
    /// Fields of cells, of faces and of lines, if the reader separates them.
    pub(crate) lists: [Fields; 3],
}

impl GridFields {
    /// Numbers of all fields.
    pub(crate) fn numbers(&self) -> usize {
        let lists = self.lists.iter().flat_map(Fields::iter);
        let fields = self.points.iter().chain(&self.elements).chain(lists);
        fields.map(|field| field.values.len()).sum()
    }

    /// Fields of the points, and of two lists of elements with these ids in the file.
    pub(crate) fn into_mesh_fields(self, ids: [&Vec<u32>; 2]) -> MeshFields {
        let [mut cells, mut sides] = split(self.elements, self.count, ids.map(Vec::as_slice));
        let [of_cells, of_faces, _] = self.lists;
        of_cells.iter().for_each(|field| cells.push(field.clone()));
        of_faces.iter().for_each(|field| sides.push(field.clone()));
        MeshFields {
            points: self.points.into_iter().collect(),
            cells,
            sides,
        }
    }

    /// Appends the fields of another piece, and the ids of its elements to `sources`. Fields that do not have the same
    /// type in both pieces are dropped, and their names returned. A piece without points or elements may lack fields.
    pub(crate) fn append(
        &mut self,
        other: GridFields,
        points: [usize; 2],
        sources: &mut [Vec<u32>; 3],
        other_sources: &[Vec<u32>; 3],
    ) -> Vec<String> {
        let shift = self.count as u32;
        for (mine, its) in sources.iter_mut().zip(other_sources) {
            mine.extend(its.iter().map(|id| id + shift));
        }
        let mut lost = Vec::new();
        append(&mut self.points, other.points, points, &mut lost);
        let counts = [self.count, other.count];
        append(&mut self.elements, other.elements, counts, &mut lost);
        self.count += other.count;
        lost
    }
}

fn append(mine: &mut Vec<Field>, its: Vec<Field>, counts: [usize; 2], lost: &mut Vec<String>) {
    if counts[0] == 0 {
        *mine = its;
        return;
    }
    if counts[1] == 0 {
        return;
    }
    let before: Vec<String> = mine.iter().map(|field| field.name.clone()).collect();
    let mut appended = Vec::new();
    for field in its {
        let same = |other: &Field| other.name == field.name && other.components == field.components;
        match mine.iter().position(same) {
            Some(i) => {
                let name = field.name;
                match mine[i].values.append(field.values) {
                    None => appended.push(name),
                    Some(_) => lost.push(name),
                }
            }
            None => lost.push(field.name),
        }
    }
    mine.retain(|field| appended.contains(&field.name));
    lost.extend(before.into_iter().filter(|name| !appended.contains(name)));
    lost.sort();
    lost.dedup();
}
