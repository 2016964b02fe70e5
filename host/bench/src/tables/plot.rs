//! Plots, as SVG and as PNG. The font of the PNG is DejaVu Sans, within the program: nothing of the system is needed.

mod bars;
#[cfg(test)]
mod tests;

use std::sync::Once;

use plotters::coord::Shift;
use plotters::coord::ranged1d::ValueFormatter;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, register_font};

use super::results::{Run, Stage};
use bars::draw_bars;
use xtask::Error;

const SIZE: (u32, u32) = (960, 560);
/// Width of the legend.
const LEGEND: u32 = 290;
const TITLE: u32 = 56;
/// Letters of a title's line.
const TITLE_LETTERS: usize = 100;
const FONT: &str = "sans-serif";
const GREY: RGBColor = RGBColor(90, 90, 90);
/// Colours that the colour-blind can distinguish (Okabe and Ito's), and two more.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(120, 90, 60),
    RGBColor(60, 60, 60),
];
/// Ratio of two bars from which on bars are drawn as shares.
const TOO_DIFFERENT: f64 = 8.0;

/// A plot.
#[derive(Clone, Debug)]
pub(crate) struct Plot {
    /// Name of its files: letters, digits and hyphens.
    pub(crate) id: String,
    pub(crate) title: String,
    y: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Lines {
        x: String,
        log_y: bool,
        series: Vec<Series>,
    },
    Bars(Vec<Bar>),
}

/// A curve.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    name: String,
    points: Vec<(f64, f64)>,
    look: Look,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Look {
    /// A paper's: thin, with crosses.
    Line,
    /// Ours: thick, with dots.
    Marked,
    /// A floor.
    Dashed,
}

impl Series {
    fn new(name: &str, mut points: Vec<(f64, f64)>, look: Look) -> Self {
        // Logarithms of both are taken.
        points.retain(|&(x, y)| x > 0.0 && y > 0.0);
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self {
            name: name.to_owned(),
            points,
            look,
        }
    }

    /// A paper's curve.
    pub(crate) fn line(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, points, Look::Line)
    }

    /// Our curve.
    pub(crate) fn marked(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, points, Look::Marked)
    }

    /// A floor.
    pub(crate) fn dashed(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, points, Look::Dashed)
    }
}

/// A bar of parts, one on the other.
#[derive(Clone, Debug)]
pub(crate) struct Bar {
    name: String,
    parts: Vec<(String, f64)>,
}

impl Bar {
    pub(crate) fn new(name: &str, parts: Vec<(String, f64)>) -> Self {
        Self {
            name: name.to_owned(),
            parts,
        }
    }

    fn total(&self) -> f64 {
        self.parts.iter().map(|(_, value)| value).sum()
    }
}

/// Times and floors of a stage over the runs.
pub(crate) struct Curve {
    pub(crate) times: Vec<(f64, f64)>,
    pub(crate) floors: Vec<(f64, f64)>,
}

/// A stage by the number of vertices.
pub(crate) fn by_size(runs: &[&Run], stage: impl Fn(&Run) -> Option<Stage>) -> Curve {
    by(
        runs,
        |run| run.count("vertices").unwrap_or(run.n() as f64),
        stage,
    )
}

/// All stages of each of `pipelines`, with its name and its floor, by the number of vertices of grids.
pub(crate) fn of_grids(id: &str, title: &str, runs: &[Run], pipelines: &[(&str, &str)]) -> Plot {
    let grids: Vec<&Run> = runs
        .iter()
        .filter(|run| run.parameter("mesh") == "grid")
        .collect();
    let mut plot = Plot::log_log(id, title, "vertices", "milliseconds");
    for (pipeline, name) in pipelines {
        let curve = by_size(&grids, |run| run.stage(pipeline, "all stages"));
        plot = plot
            .with(Series::marked(name, curve.times))
            .with(Series::dashed(&format!("floor, {name}"), curve.floors));
    }
    plot
}

/// A stage over the values of `x`.
pub(crate) fn by(
    runs: &[&Run],
    x: impl Fn(&Run) -> f64,
    stage: impl Fn(&Run) -> Option<Stage>,
) -> Curve {
    let mut curve = Curve {
        times: Vec::new(),
        floors: Vec::new(),
    };
    for run in runs {
        if let Some(stage) = stage(run) {
            curve.times.push((x(run), stage.median));
            curve
                .floors
                .extend(stage.floor.map(|floor| (x(run), floor)));
        }
    }
    curve
}

