//! Devices and their buffers: handles in several threads, and odd arguments.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use glam::{DVec2, DVec3};
use trioxide::Error;
use trioxide::collective::exclusive_scan;
use trioxide::device::{Buffer, Device, cuda_devices};
use trioxide::forms;
use trioxide::generate;
use trioxide::half_edges::{DeviceSurface, DeviceTriangulation};
use trioxide::polyhedra;
use trioxide::polylla::{self, polylla};
use trioxide::progress::Interrupt;
use trioxide::refine_tets::DeviceTets;
use trioxide::smooth::{self, smooth_surface};
use trioxide::weld::{self, DeviceCarried, weld};

/// Compiles for handles that threads can share.
const fn is_handle<T: Send + Sync + Clone + 'static>() {}
const _: () = is_handle::<Device>();
const fn is_sent<T: Send + Sync + 'static>() {}
const _: () = is_sent::<Buffer<u32>>();

fn sums_of_ones(on: &Device, n: usize) {
    let mut values = on.filled(n, 1u32).unwrap();
    exclusive_scan(on, &mut values).unwrap();
    let sums = on.download(&values).unwrap();
    assert!(sums.iter().enumerate().all(|(i, &sum)| sum as usize == i));
}

#[test]
fn two_devices_work_in_two_threads() {
    let work = |n: usize| {
        move || {
            let device = Device::cpu(Some(2)).unwrap();
            for k in 0..20 {
                sums_of_ones(&device, n + 1000 * k);
            }
            device.id()
        }
    };
    let threads = [thread::spawn(work(100_000)), thread::spawn(work(7))];
    let [a, b] = threads.map(|thread| thread.join().unwrap());
    assert_ne!(a, b);
}

/// Two GPUs where there are as many, else one GPU that is opened twice.
#[test]
fn two_gpus_work_in_two_threads() {
    let found = match cuda_devices() {
        Ok((_, found)) if !found.is_empty() => found,
        Ok(_) => return eprintln!("skipped: there is no GPU"),
        Err(reason) => return eprintln!("skipped: {reason}"),
    };
    let indices = [found[0].index, found[found.len() - 1].index];
    println!("on cuda:{} and cuda:{}", indices[0], indices[1]);
    let threads = indices.map(|index| {
        thread::spawn(move || {
            let device = Device::cuda(index).unwrap();
            for k in 0..200 {
                sums_of_ones(&device, 100_000 + 1000 * k);
            }
            let buffer = device.upload(&[1u32, 2, 3]).unwrap();
            (device, buffer)
        })
    });
    let [(a, of_a), (b, of_b)] = threads.map(|thread| thread.join().unwrap());
    assert_ne!(a.id(), b.id());
    assert!(matches!(a.download(&of_b), Err(Error::Argument(_))));
    assert_eq!(b.download(&of_b).unwrap(), [1, 2, 3]);
    assert_eq!(a.download(&of_a).unwrap(), [1, 2, 3]);
}

#[test]
fn a_chain_moves_no_array_to_the_host() {
    let on = Device::cpu(Some(2)).unwrap();
    let mesh = trioxide::generate::jittered(40_000, 4).unwrap();
    let high: Vec<DVec3> = mesh.points.iter().map(|p| p.extend(0.0)).collect();
    let points = on.upload(&high).unwrap();
    let faces = on.upload(&mesh.triangles).unwrap().cast();
    let (to_device, to_host) = on.transferred();
    let carried = DeviceCarried::none(&on).unwrap();
    let input = weld::DeviceMesh::new(points, faces, carried).unwrap();
    let welded = weld(&on, &input, weld::Options::new(1e-9))
        .unwrap()
        .into_arrays();
    let surface = DeviceSurface::new(welded.points, welded.faces.cast());
    let options = smooth::Options {
        max_iterations: 10,
        ..smooth::Options::default()
    };
    let moved = smooth_surface(&on, surface, None, None, &options).unwrap();
    let plane = forms::triangulation::<DVec2>(&on, moved.surface).unwrap();
    let polygons = polylla(&on, &plane, None, polylla::Options::default()).unwrap();
    let (sent, received) = on.transferred();
    let (half_edges, lists) = polygons.into_arrays();
    let offsets = lists.unwrap().into_parts().0;
    let smallest = half_edges.bytes().min(offsets.bytes()) as u64;
    // Counts, extremes and the moves of a sweep cross.
    assert!(
        received - to_host < smallest / 2,
        "{} bytes",
        received - to_host
    );
    assert!(
        sent - to_device < smallest / 2,
        "{} bytes",
        sent - to_device
    );
}

