//! The reports as text: a line for each name and its value.

use std::collections::BTreeMap;
use std::fmt::Display;

use glam::DVec3;
use trioxide::about::{About, GroupNames};
use trioxide::quality::{Distribution, Quality};
use trioxide::quality3d::{Histogram, Quality3d};
use trioxide::repair::Survey;
use trioxide::smooth::Ratios;
use trioxide::terminal::visible_line;
use trioxide_operations::info::{Delaunay, FieldRow, PolyhedraReport, Report, VolumeReport};

/// Width of the column of names.
pub const NAME_WIDTH: usize = 25;

/// The most rows of a list.
const LISTED: usize = 20;

#[derive(Default)]
struct Text(String);

impl Text {
    fn line(&mut self, name: &str, value: impl Display) {
        self.0 += &format!("{name:<NAME_WIDTH$} {value}\n");
    }

    fn vertices(&mut self, count: usize, unused: usize) {
        self.line("vertices", format_args!("{count} ({unused} unused)"));
    }

    /// A count that is 0 for most meshes.
    fn counted(&mut self, name: &str, count: usize) {
        if count > 0 {
            self.line(name, count);
        }
    }

    fn bounds(&mut self, bounds: Option<[DVec3; 2]>) {
        if let Some([min, max]) = bounds {
            for (axis, i) in [("x", 0), ("y", 1), ("z", 2)] {
                self.line(axis, format_args!("{} to {}", min[i], max[i]));
            }
        }
    }

    /// The elements of each tag, `one`, which are called `elements`; tags that are left out are called `more`.
    fn tags(
        &mut self,
        name: &str,
        [one, elements, more]: [&str; 3],
        counts: &BTreeMap<i32, usize>,
    ) {
        self.line(name, counts.len());
        for (tag, count) in counts.iter().take(LISTED) {
            self.line(
                &format!("  {one} {tag}"),
                format_args!("{count} {elements}"),
            );
        }
        if counts.len() > LISTED {
            self.line(
                "  and more",
                format_args!("{}{more}", counts.len() - LISTED),
            );
        }
    }

    /// Names of groups, by dimension and number.
    fn groups(&mut self, groups: &GroupNames) {
        if !groups.is_empty() {
            self.line("names of groups", groups.len());
        }
        for (&(dimension, number), name) in groups.iter().take(LISTED) {
            let of = format!("  {} {number}", About::DIMENSIONS[dimension.min(3)]);
            self.line(&of, visible_line(name));
        }
        if groups.len() > LISTED {
            self.line("  and more", groups.len() - LISTED);
        }
    }

    fn fields(&mut self, rows: &[FieldRow]) {
        if !rows.is_empty() {
            self.line("fields", rows.len());
        }
        for row in rows {
            let components = match row.components {
                1 => String::new(),
                count => format!(" x {count}"),
            };
            let range = match row.range {
                Some([least, most]) => format!("{least} to {most}"),
                None => "no numbers".to_owned(),
            };
            self.line(
                &format!("  {}", visible_line(&row.name)),
                format_args!(
                    "{} {}, {}{components}, {range}",
                    row.elements, row.of, row.kind
                ),
            );
        }
    }

