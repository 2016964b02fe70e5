//! The language on the CPU: views, ids, bit sets, groups, blocks, conditions, and names.
//!
//! Tests are checked builds: an index out of range is a panic with the array's name.

#![allow(missing_docs)]

mod assertions;
mod common;
mod names;
mod prints;
mod reductions;
mod safe;
mod scalars;
mod writers;

use common::Host;
use trioxide_kernel::launch::{Buffer, LaunchError, Moves};
use trioxide_kernel::{
    Atomic, Bits, Block, Group, In, Index, Out, Racing, Scalar, Shared, SharedMemory, kernel, words,
};

trioxide_kernel::id! {
    /// A vertex.
    pub struct Vertex = "vertex";
    /// A triangle.
    pub struct Triangle = "triangle";
    /// A half-edge.
    pub struct HalfEdge = "half-edge";
}

/// Doubles value `i`.
#[kernel(requires(values.len() == n, doubled.len() == n), moves(values.bytes() + doubled.bytes()))]
pub fn double_values(i: u32, values: In<u32>, doubled: Out<u32>) {
    doubled.set(i, 2 * values.at(i));
}

/// Value number `i + shift`.
#[kernel]
pub fn read_beyond(i: u32, shift: u32, values: In<u32>, found: Out<u32>) {
    found.set(i, values.at(i + shift));
}

pub trait Number: trioxide_kernel::bytemuck::Pod + Send + Sync {}

impl Number for u32 {}
impl Number for u64 {}
impl Number for u8 {}

/// Copies values of two types; a third is a number too.
#[kernel(P(u32 = u32, u64 = u64), requires(values.len() == n, copies.len() == n))]
pub fn copy_numbers<P: Number>(i: u32, values: In<P>, copies: Out<P>) {
    copies.set(i, values.at(i));
}

/// Counts the triangles of each vertex.
#[kernel(requires(corners.len() == 3 * n))]
pub fn count_triangles(t: Triangle, corners: In<Vertex>, counts: Atomic<u32>) {
    for k in 0..3 {
        counts.add(corners.at(3 * t.index() + k), 1);
    }
}

/// Marks odd half-edges.
#[kernel]
pub fn is_odd(h: HalfEdge) -> bool {
    h.index() % 2 == 1
}

/// Marks odd indices in one set, and even ones in another.
#[kernel]
pub fn are_odd_and_even(i: u32) -> (bool, bool) {
    (i % 2 == 1, i.is_multiple_of(2))
}

#[kernel(members = HalfEdge)]
pub fn mark_corners(t: Triangle) -> [bool; 3] {
    core::array::from_fn(|k| (3 * t.index() + k as u32).is_multiple_of(5))
}

/// Counts the members of a set.
#[kernel]
pub fn count_members(h: HalfEdge, set: In<Bits<HalfEdge>>, count: Atomic) {
    if set.bit(h) {
        count.add(0u32, 1);
    }
}

#[derive(Group)]
pub struct Inner<'a> {
    pub sites: In<'a, u32>,
}

#[derive(Group)]
pub struct Search<'a> {
    pub inner: Inner<'a>,
    pub shift: u32,
    pub found: Out<'a, u32>,
}

#[kernel(requires(search.inner.sites.len() >= n, search.found.len() == n))]
pub fn search_sites(i: u32, search: Search) {
    search.found.set(i, search.inner.sites.at(i + search.shift));
}

/// Two aligned vectors by value: parameters of 16 bytes.
#[kernel]
pub fn add_vectors(i: u32, a: glam::DVec2, b: glam::Vec4, sums: Out<f64>) {
    sums.set(i, a.x + a.y + f64::from(b.x + b.y + b.z + b.w));
}

#[derive(Clone, Copy, trioxide_kernel::bytemuck::Zeroable)]
#[repr(C)]
pub struct Grid {
    side: f32,
    cells: [u32; 3],
}

// SAFETY: four words.
unsafe impl trioxide_kernel::bytemuck::Pod for Grid {}
impl Scalar for Grid {}

