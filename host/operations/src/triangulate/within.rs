//! The triangles within segments, holes and regions on a device, and the notes on them.

use glam::DVec2;
use trioxide::Buffer;
use trioxide::delaunay::constrained::{self, Constrained, Limits};
use trioxide::delaunay::refinement::{self, Missed};
use trioxide::device::Device;
use trioxide::outline::Region;

use super::background::Sizes;
use super::{Options, Totals, areas_of};
use crate::error::Result;

/// The triangles within limits on a device.
pub(super) struct Within {
    pub mesh: Constrained,
    /// All points, if some are added.
    pub points: Option<Buffer<DVec2>>,
    not_reached: Vec<Missed>,
}

/// Triangulates points within limits on a device, and refines the result on request.
pub(super) fn within(
    on: &Device,
    points: &Buffer<DVec2>,
    segments: &Buffer<[u32; 2]>,
    (holes, regions): (&[DVec2], &[Region]),
    options: &Options,
    sizes: Option<&Sizes>,
) -> Result<Within> {
    on.require(constrained::bytes_needed(points.len(), segments.len()))?;
    let in_regions: Vec<DVec2> = regions.iter().map(|region| region.point).collect();
    let limits = Limits {
        segments,
        holes,
        regions: &in_regions,
        convex: options.convex,
    };
    if !options.refines() {
        let mesh = constrained::triangulate(on, points, &limits, options.duplicates)?;
        return Ok(Within {
            mesh,
            points: None,
            not_reached: Vec::new(),
        });
    }
    let areas = areas_of(regions);
    let background = sizes.map(|sizes| sizes.upload(on)).transpose()?;
    let bounds = options.refinement(&areas, background.as_ref());
    let refined = refinement::refine(on, points, &limits, options.duplicates, &bounds)?;
    Ok(Within {
        mesh: refined.mesh,
        points: Some(refined.points),
        not_reached: refined.not_reached,
    })
}

impl Within {
    /// The counts; `input` has those of the points and the segments.
    pub fn totals(&self, input: [usize; 2]) -> Totals {
        let vertices = self.points.as_ref().map_or(input[0], Buffer::len);
        Totals {
            vertices: vertices as u64,
            faces: self.mesh.triangles().len() as u64 / 3,
            segments: self.mesh.pieces().len() as u64 / 2,
            input_vertices: input[0] as u64,
            input_segments: input[1] as u64,
            duplicates: self.mesh.duplicates() as u64,
        }
    }

    /// Sentences on input that was left out, and on bounds that could not be reached.
    pub fn notes(&self, regions: &[Region], options: &Options) -> Vec<String> {
        let missed = self.not_reached.iter();
        [
            left_out(self.mesh.left_out()),
            collapsed(self.mesh.collapsed()),
        ]
        .into_iter()
        .flatten()
        .chain(missed.map(|missed| of_missed(missed, options)))
        .chain(unused_areas(regions, options))
        .collect()
    }
}

/// Reports largest areas that have no effect.
fn unused_areas(regions: &[Region], options: &Options) -> Option<String> {
    let has_areas = regions.iter().any(|region| region.largest_area.is_some());
    let note = "largest areas of regions are left out: they hold where vertices are added, for a smallest angle or a largest \
                area of all triangles";
    (has_areas && !options.refines()).then(|| note.to_owned())
}

/// Names a bound that triangles miss.
fn of_missed(missed: &Missed, options: &Options) -> String {
    match missed {
        Missed::Areas { triangles, largest } => {
            let bound = options
                .area
                .map_or_else(|| "of a region".to_owned(), |area| area.to_string());
            format!(
                "the largest area {bound} is not reached: {triangles} triangles are larger, the largest {largest}"
            )
        }
        Missed::Angles {
            triangles,
            smallest,
        } => format!(
            "{triangles} triangles at small angles between segments stay below {} degrees, the smallest at {smallest:.3}",
            options.angle.unwrap_or(0.0)
        ),
        Missed::Sizes { triangles, worst } => format!(
            "the sizes {} are not reached: {triangles} triangles have longer edges, the longest {worst:.3} times its size",
            options.size.as_deref().unwrap_or_default()
        ),
    }
}

/// Reports the number of segments between equal points.
fn collapsed(segments: u32) -> Option<String> {
    match segments {
        0 => None,
        1 => Some("1 segment joins equal points, and is left out".to_owned()),
        count => Some(format!(
            "{count} segments join equal points, and are left out"
        )),
    }
}

/// Reports the number of segments that the result lacks, wholly or in part.
fn left_out(segments: u32) -> Option<String> {
    match segments {
        0 => None,
        1 => Some("1 segment lies outside of the triangles, and is left out there".to_owned()),
        count => Some(format!(
            "{count} segments lie outside of the triangles, and are left out there"
        )),
    }
}
