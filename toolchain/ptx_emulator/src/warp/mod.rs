//! A warp: 32 lanes that step together where they can.

mod memory;

use std::cell::RefCell;
use std::mem;

use crate::memory::{Array, View};
use crate::program::{Instruction, LANES, Lanes, Program, Special, UNWRITTEN};
use crate::races::Races;

/// The state that a warp uses in addition to its own registers.
pub struct Surroundings<'a> {
    pub program: &'a Program,
    pub parameters: &'a [u8],
    /// Device memory.
    pub memory: View<'a>,
    /// The launch's arrays, as far as they are known.
    pub arrays: &'a [Array],
    /// The launch's uses of memory, if races are checked.
    pub races: Option<Races>,
    pub block: u32,
    /// Barriers that the block has passed.
    pub barriers: u32,
}

/// A fault of a kernel, with the warp, the lane and the step.
#[derive(Debug)]
pub struct Fault {
    pub step: usize,
    /// The step of the entry that led to it: the step itself, or a call.
    pub entry_step: usize,
    pub lane: usize,
    pub what: String,
}

impl Fault {
    fn new(step: usize, lane: usize, what: String) -> Self {
        Self {
            step,
            entry_step: step,
            lane,
            what,
        }
    }

    /// The fault at the step of the entry that led there by calls.
    fn of_entry(mut self, warp: &Warp, program: &Program) -> Self {
        let functions = &program.functions;
        while let Some((_, back)) = functions
            .iter()
            .rfind(|(first, _)| *first <= self.entry_step)
        {
            self.entry_step = warp.slots[*back][self.lane] as usize - 1;
        }
        self
    }
}

/// The reason why a warp stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Ended,
    /// All live lanes wait for the block.
    AtBarrier,
    /// It is other warps' turn.
    Turn,
}

thread_local! {
    /// Registers of warps that have ended: allocating pages for them took a third of a small launch's time.
    static SPARE: RefCell<Vec<Vec<Lanes>>> = const { RefCell::new(Vec::new()) };
}

impl Drop for Warp {
    fn drop(&mut self) {
        let slots = mem::take(&mut self.slots);
        SPARE.with_borrow_mut(|spare| spare.push(slots));
    }
}

pub struct Warp {
    /// The number of its first thread in the block.
    thread: u32,
    slots: Vec<Lanes>,
    step: [usize; LANES],
    /// Lanes that have not ended.
    live: u32,
    /// Lanes that wait for the other lanes of the warp, at a vote or a shuffle.
    held: u32,
    at_barrier: u32,
    /// The lane that begins the next turn. If the lanes furthest behind always began, a lane that waits for another
    /// lane of its warp could wait for ever.
    turn: usize,
    /// Memory of the lanes.
    local: Vec<u128>,
}

/// Lanes at the same step, and the step where others wait for them.
struct Group {
    step: usize,
    lanes: u32,
    limit: usize,
}

fn lanes_of(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}

impl Warp {
    pub fn new(program: &Program) -> Self {
        let mut slots = SPARE.with_borrow_mut(Vec::pop).unwrap_or_default();
        slots.resize(program.slots, [0; LANES]);
        for &(slot, x) in &program.constants {
            slots[slot] = [x; LANES];
        }
        Self {
            thread: 0,
            slots,
            step: [0; LANES],
            live: 0,
            held: 0,
            at_barrier: 0,
            turn: 0,
            local: vec![UNWRITTEN; program.local_bytes / 16 * LANES],
        }
    }

    /// Begins the threads from `first` on of a block; only the special registers are set.
    pub fn begin(&mut self, program: &Program, first: u32, [block, blocks, threads]: [u32; 3]) {
        let place = self.local.as_ptr() as u64;
        for &(slot, special) in &program.specials {
            self.slots[slot] = std::array::from_fn(|lane| match special {
                Special::Thread => u64::from(first) + lane as u64,
                Special::Block => block.into(),
                Special::Threads => threads.into(),
                Special::Blocks => blocks.into(),
                Special::Lane => lane as u64,
                Special::Local(at) => place + (lane * program.local_bytes + at) as u64,
            });
        }
        let count = (threads - first).min(LANES as u32);
        self.thread = first;
        self.step = [0; LANES];
        self.live = u32::MAX >> (LANES as u32 - count);
        self.turn = 0;
    }

