//! Counts as people write them.

/// A count as people write it: digits, with underscores, an exponent, or a suffix k, M or G.
pub fn parse_count(text: &str) -> Result<usize, String> {
    let plain = text.replace('_', "");
    let (digits, factor) = match plain.char_indices().last() {
        Some((end, 'k' | 'K')) => (&plain[..end], 1e3),
        Some((end, 'm' | 'M')) => (&plain[..end], 1e6),
        Some((end, 'g' | 'G')) => (&plain[..end], 1e9),
        _ => (plain.as_str(), 1.0),
    };
    let number = digits
        .parse::<f64>()
        .map_err(|_| "is no number such as 1000000, 1e6 or 1M")?;
    // Rounded, since 1.1M times its factor is not exact.
    let count = (number * factor).round();
    if (number * factor - count).abs() > 1e-6 || !(0.0..=2f64.powi(53)).contains(&count) {
        return Err("is not a whole number of points".into());
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
        for text in ["", "M", "x", "-1", "1.5", "nan", "inf", "1e300", "1MM", "é"] {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }
}
