//! Polyhedra of tetrahedra on ranks: those of the single run, and their order.
//!
//! | step | method | data sent |
//! | --- | --- | --- |
//! | largest faces, links | [`LabelShare`] on the rank's device: the kernels of the single run | a byte a ghost |
//! | walks that leave the part | ranks ask the owner of the ghost at which a walk ends for its continuation ([`crossing`](self)) | four words a round and ghost that is a parent, in rounds as many as the logarithm of a walk's crossings |
//! | regions of several ranks | their tetrahedra go to the owner of the region's root, with their labels | six words a tetrahedron of such a region |
//! | barrier faces, repair, polyhedra, splits | the kernels of the single run, for each rank's own regions, and for regions of several ranks | |
//! | gather, where a file is written | lists of polyhedra to rank 0 | about 36 bytes a tetrahedron |
//!
//! The rule of cavities is for one process: a cavity may reach any number of ranks before its seed is known to be one.
//!
//! # Why the bits are the same
//!
//! The part has all neighbours of owned tetrahedra across faces, and local ids ascend with those of the whole mesh. So
//! owned tetrahedra choose as in the single run, also among equal faces. Later steps look at one region alone, and each
//! region is whole at one rank ([`trioxide::polyhedra::LabelShare`]). Polyhedra have the order of their roots' ids, and
//! their tetrahedra and sides ascend: so rank 0 merges lists by roots. Regions are small, except in meshes made for
//! long walks: at worst all tetrahedra are one region, and go to one rank.

mod crossing;
mod result;

use glam::DVec3;
use trioxide::Device;
use trioxide::polyhedra::{
    DevicePolyhedra, LabelShare, Options, Rule, boundary_faces_of, bytes_needed, largest_faces,
    of_taken,
};
use trioxide::refine_tets::{DeviceTets, SpacePoint};
use trioxide::tet_faces::DeviceFaces;
use trioxide::volume::{TaggedTriangle, TetMesh};
use trioxide_mesh::parallel;
use trioxide_operations::polyhedra::Totals;

use crate::fault::Result;
use crate::halo::Halo;
use crate::ids::{Ids, Owners};
use crate::ownership::Ownership;
use crate::part::{Part, check_size};
use crate::records::Records;
use crate::shape::Shape;
use crate::tets::{Input, first_of_tagged, is_of_mesh, part_of, refuse, too_large};
use crate::transport::{Ranks, Reduction};

/// The polyhedra of a run as the ranks' devices leave them, each at one rank.
pub struct Found {
    /// Counts of the whole mesh.
    pub totals: Totals,
    cells: Ids,
    owners: Owners,
    faces: DeviceFaces,
    /// For each tagged triangle of `faces`, its place among all tagged triangles.
    tagged: Vec<u32>,
    /// The polyhedra of the part, and the tetrahedra whose polyhedra do not count.
    within: (DevicePolyhedra, Vec<u32>),
    /// The polyhedra of regions of several ranks, and the ids of their tetrahedra.
    crossing: (DevicePolyhedra, Ids),
}

/// Makes polyhedra of the mesh whose blocks the ranks hold. Collective.
///
/// # Errors
/// As [`trioxide::polyhedra::polyhedra`], in the same words on every rank; a part with more elements than 32-bit ids
/// name; [`trioxide::Error::Argument`] for the rule of cavities.
pub fn polyhedra<P: SpacePoint>(
    ranks: &Ranks,
    on: &Device,
    input: Input,
    options: Options,
    ownership: &Ownership,
) -> Result<Found> {
    let part = part_of::<P>(ranks, input, ownership)?;
    find::<P>(ranks, on, input, part, options)
}

/// A part on the device.
struct Resident<P> {
    mesh: DeviceTets<P>,
    faces: DeviceFaces,
    /// For each tagged triangle of `faces`, its place among all tagged triangles.
    tagged: Vec<u32>,
}

