use gpu::ordered::{from_ordered_bits, ordered_bits};

#[test]
fn ordered_bits_compare_as_numbers() {
    let numbers = [
        f64::NEG_INFINITY,
        -2.5,
        -1e-300,
        -0.0,
        0.0,
        1e-300,
        3.0,
        f64::INFINITY,
    ];
    assert!(numbers.map(ordered_bits).is_sorted());
    for x in numbers {
        assert_eq!(from_ordered_bits(ordered_bits(x)).to_bits(), x.to_bits());
    }
}
