//! Laplacian smoothing, sequentially (gpu-laplacian-smoothing-2019): neighbours by sorting edges, boundary nodes by
//! sorting faces, and the two forms of the iteration.

use gpu::smooth::{Vector, cell_quality, face_code, face_count, polygon_quality, shuffled};

mod run;

pub use run::{surface, volume};
use trioxide::progress;
use trioxide::smooth::Moves;

/// Nodes whose squared moves are summed together, as on a device.
const CHUNK: usize = gpu::smooth::MOVES_CHUNK as usize;

/// Edges of a cell of a volume mesh, by the places of its vertices.
fn cell_edges(size: usize) -> &'static [(usize, usize)] {
    match size {
        4 => &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)],
        5 => &[
            (0, 1),
            (1, 2),
            (2, 3),
            (3, 0),
            (0, 4),
            (1, 4),
            (2, 4),
            (3, 4),
        ],
        6 => &[
            (0, 1),
            (1, 2),
            (2, 0),
            (3, 4),
            (4, 5),
            (5, 3),
            (0, 3),
            (1, 4),
            (2, 5),
        ],
        8 => &[
            (0, 1),
            (1, 2),
            (2, 3),
            (3, 0),
            (4, 5),
            (5, 6),
            (6, 7),
            (7, 4),
            (0, 4),
            (1, 5),
            (2, 6),
            (3, 7),
        ],
        _ => panic!("no cell has {size} vertices"),
    }
}

/// Neighbours of each of `nodes` nodes, ascending, from directed edges.
fn rows(nodes: usize, mut edges: Vec<(u32, u32)>) -> Vec<Vec<u32>> {
    edges.sort_unstable();
    edges.dedup();
    let mut rows = vec![Vec::new(); nodes];
    for (a, b) in edges {
        rows[a as usize].push(b);
    }
    rows
}

/// Neighbours of each node of a volume mesh along edges, ascending.
pub fn neighbours<'a>(nodes: usize, cells: impl Iterator<Item = &'a [u32]>) -> Vec<Vec<u32>> {
    let mut edges = Vec::new();
    for cell in cells {
        for &(i, j) in cell_edges(cell.len()) {
            edges.extend([(cell[i], cell[j]), (cell[j], cell[i])]);
        }
    }
    rows(nodes, edges)
}

/// Nodes that share a cell with each node, ascending.
pub fn cell_neighbours<'a>(nodes: usize, cells: impl Iterator<Item = &'a [u32]>) -> Vec<Vec<u32>> {
    let mut edges = Vec::new();
    for cell in cells {
        for &a in cell {
            edges.extend(cell.iter().filter(|&&b| b != a).map(|&b| (a, b)));
        }
    }
    rows(nodes, edges)
}

/// Neighbours of each node of a surface mesh, ascending.
pub fn surface_neighbours<'a>(
    nodes: usize,
    faces: impl Iterator<Item = &'a [u32]>,
) -> Vec<Vec<u32>> {
    let mut edges = Vec::new();
    for face in faces {
        for (i, &a) in face.iter().enumerate() {
            let b = face[(i + 1) % face.len()];
            edges.extend([(a, b), (b, a)]);
        }
    }
    rows(nodes, edges)
}

/// Faces that one cell alone uses: the cell, and the face's number in it; ascending.
pub fn boundary_faces<'a>(cells: impl Iterator<Item = &'a [u32]>) -> Vec<(u32, u32)> {
    let mut faces = Vec::new();
    for (c, cell) in cells.enumerate() {
        for f in 0..face_count(cell.len() as u32) {
            faces.push((sorted_face(cell, f), (c as u32, f)));
        }
    }
    faces.sort_unstable();
    let mut once: Vec<_> = faces
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|uses| uses.len() == 1)
        .map(|uses| uses[0].1)
        .collect();
    once.sort_unstable();
    once
}

