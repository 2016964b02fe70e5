//! The paper's sequential algorithm under the same options: `--device serial`, and the oracle of the tests.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use gpu::point::DoublePoint;

use trioxide::half_edges::AnyPoint;
use trioxide::mesh::{EdgeTriangulation, Refinement, Segment, Triangulation};
use trioxide::refine::{
    End, Error, Level, Options, Result, Tags, check_orientation, count_rounds, segments,
};
use trioxide::rules::topology;

/// A run of the sequential algorithm.
pub struct SerialRun<P> {
    /// The refined mesh.
    pub mesh: EdgeTriangulation<P>,
    /// The records of the rounds.
    pub rounds: Vec<Refinement>,
    /// The reason why it ended.
    pub end: End,
    /// Time of each step, of all rounds together.
    pub times: Vec<(&'static str, Duration)>,
    /// The markers of an edge's segments, ascending: a tag is one more than the index of its edge's list.
    markers: Vec<Vec<i32>>,
    /// The segments of the input.
    segments: Vec<Segment>,
    /// Counts of the input.
    input: Level,
}

impl<P: AnyPoint> SerialRun<P> {
    /// Checks a triangulation, numbers its edges and refines it in rounds.
    ///
    /// # Errors
    /// As [`trioxide::refine::refine`], and [`Error::Mesh`] with the element and the rule that it breaks.
    pub fn of_triangulation(mesh: &Triangulation<P::Double>, options: &Options) -> Result<Self> {
        P::validate(mesh)?;
        let points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
        let start = Instant::now();
        let mut edges = super::edges(points, &mesh.triangles);
        let numbering = ("number edges", start.elapsed());
        let tags = Tags::new(&mesh.segments, mesh.points.len())?;
        if !tags.values.is_empty() {
            let key = |[a, b]: [u32; 2]| (a.min(b), a.max(b));
            let ids: HashMap<_, _> = edges.edges.iter().map(|&ends| key(ends)).zip(0..).collect();
            edges.tags = vec![0; edges.edges.len()];
            for (&ends, &value) in tags.ends.iter().zip(&tags.values) {
                let e: usize = *ids
                    .get(&key(ends))
                    .ok_or(Error::SegmentWithoutEdge { ends })?;
                edges.tags[e] = value as i32;
            }
        }
        let mut run = Self::new(edges, options)?;
        run.markers = tags.markers;
        run.segments.clone_from(&mesh.segments);
        run.times.insert(0, numbering);
        Ok(run)
    }

    /// The mesh by points and triangles, as [`trioxide::refine::DeviceEdgeMesh::triangulation`].
    ///
    /// # Errors
    /// [`Error::Length`] when `regions` has another length than the input's list of triangles.
    pub fn triangulation(&self, regions: Option<&[i32]>) -> Result<Triangulation<P::Double>> {
        let of_input = |regions: &[i32]| {
            self.input.check_regions(regions.len())?;
            let ancestors = self.ancestors();
            Ok::<_, Error>(ancestors.iter().map(|&t| regions[t as usize]).collect())
        };
        let (ends, tags) = (
            self.mesh.edges.iter().copied(),
            self.mesh.tags.iter().copied(),
        );
        Ok(Triangulation {
            points: self.mesh.points.iter().map(|p| p.to_f64()).collect(),
            triangles: self.mesh.corners(),
            regions: regions.map(of_input).transpose()?,
            segments: match self.rounds.is_empty() && !self.segments.is_empty() {
                true => self.segments.clone(),
                false => segments(&self.markers, ends, tags),
            },
        })
    }

    /// Refines `mesh` in rounds.
    ///
    /// # Errors
    /// As [`trioxide::refine::refine`], and [`Error::Mesh`] with the element and the rule that it breaks.
    pub fn new(mesh: EdgeTriangulation<P>, options: &Options) -> Result<Self> {
        topology(&mesh)?;
        let clockwise = check_orientation(&mesh.points, &mesh.corners())?;
        let marking = options
            .marking
            .of_triangles(options.seed, mesh.triangles.len())?;
        let input = Level {
            vertices: mesh.points.len() as u32,
            edges: mesh.edges.len() as u32,
            triangles: mesh.triangles.len() as u32,
        };
        let mut run = SerialRun {
            mesh,
            rounds: Vec::new(),
            end: End::Rounds,
            times: Vec::new(),
            markers: Vec::new(),
            segments: Vec::new(),
            input,
        };
        let mut parents = Vec::new();
        let rounds = count_rounds(options.rounds);
        for round in 0..options.rounds as usize {
            rounds.advance(1);
            let corners = run.mesh.corners();
            let corners = corners.as_flattened();
            let is_marked =
                |t| marking.marks(t, &run.mesh, corners, round, input.triangles, &parents);
            let marks: Vec<bool> = (0..run.mesh.triangles.len() as u32)
                .map(is_marked)
                .collect();
            if !marks.contains(&true) {
                run.end = End::NothingMarked;
                break;
            }
            // The number of new triangles is known only after the round.
            let before = options.max_triangles.map(|_| run.mesh.clone());
            let (made, times) = super::refine(&mut run.mesh, |t| marks[t as usize]);
            run.add_times(times.steps());
            if let Some((most, before)) = options.max_triangles.zip(before)
                && run.mesh.triangles.len() > most as usize
            {
                run.mesh = before;
                run.end = End::MaxTriangles;
                break;
            }
            parents.extend(&made.parents);
            run.rounds.push(made);
            if options.rounds == u32::MAX {
                run.check_parts(clockwise)?;
            }
        }
        run.check_parts(clockwise)?;
        Ok(run)
    }

    /// Refuses a mesh with a degenerate triangle.
    fn check_parts(&self, clockwise: bool) -> Result<()> {
        let mut corners = self.mesh.corners();
        if clockwise {
            corners.iter_mut().for_each(|corners| corners.swap(1, 2));
        }
        let point = |v: u32| self.mesh.points[v as usize].to_f64();
        let is_proper = |&[a, b, c]: &[u32; 3]| P::Double::is_proper(point(a), point(b), point(c));
        match corners.iter().position(|corners| !is_proper(corners)) {
            None => Ok(()),
            Some(t) => Err(Error::Degenerate { triangle: t as u32 }),
        }
    }

    fn add_times<const N: usize>(&mut self, steps: [(&'static str, Duration); N]) {
        if self.times.is_empty() {
            self.times.extend(steps);
            return;
        }
        for (sum, (_, time)) in self.times.iter_mut().zip(steps) {
            sum.1 += time;
        }
    }

    /// The triangle of the input that each triangle is a part of; T.
    pub fn ancestors(&self) -> Vec<u32> {
        let mut ancestors: Vec<u32> = (0..self.input.triangles).collect();
        for &parent in self.rounds.iter().flat_map(|round| &round.parents) {
            // A parent is older than its parts.
            ancestors.push(ancestors[parent as usize]);
        }
        ancestors
    }
}
