//! Command lines that clap refuses: its message names the cause, and here the remedy is added where it has none.

use std::error::Error as _;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command};
use trioxide::terminal::visible_line;

/// The arguments of this process. Ends it where they are wrong, with status 2.
pub fn matches(command: Command) -> ArgMatches {
    try_matches(command).unwrap_or_else(|error| error.exit())
}

/// The arguments of this process, or the error in them.
pub fn try_matches(command: Command) -> Result<ArgMatches, clap::Error> {
    self::command(command)
        .try_get_matches_from(chain_options_first(std::env::args_os().collect()))
        .map_err(with_remedy)
}

/// The words of a command line, where the options of a whole chain that stand after its last colon come before its
/// first: only there clap takes them for the chain's.
fn chain_options_first(words: Vec<OsString>) -> Vec<OsString> {
    let last = words.iter().rposition(|word| word == ":");
    let (Some(last), Some("chain")) = (last, words.get(1).and_then(|word| word.to_str())) else {
        return words;
    };
    let (mut front, mut back) = (words[..2].to_vec(), words[2..=last].to_vec());
    let mut of_step = words[last + 1..].iter();
    while let Some(word) = of_step.next() {
        let text = word.to_string_lossy();
        let (name, value) = text.split_once('=').unzip();
        let takes_value = ["--device", "--threads", "--json"];
        let name = name.unwrap_or(&text);
        if !(takes_value.contains(&name) || ["--timings", "--quiet"].contains(&name)) {
            back.push(word.clone());
            continue;
        }
        front.push(word.clone());
        if takes_value.contains(&name) && value.is_none() {
            front.extend(of_step.next().cloned());
        }
    }
    front.extend(back);
    front
}

/// The command as it reads arguments.
pub fn command(command: Command) -> Command {
    // `-5` is a number, not an option: the message then names the valid numbers.
    command.mut_subcommands(|command| command.allow_negative_numbers(true))
}

fn with_remedy(mut error: clap::Error) -> clap::Error {
    escape(&mut error);
    let tip = match error.kind() {
        // clap would have an unknown option passed as a value.
        ErrorKind::UnknownArgument => {
            error.remove(ContextKind::Suggested);
            other_name(&error)
        }
        ErrorKind::InvalidSubcommand => (text(&error, ContextKind::InvalidSubcommand)
            == "simplify")
            .then(|| "the command is decimate".to_owned()),
        ErrorKind::ValueValidation => error
            .source()
            .and_then(|cause| tip(cause, &text(&error, ContextKind::InvalidValue))),
        _ => None,
    };
    if let Some(tip) = tip {
        let tips = vec![StyledStr::from(tip)];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

/// The text of a part of an error's context, or nothing.
fn text(error: &clap::Error, kind: ContextKind) -> String {
    error.get(kind).map_or(String::new(), ToString::to_string)
}

/// Advice on an option by its name in other programs.
fn other_name(error: &clap::Error) -> Option<String> {
    let option = text(error, ContextKind::InvalidArg);
    let is_of_decimate = text(error, ContextKind::Usage).contains(" decimate ");
    let name = match option.split('=').next()? {
        "--ratio" => "--keep F, the fraction of the triangles",
        "--tolerance" => "--error E, the largest error of a collapse",
        _ => return None,
    };
    is_of_decimate.then(|| format!("give {name}"))
}

/// Escapes characters that a terminal would take for commands: a word may be the name of any file.
fn escape(error: &mut clap::Error) {
    let escaped = |(kind, value): (ContextKind, &ContextValue)| {
        let visible = |word: &String| visible_line(word).into_owned();
        let value = match value {
            ContextValue::String(word) => ContextValue::String(visible(word)),
            ContextValue::Strings(words) => {
                ContextValue::Strings(words.iter().map(visible).collect())
            }
            _ => return None,
        };
        Some((kind, value))
    };
    let all: Vec<_> = error.context().filter_map(escaped).collect();
    for (kind, value) in all {
        error.insert(kind, value);
    }
}

/// Advice on a value that is not a number of its type.
fn tip(cause: &(dyn std::error::Error + 'static), value: &str) -> Option<String> {
    if cause.is::<ParseFloatError>() {
        let percent = value
            .strip_suffix('%')
            .and_then(|number| number.parse::<f64>().ok());
        return Some(match percent {
            Some(percent) => format!("give a fraction: {} for {value}", percent / 100.0),
            None => "give a number, such as 0.5 or 1e-3".to_owned(),
        });
    }
    let cause = cause.downcast_ref::<ParseIntError>()?;
    let advice = match cause.kind() {
        IntErrorKind::PosOverflow => "give a smaller number",
        IntErrorKind::NegOverflow => "give a larger number",
        _ => {
            "give a whole number in digits, such as 100; this option takes none below 0, no point and no exponent"
        }
    };
    Some(advice.to_owned())
}
