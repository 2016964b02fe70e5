//! Do edges and triangles fit each other?

use rayon::slice::ParallelSliceMut;

use super::{ensure, invalid};
use crate::Result;
use crate::mesh::{EdgeTriangulation, NONE};

/// Checks that edges and triangles fit each other.
///
/// Rules, in this order: sides fit `u32`; a tag for each edge, if for any; ends of edges in range and different; sides
/// in range; each side of a triangle starts where the one before ends; no side in two triangles; a triangle runs along
/// each edge; no two edges with the same ends.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) with the smallest element that breaks the first broken rule.
pub fn topology<P>(mesh: &EdgeTriangulation<P>) -> Result<()> {
    let (vertices, edges) = (mesh.points.len(), mesh.edges.len());
    ensure(
        edges < 1 << 31 && mesh.triangles.len() < (NONE / 3) as usize && vertices < NONE as usize,
        || "mesh".into(),
        || format!("has {edges} edges, but sides are numbered by 32 bits"),
    )?;
    ensure(
        mesh.tags.is_empty() || mesh.tags.len() == edges,
        || "mesh".into(),
        || format!("has tags for {} edges of {edges}", mesh.tags.len()),
    )?;
    for (e, ends) in mesh.edges.iter().enumerate() {
        let name = || format!("edge {e}");
        if let Some(v) = ends.iter().find(|&&v| v as usize >= vertices) {
            let rule = format!("has vertex {v}, but the mesh has {vertices} vertices");
            return Err(invalid(name(), rule));
        }
        ensure(ends[0] != ends[1], name, || {
            format!("starts and ends at vertex {}", ends[0])
        })?;
    }

    // Triangle of each side.
    let mut owner = vec![NONE; 2 * edges];
    for (t, sides) in mesh.triangles.iter().enumerate() {
        let name = || format!("triangle {t}");
        if let Some(&side) = sides.iter().find(|&&side| side as usize / 2 >= edges) {
            let rule = format!("has edge {}, but the mesh has {edges} edges", side / 2);
            return Err(invalid(name(), rule));
        }
        for k in 0..3 {
            let (side, next) = (sides[k], sides[(k + 1) % 3]);
            ensure(mesh.start(side ^ 1) == mesh.start(next), name, || {
                format!(
                    "goes along edge {} to vertex {}, but its next edge {} starts at vertex {}",
                    side / 2,
                    mesh.start(side ^ 1),
                    next / 2,
                    mesh.start(next)
                )
            })?;
            let other = std::mem::replace(&mut owner[side as usize], t as u32);
            ensure(other == NONE, name, || {
                format!(
                    "runs along edge {} the same way as triangle {other}",
                    side / 2
                )
            })?;
        }
    }
    if let Some(e) = owner.chunks_exact(2).position(|sides| sides[0] == NONE) {
        return Err(invalid(
            format!("edge {e}"),
            "is in no triangle that runs along it from its start to its end",
        ));
    }

    let mut sorted: Vec<(u32, u32, u32)> = mesh
        .edges
        .iter()
        .enumerate()
        .map(|(e, &[a, b])| (a.min(b), a.max(b), e as u32))
        .collect();
    sorted.par_sort_unstable();
    let same = sorted
        .windows(2)
        .filter(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1));
    if let Some((second, first)) = same.map(|pair| (pair[1].2, pair[0].2)).min() {
        return Err(invalid(
            format!("edge {second}"),
            format!("has the same ends as edge {first}"),
        ));
    }
    Ok(())
}
