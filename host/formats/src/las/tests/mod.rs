//! Units, records and counts of points, in files as other programs write them.

use glam::DVec3;
use trioxide_mesh::about::LasRecord;
use trioxide_mesh::fields::Field;

use super::*;
use crate::{Encoding, Format, read_with_notes, write};

mod extra;

/// A file by hand.
#[derive(Clone)]
struct File {
    minor: u8,
    format: u8,
    /// The older and the newer number of points.
    counts: [u64; 2],
    encoding: u16,
    scale: [f64; 3],
    offset: [f64; 3],
    /// User, id, content.
    records: Vec<(&'static str, u16, Vec<u8>)>,
    after_points: Vec<(&'static str, u16, Vec<u8>)>,
    /// Each point's whole numbers.
    points: Vec<[i32; 3]>,
    /// Bytes after those of the format, the same number for each point.
    extra: Vec<Vec<u8>>,
}

impl Default for File {
    fn default() -> File {
        File {
            minor: 2,
            format: 0,
            counts: [3, 3],
            encoding: 0,
            scale: [0.001, 0.002, 0.25],
            offset: [500_000.5, 5_400_000.0, -10.125],
            records: Vec::new(),
            after_points: Vec::new(),
            points: vec![[0, 7, -1], [i32::MAX - 1, -123_457, 40], [51_182, 3, 0]],
            extra: vec![Vec::new(); 3],
        }
    }
}

impl File {
    fn bytes(&self) -> Vec<u8> {
        let record = |(user, id, data): &(&str, u16, Vec<u8>), is_extended: bool| {
            let mut bytes = vec![0; 2];
            bytes.extend_from_slice(&padded(user, 16));
            bytes.extend_from_slice(&id.to_le_bytes());
            let size = if is_extended { 8 } else { 2 };
            bytes.extend_from_slice(&(data.len() as u64).to_le_bytes()[..size]);
            bytes.extend_from_slice(&padded("by hand", 32));
            bytes.extend_from_slice(data);
            bytes
        };
        let records: Vec<u8> = self.records.iter().flat_map(|r| record(r, false)).collect();
        let after: Vec<u8> = (self.after_points.iter())
            .flat_map(|r| record(r, true))
            .collect();
        let length = las::point::Format::new(self.format).unwrap().len();
        let mut points = Vec::new();
        for (point, extra) in self.points.iter().zip(&self.extra) {
            let mut bytes = vec![0; usize::from(length)];
            bytes[..12].copy_from_slice(&point.map(i32::to_le_bytes).concat());
            bytes[14] = if self.format > 5 {
                1 | 1 << 4
            } else {
                1 | 1 << 3
            };
            points.extend(bytes.into_iter().chain(extra.clone()));
        }
        let size = if self.minor > 3 { 375 } else { 227 };
        let start = size + records.len();
        let mut header = vec![0; size];
        let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, b"LASF");
        put(4, &77u16.to_le_bytes());
        put(6, &self.encoding.to_le_bytes());
        put(8, &[9; 16]);
        put(24, &[1, self.minor]);
        put(26, &padded("ALS50", 32));
        put(90, &[124, 0, 0xe3, 7]);
        put(94, &(size as u16).to_le_bytes());
        put(96, &(start as u32).to_le_bytes());
        put(100, &(self.records.len() as u32).to_le_bytes());
        put(104, &[self.format]);
        let length = length + self.extra[0].len() as u16;
        put(105, &length.to_le_bytes());
        put(107, &(self.counts[0] as u32).to_le_bytes());
        for k in 0..3 {
            put(131 + 8 * k, &self.scale[k].to_le_bytes());
            put(155 + 8 * k, &self.offset[k].to_le_bytes());
        }
        if self.minor > 3 && !after.is_empty() {
            put(235, &((start + points.len()) as u64).to_le_bytes());
            put(243, &(self.after_points.len() as u32).to_le_bytes());
        }
        if self.minor > 3 {
            put(247, &self.counts[1].to_le_bytes());
        }
        [header, records, points, after].concat()
    }
}

/// Text with zeros after it.
fn padded(text: &str, size: usize) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(size, 0);
    bytes
}

