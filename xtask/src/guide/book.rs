//! Builds the book: chapters, pages of the project, and generated reference pages, by mdbook.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use super::page::Page;
use super::{CHAPTERS, SUMMARY, reference};
use crate::process::{cargo, output_of, run as run_command};
use crate::{Error, target_dir, workspace};

/// The version of mdbook that is installed.
const MDBOOK: &str = "0.5.4";
/// The chapter below which the generated pages stand.
const REFERENCE: &str = "docs/guide/reference.md";

/// Builds the book with the help texts of `binary`. Returns the path of its first page.
pub(super) fn build(binary: &Path) -> Result<PathBuf, Error> {
    let mdbook = provide_mdbook()?;
    let stage = target_dir().join("guide").join("book");
    if stage.exists() {
        fs::remove_dir_all(&stage)?;
    }
    let sources = stage.join("src");
    fs::create_dir_all(&sources)?;
    fs::copy(
        workspace().join(CHAPTERS).join("book.toml"),
        stage.join("book.toml"),
    )?;

    let summary = Page::read(&Path::new(CHAPTERS).join(SUMMARY))?;
    let listed = summary
        .links
        .iter()
        .map(|link| summary.resolve(&link.target).0);
    let book: BTreeSet<PathBuf> = listed.collect();
    for path in &book {
        write_page(&Page::read(path)?, &book, &sources)?;
    }
    let text = rewritten(&summary, &book)?;
    let mut list = String::new();
    let generated = reference::pages(binary)?;
    for line in text.lines() {
        list += line;
        list.push('\n');
        if line.contains(&format!("]({})", place(Path::new(REFERENCE)).display())) {
            for page in &generated {
                list += &format!("  - [{}](reference/{}.md)\n", page.title, page.name);
            }
        }
    }
    fs::write(sources.join(SUMMARY), list)?;
    fs::create_dir_all(sources.join("reference"))?;
    for page in &generated {
        let path = sources.join("reference").join(format!("{}.md", page.name));
        fs::write(path, &page.text)?;
    }

    let out = workspace().join("out").join("guide");
    run_command(
        Command::new(mdbook)
            .arg("build")
            .arg(&stage)
            .arg("--dest-dir")
            .arg(&out),
    )?;
    Ok(out.join("index.html"))
}

/// Writes a page of the book and the pictures that it shows.
fn write_page(page: &Page, book: &BTreeSet<PathBuf>, sources: &Path) -> Result<(), Error> {
    let mut files = vec![(page.path.clone(), rewritten(page, book)?.into_bytes())];
    for link in page.links.iter().filter(|link| link.is_picture) {
        let (path, _) = page.resolve(&link.target);
        let bytes = fs::read(workspace().join(&path))
            .map_err(|error| format!("{}: {}: {error}", page.at(link.line), link.target))?;
        files.push((path, bytes));
    }
    for (path, bytes) in files {
        let to = sources.join(place(&path));
        fs::create_dir_all(to.parent().unwrap_or(sources))?;
        fs::write(to, bytes)?;
    }
    Ok(())
}

/// The place of a file in the book: chapters at its root, others below `project`.
fn place(path: &Path) -> PathBuf {
    match path.strip_prefix(CHAPTERS) {
        Ok(chapter) => chapter.to_owned(),
        Err(_) => Path::new("project").join(path),
    }
}

/// A page's text whose links hold in the book. A link out of the book becomes the path that it led to.
fn rewritten(page: &Page, book: &BTreeSet<PathBuf>) -> Result<String, Error> {
    let text = fs::read_to_string(workspace().join(&page.path))?;
    let from = place(&page.path);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for link in &page.links {
        if link.target.contains("://") || link.target.starts_with('#') {
            continue;
        }
        let (path, heading) = page.resolve(&link.target);
        let old = format!("]({})", link.target);
        let heading = heading.map_or(String::new(), |heading| format!("#{heading}"));
        let new = match link.is_picture || book.contains(&path) {
            true => format!("]({}{heading})", relative(&from, &place(&path))),
            false => format!("] (`{}`)", path.display()),
        };
        let line = &mut lines[link.line - 1];
        *line = line.replacen(&old, &new, 1);
    }
    Ok(lines.join("\n") + "\n")
}

/// The link from one file of the book to another.
fn relative(from: &Path, to: &Path) -> String {
    let from: Vec<Component> = from
        .parent()
        .map_or(Vec::new(), |f| f.components().collect());
    let to: Vec<Component> = to.components().collect();
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from[shared..].iter().map(|_| "..".to_owned());
    let down = to[shared..]
        .iter()
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// The program, installed below the target folder if it is not there.
fn provide_mdbook() -> Result<PathBuf, Error> {
    let root = target_dir().join("mdbook");
    let program = root
        .join("bin")
        .join(format!("mdbook{}", std::env::consts::EXE_SUFFIX));
    let version = output_of(Command::new(&program).arg("--version"));
    if version.is_none_or(|version| version.trim() != format!("mdbook v{MDBOOK}")) {
        eprintln!(
            "installing mdbook {MDBOOK} below {}: some minutes, once",
            root.display()
        );
        let mut install = cargo(&[
            "install",
            "mdbook",
            "--locked",
            "--force",
            "--no-default-features",
        ]);
        install
            .args(["--features", "search", "--version", MDBOOK, "--root"])
            .arg(&root);
        run_command(&mut install)?;
    }
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_from_place_to_place() {
        let to = |from: &str, to: &str| relative(&place(Path::new(from)), &place(Path::new(to)));
        assert_eq!(to("docs/guide/scan.md", "docs/guide/scan.png"), "scan.png");
        assert_eq!(
            to("docs/guide/scan.md", "docs/TRUST.md"),
            "project/docs/TRUST.md"
        );
        assert_eq!(to("docs/TRUST.md", "docs/guide/scan.md"), "../../scan.md");
        assert_eq!(to("docs/TRUST.md", "docs/KERNELS.md"), "KERNELS.md");
    }
}
