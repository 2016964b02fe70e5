//! Embeds the kernels of the collectives.

fn main() {
    cuda_builder::embed_linked("trioxide_collective");
}
