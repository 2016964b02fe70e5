//! The rules, each with its mistake and its remedy.

mod review;

use std::fmt;

use crate::module::{Item, Kind, Module};
pub use review::{Exception, Exceptions, review};

/// Functions of libm: software on the device, with other results than on the CPU.
const LIBM: &[&str] = &[
    "acos", "asin", "atan", "atan2", "cbrt", "ceil", "cos", "cosh", "exp", "exp2", "expm1",
    "floor", "fma", "fmod", "hypot", "ldexp", "log", "log10", "log1p", "log2", "pow", "rint",
    "round", "sin", "sincos", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc",
];

/// Bytes of the largest constant array that cannot be a table of libm: the smallest of libm's has 256.
const MOST_TABLE_BYTES: u64 = 64;

/// Masks and bounds of floats' mantissas, as integers: 2^52 and 2^23, the bits below, and the bits that rounding an f64
/// to an f32 drops (an f32's `mul_add`). The infinities are not among them: `is_finite` compares with them.
const FLOAT_PARTS: [&str; 5] = [
    "4503599627370495",
    "4503599627370496",
    "8388607",
    "8388608",
    "536870911",
];

/// Bytes of shared memory that every GPU gives a block without being asked.
const MOST_SHARED_BYTES: u64 = 48 * 1024;

/// Threads of the largest block that a GPU runs.
const MOST_THREADS: u64 = 1024;

/// How the PTX was built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Build {
    /// For use: nothing is checked at run time.
    #[default]
    Plain,
    /// With every index checked: traps and calls are meant, and so is the stack of a kernel that calls.
    Checked,
}

