"""Small pieces of Markdown."""

import re
from collections.abc import Iterable, Sequence


def escaped(text: str) -> str:
    r"""Keep characters from meaning something to Markdown, except in `code` and *emphasis*.

    >>> print(escaped("24078 → 2407* → `*`, in *any* case"))
    24078 → 2407\* → `*`, in *any* case
    """
    parts = re.split(r"(`[^`]*`|(?<![\w*])\*\w[\w -]*\w\*(?![\w*]))", text)
    return "".join(
        part if i % 2 else re.sub(r"([*<])", r"\\\1", part) for i, part in enumerate(parts)
    )


def with_links(text: str) -> str:
    """Make digital object identifiers clickable."""
    return re.sub(r"doi:(10\.\S+?)(?=[\s),;]|$)", r"[doi:\1](https://doi.org/\1)", text)


def prose(text: str) -> str:
    """Write a paragraph of a docstring as one line of Markdown."""
    lines = text.strip().splitlines()
    if any(line.startswith("- ") for line in lines):
        return "\n".join(escaped(line) for line in lines)
    return with_links(escaped(" ".join(line.strip() for line in lines)))


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    r"""Make a table; a bar inside a cell is not the end of it.

    >>> print(table(["a", "b"], [["x|y", "z"]]))
    | a | b |
    |---|---|
    | x\|y | z |
    """
    lines = [headers, ["---"] * len(headers), *rows]
    text = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines]
    text[1] = text[1].replace(" ", "")
    return "\n".join(text)


def block(language: str, text: str) -> str:
    """Fence a block of code."""
    return f"```{language}\n{text.rstrip()}\n```"


def code(text: object) -> str:
    """Write something short as code."""
    return f"`{text}`"


def anchor(heading: str) -> str:
    """Give the name by which a forge links to a heading.

    >>> anchor("`sf.anonymize`"), anchor("What is not covered")
    ('sfanonymize', 'what-is-not-covered')
    """
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def joined(*parts: str) -> str:
    """Join parts with an empty line between them."""
    return "\n\n".join(part for part in parts if part)
