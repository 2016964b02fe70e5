"""The families' functions have the options of the command line: their names, defaults, words and help are clap's."""

import inspect
import re

import pytest

import trioxide
from trioxide import _trioxide as native

#: Parameters that are no options of an operation: the mesh, elements that are named by arrays, the machine.
BESIDE = {
    "refine": {"mark", "regions", "segments", "markers"},
    "polylla": {"regions", "segments", "markers"},
    "smooth": {"fixed"},
    "weld": {"lock_boundary", "locked"},
    "triangulate": {"outline", "segments", "markers", "holes", "regions", "follow_references"},
    "vem": set(),
}
SHARED = {"mesh", "triangles", "device", "progress"}


def described(function):
    """The parameters of a docstring: of each its line, and its text as one line."""
    text = inspect.getdoc(function).split("Parameters\n----------\n")[1].split("\n\nReturns\n")[0]
    found = {}
    for entry in re.split(r"\n(?=\w)", text):
        head, _, body = entry.partition("\n")
        names, _, kind = head.partition(" : ")
        for name in names.split(", "):
            found[name] = (kind, " ".join(body.split()))
    return found


@pytest.mark.parametrize("family", list(BESIDE))
def test_options_are_those_of_the_command_line(family):
    function, table = getattr(trioxide, family), {option["name"]: option for option in native.options(family)}
    parameters = inspect.signature(function).parameters
    assert set(parameters) - SHARED - BESIDE[family] == set(table)
    texts = described(function)
    for name, option in table.items():
        default, kind = parameters[name].default, parameters[name].annotation
        if isinstance(default, bool) or default is None:
            assert default is option["default"], name
        elif isinstance(default, (int, float)):
            assert default == float(option["default"]), name
        else:
            assert default == option["default"], name
        line, text = texts[name]
        # The help of the command line, without the default that the signature shows.
        assert text == re.sub(r" \[default: .*\]$", "", option["help"]) + ".", name
        if option["values"]:
            assert re.findall(r'"([^"]+)"', line) == option["values"], name
            assert default in option["values"] or default is None, name
            assert "str" in kind, name


def test_an_unknown_family_has_no_options():
    with pytest.raises(ValueError, match="'welding'|\"welding\" has no options"):
        native.options("welding")