/// A rule for kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// No fused multiply-add: it rounds once where the CPU rounds twice.
    FusedOperation,
    /// Float operations say `.rn`, so that ptxas neither fuses nor approximates them.
    ImplicitRounding,
    /// No approximate operation, no flushing of denormals.
    Approximation,
    /// No atomic operation on floats: its result depends on the order of the threads.
    FloatAtomic,
    /// No function of libm.
    Libm,
    /// No arithmetic on the exponent of a float: it is libm, inlined.
    SoftwareFloat,
    /// No large constant table: it is libm's.
    Table,
    /// Every function that is called is in the module.
    UndefinedFunction,
    /// Everything is inlined.
    Call,
    /// No trap: nothing in a kernel can panic.
    Trap,
    /// No integer division by a variable.
    IntegerDivision,
    /// Loads, stores and atomics name their address space.
    GenericAccess,
    /// No memory of its own for a thread.
    Stack,
    /// No more shared memory than every GPU gives.
    SharedMemory,
    /// No block larger than a GPU runs.
    BlockSize,
    /// No barrier that depends on a condition.
    ConditionalBarrier,
    /// No fence, and no memory order but relaxed.
    Ordering,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Rule; 17] = [
        Rule::FusedOperation,
        Rule::ImplicitRounding,
        Rule::Approximation,
        Rule::FloatAtomic,
        Rule::Libm,
        Rule::SoftwareFloat,
        Rule::Table,
        Rule::UndefinedFunction,
        Rule::Call,
        Rule::Trap,
        Rule::IntegerDivision,
        Rule::GenericAccess,
        Rule::Stack,
        Rule::SharedMemory,
        Rule::BlockSize,
        Rule::ConditionalBarrier,
        Rule::Ordering,
    ];

    /// The rule's name in messages and in a list of exceptions.
    pub fn name(self) -> &'static str {
        self.texts().0
    }

    /// The problem, in one sentence.
    pub fn problem(self) -> &'static str {
        self.texts().1
    }

    /// The remedy, in one sentence.
    pub fn remedy(self) -> &'static str {
        self.texts().2
    }

    fn texts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Rule::FusedOperation => (
                "fused-operation",
                "a fused multiply-add rounds once, the CPU's two operations round twice",
                "write `a * b + c` instead of `a.mul_add(b, c)`",
            ),
            Rule::ImplicitRounding => (
                "implicit-rounding",
                "ptxas may fuse or approximate a float operation without `.rn`",
                "build with cuda_builder, whose flags make llc write `.rn`; use no inline assembly for float arithmetic",
            ),
            Rule::Approximation => (
                "approximation",
                "an approximate operation, or one that flushes denormals, differs from the CPU's",
                "use `/`, and `gpu`'s own square root, which are IEEE on both machines; use no fast-math intrinsic",
            ),
            Rule::FloatAtomic => (
                "float-atomic",
                "the result of an atomic float operation depends on the order of the threads",
                "count in integers, or let one index compute each sum",
            ),
            Rule::Libm => (
                "libm",
                "a function of libm is software on the device and has other results on the CPU",
                "compare squared lengths; replace sine, logarithm and power by arithmetic, or compute them on the host",
            ),
            Rule::SoftwareFloat => (
                "software-float",
                "integer arithmetic on the exponent or mantissa of a float: a function of libm, inlined \
                 (`mul_add`, or glam's `length`, `normalize`, `distance`, `floor`)",
                "write `a * b + c`; compare `length_squared()`; where a root must be, use `gpu`'s own square root, one instruction",
            ),
            Rule::Table => (
                "table",
                "a large constant array is a table of libm's (`sqrt`, `sin`, `exp`, `pow`), or a local `const` array",
                "compare `length_squared()`; compute the entries; pass a table as `In<T>`",
            ),
            Rule::UndefinedFunction => (
                "undefined-function",
                "the module does not define a function that it calls",
                "use `core` only: no allocation, no formatting",
            ),
            Rule::Call => (
                "call",
                "a function that is called has a stack, and its caller keeps its registers for it",
                "put `#[inline(always)]` on the function; write recursion as a loop",
            ),
            Rule::Trap => (
                "trap",
                "something in the kernel can panic: `unwrap`, `expect`, an index into an array or slice, `assert!`, \
                 division by a variable (by 0), a shift by a variable in a checked build",
                "write `if let`, mask the index (`array[i & 15]`), use views instead of slices, divide by a constant",
            ),
            Rule::IntegerDivision => (
                "integer-division",
                "integer division by a variable is software: about 30 instructions for 32 bits, a called function of \
                 about 100 for 64 bits, and a check for 0",
                "divide by a constant, shift, or pass a 2-D index; 32 bits where 64 are not needed",
            ),
            Rule::GenericAccess => (
                "generic-access",
                "an access without an address space is slower: the GPU finds out the space at run time",
                "access memory through views only, and do not select between two views by a condition",
            ),
            Rule::Stack => (
                "stack",
                "a local array indexed by a variable lies in memory",
                "select the element by comparisons, or unroll the loop so that every index is a constant",
            ),
            Rule::SharedMemory => (
                "shared-memory",
                "a block has more than 48 KiB of shared memory, which not every GPU gives",
                "use a smaller tile or a smaller element",
            ),
            Rule::BlockSize => (
                "block-size",
                "no GPU runs a block of more than 1,024 threads",
                "declare `block = 1024` or less",
            ),
            Rule::ConditionalBarrier => (
                "conditional-barrier",
                "a barrier that some threads of a block do not reach never ends",
                "use barriers through `phase` only, outside of every branch",
            ),
            Rule::Ordering => (
                "ordering",
                "fences and orders stronger than relaxed are not reliable on this backend",
                "split the launch: a later launch sees everything that an earlier one wrote",
            ),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A line that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The line's number in the text, from 1 on.
    pub line: usize,
    /// The kernel, or the last name of a function's path; for a line outside of any, a function that uses it.
    pub function: String,
    /// The line.
    pub text: String,
}

/// Every line of a PTX text that breaks a rule, in the text's order.
pub fn check(ptx: &str, build: Build) -> Vec<Finding> {
    let module = Module::parse(ptx);
    let mut findings = Vec::new();
    for item in &module.items {
        match item.kind {
            Kind::Entry | Kind::Function => check_function(item, &module, &mut findings),
            Kind::Variable => check_table(item, &module, &mut findings),
            Kind::Undefined => {
                let users = users(item.name, &module).into_iter();
                findings.extend(users.map(|user| finding(Rule::UndefinedFunction, item, user)));
            }
            Kind::Prototype | Kind::Directive => {}
        }
    }
    // With the checks a closure may be too large to be inlined: the call passes what it captures in memory.
    let calls = findings.iter().filter(|finding| finding.rule == Rule::Call);
    let callers: Vec<String> = calls.map(|call| call.function.clone()).collect();
    let reporters = reporters(&module);
    findings.retain(|finding| {
        let is_call = finding.rule == Rule::Call;
        let of_report = |reporter: &&str| {
            finding.function == *reporter || is_call && finding.text.contains(*reporter)
        };
        !reporters.iter().any(of_report)
    });
    if build == Build::Checked {
        findings.retain(|finding| match finding.rule {
            Rule::Trap | Rule::Call => false,
            Rule::Stack => !callers.contains(&finding.function),
            _ => true,
        });
    }
    findings.sort_by_key(|finding| finding.line);
    for finding in &mut findings {
        finding.function = path_end(&finding.function).to_owned();
    }
    findings
}

