//! Comparisons with straightforward code, bit for bit.

use std::collections::{BTreeMap, BTreeSet};

use glam::Vec2;
use tiny_skia::{FillRule, Paint, PathBuilder, Pixmap, PremultipliedColorU8, Shader, Transform};
use trioxide_mesh::edges::{FaceEdges, edge_faces};
use trioxide_mesh::random::SplitMix64;

use super::*;
use crate::color::Distinct;
use crate::fill::Filler;
use crate::neighbors::Neighbors;
use crate::png::Marked;

/// Matula and Beck's order, by lists in the order of the faces.
fn plain_colors(mesh: &Mesh) -> Vec<u8> {
    let count = mesh.faces.len();
    let mut neighbors = vec![BTreeSet::new(); count];
    for edge in edge_faces(&mesh.faces) {
        let [left, right] = edge.faces.map(|face| face as usize);
        if edge.faces[1] != trioxide_mesh::mesh::NONE && left != right {
            neighbors[left].insert(right);
            neighbors[right].insert(left);
        }
    }
    let mut degrees: Vec<usize> = neighbors.iter().map(BTreeSet::len).collect();
    let mut buckets: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (face, &degree) in degrees.iter().enumerate() {
        buckets.entry(degree).or_default().push(face);
    }
    let mut order = Vec::new();
    while order.len() < count {
        let (&degree, bucket) = buckets
            .iter_mut()
            .find(|(_, bucket)| !bucket.is_empty())
            .unwrap();
        let face = bucket.pop().unwrap();
        if degrees[face] != degree || order.contains(&face) {
            continue;
        }
        order.push(face);
        for &other in neighbors[face]
            .iter()
            .filter(|other| !order.contains(other))
        {
            degrees[other] -= 1;
            buckets.entry(degrees[other]).or_default().push(other);
        }
    }
    let mut classes = vec![u8::MAX; count];
    for &face in order.iter().rev() {
        let all = 0..color::QUALITATIVE.len() as u8;
        let is_free = |class: &u8| {
            !neighbors[face]
                .iter()
                .any(|&other| classes[other] == *class)
        };
        let mut free: Vec<u8> = all.clone().filter(is_free).collect();
        if free.is_empty() {
            free = all.collect();
        }
        let hash = ((face as u32).wrapping_mul(0x9e37_79b9) >> 8) as usize;
        classes[face] = free[hash % free.len()];
    }
    classes
}

/// Polygons with these numbers of sides, in a chain, and a triangle at each side.
fn flowers(sizes: &[u32]) -> Mesh {
    let mut polygons = Polygons::default();
    let mut first = 0;
    for size in sizes {
        let ring = |i: u32| first + i % size;
        polygons.push(&(0..*size).map(ring).collect::<Vec<u32>>());
        for i in 0..*size {
            // The triangle at the first side uses a vertex of the next ring.
            polygons.push(&[ring(i + 1), ring(i), first + size + i]);
        }
        first += size;
    }
    let count = first + sizes.last().unwrap();
    Mesh {
        points: (0..count)
            .map(|i| dvec3(f64::from(i), f64::from(i * i % 7), 0.0))
            .collect(),
        faces: Faces::Polygons(polygons),
        ..Mesh::default()
    }
}

#[test]
fn colours_are_those_of_the_plain_algorithm() {
    let mut random = SplitMix64::new(5);
    let mut below = |n: usize| (random.next_u64() % n as u64) as usize;
    // Faces in random order.
    let mut shuffled = super::random(700, 2);
    let Faces::Triangles(triangles) = &mut shuffled.faces else {
        panic!("triangles")
    };
    for i in (1..triangles.len()).rev() {
        triangles.swap(i, below(i + 1));
    }
    // Edges with any number of faces, faces with a repeated edge, and faces with several edges in common.
    let mut tangle = Mesh {
        points: (0..12)
            .map(|i| dvec3(f64::from(i), f64::from(i * i % 7), 0.0))
            .collect(),
        ..Mesh::default()
    };
    let mut polygons = Polygons::default();
    for _ in 0..150 {
        let face: Vec<u32> = (0..2 + below(4)).map(|_| below(12) as u32).collect();
        polygons.push(&face);
    }
    tangle.faces = Faces::Polygons(polygons);
    let mut on_a_line = house();
    on_a_line.points.iter_mut().for_each(|p| p.x = 1.0);
    for mesh in [
        house(),
        on_a_line,
        shuffled,
        tangle,
        flowers(&[254, 255, 256, 300, 5]),
    ] {
        let neighbors = Neighbors::new(&mesh, &FaceEdges::of(&mesh.faces));
        let mut distinct = Distinct::new(neighbors);
        let classes = distinct.find();
        assert_eq!(distinct.of_faces(&classes), plain_colors(&mesh));
    }
}

/// A polygon for the filler: of few or many samples, on the lattice of samples' middles or off it, with
/// self-intersections, or flat.
fn polygon(random: &mut SplitMix64, size: f32) -> Vec<Vec2> {
    let mut below = |n: u64| random.next_u64() % n;
    let most = if below(10) == 0 { 40 } else { 6 };
    let count = 1 + below(most);
    let extent = [0.2, 1.0, 3.0, 40.0, 200.0][below(5) as usize];
    let lattice = [0.0, 0.5, 1.0, 64.0][below(4) as usize];
    let mut share = || below(1 << 24) as f32 / (1 << 24) as f32;
    let middle = Vec2::new(share(), share()) * size;
    let corner = |_| {
        let p = middle + extent * (Vec2::new(share(), share()) - 0.5);
        match lattice {
            0.0 => p,
            steps => (p * steps).floor() / steps + 1.0 / 6.0,
        }
    };
    (0..count).map(corner).collect()
}

