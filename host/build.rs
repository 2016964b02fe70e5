//! Embeds the kernels of all families.

fn main() {
    cuda_builder::embed_linked("trioxide_gpu");
}
