//! Arithmetic instructions as functions of lanes ("PTX ISA", section 9.7: integers, floats, comparison, logic and
//! shifts).

use std::cmp::Ordering;

use crate::cvt;
use crate::program::{Compute, Lanes};
use crate::types::Type;

/// Calls `f` with each lane of a mask.
fn each(mask: u32, mut f: impl FnMut(usize)) {
    if mask == u32::MAX {
        for lane in 0..32 {
            f(lane);
        }
        return;
    }
    let mut left = mask;
    while left != 0 {
        f(left.trailing_zeros() as usize);
        left &= left - 1;
    }
}

pub fn one(to: usize, [a]: [usize; 1], f: impl Fn(u64) -> u64 + Send + Sync + 'static) -> Compute {
    Box::new(move |slots: &mut [Lanes], mask| {
        each(mask, |lane| slots[to][lane] = f(slots[a][lane]));
    })
}

pub fn two(
    to: usize,
    [a, b]: [usize; 2],
    f: impl Fn(u64, u64) -> u64 + Send + Sync + 'static,
) -> Compute {
    Box::new(move |slots: &mut [Lanes], mask| {
        each(mask, |lane| {
            slots[to][lane] = f(slots[a][lane], slots[b][lane])
        });
    })
}

pub fn three(
    to: usize,
    [a, b, c]: [usize; 3],
    f: impl Fn(u64, u64, u64) -> u64 + Send + Sync + 'static,
) -> Compute {
    Box::new(move |slots: &mut [Lanes], mask| {
        each(mask, |lane| {
            slots[to][lane] = f(slots[a][lane], slots[b][lane], slots[c][lane]);
        });
    })
}