/// Writes a mesh and returns the bytes of the file, the mesh and the notes that it reads as, and the notes on losses.
fn written(mesh: &Mesh, extension: &str) -> (Vec<u8>, Mesh, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a").with_extension(extension);
    let losses = Format::to_write(&path)
        .unwrap()
        .losses(mesh, Encoding::default());
    write(&path, mesh).unwrap();
    let (read, notes) = read_with_notes(&path).unwrap();
    assert!(notes.is_empty(), "{notes:?}");
    (std::fs::read(&path).unwrap(), read, losses)
}

fn header(file: &[u8]) -> raw::Header {
    raw::Header::read_from(file).unwrap()
}

fn scales(file: &[u8]) -> [[f64; 3]; 2] {
    let h = header(file);
    [
        [h.x_scale_factor, h.y_scale_factor, h.z_scale_factor],
        [h.x_offset, h.y_offset, h.z_offset],
    ]
}

fn cloud(points: &[[f64; 3]]) -> Mesh {
    Mesh {
        points: points.iter().copied().map(DVec3::from_array).collect(),
        ..Mesh::default()
    }
}

/// A unit for each axis, offsets that are no multiples of it, and a negative scale.
#[test]
fn the_unit_of_a_file_is_kept() {
    for scale in [[0.001, 0.002, 0.25], [0.001, -0.002, 1.0 / 3.0]] {
        let file = File {
            scale,
            ..File::default()
        };
        let loaded = parse(&file.bytes()).unwrap();
        assert!(loaded.notes.is_empty());
        let mesh = loaded.mesh;
        let unit = mesh.about.unit.unwrap();
        assert_eq!([unit.scale, unit.offset], [scale, file.offset]);
        for extension in ["las", "laz"] {
            let (bytes, read, losses) = written(&mesh, extension);
            assert_eq!(scales(&bytes), [scale, file.offset]);
            assert!(losses.is_empty(), "{losses:?}");
            assert_eq!(read, mesh);
        }
        // A mean is no multiple.
        let mut moved = mesh.clone();
        moved.points[0].x += scale[0] / 3.0;
        let (bytes, read, losses) = written(&moved, "laz");
        assert_eq!(scales(&bytes), [scale, file.offset]);
        assert_eq!(read, mesh);
        assert_eq!(losses.len(), 1);
        assert!(
            losses[0].contains("rounded to that of the input, 1e-3, "),
            "{losses:?}"
        );
    }
    // The unit stays if another offset is necessary, here further away than 32 bits reach.
    let mut far = parse(&File::default().bytes()).unwrap().mesh;
    far.points.truncate(1);
    far.points[0].x += 9e6;
    let (bytes, read, losses) = written(&far, "las");
    assert_eq!(scales(&bytes)[0], [0.001, 0.002, 0.25]);
    assert!(losses.is_empty() && (read.points[0].x - 9_500_000.5).abs() < 1e-9);
    // A unit that does not reach is none.
    far.points.push(DVec3::splat(1e12));
    let (bytes, ..) = written(&far, "las");
    assert_eq!(scales(&bytes)[0], [1e3; 3]);
}

/// A decimal number is not a product of a whole number and the unit to the last bit: a scale of 1e-7 was necessary.
#[test]
fn decimal_numbers_have_a_decimal_unit() {
    let decimals = [
        [500000.123, 5400000.456, 301.789],
        [500010.001, 5400020.002, 302.003],
    ];
    let (bytes, read, losses) = written(&cloud(&decimals), "las");
    // 5,400,000,456 is beyond 32 bits.
    assert_eq!(scales(&bytes), [[0.001; 3], [0.0, 5_400_010.0, 0.0]]);
    assert!(losses.is_empty(), "{losses:?}");
    for (a, b) in read.points.iter().zip(decimals) {
        assert!(
            (*a - DVec3::from_array(b)).abs().max_element() < 2e-9,
            "{a}"
        );
    }
    for (points, scale) in [
        (vec![[-0.0, 3.0, -7.0]], 1.0),
        (vec![[0.1 + 0.2, 0.7, -0.3]], 0.1),
        (vec![[1.0 / 3.0, 0.5, 0.25], [2.0, 0.0, 0.0]], 1e-9),
        (Vec::new(), 1.0),
    ] {
        let (bytes, _, losses) = written(&cloud(&points), "las");
        assert_eq!(scales(&bytes)[0], [scale; 3], "{points:?}");
        assert_eq!(losses.len(), usize::from(scale == 1e-9), "{losses:?}");
    }
}

