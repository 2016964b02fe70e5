//! Colours of points, from columns of channels or of packed colours.

use super::Table;
use super::chunks::{Chunks, Kind, Span};
use super::names::Role;

/// The colours, if there are columns of them.
///
/// # Errors
/// The reason why numbers are not colours.
pub(super) fn of(table: &mut Table, chunks: &Chunks) -> Result<Option<Vec<[u8; 4]>>, String> {
    if let Some([place]) = table.find([Role::Packed]) {
        let are_floats = chunks.kind(place) == Kind::Floats;
        let has_alpha = table
            .others()
            .any(|column| column.role == Role::Packed && column.name.len() == 4);
        return Ok(Some(chunks.gather(1, |row, color: &mut [[u8; 4]]| {
            let bits = match are_floats {
                true => (row[place] as f32).to_bits(),
                false => row[place] as u32,
            };
            let [b, g, r, a] = bits.to_le_bytes();
            color[0] = [r, g, b, if has_alpha { a } else { u8::MAX }];
        })));
    }
    let Some(places) = table.find([0, 1, 2].map(Role::Color)) else {
        return Ok(None);
    };
    let alpha = table.find([Role::Color(3)]).map(|[place]| place);
    let spans = chunks.spans();
    let of_channels = || places.iter().copied().chain(alpha);
    let channels: Vec<Span> = of_channels().map(|place| spans[place]).collect();
    let highest = channels.iter().map(|span| span.high).fold(0.0, f64::max);
    let lowest = channels.iter().map(|span| span.low).fold(0.0, f64::min);
    let has_floats =
        of_channels().any(|place| chunks.kind(place) == Kind::Floats && !spans[place].has_nan);
    let are_parts = channels.iter().any(|span| !span.is_whole)
        || has_floats
        || table
            .others()
            .any(|column| column.name.eq_ignore_ascii_case("rf"));
    let scale = match highest {
        _ if lowest < 0.0 || highest > 65535.0 => {
            return Err(format!(
                "columns named as colours have numbers from {lowest} to {highest}, but colours have 8 or 16 bits, or are parts \
                 from 0 to 1: give the columns other names by the option columns=x,y,z,…"
            ));
        }
        ..=1.0 if are_parts => 255.0,
        ..=255.0 => 1.0,
        _ => {
            let note = "its colours have 16 bits, of which the upper 8 are kept";
            table.notes.push(note.to_owned());
            1.0 / 256.0
        }
    };
    if channels.iter().any(|span| span.has_nan) {
        let note = "its colours that are not numbers are black";
        table.notes.push(note.to_owned());
    }
    let channel = move |x: f64| match scale < 1.0 {
        true => (x * scale) as u8,
        false => (x * scale).round() as u8,
    };
    Ok(Some(chunks.gather(1, |row, color: &mut [[u8; 4]]| {
        let [r, g, b] = places.map(|place| channel(row[place]));
        color[0] = [r, g, b, alpha.map_or(u8::MAX, |place| channel(row[place]))];
    })))
}
