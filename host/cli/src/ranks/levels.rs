//! Nested levels of polygons or polyhedra that ranks have found.

use std::path::Path;

use trioxide::levels::Nested;
use trioxide_arguments::note;
use trioxide_operations::Note;
use trioxide_ranks::{Ranks, Result, levels as of_ranks};

use super::files::is_pvtu;
use super::rank::{is_quiet, refuse};
use crate::commands::placeholder::{LEVEL, has_place};
use crate::commands::polylla::{Options, write_maps};

/// Refuses a file in pieces of each level.
pub fn refuse_pieces_of_levels(options: &Options) -> Result<()> {
    let is_numbered = |path: &Path| is_pvtu(path) && has_place(path, LEVEL);
    let has_pieces = options.output.as_deref().is_some_and(is_numbered);
    let is_wrong = has_pieces && options.polylla.goal().is_some();
    refuse(is_wrong.then_some("levels are written to no .pvtu each: choose another format"))
}

/// Notes where levels end before their goal, and writes the maps. Returns the levels at rank 0, if the options ask for
/// files of them. Collective.
pub fn give_levels(
    ranks: &Ranks,
    options: &Options,
    nested: Option<&of_ranks::Nested>,
) -> Result<Option<Nested>> {
    let has_files = options.output.is_some() || options.maps.is_some();
    let whole = nested.filter(|_| has_files);
    let whole = whole.and_then(|nested| nested.gather(ranks));
    if let Some(nested) = nested.filter(|nested| nested.is_stuck) {
        let level = nested.parents.len();
        let pieces = nested.counts[level];
        let quiet = is_quiet(ranks, &options.device);
        note(quiet, Note::NothingJoins { level, pieces });
    }
    ranks.agree(write_maps(options, whole.as_ref()))?;
    Ok(whole)
}
