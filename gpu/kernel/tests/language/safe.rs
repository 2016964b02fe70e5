//! Kernels over an own index: their launches are safe functions.

use trioxide_kernel::launch::LaunchError;
use trioxide_kernel::safe::{
    Atomic, Group, In, Out, Own, OwnBlock, Parts, PerBlock, Safe, Scatter, Shared,
};
use trioxide_kernel::{Scalar, kernel, view};

use crate::common::Host;

trioxide_kernel::id! {
    /// A sample.
    pub struct Sample = "sample";
    /// A station, at which samples are taken.
    pub struct Station = "station";
}

/// Arrays over the samples.
#[derive(Group)]
pub struct Samples<'a> {
    pub values: In<'a, f64, Sample>,
    pub stations: In<'a, Station, Sample>,
}

/// The correction of a sample.
#[derive(Clone, Copy, PartialEq, Scalar)]
#[repr(u32)]
pub enum Correction {
    /// By its station's offset.
    Offset,
    /// Not at all.
    None,
}

/// Each sample's value with its station's offset; counts the samples of each station.
#[kernel(requires(offsets.len() == counts.len()), moves(corrected.bytes()))]
pub fn correct_samples(
    sample: Own<Sample>,
    samples: Samples,
    offsets: In<f64, Station>,
    correction: Correction,
    counts: Atomic<u32, Station>,
    corrected: Out<f64, Sample>,
) {
    let station = samples.stations.at(sample);
    counts.add(station, 1);
    let offset = match correction {
        Correction::Offset => offsets.at(station),
        Correction::None => 0.0,
    };
    corrected.set(sample, samples.values.at(sample) + offset);
}

/// Whether a sample is over `limit`; for the last sample, whether the one before it is.
#[kernel]
pub fn select_samples(
    sample: Own<Sample>,
    values: In<f64, Sample>,
    limit: f64,
    strict: bool,
) -> bool {
    let next = values.get(Sample::new(sample.get().index() + 1));
    let before = values.at(sample);
    (before > limit || !strict && before == limit) && next.is_none_or(|next| next >= 0.0)
}

struct Given {
    values: Vec<f64>,
    stations: Vec<Station>,
    offsets: Vec<f64>,
    correction: Correction,
    n: u32,
}

fn correct(given: &Given) -> Result<(Vec<f64>, Vec<u32>), LaunchError> {
    let on = Host::new();
    let (values, stations) = (on.upload(&given.values), on.upload(&given.stations));
    let offsets = on.upload(&given.offsets);
    let mut counts = on.upload(&vec![0u32; given.offsets.len()]);
    let mut corrected = on.upload(&vec![0.0; given.values.len()]);
    let samples = SamplesBuffers {
        values: &values,
        stations: &stations,
    };
    correct_samples::launch(
        &on,
        given.n,
        samples,
        &offsets,
        given.correction,
        &mut counts,
        &mut corrected,
    )?;
    Ok((on.download(&corrected), on.download(&counts)))
}

fn given() -> Given {
    Given {
        values: vec![1.0, 2.0, 3.0],
        stations: [1, 0, 1].map(Station::new).to_vec(),
        offsets: vec![10.0, 20.0],
        correction: Correction::Offset,
        n: 3,
    }
}

#[test]
fn a_safe_launch_gives_what_the_function_computes() {
    let (corrected, counts) = correct(&given()).unwrap();
    assert_eq!(corrected, [21.0, 12.0, 23.0]);
    assert_eq!(counts, [1, 2]);
    let uncorrected = Given {
        correction: Correction::None,
        ..given()
    };
    assert_eq!(correct(&uncorrected).unwrap().0, uncorrected.values);

    let on = Host::new();
    let values = on.upload(&[1.0, 5.0, -1.0, 5.0]);
    let mut bits = on.upload(&[trioxide_kernel::Bits::EMPTY]);
    select_samples::launch(&on, 4, &values, 5.0, false, &mut bits).unwrap();
    assert_eq!(on.download(bits.as_words()), [0b1000]);
}

