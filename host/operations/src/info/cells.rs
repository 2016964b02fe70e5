//! Counts, measures and faults of a mesh of cells.

use std::borrow::Cow;

use glam::DVec3;
use serde_json::json;
use trioxide::about::GroupNames;
use trioxide::contact::Contacts;
use trioxide::device::{Device, Laps};
use trioxide::progress;
use trioxide::quality3d::{Quality3d, quality};
use trioxide::smooth::{DeviceMesh, Ratios, measure_ratios};
use trioxide::volume::VolumeMesh;
use trioxide::volume_summary::{VolumeSummary, volume_summary};

use super::fields::{self, FieldRow};
use super::{Values, bounds_of, bounds_to_json, cells_to_json, groups_to_json, ratios_to_json};
use crate::error::Result;
use crate::report::Run;
use crate::scale::Scale;

/// The report on a mesh of cells.
#[derive(Clone, Debug)]
pub struct VolumeReport {
    /// The time.
    pub run: Run,
    /// Number of vertices.
    pub vertices: usize,
    /// Smallest and largest coordinates of finite vertices.
    pub bounds: Option<[DVec3; 2]>,
    /// Number of cells.
    pub cells: usize,
    /// Number of tagged faces.
    pub tagged_faces: usize,
    /// Counts, measures, and the rules that the mesh breaks.
    pub summary: VolumeSummary,
    /// Where parts touch without sharing vertices.
    pub contacts: Contacts,
    /// Names of groups of tagged faces (dimension 2) and of cells (3).
    pub groups: GroupNames,
    /// The fields.
    pub fields: Vec<FieldRow>,
    /// Quality of the cells, where there are any, none has a vertex twice, and all vertices are finite.
    pub quality: Option<Quality3d>,
    /// Mean ratios of the cells, as the quality.
    pub mean_ratios: Option<Ratios>,
}

impl VolumeReport {
    /// A sentence for each rule that the mesh breaks.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = self.summary.problems();
        problems.extend(self.contacts.problems());
        problems
    }

    /// By their names.
    pub fn values(&self) -> Values {
        let summary = &self.summary;
        let kinds = summary.kinds.iter();
        let kinds: serde_json::Map<_, _> = kinds
            .map(|(kind, count)| (kind.name().to_owned(), json!(count)))
            .collect();
        vec![
            ("vertices", json!(self.vertices)),
            ("unused_vertices", json!(summary.unused_vertices)),
            ("bounds", bounds_to_json(self.bounds)),
            ("cells", json!(self.cells)),
            ("cell_kinds", json!(kinds)),
            ("interior_faces", json!(summary.interior_faces)),
            ("boundary_faces", json!(summary.boundary_faces)),
            ("boundary_vertices", json!(summary.boundary_vertices)),
            ("interface_faces", json!(summary.interface_faces)),
            ("regions", json!(summary.regions)),
            ("tagged_faces", json!(self.tagged_faces)),
            ("face_tags", json!(summary.tags)),
            ("doubled_vertices", json!(self.contacts.doubled)),
            (
                "hanging_vertices",
                json!(self.contacts.inside_edges() + self.contacts.inside_faces()),
            ),
            ("groups", groups_to_json(&self.groups)),
            ("fields", fields::to_json(&self.fields)),
            ("volume", json!(summary.volume)),
            ("inverted", json!(summary.inverted.count)),
            ("flat", json!(summary.flat.count)),
            ("smallest_dihedral_angle", json!(summary.smallest_dihedral)),
            ("largest_dihedral_angle", json!(summary.largest_dihedral)),
            ("quality", json!(self.quality.as_ref().map(cells_to_json))),
            (
                "mean_ratio",
                json!(self.mean_ratios.as_ref().map(ratios_to_json)),
            ),
            ("problems", json!(self.problems())),
        ]
    }
}

/// Counts the elements of a mesh of cells, checks it, and measures its cells. Vertex ids must be in range.
///
/// ```
/// use trioxide_operations::info_volume;
///
/// # fn main() -> trioxide_operations::Result<()> {
/// let report = info_volume(&trioxide::generate::tet_grid(27, 1)?.into())?;
/// assert_eq!((report.cells, report.quality.expect("it has cells").inverted), (48, 0));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Cells that do not fit the memory.
pub fn info_volume(mesh: &VolumeMesh) -> Result<VolumeReport> {
    let (mesh, scale) = Scale::to_measure(
        Cow::Borrowed(mesh),
        |mesh: &mut VolumeMesh| &mut mesh.points,
        |mesh: &VolumeMesh| &mesh.points,
    );
    let mut report = measured(&mesh)?;
    report.bounds = report.bounds.map(|bounds| bounds.map(|p| scale.back(p)));
    report.summary.volume = scale.measure(report.summary.volume, 3);
    Ok(report)
}

/// The quality and the mean ratios of cells, none of which has a vertex twice, at finite vertices.
///
/// # Errors
/// Those of [`DeviceMesh::upload`]; errors of the device.
pub fn quality_of_cells(on: &Device, mesh: &VolumeMesh) -> Result<(Quality3d, Ratios)> {
    let (mesh, _) = Scale::to_measure(
        Cow::Borrowed(mesh),
        |mesh: &mut VolumeMesh| &mut mesh.points,
        |mesh: &VolumeMesh| &mesh.points,
    );
    let resident = DeviceMesh::<DVec3>::upload(on, &mesh)?;
    let (cells, points) = (resident.cells(), resident.points());
    let quality = quality(on, cells, points)?;
    Ok((quality, measure_ratios(on, cells, points)?))
}

/// The report on a mesh of usual size.
fn measured(mesh: &VolumeMesh) -> Result<VolumeReport> {
    progress::stage("count, check and measure");
    let mut laps = Laps::start();
    let summary = volume_summary(mesh);
    // The report lists the problems of a mesh that cannot be measured.
    let can_measure = summary.non_finite.count == 0 && summary.repeated.count == 0;
    let (quality, mean_ratios) = if can_measure && !mesh.cells.is_empty() {
        let (quality, ratios) = quality_of_cells(&Device::cpu(None)?, mesh)?;
        (Some(quality), Some(ratios))
    } else {
        (None, None)
    };
    laps.end("count, check and measure");
    Ok(VolumeReport {
        run: Run::on_host("cpu".to_owned(), laps.into_stages()),
        vertices: mesh.points.len(),
        bounds: bounds_of(&mesh.points),
        cells: mesh.cells.len(),
        tagged_faces: mesh.faces.len(),
        groups: mesh.about.groups.clone(),
        summary,
        contacts: Contacts::of_cells(mesh),
        fields: fields::rows(&mesh.fields, "cells", "tagged faces"),
        quality,
        mean_ratios,
    })
}
