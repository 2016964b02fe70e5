//! From a static library of bitcode to PTX.

use std::path::Path;
use std::process::Command;

use crate::cargo::{run, rustc_flags};
use crate::parts::{LLC_FLAGS, Linked, OPTIMIZE, REDUCE, read, write};
use crate::{CudaBuilderError, DeviceCompiler, Options, lines};

const PRELUDE: &str = include_str!("prelude.ll");

/// Functions that the CUDA driver provides to every module.
const DRIVER_FUNCTIONS: [&str; 4] = ["__assertfail", "free", "malloc", "vprintf"];

/// Links, optimizes and compiles the archive; the result begins with a line on its compiler and options.
pub(crate) fn link_ptx(
    compiler: &DeviceCompiler,
    crate_dir: &Path,
    options: &Options<'_>,
    archive: &Path,
    target_dir: &Path,
) -> Result<String, CudaBuilderError> {
    // The caller holds the target directory's lock, so the names need not be unique.
    let file = |name: &str| target_dir.join(format!("link-{name}"));
    let (prelude, linked) = (file("prelude.ll"), file("linked.ll"));
    write(&prelude, PRELUDE)?;
    let mut link = Command::new(&compiler.llvm.link);
    // The prelude names no data layout, so that any LLVM accepts it: LLVM's warning about this has no meaning.
    run(link
        .args(["-S", "--suppress-warnings", "-o"])
        .arg(&linked)
        .arg(archive)
        .arg(&prelude))?;
    let text = read(&linked)?;
    let kernels = kernel_names(&text);
    if kernels.is_empty() {
        return Err(CudaBuilderError::NoKernels(archive.to_owned()));
    }
    let variables = host_variables(&text);
    let text = limit_registers(&scope_atomics(&text));
    match options.lines {
        true => write(&linked, &lines::as_directives(&text))?,
        false => write(&linked, &text)?,
    }
    let header = header(compiler, options);
    let package = archive.file_stem().unwrap_or_default();
    let parts = Linked {
        compiler,
        crate_dir,
        options,
        module: &linked,
        folder: target_dir.join("parts").join(package),
        header: &header,
        variables,
    };
    let parts = parts.compile(&kernels)?;

    let text = ptx_rules::merge(&parts);
    let undefined = undefined_functions(&text);
    if !undefined.is_empty() {
        return Err(CudaBuilderError::UndefinedFunctions(undefined));
    }
    let text = without_unused_variables(&text);
    Ok(format!("{header}\n{text}"))
}

/// The line that distinguishes builds: equal lines and equal sources give equal PTX.
fn header(compiler: &DeviceCompiler, options: &Options<'_>) -> String {
    let DeviceCompiler { version, llvm, .. } = compiler;
    let features = options.features.iter();
    let features: String = features.map(|name| format!("; feature {name}")).collect();
    let lines = if options.lines { "; lines" } else { "" };
    format!(
        "// {version}; LLVM {}; {}; rustc {}; opt {REDUCE},{OPTIMIZE}; llc {}{features}{lines}",
        llvm.version,
        options.arch,
        rustc_flags(options.arch).join(" "),
        LLC_FLAGS.join(" ")
    )
}

/// Narrows the scope of atomics to the device. During a launch kernels share no memory with the host or another device,
/// and rustc's scope, the whole system, is slower.
fn scope_atomics(llvm_ir: &str) -> String {
    let scoped = |line: &str| {
        let is_atomic = ["cmpxchg ", "atomicrmw ", "load atomic ", "store atomic "]
            .iter()
            .any(|instruction| line.contains(instruction));
        match line.find(" monotonic") {
            Some(ordering) if is_atomic && !line.contains("syncscope") => {
                let (before, after) = line.split_at(ordering);
                format!("{before} syncscope(\"device\"){after}\n")
            }
            _ => format!("{line}\n"),
        }
    };
    llvm_ir.lines().map(scoped).collect()
}

/// Turns the limits that `#[kernel(registers = 64)]` wrote as sections into LLVM's attribute.
fn limit_registers(llvm_ir: &str) -> String {
    let limited = |line: &str| {
        let Some((before, after)) = line.split_once(" section \".maxnreg ") else {
            return format!("{line}\n");
        };
        let (registers, after) = after.split_once('"').unwrap_or((after, ""));
        format!("{before} \"nvvm.maxnreg\"=\"{registers}\"{after}\n")
    };
    llvm_ir.lines().map(limited).collect()
}

/// The names of the functions with a kernel's calling convention.
fn kernel_names(llvm_ir: &str) -> Vec<String> {
    let definitions = llvm_ir.lines().filter(|line| line.starts_with("define "));
    let kernels = definitions.filter_map(|line| line.split_once(" ptx_kernel "));
    let names = kernels.filter_map(|(_, signature)| signature.split_once('@')?.1.split_once('('));
    names
        .map(|(name, _)| name.trim_matches('"').to_owned())
        .collect()
}

