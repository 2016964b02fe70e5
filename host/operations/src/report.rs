//! The parts that the reports of all operations have.

use std::fmt;

use trioxide::Result;
use trioxide::contact::Contacts;
use trioxide::device::{Costs, Device, Stage};
use trioxide::edge_table::EdgeTable;
use trioxide::repair::{HolesLeft, Obstacle};
use trioxide::weld::EpsilonFound;

/// The machine of a run, and the time and memory that the run took there.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Name of the device; `serial` for the sequential algorithms.
    pub device: String,
    /// Times, in the order of the work.
    pub stages: Vec<Stage>,
    /// Most bytes on the device at once.
    pub peak_bytes: Option<u64>,
    /// Costs of the device beside the stages.
    pub costs: Costs,
}

impl Run {
    /// A run on a device: its stages since the last call, after `before`.
    ///
    /// # Errors
    /// Their work failed.
    pub fn of(on: &Device, before: Vec<Stage>) -> Result<Self> {
        let mut stages = before;
        stages.extend(on.take_stages()?);
        Ok(Self {
            device: on.name(),
            stages,
            peak_bytes: Some(on.peak_bytes()),
            costs: on.costs(),
        })
    }

    /// A run of a sequential algorithm.
    #[cfg(feature = "serial")]
    pub(crate) fn serial(stages: Vec<Stage>) -> Self {
        Self::on_host("serial".to_owned(), stages)
    }

    /// A run on no device.
    #[cfg(any(
        feature = "info",
        feature = "serial",
        feature = "triangulate",
        feature = "vem"
    ))]
    pub(crate) fn on_host(device: String, stages: Vec<Stage>) -> Self {
        Self {
            device,
            stages,
            ..Self::default()
        }
    }
}

/// A number or a word of a report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Count {
    /// How many.
    Whole(u64),
    /// How much.
    Real(f64),
    /// Whether.
    Flag(bool),
    /// Which.
    Word(&'static str),
    /// A digest: 64 bits, in 16 digits.
    Digest(u64),
}

impl From<u64> for Count {
    fn from(count: u64) -> Self {
        Self::Whole(count)
    }
}

impl From<usize> for Count {
    fn from(count: usize) -> Self {
        Self::Whole(count as u64)
    }
}

impl From<u32> for Count {
    fn from(count: u32) -> Self {
        Self::Whole(count.into())
    }
}

impl From<f64> for Count {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<bool> for Count {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<&'static str> for Count {
    fn from(word: &'static str) -> Self {
        Self::Word(word)
    }
}

/// The counts of a report by their names, in the order of the work.
pub type Counts = Vec<(&'static str, Count)>;

/// A triangle of the plane that runs clockwise, in a note.
pub(crate) const CLOCKWISE: &str = "clockwise triangle";

/// A note for the user on a run that went well.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// Normals that have no direction, because they are not finite or too large.
    Normals(usize),
    /// Elements that were turned around.
    Turned {
        /// Their number, above 0.
        count: usize,
        /// One of them, with its fault.
        element: &'static str,
    },
    /// No distance removes the wanted fraction.
    Ratio {
        /// The fraction.
        wanted: f64,
        /// The nearest.
        found: EpsilonFound,
    },
    /// The mesh takes more bytes at once than may be used.
    InSlabs {
        /// Bytes that it takes.
        needed: u64,
        /// Bytes that may be used.
        limit: u64,
    },
    /// No further edge may collapse.
    Triangles {
        /// The wanted number of triangles.
        wanted: u64,
        /// Triangles that are left.
        left: u64,
        /// Whether the largest error keeps edges from collapsing too.
        is_bounded: bool,
    },
    /// Numbers of the vertices, by their name, that are not all finite, and not fitted for this.
    NotFitted(String),
    /// The device's memory has no room to fit the numbers of the vertices.
    NoRoomToFit,
    /// Edges of more than two triangles, which stay, and their number.
    Crowded(usize),
    /// The surface is closed, and its smoothing shrinks it.
    Shrinks,
    /// Vertices whose texture coordinates are not those of the vertex that they go into, and their number.
    AveragedUvs(usize),
    /// Parts of the mesh touch without sharing vertices, as the sentence says.
    Apart(String),
    /// Cells that lost a corner, or repeat an earlier one, were dropped.
    DroppedCells(usize),
    /// Triangles of the plane that smoothing turned over.
    Overturned(usize),
    /// As [`Note::Overturned`], of polygons.
    OverturnedPolygons(usize),
    /// Vertices of no cell have the solution 0, and their number.
    Unused(usize),
    /// Segments that a repair left out.
    DroppedSegments(u64),
    /// Holes that a repair left, with the reason.
    HolesLeft(HolesLeft),
    /// No vertex is inside: the values of the boundary are the solution.
    NoUnknowns,
    /// Nested levels ended, because nothing can join.
    NothingJoins {
        /// The last level.
        level: usize,
        /// Its pieces.
        pieces: usize,
    },
    /// Faces of polyhedra that are not planar, above 0.
    Bent(usize),
    /// A change of the cells on their way to polyhedra, as the mesh's own code words it.
    Cells(String),
}

impl Note {
    /// A note for each way in which parts of a mesh touch without sharing vertices.
    pub(crate) fn apart(contacts: &Contacts) -> impl Iterator<Item = Self> + use<> {
        contacts.problems().into_iter().map(Self::Apart)
    }

