//! Scan, compact and bucket against plain loops.

use super::{Case, Outcome, Size, equal};
use trioxide::bit_set;
use trioxide::collective::{
    Csr, bucket, bucket_local, bucket_long, compact, count_bits, exclusive_scan, longest_row,
    mark_ids, order_by, pack_flags, sort_rows,
};
use trioxide::device::Device;
use trioxide::mesh::NONE;

pub fn cases(size: Size) -> Vec<Case> {
    let mut sizes = vec![0, 1, 2, 31, 32, 33, 255, 256, 257];
    let powers: &[usize] = match size {
        Size::Tiny => &[10, 12],
        Size::Small | Size::Large => &[10, 12, 14, 15, 17],
    };
    for &k in powers {
        sizes.extend([(1 << k) - 1, 1 << k, (1 << k) + 1]);
    }
    if size != Size::Tiny {
        sizes.push((1 << 20) + 1);
    }
    if size == Size::Large {
        sizes.extend([(1 << 24) + 1, 100_000_000]);
    }
    // A CPU's threads share a million elements as they share 131,073; only a GPU has more blocks at work for them.
    let most_on_cpu = match size {
        Size::Small => (1 << 17) + 1,
        Size::Tiny | Size::Large => usize::MAX,
    };
    let each = |name: &str, check: fn(&Device, usize) -> Outcome| {
        let sizes = sizes.clone();
        Case::new(
            format!(
                "{name} of {} sizes up to {}",
                sizes.len(),
                sizes[sizes.len() - 1]
            ),
            move |on| {
                let most = if on.is_gpu() { usize::MAX } else { most_on_cpu };
                sizes
                    .iter()
                    .filter(|&&n| n <= most)
                    .try_for_each(|&n| check(on, n).map_err(|error| format!("n = {n}: {error}")))
            },
        )
    };
    vec![
        each("exclusive scan", scan),
        each("compaction", compaction),
        each("flags and ids as bit sets", bit_sets),
        each("bucketing", bucketing),
        each("bucketing with long lists", long_lists),
        each("bucketing of near keys", near_keys),
        each("stable sort by keys", sorting),
        each("sort within rows", sorted_rows),
    ]
}

/// Numbers that do not repeat soon (Marsaglia's xorshift).
fn numbers(n: usize, seed: u32) -> impl Iterator<Item = u32> {
    let mut x = seed | 1;
    (0..n).map(move |_| {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        x
    })
}

fn near_keys(on: &Device, n: usize) -> Outcome {
    let buckets = n / 3 + 1;
    // Near each other, one key alone, and without any order.
    let keys: [Vec<u32>; 3] = [
        (0..n)
            .map(|i| ((i / 40 * 13 + i % 17) % buckets) as u32)
            .collect(),
        vec![buckets as u32 - 1; n],
        numbers(n, 37).map(|x| x % buckets as u32).collect(),
    ];
    for keys in keys {
        // SAFETY: the keys are below the number of buckets.
        let (offsets, items) = unsafe { bucket_local(on, &on.upload(&keys)?, buckets) }?;
        let (offsets, mut items) = (on.download(&offsets)?, on.download(&items)?);
        let mut expected: Vec<u32> = (0..n as u32).collect();
        expected.sort_by_key(|&i| keys[i as usize]);
        let start = |key: u32| expected.partition_point(|&i| keys[i as usize] < key) as u32;
        let starts: Vec<u32> = (0..=buckets as u32).map(start).collect();
        equal("start", &offsets, &starts)?;
        for ends in offsets.windows(2) {
            items[ends[0] as usize..ends[1] as usize].sort_unstable();
        }
        equal("item", &items, &expected)?;
    }
    Ok(())
}