/// The vertices of face `f` of a cell, ascending.
fn sorted_face(cell: &[u32], f: u32) -> Vec<u32> {
    let code = face_code(cell.len() as u32, f);
    let mut vertices: Vec<u32> = (0..4)
        .filter_map(|k| cell.get((code >> (4 * k) & 0xF) as usize).copied())
        .collect();
    vertices.sort_unstable();
    vertices
}

/// Whether each node is on a face that one cell alone uses.
pub fn boundary_nodes<'a>(
    nodes: usize,
    cells: impl Iterator<Item = &'a [u32]> + Clone,
) -> Vec<bool> {
    let mut on_boundary = vec![false; nodes];
    let list: Vec<&[u32]> = cells.clone().collect();
    for (c, f) in boundary_faces(cells) {
        for v in sorted_face(list[c as usize], f) {
            on_boundary[v as usize] = true;
        }
    }
    on_boundary
}

/// Whether each node is on an edge that one face alone has.
pub fn border_nodes<'a>(nodes: usize, faces: impl Iterator<Item = &'a [u32]>) -> Vec<bool> {
    let mut edges = Vec::new();
    for (f, face) in faces.enumerate() {
        for (i, &a) in face.iter().enumerate() {
            let b = face[(i + 1) % face.len()];
            edges.push((a.min(b), a.max(b), f));
        }
    }
    edges.sort_unstable();
    let mut on_border = vec![false; nodes];
    for uses in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        if uses.len() == 1 {
            on_border[uses[0].0 as usize] = true;
            on_border[uses[0].1 as usize] = true;
        }
    }
    on_border
}

/// Whether cells of two regions have each node.
pub fn interface_nodes<'a>(
    nodes: usize,
    cells: impl Iterator<Item = &'a [u32]>,
    regions: &[i32],
) -> Vec<bool> {
    let mut first = vec![None; nodes];
    let mut on_interface = vec![false; nodes];
    for (cell, &region) in cells.zip(regions) {
        for &v in cell {
            on_interface[v as usize] |= *first[v as usize].get_or_insert(region) != region;
        }
    }
    on_interface
}

/// A graph to smooth over.
pub struct Graph<'a> {
    /// Neighbours of each node, ascending.
    pub rows: &'a [Vec<u32>],
    /// Weight of each neighbour of each node; empty if they are uniform.
    pub weights: &'a [Vec<f64>],
    /// Whether each node may move.
    pub moving: &'a [bool],
}

/// Colour of each moving node by the greedy method in the order of the nodes' hashes; `u32::MAX` of others.
pub fn colours(rows: &[Vec<u32>], moving: &[bool]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..rows.len() as u32)
        .filter(|&v| moving[v as usize])
        .collect();
    order.sort_unstable_by_key(|&v| shuffled(v));
    let mut colours = vec![u32::MAX; rows.len()];
    for v in order {
        let taken: Vec<u32> = rows[v as usize]
            .iter()
            .map(|&u| colours[u as usize])
            .collect();
        colours[v as usize] = (0..).find(|colour| !taken.contains(colour)).unwrap_or(0);
    }
    colours
}

/// The order of a Gauss-Seidel sweep by colours: by colour, then id.
pub fn colour_order(rows: &[Vec<u32>], moving: &[bool]) -> Vec<u32> {
    let colours = colours(rows, moving);
    let mut order = id_order(moving);
    order.sort_by_key(|&v| colours[v as usize]);
    order
}

/// Moving nodes by id.
pub fn id_order(moving: &[bool]) -> Vec<u32> {
    (0..moving.len() as u32)
        .filter(|&v| moving[v as usize])
        .collect()
}

/// Stopping and length of sweeps.
pub use trioxide::smooth::Schedule;

/// Form A: each sweep from the positions before it.
pub fn form_a<P: Vector>(points: &mut [P], graph: &Graph<'_>, schedule: Schedule) -> Moves {
    let order = id_order(graph.moving);
    in_chunks(points, graph, &order, order.len().max(1), schedule)
}

