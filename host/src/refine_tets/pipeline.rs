//! The levels, stage by stage.

use gpu::refine_tets as kernel;
use trioxide_kernel::NONE;
use trioxide_kernel::launch::Buffer;

use super::edges::{Edges, too_many};
use super::{
    DeviceRefined, DeviceTets, DividedEdges, Level, MOST_TETRAHEDRA, Marking, Options, SpacePoint,
    check_options, seed_of_level, threshold,
};
use crate::backend::Device;
use crate::collective::{compact, exclusive_scan};
use crate::{Error, Result};

/// Rounds of the closure between two looks at whether there was progress.
const ROUNDS: u32 = 8;

/// Refines a mesh that is on the device. Between levels nothing leaves it but counts.
///
/// # Errors
/// As [`super::run`].
pub fn refine<P: SpacePoint>(
    on: &Device,
    mesh: DeviceTets<P>,
    options: &Options,
) -> Result<DeviceRefined<P>> {
    check_options(options, mesh.count() as usize)?;
    let chosen = match &options.marking {
        Marking::Chosen(chosen) => on.upload(&pack(chosen))?,
        _ => on.uninitialized(0)?,
    };
    let mut refined = DeviceRefined {
        tetrahedron_parents: on.upload(&ascending(mesh.count()))?,
        face_parents: on.upload(&ascending(mesh.faces.len() as u32 / 3))?,
        vertex_parents: on.uninitialized(0)?,
        levels: Vec::new(),
        mesh,
    };
    for level in 0..options.rounds {
        let enough = options
            .max_tetrahedra
            .is_some_and(|most| refined.mesh.count() as usize >= most);
        if enough {
            break;
        }
        let marks = mark(on, &refined, &options.marking, &chosen, level)?;
        let counts = divide(on, &mut refined, &marks, options.edges)?;
        refined.levels.push(counts);
        if counts.divided_tetrahedra == 0 {
            break;
        }
    }
    Ok(refined)
}

/// The marked tetrahedra of a level, a bit each.
fn mark<P: SpacePoint>(
    on: &Device,
    refined: &DeviceRefined<P>,
    marking: &Marking,
    chosen: &Buffer<u32>,
    level: u32,
) -> Result<Buffer<u32>> {
    let DeviceTets {
        points, tetrahedra, ..
    } = &refined.mesh;
    let n = refined.mesh.count();
    on.stage("mark tetrahedra", || {
        if *marking == Marking::All {
            return on.filled(n.div_ceil(32) as usize, u32::MAX);
        }
        let mut bits = on.uninitialized(n.div_ceil(32) as usize)?;
        match marking {
            Marking::All => {}
            Marking::Fraction { fraction, seed } => unsafe {
                kernel::mark_tets_by_fraction::launch(
                    on,
                    n,
                    seed_of_level(*seed, level),
                    threshold(*fraction),
                    &mut bits,
                )
            }?,
            Marking::Box { low, high } => unsafe {
                kernel::mark_tets_in_box::launch(
                    on, n, tetrahedra, points, low.x, low.y, low.z, high.x, high.y, high.z,
                    &mut bits,
                )
            }?,
            Marking::Ball { centre, radius } => unsafe {
                kernel::mark_tets_in_ball::launch(
                    on,
                    n,
                    tetrahedra,
                    points,
                    centre.x,
                    centre.y,
                    centre.z,
                    radius * radius,
                    &mut bits,
                )
            }?,
            Marking::Volume(volume) => unsafe {
                kernel::mark_large_tets::launch(on, n, tetrahedra, points, 6.0 * volume, &mut bits)
            }?,
            Marking::Chosen(_) => unsafe {
                kernel::mark_tet_descendants::launch(
                    on,
                    n,
                    &refined.tetrahedron_parents,
                    chosen,
                    &mut bits,
                )
            }?,
        }
        Ok(bits)
    })
}

