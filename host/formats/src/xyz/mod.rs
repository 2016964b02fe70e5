//! Points as text, one per line: `.xyz`, `.txt`, `.csv`, `.asc`, and `.pts` of scanners.
//!
//! There is no standard. Columns have their meaning by names, from [`ReadOptions::columns`] or from the file: a line
//! before the points, or a comment of whole lines after `//` (CloudCompare), `#` or `%`. `x y z`, `nx ny nz` and
//! `r g b a` are positions, normals and colours; columns of other names are fields. Without names, the numbers decide
//! (`names::guess`), and a note gives the names; names that do not fit the rows are refused.
//!
//! Blanks, tabs, commas or semicolons separate numbers; commas are decimal marks where something else separates. A
//! number alone in a line before the points is their count. Colours have 8 bits, 16 bits, or are parts from 0 to 1, by
//! the largest of all channels.

use std::ops::Range;
use std::path::Path;

use glam::DVec3;

use super::text::{Fault, Line, Parsed, TextRows, parse_integer, show, with_line_feeds};
use super::{Loaded, ReadOptions, decimals, parse_file};
use cells::{Cells, Layout, number};
use chunks::{Chunk, Chunks, Kind};
use head::{Head, comment_sign};
pub use names::Columns;
use names::{Column, NUMBERS, Role, candidates, guess};
use trioxide_mesh::about::About;
use trioxide_mesh::fields::{Field, Fields, MeshFields, NumberType, Values};
use trioxide_mesh::mesh::{Mesh, VertexAttributes};
use trioxide_mesh::{Result, parallel};

mod cells;
mod chunks;
mod colors;
mod head;
mod names;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use write::{lost_fields, renamed, write};

pub(crate) fn read(path: &Path, options: ReadOptions) -> Result<Loaded> {
    parse_file(path, |file| parse_as(file, options.columns))
}

#[cfg(test)]
pub(crate) fn parse(file: &[u8]) -> Parsed<Loaded> {
    parse_as(file, None)
}

/// Reads a text whose columns have the `given` names, or those of the file.
pub(crate) fn parse_as(file: &[u8], given: Option<Columns>) -> Parsed<Loaded> {
    let file = &*with_line_feeds(file);
    let head = Head::of(file)?;
    let rows = TextRows::new(file, head.start);
    if rows.count == 0 {
        head.expect_none()?;
        return Ok(Mesh::default().into());
    }
    let mut table = Table::of(file, &head, rows, given)?;
    let mut chunks = table.parse()?;
    if let Some(declared) = head.count.filter(|&declared| declared != chunks.count) {
        let reason = format!(
            "the file declares {declared} points, but has {}",
            chunks.count
        );
        return Err(Fault::new(file.len(), reason));
    }
    table.name(&chunks)?;
    let (attributes, points) = (table.attributes(&chunks)?, table.fields(&chunks)?);
    let about = About {
        unit: decimals::unit(chunks.decimals()),
        ..About::default()
    };
    Ok(Loaded {
        mesh: Mesh {
            points: chunks.take_points(),
            attributes,
            about: about.into(),
            fields: MeshFields {
                points,
                ..MeshFields::default()
            },
            ..Mesh::default()
        },
        notes: table.notes,
    })
}

/// The most columns of a text. A file of one long line needs no more memory for their names.
const MOST_COLUMNS: usize = 10_000;

/// The rows of a text, and the meanings of their columns.
struct Table<'a> {
    rows: TextRows<'a>,
    layout: Layout,
    columns: Vec<Column>,
    /// Whether the columns had no names.
    is_guess: bool,
    /// Offset of the first point.
    start: usize,
    notes: Vec<String>,
}

