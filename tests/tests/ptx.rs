//! Reads the kernels' PTX: what it must not contain, and whether the prebuilt file is that of the sources.
//!
//! Equal bits on CPU and GPU need IEEE operations that ptxas leaves alone: it fuses `mul.f64` and `add.f64` to an fma,
//! and never the `.rn` forms. Speed needs loads and stores that name their address space, and no stack.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cuda_builder::{CudaBuilder, NvvmArch, search_device_compiler};

/// Kernels that access memory through generic addresses, each with the reason why that must be.
const GENERIC_ACCESS_ALLOWED: &[(&str, &str)] = &[];

/// Kernels that keep an array on the stack, each with the reason why that must be.
const STACK_ALLOWED: &[(&str, &str)] = &[];

/// Functions of libm: software on the device, and not what the CPU computes.
const LIBM: &[&str] = &[
    "acos", "asin", "atan", "atan2", "cbrt", "ceil", "cos", "cosh", "exp", "exp2", "expm1",
    "floor", "fma", "fmod", "hypot", "ldexp", "log", "log10", "log1p", "log2", "pow", "rint",
    "round", "sin", "sincos", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc",
];

/// A rule of this file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// No fused multiply-add: it rounds once where the CPU rounds twice.
    NoFusedOperation,
    /// Float operations say `.rn`, so that ptxas neither fuses nor approximates them.
    RoundingIsExplicit,
    /// No approximate operation, no flushing of denormals.
    NoApproximation,
    /// No atomic operation on floats: its result depends on the order of the threads.
    NoFloatAtomic,
    /// No function of libm.
    NoLibm,
    /// Every function that is called is in the module.
    NoUndefinedFunction,
    /// Loads, stores and atomics name their address space.
    NoGenericAccess,
    /// No memory of its own for a thread.
    NoStack,
}

/// A line that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    rule: Rule,
    /// The kernel or function, empty outside of any.
    function: String,
    line: String,
}

/// Every line of a PTX module that breaks a rule.
fn lint(ptx: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut function = String::new();
    for line in ptx.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        let mut rules = broken_rules(line);
        if let Some(name) = defined_function(line) {
            function = name;
            if is_libm(&function) {
                rules.push(Rule::NoLibm);
            }
        }
        let finding = |rule| Finding {
            rule,
            function: function.clone(),
            line: line.to_owned(),
        };
        findings.extend(rules.into_iter().map(finding));
        if line == "}" {
            function.clear();
        }
    }
    findings
}

/// The name of the kernel or function whose definition or declaration begins on this line.
fn defined_function(line: &str) -> Option<String> {
    if line.starts_with(".extern") {
        return None;
    }
    let (_, after) = line
        .split_once(".entry ")
        .or_else(|| line.split_once(".func "))?;
    // The result of a function stands in parentheses before its name.
    let after = after.trim();
    let after = match after.strip_prefix('(') {
        Some(result) => result.split_once(')')?.1,
        None => after,
    };
    Some(after.split(['(', ';']).next()?.trim().to_owned())
}

/// A plain C name, its f32 form, or a mangled path through the crate libm.
fn is_libm(function: &str) -> bool {
    LIBM.iter()
        .any(|name| function == *name || function.strip_suffix('f') == Some(name))
        || function.contains("4libm")
}

fn broken_rules(line: &str) -> Vec<Rule> {
    if line.starts_with(".extern .func") {
        return vec![Rule::NoUndefinedFunction];
    }
    if line.starts_with(".local ") {
        return vec![Rule::NoStack];
    }
    // A predicate comes before the operation: `@%p1 add.rn.f64 %rd1, %rd2, %rd3;`
    let operation = line
        .split_whitespace()
        .find(|word| !word.starts_with('@'))
        .unwrap_or_default();
    let mut parts = operation.trim_end_matches(';').split('.');
    let name = parts.next().unwrap_or_default();
    // `shared::cta` is shared memory too.
    let modifiers: Vec<&str> = parts.filter_map(|part| part.split("::").next()).collect();
    let has = |wanted: &[&str]| modifiers.iter().any(|modifier| wanted.contains(modifier));
    let float = has(&["f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "f64"]);
    let accesses_memory = ["ld", "st", "atom", "red"].contains(&name);

    let mut broken = Vec::new();
    if name == "fma" || (name == "mad" && float) {
        broken.push(Rule::NoFusedOperation);
    }
    if float && ["add", "sub", "mul", "div", "sqrt"].contains(&name) && !has(&["rn"]) {
        broken.push(Rule::RoundingIsExplicit);
    }
    if float && has(&["approx", "full", "ftz"]) {
        broken.push(Rule::NoApproximation);
    }
    if float && ["atom", "red"].contains(&name) {
        broken.push(Rule::NoFloatAtomic);
    }
    if accesses_memory && !has(&["global", "shared", "param", "local", "const"]) {
        broken.push(Rule::NoGenericAccess);
    }
    broken
}

/// The PTX of the sources, or the prebuilt one where no device compiler is there to build it.
fn kernels() -> &'static str {
    let prebuilt = || fs::read_to_string(prebuilt()).expect("the prebuilt PTX is checked in");
    built().unwrap_or_else(|| {
        static PREBUILT: OnceLock<String> = OnceLock::new();
        PREBUILT.get_or_init(prebuilt)
    })
}

fn prebuilt() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../gpu/prebuilt/trioxide.ptx")
}

