//! Pieces join: pairs, then leftovers.

use std::collections::{BTreeMap, HashMap};

use trioxide::mesh::NONE;
use trioxide_mesh::parallel;

use super::Level;
use super::pieces::{Candidate, Pieces, candidate};
use crate::transport::{Mail, Ranks};

/// The pieces of a level that joined.
pub(super) struct Joined {
    /// The pair that each known piece belongs to, by its lower piece; [`NONE`] for a piece alone. By slots.
    groups: Vec<u32>,
    /// The pieces that belong to the pair of each own piece, which is its lower one: its partner, then leftovers.
    members: Vec<[u32; 3]>,
}

impl Joined {
    /// No piece joined another one.
    pub(super) fn new(level: &Level, pieces: &Pieces) -> Self {
        Self {
            groups: vec![NONE; pieces.len()],
            members: vec![[NONE; 3]; level.boxes.len()],
        }
    }

    /// The pair that the own piece at place `p` belongs to, or [`NONE`].
    pub(super) fn group(&self, p: usize) -> u32 {
        self.groups[p]
    }

    /// The pieces that joined the own piece at place `p`, which gives its id to the pair.
    pub(super) fn members(&self, p: usize) -> impl Iterator<Item = u32> {
        let members = self.members[p];
        members.into_iter().take_while(|&member| member != NONE)
    }

    /// Pairs pieces; returns whether there is a pair. Collective.
    pub(super) fn pair(
        &mut self,
        ranks: &Ranks,
        level: &Level,
        pieces: &Pieces,
        most_ratio: f64,
    ) -> bool {
        let first = level.first();
        // The pieces that each one may join, the first one first.
        let mut candidates = parallel::collect(level.boxes.len(), |p| {
            let candidates = pieces.borders(p).iter().filter_map(|border| {
                let length = pieces.length(level, p, &[border.beyond], most_ratio)?;
                let candidate = candidate(length, first + p as u32, border.beyond);
                Some((candidate, border.slot, border.beyond))
            });
            let mut candidates: Vec<_> = candidates.collect();
            candidates.sort_unstable_by(|a, b| a.partial_cmp(b).expect("no NaN"));
            candidates
        });
        let mut seekers = parallel::collect(level.boxes.len(), |p| p);
        let mut choices = vec![NONE; level.boxes.len()];
        let mut is_any = false;
        loop {
            for &p in &seekers {
                let candidates = &mut candidates[p];
                let is_taken = |slot: u32| self.groups[slot as usize] != NONE;
                while candidates.pop_if(|(_, slot, _)| is_taken(*slot)).is_some() {}
                choices[p] = candidates.last().map_or(NONE, |&(_, _, beyond)| beyond);
            }
            seekers.retain(|&p| choices[p] != NONE);
            let to_others = seekers
                .iter()
                .filter(|&&p| level.place(choices[p]).is_none());
            let to_others: Vec<usize> = to_others.copied().collect();
            let sent = Mail::sorted(ranks.size(), to_others.len(), |i| {
                let p = to_others[i];
                (level.rank(choices[p]), [choices[p], first + p as u32])
            });
            let mut chosen = ranks.exchange(&sent).into_items();
            chosen.sort_unstable();
            let mut paired = Vec::new();
            for &p in &seekers {
                let (piece, choice) = (first + p as u32, choices[p]);
                let is_mutual = match level.place(choice) {
                    Some(q) => choices[q] == piece,
                    None => chosen.binary_search(&[piece, choice]).is_ok(),
                };
                if is_mutual {
                    paired.push((p, piece.min(choice)));
                    self.members[p][0] = choice;
                }
            }
            is_any |= !paired.is_empty();
            self.put(ranks, level, pieces, &paired);
            seekers.retain(|&p| self.groups[p] == NONE);
            if !ranks.any(!seekers.is_empty()) {
                return ranks.any(is_any);
            }
        }
    }

    /// Puts own pieces into pairs, and sends the pairs to the ranks of their neighbours. Collective.
    fn put(&mut self, ranks: &Ranks, level: &Level, pieces: &Pieces, joined: &[(usize, u32)]) {
        let mut told = Vec::new();
        for &(p, group) in joined {
            self.groups[p] = group;
            let around = pieces.ranks_around(level, p);
            told.extend(around.map(|rank| (rank, [level.first() + p as u32, group])));
        }
        let told = Mail::sorted(ranks.size(), told.len(), |i| told[i]);
        for &[piece, group] in ranks.exchange(&told).items() {
            let slot = pieces.slot_of_other(piece).expect("it is beyond a border");
            self.groups[slot as usize] = group;
        }
    }

