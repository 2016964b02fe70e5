//! Gives this folder to the build script of the crate that embeds the kernels: a registry's packages do not lie where
//! the workspace has them.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::metadata=folder={}", env!("CARGO_MANIFEST_DIR"));
}
