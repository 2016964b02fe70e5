//! The arrays of a VTK XML file: text, inline base64, appended raw or base64; all but text with or without compression.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use glam::DVec3;
use roxmltree::{Document, Node};
use trioxide_mesh::{parallel, progress};

use super::super::bytes::{Decode as _, Kind, Numbers, Order};
use super::super::tokens::Text;
use super::compression::Compressor;
use crate::fields::type_named;
use crate::references::Copies;
use crate::text::{Fault, Parsed, show};

/// A document without its appended data, and that data.
pub(crate) struct File<'a> {
    /// The XML.
    pub(crate) head: Cow<'a, str>,
    /// The bytes after the `_`, and whether they are base64.
    appended: Option<(&'a [u8], bool)>,
}

impl<'a> File<'a> {
    pub(crate) fn new(file: &'a [u8]) -> Parsed<File<'a>> {
        let (head, appended) = match memchr::memmem::find(file, b"<AppendedData") {
            None => (Cow::Borrowed(file), None),
            Some(begin) => {
                // Raw data is no XML: the document ends before it.
                let mark = memchr::memchr(b'_', &file[begin..])
                    .ok_or_else(|| Fault::new(begin, "the appended data has no `_` before it"))?;
                let tag = &file[begin..begin + mark];
                let is_raw = memchr::memmem::find(tag, b"raw").is_some();
                let head = [&file[..begin], b"</VTKFile>"].concat();
                let data = &file[begin + mark + 1..];
                (Cow::Owned(head), Some((data, !is_raw)))
            }
        };
        let not_text =
            |error: std::str::Utf8Error| Fault::new(error.valid_up_to(), "the XML is not UTF-8");
        let head = match head {
            Cow::Borrowed(head) => Cow::Borrowed(std::str::from_utf8(head).map_err(not_text)?),
            Cow::Owned(head) => {
                Cow::Owned(String::from_utf8(head).map_err(|error| not_text(error.utf8_error()))?)
            }
        };
        Ok(File { head, appended })
    }

    /// The XML's tree.
    pub(crate) fn document(&self) -> Parsed<Document<'_>> {
        check_attributes(self.head.as_bytes())?;
        Document::parse(&self.head).map_err(|error| {
            let row = (error.pos().row as usize).max(1);
            let ends = memchr::memchr_iter(b'\n', self.head.as_bytes());
            let offset = match row {
                1 => 0,
                _ => ends.map(|at| at + 1).nth(row - 2).unwrap_or(0),
            };
            Fault::new(offset, format!("this is no XML that can be read: {error}"))
        })
    }
}

/// Most attributes of an element, and most namespaces of a document: the parser compares each with all others. VTK
/// writes fewer than 20 attributes, and no namespace.
const MOST_ATTRIBUTES: usize = 1000;

/// Checks that the parser's time is linear in the length of the document.
fn check_attributes(xml: &[u8]) -> Parsed<()> {
    let too_many = |at, what: &str| {
        let reason = format!("there are more than {MOST_ATTRIBUTES} {what}");
        Err(Fault::new(at, reason))
    };
    let mut namespaces = memchr::memmem::find_iter(xml, b"xmlns");
    if let Some(at) = namespaces.nth(MOST_ATTRIBUTES) {
        return too_many(at, "namespaces in this file");
    }
    let mut at = 0;
    while let Some(begin) = xml.get(at..).and_then(|rest| memchr::memchr(b'<', rest)) {
        let start = at + begin;
        let rest = &xml[start..];
        let skip = |end: &[u8]| {
            let length = memchr::memmem::find(rest, end);
            length.map_or(rest.len(), |length| length + end.len())
        };
        at = start
            + match rest {
                [b'<', b'!', b'-', b'-', ..] => skip(b"-->"),
                [b'<', b'!', b'[', ..] => skip(b"]]>"),
                _ => {
                    let (length, attributes) = measure_tag(rest);
                    if attributes > MOST_ATTRIBUTES {
                        return too_many(start, "attributes of this element");
                    }
                    length
                }
            };
    }
    Ok(())
}

