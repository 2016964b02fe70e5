//! Bytes that cross between ranks, by mesh size and number of ranks, as a table: the numbers of docs/SCALING.md.
//!
//! `cargo run --release -p trioxide-ranks --example traffic -- 250000 1000000`: numbers of points; ranks are threads.
//! Names of families beside them (`polylla`, `weld`, `refine`, `refine-tets`, `polyhedra`) leave the others out.

use glam::DVec2;
use trioxide::Device;
use trioxide::glam::{self, DVec3};
use trioxide::mesh::{Mesh, Triangulation};
use trioxide::refine::Marking;
use trioxide::volume::TetMesh;
use trioxide::weld::{self, Carried, DeviceMesh, Guards};
use trioxide_ranks::block::Whole;
use trioxide_ranks::refine;
use trioxide_ranks::tets::Input;
use trioxide_ranks::threads::run;
use trioxide_ranks::transport::Traffic;
use trioxide_ranks::weld::Plan;
use trioxide_ranks::{Block, Ownership, Ranks};

/// Numbers of ranks.
const RANKS: [usize; 4] = [2, 4, 8, 16];
/// Share of the vertices that is welded away.
const RATIO: f64 = 0.1;

/// Sweeps of smoothing.
const SWEEPS: u32 = 10;

fn main() {
    let (sizes, families): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|n| n.parse::<usize>().is_ok());
    let sizes: Vec<usize> = sizes.iter().flat_map(|n| n.parse()).collect();
    let is_wanted = |name: &str| families.is_empty() || families.iter().any(|f| f == name);
    if is_wanted("polylla") {
        header("distribution | ghosts | polylla | across ranks | order | a sweep");
        for (name, mesh) in triangulations(&sizes) {
            for size in RANKS {
                row(name, &mesh, size);
            }
        }
    }
    if is_wanted("weld") {
        header("distribution | ghosts | weld | rounds | clusters | triangles");
        for &n in &sizes {
            let scan = trioxide::generate::scan(n, 1).expect("a scan");
            let cloud = trioxide::generate::cloud(n, 1).expect("a cloud");
            for (name, mesh) in [("scan", scan), ("cloud", cloud)] {
                weld_rows(name, &mesh);
            }
        }
    }
    if is_wanted("refine") {
        header(
            "triangles after | distribution | edges | balance | ghosts | refine | exchanges | numbers | order",
        );
        for (name, mesh) in triangulations(&sizes) {
            refine_rows(name, &mesh);
        }
    }
    if is_wanted("refine-tets") {
        header(
            "tetrahedra after | distribution | ghosts | edges | refine | exchanges | numbers | balance | gather",
        );
        for &n in &sizes {
            let grid = trioxide::generate::tet_grid(n, 1).expect("a grid");
            let random = trioxide::generate::random_tets(n, 1).expect("random points");
            for (name, mesh) in [("grid", grid), ("random", random)] {
                refine_tets_rows(name, &mesh);
            }
        }
    }
    if is_wanted("polyhedra") {
        header("distribution | ghosts | polyhedra | across ranks | gather");
        for &n in &sizes {
            let grid = trioxide::generate::tet_grid(n, 1).expect("a grid");
            let random = trioxide::generate::random_tets(n, 1).expect("random points");
            for (name, mesh) in [("grid", grid), ("random", random)] {
                polyhedra_rows(name, &mesh);
            }
        }
    }
}

/// The head of a table, with these columns after the mesh and the ranks.
fn header(columns: &str) {
    let columns = format!("mesh | ranks | {columns}");
    let line = vec!["---"; columns.split(" | ").count()].join(" | ");
    println!("\n| {columns} |\n| {line} |");
}

/// A grid and random points of each size.
fn triangulations(sizes: &[usize]) -> impl Iterator<Item = (&'static str, Triangulation)> {
    sizes.iter().flat_map(|&n| {
        let grid = || trioxide::generate::grid(n).expect("a grid");
        let random = || {
            let on = Device::cpu(None).expect("threads");
            trioxide::generate::random(&on, n, 1).expect("random points")
        };
        [false, true].map(|is_random| match is_random {
            false => ("grid", grid()),
            true => ("random", random()),
        })
    })
}

