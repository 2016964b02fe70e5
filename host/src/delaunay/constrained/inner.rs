//! Rings nested in an outline, as holes.
//!
//! A *component* is segments that are connected through vertices. An *area* is triangles that no segment parts. The
//! area around all components is open. If all vertices of a component have an even number of edges on segments, it is
//! made of rings: across each of its edges, the one side is open and the other is not. Of any other component all
//! enclosed areas are open if the area around it is not, and the reverse: edges between them are borders of regions.
//! Open areas within the outline are holes; a ring within a hole is an island.
//!
//! The host goes through the areas from outside: the time is linear in the triangles.

use gpu::delaunay::constrained::NO_SEGMENT;
use gpu::ids::{HalfEdge, Place};

use super::Mesh;
use crate::Result;
use crate::device::Device;

/// The state of an area: not reached yet, open (without triangles), or solid.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Area {
    Unknown,
    Open,
    Solid,
}

impl Area {
    fn other(self) -> Self {
        match self {
            Area::Solid => Area::Open,
            _ => Area::Solid,
        }
    }
}

/// The triangles and their segments on the host.
struct Flood {
    corners: Vec<Place>,
    twins: Vec<HalfEdge>,
    lines: Vec<u32>,
    areas: Vec<Area>,
    /// Half-edges on segments of triangles that were reached, with others beyond.
    borders: Vec<usize>,
}

impl Flood {
    fn is_on_segment(&self, h: usize) -> bool {
        self.lines[h] != NO_SEGMENT
    }

    fn start(&self, h: usize) -> usize {
        self.corners[h].index() as usize
    }

    /// The places of a half-edge's ends.
    fn ends(&self, h: usize) -> [usize; 2] {
        [h, HalfEdge::new(h as u32).next().index() as usize].map(|h| self.start(h))
    }

    /// Reaches all triangles of the area of triangle `t`, unless they have been.
    fn reach(&mut self, t: usize, area: Area) {
        let mut stack = vec![t];
        while let Some(t) = stack.pop() {
            if self.areas[t] != Area::Unknown {
                continue;
            }
            self.areas[t] = area;
            for h in 3 * t..3 * t + 3 {
                if self.twins[h].is_none() {
                    continue;
                }
                match self.is_on_segment(h) {
                    true => self.borders.push(h),
                    false => stack.push(self.twins[h].index() as usize / 3),
                }
            }
        }
    }
}

/// The components of segments.
struct Components {
    /// A place before each in its component, or itself.
    parents: Vec<u32>,
    /// Whether a place has an odd number of edges on segments; at last, whether a place of its component has.
    odd: Vec<bool>,
}

impl Components {
    fn new(places: usize, flood: &Flood) -> Self {
        let mut all = Self {
            parents: (0..places as u32).collect(),
            odd: vec![false; places],
        };
        for h in 0..flood.corners.len() {
            let twin = flood.twins[h];
            if flood.is_on_segment(h) && (twin.is_none() || (h as u32) < twin.index()) {
                let [u, v] = flood.ends(h);
                all.odd[u] ^= true;
                all.odd[v] ^= true;
                let (u, v) = (all.root(u), all.root(v));
                all.parents[u.max(v)] = u.min(v) as u32;
            }
        }
        for place in 0..places {
            if all.odd[place] {
                let root = all.root(place);
                all.odd[root] = true;
            }
        }
        all
    }

    fn root(&mut self, mut place: usize) -> usize {
        while self.parents[place] as usize != place {
            let before = self.parents[self.parents[place] as usize];
            self.parents[place] = before;
            place = before as usize;
        }
        place
    }
}

/// A triangle of each hole.
pub(super) fn holes(on: &Device, mesh: &Mesh) -> Result<Vec<u32>> {
    let mut flood = Flood {
        corners: on.download(&mesh.corners)?,
        twins: on.download(&mesh.twins)?,
        lines: on.download(&mesh.lines)?,
        areas: vec![Area::Unknown; mesh.triangles()],
        borders: Vec::new(),
    };
    let mut components = Components::new(mesh.ranked.order.len(), &flood);
    // The area around each component that has been crossed, at the component's root.
    let mut around = vec![Area::Unknown; components.parents.len()];
    let mut across = |flood: &Flood, h: usize, from: Area| {
        let root = components.root(flood.start(h));
        if around[root] == Area::Unknown {
            around[root] = from;
        }
        match components.odd[root] {
            true => around[root].other(),
            false => from.other(),
        }
    };
    let hull: Vec<usize> = (0..flood.twins.len())
        .filter(|&h| flood.twins[h].is_none())
        .collect();
    let mut holes = Vec::new();
    // The open area first: it is around the others, and is no hole.
    for &h in &hull {
        if !flood.is_on_segment(h) {
            flood.reach(h / 3, Area::Open);
        }
    }
    for &h in &hull {
        if flood.is_on_segment(h) {
            let area = across(&flood, h, Area::Open);
            flood.reach(h / 3, area);
        }
    }
    while let Some(h) = flood.borders.pop() {
        let beyond = flood.twins[h].index() as usize / 3;
        if flood.areas[beyond] == Area::Unknown {
            let area = across(&flood, h, flood.areas[h / 3]);
            flood.reach(beyond, area);
            if area == Area::Open {
                holes.push(beyond as u32);
            }
        }
    }
    Ok(holes)
}
