//! From the text of an entry to its steps.

mod access;

use std::collections::HashMap;

use crate::compute::{compute, extended, one};
use crate::program::{Address, Instruction, Program, Special, Step};
use crate::statements::{Statement, operands, statements};
use crate::types::Type;

/// A function of a module: its head up to the body, and the body.
#[derive(Clone, Copy)]
pub struct Function<'a> {
    pub name: &'a str,
    pub head: &'a str,
    pub body: &'a str,
}

/// What a module has beside the entry.
pub struct Surroundings<'a> {
    pub functions: &'a [Function<'a>],
    /// Variables with their addresses; dynamic shared memory begins at 0.
    pub symbols: &'a HashMap<String, u64>,
    /// Paths of sources by their numbers.
    pub files: &'a HashMap<u32, String>,
}

struct Compiler<'a> {
    surroundings: &'a Surroundings<'a>,
    program: Program,
    slots: HashMap<String, usize>,
    constants: HashMap<u64, usize>,
    labels: HashMap<String, usize>,
    /// Steps that go to labels which may come later.
    jumps: Vec<(usize, Vec<String>)>,
    tables: HashMap<String, Vec<String>>,
    /// Declared registers: names, and the number of a name's.
    registers: HashMap<String, Option<usize>>,
    /// Places of functions' local memory.
    depots: HashMap<&'a str, usize>,
    /// Places and names of the entry's parameters.
    parameters: HashMap<&'a str, usize>,
    /// The function whose body is compiled; empty for the entry.
    scope: &'a str,
    called: Vec<&'a str>,
    /// File and line of the statements that come.
    place: (u32, u32),
}

/// Compiles an entry with the functions that it calls.
///
/// # Errors
/// A sentence about the first statement that the emulator does not know.
pub fn compile<'a>(
    entry: Function<'a>,
    surroundings: &'a Surroundings<'a>,
) -> Result<Program, String> {
    let mut compiler = Compiler {
        surroundings,
        program: Program {
            name: entry.name.to_owned(),
            steps: Vec::new(),
            text: Vec::new(),
            places: Vec::new(),
            files: surroundings.files.clone(),
            functions: Vec::new(),
            slots: 0,
            constants: Vec::new(),
            specials: Vec::new(),
            parameters: Vec::new(),
            parameter_bytes: 0,
            local_bytes: 0,
            shared_bytes: Default::default(),
        },
        slots: HashMap::new(),
        constants: HashMap::new(),
        labels: HashMap::new(),
        jumps: Vec::new(),
        tables: HashMap::new(),
        registers: HashMap::new(),
        depots: HashMap::new(),
        parameters: HashMap::new(),
        scope: "",
        called: Vec::new(),
        place: (0, 0),
    };
    compiler.place_parameters(entry.head)?;
    compiler.body(entry.body)?;
    let mut done = 0;
    while let Some(&name) = compiler.called.get(done) {
        let all = surroundings.functions;
        let function = all.iter().find(|function| function.name == name);
        let function = function.ok_or_else(|| format!("{}: calls {name}", entry.name))?;
        compiler.scope = function.name;
        let begin = compiler.label("");
        let first = compiler.program.steps.len();
        compiler.labels.insert(begin, first);
        let back = compiler.slot("back");
        compiler.program.functions.push((first, back));
        compiler.body(function.body)?;
        done += 1;
    }
    compiler.link()?;
    Ok(compiler.program)
}

/// The parameters in a function's head: name and bytes.
fn parameters(head: &str) -> impl Iterator<Item = Option<(&str, usize)>> {
    let lists = head.rsplit_once('(').map_or("", |(_, list)| list);
    let list = lists.split(')').next().unwrap_or_default();
    operands(list).into_iter().map(|declaration| {
        let word = declaration.split_whitespace().last()?;
        let kinds = declaration.split_whitespace().rev().skip(1);
        let kind = kinds.filter_map(|word| Type::parse(word.strip_prefix('.')?));
        let bytes = kind.last()?.bits as usize / 8;
        Some(match word.split_once('[') {
            Some((name, count)) => (
                name,
                bytes * count.strip_suffix(']')?.parse::<usize>().ok()?,
            ),
            None => (word, bytes),
        })
    })
}

