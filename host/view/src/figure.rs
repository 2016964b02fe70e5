//! Meshes beside each other, as HTML that `page/viewer.js` brings to life.

use std::path::Path;

use serde_json::{Value, json};
use trioxide_mesh::{Error, Result};
use trioxide_render::View;

use crate::drawn::{COLORS, DISTINCT, Drawn};
use crate::packed::{Arrays, Box3, pack};

/// One picture of a figure: a mesh, or several that follow each other.
pub struct Side {
    /// Short name, for a button.
    pub name: String,
    /// The text below the picture.
    pub caption: String,
    /// The meshes, each with a label.
    pub steps: Vec<(String, Drawn)>,
}

/// Colours that a figure begins with.
pub struct Colored {
    /// The field, of elements or of points.
    pub field: String,
    /// `scale`, `size` or `distinct`: a palette of `page/colors.js`.
    pub palette: &'static str,
    /// Values of the ends of the scale, where they are not the field's own.
    pub range: Option<[f64; 2]>,
    /// Words for the ends of the scale instead of numbers.
    pub ends: Option<[String; 2]>,
}

/// Most pictures beside each other: browsers limit the canvases with WebGL of a page.
pub const MOST_SIDES: usize = 8;

/// Least part of the box of all meshes that one must take to be shown in it.
const LEAST_PART: f64 = 0.6;

/// Refuses more meshes than fit beside each other.
///
/// # Errors
/// [`Error::Argument`].
pub fn check_count(meshes: usize, as_steps: bool) -> Result<()> {
    match meshes {
        0 => Err(Error::Argument("there is no mesh to show: give one".into())),
        count if count > MOST_SIDES && !as_steps => Err(Error::Argument(format!(
            "{count} meshes are more than the {MOST_SIDES} that fit beside each other: show them as steps, or show fewer"
        ))),
        _ => Ok(()),
    }
}

/// A figure: pictures that share one camera.
pub struct Figure {
    /// Its id in the page.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The text below the title; not HTML.
    pub text: String,
    /// The pictures.
    pub sides: Vec<Side>,
    /// Its first colours; none for one plain colour.
    pub colored: Option<Colored>,
    /// Whether readers choose colours and cut meshes open.
    pub has_tools: bool,
}

impl Figure {
    /// Meshes with their names: beside each other, or as steps of one picture. It begins with the colours of the field
    /// `color`, or else with the vertices' own, or else, where all meshes are polygons of the plane or polyhedra, with
    /// colours that keep neighbours apart.
    ///
    /// # Errors
    /// [`Error::Argument`] for a field that no mesh has; that of [`check_count`].
    pub fn of_meshes(
        meshes: Vec<(String, Drawn)>,
        as_steps: bool,
        color: Option<&str>,
    ) -> Result<Figure> {
        check_count(meshes.len(), as_steps)?;
        let drawn = || meshes.iter().map(|(_, mesh)| mesh);
        let has = |name: &str| drawn().any(|mesh| mesh.field_names().contains(&name));
        let field = match color {
            Some(name) if !has(name) => {
                let mut names: Vec<&str> = drawn().flat_map(Drawn::field_names).collect();
                names.sort_unstable();
                names.dedup();
                return Err(Error::Argument(match names.is_empty() {
                    true => format!("no mesh has the field {name}, or another one"),
                    false => format!(
                        "no mesh has the field {name}: use one of {}",
                        names.join(", ")
                    ),
                }));
            }
            Some(name) => Some(name),
            None if has(COLORS) => Some(COLORS),
            None => drawn().all(Drawn::is_apart).then_some(DISTINCT),
        };
        let colored = field.map(|field| Colored {
            field: field.to_owned(),
            palette: "scale",
            range: None,
            ends: None,
        });
        let names: Vec<&str> = meshes.iter().map(|(name, _)| name.as_str()).collect();
        let title = names.join(", ");
        let sides = match as_steps {
            true => vec![Side {
                name: "steps".to_owned(),
                caption: format!("{} steps", meshes.len()),
                steps: meshes,
            }],
            false => meshes
                .into_iter()
                .map(|(name, mesh)| Side {
                    name: without_folder(&name),
                    caption: format!("{name}: {}", mesh.counts()),
                    steps: vec![(name, mesh)],
                })
                .collect(),
        };
        Ok(Figure {
            id: "view".to_owned(),
            title,
            text: "Drag to turn, or to move a planar mesh (with Shift to move any), scroll to zoom, click an element to see its values.".to_owned(),
            sides,
            colored,
            has_tools: true,
        })
    }

