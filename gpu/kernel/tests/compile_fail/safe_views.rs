//! A kernel over an own index writes only its own element, and reads arrays by their own kind of index.
#![forbid(unsafe_code)]

use trioxide_kernel::kernel;
use trioxide_kernel::safe::{Atomic, In, Out, Own, OwnBlock, PerBlock, Shared};

trioxide_kernel::id! {
    /// A sample.
    pub struct Sample = "sample";
    /// A station.
    pub struct Station = "station";
}

#[kernel]
fn writes_another(sample: Own<Sample>, values: In<f64, Sample>, sums: Out<f64, Sample>) {
    sums.set(Sample::new(0), values.at(sample));
}

#[kernel]
fn writes_by_another_kind(sample: Own<Sample>, values: In<f64, Sample>, sums: Out<f64, Station>) {
    sums.set(sample, values.at(sample));
}

#[kernel]
fn reads_by_another_kind(sample: Own<Sample>, offsets: In<f64, Station>, sums: Out<f64, Sample>) {
    sums.set(sample, offsets.at(sample));
}

#[kernel]
fn takes_unchecked_views(sample: Own<Sample>, values: trioxide_kernel::In<f64>) {
    let _ = values.at(sample.get());
}

#[kernel]
fn shares_a_number(block: OwnBlock<32, Shared<u32, 1>>, sums: Atomic<u32, Sample>) {
    while sums.load(Sample::new(0)) < 3 {
        block.phase(|lane| block.shared().set(lane, 0, 1));
    }
}

#[kernel]
fn reads_shared_memory_outside(block: OwnBlock<32, Shared<u32, 1>>, sums: PerBlock<u32>) {
    let first = block.shared().at(0);
    block.once(|_, own| sums.set(own, first));
}

#[kernel]
fn writes_by_each_lane(block: OwnBlock<32>, sums: PerBlock<u32>) {
    block.phase(|lane| sums.set(lane, 1));
}

fn keeps_its_index(sample: Own<'_, Sample>) -> Own<'static, Sample> {
    sample
}

fn main() {}
