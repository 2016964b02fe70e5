//! Mesh files: [`read`] and [`write`](fn@write) by the file name's extension.
//!
//! One file a format. Readers map the file and parse its bytes, text in parallel chunks; writers format records in
//! parallel and replace the file only when it is complete ([`atomic_file`]). A reader never trusts a count before the
//! data is there, checks every vertex index, and says in which line what breaks which rule. It does not judge the mesh:
//! coordinates may be `nan`, faces may overlap.
//!
//! The readers are our own for speed and for exact coordinates. On two cores, 2.1M vertices and 4.2M triangles (105 MB
//! to 219 MB) read in 0.3 s to 0.55 s: text at 335 MB/s to 470 MB/s. Binary PLY of 14M vertices and 28M triangles (701
//! MB) reads in 0.36 s (2.0 GB/s) and is written in 0.3 s to the page cache. Of the crates, tobj 4.0 takes 2.6 s for
//! the `.obj` and like off-rs 2.0 rounds coordinates to `f32`; ply-rs-bw 4.0 takes 3.2 s (binary) and 7.5 s (text) for
//! the `.ply`; vtkio 0.7 is a release candidate.
//!
//! [`Format::all`] is the table of the formats, and [`volume::VolumeFormat::all`] that of volume meshes;
//! docs/FORMATS.md shows them, with all that each format reads, keeps and drops.

use trioxide_mesh::fields::{Fields, MeshFields};
use trioxide_mesh::mesh::Mesh;

mod ale;
pub mod ancestry;
pub mod atomic_file;
mod colors;
mod columns;
mod decimals;
pub mod edges;
mod faces;
mod fields;
mod foreign;
mod format;
mod gltf;
mod grid_out;
mod input;
mod las;
mod las_fields;
pub mod level_maps;
mod maps;
pub mod matrix_market;
mod numbers_out;
mod obj;
mod off;
pub mod order_maps;
mod outline;
mod pcd;
mod percent;
pub mod ply;
pub mod poly;
mod polyhedra;
mod printed;
pub mod pvtu;
mod references;
mod rows_out;
pub mod run_files;
mod seams;
mod stl;
#[cfg(test)]
mod tests;
mod text;
mod triangle;
pub mod volume;
mod vtp;
mod vtu;
mod vtu_array;
mod vtu_blocks;
mod vtu_out;
mod xyz;

use fields::{Joined, RESERVED, renamed};
pub use foreign::format_name;
pub use format::*;
pub use input::read_text;
use input::{complete, map_file, parse_file};
pub use polyhedra::{
    KeptTags, PolyhedraFormat, check_polyhedra_output, is_polyhedra, is_polyhedra_as,
    read_polyhedra, read_polyhedra_as, write_polyhedra,
};
use printed::VertexRows;
pub use printed::{Printed, is_printed_ahead, print_ahead, write_printed};
pub use references::{FollowReferences, ReadOptions};
pub use volume::{
    MshVersion, WriteOptions, is_volume, is_volume_as, read_volume, read_volume_as,
    read_volume_with_notes, write_volume,
};
pub use xyz::Columns;

/// Faces, without anything else.
const FACES: Format = Format {
    name: "",
    extensions: &[],
    most_corners: usize::MAX,
    keeps_regions: false,
    keeps_segments: false,
    keeps_normals: false,
    keeps_colors: false,
    keeps_alpha: false,
    keeps_uvs: false,
    keeps_las: false,
    keeps_gltf_materials: false,
    keeps_groups: false,
    named_fields: &[],
    keeps_materials: false,
    keeps_textures: false,
    lost_fields: |mesh| names(mesh.fields.names()),
    renamed: |_| Vec::new(),
    retyped: |_| Vec::new(),
    encodings: &[],
    rounding: None,
    has_columns: false,
    read: None,
    write: None,
    rows: None,
};

/// Faces with regions, and segments.
const TAGGED: Format = Format {
    keeps_regions: true,
    keeps_segments: true,
    ..FACES
};

/// All that a mesh has.
const WITH_FIELDS: Format = Format {
    keeps_normals: true,
    keeps_colors: true,
    keeps_alpha: true,
    keeps_uvs: true,
    lost_fields: |_| Vec::new(),
    retyped: |mesh| Joined::renamed(&mesh.fields, RESERVED),
    encodings: BOTH,
    ..TAGGED
};

const BOTH: &[Encoding] = &[Encoding::Binary, Encoding::Text];

