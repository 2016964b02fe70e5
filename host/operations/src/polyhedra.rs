//! Tetrahedra become polyhedra: whole meshes, with all that they carry. The family is [`trioxide::polyhedra`].

use glam::{DVec3, Vec3};
use trioxide::device::Device;
use trioxide::fields::{Fields, MeshFields};
use trioxide::levels::{Nested, levels_of_polyhedra};
use trioxide::polyhedra::{self as family, Measure, Rule, tets_of_polyhedra};
use trioxide::polyhedra_mesh::{PolyhedraLists, PolyhedralMesh};
use trioxide::refine_tets::{DeviceTets, SpacePoint};
use trioxide::volume::{TetMesh, VolumeMesh};

use crate::error::Result;
use crate::input::tetrahedra;
use crate::machine::{On, Start};
use crate::polylla::{self, Refusal, levels};
use crate::precision::Precision;
use crate::report::{Counts, Note, Run};
use crate::scale::Scale;

/// How tetrahedra become polyhedra, besides what [`polylla::Options`] say of triangles and tetrahedra.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "clap", derive(clap::Args), group(skip))]
pub struct Options {
    /// How tetrahedra are joined: across their largest faces, or to cavities. A cavity is the tetrahedra around one
    /// whose circumcentres lie in its circumsphere; small spheres come first
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub rule: Rule,
    /// Which face of a tetrahedron is its largest: by area, or by the radius of the circle through its vertices
    /// [default: area]
    #[cfg_attr(feature = "clap", arg(long, value_enum, value_name = "MEASURE"))]
    pub by: Option<Measure>,
    /// Join the triangles between two polyhedra that lie in one plane, exactly
    #[cfg_attr(feature = "clap", arg(long))]
    pub merge_faces: bool,
    /// Options that triangles have too: strict, unconstrained, precision.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub shared: polylla::Options,
}

impl Options {
    /// Refuses options that triangles do without.
    ///
    /// # Errors
    /// [`Refusal::RuleOfTetrahedra`], [`Refusal::FacesOfTetrahedra`], [`Refusal::MeasureOfTetrahedra`].
    pub fn check_plane(&self) -> Result<()> {
        match self.by {
            _ if self.rule != Rule::default() => Err(Refusal::RuleOfTetrahedra.into()),
            _ if self.merge_faces => Err(Refusal::FacesOfTetrahedra.into()),
            Some(_) => Err(Refusal::MeasureOfTetrahedra.into()),
            None => Ok(()),
        }
    }

    /// Refuses options that tetrahedra, or cavities, do without.
    ///
    /// # Errors
    /// [`Refusal::OfTriangles`], [`Refusal::OfLargestFaces`].
    pub fn check_volume(&self) -> Result<()> {
        self.shared.check_volume()?;
        // Levels join balls, and their test for one is right for trees of tetrahedra.
        let given = [
            ("by", self.by.is_some()),
            ("strict", self.shared.strict),
            ("levels", self.shared.levels.is_some()),
            ("until", self.shared.until.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some(&(option, _)) if self.rule == Rule::Cavity => {
                Err(Refusal::OfLargestFaces { option }.into())
            }
            _ => Ok(()),
        }
    }

    /// The options of the family.
    pub fn settings(&self) -> family::Options {
        family::Options {
            rule: self.rule,
            by: self.by.unwrap_or_default(),
            constrained: !self.shared.unconstrained,
            count_pinched: true,
            strict: self.shared.strict,
        }
    }
}

/// The machine and the counts.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The machine, with times.
    pub run: Run,
    /// The counts.
    pub totals: Totals,
    /// Start of each polyhedron's tetrahedra, and these, ascending; P + 1 and T. If the options ask for parents.
    pub parents: Option<[Vec<u32>; 2]>,
    /// Nested levels, if the options ask for them: the piece of each level that each piece of the one before belongs
    /// to.
    pub nested: Option<Nested>,
    /// Notes for the user.
    pub notes: Vec<Note>,
}

