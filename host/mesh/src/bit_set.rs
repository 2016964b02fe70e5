//! Bit sets in the devices' format: 32 members per word, the lowest bit first.

use crate::parallel;

/// The set of the indices whose flag is true.
pub fn pack(flags: impl IntoIterator<Item = bool>) -> Vec<u32> {
    let mut words = Vec::new();
    for (i, flag) in flags.into_iter().enumerate() {
        if i % 32 == 0 {
            words.push(0);
        }
        words[i / 32] |= u32::from(flag) << (i % 32);
    }
    words
}

/// As [`pack`], on all threads.
pub fn pack_list(flags: &[bool]) -> Vec<u32> {
    parallel::collect(flags.len().div_ceil(32), |w| {
        let of_word = flags[32 * w..].iter().take(32).rev();
        of_word.fold(0, |word, &flag| word << 1 | u32::from(flag))
    })
}

/// Whether `i` is a member.
///
/// # Panics
/// When `words` has no word for `i`.
pub fn contains(words: &[u32], i: usize) -> bool {
    words[i / 32] >> (i % 32) & 1 != 0
}

/// The members of a set, ascending.
pub fn members(words: &[u32]) -> impl Iterator<Item = u32> {
    let members_of = |(w, &word): (usize, &u32)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1);
            (bit < 32).then_some(32 * w as u32 + bit)
        })
    };
    words.iter().enumerate().flat_map(members_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_those_that_were_packed() {
        assert_eq!(pack([]), [0; 0]);
        let words = pack((0..70).map(|i| [0, 31, 32, 69].contains(&i)));
        assert_eq!(words, [1 << 31 | 1, 1, 1 << 5]);
        assert!(members(&words).eq([0, 31, 32, 69]));
        assert!((0..96).all(|i| contains(&words, i) == [0, 31, 32, 69].contains(&i)));
        let flags: Vec<bool> = (0..70).map(|i| [0, 31, 32, 69].contains(&i)).collect();
        assert_eq!(pack_list(&flags), words);
        assert_eq!(pack_list(&[]), [0; 0]);
    }
}