#[test]
fn a_wrong_index_is_an_error_that_names_it() {
    let mut wrong = given();
    wrong.stations[2] = Station::new(7);
    assert_eq!(
        correct(&wrong).unwrap_err(),
        LaunchError::OutOfBounds {
            kernel: "correct_samples",
            array: "counts",
            index: 7,
            len: 2,
            place: None,
        }
    );
    assert_eq!(
        correct(&wrong).unwrap_err().to_string(),
        "kernel correct_samples: index 7 of array `counts`, which has 2 elements"
    );
}

#[test]
fn arrays_over_the_own_index_have_an_element_for_each() {
    let mut wrong = given();
    wrong.n = 4;
    assert_eq!(
        correct(&wrong).unwrap_err().to_string(),
        "kernel correct_samples: array `values` has 3 elements, but the launch has 4 indices"
    );
    // Stations are not samples: there may be fewer stations than indices.
    let mut fewer = given();
    fewer.stations.pop();
    assert_eq!(
        correct(&fewer).unwrap_err(),
        LaunchError::TooShort {
            kernel: "correct_samples",
            array: "stations",
            len: 2,
            n: 3,
            per: 1
        }
    );
}

/// Sums of 64 values each, and each value's share of its sum.
#[kernel(requires(shares.len() == values.len()))]
pub fn share_in_blocks(
    block: OwnBlock<64, (Shared<f64, 64>, Shared<u32, 1>)>,
    values: In<f64, Sample>,
    sums: PerBlock<f64>,
    positive: PerBlock<u32>,
    shares: Out<f64, Sample>,
) {
    let (partial, count) = block.shared();
    block.phase(|lane| {
        let own = block.element::<Sample>(lane);
        let value = values.get(own.get()).unwrap_or(0.0);
        partial.set(lane, lane.index(), value);
        if lane.index() == 0 {
            count.set(lane, 0, 0);
        }
    });
    block.phase(|lane| {
        if partial.at(lane, lane.index()) > 0.0 {
            count.add(lane, 0, 1);
        }
    });
    let mut half = 32;
    while half > 0 {
        block.phase(|lane| {
            let k = lane.index();
            if k < half {
                partial.set(lane, k, partial.at(lane, k) + partial.at(lane, k + half));
            }
        });
        half /= 2;
    }
    block.phase(|lane| {
        let own = block.element::<Sample>(lane);
        if own.index() < values.len() {
            shares.set(own, values.at(own) / partial.at(lane, 0));
        }
    });
    block.once(|_, own| positive.set(own, 1));
    // Another phase of the same lane.
    block.phase(|lane| {
        if lane.index() == 0 {
            count.set(lane, 0, count.at(lane, 0) + 1);
        }
    });
    block.phase(|lane| {
        if lane.index() == 63 {
            count.set(lane, 0, count.at(lane, 0) * 2);
        }
    });
    let doubled = block.lanes(|lane| count.at(lane, 0));
    let most = block.max(&doubled);
    let sum = block.sum(&block.lanes(|lane| match lane.index() {
        0 => partial.at(lane, 0),
        _ => 0.0,
    }));
    block.once(|_, own| {
        sums.set(own, sum);
        positive.set(own, positive.at(own) + most);
    });
}

/// Reads a place outside shared memory.
#[kernel]
pub fn leave_shared_memory(block: OwnBlock<32, Shared<u32, 32>>, first: u32, read: PerBlock<u32>) {
    let words = block.shared();
    block.phase(|lane| words.set(lane, lane.index(), 7));
    let found = block.lanes(|lane| words.at(lane, first + lane.index()));
    let most = block.max(&found);
    block.once(|_, own| read.set(own, most));
}

#[test]
fn blocks_have_safe_launches_too() {
    let on = Host::new();
    let values: Vec<f64> = (0..100).map(|i| f64::from(i % 7)).collect();
    let uploaded = on.upload(&values);
    let (mut sums, mut positive) = (on.upload(&[0.0; 2]), on.upload(&[0u32; 2]));
    let mut shares = on.upload(&[0.0; 100]);
    share_in_blocks::launch(&on, 2, &uploaded, &mut sums, &mut positive, &mut shares).unwrap();
    let expected: Vec<f64> = values.chunks(64).map(|tile| tile.iter().sum()).collect();
    assert_eq!(on.download(&sums), expected);
    let counts = values
        .chunks(64)
        .map(|tile| tile.iter().filter(|v| **v > 0.0).count() as u32);
    let counts: Vec<u32> = counts.map(|count| 1 + 2 * (count + 1)).collect();
    assert_eq!(on.download(&positive), counts);
    let of_sum = |i: usize| values[i] / expected[i / 64];
    assert_eq!(
        on.download(&shares),
        (0..100).map(of_sum).collect::<Vec<_>>()
    );
}

