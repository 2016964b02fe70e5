//! Polylla on ranks: the polygons of the single run, and their order.
//!
//! | step | how |
//! | --- | --- |
//! | labels, links, repair, polygons within a rank | [`polylla_share`] on the rank's device: the kernels of the single run |
//! | polygons that cross ranks | fragments, joined by the owner of the polygon's smallest half-edge ([`fragments`](self)) |
//! | edges of a surface that stay for flatness, if asked for | each rank decides about the triangles that it owns; the base of a triangle goes to the owners of those below it ([`flatness`](self)) |
//! | cuts of polygons that visit a vertex twice, if asked for | within a rank on its device; across ranks where they are joined, with the triangles around them ([`strict`](self)) |
//! | order | [`Found::into_ordered`]: by the smallest half-edge, as in the single run |

mod flatness;
mod fragments;
mod ordered;
mod polygons;
mod strict;

use glam::{DVec2, DVec3, Vec2, Vec3};
use gpu::point::MeshPoint;
use trioxide::half_edges::{AnyPoint, DeviceTriangulation};
use trioxide::mesh::Ties;
use trioxide::polylla::{self, Angles, Constraints, Owners, PolygonShare, WholeIds, polylla_share};
use trioxide::{Device, digest, mesh};
use trioxide_mesh::parallel;
use trioxide_operations::polylla::Totals;

use crate::block::Block;
use crate::check::{self, check_points, upload_half_edges};
use crate::fault::{Fault, Joint, Result};
use crate::halo::Halo;
use crate::ids::{Ids, Piece};
use crate::ownership::Position;
use crate::part::{Part, half_edge, no_edge};
use crate::transport::{Ranks, Reduction};

pub use ordered::Ordered;
pub use polygons::Polygons;

/// Polygons that a thread copies at a time.
const PIECE: usize = 1 << 14;

/// Options of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// Split polygons that visit a vertex twice.
    pub strict: bool,
    /// Angles at which edges of a surface in space stay.
    pub angles: Angles,
}

/// Points whose triangles are joined: of the plane, or of a surface in space.
pub trait Points: AnyPoint<Double: Position> {
    /// The constraints, with the edges that stay for angles. In the plane all angles are 0. Collective.
    ///
    /// # Errors
    /// Errors of the device.
    fn with_angles(
        ranks: &Ranks,
        on: &Device,
        part: &Part<Self::Double>,
        mesh: &DeviceTriangulation<Self>,
        constraints: Option<Constraints>,
        angles: Angles,
    ) -> Result<Option<Constraints>>;
}

macro_rules! points {
    ($with_angles:path: $($point:ty),*) => {
        $(impl Points for $point {
            fn with_angles(
                ranks: &Ranks,
                on: &Device,
                part: &Part<Self::Double>,
                mesh: &DeviceTriangulation<Self>,
                constraints: Option<Constraints>,
                angles: Angles,
            ) -> Result<Option<Constraints>> {
                $with_angles(ranks, on, part, mesh, constraints, angles)
            }
        })*
    };
}
points!(without_angles: Vec2, DVec2);
points!(with_angles: Vec3, DVec3);

fn without_angles<P: AnyPoint>(
    _: &Ranks,
    _: &Device,
    _: &Part<P::Double>,
    _: &DeviceTriangulation<P>,
    constraints: Option<Constraints>,
    _: Angles,
) -> Result<Option<Constraints>> {
    Ok(constraints)
}

fn with_angles<P: AnyPoint + MeshPoint<Double = DVec3>>(
    ranks: &Ranks,
    on: &Device,
    part: &Part<DVec3>,
    mesh: &DeviceTriangulation<P>,
    constraints: Option<Constraints>,
    angles: Angles,
) -> Result<Option<Constraints>> {
    let sharp = Angles {
        flatness: None,
        ..angles
    };
    let marked = Constraints::with_angles(on, mesh, constraints, sharp, Ties::Edge);
    let constraints = ranks.agree(marked)?;
    match angles.flatness {
        None => Ok(constraints),
        Some(degrees) => flatness::mark(ranks, on, part, mesh, constraints, degrees).map(Some),
    }
}

/// The polygons of a run as the ranks' devices leave them, each at one rank: without cuts, at the owner of its smallest
/// half-edge.
pub struct Found {
    /// Counts of the whole mesh: those of polygons.
    pub totals: Totals,
    /// Ids of the part's triangles, and of its vertices, in one piece each.
    cells: Ids,
    vertices: Ids,
    regions: Option<Vec<i32>>,
    /// Polygons within the rank, by local ids; on the device.
    share: PolygonShare,
    /// Polygons across ranks, by ids.
    crossing: Polygons,
}

