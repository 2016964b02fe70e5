//! Meanings of columns by their names, and likely names of columns without names, by their numbers.

use std::collections::BTreeSet;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use super::chunks::{Chunks, Span};

/// The meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// x, y or z.
    Coordinate(usize),
    Normal(usize),
    /// Red, green, blue or alpha.
    Color(usize),
    /// All channels of a colour in the bits of one number, as the Point Cloud Library has them.
    Packed,
    /// Left out.
    Skipped,
    /// A field of its name.
    Scalar,
}

const NAMES: [(Role, &[&str]); 12] = [
    (Role::Coordinate(0), &["x", "points_0", "points:0"]),
    (Role::Coordinate(1), &["y", "points_1", "points:1"]),
    (Role::Coordinate(2), &["z", "points_2", "points:2"]),
    (
        Role::Normal(0),
        &["nx", "normal_x", "normalx", "normals_0", "normals:0"],
    ),
    (
        Role::Normal(1),
        &["ny", "normal_y", "normaly", "normals_1", "normals:1"],
    ),
    (
        Role::Normal(2),
        &["nz", "normal_z", "normalz", "normals_2", "normals:2"],
    ),
    (Role::Color(0), &["r", "red", "rf"]),
    (Role::Color(1), &["g", "green", "gf"]),
    (Role::Color(2), &["b", "blue", "bf"]),
    (Role::Color(3), &["a", "alpha", "af"]),
    (Role::Packed, &["rgb", "rgba"]),
    (Role::Skipped, &["", "_", "-"]),
];

/// Names of surveyors, where no column has a name above.
const SURVEYED: [(Role, &[&str]); 3] = [
    (Role::Coordinate(0), &["easting", "east"]),
    (Role::Coordinate(1), &["northing", "north"]),
    (Role::Coordinate(2), &["elevation", "height", "altitude"]),
];

impl Role {
    /// The meaning of a name: capital letters count as small ones, and a unit after it does not count: `X (m)`.
    pub(super) fn of(name: &str) -> Role {
        role_in(&NAMES, name).unwrap_or(Role::Scalar)
    }
}

fn role_in(table: &[(Role, &[&str])], name: &str) -> Option<Role> {
    let plain = name.split(['(', '[']).next().unwrap_or_default();
    let plain = plain.trim().to_ascii_lowercase();
    let row = table.iter().find(|(_, names)| names.contains(&&*plain));
    row.map(|(role, _)| *role)
}

/// A column with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) role: Role,
}

impl Column {
    /// The columns of these names. A normal or a colour that is not complete is scalars.
    ///
    /// # Errors
    /// The reason why the names give no point: no x and y, or one of them twice.
    pub(super) fn all<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Vec<Column>, String> {
        let column = |name: &str| Column {
            name: name.to_owned(),
            role: Role::of(name),
        };
        let mut columns: Vec<Column> = names.into_iter().map(column).collect();
        let is_point = |column: &Column| matches!(column.role, Role::Coordinate(_));
        if !columns.iter().any(is_point) {
            for column in &mut columns {
                column.role = role_in(&SURVEYED, &column.name).unwrap_or(column.role);
            }
        }
        for axis in 0..3 {
            let role = Role::Coordinate(axis);
            let mut found = columns.iter().filter(|column| column.role == role);
            let letter = ["x", "y", "z"][axis];
            match (found.next(), found.next()) {
                (Some(first), Some(second)) => {
                    let (first, second) = (&first.name, &second.name);
                    return Err(format!("{letter} is named twice: {first}, {second}"));
                }
                (None, _) if axis < 2 => return Err(format!("no column is named {letter}")),
                _ => {}
            }
        }
        let has = |role: Role| columns.iter().any(|column| column.role == role);
        let has_normals = [0, 1, 2].map(Role::Normal).into_iter().all(has);
        let has_colors = [0, 1, 2].map(Role::Color).into_iter().all(has);
        let mut seen = Vec::new();
        for column in &mut columns {
            let role = column.role;
            let is_scalar = match role {
                Role::Normal(_) => !has_normals || seen.contains(&role),
                Role::Color(_) => !has_colors || seen.contains(&role),
                Role::Packed => has_colors || seen.contains(&role),
                _ => false,
            };
            seen.push(role);
            if is_scalar {
                column.role = Role::Scalar;
            }
        }
        Ok(columns)
    }
}

/// Names of the columns of a text of points.
///
/// [`ReadOptions`](crate::ReadOptions) are copied, so the text stays in memory, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns(&'static str);

impl FromStr for Columns {
    type Err = String;