impl<'a> Table<'a> {
    fn of(
        file: &'a [u8],
        head: &Head<'a>,
        rows: TextRows<'a>,
        given: Option<Columns>,
    ) -> Parsed<Table<'a>> {
        let layout = layout_of(file, head.start);
        let mut line = rows.row(0, "a point")?;
        let start = line.offset();
        let mut cells = Cells::of(line, layout);
        let cells = std::iter::from_fn(|| cells.next()).take(MOST_COLUMNS + 1);
        let mut cells: Vec<&[u8]> = cells.collect();
        if cells.len() > MOST_COLUMNS {
            let reason = format!("a point has more than {MOST_COLUMNS} numbers");
            return Err(Fault::new(start, reason));
        }
        // A separator may end each row.
        let is_open = cells.len() > 1 && cells.last().is_some_and(|cell| cell.is_empty());
        let mut table = Table {
            rows,
            layout,
            columns: Vec::new(),
            is_guess: false,
            start,
            notes: Vec::new(),
        };
        if let Some(given) = given {
            let names: Vec<&str> = given.names().collect();
            let count = cells.len() - usize::from(is_open && names.len() < cells.len());
            if names.len() != count {
                let names = names.len();
                return Err(table.fault(format!(
                    "the option columns has {names} names, but a point has {count} numbers: name all of them, `_` skips one"
                )));
            }
            let columns = Column::all(names);
            table.columns = columns.map_err(|reason| table.fault(reason))?;
            return Ok(table);
        }
        let mut named = head.columns(layout, cells.len());
        if is_open && !matches!(named, Ok(Some(_))) {
            cells.pop();
            named = head.columns(layout, cells.len());
        }
        match named? {
            Some(columns) => table.columns = columns,
            None => table.number_columns(&cells)?,
        }
        table.skip_texts(&cells);
        if layout.has_decimal_commas {
            table
                .notes
                .push("its numbers have decimal commas".to_owned());
        }
        Ok(table)
    }

    fn fault(&self, reason: impl Into<String>) -> Fault {
        Fault::new(self.start, reason)
    }

    /// Calls columns without names `column 4`, but coordinates.
    fn number_columns(&mut self, cells: &[&[u8]]) -> Parsed<()> {
        let is_number = |i: &usize| number(cells[*i], self.layout).is_some();
        let numbers: Vec<usize> = (0..cells.len()).filter(is_number).collect();
        let is_broken = |cell: &&&[u8]| {
            let has_digit = cell.first().is_some_and(u8::is_ascii_digit);
            has_digit && number(cell, self.layout).is_none()
        };
        if let Some(cell) = cells.iter().find(is_broken) {
            return Err(self.fault(format!("expected a number, found `{}`", show(cell))));
        }
        let count = numbers.len();
        let has_ids =
            count > 3 && candidates(count, true).next().is_some() && self.counts_rows(numbers[0]);
        let Some(names) = candidates(count, has_ids).next() else {
            let reason = format!(
                "a point has {count} numbers, but {NUMBERS} are read without names: name the columns by the option \
                 columns=x,y,z,intensity,_"
            );
            return Err(self.fault(reason));
        };
        let column = |i| {
            let name = numbers
                .iter()
                .position(|&number| number == i)
                .map(|k| names[k]);
            let role = name.map_or(Role::Scalar, Role::of);
            Column {
                name: format!("column {}", i + 1),
                role: match role {
                    Role::Coordinate(_) => role,
                    _ => Role::Scalar,
                },
            }
        };
        self.columns = (0..cells.len()).map(column).collect();
        self.is_guess = true;
        Ok(())
    }

    /// Whether a column counts the rows from 0 or 1 on, as far as the first hundred rows and the last one show.
    fn counts_rows(&self, column: usize) -> bool {
        let count = self.rows.count;
        let number_in = |row: usize| {
            let line = self.rows.row(row, "a point").ok()?;
            let mut cells = Cells::of(line, self.layout);
            number(
                std::iter::from_fn(|| cells.next()).nth(column)?,
                self.layout,
            )
        };
        let first = number_in(0).filter(|first| matches!(first, 0.0 | 1.0));
        let mut rows = (1..count.min(100)).chain([count - 1]);
        count > 2
            && first.is_some_and(|first| rows.all(|row| number_in(row) == Some(first + row as f64)))
    }

    /// Leaves out columns of text, and columns without a name in a header.
    fn skip_texts(&mut self, cells: &[&[u8]]) {
        let mut skipped = Vec::new();
        for (i, column) in self.columns.iter_mut().enumerate() {
            let is_text = number(cells[i], self.layout).is_none();
            if is_text && !matches!(column.role, Role::Coordinate(_)) {
                column.role = Role::Skipped;
            }
            if column.role == Role::Skipped {
                skipped.push(match column.name.is_empty() {
                    true => format!("column {}", i + 1),
                    false => column.name.clone(),
                });
            }
        }
        if !skipped.is_empty() {
            let skipped = skipped.join(", ");
            self.notes
                .push(format!("not read, without a name or numbers: {skipped}"));
        }
    }

    /// Parses the rows.
    fn parse(&self) -> Parsed<Chunks> {
        let width = self.others().count();
        let roles = self.columns.iter().map(|column| column.role);
        let axes = [0, 1, 2].map(Role::Coordinate);
        let is_plain = roles.eq(axes) && self.layout == Layout::BLANKS;
        let row = |chunk: &mut Chunk, _, line: &mut Line| match is_plain {
            true => plain_row(chunk, line),
            false => self.row(chunk, width, line),
        };
        let chunks = self.rows.parse(0..self.rows.count, row)?;
        Ok(Chunks::of(chunks, width))
    }

    fn row(&self, chunk: &mut Chunk, width: usize, line: &Line) -> Parsed<()> {
        if comment_sign(line.rest().1).is_some() {
            return Ok(());
        }
        let mut cells = Cells::of(line.clone(), self.layout);
        let (mut point, mut other) = (DVec3::ZERO, 0);
        for column in &self.columns {
            match column.role {
                Role::Coordinate(axis) => {
                    let (value, text) = cells.number(&column.name)?;
                    chunk.decimals.add(text);
                    point[axis] = value;
                }
                Role::Skipped => cells.skip(&column.name)?,
                _ => {
                    let (value, text) = cells.number(&column.name)?;
                    chunk.add(other, width, value, text);
                    other += 1;
                }
            }
        }
        chunk.points.push(point);
        cells.expect_end()
    }

    /// Names columns that have none, by their numbers.
    fn name(&mut self, chunks: &Chunks) -> Parsed<()> {
        if !self.is_guess {
            return Ok(());
        }
        let are_integers = (0..chunks.width).all(|column| chunks.kind(column) == Kind::Integers);
        if chunks.width == 3
            && self.layout.separator == Some(b',')
            && are_integers
            && chunks.decimals() == Some(0)
        {
            return Err(self.fault(
                "its commas may be decimal marks or separate six whole numbers: write points, or name the columns by the option columns=x,y,z,…",
            ));
        }
        let mut read = self
            .columns
            .iter_mut()
            .filter(|column| column.role != Role::Skipped)
            .peekable();
        let has_ids = read
            .peek()
            .is_some_and(|column| column.role == Role::Scalar);
        let mut read: Vec<&mut Column> = read.collect();
        let count = read.len();
        let Some(names) = guess(count, has_ids, chunks) else {
            return Err(Fault::new(
                self.start,
                "columns without names are neither colours nor normals of length 1: name them by the option \
                 columns=x,y,z,nx,ny,nz or columns=x,y,z,u,v,w",
            ));
        };
        if names.len() > 3 {
            let note = format!(
                "its columns have no names: they are read as {}",
                names.join(",")
            );
            self.notes.push(note);
        }
        let named = Column::all(names).map_err(|reason| Fault::new(self.start, reason))?;
        for (column, named) in read.iter_mut().zip(named) {
            **column = named;
        }
        Ok(())
    }

    /// The columns that are read, and are not coordinates.
    fn others(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| is_other(column))
    }

    /// The places of columns with these roles among the columns beside coordinates.
    fn find<const N: usize>(&self, roles: [Role; N]) -> Option<[usize; N]> {
        let place = |role| self.others().position(|column| column.role == role);
        let places = roles.map(place);
        places
            .iter()
            .all(Option::is_some)
            .then(|| places.map(Option::unwrap_or_default))
    }

    fn attributes(&mut self, chunks: &Chunks) -> Parsed<VertexAttributes> {
        let normals = self.find([0, 1, 2].map(Role::Normal));
        let normals = normals.map(|places| {
            chunks.gather(1, |row, normal: &mut [DVec3]| {
                normal[0] = places.map(|place| row[place]).into()
            })
        });
        let colors = colors::of(self, chunks).map_err(|reason| self.fault(reason))?;
        Ok(VertexAttributes {
            normals,
            colors,
            uvs: None,
        })
    }

    /// The scalars as fields: columns `v_0`, `v_1` and `v_2` are one of three components.
    fn fields(&self, chunks: &Chunks) -> Parsed<Fields> {
        let others = self.others().enumerate();
        let scalars = others.filter(|(_, column)| column.role == Role::Scalar);
        let (places, names): (Vec<usize>, Vec<_>) = scalars
            .map(|(place, column)| (place, (&*column.name, NumberType::F64)))
            .unzip();
        let field = |(name, range): (&str, Range<usize>)| {
            let places = &places[range];
            Ok(Field {
                name: name.to_owned(),
                components: places.len(),
                values: self.values(chunks, places)?,
            })
        };
        super::fields::joined(&names)
            .into_iter()
            .map(field)
            .collect()
    }

    /// The numbers of some of the columns that are not coordinates.
    fn values(&self, chunks: &Chunks, places: &[usize]) -> Parsed<Values> {
        let floats = || {
            chunks.gather(places.len(), |row, values: &mut [f64]| {
                for (value, &place) in values.iter_mut().zip(places) {
                    *value = row[place];
                }
            })
        };
        let kind = places.iter().map(|&place| chunks.kind(place)).max();
        Ok(match kind.unwrap_or_default() {
            Kind::Floats => floats().into(),
            Kind::Integers => Values::of_floats(NumberType::I32, floats()),
            Kind::LongIntegers => Values::I64(self.long_integers(places)?),
        })
    }

    /// As [`Table::values`], of integers that are not exact as doubles.
    fn long_integers(&self, places: &[usize]) -> Parsed<Vec<i64>> {
        let others = (0..self.columns.len()).filter(|&i| is_other(&self.columns[i]));
        let others: Vec<usize> = others.collect();
        let row = |part: &mut Vec<i64>, _, line: &mut Line| {
            if comment_sign(line.rest().1).is_none() {
                let mut cells = Cells::of(line.clone(), self.layout);
                let cells: Vec<&[u8]> = std::iter::from_fn(|| cells.next()).collect();
                let integer = |&place: &usize| parse_integer(cells[others[place]]).map(|(n, _)| n);
                part.extend(places.iter().filter_map(integer));
            }
            Ok(())
        };
        let parts = self.rows.parse(0..self.rows.count, row)?;
        Ok(parallel::concat(parts))
    }
}

