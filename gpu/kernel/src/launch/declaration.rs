//! The declaration of a kernel, for all of its launches. A launch adds the values that its arguments' types decide.

use core::any::TypeId;

use super::{Arguments, Calls, Kernel, Launch, LaunchError, Launcher, Moves, Shape, TooShort};
use crate::parameter::Parameter;

/// A kernel's declaration.
pub struct Declaration {
    /// The function's name.
    pub name: &'static str,
    /// The package that declares it.
    pub package: &'static str,
    /// The module that declares it.
    pub module: &'static str,
    /// Names of the PTX entries, one for each instance.
    pub entries: &'static [&'static str],
    /// Their counterparts on the CPU.
    pub calls: &'static [Calls],
    /// The conditions of a launch, in the order in which they are evaluated.
    pub conditions: &'static [&'static str],
    /// The formula of the bytes that a launch moves.
    pub formula: Option<&'static str>,
}

/// A launch, as its arguments decide it.
pub struct Called {
    /// Place of the instance.
    pub instance: usize,
    /// How indices become calls.
    pub shape: Shape,
    /// Bytes of shared memory of each block.
    pub shared: usize,
    /// Number of indices, or of blocks.
    pub n: u32,
    /// Place of the first condition that does not hold; the number of conditions if all hold.
    pub broken: usize,
    /// The bytes that it moves, if the declaration has a formula.
    pub bytes: u64,
}

impl Declaration {
    /// The launch with these arguments; `short` is an array with too few elements.
    ///
    /// # Errors
    /// [`LaunchError::TooShort`]; [`LaunchError::Requirement`] for a broken condition.
    pub fn launch(
        &self,
        called: Called,
        arguments: Arguments,
        short: Option<TooShort>,
    ) -> Result<Launch, LaunchError> {
        let Called {
            instance, n, bytes, ..
        } = called;
        if let Some(TooShort { array, len, per }) = short {
            return Err(LaunchError::TooShort {
                kernel: self.name,
                array,
                len,
                n,
                per,
            });
        }
        if let Some(&condition) = self.conditions.get(called.broken) {
            return Err(LaunchError::Requirement {
                kernel: self.name,
                condition,
                lengths: lengths(n, &arguments),
            });
        }
        Ok(Launch {
            kernel: Kernel {
                name: self.name,
                entry: self.entries[instance],
                package: self.package,
                module: self.module,
            },
            shape: called.shape,
            n,
            shared: called.shared,
            arguments,
            moves: self.formula.map(|formula| Moves { bytes, formula }),
            calls: self.calls[instance],
        })
    }
}

/// Adds the entry's argument for its next parameter.
pub fn add<P: Parameter>(arguments: &mut Arguments, name: &'static str, argument: P::Argument<'_>) {
    let raw = P::raw(name, argument, arguments);
    arguments.push(raw);
}

/// Runs a launch.
///
/// # Errors
/// That of the launch; errors of the machine.
///
/// # Safety
/// As [`Launcher::launch`].
pub unsafe fn run(
    on: &dyn Launcher,
    launch: Result<Launch, LaunchError>,
) -> Result<(), LaunchError> {
    // SAFETY: the caller's promise.
    unsafe { on.launch(launch?) }
}

/// The sentence about the lengths in a launch's error.
fn lengths(n: u32, arguments: &Arguments) -> String {
    let mut text = format!("n is {n}");
    for array in arguments.arrays() {
        text += &format!(", {} has {} elements", array.name, array.len);
    }
    text
}

/// Place of the instance for `P` among the types that the kernel's declaration lists.
///
/// # Errors
/// [`LaunchError::NoInstance`] if it does not list `P`.
pub fn instance<P: 'static>(
    kernel: &'static str,
    instances: &[TypeId],
) -> Result<usize, LaunchError> {
    let own = TypeId::of::<P>();
    let place = instances.iter().position(|instance| *instance == own);
    place.ok_or(LaunchError::NoInstance {
        kernel,
        ty: core::any::type_name::<P>(),
    })
}

/// Place of a constant's value among the values that the kernel's declaration lists.
///
/// # Panics
/// If it does not list `value`: the launch does not compile.
pub const fn place_of_value(listed: &[u64], value: u64) -> usize {
    let mut place = 0;
    while place < listed.len() {
        if listed[place] == value {
            return place;
        }
        place += 1;
    }
    panic!(
        "the kernel's declaration lists no instance for this value of its constant: add it to the list"
    )
}
