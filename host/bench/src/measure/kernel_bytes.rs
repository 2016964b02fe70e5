//! Bytes that the launches of a kernel must move from and to memory, as its declaration counts them (`#[kernel(moves(…))]`).
//!
//! A kernel without `moves` has no useful formula: it does little, or its reads depend on the mesh.

use trioxide::device::Launched;

/// A stage's traffic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moved {
    pub bytes: u64,
    /// The arrays that move, for people.
    pub what: &'static str,
}

/// The bytes that the launches of one kernel moved; `None` if its declaration does not count them.
pub fn of_launches(launches: &[Launched]) -> Option<Moved> {
    let mut moved = None;
    for launched in launches {
        let moves = launched.moves?;
        let sum = moved.get_or_insert(Moved {
            bytes: 0,
            what: moves.formula,
        });
        sum.bytes += moves.bytes;
    }
    moved
}

#[cfg(test)]
mod tests {
    use trioxide_kernel::launch::Moves;

    use super::*;

    fn launched(moves: Option<u64>) -> Launched {
        Launched {
            entry: "double_f32",
            kernel: "double",
            n: 1,
            arrays: Vec::new(),
            moves: moves.map(|bytes| Moves {
                bytes,
                formula: "values.bytes()",
            }),
            milliseconds: 1.0,
        }
    }

    #[test]
    fn bytes_of_launches_are_added_up() {
        let bytes = |launches: &[Launched]| of_launches(launches).map(|moved| moved.bytes);
        assert_eq!(bytes(&[launched(Some(8)), launched(Some(4))]), Some(12));
        assert_eq!(bytes(&[launched(Some(8)), launched(None)]), None);
        assert_eq!(bytes(&[]), None);
    }
}
