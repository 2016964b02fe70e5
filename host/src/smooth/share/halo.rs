//! Positions of nodes that several processes have.

use gpu::ids::{Place, Vertex};
use gpu::smooth::{self as kernel, Nodes};
use trioxide_kernel::launch::Buffer;

use super::{Others, SharePart};
use crate::Result;
use crate::device::Device;

/// The words of nodes that others want, and the words of ghosts, in a buffer of nodes in their order.
///
/// Ghosts lie among the nodes that stay, after the nodes that move. An exchange writes all nodes that stay anew: from
/// their own positions, which stay, and from the positions that came.
pub(super) struct Halo {
    /// The exchange of each class.
    classes: Vec<Class>,
    /// Where each word of a node that stays comes from: a word in `sources`.
    from: Buffer<Place>,
    /// The word in the nodes of each ghost's word in `sources`.
    ghosts: Buffer<Place>,
    /// The words of ghosts, class by class, and then of all nodes that stay.
    sources: Option<Buffer<Vertex>>,
    /// First word of the nodes that stay.
    first: u32,
}

/// The exchange of the nodes that move at the same time.
struct Class {
    /// Word in the nodes of each word to give.
    give: Buffer<Place>,
    /// Words for each process.
    counts: Vec<usize>,
    /// First word of its ghosts in `sources`.
    at: u32,
    /// The words of its ghosts one after the other.
    counted: Buffer<Place>,
}

impl Halo {
    /// `places` has the place of each node, those before `moving` move. `colours` has the class of each node that
    /// moves, in the whole mesh; where it is empty, all are of one.
    pub(super) fn new<L: Nodes>(
        on: &Device,
        places: &[u32],
        moving: u32,
        part: SharePart,
        colours: &[u32],
        classes: u32,
    ) -> Result<Self> {
        let each = (L::ELEMENTS * size_of::<L>() / size_of::<u32>()) as u32;
        let words = |place: u32| each * place..each * (place + 1);
        let nodes = places.len() as u32;
        let is_of = |v: u32, class| colours.get(v as usize).is_none_or(|&c| c == class);
        // The ghosts' words come before those of all nodes that stay, among which ghosts that never move keep their
        // own.
        let (mut of_classes, mut ghosts) = (Vec::new(), Vec::<u32>::new());
        for class in 0..classes {
            let taken = part.take.iter().filter(|&&v| is_of(v, class));
            let at = each * ghosts.len() as u32;
            ghosts.extend(taken);
            let counted: Vec<u32> = (0..each * ghosts.len() as u32 - at).collect();
            let (mut give, mut counts) = (Vec::new(), Vec::new());
            let mut rest = part.give;
            for &count in part.give_counts {
                let (to_one, others) = rest.split_at(count);
                rest = others;
                let before = give.len();
                let given = to_one.iter().filter(|&&v| is_of(v, class));
                give.extend(given.flat_map(|&v| words(places[v as usize])));
                counts.push(give.len() - before);
            }
            of_classes.push(Class {
                give: on.upload(bytemuck::cast_slice(&give))?,
                counts,
                at,
                counted: on.upload(bytemuck::cast_slice(&counted))?,
            });
        }
        let behind = each * ghosts.len() as u32;
        let first = each * moving;
        let mut from: Vec<u32> = (behind..behind + each * nodes - first).collect();
        let ghosts: Vec<u32> = ghosts
            .iter()
            .flat_map(|&v| words(places[v as usize]))
            .collect();
        for (word, &place) in (0..).zip(&ghosts) {
            from[(place - first) as usize] = word;
        }
        Ok(Self {
            classes: of_classes,
            from: on.upload(bytemuck::cast_slice(&from))?,
            ghosts: on.upload(bytemuck::cast_slice(&ghosts))?,
            sources: None,
            first,
        })
    }

    /// Number of classes, of the whole mesh.
    pub(super) fn classes(&self) -> usize {
        self.classes.len()
    }

    /// Gives the positions of a class, and takes those of its ghosts.
    pub(super) fn exchange<L: Nodes>(
        &mut self,
        on: &Device,
        class: usize,
        nodes: &mut Buffer<L>,
        others: &mut dyn Others,
    ) -> Result<()> {
        let given = self.given(on, class, nodes)?;
        let taken = others.exchange(given, &self.classes[class].counts)?;
        self.take(on, class, &taken, nodes)
    }

    /// The words to give.
    fn given<L: Nodes>(
        &self,
        on: &Device,
        class: usize,
        nodes: &mut Buffer<L>,
    ) -> Result<Vec<u32>> {
        let give = &self.classes[class].give;
        let n = give.len() as u32;
        if n == 0 {
            return Ok(Vec::new());
        }
        let mut given: Buffer<Vertex> = on.uninitialized(give.len())?;
        as_words(on, nodes, |words| {
            kernel::pick::launch(on, n, give, words, &mut given, 0)?;
            Ok(())
        })?;
        on.download_rows(&given)
    }

    /// Puts the words of ghosts in their places.
    fn take<L: Nodes>(
        &mut self,
        on: &Device,
        class: usize,
        taken: &[u32],
        nodes: &mut Buffer<L>,
    ) -> Result<()> {
        let first = self.first;
        let (behind, stay) = (self.ghosts.len() as u32, self.from.len() as u32);
        if taken.is_empty() {
            return Ok(());
        }
        let n = taken.len() as u32;
        let taken: Buffer<Vertex> = on.upload(bytemuck::cast_slice(taken))?;
        as_words(on, nodes, |words| {
            let mut sources = match self.sources.take() {
                Some(sources) => sources,
                None => {
                    let mut sources = on.uninitialized((behind + stay) as usize)?;
                    let places: Vec<u32> = (first..first + stay).collect();
                    let places: Buffer<Place> = on.upload(bytemuck::cast_slice(&places))?;
                    kernel::pick::launch(on, stay, &places, words, &mut sources, behind)?;
                    // Ghosts of later classes are where they were.
                    kernel::pick::launch(on, behind, &self.ghosts, words, &mut sources, 0)?;
                    sources
                }
            };
            let Class { at, counted, .. } = &self.classes[class];
            kernel::pick::launch(on, n, counted, &taken, &mut sources, *at)?;
            kernel::pick::launch(on, stay, &self.from, &sources, words, first)?;
            self.sources = Some(sources);
            Ok(())
        })
    }
}

/// Calls `work` with the words of a buffer.
fn as_words<L: Nodes>(
    on: &Device,
    nodes: &mut Buffer<L>,
    work: impl FnOnce(&mut Buffer<Vertex>) -> Result<()>,
) -> Result<()> {
    let empty = on.uninitialized(0)?;
    let mut words = std::mem::replace(nodes, empty).cast();
    let result = work(&mut words);
    *nodes = words.cast();
    result
}