#[kernel]
pub fn number_cells(i: u32, grid: Grid, numbers: Out<u32>) {
    let [x, y, _] = grid.cells;
    numbers.set(i, i % x + i / x % y + grid.side as u32);
}

#[derive(SharedMemory)]
pub struct Tile {
    rows: Shared<u32, 64>,
    bytes: Shared<u8, 64>,
}

const LANES: usize = 64;

/// Reverses each block of 64 values.
#[kernel(requires(values.len() == LANES * n, reversed.len() == LANES * n))]
pub fn reverse_blocks(block: &Block<LANES, Tile>, values: In<u32>, reversed: Out<u32>) {
    let first = block.index() * LANES as u32;
    block.phase(|lane| {
        let i = lane.index();
        block.shared().bytes.set(lane, i, i as u8);
    });
    // More indices than lanes.
    block.each(2 * LANES as u32 - 1, |lane, i| {
        if i % 2 == 0 {
            block
                .shared()
                .rows
                .set(lane, i / 2, values.at(first + i / 2));
        }
    });
    let other = block.lanes(|lane| block.shared().rows.at(63 - lane.index()));
    block.lanes(|lane| {
        let i = lane.index();
        assert_eq!(block.shared().bytes.word(i / 4) & 0xFF, i / 4 * 4);
        reversed.set(first + i, other.at(lane));
    });
}

/// Packs the lowest bit of each value, 32 to a word.
#[kernel(requires(values.len() == 32 * n, packed.len() == n))]
pub fn pack_odd(block: &Block<32>, values: In<u32>, packed: Out<u32>) {
    let is_odd = block.lanes(|lane| values.at(block.index() * 32 + lane.index()) % 2 == 1);
    let word = block.ballot(&is_odd);
    block.lanes(|lane| {
        if lane.index() == 0 {
            packed.set(block.index(), word);
        }
    });
}

#[kernel]
pub fn misuse_block(block: &Block<32, Shared<u32, 32>>, mistake: u32) {
    let own = block.lanes(|lane| lane.index());
    match mistake {
        0 => block.phase(|_| block.phase(|_| ())),
        1 => drop(block.lanes(|_| block.any(&block.lanes(|_| true)))),
        2 => block.phase(|lane| block.shared().set(lane, lane.index() + 1, 0)),
        3 => drop(block.lanes(|_| block.ballot(&block.lanes(|_| true)))),
        4 => block.phase(|_| assert_eq!(block.sum(&own), 496)),
        5 => block.phase(|lane| assert_eq!(block.shuffle(&own, &own).at(lane), lane.index())),
        _ => block.phase(|lane| assert_eq!(own.at(lane), lane.index())),
    }
}

#[test]
fn a_kernel_runs_for_each_index_and_says_what_it_moves() {
    let on = Host::new();
    let values = on.upload(&[1u32, 2, 3, 4]);
    let mut doubled = on.upload(&[0u32; 4]);
    // SAFETY: each index reads and writes its own elements.
    unsafe { double_values::launch(&on, 4, &values, &mut doubled) }.unwrap();
    assert_eq!(on.download(&doubled), [2, 4, 6, 8]);
    let (arrays, moves) = on.last.take().unwrap();
    let names: Vec<_> = arrays.iter().map(|array| (array.name, array.len)).collect();
    assert_eq!(names, [("values", 4), ("doubled", 4)]);
    let formula = "values.bytes() + doubled.bytes()";
    assert_eq!(moves, Some(Moves { bytes: 32, formula }));
}

#[test]
fn a_broken_condition_is_named_with_the_lengths() {
    let on = Host::new();
    let (values, mut doubled) = (on.upload(&[1u32; 4]), on.upload(&[0u32; 3]));
    // SAFETY: as above; the lengths are checked.
    let error = unsafe { double_values::launch(&on, 4, &values, &mut doubled) }.unwrap_err();
    assert_eq!(
        error.to_string(),
        "kernel double_values requires doubled.len() == n, but n is 4, values has 4 elements, doubled has 3 elements"
    );
}

