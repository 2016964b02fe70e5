//! Smoothing by form A and by colours on ranks: triangles of a surface, or tetrahedra.
//!
//! Each rank moves the nodes of its cells, whose neighbours are all in its part. Two ranks with one node both move it,
//! to the same bits. After a sweep, or after each of its colours, the positions of ghosts' nodes come from the first
//! rank that has the node. Colours are the single run's, found in the order of the whole mesh. The sweeps end when no
//! rank moves a node by the tolerance. The mean of the last moves is summed as in the single run: in chunks of nodes by
//! their ids.

use glam::DVec3;
use gpu::point::MeshPoint;
use gpu::smooth::{MOVES_CHUNK, Vector};
use trioxide::device::Buffer;
use trioxide::mesh::{Faces, Mesh};
use trioxide::smooth::{
    self, DeviceMesh, Moves, Options, Others, SharePart, SmoothedShare, smooth_share,
};
use trioxide::volume::TetMesh;
use trioxide::{Device, Error};
use trioxide_mesh::parallel;

use crate::block::{Block, Blocks, to_blocks};
use crate::check::{self, Gathered, check_points};
use crate::directory::paired;
use crate::fault::{Fault, Joint, Result};
use crate::halo::Halo;
use crate::ids::Ids;
use crate::ownership::Ownership;
use crate::part::Part;
use crate::shape::Shape;
use crate::transport::{Mail, Ranks, Reduction};

/// A smoothed mesh's nodes, as a rank holds them.
pub struct Smoothed<P> {
    /// Number of nodes that may move, of the whole mesh.
    pub moving: u64,
    /// Number of sweeps, and the moves of the last one.
    pub moves: Moves,
    /// Ids of the nodes, and whether this rank is the first with each.
    vertices: Ids,
    is_first: Vec<bool>,
    points: Buffer<P>,
}

/// Smooths the surface of triangles, or the mesh of tetrahedra, whose blocks the ranks hold. Collective. Nodes for
/// which `fixed` is true stay; it has an element for each node of the whole mesh, or none.
///
/// # Errors
/// As [`smooth::run`], in the same words on every rank; options that need one process ([`smooth::check_share`]).
pub fn smooth<P: Vector + MeshPoint>(
    ranks: &Ranks,
    on: &Device,
    block: &Block<DVec3>,
    fixed: &[bool],
    options: &Options,
    ownership: &Ownership,
) -> Result<Smoothed<P>> {
    part_to_smooth::<P>(ranks, block, ownership)
        .and_then(|part| smooth_part(ranks, on, part, block.vertices, fixed, options))
        .map_err(|fault| in_words_of_one::<P>(ranks, block, fault))
}

/// Words a fault of [`part_to_smooth`] or [`smooth_part`] as the single run does. Collective.
pub fn in_words_of_one<P: Vector + MeshPoint>(
    ranks: &Ranks,
    block: &Block<DVec3>,
    fault: Fault,
) -> Fault {
    let leaves_single = fault.leaves_single();
    check::in_words_of_one(ranks, block, fault, |mesh| {
        let Gathered {
            points,
            corners,
            regions,
        } = mesh;
        let on = Device::cpu(None)?;
        let checked = match block.size {
            4 => {
                let mesh = TetMesh {
                    points,
                    tetrahedra: corners.as_chunks().0.to_vec(),
                    regions,
                    faces: Vec::new(),
                };
                DeviceMesh::<P>::upload(&on, &mesh.into())
            }
            _ => {
                let mesh = Mesh {
                    points,
                    faces: Faces::Triangles(corners.as_chunks().0.to_vec()),
                    regions,
                    ..Mesh::default()
                };
                DeviceMesh::<P>::upload_surface(&on, &mesh)
            }
        };
        let is_of_node = |error: &Error| matches!(error, Error::Invalid { element, .. } if element.starts_with("node "));
        checked.map(drop).map_err(|error| {
            let leaves_single = leaves_single && is_of_node(&error);
            Fault::from(error).leaving_single(leaves_single)
        })
    })
}

/// This rank's part of the mesh whose blocks the ranks hold, for [`smooth_part`]. Collective.
///
/// # Errors
/// Those of [`smooth()`] that need no device.
pub fn part_to_smooth<P: Vector>(
    ranks: &Ranks,
    block: &Block<DVec3>,
    ownership: &Ownership,
) -> Result<Part<DVec3>> {
    let points = &block.points;
    ranks.agree(check_points::<P>(
        ranks,
        block.vertices,
        points,
        "node",
        P::LARGEST,
    ))?;
    // Smoothing does without segments, and so does its check.
    Part::without_segments(ranks, block, ownership)
}

