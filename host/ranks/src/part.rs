//! A rank's part of a planar mesh: the triangles that it owns, and the ghosts around them.
//!
//! The ghosts are all triangles that touch a vertex of an owned one. Local ids ascend with the ids of the whole mesh, of vertices and
//! of triangles: what compares two local ids decides as in the whole mesh.

use bytemuck::Pod;
use rayon::prelude::*;
use trioxide::mesh::{NONE, Segment, Triangulation};
use trioxide::polylla;

use crate::block::{Block, Blocks};
use crate::fault::{Fault, Result};
use crate::ownership::{Ownership, fetch};
use crate::transport::{Mail, Ranks, Reduction};

/// A rank's part of a mesh.
pub struct Part {
    /// The owned triangles and the ghosts, by local ids; its segments are those that may be edges at an owned triangle's vertex.
    pub mesh: Triangulation,
    /// Id in the whole mesh of each vertex, ascending.
    pub vertices: Vec<u64>,
    /// Id in the whole mesh of each triangle, ascending.
    pub triangles: Vec<u64>,
    /// The rank that owns each triangle.
    pub owners: Vec<u32>,
    /// Place of each of its segments among all of the mesh.
    pub segments: Vec<usize>,
    /// Where flags of triangles go and come from.
    pub halo: Halo,
}

/// The triangles whose owners and ghosts exchange something: both lists ascend for each rank, so that no id crosses.
pub struct Halo {
    /// Owned triangles that other ranks have as ghosts.
    send: Mail<u32>,
    /// Ghosts, by their owners.
    receive: Mail<u32>,
}

impl Halo {
    /// Gives the items of owned triangles to the ranks that have them as ghosts, and takes those of ghosts: calls `set` for each.
    /// Collective.
    pub fn update<T: Pod>(
        &self,
        ranks: &Ranks,
        get: impl FnMut(&u32) -> T,
        mut set: impl FnMut(u32, T),
    ) {
        let received = ranks.exchange(&self.send.map(get));
        for (&triangle, &item) in self.receive.items().iter().zip(received.items()) {
            set(triangle, item);
        }
    }
}

/// A triangle on its way: id, vertices, region.
type Triangle = [u64; 5];

impl Part {
    /// This rank's part of the mesh whose blocks the ranks hold. Collective.
    ///
    /// # Errors
    /// A vertex id out of range; a part with more triangles or vertices than 32-bit ids name.
    pub fn build(ranks: &Ranks, block: &Block, ownership: &Ownership) -> Result<Self> {
        ranks.phase("ownership");
        ranks.agree(check_corners(ranks, block))?;
        let owners = ownership.owners(ranks, block);
        ranks.phase("distribution");
        let mut owned = deal(ranks, block, &owners);
        owned.par_sort_unstable_by_key(|triangle| triangle[0]);

        ranks.phase("ghosts");
        let shared = Shared::find(ranks, &owned, block.vertices);
        let (sent, ghosts) = shared.send(ranks, &owned);
        let (triangles, owners, halo) = join(ranks, owned, sent, ghosts);

        let mut vertices: Vec<u64> = triangles.iter().flat_map(|t| [t[1], t[2], t[3]]).collect();
        vertices.par_sort_unstable();
        vertices.dedup();
        ranks.agree(check_size(ranks, vertices.len(), triangles.len()))?;
        let points = fetch(ranks, block.vertices, &vertices, &block.points);
        let local = |vertex: u64| {
            let place = vertices.binary_search(&vertex);
            place.map_or(NONE, |place| place as u32)
        };
        let corners = triangles
            .par_iter()
            .map(|t| [local(t[1]), local(t[2]), local(t[3])]);
        let corners: Vec<[u32; 3]> = corners.collect();
        let regions = block.regions.as_ref().map(|_| {
            let region = |triangle: &Triangle| triangle[4] as i32;
            triangles.iter().map(region).collect()
        });
        let (segments, places) = local_segments(&block.segments, local, |v| shared.has(v));
        check_segments(ranks, block, &shared, &vertices)?;
        Ok(Self {
            mesh: Triangulation {
                points,
                triangles: corners,
                regions,
                segments,
            },
            triangles: triangles.iter().map(|triangle| triangle[0]).collect(),
            vertices,
            owners,
            segments: places,
            halo,
        })
    }

    /// The id in the whole mesh of a half-edge.
    pub fn half_edge(&self, h: u32) -> u64 {
        3 * self.triangles[h as usize / 3] + u64::from(h % 3)
    }

