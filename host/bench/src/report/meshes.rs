//! The demo meshes of the page: small ones, made by `trioxide` in seconds.

use std::fs;
use std::path::Path;

use trioxide_view::Drawn;

use super::geometry::{Surface, Tetrahedra, scale_colors};
use super::html::number;
use xtask::Error;
use xtask::demo::Demo;

/// Meshes before and after an operation.
pub(super) struct Pair {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// Description of the picture.
    pub(super) text: &'static str,
    /// Meanings of the ends of the colours' scale.
    pub(super) legend: Option<[String; 2]>,
    /// Captions of the two sides.
    pub(super) sides: [String; 2],
    /// Command lines that make the meshes.
    pub(super) commands: Vec<String>,
    /// Palette of the faces' colours; none for one plain colour.
    pub(super) palette: Option<&'static str>,
    /// The meshes.
    pub(super) meshes: [Drawn; 2],
}

/// Runs `trioxide`, and remembers how.
struct Maker<'a> {
    demo: &'a Demo,
    device: &'a str,
    commands: Vec<String>,
}

impl Maker<'_> {
    /// Runs a command that takes no device.
    fn generate(&mut self, line: &str) -> Result<(), Error> {
        self.run(line, &[])
    }

    /// Runs a command that computes.
    fn compute(&mut self, line: &str) -> Result<(), Error> {
        self.run(line, &["--device", self.device])
    }

    fn run(&mut self, line: &str, more: &[&str]) -> Result<(), Error> {
        let words: Vec<&str> = line.split(' ').collect();
        self.commands.push(format!("trioxide {line}"));
        self.demo
            .trioxide(&[&words[..], more, &["--quiet"]].concat())?;
        Ok(())
    }

    fn text(&self, file: &str) -> Result<String, Error> {
        let path = self.demo.out.join(file);
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()).into())
    }

    fn surface(&self, file: &str) -> Result<Surface, Error> {
        Surface::read_off(&self.text(file)?).map_err(|error| format!("{file}: {error}").into())
    }

    fn cells(&self, file: &str) -> Result<Tetrahedra, Error> {
        Tetrahedra::read_medit(&self.text(file)?).map_err(|error| format!("{file}: {error}").into())
    }
}

/// Makes all pairs with a program `trioxide`, on a device.
pub(super) fn make(trioxide: &Path, device: &str) -> Result<Vec<Pair>, Error> {
    let folder = tempfile::tempdir()?;
    let demo = Demo {
        trioxide: trioxide.to_owned(),
        out: folder.path().to_owned(),
    };
    type Make = fn(&mut Maker) -> Result<Pair, Error>;
    let all: [Make; 6] = [
        polylla,
        refine,
        weld,
        smooth_surface,
        smooth_cells,
        refine_cells,
    ];
    all.into_iter()
        .map(|make| {
            let mut maker = Maker {
                demo: &demo,
                device,
                commands: Vec::new(),
            };
            make(&mut maker)
        })
        .collect()
}

fn count(value: usize, of: &str) -> String {
    format!("{} {of}", number(value as f64))
}

fn triangles(title: &str, surface: &Surface) -> String {
    format!(
        "{title}: {}, {}",
        count(surface.points.len(), "vertices"),
        count(surface.faces.len(), "triangles")
    )
}

fn polylla(maker: &mut Maker) -> Result<Pair, Error> {
    maker.generate("generate random --points 2500 --seed 1 -o triangles.off")?;
    maker.compute("polylla triangles.off -o polygons.off")?;
    let mut before = maker.surface("triangles.off")?;
    let mut after = maker.surface("polygons.off")?;
    after.color_apart();
    before.color_as_parts_of(&after);
    Ok(Pair {
        name: "polylla",
        title: "Polylla: triangles become polygons",
        text: "Triangles that send each other along their longest edges merge. Each triangle has the colour of the polygon that it \
            becomes part of.",
        legend: None,
        sides: [
            triangles("Before", &before),
            format!("After: {}", count(after.faces.len(), "polygons")),
        ],
        commands: maker.commands.clone(),
        palette: Some("distinct"),
        meshes: [before.drawn()?, after.drawn()?],
    })
}

/// The least and the largest of all but the outermost hundredths.
fn range(mut numbers: Vec<f64>) -> (f64, f64) {
    numbers.sort_by(f64::total_cmp);
    let margin = numbers.len() / 100;
    (numbers[margin], numbers[numbers.len() - 1 - margin])
}

/// Sizes as colours, large ones first: steps of equal ratio look equal.
fn size_colors(before: &[f64], after: &[f64]) -> [Vec<u8>; 2] {
    let halvings = |sizes: &[f64]| -> Vec<f64> { sizes.iter().map(|size| -size.log2()).collect() };
    let (before, after) = (halvings(before), halvings(after));
    let (low, high) = range([&before[..], &after[..]].concat());
    [before, after].map(|numbers| scale_colors(&numbers, low, high))
}

