"""The examples run, and the README's first example too."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_the_readme_s_ten_lines_run_word_for_word_with_numpy_alone(tmp_path):
    code = re.findall(r"```python\n(.*?)```", (HERE / "README.md").read_text(), re.S)[0]
    others = ("scipy", "pyvista", "meshio", "trimesh", "tqdm")
    alone = f"import sys\nfor name in {others}: sys.modules[name] = None\n"
    result = subprocess.run([sys.executable, "-c", alone + code], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("<trioxide.Solution: ") and (tmp_path / "clean.vtu").exists()


def test_the_readme_s_chain_on_a_gpu(gpu, tmp_path, monkeypatch):
    pytest.importorskip("cupy")
    monkeypatch.chdir(tmp_path)
    first, chain = re.findall(r"```python\n(.*?)```", (HERE / "README.md").read_text(), re.S)[:2]
    names = {}
    exec(first + chain, names)
    assert len(names["offsets"]) == len(names["polygons"].offsets) and len(names["field"]) == len(names["fine"].points)


def test_the_table_of_peers_is_printed(tmp_path):
    script = HERE / "examples" / "peers.py"
    result = subprocess.run([sys.executable, script, "500", "1"], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr
    rows = result.stdout.splitlines()[4:]
    assert len(rows) == 10 and all(row.count("|") == 5 for row in rows)
    assert sum(row.startswith(("| merge vertices | trioxide, 500 vertices |", "| smooth, 20 sweeps | trioxide, 500 vertices |")) for row in rows) == 2
