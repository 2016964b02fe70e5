//! Meshes in space.

use glam::{DVec2, Vec2};
use trioxide::half_edges::DeviceTriangulation;
use trioxide::polylla;
use trioxide_mesh::edges::FaceEdges;
use trioxide_mesh::fields::Field;

use super::*;
use crate::camera::{Projection, bounds};

/// A unit cube with one colour each for the sides at x = 1, y = 1 and z = 1, and another for the other three.
fn cube() -> Facets<'static> {
    let points: Vec<DVec3> = (0..8)
        .map(|i| dvec3(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2)))
        .collect();
    let (mut triangles, mut colors) = (Vec::new(), Vec::new());
    for (quad, color) in [
        ([1, 3, 7, 5], RED),
        ([3, 2, 6, 7], GREEN),
        ([4, 5, 7, 6], BLUE),
        ([0, 4, 6, 2], GRAY),
        ([0, 1, 5, 4], GRAY),
        ([0, 2, 3, 1], GRAY),
    ] {
        let [a, b, c, d] = quad;
        triangles.extend([[a, b, c], [a, c, d]]);
        colors.extend([color; 2]);
    }
    Facets {
        points: points.into(),
        triangles: triangles.into(),
        colors,
        ..Facets::default()
    }
}

const RED: Rgb = [200, 0, 0];
const GREEN: Rgb = [0, 200, 0];
const BLUE: Rgb = [0, 0, 200];
const GRAY: Rgb = [90, 90, 90];

fn seen_from(azimuth: f64, elevation: f64, up: Up) -> Options {
    Options {
        view: Some(View { azimuth, elevation }),
        up: Some(up),
        edges: Edges::Never,
        ..width(100)
    }
}

fn pixels(file: Vec<u8>) -> (u32, u32, Vec<[u8; 3]>) {
    let mut reader = ::png::Decoder::new(std::io::Cursor::new(file))
        .read_info()
        .unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut bytes).unwrap();
    let pixels = bytes.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect();
    (frame.width, frame.height, pixels)
}

/// Channel of a shaded colour: red, green or blue; `None` for greys and white.
fn hue(pixel: Rgb) -> Option<usize> {
    let (channel, &value) = pixel.iter().enumerate().max_by_key(|(_, value)| **value)?;
    (pixel.iter().filter(|other| **other == value).count() == 1).then_some(channel)
}

#[test]
fn a_camera_sees_the_sides_before_it() {
    for (options, expected) in [
        (seen_from(0.0, 0.0, Up::Z), 0),
        (seen_from(90.0, 0.0, Up::Z), 1),
        (seen_from(17.0, 90.0, Up::Z), 2),
        (seen_from(0.0, 0.0, Up::Y), 2),
        (seen_from(90.0, 0.0, Up::Y), 0),
        (seen_from(0.0, 90.0, Up::Y), 1),
        (seen_from(0.0, 0.0, Up::X), 1),
        (seen_from(0.0, 90.0, Up::X), 0),
    ] {
        let file = render_facets(&cube(), &options, Format::Png).unwrap();
        let (width, height, pixels) = pixels(file);
        let center = pixels[(height / 2 * width + width / 2) as usize];
        assert_eq!(hue(center), Some(expected), "{options:?}: {center:?}");
        // Other colours appear only on sides seen edge-on.
        let colored = pixels.iter().filter_map(|pixel| hue(*pixel));
        let others = colored.filter(|hue| *hue != expected).count();
        assert_eq!(others, 0, "{options:?}");
    }
    // All three sides from a corner: if z is up, red is left of green, and blue is above. The light comes from the
    // upper left.
    let file = render_facets(&cube(), &seen_from(45.0, 35.0, Up::Z), Format::Png).unwrap();
    let (width, height, pixels) = pixels(file);
    let at = |x: u32, y: u32| pixels[(y * height / 100 * width + x * width / 100) as usize];
    let (red, green, blue) = (at(30, 65), at(70, 65), at(50, 25));
    assert_eq!([red, green, blue].map(hue), [Some(0), Some(1), Some(2)]);
    assert!(blue[2] > green[1] && red[0] > green[1]);
    assert_eq!(at(2, 2), color::BACKGROUND);
}

