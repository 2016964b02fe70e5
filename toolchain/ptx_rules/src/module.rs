//! A PTX text as a list of items.

/// The kind of an item of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `.version`, `.target`, `.address_size`, `.file`.
    Directive,
    /// A kernel.
    Entry,
    /// A function that kernels call.
    Function,
    /// The prototype of a function of the module.
    Prototype,
    /// The prototype of a function that the module does not define.
    Undefined,
    /// A variable: a constant table, shared memory.
    Variable,
}

/// A top-level item, without its comments and blank lines.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    /// Its kind.
    pub kind: Kind,
    /// Its name; for a directive, its first word.
    pub name: &'a str,
    /// Its lines, each with its number in the text from 1 on.
    pub lines: Vec<(usize, &'a str)>,
}

/// A PTX text cut into its items.
#[derive(Clone, Debug, Default)]
pub struct Module<'a> {
    /// The text's first line, if it is a comment: cuda_builder writes the compiler there.
    pub header: Option<&'a str>,
    /// The items, in the text's order.
    pub items: Vec<Item<'a>>,
}

impl<'a> Module<'a> {
    /// Cuts a text into its items.
    pub fn parse(ptx: &'a str) -> Self {
        let header = ptx.lines().next().filter(|line| line.starts_with("//"));
        let mut items = Vec::new();
        let mut lines = Vec::new();
        let mut depth = 0i32;
        for (index, line) in ptx.lines().enumerate() {
            if line.trim_start().starts_with(".file") {
                // A complete item; its path may contain any characters.
                items.push(item(vec![(index + 1, line.trim())]));
                continue;
            }
            let line = line.split("//").next().unwrap_or_default().trim_end();
            if line.is_empty() {
                continue;
            }
            lines.push((index + 1, line));
            for character in line.chars() {
                depth += i32::from(character == '{') - i32::from(character == '}');
            }
            let is_directive = lines.len() == 1 && directive(line);
            if depth == 0 && (is_directive || line.ends_with([';', '}'])) {
                items.push(item(std::mem::take(&mut lines)));
            }
        }
        if !lines.is_empty() {
            items.push(item(lines));
        }
        Self { header, items }
    }
}

impl<'a> Item<'a> {
    /// The words in its lines that can be names.
    pub fn words(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.lines.iter().flat_map(|(_, line)| words(line))
    }

    /// The size in bytes of an array variable; 0 for an array without one, as dynamic shared memory is.
    pub fn bytes(&self) -> u64 {
        let (_, line) = self.lines[0];
        let declaration = line.split('=').next().unwrap_or_default();
        let bits = declaration
            .split(|c: char| c.is_whitespace() || c == '.')
            .find_map(|word| word.strip_prefix(['b', 'u', 's', 'f'])?.parse::<u64>().ok());
        let count: u64 = match declaration.split_once('[') {
            None => 1,
            Some((_, dimensions)) => dimensions
                .split('[')
                .map(|length| length.split(']').next().unwrap_or_default().trim())
                .map(|length| length.parse().unwrap_or(0))
                .product(),
        };
        count * bits.unwrap_or(8) / 8
    }
}

/// Words of PTX that can be names: letters, digits, `_`, `$` and `%`.
pub(crate) fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !is_of_name(c))
        .filter(|word| !word.is_empty())
}

pub(crate) fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')
}

fn directive(line: &str) -> bool {
    [".version", ".target", ".address_size", ".file"]
        .iter()
        .any(|word| line.starts_with(word))
}

fn item<'a>(lines: Vec<(usize, &'a str)>) -> Item<'a> {
    let (_, first) = lines[0];
    let defined = lines.last().is_some_and(|(_, line)| line.ends_with('}'));
    let (kind, name) = if directive(first) {
        let word = first.split_whitespace().next().unwrap_or_default();
        (Kind::Directive, word)
    } else if let Some((_, after)) = first.split_once(".entry ") {
        (Kind::Entry, function_name(after))
    } else if let Some((before, after)) = first.split_once(".func ") {
        let kind = match (before.contains(".extern"), defined) {
            (true, _) => Kind::Undefined,
            (false, true) => Kind::Function,
            (false, false) => Kind::Prototype,
        };
        (kind, function_name(after))
    } else {
        (Kind::Variable, variable_name(first))
    };
    Item { kind, name, lines }
}

/// The name before the parameters; a function's result is in parentheses before its name.
fn function_name(after: &str) -> &str {
    let after = after.trim_start();
    let after = match after.strip_prefix('(') {
        Some(result) => result.split_once(')').map_or("", |(_, name)| name),
        None => after,
    };
    after.split(['(', ';']).next().unwrap_or_default().trim()
}

fn variable_name(line: &str) -> &str {
    let declaration = line.split(['=', '[', ';']).next().unwrap_or_default();
    declaration.split_whitespace().last().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "// rustc 1.96.0\n\n.version 6.3\n.target sm_75\n.address_size 64\n\
        \t// .globl scale\n\
        .func  (.param .b64 func_retval0) sign\n(\n\t.param .b64 sign_param_0\n)\n;\n\
        .global .align 4 .b8 table[12] = {4, 0, 0, 0, 5};\n\
        .extern .shared .align 16 .b8 __dynamic_shared[];\n\
        .visible .entry scale(\n\t.param .u32 p\n)\n{\n\t.reg .b32 %r<2>;\n\
        $L__BB0_1:  // loop\n\tld.global.v2.b32 {%r1, %r2}, [table];\n\tret;\n}\n\
        .func  (.param .b64 func_retval0) sign(\n\t.param .b64 sign_param_0\n)\n{\n\tret;\n}\n";

    #[test]
    fn a_module_has_its_items() {
        let module = Module::parse(TEXT);
        assert_eq!(module.header, Some("// rustc 1.96.0"));
        let items: Vec<_> = module.items.iter().map(|i| (i.kind, i.name)).collect();
        assert_eq!(
            items,
            [
                (Kind::Directive, ".version"),
                (Kind::Directive, ".target"),
                (Kind::Directive, ".address_size"),
                (Kind::Prototype, "sign"),
                (Kind::Variable, "table"),
                (Kind::Variable, "__dynamic_shared"),
                (Kind::Entry, "scale"),
                (Kind::Function, "sign"),
            ]
        );
        assert!(module.items[6].words().any(|word| word == "table"));
        assert_eq!(module.items[6].lines.last(), Some(&(22, "}")));
    }

    #[test]
    fn files_are_items() {
        let text = "\t.file\t1 \"/a{b//c.rs\"\n.visible .entry f(\n)\n{\n\t.loc\t1 5 0 // c.rs:5\n\tret;\n}\n";
        let module = Module::parse(text);
        let items: Vec<_> = module
            .items
            .iter()
            .map(|i| (i.kind, i.lines.len()))
            .collect();
        assert_eq!(items, [(Kind::Directive, 1), (Kind::Entry, 6)]);
        assert_eq!(module.items[0].lines, [(1, ".file\t1 \"/a{b//c.rs\"")]);
    }

    #[test]
    fn variables_have_a_size() {
        let bytes = |line| Module::parse(line).items[0].bytes();
        assert_eq!(bytes(".global .align 4 .b8 table[12] = {4};"), 12);
        assert_eq!(bytes(".shared .align 8 .f64 tile[2][32];"), 512);
        assert_eq!(bytes(".extern .shared .align 16 .b8 dynamic[];"), 0);
        assert_eq!(bytes(".global .u32 counter;"), 4);
    }
}
