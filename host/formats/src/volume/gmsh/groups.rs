//! Physical groups: their names, and the entities that they have.
//!
//! An entity of version 4 lists its groups; a minus sign means that the group has the entity reversed. Partitions have
//! entities of their own, in `$PartitionedEntities`: their groups are those of the entities that were divided, their
//! parents, or stand-ins for them that Gmsh makes on request (`Mesh.PartitionCreatePhysicals`), named
//! `_part{1}_physical{10}_dim{2}`. Entities between partitions have a parent of a higher dimension: the input of the
//! partition did not have them, and they are left out, as are the cells that a partition borrows from others.
//!
//! A group of ours whose name is `region_m5` or `marker_m5` stands for the tag -5: numbers of groups are above 0.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::data::{Data, Version};
use crate::text::Parsed;
use crate::text::listed;
use trioxide_mesh::about::{About, GroupNames};

/// The dimension of names in old files, which do not say it.
const ANY: usize = 4;

/// Groups of a file.
#[derive(Default)]
pub(super) struct Groups {
    /// Names, by dimension and number.
    names: BTreeMap<(usize, i32), String>,
    /// The tags that groups stand for; `None` for groups of elements between partitions.
    stand_ins: HashMap<(usize, i32), Option<i32>>,
    /// Entities of version 4, by dimension and tag.
    entities: HashMap<(usize, i64), Entity>,
    /// Tags of the entities with cells of other partitions.
    ghosts: HashSet<i64>,
    /// Whether the elements are in partitions.
    pub(super) has_partitions: bool,
    /// Groups with reversed entities.
    reversed: BTreeSet<(usize, i32)>,
    /// Number of points in each group.
    points: BTreeMap<i32, usize>,
    /// Elements between partitions, and cells of other partitions.
    left_out: [usize; 2],
}

/// An entity of version 4.
#[derive(Default)]
struct Entity {
    groups: Vec<i32>,
    /// Dimension and tag of the entity that was divided.
    parent: Option<(usize, i64)>,
}

/// The place of an entity's elements in the mesh.
pub(super) struct Place {
    /// The tags of its groups.
    pub(super) groups: Vec<i32>,
    /// The entity, or the one that was divided.
    pub(super) entity: i64,
}

impl Groups {
    /// Reads `$PhysicalNames`. Lines that are no names are skipped.
    pub(super) fn read_names(&mut self, data: &mut Data) {
        let mut text = data.text();
        let end = memchr::memmem::find(&text.file[text.at..], b"$EndPhysicalNames");
        let end = end.map_or(text.at, |length| text.at + length);
        while text.at < end {
            let line = String::from_utf8_lossy(text.line()).trim().to_owned();
            let Some((numbers, name)) = line.split_once('"') else {
                continue;
            };
            let numbers: Result<Vec<i32>, _> =
                numbers.split_ascii_whitespace().map(str::parse).collect();
            let (dimension, number) = match numbers.as_deref() {
                Ok(&[dimension @ 0..4, number]) => (dimension as usize, number),
                Ok(&[number]) => (ANY, number),
                _ => continue,
            };
            let name = name.strip_suffix('"').unwrap_or(name);
            match stand_in(name) {
                Some(tag) => _ = self.stand_ins.insert((dimension, number), tag),
                None => _ = self.names.insert((dimension, number), name.to_owned()),
            }
        }
        text.at = end;
        data.go_on(&text);
    }

    /// Whether groups stand for other tags.
    pub(super) fn has_stand_ins(&self) -> bool {
        !self.stand_ins.is_empty()
    }

    /// Returns the tag of elements in a group: `None` where they lie between partitions.
    pub(super) fn tag(&mut self, dimension: usize, group: i32) -> Option<i32> {
        let number = group.checked_abs().unwrap_or(i32::MAX);
        let (tag, is_reversed) = match self.stand_ins.get(&(dimension, number)) {
            Some(&tag) => (tag?, false),
            None => (number, group < 0),
        };
        if is_reversed {
            self.reversed.insert((dimension, number));
        }
        Some(tag)
    }

    /// Counts points with the tag of a group.
    pub(super) fn add_points(&mut self, tag: i32, count: usize) {
        if tag != 0 {
            *self.points.entry(tag).or_default() += count;
        }
    }

    /// Counts elements between partitions.
    pub(super) fn leave_out(&mut self, count: usize) {
        self.left_out[0] += count;
    }

    /// Reads `$Entities`, or `$PartitionedEntities`.
    pub(super) fn read_entities(
        &mut self,
        data: &mut Data,
        version: Version,
        are_parts: bool,
    ) -> Parsed<()> {
        if are_parts {
            self.has_partitions = true;
            data.count("the number of partitions")?;
            let ghosts = data.count("the number of ghost entities")?;
            let (ghosts, _) = data.ints(ghosts.saturating_mul(2), "ghost entities")?;
            self.ghosts = ghosts.chunks_exact(2).map(|pair| pair[0]).collect();
        }
        let mut counts = [0; 4];
        for count in &mut counts {
            *count = data.count("the number of entities")?;
        }
        for (dimension, count) in counts.into_iter().enumerate() {
            for _ in 0..count {
                let (tag, entity) = read_entity(data, version, dimension, are_parts)?;
                self.entities.insert((dimension, tag), entity);
            }
        }
        Ok(())
    }