    /// The figure as HTML.
    pub fn html(&self) -> String {
        let meshes: Vec<&Drawn> = (self.sides.iter())
            .flat_map(|side| side.steps.iter().map(|(_, mesh)| mesh))
            .collect();
        let is_planar = meshes.iter().all(|mesh| mesh.is_planar);
        let boxes = self.boxes(is_planar, &meshes);
        let mut arrays = Arrays::default();
        let side = |(side, bounds): (&Side, &Box3)| {
            let step = |(label, mesh): &(String, Drawn)| {
                let mut object = pack(mesh, bounds, &mut arrays);
                object["label"] = json!(label);
                object["note"] = json!(mesh.note);
                object
            };
            let steps: Vec<Value> = side.steps.iter().map(step).collect();
            json!({ "name": side.name, "box": bounds.to_json(), "steps": steps })
        };
        let sides: Vec<Value> = self.sides.iter().zip(&boxes).map(side).collect();
        let colored = self.colored.as_ref().map(|colored| {
            json!({
                "field": colored.field,
                "palette": colored.palette,
                "range": colored.range,
                "ends": colored.ends,
            })
        });
        let view = View::default();
        let data = json!({
            "planar": is_planar,
            "up": meshes.first().map_or(0, |mesh| mesh.up as usize),
            "view": [view.azimuth, view.elevation],
            "colored": colored,
            "tools": self.has_tools,
            "sides": sides,
        });
        // In JSON `<` stands in texts alone.
        let data = data.to_string().replace('<', "\\u003c");
        let arrays: String = (arrays.texts().iter())
            .map(|text| format!("<script type=\"text/plain\" class=\"array\">{text}</script>\n"))
            .collect();
        let title = escape(&self.title);
        let pictures: String = (self.sides.iter().enumerate())
            .map(|(i, side)| picture(i, &title, side))
            .collect();
        format!(
            "<figure class=\"demo\" id=\"{}\"><h3>{title}</h3><p>{}</p>{}\
             <div class=\"sides\">{pictures}</div><div class=\"legend\" hidden></div>\
             <script type=\"application/json\" class=\"mesh\">{data}</script>\n{arrays}</figure>\n",
            escape(&self.id),
            escape(&self.text),
            self.controls(&title),
        )
    }

    /// The box of each picture: one for all, so that before and after are seen in place; or its own, where a mesh would
    /// be small among the others.
    fn boxes(&self, is_planar: bool, meshes: &[&Drawn]) -> Vec<Box3> {
        let all = Box3::around(is_planar, meshes);
        let own: Vec<Box3> = (self.sides.iter())
            .map(|side| {
                let steps: Vec<&Drawn> = side.steps.iter().map(|(_, mesh)| mesh).collect();
                Box3::around(is_planar, &steps)
            })
            .collect();
        match own
            .iter()
            .all(|own| own.longest() >= LEAST_PART * all.longest())
        {
            true => vec![all; own.len()],
            false => own,
        }
    }

