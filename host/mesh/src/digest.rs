//! Digests of arrays, for snapshots and for comparing runs.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytemuck::NoUninit;
use xxhash_rust::xxh3::xxh3_128;

use crate::parallel;
use crate::random::mix;

/// The 128-bit XXH3 hash of the bytes of `values`, little-endian, in 32 hexadecimal digits.
///
/// It distinguishes all bits (so 0.0 and -0.0 differ); it is not cryptographic.
pub fn digest<T: NoUninit>(values: &[T]) -> String {
    const {
        assert!(
            cfg!(target_endian = "little"),
            "digests are defined on little-endian bytes"
        )
    };
    format!("{:032x}", xxh3_128(bytemuck::cast_slice(values)))
}

/// A 64-bit hash of a polygon: its smallest half-edge, which gives its place among all polygons, and its vertices from
/// there on.
pub fn of_polygon(half_edge: u64, vertices: impl IntoIterator<Item = u64>) -> u64 {
    // The golden ratio, as in SplitMix64: 0 does not hash to 0.
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut hash = mix(half_edge.wrapping_add(STEP));
    let mut length = 0_u64;
    for vertex in vertices {
        hash = mix(hash.wrapping_add(STEP) ^ vertex);
        length += 1;
    }
    mix(hash.wrapping_add(STEP) ^ !length)
}

/// The digest of `n` polygons, each with its [hash](of_polygon): the sum. So ranks that hold some of the polygons can
/// add their digests. The sum does not depend on the order: the hashes contain each polygon's place.
pub fn of_polygons(n: usize, hash: impl Fn(usize) -> u64 + Sync) -> u64 {
    let sum = AtomicU64::new(0);
    parallel::for_pieces(n, parallel::GRAIN, |range| {
        let here = range.fold(0_u64, |sum, i| sum.wrapping_add(hash(i)));
        sum.fetch_add(here, Relaxed);
    });
    sum.into_inner()
}

#[cfg(test)]
mod tests {
    use super::{digest, of_polygon, of_polygons};

    #[test]
    fn polygons_that_differ_have_other_hashes() {
        let lists: [(u64, &[u64]); 8] = [
            (0, &[]),
            (0, &[0]),
            (0, &[0, 0]),
            (1, &[0]),
            (0, &[1, 2, 3]),
            (0, &[1, 3, 2]),
            (3, &[1, 2, 3]),
            (0, &[1 << 32 | 1, 2, 3]),
        ];
        let hash = |(half_edge, vertices): (u64, &[u64])| of_polygon(half_edge, vertices.to_vec());
        let mut hashes = lists.map(hash).to_vec();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), lists.len());
        assert!(hashes[0] != 0);
    }

    #[test]
    fn a_digest_of_polygons_is_the_sum_of_its_parts() {
        let hash = |i: usize| of_polygon(3 * i as u64, [i as u64, 7]);
        let parts = of_polygons(6000, hash).wrapping_add(of_polygons(4000, |i| hash(6000 + i)));
        assert_eq!(of_polygons(10_000, hash), parts);
        let swapped = |i: usize| of_polygon(3 * i as u64, [(i ^ 1) as u64, 7]);
        assert_ne!(of_polygons(10_000, hash), of_polygons(10_000, swapped));
    }

    #[test]
    fn is_xxh3() {
        // Test vectors of the reference implementation (xxHash 0.8).
        assert_eq!(digest::<u8>(&[]), "99aa06d3014798d86001c324468d497f");
        assert_eq!(digest(b"a"), "a96faf705af16834e6c632b61e964e1f");
    }

    #[test]
    fn tells_arrays_apart() {
        assert_eq!(digest(&[1u32, 2]), digest(&[[1u32], [2]]));
        assert_ne!(digest(&[1u32, 2]), digest(&[2u32, 1]));
        assert_ne!(digest(&[0.0f64]), digest(&[-0.0f64]));
    }
}
