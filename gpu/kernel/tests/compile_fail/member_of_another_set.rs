use trioxide_kernel::{Bits, In, Out, kernel};

trioxide_kernel::id! {
    pub struct Vertex = "vertex";
    pub struct HalfEdge = "half-edge";
}

#[kernel]
pub fn copy_flags(v: Vertex, frontier: In<Bits<HalfEdge>>, out: Out<u32>) {
    out.set(v, frontier.bit(v) as u32);
}

fn main() {}
