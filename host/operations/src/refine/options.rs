//! The options of refinement.

use trioxide::refine::{self, Marking};
use trioxide::refine_tets::{self, DividedEdges};

#[cfg(feature = "clap")]
use crate::count::parse_count;
use crate::error::Result;
use crate::error::refine::Refusal;
use crate::precision::Precision;

/// How triangles or tetrahedra are refined.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "clap", derive(clap::Args), group(skip))]
pub struct Options {
    /// With values as marks, refine the triangles whose value is above this
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "VALUE", conflicts_with = "dorfler", value_parser = parse_threshold)
    )]
    pub threshold: Option<f64>,
    /// With values as marks, refine the triangles with the largest values, as many as make this part of the sum of all
    /// (Dörfler)
    #[cfg_attr(feature = "clap", arg(long, value_name = "PART"))]
    pub dorfler: Option<f64>,
    /// Seed of marks by fraction
    #[cfg_attr(feature = "clap", arg(long, default_value_t = Options::default().seed))]
    pub seed: u64,
    /// Rounds; each marks anew. Ids, flags and values mark all parts of their triangle again
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            value_name = "R",
            default_value_t = Options::default().rounds,
            conflicts_with = "until_area"
        )
    )]
    pub rounds: u32,
    /// Refine in rounds until no triangle has more area than this
    #[cfg_attr(feature = "clap", arg(long, value_name = "A", value_parser = parse_area))]
    pub until_area: Option<f64>,
    /// Begin no round that would give more triangles than this; on tetrahedra, no level that begins with this many or
    /// more
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = parse_count))]
    pub max_triangles: Option<usize>,
    /// Give the mesh of this level in place of the last round's, bit for bit: 0 is the input, and rounds after it are
    /// not run
    #[cfg_attr(feature = "clap", arg(long, value_name = "LEVEL"))]
    pub coarsen_to: Option<usize>,
    /// The edges that a marked tetrahedron divides
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub edges: DividedEdges,
    /// Precision of coordinates on the device
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub precision: Precision,
    /// The cells that each round divides; none: the marks of the input, or else all.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub mark: Option<Marking>,
    /// In place of a mark, a value for each triangle of the input, with a threshold or Dörfler's part.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub values: Option<Vec<f64>>,
    /// Report where the parts come from.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub maps: bool,
}

#[cfg(feature = "clap")]
fn parse_area(text: &str) -> Result<f64, String> {
    let area = text.parse().ok().filter(|&area| is_area(area));
    area.ok_or_else(|| "expected an area above 0, and finite".to_owned())
}

#[cfg(feature = "clap")]
fn parse_threshold(text: &str) -> Result<f64, String> {
    let threshold = text.parse().ok().filter(|x: &f64| x.is_finite());
    threshold.ok_or_else(|| "expected a finite number".to_owned())
}

fn is_area(area: f64) -> bool {
    area > 0.0 && area < f64::INFINITY
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threshold: None,
            dorfler: None,
            seed: 0,
            rounds: 1,
            until_area: None,
            max_triangles: None,
            coarsen_to: None,
            edges: DividedEdges::default(),
            precision: Precision::default(),
            mark: None,
            values: None,
            maps: false,
        }
    }
}

impl Options {
    /// Refuses options that are out of range, or do not go together, on triangles.
    ///
    /// # Errors
    /// [`Refusal`].
    pub fn check(&self) -> Result<()> {
        let has_rule = self.threshold.is_some() || self.dorfler.is_some();
        let (has_values, has_mark) = (self.values.is_some(), self.mark.is_some());
        let refusal = if has_rule != has_values || (has_values && has_mark) {
            Refusal::Rule
        } else if self.until_area.is_some() && (has_mark || has_values) {
            Refusal::MarkAndArea
        } else if self.edges != DividedEdges::Longest {
            Refusal::EdgesOfTetrahedra
        } else {
            return self.check_numbers();
        };
        Err(refusal.into())
    }

