"""A type checker sees what functions take and give: mypy on a typed program, and on the package."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import trioxide
from trioxide._steps import STEPS

FOLDER = Path(trioxide.__file__).parent

PROGRAM = """\
from typing import Optional

import numpy as np
import trioxide
from typing_extensions import assert_type

plane = trioxide.generate("random", 100)
assert isinstance(plane, trioxide.Mesh)
assert_type(trioxide.polylla(plane), trioxide.Polygons)
assert_type(trioxide.polylla(np.eye(3), np.eye(3)), trioxide.Polygons)
assert_type(trioxide.refine(trioxide.weld(plane, epsilon=1e-3), rounds=2), trioxide.Refined)
assert_type(trioxide.smooth(plane.to_device()), trioxide.DeviceSmoothed)
assert_type(trioxide.weld(plane.to_device(), epsilon=0.0).to_host(), trioxide.Mesh)
assert_type(trioxide.polylla(plane.to_device()), trioxide.DevicePolygons)
assert_type(trioxide.triangulate(np.eye(2), angle=20.0, neighbours=True), trioxide.Triangulated)
assert_type(trioxide.triangulate(np.eye(2)).neighbours, Optional[np.ndarray])
assert_type(trioxide.triangulate(trioxide.DeviceArray.copy_of(np.eye(2), trioxide.Device("cpu"))), trioxide.DeviceTriangulated)
assert_type(trioxide.reorder(plane), trioxide.Reordered)
assert_type(trioxide.reorder(plane.to_device()).to_host(), trioxide.Mesh)
assert_type(trioxide.vem(plane).error, float)
tets = trioxide.read("tets.vtu")
if isinstance(tets, trioxide.VolumeMesh):
    assert_type(trioxide.polylla(tets), trioxide.Polyhedra)
    assert_type(trioxide.refine(tets), trioxide.RefinedVolume)
    assert_type(trioxide.reorder(tets), trioxide.ReorderedVolume)
    assert_type(trioxide.smooth(tets.to_device()), trioxide.DeviceSmoothedVolume)
"""


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """Runs mypy; a run knows what an earlier one has found in numpy."""
    pytest.importorskip("mypy")
    cache = tmp_path_factory.mktemp("mypy")

    def run(*arguments):
        command = [sys.executable, "-m", "mypy", "--cache-dir", str(cache), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, cwd=FOLDER.parent)

    return run


WRONG = [
    ("trioxide.weld(plane, epsilom=1.0)", 'Unexpected keyword argument "epsilom"|No overload variant'),
    ("trioxide.refine(plane, rounds='two')", "incompatible type|No overload variant"),
    ("trioxide.polylla(plane).triangels", 'has no attribute "triangels"'),
]


def test_wrong_programs_are_found(mypy, tmp_path):
    programs = [tmp_path / f"program_{k}.py" for k in range(len(WRONG))]
    for program, (line, _) in zip(programs, WRONG):
        program.write_text(f"import trioxide\nplane = trioxide.Mesh([[0, 0]])\n{line}\n")
    run = mypy(*programs)
    assert run.returncode == 1
    for program, (line, words) in zip(programs, WRONG):
        said = [said for said in run.stdout.splitlines() if program.name in said]
        assert any(word in text for word in words.split("|") for text in said), (line, run.stdout)


def test_the_package_has_types(mypy):
    run = mypy("-p", "trioxide")
    assert run.returncode == 0, run.stdout + run.stderr


def test_results_have_types(mypy, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    run = mypy("--strict", program)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("family", STEPS)
def test_stubs_of_the_families_have_their_parameters(family):
    source = Path(inspect.getfile(getattr(trioxide, family)))
    stub = source.with_suffix(".pyi")
    stubs = ast.parse((stub if stub.exists() else source).read_text()).body
    classes = {node.name: node for node in stubs if isinstance(node, ast.ClassDef)}

    def names(name):
        bases = [base.id for base in classes[name].bases if base.id in classes]
        own = [field.target.id for field in classes[name].body]
        return own + [name for base in bases for name in names(base)]

    # The mesh and its elements may have no names.
    parameters = [p.name for p in inspect.signature(getattr(trioxide, family)).parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert sorted(names(f"_{family.capitalize()}")) == sorted(parameters)