/// Length of the tag at the start of `rest`, and its number of attributes.
fn measure_tag(rest: &[u8]) -> (usize, usize) {
    let (mut at, mut attributes) = (0, 0);
    while let Some(length) = memchr::memchr3(b'>', b'"', b'\'', &rest[at..]) {
        let quote = rest[at + length];
        at += length + 1;
        if quote == b'>' {
            return (at, attributes);
        }
        attributes += 1;
        match memchr::memchr(quote, &rest[at..]) {
            Some(length) => at += length + 1,
            None => break,
        }
    }
    (rest.len(), attributes)
}

/// The required length of an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Length {
    Exactly(usize),
    /// At most the largest offset of the cells.
    AtMost(usize),
}

impl Length {
    /// The reason why an array of `found` numbers does not have this length, if so.
    fn refuse(self, found: usize) -> Option<String> {
        match self {
            Length::Exactly(length) if found != length => {
                Some(format!("expected {length} numbers, found {found}"))
            }
            Length::AtMost(most) if found > most => {
                Some(format!("expected at most {most} numbers, found {found}"))
            }
            _ => None,
        }
    }
}

/// A fault at an element.
pub(crate) fn fault(node: Node, reason: impl Into<String>) -> Fault {
    Fault::new(node.range().start, reason)
}

/// The only child of this name.
pub(crate) fn child<'a, 'b>(node: Node<'a, 'b>, name: &str) -> Parsed<Node<'a, 'b>> {
    let mut all = node.children().filter(|child| child.has_tag_name(name));
    let first = all
        .next()
        .ok_or_else(|| fault(node, format!("there is no {name} here")))?;
    match all.next() {
        None => Ok(first),
        Some(second) => Err(fault(second, format!("there is a second {name}"))),
    }
}

/// The array of this name.
pub(crate) fn array<'a, 'b>(node: Node<'a, 'b>, name: &str) -> Option<Node<'a, 'b>> {
    node.children().find(|child| {
        child.has_tag_name("DataArray") && child.attribute("Name").is_some_and(|n| n == name)
    })
}

/// The array of this name, which must exist.
pub(crate) fn named_array<'a, 'b>(node: Node<'a, 'b>, name: &str) -> Parsed<Node<'a, 'b>> {
    array(node, name).ok_or_else(|| fault(node, format!("there is no array {name}")))
}

/// An attribute that is a count.
pub(crate) fn count(node: Node, attribute: &str) -> Parsed<usize> {
    let text = node.attribute(attribute).unwrap_or_default();
    text.trim().parse().map_err(|_| {
        let text = show(text.as_bytes());
        fault(
            node,
            format!("expected a number in {attribute}, found `{text}`"),
        )
    })
}

/// The storage of a file's arrays.
pub(crate) struct Arrays<'a> {
    appended: Option<(&'a [u8], bool)>,
    order: Order,
    /// Type of lengths and offsets.
    header: Kind,
    compressor: Option<Compressor>,
    /// Count of the arrays' copies: any number of arrays may begin at one place of the appended data.
    copies: Copies,
}