/// The fields but those of segments.
fn without_sides(mesh: &Mesh) -> MeshFields {
    MeshFields {
        sides: Fields::default(),
        ..mesh.fields.clone()
    }
}

/// A format whose files are written from cells: the faces as cells of two dimensions.
macro_rules! by_cells {
    ($name:literal, $extension:literal, $parse:path, $write:path) => {
        Format {
            name: $name,
            extensions: &[$extension],
            most_corners: 4,
            lost_fields: volume::medit::lost_fields,
            read: Some(|path, _| volume::read_surface_by(path, $parse)),
            write: Some(|path, mesh, _| {
                volume::write_surface_by(path, mesh, |mesh| $write(path, mesh))
            }),
            ..TAGGED
        }
    };
}

/// Every format.
pub(crate) static FORMATS: [Format; 21] = [
    Format {
        name: "OFF",
        extensions: &["off"],
        keeps_normals: true,
        keeps_colors: true,
        keeps_alpha: true,
        keeps_uvs: true,
        lost_fields: off::lost_fields,
        read: Some(|path, _| off::read(path)),
        write: Some(|path, mesh, _| off::write(path, mesh, &Printed::default())),
        rows: Some(VertexRows {
            push: off::push_point,
            write: off::write,
        }),
        ..FACES
    },
    Format {
        name: "OBJ",
        extensions: &["obj"],
        keeps_segments: true,
        keeps_normals: true,
        keeps_colors: true,
        keeps_uvs: true,
        named_fields: &obj::NAMED,
        keeps_materials: true,
        lost_fields: obj::lost_fields,
        read: Some(|path, _| obj::read(path)),
        write: Some(|path, mesh, _| obj::write(path, mesh, &Printed::default())),
        rows: Some(VertexRows {
            push: obj::push_point,
            write: obj::write,
        }),
        ..FACES
    },
    Format {
        name: "PLY",
        extensions: &["ply"],
        keeps_regions: true,
        keeps_segments: true,
        keeps_normals: true,
        keeps_colors: true,
        keeps_alpha: true,
        keeps_uvs: true,
        keeps_textures: true,
        lost_fields: ply::lost_fields,
        renamed: ply::renamed,
        retyped: ply::retyped,
        encodings: &[Encoding::Binary, Encoding::BigEndian, Encoding::Text],
        read: Some(|path, _| ply::read(path)),
        write: Some(|path, mesh, options| ply::write(path, mesh, options.encoding())),
        ..FACES
    },
    Format {
        name: "STL",
        extensions: &["stl"],
        most_corners: 3,
        named_fields: &[stl::SOLID],
        encodings: &[Encoding::Binary, Encoding::Text],
        lost_fields: stl::lost_fields,
        rounding: Some(stl::rounding),
        read: Some(|path, _| stl::read(path)),
        write: Some(|path, mesh, options| stl::write(path, mesh, options.encoding())),
        ..FACES
    },
    Format {
        name: "Triangle",
        lost_fields: columns::lost_fields,
        extensions: &["node", "ele"],
        most_corners: 3,
        keeps_regions: true,
        keeps_segments: true,
        read: Some(|path, _| triangle::read(path)),
        write: Some(|path, mesh, _| triangle::write(path, mesh)),
        ..FACES
    },
    Format {
        name: "Triangle's .poly",
        lost_fields: columns::lost_fields,
        extensions: &["poly"],
        most_corners: 0,
        keeps_segments: true,
        read: Some(|path, _| outline::read(path)),
        write: Some(|path, mesh, _| outline::write(path, mesh)),
        ..FACES
    },
    Format {
        name: "VTU",
        extensions: &["vtu", "pvtu"],
        renamed: |mesh| renamed(&mesh.fields, vtu_out::plain_name),
        read: Some(volume::read_vtu_surface),
        encodings: vtu_out::ENCODINGS,
        write: Some(|path, mesh, options| vtu::write(path, mesh, options.encoding())),
        ..WITH_FIELDS
    },
    Format {
        name: "VTP",
        extensions: &["vtp", "pvtp"],
        renamed: |mesh| renamed(&mesh.fields, vtu_out::plain_name),
        read: Some(volume::read_vtu_surface),
        encodings: vtu_out::ENCODINGS,
        write: Some(|path, mesh, options| vtp::write(path, mesh, options.encoding())),
        ..WITH_FIELDS
    },
    Format {
        name: "VTK legacy",
        extensions: &["vtk"],
        read: Some(|path, _| volume::read_surface_by(path, volume::vtk::parse_grid)),
        write: Some(|path, mesh, options| {
            volume::vtk_write::write_surface(path, mesh, options.encoding())
        }),
        ..WITH_FIELDS
    },
    Format {
        name: "Gmsh",
        extensions: &["msh"],
        most_corners: 4,
        keeps_groups: true,
        lost_fields: volume::gmsh::lost_fields,
        renamed: |mesh| renamed(&mesh.fields, volume::gmsh::plain_name),
        retyped: |mesh| volume::gmsh::retyped(&without_sides(mesh)),
        encodings: BOTH,
        read: Some(|path, _| volume::read_surface_by(path, volume::gmsh::parse_grid)),
        write: Some(|path, mesh, options| {
            volume::write_surface_by(path, mesh, |mesh| volume::gmsh::write(path, mesh, options))
        }),
        ..TAGGED
    },
    by_cells!(
        "Medit",
        "mesh",
        volume::medit::parse_grid,
        volume::medit::write_text
    ),
    by_cells!(
        "Medit binary",
        "meshb",
        volume::medit::parse_grid,
        volume::medit::write_binary
    ),
    Format {
        name: "Abaqus",
        extensions: &["inp"],
        most_corners: 4,
        keeps_groups: true,
        read: Some(volume::read_abaqus_surface),
        write: Some(|path, mesh, _| {
            volume::write_surface_by(path, mesh, |mesh| volume::abaqus::write(path, mesh))
        }),
        ..TAGGED
    },
    Format {
        name: "XDMF",
        extensions: &["xdmf", "xmf"],
        read: Some(volume::read_xdmf_surface),
        write: Some(|path, mesh, _| volume::xdmf::write_surface(path, mesh)),
        ..TAGGED
    },
    Format {
        name: "glTF",
        extensions: &["gltf", "glb"],
        most_corners: 3,
        keeps_normals: true,
        keeps_colors: true,
        keeps_alpha: true,
        keeps_uvs: true,
        keeps_gltf_materials: true,
        named_fields: &[gltf::OBJECT, gltf::MATERIAL],
        lost_fields: gltf::lost_fields,
        retyped: gltf::named_files,
        rounding: Some(gltf::rounding),
        read: Some(gltf::read),
        write: Some(|path, mesh, _| gltf::write(path, mesh)),
        ..TAGGED
    },
    Format {
        name: "edges",
        extensions: &["edges"],
        most_corners: 3,
        read: Some(|path, _| edges::read_mesh(path).map(Loaded::from)),
        write: Some(|path, mesh, _| edges::write_mesh(path, mesh)),
        ..FACES
    },
    Format {
        name: "XYZ",
        extensions: &["xyz", "txt", "csv", "asc"],
        most_corners: 0,
        keeps_normals: true,
        keeps_colors: true,
        lost_fields: xyz::lost_fields,
        renamed: xyz::renamed,
        has_columns: true,
        read: Some(xyz::read),
        write: Some(|path, mesh, _| xyz::write(path, mesh)),
        ..FACES
    },
    Format {
        name: "PTS",
        extensions: &["pts"],
        most_corners: 0,
        has_columns: true,
        read: Some(xyz::read),
        ..FACES
    },
    Format {
        name: "PCD",
        extensions: &["pcd"],
        most_corners: 0,
        keeps_normals: true,
        keeps_colors: true,
        keeps_alpha: true,
        lost_fields: xyz::lost_fields,
        renamed: pcd::renamed,
        encodings: BOTH,
        read: Some(|path, _| pcd::read(path)),
        write: Some(|path, mesh, options| pcd::write(path, mesh, options.encoding())),
        ..FACES
    },
    Format {
        name: "LAS",
        extensions: &["las", "laz"],
        most_corners: 0,
        keeps_normals: true,
        keeps_colors: true,
        keeps_las: true,
        rounding: Some(|mesh, _| las::rounding(mesh)),
        lost_fields: las::lost_fields,
        renamed: las::renamed,
        retyped: las::retyped,
        read: Some(|path, _| las::read(path)),
        write: Some(|path, mesh, _| las::write(path, mesh)),
        ..FACES
    },
    Format {
        name: "ALE",
        extensions: &["ale"],
        write: Some(|path, mesh, _| ale::write(path, mesh)),
        ..FACES
    },
];
