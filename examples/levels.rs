//! Errors of virtual elements on triangles, on the polygons that they join to, and on nested levels of these: of a
//! Poisson problem whose solution is sin(pi x) sin(pi y), on random points of the unit square.
//!
//! `cargo run --release --example levels` prints the table below, `cargo run --release --example levels -- 16000 64000`
//! one for other numbers of points. An order is that in the size of the unknowns' cells, 1 / sqrt(unknowns), from the
//! size before.
//!
//! ```text
//! 1000 points      cells unknowns  L2 error order  H1 error order
//! triangles          1926      928  2.69e-3     -  1.36e-1     -
//! polygons            316      928  6.45e-3     -  2.22e-1     -
//! level 1             138      751  1.29e-2     -  3.15e-1     -
//! level 2              61      529  2.68e-2     -  4.42e-1     -
//! level 3              28      372  6.50e-2     -  6.66e-1     -
//! level 4              11      207  1.77e-1     -  1.16e0     -
//! 4000 points      cells unknowns  L2 error order  H1 error order
//! triangles          7850     3852  6.94e-4  1.90  6.79e-2  0.97
//! polygons           1295     3852  1.67e-3  1.90  1.09e-1  1.00
//! level 1             569     3183  3.43e-3  1.83  1.53e-1  1.00
//! level 2             249     2400  7.60e-3  1.67  2.23e-1  0.90
//! level 3             114     1715  1.87e-2  1.63  3.24e-1  0.94
//! level 4              54     1220  4.34e-2  1.58  4.68e-1  1.03
//! ```

use trioxide::Error;
use trioxide::device::Device;
use trioxide::generate;
use trioxide::mesh::Mesh;
use trioxide_operations::{Result, polylla, vem};

/// Nested levels.
const LEVELS: usize = 4;

/// Unknowns, and errors in L2 and H1.
type Measured = [f64; 3];

fn main() -> Result<()> {
    let mut sizes = Vec::new();
    for argument in std::env::args().skip(1) {
        let size = argument.parse();
        sizes
            .push(size.map_err(|_| Error::Argument(format!("{argument} is no number of points")))?);
    }
    if sizes.is_empty() {
        sizes = vec![1_000, 4_000];
    }
    let (device, _) = Device::auto(None)?;
    let options = polylla::Options {
        levels: Some(LEVELS),
        ..polylla::Options::default()
    };
    let mut before: Vec<Option<Measured>> = vec![None; 2 + LEVELS];
    for points in sizes {
        println!("{points} points      cells unknowns  L2 error order  H1 error order");
        let triangles = Mesh::from(generate::random(&device, points, 1)?);
        let polygons = polylla::Input::new(triangles.clone(), &options)?.find(&device, &options)?;
        let mut meshes = vec![("triangles".to_owned(), triangles)];
        let levels = polygons.levels().unwrap_or(0);
        let of_levels = (1..=levels).map(|level| (format!("level {level}"), polygons.level(level)));
        let of_levels: Vec<(String, Mesh)> = of_levels.collect();
        meshes.push(("polygons".to_owned(), polygons.into_mesh().0));
        meshes.extend(of_levels);
        for ((name, mesh), before) in meshes.into_iter().zip(&mut before) {
            let (_, report) = vem(mesh, &vem::Options::default())?;
            let totals = report.totals;
            let (unknowns, errors) = (totals.unknowns as f64, totals.errors);
            let measured = [unknowns, errors.l2, errors.h1];
            let [l2, h1] = [1, 2].map(|k| order(*before, measured, k));
            println!(
                "{name:<14}{:>9}{unknowns:>9}  {:.2e} {l2:>5}  {:.2e} {h1:>5}",
                totals.cells, errors.l2, errors.h1
            );
            *before = Some(measured);
        }
    }
    Ok(())
}

/// The order of the error `k` between two sizes, if there are two.
fn order(before: Option<Measured>, now: Measured, k: usize) -> String {
    before.map_or("-".to_owned(), |before| {
        let order = 2.0 * (before[k] / now[k]).ln() / (now[0] / before[0]).ln();
        format!("{order:.2}")
    })
}
