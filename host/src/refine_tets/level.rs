//! The stages of a level.

use gpu::ids::{Edge, EdgeUse, Tet, Vertex};
use gpu::refine_tets::check_tetrahedra::tet_rule;
use gpu::refine_tets::close_few_marks::{DependenciesBuffers, close_few_tet_marks};
use gpu::refine_tets::close_marks::{CLOSE_TETS, close_tet_marks};
use gpu::refine_tets::count_children::count_tet_children;
use gpu::refine_tets::divide_faces::{count_face_children, write_face_children};
use gpu::refine_tets::mark_edges::mark_edges_of_tets;
use gpu::refine_tets::order_edges::order_tet_edges;
use gpu::refine_tets::place_midpoints::place_tet_midpoints;
use gpu::refine_tets::write_children::{FAMILIES, write_tet_children};
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, NONE, words};

use super::edges::Edges;
use super::{
    DeviceRefined, DeviceTets, DividedEdges, Error, Level, MOST_TETRAHEDRA, Result, SpacePoint,
};
use crate::collective::{compact, count_bits, exclusive_scan};
use crate::device::Device;
use crate::tet_faces::ListId;

/// Tetrahedra of which less than one is marked where the closure follows lists: to make them takes as long as ten
/// rounds over all.
const FEW: u32 = 64;
/// Rounds of the closure between two looks at whether there was progress, where a round takes less time than a look.
const ROUNDS: u32 = 8;
/// Blocks of a round from which it takes longer.
const MANY_BLOCKS: u32 = 1 << 12;

/// Divided tetrahedra, and the slots of their children.
pub(super) struct Children {
    /// The divided tetrahedra, ascending.
    pub touched: Buffer<Tet>,
    /// Marked edges of each, longest first.
    divisions: Buffer<u32>,
    /// Number of new tetrahedra before the new ones of each.
    pub slots: Buffer<u32>,
    /// Number of new tetrahedra.
    added: u32,
}

/// The result of the divisions of a level.
pub(super) struct Divided {
    pub children: Children,
    /// Number of divided edges.
    pub edges: u32,
    /// The error of the first child that breaks a rule.
    pub broken: Option<Error>,
}

/// One level: the tetrahedra in `chosen` are divided, and their neighbours as far as conformity and the closure
/// require.
pub(super) fn divide<P: SpacePoint>(
    on: &Device,
    refined: &mut DeviceRefined<P>,
    chosen: &Buffer<Bits<Tet>>,
    by: DividedEdges,
) -> Result<Level> {
    let n = refined.mesh.count();
    on.require(DeviceTets::<P>::bytes_needed(
        refined.mesh.points.len(),
        n as usize,
    ))?;
    let is_few = is_few(on, chosen, n)?;
    let edges = refined.mesh.edges(on, is_few)?;
    let count = edges.first_uses.len();

    // Steps 1 and 2.
    let orders = order_edges(on, &refined.mesh, &edges)?;
    let mut marked = mark_edges(on, chosen, &orders, &edges, by)?;
    // Steps 3 and 4.
    let (touched, closure_rounds) = on.stage("close marks", || {
        let fresh = is_few.then(|| on.duplicate(&marked)).transpose()?;
        let mut touched = untouched(on, n)?;
        let rounds = close(on, &edges, &orders, &mut marked, fresh, &mut touched)?;
        Ok((compact(on, &touched)?, rounds))
    })?;
    let divided = divide_closed(on, refined, touched, edges, orders, &marked)?;
    match divided.broken {
        Some(Error::Inverted { tetrahedron }) => Err(Error::Flat {
            level: refined.levels.len() + 1,
            tetrahedron,
        }),
        Some(error) => Err(error),
        None => Ok(Level {
            edges: count as u32,
            divided_edges: divided.edges,
            divided_tetrahedra: divided.children.touched.len() as u32,
            closure_rounds,
            tetrahedra: refined.mesh.count(),
            faces: (refined.mesh.faces.len() / 3) as u32,
        }),
    }
}

