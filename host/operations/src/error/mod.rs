//! The failures of operations. They are data until a front end words them: options have the names that it has for them.

#[cfg(feature = "compare")]
pub mod compare;
pub mod decimate;
pub mod polylla;
pub mod refine;
pub mod reorder;
pub mod repair;
pub mod smooth;
#[cfg(feature = "triangulate")]
pub mod triangulate;
#[cfg(feature = "vem")]
pub mod vem;
pub mod weld;

use std::fmt;

use glam::Vec2;
use gpu::point::Coordinates;
use trioxide::{half_edges, refine_tets};

/// Result of an operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure of an operation.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A failure that is not a family's own: of a device, of its memory, of a mesh.
    Shared(trioxide::Error),
    /// Squares of a mesh's lengths leave single precision.
    Single(trioxide::Error),
    /// A failure of decimation.
    Decimate(trioxide::decimate::Error),
    /// Decimation of whole meshes refuses the mesh or the options.
    DecimateRefused(decimate::Refusal),
    /// A failure of Polylla.
    Polylla(trioxide::polylla::Error),
    /// Polylla of whole meshes refuses the mesh or the options.
    PolyllaRefused(polylla::Refusal),
    /// A failure of refinement of triangles.
    Refine(trioxide::refine::Error),
    /// A failure of refinement of tetrahedra.
    RefineTets(refine_tets::Error),
    /// Refinement of whole meshes refuses the mesh or the options.
    RefineRefused(refine::Refusal),
    /// A refusal of a comparison.
    #[cfg(feature = "compare")]
    CompareRefused(compare::Refusal),
    /// The second mesh of a comparison breaks a rule.
    Second(trioxide::Error),
    /// A refusal of reordering.
    ReorderRefused(reorder::Refusal),
    /// A refusal of repair.
    RepairRefused(repair::Refusal),
    /// A failure of smoothing.
    Smooth(trioxide::smooth::Error),
    /// Smoothing of whole meshes refuses the mesh or the options.
    SmoothRefused(smooth::Refusal),
    /// Untangling has left inverted cells.
    Tangled(Box<smooth::Tangled>),
    /// A failure of triangulation.
    Delaunay(trioxide::delaunay::Error),
    /// A refusal of triangulation of whole meshes.
    #[cfg(feature = "triangulate")]
    TriangulateRefused(triangulate::Refusal),
    /// The background of a triangulation breaks a rule.
    Background(trioxide::Error),
    /// A refusal of a Poisson problem.
    #[cfg(feature = "vem")]
    VemRefused(vem::Refusal),
    /// A failure of welding.
    Weld(trioxide::weld::Error),
    /// Welding of whole meshes refuses the mesh or the options.
    WeldRefused(weld::Refusal),
    /// The memory that an operation may use does not suffice: another device would have no more.
    Limited(Box<Error>),
}

/// How a front end writes options in the text of an error.
#[derive(Clone, Copy)]
pub struct Names {
    /// An option: `--method`.
    pub option: fn(&str) -> String,
    /// An option with a value: `--method grid`.
    pub value: fn(&str, &str) -> String,
}

/// Options as fields: `memory_limit`.
pub const FIELDS: Names = Names {
    option: |option| format!("`{option}`"),
    value: |option, value| format!("`{option}` {value}"),
};

impl Error {
    /// Whether the memory of the device does not suffice: another may have more.
    pub fn is_out_of_memory(&self) -> bool {
        use trioxide::polylla::Error as Polylla;
        use trioxide::weld::Error as Weld;
        match self {
            Self::Shared(error)
            | Self::Polylla(Polylla::Mesh(error))
            | Self::Second(error)
            | Self::Weld(Weld::Shared(error)) => error.is_out_of_memory(),
            Self::Weld(error) => matches!(
                error,
                Weld::TooDense { .. } | Weld::FacesInSlabs { .. } | Weld::Neighbours { .. }
            ),
            Self::WeldRefused(refusal) => matches!(refusal, weld::Refusal::InSlabs { .. }),
            _ => false,
        }
    }