/// The PTX of the sources, built once, if there is a device compiler.
fn built() -> Option<&'static str> {
    static BUILT: OnceLock<Option<String>> = OnceLock::new();
    BUILT.get_or_init(build).as_deref()
}

fn build() -> Option<String> {
    search_device_compiler().found.as_ref()?;
    // The target directory of the host's build script: `core` is built there already.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("it is target/tmp");
    let built = CudaBuilder::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../gpu"))
        .arch(NvvmArch::Compute75)
        .target_dir(target.join("device"))
        .copy_to(Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernels.ptx"))
        .build();
    match built {
        Ok(path) => Some(fs::read_to_string(path).expect("the builder has written it")),
        Err(error) => panic!("{error}"),
    }
}

/// Says past the test harness, which keeps back what passing tests print, that a test has not run.
fn skip(test: &str, reason: &str) {
    writeln!(std::io::stderr(), "skipped: {test}: {reason}").expect("standard error is open");
}

/// Panics with every line that breaks one of the rules, but for the listed kernels, and for a listed kernel that no
/// longer breaks any.
fn assert_clean(rules: &[Rule], allowed: &[(&str, &str)]) {
    let mut findings = lint(kernels());
    findings.retain(|finding| rules.contains(&finding.rule));
    let found: BTreeSet<&str> = findings.iter().map(|f| f.function.as_str()).collect();
    for (kernel, _) in allowed {
        assert!(
            found.contains(kernel),
            "{kernel} keeps the rule now: take it off the list"
        );
    }
    findings.retain(|finding| {
        allowed
            .iter()
            .all(|(kernel, _)| *kernel != finding.function)
    });
    assert!(
        findings.is_empty(),
        "{} lines of the PTX break a rule:\n{findings:#?}",
        findings.len()
    );
}

#[test]
fn floats_are_computed_as_on_the_cpu() {
    let rules = [
        Rule::NoFusedOperation,
        Rule::RoundingIsExplicit,
        Rule::NoApproximation,
        Rule::NoFloatAtomic,
    ];
    assert_clean(&rules, &[]);
}

#[test]
fn kernels_call_nothing_from_outside() {
    assert_clean(&[Rule::NoLibm, Rule::NoUndefinedFunction], &[]);
}

#[test]
fn memory_is_accessed_in_a_named_space() {
    assert_clean(&[Rule::NoGenericAccess], GENERIC_ACCESS_ALLOWED);
}

#[test]
fn kernels_keep_no_stack() {
    assert_clean(&[Rule::NoStack], STACK_ALLOWED);
}

#[test]
fn there_are_kernels() {
    assert!(
        kernels().contains(".visible .entry "),
        "no kernel in the PTX"
    );
}

#[test]
fn prebuilt_ptx_is_that_of_the_sources() {
    let test = "prebuilt_ptx_is_that_of_the_sources";
    let prebuilt = fs::read_to_string(prebuilt()).expect("gpu/prebuilt/trioxide.ptx is checked in");
    let Some(built) = built() else {
        return skip(
            test,
            "no device compiler; `cargo xtask doctor` says what is missing",
        );
    };
    let compiler = |ptx: &str| ptx.lines().next().unwrap_or_default().to_owned();
    let (theirs, ours) = (compiler(&prebuilt), compiler(built));
    if theirs != ours {
        let reason = format!("the prebuilt file is by another compiler: {theirs}; here: {ours}");
        return skip(test, &reason);
    }
    let difference = prebuilt
        .lines()
        .zip(built.lines())
        .position(|(old, new)| old != new);
    assert!(
        prebuilt == built,
        "gpu/prebuilt/trioxide.ptx is not what the sources give (first different line: {}): \
         run `cargo xtask ptx --bless` and commit it",
        difference.map_or_else(|| "after the end".to_owned(), |line| (line + 1).to_string())
    );
}

/// The rules themselves: each must be able to fail.
mod rules {
    use super::*;

    fn rules_of(line: &str) -> Vec<Rule> {
        let ptx = format!(".visible .entry kernel(\n\t.param .u64 p\n)\n{{\n\t{line}\n}}\n");
        let findings = lint(&ptx);
        assert!(
            findings.iter().all(|finding| finding.function == "kernel"),
            "{findings:?}"
        );
        findings.into_iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn clean_lines_pass() {
        for line in [
            "add.rn.f64 \t%rd1, %rd2, %rd3;",
            "@%p1 mul.rn.f32 %f1, %f2, %f3;",
            "div.rn.f64 %rd1, %rd2, %rd3;",
            "sqrt.rn.f64 %rd1, %rd2;",
            "mad.lo.s32 %r1, %r2, %r3, %r4;",
            "add.s64 %rd1, %rd2, %rd3;",
            "neg.f64 %rd1, %rd2;",
            "ld.global.nc.v2.b64 \t{%rd1, %rd2}, [%rd3];",
            "st.shared.b32 [%rd1], %r1;",
            "ld.param.b64 %rd1, [kernel_param_0];",
            "ld.relaxed.gpu.global.b32 %r1, [%rd1];",
            "atom.relaxed.gpu.global.cas.b32 %r1, [%rd1], %r2, %r3;",
            "atom.shared::cta.add.u32 %r1, [%r2], 1;",
            "// fma.rn.f64 in a comment",
            "$L__BB0_1:",
        ] {
            assert_eq!(rules_of(line), [], "{line}");
        }
    }

    #[test]
    fn fused_operations_are_found() {
        assert_eq!(
            rules_of("fma.rn.f64 %rd1, %rd2, %rd3, %rd4;"),
            [Rule::NoFusedOperation]
        );
        assert_eq!(
            rules_of("mad.rn.f32 %f1, %f2, %f3, %f4;"),
            [Rule::NoFusedOperation]
        );
        assert_eq!(
            rules_of("@!%p2 fma.rn.f32 %f1, %f2, %f3, %f4;"),
            [Rule::NoFusedOperation]
        );
    }

    #[test]
    fn implicit_rounding_is_found() {
        for line in [
            "add.f64 %rd1, %rd2, %rd3;",
            "@%p1 sub.f32 %f1, %f2, %f3;",
            "mul.f64 %a, %a, %a;",
        ] {
            assert_eq!(rules_of(line), [Rule::RoundingIsExplicit], "{line}");
        }
    }

    #[test]
    fn approximations_are_found() {
        let both = [Rule::RoundingIsExplicit, Rule::NoApproximation];
        assert_eq!(rules_of("div.full.f32 %f1, %f2, %f3;"), both);
        assert_eq!(rules_of("sqrt.approx.f32 %f1, %f2;"), both);
        assert_eq!(
            rules_of("rsqrt.approx.f64 %rd1, %rd2;"),
            [Rule::NoApproximation]
        );
        assert_eq!(
            rules_of("add.rn.ftz.f32 %f1, %f2, %f3;"),
            [Rule::NoApproximation]
        );
    }

    #[test]
    fn float_atomics_are_found() {
        assert_eq!(
            rules_of("atom.global.add.f64 %rd1, [%rd2], %rd3;"),
            [Rule::NoFloatAtomic]
        );
        assert_eq!(
            rules_of("red.shared.add.f32 [%r1], %f1;"),
            [Rule::NoFloatAtomic]
        );
    }

    #[test]
    fn generic_accesses_are_found() {
        for line in [
            "ld.b32 %r1, [%rd1];",
            "@%p1 st.v2.b64 [%rd1], {%rd2, %rd3};",
            "ld.relaxed.sys.b32 %r1, [%rd1];",
            "atom.add.u32 %r1, [%rd1], 1;",
        ] {
            assert_eq!(rules_of(line), [Rule::NoGenericAccess], "{line}");
        }
    }

    #[test]
    fn stacks_are_found() {
        assert_eq!(
            rules_of(".local .align 8 .b8 \t__local_depot0[24];"),
            [Rule::NoStack]
        );
    }

    #[test]
    fn outside_functions_are_found() {
        let findings =
            lint(".extern .func  (.param .b64 func_retval0) sqrt\n(\n\t.param .b64 p\n)\n;\n");
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].rule, Rule::NoUndefinedFunction);
    }

    #[test]
    fn libm_in_the_module_is_found() {
        for name in ["fmod", "sqrtf", "_ZN4libm4math4sqrt17h0123456789abcdefE"] {
            let ptx = format!(".func  (.param .b64 func_retval0) {name}(\n)\n{{\n\tret;\n}}\n");
            let findings = lint(&ptx);
            assert_eq!(findings.len(), 1, "{name}");
            assert_eq!(findings[0].rule, Rule::NoLibm);
            assert_eq!(findings[0].function, name);
        }
        assert_eq!(lint(".func relabel(\n)\n{\n\tret;\n}\n"), []);
    }
}