    /// The note on edges of more than two of these triangles, if there are any. Their vertices are in range.
    pub(crate) fn crowded(vertices: usize, triangles: &[[u32; 3]]) -> Option<Self> {
        let table = EdgeTable::of_triangles(vertices, triangles);
        let crowded = table.filter_map_edges(|_, sides| (sides.len() > 2).then_some(()));
        (!crowded.is_empty()).then_some(Self::Crowded(crowded.len()))
    }

    /// The note on `count` elements that were turned around, if there are any.
    pub(crate) fn turned(count: usize, element: &'static str) -> Option<Self> {
        (count > 0).then_some(Self::Turned { count, element })
    }

    /// The note on `count` cells that a weld dropped, if there are any.
    pub(crate) fn dropped_cells(count: usize) -> Option<Self> {
        (count > 0).then_some(Self::DroppedCells(count))
    }

    /// The note on `count` triangles or polygons of the plane that smoothing turned over, if there are any.
    pub(crate) fn overturned(count: usize, are_triangles: bool) -> Option<Self> {
        let note = match are_triangles {
            true => Self::Overturned(count),
            false => Self::OverturnedPolygons(count),
        };
        (count > 0).then_some(note)
    }

    /// The note on `count` vertices of no cell, if there are any.
    #[cfg(feature = "vem")]
    pub(crate) fn unused(count: usize) -> Option<Self> {
        (count > 0).then_some(Self::Unused(count))
    }

    /// The note on `count` segments that a repair left out, if there are any.
    pub(crate) fn dropped_segments(count: u64) -> Option<Self> {
        (count > 0).then_some(Self::DroppedSegments(count))
    }

