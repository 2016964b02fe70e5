//! A page of markdown: its blocks of code, its links and its headings.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Error;

/// A page of the guide, or the README.
pub struct Page {
    /// Its path from the root of the repository.
    pub path: PathBuf,
    /// Its blocks of code, in order.
    pub blocks: Vec<Block>,
    /// Its links and pictures, in order.
    pub links: Vec<Link>,
    /// Code between backticks in its text, each with its line.
    pub code: Vec<(usize, String)>,
    /// The names by which links reach its headings.
    pub anchors: BTreeSet<String>,
}

/// A block between fences.
pub struct Block {
    /// The line of the opening fence, from 1 on.
    pub line: usize,
    /// The word after the fence: `sh`, `text`, `python`.
    pub language: String,
    /// Its lines.
    pub lines: Vec<String>,
    /// The text above it, back to an empty line; empty directly after another block.
    above: String,
}

/// A link, or a picture.
pub struct Link {
    /// Its line, from 1 on.
    pub line: usize,
    /// Where it leads.
    pub target: String,
    /// Whether it is a picture.
    pub is_picture: bool,
}

impl Block {
    /// The file that the block is to be written to: its name stands above it, as in "`plate.poly`:".
    pub fn file(&self) -> Option<&str> {
        let (rest, name) = self.above.strip_suffix("`:")?.rsplit_once('`')?;
        (rest.is_empty() || rest.ends_with(' ')).then_some(name)
    }

    /// Whether it is the output of the block before it.
    pub fn is_output(&self) -> bool {
        self.language == "text" && self.above.is_empty()
    }

    /// The parts of a machine that its commands need: "*Needs a GPU, CuPy:*" above it.
    pub fn needs(&self) -> impl Iterator<Item = &str> {
        let (_, needs) = self.above.rsplit_once("*Needs ").unwrap_or_default();
        let needs = needs.strip_suffix(":*").unwrap_or_default();
        needs.split(", ").filter(|need| !need.is_empty())
    }

    /// Its commands with their lines; a line that ends in `\` continues. Comments are left out.
    pub fn commands(&self) -> Vec<(usize, String)> {
        let mut commands: Vec<(usize, String)> = Vec::new();
        let mut continues = false;
        for (i, line) in self.lines.iter().enumerate() {
            let (text, more) = match line.strip_suffix('\\') {
                Some(text) => (text, true),
                None => (&**line, false),
            };
            match commands.last_mut().filter(|_| continues) {
                Some((_, command)) => command.push_str(text),
                None => commands.push((self.line + 1 + i, text.to_owned())),
            }
            continues = more;
        }
        commands.retain(|(_, command)| !command.is_empty() && !command.starts_with('#'));
        commands
    }
}

impl Page {
    /// Reads a page, by its path from the root of the repository.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(crate::workspace().join(path))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self::parse(path.to_owned(), &text))
    }

    fn parse(path: PathBuf, text: &str) -> Self {
        let mut page = Self {
            path,
            blocks: Vec::new(),
            links: Vec::new(),
            code: Vec::new(),
            anchors: BTreeSet::new(),
        };
        let mut above = String::new();
        let mut lines = text.lines().zip(1..);
        while let Some((line, number)) = lines.next() {
            if let Some(language) = line.strip_prefix("```") {
                let block = lines.by_ref().take_while(|(line, _)| *line != "```");
                page.blocks.push(Block {
                    line: number,
                    language: language.to_owned(),
                    lines: block.map(|(line, _)| line.to_owned()).collect(),
                    above: std::mem::take(&mut above),
                });
                continue;
            }
            if let Some(heading) = line.strip_prefix('#') {
                page.anchors
                    .insert(anchor(heading.trim_start_matches('#').trim()));
            }
            page.links.extend(links(line, number));
            let code = line.split('`').skip(1).step_by(2);
            page.code.extend(code.map(|code| (number, code.to_owned())));
            // The text stays "above" over one empty line.
            if !line.is_empty() {
                line.trim().clone_into(&mut above);
            }
        }
        page
    }

    /// "path:line", to begin a message.
    pub fn at(&self, line: usize) -> String {
        format!("{}:{line}", self.path.display())
    }

    /// The path from the root that a relative link of this page leads to, and the heading there.
    pub fn resolve<'l>(&self, target: &'l str) -> (PathBuf, Option<&'l str>) {
        let (file, heading) = match target.split_once('#') {
            Some((file, heading)) => (file, Some(heading)),
            None => (target, None),
        };
        if file.is_empty() {
            return (self.path.clone(), heading);
        }
        let mut path = self.path.clone();
        path.pop();
        for part in file.split('/') {
            match part {
                ".." => _ = path.pop(),
                "." | "" => {}
                part => path.push(part),
            }
        }
        (path, heading)
    }
}

/// The links of a line, without its code between backticks.
fn links(line: &str, number: usize) -> impl Iterator<Item = Link> {
    let mut parts = line.split('`').enumerate();
    let prose: String = parts.by_ref().fold(String::new(), |prose, (i, part)| {
        prose + if i % 2 == 0 { part } else { "" }
    });
    let mut found = Vec::new();
    let mut rest = &*prose;
    while let Some(end) = rest.find("](") {
        let (text, target) = (&rest[..end], &rest[end + 2..]);
        let Some((target, after)) = target.split_once(')') else {
            break;
        };
        let begin = text.rfind('[').unwrap_or(0);
        found.push(Link {
            line: number,
            target: target.to_owned(),
            is_picture: text[..begin].ends_with('!'),
        });
        rest = after;
    }
    found.into_iter()
}

/// The name of a heading in links, as code hosts and mdbook make it.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    let kept = kept
        .chars()
        .filter(|&c| c.is_alphanumeric() || " -_".contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# A page: its `parts`

The file `a.poly`:

```text
1 2
```

See [this](other.md#there) and ![a picture](a.png), not `[code](x.md)`.

*Needs a GPU, CuPy:*

```sh
trioxide info a.poly \\
  --quiet
# a comment
trioxide devices
```

```text
out
```
";

    #[test]
    fn a_page_has_files_commands_outputs_and_links() {
        let page = Page::parse("docs/guide/page.md".into(), TEXT);
        let [file, commands, output] = &page.blocks[..] else {
            panic!("{} blocks", page.blocks.len());
        };
        assert_eq!(file.file(), Some("a.poly"));
        assert!(!file.is_output() && output.is_output());
        let needs: Vec<&str> = commands.needs().collect();
        assert_eq!(needs, ["a GPU", "CuPy"]);
        let lines = commands.commands();
        assert_eq!(lines[0], (14, "trioxide info a.poly   --quiet".to_owned()));
        assert_eq!(lines[1], (17, "trioxide devices".to_owned()));
        let links: Vec<_> = page
            .links
            .iter()
            .map(|l| (&*l.target, l.is_picture))
            .collect();
        assert_eq!(links, [("other.md#there", false), ("a.png", true)]);
        assert!(page.anchors.contains("a-page-its-parts"));
        assert_eq!(page.code[1], (3, "a.poly".to_owned()));
        let (path, heading) = page.resolve("../KERNELS.md#x");
        assert_eq!((path, heading), ("docs/KERNELS.md".into(), Some("x")));
    }
}