fn refine(maker: &mut Maker) -> Result<Pair, Error> {
    maker.generate("generate random --points 600 --seed 3 -o coarse.off")?;
    maker.compute("refine coarse.off --mark disk:0.5,0.5,0.22 --rounds 5 -o fine.off")?;
    let mut before = maker.surface("coarse.off")?;
    let mut after = maker.surface("fine.off")?;
    [before.colors, after.colors] = size_colors(&before.areas(), &after.areas());
    Ok(Pair {
        name: "refine",
        title: "Longest-edge refinement of triangles",
        text: "Triangles in a disk are bisected at their longest edges, five times, with their neighbours as far as conformity \
            requires.",
        legend: Some(["large triangles".into(), "small".into()]),
        sides: [triangles("Before", &before), triangles("After", &after)],
        commands: maker.commands.clone(),
        palette: Some("size"),
        meshes: [before.drawn()?, after.drawn()?],
    })
}

/// A scan of 20,000 vertices, and the mesh of its clusters.
const WELD: [&str; 2] = [
    "generate scan --points 20k --seed 1 -o scan.off",
    "weld scan.off --epsilon 0.05 -o welded.off",
];

fn weld(maker: &mut Maker) -> Result<Pair, Error> {
    maker.generate(WELD[0])?;
    maker.compute(WELD[1])?;
    let (before, after) = (maker.surface("scan.off")?, maker.surface("welded.off")?);
    Ok(Pair {
        name: "weld",
        title: "Vertex clustering of a scan",
        text: "Vertices within 0.05 of each other become one; the object's radius is about 1.",
        legend: None,
        sides: [triangles("Before", &before), triangles("After", &after)],
        commands: maker.commands.clone(),
        palette: None,
        meshes: [before.drawn()?, after.drawn()?],
    })
}

fn smooth_surface(maker: &mut Maker) -> Result<Pair, Error> {
    maker.generate("generate scan --points 12k --seed 5 -o scan.off")?;
    maker.compute("smooth scan.off --method taubin --max-iterations 60 -o smooth.off")?;
    let (before, after) = (maker.surface("scan.off")?, maker.surface("smooth.off")?);
    Ok(Pair {
        name: "smooth-surface",
        title: "Smoothing of a noisy surface",
        text: "Sixty sweeps of Taubin's method: the noise of the scanner goes, the shape and its volume stay.",
        legend: None,
        sides: [
            triangles("Before", &before),
            "After: the same triangles".to_owned(),
        ],
        commands: maker.commands.clone(),
        palette: None,
        meshes: [before.drawn()?, after.drawn()?],
    })
}

/// Cells that are left when the octant nearest to the viewer is taken out of the unit cube.
fn without_octant([x, y, z]: [f64; 3]) -> bool {
    !(x > 0.5 && y < 0.5 && z > 0.5)
}

fn cells(title: &str, cells: &Tetrahedra) -> String {
    format!(
        "{title}: {}, {}",
        count(cells.vertices(), "vertices"),
        count(cells.len(), "tetrahedra")
    )
}

fn smooth_cells(maker: &mut Maker) -> Result<Pair, Error> {
    maker.generate("generate tets --points 6k --seed 1 -o cells.mesh")?;
    maker.compute("smooth cells.mesh --guard --max-iterations 30 -o smooth.mesh")?;
    let (before, after) = (maker.cells("cells.mesh")?, maker.cells("smooth.mesh")?);
    let (before_quality, after_quality) = (before.qualities(), after.qualities());
    let (low, high) = range([&before_quality[..], &after_quality[..]].concat());
    // The same cells on both sides.
    let shown = before.select(without_octant);
    let faces = |cells: &Tetrahedra, quality: &[f64]| {
        cells.boundary(&shown, &scale_colors(quality, low, high))
    };
    Ok(Pair {
        name: "smooth-cells",
        title: "Smoothing of tetrahedra",
        text: "Each inner node goes to the mean of its neighbours, unless a cell around it would get worse than the worst. The cube \
            is cut open; colours are the quality of the cells.",
        legend: Some([
            format!("mean ratio {low:.2}"),
            format!("{high:.2} (1: equal edges)"),
        ]),
        sides: [cells("Before", &before), "After: the same cells".to_owned()],
        commands: maker.commands.clone(),
        palette: Some("scale"),
        meshes: [
            faces(&before, &before_quality).drawn()?,
            faces(&after, &after_quality).drawn()?,
        ],
    })
}

fn refine_cells(maker: &mut Maker) -> Result<Pair, Error> {
    maker.generate("generate tets --points 1k --seed 1 -o coarse.mesh")?;
    maker.compute("refine coarse.mesh --mark ball:0.5,0.5,0.5,0.2 --rounds 6 -o fine.mesh")?;
    let (before, after) = (maker.cells("coarse.mesh")?, maker.cells("fine.mesh")?);
    let [before_colors, after_colors] = size_colors(&before.volumes(), &after.volumes());
    let faces =
        |cells: &Tetrahedra, colors: &[u8]| cells.boundary(&cells.select(without_octant), colors);
    Ok(Pair {
        name: "refine-cells",
        title: "Longest-edge refinement of tetrahedra",
        text: "Tetrahedra in a ball in the middle of the cube are bisected at their longest edges, six times. The cube is cut open.",
        legend: Some(["large cells".into(), "small".into()]),
        sides: [cells("Before", &before), cells("After", &after)],
        commands: maker.commands.clone(),
        palette: Some("size"),
        meshes: [
            faces(&before, &before_colors).drawn()?,
            faces(&after, &after_colors).drawn()?,
        ],
    })
}
