//! Polyhedra of a mesh whose tetrahedra two processes share, against the serial reference.

use glam::{DVec3, Vec3};

use super::polyhedra::shared_meshes;
use super::{Case, Outcome, Size, equal};
use trioxide::Result;
use trioxide::device::Device;
use trioxide::polyhedra::{
    DevicePolyhedra, LabelShare, Options, SharePolyhedra, Taken, largest_faces, of_taken,
};
use trioxide::polyhedra_mesh::PolyhedraCounts;
use trioxide::refine_tets::{DeviceTets, SpacePoint};
use trioxide::volume::TetMesh;
use trioxide_reference as reference;

pub fn cases(size: Size) -> Result<Vec<Case>> {
    let meshes = shared_meshes(size, 2000)?.into_iter();
    let case = |(name, mesh): (&str, TetMesh)| {
        Case::new(format!("polyhedra of shares: {name}"), move |on| {
            for strict in [false, true] {
                let options = Options {
                    strict,
                    ..Options::default()
                };
                compare::<DVec3>(on, &mesh, options)?;
                compare::<Vec3>(on, &mesh, options)?;
            }
            Ok(())
        })
    };
    Ok(meshes.map(case).collect())
}

/// The process that owns a tetrahedron: not all borders lie between neighbouring ids.
fn owner(t: u32) -> usize {
    (t / 3 % 2) as usize
}

/// The results of all processes: their polyhedra by the ids of the mesh, and their counts.
#[derive(Default)]
struct Found {
    /// Root, tetrahedra, sides.
    polyhedra: Vec<(u32, Vec<u32>, Vec<u32>)>,
    counts: PolyhedraCounts,
}

impl Found {
    /// Adds the polyhedra of a share, whose tetrahedra have these ids, but for those set apart.
    fn push(
        &mut self,
        on: &Device,
        share: &DevicePolyhedra,
        apart: &[u32],
        id: impl Fn(u32) -> u32,
    ) -> Result<()> {
        let SharePolyhedra {
            roots,
            tet_offsets,
            tets,
            sides,
        } = share.download_share(on, apart)?;
        for (p, &root) in roots.iter().enumerate() {
            let [start, end] = [p, p + 1].map(|p| tet_offsets[p] as usize);
            let side = |&side: &u32| 4 * id(side / 4) + side % 4;
            self.polyhedra.push((
                id(root),
                tets[start..end].iter().map(|&t| id(t)).collect(),
                sides[2 * start + 2 * p..2 * end + 2 * p + 2]
                    .iter()
                    .map(side)
                    .collect(),
            ));
        }
        let (all, of_share) = (&mut self.counts, share.counts());
        all.regions += of_share.regions - apart.len() as u32;
        all.polyhedra += of_share.polyhedra - apart.len() as u32;
        all.barrier_faces += of_share.barrier_faces;
        all.regions_with_barriers += of_share.regions_with_barriers;
        all.barrier_tips += of_share.barrier_tips;
        all.barrier_faces_left += of_share.barrier_faces_left;
        all.pinched = Some(all.pinched.unwrap_or(0) + of_share.pinched.unwrap_or(0));
        all.split_rounds = all.split_rounds.max(of_share.split_rounds);
        all.most_tetrahedra = all.most_tetrahedra.max(of_share.most_tetrahedra);
        Ok(())
    }
}

fn compare<P: SpacePoint>(on: &Device, mesh: &TetMesh, options: Options) -> Outcome {
    let expected = reference::polyhedra::<P>(mesh, options);
    let found = by_two::<P>(on, mesh, options)?;
    equal("count", &[found.counts], &[expected.counts])?;
    let lists = |k: usize| -> Vec<u32> {
        let lists = found.polyhedra.iter();
        lists
            .flat_map(|(_, tets, sides)| [tets, sides][k].clone())
            .collect()
    };
    equal("tetrahedron", &lists(0), &expected.tets)?;
    equal("side", &lists(1), &expected.sides)
}

/// Two processes, each of which has the other's tetrahedra as ghosts.
fn by_two<P: SpacePoint>(on: &Device, mesh: &TetMesh, options: Options) -> Result<Found> {
    let (tets, faces) = DeviceTets::<P>::upload_with_faces(on, mesh)?;
    let largest = largest_faces(on, &tets, &faces, options.by)?;
    let all: Vec<u32> = (0..mesh.tetrahedra.len() as u32).collect();
    let share = |process: usize| {
        let ghosts = all.iter().copied().filter(|&t| owner(t) != process);
        // SAFETY: of this mesh; both processes have the largest faces of all.
        unsafe { LabelShare::new(on, &tets, &faces, &largest, ghosts.collect(), options) }
    };
    let mut shares = [share(0)?, share(1)?];
    let [first, second] = &mut shares;
    let ends = [first.ends_of(on, &all)?, second.ends_of(on, &all)?];
    let end = |t: u32| ends[owner(t)][t as usize];
    let root = |t: u32| {
        let mut root = end(t);
        while root != end(root) {
            root = end(root);
        }
        root
    };
    let mut is_crossing = vec![false; all.len()];
    for &t in &all {
        is_crossing[root(t) as usize] |= owner(t) != owner(root(t));
    }
    let mut found = Found::default();
    let mut taken: [Vec<Taken>; 2] = Default::default();
    for (process, mut share) in shares.into_iter().enumerate() {
        let own = all.iter().filter(|&&t| owner(t) == process);
        let crossing = own.filter(|&&t| is_crossing[root(t) as usize]);
        let leave: Vec<u32> = crossing.map(|&t| end(t)).collect();
        for one in share.take(on, &leave)? {
            taken[owner(root(one.end))].push(one);
        }
        let (polyhedra, apart) = share.polyhedra(on, &tets, &faces, options)?;
        found.push(on, &polyhedra, &apart, |t| t)?;
    }
    for mut taken in taken {
        taken.sort_unstable_by_key(|one| one.tetrahedron);
        let corners = taken
            .iter()
            .map(|one| mesh.tetrahedra[one.tetrahedron as usize]);
        let corners: Vec<[u32; 4]> = corners.collect();
        let labels: Vec<u32> = taken.iter().map(|one| one.labels).collect();
        let (vertices, corners) = (mesh.points.len(), corners.as_flattened());
        // SAFETY: labels as they were taken, all of a region at its root's owner.
        let polyhedra = unsafe { of_taken(on, vertices, corners, &labels, options) }?;
        found.push(on, &polyhedra, &[], |t| taken[t as usize].tetrahedron)?;
    }
    found.polyhedra.sort_unstable();
    Ok(found)
}
