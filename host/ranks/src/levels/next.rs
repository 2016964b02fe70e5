//! The pieces of the next level.

use gpu::levels::Extent;
use rayon::slice::ParallelSliceMut;
use trioxide::mesh::NONE;
use trioxide_mesh::parallel;

use super::join::Joined;
use super::pieces::Pieces;
use super::{Level, Side};
use crate::transport::{Mail, Ranks};

/// The next level, and the piece of it that each of this rank's pieces belongs to. Collective.
pub(super) fn make(
    ranks: &Ranks,
    level: Level,
    mut pieces: Pieces,
    joined: Joined,
) -> (Level, Vec<u32>) {
    let own = level.boxes.len();
    let is_first = |p: usize| {
        let group = joined.group(p);
        group == NONE || group == level.first() + p as u32
    };
    let firsts: Vec<usize> = (0..own).filter(|&p| is_first(p)).collect();
    let (before, _) = ranks.scan(firsts.len() as u64);
    let mut parents = vec![NONE; own];
    for (i, &p) in firsts.iter().enumerate() {
        parents[p] = before as u32 + i as u32;
    }

    // The numbers of pairs, for the pieces that joined them.
    let joining: Vec<usize> = (0..own).filter(|&p| !is_first(p)).collect();
    let asked = Mail::places(ranks.size(), joining.len(), |i| {
        level.rank(joined.group(joining[i]))
    });
    let questions = asked.map(|&i| joined.group(joining[i as usize]));
    let answers = ranks.ask(&questions, |&group| {
        parents[level.place(group).expect("it is of this rank")]
    });
    for (&i, answer) in asked.items().iter().zip(answers) {
        parents[joining[i as usize]] = answer;
    }

    // The numbers of pieces, for their neighbours.
    let mut told = Vec::new();
    for (p, &parent) in parents.iter().enumerate() {
        let around = pieces.ranks_around(&level, p);
        told.extend(around.map(|rank| (rank, [level.first() + p as u32, parent])));
    }
    let told = Mail::sorted(ranks.size(), told.len(), |i| told[i]);
    let told = ranks.exchange(&told);
    let mut of_slots = parents.clone();
    of_slots.resize(pieces.len(), NONE);
    for &[piece, parent] in told.items() {
        let slot = pieces.slot_of_other(piece).expect("it is beyond a border");
        of_slots[slot as usize] = parent;
    }

    let members = firsts.iter().flat_map(|&p| joined.members(p));
    pieces.fetch(ranks, &level, members.collect());
    let boxes = parallel::map(&firsts, |&p| {
        let members = joined.members(p).map(|member| pieces.slot(&level, member));
        let boxes = members.map(|slot| pieces.extent(slot));
        boxes.fold(pieces.extent(p as u32), Extent::with)
    });

    let moved = parallel::filter_collect(level.sides.len(), |i| {
        let side = level.sides[i];
        let p = level.place(side.piece).expect("it is of this rank");
        let beyond = match side.beyond {
            NONE => NONE,
            beyond => of_slots[pieces.slot(&level, beyond) as usize],
        };
        let rank = match joined.group(p) {
            NONE => level.me,
            group => level.rank(group),
        };
        let piece = parents[p];
        let moved = Side {
            piece,
            beyond,
            ..side
        };
        (piece != beyond).then_some((rank, moved))
    });
    let moved = Mail::sorted(ranks.size(), moved.len(), |i| moved[i]);
    let sides = ranks.exchange(&moved);
    let faces = level.faces.as_ref().map(|faces| {
        let places = moved.map(|side| side.vertex);
        faces.send(ranks, &places, &sides.counts())
    });
    let mut sides = sides.into_items();
    if faces.is_some() {
        parallel::for_each_mut(&mut sides, |i, side| side.vertex = i as u32);
    }
    sides.par_sort_unstable_by_key(Side::key);
    (Level::new(ranks, sides, boxes, faces), parents)
}