#[test]
fn a_buffer_of_another_device_is_refused() {
    let (on, other) = (Host::new(), Host::new());
    let (values, mut doubled) = (other.upload(&[1u32; 4]), on.upload(&[0u32; 4]));
    // SAFETY: as above.
    let error = unsafe { double_values::launch(&on, 4, &values, &mut doubled) }.unwrap_err();
    let expected = LaunchError::OtherDevice {
        kernel: "double_values",
        array: "values",
    };
    assert_eq!(error, expected);
    assert_eq!(
        error.to_string(),
        "kernel double_values: array `values` lies on another device: copy it to the device of the launch"
    );
}

#[test]
fn a_package_that_is_not_loaded_is_named() {
    let mut on = Host::new();
    on.packages = Some(vec!["gpu"]);
    let (values, mut doubled) = (on.upload(&[1u32; 4]), on.upload(&[0u32; 4]));
    // SAFETY: as above.
    let error = unsafe { double_values::launch(&on, 4, &values, &mut doubled) }.unwrap_err();
    assert_eq!(
        error.to_string(),
        "kernel double_values: the device has no PTX of package trioxide-kernel: the crate that launches it declares it by `trioxide_device::kernels!`"
    );
}

#[test]
#[should_panic = "kernel read_beyond: index 4 of array `values`, which has 4 elements"]
fn an_index_out_of_range_names_kernel_and_array() {
    let on = Host::new();
    let (values, mut found) = (on.upload(&[1u32; 4]), on.upload(&[0u32; 4]));
    // SAFETY: a checked build ends at the index 4.
    let _ = unsafe { read_beyond::launch(&on, 4, 1, &values, &mut found) };
}

#[test]
#[should_panic = "kernel search_sites: index 3 of array `sites`, which has 3 elements"]
fn an_array_of_a_group_is_named_by_its_field() {
    let on = Host::new();
    let (sites, mut found) = (on.upload(&[1u32; 3]), on.upload(&[0u32; 3]));
    let search = SearchBuffers {
        inner: InnerBuffers { sites: &sites },
        shift: 1,
        found: &mut found,
    };
    // SAFETY: a checked build ends at the index 3.
    let _ = unsafe { search_sites::launch(&on, 3, search) };
}

#[test]
fn groups_are_taken_apart_and_put_together() {
    let on = Host::new();
    let (sites, mut found) = (on.upload(&[1u32, 2, 3]), on.upload(&[0u32; 2]));
    let inner = InnerBuffers { sites: &sites };
    let copy = inner;
    fn search<'a>(inner: InnerBuffers<'a>, found: &'a mut Buffer<u32>) -> SearchBuffers<'a> {
        SearchBuffers {
            inner,
            shift: 1,
            found,
        }
    }
    // SAFETY: index i + 1 is below 3.
    unsafe { search_sites::launch(&on, 2, search(copy, &mut found)) }.unwrap();
    assert_eq!(on.download(&found), [2, 3]);
    // SAFETY: the lengths are checked.
    let error = unsafe { search_sites::launch(&on, 3, search(copy, &mut found)) }.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("kernel search_sites requires search.found.len() == n, but n is 3")
    );
}

#[test]
fn ids_index_arrays() {
    let on = Host::new();
    let corners = [0, 1, 2, 2, 1, 3].map(Vertex::new);
    let (corners, mut counts) = (on.upload(&corners), on.upload(&[0u32; 4]));
    // SAFETY: vertices are below 4.
    unsafe { count_triangles::launch(&on, 2, &corners, &mut counts) }.unwrap();
    assert_eq!(on.download(&counts), [1, 2, 2, 1]);
    assert_eq!(
        format!("{} {:?}", Vertex::new(3), Vertex::NONE),
        "vertex 3 no vertex"
    );
    assert!(Vertex::new(1) < Vertex::new(2) && Vertex::new(2) < Vertex::NONE);
    assert_eq!(<Vertex as Index>::from_index(5).index(), 5);
}

/// The members of a set.
fn members<E: 'static>(words: &[Bits<E>], n: usize) -> Vec<usize> {
    let is_member = |&i: &usize| words[i / 32].word() >> (i % 32) & 1 != 0;
    (0..n).filter(is_member).collect()
}

