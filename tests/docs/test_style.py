"""Pages use the words of the glossary, and write units apart from numbers."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, name_of, pages
from tests.style import faults_of_words

ELSEWHERE = ("docs/decisions/", "docs/papers/", "docs/changelog/")
"""Pages for contributors, and other authors' words."""

TEMPLATES = {
    "docs/studies/drafting-study.md": "docs/drafting_study.template",
    "docs/studies/elsewhere-study.md": "docs/elsewhere_study.template",
    "docs/studies/frontier-study.md": "docs/frontier_study.template",
    "docs/studies/histories.md": "docs/histories/page.template",
    "docs/studies/population-study.md": "docs/population_study.template",
    "docs/studies/verdict-study.md": "docs/verdict_study.template",
}
"""Pages made from runs, with the text they are made from."""

DICTIONARIES = {"docs/concepts/glossary.md", "docs/how-to/coming-from-arx.md"}
"""Pages that list the words of others beside ours."""

PAGES = [
    ROOT / TEMPLATES.get(name_of(page), name_of(page))
    for page in pages()
    if not name_of(page).startswith(ELSEWHERE)
]


def blank(text: str) -> str:
    """Return spaces and the same lines, so that places stay what they are."""
    return re.sub(r"[^\n]", " ", text)


def cut(pattern: str, text: str) -> str:
    """Return a text in which what is found is blank, but for a group of its own."""

    def replace(found: re.Match[str]) -> str:
        if not found.re.groups:
            return blank(found[0])
        start, end = (place - found.start() for place in found.span(1))
        return blank(found[0][:start]) + found[1] + blank(found[0][end:])

    return re.sub(pattern, replace, text)


def without_code(text: str) -> str:
    """Return a page in which blocks, pictures and addresses are blank and code is one word."""
    text = cut(r"(?ms)^ *```.*?^ *```\s*?$", text)
    text = cut(r"(?s)<!--.*?-->", text)
    text = cut(r"!\[[^\]]*\]\([^)]*\)", text)
    text = re.sub(r"`[^`]*`", lambda found: "X" + blank(found[0])[1:], text)
    return cut(r"\[([^\]]*)\]\([^)]*\)", text)


def problems(page: Path) -> list[str]:
    text = without_code(page.read_text(encoding="utf-8"))
    found = faults_of_words(text, others=name_of(page) not in DICTIONARIES)
    shown = []
    for place, what in sorted(found):
        start = place + len(text[place:]) - len(text[place:].lstrip())
        line = text.count("\n", 0, start) + 1
        words = " ".join(text[start : start + 400].split())
        shown.append(f"{name_of(page)}:{line}: {what}\n    {words[:160]}")
    return shown


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_uses_the_words_of_the_glossary(page):
    found = problems(page)
    assert not found, "\n".join(found)
