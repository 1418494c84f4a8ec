"""Every line of the threat model names tests, and there are such tests."""

import ast
import re
from functools import cache

import pytest

from tests.docs.pages import ROOT, links

PAGE = ROOT / "docs" / "concepts" / "threat-model.md"
HEADER = "| threat | what happens | held by |"
NAMED = re.compile(r"\[`(tests/[\w/]+\.py)::(test_\w+)`\]\(\.\./\.\./(tests/[\w/]+\.py)\)")


def lines_of_tables():
    lines, inside = [], False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        inside = line == HEADER or (inside and line.startswith("|"))
        if inside and line != HEADER and not set(line) <= set("|- "):
            lines.append(line)
    return lines


@cache
def functions_of(file):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.usefixtures("patience")
def test_every_line_names_tests_that_exist_and_links_to_their_file():
    lines = lines_of_tables()
    assert len(lines) > 50
    for line in lines:
        *_, threat, happens, held, end = re.split(r" ?\| ?", line)
        assert threat, line
        assert happens.endswith("."), line
        assert not end, line
        named = NAMED.findall(held)
        assert named, f"nothing holds it: {line}"
        assert not NAMED.sub("", held).strip(" ,"), f"not the name of a test: {held}"
        for file, name, target in named:
            assert file == target, line
            assert (ROOT / file).is_file(), f"there is no {file}"
            assert name in functions_of(file), f"{file} has no {name}"


def test_no_other_table_names_a_test():
    named = len(re.findall(r"`tests/", PAGE.read_text(encoding="utf-8")))
    assert named == sum(len(NAMED.findall(line)) for line in lines_of_tables())


def test_it_is_linked_from_where_readers_look_for_it():
    for page in ("docs/README.md", "docs/concepts/promises.md", "SECURITY.md", "README.md"):
        assert any(
            "threat-model.md" in link or "SECURITY.md" in link for link in links(ROOT / page)
        )
