use glam::{DVec3, dvec3};

use super::*;
use trioxide::{Device, generate};
use trioxide_mesh::mesh::{Faces, Polygons, Segment};

mod exact;
mod fields;
mod views;

fn draw(mesh: &Mesh, options: &Options) -> (u32, u32, Vec<[u8; 3]>) {
    let file = render(mesh, options, Format::Png).unwrap();
    let mut reader = ::png::Decoder::new(std::io::Cursor::new(file))
        .read_info()
        .unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut bytes).unwrap();
    assert_eq!(frame.color_type, ::png::ColorType::Rgb);
    let pixels = bytes.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect();
    (frame.width, frame.height, pixels)
}

fn draw_svg(mesh: &Mesh, options: &Options) -> String {
    String::from_utf8(render(mesh, options, Format::Svg).unwrap()).unwrap()
}

fn width(width: u32) -> Options {
    Options {
        width: Some(width),
        ..Options::default()
    }
}

/// Two triangles over a pentagon, 2 wide and 4 high.
fn house() -> Mesh {
    let points = [
        (0.0, 0.0),
        (2.0, 0.0),
        (2.0, 2.0),
        (1.0, 2.0),
        (0.0, 2.0),
        (1.0, 4.0),
        (9.0, 9.0),
    ];
    let mut polygons = Polygons::default();
    polygons.push(&[0, 1, 2, 3, 4]);
    polygons.push(&[4, 3, 5]);
    polygons.push(&[3, 2, 5]);
    Mesh {
        points: points.map(|(x, y)| dvec3(x, y, 7.0)).to_vec(),
        faces: Faces::Polygons(polygons),
        ..Mesh::default()
    }
}

#[test]
fn pictures_keep_the_aspect_and_leave_out_unused_points() {
    // The margin is 2 % of the longer side, so the box is 96 % of it.
    let (width_, height, _) = draw(&house(), &Options::default());
    assert_eq!((width_, height), (832, 1600));
    let (width_, height, _) = draw(&house(), &width(416));
    assert_eq!((width_, height), (416, 800));
    let window = Options {
        window: Some([0.0, 0.0, 2.0, 1.0]),
        ..width(60)
    };
    assert_eq!(draw(&house(), &window).1, 30);
}

#[test]
fn faces_have_their_colours_and_y_is_up() {
    let options = Options {
        color: Color::Size,
        edges: Edges::Never,
        ..width(208)
    };
    let (width, height, pixels) = draw(&house(), &options);
    let (classes, ramp) = ([2, 0, 0], color::ramp(painted::SIZES));
    // 96 pixels a unit, the middle of the picture is (1, 2).
    let at = |x: f64, y: f64| {
        let column = f64::from(width) / 2.0 + (x - 1.0) * 96.0;
        let row = f64::from(height) / 2.0 - (y - 2.0) * 96.0;
        pixels[row as usize * width as usize + column as usize]
    };
    assert_eq!(at(0.5, 0.5), ramp[classes[0]]);
    assert_eq!(at(0.7, 2.5), ramp[classes[1]]);
    assert_eq!(at(1.3, 2.5), ramp[classes[2]]);
    assert_eq!(at(0.1, 3.5), color::BACKGROUND);
    assert_eq!(pixels[0], color::BACKGROUND);
    // The boundary is drawn, an inner edge is not.
    assert_ne!(at(0.0, 1.0), color::BACKGROUND);
    assert_ne!(at(0.0, 1.0), ramp[2]);
    assert_eq!(at(1.0, 3.0), ramp[0]);
    let edges = Options {
        edges: Edges::Always,
        ..options
    };
    let (_, _, pixels) = draw(&house(), &edges);
    let inner_edge = pixels[(height / 2 - 96) as usize * width as usize + width as usize / 2];
    assert!(inner_edge[0] < 150, "{inner_edge:?}");
}

/// The triangulation of random points.
fn random(n: usize, seed: u64) -> Mesh {
    let on = Device::cpu(None).unwrap();
    generate::random(&on, n, seed).unwrap().into()
}

#[test]
fn faces_leave_no_seam() {
    // All triangles have one colour, so the inside of the picture must have it, too.
    let mesh = random(900, 1);
    let options = Options {
        color: Color::Size,
        edges: Edges::Never,
        ..width(300)
    };
    let (width, height, pixels) = draw(&mesh, &options);
    let ramp = color::ramp(painted::SIZES);
    for row in 10..height - 10 {
        for column in 10..width - 10 {
            let pixel = pixels[(row * width + column) as usize];
            assert_eq!(pixel, ramp[0], "({column}, {row})");
        }
    }
}

