"""The examples run, and the README's first example too."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import trioxide

HERE = Path(__file__).parent.parent
EXAMPLES = {"clean_a_scan": ["clean.vtu"], "follow_a_front": ["front.png"], "polygons_to_solution": ["solution.vtu"]}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name, tmp_path):
    pytest.importorskip("scipy")
    script = HERE / "examples" / f"{name}.py"
    result = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr
    assert result.stdout
    for file in EXAMPLES[name]:
        assert (tmp_path / file).stat().st_size > 1000


def test_every_example_is_run():
    assert {path.stem for path in (HERE / "examples").glob("*.py")} == set(EXAMPLES) | {"peers"}


def test_the_readme_s_ten_lines(tmp_path, monkeypatch):
    pytest.importorskip("scipy")
    monkeypatch.chdir(tmp_path)
    trioxide.write("scan.ply", trioxide.generate("scan", 1000))
    code = re.findall(r"```python\n(.*?)```", (HERE / "README.md").read_text(), re.S)[0]
    names = {}
    exec(code.replace("100_000", "2_000"), names)
    assert len(names["values"]) == len(names["fine"].points)


def test_the_readme_s_chain_on_a_gpu(gpu, tmp_path, monkeypatch):
    pytest.importorskip("cupy")
    pytest.importorskip("scipy")
    monkeypatch.chdir(tmp_path)
    trioxide.write("scan.ply", trioxide.generate("scan", 1000))
    first, chain = re.findall(r"```python\n(.*?)```", (HERE / "README.md").read_text(), re.S)[:2]
    names = {}
    exec(first.replace("100_000", "2_000") + chain, names)
    assert len(names["offsets"]) == len(names["polygons"].offsets) and len(names["field"]) == len(names["fine"].points)


def test_the_table_of_peers_is_printed(tmp_path):
    script = HERE / "examples" / "peers.py"
    result = subprocess.run([sys.executable, script, "500", "1"], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr
    rows = result.stdout.splitlines()[4:]
    assert len(rows) == 10 and all(row.count("|") == 5 for row in rows)
    assert sum(row.startswith(("| merge vertices | trioxide, 500 vertices |", "| smooth, 20 sweeps | trioxide, 500 vertices |")) for row in rows) == 2
