//! Named stages of work, and their times.

use super::{Device, Mark, lock};
use crate::{Error, Result};

/// Time of a named stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Its name.
    pub name: &'static str,
    /// Its time: between events on a GPU, by the clock on a CPU.
    pub milliseconds: f64,
}

impl Device {
    /// Runs `work` as a named stage.
    ///
    /// # Errors
    /// Errors of `work`; [`Error::Interrupted`] where another thread [ends](crate::progress::Interrupt) the computation.
    pub fn stage<R>(&self, name: &'static str, work: impl FnOnce() -> Result<R>) -> Result<R> {
        self.try_stage(name, work)
    }

    /// As [`Device::stage`], where `work` has an error of its own.
    ///
    /// # Errors
    /// As [`Device::stage`].
    pub fn try_stage<R, E: From<Error>>(
        &self,
        name: &'static str,
        work: impl FnOnce() -> Result<R, E>,
    ) -> Result<R, E> {
        let from = self.begin_stage(name)?;
        let result = work()?;
        self.end_stage(name, from)?;
        Ok(result)
    }

    // These two are compiled once, and not into each of some hundred stages.

    #[inline(never)]
    fn begin_stage(&self, name: &'static str) -> Result<Mark> {
        crate::progress::check()?;
        crate::progress::stage(name);
        self.0.backend.mark()
    }

    #[inline(never)]
    fn end_stage(&self, name: &'static str, from: Mark) -> Result<()> {
        let to = self.0.backend.mark()?;
        lock(&self.0.stages).push((name, from, to));
        Ok(())
    }

    /// The stages since the last call; stages of the same name are added up, in the order of their first run.
    ///
    /// # Errors
    /// [`Error::Device`] when their work failed.
    pub fn take_stages(&self) -> Result<Vec<Stage>> {
        self.synchronize()?;
        let mut stages: Vec<Stage> = Vec::new();
        for (name, from, to) in std::mem::take(&mut *lock(&self.0.stages)) {
            let milliseconds = self.0.backend.elapsed(&from, &to)?;
            match stages.iter_mut().find(|stage| stage.name == name) {
                Some(stage) => stage.milliseconds += milliseconds,
                None => stages.push(Stage { name, milliseconds }),
            }
        }
        Ok(stages)
    }
}