#[test]
fn coordinate_systems_and_other_records_are_kept() {
    let keys = ("LASF_Projection", 34735, vec![1, 0, 1, 0, 0, 0, 0, 0]);
    let wkt = ("LASF_Projection", 2112, b"PROJCS[...]\0".to_vec());
    let own = ("me", 17, b"hello".to_vec());
    let index = ("LAStools", 30, vec![1; 9]);
    let long = ("me", 18, vec![5; 70_000]);
    // Minor version, encoding, records, records after the points; minor version and encoding of the output.
    let cases = [
        (2, 1, vec![keys.clone(), own.clone()], vec![], 2, 1),
        (4, 17, vec![own.clone(), wkt.clone(), index], vec![], 4, 17),
        (4, 16, vec![], vec![wkt.clone(), long], 4, 16),
        // Both kinds: the bit chooses.
        (4, 8, vec![keys.clone(), wkt.clone()], vec![], 4, 8),
        // The bit is missing, and has no meaning without WKT.
        (4, 0, vec![wkt], vec![], 4, 16),
        (4, 16, vec![keys], vec![], 2, 0),
        (4, 1, vec![own], vec![], 2, 1),
    ];
    for (minor, encoding, records, after_points, new_minor, new_encoding) in cases {
        let file = File {
            minor,
            encoding,
            records,
            after_points,
            ..File::default()
        };
        let loaded = parse(&file.bytes()).unwrap();
        assert!(loaded.notes.is_empty(), "{:?}", loaded.notes);
        let mesh = loaded.mesh;
        for extension in ["las", "laz"] {
            let (bytes, read, losses) = written(&mesh, extension);
            assert!(losses.is_empty(), "{losses:?}");
            let header = header(&bytes);
            assert_eq!(header.version.minor, new_minor);
            assert_eq!(header.global_encoding, new_encoding);
            assert_eq!((header.file_source_id, header.guid), (77, [9; 16]));
            assert_eq!(header.system_identifier[..], padded("ALS50", 32));
            let date = (header.file_creation_day_of_year, header.file_creation_year);
            assert_eq!(date, (124, 2019));
            assert_eq!(header.generating_software[..], padded("trioxide", 32));
            let [old, new] = [&mesh, &read].map(|mesh| &mesh.about.las.as_ref().unwrap().records);
            assert_eq!(old, new);
            let content = |records: &[LasRecord]| -> Vec<(String, u16, Vec<u8>)> {
                let of = |r: &LasRecord| (r.user.clone(), r.id, r.data.clone());
                records.iter().map(of).collect()
            };
            let all = file.records.iter().chain(&file.after_points);
            let expected = all.filter(|record| record.0 != "LAStools");
            let expected: Vec<_> = expected
                .map(|(user, id, data)| ((*user).to_owned(), *id, data.clone()))
                .collect();
            assert_eq!(content(new), expected);
        }
        let format = Format::to_write(Path::new("a.ply")).unwrap();
        let losses = format.losses(&mesh, Encoding::default());
        let has = |user: &str| file.records.iter().any(|record| record.0 == user);
        let said = |what: &str| losses.iter().any(|loss| loss.contains(what));
        let has_system = has("LASF_Projection") || file.after_points.len() > 1;
        assert_eq!(
            said("holds no coordinate systems"),
            has_system,
            "{losses:?}"
        );
        let has_own = has("me") || file.after_points.len() > 1;
        assert_eq!(said("no other records of LAS files"), has_own, "{losses:?}");
    }
    // Extended points have WKT by the rules, and files without a system say so.
    let mut extended = cloud(&[[0.0; 3]]);
    extended
        .fields
        .points
        .push(Field::scalars("scan_angle", vec![5i16]));
    assert_eq!(header(&written(&extended, "las").0).global_encoding, 16);
    let keys = File {
        minor: 4,
        format: 6,
        records: vec![("LASF_Projection", 34735, vec![1; 8])],
        ..File::default()
    };
    let mut mesh = parse(&keys.bytes()).unwrap().mesh;
    mesh.fields
        .points
        .push(Field::scalars("scan_angle", vec![5i16; 3]));
    assert_eq!(header(&written(&mesh, "laz").0).global_encoding, 0);
}

