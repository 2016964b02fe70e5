//! Variable length records: the data of a file that no point carries, such as its coordinate system.

use las::raw;
use trioxide_mesh::about::{Las, LasRecord};

/// The definer of the records of the format itself.
pub(super) const SPECIFICATION: &str = "LASF_Spec";
/// The specification's record that describes extra bytes.
pub(super) const EXTRA_BYTES: u16 = 4;

/// A record of a file.
pub(super) struct Record<'a> {
    pub(super) user: String,
    pub(super) id: u16,
    description: String,
    pub(super) data: &'a [u8],
    is_extended: bool,
}

/// Reads the records after the header, and those after the points. Returns also how many of the announced records are
/// not there.
pub(super) fn read<'a>(file: &'a [u8], header: &raw::Header) -> (Vec<Record<'a>>, u64) {
    let points = (header.offset_to_point_data as usize).min(file.len());
    let after_header = file.get(usize::from(header.header_size)..points);
    let evlr = header.evlr.unwrap_or_default();
    let after_points = usize::try_from(evlr.start_of_first_evlr)
        .ok()
        .and_then(|start| file.get(start..));
    let mut records = Vec::new();
    let mut missing = 0;
    for (bytes, count, is_extended) in [
        (
            after_header,
            header.number_of_variable_length_records,
            false,
        ),
        (after_points, evlr.number_of_evlrs, true),
    ] {
        let mut left = bytes.unwrap_or_default();
        for k in 0..count {
            let Some(record) = split_first(&mut left, is_extended) else {
                missing += u64::from(count - k);
                break;
            };
            records.push(record);
        }
    }
    (records, missing)
}

/// Takes the first record off.
fn split_first<'a>(left: &mut &'a [u8], is_extended: bool) -> Option<Record<'a>> {
    let (start, rest) = left.split_first_chunk::<20>()?;
    let (length, rest) = match is_extended {
        false => {
            let (length, rest) = rest.split_first_chunk()?;
            (u64::from(u16::from_le_bytes(*length)), rest)
        }
        true => {
            let (length, rest) = rest.split_first_chunk()?;
            (u64::from_le_bytes(*length), rest)
        }
    };
    let (description, rest) = rest.split_first_chunk::<32>()?;
    let (data, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    *left = rest;
    Some(Record {
        user: text(&start[2..18]),
        id: u16::from_le_bytes([start[18], start[19]]),
        description: text(description),
        data,
        is_extended,
    })
}

/// The text before the first zero. It has at most as many bytes as the array: bytes that are not UTF-8 become `?`.
pub(super) fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).replace(char::REPLACEMENT_CHARACTER, "?")
}

impl Record<'_> {
    pub(super) fn is_of_specification(&self, id: u16) -> bool {
        self.user == SPECIFICATION && self.id == id
    }

    /// Whether it describes the layout of this file, which another file does not have: compression, indices, waveforms,
    /// and records that were withdrawn.
    fn is_of_layout(&self) -> bool {
        match &*self.user {
            laz::LazVlr::USER_ID | "copc" => true,
            "LAStools" => self.id == 30,
            SPECIFICATION => matches!(self.id, 7 | 100..=354 | 65535),
            _ => false,
        }
    }
}

/// Data of the file as a whole.
pub(super) fn about(header: &raw::Header, records: Vec<Record>) -> Las {
    let kept = records.into_iter().filter(|record| !record.is_of_layout());
    Las {
        source: header.file_source_id,
        encoding: header.global_encoding,
        project: header.guid,
        system: header.system_identifier,
        date: [header.file_creation_day_of_year, header.file_creation_year],
        records: kept
            .map(|record| LasRecord {
                data: record.data.to_vec(),
                user: record.user,
                id: record.id,
                description: record.description,
                is_extended: record.is_extended,
            })
            .collect(),
    }
}

/// Whether a record describes extra bytes: fields, once they are read.
pub(crate) fn is_description(record: &LasRecord) -> bool {
    record.user == SPECIFICATION && record.id == EXTRA_BYTES
}

/// Whether a record is a coordinate system as WKT.
pub(super) fn is_wkt(record: &LasRecord) -> bool {
    record.is_coordinate_system() && matches!(record.id, 2111 | 2112)
}

/// The global encoding of a file with these data and with points of the extended formats or not.
pub(super) fn encoding(las: Option<&Las>, is_extended: bool) -> u16 {
    // Of the bits the others are about waveforms, or have no meaning.
    const KEPT: u16 = 1 | 8;
    const WKT: u16 = 16;
    let Some(las) = las else {
        return if is_extended { WKT } else { 0 };
    };
    let has_bit = las.encoding & WKT != 0;
    let mut systems = las.records.iter().filter(|r| r.is_coordinate_system());
    let are_wkt = systems.clone().all(is_wkt);
    let is_wkt = match systems.any(is_wkt) {
        true => has_bit || are_wkt,
        // Keys of GeoTIFF beside extended points: against the rules, but usual.
        false => is_extended && (has_bit || are_wkt),
    };
    las.encoding & KEPT | if is_wkt { WKT } else { 0 }
}