/// The most that a rank sends for rounds of refinement: all triangles twice, or a disk of a tenth of the square four
/// times.
fn refine_rows(name: &str, mesh: &Triangulation) {
    let radius = (0.1 / std::f64::consts::PI).sqrt();
    let disk = Marking::Disk([0.5, 0.5, radius]);
    for (marks, marking, rounds) in [("all", Marking::All, 2), ("disk", disk, 4)] {
        let options = refine::Options {
            marking,
            rounds,
            ..refine::Options::default()
        };
        for size in RANKS {
            let of_ranks = run(size, |transport| {
                let ranks = Ranks::new(transport);
                let on = Device::cpu(Some(1)).expect("threads");
                let block = Block::of(mesh, ranks.rank(), size);
                let owners = Ownership::Curve;
                let refined = refine::refine::<DVec2>(&ranks, &on, &block, &options, &owners);
                let refined = refined.expect("a good mesh");
                (ranks.traffic(), refined.counts.triangles, refined.exchanges)
            });
            let traffic: Vec<_> = of_ranks.iter().map(|(traffic, ..)| &traffic[..]).collect();
            let most = |names: &[&str]| most(traffic.iter().copied(), names);
            let (_, triangles, exchanges) = of_ranks[0];
            println!(
                "| {name} {}, {marks} | {size} | {triangles} | {} | {} | {} | {} | {} | {exchanges} | {} | {} |",
                mesh.points.len(),
                most(&["ownership", "distribution"]),
                most(&["edges"]),
                most(&["balance"]),
                most(&["ghosts"]),
                most(&["refine"]),
                most(&["numbers"]),
                most(&["order of triangles"]),
            );
        }
    }
}

/// The most that a rank sends for levels of tetrahedra: all of them twice, or those in a ball of a tenth of the cube
/// four times.
fn refine_tets_rows(name: &str, mesh: &TetMesh) {
    let radius = (0.3 / (4.0 * std::f64::consts::PI)).cbrt();
    let ball = Marking::Ball([0.5, 0.5, 0.5, radius]);
    let tagged: Vec<[u32; 3]> = mesh.faces.iter().map(|face| face.vertices).collect();
    let whole = tetrahedra(mesh);
    for (marks, marking, rounds) in [("all", Marking::All, 2), ("ball", ball, 4)] {
        let options = trioxide_ranks::refine_tets::Options {
            marking,
            rounds,
            ..Default::default()
        };
        for size in RANKS {
            let of_ranks = run(size, |transport| {
                let ranks = Ranks::new(transport);
                let on = Device::cpu(Some(1)).expect("threads");
                let block = &Block::of(whole, ranks.rank(), size);
                let input = Input {
                    block,
                    tagged: &tagged,
                };
                let owners = Ownership::Curve;
                let run = trioxide_ranks::refine_tets::refine::<DVec3>(
                    &ranks, &on, input, &options, &owners,
                );
                let run = run.expect("a good mesh");
                let exchanges: u64 = run.levels.iter().map(|level| level.exchanges).sum();
                let tetrahedra = run.counts.tetrahedra;
                run.gather(&ranks, &on, block).expect("a good mesh");
                (ranks.traffic(), tetrahedra, exchanges)
            });
            let traffic: Vec<_> = of_ranks.iter().map(|(traffic, ..)| &traffic[..]).collect();
            let most = |names: &[&str]| most(traffic.iter().copied(), names);
            let (_, tetrahedra, exchanges) = of_ranks[0];
            println!(
                "| {name} {}, {marks} | {size} | {tetrahedra} | {} | {} | {} | {} | {exchanges} | {} | {} | {} |",
                mesh.points.len(),
                most(&["ownership", "distribution"]),
                most(&["ghosts"]),
                most(&["edges"]),
                most(&["refine"]),
                most(&["numbers"]),
                most(&["balance"]),
                most(&["gather"]),
            );
        }
    }
}