#[test]
fn flags_become_bits_for_every_count() {
    let on = Host::new();
    for n in [1usize, 31, 32, 33, 1000] {
        // Room for more words, with other content.
        let set = |n: usize| on.upload(&vec![Bits::<HalfEdge>::new(!0); words(n) + 9]);
        let mut odd = set(n);
        // SAFETY: a word for each 32 indices.
        unsafe { is_odd::launch(&on, n as u32, &mut odd) }.unwrap();
        let found = on.download(&odd);
        let expected: Vec<usize> = (0..n).filter(|i| i % 2 == 1).collect();
        assert_eq!(members(&found, n), expected);
        // As on a device: the words up to the next multiple of four are cleared, and no bit from `n` on is set.
        for (i, word) in found.iter().enumerate() {
            let expected = (0..32).filter(|bit| {
                let member = 32 * i + bit;
                member < n && member % 2 == 1 || i >= words(n).next_multiple_of(4)
            });
            assert_eq!(
                word.word(),
                expected.map(|bit| 1u32 << bit).sum::<u32>(),
                "word {i} of {n}"
            );
        }
        let (mut a, mut b) = (
            on.upload(&vec![0u32; words(n)]),
            on.upload(&vec![0u32; words(n)]),
        );
        // SAFETY: as above.
        unsafe { are_odd_and_even::launch(&on, n as u32, &mut a, &mut b) }.unwrap();
        assert_eq!(on.download(&a), on.download(&odd.cast::<u32>())[..words(n)]);
        let evens: u32 = on.download(&b).iter().map(|word| word.count_ones()).sum();
        assert_eq!(evens as usize, n.div_ceil(2));
        let mut corners = on.upload(&vec![Bits::<HalfEdge>::EMPTY; words(3 * n)]);
        // SAFETY: as above.
        unsafe { mark_corners::launch(&on, n as u32, &mut corners) }.unwrap();
        let expected: Vec<usize> = (0..3 * n).filter(|h| h % 5 == 0).collect();
        assert_eq!(members(&on.download(&corners), 3 * n), expected);
        let mut count = on.upload(&[0u32]);
        // SAFETY: half-edges are below 3n, and the set has a bit for each.
        unsafe { count_members::launch(&on, 3 * n as u32, &corners, &mut count) }.unwrap();
        assert_eq!(on.download(&count), [expected.len() as u32]);
    }
}

#[test]
fn a_bit_set_without_room_is_refused() {
    let on = Host::new();
    let mut set = on.upload(&[Bits::<HalfEdge>::EMPTY; 2]);
    // SAFETY: the room is checked.
    let error = unsafe { is_odd::launch(&on, 65, &mut set) }.unwrap_err();
    let expected =
        "kernel is_odd requires bits.len() >= words(n), but n is 65, bits has 2 elements";
    assert_eq!(error.to_string(), expected);
    // SAFETY: the room is checked.
    let error = unsafe { mark_corners::launch(&on, 2_000_000_000, &mut set) }.unwrap_err();
    assert!(error.to_string().contains("requires 3 * n <= 2^32"));
}

#[test]
fn vectors_and_structs_pass_by_value() {
    let on = Host::new();
    let mut sums = on.upload(&[0f64; 2]);
    let (a, b) = (
        glam::DVec2::new(1.0, 2.0),
        glam::Vec4::new(3.0, 4.0, 5.0, 6.0),
    );
    // SAFETY: each index writes its own element.
    unsafe { add_vectors::launch(&on, 2, a, b, &mut sums) }.unwrap();
    assert_eq!(on.download(&sums), [21.0, 21.0]);
    let mut numbers = on.upload(&[0u32; 6]);
    let grid = Grid {
        side: 10.0,
        cells: [3, 2, 1],
    };
    // SAFETY: as above.
    unsafe { number_cells::launch(&on, 6, grid, &mut numbers) }.unwrap();
    assert_eq!(on.download(&numbers), [10, 11, 12, 11, 12, 13]);
}

