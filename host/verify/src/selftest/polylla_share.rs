//! The share of one process in Polylla, where the whole mesh is its part: the polygons that it owns wholly, and the
//! cycles of others.

use std::sync::Arc;

use glam::{DVec2, Vec2};

use super::{Case, Outcome, Size, equal, random, with_holes};
use trioxide::device::Device;
use trioxide::half_edges::{DeviceTriangulation, Point};
use trioxide::mesh::{PolyllaMesh, Triangulation};
use trioxide::polylla::{Options, Owners, polylla, polylla_share};
use trioxide::{Result, generate};

pub fn cases(size: Size) -> Result<Vec<Case>> {
    let meshes = [
        ("a grid", generate::grid(size.of(2500))?),
        ("random points", random(size.of(3000), 6)?),
        (
            "random points, with holes",
            with_holes(random(size.of(2000), 8)?, 5),
        ),
    ];
    let case = |(name, mesh): (&str, Triangulation)| {
        let mesh = Arc::new(mesh);
        Case::new(format!("polylla, a share of {name}"), move |on| {
            // None, few, most and all triangles are owned.
            for owns in [0, 1, 13, 16] {
                compare::<DVec2>(on, &mesh, owns)?;
                compare::<Vec2>(on, &mesh, owns)?;
            }
            Ok(())
        })
    };
    Ok(meshes.into_iter().map(case).collect())
}

/// The owners of ghosts. They find the same flags as this process, which has the whole mesh.
struct Same {
    ghosts: Vec<u32>,
}

// SAFETY: this process found the flags for the whole mesh.
unsafe impl Owners for Same {
    fn given(&self) -> &[u32] {
        &self.ghosts
    }

    fn ghosts(&self) -> &[u32] {
        &self.ghosts
    }

    fn exchange(&mut self, given: Vec<u8>) -> Result<Vec<u8>> {
        Ok(given)
    }
}

/// Of each 16 runs of seven triangles the first `owns` are owned.
fn compare<P: Point>(on: &Device, mesh: &Triangulation, owns: u32) -> Outcome {
    let is_owned = |t: u32| t / 7 % 16 < owns;
    let triangles = mesh.triangles.len() as u32;
    let mut owned = vec![0_u32; (3 * triangles).div_ceil(32) as usize];
    for h in (0..3 * triangles).filter(|h| is_owned(h / 3)) {
        owned[h as usize / 32] |= 1 << (h % 32);
    }
    let mut same = Same {
        ghosts: (0..triangles).filter(|&t| !is_owned(t)).collect(),
    };
    let half_edges = DeviceTriangulation::<P>::upload(on, mesh)?;
    let whole = polylla(on, &half_edges, None, Options::default())?;
    let whole = whole.download_mesh(on, &half_edges)?;
    let share = polylla_share(on, &half_edges, None, &owned, false, &mut same)?;

    let is_within = |cycle: &[u32]| cycle.iter().all(|&h| is_owned(h / 3));
    let (mut starts, mut vertices, mut open) = (Vec::new(), Vec::new(), Vec::new());
    for (i, &start) in whole.half_edges.iter().enumerate() {
        let cycle = cycle(&whole, start);
        match is_within(&cycle) {
            true => {
                starts.push(start);
                vertices.push(whole.polygons.get(i));
            }
            false => open.push(cycle),
        }
    }
    let (ours, lists) = share.download(on)?;
    equal("half-edge", &ours, &starts)?;
    equal("polygon", &lists.iter().collect::<Vec<_>>(), &vertices)?;
    let ours: Vec<Vec<u32>> = share.open.iter().map(<[u32]>::to_vec).collect();
    equal("open", &ours, &open)?;
    let all = whole.counts;
    let counts = [share.regions, share.barrier_tips, share.weakly_simple];
    if owns == 16 {
        let expected = [all.regions, all.barrier_tips, all.weakly_simple];
        equal("counts", &counts, &expected)?;
    }
    Ok(())
}

/// The half-edges of a polygon.
fn cycle(mesh: &PolyllaMesh, start: u32) -> Vec<u32> {
    let behind = |&h: &u32| Some(mesh.next[h as usize]).filter(|&h| h != start);
    std::iter::successors(Some(start), behind).collect()
}
