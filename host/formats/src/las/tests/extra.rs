//! Extra bytes.

use trioxide_mesh::fields::Values;

use super::*;

/// A description: type, options, name, scale and offset.
fn described(kind: u8, options: u8, name: &str, units: [f64; 2]) -> Vec<u8> {
    let mut bytes = vec![0; 192];
    (bytes[2], bytes[3]) = (kind, options);
    bytes[4..36].copy_from_slice(&padded(name, 32));
    bytes[40] = 255;
    for k in 0..3 {
        bytes[112 + 8 * k..][..8].copy_from_slice(&units[0].to_le_bytes());
        bytes[136 + 8 * k..][..8].copy_from_slice(&units[1].to_le_bytes());
    }
    bytes[160..].copy_from_slice(&padded("for people", 32));
    bytes
}

/// A file with 16 extra bytes of each point, of which the last 3 have no description.
fn with_extra_bytes(format: u8) -> File {
    let descriptions = [
        described(3, 8 | 16 | 1, "height", [0.01, -5.0]),
        described(12, 8 | 2, "pair", [0.5, 9.0]),
        described(0, 4, "four", [2.0, 2.0]),
        described(9, 0, "single", [2.0, 2.0]),
        described(1, 1, "byte", [2.0, 2.0]),
    ];
    let point = |k: u8| {
        let mut bytes = vec![k, 1, k, 255 - k, 7, 8, 9, k];
        bytes.extend_from_slice(&(f32::from(k) / 3.0).to_le_bytes());
        bytes.extend_from_slice(&[250 + k, 1, 2, 3]);
        bytes
    };
    File {
        minor: 4,
        format,
        records: vec![("LASF_Spec", 4, descriptions.concat())],
        extra: (0..3).map(point).collect(),
        ..File::default()
    }
}

#[test]
fn extra_bytes_are_fields() {
    for format in [0, 6] {
        let loaded = parse(&with_extra_bytes(format).bytes()).unwrap();
        assert_eq!(
            loaded.notes,
            ["3 extra bytes of each point have no description: they are left out"]
        );
        let mesh = loaded.mesh;
        let field = |name: &str, components, values: Values| Field {
            name: name.to_owned(),
            components,
            values,
        };
        // Bytes of no type, and numbers whose options say so, have no scale.
        let expected = [
            field(
                "height",
                1,
                vec![256.0 * 0.01 - 5.0, 257.0 * 0.01 - 5.0, 258.0 * 0.01 - 5.0].into(),
            ),
            field("pair", 2, vec![0.0, -0.5, 0.5, -1.0, 1.0, -1.5].into()),
            field("four", 4, vec![7u8, 8, 9, 0, 7, 8, 9, 1, 7, 8, 9, 2].into()),
            field("single", 1, vec![0f32, 1.0 / 3.0, 2.0 / 3.0].into()),
            field("byte", 1, vec![250u8, 251, 252].into()),
        ];
        assert_eq!(mesh.fields.points, expected.into_iter().collect());
        for extension in ["las", "laz"] {
            let (bytes, read, losses) = written(&mesh, extension);
            assert!(losses.is_empty(), "{losses:?}");
            assert_eq!(read.fields, mesh.fields);
            // The content of the descriptions, without the limits, which are optional.
            let old = with_extra_bytes(format).records.remove(0).2;
            let new = &read.about.las.as_ref().unwrap().records[0].data;
            assert_eq!(new.len(), old.len());
            let options = [25, 8, 4, 0, 1];
            for (k, (new, old)) in new.chunks(192).zip(old.chunks(192)).enumerate() {
                assert_eq!((new[2], new[3]), (old[2], options[k]));
                assert_eq!((&new[4..40], &new[160..]), (&old[4..40], &old[160..]));
            }
            assert_eq!(new[40], 255, "the number for missing values");
            assert_eq!(header(&bytes).point_data_record_length, 20 + 13);
        }
        // New numbers that are no multiples are doubles, all their digits kept.
        let mut moved = mesh.clone();
        moved.fields.points.take("height");
        moved
            .fields
            .points
            .push(Field::scalars("height", vec![0.125, 1.0 / 3.0, -5.0]));
        let (_, read, losses) = written(&moved, "laz");
        assert!(losses.is_empty(), "{losses:?}");
        assert_eq!(read.fields, moved.fields);
    }
}

#[test]
fn fields_without_a_dimension_are_extra_bytes() {
    let mut mesh = cloud(&[[0.0; 3], [1.0; 3]]);
    mesh.attributes.normals = Some(vec![DVec3::X, DVec3::new(0.1, 0.2, 0.3)]);
    let long = "a name of more than thirty-two bytes: ";
    let fields = [
        Field::scalars("x", vec![1i64 << 60, -1]),
        Field::scalars("NormalX", vec![1u64 << 63, 1]),
        Field::scalars("", vec![1i8, -1]),
        Field::scalars(format!("{long}é"), vec![1u16, 9]),
        Field::scalars(format!("{long}b"), vec![f32::NAN, 9.0]),
        Field::scalars("user_data", vec![256u16, 9]),
        Field {
            name: "tensor".to_owned(),
            components: 9,
            values: vec![0.5; 18].into(),
        },
    ];
    mesh.fields.points = fields.into_iter().collect();
    let (_, read, losses) = written(&mesh, "laz");
    assert_eq!(
        losses,
        [
            "LAS does not hold the field tensor: not in the output".to_owned(),
            format!(
                "LAS does not take every name: the output has the fields `x` as `field_x`, `NormalX` as \
                 `field_NormalX`, `` as `field_`, `{long}é` as `a name of more than thirty-t`, `{long}b` as \
                 `a name of more than thirty-t_2`, `user_data` as `field_user_data`"
            )
        ]
    );
    let new = read.fields.points.iter().map(|field| &field.values);
    let old = mesh.fields.points.iter().map(|field| &field.values);
    assert_eq!(
        format!("{:?}", new.collect::<Vec<_>>()),
        format!("{:?}", old.take(6).collect::<Vec<_>>())
    );
    assert_eq!(read.attributes.normals, mesh.attributes.normals);
    // Records have 65,535 bytes, and so have all descriptions.
    for (count, components, kept) in [(400, 1, 341), (400, 250, 262)] {
        let field = |k| Field {
            name: format!("f{k}"),
            components,
            values: vec![k as u8; 2 * components].into(),
        };
        mesh.attributes.normals = None;
        mesh.fields.points = (0..count).map(field).collect();
        let (_, read, losses) = written(&mesh, "las");
        assert_eq!(read.fields.points.len(), kept);
        assert!(
            losses[0].contains(&format!("the fields f{kept}, ")),
            "{losses:?}"
        );
    }
}