    /// Its cause and its remedy, with these names of options.
    pub fn say(&self, names: Names) -> String {
        match self {
            Self::Shared(error) => error.to_string(),
            Self::Single(error) => {
                let double = (names.value)("precision", "f64");
                format!("{error}, or use {double}")
            }
            Self::Polylla(error @ trioxide::polylla::Error::TiedRing) => {
                format!("{error}: use {}", (names.value)("ties", "edge"))
            }
            Self::Polylla(error) => error.to_string(),
            Self::Decimate(error) => error.to_string(),
            Self::DecimateRefused(refusal) => refusal.say(names),
            Self::PolyllaRefused(refusal) => refusal.say(names),
            Self::Refine(error) => refine::say(error, names),
            Self::RefineTets(error) => error.to_string(),
            Self::RefineRefused(refusal) => refusal.say(names),
            #[cfg(feature = "compare")]
            Self::CompareRefused(refusal) => refusal.say(names),
            Self::Second(error) => format!("the second mesh: {error}"),
            Self::ReorderRefused(refusal) => refusal.say(names),
            Self::RepairRefused(refusal) => refusal.say(names),
            Self::Smooth(error) => smooth::say(error, names),
            Self::SmoothRefused(refusal) => refusal.say(names),
            Self::Tangled(left) => format!("{} {}", left.element(), left.say(names)),
            Self::Delaunay(error @ trioxide::delaunay::Error::Repeated { .. }) => {
                let first = (names.value)("duplicates", "first");
                format!("{error}, or use {first}")
            }
            Self::Delaunay(error @ trioxide::delaunay::Error::Hollow { .. }) => {
                format!("{error}, or use {}", (names.value)("holes", "inner"))
            }
            Self::Delaunay(error) => error.to_string(),
            Self::Background(error) => format!("the background: {error}"),
            #[cfg(feature = "triangulate")]
            Self::TriangulateRefused(refusal) => refusal.say(names),
            #[cfg(feature = "vem")]
            Self::VemRefused(refusal) => refusal.say(names),
            Self::Weld(error) => weld::say(error, names),
            Self::WeldRefused(refusal) => refusal.say(names),
            Self::Limited(error) => error.say(names),
        }
    }

    /// As an error of the library, in words with these names of options.
    pub fn worded(self, names: Names) -> trioxide::Error {
        use trioxide::Error as Shared;
        let text = self.say(names);
        match self {
            _ if self.is_out_of_memory() && !self.has_bytes() => Shared::NoMemory(text),
            Self::Shared(error) => error,
            Self::Background(_) | Self::Second(_) => Shared::Argument(text),
            #[cfg(feature = "compare")]
            Self::CompareRefused(_) => Shared::Argument(text),
            Self::Single(error) => with_text(error, text),
            Self::Polylla(error) => with_text(error.into(), text),
            Self::Decimate(error) => with_text(error.into(), text),
            Self::Refine(error) => with_text(error.into(), text),
            Self::RefineTets(error) => error.into(),
            Self::Smooth(error) => with_text(error.into(), text),
            Self::Tangled(left) => Shared::of_element(left.element(), &text),
            Self::Weld(error) => with_text(error.into(), text),
            Self::Delaunay(error) => with_text(error.into(), text),
            #[cfg(feature = "triangulate")]
            Self::TriangulateRefused(triangulate::Refusal::Crossings(_)) => {
                Shared::of_element(triangulate::OUTLINE.to_owned(), &text)
            }
            #[cfg(feature = "triangulate")]
            Self::TriangulateRefused(_) => Shared::Argument(text),
            #[cfg(feature = "vem")]
            Self::VemRefused(_) => Shared::Argument(text),
            Self::SmoothRefused(_)
            | Self::DecimateRefused(_)
            | Self::PolyllaRefused(_)
            | Self::RefineRefused(_)
            | Self::ReorderRefused(_)
            | Self::RepairRefused(_)
            | Self::WeldRefused(_)
            | Self::Limited(_) => Shared::Argument(text),
        }
    }

    /// Whether it is a lack of a number of bytes, which the library's error has.
    pub(crate) fn has_bytes(&self) -> bool {
        use trioxide::polylla::Error as Polylla;
        use trioxide::weld::Error as Weld;
        matches!(
            self,
            Self::Shared(trioxide::Error::OutOfMemory { .. })
                | Self::Polylla(Polylla::Mesh(trioxide::Error::OutOfMemory { .. }))
                | Self::Weld(Weld::Shared(trioxide::Error::OutOfMemory { .. }))
        )
    }
}

/// A library's error with another text. Where it has an element, the text begins with it.
fn with_text(error: trioxide::Error, text: String) -> trioxide::Error {
    match error {
        trioxide::Error::Invalid { element, .. } => trioxide::Error::of_element(element, &text),
        trioxide::Error::Argument(_) => trioxide::Error::Argument(text),
        error => error,
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.say(FIELDS))
    }
}

