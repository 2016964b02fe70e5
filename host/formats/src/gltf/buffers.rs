//! The bytes of a file's numbers: its chunks and buffers.

use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;

use base64::Engine;
use serde_json::Value;

use super::Read;
use crate::input::Bytes;
use crate::references::{Copies, References};
use crate::text::show;
use crate::{map_file, percent};

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

/// The bytes of a buffer.
pub(super) enum Buffer<'a> {
    /// The binary chunk.
    Chunk(&'a [u8]),
    /// Bytes in a URI.
    Inline(Vec<u8>),
    /// A file, which other buffers may name too.
    File(Rc<Bytes>),
}

impl Deref for Buffer<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Buffer::Chunk(bytes) => bytes,
            Buffer::Inline(bytes) => bytes,
            Buffer::File(bytes) => bytes,
        }
    }
}

/// Opens the buffers of a document.
pub(super) struct Opener<'a> {
    pub(super) binary: Option<&'a [u8]>,
    pub(super) references: References<'a>,
    /// Open files, by their URIs.
    pub(super) files: HashMap<String, Rc<Bytes>>,
    /// Count of the data's copies.
    pub(super) copies: Copies,
}

impl<'a> Opener<'a> {
    /// Opens buffer `i`.
    pub(super) fn open(&mut self, buffer: &Value, i: usize) -> Read<Buffer<'a>> {
        let Some(uri) = buffer["uri"].as_str() else {
            return match (i, self.binary) {
                (0, Some(binary)) => Ok(Buffer::Chunk(binary)),
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
            return Ok(Buffer::Inline(decoded));
        }
        if let Some(file) = self.files.get(uri) {
            return Ok(Buffer::File(file.clone()));
        }
        let file = self
            .file(uri)
            .map_err(|reason| format!("buffer {i}: {reason}"))?;
        let file = Rc::new(file);
        self.files.insert(uri.to_owned(), file.clone());
        Ok(Buffer::File(file))
    }

    /// The file of a URI, which may contain percent escapes.
    fn file(&self, uri: &str) -> Read<Bytes> {
        if let Some((scheme, _)) = uri.split_once("://") {
            return Err(format!(
                "a URI of the scheme `{}` is not followed: put the data into a file beside this one",
                show(scheme.as_bytes())
            ));
        }
        let name = String::from_utf8(percent::decode(uri.as_bytes(), |_| true))
            .map_err(|_| "the name of its file is not UTF-8".to_owned())?;
        let path = self.references.find(&name)?;
        let file = map_file(&path)?;
        self.copies.add_file(&path, file.len());
        Ok(file)
    }
}