/// Whether the closure follows lists, where `chosen` of `tetrahedra` are marked.
pub(super) fn is_few(
    on: &Device,
    chosen: &Buffer<Bits<Tet>>,
    tetrahedra: u32,
) -> crate::Result<bool> {
    Ok(count_bits(on, chosen)? < tetrahedra / FEW)
}

/// Divides the tetrahedra in `touched` along their edges in `marked`, and the tagged triangles: steps 5 to 7 of the
/// paper.
pub(super) fn divide_closed<P: SpacePoint>(
    on: &Device,
    refined: &mut DeviceRefined<P>,
    touched: Buffer<Tet>,
    edges: Edges,
    orders: Buffer<u32>,
    marked: &Buffer<Bits<Edge>>,
) -> Result<Divided> {
    let n = refined.mesh.count();
    let Edges {
        edges,
        first_uses,
        face_edges,
        ..
    } = edges;
    // Steps 5 and 6.
    let children = count_children(on, touched, &edges, &orders, marked)?;
    drop(orders);
    let tetrahedra = n as usize + children.added as usize;
    if tetrahedra > MOST_TETRAHEDRA {
        return Err(too_many(tetrahedra));
    }
    // Step 7.
    let divided = on.stage("place midpoints", || compact(on, marked))?;
    let midpoints = place_midpoints(on, refined, &divided, &first_uses)?;
    drop(first_uses);
    write_children(on, refined, &children, &edges, &midpoints)?;
    if !refined.mesh.faces.is_empty() {
        divide_faces(on, refined, &face_edges, marked, &midpoints)?;
    }
    let broken = on.stage("check children", || {
        let mut found = on.filled(tet_rule::COUNT, NONE)?;
        let count = children.touched.len() as u32 + children.added;
        refined
            .mesh
            .find_broken(on, &children.touched, n, count, &mut found)
    })?;
    Ok(Divided {
        children,
        edges: divided.len() as u32,
        broken,
    })
}

/// The edges of each tetrahedron, longest first.
pub(super) fn order_edges<P: SpacePoint>(
    on: &Device,
    mesh: &DeviceTets<P>,
    edges: &Edges,
) -> crate::Result<Buffer<u32>> {
    on.stage("order edges", || {
        let n = mesh.count();
        let mut orders = on.uninitialized(n as usize)?;
        let (tetrahedra, points) = (&mesh.tetrahedra, &mesh.points);
        order_tet_edges::launch(on, n, tetrahedra, points, &edges.edges, &mut orders)?;
        Ok(orders)
    })
}

/// The edges by which the `chosen` tetrahedra are divided.
pub(super) fn mark_edges(
    on: &Device,
    chosen: &Buffer<Bits<Tet>>,
    orders: &Buffer<u32>,
    edges: &Edges,
    by: DividedEdges,
) -> crate::Result<Buffer<Bits<Edge>>> {
    on.stage("mark edges", || {
        let n = orders.len() as u32;
        let mut marked = on.filled(edges.first_uses.len().div_ceil(32), Bits::EMPTY)?;
        let every = by == DividedEdges::Every;
        let edges = &edges.edges;
        // SAFETY: edges are below E, and each has a bit.
        unsafe { mark_edges_of_tets::launch(on, n, chosen, orders, edges, every, &mut marked) }?;
        Ok(marked)
    })
}

/// No tetrahedra, for [`close`].
pub(super) fn untouched(on: &Device, tetrahedra: u32) -> crate::Result<Buffer<Bits<Tet>>> {
    on.filled(words(tetrahedra as usize), Bits::EMPTY)
}

/// Closes `marked`; where lists are followed, from `fresh` on, the new ones of them. `touched` gets the tetrahedra with
/// a marked edge, a bit each. Returns the number of rounds.
pub(super) fn close(
    on: &Device,
    edges: &Edges,
    orders: &Buffer<u32>,
    marked: &mut Buffer<Bits<Edge>>,
    fresh: Option<Buffer<Bits<Edge>>>,
    touched: &mut Buffer<Bits<Tet>>,
) -> crate::Result<u32> {
    match fresh {
        Some(fresh) => close_few(on, edges, orders, marked, fresh, touched),
        None => close_many(on, edges, orders, marked, touched),
    }
}

