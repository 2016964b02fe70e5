//! Comments and pages are plain engineer's English: none has a phrase of a table of banned ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A phrase that is not plain engineer's English.
struct Banned {
    /// Its words, each `|`-separated alternatives. `^` is the beginning of a sentence. Punctuation is a word.
    words: &'static str,
    /// The remedy.
    instead: &'static str,
    /// A sentence with the phrase, in which the check finds it.
    found: &'static str,
    /// A sentence that the check accepts.
    accepted: &'static str,
}

/// Phrases that the comments and pages of this project once had and that readers could not follow.
const BANNED: [Banned; 16] = [
    Banned {
        words: "^ what",
        instead: "name the subject",
        found: "What a cell divides, its owner finds.",
        accepted: "The owner finds a cell's divided edges.",
    },
    Banned {
        words: "of|from|by|for|with|and|but|than|on|in|to|as|at|until|over|reads|writes|holds|has|have|gives|takes|knows what",
        instead: "name the object",
        found: "Reads what was written and what is there.",
        accepted: "Nobody asks what: the type decides.",
    },
    Banned {
        words: "those that|which|who",
        instead: "repeat the noun",
        found: "marked triangles, and those that must be",
        accepted: "those of the host's arrays",
    },
    Banned {
        words: "of|with|by|for|from|in|to|its|where|has|have so many|much",
        instead: "give the count a name",
        found: "its input of so many vertices",
        accepted: "takes so many registers that fewer blocks run",
    },
    Banned {
        words: "all in turn",
        instead: "in ascending order",
        found: "Visits them all in turn.",
        accepted: "in turn",
    },
    Banned {
        words: "is|are|was|were|be|been told",
        instead: "received, given, sent",
        found: "nodes are told to be fixed",
        accepted: "the nodes are fixed",
    },
    Banned {
        words: "tell|tells which|whether|what|how|all|apart|from",
        instead: "identify, show, distinguish",
        found: "A bit tells which is first.",
        accepted: "A bit identifies the first.",
    },
    Banned {
        words: "told apart",
        instead: "distinguished",
        found: "cells are told apart",
        accepted: "cells are distinguished",
    },
    Banned {
        words: "of which one",
        instead: "one of which, in a sentence of its own",
        found: "bytes of which one is read",
        accepted: "one of them is read",
    },
    Banned {
        words: "behind the|each|all|it|its|them|those|that|this|every|another|an|a",
        instead: "after, below, across",
        found: "the block behind the level",
        accepted: "the lanes furthest behind step first",
    },
    Banned {
        words: "in the place of",
        instead: "in place of, instead of",
        found: "a copy in the place of the array",
        accepted: "a copy in place of the array",
    },
    Banned {
        words: "^ who",
        instead: "name the person or the caller",
        found: "Who launches promises this.",
        accepted: "The caller promises this.",
    },
    Banned {
        words: "one's own",
        instead: "your own, a user's own",
        found: "kernels of one's own",
        accepted: "your own kernels",
    },
    Banned {
        words: "taken back",
        instead: "reverted",
        found: "Tried and taken back.",
        accepted: "Tried and reverted.",
    },
    Banned {
        words: "has|have|had not .|,|;|:|)",
        instead: "does not have, lacks",
        found: "an encoding that the format has not.",
        accepted: "an encoding that it has not read",
    },
    Banned {
        words: "; whether",
        instead: "a sentence: Returns whether",
        found: "Adds an element; whether it was new.",
        accepted: "Adds an element. Returns whether it was new.",
    },
];

/// Pages that a command writes.
const WRITTEN_BY_COMMANDS: [&str; 1] = ["docs/notebook/papers.md"];

