//! Polyhedra of tetrahedra, one after the other, with maps and sets: [`gpu::polyhedra`] has the definitions and the
//! proofs.

mod cavity;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use glam::DVec3;

use trioxide::mesh::NONE;
use trioxide::polyhedra::{Measure, Options, Rule};
use trioxide::polyhedra_mesh::{PolyhedraCounts, PolyhedraLists, side_vertices};
use trioxide::refine_tets::SpacePoint;
use trioxide::volume::TetMesh;

/// The other side of the face of each side, `NONE` on the boundary; and the lower side of each tagged triangle. The
/// mesh is valid ([`tets`](trioxide::rules::tets())).
pub fn face_sides(mesh: &TetMesh) -> (Vec<u32>, Vec<u32>) {
    let sides = 4 * mesh.tetrahedra.len() as u32;
    let mut twins = vec![NONE; sides as usize];
    let mut first: HashMap<[u32; 3], u32> = HashMap::new();
    for side in 0..sides {
        let face = sorted(side_vertices(&mesh.tetrahedra, side));
        match first.get(&face) {
            None => {
                first.insert(face, side);
            }
            Some(&other) => {
                twins[side as usize] = other;
                twins[other as usize] = side;
            }
        }
    }
    let tagged = mesh.faces.iter().map(|face| first[&sorted(face.vertices)]);
    (twins, tagged.collect())
}

fn sorted(mut face: [u32; 3]) -> [u32; 3] {
    face.sort_unstable();
    face
}

/// Makes polyhedra of a valid mesh ([`tets`](trioxide::rules::tets())).
pub fn polyhedra<P: SpacePoint>(mesh: &TetMesh, options: Options) -> PolyhedraLists {
    let (twins, tagged) = face_sides(mesh);
    let points: Vec<DVec3> = mesh
        .points
        .iter()
        .map(|&p| P::from_f64(p).to_f64())
        .collect();
    let constrained = constrained_sides(mesh, &twins, &tagged, options.constrained);
    if options.rule == Rule::Cavity {
        let mut lists = cavity::polyhedra(mesh, &points, &twins, &constrained);
        (lists.twins, lists.tagged) = (twins, tagged);
        return lists;
    }
    let chosen = (0..mesh.tetrahedra.len() as u32)
        .map(|t| largest_face(mesh, &points, &twins, t, options.by))
        .collect();
    let mut forest = Forest {
        tetrahedra: &mesh.tetrahedra,
        twins: &twins,
        chosen,
        frontier: Vec::new(),
    };
    forest.frontier = (0..twins.len() as u32)
        .map(|side| constrained[side as usize] || forest.is_unchosen(side))
        .collect();

    let mut counts = PolyhedraCounts::default();
    let regions = forest.components();
    let barriers = forest.barrier_faces(&regions.of_tet);
    counts.regions = regions.roots.len() as u32;
    counts.barrier_faces = barriers.len() as u32;
    let touched: HashSet<usize> = barriers
        .iter()
        .map(|&side| regions.of_tet[side as usize / 4])
        .collect();
    counts.regions_with_barriers = touched.len() as u32;
    counts.barrier_tips = forest.repair_tips();
    let mut result = forest.components();
    if options.count_pinched || options.strict {
        loop {
            let cuts: Vec<u32> = (0..result.roots.len())
                .filter_map(|p| forest.split(&result, p))
                .collect();
            counts.pinched = Some(cuts.len() as u32);
            if !options.strict || cuts.is_empty() {
                break;
            }
            counts.split_rounds += 1;
            cuts.into_iter().for_each(|side| forest.cut(side));
            result = forest.components();
        }
    }
    counts.barrier_faces_left = forest.barrier_faces(&result.of_tet).len() as u32;
    counts.polyhedra = result.roots.len() as u32;
    counts.most_tetrahedra = result.tets.iter().map(Vec::len).max().unwrap_or(0) as u32;
    let mut lists = PolyhedraLists {
        tet_offsets: vec![0],
        side_offsets: vec![0],
        counts,
        ..PolyhedraLists::default()
    };
    for tets in &result.tets {
        lists.tets.extend(tets);
        let sides = tets.iter().flat_map(|t| 4 * t..4 * t + 4);
        lists
            .sides
            .extend(sides.filter(|&side| forest.frontier[side as usize]));
        lists.tet_offsets.push(lists.tets.len() as u32);
        lists.side_offsets.push(lists.sides.len() as u32);
    }
    (lists.twins, lists.tagged) = (twins, tagged);
    lists
}

