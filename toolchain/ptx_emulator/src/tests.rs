//! Small kernels, loaded as PTX.

use std::collections::BTreeMap;

use crate::grid::run;
use crate::memory::Ranges;
use crate::module::Module;

const HEAD: &str = ".version 6.3\n.target sm_75\n.address_size 64\n.extern .shared .align 16 .b8 __dynamic_shared[];\n\
    .global .align 4 .b8 table[8] = {7, 0, 0, 0, 9};\n\
    .func  (.param .b64 func_retval0) twice(\n\t.param .b64 twice_param_0\n)\n{\n\
    \t.reg .b64 \t%rd<3>;\n\tld.param.b64 %rd1, [twice_param_0];\n\tadd.s64 %rd2, %rd1, %rd1;\n\tst.param.b64 [func_retval0], %rd2;\n\tret;\n}\n";

/// Runs a body whose parameter `%rd1` is an array with a word for each thread. Returns its content afterwards.
fn words(body: &str, shape: [u32; 2]) -> Result<Vec<u32>, String> {
    let found = launched(body, shape, true);
    assert_eq!(found, launched(body, shape, false));
    found
}

fn launched(body: &str, shape: [u32; 2], looks_for_races: bool) -> Result<Vec<u32>, String> {
    launched_with(HEAD, body, shape, looks_for_races)
}

fn launched_with(
    head: &str,
    body: &str,
    [blocks, threads]: [u32; 2],
    looks_for_races: bool,
) -> Result<Vec<u32>, String> {
    let text = format!(
        "{head}.visible .entry kernel(\n\t.param .align 8 .b8 kernel_param_0[16]\n)\n.maxnreg 80\n{{\n\
         \t.reg .pred \t%p<5>;\n\t.reg .b32 \t%r<11>;\n\t.reg .b64 \t%SP, %SPL;\n\t.reg .b64 \t%rd<9>;\n\
         \tld.param.b64 %rd1, [kernel_param_0];\n\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %ctaid.x;\n\tmov.u32 %r3, %ntid.x;\n\
         \tmad.lo.s32 %r4, %r2, %r3, %r1;\n\tmul.wide.u32 %rd2, %r4, 4;\n\tadd.s64 %rd3, %rd1, %rd2;\n{body}\n\tret;\n}}\n"
    );
    let memory = Ranges::default();
    let module = Module::load(&text, |bytes| memory.allocate(bytes, false))?;
    let count = (blocks * threads) as usize;
    let array = memory.allocate(4 * count, true).expect("little memory");
    // All words but the last are written before the launch.
    let written = 4 * count - 4;
    memory
        .find(array, written)
        .expect("as allocated")
        .mark(array, written);
    let mut parameters = [0; 16];
    parameters[..8].copy_from_slice(&array.to_le_bytes());
    let shape = [blocks, threads, 256];
    let ran = run(
        &module.kernels["kernel"],
        shape,
        &parameters,
        &memory.snapshot(),
        &[],
        looks_for_races,
    );
    // SAFETY: allocated above, with as many words.
    let words = unsafe { std::slice::from_raw_parts(array as *const u32, count) };
    ran.map(|()| words.to_vec()).map_err(|wrong| wrong.text)
}

