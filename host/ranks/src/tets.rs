//! Meshes of tetrahedra whose blocks the ranks hold: a rank's part, and checks in the words of the single run.

use glam::DVec3;
use rayon::slice::ParallelSliceMut;
use trioxide::Device;
use trioxide::refine_tets::{DeviceTets, Error, SpacePoint};
use trioxide::volume::{TaggedTriangle, TetMesh};
use trioxide_mesh::parallel;

use crate::block::Block;
use crate::check::Gathered;
use crate::fault::{Fault, Result};
use crate::ownership::Ownership;
use crate::part::Part;
use crate::transport::Ranks;

/// A mesh whose blocks the ranks hold.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// This rank's block.
    pub block: &'a Block<DVec3>,
    /// The tagged triangles of the whole mesh, which every rank has.
    pub tagged: &'a [[u32; 3]],
}

/// This rank's part of the mesh whose blocks the ranks hold. Collective.
///
/// # Errors
/// The single run's, of coordinates and vertex ids; a part with more elements than 32-bit ids name.
pub fn part_of<P: SpacePoint>(
    ranks: &Ranks,
    input: Input,
    ownership: &Ownership,
) -> Result<Part<DVec3>> {
    check_block::<P>(ranks, input)?;
    Part::without_segments(ranks, input.block, ownership)
}

/// Refuses coordinates and vertex ids that the device refuses, also of vertices without cells. Collective.
///
/// # Errors
/// The single run's fault.
fn check_block<P: SpacePoint>(ranks: &Ranks, input: Input) -> Result<()> {
    let block = input.block;
    let is_wrong = |&p: &DVec3| {
        let p = P::from_f64(p).to_f64();
        !(p.is_finite() && p.abs().max_element() <= P::LARGEST)
    };
    let is_outside = || block.corners.beyond(block.vertices).is_some();
    let is_broken = parallel::any(&block.points, is_wrong) || is_outside();
    refuse::<P>(ranks, input, is_broken)
}

/// Refuses a mesh if a rank has found a broken rule: rank 0 gathers the mesh, and finds the words of the single run.
/// Collective.
///
/// # Errors
/// The single run's fault.
pub fn refuse<P: SpacePoint>(ranks: &Ranks, input: Input, is_broken: bool) -> Result<()> {
    if !ranks.any(is_broken) {
        return Ok(());
    }
    let mesh = Gathered::of(ranks, input.block);
    ranks.agree(match ranks.rank() {
        0 => check_whole::<P>(mesh, input.tagged),
        _ => Ok(()),
    })
}

fn check_whole<P: SpacePoint>(mesh: Gathered<DVec3>, tagged: &[[u32; 3]]) -> Result<()> {
    let face = |&vertices: &[u32; 3]| TaggedTriangle { vertices, tag: 0 };
    let mesh = TetMesh {
        points: mesh.points,
        tetrahedra: mesh.corners.as_chunks().0.to_vec(),
        regions: None,
        faces: tagged.iter().map(face).collect(),
    };
    let checked = DeviceTets::<P>::upload(&Device::cpu(None)?, &mesh);
    checked.map(drop).map_err(Fault::from)
}

/// The first tetrahedron of a part that has each tagged triangle as a face.
pub fn first_of_tagged(part: &Part<DVec3>, tagged: &[[u32; 3]]) -> Vec<Option<u32>> {
    let tagged: Vec<[u64; 3]> = tagged.iter().map(|face| face.map(u64::from)).collect();
    let mut is_tagged = vec![false; part.shape.vertices()];
    for &v in tagged.as_flattened() {
        if let Some(place) = part.vertices.place(v) {
            is_tagged[place as usize] = true;
        }
    }
    let local = |t: usize| [0, 1, 2, 3].map(|k| part.shape.corner(4 * t + k));
    let may_have = |t: usize| {
        let corners = local(t).into_iter();
        corners.filter(|&v| is_tagged[v as usize]).count() >= 3
    };
    let corners = |t: usize| local(t).map(|v| part.vertices.get(v as usize));
    first_tetrahedra(&tagged, part.cells.len(), may_have, corners)
}

/// The first of `n` tetrahedra that has each of these triangles as a face; `may_have` is true for those with one, and
/// for few others.
pub fn first_tetrahedra(
    faces: &[[u64; 3]],
    n: usize,
    may_have: impl Fn(usize) -> bool + Sync,
    corners: impl Fn(usize) -> [u64; 4] + Sync,
) -> Vec<Option<u32>> {
    let mut first = vec![None; faces.len()];
    if faces.is_empty() {
        return first;
    }
    let sorted = |mut face: [u64; 3]| {
        face.sort_unstable();
        face
    };
    let mut all = parallel::collect(faces.len(), |f| (sorted(faces[f]), f));
    all.par_sort_unstable();
    let found = parallel::map_pieces(n, parallel::GRAIN, |range| {
        let mut found = Vec::new();
        for t in range.filter(|&t| may_have(t)) {
            let [a, b, c, d] = corners(t);
            for face in [[b, c, d], [a, c, d], [a, b, d], [a, b, c]].map(sorted) {
                let start = all.partition_point(|(other, _)| *other < face);
                let same = all[start..].iter().take_while(|(other, _)| *other == face);
                found.extend(same.map(|&(_, f)| (f, t as u32)));
            }
        }
        found
    });
    for (f, t) in parallel::concat(found) {
        first[f].get_or_insert(t);
    }
    first
}

/// Whether the mesh breaks a rule, which the single run names.
pub fn is_of_mesh(error: &Error) -> bool {
    match error {
        Error::Mesh(error) => matches!(error, trioxide::Error::Invalid { .. }),
        Error::TooMany { .. } | Error::TooManyTetrahedra { .. } => false,
        _ => true,
    }
}

/// The fault of a rank's part; `remedy` is another remedy besides more ranks.
pub fn too_large(ranks: &Ranks, error: Error, remedy: &str) -> Fault {
    let Error::TooManyTetrahedra { tetrahedra, most } = error else {
        return error.into();
    };
    Fault::from(trioxide::Error::Argument(format!(
        "rank {} would hold {tetrahedra} tetrahedra, but at most {most} fit 32-bit edge ids: use more ranks{remedy}",
        ranks.rank()
    )))
}