/// The side of the largest face of tetrahedron `t`.
fn largest_face(mesh: &TetMesh, points: &[DVec3], twins: &[u32], t: u32, by: Measure) -> u32 {
    let measure = |side: u32| {
        let [a, b, c] = sorted(side_vertices(&mesh.tetrahedra, side)).map(|v| points[v as usize]);
        let (u, v, w) = (b - a, c - a, c - b);
        let normal = DVec3::new(
            u.y * v.z - u.z * v.y,
            u.z * v.x - u.x * v.z,
            u.x * v.y - u.y * v.x,
        );
        let square = |d: DVec3| d.x * d.x + d.y * d.y + d.z * d.z;
        let area = square(normal);
        match by {
            Measure::Area => area,
            Measure::Circumradius => {
                let radius = square(u) * square(v) * square(w) / area;
                if radius.is_nan() {
                    f64::INFINITY
                } else {
                    radius
                }
            }
        }
    };
    let id = |side: u32| side.min(twins[side as usize]);
    (4 * t..4 * t + 4)
        .max_by(|&a, &b| {
            let by_measure = measure(a).partial_cmp(&measure(b)).expect("no NaN");
            by_measure.then(id(b).cmp(&id(a)))
        })
        .expect("four faces")
}

/// Sides on the boundary, and sides that no polyhedron may cross.
fn constrained_sides(
    mesh: &TetMesh,
    twins: &[u32],
    tagged: &[u32],
    with_constraints: bool,
) -> Vec<bool> {
    let mut constrained: Vec<bool> = twins.iter().map(|&twin| twin == NONE).collect();
    if !with_constraints {
        return constrained;
    }
    for (side, &twin) in twins.iter().enumerate() {
        if let Some(regions) = &mesh.regions
            && twin != NONE
            && regions[side / 4] != regions[twin as usize / 4]
        {
            constrained[side] = true;
        }
    }
    for &side in tagged {
        constrained[side as usize] = true;
        if twins[side as usize] != NONE {
            constrained[twins[side as usize] as usize] = true;
        }
    }
    constrained
}

/// Labelled tetrahedra.
struct Forest<'a> {
    tetrahedra: &'a [[u32; 4]],
    twins: &'a [u32],
    /// Side of the largest face of each tetrahedron.
    chosen: Vec<u32>,
    /// Whether each side is of a frontier face.
    frontier: Vec<bool>,
}

/// Trees, in ascending order of their roots.
struct Components {
    roots: Vec<u32>,
    /// Tetrahedra of each, ascending.
    tets: Vec<Vec<u32>>,
    /// Tree of each tetrahedron.
    of_tet: Vec<usize>,
}

