//! Meshes for the page: reading, colours, cuts, and few bytes.

use std::collections::HashMap;
use std::str::FromStr;

use glam::DVec3;
use trioxide_mesh::fields::{Field, MeshFields};
use trioxide_mesh::mesh::{Faces, Mesh, Polygons};
use trioxide_view::{Drawn, MOST_ELEMENTS};
use xtask::Error;

type Point = [f64; 3];

/// The field of a face's colour.
pub(super) const COLOR: &str = "colour";

/// Vertices and faces, and a colour number for each face.
pub(super) struct Surface {
    pub(super) points: Vec<Point>,
    pub(super) faces: Vec<Vec<u32>>,
    pub(super) colors: Vec<u8>,
}

/// Vertices and tetrahedra of positive volume.
pub(super) struct Tetrahedra {
    points: Vec<Point>,
    cells: Vec<[u32; 4]>,
}

/// The next word as a number.
fn next<'a, T: FromStr>(words: &mut impl Iterator<Item = &'a str>) -> Result<T, Error> {
    let word = words.next().ok_or("the mesh ends early")?;
    word.parse()
        .map_err(|_| format!("`{word}` is not a number of a mesh").into())
}

fn read_points<'a>(
    words: &mut impl Iterator<Item = &'a str>,
    count: usize,
) -> Result<Vec<Point>, Error> {
    (0..count)
        .map(|_| Ok([next(words)?, next(words)?, next(words)?]))
        .collect()
}

impl Surface {
    /// Reads an .off file of `trioxide`, without colours.
    pub(super) fn read_off(text: &str) -> Result<Self, Error> {
        let mut words = text.split_ascii_whitespace();
        if words.next() != Some("OFF") {
            return Err("the mesh is not OFF".into());
        }
        let (vertices, faces): (usize, usize) = (next(&mut words)?, next(&mut words)?);
        let _edges: usize = next(&mut words)?;
        let points = read_points(&mut words, vertices)?;
        let faces: Vec<Vec<u32>> = (0..faces)
            .map(|_| {
                let corners: usize = next(&mut words)?;
                (0..corners).map(|_| next(&mut words)).collect()
            })
            .collect::<Result<_, Error>>()?;
        let colors = vec![0; faces.len()];
        Ok(Self {
            points,
            faces,
            colors,
        })
    }

    /// The mesh for the viewer.
    pub(super) fn drawn(&self) -> Result<Drawn, Error> {
        let triangles = self.faces.iter().map(|face| face[..].try_into().ok());
        let faces = match triangles.collect() {
            Some(triangles) => Faces::Triangles(triangles),
            None => {
                let mut polygons = Polygons::default();
                self.faces.iter().for_each(|face| polygons.push(face));
                Faces::Polygons(polygons)
            }
        };
        let color = Field::scalars(COLOR, self.colors.clone());
        let mesh = Mesh {
            points: self
                .points
                .iter()
                .map(|&point| DVec3::from_array(point))
                .collect(),
            faces,
            fields: MeshFields {
                cells: [color].into_iter().collect(),
                ..MeshFields::default()
            },
            ..Mesh::default()
        };
        Ok(Drawn::of_mesh(mesh, MOST_ELEMENTS)?)
    }

    /// Colours neighbours apart: each face takes the colour that its neighbours have least, of eight.
    pub(super) fn color_apart(&mut self) {
        let mut of_edge: HashMap<[u32; 2], Vec<usize>> = HashMap::new();
        for (face, corners) in self.faces.iter().enumerate() {
            for edge in edges(corners) {
                of_edge.entry(edge).or_default().push(face);
            }
        }
        let mut used = [0usize; 8];
        let mut colors: Vec<Option<u8>> = vec![None; self.faces.len()];
        for (face, corners) in self.faces.iter().enumerate() {
            let neighbours = edges(corners).flat_map(|edge| of_edge[&edge].iter());
            let mut around = [0usize; 8];
            for color in neighbours.filter_map(|&neighbour| colors[neighbour]) {
                around[usize::from(color)] += 1;
            }
            // All colours equally often in the whole.
            let color = (0..8)
                .min_by_key(|&color| (around[color], used[color]))
                .expect("eight colours");
            used[color] += 1;
            colors[face] = Some(color as u8);
        }
        self.colors = colors.into_iter().flatten().collect();
    }

    /// Gives each triangle the colour of the polygon around it, among polygons on the same vertices.
    pub(super) fn color_as_parts_of(&mut self, polygons: &Surface) {
        let mut of_vertex: Vec<Vec<usize>> = vec![Vec::new(); polygons.points.len()];
        for (polygon, corners) in polygons.faces.iter().enumerate() {
            for &corner in corners {
                of_vertex[corner as usize].push(polygon);
            }
        }
        for (triangle, color) in self.faces.iter().zip(&mut self.colors) {
            let middle = centroid(&self.points, triangle);
            let around = triangle
                .iter()
                .flat_map(|&corner| &of_vertex[corner as usize])
                .find(|&&polygon| polygons.contains(polygon, middle));
            *color = around.map_or(0, |&polygon| polygons.colors[polygon]);
        }
    }