fn sorting(on: &Device, n: usize) -> Outcome {
    for bits in [1, 4, 7, 31] {
        // Few different keys too: equal ones keep their order.
        let keys: Vec<u32> = numbers(n, 29)
            .map(|x| (x % 1000) & ((1 << bits) - 1))
            .collect();
        let keys = match bits {
            31 => numbers(n, 31).map(|x| x >> 1).collect(),
            _ => keys,
        };
        let mut expected: Vec<u32> = (0..n as u32).collect();
        expected.sort_by_key(|&i| keys[i as usize]);
        for by_bytes in [false, true] {
            let order = order_by(on, on.upload(&keys)?, bits, by_bytes)?;
            equal("place", &on.download(&order)?, &expected)?;
        }
    }
    Ok(())
}

fn scan(on: &Device, n: usize) -> Outcome {
    let values: Vec<u32> = numbers(n, 17).map(|x| x % 23).collect();
    let mut buffer = on.upload(&values)?;
    let total = exclusive_scan(on, &mut buffer)?;
    let mut sum = 0;
    let expected: Vec<u32> = values
        .iter()
        .map(|&value| {
            let before = sum;
            sum += value;
            before
        })
        .collect();
    equal("scan", &on.download(&buffer)?, &expected)?;
    equal("total", &on.download(&total)?, &[sum])
}

fn compaction(on: &Device, n: usize) -> Outcome {
    // Dense, mixed and sparse words.
    let words: Vec<u32> = numbers(n.div_ceil(32), 29)
        .enumerate()
        .map(|(i, x)| match i / 300 % 4 {
            0 => x,
            1 => u32::MAX,
            2 => 0,
            _ => 1 << (x % 32) & x.wrapping_mul(77),
        })
        .collect();
    let expected: Vec<u32> = words
        .iter()
        .enumerate()
        .flat_map(|(i, &word)| {
            (0..32)
                .filter(move |bit| word >> bit & 1 != 0)
                .map(move |bit| i as u32 * 32 + bit)
        })
        .collect();
    let bits = on.upload(&words)?;
    equal("count", &[count_bits(on, &bits)?], &[expected.len() as u32])?;
    equal("list", &on.download(&compact(on, &bits)?)?, &expected)
}

fn bit_sets(on: &Device, n: usize) -> Outcome {
    // Any byte but 0 is a flag.
    let flags: Vec<u8> = numbers(n, 29)
        .map(|x| if x % 3 == 0 { (x >> 8) as u8 } else { 0 })
        .collect();
    let expected = bit_set::pack(flags.iter().map(|&flag| flag != 0));
    let ours = pack_flags::<u32>(on, &on.upload(&flags)?)?;
    equal("of flags", &on.download(ours.as_words())?, &expected)?;
    // Backwards and each twice.
    let mut ids: Vec<u32> = (0..n as u32).filter(|&i| flags[i as usize] != 0).collect();
    ids.extend_from_within(..);
    ids.reverse();
    let (ours, wrong) = mark_ids::<u32>(on, &on.upload(&ids)?, n)?;
    equal("of ids", &on.download(ours.as_words())?, &expected)?;
    equal("wrong ids", &[wrong], &[None])?;
    let place = ids.len() / 2;
    ids.splice(place..place, [n as u32, NONE]);
    let (_, wrong) = mark_ids::<u32>(on, &on.upload(&ids)?, n)?;
    equal("the first wrong id", &[wrong], &[Some(place as u32)])
}

