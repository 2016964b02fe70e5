//! The triangles within segments, holes and regions on a device, and the notes on them.

use glam::DVec2;
use trioxide::Buffer;
use trioxide::delaunay::Error;
use trioxide::delaunay::constrained::{self, Constrained, Limits};
use trioxide::delaunay::refinement::{self, Keep, Missed};
use trioxide::device::Device;
use trioxide::outline::Region;

use super::background::Sizes;
use super::{Holes, Options, Totals, areas_of, resolve};
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
    let is_inner = options.holes == Holes::Inner;
    let limits = Limits {
        segments,
        holes: if is_inner { &[] } else { holes },
        inner_holes: is_inner,
        regions: &in_regions,
        convex: options.convex,
    };
    let refused = |error| match error {
        Error::Crossing { .. } => match resolve::refusal(on, points, segments) {
            Ok(refusal) => refusal.into(),
            Err(error) => error,
        },
        error => error.into(),
    };
    if !options.refines() {
        let mesh = constrained::triangulate(on, points, &limits, options.duplicates);
        let mesh = mesh.map_err(refused)?;
        return Ok(Within {
            mesh,
            points: None,
            not_reached: Vec::new(),
        });
    }
    let areas = areas_of(regions);
    let background = sizes.map(|sizes| sizes.upload(on)).transpose()?;
    let bounds = options.refinement(&areas, background.as_ref());
    let refined = refinement::refine(on, points, &limits, options.duplicates, &bounds);
    let refined = refined.map_err(refused)?;
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
            crossings: 0,
        }
    }

    /// Sentences on input that was left out, and on bounds that could not be reached.
    pub fn notes(&self, (holes, regions): (&[DVec2], &[Region]), options: &Options) -> Vec<String> {
        let missed = self.not_reached.iter();
        [
            unused_holes(holes.len(), options),
            shared(self.mesh.shared_regions(), regions),
            larger_areas(regions, self.mesh.shared_regions(), options),
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

/// Reports points in holes that are not used.
fn unused_holes(holes: usize, options: &Options) -> Option<String> {
    let note = match holes {
        1 => "its 1 point in a hole is left out: the inner rings are the holes".to_owned(),
        count => format!("its {count} points in holes are left out: the inner rings are the holes"),
    };
    (holes > 0 && options.holes == Holes::Inner).then_some(note)
}

/// Reports regions in the areas of others.
fn shared(pairs: &[[u32; 2]], regions: &[Region]) -> Option<String> {
    let [region, first] = pairs.first()?.map(|i| i as usize);
    let more = match pairs.len() - 1 {
        0 => String::new(),
        1 => "; so is 1 other".to_owned(),
        count => format!("; so are {count} others"),
    };
    Some(format!(
        "region {region} at {} is left out, since region {first} at {} is in the same area{more}",
        regions[region].point, regions[first].point
    ))
}

/// Reports regions whose own largest area is above that of all triangles.
fn larger_areas(regions: &[Region], shared: &[[u32; 2]], options: &Options) -> Option<String> {
    let most = options.area?;
    // Ascending by the first.
    let is_used = |i: usize| {
        shared
            .binary_search_by_key(&(i as u32), |pair| pair[0])
            .is_err()
    };
    let used = regions.iter().enumerate().filter(|(i, _)| is_used(*i));
    let areas = used.filter_map(|(_, region)| region.largest_area);
    let (count, largest) = areas
        .filter(|area| *area > most)
        .fold((0, 0.0), |(count, largest), area| {
            (count + 1, area.max(largest))
        });
    let whole = match count {
        0 => return None,
        1 => "1 region keeps its own largest area".to_owned(),
        count => format!("{count} regions keep their own largest areas, up to"),
    };
    Some(format!(
        "{whole} {largest}, above the {most} of all triangles"
    ))
}

/// Names a bound that triangles miss.
fn of_missed(missed: &Missed, options: &Options) -> String {
    match missed {
        Missed::Areas {
            triangles,
            largest,
            at,
        } => {
            let bound = options
                .area
                .map_or_else(|| "of a region".to_owned(), |area| area.to_string());
            format!(
                "the largest area {bound} is not reached: {triangles} triangles are larger, the largest {largest} at {at}"
            )
        }
        Missed::Angles {
            triangles,
            smallest,
            at,
        } => format!(
            "{triangles} triangles at {} stay below {} degrees, the smallest with {smallest:.3} at {at}",
            match options.keep_boundary {
                Keep::None => "small angles between segments",
                _ => "segments without new vertices, or at small angles between segments,",
            },
            options.angle.unwrap_or(0.0)
        ),
        Missed::Sizes {
            triangles,
            worst,
            at,
        } => format!(
            "the sizes {} are not reached: {triangles} triangles have longer edges, the longest {worst:.3} times its size at {at}",
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
