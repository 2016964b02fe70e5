//! Sets of elements: they give the regions, tags and markers.
//!
//! An element has the first set that contains it: of the sections, of the sets that its `*ELEMENT` names, of `*ELSET`,
//! then the `*ELEMENT` set that all elements of a dimension are in. Gmsh names the geometrical entity of elements in
//! `*ELEMENT` (`Surface1`) and has the physical groups as `*ELSET`: entities count where a dimension has no other set.
//! The others are in a note, but for entities; a line is read for each.

use std::collections::{BTreeMap, HashMap, HashSet};

use rayon::slice::ParallelSliceMut;

use super::super::elements::{Elements, Shape, Tags};
use super::Run;
use crate::text::listed;
use crate::text::{Fault, Parsed};

/// A set as `*ELSET` lists it.
#[derive(Default)]
pub(super) struct Set {
    pub(super) members: Vec<i64>,
    /// Names of sets in it, in upper case.
    pub(super) subsets: Vec<String>,
}

/// Numbers of sets.
#[derive(Default)]
pub(super) struct Numbers {
    /// Numbers that names say.
    pub(super) taken: HashSet<i32>,
    of: HashMap<String, i32>,
    last: i32,
    /// Names as the file spells them, by the same in upper case.
    pub(super) spelled: HashMap<String, String>,
}

impl Numbers {
    /// The number of a set: the number in its name, or the next free one.
    fn number(&mut self, set: &str) -> i32 {
        if let Some(number) = number_in(set) {
            return number;
        }
        if let Some(&number) = self.of.get(set) {
            return number;
        }
        self.last += 1;
        while self.taken.contains(&self.last) {
            self.last += 1;
        }
        self.of.insert(set.to_owned(), self.last);
        self.last
    }

    fn spelled(&self, set: &str) -> String {
        self.spelled.get(set).map_or(set, String::as_str).to_owned()
    }
}

/// The number in a name of ours, or in that of a physical group of Gmsh without a name.
pub(super) fn number_in(set: &str) -> Option<i32> {
    for prefix in ["REGION_", "MARKER_"] {
        if let Some(rest) = set.strip_prefix(prefix) {
            return match rest.strip_prefix('M') {
                Some(digits) => format!("-{digits}").parse().ok(),
                None => rest.parse().ok(),
            };
        }
    }
    entity(set.strip_prefix("PHYSICAL")?)
}

/// The number of a geometrical entity of Gmsh.
fn entity(set: &str) -> Option<i32> {
    let digits = ["LINE", "CURVE", "SURFACE", "VOLUME"]
        .iter()
        .find_map(|prefix| set.strip_prefix(prefix))?;
    let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| digits.parse().ok())?
}

/// Sets in the order in which they count.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Class {
    Section,
    Element,
    Listed,
    Whole,
    Entity,
}

/// A set that elements may have, by its class and its place in the file.
type Candidate = (Class, usize);

/// The sets and the elements of a part.
pub(super) struct PartSets<'a> {
    pub(super) runs: &'a [Run],
    pub(super) sets: &'a HashMap<String, Set>,
    /// Names of the sets of `*ELEMENT` and `*ELSET`, in the file's order.
    pub(super) order: &'a [String],
    pub(super) sections: &'a [String],
}