#[test]
fn lanes_part_and_meet_again() {
    // Collatz steps: each lane leaves the loop at another time, and then votes.
    let body = "\tadd.s32 %r5, %r4, 1;\n\tmov.b32 %r6, 0;\n\
        $L_1:\n\tsetp.eq.b32 %p1, %r5, 1;\n\t@%p1 bra $L_3;\n\
        \tadd.s32 %r6, %r6, 1;\n\tand.b32 %r7, %r5, 1;\n\tsetp.eq.b32 %p2, %r7, 0;\n\t@%p2 bra $L_2;\n\
        \tmad.lo.s32 %r5, %r5, 3, 1;\n\tbra.uni $L_1;\n\
        $L_2:\n\tshr.u32 %r5, %r5, 1;\n\tbra.uni $L_1;\n\
        $L_3:\n\tsetp.gt.u32 %p3, %r6, 7;\n\tvote.sync.ballot.b32 %r8, %p3, -1;\n\
        \tshfl.sync.up.b32 %r9, %r6, 1, 0, -1;\n\tadd.s32 %r10, %r8, %r9;\n\tst.global.b32 [%rd3], %r10;";
    let steps: Vec<u32> = (1..=96)
        .map(|mut n: u32| {
            let mut count = 0;
            while n != 1 {
                n = if n.is_multiple_of(2) {
                    n / 2
                } else {
                    3 * n + 1
                };
                count += 1;
            }
            count
        })
        .collect();
    let expected: Vec<u32> = (0..96)
        .map(|i| {
            let warp = &steps[i / 32 * 32..][..32];
            let votes: u32 = (0..32).map(|lane| u32::from(warp[lane] > 7) << lane).sum();
            votes.wrapping_add(warp[(i % 32).saturating_sub(1)])
        })
        .collect();
    assert_eq!(words(body, [1, 96]).unwrap(), expected);
}

#[test]
fn a_block_shares_memory_behind_a_barrier() {
    // Each thread reads the word that the thread mirrored at the end has written, and whether any number is above 60.
    let body = "\tmul.wide.u32 %rd4, %r1, 4;\n\tmov.b64 %rd5, __dynamic_shared;\n\tadd.s64 %rd6, %rd5, %rd4;\n\
        \tst.shared.b32 [%rd6], %r4;\n\tbar.sync 0;\n\tmov.b32 %r5, 63;\n\tsub.s32 %r6, %r5, %r1;\n\
        \tmul.wide.u32 %rd7, %r6, 4;\n\tadd.s64 %rd8, %rd5, %rd7;\n\tld.shared.b32 %r7, [%rd8];\n\
        \tsetp.gt.u32 %p1, %r7, 60;\n\tbar.red.or.pred %p2, 0, %p1;\n\tselp.b32 %r8, 1000, 0, %p2;\n\
        \tadd.s32 %r9, %r7, %r8;\n\tst.global.b32 [%rd3], %r9;";
    let expected: Vec<u32> = (0..3)
        .flat_map(|block| (0..64).map(move |i| 64 * block + 63 - i + 1000))
        .collect();
    assert_eq!(words(body, [3, 64]).unwrap(), expected);
}

#[test]
fn blocks_add_up_by_atomics_and_may_wait_for_earlier_ones() {
    // The first word counts the blocks that have arrived; each block waits until all blocks before it have.
    let body = "\tsetp.ne.b32 %p1, %r1, 0;\n\t@%p1 bra $L_2;\n\tsetp.ne.b32 %p3, %r2, 0;\n\
        \t@!%p3 st.relaxed.gpu.global.b32 [%rd1], 0;\n\
        $L_1:\n\tld.relaxed.gpu.global.b32 %r5, [%rd1];\n\tsetp.ne.b32 %p2, %r5, %r2;\n\t@%p2 bra $L_1;\n\
        \tatom.global.add.u32 %r6, [%rd1], 1;\n\tsetp.eq.b32 %p4, %r2, 0;\n\t@%p4 bra $L_2;\n\tst.global.b32 [%rd3], %r6;\n\
        $L_2:";
    let found = words(body, [40, 32]).unwrap();
    let first: Vec<u32> = found.iter().step_by(32).copied().collect();
    let expected: Vec<u32> = std::iter::once(40).chain(1..40).collect();
    assert_eq!(first, expected);
}

