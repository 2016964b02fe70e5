//! Elements from a table of whole numbers with a row for each.

use super::{Elements, Shape, Tags};
use crate::text::Fault;
use trioxide_mesh::parallel;

/// Tags of the elements of a [`Table`].
#[derive(Clone, Copy)]
pub(crate) enum Tag {
    /// The tags are in this column.
    Column(usize),
    /// All elements have this tag.
    All(i32),
}

/// Columns of a table of whole numbers, a row for each element.
pub(in crate::volume) struct Table<'a> {
    pub(in crate::volume) values: &'a [i64],
    /// Numbers in a row.
    pub(in crate::volume) width: usize,
    /// First column of the vertices.
    pub(in crate::volume) vertices: usize,
    /// Number of nodes after these, for an element of higher order: nodes that are not corners.
    pub(in crate::volume) side_nodes: usize,
    /// The elements' tags.
    pub(in crate::volume) tag: Tag,
}

impl Table<'_> {
    /// Appends the table's elements to `elements`. `index` maps a number to a vertex, or gives the reason why there is
    /// none. `offset` is a value's place in the file.
    pub(in crate::volume) fn read(
        &self,
        elements: &mut Elements,
        shape: Shape,
        index: impl Fn(i64) -> Result<u32, String> + Sync,
        fault: impl Fn(usize, String) -> Fault,
    ) -> Result<(), Fault> {
        let rows = self.values.len() / self.width;
        // The vertices in `size` columns from `first` on.
        let read_columns = |first: usize, size: usize| {
            let place = |i: usize| i / size * self.width + first + i % size;
            let vertex = |i| index(self.values[place(i)]).map_err(|reason| (i, reason));
            parallel::try_collect(rows * size, vertex)
                .map_err(|(i, reason)| fault(place(i), reason))
        };
        let size = shape.vertices();
        let found = read_columns(self.vertices, size)?;
        if self.side_nodes > 0 {
            let nodes = read_columns(self.vertices + size, self.side_nodes)?;
            elements.push_side_nodes(rows, &nodes);
        }
        let in_column;
        let tags = match self.tag {
            Tag::All(tag) => Tags::All(tag),
            Tag::Column(column) => {
                in_column = self.column(column, &fault)?;
                Tags::Each(&in_column)
            }
        };
        elements
            .push(shape, &found, tags)
            .map_err(|reason| fault(0, reason))
    }

    /// The tags in a column.
    pub(in crate::volume) fn column(
        &self,
        column: usize,
        fault: impl Fn(usize, String) -> Fault,
    ) -> Result<Vec<i32>, Fault> {
        let rows = self.values.chunks_exact(self.width).enumerate();
        rows.map(|(row, values)| {
            i32::try_from(values[column]).map_err(|_| {
                let reason = format!("tag {} has more than 32 bits", values[column]);
                fault(row * self.width + column, reason)
            })
        })
        .collect()
    }
}
