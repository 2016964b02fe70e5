//! Times of Polylla in three dimensions.

use serde_json::json;
use trioxide::Result;
use trioxide::backend::Device;
use trioxide::polyhedra::{Options, polyhedra};
use trioxide::refine_tets::{DeviceTets, SpacePoint};
use trioxide::tet_faces::DeviceFaces;
use trioxide::volume::TetMesh;

use super::bytes::{Formula, Numbers};
use super::names::map;
use super::{Measured, Runs, rows, waited};

/// Times the faces of tetrahedra, polyhedra from labels on, and polyhedra that are split until their surfaces are 2-manifolds.
pub fn bench<P: SpacePoint>(on: &Device, mesh: &TetMesh, runs: Runs) -> Result<Measured> {
    let plain = Options {
        count_pinched: false,
        ..Options::default()
    };
    let strict = Options {
        strict: true,
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
    Ok(Measured {
        counts,
        peak_bytes,
        stages,
    })
}

/// Bytes that a stage must move: T tetrahedra, P polyhedra. Reads at the other side of a face count as if each array were read once.
pub(super) fn formula(n: &Numbers<'_>, stage: &str) -> Formula {
    let (v, t) = (n.count("vertices")?, n.count("cells")?);
    let polyhedra = n.count("polyhedra")?;
    let p = 3.0 * n.scalar();
    let bits = t / 2.0;
    Some(match stage {
        // The table has two slots for each of the 2T faces: cleared; one taken, read.
        "match faces" => (
            16.0 * t + 32.0 * t + 32.0 * t + 16.0 * t,
            "tetrahedra read; twins cleared, written, read; table cleared, written, read",
        ),
        "label largest faces" => (
            16.0 * t + p * v + bits,
            "tetrahedra, points read; bits written",
        ),
        "label frontier faces" => (
            16.0 * t + 2.0 * bits + 4.0 * t,
            "twins, bits read; frontier bits, links written",
        ),
        "find roots" => (
            8.0 * t + t / 8.0,
            "links read; roots, bits of roots written",
        ),
        "find barrier faces" => (
            16.0 * t + 4.0 * t + 2.0 * bits,
            "twins, roots, frontier bits read; bits written",
        ),
        "repair barrier tips" => (
            (4.0 + 4.0 + 32.0 + 40.0 + 8.0) * n.count("barrier_faces")?,
            "for each barrier face: itself, its twin, two tetrahedra, their links, roots and parents read; cut written, read",
        ),
        "number polyhedra" => (
            4.0 * t + 16.0 * t + 4.0 * t + t / 8.0 + 16.0 * polyhedra,
            "links read; polyhedra, places written, read; lists written; bits of roots read; counts cleared, written, scanned",
        ),
        "list faces" => (
            8.0 * t + bits + 8.0 * polyhedra + 8.0 * (t + polyhedra),
            "lists read, ordered; offsets, frontier bits read; sides, offsets written",
        ),
        "check barrier faces" => (
            16.0 * n.count("barrier_faces")?,
            "for each barrier face: itself, its twin, two polyhedra read",
        ),
        "find pinched polyhedra" => (
            4.0 * t + 16.0 * t + 4.0 * t + 4.0 * (t + 3.0 * polyhedra),
            "lists, tetrahedra, links read; tops written",
        ),
        _ => return None,
    })
}
