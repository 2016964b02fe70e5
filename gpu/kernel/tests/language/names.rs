//! Kernels, parameters and arrays have the names that their author chooses.

use trioxide_kernel::{Block, In, Out, kernel};

use crate::common::Host;

/// Every name that the macro could use for itself.
#[kernel(requires(words.len() == on.len(), n.len() == 2), moves(launch.bytes() + moves as usize))]
#[allow(clippy::just_underscores_and_digits)]
pub fn every_name(
    range: u32,
    i: u32,
    n: In<u32>,
    on: In<u32>,
    block: In<u32>,
    bits: In<u32>,
    words: In<u32>,
    broken: In<u32>,
    launch: In<u32>,
    moves: u32,
    condition: u32,
    arguments: u32,
    calls: u32,
    flags: u32,
    p0: u32,
    this: u32,
    r#type: u32,
    values: Out<u32>,
) {
    let arrays = [n, on, block, bits, words, broken, launch];
    let numbers = [
        i, moves, condition, arguments, calls, flags, p0, this, r#type,
    ];
    let sum = arrays.map(|array| array.at(range)).iter().sum::<u32>();
    values.set(range, 1000 * sum + numbers.iter().sum::<u32>());
}

#[kernel]
pub fn names_of_bits(
    words: u32,
    i: u32,
    n: u32,
    bits: In<u32>,
    flags: u32,
    bits_0: u32,
) -> (bool, bool) {
    let x = words + i + n + bits.at(0u32) + flags + bits_0;
    (x.is_multiple_of(2), x.is_multiple_of(3))
}

#[kernel(requires(n > 0))]
pub fn names_of_blocks(i: &Block<32>, n: u32, block: Out<u32>, lanes: u32) {
    i.phase(|lane| block.set(32 * i.index() + lane.index(), n + lanes + lane.index()));
}

/// A kernel may be called `launch`.
#[kernel]
pub fn launch(launch: u32, kernel: Out<u32>) {
    kernel.set(launch, 7);
}

#[test]
fn names_are_the_authors() {
    let on = Host::new();
    let array = on.upload(&[1u32, 2]);
    let mut values = on.upload(&[0u32; 2]);
    let launched = unsafe {
        // SAFETY: indices are below 2.
        every_name::launch(
            &on,
            2,
            1,
            &array,
            &array,
            &array,
            &array,
            &array,
            &array,
            &array,
            2,
            3,
            4,
            5,
            6,
            7,
            8,
            9,
            &mut values,
        )
    };
    launched.unwrap();
    assert_eq!(on.download(&values), [7045, 14045]);
    let (arrays, moves) = on.last.take().unwrap();
    assert_eq!(arrays[0].name, "n");
    assert_eq!(moves.unwrap().bytes, 8 + 2);

    let (mut even, mut third) = (on.upload(&[0u32]), on.upload(&[0u32]));
    // SAFETY: one element is read; a word is written.
    unsafe { names_of_bits::launch(&on, 7, 0, 0, &array, 0, 0, &mut even, &mut third) }.unwrap();
    assert_eq!(on.download(&even), [0b101_0101 << 1 & 0x7F]);
    assert_eq!(on.download(&third), [0b10_0100]);

    let mut written = on.upload(&[0u32; 64]);
    // SAFETY: each lane writes its own element.
    unsafe { names_of_blocks::launch(&on, 2, 5, &mut written, 6) }.unwrap();
    assert_eq!(on.download(&written)[63], 5 + 6 + 31);
    // SAFETY: as above. The condition is about the parameter `n`.
    let error = unsafe { names_of_blocks::launch(&on, 2, 0, &mut written, 6) }.unwrap_err();
    assert!(error.to_string().contains("requires n > 0"));

    let mut seven = on.upload(&[0u32; 3]);
    // SAFETY: each index writes its own element.
    unsafe { launch::launch(&on, 3, &mut seven) }.unwrap();
    assert_eq!(on.download(&seven), [7, 7, 7]);
}
