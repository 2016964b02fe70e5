//! A kernel in the emulator's form: steps over slots, which hold a value for each lane.

use std::collections::HashMap;
use std::env;
use std::path::Path;
use std::sync::atomic::AtomicU32;

/// Lanes of a warp.
pub const LANES: usize = 32;
/// The content of unwritten memory: no small number, no address, and NaN as a float.
pub const UNWRITTEN: u128 = u128::from_ne_bytes([0xfb; 16]);
/// A register of each lane of a warp. Values of fewer bits have zeros above them; a predicate is 0 or 1.
pub type Lanes = [u64; LANES];
/// Arithmetic on the lanes of a mask.
pub type Compute = Box<dyn Fn(&mut [Lanes], u32) + Send + Sync>;
/// A new value from an old one and two operands.
pub type Update = fn(u64, u64, u64) -> u64;

/// The source of a slot's value before the first step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// `%tid.x`
    Thread,
    /// `%ctaid.x`
    Block,
    /// `%ntid.x`
    Threads,
    /// `%nctaid.x`
    Blocks,
    /// `%laneid`
    Lane,
    /// A place in a lane's local memory.
    Local(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Device memory. Generic addresses are here too: they are device memory, a lane's own local memory, or shared
    /// memory from [`SHARED_WINDOW`](crate::compute::SHARED_WINDOW) on.
    Global,
    Shared,
    /// The entry's parameters.
    Parameters,
}

/// A slot plus a number of bytes.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    pub base: usize,
    pub offset: i64,
}

pub enum Instruction {
    Compute(Compute),
    Jump(usize),
    /// `brx.idx`
    Choose {
        index: usize,
        targets: Vec<usize>,
    },
    Load {
        space: Space,
        bytes: usize,
        to: Vec<usize>,
        at: Address,
        is_atomic: bool,
    },
    Store {
        space: Space,
        bytes: usize,
        from: Vec<usize>,
        at: Address,
        is_atomic: bool,
    },
    /// `atom`, `red`: `to` gets the old value.
    Atomic {
        space: Space,
        bytes: usize,
        update: Update,
        to: Option<usize>,
        at: Address,
        operands: [usize; 2],
    },
    /// `vote.sync.ballot`
    Ballot {
        to: usize,
        from: usize,
    },
    /// `shfl.sync`: the lane that lane `l` reads, if there is one, from the lane, the offset and the clamp.
    Shuffle {
        to: usize,
        from: usize,
        by: usize,
        clamp: usize,
        source: fn(u32, u32, u32) -> Option<u32>,
    },
    /// `bar.sync`, or `bar.red.or` with a slot for the result and one of the lanes' predicates.
    Barrier {
        any: Option<(usize, usize)>,
    },
    /// Stores the number of the next step in `back`.
    Call {
        target: usize,
        back: usize,
    },
    /// Jumps to the step in a slot.
    Return {
        back: usize,
    },
    Exit,
    /// `trap`
    Trap,
}

pub struct Step {
    /// The predicate, and the value of it with which a lane does the step.
    pub guard: Option<(usize, bool)>,
    pub instruction: Instruction,
}

/// An entry, ready to be run.
pub struct Program {
    pub name: String,
    pub steps: Vec<Step>,
    /// The text of each step.
    pub text: Vec<String>,
    /// Numbers of the file and line of each step; zeros if the PTX does not have them.
    pub places: Vec<(u32, u32)>,
    /// Paths of files by their numbers.
    pub files: HashMap<u32, String>,
    /// First step of each function after the entry, ascending, and the slot with the step to return to.
    pub functions: Vec<(usize, usize)>,
    pub slots: usize,
    pub constants: Vec<(usize, u64)>,
    pub specials: Vec<(usize, Special)>,
    /// Bytes of each parameter and where it begins.
    pub parameters: Vec<(usize, usize)>,
    pub parameter_bytes: usize,
    /// Bytes of a lane's local memory.
    pub local_bytes: usize,
    /// Dynamic shared memory of a block that launches may use, in bytes; 0 until it is set.
    pub shared_bytes: AtomicU32,
}

impl Program {
    /// File and line of a step, if the PTX has them; a path below the current folder is relative to it.
    pub fn place(&self, step: usize) -> Option<String> {
        let (file, line) = self.places[step];
        let path = Path::new(self.files.get(&file)?);
        let here = env::current_dir().ok();
        let below = here.and_then(|here| path.strip_prefix(here).ok());
        Some(format!("{}:{line}", below.unwrap_or(path).display()))
    }
}
