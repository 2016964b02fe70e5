use std::f64::consts::{PI, TAU};

use glam::{DVec3, dvec3};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::noise::Noise;
use super::{check_point_count, unit_interval};
use trioxide_mesh::mesh::{Faces, Mesh};
use trioxide_mesh::{Result, parallel};

/// Numbers drawn for each vertex.
const DRAWS: u128 = 4;
/// Largest distance of a sample from its place in the raster, in spacings: neighbours of a row stay 0.3 spacings apart.
const JITTER: f64 = 0.35;
/// Largest error of a sample's range, in spacings.
const RANGE_NOISE: f64 = 0.15;

/// A closed surface as a range scanner sees it: `n` vertices, 2 `n` - 4 counter-clockwise triangles.
///
/// A sphere of radius 1, displaced by smooth relief of five scales (0.3 to 0.005), is sampled in rows from its north
/// pole to its south pole. Rows, and the samples of a row, are about sqrt(4 pi / n) apart. Each sample is moved by up
/// to 0.35 spacings along both directions (uniform), and its range by up to 0.15 spacings (triangular). Vertices are
/// numbered as they are scanned, row by row and eastward: neighbours in a row are neighbours in memory, neighbours in
/// the next row are a row away, as in the scans of gpu-vertex-clustering-2026, section 6.2. The dataset repeats no
/// vertex deliberately.
///
/// # Errors
/// [`Error::Argument`](trioxide_mesh::Error::Argument) if `n` is under 16 or over [`MAX_POINTS`](super::MAX_POINTS).
pub fn scan(n: usize, seed: u64) -> Result<Mesh> {
    check_point_count(n, 16)?;
    let raster = Raster::new(n);
    let surface = Surface::new(seed, &raster);
    let mut points: Vec<DVec3> = parallel::zeroed(n);
    let mut triangles: Vec<[u32; 3]> = parallel::zeroed(2 * n - 4);

    let mut left = &mut points[..];
    let mut row_points = Vec::with_capacity(raster.count());
    for row in 0..raster.count() {
        row_points.push(left.split_off_mut(..raster.len(row)).expect("n vertices"));
    }
    parallel::for_each_mut(&mut row_points, |row, points| {
        surface.sample_row(row, &raster, points);
    });

    // A cap inside of the first row, a strip between consecutive rows, a cap inside of the last row.
    let mut left = &mut triangles[..];
    let mut parts = Vec::with_capacity(raster.count() + 1);
    for part in 0..=raster.count() {
        let count = match part {
            0 => raster.len(0) - 2,
            last if last == raster.count() => raster.len(last - 1) - 2,
            _ => raster.len(part - 1) + raster.len(part),
        };
        parts.push(left.split_off_mut(..count).expect("2n - 4 triangles"));
    }
    parallel::for_each_mut(&mut parts, |part, triangles| match part {
        0 => raster.cap(0, [1, 2], triangles),
        last if last == raster.count() => raster.cap(last - 1, [2, 1], triangles),
        _ => raster.strip(part, triangles),
    });
    Ok(Mesh {
        points,
        faces: Faces::Triangles(triangles),
        ..Mesh::default()
    })
}

/// The raster: rows of equal height, whose numbers of samples are proportional to their area on the sphere.
struct Raster {
    /// First vertex of each row, and the number of vertices.
    starts: Vec<u32>,
}

impl Raster {
    fn new(n: usize) -> Raster {
        let count = (PI / 4.0 * n as f64).sqrt() as usize;
        let start = |row: usize| match row == count {
            true => n as u32,
            // The fraction of the sphere above the row.
            false => (n as f64 * (1.0 - libm::cos(PI * row as f64 / count as f64)) / 2.0) as u32,
        };
        Raster {
            starts: (0..=count).map(start).collect(),
        }
    }

    fn count(&self) -> usize {
        self.starts.len() - 1
    }

    fn len(&self, row: usize) -> usize {
        (self.starts[row + 1] - self.starts[row]) as usize
    }

    /// The triangles inside of a row, all at its first vertex. `order` orders the other two vertices.
    fn cap(&self, row: usize, order: [u32; 2], triangles: &mut [[u32; 3]]) {
        let first = self.starts[row];
        for (k, triangle) in triangles.iter_mut().enumerate() {
            let [a, b] = order.map(|step| first + step + k as u32);
            *triangle = [first, a, b];
        }
    }

    /// The triangles between a row and the row above. From the start of both, each step takes the nearer next sample.
    fn strip(&self, row: usize, triangles: &mut [[u32; 3]]) {
        let counts = [self.len(row - 1), self.len(row)];
        let vertex = |side: usize, i: usize| {
            let i = if i == counts[side] { 0 } else { i };
            self.starts[row - 1 + side] + i as u32
        };
        let (mut above, mut below) = (0, 0);
        for triangle in triangles {
            // (above + 1) / counts[0] <= (below + 1) / counts[1]: the finished parts of both rows. A complete row is
            // never less.
            let is_above = (above + 1) * counts[1] <= (below + 1) * counts[0];
            let (a, b) = (vertex(0, above), vertex(1, below));
            if is_above {
                above += 1;
                *triangle = [a, b, vertex(0, above)];
            } else {
                below += 1;
                *triangle = [a, b, vertex(1, below)];
            }
        }
    }
}

/// The scanned surface.
struct Surface {
    /// Relief of each scale: its function, scale and height.
    relief: [(Noise, f64, f64); 5],
    /// Positioned at the first number of vertex 0.
    generator: Pcg64,
    /// Distance between rows, in radians.
    spacing: f64,
}

impl Surface {
    fn new(seed: u64, raster: &Raster) -> Surface {
        let mut generator = Pcg64::seed_from_u64(seed);
        let scales = [
            (1.6, 0.3),
            (3.7, 0.12),
            (9.0, 0.04),
            (23.0, 0.012),
            (61.0, 0.005),
        ];
        Surface {
            relief: scales
                .map(|(frequency, height)| (Noise::new(generator.next_u64()), frequency, height)),
            generator,
            spacing: PI / raster.count() as f64,
        }
    }

    fn sample_row(&self, row: usize, raster: &Raster, points: &mut [DVec3]) {
        let mut generator = self.generator.clone();
        generator.advance(DRAWS * u128::from(raster.starts[row]));
        let mut offset = || 2.0 * unit_interval(&mut generator) - 1.0;
        let step = TAU / points.len() as f64;
        for (i, point) in points.iter_mut().enumerate() {
            let east = (i as f64 + JITTER * offset()) * step;
            let south = (row as f64 + 0.5 + JITTER * offset()) * self.spacing;
            // The system's sine may differ from machine to machine.
            let (sin_east, cos_east) = libm::sincos(east);
            let (sin_south, cos_south) = libm::sincos(south);
            let direction = dvec3(sin_south * cos_east, sin_south * sin_east, cos_south);
            let noise = (offset() + offset()) / 2.0 * RANGE_NOISE * self.spacing;
            *point = direction * (1.0 + self.relief_at(direction) + noise);
        }
    }

    fn relief_at(&self, direction: DVec3) -> f64 {
        let parts = self
            .relief
            .iter()
            .map(|(noise, frequency, height)| height * noise.at3(direction * *frequency));
        parts.sum()
    }
}