/// The last name of a mangled path: its hash depends on the compiler. Another name as it is.
fn path_end(function: &str) -> &str {
    let is_end = |&start: &usize| {
        let (before, name) = function.split_at(start);
        let digits = before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        before[digits..].parse() == Ok(name.len())
    };
    match function.strip_prefix("_R") {
        None => function,
        Some(_) => (2..function.len())
            .rev()
            .find(is_end)
            .map_or(function, |start| &function[start..]),
    }
}

/// The variable through which a kernel reports a wrong index to the host (`trioxide_kernel::fault::FAULT_SYMBOL`).
pub const FAULT: &str = "__trioxide_fault";

/// The variable by which a kernel that prints finds the host's memory (`trioxide_kernel::print::PRINTS_SYMBOL`).
pub const PRINTS: &str = "__trioxide_prints";

/// The functions that report a wrong index and end the launch: they run once at most, and keep no rule. Kernels with
/// safe launches call them where the compiler does not know that an index is in range.
fn reporters<'a>(module: &Module<'a>) -> Vec<&'a str> {
    let functions = || {
        let items = module.items.iter();
        items.filter(|item| item.kind == Kind::Function)
    };
    let mut found: Vec<&str> = Vec::new();
    loop {
        let is_new = |item: &&Item<'a>| {
            let reports = |word: &str| word == FAULT || found.contains(&word);
            !found.contains(&item.name) && item.words().any(reports)
        };
        let new: Vec<&str> = functions().filter(is_new).map(|item| item.name).collect();
        if new.is_empty() {
            return found;
        }
        found.extend(new);
    }
}

/// A finding at the first line of an item.
fn finding(rule: Rule, item: &Item, function: &str) -> Finding {
    let (line, text) = item.lines[0];
    Finding {
        rule,
        line,
        function: function.to_owned(),
        text: text.trim().to_owned(),
    }
}

/// The functions that use a name; the name itself where none does.
fn users<'a>(name: &'a str, module: &Module<'a>) -> Vec<&'a str> {
    let functions = module
        .items
        .iter()
        .filter(|item| matches!(item.kind, Kind::Entry | Kind::Function));
    let users: Vec<&str> = functions
        .filter(|item| item.words().any(|word| word == name))
        .map(|item| item.name)
        .collect();
    if users.is_empty() { vec![name] } else { users }
}

fn check_function(item: &Item, module: &Module, findings: &mut Vec<Finding>) {
    if is_libm(item.name) {
        findings.push(finding(Rule::Libm, item, item.name));
    }
    for &(line, text) in &item.lines {
        let text = text.trim();
        findings.extend(broken_rules(text).into_iter().map(|rule| Finding {
            rule,
            line,
            function: item.name.to_owned(),
            text: text.to_owned(),
        }));
    }
    if item.kind == Kind::Entry && shared_bytes(item, module) > MOST_SHARED_BYTES {
        findings.push(finding(Rule::SharedMemory, item, item.name));
    }
}

/// The declared shared memory that a kernel uses: its own and the module's.
fn shared_bytes(kernel: &Item, module: &Module) -> u64 {
    let shared = |text: &str| text.trim_start().starts_with(".shared");
    let own = kernel.lines.iter().filter(|(_, text)| shared(text));
    let own: u64 = own
        .map(|&line| {
            let lines = vec![line];
            let (kind, name) = (Kind::Variable, "");
            Item { kind, name, lines }.bytes()
        })
        .sum();
    let of_module = module.items.iter().filter(|item| {
        item.kind == Kind::Variable
            && shared(item.lines[0].1)
            && kernel.words().any(|word| word == item.name)
    });
    own + of_module.map(Item::bytes).sum::<u64>()
}

