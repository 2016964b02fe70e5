use std::time::{Duration, Instant};

use super::Stage;

/// Consecutive stages of work that no device times.
#[derive(Debug)]
pub struct Laps {
    stages: Vec<Stage>,
    start: Instant,
}

impl Laps {
    /// Starts the first stage.
    pub fn start() -> Laps {
        Laps {
            stages: Vec::new(),
            start: Instant::now(),
        }
    }

    /// Ends the stage `name`, and starts the next.
    pub fn end(&mut self, name: &'static str) {
        self.end_all([(name, self.start.elapsed())]);
    }

    /// Ends stages that were timed elsewhere, and starts the next one.
    pub fn end_all(&mut self, stages: impl IntoIterator<Item = (&'static str, Duration)>) {
        self.stages
            .extend(stages.into_iter().map(|(name, time)| Stage {
                name,
                milliseconds: time.as_secs_f64() * 1e3,
            }));
        self.start = Instant::now();
    }

    /// The stages that have ended.
    pub fn into_stages(self) -> Vec<Stage> {
        self.stages
    }
}
