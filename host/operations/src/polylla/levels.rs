//! Nested levels of the polygons.

#[cfg(feature = "serial")]
use trioxide::device::Laps;
use trioxide::device::Stage;
use trioxide::fields::Field;
use trioxide::levels::{self, Goal, Nested};
use trioxide::mesh::{Mesh, PolygonMesh, Triangulation};
use trioxide::polylla::PolygonTriangles;
#[cfg(feature = "serial")]
use trioxide::progress;

use super::{Dimensions, MeshPolygons};
use crate::error::Result;
use crate::machine::{Machine, On};
use crate::report::{Note, Run};

/// The levels, and the run with the stages that came `before`.
fn find(on: &On, mesh: &PolygonMesh, goal: Goal, before: Vec<Stage>) -> Result<(Nested, Run)> {
    match on {
        On::Device(device) => {
            let nested = levels::levels(device, mesh, goal)?;
            Ok((nested, Run::of(device, before)?))
        }
        #[cfg(feature = "serial")]
        On::Serial => {
            let mut laps = Laps::start();
            progress::stage("levels, sequentially");
            let nested = trioxide_reference::levels(mesh, goal);
            laps.end("nested levels");
            let mut stages = before;
            stages.extend(laps.into_stages());
            Ok((nested, Run::serial(stages)))
        }
    }
}

impl MeshPolygons {
    /// Joins the polygons to nested levels.
    pub(super) fn nest(&mut self, machine: &Machine, goal: Goal) -> Result<()> {
        let mesh = self.polygon_mesh();
        let before = &self.run.stages;
        let (nested, run) = machine.run(|on| find(on, &mesh, goal, before.clone()))?;
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
        let nested = self.nested.as_ref().expect("levels");
        let mut mesh = Mesh::from(nested.mesh(&self.polygon_mesh(), level));
        let mut carried = self.carried.clone();
        let cells = &mut carried.fields.cells;
        if let Some(triangles) = &self.triangles
            && !cells.is_empty()
        {
            let pieces = nested.ancestors(level);
            let (triangles, firsts) = of_pieces(
                triangles,
                &self.lists.half_edges,
                &pieces,
                nested.pieces(level),
            );
            *cells = cells.mixed(&triangles.mix(self.plane(), &firsts));
        }
        carried.put(&mut mesh);
        mesh
    }

    /// Adds fields of the polygons: for each level the piece that a polygon belongs to.
    pub(super) fn add_levels(&mut self) {
        if let Some(nested) = &self.nested {
            for level in 1..=nested.levels() {
                let pieces = Field::scalars(format!("level_{level}"), nested.ancestors(level));
                self.carried.fields.cells.push(pieces);
            }
        }
    }

    pub(super) fn notes(&self) -> Vec<Note> {
        let stuck = self.nested.iter().filter(|nested| nested.is_stuck);
        stuck
            .map(|nested| Note::NothingJoins {
                level: nested.levels(),
                pieces: nested.pieces(nested.levels()),
            })
            .collect()
    }

    fn polygon_mesh(&self) -> PolygonMesh {
        let mesh = self.plane();
        PolygonMesh {
            points: mesh.points.clone(),
            polygons: self.lists.polygons.clone(),
            regions: self.regions(mesh.regions.as_deref()),
            segments: mesh.segments.clone(),
        }
    }

    fn plane(&self) -> &Triangulation {
        match &self.mesh {
            Dimensions::Plane(mesh) => mesh,
            Dimensions::Space(_) => unreachable!("levels of a surface are refused"),
        }
    }
}

/// The triangles of each of `count` pieces, ascending, and the half-edge of its first polygon.
fn of_pieces(
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