impl<'a> Arrays<'a> {
    pub(crate) fn new(file: &File<'a>, root: Node) -> Parsed<Arrays<'a>> {
        let kind = root.attribute("type");
        if !root.has_tag_name("VTKFile") || !matches!(kind, Some("UnstructuredGrid" | "PolyData")) {
            let reason = "expected a VTKFile of type UnstructuredGrid or PolyData";
            return Err(fault(root, reason));
        }
        let compressor = Compressor::of(root.attribute("compressor").unwrap_or_default())
            .map_err(|reason| fault(root, reason))?;
        Ok(Arrays {
            copies: Copies::new(file.head.len() + file.appended.map_or(0, |(data, _)| data.len())),
            appended: file.appended,
            order: match root.attribute("byte_order") {
                Some("BigEndian") => Order::Big,
                _ => Order::Little,
            },
            header: match root.attribute("header_type") {
                Some("UInt64") => Kind::U64,
                _ => Kind::U32,
            },
            compressor,
        })
    }

    /// The numbers of an array. No memory is allocated for more than `length` of them.
    pub(crate) fn numbers(&self, node: Node, length: Length) -> Parsed<Numbers> {
        let kind = kind(node)?;
        let check = |bytes: usize| match length.refuse(bytes / kind.size()) {
            None => Ok(()),
            Some(reason) => Err(fault(node, reason)),
        };
        let text = node.text().unwrap_or_default().as_bytes();
        let numbers = match node.attribute("format") {
            Some("ascii") => ascii(node, text, kind)?,
            Some("binary") => {
                let text = text.trim_ascii();
                let text = match text.iter().any(u8::is_ascii_whitespace) {
                    false => Cow::Borrowed(text),
                    true => Cow::Owned(text.iter().copied().filter(|b| *b > b' ').collect()),
                };
                let stream = Stream {
                    data: &text,
                    is_base64: true,
                };
                kind.numbers(&self.decode(node, kind, stream, check)?, self.order)
            }
            Some("appended") => {
                let (data, is_base64) = self
                    .appended
                    .ok_or_else(|| fault(node, "there is no appended data"))?;
                let offset = count(node, "offset")?;
                let data = data
                    .get(offset..)
                    .ok_or_else(|| fault(node, "the array begins beyond the end of the file"))?;
                let stream = Stream { data, is_base64 };
                kind.numbers(&self.decode(node, kind, stream, check)?, self.order)
            }
            other => {
                let other = show(other.unwrap_or_default().as_bytes());
                let reason =
                    format!("expected ascii, binary or appended, found the format `{other}`");
                return Err(fault(node, reason));
            }
        };
        // A list within the file's bounds may be longer: the caller names the place of the fault.
        match length.refuse(numbers.len()) {
            Some(reason) if matches!(length, Length::Exactly(_)) => Err(fault(node, reason)),
            _ => Ok(numbers),
        }
    }

    /// The numbers of an array, of any type, as floats: vertex indices and tags stay exact.
    pub(crate) fn floats(&self, node: Node, length: Length) -> Parsed<Vec<f64>> {
        Ok(self.numbers(node, length)?.into_floats())
    }

    /// The points of a piece, `count` of them.
    pub(crate) fn points(&self, piece: Node, count: usize) -> Parsed<Vec<DVec3>> {
        // Writers omit the array of an empty piece.
        if count == 0 {
            return Ok(Vec::new());
        }
        let node = child(child(piece, "Points")?, "DataArray")?;
        let coordinates = self.floats(node, Length::Exactly(count.saturating_mul(3)))?;
        let points = coordinates.as_chunks().0;
        Ok(parallel::map(points, |point| DVec3::from_array(*point)))
    }

    /// The whole numbers of an array.
    pub(crate) fn integers(&self, node: Node, length: Length) -> Parsed<Vec<i64>> {
        let numbers = self.numbers(node, length)?.into_integers();
        numbers.map_err(|x| fault(node, format!("expected a whole number, found `{x}`")))
    }

    /// The bytes of an array, from the start of `stream`. `check` may refuse their number before they are decompressed.
    fn decode<'b>(
        &self,
        node: Node,
        kind: Kind,
        stream: Stream<'b>,
        check: impl Fn(usize) -> Parsed<()>,
    ) -> Parsed<Cow<'b, [u8]>> {
        let short = || out_of_data(node);
        let count = |stored: usize, bytes: usize| {
            let counted = self.copies.count(stored, bytes / kind.size());
            counted.map_err(|reason| fault(node, reason))
        };
        let word = self.header.size();
        let Some(compressor) = self.compressor else {
            let head = stream.bytes(node, word)?;
            let length = self.words(&head)[0];
            let length = usize::try_from(length).map_err(|_| short())?;
            // Some writers encode the length separately.
            let alone = stream.is_base64
                && stream.data[..encoded(word).min(stream.data.len())].contains(&b'=');
            if alone {
                let bytes = stream.skip(node, word)?.bytes(node, length)?;
                count(length, length)?;
                return Ok(bytes);
            }
            let total = word.checked_add(length).ok_or_else(short)?;
            let bytes = stream.bytes(node, total)?;
            count(total, length)?;
            return Ok(match bytes {
                Cow::Borrowed(all) => Cow::Borrowed(&all[word..]),
                Cow::Owned(mut all) => {
                    all.drain(..word);
                    Cow::Owned(all)
                }
            });
        };

