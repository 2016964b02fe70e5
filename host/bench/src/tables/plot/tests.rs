use super::*;

fn curves() -> Plot {
    Plot::log_log("id", "A title", "vertices", "milliseconds")
        .with(Series::line("paper", vec![(1e3, 2.0), (1e6, 500.0)]))
        .with(Series::marked("ours", vec![(1e3, 0.1), (1e6, 40.0)]))
        .with(Series::dashed("floor", vec![(1e3, 0.01), (1e6, 10.0)]))
        .with(Series::marked("nothing", Vec::new()))
}

fn stages() -> Plot {
    let parts = |scale: f64| {
        vec![
            ("label".to_owned(), scale),
            ("find".to_owned(), 2.0 * scale),
        ]
    };
    let bars = vec![Bar::new("ours", parts(0.1)), Bar::new("paper", parts(30.0))];
    Plot::bars("bars", "Stages", "milliseconds", bars)
}

/// Pixels of a part of the picture that are neither white nor grey.
fn ink(png: &[u8], columns: std::ops::Range<u32>, rows: std::ops::Range<u32>) -> usize {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png))
        .read_info()
        .unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    assert_eq!((reader.info().width, reader.info().height), SIZE);
    rows.flat_map(|y| columns.clone().map(move |x| (x, y)))
        .filter(|&(x, y)| {
            let i = ((y * SIZE.0 + x) * 3) as usize;
            pixels[i..i + 3].iter().any(|&value| value < 160)
        })
        .count()
}

#[test]
fn an_svg_has_its_texts_and_curves() {
    let text = curves().svg().unwrap();
    for word in [
        "A title",
        "vertices",
        "milliseconds",
        "paper",
        "ours",
        "floor",
        "100k",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert!(!text.contains("nothing"));
    assert!(text.matches("<polyline").count() >= 2);
    let text = stages().svg().unwrap();
    for word in [
        "Stages",
        "ours",
        "paper",
        "label",
        "find",
        "90 ms",
        "% of the time",
    ] {
        assert!(text.contains(word) || word == "{word}: {text}");
    }
}

#[test]
fn a_png_has_letters_and_curves() {
    for plot in [curves(), stages()] {
        let png = plot.png().unwrap();
        assert!(ink(&png, 10..400, 4..30) > 100, "no title");
        assert!(
            ink(&png, SIZE.0 - LEGEND + 42..SIZE.0, TITLE..SIZE.1) > 100,
            "no legend"
        );
        assert!(
            ink(&png, 100..SIZE.0 - LEGEND - 20, TITLE + 20..SIZE.1 - 70) > 500,
            "no curve"
        );
    }
}

#[test]
fn a_plot_without_points_says_so() {
    let plot = Plot::log_linear("id", "Empty", "x", "y");
    assert!(plot.svg().unwrap().contains("no data"));
}

#[test]
fn numbers_are_short() {
    let texts = [
        0.0, 0.001, 0.05, 0.25, 1.0, 1.5, 42.0, 250.0, 1000.0, 1.5e6, 1e8,
    ]
    .map(short);
    assert_eq!(
        texts,
        [
            "0", "0.001", "0.05", "0.25", "1", "1.5", "42", "250", "1k", "1.5M", "100M"
        ]
    );
}

#[test]
fn logarithmic_axes_have_few_labels() {
    let texts = [1.0, 2.0, 3.0, 5e4, 9e4, 1e5, 0.2].map(round_only);
    assert_eq!(texts, ["1", "2", "", "50k", "", "100k", "0.2"]);
}

#[test]
fn long_titles_are_wrapped() {
    assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
    assert_eq!(wrapped("", 7), [""]);
}
