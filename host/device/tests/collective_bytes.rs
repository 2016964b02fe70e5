//! Compares the bytes documented at the head of `collective` with the bytes that launches declare.

use trioxide_device::collective::{
    Counted, Csr, Tiled, bucket, bucket_known, bucket_local, bucket_long, compact, count_bits,
    exclusive_scan, longest_row, mark_ids, mark_more_ids, merge_lists, order_by, pack_flags,
    sort_rows, start_local, tally_bits,
};
use trioxide_device::{Device, Result};

/// Bytes of the launches of `work`.
fn moved<R>(on: &Device, work: impl FnOnce() -> Result<R>) -> u64 {
    on.time_launches(true);
    work().unwrap();
    let launches = on.take_launches().unwrap();
    on.time_launches(false);
    let bytes = launches.iter().map(|launched| {
        let moves = launched.moves.expect("every collective states its bytes");
        moves.bytes
    });
    bytes.sum()
}

fn scan(n: u64) -> u64 {
    match n {
        n if n <= 16_384 => 8 * n + 4,
        n => 12 * n + 16 * n.div_ceil(4096) + 4,
    }
}

#[test]
fn scans_move_what_the_page_says() {
    let on = Device::cpu(None).unwrap();
    for n in [0, 1, 16_384, 16_385, 100_000u64] {
        let mut values = on.filled(n as usize, 1).unwrap();
        let expected = if n == 0 { 4 } else { scan(n) };
        assert_eq!(
            moved(&on, || exclusive_scan(&on, &mut values)),
            expected,
            "{n}"
        );
    }
}

#[test]
fn bit_sets_move_what_the_page_says() {
    let on = Device::cpu(None).unwrap();
    // The last one has more tiles than one block scans.
    for w in [1, 1024, 5000, 17_000_000u64] {
        let bits = on.filled(w as usize, 0b1001).unwrap();
        let (t, m) = (w.div_ceil(1024), 2 * w);
        let count = 4 * w + 4 * t + scan(t);
        assert_eq!(moved(&on, || count_bits(&on, &bits)), count, "{w}");
        let list = 4 * w + 4 * t + 4 * m;
        assert_eq!(moved(&on, || compact(&on, &bits)), count + list, "{w}");
        let counted = Counted::new(&on, &bits).unwrap();
        assert_eq!(moved(&on, || counted.list(&on)), list, "{w}");
        let mut tally = on.filled(1, 0).unwrap();
        let tallied = moved(&on, || tally_bits(&on, &bits, &mut tally, 0));
        assert_eq!(tallied, 4 * w, "{w}");
        let tiled = Tiled::new(&on, &bits).unwrap();
        assert_eq!(moved(&on, || tiled.ranks(&on)), 12 * w + 4 * t, "{w}");
    }
    for n in [1, 33, 5000u64] {
        let flags = on.upload(&vec![1u8; n as usize]).unwrap();
        let packed = moved(&on, || pack_flags::<u32>(&on, &flags));
        assert_eq!(packed, n + 4 * n.div_ceil(32));
        let ids = on.filled(n as usize, 0).unwrap();
        assert_eq!(moved(&on, || mark_ids::<u32>(&on, &ids, 70)), 4 * n);
        let (mut bits, _) = mark_ids::<u32>(&on, &ids, 70).unwrap();
        let marked = moved(&on, || mark_more_ids(&on, &ids, 70, &mut bits));
        assert_eq!(marked, 4 * n);
    }
}

#[test]
fn lists_move_what_the_page_says() {
    let on = Device::cpu(None).unwrap();
    for (n, k) in [(10, 3), (5000, 400), (60_000, 20_000u64)] {
        // Every fourth element has no key.
        let key = |i: u64| {
            if i.is_multiple_of(4) {
                u32::MAX
            } else {
                (i * i % k) as u32
            }
        };
        let keys: Vec<u32> = (0..n).map(key).collect();
        let i = keys.iter().filter(|&&key| key != u32::MAX).count() as u64;
        let keys = on.upload(&keys).unwrap();
        let expected = 8 * n + 8 * i + 20 * (k + 1) + scan(k + 1);
        let listed = moved(&on, || bucket::<u32, u32>(&on, &keys, k as usize));
        assert_eq!(listed, expected, "{n}, {k}");
        // SAFETY: `i` elements have a key.
        let known = || unsafe { bucket_known::<u32, u32>(&on, &keys, k as usize, i as usize) };
        assert_eq!(moved(&on, known), expected, "{n}, {k}");
        let long = |most_alone| {
            // SAFETY: as above.
            unsafe { bucket_long::<u32, u32>(&on, &keys, k as usize, i as usize, most_alone) }
        };
        let alone = 8 * n + 8 * i + 24 * (k + 1) + scan(k + 1);
        assert_eq!(moved(&on, || long(u32::MAX)), alone, "{n}, {k}");
        let (lists, longest): (Csr<u32, u32>, u32) = long(0).unwrap();
        let passes = 1 + u64::from(longest).div_ceil(32).next_power_of_two().ilog2();
        let (offsets, items) = lists.into_parts();
        let merged = 8 * i * u64::from(passes);
        assert_eq!(
            moved(&on, || longest_row(&on, &offsets)),
            4 * (k + 1),
            "{n}, {k}"
        );
        let owners = on.download(&items).unwrap();
        let owners: Vec<u32> = owners.iter().map(|&i| key(i.into())).collect();
        let owners = on.upload(&owners).unwrap();
        let values = on.upload(&vec![1u64; i as usize]).unwrap();
        let sort = || sort_rows(&on, &offsets, &owners, longest, &values);
        assert_eq!(moved(&on, sort), 20 * i * u64::from(passes), "{n}, {k}");
        // SAFETY: the lists of the keys.
        let merge = || unsafe { merge_lists(&on, &keys, &offsets, items, longest) };
        assert_eq!(moved(&on, merge), merged, "{n}, {k}");
        let longer = 8 * n + 4 * i + 20 * (k + 1) + scan(k + 1) + merged;
        assert_eq!(moved(&on, || long(0)), longer, "{n}, {k}");

        let near: Vec<u32> = (0..n).map(|i| (i % k) as u32).collect();
        let near = on.upload(&near).unwrap();
        let started = moved(&on, || start_local(&on, &near, k as usize));
        assert_eq!(started, 4 * n + 8 * (k + 2) + scan(k + 2), "{n}, {k}");
        // SAFETY: the keys are below k.
        let local = || unsafe { bucket_local(&on, &near, k as usize) };
        let expected = 12 * n + 16 * (k + 1) + scan(k + 1);
        assert_eq!(moved(&on, local), expected, "{n}, {k}");
    }
}

#[test]
fn sorts_move_what_the_page_says() {
    let on = Device::cpu(None).unwrap();
    for (n, bits) in [(1, 1), (5000, 4), (5000, 32), (3_000_000u64, 9)] {
        let keys = on.filled(n as usize, 1).unwrap();
        let (passes, t) = (u64::from(u32::div_ceil(bits, 4)), n.div_ceil(2048));
        let expected = (20 * passes - 8) * n + passes * (128 * t + scan(16 * t));
        // As a GPU sorts.
        let sorted = moved(&on, || order_by(&on, keys, bits, false));
        assert_eq!(sorted, expected, "{n} of {bits} bits");
    }
}
