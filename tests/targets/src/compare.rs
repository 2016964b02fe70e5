//! Distances between shapes, by the tree, against all pairs.

use trioxide::compare::{Options, Shape, Tree, compare as compare_on};
use trioxide::glam::DVec3;
use trioxide::ids::Vertex;
use trioxide::{Buffer, Error};
use trioxide_verify::validate::compare::nearest;

use crate::bytes::Choices;
use crate::{Pipeline, cpu};

pub const PIPELINES: &[Pipeline] = &[("compare", compare)];

/// Points, most often on a lattice, and triangles, often without an area; none of a cloud.
struct Input {
    points: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
}

impl Input {
    fn of(choices: &mut Choices) -> Self {
        let n = choices.below(60);
        let (odd, scale) = (choices.below(4) == 0, choices.scale());
        let mut coordinate = || match odd {
            true => choices.coordinate(),
            false => choices.lattice(),
        };
        let mut point = || DVec3::new(coordinate(), coordinate(), coordinate()) * scale;
        let points = (0..n).map(|_| point()).collect();
        let count = if n == 0 { 0 } else { choices.below(50) };
        let mut triangles: Vec<[u32; 3]> = (0..count)
            .map(|_| [0; 3].map(|_| choices.below(n) as u32))
            .collect();
        if choices.seldom(16) {
            triangles.push([0; 3].map(|_| choices.vertex(n)));
        }
        Self { points, triangles }
    }

    /// Whether a comparison must take it.
    fn is_good(&self) -> bool {
        let ids = self.triangles.as_flattened();
        let (low, high) = (
            self.points.iter().copied().reduce(DVec3::min),
            self.points.iter().copied().reduce(DVec3::max),
        );
        let extent = low
            .zip(high)
            .map_or(0.0, |(low, high)| (high - low).max_element());
        let is_near = |p: &DVec3| p.is_finite() && p.abs().max_element() < 2f64.powi(250);
        !self.points.is_empty()
            && ids.iter().all(|v| (*v as usize) < self.points.len())
            && self.points.iter().all(is_near)
            && (extent == 0.0 || extent > 2f64.powi(-249))
    }

    fn upload(&self) -> trioxide::Result<(Buffer<DVec3>, Buffer<Vertex>)> {
        let on = cpu();
        let corners = on.upload(self.triangles.as_flattened())?.cast();
        Ok((on.upload(&self.points)?, corners))
    }
}

fn compare(data: &[u8]) {
    let mut choices = Choices::new(data);
    let (a, b) = (Input::of(&mut choices), Input::of(&mut choices));
    let options = Options {
        samples: choices.below(300) as u32,
        seed: choices.id().into(),
    };
    let on = cpu();
    let is_good = a.is_good() && b.is_good();
    let done = || -> Result<_, Error> {
        let (of_a, of_b) = (a.upload()?, b.upload()?);
        let shape_a = Shape::new(on, &of_a.0, &of_a.1)?;
        let shape_b = Shape::new(on, &of_b.0, &of_b.1)?;
        let found = Tree::build(on, shape_b)?.nearest(on, &of_a.0)?;
        let compared = compare_on(on, shape_a, shape_b, options)?;
        let of_compared: Vec<f64> = on.download(&compared.distances)?;
        let distances: Vec<f64> = on.download(&found.distances)?;
        assert_eq!(of_compared, distances);
        let ids: Vec<u32> = on.download_rows(&found.triangles)?;
        Ok((distances, ids, compared.there, compared.back))
    };
    match done() {
        Ok((distances, ids, there, back)) => {
            let expected = nearest(&a.points, &b.points, &b.triangles);
            assert_eq!((distances, ids), expected);
            for side in [there, back] {
                let samples = side.samples.into_iter();
                for distances in samples.chain([side.vertices]) {
                    assert!(distances.mean <= distances.largest * (1.0 + 1e-12));
                    assert!(distances.largest.is_finite());
                }
            }
        }
        Err(error) => assert!(!is_good, "{error}"),
    }
}
