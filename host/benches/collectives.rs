//! Scan, compact and bucket on the CPU: `cargo bench -p trioxide --bench collectives`.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use trioxide::backend::Device;
use trioxide::collective::{bucket, compact, exclusive_scan};

fn collectives(criterion: &mut Criterion) {
    let on = Device::cpu(None).unwrap();
    for n in [10_000, 1_000_000] {
        let mut group = criterion.benchmark_group(n.to_string());
        group.throughput(Throughput::Elements(n as u64));
        let mut values = on.filled(n, 1).unwrap();
        group.bench_function("scan", |bench| {
            bench.iter(|| exclusive_scan(&on, &mut values).unwrap());
        });
        let words = (0..n.div_ceil(32) as u32).map(|word| word.wrapping_mul(0x9E37_79B9));
        let bits = on.upload(&words.collect::<Vec<_>>()).unwrap();
        group.bench_function("compact", |bench| {
            bench.iter(|| compact(&on, black_box(&bits)).unwrap());
        });
        // Six elements a key, in no order.
        let buckets = n / 6;
        let keys = (0..n as u32).map(|i| i.wrapping_mul(0x85EB_CA6B) % buckets as u32);
        let keys = on.upload(&keys.collect::<Vec<_>>()).unwrap();
        group.bench_function("bucket", |bench| {
            bench.iter(|| bucket::<u32, u32>(&on, black_box(&keys), buckets).unwrap());
        });
        group.finish();
    }
}

criterion_group!(benches, collectives);
criterion_main!(benches);
