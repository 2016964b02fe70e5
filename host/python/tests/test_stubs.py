"""The stubs of the native part name what is there, with its parameters; every public function says what it takes and gives."""

import ast
import inspect
from pathlib import Path

import pytest

import trioxide
from trioxide import _trioxide as native


def parameters_of(function):
    """Names of a function's parameters in the stubs."""
    given = function.args
    return [argument.arg for argument in given.posonlyargs + given.args + given.kwonlyargs if argument.arg not in ("self", "cls")]


def functions(nodes):
    return {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}


def test_stubs_are_the_native_part():
    stubs = ast.parse((Path(trioxide.__file__).parent / "_trioxide.pyi").read_text()).body
    classes = {node.name: node for node in stubs if isinstance(node, ast.ClassDef)}
    public = {name for name in dir(native) if not name.startswith("_")}
    assert set(native.__all__) == public | {"__version__"}
    assert public == set(classes) | set(functions(stubs))
    for name, stub in functions(stubs).items():
        assert list(inspect.signature(getattr(native, name)).parameters) == parameters_of(stub), name
    for name, kind in classes.items():
        found, methods = getattr(native, name), functions(kind.body)
        own = {key for key in vars(found) if not key.startswith("_") or key in methods}
        assert own == set(methods) - {"__new__"} | ({"__new__"} & own), name
        for key, stub in methods.items():
            if not key.startswith("__") and callable(getattr(found, key)):
                there = [parameter for parameter in inspect.signature(getattr(found, key)).parameters if parameter != "self"]
                assert there == parameters_of(stub), f"{name}.{key}"


@pytest.mark.parametrize("name", trioxide.__all__)
def test_everything_public_is_described(name):
    found = getattr(trioxide, name)
    if isinstance(found, str):
        return
    text = inspect.getdoc(found) or ""
    assert len(text.splitlines()[0]) > 20, name
    if inspect.isfunction(found) and name != "devices" and not name.startswith("from_"):
        assert "Parameters\n" in text, name
        described = text.split("Parameters\n")[1]
        for parameter in inspect.signature(found).parameters:
            shared = ("progress", "device", "format", "random", "seed", "triangles", "markers", "regions", "segments")
            assert parameter in described or parameter in shared, f"{name}({parameter})"
