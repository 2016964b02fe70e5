//! Hostile meshes: every device, method, layout and number of threads gives the same status, the same words and the same bytes.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use glam::DVec3;
use trioxide::generate;
use trioxide::random::SplitMix64;

/// What a run gave: the exit status, what it said, and what it wrote.
#[derive(Debug, PartialEq)]
struct Given {
    status: Option<i32>,
    said: String,
    written: Option<Vec<u8>>,
}

/// A folder of the test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn run_with(variables: &[(&str, &str)], arguments: &[&str], output: Option<&Path>) -> Given {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trioxide"));
    command.args(arguments).envs(variables.iter().copied());
    if let Some(output) = output {
        let _ = fs::remove_file(output);
        command.arg("-o").arg(output);
    }
    let result = command.output().expect("the binary starts");
    Given {
        status: result.status.code(),
        said: String::from_utf8_lossy(&result.stderr).into_owned(),
        written: output.and_then(|path| fs::read(path).ok()),
    }
}

fn run(arguments: &[&str], output: &Path) -> Given {
    run_with(&[], arguments, Some(output))
}

/// All `ways` of a command give the same, and none ends by a signal or a panic; what they give.
fn agree(name: &str, command: &[&str], output: &Path, ways: &[&[&str]]) -> Given {
    let mut first: Option<(Given, &[&str])> = None;
    for way in ways {
        let given = run(&[command, &["--quiet"], way].concat(), output);
        let is_sentence = given.status == Some(0) || !given.said.trim().is_empty();
        assert!(
            matches!(given.status, Some(0..=2)) && is_sentence,
            "{name}: {command:?} {way:?}: {:?}, {}",
            given.status,
            given.said
        );
        match &first {
            None => first = Some((given, way)),
            Some((expected, other)) => assert!(
                given == *expected,
                "{name}: {command:?} by {way:?}: {:?} {}\nbut by {other:?}: {:?} {}",
                given.status,
                given.said,
                expected.status,
                expected.said
            ),
        }
    }
    first.expect("a way").0
}

/// Points and cells of one size, as text.
#[derive(Clone)]
struct Hostile<const N: usize> {
    points: Vec<DVec3>,
    cells: Vec<[u32; N]>,
}

impl<const N: usize> Hostile<N> {
    /// Breaks the mesh in one of many ways; the way's name.
    fn break_by(&mut self, random: &mut SplitMix64) -> &'static str {
        let mut below = |n: usize| (random.next_u64() % n.max(1) as u64) as usize;
        let v = below(self.points.len());
        let axis = below(2);
        let c = below(self.cells.len());
        let k = below(N);
        let value = |x: f64| move |p: &mut DVec3| p[axis] = x;
        let scale = |x: f64| move |p: &mut DVec3| *p *= x;
        match below(20) {
            0 => {
                value(f64::NAN)(&mut self.points[v]);
                "not a number"
            }
            1 => {
                value(f64::NEG_INFINITY)(&mut self.points[v]);
                "infinite"
            }
            2 => {
                value(1e300)(&mut self.points[v]);
                "huge coordinate"
            }
            3 => {
                value(1e39)(&mut self.points[v]);
                "coordinate beyond single precision"
            }
            4 => {
                self.points.iter_mut().for_each(scale(2f64.powi(520)));
                "times 2^520"
            }
            5 => {
                self.points.iter_mut().for_each(scale(2f64.powi(100)));
                "times 2^100"
            }
            6 => {
                self.points.iter_mut().for_each(scale(2f64.powi(-70)));
                "times 2^-70"
            }
            7 => {
                self.points.iter_mut().for_each(scale(2f64.powi(-520)));
                "times 2^-520"
            }
            8 => {
                self.points.iter_mut().for_each(scale(1e-10));
                "times 1e-10"
            }
            9 => {
                self.cells[c][k] = self.cells[c][(k + 1) % N];
                "a vertex twice"
            }
            10 => {
                self.cells[c].swap(0, 1);
                "turned around"
            }
            11 => {
                let cell = self.cells[c];
                self.cells.push(cell);
                "a cell twice"
            }
            12 => {
                let mut cell = self.cells[c];
                cell.rotate_left(1);
                cell.swap(0, 1);
                self.cells.push(cell);
                "a cell again, turned"
            }
            13 => {
                self.cells[c][k] = below(self.points.len()) as u32;
                "another vertex"
            }
            14 => {
                self.cells[c][k] = self.points.len() as u32;
                "a vertex out of range"
            }
            15 => {
                let other = below(self.points.len());
                self.points[v] = self.points[other];
                "two vertices at one place"
            }
            16 => {
                self.points.iter_mut().for_each(|p| p.y = 0.0);
                "flat"
            }
            17 => {
                self.points.extend_from_within(..3);
                "vertices of no cell"
            }
            18 => {
                self.points[v] += DVec3::splat(1e-18);
                "a rounding away"
            }
            _ => {
                self.points.iter_mut().for_each(|p| *p = (*p * 4.0).round());
                "on few places"
            }
        }
    }
}