#[test]
fn nearer_triangles_hide_farther_ones_in_any_order() {
    let points: Vec<DVec3> = [(0.0, 0.0), (3.0, 0.0), (0.0, 3.0)]
        .into_iter()
        .flat_map(|(x, y)| [dvec3(x, y, 0.0), dvec3(x, y, 1.0)])
        .collect();
    for (triangles, colors) in [
        ([[0, 2, 4], [1, 3, 5]], [RED, GREEN]),
        ([[1, 5, 3], [0, 2, 4]], [GREEN, RED]),
    ] {
        let facets = Facets {
            points: points.clone().into(),
            triangles: triangles.to_vec().into(),
            colors: colors.to_vec(),
            ..Facets::default()
        };
        let options = Options {
            view: Some(View::ABOVE),
            edges: Edges::Never,
            ..width(60)
        };
        let (_, _, all) = pixels(render_facets(&facets, &options, Format::Png).unwrap());
        assert!(all.iter().all(|pixel| pixel[0] <= pixel[1]));
        assert!(all.iter().filter(|pixel| hue(**pixel) == Some(1)).count() > 1000);
        let svg = String::from_utf8(render_facets(&facets, &options, Format::Svg).unwrap());
        let svg = svg.unwrap();
        let fills: Vec<&str> = svg
            .match_indices("<path fill=\"#")
            .map(|(i, _)| &svg[i + 12..i + 19])
            .collect();
        // The background and the green one, which hides the red one.
        assert_eq!((fills.len(), &fills[1][1..3]), (2, "00"));
    }
}

#[test]
fn surfaces_leave_no_gap_and_no_thread_shows() {
    // A convex body: between the first and the last pixel of a row no background may show.
    let mut mesh = generate::scan(40_000, 1).unwrap();
    mesh.points.iter_mut().for_each(|p| *p = p.normalize());
    let options = seen_from(20.0, 10.0, Up::Z);
    let draw_on = |threads| {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = builder.build().unwrap();
        pool.install(|| render(&mesh, &options, Format::Png).unwrap())
    };
    let file = draw_on(1);
    assert!(file == draw_on(4));
    let (width, _, pixels) = pixels(file);
    let mut holes = 0;
    for row in pixels.chunks(width as usize) {
        let is_drawn = |pixel: &[u8; 3]| *pixel != color::BACKGROUND;
        let first = row.iter().position(is_drawn);
        let last = row.iter().rposition(is_drawn);
        if let (Some(first), Some(last)) = (first, last) {
            holes += row[first..last]
                .iter()
                .filter(|pixel| !is_drawn(pixel))
                .count();
        }
    }
    assert_eq!(holes, 0);
}

#[test]
fn planar_meshes_have_the_same_outline_in_a_view_from_above() {
    let mesh = house();
    let from_above = Options {
        view: Some(View::ABOVE),
        ..width(208)
    };
    let flat = draw(&mesh, &width(208));
    let view = draw(&mesh, &from_above);
    assert_eq!((flat.0, flat.1), (view.0, view.1));
    let differ = flat.2.iter().zip(&view.2);
    let is_drawn = |pixel: &[u8; 3]| *pixel != color::BACKGROUND;
    let differ = differ.filter(|(a, b)| is_drawn(a) != is_drawn(b)).count();
    // In the plane the boundary, 1005 pixels long, has a line of four pixels.
    assert!(differ < 2100, "{differ}");
}