#[test]
fn bands_and_sides_leave_no_trace() {
    // Moving the picture by ten pixels moves the mesh relative to bands and sides: the pixels must stay the same.
    // Vertices lie on sixteenths of pixels, exact in f32. Clipped points are rounded, which may change a sample.
    let mut mesh = random(500, 1);
    for point in &mut mesh.points {
        *point = (*point * 4096.0).round() / 4096.0;
    }
    for edges in [Edges::Always, Edges::Never] {
        let drawn_from = |from: f64| {
            let options = Options {
                edges,
                window: Some([from, from, from + 0.5, from + 0.5]),
                ..width(256)
            };
            draw(&mesh, &options).2
        };
        let (picture, moved) = (drawn_from(0.25), drawn_from(0.25 + 10.0 / 512.0));
        for row in 0..246 {
            for column in 10..256 {
                let pixel = picture[row * 256 + column];
                let same = moved[(row + 10) * 256 + column - 10];
                for (a, b) in pixel.into_iter().zip(same) {
                    assert!(a.abs_diff(b) < 16, "({column}, {row}): {pixel:?}, {same:?}");
                }
            }
        }
    }
}

#[test]
fn neighbours_have_different_colours() {
    for mesh in [
        house(),
        random(5000, 1),
        generate::grid(10_000).unwrap().into(),
    ] {
        let count = mesh.faces.len();
        let edges = trioxide_mesh::edges::FaceEdges::of(&mesh.faces);
        let neighbors = neighbors::Neighbors::new(&mesh, &edges);
        let mut distinct = color::Distinct::new(neighbors);
        let classes = distinct.find();
        let classes = distinct.of_faces(&classes);
        assert_eq!(classes.len(), count);
        for edge in trioxide_mesh::edges::edge_faces(&mesh.faces) {
            let [left, right] = edge.faces;
            if right != trioxide_mesh::mesh::NONE {
                assert_ne!(classes[left as usize], classes[right as usize]);
            }
        }
        if count > 100 {
            for class in 0..color::QUALITATIVE.len() as u8 {
                let share = classes.iter().filter(|&&c| c == class).count() as f64 / count as f64;
                assert!(share > 0.05, "colour {class} has a share of {share}");
            }
        }
    }
}

#[test]
fn areas_and_regions_have_colours() {
    let mut mesh = house();
    mesh.regions = Some(vec![-5, 12, 12]);
    let by = |color| {
        let options = Options {
            color,
            ..Options::default()
        };
        let painted = Painted::of_mesh(&mesh, &options, None)?;
        Scene::planar(&mesh, &options, painted.as_ref(), |_| ())
            .map(|(scene, _)| (scene.classes, scene.inner_edges, scene.outer_edges))
    };
    let (classes, inner, outer) = by(Color::Region).unwrap();
    assert_eq!(classes, [0, 1, 1]);
    assert_eq!(inner, [[3, 5]]);
    assert_eq!(outer.len(), 7);
    let (classes, ..) = by(Color::Area).unwrap();
    assert_eq!(classes, [251, 0, 0]);
    let (classes, ..) = by(Color::None).unwrap();
    assert_eq!(classes, [0, 0, 0]);
    let by_values = |values: &[f64]| {
        let options = Options::default();
        let painted = Painted::of_mesh(&mesh, &options, Some(values))?;
        Scene::planar(&mesh, &options, painted.as_ref(), |_| ()).map(|(scene, _)| scene.classes)
    };
    assert_eq!(by_values(&[-3.0, 1.0, f64::NAN]).unwrap(), [0, 251, 252]);
    assert!(by_values(&[1.0; 2]).is_err() && by_values(&[f64::NAN; 3]).is_err());
    mesh.regions = None;
    let options = Options {
        color: Color::Region,
        ..Options::default()
    };
    let error = render(&mesh, &options, Format::Svg)
        .unwrap_err()
        .to_string();
    assert!(error.contains("no regions"), "{error}");
}

#[test]
fn segments_are_red() {
    let mut mesh = house();
    let options = Options {
        edges: Edges::Always,
        ..width(208)
    };
    let is_red = |[r, g, b]: [u8; 3]| r > 150 && g < 60 && b < 80;
    let count = |mesh: &Mesh| {
        let (_, _, pixels) = draw(mesh, &options);
        pixels.into_iter().filter(|&pixel| is_red(pixel)).count()
    };
    assert_eq!(count(&mesh), 0);
    assert!(!draw_svg(&mesh, &options).contains("#b02030"));
    mesh.segments = vec![Segment {
        ends: [5, 3],
        marker: 1,
    }];
    // The edge between both triangles, 192 pixels high.
    let (width, height, pixels) = draw(&mesh, &options);
    assert!(is_red(
        pixels[((height / 2 - 96) * width + width / 2) as usize]
    ));
    assert!((192..1000).contains(&count(&mesh)), "{}", count(&mesh));
    let svg = draw_svg(&mesh, &options);
    let line = "stroke=\"#b02030\"";
    assert_eq!(svg.matches(line).count(), 1, "{svg}");
    mesh.segments[0].ends[1] = 7;
    let error = render(&mesh, &options, Format::Png)
        .unwrap_err()
        .to_string();
    assert!(error.contains("segment 0 names a vertex"), "{error}");
}