impl Found {
    /// The [digest](digest::of_polygons) of all ranks' polygons, which is the single run's. Polygons within a rank
    /// stay on its device. Collective.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn digest(&self, ranks: &Ranks, on: &Device) -> Result<u64> {
        let crossing = &self.crossing;
        let (cells, vertices) = (whole(&self.cells), whole(&self.vertices));
        let within = ranks.agree(self.share.digest(on, cells, vertices))?;
        let across = digest::of_polygons(crossing.len(), |i| {
            digest::of_polygon(crossing.half_edges[i], crossing.get(i).iter().copied())
        });
        let all = ranks.numbers(within.wrapping_add(across)).into_iter();
        Ok(all.fold(0, u64::wrapping_add))
    }

    /// This rank's polygons by the ids of the whole mesh, by their smallest half-edges. Collective.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn into_polygons(self, ranks: &Ranks, on: &Device) -> Result<Polygons> {
        let lists = ranks.agree(self.share.download(on))?;
        Ok(merge(&self, &lists))
    }
}

/// Ids as the device takes them.
fn whole(ids: &Ids) -> WholeIds<'_> {
    match ids.one_piece() {
        Some(Piece::Range { first, .. }) => WholeIds::From(*first),
        Some(Piece::List(list)) => WholeIds::List(list),
        Some(Piece::Runs(_)) | None => unreachable!("a part's ids are a range or a list"),
    }
}

/// Finds the polygons of the mesh whose blocks the ranks hold. Collective.
///
/// # Errors
/// As [`polylla()`](trioxide::polylla::polylla), in the same words on every rank.
pub fn polylla<P: Points>(
    ranks: &Ranks,
    on: &Device,
    block: &Block<P::Double>,
    ownership: &crate::Ownership,
    options: Options,
) -> Result<Found> {
    part_to_find_in::<P>(ranks, block, ownership)
        .and_then(|part| find::<P>(ranks, on, part, options))
        .map_err(|fault| in_words_of_one::<P>(ranks, block, fault))
}

/// Words a fault of [`part_to_find_in`] or [`find`] as the single run does. Collective.
pub fn in_words_of_one<P: Points>(ranks: &Ranks, block: &Block<P::Double>, fault: Fault) -> Fault {
    check::in_words_of_one(ranks, block, fault, |mesh| {
        let (on, mesh) = (Device::cpu(None)?, mesh.into_triangulation(block));
        let checked = DeviceTriangulation::<P>::upload(&on, &mesh)?;
        Constraints::of(&on, &checked, &mesh)?;
        Ok(())
    })
}

/// This rank's part of the mesh whose blocks the ranks hold, for [`find`]. Collective.
///
/// # Errors
/// Those of [`polylla()`] that need no device.
pub fn part_to_find_in<P: Points>(
    ranks: &Ranks,
    block: &Block<P::Double>,
    ownership: &crate::Ownership,
) -> Result<Part<P::Double>> {
    let points = &block.points;
    ranks.agree(check_points::<P>(
        ranks,
        block.vertices,
        points,
        "vertex",
        P::LARGEST,
    ))?;
    Part::build(ranks, block, ownership)
}

/// As [`polylla()`], in parts that exist already. Each rank makes its part of a grid by itself ([`Part::of_grid`]):
/// then nothing crosses before the polygons do. Collective.
///
/// # Errors
/// As there.
pub fn find<P: Points>(
    ranks: &Ranks,
    on: &Device,
    mut part: Part<P::Double>,
    options: Options,
) -> Result<Found> {
    ranks.phase("polylla");
    let owned = part.owned_half_edges(ranks.rank());
    let mesh = ranks.agree(upload_half_edges::<P>(on, &part))?;
    // The device has them.
    part.shape.drop_points();
    let constraints = part.constraints(on, &mesh);
    let constraints = ranks.agree(constraints.map_err(|error| match error {
        polylla::Error::NoEdge { segment, from, to } => {
            let ends = [from, to].map(|v| part.vertices.get(v as usize) as u32);
            no_edge(part.places[segment as usize], ends)
        }
        error => error.into(),
    }))?;
    let angles = options.angles;
    let constraints = P::with_angles(ranks, on, &part, &mesh, constraints, angles)?;
    let mut halo = FlagHalo::new(ranks, &part);
    let strict = options.strict;
    let share = polylla_share(on, &mesh, constraints.as_ref(), &owned, strict, &mut halo);
    let mut share = halo.joint.end(share)?;
    drop((mesh, constraints));

    ranks.phase("polygons across ranks");
    let (crossing, weak) = fragments::join(ranks, &part, &owned, &share.open, options.strict);
    let mut counts = [
        u64::from(share.regions),
        u64::from(share.frontier),
        u64::from(share.boundary),
        u64::from(share.barrier_tips),
        weak + u64::from(share.weakly_simple),
        (share.polygons() + crossing.len()) as u64,
    ];
    ranks.reduce_all(&mut counts, Reduction::Sum);
    let [regions, frontier, boundary, barrier_tips, ..] = counts;
    let [.., weakly_simple, polygons] = counts;
    let totals = Totals {
        polygons,
        regions,
        frontier_edges: (frontier - boundary) / 2 + boundary,
        barrier_tips,
        weakly_simple,
        ..Totals::default()
    };
    share.open = mesh::Polygons::default();
    Ok(Found {
        totals,
        cells: part.cells,
        vertices: part.vertices,
        regions: part.regions,
        share,
        crossing,
    })
}