    fn problems<'a>(&mut self, problems: impl IntoIterator<Item = &'a String>) {
        for problem in problems {
            self.line("problem", problem);
        }
    }

    /// The faults that each step of a repair would find, if there are any.
    fn repairs(&mut self, found: &Survey) {
        let holes = format!("holes, of {} edges at most", found.largest_hole);
        let components = format!("components, of {} faces at least", found.smallest_component);
        let rows = [
            ("repeated", found.repeated, "repeated faces"),
            ("degenerate", found.degenerate, "degenerate faces"),
            ("edges", found.crowded, "edges of three or more faces"),
            ("vertices", found.touching, "vertices of several surfaces"),
            ("cut", found.one_sided, "one-sided components"),
            ("orient", found.turned, "faces to turn"),
            ("fill-holes", found.holes, &holes),
            ("min-faces", found.components, &components),
            ("unused", found.unused, "vertices that no face has"),
        ];
        for (option, count, elements) in rows {
            // One component is the whole mesh.
            if count > u64::from(option == "min-faces") {
                let line = format_args!("{count} {elements}");
                self.line(&format!("repair --{option}"), line);
            }
        }
    }

    /// The quality of a planar mesh of some faces.
    fn faces(&mut self, quality: &Quality, faces: usize) {
        let share = |n: usize| {
            let percent = 100.0 * n as f64 / faces as f64;
            format!("{n} of {faces} ({percent:.2} %)")
        };
        let spread = |d: &Distribution| format!("{:.6} to {:.6}, mean {:.6}", d.min, d.max, d.mean);
        self.line("convex faces", share(quality.convex));
        self.line("star-shaped faces", share(quality.star_shaped));
        self.line("area of a face", units(&quality.area));
        self.line("perimeter of a face", units(&quality.perimeter));
        self.line("area / hull", spread(&quality.convexity));
        self.line(
            "shortest edge / diameter",
            spread(&quality.shortest_edge_to_diameter),
        );
        self.line("kernel / area", spread(&quality.kernel));
    }

    /// The quality of cells.
    fn cells(&mut self, quality: &Quality3d) {
        let worst = format!("{:.6} at worst", quality.worst_jacobian);
        self.histogram("scaled Jacobian", worst, &quality.jacobians);
        if let Some(tetrahedra) = &quality.tetrahedra {
            let worst = format!("{:.4} degrees at worst", tetrahedra.smallest_angle);
            self.histogram("smallest dihedral angle", worst, &tetrahedra.angles);
            let worst = format!("{:.4} at worst", tetrahedra.largest_ratio);
            self.histogram("radius ratio", worst, &tetrahedra.ratios);
        }
    }

    /// The mean ratios of cells.
    fn ratios(&mut self, ratios: &Ratios) {
        let histogram = Histogram {
            bounds: Ratios::bounds().to_vec(),
            counts: ratios.counts.to_vec(),
        };
        let worst = format!("{:.6} at worst", ratios.worst);
        self.histogram("mean ratio", worst, &histogram);
    }

    /// The worst value, and each bin that is not empty.
    fn histogram(&mut self, name: &str, worst: String, histogram: &Histogram) {
        self.line(name, worst);
        let total: u64 = histogram.counts.iter().sum();
        let bin = |i: usize| match (i.checked_sub(1), histogram.bounds.get(i)) {
            (None, Some(above)) => format!("under {above:.2}"),
            (Some(below), Some(above)) => {
                format!("{:.2} to {above:.2}", histogram.bounds[below])
            }
            (_, None) => format!("from {:.2}", histogram.bounds[i - 1]),
        };
        let counted = histogram.counts.iter().enumerate();
        for (i, &count) in counted.filter(|(_, count)| **count > 0) {
            let share = 100.0 * count as f64 / total as f64;
            self.line(
                &format!("  {}", bin(i)),
                format_args!("{count} ({share:.2} %)"),
            );
        }
    }
}

fn units(d: &Distribution) -> String {
    format!("{:.4e} to {:.4e}, mean {:.4e}", d.min, d.max, d.mean)
}

/// A line of a time.
pub fn time(name: &str, milliseconds: f64) -> String {
    let mut text = Text::default();
    text.line(name, format_args!("{milliseconds:.3} ms"));
    text.0
}

/// Of faces, or points.
pub fn of_surface(report: &Report) -> String {
    let mut text = Text::default();
    text.vertices(report.vertices, report.unused_vertices);
    if !report.attributes.is_empty() {
        text.line("with", report.attributes.join(", "));
    }
    text.bounds(report.bounds);
    text.line("planar", if report.is_planar { "yes" } else { "no" });
    text.line("faces", report.faces);
    for (size, count) in &report.face_sizes {
        text.line(&format!("  of {size} vertices"), count);
    }
    if let Some(area) = report.area {
        text.line("area", area);
    }
    if let Some(volume) = report.volume {
        text.line("enclosed volume", volume);
    }
    text.line("edges", report.edges);
    let (edges, parts) = (report.boundary_edges, report.boundary_parts);
    text.line(
        "boundary edges",
        format_args!("{edges} (connected parts: {parts})"),
    );
    text.line("pinch vertices", report.pinch_vertices);
    text.counted("doubled vertices", report.doubled_vertices);
    text.counted("hanging vertices", report.hanging_vertices);
    text.counted("clockwise faces", report.clockwise_faces);
    if let Some(regions) = &report.regions {
        text.tags("regions", ["region", "faces", " regions"], regions);
    }
    text.line("segments", report.segments);
    text.groups(&report.groups);
    text.fields(&report.fields);
    text.problems(&report.problems);
    if let Some(found) = report.repairs.as_ref().filter(|_| report.faces > 0) {
        text.repairs(found);
    }
    match report.delaunay {
        Some(Delaunay::No { edges }) => {
            let edges = format_args!("no, {edges} edges should be flipped");
            text.line("Delaunay", edges);
        }
        Some(delaunay) => text.line("Delaunay", delaunay.word()),
        None => {}
    }
    if let Some(weakly_simple) = report.weakly_simple {
        if report.problems.is_empty() {
            text.line("valid", "yes");
        }
        text.line("weakly simple faces", weakly_simple);
    }
    if let Some(quality) = report.quality.as_ref().filter(|_| report.faces > 0) {
        text.faces(quality, report.faces);
    }
    if let Some(surface) = &report.surface {
        if let Some(d) = &surface.planarity {
            text.line(
                "height / size of a face",
                format_args!("{:.6} to {:.6}, mean {:.6}", d.min, d.max, d.mean),
            );
        }
        if let Some(d) = &surface.dihedral_angle {
            let spread = format_args!("{:.3} to {:.3} degrees, mean {:.3}", d.min, d.max, d.mean);
            text.line("angle between faces", spread);
        }
    }
    text.0
}

