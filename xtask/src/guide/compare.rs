//! Compares the output that a page shows with the printed one.

/// The first difference, if there is one. A line `...` of the page stands for any lines. Times count by their shape,
/// and so does the number of threads: both belong to a machine.
pub(super) fn difference(shown: &[String], printed: &str) -> Option<String> {
    let printed: Vec<String> = printed.trim_end().lines().map(shape).collect();
    let mut next = 0;
    let mut is_gap = false;
    for line in shown {
        if line.trim() == "..." {
            is_gap = true;
            continue;
        }
        let wanted = shape(line);
        let rest = printed.get(next..).unwrap_or_default();
        let found = match is_gap {
            true => rest.iter().position(|line| *line == wanted),
            false => (rest.first() == Some(&wanted)).then_some(0),
        };
        let Some(found) = found else {
            let instead = match rest.first().filter(|_| !is_gap) {
                Some(line) => format!("printed is {line:?}"),
                None => "no such line is printed".to_owned(),
            };
            return Some(format!("the page shows {wanted:?}, {instead}"));
        };
        next += found + 1;
        is_gap = false;
    }
    let left = printed.get(next).filter(|_| !is_gap);
    left.map(|line| format!("the page does not show {line:?}: `...` leaves lines out"))
}

/// A line with single spaces, and `#` for each number before a unit of time or before threads.
fn shape(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_of_machine = |word: Option<&&str>| {
        word.is_some_and(|word| {
            let word = word.trim_matches([',', ')', ':', ';', '.']);
            ["s", "ms", "thread", "threads"].contains(&word)
        })
    };
    let shapes = words.iter().enumerate().map(|(i, word)| {
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        match word.trim_end_matches([',', ')', ':', ';', '.']) {
            _ if is_number && is_of_machine(words.get(i + 1)) => "#",
            "thread" => "threads",
            _ => word,
        }
    });
    shapes.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::difference;

    fn is_equal(shown: &str, printed: &str) -> bool {
        let shown: Vec<String> = shown.lines().map(str::to_owned).collect();
        difference(&shown, printed).is_none()
    }

    #[test]
    fn times_and_threads_count_by_shape_and_other_numbers_as_they_are() {
        let printed = "device   CPU, 2 threads\nfaces 12\nall stages   3.25 ms\n";
        assert!(is_equal(
            "device CPU, 1 thread\nfaces 12\nall stages 7 ms",
            printed
        ));
        assert!(is_equal("...\nfaces 12\n...", printed));
        assert!(is_equal("...\nall stages 1 ms", printed));
        assert!(!is_equal("...\nfaces 13\n...", printed));
        assert!(!is_equal("...\nfaces 12", printed));
        assert!(!is_equal("faces 12\n...", printed));
        assert!(!is_equal("...\nfaces 12\nall stages 1 ms\nmore", printed));
    }
}
