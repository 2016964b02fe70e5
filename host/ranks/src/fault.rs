//! Errors on which all ranks agree: one sentence, the same for any number of ranks where the mesh is at fault.

use std::fmt;

use trioxide::{Error, half_edges, polylla, refine, refine_tets, smooth, weld};

use crate::transport::{Ranks, Reduction};

/// What stopped a rank: a sentence, and its place among those of all ranks, of which the first counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    order: u64,
    text: String,
}

/// Result of the work of ranks.
pub type Result<T, E = Fault> = std::result::Result<T, E>;

impl Fault {
    /// A fault of the mesh: of two the one of the smaller rule counts, then the one of the smaller element.
    pub fn of_mesh(rule: u8, element: u64, text: String) -> Self {
        let order = OF_MESH | u64::from(rule) << 52 | element.min((1 << 52) - 1);
        Self { order, text }
    }
}

impl Fault {
    /// Whether the mesh is at fault, and not a file, a device or an argument.
    pub fn is_of_mesh(&self) -> bool {
        self.order >= OF_MESH
    }

    /// The rule that the mesh breaks, of [`Fault::of_mesh`]; 0 where something else is at fault.
    pub fn rule(&self) -> u8 {
        ((self.order & !OF_MESH) >> 52) as u8
    }
}

/// Faults of meshes come behind all others.
const OF_MESH: u64 = 1 << 60;

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Fault {}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let order = match &error {
            Error::Invalid { .. } => OF_MESH,
            _ => 0,
        };
        let text = error.to_string();
        Self { order, text }
    }
}

impl From<half_edges::Error> for Fault {
    fn from(error: half_edges::Error) -> Self {
        Error::from(error).into()
    }
}

impl From<polylla::Error> for Fault {
    fn from(error: polylla::Error) -> Self {
        Error::from(error).into()
    }
}

impl From<refine::Error> for Fault {
    fn from(error: refine::Error) -> Self {
        Error::from(error).into()
    }
}

impl From<refine_tets::Error> for Fault {
    fn from(error: refine_tets::Error) -> Self {
        Error::from(error).into()
    }
}

impl From<smooth::Error> for Fault {
    fn from(error: smooth::Error) -> Self {
        Error::from(error).into()
    }
}

impl From<weld::Error> for Fault {
    fn from(error: weld::Error) -> Self {
        Error::from(error).into()
    }
}

/// Ranks that meet within a pipeline of the single run, whose errors are not those of ranks.
pub struct Joint<'r> {
    /// The ranks.
    pub ranks: &'r Ranks<'r>,
    /// That of any rank, on which all have agreed.
    fault: Option<Fault>,
}

impl<'r> Joint<'r> {
    /// No rank has failed yet.
    pub fn new(ranks: &'r Ranks<'r>) -> Self {
        Self { ranks, fault: None }
    }

    /// As [`Ranks::agree`]: where a rank has failed the pipeline ends as if it were interrupted. Collective.
    ///
    /// # Errors
    /// [`Error::Interrupted`] in place of the fault, which [`Joint::end`] gives.
    pub fn agree<T>(&mut self, result: Result<T>) -> trioxide::Result<T> {
        self.ranks.agree(result).map_err(|fault| {
            self.fault = Some(fault);
            Error::Interrupted
        })
    }

    /// The result of the pipeline, if it ended well on all ranks. Collective: where one rank failed, the others agree
    /// with it here, or did so within the pipeline.
    ///
    /// # Errors
    /// The fault on which all agree.
    pub fn end<T, E: Into<Fault>>(self, result: Result<T, E>) -> Result<T> {
        match self.fault {
            Some(fault) => Err(fault),
            None => self.ranks.agree(result.map_err(E::into)),
        }
    }
}

impl Ranks<'_> {
    /// The result of this rank if no rank has failed; else the first fault of all, on every rank. Collective.
    ///
    /// # Errors
    /// The fault on which all agree.
    pub fn agree<T>(&self, result: Result<T>) -> Result<T> {
        let mine = match &result {
            Ok(_) => u64::MAX,
            Err(fault) => fault.order,
        };
        let order = self.reduce(mine, Reduction::Min);
        if order == u64::MAX {
            return result;
        }
        let candidate = if mine == order {
            self.rank()
        } else {
            self.size()
        };
        let from = self.reduce(candidate as u64, Reduction::Min) as usize;
        let text = match &result {
            Err(fault) if from == self.rank() => fault.text.as_bytes(),
            _ => &[],
        };
        let text = String::from_utf8(self.broadcast(from, text)).expect("a sentence is UTF-8");
        Err(Fault { order, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::run;

    #[test]
    fn all_ranks_have_the_same_fault() {
        let results = run(4, |transport| {
            let ranks = Ranks::new(transport);
            assert_eq!(ranks.agree(Ok(ranks.rank())), Ok(ranks.rank()));
            let fault = |rule, element: u64| {
                Err(Fault::of_mesh(rule, element, format!("{rule} {element}")))
            };
            ranks.agree::<()>(match ranks.rank() {
                0 => Ok(()),
                1 => fault(2, 0),
                2 => fault(1, 8),
                _ => fault(1, 7),
            })
        });
        for result in results {
            assert_eq!(result.unwrap_err().to_string(), "1 7");
        }
    }
}
