//! Kernels over an own index: their launches are safe functions.

use trioxide_kernel::launch::LaunchError;
use trioxide_kernel::safe::{Atomic, Group, In, Out, Own};
use trioxide_kernel::{Scalar, kernel};

use crate::common::Host;

trioxide_kernel::id! {
    /// A sample.
    pub struct Sample = "sample";
    /// A station, at which samples are taken.
    pub struct Station = "station";
}

/// What is known of the samples.
#[derive(Group)]
pub struct Samples<'a> {
    pub values: In<'a, f64, Sample>,
    pub stations: In<'a, Station, Sample>,
}

/// How a sample is corrected.
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

/// Whether a sample is over `limit`; for the last one, whether its neighbour before is.
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
            len: 2
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
    // Stations are not samples: fewer of them will do, also than indices.
    let mut fewer = given();
    fewer.stations.pop();
    assert_eq!(
        correct(&fewer).unwrap_err(),
        LaunchError::TooShort {
            kernel: "correct_samples",
            array: "stations",
            len: 2,
            n: 3
        }
    );
}