/// The most that a rank sends for polyhedra.
fn polyhedra_rows(name: &str, mesh: &TetMesh) {
    for size in RANKS {
        let of_ranks = run(size, |transport| {
            let ranks = Ranks::new(transport);
            let on = Device::cpu(Some(1)).expect("threads");
            let block = &Block::of(tetrahedra(mesh), ranks.rank(), size);
            let input = Input { block, tagged: &[] };
            let options = trioxide::polyhedra::Options::default();
            let owners = Ownership::Curve;
            let found =
                trioxide_ranks::polyhedra::polyhedra::<DVec3>(&ranks, &on, input, options, &owners);
            let found = found.expect("a good mesh");
            found.gather(&ranks, &on).expect("a good mesh");
            ranks.traffic()
        });
        let most = |names: &[&str]| most(of_ranks.iter().map(|traffic| &traffic[..]), names);
        println!(
            "| {name} {} | {size} | {} | {} | {} | {} | {} |",
            mesh.points.len(),
            most(&["ownership", "distribution"]),
            most(&["ghosts"]),
            most(&["polyhedra"]),
            most(&["polyhedra across ranks"]),
            most(&["gather"]),
        );
    }
}

/// A mesh of tetrahedra as ranks take it.
fn tetrahedra(mesh: &TetMesh) -> Whole<'_, DVec3> {
    Whole {
        points: &mesh.points,
        corners: mesh.tetrahedra.as_flattened(),
        size: 4,
        regions: None,
        segments: &[],
    }
}

/// The most that a rank sends for a weld that removes a tenth of the vertices.
fn weld_rows(name: &str, mesh: &Mesh) {
    let on = Device::cpu(None).expect("threads");
    let resident = DeviceMesh::upload(&on, mesh).expect("room");
    let found = weld::epsilon_for_ratio(&on, &resident, Guards::default(), RATIO);
    let options = weld::Options::new(found.expect("a good mesh").epsilon);
    let whole = Whole {
        points: &mesh.points,
        corners: weld::triangles(mesh).as_flattened(),
        size: 3,
        regions: None,
        segments: &[],
    };
    for size in RANKS {
        let of_ranks = run(size, |transport| {
            let ranks = Ranks::new(transport);
            let on = Device::cpu(Some(1)).expect("threads");
            let block = Block::of(whole, ranks.rank(), size);
            let (carried, plan) = (Carried::NONE, Plan::default());
            let welded = trioxide_ranks::weld::weld(&ranks, &on, &block, &carried, &options, &plan);
            (ranks.traffic(), welded.expect("a good mesh").rounds)
        });
        let traffic: Vec<_> = of_ranks.iter().map(|(traffic, _)| &traffic[..]).collect();
        let most = |names: &[&str]| most(traffic.iter().copied(), names);
        println!(
            "| {name} {} | {size} | {} | {} | {} | {} | {} | {} |",
            mesh.points.len(),
            most(&["ownership", "distribution"]),
            most(&["ghosts"]),
            most(&["weld"]),
            of_ranks[0].1.count,
            most(&["clusters"]),
            most(&["triangles"]),
        );
    }
}

/// The most bytes of a rank in some phases.
fn most<'a>(ranks: impl Iterator<Item = &'a [Traffic]>, names: &[&str]) -> u64 {
    let bytes = |phases: &[Traffic]| -> u64 {
        let phases = phases.iter();
        let phases = phases.filter(|phase| names.contains(&phase.phase));
        phases.map(|phase| phase.bytes).sum()
    };
    ranks.map(bytes).max().unwrap_or(0)
}

/// The traffic of a rank in both families.
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
        let result = trioxide_ranks::polylla::polylla::<DVec2>(
            &ranks,
            &on,
            &block,
            &owners,
            Default::default(),
        );
        let found = result.expect("a good mesh");
        let ordered = found.into_ordered(&ranks, &on, [block.vertices, block.cells]);
        ordered.expect("few vertices");
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
            trioxide_ranks::smooth::smooth::<DVec3>(&ranks, &on, &block, &[], &options, &owners);
        result.expect("a good mesh");
        Sent {
            polylla,
            smooth: ranks.traffic(),
        }
    });
    let polylla = |names: &[&str]| most(of_ranks.iter().map(|rank| &rank.polylla[..]), names);
    let smooth = of_ranks.iter().map(|rank| &rank.smooth[..]);
    let sweep = most(smooth, &["smooth"]) / u64::from(SWEEPS);
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