/// As [`polyhedra()`], in parts that exist already. Collective.
///
/// # Errors
/// As there.
pub fn find<P: SpacePoint>(
    ranks: &Ranks,
    on: &Device,
    input: Input,
    mut part: Part<DVec3>,
    options: Options,
) -> Result<Found> {
    if options.rule == Rule::Cavity {
        let said = "cavities are for one process: join tetrahedra across their largest faces";
        return Err(trioxide::Error::Argument(said.to_owned()).into());
    }
    let Resident {
        mesh,
        mut faces,
        tagged,
    } = upload::<P>(ranks, on, input, &mut part, options)?;
    ranks.phase("polyhedra");
    let mut largest = ranks.agree(largest_faces(on, &mesh, &faces, options.by))?;
    give_largest(ranks, &part.halo, &mut largest);
    let mut ghosts = part.halo.ghosts().to_vec();
    ghosts.sort_unstable();
    let outer = ranks.agree(boundary_faces_of(on, &mut faces, &ghosts))?;
    let outer = u64::from(faces.boundary_faces()) - outer;
    // SAFETY: the part's own mesh; ghosts have their owners' largest faces.
    let share = unsafe { LabelShare::new(on, &mesh, &faces, &largest, ghosts, options) };
    let mut share = ranks.agree(share)?;
    drop(largest);

    ranks.phase("polyhedra across ranks");
    let rows = crossing::collect(ranks, on, &part, &mut share)?;
    let crossing = of_rows(ranks, on, &rows, options)?;
    let ids = Ids::of(rows.ids());
    drop(rows);

    ranks.phase("polyhedra");
    let (within, apart) = ranks.agree(share.polyhedra(on, &mesh, &faces, options))?;
    drop(mesh);
    let of_parts = [(&within, apart.len() as u64), (&crossing, 0)];
    let totals = totals(ranks, on, of_parts, outer, input)?;
    Ok(Found {
        totals,
        cells: part.cells,
        owners: part.owners,
        faces,
        tagged,
        within: (within, apart),
        crossing: (crossing, ids),
    })
}

/// Copies the part to the device, checks it and finds its faces; `part` keeps the corners alone. Collective.
fn upload<P: SpacePoint>(
    ranks: &Ranks,
    on: &Device,
    input: Input,
    part: &mut Part<DVec3>,
    options: Options,
) -> Result<Resident<P>> {
    ranks.phase("check");
    let first = first_of_tagged(part, input.tagged);
    let me = ranks.rank() as u32;
    let is_own = |t: &&u32| part.owners.get(**t as usize) == me;
    let own = first.iter().flatten().filter(is_own).count();
    let seen = ranks.sum(own as u64);
    let tagged: Vec<u32> = (0..first.len() as u32)
        .filter(|&f| first[f as usize].is_some())
        .collect();
    let local = |v: u32| {
        let place = part.vertices.place(v.into());
        place.expect("it is a face of the part")
    };
    let face = |&f: &u32| TaggedTriangle {
        vertices: input.tagged[f as usize].map(local),
        tag: 0,
    };
    let faces = tagged.iter().map(face).collect();
    let (points, corners) = part.shape.take_lists();
    // Without a copy, unless the list has room for a fraction of a tetrahedron.
    let tetrahedra = bytemuck::try_cast_vec(corners);
    let mesh = TetMesh {
        tetrahedra: tetrahedra.unwrap_or_else(|(_, corners)| corners.as_chunks().0.to_vec()),
        points,
        regions: part.regions.take(),
        faces,
    };
    let needed = bytes_needed::<P>(mesh.points.len(), mesh.tetrahedra.len(), options);
    ranks.agree(on.require(needed))?;
    let uploaded = DeviceTets::<P>::upload_with_faces(on, &mesh);
    part.shape = Shape::Lists {
        points: Vec::new(),
        corners: mesh.tetrahedra.into_flattened(),
    };
    let is_broken = seen < first.len() as u64 || uploaded.as_ref().is_err_and(is_of_mesh);
    refuse::<P>(ranks, input, is_broken)?;
    let (mesh, faces) = ranks.agree(uploaded.map_err(|error| too_large(ranks, error, "")))?;
    Ok(Resident {
        mesh,
        faces,
        tagged,
    })
}

