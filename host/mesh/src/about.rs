//! Data on a mesh as a whole, which no vertex, face or segment carries.
//!
//! Operations hand it on unchanged, whatever they do with the elements; writers take from it what their format holds.

use std::collections::BTreeMap;

/// Data on a mesh as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// The unit in which the file stores its coordinates.
    pub unit: Option<Unit>,
    /// Names of the values of integer fields of faces, by the field's name: value `i` of `material` is called
    /// `names["material"][i]`.
    pub names: BTreeMap<String, Vec<String>>,
    /// Names of groups: of the segments with a marker (dimension 1), of the faces of a region or with a tag (2), and of
    /// the cells of a region (3).
    pub groups: GroupNames,
    /// Files that define the materials, as a mesh file names them (OBJ's `mtllib`).
    pub material_libraries: Vec<String>,
    /// Files with textures, as a mesh file names them (PLY's `TextureFile`).
    pub textures: Vec<String>,
    /// Header and records of a LAS file.
    pub las: Option<Las>,
    /// Materials of a glTF file, which its writer keeps.
    pub gltf_materials: Option<GltfMaterials>,
}

/// Materials as glTF defines them. The value `i` of the face field `material` means the material `i`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GltfMaterials {
    /// A JSON object with the arrays `materials`, `textures`, `samplers`, `images`, `extensionsUsed` and
    /// `extensionsRequired`. The `bufferView` of an image is its index in [`GltfMaterials::images`].
    pub json: String,
    /// Bytes of the images that lie in the file itself.
    pub images: Vec<Vec<u8>>,
}

/// Names of groups, by their dimension and number.
pub type GroupNames = BTreeMap<(usize, i32), String>;

impl About {
    /// Groups' dimensions in words.
    pub const DIMENSIONS: [&str; 4] = ["point", "curve", "surface", "volume"];

    /// Data that names groups, and nothing else.
    pub fn of_groups(groups: GroupNames) -> About {
        About {
            groups,
            ..About::default()
        }
    }
}

/// The unit of coordinates that are whole numbers in a file: `offset + scale * number` on each axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Size of a step on each axis.
    pub scale: [f64; 3],
    /// Coordinate of the number 0 on each axis.
    pub offset: [f64; 3],
}

/// Data of a LAS file as a whole, beside its unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Las {
    /// Number of the file's source, for example of a flight line; 0 for none.
    pub source: u16,
    /// The header's global encoding: bit 0 is the type of GPS times, bit 3 is set for synthetic return numbers, and bit
    /// 4 for a coordinate system as WKT.
    pub encoding: u16,
    /// The project's identifier.
    pub project: [u8; 16],
    /// The system that made the points; unused bytes are 0.
    pub system: [u8; 32],
    /// Day of the year and year on which the file was made; 0 if unknown.
    pub date: [u16; 2],
    /// Variable length records, in their order.
    pub records: Vec<LasRecord>,
}

/// A variable length record of a LAS file.
#[derive(Clone, Debug, PartialEq)]
pub struct LasRecord {
    /// The definer of its content, for example `LASF_Projection`.
    pub user: String,
    /// Number of the definition.
    pub id: u16,
    /// A description for people.
    pub description: String,
    /// Its content.
    pub data: Vec<u8>,
    /// Whether it is after the points and may be longer than 65,535 bytes.
    pub is_extended: bool,
}

impl LasRecord {
    /// Whether it is part of the coordinate system.
    pub fn is_coordinate_system(&self) -> bool {
        self.user == "LASF_Projection"
    }
}
