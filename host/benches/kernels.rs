//! A kernel of each family on the CPU: `cargo bench -p trioxide --bench kernels`. All of them, and on a GPU: `trioxide bench kernels`.

use criterion::{Criterion, criterion_group, criterion_main};
use glam::DVec2;
use trioxide::backend::Device;
use trioxide::generate;
use trioxide::half_edges::DeviceTriangulation;
use trioxide::ids::HalfEdge;
use trioxide::smooth::cells::DeviceMesh;

/// Vertices of each mesh.
const VERTICES: usize = 100_000;

fn planar(criterion: &mut Criterion) {
    let on = Device::cpu(None).unwrap();
    let mesh = generate::jittered(VERTICES, 1).unwrap();
    let mesh = DeviceTriangulation::<DVec2>::upload(&on, &mesh).unwrap();
    let (half_edges, triangles) = (mesh.half_edges(), mesh.half_edges() / 3);
    let words = half_edges.div_ceil(32) as usize;

    let mut first = on.filled(mesh.points().len(), HalfEdge::NONE).unwrap();
    criterion.bench_function("half-edges/find_half_edges_of_vertices", |bench| {
        let find = gpu::half_edge::find_half_edges_of_vertices::launch;
        // SAFETY: vertices of a checked triangulation.
        bench.iter(|| unsafe { find(&on, half_edges, mesh.origins(), &mut first) }.unwrap());
    });

    let mut longest = on.uninitialized(words).unwrap();
    criterion.bench_function("polylla/label_longest_edges", |bench| {
        let label = gpu::polylla::label_longest_edges::launch;
        let (origins, points, twins) = (mesh.origins(), mesh.points(), mesh.twins());
        bench.iter(|| {
            // SAFETY: vertices and half-edges of a checked triangulation.
            unsafe { label(&on, triangles, origins, points, twins, 1, &mut longest) }.unwrap();
        });
    });

    let mut neighbours = on.uninitialized(half_edges as usize).unwrap();
    criterion.bench_function("indexed/find_neighbours", |bench| {
        let find = gpu::indexed::find_neighbours::launch;
        // SAFETY: no index comes from data.
        bench.iter(|| unsafe { find(&on, half_edges, mesh.twins(), &mut neighbours) }.unwrap());
    });

    let mut owners = on.uninitialized(words).unwrap();
    criterion.bench_function("refine/mark_owners", |bench| {
        let mark = gpu::refine::mark_owners::launch;
        let twins = mesh.twins().as_words();
        // SAFETY: no index comes from data.
        bench.iter(|| unsafe { mark(&on, half_edges, twins, &mut owners) }.unwrap());
    });
}

fn welding(criterion: &mut Criterion) {
    let on = Device::cpu(None).unwrap();
    // Every second vertex goes to the one before.
    let representatives: Vec<u32> = (0..VERTICES as u32).map(|v| v & !1).collect();
    let representatives = on.upload(&representatives).unwrap();
    let mut bits = on.uninitialized(VERTICES.div_ceil(32)).unwrap();
    criterion.bench_function("weld/mark_representatives", |bench| {
        let mark = gpu::weld::mark_representatives::launch;
        // SAFETY: no index comes from data.
        bench.iter(|| {
            unsafe { mark(&on, VERTICES as u32, &representatives, &mut bits) }.unwrap();
        });
    });
}

fn volume(criterion: &mut Criterion) {
    let on = Device::cpu(None).unwrap();
    let mesh = generate::tet_grid(VERTICES, 1).unwrap();
    let corners = on.upload(mesh.tetrahedra.as_flattened()).unwrap();
    let points = on.upload(&mesh.points).unwrap();
    let edges = on.filled(6 * mesh.tetrahedra.len(), 0).unwrap();
    let mut orders = on.uninitialized(mesh.tetrahedra.len()).unwrap();
    let count = mesh.tetrahedra.len() as u32;
    criterion.bench_function("refine-tets/order_tet_edges", |bench| {
        let order = gpu::refine_tets::order_tet_edges::launch;
        bench.iter(|| {
            // SAFETY: the ids are those of the generated mesh.
            unsafe { order(&on, count, &corners, &points, &edges, &mut orders) }.unwrap();
        });
    });

    let mesh = DeviceMesh::<glam::DVec3>::upload(&on, &mesh.into()).unwrap();
    let incidence = mesh.cells.incidence(&on).unwrap();
    let mut heavy = on.uninitialized(mesh.points.len().div_ceil(32)).unwrap();
    criterion.bench_function("smooth/mark_heavy", |bench| {
        let mark = gpu::smooth::mark_heavy::launch;
        let nodes = mesh.points.len() as u32;
        // SAFETY: a start for each node, and the end.
        bench.iter(|| unsafe { mark(&on, nodes, &incidence.starts, &mut heavy) }.unwrap());
    });
}

criterion_group!(benches, planar, welding, volume);
criterion_main!(benches);
