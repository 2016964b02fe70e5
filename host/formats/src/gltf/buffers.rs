//! Where the numbers of a file are: its chunks and buffers.

use std::borrow::Cow;
use std::path::Path;

use base64::Engine;
use serde_json::Value;

use super::Read;
use crate::map_file;

/// The JSON and the binary chunk of a `.glb` file.
pub(crate) fn chunks(file: &[u8]) -> Read<(&[u8], Option<&[u8]>)> {
    let word = |at: usize| {
        let bytes = file.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map(u32::from_le_bytes)
    };
    if word(4) != Some(2) {
        return Err("expected version 2 of the binary form".to_owned());
    }
    let (mut at, mut json, mut binary) = (12, None, None);
    while let (Some(length), Some(kind)) = (word(at), word(at + 4)) {
        let end = (at + 8).checked_add(length as usize);
        let chunk = end.and_then(|end| file.get(at + 8..end));
        let chunk = chunk.ok_or_else(|| format!("the chunk at byte {at} is cut off"))?;
        match &kind.to_le_bytes() {
            b"JSON" if json.is_none() => json = Some(chunk),
            b"BIN\0" if binary.is_none() => binary = Some(chunk),
            _ => {}
        }
        at += 8 + chunk.len();
    }
    Ok((json.ok_or("there is no JSON chunk")?, binary))
}

pub(super) fn read_buffer<'a>(
    buffer: &Value,
    i: usize,
    binary: Option<&'a [u8]>,
    folder: Option<&Path>,
) -> Read<Cow<'a, [u8]>> {
    let Some(uri) = buffer["uri"].as_str() else {
        return match (i, binary) {
            (0, Some(binary)) => Ok(binary.into()),
            _ => Err(format!(
                "buffer {i} has no uri, and no binary chunk holds it"
            )),
        };
    };
    if let Some(data) = uri.strip_prefix("data:") {
        let (_, text) = data
            .split_once(";base64,")
            .ok_or_else(|| format!("the data of buffer {i} is no base64"))?;
        let decoded = base64::engine::general_purpose::STANDARD.decode(text);
        let decoded = decoded.map_err(|error| format!("the data of buffer {i}: {error}"))?;
        return Ok(decoded.into());
    }
    let folder = folder.ok_or_else(|| format!("buffer {i} is in another file"))?;
    // Only blanks are written as escapes in practice.
    let path = folder.join(uri.replace("%20", " "));
    let file = map_file(&path).map_err(|error| error.to_string())?;
    Ok(file.to_vec().into())
}
