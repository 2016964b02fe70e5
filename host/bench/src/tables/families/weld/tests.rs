use super::*;

#[test]
fn ours_stands_in_for_lucy() {
    let stage = |name: &str, median: f64| json!({"pipeline": "weld", "name": name, "median": median, "minimum": median, "maximum": median, "runs": 20, "bytes": null});
    let run = Run(json!({
        "parameters": {"mesh": "scan", "n": 14_027_872, "removed": "50 %"},
        "counts": {"vertices": 14_026_752},
        "stages": [stage("decide", 10.0), stage("grid", 1.0), stage("choose cells", 0.5), stage("all stages", 20.0)],
    }));
    let made = made_of(&[run]);
    let table = |id: &str| {
        let found = made.tables.iter().find(|table| table.id == id).unwrap();
        found.to_markdown()
    };
    let text = table("weld-6-4");
    assert!(
        text.contains("| 50 % | 103 | 10.0 | 10.3 | 997 | 20.0 | 49.9 |"),
        "{text}"
    );
    assert!(
        text.contains("| 0.1 % | 17.0 | - | - | 907 | - | - |"),
        "{text}"
    );
    let text = table("weld-6-6");
    assert!(
        text.contains("| Lucy | 22,800 | 920 | 1.50 | 613 | - | - |"),
        "{text}"
    );
    let text = table("weld-6-8");
    assert!(
        text.contains("| 38.1 | 10.0 | 3.81 |") || text.contains("| 38.2 | 10.0 | 3.81 |"),
        "{text}"
    );
}
