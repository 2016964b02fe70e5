//! The options of refinement.

use trioxide::marking::Unvalued;
use trioxide::mesh::Simplices;
use trioxide::refine::{self, Marking, NoSuchLevel};
use trioxide::refine_tets::{self, DividedEdges};

#[cfg(feature = "clap")]
use crate::count::parse_count;
use crate::error::Result;
use crate::error::refine::Refusal;
#[cfg(feature = "clap")]
use crate::error::refine::with_article;
use crate::precision::Precision;

/// How triangles or tetrahedra are refined.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "clap", derive(clap::Args), group(skip))]
pub struct Options {
    /// With values as marks, refine the cells whose value is above this
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "VALUE", conflicts_with = "dorfler", value_parser = parse_threshold)
    )]
    pub threshold: Option<f64>,
    /// With values as marks, refine the cells with the largest values, as many as make this part of the sum of all
    /// (Dörfler)
    #[cfg_attr(feature = "clap", arg(long, value_name = "PART"))]
    pub dorfler: Option<f64>,
    /// Seed of marks by fraction
    #[cfg_attr(feature = "clap", arg(long, default_value_t = Options::default().seed))]
    pub seed: u64,
    /// Rounds; each marks anew. Ids, flags and values mark all parts of their cell again
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            value_name = "R",
            default_value_t = Options::default().rounds,
            conflicts_with_all = ["until_area", "until_volume"]
        )
    )]
    pub rounds: u32,
    /// Refine in rounds until no triangle has more area than this
    #[cfg_attr(feature = "clap", arg(long, value_name = "A", value_parser = |text: &str| parse_size("area", text)))]
    pub until_area: Option<f64>,
    /// Refine in rounds until no tetrahedron has more volume than this
    #[cfg_attr(feature = "clap", arg(long, value_name = "V", value_parser = |text: &str| parse_size("volume", text)))]
    pub until_volume: Option<f64>,
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
    /// In place of a mark, a value for each cell of the input, with a threshold or Dörfler's part.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub values: Option<Vec<f64>>,
    /// Report where the parts come from.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub maps: bool,
}

#[cfg(feature = "clap")]
fn parse_size(size: &str, text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|&value| is_size(value));
    value.ok_or_else(|| format!("expected {} above 0, and finite", with_article(size)))
}

#[cfg(feature = "clap")]
fn parse_threshold(text: &str) -> Result<f64, String> {
    let threshold = text.parse().ok().filter(|x: &f64| x.is_finite());
    threshold.ok_or_else(|| "expected a finite number".to_owned())
}