impl Forest<'_> {
    fn is_chosen(&self, side: u32) -> bool {
        self.chosen[side as usize / 4] == side
    }

    fn is_unchosen(&self, side: u32) -> bool {
        let twin = self.twins[side as usize];
        twin != NONE && !self.is_chosen(side) && !self.is_chosen(twin)
    }

    fn is_root(&self, t: u32) -> bool {
        let side = self.chosen[t as usize];
        let twin = self.twins[side as usize];
        self.frontier[side as usize] || self.is_chosen(twin) && side < twin
    }

    /// The tetrahedra next to `t` in its tree, and the side of `t` between.
    fn joined(&self, t: u32) -> impl Iterator<Item = (u32, u32)> {
        let joints = (4 * t..4 * t + 4).filter(|&side| !self.frontier[side as usize]);
        joints.map(|side| (self.twins[side as usize] / 4, side))
    }

    /// The tetrahedra that can be reached from `start`, with the one before each.
    fn reached(&self, start: u32) -> BTreeMap<u32, u32> {
        let mut before = BTreeMap::from([(start, start)]);
        let mut queue = VecDeque::from([start]);
        while let Some(t) = queue.pop_front() {
            for (other, _) in self.joined(t) {
                before.entry(other).or_insert_with(|| {
                    queue.push_back(other);
                    t
                });
            }
        }
        before
    }

    fn components(&self) -> Components {
        let count = self.tetrahedra.len();
        let roots: Vec<u32> = (0..count as u32).filter(|&t| self.is_root(t)).collect();
        let mut of_tet = vec![usize::MAX; count];
        let mut tets = Vec::new();
        for (p, &root) in roots.iter().enumerate() {
            let own: Vec<u32> = self.reached(root).into_keys().collect();
            for &t in &own {
                assert_eq!(of_tet[t as usize], usize::MAX, "a tree has one root");
                of_tet[t as usize] = p;
            }
            tets.push(own);
        }
        assert!(!of_tet.contains(&usize::MAX), "every tree has a root");
        Components {
            roots,
            tets,
            of_tet,
        }
    }

    /// Lower sides of frontier faces with the same tree on both sides.
    fn barrier_faces(&self, of_tet: &[usize]) -> Vec<u32> {
        (0..self.twins.len() as u32)
            .filter(|&side| {
                let twin = self.twins[side as usize];
                self.frontier[side as usize]
                    && twin != NONE
                    && side < twin
                    && of_tet[side as usize / 4] == of_tet[twin as usize / 4]
            })
            .collect()
    }

    fn cut(&mut self, side: u32) {
        self.frontier[side as usize] = true;
        self.frontier[self.twins[side as usize] as usize] = true;
    }

    /// Cuts the middle face around each barrier tip, an edge at which one face alone is a frontier face. Returns the
    /// number of tips.
    ///
    /// The faces around an edge are those of a ring of tetrahedra. Where tetrahedra overlap an edge may have several
    /// rings, and open fans besides: each ring counts for itself.
    fn repair_tips(&mut self) -> u32 {
        let mut cuts = Vec::new();
        for face in 0..self.twins.len() as u32 {
            // From the tetrahedron of the lower side on; NONE is above every side.
            if !self.frontier[face as usize] || face > self.twins[face as usize] {
                continue;
            }
            let [a, b, c] = side_vertices(self.tetrahedra, face);
            let rings = [[a, b], [a, c], [b, c]].map(|edge| self.ring(face, edge));
            let is_tip = |ring: &&Vec<u32>| {
                let (last, inner) = ring.split_last().expect("a face");
                *last == self.twins[face as usize]
                    && inner.iter().all(|&side| !self.frontier[side as usize])
            };
            let mut tips = rings.iter().filter(is_tip);
            if let Some(behind) = tips.next() {
                cuts.push(behind[behind.len() / 2 - 1]);
            }
            assert!(tips.next().is_none(), "a barrier face has one tip");
        }
        let tips = cuts.len() as u32;
        cuts.into_iter().for_each(|side| self.cut(side));
        tips
    }

    /// The sides by which the tetrahedra around `edge` are left, one after the other, from the tetrahedron of side
    /// `face` on: to the other side of `face`, or to the boundary.
    fn ring(&self, face: u32, edge: [u32; 2]) -> Vec<u32> {
        let mut sides = Vec::new();
        let mut entry = face;
        loop {
            let t = entry / 4;
            let exit = (4 * t..4 * t + 4)
                .find(|&side| {
                    let vertices = side_vertices(self.tetrahedra, side);
                    side != entry && edge.iter().all(|v| vertices.contains(v))
                })
                .expect("a tetrahedron has two faces at an edge");
            sides.push(exit);
            entry = self.twins[exit as usize];
            if exit == self.twins[face as usize] || entry == NONE {
                return sides;
            }
        }
    }

    /// Steps from `t` to the root of its tree.
    fn depth(&self, components: &Components, t: u32) -> usize {
        let root = components.roots[components.of_tet[t as usize]];
        let before = self.reached(root);
        let mut steps = 0;
        let mut place = t;
        while place != root {
            place = before[&place];
            steps += 1;
        }
        steps
    }

    /// The joint by which tree `p` is split if a vertex is at two places of its surface: between the tetrahedra nearest
    /// to the root at two of these places.
    fn split(&self, components: &Components, p: usize) -> Option<u32> {
        let tets = &components.tets[p];
        let mut at_vertex: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &t in tets {
            for v in self.tetrahedra[t as usize] {
                at_vertex.entry(v).or_default().push(t);
            }
        }
        for (v, tets) in at_vertex {
            // Parts of the tree whose joints have the vertex.
            let mut parts: Vec<Vec<u32>> = Vec::new();
            let mut seen = HashSet::new();
            for &t in &tets {
                if !seen.insert(t) {
                    continue;
                }
                let mut part = vec![t];
                let mut i = 0;
                while i < part.len() {
                    let next: Vec<u32> = self
                        .joined(part[i])
                        .filter(|&(_, side)| side_vertices(self.tetrahedra, side).contains(&v))
                        .map(|(other, _)| other)
                        .filter(|&other| seen.insert(other))
                        .collect();
                    part.extend(next);
                    i += 1;
                }
                parts.push(part);
            }
            if parts.len() > 1 {
                let nearest = |part: Vec<u32>| {
                    let top = part.into_iter().min_by_key(|&t| self.depth(components, t));
                    top.expect("a part has a tetrahedron")
                };
                let mut tops: Vec<u32> = parts.into_iter().map(nearest).collect();
                tops.sort_unstable();
                return Some(self.middle_joint(tops[0], tops[1], v));
            }
        }
        None
    }

    /// Of the joints without vertex `v` on the path from `a` to `b` the middle one.
    fn middle_joint(&self, a: u32, b: u32, v: u32) -> u32 {
        let before = self.reached(b);
        let mut joints = Vec::new();
        let mut place = a;
        while place != b {
            let next = before[&place];
            let (_, side) = self
                .joined(place)
                .find(|&(other, _)| other == next)
                .expect("neighbours in the tree");
            if !side_vertices(self.tetrahedra, side).contains(&v) {
                joints.push(side);
            }
            place = next;
        }
        joints[joints.len() / 2]
    }
}
