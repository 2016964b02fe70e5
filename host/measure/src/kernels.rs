//! Times of every kernel, by pipelines that launch it on meshes of one number of vertices.

use bytemuck::cast_slice;
use glam::{DVec2, DVec3, Vec2, Vec3};
use gpu::smooth::Vector;
use serde_json::{Map, Value, json};
use trioxide::collective::{bucket, compact, exclusive_scan};
use trioxide::compare;
use trioxide::device::Device;
use trioxide::half_edges::{DeviceTriangulation, Point};
use trioxide::ids::Vertex;
use trioxide::indexed::{self, Neighbours};
use trioxide::mesh::Triangulation;
use trioxide::polyhedra;
use trioxide::polylla;
use trioxide::quality3d::quality;
use trioxide::refine::{self, DeviceEdgeMesh};
use trioxide::refine_tets::{self, DeviceTets, SpacePoint};
use trioxide::repair;
use trioxide::smooth::{self, DeviceMesh, Form, Layout, Relations};
use trioxide::tet_faces::DeviceFaces;
use trioxide::volume::TetMesh;
use trioxide::weld;
use trioxide::{Buffer, Result, generate};
use trioxide_verify::selftest::repair::damage;
use trioxide_verify::selftest::weld as scans;

use super::names::{SWEEPS, map};
use super::record::Record;
use super::repair::STEPS;
use super::timing::kernels;
use super::untangle::MOST_SWEEPS;
use super::{Mesh, Options, name_of};

type Counts = Map<String, Value>;

/// Times pipelines and keeps their records.
struct Bench<'a> {
    on: &'a Device,
    options: &'a Options,
    records: Vec<Record>,
}

impl Bench<'_> {
    /// Times the kernels of `work`, which returns its counts.
    fn add(
        &mut self,
        pipeline: &'static str,
        mesh: &str,
        precision: &str,
        mut work: impl FnMut() -> Result<Counts>,
    ) -> Result<()> {
        self.add_record(pipeline, mesh, precision, &mut work)
    }

    /// Compiled once, not for each pipeline.
    fn add_record(
        &mut self,
        pipeline: &'static str,
        mesh: &str,
        precision: &str,
        work: &mut dyn FnMut() -> Result<Counts>,
    ) -> Result<()> {
        self.on.reset_peak();
        let mut counts = Counts::new();
        let stages = kernels(pipeline, self.on, self.options.runs(), &mut || {
            counts = work()?;
            Ok(())
        })?;
        // Stages were recorded too.
        self.on.take_stages()?;
        let n = self.options.n;
        let mut case = format!("{pipeline}, {mesh} {n}");
        if precision == "f32" {
            case += ", f32";
        }
        self.records.push(Record {
            family: "kernels".to_owned(),
            case,
            parameters: map([
                ("pipeline", json!(pipeline)),
                ("mesh", json!(mesh)),
                ("n", json!(n)),
                ("seed", json!(self.options.seed)),
                ("precision", json!(precision)),
            ]),
            counts,
            peak_bytes: self.on.peak_bytes(),
            stages,
        });
        Ok(())
    }

    fn precision(&self) -> &'static str {
        match self.options.is_double() {
            true => "f64",
            false => "f32",
        }
    }
}

/// A record for each pipeline.
pub fn cases(on: &Device, options: &Options) -> Result<Vec<Record>> {
    let mut bench = Bench {
        on,
        options,
        records: Vec::new(),
    };
    let mesh = options.planar_mesh()?;
    collectives(&mut bench, &mesh)?;
    match options.is_double() {
        true => planar::<DVec2>(&mut bench, &mesh)?,
        false => planar::<Vec2>(&mut bench, &mesh)?,
    }
    drop(mesh);
    welding(&mut bench)?;
    comparing(&mut bench)?;
    repairing(&mut bench)?;
    match options.is_double() {
        true => untangling::<DVec3>(&mut bench)?,
        false => untangling::<Vec3>(&mut bench)?,
    }
    let mesh = match options.mesh {
        Mesh::Random => generate::random_tets(options.n, options.seed)?,
        _ => generate::tet_grid(options.n, options.seed)?,
    };
    match options.is_double() {
        true => volume::<DVec3>(&mut bench, mesh)?,
        false => volume::<Vec3>(&mut bench, mesh)?,
    }
    Ok(bench.records)
}

/// Scan, compact and bucket of as many elements as there are half-edges, with vertices as keys.
fn collectives(bench: &mut Bench<'_>, mesh: &Triangulation) -> Result<()> {
    let on = bench.on;
    let corners: &[u32] = mesh.triangles.as_flattened();
    let vertices = mesh.points.len();
    let keys = on.upload(corners)?;
    // About half of the bits.
    let words: Vec<u32> = (0..corners.len().div_ceil(32) as u32)
        .map(|word| word.wrapping_mul(0x9E37_79B9))
        .collect();
    let bits = on.upload(&words)?;
    let name = name_of(bench.options.mesh);
    bench.add("collectives", &name, "f64", || {
        let mut values = on.filled(keys.len(), 1)?;
        exclusive_scan(on, &mut values)?;
        drop(values);
        let listed = compact(on, &bits)?.len();
        bucket::<u32, u32>(on, &keys, vertices)?;
        Ok(map([
            ("elements", json!(keys.len())),
            ("keys", json!(vertices)),
            ("listed", json!(listed)),
        ]))
    })
}

