//! `cargo xtask guide`: the book of docs/guide, and the check of its pages.

mod book;
mod compare;
mod execute;
mod page;
mod reference;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Parser;

use crate::{Error, build, mpi, workspace};
use execute::Tools;
pub use page::{Block, Link, Page};

/// The folder of the chapters.
const CHAPTERS: &str = "docs/guide";
/// The list of the chapters.
const SUMMARY: &str = "SUMMARY.md";
/// Most bytes of a picture, and of all pictures.
pub(crate) const MOST_BYTES: (u64, u64) = (150 << 10, 1 << 20);

/// Builds the guide, or checks it and the README.
///
/// The book goes to out/guide/index.html, with search, usable without a network. mdbook is installed below the target
/// folder on first use, from crates.io. Reference pages are made from the program's own help and from tables.
///
/// --check runs every command line of the chapters of docs/guide and of README.md, each page in an empty folder, and
/// compares the output that the text shows and the pictures. Commands that this machine cannot run are listed with the
/// reason.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Check the chapters and the README. Builds no book.
    #[arg(long)]
    check: bool,
    /// With --check: replace pictures where the commands make others.
    #[arg(long, requires = "check")]
    refresh: bool,
    /// Use this program in place of a release build of `trioxide`.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// With --check: pages to check, such as docs/guide/scan.md [default: all].
    #[arg(value_name = "PAGE", requires = "check")]
    pages: Vec<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let binary = match &arguments.binary {
        Some(binary) => {
            fs::canonicalize(binary).map_err(|error| format!("{}: {error}", binary.display()))?
        }
        None => build::trioxide_with(if mpi::missing().is_empty() {
            &["--features", "mpi"]
        } else {
            &[]
        })?,
    };
    if arguments.check {
        return check(&binary, &arguments.pages, arguments.refresh);
    }
    let index = book::build(&binary)?;
    println!("{}", index.display());
    Ok(())
}

/// The README and the chapters.
///
/// # Errors
///
/// A page cannot be read.
pub fn pages() -> Result<Vec<Page>, Error> {
    let mut paths = vec![PathBuf::from("README.md")];
    paths.extend(pages_in(Path::new(CHAPTERS))?);
    paths.iter().map(|path| Page::read(path)).collect()
}