fn bucketing(on: &Device, n: usize) -> Outcome {
    let buckets = n / 3 + 1;
    // The first bucket is long, the others are short.
    let keys: Vec<u32> = numbers(n, 41)
        .enumerate()
        .map(|(i, x)| match x % 5 {
            0 => NONE,
            1 if i < 20_000 => 0,
            _ => (x >> 3) % buckets as u32,
        })
        .collect();
    let mut offsets = vec![0; buckets + 1];
    for &key in keys.iter().filter(|&&key| key != NONE) {
        offsets[key as usize + 1] += 1;
    }
    for key in 0..buckets {
        offsets[key + 1] += offsets[key];
    }
    let mut slots = offsets.clone();
    let mut items = vec![0; offsets[buckets] as usize];
    for (i, &key) in keys.iter().enumerate().filter(|&(_, &key)| key != NONE) {
        items[slots[key as usize] as usize] = i as u32;
        slots[key as usize] += 1;
    }
    let ours: Csr<u32, u32> = bucket(on, &on.upload(&keys)?, buckets)?;
    equal("offsets", &on.download(ours.offsets())?, &offsets)?;
    equal("items", &on.download(ours.items())?, &items)?;
    // Keys that are too large are left out as `NONE` is.
    let wild: Vec<u32> = keys
        .iter()
        .map(|&key| match key {
            NONE => buckets as u32 + n as u32 % 7,
            key => key,
        })
        .collect();
    let ours: Csr<u32, u32> = bucket(on, &on.upload(&wild)?, buckets)?;
    equal(
        "items without wild keys",
        &on.download(ours.items())?,
        &items,
    )
}

/// Lists that are merged, with most of the elements in one, against lists that a thread each orders.
fn long_lists(on: &Device, n: usize) -> Outcome {
    let keys: Vec<u32> = numbers(n, 29)
        .map(|x| (x % 64).saturating_sub(57))
        .collect();
    let mut expected: [Vec<u32>; 7] = Default::default();
    for (i, &key) in keys.iter().enumerate() {
        expected[key as usize].push(i as u32);
    }
    let ends = expected.iter().scan(0, |end, list| {
        *end += list.len() as u32;
        Some(*end)
    });
    let offsets: Vec<u32> = std::iter::once(0).chain(ends).collect();
    let buffer = on.upload(&keys)?;
    // One thread of a GPU takes seconds for a long list.
    let alone = if n < 1 << 15 { u32::MAX } else { 1000 };
    for most_alone in [0, 100, alone] {
        // SAFETY: every key is below 7.
        let (lists, _): (Csr<u32, u32>, _) = unsafe { bucket_long(on, &buffer, 7, n, most_alone) }?;
        equal("offsets", &on.download(lists.offsets())?, &offsets)?;
        equal("items", &on.download(lists.items())?, &expected.concat())?;
    }
    Ok(())
}

/// Rows of 0 to 6 values after one of half of all, with equal values in many of them.
fn sorted_rows(on: &Device, n: usize) -> Outcome {
    let mut offsets = vec![0, n as u32 / 2];
    let mut lengths = numbers(n, 53).map(|x| x % 7);
    while (offsets[offsets.len() - 1] as usize) < n {
        let length = lengths.next().unwrap_or(1);
        offsets.push((offsets[offsets.len() - 1] + length).min(n as u32));
    }
    let rows = || {
        offsets
            .windows(2)
            .map(|row| row[0] as usize..row[1] as usize)
    };
    let owners: Vec<u32> = rows()
        .zip(0..)
        .flat_map(|(row, r)| row.map(move |_| r))
        .collect();
    let words: Vec<u32> = numbers(n, 7).map(|x| x % 50).collect();
    let wide: Vec<u64> = words
        .iter()
        .map(|&x| u64::from(x % 9) << 40 | u64::from(x))
        .collect();
    let (starts, of) = (on.upload(&offsets)?, on.upload(&owners)?);
    let longest = longest_row(on, &starts)?;
    equal(
        "longest",
        &[longest as usize],
        &[rows().map(|row| row.len()).max().unwrap_or(0)],
    )?;
    let sorted = on.download(&sort_rows(on, &starts, &of, longest, &on.upload(&words)?)?)?;
    let mut expected = words;
    rows().for_each(|row| expected[row].sort_unstable());
    equal("rows of words", &sorted, &expected)?;
    let sorted = on.download(&sort_rows(on, &starts, &of, longest, &on.upload(&wide)?)?)?;
    let mut expected = wide;
    rows().for_each(|row| expected[row].sort_unstable());
    equal("rows of two words", &sorted, &expected)
}