/// As [`close`], by rounds over all tetrahedra.
fn close_many(
    on: &Device,
    edges: &Edges,
    orders: &Buffer<u32>,
    marked: &mut Buffer<Bits<Edge>>,
    of_marked: &mut Buffer<Bits<Tet>>,
) -> crate::Result<u32> {
    let tetrahedra = orders.len() as u32;
    let blocks = tetrahedra.div_ceil(CLOSE_TETS as u32);
    let mut touched = on.uninitialized(words(tetrahedra as usize))?;
    let mut rounds = 0;
    let at_once = if blocks < MANY_BLOCKS { ROUNDS } else { 1 };
    loop {
        let mut progress = vec![0; at_once as usize + 1];
        progress[0] = 1;
        let mut progress = on.upload(&progress)?;
        for round in 0..at_once {
            let mut after = on.duplicate(marked)?;
            // SAFETY: edges of the tetrahedra are below E, and each has a bit.
            unsafe {
                close_tet_marks::launch(
                    on,
                    blocks,
                    &edges.edges,
                    orders,
                    marked,
                    &mut after,
                    &mut touched,
                    &mut progress,
                    round,
                )
            }?;
            *marked = after;
        }
        let last = on.download(&progress)?.iter().position(|&some| some == 0);
        match last {
            Some(behind) => {
                *of_marked = touched.cast();
                return Ok(rounds + behind as u32);
            }
            None => rounds += at_once,
        }
    }
}

/// As [`close`], along the lists of few marked edges' tetrahedra.
fn close_few(
    on: &Device,
    edges: &Edges,
    orders: &Buffer<u32>,
    marked: &mut Buffer<Bits<Edge>>,
    mut fresh: Buffer<Bits<Edge>>,
    touched: &mut Buffer<Bits<Tet>>,
) -> crate::Result<u32> {
    let words = marked.len() as u32;
    let mut found = on.filled(marked.len(), Bits::EMPTY)?;
    let dependencies = DependenciesBuffers {
        last_uses: &edges.last_uses,
        links: &edges.links,
        edges: &edges.edges,
        orders,
    };
    let mut rounds = 0;
    loop {
        let mut progress = on.filled(ROUNDS as usize, 0)?;
        for round in 0..ROUNDS {
            close_few_tet_marks::launch(
                on,
                words,
                dependencies,
                &mut fresh,
                &mut found,
                marked,
                touched,
                &mut progress,
                round,
            )?;
            std::mem::swap(&mut fresh, &mut found);
        }
        let last = on.download(&progress)?.iter().position(|&some| some == 0);
        match last {
            Some(round) => return Ok(rounds + round as u32 + 1),
            None => rounds += ROUNDS,
        }
    }
}

/// Counts the children of the `touched` tetrahedra.
fn count_children(
    on: &Device,
    touched: Buffer<Tet>,
    edges: &Buffer<Edge>,
    orders: &Buffer<u32>,
    marked: &Buffer<Bits<Edge>>,
) -> Result<Children> {
    // The sum below is modulo 2^32: exact, as no tetrahedron has more than eight children.
    if (touched.len() as u32).checked_mul(7).is_none() {
        return Err(too_many(8 * touched.len()));
    }
    let (divisions, slots, added) = on.stage("count children", || {
        let n = touched.len();
        let (mut divisions, mut slots) = (on.uninitialized(n)?, on.uninitialized(n)?);
        // SAFETY: tetrahedra of the mesh; edges are below E, and each has a bit.
        unsafe {
            count_tet_children::launch(
                on,
                n as u32,
                &touched,
                edges,
                orders,
                marked,
                &mut divisions,
                &mut slots,
            )
        }?;
        let total = exclusive_scan(on, &mut slots)?;
        Ok((divisions, slots, on.read(&total, 0)?))
    })?;
    Ok(Children {
        touched,
        divisions,
        slots,
        added,
    })
}

