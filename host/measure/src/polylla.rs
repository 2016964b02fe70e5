//! Times of Polylla, on half-edges and on triangles and neighbours.

use serde_json::{Map, Value, json};
use trioxide::Result;
use trioxide::device::Device;
use trioxide::half_edges::{AnyPoint, DeviceTriangulation, Point};
use trioxide::ids::Vertex;
use trioxide::indexed::{self, Neighbours};
use trioxide::mesh::{PolyllaCounts, Triangulation};
use trioxide::polylla;

use super::names::map;
use super::{Measured, Runs, rows, waited};

fn counts<V>(mesh: &Triangulation<V>, found: PolyllaCounts) -> Map<String, Value> {
    map([
        ("vertices", json!(mesh.points.len())),
        ("triangles", json!(mesh.triangles.len())),
        ("regions", json!(found.regions)),
        ("frontier_edges", json!(found.frontier_edges)),
        ("barrier_tips", json!(found.barrier_tips)),
        ("polygons", json!(found.polygons)),
    ])
}

/// Host arrays in to host lists out; half-edges from triangles; polygons from half-edges with all links ("polylla"),
/// and as lists of vertices ("with lists").
pub fn half_edge<P: AnyPoint>(
    on: &Device,
    mesh: &Triangulation<P::Double>,
    runs: Runs,
) -> Result<Measured> {
    on.reset_peak();
    let lists_only = polylla::Options {
        prev: false,
        ..polylla::Options::default()
    };
    let mut stages = vec![waited("host arrays to host lists", runs.min(5), || {
        let half_edges = DeviceTriangulation::<P>::upload(on, mesh)?;
        let result = polylla::polylla(on, &half_edges, None, lists_only)?;
        result.download_lists(on)?;
        Ok(())
    })?];
    let peak_bytes = on.peak_bytes();
    let points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
    let origins = on.upload(bytemuck::cast_slice::<_, Vertex>(&mesh.triangles))?;
    let mut resident = None;
    let points = on.upload(&points)?;
    stages.extend(rows("half-edges", on, runs, || {
        drop(resident.take());
        let (points, origins) = (on.duplicate(&points)?, on.duplicate(&origins)?);
        let built = DeviceTriangulation::<P>::build(on, points, origins)?;
        drop(built.half_edges_of_vertices(on)?);
        resident = Some(built);
        Ok(())
    })?);
    drop((points, origins));
    let resident = resident.expect("at least one run");
    let half_edges_only = polylla::Options {
        lists: false,
        ..polylla::Options::default()
    };
    let mut found = PolyllaCounts::default();
    stages.extend(rows("polylla", on, runs, || {
        found = polylla::polylla(on, &resident, None, half_edges_only)?.counts();
        Ok(())
    })?);
    stages.extend(rows("with lists", on, runs, || {
        polylla::polylla(on, &resident, None, lists_only)?;
        Ok(())
    })?);
    Ok(Measured {
        counts: counts(mesh, found),
        peak_bytes,
        stages,
    })
}

/// As [`half_edge()`], lists of convex pieces ("convex pieces"), and lists without the edges shorter than a tenth of a
/// polygon's diameter, by themselves ("short edges").
pub fn in_plane<P: Point>(on: &Device, mesh: &Triangulation, runs: Runs) -> Result<Measured> {
    let mut measured = half_edge::<P>(on, mesh, runs)?;
    let resident = DeviceTriangulation::<P>::upload(on, mesh)?;
    let options = polylla::Options {
        prev: false,
        ..polylla::Options::default()
    };
    let mut pieces = 0;
    measured.stages.extend(rows("convex pieces", on, runs, || {
        let polygons = polylla::polylla(on, &resident, None, options)?;
        let divided = polylla::convex_pieces(on, &resident, polygons)?;
        pieces = divided.counts().polygons;
        Ok(())
    })?);
    let counts = &mut measured.counts;
    counts.insert("convex_pieces".to_owned(), json!(pieces));
    let strict = polylla::Options {
        strict: true,
        ..options
    };
    let polygons = polylla::polylla(on, &resident, None, strict)?;
    let short = polylla::ShortEdges {
        ratio: 0.1,
        ..polylla::ShortEdges::default()
    };
    let mut found = polylla::ShortEdgeCounts::default();
    measured.stages.extend(rows("short edges", on, runs, || {
        let left = polylla::remove_short_edges(on, &resident, &polygons, None, short)?;
        found = left.counts();
        Ok(())
    })?);
    let counts = &mut measured.counts;
    counts.insert("short_edges".to_owned(), json!(found.short));
    counts.insert("short_edges_left".to_owned(), json!(found.left));
    Ok(measured)
}

/// Host arrays in to host lists out; neighbours from half-edges; polygons.
pub fn indexed<P: Point>(
    on: &Device,
    mesh: &Triangulation,
    repair: indexed::Repair,
    runs: Runs,
) -> Result<Measured> {
    on.reset_peak();
    let options = indexed::Options {
        repair,
        ..indexed::Options::default()
    };
    let mut stages = vec![waited("host arrays to host lists", runs.min(5), || {
        let half_edges = DeviceTriangulation::<P>::upload(on, mesh)?;
        let neighbours = Neighbours::new(on, &half_edges)?;
        let result = indexed::indexed(on, &half_edges, &neighbours, None, options)?;
        result.download(on)?;
        Ok(())
    })?];
    let peak_bytes = on.peak_bytes();
    let resident = DeviceTriangulation::<P>::upload(on, mesh)?;
    stages.extend(rows("neighbours", on, runs, || {
        Neighbours::new(on, &resident)?;
        Ok(())
    })?);
    let neighbours = Neighbours::new(on, &resident)?;
    let mut found = PolyllaCounts::default();
    let mut rounds = 0;
    stages.extend(rows("indexed", on, runs, || {
        let result = indexed::indexed(on, &resident, &neighbours, None, options)?;
        (found, rounds) = (result.counts(), result.rounds());
        Ok(())
    })?);
    let mut counts = counts(mesh, found);
    counts.insert("repair_rounds".to_owned(), json!(rounds));
    Ok(Measured {
        counts,
        peak_bytes,
        stages,
    })
}