/// The counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Vertices.
    pub vertices: u64,
    /// Tetrahedra.
    pub tetrahedra: u64,
    /// Polyhedra.
    pub polyhedra: u64,
    /// Polyhedra of one tetrahedron.
    pub single_tetrahedra: u64,
    /// Most tetrahedra of a polyhedron.
    pub most_tetrahedra: u64,
    /// Faces of all polyhedra.
    pub faces: u64,
    /// Regions before the repair: of terminal faces, or cavities.
    pub regions: u64,
    /// Barrier faces.
    pub barrier_faces: u64,
    /// Regions that have some.
    pub regions_with_barriers: u64,
    /// Barrier tips.
    pub barrier_tips: u64,
    /// Barrier faces that are left.
    pub barrier_faces_left: u64,
    /// Polyhedra whose surface is no 2-manifold, where they were counted.
    pub pinched: Option<u64>,
    /// Rounds in which these were split.
    pub split_rounds: u64,
    /// Nested levels.
    pub levels: Option<u64>,
    /// Pieces of the last level.
    pub pieces: Option<u64>,
}

impl Totals {
    fn of(mesh: &TetMesh, lists: &PolyhedraLists) -> Self {
        let single = (0..lists.len()).filter(|&p| lists.tets_of(p).len() == 1);
        let counts = lists.counts;
        Self {
            vertices: mesh.points.len() as u64,
            tetrahedra: mesh.tetrahedra.len() as u64,
            polyhedra: counts.polyhedra.into(),
            single_tetrahedra: single.count() as u64,
            most_tetrahedra: counts.most_tetrahedra.into(),
            faces: lists.faces() as u64,
            regions: counts.regions.into(),
            barrier_faces: counts.barrier_faces.into(),
            regions_with_barriers: counts.regions_with_barriers.into(),
            barrier_tips: counts.barrier_tips.into(),
            barrier_faces_left: counts.barrier_faces_left.into(),
            pinched: counts.pinched.map(u64::from),
            split_rounds: counts.split_rounds.into(),
            levels: None,
            pieces: None,
        }
    }

    /// By their names.
    pub fn counts(&self) -> Counts {
        let mut counts: Counts = vec![
            ("vertices", self.vertices.into()),
            ("tetrahedra", self.tetrahedra.into()),
            ("polyhedra", self.polyhedra.into()),
            ("single_tetrahedra", self.single_tetrahedra.into()),
            ("most_tetrahedra", self.most_tetrahedra.into()),
            ("faces", self.faces.into()),
            ("regions", self.regions.into()),
            ("barrier_faces", self.barrier_faces.into()),
            ("regions_with_barriers", self.regions_with_barriers.into()),
            ("barrier_tips", self.barrier_tips.into()),
            ("barrier_faces_left", self.barrier_faces_left.into()),
        ];
        counts.extend(self.pinched.map(|pinched| ("pinched", pinched.into())));
        counts.push(("split_rounds", self.split_rounds.into()));
        counts.extend(self.levels.map(|levels| ("levels", levels.into())));
        counts.extend(self.pieces.map(|pieces| ("pieces", pieces.into())));
        counts
    }
}

/// Joins tetrahedra to polyhedra, with their fields, regions and tagged faces. Inverted ones are turned around.
///
/// ```
/// use trioxide_operations::polyhedra;
///
/// # fn main() -> trioxide_operations::Result<()> {
/// # let device = trioxide::Device::cpu(None)?;
/// let cubes = trioxide::generate::tet_grid(27, 1)?;
/// let (joined, report) = polyhedra(&device, cubes.into(), &polyhedra::Options::default())?;
/// assert!(joined.len() as u64 == report.totals.polyhedra && joined.len() < 48);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A cell that is no tetrahedron, or breaks another rule of meshes of tetrahedra; [`Refusal::OfTriangles`],
/// [`Refusal::OfLargestFaces`]; those of [`trioxide::polyhedra::polyhedra()`] and of the device.
pub fn polyhedra(
    on: &dyn Start,
    mesh: VolumeMesh,
    options: &Options,
) -> Result<(PolyhedralMesh, Report)> {
    options.check_volume()?;
    let (mesh, fields, notes) = tetrahedra(mesh)?;
    let found = find(on, mesh, fields, options)?;
    let (mesh, mut report) = found.into_mesh();
    report.notes.extend(notes);
    Ok((mesh, report))
}

