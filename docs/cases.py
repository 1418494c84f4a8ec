"""Runs the worked cases, the notebooks in `examples/cases`, and keeps what they show.

python -m docs.cases          # run each notebook and write it again with what it shows
python -m docs.cases --check  # fail if a notebook shows something else than what is kept in it

Both take names of notebooks, such as `hospital`, to leave out the others. A notebook is text that
is compared and reviewed, so it keeps no times, no versions and no addresses.
"""

import argparse
import difflib
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "examples" / "cases"

_KERNEL = 'c.InlineBackend.figure_formats = {"svg"}\n'
"""Settings of the kernel: drawings are small, sharp and text."""

_MATPLOTLIB = """\
figure.figsize: 7.2, 3
figure.constrained_layout.use: True
font.size: 9
axes.spines.top: False
axes.spines.right: False
svg.fonttype: none
svg.hashsalt: sfumato
"""
"""Settings of the drawings. The salt makes names inside of them the same in every run."""

_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_UNSTEADY = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
"""The part of a drawing that says when it was made, and with which version."""


def notebooks() -> list[Path]:
    """Return the worked cases."""
    return sorted(FOLDER.glob("*.ipynb"))


def read(path: Path) -> dict[str, Any]:
    """Return a notebook as it is kept."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def run(path: Path) -> dict[str, Any]:
    """Return a notebook with what it shows when it is run now.

    Raises:
        SystemExit: If a cell complains.
    """
    import nbformat
    from nbclient import NotebookClient
    from traitlets.config import Config

    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "profile_default").mkdir()
        (folder / "profile_default" / "ipython_kernel_config.py").write_text(_KERNEL)
        (folder / "matplotlibrc").write_text(_MATPLOTLIB)
        # Nothing that a user of this machine has set may show.
        environment = {
            "IPYTHONDIR": name,
            "MATPLOTLIBRC": str(folder / "matplotlibrc"),
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
            "PYTHONHASHSEED": "0",
        }
        notebook = nbformat.reads(json.dumps(_without_outputs(read(path))), as_version=4)
        client = NotebookClient(
            notebook,
            timeout=600,
            resources={"metadata": {"path": str(FOLDER)}},
            # Files, so that no port of this machine is opened.
            config=Config({"KernelManager": {"transport": "ipc", "ip": str(folder / "kernel")}}),
        )
        client.execute(env={**os.environ, **environment})
    return _tidy(json.loads(nbformat.writes(notebook)), path.name)


def shown(notebook: Mapping[str, Any]) -> list[str]:
    """Return the lines of text that a notebook shows, each with the number of its cell.

    Drawings depend on the version of their library: of them it is only said that they are there.
    """
    lines = []
    for number, cell in enumerate(notebook["cells"], 1):
        for output in cell.get("outputs", ()):
            texts = [output["text"]] if "text" in output else output["data"].values()
            drawn = "image/svg+xml" in output.get("data", {})
            text = "(a drawing)" if drawn else "\n".join(map("".join, texts))
            lines += [f"cell {number}: {line}" for line in text.splitlines()]
    return lines


def changes(path: Path) -> list[str]:
    """Return how what a notebook shows now differs from what is kept in it."""
    compared = difflib.unified_diff(
        shown(read(path)), shown(run(path)), "kept", "shown", n=0, lineterm=""
    )
    return list(compared)


def write(path: Path) -> None:
    """Run a notebook, and keep what it shows."""
    text = json.dumps(run(path), indent=1, ensure_ascii=False, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def _without_outputs(notebook: dict[str, Any]) -> dict[str, Any]:
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}
    return notebook


def _tidy(notebook: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a notebook without what differs from run to run."""
    for number, cell in enumerate(notebook["cells"], 1):
        cell |= {"id": f"cell-{number}", "metadata": {}}
        if cell["cell_type"] == "code":
            cell["outputs"] = _tidy_outputs(cell["outputs"], f"{name}, cell {number}")
    return notebook | {"metadata": _METADATA}


def _tidy_outputs(outputs: Sequence[dict[str, Any]], place: str) -> list[dict[str, Any]]:
    tidy: list[dict[str, Any]] = []
    for output in outputs:
        if output.get("name") == "stderr":
            raise SystemExit(f"{place} complains: {''.join(output['text'])}")
        data = output.get("data", {})
        if "image/svg+xml" in data:
            drawing = _UNSTEADY.sub("", "".join(data["image/svg+xml"]))
            data = {"image/svg+xml": drawing.splitlines(keepends=True)}
            tidy.append({"output_type": "display_data", "data": data, "metadata": {}})
        elif "text" in output and tidy and "text" in tidy[-1]:
            # What is printed comes in as many pieces as the machine happens to make.
            text = "".join([*tidy[-1]["text"], *output["text"]])
            tidy[-1]["text"] = text.splitlines(keepends=True)
        else:
            if "text/html" in data:
                data.pop("text/plain")
            tidy.append(output)
    return tidy


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the notebooks, and write or compare them."""
    parser = argparse.ArgumentParser(prog="python -m docs.cases", description=__doc__)
    parser.add_argument("names", nargs="*", help="default: all")
    parser.add_argument("--check", action="store_true", help="write nothing, only compare")
    given = parser.parse_args(arguments)
    stale = False
    for path in notebooks():
        if given.names and path.stem not in given.names:
            continue
        if not given.check:
            write(path)
        elif found := changes(path):
            sys.stderr.write("\n".join([f"{path.name} shows something else:", *found, ""]))
            stale = True
    if stale:
        sys.stderr.write("If that is right, keep it with: python -m docs.cases\n")
    return int(stale)


if __name__ == "__main__":
    raise SystemExit(main())
