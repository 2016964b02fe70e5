use glam::{DVec2, DVec3, dvec2, dvec3};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::noise::Noise;
use super::unit_interval;
use trioxide_mesh::mesh::{Mesh, NONE};
use trioxide_mesh::{Error, Result, parallel};

/// Metres between pulses, along and across.
const SPACING: f64 = 0.22;
/// Pulses shot at a site to estimate the returns of a pulse.
const PROBES: usize = 4096;
/// Largest width of a strip in metres, without its overlap.
const SWATH: f64 = 400.0;
/// Overlap of strips, as a share of their width.
const OVERLAP: f64 = 0.1;
/// Flight height over the ground in metres.
const FLIGHT_HEIGHT: f64 = 1000.0;
/// Numbers drawn for each pulse.
const DRAWS: u128 = 8;
/// A coordinate is a multiple of this many metres.
const UNIT: f64 = 0.01;
/// Pulses of one task, about.
const TASK: usize = if cfg!(test) { 256 } else { 1 << 16 };

/// `n` points of a landscape as an airborne laser scanner sees it: a cloud in metres, without faces.
///
/// The site is about square; it has 21 pulses a square metre, and so more points where there are trees. The aircraft
/// flies over it in parallel strips that overlap by a tenth, north and back; its mirror swings from side to side, so
/// every other scan line runs westward. Points are numbered as they are measured: strip by strip, line by line, pulse
/// by pulse, the returns of a pulse from the first to the last. The ground has hills of four scales, houses with flat
/// or gabled roofs, and trees. In a tree a pulse has up to four returns, shifted along the slanted beam. Every
/// coordinate is a whole number of centimetres, `0.01 * k` in `f64` as a LAS file gives it, so some points coincide, as
/// in the LiDAR data of gpu-vertex-clustering-2026, section 6.2.
///
/// # Errors
/// [`Error::Argument`] if `n` is 0 or exceeds the number of 32-bit ids.
pub fn cloud(n: usize, seed: u64) -> Result<Mesh> {
    if n == 0 || n >= NONE as usize {
        return Err(Error::Argument(format!(
            "a cloud of {n} points cannot be made: ask for 1 to {} points",
            NONE - 1
        )));
    }
    let flight = Flight::new(n, seed);
    let mut points: Vec<DVec3> = Vec::with_capacity(n);
    // Tasks run in waves, whose points are copied to the end of the previous wave's.
    let lines = (TASK / flight.pulses).max(1);
    let mut buffers = vec![Vec::new(); 8 * rayon::current_num_threads()];
    let mut first = 0;
    while points.len() < n {
        parallel::for_each_mut(&mut buffers, |k, buffer| {
            buffer.clear();
            let first = first + k * lines;
            (first..first + lines).for_each(|line| flight.scan_line(line, buffer));
        });
        first += buffers.len() * lines;
        for buffer in &buffers {
            let count = buffer.len().min(n - points.len());
            points.extend_from_slice(&buffer[..count]);
        }
    }
    Ok(Mesh {
        points,
        ..Mesh::default()
    })
}

struct Flight {
    /// Positioned at the first number of pulse 0.
    generator: Pcg64,
    site: Site,
    /// Metres from the middle of one strip to the middle of the next.
    strip_distance: f64,
    /// Width of a strip in metres.
    width: f64,
    /// Scan lines of a strip.
    lines: usize,
    /// Pulses of a scan line.
    pulses: usize,
}

impl Flight {
    fn new(n: usize, seed: u64) -> Flight {
        let mut generator = Pcg64::seed_from_u64(seed);
        let site = Site::new(&mut generator);
        // The number of points depends on the site's trees, and the trees depend on the site's size.
        let mut side = (n as f64 * SPACING * SPACING).sqrt();
        for _ in 0..3 {
            let returns = site.probe(side, generator.clone());
            // Slightly larger than needed: the last strip ends early.
            let area = 1.03 * n as f64 * SPACING * SPACING / returns / (1.0 + OVERLAP);
            side = area.sqrt().max(SPACING);
        }
        let strips = (side / SWATH).ceil();
        let strip_distance = side / strips;
        let width = strip_distance * (1.0 + OVERLAP);
        Flight {
            generator,
            site,
            strip_distance,
            width,
            lines: (side / SPACING).ceil() as usize,
            pulses: (width / SPACING).ceil() as usize,
        }
    }

    /// Appends the returns of scan line `line` of the flight.
    fn scan_line(&self, line: usize, returns: &mut Vec<DVec3>) {
        let mut generator = self.generator.clone();
        generator.advance(DRAWS * self.pulses as u128 * line as u128);
        let (strip, line) = (line / self.lines, line % self.lines);
        let northward = strip % 2 == 0;
        let middle = (strip as f64 + 0.5) * self.strip_distance;
        // The aircraft drifts.
        let drift = self
            .site
            .drift
            .at2(dvec2(line as f64 / 400.0, strip as f64));
        for pulse in 0..self.pulses {
            let draws: [f64; DRAWS as usize] =
                std::array::from_fn(|_| unit_interval(&mut generator));
            // The mirror never rests: a line runs on into the next scan line.
            let share = (pulse as f64 + 0.2 + 0.6 * draws[0]) / self.pulses as f64;
            let across = if line % 2 == 0 { share } else { 1.0 - share };
            let along = (line as f64 + share + 0.3 * draws[1]) * SPACING;
            let from_middle = (across - 0.5) * self.width;
            let aim = dvec2(
                middle + from_middle + drift,
                if northward {
                    along
                } else {
                    self.lines as f64 * SPACING - along
                },
            );
            let slant = from_middle / FLIGHT_HEIGHT;
            self.site.echo(aim, slant, &draws, returns);
        }
    }
}

