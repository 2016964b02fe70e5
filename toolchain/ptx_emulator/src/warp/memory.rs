//! Loads, stores and atomics of a warp's lanes.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

use super::{Surroundings, Warp, lanes_of};
use crate::compute::SHARED_WINDOW;
use crate::memory::{Array, Range};
use crate::program::{Address, Instruction, LANES, Space, Update};
use crate::races::{Kind, Use};

impl Warp {
    /// Executes an instruction that uses memory. A fault has the lane and a sentence.
    pub(super) fn use_memory(
        &mut self,
        (step, instruction): (usize, &Instruction),
        active: u32,
        around: &mut Surroundings<'_>,
        shared: &mut [u128],
    ) -> Result<(), (usize, String)> {
        match instruction {
            Instruction::Load {
                space,
                bytes,
                to,
                at,
                is_atomic,
            } => {
                let kind = match is_atomic {
                    true => Kind::AtomicRead,
                    false => Kind::Read,
                };
                for lane in lanes_of(active) {
                    let access = (*space, *at, bytes * to.len(), kind);
                    let from = self.find(around, shared, access, (step, lane))?;
                    for (i, &to) in to.iter().enumerate() {
                        // SAFETY: `find` has checked the range and its alignment.
                        self.slots[to][lane] = unsafe { load(from + i * bytes, *bytes) };
                    }
                }
            }
            Instruction::Store {
                space,
                bytes,
                from,
                at,
                is_atomic,
            } => {
                let kind = match is_atomic {
                    true => Kind::AtomicWrite,
                    false => Kind::Write,
                };
                for lane in lanes_of(active) {
                    let access = (*space, *at, bytes * from.len(), kind);
                    let to = self.find(around, shared, access, (step, lane))?;
                    for (i, &from) in from.iter().enumerate() {
                        // SAFETY: as above.
                        unsafe { store(to + i * bytes, *bytes, self.slots[from][lane]) };
                    }
                }
            }
            Instruction::Atomic {
                space,
                bytes,
                update: change,
                to,
                at,
                operands: [x, y],
            } => {
                let reverse = around.races.is_some();
                let nth = |place: usize| if reverse { LANES - 1 - place } else { place };
                for lane in (0..LANES).map(nth).filter(|lane| active >> lane & 1 != 0) {
                    let access = (*space, *at, *bytes, Kind::Update);
                    let at = self.find(around, shared, access, (step, lane))?;
                    let (x, y) = (self.slots[*x][lane], self.slots[*y][lane]);
                    // SAFETY: as above.
                    let old = unsafe { update(at, *bytes, *change, x, y) };
                    if let Some(to) = *to {
                        self.slots[to][lane] = old;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The memory of an access, if the kernel may use it.
    fn find(
        &self,
        around: &mut Surroundings<'_>,
        shared: &mut [u128],
        (space, at, bytes, kind): (Space, Address, usize, Kind),
        (step, lane): (usize, usize),
    ) -> Result<usize, (usize, String)> {
        let address = self.slots[at.base][lane].wrapping_add_signed(at.offset);
        let (space, address) = match address.checked_sub(SHARED_WINDOW) {
            Some(place) if space == Space::Global => (Space::Shared, place),
            _ => (space, address),
        };
        let within = |size: usize| {
            let end = address.checked_add(bytes as u64);
            end.is_some_and(|end| end <= size as u64)
        };
        let (mut kept, mut is_own) = (None, false);
        let (found, place) = match space {
            Space::Parameters => {
                let is_inside = within(around.parameters.len());
                (is_inside, around.parameters.as_ptr() as u64)
            }
            Space::Shared => {
                let is_inside = within(size_of_val(shared));
                (is_inside, shared.as_mut_ptr() as u64)
            }
            Space::Global => {
                let each = around.program.local_bytes as u64;
                let start = self.local.as_ptr() as u64 + lane as u64 * each;
                let end = address.checked_add(bytes as u64);
                is_own = start <= address && end.is_some_and(|end| end <= start + each);
                let range = around.memory.find(address, bytes);
                kept = range;
                (is_own || range.is_some(), 0)
            }
        };
        let what = match found {
            false => "is in no memory of the device",
            true if !address.is_multiple_of(bytes as u64) => "is not aligned",
            true => {
                if let Some(range) = kept {
                    account(range, address, bytes, kind).map_err(|what| {
                        (lane, format!("{what}{}", place_in(around.arrays, address)))
                    })?;
                }
                let address = place + address;
                // Parameters are not written, and only one thread uses its local memory.
                let is_shared = space != Space::Parameters && !is_own;
                let races = around.races.as_mut().filter(|_| is_shared);
                let now = Use {
                    kind,
                    block: around.block,
                    thread: (self.thread + lane as u32) as u16,
                    barriers: around.barriers,
                    step: step as u32,
                };
                return match races.and_then(|races| races.note(address, bytes, now)) {
                    None => Ok(address as usize),
                    Some(other) => {
                        let text = &around.program.text[other.step as usize];
                        let place = around.program.place(other.step as usize);
                        let place = place.map(|place| format!(" ({place})")).unwrap_or_default();
                        Err((
                            lane,
                            format!(
                                "races with \"{text}\"{place} of block {}, thread {}, at {address:#x}{}",
                                other.block,
                                other.thread,
                                place_in(around.arrays, address)
                            ),
                        ))
                    }
                };
            }
        };
        let mut what =
            format!("uses {bytes} bytes of {space:?} memory at {address:#x}, which {what}");
        if space == Space::Global {
            what += &place_in(around.arrays, address);
        }
        Err((lane, what))
    }
}

/// The array and the index of an address, or of the array that ends nearest before it; nothing if no array is known.
fn place_in(arrays: &[Array], address: u64) -> String {
    let before = arrays.iter().filter(|array| array.address <= address);
    // An empty array and the next one start at the same place: the longer one counts.
    match before.max_by_key(|array| (array.address, array.len)) {
        Some(array) if array.len > 0 => {
            let index = (address - array.address) / (array.bytes / array.len).max(1);
            format!(
                ": index {index} of {}, which has {} elements",
                array.name, array.len
            )
        }
        _ => String::new(),
    }
}

/// Records writes; refuses reads of unwritten memory.
fn account(range: Range, address: u64, bytes: usize, kind: Kind) -> Result<(), String> {
    let reads = matches!(kind, Kind::Read | Kind::AtomicRead | Kind::Update);
    if reads && !range.is_written(address, bytes) {
        return Err(format!(
            "reads {bytes} bytes at {address:#x}, of which some were never written"
        ));
    }
    if kind.is_write() {
        range.mark(address, bytes);
    }
    Ok(())
}

/// # Safety
/// `at` is an aligned address of memory with as many bytes, which other threads use only by atomic operations.
unsafe fn load(at: usize, bytes: usize) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            1 => AtomicU8::from_ptr(at as *mut u8).load(Relaxed).into(),
            2 => AtomicU16::from_ptr(at as *mut u16).load(Relaxed).into(),
            4 => AtomicU32::from_ptr(at as *mut u32).load(Relaxed).into(),
            _ => AtomicU64::from_ptr(at as *mut u64).load(Relaxed),
        }
    }
}

/// # Safety
/// As for [`load`].
unsafe fn store(at: usize, bytes: usize, x: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            1 => AtomicU8::from_ptr(at as *mut u8).store(x as u8, Relaxed),
            2 => AtomicU16::from_ptr(at as *mut u16).store(x as u16, Relaxed),
            4 => AtomicU32::from_ptr(at as *mut u32).store(x as u32, Relaxed),
            _ => AtomicU64::from_ptr(at as *mut u64).store(x, Relaxed),
        }
    }
}

/// Returns the old value.
///
/// # Safety
/// As for [`load`]; 4 or 8 bytes.
unsafe fn update(at: usize, bytes: usize, change: Update, x: u64, y: u64) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        if bytes == 4 {
            let word = AtomicU32::from_ptr(at as *mut u32);
            let new = |old: u32| Some(change(old.into(), x, y) as u32);
            let (Ok(old) | Err(old)) = word.fetch_update(Relaxed, Relaxed, new);
            return old.into();
        }
        let word = AtomicU64::from_ptr(at as *mut u64);
        let (Ok(old) | Err(old)) =
            word.fetch_update(Relaxed, Relaxed, |old| Some(change(old, x, y)));
        old
    }
}
