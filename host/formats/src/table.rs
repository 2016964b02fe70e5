//! The table of formats of surfaces, planar meshes and clouds.

use trioxide_mesh::fields::{Fields, MeshFields};
use trioxide_mesh::mesh::Mesh;

use super::fields::{Joined, RESERVED, renamed};
use super::printed::{Printed, VertexRows};
use super::{
    Encoding, Format, Loaded, ale, edges, gltf, las, names, obj, obj_groups, off, outline, pcd,
    ply, stl, triangle, volume, vtp, vtu, vtu_out, xyz,
};

/// Faces, without anything else.
const FACES: Format = Format {
    name: "",
    extensions: &[],
    keeps_faces: true,
    keeps_regions: false,
    keeps_segments: false,
    keeps_normals: false,
    keeps_colors: false,
    keeps_alpha: false,
    keeps_uvs: false,
    lost_fields: |mesh| names(mesh.fields.names()),
    renamed: |_| Vec::new(),
    retyped: |_| Vec::new(),
    encodings: &[],
    rounding: None,
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
            read: Some(|path, _| volume::read_surface_by(path, $parse)),
            write: Some(|path, mesh, _| {
                volume::write_surface_by(path, mesh, |mesh| $write(path, mesh))
            }),
            ..TAGGED
        }
    };
}

/// Every format.
pub(super) static FORMATS: [Format; 20] = [
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
        keeps_normals: true,
        keeps_colors: true,
        keeps_uvs: true,
        lost_fields: obj_groups::lost_fields,
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
        encodings: &[Encoding::Binary, Encoding::Text],
        rounding: Some(stl::rounding),
        read: Some(|path, _| stl::read(path)),
        write: Some(|path, mesh, options| stl::write(path, mesh, options.encoding())),
        ..FACES
    },
    Format {
        name: "Triangle",
        extensions: &["node", "ele"],
        keeps_regions: true,
        keeps_segments: true,
        read: Some(|path, _| triangle::read(path)),
        write: Some(|path, mesh, _| triangle::write(path, mesh)),
        ..FACES
    },
    Format {
        name: "Triangle's .poly",
        extensions: &["poly"],
        keeps_faces: false,
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
        keeps_segments: true,
        keeps_normals: true,
        keeps_colors: true,
        keeps_alpha: true,
        keeps_uvs: true,
        read: Some(gltf::read),
        ..FACES
    },
    Format {
        name: "edges",
        extensions: &["edges"],
        read: Some(|path, _| edges::read_mesh(path).map(Loaded::from)),
        write: Some(|path, mesh, _| edges::write_mesh(path, mesh)),
        ..FACES
    },
    Format {
        name: "XYZ",
        extensions: &["xyz"],
        keeps_faces: false,
        keeps_normals: true,
        keeps_colors: true,
        read: Some(|path, _| xyz::read(path)),
        write: Some(|path, mesh, _| xyz::write(path, mesh)),
        ..FACES
    },
    Format {
        name: "PCD",
        extensions: &["pcd"],
        keeps_faces: false,
        keeps_normals: true,
        keeps_colors: true,
        keeps_alpha: true,
        encodings: BOTH,
        read: Some(|path, _| pcd::read(path)),
        write: Some(|path, mesh, options| pcd::write(path, mesh, options.encoding())),
        ..FACES
    },
    Format {
        name: "LAS",
        extensions: &["las", "laz"],
        keeps_faces: false,
        keeps_colors: true,
        rounding: Some(|mesh, _| las::rounding(mesh)),
        lost_fields: las::lost_fields,
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
