//! Untangling: nodes move until no cell is inverted, or until cells are better.
//!
//! The measure is that of Garanzha, Kaporin, Kudryavtseva, Protais, Ray and Sokolov, Foldover-free maps in 50 lines of
//! code (2021): an energy of shape and volume, whose divisor chi(D) stays positive for inverted cells and nears the
//! volume D as its floor epsilon falls with the worst cell. The way is not the paper's, which moves all nodes by
//! L-BFGS: here nodes move one by one, by colours.
//!
//! | stage | kernels |
//! | --- | --- |
//! | sizes | [`measure_volumes()`], [`average_at_nodes()`], [`average_in_cells()`] |
//! | sliding nodes | [`find_frames()`] |
//! | inverted cells | [`mark_inverted()`] |
//! | rings | [`mark_corners()`], [`grow_ring()`], [`mark_places()`], [`find_first_places()`] |
//! | angles | [`find_angles()`] |
//! | moves | [`move_nodes()`] |
//! | mean ratios | [`measure_ratios()`] |
//!
//! # Definition
//!
//! A cell has simplices ([`simplices`]); it is inverted if one of them is not positive, by the exact sign. Of a simplex
//! let J be the map from the ideal simplex of its kind of cell, and s the volume that it should have: the mean, over
//! the cell's nodes, of the mean volume of their cells in the input, without signs. With D = det J / s and S = (|J|^2 /
//! d)^(d/2) / s in d dimensions (no less than |D|, by the inequality of the means), its energy is
//!
//! ```text
//! 2 S / chi(D) + D + 1 / chi(D),    chi(D) = (D + sqrt(D^2 + epsilon^2)) / 2
//! ```
//!
//! S / chi is the power d/2 of the paper's |J|^2 / chi^(2/d): in this form square roots suffice, which are the same on
//! every machine. D + 1 / chi replaces the paper's (D^2 + 1) / chi: it too is smallest at D = 1 and convex, since
//! 1 / chi = 2 (sqrt(D^2 + epsilon^2) - D) / epsilon^2. For better cells the energy is (S / D)^4.
//!
//! A sweep begins with epsilon = sqrt(1e-12 + (0.2 D)^2) for the smallest D of an inverted simplex, and with the nodes
//! of inverted cells and of the rings around them. Colour by colour each node takes a step of Newton's method for the
//! sum of the energies around it, or a half, a quarter, … of it: the first that lowers the sum. There are two rings; if
//! five sweeps end with no fewer inverted cells than the five before them, there is one more.
//!
//! # Valid cells stay valid
//!
//! Within the sweeps a valid cell may become inverted, as in the paper: on its way out a node often must pass through
//! one. If they end without inverted cells, nothing is lost. If they do not, their result is dropped: other sweeps
//! begin at the input, in which a node moves only if every positive simplex around it stays positive, by the exact
//! sign. Two nodes of one cell never move at the same time, so each such move leaves every positive simplex of the mesh
//! positive, and so do all of them. In both cases a valid cell of the input is valid in the result.
//!
//! Sweeps for better cells keep all simplices positive in the same way, and a move that leaves a simplex around the
//! node with a mean ratio below the worst before it is not taken. So the worst of the mesh never falls. If in the end
//! the smallest or the largest angle of the mesh is worse than in the beginning, the result is dropped: other sweeps
//! begin at the input, in which no move leaves an angle beyond these two of the mesh before the sweep. So they never
//! worsen either. The angles are the dihedral ones, in the plane those of the triangles; they are compared by their
//! cosines.
//!
//! # The same bits
//!
//! A colour's nodes share no cell, so a move reads positions that no move of the same launch writes: the result does
//! not depend on the order of moves. Sums go over the corners of a node in ascending order. The smallest D is a
//! minimum. The colours depend only on ids ([`classify()`](crate::smooth::classify())). IEEE 754 defines all
//! operations.

pub mod angles;
pub mod energy;
pub mod frames;
pub mod inverted;
pub mod moves;
pub mod ratios;
pub mod rings;
pub mod simplices;
pub mod sizes;

pub use angles::*;
pub use energy::*;
pub use frames::*;
pub use inverted::*;
pub use moves::*;
pub use ratios::*;
pub use rings::*;
pub use simplices::*;
pub use sizes::*;
