//! The header of a PLY file: encoding, elements and their properties.

use std::collections::HashSet;
use trioxide_mesh::fields::NumberType;

use crate::fields::type_named;
use crate::text::{Fault, Line, Parsed, check_tag, check_vertex, lines, show, text_start};
pub(super) use crate::volume::bytes::Order;
use trioxide_mesh::mesh::Segment;

/// Encoding of the body.
#[derive(Clone, Copy, Debug)]
pub(super) enum Encoding {
    Text,
    Binary(Order),
}

/// The type of a name.
fn type_of(name: &[u8]) -> Option<NumberType> {
    type_named(|names| names.ply.iter().any(|other| other.as_bytes() == name))
}

/// One number or a counted list of them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Scalar(NumberType),
    List { count: NumberType, item: NumberType },
}

/// The role of a property.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Role {
    /// x, y or z.
    Coordinate(usize),
    /// x, y or z of a vertex's normal.
    Normal(usize),
    /// Red, green, blue or alpha of a vertex, or of a face, where it is a field.
    Color(usize),
    /// First or second texture coordinate of a vertex.
    Uv(usize),
    /// Vertices of a face.
    Corners,
    /// Texture coordinates of a face's corners.
    CornerUvs,
    /// Vertices of strips of triangles, each ended by -1.
    Strip,
    /// Region id of a face.
    Region,
    /// First or second vertex of a segment.
    End(usize),
    /// Marker of a segment.
    Marker,
    /// A number that is a field of its vertex or face.
    Field,
    /// Skipped.
    Skipped,
}

#[derive(Debug)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) role: Role,
}

#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) count: usize,
    pub(super) properties: Vec<Property>,
    /// Roles of its properties, each once, without [`Role::Skipped`]: a header may list any number of properties.
    roles: Vec<Role>,
}

impl Element {
    fn has(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }

    /// The role of a scalar property of this name.
    pub(super) fn meaning(element: &str, name: &str) -> Role {
        let element = Element {
            name: element.to_owned(),
            count: 0,
            properties: Vec::new(),
            roles: Vec::new(),
        };
        element.role_of(name.as_bytes(), Kind::Scalar(NumberType::U8))
    }

    /// Its rows in a text file: none if a row has no number.
    pub(super) fn rows(&self) -> usize {
        match self.properties.is_empty() {
            true => 0,
            false => self.count,
        }
    }

    /// Whether its rows are faces with texture coordinates of corners.
    pub(super) fn holds_uvs(&self) -> bool {
        self.has(Role::CornerUvs)
    }

    /// Whether its rows have red, green and blue.
    pub(super) fn holds_colors(&self) -> bool {
        (0..3).all(|channel| self.has(Role::Color(channel)))
    }

    /// Types of red, green, blue and alpha, as far as it has them.
    pub(super) fn color_kinds(&self) -> [Option<NumberType>; 4] {
        [0, 1, 2, 3].map(|channel| {
            let mut properties = self.properties.iter();
            let property = properties.find(|property| property.role == Role::Color(channel));
            property.and_then(|property| match property.kind {
                Kind::Scalar(kind) => Some(kind),
                Kind::List { .. } => None,
            })
        })
    }

    /// Whether its rows are strips of triangles.
    pub(super) fn holds_strips(&self) -> bool {
        self.has(Role::Strip)
    }

    /// Whether its rows are segments.
    pub(super) fn holds_segments(&self) -> bool {
        self.has(Role::End(0)) && self.has(Role::End(1))
    }