fn number(x: f64) -> String {
    format!("{x:e}")
}

fn write_off(path: &Path, mesh: &Hostile<3>) {
    let mut text = format!("OFF\n{} {} 0\n", mesh.points.len(), mesh.cells.len());
    for p in &mesh.points {
        let [x, y, z] = p.to_array().map(number);
        writeln!(text, "{x} {y} {z}").expect("text");
    }
    for [a, b, c] in &mesh.cells {
        writeln!(text, "3 {a} {b} {c}").expect("text");
    }
    fs::write(path, text).expect("written");
}

/// As Medit's format.
fn write_tets(path: &Path, mesh: &Hostile<4>) {
    let mut text = format!(
        "MeshVersionFormatted 2\nDimension 3\nVertices\n{}\n",
        mesh.points.len()
    );
    for p in &mesh.points {
        let [x, y, z] = p.to_array().map(number);
        writeln!(text, "{x} {y} {z} 0").expect("text");
    }
    writeln!(text, "Tetrahedra\n{}", mesh.cells.len()).expect("text");
    for cell in &mesh.cells {
        let [a, b, c, d] = cell.map(|v| v + 1);
        writeln!(text, "{a} {b} {c} {d} 0").expect("text");
    }
    text += "End\n";
    fs::write(path, text).expect("written");
}

const SERIAL: &[&str] = &["--device", "serial"];
const CPU: &[&str] = &["--device", "cpu", "--threads", "1"];
const CPUS: &[&str] = &["--device", "cpu", "--threads", "2"];

/// Hostile meshes of a test: few in a quick run, as many as the variable asks for in a long one.
fn seeds() -> std::ops::Range<u64> {
    let count = std::env::var("TRIOXIDE_HOSTILE_MESHES");
    0..count
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(20)
}

/// Smoothing by the weights that depend on coordinates.
fn agree_on_smoothing(name: &str, file: &str, precision: &str, output: &Path, layout: &str) {
    for weights in ["inverse-length", "cotangent"] {
        let command = [
            &["smooth", file, "--precision", precision][..],
            &["--max-iterations", "3", "--weights", weights],
        ]
        .concat();
        let laid_out = [CPUS, &["--layout", layout]].concat();
        agree(name, &command, output, &[SERIAL, CPU, &laid_out]);
    }
}

#[test]
fn machines_agree_on_hostile_triangulations() {
    let folder = folder("hostile_triangulations");
    let (input, output) = (folder.join("in.off"), folder.join("out.off"));
    let file = input.to_str().expect("UTF-8");
    for seed in seeds() {
        let mut random = SplitMix64::new(seed);
        let drawn = generate::random(24, seed).expect("enough points");
        let mut mesh = Hostile {
            points: drawn.points.iter().map(|p| p.extend(0.0)).collect(),
            cells: drawn.triangles,
        };
        let count = 1 + random.next_u64() % 2;
        let broken: Vec<_> = (0..count).map(|_| mesh.break_by(&mut random)).collect();
        let name = format!("seed {seed}, {broken:?}");
        write_off(&input, &mesh);
        for precision in ["f64", "f32"] {
            for ties in ["edge", "first"] {
                let command = ["polylla", file, "--precision", precision, "--ties", ties];
                let indexed = ["--method", "indexed"];
                let [serially, parallel] = [SERIAL, CPUS].map(|on| [on, &indexed].concat());
                agree(
                    &name,
                    &command,
                    &output,
                    &[SERIAL, CPU, CPUS, &serially, &parallel],
                );
            }
            let command = ["refine", file, "--precision", precision, "--rounds", "2"];
            agree(&name, &command, &output, &[SERIAL, CPU, CPUS]);
            agree_on_smoothing(&name, file, precision, &output, "soa");
        }
        for epsilon in ["0", "0.2"] {
            let command = ["weld", file, "--epsilon", epsilon];
            let by = |method| [CPUS, &["--method", method]].concat();
            let [a, b, c] = ["dependency", "on-the-fly", "sparse-grid"].map(by);
            agree(&name, &command, &output, &[SERIAL, CPU, CPUS, &a, &b, &c]);
        }
    }
}