    /// The note on `count` clockwise triangles of the plane that were turned around, if there are any.
    pub fn turned_triangles(count: usize) -> Option<Self> {
        Self::turned(count, CLOCKWISE)
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Normals(count) => write!(
                f,
                "{count} normals are not finite or beyond 1e298: they count as zero"
            ),
            Self::Turned { count: 1, element } => write!(f, "1 {element} was turned around"),
            Self::Turned { count, element } => {
                let elements = match element.strip_suffix("hedron") {
                    Some(stem) => format!("{stem}hedra"),
                    None => format!("{element}s"),
                };
                write!(f, "{count} {elements} were turned around")
            }
            Self::DroppedSegments(count) => {
                let (is_out, ends) = match count {
                    1 => ("segment is left out: no face has its edge, its", "another segment lies on it"),
                    _ => ("segments are left out: no face has their edges, their", "other segments lie on them"),
                };
                write!(f, "{count} {is_out} ends became one vertex, or {ends}")
            }
            Self::HolesLeft(holes) => f.write_str(&words_of_holes(holes)),
            Self::NotFitted(name) => write!(
                f,
                "{name} has values that are not finite or beyond 2^250: vertices that move keep those of a vertex of the input"
            ),
            Self::NoRoomToFit => f.write_str(
                "the device has no memory to fit attributes and fields: vertices that move keep those of a vertex of the input",
            ),
            Self::Crowded(count) => {
                let edges = if *count == 1 { "edge has" } else { "edges have" };
                write!(
                    f,
                    "{count} {edges} more than two triangles, and stay: part them first (`repair --edges --vertices`)"
                )
            }
            Self::Shrinks => f.write_str(
                "Laplacian smoothing shrinks a closed surface, at last to a point: `smooth --method taubin` keeps its size",
            ),
            Self::AveragedUvs(count) => {
                let (differ, get) = match count {
                    1 => ("vertex has", "it gets"),
                    _ => ("vertices have", "they get"),
                };
                write!(
                    f,
                    "{count} {differ} other texture coordinates than the vertex of the merge, as across a seam: {get} the mean; \
                     `weld --uv-tolerance` keeps seams"
                )
            }
            Self::Apart(problem) => f.write_str(problem),
            Self::DroppedCells(1) => {
                f.write_str("1 cell whose vertices merged, or that repeats another one, was dropped")
            }
            Self::DroppedCells(count) => write!(
                f,
                "{count} cells whose vertices merged, or that repeat others, were dropped"
            ),
            Self::Overturned(count) => {
                let triangles = match count {
                    1 => "1 triangle was".to_owned(),
                    count => format!("{count} triangles were"),
                };
                write!(
                    f,
                    "{triangles} turned over, and overlap others: `smooth --guard` makes no such move, and `smooth --untangle` on the \
                     result moves vertices until none does"
                )
            }
            Self::OverturnedPolygons(count) => {
                let polygons = match count {
                    1 => "1 polygon was".to_owned(),
                    count => format!("{count} polygons were"),
                };
                write!(
                    f,
                    "{polygons} turned over, and overlap others: `smooth --guard` makes no such move"
                )
            }
            Self::Unused(1) => f.write_str(
                "1 vertex belongs to no cell: its solution is 0; `repair --unused` drops it",
            ),
            Self::Unused(count) => write!(
                f,
                "{count} vertices belong to no cell: their solution is 0; `repair --unused` drops them"
            ),
            Self::NoUnknowns => f.write_str(
                "every vertex lies on the boundary, where the exact solution is given: nothing is solved",
            ),
            Self::Ratio { wanted, found } => write!(
                f,
                "no distance that was tried removes {wanted} of the vertices: the nearest, {}, removes {}",
                found.epsilon, found.ratio
            ),
            Self::Bent(count) => {
                let [faces, each] = match count {
                    1 => ["face is", "it counts"],
                    _ => ["faces are", "each counts"],
                };
                write!(
                    f,
                    "{count} {faces} not planar: {each} as triangles around one of its vertices, the same for both polyhedra"
                )
            }
            Self::Cells(said) => f.write_str(said),
            Self::NothingJoins { level, pieces } => write!(
                f,
                "there is no level after level {level}: none of its {pieces} pieces can join another one"
            ),
            Self::InSlabs { needed, limit } => write!(
                f,
                "welding at once takes {needed} bytes of device memory, of which {limit} may be used: welding in slabs"
            ),
            Self::Triangles {
                wanted,
                left,
                is_bounded,
            } => {
                let bound = if *is_bounded {
                    "the largest error or "
                } else {
                    ""
                };
                write!(
                    f,
                    "{left} triangles are left, not {wanted}: {bound}a check of the surface keeps every other edge from collapsing"
                )
            }
        }
    }
}

/// Says why holes are left, and the command that helps.
fn words_of_holes(holes: &HolesLeft) -> String {
    let HolesLeft {
        obstacle,
        count,
        vertex,
        edges,
    } = holes;
    let (reason, help) = match obstacle {
        Obstacle::Long => (
            format!("of up to {edges} edges"),
            format!("`repair --fill-holes {edges}` fills such"),
        ),
        Obstacle::Touching => (
            "through a vertex of several boundary loops".to_owned(),
            "part the surfaces there first (`repair --vertices`)".to_owned(),
        ),
        Obstacle::Turned => (
            "between faces of two orientations".to_owned(),
            "orient them first (`repair --orient`)".to_owned(),
        ),
        Obstacle::Crowded => (
            "that ends at an edge of three or more faces".to_owned(),
            "part the surfaces there first (`repair --edges`)".to_owned(),
        ),
        Obstacle::Hanging => (
            "without area, as a vertex lies inside an edge".to_owned(),
            "join them first (`repair --conform`)".to_owned(),
        ),
        Obstacle::Doubled => (
            "without area, as vertices lie at one place".to_owned(),
            "weld them first (`weld --epsilon 0`)".to_owned(),
        ),
        _ => (
            "whose faces would be degenerate, or have edges that are there already".to_owned(),
            "`refine` divides such edges".to_owned(),
        ),
    };
    let are_left = if *count == 1 {
        "hole is left"
    } else {
        "holes are left"
    };
    format!("{count} {are_left} {reason}, first at vertex {vertex}: {help}")
}