#[test]
fn blocks_leave_no_array() {
    let on = Host::new();
    let mut read = on.upload(&[0u32; 3]);
    leave_shared_memory::launch(&on, 3, 0, &mut read).unwrap();
    assert_eq!(on.download(&read), [7; 3]);
    let error = leave_shared_memory::launch(&on, 3, 1, &mut read).unwrap_err();
    assert_eq!(
        error.to_string(),
        "kernel leave_shared_memory: index 32 of array `shared`, which has 32 elements"
    );
    let error = leave_shared_memory::launch(&on, 4, 0, &mut read).unwrap_err();
    assert_eq!(
        error.to_string(),
        "kernel leave_shared_memory: array `read` has 3 elements, but the launch has 4 indices"
    );
    let error = leave_shared_memory::launch(&on, 1 << 27, 0, &mut read).unwrap_err();
    assert!(
        error.to_string().contains("array `read` has 3 elements"),
        "{error}"
    );
    // Elements of an array after the last block's.
    let uploaded = on.upload(&[1.0; 65]);
    let (mut sums, mut positive) = (on.upload(&[0.0; 2]), on.upload(&[0u32; 2]));
    let mut shares = on.upload(&[0.0; 64]);
    let error = share_in_blocks::launch(&on, 2, &uploaded, &mut sums, &mut positive, &mut shares);
    assert!(matches!(error, Err(LaunchError::Requirement { .. })));
}

/// The values of a sample's neighbours before and after it, and the place of each sample in an order.
#[kernel]
pub fn place_samples(
    place: Own<Station>,
    order: In<Sample, Station>,
    values: In<u32>,
    part: u32,
    pairs: Out<u32, Parts<Station, 2>>,
    places: Scatter<u32, Sample>,
) {
    let i = place.index();
    pairs.set(place.part(0), values.pair(2 * i)[0]);
    pairs.set(
        place.part(part),
        values.quad(4 * (i / 2))[(2 * i % 4 + 1) as usize],
    );
    places.set(order.at(place), i);
}

fn place(order: &[u32], pairs: usize, part: u32) -> Result<(Vec<u32>, Vec<u32>), LaunchError> {
    let on = Host::new();
    let order: Vec<Sample> = order.iter().map(|&i| Sample::new(i)).collect();
    let values: Vec<u32> = (10..10 + 2 * order.len() as u32).collect();
    let (uploaded, values) = (on.upload(&order), on.upload(&values));
    let mut found = on.upload(&vec![0u32; pairs]);
    let mut places = on.upload(&vec![0u32; order.len()]);
    let n = order.len() as u32;
    place_samples::launch(&on, n, &uploaded, &values, part, &mut found, &mut places)?;
    Ok((on.download(&found), on.download(&places)))
}

#[test]
fn parts_and_scattered_elements_are_written_where_they_belong() {
    let (pairs, places) = place(&[2, 0, 1], 6, 1).unwrap();
    assert_eq!(pairs, [10, 11, 12, 13, 14, 15]);
    assert_eq!(places, [1, 2, 0]);
}

#[test]
fn no_part_lies_behind_an_array_or_in_another_part() {
    let said = |result: Result<_, LaunchError>| result.unwrap_err().to_string();
    assert_eq!(
        said(place(&[2, 0, 1], 5, 1)),
        "kernel place_samples: array `pairs` has 5 elements, but the launch has 3 indices with 2 elements each"
    );
    // Part 2 of index 0 would be part 0 of index 1.
    assert_eq!(
        said(place(&[2, 0, 1], 6, 2)),
        "kernel place_samples: index 2 of array `part`, which has 2 elements"
    );
    assert_eq!(
        said(place(&[0, 3, 1], 6, 1)),
        "kernel place_samples: index 3 of array `places`, which has 3 elements"
    );
}

