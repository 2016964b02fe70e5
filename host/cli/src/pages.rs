//! The command lines of the guide, the README and the gallery are ones that this program takes.

use clap::{CommandFactory, Parser};
use xtask::guide::{Page, pages};

use crate::{Cli, usage};

/// The command lines of a page that begin with `trioxide` or `mpirun`, with their lines.
fn command_lines(page: &Page) -> Vec<(usize, String)> {
    let blocks = page.blocks.iter().filter(|block| block.language == "sh");
    let mut lines: Vec<_> = blocks.flat_map(|block| block.commands()).collect();
    // A word in capitals, or an ellipsis, stands for another one.
    let is_placeholder =
        |word: &str| word.contains('…') || word.chars().all(|c| c.is_ascii_uppercase());
    let code = page.code.iter().cloned();
    lines.extend(code.filter(|(_, code)| !code.split(' ').any(is_placeholder)));
    // Variables have values only in the shell.
    lines.retain(|(_, line)| !line.contains('$'));
    lines
}

/// The program's words in a line of a shell, up to the next program or file.
fn words_of(line: &str) -> Option<Vec<String>> {
    const ENDS: [&str; 8] = ["|", "||", "&&", ";", ">", "2>", "2>&1", "#"];
    let words = shlex::split(line)?;
    let begin = words.iter().position(|word| word == "trioxide")?;
    let is_first = begin == 0 || words[0] == "mpirun";
    let rest = words[begin..].iter();
    let own = rest.take_while(|word| !ENDS.contains(&word.as_str()));
    (is_first && words.len() > 1).then(|| own.cloned().collect())
}

#[test]
fn command_lines_of_the_guide_and_the_readme_are_taken() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for page in pages().expect("the pages can be read") {
        for (line, text) in command_lines(&page) {
            let Some(words) = words_of(text.trim()) else {
                continue;
            };
            count += 1;
            if let Err(error) = usage::command(Cli::command()).try_get_matches_from(words)
                && error.use_stderr()
            {
                wrong.push(format!("{}: {text}: {error}", page.at(line)));
            }
        }
    }
    assert!(
        count > 60,
        "{count} command lines: the test reads them wrongly"
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn command_lines_of_the_gallery_are_taken() {
    let pictures = xtask::gallery::PICTURES.iter();
    for line in pictures.flat_map(|picture| picture.lines) {
        if let Err(error) = Cli::try_parse_from(line.split(' ')) {
            panic!("{line}: {error}");
        }
    }
}

#[test]
fn words_end_where_another_program_begins() {
    let words = |line| words_of(line).map(|words| words.join(" "));
    assert_eq!(
        words("trioxide info 'a b' | tail").as_deref(),
        Some("trioxide info a b")
    );
    assert_eq!(
        words("mpirun -n 2 trioxide info a").as_deref(),
        Some("trioxide info a")
    );
    assert_eq!(words("cargo run trioxide"), None);
}
