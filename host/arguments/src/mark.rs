//! `--mark` of refinement: triangles or tetrahedra.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use glam::DVec3;
use trioxide::refine::Marking;
use trioxide::{Error, Result, refine_tets};

/// `--mark`.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// Everything.
    All,
    /// Each with this chance.
    Fraction(f64),
    /// Centroid in a box, as x0, y0, x1, y1.
    Box([f64; 4]),
    /// Centroid in a disk, as x, y, radius.
    Disk([f64; 3]),
    /// More area than this.
    Area(f64),
    /// An angle smaller than this, in degrees.
    Angle(f64),
    /// These triangles.
    Ids(Vec<u32>),
    /// The triangles or tetrahedra listed in a file.
    File(PathBuf),
    /// Triangles by their values in a file.
    Values(PathBuf),
    /// A kind for tetrahedra only.
    Tets(TetMark),
}

impl FromStr for Mark {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(mark) = TetMark::parse(text) {
            return mark.map(Mark::Tets);
        }
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let number = |value: f64, least: f64, most: f64| {
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
            "fraction" => number(numbers::<1>(rest)?[0], 0.0, 1.0).map(Mark::Fraction),
            "box" => numbers(rest).map(Mark::Box),
            "disk" => numbers(rest).map(Mark::Disk),
            "area" => number(numbers::<1>(rest)?[0], 0.0, f64::MAX).map(Mark::Area),
            "angle" => number(numbers::<1>(rest)?[0], 0.0, 60.0).map(Mark::Angle),
            "ids" => {
                let ids: Result<_, _> = rest.split(',').map(|id| id.trim().parse()).collect();
                ids.map(Mark::Ids)
                    .map_err(|_| format!("expected ids with commas between them, not `{rest}`"))
            }
            "file" if !rest.is_empty() => Ok(Mark::File(rest.into())),
            "values" if !rest.is_empty() => Ok(Mark::Values(rest.into())),
            _ => Err("expected all, fraction:F, box:X0,Y0,X1,Y1, disk:X,Y,R, area:A, angle:DEGREES, ids:A,B,…, file:PATH or values:PATH".to_owned()),
        }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mark::All => f.write_str("all"),
            Mark::Fraction(fraction) => write!(f, "fraction:{fraction}"),
            Mark::Box([x0, y0, x1, y1]) => write!(f, "box:{x0},{y0},{x1},{y1}"),
            Mark::Disk([x, y, radius]) => write!(f, "disk:{x},{y},{radius}"),
            Mark::Area(area) => write!(f, "area:{area}"),
            Mark::Angle(degrees) => write!(f, "angle:{degrees}"),
            Mark::Ids(ids) => {
                let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
                write!(f, "ids:{}", ids.join(","))
            }
            Mark::File(path) => write!(f, "file:{}", path.display()),
            Mark::Values(path) => write!(f, "values:{}", path.display()),
            Mark::Tets(mark) => mark.fmt(f),
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

impl Mark {
    /// The marking of a mesh of `triangles` triangles, for kinds that need no file.
    ///
    /// # Errors
    /// [`Error::Argument`] for kinds that need a file, and for an id out of range.
    pub fn marking(&self, seed: u64, triangles: usize) -> Result<Marking> {
        Ok(match self {
            Mark::All => Marking::All,
            Mark::Fraction(fraction) => Marking::Fraction {
                fraction: *fraction,
                seed,
            },
            Mark::Box(corners) => Marking::Box(*corners),
            Mark::Disk(disk) => Marking::Disk(*disk),
            Mark::Area(area) => Marking::Area(*area),
            Mark::Angle(degrees) => Marking::Angle(*degrees),
            Mark::Ids(ids) => {
                let mut flags = vec![false; triangles];
                for &id in ids {
                    *flags.get_mut(id as usize).ok_or_else(|| {
                        Error::Argument(format!(
                            "--mark {self}: there is no triangle {id}: ids go from 0, and the mesh has {triangles} triangles"
                        ))
                    })? = true;
                }
                Marking::flags(flags.into_iter())
            }
            Mark::File(_) | Mark::Values(_) => {
                return Err(Error::Argument(format!(
                    "--mark {self} goes with a mesh of a file, and this one is generated: use another kind of marking"
                )));
            }
            Mark::Tets(_) => {
                return Err(Error::Argument(format!(
                    "--mark {self} goes with volume meshes"
                )));
            }
        })
    }
}

/// Kinds of `--mark` that only tetrahedra have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TetMark {
    /// As x0, y0, z0, x1, y1, z1.
    Box([f64; 6]),
    /// As x, y, z, radius.
    Ball([f64; 4]),
    /// More volume than this.
    Volume(f64),
}

impl TetMark {
    /// The kind that `text` names, if it is one of these.
    pub fn parse(text: &str) -> Option<Result<TetMark, String>> {
        let (kind, rest) = text.split_once(':')?;
        match kind {
            // With four numbers it is a box of the plane.
            "box" if rest.split(',').count() > 4 => Some(numbers(rest).map(TetMark::Box)),
            "ball" => Some(numbers(rest).map(TetMark::Ball)),
            "volume" => Some(numbers::<1>(rest).map(|[volume]| TetMark::Volume(volume))),
            _ => None,
        }
    }

    /// The marking of a mesh of tetrahedra.
    pub fn marking(self) -> refine_tets::Marking {
        match self {
            TetMark::Box([x0, y0, z0, x1, y1, z1]) => refine_tets::Marking::Box {
                low: DVec3::new(x0, y0, z0),
                high: DVec3::new(x1, y1, z1),
            },
            TetMark::Ball([x, y, z, radius]) => refine_tets::Marking::Ball {
                centre: DVec3::new(x, y, z),
                radius,
            },
            TetMark::Volume(volume) => refine_tets::Marking::Volume(volume),
        }
    }
}

impl fmt::Display for TetMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, numbers) = match self {
            TetMark::Box(numbers) => ("box", &numbers[..]),
            TetMark::Ball(numbers) => ("ball", &numbers[..]),
            TetMark::Volume(volume) => ("volume", std::slice::from_ref(volume)),
        };
        let numbers: Vec<String> = numbers.iter().map(f64::to_string).collect();
        write!(f, "{kind}:{}", numbers.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read_and_shown() {
        for text in ["box:0,0,0,1,1,0.5", "ball:1,2,3,0.25", "volume:0.001"] {
            let mark = TetMark::parse(text).unwrap().unwrap();
            assert_eq!(mark.to_string(), text);
            assert_eq!(text.parse(), Ok(Mark::Tets(mark)));
        }
        assert_eq!(TetMark::parse("box:0,0,1,1"), None);
        assert_eq!("box:0,0,1,1".parse(), Ok(Mark::Box([0.0, 0.0, 1.0, 1.0])));
        assert_eq!(TetMark::parse("all"), None);
        for text in ["box:0,0,0,1,1", "ball:1,2,3", "volume:x", "volume:inf"] {
            assert!(TetMark::parse(text).unwrap().is_err(), "{text}");
        }
    }
}