/// Finds the polyhedra of a mesh of tetrahedra with these fields.
///
/// # Errors
/// As [`polyhedra()`].
pub fn find(
    on: &dyn Start,
    mut mesh: TetMesh,
    fields: MeshFields,
    options: &Options,
) -> Result<MeshPolyhedra> {
    options.check_volume()?;
    let scale = Scale::take(&mut mesh.points, options.shared.precision)?;
    let found = find_scaled(on, mesh, fields, options);
    let found = found.map_err(|error| scale.explain(error))?;
    Ok(MeshPolyhedra { scale, ..found })
}

fn find_scaled(
    on: &dyn Start,
    mesh: TetMesh,
    fields: MeshFields,
    options: &Options,
) -> Result<MeshPolyhedra> {
    let settings = options.settings();
    let machine = on.start()?;
    let (lists, run) = machine.run(|on| match (on, options.shared.precision) {
        (On::Device(device), Precision::F64) => on_device::<DVec3>(device, &mesh, settings),
        (On::Device(device), Precision::F32) => on_device::<Vec3>(device, &mesh, settings),
        #[cfg(feature = "serial")]
        (On::Serial, Precision::F64) => serial::<DVec3>(&mesh, settings),
        #[cfg(feature = "serial")]
        (On::Serial, Precision::F32) => serial::<Vec3>(&mesh, settings),
    })?;
    let totals = Totals::of(&mesh, &lists);
    let mut found = MeshPolyhedra::of(mesh, fields, &lists, options)?;
    (found.report.run, found.report.totals) = (run, totals);
    if let Some(goal) = options.shared.goal() {
        let (before, polyhedra) = (&found.report.run.stages, &found.polyhedra);
        let (nested, run) = machine.run(|on| {
            levels::find(
                on,
                before.clone(),
                |device| levels_of_polyhedra(device, polyhedra, goal),
                #[cfg(feature = "serial")]
                || trioxide_reference::levels_of_polyhedra(polyhedra, goal),
            )
        })?;
        found.report.run = run;
        found.nest(nested);
    }
    let parents = options.shared.parents;
    found.report.parents = parents.then_some([lists.tet_offsets, lists.tets]);
    Ok(found)
}

/// The polyhedra of a mesh of tetrahedra.
pub struct MeshPolyhedra {
    /// With all that they carry.
    polyhedra: PolyhedralMesh,
    /// The tetrahedra, if they have fields and the options ask for levels.
    tets: Option<Tets>,
    report: Report,
    /// The size of the polyhedra.
    scale: Scale,
}

/// The tetrahedra of polyhedra, with their fields.
struct Tets {
    mesh: TetMesh,
    lists: PolyhedraLists,
    fields: Fields,
}

impl MeshPolyhedra {
    /// The polyhedra of `lists` with all that they carry, without levels; the report is empty.
    ///
    /// # Errors
    /// More faces than 32-bit ids name.
    pub fn of(
        mesh: TetMesh,
        fields: MeshFields,
        lists: &PolyhedraLists,
        options: &Options,
    ) -> trioxide::Result<Self> {
        let has_levels = options.shared.goal().is_some();
        let tets = (has_levels && !fields.cells.is_empty()).then(|| Tets {
            mesh: mesh.clone(),
            lists: lists.clone(),
            fields: fields.cells.clone(),
        });
        Ok(Self {
            polyhedra: polyhedral(mesh, fields, lists, options)?,
            tets,
            report: Report::default(),
            scale: Scale::default(),
        })
    }

    /// Puts nested levels on the polyhedra.
    pub fn nest(&mut self, nested: Nested) {
        let report = &mut self.report;
        report.totals.levels = Some(nested.levels() as u64);
        report.totals.pieces = Some(nested.pieces(nested.levels()) as u64);
        report.notes = levels::notes(Some(&nested));
        report.nested = Some(nested);
    }

    /// The report alone.
    pub fn into_report(self) -> Report {
        self.report
    }

