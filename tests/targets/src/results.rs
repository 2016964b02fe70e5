//! Writes the families' results: a format accepts a mesh or refuses it, and an accepted mesh is read again.
//!
//! Each result is written in one format and encoding, chosen by its points: writing all of them would take longer than
//! the families do.

use std::fmt::Display;

use trioxide::formats::volume::{MshVersion, VolumeFormat, WriteOptions, write_volume_as};
use trioxide::formats::{self, Encoding, Format};
use trioxide::glam::DVec3;
use trioxide::mesh::Mesh;
use trioxide::polyhedra_mesh::PolyhedralMesh;
use trioxide::random::mix;
use trioxide::volume::VolumeMesh;

use crate::readers::unused;

/// Formats that hold polyhedra, or their faces.
const OF_POLYHEDRA: [&str; 4] = ["vtu", "foam", "visf", "ply"];

/// Choices that depend only on the points, so that a finding can be repeated.
struct Chooser(u64);

impl Chooser {
    fn new(points: &[DVec3]) -> Chooser {
        let numbers = points.iter().flat_map(|point| point.to_array());
        Chooser(numbers.fold(points.len() as u64, |seed, x| mix(seed ^ x.to_bits())))
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        self.0 = mix(self.0);
        of[(self.0 % of.len() as u64) as usize]
    }

    /// An encoding of the format, if it has any.
    fn options(&mut self, encodings: &[Encoding]) -> WriteOptions {
        WriteOptions {
            encoding: (!encodings.is_empty()).then(|| self.one(encodings)),
            msh_version: self.one(&[MshVersion::V2, MshVersion::V4]),
        }
    }
}

/// Writes a surface, a planar mesh or a cloud.
pub fn surface(mesh: &Mesh) {
    let mut chooser = Chooser::new(&mesh.points);
    let written = |format: &&Format| Format::to_write(&named(format.extensions)).is_ok();
    let formats: Vec<&Format> = Format::all().iter().filter(written).collect();
    let format = chooser.one(&formats);
    let path = unused("result", format.extensions[0]);
    let options = chooser.options(format.encodings);
    if formats::write_as(&path, mesh, options).is_err() || !format.is_read() {
        return;
    }
    let read = formats::read(&path).expect("what was written is read");
    if format.keeps_faces() {
        let faces = mesh.faces.len();
        assert_eq!(read.faces.len(), faces, "faces by {}", format.name);
    }
}

fn named(extensions: &[&str]) -> std::path::PathBuf {
    format!("a.{}", extensions[0]).into()
}

/// Writes a volume mesh.
pub fn volume(mesh: &VolumeMesh) {
    let mut chooser = Chooser::new(&mesh.points);
    let formats: Vec<&VolumeFormat> = VolumeFormat::all().iter().collect();
    let format = chooser.one(&formats);
    let path = unused("result-volume", format.extensions[0]);
    if write_volume_as(&path, mesh, chooser.options(format.encodings)).is_err() {
        return;
    }
    let read = formats::read_volume(&path).expect("what was written is read");
    assert_eq!(
        read.cells.len(),
        mesh.cells.len(),
        "cells by {}",
        format.name
    );
}

/// Writes polyhedra.
pub fn polyhedra(mesh: &PolyhedralMesh) {
    let mut chooser = Chooser::new(&mesh.points);
    let path = unused("result-polyhedra", chooser.one(&OF_POLYHEDRA));
    let encoding = chooser.one(&[Encoding::Binary, Encoding::Text, Encoding::Compressed]);
    if let Err(error) = formats::write_polyhedra(&path, mesh, encoding) {
        let said = error.to_string();
        // Formats have some of the encodings.
        assert!(said.contains("is not written in this encoding"), "{said}");
    }
}

/// Both accept the mesh, or both refuse it.
pub fn same_verdict<A, B>(ours: &Result<A, impl Display>, serial: &Result<B, impl Display>) {
    let [ours_text, text] = [
        ours.as_ref().err().map(ToString::to_string),
        serial.as_ref().err().map(ToString::to_string),
    ];
    assert_eq!(
        ours.is_ok(),
        serial.is_ok(),
        "{ours_text:?}, serial {text:?}"
    );
}
