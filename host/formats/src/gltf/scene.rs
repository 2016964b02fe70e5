//! The meshes of a scene as one mesh.

use std::collections::{BTreeSet, HashMap};
use std::ops::{Range, RangeInclusive};

use glam::{DMat3, DMat4, DQuat, DVec2, DVec3, DVec4};
use serde_json::Value;

use super::accessors::{Accessors, Numbers};
use super::columns::{Column, FieldColumn, Runs};
use super::{Read, array, index};
use crate::colors::Channels;
use crate::volume::vtk_cells::split_strip;
use trioxide_mesh::mesh::Segment;

pub(super) struct Scene<'a> {
    pub(super) accessors: &'a Accessors<'a>,
    pub(super) points: Vec<DVec3>,
    pub(super) normals: Column<DVec3>,
    pub(super) colors: Column<Channels>,
    pub(super) uvs: Column<DVec2>,
    pub(super) fields: Vec<FieldColumn>,
    pub(super) triangles: Vec<[u32; 3]>,
    pub(super) segments: Vec<Segment>,
    pub(super) of_faces: Runs,
    pub(super) of_segments: Runs,
    /// Names of the nodes that have a mesh.
    pub(super) objects: Vec<String>,
    /// Vertices of parts by their attributes and their node's placement: parts of one surface share them.
    shared: HashMap<(String, [u64; 16]), Range<usize>>,
    /// Kinds of data that are left out.
    pub(super) left_out: BTreeSet<String>,
}

