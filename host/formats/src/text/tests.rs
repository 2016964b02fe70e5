//! Rows, lines and numbers.

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
    let rows = Rows::new(text.as_bytes(), 0);
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
    }
    for row in 1..501 {
        let i = rows.row(row, "").unwrap().integer("i").unwrap();
        assert_eq!(i, row as i64 - 1);
    }
    assert_eq!(rows.row(501, "").unwrap().token(), Some(&b"last"[..]));
    assert!(rows.row(502, "").is_err());
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
