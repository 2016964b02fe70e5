//! The table of formats of volume meshes.

use super::output::{I32_POINTS, Output};
use super::{
    VolumeFormat, abaqus, gmsh, medit, read_by, tetgen, volume_of, vtk, vtk_write, vtu, xdmf,
};
use crate::Encoding;
use crate::fields::{Joined, RESERVED};
use crate::input::peek_file;
use crate::vtu_out;

const BOTH: &[Encoding] = &[Encoding::Binary, Encoding::Text];

/// Text without fields, for any number of vertices.
const TEXT: VolumeFormat = VolumeFormat {
    name: "TetGen",
    extensions: &["node", "ele"],
    encodings: &[Encoding::Text],
    most_points: usize::MAX,
    keeps_groups: false,
    keeps_field: |_, _| false,
    plain_name: str::to_owned,
    retyped: |_| Vec::new(),
    has_cells: |path, _| tetgen::is_volume(path),
    read: |path, _| tetgen::read(path),
    write: |path, mesh, _| tetgen::write(path, mesh),
};

/// Every format.
pub(super) static FORMATS: [VolumeFormat; 8] = [
    VolumeFormat {
        name: "VTU",
        extensions: &["vtu", "pvtu"],
        encodings: vtu_out::ENCODINGS,
        keeps_field: |_, _| true,
        plain_name: vtu_out::plain_name,
        retyped: |fields| Joined::renamed(fields, RESERVED),
        has_cells: vtu::is_volume,
        read: |path, options| volume_of(path, vtu::read_grid(path, options)?),
        write: |path, mesh, options| vtu::write(path, mesh, options.encoding()),
        ..TEXT
    },
    VolumeFormat {
        name: "VTK legacy",
        extensions: &["vtk"],
        encodings: BOTH,
        most_points: I32_POINTS,
        keeps_field: |_, _| true,
        retyped: |fields| Joined::renamed(fields, RESERVED),
        has_cells: |path, _| peek_file(path, vtk::is_volume).unwrap_or(false),
        read: |path, _| read_by(path, vtk::parse_grid),
        write: |path, mesh, options| vtk_write::write(path, mesh, options.encoding()),
        ..TEXT
    },
    VolumeFormat {
        name: "Gmsh",
        extensions: &["msh"],
        encodings: BOTH,
        most_points: I32_POINTS,
        keeps_groups: true,
        keeps_field: |field, _| gmsh::keeps(field),
        plain_name: gmsh::plain_name,
        retyped: gmsh::retyped,
        has_cells: |path, _| peek_file(path, gmsh::is_volume).unwrap_or(false),
        read: |path, _| read_by(path, gmsh::parse_grid),
        write: |path, mesh, options| gmsh::write(path, Output::of(mesh), options),
    },
    VolumeFormat {
        name: "Medit",
        extensions: &["mesh"],
        keeps_field: medit::keeps_in_volume,
        most_points: I32_POINTS,
        has_cells: |path, _| peek_file(path, medit::is_volume).unwrap_or(false),
        read: |path, _| read_by(path, medit::parse_grid),
        write: |path, mesh, _| medit::write_text(path, Output::of(mesh)),
        ..TEXT
    },
    VolumeFormat {
        name: "Medit binary",
        extensions: &["meshb"],
        keeps_field: medit::keeps_in_volume,
        encodings: &[Encoding::Binary],
        most_points: I32_POINTS,
        has_cells: |path, _| peek_file(path, medit::is_volume).unwrap_or(false),
        read: |path, _| read_by(path, medit::parse_grid),
        write: |path, mesh, _| medit::write_binary(path, Output::of(mesh)),
        ..TEXT
    },
    VolumeFormat {
        name: "Abaqus",
        extensions: &["inp"],
        keeps_groups: true,
        has_cells: abaqus::is_volume,
        read: |path, options| volume_of(path, abaqus::read_grid(path, options)?),
        write: |path, mesh, _| abaqus::write(path, Output::of(mesh)),
        ..TEXT
    },
    VolumeFormat {
        name: "XDMF",
        extensions: &["xdmf", "xmf"],
        has_cells: xdmf::is_volume,
        read: |path, options| volume_of(path, xdmf::read_grid(path, options)?),
        write: |path, mesh, _| xdmf::write(path, mesh),
        ..TEXT
    },
    TEXT,
];
