//! Builds the kernels to `$OUT_DIR/kernels.ptx`. Without a device compiler the file is empty: then a GPU refuses the
//! kernels, and the CPU runs them.

use std::path::PathBuf;
use std::{env, fs};

use cuda_builder::{CudaBuilder, CudaBuilderError};

fn main() {
    let out = env::var_os("OUT_DIR").expect("cargo sets it for build scripts");
    let ptx = PathBuf::from(out).join("kernels.ptx");
    println!("cargo::rerun-if-changed=build.rs");
    match CudaBuilder::new("kernels").copy_to(&ptx).build() {
        Ok(_) => {}
        Err(CudaBuilderError::NoDeviceCompiler(search)) => {
            println!(
                "cargo::warning=no device compiler was found, so there is no PTX: kernels run on the CPU only"
            );
            // After a compiler is installed, the next build makes the PTX.
            for path in search.watched_paths() {
                println!("cargo::rerun-if-changed={}", path.display());
            }
            fs::write(&ptx, "").expect("OUT_DIR is writable");
        }
        Err(error) => panic!("{error}"),
    }
}