#[test]
fn faces_have_their_own_colours_edges_and_red_segments() {
    let mut mesh = house();
    mesh.points[5].z = 8.0;
    let count = |mesh: &Mesh, options: &Options, test: &dyn Fn([u8; 3]) -> bool| {
        draw(mesh, options)
            .2
            .into_iter()
            .filter(|pixel| test(*pixel))
            .count()
    };
    let options = Options {
        edges: Edges::Always,
        width: Some(400),
        ..seen_from(-90.0, 60.0, Up::Z)
    };
    let is_dark = |[r, g, b]: [u8; 3]| r < 80 && g < 90 && b < 100;
    let bare = Options {
        edges: Edges::Never,
        ..options.clone()
    };
    assert!(count(&mesh, &options, &is_dark) > 50);
    assert_eq!(count(&mesh, &bare, &is_dark), 0);
    // The pentagon is one face: no edge runs through its middle.
    let (width, height, pixels) = draw(&mesh, &options);
    let middle = &pixels[((height * 7 / 10) * width) as usize..][..width as usize];
    let runs = middle
        .windows(2)
        .filter(|pair| is_dark(pair[0]) != is_dark(pair[1]));
    assert!(runs.count() <= 4);

    let is_red = |[r, g, b]: [u8; 3]| r > 150 && g < 60 && b < 80;
    assert_eq!(count(&mesh, &bare, &is_red), 0);
    mesh.segments = vec![Segment {
        ends: [5, 3],
        marker: 1,
    }];
    assert!(count(&mesh, &bare, &is_red) > 20);
    assert!(draw_svg(&mesh, &bare).contains("#b02030"));

    let vertices = Options {
        color: Color::Vertices,
        ..bare.clone()
    };
    let error = render(&mesh, &vertices, Format::Png)
        .unwrap_err()
        .to_string();
    assert!(error.contains("have no colours"), "{error}");
    mesh.segments.clear();
    mesh.attributes.colors = Some(vec![[0, 220, 0, 255]; mesh.points.len()]);
    for options in [&vertices, &bare] {
        let greens = count(&mesh, options, &|pixel| hue(pixel) == Some(1));
        assert!(greens > 1000, "{greens}");
    }
    // The values give the colours, on a surface too.
    let file = render_values(&mesh, &[1.0, 2.0, 3.0], &bare, Format::Png).unwrap();
    assert_ne!(file, render(&mesh, &bare, Format::Png).unwrap());
}

#[test]
fn points_without_faces_are_dots() {
    let mut mesh = Mesh {
        points: vec![
            dvec3(0.0, 0.0, 0.0),
            dvec3(1.0, 0.0, 0.5),
            dvec3(0.0, 1.0, 1.0),
        ],
        ..Mesh::default()
    };
    let (_, _, all) = draw(&mesh, &width(100));
    let drawn = all
        .iter()
        .filter(|pixel| **pixel != color::BACKGROUND)
        .count();
    // Of radius 4.
    assert!((3 * 40..3 * 64).contains(&drawn), "{drawn}");
    let low = color::ramp(64)[0];
    assert!(all.contains(&low) && all.contains(&color::ramp(64)[63]));
    assert_eq!(draw_svg(&mesh, &width(100)).matches("<circle").count(), 3);

    mesh.attributes.colors = Some(vec![[200, 0, 0, 255], [0, 200, 0, 9], [0, 0, 200, 0]]);
    let (_, _, all) = draw(&mesh, &width(100));
    for color in [RED, GREEN, BLUE] {
        assert!(all.contains(&color));
    }
    let by_height = Options {
        color: Color::Area,
        ..width(100)
    };
    assert!(draw(&mesh, &by_height).2.contains(&low));
    mesh.points[1].y = f64::INFINITY;
    let error = render(&mesh, &width(9), Format::Png)
        .unwrap_err()
        .to_string();
    assert!(error.contains("vertex 1 has a coordinate"), "{error}");
}

#[test]
fn views_that_cannot_be_drawn_are_refused() {
    let error = |mesh: &Mesh, options: &Options, format| {
        render(mesh, options, format).unwrap_err().to_string()
    };
    let many = painter::farthest_first((0..200_001).collect(), "faces", |_| 0.0);
    let message = many.unwrap_err().to_string();
    assert!(
        message.contains("200001 faces in space are too many"),
        "{message}"
    );
    let message = error(&house(), &seen_from(0.0, 91.0, Up::Z), Format::Png);
    assert!(message.contains("between -90 and 90"), "{message}");
    let window = Options {
        window: Some([0.0, 0.0, 1.0, 1.0]),
        ..seen_from(0.0, 0.0, Up::Z)
    };
    assert!(error(&house(), &window, Format::Png).contains("leave it out"));
    let facets = Facets {
        triangles: vec![[0, 1, 9]].into(),
        ..cube()
    };
    let result = render_facets(&facets, &Options::default(), Format::Png);
    let message = result.unwrap_err().to_string();
    assert!(message.contains("triangle 0 has vertex 9"), "{message}");
}

