//! Colours of fields.

use super::*;
use trioxide_mesh::fields::{Field, MeshFields, Values};

fn by(field: &str) -> Options {
    Options {
        color: Color::Field(field.to_owned()),
        edges: Edges::Never,
        ..width(208)
    }
}

/// Fields of three cells and seven points: `size` of the cells with one missing, `x` and the vectors `v` of the points.
fn fields(mesh: &Mesh) -> MeshFields {
    let mut fields = MeshFields::default();
    fields
        .cells
        .push(Field::scalars("size", vec![0.0, 10.0, f64::NAN]));
    let x: Vec<f64> = mesh.points.iter().map(|p| p.x).collect();
    let vectors: Vec<f64> = mesh
        .points
        .iter()
        .flat_map(|p| [3.0 * p.x, 4.0 * p.x])
        .collect();
    fields.points.push(Field::scalars("x", x));
    fields.points.push(Field {
        name: "v".to_owned(),
        components: 2,
        values: vectors.into(),
    });
    fields
}

fn house_with_fields() -> Mesh {
    let mut mesh = house();
    // The point that no face uses, too, counts in the range.
    mesh.points[6].x = 2.0;
    mesh.fields = fields(&mesh);
    mesh
}

/// The colour at a place of the house in a picture of [`by`]: 96 pixels a unit, the middle is (1, 2).
fn at((width, height, pixels): &(u32, u32, Vec<Rgb>), x: f64, y: f64) -> Rgb {
    let column = f64::from(*width) / 2.0 + (x - 1.0) * 96.0;
    let row = f64::from(*height) / 2.0 - (y - 2.0) * 96.0;
    pixels[row as usize * *width as usize + column as usize]
}

#[test]
fn cells_have_the_colours_of_their_values() {
    let mesh = house_with_fields();
    let colors = Colormap::Viridis.colors(252);
    let picture = draw(&mesh, &by("size"));
    assert_eq!(at(&picture, 0.5, 0.5), colors[0]);
    assert_eq!(at(&picture, 0.7, 2.5), colors[251]);
    assert_eq!(at(&picture, 1.3, 2.5), scale::MISSING);
    // The name of a field that a word of the colours has, by its component.
    assert_eq!(draw(&mesh, &by("size:0")), picture);
    let options = Options {
        range: Some([5.0, 15.0]),
        colormap: Some(Colormap::Magma),
        legend: true,
        ..by("size")
    };
    let magma = Colormap::Magma.colors(252);
    let clipped = draw_svg(&mesh, &options);
    for color in [magma[0], magma[126], scale::MISSING] {
        assert!(clipped.contains(&svg::hex(color)), "{clipped}");
    }
    for words in [">size<", ">1 below<", ">1 without a value<"] {
        assert!(clipped.contains(words), "{words}: {clipped}");
    }
}

#[test]
fn colours_vary_between_points() {
    let mesh = house_with_fields();
    let colors = Colormap::Viridis.colors(252);
    let picture = draw(&mesh, &by("x"));
    for share in [0.1, 0.4, 0.75] {
        // Of the nearest steps: a pixel is the mean of its samples.
        let expected = colors[(share * 252.0) as usize];
        let found = at(&picture, 2.0 * share, 1.0);
        assert!(
            (0..3).all(|k| found[k].abs_diff(expected[k]) < 4),
            "{share}: {found:?} {expected:?}"
        );
    }
    // The magnitude is 5 x, and the component 1 is 4 x: colours are by the share of the range, but for rounding of 5 x.
    assert_eq!(draw(&mesh, &by("v:1")), picture);
    let lengths = draw(&mesh, &by("v")).2;
    let differ = lengths.iter().zip(&picture.2).filter(|(a, b)| a != b);
    assert!(differ.count() * 50 < lengths.len());
    let legend = |field: &str| {
        draw_svg(
            &mesh,
            &Options {
                legend: true,
                ..by(field)
            },
        )
    };
    assert!(legend("v").contains(">|v|<") && legend("v:1").contains(">v:1<"));
    // In an SVG and in a window each face has the colour of its mean: that of the left triangle is (0 + 1 + 1) / 3.
    let mean = colors[(1.0 / 3.0 * 252.0) as usize];
    assert!(draw_svg(&mesh, &by("x")).contains(&svg::hex(mean)));
    let window = Options {
        window: Some([0.0, 0.0, 2.0, 4.0]),
        ..by("x")
    };
    assert!(draw(&mesh, &window).2.contains(&mean));
    let pool = |threads| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap()
    };
    let run = |threads| pool(threads).install(|| draw(&mesh, &by("x")));
    assert!(run(1) == picture && run(5) == picture);
}