#[test]
fn points_that_the_header_does_not_count_are_noted() {
    let read = |file: &File| {
        let loaded = parse(&file.bytes()).unwrap();
        (loaded.mesh.points.len(), loaded.notes.join("; "))
    };
    let file = |minor, format, counts| File {
        minor,
        format,
        counts,
        after_points: if minor == 4 {
            vec![("me", 1, vec![1; 200])]
        } else {
            Vec::new()
        },
        ..File::default()
    };
    assert_eq!(read(&file(2, 0, [3, 0])), (3, String::new()));
    let (count, note) = read(&file(2, 0, [1, 0]));
    assert_eq!(count, 1);
    assert_eq!(
        note,
        "its header counts 1 points, and 3 are there: the last 2 are left out"
    );
    // The newer count is that of all points; the older one is 0 where only newer programs read the file.
    assert_eq!(read(&file(4, 6, [0, 3])), (3, String::new()));
    assert_eq!(read(&file(4, 0, [3, 3])), (3, String::new()));
    for (format, counts, count) in [
        (0, [2, 3], 3),
        (0, [9, 3], 3),
        (6, [1, 2], 2),
        (0, [2, 1], 2),
    ] {
        let (found, note) = read(&file(4, format, counts));
        assert_eq!(found, count);
        let [old, new] = counts;
        let two =
            format!("its header has two numbers of points, {old} and {new}: {count} are read");
        assert!(note.starts_with(&two), "{note}");
        assert_eq!(note.contains("are there"), count < 3, "{note}");
    }
    // More than there are.
    let error = parse(&file(2, 0, [4, 0]).bytes()).unwrap_err();
    assert!(
        error.starts_with("4 points of 20 bytes are announced"),
        "{error}"
    );

    // Whole chunks of compressed points.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.laz");
    let points: Vec<_> = (0..120_000).map(|i| DVec3::splat(f64::from(i))).collect();
    write(
        &path,
        &Mesh {
            points,
            ..Mesh::default()
        },
    )
    .unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[107..111].copy_from_slice(&40_000u32.to_le_bytes());
    let loaded = parse(&bytes).unwrap();
    assert_eq!(loaded.mesh.points.len(), 40_000);
    assert_eq!(loaded.mesh.points[39_999], DVec3::splat(39_999.0));
    assert_eq!(
        loaded.notes,
        [
            "its header counts 40000 points, and its chunks have up to 100000 more: they are left out"
        ]
    );
}

#[test]
fn a_scale_of_zero_and_records_that_are_cut_off_are_noted() {
    let mut file = File {
        scale: [0.5, 0.5, 0.0],
        records: vec![("me", 1, vec![1; 20]), ("me", 2, vec![2; 20])],
        ..File::default()
    };
    let loaded = parse(&file.bytes()).unwrap();
    assert_eq!(
        loaded.notes,
        ["the scale of z in its header is 0: all points have z = -10.125"]
    );
    assert_eq!(loaded.mesh.about.unit, None);
    assert_eq!(loaded.mesh.points[1].z, -10.125);
    for bad in [f64::NAN, f64::INFINITY] {
        file.scale = [0.5, bad, 1.0];
        let error = parse(&file.bytes()).unwrap_err();
        assert!(error.contains("the scale of y"), "{error}");
    }
    file.scale = [1.0; 3];
    let mut bytes = file.bytes();
    // The length of the second record.
    bytes[227 + 74 + 20] = 21;
    let loaded = parse(&bytes).unwrap();
    assert_eq!(
        loaded.notes,
        ["1 variable length record is cut off: it is left out"]
    );
    assert_eq!(loaded.mesh.about.las.as_ref().unwrap().records.len(), 1);
    // Hundreds of bytes announce millions of records.
    bytes[100..104].copy_from_slice(&u32::MAX.to_le_bytes());
    let notes = parse(&bytes).unwrap().notes;
    assert_eq!(
        notes,
        ["4294967294 variable length records are cut off: they are left out"]
    );
}
