//! Triangles of a welded mesh.

use gpu::ids::{Triangle, Vertex};
use gpu::weld as kernel;
use gpu::weld::Cluster;
use trioxide_kernel::Bits;
use trioxide_kernel::launch::Buffer;

use super::clusters::Clusters;
use super::{Error, Options, Result, check_sizes, stage};
use crate::collective::compact_with_room;
use crate::device::{BitSet, Device};

/// Slots of the table of triangles: four for each vertex of a closed surface.
pub(super) fn slots(triangles: usize) -> usize {
    2 * triangles + 64
}

/// Slots for each of `vertices` vertices, times 2^32.
pub(super) fn slots_per_vertex(slots: usize, vertices: usize) -> u64 {
    ((slots as u64) << 32) / vertices.max(1) as u64
}

/// The remaining triangles, and the list of their old ids (empty for all).
pub(super) fn remap_faces(
    on: &Device,
    faces: &Buffer<[Vertex; 3]>,
    clusters: &Clusters,
    options: &Options,
) -> Result<(Buffer<[Cluster; 3]>, Buffer<Triangle>)> {
    let mut found = on.filled(1, Triangle::NONE)?;
    let list = if options.keep_degenerate {
        on.uninitialized(0)?
    } else {
        let triangles = faces.len();
        let words = triangles.div_ceil(32);
        let mut kept = on.uninitialized(words)?;
        let mut repeated = on.filled(words, trioxide_kernel::Bits::EMPTY)?;
        let slots = slots(triangles);
        let mut table = on.filled(slots, Triangle::NONE)?;
        let vertices = clusters.representatives.len();
        kernel::claim_faces::launch(
            on,
            triangles as u32,
            faces,
            &clusters.map,
            &mut table,
            &mut repeated,
            &mut found,
            slots_per_vertex(slots, vertices),
            &mut kept,
        )?;
        drop(table);
        kernel::drop_bits::launch(on, words as u32, &repeated, &mut kept)?;
        // All triangles were looked at: no other is found below.
        let (bad, list) = on.read_beside(&found, || compact_with_room(on, &kept))?;
        if bad[0].is_some() {
            return Err(bad_face(bad[0]));
        }
        list
    };
    let count = if options.keep_degenerate {
        faces.len()
    } else {
        list.len()
    };
    let mut left = on.uninitialized(count)?;
    kernel::remap_faces::launch(
        on,
        count as u32,
        &list,
        faces,
        &clusters.map,
        &mut left,
        &mut found,
    )?;
    if options.keep_degenerate {
        let bad = on.read(&found, 0)?;
        if bad.is_some() {
            return Err(bad_face(bad));
        }
    }
    Ok((left, list))
}

/// Bits of the triangles that are equal to an earlier one: the same three vertices, below `names`, in the same order,
/// from whichever on. The triangles are the first `first` of `others`, then `faces`, then the rest of `others`.
pub(super) fn find_repeated(
    on: &Device,
    faces: &Buffer<[u32; 3]>,
    others: &Buffer<[u32; 3]>,
    first: u32,
    names: usize,
) -> Result<BitSet<Triangle>> {
    let n = faces.len() + others.len();
    check_sizes(names, n)?;
    stage(on, "faces", || {
        let slots = slots(n);
        let mut table = on.filled(slots, Triangle::NONE)?;
        let mut repeated = on.filled(n.div_ceil(32), Bits::EMPTY)?;
        let scale = slots_per_vertex(slots, names);
        kernel::claim_named_faces::launch(
            on,
            n as u32,
            faces,
            others,
            first,
            names as u32,
            &mut table,
            &mut repeated,
            scale,
        )?;
        Ok(repeated)
    })
}

fn bad_face(face: Triangle) -> Error {
    Error::FaceIndex {
        face: face.index() as usize,
    }
}