        // Number of blocks, size of each, size of the last one if it is smaller, and compressed sizes.
        let head = stream.bytes(node, 3 * word)?;
        let [blocks, size, last] = *self.words(&head) else {
            unreachable!("three words");
        };
        let blocks = usize::try_from(blocks).map_err(|_| short())?;
        let header = blocks
            .checked_add(3)
            .and_then(|words| words.checked_mul(word))
            .ok_or_else(short)?;
        let head = stream.bytes(node, header)?;
        let sizes = self.words(&head);
        let mut total = 0usize;
        let mut ranges = Vec::with_capacity(blocks);
        for (i, &compressed) in sizes[3..].iter().enumerate() {
            let plain = if i + 1 == blocks && last != 0 {
                last
            } else {
                size
            };
            // No more memory is allocated than the file can fill.
            let (compressed, plain) = usize::try_from(compressed)
                .ok()
                .zip(usize::try_from(plain).ok())
                .filter(|&(compressed, plain)| plain / compressor.most() <= compressed)
                .ok_or_else(|| fault(node, format!("block {i} has sizes that cannot be")))?;
            let end = total.checked_add(compressed).ok_or_else(short)?;
            ranges.push((total..end, plain));
            total = end;
        }
        let length = ranges
            .iter()
            .try_fold(0usize, |sum, (_, plain)| sum.checked_add(*plain))
            .ok_or_else(short)?;
        check(length)?;
        let data = stream.skip(node, header)?.bytes(node, total)?;
        count(header.saturating_add(total), length)?;
        let mut all = Vec::new();
        all.try_reserve_exact(length)
            .map_err(|_| fault(node, format!("there is no memory for its {length} bytes")))?;
        all.resize(length, 0u8);
        let mut rest = all.as_mut_slice();
        let mut tasks = Vec::with_capacity(blocks);
        for (range, plain) in ranges {
            let (block, behind) = rest.split_at_mut(plain);
            rest = behind;
            tasks.push((&data[range], block, None));
        }
        let counted = progress::count("%", tasks.len() as u64);
        parallel::for_each_mut(&mut tasks, |_, (from, to, broken)| {
            counted.advance(1);
            *broken = compressor.decompress(from, to).err();
        });
        let mut broken = tasks.into_iter().map(|task| task.2).enumerate();
        match broken.find_map(|(i, reason)| Some((i, reason?))) {
            None => Ok(Cow::Owned(all)),
            Some((i, reason)) => Err(fault(
                node,
                format!("block {i} cannot be decompressed: {reason}"),
            )),
        }
    }

    /// Lengths, saturating at a value that no file reaches.
    fn words(&self, bytes: &[u8]) -> Vec<u64> {
        match self.header.numbers(bytes, self.order) {
            Numbers::Integers(words) => words.into_iter().map(|word| word as u64).collect(),
            Numbers::Floats(_) => unreachable!("lengths are whole"),
        }
    }
}

