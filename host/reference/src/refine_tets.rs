//! Longest-edge bisection of tetrahedral meshes, one after the other, with sets and recursion: `gpu::refine_tets`
//! describes and proves the method.

use std::cmp::Ordering;
use std::collections::HashMap;

use glam::DVec3;
use gpu::ids::Tet;
use gpu::refine_tets::mark_tetrahedra::{centroid, is_chosen, six_volumes};

use trioxide::marking::{CheckedMarking, Marking};
use trioxide::refine::count_rounds;
use trioxide::refine_tets::{
    DividedEdges, Error, Level, Options, Refined, Result, SpacePoint, ends, threshold,
};
use trioxide::volume::{TaggedTriangle, TetMesh, orientation};

/// Refines a mesh of valid tetrahedra whose tagged triangles are faces of it.
///
/// # Errors
/// Errors of [`refine`](trioxide::refine_tets::refine) for a marking without meaning, and for a child that is flat.
pub fn refine_tets<P: SpacePoint>(mesh: &TetMesh, options: &Options) -> Result<Refined> {
    let marking = options
        .marking
        .of_tetrahedra(options.seed, mesh.tetrahedra.len())?;
    let mut points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
    let mut refined = Refined {
        mesh: mesh.clone(),
        tetrahedron_parents: (0..mesh.tetrahedra.len() as u32).collect(),
        face_parents: (0..mesh.faces.len() as u32).collect(),
        ..Default::default()
    };
    let rounds = count_rounds(options.rounds);
    for _ in 0..options.rounds {
        rounds.advance(1);
        let count = refined.mesh.tetrahedra.len();
        if options.max_tetrahedra.is_some_and(|most| count >= most) {
            break;
        }
        let chosen: Vec<usize> = (0..count)
            .filter(|&t| is_marked(t, &points, &refined, &marking))
            .collect();
        let counts = divide(&mut points, &mut refined, &chosen, options.edges);
        if let Some(tetrahedron) = first_flat(&points, &refined.mesh.tetrahedra) {
            let level = refined.levels.len() + 1;
            return Err(Error::Flat { level, tetrahedron });
        }
        if counts.divided_tetrahedra == 0 {
            break;
        }
        refined.levels.push(counts);
    }
    refined.mesh.points = points.into_iter().map(P::to_f64).collect();
    refined.mesh.regions = mesh.regions.as_ref().map(|regions| {
        let parents = refined.tetrahedron_parents.iter();
        parents.map(|&t| regions[t as usize]).collect()
    });
    Ok(refined)
}

/// The first tetrahedron without a positive volume: midpoints fell on vertices.
fn first_flat<P: SpacePoint>(points: &[P], tetrahedra: &[[u32; 4]]) -> Option<u32> {
    let points: Vec<DVec3> = points.iter().map(|&p| P::to_f64(p)).collect();
    let is_flat = |corners: &[u32; 4]| orientation(&points, corners) <= 0.0;
    tetrahedra.iter().position(is_flat).map(|t| t as u32)
}

fn is_marked<P: SpacePoint>(
    t: usize,
    points: &[P],
    refined: &Refined,
    marking: &CheckedMarking<Tet>,
) -> bool {
    let corners = refined.mesh.tetrahedra[t].map(|v| points[v as usize]);
    match *marking.marking {
        Marking::All => true,
        Marking::Fraction(fraction) => {
            let seed = marking.seed_of_round(refined.levels.len());
            is_chosen(Tet::new(t as u32), seed, threshold(fraction))
        }
        Marking::BoxInSpace(bounds) => {
            let ([low, high], p) = (ends(bounds), centroid(corners));
            p.cmpge(low).all() && p.cmple(high).all()
        }
        Marking::Ball([x, y, z, radius]) => {
            centroid(corners).distance_squared(DVec3::new(x, y, z)) <= radius * radius
        }
        Marking::Volume(volume) => six_volumes(corners) > 6.0 * volume,
        Marking::Ids(_) | Marking::Flags(_) => marking.has(refined.tetrahedron_parents[t] as usize),
        _ => unreachable!("a marking of triangles"),
    }
}

/// The edges of a mesh, numbered by their first use.
struct Edges<P> {
    /// Ends, the lower id first.
    ends: Vec<[u32; 2]>,
    /// Squared lengths.
    lengths: Vec<P>,
    ids: HashMap<[u32; 2], u32>,
    /// Tetrahedra around each edge.
    around: Vec<Vec<u32>>,
}