    /// Whether a planar polygon has a point inside.
    fn contains(&self, polygon: usize, [x, y, _]: Point) -> bool {
        let corners = &self.faces[polygon];
        let mut inside = false;
        for (i, &corner) in corners.iter().enumerate() {
            let [ax, ay, _] = self.points[corner as usize];
            let [bx, by, _] = self.points[corners[(i + 1) % corners.len()] as usize];
            if (ay > y) != (by > y) && x < (bx - ax) * (y - ay) / (by - ay) + ax {
                inside = !inside;
            }
        }
        inside
    }

    /// Areas of planar faces.
    pub(super) fn areas(&self) -> Vec<f64> {
        let area = |corners: &Vec<u32>| {
            let at = |i: usize| self.points[corners[i % corners.len()] as usize];
            let twice: f64 = (0..corners.len())
                .map(|i| at(i)[0] * at(i + 1)[1] - at(i + 1)[0] * at(i)[1])
                .sum();
            twice / 2.0
        };
        self.faces.iter().map(area).collect()
    }
}

/// A face's edges, the lower vertex first.
fn edges(corners: &[u32]) -> impl Iterator<Item = [u32; 2]> {
    let next = corners.iter().cycle().skip(1);
    corners
        .iter()
        .zip(next)
        .map(|(&a, &b)| [a.min(b), a.max(b)])
}

fn centroid(points: &[Point], corners: &[u32]) -> Point {
    [0, 1, 2].map(|axis| {
        let sum: f64 = corners.iter().map(|&v| points[v as usize][axis]).sum();
        sum / corners.len() as f64
    })
}

impl Tetrahedra {
    /// Reads a .mesh file of `trioxide`.
    pub(super) fn read_medit(text: &str) -> Result<Self, Error> {
        let mut words = text.split_ascii_whitespace();
        let mut section = |name: &str| -> Result<usize, Error> {
            words
                .by_ref()
                .find(|&word| word == name)
                .ok_or_else(|| format!("the mesh has no {name}"))?;
            next(&mut words)
        };
        let vertices = section("Vertices")?;
        let points = (0..vertices)
            .map(|_| {
                let point = read_points(&mut words, 1)?[0];
                let _reference: i64 = next(&mut words)?;
                Ok(point)
            })
            .collect::<Result<Vec<_>, Error>>()?;
        let mut section = |name: &str| -> Result<usize, Error> {
            words
                .by_ref()
                .find(|&word| word == name)
                .ok_or_else(|| format!("the mesh has no {name}"))?;
            next(&mut words)
        };
        let count = section("Tetrahedra")?;
        let mut cells = Vec::with_capacity(count);
        for _ in 0..count {
            let mut corner = || -> Result<u32, Error> {
                let number: u32 = next(&mut words)?;
                // Medit counts from 1.
                number
                    .checked_sub(1)
                    .filter(|&corner| (corner as usize) < vertices)
                    .ok_or_else(|| format!("there is no vertex {number}").into())
            };
            cells.push([corner()?, corner()?, corner()?, corner()?]);
            let _reference: i64 = next(&mut words)?;
        }
        Ok(Self { points, cells })
    }

    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    pub(super) fn vertices(&self) -> usize {
        self.points.len()
    }

    /// The cells whose centroid `keep` accepts.
    pub(super) fn select(&self, keep: impl Fn(Point) -> bool) -> Vec<usize> {
        (0..self.cells.len())
            .filter(|&cell| keep(centroid(&self.points, &self.cells[cell])))
            .collect()
    }

    pub(super) fn volumes(&self) -> Vec<f64> {
        self.cells.iter().map(|&cell| self.volume(cell)).collect()
    }

    fn volume(&self, cell: [u32; 4]) -> f64 {
        let [a, b, c, d] = cell.map(|v| self.points[v as usize]);
        let from_a = |p: Point| [0, 1, 2].map(|i| p[i] - a[i]);
        let (u, v, w) = (from_a(b), from_a(c), from_a(d));
        (u[0] * (v[1] * w[2] - v[2] * w[1]) - u[1] * (v[0] * w[2] - v[2] * w[0])
            + u[2] * (v[0] * w[1] - v[1] * w[0]))
            / 6.0
    }