    /// The role of a property of this element.
    fn role_of(&self, name: &[u8], kind: Kind) -> Role {
        match (self.name.as_str(), name, kind) {
            ("vertex", b"x", Kind::Scalar(_)) => Role::Coordinate(0),
            ("vertex", b"y", Kind::Scalar(_)) => Role::Coordinate(1),
            ("vertex", b"z", Kind::Scalar(_)) => Role::Coordinate(2),
            ("vertex", b"nx", Kind::Scalar(_)) => Role::Normal(0),
            ("vertex", b"ny", Kind::Scalar(_)) => Role::Normal(1),
            ("vertex", b"nz", Kind::Scalar(_)) => Role::Normal(2),
            ("vertex", b"red" | b"r" | b"diffuse_red", Kind::Scalar(_)) => Role::Color(0),
            ("vertex", b"green" | b"g" | b"diffuse_green", Kind::Scalar(_)) => Role::Color(1),
            ("vertex", b"blue" | b"b" | b"diffuse_blue", Kind::Scalar(_)) => Role::Color(2),
            ("vertex", b"alpha" | b"a", Kind::Scalar(_)) => Role::Color(3),
            ("vertex", b"s" | b"u" | b"texture_u" | b"texture_s", Kind::Scalar(_)) => Role::Uv(0),
            ("vertex", b"t" | b"v" | b"texture_v" | b"texture_t", Kind::Scalar(_)) => Role::Uv(1),
            ("face", b"red", Kind::Scalar(_)) => Role::Color(0),
            ("face", b"green", Kind::Scalar(_)) => Role::Color(1),
            ("face", b"blue", Kind::Scalar(_)) => Role::Color(2),
            ("face", b"alpha", Kind::Scalar(_)) => Role::Color(3),
            ("face", b"vertex_indices" | b"vertex_index", Kind::List { .. }) => Role::Corners,
            ("face", b"texcoord", Kind::List { .. }) => Role::CornerUvs,
            ("tristrips", b"vertex_indices" | b"vertex_index", Kind::List { .. }) => Role::Strip,
            ("face", b"region", Kind::Scalar(scalar)) if !scalar.is_float() => Role::Region,
            ("edge", b"vertex1", Kind::Scalar(_)) => Role::End(0),
            ("edge", b"vertex2", Kind::Scalar(_)) => Role::End(1),
            ("edge", b"marker", Kind::Scalar(scalar)) if !scalar.is_float() => Role::Marker,
            _ => Role::Skipped,
        }
    }
}

#[derive(Debug)]
pub(super) struct Header {
    pub(super) encoding: Encoding,
    pub(super) elements: Vec<Element>,
    /// Segments given in comments.
    pub(super) segments: Vec<Segment>,
    /// Whether comments give segments of another mesh.
    pub(super) has_stale_segments: bool,
    /// Files of textures that comments name.
    pub(super) textures: Vec<String>,
    /// Offset of the body.
    pub(super) end: usize,
}

/// Segments as comments, which every program skips. An element `edge` with markers, or any element but `vertex` and
/// `face`, prevents some programs from reading the file (see [`super`]).
///
/// `comment segments 3 vertices 4 faces 2` announces three segments; `comment segment 0 1 7` gives two ends and a
/// marker. A program may keep comments and change the mesh: then the counts differ, and the segments are left out.
#[derive(Default)]
struct SegmentComments {
    /// Announced numbers of segments, vertices and faces.
    counts: Option<[usize; 3]>,
    /// Numbers of the comments `segment`, each with its offset.
    rows: Vec<(usize, [i64; 3])>,
}

impl SegmentComments {
    /// Reads the text after `comment` in a line. Other comments are skipped.
    fn read(&mut self, mut line: Line) {
        let offset = line.offset();
        match line.token() {
            Some(b"segments") => {
                let mut count = |name: &[u8]| {
                    let is_named = name.is_empty() || line.token() == Some(name);
                    line.count("").ok().filter(|_| is_named)
                };
                let counts = [count(b""), count(b"vertices"), count(b"faces")];
                if let [Some(segments), Some(vertices), Some(faces)] = counts
                    && line.is_finished()
                {
                    self.counts = Some([segments, vertices, faces]);
                }
            }
            Some(b"segment") if self.counts.is_some() => {
                let numbers: Result<Vec<i64>, _> = (0..3).map(|_| line.integer("")).collect();
                if let (Ok(numbers), true) = (numbers, line.is_finished())
                    && let Ok(row) = numbers.try_into()
                {
                    self.rows.push((offset, row));
                }
            }
            _ => {}
        }
    }

