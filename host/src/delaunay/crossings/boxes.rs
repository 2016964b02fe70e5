//! Boxes in a tree, to find the ones that meet another.

use glam::DVec2;

/// Boxes of a leaf.
const LEAF: usize = 8;

/// Lowest and highest coordinates.
pub(super) type Box2 = [DVec2; 2];

/// A tree of numbered boxes: the halves of range i are 2i + 1 and 2i + 2.
pub(super) struct Boxes {
    entries: Vec<(Box2, u32)>,
    ranges: Vec<Box2>,
}

impl Boxes {
    /// Sorts boxes; a box's number is its position in the list.
    pub fn new(boxes: Vec<Box2>) -> Self {
        let mut entries: Vec<(Box2, u32)> = boxes.into_iter().zip(0..).collect();
        let mut ranges = Vec::new();
        if !entries.is_empty() {
            halve(&mut entries, 0, &mut ranges);
        }
        Self { entries, ranges }
    }

    /// Calls `on` with the number of each box that meets `other`, in no particular order.
    pub fn visit(&self, other: Box2, on: &mut dyn FnMut(u32)) {
        if self.entries.is_empty() {
            return;
        }
        let meets = |of: &Box2| of[0].cmple(other[1]).all() && of[1].cmpge(other[0]).all();
        let mut ranges = vec![(0, 0, self.entries.len())];
        while let Some((i, begin, end)) = ranges.pop() {
            if !meets(&self.ranges[i]) {
                continue;
            }
            if end - begin <= LEAF {
                let entries = self.entries[begin..end].iter();
                entries
                    .filter(|entry| meets(&entry.0))
                    .for_each(|entry| on(entry.1));
            } else {
                let middle = begin.midpoint(end);
                ranges.push((2 * i + 2, middle, end));
                ranges.push((2 * i + 1, begin, middle));
            }
        }
    }
}

/// Halves entries along the longest extent of their box until a leaf is left, and stores the boxes of all ranges.
fn halve(entries: &mut [(Box2, u32)], i: usize, ranges: &mut Vec<Box2>) {
    let first = entries[0].0;
    let bounds = entries.iter().fold(first, |[low, high], (of, _)| {
        [low.min(of[0]), high.max(of[1])]
    });
    if ranges.len() <= i {
        ranges.resize(i + 1, [DVec2::ZERO; 2]);
    }
    ranges[i] = bounds;
    if entries.len() <= LEAF {
        return;
    }
    // Halves, since sums of large coordinates overflow.
    let extent = bounds[1] * 0.5 - bounds[0] * 0.5;
    let axis = usize::from(extent.y > extent.x);
    let center = |of: &Box2| of[0][axis] * 0.5 + of[1][axis] * 0.5;
    let middle = entries.len() / 2;
    entries.select_nth_unstable_by(middle, |(p, i), (q, j)| {
        center(p).total_cmp(&center(q)).then(i.cmp(j))
    });
    let (low, high) = entries.split_at_mut(middle);
    halve(low, 2 * i + 1, ranges);
    halve(high, 2 * i + 2, ranges);
}
