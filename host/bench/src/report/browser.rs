//! The page in a headless browser: does it load without errors, does it show its pictures?
//!
//! The page checks itself (host/view/page/selfcheck.js) and writes its findings into its document, which the browser
//! prints.

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::results::list;
use xtask::Error;
use xtask::process::command_line;

/// Longest time that a page may take.
const PATIENCE: Duration = Duration::from_secs(300);
/// Fewest colours of a canvas with a mesh on it: edges are blended with faces, so there are many.
const FEWEST_COLORS: u64 = 12;
/// Least share of a canvas that a mesh covers.
const LEAST_DRAWN: f64 = 0.1;

/// How a page is opened.
pub(super) struct View {
    /// Width of the window in pixels.
    pub(super) width: u32,
    /// With WebGL, drawn in software.
    pub(super) webgl: bool,
}

/// The findings of the page's self-check.
#[derive(Debug)]
pub(super) struct Findings {
    object: Value,
    /// Time that the browser took.
    time: Duration,
}

/// Opens a page and lets it check itself.
///
/// # Errors
///
/// There is no such page, the browser fails or takes too long, or the page does not reach its self-check.
pub(super) fn open(browser: &Path, page: &Path, view: &View) -> Result<Findings, Error> {
    let page = page
        .canonicalize()
        .map_err(|error| format!("{}: {error}", page.display()))?;
    let folder = tempfile::tempdir()?;
    let document = folder.path().join("document.html");
    let mut command = Command::new(browser);
    command
        // The page is our own file, and the sandbox does not work for root or in most containers.
        .args(["--headless", "--no-sandbox", "--disable-dev-shm-usage"])
        .args(["--no-first-run", "--disable-extensions"])
        .args(["--disable-background-networking", "--disable-sync"])
        .arg(format!(
            "--user-data-dir={}",
            folder.path().join("profile").display()
        ))
        .arg(format!("--window-size={},900", view.width))
        .args(["--virtual-time-budget=60000", "--dump-dom"]);
    if view.webgl {
        command.args(["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]);
    } else {
        command.args(["--disable-3d-apis", "--disable-gpu"]);
    }
    command
        .arg(format!("{}#selfcheck", file_url(&page)))
        .stdout(File::create(&document)?)
        .stderr(File::create(folder.path().join("messages"))?)
        .stdin(Stdio::null());
    let start = Instant::now();
    let mut child = command
        .spawn()
        .map_err(|error| format!("{} cannot be started: {error}", command_line(&command)))?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Err(format!(
                "{} has not ended after {} s",
                command_line(&command),
                PATIENCE.as_secs()
            )
            .into());
        }
        thread::sleep(Duration::from_millis(20));
    };
    let time = start.elapsed();
    if !status.success() {
        let messages = std::fs::read(folder.path().join("messages"))?;
        return Err(format!(
            "{} failed ({status}):\n{}",
            command_line(&command),
            String::from_utf8_lossy(&messages)
        )
        .into());
    }
    let document = String::from_utf8_lossy(&std::fs::read(&document)?).into_owned();
    let object = self_check_of(&document)
        .ok_or_else(|| format!("{}: the page did not check itself", page.display()))?;
    Ok(Findings { object, time })
}

/// Counts the edges of polygons in a viewer that are long enough to be seen, and how many of them are drawn.
fn edges(viewer: &Value) -> [u64; 2] {
    ["seen", "drawn"].map(|count| viewer["edges"][count].as_u64().unwrap_or(0))
}

/// The address of a file: special characters are escaped.
fn file_url(path: &Path) -> String {
    let mut url = "file://".to_owned();
    let text = path.to_string_lossy().replace('\\', "/");
    if !text.starts_with('/') {
        url.push('/');
    }
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b':' => {
                url.push(char::from(byte));
            }
            _ => url += &format!("%{byte:02X}"),
        }
    }
    url
}

/// The text in `<pre id="selfcheck">`.
fn self_check_of(document: &str) -> Option<Value> {
    let (_, rest) = document.rsplit_once("<pre id=\"selfcheck\"")?;
    let (_, rest) = rest.split_once('>')?;
    let (text, _) = rest.split_once("</pre>")?;
    let text = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&nbsp;", "\u{a0}")
        .replace("&amp;", "&");
    serde_json::from_str(&text).ok()
}