    /// The mesh of the polyhedra with all that it carries, and the report.
    pub fn into_mesh(mut self) -> (PolyhedralMesh, Report) {
        if let Some(nested) = &self.report.nested {
            levels::add_fields(nested, &mut self.polyhedra.fields.cells);
        }
        self.scale.back_all(&mut self.polyhedra.points);
        (self.polyhedra, self.report)
    }

    /// The number of nested levels, if the options ask for them.
    pub fn levels(&self) -> Option<usize> {
        self.report.nested.as_ref().map(Nested::levels)
    }

    /// The pieces of a level as a mesh, with all that it carries: fields of the tetrahedra have in a piece the mean
    /// over its volume, integers the value of the first tetrahedron of its first polyhedron, as regions.
    ///
    /// # Panics
    /// There is no such level.
    pub fn level(&self, level: usize) -> PolyhedralMesh {
        let nested = self.report.nested.as_ref().expect("levels");
        let mut pieces = nested.polyhedra(&self.polyhedra, level);
        let fields = &self.polyhedra.fields;
        pieces.fields.points = fields.points.clone();
        pieces.fields.sides = fields.sides.clone();
        if let Some(tets) = &self.tets {
            let mut members = vec![Vec::new(); nested.pieces(level)];
            for (p, &piece) in nested.ancestors(level).iter().enumerate() {
                members[piece as usize].extend(tets.lists.tets_of(p));
            }
            let mut lists = PolyhedraLists {
                tet_offsets: vec![0],
                ..PolyhedraLists::default()
            };
            for mut members in members {
                lists.tets.append(&mut members);
                lists.tet_offsets.push(lists.tets.len() as u32);
            }
            pieces.fields.cells = tets.fields.mixed(&tets_of_polyhedra(&tets.mesh, &lists));
        }
        self.scale.back_all(&mut pieces.points);
        pieces
    }
}

/// The polyhedra of a mesh with all that it carries.
fn polyhedral(
    mut mesh: TetMesh,
    mut fields: MeshFields,
    lists: &PolyhedraLists,
    options: &Options,
) -> trioxide::Result<PolyhedralMesh> {
    if options.shared.unconstrained {
        mesh.regions = None;
        mesh.faces.clear();
        fields.sides = Fields::default();
    }
    let mut polyhedral = PolyhedralMesh::new(&mesh, lists)?;
    if !fields.cells.is_empty() {
        fields.cells = fields.cells.mixed(&tets_of_polyhedra(&mesh, lists));
    }
    polyhedral.fields = fields;
    if options.merge_faces {
        polyhedral = polyhedral.merge_coplanar();
    }
    Ok(polyhedral)
}

fn on_device<P: SpacePoint>(
    on: &Device,
    mesh: &TetMesh,
    settings: family::Options,
) -> Result<(PolyhedraLists, Run)> {
    let (points, tetrahedra) = (mesh.points.len(), mesh.tetrahedra.len());
    on.require(family::bytes_needed::<P>(points, tetrahedra, settings))?;
    let (tets, faces) = DeviceTets::<P>::upload_with_faces(on, mesh)?;
    let lists = family::polyhedra(on, &tets, &faces, settings)?.download(on, &faces)?;
    Ok((lists, Run::of(on, Vec::new())?))
}

#[cfg(feature = "serial")]
fn serial<P: SpacePoint>(
    mesh: &TetMesh,
    settings: family::Options,
) -> Result<(PolyhedraLists, Run)> {
    use std::time::Instant;
    use trioxide::device::Stage;
    use trioxide::progress;
    use trioxide_reference as reference;

    progress::stage("polyhedra, sequentially");
    let start = Instant::now();
    // By the check of the devices, so that every machine refuses the same meshes in the same words.
    drop(DeviceTets::<P>::upload(&Device::cpu(Some(1))?, mesh)?);
    let lists = reference::polyhedra::<P>(mesh, settings);
    let stage = Stage {
        name: "polyhedra",
        milliseconds: start.elapsed().as_secs_f64() * 1e3,
    };
    Ok((lists, Run::serial(vec![stage])))
}