impl PartSets<'_> {
    /// Appends the elements, each with its set's number. Returns the sets without elements.
    pub(super) fn push(
        &self,
        numbers: &mut Numbers,
        elements: &mut Elements,
        at: usize,
    ) -> Parsed<Vec<String>> {
        let naming = self.name_numbers(numbers, elements);
        let of_runs: Vec<Option<Candidate>> = self.runs.iter().map(|r| self.of_run(r)).collect();
        let pairs = self.pairs(&naming);
        // All sets of each element, the first one first.
        let lists = |run: usize, i: usize| {
            let number = self.runs[run].numbers[i];
            let begin = pairs.partition_point(|pair| pair.0 < number);
            let mut all: Vec<Candidate> = (pairs[begin..].iter())
                .take_while(|pair| pair.0 == number)
                .map(|pair| pair.1)
                .chain(of_runs[run])
                .collect();
            all.sort_unstable();
            all.dedup_by_key(|candidate| self.key(*candidate));
            all
        };
        let mut used: BTreeMap<Candidate, [bool; 4]> = BTreeMap::new();
        for (run, its) in self.runs.iter().enumerate() {
            let dimension = its.shape.dimension();
            let mut add = |all: &[Candidate]| {
                for &candidate in all {
                    used.entry(candidate).or_default()[dimension] = true;
                }
            };
            match pairs.is_empty() {
                true if its.numbers.is_empty() => {}
                true => add(of_runs[run].as_slice()),
                false => (0..its.numbers.len()).for_each(|i| add(&lists(run, i))),
            }
        }
        let mut has_groups = [false; 4];
        let mut tags = HashMap::new();
        for (&candidate, dimensions) in &used {
            let key = self.key(candidate);
            let is_entity = candidate.0 == Class::Entity;
            let tag = match (is_entity, entity(key)) {
                (true, Some(tag)) => tag,
                _ => numbers.number(key),
            };
            tags.insert(candidate, tag);
            for dimension in (0..4).filter(|&d| dimensions[d] && !is_entity) {
                has_groups[dimension] = true;
                if number_in(key).is_none() {
                    let name = numbers.spelled(key);
                    elements.groups.names.insert((dimension, tag), name);
                }
            }
        }
        for (run, its) in self.runs.iter().enumerate() {
            let dimension = its.shape.dimension();
            let counts = |c: &Candidate| c.0 != Class::Entity || !has_groups[dimension];
            if its.numbers.is_empty() {
                continue;
            }
            if pairs.is_empty() {
                let tag = of_runs[run].filter(counts).map_or(0, |c| tags[&c]);
                push(elements, its.shape, &its.vertices, Tags::All(tag), at)?;
                continue;
            }
            let (mut firsts, mut more) = (Vec::new(), Vec::new());
            for i in 0..its.numbers.len() {
                let all = lists(run, i).into_iter().filter(counts);
                let mut all = all.map(|candidate| tags[&candidate]);
                let first = all.next().unwrap_or(0);
                firsts.push(first);
                for other in all {
                    match its.shape {
                        Shape::Line => more.push((i, other)),
                        _ => elements.groups.add(dimension, first, other, 1),
                    }
                }
            }
            push(elements, its.shape, &its.vertices, Tags::Each(&firsts), at)?;
            for (i, tag) in more {
                let ends = &its.vertices[2 * i..2 * i + 2];
                push(elements, its.shape, ends, Tags::All(tag), at)?;
            }
        }
        let has_elements = |set: &&String| used.keys().any(|&c| self.key(c) == set.as_str());
        let is_empty = |set: &&String| !naming.contains(set.as_str()) && !has_elements(set);
        let left_out = self.order.iter().filter(is_empty);
        Ok(left_out.map(|set| numbers.spelled(set)).collect())
    }

    fn key(&self, (class, place): Candidate) -> &str {
        match class {
            Class::Section => &self.sections[place],
            _ => &self.order[place],
        }
    }

    /// Takes the names of numbered sets: of `*ELSET, ELSET=steel` with nothing but `region_7` in it. Returns these.
    fn name_numbers(&self, numbers: &Numbers, elements: &mut Elements) -> HashSet<&str> {
        let mut naming = HashSet::new();
        for key in self.order {
            let Some(Set { members, subsets }) = self.sets.get(key) else {
                continue;
            };
            let is_used = self.sections.contains(key) || self.runs.iter().any(|r| r.set == *key);
            let ([], [numbered], false) = (&members[..], &subsets[..], is_used) else {
                continue;
            };
            let of = self.runs.iter().filter(|run| run.set == *numbered);
            if let (Some(number), true) = (number_in(numbered), of.clone().next().is_some()) {
                for run in of {
                    let place = (run.shape.dimension(), number);
                    elements.groups.names.insert(place, numbers.spelled(key));
                }
                naming.insert(key.as_str());
            }
        }
        naming
    }

    /// The set that the `*ELEMENT` of a run names, unless others list it too.
    fn of_run(&self, run: &Run) -> Option<Candidate> {
        let place = self.order.iter().position(|set| *set == run.set)?;
        if self.sets.contains_key(&run.set) || self.sections.contains(&run.set) {
            return None;
        }
        let dimension = run.shape.dimension();
        let mut others = self
            .runs
            .iter()
            .filter(|o| o.shape.dimension() == dimension);
        let is_whole = others.all(|other| other.set == run.set);
        let class = match entity(&run.set) {
            Some(_) => Class::Entity,
            None if is_whole => Class::Whole,
            None => Class::Element,
        };
        Some((class, place))
    }

    /// The elements of sections and of `*ELSET`, ascending.
    fn pairs(&self, naming: &HashSet<&str>) -> Vec<(i64, Candidate)> {
        let mut pairs = Vec::new();
        let mut add = |candidate: Candidate| {
            let mut open = vec![self.key(candidate)];
            // Each once: sets may contain each other.
            let mut seen = HashSet::new();
            while let Some(name) = open.pop() {
                if !seen.insert(name) {
                    continue;
                }
                if let Some(set) = self.sets.get(name) {
                    open.extend(set.subsets.iter().map(String::as_str));
                    pairs.extend(set.members.iter().map(|&member| (member, candidate)));
                }
                let runs = self.runs.iter().filter(|run| run.set == name);
                let members = runs.flat_map(|run| &run.numbers);
                pairs.extend(members.map(|&member| (member, candidate)));
            }
        };
        for place in 0..self.sections.len() {
            add((Class::Section, place));
        }
        for (place, key) in self.order.iter().enumerate() {
            let is_listed = self.sets.contains_key(key);
            if is_listed && !naming.contains(key.as_str()) && !self.sections.contains(key) {
                add((Class::Listed, place));
            }
        }
        pairs.par_sort_unstable();
        pairs.dedup();
        pairs
    }
}

/// The note on sets without elements.
pub(super) fn note_on_empty(sets: Vec<String>) -> Option<String> {
    let all = listed(sets);
    (!all.is_empty()).then(|| format!("element sets without elements that are read: {all}"))
}

fn push(
    elements: &mut Elements,
    shape: Shape,
    vertices: &[u32],
    tags: Tags,
    at: usize,
) -> Parsed<()> {
    let pushed = elements.push(shape, vertices, tags);
    pushed.map_err(|reason| Fault::new(at, reason))
}
