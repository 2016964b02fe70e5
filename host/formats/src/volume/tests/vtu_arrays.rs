//! The ways in which a `.vtu` file holds an array.

use std::io::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::*;

/// The layout of a file.
#[derive(Clone, Copy, Debug)]
struct Layout {
    is_wide: bool,
    is_big: bool,
    is_compressed: bool,
    /// Raw or base64 after the XML, or base64 inside of it.
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Raw,
    Base64,
    Inline,
}

fn word(layout: Layout, value: usize) -> Vec<u8> {
    match (layout.is_wide, layout.is_big) {
        (false, false) => (value as u32).to_le_bytes().to_vec(),
        (false, true) => (value as u32).to_be_bytes().to_vec(),
        (true, false) => (value as u64).to_le_bytes().to_vec(),
        (true, true) => (value as u64).to_be_bytes().to_vec(),
    }
}

/// An array in the form of the file.
fn encoded(layout: Layout, data: &[u8]) -> Vec<u8> {
    let text = |bytes: &[u8]| match layout.place {
        Place::Raw => bytes.to_vec(),
        _ => BASE64_STANDARD.encode(bytes).into_bytes(),
    };
    if !layout.is_compressed {
        return text(&[word(layout, data.len()), data.to_vec()].concat());
    }
    const BLOCK: usize = 40;
    let blocks: Vec<Vec<u8>> = data
        .chunks(BLOCK)
        .map(|block| {
            let mut encoder =
                flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(block).unwrap();
            encoder.finish().unwrap()
        })
        .collect();
    let mut header = [blocks.len(), BLOCK, data.len() % BLOCK]
        .map(|n| word(layout, n))
        .concat();
    for block in &blocks {
        header.extend(word(layout, block.len()));
    }
    [text(&header), text(&blocks.concat())].concat()
}

/// A tetrahedron and a triangle.
fn file(layout: Layout) -> Vec<u8> {
    let floats: Vec<u8> = [0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1.5_f64]
        .iter()
        .flat_map(|x| {
            if layout.is_big {
                x.to_be_bytes()
            } else {
                x.to_le_bytes()
            }
        })
        .collect();
    let ints = |values: &[i32]| -> Vec<u8> {
        let bytes = |x: &i32| {
            if layout.is_big {
                x.to_be_bytes()
            } else {
                x.to_le_bytes()
            }
        };
        values.iter().flat_map(bytes).collect()
    };
    let arrays = [
        ("Points", "Float64", "Points", floats),
        (
            "Cells",
            "Int32",
            "connectivity",
            ints(&[0, 1, 2, 3, 0, 2, 1]),
        ),
        ("Cells", "Int32", "offsets", ints(&[4, 7])),
        ("Cells", "UInt8", "types", vec![10, 5]),
        ("CellData", "Int32", "medit:ref", ints(&[-3, 8])),
    ];
    let mut appended = Vec::new();
    let mut xml = format!(
        "<VTKFile type=\"UnstructuredGrid\" byte_order=\"{}\" header_type=\"{}\"{}>\n<UnstructuredGrid>\
         <Piece NumberOfPoints=\"4\" NumberOfCells=\"2\">\n",
        if layout.is_big {
            "BigEndian"
        } else {
            "LittleEndian"
        },
        if layout.is_wide { "UInt64" } else { "UInt32" },
        if layout.is_compressed {
            " compressor=\"vtkZLibDataCompressor\""
        } else {
            ""
        },
    );
    for parent in ["Points", "Cells", "CellData"] {
        xml += &format!("<{parent}>\n");
        for (_, kind, name, data) in arrays.iter().filter(|array| array.0 == parent) {
            let bytes = encoded(layout, data);
            if layout.place == Place::Inline {
                let (a, b) = bytes.split_at(bytes.len() / 2);
                let [a, b] = [a, b].map(|part| String::from_utf8(part.to_vec()).unwrap());
                xml += &format!(
                    "<DataArray type=\"{kind}\" Name=\"{name}\" format=\"binary\">\n {a}\n {b}\n</DataArray>\n"
                );
            } else {
                let offset = appended.len();
                xml += &format!(
                    "<DataArray type=\"{kind}\" Name=\"{name}\" format=\"appended\" offset=\"{offset}\"/>\n"
                );
                appended.extend(bytes);
            }
        }
        xml += &format!("</{parent}>\n");
    }
    xml += "</Piece></UnstructuredGrid>\n";
    let mut file = xml.into_bytes();
    if layout.place != Place::Inline {
        let encoding = if layout.place == Place::Raw {
            "raw"
        } else {
            "base64"
        };
        file.extend(format!("<AppendedData encoding=\"{encoding}\">\n_").into_bytes());
        file.extend(appended);
        file.extend(b"\n</AppendedData>\n");
    }
    file.extend(b"</VTKFile>\n");
    file
}

fn layouts() -> impl Iterator<Item = Layout> {
    (0..24).map(|i| Layout {
        is_wide: i & 1 != 0,
        is_big: i & 2 != 0,
        is_compressed: i & 4 != 0,
        place: [Place::Raw, Place::Base64, Place::Inline][i / 8],
    })
}

/// A good file of each layout, for damage.
pub(super) fn samples() -> Vec<Vec<u8>> {
    layouts().map(file).collect()
}

#[test]
fn every_layout_reads_the_same() {
    for layout in layouts() {
        let mesh =
            vtu::parse(&file(layout)).unwrap_or_else(|fault| panic!("{layout:?}: {fault:?}"));
        assert_eq!(mesh.points[3], DVec3::new(0.0, 0.0, 1.5), "{layout:?}");
        assert_eq!(mesh.cells, Cells::Tetrahedra(vec![[0, 1, 2, 3]]));
        assert_eq!((mesh.regions, mesh.face_tags), (Some(vec![-3]), vec![8]));
        assert_eq!(mesh.faces.get(0), [0, 2, 1]);
    }
}

#[test]
fn faults_name_the_array() {
    let layout = Layout {
        is_wide: false,
        is_big: false,
        is_compressed: true,
        place: Place::Raw,
    };
    let good = file(layout);
    let data = memchr::memmem::find(&good, b"\n_").unwrap() + 2;
    // Number of blocks, size of one, size of the last, and compressed sizes.
    let with = |place: usize, value: u32| {
        let mut bad = good.clone();
        bad[data + place..data + place + 4].copy_from_slice(&value.to_le_bytes());
        error(vtu::parse, bad)
    };
    assert_eq!(
        with(0, u32::MAX),
        "f:4: the array reaches beyond the end of the data"
    );
    assert_eq!(with(4, u32::MAX), "f:4: block 0 has sizes that cannot be");
    assert_eq!(
        with(4, 41),
        "f:4: block 0 cannot be decompressed: it does not hold 41 bytes, as its header says"
    );
    assert_eq!(
        with(12, u32::MAX),
        "f:4: the array reaches beyond the end of the data"
    );
    let text = String::from_utf8(file(Layout {
        place: Place::Inline,
        ..layout
    }))
    .unwrap();
    let replaced = |from: &str, to: &str| error(vtu::parse, text.replacen(from, to, 1));
    assert!(
        replaced("vtkZLibDataCompressor", "vtkBloscDataCompressor")
            .starts_with("f:1: the data is compressed by vtkBlosc")
    );
    assert!(replaced("AAAA", "A%AA").starts_with("f:4: this is no base64"));
    assert_eq!(
        replaced("\"binary\"", "\"other\""),
        "f:4: expected ascii, binary or appended, found the format `other`"
    );
    assert_eq!(
        replaced("Float64", "Half"),
        "f:4: there is no number type `Half`"
    );
}
