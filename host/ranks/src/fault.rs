//! Errors on which all ranks agree: one sentence, the same for any number of ranks where the mesh is at fault.

use std::fmt;

use glam::Vec2;
use gpu::point::Coordinates;
use trioxide::{Error, half_edges, polylla, refine, refine_tets, smooth, weld};

use bytemuck::Pod;

use crate::transport::{Mail, Ranks, Reduction};

/// The reason why a rank cannot go on: a sentence, and its place in an order of all ranks' faults. The first counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    order: u64,
    text: String,
    leaves_single: bool,
}

/// Result of the work of ranks.
pub type Result<T, E = Fault> = std::result::Result<T, E>;

/// Faults of meshes come after all others.
const OF_MESH: u64 = 1 << 60;

impl Fault {
    /// A fault of the mesh. The first of two has the smaller rule, or else the smaller element.
    pub fn of_mesh(rule: u8, element: u64, text: String) -> Self {
        let order = OF_MESH | u64::from(rule) << 52 | element.min((1 << 52) - 1);
        Self {
            order,
            text,
            leaves_single: false,
        }
    }

    /// The same fault, with whether squares of the mesh's lengths leave single precision: then double precision helps.
    pub fn leaving_single(self, leaves_single: bool) -> Self {
        Self {
            leaves_single,
            ..self
        }
    }

    /// Whether squares of the mesh's lengths leave single precision: then double precision helps.
    pub fn leaves_single(&self) -> bool {
        self.leaves_single
    }

    /// Whether the mesh is at fault, and not a file, a device or an argument.
    pub fn is_of_mesh(&self) -> bool {
        self.order >= OF_MESH
    }

    /// The rule that the mesh breaks, of [`Fault::of_mesh`]; 0 where something else is at fault.
    pub fn rule(&self) -> u8 {
        ((self.order & !OF_MESH) >> 52) as u8
    }
}

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
        Self {
            order,
            text: error.to_string(),
            leaves_single: false,
        }
    }
}

/// Faults from errors of families; the functions say whether lengths leave single precision.
macro_rules! from_errors {
    ($($error:ty: $leaves_single:expr;)*) => {$(
        impl From<$error> for Fault {
            fn from(error: $error) -> Self {
                let leaves_single: fn(&$error) -> bool = $leaves_single;
                let leaves_single = leaves_single(&error);
                Fault::from(Error::from(error)).leaving_single(leaves_single)
            }
        }
    )*};
}

from_errors! {
    half_edges::Error: is_single;
    polylla::Error: |_| false;
    refine::Error: |error| matches!(error, refine::Error::HalfEdges(error) if is_single(error));
    refine_tets::Error: |error| {
        use refine_tets::Error::{TooLarge, TooSmall};
        let (TooLarge { precision, .. } | TooSmall { precision, .. }) = error else {
            return false;
        };
        *precision == Vec2::PRECISION
    };
    smooth::Error: |_| false;
    weld::Error: |_| false;
}

/// Whether squares of lengths leave single precision.
pub(crate) fn is_single(error: &half_edges::Error) -> bool {
    use half_edges::Error::{TooLarge, TooSmall};
    matches!(error, TooLarge { precision, .. } | TooSmall { precision, .. } if *precision == Vec2::PRECISION)
}

/// Ranks that meet within a pipeline of the single run, whose errors are not faults.
pub struct Joint<'r> {
    /// The ranks.
    pub ranks: &'r Ranks<'r>,
    /// The fault on which all have agreed.
    fault: Option<Fault>,
}

impl<'r> Joint<'r> {
    /// No rank has failed yet.
    pub fn new(ranks: &'r Ranks<'r>) -> Self {
        Self { ranks, fault: None }
    }

    /// As [`Ranks::agree`]. Where a rank has failed, the pipeline ends as if it were interrupted. Collective.
    ///
    /// # Errors
    /// [`Error::Interrupted`] in place of the fault, which [`Joint::end`] returns.
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
            None => self.ranks.agree(result),
        }
    }
}

impl Ranks<'_> {
    /// As [`ask_together`](Ranks::ask_together), where a rank may fail.
    ///
    /// # Errors
    /// The fault of `answer` on which all ranks agree.
    pub fn try_ask<Q: Pod, A: Pod>(
        &self,
        questions: &Mail<Q>,
        answer: impl FnOnce(&Mail<Q>) -> Result<Vec<A>>,
    ) -> Result<Vec<A>> {
        let asked = self.exchange(questions);
        let answers = self.agree(answer(&asked))?;
        Ok(self.send_back(questions, asked.with(answers)))
    }

    /// The result of this rank if no rank has failed; else the first fault of all, on every rank. Collective.
    ///
    /// # Errors
    /// The fault on which all agree.
    pub fn agree<T, E: Into<Fault>>(&self, result: Result<T, E>) -> Result<T> {
        let result = result.map_err(E::into);
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
        let said = match &result {
            Err(fault) if from == self.rank() => {
                [&[fault.leaves_single.into()], fault.text.as_bytes()].concat()
            }
            _ => Vec::new(),
        };
        let mut text = self.all(&said).into_items();
        let leaves_single = text.remove(0) != 0;
        Err(Fault {
            order,
            text: String::from_utf8(text).expect("a sentence is UTF-8"),
            leaves_single,
        })
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
            let ok: Result<usize> = Ok(ranks.rank());
            assert_eq!(ranks.agree(ok.clone()), ok);
            let fault = |rule, element: u64| {
                Err(Fault::of_mesh(rule, element, format!("{rule} {element}")))
            };
            ranks.agree::<(), Fault>(match ranks.rank() {
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