/// Paths of the pages in a folder, from the root of the repository, in order.
fn pages_in(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(workspace().join(folder))? {
        let path = folder.join(entry?.file_name());
        if path.extension().is_some_and(|extension| extension == "md") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// The faults that can be found without running a command: links that lead nowhere, pictures that are too large,
/// commands of `cargo xtask` that do not exist, and blocks that the check would not understand.
///
/// # Errors
///
/// A page of docs cannot be read.
pub fn faults(pages: &[Page]) -> Result<Vec<String>, Error> {
    let mut faults = Vec::new();
    let mut others = BTreeMap::new();
    for path in pages_in(Path::new("docs"))? {
        let page = Page::read(&path)?;
        others.insert(path, page);
    }
    let all: Vec<&Page> = pages.iter().chain(others.values()).collect();
    for page in &all {
        for link in &page.links {
            if let Some(fault) = fault_of_link(page, link, &all) {
                faults.push(format!("{}: {fault}", page.at(link.line)));
            }
        }
    }
    for page in pages {
        for block in &page.blocks {
            for (line, fault) in faults_of_block(block) {
                faults.push(format!("{}: {fault}", page.at(line)));
            }
        }
    }
    faults.extend(faults_of_summary(pages));
    faults.extend(faults_of_pictures(pages));
    Ok(faults)
}

fn fault_of_link(page: &Page, link: &Link, pages: &[&Page]) -> Option<String> {
    let target = &link.target;
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, heading) = page.resolve(target);
    if !workspace().join(&path).exists() {
        return Some(format!("{target} does not exist"));
    }
    let heading = heading?;
    let page = pages.iter().find(|page| page.path == path)?;
    let is_there = page.anchors.contains(heading);
    (!is_there).then(|| format!("{target}: there is no such heading"))
}

/// Faults of a block, with their lines.
fn faults_of_block(block: &Block) -> Vec<(usize, String)> {
    let mut faults = Vec::new();
    for need in block.needs() {
        if !execute::NEEDS.contains(&need) {
            let known = execute::NEEDS.join(", ");
            faults.push((
                block.line,
                format!("no machine is known to have {need:?}: {known}"),
            ));
        }
    }
    if block.language != "sh" {
        return faults;
    }
    for (line, command) in block.commands() {
        let Some(words) = shlex::split(&command) else {
            // Quotes may span lines; the shell sees them.
            continue;
        };
        let words = words
            .iter()
            .take_while(|word| *word != "|")
            .map(|word| &**word);
        let words: Vec<&str> = words.collect();
        if let ["cargo", arguments @ ..] = &words[..]
            && arguments.first() == Some(&"xtask")
            && let Err(error) = crate::Arguments::try_parse_from(arguments)
            && error.use_stderr()
        {
            faults.push((line, format!("{command}: {error}")));
        }
    }
    faults
}

/// Chapters that the list lacks.
fn faults_of_summary(pages: &[Page]) -> Vec<String> {
    let Some(summary) = pages.iter().find(|page| page.path.ends_with(SUMMARY)) else {
        return vec![format!("{CHAPTERS}/{SUMMARY} does not exist")];
    };
    let listed: Vec<PathBuf> = summary
        .links
        .iter()
        .map(|link| summary.resolve(&link.target).0)
        .collect();
    let chapters = pages.iter().filter(|page| page.path.starts_with(CHAPTERS));
    let missing = chapters.filter(|page| page.path != summary.path && !listed.contains(&page.path));
    missing
        .map(|page| format!("{}: {SUMMARY} does not list it", page.path.display()))
        .collect()
}

/// Pictures that are too large, each or together.
fn faults_of_pictures(pages: &[Page]) -> Vec<String> {
    let mut sizes = BTreeMap::new();
    for page in pages {
        for link in page.links.iter().filter(|link| link.is_picture) {
            let (path, _) = page.resolve(&link.target);
            if let Ok(data) = fs::metadata(workspace().join(&path)) {
                sizes.insert(path, data.len());
            }
        }
    }
    let (most, most_of_all) = MOST_BYTES;
    let large = sizes.iter().filter(|&(_, &bytes)| bytes > most);
    let mut faults: Vec<String> = large
        .map(|(path, bytes)| {
            format!(
                "{}: {bytes} bytes, at most {most} are allowed",
                path.display()
            )
        })
        .collect();
    let all: u64 = sizes.values().sum();
    if all > most_of_all {
        faults.push(format!(
            "all pictures have {all} bytes, at most {most_of_all} are allowed"
        ));
    }
    faults
}

/// Checks the pages, and prints a line for each.
fn check(binary: &Path, chosen: &[PathBuf], refresh: bool) -> Result<(), Error> {
    let all = pages()?;
    let is_there = |path: &&PathBuf| all.iter().any(|page| page.path == **path);
    if let Some(path) = chosen.iter().find(|path| !is_there(path)) {
        let path = path.display();
        return Err(format!("{path} is no page: give one as docs/guide/scan.md").into());
    }
    let mut faults = faults(&all)?;
    let is_chosen = |page: &&Page| chosen.is_empty() || chosen.contains(&page.path);
    let pages: Vec<&Page> = all.iter().filter(is_chosen).collect();
    let blocks = pages.iter().flat_map(|page| &page.blocks);
    let needs = blocks.flat_map(Block::needs).collect();
    let tools = Tools::prepare(binary, &needs)?;
    let mut skipped = Vec::new();
    for page in pages {
        let start = Instant::now();
        let done = execute::page(page, &tools, refresh)?;
        println!(
            "{:<28} {:>3} commands, {:>2} outputs, {:>2} pictures, {:>5.1} s",
            page.path.display(),
            done.commands,
            done.outputs,
            done.pictures,
            start.elapsed().as_secs_f64()
        );
        faults.extend(done.fault);
        skipped.extend(done.skipped);
    }
    if !skipped.is_empty() {
        println!("skipped, {} in all:", skipped.len());
        skipped.iter().for_each(|line| println!("  {line}"));
    }
    match faults.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "the guide is wrong in {} places:\n{}",
            faults.len(),
            faults.join("\n")
        )
        .into()),
    }
}
