//! Text of files on a terminal. A terminal executes some characters as commands, and names in a mesh file may hold any.

use std::borrow::Cow;

/// `text` with escapes for characters that a terminal executes as commands, or that reverse the order of characters.
/// The escapes are those of JSON, `\u001b`, so that JSON stays the same. Ends of lines and tabs stay.
///
/// ```
/// assert_eq!(trioxide_mesh::terminal::visible("\u{1b}[31mred\n"), "\\u001b[31mred\n");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    escape(text, |c| is_command(c) && !matches!(c, '\n' | '\t'))
}

/// As [`visible`], in one line: a name with ends of lines could be mistaken for several sentences.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    escape(text, |c| {
        is_command(c) || matches!(c, '\u{2028}' | '\u{2029}')
    })
}

/// Control characters, and marks of the direction of writing.
fn is_command(c: char) -> bool {
    let is_mark = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || is_mark
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_escaped(c) {
            true => escaped += &format!("\\u{:04x}", u32::from(c)),
            false => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_terminals_are_escaped() {
        let text = "a\u{1b}]0;x\u{7}\u{9b}31m\u{7f}\r\n\tb\u{202e}\u{e4}\u{6e29}";
        let expected = "a\\u001b]0;x\\u0007\\u009b31m\\u007f\\u000d\n\tb\\u202e\u{e4}\u{6e29}";
        assert_eq!(visible(text), expected);
        assert_eq!(visible_line("a\n\tb"), "a\\u000a\\u0009b");
        assert!(matches!(visible("\u{e4} \n"), Cow::Borrowed(_)));
    }
}