impl<'a> Scene<'a> {
    pub(super) fn new(accessors: &'a Accessors<'a>) -> Scene<'a> {
        Scene {
            accessors,
            points: Vec::new(),
            normals: Column::default(),
            colors: Column::default(),
            uvs: Column::default(),
            fields: Vec::new(),
            triangles: Vec::new(),
            segments: Vec::new(),
            of_faces: Runs::default(),
            of_segments: Runs::default(),
            objects: Vec::new(),
            shared: HashMap::new(),
            left_out: BTreeSet::new(),
        }
    }

    /// Reads the meshes of all nodes of the scene.
    pub(super) fn visit(&mut self) -> Read<()> {
        let document = self.accessors.document;
        let nodes = array(&document["nodes"]);
        let scene = index(&document["scene"]).unwrap_or(0);
        let roots: Vec<usize> = match array(&document["scenes"]).get(scene) {
            Some(scene) => array(&scene["nodes"]).iter().filter_map(index).collect(),
            // Without a scene, every node that is no child is a root.
            None => {
                let children = nodes.iter().flat_map(|node| array(&node["children"]));
                let children: std::collections::HashSet<_> = children.filter_map(index).collect();
                let is_root = |i: &usize| !children.contains(i);
                (0..nodes.len()).filter(is_root).collect()
            }
        };
        let roots = roots.into_iter().rev();
        let mut open: Vec<_> = roots.map(|node| (node, DMat4::IDENTITY)).collect();
        let mut seen = vec![false; nodes.len()];
        while let Some((i, parent)) = open.pop() {
            let node = nodes
                .get(i)
                .ok_or_else(|| format!("there is no node {i}"))?;
            if std::mem::replace(&mut seen[i], true) {
                return Err(format!("node {i} is in the scene twice"));
            }
            let matrix = parent * local_matrix(node);
            if let Some(mesh) = index(&node["mesh"]) {
                let mesh = array(&document["meshes"])
                    .get(mesh)
                    .ok_or_else(|| format!("there is no mesh {mesh}"))?;
                let name = node["name"].as_str().or(mesh["name"].as_str());
                self.objects.push(name.unwrap_or_default().to_owned());
                for primitive in array(&mesh["primitives"]) {
                    self.push(primitive, matrix)?;
                }
            }
            let children = array(&node["children"]).iter().filter_map(index).rev();
            open.extend(children.map(|child| (child, matrix)));
        }
        Ok(())
    }

    fn push(&mut self, primitive: &Value, matrix: DMat4) -> Read<()> {
        let draco = "KHR_draco_mesh_compression";
        if primitive["extensions"].get(draco).is_some() {
            let reason =
                "the geometry is compressed by Draco, which is not read: write it uncompressed";
            return Err(reason.to_owned());
        }
        if !array(&primitive["targets"]).is_empty() {
            self.left_out.insert("morph targets".to_owned());
        }
        let attributes = &primitive["attributes"];
        let Some(positions) = index(&attributes["POSITION"]) else {
            // Morph targets or an extension give them.
            return Ok(());
        };
        let key = (
            attributes.to_string(),
            matrix.to_cols_array().map(f64::to_bits),
        );
        let vertices = match self.shared.get(&key) {
            Some(vertices) => {
                let vertices = vertices.clone();
                let copies = &self.accessors.copies;
                copies.count(vertices.len(), vertices.len())?;
                vertices
            }
            None => {
                let vertices = self.push_vertices(attributes, positions, matrix)?;
                self.shared.insert(key, vertices.clone());
                vertices
            }
        };
        let corners = self.corners(primitive, vertices.len())?;
        // A mirroring matrix reverses the triangles.
        let is_mirrored = DMat3::from_mat4(matrix).determinant() < 0.0;
        self.push_elements(primitive, &corners, vertices.start as u32, is_mirrored)
    }

    /// Adds the vertices of a part, placed by the matrix.
    fn push_vertices(
        &mut self,
        attributes: &Value,
        positions: usize,
        matrix: DMat4,
    ) -> Read<Range<usize>> {
        let accessors = self.accessors;
        let points = accessors.numbers(positions, 3..=3)?;
        let first = self.points.len();
        let count = points.values.len() / 3;
        if first + count >= u32::MAX as usize {
            return Err(format!(
                "{} vertices are more than 32-bit indices can name",
                first + count
            ));
        }
        let vertices = first..first + count;
        let optional = |name: &str, widths: RangeInclusive<usize>| -> Read<Option<Numbers>> {
            let Some(accessor) = index(&attributes[name]) else {
                return Ok(None);
            };
            let numbers = accessors.numbers(accessor, widths)?;
            match numbers.values.len() == count * numbers.width {
                true => Ok(Some(numbers)),
                false => Err(format!("{name} has not {count} elements")),
            }
        };
        let placed = |p: &[f64]| matrix.transform_point3(DVec3::new(p[0], p[1], p[2]));
        self.points
            .extend(points.values.chunks_exact(3).map(placed));
        // Perpendicular to the surface after any linear map.
        let linear = DMat3::from_mat4(matrix);
        let turned = linear.inverse().transpose();
        let turn = |n: &[f64]| (turned * DVec3::new(n[0], n[1], n[2])).normalize_or_zero();
        let is_identity = linear == DMat3::IDENTITY;
        let normals = optional("NORMAL", 3..=3)?.filter(|_| linear.determinant() != 0.0);
        let normals = normals.map(|normals| {
            let rows = normals.values.chunks_exact(3);
            match is_identity {
                true => rows.map(DVec3::from_slice).collect(),
                false => rows.map(turn).collect(),
            }
        });
        self.normals.push(vertices.clone(), normals, DVec3::ZERO);
        let colors = optional("COLOR_0", 3..=4)?.map(|colors| {
            let channels = |color: &[f64]| {
                let mut channels = [0.0; 4];
                let all = channels.iter_mut().zip(color);
                all.for_each(|(channel, &x)| *channel = x as f32);
                (channels, color.len() as u8)
            };
            colors
                .values
                .chunks_exact(colors.width)
                .map(channels)
                .collect()
        });
        self.colors.push(vertices.clone(), colors, ([0.0; 4], 0));
        // The image's first row is at v = 0 in glTF, and at v = 1 in other formats.
        let uvs = optional("TEXCOORD_0", 2..=2)?;
        let uv = |uv: &[f64]| DVec2::new(uv[0], 1.0 - uv[1]);
        let uvs = uvs.map(|uvs| uvs.values.chunks_exact(2).map(uv).collect());
        self.uvs.push(vertices.clone(), uvs, DVec2::ZERO);
        // In the order of the data: that of an object's names has no meaning.
        let mut names: Vec<&String> = (attributes.as_object().into_iter())
            .flat_map(|all| all.keys())
            .collect();
        names.sort_by_key(|name| index(&attributes[&***name]));
        for name in names {
            if matches!(&**name, "POSITION" | "NORMAL" | "COLOR_0" | "TEXCOORD_0") {
                continue;
            }
            let is_kept = ["_", "TEXCOORD_", "COLOR_"].iter();
            if !is_kept.clone().any(|prefix| name.starts_with(prefix)) {
                self.left_out.insert(name.clone());
                continue;
            }
            let Some(numbers) = optional(name, 1..=4)? else {
                continue;
            };
            match self.fields.iter_mut().find(|column| column.name == *name) {
                None => self.fields.push(FieldColumn::new(name, first, numbers)),
                Some(column) => {
                    if !column.push(first, numbers) {
                        self.left_out.insert(format!("{name} of another width"));
                    }
                }
            }
        }
        Ok(vertices)
    }

    /// Returns the vertices of a primitive in the order of its indices, or 0, 1, 2, … without indices.
    fn corners(&self, primitive: &Value, count: usize) -> Read<Vec<u32>> {
        let Some(accessor) = index(&primitive["indices"]) else {
            return Ok((0..count as u32).collect());
        };
        let numbers = self.accessors.numbers(accessor, 1..=1)?.values.into_iter();
        let corners = numbers.map(|corner| match corner >= 0.0 && corner < count as f64 {
            true => Ok(corner as u32),
            false => Err(format!(
                "vertex {corner} does not exist: {count} vertices are numbered from 0"
            )),
        });
        corners.collect()
    }

    fn push_elements(
        &mut self,
        primitive: &Value,
        corners: &[u32],
        first: u32,
        is_mirrored: bool,
    ) -> Read<()> {
        let (faces, segments) = (self.triangles.len(), self.segments.len());
        let extra = |name: &str| {
            let number = primitive["extras"][name].as_i64();
            number.and_then(|number| i32::try_from(number).ok())
        };
        let marker = extra("marker").unwrap_or(0);
        let mut add = |corners: &[u32]| {
            let triangles = corners.as_chunks::<3>().0;
            self.triangles.extend(triangles.iter().map(|&[a, b, c]| {
                let [b, c] = if is_mirrored { [c, b] } else { [b, c] };
                [a, b, c].map(|corner| first + corner)
            }));
        };
        let lines: Vec<[u32; 2]> = match primitive.get("mode").map_or(Some(4), |mode| mode.as_u64())
        {
            Some(0) => Vec::new(),
            Some(1) => corners.as_chunks().0.to_vec(),
            Some(mode @ (2 | 3)) => {
                let mut lines: Vec<_> = corners.windows(2).map(|pair| [pair[0], pair[1]]).collect();
                if let (2, [start, .., end]) = (mode, corners) {
                    lines.push([*end, *start]);
                }
                lines
            }
            Some(4) if !corners.len().is_multiple_of(3) => {
                return Err(format!("{} corners are no triangles", corners.len()));
            }
            Some(4) => {
                add(corners);
                Vec::new()
            }
            Some(5) => {
                let mut triangles = Vec::new();
                split_strip(corners, &mut triangles);
                add(&triangles);
                Vec::new()
            }
            Some(6) => {
                let ring = corners.get(1..).unwrap_or_default();
                let fan = ring
                    .windows(2)
                    .flat_map(|pair| [corners[0], pair[0], pair[1]]);
                add(&fan.collect::<Vec<u32>>());
                Vec::new()
            }
            mode => return Err(format!("there is no mode {mode:?} of primitives")),
        };
        self.segments.extend(lines.into_iter().map(|ends| Segment {
            ends: ends.map(|end| first + end),
            marker,
        }));
        let count = array(&self.accessors.document["materials"]).len();
        let material = index(&primitive["material"]);
        if material.is_some_and(|material| material >= count) {
            self.left_out
                .insert("materials that do not exist".to_owned());
        }
        let object = self.objects.len() as i32 - 1;
        let material = material.filter(|material| *material < count);
        let tags = [
            Some(object),
            material.map(|material| material as i32),
            extra("region"),
        ];
        self.of_faces
            .runs
            .push((self.triangles.len() - faces, tags));
        self.of_segments
            .runs
            .push((self.segments.len() - segments, tags));
        Ok(())
    }
}

/// Returns the placement of a node's children.
fn local_matrix(node: &Value) -> DMat4 {
    let numbers = |name: &str| -> Vec<f64> {
        let all = array(&node[name]).iter();
        all.filter_map(Value::as_f64).collect()
    };
    if let Ok(matrix) = <[f64; 16]>::try_from(numbers("matrix")) {
        return DMat4::from_cols_array(&matrix);
    }
    let vector =
        |name, default| <[f64; 3]>::try_from(numbers(name)).map_or(default, DVec3::from_array);
    let rotation = <[f64; 4]>::try_from(numbers("rotation"));
    let rotation = rotation.map_or(DVec4::W, DVec4::from_array);
    DMat4::from_scale_rotation_translation(
        vector("scale", DVec3::ONE),
        DQuat::from_vec4(rotation),
        vector("translation", DVec3::ZERO),
    )
}