/// As [`smooth()`], in parts that exist already, of a mesh with this number of vertices. Collective.
///
/// # Errors
/// As there.
pub fn smooth_part<P: Vector + MeshPoint>(
    ranks: &Ranks,
    on: &Device,
    mut part: Part<DVec3>,
    vertices: u64,
    fixed: &[bool],
    options: &Options,
) -> Result<Smoothed<P>> {
    let checked =
        smooth::check_share(options).and_then(|()| options.check(fixed, vertices as usize));
    ranks.agree(checked)?;
    ranks.phase("halo of nodes");
    let halo = NodeHalo::build(ranks, &part);
    ranks.phase("smooth");
    let mesh = upload::<P>(on, &part);
    let mesh = ranks.agree(mesh.map_err(|error| in_the_whole_mesh(error, &part)))?;
    // The device has them.
    part.shape = Shape::default();
    let mut others = Exchange {
        joint: Joint::new(ranks),
        halo: &halo,
    };
    let give_counts = halo.nodes.given.counts().into_iter();
    let give_counts: Vec<usize> = give_counts.map(|count| count as usize).collect();
    let is_fixed = |vertex: u64| fixed.get(vertex as usize).is_some_and(|&is_fixed| is_fixed);
    let stays = parallel::collect(part.vertices.len(), |v| {
        halo.is_ghost[v] || is_fixed(part.vertices.get(v))
    });
    let nodes = SharePart {
        id: &|v| part.vertices.get(v as usize),
        fixed: &stays,
        give: halo.nodes.given(),
        give_counts: &give_counts,
        take: halo.nodes.ghosts(),
    };
    let share = smooth_share(on, &mesh, nodes, options, &mut others);
    let share = others.joint.end(share)?;
    drop(mesh);
    ranks.phase("moves");
    Ok(Smoothed {
        moving: share.all_moving,
        moves: moves(ranks, vertices, &part, &halo, &share),
        vertices: part.vertices,
        is_first: halo.is_first,
        points: share.points,
    })
}

impl<P: Vector> Smoothed<P> {
    /// The smoothed points of this rank's block of the mesh, from the first ranks that have them. Collective.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn points(&self, ranks: &Ranks, on: &Device, block: &Block<DVec3>) -> Result<Vec<DVec3>> {
        ranks.phase("nodes to their blocks");
        let smoothed = ranks.agree(on.download(&self.points))?;
        let blocks = ranks.blocks(block.vertices);
        // Vertices without cells are only rounded. The block may be left out where each vertex has a cell.
        let mut points = parallel::map(&block.points, |&p| P::from_f64(p).to_f64());
        points.resize(blocks.range(ranks.rank()).count(), DVec3::ZERO);
        let id = |v: usize| self.vertices.get(v);
        let value = |v: usize| self.is_first[v].then(|| smoothed[v].to_f64());
        to_blocks(ranks, blocks, self.vertices.len(), id, value, &mut points);
        Ok(points)
    }
}

/// Nodes that ranks share.
struct NodeHalo {
    /// Whether each local node is a ghost: a node of no owned cell.
    is_ghost: Vec<bool>,
    /// Whether this rank is the first that owns a cell with the node.
    is_first: Vec<bool>,
    /// Where positions of ghosts come from.
    nodes: Halo,
}

impl NodeHalo {
    /// Asks the owners of ghosts for the first ranks that have their nodes. Collective.
    fn build(ranks: &Ranks, part: &Part<DVec3>) -> Self {
        let (size, me) = (ranks.size(), ranks.rank() as u64);
        let local = |vertex: u64| {
            let place = part.vertices.place(vertex);
            place.expect("it is here")
        };
        let mut is_first = part.vertices.are_in(&part.owned_vertices);
        let is_ghost = parallel::map(&is_first, |&is_owned| !is_owned);
        for &[vertex, rank] in &part.shared {
            is_first[local(vertex) as usize] &= me < rank;
        }
        // Each ghost with the owner of a cell that has it.
        let mut asked: Vec<(u32, u32)> = Vec::new();
        for owner in (0..size as u32).filter(|&owner| u64::from(owner) != me) {
            for corners in part.owners.of_rank(owner) {
                let corners = part.size * corners.start..part.size * corners.end;
                let corners = corners.map(|i| part.shape.corner(i));
                let ghosts = corners.filter(|&v| is_ghost[v as usize]);
                asked.extend(ghosts.map(|v| (v, owner)));
            }
        }
        asked.sort_unstable();
        asked.dedup_by_key(|(v, _)| *v);
        let id = |v: u32| part.vertices.get(v as usize);
        let asked = Mail::sorted(size, asked.len(), |i| (asked[i].1 as usize, asked[i].0));
        let firsts = ranks.ask(&asked.map(|&v| id(v)), |&vertex| {
            let other = paired(&part.shared, vertex).next();
            other.map_or(me, |other| me.min(other)) as u32
        });
        let mut ghosts: Vec<(u32, u32)> = firsts.into_iter().zip(asked.into_items()).collect();
        ghosts.sort_unstable();
        let ghosts = Mail::sorted(size, ghosts.len(), |i| (ghosts[i].0 as usize, ghosts[i].1));
        let given = ranks.exchange(&ghosts.map(|&v| id(v)));
        Self {
            nodes: Halo {
                given: given.map(|&vertex| local(vertex)),
                ghosts,
            },
            is_first,
            is_ghost,
        }
    }
}