#[test]
fn a_type_without_an_instance_is_refused() {
    fn copy<P: Number + PartialEq + std::fmt::Debug>(values: &[P]) -> Result<(), LaunchError> {
        let on = Host::new();
        let (from, mut to) = (
            on.upload(values),
            on.upload(&vec![P::zeroed(); values.len()]),
        );
        // SAFETY: each index has its own elements.
        unsafe { copy_numbers::launch(&on, values.len() as u32, &from, &mut to) }?;
        assert_eq!(on.download(&to), values);
        Ok(())
    }
    copy(&[1u32, 2]).unwrap();
    copy(&[1u64 << 40, 2, 3]).unwrap();
    let error = copy(&[1u8, 2]).unwrap_err();
    let expected = "kernel copy_numbers has no instance for u8: add it to the kernel's declaration";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn blocks_share_memory() {
    let on = Host::new();
    let values: Vec<u32> = (0..128).collect();
    let (values, mut reversed) = (on.upload(&values), on.upload(&[0u32; 128]));
    // SAFETY: phases end in barriers; each lane writes its own element.
    unsafe { reverse_blocks::launch(&on, 2, &values, &mut reversed) }.unwrap();
    let expected: Vec<u32> = (0..64).rev().chain((64..128).rev()).collect();
    assert_eq!(on.download(&reversed), expected);
}

#[test]
fn mistakes_in_blocks_are_named() {
    let on = Host::new();
    let barrier = "a barrier inside of a lane's closure";
    for (mistake, expected) in [
        (0, barrier),
        (1, barrier),
        (3, barrier),
        (4, barrier),
        (5, barrier),
        (
            2,
            "kernel misuse_block: index 32 of array `shared`, which has 32 elements",
        ),
    ] {
        // SAFETY: a checked build ends at the mistake.
        let run = || unsafe { misuse_block::launch(&on, 1, mistake) };
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
        let message = match panic.downcast::<String>() {
            Ok(message) => *message,
            Err(panic) => panic.downcast::<&str>().unwrap().to_string(),
        };
        assert!(message.contains(expected), "{message}");
    }
    // The thread runs other kernels after a panic.
    // SAFETY: no mistake.
    unsafe { misuse_block::launch(&on, 3, 9) }.unwrap();
}

#[test]
fn a_ballot_has_a_bit_for_each_lane() {
    let on = Host::new();
    let values: Vec<u32> = (0..64).map(|i| u32::from(i % 3 == 0)).collect();
    let (values, mut packed) = (on.upload(&values), on.upload(&[0u32; 2]));
    // SAFETY: each block reads its own values and writes its own word.
    unsafe { pack_odd::launch(&on, 2, &values, &mut packed) }.unwrap();
    let expected = |first: u32| {
        (0..32)
            .filter(|i| (first + i).is_multiple_of(3))
            .map(|i| 1 << i)
            .sum()
    };
    assert_eq!(on.download(&packed), [expected(0), expected(32)]);
}

#[test]
fn buffers_keep_to_their_memory() {
    let on = Host::new();
    let mut buffer = on.upload(&[[1u32, 2, 3], [4, 5, 6]]);
    buffer.set_len(1);
    let flat = buffer.cast::<HalfEdge>();
    assert_eq!((flat.len(), flat.capacity(), flat.bytes()), (3, 6, 12));
    assert_eq!(flat.as_words().len(), 3);
    let catch = |work: &mut dyn FnMut()| {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err()
    };
    let mut flat = Some(flat);
    assert!(catch(&mut || flat.as_mut().unwrap().set_len(7)));
    assert!(catch(&mut || drop(flat.take().unwrap().cast::<[u32; 2]>())));
}

#[test]
#[should_panic = "part 2 of an element of a Racing array, which has 2 parts"]
fn a_racing_element_has_its_parts() {
    let on = Host::new();
    let points = on.upload(&[glam::Vec2::ZERO]);
    let raw = trioxide_kernel::view::RawView::new(points.address(), 1);
    // SAFETY: an element of a buffer that nobody else uses.
    let racing = unsafe {
        Racing::<glam::Vec2>::from_raw(raw, trioxide_kernel::check::Label::new("none", "points"))
    };
    racing.load(0u32, 2);
}
