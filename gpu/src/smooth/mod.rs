//! Laplacian smoothing of volume and surface meshes (gpu-laplacian-smoothing-2019).
//!
//! V nodes, C corners of cells (4 of a tetrahedron), E edges, M nodes that move. Each node that moves goes to the mean
//! of its neighbours, again and again, until no move of a sweep reaches the tolerance.
//!
//! | stage | kernels | in the paper |
//! | --- | --- | --- |
//! | check the mesh | [`check_nodes()`], [`check_cells()`] | the rules that the other kernels rely on |
//! | bounds | [`measure_bounds()`](crate::forms::measure_bounds()), for meshes made on the device | not in the paper |
//! | cells of nodes | `collective::count_local_keys`, `fill_local_buckets`, [`mark_heavy()`] | not named |
//! | neighbours | [`gather_neighbours()`], [`move_lists()`]; [`sort_candidates()`] for nodes of many cells; [`gather_tet_neighbours()`], [`move_tet_lists()`] of tetrahedra | unique edges (3.2.1) |
//! | neighbours, boundary, order | [`mark_border_nodes()`], [`mark_moving_fans()`], [`count_fans()`], [`order_fans()`], of surfaces with half-edges, in place of the lists above and below | the same |
//! | boundary | [`mark_boundary_faces()`], [`mark_heavy_faces()`], [`mark_border_edges()`]; [`mark_tet_boundary()`] of tetrahedra | boundary nodes (3.2.2) |
//! | region interfaces | [`mark_interfaces()`] | not in the paper |
//! | weights | [`weigh_by_distance()`], [`weigh_by_cotangents()`] | not in the paper: its weights are equal |
//! | sliding nodes | [`slide_nodes()`], [`slide_border_nodes()`] | not in the paper |
//! | order | [`key_nodes()`], [`count_up()`](crate::forms::count_up()), `collective::move_by_digit`, [`rank_vertices()`](crate::forms::rank_vertices()), [`order_row()`] | not in the paper |
//! | classes | [`classify()`]: colours or levels, so that form B over many blocks does not race | not in the paper |
//! | into the layout, out of the layout | [`arrange()`], [`restore()`] | the three layouts (2.3) |
//! | sweeps | [`sweep_form_a()`], [`sweep_racing()`], [`sweep_classes()`] | the iteration (3.2.3) by many blocks |
//! | sweeps | [`one_block_form_a()`], [`one_block_form_b()`] | the iteration by one block |
//! | sweeps | [`sweep_guarded()`]: smart Laplacian, only moves that harm no cell | not in the paper |
//! | sweeps | [`measure_excess()`], [`sweep_hc()`]: HC smoothing of surfaces | not in the paper |
//! | moves | [`square_moves()`], [`sum_moves()`] | the tolerance |
//! | quality | [`measure_cells()`] | not in the paper |
//!
//! # The same bits
//!
//! A sum takes the neighbours in the order of the caller's ids, whatever the layout and the order in memory. So form A
//! gives the same bits for each layout, number of blocks, device and number of threads. Form B by one block moves a
//! chunk of [`ONE_BLOCK_LANES`] nodes at a time, and is deterministic too. By many blocks it is the paper's race.
//! [`sweep_classes()`] does not race: over colours it is a Gauss-Seidel sweep in the order of colours, over levels one
//! in the order of ids, bit for bit.
//!
//! # Bytes
//!
//! A mesh of T tetrahedra in double precision must move these bytes from and to memory:
//!
//! | stage | bytes | 20M nodes, 110M tetrahedra, at 4.3 TB/s |
//! | --- | --- | --- |
//! | cells of nodes | 16T read, 16T written, 8V | 0.9 ms |
//! | neighbours | 32T read, 8E written twice and read, 8V | 1.6 ms |
//! | boundary | 32T read | 0.8 ms |
//! | a sweep of form A | 8E of neighbours, 4V of rows, 24V read, 24V written | 0.48 ms |
//!
//! The search for equal edges and faces, in shared memory for tetrahedra, bounds the first three; reads of neighbours
//! bound the sweep. In the curve's order only one such read for each node goes to memory.
//!
//! # Differences from the paper
//!
//! - The paper sorts all edges and all faces. Here cells are bucketed by node, and equal ones are found around a node.
//! - The paper's blocks converge one by one, and a block stops when it has converged. Here a sweep is a launch, so that
//!   forms A and B do not depend on the order of blocks, and the first sweep under the tolerance is the last.

pub mod boundary;
pub mod cells;
pub mod cells_of_nodes;
pub mod check_mesh;
pub mod class_sweeps;
pub mod classes;
pub mod fans;
pub mod guarded_sweeps;
pub mod hc_sweeps;
pub mod layout;
pub mod moves;
pub mod moving_nodes;
pub mod neighbours;
pub mod nodes;
pub mod one_block_sweeps;
pub mod order;
pub mod polygon_quality;
pub mod quality;
pub mod region_interfaces;
pub mod sliding_nodes;
pub mod sweeps;
pub mod tet_boundary;
pub mod tet_neighbours;
pub mod weights;

pub use boundary::*;
pub use cells::*;
pub use cells_of_nodes::*;
pub use check_mesh::*;
pub use class_sweeps::*;
pub use classes::*;
pub use fans::*;
pub use guarded_sweeps::*;
pub use hc_sweeps::*;
pub use layout::*;
pub use moves::*;
pub use moving_nodes::*;
pub use neighbours::*;
pub use nodes::*;
pub use one_block_sweeps::*;
pub use order::*;
pub use polygon_quality::*;
pub use quality::*;
pub use region_interfaces::*;
pub use sliding_nodes::*;
pub use sweeps::*;
pub use tet_boundary::*;
pub use tet_neighbours::*;
pub use weights::*;