fn is_size(value: f64) -> bool {
    value > 0.0 && value < f64::INFINITY
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threshold: None,
            dorfler: None,
            seed: 0,
            rounds: 1,
            until_area: None,
            until_volume: None,
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
        if self.until_volume.is_some() {
            let option = "until_volume";
            return Err(Refusal::OfTetrahedra { option }.into());
        }
        if self.edges != DividedEdges::Longest {
            return Err(Refusal::EdgesOfTetrahedra.into());
        }
        self.check_marks()
    }

    /// As [`Options::check`], on tetrahedra.
    ///
    /// # Errors
    /// [`Refusal`].
    pub fn check_volume(&self) -> Result<()> {
        if self.until_area.is_some() {
            let option = "until_area";
            return Err(Refusal::OfTriangles { option }.into());
        }
        self.check_marks()
    }

    /// Refuses marks that do not go together, and numbers out of range.
    fn check_marks(&self) -> Result<()> {
        let has_rule = self.threshold.is_some() || self.dorfler.is_some();
        let (has_values, has_mark) = (self.values.is_some(), self.mark.is_some());
        if has_rule != has_values || (has_values && has_mark) {
            return Err(Refusal::Rule.into());
        }
        match self.size() {
            Some((size, _)) if has_mark || has_values => Err(Refusal::MarkAndSize { size }.into()),
            _ => self.check_numbers(),
        }
    }

    /// The size to reach, with its name.
    fn size(&self) -> Option<(&'static str, f64)> {
        let area = self.until_area.map(|area| ("area", area));
        area.or(self.until_volume.map(|volume| ("volume", volume)))
    }

    /// Refuses numbers out of range.
    ///
    /// # Errors
    /// [`Refusal::Size`], [`Refusal::Threshold`].
    pub fn check_numbers(&self) -> Result<()> {
        match (self.size(), self.threshold) {
            (Some((size, value)), _) if !is_size(value) => {
                Err(Refusal::Size { size, value }.into())
            }
            (_, Some(threshold)) if !threshold.is_finite() => {
                Err(Refusal::Threshold(threshold).into())
            }
            _ => Ok(()),
        }
    }

    /// Refuses options that meshes on a device do without.
    ///
    /// # Errors
    /// [`Refusal::Resident`].
    pub fn check_resident(&self) -> Result<()> {
        match self.precision {
            Precision::F32 => Err(Refusal::Resident {
                option: "precision",
            }
            .into()),
            Precision::F64 => Ok(()),
        }
    }

    /// Most rounds. Level L is what L rounds give: rounds after it would be undone, and might fail.
    pub fn most_rounds(&self) -> u32 {
        let rounds = self.size().map_or(self.rounds, |_| u32::MAX);
        self.coarsen_to
            .map_or(rounds, |level| rounds.min(number(level)))
    }

    /// Refuses a level after the last of the `rounds` that were done.
    ///
    /// # Errors
    /// [`NoSuchLevel`].
    pub fn check_level(&self, rounds: usize) -> Result<(), NoSuchLevel> {
        match self.coarsen_to {
            Some(level) if level > rounds => Err(NoSuchLevel { level, rounds }),
            _ => Ok(()),
        }
    }

    /// The marking of `count` cells, with the marks that they may have.
    fn marking(
        &self,
        count: usize,
        cells: Simplices,
        marks: Option<Vec<bool>>,
    ) -> Result<Marking, Unvalued> {
        let area = self.until_area.map(Marking::Area);
        let size = area.or(self.until_volume.map(Marking::Volume));
        Ok(match (size, &self.values, &self.mark) {
            (Some(size), ..) => size,
            (_, Some(values), _) if values.len() != count => {
                return Err(Unvalued::Length {
                    given: values.len(),
                    needed: count,
                    cells,
                });
            }
            (_, Some(values), _) => match self.threshold {
                Some(threshold) => Marking::above(values, threshold),
                None => Marking::dorfler(values, self.dorfler.unwrap_or_default(), cells)?,
            },
            (.., Some(mark)) => mark.clone(),
            _ => marks.map_or(Marking::All, Marking::Flags),
        })
    }

    /// The options of the family for a mesh of `triangles`, with the marks that it may have.
    ///
    /// # Errors
    /// Those of [`Options::check`], [`Unvalued`] and [`Marking::of_triangles`].
    pub fn of_triangles(
        &self,
        triangles: usize,
        marks: Option<Vec<bool>>,
    ) -> Result<refine::Options> {
        self.check()?;
        let marking = self.marking(triangles, Simplices::Triangles, marks);
        let marking = marking.map_err(refine::Error::from)?;
        marking.of_triangles(self.seed, triangles)?;
        Ok(refine::Options {
            marking,
            seed: self.seed,
            rounds: self.most_rounds(),
            max_triangles: self.max_triangles.map(number),
            history: false,
        })
    }

    /// The options of the family for a mesh of `tetrahedra`.
    ///
    /// # Errors
    /// Those of [`Options::check_volume`], [`Unvalued`] and [`Marking::of_tetrahedra`].
    pub fn of_tetrahedra(&self, tetrahedra: usize) -> Result<refine_tets::Options> {
        self.check_volume()?;
        let marking = self.marking(tetrahedra, Simplices::Tetrahedra, None);
        let marking = marking.map_err(refine_tets::Error::from)?;
        marking.of_tetrahedra(self.seed, tetrahedra)?;
        Ok(refine_tets::Options {
            marking,
            seed: self.seed,
            edges: self.edges,
            rounds: self.most_rounds(),
            // One that begins below the limit may end above it.
            max_tetrahedra: self.max_triangles,
        })
    }
}

fn number(most: usize) -> u32 {
    u32::try_from(most).unwrap_or(u32::MAX)
}
