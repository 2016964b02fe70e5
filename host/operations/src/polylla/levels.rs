//! Nested levels of the polygons.

use gpu::point::DoublePoint;
#[cfg(feature = "serial")]
use trioxide::device::Laps;
use trioxide::device::{Device, Stage};
use trioxide::fields::{Field, Fields};
use trioxide::levels::{self, Goal, Nested};
use trioxide::mesh::{Mesh, PolygonMesh, Triangulation};
use trioxide::polylla::PolygonTriangles;
#[cfg(feature = "serial")]
use trioxide::progress;

use super::{Dimensions, MeshPolygons};
use crate::error::Result;
use crate::machine::{Machine, On};
use crate::report::{Note, Run};

/// The levels by one of two ways, and the run with the stages that came `before`.
pub(crate) fn find(
    on: &On,
    before: Vec<Stage>,
    on_device: impl FnOnce(&Device) -> trioxide::Result<Nested>,
    #[cfg(feature = "serial")] serial: impl FnOnce() -> Nested,
) -> Result<(Nested, Run)> {
    match on {
        On::Device(device) => {
            let nested = on_device(device)?;
            Ok((nested, Run::of(device, before)?))
        }
        #[cfg(feature = "serial")]
        On::Serial => {
            let mut laps = Laps::start();
            progress::stage("levels, sequentially");
            let nested = serial();
            laps.end("nested levels");
            let mut stages = before;
            stages.extend(laps.into_stages());
            Ok((nested, Run::serial(stages)))
        }
    }
}

/// The levels of polygons of the plane or of a surface.
fn nest<V: DoublePoint>(
    machine: &Machine,
    mesh: &PolygonMesh<V>,
    goal: Goal,
    before: &[Stage],
) -> Result<(Nested, Run)> {
    machine.run(|on| {
        find(
            on,
            before.to_vec(),
            |device| levels::levels(device, mesh, goal),
            #[cfg(feature = "serial")]
            || trioxide_reference::levels(mesh, goal),
        )
    })
}

/// The notes on levels.
pub(crate) fn notes(nested: Option<&Nested>) -> Vec<Note> {
    let stuck = nested.filter(|nested| nested.is_stuck);
    let note = stuck.map(|nested| Note::NothingJoins {
        level: nested.levels(),
        pieces: nested.pieces(nested.levels()),
    });
    note.into_iter().collect()
}

/// Fields of polygons or polyhedra: for each level the piece that one belongs to.
pub fn add_fields(nested: &Nested, cells: &mut Fields) {
    for level in 1..=nested.levels() {
        cells.push(Field::scalars(
            format!("level_{level}"),
            nested.ancestors(level),
        ));
    }
}

impl MeshPolygons {
    /// Joins the polygons to nested levels.
    pub(super) fn nest(&mut self, machine: &Machine, goal: Goal) -> Result<()> {
        let before = &self.run.stages;
        let (nested, run) = match &self.mesh {
            Dimensions::Plane(mesh) => nest(machine, &self.polygon_mesh(mesh), goal, before)?,
            Dimensions::Space(mesh) => nest(machine, &self.polygon_mesh(mesh), goal, before)?,
        };
        self.run = run;
        self.totals.levels = Some(nested.levels() as u64);
        self.totals.pieces = Some(nested.pieces(nested.levels()) as u64);
        self.nested = Some(nested);
        Ok(())
    }

    /// The number of nested levels, if the options ask for them.
    pub fn levels(&self) -> Option<usize> {
        self.nested.as_ref().map(Nested::levels)
    }

    /// The pieces of a level as a mesh, with all that it carries.
    ///
    /// # Panics
    /// There is no such level.
    pub fn level(&self, level: usize) -> Mesh {
        let mut pieces = match &self.mesh {
            Dimensions::Plane(mesh) => self.level_of(mesh, level),
            Dimensions::Space(mesh) => self.level_of(mesh, level),
        };
        self.scale.back_all(&mut pieces.points);
        pieces
    }

    fn level_of<V: DoublePoint>(&self, triangles: &Triangulation<V>, level: usize) -> Mesh
    where
        Mesh: From<PolygonMesh<V>>,
    {
        let nested = self.nested.as_ref().expect("levels");
        let mut mesh = Mesh::from(nested.mesh(&self.polygon_mesh(triangles), level));
        let mut carried = self.carried.clone();
        let cells = &mut carried.fields.cells;
        if let Some(of_polygons) = &self.triangles
            && !cells.is_empty()
        {
            let pieces = nested.ancestors(level);
            let (of_pieces, firsts) = of_pieces(
                of_polygons,
                &self.lists.half_edges,
                &pieces,
                nested.pieces(level),
            );
            *cells = cells.mixed(&of_pieces.mix(triangles, &firsts));
        }
        carried.put(&mut mesh);
        mesh
    }

    fn polygon_mesh<V: Clone>(&self, mesh: &Triangulation<V>) -> PolygonMesh<V> {
        PolygonMesh {
            points: match &self.kept {
                Some(kept) => kept
                    .old_ids
                    .iter()
                    .map(|&v| mesh.points[v as usize].clone())
                    .collect(),
                None => mesh.points.clone(),
            },
            polygons: self.lists.polygons.clone(),
            regions: self.regions(mesh.regions.as_deref()),
            segments: mesh.segments.clone(),
        }
    }
}

/// The triangles of each of `count` pieces, ascending, and the half-edge of its first polygon. `half_edges` has that of
/// each polygon, `pieces` its piece.
pub fn of_pieces(
    of_polygons: &PolygonTriangles,
    half_edges: &[u32],
    pieces: &[u32],
    count: usize,
) -> (PolygonTriangles, Vec<u32>) {
    let mut lists = vec![Vec::new(); count];
    let mut firsts = vec![u32::MAX; count];
    for (polygon, &piece) in pieces.iter().enumerate() {
        let ends = [polygon, polygon + 1].map(|i| of_polygons.offsets[i] as usize);
        lists[piece as usize].extend(&of_polygons.triangles[ends[0]..ends[1]]);
        let first = &mut firsts[piece as usize];
        // Half-edges of polygons ascend.
        *first = half_edges[polygon].min(*first);
    }
    let mut result = PolygonTriangles {
        offsets: vec![0],
        triangles: Vec::with_capacity(of_polygons.triangles.len()),
    };
    for mut triangles in lists {
        triangles.sort_unstable();
        result.triangles.append(&mut triangles);
        result.offsets.push(result.triangles.len() as u32);
    }
    (result, firsts)
}
