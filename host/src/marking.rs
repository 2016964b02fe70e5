//! The cells that refinement divides: triangles of the plane or of space, or tetrahedra. The families check a marking
//! for their meshes: [`Marking::of_triangles`], [`Marking::of_tetrahedra`].

use std::fmt;
use std::str::FromStr;

use trioxide_kernel::Bits;
use trioxide_mesh::mesh::Simplices;
use trioxide_mesh::{bit_set, parallel};

/// The cells that a round divides. Each kind but flags has a text: `disk:0.5,0.5,0.1`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Marking {
    /// Every cell.
    #[default]
    All,
    /// Each with this chance, from 0 to 1; every round draws anew.
    Fraction(f64),
    /// Triangles whose centroid lies in a box: x0, y0, x1, y1; at any height in space.
    Box([f64; 4]),
    /// Triangles whose centroid lies in a disk: centre x and y, radius; in space in the cylinder along z.
    Disk([f64; 3]),
    /// Cells whose centroid lies in a box in space: x0, y0, z0, x1, y1, z1. A point of the plane has z = 0.
    BoxInSpace([f64; 6]),
    /// Cells whose centroid lies in a ball: centre, radius. A point of the plane has z = 0.
    Ball([f64; 4]),
    /// Triangles with a larger area.
    Area(f64),
    /// Triangles with a smaller angle, in degrees.
    Angle(f64),
    /// Tetrahedra with a larger volume.
    Volume(f64),
    /// These cells of the input, in each round with all their parts.
    Ids(Vec<u32>),
    /// Cells of the input by a flag for each, in each round with all their parts.
    Flags(Vec<bool>),
}

/// The kinds that have a text.
pub const EXPECTED: &str = "expected all, fraction:F, box:X0,Y0,X1,Y1, disk:X,Y,R, area:A, angle:DEGREES or ids:A,B,…; \
    in space also box:X0,Y0,Z0,X1,Y1,Z1, ball:X,Y,Z,R, and volume:V of tetrahedra";

impl FromStr for Marking {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let number = |least: f64, most: f64| {
            let [value] = numbers::<1>(rest)?;
            if (least..=most).contains(&value) {
                Ok(value)
            } else if most == f64::MAX {
                Err(format!(
                    "{kind}: {value} is below {least}, so give {least} or more"
                ))
            } else {
                Err(format!("{kind}: {value} is not between {least} and {most}"))
            }
        };
        match kind {
            "all" if rest.is_empty() => Ok(Marking::All),
            "fraction" => number(0.0, 1.0).map(Marking::Fraction),
            // With four numbers it is a box of the plane.
            "box" if rest.split(',').count() > 4 => numbers(rest).map(Marking::BoxInSpace),
            "box" => numbers(rest).map(Marking::Box),
            "disk" => numbers(rest).map(Marking::Disk),
            "ball" => numbers(rest).map(Marking::Ball),
            "area" => number(0.0, f64::MAX).map(Marking::Area),
            "angle" => number(0.0, 60.0).map(Marking::Angle),
            "volume" => number(0.0, f64::MAX).map(Marking::Volume),
            "ids" => {
                let ids: Result<_, _> = rest.split(',').map(|id| id.trim().parse()).collect();
                ids.map(Marking::Ids)
                    .map_err(|_| format!("expected ids with commas between them, not `{rest}`"))
            }
            _ => Err(EXPECTED.to_owned()),
        }
    }
}

/// `N` finite numbers with commas between them.
fn numbers<const N: usize>(text: &str) -> Result<[f64; N], String> {
    let parsed: Option<Vec<f64>> = text
        .split(',')
        .map(|number| number.trim().parse().ok().filter(|x: &f64| x.is_finite()))
        .collect();
    parsed
        .and_then(|numbers| numbers.try_into().ok())
        .ok_or_else(|| format!("expected {N} numbers with commas between them, not `{text}`"))
}

impl fmt::Display for Marking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, numbers): (_, &[f64]) = match self {
            Marking::All => return f.write_str("all"),
            Marking::Flags(_) => return f.write_str("flags"),
            Marking::Ids(ids) => {
                let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
                return write!(f, "ids:{}", ids.join(","));
            }
            Marking::Fraction(fraction) => ("fraction", std::slice::from_ref(fraction)),
            Marking::Box(numbers) => ("box", numbers),
            Marking::Disk(numbers) => ("disk", numbers),
            Marking::BoxInSpace(numbers) => ("box", numbers),
            Marking::Ball(numbers) => ("ball", numbers),
            Marking::Area(area) => ("area", std::slice::from_ref(area)),
            Marking::Angle(degrees) => ("angle", std::slice::from_ref(degrees)),
            Marking::Volume(volume) => ("volume", std::slice::from_ref(volume)),
        };
        let numbers: Vec<String> = numbers.iter().map(f64::to_string).collect();
        write!(f, "{kind}:{}", numbers.join(","))
    }
}

