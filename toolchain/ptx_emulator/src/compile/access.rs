//! Instructions that use memory, or other lanes.

use super::Compiler;
use crate::compute::{one, two};
use crate::program::{Address, Instruction, Space, Update};
use crate::types::Type;

impl Compiler<'_> {
    pub(super) fn barrier(&mut self, parts: &[&str], rest: &[&str]) -> Option<Instruction> {
        match (&parts[1..], rest) {
            (["sync"], ["0"]) => Some(Instruction::Barrier { any: None }),
            (["red", "or", "pred"], [to, "0", from]) => Some(Instruction::Barrier {
                any: Some((self.slot(to), self.slot(from))),
            }),
            _ => None,
        }
    }

    pub(super) fn shuffle(&mut self, parts: &[&str], rest: &[&str]) -> Option<Instruction> {
        let &["shfl", "sync", mode, "b32"] = parts else {
            return None;
        };
        let &[to, from, by, clamp, "-1"] = rest else {
            return None;
        };
        // The higher byte of the clamp would divide a warp into segments.
        if super::number(clamp).is_none_or(|clamp| clamp > 31) {
            return None;
        }
        let source: fn(u32, u32, u32) -> Option<u32> = match mode {
            "up" => |lane, by, clamp| lane.checked_sub(by).filter(|&source| source >= clamp),
            "down" => |lane, by, clamp| Some(lane + by).filter(|&source| source <= clamp),
            "bfly" => |lane, by, clamp| Some(lane ^ by).filter(|&source| source <= clamp),
            "idx" => |_, by, clamp| Some(by & 31).filter(|&source| source <= clamp),
            _ => return None,
        };
        let kind = Type {
            kind: 'b',
            bits: 32,
        };
        Some(Instruction::Shuffle {
            to: self.slot(to),
            from: self.operand(from, kind)?,
            by: self.operand(by, kind)?,
            clamp: self.operand(clamp, kind)?,
            source,
        })
    }

    pub(super) fn load(&mut self, parts: &[&str], rest: &[&str]) -> Option<Instruction> {
        let &[to, from] = rest else { return None };
        let (space, kind) = space_and_type(parts)?;
        // Loads of signed bytes and halves would sign-extend the register.
        if kind.kind == 's' && kind.bits < 32 {
            return None;
        }
        let to = self.registers(to, kind)?;
        if space == Space::Parameters {
            let name = from.strip_prefix('[')?.strip_suffix(']')?;
            let (base, offset) = name.split_once('+').unwrap_or((name, "0"));
            let Some(&at) = self.parameters.get(base).filter(|_| self.scope.is_empty()) else {
                // A parameter or result of a function: one value.
                let (&[to], "0", from) = (&to[..], offset, self.slot(base)) else {
                    return None;
                };
                return Some(Instruction::Compute(one(to, [from], |x| x)));
            };
            let at = Address {
                base: self.constant(0),
                offset: at as i64 + offset.parse::<i64>().ok()?,
            };
            let bytes = kind.bits as usize / 8;
            return Some(Instruction::Load {
                space,
                bytes,
                to,
                at,
                is_atomic: false,
            });
        }
        Some(Instruction::Load {
            space,
            bytes: kind.bits as usize / 8,
            to,
            at: self.address(from)?,
            is_atomic: is_atomic(parts),
        })
    }

    pub(super) fn store(&mut self, parts: &[&str], rest: &[&str]) -> Option<Instruction> {
        let &[to, from] = rest else { return None };
        let (space, kind) = space_and_type(parts)?;
        let from = self.registers(from, kind)?;
        if space == Space::Parameters {
            let name = to.strip_prefix('[')?.strip_suffix(']')?;
            let (base, offset) = name.split_once('+').unwrap_or((name, "0"));
            let (&[from], "0", to) = (&from[..], offset, self.slot(base)) else {
                return None;
            };
            return Some(Instruction::Compute(one(to, [from], |x| x)));
        }
        Some(Instruction::Store {
            space,
            bytes: kind.bits as usize / 8,
            from,
            at: self.address(to)?,
            is_atomic: is_atomic(parts),
        })
    }

    pub(super) fn atomic(&mut self, parts: &[&str], rest: &[&str]) -> Option<Instruction> {
        let (space, kind) = space_and_type(parts)?;
        if kind.bits < 32 {
            return None;
        }
        let operation = parts.get(parts.len().checked_sub(2)?)?;
        let update: Update = match (*operation, kind.kind, kind.bits) {
            ("add", 'u', 32) => |old, x, _| u64::from((old as u32).wrapping_add(x as u32)),
            ("add", 'u', 64) => |old, x, _| old.wrapping_add(x),
            ("min", 'u', _) => |old, x, _| old.min(x),
            ("max", 'u', _) => |old, x, _| old.max(x),
            ("and", 'b', _) => |old, x, _| old & x,
            ("or", 'b', _) => |old, x, _| old | x,
            ("xor", 'b', _) => |old, x, _| old ^ x,
            ("exch", 'b', _) => |_, x, _| x,
            ("cas", 'b', _) => |old, expected, new| if old == expected { new } else { old },
            _ => return None,
        };
        let (to, rest) = match parts[0] {
            "red" => (None, rest),
            _ => {
                let (to, rest) = rest.split_first()?;
                (Some(self.slot(to)), rest)
            }
        };
        let (at, values) = rest.split_first()?;
        let mut operands = [0; 2];
        for (operand, value) in operands.iter_mut().zip(values) {
            *operand = self.operand(value, kind)?;
        }
        if values.len() != 1 + usize::from(*operation == "cas") {
            return None;
        }
        Some(Instruction::Atomic {
            space,
            bytes: kind.bits as usize / 8,
            update,
            to,
            at: self.address(at)?,
            operands,
        })
    }

    /// `mov` between a register and its two halves.
    pub(super) fn pack(&mut self, parts: &[&str], rest: &[&str]) -> Option<Instruction> {
        let (&[to, from], kind) = (rest, Type::parse(parts.last()?)?) else {
            return None;
        };
        let half = kind.bits / 2;
        let mask = kind.mask() >> half;
        let (to, from) = (self.registers(to, kind)?, self.registers(from, kind)?);
        Some(Instruction::Compute(match (&to[..], &from[..]) {
            (&[low, high], &[from]) => Box::new(move |slots: &mut [_], lanes| {
                one(low, [from], move |x| x & mask)(slots, lanes);
                one(high, [from], move |x| x >> half)(slots, lanes);
            }),
            (&[to], &[low, high]) => two(to, [low, high], move |low, high| high << half | low),
            _ => return None,
        }))
    }
}

/// Whether a load or store is a strong operation, which does not race with other strong operations.
fn is_atomic(parts: &[&str]) -> bool {
    let strong = ["relaxed", "acquire", "release", "volatile"];
    parts.iter().any(|part| strong.contains(part))
}

fn space_and_type(parts: &[&str]) -> Option<(Space, Type)> {
    let space = match () {
        () if parts.contains(&"shared") => Space::Shared,
        () if parts.contains(&"param") => Space::Parameters,
        () if parts.contains(&"const") => return None,
        () => Space::Global,
    };
    Some((space, Type::parse(parts.last()?)?))
}
