//! Smoothing by form A and by colours on ranks: triangles of a surface, or tetrahedra.
//!
//! Each rank moves the nodes of its cells, whose neighbours are all in its part; where two ranks have a node, both move it, to the same
//! bits. After a sweep, or after each colour of one, the positions of ghosts' nodes come from the first rank that has the node. Colours
//! are those of the single run, found in the order of the whole mesh. The sweeps end when no rank moves a
//! node by the tolerance. The mean of the last moves is summed as in the single run: in chunks of nodes by their ids.

use glam::DVec3;
use gpu::smooth::{MOVES_CHUNK, Vector};
use trioxide::fields::MeshFields;
use trioxide::mesh::{Faces, Mesh, Polygons};
use trioxide::smooth::{self, DeviceMesh, Moves, Options, Others, Share, SharePart, smooth_share};
use trioxide::volume::{Cells, VolumeMesh};
use trioxide::{Device, Error};

use crate::block::{Block, Blocks};
use crate::check::check_points;
use crate::fault::{Fault, Joint, Result};
use crate::ids::Ids;
use crate::ownership::Ownership;
use crate::part::Part;
use crate::transport::{Mail, Ranks, Reduction};

/// A smoothed mesh's nodes, as a rank holds them.
#[derive(Clone, Debug, PartialEq)]
pub struct Smoothed {
    /// Coordinates of the block's vertices.
    pub points: Vec<DVec3>,
    /// Number of nodes that may move, of the whole mesh.
    pub moving: u64,
    /// Number of sweeps, and the moves of the last one.
    pub moves: Moves,
}

/// Smooths the surface of triangles, or the mesh of tetrahedra, whose blocks the ranks hold. Collective. Nodes for which `fixed` is true
/// stay; it has an element for each node of the whole mesh, or none.
///
/// # Errors
/// As [`smooth::run`], in the same words on every rank; options that need one process ([`smooth::check_share`]).
pub fn smooth<P: Vector>(
    ranks: &Ranks,
    on: &Device,
    block: &Block<DVec3>,
    fixed: &[bool],
    options: &Options,
    ownership: &Ownership,
) -> Result<Smoothed> {
    let checked =
        smooth::check_share(options).and_then(|()| options.check(fixed, block.vertices as usize));
    ranks.agree(checked.map_err(Fault::from))?;
    ranks.agree(check_points::<P>(
        ranks,
        block.vertices,
        &block.points,
        "node",
        P::LARGEST,
    ))?;
    let part = Part::build(ranks, block, ownership)?;
    ranks.phase("halo of nodes");
    let halo = NodeHalo::build(ranks, &part, block.vertices);
    ranks.phase("smooth");
    let mesh = upload::<P>(on, &part);
    let mesh = ranks.agree(mesh.map_err(|error| in_the_whole_mesh(error, &part)))?;
    let mut others = Exchange {
        joint: Joint::new(ranks),
        halo: &halo,
    };
    let give_counts: Vec<usize> = (0..ranks.size()).map(|r| halo.give.of(r).len()).collect();
    let is_fixed = |vertex: u64| fixed.get(vertex as usize).is_some_and(|&is_fixed| is_fixed);
    let ids = part.vertices.to_vec();
    let stays: Vec<bool> = (ids.iter().zip(&halo.is_ghost))
        .map(|(&vertex, &is_ghost)| is_ghost || is_fixed(vertex))
        .collect();
    let nodes = SharePart {
        ids: &ids,
        fixed: &stays,
        give: halo.give.items(),
        give_counts: &give_counts,
        take: &halo.take,
    };
    let share = smooth_share(on, &mesh, nodes, options, &mut others);
    let share = others.joint.end(share)?;
    drop(mesh);
    ranks.phase("nodes to their blocks");
    Ok(Smoothed {
        points: to_blocks::<P>(ranks, block, &part, &halo, &share),
        moving: share.all_moving,
        moves: moves(ranks, block.vertices, &part, &halo, &share),
    })
}

/// Nodes that ranks share.
struct NodeHalo {
    /// Whether each local node is a ghost: of no owned cell.
    is_ghost: Vec<bool>,
    /// Whether this rank is the first of those with the node in an owned cell.
    is_first: Vec<bool>,
    /// Local nodes to give to each rank.
    give: Mail<u32>,
    /// Ghosts, in the order in which their positions come.
    take: Vec<u32>,
}

impl NodeHalo {
    /// Asks the directories of the vertices. Collective.
    fn build(ranks: &Ranks, part: &Part<DVec3>, total: u64) -> Self {
        let size = ranks.size();
        let blocks = Blocks::new(total, size);
        let local = |vertex: u64| {
            let place = part.vertices.place(vertex);
            place.expect("it is here")
        };
        let by_directory = |ids: &Ids| {
            let ids = ids.iter().map(|vertex| (blocks.rank(vertex), vertex));
            Mail::sorted(size, ids)
        };
        // The first rank that has each vertex of this block: mail comes in the order of ranks.
        let told = ranks.exchange(&by_directory(&part.owned_vertices));
        let range = blocks.range(ranks.rank());
        let mut first = vec![u32::MAX; (range.end - range.start) as usize];
        for (rank, &vertex) in told.iter() {
            let first = &mut first[(vertex - range.start) as usize];
            *first = (*first).min(rank as u32);
        }
        let first_of = |&vertex: &u64| first[(vertex - range.start) as usize];
        let asked = ranks.exchange(&by_directory(&part.vertices));
        // The directories' answers come in the order of the ids.
        let owners = ranks.exchange(&asked.map(first_of)).into_items();
        let mut is_ghost = vec![true; part.vertices.len()];
        for vertex in part.owned_vertices.iter() {
            is_ghost[local(vertex) as usize] = false;
        }
        let ghosts = (0..part.vertices.len()).filter(|&v| is_ghost[v]);
        let wanted = ghosts.map(|v| (owners[v] as usize, v as u32));
        let wanted = Mail::sorted(size, wanted);
        let give = ranks.exchange(&wanted.map(|&v| part.vertices.get(v as usize)));
        let me = ranks.rank() as u32;
        Self {
            give: give.map(|&vertex| local(vertex)),
            take: wanted.into_items(),
            is_first: owners
                .iter()
                .zip(&is_ghost)
                .map(|(&r, ghost)| !ghost && r == me)
                .collect(),
            is_ghost,
        }
    }
}

