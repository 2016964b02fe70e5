//! The page itself.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use trioxide_view::{Colored, Figure, Side};

use super::geometry::COLOR;
use super::highlights::{Highlight, kernel_rows, share, shares, speed_ups};
use super::html::{Cell, Table, escape, identifier, number, text};
use super::machines::machines;
use super::meshes::Pair;
use super::results::{ResultFile, Results, list};

/// The parts of the page that are files of their own, and those of the viewer.
const PARTS: [(&str, &str); 11] = [
    ("{{policy}}", trioxide_view::POLICY),
    ("{{theme.css}}", trioxide_view::THEME),
    ("{{style.css}}", include_str!("../../page/style.css")),
    ("{{viewer.css}}", trioxide_view::STYLE),
    ("{{figures.css}}", include_str!("../../page/figures.css")),
    ("{{print.css}}", include_str!("../../page/print.css")),
    ("{{errors.js}}", trioxide_view::ERRORS),
    ("{{viewer.js}}", trioxide_view::SCRIPT),
    ("{{page.js}}", include_str!("../../page/page.js")),
    ("{{figures.js}}", trioxide_view::SELF_CHECK),
    ("{{selfcheck.js}}", include_str!("../../page/selfcheck.js")),
];

/// The whole page. `commit` names the commit of this checkout.
pub(super) fn page(results: &Results, demos: Vec<Pair>, commit: Option<&str>) -> String {
    let mut page = include_str!("../../page/page.html").replace("{{title}}", "trioxide: report");
    for (mark, text) in PARTS {
        page = page.replace(mark, text.trim_end());
    }
    let made = format!(
        "Page of {}, commit {}",
        today(),
        commit.unwrap_or("unknown")
    );
    let body = [
        header(results, &made),
        navigation(results),
        "<main id=\"content\">\n".to_owned(),
        top(results),
        meshes(demos),
        results.files.iter().map(family).collect(),
        machines(results),
        format!(
            "</main>\n<footer>{made}. Made by <code>cargo xtask report</code>; all that it shows is in this one file.</footer>"
        ),
    ];
    // Last: no text in results or meshes can be taken for a part.
    page.replace("{{body}}", &body.concat())
}

/// Today in UTC, as 2026-01-31.
fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    date((since.map_or(0, |time| time.as_secs()) / 86_400) as i64)
}