/// The other ranks, as a share sees them.
struct Exchange<'r> {
    joint: Joint<'r>,
    halo: &'r NodeHalo,
}

// SAFETY: the halo brings each ghost's words from its owner.
unsafe impl Others for Exchange<'_> {
    fn count(&mut self, places: &[u32], moving: u32) -> trioxide::Result<u64> {
        self.joint.agree(Ok(()))?;
        let is_mine = |v: usize| self.halo.is_first[v] && places[v] < moving;
        let mine = parallel::count(places.len(), is_mine);
        Ok(self.joint.ranks.sum(mine as u64))
    }

    fn exchange(&mut self, given: Vec<u32>, counts: &[usize]) -> trioxide::Result<Vec<u32>> {
        self.joint.agree(Ok(()))?;
        let mail = Mail::from_parts(given, counts.iter().copied());
        let received = self.halo.nodes.send_some(self.joint.ranks, &mail);
        Ok(received.into_items())
    }

    fn largest(&mut self, value: u32) -> trioxide::Result<u32> {
        self.joint.agree(Ok(()))?;
        let largest = self.joint.ranks.reduce(u64::from(value), Reduction::Max);
        Ok(largest as u32)
    }
}

fn upload<P: Vector + MeshPoint>(
    on: &Device,
    part: &Part<DVec3>,
) -> trioxide::Result<DeviceMesh<P>> {
    let points = part.shape.upload_points(on)?;
    let corners = part.shape.upload_corners(on)?;
    let mesh = match part.size {
        4 => DeviceMesh::of_tetrahedra(on, points, corners.cast())?,
        _ => DeviceMesh::of_triangles(on, points, corners.cast())?,
    };
    match &part.regions {
        Some(regions) => mesh.with_regions(on.upload(regions)?),
        None => Ok(mesh),
    }
}

/// The fault of a part, with ids of the whole mesh.
fn in_the_whole_mesh(error: Error, part: &Part<DVec3>) -> Fault {
    let Error::Invalid { element, rule } = &error else {
        return error.into();
    };
    let local = element
        .split_once(' ')
        .and_then(|(kind, id)| Some((kind, id.parse().ok()?)));
    let whole = local.and_then(|(kind, id): (&str, usize)| match kind {
        "face" | "cell" if id < part.cells.len() => Some((kind, part.cells.get(id))),
        "node" if id < part.vertices.len() => Some((kind, part.vertices.get(id))),
        _ => None,
    });
    match whole {
        Some((kind, id)) => Fault::of_mesh(4, id, format!("{kind} {id} {rule}")),
        None => error.into(),
    }
}

/// The moves of the last sweep, summed as by one device: in chunks of nodes by their ids, and then over the chunks.
/// Collective.
fn moves<P>(
    ranks: &Ranks,
    total: u64,
    part: &Part<DVec3>,
    halo: &NodeHalo,
    share: &SmoothedShare<P>,
) -> Moves {
    let mut moves = Moves {
        sweeps: share.sweeps,
        converged: share.converged,
        ..Moves::default()
    };
    if share.sweeps == 0 {
        return moves;
    }
    let blocks = Blocks::of_chunks(total, MOVES_CHUNK.into(), ranks.size());
    // Nodes that stay move by 0, which changes no sum of squares.
    let mut squares = vec![0.0; blocks.range(ranks.rank()).count()];
    let (places, of_places) = (&share.places, &share.squares);
    let square = |v: usize| {
        let place = places[v] as usize;
        (halo.is_first[v] && place < of_places.len()).then(|| of_places[place])
    };
    let id = |v: usize| part.vertices.get(v);
    to_blocks(ranks, blocks, part.vertices.len(), id, square, &mut squares);
    let chunks = squares.chunks(MOVES_CHUNK as usize);
    let of_chunks = parallel::collect(chunks.len(), |k| {
        let chunk = &squares[k * MOVES_CHUNK as usize..];
        let chunk = chunk.iter().take(MOVES_CHUNK as usize);
        let largest = chunk.clone().copied().fold(0.0, f64::max);
        [chunk.sum::<f64>(), largest]
    });
    let sums: Vec<f64> = of_chunks.iter().map(|[sum, _]| *sum).collect();
    let largest = of_chunks.iter().map(|[_, largest]| *largest);
    let largest = largest.fold(0_f64, f64::max);
    let sums = ranks.all(&sums).into_items();
    let largest = f64::from_bits(ranks.reduce(largest.to_bits(), Reduction::Max));
    moves.max_displacement = largest.sqrt();
    moves.rms_displacement = (sums.iter().sum::<f64>() / share.all_moving as f64).sqrt();
    moves
}