    /// Whether this rank owns each half-edge: a bit each.
    pub fn owned_half_edges(&self, rank: usize) -> Vec<u32> {
        let owned = self
            .owners
            .iter()
            .flat_map(|&owner| [owner == rank as u32; 3]);
        trioxide::bit_set::pack(owned)
    }
}

/// Refuses vertex ids that are out of range.
fn check_corners(ranks: &Ranks, block: &Block) -> Result<()> {
    let is_outside = |corners: &[u64; 3]| corners.iter().any(|&v| v >= block.vertices);
    let Some(i) = block.corners.iter().position(is_outside) else {
        return Ok(());
    };
    let id = Blocks::new(block.triangles, ranks.size())
        .range(ranks.rank())
        .start
        + i as u64;
    let text = format!("triangle {id} has a vertex index that is out of range");
    Err(Fault::of_mesh(1, id, text))
}

fn check_size(ranks: &Ranks, vertices: usize, triangles: usize) -> Result<()> {
    let most = u32::MAX as usize / 4;
    if triangles <= most && vertices < NONE as usize {
        return Ok(());
    }
    let rank = ranks.rank();
    Err(trioxide::Error::Argument(format!(
        "rank {rank} would hold {triangles} triangles and {vertices} vertices, more than 32-bit ids name: use more ranks"
    ))
    .into())
}

/// Sends the triangles of the block to their owners; the ones that this rank owns.
fn deal(ranks: &Ranks, block: &Block, owners: &[u32]) -> Vec<Triangle> {
    let first = Blocks::new(block.triangles, ranks.size())
        .range(ranks.rank())
        .start;
    let triangle = |i: usize| {
        let [a, b, c] = block.corners[i];
        let region = block.regions.as_ref().map_or(0, |regions| regions[i]);
        [first + i as u64, a, b, c, u64::from(region as u32)]
    };
    let items = (0..block.corners.len()).map(|i| (owners[i] as usize, triangle(i)));
    ranks
        .exchange(&Mail::sorted(ranks.size(), items))
        .into_items()
}

/// The vertices of owned triangles, and the other ranks that own triangles at them.
struct Shared {
    /// Ascending.
    vertices: Vec<u64>,
    /// Vertex and rank, ascending.
    others: Vec<[u64; 2]>,
}

impl Shared {
    /// Asks the directories of the vertices. Collective.
    fn find(ranks: &Ranks, owned: &[Triangle], total: u64) -> Self {
        let mut vertices: Vec<u64> = owned.iter().flat_map(|t| [t[1], t[2], t[3]]).collect();
        vertices.par_sort_unstable();
        vertices.dedup();
        let blocks = Blocks::new(total, ranks.size());
        let told = vertices.iter().map(|&vertex| (blocks.rank(vertex), vertex));
        let told = ranks.exchange(&Mail::sorted(ranks.size(), told));
        let mut users: Vec<[u64; 2]> = told
            .iter()
            .map(|(rank, &vertex)| [vertex, rank as u64])
            .collect();
        users.par_sort_unstable();
        let mut answers = Vec::new();
        for users in users.chunk_by(|a, b| a[0] == b[0]) {
            for &[vertex, rank] in users.iter().filter(|_| users.len() > 1) {
                let others = users.iter().filter(|other| other[1] != rank);
                answers.extend(others.map(|other| (rank as usize, [vertex, other[1]])));
            }
        }
        let answers = Mail::sorted(ranks.size(), answers.iter().copied());
        let mut others = ranks.exchange(&answers).into_items();
        others.par_sort_unstable();
        Self { vertices, others }
    }

    /// Whether an owned triangle has this vertex.
    fn has(&self, vertex: u64) -> bool {
        self.vertices.binary_search(&vertex).is_ok()
    }

    /// The other ranks with triangles at a vertex.
    fn of(&self, vertex: u64) -> impl Iterator<Item = u64> {
        let start = self.others.partition_point(|other| other[0] < vertex);
        let behind = self.others[start..].iter();
        behind
            .take_while(move |other| other[0] == vertex)
            .map(|other| other[1])
    }

    /// Sends each owned triangle to the ranks that need it as a ghost: which, by their places, and the ghosts from others.
    fn send(&self, ranks: &Ranks, owned: &[Triangle]) -> (Mail<u64>, Mail<Triangle>) {
        let sends: Vec<(usize, u64)> = match self.others.is_empty() {
            true => Vec::new(),
            false => {
                let to = |(i, triangle): (usize, &Triangle)| {
                    let mut to: Vec<u64> =
                        triangle[1..4].iter().flat_map(|&v| self.of(v)).collect();
                    to.sort_unstable();
                    to.dedup();
                    to.into_iter()
                        .map(move |rank| (rank as usize, i as u64))
                        .collect::<Vec<_>>()
                };
                owned.par_iter().enumerate().flat_map_iter(to).collect()
            }
        };
        let sent = Mail::sorted(ranks.size(), sends.iter().copied());
        let ghosts = ranks.exchange(&sent.map(|&i| owned[i as usize]));
        (sent, ghosts)
    }
}

