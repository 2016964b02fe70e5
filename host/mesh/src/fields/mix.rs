//! Elements made of several old elements.

use crate::prolongation::Prolongation;

/// New elements as weighted means of old ones: a row of weights for each, and the old element that gives it labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix {
    /// Start of each row in `columns` and `weights`, and the end of the last.
    offsets: Vec<usize>,
    /// Old elements.
    columns: Vec<u32>,
    /// Their weights.
    weights: Vec<f64>,
    /// Old element whose integers each new element takes.
    labels: Vec<u32>,
}

impl Mix {
    /// From rows of weights, and the old element of each new element's labels.
    ///
    /// # Panics
    /// When `offsets` does not have one element more than `labels`, or does not end at the ends of `columns` and
    /// `weights`.
    pub fn new(offsets: Vec<usize>, columns: Vec<u32>, weights: Vec<f64>, labels: Vec<u32>) -> Mix {
        assert_eq!(offsets.len(), labels.len() + 1, "one row for each label");
        assert_eq!(
            offsets.last(),
            Some(&columns.len()),
            "rows end with columns"
        );
        assert_eq!(columns.len(), weights.len(), "a weight for each column");
        Mix {
            offsets,
            columns,
            weights,
            labels,
        }
    }

    /// Vertices of a refined mesh. Labels are those of the vertex with the largest weight, or with the lowest id among
    /// several: on the middle of an edge, those of the end with the lower id.
    pub fn of_prolongation(prolongation: Prolongation) -> Mix {
        let label = |i: usize| {
            let mut best = (0, f64::NEG_INFINITY);
            for (column, weight) in prolongation.row(i) {
                if weight > best.1 {
                    best = (column, weight);
                }
            }
            best.0
        };
        let labels = (0..prolongation.rows()).map(label).collect();
        let Prolongation {
            offsets,
            columns,
            weights,
            ..
        } = prolongation;
        Mix::new(offsets, columns, weights, labels)
    }

    /// Clusters: the new element of each old one, and the old element that represents each new one and gives it labels.
    /// All members of a cluster have the same weight.
    ///
    /// # Panics
    /// When an element of `map` is out of range of `representatives`.
    pub fn of_clusters(map: &[u32], representatives: &[u32]) -> Mix {
        let count = representatives.len();
        let mut offsets = vec![0; count + 1];
        for &cluster in map {
            offsets[cluster as usize + 1] += 1;
        }
        for i in 0..count {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut columns = vec![0; map.len()];
        for (old, &cluster) in (0u32..).zip(map) {
            let place = &mut next[cluster as usize];
            columns[*place] = old;
            *place += 1;
        }
        let weights = vec![1.0; columns.len()];
        Mix::new(offsets, columns, weights, representatives.to_vec())
    }

    /// Old element whose integers each new element takes.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// Old elements and their weights, row by row.
    pub fn rows(&self) -> impl Iterator<Item = impl Iterator<Item = (u32, f64)> + '_> + '_ {
        self.offsets.windows(2).map(|ends| {
            let range = ends[0]..ends[1];
            let weights = self.weights[range.clone()].iter().copied();
            self.columns[range].iter().copied().zip(weights)
        })
    }

    /// The weighted mean of the values in row `i`: their sum in the order of the columns, divided by the sum of the
    /// weights unless it is 1.
    pub(crate) fn mean(&self, i: usize, value: impl Fn(u32) -> f64) -> f64 {
        let range = self.offsets[i]..self.offsets[i + 1];
        if range.len() == 1 {
            return value(self.columns[range.start]);
        }
        let weights = &self.weights[range.clone()];
        let (mut sum, mut all) = (0.0, 0.0);
        for (&column, &weight) in self.columns[range].iter().zip(weights) {
            sum += weight * value(column);
            all += weight;
        }
        if all == 1.0 { sum } else { sum / all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::{Field, Fields, Values};
    use crate::mesh::Refinement;

    fn fields() -> Fields {
        [
            Field::scalars("t", vec![8.0, 4.0, 0.0]),
            Field::scalars("class", vec![2u8, 6, 9]),
            Field {
                name: "v".to_owned(),
                components: 2,
                values: vec![1f32, 10.0, 2.0, 20.0, 4.0, 40.0].into(),
            },
        ]
        .into_iter()
        .collect()
    }

    #[test]
    fn refined_vertices_have_means_of_floats_and_labels_of_one_end() {
        let rounds = [[1, 0], [3, 2]].map(|ends| Refinement {
            ends: vec![ends],
            ..Refinement::default()
        });
        let mix = Mix::of_prolongation(Prolongation::of_rounds(3, &rounds));
        let fine = fields().mixed(&mix);
        // The second new vertex is half of vertex 2, and a quarter of 0 and of 1.
        let of = |name| fine.get(name).unwrap().values.clone();
        assert_eq!(of("t"), Values::from(vec![8.0, 4.0, 0.0, 6.0, 3.0]));
        assert_eq!(of("class"), Values::from(vec![2u8, 6, 9, 2, 9]));
        assert_eq!(
            of("v"),
            vec![1f32, 10.0, 2.0, 20.0, 4.0, 40.0, 1.5, 15.0, 2.75, 27.5].into()
        );
    }

    #[test]
    fn clusters_have_means_of_floats_and_labels_of_the_representative() {
        let mix = Mix::of_clusters(&[0, 1, 0], &[0, 1]);
        let merged = fields().mixed(&mix);
        let of = |name| merged.get(name).unwrap().values.clone();
        assert_eq!(of("t"), Values::from(vec![4.0, 4.0]));
        assert_eq!(of("class"), Values::from(vec![2u8, 6]));
        assert_eq!(of("v"), vec![2.5f32, 25.0, 2.0, 20.0].into());
        // A constant field stays constant for any number of members.
        let map = vec![0; 49];
        let same: Fields = [Field::scalars("s", vec![0.1; 49])].into_iter().collect();
        let merged = same.mixed(&Mix::of_clusters(&map, &[0]));
        let mean = merged.get("s").unwrap().values.f64(0);
        assert!((mean - 0.1).abs() < 1e-16, "{mean}");
    }
}
