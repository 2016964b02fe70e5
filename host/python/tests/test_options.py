"""The families' functions have the options of the command line: their names, defaults, words and help are clap's."""

import inspect
import re
from pathlib import Path

import pytest

import trioxide
from trioxide import _trioxide as native

#: Parameters that are no options of the command line: the mesh, elements that are named by arrays, the machine, arrays that are wanted.
BESIDE = {"mesh", "triangles", "outline", "regions", "segments", "markers", "holes", "mark", "fixed", "locked", "lock_boundary"}
BESIDE |= {"other", "other_triangles", "background", "device", "follow_references", "columns", "neighbours", "progress"}


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


@pytest.mark.parametrize("family", native.families())
def test_options_are_those_of_the_command_line(family):
    # `holes` takes points too, which have their text.
    function, table = getattr(trioxide, family), {option["name"]: option for option in native.options(family) if option["name"] not in BESIDE}
    parameters = inspect.signature(function).parameters
    assert set(parameters) - BESIDE == set(table)
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


def keyword(option):
    return {"lambda": "lambda_"}.get(option, option.replace("-", "_"))


def arguments(words):
    """Keyword arguments of the options of a command line."""
    found = {}
    for word in words:
        name, _, value = word[2:].partition("=")
        found[keyword(name)] = value or True
    return found


def worded(part):
    """A part of a message, with the options in Python's words."""
    value = re.sub(r"\{([a-z-]+) ([^}]+)\}", lambda found: f'{keyword(found[1])}="{found[2]}"', part)
    return re.sub(r"\{([a-z-]+)\}", lambda found: keyword(found[1]), value)


TABLE = Path(__file__).parents[2] / "operations" / "tests" / "refusals.txt"
ROWS = [row for row in TABLE.read_text().splitlines() if not row.startswith("#")]


@pytest.mark.parametrize("row", ROWS)
def test_python_refuses_what_the_table_has(row):
    words, message = row.split(" : ", 1)
    family, *options = words.split(" ")
    grid = trioxide.generate("grid", 9)
    machine = {} if family == "vem" else {"device": "cpu"}
    with pytest.raises(ValueError) as error:
        getattr(trioxide, family)(grid, **arguments(options), **machine)
    for part in message.split("|"):
        assert worded(part) in str(error.value)


def test_the_table_has_every_family_with_options():
    # Comparisons take a second mesh, which the rows do not have: their refusals are in test_compare.py.
    expected = {family for family in native.families() if native.options(family)} - {"compare"}
    assert {row.split(" ")[0] for row in ROWS} == expected
