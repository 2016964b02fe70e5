//! Welding of whole meshes: the same result in any memory, and refusals as data.

use trioxide::device::Device;
use trioxide::mesh::Mesh;
use trioxide_operations::weld::{Options, Refusal, Without};
use trioxide_operations::{Error, Note, Result, weld};

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