/// Owned triangles and ghosts in one ascending list, their owners, and the halo.
fn join(
    ranks: &Ranks,
    owned: Vec<Triangle>,
    sent: Mail<u64>,
    ghosts: Mail<Triangle>,
) -> (Vec<Triangle>, Vec<u32>, Halo) {
    let owned_ids: Vec<u64> = owned.iter().map(|triangle| triangle[0]).collect();
    let ghost_ids = ghosts.map(|triangle| triangle[0]);
    let mut all: Vec<(Triangle, u32)> = Vec::with_capacity(owned.len() + ghosts.items().len());
    all.extend(
        ghosts
            .iter()
            .map(|(rank, &triangle)| (triangle, rank as u32)),
    );
    drop(ghosts);
    all.extend(
        owned
            .into_iter()
            .map(|triangle| (triangle, ranks.rank() as u32)),
    );
    all.par_sort_unstable_by_key(|(triangle, _)| triangle[0]);
    let (triangles, owners): (Vec<Triangle>, Vec<u32>) = all.into_iter().unzip();
    let local = |id: u64| {
        let place = triangles.binary_search_by_key(&id, |triangle| triangle[0]);
        place.expect("it is here") as u32
    };
    let halo = Halo {
        send: sent.map(|&i| local(owned_ids[i as usize])),
        receive: ghost_ids.map(|&id| local(id)),
    };
    (triangles, owners, halo)
}

/// The segments that have an end at an owned triangle's vertex, and both ends here, by local ids; and their places among all.
fn local_segments(
    all: &[Segment],
    local: impl Fn(u64) -> u32,
    is_of_owned: impl Fn(u64) -> bool,
) -> (Vec<Segment>, Vec<usize>) {
    let mut segments = Vec::new();
    let mut places = Vec::new();
    for (place, segment) in all.iter().enumerate() {
        let ends = segment.ends.map(u64::from);
        let here = ends.map(&local);
        if ends.into_iter().any(&is_of_owned) && !here.contains(&NONE) {
            segments.push(Segment {
                ends: here,
                ..*segment
            });
            places.push(place);
        }
    }
    (segments, places)
}

/// Refuses segments that are no edges, as far as ids say so: where an owned triangle has one end, all triangles of the edge are here,
/// and the other end with them. Collective.
fn check_segments(ranks: &Ranks, block: &Block, shared: &Shared, here: &[u64]) -> Result<()> {
    let segments = &block.segments;
    if segments.is_empty() {
        return Ok(());
    }
    let is_here = |v: &u64| here.binary_search(v).is_ok();
    let ends = |segment: &Segment| segment.ends.map(u64::from);
    let is_outside = |s: &Segment| ends(s).iter().any(|&v| v >= block.vertices);
    if let Some(segment) = segments.iter().position(is_outside) {
        return Err(polylla::Error::SegmentOutOfRange { segment }.into());
    }
    let is_seen: Vec<bool> = segments
        .iter()
        .map(|s| ends(s).into_iter().any(|v| shared.has(v)))
        .collect();
    let mut seen: Vec<u64> = is_seen
        .chunks(64)
        .map(|chunk| {
            chunk
                .iter()
                .rev()
                .fold(0, |word, &bit| word << 1 | u64::from(bit))
        })
        .collect();
    ranks.reduce_all(&mut seen, Reduction::Or);
    let is_wrong = |i: usize| {
        let is_alone = seen[i / 64] >> (i % 64) & 1 == 0;
        is_alone || is_seen[i] && !ends(&segments[i]).iter().all(is_here)
    };
    ranks.agree(match (0..segments.len()).find(|&i| is_wrong(i)) {
        None => Ok(()),
        Some(i) => Err(no_edge(i, segments[i].ends)),
    })
}

/// The fault of a segment that is no edge.
pub(crate) fn no_edge(segment: usize, [from, to]: [u32; 2]) -> Fault {
    let error = polylla::Error::NoEdge {
        segment: segment as u32,
        from,
        to,
    };
    Fault::of_mesh(100, segment as u64, error.to_string())
}