/// Sends ghosts their owners' largest faces, four bits each. Collective.
fn give_largest(ranks: &Ranks, halo: &Halo, largest: &mut [u32]) {
    let place = |t: u32| (t as usize / 8, 4 * (t % 8));
    let get = |&t: &u32| {
        let (word, shift) = place(t);
        (largest[word] >> shift & 15) as u8
    };
    let taken = halo.take(ranks, get);
    for (&t, sides) in halo.ghosts().iter().zip(taken) {
        let (word, shift) = place(t);
        largest[word] = largest[word] & !(15 << shift) | u32::from(sides) << shift;
    }
}

/// The polyhedra of the regions of several ranks whose tetrahedra are here. Collective.
fn of_rows(
    ranks: &Ranks,
    on: &Device,
    rows: &Records,
    options: Options,
) -> Result<DevicePolyhedra> {
    let ids = rows.vertices(4);
    ranks.agree(check_size(ranks, ids.len(), 4 * rows.len()))?;
    let local = |v: u64| ids.place(v).expect("it is a corner");
    let corners = parallel::collect(4 * rows.len(), |i| local(rows.get(i / 4)[1 + i % 4]));
    let labels = parallel::collect(rows.len(), |i| rows.get(i)[rows.stride - 1] as u32);
    // SAFETY: ranks send the labels that they took, for each region all to the owner of its root.
    let made = unsafe { of_taken(on, ids.len(), &corners, &labels, options) };
    ranks.agree(made)
}

/// Counts of the whole mesh, from this rank's results, each with the number of its polyhedra that do not count, and its
/// `outer` boundary faces. Collective.
fn totals(
    ranks: &Ranks,
    on: &Device,
    results: [(&DevicePolyhedra, u64); 2],
    outer: u64,
    input: Input,
) -> Result<Totals> {
    let mut sums = [outer, 0, 0, 0, 0, 0, 0, 0, 0];
    let mut most = [0; 2];
    for (result, apart) in results {
        let offsets = ranks.agree(on.download(result.tets().offsets()))?;
        let is_single = |p: usize| offsets[p + 1] - offsets[p] == 1;
        let single = parallel::count(offsets.len() - 1, is_single);
        let counts = result.counts();
        let of_result = [
            counts.barrier_faces,
            counts.regions_with_barriers,
            counts.barrier_tips,
            counts.barrier_faces_left,
            counts.pinched.unwrap_or(0),
        ];
        let with_apart = [
            counts.regions.into(),
            counts.polyhedra.into(),
            single as u64,
        ];
        let of_result = of_result.map(u64::from).into_iter();
        let of_result = of_result.chain(with_apart.map(|count: u64| count - apart));
        sums[1..]
            .iter_mut()
            .zip(of_result)
            .for_each(|(sum, count)| *sum += count);
        let largest = [counts.split_rounds, counts.most_tetrahedra];
        most = [0, 1].map(|k| u64::from(largest[k]).max(most[k]));
    }
    ranks.reduce_all(&mut sums, Reduction::Sum);
    ranks.reduce_all(&mut most, Reduction::Max);
    let [
        outer,
        barrier_faces,
        regions_with_barriers,
        barrier_tips,
        barrier_faces_left,
        ..,
    ] = sums;
    let [.., pinched, regions, polyhedra, single_tetrahedra] = sums;
    let [split_rounds, most_tetrahedra] = most;
    let is_counted = results[0].0.counts().pinched.is_some();
    Ok(Totals {
        vertices: input.block.vertices,
        tetrahedra: input.block.cells,
        polyhedra,
        single_tetrahedra,
        most_tetrahedra,
        // n tetrahedra have 2n + 2 sides; a face has two, or one at the boundary.
        faces: (2 * input.block.cells + 2 * polyhedra + outer) / 2,
        regions,
        barrier_faces,
        regions_with_barriers,
        barrier_tips,
        barrier_faces_left,
        pinched: is_counted.then_some(pinched),
        split_rounds,
        levels: None,
        pieces: None,
    })
}