/// Triangles of polygons are narrower than lines in places: a pixel at the middle of each edge is darker than a face,
/// in the plane, with colours between points, and in a view from the side.
#[test]
fn every_edge_of_polygons_is_drawn() {
    let field = || Color::Field("one".to_owned());
    for (points, side, color, range, view) in [
        (300, 240, Color::None, None, None),
        (300, 240, field(), Some([0.0, 1.0]), None),
        (300, 480, Color::None, None, Some(View::default())),
        (2000, 480, field(), Some([0.0, 1.0]), None),
    ] {
        let mut mesh = polygons(points, 4);
        let ones = vec![1.0; mesh.points.len()];
        mesh.fields.points.push(Field::scalars("one", ones));
        let case = format!("{points} points, {side} pixels, {color:?}, {view:?}");
        let options = Options {
            color,
            range,
            view,
            edges: Edges::Always,
            ..width(side)
        };
        let view = view.unwrap_or(View::ABOVE);
        let places = places(&mesh, view, side);
        let (_, height, pixels) = draw(&mesh, &options);
        let sum = |pixel: Rgb| pixel.map(i32::from).iter().sum::<i32>();
        // A row has more pixels of faces than of edges.
        let row = &pixels[(height / 2 * side) as usize..][..side as usize];
        let mut row: Vec<i32> = row.iter().map(|pixel| sum(*pixel)).collect();
        row.sort_unstable();
        let face = row[row.len() / 2];
        let is_drawn = |[a, b]: [Vec2; 2]| {
            let middle = (a.midpoint(b) - 0.5).floor();
            [(0, 0), (1, 0), (0, 1), (1, 1)]
                .iter()
                .any(|(right, down)| {
                    let pixel = pixels
                        [((middle.y as u32 + down) * side + middle.x as u32 + right) as usize];
                    sum(pixel) + 60 <= face
                })
        };
        let edges = FaceEdges::of(&mesh.faces).table;
        let ends = edges.flat_map_edges(|found, ends, _| found.push(ends));
        let ends = ends.iter().map(|ends| ends.map(|v| places[v as usize]));
        let long: Vec<_> = ends.filter(|[a, b]| a.distance(*b) >= 3.0).collect();
        let drawn = long.iter().filter(|ends| is_drawn(**ends)).count();
        assert_eq!(drawn, long.len(), "{case}");
        assert!(drawn > points / 2, "{case}: {drawn}");
    }
}

/// The mesh's points in a picture.
fn places(mesh: &Mesh, view: View, side: u32) -> Vec<Vec2> {
    let camera = Camera { view, up: Up::Z };
    let in_bounds = |turned: &(dyn Fn(DVec3) -> DVec3 + Sync)| {
        bounds(mesh.points.len(), &|i| turned(mesh.points[i]))
    };
    let projection = Projection::new(&camera, Some(side), in_bounds).unwrap();
    let place = |p: &DVec3| projection.apply(*p).truncate();
    mesh.points.iter().map(place).collect()
}

/// Polylla's polygons of random points.
fn polygons(points: usize, seed: u64) -> Mesh {
    let on = Device::cpu(None).unwrap();
    let mesh = generate::random(&on, points, seed).unwrap();
    let there = DeviceTriangulation::<DVec2>::upload(&on, &mesh).unwrap();
    let made = polylla::polylla(&on, &there, None, polylla::Options::default()).unwrap();
    Mesh {
        faces: Faces::Polygons(made.download_lists(&on).unwrap()),
        ..mesh.into()
    }
}
