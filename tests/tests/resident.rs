//! Families on arrays that are on a device already: the results equal those of the host's arrays, bit for bit.

use trioxide::collective::{mark_ids, pack_flags};
use trioxide::device::Device;
use trioxide::glam::{DVec2, DVec3};
use trioxide::half_edges::{DeviceSurface, DeviceTriangulation};
use trioxide::ids::Vertex;
use trioxide::mesh::{Mesh, Segment};
use trioxide::polylla::{self, Constraints};
use trioxide::prolongation::Prolongation;
use trioxide::refine::{self, DeviceEdgeMesh, Marking};
use trioxide::refine_tets::{self, DeviceTets};
use trioxide::weld::{self, CarriedArrays, DeviceCarried, DeviceMesh, Locks};
use trioxide::{forms, generate, smooth};

/// Every third item.
fn some(count: usize) -> Vec<bool> {
    (0..count).map(|i| i % 3 == 0).collect()
}

fn bytes(flags: &[bool]) -> Vec<u8> {
    flags.iter().map(|&flag| u8::from(flag)).collect()
}

#[test]
fn marked_triangles_on_the_device_are_those_of_the_host() -> trioxide::Result<()> {
    let on = Device::cpu(None)?;
    let mesh = generate::random(&on, 2000, 5)?;
    let flags = some(mesh.triangles.len());
    let options = refine::Options {
        marking: Marking::Flags(flags.clone()),
        rounds: 3,
        ..refine::Options::default()
    };
    let mut expected = DeviceEdgeMesh::<DVec2>::upload(&on, &mesh)?;
    refine::refine(&on, &mut expected, &options)?;
    let marked = pack_flags(&on, &on.upload(&bytes(&flags))?)?;
    let mut ours = DeviceEdgeMesh::<DVec2>::upload(&on, &mesh)?;
    refine::refine_marked(&on, &mut ours, &marked, &options)?;
    assert_eq!(
        ours.triangulation(&on, None)?,
        expected.triangulation(&on, None)?
    );
    let few = pack_flags(&on, &on.upload(&[1u8])?)?;
    assert!(refine::refine_marked(&on, &mut ours, &few, &options).is_err());

    // Regions, and fields carried by the record of the rounds.
    let regions: Vec<i32> = (0..mesh.triangles.len() as i32)
        .map(|i| i % 7 - 3)
        .collect();
    let gathered = on.download(&ours.regions(&on, &on.upload(&regions)?)?)?;
    let expected_regions = expected.triangulation(&on, Some(&regions))?.regions;
    assert_eq!(Some(gathered), expected_regions);
    assert!(ours.regions(&on, &on.upload(&regions[1..])?).is_err());
    let values: Vec<f64> = mesh.points.iter().map(|p| p.x * p.y).collect();
    let matrix = Prolongation::of_rounds(values.len(), &ours.rounds(&on)?);
    let arrays = ours.into_arrays(&on)?;
    let mut field = on.upload(&values)?;
    arrays.midpoints.interpolate(&on, &mut field)?;
    let carried = on.download(&field)?;
    for (ours, expected) in carried.iter().zip(matrix.apply(&values)) {
        assert!((ours - expected).abs() < 1e-15);
    }
    assert_eq!(carried.len(), arrays.surface.points().len());
    let mut short = on.upload(&values[1..])?;
    assert!(arrays.midpoints.interpolate(&on, &mut short).is_err());
    Ok(())
}

#[test]
fn chosen_tetrahedra_on_the_device_are_those_of_the_host() -> trioxide::Result<()> {
    let on = Device::cpu(None)?;
    let mesh = generate::tet_grid(600, 3)?;
    let flags = some(mesh.tetrahedra.len());
    let options = refine_tets::Options {
        marking: Marking::Flags(flags.clone()),
        rounds: 2,
        ..refine_tets::Options::default()
    };
    let expected = refine_tets::run::<DVec3>(&on, &mesh, &options)?;
    let resident = DeviceTets::<DVec3>::build(
        &on,
        on.upload(&mesh.points)?,
        on.upload(&mesh.tetrahedra)?.cast(),
    )?;
    let chosen = pack_flags(&on, &on.upload(&bytes(&flags))?)?;
    let ours = refine_tets::refine_chosen(&on, resident, &chosen, &options)?;
    let downloaded = ours.download(&on)?;
    assert_eq!(downloaded.mesh.tetrahedra, expected.mesh.tetrahedra);
    assert_eq!(downloaded.mesh.points, expected.mesh.points);
    let arrays = ours.into_arrays();
    let values: Vec<f64> = mesh.points.iter().map(|p| p.z).collect();
    let mut field = on.upload(&values)?;
    arrays.midpoints.interpolate(&on, &mut field)?;
    let heights: Vec<f64> = expected.mesh.points.iter().map(|p| p.z).collect();
    assert_eq!(on.download(&field)?, heights);
    // Two swapped vertices invert it.
    let mut wrong = mesh.tetrahedra.clone();
    wrong[4].swap(0, 1);
    let built =
        DeviceTets::<DVec3>::build(&on, on.upload(&mesh.points)?, on.upload(&wrong)?.cast());
    match built {
        Err(refine_tets::Error::Inverted { tetrahedron }) => assert_eq!(tetrahedron, 4),
        other => panic!("not refused: {:?}", other.err()),
    }
    Ok(())
}