/// The words of a text in lower case, with its punctuation. Code between backticks is one word.
fn words_of(text: &str) -> Vec<String> {
    let parts = text.split('`').enumerate();
    let prose: String = parts
        .map(|(i, part)| if i % 2 == 0 { part } else { " ` " })
        .collect();
    let mut words = vec![".".to_owned()];
    for c in prose.to_lowercase().chars() {
        match c {
            _ if c.is_whitespace() => words.push(String::new()),
            _ if c.is_alphanumeric() || "'`_-".contains(c) => {
                let continues = words.last().is_some_and(|word| !is_mark(word));
                if !continues {
                    words.push(String::new());
                }
                words.last_mut().expect("a word").push(c);
            }
            _ => words.push(c.to_string()),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn is_mark(word: &str) -> bool {
    word.len() == 1 && ".,;:?!|()".contains(word)
}

/// The banned phrases of a text.
fn banned_in(text: &str) -> impl Iterator<Item = &'static Banned> {
    let words = words_of(text);
    BANNED.iter().filter(move |banned| {
        let phrase: Vec<&str> = banned.words.split(' ').collect();
        words.windows(phrase.len()).any(|words| {
            let pairs = words.iter().zip(&phrase);
            pairs.into_iter().all(|(word, element)| match *element {
                "^" => ".:;?!|".contains(&**word),
                element => element.split('|').any(|alternative| word == alternative),
            })
        })
    })
}

/// The prose of a line: of a comment, or of a page. `None` for code.
fn prose<'l>(line: &'l str, extension: &str) -> Option<&'l str> {
    let line = line.trim();
    match extension {
        "md" => Some(line),
        "rs" => line
            .strip_prefix("//")
            .map(|text| text.trim_start_matches(['/', '!']).trim()),
        _ => line
            .strip_prefix('#')
            .map(|text| text.trim_start_matches('#').trim()),
    }
}

/// The paragraphs of a file's prose, each with its first line; so are a list's item, a table's row and a heading.
fn paragraphs(text: &str, extension: &str) -> Vec<(usize, String)> {
    let mut paragraphs: Vec<(usize, String)> = Vec::new();
    let (mut continues, mut in_code) = (false, false);
    for (i, line) in text.lines().enumerate() {
        let text = prose(line, extension);
        let is_fence = text.is_some_and(|text| text.starts_with("```"));
        in_code ^= is_fence;
        let text = text.filter(|text| !text.is_empty() && !is_fence && !in_code);
        let Some(text) = text else {
            continues = false;
            continue;
        };
        let stands_alone = text.starts_with('|') || text.starts_with('#');
        if !continues || stands_alone || text.starts_with("- ") {
            paragraphs.push((i + 1, String::new()));
        }
        let (_, paragraph) = paragraphs.last_mut().expect("just made");
        paragraph.push_str(text.trim_start_matches(['#', '-', ' ']));
        paragraph.push(' ');
        continues = !stands_alone;
    }
    paragraphs
}

#[test]
fn comments_and_pages_are_plain_english() {
    for banned in &BANNED {
        let finds = |text| banned_in(text).any(|found| std::ptr::eq(found, banned));
        assert!(finds(banned.found), "{:?}", banned.found);
        assert!(!finds(banned.accepted), "{:?}", banned.accepted);
    }
    let listed = Command::new("git")
        .args(["ls-files", "*.rs", "*.py", "*.toml", "*.sh", "*.md"])
        .current_dir(root())
        .output()
        .expect("git can be started");
    let listed = String::from_utf8(listed.stdout).expect("names in UTF-8");
    let is_left_out =
        |path: &str| WRITTEN_BY_COMMANDS.contains(&path) || path.starts_with("tests/fuzz/corpus/");
    let (mut found, mut count) = (Vec::new(), 0);
    for path in listed.lines().filter(|path| !is_left_out(path)) {
        let Ok(text) = fs::read_to_string(root().join(path)) else {
            continue;
        };
        // Released sections are history.
        let text = match path {
            "CHANGELOG.md" => text.split("\n## [0").next().expect("a first part"),
            _ => &text,
        };
        let extension = path.rsplit('.').next().unwrap_or("");
        for (line, paragraph) in paragraphs(text, extension) {
            count += 1;
            found.extend(
                banned_in(&paragraph).map(|banned| {
                    format!("{path}:{line}: \"{}\": {}", banned.words, banned.instead)
                }),
            );
        }
    }
    assert!(
        count > 5000,
        "{count} paragraphs: the test reads them wrongly"
    );
    assert!(found.is_empty(), "phrases to replace: {found:#?}");
}
