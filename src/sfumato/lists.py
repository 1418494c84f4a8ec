"""Lists of words and other facts, kept as text beside the code that reads them.

A line in brackets is a heading, and what follows it up to the next is its text; lines that begin
with `#` are for readers of the file.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path


@cache
def read_lists(path: Path) -> Mapping[str, str]:
    r"""Return the texts of a file by their headings, in the order of the file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "words.txt")
    ...     _ = path.write_text("# Colours.\n[warm]\nred, yellow,\norange\n\n[cold]\nblue\n")
    ...     read_lists(path)
    {'warm': 'red, yellow,\norange', 'cold': 'blue'}
    """
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            lines = found[line[1:-1]] = []
        elif not line.startswith("#"):
            lines.append(line)
    return {heading: "\n".join(lines).strip() for heading, lines in found.items()}