impl<'a> Compiler<'a> {
    fn place_parameters(&mut self, head: &'a str) -> Result<(), String> {
        for parameter in parameters(head) {
            let (name, bytes) =
                parameter.ok_or_else(|| format!("{}: its parameters", self.program.name))?;
            let at = self.program.parameter_bytes.next_multiple_of(16);
            self.parameters.insert(name, at);
            self.program.parameters.push((at, bytes));
            self.program.parameter_bytes = at + bytes;
        }
        Ok(())
    }

    fn body(&mut self, body: &'a str) -> Result<(), String> {
        let mut last_label = "";
        self.place = (0, 0);
        for statement in statements(body) {
            match statement {
                Statement::Label(name) => {
                    let label = self.label(name);
                    self.labels.insert(label, self.program.steps.len());
                    last_label = name;
                }
                Statement::Place(file, line) => self.place = (file, line),
                Statement::Words(text) => self.statement(text, last_label).ok_or_else(|| {
                    format!(
                        "{}: the emulator does not know \"{text}\"",
                        self.program.name
                    )
                })?,
            }
        }
        Ok(())
    }

    fn link(&mut self) -> Result<(), String> {
        for (step, labels) in std::mem::take(&mut self.jumps) {
            let find = |label: &String| self.labels.get(label).copied();
            let found: Option<Vec<usize>> = labels.iter().map(find).collect();
            let found = found
                .ok_or_else(|| format!("{}: no label {}", self.program.name, labels.join(", ")))?;
            match &mut self.program.steps[step].instruction {
                Instruction::Choose { targets, .. } => *targets = found,
                Instruction::Jump(target) | Instruction::Call { target, .. } => *target = found[0],
                _ => {}
            }
        }
        self.program.constants = self.constants.iter().map(|(&x, &slot)| (slot, x)).collect();
        Ok(())
    }

    /// A name within the function that is compiled.
    fn label(&self, name: &str) -> String {
        format!("{}/{name}", self.scope)
    }

    fn new_slot(&mut self) -> usize {
        self.program.slots += 1;
        self.program.slots - 1
    }

    fn slot(&mut self, name: &str) -> usize {
        let name = self.label(name);
        if let Some(&slot) = self.slots.get(&name) {
            return slot;
        }
        let slot = self.new_slot();
        let of_function = name.rsplit_once('/').map_or("", |(_, name)| name);
        let depot = self.depots.get(of_function).copied();
        let special = special(of_function).or(depot.map(Special::Local));
        let specials = special.map(|special| (slot, special));
        self.program.specials.extend(specials);
        self.slots.insert(name, slot);
        slot
    }

    /// Whether a register is declared, or a special one that is there: others would hold anything.
    fn is_register(&self, name: &str) -> bool {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let counted = || {
            let count = *self.registers.get(&self.label(stem))?;
            Some(name[stem.len()..].parse::<usize>().ok()? < count?)
        };
        self.registers.get(&self.label(name)) == Some(&None)
            || special(name).is_some()
            || counted().unwrap_or(false)
    }

    fn constant(&mut self, x: u64) -> usize {
        if let Some(&slot) = self.constants.get(&x) {
            return slot;
        }
        let slot = self.new_slot();
        self.constants.insert(x, slot);
        slot
    }

    /// The slot of a register, of a variable's address, or of a number of `kind`.
    fn operand(&mut self, text: &str, kind: Type) -> Option<usize> {
        if let Some(&address) = self.surroundings.symbols.get(text) {
            return Some(self.constant(address));
        }
        let first = text.chars().next()?;
        if !(first.is_ascii_digit() || first == '-') {
            return Some(self.slot(text));
        }
        let number = number(text)?;
        Some(self.constant(number & kind.mask()))
    }

    /// A register, or the registers of a vector.
    fn registers(&mut self, text: &str, kind: Type) -> Option<Vec<usize>> {
        match text.strip_prefix('{') {
            Some(list) => {
                let list = operands(list.strip_suffix('}')?);
                list.iter().map(|one| self.operand(one, kind)).collect()
            }
            None => Some(vec![self.operand(text, kind)?]),
        }
    }

