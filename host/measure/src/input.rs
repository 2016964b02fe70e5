//! Meshes of files, measured in place of generated ones.

use std::path::{Path, PathBuf};

use clap::Args;
use trioxide::fields::MeshFields;
use trioxide::formats::{self, ReadOptions};
use trioxide::mesh::{Mesh, Polygons, Triangulation};
use trioxide::outline::Outline;
use trioxide::volume::VolumeMesh;
use trioxide::{Error, Result};
use trioxide_arguments::note;
use trioxide_operations::input::check_planar_faces;

/// The file.
#[derive(Args)]
pub struct Input {
    /// File to measure in place of a generated mesh: triangles for polylla, levels, refine, decimate and repair;
    /// triangles or points for compare, delaunay, reorder and weld; an outline (.poly) for delaunay, which is refined
    /// to 5M triangles; tetrahedra for polyhedra, levels-polyhedra and refine-tets; cells for smooth and untangle.
    /// Other regions and segments are left out
    #[arg(long, value_name = "FILE", conflicts_with_all = ["mesh", "n"])]
    input: Option<PathBuf>,
    #[command(flatten)]
    reading: ReadOptions,
}

impl Input {
    /// The file, if there is one.
    pub fn path(&self) -> Option<&Path> {
        self.input.as_deref()
    }

    /// The mesh of faces, or the points, for the family of this name.
    ///
    /// # Errors
    /// A mesh of cells; those of the reader.
    pub fn surface(&self, path: &Path, family: &str, quiet: bool) -> Result<Mesh> {
        if formats::is_volume_as(path, self.reading) {
            return Err(Error::Argument(format!(
                "bench {family} takes triangles, and {} has cells: bench polyhedra, levels-polyhedra, \
                 refine-tets, smooth and untangle take these",
                path.display()
            )));
        }
        let (mesh, notes) = formats::read_as(path, self.reading)?;
        say(path, &notes, quiet);
        Ok(Mesh {
            points: mesh.points,
            faces: mesh.faces,
            ..Mesh::default()
        })
    }

    /// As [`Input::surface`], of triangles in the plane.
    ///
    /// # Errors
    /// As [`Input::surface`]; other faces; points with different z.
    pub fn planar(&self, path: &Path, family: &str, quiet: bool) -> Result<Triangulation> {
        let mesh = self.surface(path, family, quiet)?;
        check_planar_faces(&mesh)?;
        mesh.into_triangulation()
    }

    /// The mesh of cells for the family of this name.
    ///
    /// # Errors
    /// A mesh of faces; those of the reader.
    pub fn volume(&self, path: &Path, family: &str, quiet: bool) -> Result<VolumeMesh> {
        if !formats::is_volume_as(path, self.reading) {
            // The reader reports a file that is not there.
            formats::read_as(path, self.reading)?;
            return Err(Error::Argument(format!(
                "bench {family} takes cells, and {} has none: bench polylla, compare, delaunay, refine, reorder and weld take its mesh",
                path.display()
            )));
        }
        let (mesh, notes) = formats::read_volume_as(path, self.reading)?;
        say(path, &notes, quiet);
        Ok(VolumeMesh {
            points: mesh.points,
            cells: mesh.cells,
            regions: None,
            faces: Polygons::default(),
            face_tags: Vec::new(),
            fields: MeshFields::default(),
            about: Default::default(),
        })
    }

    /// The outline of a .poly file.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn outline(&self) -> Result<Option<Outline>> {
        let is_outline = |path: &&Path| path.extension().is_some_and(|end| end == "poly");
        let Some(path) = self.path().filter(is_outline) else {
            return Ok(None);
        };
        let (outline, _) = formats::poly::read_outline_as(path, self.reading)?;
        let points = &outline.mesh.points;
        Ok(Some(Outline {
            points: points.iter().map(|p| p.truncate()).collect(),
            segments: outline.mesh.segments,
            holes: outline.holes,
            regions: outline.regions,
        }))
    }
}

/// Prints the notes on a file.
fn say(path: &Path, notes: &[String], quiet: bool) {
    for said in notes {
        note(quiet, format_args!("{}: {said}", path.display()));
    }
}
