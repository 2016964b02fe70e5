//! The body of a function as statements ("PTX ISA", section 4, Syntax).

/// A statement without its semicolon, or a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement<'a> {
    Label(&'a str),
    Words(&'a str),
    /// `.loc`: number of the file and line of the next statements.
    Place(u32, u32),
}

/// Splits a body, without its braces, into statements. Braces of a scope are dropped: no two registers of a function
/// with the same name are live at once.
pub fn statements(body: &str) -> Vec<Statement<'_>> {
    let mut found = Vec::new();
    let mut start = 0;
    for (i, c) in body.char_indices() {
        let before = body[start..i].trim();
        let is_end = match c {
            ';' => {
                if !before.is_empty() {
                    found.push(Statement::Words(before));
                }
                true
            }
            ':' => {
                found.push(Statement::Label(before));
                true
            }
            // Braces of a scope; within a statement they belong to a vector.
            '{' | '}' => before.is_empty(),
            '\n' => match place(before) {
                Some((file, line)) => {
                    found.push(Statement::Place(file, line));
                    true
                }
                None => false,
            },
            _ => false,
        };
        if is_end {
            start = i + 1;
        }
    }
    found
}

/// File and line of `.loc 1 23 5`.
fn place(text: &str) -> Option<(u32, u32)> {
    let mut words = text.strip_prefix(".loc")?.split_whitespace();
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

/// The operands of an instruction; the parts of a vector or of an address stay together.
pub fn operands(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut depth) = (0, 0);
    for (i, c) in text.char_indices() {
        match c {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                found.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        found.push(last);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_has_its_statements() {
        let body = "\t.reg .b32 \t%r<3>;\n\t.loc\t2 40 9\n$L_1:\n\t@!%p1 bra $L_1;\n\t{ .reg .b32 tmp; mov.b64 {tmp, %r4}, %rd1; }\n\tret;\n";
        assert_eq!(
            statements(body),
            [
                Statement::Words(".reg .b32 \t%r<3>"),
                Statement::Place(2, 40),
                Statement::Label("$L_1"),
                Statement::Words("@!%p1 bra $L_1"),
                Statement::Words(".reg .b32 tmp"),
                Statement::Words("mov.b64 {tmp, %r4}, %rd1"),
                Statement::Words("ret"),
            ]
        );
    }

    #[test]
    fn a_vector_is_one_operand() {
        let text = "{%r1, %r2}, [%rd1+8], (a, b), -1";
        assert_eq!(operands(text), ["{%r1, %r2}", "[%rd1+8]", "(a, b)", "-1"]);
        assert!(operands(" ").is_empty());
    }
}
