//! Surfaces part where they touch: copies of vertices.

use gpu::ids::{HalfEdge, Item, Vertex};
use gpu::repair as kernel;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{Bits, NONE};

use super::cut::{self, Joint};
use super::orient::Joined;
use super::state::{HostPoints, State, ids, sides_at};
use super::{Counts, distinct, pairs};
use crate::Result;
use crate::collective::compact;

impl State<'_> {
    /// The sides of crowded edges, those of an edge after each other.
    pub fn crowded(&self, order: &Buffer<HalfEdge>) -> Result<Buffer<HalfEdge>> {
        let mut found: Buffer<Bits<Item>> = self.bits(order.len())?;
        let n = order.len() as u32;
        kernel::find_crowded::launch(self.on, n, order, &self.faces, &mut found)?;
        sides_at(self.on, order, &compact(self.on, &found)?)
    }

    /// Parts the surfaces that meet at crowded edges.
    ///
    /// The second round finds the edges whose ends have no copies that part their pairs, and pairs the wedges of the
    /// outside there; the third one has no pairs. Without pairs, the corners of a part form a path, whose two ends
    /// alone are at edges that join no faces: no edge between two copies has more than two of them.
    pub fn part_edges(&mut self, points: &HostPoints<'_>, counts: &mut Counts) -> Result<()> {
        let on = self.on;
        on.stage("crowded edges", || {
            for round in 0..3 {
                let order = self.sides()?;
                let crowded = self.crowded(&order)?;
                if crowded.is_empty() {
                    break;
                }
                let mut chosen = on.filled(self.vertices().div_ceil(32), Bits::EMPTY)?;
                let n = crowded.len() as u32;
                kernel::mark_ends::launch(on, n, &crowded, &self.faces, &mut chosen)?;
                let mut links = self.links::<false>(&order)?;
                if round < 2 {
                    let (labels, turned, _) = self.majority(&order)?;
                    let joined = Joined {
                        labels: on.download(&labels)?,
                        turned: on.download_rows(&turned)?,
                    };
                    let points = points.get(self)?;
                    let sides = on.download_rows(&crowded)?;
                    let faces = self.download_faces()?;
                    let point = |v: u32| points[self.input_vertex(v) as usize];
                    let (edges, to) = pairs::pair(&sides, &faces, point, &joined, round == 1);
                    if round == 0 {
                        counts.crowded += edges;
                    }
                    let to = on.upload(&to)?.cast();
                    kernel::set_links::launch(on, n, &crowded, &to, &mut links)?;
                }
                self.split(&links, &chosen, counts)?;
            }
            Ok(())
        })
    }

    /// Cuts open one-sided components.
    pub fn cut(&mut self, counts: &mut Counts) -> Result<()> {
        let on = self.on;
        on.stage("cuts", || {
            let order = self.sides()?;
            let (labels, _, one_sided) = self.majority(&order)?;
            if one_sided == 0 {
                return Ok(());
            }
            let joined = Joined {
                labels: on.download(&labels)?,
                turned: Vec::new(),
            };
            let faces = self.download_faces()?;
            let mut links = self.links::<false>(&order)?;
            drop((labels, order));
            let of_sides: Vec<u32> = on.download_rows(&links)?;
            let origin = |side: u32| faces[side as usize / 3][side as usize % 3];
            // By components, each in the order of its sides.
            let mut joints: Vec<(usize, Joint)> = Vec::new();
            for (side, &other) in (0..).zip(&of_sides) {
                let ends = [side / 3, other / 3];
                if other != NONE && joined.is_one_sided(ends[0] as usize) {
                    let turns = origin(side) == origin(other);
                    joints.push((joined.root(ends[0] as usize), (side, ends, turns)));
                }
            }
            joints.sort_by_key(|joint| joint.0);
            let mut found = Vec::new();
            for of_one in joints.chunk_by(|a, b| a.0 == b.0) {
                let of_one: Vec<Joint> = of_one.iter().map(|joint| joint.1).collect();
                found.extend(cut::cuts(&of_one)?);
            }
            counts.cut += found.len() as u64;
            let n = found.len() as u32;
            let found: Buffer<HalfEdge> = on.upload(&found)?.cast();
            let none = on.filled(found.len(), HalfEdge::NONE)?;
            kernel::set_links::launch(on, n, &found, &none, &mut links)?;
            let mut chosen = on.filled(self.vertices().div_ceil(32), Bits::EMPTY)?;
            kernel::mark_ends::launch(on, n, &found, &self.faces, &mut chosen)?;
            self.split(&links, &chosen, counts)
        })
    }

    /// Parts the surfaces that touch at a vertex.
    pub fn part_vertices(&mut self, counts: &mut Counts) -> Result<()> {
        let on = self.on;
        on.stage("touching vertices", || {
            let links = self.links::<true>(&self.sides()?)?;
            self.split(&links, &on.uninitialized(0)?, counts)
        })
    }

    /// The lowest corner of each one's part around its vertex, and the first corners of the parts that get copies. Only
    /// vertices in `chosen` are copied; an empty set stands for all.
    pub fn copies(
        &self,
        links: &Buffer<HalfEdge>,
        chosen: &Buffer<Bits<Vertex>>,
    ) -> Result<(Buffer<HalfEdge>, Buffer<HalfEdge>)> {
        let (on, n) = (self.on, 3 * self.faces.len());
        let mut parents = ids(on, n)?;
        kernel::join_corners::launch(on, n as u32, links, &self.faces, &mut parents)?;
        let labels = self.labels(parents)?.cast();
        let mut first = on.filled(self.vertices(), HalfEdge::NONE)?;
        kernel::find_first_corners::launch(on, n as u32, &self.faces, &mut first)?;
        let mut found = self.bits(n)?;
        kernel::find_copies::launch(
            on,
            n as u32,
            &labels,
            &self.faces,
            &first,
            chosen,
            &mut found,
        )?;
        Ok((labels, compact(on, &found)?))
    }

    /// The vertices that copies are made of.
    pub fn parents_of(&self, copies: &Buffer<HalfEdge>) -> Result<Vec<u32>> {
        let mut parents = self.on.uninitialized(copies.len())?;
        let n = copies.len() as u32;
        kernel::write_parents::launch(self.on, n, copies, &self.faces, &mut parents)?;
        self.on.download_rows(&parents)
    }

    /// Gives copies of vertices to the parts that are joined around them.
    pub fn split(
        &mut self,
        links: &Buffer<HalfEdge>,
        chosen: &Buffer<Bits<Vertex>>,
        counts: &mut Counts,
    ) -> Result<()> {
        let on = self.on;
        let (labels, copies) = self.copies(links, chosen)?;
        if copies.is_empty() {
            return Ok(());
        }
        let mut ranks = on.filled(labels.len(), Item::NONE)?;
        kernel::rank_copies::launch(on, copies.len() as u32, &copies, &mut ranks)?;
        let mut parents = self.parents_of(&copies)?;
        let first = self.vertices() as u32;
        kernel::split_vertices::launch(
            on,
            self.faces.len() as u32,
            &labels,
            &ranks,
            first,
            &mut self.faces,
        )?;
        if !self.segments.is_empty() {
            let faces = self.download_faces()?;
            self.segments.split(&faces, first, &parents);
        }
        let of_input = parents.iter().map(|&v| self.input_vertex(v));
        let of_input: Vec<u32> = of_input.collect();
        self.copies.extend(of_input);
        self.copied = on.upload(&self.copies)?.cast();
        counts.copies += parents.len() as u64;
        counts.split += distinct(&mut parents);
        Ok(())
    }
}