    fn address(&mut self, text: &str) -> Option<Address> {
        let text = text.strip_prefix('[')?.strip_suffix(']')?;
        let (base, offset) = text.split_once('+').unwrap_or((text, "0"));
        let kind = Type {
            kind: 'b',
            bits: 64,
        };
        Some(Address {
            base: self.operand(base.trim(), kind)?,
            offset: offset.trim().parse().ok()?,
        })
    }

    fn push(&mut self, guard: Option<(usize, bool)>, instruction: Instruction, text: &str) {
        self.program.steps.push(Step { guard, instruction });
        self.program.text.push(text.to_owned());
        self.program.places.push(self.place);
    }

    fn statement(&mut self, text: &'a str, label: &str) -> Option<()> {
        if let Some(directive) = text.strip_prefix('.') {
            return self.directive(directive, label);
        }
        let (guard, words) = match text.strip_prefix('@') {
            None => (None, text),
            Some(guarded) => {
                let (guard, words) = guarded.split_once(char::is_whitespace)?;
                let (name, is) = match guard.strip_prefix('!') {
                    Some(name) => (name, false),
                    None => (guard, true),
                };
                (Some((self.slot(name), is)), words.trim())
            }
        };
        let names = text.split(|c: char| !(c.is_ascii_alphanumeric() || "%_.$".contains(c)));
        let mut registers = names.filter(|name| name.starts_with('%'));
        if !registers.all(|name| self.is_register(name)) {
            return None;
        }
        let (opcode, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let parts: Vec<&str> = opcode.split('.').collect();
        let rest = operands(rest);
        if parts[0] == "call" {
            return self.call(&rest, guard, text);
        }
        let instruction = self.instruction(&parts, &rest)?;
        if let Some(instruction) = instruction {
            let is_of_warp = matches!(
                instruction,
                Instruction::Ballot { .. } | Instruction::Shuffle { .. }
            );
            // All lanes meet there, so that none may be left out.
            if is_of_warp && guard.is_some() {
                return None;
            }
            self.push(guard, instruction, text);
        }
        Some(())
    }

    fn directive(&mut self, text: &'a str, label: &str) -> Option<()> {
        let (name, rest) = text.split_once(char::is_whitespace)?;
        match name {
            "param" | "pragma" => {}
            "reg" => {
                let (_, names) = rest.split_once(char::is_whitespace)?;
                for declared in operands(names) {
                    let (name, count) = match declared.split_once('<') {
                        None => (declared, None),
                        Some((name, count)) => (name, Some(count.strip_suffix('>')?.parse().ok()?)),
                    };
                    self.registers.insert(self.label(name), count);
                }
            }
            "branchtargets" => {
                let targets = operands(rest).iter().map(|one| self.label(one)).collect();
                self.tables.insert(self.label(label), targets);
            }
            "local" => {
                // `.align 8 .b8 __local_depot0[32]`; no function is at work twice.
                let (name, bytes) = rest.split_whitespace().last()?.split_once('[')?;
                let bytes: usize = bytes.strip_suffix(']')?.parse().ok()?;
                self.depots.insert(name, self.program.local_bytes);
                self.program.local_bytes += bytes.next_multiple_of(16);
            }
            _ => return None,
        }
        Some(())
    }

    /// The instruction of an opcode; `Some(None)` for one that does nothing here.
    fn instruction(&mut self, parts: &[&str], rest: &[&str]) -> Option<Option<Instruction>> {
        let next = self.program.steps.len();
        Some(Some(match parts[0] {
            "bra" => {
                let target = self.label(rest.first()?);
                self.jumps.push((next, vec![target]));
                Instruction::Jump(0)
            }
            "brx" => {
                let &[index, table] = rest else { return None };
                let targets = self.tables.get(&self.label(table))?.clone();
                self.jumps.push((next, targets));
                Instruction::Choose {
                    index: self.slot(index),
                    targets: Vec::new(),
                }
            }
            "ret" if !self.scope.is_empty() => Instruction::Return {
                back: self.slot("back"),
            },
            "ret" | "exit" => Instruction::Exit,
            "trap" => Instruction::Trap,
            // All lanes and blocks see each other's stores in their order.
            "membar" | "fence" => return Some(None),
            "bar" => self.barrier(parts, rest)?,
            "vote" => match (&parts[1..], rest) {
                (["sync", "ballot", "b32"], &[to, from, "-1"]) => Instruction::Ballot {
                    to: self.slot(to),
                    from: self.slot(from),
                },
                _ => return None,
            },
            "shfl" => self.shuffle(parts, rest)?,
            "ld" => self.load(parts, rest)?,
            "st" => self.store(parts, rest)?,
            "atom" | "red" => self.atomic(parts, rest)?,
            "addc" | "subc" => self.extended(parts, rest)?,
            "add" | "sub" if parts.contains(&"cc") => self.extended(parts, rest)?,
            "mov" if rest.iter().any(|one| one.starts_with('{')) => self.pack(parts, rest)?,
            _ => {
                let kind = Type::parse(parts.last()?)?;
                let (to, from) = rest.split_first()?;
                let from: Option<Vec<usize>> =
                    from.iter().map(|one| self.operand(one, kind)).collect();
                Instruction::Compute(compute(parts, self.slot(to), &from?)?)
            }
        }))
    }

    /// Part of the sum or difference of longer numbers.
    fn extended(&mut self, parts: &[&str], rest: &[&str]) -> Option<Instruction> {
        let kind = Type::parse(parts.last()?)?;
        let &[to, a, b] = rest else { return None };
        let from = [self.operand(a, kind)?, self.operand(b, kind)?];
        let (to, carry) = (self.slot(to), self.slot("%carry"));
        Some(Instruction::Compute(extended(parts, to, from, carry)?))
    }

    /// Moves arguments to the function's parameters, goes there, and moves its result back.
    fn call(&mut self, rest: &[&'a str], guard: Option<(usize, bool)>, text: &str) -> Option<()> {
        let (result, name, arguments) = match *rest {
            [result, name, arguments] => (Some(result), name, arguments),
            [name, arguments] if arguments.starts_with('(') => (None, name, arguments),
            _ => return None,
        };
        let list = |text: &'a str| {
            let inner = text
                .strip_prefix('(')
                .and_then(|text| text.strip_suffix(')'));
            inner.map(operands)
        };
        let all = self.surroundings.functions;
        let function = all.iter().find(|function| function.name == name)?;
        let names: Option<Vec<_>> = parameters(function.head).collect();
        let caller = self.scope;
        // A function has one set of slots: it must not be at work already. Rust's kernels do not recurse.
        if caller == name || guard.is_some() {
            return None;
        }
        for (argument, (parameter, _)) in list(arguments)?.into_iter().zip(names?) {
            let from = self.slot(argument);
            self.scope = name;
            let to = self.slot(parameter);
            self.scope = caller;
            self.push(None, Instruction::Compute(one(to, [from], |x| x)), text);
        }
        self.scope = name;
        let (begin, back, returned) =
            (self.label(""), self.slot("back"), self.slot("func_retval0"));
        self.scope = caller;
        self.jumps.push((self.program.steps.len(), vec![begin]));
        self.push(None, Instruction::Call { target: 0, back }, text);
        if let Some(result) = result {
            let &[result] = &list(result)?[..] else {
                return None;
            };
            let to = self.slot(result);
            self.push(None, Instruction::Compute(one(to, [returned], |x| x)), text);
        }
        if !self.called.contains(&name) {
            self.called.push(name);
        }
        Some(())
    }
}

/// A special register.
fn special(name: &str) -> Option<Special> {
    Some(match name {
        "%tid.x" => Special::Thread,
        "%ctaid.x" => Special::Block,
        "%ntid.x" => Special::Threads,
        "%nctaid.x" => Special::Blocks,
        "%laneid" => Special::Lane,
        _ => return None,
    })
}

/// A number as PTX writes it: decimal, hexadecimal, or the bits of a float.
fn number(text: &str) -> Option<u64> {
    if let Some(bits) = text.strip_prefix("0d").or(text.strip_prefix("0f")) {
        return u64::from_str_radix(bits, 16).ok();
    }
    let text = text.trim_end_matches('U');
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    match text.parse::<i64>() {
        Ok(number) => Some(number as u64),
        Err(_) => text.parse().ok(),
    }
}