fn f32_of(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

fn of_f32(x: f32) -> u64 {
    x.to_bits().into()
}

/// The generic address of a block's first byte of shared memory: beyond all addresses of a process.
pub const SHARED_WINDOW: u64 = 1 << 60;

/// An instruction with a result and source operands; `None` if it is not supported.
///
/// `words` are the opcode's parts. The last is the type, except for `cvt`, which has two types, `setp`, whose
/// comparison comes first, and `mul.wide`.
pub fn compute(words: &[&str], to: usize, from: &[usize]) -> Option<Compute> {
    let (&name, options) = words.split_first()?;
    if name == "cvt" {
        let &[a] = from else { return None };
        return cvt::conversion(options).map(|f| one(to, [a], f));
    }
    let (last, modifiers) = options.split_last()?;
    let kind = Type::parse(last)?;
    if !are_known(name, modifiers, kind) {
        return None;
    }
    match *from {
        [a] if name == "cvta" => Some(match modifiers {
            ["shared"] => one(to, [a], |x| x.wrapping_add(SHARED_WINDOW)),
            ["to", "shared"] => one(to, [a], |x| x.wrapping_sub(SHARED_WINDOW)),
            _ => one(to, [a], |x| x),
        }),
        [a] => unary(name, kind, to, a),
        [a, b] => binary(name, options, kind, to, [a, b]),
        [a, b, c] => ternary(name, options, kind, to, [a, b, c]),
        _ => None,
    }
}

/// Addition or subtraction of words of a longer number ("Extended-Precision Integer Arithmetic"): `add.cc`, `addc`,
/// `addc.cc`, `sub.cc`, `subc`, `subc.cc`. `carry` is the slot of the carry, or borrow.
pub fn extended(words: &[&str], to: usize, [a, b]: [usize; 2], carry: usize) -> Option<Compute> {
    let (is_sum, takes, gives, kind) = match *words {
        ["add", "cc", kind] => (true, false, true, kind),
        ["addc", "cc", kind] => (true, true, true, kind),
        ["addc", kind] => (true, true, false, kind),
        ["sub", "cc", kind] => (false, false, true, kind),
        ["subc", "cc", kind] => (false, true, true, kind),
        ["subc", kind] => (false, true, false, kind),
        _ => return None,
    };
    let kind = Type::parse(kind)?;
    if !"us".contains(kind.kind) {
        return None;
    }
    let (mask, bits) = (kind.mask(), kind.bits);
    Some(Box::new(move |slots: &mut [Lanes], lanes| {
        each(lanes, |lane| {
            let (x, y) = (u128::from(slots[a][lane]), u128::from(slots[b][lane]));
            let before = if takes {
                u128::from(slots[carry][lane])
            } else {
                0
            };
            let result = match is_sum {
                true => x + y + before,
                false => x.wrapping_sub(y + before),
            };
            slots[to][lane] = result as u64 & mask;
            if gives {
                slots[carry][lane] = (result >> bits) as u64 & 1;
            }
        });
    }))
}

/// Whether these are all the modifiers that an instruction has here: another one (`ftz`, `sat`, `approx`, `NaN`)
/// changes its result.
fn are_known(name: &str, modifiers: &[&str], kind: Type) -> bool {
    let is_float = kind.kind == 'f';
    match (name, modifiers) {
        ("sqrt" | "rcp" | "fma", modifiers) => modifiers == ["rn"],
        ("add" | "sub" | "mul" | "div", ["rn"]) => is_float,
        ("mul" | "mad", ["lo" | "hi" | "wide"]) => !is_float,
        ("cvta", ["local" | "global" | "shared"] | ["to", "local" | "global" | "shared"]) => true,
        ("shf", [_, "wrap"]) | ("setp", [_]) => true,
        (_, modifiers) => modifiers.is_empty(),
    }
}

fn unary(name: &str, kind: Type, to: usize, a: usize) -> Option<Compute> {
    let mask = kind.mask();
    let from = [a];
    Some(match (name, kind.kind, kind.bits) {
        ("mov", ..) => one(to, from, |x| x),
        ("not", 'p', _) => one(to, from, |x| x ^ 1),
        ("not", ..) => one(to, from, move |x| !x & mask),
        ("neg", 'f', bits) => one(to, from, move |x| x ^ 1 << (bits - 1)),
        ("neg", ..) => one(to, from, move |x| x.wrapping_neg() & mask),
        ("abs", 'f', bits) => one(to, from, move |x| x & !(1 << (bits - 1))),
        ("abs", 's', _) => one(to, from, move |x| {
            kind.signed(x).wrapping_abs() as u64 & mask
        }),
        ("popc", ..) => one(to, from, |x| x.count_ones().into()),
        ("clz", _, bits) => one(to, from, move |x| (x.leading_zeros() - (64 - bits)).into()),
        ("brev", _, bits) => one(to, from, move |x| x.reverse_bits() >> (64 - bits)),
        ("sqrt", 'f', 32) => one(to, from, |x| of_f32(f32_of(x).sqrt())),
        ("sqrt", 'f', 64) => one(to, from, |x| f64::from_bits(x).sqrt().to_bits()),
        ("rcp", 'f', 32) => one(to, from, |x| of_f32(1.0 / f32_of(x))),
        ("rcp", 'f', 64) => one(to, from, |x| (1.0 / f64::from_bits(x)).to_bits()),
        _ => return None,
    })
}

fn binary(
    name: &str,
    options: &[&str],
    kind: Type,
    to: usize,
    from: [usize; 2],
) -> Option<Compute> {
    if name == "setp" {
        return comparison(options, kind, to, from);
    }
    if kind.kind == 'f' {
        return binary_of_floats(name, options, kind, to, from);
    }
    let (mask, bits) = (kind.mask(), kind.bits);
    let is_signed = kind.kind == 's';
    Some(match (name, options[0]) {
        ("add", _) => two(to, from, move |x, y| x.wrapping_add(y) & mask),
        ("sub", _) => two(to, from, move |x, y| x.wrapping_sub(y) & mask),
        ("mul", "lo") => two(to, from, move |x, y| x.wrapping_mul(y) & mask),
        ("mul", "wide") if bits <= 32 => two(to, from, move |x, y| {
            product(kind, x, y) as u64 & u64::MAX >> (64 - 2 * bits)
        }),
        ("mul", "hi") => two(to, from, move |x, y| {
            (product(kind, x, y) >> bits) as u64 & mask
        }),
        ("div", _) if is_signed => two(to, from, move |x, y| {
            quotient(kind.signed(x), kind.signed(y)) as u64 & mask
        }),
        ("div", _) => two(to, from, move |x, y| x.checked_div(y).unwrap_or(mask)),
        ("rem", _) if is_signed => two(to, from, move |x, y| {
            let (x, y) = (kind.signed(x), kind.signed(y));
            x.checked_rem(y).unwrap_or(if y == 0 { x } else { 0 }) as u64 & mask
        }),
        ("rem", _) => two(to, from, move |x, y| x.checked_rem(y).unwrap_or(x)),
        ("and", _) => two(to, from, |x, y| x & y),
        ("or", _) => two(to, from, |x, y| x | y),
        ("xor", _) => two(to, from, |x, y| x ^ y),
        ("shl", _) => two(
            to,
            from,
            move |x, y| {
                if y >= bits.into() { 0 } else { x << y & mask }
            },
        ),
        ("shr", _) if is_signed => two(to, from, move |x, y| {
            (kind.signed(x) >> y.min(63)) as u64 & mask
        }),
        ("shr", _) => two(
            to,
            from,
            move |x, y| if y >= bits.into() { 0 } else { x >> y },
        ),
        ("min", _) if is_signed => two(to, from, move |x, y| {
            kind.signed(x).min(kind.signed(y)) as u64 & mask
        }),
        ("max", _) if is_signed => two(to, from, move |x, y| {
            kind.signed(x).max(kind.signed(y)) as u64 & mask
        }),
        ("min", _) => two(to, from, u64::min),
        ("max", _) => two(to, from, u64::max),
        _ => return None,
    })
}

/// The whole product of two integers.
fn product(kind: Type, x: u64, y: u64) -> i128 {
    match kind.kind {
        's' => i128::from(kind.signed(x)) * i128::from(kind.signed(y)),
        _ => (u128::from(x) * u128::from(y)) as i128,
    }
}

/// Division by zero is undefined: all bits are set, as on GPUs.
fn quotient(x: i64, y: i64) -> i64 {
    if y == 0 { -1 } else { x.wrapping_div(y) }
}

fn binary_of_floats(
    name: &str,
    options: &[&str],
    kind: Type,
    to: usize,
    from: [usize; 2],
) -> Option<Compute> {
    // Without `.rn` the assembler may fuse operations, and `div` may be approximate.
    let is_rounded = options[0] == "rn";
    macro_rules! floats {
        ($f:expr) => {
            match kind.bits {
                64 => two(to, from, |x, y| {
                    let f: fn(f64, f64) -> f64 = $f;
                    f(f64::from_bits(x), f64::from_bits(y)).to_bits()
                }),
                _ => two(to, from, |x, y| {
                    let f: fn(f32, f32) -> f32 = $f;
                    of_f32(f(f32_of(x), f32_of(y)))
                }),
            }
        };
    }
    Some(match (name, is_rounded) {
        ("add", true) => floats!(|x, y| x + y),
        ("sub", true) => floats!(|x, y| x - y),
        ("mul", true) => floats!(|x, y| x * y),
        ("div", true) => floats!(|x, y| x / y),
        // -0 is less than 0 for both; a number is preferred to NaN.
        ("min", false) => floats!(|x, y| {
            match x == y && x.is_sign_positive() {
                true => y,
                false if x == y => x,
                false => x.min(y),
            }
        }),
        ("max", false) => floats!(|x, y| {
            match x == y && x.is_sign_positive() {
                true => x,
                false if x == y => y,
                false => x.max(y),
            }
        }),
        ("copysign", false) => floats!(|x, y| y.copysign(x)),
        _ => return None,
    })
}

fn ternary(
    name: &str,
    options: &[&str],
    kind: Type,
    to: usize,
    from: [usize; 3],
) -> Option<Compute> {
    let (mask, bits) = (kind.mask(), kind.bits);
    Some(match (name, options[0], kind.kind) {
        ("selp", ..) => three(to, from, |x, y, p| if p != 0 { x } else { y }),
        ("mad", "lo", _) => three(to, from, move |x, y, z| {
            x.wrapping_mul(y).wrapping_add(z) & mask
        }),
        ("mad", "wide", _) if bits <= 32 => three(to, from, move |x, y, z| {
            (product(kind, x, y) as u64).wrapping_add(z) & u64::MAX >> (64 - 2 * bits)
        }),
        ("fma", "rn", 'f') if bits == 64 => three(to, from, |x, y, z| {
            let [x, y, z] = [x, y, z].map(f64::from_bits);
            x.mul_add(y, z).to_bits()
        }),
        ("fma", "rn", 'f') => three(to, from, |x, y, z| {
            let [x, y, z] = [x, y, z].map(f32_of);
            of_f32(x.mul_add(y, z))
        }),
        ("bfe", _, 'u') => three(to, from, move |x, start, length| {
            let (start, length) = (start as u8, length as u8);
            let field = x.checked_shr(start.into()).unwrap_or(0);
            field
                & 1_u64
                    .checked_shl(length.into())
                    .map_or(u64::MAX, |one| one - 1)
        }),
        ("bfe", _, 's') => three(to, from, move |x, start, length| {
            let (start, length) = ((start as u8).min(127), u32::from(length as u8));
            let rest = i128::from(kind.signed(x)) >> start;
            let above = 128 - length.min(bits);
            let field = rest.checked_shl(above).unwrap_or(0) >> above.min(127);
            field as u64 & mask
        }),
        ("shf", "l", _) if options[1] == "wrap" => three(to, from, |low, high, by| {
            (high << 32 | low) << (by & 31) >> 32
        }),
        ("shf", "r", _) if options[1] == "wrap" => three(to, from, move |low, high, by| {
            (high << 32 | low) >> (by & 31) & mask
        }),
        ("prmt", ..) => three(to, from, permuted),
        _ => return None,
    })
}

/// `prmt` in its default mode: four bytes of eight, or their signs.
fn permuted(low: u64, high: u64, choice: u64) -> u64 {
    let bytes = (high << 32 | low).to_le_bytes();
    let byte = |i: u32| {
        let choice = choice >> (4 * i);
        let byte = bytes[choice as usize & 7];
        let byte = match choice & 8 {
            0 => byte,
            _ => ((byte as i8) >> 7) as u8,
        };
        u64::from(byte) << (8 * i)
    };
    (0..4).map(byte).sum()
}

fn comparison(options: &[&str], kind: Type, to: usize, from: [usize; 2]) -> Option<Compute> {
    let &[how, _] = options else { return None };
    // False for floats if one is NaN.
    let holds: fn(Option<Ordering>) -> bool = match how {
        "eq" => |order| order.is_some_and(Ordering::is_eq),
        "ne" => |order| order.is_some_and(Ordering::is_ne),
        "lt" | "lo" => |order| order.is_some_and(Ordering::is_lt),
        "le" | "ls" => |order| order.is_some_and(Ordering::is_le),
        "gt" | "hi" => |order| order.is_some_and(Ordering::is_gt),
        "ge" | "hs" => |order| order.is_some_and(Ordering::is_ge),
        "equ" => |order| order.is_none_or(Ordering::is_eq),
        "neu" => |order| order.is_none_or(Ordering::is_ne),
        "ltu" => |order| order.is_none_or(Ordering::is_lt),
        "leu" => |order| order.is_none_or(Ordering::is_le),
        "gtu" => |order| order.is_none_or(Ordering::is_gt),
        "geu" => |order| order.is_none_or(Ordering::is_ge),
        "num" => |order| order.is_some(),
        "nan" => |order| order.is_none(),
        _ => return None,
    };
    Some(match (kind.kind, kind.bits) {
        ('f', 64) => two(to, from, move |x, y| {
            holds(f64::from_bits(x).partial_cmp(&f64::from_bits(y))).into()
        }),
        ('f', _) => two(to, from, move |x, y| {
            holds(f32_of(x).partial_cmp(&f32_of(y))).into()
        }),
        ('s', _) => two(to, from, move |x, y| {
            holds(Some(kind.signed(x).cmp(&kind.signed(y)))).into()
        }),
        _ => two(to, from, move |x, y| holds(Some(x.cmp(&y))).into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(opcode: &str, operands: &[u64]) -> u64 {
        let words: Vec<&str> = opcode.split('.').collect();
        let from: Vec<usize> = (1..=operands.len()).collect();
        let run = compute(&words, 0, &from).expect(opcode);
        let mut slots = vec![[7; 32]];
        slots.extend(operands.iter().map(|&x| [x; 32]));
        run(&mut slots, 0b101);
        assert_eq!(slots[0][1], 7, "a lane that is not in the mask");
        assert_eq!(slots[0][2], slots[0][0]);
        slots[0][0]
    }

    #[test]
    fn integers_wrap_and_shift_as_defined() {
        let minus_one = u64::from(u32::MAX);
        for (opcode, operands, expected) in [
            ("add.s32", &[minus_one, 2][..], 1),
            ("sub.s16", &[0, 1], 0xffff),
            (
                "mul.wide.u32",
                &[minus_one, minus_one],
                0xffff_fffe_0000_0001,
            ),
            ("mul.wide.s32", &[minus_one, 5], -5_i64 as u64),
            ("mul.wide.u16", &[0xffff, 2], 0x1_fffe),
            ("mul.hi.u32", &[minus_one, minus_one], minus_one - 1),
            ("mul.hi.u64", &[u64::MAX, 3], 2),
            ("mad.lo.s16", &[0x8000, 2, 5], 5),
            ("shl.b32", &[3, 32], 0),
            ("shl.b32", &[3, 31], 0x8000_0000),
            ("shr.u32", &[minus_one, 33], 0),
            ("shr.s32", &[minus_one, 40], minus_one),
            ("bfe.u32", &[0xabcd, 4, 8], 0xbc),
            ("bfe.u64", &[0xabcd_0000_0000_0000, 48, 16], 0xabcd),
            ("bfe.s32", &[0b1010, 1, 1], minus_one),
            ("bfe.s32", &[0b1010, 2, 1], 0),
            ("bfe.s32", &[0xabcd, 4, 9], 0xbc),
            ("bfe.s32", &[minus_one, 4, 0], 0),
            ("bfe.s32", &[0x8000_0000, 30, 8], 0xffff_fffe),
            ("bfe.s64", &[1 << 63, 60, 4], -8_i64 as u64),
            ("min.s32", &[minus_one, 0], minus_one),
            ("min.u32", &[minus_one, 0], 0),
            ("clz.b32", &[1], 31),
            ("popc.b64", &[u64::MAX], 64),
            ("not.pred", &[1], 0),
            ("not.b32", &[0], minus_one),
            ("shf.l.wrap.b32", &[0x8000_0000, 1, 1], 3),
            ("prmt.b32", &[0x3322_1100, 0x7766_5544, 0x5410], 0x5544_1100),
            ("prmt.b32", &[0x80, 0, 0x8888], 0xffff_ffff),
            ("setp.lt.s32", &[minus_one, 0], 1),
            ("setp.lt.u32", &[minus_one, 0], 0),
            ("selp.b32", &[4, 5, 0], 5),
            ("div.s32", &[0x8000_0000, minus_one], 0x8000_0000),
            ("rem.u32", &[7, 4], 3),
        ] {
            assert_eq!(result(opcode, operands), expected, "{opcode}");
        }
    }

    #[test]
    fn long_numbers_carry_and_borrow() {
        for (opcodes, [low, high], [other_low, other_high]) in [
            (["add.cc.s64", "addc.cc.s64"], [u64::MAX, 1], [2, 3]),
            (
                ["add.cc.u64", "addc.u64"],
                [1, u64::MAX],
                [u64::MAX, u64::MAX],
            ),
            (["sub.cc.s64", "subc.s64"], [0, 7], [1, 6]),
            (["sub.cc.u64", "subc.cc.u64"], [5, 0], [u64::MAX, 0]),
        ] {
            let [a, b] = [(low, high), (other_low, other_high)]
                .map(|(low, high)| u128::from(high) << 64 | u128::from(low));
            let expected = match opcodes[0].starts_with("add") {
                true => a.wrapping_add(b),
                false => a.wrapping_sub(b),
            };
            let mut slots = [low, high, other_low, other_high, 0, 0, 9].map(|x| [x; 32]);
            for (k, opcode) in opcodes.iter().enumerate() {
                let words: Vec<&str> = opcode.split('.').collect();
                let compute = extended(&words, 4 + k, [k, 2 + k], 6).expect(opcode);
                compute(&mut slots, 1);
            }
            let found = u128::from(slots[5][0]) << 64 | u128::from(slots[4][0]);
            assert_eq!(found, expected, "{opcodes:?}");
        }
        assert!(extended(&["add", "cc", "f64"], 0, [1, 2], 3).is_none());
    }

    #[test]
    fn floats_are_ieee() {
        let d = |x: f64| x.to_bits();
        let f = of_f32;
        for (opcode, operands, expected) in [
            ("add.rn.f64", &[d(0.1), d(0.2)][..], d(0.1 + 0.2)),
            ("mul.rn.f32", &[f(0.1), f(0.2)], f(0.1 * 0.2)),
            ("div.rn.f64", &[d(1.0), d(0.0)], d(f64::INFINITY)),
            ("sqrt.rn.f64", &[d(2.0)], d(2.0_f64.sqrt())),
            ("rcp.rn.f32", &[f(3.0)], f(1.0 / 3.0)),
            ("neg.f64", &[d(0.0)], d(-0.0)),
            ("abs.f32", &[f(-2.0)], f(2.0)),
            ("min.f64", &[d(0.0), d(-0.0)], d(-0.0)),
            ("min.f64", &[d(-0.0), d(0.0)], d(-0.0)),
            ("max.f64", &[d(-0.0), d(0.0)], d(0.0)),
            ("max.f64", &[d(f64::NAN), d(1.0)], d(1.0)),
            ("setp.ne.f64", &[d(f64::NAN), d(1.0)], 0),
            ("setp.neu.f64", &[d(f64::NAN), d(1.0)], 1),
            ("setp.gtu.f32", &[f(1.0), f(f32::NAN)], 1),
            ("setp.nan.f64", &[d(1.0), d(f64::NAN)], 1),
        ] {
            assert_eq!(result(opcode, operands), expected, "{opcode}");
        }
    }

    #[test]
    fn an_instruction_that_is_not_there_is_refused() {
        // Without a rounding modifier an assembler may fuse; `approx` differs between GPUs.
        let refused = "add.f64 div.approx.f32 lg2.approx.f32 add.q32 rcp.approx.ftz.f64 sqrt.rz.f64 abs.ftz.f32 add.rn.ftz.f32 \
            add.sat.s32 add.cc.u32 max.NaN.f32 add.rn.f16 fma.rn.sat.f32 setp.lt.ftz.f32 mul.hi.f64";
        for opcode in refused.split_whitespace() {
            let words: Vec<&str> = opcode.split('.').collect();
            for count in 1..4 {
                assert!(
                    compute(&words, 0, &[1, 2, 3][..count]).is_none(),
                    "{opcode}"
                );
            }
        }
    }
}
