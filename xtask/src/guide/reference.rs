//! Pages that are made of the program's help and of the table of wrong command lines.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::process::output_of;
use crate::{Error, workspace};

/// Command lines that are refused, with parts of their messages; a test runs them.
const WRONG: &str = "host/cli/tests/wrong.txt";

/// A generated page.
pub(super) struct Generated {
    /// The stem of its file.
    pub(super) name: String,
    /// Its title in the list of chapters.
    pub(super) title: String,
    /// Its text.
    pub(super) text: String,
}

/// A page for each command, and one of errors.
pub(super) fn pages(binary: &Path) -> Result<Vec<Generated>, Error> {
    let help = |words: &[&str]| {
        output_of(Command::new(binary).args(words)).ok_or(format!(
            "{} {} fails",
            binary.display(),
            words.join(" ")
        ))
    };
    let mut pages = Vec::new();
    for name in commands(&help(&["--help"])?) {
        let text = help(&["help", name.as_str()])?;
        let title = format!("trioxide {name}");
        pages.push(Generated {
            text: format!("# {title}\n\n{}", page_of_help(&text)),
            name,
            title,
        });
    }
    pages.push(Generated {
        name: "errors".to_owned(),
        title: "Errors".to_owned(),
        text: errors(&fs::read_to_string(workspace().join(WRONG))?)?,
    });
    Ok(pages)
}

/// The names of the commands in the program's help.
fn commands(help: &str) -> Vec<String> {
    let section = help.split("Commands:\n").nth(1).unwrap_or_default();
    let lines = section.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// A command's help as markdown: its usage as it is printed, a heading for each option, lists of values.
fn page_of_help(help: &str) -> String {
    let mut page = String::new();
    for line in help.lines() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        // The name of an option, and its words where they are on the same line.
        let (name, words) = text.split_once("  ").unwrap_or((text, ""));
        page += &match (indent, text.as_bytes().first()) {
            _ if line.starts_with("Usage: ") => format!("```text\n{line}\n```"),
            (0, _) if ["Arguments:", "Commands:", "Options:"].contains(&line) => {
                format!("## {}", line.trim_end_matches(':'))
            }
            (1..=6, Some(b'-' | b'<' | b'[')) => {
                format!("### `{name}`\n\n{}", escaped(words.trim_start()))
            }
            (1..=6, _) if !words.is_empty() => {
                format!("- `{name}`: {}", escaped(words.trim_start()))
            }
            _ => match text
                .strip_prefix("- ")
                .and_then(|text| text.split_once(": "))
            {
                Some((value, words)) => format!("- `{value}`: {}", escaped(words.trim_start())),
                None => escaped(text),
            },
        };
        page.push('\n');
        if text == "Possible values:" {
            page.push('\n');
        }
    }
    page
}

/// Text without marks of markdown.
fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut escaped, c| {
        if "<>*_[]|".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
        escaped
    })
}

/// The page of errors: a table for each command.
fn errors(table: &str) -> Result<String, Error> {
    let mut text = format!(
        "# Errors\n\nCommand lines that are wrong, and the message of each. `{WRONG}` lists them, and a test runs \
         them. `…` stands for words that a message has in between. The status is 2 for bad usage, and 1 for a bad \
         input or a failure.\n"
    );
    let mut count = 0;
    for line in table.lines().skip(2).filter(|line| !line.is_empty()) {
        if let Some(heading) = line.strip_prefix("# ") {
            text += &format!(
                "\n## {}\n\n| status | command line | message |\n| --- | --- | --- |\n",
                escaped(heading)
            );
            continue;
        }
        let parts = line.split_once(" => ");
        let (command, message) = parts.ok_or_else(|| format!("{WRONG}: no message in {line:?}"))?;
        let (status, arguments) = command
            .split_once(' ')
            .ok_or_else(|| format!("{WRONG}: no command in {line:?}"))?;
        let message = message.replace(" ;; ", " … ");
        text += &format!(
            "| {status} | `{}` | {} |\n",
            arguments.replace('|', "\\|"),
            escaped(&message)
        );
        count += 1;
    }
    match count {
        0 => Err(format!("{WRONG}: no line is found").into()),
        _ => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_and_table_become_pages() {
        let help = "About\n\nUsage: t <COMMAND>\n\nCommands:\n  info     Counts\n  help     Help\n\nOptions:\n";
        assert_eq!(commands(help), ["info"]);
        let page = page_of_help(
            "Counts a <MESH>\n\nUsage: t info\n\nOptions:\n  -c, --color <COLOR>\n          Colour\n\n          \
             Possible values:\n          - red:   As roses\n\n      --json  Counts\n",
        );
        assert_eq!(
            page,
            "Counts a \\<MESH\\>\n\n```text\nUsage: t info\n```\n\n## Options\n### `-c, --color <COLOR>`\n\n\nColour\n\n\
             Possible values:\n\n- `red`: As roses\n\n### `--json`\n\nCounts\n"
        );
        let page = errors("# Words\n\n# info\n1 info a => none ;; there\n").unwrap();
        assert!(
            page.ends_with("| 1 | `info a` | none … there |\n"),
            "{page}"
        );
        assert!(errors("# Words\n\n# info\n").is_err());
        assert!(errors("# Words\n\n1 info a\n").is_err());
    }
}
