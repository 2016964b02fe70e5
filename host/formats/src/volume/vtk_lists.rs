//! Lists of vertices in a legacy `.vtk` file, in the layouts before version 5.1 and since.

use super::bytes::Kind;
use super::vtk_reader::Reader;
use crate::text::{Fault, Parsed};

/// Keywords of a POLYDATA's lists, and VTK's type of their cells, in the order in which cell arrays count them.
pub(super) const POLYDATA: [(&str, i64); 4] = [
    ("VERTICES", 2),
    ("LINES", 4),
    ("POLYGONS", 7),
    ("TRIANGLE_STRIPS", 6),
];

/// Cells as lists of vertices.
#[derive(Default)]
pub(crate) struct Lists {
    /// Its offset in the file.
    pub(crate) at: usize,
    /// Ends of the cells in the connectivity, after the start of the first cell.
    offsets: Vec<i64>,
    pub(crate) connectivity: Vec<i64>,
    /// Whether the number of a cell's vertices precedes them.
    has_sizes: bool,
}

impl Lists {
    /// Number of cells.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The range of cell `i`'s vertices in the connectivity.
    pub(crate) fn range(&self, i: usize) -> (i64, i64) {
        let before = i64::from(self.has_sizes);
        (self.offsets[i].saturating_add(before), self.offsets[i + 1])
    }

    /// The lists after a keyword at `begin`.
    pub(super) fn read(reader: &mut Reader, begin: usize) -> Parsed<Lists> {
        let count = reader.text.count("the number of cells")?;
        let size = reader.text.count("the size of the cells")?;
        let mut ahead = reader.text.clone();
        if ahead.word() == Some(b"OFFSETS") {
            // Version 5.1: offsets, one more than cells.
            reader.text = ahead;
            let kind = reader.kind()?;
            let offsets = reader.integers(count, kind, "offsets")?;
            let fault = reader.text.unexpected("CONNECTIVITY");
            if reader.text.word() != Some(b"CONNECTIVITY") {
                return Err(fault);
            }
            let kind = reader.kind()?;
            return Ok(Lists {
                at: begin,
                offsets,
                connectivity: reader.integers(size, kind, "connectivity")?,
                has_sizes: false,
            });
        }
        let connectivity = reader.integers(size, Kind::I32, "cells")?;
        let mut offsets = Vec::with_capacity(count.min(size) + 1);
        let mut at = 0;
        offsets.push(0);
        while let Some(&vertices) = connectivity.get(at) {
            let end = usize::try_from(vertices)
                .ok()
                .and_then(|vertices| (at + 1).checked_add(vertices))
                .filter(|&end| end <= size);
            at = end.ok_or_else(|| {
                let cell = offsets.len() - 1;
                let reason =
                    format!("cell {cell} is said to have {vertices} vertices, more than there are");
                Fault::new(begin, reason)
            })?;
            offsets.push(at as i64);
        }
        if offsets.len() - 1 != count {
            let found = offsets.len() - 1;
            let reason = format!("expected {count} cells, found {found}");
            return Err(Fault::new(begin, reason));
        }
        Ok(Lists {
            at: begin,
            offsets,
            connectivity,
            has_sizes: true,
        })
    }
}

/// The types and lists of all cells of a POLYDATA.
pub(super) fn join(all: [Option<Lists>; 4]) -> (Vec<i64>, Lists) {
    let mut types = Vec::new();
    let mut joined = Lists {
        offsets: vec![0],
        ..Lists::default()
    };
    for (lists, (_, kind)) in all.into_iter().zip(POLYDATA) {
        let Some(lists) = lists else { continue };
        joined.at = lists.at;
        types.resize(types.len() + lists.len(), kind);
        for i in 0..lists.len() {
            let (begin, end) = lists.range(i);
            let range = usize::try_from(begin).ok().zip(usize::try_from(end).ok());
            let vertices = range.and_then(|(begin, end)| lists.connectivity.get(begin..end));
            joined.connectivity.extend(vertices.unwrap_or_default());
            let end = match vertices {
                Some(_) => joined.connectivity.len() as i64,
                // Outside of the connectivity: reading the cell reports the fault.
                None => i64::MIN,
            };
            joined.offsets.push(end);
        }
    }
    (types, joined)
}
