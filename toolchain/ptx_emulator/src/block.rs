//! A block: warps that share memory and barriers.

use crate::program::{LANES, Program, UNWRITTEN};
use crate::warp::{Fault, Stop, Surroundings, Warp};

/// Steps of a warp before the next warp's turn.
const TURN: usize = 4096;

pub struct Block {
    pub index: u32,
    /// Barriers that it has passed.
    barriers: u32,
    warps: Vec<(Warp, Stop)>,
    shared: Vec<u128>,
}

impl Block {
    pub fn new(program: &Program, [_, threads, shared]: [u32; 3]) -> Self {
        let warps = threads.div_ceil(LANES as u32);
        Self {
            index: 0,
            barriers: 0,
            warps: (0..warps)
                .map(|_| (Warp::new(program), Stop::Ended))
                .collect(),
            shared: vec![0; shared.div_ceil(16) as usize],
        }
    }

    /// Begins the block with this number.
    pub fn begin(&mut self, program: &Program, index: u32, [blocks, threads, _]: [u32; 3]) {
        self.index = index;
        self.barriers = 0;
        self.shared.fill(UNWRITTEN);
        for (first, (warp, stop)) in (0..).step_by(LANES).zip(&mut self.warps) {
            warp.begin(program, first, [index, blocks, threads]);
            *stop = Stop::Turn;
        }
    }

    /// The address and size of its shared memory.
    pub fn shared(&self) -> (u64, usize) {
        (self.shared.as_ptr() as u64, size_of_val(&self.shared[..]))
    }

    /// Runs a turn of each warp. Returns whether all of them have ended, or a fault with its thread.
    pub fn run(&mut self, around: &mut Surroundings<'_>) -> Result<bool, (usize, Fault)> {
        (around.block, around.barriers) = (self.index, self.barriers);
        let count = self.warps.len();
        // In a checked launch threads run in another order than on a CPU: the last warp first, and the last lane first.
        let reverse = around.races.is_some();
        for nth in 0..count {
            let i = if reverse { count - 1 - nth } else { nth };
            let (warp, stop) = &mut self.warps[i];
            if *stop == Stop::Turn {
                let ran = warp.run(around, &mut self.shared, TURN);
                *stop = ran.map_err(|fault| (i * LANES + fault.lane, fault))?;
            }
        }
        if self.warps.iter().any(|(_, stop)| *stop == Stop::Turn) {
            return Ok(false);
        }
        let program = around.program;
        let is_any = self
            .warps
            .iter()
            .any(|(warp, _)| warp.any_at_barrier(program));
        self.barriers += 1;
        let mut is_over = true;
        for (warp, stop) in &mut self.warps {
            if *stop == Stop::AtBarrier {
                warp.release(program, is_any);
                *stop = Stop::Turn;
                is_over = false;
            }
        }
        Ok(is_over)
    }
}
