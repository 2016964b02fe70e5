use gpu::refine_tets::{
    PATHS, TETRAHEDRON, TRIANGLE, count_leaves, each_leaf, edge_index, edge_set, ends, walk,
};

#[test]
fn edges_and_their_sets() {
    let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    for (k, pair) in pairs.into_iter().enumerate() {
        let set = edge_set(k as u32);
        assert_eq!(ends(set), pair);
        assert_eq!(edge_index(set), k as u32);
    }
}

/// Every subset of the edges of a tetrahedron in every order, longest first.
fn patterns() -> Vec<Vec<u32>> {
    fn extend(rest: &mut Vec<u32>, marked: &mut Vec<u32>, patterns: &mut Vec<Vec<u32>>) {
        patterns.push(marked.clone());
        for i in 0..rest.len() {
            let set = rest.remove(i);
            marked.push(set);
            extend(rest, marked, patterns);
            marked.pop();
            rest.insert(i, set);
        }
    }
    let mut patterns = Vec::new();
    let mut edges = (0..6).map(edge_set).collect();
    extend(&mut edges, &mut Vec::new(), &mut patterns);
    // The sum over k of 6! / (6 - k)!.
    assert_eq!(patterns.len(), 1957);
    patterns
}

fn pack(marked: &[u32]) -> u32 {
    marked.iter().rev().fold(0, |packed, set| packed << 4 | set)
}

#[test]
fn leaves_of_every_pattern() {
    fn recursive(marked: &[u32], kept: u32) -> u32 {
        match marked.iter().find(|&&edge| edge & !kept == 0) {
            None => 1,
            Some(edge) => {
                let (a, b) = ends(*edge);
                recursive(marked, kept & !(1 << b)) + recursive(marked, kept & !(1 << a))
            }
        }
    }
    for marked in patterns() {
        let leaves = count_leaves(pack(&marked), TETRAHEDRON);
        assert_eq!(leaves, recursive(&marked, TETRAHEDRON), "{marked:?}");
        assert_eq!(leaves == 8, marked.len() == 6, "{marked:?}");
    }
    let triangle = edge_set(3) << 8 | edge_set(1) << 4 | edge_set(0);
    assert_eq!(count_leaves(triangle, TRIANGLE), 4);
}

/// The leaves of a simplex. A vertex is the set of the original vertices of which it is the midpoint.
fn leaves<const N: usize>(marked: u32) -> Vec<[u32; N]> {
    let mut leaves = Vec::new();
    for path in 0..PATHS {
        let mut leaf = core::array::from_fn(|k| 1 << k);
        let is_leaf = walk(marked, (1 << N) - 1, path, |edge, replaced| {
            leaf[replaced.trailing_zeros() as usize] = edge;
        });
        if is_leaf {
            leaves.push(leaf);
        }
    }
    leaves
}

#[test]
fn leaves_come_in_the_order_of_their_paths() {
    for marked in patterns() {
        let mut visited = Vec::new();
        let corners = [0, 1, 2, 3].map(|k| 1 << k);
        each_leaf(
            pack(&marked),
            corners,
            |edge| edge,
            |leaf| visited.push(leaf),
        );
        assert_eq!(visited, leaves::<4>(pack(&marked)), "{marked:?}");
    }
}

/// The lemma and its first consequence, for every pattern: each face of a tetrahedron is divided as the face alone
/// would be, and every face inside belongs to two children.
#[test]
fn every_pattern_conforms() {
    for marked in patterns() {
        let mut inside = std::collections::BTreeMap::new();
        let mut outside: [Vec<[u32; 3]>; 4] = Default::default();
        for leaf in leaves::<4>(pack(&marked)) {
            for k in 0..4 {
                let mut face = [0, 1, 2].map(|i| leaf[(k + 1 + i) % 4]);
                face.sort();
                let around = face[0] | face[1] | face[2];
                match (0..4).find(|k| around & 1 << k == 0) {
                    Some(k) => outside[k].push(face),
                    None => *inside.entry(face).or_insert(0) += 1,
                }
            }
        }
        assert!(inside.values().all(|&count| count == 2), "{marked:?}");
        for (k, mut face) in outside.into_iter().enumerate() {
            // The vertices of the face in their order.
            let corners: Vec<u32> = (0..4).filter(|&v| v != k as u32).collect();
            let to_tetrahedron = |set: u32| {
                let place = |i: usize| (set >> i & 1) << corners[i];
                place(0) | place(1) | place(2)
            };
            let own = [3, 5, 6];
            let marked_here: Vec<u32> = marked
                .iter()
                .filter_map(|&set| own.into_iter().find(|&e| to_tetrahedron(e) == set))
                .collect();
            let mut alone: Vec<[u32; 3]> = leaves::<3>(pack(&marked_here))
                .into_iter()
                .map(|leaf| {
                    let mut leaf = leaf.map(to_tetrahedron);
                    leaf.sort();
                    leaf
                })
                .collect();
            face.sort();
            alone.sort();
            assert_eq!(face, alone, "{marked:?}");
        }
    }
}
