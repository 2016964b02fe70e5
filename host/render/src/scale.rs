//! Scales: from numbers to colours.

use super::color::{self, Rgb};
use super::ticks::{self, Ticks};
use super::{Colormap, Options};
use trioxide_mesh::{Error, Result, parallel};

/// Colours of a scale without steps of its own: with one for missing values, their numbers fit a byte.
const STEPS: usize = 252;

/// Colour of values that are no numbers.
pub const MISSING: Rgb = [196, 196, 196];

/// A scale of numbers, and the numbers of values that it does not reach.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    /// The quantity.
    pub title: String,
    pub range: [f64; 2],
    pub is_log: bool,
    /// Colours of equal parts of the range.
    pub palette: Vec<Rgb>,
    /// Values below and above the range.
    pub clipped: [usize; 2],
    /// Values that are no numbers.
    pub missing: usize,
}

/// The scale of a quantity where the options do not choose.
pub(super) struct Defaults {
    pub title: String,
    /// Its range; `None` for the range of the values.
    pub range: Option<[f64; 2]>,
    pub is_log: bool,
    pub colormap: Colormap,
    /// Number of colours, if the quantity has steps.
    pub steps: Option<usize>,
}

impl Defaults {
    pub fn new(title: impl Into<String>, colormap: Colormap) -> Defaults {
        Defaults {
            title: title.into(),
            range: None,
            is_log: false,
            colormap,
            steps: None,
        }
    }
}

impl Scale {
    /// The scale of these values.
    pub fn new(values: &[f64], options: &Options, defaults: Defaults) -> Result<Scale> {
        let Defaults { title, .. } = defaults;
        let is_log = options.log || defaults.is_log;
        let colormap = options.colormap.unwrap_or(defaults.colormap);
        let range = match options.range.or(defaults.range) {
            Some(range) => range,
            None => colormap.fitted(range_of(values, is_log).ok_or_else(|| {
                let kind = if is_log { "positive" } else { "finite" };
                Error::Argument(format!("{title} has no {kind} value to colour"))
            })?),
        };
        if !(range[0] <= range[1] && range.iter().all(|end| end.is_finite())) {
            return Err(Error::Argument(format!(
                "the range {} to {} has no numbers: give the smaller one first",
                range[0], range[1]
            )));
        }
        if is_log && range[0] <= 0.0 {
            return Err(Error::Argument(format!(
                "a logarithmic scale needs a range above 0, and {title} has the range {} to {}",
                range[0], range[1]
            )));
        }
        let [low, high] = range;
        Ok(Scale {
            title: if is_log {
                format!("{title} (log)")
            } else {
                title
            },
            range,
            is_log,
            palette: colormap.colors(defaults.steps.unwrap_or(STEPS)),
            clipped: [
                parallel::count(values.len(), |i| values[i] < low),
                parallel::count(values.len(), |i| values[i] > high),
            ],
            missing: parallel::count(values.len(), |i| values[i].is_nan()),
        })
    }

    /// A value's place on the scale, from 0 to 1; NaN for NaN.
    pub fn share(&self, value: f64) -> f64 {
        let [low, high] = self.range;
        let share = match self.is_log {
            true => {
                (libm::log2(value.max(low)) - libm::log2(low))
                    / (libm::log2(high) - libm::log2(low))
            }
            // Halves, since the whole span may be beyond a double.
            false => (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0).max(f64::MIN_POSITIVE),
        };
        match value.is_nan() {
            true => f64::NAN,
            // A range of one value.
            false if share.is_nan() => 0.0,
            false => share.clamp(0.0, 1.0),
        }
    }

    /// The number of a value's colour in [`Scale::colors`].
    pub fn class(&self, value: f64) -> u8 {
        let share = self.share(value);
        match share.is_nan() {
            true => self.palette.len() as u8,
            false => {
                ((share * self.palette.len() as f64) as usize).min(self.palette.len() - 1) as u8
            }
        }
    }

    /// The palette, followed by the colour of missing values.
    pub fn colors(&self) -> Vec<Rgb> {
        let missing = std::iter::once(MISSING);
        self.palette.iter().copied().chain(missing).collect()
    }

    pub fn color(&self, value: f64) -> Rgb {
        let class = usize::from(self.class(value));
        self.palette.get(class).copied().unwrap_or(MISSING)
    }

    /// Marks of the scale, `most` at most.
    pub fn ticks(&self, most: usize) -> Ticks {
        match self.is_log {
            true => ticks::logarithmic(self.range, most),
            false => ticks::linear(self.range, most),
        }
    }
}

/// The least and the largest value that a scale can show.
fn range_of(values: &[f64], is_log: bool) -> Option<[f64; 2]> {
    let none = [f64::INFINITY, f64::NEG_INFINITY];
    let join = |[low, high]: [f64; 2], [a, b]: [f64; 2]| [low.min(a), high.max(b)];
    let pieces = parallel::map_pieces(values.len(), parallel::GRAIN, |range| {
        let shown = values[range].iter().copied();
        let shown = shown.filter(|value| value.is_finite() && (!is_log || *value > 0.0));
        shown.fold(none, |bounds, value| join(bounds, [value, value]))
    });
    let range = pieces.into_iter().fold(none, join);
    (range[0] <= range[1]).then_some(range)
}