/// The other ranks, as a share sees them.
struct Exchange<'r> {
    joint: Joint<'r>,
    halo: &'r NodeHalo,
}

impl Others for Exchange<'_> {
    fn count(&mut self, moving: &[u32]) -> trioxide::Result<u64> {
        self.joint.agree(Ok(()))?;
        let mine = moving.iter().filter(|&&v| self.halo.is_first[v as usize]);
        Ok(self.joint.ranks.reduce(mine.count() as u64, Reduction::Sum))
    }

    fn exchange(&mut self, given: Vec<u32>, counts: &[usize]) -> trioxide::Result<Vec<u32>> {
        self.joint.agree(Ok(()))?;
        let mail = Mail::from_parts(given, counts.iter().copied());
        Ok(self.joint.ranks.exchange(&mail).into_items())
    }

    fn largest(&mut self, value: u32) -> trioxide::Result<u32> {
        self.joint.agree(Ok(()))?;
        let largest = self.joint.ranks.reduce(u64::from(value), Reduction::Max);
        Ok(largest as u32)
    }
}

fn upload<P: Vector>(on: &Device, part: &Part<DVec3>) -> trioxide::Result<DeviceMesh<P>> {
    let points = part.points.clone();
    let regions = part.regions.clone();
    match part.size {
        4 => {
            let cells = Cells::Tetrahedra(part.corners.as_chunks().0.to_vec());
            let mesh = VolumeMesh {
                points,
                cells,
                regions,
                faces: Polygons::default(),
                face_tags: Vec::new(),
                fields: MeshFields::default(),
            };
            DeviceMesh::upload(on, &mesh)
        }
        _ => {
            let mesh = Mesh {
                points,
                faces: Faces::Triangles(part.corners.as_chunks().0.to_vec()),
                regions,
                ..Mesh::default()
            };
            DeviceMesh::upload_surface(on, &mesh)
        }
    }
}

/// The fault of a part, with the ids of the whole mesh.
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

/// The smoothed points of this rank's block, from the first ranks that have them. Collective.
fn to_blocks<P: Vector>(
    ranks: &Ranks,
    block: &Block<DVec3>,
    part: &Part<DVec3>,
    halo: &NodeHalo,
    share: &Share,
) -> Vec<DVec3> {
    let blocks = Blocks::new(block.vertices, ranks.size());
    let mine = (0..part.vertices.len()).filter(|&v| halo.is_first[v]);
    let items = mine.map(|v| {
        let [x, y, z] = share.points[v].to_array().map(f64::to_bits);
        let id = part.vertices.get(v);
        (blocks.rank(id), [id, x, y, z])
    });
    let items = ranks
        .exchange(&Mail::sorted(ranks.size(), items))
        .into_items();
    // A vertex without a cell is only rounded.
    let rounded = block.points.iter().map(|&p| P::from_f64(p).to_f64());
    let mut points: Vec<DVec3> = rounded.collect();
    let start = blocks.range(ranks.rank()).start;
    for [id, x, y, z] in items {
        points[(id - start) as usize] = DVec3::from_array([x, y, z].map(f64::from_bits));
    }
    points
}

/// The moves of the last sweep, summed as one device sums them: chunks of nodes by their ids, and then the chunks. Collective.
fn moves(ranks: &Ranks, total: u64, part: &Part<DVec3>, halo: &NodeHalo, share: &Share) -> Moves {
    let mut moves = Moves {
        sweeps: share.sweeps,
        converged: share.converged,
        ..Moves::default()
    };
    let chunk = u64::from(MOVES_CHUNK);
    let blocks = Blocks::new(total.div_ceil(chunk), ranks.size());
    let moved = share.moving.iter().zip(&share.squares);
    let mine = moved.filter(|(v, _)| halo.is_first[**v as usize]);
    let items = mine.map(|(&v, square)| {
        let id = part.vertices.get(v as usize);
        (blocks.rank(id / chunk), [id, square.to_bits()])
    });
    let mut squares = ranks
        .exchange(&Mail::sorted(ranks.size(), items))
        .into_items();
    squares.sort_unstable();
    let range = blocks.range(ranks.rank());
    let mut sums = vec![0.0; (range.end - range.start) as usize];
    let mut largest = 0_f64;
    for [id, square] in squares {
        let square = f64::from_bits(square);
        sums[(id / chunk - range.start) as usize] += square;
        largest = largest.max(square);
    }
    let copies = sums.repeat(ranks.size());
    let counts = std::iter::repeat_n(sums.len(), ranks.size());
    let sums = ranks
        .exchange(&Mail::from_parts(copies, counts))
        .into_items();
    if share.sweeps == 0 {
        return moves;
    }
    let largest = f64::from_bits(ranks.reduce(largest.to_bits(), Reduction::Max));
    moves.max_displacement = largest.sqrt();
    moves.rms_displacement = (sums.iter().sum::<f64>() / share.all_moving as f64).sqrt();
    moves
}