/// Appends the midpoints of the `divided` edges to the points. Returns the new vertex of each such edge.
fn place_midpoints<P: SpacePoint>(
    on: &Device,
    refined: &mut DeviceRefined<P>,
    divided: &Buffer<Edge>,
    first_uses: &Buffer<EdgeUse>,
) -> Result<Buffer<Vertex>> {
    let DeviceRefined {
        mesh,
        vertex_parents,
        ..
    } = refined;
    let vertices = mesh.points.len();
    let total = vertices + divided.len();
    if u32::try_from(total).is_err() {
        return Err(Error::TooMany {
            count: total,
            elements: "vertices",
        });
    }
    let midpoints = on.stage("place midpoints", || {
        let before = vertex_parents.len() / 2;
        mesh.points = on.resized(&mesh.points, total)?;
        *vertex_parents = on.resized(vertex_parents, 2 * (before + divided.len()))?;
        // For edges that are not divided it is never read.
        let mut midpoints = on.uninitialized(first_uses.len())?;
        // SAFETY: edges below E, each once, with a use each, whose ends are vertices before the level.
        unsafe {
            place_tet_midpoints::launch(
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
    })?;
    Ok(midpoints)
}

/// Writes the children of the divided tetrahedra.
fn write_children<P: SpacePoint>(
    on: &Device,
    refined: &mut DeviceRefined<P>,
    children: &Children,
    edges: &Buffer<Edge>,
    midpoints: &Buffer<Vertex>,
) -> crate::Result<()> {
    let DeviceRefined {
        mesh,
        tetrahedron_parents,
        ..
    } = refined;
    on.stage("write children", || {
        let n = mesh.count();
        let total = n as usize + children.added as usize;
        mesh.tetrahedra = on.resized(&mesh.tetrahedra, 4 * total)?;
        mesh.list = ListId::unique();
        *tetrahedron_parents = on.resized(tetrahedron_parents, total)?;
        // SAFETY: tetrahedra of the mesh, each once; marked edges have a midpoint; slots of children are below the
        // total, by the sums of their counts.
        unsafe {
            write_tet_children::launch(
                on,
                children.touched.len().div_ceil(FAMILIES) as u32,
                &children.touched,
                &children.divisions,
                &children.slots,
                edges,
                midpoints,
                &mut mesh.tetrahedra,
                tetrahedron_parents,
                n,
                children.added,
            )
        }?;
        Ok(())
    })
}

/// Divides the tagged triangles.
fn divide_faces<P: SpacePoint>(
    on: &Device,
    refined: &mut DeviceRefined<P>,
    face_edges: &Buffer<Edge>,
    marked: &Buffer<Bits<Edge>>,
    midpoints: &Buffer<Vertex>,
) -> Result<()> {
    let DeviceRefined {
        mesh, face_parents, ..
    } = refined;
    let n = (mesh.faces.len() / 3) as u32;
    let (divisions, slots, total) = on.stage("divide faces", || {
        let mut divisions = on.uninitialized(n as usize)?;
        let mut slots = on.uninitialized(n as usize)?;
        count_face_children::launch(
            on,
            n,
            &mesh.faces,
            face_edges,
            &mesh.points,
            marked,
            &mut divisions,
            &mut slots,
        )?;
        let total = exclusive_scan(on, &mut slots)?;
        let total = n as usize + on.read(&total, 0)? as usize;
        Ok((divisions, slots, total))
    })?;
    if 3 * total > u32::MAX as usize {
        return Err(Error::TooMany {
            count: total,
            elements: "tagged faces",
        });
    }
    on.stage("divide faces", || {
        mesh.faces = on.resized(&mesh.faces, 3 * total)?;
        *face_parents = on.resized(face_parents, total)?;
        write_face_children::launch(
            on,
            n,
            &divisions,
            &slots,
            face_edges,
            midpoints,
            &mut mesh.faces,
            face_parents,
            n,
        )?;
        Ok(())
    })?;
    Ok(())
}

fn too_many(tetrahedra: usize) -> Error {
    Error::TooManyTetrahedra {
        tetrahedra,
        most: MOST_TETRAHEDRA,
    }
}
