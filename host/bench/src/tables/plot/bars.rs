//! Bars.

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Bar, FONT, GREY, TOO_DIFFERENT, colour, draw_legend, short};
use xtask::Error;

/// Bars of parts; where some are far longer than others, each as shares of its whole.
pub(super) fn draw_bars<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    legend: &DrawingArea<B, Shift>,
    y: &str,
    bars: &[Bar],
) -> Result<(), Error>
where
    B::ErrorType: 'static,
{
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in bars.iter().flat_map(|bar| &bar.parts) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    draw_legend(
        legend,
        names.iter().enumerate().map(|(i, name)| (*name, i, None)),
    )?;
    let totals: Vec<f64> = bars
        .iter()
        .map(Bar::total)
        .filter(|&total| total > 0.0)
        .collect();
    let most = totals.iter().copied().fold(0.0, f64::max);
    let least = totals.iter().copied().fold(f64::INFINITY, f64::min);
    let shares = most > TOO_DIFFERENT * least;
    let (high, description) = match shares {
        true => (100.0, "% of the time"),
        false => (most.max(1e-9), y),
    };
    // Each bar has one unit of width, and fills six tenths of it.
    let width = bars.len().max(1) as f64;
    let mut chart: ChartContext<'_, B, Cartesian2d<RangedCoordf64, RangedCoordf64>> =
        ChartBuilder::on(area)
            .margin(12)
            .x_label_area_size(46)
            .y_label_area_size(74)
            .build_cartesian_2d(0.0..width, 0.0..high * 1.12)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(0)
        .y_desc(description)
        .y_label_formatter(&|value| short(*value))
        .label_style((FONT, 13))
        .axis_desc_style((FONT, 14))
        .bold_line_style(BLACK.mix(0.18))
        .light_line_style(BLACK.mix(0.05))
        .draw()?;
    let style = |vertical| {
        TextStyle::from((FONT, 13).into_font())
            .color(&GREY)
            .pos(Pos::new(HPos::Center, vertical))
    };
    for (i, bar) in bars.iter().enumerate() {
        let left = i as f64 + 0.2;
        let total = bar.total();
        let scale = match shares && total > 0.0 {
            true => 100.0 / total,
            false => 1.0,
        };
        let mut from = 0.0;
        for (name, value) in &bar.parts {
            let to = from + value * scale;
            let place = names.iter().position(|known| known == name).unwrap_or(0);
            let rectangle =
                Rectangle::new([(left, from), (left + 0.6, to)], colour(place).filled());
            chart.draw_series([rectangle])?;
            from = to;
        }
        let (x, y) = chart.backend_coord(&(left + 0.3, from));
        let (_, bottom) = chart.backend_coord(&(left + 0.3, 0.0));
        // In pixels of the whole picture; the area begins below the title.
        let (_, begin) = area.get_base_pixel();
        let label = format!("{} ms", short(total));
        area.draw(&Text::new(label, (x, y - begin - 5), style(VPos::Bottom)))?;
        area.draw(&Text::new(
            bar.name.clone(),
            (x, bottom - begin + 8),
            style(VPos::Top),
        ))?;
    }
    Ok(())
}
