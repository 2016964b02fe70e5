//! Meshes as a page to turn and to zoom: one file without network access.
//!
//! `trioxide view`, the notebooks of Python and the report have this viewer. [`Drawn`] is a mesh as triangles, each
//! with the elements on its sides. A [`Figure`] writes it in few bytes (`packed`), and `page/` draws it: WebGL 2, or
//! canvas 2D where there is none. The page checks itself when its address ends with `#selfcheck`.

mod drawn;
mod figure;
mod packed;
mod quality;
#[cfg(feature = "simplify")]
mod simplify;

pub use drawn::{Drawn, MOST_ELEMENTS};
pub use figure::{Colored, Figure, MOST_SIDES, Side, check_count, escape};

/// The viewer's own style; it takes its colours from [`THEME`].
pub const STYLE: &str = include_str!("../page/viewer.css");
/// The colours of a page, light and dark.
pub const THEME: &str = include_str!("../page/theme.css");
/// The script that must run before all others: it notes errors for the self-check.
pub const ERRORS: &str = include_str!("../page/errors.js");
/// The viewer: after the figures.
pub const SCRIPT: &str = concat!(
    include_str!("../page/data.js"),
    include_str!("../page/colors.js"),
    include_str!("../page/camera.js"),
    include_str!("../page/webgl.js"),
    include_str!("../page/painter.js"),
    include_str!("../page/pick.js"),
    include_str!("../page/viewer.js"),
);
/// The figures' part of the self-check; a page calls `leaveFindings` of it.
pub const SELF_CHECK: &str = include_str!("../page/selfcheck.js");

/// The policy of a page: nothing may be fetched.
pub const POLICY: &str =
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// A page with one figure.
pub fn page(figure: &Figure) -> String {
    let mut page = include_str!("../page/view.html").to_owned();
    // Without braces: no name of a file can be taken for a part.
    let title = escape(&figure.title).replace('{', "&#123;");
    for (mark, text) in [
        ("{{policy}}", POLICY),
        ("{{title}}", &title),
        ("{{theme.css}}", THEME),
        ("{{viewer.css}}", STYLE),
        ("{{errors.js}}", ERRORS),
        ("{{viewer.js}}", SCRIPT),
        ("{{selfcheck.js}}", SELF_CHECK),
    ] {
        page = page.replace(mark, text.trim_end());
    }
    // Last: no text of a mesh can be taken for a part.
    page.replace("{{figure}}", &figure.html())
}
