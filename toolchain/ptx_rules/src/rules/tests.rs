//! Each rule must be able to fail.

use super::*;

fn rules_of(line: &str) -> Vec<Rule> {
    let ptx = format!(".visible .entry kernel(\n\t.param .u64 p\n)\n{{\n\t{line}\n}}\n");
    let findings = check(&ptx, Build::Plain);
    for finding in &findings {
        assert_eq!((finding.function.as_str(), finding.line), ("kernel", 5));
    }
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
        "shr.u64 %rd1, %rd2, 63;",
        "bfe.u32 %r1, %r2, 10, 10;",
        "ld.global.nc.v2.b64 \t{%rd1, %rd2}, [%rd3];",
        "st.shared.b32 [%rd1], %r1;",
        "ld.param.b64 %rd1, [kernel_param_0];",
        "ld.relaxed.gpu.global.b32 %r1, [%rd1];",
        "atom.relaxed.gpu.global.cas.b32 %r1, [%rd1], %r2, %r3;",
        "atom.shared::cta.add.u32 %r1, [%r2], 1;",
        "bar.sync 0;",
        "// fma.rn.f64 in a comment",
        "$L__BB0_1:",
        "exit;",
        "setp.lt.s64 %p2, %rd11, 9218868437227405312;",
    ] {
        assert_eq!(rules_of(line), [], "{line}");
    }
}

#[test]
fn broken_lines_are_found() {
    use Rule::*;
    for (line, rules) in [
        ("fma.rn.f64 %rd1, %rd2, %rd3, %rd4;", &[FusedOperation][..]),
        ("mad.rn.f32 %f1, %f2, %f3, %f4;", &[FusedOperation]),
        ("@!%p2 fma.rn.f32 %f1, %f2, %f3, %f4;", &[FusedOperation]),
        ("add.f64 %rd1, %rd2, %rd3;", &[ImplicitRounding]),
        ("@%p1 sub.f32 %f1, %f2, %f3;", &[ImplicitRounding]),
        (
            "div.full.f32 %f1, %f2, %f3;",
            &[ImplicitRounding, Approximation],
        ),
        (
            "sqrt.approx.f32 %f1, %f2;",
            &[ImplicitRounding, Approximation],
        ),
        ("rsqrt.approx.f64 %rd1, %rd2;", &[Approximation]),
        ("add.rn.ftz.f32 %f1, %f2, %f3;", &[Approximation]),
        ("atom.global.add.f64 %rd1, [%rd2], %rd3;", &[FloatAtomic]),
        ("red.shared.add.f32 [%r1], %f1;", &[FloatAtomic]),
        ("shr.u64 %rd1, %rd2, 52;", &[SoftwareFloat]),
        ("shl.b64 %rd1, %rd2, 52;", &[SoftwareFloat]),
        ("bfe.u32 %r1, %r2, 20, 11;", &[SoftwareFloat]),
        ("shr.u32 %r1, %r2, 23;", &[SoftwareFloat]),
        ("and.b64 %rd10, %rd24, 536870911;", &[SoftwareFloat]),
        ("and.b32 %r29, %r28, 8388607;", &[SoftwareFloat]),
        (
            "setp.lt.s64 %p2, %rd48, 4503599627370496;",
            &[SoftwareFloat],
        ),
        ("call.uni (retval0), helper, (param0);", &[Call]),
        ("@%p1 trap;", &[Trap]),
        ("trap;", &[Trap]),
        ("div.u64 %rd1, %rd2, %rd3;", &[IntegerDivision]),
        ("rem.s32 %r1, %r2, %r3;", &[IntegerDivision]),
        ("ld.b32 %r1, [%rd1];", &[GenericAccess]),
        ("@%p1 st.v2.b64 [%rd1], {%rd2, %rd3};", &[GenericAccess]),
        ("ld.relaxed.sys.b32 %r1, [%rd1];", &[GenericAccess]),
        ("atom.add.u32 %r1, [%rd1], 1;", &[GenericAccess]),
        (".local .align 8 .b8 \t__local_depot0[24];", &[Stack]),
        ("@%p1 bar.sync 0;", &[ConditionalBarrier]),
        ("fence.acq_rel.gpu;", &[Ordering]),
        ("membar.gl;", &[Ordering]),
        ("ld.acquire.gpu.global.b32 %r1, [%rd1];", &[Ordering]),
    ] {
        assert_eq!(rules_of(line), rules, "{line}");
    }
}

/// `(rule, function)` of every finding.
fn found(ptx: &str) -> Vec<(Rule, String)> {
    let findings = check(ptx, Build::Plain).into_iter();
    findings
        .map(|finding| (finding.rule, finding.function))
        .collect()
}

#[test]
fn too_much_shared_memory_is_found() {
    let own = ".visible .entry tiles(\n)\n{\n\t.shared .align 4 .b8 tile[49156];\n\tret;\n}\n";
    assert_eq!(found(own), [(Rule::SharedMemory, "tiles".to_owned())]);
    let of_module = ".shared .align 4 .b8 a[40000];\n.shared .align 4 .b8 b[40000];\n\
        .visible .entry one(\n)\n{\n\tst.shared.b32 [a], %r1;\n}\n\
        .visible .entry both(\n)\n{\n\tst.shared.b32 [a], %r1;\n\tst.shared.b32 [b], %r1;\n}\n";
    assert_eq!(found(of_module), [(Rule::SharedMemory, "both".to_owned())]);
}

