//! `cvt` ("PTX ISA", section 9.7.9).

use crate::types::Type;

/// A rounding of floats to integers.
type Rounding = fn(f64) -> f64;
/// A conversion of a slot's value.
type Conversion = Box<dyn Fn(u64) -> u64 + Send + Sync>;

/// The conversion of `cvt.[rounding.]to.from`; `None` if it is not supported.
pub fn conversion(options: &[&str]) -> Option<Conversion> {
    let (roundings, types) = options.split_at_checked(options.len().checked_sub(2)?)?;
    let (to, from) = (Type::parse(types[0])?, Type::parse(types[1])?);
    if from.kind == 'f' {
        return of_float(roundings, to, from);
    }
    if !matches!(roundings, [] | ["rn"]) {
        return None;
    }
    let is_signed = from.kind == 's';
    Some(match (to.kind, to.bits) {
        ('f', 32) if is_signed => Box::new(move |x| (from.signed(x) as f32).to_bits().into()),
        ('f', 32) => Box::new(move |x| ((x & from.mask()) as f32).to_bits().into()),
        ('f', _) if is_signed => Box::new(move |x| (from.signed(x) as f64).to_bits()),
        ('f', _) => Box::new(move |x| ((x & from.mask()) as f64).to_bits()),
        _ if is_signed => Box::new(move |x| from.signed(x) as u64 & to.mask()),
        _ => Box::new(move |x| x & from.mask() & to.mask()),
    })
}

fn of_float(roundings: &[&str], to: Type, from: Type) -> Option<Conversion> {
    let round: Rounding = match roundings {
        // A conversion from float to integer names its rounding.
        [] | ["rn"] if to.kind == 'f' => |x| x,
        ["rzi"] => f64::trunc,
        ["rni"] => f64::round_ties_even,
        ["rmi"] => f64::floor,
        ["rpi"] => f64::ceil,
        _ => return None,
    };
    let number = move |x: u64| match from.bits {
        32 => round(f32::from_bits(x as u32).into()),
        _ => round(f64::from_bits(x)),
    };
    // Only the highest bit, if either has 64 bits.
    let of_nan = match from.bits == 64 || to.bits == 64 {
        true => 1 << (to.bits - 1),
        false => 0,
    };
    Some(match (to.kind, to.bits) {
        ('f', 32) => Box::new(move |x| (number(x) as f32).to_bits().into()),
        ('f', _) => Box::new(move |x| number(x).to_bits()),
        _ => Box::new(move |x| match number(x) {
            x if x.is_nan() => of_nan,
            x if to.kind == 's' => {
                let limit = i64::MAX >> (64 - to.bits);
                (x as i64).clamp(-limit - 1, limit) as u64 & to.mask()
            }
            x => (x as u64).min(to.mask()),
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_converted_as_defined() {
        for (opcode, x, expected) in [
            ("u64.u32", 5, 5),
            ("s64.s32", 0xffff_ffff, u64::MAX),
            ("u32.u64", 0x1_0000_0002, 2),
            ("u16.u32", 0x1_0002, 2),
            ("rn.f64.u32", 3, 3.0_f64.to_bits()),
            ("rn.f64.s64", u64::MAX, (-1.0_f64).to_bits()),
            ("rn.f32.u32", 16_777_217, 16_777_216.0_f32.to_bits().into()),
            ("rn.f32.f64", 0.1_f64.to_bits(), 0.1_f32.to_bits().into()),
            (
                "f64.f32",
                0.1_f32.to_bits().into(),
                f64::from(0.1_f32).to_bits(),
            ),
            ("rzi.s64.f64", (-2.7_f64).to_bits(), -2_i64 as u64),
            ("rzi.u32.f64", (-2.7_f64).to_bits(), 0),
            ("rzi.u32.f64", 1e20_f64.to_bits(), 0xffff_ffff),
            ("rzi.s32.f64", 1e20_f64.to_bits(), 0x7fff_ffff),
            ("rzi.s64.f64", f64::NAN.to_bits(), 1 << 63),
            ("rzi.u32.f64", f64::NAN.to_bits(), 0x8000_0000),
            ("rzi.s32.f32", f32::NAN.to_bits().into(), 0),
            ("rn.f32.u8", 0x105, 5.0_f32.to_bits().into()),
            ("rmi.f64.f64", (-2.5_f64).to_bits(), (-3.0_f64).to_bits()),
        ] {
            let options: Vec<&str> = opcode.split('.').collect();
            let convert = conversion(&options).expect(opcode);
            assert_eq!(convert(x), expected, "{opcode}");
        }
        assert!(conversion(&["s64", "f64"]).is_none());
        assert!(conversion(&["f64"]).is_none());
        assert!(conversion(&["f32", "f16"]).is_none());
    }
}
