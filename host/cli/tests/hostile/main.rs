//! Hostile meshes: every device, method, layout and number of threads gives the same status, the same words and the
//! same bytes.

mod single;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use glam::DVec3;
use trioxide::mesh::Triangulation;
use trioxide::random::SplitMix64;
use trioxide::{Device, generate};

/// The result of a run: its exit status, its messages, and the file that it wrote.
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

/// Checks that all `ways` of a command give the same result, and that none ends by a signal or a panic. Returns the
/// result.
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

/// The triangulation of random points.
fn drawn(n: usize, seed: u64) -> Triangulation {
    let on = Device::cpu(None).expect("threads");
    generate::random(&on, n, seed).expect("enough points")
}

#[test]
fn machines_agree_on_hostile_triangulations() {
    let folder = folder("hostile_triangulations");
    let (input, output) = (folder.join("in.off"), folder.join("out.off"));
    let file = input.to_str().expect("UTF-8");
    for seed in seeds() {
        let mut random = SplitMix64::new(seed);
        let drawn = drawn(24, seed);
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
                // By arrays, surfaces in space are refused before their triangles are looked at.
                let is_planar = mesh.points.iter().all(|p| p.z == mesh.points[0].z);
                let ways = [SERIAL, CPU, CPUS, &serially, &parallel];
                let count = if is_planar { ways.len() } else { 3 };
                agree(&name, &command, &output, &ways[..count]);
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
