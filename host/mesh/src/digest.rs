//! Digests of arrays, for snapshots and for comparing runs.

use bytemuck::NoUninit;
use xxhash_rust::xxh3::xxh3_128;

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

#[cfg(test)]
mod tests {
    use super::digest;

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