#[test]
fn machines_agree_on_hostile_tetrahedra() {
    let folder = folder("hostile_tetrahedra");
    let (input, output) = (folder.join("in.mesh"), folder.join("out.mesh"));
    let file = input.to_str().expect("UTF-8");
    for seed in seeds() {
        let mut random = SplitMix64::new(seed ^ 0x7E75);
        let drawn = generate::random_tets(20, seed).expect("enough points");
        let mut mesh = Hostile {
            points: drawn.points,
            cells: drawn.tetrahedra,
        };
        let count = 1 + random.next_u64() % 2;
        let broken: Vec<_> = (0..count).map(|_| mesh.break_by(&mut random)).collect();
        let name = format!("seed {seed}, {broken:?}");
        write_tets(&input, &mesh);
        for precision in ["f64", "f32"] {
            let command = ["refine", file, "--precision", precision];
            agree(&name, &command, &output, &[SERIAL, CPU, CPUS]);
            agree_on_smoothing(&name, file, precision, &output, "aos");
        }
    }
}

/// The fan of the 36 points with whole coordinates on a circle: all spokes are equally long, and each triangle's first one is another.
#[test]
fn a_tied_ring_is_refused_by_every_device() {
    let folder = folder("tied_ring");
    let mut around: Vec<(i32, i32)> = (-65..=65)
        .flat_map(|x| (-65..=65).map(move |y| (x, y)))
        .filter(|(x, y)| x * x + y * y == 65 * 65)
        .collect();
    around.sort_by(|a, b| {
        let angle = |&(x, y): &(i32, i32)| f64::from(y).atan2(f64::from(x));
        angle(a).total_cmp(&angle(b))
    });
    assert_eq!(around.len(), 36);
    let mut points = vec![DVec3::ZERO];
    points.extend(
        around
            .iter()
            .map(|&(x, y)| DVec3::new(x.into(), y.into(), 0.0)),
    );
    let cells = (0..36).map(|i| [0, 1 + i, 1 + (i + 1) % 36]).collect();
    let (input, output) = (folder.join("in.off"), folder.join("out.off"));
    write_off(&input, &Hostile { points, cells });
    let file = input.to_str().expect("UTF-8");
    let [serially, parallel] = [SERIAL, CPUS].map(|on| [on, &["--method", "indexed"]].concat());
    let ways: &[&[&str]] = &[SERIAL, CPU, CPUS, &serially, &parallel];
    let given = agree(
        "a ring",
        &["polylla", file, "--ties", "first"],
        &output,
        ways,
    );
    assert_eq!(given.status, Some(1));
    assert!(given.said.contains("use --ties edge"), "{}", given.said);
    assert_eq!(given.written, None);
    let given = agree("a ring", &["polylla", file], &output, ways);
    assert_eq!(given.status, Some(0));
}