/// The date of a day counted from 1970-01-01, by eras of 400 years that begin in March.
fn date(day: i64) -> String {
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = (from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    format!("{year:04}-{month:02}-{day:02}")
}

/// The devices of all runs, each once.
fn devices(results: &Results) -> Vec<&str> {
    let runs = results.files.iter().flat_map(ResultFile::runs);
    let mut devices: Vec<&str> = runs
        .filter_map(|run| text(&run["machine"], "device"))
        .collect();
    devices.sort_unstable();
    devices.dedup();
    devices
}

fn header(results: &Results, made: &str) -> String {
    let devices = devices(results);
    let on = if devices.is_empty() {
        "No times yet".to_owned()
    } else {
        format!("Timed on {}", devices.join(" and "))
    };
    format!(
        "<header><h1>trioxide</h1><p>Mesh processing on the GPU, in pure Rust: timings, and meshes before and after.</p>\
         <p>{}. {}.</p></header>\n",
        escape(&on),
        escape(made)
    )
}

fn navigation(results: &Results) -> String {
    let mut links = vec![
        ("figures".to_owned(), "At a glance"),
        ("meshes".to_owned(), "Before and after"),
    ];
    links.extend(
        results
            .files
            .iter()
            .map(|file| (identifier(&file.family), file.short())),
    );
    links.push(("machines".to_owned(), "Machines"));
    let links: String = links
        .iter()
        .map(|(id, title)| format!("<li><a href=\"#{id}\">{}</a></li>", escape(title)))
        .collect();
    format!(
        "<nav aria-label=\"Contents\"><div><ul>{links}</ul><button type=\"button\" id=\"theme\" title=\"Light or dark\">Dark</button></div></nav>\n"
    )
}

/// The figures, and the families without results.
fn top(results: &Results) -> String {
    let mut html = "<section id=\"figures\"><h2>At a glance</h2>".to_owned();
    let (speed_ups, shares) = (speed_ups(results), shares(results));
    if speed_ups.is_empty() && shares.is_empty() {
        html += "<p class=\"soft\">No result has a speed-up or a share of the copy bandwidth.</p>";
    }
    html += &tiles(
        "Times faster than the papers",
        "The time that a paper prints, on the machine that its table names, over ours on the device of this page.",
        &speed_ups,
    );
    html += &tiles(
        "Share of the copy bandwidth",
        "Bytes that the largest stage must move, over the bytes that a copy on the same device moves in the same time. Arrays that \
         fit a cache can be above it.",
        &shares,
    );
    let missing: Vec<String> = results
        .missing()
        .map(|family| {
            format!(
                "{} (<code>{}</code>)",
                escape(family.title),
                escape(&format!("cargo xtask bench {}", family.name))
            )
        })
        .collect();
    if !missing.is_empty() {
        html += &format!(
            "<p class=\"notice\">Without results: {}.</p>",
            missing.join(", ")
        );
    }
    html + "</section>\n"
}

/// Figures in a row; nothing if there are none.
fn tiles(title: &str, note: &str, highlights: &[Highlight]) -> String {
    if highlights.is_empty() {
        return String::new();
    }
    let mut html = format!("<h3>{title}</h3><p class=\"note\">{note}</p><ul class=\"highlights\">");
    for highlight in highlights {
        html += &format!(
            "<li><strong>{}</strong><b>{}</b><span>{}</span></li>",
            escape(&highlight.figure),
            escape(&highlight.title),
            escape(&highlight.detail)
        );
    }
    html + "</ul>"
}

fn meshes(demos: Vec<Pair>) -> String {
    let mut html = "<section id=\"meshes\"><h2>Before and after</h2>\
        <p>Small meshes, a few thousand vertices each, so that this page stays light: positions are rounded to 65,536 steps of each \
        mesh's box for display. The two sides of a pair share one camera.</p>\
        <p class=\"keys\">Drag to move or to turn; click a face to see its id, then scroll to zoom (or hold Ctrl). With the keyboard: arrows move \
        or turn, <kbd>Shift</kbd> with arrows moves, <kbd>+</kbd> and <kbd>-</kbd> zoom, <kbd>0</kbd> goes back, <kbd>e</kbd> changes \
        faces and edges, <kbd>s</kbd> switches between both, before and after.</p>\
        <noscript><p class=\"notice\">Without JavaScript the meshes are not drawn; all tables and plots are here.</p></noscript>\
        <p class=\"notice no-webgl\" hidden>This browser has no WebGL 2 here: meshes are drawn in canvas 2D, more slowly.</p>\n"
        .to_owned();
    for demo in demos {
        html += &figure(demo);
    }
    html + "</section>\n"
}

/// A pair of meshes, with the command lines that made it.
fn figure(demo: Pair) -> String {
    let title = demo.title;
    let captions = [("Before", &demo.sides[0]), ("After", &demo.sides[1])];
    let sides = captions.into_iter().zip(demo.meshes);
    let figure = Figure {
        id: format!("demo-{}", demo.name),
        title: title.to_owned(),
        text: demo.text.to_owned(),
        sides: sides
            .map(|((name, caption), mesh)| Side {
                name: name.to_owned(),
                caption: caption.clone(),
                steps: vec![(name.to_owned(), mesh)],
            })
            .collect(),
        colored: demo.palette.map(|palette| Colored {
            field: COLOR.to_owned(),
            palette,
            range: Some([0.0, 255.0]),
            ends: demo.legend.clone(),
        }),
        has_tools: false,
    };
    let commands = format!(
        "<details><summary>Commands</summary><pre>{}</pre></details></figure>",
        escape(&demo.commands.join("\n"))
    );
    figure.html().replace("</figure>", &commands)
}

/// A family: its tables, its plots, its runs stage by stage.
fn family(file: &ResultFile) -> String {
    let mut html = format!(
        "<section id=\"{}\"><h2>{}</h2>",
        identifier(&file.family),
        escape(file.title())
    );
    // The stages of each run come below.
    let all_stages = format!("{}-stages", file.family);
    let tables = file
        .tables()
        .iter()
        .filter(|table| table["id"] != *all_stages);
    for table in tables {
        let title = text(table, "title").unwrap_or("Table");
        html += &format!("<h3>{}</h3>{}", escape(title), Table::of(table).html(title));
        for (key, begin) in [("source", "Source: "), ("note", "")] {
            if let Some(said) = text(table, key) {
                html += &format!("<p class=\"note\">{begin}{}</p>", escape(said));
            }
        }
    }
    let plots: String = file.plots().iter().filter_map(plot).collect();
    if !plots.is_empty() {
        html += &format!("<div class=\"plots\">{plots}</div>");
    }
    html += &kernels(file);
    let runs: Vec<&Value> = file
        .runs()
        .iter()
        .filter(|run| !list(run, "stages").is_empty())
        .collect();
    if !runs.is_empty() {
        html += "<h3>Stage by stage</h3>";
        for run in runs {
            html += &stages(run);
        }
    }
    html + "</section>\n"
}

/// A plot as an image of its own: its styles and names stay inside.
fn plot(plot: &Value) -> Option<String> {
    let svg = text(plot, "svg")?;
    let title = escape(text(plot, "title").unwrap_or("Plot"));
    Some(format!(
        "<figure><button type=\"button\" aria-pressed=\"false\" title=\"Larger or smaller\"><img alt=\"{title}\" \
         src=\"data:image/svg+xml;base64,{}\"></button><figcaption>{title}</figcaption></figure>",
        STANDARD.encode(svg)
    ))
}

fn optional(value: Option<f64>) -> Cell {
    value.map_or(Cell::None, Cell::Number)
}

fn kernels(file: &ResultFile) -> String {
    let rows: Vec<Vec<Cell>> = kernel_rows(file)
        .iter()
        .map(|kernel| {
            vec![
                Cell::Text(kernel.name.to_owned()),
                optional(kernel.bytes.map(|bytes| bytes / 1e6)),
                optional(kernel.milliseconds),
                optional(kernel.gb_s),
                kernel.share.map_or(Cell::None, Cell::Share),
            ]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let columns = ["kernel", "MB", "ms", "GB/s", "of the copy bandwidth"];
    let table = Table {
        columns: columns.map(str::to_owned).to_vec(),
        rows,
        sortable: true,
    };
    format!(
        "<h3>Each kernel</h3>{}",
        table.html("Each kernel: bytes, time and bandwidth")
    )
}

/// One run: counts, and its stages.
fn stages(run: &Value) -> String {
    let case = text(run, "case").unwrap_or("run");
    let rows = list(run, "stages")
        .iter()
        .map(|stage| {
            let numeric = |key: &str| optional(stage[key].as_f64());
            let speed = stage["bytes"].as_f64().zip(stage["median"].as_f64());
            vec![
                Cell::Text(text(stage, "name").unwrap_or_default().to_owned()),
                Cell::Text(text(stage, "pipeline").unwrap_or_default().to_owned()),
                numeric("median"),
                numeric("minimum"),
                numeric("maximum"),
                numeric("runs"),
                optional(stage["bytes"].as_f64().map(|bytes| bytes / 1e6)),
                optional(speed.map(|(bytes, median)| bytes / median / 1e6)),
                share(stage, run).map_or(Cell::None, Cell::Share),
            ]
        })
        .collect();
    let columns = [
        "stage",
        "pipeline",
        "median, ms",
        "minimum",
        "maximum",
        "runs",
        "MB that must move",
        "GB/s",
        "of the copy bandwidth",
    ];
    let table = Table {
        columns: columns.map(str::to_owned).to_vec(),
        rows,
        sortable: true,
    };
    let mut counts: Vec<String> = run["counts"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, count)| {
            Some(format!(
                "{} {}",
                number(count.as_f64()?),
                name.replace('_', " ")
            ))
        })
        .collect();
    if let Some(peak) = run["peak_bytes"].as_f64() {
        counts.push(format!("{} MB of memory at most", number(peak / 1e6)));
    }
    format!(
        "<details><summary>{}</summary><p class=\"note\">{}</p>{}</details>",
        escape(case),
        escape(&counts.join(", ")),
        table.html(case)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (day, text) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (20_513, "2026-03-01"),
        ] {
            assert_eq!(date(day), text);
        }
    }

    #[test]
    fn results_are_shown_and_missing_families_named() {
        let object = json!({
            "runs": [{"case": "grid, 1M <points>", "command": ["bench", "polylla", "--json", "-", "--quiet", "-n", "1M"], "commit": "abc",
                "machine": {"device": "GPU 7", "copy_bandwidth_gb_s": 4000.0, "clocks": {"core_mhz": 1980}},
                "counts": {"vertices": 1000000},
                "stages": [{"pipeline": "polylla", "name": "label", "median": 0.5, "bytes": 1000000000}]}],
            "tables": [{"id": "t", "title": "Table 3", "source": "the paper", "columns": ["mesh"], "rows": [["x"]]}],
            "plots": [{"id": "p", "title": "Figure 9", "svg": "<svg/>"}],
        });
        let family = "polylla".to_owned();
        let files = vec![ResultFile { family, object }];
        let html = page(&Results { files }, Vec::new(), Some("0123"));
        for part in [
            "Timed on GPU 7. Page of 20",
            "commit 0123",
            "<summary>grid, 1M &lt;points&gt;</summary>",
            "trioxide bench polylla -n 1M</pre>",
            "style=\"--part:50.0%\">50 %",
            "<h3>Table 3</h3>",
            "alt=\"Figure 9\" src=\"data:image/svg+xml;base64,PHN2Zy8+\"",
            "core 1,980 MHz",
            "<code>cargo xtask bench weld</code>",
        ] {
            assert!(html.contains(part), "{part}");
        }
        assert!(!html.contains("{{"), "a part was not put in");
    }
}