    fn runnable(&self) -> u32 {
        self.live & !self.held & !self.at_barrier
    }

    /// The lanes that step next.
    fn group(&self, first: Option<usize>) -> Option<Group> {
        let runnable = self.runnable();
        if runnable == 0 {
            return None;
        }
        let first = first.filter(|&lane| runnable >> lane & 1 != 0);
        let step = match first {
            Some(lane) => self.step[lane],
            None => lanes_of(runnable).fold(usize::MAX, |step, lane| step.min(self.step[lane])),
        };
        let (mut lanes, mut limit) = (0, usize::MAX);
        for lane in lanes_of(runnable) {
            let at = self.step[lane];
            lanes |= u32::from(at == step) << lane;
            limit = limit.min(if at > step { at } else { usize::MAX });
        }
        Some(Group { step, lanes, limit })
    }

    fn move_to(&mut self, lanes: u32, step: usize) {
        for lane in lanes_of(lanes) {
            self.step[lane] = step;
        }
    }

    /// Steps until all lanes have ended or wait, or until `budget` steps are done.
    pub fn run(
        &mut self,
        around: &mut Surroundings<'_>,
        shared: &mut [u128],
        budget: usize,
    ) -> Result<Stop, Fault> {
        let ran = self.run_lanes(around, shared, budget);
        ran.map_err(|fault| fault.of_entry(self, around.program))
    }

    fn run_lanes(
        &mut self,
        around: &mut Surroundings<'_>,
        shared: &mut [u128],
        budget: usize,
    ) -> Result<Stop, Fault> {
        let mut left = budget;
        let mut first = Some(self.turn);
        self.turn = (self.turn + 1) % LANES;
        loop {
            match self.group(first.take()) {
                Some(group) => self.run_group(group, around, shared, &mut left)?,
                None if self.live == 0 => return Ok(Stop::Ended),
                None if self.held == 0 => {
                    self.together(self.at_barrier, around.program)?;
                    return Ok(Stop::AtBarrier);
                }
                None => self.meet(around.program)?,
            }
            if left == 0 {
                return Ok(Stop::Turn);
            }
        }
    }

    fn run_group(
        &mut self,
        group: Group,
        around: &mut Surroundings<'_>,
        shared: &mut [u128],
        left: &mut usize,
    ) -> Result<(), Fault> {
        let program = around.program;
        let Group {
            mut step,
            lanes,
            limit,
        } = group;
        while step < limit && *left > 0 {
            *left -= 1;
            let now = &program.steps[step];
            let active = self.guarded(now.guard, lanes);
            match &now.instruction {
                Instruction::Compute(run) => run(&mut self.slots, active),
                Instruction::Load { .. }
                | Instruction::Store { .. }
                | Instruction::Atomic { .. } => {
                    self.use_memory((step, &now.instruction), active, around, shared)
                        .map_err(|(lane, what)| Fault::new(step, lane, what))?;
                }
                Instruction::Jump(target) if active == lanes && lanes == self.runnable() => {
                    step = *target;
                    continue;
                }
                Instruction::Jump(target) => {
                    self.move_to(lanes & !active, step + 1);
                    self.move_to(active, *target);
                    return Ok(());
                }
                Instruction::Choose { index, targets } => {
                    self.move_to(lanes & !active, step + 1);
                    for lane in lanes_of(active) {
                        let index = self.slots[*index][lane] as usize;
                        let Some(&target) = targets.get(index) else {
                            let what = format!("goes to entry {index} of {}", targets.len());
                            return Err(Fault::new(step, lane, what));
                        };
                        self.step[lane] = target;
                    }
                    return Ok(());
                }
                Instruction::Call { target, back } => {
                    for lane in lanes_of(active) {
                        self.slots[*back][lane] = step as u64 + 1;
                    }
                    self.move_to(lanes & !active, step + 1);
                    self.move_to(active, *target);
                    return Ok(());
                }
                Instruction::Return { back } => {
                    self.move_to(lanes & !active, step + 1);
                    for lane in lanes_of(active) {
                        self.step[lane] = self.slots[*back][lane] as usize;
                    }
                    return Ok(());
                }
                Instruction::Ballot { .. } | Instruction::Shuffle { .. } => {
                    self.move_to(lanes, step);
                    self.held |= lanes;
                    return Ok(());
                }
                Instruction::Barrier { .. } => {
                    self.move_to(lanes & !active, step + 1);
                    self.move_to(active, step);
                    self.at_barrier |= active;
                    return Ok(());
                }
                Instruction::Exit => {
                    self.live &= !active;
                    self.move_to(lanes & !active, step + 1);
                    return Ok(());
                }
                Instruction::Trap => {
                    if let Some(lane) = lanes_of(active).next() {
                        let what = "traps".to_owned();
                        return Err(Fault::new(step, lane, what));
                    }
                }
            }
            step += 1;
        }
        self.move_to(lanes, step);
        Ok(())
    }