/// Half-edges, Polylla by both methods, and longest-edge bisection of all triangles and of few.
fn planar<P: Point>(bench: &mut Bench<'_>, mesh: &Triangulation) -> Result<()> {
    let on = bench.on;
    let (name, precision) = (name_of(bench.options.mesh), bench.precision());
    let (vertices, triangles) = (mesh.points.len(), mesh.triangles.len());
    let sizes = || {
        map([
            ("vertices", json!(vertices)),
            ("triangles", json!(triangles)),
        ])
    };

    let points: Vec<P> = mesh.points.iter().map(|&p| P::from_f64(p)).collect();
    let (points, origins) = (
        on.upload(&points)?,
        on.upload(cast_slice::<_, Vertex>(&mesh.triangles))?,
    );
    bench.add("half-edges", &name, precision, || {
        let (points, origins) = (on.duplicate(&points)?, on.duplicate(&origins)?);
        let built = DeviceTriangulation::<P>::build(on, points, origins)?;
        built.half_edges_of_vertices(on)?;
        Ok(sizes())
    })?;
    drop((points, origins));

    let resident = DeviceTriangulation::<P>::upload(on, mesh)?;
    bench.add("polylla", &name, precision, || {
        let options = polylla::Options::default();
        let made = polylla::polylla(on, &resident, None, options)?;
        let mut counts = sizes();
        counts.insert("regions".to_owned(), json!(made.counts().regions));
        counts.insert("polygons".to_owned(), json!(made.counts().polygons));
        let corners = made.lists().map(|lists| lists.items().len());
        counts.insert("corners".to_owned(), json!(corners));
        Ok(counts)
    })?;
    bench.add("indexed", &name, precision, || {
        let neighbours = Neighbours::new(on, &resident)?;
        let options = indexed::Options::default();
        let made = indexed::indexed(on, &resident, &neighbours, None, options)?;
        let mut counts = sizes();
        counts.insert("polygons".to_owned(), json!(made.counts().polygons));
        Ok(counts)
    })?;

    for (pipeline, marking) in [
        ("refine, all", refine::Marking::All),
        ("refine, 0.1 %", refine::Marking::Fraction(0.001)),
    ] {
        let options = refine::Options {
            marking,
            seed: bench.options.seed,
            ..refine::Options::default()
        };
        bench.add(pipeline, &name, precision, || {
            let mut fine = DeviceEdgeMesh::build(on, resident.duplicate(on)?)?;
            let edges = fine.level().edges;
            refine::refine(on, &mut fine, &options)?;
            let mut counts = sizes();
            counts.insert("edges".to_owned(), json!(edges));
            let after = fine.level();
            counts.insert("vertices_after".to_owned(), json!(after.vertices));
            counts.insert("triangles_after".to_owned(), json!(after.triangles));
            Ok(counts)
        })?;
    }
    Ok(())
}

/// Clusters of a scan, half of its vertices removed.
fn welding(bench: &mut Bench<'_>) -> Result<()> {
    let on = bench.on;
    let (points, faces) = scans::scan(bench.options.n, bench.options.seed);
    let mesh = weld::DeviceMesh::upload_arrays(on, &points, &faces)?;
    let epsilon = weld::epsilon_for_ratio(on, &mesh, weld::Guards::default(), 0.5)?.epsilon;
    let options = weld::Options::new(epsilon);
    bench.add("weld", "scan", "f64", || {
        let welded = weld::weld(on, &mesh, options)?;
        Ok(map([
            ("vertices", json!(points.len())),
            ("triangles", json!(faces.len())),
            ("welded_vertices", json!(welded.points().len())),
            ("welded_triangles", json!(welded.faces().len())),
            ("rounds", json!(welded.left().len())),
        ]))
    })
}

/// Distances between a scan and another one.
fn comparing(bench: &mut Bench<'_>) -> Result<()> {
    let (on, seed) = (bench.on, bench.options.seed);
    let upload = |seed| -> Result<(Buffer<DVec3>, Buffer<Vertex>)> {
        let (points, triangles) = scans::scan(bench.options.n, seed);
        let corners = on.upload(triangles.as_flattened())?.cast();
        Ok((on.upload(&points)?, corners))
    };
    let (a, b) = (upload(seed)?, upload(seed + 1)?);
    let (a, b) = (
        compare::Shape::new(on, &a.0, &a.1)?,
        compare::Shape::new(on, &b.0, &b.1)?,
    );
    let options = compare::Options {
        samples: 200_000,
        seed,
    };
    bench.add("compare", "scan", "f64", || {
        compare::compare(on, a, b, options)?;
        Ok(map([
            ("vertices", json!(a.points().len())),
            ("triangles", json!(a.triangles())),
        ]))
    })
}

