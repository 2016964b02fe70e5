"""No module of the package imports one that imports it, neither at once nor by way of others; imports in functions count too."""

import ast
from pathlib import Path

import trioxide

FOLDER = Path(trioxide.__file__).parent


def imported(source):
    """The modules of the package that a source imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found |= {node.module} if node.module else {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "trioxide" or isinstance(node, ast.Import):
            found |= {"__init__" for name in node.names if isinstance(node, ast.ImportFrom) or name.name == "trioxide"}
    return found


def circles(arrows):
    """Modules from each of which arrows lead back to it."""
    found = []
    for start in arrows:
        reached, open_ = set(), list(arrows[start])
        while open_:
            name = open_.pop()
            if name not in reached:
                reached.add(name)
                open_ += arrows.get(name, ())
        if start in reached:
            found.append(start)
    return found


def test_no_two_modules_import_each_other():
    arrows = {path.stem: imported(path.read_text()) for path in FOLDER.glob("*.py")}
    assert len(arrows) > 10
    assert arrows["_mesh"] >= {"_held", "_pyvista"}
    assert circles(arrows) == []


def test_circles_are_found():
    sources = {
        "a": "from . import b",
        "b": "def f():\n    from .c import X",
        "c": "from .a import Y",
        "d": "from ._trioxide import Device\nfrom .a import Y",
    }
    arrows = {name: imported(source) for name, source in sources.items()}
    assert circles(arrows) == ["a", "b", "c"]
    assert imported("import numpy, trioxide") == imported("from trioxide import weld") == {"__init__"}