#[test]
fn fields_in_space_keep_the_legends_colours() {
    let mut mesh = house_with_fields();
    mesh.points[5].z = 8.0;
    let mut colors = Colormap::Viridis.colors(252);
    colors.extend([scale::MISSING, color::BACKGROUND]);
    let plain = Options {
        legend: true,
        ..by("size")
    };
    let (width, height, pixels) = draw(
        &mesh,
        &Options {
            legend: false,
            ..plain.clone()
        },
    );
    // But for means at borders.
    let own = pixels.iter().filter(|pixel| colors.contains(pixel)).count();
    assert!(
        own * 100 > (width * height * 95) as usize,
        "{own} of {width} x {height}"
    );
    let shaded = Options {
        shading: Shading::Always,
        ..plain.clone()
    };
    assert!(!draw_svg(&mesh, &plain).contains("shaded"));
    assert!(draw_svg(&mesh, &shaded).contains(">colours are shaded<"));
    assert_ne!(draw(&mesh, &plain).2, draw(&mesh, &shaded).2);
    // Other colours are shaded where the options do not say.
    let area = Options {
        color: Color::Area,
        ..plain
    };
    assert!(draw_svg(&mesh, &area).contains(">colours are shaded<"));
}

#[test]
fn clouds_cells_and_polyhedra_have_fields() {
    let viridis = Colormap::Viridis.colors(252);
    let low_and_high = |svg: String| {
        [viridis[0], viridis[251]]
            .iter()
            .all(|color| svg.contains(&svg::hex(*color)))
    };
    let mut cloud = house_with_fields();
    cloud.faces = Faces::default();
    cloud.fields.cells = Default::default();
    assert!(low_and_high(draw_svg(&cloud, &by("x"))));
    assert!(render(&cloud, &by("size"), Format::Svg).is_err());

    let mut tets: trioxide_mesh::volume::VolumeMesh = generate::tet_grid(64, 1).unwrap().into();
    let numbers: Vec<f64> = (0..tets.cells.len()).map(|i| i as f64).collect();
    tets.fields.cells.push(Field::scalars("i", numbers));
    let x: Vec<f64> = tets.points.iter().map(|p| p.x).collect();
    tets.fields.points.push(Field::scalars("x", x));
    let draw = |options: &Options, format| render_volume(&tets, options, format);
    let picture = |options: &Options, format| draw(options, format).unwrap();
    let of_points = String::from_utf8(picture(&by("x"), Format::Svg)).unwrap();
    let colors = of_points.matches("<path").count();
    assert!(colors > 20, "{colors}");
    assert_ne!(
        picture(&by("x"), Format::Png),
        picture(&by("i"), Format::Png)
    );
    let quality = Options {
        colormap: Some(Colormap::Cividis),
        ..width(100)
    };
    assert_ne!(
        picture(&quality, Format::Png),
        picture(&width(100), Format::Png)
    );
    let error = draw(&by("y"), Format::Png).unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no colour and no field `y`: the mesh has the fields i, x"
    );
}

