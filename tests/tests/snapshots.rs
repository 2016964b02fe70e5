//! The pipelines' results for small meshes, number by number: counts, quality, and a digest of every array.
//!
//! A change here is a change of results for every user: `cargo xtask snapshots` shows it, `--accept` writes it.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use glam::DVec2;
use libtest_mimic::{Arguments, Failed, Trial};
use trioxide::device::Device;
use trioxide::digest::digest;
use trioxide::half_edges::DeviceTriangulation;
use trioxide::mesh::{PolygonMesh, Triangulation};
use trioxide::polylla::{Constraints, Options, polylla};
use trioxide::quality::quality;
use trioxide::refine::{self, DeviceEdgeMesh};
use trioxide::{formats, generate, weld};
use trioxide_operations::info::polygons_to_json;

/// Largest snapshot in bytes: people read it.
const MOST_BYTES: usize = 4096;

fn main() {
    let meshes = meshes();
    let names: BTreeSet<String> = meshes.iter().map(|(name, _)| name.clone()).collect();
    let mut trials = vec![Trial::test("every snapshot is of a mesh", move || {
        no_snapshot_is_left_over(&names)
    })];
    trials.extend(meshes.into_iter().map(|(name, mesh)| {
        Trial::test(name.clone(), move || {
            let summary = summary(&mesh).map_err(|error| error.to_string())?;
            if summary.len() > MOST_BYTES {
                return Err(format!("{} bytes are too many to read", summary.len()).into());
            }
            let mut settings = insta::Settings::clone_current();
            settings.set_prepend_module_to_snapshot(false);
            settings.set_omit_expression(true);
            settings.bind(|| insta::assert_snapshot!(name, summary));
            Ok(())
        })
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// Fixtures that are planar triangulations, and generated meshes.
fn meshes() -> Vec<(String, Triangulation)> {
    let generated = "the generator takes these sizes";
    let on = Device::cpu(None).expect("threads");
    let mut meshes = vec![
        (
            "grid_1k".to_owned(),
            generate::grid(1_000).expect(generated),
        ),
        (
            "random_1k".to_owned(),
            generate::random(&on, 1_000, 1).expect(generated),
        ),
        (
            "disk_500".to_owned(),
            generate::disk(&on, 500, 0).expect(generated),
        ),
    ];
    for path in fixtures() {
        let mesh = formats::read(&path).unwrap_or_else(|error| panic!("{error}"));
        // The planar pipelines take no surfaces and polygons.
        let Ok(mesh) = mesh.into_triangulation() else {
            continue;
        };
        let stem = path.file_stem().expect("a fixture has a name");
        meshes.push((stem.to_string_lossy().into_owned(), mesh));
    }
    meshes
}

/// Mesh files in fixtures/, in order; for a `.node`, `.ele` and `.poly` with the same stem only the first.
fn fixtures() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let mut paths: Vec<PathBuf> = fs::read_dir(directory)
        .expect("the fixtures are there")
        .map(|entry| entry.expect("a readable directory").path())
        .filter(|path| {
            let extension = path.extension().unwrap_or_default();
            ["off", "obj", "ply", "vtu", "node"]
                .iter()
                .any(|known| extension == *known)
        })
        .collect();
    paths.sort();
    assert!(paths.len() > 3, "only {paths:?}");
    paths
}

fn summary(mesh: &Triangulation) -> trioxide::Result<String> {
    let on = Device::cpu(None)?;
    let triangulation = DeviceTriangulation::<DVec2>::upload(&on, mesh)?;
    let constraints = Constraints::of(&on, &triangulation, mesh)?;
    let result = polylla(
        &on,
        &triangulation,
        constraints.as_ref(),
        Options::default(),
    )?;
    let half_edges = triangulation.download(&on)?;
    let result = result.download_mesh(&on, &triangulation)?;
    let counts = result.counts;

    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        writeln!(text, "{name:<26} {value}").expect("strings take all that is written");
    };
    line("vertices", mesh.points.len().to_string());
    line("triangles", mesh.triangles.len().to_string());
    line("half-edges", half_edges.twin.len().to_string());
    for (name, count) in [
        ("polygons", counts.polygons),
        ("terminal-edge regions", counts.regions),
        ("frontier edges", counts.frontier_edges),
        ("barrier tips", counts.barrier_tips),
        ("weakly simple", counts.weakly_simple),
    ] {
        line(name, count.to_string());
    }
    for (name, array) in [
        ("origin", &half_edges.origin),
        ("twin", &half_edges.twin),
        ("next", &half_edges.next),
        ("prev", &half_edges.prev),
        ("half-edge of vertex", &half_edges.of_vertex),
        ("polygon next", &result.next),
        ("polygon prev", &result.prev),
        ("polygon half-edges", &result.half_edges),
        ("polygon offsets", &result.polygons.offsets),
        ("polygon vertices", &result.polygons.vertices),
    ] {
        line(name, digest(array));
    }
    line("points", digest(&mesh.points));
    let polygons = PolygonMesh {
        points: mesh.points.clone(),
        polygons: result.polygons,
        regions: None,
        segments: Vec::new(),
    };
    refinement(&on, mesh, &mut line)?;
    welding(&on, mesh, &mut line)?;
    let quality = serde_json::to_string_pretty(&polygons_to_json(&quality(&polygons)));
    line("quality", quality.expect("an object of names and numbers"));
    Ok(text)
}

/// Two rounds that refine one triangle in nine of the input, with all its parts.
fn refinement(
    on: &Device,
    mesh: &Triangulation,
    line: &mut impl FnMut(&str, String),
) -> trioxide::Result<()> {
    let mut fine = DeviceEdgeMesh::<DVec2>::upload(on, mesh)?;
    let marked = (0..mesh.triangles.len()).map(|t| t % 9 == 0).collect();
    let options = refine::Options {
        marking: refine::Marking::Flags(marked),
        rounds: 2,
        ..refine::Options::default()
    };
    refine::refine(on, &mut fine, &options)?;
    let level = fine.level();
    line("refined vertices", level.vertices.to_string());
    line("refined edges", level.edges.to_string());
    line("refined triangles", level.triangles.to_string());
    line("refined points", digest(&on.download(fine.points())?));
    line("refined corners", digest(&on.download(fine.corners())?));
    line("refined sides", digest(&on.download(fine.sides())?));
    line("refined parents", digest(&on.download(fine.parents())?));
    line(
        "refined edge ends",
        digest(&on.download(&fine.edge_ends(on)?)?),
    );
    Ok(())
}

/// Half of the vertices welded away.
fn welding(
    on: &Device,
    mesh: &Triangulation,
    line: &mut impl FnMut(&str, String),
) -> trioxide::Result<()> {
    let points: Vec<_> = mesh.points.iter().map(|p| p.extend(0.0)).collect();
    let mesh = weld::DeviceMesh::upload_arrays(on, &points, &mesh.triangles)?;
    let found = weld::epsilon_for_ratio(on, &mesh, weld::Guards::default(), 0.5)?;
    line("weld epsilon", found.epsilon.to_string());
    let options = weld::Options::new(found.epsilon);
    let welded = weld::weld(on, &mesh, options)?.download(on)?;
    line("welded vertices", welded.points.len().to_string());
    line("welded triangles", welded.faces.len().to_string());
    line("welded map", digest(&welded.map));
    line("welded points", digest(&welded.points));
    line("welded corners", digest(&welded.faces));
    Ok(())
}

/// A snapshot without a mesh would never be compared.
fn no_snapshot_is_left_over(names: &BTreeSet<String>) -> Result<(), Failed> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        if path
            .extension()
            .is_some_and(|extension| extension == "snap")
            && !names.contains(&*stem)
        {
            return Err(format!("{} is of no mesh: remove it", path.display()).into());
        }
    }
    Ok(())
}