#[test]
fn functions_tables_and_branches_by_index() {
    let body = "\tand.b32 %r5, %r4, 1;\n$L_brx_0:\n\t.branchtargets\n\t$L_1,\n\t$L_2;\n\tbrx.idx %r5, $L_brx_0;\n\
        $L_1:\n\tld.global.nc.b32 %r6, [table];\n\tbra.uni $L_3;\n\
        $L_2:\n\tld.global.nc.b32 %r6, [table+4];\n\
        $L_3:\n\tcvt.u64.u32 %rd4, %r6;\n\
        \t{\n\t.param .b64 param0;\n\t.param .b64 retval0;\n\tst.param.b64 [param0], %rd4;\n\
        \tcall.uni (retval0), twice, (param0);\n\tld.param.b64 %rd5, [retval0];\n\t}\n\
        \t{ .reg .b32 tmp; mov.b64 {%r7, tmp}, %rd5; }\n\tst.global.b32 [%rd3], %r7;";
    assert_eq!(words(body, [1, 3]).unwrap(), [14, 18, 14]);
}

#[test]
fn a_lane_has_memory_of_its_own() {
    let body = "\t.local .align 8 .b8 __local_depot0[24];\n\tmov.b64 %SPL, __local_depot0;\n\tcvta.local.u64 %SP, %SPL;\n\
        \tst.local.b32 [%SPL+16], %r4;\n\tld.b32 %r5, [%SP+16];\n\tadd.s32 %r6, %r5, 5;\n\tst.global.b32 [%rd3], %r6;";
    // Also for blocks that use the memory of earlier blocks.
    let expected: Vec<u32> = (5..405).collect();
    assert_eq!(words(body, [10, 40]).unwrap(), expected);
}

#[test]
fn shared_memory_has_generic_addresses() {
    let body = "\tshl.b32 %r5, %r1, 2;\n\tmov.b64 %rd4, __dynamic_shared;\n\tcvt.u64.u32 %rd5, %r5;\n\tadd.s64 %rd4, %rd4, %rd5;\n\
        \tst.shared.b32 [%rd4], %r4;\n\tcvta.shared.u64 %rd6, %rd4;\n\tld.b32 %r6, [%rd6];\n\tadd.s32 %r6, %r6, 7;\n\
        \tst.b32 [%rd6], %r6;\n\tcvta.to.shared.u64 %rd7, %rd6;\n\tld.shared.b32 %r6, [%rd7];\n\tst.global.b32 [%rd3], %r6;";
    let expected: Vec<u32> = (7..71).collect();
    assert_eq!(words(body, [2, 32]).unwrap(), expected);
}

