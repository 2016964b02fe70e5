//! Decimation of surfaces with seams: copies of a vertex stay at one place, and the surface by places stays closed.

use std::collections::{BTreeSet, HashMap};
use std::f64::consts::PI;

use glam::DVec3;
use trioxide::decimate::{Decimated, Options};
use trioxide::device::Device;

use super::decimate::{Input, compare, part_of, terrain, weighed};
use super::{Case, Outcome, Size, equal};

/// The cases of seams.
pub fn cases(size: Size) -> Vec<Case> {
    vec![
        Case::new("decimate along a seam of numbers", move |on| {
            along_a_cut(on, size)
        }),
        Case::new("decimate along seams that meet", move |on| {
            // Each triangle at a pole has its own copy of it; the last meridian lies on the first one.
            if size == Size::Tiny {
                closed(on, sphere(5, 3), &[12])?;
                return closed(on, cube(2), &[30]);
            }
            closed(on, sphere(32, 16), &[256, 24])?;
            closed(on, cube(9), &[201, 12])
        }),
        Case::new("decimate around copies that stay apart", move |on| {
            apart(on, size)
        }),
    ]
}

/// A terrain of two parts whose border has vertices of each part, with numbers that jump there: one in each, and the
/// copies. A vertex without triangles lies on another one.
fn cut_terrain(size: Size) -> trioxide::Result<(Input, Vec<[usize; 2]>)> {
    let mut input = terrain(size.of(1000))?;
    let places: Vec<f64> = input.points.iter().map(|p| p.x).collect();
    let near = |a: &f64, b: &f64| (a - 0.5).abs().total_cmp(&(b - 0.5).abs());
    let cut = places.iter().copied().min_by(near).unwrap_or(0.5);
    let mut other = vec![None; input.points.len()];
    for triangle in 0..input.triangles.len() {
        let corners = input.triangles[triangle];
        let is_right = corners.iter().any(|&v| places[v as usize] > cut);
        for (k, v) in corners.into_iter().enumerate() {
            let v = v as usize;
            if is_right && places[v] == cut {
                let copy = *other[v].get_or_insert_with(|| {
                    input.points.push(input.points[v]);
                    input.points.len() as u32 - 1
                });
                input.triangles[triangle][k] = copy;
            }
        }
    }
    let copies = (0..).zip(other);
    let copies: Vec<[usize; 2]> = copies
        .filter_map(|(v, copy)| Some([v, copy? as usize]))
        .collect();
    input.points.push(input.points[1]);
    let mut input = weighed(input, |p| [p.x, p.y, 0.0]);
    for &[_, copy] in &copies {
        input.numbers[3 * copy] += 1.0;
    }
    for (v, &x) in places.iter().enumerate() {
        input.numbers[3 * v] += f64::from(x > cut);
    }
    Ok((input, copies))
}

fn along_a_cut(on: &Device, size: Size) -> Outcome {
    let (input, copies) = cut_terrain(size)?;
    let wanted = part_of(size, input.triangles.len(), 6);
    let ours = compare(on, &input, &Options::new(wanted))?;
    equal("triangles", &[ours.triangles.len()], &[wanted])?;
    let mut left: Vec<[u32; 2]> = copies
        .iter()
        .map(|pair| pair.map(|v| ours.map[v]))
        .collect();
    left.dedup();
    if size != Size::Tiny && left.len() >= copies.len() {
        return Err("no edge of the seam collapsed".to_owned());
    }
    for [v, copy] in left.into_iter().map(|pair| pair.map(|v| v as usize)) {
        let jump = ours.values[3 * copy] - ours.values[3 * v];
        if v == copy || ours.points[v] != ours.points[copy] || (jump - 1.0).abs() > 0.1 {
            return Err(format!("copies {v} and {copy}: a jump of {jump}"));
        }
    }
    let options = Options {
        lock_boundary: true,
        ..Options::new(wanted)
    };
    let bare = Input {
        numbers: Vec::new(),
        ..input
    };
    let ours = compare(on, &bare, &options)?;
    let kept = (0..).zip(&bare.points).filter(|(_, p)| p.x * p.y == 0.0);
    for (v, p) in kept {
        let new: u32 = ours.map[v];
        if ours.points[new as usize] != *p {
            return Err(format!("vertex {v} of the boundary moved"));
        }
    }
    Ok(())
}

/// Decimates a surface that is closed by places to each of these numbers.
fn closed(on: &Device, input: Input, wanted: &[usize]) -> Outcome {
    for &wanted in wanted {
        let ours = compare(on, &input, &Options::new(wanted))?;
        equal("triangles", &[ours.triangles.len()], &[wanted / 2 * 2])?;
        equal("open edges", &[open_edges(&ours)], &[0])?;
        let before = islands(&input.triangles, input.points.len());
        equal(
            "islands",
            &[islands(&ours.triangles, ours.points.len())],
            &[before],
        )?;
    }
    Ok(())
}