/// Variables that the host writes: the memory for reports of wrong indices, and for prints.
const HOST_VARIABLES: [&str; 2] = [ptx_rules::FAULT, ptx_rules::PRINTS];

/// The [`HOST_VARIABLES`] that the module defines.
fn host_variables(llvm_ir: &str) -> Vec<String> {
    let is_defined = |name: &&str| {
        let definition = format!("@{name} = ");
        llvm_ir.lines().any(|line| line.starts_with(&definition))
    };
    let defined = HOST_VARIABLES.into_iter().filter(is_defined);
    defined.map(str::to_owned).collect()
}

/// The PTX without the [`HOST_VARIABLES`] that no kernel uses.
fn without_unused_variables(ptx: &str) -> String {
    let mut text = ptx.to_owned();
    for name in HOST_VARIABLES {
        let is_of_variable = |line: &&str| line.contains(name);
        let is_used = text.lines().filter(is_of_variable).count() > 1;
        if !is_used {
            let kept = text.lines().filter(|line| !is_of_variable(line));
            text = kept.map(|line| format!("{line}\n")).collect();
        }
    }
    text
}

/// The functions that a PTX module declares but does not define. The name is the last word before the parameters of
/// `.extern .func (.param .b64 func_retval0) name` or `.extern .func name`.
fn undefined_functions(ptx: &str) -> Vec<String> {
    let declarations = ptx
        .lines()
        .filter_map(|line| line.trim().strip_prefix(".extern .func"));
    let names = declarations.map(|declaration| {
        let declaration = declaration.trim();
        let after_result = match declaration.strip_prefix('(') {
            Some(result) => result.split_once(')').map_or("", |(_, name)| name),
            None => declaration,
        };
        after_result
            .split(['(', ';'])
            .next()
            .unwrap_or_default()
            .trim()
            .to_owned()
    });
    names
        .filter(|name| !DRIVER_FUNCTIONS.contains(&name.as_str()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_kernels_and_nothing_else() {
        let ir = "define ptx_kernel void @label_longest_edges(ptr %0) unnamed_addr #5 {\n\
                  define internal fastcc void @helper(ptr %0) {\n\
                  define dso_local ptx_kernel void @\"scan.tiles\"([2 x i64] %0) {\n\
                  declare ptx_kernel void @elsewhere()\n";
        assert_eq!(kernel_names(ir), ["label_longest_edges", "scan.tiles"]);
    }

    #[test]
    fn finds_the_variables_of_a_checked_build() {
        let ir = "@__trioxide_fault = local_unnamed_addr global ptr null, align 8\n@other = global i32 0\n";
        assert_eq!(host_variables(ir), ["__trioxide_fault"]);
        assert!(
            host_variables("@other = global i32 0\n  store ptr @__trioxide_fault\n").is_empty()
        );
    }

    #[test]
    fn variables_that_no_kernel_uses_go() {
        let unused = ".visible .global .align 8 .b64 __trioxide_fault;\n";
        let used = ".visible .global .align 8 .b8 __trioxide_prints[16];\n\tld.global.b64 %rd1, [__trioxide_prints];\n";
        assert_eq!(without_unused_variables(&format!("{unused}{used}")), used);
    }

    #[test]
    fn scopes_atomics_and_nothing_else() {
        let ir = "  %1 = cmpxchg ptr %p, i32 0, i32 1 monotonic monotonic, align 4\n  %2 = load i32, ptr %p\n";
        let scoped = "  %1 = cmpxchg ptr %p, i32 0, i32 1 syncscope(\"device\") monotonic monotonic, align 4\n  \
                      %2 = load i32, ptr %p\n";
        assert_eq!(scope_atomics(ir), scoped);
        assert_eq!(scope_atomics(scoped), scoped);
    }

    #[test]
    fn limits_registers_where_a_section_says_so() {
        let ir = "define ptx_kernel void @f(ptr %0) unnamed_addr #5 section \".maxnreg 64\" {\n\
                  define ptx_kernel void @g(ptr %0) unnamed_addr #5 {\n";
        let limited = "define ptx_kernel void @f(ptr %0) unnamed_addr #5 \"nvvm.maxnreg\"=\"64\" {\n\
                       define ptx_kernel void @g(ptr %0) unnamed_addr #5 {\n";
        assert_eq!(limit_registers(ir), limited);
        assert_eq!(limit_registers(limited), limited);
    }

    #[test]
    fn finds_undefined_functions() {
        let ptx = ".extern .func  (.param .b64 func_retval0) sqrt\n(\n\t.param .b64 sqrt_param_0\n)\n;\n\
                   .extern .func abort\n;\n.extern .func vprintf(\n\
                   .extern .shared .align 16 .b8 __dynamic_shared[];\n.func helper()\n";
        assert_eq!(undefined_functions(ptx), ["sqrt", "abort"]);
    }
}
