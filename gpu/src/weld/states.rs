//! States of vertices while they are decided.

/// State of a representative. An undecided vertex has a larger one: the number of its lower neighbours.
pub const REPRESENTATIVE: u32 = 0;
/// Bit of the state of a member, beside the number of its lower neighbours.
pub const MEMBER: u32 = 1 << 31;

/// Places of a list of lower neighbours: two vectors of four.
pub const LISTED: u32 = 8;

/// Whether a state is neither that of a representative nor that of a member.
#[inline(always)]
pub(super) fn is_undecided(state: u32) -> bool {
    state != REPRESENTATIVE && state < MEMBER
}
