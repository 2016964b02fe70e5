//! Memory of the host that a rank takes for a grid which it makes itself: without it the largest mesh would end at the
//! host, not at the GPU. A device's memory is not counted: on the CPU buffers are maps of pages, not of this allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use trioxide::Device;
use trioxide::generate::Grid;
use trioxide::glam::{DVec2, Vec2};
use trioxide::weld::{self, Carried};
use trioxide_ranks::polylla::{Options, Points, find};
use trioxide_ranks::threads::run;
use trioxide_ranks::weld::{Plan, Wanted, weld as weld_on_ranks};
use trioxide_ranks::{Block, Ownership, Part, Ranks};

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn add(bytes: usize) {
    MOST.fetch_max(NOW.fetch_add(bytes, Relaxed) + bytes, Relaxed);
}

// SAFETY: all calls go to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Points along a side of the grid. The kilobytes that a rank takes for any grid are a small part of the limits.
const SIDE: usize = 500;

/// Bytes a vertex that ranks take at once for the grid, and with the same result.
fn bytes_a_vertex<R: PartialEq + Send>(
    size: usize,
    work: impl Fn(&Ranks, &Device, &Grid) -> R + Sync,
) -> f64 {
    let grid = Grid::uniform(SIDE * SIDE).unwrap();
    let before = NOW.load(Relaxed);
    MOST.store(before, Relaxed);
    let results = run(size, |transport| {
        let ranks = Ranks::new(transport);
        let on = Device::cpu(Some(1)).unwrap();
        work(&ranks, &on, &grid)
    });
    assert!(results.iter().all(|result| *result == results[0]));
    let most = MOST.load(Relaxed) - before;
    most as f64 / grid.vertices() as f64
}

/// While they make and find polygons, and for the digest.
fn polygons<P: Points>(ranks: &Ranks, on: &Device, grid: &Grid) -> u64 {
    let part = Part::of_grid(ranks, grid).unwrap();
    let found = find::<P>(ranks, on, part, Options::default()).unwrap();
    assert_eq!(found.totals.polygons, ((SIDE - 1) * (SIDE - 1)) as u64);
    found.digest(ranks, on).unwrap()
}

/// Within less than the spacing, and within one.
fn welded(ranks: &Ranks, on: &Device, grid: &Grid) -> [u64; 2] {
    [1e-6, 1.0 / (SIDE - 1) as f64].map(|epsilon| {
        let block = Block::counts_of_grid(grid);
        let plan = Plan {
            ownership: Ownership::Rows(*grid),
            wanted: Wanted {
                map: false,
                mesh: false,
            },
            ..Plan::default()
        };
        let options = weld::Options::new(epsilon);
        let welded = weld_on_ranks(ranks, on, &block, &Carried::NONE, &options, &plan).unwrap();
        welded.clusters
    })
}

#[test]
fn a_grid_takes_few_bytes_a_vertex_of_the_host() {
    trioxide_kernel::check::look_for_writers(false);
    // Which half-edges are owned, six bits a vertex. The device makes points and triangles, and keeps flags and
    // polygons.
    for size in [1, 2] {
        let of_polygons = [
            bytes_a_vertex(size, polygons::<DVec2>),
            bytes_a_vertex(size, polygons::<Vec2>),
        ];
        for bytes in of_polygons {
            println!("polylla on {size} ranks: {bytes:.1} bytes a vertex");
            assert!(bytes < 1.5, "{bytes:.1} bytes a vertex on {size} ranks");
        }
        // States of points, a byte each, several times; the device makes points and triangles.
        let bytes = bytes_a_vertex(size, welded);
        println!("weld on {size} ranks: {bytes:.1} bytes a vertex");
        assert!(bytes < 6.0, "{bytes:.1} bytes a vertex on {size} ranks");
    }
}