/// Whether a column is read, and is not a coordinate.
fn is_other(column: &Column) -> bool {
    !matches!(column.role, Role::Coordinate(_) | Role::Skipped)
}

/// The point of a row `x y z`.
fn plain_row(chunk: &mut Chunk, line: &mut Line) -> Parsed<()> {
    let mut point = [0.0; 3];
    for (coordinate, name) in point.iter_mut().zip(["x", "y", "z"]) {
        match line.number(name) {
            Ok((value, text)) => {
                chunk.decimals.add(text);
                *coordinate = value;
            }
            _ if name == "x" && comment_sign(line.rest().1).is_some() => return Ok(()),
            Err(fault) => return Err(fault),
        }
    }
    chunk.points.push(point.into());
    Cells::of(line.clone(), Layout::BLANKS).expect_end()
}

/// The layout of the rows from `start` on: that of the first one with a comma or a semicolon, if there is one.
fn layout_of(file: &[u8], start: usize) -> Layout {
    let mut from = start;
    while let Some(length) = memchr::memchr2(b',', b';', &file[from..]) {
        let begin = memchr::memrchr(b'\n', &file[start..from + length]);
        let line = first_line(&file[begin.map_or(start, |begin| start + begin + 1)..]);
        let data = line.split(|byte| *byte == b'#').next().unwrap_or_default();
        let has_separator = memchr::memchr2(b',', b';', data).is_some();
        if has_separator && comment_sign(data.trim_ascii_start()).is_none() {
            return Layout::of(data);
        }
        from += length + 1;
    }
    Layout::of(first_line(&file[start..]))
}

fn first_line(text: &[u8]) -> &[u8] {
    &text[..memchr::memchr(b'\n', text).unwrap_or(text.len())]
}
