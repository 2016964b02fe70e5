//! Times of Polylla in three dimensions.

use serde_json::json;
use trioxide::Result;
use trioxide::device::Device;
use trioxide::polyhedra::{Options, Rule, polyhedra};
use trioxide::refine_tets::{DeviceTets, SpacePoint};
use trioxide::tet_faces::DeviceFaces;
use trioxide::volume::TetMesh;

use super::names::map;
use super::{Measured, Runs, rows, waited};

/// Times the faces of tetrahedra, polyhedra from labels on, polyhedra that are split until their surfaces are
/// 2-manifolds, and cavities.
pub fn bench<P: SpacePoint>(on: &Device, mesh: &TetMesh, runs: Runs) -> Result<Measured> {
    let plain = Options {
        count_pinched: false,
        ..Options::default()
    };
    let strict = Options {
        strict: true,
        ..Options::default()
    };
    let cavities = Options {
        rule: Rule::Cavity,
        ..Options::default()
    };
    on.reset_peak();
    let mut stages = vec![waited("host arrays to host arrays", runs.min(5), || {
        let (tets, faces) = DeviceTets::<P>::upload_with_faces(on, mesh)?;
        let result = polyhedra(on, &tets, &faces, plain)?;
        result.download(on, &faces).map(drop)
    })?];
    let peak_bytes = on.peak_bytes();
    let (tets, faces) = DeviceTets::<P>::upload_with_faces(on, mesh)?;
    stages.extend(rows("faces", on, runs, || {
        on.stage("match faces", || DeviceFaces::of(on, &tets))
            .map(drop)
    })?);
    let mut counts = map([
        ("vertices", json!(mesh.points.len())),
        ("cells", json!(mesh.tetrahedra.len())),
    ]);
    let mut found = None;
    stages.extend(rows("labels to polyhedra", on, runs, || {
        found = Some(polyhedra(on, &tets, &faces, plain)?.counts());
        Ok(())
    })?);
    if let Some(found) = found {
        counts.insert("polyhedra".to_owned(), json!(found.polyhedra));
        counts.insert("regions".to_owned(), json!(found.regions));
        counts.insert("barrier_faces".to_owned(), json!(found.barrier_faces));
        counts.insert("barrier_tips".to_owned(), json!(found.barrier_tips));
        counts.insert(
            "regions_with_barriers".to_owned(),
            json!(found.regions_with_barriers),
        );
        counts.insert("most_tetrahedra".to_owned(), json!(found.most_tetrahedra));
    }
    let mut split = None;
    stages.extend(rows("strict", on, runs, || {
        split = Some(polyhedra(on, &tets, &faces, strict)?.counts());
        Ok(())
    })?);
    if let Some(split) = split {
        counts.insert("polyhedra_strict".to_owned(), json!(split.polyhedra));
        counts.insert("split_rounds".to_owned(), json!(split.split_rounds));
    }
    let mut joined = None;
    stages.extend(rows("cavities", on, runs, || {
        let result = polyhedra(on, &tets, &faces, cavities)?;
        joined = Some((result.counts(), result.rounds()));
        Ok(())
    })?);
    if let Some((joined, rounds)) = joined {
        counts.insert("polyhedra_cavity".to_owned(), json!(joined.polyhedra));
        counts.insert("rounds_cavity".to_owned(), json!(rounds));
    }
    Ok(Measured {
        counts,
        peak_bytes,
        stages,
    })
}