/// The flags of ghosts' half-edges, from their owners.
struct FlagHalo<'r> {
    joint: Joint<'r>,
    halo: &'r Halo,
}

impl<'r> FlagHalo<'r> {
    fn new<V>(ranks: &'r Ranks<'r>, part: &'r Part<V>) -> Self {
        Self {
            joint: Joint::new(ranks),
            halo: &part.halo,
        }
    }
}

// SAFETY: the halo brings each ghost's flags from its owner.
unsafe impl Owners for FlagHalo<'_> {
    fn given(&self) -> &[u32] {
        self.halo.given()
    }

    fn ghosts(&self) -> &[u32] {
        self.halo.ghosts()
    }

    fn exchange(&mut self, given: Vec<u8>) -> trioxide::Result<Vec<u8>> {
        self.joint.agree(Ok(()))?;
        Ok(self.halo.send(self.joint.ranks, given))
    }
}

/// The polygons within a rank and those across ranks that it holds, by their smallest half-edges.
fn merge(found: &Found, (half_edges, lists): &(Vec<u32>, mesh::Polygons)) -> Polygons {
    let crossing = &found.crossing;
    let half_edge = |i: usize| half_edge(&found.cells, half_edges[i]);
    let n = half_edges.len();
    // The number of polygons across ranks before polygon i within the rank; all of them before the end.
    let before = |i: usize| match i < n {
        true => crossing.half_edges.partition_point(|&h| h < half_edge(i)),
        false => crossing.len(),
    };
    let pieces = parallel::map_pieces(n, PIECE, |range| {
        let mut piece = Polygons::with_regions(found.regions.is_some());
        let mut next = if range.start == 0 {
            0
        } else {
            before(range.start)
        };
        let mut vertices = Vec::new();
        for i in range.clone() {
            let h = half_edge(i);
            while next < crossing.len() && crossing.half_edges[next] < h {
                piece.push_from(crossing, next);
                next += 1;
            }
            vertices.clear();
            let of_polygon = lists.get(i).iter();
            vertices.extend(of_polygon.map(|&v| found.vertices.get(v as usize)));
            let region = |regions: &Vec<i32>| regions[half_edges[i] as usize / 3];
            piece.push(h, &vertices, found.regions.as_ref().map(region));
        }
        for next in next..before(range.end) {
            piece.push_from(crossing, next);
        }
        piece
    });
    if n == 0 {
        return crossing.clone();
    }
    Polygons::concat(pieces, found.regions.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::run;
    use trioxide::generate::Grid;

    /// A part far after the first 2^32 triangles and vertices has the same polygons, with larger ids.
    #[test]
    fn ids_beyond_32_bits_reach_the_polygons() {
        const FAR: u64 = 1 << 33;
        let grid = Grid::jittered(2500, 8).unwrap();
        for size in [1, 2, 3] {
            let found = |by: u64| {
                let of_ranks = run(size, |transport| {
                    let ranks = Ranks::new(transport);
                    let on = Device::cpu(Some(1)).unwrap();
                    let mut part = Part::of_grid(&ranks, &grid).unwrap();
                    for ids in [&mut part.cells, &mut part.vertices] {
                        *ids = Ids::of(ids.iter().map(|id| id + by).collect());
                    }
                    let found = find::<DVec2>(&ranks, &on, part, Options::default()).unwrap();
                    let digest = found.digest(&ranks, &on).unwrap();
                    (digest, found.into_polygons(&ranks, &on).unwrap())
                });
                let all = of_ranks.iter().flat_map(|(_, polygons)| {
                    let one = |i| {
                        let vertices = polygons.get(i).iter().map(|v| v - by);
                        (
                            polygons.half_edges[i] - 3 * by,
                            vertices.collect::<Vec<_>>(),
                        )
                    };
                    (0..polygons.len()).map(one)
                });
                let all: Vec<_> = all.collect();
                let digest = digest::of_polygons(all.len(), |i| {
                    let (half_edge, vertices) = &all[i];
                    digest::of_polygon(half_edge + 3 * by, vertices.iter().map(|v| v + by))
                });
                assert!(of_ranks.iter().all(|(other, _)| *other == digest));
                all
            };
            assert!(found(0) == found(FAR), "{size} ranks");
        }
    }
}
