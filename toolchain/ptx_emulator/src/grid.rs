//! A launch: blocks that run concurrently.

use std::mem;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread::{available_parallelism, scope};

use crate::block::Block;
use crate::memory::{Array, Range, View};
use crate::program::Program;
use crate::races::Races;
use crate::warp::Surroundings;

/// The fault of a thread of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The sentence: kernel, block, thread, instruction.
    pub text: String,
    /// File and line of the source, if the PTX has them.
    pub place: Option<String>,
}

/// Blocks that a thread runs concurrently: they may wait for each other.
const RESIDENT: usize = 4;
/// Threads of a kernel below which one thread of the machine runs all of them.
const FEW: u64 = 1 << 16;

/// Runs a kernel; blocks start in the order of their numbers. `arrays` are for messages.
///
/// # Errors
/// A fault, with the thread and the instruction. Other blocks may have ended.
pub fn run(
    program: &Program,
    [blocks, threads, shared]: [u32; 3],
    parameters: &[u8],
    memory: &[Range],
    arrays: &[Array],
    looks_for_races: bool,
) -> Result<(), Wrong> {
    let next = AtomicU32::new(0);
    let (failed, fault) = (AtomicBool::new(false), Mutex::new(None));
    let shape = [blocks, threads, shared];
    let work = || {
        let mut around = Surroundings {
            program,
            parameters,
            memory: View::new(memory),
            arrays,
            races: looks_for_races.then(Races::begin),
            block: 0,
            barriers: 0,
        };
        let (mut at_work, mut ended): (Vec<Block>, Vec<Block>) = Default::default();
        while !failed.load(Relaxed) {
            while at_work.len() < RESIDENT {
                let next = next.fetch_update(Relaxed, Relaxed, |i| (i < blocks).then_some(i + 1));
                let Ok(index) = next else { break };
                let mut block = ended.pop().unwrap_or_else(|| Block::new(program, shape));
                block.begin(program, index, shape);
                if let Some(races) = &mut around.races {
                    let (place, bytes) = block.shared();
                    races.forget(place, bytes);
                }
                at_work.push(block);
            }
            if at_work.is_empty() {
                break;
            }
            for mut block in mem::take(&mut at_work) {
                match block.run(&mut around) {
                    Ok(true) => ended.push(block),
                    Ok(false) => at_work.push(block),
                    Err((thread, found)) => {
                        let place = program.place(found.entry_step);
                        let at = place.as_ref().map(|place| format!(", {place}"));
                        let text = format!(
                            "kernel {}, block {}, thread {thread}{}: \"{}\" {}",
                            program.name,
                            block.index,
                            at.unwrap_or_default(),
                            program.text[found.step],
                            found.what
                        );
                        if !failed.swap(true, Relaxed) {
                            let wrong = Wrong { text, place };
                            *fault.lock().expect("no thread panics with it") = Some(wrong);
                        }
                    }
                }
            }
        }
        if let Some(races) = around.races {
            races.end();
        }
    };
    let all = u64::from(blocks) * u64::from(threads);
    let workers = match all < FEW || looks_for_races {
        true => 1,
        // It reads files, which takes as long as a small launch.
        false => available_parallelism().map_or(1, |cores| cores.get().min(blocks as usize)),
    };
    scope(|scope| {
        for _ in 1..workers {
            scope.spawn(work);
        }
        work();
    });
    match fault.into_inner().expect("no thread panics with it") {
        Some(wrong) => Err(wrong),
        None => Ok(()),
    }
}
