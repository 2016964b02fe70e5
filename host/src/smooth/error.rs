//! Errors of smoothing.

use super::form::Form;

/// Result of smoothing.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a mesh was not smoothed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The tolerance is no length.
    #[error("a tolerance of {0} stops nothing: give a length, or 0 for none")]
    Tolerance(f64),
    /// The list of fixed nodes has another length than the mesh has nodes.
    #[error("the fixed list has {entries} entries; the mesh has {nodes} nodes")]
    FixedNodes {
        /// Elements of the list.
        entries: usize,
        /// Nodes of the mesh.
        nodes: usize,
    },
    /// Coloured or exact sweeps by one block.
    #[error(
        "coloured and exact sweeps need many blocks: form B over one block is deterministic already"
    )]
    OneBlock,
    /// Guarded sweeps of another form than by colours.
    #[error("guarded sweeps go by colours: they need form BColoured, not {0:?}")]
    GuardedForm(Form),
    /// Parameters of Taubin's smoothing out of range.
    #[error(
        "lambda {lambda} and mu {mu} do not keep the size of a shape: give numbers with 0 < lambda < -mu, and -mu at most 1"
    )]
    TaubinRange {
        /// Part of the way to the mean.
        lambda: f64,
        /// Part of the way back, below 0.
        mu: f64,
    },
    /// Parameters of HC smoothing out of range.
    #[error(
        "alpha and beta of HC smoothing are parts of a whole, not {alpha} and {beta}: give numbers from 0 to 1"
    )]
    HcRange {
        /// Part of the way back to the nodes' first positions.
        alpha: f64,
        /// Part of the push that is the node's own.
        beta: f64,
    },
    /// HC smoothing by another form than A, or by one block.
    #[error("HC smoothing moves all nodes at the same time: it needs form A over many blocks")]
    HcForm,
    /// A guard for a surface in space.
    #[error(
        "the guard is for cells, and for faces in a plane of one z: smooth a surface in space without it"
    )]
    GuardedSurface,
    /// Cotangent weights of a mesh with other cells than simplices.
    #[error(
        "cotangent weights are for triangles and tetrahedra only: take uniform or inverse-length weights"
    )]
    CotangentCells,
    /// Form B over many blocks by the sequential reference.
    #[error(
        "form B over many blocks is a race, which a sequential run cannot repeat: take form BExact"
    )]
    Race,
    /// Sweeps of another kind than the nodes were ordered for.
    #[error(
        "the nodes were prepared for sweeps of form {form:?} {}: prepare them with the options of the sweeps",
        if *guard { "with a guard" } else { "without a guard" }
    )]
    OtherSweeps {
        /// The form that the nodes were prepared for.
        form: Form,
        /// Whether they were prepared for guarded sweeps.
        guard: bool,
    },
    /// Untangling of faces that are not triangles of a plane.
    #[error(
        "only triangles of the plane are untangled and improved, of meshes of faces: all vertices need one z, and all faces three vertices"
    )]
    UntangledFaces,
    /// No cell is valid: the numbering may be left-handed.
    #[error(
        "all {0} cells are inverted: turn each, by swapping two vertices of a triangle or tetrahedron, or the two opposite faces of another cell"
    )]
    AllInverted(u32),
    /// Inverted cells of a mesh to improve.
    #[error(
        "{count} cells are inverted, the first is {first}: only valid meshes are improved, so untangle it first"
    )]
    Inverted {
        /// Number of inverted cells.
        count: u32,
        /// The first one.
        first: u32,
    },
    /// A mesh breaks a rule, or the device failed.
    #[error(transparent)]
    Shared(#[from] trioxide_mesh::Error),
}

impl From<Error> for String {
    fn from(error: Error) -> String {
        error.to_string()
    }
}

impl From<Error> for trioxide_mesh::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Shared(error) => error,
            other => trioxide_mesh::Error::Argument(other.to_string()),
        }
    }
}
