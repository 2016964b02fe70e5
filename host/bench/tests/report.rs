//! `cargo xtask report` in a real headless browser: the page loads without errors and shows its pictures, and a damaged
//! one is found out. Where there is no browser these tests are listed as ignored, with the reason.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};

const XTASK: &str = env!("CARGO_BIN_EXE_trioxide-bench");

type Test = fn() -> Result<(), Failed>;

/// The page that all tests look at.
static PAGE: LazyLock<Result<PathBuf, String>> = LazyLock::new(make_page);

fn main() {
    let arguments = Arguments::from_args();
    let in_browser: [(&str, Test); 5] = [
        ("the page shows its pictures", shows_pictures),
        (
            "so it does in a narrow window without WebGL",
            shows_pictures_without_webgl,
        ),
        ("meshes of every kind are viewed", views_every_kind),
        ("damage to the page is found out", damage_is_found),
        ("a page that stops early is found out", early_end_is_found),
    ];
    let mut trials = vec![Trial::test(
        "results of another schema are an error",
        other_schema_is_refused,
    )];
    let browser = xtask(&["report", "--find-browser"]);
    if browser.status.success() {
        trials.extend(
            in_browser
                .into_iter()
                .map(|(name, test)| Trial::test(name, test)),
        );
    } else {
        let reason = text(&browser.stderr);
        let reason = reason.trim().trim_start_matches("error: ");
        let name = format!("the page in a browser (skipped: {reason})");
        trials.push(Trial::test(name, || Ok(())).with_ignored_flag(true));
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn xtask(arguments: &[&str]) -> Output {
    let output = Command::new(XTASK).args(arguments).output();
    output.expect("xtask was built for this test")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The folder of this test's files; they stay for inspection.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("report")
}

/// `trioxide` beside this trioxide-bench, built if it is not there: `cargo test --workspace` builds both.
fn trioxide() -> Result<PathBuf, String> {
    let beside =
        Path::new(XTASK).with_file_name(format!("trioxide{}", std::env::consts::EXE_SUFFIX));
    if !beside.exists() {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--package", "trioxide-cli", "--bin", "trioxide"]);
        if beside
            .components()
            .any(|part| part.as_os_str() == "release")
        {
            build.arg("--release");
        }
        let status = build.status().map_err(|error| error.to_string())?;
        if !status.success() || !beside.exists() {
            return Err(format!("{} cannot be built", beside.display()));
        }
    }
    Ok(beside)
}

/// Results with made-up numbers, of two families of seven: the page must show them, and name the missing families.
fn write_results(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let svg = |color: &str| {
        format!(
            "<svg width=\"640\" height=\"400\" xmlns=\"http://www.w3.org/2000/svg\"><rect width=\"640\" height=\"400\" fill=\"#fff\"/>\
             <path d=\"M40 360H620M40 360V20\" stroke=\"#444\" fill=\"none\"/>\
             <path d=\"M40 340L200 300L400 180L600 40\" stroke=\"{color}\" stroke-width=\"3\" fill=\"none\"/></svg>"
        )
    };
    let run = |size: u64| {
        let stage = |name: &str, median: f64, bytes: Value| {
            json!({"pipeline": "polylla", "name": name, "median": median, "minimum": 0.9 * median,
                "maximum": 1.2 * median, "runs": 20, "bytes": bytes})
        };
        json!({
            "schema": "trioxide-bench/1", "family": "polylla", "case": format!("grid, {size} points"),
            "command": ["bench", "polylla", "--mesh", "grid", "-n", size.to_string()],
            "machine": {"device": "made-up device", "kind": "cuda", "driver": "0.0",
                "clocks": {"core_mhz": 1000}, "memory_bytes": 1e11, "cpu": "made-up CPU", "threads": 2,
                "os": "made-up", "copy_bandwidth_gb_s": 1000.0},
            "commit": "0123456789abcdef", "version": "0.1.0", "parameters": {"mesh": "grid"},
            "counts": {"vertices": size, "triangles": 2 * size}, "peak_bytes": 100 * size,
            "stages": [
                stage("label longest edges", size as f64 * 1e-6, json!(size * 700)),
                stage("compact seeds", size as f64 * 2e-7, Value::Null),
                stage("all stages", size as f64 * 1.2e-6, json!(size * 750)),
            ],
        })
    };
    let wide: Vec<String> = (0..12).map(|i| format!("{i} of <many> columns")).collect();
    let rows: Vec<Vec<Value>> = (1..60)
        .map(|i| {
            (0..12)
                .map(|j| json!(f64::from(i * 1000 + j) * 1.5))
                .collect()
        })
        .collect();
    let polylla = json!({
        "schema": "trioxide-bench/1", "family": "polylla",
        "runs": [run(100_000), run(1_000_000)],
        "tables": [
            {"id": "table-2", "title": "Table 2: made-up & <escaped>", "source": "no paper: numbers of a test",
                "columns": ["points", "paper, ms", "ours, ms", "speed-up"],
                "rows": [[100_000, 4.0, 1.25, 3.2], [1_000_000, 40.5, 9.0, 4.5], [10_000_000, null, 85.0, null]]},
            {"id": "wide", "title": "A wide and long table", "source": null, "columns": wide, "rows": rows},
        ],
        "plots": [
            {"id": "one", "title": "Figure 1: time against size", "svg": svg("#0b6e69")},
            {"id": "two", "title": "Figure 2: \"quoted\"", "svg": svg("#c2410c")},
        ],
    });
    let kernel = |name: &str, share: f64| json!({"name": name, "bytes": 80_000_000, "milliseconds": 0.08 / share, "gb_s": 1000.0 * share, "share": share});
    let kernels = json!({
        "schema": "trioxide-bench/1", "family": "kernels", "runs": [], "tables": [], "plots": [],
        "rows": [kernel("label_longest_edges", 0.91), kernel("match_twins", 0.34), kernel("divide_triangles", 0.62)],
    });
    for (name, object) in [("polylla.json", polylla), ("kernels.json", kernels)] {
        fs::write(folder.join(name), object.to_string())?;
    }
    Ok(())
}

fn make_page() -> Result<PathBuf, String> {
    let (results, page) = (folder().join("results"), folder().join("report.html"));
    write_results(&results).map_err(|error| error.to_string())?;
    let trioxide = trioxide()?;
    let arguments = [
        Path::new("--from"),
        &results,
        Path::new("--out"),
        &page,
        Path::new("--trioxide"),
        &trioxide,
    ];
    let output = Command::new(XTASK).arg("report").args(arguments).output();
    let output = output.map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(text(&output.stderr));
    }
    let said = text(&output.stdout);
    if !said.contains("no results of weld: cargo xtask bench weld") {
        return Err(format!("missing families are not named:\n{said}"));
    }
    Ok(page)
}

fn page() -> Result<PathBuf, Failed> {
    PAGE.clone().map_err(Failed::from)
}

/// Opens a page; returns the output of the check, and whether it passed.
fn check(page: &Path, more: &[&str]) -> (bool, String) {
    let page = page.to_string_lossy();
    let output = xtask(&[&["report", "--check-only", &page], more].concat());
    let said = text(&output.stdout) + &text(&output.stderr);
    print!("{said}");
    (output.status.success(), said)
}

fn expect(condition: bool, said: &str) -> Result<(), Failed> {
    condition.then_some(()).ok_or_else(|| said.into())
}

/// In the plane and in space: software draws with WebGL slowly, and all pairs by the same program.
fn shows_pictures() -> Result<(), Failed> {
    let page = page()?;
    let size = fs::metadata(&page)?.len();
    expect(size < 8_000_000, &format!("the page has {size} bytes"))?;
    let page = copy(
        "webgl",
        "<figure class=\"demo\" id=\"demo-refine-cells\"",
        &[],
    )?;
    let (passed, said) = check(&page, &[]);
    expect(passed, &said)?;
    expect(
        said.contains("2 figures (WebGL), 2 images, 5 tables"),
        &said,
    )
}

fn shows_pictures_without_webgl() -> Result<(), Failed> {
    let (passed, said) = check(&page()?, &["--without-webgl", "--width", "360"]);
    expect(passed, &said)?;
    expect(
        said.contains("6 figures (canvas 2D), 2 images, 5 tables"),
        &said,
    )
}

/// `trioxide view` with all kinds of meshes on one page: each picture shows one, each tool changes the first, and a
/// click gives an id.
fn views_every_kind() -> Result<(), Failed> {
    let folder = folder().join("view");
    fs::create_dir_all(&folder)?;
    let square = "ply\nformat ascii 1.0\nelement vertex 4\nproperty double x\nproperty double y\nproperty double z\n\
        property double heat\nelement face 2\nproperty list uchar int vertex_indices\nend_header\n\
        0 0 0 1\n1 0 0 2.5\n1 1 0 3\n0 1 0 4\n3 0 1 2\n3 0 2 3\n";
    fs::write(folder.join("square.ply"), square)?;
    fs::write(
        folder.join("later.ply"),
        square.replace("1 1 0 3", "1 1 0 9"),
    )?;
    let trioxide = trioxide()?;
    let run = |arguments: &str| -> Result<(), Failed> {
        let words = arguments.split(' ');
        let output = Command::new(&trioxide)
            .args(words)
            .current_dir(&folder)
            .output()?;
        expect(output.status.success(), &text(&output.stderr))
    };
    run("polylla generate:tets:200 --device cpu -o polyhedra.vtu --quiet")?;
    // Small and large polygons on the screen: all their edges are seen.
    run("polylla generate:random:300 --device cpu -o polygons.off --quiet")?;
    run("polylla generate:random:2000 --device cpu -o many.off --quiet")?;
    let kinds = "generate:tets:300 polyhedra.vtu generate:scan:500 generate:cloud:300 polygons.off many.off";
    run(&format!("view {kinds} -o kinds.html --quiet"))?;
    let (passed, said) = check(&folder.join("kinds.html"), &[]);
    expect(passed, &said)?;
    expect(said.contains("1 figures (WebGL)"), &said)?;
    for element in [
        " edges of polygons",
        "picked: cell ",
        "picked: polyhedron ",
        "picked: triangle ",
    ] {
        expect(
            said.contains(element),
            &format!("not found: {element}\n{said}"),
        )?;
    }
    // Planar, in steps: below the diagonal is the first triangle, whose nearest corner is on the right.
    run("view square.ply later.ply -o steps.html --steps --color heat --quiet")?;
    let (passed, said) = check(&folder.join("steps.html"), &["--without-webgl"]);
    expect(passed, &said)?;
    let picked = "picked: triangle 0 · mean ratio 0.87 · vertex 1 at 1, 0, 0 · heat 2.5";
    expect(said.contains(picked), &said)
}

/// A copy of the page that has the first figure alone, changed: it opens quickly.
fn damaged(name: &str, changes: &[(&str, &str)]) -> Result<PathBuf, Failed> {
    copy(name, "</section>", changes)
}

/// A copy of the page, changed, without what is between the first figure and the text `rest`.
fn copy(name: &str, rest: &str, changes: &[(&str, &str)]) -> Result<PathBuf, Failed> {
    let text = fs::read_to_string(page()?)?;
    let begin = text
        .find("<figure class=\"demo\" id=\"demo-refine\"")
        .ok_or("no second figure")?;
    let end = begin
        + text[begin..]
            .find(rest)
            .ok_or_else(|| format!("no {rest} behind the second figure"))?;
    let mut text = text[..begin].to_owned() + &text[end..];
    for (old, new) in changes {
        expect(text.contains(old), &format!("the page has no `{old}`"))?;
        text = text.replacen(old, new, 1);
    }
    let path = folder().join(format!("{name}.html"));
    fs::write(&path, text)?;
    Ok(path)
}

fn damage_is_found() -> Result<(), Failed> {
    let (passed, said) = check(&damaged("whole", &[])?, &["--without-webgl"]);
    expect(passed, &said)?;

    let outside = "<div style=\"width: 3000px\">wide</div><img alt=\"outside\" src=\"https://example.invalid/a.png\">";
    let faults = [
        (
            "<main id=\"content\">",
            &*format!("<main id=\"content\">{outside}"),
        ),
        (
            "const viewers = [];",
            "const viewers = []; setTimeout(() => undefined.length);",
        ),
        (
            "data:image/svg+xml;base64,",
            "data:image/svg+xml;base64,AAAA",
        ),
        ("this.camera.enlarge(1.25, 0, 0, half)", "undefined"),
        ("table.tBodies[0].append(...rows);", ""),
    ];
    let (passed, said) = check(&damaged("faults", &faults)?, &["--without-webgl"]);
    expect(!passed, "a page with faults passes")?;
    for part in [
        "error: Uncaught TypeError",
        "forbids https://example.invalid/a.png",
        "the page needs https://example.invalid/a.png from elsewhere",
        "the image \"Figure 1: time against size\" is not shown",
        "demo-polylla: key + does not work",
        "sorting by median, ms does not work",
        "pixels wider than the window",
    ] {
        expect(said.contains(part), &format!("not found: {part}\n{said}"))?;
    }

    let blank = [("renderer.draw(this.camera.frame(), this.mode, theme);", "")];
    let (passed, said) = check(&damaged("blank", &blank)?, &["--without-webgl"]);
    expect(!passed && said.contains("0: 1 colours on 0 %"), &said)?;

    let mesh = [("class=\"array\">", "class=\"array\">////////")];
    let (passed, said) = check(&damaged("mesh", &mesh)?, &["--without-webgl"]);
    expect(
        !passed && said.contains("is damaged") && said.contains("0 of 1 figures"),
        &said,
    )
}

fn early_end_is_found() -> Result<(), Failed> {
    let page = damaged("early", &[("location.hash === \"#selfcheck\"", "false")])?;
    let (passed, said) = check(&page, &["--without-webgl"]);
    expect(!passed && said.contains("did not check itself"), &said)
}

fn other_schema_is_refused() -> Result<(), Failed> {
    let results = folder().join("other");
    fs::create_dir_all(&results)?;
    fs::write(
        results.join("weld.json"),
        json!({"schema": "trioxide-bench/0", "family": "weld"}).to_string(),
    )?;
    let output = xtask(&["report", "--from", &results.to_string_lossy()]);
    let said = text(&output.stderr);
    expect(
        !output.status.success() && said.contains("\"trioxide-bench/1\" is needed"),
        &said,
    )
}
