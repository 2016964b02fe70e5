//! Arrays of different ids, and an array and a bit set, cannot be swapped.
use trioxide_kernel::launch::{Buffer, Launcher};
use trioxide_kernel::{Bits, In, Out, kernel};

trioxide_kernel::id! {
    pub struct Vertex = "vertex";
    pub struct HalfEdge = "half-edge";
}

#[kernel]
pub fn link_edges(h: HalfEdge, origins: In<Vertex>, twins: In<HalfEdge>, frontier: In<Bits<HalfEdge>>, out: Out<Vertex>) {
    if frontier.bit(h) {
        out.set(h, origins.at(twins.at(h)));
    }
}

fn main() {}

pub fn run(on: &dyn Launcher, origins: &Buffer<Vertex>, twins: &Buffer<HalfEdge>, frontier: &Buffer<Bits<HalfEdge>>, out: &mut Buffer<Vertex>) {
    // SAFETY: does not compile.
    let _ = unsafe { link_edges::launch(on, 3, twins, origins, frontier, out) };
    // SAFETY: does not compile.
    let _ = unsafe { link_edges::launch(on, 3, origins, frontier, twins, out) };
}
