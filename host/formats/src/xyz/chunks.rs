//! Numbers of the rows, in the chunks of the file that were parsed in parallel.

use bytemuck::Zeroable;
use glam::DVec3;

use crate::decimals::Decimals;
use crate::text::parse_integer;
use trioxide_mesh::parallel;

/// The text of the numbers of a column, from the narrowest to the widest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Whole numbers that doubles hold exactly.
    #[default]
    Integers,
    /// Whole numbers of up to 64 bits.
    LongIntegers,
    /// Numbers with a point, an exponent or a sign of infinity; missing numbers.
    Floats,
}

impl Kind {
    fn of(text: &[u8]) -> Kind {
        const EXACT: u64 = 1 << 53;
        match parse_integer(text) {
            Some((value, length)) if length == text.len() => match value.unsigned_abs() <= EXACT {
                true => Kind::Integers,
                false => Kind::LongIntegers,
            },
            _ => Kind::Floats,
        }
    }
}

/// The numbers of a chunk.
#[derive(Default)]
pub(super) struct Chunk {
    pub(super) points: Vec<DVec3>,
    pub(super) decimals: Decimals,
    /// The numbers of the columns that are not coordinates, row by row.
    others: Vec<f64>,
    kinds: Vec<Kind>,
}

impl Chunk {
    /// Adds a number of one of the `width` columns that are not coordinates, in the order of rows and columns.
    #[inline]
    pub(super) fn add(&mut self, column: usize, width: usize, value: f64, text: &[u8]) {
        if self.kinds.is_empty() {
            self.kinds = vec![Kind::default(); width];
        }
        let kind = &mut self.kinds[column];
        if *kind != Kind::Floats {
            *kind = (*kind).max(Kind::of(text));
        }
        self.others.push(value);
    }
}

/// The numbers of a column: the lowest and the highest one without NaN, and whether all are whole.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) is_whole: bool,
    pub(super) has_nan: bool,
}

/// The numbers of all rows.
pub(super) struct Chunks {
    chunks: Vec<Chunk>,
    /// Number of columns that are not coordinates.
    pub(super) width: usize,
    /// Number of rows.
    pub(super) count: usize,
}

impl Chunks {
    pub(super) fn of(chunks: Vec<Chunk>, width: usize) -> Chunks {
        Chunks {
            count: chunks.iter().map(|chunk| chunk.points.len()).sum(),
            chunks,
            width,
        }
    }

    pub(super) fn take_points(&mut self) -> Vec<DVec3> {
        parallel::concat_lists(&mut self.chunks, |chunk| &mut chunk.points)
    }

    /// The most digits after the point of a coordinate; `None` if one has an exponent.
    pub(super) fn decimals(&self) -> Option<u32> {
        Decimals::most(self.chunks.iter().map(|chunk| &chunk.decimals))
    }

    /// The kind of a column that is not a coordinate.
    pub(super) fn kind(&self, column: usize) -> Kind {
        let kinds = self
            .chunks
            .iter()
            .filter_map(|chunk| chunk.kinds.get(column));
        kinds.copied().max().unwrap_or_default()
    }

    /// The spans of the columns that are not coordinates.
    pub(super) fn spans(&self) -> Vec<Span> {
        let none = Span {
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            is_whole: true,
            has_nan: false,
        };
        // The minimum of a number and NaN is the number.
        let join = |a: Span, b: Span| Span {
            low: a.low.min(b.low),
            high: a.high.max(b.high),
            is_whole: a.is_whole && b.is_whole,
            has_nan: a.has_nan || b.has_nan,
        };
        let of_number = |x: f64| Span {
            low: x,
            high: x,
            is_whole: x.trunc() == x || x.is_nan(),
            has_nan: x.is_nan(),
        };
        let of_chunk = |c: usize| {
            let mut spans = vec![none; self.width];
            for row in self.rows(c) {
                for (span, x) in spans.iter_mut().zip(row) {
                    *span = join(*span, of_number(*x));
                }
            }
            spans
        };
        let spans = parallel::collect_tasks(self.chunks.len(), of_chunk).into_iter();
        let all = spans.reduce(|all, spans| {
            all.into_iter()
                .zip(spans)
                .map(|(a, b)| join(a, b))
                .collect()
        });
        all.unwrap_or_else(|| vec![none; self.width])
    }

    /// Whether the vectors in three columns from `first` on have the length 1 to about a percent, or no direction.
    pub(super) fn are_units(&self, first: usize) -> bool {
        let is_unit = |row: &[f64]| {
            let square = DVec3::from_slice(&row[first..]).length_squared();
            square.is_nan() || square == 0.0 || (square - 1.0).abs() < 0.02
        };
        let units = parallel::collect_tasks(self.chunks.len(), |c| self.rows(c).all(is_unit));
        units.into_iter().all(|are_units| are_units)
    }

    /// `size` values for each row of the columns that are not coordinates.
    pub(super) fn gather<T: Zeroable + Send>(
        &self,
        size: usize,
        fill: impl Fn(&[f64], &mut [T]) + Sync,
    ) -> Vec<T> {
        let mut all = parallel::zeroed::<T>(size * self.count);
        let mut rest = &mut all[..];
        let mut places = Vec::with_capacity(self.chunks.len());
        for c in 0..self.chunks.len() {
            let (first, others) = rest.split_at_mut(size * self.rows(c).len());
            places.push(first);
            rest = others;
        }
        parallel::for_each_mut(&mut places, |c, places| {
            for (values, row) in places.chunks_exact_mut(size).zip(self.rows(c)) {
                fill(row, values);
            }
        });
        all
    }

    fn rows(&self, chunk: usize) -> std::slice::ChunksExact<'_, f64> {
        self.chunks[chunk].others.chunks_exact(self.width.max(1))
    }
}