impl Findings {
    /// The problems of the page; nothing if it is as it should be.
    pub(super) fn problems(&self) -> Vec<String> {
        let object = &self.object;
        let mut problems: Vec<String> = list(object, "errors")
            .iter()
            .map(|error| format!("error: {}", error.as_str().unwrap_or_default()))
            .collect();
        for address in list(object, "outside") {
            let address = address.as_str().unwrap_or_default();
            problems.push(format!("the page needs {address} from elsewhere"));
        }
        for image in list(object, "images") {
            if image["isShown"] != true {
                problems.push(format!("the image {} is not shown", image["alt"]));
            }
        }
        let viewers = list(object, "viewers");
        let lacks_webgl = viewers.iter().any(|viewer| {
            let sides = list(viewer, "sides");
            sides.iter().any(|side| side["renderer"] != "WebGL")
        });
        if object["saysNoWebGl"] != lacks_webgl {
            let does = if lacks_webgl { "does not say" } else { "says" };
            problems.push(format!("the page {does} that there is no WebGL"));
        }
        if viewers.is_empty() || Some(viewers.len() as u64) != object["figures"].as_u64() {
            problems.push(format!(
                "{} of {} figures are shown",
                viewers.len(),
                object["figures"]
            ));
        }
        for viewer in viewers {
            let name = viewer["id"].as_str().unwrap_or_default();
            for side in list(viewer, "sides") {
                let colors = side["colors"].as_u64().unwrap_or(0);
                let drawn = side["drawn"].as_f64().unwrap_or(0.0);
                if colors < FEWEST_COLORS || drawn < LEAST_DRAWN {
                    problems.push(format!(
                        "{name}, {}: {colors} colours on {:.0} % of the canvas",
                        side["side"].as_str().unwrap_or_default(),
                        drawn * 100.0
                    ));
                }
            }
            let [seen, drawn] = edges(viewer);
            if drawn < seen {
                problems.push(format!("{name}: {drawn} of {seen} edges are drawn"));
            }
            for control in list(viewer, "dead") {
                let control = control.as_str().unwrap_or_default();
                problems.push(format!("{name}: {control} does not work"));
            }
        }
        for control in list(object, "dead") {
            let control = control.as_str().unwrap_or_default();
            problems.push(format!("{control} does not work"));
        }
        let overflow = object["overflow"].as_f64().unwrap_or(f64::INFINITY);
        if overflow > 0.0 {
            problems.push(format!(
                "the page is {overflow} pixels wider than the window"
            ));
        }
        problems
    }

    /// The drawing methods of the pictures: `WebGL`, `canvas 2D`, or both.
    fn renderers(&self) -> Vec<&str> {
        let sides = list(&self.object, "viewers")
            .iter()
            .flat_map(|viewer| list(viewer, "sides"));
        let mut names: Vec<&str> = sides.filter_map(|side| side["renderer"].as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let object = &self.object;
        write!(
            f,
            "checked in a browser, {} pixels wide, in {:.1} s: no errors, {} figures ({}), {} images, {} tables",
            object["width"],
            self.time.as_secs_f64(),
            list(object, "viewers").len(),
            self.renderers().join(", "),
            list(object, "images").len(),
            object["tables"].as_u64().unwrap_or(0),
        )?;
        let viewers = list(object, "viewers").iter();
        let drawn: u64 = viewers.clone().map(|viewer| edges(viewer)[1]).sum();
        if drawn > 0 {
            write!(f, ", {drawn} edges of polygons")?;
        }
        for picked in viewers.flat_map(|viewer| list(viewer, "picked")) {
            write!(f, "\n  picked: {}", picked.as_str().unwrap_or_default())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn findings(change: impl FnOnce(&mut Value)) -> Vec<String> {
        let side =
            |side: &str| json!({"side": side, "renderer": "WebGL", "colors": 900, "drawn": 0.5});
        let mut object = json!({
            "errors": [], "outside": [], "figures": 1, "overflow": 0, "saysNoWebGl": false, "tables": 3, "width": 1280,
            "images": [{"alt": "a plot", "isShown": true}],
            "viewers": [{"id": "demo-weld", "picked": ["triangle 5"], "dead": [], "sides": [side("before"), side("after")]}],
        });
        change(&mut object);
        let time = Duration::ZERO;
        Findings { object, time }.problems()
    }

    #[test]
    fn every_fault_is_a_problem() {
        assert!(findings(|_| ()).is_empty());
        type Change = fn(&mut Value);
        let faults: [(Change, &str); 12] = [
            (
                |o| o["viewers"][0]["edges"] = json!({"seen": 9, "drawn": 8}),
                "8 of 9 edges are drawn",
            ),
            (
                |o| o["saysNoWebGl"] = json!(true),
                "says that there is no WebGL",
            ),
            (
                |o| o["viewers"][0]["sides"][0]["renderer"] = json!("canvas 2D"),
                "does not say that there is no WebGL",
            ),
            (|o| o["dead"] = json!(["sorting"]), "sorting does not work"),
            (|o| o["errors"] = json!(["boom"]), "error: boom"),
            (|o| o["outside"] = json!(["https://a"]), "from elsewhere"),
            (
                |o| o["images"][0]["isShown"] = json!(false),
                "\"a plot\" is not shown",
            ),
            (|o| o["viewers"] = json!([]), "0 of 1 figures"),
            (
                |o| o["viewers"][0]["sides"][1]["colors"] = json!(1),
                "after: 1 colours",
            ),
            (
                |o| o["viewers"][0]["sides"][0]["drawn"] = json!(0.01),
                "before: 900 colours on 1 %",
            ),
            (
                |o| o["viewers"][0]["dead"] = json!(["key +"]),
                "key + does not work",
            ),
            (|o| o["overflow"] = json!(12), "12 pixels wider"),
        ];
        for (change, said) in faults {
            let problems = findings(change);
            assert!(
                problems.len() == 1 && problems[0].contains(said),
                "{problems:?}"
            );
        }
    }

    #[test]
    fn self_check_is_read_from_the_document() {
        let document = "<body><pre id=\"selfcheck\" hidden=\"\">{\"errors\":[\"a &lt; b &amp;&amp; c\"]}</pre></body>";
        let found = self_check_of(document).unwrap();
        assert_eq!(found["errors"][0], "a < b && c");
        assert!(self_check_of("<body></body>").is_none());
        assert_eq!(
            file_url(Path::new("/a b/c#d.html")),
            "file:///a%20b/c%23d.html"
        );
    }
}