/// Four triangles surround vertex 4, and a fifth one starts there.
#[test]
fn triangles_that_overlap_round_a_vertex_are_taken_by_every_device_and_named_by_info() {
    let folder = folder("overlap_round_a_vertex");
    let (input, output) = (folder.join("in.off"), folder.join("out.off"));
    let file = input.to_str().expect("UTF-8");
    let places = [(0, 0), (2, 0), (2, 2), (0, 2), (1, 1), (18, 0), (18, 2)];
    let points = places.map(|(x, y)| DVec3::new(x.into(), y.into(), 0.0));
    let cells = vec![[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4], [4, 5, 6]];
    let points = points.to_vec();
    write_off(&input, &Hostile { points, cells });
    for precision in ["f64", "f32"] {
        for command in [
            &["polylla", file][..],
            &["polylla", file, "--method", "indexed"],
            &["refine", file, "--rounds", "3"],
            &["refine", file, "--rounds", "3", "--coarsen-to", "1"],
        ] {
            let command = [command, &["--precision", precision]].concat();
            let given = agree("a fifth", &command, &output, &[SERIAL, CPU, CPUS]);
            assert_eq!(given.status, Some(0), "{command:?}: {}", given.said);
        }
    }
    let info = Command::new(env!("CARGO_BIN_EXE_trioxide"))
        .args(["info", file])
        .output()
        .expect("the binary starts");
    let text = String::from_utf8_lossy(&info.stdout);
    assert!(
        text.contains("vertex 4 is surrounded by triangles and belongs to others besides"),
        "{text}"
    );
}

#[test]
fn overlapping_tetrahedra_are_refused_by_every_device_and_named_by_info() {
    let folder = folder("overlapping_tetrahedra");
    let (input, output) = (folder.join("in.mesh"), folder.join("out.mesh"));
    let file = input.to_str().expect("UTF-8");
    let corner = |x, y, z| DVec3::new(x, y, z);
    let points = vec![
        corner(0.0, 0.0, 0.0),
        corner(1.0, 0.0, 0.0),
        corner(0.0, 1.0, 0.0),
        corner(0.0, 0.0, 1.0),
        corner(0.1, 0.1, 2.0),
        corner(0.2, 0.2, 3.0),
    ];
    let twice = vec![[0, 1, 2, 3]; 2];
    let one_side = vec![[0, 1, 2, 3], [0, 1, 2, 4]];
    let three = vec![[0, 1, 2, 3], [0, 1, 2, 4], [0, 1, 2, 5]];
    for (cells, said, problem) in [
        (twice, "overlap", "on the same side of a face"),
        (one_side, "overlap", "on the same side of a face"),
        (
            three,
            "at most two can share a face",
            "of more than two cells",
        ),
    ] {
        let points = points.clone();
        write_tets(&input, &Hostile { points, cells });
        for precision in ["f64", "f32"] {
            let command = ["refine", file, "--precision", precision];
            let given = agree(said, &command, &output, &[SERIAL, CPU, CPUS]);
            assert_eq!(given.status, Some(1), "{said}");
            assert!(given.said.contains(said), "{}", given.said);
        }
        let info = Command::new(env!("CARGO_BIN_EXE_trioxide"))
            .args(["info", file])
            .output()
            .expect("the binary starts");
        let text = String::from_utf8_lossy(&info.stdout);
        assert!(text.contains(problem), "{text}");
    }
}

#[test]
fn squares_outside_of_the_precision_are_refused_with_the_remedy() {
    let folder = folder("squares");
    let (input, output) = (folder.join("in.off"), folder.join("out.off"));
    let file = input.to_str().expect("UTF-8");
    let drawn = generate::random(200, 1).expect("enough points");
    let write = |factor: f64| {
        let scaled = drawn.points.iter().map(|p| (*p * factor).extend(0.0));
        let (points, cells) = (scaled.collect(), drawn.triangles.clone());
        write_off(&input, &Hostile { points, cells });
    };
    write(1.0);
    let faces = |given: &Given| {
        let text = String::from_utf8(given.written.clone().expect("written")).expect("text");
        text.lines().nth(1).expect("counts").to_owned()
    };
    let polylla = ["polylla", file, "--precision"];
    let ways: &[&[&str]] = &[SERIAL, CPUS];
    let expected = agree("1", &[&polylla[..], &["f64"]].concat(), &output, ways);
    for (factor, precision, remedy) in [
        (2f64.powi(100), "f32", "--precision f64"),
        (2f64.powi(-70), "f32", "--precision f64"),
        (2f64.powi(520), "f64", "scale the mesh down"),
        (2f64.powi(-520), "f64", "scale the mesh up"),
    ] {
        write(factor);
        for command in ["polylla", "refine"] {
            let command = [command, file, "--precision", precision];
            let given = agree(remedy, &command, &output, ways);
            assert_eq!(given.status, Some(1), "{command:?} {factor:e}");
            assert!(given.said.contains(remedy), "{}", given.said);
            assert_eq!(given.said.trim().lines().count(), 1, "{}", given.said);
        }
        if precision == "f32" {
            let given = agree("f64", &[&polylla[..], &["f64"]].concat(), &output, ways);
            assert_eq!(faces(&given), faces(&expected));
        }
    }
    // Within the range a power of two changes no polygon.
    for factor in [2f64.powi(50), 2f64.powi(-40)] {
        write(factor);
        let given = agree("f32", &[&polylla[..], &["f32"]].concat(), &output, ways);
        assert_eq!(faces(&given), faces(&expected), "{factor:e}");
    }
}

