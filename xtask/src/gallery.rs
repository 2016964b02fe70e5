//! `cargo xtask gallery`: pictures of trioxide's results, each by command lines that a page shows.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::guide::MOST_BYTES;
use crate::process::run as run_command;
use crate::{Error, build, workspace};

/// Makes the pictures of the gallery and a page with their command lines in out/gallery/.
#[derive(clap::Args)]
pub(crate) struct Arguments {}

/// A picture, and how it is made.
pub struct Picture {
    /// Name of the file, without its extension.
    pub name: &'static str,
    /// One sentence.
    pub shows: &'static str,
    /// Origin and licence of the input.
    pub data: &'static str,
    /// The command lines, to run in the gallery's folder after those of the pictures before; the last one draws.
    pub lines: &'static [&'static str],
}

/// The folder of meshes, in the gallery's.
const MESHES: &str = "meshes";

const GENERATED: &str = "generated from a seed";
const FIXTURE: &str = "a file of `fixtures/`, made for trioxide, under its licence";

/// The pictures, in the order of the page.
pub const PICTURES: [Picture; 12] = [
    Picture {
        name: "polygons",
        shows: "Polygons from a triangulation of 1,000 random points, without a new vertex: the Polylla algorithm.",
        data: GENERATED,
        lines: &[
            "trioxide generate random -n 1000 --seed 1 -o meshes/random.ply --quiet",
            "trioxide polylla meshes/random.ply -o meshes/polygons.vtu --quiet",
            "trioxide render meshes/polygons.vtu -o polygons.png --width 520 --quiet",
        ],
    },
    Picture {
        name: "plate",
        shows: "A plate with a hole, triangulated with no angle below 30 degrees: the areas of the triangles, and the segments of the outline.",
        data: FIXTURE,
        lines: &[
            "trioxide triangulate ../../fixtures/square_with_hole.poly --angle 30 --area 0.02 -o meshes/plate.vtu --quiet",
            "trioxide render meshes/plate.vtu -o plate.png --color area --scale-bar --width 560 --quiet",
        ],
    },
    Picture {
        name: "refined",
        shows: "Longest-edge bisection of the triangles in a disk, and of as many neighbours as conformity requires.",
        data: GENERATED,
        lines: &[
            "trioxide refine generate:grid:400 --mark disk:0.4,0.6,0.15 --rounds 8 -o meshes/refined.vtu --quiet",
            "trioxide render meshes/refined.vtu -o refined.png --color area --colormap viridis --edges always --width 640 --quiet",
        ],
    },
    Picture {
        name: "solution",
        shows: "A Poisson problem, solved on the polygons by virtual elements: the field `solution` of the vertices.",
        data: GENERATED,
        lines: &[
            "trioxide vem meshes/polygons.vtu -o meshes/solution.vtu --quiet",
            "trioxide render meshes/solution.vtu -o solution.png --color solution --range 0,1 --axes --width 420 --quiet",
        ],
    },
    Picture {
        name: "diverging",
        shows: "A linear solution on polygons of a disk: blue below 0 and red above.",
        data: GENERATED,
        lines: &[
            "trioxide generate disk -n 1500 --seed 2 -o meshes/disk.ply --quiet",
            "trioxide polylla meshes/disk.ply -o meshes/disk_polygons.vtu --quiet",
            "trioxide vem meshes/disk_polygons.vtu --problem patch -o meshes/linear.vtu --quiet",
            "trioxide render meshes/linear.vtu -o diverging.png --color solution --colormap blue-red --edges always --width 500 --quiet",
        ],
    },
    Picture {
        name: "regions",
        shows: "Polygons that keep two regions apart.",
        data: FIXTURE,
        lines: &[
            "trioxide refine ../../fixtures/two_regions.node --rounds 3 -o meshes/regions.ply --quiet",
            "trioxide polylla meshes/regions.ply -o meshes/region_polygons.vtu --quiet",
            "trioxide render meshes/region_polygons.vtu -o regions.png --color region --width 480 --quiet",
        ],
    },
    Picture {
        name: "cloud",
        shows: "A landscape of 60,000 points as airborne LiDAR sees it, coloured by height.",
        data: GENERATED,
        lines: &["trioxide render generate:cloud:60k:1 -o cloud.png --up z --width 400 --quiet"],
    },
    Picture {
        name: "scan",
        shows: "A closed surface of 40,000 triangles as a range scanner sees it.",
        data: GENERATED,
        lines: &[
            "trioxide generate scan -n 20k --seed 1 -o meshes/scan.ply --quiet",
            "trioxide render meshes/scan.ply -o scan.png --up z --edges never --width 370 --quiet",
        ],
    },
    Picture {
        name: "welded",
        shows: "The same scan with nine tenths of its vertices merged, and smoothed without loss of volume.",
        data: GENERATED,
        lines: &[
            "trioxide weld meshes/scan.ply --ratio 0.9 -o meshes/welded.ply --quiet",
            "trioxide smooth meshes/welded.ply --method taubin --max-iterations 20 -o meshes/smooth.ply --quiet",
            "trioxide render meshes/smooth.ply -o welded.png --up z --edges always --width 400 --quiet",
        ],
    },
    Picture {
        name: "tetrahedra",
        shows: "Tetrahedra in a cube, smoothed under a guard and cut open: their quality.",
        data: GENERATED,
        lines: &[
            "trioxide generate tets -n 4000 --random --seed 1 -o meshes/tets.vtu --quiet",
            "trioxide smooth meshes/tets.vtu --guard --max-iterations 20 -o meshes/guarded.vtu --quiet",
            "trioxide render meshes/guarded.vtu -o tetrahedra.png --cut 1,0,0 --view 25,20 --width 450 --quiet",
        ],
    },
    Picture {
        name: "polyhedra",
        shows: "Polyhedra from the tetrahedra, cut open.",
        data: GENERATED,
        lines: &[
            "trioxide polylla meshes/guarded.vtu -o meshes/polyhedra.vtu --quiet",
            "trioxide render meshes/polyhedra.vtu -o polyhedra.png --cut 1,0,0 --view 25,20 --edges always --axes --width 460 --quiet",
        ],
    },
    Picture {
        name: "solution_in_space",
        shows: "A Poisson problem, solved on the polyhedra by virtual elements, cut open.",
        data: GENERATED,
        lines: &[
            "trioxide vem meshes/polyhedra.vtu -o meshes/solution_in_space.vtu --quiet",
            "trioxide render meshes/solution_in_space.vtu -o solution_in_space.png --color solution --colormap inferno --cut 1,0,0 --view 25,20 --width 370 --quiet",
        ],
    },
];