/// Parts that share vertices.
fn islands(triangles: &[[u32; 3]], points: usize) -> usize {
    let mut least: Vec<u32> = (0..points as u32).collect();
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for corners in triangles {
            let low = corners.map(|v| least[v as usize]).into_iter().min();
            for &v in corners {
                has_changed |= low.is_some_and(|low| low < least[v as usize]);
                least[v as usize] = low.unwrap_or(v);
            }
        }
    }
    let used = triangles.as_flattened().iter();
    used.map(|&v| least[v as usize])
        .collect::<BTreeSet<_>>()
        .len()
}

/// Edges by places that do not have two triangles of opposite directions.
fn open_edges(mesh: &Decimated) -> usize {
    let place = |v: u32| {
        mesh.points[v as usize]
            .to_array()
            .map(|x| (x + 0.0).to_bits())
    };
    let mut edges: HashMap<_, [u32; 2]> = HashMap::new();
    for &[a, b, c] in &mesh.triangles {
        for [u, v] in [[a, b], [b, c], [c, a]] {
            let (p, q) = (place(u), place(v));
            edges.entry((p.min(q), p.max(q))).or_default()[usize::from(p > q)] += 1;
        }
    }
    edges.values().filter(|&&sides| sides != [1, 1]).count()
}

/// A sphere with the vertices of a grid of texture coordinates: `slices` by `stacks`.
fn sphere(slices: usize, stacks: usize) -> Input {
    let row = slices + 1;
    let point = |at: usize| {
        let (i, j) = (at / row, at % row);
        let (up, around) = (
            PI * i as f64 / stacks as f64,
            2.0 * PI * (j % slices) as f64 / slices as f64,
        );
        if i == 0 || i == stacks {
            return DVec3::Z * if i == 0 { 1.0 } else { -1.0 };
        }
        DVec3::new(up.sin() * around.cos(), up.sin() * around.sin(), up.cos())
    };
    let mut triangles = Vec::new();
    for at in (0..row * stacks).filter(|at| at % row < slices) {
        let [a, b, c, d] = [at, at + row, at + row + 1, at + 1].map(|v| v as u32);
        if at >= row {
            triangles.push([a, b, d]);
        }
        if at < row * (stacks - 1) {
            triangles.push([d, b, c]);
        }
    }
    Input {
        points: (0..row * (stacks + 1)).map(point).collect(),
        triangles,
        ..Input::default()
    }
}

/// A cube with vertices of each side, `n` by `n` squares.
fn cube(n: usize) -> Input {
    let mut cube = Input::default();
    for side in 0..6 {
        let first = cube.points.len() as u32;
        for at in 0..(n + 1) * (n + 1) {
            let [x, y] =
                [at / (n + 1), at % (n + 1)].map(|k| (2.0 * k as f64 - n as f64) / n as f64);
            let mut p = [x, y, 1.0];
            p.rotate_left(side % 3);
            cube.points
                .push(DVec3::from_array(p) * if side < 3 { 1.0 } else { -1.0 });
        }
        for at in (0..n * (n + 1)).filter(|at| at % (n + 1) < n) {
            let a = first + at as u32;
            let (b, d) = (a + n as u32 + 1, a + 1);
            for [u, v, w] in [[a, b, b + 1], [a, b + 1, d]] {
                // The point reflection turns them around.
                cube.triangles
                    .push(if side < 3 { [u, v, w] } else { [u, w, v] });
            }
        }
    }
    cube
}

/// Copies of parts that do not fit together keep their places: one part is turned around; a triangle has two corners at
/// one place.
fn apart(on: &Device, size: Size) -> Outcome {
    let (mut input, copies) = cut_terrain(size)?;
    input.numbers = Vec::new();
    let cut = input.points[copies[0][0]].x;
    for corners in &mut input.triangles {
        if corners.iter().any(|&v| input.points[v as usize].x > cut) {
            corners.swap(1, 2);
        }
    }
    let [p, q, r] = [0.0, 0.1, 0.2].map(|x| DVec3::new(x, 2.0, 0.0));
    let first = input.points.len() as u32;
    input.points.extend([p, p, q, r, DVec3::new(0.1, 3.0, 0.0)]);
    input.triangles.extend([
        [first, first + 1, first + 2],
        [first + 1, first + 3, first + 4],
    ]);
    let wanted = part_of(size, input.triangles.len(), 2);
    let ours = compare(on, &input, &Options::new(wanted))?;
    equal("triangles", &[ours.triangles.len()], &[wanted])?;
    let two = [first as usize, first as usize + 1];
    for v in copies.into_iter().flatten().chain(two) {
        if ours.points[ours.map[v] as usize] != input.points[v] {
            return Err(format!("vertex {v} moved"));
        }
    }
    Ok(())
}
