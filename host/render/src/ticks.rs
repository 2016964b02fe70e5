//! Ticks of a scale: round numbers, all in one notation.

/// The marks of a scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Ticks {
    /// Values and their labels, in ascending order.
    pub marks: Vec<(f64, String)>,
    /// The power of ten that every label is multiplied by, as text.
    pub factor: Option<String>,
}

/// Powers of ten of numbers that are written out.
const PLAIN: std::ops::Range<i32> = -4..6;

/// Multiples of 1, 2 or 5 times a power of ten within a range, `most` at most: the smallest step for which they fit.
pub fn linear([low, high]: [f64; 2], most: usize) -> Ticks {
    if low == high {
        let is_plain = low == 0.0 || PLAIN.contains(&power_of(low));
        let label = if is_plain {
            low.to_string()
        } else {
            format!("{low:e}")
        };
        let (marks, factor) = (vec![(low, label)], None);
        return Ticks { marks, factor };
    }
    let most = most.max(1) as f64;
    let (first, last, digit, power) = steps(low, high)
        .map(|(digit, power)| {
            let step = digit * ten_to(power);
            ((low / step).ceil(), (high / step).floor(), digit, power)
        })
        .find(|(first, last, ..)| last - first < most)
        .unwrap_or((0.0, -1.0, 1.0, 0));
    // Counts of the last digit that the labels show.
    let counts = (0..=(last - first) as i64).map(|i| (first + i as f64) * digit + 0.0);
    let counts: Vec<f64> = counts.take(most as usize).collect();
    let largest = counts
        .iter()
        .fold(0.0f64, |most, count| most.max(count.abs()));
    let whole = power + power_of(largest);
    let is_plain = largest == 0.0 || PLAIN.contains(&whole);
    let shift = if is_plain { 0 } else { whole };
    let decimals = (shift - power).max(0);
    let zeros = ten_to((power - shift).max(0));
    let label = |count: f64| format!("{:.*}", decimals as usize, count * zeros / ten_to(decimals));
    Ticks {
        marks: counts
            .iter()
            .map(|&count| (scaled(count, power), label(count)))
            .collect(),
        factor: (!is_plain).then(|| format!("×10{}", superscript(whole))),
    }
}

/// Powers of ten within a range above 0, `most` at most; if there are fewer than two, 1, 2 and 5 times powers of ten;
/// and if these are fewer than two, as on a linear scale.
pub fn logarithmic([low, high]: [f64; 2], most: usize) -> Ticks {
    let powers = power_of(low)..=power_of(high);
    let inside = |digits: &[i32]| -> Vec<(f64, i32, i32)> {
        let all = powers
            .clone()
            .flat_map(|power| digits.iter().map(move |&digit| (digit, power)));
        all.map(|(digit, power)| (scaled(digit.into(), power), digit, power))
            .filter(|(value, ..)| (low..=high).contains(value))
            .collect()
    };
    let mut found = inside(&[1]);
    if found.len() < 2 {
        found = inside(&[1, 2, 5]);
    }
    if found.len() < 2 {
        return linear([low, high], most);
    }
    let stride = found.len().div_ceil(most.max(1));
    let found: Vec<_> = found.into_iter().step_by(stride).collect();
    let is_plain = found.iter().all(|(_, _, power)| PLAIN.contains(power));
    let label = |value: f64, digit: i32, power: i32| match (is_plain, digit) {
        (true, _) => value.to_string(),
        (false, 1) => format!("10{}", superscript(power)),
        (false, _) => format!("{digit}×10{}", superscript(power)),
    };
    Ticks {
        marks: found
            .into_iter()
            .map(|(value, digit, power)| (value, label(value, digit, power)))
            .collect(),
        factor: None,
    }
}

/// The largest of 1, 2 and 5 times a power of ten that is at most `length`, and its label.
pub fn round_length(length: f64) -> (f64, String) {
    let power = power_of(length);
    let digit = [5, 2, 1]
        .into_iter()
        .find(|&digit| scaled(digit.into(), power) <= length)
        .unwrap_or(1);
    let value = scaled(digit.into(), power);
    let label = match PLAIN.contains(&power) {
        true => value.to_string(),
        false => format!("{digit}×10{}", superscript(power)),
    };
    (value, label)
}

