//! The cells that refinement divides: triangles of the plane or of space, or tetrahedra.

use std::fmt;
use std::str::FromStr;

use glam::DVec3;
use trioxide::{refine, refine_tets};

use crate::error::Result;
use crate::error::refine::Refusal;

/// The cells that a round divides. Each kind but the lists has a text: `disk:0.5,0.5,0.1`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Mark {
    /// Everything.
    #[default]
    All,
    /// Each with this chance.
    Fraction(f64),
    /// Centroid in a box, as x0, y0, x1, y1, at any height. Of triangles.
    Box([f64; 4]),
    /// Centroid in a disk, as x, y, radius, at any height. Of triangles.
    Disk([f64; 3]),
    /// Centroid in a box in space, as x0, y0, z0, x1, y1, z1.
    BoxInSpace([f64; 6]),
    /// Centroid in a ball, as x, y, z, radius.
    Ball([f64; 4]),
    /// More area than this. Of triangles.
    Area(f64),
    /// An angle smaller than this, in degrees. Of triangles.
    Angle(f64),
    /// More volume than this. Of tetrahedra.
    Volume(f64),
    /// These, in each round with all their parts.
    Ids(Vec<u32>),
    /// Those with a flag, in each round with all their parts; a flag for each cell of the input.
    Flags(Vec<bool>),
    /// By a value for each triangle of the input: goes with a threshold or Dörfler's part.
    Values(Vec<f64>),
}

impl FromStr for Mark {
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
            "all" if rest.is_empty() => Ok(Mark::All),
            "fraction" => number(0.0, 1.0).map(Mark::Fraction),
            // With four numbers it is a box of the plane.
            "box" if rest.split(',').count() > 4 => numbers(rest).map(Mark::BoxInSpace),
            "box" => numbers(rest).map(Mark::Box),
            "disk" => numbers(rest).map(Mark::Disk),
            "ball" => numbers(rest).map(Mark::Ball),
            "area" => number(0.0, f64::MAX).map(Mark::Area),
            "angle" => number(0.0, 60.0).map(Mark::Angle),
            "volume" => number(0.0, f64::MAX).map(Mark::Volume),
            "ids" => {
                let ids: Result<_, _> = rest.split(',').map(|id| id.trim().parse()).collect();
                ids.map(Mark::Ids)
                    .map_err(|_| format!("expected ids with commas between them, not `{rest}`"))
            }
            _ => Err(EXPECTED.to_owned()),
        }
    }
}

/// The kinds that have a text.
pub const EXPECTED: &str = "expected all, fraction:F, box:X0,Y0,X1,Y1, disk:X,Y,R, area:A, angle:DEGREES or ids:A,B,…; \
    in space also box:X0,Y0,Z0,X1,Y1,Z1, ball:X,Y,Z,R, and volume:V of tetrahedra";

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, numbers): (_, &[f64]) = match self {
            Mark::All => return f.write_str("all"),
            Mark::Flags(_) => return f.write_str("flags"),
            Mark::Values(_) => return f.write_str("values"),
            Mark::Ids(ids) => {
                let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
                return write!(f, "ids:{}", ids.join(","));
            }
            Mark::Fraction(fraction) => ("fraction", std::slice::from_ref(fraction)),
            Mark::Box(numbers) => ("box", numbers),
            Mark::Disk(numbers) => ("disk", numbers),
            Mark::BoxInSpace(numbers) => ("box", numbers),
            Mark::Ball(numbers) => ("ball", numbers),
            Mark::Area(area) => ("area", std::slice::from_ref(area)),
            Mark::Angle(degrees) => ("angle", std::slice::from_ref(degrees)),
            Mark::Volume(volume) => ("volume", std::slice::from_ref(volume)),
        };
        let numbers: Vec<String> = numbers.iter().map(f64::to_string).collect();
        write!(f, "{kind}:{}", numbers.join(","))
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

impl Mark {
    /// The marking of a mesh of `triangles` triangles; values need a rule, which refinement's options have.
    ///
    /// # Errors
    /// [`Refusal::NoSuchCell`], [`Refusal::MarkOfTetrahedra`], [`Refusal::Rule`].
    pub fn of_triangles(&self, seed: u64, triangles: usize) -> Result<refine::Marking> {
        use refine::Marking;
        Ok(match self {
            Mark::All => Marking::All,
            &Mark::Fraction(fraction) => Marking::Fraction { fraction, seed },
            &Mark::Box(corners) => Marking::Box(corners),
            &Mark::Disk(disk) => Marking::Disk(disk),
            &Mark::BoxInSpace(corners) => Marking::BoxInSpace(corners),
            &Mark::Ball(ball) => Marking::Ball(ball),
            &Mark::Area(area) => Marking::Area(area),
            &Mark::Angle(degrees) => Marking::Angle(degrees),
            Mark::Ids(ids) => Marking::flags(self.flags(ids, triangles, "triangle")?.into_iter()),
            Mark::Flags(flags) => Marking::flags(flags.iter().copied()),
            Mark::Volume(_) => {
                let mark = self.to_string();
                return Err(Refusal::MarkOfTetrahedra { mark }.into());
            }
            Mark::Values(_) => return Err(Refusal::Rule.into()),
        })
    }

    /// The marking of a mesh of `tetrahedra` tetrahedra.
    ///
    /// # Errors
    /// [`Refusal::MarkOfTriangles`], [`Refusal::NoSuchCell`].
    pub fn of_tetrahedra(&self, seed: u64, tetrahedra: usize) -> Result<refine_tets::Marking> {
        use refine_tets::Marking;
        Ok(match self {
            Mark::All => Marking::All,
            &Mark::Fraction(fraction) => Marking::Fraction { fraction, seed },
            &Mark::BoxInSpace([x0, y0, z0, x1, y1, z1]) => Marking::Box {
                low: DVec3::new(x0, y0, z0),
                high: DVec3::new(x1, y1, z1),
            },
            &Mark::Ball([x, y, z, radius]) => Marking::Ball {
                centre: DVec3::new(x, y, z),
                radius,
            },
            &Mark::Volume(volume) => Marking::Volume(volume),
            Mark::Ids(ids) => Marking::Chosen(self.flags(ids, tetrahedra, "tetrahedron")?),
            Mark::Flags(flags) => Marking::Chosen(flags.clone()),
            Mark::Box(_) | Mark::Disk(_) | Mark::Area(_) | Mark::Angle(_) | Mark::Values(_) => {
                let mark = self.to_string();
                return Err(Refusal::MarkOfTriangles { mark }.into());
            }
        })
    }

    fn flags(&self, ids: &[u32], count: usize, element: &'static str) -> Result<Vec<bool>> {
        let mut flags = vec![false; count];
        for &id in ids {
            let flag = flags.get_mut(id as usize);
            *flag.ok_or_else(|| Refusal::NoSuchCell {
                mark: self.to_string(),
                id,
                count,
                element,
            })? = true;
        }
        Ok(flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read_and_shown() {
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
            let mark: Mark = text.parse().unwrap();
            assert_eq!(mark.to_string(), text);
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
            assert!(text.parse::<Mark>().is_err(), "{text}");
        }
    }
}
