//! How to weld.

use glam::DVec3;

use super::{Error, Method, Result};

/// How vertices are clustered, and how clusters become vertices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Vertices at most this far apart are neighbours; 0 merges exact duplicates.
    pub epsilon: f64,
    /// Conditions besides the distance that neighbours must meet.
    pub guards: Guards,
    /// Position of a cluster.
    pub position: Position,
    /// Keep triangles with two corners in one cluster, and repeated triangles.
    pub keep_degenerate: bool,
    /// How clusters are computed: decides speed and memory, not the result.
    pub method: Method,
    /// How the work is divided.
    pub tuning: Tuning,
}

/// Conditions besides the distance that neighbours must meet; `None` for no condition.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Guards {
    /// Largest angle between their normals, in degrees from 0 to 180. Above 0 an angle up to 1e-5 degrees larger counts
    /// as equal, which is the error of normals in single precision. A normal without direction (zero, not finite, or
    /// with a coordinate beyond 1e298) keeps none apart.
    pub normals: Option<f64>,
    /// Largest distance of their texture coordinates, compared as epsilon is: an equal one merges.
    pub uvs: Option<f64>,
    /// Largest difference in a channel of their colours, of 255; alpha is a channel.
    pub colors: Option<u8>,
}

impl Guards {
    /// Refuses tolerances that are no angle or no distance.
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(angle) = self.normals
            && !(0.0..=180.0).contains(&angle)
        {
            return Err(Error::NormalTolerance(angle));
        }
        if let Some(distance) = self.uvs
            && !(distance.is_finite() && distance >= 0.0)
        {
            return Err(Error::UvTolerance(distance));
        }
        Ok(())
    }
}

/// How the work is divided: decides the speed, not the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// Vertices of an occupied cell for which the side of the cells is chosen.
    pub points_per_cell: f64,
    /// Least side of the cells, as a multiple of the side that epsilon needs; 1 or more.
    pub cell_width: f64,
    /// Vertices are decided along chains, with all their lower neighbours noted: at once where most vertices are near
    /// the next one, and elsewhere if more than one in this number is left after the first round; 0: never. By default
    /// 8 on a GPU, and never on a CPU.
    pub dense_share: Option<usize>,
    /// Vertices of the largest bucket in which neighbours are searched. Where cells that cannot be smaller have more,
    /// or many have more than 64, vertices are compared with representatives alone; 0: always.
    pub most_in_bucket: u32,
    /// Vertices that a crowded bucket decides before members are looked for by all threads; 0: as many as it can,
    /// without such looks. By default 64 on a GPU, 16 with guards, and 0 on a CPU.
    pub crowded_patience: Option<u32>,
    /// Rounds of comparisons with representatives after which pairs are searched for instead, where the whole mesh is
    /// welded at once. By default, with guards on a GPU, as many as take the time of the pairs, and any number
    /// otherwise.
    pub crowded_rounds: Option<usize>,
    /// Vertices of a block of buckets, on average: decides the size of the table.
    pub points_per_block: usize,
    /// Sweeps in vain after which a block of the decision gives up.
    pub patience: u32,
    /// Looks in vain after which a block that decides chains gives up: a bound for devices that do not start blocks in
    /// their order.
    pub chain_patience: u32,
    /// Blocks of the first decision that a device runs at once; where there are more, none waits.
    pub blocks_at_once: u32,
    /// Bits of the keys of hashed cells, 1 to 64: fewer than 64 make keys collide, for tests.
    pub key_bits: u32,
    /// Most neighbours that stored lists may hold. Longer lists are refused, as are lists that do not fit the free
    /// memory.
    pub most_neighbours: u64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            points_per_cell: 2.0,
            cell_width: 1.6,
            dense_share: None,
            most_in_bucket: 512,
            crowded_patience: None,
            crowded_rounds: None,
            points_per_block: 24,
            patience: 256,
            chain_patience: 1 << 20,
            blocks_at_once: 1056,
            key_bits: 64,
            most_neighbours: u64::MAX,
        }
    }
}

impl Options {
    /// Clusters of radius `epsilon` at their means.
    pub fn new(epsilon: f64) -> Self {
        Self {
            epsilon,
            guards: Guards::default(),
            position: Position::Mean,
            keep_degenerate: false,
            method: Method::Auto,
            tuning: Tuning::default(),
        }
    }

    /// The method to use: [`Method::Grid`] alone knows guards.
    pub(super) fn method_for(&self, is_guarded: bool) -> Result<Method> {
        match self.method {
            Method::Auto | Method::Grid if is_guarded => Ok(Method::Grid),
            method if is_guarded => Err(Error::Guarded { method }),
            method => Ok(method),
        }
    }

    /// Refuses an epsilon or a tolerance out of range.
    ///
    /// # Errors
    /// [`Error::Epsilon`], [`Error::NormalTolerance`], [`Error::UvTolerance`].
    pub fn check(&self) -> Result<()> {
        if self.epsilon.is_finite() && self.epsilon >= 0.0 {
            return self.guards.check();
        }
        Err(Error::Epsilon(self.epsilon))
    }

    /// A distance that the coordinates of neighbours along an axis do not exceed.
    pub fn reach(&self) -> f64 {
        self.nearness().reach
    }

    /// The test for neighbours.
    pub fn nearness(&self) -> Nearness {
        Nearness::new(self.epsilon)
    }
}

impl Default for Options {
    /// Exact duplicates merge.
    fn default() -> Self {
        Self::new(0.0)
    }
}

/// Position of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Position {
    /// Mean of its vertices, added in ascending order
    #[default]
    Mean,
    /// That of its representative, the first
    First,
}

/// The test for neighbours in floating-point numbers.
#[derive(Clone, Copy, Debug)]
pub struct Nearness {
    /// A distance that the coordinates of neighbours along an axis do not exceed.
    pub reach: f64,
    /// Factor of differences of coordinates.
    pub scale: f64,
    /// Largest square of a scaled distance.
    pub bound: f64,
}

impl Nearness {
    /// The test for points within epsilon.
    pub fn new(epsilon: f64) -> Self {
        let power_of_two = |exponent: i64| f64::from_bits(((1023 + exponent) as u64) << 52);
        // No two points are farther apart than this: any larger epsilon makes all neighbours.
        let epsilon = epsilon.min(power_of_two(993));
        let scale = if epsilon < power_of_two(-400) {
            power_of_two(1000)
        } else if epsilon > power_of_two(400) {
            power_of_two(-600)
        } else {
            1.0
        };
        // 2^1000 would make infinity of an epsilon just below 2^-400's square.
        let scale = if epsilon > 0.0 && scale > 1.0 {
            power_of_two(600)
        } else {
            scale
        };
        Self {
            reach: epsilon * (1.0 + power_of_two(-50)),
            scale,
            bound: (epsilon * scale) * (epsilon * scale),
        }
    }

    /// Whether two points are within epsilon.
    pub fn is_near(&self, a: DVec3, b: DVec3) -> bool {
        let d = (a - b) * self.scale;
        d.x * d.x + d.y * d.y + d.z * d.z <= self.bound
    }
}