    /// Returns the place of `count` elements of an entity: `None` where they are left out.
    pub(super) fn place(&mut self, dimension: usize, tag: i64, count: usize) -> Option<Place> {
        let mut place = Place {
            groups: Vec::new(),
            entity: tag,
        };
        let Some(mut entity) = self.entities.get(&(dimension, tag)) else {
            if self.ghosts.contains(&tag) {
                self.left_out[1] += count;
                return None;
            }
            return Some(place);
        };
        if let Some(parent) = entity.parent {
            if parent.0 > dimension {
                self.leave_out(count);
                return None;
            }
            place.entity = parent.1;
            if entity.groups.is_empty() {
                entity = self.entities.get(&parent).unwrap_or(entity);
            }
        }
        for group in entity.groups.clone() {
            let Some(tag) = self.tag(dimension, group) else {
                self.leave_out(count);
                return None;
            };
            if tag != 0 && !place.groups.contains(&tag) {
                place.groups.push(tag);
            }
        }
        Some(place)
    }

    /// Names of groups of elements. Those of no known dimension stand for every one.
    pub(super) fn names(&self) -> GroupNames {
        let mut names = GroupNames::new();
        for (&(dimension, number), name) in &self.names {
            let dimensions = match dimension {
                ANY => 1..4,
                one => one.max(1)..one + 1,
            };
            for dimension in dimensions {
                let place = names.entry((dimension, number));
                place.or_insert_with(|| name.clone());
            }
        }
        names
    }

    /// Returns a sentence for each thing that a mesh does not have.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut say = |before: &str, all: String, after: &str| {
            if !all.is_empty() {
                notes.push(format!("{before}{all}{after}"));
            }
        };
        let named = |&(dimension, number): &(usize, i32)| {
            let name = self.names.get(&(dimension, number));
            let name = name.map_or_else(String::new, |name| format!(" {name}"));
            format!("{} {number}{name}", About::DIMENSIONS[dimension])
        };
        let mut points = self.points.clone();
        let of_points = self.names.range((0, i32::MIN)..(1, i32::MIN));
        for (&(_, number), _) in of_points {
            points.entry(number).or_default();
        }
        let points = points.iter();
        let points = points.map(|(&tag, count)| format!("{} ({count})", named(&(0, tag))));
        say("groups of points are left out: ", listed(points), "");
        let all = listed(self.reversed.iter().map(named));
        let after = ": their elements keep their direction";
        say("groups have reversed entities: ", all, after);
        if self.has_partitions {
            let [between, ghosts] = self.left_out;
            let counts = [(between, "elements between them"), (ghosts, "ghost cells")];
            let counts = counts.iter().filter(|(count, _)| *count > 0);
            let counts = listed(counts.map(|(count, what)| format!("{what} ({count})")));
            let rest = match counts.is_empty() {
                true => String::new(),
                false => format!(", and left out: {counts}"),
            };
            say("", format!("its partitions are joined{rest}"), "");
        }
        notes
    }
}

/// Returns the tag that a group of this name stands for, if it stands for one: `Some(None)` for elements between
/// partitions.
fn stand_in(name: &str) -> Option<Option<i32>> {
    if let Some(rest) = name.strip_prefix("_part{") {
        let (partitions, rest) = rest.split_once("}_physical{")?;
        let (group, _) = rest.split_once('}')?;
        let group: i32 = group.parse().ok()?;
        return Some((!partitions.contains(',')).then(|| group.saturating_abs()));
    }
    let digits = ["region_m", "marker_m"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))?;
    Some(Some(format!("-{digits}").parse().ok()?))
}

/// Reads an entity: its tag, and for a part of one its parent and partitions; bounds, groups, and the entities around
/// it.
fn read_entity(
    data: &mut Data,
    version: Version,
    dimension: usize,
    is_part: bool,
) -> Parsed<(i64, Entity)> {
    let mut entity = Entity::default();
    let tag = data.int("an entity's tag")?;
    if is_part {
        let (parent, _) = data.ints(2, "an entity's parent")?;
        entity.parent = match parent[0] {
            dimension @ 0..4 => Some((dimension as usize, parent[1])),
            _ => None,
        };
        let partitions = data.count("the number of partitions")?;
        data.ints(partitions, "partitions")?;
    }
    let bounds = match (dimension, version) {
        (0, Version::V41) => 3,
        _ => 6,
    };
    data.floats(bounds, "an entity's bounds")?;
    let groups = data.count("the number of physical groups")?;
    let (groups, start) = data.ints(groups, "physical groups")?;
    for (i, group) in groups.into_iter().enumerate() {
        let group = i32::try_from(group)
            .map_err(|_| start.fault(i, format!("tag {group} has more than 32 bits")))?;
        entity.groups.push(group);
    }
    if dimension > 0 {
        let bounding = data.count("the number of bounding entities")?;
        data.ints(bounding, "bounding entities")?;
    }
    Ok((tag, entity))
}
