"""Markdown pages, taken apart: their code blocks, headings and links."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from docs import generate

ROOT = Path(__file__).resolve().parents[2]

_FENCE = re.compile(r"^(`{3,})([^`]*)$")
_LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+(?:\([^()]*\)[^()\s]*)*)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block: its heading, its language, the file it is to be saved as (if any), its text.

    The heading is the last one of the second level.
    """

    page: Path
    line: int
    language: str
    file: str
    text: str
    heading: str = ""

    @property
    def place(self) -> str:
        return f"{name_of(self.page)}:{self.line}"


REFERENCE = ROOT / "docs" / "reference"
"""Where the pages belong that are made from the code; none of them is in the repository."""


def pages() -> list[Path]:
    """Give every page of the project that people read, but for those made from the code."""
    folders = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    return sorted(
        page for page in [*ROOT.glob("*.md"), *folders] if not page.is_relative_to(REFERENCE)
    )


def made() -> list[Path]:
    """Give the pages that are made from the code, whether they lie there or not."""
    return [REFERENCE / name for name in generate.PAGES]


@cache
def text_of(page: Path) -> str:
    """Give the text of a page, made anew if it is made from the code."""
    if page.is_relative_to(REFERENCE):
        return generate.text_of(page.relative_to(REFERENCE).as_posix())
    return page.read_text(encoding="utf-8")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """List the fenced blocks of a page in their order."""
    return list(_blocks(page, text_of(page)))


def _blocks(page: Path, whole: str) -> Iterator[Block]:
    fence, start, info, lines, heading = "", 0, "", [], ""
    for number, line in enumerate(whole.splitlines(), 1):
        found = _FENCE.match(line.strip())
        if not fence and found:
            fence, start, info, lines = found[1], number, found[2].strip(), []
        elif fence and line.strip() == fence:
            language, _, file = info.partition(" ")
            text = "\n".join(lines) + "\n"
            yield Block(page, start, language, file.strip(), text, heading)
            fence = ""
        elif fence:
            lines.append(line)
        elif line.startswith("## "):
            heading = line[3:].strip()
    assert not fence, f"{name_of(page)}, line {start}: the block is never closed"


def prose(page: Path) -> str:
    """Give a page without its blocks and without code in lines."""
    inside, kept = False, []
    for line in text_of(page).splitlines():
        if _FENCE.match(line.strip()):
            inside = not inside
        elif not inside:
            kept.append(line)
    return "\n".join(kept)


def links(page: Path) -> list[str]:
    """List where a page leads."""
    return _LINK.findall(re.sub(r"`[^`\n]*`", "code", prose(page)))


def anchors(page: Path) -> set[str]:
    """List the places on a page that a link can lead to, as forges name them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.+?) *$", prose(page), re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        copy, n = name, 0
        while copy in found:
            n += 1
            copy = f"{name}-{n}"
        found.add(copy)
    return found
