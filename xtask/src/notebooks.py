"""Executes notebooks, and compares the text that their cells print with the text in the file."""

import base64
import os
import sys
import tempfile

import nbformat
from nbclient import NotebookClient

PNG = b"\x89PNG\r\n\x1a\n"
MOST_BYTES = 300_000


def kept(cell):
    """What a cell gives on every machine: no warnings, which depend on the device, and no representations in HTML."""
    outputs = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            if output.name == "stdout":
                outputs.append(output)
        elif "image/png" in output.data:
            output.data = {"image/png": output.data["image/png"]}
            output.metadata = {}
            outputs.append(output)
        else:
            output.data = {"text/plain": output.data["text/plain"]}
            outputs.append(output)
    return outputs


def text_of(outputs):
    """The text; a picture is one line."""
    lines = []
    for output in outputs:
        if output.output_type == "stream":
            lines += output.text.splitlines()
        elif "image/png" in output.data:
            is_png = base64.b64decode(output.data["image/png"]).startswith(PNG)
            lines.append("a picture" if is_png else "a broken picture")
        else:
            lines += output.data["text/plain"].splitlines()
    return lines


def execute(path, refresh):
    """The faults of a notebook."""
    with open(path, encoding="utf-8") as file:
        notebook = nbformat.read(file, as_version=4)
    expected = [text_of(cell.get("outputs", [])) for cell in notebook.cells]
    with tempfile.TemporaryDirectory() as folder:
        # The pieces of a stream depend on time: one output has them all.
        options = {"resources": {"metadata": {"path": folder}}, "record_timing": False, "coalesce_streams": True}
        client = NotebookClient(notebook, timeout=300, **options)
        client.execute()
    faults = []
    for number, (cell, text) in enumerate(zip(notebook.cells, expected)):
        if cell.cell_type != "code":
            continue
        cell.outputs = kept(cell)
        cell.metadata = {}
        if text_of(cell.outputs) != text:
            faults.append(f"{path}: cell {number} gives {text_of(cell.outputs)}, not {text}")
    if refresh:
        notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
        with open(path, "w", encoding="utf-8") as file:
            nbformat.write(notebook, file)
        faults = []
    if os.path.getsize(path) > MOST_BYTES:
        faults.append(f"{path}: {os.path.getsize(path)} bytes, at most {MOST_BYTES} are allowed")
    return faults


def main():
    refresh = sys.argv[1] == "refresh"
    faults = [fault for path in sys.argv[2:] for fault in execute(path, refresh)]
    sys.exit("\n".join(faults) or None)


main()