/// All steps of repair of a damaged scan.
fn repairing(bench: &mut Bench<'_>) -> Result<()> {
    let on = bench.on;
    let (points, mut faces) = scans::scan(bench.options.n, bench.options.seed);
    let times = faces.len() / 1000;
    damage(&mut faces, points.len() as u32, times);
    bench.add("repair", "scan", "f64", || {
        let repaired = repair::repair(on, &points, &faces, &[], &STEPS)?;
        Ok(map([
            ("vertices", json!(points.len())),
            ("triangles", json!(faces.len())),
            ("triangles_after", json!(repaired.triangles.len())),
        ]))
    })
}

/// Untangling of a grid of tetrahedra.
fn untangling<P: Vector>(bench: &mut Bench<'_>) -> Result<()> {
    let (on, precision) = (bench.on, bench.precision());
    let options = bench.options;
    let mesh = generate::tangled_tets(options.n, options.tangle, options.seed)?.into();
    let resident = DeviceMesh::<P>::upload(on, &mesh)?;
    let to_valid = smooth::UntangleOptions {
        goal: smooth::Goal::Untangled,
        boundary: smooth::BoundaryRule::Fixed,
        max_sweeps: MOST_SWEEPS,
        keep_going: false,
    };
    bench.add("untangle", "tangled grid of tetrahedra", precision, || {
        let made = smooth::untangle(on, &resident, &[], &to_valid)?;
        Ok(map([
            ("vertices", json!(mesh.points.len())),
            ("cells", json!(mesh.cells.len())),
            ("sweeps", json!(made.report().sweeps)),
            ("inverted", json!(made.report().inverted.len())),
        ]))
    })
}

/// Refinement of tetrahedra, polyhedra of them, relations and quality of their mesh, and sweeps of the forms in each
/// layout.
fn volume<P: SpacePoint + Vector>(bench: &mut Bench<'_>, mesh: TetMesh) -> Result<()> {
    let on = bench.on;
    let name = match bench.options.mesh {
        Mesh::Random => "random tetrahedra",
        _ => "grid of tetrahedra",
    };
    let precision = bench.precision();
    let (vertices, cells) = (mesh.points.len(), mesh.tetrahedra.len());
    let sizes = || map([("vertices", json!(vertices)), ("cells", json!(cells))]);
    let tets = DeviceTets::<P>::upload(on, &mesh)?;
    let all = refine_tets::Options {
        marking: refine_tets::Marking::All,
        ..refine_tets::Options::default()
    };
    bench.add("refine-tets", name, precision, || {
        let copy = tets.duplicate(on)?;
        let refined = refine_tets::refine(on, copy, &all)?;
        let mut counts = sizes();
        counts.insert("edges".to_owned(), json!(refined.levels()[0].edges));
        counts.insert("cells_after".to_owned(), json!(refined.mesh().count()));
        Ok(counts)
    })?;
    let faces = DeviceFaces::of(on, &tets)?;
    bench.add("polyhedra", name, precision, || {
        drop(DeviceFaces::of(on, &tets)?);
        let strict = polyhedra::Options {
            strict: true,
            ..polyhedra::Options::default()
        };
        let result = polyhedra::polyhedra(on, &tets, &faces, strict)?;
        let cavities = polyhedra::Options {
            rule: polyhedra::Rule::Cavity,
            ..polyhedra::Options::default()
        };
        polyhedra::polyhedra(on, &tets, &faces, cavities)?;
        let mut counts = sizes();
        counts.insert("polyhedra".to_owned(), json!(result.counts().polyhedra));
        Ok(counts)
    })?;
    drop((faces, tets));

    let mesh = mesh.into();
    let resident = DeviceMesh::<P>::upload(on, &mesh)?;
    let default = smooth::Options::default();
    bench.add("relations", name, precision, || {
        let relations = Relations::new(on, &resident)?;
        let mut counts = sizes();
        counts.insert("neighbours".to_owned(), json!(relations.neighbour_count()));
        quality(on, resident.cells(), resident.points())?;
        Ok(counts)
    })?;
    let relations = Relations::new(on, &resident)?;
    bench.add("order", name, precision, || {
        smooth::prepare(on, &relations, &[], &default)?;
        Ok(sizes())
    })?;
    for (pipeline, form) in [
        ("sweeps, form a", Form::A),
        ("sweeps, form b", Form::B),
        ("sweeps, b-coloured", Form::BColoured),
    ] {
        let options = smooth::Options {
            form,
            max_iterations: SWEEPS,
            ..default.clone()
        };
        let prepared = smooth::prepare(on, &relations, &[], &options)?;
        bench.add(pipeline, name, precision, || {
            for layout in [Layout::Soa, Layout::Aos, Layout::Aligned] {
                let options = smooth::Options {
                    layout,
                    ..options.clone()
                };
                smooth::relax(on, &prepared, &options)?;
            }
            let mut counts = sizes();
            counts.insert("moving".to_owned(), json!(prepared.moving()));
            Ok(counts)
        })?;
    }
    Ok(())
}
