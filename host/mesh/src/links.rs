//! Sets of elements that are turned or not as compared with each other: a union-find with parity.

/// Elements in sets, each turned or not as compared with its set's lowest one.
#[derive(Default)]
pub(crate) struct Links {
    /// A lower element of the set, or the element itself; and whether the element is turned as compared with it.
    parents: Vec<(u32, bool)>,
}

impl Links {
    pub(crate) fn new(count: usize) -> Self {
        let mut links = Self::default();
        links.reset(count);
        links
    }

    pub(crate) fn reset(&mut self, count: usize) {
        self.parents.clear();
        self.parents.extend((0..count as u32).map(|i| (i, false)));
    }

    /// The lowest element of the set, and whether `element` is turned as compared with it.
    pub(crate) fn find(&mut self, element: u32) -> (u32, bool) {
        let (mut root, mut turned) = (element, false);
        while self.parents[root as usize].0 != root {
            let (parent, is_turned) = self.parents[root as usize];
            (root, turned) = (parent, turned != is_turned);
        }
        let (mut at, mut left) = (element, turned);
        while at != root {
            let (parent, is_turned) = self.parents[at as usize];
            self.parents[at as usize] = (root, left);
            (at, left) = (parent, left != is_turned);
        }
        (root, turned)
    }

    /// Links two elements, one of which is turned if `differ`. Returns false if the opposite is so already.
    pub(crate) fn link(&mut self, one: u32, other: u32, differ: bool) -> bool {
        let ((a, turned), (b, also)) = (self.find(one), self.find(other));
        if a == b {
            return (turned != also) == differ;
        }
        self.parents[a.max(b) as usize] = (a.min(b), (turned != also) != differ);
        true
    }
}