impl Colormap {
    /// Its colours in equal steps.
    pub(super) fn colors(self, steps: usize) -> Vec<Rgb> {
        let gradient = match self {
            Colormap::Light => return color::ramp(steps),
            Colormap::Viridis => colorous::VIRIDIS,
            Colormap::Magma => colorous::MAGMA,
            Colormap::Inferno => colorous::INFERNO,
            Colormap::Cividis => colorous::CIVIDIS,
            Colormap::BlueRed => colorous::RED_BLUE,
        };
        let color = |i| gradient.eval_rational(i, steps).as_tuple().into();
        match self {
            Colormap::BlueRed => (0..steps).rev().map(color).collect(),
            _ => (0..steps).map(color).collect(),
        }
    }

    /// A range of values, made symmetric around 0 if the map is diverging and the values have both signs.
    fn fitted(self, [low, high]: [f64; 2]) -> [f64; 2] {
        let most = high.max(-low);
        match self == Colormap::BlueRed && low < 0.0 && high > 0.0 {
            true => [-most, most],
            false => [low, high],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(values: &[f64], options: &Options) -> Result<Scale> {
        Scale::new(values, options, Defaults::new("u", Colormap::Viridis))
    }

    #[test]
    fn values_have_places_between_the_ends() {
        let all = scale(&[-3.0, 1.0, -1.0, f64::NAN], &Options::default()).expect("a scale");
        assert_eq!(
            (all.range, all.missing, all.clipped),
            ([-3.0, 1.0], 1, [0, 0])
        );
        let last = STEPS as u8 - 1;
        let classes = [-3.0, 1.0, -1.0, f64::NAN, -9.0, f64::INFINITY].map(|x| all.class(x));
        assert_eq!(classes, [0, last, STEPS as u8 / 2, STEPS as u8, 0, last]);
        assert_eq!(all.colors()[STEPS], MISSING);
        assert_eq!(all.color(f64::NAN), MISSING);
        let wide = scale(&[f64::MIN, f64::MAX], &Options::default()).expect("a scale");
        assert_eq!(
            [f64::MIN, f64::MAX, 0.0].map(|x| wide.class(x)),
            [0, last, STEPS as u8 / 2]
        );
        let equal = scale(&[7.0; 3], &Options::default()).expect("a scale");
        assert_eq!(equal.class(7.0), 0);
        assert!(scale(&[f64::NAN, f64::INFINITY], &Options::default()).is_err());
    }

    #[test]
    fn options_choose_range_logarithm_and_colours() {
        let options = Options {
            range: Some([0.0, 2.0]),
            ..Options::default()
        };
        let clipped = scale(&[-1.0, 0.5, 3.0, 4.0, f64::NEG_INFINITY], &options).expect("a scale");
        assert_eq!((clipped.range, clipped.clipped), ([0.0, 2.0], [2, 2]));
        let log = Options {
            log: true,
            ..Options::default()
        };
        let decades = scale(&[0.0, 1e-2, 1.0, 1e2], &log).expect("a scale");
        assert_eq!((decades.range, decades.clipped), ([1e-2, 1e2], [1, 0]));
        assert_eq!(decades.share(1.0), 0.5);
        assert_eq!((decades.class(0.0), decades.class(-1.0)), (0, 0));
        assert!(scale(&[0.0, -1.0], &log).is_err());
        let below = Options {
            range: options.range,
            ..log
        };
        let message = scale(&[1.0], &below).unwrap_err().to_string();
        assert!(message.contains("range above 0"), "{message}");
        let diverging = Options {
            colormap: Some(Colormap::BlueRed),
            ..Options::default()
        };
        assert_eq!(
            scale(&[-1.0, 4.0], &diverging).expect("a scale").range,
            [-4.0, 4.0]
        );
        assert_eq!(
            scale(&[1.0, 4.0], &diverging).expect("a scale").range,
            [1.0, 4.0]
        );
    }

    #[test]
    fn maps_go_from_blue_to_red_and_from_dark_to_light() {
        let light =
            |[r, g, b]: Rgb| 0.2126 * f64::from(r) + 0.7152 * f64::from(g) + 0.0722 * f64::from(b);
        for map in [
            Colormap::Viridis,
            Colormap::Magma,
            Colormap::Inferno,
            Colormap::Cividis,
        ] {
            let colors = map.colors(STEPS);
            assert!(
                colors
                    .windows(2)
                    .all(|pair| light(pair[1]) > light(pair[0]) - 1.0),
                "{map:?}"
            );
            assert!(!colors.contains(&MISSING), "{map:?}");
        }
        let both = Colormap::BlueRed.colors(3);
        assert!(both[0][2] > both[0][0] && both[2][0] > both[2][2] && light(both[1]) > 240.0);
        assert_eq!(Colormap::Light.colors(9), color::ramp(9));
    }
}