impl Plot {
    fn lines(id: &str, title: &str, x: &str, y: &str, log_y: bool) -> Self {
        Self {
            id: id.to_owned(),
            title: title.to_owned(),
            y: y.to_owned(),
            kind: Kind::Lines {
                x: x.to_owned(),
                log_y,
                series: Vec::new(),
            },
        }
    }

    /// Both axes logarithmic.
    pub(crate) fn log_log(id: &str, title: &str, x: &str, y: &str) -> Self {
        Self::lines(id, title, x, y, true)
    }

    /// `x` logarithmic, `y` from 0.
    pub(crate) fn log_linear(id: &str, title: &str, x: &str, y: &str) -> Self {
        Self::lines(id, title, x, y, false)
    }

    /// Bars of parts.
    pub(crate) fn bars(id: &str, title: &str, y: &str, bars: Vec<Bar>) -> Self {
        Self {
            id: id.to_owned(),
            title: title.to_owned(),
            y: y.to_owned(),
            kind: Kind::Bars(bars),
        }
    }

    /// With a curve more; one without points is left out.
    pub(crate) fn with(mut self, curve: Series) -> Self {
        if let Kind::Lines { series, .. } = &mut self.kind
            && !curve.points.is_empty()
        {
            series.push(curve);
        }
        self
    }

    /// The plot as an SVG document.
    pub(crate) fn svg(&self) -> Result<String, Error> {
        use_font();
        let mut text = String::new();
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        self.draw(&area)?;
        drop(area);
        Ok(text)
    }

    /// The plot as a PNG file.
    pub(crate) fn png(&self) -> Result<Vec<u8>, Error> {
        use_font();
        let (width, height) = SIZE;
        let mut pixels = vec![0; (width * height * 3) as usize];
        let area = BitMapBackend::with_buffer(&mut pixels, SIZE).into_drawing_area();
        self.draw(&area)?;
        drop(area);
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.write_header()?.write_image_data(&pixels)?;
        Ok(file)
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), Error>
    where
        B::ErrorType: 'static,
    {
        area.fill(&WHITE)?;
        let (title, rest) = area.split_vertically(TITLE);
        for (i, line) in wrapped(&self.title, TITLE_LETTERS).iter().enumerate() {
            let style = TextStyle::from((FONT, 17).into_font());
            title.draw(&Text::new(line.clone(), (14, 8 + 22 * i as i32), style))?;
        }
        let (chart, legend) = rest.split_horizontally(SIZE.0 - LEGEND);
        match &self.kind {
            Kind::Lines { x, log_y, series } => {
                draw_legend(
                    &legend,
                    series
                        .iter()
                        .enumerate()
                        .map(|(i, series)| (series.name.as_str(), i, Some(series.look))),
                )?;
                draw_lines(&chart, x, &self.y, *log_y, series)?;
            }
            Kind::Bars(bars) => draw_bars(&chart, &legend, &self.y, bars)?,
        }
        area.present()?;
        Ok(())
    }
}

/// Registers the font with plotters, once.
fn use_font() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for style in [FontStyle::Normal, FontStyle::Bold] {
            // It refuses only files that are no font, and this is one.
            let _ = register_font(FONT, style, dejavu::sans::regular());
        }
    });
}

/// Lines of at most `letters` letters.
fn wrapped(text: &str, letters: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("one at least");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > letters {
            lines.push(word.to_owned());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

fn colour(i: usize) -> RGBColor {
    COLOURS[i % COLOURS.len()]
}

/// Names beside lines, or beside patches where the entry is no line.
fn draw_legend<'a, B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    entries: impl Iterator<Item = (&'a str, usize, Option<Look>)>,
) -> Result<(), Error>
where
    B::ErrorType: 'static,
{
    let mut y = 24;
    for (name, i, look) in entries {
        let colour = colour(i);
        match look {
            None => area.draw(&Rectangle::new([(8, y - 6), (30, y + 6)], colour.filled()))?,
            Some(Look::Dashed) => {
                for x in [8, 18, 28] {
                    area.draw(&PathElement::new([(x, y), (x + 6, y)], colour))?;
                }
            }
            Some(Look::Line) => {
                area.draw(&PathElement::new([(8, y), (34, y)], colour))?;
                area.draw(&Cross::new((21, y), 3, colour))?;
            }
            Some(Look::Marked) => {
                area.draw(&PathElement::new([(8, y), (34, y)], colour.stroke_width(2)))?;
                area.draw(&Circle::new((21, y), 4, colour.filled()))?;
            }
        }
        for line in wrapped(name, 32) {
            let style =
                TextStyle::from((FONT, 13).into_font()).pos(Pos::new(HPos::Left, VPos::Center));
            area.draw(&Text::new(line, (42, y), style))?;
            y += 17;
        }
        y += 6;
    }
    Ok(())
}