/// A marking that does not fit the cells of a mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{marking}{reason}")]
pub struct Unfit {
    /// The marking: `volume:1`.
    pub marking: String,
    /// The rest of the sentence.
    pub reason: Reason,
}

/// Why a marking does not fit, as the rest of a sentence that begins with it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// It marks tetrahedra alone.
    #[error(" goes with volume meshes: use area:A for triangles")]
    OfTetrahedra,
    /// It marks triangles alone.
    #[error(
        " goes with planar meshes; tetrahedra are marked by all, fraction:F, box:X0,Y0,Z0,X1,Y1,Z1, ball:X,Y,Z,R, volume:V \
         or by ids"
    )]
    OfTriangles,
    /// It has an id of a cell that is not there.
    #[error(": there is no {} {id}: ids go from 0, and the mesh has {count} {}", cells.names()[0], cells.names()[1])]
    NoSuchCell {
        /// The id.
        id: u32,
        /// Cells of the mesh.
        count: usize,
        /// Their kind.
        cells: Simplices,
    },
}

/// A marking that was checked for a mesh with cells `C`: its kind fits, its numbers have a meaning, its lists are the
/// mesh's.
#[derive(Debug)]
pub struct CheckedMarking<'a, C> {
    /// The marking. A fraction is below 1.
    pub marking: &'a Marking,
    seed: u64,
    /// Of ids and flags: a bit for each cell of the input.
    pub(crate) listed: Vec<Bits<C>>,
}

/// Names of a part's cells in the whole mesh, by which [some markings](CheckedMarking::needs_names) go.
#[derive(Clone, Copy, Debug)]
pub struct ShareNames<'a> {
    /// Id of each cell.
    pub ids: &'a [u64],
    /// Cell of the input that each is a part of.
    pub ancestors: &'a [u64],
    /// Rounds before this one.
    pub round: usize,
}

/// Why cells are not marked by values.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Unvalued {
    /// There is not a value for each cell.
    #[error("there are {given} values, but the input has {needed} {}", cells.names()[1])]
    Length {
        /// Number of values.
        given: usize,
        /// Number of cells.
        needed: usize,
        /// Their kind.
        cells: Simplices,
    },
    /// A part of the sum that is none.
    #[error("a part of {part} of the values' sum is no marking: it must be 0 to 1")]
    Part {
        /// The part.
        part: f64,
    },
    /// An indicator of error is negative or no number.
    #[error("the value of {} {cell} is {value}: an indicator of error is not negative", cells.names()[0])]
    Indicator {
        /// The cell.
        cell: usize,
        /// Its value.
        value: f64,
        /// Its kind.
        cells: Simplices,
    },
}

impl Marking {
    /// Marks cells of the input: `values` above `threshold`.
    pub fn above(values: &[f64], threshold: f64) -> Self {
        Self::Flags(values.iter().map(|&value| value > threshold).collect())
    }

    /// Dörfler marking: the fewest cells whose `values` make at least `part` of the sum of all, the largest first, and
    /// of equal values the smaller id first. `cells` names them in errors.
    ///
    /// # Errors
    /// [`Unvalued::Indicator`] for a value that is negative or no number; [`Unvalued::Part`].
    pub fn dorfler(values: &[f64], part: f64, cells: Simplices) -> Result<Self, Unvalued> {
        if !(0.0..=1.0).contains(&part) {
            return Err(Unvalued::Part { part });
        }
        let is_wrong = |&value: &f64| value.is_nan() || value < 0.0;
        if let Some(cell) = values.iter().position(is_wrong) {
            let value = values[cell];
            return Err(Unvalued::Indicator { cell, value, cells });
        }
        let mut order: Vec<u32> = (0..values.len() as u32).collect();
        let value = |t: u32| values[t as usize];
        order.sort_by(|&s, &t| value(t).total_cmp(&value(s)).then(s.cmp(&t)));
        let total: f64 = order.iter().map(|&t| value(t)).sum();
        let mut marked = vec![false; values.len()];
        let mut sum = 0.0;
        for t in order {
            if sum >= part * total {
                break;
            }
            sum += value(t);
            marked[t as usize] = true;
        }
        Ok(Self::Flags(marked))
    }

