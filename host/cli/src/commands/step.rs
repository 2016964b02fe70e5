//! Commands as steps of a chain.

use std::path::{Path, PathBuf};

use trioxide::formats::ReadOptions;
use trioxide::mesh::Mesh;
use trioxide::volume::VolumeMesh;
use trioxide::{Error, Result};
use trioxide_arguments::auto::Work;
use trioxide_arguments::device::{DeviceOptions, Opening, Report};

/// A command with its options, as a step of a chain.
pub trait Step {
    /// The command's name.
    fn name(&self) -> &'static str;

    /// How its input would be read.
    fn reading(&self) -> ReadOptions;

    /// Its machine, which is the chain's; `None` of a step that needs none.
    fn device(&mut self) -> Option<&mut DeviceOptions>;

    /// The file that it writes, as the option names it.
    fn output(&self) -> Option<&Path>;

    /// The file that the mesh after it goes to: with a number where the option's name has a place for one.
    ///
    /// # Errors
    /// The name with its number is another file of the run.
    fn file(&self) -> Result<Option<PathBuf>> {
        Ok(self.output().map(Path::to_owned))
    }

    /// The work for the choice of a machine.
    fn work(&self) -> Work;

    /// Refuses options that contradict each other or the kind of the mesh, before the chain's input is read.
    ///
    /// # Errors
    /// The contradiction.
    fn check(&self, _is_volume: bool) -> Result<()> {
        Ok(())
    }

    /// Runs the step on the machine that `opening` gives.
    ///
    /// # Errors
    /// Those of the command.
    fn apply(&self, mesh: AnyMesh, opening: &Opening) -> Result<(AnyMesh, Option<Report<'_>>)>;
}

/// The methods of [`Step`] that give the options `reading`, `device` and `output`, which most commands have.
macro_rules! step_fields {
    () => {
        fn reading(&self) -> trioxide::formats::ReadOptions {
            self.reading
        }

        fn device(&mut self) -> Option<&mut trioxide_arguments::device::DeviceOptions> {
            Some(&mut self.device)
        }

        fn output(&self) -> Option<&std::path::Path> {
            self.output.as_deref()
        }
    };
}
pub(super) use step_fields;

/// The mesh between two steps.
pub enum AnyMesh {
    Surface(Mesh),
    Volume(VolumeMesh),
}

impl AnyMesh {
    /// The surface that the step of this name takes.
    ///
    /// # Errors
    /// The mesh has cells.
    pub fn surface(self, step: &str) -> Result<Mesh> {
        match self {
            Self::Surface(mesh) => Ok(mesh),
            Self::Volume(_) => Err(Error::Argument(format!(
                "{step} takes a surface or a planar mesh, and this mesh has cells: reorder, weld, smooth and refine take it"
            ))),
        }
    }
}
