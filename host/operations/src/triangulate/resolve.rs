//! Vertices where segments cross.

use glam::{DVec2, DVec3};
use trioxide::Buffer;
use trioxide::delaunay::crossings::{self, Added, Resolved};
use trioxide::device::Device;
use trioxide::fields::Mix;
use trioxide::mesh::{Segment, gather};
use trioxide::outline::OutlineMesh;

use super::Refusal;
use crate::error::Result;

/// Crossings that a refusal lists.
const LISTED: usize = 10;

/// The refusal of segments that cross.
pub(super) fn refusal(
    on: &Device,
    points: &Buffer<DVec2>,
    segments: &Buffer<[u32; 2]>,
) -> Result<Refusal> {
    let (points, segments) = (on.download(points)?, on.download(segments)?);
    let found = crossings::find(&points, &segments, LISTED);
    Ok(Refusal::Crossings(Box::new(found)))
}

/// Segments that meet at vertices only; `None` where they do already, and for points that a triangulation refuses.
fn resolved(points: &[DVec2], segments: &[[u32; 2]]) -> Result<Option<Resolved>> {
    if !points.iter().all(|p| p.is_finite()) {
        return Ok(None);
    }
    let resolved = crossings::resolve(points, segments).ok_or(Refusal::TooManyCrossings)?;
    Ok(Some(resolved).filter(|resolved| resolved.crossings > 0))
}

/// Puts vertices where segments of an outline cross. They have the means of the data along a segment, and the labels of
/// the nearer end. Returns the number of pairs of segments that crossed, and a sentence.
pub(super) fn outline(outline: OutlineMesh) -> Result<(OutlineMesh, u64, Option<String>)> {
    let mut mesh = outline.mesh;
    let points: Vec<DVec2> = mesh.points.iter().map(|p| p.truncate()).collect();
    let ends: Vec<[u32; 2]> = mesh.segments.iter().map(|segment| segment.ends).collect();
    let Some(found) = resolved(&points, &ends)? else {
        return Ok((OutlineMesh { mesh, ..outline }, 0, None));
    };
    let mix = mix(&points, &ends, &found.added);
    mesh.attributes = mesh.attributes.mixed(&mix);
    mesh.fields.points = mesh.fields.points.mixed(&mix);
    mesh.fields.sides = mesh.fields.sides.gather(&found.parents);
    let rows = found.added.iter().zip(mix.rows().skip(points.len()));
    let in_space: Vec<DVec3> = rows
        .map(|(added, row)| {
            let ends = ends[added.segment as usize];
            let [from, to] = ends.map(|v| mesh.points[v as usize].z);
            let weight = row.last().map_or(0.0, |(_, weight)| weight);
            // Of equal heights it is that height.
            added.point.extend(from + (to - from) * weight)
        })
        .collect();
    mesh.points.extend(in_space);
    let pieces = found.pieces.iter().zip(&found.parents);
    let pieces = pieces.map(|(&ends, &parent)| Segment {
        ends,
        ..mesh.segments[parent as usize]
    });
    mesh.segments = pieces.collect();
    let note = note(&found);
    Ok((
        OutlineMesh { mesh, ..outline },
        found.crossings as u64,
        Some(note),
    ))
}

/// The old vertices, and means of the ends of a segment.
fn mix(points: &[DVec2], segments: &[[u32; 2]], added: &[Added]) -> Mix {
    let old = points.len() as u32;
    let mut columns: Vec<u32> = (0..old).collect();
    let mut weights = vec![1.0; points.len()];
    let mut labels = columns.clone();
    for vertex in added {
        let ends = segments[vertex.segment as usize];
        let [a, b] = ends.map(|v| points[v as usize]);
        // Quarters do not overflow.
        let (way, part) = (b * 0.25 - a * 0.25, vertex.point * 0.25 - a * 0.25);
        let axis = usize::from(way.y.abs() > way.x.abs());
        let weight = (part[axis] / way[axis]).clamp(0.0, 1.0);
        columns.extend(ends);
        weights.extend([1.0 - weight, weight]);
        labels.push(ends[usize::from(weight > 0.5)]);
    }
    let starts = (0..=points.len()).chain((1..=added.len()).map(|i| points.len() + 2 * i));
    Mix::new(starts.collect(), columns, weights, labels)
}

fn note(found: &Resolved) -> String {
    let pairs = match found.crossings {
        1 => "1 pair of segments crosses".to_owned(),
        count => format!("{count} pairs of segments cross"),
    };
    let vertices = match found.added.len() {
        1 => "1 vertex is".to_owned(),
        count => format!("{count} vertices are"),
    };
    format!("{pairs}: {vertices} added where they meet")
}

/// Points and segments of a device that meet at vertices only.
pub(super) struct OnDevice {
    pub points: Buffer<DVec2>,
    pub pieces: Buffer<[u32; 2]>,
    parents: Vec<u32>,
    pub crossings: u64,
    pub note: String,
}

impl OnDevice {
    /// Puts vertices where segments cross; `None` where none do. The host finds them: outlines are small beside
    /// triangles.
    pub fn new(
        on: &Device,
        points: &Buffer<DVec2>,
        segments: &Buffer<[u32; 2]>,
    ) -> Result<Option<Self>> {
        let mut all = on.download(points)?;
        let ends = on.download(segments)?;
        trioxide::outline::check_ends(&ends, all.len())?;
        let Some(found) = resolved(&all, &ends)? else {
            return Ok(None);
        };
        all.extend(found.added.iter().map(|added| added.point));
        Ok(Some(Self {
            points: on.upload(&all)?,
            pieces: on.upload(&found.pieces)?,
            crossings: found.crossings as u64,
            note: note(&found),
            parents: found.parents,
        }))
    }

    /// The segments of pieces, for the segments' parts here.
    pub fn parents(&self, on: &Device, of_pieces: &Buffer<u32>) -> Result<Buffer<u32>> {
        let parents = gather(&self.parents, &on.download(of_pieces)?);
        Ok(on.upload(&parents)?)
    }
}