/// One level: the tetrahedra in `chosen` are divided, and what else must be.
fn divide<P: SpacePoint>(
    on: &Device,
    refined: &mut DeviceRefined<P>,
    chosen: &Buffer<u32>,
    by: DividedEdges,
) -> Result<Level> {
    let n = refined.mesh.count();
    on.require(DeviceTets::<P>::bytes_needed(
        refined.mesh.points.len(),
        n as usize,
    ))?;
    let edges = on.stage("edges", || refined.mesh.edges(on))?;
    let count = edges.first_uses.len();

    // Steps 1 and 2.
    let orders = on.stage("order edges", || {
        let mut orders = on.uninitialized(n as usize)?;
        let DeviceTets {
            points, tetrahedra, ..
        } = &refined.mesh;
        unsafe {
            kernel::order_tet_edges::launch(on, n, tetrahedra, points, &edges.edges, &mut orders)
        }?;
        Ok(orders)
    })?;
    let mut marked = on.stage("mark edges", || {
        let mut marked = on.filled(count.div_ceil(32), 0)?;
        let every = u32::from(by == DividedEdges::Every);
        unsafe {
            kernel::mark_edges_of_tets::launch(
                on,
                n,
                chosen,
                &orders,
                &edges.edges,
                every,
                &mut marked,
            )
        }?;
        Ok(marked)
    })?;

    // Steps 3 and 4.
    let (touched, closure_rounds) = on.stage("close marks", || {
        let (bits, rounds) = close(on, n, &edges, &orders, &mut marked)?;
        Ok((compact(on, &bits)?, rounds))
    })?;
    let Edges {
        edges,
        first_uses,
        last_uses,
        links,
        face_edges,
    } = edges;
    drop((last_uses, links));

    // Steps 5 and 6.
    let divided_tetrahedra = touched.len() as u32;
    let (divisions, slots, added) = on.stage("count children", || {
        let mut divisions = on.uninitialized(touched.len())?;
        let mut slots = on.uninitialized(touched.len())?;
        unsafe {
            kernel::count_tet_children::launch(
                on,
                divided_tetrahedra,
                &touched,
                &edges,
                &orders,
                &marked,
                &mut divisions,
                &mut slots,
            )
        }?;
        // The sum is modulo 2^32: exact, as no tetrahedron has more than eight children.
        if divided_tetrahedra.checked_mul(7).is_none() {
            return Err(too_many(8 * touched.len()));
        }
        let total = exclusive_scan(on, &mut slots)?;
        Ok((divisions, slots, on.read(&total, 0)?))
    })?;
    drop(orders);
    if (n + added) as usize > MOST_TETRAHEDRA {
        return Err(too_many((n + added) as usize));
    }

    // Step 7.
    let (divided, midpoints) = on.stage("new vertices", || {
        let divided = compact(on, &marked)?;
        let midpoints = place_midpoints(on, refined, &divided, &first_uses, count)?;
        Ok((divided, midpoints))
    })?;
    drop(first_uses);
    on.stage("new tetrahedra", || {
        let DeviceRefined {
            mesh,
            tetrahedron_parents,
            ..
        } = refined;
        let total = (n + added) as usize;
        mesh.tetrahedra = on.resized(&mesh.tetrahedra, 4 * total)?;
        *tetrahedron_parents = on.resized(tetrahedron_parents, total)?;
        Ok(unsafe {
            kernel::write_tet_children::launch(
                on,
                divided_tetrahedra,
                &touched,
                &divisions,
                &slots,
                &edges,
                &midpoints,
                &mut mesh.tetrahedra,
                tetrahedron_parents,
                n,
            )
        }?)
    })?;
    if !refined.mesh.faces.is_empty() {
        on.stage("tagged faces", || {
            divide_faces(on, refined, &face_edges, &marked, &midpoints)
        })?;
    }
    on.stage("check children", || {
        let mut found = on.filled(kernel::tet_rule::COUNT, NONE)?;
        let children = divided_tetrahedra + added;
        refined
            .mesh
            .check_tetrahedra(on, &touched, n, children, &mut found)
            .map_err(|error| match error {
                Error::Invalid { element, .. } => Error::Invalid {
                    element: format!("level {}: {element}", refined.levels.len() + 1),
                    rule: "is flat, as midpoints fall on vertices: coordinates in the chosen precision are too coarse \
                           for so many levels"
                        .to_owned(),
                },
                other => other,
            })
    })?;
    Ok(Level {
        edges: count as u32,
        divided_edges: divided.len() as u32,
        divided_tetrahedra,
        closure_rounds,
        tetrahedra: n + added,
    })
}