/// Steps as digits and powers of ten, in ascending order, from one that is too small for the range.
fn steps(low: f64, high: f64) -> impl Iterator<Item = (f64, i32)> {
    // Halves, since the whole span may be beyond a double.
    let span = (high / 2.0 - low / 2.0).max(f64::MIN_POSITIVE);
    let start = power_of(span) - 3;
    (start..start + 6).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| (digit, power)))
}

/// The power of ten of a number's first digit, without rounding.
fn power_of(value: f64) -> i32 {
    let text = format!("{value:e}");
    let power = text
        .split_once('e')
        .and_then(|(_, power)| power.parse().ok());
    power.unwrap_or(0)
}

fn ten_to(power: i32) -> f64 {
    scaled(1.0, power)
}

/// `count` times a power of ten, to the nearest double.
fn scaled(count: f64, power: i32) -> f64 {
    format!("{count}e{power}").parse().unwrap_or(count)
}

fn superscript(power: i32) -> String {
    let raised = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32('⁰' as u32 + digit as u32 - '0' as u32).unwrap_or(digit),
    };
    power.to_string().chars().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &Ticks) -> Vec<&str> {
        ticks
            .marks
            .iter()
            .map(|(_, label)| label.as_str())
            .collect()
    }

    #[test]
    fn ticks_are_round_and_in_one_notation() {
        for (range, expected, factor) in [
            (
                [0.0, 1.0],
                &["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"][..],
                None,
            ),
            (
                [-0.31, 0.29],
                &["-0.3", "-0.2", "-0.1", "0.0", "0.1", "0.2"],
                None,
            ),
            (
                [2.5, 16.5],
                &["4", "6", "8", "10", "12", "14", "16"][..],
                None,
            ),
            (
                [0.0, 9.9e5],
                &["0", "200000", "400000", "600000", "800000"],
                None,
            ),
            (
                [0.0, 3e6],
                &["0.0", "0.5", "1.0", "1.5", "2.0", "2.5", "3.0"],
                Some("×10⁶"),
            ),
            (
                [-2e-7, 0.0],
                &["-2.0", "-1.5", "-1.0", "-0.5", "0.0"],
                Some("×10⁻⁷"),
            ),
            (
                [1000.001, 1000.0031],
                &[
                    "1000.0010",
                    "1000.0015",
                    "1000.0020",
                    "1000.0025",
                    "1000.0030",
                ],
                None,
            ),
            ([7.0, 7.0], &["7"], None),
            ([-3e-9, -3e-9], &["-3e-9"], None),
        ] {
            let ticks = linear(range, 7);
            assert_eq!(labels(&ticks), expected, "{range:?}");
            assert_eq!(ticks.factor.as_deref(), factor, "{range:?}");
        }
        for range in [
            [f64::MIN, f64::MAX],
            [5e-324, 1e-320],
            [1e16, 1e16 + 2.0],
            [-1.0, 1e300],
        ] {
            for most in [1, 2, 7] {
                let ticks = linear(range, most);
                assert!(ticks.marks.len() <= most, "{range:?} {ticks:?}");
                let is_inside =
                    |(value, _): &(f64, String)| range[0] <= *value && *value <= range[1];
                assert!(ticks.marks.iter().all(is_inside), "{range:?} {ticks:?}");
            }
        }
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten() {
        assert_eq!(
            labels(&logarithmic([0.01, 150.0], 7)),
            ["0.01", "0.1", "1", "10", "100"]
        );
        assert_eq!(
            labels(&logarithmic([1e-9, 1e-7], 7)),
            ["10⁻⁹", "10⁻⁸", "10⁻⁷"]
        );
        assert_eq!(labels(&logarithmic([1.5, 7.0], 7)), ["2", "5"]);
        assert_eq!(
            labels(&logarithmic([3e7, 4e8], 7)),
            ["5×10⁷", "10⁸", "2×10⁸"]
        );
        assert_eq!(labels(&logarithmic([1.1, 1.9], 3)), ["1.5"]);
        assert_eq!(logarithmic([1e-300, 1e300], 7).marks.len(), 7);
    }

    #[test]
    fn lengths_are_round() {
        for (length, label) in [(0.3, "0.2"), (99.0, "50"), (1.0, "1"), (3e-8, "2×10⁻⁸")] {
            assert_eq!(round_length(length).1, label);
        }
    }
}