#[test]
fn faces_fill_the_samples_that_tiny_skia_fills() {
    const SIZE: u32 = 120;
    let transform = Transform::from_translate(8.0, 8.0 - 64.0).post_scale(3.0, 3.0);
    let background = Pixmap::new(3 * SIZE, 3 * SIZE).unwrap();
    let mut random = SplitMix64::new(9);
    let mut drawn = 0;
    for _ in 0..20_000 {
        // Any colour, because marks of faces may be any.
        let [r, g, b, ..] = random.next_u64().to_le_bytes();
        let paint = Paint {
            shader: Shader::SolidColor(tiny_skia::Color::from_rgba8(r, g, b, 255)),
            anti_alias: false,
            ..Paint::default()
        };
        let color = PremultipliedColorU8::from_rgba(r, g, b, 255).unwrap();
        let mut corners = polygon(&mut random, SIZE as f32 + 20.0);
        corners
            .iter_mut()
            .for_each(|p| *p += Vec2::new(-18.0, 46.0));
        let mut expected = background.clone();
        let mut path = PathBuilder::new();
        path.move_to(corners[0].x, corners[0].y);
        corners[1..].iter().for_each(|p| path.line_to(p.x, p.y));
        path.close();
        if let Some(path) = path.finish() {
            expected.fill_path(&path, &paint, FillRule::EvenOdd, transform, None);
        }
        let whole = [0, 3 * SIZE];
        let mut filler = Filler::new(background.clone(), whole, transform);
        filler.fill(corners.iter().copied(), color);
        let pixmap = filler.into_pixmap();
        assert!(pixmap == expected, "{corners:?}");
        drawn += usize::from(pixmap != background);

        // Only the right half, if our own filler draws it.
        let is_inside = |p: &Vec2| {
            p.cmpge(Vec2::new(-6.0, 58.0)).all() && p.cmple(Vec2::new(110.0, 174.0)).all()
        };
        if (3..=32).contains(&corners.len()) && corners.iter().all(is_inside) {
            let half = Pixmap::new(3 * SIZE / 2, 3 * SIZE).unwrap();
            let columns = [3 * SIZE / 2, 3 * SIZE];
            let mut filler = Filler::new(half, columns, transform);
            filler.fill(corners.iter().copied(), color);
            let half = filler.into_pixmap();
            let rows = expected.pixels().chunks(3 * SIZE as usize);
            let halves = half.pixels().chunks(3 * SIZE as usize / 2);
            assert!(
                rows.zip(halves).all(|(row, half)| row.ends_with(half)),
                "{corners:?}"
            );
        }
    }
    assert!(drawn > 5_000, "{drawn}");
}

#[test]
fn pictures_have_the_same_bytes_for_any_number_of_threads() {
    // Small faces in several cells of each band, and a window with large ones.
    let mesh = random(30_000, 1);
    for window in [None, Some([0.4, 0.4, 0.42, 0.41])] {
        let options = Options {
            window,
            ..width(1200)
        };
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.unwrap()
                .install(|| render(&mesh, &options, Format::Png).unwrap())
        };
        let expected = run(1);
        for threads in [2, 5] {
            assert!(run(threads) == expected, "{threads} threads");
        }
    }
}

#[test]
fn png_files_hold_their_pixels() {
    let mut random = SplitMix64::new(2);
    for [width, height] in [[1, 1], [2, 700], [9000, 1], [700, 901], [16384, 20]] {
        for noise in [1, 3, 256] {
            let count = 3 * width as usize * height as usize;
            // Consecutive rows and consecutive pixels are similar.
            let pixels: Vec<u8> = (0..count)
                .map(|i| (i / 1000 + i % 3 * 40 + (random.next_u64() % noise) as usize) as u8)
                .collect();
            let file = deflated::write([width, height], &pixels);
            let mut reader = ::png::Decoder::new(std::io::Cursor::new(&file))
                .read_info()
                .unwrap();
            let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
            let frame = reader.next_frame(&mut bytes).unwrap();
            reader.finish().unwrap();
            assert_eq!((frame.width, frame.height), (width, height));
            assert!(bytes == pixels, "{width} x {height}, {noise}");
            assert!(noise == 256 || count < 1000 || file.len() < count / 2);
        }
    }
}

#[test]
fn faces_drawn_before_their_colours_give_the_same_pixels() {
    // Small faces in several cells, large ones in whole bands, and holes.
    let mesh = random(20_000, 4);
    for (window, pixels) in [
        (None, 1200),
        (Some([0.4, 0.4, 0.42, 0.41]), 900),
        (Some([0.9, 0.5, 1.3, 0.7]), 700),
    ] {
        let options = Options {
            window,
            ..width(pixels)
        };
        let (scene, marked) = Scene::planar(&mesh, &options, None, Marked::of).unwrap();
        let marked = marked.flatten().expect("many faces");
        assert!(png::pixels(&scene, Some(marked)) == png::pixels(&scene, None));
    }
}
