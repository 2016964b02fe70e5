//! The papers' sequential algorithms.

use trioxide::device::{Device, Laps};
use trioxide::half_edges::DeviceTriangulation;
use trioxide::indexed::Repair;
use trioxide::mesh::{PolyllaLists, Ties, Triangulation};
use trioxide::polylla::{self as family, Constraints, PolygonTriangles};
use trioxide::progress;
use trioxide_reference as reference;
use trioxide_reference::indexed::IndexedTriangulation;

use super::points::Points;
use super::{DataStructure, Done, Refusal, Wanted};
use crate::error::Result;
use crate::report::Run;

pub(super) fn serial<P: Points>(
    mesh: &Triangulation<P::Double>,
    wanted: Wanted<'_>,
) -> Result<Done> {
    let options = wanted.options;
    if options.repair == Some(Repair::Device) {
        return Err(Refusal::SerialRepair.into());
    }
    let mut laps = Laps::start();
    progress::stage("polylla, sequentially");
    // By the check of the devices, so that every machine refuses the same meshes in the same words.
    let on = Device::cpu(Some(1))?;
    let checked = DeviceTriangulation::<P>::upload(&on, mesh)?;
    Constraints::of(&on, &checked, mesh)?;
    drop(checked);
    laps.end("check the mesh");
    let half_edges = reference::half_edges(&mesh.triangles, mesh.points.len());
    laps.end("half-edges");
    let points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
    let mut constrained = reference::constrained_edges(mesh, &half_edges)?;
    P::mark_angles(&points, &half_edges, &mut constrained, options);
    laps.end("mark constraints");
    let is_constrained = |h: u32| constrained[h as usize];
    let is_lost = options.ties == Ties::First
        && reference::polylla::loses_triangles(&points, &half_edges, is_constrained, Ties::First);
    if is_lost {
        return Err(family::Error::TiedRing.into());
    }
    let mut lists = if options.method == DataStructure::Indexed {
        let arrays = IndexedTriangulation::new(&mesh.triangles, mesh.points.len());
        laps.end("find neighbours");
        let (result, times) = reference::indexed(&points, &arrays, is_constrained, options.ties);
        laps.end_all(times);
        PolyllaLists {
            polygons: result.polygons,
            half_edges: result.half_edges,
            counts: result.counts,
        }
    } else {
        let (mut result, times) =
            reference::polylla(&points, &half_edges, is_constrained, options.ties);
        laps.end_all(times.phases());
        if options.splits() {
            reference::polylla::split_weakly_simple(&half_edges, &mut result);
            laps.end("cut weakly simple polygons");
        }
        if options.convex_pieces {
            P::divide_serially(&points, &half_edges, &mut result, options);
            laps.end("find convex pieces");
        }
        PolyllaLists {
            polygons: result.polygons,
            half_edges: result.half_edges,
            counts: result.counts,
        }
    };
    let triangles = wanted.triangles.then(|| {
        let (polygons, firsts) = (&lists.polygons, &lists.half_edges);
        let triangles = PolygonTriangles::of_polygons(mesh, &half_edges.twin, polygons, firsts);
        laps.end("list triangles");
        triangles
    });
    let mut shortened = None;
    if options.min_edge.is_some() {
        shortened = P::shorten_serially(
            &points,
            &half_edges,
            &constrained,
            &mut lists.polygons,
            wanted,
        );
        laps.end("remove short edges");
    }
    Ok(Done {
        lists,
        triangles,
        repair_rounds: None,
        shortened,
        run: Run::serial(laps.into_stages()),
    })
}
