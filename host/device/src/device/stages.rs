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

/// Ended stages that are not added up yet. Beyond this number they are added up, even if the program never asks for
/// times.
const MOST_MARKED: usize = 4096;

/// The stages since the last call of [`Device::take_stages`].
#[derive(Default)]
pub(super) struct Stages {
    sums: Vec<Stage>,
    marked: Vec<(&'static str, Mark, Mark)>,
}

impl Device {
    /// Runs `work` as a named stage.
    ///
    /// # Errors
    /// Errors of `work`; [`Error::Interrupted`] if another thread [ends](crate::progress::Interrupt) the computation.
    pub fn stage<R>(&self, name: &'static str, work: impl FnOnce() -> Result<R>) -> Result<R> {
        self.try_stage(name, work)
    }

    /// As [`Device::stage`], for `work` with an error type of its own.
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

    // These two are compiled once, not for each of a hundred stages.

    #[inline(never)]
    fn begin_stage(&self, name: &'static str) -> Result<Mark> {
        crate::progress::check()?;
        crate::progress::stage(name);
        self.0.backend.mark()
    }

    #[inline(never)]
    fn end_stage(&self, name: &'static str, from: Mark) -> Result<()> {
        let to = self.0.backend.mark()?;
        self.note_stage(name, from, to)
    }

    /// Notes the stage between two marks.
    pub(super) fn note_stage(&self, name: &'static str, from: Mark, to: Mark) -> Result<()> {
        let mut stages = lock(&self.0.stages);
        stages.marked.push((name, from, to));
        match stages.marked.len() < MOST_MARKED {
            true => Ok(()),
            false => self.add_up(&mut stages),
        }
    }

    /// Adds up stages of the same name, in the order of their first run.
    fn add_up(&self, stages: &mut Stages) -> Result<()> {
        self.synchronize()?;
        for (name, from, to) in stages.marked.drain(..) {
            let milliseconds = self.0.backend.elapsed(&from, &to)?;
            match stages.sums.iter_mut().find(|stage| stage.name == name) {
                Some(stage) => stage.milliseconds += milliseconds,
                None => stages.sums.push(Stage { name, milliseconds }),
            }
        }
        Ok(())
    }

    /// The stages since the last call; stages of the same name are added up, in the order of their first run.
    ///
    /// # Errors
    /// [`Error::Device`] when their work failed.
    ///
    /// ```
    /// # use trioxide_device::Device;
    /// # fn main() -> trioxide_device::Result<()> {
    /// let on = Device::cpu(None)?;
    /// for _ in 0..2 {
    ///     on.stage("fill", || on.filled(1000, 0))?;
    /// }
    /// let stages = on.take_stages()?;
    /// assert_eq!(stages[0].name, "fill");
    /// println!("two fills took {} ms", stages[0].milliseconds);
    /// # Ok(())
    /// # }
    /// ```
    pub fn take_stages(&self) -> Result<Vec<Stage>> {
        let mut stages = lock(&self.0.stages);
        self.add_up(&mut stages)?;
        Ok(std::mem::take(&mut stages.sums))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program may run pipelines for days, and never ask for their times.
    #[test]
    fn stages_that_nobody_asks_for_take_no_memory() {
        let on = Device::cpu(Some(1)).unwrap();
        for _ in 0..3 * MOST_MARKED {
            on.stage("one", || Ok(())).unwrap();
            on.stage("other", || Ok(())).unwrap();
        }
        assert!(lock(&on.0.stages).marked.capacity() <= 2 * MOST_MARKED);
        let names: Vec<_> = on.take_stages().unwrap().iter().map(|s| s.name).collect();
        assert_eq!(names, ["one", "other"]);
        assert!(on.take_stages().unwrap().is_empty());
    }
}