    /// Mean ratio of each cell: 1 for equal edges, 0 for a flat one.
    pub(super) fn qualities(&self) -> Vec<f64> {
        let quality = |&cell: &[u32; 4]| {
            let squares: f64 = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
                .iter()
                .map(|&[i, j]| {
                    let (a, b) = (self.points[cell[i] as usize], self.points[cell[j] as usize]);
                    (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>()
                })
                .sum();
            12.0 * (3.0 * self.volume(cell).max(0.0)).powf(2.0 / 3.0) / squares
        };
        self.cells.iter().map(quality).collect()
    }

    /// The boundary of some cells; each face has its cell's colour.
    pub(super) fn boundary(&self, chosen: &[usize], colors: &[u8]) -> Surface {
        let mut sides: HashMap<[u32; 3], Option<([u32; 3], u8)>> = HashMap::new();
        for &cell in chosen {
            let [a, b, c, d] = self.cells[cell];
            for side in [[a, c, b], [a, b, d], [b, c, d], [a, d, c]] {
                let mut key = side;
                key.sort_unstable();
                // A side of two cells is inside.
                sides
                    .entry(key)
                    .and_modify(|found| *found = None)
                    .or_insert(Some((side, colors[cell])));
            }
        }
        let mut found: Vec<([u32; 3], u8)> = sides.into_values().flatten().collect();
        found.sort_unstable();
        let mut points = Vec::new();
        let mut renamed: HashMap<u32, u32> = HashMap::new();
        let mut faces = Vec::with_capacity(found.len());
        for (side, _) in &found {
            faces.push(
                side.map(|v| {
                    *renamed.entry(v).or_insert_with(|| {
                        points.push(self.points[v as usize]);
                        points.len() as u32 - 1
                    })
                })
                .to_vec(),
            );
        }
        Surface {
            points,
            faces,
            colors: found.into_iter().map(|(_, color)| color).collect(),
        }
    }
}

/// Numbers from `low` to `high` as colours of a scale; numbers outside take the ends' colours.
pub(super) fn scale_colors(numbers: &[f64], low: f64, high: f64) -> Vec<u8> {
    let place = |number: &f64| ((number - low) / (high - low)).clamp(0.0, 1.0);
    numbers
        .iter()
        .map(|number| (place(number) * 255.0).round() as u8)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: &str = "OFF\n4 2 0\n0 0 0\n2 0 0\n2 1 0\n0 1 0\n3 0 1 2\n3 0 2 3\n";

    #[test]
    fn triangles_take_the_colours_of_their_polygons() {
        // A square beside a triangle: the first two triangles are the square.
        let points = "5 3 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n2 0 0\n";
        let mut triangles =
            Surface::read_off(&format!("OFF\n{points}3 0 1 2\n3 0 2 3\n3 1 4 2\n")).unwrap();
        let points = points.replace("5 3 0", "5 2 0");
        let mut polygons =
            Surface::read_off(&format!("OFF\n{points}4 0 1 2 3\n3 1 4 2\n")).unwrap();
        polygons.color_apart();
        assert_ne!(polygons.colors[0], polygons.colors[1]);
        triangles.color_as_parts_of(&polygons);
        assert_eq!(
            triangles.colors,
            [0, 0, 1].map(|polygon| polygons.colors[polygon])
        );
        assert_eq!(polygons.areas(), [1.0, 0.5]);
    }

    #[test]
    fn damaged_meshes_are_errors() {
        assert!(Surface::read_off("PLY").is_err());
        assert!(Surface::read_off(&SQUARE[..SQUARE.len() - 4]).is_err());
        assert!(Tetrahedra::read_medit("Vertices 1 0 0 0 0").is_err());
        assert!(
            Tetrahedra::read_medit("Vertices 1 0 0 0 0 Tetrahedra 1 1 1 1 2 0").is_err(),
            "no vertex 2"
        );
    }

    #[test]
    fn boundary_leaves_out_what_two_cells_share() {
        let text = "MeshVersionFormatted 2\nDimension 3\nVertices\n5\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n1 1 1 0\n\
            Tetrahedra\n2\n1 2 3 4 1\n2 3 4 5 1\nEnd\n";
        let cells = Tetrahedra::read_medit(text).unwrap();
        assert_eq!(cells.volumes()[0], 1.0 / 6.0);
        // 12 (3/6)^(2/3) over three edges of square 1 and three of square 2.
        assert!((cells.qualities()[0] - 12.0 * 0.5f64.powf(2.0 / 3.0) / 9.0).abs() < 1e-12);
        let whole = cells.boundary(&cells.select(|_| true), &[3, 9]);
        assert_eq!((whole.points.len(), whole.faces.len()), (5, 6));
        assert_eq!(whole.colors.iter().filter(|&&color| color == 9).count(), 3);
        let first = cells.boundary(&cells.select(|[x, y, z]| x + y + z < 1.0), &[3, 9]);
        assert_eq!((first.points.len(), first.faces.len()), (4, 4));
    }

    #[test]
    fn values_take_places_on_the_scale() {
        assert_eq!(scale_colors(&[-1.0, 0.5, 2.0], 0.0, 1.0), [0, 128, 255]);
        // As triangles, with their quality.
        let square = Surface::read_off(SQUARE).unwrap().drawn().unwrap();
        assert_eq!(square.field_names(), [COLOR, "mean ratio"]);
    }
}