#[test]
fn an_interrupted_computation_ends_before_its_next_stage() {
    let on = Device::cpu(Some(1)).unwrap();
    let mesh = trioxide::generate::random(&on, 500, 1).unwrap();
    let interrupt = Interrupt::default();
    let upload = || trioxide::half_edges::DeviceTriangulation::<DVec2>::upload(&on, &mesh);
    assert!(interrupt.watch(upload).is_ok());
    interrupt.interrupt();
    let error = Error::from(interrupt.watch(upload).err().unwrap());
    assert!(matches!(error, Error::Interrupted), "{error}");
    // Sweeps end between two batches, in the midst of a stage.
    let surface = trioxide::mesh::Mesh::from(mesh.clone());
    let options = smooth::Options {
        max_iterations: u32::MAX,
        ..smooth::Options::default()
    };
    let again = Interrupt::default();
    let other = again.clone();
    let clock = thread::spawn(move || {
        thread::sleep(std::time::Duration::from_millis(50));
        other.interrupt();
    });
    let ended = again.watch(|| smooth::run_surface::<DVec3>(&on, &surface, &[], &options));
    assert!(matches!(
        Error::from(ended.unwrap_err()),
        Error::Interrupted
    ));
    clock.join().unwrap();
    assert!(upload().is_ok());
}

#[test]
fn clones_of_a_device_work_in_several_threads() {
    let device = Device::cpu(Some(2)).unwrap();
    device.time_launches(true);
    let threads: Vec<_> = (0..4)
        .map(|k| {
            let device = device.clone();
            thread::spawn(move || {
                for turn in 0..20 {
                    let run = || {
                        sums_of_ones(&device, 10_000 * k + 999 * turn + 1);
                        Ok(())
                    };
                    device.stage("sums", run).unwrap();
                }
            })
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    assert!(device.take_launches().unwrap().len() >= 80);
    assert_eq!(device.take_stages().unwrap().len(), 1);
}

/// A thread of the device's own pool that waits for its part of a launch may begin another launch.
#[test]
fn launches_from_the_devices_own_threads_end() {
    let device = Device::cpu(Some(2)).unwrap();
    device.on_host(|| {
        let run = |n| move |device: &Device| sums_of_ones(device, n);
        let (a, b) = (run(3_000_000), run(2_000_000));
        thread::scope(|scope| {
            scope.spawn(|| a(&device));
            b(&device);
        });
    });
}

#[test]
fn a_buffer_outlives_its_device_and_stays_its_own() {
    let (device, other) = (Device::cpu(Some(1)).unwrap(), Device::cpu(Some(1)).unwrap());
    let mut buffer = device.upload(&[1u32, 2, 3]).unwrap();
    let is_refused = |result: Result<(), Error>| matches!(result, Err(Error::Argument(_)));
    assert!(is_refused(other.download(&buffer).map(drop)));
    assert!(is_refused(
        other.download_rows::<_, [u32; 3]>(&buffer).map(drop)
    ));
    assert!(is_refused(other.read(&buffer, 0).map(drop)));
    assert!(is_refused(other.duplicate(&buffer).map(drop)));
    assert!(is_refused(other.resized(&buffer, 2).map(drop)));
    assert!(is_refused(other.resize(&mut buffer, 1000)));
    assert!(is_refused(other.fill_from(&mut buffer, 0, 7)));
    assert!(is_refused(
        other.download_beside(&buffer, || Ok(())).map(drop)
    ));
    drop(device);
    assert_eq!((buffer.len(), buffer.bytes()), (3, 12));
}

#[test]
fn odd_lengths_are_errors() {
    let device = Device::cpu(Some(1)).unwrap();
    for len in [
        usize::MAX,
        usize::MAX / 4,
        usize::MAX / 8,
        isize::MAX as usize,
    ] {
        assert!(matches!(
            device.uninitialized::<u32>(len),
            Err(Error::OutOfMemory { .. })
        ));
        assert!(matches!(
            device.uninitialized::<u8>(len),
            Err(Error::OutOfMemory { .. })
        ));
    }
    // Refused allocations do not count.
    assert_eq!(device.peak_bytes(), 0);
    let mut buffer = device.upload(&[1u32, 2, 3]).unwrap();
    let grown = device.resize(&mut buffer, usize::MAX);
    assert!(matches!(grown, Err(Error::OutOfMemory { .. })));
    assert_eq!(device.download(&buffer).unwrap(), [1, 2, 3]);
    assert!(matches!(
        device.download_rows::<_, [u32; 2]>(&buffer),
        Err(Error::Argument(_))
    ));
    assert_eq!(
        device.download_rows::<_, [u8; 4]>(&buffer).unwrap().len(),
        3
    );
    let empty = device.upload::<f64>(&[]).unwrap();
    assert!(device.download(&empty).unwrap().is_empty());
    assert!(device.resized(&empty, 0).unwrap().is_empty());
    let beyond = |work: &mut dyn FnMut()| catch_unwind(AssertUnwindSafe(work)).is_err();
    assert!(beyond(&mut || drop(device.read(&buffer, 3))));
    assert!(beyond(&mut || drop(device.fill_from(&mut buffer, 4, 0))));
    // The device works after a panic.
    sums_of_ones(&device, 1000);
}

#[test]
fn faces_of_other_tetrahedra_are_refused() {
    let on = Device::cpu(Some(1)).unwrap();
    let mesh = generate::tet_grid(100, 1).unwrap();
    let make = || DeviceTets::<DVec3>::upload_with_faces(&on, &mesh).unwrap();
    let (tets, faces) = make();
    // Of the same size, and equal; but nobody has looked.
    let (others, of_others) = make();
    let options = polyhedra::Options::default();
    let result = polyhedra::polyhedra(&on, &tets, &faces, options).unwrap();
    let copy = tets.duplicate(&on).unwrap();
    let of_copy = polyhedra::polyhedra(&on, &copy, &faces, options).unwrap();
    assert_eq!(of_copy.counts(), result.counts());
    let refusals = [
        polyhedra::polyhedra(&on, &tets, &of_others, options).err(),
        polyhedra::polyhedra(&on, &others, &faces, options).err(),
        result.download(&on, &of_others).err(),
    ];
    for refusal in refusals {
        let text = refusal.unwrap().to_string();
        assert!(text.contains("the faces are of other tetrahedra"), "{text}");
    }
    assert!(result.download(&on, &faces).is_ok());
}

/// The owners of a share without other processes, with these given elements and ghosts.
struct Nobody<'i> {
    given: &'i [u32],
    ghosts: &'i [u32],
}

// SAFETY: there is no ghost with an owner; the test looks at ids out of range.
unsafe impl polylla::Owners for Nobody<'_> {
    fn given(&self) -> &[u32] {
        self.given
    }

    fn ghosts(&self) -> &[u32] {
        self.ghosts
    }

    fn exchange(&mut self, _: Vec<u8>) -> trioxide::Result<Vec<u8>> {
        Ok(vec![0; self.ghosts.len()])
    }
}