    /// Names with commas between them: `x,y,z,intensity`. `_` and `-` skip a column.
    fn from_str(text: &str) -> Result<Columns, String> {
        static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        Column::all(text.split(',').map(str::trim))?;
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = known.get(text).copied().unwrap_or_else(|| {
            let kept: &'static str = text.to_owned().leak();
            known.insert(kept);
            kept
        });
        Ok(Columns(kept))
    }
}

impl Columns {
    /// The names.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.0.split(',').map(str::trim)
    }
}

/// Names that columns without names may have, by their number; the first list that fits the numbers.
const GUESSES: [&str; 17] = [
    "x,y,z",
    "id,x,y,z",
    "x,y,z,intensity",
    "id,x,y,z,intensity",
    "x,y,z,r,g,b",
    "x,y,z,nx,ny,nz",
    "x,y,z,rf,gf,bf",
    "id,x,y,z,r,g,b",
    "id,x,y,z,nx,ny,nz",
    "x,y,z,intensity,r,g,b",
    "x,y,z,nx,ny,nz,scalar",
    "x,y,z,r,g,b,intensity",
    "x,y,z,intensity,rf,gf,bf",
    "x,y,z,nx,ny,nz,r,g,b",
    "x,y,z,r,g,b,nx,ny,nz",
    "x,y,z,nx,ny,nz,rf,gf,bf",
    "x,y,z,rf,gf,bf,nx,ny,nz",
];

/// Numbers of columns that are read without names.
pub(super) const NUMBERS: &str = "3 (x y z), 4 (and an intensity), 6 (x y z and a normal or a colour), 7 (an intensity or an id too) or 9 \
     (x y z, a normal and a colour)";

/// The lists of names for `count` columns, of which the first ones are an id if `has_ids`.
pub(super) fn candidates(count: usize, has_ids: bool) -> impl Iterator<Item = Vec<&'static str>> {
    let lists = GUESSES
        .iter()
        .map(|list| list.split(',').collect::<Vec<_>>());
    lists.filter(move |list| list.len() == count && (list[0] == "id") == has_ids)
}

/// Which numbers a colour and a normal may have.
#[derive(Clone, Copy)]
enum Strictness {
    /// One channel of all colours is over 1, or all are black; normals have the length 1.
    Sure,
    /// Channels may all be 0 or 1.
    DarkColors,
    /// Normals beside a sure colour have any length.
    AnyNormals,
}

/// The names of columns without names. `others` are the columns that are not coordinates.
pub(super) fn guess(count: usize, has_ids: bool, chunks: &Chunks) -> Option<Vec<&'static str>> {
    use Strictness::{AnyNormals, DarkColors, Sure};
    let spans = chunks.spans();
    let levels = [Sure, DarkColors, AnyNormals].into_iter();
    let mut fitting = levels.filter_map(|strictness| {
        candidates(count, has_ids).find(|names| fits(names, &spans, chunks, strictness))
    });
    fitting.next()
}

/// Whether columns may have these names.
fn fits(names: &[&str], spans: &[Span], chunks: &Chunks, strictness: Strictness) -> bool {
    let others = names
        .iter()
        .filter(|name| !matches!(Role::of(name), Role::Coordinate(_)));
    let others: Vec<&str> = others.copied().collect();
    let triple = |first: &str| {
        let place = others.iter().position(|name| *name == first);
        place.map(|place| (place, &spans[place..place + 3]))
    };
    let has_colors = triple("r").is_some() || triple("rf").is_some();
    let within = |spans: &[Span], low: f64, high: f64| {
        spans
            .iter()
            .all(|span| low <= span.low && span.high <= high)
    };
    let are_whole = |spans: &[Span]| spans.iter().all(|span| span.is_whole);
    let are_bytes = triple("r").is_none_or(|(_, spans)| {
        let is_dark = within(spans, 0.0, 1.0) && !within(spans, 0.0, 0.0);
        let is_sure = !is_dark || matches!(strictness, Strictness::DarkColors);
        are_whole(spans) && within(spans, 0.0, 65535.0) && is_sure
    });
    let are_parts =
        triple("rf").is_none_or(|(_, spans)| within(spans, 0.0, 1.0) && !are_whole(spans));
    let are_normals = triple("nx").is_none_or(|(place, spans)| {
        has_colors && matches!(strictness, Strictness::AnyNormals)
            || within(spans, -1.01, 1.01)
                && !within(spans, 0.0, 0.0)
                && (spans.iter().any(|span| span.low < 0.0) || chunks.are_units(place))
    });
    are_bytes && are_parts && are_normals
}