    /// Lanes of a mask whose guard lets them do the step.
    fn guarded(&self, guard: Option<(usize, bool)>, lanes: u32) -> u32 {
        let Some((slot, is)) = guard else {
            return lanes;
        };
        let predicates = &self.slots[slot];
        let mut set = 0;
        for (lane, &predicate) in predicates.iter().enumerate() {
            set |= u32::from(predicate != 0) << lane;
        }
        lanes & if is { set } else { !set }
    }

    /// The step at which all lanes wait, some of which are `waiting`: all lanes of a warp must reach the same vote,
    /// shuffle or barrier.
    fn together(&self, waiting: u32, program: &Program) -> Result<usize, Fault> {
        let lane = waiting.trailing_zeros() as usize;
        let step = self.step[lane];
        match lanes_of(self.live).find(|&lane| self.step[lane] != step) {
            None => Ok(step),
            Some(other) => {
                let what = format!(
                    "waits for lane {other} of its warp, which waits at \"{}\"",
                    program.text[self.step[other]]
                );
                Err(Fault::new(step, lane, what))
            }
        }
    }

    /// Executes the vote or shuffle that all lanes have reached.
    fn meet(&mut self, program: &Program) -> Result<(), Fault> {
        let step = self.together(self.held, program)?;
        match program.steps[step].instruction {
            Instruction::Ballot { to, from } => {
                let votes = self.guarded(Some((from, true)), self.live);
                for lane in lanes_of(self.live) {
                    self.slots[to][lane] = votes.into();
                }
            }
            Instruction::Shuffle {
                to,
                from,
                by,
                clamp,
                source,
            } => {
                let values = self.slots[from];
                for lane in lanes_of(self.live) {
                    let [by, clamp] = [by, clamp].map(|slot| self.slots[slot][lane] as u32 & 31);
                    let source = source(lane as u32, by, clamp).map(|source| source as usize);
                    let source = source.filter(|&source| source < LANES).unwrap_or(lane);
                    if self.live >> source & 1 == 0 {
                        let what = format!("shuffles from lane {source}, which has ended");
                        return Err(Fault::new(step, lane, what));
                    }
                    self.slots[to][lane] = values[source];
                }
            }
            _ => unreachable!("lanes are held by votes and shuffles"),
        }
        self.held = 0;
        self.move_to(self.live, step + 1);
        Ok(())
    }

    /// Whether a lane at the barrier has its predicate set.
    pub fn any_at_barrier(&self, program: &Program) -> bool {
        lanes_of(self.at_barrier).any(|lane| match program.steps[self.step[lane]].instruction {
            Instruction::Barrier {
                any: Some((_, from)),
            } => self.slots[from][lane] != 0,
            _ => false,
        })
    }

    /// All threads of the block have arrived: the lanes continue.
    pub fn release(&mut self, program: &Program, is_any: bool) {
        for lane in lanes_of(self.at_barrier) {
            if let Instruction::Barrier { any: Some((to, _)) } =
                program.steps[self.step[lane]].instruction
            {
                self.slots[to][lane] = is_any.into();
            }
            self.step[lane] += 1;
        }
        self.at_barrier = 0;
    }
}
