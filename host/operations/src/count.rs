//! Counts as people write them.

/// 2 to the 53rd.
const MOST: f64 = 9_007_199_254_740_992.0;

/// A count as people write it: digits, with underscores, an exponent, or a suffix k, M or G.
pub fn parse_count(text: &str) -> Result<usize, String> {
    let plain = text.replace('_', "");
    let (digits, factor) = match plain.char_indices().last() {
        Some((end, 'k' | 'K')) => (&plain[..end], 1e3),
        Some((end, 'm' | 'M')) => (&plain[..end], 1e6),
        Some((end, 'g' | 'G')) => (&plain[..end], 1e9),
        _ => (plain.as_str(), 1.0),
    };
    let number = digits.parse::<f64>().ok().filter(|number| !number.is_nan());
    let number =
        number.ok_or("is no number such as 1000000, 1e6 or 1M, with a suffix k, M or G at most")?;
    // Rounded, since 1.1M times its factor is not exact.
    let count = (number * factor).round();
    if count < 0.0 {
        return Err("is below 0: give a count of 0 or more".into());
    }
    if count > MOST {
        return Err(format!(
            "is more than {MOST}, beyond which not every count is a number: give a smaller one"
        ));
    }
    if (number * factor - count).abs() > 1e-6 {
        return Err("is not a whole number: give a count such as 1000000, 1e6 or 1M".into());
    }
    Ok(count as usize)
}

#[cfg(test)]
mod tests {
    use super::parse_count;

    #[test]
    fn counts_are_read_as_people_write_them() {
        for (text, count) in [
            ("0", 0),
            ("1000000", 1_000_000),
            ("1_000_000", 1_000_000),
            ("1e6", 1_000_000),
            ("1.5E3", 1500),
            ("1M", 1_000_000),
            ("25m", 25_000_000),
            ("200k", 200_000),
            ("1.1M", 1_100_000),
            ("0.1G", 100_000_000),
        ] {
            assert_eq!(parse_count(text), Ok(count), "{text}");
        }
        for (text, words) in [
            ("1e20", "is more than 9007199254740992"),
            ("-5", "is below 0"),
            ("1.5", "is not a whole number"),
            ("1T", "k, M or G"),
            ("nan", "is no number such as"),
            ("-NaNk", "is no number such as"),
            ("inf", "is more than"),
        ] {
            let message = parse_count(text).unwrap_err();
            assert!(message.contains(words), "{text}: {message}");
        }
        for text in ["", "M", "x", "-1", "1.5", "nan", "inf", "1e300", "1MM", "é"] {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }
}
