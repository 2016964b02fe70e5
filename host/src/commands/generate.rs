//! `trioxide generate`: datasets.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressFinish};
use trioxide::formats::{self, Format};
use trioxide::mesh::Mesh;
use trioxide::{Result, generate};

/// Generate a mesh, the same bits on every machine
#[derive(Args)]
pub struct Options {
    /// Kind of mesh
    dataset: Dataset,
    /// Number of points, as 1000000, 1e6 or 1M; a grid takes the nearest square number
    #[arg(short, long = "points", value_name = "N", value_parser = parse_count)]
    n: usize,
    /// Seed of random points
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// File to write: .off, .obj, .ply, .stl, .vtu, .edges, .xyz, .las, .laz, .ale, or .node and .ele
    #[arg(short, long)]
    output: PathBuf,
    /// Do not say what was written
    #[arg(long)]
    quiet: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Dataset {
    /// Uniform grid on the unit square, every square split by the same diagonal
    Grid,
    /// Grid whose inner points are moved by up to a quarter of a square
    Jittered,
    /// Uniform random points in the unit square, Delaunay
    Random,
    /// Uniform random points in the unit disk, Delaunay
    Disk,
    /// Closed surface as a range scanner sees it, in rows of scan lines
    Scan,
    /// Landscape as airborne LiDAR sees it, in strips, in centimetres; no faces
    Cloud,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    // A bad output is refused before long work.
    let format = Format::to_write(&options.output)?;
    let progress = if options.quiet {
        ProgressBar::hidden()
    } else {
        // Drawn on a terminal only.
        ProgressBar::new_spinner()
            .with_message("generating points")
            .with_finish(ProgressFinish::AndClear)
    };
    progress.enable_steady_tick(Duration::from_millis(100));

    let Options { n, seed, .. } = *options;
    let delaunay = |points: Vec<_>| {
        progress.set_message(format!("triangulating {} points", points.len()));
        generate::delaunay(points)
    };
    let mesh: Mesh = match options.dataset {
        Dataset::Grid => generate::grid(n)?.into(),
        Dataset::Jittered => generate::jittered(n, seed)?.into(),
        Dataset::Random => delaunay(generate::random_points(n, seed)?)?.into(),
        Dataset::Disk => delaunay(generate::disk_points(n, seed)?)?.into(),
        Dataset::Scan => generate::scan(n, seed)?,
        Dataset::Cloud => generate::cloud(n, seed)?,
    };
    progress.set_message(format!("writing {}", options.output.display()));
    formats::write(&options.output, &mesh)?;
    drop(progress);
    if options.quiet {
        return Ok(());
    }
    super::note_losses(format, &mesh);
    super::print(&format!(
        "{}: {} vertices, {} triangles\n",
        options.output.display(),
        mesh.points.len(),
        mesh.faces.len()
    ))
}

/// A count as people write it: digits, with underscores, an exponent, or a suffix k, M or G.
pub fn parse_count(text: &str) -> Result<usize, String> {
    let plain = text.replace('_', "");
    let (digits, factor) = match plain.char_indices().last() {
        Some((end, 'k' | 'K')) => (&plain[..end], 1e3),
        Some((end, 'm' | 'M')) => (&plain[..end], 1e6),
        Some((end, 'g' | 'G')) => (&plain[..end], 1e9),
        _ => (plain.as_str(), 1.0),
    };
    let number = digits
        .parse::<f64>()
        .map_err(|_| "is no number such as 1000000, 1e6 or 1M")?;
    // Rounded: 1.1e6 written as 1.1M is not exact.
    let count = (number * factor).round();
    if (number * factor - count).abs() > 1e-6 || !(0.0..=2f64.powi(53)).contains(&count) {
        return Err("is not a whole number of points".into());
    }
    Ok(count as usize)
}

#[cfg(test)]
mod tests {
    use super::parse_count;

    #[test]
    fn counts_are_read_as_people_write_them() {
        for (text, count) in [
            ("0", 0),
            ("1000000", 1_000_000),
            ("1_000_000", 1_000_000),
            ("1e6", 1_000_000),
            ("1.5E3", 1500),
            ("1M", 1_000_000),
            ("25m", 25_000_000),
            ("200k", 200_000),
            ("1.1M", 1_100_000),
            ("0.1G", 100_000_000),
        ] {
            assert_eq!(parse_count(text), Ok(count), "{text}");
        }
        for text in ["", "M", "x", "-1", "1.5", "nan", "inf", "1e300", "1MM", "é"] {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }
}
