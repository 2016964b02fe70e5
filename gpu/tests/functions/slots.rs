use gpu::ids::Vertex;
use gpu::slots::{ATTEMPTS, Slots};

/// Attempts for each use when `elements` meet in a table of `size` slots.
fn attempts(elements: &[(Slots, u64)], size: u32) -> f64 {
    let mut table = vec![u64::MAX; size as usize];
    let mut tried = 0;
    for (slots, name) in elements {
        let end = (0..ATTEMPTS).find(|&attempt| {
            let slot = &mut table[slots.at(attempt, size) as usize];
            let ends = *slot == u64::MAX || slot == name;
            if ends {
                *slot = *name;
            }
            ends
        });
        tried += end.expect("a free slot") + 1;
    }
    f64::from(tried) / elements.len() as f64
}

/// The vertices of a grid in order, and in a shuffled order.
fn orders(vertices: u32) -> [Box<dyn Fn(u32) -> Vertex>; 2] {
    // Each step is a bijection of numbers below a power of two.
    let shuffled = move |v: u32| {
        let mixed = v.wrapping_mul(0x9E37_79B1) & (vertices - 1);
        Vertex::new((mixed ^ mixed >> 9).wrapping_mul(0x85EB_CA6B) & (vertices - 1))
    };
    let mut seen = vec![false; vertices as usize];
    (0..vertices).for_each(|v| seen[shuffled(v).index() as usize] = true);
    assert!(seen.into_iter().all(|seen| seen), "a bijection");
    [Box::new(Vertex::new), Box::new(shuffled)]
}

/// The edges of a grid of 512 x 512 vertices, each used twice, in a table of `size` slots.
fn uses_of_edges(
    vertex: &dyn Fn(u32) -> Vertex,
    size: u32,
    is_scattered: bool,
) -> Vec<(Slots, u64)> {
    const SIDE: u32 = 512;
    let scale = (u64::from(size) << 32) / u64::from(SIDE * SIDE);
    let mut uses = Vec::new();
    for y in 0..SIDE - 1 {
        for x in 0..SIDE - 1 {
            let v = y * SIDE + x;
            for (a, b) in [(v, v + 1), (v, v + SIDE), (v, v + SIDE + 1)] {
                let (a, b) = (vertex(a), vertex(b));
                let (low, high) = (a.min(b), a.max(b));
                let name = u64::from(low.index()) << 32 | u64::from(high.index());
                let edge = (Slots::of_edge(low, high, scale, is_scattered), name);
                uses.extend([edge, edge]);
            }
        }
    }
    uses
}

/// In a mesh in random order a low vertex has no more elements than others: there are few attempts, in each order.
#[test]
fn attempts_do_not_depend_on_the_order_of_vertices() {
    let vertices = 512 * 512;
    for vertex in orders(vertices) {
        let tried = attempts(&uses_of_edges(&*vertex, 6 * vertices, true), 6 * vertices);
        assert!(tried < 1.5, "{tried} attempts");
    }
}

/// The edges of a vertex of a grid do not all begin at one slot.
#[test]
fn edges_of_a_local_mesh_take_few_attempts() {
    let size = 512 * 512 * 9 / 2;
    let tried = attempts(&uses_of_edges(&Vertex::new, size, false), size);
    assert!(tried < 1.01, "{tried} attempts");
}

#[test]
fn slots_are_in_the_table() {
    for (vertices, size) in [(1, 64), (3, u32::MAX), (1000, 4064), (u32::MAX, u32::MAX)] {
        let scale = (u64::from(size) << 32) / u64::from(vertices);
        let last = Vertex::new(vertices - 1);
        for key in 0..1000 {
            let other = Vertex::new(key % vertices);
            let (low, high) = (other.min(last), other.max(last));
            let (edge, face) = (
                Slots::of_edge(low, high, scale, true),
                Slots::of_face([low, high, high], scale, key % 2 == 0),
            );
            for attempt in 0..40 {
                assert!(edge.at(attempt, size) < size);
                assert!(face.at(attempt, size) < size);
            }
        }
    }
}
