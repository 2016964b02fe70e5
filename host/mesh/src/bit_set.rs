//! Bit sets as devices hold them: 32 members to a word, the lowest bit first.

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

/// The members of a set, ascending.
pub fn members(words: &[u32]) -> impl Iterator<Item = u32> {
    let members_of = |(w, &word): (usize, &u32)| {
        (0..32)
            .filter(move |bit| word >> bit & 1 != 0)
            .map(move |bit| 32 * w as u32 + bit)
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
    }
}