    /// Pieces that are left over join pairs. Collective.
    pub(super) fn take_leftovers(
        &mut self,
        ranks: &Ranks,
        level: &Level,
        pieces: &mut Pieces,
        most_ratio: f64,
    ) {
        loop {
            let leftovers = (0..level.boxes.len()).filter(|&p| self.groups[p] == NONE);
            let leftovers: Vec<usize> = leftovers.collect();
            let pairs = self.pairs_beside(ranks, level, pieces, &leftovers);
            let choices = parallel::map(&leftovers, |&p| {
                let piece = level.first() + p as u32;
                let groups = pieces.borders(p).iter();
                let groups = groups.map(|border| self.groups[border.slot as usize]);
                let mut groups: Vec<u32> = groups.filter(|&group| group != NONE).collect();
                groups.sort_unstable();
                groups.dedup();
                let candidates = groups.into_iter().filter_map(|group| {
                    let [partner, third, fourth] = match level.place(group) {
                        Some(place) => self.members[place],
                        None => pairs[&group],
                    };
                    let union = [group, partner, third];
                    let count = if third == NONE { 2 } else { 3 };
                    let is_full = fourth != NONE;
                    let length = match is_full {
                        true => None,
                        false => pieces.length(level, p, &union[..count], most_ratio),
                    }?;
                    Some((candidate(length, piece, group), group))
                });
                candidates.max_by(|a, b| a.partial_cmp(b).expect("no NaN"))
            });
            let choices = leftovers.into_iter().zip(choices);
            let chosen: Vec<(usize, u32, f64)> = choices
                .filter_map(|(p, choice)| {
                    let ((length, ..), group) = choice?;
                    Some((p, group, length))
                })
                .collect();
            if !ranks.any(!chosen.is_empty()) {
                return;
            }
            let sent = Mail::sorted(ranks.size(), chosen.len(), |i| {
                let (p, group, length) = chosen[i];
                let pieces = u64::from(group) << 32 | u64::from(level.first() + p as u32);
                (level.rank(group), [pieces, length.to_bits()])
            });
            let taken = self.take(level, &ranks.exchange(&sent));
            let taken = Mail::sorted(ranks.size(), taken.len(), |i| {
                (level.rank(taken[i][0]), taken[i])
            });
            let joined = ranks.exchange(&taken);
            let joined = joined.items().iter().map(|&[piece, group]| {
                let place = level.place(piece).expect("it is of this rank");
                (place, group)
            });
            self.put(ranks, level, pieces, &joined.collect::<Vec<_>>());
        }
    }

    /// The pieces of the pairs of other ranks that leftovers are beside, which become known. Collective.
    fn pairs_beside(
        &mut self,
        ranks: &Ranks,
        level: &Level,
        pieces: &mut Pieces,
        leftovers: &[usize],
    ) -> HashMap<u32, [u32; 3]> {
        let borders = leftovers.iter().flat_map(|&p| pieces.borders(p));
        let groups = borders.map(|border| self.groups[border.slot as usize]);
        let (mut others, own): (Vec<u32>, Vec<u32>) = groups
            .filter(|&group| group != NONE)
            .partition(|&group| level.place(group).is_none());
        others.sort_unstable();
        others.dedup();
        let asked = Mail::sorted(ranks.size(), others.len(), |i| {
            (level.rank(others[i]), others[i])
        });
        let answers = ranks.ask(&asked, |&group| {
            self.members[level.place(group).expect("it is of this rank")]
        });
        let pairs: HashMap<u32, [u32; 3]> = others.into_iter().zip(answers).collect();
        let members = own.iter().filter_map(|&group| level.place(group));
        let members = members.flat_map(|place| self.members[place]);
        let all = pairs.iter();
        let all = all.flat_map(|(&group, members)| [&[group][..], &members[..]].concat());
        let all = members.chain(all).filter(|&piece| piece != NONE);
        pieces.fetch(ranks, level, all.collect());
        // Nothing asks for the pairs of pieces beyond a neighbour.
        self.groups.resize(pieces.len(), NONE);
        pairs
    }

    /// Each own pair takes the first of the pieces that chose it, each with the length of its border. Returns the
    /// pieces with their pairs.
    fn take(&mut self, level: &Level, chosen: &Mail<[u64; 2]>) -> Vec<[u32; 2]> {
        let mut firsts: BTreeMap<u32, (Candidate, u32)> = BTreeMap::new();
        for &[pieces, length] in chosen.items() {
            let [group, piece] = [(pieces >> 32) as u32, pieces as u32];
            let choice = candidate(f64::from_bits(length), piece, group);
            let first = firsts.entry(group).or_insert((choice, piece));
            if choice > first.0 {
                *first = (choice, piece);
            }
        }
        let mut taken = Vec::new();
        for (group, (_, piece)) in firsts {
            let members = &mut self.members[level.place(group).expect("it is of this rank")];
            let place = members.iter().position(|&member| member == NONE);
            members[place.expect("nothing chooses a full pair")] = piece;
            taken.push([piece, group]);
        }
        taken
    }
}
