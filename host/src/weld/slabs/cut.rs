//! Where a mesh is cut into slabs.

use std::ops::Range;

use glam::DVec3;
use trioxide_mesh::parallel;

/// Slabs along an axis. Every vertex is in one; all vertices with the same coordinate are in the same.
pub struct Cut {
    pub axis: usize,
    pub slabs: Vec<Slab>,
}

/// A slab.
#[derive(Clone, Debug, PartialEq)]
pub struct Slab {
    /// Smallest and largest coordinate of its vertices.
    pub first: f64,
    pub last: f64,
    /// Slabs that its halo, and it itself, lie in.
    pub around: Range<u32>,
}

impl Slab {
    /// Whether a vertex at coordinate `x` is in the slab or within `reach` of it.
    ///
    /// A difference of two numbers never grows when one of them comes nearer to the other, also rounded: so this holds
    /// for every neighbour of a vertex of the slab.
    pub fn is_near(&self, x: f64, reach: f64) -> bool {
        self.first - x <= reach && x - self.last <= reach
    }
}

impl Cut {
    /// Cuts `points` (finite) into slabs of at most `most` vertices each, halos of `reach` included: as few as can be
    /// along the axis of the largest extent where that is possible, else another.
    ///
    /// The error is the number of vertices that a slab has at least, along the best of the axes.
    pub fn new(points: &[DVec3], reach: f64, most: usize) -> Result<Self, usize> {
        let corner = |min: fn(DVec3, DVec3) -> DVec3, start: f64| {
            let start = DVec3::splat(start);
            let of_pieces = parallel::map_pieces(points.len(), parallel::GRAIN, |range| {
                points[range].iter().copied().fold(start, min)
            });
            of_pieces.into_iter().fold(start, min)
        };
        let low = corner(DVec3::min, f64::INFINITY);
        let extent = corner(DVec3::max, f64::NEG_INFINITY) - low;
        let mut axes = [0, 1, 2];
        axes.sort_by(|&a, &b| extent[b].total_cmp(&extent[a]));
        let mut least = usize::MAX;
        for axis in axes {
            let mut xs = parallel::map(points, |p| p[axis]);
            parallel::sort_floats(&mut xs);
            match cut(&xs, reach, most) {
                Some(slabs) => return Ok(Self { axis, slabs }),
                None => least = least.min(densest(&xs, reach)),
            }
        }
        Err(least)
    }

    /// The slab of a vertex at coordinate `x`.
    pub fn slab_of(&self, x: f64) -> u32 {
        self.slabs.partition_point(|slab| slab.last < x) as u32
    }
}

/// Places of the coordinates in `xs`, ascending, that are within `reach` of `first..=last`.
fn window(xs: &[f64], first: f64, last: f64, reach: f64) -> Range<usize> {
    let start = xs.partition_point(|&x| first - x > reach);
    start..xs.partition_point(|&x| x - last <= reach)
}

/// Fills one slab after the other; `None` if one holds too many at once.
fn cut(xs: &[f64], reach: f64, most: usize) -> Option<Vec<Slab>> {
    let mut slabs = Vec::new();
    let mut start = 0;
    while start < xs.len() {
        let first = xs[start];
        let fits = |last: f64| window(xs, first, last, reach).len() <= most;
        if !fits(first) {
            return None;
        }
        // The last place whose coordinate the slab may end with.
        let end = start + xs[start..].partition_point(|&x| fits(x));
        let last = xs[end - 1];
        slabs.push(Slab {
            first,
            last,
            around: 0..0,
        });
        start = end;
    }
    let around = |slab: &Slab| {
        let from = slabs.partition_point(|other| slab.first - other.last > reach);
        let to = slabs.partition_point(|other| other.first - slab.last <= reach);
        from as u32..to as u32
    };
    let around: Vec<_> = slabs.iter().map(around).collect();
    for (slab, around) in slabs.iter_mut().zip(around) {
        slab.around = around;
    }
    Some(slabs)
}

/// The most vertices within `reach` of one coordinate: as many as the thinnest slab there has.
fn densest(xs: &[f64], reach: f64) -> usize {
    let (mut start, mut end, mut densest) = (0, 0, 0);
    for &x in xs {
        while x - xs[start] > reach {
            start += 1;
        }
        while end < xs.len() && xs[end] - x <= reach {
            end += 1;
        }
        densest = densest.max(end - start);
    }
    densest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_hold_all_once_and_no_more_than_fits() {
        let points: Vec<DVec3> = (0..1000)
            .map(|i| {
                let x = f64::from(i * 7919 % 1000) / 10.0;
                DVec3::new(1.0, x.floor(), 0.25 * x)
            })
            .collect();
        let (reach, most) = (2.0, 120);
        let cut = Cut::new(&points, reach, most).expect("10 vertices a unit");
        assert_eq!(cut.axis, 1);
        assert!(cut.slabs.len() > 5, "{:?}", cut.slabs);
        let mut own = 0;
        for (k, slab) in cut.slabs.iter().enumerate() {
            let here = |p: &&DVec3| cut.slab_of(p.y) == k as u32;
            own += points.iter().filter(here).count();
            let near: Vec<_> = points.iter().filter(|p| slab.is_near(p.y, reach)).collect();
            assert!(near.len() <= most, "{slab:?}: {}", near.len());
            assert!(
                near.iter().all(|p| slab.around.contains(&cut.slab_of(p.y))),
                "{slab:?}"
            );
        }
        assert_eq!(own, points.len());
    }

    #[test]
    fn the_axis_with_room_is_taken_and_the_least_need_is_named() {
        // Far apart along x, but most at one place there.
        let mut points: Vec<DVec3> = (0..100)
            .map(|i| DVec3::new(0.0, f64::from(i), 0.0))
            .collect();
        points.push(DVec3::X * 1e6);
        assert_eq!(Cut::new(&points, 1.0, 20).ok().map(|cut| cut.axis), Some(1));
        // Three coordinates' vertices along y.
        assert_eq!(Cut::new(&points, 1.0, 2).err(), Some(4));
        let same = vec![DVec3::ONE; 50];
        assert_eq!(Cut::new(&same, 0.0, 49).err(), Some(50));
        assert_eq!(
            Cut::new(&same, 0.0, 50).ok().map(|cut| cut.slabs.len()),
            Some(1)
        );
    }
}