/// 1500 as 1.5k.
fn short(value: f64) -> String {
    let (scaled, unit) = match value.abs() {
        x if x >= 1e9 => (value / 1e9, "G"),
        x if x >= 1e6 => (value / 1e6, "M"),
        x if x >= 1e3 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    // Three digits, without zeros at the end.
    let digits = match scaled.abs() {
        0.0 => 0,
        x => (2 - x.log10().floor() as i32).max(0) as usize,
    };
    let text = format!("{scaled:.digits$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    format!("{text}{unit}")
}

/// A label of a logarithmic axis: of 1, 2 and 5 times a power of ten, where others would run into each other.
fn round_only(value: f64) -> String {
    let digits = value / 10f64.powf(value.log10().floor());
    let is_round = [1.0, 2.0, 5.0, 10.0]
        .iter()
        .any(|round| (digits - round).abs() < 1e-6);
    if is_round {
        short(value)
    } else {
        String::new()
    }
}

fn draw_lines<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    x: &str,
    y: &str,
    log_y: bool,
    series: &[Series],
) -> Result<(), Error>
where
    B::ErrorType: 'static,
{
    let points = || series.iter().flat_map(|series| &series.points);
    if points().next().is_none() {
        let style = TextStyle::from((FONT, 15).into_font());
        area.draw(&Text::new("no data", (60, 60), style))?;
        return Ok(());
    }
    let [mut low_x, mut low_y] = [f64::INFINITY; 2];
    let [mut high_x, mut high_y] = [0.0f64; 2];
    for &(x, y) in points() {
        (low_x, high_x) = (low_x.min(x), high_x.max(x));
        (low_y, high_y) = (low_y.min(y), high_y.max(y));
    }
    let xs = (low_x / 1.25)..(high_x * 1.25);
    let mut builder = ChartBuilder::on(area);
    builder
        .margin(12)
        .x_label_area_size(46)
        .y_label_area_size(74);
    if log_y {
        let ys = (low_y / 1.6)..(high_y * 1.6);
        let mut chart = builder.build_cartesian_2d(xs.log_scale(), ys.log_scale())?;
        draw_curves(&mut chart, x, y, log_y, series)
    } else {
        let ys = 0.0..high_y * 1.1;
        let mut chart = builder.build_cartesian_2d(xs.log_scale(), ys)?;
        draw_curves(&mut chart, x, y, log_y, series)
    }
}

fn draw_curves<B: DrawingBackend, Y>(
    chart: &mut ChartContext<'_, B, Cartesian2d<LogCoord<f64>, Y>>,
    x: &str,
    y: &str,
    log_y: bool,
    series: &[Series],
) -> Result<(), Error>
where
    B::ErrorType: 'static,
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    chart
        .configure_mesh()
        .x_desc(x)
        .y_desc(y)
        .x_label_formatter(&|value| round_only(*value))
        .y_label_formatter(&|value| {
            if log_y {
                round_only(*value)
            } else {
                short(*value)
            }
        })
        .label_style((FONT, 13))
        .axis_desc_style((FONT, 14))
        .bold_line_style(BLACK.mix(0.18))
        .light_line_style(BLACK.mix(0.05))
        .draw()?;
    for (i, series) in series.iter().enumerate() {
        let colour = colour(i);
        let points = series.points.iter().copied();
        match series.look {
            Look::Line => {
                chart.draw_series(LineSeries::new(points.clone(), colour))?;
                chart.draw_series(points.map(|point| Cross::new(point, 3, colour)))?;
            }
            Look::Marked => {
                chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?;
                chart.draw_series(points.map(|point| Circle::new(point, 4, colour.filled())))?;
            }
            Look::Dashed => {
                chart.draw_series(DashedLineSeries::new(points.clone(), 6, 5, colour.into()))?;
                chart.draw_series(points.map(|point| Circle::new(point, 2, colour)))?;
            }
        }
    }
    Ok(())
}