#[test]
fn fixed_nodes_on_the_device_are_those_of_the_host() -> trioxide::Result<()> {
    let on = Device::cpu(None)?;
    let mesh = Mesh::from(generate::random(&on, 2000, 6)?);
    let fixed = some(mesh.points.len());
    let options = smooth::Options::default();
    let expected = smooth::run_surface::<DVec3>(&on, &mesh, &fixed, &options)?;
    let triangles = weld::triangles(&mesh);
    let resident =
        smooth::DeviceMesh::of_triangles(&on, on.upload(&mesh.points)?, on.upload(triangles)?)?;
    let bits = pack_flags::<Vertex>(&on, &on.upload(&bytes(&fixed))?)?;
    let ours = smooth::smooth_fixed(&on, &resident, bits, &options)?.download(&on)?;
    assert_eq!(ours, expected);
    let few = pack_flags::<Vertex>(&on, &on.upload(&[1u8])?)?;
    assert!(smooth::smooth_fixed(&on, &resident, few, &options).is_err());
    assert!(resident.with_regions(on.upload(&[1i32])?).is_err());
    Ok(())
}

#[test]
fn locks_on_the_device_are_those_of_the_host() -> trioxide::Result<()> {
    let on = Device::cpu(None)?;
    let mesh = Mesh::from(generate::random(&on, 2000, 7)?);
    let locks = Locks {
        boundary: true,
        vertices: some(mesh.points.len()),
    };
    let options = weld::Options::new(0.03);
    let expected = DeviceMesh::upload_locked(&on, &mesh, &locks)?;
    let expected = weld::weld(&on, &expected, options)?.download(&on)?;
    let ids: Vec<u32> = (0..mesh.points.len() as u32).step_by(3).collect();
    let (locked, wrong) = mark_ids::<Vertex>(&on, &on.upload(&ids)?, mesh.points.len())?;
    assert_eq!(wrong, None);
    let arrays = CarriedArrays {
        locked: Some(locked),
        ..CarriedArrays::default()
    };
    let mut ours = DeviceMesh::new(
        on.upload(&mesh.points)?,
        on.upload(weld::triangles(&mesh))?.cast(),
        DeviceCarried::of_arrays(&on, arrays)?,
    )?;
    ours.lock_boundary(&on)?;
    assert_eq!(weld::weld(&on, &ours, options)?.download(&on)?, expected);
    assert!(expected.representatives.len() < expected.map.len());
    Ok(())
}

#[test]
fn constraints_on_the_device_are_those_of_the_host() -> trioxide::Result<()> {
    let on = Device::cpu(None)?;
    let mut mesh = generate::random(&on, 2000, 8)?;
    mesh.regions = Some((0..mesh.triangles.len() as i32).map(|i| i / 500).collect());
    let segments = mesh.triangles.iter().step_by(90).map(|t| Segment {
        ends: [t[1], t[0]],
        marker: 1,
    });
    mesh.segments = segments.collect();
    let there = DeviceTriangulation::<DVec2>::upload(&on, &mesh)?;
    let run = |constraints: Option<Constraints>| {
        let result = polylla::polylla(&on, &there, constraints.as_ref(), Default::default())?;
        result.download(&on)
    };
    let expected = run(Constraints::of(&on, &there, &mesh)?)?;
    let regions = on.upload(mesh.regions.as_deref().unwrap_or_default())?;
    let mut ends: Vec<[u32; 2]> = mesh.segments.iter().map(|segment| segment.ends).collect();
    let segments = on.upload(&ends)?;
    let ours = run(Constraints::of_arrays(
        &on,
        &there,
        Some(&regions),
        Some(&segments),
    )?)?;
    assert_eq!(ours.polygons, expected.polygons);
    ends[3][1] = mesh.points.len() as u32;
    let segments = on.upload(&ends)?;
    match Constraints::of_arrays(&on, &there, None, Some(&segments)) {
        Err(polylla::Error::SegmentOutOfRange { segment }) => assert_eq!(segment, 3),
        other => panic!("not refused: {:?}", other.err()),
    }
    Ok(())
}

#[test]
fn points_with_one_z_are_planar() -> trioxide::Result<()> {
    let on = Device::cpu(None)?;
    let mut points = vec![DVec3::new(1.0, 2.0, 5.0); 1000];
    let surface = |points: &[DVec3]| -> trioxide::Result<_> {
        Ok(DeviceSurface::new(on.upload(points)?, on.upload(&[])?))
    };
    assert!(forms::is_planar(&on, &surface(&points)?)?);
    assert!(forms::is_planar(&on, &surface(&[])?)?);
    points[777].z = 5.0 + 1e-15;
    points[777].x = -4.0;
    assert!(!forms::is_planar(&on, &surface(&points)?)?);
    let (low, high) = forms::bounds(&on, &on.upload(&points)?)?;
    assert_eq!((low.x, high.x, low.z), (-4.0, 1.0, 5.0));
    Ok(())
}