    pub(crate) fn unfit(&self, reason: Reason) -> Unfit {
        Unfit {
            marking: self.to_string(),
            reason,
        }
    }

    /// The marking for `count` cells of this kind; other checks were done.
    pub(crate) fn checked<C>(
        &self,
        seed: u64,
        count: usize,
        cells: Simplices,
    ) -> Result<CheckedMarking<'_, C>, Unfit> {
        let listed = match self {
            Marking::Ids(ids) => {
                let mut words = vec![0; count.div_ceil(32)];
                for &id in ids {
                    if id as usize >= count {
                        return Err(self.unfit(Reason::NoSuchCell { id, count, cells }));
                    }
                    words[id as usize / 32] |= 1 << (id % 32);
                }
                words
            }
            Marking::Flags(flags) => bit_set::pack_list(flags),
            _ => Vec::new(),
        };
        Ok(CheckedMarking {
            marking: match self {
                Marking::Fraction(1.0) => &Marking::All,
                marking => marking,
            },
            seed,
            listed: listed.into_iter().map(Bits::new).collect(),
        })
    }
}

impl<C: Sync> CheckedMarking<'_, C> {
    /// Seed of a round's random numbers.
    pub fn seed_of_round(&self, round: usize) -> u64 {
        let step = (round as u64).wrapping_mul(0xD1B5_4A32_D192_ED03);
        self.seed.wrapping_add(step)
    }

    /// Whether a list has this cell of the input.
    ///
    /// # Panics
    /// When the marking is no list, or has no word for the cell.
    pub fn has(&self, cell: usize) -> bool {
        self.listed[cell / 32].word() >> (cell % 32) & 1 != 0
    }

    /// Whether parts of a mesh need [names](ShareNames) of their cells.
    pub fn needs_names(&self) -> bool {
        use Marking::{Flags, Fraction, Ids};
        matches!(self.marking, Fraction(_) | Ids(_) | Flags(_))
    }

    /// The marks of a part of `n` cells, a bit each, if they go by `names`; `draws` draws a cell by the lower half of
    /// its id, a seed and the fraction.
    ///
    /// # Panics
    /// When a cell has no name, or an ancestor is no cell of the input.
    pub(crate) fn of_share(
        &self,
        n: usize,
        names: &ShareNames,
        draws: impl Fn(u32, u64, f64) -> bool + Sync,
    ) -> Option<Vec<u32>> {
        let flags = match *self.marking {
            Marking::Fraction(fraction) => {
                assert_eq!(names.ids.len(), n, "an id for each cell");
                let seed = self.seed_of_round(names.round);
                let draws = |&id: &u64| draws(id as u32, seed_of_id(seed, id), fraction);
                parallel::map(names.ids, draws)
            }
            Marking::Ids(_) | Marking::Flags(_) => {
                assert_eq!(names.ancestors.len(), n, "an ancestor for each cell");
                parallel::map(names.ancestors, |&t| self.has(t as usize))
            }
            _ => return None,
        };
        Some(bit_set::pack_list(&flags))
    }
}

/// The seed by which the lower half of `id`, which may be larger than a device's ids, draws as the whole does: drawing
/// takes ids times a constant from the seed on, so the seed takes the higher half.
pub(crate) fn seed_of_id(seed: u64, id: u64) -> u64 {
    let higher = (id >> 32 << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    seed.wrapping_add(higher)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markings_are_read_and_shown() {
        for text in [
            "all",
            "fraction:0.5",
            "box:0,0,1,1",
            "box:0,0,0,1,1,0.5",
            "disk:0,1,2",
            "ball:1,2,3,0.25",
            "area:0.1",
            "angle:30",
            "volume:0.001",
            "ids:1,2",
        ] {
            let marking: Marking = text.parse().unwrap();
            assert_eq!(marking.to_string(), text);
        }
        for text in [
            "box:0,0,0,1,1",
            "ball:1,2,3",
            "volume:x",
            "volume:inf",
            "fraction:2",
            "angle:61",
            "all:1",
            "file:a",
        ] {
            assert!(text.parse::<Marking>().is_err(), "{text}");
        }
    }
}
