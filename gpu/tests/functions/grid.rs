use gpu::grid::{reciprocal, row_of};

#[test]
fn rows_are_quotients() {
    let widths = (2..2000).chain([65_535, 65_536, 65_537, 1 << 31, u32::MAX - 1, u32::MAX]);
    for width in widths {
        let multiples = [1, 2, 3, 1000, u32::MAX / width].map(|k| width.saturating_mul(k));
        for i in multiples
            .into_iter()
            .flat_map(|i| [i - 1, i, i.saturating_add(1)])
            .chain([0, u32::MAX])
        {
            assert_eq!(row_of(i, reciprocal(width)), i / width, "{i} / {width}");
        }
    }
    assert_eq!(row_of(0, reciprocal(1)), 0);
}
