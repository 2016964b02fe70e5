//! Edges of a surface that stay so that polygons are flat; the definition is that of [`gpu::polylla`].
//!
//! A triangle's base is that of its parent, or itself. The owner of a triangle decides about its longest edge, the one
//! to its parent. It knows the parent, a neighbour, but perhaps not the parent's base: this goes down the tree, from
//! owner to owner. So there are as many exchanges as ranks change on the longest way down a tree.

use glam::DVec3;
use gpu::point::{DoublePoint, MeshPoint};
use trioxide::Device;
use trioxide::half_edges::{AnyPoint, DeviceTriangulation};
use trioxide::polylla::{Constraints, Slopes, least_cosine};
use trioxide_mesh::bit_set::contains;
use trioxide_mesh::parallel;

use super::FlagHalo;
use crate::fault::Result;
use crate::part::Part;
use crate::transport::{Mail, Ranks};

/// The edges of `constraints`, and the edges that stay for this flatness. Collective.
///
/// # Errors
/// Errors of the device.
pub(super) fn mark<P: AnyPoint + MeshPoint<Double = DVec3>>(
    ranks: &Ranks,
    on: &Device,
    part: &Part<DVec3>,
    mesh: &DeviceTriangulation<P>,
    constraints: Option<Constraints>,
    degrees: f64,
) -> Result<Constraints> {
    let mut halo = FlagHalo::new(ranks, part);
    let slopes = Slopes::measure(on, mesh, constraints.as_ref(), &mut halo);
    let slopes = halo.joint.end(slopes)?;
    let trees = Trees {
        slopes: &slopes,
        owners: part.owners.to_vec(),
        me: ranks.rank() as u32,
        least: least_cosine(degrees),
    };
    let mut is_steep = trees.find_steep(ranks, part);
    // An edge between two triangles that are here is the longest of one of them, or no polygon crosses it.
    part.halo.update(ranks, &mut is_steep);
    let mut edges = match slopes.constrained.is_empty() {
        true => vec![0; slopes.longest.len()],
        false => slopes.constrained.clone(),
    };
    for t in (0..is_steep.len()).filter(|&t| is_steep[t] != 0) {
        let longest = slopes.longest_of(t as u32);
        for h in [longest, slopes.twins[longest as usize]] {
            if (h as usize) < slopes.twins.len() {
                edges[h as usize / 32] |= 1 << (h % 32);
            }
        }
    }
    ranks.agree(Constraints::of_bits(on, mesh, &edges))
}

/// The normals of a base: of both its triangles, or twice of the only one.
type Base = [DVec3; 2];

/// A triangle, and the base of its parent: its id in the whole mesh, and bits of the coordinates.
type Below = [u64; 7];

/// The trees of triangles that lead to terminal edges.
struct Trees<'a> {
    slopes: &'a Slopes,
    /// The owner of each triangle.
    owners: Vec<u32>,
    me: u32,
    /// The least inner product of normals that are not over the angle apart.
    least: f64,
}

/// Owned triangles whose longest edge stays, and triangles of other ranks below owned ones.
#[derive(Default)]
struct Walked {
    steep: Vec<u32>,
    below: Vec<(u32, Below)>,
}

impl Trees<'_> {
    /// Whether the longest edge of each owned triangle stays, a byte each. Collective.
    fn find_steep(&self, ranks: &Ranks, part: &Part<DVec3>) -> Vec<u8> {
        let mut is_steep = vec![0; self.owners.len()];
        let mut walked = Walked::default();
        let terminal = parallel::filter_collect(self.owners.len(), |t| {
            let t = t as u32;
            (self.owners[t as usize] == self.me).then_some(())?;
            Some((t, self.terminal_base(t)?))
        });
        for (t, partner) in &terminal {
            if let Some(partner) = partner
                && !self.is_flat(self.alone(*partner), *t)
            {
                walked.steep.push(*t);
            }
        }
        let mut starts = parallel::map(&terminal, |&(t, partner)| match partner {
            Some(partner) if self.is_flat(self.alone(partner), t) => {
                (t, [t, partner].map(|t| self.slopes.normals[t as usize]))
            }
            _ => (t, self.alone(t)),
        });
        loop {
            let pieces = parallel::map_pieces(starts.len(), parallel::GRAIN, |range| {
                let mut walked = Walked::default();
                for &(t, base) in &starts[range] {
                    self.walk(part, t, base, &mut walked);
                }
                walked
            });
            for piece in pieces {
                walked.steep.extend(piece.steep);
                walked.below.extend(piece.below);
            }
            for t in walked.steep.drain(..) {
                is_steep[t as usize] = 1;
            }
            let below = std::mem::take(&mut walked.below);
            if !ranks.any(!below.is_empty()) {
                return is_steep;
            }
            let mail = Mail::sorted(ranks.size(), below.len(), |i| {
                let (owner, below) = below[i];
                (owner as usize, below)
            });
            let received = ranks.exchange(&mail);
            let decided = received.items().iter().map(|&[id, ref bits @ ..]| {
                let [a, b, c, d, e, f] = bits.map(f64::from_bits);
                let t = part.cells.place(id).expect("its owner has it");
                (
                    t,
                    self.below([DVec3::new(a, b, c), DVec3::new(d, e, f)], t, &mut walked),
                )
            });
            starts = decided.collect();
        }
    }

    /// The triangle beyond the terminal edge of `t`, which may have none; `None` where `t` has a parent.
    fn terminal_base(&self, t: u32) -> Option<Option<u32>> {
        let root = self.slopes.longest_of(t);
        match self.slopes.across(root) {
            None => Some(None),
            Some(across) if contains(&self.slopes.longest, across as usize) => {
                Some(Some(across / 3))
            }
            Some(_) => None,
        }
    }

    fn alone(&self, t: u32) -> Base {
        [self.slopes.normals[t as usize]; 2]
    }

    fn is_flat(&self, base: Base, t: u32) -> bool {
        let normal = self.slopes.normals[t as usize];
        base.iter()
            .all(|of_base| of_base.inner(normal) >= self.least)
    }

    /// The base of an owned triangle below a triangle of this base.
    fn below(&self, base: Base, t: u32, walked: &mut Walked) -> Base {
        if self.is_flat(base, t) {
            return base;
        }
        walked.steep.push(t);
        self.alone(t)
    }

    /// Goes down from owned triangle `t` through owned triangles.
    fn walk(&self, part: &Part<DVec3>, t: u32, base: Base, walked: &mut Walked) {
        let mut rest = vec![(t, base)];
        while let Some((t, base)) = rest.pop() {
            for h in 3 * t..3 * t + 3 {
                if contains(&self.slopes.longest, h as usize) {
                    continue;
                }
                let Some(twin) = self.slopes.across(h) else {
                    continue;
                };
                if !contains(&self.slopes.longest, twin as usize) {
                    continue;
                }
                let (child, owner) = (twin / 3, self.owners[twin as usize / 3]);
                if owner == self.me {
                    let base = self.below(base, child, walked);
                    rest.push((child, base));
                } else {
                    let [a, b] = base.map(|normal| normal.to_array().map(f64::to_bits));
                    let id = part.cells.get(child as usize);
                    let below = [id, a[0], a[1], a[2], b[0], b[1], b[2]];
                    walked.below.push((owner, below));
                }
            }
        }
    }
}