    /// The segments of a mesh with these numbers of vertices and faces. `None` if they belong to another mesh.
    fn finish(self, vertices: usize, faces: usize) -> Parsed<Option<Vec<Segment>>> {
        let Some(counts) = self.counts else {
            return Ok(Some(Vec::new()));
        };
        if counts != [self.rows.len(), vertices, faces] {
            return Ok(None);
        }
        let segment = |&(offset, [from, to, marker]): &(usize, [i64; 3])| {
            let fault = |reason| Fault::new(offset, reason);
            let end = |vertex| check_vertex(vertex, 0, vertices).map_err(fault);
            Ok(Segment {
                ends: [end(from)?, end(to)?],
                marker: check_tag(marker, "marker").map_err(fault)?,
            })
        };
        self.rows
            .iter()
            .map(segment)
            .collect::<Parsed<_>>()
            .map(Some)
    }
}

impl Header {
    /// Number of vertices that it announces.
    pub(super) fn vertices(&self) -> usize {
        self.element("vertex").map_or(0, |element| element.count)
    }

    /// Whether its vertices have normals, colours and texture coordinates.
    pub(super) fn attributes(&self) -> [bool; 3] {
        let has = |role| {
            self.element("vertex")
                .is_some_and(|vertex| vertex.has(role))
        };
        [
            (0..3).all(|axis| has(Role::Normal(axis))),
            self.element("vertex").is_some_and(Element::holds_colors),
            (0..2).all(|axis| has(Role::Uv(axis))),
        ]
    }

    pub(super) fn has_markers(&self) -> bool {
        self.element("edge")
            .is_some_and(|element| element.has(Role::Marker))
    }

    pub(super) fn has_regions(&self) -> bool {
        self.element("face")
            .is_some_and(|element| element.has(Role::Region))
    }

    pub(super) fn element(&self, name: &str) -> Option<&Element> {
        self.elements.iter().find(|element| element.name == name)
    }

    pub(super) fn parse(file: &[u8]) -> Parsed<Header> {
        let start = text_start(file);
        let mut all = lines(file, start..file.len(), false);
        if all.next().and_then(|mut line| line.token()) != Some(b"ply") {
            return Err(Fault::new(start, "expected ply on the first line"));
        }
        let mut encoding = None;
        let mut elements: Vec<Element> = Vec::new();
        let mut names = HashSet::new();
        let mut segments = SegmentComments::default();
        let mut textures = Vec::new();
        for mut line in all {
            let offset = line.offset();
            let fault = |reason: String| Fault::new(offset, reason);
            match line.token() {
                None | Some(b"obj_info") => {}
                Some(b"comment") => match line.clone().token() {
                    Some(b"TextureFile") => textures.extend(texture(line)),
                    _ => segments.read(line),
                },
                Some(b"format") => encoding = Some(parse_encoding(&mut line)?),
                Some(b"element") => {
                    let name = String::from_utf8_lossy(line.token().unwrap_or_default());
                    let name = name.into_owned();
                    if !names.insert(name.clone()) {
                        return Err(fault(format!("there is a second element {name}")));
                    }
                    elements.push(Element {
                        count: line.count("the number of elements")?,
                        name,
                        properties: Vec::new(),
                        roles: Vec::new(),
                    });
                }
                Some(b"property") => {
                    let Some(element) = elements.last_mut() else {
                        return Err(fault("a property stands before any element".to_owned()));
                    };
                    let mut property = parse_property(element, &mut line)?;
                    if element.has(property.role) {
                        match property.role {
                            Role::Skipped => {}
                            // Some programs write a property twice, under two names: the first counts.
                            Role::Color(_) | Role::Uv(_) => property.role = Role::Skipped,
                            _ => {
                                return Err(fault(format!("there is a second {}", property.name)));
                            }
                        }
                    }
                    if property.role != Role::Skipped {
                        element.roles.push(property.role);
                    }
                    element.properties.push(property);
                }
                Some(b"end_header") => {
                    let encoding = encoding
                        .ok_or_else(|| fault("the header has no format line".to_owned()))?;
                    let length = memchr::memchr(b'\n', &file[offset..]);
                    let mut header = Header {
                        encoding,
                        elements,
                        segments: Vec::new(),
                        has_stale_segments: false,
                        textures,
                        end: length.map_or(file.len(), |length| offset + length + 1),
                    };
                    header.check().map_err(fault)?;
                    header.mark_fields();
                    let faces = header.element("face").map_or(0, |element| element.count);
                    match segments.finish(header.vertices(), faces)? {
                        Some(segments) => header.segments = segments,
                        None => header.has_stale_segments = true,
                    }
                    return Ok(header);
                }
                Some(token) => {
                    return Err(fault(format!(
                        "expected element, property or end_header, found `{}`",
                        show(token)
                    )));
                }
            }
        }
        Err(Fault::new(file.len(), "the header has no end_header line"))
    }