/// The type of an array's numbers.
pub(super) fn kind(node: Node) -> Parsed<Kind> {
    let name = node.attribute("type").unwrap_or_default();
    type_named(|names| names.xml == name).ok_or_else(|| {
        let name = show(name.as_bytes());
        fault(node, format!("there is no number type `{name}`"))
    })
}

fn ascii(node: Node, text: &[u8], kind: Kind) -> Parsed<Numbers> {
    // Lines of the document are lines of the file. The text does not begin at the element's start, so the fault states
    // its line.
    let place = |found: Fault| {
        let line = memchr::memchr_iter(b'\n', &text[..found.offset.min(text.len())]).count();
        let reason = match line {
            0 => found.reason,
            lines => format!("{} ({lines} lines below)", found.reason),
        };
        fault(node, reason)
    };
    let mut tokens = Text::new(text, 0);
    Ok(match kind {
        Kind::F32 | Kind::F64 => Numbers::Floats(tokens.numbers_until(text.len()).map_err(place)?),
        Kind::U64 => Numbers::of_bits(tokens.numbers_until(text.len()).map_err(place)?),
        _ => Numbers::Integers(tokens.numbers_until(text.len()).map_err(place)?),
    })
}

/// Raw or base64 data with an unknown end.
#[derive(Clone, Copy)]
struct Stream<'a> {
    data: &'a [u8],
    is_base64: bool,
}

/// Characters of base64 for this number of bytes.
fn encoded(bytes: usize) -> usize {
    bytes.div_ceil(3).saturating_mul(4)
}

fn out_of_data(node: Node) -> Fault {
    fault(node, "the array reaches beyond the end of the data")
}

/// Characters of base64 that a task decodes.
const CHARACTERS: usize = if cfg!(test) { 8 } else { 1 << 20 };

impl<'a> Stream<'a> {
    /// The first `count` bytes.
    fn bytes(self, node: Node, count: usize) -> Parsed<Cow<'a, [u8]>> {
        if !self.is_base64 {
            let bytes = self.data.get(..count).ok_or_else(|| out_of_data(node))?;
            return Ok(Cow::Borrowed(bytes));
        }
        // Text without padding may lack the last characters.
        let most = encoded(count);
        let least = most - (3 - count % 3) % 3;
        let end = most.min(self.data.len());
        let text = self
            .data
            .get(..end)
            .filter(|text| text.len() >= least)
            .ok_or_else(|| out_of_data(node))?;
        const LENIENT: GeneralPurpose = GeneralPurpose::new(
            &base64::alphabet::STANDARD,
            GeneralPurposeConfig::new()
                .with_decode_allow_trailing_bits(true)
                .with_decode_padding_mode(DecodePaddingMode::Indifferent),
        );
        let mut bytes = vec![0u8; end.div_ceil(4) * 3];
        let places = bytes.chunks_mut(CHARACTERS / 4 * 3);
        let mut tasks: Vec<_> = text
            .chunks(CHARACTERS)
            .zip(places)
            .zip(std::iter::repeat_with(|| Ok(0)))
            .collect();
        parallel::for_each_mut(&mut tasks, |_, ((text, bytes), size)| {
            *size = LENIENT.decode_slice_unchecked(text, bytes);
        });
        let sizes: Result<Vec<usize>, _> = tasks.into_iter().map(|task| task.1).collect();
        let sizes = sizes.map_err(|error| fault(node, format!("this is no base64: {error}")))?;
        if sizes.iter().sum::<usize>() < count {
            return Err(out_of_data(node));
        }
        bytes.truncate(count);
        Ok(Cow::Owned(bytes))
    }

    /// The data after `count` bytes that are encoded separately.
    fn skip(self, node: Node, count: usize) -> Parsed<Stream<'a>> {
        let length = if self.is_base64 {
            encoded(count)
        } else {
            count
        };
        let data = self.data.get(length..).ok_or_else(|| out_of_data(node))?;
        Ok(Stream { data, ..self })
    }
}