impl std::error::Error for Error {}

impl From<trioxide::delaunay::Error> for Error {
    fn from(error: trioxide::delaunay::Error) -> Self {
        match error {
            trioxide::delaunay::Error::Shared(error) => Self::Shared(error),
            error => Self::Delaunay(error),
        }
    }
}

#[cfg(feature = "triangulate")]
impl From<triangulate::Refusal> for Error {
    fn from(refusal: triangulate::Refusal) -> Self {
        Self::TriangulateRefused(refusal)
    }
}

impl From<trioxide::Error> for Error {
    fn from(error: trioxide::Error) -> Self {
        Self::Shared(error)
    }
}

impl From<half_edges::Error> for Error {
    fn from(error: half_edges::Error) -> Self {
        use half_edges::Error as Mesh;
        match error {
            Mesh::TooLarge { precision, .. } | Mesh::TooSmall { precision, .. }
                if precision == Vec2::PRECISION =>
            {
                Self::Single(error.into())
            }
            error => Self::Shared(error.into()),
        }
    }
}

impl From<refine_tets::Error> for Error {
    fn from(error: refine_tets::Error) -> Self {
        use refine_tets::Error as Mesh;
        match error {
            Mesh::TooLarge { precision, .. } | Mesh::TooSmall { precision, .. }
                if precision == Vec2::PRECISION =>
            {
                Self::Single(error.into())
            }
            Mesh::Mesh(error) => Self::Shared(error),
            Mesh::Unfit(unfit) => Self::RefineRefused(refine::Refusal::Mark(unfit)),
            error => Self::RefineTets(error),
        }
    }
}

impl From<trioxide::refine::Error> for Error {
    fn from(error: trioxide::refine::Error) -> Self {
        use trioxide::refine::Error as Refine;
        match error {
            Refine::Mesh(error) => Self::Shared(error),
            Refine::HalfEdges(error) => error.into(),
            Refine::Unfit(unfit) => Self::RefineRefused(refine::Refusal::Mark(unfit)),
            error => Self::Refine(error),
        }
    }
}

impl From<refine::Refusal> for Error {
    fn from(refusal: refine::Refusal) -> Self {
        Self::RefineRefused(refusal)
    }
}

#[cfg(feature = "compare")]
impl From<compare::Refusal> for Error {
    fn from(refusal: compare::Refusal) -> Self {
        Self::CompareRefused(refusal)
    }
}

impl From<reorder::Refusal> for Error {
    fn from(refusal: reorder::Refusal) -> Self {
        Self::ReorderRefused(refusal)
    }
}

impl From<repair::Refusal> for Error {
    fn from(refusal: repair::Refusal) -> Self {
        Self::RepairRefused(refusal)
    }
}

impl From<trioxide::smooth::Error> for Error {
    fn from(error: trioxide::smooth::Error) -> Self {
        match error {
            trioxide::smooth::Error::Shared(error) => Self::Shared(error),
            error => Self::Smooth(error),
        }
    }
}

impl From<smooth::Refusal> for Error {
    fn from(refusal: smooth::Refusal) -> Self {
        Self::SmoothRefused(refusal)
    }
}

impl From<trioxide::decimate::Error> for Error {
    fn from(error: trioxide::decimate::Error) -> Self {
        match error {
            trioxide::decimate::Error::Shared(error) => Self::Shared(error),
            error => Self::Decimate(error),
        }
    }
}

impl From<decimate::Refusal> for Error {
    fn from(refusal: decimate::Refusal) -> Self {
        Self::DecimateRefused(refusal)
    }
}

impl From<trioxide::polylla::Error> for Error {
    fn from(error: trioxide::polylla::Error) -> Self {
        Self::Polylla(error)
    }
}

impl From<polylla::Refusal> for Error {
    fn from(refusal: polylla::Refusal) -> Self {
        Self::PolyllaRefused(refusal)
    }
}

#[cfg(feature = "vem")]
impl From<vem::Refusal> for Error {
    fn from(refusal: vem::Refusal) -> Self {
        Self::VemRefused(refusal)
    }
}

impl From<trioxide::weld::Error> for Error {
    fn from(error: trioxide::weld::Error) -> Self {
        Self::Weld(error)
    }
}

impl From<weld::Refusal> for Error {
    fn from(refusal: weld::Refusal) -> Self {
        Self::WeldRefused(refusal)
    }
}

impl From<Error> for trioxide::Error {
    fn from(error: Error) -> Self {
        error.worded(FIELDS)
    }
}