#[test]
fn ids_of_a_share_that_are_not_there_are_refused() {
    let on = Device::cpu(Some(1)).unwrap();
    let mesh = generate::grid(100).unwrap();
    let triangles = mesh.triangles.len() as u32;
    let there = DeviceTriangulation::<DVec2>::upload(&on, &mesh).unwrap();
    let owned = vec![u32::MAX; (3 * triangles).div_ceil(32) as usize];
    let share = |given: &[u32], ghosts: &[u32]| {
        let mut nobody = Nobody { given, ghosts };
        polylla::polylla_share(&on, &there, None, &owned, false, &mut nobody).unwrap()
    };
    let refused = |text: &str, work: &dyn Fn()| {
        let fault = catch_unwind(AssertUnwindSafe(work)).unwrap_err();
        assert_eq!(*fault.downcast_ref::<&str>().unwrap(), text);
    };
    for ids in [[triangles], [u32::MAX]] {
        refused("triangles of the part", &|| _ = share(&ids, &[]));
        refused("triangles of the part", &|| _ = share(&[], &ids));
    }
    let share = share(&[triangles - 1], &[]);
    let ids = |n: usize| (0..n as u64).collect::<Vec<u64>>();
    let [of_triangles, of_vertices] = [mesh.triangles.len(), mesh.points.len()].map(ids);
    let digest = |triangles, vertices| {
        let [triangles, vertices] = [triangles, vertices].map(polylla::WholeIds::List);
        share.digest(&on, triangles, vertices).unwrap()
    };
    let all = polylla::WholeIds::From(0);
    let expected = share.digest(&on, all, all).unwrap();
    assert_eq!(digest(&of_triangles, &of_vertices), expected);
    // A list without ids is none of ids from 0 on.
    for few in [&[][..], &of_triangles[1..]] {
        refused("an id for each triangle", &|| _ = digest(few, &of_vertices));
    }
    for few in [&[][..], &of_vertices[1..]] {
        refused("an id for each vertex", &|| _ = digest(&of_triangles, few));
    }
}