pub(crate) fn run(_: &Arguments) -> Result<(), Error> {
    let out = workspace().join("out/gallery");
    make(&build::trioxide()?, &out)?;
    println!("{} pictures: out/gallery/index.md", PICTURES.len());
    Ok(())
}

/// Makes the pictures and the page in a folder.
fn make(trioxide: &Path, out: &Path) -> Result<(), Error> {
    fs::create_dir_all(out.join(MESHES))?;
    for picture in &PICTURES {
        for line in picture.lines {
            let mut command = Command::new(trioxide);
            command.args(line.split(' ').skip(1)).current_dir(out);
            run_command(&mut command)?;
        }
        let file = out.join(picture.file());
        let bytes = fs::metadata(&file)?.len();
        let (most, _) = MOST_BYTES;
        if bytes > most {
            return Err(format!(
                "{} has {bytes} bytes, but pages take pictures of {most} at most: draw it smaller",
                file.display()
            )
            .into());
        }
    }
    fs::write(out.join("index.md"), page())?;
    Ok(())
}

impl Picture {
    /// Name of the file.
    pub fn file(&self) -> String {
        format!("{}.png", self.name)
    }
}

/// The page in Markdown.
fn page() -> String {
    let mut page = "# Gallery\n\nThe command lines run in this folder, those of a picture after those of the pictures before it.\n".to_owned();
    for picture in &PICTURES {
        let Picture {
            shows, data, lines, ..
        } = picture;
        page += &format!(
            "\n![{shows}]({})\n\n{shows} Data: {data}.\n\n```sh\n{}\n```\n",
            picture.file(),
            lines.join("\n")
        );
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gallery_has_twelve_pictures_with_their_command_lines() {
        let mut names: Vec<&str> = PICTURES.iter().map(|picture| picture.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 12);
        for picture in &PICTURES {
            let last = picture.lines.last().expect("a line that draws");
            assert!(last.contains(&format!(" -o {} ", picture.file())), "{last}");
        }
        // A mesh is written before it is read.
        let lines = PICTURES.iter().flat_map(|picture| picture.lines);
        let mut written = Vec::new();
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            let output = words
                .iter()
                .position(|word| *word == "-o")
                .map(|i| words[i + 1]);
            let output = output.expect("an output");
            let read = words
                .iter()
                .filter(|word| word.starts_with(MESHES) && **word != output);
            for mesh in read {
                assert!(written.contains(mesh), "{line}");
            }
            written.push(output);
        }
        let page = page();
        assert_eq!(page.matches("![").count(), 12);
        assert!(page.contains("fixtures/`, made for trioxide"));
    }
}