    /// Refuses numbers out of range.
    ///
    /// # Errors
    /// [`Refusal::Area`], [`Refusal::Threshold`].
    pub fn check_numbers(&self) -> Result<()> {
        match (self.until_area, self.threshold) {
            (Some(area), _) if !is_area(area) => Err(Refusal::Area(area).into()),
            (_, Some(threshold)) if !threshold.is_finite() => {
                Err(Refusal::Threshold(threshold).into())
            }
            _ => Ok(()),
        }
    }

    /// Refuses options that tetrahedra do without.
    ///
    /// # Errors
    /// [`Refusal::OfTriangles`].
    pub fn check_volume(&self) -> Result<()> {
        let given = [
            ("threshold", self.threshold.is_some()),
            ("dorfler", self.dorfler.is_some()),
            ("until_area", self.until_area.is_some()),
            ("coarsen_to", self.coarsen_to.is_some()),
            ("values", self.values.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some(&(option, _)) => Err(Refusal::OfTriangles { option }.into()),
            None => Ok(()),
        }
    }

    /// Refuses options that meshes on a device do without.
    ///
    /// # Errors
    /// [`Refusal::Resident`].
    pub fn check_resident(&self) -> Result<()> {
        let given = [
            ("coarsen_to", self.coarsen_to.is_some()),
            ("precision", self.precision == Precision::F32),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some(&(option, _)) => Err(Refusal::Resident { option }.into()),
            None => Ok(()),
        }
    }

    /// Most rounds.
    pub fn most_rounds(&self) -> u32 {
        match self.until_area {
            Some(_) => u32::MAX,
            None => self.rounds,
        }
    }

    /// The marking of a mesh of `triangles`, with the marks that it may have.
    ///
    /// # Errors
    /// Those of [`Options::check`] and [`Marking::of_triangles`]; of Dörfler's part.
    pub fn marking(&self, triangles: usize, marks: Option<Vec<bool>>) -> Result<Marking> {
        self.check()?;
        let marking = match (self.until_area, &self.values, &self.mark) {
            (Some(area), ..) => Marking::Area(area),
            (_, Some(values), _) if values.len() != triangles => {
                return Err(refine::Error::Length {
                    values: "values",
                    given: values.len(),
                    elements: "triangles",
                    needed: triangles,
                }
                .into());
            }
            (_, Some(values), _) => match self.threshold {
                Some(threshold) => Marking::above(values, threshold),
                None => Marking::dorfler(values, self.dorfler.unwrap_or_default())?,
            },
            (.., Some(mark)) => mark.clone(),
            _ => marks.map_or(Marking::All, Marking::Flags),
        };
        marking.of_triangles(self.seed, triangles)?;
        Ok(marking)
    }

    /// The options of the family for a mesh of `triangles`, with the marks that it may have.
    ///
    /// # Errors
    /// As [`Options::marking`].
    pub fn of_triangles(
        &self,
        triangles: usize,
        marks: Option<Vec<bool>>,
    ) -> Result<refine::Options> {
        let number = |most: usize| u32::try_from(most).unwrap_or(u32::MAX);
        Ok(refine::Options {
            marking: self.marking(triangles, marks)?,
            seed: self.seed,
            // Level L is what L rounds give: rounds after it would be undone, and might fail.
            rounds: (self.coarsen_to)
                .map_or(u32::MAX, number)
                .min(self.most_rounds()),
            max_triangles: self.max_triangles.map(number),
            history: false,
        })
    }

    /// The options of the family for a mesh of `tetrahedra`.
    ///
    /// # Errors
    /// Those of [`Options::check_volume`] and [`Marking::of_tetrahedra`].
    pub fn of_tetrahedra(&self, tetrahedra: usize) -> Result<refine_tets::Options> {
        self.check_volume()?;
        let marking = self.mark.clone().unwrap_or_default();
        marking.of_tetrahedra(self.seed, tetrahedra)?;
        Ok(refine_tets::Options {
            marking,
            seed: self.seed,
            edges: self.edges,
            rounds: self.rounds,
            // One that begins below the limit may end above it.
            max_tetrahedra: self.max_triangles,
        })
    }
}
