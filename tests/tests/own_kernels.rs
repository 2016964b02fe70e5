//! `examples/own-kernels`: a workspace of its own that depends on trioxide by path. It is formatted, builds, and passes.

use std::path::Path;
use std::process::Command;

#[test]
fn kernels_outside_of_the_workspace_build_and_pass() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/own-kernels");
    // This build's own target directory, which no cargo locks while tests run: what both need is compiled once.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("it is target/tmp");
    for arguments in [
        ["fmt", "--all", "--check"],
        ["test", "--workspace", "--quiet"],
    ] {
        let output = Command::new(env!("CARGO"))
            .args(arguments)
            .current_dir(&example)
            .env("CARGO_TARGET_DIR", target)
            .output()
            .expect("cargo starts");
        assert!(
            output.status.success(),
            "cargo {} in examples/own-kernels:\n{}{}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
