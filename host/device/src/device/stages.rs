//! Named stages of work, and their times.

use std::mem::ManuallyDrop;

use super::{Device, Mark, Traffic, lock};
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
    sums: Vec<(Stage, Traffic)>,
    marked: Vec<(&'static str, Mark, Mark, Traffic)>,
}

/// The mark before a stage, and the traffic until then.
type Begun = ManuallyDrop<Box<(Mark, Traffic)>>;

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
        // Little code: this function has an instance for each of five hundred stages. So it has nothing to drop but
        // `work` and its result; a panic of `work` leaks the mark.
        let begun = self.begin_stage(name)?;
        let result = work();
        match self.end_stage(name, begun, result.is_ok()) {
            Ok(()) => result,
            Err(error) => Err(error.into()),
        }
    }

    #[inline(never)]
    fn begin_stage(&self, name: &'static str) -> Result<Begun> {
        crate::progress::check()?;
        crate::progress::stage(name);
        let begun = Box::new((self.0.backend.mark()?, self.0.traffic.so_far()));
        Ok(ManuallyDrop::new(begun))
    }

    /// Notes the stage if its work succeeded.
    #[inline(never)]
    fn end_stage(&self, name: &'static str, begun: Begun, is_done: bool) -> Result<()> {
        let (from, before) = *ManuallyDrop::into_inner(begun);
        if !is_done {
            return Ok(());
        }
        let to = self.0.backend.mark()?;
        self.note_stage(name, from, to, self.0.traffic.so_far() - before)
    }

    /// Notes the stage between two marks, and its traffic.
    pub(super) fn note_stage(
        &self,
        name: &'static str,
        from: Mark,
        to: Mark,
        moved: Traffic,
    ) -> Result<()> {
        let mut stages = lock(&self.0.stages);
        stages.marked.push((name, from, to, moved));
        match stages.marked.len() < MOST_MARKED {
            true => Ok(()),
            false => self.add_up(&mut stages),
        }
    }

    /// Adds up stages of the same name, in the order of their first run.
    fn add_up(&self, stages: &mut Stages) -> Result<()> {
        self.synchronize()?;
        for (name, from, to, moved) in stages.marked.drain(..) {
            let milliseconds = self.0.backend.elapsed(&from, &to)?;
            match stages.sums.iter_mut().find(|(stage, _)| stage.name == name) {
                Some((stage, traffic)) => {
                    stage.milliseconds += milliseconds;
                    *traffic += moved;
                }
                None => stages.sums.push((Stage { name, milliseconds }, moved)),
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
        let stages = self.take_stages_with_traffic()?;
        Ok(stages.into_iter().map(|(stage, _)| stage).collect())
    }

    /// As [`Device::take_stages`], with the bytes that each stage moves at least. Other threads' launches on this
    /// device count too.
    ///
    /// # Errors
    /// As [`Device::take_stages`].
    pub fn take_stages_with_traffic(&self) -> Result<Vec<(Stage, Traffic)>> {
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

    #[test]
    fn a_stage_has_the_bytes_of_its_launches_fills_and_copies() {
        let on = Device::cpu(Some(1)).unwrap();
        on.filled(7, 0u32).unwrap();
        for _ in 0..2 {
            on.stage("scan", || {
                let mut values = on.filled(100, 1u32)?;
                crate::collective::exclusive_scan(&on, &mut values)?;
                on.duplicate(&values).map(drop)
            })
            .unwrap();
        }
        let stages = on.take_stages_with_traffic().unwrap();
        // Of collective's head: a scan of 100 numbers reads and writes them, and writes their sum.
        let bytes = 400 + (800 + 4) + 800;
        let (counted, uncounted) = (6, 0);
        let moved = Traffic {
            bytes: 2 * bytes,
            counted,
            uncounted,
        };
        assert_eq!((stages.len(), stages[0].1), (1, moved));
    }
}
