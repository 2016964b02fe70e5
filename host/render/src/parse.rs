//! Values of options as people write them.

use std::ffi::OsStr;

use clap::builder::{EnumValueParser, PossibleValue, StringValueParser, TypedValueParser};
use glam::DVec3;

use super::{Color, Cut, View};

/// Colours: the words that help lists, and names of fields.
#[derive(Clone)]
pub(super) struct ColorParser;

impl TypedValueParser for ColorParser {
    type Value = Color;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Color, clap::Error> {
        let text = StringValueParser::new().parse_ref(command, argument, value)?;
        let Ok(color) = text.parse();
        Ok(color)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let words: Vec<PossibleValue> =
            EnumValueParser::<Color>::new().possible_values()?.collect();
        Some(Box::new(words.into_iter()))
    }
}

/// Two numbers in ascending order.
pub(super) fn range(text: &str) -> Result<[f64; 2], String> {
    match numbers(text)[..] {
        [low, high] if low < high && low.is_finite() && high.is_finite() => Ok([low, high]),
        _ => Err("is not LO,HI, finite numbers with LO < HI".into()),
    }
}

/// Azimuth and elevation.
pub(super) fn view(text: &str) -> Result<View, String> {
    match numbers(text)[..] {
        [azimuth, elevation] if azimuth.is_finite() && elevation.abs() <= 90.0 => {
            Ok(View { azimuth, elevation })
        }
        _ => Err("is not AZIMUTH,ELEVATION with ELEVATION from -90 to 90".into()),
    }
}

/// Numbers between commas; NaN for a part that is not a number.
fn numbers(text: &str) -> Vec<f64> {
    let parts = text.split(',');
    parts
        .map(|part| part.trim().parse().unwrap_or(f64::NAN))
        .collect()
}

/// The normal of a plane, and its product with the plane's points.
pub(super) fn cut(text: &str) -> Result<Cut, String> {
    let numbers = numbers(text);
    let (normal, offset) = match numbers[..] {
        [x, y, z] => (DVec3::new(x, y, z), None),
        [x, y, z, offset] => (DVec3::new(x, y, z), Some(offset)),
        _ => (DVec3::NAN, None),
    };
    if normal.is_finite() && normal != DVec3::ZERO && offset.is_none_or(f64::is_finite) {
        Ok(Cut { normal, offset })
    } else {
        Err("is not NX,NY,NZ or NX,NY,NZ,D with a direction that is not 0".into())
    }
}

/// Two corners.
pub(super) fn window(text: &str) -> Result<[f64; 4], String> {
    match numbers(text)[..] {
        [x0, y0, x1, y1]
            if x0 < x1 && y0 < y1 && [x0, y0, x1, y1].iter().all(|x| x.is_finite()) =>
        {
            Ok([x0, y0, x1, y1])
        }
        _ => Err("is not X0,Y0,X1,Y1, finite numbers with X0 < X1 and Y0 < Y1".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command, FromArgMatches};

    use super::*;
    use crate::Options;

    #[test]
    fn a_command_line_without_options_has_the_defaults() {
        let command = Options::augment_args(Command::new("options").no_binary_name(true));
        let matches = command.get_matches_from([""; 0]);
        let options = Options::from_arg_matches(&matches).expect("options");
        assert_eq!(options, Options::default());
    }

    #[test]
    fn a_word_that_is_no_colour_is_a_field() {
        let of = |text: &str| text.parse::<Color>().expect("any text");
        assert_eq!(of("area"), Color::Area);
        for name in ["Area", "velocity:2", "", "area:0"] {
            assert_eq!(of(name), Color::Field(name.to_owned()));
        }
    }

    #[test]
    fn ranges_are_two_numbers_in_order() {
        assert_eq!(range("-1e3, 2.5").unwrap(), [-1000.0, 2.5]);
        for text in ["", "1", "1,1", "2,1", "0,inf", "nan,1", "0,1,2", "a,b"] {
            assert!(range(text).is_err(), "{text}");
        }
    }

    #[test]
    fn views_are_two_angles() {
        let View { azimuth, elevation } = view("-30, 45.5").unwrap();
        assert_eq!([azimuth, elevation], [-30.0, 45.5]);
        for text in ["", "1", "1,2,3", "0,91", "0,-90.1", "nan,0", "inf,0", "x,0"] {
            assert!(view(text).is_err(), "{text}");
        }
    }

    #[test]
    fn cuts_are_a_direction_and_perhaps_a_place() {
        let plane = cut("1, 0,-2").unwrap();
        let normal = DVec3::new(1., 0., -2.);
        assert_eq!((plane.normal, plane.offset), (normal, None));
        assert_eq!(cut("0,0,1,0.5").unwrap().offset, Some(0.5));
        for text in [
            "",
            "1",
            "1,2",
            "0,0,0",
            "0,0,0,1",
            "1,0,0,x",
            "nan,0,1",
            "1,2,3,4,5",
        ] {
            assert!(cut(text).is_err(), "{text}");
        }
    }

    #[test]
    fn windows_are_four_numbers_in_order() {
        assert_eq!(window("-1,0, 2.5,1e1").unwrap(), [-1.0, 0.0, 2.5, 10.0]);
        for text in [
            "",
            "1,2,3",
            "0,0,1,1,1",
            "1,0,0,1",
            "0,0,nan,1",
            "0,0,1,inf",
            "a,0,1,1",
        ] {
            assert!(window(text).is_err(), "{text}");
        }
    }
}
