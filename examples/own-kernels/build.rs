//! Embeds the kernels.

fn main() {
    cuda_builder::embed("kernels");
}
