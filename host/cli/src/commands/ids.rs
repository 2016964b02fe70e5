//! Text files of ids, and of other words, one reader for every option that takes one.

use std::path::Path;

use trioxide::{Error, Result, formats};

/// Parses the words of a file. A `#` starts a comment, to the end of its line. `what` describes a valid word in the
/// error for a wrong one.
pub fn read_words<T>(path: &Path, parse: impl Fn(&str) -> Option<T>, what: &str) -> Result<Vec<T>> {
    let text = formats::read_text(path)?;
    let mut parsed = Vec::new();
    for (i, line) in text.lines().enumerate() {
        for word in line.split('#').next().unwrap_or("").split_whitespace() {
            parsed.push(parse(word).ok_or_else(|| Error::Parse {
                path: path.to_owned(),
                line: i + 1,
                reason: format!("`{word}` is not {what}"),
            })?);
        }
    }
    Ok(parsed)
}

/// Flags of `count` elements, set where the file has the element's id; `what` names an element and the range of ids in
/// errors.
pub fn read_flags(path: &Path, count: usize, what: &str) -> Result<Vec<bool>> {
    let id = |word: &str| word.parse().ok().filter(|&id: &usize| id < count);
    let mut flags = vec![false; count];
    for id in read_words(path, id, &format!("the id of {what}"))? {
        flags[id] = true;
    }
    Ok(flags)
}

/// The numbers of a file, one for each of `count` cells.
pub fn read_values(path: &Path, count: usize, cells: &str) -> Result<Vec<f64>> {
    let number = |word: &str| word.parse().ok().filter(|x: &f64| !x.is_nan());
    let values = read_words(path, number, "a number")?;
    if values.len() != count {
        return Err(Error::Argument(format!(
            "{} has {} values, but the mesh has {count} {cells}: give one number for each",
            path.display(),
            values.len()
        )));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_before_ids_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ids.txt");
        std::fs::write(&path, "\u{feff}0 2 # a comment\r\n1\r\n").unwrap();
        assert_eq!(
            read_flags(&path, 4, "a vertex").unwrap(),
            [true, true, true, false]
        );
        std::fs::write(&path, "\u{feff}0.5\n").unwrap();
        assert_eq!(read_values(&path, 1, "triangles").unwrap(), [0.5]);
        let error = || read_flags(&path, 4, "a vertex").unwrap_err().to_string();
        std::fs::write(&path, b"\xff\xfe0\0\n\0").unwrap();
        assert!(error().ends_with("ids.txt:1: the text is UTF-16: save it as UTF-8"));
        std::fs::write(&path, b"0\n\xe4\n").unwrap();
        assert!(error().ends_with("ids.txt:2: the text is not UTF-8: save it as UTF-8"));
    }
}
