//! Reasons why welding of whole meshes refuses a mesh or options; their words, and the words of the family's failures.

use trioxide::weld::{Error, Method};

use super::Names;

/// A reason why welding of whole meshes refuses a mesh or options, besides the reasons of the family
/// ([`trioxide::weld::Error`]).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// Neither epsilon nor ratio is given.
    NoDistance,
    /// Both epsilon and ratio are given.
    TwoDistances,
    /// A limit of the device's memory is given with a ratio, whose search needs the whole mesh on the device.
    LimitedRatio,
    /// The sequential algorithm takes no memory of a device.
    SerialLimit,
    /// The sequential algorithm is a method of its own.
    SerialMethod,
    /// A mesh on a device is welded there at once.
    ResidentLimit,
    /// The mesh does not fit the memory at once, and slabs do not support one of its arrays or the options.
    InSlabs {
        /// The device.
        device: String,
        /// Bytes that the mesh takes at once.
        needed: u64,
        /// Bytes that may be used.
        limit: u64,
        /// The array or option that slabs do not support.
        without: Without,
    },
}

/// An array of the mesh, or an option, that slabs do not support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Without {
    /// The search for a ratio.
    Ratio,
    /// Tolerances of attributes.
    Tolerances,
    /// Locked vertices.
    Locks,
    /// A method that is not the grid.
    Method(Method),
    /// Normals, colours, texture coordinates and regions.
    Attributes,
}

impl Refusal {
    pub(super) fn say(&self, names: Names) -> String {
        let Names { option, value } = names;
        match self {
            Self::NoDistance => format!(
                "give {}, a distance, or {}, the fraction of the vertices to remove",
                option("epsilon"),
                option("ratio")
            ),
            Self::TwoDistances => format!(
                "{} and {} both say how far vertices merge: give one of them",
                option("epsilon"),
                option("ratio")
            ),
            Self::LimitedRatio => format!(
                "{} does not go with {}: give {}",
                option("memory_limit"),
                option("ratio"),
                option("epsilon")
            ),
            Self::SerialLimit => format!(
                "{} is for the memory of a device: leave it out with {}",
                option("memory_limit"),
                value("device", "serial")
            ),
            Self::SerialMethod => format!(
                "{} has one method of its own: leave {} out, or use another {}",
                value("device", "serial"),
                option("method"),
                option("device")
            ),
            Self::ResidentLimit => format!(
                "{} is for a mesh in host memory: leave it out, or weld on the host",
                option("memory_limit")
            ),
            Self::InSlabs {
                device,
                needed,
                limit,
                without,
            } => {
                let (what, remedy) = without.say(names);
                format!(
                    "welding at once takes {needed} bytes of {device}, of which {limit} may be used, and in slabs it does without \
                     {what}: {remedy}, or give weld more memory"
                )
            }
        }
    }
}

impl Without {
    /// Its name, and the remedy.
    fn say(self, Names { option, value }: Names) -> (String, String) {
        let leave_out = "leave it out".to_owned();
        match self {
            Self::Ratio => (option("ratio"), format!("give {}", option("epsilon"))),
            Self::Tolerances => ("tolerances".to_owned(), "leave them out".to_owned()),
            Self::Locks => (option("lock"), leave_out),
            Self::Method(method) => (value("method", method.name()), leave_out),
            Self::Attributes => (
                "normals, colours, texture coordinates and regions".to_owned(),
                "drop them".to_owned(),
            ),
        }
    }
}

/// A failure of the family with its remedy.
pub(super) fn say(error: &Error, Names { option, value }: Names) -> String {
    let method = |method: &Method| value("method", method.name());
    match error {
        Error::Guarded { method: used } => format!(
            "tolerances and locks are known to {} alone: leave {} out",
            method(&Method::Grid),
            method(used)
        ),
        Error::MethodInSlabs { method: used } => format!(
            "slabs are welded by {} alone: leave {} out, or give weld more memory",
            method(&Method::Grid),
            method(used)
        ),
        Error::TooLarge { .. } => format!(
            "{error}: weld parts of the mesh, or use {}",
            value("device", "serial")
        ),
        Error::TooDense { .. } => format!("{error}, or use another {}", option("device")),
        Error::FacesInSlabs { .. } => {
            format!("{error}, or keep them by {}", option("keep_degenerate"))
        }
        Error::Neighbours { .. } => format!(
            "{error}: use {}, which has none, or a smaller {}",
            method(&Method::Grid),
            option("epsilon")
        ),
        error => error.to_string(),
    }
}
