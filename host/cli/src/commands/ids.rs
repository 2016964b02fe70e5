//! Text files of ids, and of other words, one reader for every option that takes one.

use std::path::Path;

use trioxide::{Error, Result};

/// The words of a file that are not behind a `#`, with their lines from 1.
pub fn read_words<T>(path: &Path, parse: impl Fn(&str) -> Option<T>, what: &str) -> Result<Vec<T>> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::file(path, source))?;
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

/// Flags of `count` elements, set where the file has the element's id; `what` names an element and the ids that there are.
pub fn read_flags(path: &Path, count: usize, what: &str) -> Result<Vec<bool>> {
    let id = |word: &str| word.parse().ok().filter(|&id: &usize| id < count);
    let mut flags = vec![false; count];
    for id in read_words(path, id, &format!("the id of {what}"))? {
        flags[id] = true;
    }
    Ok(flags)
}

/// The numbers of a file, one for each of `triangles`.
pub fn read_values(path: &Path, triangles: usize) -> Result<Vec<f64>> {
    let number = |word: &str| word.parse().ok().filter(|x: &f64| !x.is_nan());
    let values = read_words(path, number, "a number")?;
    if values.len() != triangles {
        return Err(Error::Argument(format!(
            "{} has {} values, but the mesh has {triangles} triangles: give one number for each",
            path.display(),
            values.len()
        )));
    }
    Ok(values)
}