/// Form B: each node from the positions of the moment, in the given order.
pub fn form_b<P: Vector>(
    points: &mut [P],
    graph: &Graph<'_>,
    order: &[u32],
    schedule: Schedule,
) -> Moves {
    in_chunks(points, graph, order, 1, schedule)
}

/// Sweeps in which the nodes of a chunk of `order` move at the same time: one chunk of all nodes is form A, chunks of
/// one node are form B; one block takes chunks in between.
pub fn in_chunks<P: Vector>(
    points: &mut [P],
    graph: &Graph<'_>,
    order: &[u32],
    chunk: usize,
    schedule: Schedule,
) -> Moves {
    let mut moves = Moves {
        converged: order.is_empty(),
        ..Moves::default()
    };
    let mut squares = vec![0.0; points.len()];
    let sweeps = progress::count("sweep", u64::from(schedule.max_sweeps));
    while moves.sweeps < schedule.max_sweeps && !moves.converged {
        let factor = schedule.factor(moves.sweeps);
        let mut moved = false;
        for nodes in order.chunks(chunk) {
            let targets: Vec<P> = nodes
                .iter()
                .map(|&v| target(points, graph, v, factor))
                .collect();
            for (&v, target) in nodes.iter().zip(targets) {
                let square = (target - points[v as usize]).square();
                squares[v as usize] = square;
                moved |= square >= schedule.tolerance * schedule.tolerance;
                points[v as usize] = target;
            }
        }
        moves.sweeps += 1;
        sweeps.advance(1);
        moves.converged = !moved;
    }
    if !order.is_empty() {
        summarise(&mut moves, &squares, order.len());
    }
    moves
}

/// HC smoothing (Vollmer, Mencl and Müller, 1999) with alpha and beta: each sweep from the positions before it. Nodes
/// that do not move have no excess.
pub fn hc<P: Vector>(
    points: &mut [P],
    graph: &Graph<'_>,
    [alpha, beta]: [f64; 2],
    schedule: Schedule,
) -> Moves {
    let order = id_order(graph.moving);
    let start = points.to_vec();
    let mut moves = Moves {
        converged: order.is_empty(),
        ..Moves::default()
    };
    let mut squares = vec![0.0; points.len()];
    let sweeps = progress::count("sweep", u64::from(schedule.max_sweeps));
    while moves.sweeps < schedule.max_sweeps && !moves.converged {
        let before = points.to_vec();
        let rest = |v: usize| before[v] + (start[v] - before[v]).times(alpha);
        let mut excess = vec![P::ZERO; points.len()];
        for &v in &order {
            excess[v as usize] = target(&before, graph, v, 1.0) - rest(v as usize);
        }
        moves.converged = true;
        for &v in &order {
            let mean = target(&excess, graph, v, 1.0);
            let v = v as usize;
            points[v] = rest(v) + (excess[v] - mean).times(1.0 - beta);
            squares[v] = (points[v] - before[v]).square();
            moves.converged &= squares[v] < schedule.tolerance * schedule.tolerance;
        }
        moves.sweeps += 1;
        sweeps.advance(1);
    }
    if !order.is_empty() {
        summarise(&mut moves, &squares, order.len());
    }
    moves
}

/// Largest and mean move, summed chunk by chunk.
pub fn summarise(moves: &mut Moves, squares: &[f64], count: usize) {
    let sums = squares.chunks(CHUNK).map(|chunk| chunk.iter().sum::<f64>());
    moves.rms_displacement = (sums.sum::<f64>() / count as f64).sqrt();
    moves.max_displacement = squares.iter().copied().fold(0.0, f64::max).sqrt();
}