fn check_table(item: &Item, module: &Module, findings: &mut Vec<Finding>) {
    let (_, text) = item.lines[0];
    let constant = text.contains(".global") || text.contains(".const");
    if constant && item.bytes() > MOST_TABLE_BYTES {
        let users = users(item.name, module).into_iter();
        findings.extend(users.map(|user| finding(Rule::Table, item, user)));
    }
}

/// A plain C name, its f32 form, or a mangled path through the crate libm.
fn is_libm(function: &str) -> bool {
    LIBM.iter()
        .any(|name| function == *name || function.strip_suffix('f') == Some(name))
        || function.contains("4libm")
}

fn broken_rules(line: &str) -> Vec<Rule> {
    if line.starts_with(".local ") {
        return vec![Rule::Stack];
    }
    if line.starts_with(".maxntid") || line.starts_with(".reqntid") {
        let threads = line.split(|c: char| !c.is_ascii_digit());
        let threads: u64 = threads
            .filter_map(|word| word.parse::<u64>().ok())
            .product();
        return if threads > MOST_THREADS {
            vec![Rule::BlockSize]
        } else {
            Vec::new()
        };
    }
    // A predicate comes before the operation: `@%p1 add.rn.f64 %rd1, %rd2, %rd3;`
    let conditional = line.starts_with('@');
    let mut words = line.split_whitespace();
    let operation = words
        .find(|word| !word.starts_with('@'))
        .unwrap_or_default();
    let mut parts = operation.trim_end_matches(';').split('.');
    let name = parts.next().unwrap_or_default();
    // `shared::cta` is shared memory too.
    let modifiers: Vec<&str> = parts.filter_map(|part| part.split("::").next()).collect();
    let has = |wanted: &[&str]| modifiers.iter().any(|modifier| wanted.contains(modifier));
    let float = has(&["f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "f64"]);
    let accesses_memory = ["ld", "st", "atom", "red"].contains(&name);
    let operands: Vec<&str> = words.map(|word| word.trim_matches([',', ';'])).collect();

    let mut broken = Vec::new();
    let mut rule = |rule, is_broken: bool| {
        if is_broken {
            broken.push(rule);
        }
    };
    rule(
        Rule::FusedOperation,
        name == "fma" || (name == "mad" && float),
    );
    rule(
        Rule::ImplicitRounding,
        float && ["add", "sub", "mul", "div", "sqrt"].contains(&name) && !has(&["rn"]),
    );
    rule(
        Rule::Approximation,
        float && has(&["approx", "full", "ftz"]),
    );
    rule(Rule::FloatAtomic, float && ["atom", "red"].contains(&name));
    rule(
        Rule::SoftwareFloat,
        takes_a_float_apart(name, &modifiers, &operands),
    );
    rule(Rule::Call, name == "call");
    rule(Rule::Trap, name == "trap" || name == "brkpt");
    rule(
        Rule::IntegerDivision,
        ["div", "rem"].contains(&name) && !float,
    );
    rule(
        Rule::GenericAccess,
        accesses_memory && !has(&["global", "shared", "param", "local", "const"]),
    );
    rule(
        Rule::ConditionalBarrier,
        conditional && ["bar", "barrier"].contains(&name) && !has(&["warp"]),
    );
    rule(
        Rule::Ordering,
        ["fence", "membar"].contains(&name)
            || (accesses_memory && has(&["acquire", "release", "acq_rel", "sc"])),
    );
    broken
}

/// A shift to or from the place of a float's exponent (bit 52 of an f64, 20 of its high word with 11 bits, 23 of an
/// f32), or a mask or comparison that takes the mantissa out of a float's bits.
fn takes_a_float_apart(name: &str, modifiers: &[&str], operands: &[&str]) -> bool {
    let is = |wanted: &[&str]| modifiers.iter().any(|modifier| wanted.contains(modifier));
    let integer = is(&["b32", "b64", "u32", "u64", "s32", "s64"]);
    let of_float = |operand: &&str| FLOAT_PARTS.contains(operand);
    match (name, operands) {
        ("and" | "setp", [.., operand]) if integer && of_float(operand) => true,
        ("shr" | "shl", [_, _, "52"]) => is(&["b64", "u64", "s64"]),
        ("shr", [_, _, "23"]) => is(&["b32", "u32", "s32"]),
        ("bfe", [_, _, "52" | "20", "11"] | [_, _, "23", "8"]) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
