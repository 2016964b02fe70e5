//! Kernels over points: one that writes, one that returns a bit set, with an enum and a constant, one over tiles, one
//! that reads by ids from data, and one of blocks. Two pages of the documentation show further ones. Their launches are
//! safe: indices are own ones, or are compared.
#![forbid(unsafe_code)]
#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx))]

mod blocks;
pub mod compared;

pub use blocks::*;
use glam::DVec2;
use trioxide_ids::Vertex;
use trioxide_kernel::safe::{In, Out, Own};
use trioxide_kernel::{Scalar, kernel, kernel_print};

trioxide_kernel::id! {
    /// A tile of points.
    pub struct Tile = "tile";
    /// A place in a list of points.
    pub struct Place = "place";
}

/// The squared distance of `point` to (x, y), into `distances[point]`.
#[kernel(moves(points.bytes() + distances.bytes()))]
pub fn square_distances(
    point: Own<Vertex>,
    points: In<DVec2, Vertex>,
    x: f64,
    y: f64,
    distances: Out<f64, Vertex>,
) {
    let difference = points.at(point) - DVec2::new(x, y);
    distances.set(point, difference.length_squared());
}

/// A side of a circle.
#[derive(Clone, Copy, Debug, PartialEq, Scalar)]
#[repr(u32)]
pub enum Side {
    /// The points inside.
    Near,
    /// The points outside.
    Far,
}

/// Whether `point` is on `side` of the circle with this squared `radius`. The circle itself belongs to it if `CLOSED`:
/// each value has an instance of its own.
#[kernel(CLOSED in [false, true], moves(distances.bytes()))]
pub fn select_points<const CLOSED: bool>(
    point: Own<Vertex>,
    distances: In<f64, Vertex>,
    radius: f64,
    side: Side,
) -> bool {
    let distance = distances.at(point);
    match side {
        Side::Near => distance < radius || CLOSED && distance == radius,
        Side::Far => distance > radius || CLOSED && distance == radius,
    }
}

/// Values of a tile.
pub const TILE: usize = 256;

/// The largest value of each tile, of values that are not negative; the last tile may have fewer.
#[kernel(requires(values.len() <= TILE * n), moves(values.bytes() + largest.bytes()))]
pub fn reduce_tiles(tile: Own<Tile>, values: In<f64, Vertex>, largest: Out<f64, Tile>) {
    let mut most = 0.0;
    let mut vertex = tile.index() * TILE as u32;
    let end = vertex.saturating_add(TILE as u32).min(values.len());
    while vertex < end {
        let value = values.at(Vertex::new(vertex));
        most = if value > most { value } else { most };
        vertex += 1;
    }
    largest.set(tile, most);
}

/// The distance of each point of a list. A number that no point has is an error of the launch.
#[kernel]
pub fn gather_distances(
    place: Own<Place>,
    listed: In<Vertex, Place>,
    distances: In<f64, Vertex>,
    gathered: Out<f64, Place>,
) {
    gathered.set(place, distances.at(listed.at(place)));
}

/// Prints the points further away than `most`, each with its distance and the excess over `most`.
#[kernel(moves(distances.bytes()))]
pub fn print_far(point: Own<Vertex>, distances: In<f64, Vertex>, most: f64) {
    let distance = distances.at(point);
    if distance > most {
        kernel_print!("{} is {} from the centre", point.get(), distance; point);
        kernel_print!("which is {} too far: {}", distance - most, true; point);
    }
}
