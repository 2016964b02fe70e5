//! Copies between host and device, beside other work and alone: the downloaded bytes equal the uploaded ones.

use super::{Case, Outcome, equal};
use trioxide::device::Device;

/// Bytes of the pieces that large copies go in.
const PIECE: usize = 4 << 20;

/// The cases of copies.
pub fn cases() -> Vec<Case> {
    vec![
        Case::new("copies of any size", |on| {
            let sizes = [
                0,
                1,
                PIECE - 1,
                PIECE,
                PIECE + 1,
                2 * PIECE,
                19 * PIECE + 13,
            ];
            for (seed, bytes) in sizes.into_iter().enumerate() {
                let sent = bytes_of(bytes, seed);
                arrived(on, "upload and download", &sent, |on| {
                    on.download(&on.upload(&sent)?)
                })?;
            }
            Ok(())
        }),
        Case::new("copies beside work", |on| {
            for bytes in [100, 3 * PIECE + 5, 20 * PIECE] {
                let [first, second] = [1, 2].map(|seed| bytes_of(bytes, seed));
                // Work that copies too, as much, and whose buffers come and go.
                let round_trip = |on: &Device| on.download(&on.upload(&second)?);
                let (there, back) = on.upload_beside(&first, || round_trip(on))?;
                equal("copied beside an upload", &back, &second)?;
                arrived(on, "upload beside work", &first, |on| on.download(&there))?;
                let (back, also) = on.download_beside(&there, || round_trip(on))?;
                equal("download beside work", &back, &first)?;
                equal("copied beside a download", &also, &second)?;
            }
            Ok(())
        }),
        Case::new("an error of work beside a copy is the copy's", |on| {
            let data = bytes_of(3 * PIECE, 1);
            let fail = || Err::<(), _>(trioxide::Error::Argument("as planned".to_owned()));
            let there = on.upload(&data)?;
            let errors = [
                on.upload_beside(&data, fail).err(),
                on.download_beside(&there, fail).err(),
            ];
            for error in errors {
                let text = error.map(|error| error.to_string());
                equal("error", &[text], &[Some("as planned".to_owned())])?;
            }
            arrived(on, "a copy after errors", &data, |on| on.download(&there))
        }),
    ]
}

fn arrived(
    on: &Device,
    what: &str,
    sent: &[u8],
    copy: impl FnOnce(&Device) -> trioxide::Result<Vec<u8>>,
) -> Outcome {
    equal(what, &copy(on)?, sent)
}

/// Numbers that repeat after a prime number of bytes, so that no two pieces are alike.
fn bytes_of(count: usize, seed: usize) -> Vec<u8> {
    const PERIOD: usize = 65_521;
    let byte = |i: usize| ((i + seed).wrapping_mul(0x9E37_79B9) >> 13) as u8;
    let period: Vec<u8> = (0..PERIOD).map(byte).collect();
    let mut bytes = period.repeat(count.div_ceil(PERIOD));
    bytes.truncate(count);
    bytes
}