/// The ground, and the houses and trees on it.
struct Site {
    /// Hills of each scale: their function, wave length and height in metres.
    hills: [(Noise, f64, f64); 4],
    houses: Noise,
    trees: Noise,
    drift: Noise,
}

impl Site {
    fn new(generator: &mut Pcg64) -> Site {
        let mut noise = || Noise::new(generator.next_u64());
        Site {
            hills: [(420.0, 28.0), (95.0, 6.0), (21.0, 0.8), (1.7, 0.06)]
                .map(|(length, height)| (noise(), length, height)),
            houses: noise(),
            trees: noise(),
            drift: noise(),
        }
    }

    /// Mean returns of a pulse over a square.
    fn probe(&self, side: f64, mut generator: Pcg64) -> f64 {
        let mut returns = Vec::new();
        for _ in 0..PROBES {
            let draws: [f64; DRAWS as usize] =
                std::array::from_fn(|_| unit_interval(&mut generator));
            self.echo(dvec2(draws[0], draws[1]) * side, 0.0, &draws, &mut returns);
        }
        returns.len() as f64 / PROBES as f64
    }

    fn ground(&self, at: DVec2) -> f64 {
        let parts = self
            .hills
            .iter()
            .map(|(noise, length, height)| height * noise.at2(at / *length));
        parts.sum()
    }

    /// Appends the returns of a pulse aimed at a place on the ground. `slant` is its eastward run per metre of descent.
    /// It uses draws from 2 on.
    fn echo(&self, aim: DVec2, slant: f64, draws: &[f64], returns: &mut Vec<DVec3>) {
        let mut measure = |above: f64, z: f64, noise: f64| {
            let x = aim.x - slant * above;
            let z = z + (noise - 0.5) * 0.04;
            // LAS files hold no -0.
            returns.push(dvec3(x, aim.y, z).map(|x| (x / UNIT).round() * UNIT + 0.0));
        };
        if let Some(roof) = self.roof(aim) {
            return measure(0.0, roof, draws[2]);
        }
        let ground = self.ground(aim);
        let Some([low, top]) = self.crown(aim) else {
            return measure(0.0, ground, draws[2]);
        };
        // Leaves return part of the pulse at up to three heights, from the top down; the rest may reach the ground.
        let deeper = |height: f64, draw: f64| height - (height - low) * 0.6 * draw;
        let mut height = deeper(top, 0.3 * draws[3]);
        measure(height, ground + height, draws[2]);
        for leaves in &draws[4..6] {
            if *leaves < 0.45 {
                height = deeper(height, leaves / 0.45);
                measure(height, ground + height, draws[6]);
            }
        }
        if draws[7] < 0.7 {
            measure(0.0, ground, draws[6]);
        }
    }

    /// Height of the roof over a place, if there is a house.
    fn roof(&self, at: DVec2) -> Option<f64> {
        const LOT: f64 = 36.0;
        let lot = (at / LOT).floor();
        let bits = self.houses.bits([lot.x as i64, lot.y as i64, 1]);
        if share(bits, 0) > 0.45 {
            return None;
        }
        let middle = (lot + 0.5) * LOT + (dvec2(share(bits, 1), share(bits, 2)) - 0.5) * 8.0;
        let half = dvec2(5.0 + 7.0 * share(bits, 3), 4.0 + 6.0 * share(bits, 4));
        let from_middle = (at - middle).abs();
        if from_middle.cmpgt(half).any() {
            return None;
        }
        let eaves = self.ground(middle) + 3.0 + 12.0 * share(bits, 5) * share(bits, 5);
        let gable = match bits & 1 {
            0 => 0.0,
            _ => 0.7 * (half.y - from_middle.y),
        };
        Some(eaves + gable)
    }

    /// Lowest and highest height over the ground of the leaves over a place, if there is a tree.
    fn crown(&self, at: DVec2) -> Option<[f64; 2]> {
        const PLOT: f64 = 9.0;
        let plot = (at / PLOT).floor();
        let bits = self.trees.bits([plot.x as i64, plot.y as i64, 2]);
        let middle = (plot + 0.5) * PLOT;
        // Woods and clearings.
        let density = 0.35 + 0.45 * self.trees.at2(middle / 150.0);
        if share(bits, 0) > density {
            return None;
        }
        let radius = 2.0 + 2.3 * share(bits, 1);
        let to_middle = (at - middle) / radius;
        let level = 1.0 - to_middle.length_squared();
        if level <= 0.0 {
            return None;
        }
        let height = 6.0 + 14.0 * share(bits, 2);
        let crown = 0.35 * height;
        Some([height - 2.0 * crown, height - crown + crown * level.sqrt()])
    }
}

/// One of five random numbers in 0..1 that 64 bits hold.
fn share(bits: u64, which: u32) -> f64 {
    (bits >> (4 + 10 * which) & 0x3ff) as f64 / 1024.0
}