    /// Makes fields of the numbers of vertices and faces without a role, including incomplete normals and colours.
    fn mark_fields(&mut self) {
        let [has_normals, has_colors, has_uvs] = self.attributes();
        for element in &mut self.elements {
            if !matches!(element.name.as_str(), "vertex" | "face") {
                continue;
            }
            for property in &mut element.properties {
                let is_used = match property.role {
                    Role::Normal(_) => has_normals,
                    Role::Color(_) => has_colors && element.name == "vertex",
                    Role::Uv(_) => has_uvs,
                    Role::Skipped => false,
                    _ => true,
                };
                if !is_used && matches!(property.kind, Kind::Scalar(_)) {
                    property.role = Role::Field;
                }
            }
        }
    }

    /// Checks that the header announces a mesh.
    fn check(&self) -> Result<(), String> {
        let Some(vertex) = self.element("vertex") else {
            return Err("the header announces no element vertex".to_owned());
        };
        if !vertex.has(Role::Coordinate(0)) || !vertex.has(Role::Coordinate(1)) {
            return Err("the element vertex has no property x or no property y".to_owned());
        }
        match self.element("face") {
            Some(face) if face.count > 0 && !face.has(Role::Corners) => {
                Err("the element face has no list vertex_indices or vertex_index".to_owned())
            }
            _ => Ok(()),
        }
    }
}

/// Returns the name of a file in a comment on a texture.
fn texture(mut line: Line) -> Option<String> {
    line.token();
    let name = String::from_utf8_lossy(line.rest().1.trim_ascii()).into_owned();
    (!name.is_empty()).then_some(name)
}

fn parse_encoding(line: &mut Line) -> Parsed<Encoding> {
    let before = line.clone();
    match line.token() {
        Some(b"ascii") => Ok(Encoding::Text),
        Some(b"binary_little_endian") => Ok(Encoding::Binary(Order::Little)),
        Some(b"binary_big_endian") => Ok(Encoding::Binary(Order::Big)),
        _ => Err(before
            .clone()
            .unexpected("ascii, binary_little_endian or binary_big_endian")),
    }
}

fn parse_property(element: &Element, line: &mut Line) -> Parsed<Property> {
    let scalar = |line: &mut Line| {
        let mut before = line.clone();
        line.token()
            .and_then(type_of)
            .ok_or_else(|| before.unexpected("a type such as float or uchar"))
    };
    let kind = match line.clone().token() {
        Some(b"list") => {
            line.token();
            Kind::List {
                count: scalar(line)?,
                item: scalar(line)?,
            }
        }
        _ => Kind::Scalar(scalar(line)?),
    };
    let mut before = line.clone();
    let name = line
        .token()
        .ok_or_else(|| before.unexpected("the property's name"))?;
    Ok(Property {
        name: String::from_utf8_lossy(name).into_owned(),
        kind,
        role: element.role_of(name, kind),
    })
}
