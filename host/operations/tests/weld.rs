//! Welding of whole meshes: the same result in any memory, and refusals as data.

use glam::{DVec2, DVec3};
use trioxide::device::Device;
use trioxide::fields::Field;
use trioxide::mesh::{Mesh, Polygons};
use trioxide::volume::{Cells, TetMesh, VolumeMesh};
use trioxide_operations::weld::{Options, Refusal, Without};
use trioxide_operations::{Error, Note, Result, weld, weld_volume};

fn scan() -> Mesh {
    let scan = trioxide::generate::scan(5000, 1).expect("a mesh");
    Mesh {
        attributes: Default::default(),
        ..scan
    }
}

#[test]
fn slabs_and_the_sequential_algorithm_give_the_same_mesh() -> Result<()> {
    let on = Device::cpu(Some(2))?;
    let options = Options::new(0.05);
    let (whole, at_once) = weld(&on, scan(), &options)?;
    assert!(at_once.totals.slabs.is_none() && at_once.notes.is_empty());
    let limited = Options {
        memory_limit: Some(300_000),
        ..options.clone()
    };
    let (welded, in_slabs) = weld(&on, scan(), &limited)?;
    assert!(in_slabs.totals.slabs.is_some_and(|[slabs, _]| slabs > 1));
    assert!(matches!(
        in_slabs.notes[..],
        [Note::InSlabs { limit: 300_000, .. }]
    ));
    assert_eq!(welded, whole);
    assert_eq!(in_slabs.map, at_once.map);
    #[cfg(feature = "serial")]
    assert_eq!(
        weld(&trioxide_operations::On::Serial, scan(), &options)?.0,
        whole
    );
    Ok(())
}

/// The mean of equal numbers is that number; texture coordinates that are averaged are counted.
#[test]
fn equal_numbers_stay() -> Result<()> {
    let on = Device::cpu(Some(2))?;
    let place = DVec3::new(0.1, 0.7, 1.1);
    let mut mesh = Mesh {
        points: vec![place; 6],
        ..Mesh::default()
    };
    mesh.attributes.normals = Some(vec![DVec3::new(0.1, 0.7, 0.1); 6]);
    mesh.attributes.uvs = Some(vec![DVec2::splat(0.1); 6]);
    let (welded, report) = weld(&on, mesh.clone(), &Options::new(0.0))?;
    assert_eq!(
        (&welded.points[..], &report.notes[..]),
        (&[place][..], &[][..])
    );
    assert_eq!(
        welded.attributes.normals,
        Some(vec![DVec3::new(0.1, 0.7, 0.1)])
    );
    assert_eq!(welded.attributes.uvs, Some(vec![DVec2::splat(0.1)]));
    #[cfg(feature = "serial")]
    assert_eq!(
        weld(
            &trioxide_operations::On::Serial,
            mesh.clone(),
            &Options::new(0.0)
        )?
        .0,
        welded
    );
    mesh.attributes.uvs = Some([0.0, 0.0, 1.0, 1.0, 0.0, 0.0].map(DVec2::splat).to_vec());
    let (_, report) = weld(&on, mesh, &Options::new(0.0))?;
    assert_eq!(report.notes, [Note::AveragedUvs(2)]);
    Ok(())
}

#[test]
fn refusals_are_data() -> Result<()> {
    let on = Device::cpu(Some(1))?;
    let refusal = |options: Options| match weld(&on, scan(), &options) {
        Err(Error::WeldRefused(refusal)) => refusal,
        Err(Error::Limited(error)) => match *error {
            Error::WeldRefused(refusal) => refusal,
            error => panic!("{error}"),
        },
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it is welded"),
    };
    assert_eq!(refusal(Options::default()), Refusal::NoDistance);
    let both = Options {
        ratio: Some(0.5),
        ..Options::new(0.1)
    };
    assert_eq!(refusal(both), Refusal::TwoDistances);
    let mut locked = Options {
        memory_limit: Some(300_000),
        ..Options::new(0.05)
    };
    locked.locks.boundary = true;
    let found = refusal(locked);
    let Refusal::InSlabs { limit, without, .. } = found else {
        panic!("{found:?}");
    };
    assert_eq!((limit, without), (300_000, Without::Locks));
    Ok(())
}

/// Two tetrahedra with points of their own at a common face, a third that repeats the first, and a thin one.
#[test]
fn cells_get_the_welded_vertices() -> Result<()> {
    let face = [DVec3::ZERO, DVec3::X, DVec3::Y];
    let points = face
        .into_iter()
        .chain([DVec3::Z])
        .chain(face)
        .chain([-DVec3::Z, DVec3::Z * 1.001]);
    let mut mesh = VolumeMesh::from(TetMesh {
        points: points.collect(),
        tetrahedra: vec![[0, 1, 2, 3], [4, 6, 5, 7], [4, 5, 6, 3], [1, 2, 3, 8]],
        regions: Some(vec![1, 2, 3, 4]),
        ..TetMesh::default()
    });
    let mut tagged = Polygons::default();
    tagged.push(&[0, 1, 2]);
    tagged.push(&[4, 6, 5]);
    (mesh.faces, mesh.face_tags) = (tagged, vec![7, 8]);
    mesh.fields.points.push(Field::scalars(
        "x",
        (0..9).map(f64::from).collect::<Vec<_>>(),
    ));
    let on = Device::cpu(Some(2))?;
    let (welded, report) = weld_volume(&on, mesh.clone(), &Options::new(0.01))?;
    assert_eq!(
        welded.cells,
        Cells::Tetrahedra(vec![[0, 1, 2, 3], [0, 2, 1, 4]])
    );
    assert_eq!(
        (welded.regions, welded.face_tags),
        (Some(vec![1, 2]), vec![7])
    );
    assert_eq!(report.notes, [Note::DroppedCells(2)]);
    let x = welded.fields.points.get("x").expect("it is kept");
    assert_eq!(x.values, vec![2.0, 3.0, 4.0, 5.5, 7.0].into());
    let mut locked = Options::new(0.01);
    locked.locks.boundary = true;
    assert_eq!(weld_volume(&on, mesh, &locked)?.0.points.len(), 9);
    Ok(())
}