fn sorted(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// The pairs of a simplex's vertices.
fn pairs(simplex: &[u32]) -> impl Iterator<Item = [u32; 2]> {
    let firsts = simplex.iter().enumerate();
    firsts.flat_map(|(i, &a)| simplex[i + 1..].iter().map(move |&b| sorted(a, b)))
}

impl<S: PartialOrd + Copy> Edges<S> {
    fn new<P: SpacePoint<Scalar = S>>(points: &[P], tetrahedra: &[[u32; 4]]) -> Self {
        let mut edges = Edges {
            ends: Vec::new(),
            lengths: Vec::new(),
            ids: HashMap::new(),
            around: Vec::new(),
        };
        for (t, tetrahedron) in tetrahedra.iter().enumerate() {
            for [a, b] in pairs(tetrahedron) {
                let id = *edges.ids.entry([a, b]).or_insert_with(|| {
                    let length = points[a as usize].distance_squared(points[b as usize]);
                    edges.ends.push([a, b]);
                    edges.lengths.push(length);
                    edges.around.push(Vec::new());
                    edges.ends.len() as u32 - 1
                });
                edges.around[id as usize].push(t as u32);
            }
        }
        edges
    }

    /// Order of two edges: by length; of two equal ones the one with the smaller id counts as longer.
    fn compare(&self, e: u32, f: u32) -> Ordering {
        let [length, other] = [e, f].map(|e| self.lengths[e as usize]);
        length
            .partial_cmp(&other)
            .unwrap_or(Ordering::Equal)
            .then(f.cmp(&e))
    }

    /// Edges between the vertices of a simplex, as far as they have an id.
    fn of<'a>(&'a self, simplex: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
        pairs(simplex).filter_map(|pair| self.ids.get(&pair).copied())
    }

    fn longest(&self, simplex: &[u32]) -> u32 {
        self.of(simplex)
            .max_by(|&e, &f| self.compare(e, f))
            .expect("a simplex of the mesh has edges")
    }

    /// The dependencies of a marked edge: the longest edges of the tetrahedra and faces that it is an edge of.
    fn dependencies(&self, e: u32, tetrahedra: &[[u32; 4]]) -> Vec<u32> {
        let ends = self.ends[e as usize];
        let mut longest = Vec::new();
        for &t in &self.around[e as usize] {
            let tetrahedron = tetrahedra[t as usize];
            longest.push(self.longest(&tetrahedron));
            for off in tetrahedron.iter().filter(|v| !ends.contains(v)) {
                let face: Vec<u32> = tetrahedron.iter().copied().filter(|v| v != off).collect();
                longest.push(self.longest(&face));
            }
        }
        longest
    }
}

/// One level: divides the tetrahedra in `chosen`, and others as far as conformity and the closure require.
fn divide<P: SpacePoint>(
    points: &mut Vec<P>,
    refined: &mut Refined,
    chosen: &[usize],
    by: DividedEdges,
) -> Level {
    let tetrahedra = refined.mesh.tetrahedra.clone();
    let edges = Edges::new(points, &tetrahedra);

    let mut marked = vec![false; edges.ends.len()];
    for &t in chosen {
        match by {
            DividedEdges::Longest => marked[edges.longest(&tetrahedra[t]) as usize] = true,
            DividedEdges::Every => edges
                .of(&tetrahedra[t])
                .for_each(|e| marked[e as usize] = true),
        }
    }
    // Breadth first.
    let all = 0..edges.ends.len() as u32;
    let mut fresh: Vec<u32> = all.clone().filter(|&e| marked[e as usize]).collect();
    let mut closure_rounds = 0;
    loop {
        closure_rounds += 1;
        let mut found = Vec::new();
        for e in fresh {
            for f in edges.dependencies(e, &tetrahedra) {
                if !marked[f as usize] {
                    marked[f as usize] = true;
                    found.push(f);
                }
            }
        }
        if found.is_empty() {
            break;
        }
        fresh = found;
    }

    let mut midpoints = HashMap::new();
    for e in all.filter(|&e| marked[e as usize]) {
        let [a, b] = edges.ends[e as usize];
        midpoints.insert(e, points.len() as u32);
        points.push(points[a as usize].midpoint(points[b as usize]));
        refined.vertex_parents.push([a, b]);
    }

    let mut divided_tetrahedra = 0;
    for (t, tetrahedron) in tetrahedra.iter().enumerate() {
        let mut children = Vec::new();
        bisect(&edges, &midpoints, *tetrahedron, &mut children);
        divided_tetrahedra += u32::from(children.len() > 1);
        refined.mesh.tetrahedra[t] = children[0];
        let parent = refined.tetrahedron_parents[t];
        for child in &children[1..] {
            refined.mesh.tetrahedra.push(*child);
            refined.tetrahedron_parents.push(parent);
        }
    }
    for f in 0..refined.mesh.faces.len() {
        let TaggedTriangle { vertices, tag } = refined.mesh.faces[f];
        let mut children = Vec::new();
        bisect(&edges, &midpoints, vertices, &mut children);
        refined.mesh.faces[f].vertices = children[0];
        let parent = refined.face_parents[f];
        for &vertices in &children[1..] {
            refined.mesh.faces.push(TaggedTriangle { vertices, tag });
            refined.face_parents.push(parent);
        }
    }
    Level {
        edges: edges.ends.len() as u32,
        divided_edges: midpoints.len() as u32,
        divided_tetrahedra,
        closure_rounds,
        tetrahedra: refined.mesh.tetrahedra.len() as u32,
        faces: refined.mesh.faces.len() as u32,
    }
}

/// Divides a simplex by its longest edge that has a midpoint, and then its two halves in the same way, first the half
/// with the end that comes first in the simplex.
fn bisect<const N: usize, S: PartialOrd + Copy>(
    edges: &Edges<S>,
    midpoints: &HashMap<u32, u32>,
    simplex: [u32; N],
    children: &mut Vec<[u32; N]>,
) {
    let marked = edges.of(&simplex).filter(|e| midpoints.contains_key(e));
    let Some(e) = marked.max_by(|&e, &f| edges.compare(e, f)) else {
        children.push(simplex);
        return;
    };
    let ends = edges.ends[e as usize];
    let (first, second) = simplex
        .iter()
        .position(|v| ends.contains(v))
        .zip(simplex.iter().rposition(|v| ends.contains(v)))
        .expect("the edge lies in the simplex");
    for replaced in [second, first] {
        let mut half = simplex;
        half[replaced] = midpoints[&e];
        bisect(edges, midpoints, half, children);
    }
}