#[test]
fn too_large_blocks_are_found() {
    let kernel = |threads| format!(".visible .entry k(\n)\n.maxntid {threads}\n{{\n\tret;\n}}\n");
    assert_eq!(
        found(&kernel("2048, 1, 1")),
        [(Rule::BlockSize, "k".to_owned())]
    );
    assert_eq!(
        found(&kernel("64, 32")),
        [(Rule::BlockSize, "k".to_owned())]
    );
    assert_eq!(found(&kernel("1024")), []);
}

#[test]
fn tables_are_found_with_their_user() {
    let ptx = |bytes| {
        format!(
            ".global .align 2 .b8 RSQRT_TAB[{bytes}] = {{81, 180}};\n\
             .visible .entry other(\n)\n{{\n\tret;\n}}\n\
             .visible .entry measure(\n)\n{{\n\tmov.b64 %rd1, RSQRT_TAB;\n}}\n"
        )
    };
    assert_eq!(found(&ptx(256)), [(Rule::Table, "measure".to_owned())]);
    assert_eq!(found(&ptx(24)), []);
}

#[test]
fn outside_functions_are_found() {
    let ptx = ".extern .func  (.param .b64 func_retval0) sqrt\n(\n\t.param .b64 p\n)\n;\n";
    assert_eq!(found(ptx), [(Rule::UndefinedFunction, "sqrt".to_owned())]);
}

#[test]
fn libm_in_the_module_is_found() {
    for name in ["fmod", "sqrtf", "_ZN4libm4math4sqrt17h0123456789abcdefE"] {
        let ptx = format!(".func  (.param .b64 func_retval0) {name}(\n)\n{{\n\tret;\n}}\n");
        assert_eq!(found(&ptx), [(Rule::Libm, name.to_owned())]);
    }
    assert_eq!(found(".func relabel(\n)\n{\n\tret;\n}\n"), []);
}

#[test]
fn a_checked_build_may_trap_and_call_and_nothing_else() {
    let stack = "\t.local .align 8 .b8 \t__local_depot0[408];\n";
    // The called function reports, as its checks do.
    let ptx = format!(
        ".visible .global .align 8 .b8 __trioxide_fault[8];\n\
         .func inner(\n)\n{{\n\tld.global.b64 %rd1, [__trioxide_fault];\n\tret;\n}}\n\
         .visible .entry k(\n)\n{{\n{stack}\tcall.uni inner, ();\n\ttrap;\n\tdiv.u32 %r1, %r2, %r3;\n}}\n\
         .visible .entry without_calls(\n)\n{{\n{stack}\tret;\n}}\n"
    );
    assert_eq!(check(&ptx, Build::Plain).len(), 4);
    let findings = check(&ptx, Build::Checked);
    let found: Vec<(Rule, &str)> = findings.iter().map(|f| (f.rule, &*f.function)).collect();
    let expected = [(Rule::IntegerDivision, "k"), (Rule::Stack, "without_calls")];
    assert_eq!(found, expected);
}

#[test]
fn exceptions_cover_their_kernel_and_are_needed() {
    let ptx = ".visible .entry k(\n)\n{\n\ttrap;\n}\n";
    let review = |text| {
        review(
            "k.ptx",
            ptx,
            Build::Plain,
            &Exceptions::parse(text).unwrap(),
        )
    };
    let report = review("").unwrap_err();
    assert!(report.starts_with("trap: something"), "{report}");
    assert!(report.contains("\n  k.ptx:4: k: trap;\n"), "{report}");
    assert_eq!(
        review("# why\n\ntrap k it ends the launch on purpose"),
        Ok(())
    );
    let report = review("trap k on purpose\ncall k as an example").unwrap_err();
    assert_eq!(
        report,
        "call: k keeps this rule: remove it from the exceptions\n"
    );
}

#[test]
fn exceptions_have_a_rule_a_kernel_and_a_reason() {
    let error = |text| Exceptions::parse(text).unwrap_err();
    assert!(
        error("traps k why").starts_with("line 1: the first word is no rule; the rules are fused")
    );
    assert!(error("\ntrap k").starts_with("line 2: a kernel and a reason"));
}

#[test]
fn every_rule_has_its_own_name_and_texts() {
    let names: std::collections::BTreeSet<_> = Rule::ALL.map(Rule::name).into();
    assert_eq!(names.len(), Rule::ALL.len());
    for rule in Rule::ALL {
        assert!(!rule.problem().is_empty() && !rule.remedy().is_empty());
    }
}

/// The function that reports runs once, and ends the launch.
#[test]
fn a_report_of_a_wrong_index_may_be_called() {
    let ptx = ".visible .global .align 8 .b8 __trioxide_fault[8];\n\
        .func fail(\n\t.param .b32 fail_param_0\n)\n{\n\tcall.uni report, (p);\n\ttrap;\n}\n\
        .func report(\n)\n{\n\tld.global.b64 %rd1, [__trioxide_fault];\n\ttrap;\n}\n\
        .func other(\n)\n{\n\tret;\n}\n\
        .visible .entry gather(\n)\n{\n\tcall.uni fail, (p);\n\tcall.uni other, (p);\n\ttrap;\n\tret;\n}\n";
    let found: Vec<(Rule, String)> = check(ptx, Build::Plain)
        .into_iter()
        .map(|finding| (finding.rule, finding.text))
        .collect();
    assert_eq!(
        found,
        [
            (Rule::Call, "call.uni other, (p);".to_owned()),
            (Rule::Trap, "trap;".to_owned())
        ]
    );
}
