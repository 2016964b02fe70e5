//! `Device::emulated`: the collectives' PTX against the CPU, and its messages about wrong launches. No GPU is needed.

use trioxide_collective as kernel;
use trioxide_device::collective::{bucket, compact, exclusive_scan};
use trioxide_device::{Device, Result};

/// Runs `work` on both devices; the results are equal.
fn on_both<T: PartialEq + std::fmt::Debug>(work: impl Fn(&Device) -> Result<T>) {
    let expected = work(&Device::cpu(Some(2)).unwrap()).unwrap();
    assert_eq!(work(&Device::emulated(true).unwrap()).unwrap(), expected);
}

#[test]
fn collectives_give_what_the_cpu_gives() {
    let values: Vec<u32> = (0..5000).map(|i| i * 7 % 13).collect();
    on_both(|on| {
        let mut scanned = on.upload(&values)?;
        let total = exclusive_scan(on, &mut scanned)?;
        Ok((on.download(&scanned)?, on.download(&total)?))
    });
    on_both(|on| {
        let words = on.upload(&values)?;
        let members = compact(on, &words)?;
        on.download(&members)
    });
    on_both(|on| {
        let keys = on.upload(&values)?;
        let rows = bucket::<u32, u32>(on, &keys, 13)?;
        Ok((on.download(rows.offsets())?, on.download(rows.items())?))
    });
}

#[test]
fn an_index_out_of_range_names_array_and_index() {
    let on = Device::emulated(false).unwrap();
    let offsets = on.upload(&[0u32, 2, 5]).unwrap();
    // The memory has room for more: bounds are lengths.
    let mut items = on.upload(&[3u32, 2, 1, 0, 4, 5, 6, 7]).unwrap();
    items.set_len(4);
    // SAFETY: none: the second bucket ends after the last item. The emulator finds it, and touches no memory outside
    // the array.
    let ran = unsafe { kernel::order_buckets::launch(&on, 2, &offsets, &mut items) };
    let text = ran.unwrap_err().to_string();
    assert!(text.contains("kernel order_buckets"), "{text}");
    assert!(
        text.contains("index 4 of items, which has 4 elements"),
        "{text}"
    );
    // The device continues to work.
    let mut items = on.upload(&[3u32, 2, 1, 0, 4]).unwrap();
    // SAFETY: the buckets' items exist.
    unsafe { kernel::order_buckets::launch(&on, 2, &offsets, &mut items) }.unwrap();
    assert_eq!(on.download(&items).unwrap(), [2, 3, 0, 1, 4]);
}

#[test]
fn races_and_unwritten_memory_are_found_on_request() {
    let on = Device::emulated(true).unwrap();
    let digits: Vec<u32> = (0..64).map(|i| i % 2).collect();
    let keys = on.upload(&digits).unwrap();
    let nothing = on.uninitialized(0).unwrap();
    // Both digits start at the same place.
    let starts = on.filled(16, 0).unwrap();
    let (mut moved_keys, mut moved) = (on.uninitialized(0).unwrap(), on.uninitialized(64).unwrap());
    // SAFETY: none: the starts are not scanned counts. The emulator finds it, and all places are in range.
    let ran = unsafe {
        kernel::move_by_digit::launch(
            &on,
            1,
            &keys,
            &nothing,
            &starts,
            &mut moved_keys,
            &mut moved,
            0,
            1,
        )
    };
    let text = ran.unwrap_err().to_string();
    assert!(text.contains(" races with "), "{text}");
    assert!(text.contains("of moved, which has 64 elements"), "{text}");

    let mut unwritten = on.uninitialized::<u32>(100).unwrap();
    let text = exclusive_scan(&on, &mut unwritten).unwrap_err().to_string();
    assert!(text.contains("were never written: index 0 of"), "{text}");
}