/// The new position of node `v`: `factor` of the way to the weighted mean of its neighbours.
pub fn target<P: Vector>(points: &[P], graph: &Graph<'_>, v: u32, factor: f64) -> P {
    let here = points[v as usize];
    let row = &graph.rows[v as usize];
    let mut sum = P::ZERO;
    let mean = match graph.weights.get(v as usize) {
        None => {
            for &u in row {
                sum = sum + points[u as usize];
            }
            sum.over(row.len() as f64)
        }
        Some(weights) => {
            let mut total = 0.0;
            for (&u, &weight) in row.iter().zip(weights) {
                sum = sum + points[u as usize].times(weight);
                total += weight;
            }
            if total <= 0.0 {
                return here;
            }
            sum.over(total)
        }
    };
    if factor == 1.0 {
        mean
    } else {
        here + (mean - here).times(factor)
    }
}

/// Smart Laplacian: form B in the given order, a move being taken only if no cell around the node turns from positive
/// to not positive, and the worst quality around it does not fall. `cells_of` are the cells of each node, and whether
/// they are faces in the plane.
pub fn guarded<P: Vector>(
    points: &mut [P],
    graph: &Graph<'_>,
    order: &[u32],
    (cells_of, are_faces): (&[Vec<&[u32]>], bool),
    schedule: Schedule,
) -> Moves {
    let mut moves = Moves {
        converged: order.is_empty(),
        ..Moves::default()
    };
    let mut squares = vec![0.0; points.len()];
    let sweeps = progress::count("sweep", u64::from(schedule.max_sweeps));
    while moves.sweeps < schedule.max_sweeps && !moves.converged {
        let factor = schedule.factor(moves.sweeps);
        let mut moved = false;
        for &v in order {
            let here = points[v as usize];
            let qualities = |points: &[P]| match are_faces {
                true => face_qualities(points, &cells_of[v as usize], v),
                false => qualities(points, &cells_of[v as usize]),
            };
            let before = qualities(points);
            points[v as usize] = target(points, graph, v, factor);
            let after = qualities(points);
            let worst = |all: &[gpu::smooth::CellQuality]| {
                all.iter().map(|q| q.jacobian).fold(f64::INFINITY, f64::min)
            };
            let turns = before
                .iter()
                .zip(&after)
                .any(|(b, a)| b.is_positive && !a.is_positive);
            if turns || worst(&after) < worst(&before) {
                points[v as usize] = here;
                squares[v as usize] = 0.0;
                continue;
            }
            let square = (points[v as usize] - here).square();
            squares[v as usize] = square;
            moved |= square >= schedule.tolerance * schedule.tolerance;
        }
        moves.sweeps += 1;
        sweeps.advance(1);
        moves.converged = !moved;
    }
    if !order.is_empty() {
        summarise(&mut moves, &squares, order.len());
    }
    moves
}

/// Qualities of the faces around node `v`.
fn face_qualities<P: Vector>(
    points: &[P],
    faces: &[&[u32]],
    v: u32,
) -> Vec<gpu::smooth::CellQuality> {
    let quality = |face: &&[u32]| {
        let place = face.iter().position(|&u| u == v).unwrap_or(0);
        let at = |k: u32| points[face[k as usize] as usize].to_f64();
        polygon_quality(face.len() as u32, place as u32, at)
    };
    faces.iter().map(quality).collect()
}

fn qualities<P: Vector>(points: &[P], cells: &[&[u32]]) -> Vec<gpu::smooth::CellQuality> {
    cells
        .iter()
        .map(|cell| {
            cell_quality(cell.len() as u32, |k| {
                points[cell[k as usize] as usize].to_f64()
            })
        })
        .collect()
}

/// Cells of each node.
pub fn cells_of<'a>(nodes: usize, cells: impl Iterator<Item = &'a [u32]>) -> Vec<Vec<&'a [u32]>> {
    let mut cells_of = vec![Vec::new(); nodes];
    for cell in cells {
        for &v in cell {
            cells_of[v as usize].push(cell);
        }
    }
    cells_of
}