/// Of cells.
pub fn of_volume(report: &VolumeReport) -> String {
    let (mut text, summary) = (Text::default(), &report.summary);
    text.vertices(report.vertices, summary.unused_vertices);
    text.bounds(report.bounds);
    text.line("cells", report.cells);
    for (kind, count) in &summary.kinds {
        text.line(&format!("  {}", kind.name()), count);
    }
    text.line("interior faces", summary.interior_faces);
    text.line("boundary faces", summary.boundary_faces);
    text.line("boundary vertices", summary.boundary_vertices);
    if let Some(regions) = &summary.regions {
        text.tags("regions", ["region", "cells", ""], regions);
    }
    if !summary.tags.is_empty() {
        text.tags("tags of faces", ["tag", "faces", ""], &summary.tags);
    }
    if summary.regions.is_some() {
        text.line("faces between regions", summary.interface_faces);
    }
    text.groups(&report.groups);
    text.fields(&report.fields);
    text.line("volume", summary.volume);
    text.line("inverted cells", summary.inverted.count);
    text.line("flat cells", summary.flat.count);
    if let (Some(smallest), Some(largest)) = (summary.smallest_dihedral, summary.largest_dihedral) {
        text.line(
            "dihedral angles",
            format_args!("{smallest:.4} to {largest:.4} degrees"),
        );
    }
    text.counted("doubled vertices", report.contacts.doubled);
    text.counted(
        "hanging vertices",
        report.contacts.inside_edges() + report.contacts.inside_faces(),
    );
    text.problems(&report.problems());
    if let Some(quality) = &report.quality {
        text.cells(quality);
    }
    if let Some(ratios) = &report.mean_ratios {
        text.ratios(ratios);
    }
    text.0
}

/// Of polyhedra.
pub fn of_polyhedra(report: &PolyhedraReport) -> String {
    let (mut text, quality) = (Text::default(), &report.quality);
    let share = |count: usize| {
        let percent = 100.0 * count as f64 / report.polyhedra.max(1) as f64;
        format!("{count} ({percent:.2} %)")
    };
    text.line("vertices", report.vertices);
    text.line("polyhedra", report.polyhedra);
    text.line("faces", report.faces);
    text.line("  on the boundary", quality.boundary_faces);
    text.line("  barriers", quality.barrier_faces);
    text.line("tagged faces", report.tagged_faces);
    text.fields(&report.fields);
    text.line("volume", quality.total_volume);
    let measures = [
        ("volumes", &quality.volume),
        ("surface to volume", &quality.surface_to_volume),
        ("edge to diameter", &quality.shortest_edge_to_diameter),
    ];
    for (name, values) in measures {
        if values.min.is_finite() {
            text.line(name, units(values));
        }
    }
    text.line("convex", share(quality.convex));
    text.line("star-shaped", share(quality.star_shaped));
    text.line("pinched", share(quality.pinched));
    text.line("faces a polyhedron", "");
    let counts = &quality.faces_per_polyhedron;
    for (faces, count) in counts.iter().take(LISTED) {
        text.line(&format!("  {faces}"), share(*count));
    }
    if counts.len() > LISTED {
        text.line("  more", share(counts.values().skip(LISTED).sum()));
    }
    text.problems(&report.problem);
    text.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use trioxide::fields::Field;
    use trioxide::mesh::Mesh;
    use trioxide_operations::info;

    #[test]
    fn a_field_is_a_line() {
        let mut mesh = Mesh::from(trioxide::generate::grid(9).unwrap());
        mesh.fields.points.push(Field {
            name: "v".to_owned(),
            components: 2,
            values: vec![1.5f32, -2.0, f32::NAN, 0.0].into(),
        });
        mesh.fields.cells.push(Field::scalars("class", vec![6u8]));
        let nothing = Field::scalars("nothing", vec![f64::NAN]);
        mesh.fields.sides.push(nothing);
        let text = of_surface(&info(mesh).unwrap());
        for line in [
            "fields                    3\n",
            "  v                       2 points, float32 x 2, -2 to 1.5\n",
            "  class                   1 faces, uint8, 6 to 6\n",
            "  nothing                 1 segments, float64, no numbers\n",
            "convex faces              8 of 8 (100.00 %)\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }
}
