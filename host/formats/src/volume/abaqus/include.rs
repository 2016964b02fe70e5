//! Other files in an input file: `*INCLUDE, INPUT=more.inp` inserts the lines of that file, and `INPUT=` of a `*NODE`,
//! `*ELEMENT` or `*ELSET` inserts data lines.
//!
//! Names are relative to the folder of the input file that is read, in included files too: Abaqus and CalculiX use the
//! folder of the job. [`crate::references`] decides which names are followed.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::map_file;
use crate::references::{Copies, Identity, ReadOptions, References, identity};
use crate::text::{Fault, text_start, with_line_feeds};
use trioxide_mesh::{Error, Result};

/// Most nested files: Abaqus allows five.
const MOST_NESTED: usize = 16;

/// Keywords that are read and whose data lines may be in another file.
const WITH_DATA: [&str; 3] = ["NODE", "ELEMENT", "ELSET"];

/// A text with the files that it names inserted.
pub(super) struct Expanded<'a> {
    pub(super) text: Cow<'a, [u8]>,
    /// Start of each part of the text, its file, and its offset there.
    parts: Vec<(usize, usize, usize)>,
    /// All files, in the order of opening.
    files: Vec<(PathBuf, Cow<'a, [u8]>)>,
}

impl<'a> Expanded<'a> {
    /// The text of the file at `path` that holds `file`.
    ///
    /// # Errors
    /// A name that is not followed, a file that cannot be read, files that include each other.
    pub(super) fn of(path: &Path, file: &'a [u8], options: ReadOptions) -> Result<Expanded<'a>> {
        let file = with_line_feeds(file);
        let mut expanded = Expanded {
            text: Cow::Borrowed(b""),
            parts: vec![(0, 0, 0)],
            files: vec![(path.to_owned(), file)],
        };
        if names(&expanded.files[0].1).next().is_none() {
            expanded.text = expanded.files[0].1.clone();
            return Ok(expanded);
        }
        let mut expander = Expander {
            references: References::of(path, options),
            copies: Copies::new(expanded.files[0].1.len()),
            open: vec![0],
            text: Vec::new(),
            parts: Vec::new(),
            ids: vec![identity(path)],
            files: expanded.files,
        };
        expander.append(0)?;
        Ok(Expanded {
            text: Cow::Owned(expander.text),
            parts: expander.parts,
            files: expander.files,
        })
    }

    /// The error of a fault in the text: in the file, and at the line there.
    pub(super) fn error(&self, fault: Fault) -> Error {
        let part = self.parts.partition_point(|part| part.0 <= fault.offset) - 1;
        let (begin, file, offset) = self.parts[part];
        let (path, text) = &self.files[file];
        Fault::new(offset + fault.offset - begin, fault.reason).in_text(path, text)
    }
}

struct Expander<'r, 'a> {
    references: References<'r>,
    copies: Copies,
    /// The files that are open, one in the other.
    open: Vec<usize>,
    text: Vec<u8>,
    parts: Vec<(usize, usize, usize)>,
    files: Vec<(PathBuf, Cow<'a, [u8]>)>,
    /// Identities of `files`.
    ids: Vec<Option<Identity>>,
}

impl Expander<'_, '_> {
    /// Appends the text of a file, and of the files that it names.
    fn append(&mut self, file: usize) -> Result<()> {
        let text = self.files[file].1.clone();
        let mut from = 0;
        for named in names(&text) {
            self.push(file, &text, from, named.keep);
            from = named.end;
            let path = self.references.find(&named.name);
            let next = path.and_then(|path| self.open(path)).map_err(|reason| {
                let path = &self.files[file].0;
                Fault::new(named.at, reason).in_text(path, &text)
            })?;
            self.open.push(next);
            self.append(next)?;
            self.open.pop();
        }
        self.push(file, &text, from, text.len());
        Ok(())
    }

    /// Opens a file that another file names.
    fn open(&mut self, path: PathBuf) -> Result<usize, String> {
        if self.open.len() >= MOST_NESTED {
            return Err(format!(
                "more than {MOST_NESTED} files are included one in the other"
            ));
        }
        let id = identity(&path);
        let same = |other: &Option<Identity>| id.is_some() && *other == id;
        let known = self.ids.iter().position(same);
        let next = match known {
            Some(next) => next,
            None => {
                let bytes = map_file(&path)?;
                self.copies.add_file(&path, bytes.len());
                let text = with_line_feeds(&bytes).into_owned();
                self.files.push((path, Cow::Owned(text)));
                self.ids.push(id);
                self.files.len() - 1
            }
        };
        if self.open.contains(&next) {
            return Err(format!("{} includes itself", self.files[next].0.display()));
        }
        let bytes = self.files[next].1.len();
        self.copies.count(bytes, bytes)?;
        Ok(next)
    }

    /// Appends a part of a file as lines.
    fn push(&mut self, file: usize, text: &[u8], from: usize, to: usize) {
        // A byte order mark is no text within another file.
        let from = from.max(text_start(text)).min(to);
        self.parts.push((self.text.len(), file, from));
        self.text.extend_from_slice(&text[from..to]);
        if !self.text.ends_with(b"\n") {
            self.text.push(b'\n');
        }
    }
}

/// The name of another file in a text.
struct FileName {
    /// Offset of the keyword.
    at: usize,
    /// End of the text before the other file's lines.
    keep: usize,
    /// Start of the text after them.
    end: usize,
    name: String,
}

/// The names of other files in a text.
fn names(text: &[u8]) -> impl Iterator<Item = FileName> {
    let stars = memchr::memchr_iter(b'*', text);
    let keywords = stars.filter(|&at| {
        let line = memchr::memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1);
        let is_first = text[line.max(text_start(text)).min(at)..at]
            .trim_ascii()
            .is_empty();
        is_first && text.get(at + 1) != Some(&b'*')
    });
    keywords.filter_map(|at| {
        let end = end_of_keyword(text, at);
        let header = String::from_utf8_lossy(&text[at..end]).into_owned();
        let mut words = header.split([',', '\n']).map(str::trim);
        let keyword = words.next()?.strip_prefix('*')?.trim().to_ascii_uppercase();
        let is_include = keyword == "INCLUDE";
        if !is_include && !WITH_DATA.contains(&keyword.as_str()) {
            return None;
        }
        let mut pairs = words.filter_map(|word| word.split_once('='));
        let (_, name) = pairs.find(|(name, _)| name.trim().eq_ignore_ascii_case("INPUT"))?;
        Some(FileName {
            at,
            keep: if is_include { at } else { end },
            end,
            name: name.trim().trim_matches('"').to_owned(),
        })
    })
}

/// End of the lines of a keyword: a line that ends in a comma continues in the next line.
fn end_of_keyword(text: &[u8], mut at: usize) -> usize {
    loop {
        let length = memchr::memchr(b'\n', &text[at..]).unwrap_or(text.len() - at);
        let line = text[at..at + length].trim_ascii();
        at = (at + length + 1).min(text.len());
        let next = text[at..].trim_ascii_start().first();
        if !line.ends_with(b",") || next.is_none_or(|&byte| byte == b'*') {
            return at;
        }
    }
}