    fn controls(&self, title: &str) -> String {
        let mut shown = String::new();
        if self.sides.len() > 1 {
            let all = if self.sides.len() == 2 { "Both" } else { "All" };
            shown += "<div class=\"choice\" role=\"group\" aria-label=\"Shown\">";
            shown += &button("show", "all", all, true);
            for (i, side) in self.sides.iter().enumerate() {
                shown += &button("show", &i.to_string(), &escape(&side.name), false);
            }
            shown += "</div>";
        }
        let tools = if self.has_tools {
            include_str!("../page/tools.html").trim_end()
        } else {
            ""
        };
        [
            &format!("<div class=\"controls\" role=\"toolbar\" aria-label=\"{title}\">{shown}"),
            "<div class=\"choice\" role=\"group\" aria-label=\"Drawn\">",
            &button("draw", "faces", "Faces", false),
            &button("draw", "edged", "Faces and edges", true),
            &button("draw", "edges", "Wireframe", false),
            "</div><button type=\"button\" data-reset>Reset view</button>",
            tools,
            "</div>",
        ]
        .concat()
    }
}

fn without_folder(name: &str) -> String {
    let file = Path::new(name).file_name();
    file.map_or(name.to_owned(), |file| file.to_string_lossy().into_owned())
}

fn button(attribute: &str, value: &str, title: &str, pressed: bool) -> String {
    format!(
        "<button type=\"button\" data-{attribute}=\"{value}\" aria-pressed=\"{pressed}\">{title}</button>"
    )
}

fn picture(i: usize, title: &str, side: &Side) -> String {
    let caption = escape(&side.caption);
    format!(
        "<div class=\"side\" data-side=\"{i}\"><canvas tabindex=\"0\" role=\"img\" aria-label=\"{title}. {caption}\"></canvas>\
         <p>{caption}<span class=\"note\"></span></p><p class=\"picked\" aria-live=\"polite\"></p></div>"
    )
}

/// Text for HTML, also between quotation marks.
pub fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html += "&amp;",
            '<' => html += "&lt;",
            '>' => html += "&gt;",
            '"' => html += "&quot;",
            c => html.push(c),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use trioxide_mesh::fields::Field;
    use trioxide_mesh::mesh::{Faces, Mesh};

    use super::*;

    fn triangle(name: &str) -> (String, Drawn) {
        let mut mesh = Mesh {
            points: vec![DVec3::ZERO, DVec3::X, DVec3::Y],
            faces: Faces::Triangles(vec![[0, 1, 2]]),
            ..Mesh::default()
        };
        mesh.fields
            .cells
            .push(Field::scalars("</script>", vec![1.5]));
        (name.to_owned(), Drawn::of_mesh(mesh, 10).expect("a mesh"))
    }

    #[test]
    fn names_cannot_leave_their_place() {
        let meshes = vec![triangle("a\"><b>"), triangle("c")];
        let figure = Figure::of_meshes(meshes, false, None).expect("two");
        let html = figure.html();
        let named = |name| Figure::of_meshes(vec![triangle(name)], false, None).expect("one");
        let page = crate::page(&named("{{figure}}.off"));
        assert!(
            page.contains("<title>&#123;&#123;figure}}.off</title>"),
            "{page}"
        );
        assert!(html.contains("a&quot;&gt;&lt;b&gt;"), "{html}");
        assert!(html.contains("\\u003c/script>"), "{html}");
        // The data and its arrays, of which the second mesh has none of its own.
        assert_eq!(
            html.matches("</script>").count(),
            1 + figure_arrays(&html),
            "{html}"
        );
        assert_eq!(html.matches("data-show=").count(), 3);
    }

    fn figure_arrays(html: &str) -> usize {
        html.matches("class=\"array\"").count()
    }

    #[test]
    fn steps_are_one_picture() {
        let meshes = || (0..9).map(|i| triangle(&i.to_string())).collect::<Vec<_>>();
        let figure = Figure::of_meshes(meshes(), true, Some("mean ratio")).expect("steps");
        assert_eq!((figure.sides.len(), figure.sides[0].steps.len()), (1, 9));
        let refused = |as_steps, color| {
            let figure = Figure::of_meshes(meshes(), as_steps, color);
            figure.err().expect("refused").to_string()
        };
        assert!(refused(false, None).contains("9 meshes are more than the 8"));
        let text = refused(true, Some("x"));
        assert_eq!(
            text,
            "no mesh has the field x: use one of </script>, mean ratio"
        );
    }
}