/// Bytes of 3 or 4 components are colours, as in VTK.
#[test]
fn fields_of_colours_are_drawn_as_they_are() {
    let colors = |components: usize, count: usize| Field {
        name: "color".to_owned(),
        components,
        values: (0..components * count)
            .map(|i| 20 * (i % 12) as u8)
            .collect::<Vec<u8>>()
            .into(),
    };
    let all: [Rgb; 3] = [[0, 20, 40], [60, 80, 100], [120, 140, 160]];
    let mut mesh = house_with_fields();
    mesh.fields.cells.push(colors(3, 3));
    let picture = draw(&mesh, &by("color"));
    let places = [(0.5, 0.5), (0.7, 2.5), (1.3, 2.5)];
    assert_eq!(places.map(|(x, y)| at(&picture, x, y)), all);
    let is_drawn = |svg: &str, colors: &[Rgb]| {
        let missing = colors
            .iter()
            .find(|color| !svg.contains(&svg::hex(**color)));
        assert_eq!(missing, None, "{svg}");
    };
    let with_legend = Options {
        legend: true,
        ..by("color")
    };
    let svg = draw_svg(&mesh, &with_legend);
    is_drawn(&svg, &all);
    assert!(!svg.contains("<text"), "{svg}");
    let red = draw_svg(&mesh, &by("color:0"));
    is_drawn(&red, &[Colormap::Viridis.colors(252)[251]]);
    let mut raised = mesh.clone();
    raised.points[5].z = 8.0;
    is_drawn(&draw_svg(&raised, &by("color")), &all);
    let refused = |options: Options| {
        let error = render(&mesh, &options, Format::Png).unwrap_err();
        error.to_string()
    };
    let window = refused(Options {
        window: Some([0.0, 0.0, 2.0, 4.0]),
        ..by("color")
    });
    assert!(window.contains("not drawn in a window"), "{window}");
    let log = refused(Options {
        log: true,
        ..by("color")
    });
    assert!(log.contains("colours that show numbers"), "{log}");

    // Of points, as the attribute: a face has the mean.
    let mut of_points = house_with_fields();
    of_points.fields.points.push(colors(4, 7));
    let Values::U8(bytes) = &of_points.fields.points.get("color").unwrap().values else {
        panic!("bytes")
    };
    let own: Vec<[u8; 4]> = bytes.as_chunks::<4>().0.to_vec();
    let vertices = Options {
        color: Color::Vertices,
        shading: Shading::Never,
        ..by("")
    };
    let attribute = Mesh {
        attributes: trioxide_mesh::mesh::VertexAttributes {
            colors: Some(own.clone()),
            ..Default::default()
        },
        ..of_points.clone()
    };
    let expected = draw_svg(&attribute, &vertices);
    assert_eq!(draw_svg(&of_points, &by("color")), expected);
    of_points.faces = Faces::default();
    of_points.fields.cells = Default::default();
    let own: Vec<Rgb> = own.iter().map(|[r, g, b, _]| [*r, *g, *b]).collect();
    is_drawn(&draw_svg(&of_points, &by("color")), &own);

    let mut tets: trioxide_mesh::volume::VolumeMesh = generate::tet_grid(8, 1).unwrap().into();
    tets.fields.cells.push(colors(3, tets.cells.len()));
    let svg = render_volume(&tets, &by("color"), Format::Svg).unwrap();
    is_drawn(&String::from_utf8(svg).unwrap(), &all[..1]);
}

#[test]
fn fields_that_cannot_be_drawn_are_refused() {
    let mesh = house_with_fields();
    let error = |options: &Options| render(&mesh, options, Format::Png).unwrap_err().to_string();
    let has = |options: &Options, part: &str| {
        let message = error(options);
        assert!(message.contains(part), "{message}");
    };
    has(&by("z"), "no field `z`: the mesh has the fields size, x, v");
    has(&by("v:2"), "field v has the components 0 to 1, but not 2");
    has(&by("v:x"), "but not x");
    let log = |options: Options| Options {
        log: true,
        ..options
    };
    has(
        &log(Options {
            range: Some([-1.0, 1.0]),
            ..by("x")
        }),
        "range above 0",
    );
    has(&log(width(9)), "colours that show numbers");
    let mut wrong = mesh.clone();
    wrong.fields.points.push(Field::scalars("short", vec![1.0]));
    let message = render(&wrong, &by("x"), Format::Png)
        .unwrap_err()
        .to_string();
    assert!(message.contains("field short"), "{message}");
    let bare = house();
    let message = render(&bare, &by("z"), Format::Png)
        .unwrap_err()
        .to_string();
    assert!(message.ends_with("the mesh has no fields"), "{message}");
}

#[test]
fn hidden_faces_and_segments_are_not_in_an_svg() {
    let mut points: Vec<DVec3> = (0..8)
        .map(|i| dvec3(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2)))
        .collect();
    points.extend([DVec3::splat(0.4), DVec3::splat(0.6)]);
    let mut polygons = Polygons::default();
    for side in [
        [1, 3, 7, 5],
        [3, 2, 6, 7],
        [4, 5, 7, 6],
        [0, 4, 6, 2],
        [0, 1, 5, 4],
        [0, 2, 3, 1],
    ] {
        polygons.push(&side);
    }
    let segment = |ends| Segment { ends, marker: 1 };
    let mesh = Mesh {
        points,
        faces: Faces::Polygons(polygons),
        // One at the corner to the viewer, one inside of the cube.
        segments: vec![segment([7, 5]), segment([8, 9])],
        ..Mesh::default()
    };
    let svg = draw_svg(
        &mesh,
        &Options {
            view: Some(View::default()),
            edges: Edges::Never,
            ..width(300)
        },
    );
    let count = |part: &str| svg.matches(part).count();
    // Two triangles each of three sides, the background, one segment.
    assert_eq!((count("<path fill"), count("#b02030")), (1 + 6, 1), "{svg}");
}