#[cfg(debug_assertions)]
#[test]
#[should_panic(expected = "write element 1 of array `places`")]
fn two_writers_of_a_scattered_element_are_found() {
    let _ = place(&[1, 1, 0], 6, 1);
}

/// The sum of `count` samples from `first` on.
#[kernel]
pub fn sum_samples(place: Own, samples: In<u32, Sample>, first: u32, count: u32, sums: Out<u32>) {
    let run = samples.run(Sample::new(first), count);
    let mut sum = 0;
    let mut i = 0;
    while i < count {
        sum += run.at(i);
        i += 1;
    }
    sums.set(place, sum);
}

#[test]
fn a_run_lies_within_its_array() {
    let on = Host::new();
    let samples = on.upload(&[1, 2, 4, 8]);
    let sum = |first: u32, count: u32| -> Result<u32, LaunchError> {
        let mut sums = on.upload(&[0]);
        sum_samples::launch(&on, 1, &samples, first, count, &mut sums)?;
        Ok(on.download(&sums)[0])
    };
    for (first, count, expected) in [(0, 4, 15), (1, 2, 6), (3, 1, 8), (4, 0, 0)] {
        assert_eq!(sum(first, count).unwrap(), expected, "{first} {count}");
    }
    let last = u32::MAX;
    for (first, count, index) in [(0, 5, 4), (3, 2, 4), (5, 0, 5), (1, last, last)] {
        let said = sum(first, count).unwrap_err().to_string();
        let expected = format!("index {index} of array `samples`, which has 4 elements");
        assert_eq!(said, format!("kernel sum_samples: {expected}"));
    }
}

/// [`correct_samples()`] with offsets, for stations that the launch promises to be in range.
#[kernel(requires(samples.values.len() == n, samples.stations.len() == n))]
pub fn correct_trusted(
    sample: Sample,
    samples: Samples,
    offsets: In<f64, Station>,
    corrected: view::Out<f64>,
) {
    // SAFETY: the launch's promise.
    let (samples, offsets) = unsafe { (samples.trusted(), offsets.trusted()) };
    let station = samples.stations.at(sample);
    corrected.set(sample, samples.values.at(sample) + offsets.at(station));
}

#[test]
fn trusted_views_read_the_same_elements() {
    let (on, given) = (Host::new(), given());
    let (values, stations) = (on.upload(&given.values), on.upload(&given.stations));
    let offsets = on.upload(&given.offsets);
    let mut corrected = on.upload(&[0.0; 3]);
    let samples = SamplesBuffers {
        values: &values,
        stations: &stations,
    };
    // SAFETY: each station has an offset.
    unsafe { correct_trusted::launch(&on, 3, samples, &offsets, &mut corrected) }.unwrap();
    assert_eq!(on.download(&corrected), correct(&given).unwrap().0);
}

/// Reads the own element of an array that the launch does not know.
#[kernel]
pub fn read_beside(i: Own, values: In<u32>, is_run: bool, read: Out<u32>) {
    let few = [7u32, 8];
    let beside = if is_run {
        values.run(0, 2)
    } else {
        In::from_slice(&few)
    };
    read.set(i, beside.at(i) + beside.at_all([i])[0]);
}

/// A launch does not know the length of a run or of a slice: the own index is compared too.
#[test]
fn an_own_index_is_compared_where_the_launch_does_not_know_the_array() {
    let on = Host::new();
    let values = on.upload(&[1u32, 2, 3]);
    for is_run in [false, true] {
        let mut read = on.upload(&[0u32; 3]);
        read_beside::launch(&on, 2, &values, is_run, &mut read).unwrap();
        let expected = if is_run { [2, 4, 0] } else { [14, 16, 0] };
        assert_eq!(on.download(&read), expected);
        let error = read_beside::launch(&on, 3, &values, is_run, &mut read).unwrap_err();
        assert!(matches!(
            error,
            LaunchError::OutOfBounds {
                index: 2,
                len: 2,
                ..
            }
        ));
    }
}