/// Closes `marked`; the tetrahedra with a marked edge, a bit each, and the number of rounds.
fn close(
    on: &Device,
    tetrahedra: u32,
    edges: &Edges,
    orders: &Buffer<u32>,
    marked: &mut Buffer<u32>,
) -> Result<(Buffer<u32>, u32)> {
    let words = marked.len() as u32;
    let mut touched = on.filled(tetrahedra.div_ceil(32) as usize, 0)?;
    let mut fresh = on.duplicate(marked)?;
    let mut found = on.filled(marked.len(), 0)?;
    let mut rounds = 0;
    loop {
        let mut progress = on.filled(ROUNDS as usize, 0)?;
        for round in 0..ROUNDS {
            unsafe {
                kernel::close_tet_marks::launch(
                    on,
                    words,
                    &edges.last_uses,
                    &edges.links,
                    &edges.edges,
                    orders,
                    &mut fresh,
                    &mut found,
                    marked,
                    &mut touched,
                    &mut progress,
                    round,
                )
            }?;
            std::mem::swap(&mut fresh, &mut found);
        }
        let last = on.download(&progress)?.iter().position(|&some| some == 0);
        match last {
            Some(round) => return Ok((touched, rounds + round as u32 + 1)),
            None => rounds += ROUNDS,
        }
    }
}

/// Appends the midpoints of the `divided` ones of `count` edges to the points; the new vertex of each such edge.
fn place_midpoints<P: SpacePoint>(
    on: &Device,
    refined: &mut DeviceRefined<P>,
    divided: &Buffer<u32>,
    first_uses: &Buffer<u32>,
    count: usize,
) -> Result<Buffer<u32>> {
    let DeviceRefined {
        mesh,
        vertex_parents,
        ..
    } = refined;
    let vertices = mesh.points.len();
    let total = vertices + divided.len();
    if u32::try_from(total).is_err() {
        return Err(Error::Invalid {
            element: "the refined mesh".to_owned(),
            rule: format!("has {total} vertices, more than 32-bit indices can number"),
        });
    }
    let before = vertex_parents.len() / 2;
    mesh.points = on.resized(&mesh.points, total)?;
    *vertex_parents = on.resized(vertex_parents, 2 * (before + divided.len()))?;
    // Of edges that are not divided it is never read.
    let mut midpoints = on.uninitialized(count)?;
    unsafe {
        kernel::place_tet_midpoints::launch(
            on,
            divided.len() as u32,
            divided,
            first_uses,
            &mesh.tetrahedra,
            &mut mesh.points,
            vertex_parents,
            &mut midpoints,
            vertices as u32,
            before as u32,
        )
    }?;
    Ok(midpoints)
}

/// Divides the tagged triangles.
fn divide_faces<P: SpacePoint>(
    on: &Device,
    refined: &mut DeviceRefined<P>,
    face_edges: &Buffer<u32>,
    marked: &Buffer<u32>,
    midpoints: &Buffer<u32>,
) -> Result<()> {
    let DeviceRefined {
        mesh, face_parents, ..
    } = refined;
    let n = (mesh.faces.len() / 3) as u32;
    let mut divisions = on.uninitialized(n as usize)?;
    let mut slots = on.uninitialized(n as usize)?;
    unsafe {
        kernel::count_face_children::launch(
            on,
            n,
            &mesh.faces,
            face_edges,
            &mesh.points,
            marked,
            &mut divisions,
            &mut slots,
        )
    }?;
    let total = exclusive_scan(on, &mut slots)?;
    let total = n as usize + on.read(&total, 0)? as usize;
    if 3 * total > u32::MAX as usize {
        return Err(Error::Invalid {
            element: "the refined mesh".to_owned(),
            rule: format!("has {total} tagged faces, more than 32-bit indices can number"),
        });
    }
    mesh.faces = on.resized(&mesh.faces, 3 * total)?;
    *face_parents = on.resized(face_parents, total)?;
    unsafe {
        kernel::write_face_children::launch(
            on,
            n,
            &divisions,
            &slots,
            face_edges,
            midpoints,
            &mut mesh.faces,
            face_parents,
            n,
        )
    }?;
    Ok(())
}

fn ascending(n: u32) -> Vec<u32> {
    (0..n).collect()
}

/// A bit for each flag.
fn pack(flags: &[bool]) -> Vec<u32> {
    let word = |flags: &[bool]| {
        let bits = flags.iter().rev();
        bits.fold(0, |word, &flag| word << 1 | u32::from(flag))
    };
    flags.chunks(32).map(word).collect()
}