#[test]
fn what_a_kernel_must_not_do_is_named() {
    let refused: BTreeMap<&str, &str> = [
        (
            "\tst.global.b32 [%rd3+4], %r4;",
            "block 1, thread 31: \"st.global.b32 [%rd3+4], %r4\" uses 4 bytes of Global memory",
        ),
        (
            "\tld.global.v2.b32 {%r5, %r6}, [%rd1+4];",
            "thread 0: \"ld.global.v2.b32 {%r5, %r6}, [%rd1+4]\" uses 8 bytes of Global memory at",
        ),
        (
            "\tld.shared.b32 %r5, [__dynamic_shared+256];",
            "of Shared memory at 0x100, which is in no memory of the device",
        ),
        (
            "\tsetp.eq.b32 %p1, %r1, 3;\n\t@%p1 bra $L_1;\n\tvote.sync.ballot.b32 %r5, %p1, -1;\n\tbra.uni $L_2;\n\
             $L_1:\n\tvote.sync.ballot.b32 %r6, %p1, -1;\n$L_2:",
            "waits for lane 3 of its warp, which waits at \"vote.sync.ballot.b32 %r6",
        ),
        ("\tlg2.approx.f32 %r5, %r1;", "kernel: the emulator does not know \"lg2.approx.f32 %r5, %r1\""),
        (
            "\tld.global.b32 %r5, [%rd3];",
            "block 1, thread 31: \"ld.global.b32 %r5, [%rd3]\" reads 4 bytes at",
        ),
        (
            "\tsetp.eq.b32 %p1, %r1, 3;\n\t@%p1 vote.sync.ballot.b32 %r5, %p1, -1;",
            "kernel: the emulator does not know \"@%p1 vote.sync.ballot.b32",
        ),
        (
            "\tsetp.eq.b32 %p1, %r1, 3;\n\t@%p1 bra $L_1;\n\tbar.sync 0;\n\tbra.uni $L_2;\n$L_1:\n\t@%p1 bar.sync 0;\n$L_2:",
            "waits for lane 3 of its warp, which waits at \"@%p1 bar.sync 0",
        ),
        (
            "\t.local .align 8 .b8 __local_depot0[16];\n\tmov.b64 %rd4, __local_depot0;\n\tst.local.b32 [%rd4+16], %r4;",
            "uses 4 bytes of Global memory",
        ),
        ("\tmov.u32 %r5, %tid.y;", "does not know \"mov.u32 %r5, %tid.y\""),
        ("\tmov.u32 %r5, %r11;", "does not know \"mov.u32 %r5, %r11\""),
        ("\tatom.global.cas.b16 %r5, [%rd3], 0, 1;", "does not know \"atom.global.cas.b16"),
        ("\tshfl.sync.idx.b32 %r5, %r1, 0, 0x1c1f, -1;", "does not know \"shfl.sync.idx.b32"),
        ("\tst.param.b32 [param0+4], %r4;", "does not know \"st.param.b32 [param0+4]"),
        ("\ttrap;", "traps"),
        (
            "\tst.global.b32 [%rd1], %r4;",
            "\"st.global.b32 [%rd1], %r4\" races with \"st.global.b32 [%rd1], %r4\" of block",
        ),
        (
            "\tsub.s64 %rd4, %rd3, %rd2;\n\tst.shared.b32 [__dynamic_shared+8], %r4;",
            "races with \"st.shared.b32 [__dynamic_shared+8]",
        ),
    ]
    .into();
    for (body, message) in refused {
        let found = launched(body, [2, 32], true).unwrap_err();
        assert!(found.contains(message), "{found}");
    }
}

#[test]
fn a_fault_names_the_line_of_the_source() {
    let file = std::env::current_dir()
        .expect("a folder")
        .join("src/near.rs");
    // A wrong address in the entry, and one in a function, whose line is that of the call.
    let bodies = [
        "\t.loc 1 7 5\n\tst.global.b32 [%rd3], %r4;\n\t.loc 1 9 5\n\tld.global.b32 %r5, [%rd3+64];",
        "\t.loc 1 9 5\n\t{ .param .b64 param0; .param .b64 retval0;\n\tst.param.b64 [param0], %rd3;\n\
         \tcall (retval0), wrong, (param0);\n\tld.param.b64 %rd4, [retval0]; }",
    ];
    let head = format!(
        "{HEAD}\t.file\t1 \"{}\"\n.func  (.param .b64 func_retval0) wrong(\n\t.param .b64 wrong_param_0\n)\n{{\n\
         \t.reg .b64 \t%rd<3>;\n\t.loc 2 70 5\n\tld.param.b64 %rd1, [wrong_param_0];\n\
         \tld.global.b64 %rd2, [%rd1+4096];\n\tst.param.b64 [func_retval0], %rd2;\n\tret;\n}}\n",
        file.display()
    );
    for body in bodies {
        let fault = launched_with(&head, body, [1, 4], false).unwrap_err();
        let expected = "kernel kernel, block 0, thread 0, src/near.rs:9: \"ld.global.b";
        assert!(fault.starts_with(expected), "{fault}");
    }
    // Both uses of a race: the array's first word, by all threads.
    let body = "\t.loc 1 7 5\n\tst.global.b32 [%rd1], %r4;\n\tret;";
    let fault = launched_with(&head, body, [1, 4], true).unwrap_err();
    let expected = ", src/near.rs:7: \"st.global.b32 [%rd1], %r4\" races with \"st.global.b32 [%rd1], %r4\" (src/near.rs:7) of";
    assert!(fault.contains(expected), "{fault}");
}
