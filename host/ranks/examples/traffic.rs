//! Bytes that cross between ranks, by mesh size and number of ranks, as a table: the numbers of docs/SCALING.md.
//!
//! `cargo run --release -p trioxide-ranks --example traffic -- 250000 1000000`: numbers of points; ranks are threads.

use glam::DVec2;
use trioxide::Device;
use trioxide::glam::{self, DVec3};
use trioxide::mesh::Triangulation;
use trioxide_ranks::threads::run;
use trioxide_ranks::transport::Traffic;
use trioxide_ranks::{Block, Ownership, Ranks};

/// Sweeps of smoothing.
const SWEEPS: u32 = 10;

fn main() {
    let sizes: Vec<usize> = std::env::args()
        .skip(1)
        .map(|n| n.parse().expect("a number"))
        .collect();
    println!("| mesh | ranks | distribution | ghosts | polylla | across ranks | order | a sweep |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for n in sizes {
        let grid = trioxide_generate::grid(n).expect("a grid");
        let random = trioxide_generate::random(n, 1).expect("random points");
        for (name, mesh) in [("grid", grid), ("random", random)] {
            for size in [2, 4, 8, 16] {
                row(name, &mesh, size);
            }
        }
    }
}

/// What a rank sends in both families.
struct Sent {
    polylla: Vec<Traffic>,
    smooth: Vec<Traffic>,
}

/// The most that a rank sends.
fn row(name: &str, mesh: &Triangulation, size: usize) {
    let of_ranks = run(size, |transport| {
        let ranks = Ranks::new(transport);
        let on = Device::cpu(Some(1)).expect("threads");
        let block = Block::of(mesh, ranks.rank(), size);
        let owners = Ownership::Curve;
        let result = trioxide_ranks::polylla::polylla::<DVec2>(&ranks, &on, &block, &owners);
        let (polygons, _) = result.expect("a good mesh");
        polygons.ordered(&ranks, block.cells);
        let polylla = ranks.traffic();

        let ranks = Ranks::new(transport);
        let surface = Triangulation {
            points: mesh.points.iter().map(|p| p.extend(0.0)).collect(),
            triangles: mesh.triangles.clone(),
            ..Triangulation::default()
        };
        let block = Block::<DVec3>::of(&surface, ranks.rank(), size);
        let options = trioxide::smooth::Options {
            max_iterations: SWEEPS,
            ..Default::default()
        };
        let result =
            trioxide_ranks::smooth::smooth::<DVec3>(&ranks, &on, &block, &options, &owners);
        result.expect("a good mesh");
        Sent {
            polylla,
            smooth: ranks.traffic(),
        }
    });
    let most = |of: fn(&Sent) -> &[Traffic], names: &[&str]| {
        let bytes = |rank: &Sent| -> u64 {
            let phases = of(rank).iter();
            let phases = phases.filter(|phase| names.contains(&phase.phase));
            phases.map(|phase| phase.bytes).sum()
        };
        of_ranks.iter().map(bytes).max().unwrap_or(0)
    };
    let polylla = |names: &[&str]| most(|rank| &rank.polylla, names);
    let sweep = most(|rank| &rank.smooth, &["smooth"]) / u64::from(SWEEPS);
    println!(
        "| {name} {} | {size} | {} | {} | {} | {} | {} | {sweep} |",
        mesh.points.len(),
        polylla(&["ownership", "distribution"]),
        polylla(&["ghosts"]),
        polylla(&["polylla"]),
        polylla(&["polygons across ranks"]),
        polylla(&["order of polygons"]),
    );
}
