use super::*;

/// Lengths of no piece, of one, of several, and of several and a partial one.
const LENGTHS: [usize; 5] = [0, 7, GRAIN, 9 * GRAIN, 5 * GRAIN + 3];

#[test]
fn each_index_comes_once_and_in_order() {
    for n in LENGTHS {
        let order: Vec<usize> = (0..n).collect();
        assert_eq!(collect(n, |i| i), order);
        assert_eq!(map(&order, |&i| i), order);
        let starts: Vec<usize> = (0..n / 3).map(|i| 3 * i).collect();
        assert_eq!(map_chunks(&order, 3, |chunk| chunk[0]), starts);
        assert_eq!(collect_tasks(n, |i| i), order);
        let pieces = map_pieces(n, 100, |range| range);
        assert!(pieces.iter().all(|piece| (1..=100).contains(&piece.len())));
        assert!(pieces.into_iter().flatten().eq(0..n));
        let hits: Vec<AtomicUsize> = collect(n, |_| AtomicUsize::new(0));
        for_each(n, |i| _ = hits[i].fetch_add(1, Relaxed));
        for_tasks(n, |i| _ = hits[i].fetch_add(1, Relaxed));
        assert!(hits.into_iter().all(|hits| hits.into_inner() == 2));
        let mut list = vec![3];
        append(&mut list, n, 10, |i| i);
        assert_eq!(list[0], 3);
        assert_eq!(list[1..], order);
    }
}

#[test]
fn the_first_one_is_found() {
    for n in LENGTHS {
        let list: Vec<usize> = (0..n).collect();
        for from in [0, n / 3, n] {
            let expected = (from < n).then_some(from);
            assert_eq!(find(n, |i| i >= from), expected);
            assert_eq!(
                find_map(n, |i| (i >= from).then_some(2 * i)),
                expected.map(|i| 2 * i)
            );
            assert_eq!(position(&list, |&i| i >= from), expected);
            assert_eq!(any(&list, |&i| i >= from), from < n);
            assert_eq!(all(&list, |&i| i < from), from >= n);
            assert_eq!(count(n, |i| i >= from), n - from);
            let found = try_collect(n, |i| if i < from { Ok(i) } else { Err(i) });
            match expected {
                Some(first) => assert_eq!(found, Err(first)),
                None => assert_eq!(found.as_ref(), Ok(&list)),
            }
        }
    }
}

#[test]
fn lists_are_joined_and_changed_in_place() {
    for n in LENGTHS {
        let odd = |i: usize| (i % 2 == 1).then(|| i.to_string());
        let expected: Vec<String> = (0..n).filter_map(odd).collect();
        assert_eq!(filter_collect(n, odd), expected);
        assert_eq!(
            collect_where(n, |i| i % 2 == 1, |i| i.to_string()),
            expected
        );
        let parts: Vec<Vec<String>> = (expected.chunks(37).map(<[_]>::to_vec)).collect();
        assert_eq!(concat(parts), expected);
        let numbers: Vec<usize> = (0..n).collect();
        let parts: Vec<&[usize]> = numbers.chunks(37).collect();
        assert_eq!(concat_slices(&parts), numbers);
        for size in [1, 3, 5000] {
            let mut list: Vec<usize> = vec![0; n];
            for_chunks_mut(&mut list, size, |k, chunk| {
                for (j, value) in chunk.iter_mut().enumerate() {
                    *value += k * size + j;
                }
            });
            for_each_mut(&mut list, |i, value| *value += i);
            assert!(list.into_iter().eq((0..n).map(|i| 2 * i)));
        }
    }
}

#[test]
fn an_interrupt_ends_a_loop_between_pieces() {
    let n = 100 * GRAIN;
    let (interrupt, begun) = (progress::Interrupt::default(), AtomicUsize::new(0));
    let count = |i: usize| {
        begun.fetch_add(1, Relaxed);
        if i == 0 {
            interrupt.interrupt();
        }
        i
    };
    let counted = || Ok::<_, crate::Error>(collect(n, count));
    let ended = interrupt.watch(counted);
    assert!(matches!(ended, Err(crate::Error::Interrupted)));
    // Other threads may have begun pieces.
    assert!(begun.load(Relaxed) < n);
    assert_eq!(counted().unwrap().len(), n);
}

#[test]
fn a_panic_of_the_body_reaches_the_caller() {
    let run = || collect(3 * GRAIN, |i| assert!(i != GRAIN + 1));
    assert!(std::panic::catch_unwind(run).is_err());
}