#[test]
fn svg_holds_every_face_and_is_well_formed() {
    let mesh = random(2000, 3);
    for edges in [Edges::Always, Edges::Never] {
        let svg = draw_svg(
            &mesh,
            &Options {
                edges,
                ..Options::default()
            },
        );
        let document = roxmltree::Document::parse(&svg).unwrap();
        assert_eq!(
            document.root_element().attribute("viewBox"),
            Some("0 0 16000 16000")
        );
        let paths: Vec<&str> = document
            .descendants()
            .filter_map(|node| node.attribute("d"))
            .collect();
        // Background, colours, boundary.
        assert_eq!(paths.len(), 1 + color::QUALITATIVE.len() + 1);
        let faces: usize = paths[1..9]
            .iter()
            .map(|path| path.matches('M').count())
            .sum();
        assert_eq!(faces, mesh.faces.len());
        for path in paths {
            let known = |c: char| c.is_ascii_digit() || "MHVlz -".contains(c);
            assert!(path.chars().all(known) && path.ends_with('z') && !path.contains("lz"));
        }
    }
    let svg = draw_svg(
        &house(),
        &Options {
            color: Color::Size,
            ..Options::default()
        },
    );
    // The pentagon, a tenth of a pixel a unit.
    assert!(
        svg.contains("d=\"M320 15680l7680 0 0-7680-3840 0-3840 0z\""),
        "{svg}"
    );
}

#[test]
fn svg_windows_hold_what_they_show_only() {
    let mesh = Mesh::from(generate::grid(10_000).unwrap());
    let options = Options {
        window: Some([0.5, 0.5, 0.505, 0.505]),
        ..Options::default()
    };
    let svg = draw_svg(&mesh, &options);
    assert!(svg.matches('M').count() < 10);
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let error = |change: &dyn Fn(&mut Mesh, &mut Options)| {
        let (mut mesh, mut options) = (house(), Options::default());
        change(&mut mesh, &mut options);
        render(&mesh, &options, Format::Png)
            .unwrap_err()
            .to_string()
    };
    let has = |message: String, part: &str| assert!(message.contains(part), "{message}");
    has(error(&|mesh, _| *mesh = Mesh::default()), "no faces");
    has(
        error(&|mesh, _| mesh.points[2].x = f64::NAN),
        "vertex 2 has a coordinate",
    );
    has(
        error(&|mesh, _| mesh.points.truncate(5)),
        "face 1 names a vertex",
    );
    has(
        error(&|mesh, options| {
            mesh.points[3].z = 0.0;
            options.window = Some([0.0, 0.0, 1.0, 1.0]);
        }),
        "vertex 3 has z = 0",
    );
    has(
        error(&|mesh, _| mesh.points.fill(DVec3::ONE)),
        "must span an area",
    );
    has(
        error(&|_, options| options.window = Some([1.0, 0.0, 0.0, 1.0])),
        "must span",
    );
    has(
        error(&|_, options| {
            let normal = DVec3::X;
            options.cut = Some(Cut {
                normal,
                offset: None,
            });
        }),
        "a cut is for volume meshes",
    );
    has(
        error(&|_, options| options.width = Some(0)),
        "another width",
    );
    has(
        error(&|_, options| options.width = Some(10_000)),
        "10000 x 19231 pixels",
    );
    let error = Format::of_path(Path::new("a.jpg")).unwrap_err().to_string();
    assert_eq!(error, "a.jpg: pictures are written as .png or .svg");
    assert_eq!(Format::of_path(Path::new("a.SVG")).unwrap(), Format::Svg);
}

#[test]
fn degenerate_faces_are_drawn_or_left_out() {
    let mut polygons = Polygons::default();
    for face in [
        &[0u32, 1, 2][..],
        &[],
        &[1],
        &[0, 1],
        &[2, 2, 2],
        &[0, 1, 0, 2],
    ] {
        polygons.push(face);
    }
    let mesh = Mesh {
        points: vec![
            dvec3(0.0, 0.0, 0.0),
            dvec3(1.0, 0.0, 0.0),
            dvec3(0.0, 1.0, 0.0),
        ],
        faces: Faces::Polygons(polygons),
        ..Mesh::default()
    };
    for color in [Color::Distinct, Color::Area, Color::Size] {
        let options = Options { color, ..width(50) };
        draw(&mesh, &options);
        roxmltree::Document::parse(&draw_svg(&mesh, &options)).unwrap();
    }
}
