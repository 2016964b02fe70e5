//! Embeds the kernels of all families.

fn main() {
    cuda_builder::embed("../gpu");
}