#[test]
fn smoothing_refuses_coordinates_whose_squares_are_infinite_on_every_device() {
    let folder = folder("squares_of_smoothing");
    let (input, output) = (folder.join("in.mesh"), folder.join("out.mesh"));
    let file = input.to_str().expect("UTF-8");
    let drawn = generate::random_tets(40, 1).expect("enough points");
    for (exponent, status) in [(300, 0), (400, 1), (500, 1), (1000, 1)] {
        let scaled = drawn.points.iter().map(|p| *p * 2f64.powi(exponent));
        let (points, cells) = (scaled.collect(), drawn.tetrahedra.clone());
        write_tets(&input, &Hostile { points, cells });
        for weights in ["uniform", "inverse-length", "cotangent"] {
            let command = ["smooth", file, "--weights", weights, "--max-iterations=3"];
            let given = agree("2^n", &command, &output, &[SERIAL, CPU, CPUS]);
            assert_eq!(given.status, Some(status), "{exponent}: {}", given.said);
            assert!(status == 0 || given.said.contains("scale the mesh down"));
            let written = given.written.map(String::from_utf8);
            assert!(written.is_none_or(|text| !text.expect("text").contains("NaN")));
        }
    }
}

#[test]
fn a_level_that_was_not_reached_is_refused_by_every_device() {
    let folder = folder("levels");
    let (input, output) = (folder.join("in.off"), folder.join("out.off"));
    let file = input.to_str().expect("UTF-8");
    let drawn = generate::random(30, 1).expect("enough points");
    let points = drawn.points.iter().map(|p| p.extend(0.0)).collect();
    let cells = drawn.triangles;
    write_off(&input, &Hostile { points, cells });
    let command = ["refine", file, "--rounds", "2", "--coarsen-to"];
    let ways: &[&[&str]] = &[SERIAL, CPU, CPUS];
    let given = agree("level 3", &[&command[..], &["3"]].concat(), &output, ways);
    assert_eq!(given.status, Some(1));
    assert!(
        given.said.contains("level 3 was not reached"),
        "{}",
        given.said
    );
    let given = agree("level 1", &[&command[..], &["1"]].concat(), &output, ways);
    assert_eq!(given.status, Some(0), "{}", given.said);
}

#[test]
fn far_more_threads_than_cores_are_refused() {
    let folder = folder("threads");
    let input = folder.join("in.off");
    let file = input.to_str().expect("UTF-8");
    let points = vec![DVec3::ZERO, DVec3::X, DVec3::Y];
    let cells = vec![[0, 1, 2]];
    write_off(&input, &Hostile { points, cells });
    let start = std::time::Instant::now();
    let by_option = ["polylla", file, "--device", "cpu", "--threads", "60000"];
    let by_variable: &[(&str, &str)] = &[("RAYON_NUM_THREADS", "60000")];
    for (given, remedy) in [
        (run_with(&[], &by_option, None), "ask for fewer"),
        (
            run_with(by_variable, &by_option[..4], None),
            "set RAYON_NUM_THREADS lower",
        ),
        (
            run_with(by_variable, &["info", file], None),
            "set RAYON_NUM_THREADS lower",
        ),
    ] {
        assert_eq!(given.status, Some(1), "{}", given.said);
        assert!(given.said.contains("60000 CPU threads"), "{}", given.said);
        assert!(given.said.contains(remedy), "{}", given.said);
    }
    assert!(start.elapsed().as_secs() < 10);
    let few = run_with(&[("RAYON_NUM_THREADS", "3")], &["info", file], None);
    assert_eq!(few.status, Some(0), "{}", few.said);
}
