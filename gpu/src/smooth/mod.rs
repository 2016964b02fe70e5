//! Laplacian smoothing of volume and surface meshes (gpu-laplacian-smoothing-2019).
//!
//! V nodes, C corners of cells (4 of a tetrahedron), E edges, M nodes that move. Each node that moves goes to the mean of its
//! neighbours, again and again, until no move of a sweep reaches the tolerance.
//!
//! | stage | covers, in the paper |
//! | --- | --- |
//! | [`check_nodes()`], [`check_cells()`] | what the other kernels may rely on |
//! | `collective::count_keys`, `fill_buckets` | which cells each node has |
//! | [`gather_neighbours()`], [`move_lists()`] | neighbours, as unique edges (3.2.1) |
//! | [`mark_boundary_faces()`], [`mark_interfaces()`], [`mark_moving()`] | boundary nodes (3.2.2), and others that stay |
//! | [`key_nodes()`], [`split_by_bit()`], [`rank_nodes()`], [`order_row()`] | an order in memory; not in the paper |
//! | [`classify()`] | colours or levels, so that form B over many blocks does not race; not in the paper |
//! | [`weigh_by_distance()`], [`weigh_by_cotangents()`] | other weights than equal ones; not in the paper |
//! | [`slide_nodes()`], [`slide_border_nodes()`] | boundary nodes that slide; not in the paper |
//! | [`arrange()`], [`restore()`] | into one of the three layouts (2.3) and back |
//! | [`sweep_form_a()`], [`sweep_racing()`], [`sweep_class()`] | the iteration (3.2.3) by many blocks |
//! | [`one_block_form_a()`], [`one_block_form_b()`] | the iteration by one block |
//! | [`sweep_guarded()`] | smart Laplacian: only moves that harm no cell; not in the paper |
//! | [`measure_excess()`], [`sweep_hc()`] | HC smoothing of surfaces; not in the paper |
//! | [`measure_cells()`] | quality of cells; not in the paper |
//! | [`square_moves()`], [`sum_moves()`] | how far the last sweep moved the nodes |
//!
//! # The same bits
//!
//! A sum takes the neighbours in the order of the caller's ids, whatever the layout and the order in memory. So form A gives
//! the same bits for each layout, number of blocks, device and number of threads. Form B by one block moves a chunk of
//! [`ONE_BLOCK_LANES`] nodes at a time: deterministic too. By many blocks it is the paper's race, and [`sweep_class()`] stands
//! beside it: over colours it is a Gauss-Seidel sweep in the order of colours, and over levels that in the order of ids,
//! bit for bit.
//!
//! # Bytes
//!
//! For T tetrahedra, in double precision, what must move from and to memory:
//!
//! | stage | bytes | 20M nodes, 110M tetrahedra, at 4.3 TB/s |
//! | --- | --- | --- |
//! | cells of nodes | 16T read, 16T written, 8V | 0.9 ms |
//! | neighbours | 32T read, 8E written twice and read, 8V | 1.6 ms |
//! | boundary | 32T read | 0.8 ms |
//! | a sweep of form A | 8E of neighbours, 4V of rows, 24V read, 24V written | 0.48 ms |
//!
//! The first three are bound by the work that finds equal edges and faces, in the caches; the sweep by its reads of
//! neighbours, of which the curve's order leaves one of memory for each node.
//!
//! # Differences to the paper
//!
//! - The paper sorts all edges and all faces. Here cells are bucketed by node, and equal ones are found around a node.
//! - Its blocks converge one by one, and those that have leave. Here a sweep is a launch, so that what form A and B mean
//!   does not depend on the order of blocks, and the first sweep under the tolerance is the last.

pub mod boundary;
pub mod cells;
pub mod classes;
pub mod guard;
pub mod hc;
pub mod moves;
pub mod neighbours;
pub mod nodes;
pub mod one_block;
pub mod order;
pub mod quality;
pub mod slide;
pub mod sweep;
pub mod weights;

pub use boundary::*;
pub use cells::*;
pub use classes::*;
pub use guard::*;
pub use hc::*;
pub use moves::*;
pub use neighbours::*;
pub use nodes::*;
pub use one_block::*;
pub use order::*;
pub use quality::*;
pub use slide::*;
pub use sweep::*;
pub use weights::*;
