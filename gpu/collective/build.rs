//! Gives this folder to the build script of the crate that embeds the kernels: in a registry's package the
//! path from the workspace does not hold.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::metadata=folder={}", env!("CARGO_MANIFEST_DIR"));
}