/// The names of the stages since the last call.
fn stages(on: &Device) -> trioxide::Result<Vec<&'static str>> {
    let stages = on.take_stages()?.into_iter();
    Ok(stages.map(|stage| stage.name).collect())
}

/// A surface on the device: of a copy of the arrays, of which nothing is known.
fn anew(on: &Device, surface: &DeviceSurface<DVec3>) -> trioxide::Result<DeviceSurface<DVec3>> {
    let triangles = on.duplicate(surface.origins())?.cast();
    Ok(DeviceSurface::new(
        on.duplicate(surface.points())?,
        triangles,
    ))
}

fn smoothed(on: &Device, surface: DeviceSurface<DVec3>) -> trioxide::Result<DeviceSurface<DVec3>> {
    let options = smooth::Options {
        max_iterations: 3,
        ..smooth::Options::default()
    };
    Ok(smooth::smooth_surface(on, surface, None, None, &options)?.surface)
}

fn polygons(on: &Device, surface: DeviceSurface<DVec3>) -> trioxide::Result<(Vec<u32>, Vec<u32>)> {
    let mesh = forms::triangulation::<DVec2>(on, surface)?;
    let result = polylla::polylla(on, &mesh, None, Default::default())?;
    let lists = result.download_lists(on)?;
    Ok((lists.offsets, lists.vertices))
}

/// Half-edges are built once in a chain; its results are those of steps that know nothing of each other.
#[test]
fn a_second_family_does_not_build_half_edges_again() -> trioxide::Result<()> {
    let on = Device::cpu(None)?;
    let mesh = generate::random(&on, 3000, 9)?;
    let builds = |stages: &[&str]| {
        let by_table = stages.contains(&"match twins");
        (by_table, stages.contains(&"find twins"))
    };
    let lists = |stages: &[&str]| {
        stages
            .iter()
            .any(|&name| ["cells of nodes", "neighbours", "corners"].contains(&name))
    };

    // Refinement: it builds the half-edges of its input, and its sides lead to those of the result.
    let mut edges = DeviceEdgeMesh::<DVec2>::upload(&on, &mesh)?;
    refine::refine(&on, &mut edges, &refine::Options::default())?;
    assert_eq!(builds(&stages(&on)?), (true, false));
    let refined = edges.into_surface(&on);
    let refined = refined.map_points(|points| forms::lift(&on, &points))?;
    let copy = anew(&on, &refined)?;
    stages(&on)?;

    // Smoothing asks for them, and reads neighbours and boundary from them.
    let ours = smoothed(&on, refined)?;
    let names = stages(&on)?;
    assert_eq!(
        (builds(&names), lists(&names)),
        ((false, true), false),
        "{names:?}"
    );
    let expected = smoothed(&on, copy)?;
    assert_eq!(builds(&stages(&on)?), (true, false));
    assert_eq!(on.download(ours.points())?, on.download(expected.points())?);

    // Smoothing and polygons after it find them there; so does no one who takes the arrays alone.
    let (ours, expected) = (smoothed(&on, ours)?, smoothed(&on, anew(&on, &expected)?)?);
    assert_eq!(builds(&stages(&on)?), (true, false));
    let again = anew(&on, &expected)?;
    stages(&on)?;
    let ours_as_polygons = polygons(&on, ours)?;
    let names = stages(&on)?;
    assert!(
        builds(&names) == (false, false) && !names.contains(&"link the border"),
        "{names:?}"
    );
    assert_eq!(ours_as_polygons, polygons(&on, again)?);
    assert_eq!(builds(&stages(&on)?), (true, false));

    // Dropped values are built again, and a lack of memory drops them.
    assert!(on.require(u64::MAX - 1).is_err());
    assert_eq!(ours_as_polygons, polygons(&on, expected)?);
    assert_eq!(builds(&stages(&on)?), (true, false));
    Ok(())
}

/// Half-edges over some vertices are not those of a surface that has others, whose triangles may name none.
#[test]
fn known_half_edges_go_with_their_vertices() -> trioxide::Result<()> {
    let on = Device::cpu(None)?;
    let mesh = generate::random(&on, 500, 3)?;
    let there = DeviceTriangulation::<DVec2>::upload(&on, &mesh)?.into_surface();
    let fewer = there.with_points(on.upload(&mesh.points[..400])?);
    match DeviceTriangulation::of_surface(&on, fewer).map_err(trioxide::Error::from) {
        Err(trioxide::Error::Invalid { rule, .. }) => {
            assert!(rule.contains("out of range"), "{rule}")
        }
        other => panic!("not refused: {:?}", other.err()),
    }
    Ok(())
}
