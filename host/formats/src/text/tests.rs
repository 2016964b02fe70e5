//! Rows, lines and numbers.

use super::rows::{count_plain, data_lines};
use super::*;

#[test]
fn rows_are_the_same_for_any_seam() {
    let mut text = String::from("head # comment\r\n\n  # only a comment\n");
    for i in 0..500 {
        text += &format!("{i} {}.5e1\r\n", i % 7);
        if i % 5 == 0 {
            text += "\n \t\n#\n";
        }
    }
    text += "last";
    let rows = TextRows::new(text.as_bytes(), 0);
    assert_eq!(rows.count, 502);
    assert!(rows.chunks.len() > 50);
    for range in [0..0, 1..501, 3..4, 17..400, 501..501] {
        let parts: Vec<Vec<(usize, i64, f64)>> = rows
            .parse(range.clone(), |part: &mut Vec<_>, row, line| {
                part.push((row, line.integer("i")?, line.f64("x")?));
                Ok(())
            })
            .unwrap();
        let expected: Vec<_> = range
            .clone()
            .map(|row| (row - range.start, row as i64 - 1))
            .map(|(k, i)| (k, i, (i % 7) as f64 * 10.0 + 5.0))
            .collect();
        assert_eq!(parallel::concat(parts), expected);
        let row = |line: &mut Line| Some((line.integer("").ok()?, line.f64("").ok()?));
        let in_place = rows.parse_in_place(range.clone(), row).unwrap();
        let values = expected.iter().map(|&(_, i, x)| (i, x));
        assert!(in_place.into_iter().eq(values));
    }
    // One row of the last chunk has no value.
    let none = |line: &mut Line| line.integer("").ok().filter(|&i| i != 499);
    assert_eq!(rows.parse_in_place(1..501, none), None);
    assert_eq!(rows.parse_in_place(1..500, none).unwrap().len(), 499);
    for row in 1..501 {
        let i = rows.row(row, "").unwrap().integer("i").unwrap();
        assert_eq!(i, row as i64 - 1);
    }
    assert_eq!(rows.row(501, "").unwrap().token(), Some(&b"last"[..]));
    assert!(rows.row(502, "").is_err());
}

#[test]
fn rows_are_counted_without_a_look_at_each_line() {
    let mut plain = String::new();
    for i in 0..300 {
        plain += &"x".repeat(1 + i % 11);
        plain += if i % 2 == 0 { "\n" } else { "\r\n" };
        let rows = data_lines(plain.as_bytes(), 0..plain.len()).count();
        for text in [
            plain.clone(),
            format!("{plain}end"),
            plain[..plain.len() - 1].to_owned(),
        ] {
            let expected = rows + usize::from(text.ends_with("end"));
            assert_eq!(count_plain(text.as_bytes()), Some(expected), "{text}");
        }
    }
    // Blank lines, comments and indented rows need the general code.
    for line in ["\n", "\r\n", " \n", "#\n", "\t1\n", "\\\n1\n"] {
        for text in [format!("{plain}{line}{plain}"), format!("{line}{plain}")] {
            assert_eq!(count_plain(text.as_bytes()), None, "{line:?}");
        }
    }
    assert_eq!(count_plain(b""), None);
}

#[test]
fn short_corners_are_one_to_three_numbers() {
    let line = |file: &'static [u8]| Line {
        file,
        at: 0,
        end: memchr::memchr(b'\n', file).unwrap_or(file.len()),
    };
    for (text, numbers) in [
        ("7 00000000", [7, 0, 0]),
        ("1234567/8\n00000000", [1_234_567, 8, 0]),
        ("12//345\r\n0000000", [12, 0, 345]),
        ("1/22/333 0000000", [1, 22, 333]),
    ] {
        let mut line = line(text.as_bytes());
        assert_eq!(line.short_corner(), Some(numbers), "{text:?}");
        assert!(line.is_finished() || line.rest().1 == b"00000000" || line.rest().1 == b"0000000");
    }
    for text in [
        "0 00000000",
        "1/0/1 00000000",
        "1/ 0000000",
        "1/2/ 00000000",
        "1// 00000000",
        "1/2/3/4 00000000",
        "/1 00000000",
        "1/-1 00000000",
        "1#00000000",
        "1/2",
    ] {
        let mut line = line(text.as_bytes());
        assert_eq!(line.short_corner(), None, "{text:?}");
        assert_eq!(line.at, 0);
    }
}

#[test]
fn short_integers_are_those_that_are_parsed() {
    let line = |file: &'static [u8]| Line {
        file,
        at: 0,
        end: memchr::memchr(b'\n', file).unwrap_or(file.len()),
    };
    for number in [
        0, 7, 10, 99, 123, 4096, 54_321, 999_999, 1_000_000, 9_999_999,
    ] {
        for behind in [" 12345678", "\n 3 4 5 6 7", "\r\n7890123"] {
            let text = format!("{number}{behind}").leak();
            let mut line = line(text.as_bytes());
            assert_eq!(line.short_integer(), Some(number), "{text:?}");
            assert_eq!(line.is_finished(), !behind.starts_with(' '), "{text:?}");
        }
    }
    // Eight digits, signs, leading blanks, other following bytes, a tab, the end of the file.
    for text in [
        "12345678 000",
        "-1 00000",
        " 1 000000",
        "1.0 0000",
        "1/ 000000",
        "1: 000000",
        "1\t000000",
        "1\u{b0} 0000",
        "12 3",
        "",
        "\n0000000",
        "#1234567",
    ] {
        assert_eq!(line(text.as_bytes()).short_integer(), None, "{text:?}");
    }
}

#[test]
fn numbers() {
    let number = |text: &str| {
        let file = text.as_bytes();
        let line = lines(file, 0..file.len(), false).next();
        line.unwrap().f64("a number").map_err(|fault| fault.reason)
    };
    assert_eq!(number(" 1e3 2"), Ok(1000.0));
    assert_eq!(number("-.5E-1\r"), Ok(-0.05));
    assert_eq!(number("+7.#"), Ok(7.0));
    assert_eq!(number("inf"), Ok(f64::INFINITY));
    assert_eq!(number("-Infinity"), Ok(f64::NEG_INFINITY));
    assert_eq!(number("1e999"), Ok(f64::INFINITY));
    assert!(number("NaN").unwrap().is_nan());
    assert!(number("-nan").unwrap().is_nan());
    assert_eq!(
        number("1.5x"),
        Err("expected a number, found `1.5x`".to_owned())
    );
    assert_eq!(
        number(" # 1"),
        Err("expected a number, but the line ends".to_owned())
    );
    assert_eq!(parse_integer(b"-12/3"), Some((-12, 3)));
    assert_eq!(parse_integer(b"-"), None);
    assert_eq!(parse_integer(b"99999999999999999999"), None);
    assert_eq!(
        parse_integer(b"-9223372036854775807"),
        Some((-i64::MAX, 20))
    );
}

#[test]
fn a_continued_line_is_one_line() {
    let text = b"# path\\\nf 1 2 \\\r\n 3\nusemtl a\\\nv 1\\\n2\n";
    let all: Vec<Vec<&[u8]>> = lines(text, 0..text.len(), true)
        .map(|mut line| std::iter::from_fn(|| line.token()).collect())
        .collect();
    let expected: [&[&[u8]]; 4] = [
        &[],
        &[b"f", b"1", b"2", b"3"],
        &[b"usemtl", b"a", b"\\"],
        &[b"v", b"1", b"2"],
    ];
    assert_eq!(all, expected);
}
